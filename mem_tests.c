/*
 * mem_tests.c - figures of the memory: its bandwidths, its latencies, the
 * caches before it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

/* --- bandwidths ---------------------------------------------------------- */

void *
anonymous(struct bench *b, size_t size)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at;

	if (p == MAP_FAILED)
		fail(b, "memory:");
	for (at = 0; at < size; at += (size_t)page)
		p[at] = 1;
	return p;
}

enum { GRAIN = 256 << 10 };     /* bytes; buffers are multiples of it */

/*
 * Plain loads and stores of words, the same code from every compiler:
 * volatile keeps them from making vectors, or calls of memcpy, of it.  n is
 * a multiple of 16.
 */
void
read_words(volatile long *to, const volatile long *from, size_t n)
{
	const volatile long *end = from + n;
	unsigned long a = 0, b = 0, c = 0, d = 0;

	(void)to;
	for (; from < end; from += 16) {
		a += (unsigned long)from[0], b += (unsigned long)from[1];
		c += (unsigned long)from[2], d += (unsigned long)from[3];
		a += (unsigned long)from[4], b += (unsigned long)from[5];
		c += (unsigned long)from[6], d += (unsigned long)from[7];
		a += (unsigned long)from[8], b += (unsigned long)from[9];
		c += (unsigned long)from[10], d += (unsigned long)from[11];
		a += (unsigned long)from[12], b += (unsigned long)from[13];
		c += (unsigned long)from[14], d += (unsigned long)from[15];
	}
	a += b + c + d;
	USE(a);
}

static void
write_words(volatile long *to, const volatile long *from, size_t n)
{
	volatile long *end = to + n;
	long v = (long)n;

	(void)from;
	for (; to < end; to += 16) {
		to[0] = v, to[1] = v, to[2] = v, to[3] = v;
		to[4] = v, to[5] = v, to[6] = v, to[7] = v;
		to[8] = v, to[9] = v, to[10] = v, to[11] = v;
		to[12] = v, to[13] = v, to[14] = v, to[15] = v;
	}
}

static void
copy_words(volatile long *to, const volatile long *from, size_t n)
{
	volatile long *end = to + n;

	for (; to < end; to += 8, from += 8) {
		to[0] = from[0], to[1] = from[1];
		to[2] = from[2], to[3] = from[3];
		to[4] = from[4], to[5] = from[5];
		to[6] = from[6], to[7] = from[7];
	}
}

/* The C library's memcpy and not one of the compiler's. */
static void
copy_libc(volatile long *to, const volatile long *from, size_t n)
{
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;

	copy((void *)to, (const void *)from, n * sizeof *to);
}

/*
 * Bytes of a buffer that no cache holds: four times the largest, where the
 * machine has as much to give and MAXBUFFER allows.
 */
static size_t
buffer_size(size_t *want)
{
	size_t cache = cache_size(), size = memory_limit();

	*want = cache ? 4 * cache : 32 << 20;
	if (size > MAXBUFFER)
		size = MAXBUFFER;
	if (size > *want)
		size = *want;
	return size - size % GRAIN;
}

/* That buffer.  Says how large it is, and where it should be larger. */
static char *
buffer(struct bench *b, size_t *size)
{
	size_t want;

	*size = buffer_size(&want);
	if (*size < want / GRAIN * GRAIN)
		note(b, "buffer of %zu KB (should be %zu KB, 4 x the cache)",
			*size >> 10, want >> 10);
	fact(b, "buffer", "%zu KB", *size >> 10);
	return anonymous(b, *size);
}

/*
 * Reads, writes or copies memory, a grain at a time, round and round.  For
 * a copy the buffer is halved: its two parts together are what no cache
 * holds; bytes copied count once.
 */
static void
memory_bandwidth(struct bench *b)
{
	static const struct {
		void (*pass)(volatile long *, const volatile long *, size_t);
		int parts;
	} how[] = {
		{ read_words, 1 }, { write_words, 1 },
		{ copy_words, 2 }, { copy_libc, 2 },
	};
	size_t at = 0, size, span;
	char *to = buffer(b, &size), *from;
	long n;

	span = size / (size_t)how[b->arg].parts / GRAIN * GRAIN;
	from = to + size - span;
	b->work = GRAIN;
	while (sample(b))
		for (n = b->n; n--; at = (at + GRAIN) % span)
			how[b->arg].pass((long *)(to + at),
				(long *)(from + at), GRAIN / sizeof (long));
}

/* --- memory latencies ---------------------------------------------------- */

/*
 * A chase: every load gives the address of the next.  It goes through the
 * lines of a block in random order, and through the blocks in random order.
 * A block is 16 pages of 4 KB: of one page that is touched here and there
 * processors fetch the rest before it is asked for (an L2 of 14 cycles then
 * seems to have 8), while 16 fit into any TLB, so that a page costs one miss
 * for all of its lines.  Lines are taken 128 bytes apart, two of 64, since
 * many fetch a neighbour too.
 */
enum { LINE = 128, BLOCK = 64 << 10 };

/* xorshift (Marsaglia 2003), the same order in every run. */
static uint32_t
draw(uint32_t *seed, size_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return (uint32_t)((uint64_t)*seed * below >> 32);
}

static void
shuffle(uint32_t *v, size_t n, uint32_t *seed)
{
	uint32_t t;
	size_t k;

	for (; n > 1; n--) {
		k = draw(seed, n);
		t = v[n - 1];
		v[n - 1] = v[k];
		v[k] = t;
	}
}

static uint32_t *
count_up(struct bench *b, size_t n)
{
	uint32_t *v = malloc(n * sizeof *v);
	size_t i;

	if (!v)
		fail(b, "memory:");
	for (i = 0; i < n; i++)
		v[i] = (uint32_t)i;
	return v;
}

/*
 * Makes a ring of pointers through size bytes: so many lines of each block.
 * It is laid in the order of the chase, so that what caches keep of laying
 * it is what they would keep of a first turn.
 */
static void **
lay(struct bench *b, char *p, size_t size, size_t block, size_t lines)
{
	size_t i, k, blocks = size / block, all = block / LINE;
	uint32_t *order = count_up(b, blocks), *line = count_up(b, all);
	uint32_t seed = 2463534242U;
	void *first = NULL, **last = &first;

	shuffle(order, blocks, &seed);
	for (i = 0; i < blocks; i++) {
		shuffle(line, all, &seed);
		for (k = 0; k < lines; k++) {
			*last = p + order[i] * block + line[k] * LINE;
			last = *last;
		}
	}
	*last = first;
	free(order);
	free(line);
	return first;
}

/* A ring through all lines of size bytes; small ones are of one block. */
static void **
lay_all(struct bench *b, char *p, size_t size)
{
	size_t block = size <= 4 * BLOCK ? size : BLOCK;

	return lay(b, p, size, block, block / LINE);
}

enum { HOPS = 16 };

/* Follows the pointers n * HOPS times. */
static void **
chase(void **p, long n)
{
	while (n--) {
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
	}
	return p;
}

/* ns a load of a ring. */
static void
chase_ring(struct bench *b, void **p)
{
	b->work = HOPS;
	while (sample(b)) {
		p = chase(p, b->n);
		USE(p);
	}
}

enum { SIZES = 96, LEVELS = 4 };
/* Args of the rows of curves, which are so many. */
enum { LATENCY = 0, BANDWIDTH = 1, HUGE_PAGES = 2, KINDS = 4 };

/*
 * What all rows of a run know of the caches, in b->common.  ns a load at
 * each size from 1 KB, four sizes an octave: the least that was seen, since
 * what disturbs only ever adds.  In the middle of each cache's plateau a
 * size; these stay, so that every round of a row measures the same.
 */
struct curve {
	int n;                  /* sizes measured */
	float ns[SIZES];
	int levels;             /* found */
	size_t middle[LEVELS];
	float best[KINDS][SIZES / 2];   /* of the rows of curves, seconds */
};

/* A plateau of the curve: its first and last size, as indices. */
struct plateau {
	int first, last;
};

static size_t
curve_size(int i)
{
	return (size_t)(4 + i % 4) << (8 + i / 4);
}

/* Measures the curve up to size, or makes it better. */
static void
sweep(struct bench *b, char *p, size_t size)
{
	enum { TRIES = 4, LOADS = 8192 };
	struct curve *c = b->common;
	double t, least;
	void **at;
	int i, k;

	for (i = 0; i < SIZES && curve_size(i) <= size; i++) {
		at = lay_all(b, p, curve_size(i));
		for (least = 0, k = 0; k < TRIES; k++) {
			t = seconds();
			at = chase(at, LOADS / HOPS);
			USE(at);
			t = (seconds() - t) * 1e9 / LOADS;
			if (k == 0 || t < least)
				least = t;
		}
		if (i >= c->n || least < c->ns[i])
			c->ns[i] = (float)least;
	}
	if (c->n < i)
		c->n = i;
}

/*
 * Sweeps a buffer.  The first time once more, for what may have disturbed;
 * not its last octave, which is memory anyhow and takes half of the time.
 */
static void
sweep_all(struct bench *b)
{
	struct curve *c = b->common;
	size_t want, size = buffer_size(&want);
	char *p = anonymous(b, size);
	int again = !c->n;

	sweep(b, p, size);
	if (again)
		sweep(b, p, size / 2);
	munmap(p, size);
}

/* Octaves, and more, that rise by a fifth at most; the last is memory. */
static int
find_plateaus(const float *v, int n, struct plateau found[SIZES])
{
	enum { OCTAVE = 4 };
	int first, end, k = 0;

	for (first = 0; first < n; first = end) {
		for (end = first; end < n && v[end] <= v[first] * 1.2; end++)
			;
		if (end - first > OCTAVE || end == n)
			found[k++] = (struct plateau){ first, end - 1 };
		else
			end = first + 1;
	}
	return k;
}

/*
 * How far a plateau stands off from its lower and its upper neighbour: the
 * lesser of the two ratios.  A short one has to stand off by twice as much
 * as a long one.
 */
static double
standing(const float *v, const struct plateau *p)
{
	enum { LONG = 6 };
	double low = v[p->first] / v[p[-1].last];
	double high = v[p[1].first] / v[p->last];
	double least = low < high ? low : high;

	return p->last - p->first < LONG ? least / 2 : least / 1.15;
}

/*
 * Finds the plateaus of the caches, and of memory behind them; those that
 * differ by less than 15% are one.  What other users of a shared cache do
 * makes steps in the rise to memory: the least standing of the plateaus in
 * between go, one by one.  Returns how many caches there are.
 */
static int
find_levels(const float *v, int n, struct plateau found[SIZES])
{
	int i, least, k = find_plateaus(v, n, found);

	for (; k > 2; k--) {
		for (least = 1, i = 2; i < k - 1; i++)
			if (standing(v, &found[i]) <
			    standing(v, &found[least]))
				least = i;
		if (standing(v, &found[least]) >= 1 && k - 1 <= LEVELS)
			break;
		memmove(&found[least], &found[least + 1],
			(size_t)(k - least - 1) * sizeof *found);
	}
	if (k == 2 && v[found[1].first] < v[found[0].last] * 1.15)
		k = 1;
	return k - 1;
}

/* The same from what is known by now; v becomes the curve without dips. */
static int
look(const struct curve *c, float v[SIZES], struct plateau found[SIZES])
{
	int i;

	for (i = c->n - 1; i >= 0; i--)
		v[i] = i + 1 < c->n && v[i + 1] < c->ns[i] ?
			v[i + 1] : c->ns[i];
	return find_levels(v, c->n, found);
}

/* Takes the levels seen by now, if they are those that are known and more. */
static void
take_levels(struct curve *c)
{
	struct plateau found[SIZES];
	float v[SIZES];
	int i, n = look(c, v, found);

	for (i = 0; i < c->levels; i++)
		if (i == n || c->middle[i] < curve_size(found[i].first) ||
		    c->middle[i] > curve_size(found[i].last))
			return;
	for (; i < n; i++)
		c->middle[i] = curve_size((found[i].first + found[i].last) / 2);
	c->levels = i;
}

/*
 * The first row that wants to know the levels finds them for all.  One whose
 * level is not among them looks again: what disturbed may be over.
 */
static const struct curve *
levels(struct bench *b)
{
	enum { MORE_SWEEPS = 2 };
	struct curve *c = b->common;
	int i;

	if (!c->n) {
		sweep_all(b);
		take_levels(c);
	}
	for (i = 0; i < MORE_SWEEPS && c->levels < b->arg; i++) {
		sweep_all(b);
		take_levels(c);
	}
	return c;
}
/* A cache: level arg, a ring of a size in the middle of its plateau. */
static void
cache_latency(struct bench *b)
{
	static const char *const name[] = { "first", "second", "third" };
	const struct curve *c = levels(b);
	size_t size;

	if (c->levels < b->arg)
		skip(b, "no %s level of cache found up to %zu KB",
			name[b->arg - 1], curve_size(c->n - 1) >> 10);
	size = c->middle[b->arg - 1];
	chase_ring(b, lay_all(b, anonymous(b, size), size));
}

/* Main memory: a ring through what no cache holds. */
static void
main_latency(struct bench *b)
{
	size_t size;
	char *p = buffer(b, &size);

	chase_ring(b, lay_all(b, p, size));
}

/* Memory that is written, all of it in huge pages of 2 MB or none. */
static char *
paged(struct bench *b, size_t size, int huge)
{
	enum { HUGE = 2 << 20 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), at;
	char *p = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage before, after;

	if (p == MAP_FAILED)
		fail(b, "memory:");
	p = (char *)(((uintptr_t)p + HUGE - 1) & -(uintptr_t)HUGE);
	if (madvise(p, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && huge)
		skip(b, "huge pages: madvise:");
	getrusage(RUSAGE_SELF, &before);
	for (at = 0; at < size; at += page)
		p[at] = 1;
	getrusage(RUSAGE_SELF, &after);
	if (huge && after.ru_minflt - before.ru_minflt >
	    (long)(size / HUGE * 2 + 512))
		skip(b, "too few huge pages");
	return p;
}

/*
 * One line a page, in random order, of more pages than the TLBs reach (four
 * times the 4096 entries of the largest): a load is a miss of the TLB, the
 * walk through the page tables, and the line itself, which lies anywhere in
 * its page, out of what caches hold of 16384 lines.  Huge pages are refused.
 * The first turns, in which lines and tables come into the caches, are not
 * timed.
 */
static void
tlb_latency(struct bench *b)
{
	enum { TURNS = 8, PAGES = 16384 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = PAGES * page, limit = memory_limit();
	void **ring;
	char *p;

	if (limit > MAXBUFFER)
		limit = MAXBUFFER;
	if (size > limit) {
		size = limit - limit % page;
		note(b, "%zu pages (should be %d)", size / page, PAGES);
	}
	p = paged(b, size, 0);
	ring = lay(b, p, size, page, 1);
	ring = chase(ring, TURNS * (long)(size / page) / HOPS);
	chase_ring(b, ring);
}

/* Seconds a load of a ring through size bytes, the best of some tries. */
static double
try_latency(struct bench *b, char *p, size_t size)
{
	enum { TRIES = 3, LOADS = 8192 };
	void **at = lay_all(b, p, size);
	double t, least = 0;
	int k;

	for (k = 0; k < TRIES; k++) {
		t = seconds();
		at = chase(at, LOADS / HOPS);
		USE(at);
		t = (seconds() - t) / LOADS;
		if (k == 0 || t < least)
			least = t;
	}
	return least;
}

/* Seconds a byte when size bytes are read, again and again. */
static double
try_bandwidth(char *p, size_t size)
{
	enum { TRIES = 3, LEAST = 1 << 20 };
	long n, passes = size < LEAST ? (long)(LEAST / size) : 1;
	double t, least = 0;
	int k;

	for (k = 0; k < TRIES; k++) {
		t = seconds();
		for (n = passes; n--; )
			read_words(NULL, (long *)p, size / sizeof (long));
		t = (seconds() - t) / (double)size / (double)passes;
		if (k == 0 || t < least)
			least = t;
	}
	return least;
}

/*
 * A curve by size, two sizes an octave, of figures KEY_SIZE: of each the
 * best that was seen in any round.
 */
static void
curve(struct bench *b)
{
	float *best = ((struct curve *)b->common)->best[b->arg];
	size_t want, size, most = buffer_size(&want);
	char *p = paged(b, most, b->arg & HUGE_PAGES), name[32];
	double t, kb;
	int i;

	for (i = 0; i < SIZES / 2 && (size = curve_size(2 * i)) <= most; i++) {
		t = b->arg & BANDWIDTH ? try_bandwidth(p, size) :
			try_latency(b, p, size);
		if (best[i] <= 0 || t < best[i])
			best[i] = (float)t;
		kb = (double)size / 1024;
		snprintf(name, sizeof name, "=%g%c %s",
			kb < 1024 ? kb : kb / 1024, kb < 1024 ? 'K' : 'M',
			b->arg & BANDWIDTH ? "MB/s" : "ns");
		if (b->arg & BANDWIDTH)
			fact(b, name, "%.0f", 1e-6 / best[i]);
		else
			fact(b, name, "%.4g", best[i] * 1e9);
	}
}

/* KB of a cache: where the curve is half way up to the next plateau. */
static size_t
level_size(const float *v, const struct plateau *p)
{
	float half = (v[p->last] + v[p[1].first]) / 2;
	int i = p->last;

	while (v[i + 1] < half)
		i++;
	return curve_size(i) >> 10;
}

/* The sizes of the levels, once more and better known each round. */
static void
guesses(struct bench *b)
{
	struct plateau found[SIZES];
	float v[SIZES];
	char text[REASON] = "", *end = text;
	size_t kb;
	int i, n;

	sweep_all(b);
	n = look(b->common, v, found);
	for (i = 0; i < n; i++) {
		kb = level_size(v, &found[i]);
		end += sprintf(end, "L%d %.3g%c ", i + 1,
			kb < 1024 ? (double)kb : (double)kb / 1024,
			kb < 1024 ? 'K' : 'M');
	}
	strcpy(n < 2 ? end : end - 1, n < 2 ? "No L2 cache?" : "");
	fact(b, "guesses", "%s", text);
}

/* --- the table ----------------------------------------------------------- */

const struct test mem_tests[] = {
	/* key, table, title, unit, better, function, argument, rare */
	{ "bcopy_libc_bw", "bw", "Bcopy (libc)", "MB/s", MORE,
	  memory_bandwidth, 3, 0 },
	{ "bcopy_hand_bw", "bw", "Bcopy (hand)", "MB/s", MORE,
	  memory_bandwidth, 2, 0 },
	{ "mem_read_bw", "bw", "Mem read", "MB/s", MORE,
	  memory_bandwidth, 0, 0 },
	{ "mem_write_bw", "bw", "Mem write", "MB/s", MORE,
	  memory_bandwidth, 1, 0 },

	{ "l1_lat", "mem", "L1 $", "ns", LESS, cache_latency, 1, 0 },
	{ "l2_lat", "mem", "L2 $", "ns", LESS, cache_latency, 2, 0 },
	{ "l3_lat", "mem", "L3 $", "ns", LESS, cache_latency, 3, 1 },
	{ "main_lat", "mem", "Main mem", "ns", LESS, main_latency, 0, 0 },
	{ "tlb_lat", "mem", "TLB", "ns", LESS, tlb_latency, 0, 0 },
	{ "guesses", "mem", "Guesses", "text", LESS, guesses, 0, 0 },

	{ "curve_lat", "curve", "Latency by size", "text", LESS,
	  curve, LATENCY, 0 },
	{ "curve_lat_huge", "curve", "Latency by size, huge pages", "text",
	  LESS, curve, LATENCY | HUGE_PAGES, 0 },
	{ "curve_bw", "curve", "Bandwidth by size", "text", MORE,
	  curve, BANDWIDTH, 0 },
	{ "curve_bw_huge", "curve", "Bandwidth by size, huge pages", "text",
	  MORE, curve, BANDWIDTH | HUGE_PAGES, 0 },
	{ 0 }
};
