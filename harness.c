/*
 * harness.c - runs a row in a child and makes its samples a figure.
 *
 * The child loops over sample(), which alone reads the clock; the parent
 * waits, kills what does not end, and sums up.  Both see struct result.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
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

/* --- which tests there are ----------------------------------------------- */

const struct test *
next_test(const struct test *t)
{
	static const struct test *const suites[] = { x_tests, os_tests,
		sys_tests, mem_tests };

	for (size_t i = 0; i < LEN(suites); i++) {
		for (const struct test *s = suites[i]; s->key; s++) {
			if (!t)
				return s;
			if (s == t)
				t = NULL;
		}
	}
	return NULL;
}

/* --- the clock ----------------------------------------------------------- */

double
seconds(void)
{
	struct timespec t = { 0 };      /* without a clock, it stands still */

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

/* Makes a batch that was too short longer: up to ten times at once. */
static void
grow(struct bench *b, double took, double batch)
{
	enum { FACTOR = 10 };

	if (b->n > LONG_MAX / FACTOR)
		fail(b, "%ld operations in no time: the clock stands", b->n);
	if (took * FACTOR < batch)
		b->n *= FACTOR;
	else
		b->n = (long)(b->n * 1.3 * batch / took) + 1;
}

/* Copies of a row begin a loop at once, or without those that do not come. */
static void
meet(struct bench *b)
{
	volatile int *met = &(b->result - b->copy)->met;
	int all = b->how->copies * ++b->met;
	double until = seconds() + 1;

	if (b->how->copies < 2)
		return;
	__atomic_add_fetch(met, 1, __ATOMIC_SEQ_CST);
	while (*met < all && seconds() < until)
		;
}

/*
 * Next batch of a loop that may take slice seconds; 0 when it is over.  A
 * batch that seemed long enough because something held it up is found out
 * by those after it.
 */
static int
next(struct bench *b, double slice)
{
	enum { LEAST = 3 };
	const struct clock *c = &b->how->clock;
	double now = seconds(), took = now - b->began - b->lead, batch = BATCH;

	/*
	 * What is taken off is not quite what a batch has: make it small, but
	 * not at the price of a time-out where others at work made it long.
	 */
	batch = fmax(batch, 100 * (c->cost + c->tick));
	batch = fmax(batch, fmin(50 * b->lead, b->how->timeout / 20));
	/* copies that share a CPU have many turns on it in each */
	if (b->how->copies > 1 && b->how->copies > cpu_count(b))
		batch = fmax(batch, 50 * BATCH);
	if (b->until <= 0) {
		meet(b);
		b->until = seconds() + slice;
	} else if (took < (b->warm ? batch / 2 : batch)) {
		grow(b, took, batch);
	} else if (!b->warm) {
		b->warm = 1;
	} else {
		b->v[b->kept++] = (took - c->cost) / b->n - b->less;
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

void
tie(pid_t parent, int sig)
{
	pid_t now;

	prctl(PR_SET_PDEATHSIG, sig);
	now = getppid();
	if (now > 0 && parent > 0 && now != parent)
		_exit(1);
}

void
leave_out(struct bench *b, double since)
{
	b->began += seconds() - since;
}

pid_t
peer(struct bench *b)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		fail(b, "fork:");
	if (!pid)
		tie(parent, SIGKILL);
	return pid;
}

enum { BITS = 8 * sizeof (long) };

int
cpu_count(const struct bench *b)
{
	size_t i;
	int n = 0;

	for (i = 0; i < b->cpubytes * 8; i++)
		n += b->cpus[i / BITS] >> i % BITS & 1;
	return n;
}

static int
has_cpu(const unsigned long *cpus, long i)
{
	return cpus[i / BITS] >> i % BITS & 1;
}

/* The nth CPU from the last that is allowed on, the fastest first, or -1. */
static long
nth_cpu(const struct bench *b, int nth)
{
	int slow;
	long i;

	for (slow = 0; slow < 2; slow++)
		for (i = (long)b->cpubytes * 8; i--; )
			if (has_cpu(b->cpus, i) &&
			    has_cpu(b->how->fast, i) != slow && nth-- == 0)
				return i;
	return -1;
}

int
pin(struct bench *b, int nth)
{
	unsigned long one[CPUWORDS] = { 0 };
	long i = nth_cpu(b, nth);

	if (i < 0) {
		errno = ENODEV;
		return -1;
	}
	one[i / BITS] = 1UL << i % BITS;
	return (int)syscall(SYS_sched_setaffinity, 0, b->cpubytes, one);
}

/* Learns what is allowed, and pins to the last. */
static void
settle(struct bench *b)
{
	long n = syscall(SYS_sched_getaffinity, 0, sizeof b->cpus, b->cpus);

	if (n <= 0) {
		note(b, "not pinned: sched_getaffinity:");
		return;
	}
	b->cpubytes = (size_t)n;
	if (pin(b, b->copy % cpu_count(b)))
		note(b, "not pinned: sched_setaffinity:");
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
		ENOMEM, EAGAIN, EMFILE, ENFILE, ENOSPC, EAFNOSUPPORT,
		EPROTONOSUPPORT, EOPNOTSUPP, EADDRNOTAVAIL, ENETUNREACH,
		ENETDOWN,
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

void
part(struct bench *b, const char *name, struct seen *s, double v)
{
	double seen[SEEN];
	int n;

	if (v > 0)
		s->v[s->n++ % SEEN] = (float)v;
	for (n = 0; n < SEEN && n < s->n; n++)
		seen[n] = s->v[n];
	if (n)
		fact(b, name, "%.5g %.5g %.5g", quantile(seen, n, 0.5),
			quantile(seen, n, 0.25), quantile(seen, n, 0.75));
}

/* --- a round of a row ---------------------------------------------------- */

void *
shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int
scratch(void)
{
	static const char *const dirs[] = { "/dev/shm", "/tmp", ".", "/dev" };
	char name[32];
	size_t i;
	int fd = memfd_create("bench", MFD_CLOEXEC);

	for (i = 0; fd < 0 && i < LEN(dirs); i++) {
		snprintf(name, sizeof name, "%s/bench.XXXXXX", dirs[i]);
		if ((fd = mkostemp(name, O_CLOEXEC)) >= 0)
			unlink(name);
	}
	return fd;
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

/* What memory there is, memory_limit() is to share among copies. */
static void
divide(int copies)
{
	rlim_t part = memory_limit() / (size_t)copies * 4;
	struct rlimit r = { part, part };

	prlimit(0, RLIMIT_DATA, &r, NULL);
}

static _Noreturn void
child(const struct test *t, struct result *r, int copy, const struct run *how,
	pid_t parent)
{
	static const int caught[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct rlimit none = { 0, 0 };
	struct bench b = {
		.n = r->n ? r->n : 1, .arg = t->arg, .work = 1,
		.common = how->common, .test = t, .result = r, .how = how,
		.leader = getpid(), .v = r->v + r->samples,
		.copy = copy,
	};
	sigset_t empty;
	size_t i;

	setpgid(0, 0);
	tie(parent, SIGKILL);
	prlimit(0, RLIMIT_CORE, &none, NULL);
	expendable();
	if (how->copies > 1)
		divide(how->copies);
	for (i = 0; i < LEN(caught); i++)
		signal(caught[i], SIG_DFL);
	signal(SIGPIPE, SIG_IGN);       /* EPIPE has a reason to show */
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	settle(&b);
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

/* How the waiting for a row has ended. */
struct end {
	int sig;                /* a signal came that is to end the run */
	int late;
	int held;               /* it, we or the machine stood still */
	int err;                /* errno: it cannot be waited for */
	int reaped;             /* its number may be another's */
	int code, status;       /* si_code, si_status of its end */
};

/*
 * waitid() of a process, or with a negative number of its group; where that
 * is missing or forbidden wait4(), which reaps whatever the flags.  Returns
 * the number of one that has ended, 0 if none has, -1 with errno.
 */
static pid_t
reap(pid_t pid, struct end *e, int flags)
{
	siginfo_t info = { 0 };
	int status;

	if (!waitid(pid < 0 ? P_PGID : P_PID, (id_t)abs(pid), &info,
	    WEXITED | flags)) {
		e->code = info.si_code;
		e->status = info.si_status;
		return info.si_pid;
	}
	if ((pid = waitpid(pid, &status, flags & WNOHANG)) > 0) {
		e->reaped = 1;
		e->code = WIFEXITED(status) ? CLD_EXITED : CLD_KILLED;
		e->status = WIFEXITED(status) ? WEXITSTATUS(status) :
			WTERMSIG(status);
	}
	return pid;
}

/*
 * Waits for a signal of a set, t (below a second) at most.  Returns it, or 0.
 * poll() is there where calls of 32 bits that take a time are not.
 */
static int
doze(const sigset_t *set, const struct timespec *t, struct end *e)
{
	siginfo_t info;
	double began = seconds();
	int sig = sigtimedwait(set, &info, t);

	if (sig < 0 && errno != EAGAIN && errno != EINTR)
		poll(NULL, 0, (int)(t->tv_nsec / 1000000));
	if (seconds() - began > (double)t->tv_sec + 1)
		e->held = 1;
	if (sig == SIGCHLD && (info.si_code == CLD_STOPPED ||
	    info.si_code == CLD_CONTINUED))
		e->held = 1;
	return sig > 0 && sig != SIGCHLD ? sig : 0;
}

/*
 * Waits until the child has ended, at most how->timeout seconds, and leaves
 * it to be reaped: its number stays taken.  Time in which we were stopped
 * does not count.  It looks from time to time, ever more seldom, should
 * SIGCHLD not be blocked and so be missed.
 */
static void
await(pid_t pid, const struct run *how, struct end *e)
{
	const struct timespec none = { 0, 0 };
	double began, left = how->timeout, turn = 0.001;
	struct timespec t;
	sigset_t set = how->stop;
	pid_t got;

	sigaddset(&set, SIGCHLD);
	while (!(got = reap(pid, e, WNOHANG | WNOWAIT))) {
		if ((e->late = left <= 0))
			return;
		t = (struct timespec){ 0, (long)(turn * 1e9) };
		began = seconds();
		if ((e->sig = doze(&set, &t, e)))
			return;
		began = seconds() - began;
		/* a clock that stands would leave us here for ever */
		left -= began > 0 && began < turn ? began : turn;
		if (began >= turn && turn < 0.25)
			turn *= 2;
	}
	if (got < 0)
		e->err = errno;
	else
		e->sig = doze(&set, &none, e);  /* news of its end */
}

/* Ends what is left of a row, and says how it ended if it did not. */
static void
finish(pid_t pid, struct result *r, const struct run *how, struct end *e)
{
	struct end orphan;

	kill(-pid, SIGKILL);
	if (!e->reaped) {
		kill(pid, SIGKILL);
		reap(pid, e, 0);
	}
	while (reap(-pid, &orphan, 0) > 0)
		;                       /* its orphans are ours: subreaper */
	if (r->state != UNTRIED || e->sig)
		return;
	if (e->err)
		blame(r, "wait: %s", strerror(e->err));
	else if (e->late)
		blame(r, "timed out after %g s", how->timeout);
	else if (e->code != CLD_EXITED)
		blame(r, "killed by signal %d (%s)", e->status,
			strsignal(e->status));
	else
		blame(r, "ended with status %d", e->status);
}

/* Starts a copy of a row.  Returns its child, or -1 with the reason in r. */
static pid_t
start(const struct test *t, struct result *r, int copy, const struct run *how)
{
	pid_t pid, parent = getpid();

	r->state = UNTRIED;
	r->met = 0;
	*r->doing = *r->why = *r->facts = '\0';
	if ((pid = fork()) < 0) {
		r->state = NOT_HERE;
		snprintf(r->why, REASON, "fork: %s", strerror(errno));
	} else if (pid) {
		setpgid(pid, pid);      /* whoever is first */
	} else {
		child(t, r, copy, how, parent);
	}
	return pid;
}

/* Returns whether something held the row up, so that it says nothing. */
static int
attempt(const struct test *t, struct result *r, const struct run *how,
	int *sig)
{
	pid_t pid[MAXCOPIES];
	struct end e = { 0 };
	int i;

	for (i = 0; i < how->copies; i++)
		pid[i] = start(t, &r[i], i, how);
	for (i = 0; i < how->copies; i++) {
		if (pid[i] < 0)
			continue;
		e.late = e.err = e.reaped = 0;
		if (!e.sig)
			await(pid[i], how, &e);
		finish(pid[i], &r[i], how, &e);
	}
	*sig = e.sig;
	return e.held && !e.sig;
}

int
run(const struct test *t, struct result *r, const struct run *how)
{
	int rounds[MAXCOPIES], samples[MAXCOPIES], i, sig = 0;

	for (i = 0; i < how->copies; i++) {
		rounds[i] = r[i].rounds;
		samples[i] = r[i].samples;
	}
	if (!attempt(t, r, how, &sig))
		return sig;
	for (i = 0; i < how->copies; i++) {
		r[i].gone = 0;
		r[i].rounds = rounds[i];
		r[i].samples = samples[i];
	}
	attempt(t, r, how, &sig);
	return sig;
}
