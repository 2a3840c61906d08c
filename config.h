/*
 * config.h - what is chosen when bench is built.  Change it here, or a
 * single knob by make CPPFLAGS=-DTIME=10.
 */

/* --- time ---------------------------------------------------------------- */

/* seconds a run takes (-t) */
#ifndef TIME
#define TIME 30
#endif
/* ... with all tables (-a) */
#ifndef LONGTIME
#define LONGTIME 85
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
/* ... times this, for a row of X: there are many */
#ifndef XPART
#define XPART 0.15
#endif
/* most copies of a row at once (-P) */
#ifndef MAXCOPIES
#define MAXCOPIES 256
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

/* --- noise --------------------------------------------------------------- */

/* rounds after those of ROUNDS repeat rows whose quartiles are further apart
   than this part of the value, and have this part of the time */
#ifndef CALM
#define CALM 0.03
#endif
#ifndef SPARE
#define SPARE 0.2
#endif
/* a round is disturbed where the hypervisor gave this part of the CPUs to
   others, other programs used this part of one, or its clock changed so far */
#ifndef STEAL
#define STEAL 0.02
#endif
#ifndef OTHERS
#define OTHERS 0.15
#endif
#ifndef SWING
#define SWING 0.05
#endif

/* --- X ------------------------------------------------------------------- */

/* make WITH_X=0 leaves it out */
#ifndef WITH_X
#define WITH_X 1
#endif
/* X servers to start where there is none: the first that can be had (-s);
   those that take a screen only where standard error is a text console */
static const struct {
	const char *command;
	int console;
} xservers[] = {
	/* command                       console */
	{ "X",                           1 },
	{ "Xorg",                        1 },
	{ "Xfbdev",                      1 },
	{ "Xvfb -screen 0 1280x1024x24", 0 },
};
/* whole seconds it has to start */
#ifndef XPATIENCE
#define XPATIENCE 10
#endif
/* shapes in one request at most; characters in one text request */
#ifndef XBATCH
#define XBATCH 4096
#endif
#ifndef XCHARS
#define XCHARS 80
#endif
/* width and height of the window, pixels */
#ifndef XWINDOW
#define XWINDOW 600
#endif
/* bits of a pixel of the built-in server's screen */
#ifndef XDEPTH
#define XDEPTH 24
#endif

/*
 * Stones: STONE times the weighted geometric mean of rate to reference
 * rate.  A change here is a new version: records of two versions are not
 * compared.  Weights favour what programs draw most.  The rates, two
 * digits each, are those of Xvfb 21.1.7 (1280x1024, 24 bits) on a virtual
 * machine with 2 CPUs (AMD EPYC, Linux 6.18), which so has STONE stones.
 */
#define STONES 1
#define STONE 10000
static const struct stone {
	const char *of;         /* the row it counts into */
	const char *key;
	float weight, rate;
} stones[] = {
	/* of        key         weight  reference rate */
	{ "xstones", "x_line",   1, STONE },
	{ "xstones", "x_fill",   1, STONE },
	{ "xstones", "x_blt",    1, STONE },
	{ "xstones", "x_text",   1, STONE },
	{ "xstones", "x_arc",    1, STONE },
	{ "xstones", "x_cmplx",  1, STONE },
	{ "x_line",  "line10",   3,  130000000 },
	{ "x_line",  "line100",  3,   19000000 },
	{ "x_line",  "line400",  3,    1800000 },
	{ "x_line",  "dline10",  1,   43000000 },
	{ "x_line",  "dline100", 1,   15000000 },
	{ "x_line",  "dline400", 1,    4900000 },
	{ "x_line",  "wline10",  1,    8700000 },
	{ "x_line",  "wline100", 1,    1700000 },
	{ "x_line",  "wline400", 1,     440000 },
	{ "x_line",  "rect10",   2,   34000000 },
	{ "x_line",  "rect100",  2,    4600000 },
	{ "x_line",  "rect400",  2,     330000 },
	{ "x_fill",  "fill10",   3,   28000000 },
	{ "x_fill",  "fill100",  3,    2600000 },
	{ "x_fill",  "fill400",  3,     200000 },
	{ "x_fill",  "tile10",   1,   17000000 },
	{ "x_fill",  "tile100",  1,     380000 },
	{ "x_fill",  "tile400",  1,      25000 },
	{ "x_fill",  "stip10",   1,    7700000 },
	{ "x_fill",  "stip100",  1,     120000 },
	{ "x_fill",  "stip400",  1,       7900 },
	{ "x_fill",  "inv10",    1,   22000000 },
	{ "x_fill",  "inv100",   1,     290000 },
	{ "x_fill",  "inv400",   1,      19000 },
	{ "x_blt",   "blt10",    3,    6900000 },
	{ "x_blt",   "blt100",   3,    1200000 },
	{ "x_blt",   "blt400",   3,      97000 },
	{ "x_blt",   "bit10",    1,    5100000 },
	{ "x_blt",   "bit100",   1,     190000 },
	{ "x_blt",   "bit400",   1,      12000 },
	{ "x_blt",   "scroll",   3,      40000 },
	{ "x_text",  "itext",    2,   36000000 },
	{ "x_text",  "ptext",    1,   42000000 },
	{ "x_arc",   "arc10",    2,   36000000 },
	{ "x_arc",   "arc100",   2,    7400000 },
	{ "x_arc",   "arc400",   2,    1700000 },
	{ "x_arc",   "farc10",   2,    8100000 },
	{ "x_arc",   "farc100",  2,     590000 },
	{ "x_arc",   "farc400",  2,     110000 },
	{ "x_cmplx", "cmplx",    1,      62000 },
};

/* --- tables -------------------------------------------------------------- */

/* those of a run that names none; -a means all */
static const char *const usual[] = { "x", "proc", "comm", "bw", "mem" };

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

/* --- comparisons --------------------------------------------------------- */

/* percent that a change must exceed to be one */
#ifndef FLOOR
#define FLOOR 3
#endif
/* ... where a side has a single value, and nothing tells its spread */
#ifndef SINGLE
#define SINGLE 15
#endif
/* percent that a figure may be worse by before exit status 3 (-w) */
#ifndef LIMIT
#define LIMIT 5
#endif
/* chance that a comparison without any change shows one in some cell, if
   all is as compare.c has it; it is up to twice that, as measured */
#ifndef LEVEL
#define LEVEL 0.02
#endif
/* standard deviation of a run, beside that of its rounds, where there are too
   few figures to tell; with more it is at most this, or a typical round's */
#ifndef DRIFT
#define DRIFT 0.01
#endif
/* ... and at least, of figures that hang on pages, neighbours, caches */
static const struct {
	const char *key;
	double drift;
} drifts[] = {
	/* key              deviation */
	{ "sh_process",      0.30 },
	{ "null_process",    0.015 },
	{ "simple_process",  0.015 },
	{ "mmap_lat",        0.015 },
	{ "bcopy_libc_bw",   0.025 },
	{ "bcopy_hand_bw",   0.025 },
	{ "mem_read_bw",     0.025 },
	{ "mem_write_bw",    0.025 },
	{ "l3_lat",          0.05 },
	{ "main_lat",        0.025 },
	{ "tlb_lat",         0.03 },
};
