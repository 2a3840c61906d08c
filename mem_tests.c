/*
 * mem_tests.c - figures of the memory: its bandwidths, its latencies, the
 * caches before it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "bench.h"
#include "config.h"

/* --- bandwidths ---------------------------------------------------------- */

void *
anonymous(struct bench *b, size_t size)
{
	long page = (long)getauxval(AT_PAGESZ);
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

#ifdef __SSE2__
/*
 * Stores that pass by the caches save reading what they overwrite; four
 * places in turn keep more of the memory at work than one.
 */
static void
copy_words(volatile long *to, const volatile long *from, size_t n)
{
	enum { PLACES = 4, TURN = 8 };  /* words: two lines of 64 bytes */
	size_t i, k, each = n * sizeof *to / sizeof (__m128i) / PLACES;

	for (i = 0; i < each; i += TURN)
		for (k = i; k < i + PLACES * each; k += each) {
			const __m128i *f = (const __m128i *)from + k;
			__m128i *t = (__m128i *)to + k;
			__m128i a = f[0], b = f[1], c = f[2], d = f[3];
			__m128i e = f[4], g = f[5], h = f[6], j = f[7];

			_mm_stream_si128(t, a), _mm_stream_si128(t + 1, b);
			_mm_stream_si128(t + 2, c), _mm_stream_si128(t + 3, d);
			_mm_stream_si128(t + 4, e), _mm_stream_si128(t + 5, g);
			_mm_stream_si128(t + 6, h), _mm_stream_si128(t + 7, j);
		}
	_mm_sfence();
}
#else
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
#endif

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

/* That size.  Says how large it is, and where it should be larger. */
static size_t
told_size(struct bench *b)
{
	size_t want, size = buffer_size(&want);

	if (size < want / GRAIN * GRAIN)
		note(b, "buffer of %zu KB (should be %zu KB, 4 x the cache)",
			size >> 10, want >> 10);
	fact(b, "buffer", "%zu KB", size >> 10);
	return size;
}

static char *
buffer(struct bench *b, size_t *size)
{
	return anonymous(b, *size = told_size(b));
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

/* --- bandwidths: STREAM --------------------------------------------------- */

/* Args: what is done, and whether on all processors. */
enum { COPY, SCALE, ADD, TRIAD, ALL_CPUS = 4 };

/* Arrays of a process, and how far it is. */
struct arrays {
	double *a, *b, *c;
	size_t size, at;        /* bytes of each, a multiple of GRAIN */
};

static void
make_arrays(struct bench *b, struct arrays *s, size_t size)
{
	char *p = anonymous(b, 3 * size);

	*s = (struct arrays){ (double *)p, (double *)(p + size),
		(double *)(p + 2 * size), size, 0 };
}

/* n times a grain of each array, as McCalpin's STREAM has it. */
static void
stream_grains(struct arrays *s, int what, long n)
{
	enum { EACH = GRAIN / sizeof (double) };
	const double by = 3;
	double *a, *b, *c, *end;

	for (; n--; s->at = (s->at + GRAIN) % s->size) {
		a = s->a + s->at / sizeof *a;
		b = s->b + s->at / sizeof *b;
		c = s->c + s->at / sizeof *c;
#define EVERY(x) \
	for (end = a + EACH; a < end; a++, b++, c++) { \
		x; \
		__asm__ volatile("" : : : "memory"); \
	}
		switch (what) {
		case COPY:
			EVERY(*c = *a)
			break;
		case SCALE:
			EVERY(*b = by * *c)
			break;
		case ADD:
			EVERY(*c = *a + *b)
			break;
		case TRIAD:
			EVERY(*a = *b + by * *c)
		}
#undef EVERY
	}
}

/* One of the others: does as many grains as it is told to, says when. */
static _Noreturn void
help_stream(struct bench *b, int what, size_t size, int in, int out)
{
	struct arrays s;
	long n;

	make_arrays(b, &s, size);
	while (read(in, &n, sizeof n) == sizeof n) {
		stream_grains(&s, what, n);
		if (write(out, "", 1) != 1)
			break;
	}
	fail(b, "peer: pipe:");
}

/* All do n grains. */
static void
stream_together(struct bench *b, struct arrays *s, int tell[2], int done[2],
	int others, long n)
{
	char c;
	int i;

	for (i = 0; i < others; i++)
		if (write(tell[1], &n, sizeof n) != sizeof n)
			fail(b, "pipe:");
	stream_grains(s, b->arg & 3, n);
	for (i = 0; i < others; i++)
		if (read(done[0], &c, 1) != 1)
			fail(b, "pipe:");
}

/*
 * One process, or one on each processor, which begin together and all of
 * which have to end.  Copies are distinct: arrays of all are the buffer.
 */
static void
stream_bw(struct bench *b)
{
	int i, tell[2], done[2], others = b->arg & ALL_CPUS ?
		cpu_count(b) - 1 : 0, arrays = (b->arg & 3) < ADD ? 2 : 3;
	size_t size = told_size(b) / 3;
	struct arrays s;
	double lead;
	long n;

	if (others < 0)
		skip(b, "no CPU is known");
	size /= (size_t)others + 1;
	size = size < GRAIN ? GRAIN : size / GRAIN * GRAIN;
	if (pipe(tell) || pipe(done))
		fail(b, "pipe:");
	for (i = 1; i <= others; i++) {
		if (peer(b))
			continue;
		if (pin(b, i))
			fail(b, "sched_setaffinity:");
		help_stream(b, b->arg & 3, size, tell[0], done[1]);
	}
	make_arrays(b, &s, size);
	stream_together(b, &s, tell, done, others, 1);
	while (preliminary(b, &lead))
		for (n = b->n; n--; )
			stream_together(b, &s, tell, done, others, 0);
	b->lead = lead;
	b->work = (double)GRAIN * arrays * (others + 1);
	while (sample(b))
		stream_together(b, &s, tell, done, others, b->n);
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

/* Chases through as many rings at once: what the processor keeps in flight. */
static void
parallel_latency(struct bench *b)
{
	enum { RINGS = 8, TURNS = 4 };
	size_t size;
	char *p = buffer(b, &size);
	void **at[RINGS];
	long n;
	int i;

	size = size / RINGS / BLOCK * BLOCK;
	for (i = 0; i < RINGS; i++)
		at[i] = lay_all(b, p + (size_t)i * size, size);
	b->work = RINGS * TURNS;
	while (sample(b))
		for (n = b->n * TURNS; n--; ) {
			at[0] = *at[0], at[1] = *at[1];
			at[2] = *at[2], at[3] = *at[3];
			at[4] = *at[4], at[5] = *at[5];
			at[6] = *at[6], at[7] = *at[7];
			USE(at);
		}
}

enum { SIZES = 96, LEVELS = 4, PAIRS = 6, REACHES = 19 };
/* Args of the rows of curves, which are so many. */
enum { LATENCY = 0, BANDWIDTH = 1, HUGE_PAGES = 2, KINDS = 4 };

/*
 * What all rows of a run know of the caches, in b->common.  ns a load at
 * each size from 1 KB, four sizes an octave: the least that was seen, since
 * what disturbs only ever adds.  Of each cache's plateau a size in the first
 * half, where others who share it disturb less; these stay, so that every
 * round of a row measures the same.
 */
struct curve {
	int n;                  /* sizes measured */
	float ns[SIZES];
	int sweeps, seen;       /* how often, how many levels at last */
	int levels;             /* found */
	size_t size[LEVELS];
	struct seen rows[KINDS][SIZES / 2];     /* by the rows of curves */
	float pair[PAIRS];      /* of line_size(), ns */
	float reach[REACHES][2];        /* of tlb_reach(), ns */
};

_Static_assert(sizeof (struct curve) <= XCOMMON, "bench.h: XCOMMON is small");

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
 * Sweeps a buffer: pages that are new each time.  After the first time not
 * its last octave, which is memory anyhow and takes half of the time.
 */
static void
sweep_all(struct bench *b)
{
	struct curve *c = b->common;
	size_t want, size = buffer_size(&want) >> (c->n > 0);
	char *p = anonymous(b, size);

	sweep(b, p, size);
	munmap(p, size);
}

/* Octaves, and more, that rise by a quarter at most; the last is memory. */
static int
find_plateaus(const float *v, int n, struct plateau found[SIZES])
{
	enum { OCTAVE = 4 };
	int first, end, k = 0;

	for (first = 0; first < n; first = end) {
		for (end = first; end < n && v[end] <= v[first] * 1.25; end++)
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
 * lesser of the two ratios, of where they begin.  A short one has to stand
 * off by more than a long one.
 */
static double
standing(const float *v, const struct plateau *p)
{
	enum { LONG = 6 };
	double low = v[p->first] / v[p[-1].first];
	double high = v[p[1].first] / v[p->first];
	double least = low < high ? low : high;

	return least / (p->last - p->first < LONG ? 2 : 1.45);
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

/*
 * Takes the levels seen by now, if they are those that are known and more,
 * and as many as when it looked last.
 */
static void
take_levels(struct curve *c)
{
	struct plateau found[SIZES];
	float v[SIZES];
	int i, n = look(c, v, found), last = c->seen;

	c->seen = n;
	for (i = 0; i < c->levels; i++)
		if (i == n || c->size[i] < curve_size(found[i].first) ||
		    c->size[i] > curve_size(found[i].last))
			return;
	for (; i < n && n == last; i++)
		c->size[i] = curve_size((2 * found[i].first +
			found[i].last) / 3);
	c->levels = i;
}

/*
 * The first row that wants to know the levels finds them for all.  One whose
 * level is not among them looks again, and once more in each further round:
 * what disturbed may be over.
 */
static const struct curve *
levels(struct bench *b)
{
	enum { SWEEPS = 4 };
	struct curve *c = b->common;

	if (c->sweeps == SWEEPS)
		take_levels(c);
	for (; c->sweeps < SWEEPS && c->levels < b->arg; c->sweeps++) {
		sweep_all(b);
		take_levels(c);
	}
	return c;
}

/* A cache: level arg, a ring of a size of its plateau. */
static void
cache_latency(struct bench *b)
{
	static const char *const name[] = { "first", "second", "third" };
	const struct curve *c = levels(b);
	size_t size;

	if (c->levels < b->arg)
		skip(b, "no %s level of cache found up to %zu KB",
			name[b->arg - 1], curve_size(c->n - 1) >> 10);
	size = c->size[b->arg - 1];
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
	size_t page = getauxval(AT_PAGESZ), at;
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
	size_t page = getauxval(AT_PAGESZ);
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
 * median of all rounds, and in each the best of some tries.
 */
static void
curve(struct bench *b)
{
	struct seen *rows = ((struct curve *)b->common)->rows[b->arg];
	size_t size, most = told_size(b);
	char *p = paged(b, most, b->arg & HUGE_PAGES), name[32];
	int i, rate = b->arg & BANDWIDTH;
	double kb;

	for (i = 0; i < SIZES / 2 && (size = curve_size(2 * i)) <= most; i++) {
		kb = (double)size / 1024;
		snprintf(name, sizeof name, "=%g%c %s",
			kb < 1024 ? kb : kb / 1024, kb < 1024 ? 'K' : 'M',
			rate ? "MB/s" : "ns");
		part(b, name, &rows[i], rate ? 1e-6 / try_bandwidth(p, size) :
			1e9 * try_latency(b, p, size));
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

/* --- lines, TLB ----------------------------------------------------------- */

/* ns of a pair of loads, so many bytes apart, in blocks in random order. */
static double
pair_time(struct bench *b, char *p, size_t size, size_t apart)
{
	enum { APART = 1024, LOADS = 4096, TRIES = 16 };
	uint32_t seed = 2463534242U, *order = count_up(b, size / APART);
	void *first = NULL, **last = &first;
	double t, least = 0;
	size_t i;

	shuffle(order, size / APART, &seed);
	for (i = 0; i < size / APART; i++) {
		*last = p + (size_t)order[i] * APART;
		last = *last;
		*last = (char *)last + apart;
		last = *last;
	}
	*last = first;
	free(order);
	for (last = first, i = 0; i < TRIES; i++) {
		t = seconds();
		last = chase(last, LOADS / HOPS);
		USE(last);
		t = (seconds() - t) * 2e9 / LOADS;
		if (i == 0 || t < least)
			least = t;
	}
	return least;
}

/*
 * Bytes of a line: the distance from which on a second load costs much more
 * than it does nearer, by the least times of all rounds.  Says what sysfs has,
 * if that is something else.
 */
static void
line_size(struct bench *b)
{
	enum { LEAST = 8 };
	float *pair = ((struct curve *)b->common)->pair, near = 0;
	size_t want, is, apart = LEAST, size = buffer_size(&want) / 2;
	char *p = anonymous(b, size);
	double t;
	int i;

	for (i = 0; i < PAIRS; i++, apart *= 2) {
		t = pair_time(b, p, size, apart);
		if (pair[i] <= 0 || t < pair[i])
			pair[i] = (float)t;
		if (i && pair[i] > near * 1.4)
			break;
		if (!i || pair[i] < near)
			near = pair[i];
	}
	is = sysfs_cache(1, "coherency_line_size");
	fact(b, "line_size", is && is != apart ? "%zu B, sysfs %zu" :
		"%zu B", apart, is);
}

/* ns a load of n lines that lie together, and of one in each of n pages. */
static void
tlb_cost(struct bench *b, char *p, size_t n, float least[2])
{
	enum { TRIES = 8, LOADS = 8192 };
	size_t page = getauxval(AT_PAGESZ);
	double t;
	void **at;
	int i, k;

	for (k = 0; k < 2; k++) {
		at = k ? lay(b, p, n * page, page, 1) : lay(b, p, n * LINE,
			n * LINE, n);
		at = chase(at, LOADS / HOPS);
		for (i = 0; i < TRIES; i++) {
			t = seconds();
			at = chase(at, LOADS / HOPS);
			USE(at);
			t = (seconds() - t) * 1e9 / LOADS;
			if (least[k] <= 0 || t < least[k])
				least[k] = (float)t;
		}
	}
}

/* 16, 24, 32, 48, 64 ... */
static size_t
reach_pages(int i)
{
	return (size_t)(2 + i % 2) << (3 + i / 2);
}

/*
 * Memory that the TLBs reach: up to where a page more begins to cost half of
 * a load from the first cache, and a third of what a miss of all costs, by
 * the least times of all rounds.
 */
static void
tlb_reach(struct bench *b)
{
	float (*t)[2] = ((struct curve *)b->common)->reach;
	size_t page = getauxval(AT_PAGESZ), most = memory_limit() / page;
	size_t first = 0, second = 0;
	float cost, all;
	char *p;
	int i, n;

	if (most > reach_pages(REACHES - 1))
		most = reach_pages(REACHES - 1);
	p = paged(b, most * page, 0);
	for (n = 0; n < REACHES && reach_pages(n) <= most; n++)
		tlb_cost(b, p, reach_pages(n), t[n]);
	all = t[n - 1][1] - t[n - 1][0];
	for (i = 0; i < n; i++) {
		cost = t[i][1] - t[i][0];
		if (cost < t[0][0] / 2)
			first = reach_pages(i);
		if (cost < all / 3)
			second = reach_pages(i);
	}
	fact(b, "tlb_reach", "%zuK %zuK", first * page >> 10,
		second * page >> 10);
}

/* Are the levels found those that sysfs tells of? */
static void
check_caches(struct bench *b)
{
	struct plateau found[SIZES];
	struct curve *c = b->common;
	float v[SIZES];
	char text[REASON] = "", *end = text;
	size_t kb, is;
	int i, n, differ = 0;

	if (!c->n)
		sweep_all(b);
	n = look(c, v, found);
	for (i = 0; i < LEVELS && (kb = sysfs_cache((unsigned)i + 1, "size"));
	    i++) {
		is = i < n ? level_size(v, &found[i]) : 0;
		differ |= is > kb * 3 / 2 || is < kb * 2 / 3;
		end += sprintf(end, "L%d %zu%c ", i + 1, kb < 1024 ? kb :
			kb >> 10, kb < 1024 ? 'K' : 'M');
	}
	if (!i)
		skip(b, "sysfs tells of no caches");
	end[-1] = '\0';
	fact(b, "sysfs_caches", "%s%s", differ || i != n ? "unlike: " : "",
		text);
}

/* --- arithmetic ----------------------------------------------------------- */

/*
 * ns of an operation that needs the result of the one before.  The operand
 * is one the compiler does not know.
 */
#define CHAIN(name, type, start, with, op, hide) \
static void \
name(struct bench *b) \
{ \
	volatile type unknown = with; \
	type a = start, k = unknown; \
	long n; \
\
	b->work = 8; \
	while (sample(b)) \
		for (n = b->n; n--; ) { \
			op hide op hide op hide op hide \
			op hide op hide op hide op hide \
		} \
	USE(a); \
}
#define HIDE __asm__ volatile("" : "+r"(a));

CHAIN(int_add, unsigned, 1, 3, a += k;, HIDE)
CHAIN(int_mul, unsigned, 1, 3, a *= k;, HIDE)
CHAIN(int_div, unsigned, 40000, 2000000000, a = k / a;, HIDE)
CHAIN(float_add, double, 1, 1e-9, a += k;, )
CHAIN(float_mul, double, 1, 1.0000000001, a *= k;, )
CHAIN(float_div, double, 1.1, 3.3, a = k / a;, )

/* --- the table ----------------------------------------------------------- */

const struct test mem_tests[] = {
	/* key, table, title, unit, function, argument, better, rare */
	{ "bcopy_libc_bw", "bw", "Bcopy (libc)", "MB/s", memory_bandwidth,
	  3, MORE, 0 },
	{ "bcopy_hand_bw", "bw", "Bcopy (hand)", "MB/s", memory_bandwidth,
	  2, MORE, 0 },
	{ "mem_read_bw", "bw", "Mem read", "MB/s", memory_bandwidth,
	  0, MORE, 0 },
	{ "mem_write_bw", "bw", "Mem write", "MB/s", memory_bandwidth,
	  1, MORE, 0 },

	{ "l1_lat", "mem", "L1 $", "ns", cache_latency, 1, LESS, 0 },
	{ "l2_lat", "mem", "L2 $", "ns", cache_latency, 2, LESS, 0 },
	{ "l3_lat", "mem", "L3 $", "ns", cache_latency, 3, LESS, 1 },
	{ "main_lat", "mem", "Main mem", "ns", main_latency, 0, LESS, 0 },
	{ "tlb_lat", "mem", "TLB", "ns", tlb_latency, 0, LESS, 0 },
	{ "guesses", "mem", "Guesses", "text", guesses, 0, LESS, 0 },

	{ "stream_copy", "bw2", "Copy", "MB/s", stream_bw, COPY, MORE, 0 },
	{ "stream_scale", "bw2", "Scale", "MB/s", stream_bw, SCALE, MORE, 0 },
	{ "stream_add", "bw2", "Add", "MB/s", stream_bw, ADD, MORE, 0 },
	{ "stream_triad", "bw2", "Triad", "MB/s", stream_bw, TRIAD, MORE, 0 },
	{ "stream_copy_all", "bw2", "all Copy", "MB/s", stream_bw,
	  COPY | ALL_CPUS, MORE, 0 },
	{ "stream_scale_all", "bw2", "all Scale", "MB/s", stream_bw,
	  SCALE | ALL_CPUS, MORE, 0 },
	{ "stream_add_all", "bw2", "all Add", "MB/s", stream_bw,
	  ADD | ALL_CPUS, MORE, 0 },
	{ "stream_triad_all", "bw2", "all Triad", "MB/s", stream_bw,
	  TRIAD | ALL_CPUS, MORE, 0 },

	{ "par_lat", "cache", "Parallel ns", "ns", parallel_latency,
	  0, LESS, 0 },
	{ "line_size", "cache", "Line size", "text", line_size, 0, LESS, 0 },
	{ "tlb_reach", "cache", "TLB reach", "text", tlb_reach, 0, MORE, 0 },
	{ "sysfs_caches", "cache", "Sysfs", "text", check_caches,
	  0, LESS, 0 },

	{ "int_add", "arith", "Int add", "ns", int_add, 0, LESS, 0 },
	{ "int_mul", "arith", "Int mul", "ns", int_mul, 0, LESS, 0 },
	{ "int_div", "arith", "Int div", "ns", int_div, 0, LESS, 0 },
	{ "float_add", "arith", "Float add", "ns", float_add, 0, LESS, 0 },
	{ "float_mul", "arith", "Float mul", "ns", float_mul, 0, LESS, 0 },
	{ "float_div", "arith", "Float div", "ns", float_div, 0, LESS, 0 },

	{ "curve_lat", "curve", "Latency by size", "text", curve,
	  LATENCY, LESS, 0 },
	{ "curve_lat_huge", "curve", "Latency by size, huge pages", "text",
	  curve, LATENCY | HUGE_PAGES, LESS, 0 },
	{ "curve_bw", "curve", "Bandwidth by size", "text", curve,
	  BANDWIDTH, MORE, 0 },
	{ "curve_bw_huge", "curve", "Bandwidth by size, huge pages", "text",
	  curve, BANDWIDTH | HUGE_PAGES, MORE, 0 },
	{ 0 }
};
