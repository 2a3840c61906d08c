/*
 * clock.c - a clock that goes wrong: clock_gettime is WRONG by the linker's
 * --wrap, and what it was is RIGHT.  After AFTER readings it stands still, or
 * goes back by BACK ns each time.
 */
#include <time.h>

#ifndef BACK
#define BACK 0
#endif

int RIGHT(clockid_t id, struct timespec *t);
int WRONG(clockid_t id, struct timespec *t);

int
WRONG(clockid_t id, struct timespec *t)
{
	static struct timespec last;
	static long n;

	if (id != CLOCK_MONOTONIC)
		return RIGHT(id, t);
	if (n++ < AFTER || !last.tv_sec)
		return RIGHT(id, &last), *t = last, 0;
	last.tv_nsec -= BACK;
	if (last.tv_nsec < 0) {
		last.tv_nsec += 1000000000;
		last.tv_sec--;
	}
	*t = last;
	return 0;
}
