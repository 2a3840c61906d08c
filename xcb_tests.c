/*
 * xcb_tests.c - X drawing: lines, fills, copies, text, arcs, windows.
 *
 * A row connects, opens a window of its own, and draws one kind of shape
 * until its time is used.  Adding a shape takes a function that says what
 * is special about it and ends in draw(), and a row in the table below; a
 * kind of request not used before takes a function that sends n of them.
 */
#include "bench.h"
#include "config.h"

#if WITH_X

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/uio.h>

#include <xcb/render.h>
#include <xcb/shm.h>
#include <xcb/xcbext.h>

#include "xserver.h"

#define RATE(f, arg) "1/s", f, arg, MORE

enum {
	GAP = 4,                /* pixels between shapes: a wide line's rim,
				   and an alignment that servers copy well */
	WIDE = 5,               /* pixels a wide line is wide */
	LINE = 13,              /* pixels a window scrolls: a line of `fixed` */
	WAYS = 3                /* a line lies: across, down, aslant */
};

/* What a row draws with. */
struct x {
	struct bench *b;
	xcb_connection_t *c;
	const xcb_screen_t *screen;
	xcb_window_t win;
	xcb_gcontext_t gc;
	int width, height;      /* of the window, pixels */
	int exposed, covered;   /* it is; covered < 0: not known yet */
	int raised;
	xcb_pixmap_t bitmap;    /* what bit copies */
	xcb_window_t child;     /* what cmplx makes and unmakes */
	uint8_t *image;         /* what put puts, or noop writes */
	uint32_t bytes;         /* of it; what xcb-shm and RENDER know: */
	uint32_t segment, source, target, glyphs;
	int extended;           /* by an extension that ours lacks */
	int ascent;             /* of the font, pixels */
	uint8_t text[2 + XCHARS];       /* a PolyText8 item: length, 0, text */

	/* where shapes lie: a cycle, and its first batch + 1 places again */
	int batch;              /* shapes in a request */
	int cycle;
	xcb_rectangle_t *rect;
	xcb_segment_t *seg;
	xcb_arc_t *arc;
};

/* A window that is covered is raised, once: others may want to be on top. */
static void
take(struct x *x, xcb_generic_event_t *e)
{
	const uint32_t above = XCB_STACK_MODE_ABOVE;

	switch (e->response_type & 0x7f) {
	case 0:
		x_refused(x->b, (xcb_generic_error_t *)e);
	case XCB_EXPOSE:
		x->exposed = 1;
		break;
	case XCB_VISIBILITY_NOTIFY:
		x->covered = ((xcb_visibility_notify_event_t *)e)->state;
		if (x->covered && !x->raised++)
			xcb_configure_window(x->c, x->win,
				XCB_CONFIG_WINDOW_STACK_MODE, &above);
	}
	free(e);
}

/* Errors end the row; that the window was covered is told. */
static void
look_for_errors(struct x *x)
{
	xcb_generic_event_t *e;

	while ((e = xcb_poll_for_queued_event(x->c))) {
		take(x, e);
		if (x->covered > 0)
			note(x->b, "window covered while it was drawn on");
	}
}

/*
 * Waits until the server has done all that was asked: a pixel of the
 * window comes back after everything before it.  The errors of that have
 * then been read, and wait in xcb's queue.
 */
static void
finish(struct x *x)
{
	xcb_generic_error_t *e = NULL;
	xcb_get_image_reply_t *r;

	r = xcb_get_image_reply(x->c, xcb_get_image(x->c,
		XCB_IMAGE_FORMAT_Z_PIXMAP, x->win, 0, 0, 1, 1, ~0u), &e);
	look_for_errors(x);
	if (!r)
		x_unanswered(x->b, e);
	free(r);
}

/* --- the window ---------------------------------------------------------- */

/*
 * Waits until the window shows, whole.  Then there are no more exposures, of
 * what a child has covered: they are not a row's, and a client that waits
 * would be woken for each.
 */
static void
wait_shown(struct x *x)
{
	const uint32_t events = XCB_EVENT_MASK_VISIBILITY_CHANGE;
	struct pollfd p = { xcb_get_file_descriptor(x->c), POLLIN, 0 };
	double *patience = x_patience(x->b), until = seconds() + *patience;
	xcb_generic_event_t *e;

	while ((!x->exposed || x->covered) && seconds() < until) {
		if ((e = xcb_poll_for_event(x->c))) {
			take(x, e);
			continue;
		}
		if (xcb_flush(x->c) <= 0)
			x_unanswered(x->b, NULL);
		poll(&p, 1, 100);
	}
	if (!x->exposed || x->covered) {
		note(x->b, "window not in view, whole, after %g s (%s?)",
			*patience, x->exposed ? "covered" : "hidden");
		*patience = 0.1;
	}
	xcb_change_window_attributes(x->c, x->win, XCB_CW_EVENT_MASK, &events);
}

static int
least(int a, int b)
{
	return a < b ? a : b;
}

/*
 * A new window lies on top of all others.  Black is drawn on white, and
 * what cannot be copied is not asked to be told of.
 */
static void
xopen(struct x *x, struct bench *b)
{
	const xcb_screen_t *s;
	uint32_t look[3], pen[3];
	long most;

	*x = (struct x){ .b = b, .covered = -1 };
	unpin(b);
	x->c = x_connect(b, &x->screen);
	s = x->screen;
	x->width = least(XWINDOW, s->width_in_pixels);
	x->height = least(XWINDOW, s->height_in_pixels);
	most = (xcb_get_setup(x->c)->maximum_request_length - 3L) * 4 /
		(long)sizeof *x->arc;
	x->batch = XBATCH < most ? XBATCH : (int)most;
	x->win = xcb_generate_id(x->c);
	look[0] = s->white_pixel;
	look[1] = 1;
	look[2] = XCB_EVENT_MASK_EXPOSURE | XCB_EVENT_MASK_VISIBILITY_CHANGE;
	xcb_create_window(x->c, XCB_COPY_FROM_PARENT, x->win, s->root, 0, 0,
		x->width, x->height, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
		XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXEL |
		XCB_CW_OVERRIDE_REDIRECT | XCB_CW_EVENT_MASK, look);
	x->gc = xcb_generate_id(x->c);
	pen[0] = s->black_pixel;
	pen[1] = s->white_pixel;
	pen[2] = 0;
	xcb_create_gc(x->c, x->gc, x->win, XCB_GC_FOREGROUND |
		XCB_GC_BACKGROUND | XCB_GC_GRAPHICS_EXPOSURES, pen);
	xcb_map_window(x->c, x->win);
	wait_shown(x);
}

static void
set(struct x *x, uint32_t what, uint32_t value)
{
	xcb_change_gc(x->c, x->gc, what, &value);
}

/*
 * `fixed`, or else another, and the pixels its XCHARS widest characters
 * take.
 */
static void
set_font(struct x *x, int *width, int *height)
{
	static const char *const names[] = { "fixed", "6x13", "7x13", "8x13",
		"9x15", "*-fixed-*", "*-courier-*", "*" };
	xcb_font_t font = xcb_generate_id(x->c);
	xcb_query_text_extents_reply_t *r;
	xcb_generic_error_t *e;
	xcb_char2b_t text[XCHARS];
	size_t n = 0;
	int i;

	while ((e = xcb_request_check(x->c, xcb_open_font_checked(x->c, font,
	    (uint16_t)strlen(names[n]), names[n]))) &&
	    e->error_code == XCB_NAME) {
		free(e);
		if (++n == LEN(names))
			skip(x->b, "the X server has no font at all");
	}
	if (e)
		x_refused(x->b, e);
	if (n)
		note(x->b, "font %s, as there is none named fixed", names[n]);
	for (i = 0; i < XCHARS; i++)
		text[i] = (xcb_char2b_t){ 0, 'W' };
	r = xcb_query_text_extents_reply(x->c, xcb_query_text_extents(x->c,
		font, XCHARS, text), &e);
	if (!r)
		x_unanswered(x->b, e);
	set(x, XCB_GC_FONT, font);
	x->ascent = r->font_ascent;
	*width = r->overall_width;
	*height = r->font_ascent + r->font_descent;
	free(r);
}

/* A checkered pixmap of two pixel values. */
static xcb_pixmap_t
checks(struct x *x, int depth, int w, int h, uint32_t on, uint32_t off)
{
	enum { SIDE = 4 };
	xcb_pixmap_t p = xcb_generate_id(x->c);
	xcb_gcontext_t gc = xcb_generate_id(x->c);
	xcb_rectangle_t r = { 0, 0, w, h };
	uint32_t xor[] = { XCB_GX_XOR, on ^ off };
	int i;

	xcb_create_pixmap(x->c, depth, p, x->win, w, h);
	xcb_create_gc(x->c, gc, p, XCB_GC_FOREGROUND, &off);
	xcb_poly_fill_rectangle(x->c, p, gc, 1, &r);
	xcb_change_gc(x->c, gc, XCB_GC_FUNCTION | XCB_GC_FOREGROUND, xor);
	for (i = 0; i < w; i += 2 * SIDE) {
		r = (xcb_rectangle_t){ i, 0, SIDE, h };
		xcb_poly_fill_rectangle(x->c, p, gc, 1, &r);
	}
	for (i = 0; i < h; i += 2 * SIDE) {
		r = (xcb_rectangle_t){ 0, i, w, SIDE };
		xcb_poly_fill_rectangle(x->c, p, gc, 1, &r);
	}
	xcb_free_gc(x->c, gc);
	return p;
}

/* --- where shapes lie ---------------------------------------------------- */

/*
 * Places for shapes of w x h pixels, row by row without overlap, and then
 * back: from the start again, a cache a little smaller than the window would
 * hold nothing of use.  So often that each had a line of each of the WAYS.
 */
static void
grid(struct x *x, int w, int h)
{
	int i, k, left, top, n, turn;
	int across = x->width / (w + GAP), down = x->height / (h + GAP);

	if (!across || !down)
		skip(x->b, "%d x %d pixels do not fit the window of %d x %d",
			w, h, x->width, x->height);
	turn = across * down > 1 ? 2 * (across * down - 1) : 1;
	x->cycle = WAYS * turn;
	n = x->cycle + x->batch + 1;
	x->rect = calloc(n, sizeof *x->rect);
	x->seg = calloc(n, sizeof *x->seg);
	x->arc = calloc(n, sizeof *x->arc);
	if (!x->rect || !x->seg || !x->arc)
		fail(x->b, "malloc:");
	for (i = 0; i < n; i++) {
		k = i % turn < across * down ? i % turn : turn - i % turn;
		left = GAP + k % across * (w + GAP);
		top = GAP + k / across * (h + GAP);
		x->rect[i] = (xcb_rectangle_t){ left, top, w, h };
		x->arc[i] = (xcb_arc_t){ left, top, w - 1, h - 1, 0, 360 * 64 };
		x->seg[i] = (xcb_segment_t){ left, top, left + w - 1,
			top + h - 1 };
		if (i % WAYS == 0)
			x->seg[i].y2 = x->seg[i].y1 += h / 2;
		else if (i % WAYS == 1)
			x->seg[i].x2 = x->seg[i].x1 += w / 2;
	}
}

/* Everything but the font: a square shape of the row's size. */
static void
start(struct x *x, struct bench *b)
{
	xopen(x, b);
	grid(x, (int)b->arg, (int)b->arg);
}

/* --- the measuring ------------------------------------------------------- */

/* n shapes, and the wait for them. */
static void
batch(struct x *x, void (*request)(const struct x *, int at, int n), long left,
	int *at)
{
	int n;

	for (; left; left -= n) {
		n = left < x->batch ? (int)left : x->batch;
		request(x, *at, n);
		*at = (*at + n) % x->cycle;
	}
	finish(x);
}

/*
 * Seconds of an operation, medians of some batches, of n or as many more as
 * make a round trip a small part of them; but on a busy machine of what there
 * is time for.
 */
static double
quick(struct x *x, void (*request)(const struct x *, int at, int n), long n)
{
	enum { BATCHES = 5, MOST = 1 << 20 };
	double t[BATCHES], trip[BATCHES], all, less, until = seconds() + 0.05;
	int i, at = 0;

	for (;; n *= 2) {
		for (i = 0; i < BATCHES; i++) {
			t[i] = seconds();
			batch(x, request, n, &at);
			trip[i] = seconds();
			finish(x);
			t[i] = trip[i] - t[i];
			trip[i] = seconds() - trip[i];
		}
		all = quantile(t, BATCHES, 0.5);
		less = quantile(trip, BATCHES, 0.5);
		if (all > 8 * less || n > MOST || seconds() > until)
			return fmax(all - less, 0) / (double)n;
	}
}

/*
 * Draws: request() sends n shapes from place `at` on.  A batch ends with a
 * round trip, whose cost alone is measured first and subtracted.  Then they
 * are drawn once more, on the built-in server, unless that lacks their
 * extension.
 */
static void
draw(struct x *x, void (*request)(const struct x *, int at, int n))
{
	struct bench *b = x->b;
	double before[TIMES];
	int at = 0;
	long left;

	if (x_beside(b)) {
		x_null(b, quick(x, request, b->n));
		return;
	}
	b->n = 1;
	while (preliminary(b, &b->lead))
		for (left = b->n; left--; )
			finish(x);
	x_spent(b, before);
	while (sample(b))
		batch(x, request, b->n, &at);
	x_account(b, before);
	xcb_disconnect(x->c);
	if (!x->extended)
		x_again(b);
}

/* --- lines --------------------------------------------------------------- */

static void
segments(const struct x *x, int at, int n)
{
	xcb_poly_segment(x->c, x->win, x->gc, n, x->seg + at);
}

static void
line(struct bench *b)
{
	struct x x;

	start(&x, b);
	draw(&x, segments);
}

static void
dline(struct bench *b)
{
	struct x x;

	start(&x, b);
	set(&x, XCB_GC_LINE_STYLE, XCB_LINE_STYLE_ON_OFF_DASH);
	draw(&x, segments);
}

static void
wline(struct bench *b)
{
	struct x x;

	start(&x, b);
	set(&x, XCB_GC_LINE_WIDTH, WIDE);
	draw(&x, segments);
}

static void
outlines(const struct x *x, int at, int n)
{
	xcb_poly_rectangle(x->c, x->win, x->gc, n, x->rect + at);
}

/* The protocol's rectangle of width w has an outline w + 1 pixels wide. */
static void
rect(struct bench *b)
{
	struct x x;

	xopen(&x, b);
	grid(&x, (int)b->arg - 1, (int)b->arg - 1);
	draw(&x, outlines);
}

/* --- fills --------------------------------------------------------------- */

static void
fills(const struct x *x, int at, int n)
{
	xcb_poly_fill_rectangle(x->c, x->win, x->gc, n, x->rect + at);
}

static void
fill(struct bench *b)
{
	struct x x;

	start(&x, b);
	draw(&x, fills);
}

static void
set_tile(struct x *x)
{
	set(x, XCB_GC_TILE, checks(x, x->screen->root_depth, 8, 8,
		x->screen->black_pixel, x->screen->white_pixel));
	set(x, XCB_GC_FILL_STYLE, XCB_FILL_STYLE_TILED);
}

static void
tile(struct bench *b)
{
	struct x x;

	start(&x, b);
	set_tile(&x);
	draw(&x, fills);
}

static void
stip(struct bench *b)
{
	struct x x;

	start(&x, b);
	set(&x, XCB_GC_STIPPLE, checks(&x, 1, 8, 8, 1, 0));
	set(&x, XCB_GC_FILL_STYLE, XCB_FILL_STYLE_STIPPLED);
	draw(&x, fills);
}

static void
inv(struct bench *b)
{
	struct x x;

	start(&x, b);
	set(&x, XCB_GC_FUNCTION, XCB_GX_INVERT);
	draw(&x, fills);
}

/* --- copies -------------------------------------------------------------- */

/* Something to copy all over the window. */
static void
paint(struct x *x)
{
	xcb_rectangle_t all = { 0, 0, x->width, x->height };

	set_tile(x);
	xcb_poly_fill_rectangle(x->c, x->win, x->gc, 1, &all);
	set(x, XCB_GC_FILL_STYLE, XCB_FILL_STYLE_SOLID);
}

/* A place takes what lies in the next; if alone, opposite in the window. */
static void
copies(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;
	int left, top, alone = x->cycle == WAYS;

	for (; n--; r++) {
		left = alone ? x->width - r->x - r->width : r[1].x;
		top = alone ? x->height - r->y - r->height : r[1].y;
		xcb_copy_area(x->c, x->win, x->win, x->gc, left, top,
			r->x, r->y, r->width, r->height);
	}
}

static void
blt(struct bench *b)
{
	struct x x;

	start(&x, b);
	paint(&x);
	draw(&x, copies);
}

static void
planes(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;

	for (; n--; r++)
		xcb_copy_plane(x->c, x->bitmap, x->win, x->gc, 0, 0,
			r->x, r->y, r->width, r->height, 1);
}

static void
bit(struct bench *b)
{
	struct x x;

	start(&x, b);
	x.bitmap = checks(&x, 1, (int)b->arg, (int)b->arg, 1, 0);
	draw(&x, planes);
}

/* As a terminal does: what is below comes up, the last line is cleared. */
static void
scrolls(const struct x *x, int at, int n)
{
	int rest = x->height - LINE;

	(void)at;
	while (n--) {
		xcb_copy_area(x->c, x->win, x->win, x->gc, 0, LINE, 0, 0,
			x->width, rest);
		xcb_clear_area(x->c, 0, x->win, 0, rest, x->width, LINE);
	}
}

static void
scroll(struct bench *b)
{
	struct x x;

	xopen(&x, b);
	grid(&x, LINE, LINE);
	paint(&x);
	draw(&x, scrolls);
}

/* --- text ---------------------------------------------------------------- */

static void
images(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;

	for (; n--; r++)
		xcb_image_text_8(x->c, XCHARS, x->win, x->gc, r->x,
			r->y + x->ascent, (const char *)x->text + 2);
}

static void
polys(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;

	for (; n--; r++)
		xcb_poly_text_8(x->c, x->win, x->gc, r->x,
			r->y + x->ascent, sizeof x->text, x->text);
}

/* An operation is a character. */
static void
text(struct bench *b, void (*request)(const struct x *, int at, int n))
{
	struct x x;
	int i, width, height;

	xopen(&x, b);
	set_font(&x, &width, &height);
	grid(&x, width, height);
	x.text[0] = XCHARS;
	for (i = 0; i < XCHARS; i++)
		x.text[2 + i] = '!' + i % ('~' - '!' + 1);
	b->work = XCHARS;
	draw(&x, request);
}

static void
itext(struct bench *b)
{
	text(b, images);
}

static void
ptext(struct bench *b)
{
	text(b, polys);
}

/* --- arcs ---------------------------------------------------------------- */

static void
circles(const struct x *x, int at, int n)
{
	xcb_poly_arc(x->c, x->win, x->gc, n, x->arc + at);
}

static void
arc(struct bench *b)
{
	struct x x;

	start(&x, b);
	draw(&x, circles);
}

static void
discs(const struct x *x, int at, int n)
{
	xcb_poly_fill_arc(x->c, x->win, x->gc, n, x->arc + at);
}

static void
farc(struct bench *b)
{
	struct x x;

	start(&x, b);
	draw(&x, discs);
}

/* --- a program's day ----------------------------------------------------- */

enum { SIDE = 200, BORDER = 2 };

static void
cycles(const struct x *x, int at, int n)
{
	static const char title[] = "bench: cmplx";
	static const xcb_segment_t lines[] = {
		{ 110, 30, 190, 110 }, { 110, 110, 190, 30 },
		{ 110, 70, 190, 70 }, { 150, 30, 150, 110 },
	};
	static const xcb_rectangle_t body = { 10, 30, 80, 80 };
	const uint32_t look[] = { x->screen->white_pixel,
		x->screen->black_pixel };
	const xcb_rectangle_t *r = x->rect + at;

	for (; n--; r++) {
		xcb_create_window(x->c, XCB_COPY_FROM_PARENT, x->child, x->win,
			r->x, r->y, SIDE, SIDE, BORDER,
			XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT,
			XCB_CW_BACK_PIXEL | XCB_CW_BORDER_PIXEL, look);
		xcb_map_window(x->c, x->child);
		xcb_image_text_8(x->c, sizeof title - 1, x->child, x->gc,
			10, x->ascent, title);
		xcb_poly_fill_rectangle(x->c, x->child, x->gc, 1, &body);
		xcb_poly_segment(x->c, x->child, x->gc, LEN(lines), lines);
		xcb_copy_area(x->c, x->child, x->child, x->gc, 0, 30, 0, 110,
			SIDE, 90);
		xcb_copy_area(x->c, x->child, x->child, x->gc, 0, LINE, 0, 0,
			SIDE, SIDE - LINE);
		xcb_clear_area(x->c, 0, x->child, 0, SIDE - LINE, SIDE, LINE);
		xcb_unmap_window(x->c, x->child);
		xcb_destroy_window(x->c, x->child);
	}
}

static void
cmplx(struct bench *b)
{
	struct x x;
	int width, height;

	xopen(&x, b);
	set_font(&x, &width, &height);
	grid(&x, SIDE + 2 * BORDER, SIDE + 2 * BORDER);
	x.child = xcb_generate_id(x.c);
	draw(&x, cycles);
}

/* --- outside the stones: requests, images -------------------------------- */

static void
syncs(const struct x *x, int at, int n)
{
	(void)at;
	while (n--)
		free(xcb_get_input_focus_reply(x->c,
			xcb_get_input_focus(x->c), NULL));
}

static void
sync_(struct bench *b)
{
	struct x x;

	start(&x, b);
	draw(&x, syncs);
}

static void
give_back(void *nothing)
{
	(void)nothing;
}

/*
 * Written as they lie in memory: to make one would take the client longer
 * than it takes the server.  xcb must have a reply for every 65535 requests.
 */
static void
noops(const struct x *x, int at, int n)
{
	struct iovec part = { x->image, (size_t)n * 4 };
	uint64_t sent;

	(void)at;
	if (xcb_take_socket(x->c, give_back, NULL, 0, &sent))
		xcb_writev(x->c, &part, 1, (uint64_t)n);
	xcb_discard_reply(x->c, xcb_get_input_focus(x->c).sequence);
}

static void
noop(struct bench *b)
{
	xcb_no_operation_request_t *r;
	struct x x;
	int i;

	start(&x, b);
	if (!(r = calloc((size_t)x.batch, sizeof *r)))
		fail(b, "malloc:");
	for (i = 0; i < x.batch; i++)
		r[i] = (xcb_no_operation_request_t){ XCB_NO_OPERATION, 0, 1 };
	x.image = (uint8_t *)r;
	draw(&x, noops);
}

/* Bytes of an image of the row's size as the server wants them. */
static uint32_t
image_bytes(struct x *x)
{
	const xcb_setup_t *s = xcb_get_setup(x->c);
	const xcb_format_t *f = xcb_setup_pixmap_formats(s);
	const xcb_format_t *end = f + s->pixmap_formats_len;
	uint32_t size = (uint32_t)x->b->arg;

	while (f < end && f->depth != x->screen->root_depth)
		f++;
	if (f == end)
		skip(x->b, "the X server has no image format of %d bits",
			x->screen->root_depth);
	return (size * f->bits_per_pixel + f->scanline_pad - 1) /
		f->scanline_pad * f->scanline_pad / 8 * size;
}

static void
puts_(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;

	for (; n--; r++)
		xcb_put_image(x->c, XCB_IMAGE_FORMAT_Z_PIXMAP, x->win, x->gc,
			r->width, r->height, r->x, r->y, 0,
			x->screen->root_depth, x->bytes, x->image);
}

static void
put(struct bench *b)
{
	struct x x;

	start(&x, b);
	x.bytes = image_bytes(&x);
	if (!(x.image = calloc(1, x.bytes)))
		fail(b, "malloc:");
	draw(&x, puts_);
}

static void
shm_puts(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;

	for (; n--; r++)
		xcb_shm_put_image(x->c, x->win, x->gc, r->width, r->height,
			0, 0, r->width, r->height, r->x, r->y,
			x->screen->root_depth, XCB_IMAGE_FORMAT_Z_PIXMAP, 0,
			x->segment, 0);
}

/* Skips the row where the server lacks an extension. */
static void
want(struct x *x, xcb_extension_t *ext, const char *name)
{
	const xcb_query_extension_reply_t *have =
		xcb_get_extension_data(x->c, ext);

	if (!have)
		x_unanswered(x->b, NULL);
	if (!have->present)
		skip(x->b, "the X server lacks %s", name);
	x->extended = 1;
}

/* Removed at once, the memory lasts as long as somebody has it. */
static void
shm(struct bench *b)
{
	struct x x;
	void *p;
	int id;

	start(&x, b);
	want(&x, &xcb_shm_id, "MIT-SHM");
	if ((id = shmget(IPC_PRIVATE, image_bytes(&x), IPC_CREAT | 0666)) < 0)
		fail(b, "shmget:");
	p = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	if (p == (void *)-1)
		fail(b, "shmat:");
	x.segment = xcb_generate_id(x.c);
	if (xcb_request_check(x.c, xcb_shm_attach_checked(x.c, x.segment,
	    (uint32_t)id, 1)))
		skip(b, "MIT-SHM is refused (is the X server elsewhere?)");
	draw(&x, shm_puts);
}

/* Some images are under way at once. */
static void
gets_(const struct x *x, int at, int n)
{
	enum { AHEAD = 4 };
	const xcb_rectangle_t *r = x->rect + at;
	xcb_get_image_cookie_t sent[AHEAD];
	int i;

	for (i = 0; i < n + AHEAD; i++) {
		if (i >= AHEAD)
			free(xcb_get_image_reply(x->c, sent[i % AHEAD], NULL));
		if (i < n)
			sent[i % AHEAD] = xcb_get_image(x->c,
				XCB_IMAGE_FORMAT_Z_PIXMAP, x->win, r[i].x,
				r[i].y, r[i].width, r[i].height, ~0u);
	}
}

static void
get(struct bench *b)
{
	struct x x;

	start(&x, b);
	draw(&x, gets_);
}

/* --- outside the stones: pixmaps, windows, properties -------------------- */

static void
pixmaps(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;

	for (; n--; r++) {
		xcb_create_pixmap(x->c, x->screen->root_depth, x->child,
			x->win, r->width, r->height);
		xcb_free_pixmap(x->c, x->child);
	}
}

static void
pixmap(struct bench *b)
{
	struct x x;

	start(&x, b);
	x.child = xcb_generate_id(x.c);
	draw(&x, pixmaps);
}

static void
maps(const struct x *x, int at, int n)
{
	(void)at;
	while (n--) {
		xcb_map_window(x->c, x->child);
		xcb_unmap_window(x->c, x->child);
	}
}

static void
winmap(struct bench *b)
{
	struct x x;
	uint16_t size = (uint16_t)b->arg;

	start(&x, b);
	x.child = xcb_generate_id(x.c);
	xcb_create_window(x.c, XCB_COPY_FROM_PARENT, x.child, x.win, 0, 0,
		size, size, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
		XCB_COPY_FROM_PARENT, XCB_CW_BACK_PIXEL,
		&x.screen->black_pixel);
	draw(&x, maps);
}

/* Of 32 bytes: set, and had back. */
static void
props(const struct x *x, int at, int n)
{
	(void)at;
	while (n--) {
		xcb_change_property(x->c, XCB_PROP_MODE_REPLACE, x->win,
			XCB_ATOM_WM_NAME, XCB_ATOM_STRING, 8, 32, x->text);
		free(xcb_get_property_reply(x->c, xcb_get_property(x->c, 0,
			x->win, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, 0, 8),
			NULL));
	}
}

static void
prop(struct bench *b)
{
	struct x x;

	start(&x, b);
	draw(&x, props);
}

/* --- outside the stones: RENDER ------------------------------------------ */

enum {
	GLYPH_W = 8, GLYPH_H = 13, ADVANCE = 6, /* pixels; rows are words */
	GLYPHS = 64,
	SOFT = 0x8000           /* a half of any colour */
};

/* A format of that depth, with or without alpha. */
static xcb_render_pictformat_t
format(struct x *x, const xcb_render_query_pict_formats_reply_t *r,
	int depth, int alpha)
{
	const xcb_render_pictforminfo_t *f =
		xcb_render_query_pict_formats_formats(r);
	uint32_t n = r->num_formats;

	for (; n--; f++)
		if (f->depth == depth && !f->direct.alpha_mask == !alpha &&
		    f->direct.red_shift >= f->direct.blue_shift)
			return f->id;
	skip(x->b, "RENDER has no format of %d bits", depth);
}

/* A window's picture, and one of a size to draw it with. */
static void
render(struct x *x, struct bench *b)
{
	xcb_render_query_pict_formats_reply_t *r;
	xcb_generic_error_t *e = NULL;
	xcb_rectangle_t all;
	xcb_pixmap_t p;
	uint32_t yes = 1;

	xopen(x, b);
	want(x, &xcb_render_id, "RENDER");
	free(xcb_render_query_version_reply(x->c,
		xcb_render_query_version(x->c, 0, 11), NULL));
	r = xcb_render_query_pict_formats_reply(x->c,
		xcb_render_query_pict_formats(x->c), &e);
	if (!r)
		x_unanswered(x->b, e);
	x->target = xcb_generate_id(x->c);
	xcb_render_create_picture(x->c, x->target, x->win,
		format(x, r, x->screen->root_depth, 0), 0, NULL);
	all = (xcb_rectangle_t){ 0, 0, (uint16_t)b->arg, (uint16_t)b->arg };
	p = xcb_generate_id(x->c);
	xcb_create_pixmap(x->c, 32, p, x->win, all.width, all.height);
	x->source = xcb_generate_id(x->c);
	xcb_render_create_picture(x->c, x->source, p, format(x, r, 32, 1),
		XCB_RENDER_CP_REPEAT, &yes);
	xcb_render_fill_rectangles(x->c, XCB_RENDER_PICT_OP_SRC, x->source,
		(xcb_render_color_t){ 0, 0, SOFT, SOFT }, 1, &all);
	x->glyphs = xcb_generate_id(x->c);
	xcb_render_create_glyph_set(x->c, x->glyphs, format(x, r, 8, 1));
	free(r);
}

static void
render_fills(const struct x *x, int at, int n)
{
	xcb_render_fill_rectangles(x->c, XCB_RENDER_PICT_OP_OVER, x->target,
		(xcb_render_color_t){ SOFT, 0, 0, SOFT }, (uint32_t)n,
		x->rect + at);
}

static void
rfill(struct bench *b)
{
	struct x x;

	render(&x, b);
	grid(&x, (int)b->arg, (int)b->arg);
	draw(&x, render_fills);
}

static void
overs(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;

	for (; n--; r++)
		xcb_render_composite(x->c, XCB_RENDER_PICT_OP_OVER, x->source,
			XCB_NONE, x->target, 0, 0, 0, 0, r->x, r->y, r->width,
			r->height);
}

static void
rover(struct bench *b)
{
	struct x x;

	render(&x, b);
	grid(&x, (int)b->arg, (int)b->arg);
	draw(&x, overs);
}

/* An element: XCHARS, three bytes, where it lies, text. */
static void
aatexts(const struct x *x, int at, int n)
{
	const xcb_rectangle_t *r = x->rect + at;
	uint8_t element[8 + (XCHARS + 3) / 4 * 4] = { XCHARS };
	int16_t *where = (int16_t *)(element + 4);
	int i;

	for (i = 0; i < XCHARS; i++)
		element[8 + i] = (uint8_t)(i % GLYPHS);
	for (; n--; r++) {
		where[0] = r->x;
		where[1] = r->y;
		xcb_render_composite_glyphs_8(x->c, XCB_RENDER_PICT_OP_OVER,
			x->source, x->target, 0, x->glyphs, 0, 0,
			sizeof element, element);
	}
}

/* Glyphs of all greys. */
static void
aatext(struct bench *b)
{
	xcb_render_glyphinfo_t info[GLYPHS];
	uint8_t bits[GLYPHS * GLYPH_W * GLYPH_H];
	uint32_t id[GLYPHS];
	struct x x;
	size_t i;

	render(&x, b);
	for (i = 0; i < sizeof bits; i++)
		bits[i] = (uint8_t)(i * 37);
	for (i = 0; i < GLYPHS; i++) {
		id[i] = (uint32_t)i;
		info[i] = (xcb_render_glyphinfo_t){ GLYPH_W, GLYPH_H, 0, 0,
			ADVANCE, 0 };
	}
	xcb_render_add_glyphs(x.c, x.glyphs, GLYPHS, id, info, sizeof bits,
		bits);
	grid(&x, XCHARS * ADVANCE + GLYPH_W, GLYPH_H);
	b->work = XCHARS;
	draw(&x, aatexts);
}

#else

#define RATE(f, arg) "1/s", absent, arg, MORE

static void
absent(struct bench *b)
{
	stage(b, "looking for X");
	skip(b, "built without X (make WITH_X=1)");
}

#endif

/* --- the rows ------------------------------------------------------------ */

const struct test x_tests[] = {
	/* key      table title      unit      run arg better rare */
	{ "x_line",  "x", "line",    "stones", NULL, 0, MORE, 0 },
	{ "x_fill",  "x", "fill",    "stones", NULL, 0, MORE, 0 },
	{ "x_blt",   "x", "blt",     "stones", NULL, 0, MORE, 0 },
	{ "x_text",  "x", "text",    "stones", NULL, 0, MORE, 0 },
	{ "x_arc",   "x", "arc",     "stones", NULL, 0, MORE, 0 },
	{ "x_cmplx", "x", "cmplx",   "stones", NULL, 0, MORE, 0 },
	{ "xstones", "x", "xstones", "stones", NULL, 0, MORE, 0 },

	/* key       table     title                 unit run arg better rare */
	{ "line10",   "x_line",  "line 10",             RATE(line,    10), 0 },
	{ "line100",  "x_line",  "line 100",            RATE(line,   100), 0 },
	{ "line400",  "x_line",  "line 400",            RATE(line,   400), 0 },
	{ "dline10",  "x_line",  "dashed line 10",      RATE(dline,   10), 0 },
	{ "dline100", "x_line",  "dashed line 100",     RATE(dline,  100), 0 },
	{ "dline400", "x_line",  "dashed line 400",     RATE(dline,  400), 0 },
	{ "wline10",  "x_line",  "wide line 10",        RATE(wline,   10), 0 },
	{ "wline100", "x_line",  "wide line 100",       RATE(wline,  100), 0 },
	{ "wline400", "x_line",  "wide line 400",       RATE(wline,  400), 0 },
	{ "rect10",   "x_line",  "rectangle 10",        RATE(rect,    10), 0 },
	{ "rect100",  "x_line",  "rectangle 100",       RATE(rect,   100), 0 },
	{ "rect400",  "x_line",  "rectangle 400",       RATE(rect,   400), 0 },
	{ "fill10",   "x_fill",  "fill 10",             RATE(fill,    10), 0 },
	{ "fill100",  "x_fill",  "fill 100",            RATE(fill,   100), 0 },
	{ "fill400",  "x_fill",  "fill 400",            RATE(fill,   400), 0 },
	{ "tile10",   "x_fill",  "tiled fill 10",       RATE(tile,    10), 0 },
	{ "tile100",  "x_fill",  "tiled fill 100",      RATE(tile,   100), 0 },
	{ "tile400",  "x_fill",  "tiled fill 400",      RATE(tile,   400), 0 },
	{ "stip10",   "x_fill",  "stippled fill 10",    RATE(stip,    10), 0 },
	{ "stip100",  "x_fill",  "stippled fill 100",   RATE(stip,   100), 0 },
	{ "stip400",  "x_fill",  "stippled fill 400",   RATE(stip,   400), 0 },
	{ "inv10",    "x_fill",  "inverting fill 10",   RATE(inv,     10), 0 },
	{ "inv100",   "x_fill",  "inverting fill 100",  RATE(inv,    100), 0 },
	{ "inv400",   "x_fill",  "inverting fill 400",  RATE(inv,    400), 0 },
	{ "blt10",    "x_blt",   "copy 10",             RATE(blt,     10), 0 },
	{ "blt100",   "x_blt",   "copy 100",            RATE(blt,    100), 0 },
	{ "blt400",   "x_blt",   "copy 400",            RATE(blt,    400), 0 },
	{ "bit10",    "x_blt",   "bitmap 10",           RATE(bit,     10), 0 },
	{ "bit100",   "x_blt",   "bitmap 100",          RATE(bit,    100), 0 },
	{ "bit400",   "x_blt",   "bitmap 400",          RATE(bit,    400), 0 },
	{ "scroll",   "x_blt",   "scroll",              RATE(scroll,   0), 0 },
	{ "itext",    "x_text",  "image text, char",    RATE(itext,    0), 0 },
	{ "ptext",    "x_text",  "poly text, char",     RATE(ptext,    0), 0 },
	{ "arc10",    "x_arc",   "circle 10",           RATE(arc,     10), 0 },
	{ "arc100",   "x_arc",   "circle 100",          RATE(arc,    100), 0 },
	{ "arc400",   "x_arc",   "circle 400",          RATE(arc,    400), 0 },
	{ "farc10",   "x_arc",   "disc 10",             RATE(farc,    10), 0 },
	{ "farc100",  "x_arc",   "disc 100",            RATE(farc,   100), 0 },
	{ "farc400",  "x_arc",   "disc 400",            RATE(farc,   400), 0 },
	{ "cmplx",    "x_cmplx", "window cycle",        RATE(cmplx,    0), 0 },

	/* outside the stones */
	{ "xsync",    "x_more",  "sync",                RATE(sync_,   10), 0 },
	{ "xnoop",    "x_more",  "noop",                RATE(noop,    10), 0 },
	{ "xput",     "x_more",  "put",                 RATE(put,    100), 0 },
	{ "xshm",     "x_more",  "shm put",             RATE(shm,    100), 0 },
	{ "xget",     "x_more",  "get",                 RATE(get,    100), 0 },
	{ "xpixmap",  "x_more",  "pix map",             RATE(pixmap, 100), 0 },
	{ "xwinmap",  "x_more",  "win map",             RATE(winmap, 100), 0 },
	{ "xprop",    "x_more",  "prop",                RATE(prop,    10), 0 },
	{ "rfill",    "x_more",  "render fill",         RATE(rfill,  100), 0 },
	{ "rover",    "x_more",  "render over",         RATE(rover,  100), 0 },
	{ "raa",      "x_more",  "render text",         RATE(aatext,   8), 0 },
	{ NULL, NULL, NULL, NULL, NULL, 0, MORE, 0 }
};

#if WITH_X
_Static_assert(LEN(x_tests) <= XROWS, "xserver.h: XROWS is too small");
#endif
