/*
 * bench.h - what the files of bench share.
 *
 * A row of a table is a struct test; the harness runs it and leaves its
 * samples in a struct result (memory shared with the child that measures);
 * a run ends as a struct record, which is written to a file, read back and
 * printed.  Nothing else travels between the files.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define LEN(a) (sizeof (a) / sizeof *(a))

/* --- a test: one function and one row ------------------------------------ */

enum better { LESS, MORE };     /* which way a figure is better */

struct bench;
struct result;
struct run;

/*
 * One figure.  A row whose table is the key of another row (line10 in
 * x_line) is counted into that row, is a column of no table and shows with
 * -v only.  A row without a function is computed from its parts.
 */
struct test {
	const char *key;        /* its name in records and on command lines */
	const char *table;      /* x, proc, comm, bw, mem, or another's key */
	const char *title;      /* heading of its column */
	const char *unit;       /* us ns MB/s MHz 1/s stones KB text */
	void (*run)(struct bench *);
	int arg;                /* a size, a count: the function's business */
	unsigned char better;   /* enum better */
	unsigned char rare;     /* a column only where a record has it */
};

/* Ended by a row without a key. */
extern const struct test x_tests[], os_tests[], sys_tests[], mem_tests[];
/*
 * The test after t, through all of them in the order they are run and are
 * columns.  NULL stands before the first and after the last.
 */
const struct test *next_test(const struct test *t);

/* --- harness.c: what a test calls ---------------------------------------- */

enum {
	COMMON = 16384,         /* bytes; from XCOMMON on for X */
	XCOMMON = 8192,
	FACTS = 2048,           /* bytes of facts a row */
	SEEN = 8,               /* values kept of a figure that is a fact */
	REASON = 160,           /* bytes of a reason or remark */
	CPUWORDS = 8192 / sizeof (long) /* masks of 65536 CPUs */
};

/* What the function of a row sees. */
struct bench {
	long n;                 /* operations to do in this batch */
	long arg;               /* of the row */
	double work;            /* bytes, loads, shapes in one operation; 1 */
	double lead;            /* seconds of a batch that are not its own */
	double less;            /* seconds of an operation that are not ... */
	void *common;           /* COMMON bytes shared by all rows of a run */

	/* the harness's own */
	const struct test *test;
	struct result *result;
	const struct run *how;
	pid_t leader;           /* the child that runs the row */
	double began;           /* when this batch began; 0 before the first */
	double until;           /* when this loop is over; 0 before it begins */
	int warm;               /* the batch is long enough; samples count */
	int kept;               /* samples of this loop */
	int copy;               /* which copy of the row this is, from 0 */
	int met;                /* times it met the others */
	double *v;              /* seconds an operation: where they are kept */
	unsigned long cpus[CPUWORDS];   /* allowed at the start */
	size_t cpubytes;        /* of these; 0: not known */
};

/*
 * Ends the batch before, keeps its time as a sample, sets b->n and starts
 * the clock on the next.  Returns 0 when the time of the row is used.
 */
int sample(struct bench *b);

/*
 * The same for a preliminary loop, with a quarter of the time: measures a
 * part of a cost as the whole is measured.  When its time is used, sets
 * *cost to the median in seconds an operation (b->less, b->lead, a local),
 * returns 0, and what follows begins anew.
 */
int preliminary(struct bench *b, double *cost);

/*
 * What has been done since then (seconds()) is not timed: it is within the
 * loop, but not the row's own.
 */
void leave_out(struct bench *b, double since);

/*
 * The row cannot be measured: never return; may be called by the row's
 * other processes as well.  A reason that ends in a colon gets the text of
 * errno.  fail() takes an errno that tells of a missing or forbidden thing
 * (ENOSYS, EPERM, ...) as skip() does: it is no fault of the program.
 */
_Noreturn void fail(struct bench *b, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));
_Noreturn void skip(struct bench *b, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Says that a failure or time-out from here on is one of the row's whole
 * table (a server that does not answer), which is then not tried again;
 * with NULL that this is over.  The text says what is being done.
 */
void stage(struct bench *b, const char *doing);

/* A remark on the figure: its cell is marked, the record carries it. */
void note(struct bench *b, const char *text, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * A fact for the record, found on the way; at most FACTS bytes a row.  One
 * with a name as "=64K ns" is no fact but a figure more, KEY_64K in ns: its
 * value and quartiles.
 */
void fact(struct bench *b, const char *name, const char *value, ...)
	__attribute__((format(printf, 3, 4)));

/* What rounds found for such a figure, in common memory; zeroed: nothing. */
struct seen {
	int n;                  /* in all; the last SEEN of them are kept */
	float v[SEEN];
};

/* That fact: the median of what was seen, v now (0: nothing) and before. */
void part(struct bench *b, const char *name, struct seen *s, double v);

/*
 * A further process of the row: fork(), and the child dies with its
 * parent.  Fails the row where there can be none.
 */
pid_t peer(struct bench *b);
/*
 * A child that fork() has just made gets the signal when its parent ends,
 * and ends itself where that has ended already.
 */
void tie(pid_t parent, int sig);
/* CPUs that were allowed at the start; 0: not known. */
int cpu_count(const struct bench *b);
/*
 * Pins to one of them, counted from the last, 0, where a row begins: the
 * first has the interrupts.  Returns 0, or -1 with errno; ENODEV: there are
 * not as many.
 */
int pin(struct bench *b, int nth);
/* Back to every CPU that was allowed at the start. */
void unpin(struct bench *b);
/* Seconds on CLOCK_MONOTONIC. */
double seconds(void);
/*
 * A file without a name, in memory where the kernel can; -1 with errno:
 * nowhere to have it.
 */
int scratch(void);
/* Keeps the compiler from removing what made v. */
#define USE(v) __asm__ volatile("" : : "g"(v) : "memory")

/* --- record.c ------------------------------------------------------------ */

struct pair {
	char *name, *value;
};

/* figures of a file lie between these, so that ratios of two fit a float */
#define SMALLEST 1e-18
#define LARGEST 1e18

struct figure {
	char *key, *unit;
	double value;           /* median of all samples */
	double low, high;       /* quartiles; both value when not known */
	signed char digits;     /* significant ones it was given with; 0: all */
	short nrounds;          /* 0 where not known */
	int samples;            /* 0 where the record came from a file */
	double *rounds;         /* median of each round; NULL in brief */
	char *why;              /* not NULL: none, for this reason */
	char *note;             /* a remark, or NULL */
};

/* Strings that many records have in common; zeroed: none yet. */
struct strings {
	char **slot;
	size_t n, size;
};

void strings_free(struct strings *t);

/* One run.  Its strings are its own, or in strings if that is not NULL. */
struct record {
	struct pair *facts;
	int nfacts;
	struct figure *figures;
	int nfigures;
	struct strings *strings;
	int brief;              /* rounds were counted, but not kept */
};

void record_free(struct record *r);
/* Sets a fact, replacing one of that name.  Not printable: made '?'. */
void record_fact(struct record *r, const char *name, const char *value, ...)
	__attribute__((format(printf, 3, 4)));
/* Value of a fact, or NULL; or "". */
const char *record_get(const struct record *r, const char *name);
const char *record_text(const struct record *r, const char *name);
/* Are n records of several hosts, but of one kernel? */
int record_fleet(const struct record *r, int n);
/* What a record is called: its label; of a fleet its host; its kernel; "". */
const char *record_name(const struct record *r, int fleet);
/*
 * The figure of that key, or NULL; record_add makes one that is zeroed.
 * Either is good until the next record_add.  rounds, why and note are freed
 * with the record.
 */
struct figure *record_find(const struct record *r, const char *key);
struct figure *record_add(struct record *r, const char *key, const char *unit);

/* Adds to a text in size bytes; what does not fit is cut. */
void join(char *s, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * A number as a record has it: rounded to so many significant digits, or
 * with 0 to five and all of a whole part.  s of 64 bytes has room for any.
 */
void record_number(char *s, size_t size, double v, int digits);
/*
 * Reads a decimal number, without a sign and after any blanks, as strtod()
 * would: but that has hexadecimals and long doubles, which are 5 KB.
 */
double decimal(const char *s, char **end);

/*
 * Rounds all that was measured as it will be written, so that a run is
 * printed, marked and exported as its record is.
 */
void record_round(struct record *r);

/* Writes a record (record.md).  Returns 0, or -1 with errno. */
int record_write(const struct record *r, FILE *f);

/*
 * Reads the next record of a file into r.  Returns 1, or 0 at the end of
 * the file.  What is wrong is said on standard error as
 * `bench: name:line: ...`, counted in in->faults and skipped.
 */
struct input {
	FILE *f;
	const char *name;
	long line;
	int faults;
	struct strings *strings;        /* for the records; NULL: their own */
	int brief;              /* rounds are counted, but not kept */
	int named;              /* what is no record is named already */
	struct opened {
		char *prefix;   /* of its lines */
		long results;
		struct record record;
	} *open;                /* records that have no end yet */
	int nopen;
	long records;           /* opened so far */
};
int record_read(struct input *in, struct record *r);

/* --- harness.c: what bench.c calls --------------------------------------- */

enum state { UNTRIED, GOOD, NOT_HERE, FAILED };

/* All rounds of a row, in memory shared with the children that measure. */
struct result {
	volatile int state;     /* of the last round; enum state */
	int gone;               /* the row's whole table is, see stage() */
	volatile int met;       /* times that copies met here, in all */
	char doing[REASON];     /* what is being done, see stage() */
	char why[REASON];       /* reason of a round that was not GOOD */
	char note[REASON];
	char facts[FACTS];      /* name tab value newline ... */
	long n;                 /* batch that was long enough, for next time */
	double work;            /* of struct bench */
	int rounds;             /* that gave samples */
	int samples;
	int *end;               /* samples there were after each round */
	double *v;              /* samples, seconds an operation */
};

/* What a clock can tell. */
struct clock {
	double cost;            /* seconds to read it */
	double tick;            /* smallest step seen, seconds */
};

/* How a round of a row is run. */
struct run {
	struct clock clock;
	double slice;           /* seconds of samples */
	double timeout;         /* seconds after which it is killed */
	void *common;           /* COMMON bytes shared by all rows */
	unsigned long fast[CPUWORDS];   /* of fast_cpus(): to measure on */
	int copies;             /* of a row that run at once; 1 */
	sigset_t stop;          /* end the run; blocked, as SIGCHLD is */
};

/* Zeroed memory shared with children; NULL with errno where there is none. */
void *shared(size_t bytes);
/* Room for the results of n rows, MAXROUNDS rounds each; likewise. */
struct result *results(int n);
/* Measures the clock.  Returns -1 if it does not advance. */
int clock_check(struct clock *c);
/*
 * One round of a row in a child of its own.  Leaves samples or a reason in
 * r.  Returns 0, or the signal of how->stop that came: the child is ended.
 * Of several copies each has a CPU and a result, the next ones behind r.
 */
int run(const struct test *t, struct result *r, const struct run *how);
/*
 * The samples of all rounds as a figure.  Returns -1 where there is none:
 * no samples, or a quartile that is not above the cost of measuring.
 */
int summary(const struct test *t, const struct result *r, struct figure *f);
/* Order statistic q (0 to 1) of n > 0 values, interpolated; sorts them. */
double quantile(double *v, int n, double q);

/* --- report.c: from records alone ---------------------------------------- */

/* The tables of n records, a row each, in that order. */
void report(FILE *f, const struct record *r, int n);
/* The facts of a run that is reported, some lines. */
void report_header(FILE *f, const struct record *r);
/* A line a figure: value, quartiles, samples, rounds, reasons, notes. */
void report_figures(FILE *f, const struct record *r);

struct comparison;
/* The tables of both sides, and under each the changes. */
void report_changes(FILE *f, const struct comparison *c);
/* How a table is called in a sentence; NULL: it is none, but a row's key. */
const char *report_brief(const char *table);
/* Name of the table with a number from 0, or NULL. */
const char *report_table(int i);
/* Printable text, broken to the width of the tables, indented if broken. */
void report_text(FILE *f, int indent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- curve.c: from records alone ----------------------------------------- */

/*
 * Memory by size, in 80 columns and 23 lines, or as an SVG file.  Returns 0
 * where the record has no curve.
 */
int curve_text(FILE *f, const struct record *r);
int curve_svg(FILE *f, const struct record *r);

/* --- compare.c: from records alone --------------------------------------- */

#define VARIES "(varies)"       /* a fact that not all runs of a side share */

enum verdict {
	UNSURE,                 /* there may be a large change, or none */
	SAME,                   /* a large change there is not */
	BETTER, WORSE           /* a change that is real */
};

/* A figure of two sides. */
struct change {
	const struct test *test;
	const struct figure *old, *new; /* NULL: the side has none */
	const char *why;        /* not compared, for this reason; or NULL */
	double percent;         /* of the old value; + is better */
	double low, high;       /* between which it lies */
	int cell;               /* of a table, and not a part of one */
	int single;             /* one value on a side: counts above SINGLE */
	enum verdict verdict;
};

/* Two sides, of a run or several each. */
struct comparison {
	const struct record *run[2];
	int runs[2];
	struct record side[2];  /* the runs of a side as one */
	struct change *change;
	int n;
	double pace;            /* speed that most figures gained, in
	                           logarithms: taken off their changes */
	double drift;           /* deviation of a run, in logarithms; from
	                           DRIFT on it is much */
};

/* Compares runs, which have to outlive it; then compare_free() it. */
void compare(struct comparison *c, const struct record *old, int nold,
	const struct record *new, int nnew);
void compare_free(struct comparison *c);
/* How many cells are worse by more than so many percent. */
int compare_worse(const struct comparison *c, double limit);

/* --- words.c: from a comparison alone ------------------------------------ */

/* The facts that differ; the changes in words; a line a figure. */
void compare_facts(FILE *f, const struct comparison *c);
void compare_words(FILE *f, const struct comparison *c);
void compare_figures(FILE *f, const struct comparison *c);

/* --- fleet.c, export.c: from records alone ------------------------------- */

/*
 * Of each figure that records of many machines have: median, quartiles, best
 * and worst, and who is far off.  Returns -1 where memory lacks.
 */
int fleet(FILE *f, const struct record *r, int n);
/* A line a figure; format is t(sv), j(son), p(rom), or r(ecord). */
void export_records(FILE *f, int format, const struct record *r, int n);
void export_changes(FILE *f, int format, const struct comparison *c);
/* An SVG picture: a dot and an interval a cell, worst first. */
void export_picture(FILE *f, const struct comparison *c);

/* --- host.c: facts ------------------------------------------------------- */

/* The facts of record.md that need no measuring; cost as clock_cost(). */
void host_facts(struct record *r, double cost);
/* The fastest of the CPUs that we may run on, or all where none is faster. */
void fast_cpus(unsigned long cpus[CPUWORDS]);
/* Bytes of the largest cache that sysfs or the CPU names; 0: not known. */
size_t cache_size(void);
/*
 * A number that sysfs has (size: KB) of the cache of data of a level, of the
 * CPU that we are pinned to; 0: none.
 */
size_t sysfs_cache(unsigned level, const char *what);
/* Bytes a test may use: a quarter of what is available. */
size_t memory_limit(void);

/* --- mem_tests.c: for rows of other files -------------------------------- */

/* Memory of the process, every page of it written; fails the row. */
void *anonymous(struct bench *b, size_t size);
/* Reads n words, a multiple of 16, and uses them; to is not used. */
void read_words(volatile long *to, const volatile long *from, size_t n);

/* --- noise.c: what disturbed a run --------------------------------------- */

struct noise;

/* Begins to count; NULL with errno where there is no memory. */
struct noise *noise_start(void);
/* A round is over; whole: of all rows, so that others compare with it. */
void noise_round(struct noise *n, int whole);
/* The run is, and its figures are in r: which rounds were disturbed? */
void noise_judge(struct noise *n, const struct record *r);
/*
 * How much worse was a figure in those?  when: in which round of the run
 * each of its own was.  Not before noise_judge().
 */
void noise_hit(struct noise *n, const struct figure *f, enum better better,
	const int *when);
/* The facts of all that: seconds, steal, round1 ..., disturbed if it was. */
void noise_facts(const struct noise *n, struct record *r);

/* --- xserver.c: for the command line ------------------------------------- */

/* Is that a display's name?  It need not exist. */
int x_display(const char *name);

/* --- xstart.c: an X server of our own ------------------------------------ */

/* What rows have to know of it, in their common memory from XCOMMON on. */
struct xown {
	volatile int ready;     /* it is there */
	volatile int wanted;    /* $DISPLAY has none */
	char display[16];       /* as :7 */
	const char *command;
	char why[REASON / 2];   /* there is none; empty, or after a semicolon */
};

/*
 * Starts an X server for the rows of a run, if $DISPLAY has none: by a
 * command of the shell, with "" none, or (NULL) the first of config.h that is
 * to be had.  Waits until it is ready, or one of how->stop is pending.
 * Returns its keeper, 0 where none is to be started, or -1 where that has
 * failed, which is said.
 */
pid_t x_start(const char *command, const struct run *how);
/* Ends the server, if there is one; its lock and its socket are gone. */
void x_stop(pid_t keeper);

/* --- xnull.c: an X server that draws nothing ----------------------------- */

/*
 * Serves one client on a connected stream socket, until the client goes.
 * Shuts fd down, but does not close it.  Returns 0, or -1 with errno: ENOMEM,
 * or what recv() and send() have.
 */
int xnull(int fd);

/* --- init.c: process 1 --------------------------------------------------- */

/*
 * Is this process 1, and started as such: by a kernel, or by the name init?
 * Not so in a container with its own processes, or with an option.
 */
int is_init(char **argv);
/*
 * Lives as process 1, or in its place.  words: bench.name=value, as on the
 * kernel's command line.  suite: a run as by argv whose record goes to a
 * descriptor (-1: nowhere); returns an exit status.  Process 1 does not
 * return; others do when told to stop: the status of the last run.
 */
int init(char **words, int (*suite)(int argc, char **argv, int fd));

/* --- results.c ----------------------------------------------------------- */

/*
 * The figure, or the reason for none, of a row that was run in so many
 * copies, whose results stand one after the other; failed: in its last round.
 */
void result_row(struct record *rec, const struct test *t,
	const struct result *r, int copies, int failed);
/* The row whose mean that row counts into, or NULL. */
const char *result_of(const char *key);
/* The figure of a row that is computed from others of the record. */
void result_mean(struct record *rec, const struct test *t);

/* --- options.c ----------------------------------------------------------- */

enum { OK, TROUBLE, USAGE, SLOWER };    /* exit statuses */

/* What the command line says. */
struct options {
	double time;            /* -t; 0 where not given */
	const char *label;      /* -n */
	const char *file;       /* -o */
	int runs;               /* -r */
	int copies;             /* -P */
	double limit;           /* -w, percent */
	int format;             /* -f: r(ecord), t(sv), j(son), p(rom) */
	const char *picture;    /* -g */
	const char *xserver;    /* -s; NULL: not given */
	const struct test *sort;        /* -k */
	int many;               /* -m */
	int limited;            /* -w is given */
	int mode;               /* -c -C -l -h -V; 0: measure */
	int quiet, verbose;
	int all;                /* -a: tables that are not usual as well */
	int fd;                 /* the record goes there too; -1: nowhere */
	char **words;           /* tests or files; ended by NULL */
};

/* Reads the command line.  What makes no sense is said, and ends with USAGE. */
void options(struct options *opt, int argc, char **argv);
/* Prints what -h, -l or -V asks for. */
void options_tell(int mode);
/* A message on standard error; a colon at its end calls for errno's text. */
void warn(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
/* p; but NULL ends the program, as for want of memory. */
void *must(void *p);
