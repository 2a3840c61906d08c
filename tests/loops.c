/*
 * loops.c - rows beside bare loops of the same, and with twice the work.
 *
 *	loops bare [KEY...]	prints key, us an operation, us of the bare loop
 *				of the same, and their ratio
 *	loops twice [KEY...]	batches of n and of 2n operations: prints key
 *				and ratio of their times.  The rows have to be
 *				built with -Dsample=twice_sample
 *				-Dpreliminary=twice_preliminary
 *
 * tests/definitions.sh judges the ratios.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench.h"
#include "../config.h"
#include "row.h"

const struct test x_tests[] = { { 0 } };
static int faults;
enum { TURNS = 40, EACH = 4 };          /* runs of a bare loop, in each turn */

int twice_sample(struct bench *b);
int twice_preliminary(struct bench *b, double *cost);

static const struct test *
find_row(const char *key)
{
	const struct test *t = NULL;

	while ((t = next_test(t)) && strcmp(t->key, key))
		;
	return t;
}

/* --- bare loops ---------------------------------------------------------- */

#ifdef __x86_64__
static long
bare_call(long nr, long a, long b, long c)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b), "d"(c)
		: "rcx", "r11", "memory");
	return r;
}
#else
#define bare_call(nr, a, b, c) syscall(nr, a, b, c)
#endif

/* Seconds an operation, of n. */
static double
bare_null_call(long n)
{
	double t = seconds();

	for (long i = n; i--; )
		bare_call(SYS_getppid, 0, 0, 0);
	return (seconds() - t) / (double)n;
}

static double
bare_null_syscall(long n)
{
	static const char c;
	int fd = open("/dev/null", O_WRONLY);
	double t = seconds();

	for (long i = n; i--; )
		bare_call(SYS_write, fd, (long)&c, 1);
	t = seconds() - t;
	close(fd);
	return t / (double)n;
}

/* An operation is a read and a write; the figure is their mean. */
static double
bare_null_io(long n)
{
	static char c;
	int in = open("/dev/zero", O_RDONLY), out = open("/dev/null", O_WRONLY);
	double t = seconds();

	for (long i = n; i--; ) {
		bare_call(SYS_read, in, (long)&c, 1);
		bare_call(SYS_write, out, (long)&c, 1);
	}
	t = seconds() - t;
	close(in);
	close(out);
	return t / (double)n / 2;
}

/* There and back between two processes on one processor. */
static double
bare_pipe_lat(long n)
{
	int a[2], b[2];
	char c = 0;
	double t;

	if (pipe(a) || pipe(b))
		exit(1);
	if (!fork()) {
		close(a[1]);
		while (bare_call(SYS_read, a[0], (long)&c, 1) == 1)
			bare_call(SYS_write, b[1], (long)&c, 1);
		_exit(0);
	}
	t = seconds();
	for (long i = n; i--; ) {
		bare_call(SYS_write, a[1], (long)&c, 1);
		bare_call(SYS_read, b[0], (long)&c, 1);
	}
	t = seconds() - t;
	close(a[0]), close(a[1]), close(b[0]), close(b[1]);
	wait(NULL);
	return t / (double)n;
}

static size_t buffer;                   /* KB of that of the row */

__attribute__((noinline))
static unsigned long
bare_sum(const volatile long *p, size_t n)
{
	const volatile long *end = p + n;
	unsigned long a = 0, b = 0, c = 0, d = 0;

	for (; p < end; p += 8) {
		a += (unsigned long)p[0], b += (unsigned long)p[1];
		c += (unsigned long)p[2], d += (unsigned long)p[3];
		a += (unsigned long)p[4], b += (unsigned long)p[5];
		c += (unsigned long)p[6], d += (unsigned long)p[7];
	}
	return a + b + c + d;
}

/*
 * Sums words of a buffer as large as that of the row, 256 KB at a time.  It is
 * a new one in each turn, as for the row: which pages it has matters.
 */
static double
bare_mem_read_bw(long n)
{
	enum { GRAIN = 256 << 10 };
	static volatile long *v;
	static size_t at, size;
	static int calls;
	unsigned long sum = 0;
	double t;

	if (calls++ % EACH == 0) {
		if (v)
			munmap((void *)v, size * sizeof *v);
		v = mmap(NULL, buffer << 10, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (v == MAP_FAILED)
			exit(1);
		size = (buffer << 10) / sizeof *v;
		for (at = 0; at < size; at += 4096 / sizeof *v)
			v[at] = 1;
		at = 0;
	}
	t = seconds();
	for (long i = n; i--; at = (at + GRAIN / sizeof *v) % size)
		sum += bare_sum(v + at, GRAIN / sizeof *v);
	t = seconds() - t;
	USE(sum);
	return t / (double)n;
}

static const struct {
	const char *key;
	double (*loop)(long);
	long n;
} bares[] = {
	{ "null_syscall", bare_null_syscall, 10000 },
	{ "null_call", bare_null_call, 10000 },
	{ "null_io", bare_null_io, 10000 },
	{ "pipe_lat", bare_pipe_lat, 300 },
	{ "mem_read_bw", bare_mem_read_bw, 40 },
};

static void
pin_last(void)
{
	enum { BITS = 8 * sizeof (long) };
	unsigned long mask[1024] = { 0 };
	long n = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) * 8;

	while (n-- && !(mask[n / BITS] >> n % BITS & 1))
		;
	for (long i = 0; i < n; i++)
		mask[i / BITS] &= ~(1UL << i % BITS);
	if (syscall(SYS_sched_setaffinity, 0, sizeof mask, mask))
		exit(1);
}

/* A row and its bare loop in turn, so that what disturbs hits both. */
static void
bare(size_t which)
{
	struct result *r = results(1);
	const struct test *t = find_row(bares[which].key);
	double v[TURNS * EACH], mine, own;
	const char *why = NULL;
	int i, k;

	if (!r || !t) {
		printf("%s: no such row\n", bares[which].key);
		faults++;
		return;
	}
	for (i = 0; i < TURNS && !why; i++) {
		why = run_row(t, r, 0.01);
		sscanf(r->facts, "buffer\t%zu", &buffer);
		for (k = 0; k < EACH; k++)
			v[i * EACH + k] = bares[which].loop(bares[which].n);
	}
	if (why) {
		printf("%s: %s\n", t->key, why);
		faults++;
		return;
	}
	mine = quantile(r->v, r->samples, 0.1);
	if (!strcmp(t->key, "null_io"))
		mine /= r->work;
	own = quantile(v, TURNS * EACH, 0.1);
	printf("%s %.5f %.5f %.4f\n", t->key, mine * 1e6, own * 1e6,
		mine / own);
}

/* --- twice the work ------------------------------------------------------ */

/* Batches of n and 2n in turn; of each the least time, in r->v. */
static int
turn(struct bench *b, double lead)
{
	enum { PAIRS = 60, LEAST = 4 };
	static double least[2];
	static long n;
	static int tries;
	double took = seconds() - b->began - lead;
	int k = tries & 1;

	if (b->began > 0 && n) {
		if (tries < 2 || took < least[k])
			least[k] = took;
		if (++tries == 2 * PAIRS) {
			b->v[0] = least[0] / (double)n;
			b->v[1] = least[1] / least[0];
			b->began = 0, n = 0, tries = 0;
			b->n = 1;
			return 0;
		}
	} else if (b->began > 0) {
		if (took < least[0] || !tries)
			least[0] = took;
		if (++tries == LEAST) {
			tries = 0;
			if (least[0] > 0.2e-3)
				n = b->n;
			else
				b->n *= 2;
		}
	}
	if (n)
		b->n = tries & 1 ? 2 * n : n;
	b->began = seconds();
	return 1;
}

int
twice_sample(struct bench *b)
{
	if (turn(b, b->lead))
		return 1;
	fact(b, "ratio", "%.4f", b->v[1]);
	return 0;
}

int
twice_preliminary(struct bench *b, double *cost)
{
	if (turn(b, 0))
		return 1;
	*cost = b->v[0];
	return 0;
}

static void
twice(const struct test *row)
{
	struct result *r = results(1);
	struct test t = *row;
	const char *why;

	if (!r || !t.run || !strcmp(t.unit, "text"))
		return;
	t.unit = "text";                /* which need no samples */
	why = run_row(&t, r, 1);
	printf("%s %s", t.key, why ? why : strstr(r->facts, "ratio"));
	if (why)
		putchar('\n');
}

/* Is the key asked for? */
static int
asked(char **argv, const char *key)
{
	if (!*argv)
		return 1;
	while (*argv && strcmp(*argv, key))
		argv++;
	return *argv != NULL;
}

int
main(int argc, char **argv)
{
	const struct test *t = NULL;
	const char *what = argc > 1 ? argv[1] : "";
	size_t i;

	if (!strcmp(what, "--hello"))   /* as simple_process has it */
		return puts("hello") < 0;
	if (!strcmp(what, "bare")) {
		pin_last();
		for (i = 0; i < LEN(bares); i++)
			if (asked(argv + 2, bares[i].key))
				bare(i);
	} else if (!strcmp(what, "twice")) {
		while ((t = next_test(t)))
			if (asked(argv + 2, t->key))
				twice(t);
	}
	return faults != 0;
}
