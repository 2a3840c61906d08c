/*
 * cover.c - an X client that lies on top of others, for tests.
 *
 *	cover times     a small window that comes back on top, so often, when
 *	                another covers it
 *	cover overlay   the overlay window of Composite, which all others lie
 *	                below, whatever they do
 *
 * It prints a line when it is there, and stays until it is ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <xcb/xcb.h>
#include <xcb/xcbext.h>

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "cover: %s\n", what);
	exit(1);
}

/* A request of Composite with one or two words, and its reply. */
static uint32_t *
composite(xcb_connection_t *c, int opcode, uint32_t a, uint32_t b, int words)
{
	static xcb_extension_t ext = { "Composite", 0 };
	xcb_protocol_request_t request = { 1, &ext, (uint8_t)opcode, 0 };
	uint32_t q[] = { 0, a, b }, *r;
	struct iovec part[] = {
		{ NULL, 0 }, { NULL, 0 }, { q, 4 + 4 * (size_t)words } };

	r = xcb_wait_for_reply(c, xcb_send_request(c, 0, part + 2, &request),
		NULL);
	if (!r)
		die("no Composite");
	return r;
}

static void
small_window(xcb_connection_t *c, xcb_window_t root, xcb_window_t win)
{
	const uint32_t look[] = { 1, XCB_EVENT_MASK_VISIBILITY_CHANGE };

	xcb_create_window(c, XCB_COPY_FROM_PARENT, win, root, 0, 0, 50, 50, 0,
		XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT,
		XCB_CW_OVERRIDE_REDIRECT | XCB_CW_EVENT_MASK, look);
	xcb_map_window(c, win);
}

int
main(int argc, char **argv)
{
	const uint32_t above = XCB_STACK_MODE_ABOVE;
	xcb_connection_t *c = xcb_connect(NULL, NULL);
	xcb_generic_event_t *e;
	xcb_window_t root, win;
	long times;

	if (argc != 2 || xcb_connection_has_error(c))
		die("usage, or no X server");
	root = xcb_setup_roots_iterator(xcb_get_setup(c)).data->root;
	win = xcb_generate_id(c);
	times = atol(argv[1]);
	if (!strcmp(argv[1], "overlay")) {
		composite(c, 0, 0, 3, 2);
		composite(c, 7, root, 0, 1);
	} else {
		small_window(c, root, win);
	}
	free(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL));
	puts("up");
	fflush(stdout);
	while ((e = xcb_wait_for_event(c))) {
		if (e->response_type == XCB_VISIBILITY_NOTIFY &&
		    ((xcb_visibility_notify_event_t *)e)->state && times-- > 0)
			xcb_configure_window(c, win,
				XCB_CONFIG_WINDOW_STACK_MODE, &above);
		xcb_flush(c);
	}
	return 0;
}
