/*
 * xserver.c - the built-in X server on a display of its own, for tests; what
 * is wrong with it is told by options.
 *
 *	xserver [-a|-t] [-c client] [-f fault[:request]] [-n name]
 *	    [-s usec] [-u usec] [-displayfd fd] [:number]
 *
 *	-a  listen on the abstract socket only     -t  on 127.0.0.1 only
 *	-f  close, error, stall or garbage at a request (from 1; 0: instead of
 *	    the setup); refuse, auth, truncate, noscreen, noformat, lengths
 *	-c  only this client, from 1, meets the fault, and is the last
 *	-n  lack this extension or font
 *	-s, -u  burn so much system or user time before each request, in the
 *	    process that listens
 *
 * Without a number it takes a display that is free; it prints its number.
 * It ends on SIGTERM, SIGINT and SIGHUP and leaves no socket.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../bench.h"

enum { FIRST = 60, LAST = 400, TCP = 6000 };    /* displays, port of :0 */

struct burn {
	double user, system;    /* seconds a request */
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

/* User time is a loop, system time random bytes; the clock costs little. */
static void
burn(void *arg)
{
	const struct burn *b = arg;
	volatile int turns;
	char bytes[4096];
	double until;

	for (until = now() + b->user; now() < until; )
		for (turns = 1000; turns > 0; turns = turns - 1)
			;
	for (until = now() + b->system; now() < until; )
		if (getrandom(bytes, sizeof bytes, 0) < 0)
			die("getrandom");
}

/* A socket that listens on a display, or -1 with errno; path: of its file. */
static int
listen_on(int number, int how, char path[static 64])
{
	struct sockaddr_un u = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET };
	const struct sockaddr *a = how == 't' ? (void *)&in : (void *)&u;
	int one = 1, fd = socket(how == 't' ? AF_INET : AF_UNIX,
		SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof in;

	if (fd < 0)
		return -1;
	snprintf(path, 64, "/tmp/.X11-unix/X%d", number);
	if (how == 't') {
		in.sin_port = htons((uint16_t)(TCP + number));
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	} else {
		strcpy(u.sun_path + (how == 'a'), path);
		len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			strlen(path) + (how == 'a'));
	}
	if (bind(fd, a, len) || listen(fd, 64)) {
		close(fd);
		return -1;
	}
	if (how)
		*path = '\0';           /* there is none */
	return fd;
}

static int
listen_somewhere(int *number, int last, int how, char path[static 64])
{
	int fd;

	while ((fd = listen_on(*number, how, path)) < 0)
		if (errno != EADDRINUSE || ++*number > last)
			die("listen");
	return fd;
}

/* A child that dies with its parent. */
static pid_t
child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(1);
	return pid;
}

/* One after the other, by the process that listens: its time is counted. */
static _Noreturn void
serve_here(int listener, const struct xfault *fault)
{
	int fd;

	if (listen(listener, 64))
		die("listen");
	for (;;) {
		if ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
			die("accept");
		xnull(fd, fault);
		close(fd);
	}
}

/* Clients are served at once, each by a child; only 0: each is struck. */
static void
serve(int listener, const struct xfault *fault, long only)
{
	const struct xfault none = { .each = fault->each, .arg = fault->arg,
		.without = fault->without };
	pid_t pid = 0;
	long i;
	int fd;

	for (i = 1; !only || i <= only; i++) {
		if ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
			die("accept");
		if (!(pid = child())) {
			i = xnull(fd, i == only || !only ? fault : &none);
			_exit(i ? 1 : 0);
		}
		close(fd);
		while (i != only && waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	waitpid(pid, NULL, 0);
}

static void
set_fault(struct xfault *f, const char *word)
{
	static const char *const names[] = { "none", "close", "error", "stall",
		"garbage", "refuse", "auth", "truncate", "noscreen",
		"noformat", "lengths" };        /* as enum xwhat has them */
	size_t i, n = strcspn(word, ":");

	for (i = 1; i < LEN(names); i++)
		if (strlen(names[i]) == n && !memcmp(names[i], word, n))
			f->what = (enum xwhat)i;
	f->at = word[n] ? atol(word + n + 1) : 0;
	errno = EINVAL;
	if (f->what == XNONE)
		die(word);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "displayfd", required_argument, NULL, 'D' },
		{ NULL, 0, NULL, 0 } };
	int c, listener, number = FIRST, last = LAST, how = 0, out = 1;
	struct burn load = { 0, 0 };
	struct xfault fault = { .each = NULL };
	char path[64];
	long only = 0;
	sigset_t end;

	while ((c = getopt_long_only(argc, argv, "ac:f:n:s:tu:", longs,
	    NULL)) != -1)
		switch (c) {
		case 'a': case 't': how = c; break;
		case 'c': only = atol(optarg); break;
		case 'D': out = atoi(optarg); break;
		case 'f': set_fault(&fault, optarg); break;
		case 'n': fault.without = optarg; break;
		case 's': load.system = atof(optarg) * 1e-6; break;
		case 'u': load.user = atof(optarg) * 1e-6; break;
		default: return 2;
		}
	if (argv[optind] && *argv[optind] == ':')
		number = last = atoi(argv[optind] + 1);
	if (load.user > 0 || load.system > 0) {
		fault.each = burn;
		fault.arg = &load;
	}
	mkdir("/tmp/.X11-unix", 01777);
	listener = listen_somewhere(&number, last, how, path);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	sigaddset(&end, SIGHUP);
	sigaddset(&end, SIGCHLD);
	sigprocmask(SIG_BLOCK, &end, NULL);
	if (!child()) {
		if (fault.each)
			serve_here(listener, &fault);
		serve(listener, &fault, only);
		return 0;
	}
	dprintf(out, "%d\n", number);
	if (out > 2)
		close(out);
	sigwait(&end, &c);
	if (*path)
		unlink(path);
	return 0;
}
