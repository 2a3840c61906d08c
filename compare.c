/*
 * compare.c - is it slower?  From records alone.
 *
 * A side of a comparison is one run or several.  What is tested, figure by
 * figure, is the logarithms of the medians of rounds: a t test, whose
 * variances are moderated, that is, shared by figures as far as they are
 * alike (Smyth 2004, doi 10.2202/1544-6115.1027).  Two runs differ by more
 * than their rounds do.  Another clock moves all figures alike: up to FLOOR,
 * what the median one moved by is taken off each, and what is more is news.
 * Addresses and neighbours move each its own way: how far runs scatter is
 * taken from the typical figure (how far its sides are apart and, where a
 * side is several runs, those), from what config.h knows of it, and from its
 * own runs.  The level is that of all cells together (Bonferroni).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "config.h"

enum {
	SHARED = 50,            /* degrees of freedom from others, at most */
	TYPICAL = 8,            /* figures that make a typical one */
	PRIOR = 6,              /* runs' worth of what is known of a figure's */
	SURE = 20,              /* ... its degrees of freedom */
	FAR = 8                 /* median deviations from the middle: too far */
};

/* What is known of a figure, in logarithms. */
struct row {
	struct change *c;
	double *y;              /* of each run, the old first, less the mean of
	                           its side; NAN: has none */
	double d;               /* mean of the new less that of the old */
	double var;             /* of a round */
	double df;              /* ... its degrees of freedom */
	double part;            /* var * part is what rounds add to d's */
	double runs;            /* drift^2 * runs is what runs add */
	double excess;          /* sum of squares of runs about their side */
	double between;         /* ... its degrees of freedom */
	double known;           /* deviation of a run, at least */
	double speed;           /* 1: more is better; -1 */
	double paced;           /* the same; 0: it is the clock itself */
};

static void *
need(void *p)
{
	if (p)
		return p;
	fputs("bench: compare: out of memory\n", stderr);
	exit(1);
}

/* The double ones are 5 KB, and six digits are plenty here. */
static double
ln(double x)
{
	return (double)logf((float)x);
}

/* Pulls x to where it is no further than most from 0. */
static double
within(double x, double most)
{
	return fmin(fmax(x, -most), most);
}

/* Never infinite, as JSON has no word for that. */
static double
ex(double x)
{
	return (double)expf((float)within(x, 80));
}

static double
median(double *v, int n)
{
	return quantile(v, n, 0.5);
}

/* --- sides ---------------------------------------------------------------- */

/* Facts that all runs have in common; of the others, that they vary. */
static void
pool_facts(struct record *to, const struct record *r, int n)
{
	for (int i = 0; i < r->nfacts; i++) {
		const struct pair *p = &r->facts[i];
		int same = 1;

		for (int j = 1; j < n && same; j++) {
			const char *v = record_get(&r[j], p->name);

			same = v && !strcmp(v, p->value);
		}
		if (same)
			record_fact(to, p->name, "%s", p->value);
		else if (strcmp(p->name, "label"))
			record_fact(to, p->name, VARIES);
	}
	if (n < 2)
		return;
	record_fact(to, "label", "%.200s x%d", record_name(to, 0), n);
}

/* The figures of a key in all runs as one, whose value is their median. */
static void
pool_figure(struct record *to, const struct figure *f, const struct record *r,
    int n)
{
	struct figure *g = record_add(to, f->key, f->unit);
	double *v = need(calloc((size_t)n * 3, sizeof *v));
	int runs = 0;

	for (int i = 0; i < n; i++) {
		const struct figure *one = record_find(&r[i], f->key);

		if (!one || one->why || strcmp(one->unit, f->unit))
			continue;
		v[runs] = one->value;
		v[n + runs] = one->low;
		v[2 * n + runs++] = one->high;
		if (g->nrounds < 10000)         /* it is a short */
			g->nrounds += one->nrounds;
		if (runs == 1 || one->digits < g->digits)
			g->digits = one->digits;
		if (one->note && !g->note)
			g->note = need(strdup(one->note));
	}
	if (runs) {
		g->value = median(v, runs);
		g->low = median(v + n, runs);
		g->high = median(v + 2 * n, runs);
	} else {
		g->why = need(strdup(f->why ? f->why : "not measured"));
	}
	free(v);
}

/* The runs of a side as one record, which is what the tables show of it. */
static void
pool(struct record *to, const struct record *r, int n)
{
	*to = (struct record){ 0 };
	pool_facts(to, r, n);
	for (int why = 0; why < 2; why++) {     /* first those with a value */
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < r[i].nfigures; k++) {
				const struct figure *f = &r[i].figures[k];

				if (!f->why == !why && !record_find(to, f->key))
					pool_figure(to, f, r, n);
			}
		}
	}
}

/* --- what is tested ------------------------------------------------------- */

/* The figure of a run, if it has one in that unit. */
static const struct figure *
get(const struct record *r, const struct test *t)
{
	const struct figure *f = record_find(r, t->key);

	return f && !f->why && !strcmp(f->unit, t->unit) ? f : NULL;
}

/*
 * Rounds that lie far from the middle of their run, by MAD, are pulled to
 * where far begins: a disturbed one is not to hide what the others say.
 */
static void
pull(double *x, int n)
{
	double v[n], middle, far;

	memcpy(v, x, sizeof v);
	middle = median(v, n);
	for (int i = 0; i < n; i++)
		v[i] = fabs(x[i] - middle);
	far = FAR * median(v, n);
	for (int i = 0; i < n; i++)
		x[i] = middle + within(x[i] - middle, far);
}

/*
 * Adds the rounds of a run to a row, as logarithms of their ratio to the old
 * value.  Returns their mean.
 */
static double
add_run(struct row *row, const struct figure *f)
{
	int n = f->nrounds ? f->nrounds : 1;
	double x[n], mean = 0;

	for (int i = 0; i < n; i++)
		x[i] = ln((f->nrounds ? f->rounds[i] : f->value) /
		    row->c->old->value);
	if (n >= 5)
		pull(x, n);
	for (int i = 0; i < n; i++)
		mean += x[i] / n;
	for (int i = 0; i < n; i++)
		row->var += (x[i] - mean) * (x[i] - mean);
	row->df += n - 1;
	return mean;
}

/* Adds the runs of a side.  Returns how many rounds they have in all. */
static int
add_side(struct row *row, const struct comparison *c, int side)
{
	double *y = row->y + side * c->runs[0], mean = 0, part = 0;
	int n = 0, runs = 0;

	for (int i = 0; i < c->runs[side]; i++) {
		const struct figure *f = get(&c->run[side][i], row->c->test);
		int rounds = f && f->nrounds ? f->nrounds : 1;

		y[i] = NAN;
		if (!f)
			continue;
		y[i] = add_run(row, f);
		mean += (y[i] - mean) / ++runs;
		part += 1.0 / rounds;
		n += rounds;
	}
	for (int i = 0; i < c->runs[side]; i++)
		y[i] -= mean;
	row->d = mean - row->d;
	row->part += part / runs / runs;
	row->runs += 1.0 / runs;
	row->between += runs - 1;
	return n;
}

/*
 * Fills a row but for the scatter of runs; there is room in y for all runs.
 * Returns 0 where there are no two values on each side.
 */
static int
measure(const struct comparison *c, struct row *row)
{
	const struct test *t = row->c->test;

	for (size_t i = 0; i < LEN(drifts); i++)
		if (!strcmp(drifts[i].key, t->key))
			row->known = drifts[i].drift;
	row->speed = t->better == MORE ? 1 : -1;
	row->paced = strcmp(t->unit, "MHz") ? row->speed : 0;
	return add_side(row, c, 0) > 1 && add_side(row, c, 1) > 1;
}

/* Of each run, what the median figure gained by is taken off. */
static void
scatter(struct row *row, int n, int runs)
{
	double v[n], pace, d;

	for (int k = 0; k < runs; k++) {
		int has = 0;

		for (int i = 0; i < n; i++)
			if (!isnan(row[i].y[k]))
				v[has++] = row[i].speed * row[i].y[k];
		pace = has < TYPICAL ? 0 : median(v, has);
		for (int i = 0; i < n; i++) {
			d = row[i].y[k] - row[i].paced * pace;
			if (!isnan(d))
				row[i].excess += d * d;
		}
	}
}

/* From sums of squares to variances. */
static void
divide(struct row *row)
{
	if (row->df) {
		row->var /= row->df;
	} else {                        /* a value a run, no rounds */
		row->df = row->between;
		row->var = row->excess / row->df;
		row->between = row->excess = 0;
	}
	/* a record has five digits of a value */
	row->var = fmax(row->var, 1e-8);
}

/* --- the test ------------------------------------------------------------- */

/* First and second derivative of the logarithm of the gamma function. */
static double
digamma(double x)
{
	double s = 0;

	for (; x < 4; x++)
		s -= 1 / x;
	return s + ln(x) - 1 / (2 * x) - 1 / (12 * x * x);
}

static double
trigamma(double x)
{
	double s = 0;

	for (; x < 4; x++)
		s += 1 / (x * x);
	return s + 1 / x + 1 / (2 * x * x) + 1 / (6 * x * x * x);
}

/*
 * Moderates the variances: those of all figures are taken for draws from a
 * scaled inverse chi-squared distribution, whose degrees of freedom and
 * scale follow from the mean and the variance of their logarithms.
 */
static void
moderate(struct row *row, int n)
{
	double mean = 0, squares = 0, chance = 0, low = 0.5, high = SHARED, e;
	double scale, half;

	for (int i = 0; i < n; i++) {
		half = row[i].df / 2;
		e = ln(row[i].var) - digamma(half) + ln(half);
		mean += e / n;
		squares += e * e;
		chance += trigamma(half) / n;
	}
	if (n < 2)
		return;
	squares = (squares - n * mean * mean) / (n - 1) - chance;
	while (high - low > 0.01) {
		half = (low + high) / 2;
		*(trigamma(half / 2) > squares ? &low : &high) = half;
	}
	if (low < 1)
		return;                 /* they have nothing in common */
	scale = ex(mean + digamma(low / 2) - ln(low / 2));
	for (int i = 0; i < n; i++) {
		row[i].var = (low * scale + row[i].df * row[i].var) /
			(low + row[i].df);
		row[i].df += low;
	}
}

/*
 * Takes the speed that the median figure gained off each, up to FLOOR: the
 * median of those about it, as others may have changed in truth.  More than
 * that, unless the clock gained as well, is news of most figures and not to
 * move the others.
 */
static double
take_pace(struct row *row, int n)
{
	double v[n], pace, clock = 0, most = ln(1 + FLOOR / 100.0);
	int clocks = 0, near = 0;

	for (int i = 0; i < n; i++) {
		v[i] = row[i].speed * row[i].d;
		if (!row[i].paced)
			clock += (v[i] - clock) / ++clocks;
	}
	pace = median(v, n);
	for (int i = 0; i < n; i++)
		if (fabs(v[i] - pace) < most)
			v[near++] = v[i];
	if (near)
		pace = median(v, near);
	if (fabs(pace) > most)
		pace = fabs(clock) < most / 2 || clock / pace < 0 ? 0 :
			within(pace, most);
	for (int i = 0; i < n; i++)
		row[i].d -= row[i].paced * pace;
	return pace;
}

/*
 * Variance of a run of that figure: what is expected, typical or known to be
 * more, counts as much as PRIOR runs, and then those that there are.
 */
static double
drift(const struct row *row, double s)
{
	double rounds = row->var * row->part / row->runs;

	s = fmax(s, row->known);
	return (PRIOR * s * s + fmax(row->excess - row->between * rounds, 0)) /
		(PRIOR + row->between);
}

/*
 * Standard deviation of a run: what is to be added to the rounds' so that
 * differences of sides and of runs, over their errors, have the median of
 * chance.  At most that of a typical round, or DRIFT: as many figures may
 * have changed in truth.
 */
static double
typical(const struct row *row, int n)
{
	double v[2 * n], s, low = 0, high;

	for (int i = 0; i < n; i++)
		v[i] = sqrt(row[i].var);
	high = fmax(median(v, n), DRIFT);
	while (high - low > DRIFT / 20) {
		int has = 0;

		s = (low + high) / 2;
		for (int i = 0; i < n; i++) {
			const struct row *r = &row[i];
			double own = fmax(s, r->known);
			double var = r->var * r->part / r->runs + own * own;

			v[has++] = fabs(r->d) / sqrt(var * r->runs);
			if (r->between > 0)     /* its median is near this */
				v[has++] = 0.7 * sqrt(r->excess / var /
				    (r->between - 0.6));
		}
		*(median(v, has) > 0.7 ? &low : &high) = s;
	}
	return high;
}

/*
 * Quantile of Student's t that is exceeded with probability p < 0.5: of the
 * normal distribution (Abramowitz and Stegun 26.2.23), and from there to t
 * (Wallace 1959).  Better than 1% from two degrees of freedom on.
 */
static double
student(double p, double df)
{
	double t = sqrt(-2 * ln(p)), z;

	z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
		(1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
	z *= (8 * df + 3) / (8 * df + 1);
	return sqrt(df * (ex(z * z / df) - 1));
}

/* Half of what the digits that a value was given with leave open. */
static double
open(const struct figure *f)
{
	double u = 0.5;

	if (!f->digits)
		return 0;
	while (f->value >= 10 * u * 2)
		u *= 10;
	while (f->value < u * 2)
		u /= 10;
	for (int i = 1; i < f->digits; i++)
		u /= 10;
	return u;
}

static double
percent(const struct test *t, double ratio)
{
	return 100 * (t->better == MORE ? ratio - 1 : 1 - ratio);
}

/* Whether a figure moved by more than its digits leave open. */
static int
apart(const struct change *c)
{
	return fabs(c->new->value - c->old->value) >
		open(c->old) + open(c->new);
}

/* That of rounds or, where a side is noisy, twice that of its samples. */
static double
spread(const struct row *row)
{
	const struct change *c = row->c;
	double s = fmax(ln(c->old->high / c->old->low),
	    ln(c->new->high / c->new->low));

	return s > ln(1 + NOISY) ? 2 * s : sqrt(row->var);
}

/* Where a change lies, at the level p on each side, and what it is. */
static void
test(struct row *row, double p, double pace, double common)
{
	struct change *c = row->c;
	double rounds = row->var * row->part;
	double runs = drift(row, common) * row->runs;
	double error;

	c->percent = percent(c->test, c->new->value / c->old->value *
	    ex(-pace * row->paced));
	error = rounds + runs;          /* Satterthwaite's degrees of freedom */
	error = sqrt(error) * student(p, error * error / (rounds * rounds /
	    row->df + runs * runs / (SURE + row->between)));
	c->low = fmin(c->percent, percent(c->test,
	    ex(row->d - row->speed * error)));
	c->high = fmax(c->percent, percent(c->test,
	    ex(row->d + row->speed * error)));
	c->verdict = error < ln(1 + SINGLE / 100.0) ? SAME : UNSURE;
	if (fabs(row->d) > fmax(error, spread(row)) &&
	    fabs(c->percent) > FLOOR && apart(c) &&
	    row->d * row->speed * c->percent > 0)
		c->verdict = c->percent > 0 ? BETTER : WORSE;
}

/* --- a comparison --------------------------------------------------------- */

static int
same_fact(const struct comparison *c, const char *name)
{
	const char *a = record_get(&c->side[0], name);
	const char *b = record_get(&c->side[1], name);

	if (!a || !b)
		return a == b;
	return !strcmp(a, b) && strcmp(a, VARIES);
}

/* Who drew: an X server 0, the built-in one 1, now this and now that 2. */
static int
drawer(const struct record *r)
{
	const char *v = record_get(r, "x_server");

	return !v ? 0 : !strcmp(v, VARIES) ? 2 : !strcmp(v, "built-in");
}

/* Why two figures cannot be compared, or NULL. */
static const char *
unlike(const struct comparison *c, const struct change *g)
{
	const char *unit = g->test->unit, *table = g->test->table;

	if (!g->old || !g->new)
		return "not in both";
	if (g->old->why || g->new->why)
		return "not measured in both";
	if (strcmp(g->old->unit, unit) || strcmp(g->new->unit, unit))
		return "in other units";
	if (!strcmp(unit, "stones") && !same_fact(c, "stones"))
		return "stones of different versions";
	if (*table == 'x' && (!table[1] || table[1] == '_') &&
	    (drawer(&c->side[0]) == 2 ||
	    drawer(&c->side[0]) != drawer(&c->side[1])))
		return "drawn by the built-in X server on one side";
	return NULL;
}

/* Adds what the sides have of all tests. */
static void
add(struct comparison *c)
{
	for (const struct test *t = NULL; (t = next_test(t)); ) {
		struct change g = { .test = t,
			.old = record_find(&c->side[0], t->key),
			.new = record_find(&c->side[1], t->key),
			.cell = !!report_brief(t->table) };

		if ((!g.old && !g.new) || !strcmp(t->unit, "text"))
			continue;
		if (!(g.why = unlike(c, &g)))
			g.percent = g.low = g.high = percent(t,
			    g.new->value / g.old->value);
		c->change = need(realloc(c->change,
		    ((size_t)c->n + 1) * sizeof g));
		c->change[c->n++] = g;
	}
}

/* Tests rows that have two values or more on each side. */
static void
test_rows(struct comparison *c, struct row *row, int n)
{
	int cells = 0;

	scatter(row, n, c->runs[0] + c->runs[1]);
	for (int i = 0; i < n; i++) {
		divide(&row[i]);
		cells += row[i].c->cell;
	}
	moderate(row, n);
	if (n >= TYPICAL) {
		c->pace = take_pace(row, n);
		c->drift = typical(row, n);
	}
	for (int i = 0; i < n; i++)
		test(&row[i], LEVEL / 2 / (cells ? cells : 1), c->pace,
		    n < TYPICAL ? DRIFT : c->drift);
}

void
compare(struct comparison *c, const struct record *old, int nold,
    const struct record *new, int nnew)
{
	struct row *row, r;
	double *y;
	int n = 0;

	*c = (struct comparison){ .run = { old, new },
		.runs = { nold, nnew } };
	for (int i = 0; i < 2; i++)
		pool(&c->side[i], c->run[i], c->runs[i]);
	add(c);
	row = need(calloc((size_t)c->n + 1, sizeof *row));
	y = need(calloc((size_t)(c->n + 1) * (size_t)(nold + nnew), sizeof *y));
	for (int i = 0; i < c->n; i++) {
		r = (struct row){ .c = &c->change[i],
			.y = y + n * (nold + nnew) };
		if (r.c->why)
			continue;
		if (measure(c, &r)) {
			row[n++] = r;
			continue;
		}
		r.c->single = 1;
		if (fabs(r.c->percent) > SINGLE && apart(r.c))
			r.c->verdict = r.c->percent > 0 ? BETTER : WORSE;
	}
	if (n)
		test_rows(c, row, n);
	free(y);
	free(row);
}

void
compare_free(struct comparison *c)
{
	for (int i = 0; i < 2; i++)
		record_free(&c->side[i]);
	free(c->change);
	*c = (struct comparison){ 0 };
}

int
compare_worse(const struct comparison *c, double limit)
{
	int n = 0;

	for (int i = 0; i < c->n; i++)
		n += c->change[i].cell && c->change[i].verdict == WORSE &&
			c->change[i].percent < -limit;
	return n;
}
