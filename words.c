/*
 * words.c - what a comparison found, in words: facts that differ, sentences,
 * a line a figure.
 */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "config.h"

enum { TEXT = 4096 };           /* bytes of a sentence */

/* --- facts ---------------------------------------------------------------- */

/* Facts of the moment, which differ from run to run and explain nothing. */
static int
momentary(const char *name)
{
	static const char *const names[] = { "date", "label", "seconds",
		"mem_available", "clock_ns", "guesses", "disturbed" };

	for (size_t i = 0; i < LEN(names); i++)
		if (!strcmp(names[i], name))
			return 1;
	return !strncmp(name, "round", 5) || !strncmp(name, "x_cpu_", 6);
}

/* Did others have a part of the CPUs that disturbs? */
static int
stolen(const char *steal)
{
	char *end;

	return steal && decimal(steal, &end) >= 100 * STEAL;
}

static void
fact_line(FILE *f, const struct comparison *c, const char *name, int *any)
{
	const char *a = record_get(&c->side[0], name);
	const char *b = record_get(&c->side[1], name);

	if (momentary(name) || (a && b && !strcmp(a, b)))
		return;
	if (!strcmp(name, "steal") && !stolen(a) && !stolen(b))
		return;
	if (!(*any)++)
		report_text(f, 0, "The facts differ:");
	report_text(f, 4, "  %s: %s -> %s", name, a ? a : "(not told)",
	    b ? b : "(not told)");
}

void
compare_facts(FILE *f, const struct comparison *c)
{
	const struct record *old = &c->side[0], *new = &c->side[1];
	int any = 0;

	for (int i = 0; i < old->nfacts; i++)
		fact_line(f, c, old->facts[i].name, &any);
	for (int i = 0; i < new->nfacts; i++)
		if (!record_get(old, new->facts[i].name))
			fact_line(f, c, new->facts[i].name, &any);
}

/* --- sentences ------------------------------------------------------------ */

static void
join_percent(char *text, double v)
{
	join(text, TEXT, v > -9.95 && v < 9.95 ? "%+.1f%%" : "%+.0f%%", v);
}

/* The mean of a table's cells is no cell of its own in a count. */
static int
counts(const struct change *g)
{
	return g->cell && !g->why && strcmp(g->test->key, "xstones");
}

/*
 * In the cells of a table, or of all but x: how many have that verdict.  One
 * value is sure of what it can tell.
 */
static int
tally(const struct comparison *c, const char *table, enum verdict v,
    double *least, double *most)
{
	int n = 0;

	for (int i = 0; i < c->n; i++) {
		const struct change *g = &c->change[i];

		if (!counts(g) || v != (g->verdict || !g->single ?
		    g->verdict : SAME) ||
		    (table ? strcmp(g->test->table, table) :
		    !strcmp(g->test->table, "x")))
			continue;
		if (!n || fabs(g->percent) < fabs(*least))
			*least = g->percent;
		if (!n || fabs(g->percent) > fabs(*most))
			*most = g->percent;
		n++;
	}
	return n;
}

/* "X drawing: 5 of 6 categories slower, -38% to -49%, 1 faster, +22%" */
static void
table_words(char *text, const struct comparison *c, const char *table)
{
	static const char *const words[] = { "worse", "better",
		"slower", "faster" };
	int x = table && !strcmp(table, "x"), all, n, moved = 0, unsure;
	double least = 0, most = 0;

	all = unsure = tally(c, table, UNSURE, &least, &most);
	for (int v = SAME; v <= WORSE; v++)
		all += tally(c, table, v, &least, &most);
	if (!all)
		return;
	join(text, TEXT, "%s%s: ", *text ? "; " : "", x ? "X drawing" :
	    table ? report_brief(table) : "OS");
	for (int v = WORSE; v >= BETTER; v--) {
		if (!(n = tally(c, table, v, &least, &most)))
			continue;
		join(text, TEXT, moved++ ? ", %d" : "%d", n);
		if (moved == 1)
			join(text, TEXT, " of %d%s", all,
			    x ? " categories" : "");
		join(text, TEXT, " %s, ", words[2 * x + (v == BETTER)]);
		join_percent(text, least);
		if (n > 1) {
			join(text, TEXT, " to ");
			join_percent(text, most);
		}
	}
	if (!moved)
		join(text, TEXT, all > unsure ? "nothing moved" : "cannot tell");
}

/* A sentence on where changes lie. */
static void
where(FILE *f, const struct comparison *c)
{
	char text[TEXT] = "";
	double least, most;
	const char *name;

	table_words(text, c, "x");
	if (!tally(c, NULL, BETTER, &least, &most) &&
	    !tally(c, NULL, WORSE, &least, &most))
		table_words(text, c, NULL);
	else for (int i = 0; (name = report_table(i)); i++)
		if (strcmp(name, "x"))
			table_words(text, c, name);
	if (*text)
		report_text(f, 0, "%s.", text);
}

/* A sentence that lists the keys of a verdict. */
static void
list(FILE *f, const struct comparison *c, const char *head, enum verdict v)
{
	char text[TEXT] = "";
	int n = 0;

	for (int i = 0; i < c->n; i++) {
		const struct change *g = &c->change[i];

		if (!g->cell || g->why || g->verdict != v)
			continue;
		join(text, TEXT, "%s%s ", n++ ? ", " : "", g->test->key);
		if (v >= BETTER)
			join_percent(text, g->percent);
		else
			text[strlen(text) - 1] = '\0';
	}
	if (n)
		report_text(f, 0, "%s: %s.", head, text);
}

/* A sentence on what did not move, and how well that is known. */
static void
unmoved(FILE *f, const struct comparison *c)
{
	int same = 0, single = 0, unsure = 0;

	for (int i = 0; i < c->n; i++) {
		const struct change *g = &c->change[i];

		if (!counts(g))
			continue;
		same += g->verdict == SAME;
		single += g->verdict == UNSURE && g->single;
		unsure += g->verdict == UNSURE && !g->single;
	}
	if (same)
		report_text(f, 0, "Not moved (=): %d figure%s.", same,
		    same == 1 ? "" : "s");
	if (single)
		report_text(f, 0, "Not moved beyond what one value can tell "
		    "(?): %d figure%s; there a change, (in brackets), counts "
		    "above %d%%.", single, single == 1 ? "" : "s", SINGLE);
	if (unsure)
		report_text(f, 0, "Cannot tell (?): %d figure%s spread too "
		    "far; more runs tell more (-r, -C).", unsure,
		    unsure == 1 ? "" : "s");
	if (fabs(c->pace) > 0.005)
		report_text(f, 0, "All figures together ran %.1f%% %s (the "
		    "clock?): taken off each change.",
		    fabs(100 * (double)expf((float)c->pace) - 100),
		    c->pace > 0 ? "faster" : "slower");
	if (c->drift >= DRIFT)
		report_text(f, 0, "The sides differ all over by more than "
		    "their rounds do; more runs (-r, -C) tell drift from "
		    "news.");
}

/* What is not compared, a sentence a reason. */
static void
left_out(FILE *f, const struct comparison *c)
{
	for (int i = 0; i < c->n; i++) {
		const char *why = c->change[i].why;
		char text[TEXT] = "";
		int n = 0, first = 1;

		for (int j = 0; why && c->change[i].cell && j < c->n; j++) {
			const struct change *g = &c->change[j];

			if (!g->cell || !g->why || strcmp(g->why, why))
				continue;
			if (j < i)
				first = 0;
			join(text, TEXT, n++ ? " %s" : "%s", g->test->key);
		}
		if (n && first)
			report_text(f, 0, "Not compared, %s: %s.", why, text);
	}
}

/* Is that a row's key, or that of a part of it: KEY_part, KEY.copy? */
static int
known(const char *key)
{
	for (const struct test *t = NULL; (t = next_test(t)); ) {
		size_t n = strlen(t->key);

		if (!strncmp(key, t->key, n) && strchr("_.", key[n]))
			return 1;       /* or it ends there */
	}
	return 0;
}

/* Figures that are not known here are not known to be better or worse. */
static int
unknown(const struct comparison *c)
{
	int n = 0;

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < c->side[i].nfigures; j++)
			n += !known(c->side[i].figures[j].key);
	return n;
}

void
compare_words(FILE *f, const struct comparison *c)
{
	int n = unknown(c);

	putc('\n', f);
	where(f, c);
	list(f, c, "Worse", WORSE);
	list(f, c, "Better", BETTER);
	unmoved(f, c);
	left_out(f, c);
	if (n)
		report_text(f, 0, "Not compared, unknown here: %d figure%s.",
		    n, n == 1 ? "" : "s");
}

/* --- figures ------------------------------------------------------------- */

void
compare_figures(FILE *f, const struct comparison *c)
{
	static const char *const words[] = { "?", "=", "better", "worse" };

	fprintf(f, "\n%-16s %12s %12s %-6s %8s %18s\n", "key", "old", "new",
	    "unit", "change %", "between");
	for (int i = 0; i < c->n; i++) {
		const struct change *g = &c->change[i];
		char old[64], new[64], range[64] = "";

		if (g->why)
			continue;
		record_number(old, sizeof old, g->old->value, g->old->digits);
		record_number(new, sizeof new, g->new->value, g->new->digits);
		if (!g->single)
			snprintf(range, sizeof range, "%+.1f %+.1f", g->low,
			    g->high);
		fprintf(f, "%-16s %12s %12s %-6s %+8.1f %18s %s\n",
		    g->test->key, old, new, g->test->unit, g->percent, range,
		    words[g->verdict]);
	}
}
