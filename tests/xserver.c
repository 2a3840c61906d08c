/*
 * xserver.c - the built-in X server on a display of its own, for tests; what
 * is wrong with it is told by options.
 *
 *	xserver [-a|-t] [-1x] [-c client] [-f fault[:request]] [-n name]
 *	    [-s usec] [-u usec] [-displayfd fd] [:number]
 *
 *	-a  listen on the abstract socket only     -t  on 127.0.0.1 only
 *	-1  serve clients in turn, not at once
 *	-f  close, error, stall or garbage at a request (from 1; 0: instead of
 *	    the setup); refuse, auth, truncate, noscreen, noformat, lengths
 *	-c  only this client, from 1, meets the fault  -x  then end
 *	-n  lack this extension or font
 *	-s, -u  burn so much system or user time before each request
 *
 * Without a number it takes a display that is free and prints its number.
 * Ready, it signals SIGUSR1 to a parent that had it ignored, as X does.  It
 * ends on SIGTERM, SIGINT and SIGHUP with status 0, and leaves no socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../bench.h"

enum { FIRST = 60, LAST = 400 };        /* displays to try */
enum { TCP = 6000 };                    /* port of display 0 */

struct burn {
	double user, system;    /* seconds a request */
	double turn;            /* seconds of a turn of the loop */
	int zero;               /* /dev/zero */
};

struct server {
	int listener, signals;
	char path[64];          /* socket to remove at the end, or empty */
	struct xfault fault;
	long only;              /* client that meets the fault; 0: each */
	int end;                /* ... and is the last */
	int turns;              /* serve in turn */
	pid_t last;             /* client after which to end */
	int clients, running;
};

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "xserver: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- load ----------------------------------------------------------------- */

static void
spin(double turns)
{
	volatile double left = turns;

	while (left > 0)
		left = left - 1;
}

/* User time is a loop that calls nothing; system time, zeros copied. */
static void
burn(void *arg)
{
	static char zeros[1 << 18];
	const struct burn *b = arg;
	double until = now() + b->system;

	if (b->user > 0)
		spin(b->user / b->turn);
	if (b->system > 0)
		while (now() < until)
			if (read(b->zero, zeros, sizeof zeros) < 0)
				die("/dev/zero");
}

static void
burn_start(struct burn *b)
{
	enum { TURNS = 1000000 };
	double took, best = 1;
	int i;

	for (i = 0; i < 5; i++) {
		took = now();
		spin(TURNS);
		took = now() - took;
		best = took < best ? took : best;
	}
	b->turn = best / TURNS;
	if ((b->zero = open("/dev/zero", O_RDONLY | O_CLOEXEC)) < 0)
		die("/dev/zero");
}

/* --- where clients connect ------------------------------------------------ */

/* A socket that listens on a display, or -1 with errno. */
static int
listen_on(struct server *x, int number, int how)
{
	struct sockaddr_un u = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof in;
	const struct sockaddr *a = how == 't' ? (void *)&in : (void *)&u;
	int one = 1, fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (how == 't') {
		in.sin_port = htons((uint16_t)(TCP + number));
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	} else {
		snprintf(x->path, sizeof x->path, "/tmp/.X11-unix/X%d", number);
		strcpy(u.sun_path + (how == 'a'), x->path);
		len = offsetof(struct sockaddr_un, sun_path) +
			(socklen_t)strlen(x->path) + (how == 'a');
	}
	if (bind(fd, a, len) || listen(fd, 64)) {
		close(fd);
		return -1;
	}
	if (how)
		*x->path = '\0';        /* nothing to remove */
	return fd;
}

/* A server whose lock is there is as good as there itself. */
static int
is_locked(int number)
{
	char name[64];

	snprintf(name, sizeof name, "/tmp/.X%d-lock", number);
	return !access(name, F_OK);
}

static int
listen_somewhere(struct server *x, int how)
{
	int i;

	for (i = FIRST; i < LAST; i++) {
		if (is_locked(i))
			continue;
		if ((x->listener = listen_on(x, i, how)) >= 0)
			return i;
		if (errno != EADDRINUSE)
			break;
	}
	die("no free display");
}

/* --- clients -------------------------------------------------------------- */

static void
serve(struct server *x)
{
	int fd = accept4(x->listener, NULL, NULL, SOCK_CLOEXEC), hit;
	pid_t pid, parent = getpid();
	struct xfault none = x->fault;
	sigset_t empty;

	if (fd < 0)
		return;
	none.what = XNONE;
	x->clients++;
	hit = !x->only || x->clients == x->only;
	if ((pid = fork()) < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(x->listener);
		sigemptyset(&empty);
		sigprocmask(SIG_SETMASK, &empty, NULL);
		if (xnull(fd, hit ? &x->fault : &none))
			die("client");
		_exit(0);
	}
	close(fd);
	x->running++;
	if (x->end && hit)
		x->last = pid;
}

/* Returns whether it was a signal to end on, or the last client's end. */
static int
signalled(struct server *x)
{
	struct signalfd_siginfo info;
	int over = 0;
	pid_t pid;

	if (read(x->signals, &info, sizeof info) != sizeof info)
		die("signalfd");
	if (info.ssi_signo != SIGCHLD)
		return 1;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		x->running--;
		over |= pid == x->last;
	}
	return over;
}

static void
loop(struct server *x)
{
	struct pollfd p[] = {
		{ x->signals, POLLIN, 0 }, { x->listener, POLLIN, 0 },
	};

	for (;;) {
		if (poll(p, x->turns && x->running ? 1 : 2, -1) < 0)
			die("poll");
		if (p[0].revents && signalled(x))
			return;
		if (p[1].revents && !(x->turns && x->running))
			serve(x);
		p[1].revents = 0;
	}
}

/* --- what to do ----------------------------------------------------------- */

static _Noreturn void
usage(void)
{
	fputs("usage: xserver [-a|-t] [-1x] [-c client] "
		"[-f fault[:request]] [-n name]\n"
		"\t[-s usec] [-u usec] [-displayfd fd] [:number]\n", stderr);
	exit(2);
}

static void
set_fault(struct xfault *f, char *word)
{
	static const char *const names[] = {
		[XCLOSE] = "close", [XERROR] = "error", [XSTALL] = "stall",
		[XGARBAGE] = "garbage", [XREFUSE] = "refuse",
		[XAUTHENTICATE] = "auth", [XTRUNCATE] = "truncate",
		[XNOSCREEN] = "noscreen", [XNOFORMAT] = "noformat",
		[XLENGTHS] = "lengths",
	};
	const char *name = strtok(word, ":"), *at = strtok(NULL, ":");
	size_t i;

	for (i = 1; i < LEN(names) && name; i++)
		if (!strcmp(names[i], name))
			f->what = (enum xwhat)i;
	f->at = at ? atol(at) : 0;
	if (f->what == XNONE)
		usage();
}

static void
block(struct server *x)
{
	static const int which[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < LEN(which); i++)
		sigaddset(&set, which[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if ((x->signals = signalfd(-1, &set, SFD_CLOEXEC)) < 0)
		die("signalfd");
}

static void
ready(int number, int fd)
{
	struct sigaction usr1;

	if (fd >= 0) {
		dprintf(fd, "%d\n", number);
		if (fd > 2)
			close(fd);
	}
	sigaction(SIGUSR1, NULL, &usr1);
	if (usr1.sa_handler == SIG_IGN)
		kill(getppid(), SIGUSR1);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "displayfd", required_argument, NULL, 'D' }, { 0 },
	};
	struct server x = { 0 };
	struct burn load = { 0 };
	int c, how = 0, fd = -1, number;

	while ((c = getopt_long_only(argc, argv, "a1c:f:n:s:tu:x", longs,
	    NULL)) != -1)
		switch (c) {
		case 'a': case 't': how = c; break;
		case '1': x.turns = 1; break;
		case 'c': x.only = atol(optarg); break;
		case 'D': fd = atoi(optarg); break;
		case 'f': set_fault(&x.fault, optarg); break;
		case 'n': x.fault.without = optarg; break;
		case 's': load.system = atof(optarg) * 1e-6; break;
		case 'u': load.user = atof(optarg) * 1e-6; break;
		case 'x': x.end = 1; break;
		default: usage();
		}
	if (argc - optind > 1 || (argv[optind] && *argv[optind] != ':'))
		usage();
	if (load.user > 0 || load.system > 0) {
		burn_start(&load);
		x.fault.each = burn;
		x.fault.arg = &load;
	}
	block(&x);
	mkdir("/tmp/.X11-unix", 01777);
	if (argv[optind]) {
		number = atoi(argv[optind] + 1);
		if ((x.listener = listen_on(&x, number, how)) < 0)
			die(argv[optind]);
	} else {
		number = listen_somewhere(&x, how);
		fd = fd < 0 ? 1 : fd;
	}
	ready(number, fd);
	loop(&x);
	if (*x.path)
		unlink(x.path);
	return 0;
}
