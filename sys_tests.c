/*
 * sys_tests.c - further figures of the operating system: calls, wake-ups,
 * files, virtual memory.
 */
#include "bench.h"
#include "config.h"

/* --- the table ----------------------------------------------------------- */

const struct test sys_tests[] = {
	/* key, table, title, unit, better, function, argument, rare */
	{ 0 }
};
