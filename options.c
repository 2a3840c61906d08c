/*
 * options.c - the command line: what it asks for, and what is wrong with it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

#define TEXT(x) QUOTE(x)
#define QUOTE(x) #x

#ifndef VERSION
#define VERSION "unknown"
#endif

/* --- messages ------------------------------------------------------------ */

void
warn(const char *fmt, ...)
{
	int err = errno;
	size_t n = strlen(fmt);
	va_list ap;

	va_start(ap, fmt);
	fputs("bench: ", stderr);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (fmt[n - 1] == ':')
		fprintf(stderr, " %s", strerror(err));
	fputc('\n', stderr);
}

void *
must(void *p)
{
	if (!p) {
		warn("memory:");
		exit(TROUBLE);
	}
	return p;
}

/* --- what is told -------------------------------------------------------- */

static const char usage[] =
	"usage: bench [-aqv] [-t seconds] [-r runs] [-P copies] [-n name]\n"
	"             [-o file] [-d display] [-s command] [-f format]\n"
	"             [-g picture] [test ...]\n"
	"       bench -c [-mv] [-w percent] [-k key] [-f format] [-g picture] "
	"file ...\n"
	"       bench -C [-v] [-w percent] [-f format] [-g picture] old ... -- "
	"new ...\n"
	"       bench -l | -h | -V\n"
	"       bench -i [bench.name=value ...]\n";

static const char help[] =
	"\n"
	"Measures this machine and this kernel and prints tables.\n"
	"\n"
	"  test        a key or a group: x proc comm bw mem, os (all but x),\n"
	"              or one of -a; shell patterns are allowed\n"
	"  -a          measure all: calls spawn ctx xctx wake file dir vm bw2\n"
	"              cache arith curve x_more as well\n"
	"  -t seconds  time the run may take, 30; the first round is whole\n"
	"  -n name     name the row of this run\n"
	"  -o file     append the record of the run to file\n"
	"  -d display  X server to draw on, instead of $DISPLAY\n"
	"  -s command  X server to start where there is none; '' starts none\n"
	"  -P copies   so many of each test at once, a CPU each\n"
	"  -q          no progress line, no facts above the tables\n"
	"  -r runs     so many runs, one after the other, a row each\n"
	"  -v          a line a test, with quartiles; the reason of each -\n"
	"  -c          print the tables of the records in files, - is\n"
	"              standard input; compare two files, or two records\n"
	"  -C          compare the runs in some files with those in others\n"
	"  -f format   record, tsv, json or prom instead of tables\n"
	"  -g picture  mem: draw memory by size in the terminal; a file: the\n"
	"              same, or a comparison, into it as SVG\n"
	"  -k key      sort rows by this figure, the best first\n"
	"  -m          of many records: median, quartiles, best, worst, outliers\n"
	"  -w percent  exit with 3 when a cell is worse by more than this, 5\n"
	"  -i          live as process 1 does, by the kernel's command line\n"
	"  -l          list tests\n"
	"  -h, -V      this help; the version\n"
	"\n"
	"Two kernels:  bench -o rec under each of them, then bench -c rec\n";

void
options_tell(int mode)
{
	static const char line[] = "%-16s %-8s %-8s %s\n";
	const struct test *t = NULL;

	if (mode == 'h')
		printf("%s%s", usage, help);
	if (mode == 'V')
		puts("bench " VERSION);
	if (mode != 'l')
		return;
	printf(line, "key", "group", "unit", "title");
	while ((t = next_test(t)))
		printf(line, t->key, t->table, t->unit, t->title);
}

/* --- what is asked for --------------------------------------------------- */

/* The command line makes no sense: says why, and ends the program. */
static _Noreturn void
misuse(int option, const char *word, const char *why)
{
	warn("-%c: %s: %s", option, word, why);
	fputs(usage, stderr);
	exit(USAGE);
}

static double
number(int option, const char *word, double least, double most,
	const char *why)
{
	char *end;
	double v = decimal(word, &end);

	if (*end || end == word || !(v >= least && v <= most))
		misuse(option, word, why);
	return v;
}

static int
count(int option, const char *word, int most, const char *why)
{
	double v = number(option, word, 1, most, why);

	if (v != (int)v)
		misuse(option, word, why);
	return (int)v;
}

static const char *
name(const char *word)
{
	const char *s;

	for (s = word; *s >= ' ' && *s <= '~'; s++)
		;
	if (*s || s == word)
		misuse('n', word, "not a name (printable ASCII, no tab)");
	return word;
}

static int
format(const char *word)
{
	static const char *const known[] = { "record", "tsv", "json", "prom" };
	size_t i;

	for (i = 0; i < LEN(known); i++)
		if (!strcmp(word, known[i]))
			return *word;
	misuse('f', word, "no format (record, tsv, json, prom)");
}

static const struct test *
key(int option, const char *word)
{
	const struct test *t = NULL;

	while ((t = next_test(t)) && strcmp(t->key, word))
		;
	if (!t)
		misuse(option, word, "no key (bench -l lists them)");
	return t;
}

static void
display(const char *word)
{
	if (!x_display(word))
		misuse('d', word, "no display ([host]:number[.screen], as :0)");
	if (setenv("DISPLAY", word, 1))
		must(NULL);
}

/* The words after the options: are they there, where they must be? */
static void
words(struct options *opt, char **w)
{
	static char *curve[] = { "curve", "guesses", NULL };

	opt->words = w;
	/* behind a first -- anything may be the name of a file */
	for (char **v = w; *v && strcmp(w[-1], "--"); v++)
		if (**v == '-' && (*v)[1] && strcmp(*v, "--"))
			misuse((*v)[1], "behind other words",
				"options come first");
	if (opt->picture && !opt->mode && !opt->all && !*w)
		opt->words = curve;
	if (opt->mode == 'c' && !*w)
		misuse('c', "which files?", "(- is standard input)");
	if (opt->mode != 'C')
		return;
	while (*w && strcmp(*w, "--"))
		w++;
	if (w == opt->words || !*w || !w[1])
		misuse('C', "which files?", "(old ... -- new ...)");
}

void
options(struct options *opt, int argc, char **argv)
{
	int c;

	opt->runs = opt->copies = 1;
	opt->limit = LIMIT;
	/* +: for glibc, which would move files before options, and eat -- */
	while ((c = getopt(argc, argv, "+acCd:f:g:hlk:mn:o:P:qr:s:t:vVw:"))
	    != -1) {
		switch (c) {
		case 'c': case 'C': case 'l': case 'h': case 'V':
			opt->mode = c;
			break;
		case 'a': opt->all = 1; break;
		case 'd':
			display(optarg);
			if (!opt->xserver)
				opt->xserver = "";
			break;
		case 'f': opt->format = format(optarg); break;
		case 'g': opt->picture = optarg; break;
		case 'k': opt->sort = key(c, optarg); break;
		case 'm': opt->many = 1; break;
		case 'n': opt->label = name(optarg); break;
		case 'o': opt->file = optarg; break;
		case 'P':
			opt->copies = count(c, optarg, MAXCOPIES,
				"not a number of copies (1 to "
				TEXT(MAXCOPIES) ")");
			break;
		case 'q': opt->quiet = 1; break;
		case 'r':
			opt->runs = count(c, optarg, 1000,
				"not a number of runs (1 to 1000)");
			break;
		case 's': opt->xserver = optarg; break;
		case 't':
			opt->time = number(c, optarg, 1e-9, 1e6,
				"not a time (seconds, at most 1000000)");
			break;
		case 'v': opt->verbose = 1; break;
		case 'w':
			opt->limit = number(c, optarg, 0, 1e6,
				"not a percentage (0 or more)");
			opt->limited = 1;
			break;
		default:
			fputs(usage, stderr);
			exit(USAGE);
		}
	}
	words(opt, argv + optind);
}
