/*
 * xserver.c - the X server that rows draw on: that of $DISPLAY, or the
 * built-in one; what it refuses; and who spends the time.
 */
#include "bench.h"
#include "config.h"

#if WITH_X

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <X11/Xauth.h>
#include <xcb/xcbext.h>

#include "xserver.h"

enum {
	TRIES = 4,              /* to connect */
	PATIENCE = 2            /* seconds to wait for a window to show */
};

/* Where CPU times go: a category of the stones each. */
enum { CATEGORIES = 6 };

/* What the rows of a run know of its server, in b->common. */
struct served {
	struct xown own;        /* one that was started for it */
	int real;               /* a server has been reached */
	int null;               /* it could not, so that there is ours */
	char why[REASON];       /* ... for this reason */
	int pid;                /* the server's; 0: not known */
	const char *named;      /* what /proc/PID/stat then has */
	int beside;             /* the row is drawn once more, on ours */
	double patience;        /* see x_patience() */
	struct seen null_rate[XROWS];   /* of a row on ours, 1/s */
	struct split {
		double spent[TIMES];
		double null;    /* percent of the time that then takes ... */
		int rows;       /* ... the sum of so many rows */
	} split[CATEGORIES];
};

static struct served *
served(struct bench *b)
{
	_Static_assert(sizeof (struct served) <= COMMON - XCOMMON, "too large");
	return (struct served *)((char *)b->common + XCOMMON);
}

/* --- what went wrong ----------------------------------------------------- */

static const char *
error_name(int code)
{
	static const char names[] = "0\0Request\0Value\0Window\0Pixmap\0"
		"Atom\0Cursor\0Font\0Match\0Drawable\0Access\0Alloc\0"
		"Colormap\0GContext\0IDChoice\0Name\0Length\0"
		"Implementation\0?";
	const char *p = names;

	while (code-- && *p != '?')
		p += strlen(p) + 1;
	return p;
}

static const char *
request_name(int opcode)
{
	static const struct {
		unsigned char opcode;
		char name[18];          /* the longest has them all */
	} names[] = {
		{ XCB_CREATE_WINDOW,       "CreateWindow" },
		{ XCB_DESTROY_WINDOW,      "DestroyWindow" },
		{ XCB_MAP_WINDOW,          "MapWindow" },
		{ XCB_UNMAP_WINDOW,        "UnmapWindow" },
		{ XCB_OPEN_FONT,           "OpenFont" },
		{ XCB_QUERY_TEXT_EXTENTS,  "QueryTextExtents" },
		{ XCB_CREATE_PIXMAP,       "CreatePixmap" },
		{ XCB_CREATE_GC,           "CreateGC" },
		{ XCB_CHANGE_GC,           "ChangeGC" },
		{ XCB_CLEAR_AREA,          "ClearArea" },
		{ XCB_COPY_AREA,           "CopyArea" },
		{ XCB_COPY_PLANE,          "CopyPlane" },
		{ XCB_POLY_SEGMENT,        "PolySegment" },
		{ XCB_POLY_RECTANGLE,      "PolyRectangle" },
		{ XCB_POLY_ARC,            "PolyArc" },
		{ XCB_POLY_FILL_RECTANGLE, "PolyFillRectangle" },
		{ XCB_POLY_FILL_ARC,       "PolyFillArc" },
		{ XCB_GET_IMAGE,           "GetImage" },
		{ XCB_POLY_TEXT_8,         "PolyText8" },
		{ XCB_IMAGE_TEXT_8,        "ImageText8" },
		{ XCB_FORCE_SCREEN_SAVER,  "ForceScreenSaver" },
		{ XCB_PUT_IMAGE,           "PutImage" },
		{ XCB_CHANGE_PROPERTY,     "ChangeProperty" },
	};
	size_t i;

	for (i = 0; i < LEN(names); i++)
		if (names[i].opcode == opcode)
			return names[i].name;
	return "of an extension";
}

void
x_refused(struct bench *b, const xcb_generic_error_t *e)
{
	fail(b, "X error Bad%s (%d), request %s (%d, %d), value 0x%x",
		error_name(e->error_code), e->error_code,
		request_name(e->major_code), e->major_code, e->minor_code,
		e->resource_id);
}

void
x_unanswered(struct bench *b, const xcb_generic_error_t *e)
{
	if (e)
		x_refused(b, e);
	stage(b, "drawing");
	fail(b, "X server closed the connection (did it die?)");
}

int
x_display(const char *name)
{
	char *host;
	int display, screen;

	if (!xcb_parse_display(name, &host, &display, &screen))
		return 0;
	free(host);
	return 1;
}

/*
 * Connects to a display, or (NULL) to $DISPLAY.  libxcb gives one code for a
 * server that refuses and for none at all; what tells them apart is that it
 * prints the reason of a refusal on standard error, where it is caught.  errno
 * is to be that of the socket, and not that of a file of cookies that is not
 * there.
 */
static xcb_connection_t *
dial(const char *name, int *screen, char *reason, size_t size)
{
	xcb_connection_t *c;
	int p[2], err, keep = fcntl(2, F_DUPFD_CLOEXEC, 3);
	const char *cookies;
	ssize_t n = 0;

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return NULL;
	if ((cookies = XauFileName()) && access(cookies, R_OK))
		setenv("XAUTHORITY", "/", 1);   /* read, it gives EISDIR */
	dup2(p[1], 2);
	errno = 0;
	c = xcb_connect(name, screen);
	err = errno;
	if (keep < 0 || dup2(keep, 2) < 0)
		close(2);
	n = read(p[0], reason, size - 1);
	reason[n > 0 ? n : 0] = '\0';
	reason[strcspn(reason, "\n")] = '\0';
	close(keep);
	close(p[0]);
	close(p[1]);
	errno = err;
	return c;
}

/* Is it not for want of a server that there is no connection? */
static int
cut_off(void)
{
	return !errno || errno == EAGAIN || errno == EISDIR ||
		errno == EPIPE || errno == ECONNRESET;
}

int
x_there(void)
{
	const char *name = getenv("DISPLAY");
	char reason[2];
	int screen;

	return name && *name && (!xcb_connection_has_error(dial(name,
		&screen, reason, sizeof reason)) || *reason || cut_off());
}

/*
 * Some servers start anew when their last client has left, and cut off who
 * comes in at that moment: hence several tries, each until there is a reply.
 * Returns NULL with errno when there is no server.
 */
static xcb_connection_t *
reach(struct bench *b, const char *name, int *screen)
{
	char reason[REASON / 2] = "";
	xcb_connection_t *c;
	int tries;

	for (tries = TRIES; tries-- && !*reason; poll(NULL, 0, 50)) {
		if (!(c = dial(name, screen, reason, sizeof reason)))
			fail(b, "pipe:");
		free(xcb_get_input_focus_reply(c, xcb_get_input_focus(c),
			NULL));
		if (!xcb_connection_has_error(c))
			return c;
	}
	if (*reason)
		fail(b, "refused: %s (see xauth, xhost)", reason);
	switch (xcb_connection_has_error(c)) {
	case XCB_CONN_CLOSED_INVALID_SCREEN:
		fail(b, "it has no such screen");
	case XCB_CONN_CLOSED_MEM_INSUFFICIENT:
		fail(b, "out of memory");
	}
	if (cut_off())
		fail(b, "it closed the connection");
	return NULL;
}

/* The run's own server, or that of $DISPLAY; NULL: none, for that reason. */
static xcb_connection_t *
connect_real(struct bench *b, int *screen, char why[static REASON])
{
	struct served *run = served(b);
	struct xown *own = &run->own;
	const char *name = own->ready ? own->display : getenv("DISPLAY");
	xcb_connection_t *c;
	char doing[REASON / 2];

	if (!name || !*name) {
		snprintf(why, REASON, "no DISPLAY is set (-d sets one, "
			"-s starts one)%s", own->why);
		return NULL;
	}
	snprintf(doing, sizeof doing, "connecting to X server %s", name);
	stage(b, doing);
	if (!x_display(name))
		fail(b, "no display's name: [host]:number[.screen], as :0");
	if ((c = reach(b, name, screen))) {
		run->real = 1;
		return c;
	}
	if (run->real || own->ready)
		fail(b, "it is gone (did it die?): %s", strerror(errno));
	snprintf(why, REASON, "no X server at %.40s (%s)%s", name,
		strerror(errno), own->why);
	return NULL;
}

/*
 * A request of an extension that xcb need not know: bytes of words, of which
 * the first is for its head.  Returns the reply, if it has one; NULL where
 * that is an error, or there is no such extension.
 */
static void *
ask(xcb_connection_t *c, const char *extension, int opcode, int replies,
	uint32_t *words, size_t bytes)
{
	xcb_extension_t ext = { extension, 0 };
	xcb_protocol_request_t request = { 1, &ext, (uint8_t)opcode, !replies };
	struct iovec part[] = {         /* xcb wants two before ours */
		{ NULL, 0 }, { NULL, 0 }, { words, bytes },
	};
	const xcb_query_extension_reply_t *have;
	unsigned n;

	have = xcb_get_extension_data(c, &ext);
	if (!have || !have->present)
		return NULL;
	n = xcb_send_request(c, 0, part + 2, &request);
	return replies ? xcb_wait_for_reply(c, n, NULL) : NULL;
}

/* The built-in server, in a process of its own. */
static xcb_connection_t *
connect_null(struct bench *b)
{
	xcb_connection_t *c;
	int s[2];

	stage(b, "connecting to the built-in X server");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s))
		fail(b, "socketpair:");
	if (!peer(b)) {
		close(s[0]);
		_exit(!!xnull(s[1]));
	}
	close(s[1]);
	c = xcb_connect_to_fd(s[0], NULL);
	if (xcb_connection_has_error(c))
		fail(b, "it does not answer");
	return c;
}

/* A screen, or NULL: xcb's iterators would leave the bytes that came. */
static const xcb_screen_t *
find_screen(const xcb_setup_t *s, int n)
{
	const char *end = (const char *)s +
		offsetof(xcb_setup_t, release_number) + 4 * s->length;
	const char *p = (const char *)xcb_setup_roots_iterator(s).data;
	const xcb_screen_t *screen;
	int depths;

	do {
		if (end - p < (long)sizeof *screen)
			return NULL;
		screen = (const xcb_screen_t *)p;
		p += sizeof *screen;
		for (depths = screen->allowed_depths_len; depths--; )
			if (end - p >= (long)sizeof (xcb_depth_t))
				p += sizeof (xcb_depth_t) +
					((const xcb_depth_t *)p)->visuals_len *
					sizeof (xcb_visualtype_t);
	} while (n--);
	return p <= end ? screen : NULL;
}

static void
facts(struct bench *b, xcb_connection_t *c, const xcb_screen_t *screen)
{
	const xcb_setup_t *s = xcb_get_setup(c);
	const struct xown *own = &served(b)->own;

	fact(b, "x_vendor", "%.*s", xcb_setup_vendor_length(s),
		xcb_setup_vendor(s));
	fact(b, "x_release", "%u", s->release_number);
	fact(b, "x_size", "%dx%d", screen->width_in_pixels,
		screen->height_in_pixels);
	fact(b, "x_depth", "%d", screen->root_depth);
	fact(b, "x_server", served(b)->null ? "built-in" : own->ready ?
		"started" : "external");
	fact(b, "stones", "%d", STONES);
	if (!own->ready)
		return;
	fact(b, "x_command", "%s", own->command);
	fact(b, "x_remark", "on a server started for it: %s", own->command);
}

/*
 * Who the server is: the process at the other end of a Unix socket.  By TCP
 * it says so itself, X-Resource 1.2, when asked for the client that owns the
 * root window; but not if it is elsewhere, or if it knows our process too,
 * which then is that of somebody between us.
 */
static void
find_server(struct bench *b, xcb_connection_t *c)
{
	enum { CLIENT_IDS = 4, PID = 2 };
	struct served *run = served(b);
	const xcb_setup_t *s = xcb_get_setup(c);
	uint32_t words[] = { 0, 2, xcb_setup_roots_iterator(s).data->root, PID,
		s->resource_id_base, PID };
	struct { uint32_t head, length, ids[6], client, mask, bytes, pid; } *r;
	struct sockaddr_in6 here = { 0 }, there = { 0 };        /* or IPv4 */
	struct ucred who = { 0 };
	socklen_t len[] = { sizeof who, sizeof here, sizeof there };
	int fd = xcb_get_file_descriptor(c);

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len[0]);
	getsockname(fd, (struct sockaddr *)&here, &len[1]);
	getpeername(fd, (struct sockaddr *)&there, &len[2]);
	fact(b, "x_comm", run->null ? "null" : here.sin6_family == AF_UNIX ?
		"unix" : "tcp");
	run->named = "(";
	run->pid = (int)who.pid;
	here.sin6_port = there.sin6_port;
	if (run->pid || memcmp(&here, &there, sizeof here) ||
	    !(r = ask(c, "X-Resource", CLIENT_IDS, 1, words, sizeof words)))
		return;
	run->named = "(X";
	if (r->length == 4 && !r->client)
		run->pid = (int)r->pid;
	free(r);
}

/*
 * A dark screen is lit and the timers that darken it begin anew, as if a
 * key had been struck: a row is over long before they end, and whatever
 * becomes of it, there is nothing that would have to be put back.
 */
static void
wake(xcb_connection_t *c)
{
	enum { FORCE_LEVEL = 6, INFO = 7, ON = 0 };
	uint32_t words[] = { 0, ON };
	struct {
		uint32_t head[2];
		uint16_t level;
		uint8_t enabled;
	} *info;

	xcb_force_screen_saver(c, XCB_SCREEN_SAVER_RESET);
	info = ask(c, "DPMS", INFO, 1, words, 4);
	if (info && info->enabled && info->level != ON)
		ask(c, "DPMS", FORCE_LEVEL, 0, words, 8);
	free(info);
}

/*
 * Drawing takes longer where the pointer is drawn over it.  XFIXES hides it
 * while the connection lasts.  It must not be given a shape of ours: a server
 * may have been showing none.
 */
static void
hide_pointer(xcb_connection_t *c, xcb_window_t root)
{
	enum { QUERY_VERSION = 0, HIDE = 29, HAS_HIDE = 4 };
	uint32_t version[] = { 0, HAS_HIDE, 0 };
	uint32_t where[] = { 0, root }, *r;

	r = ask(c, "XFIXES", QUERY_VERSION, 1, version, sizeof version);
	if (r && r[2] >= HAS_HIDE)
		ask(c, "XFIXES", HIDE, 0, where, sizeof where);
	free(r);
}

xcb_connection_t *
x_connect(struct bench *b, const xcb_screen_t **screen)
{
	struct served *run = served(b);
	xcb_connection_t *c = NULL;
	char why[REASON];
	int number = 0;

	if (!run->beside && !run->null &&
	    !(c = connect_real(b, &number, why))) {
		run->null = 1;
		strcpy(run->why, why);
	}
	if (!c)
		c = connect_null(b);
	if (run->null)
		fact(b, "x_remark", "%s: figures of the built-in server, "
			"which draws nothing", run->why);
	if (!(*screen = find_screen(xcb_get_setup(c), number)))
		fail(b, "what it says of itself is cut short");
	if (!run->beside) {
		facts(b, c, *screen);
		find_server(b, c);
	}
	wake(c);
	hide_pointer(c, (*screen)->root);
	stage(b, NULL);
	return c;
}

/* --- who spends the time ------------------------------------------------- */

/*
 * n numbers of a file that has that text, in ticks, from so many words after
 * a name in parentheses on; after its start where there is none.
 */
static void
read_ticks(const char *path, const char *text, int skipped, double *to, int n)
{
	char s[1024], *p;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t k = fd < 0 ? -1 : read(fd, s, sizeof s - 1);

	close(fd);
	s[k > 0 ? k : 0] = '\0';
	if (!strstr(s, text))
		return;
	if (!(p = strrchr(s, ')')))
		p = s;
	while (skipped-- && p)
		p = strchr(p + 1, ' ');
	while (n-- && p)
		*to++ = decimal(p, &p) / (double)getauxval(AT_CLKTCK);
}

void
x_spent(struct bench *b, double t[static TIMES])
{
	const struct served *run = served(b);
	struct rusage u;
	char path[32];

	memset(t, 0, TIMES * sizeof *t);
	t[WALL] = seconds();
	getrusage(RUSAGE_SELF, &u);
	t[USER] = (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6;
	t[SYSTEM] = (double)u.ru_stime.tv_sec +
		(double)u.ru_stime.tv_usec / 1e6;
	snprintf(path, sizeof path, "/proc/%d/stat", run->pid);
	read_ticks(path, run->named, 12, &t[XUSER], 2);
	read_ticks("/proc/stat", "cpu", 2, &t[ALLUSER], 4);
}

/* Of the row's category, or NULL. */
static struct split *
split_of(struct bench *b, const char **name)
{
	static const char *const names[CATEGORIES] = {
		"x_cpu_line", "x_cpu_fill", "x_cpu_blt",
		"x_cpu_text", "x_cpu_arc", "x_cpu_cmplx"
	};
	int i;

	for (i = 0; i < CATEGORIES; i++)
		if (!strcmp(b->test->table + 2, (*name = names[i]) + 6))
			return &served(b)->split[i];
	return NULL;
}

/*
 * Adds what was spent since then, and says the sums as percentages: of wall
 * time, or of what client and server had of CPUs where that is more; of all
 * CPUs; and the time that rows take where nothing is drawn.  Of a server that
 * is not known there are none.
 */
void
x_account(struct bench *b, const double since[static TIMES])
{
	double now[TIMES], *t, all, cpus, idle;
	char server[32] = "- - -";
	const char *name;
	struct split *s = split_of(b, &name);
	int i;

	if (!s || served(b)->null)
		return;
	x_spent(b, now);
	for (t = s->spent, i = 0; i < TIMES; i++)
		t[i] += now[i] - since[i];
	all = t[USER] + t[SYSTEM] + t[XUSER] + t[XSYSTEM];
	if (all < t[WALL])
		all = t[WALL];
	cpus = t[ALLUSER] + t[ALLNICE] + t[ALLSYSTEM] + t[ALLIDLE];
	if (cpus <= 0)
		return;
	all /= 100;
	cpus /= 100;
	idle = 100 - (t[USER] + t[SYSTEM] + t[XUSER] + t[XSYSTEM]) / all;
	if (now[XUSER] + now[XSYSTEM] > 0)
		snprintf(server, sizeof server, "%.1f %.1f %.1f",
			t[XUSER] / all, t[XSYSTEM] / all, idle > 0 ? idle : 0);
	fact(b, name, "%.1f %.1f %s %.1f %.1f %.1f %.1f", t[USER] / all,
		t[SYSTEM] / all, server,
		(t[ALLUSER] + t[ALLNICE]) / cpus, t[ALLSYSTEM] / cpus,
		t[ALLIDLE] / cpus, s->null > 0 ? s->null / s->rows : 0);
}

void
x_again(struct bench *b)
{
	struct served *run = served(b);

	if (run->null)
		return;
	run->beside = 1;
	b->test->run(b);
	run->beside = 0;
}

double *
x_patience(struct bench *b)
{
	double *p = &served(b)->patience;

	if (*p <= 0)
		*p = PATIENCE;
	return p;
}

int
x_beside(struct bench *b)
{
	return served(b)->beside;
}

void
x_null(struct bench *b, double t)
{
	const char *name;
	struct split *s = split_of(b, &name);

	part(b, "=null 1/s", &served(b)->null_rate[b->test - x_tests],
		t > 0 ? b->work / t : 0);
	if (s) {
		s->null += 100 * t / quantile(b->v, b->kept, 0.5);
		s->rows++;
	}
}

#else

int
x_display(const char *name)
{
	return *name != '\0';
}

#endif
