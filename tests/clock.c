/*
 * clock.c - a clock that goes wrong: linked with --wrap=clock_gettime.
 * After AFTER readings it stands still, or goes back by BACK ns each time.
 */
#include <time.h>

#ifndef BACK
#define BACK 0
#endif

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int
__wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	static struct timespec last;
	static long n;

	if (id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, t);
	if (n++ < AFTER || !last.tv_sec)
		return __real_clock_gettime(id, &last), *t = last, 0;
	last.tv_nsec -= BACK;
	if (last.tv_nsec < 0) {
		last.tv_nsec += 1000000000;
		last.tv_sec--;
	}
	*t = last;
	return 0;
}
