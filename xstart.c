/*
 * xstart.c - an X server of our own, where there is none.
 *
 * A process stands between bench and the server, its keeper: it starts it,
 * watches it, and ends it as soon as bench says so or has ended itself, in
 * whatever way.  What rows have to know is in memory shared with them.
 */
#include "bench.h"
#include "config.h"

#if WITH_X

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "xserver.h"

enum {
	TURNS = 100,            /* that it takes in a second of waiting */
	MERCY = 2,              /* seconds between SIGTERM and SIGKILL */
	LINE = 4096,            /* bytes of a command, and more */
	TAIL = 512,             /* bytes of its last words */
	LOG = 1,                /* our standard output is the server's */
	ABSENT = 127,           /* status of a shell that found no program */
	KDGKBTYPE = 0x4B33      /* of linux/kd.h, which is not everywhere */
};

static const struct timespec turn = { 0, 1000000000 / TURNS };

struct keeper {
	struct xown *own;
	sigset_t all;           /* signals, which are blocked */
	int pipe[2];            /* the server writes its display there */
	pid_t server;           /* its process group as well */
	siginfo_t ended;        /* of it; si_pid is 0 while it lives */
	char lock[32];
	struct sockaddr_un at;  /* its socket */
};

/* --- its end ------------------------------------------------------------- */

/*
 * Removes what a server that was killed has left, unless somebody listens:
 * another was faster to take the display.
 */
static void
sweep(const struct keeper *k)
{
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (connect(s, (const struct sockaddr *)&k->at, sizeof k->at) &&
	    errno != EAGAIN) {
		unlink(k->lock);
		unlink(k->at.sun_path);
	}
	close(s);
}

/* Ends the server, and those that it has started. */
static void
end(const struct keeper *k)
{
	int turns = MERCY * TURNS;

	kill(k->server, SIGTERM);
	kill(-k->server, SIGTERM);
	while (waitpid(-k->server, NULL, WNOHANG) >= 0 && turns--)
		nanosleep(&turn, NULL);
	kill(-k->server, SIGKILL);
	while (waitpid(-k->server, NULL, 0) > 0)
		;
	sweep(k);
}

/*
 * Waits for a signal, or so long; SIGTERM is the end.  Returns the signal.
 * A server that has ended is not reaped, so that its number stays taken.
 */
static int
await(struct keeper *k, const struct timespec *time)
{
	int sig = sigtimedwait(&k->all, NULL, time);

	if (sig == SIGTERM) {
		end(k);
		_exit(0);
	}
	waitid(P_PID, (id_t)k->server, &k->ended, WEXITED | WNOHANG | WNOWAIT);
	return sig;
}

/* Says why there is no server, after its last words. */
static void
complain(const struct keeper *k, const char *command)
{
	const siginfo_t *e = &k->ended;
	char s[TAIL], *p, *why = k->own->why;
	ssize_t n;

	if (lseek(LOG, -TAIL, SEEK_END) < 0)
		lseek(LOG, 0, SEEK_SET);
	n = read(LOG, s, TAIL);
	if (isatty(2))                  /* over the progress line */
		fprintf(stderr, "\r%64s\r", "");
	if (n > 0 && (p = n < TAIL ? s : memchr(s, '\n', TAIL)))
		write(2, p, (size_t)(s + n - p));
	snprintf(why, sizeof k->own->why, !e->si_pid ?
		"; %.*s timed out after %d s" : e->si_code == CLD_EXITED ?
		"; %.*s ended with status %d" : "; %.*s killed by signal %d",
		(int)strcspn(command, " "), command,
		e->si_pid ? e->si_status : XPATIENCE);
	warn("%s", why + 2);
}

/* --- its beginning ------------------------------------------------------- */

static void
take_display(struct keeper *k, int n)
{
	struct xown *own = k->own;

	snprintf(own->display, sizeof own->display, ":%d", n);
	snprintf(k->lock, sizeof k->lock, "/tmp/.X%d-lock", n);
	snprintf(k->at.sun_path, sizeof k->at.sun_path, "/tmp/.X11-unix/X%d",
		n);
}

/* The child of a fork() becomes the server. */
static _Noreturn void
become(const struct keeper *k, const char *command, int tells, pid_t keeper)
{
	char line[LINE], *argv[] = { "sh", "-c", line, NULL };
	sigset_t none;

	/* after # there is nothing */
	snprintf(line, sizeof line, "exec %s %s -noreset -nolisten tcp %s %d",
		command, k->own->display, tells ? "-displayfd" : "#",
		k->pipe[1]);
	setsid();
	tie(keeper, SIGTERM);
	signal(SIGUSR1, SIG_IGN);       /* asks for one */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(LOG, 2);
	execv("/bin/sh", argv);
	_exit(ABSENT);
}

/*
 * Starts a command on a display that nobody has, and waits until it is
 * ready: it tells by -displayfd or, where it does not know that, by SIGUSR1.
 */
static int
start(struct keeper *k, const char *command, int tells)
{
	pid_t keeper = getpid();
	int n = 0, sig;
	char s[16] = "";

	do
		take_display(k, n++);
	while (!access(k->lock, F_OK) || !access(k->at.sun_path, F_OK));
	if (ftruncate(LOG, lseek(LOG, 0, SEEK_SET)) ||
	    (k->server = fork()) < 0)
		_exit(1);
	if (!k->server)
		become(k, command, tells, keeper);
	n = XPATIENCE * TURNS;
	do {
		sig = await(k, &turn);
		if (read(k->pipe[0], s, sizeof s - 1) > 0)
			take_display(k, (int)strtol(s, NULL, 10));
		if (*s || sig == SIGUSR1)
			return 1;
	} while (--n && !k->ended.si_pid);
	end(k);
	return 0;
}

/* Keeps a server until the end, if it starts.  told: it is to be missed. */
static void
serve(struct keeper *k, const char *command, int told)
{
	struct xown *own = k->own;

	own->command = command;
	if (start(k, command, 1) || (k->ended.si_pid && start(k, command, 0))) {
		__atomic_store_n(&own->ready, 1, __ATOMIC_RELEASE);
		kill(getppid(), SIGCHLD);
		while (!k->ended.si_pid)
			await(k, NULL);
		end(k);
		told = 1;
	}
	if (told || k->ended.si_status != ABSENT)
		complain(k, command);
	if (own->ready)
		_exit(1);
}

static _Noreturn void
keep(struct xown *own, const char *command, pid_t parent)
{
	struct keeper k = { .own = own, .at.sun_family = AF_UNIX };
	char kind;
	size_t i;

	setsid();
	tie(parent, SIGTERM);
	if (x_there())
		_exit(0);
	own->wanted = 1;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfillset(&k.all);
	sigprocmask(SIG_SETMASK, &k.all, NULL);
	if (dup2(scratch(), LOG) < 0 || pipe2(k.pipe, O_NONBLOCK))
		_exit(1);
	if (command)
		serve(&k, command, 1);
	/* over ssh standard error is no console, and the screen another's */
	for (i = 0; i < LEN(xservers) && !command; i++)
		if (!xservers[i].console || !ioctl(2, KDGKBTYPE, &kind))
			serve(&k, xservers[i].command, 0);
	_exit(1);
}

pid_t
x_start(const char *command, const struct run *how)
{
	struct xown *own = (struct xown *)((char *)how->common + XCOMMON);
	pid_t parent = getpid(), keeper;
	sigset_t set = how->stop;
	int sig;

	if (command && !*command)
		return 0;
	if ((keeper = fork()) < 0)
		return 0;               /* kill(-1) would be for all */
	if (!keeper)
		keep(own, command, parent);
	sigaddset(&set, SIGCHLD);
	while (!own->ready) {
		if (waitpid(keeper, NULL, WNOHANG))
			return -!!*own->why;
		sig = sigtimedwait(&set, NULL, &(struct timespec){ 1, 0 });
		if (sig == SIGCHLD || (sig < 0 && own->wanted))
			continue;
		if (sig > 0)
			raise(sig);     /* the first row will find it */
		else
			kill(keeper, SIGKILL);  /* no answer: it is there */
		break;
	}
	return keeper;
}

void
x_stop(pid_t keeper)
{
	if (keeper <= 0)
		return;
	kill(keeper, SIGTERM);
	waitpid(keeper, NULL, 0);
}

#else

pid_t
x_start(const char *command, const struct run *how)
{
	(void)command;
	(void)how;
	return 0;
}

void
x_stop(pid_t keeper)
{
	(void)keeper;
}

#endif
