/*
 * results.c - from the results of rows to the figures of a record.
 *
 * A row that was run gives a figure or the reason why not, and the facts it
 * found; with copies, a figure each.  A row that is computed is a mean of
 * the figures of its parts (config.h: stones).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "config.h"

static char *
copy(const char *text)
{
	return must(strdup(text));
}

/* A figure that a test found beside its own, by part(): "=size unit". */
static void
take_part(struct record *rec, const char *of, char *name, const char *value)
{
	char key[64], *unit = strchr(name, ' '), *next;
	struct figure *f;

	if (!unit)
		return;
	*unit++ = '\0';
	snprintf(key, sizeof key, "%s_%s", of, name + 1);
	f = must(record_add(rec, key, unit));
	f->value = decimal(value, &next);
	f->low = decimal(next, &next);
	f->high = decimal(next, NULL);
}

/* The facts a test found: lines of name, tab, value. */
static void
take_facts(struct record *rec, const char *of, const char *text)
{
	char *name, *value, *end, *facts = copy(text);

	for (name = facts; (end = strchr(name, '\n')); name = end + 1) {
		*end = '\0';
		if (!(value = strchr(name, '\t')))
			break;
		*value++ = '\0';
		if (*name == '=')
			take_part(rec, of, name, value);
		else
			record_fact(rec, name, "%s", value);
	}
	free(facts);
}

/* A rate of all copies, or a time that one sees. */
static void
add_copy(struct figure *all, const struct figure *f, double part)
{
	int i;

	if (all->nrounds > f->nrounds)
		all->nrounds = f->nrounds;
	for (i = 0; i < all->nrounds; i++)
		all->rounds[i] += part * f->rounds[i];
	all->value += part * f->value;
	all->low += part * f->low;
	all->high += part * f->high;
	all->samples += f->samples;
}

/* Figures of the copies of a row, and what they are together. */
static void
take_copies(struct record *rec, const struct test *t, const struct result *r,
	int n)
{
	int i, sum = strchr(t->unit, '/') != NULL;
	struct figure all = { .nrounds = MAXROUNDS }, *f;
	char text[64];

	all.rounds = must(calloc(MAXROUNDS, sizeof *all.rounds));
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%.40s.%d", t->key, i + 1);
		f = must(record_add(rec, text, t->unit));
		if (summary(t, &r[i], f)) {
			f->why = copy("no figure");
			all.why = f->why;
		}
		add_copy(&all, f, sum ? 1 : 1.0 / n);
	}
	f = must(record_add(rec, t->key, t->unit));
	all.key = f->key;
	all.unit = f->unit;
	snprintf(text, sizeof text, "%s of %d copies", sum ? "sum" : "mean", n);
	*(all.why ? &all.why : &all.note) =
		copy(all.why ? "not all copies have a figure" : text);
	*f = all;
}

void
result_row(struct record *rec, const struct test *t, const struct result *r,
	int copies, int failed)
{
	struct figure *f;

	take_facts(rec, t->key, r->facts);
	if (!strcmp(t->unit, "text") && r->state == GOOD)
		return;
	if (copies > 1 && r->state == GOOD) {
		take_copies(rec, t, r, copies);
		return;
	}
	f = must(record_add(rec, t->key, t->unit));
	if (!summary(t, r, f)) {
		if (failed)
			f->note = copy(r->why);
		else if (*r->note)
			f->note = copy(r->note);
	} else if (r->state == UNTRIED) {
		f->why = copy("not reached");
	} else {
		f->why = copy(r->state == GOOD ? "too short: not told from "
			"the cost of measuring" : r->why);
	}
}

const char *
result_of(const char *key)
{
	size_t i;

	for (i = 0; i < LEN(stones); i++)
		if (!strcmp(stones[i].key, key))
			return stones[i].of;
	return NULL;
}

/* The parts of a mean that have a figure. */
struct parts {
	const struct figure *f[LEN(stones)];
	const struct stone *s[LEN(stones)];
	int n, wanted;          /* have a figure; should have one */
	const char *why;        /* the first that has none has none */
	int rounds;             /* that all of them have */
};

static void
find_parts(struct parts *p, const struct record *rec, const char *of)
{
	const struct figure *f;
	size_t i;

	memset(p, 0, sizeof *p);
	p->rounds = MAXROUNDS;
	for (i = 0; i < LEN(stones); i++) {
		if (strcmp(stones[i].of, of))
			continue;
		p->wanted++;
		f = record_find(rec, stones[i].key);
		if (!f || f->why) {
			if (f && !p->why)
				p->why = f->why;
			continue;
		}
		p->f[p->n] = f;
		p->s[p->n++] = &stones[i];
		if (f->nrounds < p->rounds)
			p->rounds = f->nrounds;
	}
}

/* Weighted geometric mean of rate to reference, in a round or (-1) all. */
static double
mean(const struct parts *p, int round)
{
	double v, sum = 0, weight = 0;
	int i;

	for (i = 0; i < p->n; i++) {
		v = round < 0 ? p->f[i]->value : p->f[i]->rounds[round];
		sum += p->s[i]->weight * logf((float)(v / p->s[i]->rate));
		weight += p->s[i]->weight;
	}
	return STONE * expf((float)(sum / weight));  /* 7 KB less */
}

void
result_mean(struct record *rec, const struct test *t)
{
	struct figure *f = must(record_add(rec, t->key, t->unit));
	struct parts p;
	double sorted[MAXROUNDS];
	char text[REASON];
	int i;

	find_parts(&p, rec, t->key);
	if (!p.n) {
		f->why = copy(p.why ? p.why : "no part of it was asked for");
		return;
	}
	if (p.n < p.wanted) {
		snprintf(text, sizeof text, "mean of %d of %d parts", p.n,
			p.wanted);
		f->note = copy(text);
	}
	f->value = f->low = f->high = mean(&p, -1);
	f->rounds = must(calloc((size_t)p.rounds, sizeof *f->rounds));
	for (i = 0; i < p.rounds; i++)
		sorted[i] = f->rounds[i] = mean(&p, i);
	if ((f->nrounds = p.rounds)) {
		f->low = quantile(sorted, p.rounds, 0.25);
		f->high = quantile(sorted, p.rounds, 0.75);
	}
}
