/*
 * xnull.c - an X server that draws nothing, for one client on a socket: its
 * rates are the most that client, kernel and socket allow.  A request is a
 * row of the table, with its length and the kinds of its ids, and may have a
 * function, which returns an error or 0.  What bench does not ask for is not
 * there.  Source: X Window System Protocol, X Version 11, Release 6.8, and
 * Big Requests Extension 2.0; the layouts are xcb's.
 */
#include "bench.h"
#include "config.h"

#if WITH_X

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <xcb/bigreq.h>
#include <xcb/xcb.h>

#define PAD(n) (((n) + 3) & ~(size_t)3) /* bytes, up to a whole word */

enum {
	CHUNK = 64 << 10,       /* bytes read or written at once */
	LONGEST = 4 << 20,      /* bytes of a request */
	IMAGE = 64 << 20,       /* bytes of a reply */
	ROOM = 1 << 18,         /* ids of a client: the least there may be */
	VISUAL = 0x20, ROOT = 0x100, COLORMAP,  /* the server's, below ROOM */
	ATOM_FIRST = 69, ATOM_LAST = 0x1fffffff,        /* with no fixed name */
	BIG_REQUESTS = 128,     /* opcode of the only extension */
	SCREEN_W = 1024, SCREEN_H = 768, DEPTH = XDEPTH,
	BITS = DEPTH < 4 ? DEPTH : DEPTH <= 8 ? 8 : DEPTH <= 16 ? 16 : 32,
	COLOUR = DEPTH == 32 ? 8 : DEPTH < 15 ? 0 : DEPTH / 3,  /* bits, ... */
	MASK = (1 << COLOUR) - 1,       /* ... of a pixel's three */
	ASCENT = 11, DESCENT = 2, ADVANCE = 6,  /* of the only font, pixels */
	BIG_ENDIAN_HERE = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
};

/* What an id has to be; also the error when it is not. */
enum {
	WIN = XCB_WINDOW, PIX = XCB_PIXMAP, ATOM = XCB_ATOM,
	CURSOR = XCB_CURSOR, FONT = XCB_FONT, GC = XCB_G_CONTEXT,
	DRAW = XCB_DRAWABLE,    /* a window or pixmap */
	NEW = 128               /* with a kind: the client's, still free */
};

struct thing {                  /* what has an id */
	uint8_t kind;           /* 0: nothing has it */
	uint8_t depth, mapped;  /* a pixmap is mapped */
	uint16_t width, height;
	uint32_t parent, events;        /* of a window; events: selected */
	long born;              /* number of the request that made it */
};

struct server {
	int fd;
	int error;              /* errno of a socket that failed */
	int big;                /* the client may send big requests */
	long count;             /* requests so far */
	const void *q;          /* the request; a big one without its ... */
	size_t n;               /* ... second length; bytes */
	uint8_t opcode;
	uint32_t bad;           /* the id that an error is about */
	struct thing made;      /* by the request */
	const struct row *rows[256];
	size_t from, to;        /* of `in', that are not used up */
	size_t pending;         /* bytes of `out' */
	_Alignas(4) unsigned char out[CHUNK], in[LONGEST];
	struct thing things[2 * ROOM];  /* most of it is never touched */
};

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

/* Adds n zeros, at most CHUNK, to what is sent; returns where they are. */
static void *
zeros(struct server *s, size_t n)
{
	if (s->pending + n > CHUNK)
		flush(s);
	s->pending += n;
	return memset(s->out + s->pending - n, 0, n);
}

/* An error (type 0), reply (1) or event that is still to be filled in. */
static void *
message(struct server *s, int type)
{
	xcb_generic_reply_t *m = zeros(s, 32);

	m->response_type = (uint8_t)type;
	m->sequence = (uint16_t)s->count;
	return m;
}

static void
send_error(struct server *s, int code)
{
	xcb_value_error_t *e = message(s, 0);

	e->error_code = (uint8_t)code;
	e->bad_value = s->bad;
	e->major_opcode = s->opcode;
	s->bad = 0;
}

/* Where the next n bytes lie, or NULL when they do not come. */
static void *
need(struct server *s, size_t n)
{
	ssize_t k;

	while (s->to - s->from < n) {
		flush(s);
		if (s->from)
			memmove(s->in, s->in + s->from, s->to -= s->from);
		s->from = 0;
		k = recv(s->fd, s->in + s->to,
			(n > CHUNK ? n : CHUNK) - s->to, 0);
		if (!k || s->error)
			return NULL;
		if (k > 0)
			s->to += (size_t)k;
		else if (errno != EINTR)
			s->error = errno;
	}
	return s->in + s->from;
}

/* --- requests ------------------------------------------------------------- */

static uint32_t
card32(const struct server *s, size_t at)
{
	return ((const uint32_t *)s->q)[at / 4];
}

static struct thing *
thing(struct server *s, size_t at)
{
	return &s->things[card32(s, at)];
}

/* A window goes with its parent: what that was has gone, or is younger. */
static int
lives(const struct server *s, const struct thing *w)
{
	const struct thing *up;

	for (; w != &s->things[ROOT]; w = up) {
		up = &s->things[w->parent];
		if (up->kind != WIN || up->born >= w->born)
			return 0;
	}
	return 1;
}

/* Is what the request has there of that kind?  If not, the error. */
static int
check(struct server *s, size_t at, int want)
{
	uint32_t id = card32(s, at);
	int kind = id < LEN(s->things) ? s->things[id].kind : -1;

	if (kind == WIN && !lives(s, &s->things[id]))
		kind = 0;
	if (want & NEW ? !kind && id >= ROOM :
	    want == ATOM ? id && id <= ATOM_LAST :
	    want == DRAW ? kind == WIN || kind == PIX : kind == want)
		return 0;
	s->bad = id;
	return want & NEW ? XCB_ID_CHOICE : want;
}

/* FreePixmap and all others that end a life. */
static int
release(struct server *s)
{
	if (card32(s, 4) != ROOT)
		thing(s, 4)->kind = 0;
	return 0;
}

/* Events are selected here or not at all. */
static int
create_window(struct server *s)
{
	const xcb_create_window_request_t *q = s->q;
	uint32_t before = q->value_mask & (XCB_CW_EVENT_MASK - 1);

	if (!q->width || !q->height)
		return XCB_VALUE;
	if (q->_class == XCB_WINDOW_CLASS_INPUT_ONLY ||
	    (q->depth && q->depth != DEPTH) ||
	    (q->visual && q->visual != VISUAL))
		return XCB_MATCH;
	s->made.width = q->width;
	s->made.height = q->height;
	if (q->value_mask & XCB_CW_EVENT_MASK)
		s->made.events = card32(s, sizeof *q + 4u *
			(unsigned)__builtin_popcount(before));
	return 0;
}

/* And unmap.  What shows is told even when the parent is not mapped. */
static int
map_window(struct server *s)
{
	struct thing *w = thing(s, 4);
	int before = w->mapped;
	xcb_visibility_notify_event_t *v;
	xcb_expose_event_t *e;

	w->mapped = s->opcode == XCB_MAP_WINDOW;
	if (before || !w->mapped)
		return 0;
	if (w->events & XCB_EVENT_MASK_VISIBILITY_CHANGE) {
		v = message(s, XCB_VISIBILITY_NOTIFY);
		v->window = card32(s, 4);       /* and all of it shows: 0 */
	}
	if (w->events & XCB_EVENT_MASK_EXPOSURE) {
		e = message(s, XCB_EXPOSE);
		e->window = card32(s, 4);
		e->width = w->width;
		e->height = w->height;
	}
	return 0;
}

/* Atoms are not kept: their numbers come from their names. */
static int
intern_atom(struct server *s)
{
	const xcb_intern_atom_request_t *q = s->q;
	const uint8_t *name = (const uint8_t *)(q + 1);
	xcb_intern_atom_reply_t *r = message(s, 1);
	size_t n = q->name_len;
	uint32_t hash = 0;

	while (n--)
		hash = hash * 31 + *name++;
	r->atom = ATOM_FIRST + hash % (ATOM_LAST - ATOM_FIRST);
	return 0;
}

/* Nor are properties. */
static int
set_property(struct server *s)
{
	const xcb_change_property_request_t *q = s->q;
	uint64_t n = (uint64_t)q->data_len * (q->format / 8);

	if (q->format != 8 && q->format != 16 && q->format != 32)
		return XCB_VALUE;
	return (n + 3) / 4 == (s->n - sizeof *q) / 4 ? 0 : XCB_LENGTH;
}

/* A reply of zeros: there is no such property, nothing has the focus. */
static int
none(struct server *s)
{
	message(s, 1);
	return 0;
}

static int
is_name(const void *p, size_t n, const char *name)
{
	return strlen(name) == n && !memcmp(p, name, n);
}

static int
open_font(struct server *s)
{
	const xcb_open_font_request_t *q = s->q;

	return is_name(q + 1, q->name_len, "fixed") ? 0 : XCB_NAME;
}

static int
query_extents(struct server *s)
{
	const xcb_query_text_extents_request_t *q = s->q;
	xcb_query_text_extents_reply_t *r = message(s, 1);
	int chars = (int)(s->n - sizeof *q) / 2 - q->odd_length;

	r->font_ascent = r->overall_ascent = ASCENT;
	r->font_descent = r->overall_descent = DESCENT;
	r->overall_width = r->overall_right = chars * ADVANCE;
	return 0;
}

static int
has_extension(struct server *s)
{
	const xcb_query_extension_request_t *q = s->q;
	xcb_query_extension_reply_t *r = message(s, 1);

	r->present = is_name(q + 1, q->name_len, "BIG-REQUESTS");
	r->major_opcode = r->present ? BIG_REQUESTS : 0;
	return 0;
}

static int
enable_big(struct server *s)
{
	xcb_big_requests_enable_reply_t *r = message(s, 1);

	r->maximum_request_length = LONGEST / 4;
	s->big = 1;
	return 0;
}

static int
create_pixmap(struct server *s)
{
	const xcb_create_pixmap_request_t *q = s->q;

	if (!q->width || !q->height || (q->depth != 1 && q->depth != DEPTH))
		return XCB_VALUE;
	s->made.depth = q->depth;
	s->made.mapped = 1;
	s->made.width = q->width;
	s->made.height = q->height;
	return 0;
}

/* Bytes of an image, which is pixel by pixel, of 1 bit or BITS. */
static uint64_t
image_bytes(int depth, unsigned width, unsigned height)
{
	uint64_t pixel = depth == 1 ? 1 : BITS;

	return (width * pixel + 31) / 32 * 4 * height;
}

static int
put_image(struct server *s)
{
	const xcb_put_image_request_t *q = s->q;

	if (q->format != XCB_IMAGE_FORMAT_Z_PIXMAP || q->left_pad ||
	    q->depth != thing(s, 4)->depth)
		return XCB_MATCH;
	return s->n == sizeof *q + image_bytes(q->depth, q->width, q->height) ?
		0 : XCB_LENGTH;
}

static int
get_image(struct server *s)
{
	const xcb_get_image_request_t *q = s->q;
	const struct thing *t = thing(s, 4);
	uint64_t n = image_bytes(t->depth, q->width, q->height);
	xcb_get_image_reply_t *r;

	if (n > IMAGE || q->format != XCB_IMAGE_FORMAT_Z_PIXMAP || !t->mapped ||
	    q->x < 0 || q->x + q->width > t->width ||
	    q->y < 0 || q->y + q->height > t->height)
		return n > IMAGE ? XCB_ALLOC : XCB_MATCH;
	r = message(s, 1);
	r->depth = t->depth;
	r->length = (uint32_t)(n / 4);
	r->visual = t->kind == WIN ? VISUAL : 0;
	for (; n > CHUNK; n -= CHUNK)
		zeros(s, CHUNK);
	zeros(s, (size_t)n);
	return 0;
}

/* What follows: as many bytes as the second byte or the last word says, ... */
enum { NOTHING, CHARS, NAME, VALUES };  /* ... a word for each bit of that */

static const struct row {
	uint8_t opcode, fixed;          /* bytes of what is always there */
	uint8_t rest;                   /* so many bytes each, or as above */
	uint8_t ids[3];                 /* kinds of those at 4, 8 and 12 */
	int (*run)(struct server *);
} rows[] = {
	{ XCB_CREATE_WINDOW, 32, VALUES, { NEW | WIN, WIN }, create_window },
	{ XCB_CHANGE_WINDOW_ATTRIBUTES, 12, VALUES, { WIN }, NULL },
	{ XCB_DESTROY_WINDOW, 8, NOTHING, { WIN }, release },
	{ XCB_MAP_WINDOW, 8, NOTHING, { WIN }, map_window },
	{ XCB_UNMAP_WINDOW, 8, NOTHING, { WIN }, map_window },
	{ XCB_INTERN_ATOM, 8, NAME, { 0 }, intern_atom },
	{ XCB_CHANGE_PROPERTY, 24, 4, { WIN, ATOM, ATOM }, set_property },
	{ XCB_DELETE_PROPERTY, 12, NOTHING, { WIN, ATOM }, NULL },
	{ XCB_GET_PROPERTY, 24, NOTHING, { WIN, ATOM }, none },
	{ XCB_GET_INPUT_FOCUS, 4, NOTHING, { 0 }, none },
	{ XCB_OPEN_FONT, 12, NAME, { NEW | FONT }, open_font },
	{ XCB_CLOSE_FONT, 8, NOTHING, { FONT }, release },
	{ XCB_QUERY_TEXT_EXTENTS, 8, 4, { FONT }, query_extents },
	{ XCB_CREATE_PIXMAP, 16, NOTHING, { NEW | PIX, DRAW }, create_pixmap },
	{ XCB_FREE_PIXMAP, 8, NOTHING, { PIX }, release },
	{ XCB_CREATE_GC, 16, VALUES, { NEW | GC, DRAW }, NULL },
	{ XCB_CHANGE_GC, 12, VALUES, { GC }, NULL },
	{ XCB_FREE_GC, 8, NOTHING, { GC }, release },
	{ XCB_CLEAR_AREA, 16, NOTHING, { WIN }, NULL },
	{ XCB_COPY_AREA, 28, NOTHING, { DRAW, DRAW, GC }, NULL },
	{ XCB_COPY_PLANE, 32, NOTHING, { DRAW, DRAW, GC }, NULL },
	{ XCB_POLY_SEGMENT, 12, 8, { DRAW, GC }, NULL },
	{ XCB_POLY_RECTANGLE, 12, 8, { DRAW, GC }, NULL },
	{ XCB_POLY_ARC, 12, 12, { DRAW, GC }, NULL },
	{ XCB_POLY_FILL_RECTANGLE, 12, 8, { DRAW, GC }, NULL },
	{ XCB_POLY_FILL_ARC, 12, 12, { DRAW, GC }, NULL },
	{ XCB_PUT_IMAGE, 24, 4, { DRAW, GC }, put_image },
	{ XCB_GET_IMAGE, 20, NOTHING, { DRAW }, get_image },
	{ XCB_POLY_TEXT_8, 16, 4, { DRAW, GC }, NULL },
	{ XCB_IMAGE_TEXT_8, 16, CHARS, { DRAW, GC }, NULL },
	{ XCB_CREATE_CURSOR, 32, NOTHING, { NEW | CURSOR, PIX }, NULL },
	{ XCB_FREE_CURSOR, 8, NOTHING, { CURSOR }, release },
	{ XCB_QUERY_EXTENSION, 8, NAME, { 0 }, has_extension },
	{ XCB_FORCE_SCREEN_SAVER, 4, NOTHING, { 0 }, NULL },
	{ XCB_NO_OPERATION, 4, 4, { 0 }, NULL },
	{ BIG_REQUESTS, 4, NOTHING, { 0 }, enable_big },
};

static int
has_length(const struct server *s, const struct row *r)
{
	const uint8_t *q = s->q, *last = q + r->fixed - 4;
	size_t rest = s->n - r->fixed;

	return s->n >= r->fixed && (
		r->rest == NOTHING ? !rest :
		r->rest == CHARS ? rest == PAD(q[1]) :
		r->rest == NAME ? rest == PAD(*(const uint16_t *)last) :
		r->rest == VALUES ? rest == 4u * __builtin_popcount(
			*(const uint32_t *)last) : rest % r->rest == 0);
}

/* Returns an error or 0.  A GC has the depth of the drawable before it. */
static int
attempt(struct server *s)
{
	const struct row *r = s->rows[s->opcode];
	int err;
	size_t i;

	if (!r || !has_length(s, r))
		return r ? XCB_LENGTH : XCB_REQUEST;
	for (i = 0; i < LEN(r->ids) && r->ids[i]; i++) {
		if ((err = check(s, 4 + 4 * i, r->ids[i])))
			return err;
		if (i && r->ids[i] == GC &&
		    thing(s, 4 + 4 * i)->depth != thing(s, 4 * i)->depth)
			return XCB_MATCH;
	}
	if (r->ids[0] & NEW)
		s->made = (struct thing){ .kind = r->ids[0] & ~NEW,
			.depth = r->ids[1] ? thing(s, 8)->depth : 0,
			.parent = card32(s, 8), .born = s->count };
	err = r->run ? r->run(s) : 0;
	if (!err && r->ids[0] & NEW)
		*thing(s, 4) = s->made;
	return err;
}

/* Does what the request asks. */
static void
perform(struct server *s)
{
	int err = attempt(s);

	if (err)
		send_error(s, err);
}

/* --- the connection ------------------------------------------------------- */

/* What a client is told of the server; no padding but the protocol's. */
static const struct greeting {
	xcb_setup_t setup;
	char vendor[20];
	xcb_format_t formats[2];
	xcb_screen_t screen;
	xcb_depth_t depth;
	xcb_visualtype_t visual;
} greeting = {
	{ .status = 1, .protocol_major_version = 11,
	  .length = (sizeof (struct greeting) - 8) / 4, .release_number = 1,
	  .resource_id_base = ROOM, .resource_id_mask = ROOM - 1,
	  .vendor_len = 18,
	  .maximum_request_length = 0xffff, .roots_len = 1,
	  .pixmap_formats_len = 2, .image_byte_order = BIG_ENDIAN_HERE,
	  .bitmap_format_bit_order = BIG_ENDIAN_HERE,
	  .bitmap_format_scanline_unit = 32, .bitmap_format_scanline_pad = 32 },
	"bench, null server",
	{ { .depth = 1, .bits_per_pixel = 1, .scanline_pad = 32 },
	  { .depth = DEPTH, .bits_per_pixel = BITS, .scanline_pad = 32 } },
	{ .root = ROOT, .default_colormap = COLORMAP,
	  .white_pixel = (uint32_t)(((uint64_t)1 << DEPTH) - 1),
	  .width_in_pixels = SCREEN_W, .height_in_pixels = SCREEN_H,
	  .root_visual = VISUAL, .root_depth = DEPTH, .allowed_depths_len = 1 },
	{ .depth = DEPTH, .visuals_len = 1 },
	{ .visual_id = VISUAL, ._class = COLOUR ? XCB_VISUAL_CLASS_TRUE_COLOR :
		XCB_VISUAL_CLASS_STATIC_GRAY,
	  .red_mask = MASK << 2 * COLOUR, .green_mask = MASK << COLOUR,
	  .blue_mask = MASK },
};

/* A client of the other byte order, to whom lengths are to be swapped. */
static int
refuse(struct server *s, const char *why, int swap)
{
	size_t n = strlen(why);
	xcb_setup_failed_t *r = zeros(s, sizeof *r + PAD(n));

	r->reason_len = (uint8_t)n;
	r->protocol_major_version = swap ? 11 << 8 : 11;
	r->length = (uint16_t)(swap ? PAD(n) / 4 << 8 : PAD(n) / 4);
	memcpy(r + 1, why, n);
	return -1;
}

/* The setup; -1: there is no more.  In the other byte order, 11 is not 11. */
static int
greet(struct server *s)
{
	const xcb_setup_request_t *q = need(s, sizeof *q);

	if (!q)
		return -1;
	if (q->protocol_major_version != 11)
		return refuse(s, "not protocol 11 in my byte order",
			q->byte_order != (BIG_ENDIAN_HERE ? 'B' : 'l'));
	s->n = sizeof *q + PAD(q->authorization_protocol_name_len) +
		PAD(q->authorization_protocol_data_len);
	if (!need(s, s->n))
		return -1;
	s->from += s->n;
	memcpy(zeros(s, sizeof greeting), &greeting, sizeof greeting);
	return 0;
}

/* Takes the next request.  Returns -1 when there is none, or cannot be. */
static int
take(struct server *s)
{
	size_t head = 4;
	uint8_t *p = need(s, head);
	uint64_t n;

	if (!p)
		return -1;
	s->count++;
	s->opcode = *p;
	n = 4 * (uint64_t)((uint16_t *)p)[1];
	if (!n && s->big) {
		head = 8;
		if (!(p = need(s, head)))
			return -1;
		n = 4 * (uint64_t)((uint32_t *)p)[1];
	}
	if (n < head || n > LONGEST) {
		send_error(s, XCB_LENGTH);
		return -1;
	}
	if (!(p = need(s, (size_t)n)))
		return -1;
	s->from += (size_t)n;
	if (head == 8)
		p = memcpy(p + 4, p, 4);
	s->q = p;
	s->n = (size_t)n - (head - 4);
	return 0;
}

static struct server *
begin(int fd)
{
	/* not reserved: it is more than a small machine has in all */
	struct server *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t i;

	if (s == MAP_FAILED)
		return NULL;
	s->fd = fd;
	for (i = 0; i < LEN(rows); i++)
		s->rows[rows[i].opcode] = &rows[i];
	s->things[ROOT] = (struct thing){ .kind = WIN, .depth = DEPTH,
		.mapped = 1, .width = SCREEN_W, .height = SCREEN_H };
	return s;
}

/* A client that has gone is no error. */
static int
end(struct server *s)
{
	int err;

	flush(s);
	shutdown(s->fd, SHUT_RDWR);
	err = s->error;
	munmap(s, sizeof *s);
	if (!err || err == EPIPE || err == ECONNRESET)
		return 0;
	errno = err;
	return -1;
}

int
xnull(int fd)
{
	struct server *s = begin(fd);

	if (!s)
		return -1;
	if (!greet(s))
		while (!take(s))
			perform(s);
	return end(s);
}

#endif
