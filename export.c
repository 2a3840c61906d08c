/*
 * export.c - records and comparisons for other programs: tab separated,
 * JSON lines, Prometheus text, a picture.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Text in double quotes, as JSON and Prometheus have it alike. */
static void
quoted(FILE *f, const char *before, const char *s)
{
	fprintf(f, "%s\"", before);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		putc(*s, f);
	}
	putc('"', f);
}

static void
number(FILE *f, const char *before, double v, int digits)
{
	char s[64];

	record_number(s, sizeof s, v, digits);
	fprintf(f, "%s%s", before, s);
}

static const char *const names[] = { "host", "label", "kernel", "date" };

/* --- records -------------------------------------------------------------- */

static void
tsv(FILE *f, const struct record *r, const struct figure *g)
{
	for (size_t i = 0; i < LEN(names); i++)
		fprintf(f, "%s\t", record_text(r, names[i]));
	if (g->why) {                   /* a record has no unit of it */
		fprintf(f, "%s\t\t\t\t\t\t%s\n", g->key, g->why);
		return;
	}
	fprintf(f, "%s\t%s\t", g->key, g->unit);
	number(f, "", g->value, g->digits);
	number(f, "\t", g->low, 0);
	number(f, "\t", g->high, 0);
	for (int i = 0; i < g->nrounds; i++)
		number(f, i ? "," : "\t", g->rounds[i], 0);
	fputs(g->nrounds ? "\t\n" : "\t\t\n", f);
}

static void
json(FILE *f, const struct record *r, const struct figure *g)
{
	for (size_t i = 0; i < LEN(names); i++) {
		fprintf(f, "%c\"%s", i ? ',' : '{', names[i]);
		quoted(f, "\":", record_text(r, names[i]));
	}
	quoted(f, ",\"key\":", g->key);
	if (g->why) {
		quoted(f, ",\"none\":", g->why);
		fputs("}\n", f);
		return;
	}
	quoted(f, ",\"unit\":", g->unit);
	number(f, ",\"value\":", g->value, g->digits);
	number(f, ",\"low\":", g->low, 0);
	number(f, ",\"high\":", g->high, 0);
	fputs(",\"rounds\":[", f);
	for (int i = 0; i < g->nrounds; i++)
		number(f, i ? "," : "", g->rounds[i], 0);
	fputs("]}\n", f);
}

static void
prom(FILE *f, const struct record *r, const struct figure *g, int run)
{
	if (g->why)
		return;
	fputs("bench_figure{", f);
	for (size_t i = 0; i < 3; i++) {
		fputs(names[i], f);
		quoted(f, "=", record_text(r, names[i]));
		putc(',', f);
	}
	fprintf(f, "run=\"%d\"", run + 1);
	quoted(f, ",key=", g->key);
	quoted(f, ",unit=", g->unit);
	number(f, "} ", g->value, g->digits);
	putc('\n', f);
}

void
export_records(FILE *f, int format, const struct record *r, int n)
{
	if (format == 't')
		fputs("host\tlabel\tkernel\tdate\tkey\tunit\tvalue\tlow\thigh"
		    "\trounds\tnone\n", f);
	if (format == 'p')
		fputs("# HELP bench_figure Figure of bench, in its unit.\n"
		    "# TYPE bench_figure gauge\n", f);
	for (int i = 0; i < n; i++) {
		if (format == 'r') {
			record_write(&r[i], f);         /* main() looks at f */
			continue;
		}
		for (int k = 0; k < r[i].nfigures; k++) {
			const struct figure *g = &r[i].figures[k];

			if (format == 't')
				tsv(f, &r[i], g);
			else if (format == 'j')
				json(f, &r[i], g);
			else
				prom(f, &r[i], g, i);
		}
	}
}

/* --- comparisons ---------------------------------------------------------- */

static const char *const verdicts[] = { "unsure", "same", "better", "worse" };

void
export_changes(FILE *f, int format, const struct comparison *c)
{
	static const char *const forms[] = {
		"%s\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%s\n",
		"{\"key\":\"%s\",\"unit\":\"%s\",\"old\":%s,\"new\":%s,"
		    "\"change\":%.2f,\"low\":%.2f,\"high\":%.2f,"
		    "\"verdict\":\"%s\"}\n",
	};
	char old[64], new[64];

	if (format == 't')
		fputs("key\tunit\told\tnew\tchange\tlow\thigh\tverdict\n", f);
	if (format == 'p')
		fputs("# HELP bench_change Change of a figure in percent, + is "
		    "better.\n# TYPE bench_change gauge\n", f);
	for (int i = 0; i < c->n; i++) {
		const struct change *g = &c->change[i];
		const struct test *t = g->test;

		if (g->why)
			continue;
		record_number(old, sizeof old, g->old->value, g->old->digits);
		record_number(new, sizeof new, g->new->value, g->new->digits);
		if (format == 'p')
			fprintf(f, "bench_change{key=\"%s\",verdict=\"%s\"} "
			    "%.2f\n", t->key, verdicts[g->verdict], g->percent);
		else
			fprintf(f, forms[format == 'j'], t->key, t->unit, old,
			    new, g->percent, g->low, g->high,
			    verdicts[g->verdict]);
	}
}

/* --- the picture ---------------------------------------------------------- */

enum {                          /* pixels */
	LINE = 16, LEFT = 130, RIGHT = 70, WIDE = 720, HEAD = 88, FOOT = 40
};

static int
by_percent(const void *a, const void *b)
{
	const struct change *x = *(const struct change *const *)a;
	const struct change *y = *(const struct change *const *)b;

	return (x->percent > y->percent) - (x->percent < y->percent);
}

/* Text as XML has it. */
static void
text(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (strchr("<>&\"", *s))
			fprintf(f, "&#%d;", *s);
		else
			putc(*s, f);
	}
}

/* Where a change stands, which is at the edge if it is beyond. */
static double
across(double percent, double most)
{
	double x = fmin(fmax(percent / most, -1), 1);

	return LEFT + (WIDE - LEFT - RIGHT) * (x + 1) / 2;
}

/* Lines at round percentages, few enough to be read. */
static void
grid(FILE *f, double most, int bottom)
{
	double step = 1;

	for (int i = 0; most / step > 5; i++)
		step *= i % 3 == 1 ? 2.5 : 2;
	for (double v = -step * floor(most / step); v <= most; v += step) {
		double x = across(v, most);

		fprintf(f, "<path d=\"M%.1f %dV%d\" stroke=\"%s\"/>\n", x,
		    HEAD - 8, bottom, v < 0 || v > 0 ? "#ddd" : "#000");
		for (int k = 0; k < 2; k++)     /* above and below */
			fprintf(f, "<text x=\"%.1f\" y=\"%d\" "
			    "text-anchor=\"middle\">%g%%</text>\n", x,
			    k ? bottom + 14 : HEAD - 12, v);
	}
}

static void
dot(FILE *f, const struct change *g, double most, double y)
{
	static const char *const colours[] = { "#888", "#888", "#06a", "#b00" };
	const char *colour = colours[g->verdict];
	double x = across(g->percent, most);

	fprintf(f, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
	    LEFT - 10, y + 4, g->test->key);
	if (!g->single)
		fprintf(f, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"%s\" "
		    "stroke-width=\"2\"/>", across(g->low, most), y,
		    across(g->high, most), colour);
	fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" stroke=\"%s\" "
	    "fill=\"%s\"/>", x, y, colour,
	    g->verdict >= BETTER ? colour : "#fff");
	fprintf(f, "<text x=\"%d\" y=\"%.1f\">%s%+.1f%%%s</text>\n",
	    WIDE - RIGHT + 10, y + 4, g->single ? "(" : "", g->percent,
	    g->single ? ")" : "");
}

/* The sides of it, and which way is which. */
static void
caption(FILE *f, const struct comparison *c)
{
	for (int i = 0; i < 2; i++) {   /* a line each, as names may be long */
		const struct record *r = &c->side[i];

		fprintf(f, "<text x=\"10\" y=\"%d\" font-size=\"14\">%s: ",
		    18 + 18 * i, i ? "new" : "old");
		text(f, record_text(r, "host"));
		putc(' ', f);
		text(f, record_name(r, 0));
		fputs("</text>\n", f);
	}
	fprintf(f, "<text x=\"%d\" y=\"58\">&#8592; worse</text>"
	    "<text x=\"%d\" y=\"58\" text-anchor=\"end\">better &#8594;"
	    "</text>\n", LEFT, WIDE - RIGHT);
}

void
export_picture(FILE *f, const struct comparison *c)
{
	const struct change **g = calloc((size_t)c->n + 1, sizeof *g);
	double most = 10;
	int n = 0, bottom;

	for (int i = 0; g && i < c->n; i++)
		if (c->change[i].cell && !c->change[i].why)
			g[n++] = &c->change[i];
	for (int i = 0; i < n; i++)
		most = fmax(most, fmin(fabs(g[i]->percent) * 1.1, 100));
	qsort(g, (size_t)n, sizeof *g, by_percent);
	bottom = HEAD + n * LINE;
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
	    "height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
	    "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" "
	    "fill=\"#fff\"/>\n", WIDE, bottom + FOOT, WIDE, bottom + FOOT);
	caption(f, c);
	grid(f, most, bottom);
	for (int i = 0; i < n; i++)
		dot(f, g[i], most, HEAD + i * LINE + LINE / 2.0 - 4);
	fprintf(f, "<text x=\"10\" y=\"%d\">Filled: real. Hollow: none, or not "
	    "to be told. Bar: where the change lies.</text>\n</svg>\n",
	    bottom + FOOT - 8);
	free(g);
}
