/*
 * levels.c - are caches found in the curves of machines whose caches are
 * known?  Silent when they are.
 */
#include "../mem_tests.c"

static int faults;

enum rise { STEP, RAMP, TAIL, RISES };

/* Part of loads that miss a cache; x: size of the ring to that of the cache. */
static double
misses(int how, double x)
{
	if (how == STEP)
		return x > 1;
	if (how == RAMP)
		return x <= 0.7 ? 0 : x >= 1.5 ? 1 : (x - 0.7) / 0.8;
	return x <= 0.5 ? 0 : 1 - 0.5 / x * (x < 2 ? 1 : 4 / x / x);
}

static const struct machine {
	const char *name;
	int n;                          /* caches */
	double kb[4], ns[5];
	size_t most;                    /* MB of the largest ring */
} machines[] = {
	{ "P133", 2, { 8, 256 }, { 7, 108, 182 }, 8 },
	{ "486", 1, { 8 }, { 20, 250 }, 4 },
	{ "flat", 0, { 0 }, { 5 }, 32 },
	{ "Pentium 3", 2, { 16, 256 }, { 4, 9, 140 }, 8 },
	{ "Skylake", 3, { 32, 256, 8192 }, { 1, 3.5, 11, 70 }, 32 },
	{ "Sapphire", 3, { 48, 2048, 102400 }, { 1.3, 4, 35, 130 }, 256 },
	{ "M1", 2, { 128, 12288 }, { 1, 5.5, 100 }, 64 },
	{ "A53", 2, { 32, 512 }, { 2.5, 11, 150 }, 8 },
};

/* Are the caches of a machine found, and their sizes about right? */
static int
levels_of(const struct machine *m, int how, double noise)
{
	struct plateau found[SIZES];
	struct curve c = { 0 };
	float v[SIZES];
	double size, ns;
	int i, k;

	for (i = 0; i < SIZES && curve_size(i) <= m->most << 20; i++) {
		size = (double)curve_size(i) / 1024;
		for (ns = m->ns[0], k = 0; k < m->n; k++)
			ns += misses(how, size / m->kb[k]) *
				(m->ns[k + 1] - m->ns[k]);
		c.ns[i] = (float)(ns * (1 + noise * rand() / RAND_MAX));
	}
	c.n = i;
	k = look(&c, v, found);
	for (i = 0; i < k && k == m->n; i++) {
		size = (double)level_size(v, &found[i]) / m->kb[i];
		if (size < 0.6 || size > 1.7)
			return 0;
	}
	return k == m->n;
}

/*
 * Sweeps of a guest (Xeon of 48 KB, 1.25 MB, 48 MB) whose last cache others
 * had nearly all of: tenths of ns.  There are three levels all the same, and
 * the third is not the memory.
 */
static const short shared_cache[][69] = {
	{
		14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
		14, 14, 14, 14, 14, 14, 14, 14, 40, 40, 40, 40, 40, 40, 40,
		40, 40, 40, 41, 41, 41, 41, 41, 41, 41, 45, 86, 161, 198, 225,
		277, 254, 246, 314, 572, 675, 642, 850, 851, 821, 806, 817,
		804, 796, 801, 812, 801, 824, 875, 810, 818, 819, 859, 825,
	},
	{
		14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
		14, 14, 14, 14, 14, 14, 14, 14, 40, 40, 40, 40, 40, 40, 40,
		40, 44, 40, 41, 41, 41, 41, 41, 41, 54, 101, 186, 221, 195,
		216, 282, 311, 279, 266, 375, 413, 411, 604, 787, 774, 912,
		909, 1099, 986, 1100, 917, 1186, 1025, 932, 1133, 989, 879,
		1036, 1053,
	},
	{
		14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
		14, 14, 14, 14, 14, 14, 14, 14, 40, 40, 40, 40, 40, 40, 40,
		40, 40, 40, 41, 41, 41, 41, 41, 49, 50, 74, 118, 160, 195,
		213, 226, 263, 236, 280, 357, 716, 676, 816, 896, 868, 858,
		900, 843, 802, 825, 840, 785, 876, 809, 880, 762, 893, 890,
		877,
	},
};

static void
levels_of_sweep(const short *tenths)
{
	struct plateau found[SIZES];
	struct curve c = { .n = LEN(*shared_cache) };
	float v[SIZES];
	int i, n;

	for (i = 0; i < c.n; i++)
		c.ns[i] = (float)tenths[i] / 10;
	n = look(&c, v, found);
	if (n == 3 && v[found[2].first] < 30)
		return;
	printf("sweep of a shared cache: %d levels, the last of %.1f ns\n",
		n, n ? v[found[n - 1].first] : 0);
	faults++;
}

/* With a little noise nearly always, with 10% mostly. */
int
main(void)
{
	enum { TRIES = 20 };
	int little, much, k, how;

	for (size_t i = 0; i < LEN(machines); i++) {
		for (how = 0; how < RISES; how++) {
			for (little = much = k = 0; k < TRIES; k++) {
				little += levels_of(&machines[i], how, 0.01);
				much += levels_of(&machines[i], how, 0.1);
			}
			if (little > TRIES * 9 / 10 && much > TRIES * 6 / 10)
				continue;
			printf("%s, rise %d: found in %d and %d of %d tries\n",
				machines[i].name, how, little, much, TRIES);
			faults++;
		}
	}
	for (size_t i = 0; i < LEN(shared_cache); i++)
		levels_of_sweep(shared_cache[i]);
	return faults != 0;
}
