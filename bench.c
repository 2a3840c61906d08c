/*
 * bench - how this machine and this kernel do, in half a minute.
 *
 * Rows of tests (os_tests.c, xcb_tests.c) are run in rounds, each row of
 * each round in a child of its own (harness.c).  What they leave becomes a
 * record (results.c) with facts about the machine (host.c); the record is
 * written to a file (record.c) and printed as tables (report.c).  Records
 * of files are printed by the same code, and compared (compare.c).  What is
 * to be done is read off the command line (options.c).  This file holds
 * which rows are run, the rounds, and the exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

/* A row on its way through a run. */
struct row {
	const struct test *test;
	struct result *result;  /* NULL: computed from others */
	double took;            /* seconds of its last round */
	int over;               /* not to be tried again */
	int failed;             /* in a round: exit status 1 */
	int when[MAXROUNDS];    /* round of the run that each of its own is */
	double spread;          /* of its quartiles, part of the median */
};

/* --- which rows ---------------------------------------------------------- */

/* Every row of every table, in the order they are run. */
static struct row *
all_rows(int *n)
{
	const struct test *t = NULL;
	struct row *rows = NULL;

	for (*n = 0; (t = next_test(t)); ++*n) {
		rows = must(realloc(rows, (size_t)(*n + 1) * sizeof *rows));
		rows[*n] = (struct row){ .test = t };
	}
	return rows;
}

static const struct row *
find(const struct row *rows, int n, const char *key)
{
	for (; n--; rows++)
		if (!strcmp(rows->test->key, key))
			return rows;
	return NULL;
}

/* Is c in the set [a-z] or [!a-z] at *p?  Moves *p to its end. */
static int
in_set(const char **p, char c)
{
	const char *s = *p + 1;
	int not = *s == '!', in = 0;

	s += not;
	do {
		if (s[1] == '-' && s[2] && s[2] != ']') {
			in |= *s <= c && c <= s[2];
			s += 2;
		} else {
			in |= *s == c;
		}
	} while (*s && *++s && *s != ']');
	*p = s;
	return in != not;
}

/* A shell pattern; fnmatch() costs 17 KB of wide characters in musl. */
static int
glob(const char *p, const char *s)
{
	for (; *p; p++, s++) {
		if (*p == '*')
			return glob(p + 1, s) || (*s && glob(p, s + 1));
		if (!*s || (*p == '[' ? !in_set(&p, *s) :
		    *p != '?' && *p != *s))
			return 0;
		if (!*p)
			return 0;       /* a set without its end */
	}
	return !*s;
}

/* Tables x and x_line are of one group: a name ends at its underscore. */
static int
same_group(const char *a, const char *b)
{
	size_t n = strcspn(a, "_");

	return n == strcspn(b, "_") && !strncmp(a, b, n);
}

/* Is the row one of a run that names none? */
static int
is_usual(const struct options *opt, const struct test *t)
{
	size_t i;

	for (i = 0; i < LEN(usual); i++)
		if (!strcmp(t->table, usual[i]))
			return 1;
	return opt->all;
}

/* Does a word of the command line mean this row, or a group it is in? */
static int
matches(const struct options *opt, const char *word, const struct test *t)
{
	if (!strcmp(word, "os"))
		return is_usual(opt, t) && !same_group(t->table, "x");
	return glob(word, t->key) || glob(word, t->table) ||
		(!strcmp(word, "x") && same_group(word, t->table));
}

/* Is the row asked for, itself or as a part of one that is? */
static int
wanted(const struct options *opt, const struct row *row,
	const struct row *all, int n)
{
	const char *of = result_of(row->test->key);
	char **w;

	if (!*opt->words && is_usual(opt, row->test))
		return 1;
	for (w = opt->words; *w; w++)
		if (matches(opt, *w, row->test))
			return 1;
	row = of ? find(all, n, of) : NULL;
	return row && wanted(opt, row, all, n);
}

/* Leaves the rows asked for; returns how many.  A word without: exit 2. */
static int
choose(struct row *rows, int n, const struct options *opt)
{
	struct row *some = must(calloc((size_t)n, sizeof *some));
	char **w;
	int i, k = 0;

	for (w = opt->words; *w; w++) {
		for (i = 0; i < n && !matches(opt, *w, rows[i].test); i++)
			;
		if (i == n) {
			warn("%s: no such test or group (bench -l lists them)",
				*w);
			exit(USAGE);
		}
	}
	for (i = 0; i < n; i++)
		if (wanted(opt, &rows[i], rows, n))
			some[k++] = rows[i];
	memcpy(rows, some, (size_t)k * sizeof *rows);
	free(some);
	return k;
}

/* --- the rounds ---------------------------------------------------------- */

/* A run under way. */
struct course {
	struct row *rows;
	int n;
	double until;           /* when its time is used */
	int enough;             /* rounds after which it ends all the same */
	int progress;           /* a line on standard error is wanted */
	struct noise *noise;
	int round;
	struct run how;
};

/* One line drawn over itself: a row, how far; or what else is done. */
static void
progress(const struct course *c, const struct row *row, const char *what)
{
	double left = c->until - seconds();
	char line[64];

	if (!c->progress)
		return;
	snprintf(line, sizeof line, "%s", what);
	if (row)
		snprintf(line, sizeof line, "round %d  %d/%d  %s  %.0f s left",
			c->round + 1, (int)(row - c->rows) + 1, c->n,
			row->test->key, left > 0 ? left : 0);
	fprintf(stderr, "\r%-*s\r", (int)sizeof line, line);
	fflush(stderr);
}

/* A table that is gone costs its other rows no further time. */
static void
give_up(struct course *c, const struct row *row)
{
	int i;

	for (i = 0; i < c->n; i++) {
		if (c->rows[i].over || !c->rows[i].result ||
		    !same_group(c->rows[i].test->table, row->test->table))
			continue;
		c->rows[i].over = 1;
		c->rows[i].result->state = row->result->state;
		strcpy(c->rows[i].result->why, row->result->why);
	}
}

/* One round of one row.  Returns the signal that ended it, or 0. */
static int
step(struct course *c, struct row *row)
{
	double began = seconds();
	int i, n = row->result->rounds;
	struct run how = c->how;
	int sig;

	if (same_group(row->test->table, "x"))
		how.slice *= XPART;
	sig = run(row->test, row->result, &how);

	row->took = seconds() - began;
	for (i = 1; i < c->how.copies && row->result->state == GOOD; i++)
		if (row->result[i].state != GOOD) {
			row->result->state = row->result[i].state;
			strcpy(row->result->why, row->result[i].why);
		}
	if (row->result->rounds > n)
		row->when[n] = c->round;
	if (sig || row->result->state == GOOD)
		return sig;
	/* what is not here may be so later, as when memory was short */
	row->over = row->failed = row->result->state == FAILED;
	if (row->result->gone)
		give_up(c, row);
	return 0;
}

static double
spread(const struct row *row)
{
	struct figure f = { 0 };

	if (row->over || !row->result || summary(row->test, row->result, &f))
		return 0;
	free(f.rounds);
	return (f.high - f.low) / f.value;
}

static int
by_spread(const void *a, const void *b)
{
	double x = (*(struct row *const *)a)->spread;
	double y = (*(struct row *const *)b)->spread;

	return (x < y) - (x > y);
}

/*
 * The rows of the next round, the clock of the core before and after the
 * others; after ROUNDS those that spread, most first.
 */
static int
line_up(const struct course *c, struct row **line)
{
	struct row *last = NULL;
	int i, n = 0;

	for (i = 0; i < c->n; i++) {
		struct row *row = &c->rows[i];

		if (!row->result || row->over)
			continue;
		if (c->round >= ROUNDS && (row->spread = spread(row)) < CALM)
			continue;
		if (!strcmp(row->test->key, "mem_mhz")) {
			last = row;
			continue;
		}
		line[n++] = row;
		if (!strcmp(row->test->key, "mhz")) {
			line[n - 1] = line[0];
			line[0] = row;
		}
	}
	if (last)
		line[n++] = last;
	if (c->round >= ROUNDS)
		qsort(line, (size_t)n, sizeof *line, by_spread);
	return n;
}

/* A round.  Sets *done to the rows it had time for.  Returns as step(). */
static int
pass(struct course *c, struct row **line, int n, int *done)
{
	int i, sig = 0;

	for (*done = i = 0; i < n && !sig; i++) {
		if (line[i]->over ||
		    (c->round && seconds() + line[i]->took > c->until))
			continue;
		progress(c, line[i], "");
		sig = step(c, line[i]);
		(*done)++;
	}
	if (*done)
		noise_round(c->noise, *done == n && c->round < ROUNDS);
	return sig;
}

/*
 * Rounds until the time is used, the first one whole.  The samples of a
 * round are made as many as will let ROUNDS of them fit, set-up included,
 * and leave SPARE for those that repeat what spreads most.
 */
static int
rounds(struct course *c)
{
	double now = seconds(), began, setup, *slice = &c->how.slice;
	double planned = c->until - SPARE * (c->until - now);
	struct row **line = must(calloc((size_t)c->n, sizeof *line));
	int n, done, sig = 0;

	*slice = (planned - now) / ROUNDS / c->n / 2;
	for (c->round = 0; c->round < c->enough && !sig; c->round++) {
		if (!(n = line_up(c, line)))
			break;
		*slice = fmin(fmax(*slice, MINSLICE), MAXSLICE);
		began = seconds();
		sig = pass(c, line, n, &done);
		if (!done)
			break;
		now = seconds();
		setup = (now - began) / done - *slice;
		if (c->round + 1 < ROUNDS)
			*slice = (planned - now) / (ROUNDS - c->round - 1) *
				0.96 / done - setup;
	}
	free(line);
	return sig;
}

/* Everything a run has found, in the order of the tables. */
static void
take_results(struct record *rec, const struct course *c)
{
	int i;

	for (i = 0; i < c->n; i++)
		if (c->rows[i].result)
			result_row(rec, c->rows[i].test, c->rows[i].result,
				c->how.copies, c->rows[i].failed);
	for (i = 0; i < c->n; i++)      /* the mean of means comes last */
		if (!c->rows[i].result)
			result_mean(rec, c->rows[i].test);
}

/* Which rows were hit by what disturbed the run. */
static void
take_noise(struct record *rec, const struct course *c)
{
	const struct figure *f;
	int i;

	noise_judge(c->noise, rec);
	for (i = 0; i < c->n; i++) {
		const struct row *row = &c->rows[i];

		f = record_find(rec, row->test->key);
		if (row->result && f && f->nrounds == row->result->rounds)
			noise_hit(c->noise, f, row->test->better, row->when);
	}
	noise_facts(c->noise, rec);
	free(c->noise);
}

/* --- names of records ---------------------------------------------------- */

static int
compare_names(const struct record *a, const struct record *b)
{
	int d = strcmp(record_text(a, "label"), record_text(b, "label"));

	return d ? d : strcmp(record_text(a, "host"), record_text(b, "host"));
}

static int
by_name(const void *a, const void *b)
{
	const struct record *x = *(struct record *const *)a;
	const struct record *y = *(struct record *const *)b;
	int d = compare_names(x, y);

	return d ? d : (x > y) - (x < y);
}

/* Labels that a host has given twice get a number each. */
static void
number_labels(struct record *recs, int n)
{
	struct record **r = must(calloc((size_t)n + 1, sizeof *r));
	int i, k, m, named = 0;

	for (i = 0; i < n; i++)
		if (record_get(&recs[i], "label"))
			r[named++] = &recs[i];
	qsort(r, (size_t)named, sizeof *r, by_name);
	for (i = 0; i < named; i = k) {
		for (k = i + 1; k < named && !compare_names(r[i], r[k]); k++)
			;
		for (m = i; m < k && k - i > 1; m++)
			record_fact(r[m], "label", "%.3900s #%d",
				record_get(r[m], "label"), m - i + 1);
	}
	free(r);
}

/* --- a run --------------------------------------------------------------- */

/*
 * Opens a file to append to.  A line that was cut short is ended first, so
 * that no reader takes a part of a number for a number.
 */
static int
append(const char *name)
{
	int fd = open(name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	off_t size;
	char last;

	if (fd < 0)
		fd = open(name, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0) {
		warn("%s: open (the tables come all the same):", name);
		return -1;
	}
	size = lseek(fd, 0, SEEK_END);
	if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n' &&
	    write(fd, "?\n", 2) != 2)
		warn("%s: write:", name);
	return fd;
}

/* Appends the record to a file, whole or not at all. */
static int
save(const struct record *rec, int fd, const char *name)
{
	FILE *f = fdopen(fd, "a");
	struct stat st;
	int bad;

	if (!f) {
		warn("%s: open:", name);
		return -1;
	}
	if (fstat(fd, &st))
		st.st_mode = 0;
	bad = record_write(rec, f) || fflush(f) || (fsync(fd) &&
		(errno == EIO || errno == ENOSPC || errno == EDQUOT));
	if (bad)
		warn("%s: record not written:", name);
	if (bad && S_ISREG(st.st_mode) && ftruncate(fd, st.st_size))
		warn("%s: record cut short:", name);
	if (fclose(f) && !bad)
		warn("%s: record not written:", name), bad = 1;
	return bad ? -1 : 0;
}

/* Blocks the signals that end a run early, but not those ignored (nohup). */
static void
block(sigset_t *stop)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction old;
	sigset_t set;
	size_t i;

	sigemptyset(stop);
	for (i = 0; i < LEN(signals); i++)
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaddset(stop, signals[i]);
	set = *stop;
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);
}

/* Nothing can be measured. */
static int
no_clock(struct course *c)
{
	int i;

	for (i = 0; i < c->n; i++) {
		if (!c->rows[i].result)
			continue;
		c->rows[i].failed = 1;
		c->rows[i].result->state = FAILED;
		strcpy(c->rows[i].result->why,
			"CLOCK_MONOTONIC does not advance");
	}
	return 0;
}

/* A run, from facts to record.  Returns the signal that ended it, or 0. */
static int
measure(struct course *c, struct record *rec, const struct options *opt)
{
	int sig, still;

	c->noise = must(noise_start());
	still = clock_check(&c->how.clock);
	fast_cpus(c->how.fast);
	host_facts(rec, still ? -1 : c->how.clock.cost);
	if (opt->label)
		record_fact(rec, "label", "%s", opt->label);
	if (opt->copies > 1)
		record_fact(rec, "copies", "%d", opt->copies);
	sig = still ? no_clock(c) : rounds(c);
	progress(c, NULL, "");
	take_results(rec, c);
	take_noise(rec, c);
	record_round(rec);
	return sig;
}

/*
 * The curves of memory of a record: in the terminal, or into a file as SVG.
 * Returns 0, or -1 when that has failed, as is said.
 */
static int
curves(const char *name, const struct record *r)
{
	FILE *f = strcmp(name, "mem") ? fopen(name, "w") : stdout;
	int some;

	if (!f) {
		warn("%s: picture not written:", name);
		return -1;
	}
	some = f == stdout ? curve_text(f, r) : curve_svg(f, r);
	if (f != stdout && fclose(f)) {
		warn("%s: picture not written:", name);
		return -1;
	}
	if (!some)
		warn("-g: %s: no curve of memory (bench -a, or bench curve, "
			"measures it)", name);
	return some ? 0 : -1;
}

/* Are there figures for tables?  Beside a picture alone there are none. */
static int
has_tables(const struct course *c)
{
	int i;

	for (i = 0; i < c->n && !strcmp(c->rows[i].test->unit, "text"); i++)
		;
	return i < c->n;
}

/* Is there a curve that was asked for by name? */
static int
named_curve(const struct options *opt, const struct course *c)
{
	return *opt->words && !strcmp(c->rows[c->n - 1].test->table, "curve");
}

/* Parts that no table shows, asked for by name, are worth their lines. */
static int
hidden(const struct course *c)
{
	const char *of;
	int i;

	for (i = 0; i < c->n; i++)
		if (c->rows[i].result &&
		    (of = result_of(c->rows[i].test->key)) &&
		    !find(c->rows, c->n, of))
			return 1;
	return 0;
}

static void
reset(struct result *r, int n)
{
	for (; n--; r++)
		*r = (struct result){ .v = r->v, .end = r->end };
}

/* Rows and results as they were before the first run. */
static void
begin(struct course *c, const struct options *opt)
{
	int i;

	memset(c->how.common, 0, COMMON);
	for (i = 0; i < c->n; i++) {
		struct result *r = c->rows[i].result;

		c->rows[i].over = c->rows[i].failed = 0;
		if (r)
			reset(r, c->how.copies);
	}
	c->until = seconds() + (opt->time > 0 ? opt->time :
		opt->all ? LONGTIME : TIME);
}

/* The keeper of an X server for it, if the run draws and has none, or 0. */
static pid_t
serve(const struct course *c, const char *command, int *status)
{
	pid_t keeper;

	if (!same_group(c->rows->test->table, "x"))
		return 0;               /* those of X come first */
	progress(c, NULL, "finding or starting an X server");
	keeper = x_start(command, &c->how);
	if (keeper < 0 && command)
		*status = TROUBLE;
	return keeper;
}

/* A run, its record kept and saved.  Returns as measure() does. */
static int
one_run(struct course *c, struct record *rec, const struct options *opt,
	int fd, int *status)
{
	int i, copied, sig;
	pid_t keeper;

	begin(c, opt);
	keeper = serve(c, opt->xserver, status);
	sig = measure(c, rec, opt);
	if (fd >= 0 && (copied = dup(fd)) < 0)
		copied = fd;            /* good for one run */
	if (fd >= 0 && save(rec, copied, opt->file ? opt->file : "record"))
		*status = TROUBLE;
	for (i = 0; i < c->n; i++)
		if (c->rows[i].failed)
			*status = TROUBLE;
	x_stop(keeper);
	return sig;
}

static int
live(const struct options *opt)
{
	struct course c = { .enough = opt->time > 0 ? MAXROUNDS : ENOUGH };
	struct record *recs = must(calloc((size_t)opt->runs, sizeof *recs));
	struct result *r;
	int i, n = 0, fd = opt->fd, sig = 0, status = OK;

	c.progress = !opt->quiet && isatty(2);
	c.rows = all_rows(&c.n);
	c.n = choose(c.rows, c.n, opt);
	c.how.timeout = TIMEOUT;
	c.how.common = must(shared(COMMON));
	c.how.copies = opt->copies;
	r = must(results(c.n * opt->copies));
	for (i = 0; i < c.n; i++)
		if (c.rows[i].test->run)
			c.rows[i].result = &r[i * opt->copies];
	if (opt->file && (fd = append(opt->file)) < 0)
		status = TROUBLE;
	block(&c.how.stop);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (n < opt->runs && !sig)
		sig = one_run(&c, &recs[n++], opt, fd, &status);
	while (sig && sigtimedwait(&c.how.stop, NULL, &(struct timespec){ 0 })
	    > 0)
		;                       /* the same once more: timeout(1) */
	sigprocmask(SIG_UNBLOCK, &c.how.stop, NULL);
	number_labels(recs, n);
	if (opt->format)
		export_records(stdout, opt->format, recs, n);
	else if (!opt->quiet && !opt->picture && n)
		report_header(stdout, recs);
	if (!opt->format && has_tables(&c))
		report(stdout, recs, n);
	for (i = 0; i < n && !opt->format; i++)
		if (opt->verbose || opt->copies > 1 || hidden(&c))
			report_figures(stdout, &recs[i]);
	if (n && (opt->picture || named_curve(opt, &c)) &&
	    curves(opt->picture ? opt->picture : "mem", &recs[n - 1]))
		status = TROUBLE;
	if (sig) {
		fflush(stdout);
		raise(sig);
	}
	return status;
}

/* --- records of files ----------------------------------------------------- */

/*
 * Adds the records of one file; in brief, all but the first two without
 * their rounds.  Returns the number of faults.
 */
static int
read_file(const char *name, struct strings *strings, int brief,
	struct record **recs, int *n)
{
	struct input in = { .name = name, .strings = strings };
	struct record r;

	if (!strcmp(name, "-")) {
		in.f = stdin;
		in.name = "standard input";
	} else if (!(in.f = fopen(name, "r"))) {
		warn("%s: open:", name);
		return 1;
	}
	while (in.brief = brief && *n > 1, record_read(&in, &r)) {
		if (!(*n & (*n - 1)))
			*recs = must(realloc(*recs,
				(size_t)(*n ? 2 * *n : 1) * sizeof r));
		(*recs)[(*n)++] = r;
	}
	if (in.f != stdin)
		fclose(in.f);
	return in.faults;
}

static int
picture(const char *name, const struct comparison *c)
{
	FILE *f = fopen(name, "w");

	if (f)
		export_picture(f, c);
	if (f && !ferror(f) && !fclose(f))
		return 0;
	warn("%s: picture not written:", name);
	return -1;
}

/* The first nold records against the others. */
static int
two_sides(const struct options *opt, const struct record *recs, int nold,
	int n)
{
	struct comparison c;
	int worse;

	compare(&c, recs, nold, recs + nold, n - nold);
	if (opt->format) {
		export_changes(stdout, opt->format, &c);
	} else {
		compare_facts(stdout, &c);
		report_changes(stdout, &c);
		compare_words(stdout, &c);
		if (opt->verbose)
			compare_figures(stdout, &c);
	}
	worse = compare_worse(&c, opt->limit);
	if (opt->picture && (!strcmp(opt->picture, "mem") ?
	    curves(opt->picture, &recs[n - 1]) : picture(opt->picture, &c)))
		worse = -1;
	compare_free(&c);
	return worse < 0 ? TROUBLE : worse ? SLOWER : OK;
}

/* A record and its figure of the key they are sorted by. */
struct place {
	int i;
	double v;               /* less is better; infinite: has none */
};

static int
by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->v < y->v || x->v > y->v)
		return x->v < y->v ? -1 : 1;
	return x->i - y->i;
}

/* Puts records in order, the best first. */
static void
sort(struct record *recs, int n, const struct test *t)
{
	struct place *p = must(calloc((size_t)n + 1, sizeof *p));
	struct record *r = must(calloc((size_t)n + 1, sizeof *r));
	const struct figure *f;
	int i;

	for (i = 0; i < n; i++) {
		f = record_find(&recs[i], t->key);
		p[i].i = i;
		p[i].v = !f || f->why || strcmp(f->unit, t->unit) ? INFINITY :
			t->better == MORE ? -f->value : f->value;
	}
	qsort(p, (size_t)n, sizeof *p, by_place);
	for (i = 0; i < n; i++)
		r[i] = recs[p[i].i];
	memcpy(recs, r, (size_t)n * sizeof *r);
	free(p);
	free(r);
}

static void
rows_each(const struct options *opt, struct record *recs, int n)
{
	int i;

	number_labels(recs, n);
	if (opt->sort && n)
		sort(recs, n, opt->sort);
	if (opt->format) {
		export_records(stdout, opt->format, recs, n);
		return;
	}
	if (opt->many && n) {
		if (fleet(stdout, recs, n))
			must(NULL);
		return;
	}
	if (n)
		report(stdout, recs, n);
	for (i = 0; opt->verbose && i < n; i++)
		report_figures(stdout, &recs[i]);
}

/*
 * Two files are two sides, of all the runs that are in them; so are two
 * records in one file, and with -C what stands on both sides of a --.
 */
static int
files(const struct options *opt)
{
	struct record *recs = NULL;
	struct strings strings = { 0 };
	char **w;
	int n = 0, nold = 0, faults = 0, words = 0, status = OK, brief;

	for (w = opt->words; *w; w++)
		;
	brief = opt->mode == 'c' && w - opt->words != 2 &&
		(!opt->format || opt->format == 'p');
	for (w = opt->words; *w; w++) {
		if (opt->mode == 'C' && !nold && !strcmp(*w, "--")) {
			nold = n;
			continue;
		}
		faults += read_file(*w, &strings, brief, &recs, &n);
		if (!words++ && opt->mode == 'c')
			nold = n;
	}
	if (words == 1 && n == 2)
		nold = 1;
	if (nold && nold < n && !opt->many && !opt->sort &&
	    opt->format != 'r' && (words <= 2 || opt->mode == 'C')) {
		status = two_sides(opt, recs, nold, n);
	} else {
		rows_each(opt, recs, n);
		if (opt->picture && opt->mode == 'c' && n)
			faults += curves(opt->picture, &recs[n - 1]) < 0;
		else if (opt->mode == 'C' || opt->limited || opt->picture)
			warn("nothing to compare: two sides with a record "
				"each are wanted"), faults++;
	}
	while (n)
		record_free(&recs[--n]);
	free(recs);
	strings_free(&strings);
	return faults ? TROUBLE : status;
}

/* What simple_process runs: a line, and the end. */
static int
hello(void)
{
	return puts("hello") < 0 || fflush(stdout) ? TROUBLE : OK;
}

/* What a command line asks for.  Returns the exit status. */
static int
command(int argc, char *argv[], int fd)
{
	struct options opt = { .fd = fd };
	int status = OK, used;

	/* what is closed must not be the file that is opened next */
	while ((used = open("/", O_RDONLY)) >= 0 && used < 3)
		;
	close(used);
	options(&opt, argc, argv);
	if (strchr("hVl", opt.mode) && opt.mode)
		options_tell(opt.mode);
	else if (opt.mode == 'c' || opt.mode == 'C')
		status = files(&opt);
	else
		status = live(&opt);
	if (fflush(stdout) || ferror(stdout)) {
		warn("standard output:");
		status = TROUBLE;
	}
	return status;
}

int
main(int argc, char *argv[])
{
	int i = argc > 1 && !strcmp(argv[1], "-i");

	if (argc == 2 && !strcmp(argv[1], "--hello"))
		return hello();
	if (i || is_init(argv))
		return init(argv + (argc ? 1 + i : 0), command);
	return command(argc, argv, -1);
}
