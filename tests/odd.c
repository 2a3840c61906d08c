/*
 * odd.c - rows that go wrong, or right in a known way, for the tests of the
 * harness and of the run: linked in place of those of bench.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../bench.h"
#include "../config.h"

/* ns; compare.sh makes it slower */
#ifndef STEADY
#define STEADY 10000
#endif

/* arg nanoseconds of work, by the clock */
static void
spin(long ns)
{
	double until = seconds() + (double)ns * 1e-9;

	while (seconds() < until)
		;
}

static void
steady(struct bench *b)
{
	while (sample(b))
		for (long n = b->n; n--; )
			spin(b->arg);
}

static void
twice(struct bench *b)
{
	b->work = 2;
	while (sample(b))
		for (long n = 2 * b->n; n--; )
			spin(b->arg);
}

/* a quiet loop: no clock, no kernel, nothing the compiler can remove */
static void
quiet(struct bench *b)
{
	volatile long x = 0;

	while (sample(b))
		for (long n = b->n; n--; )
			for (long i = b->arg; i--; )
				x = x + 1;
}

/* a cost of three parts, of which preliminary() takes away one */
static void
subtract(struct bench *b)
{
	double less;

	while (preliminary(b, &less))
		for (long n = b->n; n--; )
			spin(b->arg);
	b->less = less;
	while (sample(b))
		for (long n = b->n; n--; )
			spin(3 * b->arg);
}

/* a batch has a part of its own, long before what is measured */
static void
led(struct bench *b)
{
	double lead;

	while (preliminary(b, &lead))
		for (long n = b->n; n--; )
			spin(b->arg);
	b->lead = lead;
	while (sample(b)) {
		spin(b->arg);
		for (long n = b->n; n--; )
			spin(10000);
	}
}

static void
nothing_left(struct bench *b)
{
	b->less = 1;
	steady(b);
}

static void
no_sample(struct bench *b)
{
	(void)b;
}

static void
crash(struct bench *b)
{
	while (sample(b))
		*(volatile char *)1 = 0;
}

/* hangs with a process of its own that ignores what it can */
static void
hang(struct bench *b)
{
	if (!peer(b))
		signal(SIGTERM, SIG_IGN);
	for (;;)
		pause();
}

/* takes memory until there is no more */
static void
glutton(struct bench *b)
{
	enum { PIECE_OF_IT = 1 << 20 };
	char *p;

	(void)b;
	while ((p = malloc(PIECE_OF_IT)))
		memset(p, 1, PIECE_OF_IT);
}

/* only from its second round on */
static void
late(struct bench *b)
{
	int *round = b->common;

	if (++*round > 1)
		fail(b, "late fault");
	steady(b);
}

/* not yet in its first round */
static void
again(struct bench *b)
{
	int *round = (int *)b->common + 1;

	if (!(*round)++)
		skip(b, "not yet");
	steady(b);
}

static void
missing(struct bench *b)
{
	errno = ENOENT;
	fail(b, "open /no/file:");
}

static void
broken(struct bench *b)
{
	errno = EPIPE;
	fail(b, "write pipe:");
}

static void
peer_fails(struct bench *b)
{
	if (!peer(b))
		fail(b, "word of the peer");
	for (;;)
		pause();
}

static void
quits(struct bench *b)
{
	(void)b;
	_exit(3);
}

static void
remark(struct bench *b)
{
	note(b, "a remark");
	fact(b, "found", "something");
	steady(b);
}

/* quartiles far apart: every other batch is slow */
static void
noisy(struct bench *b)
{
	long odd = 0;

	while (sample(b))
		for (long n = b->n; n--; )
			spin(odd++ / b->n % 2 ? 3 * b->arg : b->arg);
}

static void
server_gone(struct bench *b)
{
	stage(b, "connect to nowhere");
	fail(b, "refused");
}

static void
pinned(struct bench *b)
{
	unsigned long cpus[CPUWORDS] = { 0 };
	int bits = 0;
	size_t i;

	if (b->arg)
		unpin(b);
	syscall(SYS_sched_getaffinity, 0, sizeof cpus, cpus);
	for (i = 0; i < LEN(cpus); i++)
		bits += __builtin_popcountl(cpus[i]);
	fact(b, b->arg ? "unpinned" : "pinned", "%d", bits);
	fact(b, "on", "%d", sched_getcpu());
	steady(b);
}

/* which of its kind it is in the run */
static void
order(struct bench *b)
{
	int *turn = (int *)b->common + 2;
	char name[32];

	snprintf(name, sizeof name, "at_%s", b->test->key);
	fact(b, name, "%d", ++*turn);
	steady(b);
}

const struct test os_tests[] = {
	/* key         table   title        unit function arg better rare */
	{ "first",    "proc", "First",     "us", order, 10000, LESS, 0 },
	{ "mem_mhz",  "proc", "Last",      "us", order, 10000, LESS, 0 },
	{ "mhz",      "proc", "Mhz",       "us", order, 10000, LESS, 0 },
	{ "steady",   "proc", "Steady",    "us", steady, STEADY, LESS, 0 },
	{ "twice",    "proc", "Twice",     "us", twice, 10000, LESS, 0 },
	{ "rate",     "bw",   "Rate",      "MB/s", steady, 10000, MORE, 0 },
	{ "quiet1",   "proc", "Quiet",     "ns", quiet, 1000, LESS, 0 },
	{ "quiet2",   "proc", "Quiet",     "ns", quiet, 2000, LESS, 0 },
	{ "subtract", "proc", "Subtract",  "us", subtract, 10000, LESS, 0 },
	{ "led",      "proc", "Led",       "us", led, 60000000, LESS, 0 },
	{ "noisy",    "proc", "Noisy",     "us", noisy, 10000, LESS, 0 },
	{ "remark",   "proc", "Remark",    "us", remark, 10000, LESS, 0 },
	{ "slow",     "proc", "Slow",      "us", steady, 50000000, LESS, 0 },
	{ "pinned",   "proc", "Pinned",    "us", pinned, 0, LESS, 0 },
	{ "unpinned", "proc", "Unpinned",  "us", pinned, 1, LESS, 0 },
	{ "nothing",  "comm", "Nothing",   "us", nothing_left, 10, LESS, 0 },
	{ "nosample", "comm", "No sample", "us", no_sample, 0, LESS, 0 },
	{ "crash",    "comm", "Crash",     "us", crash, 0, LESS, 0 },
	{ "hang",     "comm", "Hang",      "us", hang, 0, LESS, 0 },
	{ "glutton",  "comm", "Glutton",   "us", glutton, 0, LESS, 0 },
	{ "late",     "comm", "Late",      "us", late, 10000, LESS, 0 },
	{ "again",    "comm", "Again",     "us", again, 10000, LESS, 0 },
	{ "missing",  "comm", "Missing",   "us", missing, 0, LESS, 0 },
	{ "broken",   "comm", "Broken",    "us", broken, 0, LESS, 0 },
	{ "peer",     "comm", "Peer",      "us", peer_fails, 0, LESS, 0 },
	{ "quits",    "comm", "Quits",     "us", quits, 0, LESS, 0 },
	{ "gone1",    "mem",  "Gone",      "us", server_gone, 0, LESS, 0 },
	{ "gone2",    "mem",  "Gone",      "us", hang, 0, LESS, 0 },
	{ 0 },
};

const struct test x_tests[] = { { 0 } };
const struct test sys_tests[] = { { 0 } };
const struct test mem_tests[] = { { 0 } };
