/*
 * noise.c - what disturbed a run: which rounds, and which rows in these.
 *
 * The kernel counts for the whole machine: time that the hypervisor gave to
 * others, time that other programs used, interrupts.  A file that tells of
 * them may be missing: what is not known does not disturb.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

/* The counters at a moment. */
struct moment {
	double time;
	unsigned long long steal, total, busy;  /* ticks of all CPUs */
	unsigned long long interrupts;
	double own;             /* seconds of CPU that we used */
	long switches;          /* of ours, involuntary */
};

/* What disturbs, and how it is told. */
enum { STOLEN, USED, SWITCHES, INTERRUPTS, CLOCK, CAUSES };
static const char *const causes[CAUSES] = {
	"steal %.1f%%",         /* of the time of all CPUs */
	"other programs %.0f%% of a CPU",
	"%.0f switches/s",
	"%.0f interrupts/s",
	"clock changed by %.0f%%",
};

/* What there was of it in a round. */
struct part {
	double v[CAUSES];
	double mhz[2];          /* before and after; 0: not known */
	int whole;              /* of all rows: one to compare with */
	int disturbed;          /* by which of them: bits */
};

enum {
	SHOWN = 4,              /* rows that are named */
	TEXT = 512
};

struct noise {
	struct moment first, last;
	struct part part[MAXROUNDS];
	int n;
	struct {
		const char *key;
		double worse;
	} hit[SHOWN + 1];       /* worst first; and room for one more */
	int hits;               /* all of them */
};

/* --- counters ------------------------------------------------------------ */

/*
 * The first line of /proc/stat and that of the interrupts.  The ninth and
 * tenth number (guests) are part of the first two.
 */
static void
machine(struct moment *m)
{
	enum { USER, NICE, SYSTEM, AWAY = 7, TICKS };
	unsigned long long v[TICKS] = { 0 };
	FILE *f = fopen("/proc/stat", "re");
	char line[512], *s = line + 4;
	int i;

	if (!f)
		return;
	if (fgets(line, sizeof line, f) && !strncmp(line, "cpu ", 4))
		for (i = 0; i < TICKS; i++)
			v[i] = strtoull(s, &s, 10);
	while (!m->interrupts && fgets(line, sizeof line, f))
		if (!strncmp(line, "intr ", 5))
			m->interrupts = strtoull(line + 5, NULL, 10);
	fclose(f);
	m->steal = v[AWAY];
	m->busy = v[USER] + v[NICE] + v[SYSTEM];
	for (i = 0; i < TICKS; i++)
		m->total += v[i];
}

static double
cpu_time(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
		(double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-6;
}

static void
look(struct moment *m)
{
	struct rusage self = { 0 }, rows = { 0 };

	memset(m, 0, sizeof *m);
	m->time = seconds();
	machine(m);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &rows);
	m->own = cpu_time(&self) + cpu_time(&rows);
	m->switches = rows.ru_nivcsw;
}

/* Counters may go back a little, or be missing at one end. */
static double
since(unsigned long long from, unsigned long long to)
{
	return from && to > from ? (double)(to - from) : 0;
}

static void
difference(struct part *p, const struct moment *a, const struct moment *b)
{
	double time = b->time - a->time, total = since(a->total, b->total);
	double busy = since(a->busy, b->busy) / (double)getauxval(AT_CLKTCK);

	memset(p, 0, sizeof *p);
	if (total > 0)
		p->v[STOLEN] = 100 * since(a->steal, b->steal) / total;
	if (time <= 0)
		return;
	if (busy > b->own - a->own)
		p->v[USED] = 100 * (busy - b->own + a->own) / time;
	p->v[SWITCHES] = (double)(b->switches - a->switches) / time;
	p->v[INTERRUPTS] = since(a->interrupts, b->interrupts) / time;
}

struct noise *
noise_start(void)
{
	struct noise *n = calloc(1, sizeof *n);

	if (n) {
		look(&n->first);
		n->last = n->first;
	}
	return n;
}

void
noise_round(struct noise *n, int whole)
{
	struct moment now;

	if (n->n == MAXROUNDS)
		return;
	look(&now);
	difference(&n->part[n->n], &n->last, &now);
	n->part[n->n++].whole = whole;
	n->last = now;
}

/* --- judgement ----------------------------------------------------------- */

/* The least of a cause in a whole round. */
static double
calmest(const struct noise *n, int cause)
{
	const struct part *p;
	double least = 1e9;

	for (p = n->part; p < n->part + n->n; p++)
		if (p->whole)
			least = fmin(least, p->v[cause]);
	return least;
}

/* A rate that is far above that of the calmest round. */
static double
burst(double calm)
{
	return fmax(2 * calm, calm + 1000);
}

/* The clock of the core at the beginning and at the end of each round. */
static void
take_mhz(struct noise *n, const struct record *r)
{
	static const char *const keys[] = { "mhz", "mem_mhz" };
	const struct figure *f;
	size_t k;
	int i;

	for (k = 0; k < LEN(keys); k++)
		if ((f = record_find(r, keys[k])))
			for (i = 0; i < n->n && i < f->nrounds; i++)
				n->part[i].mhz[k] = f->rounds[i];
	for (i = 0; i < n->n; i++)
		if (n->part[i].mhz[0] > 0 && n->part[i].mhz[1] > 0)
			n->part[i].v[CLOCK] = 100 * fabs(n->part[i].mhz[1] /
				n->part[i].mhz[0] - 1);
}

/*
 * A server of X on this machine is among the other programs: what they used
 * in the calmest round is its share, then.  Rounds that are not whole have
 * rows, and so switches and interrupts, of their own.
 */
void
noise_judge(struct noise *n, const struct record *r)
{
	const char *comm = record_get(r, "x_comm");
	double limit[CAUSES] = {
		[STOLEN] = 100 * STEAL, [CLOCK] = 100 * SWING,
		[USED] = 100 * OTHERS,
		[SWITCHES] = burst(calmest(n, SWITCHES)),
		[INTERRUPTS] = burst(calmest(n, INTERRUPTS)),
	};
	struct part *p;
	int i;

	take_mhz(n, r);
	if (comm && strcmp(comm, "null"))
		limit[USED] += calmest(n, USED);
	for (p = n->part; p < n->part + n->n; p++)
		for (i = 0; i < CAUSES; i++)
			if (p->v[i] > limit[i] && (p->whole ||
			    (i != SWITCHES && i != INTERRUPTS)))
				p->disturbed |= 1 << i;
}

/* Keeps the worst. */
static void
keep(struct noise *n, const char *key, double worse)
{
	int i = n->hits < SHOWN ? n->hits : SHOWN;

	n->hits++;
	for (; i && n->hit[i - 1].worse < worse; i--)
		n->hit[i] = n->hit[i - 1];
	n->hit[i].key = key;
	n->hit[i].worse = worse;
}

void
noise_hit(struct noise *n, const struct figure *f, enum better better,
	const int *when)
{
	double v, best = 0, worst = 0;
	int i;

	for (i = 0; i < f->nrounds; i++) {
		v = better == LESS ? f->rounds[i] : 1 / f->rounds[i];
		if (!i || v < best)
			best = v;
		if (when[i] < n->n && n->part[when[i]].disturbed && v > worst)
			worst = v;
	}
	if (worst > best * (1 + NOISY))
		keep(n, f->key, better == LESS ? worst / best - 1 :
			1 - best / worst);
}

/* --- facts --------------------------------------------------------------- */

/* Adds causes, of which there is so much, to a text. */
static void
tell(char s[TEXT], const double v[CAUSES], int which)
{
	const char *comma = "";
	int i;

	for (i = 0; i < CAUSES; i++) {
		if (!(which & 1 << i))
			continue;
		join(s, TEXT, "%s", comma);
		join(s, TEXT, causes[i], v[i]);
		comma = ", ";
	}
}

static void
round_fact(const struct part *p, int i, struct record *r)
{
	char name[16], s[TEXT] = "";

	tell(s, p->v, (1 << CLOCK) - 1);
	snprintf(name, sizeof name, "round%d", i + 1);
	if (p->mhz[0] > 0 && p->mhz[1] > 0)
		join(s, TEXT, ", %.0f MHz then %.0f", p->mhz[0], p->mhz[1]);
	record_fact(r, name, "%s", s);
}

/* The line that stands under the tables. */
static void
disturbed(const struct noise *n, struct record *r)
{
	double most[CAUSES] = { 0 };
	char s[TEXT] = "";
	int i, k, rounds = 0, which = 0;

	for (i = 0; i < n->n; i++) {
		which |= n->part[i].disturbed;
		rounds += n->part[i].disturbed != 0;
		for (k = 0; k < CAUSES; k++)
			if (n->part[i].disturbed & 1 << k)
				most[k] = fmax(most[k], n->part[i].v[k]);
	}
	if (!rounds)
		return;
	join(s, TEXT, "%d of %d rounds (", rounds, n->n);
	tell(s, most, which);
	join(s, TEXT, "): ");
	for (i = 0; i < n->hits && i < SHOWN; i++)
		join(s, TEXT, "%s%.24s %.0f%%", i ? ", " : "", n->hit[i].key,
			100 * n->hit[i].worse);
	if (n->hits > SHOWN)
		join(s, TEXT, " worse, and %d more", n->hits - SHOWN);
	else
		join(s, TEXT, n->hits ? " worse" : rounds < n->n ?
			"no row much worse" : "no calm one to compare with");
	record_fact(r, "disturbed", "%s", s);
}

void
noise_facts(const struct noise *n, struct record *r)
{
	struct moment now;
	struct part all;
	int i;

	look(&now);
	difference(&all, &n->first, &now);
	record_fact(r, "seconds", "%.1f", now.time - n->first.time);
	if (now.total)
		record_fact(r, "steal", "%.2f%%", all.v[STOLEN]);
	for (i = 0; i < n->n; i++)
		round_fact(&n->part[i], i, r);
	disturbed(n, r);
}
