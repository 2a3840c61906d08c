/*
 * xnull.c - an X server that draws nothing, for one client on a socket.
 *
 * It checks a request as a real one does and answers those that want an
 * answer, so that its rates are the most that client, kernel and socket
 * allow, and a wrong request fails here as elsewhere.  A request is a row
 * of the table at the foot and, where lengths and ids are not all there is
 * to check, a function that returns 0 or an error's number.
 *
 * Source: X Window System Protocol, X Version 11, Release 6.8, with its
 * appendix B for all numbers and offsets; Big Requests Extension 2.0 and
 * XC-MISC Extension 1.1 of the same release.
 */
#include "bench.h"
#include "config.h"

#if WITH_X

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	CHUNK = 64 << 10,       /* bytes read or written at once */
	LONGEST = 4 << 20,      /* bytes of a request; a setup has 128 KiB */
	ROOM = 1 << 18,         /* ids of a client: the least there may be */
	ATOMS = 1024,           /* a client's; 68 have a number beforehand */
	ATOM = 69,              /* the first of them */
	STORE = 16 << 20,       /* bytes of properties */
	IMAGE = 64 << 20,       /* bytes of a pixmap */
	SCREEN_W = 1024, SCREEN_H = 768, DEPTH = 24  /* of the screen */
};

/* Ids: the server's own lie below ROOM, the client's from there on. */
enum { VISUAL = 0x20, ROOT = 0x100, MAP, BLACK = 0, WHITE = 0xffffff };

/* Errors; one that says a thing is not of a kind stands for the kind, too. */
enum {
	BADREQUEST = 1, BADVALUE, WIN, PIX, BADATOM, CURSOR, FONT, BADMATCH,
	DRAW, BADACCESS, BADALLOC, CMAP, GC, NEW, BADNAME, BADLENGTH,
	BADIMPLEMENTATION,
	OR_NONE = 128,          /* with a kind: or no thing at all */
	WINS = OR_NONE | WIN
};

enum {
	EXPOSE = 12, GRAPHICS_EXPOSE, NO_EXPOSE, VISIBILITY_NOTIFY,
	DESTROY_NOTIFY = 17, UNMAP_NOTIFY, MAP_NOTIFY, CONFIGURE_NOTIFY = 22,
	PROPERTY_NOTIFY = 28
};

/* bits of an event mask */
enum {
	EXPOSURE = 1 << 15, VISIBILITY = 1 << 16, STRUCTURE = 1 << 17,
	SUBSTRUCTURE = 1 << 19, PROPERTY = 1 << 22, ALL_EVENTS = 0x1ffffff
};

struct atom {
	size_t n;
	char name[];
};

struct property {
	struct property *next;
	uint32_t atom, type;
	int format;
	size_t bytes;
	unsigned char data[];   /* in the client's byte order */
};

/* What has an id. */
struct thing {
	uint8_t kind;           /* 0: nothing has it */
	uint8_t depth;          /* 0: a window for input only */
	uint8_t mapped;
	uint8_t override;       /* redirect */
	uint8_t exposures;      /* of a GC */
	int16_t x, y;
	uint16_t width, height, border;
	uint32_t events;        /* selected */
	uint32_t parent, bottom;        /* bottom: lowest child, or 0 */
	uint32_t above, below;  /* siblings, in a ring */
	struct property *properties;
};

struct server {
	int fd;
	const struct xfault *fault;
	int error;              /* errno of a socket that failed */
	int swap;               /* the client's byte order is not ours */
	int big;                /* the client may send big requests */
	long count;             /* requests so far */
	unsigned char *q;       /* the request: here, so many bytes; a big */
	size_t n;               /* one has lost its second length */
	unsigned char head[4];  /* of a request that was thrown away */
	uint32_t bad;           /* what an error is about */
	int x, y;               /* of the pointer */
	int saver[4];           /* timeout, interval, blanking, exposures */
	uint32_t unused;        /* id where the next search for some begins */
	size_t stored;          /* bytes of properties */
	size_t from, to;        /* of `in', that are not used up */
	size_t pending;         /* bytes of `out' */
	const struct row *rows[256];
	struct atom *atoms[ATOMS];
	unsigned char out[CHUNK], in[LONGEST];
	struct thing things[2 * ROOM];  /* most of it is never touched */
};

struct row {
	uint8_t opcode;
	const char *name;
	uint8_t mode;           /* most its second byte may be */
	uint8_t least;          /* bytes */
	uint8_t each;           /* bytes of what follows; 0: nothing may */
	uint8_t first, second;  /* kinds of the ids at 4 and 8; 0: none there */
	int (*run)(struct server *);
};

static const struct {
	uint8_t depth, bits;    /* bits a pixel has in an image */
} depths[] = {
	{ 24, 32 }, { 1, 1 }, { 4, 8 }, { 8, 8 }, { 32, 32 },
};

static const char vendor[] = "bench, null server";

/* --- bytes, in the order of the client ------------------------------------ */

static int
byte(const struct server *s, size_t at)
{
	return s->q[at];
}

static unsigned
card16(const struct server *s, size_t at)
{
	uint16_t v;

	memcpy(&v, s->q + at, sizeof v);
	return s->swap ? __builtin_bswap16(v) : v;
}

static int
int16(const struct server *s, size_t at)
{
	return (int16_t)card16(s, at);
}

static uint32_t
card32(const struct server *s, size_t at)
{
	uint32_t v;

	memcpy(&v, s->q + at, sizeof v);
	return s->swap ? __builtin_bswap32(v) : v;
}

static int
big_endian(void)
{
	const uint16_t one = 1;

	return !*(const unsigned char *)&one;
}

static size_t
pad(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Lays out values of these sizes (1, 2, 4 bytes); returns the end. */
static unsigned char *
vpack(const struct server *s, unsigned char *to, const char *sizes, va_list ap)
{
	uint32_t v;
	uint16_t half;

	for (; *sizes; to += *sizes++ - '0') {
		v = va_arg(ap, uint32_t);
		half = (uint16_t)v;
		if (*sizes == '1') {
			*to = (unsigned char)v;
		} else if (*sizes == '2') {
			half = s->swap ? __builtin_bswap16(half) : half;
			memcpy(to, &half, sizeof half);
		} else {
			v = s->swap ? __builtin_bswap32(v) : v;
			memcpy(to, &v, sizeof v);
		}
	}
	return to;
}

static unsigned char *
pack(const struct server *s, unsigned char *to, const char *sizes, ...)
{
	va_list ap;

	va_start(ap, sizes);
	to = vpack(s, to, sizes, ap);
	va_end(ap);
	return to;
}

/* --- in and out ----------------------------------------------------------- */

static void
flush(struct server *s)
{
	size_t at = 0;
	ssize_t k;

	while (at < s->pending && !s->error) {
		k = send(s->fd, s->out + at, s->pending - at, MSG_NOSIGNAL);
		if (k >= 0)
			at += (size_t)k;
		else if (errno != EINTR)
			s->error = errno;
	}
	s->pending = 0;
}

/* Sends n bytes, zeros where data is NULL. */
static void
append(struct server *s, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t k;

	for (; n && !s->error; n -= k) {
		if (s->pending == CHUNK)
			flush(s);
		k = n < CHUNK - s->pending ? n : CHUNK - s->pending;
		if (p) {
			memcpy(s->out + s->pending, p, k);
			p += k;
		} else {
			memset(s->out + s->pending, 0, k);
		}
		s->pending += k;
	}
}

/*
 * An error (type 0), a reply (1) or an event: 32 bytes or more.  The first
 * value of a reply is the count of words beyond these.
 */
static void
message(struct server *s, int type, int detail, const char *sizes, ...)
{
	unsigned char m[64] = { 0 }, *end;
	va_list ap;

	end = pack(s, m, "112", type, detail, (uint32_t)s->count);
	va_start(ap, sizes);
	end = vpack(s, end, sizes, ap);
	va_end(ap);
	append(s, m, end - m > 32 ? (size_t)(end - m) : 32);
}

/* Waits for n bytes at `from'.  Returns -1 when they do not come. */
static int
need(struct server *s, size_t n)
{
	ssize_t k;

	if (s->to - s->from >= n)
		return 0;
	flush(s);
	memmove(s->in, s->in + s->from, s->to - s->from);
	s->to -= s->from;
	s->from = 0;
	while (s->to < n) {
		k = recv(s->fd, s->in + s->to,
			(n > CHUNK ? n : CHUNK) - s->to, 0);
		if (!k || s->error)
			return -1;
		if (k > 0)
			s->to += (size_t)k;
		else if (errno != EINTR)
			s->error = errno;
	}
	return 0;
}

/* --- what the checks share ------------------------------------------------ */

static int
bad(struct server *s, int error, uint32_t value)
{
	s->bad = value;
	return error;
}

static struct thing *
thing(struct server *s, size_t at)
{
	return &s->things[card32(s, at)];
}

/* Is that the id of a thing of that kind?  If not, the error. */
static int
check_id(struct server *s, uint32_t id, int kind)
{
	int k = id < LEN(s->things) ? s->things[id].kind : -1;

	if (kind & OR_NONE && !id)
		return 0;
	kind &= ~OR_NONE;
	if (k == kind || (kind == NEW && !k && id >= ROOM) ||
	    (kind == DRAW && (k == WIN || k == PIX)))
		return 0;
	return bad(s, kind, id);
}

static int
check(struct server *s, size_t at, int kind)
{
	return check_id(s, card32(s, at), kind);
}

static struct thing *
make(struct server *s, int kind, int depth)
{
	struct thing *t = thing(s, 4);

	*t = (struct thing){ .kind = kind, .depth = depth };
	return t;
}

/* What a list of values may hold: at most that, or an id or less than that. */
struct limit {
	int kind;
	uint32_t most;
};

static int
values(struct server *s, size_t at, uint32_t mask, const struct limit *l, int n)
{
	uint32_t v;
	int i, err;

	if (s->n != at + 4 * (size_t)__builtin_popcount(mask))
		return BADLENGTH;
	if (mask >> n)
		return bad(s, BADVALUE, mask);
	for (i = 0; i < n; i++) {
		if (!(mask >> i & 1))
			continue;
		v = card32(s, at);
		if (!l[i].kind && v > l[i].most)
			return bad(s, BADVALUE, v);
		if (l[i].kind && v >= l[i].most &&
		    (err = check(s, at, l[i].kind)))
			return err;
		at += 4;
	}
	return 0;
}

/* The value of a bit that is set in the mask of a list, or another. */
static uint32_t
value(struct server *s, size_t at, uint32_t mask, int bit, uint32_t other)
{
	uint32_t before = mask & ((1u << bit) - 1);

	return mask >> bit & 1 ?
		card32(s, at + 4 * (size_t)__builtin_popcount(before)) : other;
}

static int
bits_of(int depth)
{
	size_t i;

	for (i = 0; i < LEN(depths); i++)
		if (depths[i].depth == depth)
			return depths[i].bits;
	return 0;
}

static uint32_t
visual_of(int depth)
{
	return depth >= 24 ? (uint32_t)(VISUAL + depth) : 0;
}

/* Bytes of an image: format 2 is pixel by pixel, else plane by plane. */
static uint64_t
image_bytes(int format, unsigned width, unsigned height, int planes, int bits)
{
	if (format == 2)
		planes = 1;
	else
		bits = 1;
	return (uint64_t)((width * (unsigned)bits + 31) / 32 * 4) * height *
		(unsigned)planes;
}

/* --- windows -------------------------------------------------------------- */

static void
link_window(struct server *s, uint32_t id)
{
	struct thing *t = s->things, *w = t + id, *up = t + w->parent;

	w->above = w->below = id;
	if (up->bottom) {
		w->above = up->bottom;
		w->below = t[w->above].below;
		t[w->above].below = t[w->below].above = id;
	} else {
		up->bottom = id;
	}
}

static void
unlink_window(struct server *s, uint32_t id)
{
	struct thing *t = s->things, *w = t + id, *up = t + w->parent;

	if (up->bottom == id)
		up->bottom = w->above == id ? 0 : w->above;
	t[w->above].below = w->below;
	t[w->below].above = w->above;
}

static int
viewable(const struct server *s, uint32_t id)
{
	while (id != ROOT && s->things[id].mapped)
		id = s->things[id].parent;
	return id == ROOT;
}

/* Where the inside of a window lies on the screen. */
static void
origin(const struct server *s, uint32_t id, int *x, int *y)
{
	const struct thing *w;

	for (*x = *y = 0; id != ROOT; id = w->parent) {
		w = &s->things[id];
		*x += w->x + w->border;
		*y += w->y + w->border;
	}
}

static void
tell(struct server *s, int type, uint32_t to, uint32_t id)
{
	const struct thing *w = &s->things[id];

	if (type == CONFIGURE_NOTIFY)
		message(s, type, 0, "444222221", to, id, 0, w->x, w->y,
			w->width, w->height, w->border, w->override);
	else
		message(s, type, 0, "441", to, id,
			type == MAP_NOTIFY ? w->override : 0);
}

/* An event of a window goes to it and to its parent, if selected there. */
static void
notify(struct server *s, int type, uint32_t id)
{
	const struct thing *w = &s->things[id];

	if (w->events & STRUCTURE)
		tell(s, type, id, id);
	if (id != ROOT && s->things[w->parent].events & SUBSTRUCTURE)
		tell(s, type, w->parent, id);
}

/* Now visible: a window and all that are mapped in it, without recursion. */
static void
expose(struct server *s, uint32_t top)
{
	const struct thing *t = s->things;
	uint32_t at = top;

	for (;;) {
		if (t[at].mapped && t[at].events & VISIBILITY)
			message(s, VISIBILITY_NOTIFY, 0, "41", at, 0);
		if (t[at].mapped && t[at].events & EXPOSURE && t[at].depth)
			message(s, EXPOSE, 0, "422222", at, 0, 0,
				t[at].width, t[at].height, 0);
		if (t[at].mapped && t[at].bottom) {
			at = t[at].bottom;
			continue;
		}
		while (at != top && t[at].above == t[t[at].parent].bottom)
			at = t[at].parent;
		if (at == top)
			return;
		at = t[at].above;
	}
}

static void
unmap(struct server *s, uint32_t id)
{
	struct thing *w = &s->things[id];

	if (!w->mapped || id == ROOT)
		return;
	w->mapped = 0;
	notify(s, UNMAP_NOTIFY, id);
}

/* Takes the property out of the list. */
static void
remove_property(struct server *s, struct property **at)
{
	struct property *p = *at;

	*at = p->next;
	s->stored -= sizeof *p + p->bytes;
	free(p);
}

/* A window goes after all that are in it. */
static void
destroy(struct server *s, uint32_t top)
{
	struct thing *w;
	uint32_t at, up;

	if (top == ROOT)
		return;
	unmap(s, top);
	for (at = top; ; at = up) {
		while (s->things[at].bottom)
			at = s->things[at].bottom;
		w = &s->things[at];
		up = w->parent;
		notify(s, DESTROY_NOTIFY, at);
		unlink_window(s, at);
		while (w->properties)
			remove_property(s, &w->properties);
		w->kind = 0;
		if (at == top)
			return;
	}
}

static const struct limit attributes[] = {
	{ PIX, 2 }, { 0, ~0u }, { PIX, 1 }, { 0, ~0u },   /* back, border */
	{ 0, 10 }, { 0, 10 },                                   /* gravities */
	{ 0, 2 }, { 0, ~0u }, { 0, ~0u },                       /* backing */
	{ 0, 1 }, { 0, 1 },             /* override redirect, save under */
	{ 0, ALL_EVENTS }, { 0, 0x3f4f }, { CMAP, 1 }, { CURSOR, 1 },
};

static int
set_attributes(struct server *s, struct thing *w, size_t at, uint32_t mask)
{
	int err = values(s, at, mask, attributes, LEN(attributes));
	uint32_t back, border;

	if (err)
		return err;
	back = value(s, at, mask, 0, 0);
	border = value(s, at, mask, 2, 0);
	if ((back > 1 && s->things[back].depth != w->depth) ||
	    (border && s->things[border].depth != w->depth))
		return BADMATCH;
	w->override = (uint8_t)value(s, at, mask, 9, w->override);
	w->events = value(s, at, mask, 11, w->events);
	return 0;
}

static int
create_window(struct server *s)
{
	enum { BORDER = 3 << 2, COLOURS = 1 << 13 };
	const struct thing *up = thing(s, 8);
	uint32_t visual = card32(s, 24), mask = card32(s, 28);
	int class = (int)card16(s, 22), depth = byte(s, 1), err;
	struct thing w = { .kind = WIN, .parent = card32(s, 8),
		.x = int16(s, 12), .y = int16(s, 14), .width = card16(s, 16),
		.height = card16(s, 18), .border = card16(s, 20) };

	if (!w.width || !w.height || class > 2)
		return BADVALUE;
	if (visual && visual != VISUAL + DEPTH && visual != VISUAL + 32)
		return BADMATCH;
	if (class == 2 || (!class && !up->depth)) {     /* for input only */
		if (depth || w.border)
			return BADMATCH;
	} else {
		w.depth = depth ? (uint8_t)depth : up->depth;
		if (!up->depth || !visual_of(w.depth) || visual_of(w.depth) !=
		    (visual ? visual : visual_of(up->depth)))
			return BADMATCH;
		if (w.depth != up->depth && !(mask & BORDER && mask & COLOURS))
			return BADMATCH;
	}
	if ((err = set_attributes(s, &w, 32, mask)))
		return err;
	*thing(s, 4) = w;
	link_window(s, card32(s, 4));
	return 0;
}

static int
change_window(struct server *s)
{
	return set_attributes(s, thing(s, 4), 12, card32(s, 8));
}

static int
get_window(struct server *s)
{
	const struct thing *w = thing(s, 4);
	int state = !w->mapped ? 0 : viewable(s, card32(s, 4)) ? 2 : 1;

	message(s, 1, 0, "44" "211" "44" "1111" "444" "22", 3,
		visual_of(w->depth), w->depth ? 1 : 2, 0, 1, ~0u, 0, 0, 1,
		state, w->override, MAP, w->events, w->events, 0, 0);
	return 0;
}

static int
destroy_window(struct server *s)
{
	destroy(s, card32(s, 4));
	return 0;
}

static int
map_window(struct server *s)
{
	struct thing *w = thing(s, 4);
	uint32_t id = card32(s, 4);

	if (w->mapped)
		return 0;
	w->mapped = 1;
	notify(s, MAP_NOTIFY, id);
	if (viewable(s, id))
		expose(s, id);
	return 0;
}

static int
unmap_window(struct server *s)
{
	unmap(s, card32(s, 4));
	return 0;
}

/* Nothing overlaps anything, so that the order of siblings does not change. */
static int
configure(struct server *s)
{
	enum { SIBLING = 1 << 5, STACK = 1 << 6 };
	static const struct limit limits[] = {
		{ 0, ~0u }, { 0, ~0u }, { 0, ~0u }, { 0, ~0u }, { 0, ~0u },
		{ WIN, 0 }, { 0, 4 },
	};
	uint32_t id = card32(s, 4), mask = card16(s, 8), sibling;
	struct thing *w = thing(s, 4), old = *w;
	int grown, err = values(s, 12, mask, limits, LEN(limits));

	if (err)
		return err;
	sibling = value(s, 12, mask, 5, 0);
	if (mask & SIBLING && (!(mask & STACK) || sibling == id ||
	    s->things[sibling].parent != w->parent))
		return BADMATCH;
	if (!(uint16_t)value(s, 12, mask, 2, 1) ||
	    !(uint16_t)value(s, 12, mask, 3, 1))
		return bad(s, BADVALUE, 0);
	if (!w->depth && (uint16_t)value(s, 12, mask, 4, 0))
		return BADMATCH;
	if (id == ROOT)
		return 0;
	w->x = (int16_t)value(s, 12, mask, 0, (uint32_t)w->x);
	w->y = (int16_t)value(s, 12, mask, 1, (uint32_t)w->y);
	w->width = (uint16_t)value(s, 12, mask, 2, w->width);
	w->height = (uint16_t)value(s, 12, mask, 3, w->height);
	w->border = (uint16_t)value(s, 12, mask, 4, w->border);
	grown = w->width != old.width || w->height != old.height;
	if (grown || w->x != old.x || w->y != old.y || w->border != old.border)
		notify(s, CONFIGURE_NOTIFY, id);
	if (grown && viewable(s, id))
		expose(s, id);
	return 0;
}

static int
get_geometry(struct server *s)
{
	const struct thing *t = thing(s, 4);

	message(s, 1, t->depth, "4422222", 0, ROOT, t->x, t->y, t->width,
		t->height, t->border);
	return 0;
}

static int
query_tree(struct server *s)
{
	const struct thing *t = s->things, *w = thing(s, 4);
	uint32_t n = 0, at = w->bottom;
	unsigned char id[4];

	if (at)
		do
			n++;
		while ((at = t[at].above) != w->bottom);
	message(s, 1, 0, "4442", n, ROOT, w->parent, n);
	for (; n--; at = t[at].above) {
		pack(s, id, "4", at);
		append(s, id, sizeof id);
	}
	return 0;
}

static int
translate(struct server *s)
{
	int x, y, to_x, to_y;

	origin(s, card32(s, 4), &x, &y);
	origin(s, card32(s, 8), &to_x, &to_y);
	message(s, 1, 1, "4422", 0, 0, x + int16(s, 12) - to_x,
		y + int16(s, 14) - to_y);
	return 0;
}

/* --- atoms and properties ------------------------------------------------- */

/*
 * The 68 names that have a number beforehand are not known: a client uses
 * the numbers.
 */
static int
intern_atom(struct server *s)
{
	size_t n = card16(s, 4);
	struct atom *a;
	int i;

	if (s->n != 8 + pad(n))
		return BADLENGTH;
	for (i = 0; i < ATOMS && (a = s->atoms[i]); i++)
		if (a->n == n && !memcmp(a->name, s->q + 8, n))
			break;
	if (i == ATOMS)
		return BADALLOC;
	if (!s->atoms[i] && !byte(s, 1)) {
		if (!(a = malloc(sizeof *a + n)))
			return BADALLOC;
		a->n = n;
		memcpy(a->name, s->q + 8, n);
		s->atoms[i] = a;
	}
	message(s, 1, 0, "44", 0, s->atoms[i] ? ATOM + i : 0);
	return 0;
}

static int
check_atom(struct server *s, size_t at)
{
	uint32_t a = card32(s, at);

	if (a && (a < ATOM || (a < ATOM + ATOMS && s->atoms[a - ATOM])))
		return 0;
	return bad(s, BADATOM, a);
}

/* Where the pointer to a window's property is, or would have to be. */
static struct property **
find_property(struct server *s)
{
	struct property **p = &thing(s, 4)->properties;

	while (*p && (*p)->atom != card32(s, 8))
		p = &(*p)->next;
	return p;
}

static void
tell_property(struct server *s, int deleted)
{
	if (thing(s, 4)->events & PROPERTY)
		message(s, PROPERTY_NOTIFY, 0, "4441", card32(s, 4),
			card32(s, 8), 0, deleted);
}

static int
set_property(struct server *s)
{
	enum { REPLACE, PREPEND, APPEND };
	int err, mode = byte(s, 1), format = byte(s, 16);
	uint32_t units = card32(s, 20);
	size_t n = (size_t)(format / 8) * units, keep;
	struct property **at, *p, *old;

	if (format != 8 && format != 16 && format != 32)
		return bad(s, BADVALUE, (uint32_t)format);
	if (units > s->n || s->n != 24 + pad(n))
		return BADLENGTH;
	if ((err = check_atom(s, 8)) || (err = check_atom(s, 12)))
		return err;
	old = *(at = find_property(s));
	if (old && mode != REPLACE &&
	    (old->type != card32(s, 12) || old->format != format))
		return BADMATCH;
	keep = old && mode != REPLACE ? old->bytes : 0;
	if (s->stored + n > STORE || !(p = malloc(sizeof *p + keep + n)))
		return BADALLOC;
	*p = (struct property){ old ? old->next : NULL, card32(s, 8),
		card32(s, 12), format, keep + n };
	memcpy(p->data + (mode == PREPEND ? 0 : keep), s->q + 24, n);
	if (keep)
		memcpy(p->data + (mode == PREPEND ? n : 0), old->data, keep);
	s->stored += sizeof *p + p->bytes;
	if (old)
		s->stored -= sizeof *old + old->bytes;
	free(old);
	*at = p;
	tell_property(s, 0);
	return 0;
}

static int
drop_property(struct server *s)
{
	struct property **at = find_property(s);
	int err = check_atom(s, 8);

	if (err || !*at)
		return err;
	tell_property(s, 1);
	remove_property(s, at);
	return 0;
}

static int
get_property(struct server *s)
{
	struct property **at = find_property(s), *p = *at;
	uint64_t skip = 4 * (uint64_t)card32(s, 16);
	uint64_t n = 4 * (uint64_t)card32(s, 20);
	uint32_t type = card32(s, 12);
	int err, last;

	if ((err = check_atom(s, 8)) || (type && (err = check_atom(s, 12))))
		return err;
	if (!p) {
		message(s, 1, 0, "4444", 0, 0, 0, 0);
		return 0;
	}
	if (type && type != p->type) {
		message(s, 1, p->format, "4444", 0, p->type,
			(uint32_t)p->bytes, 0);
		return 0;
	}
	if (skip > p->bytes)
		return bad(s, BADVALUE, card32(s, 16));
	if (n > p->bytes - skip)
		n = p->bytes - skip;
	last = byte(s, 1) && skip + n == p->bytes;
	if (last)
		tell_property(s, 1);
	message(s, 1, p->format, "4444", (uint32_t)pad(n) / 4, p->type,
		(uint32_t)(p->bytes - skip - n),
		(uint32_t)n / ((uint32_t)p->format / 8));
	append(s, p->data + skip, n);
	append(s, NULL, pad(n) - n);
	if (last)
		remove_property(s, at);
	return 0;
}

/* --- pointer, focus, screen saver ----------------------------------------- */

static int
query_pointer(struct server *s)
{
	int x, y;

	origin(s, card32(s, 4), &x, &y);
	message(s, 1, 1, "44422222", 0, ROOT, 0, s->x, s->y, s->x - x,
		s->y - y, 0);
	return 0;
}

static int
clamp(int v, int end)
{
	return v < 0 ? 0 : v >= end ? end - 1 : v;
}

/* Only when it is in the given part of the given window, if there is one. */
static int
warp_pointer(struct server *s)
{
	int width = (int)card16(s, 16), height = (int)card16(s, 18), x, y;

	if (card32(s, 4)) {
		origin(s, card32(s, 4), &x, &y);
		x = s->x - x - int16(s, 12);
		y = s->y - y - int16(s, 14);
		if (!width)
			width = thing(s, 4)->width - int16(s, 12);
		if (!height)
			height = thing(s, 4)->height - int16(s, 14);
		if (x < 0 || y < 0 || x >= width || y >= height)
			return 0;
	}
	x = s->x;
	y = s->y;
	if (card32(s, 8))
		origin(s, card32(s, 8), &x, &y);
	s->x = clamp(x + int16(s, 20), SCREEN_W);
	s->y = clamp(y + int16(s, 22), SCREEN_H);
	return 0;
}

static int
get_focus(struct server *s)
{
	enum { POINTER_ROOT = 1 };

	message(s, 1, POINTER_ROOT, "44", 0, POINTER_ROOT);
	return 0;
}

static int
set_saver(struct server *s)
{
	static const int usual[] = { 600, 600, 1, 1 };
	int i, v[] = { int16(s, 4), int16(s, 6), byte(s, 8), byte(s, 9) };

	for (i = 0; i < 4; i++)
		if (i < 2 ? v[i] < -1 : v[i] > 2)
			return bad(s, BADVALUE, (uint32_t)v[i]);
	for (i = 0; i < 4; i++)
		s->saver[i] = v[i] == (i < 2 ? -1 : 2) ? usual[i] : v[i];
	return 0;
}

static int
get_saver(struct server *s)
{
	message(s, 1, 0, "42211", 0, s->saver[0], s->saver[1], s->saver[2],
		s->saver[3]);
	return 0;
}

/* --- fonts: 6x13, all characters alike ------------------------------------ */

enum { ASCENT = 11, DESCENT = 2, ADVANCE = 6 };

static int
open_font(struct server *s)
{
	static const char *const fonts[] = { "fixed", "6x13", "cursor" };
	const char *without = s->fault->without;
	size_t i, n = card16(s, 8);

	if (s->n != 12 + pad(n))
		return BADLENGTH;
	for (i = 0; i < LEN(fonts); i++) {
		if (strlen(fonts[i]) != n || memcmp(fonts[i], s->q + 12, n) ||
		    (without && !strcmp(fonts[i], without)))
			continue;
		make(s, FONT, 0);
		return 0;
	}
	return BADNAME;
}

/* A GC has a font, too. */
static int
check_fontable(struct server *s)
{
	return check(s, 4, GC) ? check(s, 4, FONT) : 0;
}

static int
query_font(struct server *s)
{
	int err = check_fontable(s);

	if (!err)               /* least and greatest character, the rest */
		message(s, 1, 0, "4" "2222224" "2222224" "2222111122" "4", 7,
			0, ADVANCE, ADVANCE, ASCENT, DESCENT, 0, 0,
			0, ADVANCE, ADVANCE, ASCENT, DESCENT, 0, 0,
			0, 255, 0, 0, 0, 0, 0, 1, ASCENT, DESCENT, 0);
	return err;
}

static int
query_extents(struct server *s)
{
	int err = check_fontable(s), odd = byte(s, 1);
	uint32_t width;

	if (err)
		return err;
	if (odd > 1 || (odd && s->n == 8))
		return BADLENGTH;
	width = (uint32_t)((s->n - 8) / 2 - (size_t)odd) * ADVANCE;
	message(s, 1, 0, "42222444", 0, ASCENT, DESCENT, ASCENT, DESCENT,
		width, 0, width);
	return 0;
}

/* --- pixmaps, GCs, colours, cursors --------------------------------------- */

static int
create_pixmap(struct server *s)
{
	int depth = byte(s, 1), bits = bits_of(depth);
	unsigned width = card16(s, 12), height = card16(s, 14);
	struct thing *p;

	if (!bits || !width || !height)
		return bad(s, BADVALUE, bits ? 0 : (uint32_t)depth);
	if (image_bytes(2, width, height, depth, bits) > IMAGE)
		return BADALLOC;
	p = make(s, PIX, depth);
	p->width = (uint16_t)width;
	p->height = (uint16_t)height;
	return 0;
}

/* FreePixmap and others that end the life of what is no window. */
static int
release(struct server *s)
{
	if (card32(s, 4) >= ROOM)
		thing(s, 4)->kind = 0;
	return 0;
}

static const struct limit components[] = {
	{ 0, 15 }, { 0, ~0u }, { 0, ~0u }, { 0, ~0u },  /* function, colours */
	{ 0, ~0u }, { 0, 2 }, { 0, 3 }, { 0, 2 },       /* lines */
	{ 0, 3 }, { 0, 1 }, { PIX, 0 }, { PIX, 0 }, { 0, ~0u },
	{ 0, ~0u },                                     /* fills */
	{ FONT, 0 }, { 0, 1 }, { 0, 1 },        /* ..., subwindows, exposures */
	{ 0, ~0u }, { 0, ~0u }, { PIX, 1 },          /* clipping */
	{ 0, ~0u }, { 0, ~0u }, { 0, 1 },               /* dashes, arcs */
};

static int
set_gc(struct server *s, size_t at, uint32_t mask, struct thing *gc, int depth)
{
	const struct thing *t = s->things;
	uint32_t tile, stipple, clip;
	int err = values(s, at, mask, components, LEN(components));

	if (err)
		return err;
	tile = value(s, at, mask, 10, 0);
	stipple = value(s, at, mask, 11, 0);
	clip = value(s, at, mask, 19, 0);
	if ((tile && t[tile].depth != depth) ||
	    (stipple && t[stipple].depth != 1) || (clip && t[clip].depth != 1))
		return BADMATCH;
	if (!(value(s, at, mask, 21, 1) & 0xff))
		return bad(s, BADVALUE, 0);
	gc->exposures = (uint8_t)value(s, at, mask, 16, gc->exposures);
	return 0;
}

static int
create_gc(struct server *s)
{
	struct thing gc = { .kind = GC, .exposures = 1 };
	int err;

	gc.depth = thing(s, 8)->depth;
	if (!gc.depth)
		return BADMATCH;
	if (!(err = set_gc(s, 16, card32(s, 12), &gc, gc.depth)))
		*thing(s, 4) = gc;
	return err;
}

static int
change_gc(struct server *s)
{
	struct thing *gc = thing(s, 4);

	return set_gc(s, 12, card32(s, 8), gc, gc->depth);
}

static int
set_dashes(struct server *s)
{
	size_t i, n = card16(s, 10);

	if (s->n != 12 + pad(n))
		return BADLENGTH;
	for (i = 0; i < n; i++)
		if (!s->q[12 + i])
			return bad(s, BADVALUE, 0);
	return n ? 0 : bad(s, BADVALUE, 0);
}

/* Any size is best. */
static int
best_size(struct server *s)
{
	message(s, 1, 0, "422", 0, card16(s, 8), card16(s, 10));
	return 0;
}

/* Colours have no names here. */
static int
name_colour(struct server *s)
{
	(void)s;
	return BADNAME;
}

static int
alloc_colour(struct server *s)
{
	uint32_t r = card16(s, 8) >> 8, g = card16(s, 10) >> 8;
	uint32_t b = card16(s, 12) >> 8;

	message(s, 1, 0, "422224", 0, r * 257, g * 257, b * 257, 0,
		r << 16 | g << 8 | b);
	return 0;
}

/* --- drawing: nothing but checks ------------------------------------------ */

static int
clear_area(struct server *s)
{
	const struct thing *w = thing(s, 4);
	int x = int16(s, 8), y = int16(s, 10);
	int width = (int)card16(s, 12), height = (int)card16(s, 14);

	if (!w->depth)
		return BADMATCH;
	if (byte(s, 1) && w->events & EXPOSURE && viewable(s, card32(s, 4)))
		message(s, EXPOSE, 0, "422222", card32(s, 4), x, y,
			width ? width : w->width - x,
			height ? height : w->height - y, 0);
	return 0;
}

/* CopyArea and, with a plane, CopyPlane (63). */
static int
copy(struct server *s)
{
	const struct thing *from = thing(s, 4), *to = thing(s, 8), *gc;
	int x = int16(s, 16), y = int16(s, 18), err = check(s, 12, GC);
	unsigned width = card16(s, 24), height = card16(s, 26);
	uint32_t plane;

	if (err)
		return err;
	gc = thing(s, 12);
	if (gc->depth != to->depth || !from->depth)
		return BADMATCH;
	if (byte(s, 0) == 63) {
		plane = card32(s, 28);
		if (!plane || plane & (plane - 1) ||
		    (uint64_t)plane >> from->depth)
			return bad(s, BADVALUE, plane);
	} else if (from->depth != to->depth) {
		return BADMATCH;
	}
	if (!gc->exposures)
		return 0;
	if (x >= 0 && y >= 0 && x + (int)width <= from->width &&
	    y + (int)height <= from->height &&
	    (from->kind == PIX || viewable(s, card32(s, 4))))
		message(s, NO_EXPOSE, 0, "421", card32(s, 8), 0, byte(s, 0));
	else                    /* all of it: which part is not looked at */
		message(s, GRAPHICS_EXPOSE, 0, "42222221", card32(s, 8),
			int16(s, 20), int16(s, 22), width, height, 0, 0,
			byte(s, 0));
	return 0;
}

static int
fill_poly(struct server *s)
{
	return byte(s, 12) > 2 || byte(s, 13) > 1 ? BADVALUE : 0;
}

static int
put_image(struct server *s)
{
	int format = byte(s, 1), depth = byte(s, 21), left = byte(s, 20);

	if (format ? depth != thing(s, 4)->depth : depth != 1)
		return BADMATCH;
	if (format == 2 ? left : left >= 32)
		return BADMATCH;
	if (s->n != 24 + image_bytes(format, card16(s, 12) + (unsigned)left,
	    card16(s, 14), depth, bits_of(depth)))
		return BADLENGTH;
	return 0;
}

static int
get_image(struct server *s)
{
	const struct thing *t = thing(s, 4);
	int format = byte(s, 1), x = int16(s, 8), y = int16(s, 10), left, top;
	int width = (int)card16(s, 12), height = (int)card16(s, 14);
	uint32_t planes = card32(s, 16);
	uint64_t n;

	if (!format)
		return BADVALUE;
	if (!t->depth || x < -t->border || x + width > t->width + t->border ||
	    y < -t->border || y + height > t->height + t->border)
		return BADMATCH;
	if (t->kind == WIN) {
		origin(s, card32(s, 4), &left, &top);
		if (!viewable(s, card32(s, 4)) || left + x < 0 || top + y < 0 ||
		    left + x + width > SCREEN_W ||
		    top + y + height > SCREEN_H)
			return BADMATCH;
	}
	planes &= (uint32_t)(((uint64_t)1 << t->depth) - 1);
	n = image_bytes(format, (unsigned)width, (unsigned)height,
		__builtin_popcount(planes), bits_of(t->depth));
	message(s, 1, t->depth, "44", (uint32_t)(n / 4),
		t->kind == WIN ? visual_of(t->depth) : 0);
	append(s, NULL, n);
	return 0;
}

/* PolyText8 (74) and PolyText16: items of text, and changes of font. */
static int
poly_text(struct server *s)
{
	size_t at = 16, size = byte(s, 0) == 74 ? 1 : 2;
	const unsigned char *p;
	int err;

	while (at + 2 < s->n) {
		p = s->q + at;
		if (*p != 255)
			at += 2 + *p * size;
		else if ((at += 5) <= s->n && (err = check_id(s,
		    (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 |
		    (uint32_t)p[3] << 8 | p[4], FONT)))
			return err;
	}
	return at > s->n ? BADLENGTH : 0;
}

/* ImageText8 (76) and ImageText16 */
static int
image_text(struct server *s)
{
	size_t n = (size_t)byte(s, 1) * (byte(s, 0) == 76 ? 1 : 2);

	return s->n == 16 + pad(n) ? 0 : BADLENGTH;
}

/* --- extensions ----------------------------------------------------------- */

static int
has(const struct server *s, const struct row *r)
{
	return r && r->opcode >= 128 &&
		!(s->fault->without && !strcmp(s->fault->without, r->name));
}

static int
has_extension(struct server *s)
{
	size_t i, n = card16(s, 4);
	const struct row *r;

	if (s->n != 8 + pad(n))
		return BADLENGTH;
	for (i = 128; i < LEN(s->rows); i++) {
		r = s->rows[i];
		if (has(s, r) && strlen(r->name) == n &&
		    !memcmp(r->name, s->q + 8, n))
			break;
	}
	message(s, 1, 0, "41111", 0, i < LEN(s->rows), (uint32_t)i, 0, 0);
	return 0;
}

static int
extensions(struct server *s)
{
	unsigned char names[256], *p = names;
	size_t i, len;
	int n = 0;

	for (i = 128; i < LEN(s->rows); i++)
		if (has(s, s->rows[i])) {
			len = strlen(s->rows[i]->name);
			*p++ = (unsigned char)len;
			memcpy(p, s->rows[i]->name, len);
			p += len;
			n++;
		}
	len = (size_t)(p - names);
	message(s, 1, n, "4", (uint32_t)pad(len) / 4);
	append(s, names, len);
	append(s, NULL, pad(len) - len);
	return 0;
}

static int
big_requests(struct server *s)
{
	if (byte(s, 1))
		return BADREQUEST;
	if (s->n != 4)
		return BADLENGTH;
	s->big = 1;
	message(s, 1, 0, "44", 0, LONGEST / 4);
	return 0;
}

static int
is_unused(const struct server *s, uint32_t id)
{
	return id < LEN(s->things) && !s->things[id].kind;
}

/*
 * A range of ids that nothing has any more: the next one after that which
 * was given out last, round and round.
 */
static int
xc_misc(struct server *s)
{
	enum { GET_VERSION, GET_RANGE };
	uint32_t id = s->unused, end, i;

	if (byte(s, 1) > GET_RANGE)
		return BADREQUEST;
	if (s->n != (byte(s, 1) == GET_VERSION ? 8 : 4))
		return BADLENGTH;
	if (byte(s, 1) == GET_VERSION) {
		message(s, 1, 0, "422", 0, 1, 1);
		return 0;
	}
	for (i = 0; i < ROOM && !is_unused(s, id); i++)
		id = id + 1 < LEN(s->things) ? id + 1 : ROOM;
	for (end = id; is_unused(s, end); end++)
		;
	s->unused = end;
	if (end > id)
		message(s, 1, 0, "444", 0, id, end - id);
	else                    /* there are none */
		message(s, 1, 0, "444", 0, 0, 1);
	return 0;
}

/* --- the table ------------------------------------------------------------ */

enum { ANY = 255 };

static const struct row rows[] = {
	/*     name             mode least each first second function */
	{   1, "CreateWindow",        ANY, 32, 4,  NEW,  WIN,  create_window },
	{   2, "ChangeWindowAttributes",
	                              ANY, 12, 4,  WIN,  0,    change_window },
	{   3, "GetWindowAttributes", ANY, 8,  0,  WIN,  0,    get_window },
	{   4, "DestroyWindow",       ANY, 8,  0,  WIN,  0,    destroy_window },
	{   8, "MapWindow",           ANY, 8,  0,  WIN,  0,    map_window },
	{  10, "UnmapWindow",         ANY, 8,  0,  WIN,  0,    unmap_window },
	{  12, "ConfigureWindow",     ANY, 12, 4,  WIN,  0,    configure },
	{  14, "GetGeometry",         ANY, 8,  0,  DRAW, 0,    get_geometry },
	{  15, "QueryTree",           ANY, 8,  0,  WIN,  0,    query_tree },
	{  16, "InternAtom",          1,   8,  4,  0,    0,    intern_atom },
	{  18, "ChangeProperty",      2,   24, 4,  WIN,  0,    set_property },
	{  19, "DeleteProperty",      ANY, 12, 0,  WIN,  0,    drop_property },
	{  20, "GetProperty",         1,   24, 0,  WIN,  0,    get_property },
	{  36, "GrabServer",          ANY, 4,  0,  0,    0,    NULL },
	{  37, "UngrabServer",        ANY, 4,  0,  0,    0,    NULL },
	{  38, "QueryPointer",        ANY, 8,  0,  WIN,  0,    query_pointer },
	{  40, "TranslateCoordinates",ANY, 16, 0,  WIN,  WIN,  translate },
	{  41, "WarpPointer",         ANY, 24, 0,  WINS, WINS, warp_pointer },
	{  43, "GetInputFocus",       ANY, 4,  0,  0,    0,    get_focus },
	{  45, "OpenFont",            ANY, 12, 4,  NEW,  0,    open_font },
	{  46, "CloseFont",           ANY, 8,  0,  FONT, 0,    release },
	{  47, "QueryFont",           ANY, 8,  0,  0,    0,    query_font },
	{  48, "QueryTextExtents",    ANY, 8,  4,  0,    0,    query_extents },
	{  53, "CreatePixmap",        ANY, 16, 0,  NEW,  DRAW, create_pixmap },
	{  54, "FreePixmap",          ANY, 8,  0,  PIX,  0,    release },
	{  55, "CreateGC",            ANY, 16, 4,  NEW,  DRAW, create_gc },
	{  56, "ChangeGC",            ANY, 12, 4,  GC,   0,    change_gc },
	{  58, "SetDashes",           ANY, 12, 4,  GC,   0,    set_dashes },
	{  59, "SetClipRectangles",   3,   12, 8,  GC,   0,    NULL },
	{  60, "FreeGC",              ANY, 8,  0,  GC,   0,    release },
	{  61, "ClearArea",           1,   16, 0,  WIN,  0,    clear_area },
	{  62, "CopyArea",            ANY, 28, 0,  DRAW, DRAW, copy },
	{  63, "CopyPlane",           ANY, 32, 0,  DRAW, DRAW, copy },
	{  64, "PolyPoint",           1,   12, 4,  DRAW, GC,   NULL },
	{  65, "PolyLine",            1,   12, 4,  DRAW, GC,   NULL },
	{  66, "PolySegment",         ANY, 12, 8,  DRAW, GC,   NULL },
	{  67, "PolyRectangle",       ANY, 12, 8,  DRAW, GC,   NULL },
	{  68, "PolyArc",             ANY, 12, 12, DRAW, GC,   NULL },
	{  69, "FillPoly",            ANY, 16, 4,  DRAW, GC,   fill_poly },
	{  70, "PolyFillRectangle",   ANY, 12, 8,  DRAW, GC,   NULL },
	{  71, "PolyFillArc",         ANY, 12, 12, DRAW, GC,   NULL },
	{  72, "PutImage",            2,   24, 4,  DRAW, GC,   put_image },
	{  73, "GetImage",            2,   20, 0,  DRAW, 0,    get_image },
	{  74, "PolyText8",           ANY, 16, 4,  DRAW, GC,   poly_text },
	{  75, "PolyText16",          ANY, 16, 4,  DRAW, GC,   poly_text },
	{  76, "ImageText8",          ANY, 16, 4,  DRAW, GC,   image_text },
	{  77, "ImageText16",         ANY, 16, 4,  DRAW, GC,   image_text },
	{  84, "AllocColor",          ANY, 16, 0,  CMAP, 0,    alloc_colour },
	{  85, "AllocNamedColor",     ANY, 12, 4,  CMAP, 0,    name_colour },
	{  88, "FreeColors",          ANY, 12, 4,  CMAP, 0,    NULL },
	{  92, "LookupColor",         ANY, 12, 4,  CMAP, 0,    name_colour },
	{  97, "QueryBestSize",       2,   12, 0,  DRAW, 0,    best_size },
	{  98, "QueryExtension",      ANY, 8,  4,  0,    0,    has_extension },
	{  99, "ListExtensions",      ANY, 4,  0,  0,    0,    extensions },
	{ 107, "SetScreenSaver",      ANY, 12, 0,  0,    0,    set_saver },
	{ 108, "GetScreenSaver",      ANY, 4,  0,  0,    0,    get_saver },
	{ 115, "ForceScreenSaver",    1,   4,  0,  0,    0,    NULL },
	{ 127, "NoOperation",         ANY, 4,  4,  0,    0,    NULL },
	{ 128, "BIG-REQUESTS",        ANY, 4,  4,  0,    0,    big_requests },
	{ 129, "XC-MISC",             ANY, 4,  4,  0,    0,    xc_misc },
};

const char *
xnull_request(int opcode)
{
	size_t i;

	for (i = 0; i < LEN(rows); i++)
		if (rows[i].opcode == opcode)
			return rows[i].name;
	return NULL;
}

/* --- the connection ------------------------------------------------------- */

/* Refuses the client (status 0) or wants it to prove who it is (2). */
static void
refuse(struct server *s, int status, const char *why)
{
	unsigned char m[8];
	size_t n = strlen(why);

	pack(s, m, "11222", status, status ? 0 : (int)n, 11, 0,
		(uint32_t)pad(n) / 4);
	append(s, m, sizeof m);
	append(s, why, n);
	append(s, NULL, pad(n) - n);
}

static unsigned char *
pack_screen(const struct server *s, unsigned char *p)
{
	uint32_t visuals;
	size_t i;

	p = pack(s, p, "44444" "222222" "4" "1111", ROOT, MAP, WHITE, BLACK,
		0, SCREEN_W, SCREEN_H, SCREEN_W * 254 / 960,
		SCREEN_H * 254 / 960, 1, 1, VISUAL + DEPTH, 0, 0, DEPTH,
		(int)LEN(depths));
	for (i = 0; i < LEN(depths); i++) {
		visuals = visual_of(depths[i].depth) != 0;
		p = pack(s, p, "1124", depths[i].depth, 0, visuals, 0);
		if (visuals)
			p = pack(s, p, "4112" "4444",
				visual_of(depths[i].depth), 4, 8, 256,
				0xff0000, 0xff00, 0xff, 0);
	}
	return p;
}

/* Tells the client of the screen; absurdly so when that is the fault. */
static void
welcome(struct server *s)
{
	enum { HEAD = 8, WORD = 32 };
	enum xwhat f = s->fault->what;
	unsigned char m[512] = { 0 }, *p;
	int i, formats = f == XNOFORMAT ? 0 : (int)LEN(depths);
	size_t n = sizeof vendor - 1;

	p = pack(s, m + HEAD, "4444" "2211" "111111" "4", 1, ROOM, ROOM - 1,
		0, f == XLENGTHS ? 0xfff0 : (int)n, 0xffff, f != XNOSCREEN,
		formats, big_endian(), big_endian(), WORD, WORD, 8, 255, 0);
	memcpy(p, vendor, n);
	p += pad(n);
	for (i = 0; i < formats; i++)
		p = pack(s, p, "111" "1" "4", depths[i].depth, depths[i].bits,
			WORD, 0, 0);
	if (f != XNOSCREEN)
		p = pack_screen(s, p);
	pack(s, m, "11222", 1, 0, 11, 0, (uint32_t)(p - m - HEAD) / 4);
	n = (size_t)(p - m);
	append(s, m, f == XTRUNCATE ? n / 2 : n);
}

/* Nothing more is read or written until the client has gone. */
static void
stall(const struct server *s)
{
	struct pollfd p = { s->fd, POLLRDHUP, 0 };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

/* Sends what no protocol has, the same every time. */
static void
garbage(struct server *s)
{
	uint32_t v = 1;
	int i;

	for (i = 0; i < 1024; i++) {
		v = v * 1103515245 + 12345;
		append(s, (unsigned char *)&v + 1, 2);
	}
}

/* The fault that was asked for.  Returns -1 when it ends the connection. */
static int
strike(struct server *s)
{
	switch (s->fault->what) {
	case XSTALL:
		flush(s);
		stall(s);
		return -1;
	case XCLOSE:
		return -1;
	case XGARBAGE:
		garbage(s);
		return 0;
	case XERROR:
		message(s, 0, BADALLOC, "421", 0, 0, byte(s, 0));
		return 0;
	default:
		return 0;
	}
}

/* The setup.  Returns -1 when there is no more to come. */
static int
greet(struct server *s)
{
	enum xwhat f = s->fault->what;
	size_t n;

	if (need(s, 12))
		return -1;
	s->q = s->in;
	if (byte(s, 0) != 'l' && byte(s, 0) != 'B') {
		s->error = EPROTO;
		return -1;
	}
	s->swap = (byte(s, 0) == 'B') != big_endian();
	n = 12 + pad(card16(s, 6)) + pad(card16(s, 8));
	if (need(s, n))
		return -1;
	s->from = n;
	if (card16(s, 2) != 11 || f == XREFUSE) {
		refuse(s, 0, f == XREFUSE ? "no entry" : "not protocol 11");
		return -1;
	}
	if (f == XAUTHENTICATE) {
		refuse(s, 2, "who are you?");
		return -1;
	}
	if (s->fault->at == 0 && f >= XCLOSE && f <= XGARBAGE)
		return strike(s);
	welcome(s);
	return f == XTRUNCATE ? -1 : 0;
}

/* Throws a request away that is longer than any may be. */
static int
discard(struct server *s, uint64_t n)
{
	size_t k;

	for (; n; n -= k) {
		k = n < CHUNK ? (size_t)n : CHUNK;
		if (need(s, k))
			return -1;
		s->from += k;
	}
	return 0;
}

/*
 * Takes the next request.  One whose length cannot be is given length 0,
 * which is too short for any.  Returns -1 when there is none.
 */
static int
take(struct server *s)
{
	size_t head = 4;
	uint64_t n;

	if (need(s, head))
		return -1;
	s->q = s->in + s->from;
	n = 4 * (uint64_t)card16(s, 2);
	if (!n && s->big) {
		head = 8;
		if (need(s, head))
			return -1;
		s->q = s->in + s->from;
		n = 4 * (uint64_t)card32(s, 4);
		memcpy(s->head, s->q, sizeof s->head);
	}
	if (n < head || n > LONGEST) {
		s->n = 0;
		memcpy(s->head, s->q, sizeof s->head);
		s->q = s->head;
		return discard(s, n < head ? head : n);
	}
	if (need(s, (size_t)n))
		return -1;
	s->q = s->in + s->from + head - 4;
	s->n = (size_t)n - (head - 4);
	s->from += (size_t)n;
	if (head == 8)
		memcpy(s->q, s->head, sizeof s->head);
	return 0;
}

/* Returns an error of the request, or 0. */
static int
perform(struct server *s)
{
	const struct row *r = s->rows[byte(s, 0)];
	int err;

	if (!r)
		return byte(s, 0) - 1u < 119 ? BADIMPLEMENTATION : BADREQUEST;
	if (s->n < r->least || (r->each ? (s->n - r->least) % r->each :
	    s->n > r->least))
		return BADLENGTH;
	if (byte(s, 1) > r->mode)
		return bad(s, BADVALUE, byte(s, 1));
	if ((r->first && (err = check(s, 4, r->first))) ||
	    (r->second && (err = check(s, 8, r->second))))
		return err;
	if (r->second == GC && thing(s, 4)->depth != thing(s, 8)->depth)
		return BADMATCH;
	return r->run ? r->run(s) : 0;
}

static void
serve(struct server *s)
{
	const struct xfault *f = s->fault;
	int err;

	while (!take(s)) {
		s->count++;
		if (f->each)
			f->each(f->arg);
		if (f->at == s->count) {
			if (strike(s))
				return;
		} else if ((err = perform(s))) {
			message(s, 0, err, "421", s->bad,
				byte(s, 0) < 128 ? 0 : byte(s, 1), byte(s, 0));
			s->bad = 0;
		}
	}
}

/* Frees all; a client that has gone is no error. */
static int
leave(struct server *s)
{
	struct thing *root = &s->things[ROOT];
	int i, err = s->error;

	s->error = ECANCELED;           /* nobody is told any more */
	while (root->bottom)
		destroy(s, root->bottom);
	while (root->properties)
		remove_property(s, &root->properties);
	for (i = 0; i < ATOMS; i++)
		free(s->atoms[i]);
	free(s);
	if (!err || err == EPIPE || err == ECONNRESET)
		return 0;
	errno = err;
	return -1;
}

int
xnull(int fd, const struct xfault *fault)
{
	static const struct xfault none;
	struct server *s = calloc(1, sizeof *s);
	struct thing *root;
	size_t i;

	if (!s)
		return -1;
	s->fd = fd;
	s->fault = fault ? fault : &none;
	s->unused = ROOM;
	for (i = 0; i < LEN(rows); i++)
		s->rows[rows[i].opcode] = &rows[i];
	root = &s->things[ROOT];
	*root = (struct thing){ .kind = WIN, .depth = DEPTH, .mapped = 1,
		.width = SCREEN_W, .height = SCREEN_H };
	s->things[MAP].kind = CMAP;
	if (!greet(s))
		serve(s);
	flush(s);
	shutdown(fd, SHUT_RDWR);
	return leave(s);
}

#endif
