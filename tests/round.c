/*
 * round.c - a run whose figures lie where rounding decides: on paper it and
 * its record, read back, are the same.
 */
#include <stdlib.h>
#include <string.h>

#include "../bench.h"

const struct test os_tests[] = {
	{ "noise",  "proc", "Noise",  "us",   NULL, 0, LESS, 0 },
	{ "calm",   "proc", "Calm",   "us",   NULL, 0, LESS, 0 },
	{ "half",   "proc", "Half",   "us",   NULL, 0, LESS, 0 },
	{ "large",  "bw",   "Large",  "MB/s", NULL, 0, MORE, 0 },
	{ 0 }
};
const struct test x_tests[] = { { 0 } }, sys_tests[] = { { 0 } },
	mem_tests[] = { { 0 } };

static void
add(struct record *r, const char *key, const char *unit, double value,
	double low, double high)
{
	struct figure *f = record_add(r, key, unit);

	f->value = value;
	f->low = low;
	f->high = high;
	f->rounds = calloc(1, sizeof *f->rounds);
	if (!f->rounds)
		exit(1);
	f->rounds[0] = value;
	f->nrounds = 1;
}

int
main(int argc, char *argv[])
{
	struct record r = { 0 }, again;
	struct input in = { .name = "round" };

	if (argc != 2 || !(in.f = fopen(argv[1], "w+")))
		return 1;
	record_fact(&r, "kernel", "Linux");
	add(&r, "noise", "us", 100, 94.9996, 105.0001);
	add(&r, "calm", "us", 99.99951, 95.0004, 105.0003);
	add(&r, "half", "us", 1.2349999, 1.2, 1.25);
	add(&r, "large", "MB/s", 1234499.9996, 1234000, 1235000);
	record_round(&r);
	if (record_write(&r, in.f))
		return 1;
	rewind(in.f);
	if (!record_read(&in, &again) || in.faults)
		return 1;
	report(stdout, &r, 1);
	report(stderr, &again, 1);
	return 0;
}
