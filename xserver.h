/*
 * xserver.h - what rows of X have of the server that they draw on.
 */
#include <xcb/xcb.h>

enum { XROWS = 64 };            /* there are no more rows of X */

/* Seconds of wall time, and of a CPU: client, server, the whole system. */
enum {
	WALL, USER, SYSTEM, XUSER, XSYSTEM, ALLUSER, ALLNICE, ALLSYSTEM,
	ALLIDLE, TIMES
};

/*
 * Connects to the server that all rows of a run have: that of $DISPLAY or,
 * where the first row found none, the built-in one.  Its screen is lit, its
 * pointer hidden.  Fails the row where it refuses, is gone, or cannot be
 * understood; never returns NULL.
 */
xcb_connection_t *x_connect(struct bench *b, const xcb_screen_t **screen);
/* Is there a server at $DISPLAY, be it one that refuses? */
int x_there(void);
/* Fails the row: a request got that error. */
_Noreturn void x_refused(struct bench *b, const xcb_generic_error_t *e);
/* ... a reply did not come, but that error or (NULL) the connection's end. */
_Noreturn void x_unanswered(struct bench *b, const xcb_generic_error_t *e);

/* Seconds to wait for a window: less when one has been waited for in vain. */
double *x_patience(struct bench *b);

/*
 * What has been spent till now, by the client, by the server where it can be
 * known, and by all.
 */
void x_spent(struct bench *b, double t[static TIMES]);
/* Adds what was spent since then to the category of the row. */
void x_account(struct bench *b, const double since[static TIMES]);

/*
 * Runs a row that has been drawn on a real server once more, on the built-in
 * one; x_beside() is true meanwhile, and x_null() takes what an operation
 * then takes, in seconds.
 */
void x_again(struct bench *b);
int x_beside(struct bench *b);
void x_null(struct bench *b, double t);
