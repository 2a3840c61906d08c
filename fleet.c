/*
 * fleet.c - many machines: of each figure the median, the quartiles, the
 * best, the worst, and who is far from all others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum {
	FAR = 5,                /* median deviations from the median */
	NAMED = 20,             /* outliers of a figure that are named */
	TEXT = 2048
};

/* The values of a figure. */
struct crowd {
	const struct test *test;
	const struct record *r;
	double *v, *w;          /* by record, 0 where there is none; to sort */
	int n, has;             /* records; those that have it */
};

static const char *
name(const struct record *r)
{
	const char *s = record_get(r, "label");

	if (!s)
		s = record_get(r, "host");
	return s ? s : "?";
}

static int
gather(struct crowd *c)
{
	c->has = 0;
	for (int i = 0; i < c->n; i++) {
		const struct figure *f = record_find(&c->r[i], c->test->key);

		c->v[i] = 0;
		if (!f || f->why || strcmp(f->unit, c->test->unit))
			continue;
		c->v[i] = c->w[c->has++] = f->value;
	}
	return c->has;
}

/* A value in eight columns at most, if it is as usual. */
static void
put(FILE *f, double v)
{
	char s[64];

	record_number(s, sizeof s, v, v < 0.01 || v >= 1e8 ? 3 : 0);
	fprintf(f, " %8s", s);
}

static void
end(FILE *f, const struct crowd *c, int at, int width)
{
	put(f, c->v[at]);
	fprintf(f, " %-*.9s", width, name(&c->r[at]));
}

static void
outliers(FILE *f, struct crowd *c, double median)
{
	char text[TEXT] = "", s[64];
	double mad;
	int n = 0, left = 0;

	for (int i = c->has = 0; i < c->n; i++)
		if (c->v[i] > 0)
			c->w[c->has++] = fabs(c->v[i] - median);
	mad = fmax(quantile(c->w, c->has, 0.5), median / 1000);
	for (int i = 0; i < c->n; i++) {
		if (!(c->v[i] > 0) || fabs(c->v[i] - median) <= FAR * mad)
			continue;
		if (++n > NAMED && ++left)
			continue;
		record_number(s, sizeof s, c->v[i], 0);
		join(text, sizeof text, "%s%.60s %s", n > 1 ? ", " : "",
		    name(&c->r[i]), s);
	}
	if (left)
		report_text(f, 4, "    far off: %s, and %d more", text, left);
	else if (n)
		report_text(f, 4, "    far off: %s", text);
}

static void
line(FILE *f, struct crowd *c)
{
	int low = -1, high = -1, more = c->test->better == MORE;
	double median = quantile(c->w, c->has, 0.5);

	for (int i = 0; i < c->n; i++) {
		if (!(c->v[i] > 0))
			continue;
		if (low < 0 || c->v[i] < c->v[low])
			low = i;
		if (high < 0 || c->v[i] > c->v[high])
			high = i;
	}
	fprintf(f, "%-15.15s", c->test->key);
	for (int q = 1; q <= 3; q++)
		put(f, quantile(c->w, c->has, q * 0.25));
	end(f, c, more ? high : low, 9);
	end(f, c, more ? low : high, 0);
	putc('\n', f);
	outliers(f, c, median);
}

int
fleet(FILE *f, const struct record *r, int n)
{
	struct crowd c = { .r = r, .n = n };

	c.v = calloc((size_t)n * 2 + 1, sizeof *c.v);
	if (!c.v)
		return -1;
	c.w = c.v + n;
	fprintf(f, "%-15s %8s %8s %8s %8s %-9s %8s\n", "key", "25%", "median",
	    "75%", "best", "", "worst");
	while ((c.test = next_test(c.test)))
		if (report_brief(c.test->table) && gather(&c))
			line(f, &c);
	free(c.v);
	return 0;
}
