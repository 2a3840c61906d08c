/*
 * harness.c - runs a row in a child and makes its samples a figure.
 *
 * The child loops over sample(), which alone reads the clock; the parent
 * waits, kills what does not end, and sums up.  Both see struct result.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

/* --- the clock ----------------------------------------------------------- */

double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int
clock_check(struct clock *c)
{
	enum { READS = 1000, PATIENCE = 1000000 };
	double t, last, cost;
	int i, k;

	c->cost = c->tick = 1;
	for (k = 0; k < 5; k++) {
		last = seconds();
		for (i = 0; i < PATIENCE && (t = seconds()) == last; i++)
			;
		if (t <= last)
			return -1;
		if (t - last < c->tick)
			c->tick = t - last;
		last = t;
		for (i = 0; i < READS; i++)
			t = seconds();
		cost = (t - last) / READS;
		if (cost < c->cost)
			c->cost = cost;
	}
	return 0;
}

/* --- statistics ---------------------------------------------------------- */

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
quantile(double *v, int n, double q)
{
	double at = q * (n - 1);
	int i = (int)at;

	qsort(v, (size_t)n, sizeof *v, ascending);
	return i + 1 < n ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[n - 1];
}

/* Seconds an operation as a figure in the unit of the row. */
static double
convert(const struct test *t, double time, double work)
{
	static const struct {
		const char *unit;
		double scale;
		int rate;
	} units[] = {
		{ "us",   1e6,  0 },
		{ "ns",   1e9,  0 },
		{ "MB/s", 1e-6, 1 },
		{ "MHz",  1e-6, 1 },
	};
	size_t i;

	for (i = 0; i < LEN(units); i++)
		if (!strcmp(units[i].unit, t->unit))
			return units[i].scale *
				(units[i].rate ? work / time : time / work);
	return work / time;
}

int
summary(const struct test *t, const struct result *r, struct figure *f)
{
	double *v, low, mid, high;
	int i, from, n = r->samples;

	if (!n || !(v = malloc((size_t)n * sizeof *v)))
		return -1;
	memcpy(v, r->v, (size_t)n * sizeof *v);
	low = quantile(v, n, 0.25);
	mid = quantile(v, n, 0.5);
	high = quantile(v, n, 0.75);
	free(v);
	if (low <= 0 || !(f->rounds = calloc((size_t)r->rounds, sizeof *v)))
		return -1;
	f->value = convert(t, mid, r->work);
	f->low = convert(t, t->better == MORE ? high : low, r->work);
	f->high = convert(t, t->better == MORE ? low : high, r->work);
	f->samples = n;
	for (i = 0; i < r->rounds; i++) {
		from = i ? r->end[i - 1] : 0;
		mid = quantile(r->v + from, r->end[i] - from, 0.5);
		if (mid > 0)
			f->rounds[f->nrounds++] = convert(t, mid, r->work);
	}
	return 0;
}

/* --- sampling, in the child ---------------------------------------------- */

/* Next batch of a loop that may take slice seconds; 0 when it is over. */
static int
next(struct bench *b, double slice)
{
	enum { LEAST = 3, FACTOR = 10 };
	const struct clock *c = &b->how->clock;
	double now = seconds(), took = now - b->began, batch = BATCH;

	if (batch < 100 * (c->cost + c->tick))
		batch = 100 * (c->cost + c->tick);
	if (b->until <= 0) {
		b->until = now + slice;
	} else if (!b->warm) {
		if (took >= batch)
			b->warm = 1;
		else if (took * FACTOR < batch)
			b->n *= FACTOR;
		else
			b->n = (long)(b->n * 1.3 * batch / took) + 1;
	} else {
		b->v[b->kept++] = (took - c->cost - b->lead) / b->n - b->less;
	}
	if (b->kept == MAXSAMPLES || (now > b->until && b->kept >= LEAST) ||
	    (now > b->until + b->how->timeout / 2 && b->kept))
		return 0;
	b->began = seconds();
	return 1;
}

int
sample(struct bench *b)
{
	return next(b, b->how->slice);
}

int
preliminary(struct bench *b, double *cost)
{
	if (next(b, b->how->slice / 4))
		return 1;
	*cost = quantile(b->v, b->kept, 0.5);
	b->n = b->result->n ? b->result->n : 1;
	b->until = 0;
	b->warm = b->kept = 0;
	return 0;
}

pid_t
peer(struct bench *b)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		fail(b, "fork:");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

/* Pins to the last CPU that is allowed: the first has the interrupts. */
static void
pin(struct bench *b)
{
	enum { BITS = 8 * sizeof (long) };
	unsigned long *one;
	size_t i;
	long n;

	n = syscall(SYS_sched_getaffinity, 0, sizeof b->cpus, b->cpus);
	if (n <= 0) {
		note(b, "not pinned: sched_getaffinity:");
		return;
	}
	b->cpubytes = (size_t)n;
	for (i = b->cpubytes * 8; i-- && !(b->cpus[i / BITS] >> i % BITS & 1); )
		;
	if (!(one = calloc(1, b->cpubytes)))
		fail(b, "malloc:");
	one[i / BITS] = 1UL << i % BITS;
	if (syscall(SYS_sched_setaffinity, 0, b->cpubytes, one))
		note(b, "not pinned: sched_setaffinity:");
	free(one);
}

void
unpin(struct bench *b)
{
	if (b->cpubytes)
		syscall(SYS_sched_setaffinity, 0, b->cpubytes, b->cpus);
}

/* --- what a test has to say ---------------------------------------------- */

/* Formats into REASON bytes; a colon at the end calls for the errno text. */
static void
reason(char *to, const char *fmt, va_list ap, int err)
{
	size_t n;

	vsnprintf(to, REASON, fmt, ap);
	n = strlen(to);
	if (n && to[n - 1] == ':')
		snprintf(to + n, REASON - n, " %s", strerror(err));
}

/* The first of a row's processes to stop it has the word, and ends all. */
static _Noreturn void
halt(struct bench *b, enum state s, const char *fmt, va_list ap, int err)
{
	struct result *r = b->result;
	int n;

	if (r->state == UNTRIED) {
		r->state = s;
		reason(r->why, fmt, ap, err);
		n = (int)strlen(r->why);
		if (*r->doing) {
			r->gone = 1;
			snprintf(r->why + n, REASON - (size_t)n, " (%s)",
				r->doing);
		}
	}
	if (getpid() != b->leader)
		kill(b->leader, SIGKILL);
	_exit(1);
}

/* Does errno tell of what is missing, forbidden or used up here? */
static int
nothere(int err)
{
	static const int errs[] = {
		ENOSYS, EPERM, EACCES, ENOENT, ENODEV, ENXIO, EROFS, ENOTDIR,
		ENOMEM, EMFILE, ENFILE, ENOSPC, EAFNOSUPPORT, EPROTONOSUPPORT,
		EOPNOTSUPP, EADDRNOTAVAIL, ENETUNREACH, ENETDOWN,
	};
	size_t i;

	for (i = 0; i < LEN(errs); i++)
		if (errs[i] == err)
			return 1;
	return 0;
}

void
fail(struct bench *b, const char *fmt, ...)
{
	int err = errno;
	size_t n = strlen(fmt);
	va_list ap;

	va_start(ap, fmt);
	halt(b, n && fmt[n - 1] == ':' && nothere(err) ? NOT_HERE : FAILED,
		fmt, ap, err);
}

void
skip(struct bench *b, const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	halt(b, NOT_HERE, fmt, ap, err);
}

void
stage(struct bench *b, const char *doing)
{
	snprintf(b->result->doing, REASON, "%s", doing ? doing : "");
}

void
note(struct bench *b, const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	reason(b->result->note, fmt, ap, err);
	va_end(ap);
}

void
fact(struct bench *b, const char *name, const char *fmt, ...)
{
	char value[REASON], *to = b->result->facts;
	size_t n = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	snprintf(to + n, FACTS - n, "%s\t%s\n", name, value);
}

/* --- a round of a row ---------------------------------------------------- */

void *
shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct result *
results(int n)
{
	enum { V = MAXROUNDS * MAXSAMPLES };
	size_t each = sizeof (struct result) + V * sizeof (double) +
		MAXROUNDS * sizeof (int);
	struct result *r = shared((size_t)n * each);
	double *v = r ? (double *)(r + n) : NULL;
	int i, *end = r ? (int *)(v + (size_t)n * V) : NULL;

	for (i = 0; r && i < n; i++) {
		r[i].v = v + (size_t)i * V;
		r[i].end = end + (size_t)i * MAXROUNDS;
	}
	return r;
}

/* Where memory runs out, the row is to go, not the run or a stranger. */
static void
expendable(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	write(fd, "1000", 4);           /* if it cannot be, it cannot be */
	close(fd);
}

static _Noreturn void
child(const struct test *t, struct result *r, const struct run *how,
	pid_t parent)
{
	static const int caught[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct rlimit none = { 0, 0 };
	struct bench b = {
		.n = r->n ? r->n : 1, .arg = t->arg, .work = 1,
		.common = how->common, .test = t, .result = r, .how = how,
		.leader = getpid(), .v = r->v + r->samples,
	};
	sigset_t empty;
	size_t i;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prlimit(0, RLIMIT_CORE, &none, NULL);
	expendable();
	for (i = 0; i < LEN(caught); i++)
		signal(caught[i], SIG_DFL);
	signal(SIGPIPE, SIG_IGN);       /* EPIPE has a reason to show */
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	pin(&b);
	t->run(&b);
	if (!b.kept && strcmp(t->unit, "text"))
		fail(&b, "no sample");
	r->n = b.n;
	r->work = b.work;
	if (b.kept) {
		r->samples += b.kept;
		r->end[r->rounds++] = r->samples;
	}
	r->state = GOOD;
	_exit(0);
}

/* The row that was stopped from outside gets its reason. */
static void
blame(struct result *r, const char *fmt, ...)
{
	size_t n;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->why, REASON, fmt, ap);
	va_end(ap);
	r->state = FAILED;
	n = strlen(r->why);
	if (*r->doing) {
		r->gone = 1;
		snprintf(r->why + n, REASON - n, " (%s)", r->doing);
	}
}

/*
 * Waits until the child has ended, at most how->timeout seconds, and leaves
 * it to be reaped: its number stays taken.  Returns a signal that is to end
 * the run, or 0.
 */
static int
await(pid_t pid, const struct run *how)
{
	double left, until = seconds() + how->timeout;
	struct timespec t;
	siginfo_t info = { 0 };
	sigset_t set = how->stop;
	int sig;

	sigaddset(&set, SIGCHLD);
	while (!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	    !info.si_pid && (left = until - seconds()) > 0) {
		t.tv_sec = (time_t)left;
		t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
		sig = sigtimedwait(&set, NULL, &t);
		if (sig > 0 && sig != SIGCHLD)
			return sig;
	}
	return 0;
}

int
run(const struct test *t, struct result *r, const struct run *how)
{
	pid_t pid, parent = getpid();
	double began = seconds();
	int sig, late, status = 0;

	r->state = UNTRIED;
	*r->doing = *r->why = *r->facts = '\0';
	if ((pid = fork()) < 0) {
		r->state = NOT_HERE;
		snprintf(r->why, REASON, "fork: %s", strerror(errno));
		return 0;
	}
	if (!pid)
		child(t, r, how, parent);
	setpgid(pid, pid);              /* whoever is first */
	sig = await(pid, how);
	late = !sig && seconds() > began + how->timeout;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	while (waitpid(-pid, NULL, 0) > 0)
		;                       /* its orphans are ours: subreaper */
	if (r->state != UNTRIED || sig)
		return sig;
	if (late)
		blame(r, "timed out after %g s", how->timeout);
	else if (WIFSIGNALED(status))
		blame(r, "killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		blame(r, "ended with status %d", WEXITSTATUS(status));
	return 0;
}
