/*
 * config.h - what is chosen when bench is built.  Change it here, or a
 * single knob by make CPPFLAGS=-DTIME=10.
 */

/* --- time ---------------------------------------------------------------- */

/* seconds a run takes (-t) */
#ifndef TIME
#define TIME 30
#endif
/* rounds that should fit into it */
#ifndef ROUNDS
#define ROUNDS 5
#endif
/* rounds after which a run ends early, unless -t is given; most of all */
#ifndef ENOUGH
#define ENOUGH 12
#endif
#ifndef MAXROUNDS
#define MAXROUNDS 100
#endif
/* most samples that are kept of a row in a round */
#ifndef MAXSAMPLES
#define MAXSAMPLES 64
#endif
/* seconds of sampling a row gets in a round: at least, at most */
#ifndef MINSLICE
#define MINSLICE 0.01
#endif
#ifndef MAXSLICE
#define MAXSLICE 0.25
#endif
/* seconds a batch lasts at least */
#ifndef BATCH
#define BATCH 0.001
#endif
/* seconds after which a row that does not end is killed */
#ifndef TIMEOUT
#define TIMEOUT 5
#endif

/* --- sizes --------------------------------------------------------------- */

/* bytes of a memory buffer at most, whatever the caches */
#ifndef MAXBUFFER
#define MAXBUFFER (128L << 20)
#endif
/* bytes of the file that is read and mapped, and of one read or write */
#ifndef FILESIZE
#define FILESIZE (8L << 20)
#endif
#ifndef PIECE
#define PIECE (64L << 10)
#endif

/* --- X ------------------------------------------------------------------- */

/* make WITH_X=0 leaves it out */
#ifndef WITH_X
#define WITH_X 1
#endif
/* shapes in one request; characters in one text request */
#ifndef XBATCH
#define XBATCH 256
#endif
#ifndef XCHARS
#define XCHARS 80
#endif
/* width and height of the window, pixels */
#ifndef XWINDOW
#define XWINDOW 600
#endif

/*
 * Stones: STONE times the weighted geometric mean of rate to reference
 * rate.  A change here is a new version: records of two versions are not
 * compared.
 */
#define STONES 1
#define STONE 10000
static const struct stone {
	const char *of;         /* the row it counts into */
	const char *key;
	double weight, rate;
} stones[] = {
	/* of        key         weight  reference rate */
	{ "xstones", "x_line",   1, STONE },
	{ "xstones", "x_fill",   1, STONE },
	{ "xstones", "x_blt",    1, STONE },
	{ "xstones", "x_text",   1, STONE },
	{ "xstones", "x_arc",    1, STONE },
	{ "xstones", "x_cmplx",  1, STONE },
};

/* --- tables -------------------------------------------------------------- */

/* columns of a line */
#ifndef WIDTH
#define WIDTH 80
#endif
/* quartiles further apart than this part of the value are marked as noise */
#ifndef NOISY
#define NOISY 0.10
#endif

/* --- as process 1 -------------------------------------------------------- */

/* lines of a screen; seconds that a page waits for Enter (bench.page) */
#ifndef HEIGHT
#define HEIGHT 25
#endif
#ifndef PAGE
#define PAGE 10
#endif
/* the file that bench.save appends to */
#ifndef SAVED
#define SAVED "BENCH.TSV"
#endif
