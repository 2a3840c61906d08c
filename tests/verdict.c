/*
 * verdict.c - how true are the verdicts of compare.c?  Rates are printed,
 * tests/compare.sh holds them against their limits.
 *
 *	verdict sim N		N comparisons of runs that do not differ,
 *				simulated, and N/5 each where one figure is
 *				slower by 2 and by 5 percent; a quarter of
 *				them with two and with three runs a side
 *	verdict many N		N comparisons where as many figures as stands
 *				in each line are slower by 40 percent
 *	verdict real FILE [KEY]...	the same from records of one machine:
 *				each run with each other, then each two and
 *				three in a row with each other; where KEY is
 *				slower too
 *	verdict rows FILE	of each figure that was made slower by 5
 *				percent: found in percent, with one, two and
 *				three runs a side
 *
 * What is simulated: 60 figures, rounds of 0.3 to 30% deviation, one in 60
 * disturbed by up to 10%, runs that differ by more than their rounds do.
 * Typical is what the virtual machine of README had; quiet is half of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "../config.h"

#define ROW(k)  { k, "proc", k, "us", 0, 0, LESS, 0 },
#define RATE(k) { k, "bw", k, "MB/s", 0, 0, MORE, 0 },
#define TEN(k)  ROW(k "0") ROW(k "1") ROW(k "2") ROW(k "3") ROW(k "4") \
	ROW(k "5") ROW(k "6") ROW(k "7") ROW(k "8") ROW(k "9")

enum { FIGURES = 60, ROUNDS_OF_A_RUN = 5 };

const struct test os_tests[] = {
	TEN("a") TEN("b") TEN("c") TEN("d") TEN("e") TEN("f")
	ROW("null_syscall") ROW("null_process") ROW("simple_process")
	ROW("sh_process") ROW("mmap_lat") ROW("ctx_2p_0k") ROW("ctx_8p_0k")
	ROW("pipe_lat") ROW("udp_lat") ROW("rpc_udp_lat") ROW("tcp_lat")
	ROW("rpc_tcp_lat") RATE("pipe_bw") RATE("tcp_bw")
	RATE("file_reread_bw") RATE("mmap_reread_bw") RATE("bcopy_libc_bw")
	RATE("bcopy_hand_bw") RATE("mem_read_bw") RATE("mem_write_bw")
	{ "mhz", "proc", "mhz", "MHz", 0, 0, MORE, 0 },
	{ "mem_mhz", "mem", "mhz", "MHz", 0, 0, MORE, 0 },
	{ "l1_lat", "mem", "", "ns", 0, 0, LESS, 0 },
	{ "l2_lat", "mem", "", "ns", 0, 0, LESS, 0 },
	{ "l3_lat", "mem", "", "ns", 0, 0, LESS, 0 },
	{ "main_lat", "mem", "", "ns", 0, 0, LESS, 0 },
	{ "tlb_lat", "mem", "", "ns", 0, 0, LESS, 0 },
	{ 0 },
};
const struct test x_tests[] = { { 0 } };
const struct test sys_tests[] = { { 0 } }, mem_tests[] = { { 0 } };

/* xorshift64*, which is the same everywhere; between 0 and 1 */
static double
chance(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return (double)((*seed * 2685821657736338717u) >> 11) * 0x1p-53;
}

static double
normal(uint64_t *seed)
{
	double s = 0;

	for (int i = 0; i < 12; i++)
		s += chance(seed);
	return s - 6;
}

/* Deviation of a round of a figure: from 0.3% to 30%, most about 1.5% */
static double
deviation(int figure)
{
	static const double of[] = { 0.003, 0.005, 0.01, 0.01, 0.013, 0.015,
		0.015, 0.02, 0.02, 0.025, 0.04, 0.3 };

	return of[figure % (int)LEN(of)];
}

/* A run: each figure is 100, times factor if it is the slow one. */
static void
simulate(struct record *r, double noise, double drift, int slow,
    double factor, uint64_t *seed)
{
	double pace = 0.01 * normal(seed);

	*r = (struct record){ 0 };
	for (int i = 0; i < FIGURES; i++) {
		struct figure *f = record_add(r, os_tests[i].key, "us");
		double own = drift * normal(seed), v[ROUNDS_OF_A_RUN];

		f->rounds = calloc(ROUNDS_OF_A_RUN, sizeof *f->rounds);
		f->nrounds = ROUNDS_OF_A_RUN;
		for (int k = 0; k < ROUNDS_OF_A_RUN; k++) {
			double e = pace + own +
			    noise * deviation(i) * normal(seed);

			if (chance(seed) < 1.0 / 60)
				e += 0.1 * chance(seed);
			v[k] = f->rounds[k] = 100 * exp(e) *
			    (i == slow ? factor : 1);
		}
		f->low = quantile(v, ROUNDS_OF_A_RUN, 0.25);
		f->high = quantile(v, ROUNDS_OF_A_RUN, 0.75);
		f->value = quantile(v, ROUNDS_OF_A_RUN, 0.5);
	}
}

/* What became of comparisons. */
struct tally {
	int n, alarms;          /* any cell of no change that shows one */
	int found, wrong;       /* the changed one: as it is, the other way */
	int cells;              /* alarms, counted in cells */
	char keys[4096];
};

static void
judge(struct tally *t, const struct record *old, int nold,
    const struct record *new, int nnew, const char *changed)
{
	struct comparison c;
	int alarms = 0;

	compare(&c, old, nold, new, nnew);
	for (int i = 0; i < c.n; i++) {
		const struct change *g = &c.change[i];

		if (changed && !strcmp(g->test->key, changed)) {
			t->found += g->verdict == WORSE;
			t->wrong += g->verdict == BETTER;
		} else if (g->verdict >= BETTER) {
			alarms++;
			if (strlen(t->keys) < sizeof t->keys - 64)
				sprintf(t->keys + strlen(t->keys), " %s%+.1f",
				    g->test->key, g->percent);
		}
	}
	compare_free(&c);
	t->n++;
	t->cells += alarms;
	t->alarms += alarms > 0;
}

static void
say(const char *what, const struct tally *t)
{
	printf("%s: %d comparisons, alarms %.1f%%, found %.1f%%, "
	    "wrong way %.1f%%\n", what, t->n, 100.0 * t->alarms / t->n,
	    100.0 * t->found / t->n, 100.0 * t->wrong / t->n);
	if (getenv("KEYS"))
		puts(t->keys);
}

static void
simulated(int n, double noise, double drift, int runs, double factor)
{
	struct tally t = { 0 };
	struct record r[8];
	uint64_t seed = 88172645463325252u;
	char what[128];

	for (int i = 0; i < n; i++) {
		/* a figure as quiet as half of them are, or quieter */
		int slow = factor > 1 ? i % 60 : -1;

		while (slow >= 0 && deviation(slow) > 0.015)
			slow = (slow + 7) % FIGURES;
		for (int k = 0; k < 2 * runs; k++)
			simulate(&r[k], noise, drift, k < runs ? -1 : slow,
			    factor, &seed);
		judge(&t, r, runs, r + runs, runs, slow < 0 ? NULL :
		    os_tests[slow].key);
		for (int k = 0; k < 2 * runs; k++)
			record_free(&r[k]);
	}
	sprintf(what, "simulated, noise x %g, drift %.1f%%, %d:%d, "
	    "slower by %g%%", noise, 100 * drift, runs, runs,
	    100 * (factor - 1));
	say(what, &t);
}

static void
scale(struct figure *f, double by)
{
	if (!f || f->why)
		return;
	if (!strcmp(f->unit, "MHz") || strchr(f->unit, '/'))
		by = 1 / by;
	f->value *= by;
	f->low *= by;
	f->high *= by;
	for (int i = 0; i < f->nrounds; i++)
		f->rounds[i] *= by;
}

/* Each run (or two in a row) against each other, one figure slower. */
static void
real(struct record *r, int n, int runs, double factor, const char *key,
    int all)
{
	struct tally t = { 0 };
	char what[128];

	for (int i = 0; i + runs <= n; i++) {
		for (int j = 0; j + runs <= n; j++) {
			if (abs(i - j) < runs || (!all && abs(i - j) > runs))
				continue;
			for (int k = 0; k < runs; k++)
				scale(record_find(&r[j + k], key), factor);
			judge(&t, r + i, runs, r + j, runs,
			    factor > 1 ? key : NULL);
			for (int k = 0; k < runs; k++)
				scale(record_find(&r[j + k], key), 1 / factor);
		}
	}
	snprintf(what, sizeof what, "real%s, %d:%d, %s slower by %g%%",
	    all ? "" : ", one after the other", runs, runs, key,
	    100 * (factor - 1));
	say(what, &t);
}

/* All figures before `slower` are: are the others left alone? */
static void
many(int n, int runs, int slower)
{
	struct record r[6];
	struct comparison c;
	uint64_t seed = 88172645463325252u;
	int alarms = 0, any;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 2 * runs; k++) {
			simulate(&r[k], 0.5, 0.002, -1, 1, &seed);
			for (int j = 0; k >= runs && j < slower; j++)
				scale(&r[k].figures[j], 1.4);
		}
		compare(&c, r, runs, r + runs, runs);
		any = 0;
		for (int j = 0; j < c.n; j++)
			any |= c.change[j].verdict == BETTER ||
			    (j >= slower && c.change[j].verdict == WORSE);
		alarms += any;
		compare_free(&c);
		for (int k = 0; k < 2 * runs; k++)
			record_free(&r[k]);
	}
	printf("%d of %d figures slower by 40%%, %d:%d: %d comparisons, "
	    "alarms %.1f%%\n", slower, FIGURES, runs, runs, n,
	    100.0 * alarms / n);
}

/* How often a slow-down of 5% of a figure is found, in percent. */
static double
found(struct record *r, int n, int runs, const char *key)
{
	struct tally t = { 0 };

	for (int i = 0; i + runs <= n; i++) {
		for (int j = 0; j + runs <= n; j++) {
			if (abs(i - j) < runs)
				continue;
			for (int k = 0; k < runs; k++)
				scale(record_find(&r[j + k], key), 1.05);
			judge(&t, r + i, runs, r + j, runs, key);
			for (int k = 0; k < runs; k++)
				scale(record_find(&r[j + k], key), 1 / 1.05);
		}
	}
	return 100.0 * t.found / t.n;
}

static int
simulations(int n)
{
	static const double noise[] = { 0.5, 1, 1 };
	static const double drift[] = { 0.002, 0.005, 0.01 };

	for (int runs = 1; runs <= 3; runs++) {
		for (int i = 0; i < 3; i++) {
			simulated(n, noise[i], drift[i], runs, 1);
			simulated(n / 5, noise[i], drift[i], runs, 1.02);
			simulated(n / 5, noise[i], drift[i], runs, 1.05);
		}
		if (runs == 1)
			n /= 4;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct input in = { 0 };
	struct record *r = calloc(1000, sizeof *r);
	int n = 0;

	if (argc == 3 && !strcmp(argv[1], "sim"))
		return simulations(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "many")) {
		for (int runs = 1; runs <= 3; runs++)
			for (int slower = 20; slower <= 50; slower += 15)
				many(atoi(argv[2]), runs, slower);
		return 0;
	}
	in.name = argv[2];
	if (argc < 3 || !(in.f = fopen(in.name, "r")))
		return 2;
	while (n < 1000 && record_read(&in, &r[n]))
		n++;
	if (!strcmp(argv[1], "rows")) {
		for (int i = 0; i < r[0].nfigures; i++) {
			const char *key = r[0].figures[i].key;

			printf("%-16s %5.1f %5.1f %5.1f\n", key,
			    found(r, n, 1, key), found(r, n, 2, key),
			    found(r, n, 3, key));
		}
		return 0;
	}
	for (int runs = 1; runs <= 3; runs++) {
		for (int all = 0; all < 2; all++)
			real(r, n, runs, 1, "none", all);
		for (int i = 3; i < argc; i++) {
			real(r, n, runs, 1.05, argv[i], 1);
			real(r, n, runs, 1.02, argv[i], 1);
		}
	}
	return 0;
}
