/*
 * row.h - what tests in C that run rows share.  After bench.h, which a test
 * that includes a file of rows has from there.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

/* A row run by the harness for so long; NULL or why it has no figure. */
static const char *
run_row(const struct test *t, struct result *r, double slice)
{
	struct run how = { .slice = slice, .timeout = 10, .copies = 1,
		.common = shared(COMMON) };

	if (!how.common || clock_check(&how.clock))
		return "no memory or clock";
	sigemptyset(&how.stop);
	sigaddset(&how.stop, SIGINT);
	fflush(stdout);
	run(t, r, &how);
	munmap(how.common, COMMON);
	return r->state == GOOD ? NULL : r->why;
}
