/*
 * report.c - tables of records.
 *
 * A table is a row of tables[]; one loop prints them all.  Its columns are
 * labels, which are facts of the record, and the rows of tests that name
 * it.  Columns of figures are as narrow as they can be,
 * labels share what is left of a line.  Nothing is shown that is not in the
 * record, and nothing but printable ASCII.  Two sides of a comparison are two
 * records and a row of changes.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "config.h"

/* A column of words. */
struct label {
	const char *head;
	const char *fact;       /* what it shows; NULL: its name */
	int keep;               /* narrower only when nothing else helps */
	int fleet;              /* its name in a fleet, where it is one */
};

static const struct label os_labels[] = {
	{ "Host", "host", 8, 0 },
	{ "OS", NULL, 14, 0 },
	{ 0 }
}, x_labels[] = {
	{ "machine", NULL, 14, 1 },
	{ "p", "x_depth", 2, 0 },
	{ "comm", "x_comm", 6, 0 },
	{ 0 }
}, more_labels[] = {
	{ "machine", NULL, 14, 1 },
	{ 0 }
};

static const struct table {
	const char *name;       /* its rows have it as table */
	const char *brief;
	const char *heading;
	int lines;              /* of the heads of its columns */
	int bars;               /* between columns, and a rule under heads */
	const struct label *labels;
} tables[] = {
	{ "x", "X", "X drawing (stones: more is better)", 1, 1,
		x_labels },
	{ "x_more", "More X", "X, outside the stones (100x100 pixels; "
		"characters) - operations a second", 2, 0, more_labels },
	{ "proc", "Processes", "Processor, Processes - times in microseconds",
		2, 0, os_labels },
	{ "comm", "Communication",
		"*Local* Communication latencies in microseconds",
		2, 0, os_labels },
	{ "bw", "Bandwidth",
		"*Local* Communication bandwidths in megabytes/second",
		2, 0, os_labels },
	{ "mem", "Memory", "Memory latencies in nanoseconds",
		1, 0, os_labels },
	{ "calls", "System calls", "System calls - times in microseconds",
		2, 0, os_labels },
	{ "spawn", "Starting", "Starting processes - times in microseconds",
		2, 0, os_labels },
	{ "ctx", "Switches",
		"Context switches (processes, size) in microseconds",
		2, 0, os_labels },
	{ "xctx", "Far switches",
		"Context switches across CPUs in microseconds",
		2, 0, os_labels },
	{ "wake", "Wake-ups", "Wake-ups, there and back (x: across CPUs) "
		"in microseconds", 2, 0, os_labels },
	{ "file", "Files", "Files on tmpfs, locks - times in microseconds",
		2, 0, os_labels },
	{ "dir", "Directory", "Files on a directory in microseconds",
		2, 0, os_labels },
	{ "vm", "Virtual memory", "Virtual memory - times in microseconds",
		2, 0, os_labels },
	{ "bw2", "More bandwidth", "Further bandwidths (all: on all CPUs at "
		"once) in megabytes/second", 2, 0, os_labels },
	{ "cache", "Caches", "Caches, TLB, parallel loads", 2, 0, os_labels },
	{ "arith", "Arithmetic", "Arithmetic - nanoseconds an operation",
		2, 0, os_labels },
};

enum {
	COLUMNS = 40,           /* of a table at most */
	CELL = 64,              /* bytes that any figure fits in */
	DOTS = 2,               /* ".." where words are cut */
	NARROWEST = 4,          /* column of words */
	CHANGE = 8,             /* ... that holds "change %" */
	GUESSES = 12,           /* label.keep of a row that is words */
	DIGITS = 3,             /* of a figure */
	WHOLE = 8               /* digits of stones at most */
};

/* What is given up, one after the other, while a line is too long. */
enum saving {
	NOTHING,
	LINUX,                  /* before the release of a kernel */
	MARKS,                  /* place for a mark, where there is none */
	WHOLES,                 /* whole digits of stones, from here on */
	ALL = WHOLES + 3
};

/* A table as it will be on paper. */
struct column {
	const struct label *label;      /* NULL: a row */
	const struct test *test;
	int words;                      /* to the left, and may be cut */
	int width, want, keep;
	int length;                     /* longest figure or words */
	int marked, mark;               /* has a mark; has place for one */
	const char *first;              /* words of its first record */
	int same;                       /* bytes that all others begin with */
	int at;                         /* where in records it was last */
};

struct sheet {
	const struct table *table;
	struct column column[COLUMNS];
	int n;
	int fleet;              /* the records are of one */
	enum saving saving;
	const struct comparison *c;     /* NULL: no row of changes */
};

/* What there is to explain under the tables. */
struct tally {
	int noisy, noted, alien, none;
};

/* --- output -------------------------------------------------------------- */

struct out {
	FILE *f;
	int blanks;             /* not yet printed: a line may end here */
};

/*
 * Each part may begin with an empty line: of two in a row the second is left
 * out, and one above all else.
 */
static void
put(struct out *o, int c)
{
	static int ends = 2;    /* of lines, in a row */

	if (c == ' ') {
		o->blanks++;
		return;
	}
	ends = c == '\n' ? ends + 1 : 0;
	for (; o->blanks; o->blanks--)
		if (c != '\n')
			putc(' ', o->f);
	if (ends > 2)
		return;
	putc((c < ' ' || c > '~') && c != '\n' ? '?' : c, o->f);
}

static void __attribute__((format(printf, 2, 3)))
say(struct out *o, const char *fmt, ...)
{
	char s[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	for (const char *p = s; *p; p++)
		put(o, *p);
}

/* Text from a column on, broken at blanks where a line would be too long. */
static void
wrap(struct out *o, int at, int indent, const char *s)
{
	while (*s) {
		int word = (int)strcspn(s, " ");

		if (word > WIDTH - indent)
			word = WIDTH - indent;
		if (at + word > WIDTH && at > indent) {
			say(o, "\n%*s", indent, "");
			at = indent;
		}
		say(o, "%.*s ", word, s);
		at += word + 1;
		s += word + (s[word] == ' ');
	}
	put(o, '\n');
}

/* --- cells --------------------------------------------------------------- */

/* Power of ten of a number that is rounded to so many digits. */
static int
power(double v, int digits)
{
	char s[CELL], *e;

	snprintf(s, sizeof s, "%.*e", digits - 1, v);
	return (e = strchr(s, 'e')) ? atoi(e + 1) : 0;
}

/*
 * A figure in few digits, and never more than it was given with: what has
 * more before its point gets K, M, G.
 */
static void
shorten(char *s, const struct figure *f, int whole)
{
	static const char units[] = "KMGTPE";
	int digits = whole ? whole : DIGITS, decimals, p, unit = -1;
	double v = f->value;

	if (f->digits > 0 && f->digits < digits)
		digits = f->digits;
	p = power(v, digits);
	if (p >= digits) {
		if (digits > DIGITS)
			digits = DIGITS;
		for (p = power(v, digits); p >= digits; p -= 3) {
			v /= 1000;
			unit++;
		}
		whole = 0;
	}
	decimals = whole && p >= 0 ? 0 : digits - 1 - p;
	if (decimals > 3)
		decimals = 3;
	if (p < -3 || unit >= (int)sizeof units - 1)
		snprintf(s, CELL, "%.0e", f->value);
	else
		snprintf(s, CELL, "%.*f%.*s", decimals, v, unit >= 0,
		    &units[unit > 0 ? unit : 0]);
}

static int
in_stones(const char *unit)
{
	return !strcmp(unit, "stones");
}

/* Digits up to which a unit is shown whole; 0: like any other. */
static int
whole(const struct sheet *s, const char *unit)
{
	if (in_stones(unit))
		return s->saving < WHOLES ? WHOLE :
		    WHOLE - 1 - (int)(s->saving - WHOLES);
	return strcmp(unit, "MHz") ? 0 : 5;
}

/* Records of one program have a key in one place, so that is tried first. */
static const struct figure *
find(struct column *c, const struct record *r)
{
	const char *key = c->test->key;
	const struct figure *f;

	if (c->at < r->nfigures && !strcmp(r->figures[c->at].key, key))
		return &r->figures[c->at];
	if ((f = record_find(r, key)))
		c->at = (int)(f - r->figures);
	return f;
}

/* Whether quartiles lie so far apart that a figure is to be marked. */
static int
noisy(const struct figure *f)
{
	return f->high - f->low > NOISY * f->value;
}

/* The figure of a record in a column, or what stands for it, and its mark. */
static char
cell(char *text, const struct sheet *s, struct column *c,
    const struct record *r)
{
	const struct figure *f = find(c, r);

	text[0] = text[1] = '\0';
	if (!f)
		return ' ';
	if (f->why || strcmp(f->unit, c->test->unit)) {
		text[0] = f->why ? '-' : '?';
		return ' ';
	}
	shorten(text, f, whole(s, f->unit));
	if (f->note)
		return '~';
	return noisy(f) ? '*' : ' ';
}

static const char *
words(const struct sheet *s, struct column *c, const struct record *r)
{
	const char *v;

	if (!c->label) {
		const struct figure *f = find(c, r);

		return f && f->why ? "-" : record_text(r, c->test->key);
	}
	if (c->label->fact)
		return record_text(r, c->label->fact);
	v = record_name(r, s->fleet && c->label->fleet);
	if (s->saving >= LINUX && !strncmp(v, "Linux ", 6) && v[6])
		v += 6;
	return v;
}

/* Cuts words where that does not hide how one record differs from another. */
static void
cut(struct out *o, const struct column *c, const char *v)
{
	int len = (int)strlen(v), room = c->width - DOTS, from;

	if (len <= c->width) {
		say(o, "%-*s", c->width, v);
	} else if (c->same >= room && c->same < len) {
		from = c->same - room / 2;
		if (from > len - room)
			from = len - room;
		say(o, "..%-*.*s", room, room, v + from);
	} else {
		say(o, "%.*s..", room, v);
	}
}

/* What the row of changes says in a column. */
static void
change(char *text, const struct sheet *s, const struct column *c)
{
	const struct change *g = s->c->change, *end = g + s->c->n;
	static const char units[] = "\0KMGTPE";
	double v;
	int unit = 0;

	*text = '\0';
	if (c->label) {
		if (c == s->column)
			strcpy(text, "change %");
		return;
	}
	while (g < end && g->test != c->test)
		g++;
	if (g == end || g->why)
		return;
	if (g->verdict < BETTER) {
		strcpy(text, g->verdict == SAME ? "=" : "?");
		return;
	}
	for (v = g->percent; unit < 6 && (v > 999.5 || v < -999.5); unit++)
		v /= 1000;
	snprintf(text, CELL, g->single ? "(%+.*f%.1s)" : "%+.*f%.1s",
	    !unit && !g->single && v > -9.95 && v < 9.95, v, &units[unit]);
}

/* --- columns and their widths -------------------------------------------- */

/*
 * One of the lines of a column's head; returns its length.  A title of two
 * lines is broken at its blank, or else behind its last slash.
 */
static int
head(const struct sheet *s, const struct column *c, int line, const char **h)
{
	const char *second, *slash;
	int first;

	*h = c->label ? c->label->head : c->test->title;
	first = (int)strlen(*h);
	second = *h + first;
	if (s->table->lines > 1 && !c->label) {
		if ((slash = strrchr(*h, '/')))
			second = slash + 1;
		if (strchr(*h, ' '))
			second = strchr(*h, ' ') + 1;
		first = (int)(second - *h);
	}
	if (first && (*h)[first - 1] == ' ')
		first--;
	if (!line)
		return first;
	*h = second;
	return (int)strlen(second);
}

/* Has a record anything to say in a table? */
static int
present(struct sheet *s, const struct record *r)
{
	for (int i = 0; i < s->n; i++)
		if (s->column[i].test && find(&s->column[i], r))
			return 1;
	return 0;
}

/* A column for a row; returns whether any record has it. */
static int
add(struct sheet *s, const struct test *row, const struct record *r, int n)
{
	struct column c = { .test = row, .keep = GUESSES,
		.words = !strcmp(row->unit, "text") };
	int i;

	for (i = 0; i < n && !find(&c, &r[i]); i++)
		;
	if ((i < n || !row->rare) && s->n < COLUMNS)
		s->column[s->n++] = c;
	return i < n;
}

/* The columns of a table; returns whether any record has any of it. */
static int
choose(struct sheet *s, const struct record *r, int n)
{
	const struct table *t = s->table;
	int any = 0;

	for (const struct label *l = t->labels; l->head; l++)
		s->column[s->n++] = (struct column){ .label = l, .words = 1,
			.keep = l->keep };
	for (const struct test *row = NULL; (row = next_test(row)); )
		if (!strcmp(row->table, t->name))
			any |= add(s, row, r, n);
	return any;
}

/* Takes account of what a record has in a column. */
static void
measure(struct sheet *s, struct column *c, const struct record *r)
{
	char text[CELL];
	const char *v = text;
	int same = 0, len;

	if (!c->words)
		c->marked |= cell(text, s, c, r) != ' ';
	else
		v = words(s, c, r);
	len = (int)strnlen(v, WIDTH);
	if (c->length < len)
		c->length = len;
	if (!c->words)
		return;
	if (!c->first)
		c->first = v;
	while (v[same] && v[same] == c->first[same])
		same++;
	if ((v[same] || c->first[same]) && c->same > same)
		c->same = same;
}

static void
measure_change(const struct sheet *s, struct column *c)
{
	char text[CELL];
	int len;

	change(text, s, c);
	len = (int)strlen(text);
	if (c->length < len)
		c->length = len;
}

/* Does what is being saved change a column? */
static int
changes(const struct sheet *s, const struct column *c)
{
	if (c->words)
		return s->saving <= LINUX;
	return s->saving == NOTHING ||
		(s->saving >= WHOLES && in_stones(c->test->unit));
}

/* Sets the widths; those of words to as little as they can do with. */
static void
set_widths(struct sheet *s, const struct record *r, int n)
{
	const char *h;

	for (int i = 0; i < s->n; i++) {
		struct column *c = &s->column[i];

		if (changes(s, c)) {
			c->first = NULL;
			c->same = INT_MAX;
			c->length = 0;
			for (int j = 0; j < n; j++)
				if (present(s, &r[j]))
					measure(s, c, &r[j]);
			if (s->c)
				measure_change(s, c);
		}
		c->mark = !c->words && (c->marked || s->saving < MARKS);
		c->want = c->length + c->mark;
		for (int line = 0; line < s->table->lines; line++)
			if (c->want < head(s, c, line, &h))
				c->want = head(s, c, line, &h);
		c->width = c->words && c->want > c->keep ? c->keep : c->want;
	}
}

/* What a line has left when columns are as wide as now, or as wanted. */
static int
left(const struct sheet *s, int wanted)
{
	int n = WIDTH - s->n + 1;

	for (int i = 0; i < s->n; i++)
		n -= wanted ? s->column[i].want : s->column[i].width;
	return n;
}

/* Makes each column of words one wider (by 1) or narrower (-1). */
static int
stretch(struct sheet *s, int room, int by)
{
	for (int i = 0; i < s->n && room; i++) {
		struct column *c = &s->column[i];
		int least = s->c && !i ? CHANGE : NARROWEST;

		if (!c->words || c->width == (by < 0 ? least : c->want))
			continue;
		c->width += by;
		room -= by;
	}
	return room;
}

static void
fit(struct sheet *s, const struct record *r, int n)
{
	int room, before;

	set_widths(s, r, n);
	if (left(s, 1) < 0) {
		s->saving = LINUX;
		set_widths(s, r, n);
	}
	while (left(s, 0) < 0 && s->saving < ALL) {
		s->saving++;
		set_widths(s, r, n);
	}
	room = left(s, 0);
	do {
		before = room;
		room = stretch(s, room, room < 0 ? -1 : 1);
	} while (room != before);
	for (int i = 0; !s->table->bars && i < s->n; i++)
		if (s->column[i].label && room-- > 0)
			s->column[i].width++;
}

/* --- lines --------------------------------------------------------------- */

static void
between(struct out *o, const struct sheet *s, int i)
{
	if (i)
		put(o, s->table->bars ? '|' : ' ');
}

/* Blanks before a head: figures have theirs above them, or in the middle. */
static int
before(const struct sheet *s, const struct column *c, int len)
{
	int n = c->words ? 0 : c->width - len;

	if (s->table->bars)
		return n / 2;
	return n > 0 && c->want == c->length + c->mark ? n - c->mark : n;
}

static void
heads(struct out *o, const struct sheet *s)
{
	const char *h;

	say(o, "%s\n", s->table->heading);
	for (int line = 0; line < s->table->lines; line++) {
		for (int i = 0; i < s->n; i++) {
			const struct column *c = &s->column[i];
			int len = head(s, c, line, &h);

			between(o, s, i);
			say(o, "%*s%-*.*s", before(s, c, len), "",
			    c->width - before(s, c, len), len, h);
		}
		put(o, '\n');
	}
	for (int i = 0; s->table->bars && i < s->n; i++) {
		if (i)
			put(o, '+');
		for (int j = 0; j < s->column[i].width; j++)
			put(o, '-');
	}
	if (s->table->bars)
		put(o, '\n');
}

static void
changes_row(struct out *o, const struct sheet *s)
{
	char text[CELL];

	for (int i = 0; i < s->n; i++) {
		const struct column *c = &s->column[i];

		between(o, s, i);
		change(text, s, c);
		if (c->words)
			say(o, "%-*s", c->width, text);
		else
			say(o, "%*s%*s", c->width - c->mark, text, c->mark, "");
	}
	put(o, '\n');
}

static void
row(struct out *o, struct sheet *s, const struct record *r, struct tally *t)
{
	char text[CELL], mark;

	for (int i = 0; i < s->n; i++) {
		struct column *c = &s->column[i];

		between(o, s, i);
		if (c->words) {
			const char *v = words(s, c, r);

			cut(o, c, v);
			t->none += !c->label && !strcmp(v, "-");
			continue;
		}
		mark = cell(text, s, c, r);
		say(o, "%*s", c->width - c->mark, text);
		if (c->mark)
			put(o, mark);
		t->noisy += mark == '*';
		t->noted += mark == '~';
		t->alien += *text == '?';
		t->none += !strcmp(text, "-");
	}
	put(o, '\n');
}

/* What is to be known of a record's figures in a table, or NULL. */
static const char *
remark(struct sheet *s, const struct record *r)
{
	const char *why = s->table->name[0] == 'x' && present(s, r) &&
	    (!s->table->name[1] || s->table->name[1] == '_') ?
	    record_get(r, "x_remark") : NULL;

	if (why)
		return why;     /* or else why it has none, if all lack one */

	for (int i = 0; i < s->n; i++) {
		const struct figure *f;

		if (s->column[i].label ||
		    !(f = find(&s->column[i], r)))
			continue;
		if (!f->why || (why && strcmp(why, f->why)))
			return NULL;
		why = f->why;
	}
	return why;
}

/*
 * Who spends the time, where a record tells: of wall time client, server and
 * nobody; of all CPUs; and what is left where nothing is drawn.
 */
static void
split(struct out *o, const struct record *r, int fleet)
{
	static const char *const names[] = { "line", "fill", "blt", "text",
		"arc", "cmplx" };
	static const int widths[] = { 7, 6, 7, 6, 7, 8, 6, 6, 7 };
	const char *v;
	char key[16], *end;
	int some = 0;

	for (size_t i = 0; i < LEN(names); i++) {
		snprintf(key, sizeof key, "x_cpu_%s", names[i]);
		if (!(v = record_get(r, key)))
			continue;
		if (!some++)
			say(o, "\nX CPU %% (null: time that is left where "
			    "nothing is drawn) - %.24s\n"
			    "           client       server           "
			    "whole system\n       user   sys   user   sys   "
			    "idle    user   sys  idle   null\n",
			    record_name(r, fleet));
		say(o, "%-5s", names[i]);
		for (size_t k = 0; k < LEN(widths); k++, v = end) {
			double part;

			v += strspn(v, " ");
			part = decimal(v, &end);
			if (end > v && part < 1000)
				say(o, "%*.0f", widths[k], part);
			else if (*end++ == '-')
				say(o, "%*s", widths[k], "-");
			else
				break;
		}
		put(o, '\n');
	}
}

static void
table(struct out *o, struct sheet *s, const struct record *r, int n,
    struct tally *tally)
{
	const char *why, *last = NULL;

	if (!choose(s, r, n))
		return;
	fit(s, r, n);
	put(o, '\n');
	heads(o, s);
	for (int i = 0; i < n; i++)
		if (present(s, &r[i]))
			row(o, s, &r[i], tally);
	if (s->c)
		changes_row(o, s);
	for (int i = 0; i < n; i++) {
		why = remark(s, &r[i]);
		if (!why || (last && !strcmp(last, why)))
			continue;
		say(o, "%s: ", s->table->brief);
		wrap(o, (int)strlen(s->table->brief) + 2, 0, why);
		last = why;
	}
}

static void
legend(struct out *o, const struct tally *t)
{
	if (t->noisy || t->noted || t->alien || t->none)
		put(o, '\n');
	if (t->noisy)
		say(o, "* noise: its quartiles lie more than %g%% apart\n",
		    NOISY * 100);
	if (t->noted)
		say(o, "~ not all that its title says: -v has the remark\n");
	if (t->alien)
		say(o, "? its record gives it in another unit\n");
	if (t->none)
		say(o, "- in %d cell%s: not measured, -v gives the reason%s\n",
		    t->none, t->none == 1 ? "" : "s", t->none == 1 ? "" : "s");
}

/* What disturbed each run. */
static void
noise(struct out *o, const struct record *r, int n)
{
	const char *v, *name;
	int fleet = record_fleet(r, n);

	for (int i = 0; i < n; i++) {
		if (!(v = record_get(&r[i], "disturbed")))
			continue;
		name = n > 1 ? record_name(&r[i], fleet) : "";
		put(o, '\n');
		if (*name)
			say(o, "%.60s: ", name);
		say(o, "disturbed: ");
		wrap(o, *name ? (int)strlen(name) + 13 : 11, 4, v);
	}
}

static void
print(FILE *f, const struct record *r, int n, const struct comparison *c)
{
	struct out o = { f, 0 };
	struct tally tally = { 0 };
	int fleet = record_fleet(r, n);

	for (size_t i = 0; i < LEN(tables); i++) {
		struct sheet s = { .table = &tables[i], .fleet = fleet, .c = c };

		table(&o, &s, r, n, &tally);
		for (int k = 0; !i && !c && k < n; k++)
			split(&o, &r[k], fleet);
	}
	legend(&o, &tally);
}

void
report(FILE *f, const struct record *r, int n)
{
	struct out o = { f, 0 };

	print(f, r, n, NULL);
	noise(&o, r, n);
}

void
report_changes(FILE *f, const struct comparison *c)
{
	print(f, c->side, 2, c);
}

const char *
report_table(int i)
{
	return i < (int)LEN(tables) ? tables[i].name : NULL;
}

static void
header_line(struct out *o, const char *s)
{
	if (*s)
		wrap(o, 0, 4, s);
}

/* A fact with a title begins a line. */
void
report_header(FILE *f, const struct record *r)
{
	static const struct {
		const char *title, *name, *form;
	} facts[] = {
		{ "cpu: ",    "cpu",           "%s" },
		{ NULL,       "cpus",          "%s CPUs" },
		{ NULL,       "core",          "%s" },
		{ NULL,       "virt",          "on %s" },
		{ NULL,       "governor",      "governor %s" },
		{ NULL,       "clocksource",   "clock %s" },
		{ NULL,       "clock_ns",      "%s ns to read" },
		{ "memory: ", "mem_total",     "%s" },
		{ NULL,       "mem_available", "%s available" },
		{ NULL,       "cgroup_memory", "limit %s" },
		{ NULL,       "page",          "page %s" },
		{ NULL,       "thp",           "THP %s" },
		{ NULL,       "seccomp",       "seccomp %s" },
		{ "flaws: ",  "mitigations",   "%s" },
		{ "build: ",  "build",         "%s" },
	};
	struct out o = { f, 0 };
	char line[1024] = "", gb[32];
	const char *v, *title = "";

	for (size_t i = 0; i < LEN(facts); i++) {
		if (facts[i].title) {
			header_line(&o, line);
			title = facts[i].title;
			*line = '\0';
		}
		if (!(v = record_get(r, facts[i].name)))
			continue;
		if (strstr(v, " kB")) {
			double kb = decimal(v, NULL);

			snprintf(gb, sizeof gb, kb < 1e6 ? "%.0f MB" :
			    "%.1f GB", kb / (kb < 1e6 ? 1e3 : 1e6));
			v = gb;
		}
		join(line, sizeof line, "%s", *line ? ", " : title);
		join(line, sizeof line, facts[i].form, v);
	}
	header_line(&o, line);
	put(&o, '\n');
}

const char *
report_brief(const char *name)
{
	for (size_t i = 0; i < LEN(tables); i++)
		if (!strcmp(tables[i].name, name))
			return tables[i].brief;
	return NULL;
}

void
report_text(FILE *f, int indent, const char *fmt, ...)
{
	struct out o = { f, 0 };
	char s[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	wrap(&o, 0, indent, s);
}

/* --- figures ------------------------------------------------------------- */

enum { VALUES = 12 };           /* width of a column of values */

static void
figure(struct out *o, const struct figure *f, int keys, const char **why)
{
	char value[CELL], low[CELL] = "", high[CELL] = "";
	char samples[16] = "", rounds[16] = "";

	say(o, "%-*s ", keys, f->key);
	if (f->why) {
		say(o, "%*s  ", VALUES, "-");
		wrap(o, keys + VALUES + 3, keys + VALUES + 3,
		    *why && !strcmp(*why, f->why) ? "as above" : f->why);
		*why = f->why;
		return;
	}
	record_number(value, CELL, f->value, f->digits);
	if (f->nrounds || f->low < f->high) {
		record_number(low, CELL, f->low, 0);
		record_number(high, CELL, f->high, 0);
	}
	if (f->samples)
		snprintf(samples, sizeof samples, "%d", f->samples);
	if (f->nrounds)
		snprintf(rounds, sizeof rounds, "%d", f->nrounds);
	say(o, "%*s%c %-6s %*s %*s %7s %6s\n", VALUES, value,
	    noisy(f) ? '*' : ' ', f->unit, VALUES - 2, low, VALUES - 2, high,
	    samples, rounds);
	if (f->note) {
		say(o, "%*s~ ", keys + 1, "");
		wrap(o, keys + 3, keys + 3, f->note);
	}
}

void
report_figures(FILE *f, const struct record *r)
{
	static const char *const names[] = { "host", "label", "kernel" };
	struct out o = { f, 0 };
	const char *v, *why = NULL;
	int keys = 14;

	if (!r->nfigures)
		return;
	for (int i = 0; i < r->nfigures; i++)
		if (keys < (int)strnlen(r->figures[i].key, 24))
			keys = (int)strnlen(r->figures[i].key, 24);
	put(&o, '\n');
	for (size_t i = 0; i < LEN(names); i++)
		if ((v = record_get(r, names[i])))
			say(&o, "%s  ", v);
	say(&o, "\n%-*s %*s  %-6s %*s %*s %7s %6s\n", keys, "key", VALUES,
	    "value", "unit", VALUES - 2, "low", VALUES - 2, "high", "samples",
	    "rounds");
	for (int i = 0; i < r->nfigures; i++)
		figure(&o, &r->figures[i], keys, &why);
	if ((v = record_get(r, "x_remark"))) {
		say(&o, "X: ");
		wrap(&o, 3, 3, v);
	}
	for (const struct test *t = NULL; (t = next_test(t)); ) {
		if (strcmp(t->unit, "text") || !(v = record_get(r, t->key)))
			continue;
		say(&o, "%-*s ", keys, t->key);
		wrap(&o, keys + 1, keys + 1, v);
	}
}
