/*
 * record.c - a run in memory, and the same as text.
 *
 * The text is one item a line, fields separated by one tab:
 *
 *	bench	1
 *	fact	name	value
 *	result	key	unit	value	low	high	round,round,...
 *	none	key	reason
 *	note	key	remark on the figure of that key, which stands before
 *	end	number of result lines
 *
 * A result may stop after its value.  Other kinds of line are passed over,
 * as are further fields, so that newer records can be read.
 */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum {
	LINE = 4096,            /* bytes of a line at most */
	VALUE = 4000,           /* of the value of a fact, to fit a line */
	STEP = 16,              /* facts and figures are allocated by these */
	DIGITS = 5,             /* a value is written with, at least */
	DOUBLE = 17             /* all digits that a double can hold */
};

static void *
need(void *p)
{
	if (p)
		return p;
	fputs("bench: record: out of memory\n", stderr);
	exit(1);
}

/* Room for one more item behind n. */
static void *
grow(void *p, int n, size_t size)
{
	if (n % STEP)
		return p;
	return need(realloc(p, ((size_t)n + STEP) * size));
}

static int
printable(int c)
{
	return c >= ' ' && c <= '~';
}

static char *
copy(const char *s)
{
	char *made = need(strdup(s));

	for (char *p = made; *p; p++)
		if (!printable(*p))
			*p = '?';
	return made;
}

/* --- strings that records share ------------------------------------------ */

/* Where a string is, or is to be put. */
static char **
slot(const struct strings *t, const char *s)
{
	size_t h = 5381;

	for (const char *p = s; *p; p++)
		h = h * 33 ^ (unsigned char)*p;
	for (h &= t->size - 1; t->slot[h]; h = (h + 1) & (t->size - 1))
		if (!strcmp(t->slot[h], s))
			break;
	return &t->slot[h];
}

/* Makes room for as many again. */
static void
widen(struct strings *t)
{
	struct strings old = *t;

	t->size = old.size ? old.size * 2 : 1024;
	t->slot = need(calloc(t->size, sizeof *t->slot));
	for (size_t i = 0; i < old.size; i++)
		if (old.slot[i])
			*slot(t, old.slot[i]) = old.slot[i];
	free(old.slot);
}

/* A copy that is the record's own, or shared. */
static char *
keep(const struct record *r, const char *s)
{
	struct strings *t = r->strings;
	char **p;

	if (!t)
		return copy(s);
	if (t->n * 2 >= t->size)
		widen(t);
	p = slot(t, s);
	if (!*p) {
		*p = copy(s);
		t->n++;
	}
	return *p;
}

static void
drop(const struct record *r, char *s)
{
	if (!r->strings)
		free(s);
}

void
strings_free(struct strings *t)
{
	for (size_t i = 0; i < t->size; i++)
		free(t->slot[i]);
	free(t->slot);
	*t = (struct strings){ 0 };
}

/*
 * What stands for s in a record.  Shared strings are there once, so that
 * pointers tell whether two are the same; NULL: there is no such string.
 */
static const char *
kept(const struct record *r, const char *s)
{
	const struct strings *t = r->strings;

	return !t ? s : t->n ? *slot(t, s) : NULL;
}

static int
same(const struct record *r, const char *a, const char *b)
{
	return a == b || (!r->strings && !strcmp(a, b));
}

/* --- records -------------------------------------------------------------- */

void
record_free(struct record *r)
{
	for (int i = 0; i < r->nfacts; i++) {
		drop(r, r->facts[i].name);
		drop(r, r->facts[i].value);
	}
	for (int i = 0; i < r->nfigures; i++) {
		drop(r, r->figures[i].key);
		drop(r, r->figures[i].unit);
		free(r->figures[i].rounds);
		free(r->figures[i].why);
		free(r->figures[i].note);
	}
	free(r->facts);
	free(r->figures);
	*r = (struct record){ 0 };
}

static struct pair *
pair(const struct record *r, const char *name)
{
	name = kept(r, name);
	for (int i = 0; i < r->nfacts; i++)
		if (same(r, r->facts[i].name, name))
			return &r->facts[i];
	return NULL;
}

const char *
record_get(const struct record *r, const char *name)
{
	const struct pair *p = pair(r, name);

	return p ? p->value : NULL;
}

const char *
record_text(const struct record *r, const char *name)
{
	const char *v = record_get(r, name);

	return v ? v : "";
}

static int
differ(const struct record *r, int n, const char *name)
{
	int i;

	for (i = 1; i < n; i++)
		if (strcmp(record_text(r, name), record_text(&r[i], name)))
			return 1;
	return 0;
}

int
record_fleet(const struct record *r, int n)
{
	return differ(r, n, "host") && !differ(r, n, "kernel");
}

const char *
record_name(const struct record *r, int fleet)
{
	const char *v = record_text(r, "label");

	if (!*v && fleet)
		v = record_text(r, "host");
	return *v ? v : record_text(r, "kernel");
}

static void
add_fact(struct record *r, const char *name, const char *value)
{
	r->facts = grow(r->facts, r->nfacts, sizeof *r->facts);
	r->facts[r->nfacts++] = (struct pair){ keep(r, name),
		keep(r, value) };
}

void
record_fact(struct record *r, const char *name, const char *value, ...)
{
	char s[VALUE];
	struct pair *p = pair(r, name);
	va_list ap;

	va_start(ap, value);
	vsnprintf(s, sizeof s, value, ap);
	va_end(ap);
	if (!p) {
		add_fact(r, name, s);
		return;
	}
	drop(r, p->value);
	p->value = keep(r, s);
}

struct figure *
record_find(const struct record *r, const char *key)
{
	if (!(key = kept(r, key)))
		return NULL;
	for (int i = 0; i < r->nfigures; i++)
		if (same(r, r->figures[i].key, key))
			return &r->figures[i];
	return NULL;
}

struct figure *
record_add(struct record *r, const char *key, const char *unit)
{
	struct figure *f;

	r->figures = grow(r->figures, r->nfigures, sizeof *r->figures);
	f = &r->figures[r->nfigures++];
	*f = (struct figure){ .key = keep(r, key), .unit = keep(r, unit) };
	return f;
}

/* --- numbers -------------------------------------------------------------- */

double
decimal(const char *s, char **end)
{
	enum { FAR = 400 };             /* beyond the range of a double */
	const char *first = s, *mark;
	double v = 0, scale = 1;
	int digits = 0, point = 0, power = 0, sign = 1, e = 0;

	while (*s == ' ')
		s++;
	for (; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = 1;
			continue;
		}
		v = v * 10 + (*s - '0');
		digits++;
		power -= point;
	}
	if (!digits)
		s = first;
	mark = s;
	if (digits && (*s == 'e' || *s == 'E')) {
		s++;
		if (*s == '+' || *s == '-')
			sign = *s++ == '-' ? -1 : 1;
		for (; isdigit((unsigned char)*s); s++, mark = s)
			if (e < FAR)
				e = e * 10 + (*s - '0');
	}
	if (end)
		*end = (char *)(uintptr_t)mark;
	power += sign * e;
	for (e = power < 0 ? -power : power; e > 0 && scale < INFINITY; e--)
		scale *= 10;
	return power < 0 ? v / scale : v * scale;
}

/* --- writing ------------------------------------------------------------- */

/*
 * Plain decimals wherever that is possible, for the sake of spreadsheets;
 * 900 known to one digit must be 9e+02.
 */
void
join(char *s, size_t size, const char *fmt, ...)
{
	size_t n = strlen(s);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s + n, size - n, fmt, ap);
	va_end(ap);
}

void
record_number(char *s, size_t size, double v, int digits)
{
	int d = digits > 0 ? digits : DIGITS, power = 0;
	char *e;

	snprintf(s, size, "%.*e", d - 1, v);
	if ((e = strchr(s, 'e')))
		power = atoi(e + 1);
	if (digits <= 0 && power >= d && power < DBL_DIG)
		d = power + 1;          /* whole, and every digit of it */
	if (power >= -6 && power < d)
		snprintf(s, size, "%.*f", d - 1 - power, v);
}

static void
as_written(double *v)
{
	char s[64];

	record_number(s, sizeof s, *v, 0);
	*v = decimal(s, NULL);
}

void
record_round(struct record *r)
{
	for (int i = 0; i < r->nfigures; i++) {
		struct figure *g = &r->figures[i];

		if (g->why)
			continue;
		as_written(&g->value);
		as_written(&g->low);
		as_written(&g->high);
		for (int j = 0; j < g->nrounds; j++)
			as_written(&g->rounds[j]);
	}
}

/* A tab and a number.  Returns the bytes written, or -1. */
static int
put_number(FILE *f, char before, double v, int digits)
{
	char s[64];

	record_number(s, sizeof s, v, digits);
	return fprintf(f, "%c%s", before, s);
}

/* A tab and a text, which becomes printable on the way. */
static int
put_text(FILE *f, const char *s)
{
	int n;

	if (putc('\t', f) == EOF)
		return -1;
	for (n = 1; *s; n++, s++)
		if (putc(printable(*s) ? *s : '?', f) == EOF)
			return -1;
	return n;
}

static int
put_line(FILE *f, const char *kind, const char *name, const char *text)
{
	if (fputs(kind, f) == EOF || put_text(f, name) < 0 ||
	    put_text(f, text) < 0)
		return -1;
	return putc('\n', f) == EOF ? -1 : 0;
}

static int
put_result(FILE *f, const struct figure *g)
{
	/* value as it was given, the others at least as well */
	int digits = g->digits > DIGITS ? g->digits : 0, n, all;

	all = fprintf(f, "result\t%s\t%s", g->key, g->unit);
	if (all < 0 || (n = put_number(f, '\t', g->value, g->digits)) < 0)
		return -1;
	all += n;
	if (g->nrounds || g->low < g->value || g->high > g->value) {
		if ((n = put_number(f, '\t', g->low, digits)) < 0)
			return -1;
		all += n;
		if ((n = put_number(f, '\t', g->high, digits)) < 0)
			return -1;
		all += n;
	}
	/* no more rounds than a line has room for */
	for (int i = 0; i < g->nrounds && all < LINE - 32; i++, all += n)
		if ((n = put_number(f, i ? ',' : '\t', g->rounds[i],
		    digits)) < 0)
			return -1;
	return putc('\n', f) == EOF ? -1 : 0;
}

int
record_write(const struct record *r, FILE *f)
{
	int results = 0;

	if (fputs("bench\t1\n", f) == EOF)
		return -1;
	for (int i = 0; i < r->nfacts; i++)
		if (put_line(f, "fact", r->facts[i].name, r->facts[i].value))
			return -1;
	for (int i = 0; i < r->nfigures; i++) {
		const struct figure *g = &r->figures[i];

		if (g->why ? put_line(f, "none", g->key, g->why) :
		    put_result(f, g))
			return -1;
		if (g->note && put_line(f, "note", g->key, g->note))
			return -1;
		results += !g->why;
	}
	return fprintf(f, "end\t%d\n", results) < 0 || fflush(f) ? -1 : 0;
}

/* --- reading ------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3)))
fault(struct input *in, const char *what, ...)
{
	va_list ap;

	in->faults++;
	fprintf(stderr, "bench: %s:%ld: ", in->name, in->line);
	va_start(ap, what);
	vfprintf(stderr, what, ap);
	va_end(ap);
	putc('\n', stderr);
}

/*
 * The next line into s, of LINE + 1 bytes, without its newline.  Returns 0
 * at the end of the file.  *bad says what is wrong with the line, which is
 * then not whole; NULL if nothing is.
 */
static int
next(struct input *in, char *s, const char **bad)
{
	size_t n = 0;
	int c, odd = 0;

	while ((c = getc_unlocked(in->f)) != EOF && c != '\n') {
		if (n < LINE)
			s[n] = (char)c;
		n++;
		odd |= !printable(c) && c != '\t';
	}
	if (c == EOF && !n)
		return 0;
	in->line++;
	s[n < LINE ? n : LINE] = '\0';
	*bad = NULL;
	if (n > LINE)
		*bad = "line of more than 4096 bytes";
	else if (odd)
		*bad = "line with a byte that is not printable ASCII or tab";
	else if (c == EOF && !strstr(s, "end\t"))
		*bad = "line without its end";
	return 1;
}

/* Cuts s at its tabs into n fields at most; the rest are left empty. */
static int
split(char *s, char **field, int n)
{
	int i, all;

	for (i = 0; i < n && s; i++) {
		field[i] = s;
		if ((s = strchr(s, '\t')))
			*s++ = '\0';
	}
	for (all = i; i < n; i++)
		field[i] = "";
	return all;
}

static int
number(const char *s, double *v)
{
	char *end;

	*v = decimal(s, &end);
	return end != s && *s != ' ' && !*end && *v >= SMALLEST && *v <= LARGEST;
}

/* How many significant digits a number was given with. */
static int
given(const char *s)
{
	int n = 0;

	for (s += strspn(s, "0."); *s == '.' || isdigit((unsigned char)*s); s++)
		n += *s != '.';
	return n < DOUBLE ? n : DOUBLE;
}

/*
 * The medians of the rounds: numbers and commas.  Returns 0 on others.  In
 * brief they are counted, and what looks like numbers is taken for some.
 */
static int
rounds(struct figure *g, char *s, int brief)
{
	int n = 1;

	if (!*s)
		return 1;
	for (const char *p = s; (p = strchr(p, ',')); p++)
		n++;
	if (brief) {
		g->nrounds = (short)n;
		return !s[strspn(s, "0123456789.eE+-,")];
	}
	g->rounds = need(malloc((size_t)n * sizeof *g->rounds));
	while (s) {
		char *comma = strchr(s, ',');

		if (comma)
			*comma++ = '\0';
		if (!number(s, &g->rounds[g->nrounds++]))
			return 0;
		s = comma;
	}
	return 1;
}

/*
 * What is done with each kind of line: fields from the name or key on, of
 * which all are there that the kind needs.  Returns what is wrong, or NULL.
 */
static const char *
read_fact(struct record *r, char **field, int n)
{
	(void)n;
	if (pair(r, field[0]))
		return "given twice";
	add_fact(r, field[0], field[1]);
	return NULL;
}

static const char *
read_result(struct record *r, char **field, int n)
{
	struct figure g = { 0 }, *made;

	if (record_find(r, field[0]))
		return "given twice";
	if (!number(field[2], &g.value))
		return "value is not a number from 1e-18 to 1e18";
	g.low = g.high = g.value;
	if (n > 3 && (!number(field[3], &g.low) || !number(field[4], &g.high)))
		return "low and high are not numbers from 1e-18 to 1e18";
	if (!rounds(&g, field[5], r->brief)) {
		free(g.rounds);
		return "rounds are not numbers from 1e-18 to 1e18, and "
			"commas";
	}
	g.digits = (signed char)given(field[2]);
	made = record_add(r, field[0], field[1]);
	g.key = made->key;
	g.unit = made->unit;
	*made = g;
	return NULL;
}

static const char *
read_none(struct record *r, char **field, int n)
{
	(void)n;
	if (record_find(r, field[0]))
		return "given twice";
	record_add(r, field[0], "")->why = copy(field[1]);
	return NULL;
}

static const char *
read_note(struct record *r, char **field, int n)
{
	struct figure *g = record_find(r, field[0]);

	(void)n;
	if (!g)
		return "no figure of that key before";
	if (g->note)
		return "given twice";
	g->note = copy(field[1]);
	return NULL;
}

static const struct {
	const char *name;
	int fields;             /* after the name, at least */
	const char *(*read)(struct record *, char **, int);
} kinds[] = {
	{ "fact",       2, read_fact },
	{ "result",     3, read_result },
	{ "none",       2, read_none },
	{ "note",       2, read_note },
};

static void
item(struct input *in, struct record *r, char **field, int n)
{
	const char *wrong;

	for (size_t i = 0; i < LEN(kinds); i++) {
		if (strcmp(field[0], kinds[i].name))
			continue;
		if (n - 1 < kinds[i].fields || !*field[1])
			wrong = "fields are missing";
		else
			wrong = kinds[i].read(r, field + 1, n - 1);
		if (wrong)
			fault(in, "%s %.40s: %s (line skipped)", field[0],
			    field[1], wrong);
		return;
	}
}

/*
 * What stands before a line that pdsh, clush (host, colon, blank) or parallel
 * --tag (host, tab) has passed on, with its end cut off; s goes to what is
 * behind it.
 */
static const char *
prefix(const struct input *in, char **s)
{
	size_t field = 0;
	char *p = *s;

	for (; p[field] && p[field] != '\t'; field++) {
		if (p[field] != ':' || p[field + 1] != ' ')
			continue;
		p[field] = '\0';
		*s = p + field + 2;
		return p;
	}
	if (!p[field])
		return "";
	for (int i = 0; i < in->nopen; i++) {
		const char *tag = in->open[i].prefix;

		if (*tag && strlen(tag) == field && !strncmp(tag, p, field))
			goto tagged;
	}
	if (strncmp(p + field, "\tbench\t", 7))
		return "";
tagged:
	p[field] = '\0';
	*s = p + field + 1;
	return p;
}

/* The record that lines with that prefix belong to, or NULL. */
static struct opened *
find_open(struct input *in, const char *prefix)
{
	for (int i = in->nopen; i--; )
		if (!strcmp(in->open[i].prefix, prefix))
			return &in->open[i];
	return NULL;
}

/*
 * musl's old malloc asks the kernel for whole pages each time that nothing
 * free is large enough: of arrays of some pages, half is lost.  So let there
 * be something large, time and again.
 */
static void
make_room(struct input *in)
{
	enum { RECORDS = 32, BYTES = 192 << 10 };

	void *volatile room;            /* or the compiler would do without */

	if (in->records++ % RECORDS == RECORDS - 1) {
		room = malloc(BYTES);
		free(room);
	}
}

static void
open_record(struct input *in, const char *prefix)
{
	make_room(in);
	in->open = grow(in->open, in->nopen, sizeof *in->open);
	in->open[in->nopen++] = (struct opened){ .prefix = copy(prefix),
		.record = { .strings = in->strings, .brief = in->brief } };
}

/* Hands a record out.  One without a host is of the prefix it came with. */
static int
hand_out(struct input *in, struct opened *o, struct record *r)
{
	if (*o->prefix && !pair(&o->record, "host"))
		add_fact(&o->record, "host", o->prefix);
	*r = o->record;
	free(o->prefix);
	*o = in->open[--in->nopen];
	return 1;
}

static void
cut_short(struct input *in, const char *what, const struct opened *o)
{
	fault(in, "%s%s%s: the record was cut short (its %ld results count)",
	    o->prefix, *o->prefix ? ": " : "", what, o->results);
}

/*
 * A line that opens a record.  Returns 1 if that ends the one before it,
 * which is then in r.
 */
static int
begins(struct input *in, const char *prefix, char **field, struct record *r)
{
	struct opened *o = find_open(in, prefix);

	if (o)
		cut_short(in, "no end before it", o), hand_out(in, o, r);
	in->named = strcmp(field[1], "1");
	if (in->named)
		fault(in, "record of version '%.20s', skipped (1 is read "
		    "here)", field[1]);
	else
		open_record(in, prefix);
	return !!o;
}

/* What stands outside of records is named once, however much it is. */
static void
stray(struct input *in)
{
	if (!in->named)
		fault(in, "not a record (it begins with a line of bench, "
		    "tab, 1)");
	in->named = 1;
}

/* A line.  Returns 1 if a record is complete with it, which is then in r. */
static int
take(struct input *in, char *s, const char *bad, struct record *r)
{
	char *field[7], *rest;
	const char *from = prefix(in, &s);
	struct opened *o = find_open(in, from);
	int n;

	if (o)
		o->results += !strncmp(s, "result\t", 7);
	if (bad && o)
		fault(in, "%s (skipped)", bad);
	if (bad && !o)
		stray(in);
	if (bad)
		return 0;
	n = split(s, field, LEN(field));
	if (!strcmp(field[0], "bench"))
		return begins(in, from, field, r);
	if (!o) {
		if (*s)
			stray(in);
		return 0;
	}
	if (strcmp(field[0], "end")) {
		item(in, &o->record, field, n);
		return 0;
	}
	if (strtol(field[1], &rest, 10) != o->results || *rest || !*field[1])
		fault(in, "end says '%.20s' results, there are %ld",
		    field[1], o->results);
	return hand_out(in, o, r);
}

int
record_read(struct input *in, struct record *r)
{
	char s[LINE + 1];
	const char *bad;

	while (next(in, s, &bad))
		if (take(in, s, bad, r))
			return 1;
	if (in->nopen) {
		cut_short(in, "no end", in->open);
		return hand_out(in, in->open, r);
	}
	if (ferror(in->f))
		fault(in, "%s", strerror(errno));
	else if (!in->line)
		fault(in, "empty (a record was expected)");
	free(in->open);
	return 0;
}
