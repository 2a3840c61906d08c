/*
 * xserver.c - the built-in X server on a display of its own, for tests; what
 * is wrong with it is told by options.
 *
 *	xserver [-a|-t] [-c client] [-f fault[:request]] [-F font] [-n name]
 *	    [-p] [-r file] [-s usec] [-u usec] [-displayfd fd] [:number]
 *
 *	-a  listen on the abstract socket only     -t  on 127.0.0.1 only
 *	-f  close, error, stall or garbage at a request (from 1; 0: instead of
 *	    the setup); refuse, auth, truncate, noscreen, noformat, lengths;
 *	    covered: says that windows are, until they are raised
 *	-c  only this client, from 1, meets the fault, and is the last
 *	-F  has that font only      -n  lack this extension
 *	-p  has DPMS, and the screen is off
 *	-r  at the end, how often each request came: opcode, count; of DPMS
 *	    (opcode 200) by their minor opcode, added to that
 *	-s, -u  burn so much system or user time before each request, in the
 *	    process that listens
 *
 * Without a number it takes a display that is free; it prints its number.
 * It ends on SIGTERM, SIGINT and SIGHUP and leaves no socket.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../xnull.c"

enum { FIRST = 60, LAST = 400, TCP = 6000 };    /* displays, port of :0 */
enum { DPMS = 200, FORCE_LEVEL = 6, INFO = 7, OFF = 3 };        /* requests */

enum fault {
	NONE,
	CLOSE,                  /* at a request: closes the connection */
	ERROR,                  /* ... answers it with BadAlloc */
	STALL,                  /* ... reads and writes nothing more */
	GARBAGE,                /* ... sends 2048 bytes of no protocol */
	REFUSE,                 /* at the setup: refuses, with a reason */
	AUTH,                   /* ... wants to know who the client is */
	TRUNCATE,               /* ... sends half of it, and closes */
	NOSCREEN,               /* ... has no screen */
	NOFORMAT,               /* ... has no pixmap format */
	LENGTHS,                /* ... has a vendor's name longer than it */
	COVERED                 /* of windows: they are, until raised */
};

/* What is wrong, for all clients. */
static struct {
	enum fault fault;
	long at;                /* request, from 1; 0: instead of the setup */
	const char *font, *without;
	int dpms;
	double user, system;    /* seconds a request */
	struct {                /* shared */
		int level;      /* of DPMS */
		long count[256];
	} *seen;
} is;

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
burn(double user, double system)
{
	volatile int turns;
	char bytes[4096];
	double until;

	for (until = now() + user; now() < until; )
		for (turns = 1000; turns > 0; turns = turns - 1)
			;
	for (until = now() + system; now() < until; )
		if (getrandom(bytes, sizeof bytes, 0) < 0)
			die("getrandom");
}

/* --- requests that are answered otherwise --------------------------------- */

static int
other_extension(struct server *s)
{
	const xcb_query_extension_request_t *q = s->q;
	xcb_query_extension_reply_t *r;

	if (is.without && is_name(q + 1, q->name_len, is.without))
		return none(s);
	if (!is.dpms || !is_name(q + 1, q->name_len, "DPMS"))
		return has_extension(s);
	r = message(s, 1);
	r->present = 1;
	r->major_opcode = DPMS;
	return 0;
}

static int
other_font(struct server *s)
{
	const xcb_open_font_request_t *q = s->q;

	return is_name(q + 1, q->name_len, is.font) ? 0 : XCB_NAME;
}

/* DPMS is enabled; its layouts are those of its specification. */
static int
dpms(struct server *s)
{
	unsigned char *r;

	if (s->opcode == DPMS + FORCE_LEVEL) {
		is.seen->level = (int)(card32(s, 4) & 0xffff);
	} else if (s->opcode == DPMS + INFO) {
		r = message(s, 1);
		r[8] = (unsigned char)is.seen->level;
		r[10] = 1;
	} else {
		return XCB_REQUEST;
	}
	return 0;
}

/* Windows come to lie below another, and on top when they are configured. */
static int
covered(struct server *s)
{
	size_t at = s->pending;
	xcb_visibility_notify_event_t *v;
	int err = map_window(s);

	v = (xcb_visibility_notify_event_t *)(s->out + at);
	if (s->pending > at && v->response_type == XCB_VISIBILITY_NOTIFY)
		v->state = XCB_VISIBILITY_PARTIALLY_OBSCURED;
	return err;
}

static int
raise_window(struct server *s)
{
	xcb_visibility_notify_event_t *v = message(s, XCB_VISIBILITY_NOTIFY);

	v->window = card32(s, 4);
	return 0;
}

static void
change_rows(struct server *s)
{
	static const struct row others[] = {
		{ XCB_QUERY_EXTENSION, 8, NAME, { 0 }, other_extension },
		{ XCB_OPEN_FONT, 12, NAME, { NEW | FONT }, other_font },
		{ XCB_MAP_WINDOW, 8, NOTHING, { WIN }, covered },
		{ XCB_CONFIGURE_WINDOW, 12, VALUES, { WIN }, raise_window },
		{ DPMS + FORCE_LEVEL, 4, 4, { 0 }, dpms },
		{ DPMS + INFO, 4, 4, { 0 }, dpms },
	};
	size_t i;

	for (i = 0; i < LEN(others); i++)
		if ((i != 1 || is.font) &&
		    (i < 2 || i > 3 || is.fault == COVERED))
			s->rows[others[i].opcode] = &others[i];
}

/* --- faults --------------------------------------------------------------- */

/* At a request, or instead of the setup.  Returns -1 when that is the end. */
static int
strike(struct server *s)
{
	struct pollfd client = { s->fd, POLLRDHUP, 0 };
	uint32_t i, v = 1;

	if (is.fault == ERROR)
		send_error(s, XCB_ALLOC);
	for (i = 0; is.fault == GARBAGE && i < 2048; i += 2) {
		v = v * 1103515245 + 12345;     /* the same every time */
		*(uint16_t *)zeros(s, 2) = (uint16_t)(v >> 8);
	}
	if (is.fault == STALL) {
		flush(s);
		poll(&client, 1, -1);   /* until it goes */
	}
	return is.fault == STALL || is.fault == CLOSE ? -1 : 0;
}

/* The greeting, which waits in `out'.  Returns -1 when that is the end. */
static int
greet_badly(struct server *s)
{
	xcb_setup_t *setup = (xcb_setup_t *)s->out;
	const size_t formats = offsetof(struct greeting, formats);
	const size_t screen = offsetof(struct greeting, screen);

	if (is.at == 0 && is.fault >= CLOSE && is.fault <= GARBAGE) {
		s->pending = 0;
		return strike(s);
	}
	switch (is.fault) {
	case REFUSE:
	case AUTH:
		s->pending = 0;
		refuse(s, "no entry", 0);
		setup->status = is.fault == AUTH ? 2 : 0;
		return -1;
	case TRUNCATE:
		s->pending /= 2;
		return -1;
	case NOSCREEN:
		setup->roots_len = 0;
		break;
	case NOFORMAT:
		setup->pixmap_formats_len = 0;
		setup->length -= (screen - formats) / 4;
		s->pending -= screen - formats;
		memmove(s->out + formats, s->out + screen,
			s->pending - formats);
		break;
	case LENGTHS:
		setup->vendor_len = 0xfff0;
		break;
	default:
		break;
	}
	return 0;
}

/* A client, to whom a fault may be shown.  Returns what xnull() does. */
static int
serve_client(int fd, int struck)
{
	struct server *s = begin(fd);
	int over;

	if (!s)
		return -1;
	change_rows(s);
	over = greet(s) || (struck && greet_badly(s));
	while (!over && !take(s)) {
		if (s->opcode == DPMS)          /* to rows of their own */
			s->opcode += ((const uint8_t *)s->q)[1] % 50;
		is.seen->count[s->opcode]++;
		if (is.user > 0 || is.system > 0)
			burn(is.user, is.system);
		if (struck && s->count == is.at)
			over = strike(s);
		else
			perform(s);
	}
	return end(s);
}

/* --- displays ------------------------------------------------------------- */

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
serve_here(int listener)
{
	int fd;

	for (;;) {
		if ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
			die("accept");
		serve_client(fd, 1);
		close(fd);
	}
}

/* Clients are served at once, each by a child; only 0: each is struck. */
static void
serve(int listener, long only)
{
	pid_t pid = 0;
	long i;
	int fd;

	for (i = 1; !only || i <= only; i++) {
		if ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
			die("accept");
		if (!(pid = child())) {
			i = serve_client(fd, i == only || !only);
			_exit(i ? 1 : 0);
		}
		close(fd);
		while (i != only && waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	waitpid(pid, NULL, 0);
}

static void
set_fault(const char *word)
{
	static const char *const names[] = { "none", "close", "error", "stall",
		"garbage", "refuse", "auth", "truncate", "noscreen",
		"noformat", "lengths", "covered" };     /* as enum fault */
	size_t i, n = strcspn(word, ":");

	for (i = 1; i < LEN(names); i++)
		if (strlen(names[i]) == n && !memcmp(names[i], word, n))
			is.fault = (enum fault)i;
	is.at = word[n] ? atol(word + n + 1) : 0;
	errno = EINVAL;
	if (is.fault == NONE)
		die(word);
}

static void
tell(const char *path)
{
	FILE *f = fopen(path, "w");
	size_t i;

	for (i = 0; f && i < LEN(is.seen->count); i++)
		if (is.seen->count[i])
			fprintf(f, "%zu %ld\n", i, is.seen->count[i]);
	if (!f || fclose(f))
		die(path);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "displayfd", required_argument, NULL, 'D' },
		{ NULL, 0, NULL, 0 } };
	int c, listener, number = FIRST, last = LAST, how = 0, out = 1;
	const char *report = NULL;
	char path[64];
	long only = 0;
	sigset_t end;

	while ((c = getopt_long_only(argc, argv, "ac:f:F:n:pr:s:tu:", longs,
	    NULL)) != -1)
		switch (c) {
		case 'a': case 't': how = c; break;
		case 'c': only = atol(optarg); break;
		case 'D': out = atoi(optarg); break;
		case 'f': set_fault(optarg); break;
		case 'F': is.font = optarg; break;
		case 'n': is.without = optarg; break;
		case 'p': is.dpms = 1; break;
		case 'r': report = optarg; break;
		case 's': is.system = atof(optarg) * 1e-6; break;
		case 'u': is.user = atof(optarg) * 1e-6; break;
		default: return 2;
		}
	if (argv[optind] && *argv[optind] == ':')
		number = last = atoi(argv[optind] + 1);
	is.seen = mmap(NULL, sizeof *is.seen, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (is.seen == MAP_FAILED)
		die("mmap");
	is.seen->level = OFF;
	mkdir("/tmp/.X11-unix", 01777);
	listener = listen_somewhere(&number, last, how, path);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	sigaddset(&end, SIGHUP);
	sigaddset(&end, SIGCHLD);
	sigprocmask(SIG_BLOCK, &end, NULL);
	if (!child()) {
		/* who listened last is whom SO_PEERCRED names */
		if (listen(listener, 64))
			die("listen");
		dprintf(out, "%d\n", number);
		close(out);
		if (is.user > 0 || is.system > 0)
			serve_here(listener);
		serve(listener, only);
		return 0;
	}
	if (out > 2)
		close(out);
	sigwait(&end, &c);
	if (*path)
		unlink(path);
	if (report)
		tell(report);
	return 0;
}
