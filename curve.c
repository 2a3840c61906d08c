/*
 * curve.c - latency and bandwidth of memory by size, from a record, as a
 * picture: in a terminal, or as SVG.
 *
 * Both axes are logarithms.  There are two families of curves, nanoseconds
 * and MB/s, of two curves each: without huge pages and with them.  In a
 * terminal they share a plot, in SVG each has its own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { FAMILIES = 2, CURVES = 2 * FAMILIES, POINTS = 96 };

static const struct kind {
	const char *prefix;     /* of keys: a size comes behind it */
	char mark;
	const char *name, *style;
} kinds[CURVES] = {
	{ "curve_lat_",      'l', "small pages", "stroke=\"#c03020\"" },
	{ "curve_lat_huge_", 'L', "huge pages",
	  "stroke=\"#c03020\" stroke-dasharray=\"6 4\"" },
	{ "curve_bw_",       'b', "small pages", "stroke=\"#2060b0\"" },
	{ "curve_bw_huge_",  'B', "huge pages",
	  "stroke=\"#2060b0\" stroke-dasharray=\"6 4\"" },
};

static const char *const families[FAMILIES] = {
	"latency, ns a load", "bandwidth of reading, MB/s"
};

struct axis {
	double low, high;
};

struct picture {
	struct axis x, y[FAMILIES];
	struct curve {
		int n;
		double x[POINTS], y[POINTS];
	} curve[CURVES];
};

/* Where a value lies on an axis, 0 to 1. */
static double
at(const struct axis *a, double v)
{
	return (double)(logf((float)(v / a->low)) /
		logf((float)(a->high / a->low)));
}

/* Makes an axis include a value. */
static void
include(struct axis *a, double v)
{
	if (a->low <= 0 || v < a->low)
		a->low = v;
	if (v > a->high)
		a->high = v;
}

/* The tick after v: 1, 2, 5, 10, 20 ... */
static double
next_tick(double v)
{
	double unit = SMALLEST;

	while (unit * 9.99 < v)
		unit *= 10;
	return unit * (v < unit * 1.99 ? 2 : v < unit * 4.99 ? 5 : 10);
}

/* Widens an axis to ticks. */
static void
round_axis(struct axis *a)
{
	double t, low = SMALLEST;

	for (t = low; t <= a->low * 1.001; t = next_tick(t))
		low = t;
	a->low = low;
	while (t < a->high)
		t = next_tick(t);
	a->high = t;
}

/* Takes the curves from a record; returns how many points they have. */
static int
gather(struct picture *p, const struct record *r)
{
	int i, k, total = 0;
	double size;
	char *end;

	memset(p, 0, sizeof *p);
	for (i = 0; i < r->nfigures; i++) {
		const struct figure *f = &r->figures[i];

		for (k = 0; k < CURVES; k++) {
			struct curve *c = &p->curve[k];
			size_t len = strlen(kinds[k].prefix);

			if (strncmp(f->key, kinds[k].prefix, len) || f->why)
				continue;
			size = decimal(f->key + len, &end);
			if (end == f->key + len || c->n == POINTS ||
			    !(size >= SMALLEST && size <= LARGEST))
				continue;
			if (*end == 'M')
				size *= 1024;
			c->x[c->n] = size;
			c->y[c->n++] = f->value;
			include(&p->x, size);
			include(&p->y[k / 2], f->value);
			total++;
		}
	}
	for (k = 0; k < FAMILIES; k++)
		if (p->y[k].high > 0)
			round_axis(&p->y[k]);
	return p->x.high > p->x.low ? total : 0;
}

/* Height of a curve over a place of the x axis, 0 to 1; -1: it has none. */
static double
height(const struct picture *p, int k, double place)
{
	const struct curve *c = &p->curve[k];
	double left, right, low, high;
	int i;

	for (i = 1; i < c->n; i++) {
		left = at(&p->x, c->x[i - 1]);
		right = at(&p->x, c->x[i]);
		if (place < left || place > right + 1e-6 || right <= left)
			continue;
		low = at(&p->y[k / 2], c->y[i - 1]);
		high = at(&p->y[k / 2], c->y[i]);
		return low + (high - low) * (place - left) / (right - left);
	}
	return -1;
}

/* A size in KB as a word. */
static const char *
size_word(char s[16], double kb)
{
	snprintf(s, 16, "%.4g%c", kb < 1024 ? kb : kb / 1024,
		kb < 1024 ? 'K' : 'M');
	return s;
}

/* --- in a terminal -------------------------------------------------------- */

enum { ROWS = 17, COLS = 64, LABEL = 6 };

/* Labels of a y axis, a row each. */
static void
labels(char label[ROWS][16], const struct axis *a)
{
	double t;

	for (t = a->low; a->high > 0 && t <= a->high * 1.001; t = next_tick(t))
		snprintf(label[(int)(at(a, t) * (ROWS - 1) + 0.5)], 16, "%g",
			t);
}

static void
text_x_axis(FILE *f, const struct picture *p)
{
	char line[COLS + 16], word[16];
	double kb;
	int i, place;

	memset(line, ' ', sizeof line);
	fprintf(f, "%*s+", LABEL, "");
	for (i = 0; i < COLS; i++)
		putc('-', f);
	fprintf(f, "+\n");
	for (kb = p->x.low; kb <= p->x.high * 1.001; kb *= 4) {
		place = (int)(at(&p->x, kb) * (COLS - 1) + 0.5);
		size_word(word, kb);
		memcpy(line + place, word, strlen(word));
	}
	for (i = sizeof line; line[i - 1] == ' '; i--)
		;
	fprintf(f, "%*s%.*s\n", LABEL + 1, "", i, line);
}

int
curve_text(FILE *f, const struct record *r)
{
	struct picture p;
	char grid[ROWS][COLS + 1], label[FAMILIES][ROWS][16] = { { "" } };
	const char *v;
	double y;
	int i, k;

	if (!gather(&p, r))
		return 0;
	memset(grid, ' ', sizeof grid);
	for (k = CURVES; k--; )
		for (i = 0; i < COLS; i++)
			if ((y = height(&p, k, (double)i / (COLS - 1))) >= 0)
				grid[(int)(y * (ROWS - 1) + 0.5)][i] =
					kinds[k].mark;
	for (k = 0; k < FAMILIES; k++)
		labels(label[k], &p.y[k]);
	fprintf(f, "%*s%*s\n", LABEL, "ns", COLS + 2 + LABEL, "MB/s");
	for (i = ROWS; i--; )
		fprintf(f, "%*s|%.*s|%*s\n", LABEL, label[0][i], COLS, grid[i],
			LABEL, label[1][i]);
	text_x_axis(f, &p);
	fprintf(f, "%*s bytes of memory that are read, again and again\n",
		LABEL, "");
	fprintf(f, "%*s l %s, L in huge pages; b %s, B in huge pages\n", LABEL,
		"", "latency", "bandwidth");
	if ((v = record_get(r, "guesses")))
		fprintf(f, "%*s levels: %s\n", LABEL, "", v);
	return 1;
}

/* --- SVG ------------------------------------------------------------------ */

/* The plot of a family: its place, in pixels. */
enum { LEFT = 80, RIGHT = 780, TOP = 50, HIGH = 220, APART = 310, TALL = 650 };

static double
px(const struct picture *p, double v)
{
	return LEFT + at(&p->x, v) * (RIGHT - LEFT);
}

static double
py(const struct picture *p, int family, double v)
{
	return TOP + APART * family + HIGH * (1 - at(&p->y[family], v));
}

static void
svg_axes(FILE *f, const struct picture *p, int family)
{
	int top = TOP + APART * family, bottom = top + HIGH;
	char word[16];
	double v;

	fprintf(f, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">Memory %s"
		"</text>\n", LEFT, top - 12, families[family]);
	for (v = p->y[family].low; v <= p->y[family].high * 1.001;
	    v = next_tick(v))
		fprintf(f, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g"
			"</text>\n", LEFT, py(p, family, v), RIGHT, LEFT - 8,
			py(p, family, v) + 5, v);
	for (v = p->x.low; v <= p->x.high * 1.001; v *= 4)
		fprintf(f, "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>"
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s"
			"</text>\n", px(p, v), top, bottom, px(p, v),
			bottom + 18, size_word(word, v));
	fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">bytes of "
		"memory that are read, again and again</text>\n",
		(LEFT + RIGHT) / 2, bottom + 38);
	fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
		"fill=\"none\" stroke=\"#444\"/>\n", LEFT, top, RIGHT - LEFT,
		HIGH);
}

static void
svg_curve(FILE *f, const struct picture *p, int k)
{
	const struct curve *c = &p->curve[k];
	/* where the curve is not: latencies rise to the right */
	int y = TOP + APART * (k / 2) + (k / 2 ? HIGH - 36 : 20) + k % 2 * 22;
	int i;

	if (!c->n)
		return;
	fprintf(f, "<polyline fill=\"none\" stroke-width=\"2\" %s points=\"",
		kinds[k].style);
	for (i = 0; i < c->n; i++)
		fprintf(f, "%.1f,%.1f ", px(p, c->x[i]), py(p, k / 2, c->y[i]));
	fprintf(f, "\"/>\n<path d=\"M%d %dh40\" stroke-width=\"2\" %s/>"
		"<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT + 16, y,
		kinds[k].style, LEFT + 64, y + 5, kinds[k].name);
}

/* Text of a record, which may be anything printable. */
static void
svg_text(FILE *f, const char *s)
{
	for (; s && *s; s++)
		if (*s == '<' || *s == '&')
			fprintf(f, "&#%d;", *s);
		else
			putc(*s, f);
}

int
curve_svg(FILE *f, const struct record *r)
{
	struct picture p;
	int k;

	if (!gather(&p, r))
		return 0;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"viewBox=\"0 0 820 %d\" width=\"820\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"14\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		TALL, TALL);
	for (k = 0; k < FAMILIES; k++)
		if (p.y[k].high > 0)
			svg_axes(f, &p, k);
	for (k = 0; k < CURVES; k++)
		svg_curve(f, &p, k);
	fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"#444\">", LEFT, TALL - 10);
	svg_text(f, record_get(r, "host"));
	fprintf(f, ", ");
	svg_text(f, record_get(r, "kernel"));
	if (record_get(r, "guesses"))
		fprintf(f, ", levels: ");
	svg_text(f, record_get(r, "guesses"));
	fprintf(f, "</text>\n</svg>\n");
	return 1;
}
