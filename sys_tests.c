/*
 * sys_tests.c - further figures of the operating system: calls on many
 * descriptors, signals, files, virtual memory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

/* --- calls --------------------------------------------------------------- */

/* stat() of a path of two names. */
static void
stat_lat(struct bench *b)
{
	struct stat st;
	long n;

	while (sample(b))
		for (n = b->n; n--; )
			if (stat("/dev/null", &st))
				fail(b, "/dev/null: stat:");
}

/* open() of the same, and close(). */
static void
open_close(struct bench *b)
{
	long n;
	int fd;

	while (sample(b))
		for (n = b->n; n--; )
			if ((fd = open("/dev/null", O_RDONLY)) < 0 || close(fd))
				fail(b, "/dev/null:");
}

enum { MANY = 100 };

/* So many descriptors, a byte to read from each; returns the last. */
static int
many_ready(struct bench *b, int fd[MANY])
{
	int i, p[2];

	if (pipe(p) || write(p[1], "", 1) != 1)
		fail(b, "pipe:");
	for (i = 0; i < MANY; i++)
		if ((fd[i] = dup(p[0])) < 0)
			fail(b, "dup:");
	return fd[MANY - 1];
}

/* select() on them, without waiting. */
static void
select_lat(struct bench *b)
{
	int i, fd[MANY], last = many_ready(b, fd);
	struct timeval now;
	fd_set all, set;
	long n;

	FD_ZERO(&all);
	for (i = 0; i < MANY; i++)
		FD_SET(fd[i], &all);
	while (sample(b))
		for (n = b->n; n--; ) {
			set = all;
			now = (struct timeval){ 0 };
			if (select(last + 1, &set, NULL, NULL, &now) != MANY)
				fail(b, "select:");
		}
}

/* epoll_wait(), which tells of each of them. */
static void
epoll_lat(struct bench *b)
{
	struct epoll_event event[MANY], e = { .events = EPOLLIN };
	int i, fd[MANY], poll = epoll_create1(0);
	long n;

	if (poll < 0)
		fail(b, "epoll:");
	many_ready(b, fd);
	for (i = 0; i < MANY; i++)
		if (epoll_ctl(poll, EPOLL_CTL_ADD, fd[i], &e))
			fail(b, "epoll:");
	while (sample(b))
		for (n = b->n; n--; )
			if (epoll_wait(poll, event, MANY, 0) != MANY)
				fail(b, "epoll_wait:");
}

static void
heed(int sig)
{
	(void)sig;
}

/* sigaction() that installs a handler. */
static void
sig_install(struct bench *b)
{
	struct sigaction act = { .sa_handler = heed };
	long n;

	while (sample(b))
		for (n = b->n; n--; )
			if (sigaction(SIGUSR1, &act, NULL))
				fail(b, "sigaction:");
}

/* kill() of oneself, the handler, the way back. */
static void
sig_handle(struct bench *b)
{
	pid_t self = getpid();
	long n;

	if (self <= 0)                  /* denied: -1 would be all others */
		skip(b, "getpid: no number");
	signal(SIGUSR1, heed);
	while (sample(b))
		for (n = b->n; n--; )
			if (kill(self, SIGUSR1))
				fail(b, "kill:");
}

/* --- files --------------------------------------------------------------- */

/* Args of rows of files: what is timed, KB of a file, and where. */
enum { CREATE = 0, DELETE = 1, TEN_KB = 2, ON_DIR = 4 };

/*
 * A tmpfs: one of our own if we may have it, in a name space that ends with
 * us; else one that is there.
 */
static const char *
tmpfs(struct bench *b)
{
	enum { MAGIC = 0x01021994 };    /* of linux/magic.h */
	static const char *const names[] = { "/tmp", "/dev/shm", "/run" };
	struct statfs fs;
	size_t i;

	if (!unshare(CLONE_NEWNS) &&
	    !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		for (i = 0; i < LEN(names); i++)
			if (!mount("bench", names[i], "tmpfs", 0, NULL))
				return names[i];
	for (i = 0; i < LEN(names); i++)
		if (!statfs(names[i], &fs) && fs.f_type == MAGIC &&
		    !access(names[i], W_OK))
			return names[i];
	skip(b, "no tmpfs");
}

/* Waits until whoever holds the other end is gone, then empties a folder. */
static _Noreturn void
clean_up(int end, const char *name)
{
	struct dirent *e;
	DIR *d;
	char c;

	setpgid(0, 0);          /* what kills the row is not to kill us */
	while (read(end, &c, 1) < 0 && errno == EINTR)
		;
	if ((d = opendir(".")))
		while ((e = readdir(d)))
			unlink(e->d_name);
	if (!chdir(".."))
		rmdir(name);
	_exit(0);
}

/*
 * Into a folder of our own, on the directory of TMPDIR (or the current one)
 * or on a tmpfs.  However the row ends, a process stays and removes it: as
 * soon as the descriptor that is returned is closed.
 */
static int
own_folder(struct bench *b)
{
	const char *dir = getenv("TMPDIR");
	char name[] = "bench.XXXXXX";
	struct statfs fs;
	int end[2];

	if (!(b->arg & ON_DIR))
		dir = tmpfs(b);
	else if (!dir || !*dir)
		dir = ".";
	if (pipe(end))
		fail(b, "pipe:");
	if (chdir(dir) || !mkdtemp(name) || chdir(name))
		fail(b, "%s:", dir);
	if (b->arg & ON_DIR && !statfs(".", &fs))
		fact(b, "dir_type", "%#lx", (unsigned long)fs.f_type);
	switch (fork()) {
	case -1:
		chdir("..");
		rmdir(name);
		fail(b, "fork:");
	case 0:
		if (close(end[1]))
			end[0] = -1;    /* or it would wait for itself */
		clean_up(end[0], name);
	}
	close(end[0]);
	return end[1];
}

/* Leaves it, and waits until it is gone. */
static void
leave_folder(int fd)
{
	close(fd);
	while (wait(NULL) > 0)
		;
}

static void
create_files(struct bench *b, long n, size_t size)
{
	static char data[10 << 10];     /* not const: zeros take no room */
	char name[24];
	int fd;

	while (n--) {
		snprintf(name, sizeof name, "%ld", n);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		if (fd < 0)
			fail(b, "create:");
		if (size && write(fd, data, size) != (ssize_t)size)
			fail(b, "create: write:");
		close(fd);
	}
}

static void
delete_files(struct bench *b, long n, size_t size)
{
	char name[24];

	(void)size;
	while (n--) {
		snprintf(name, sizeof name, "%ld", n);
		if (unlink(name))
			fail(b, "unlink:");
	}
}

/*
 * Files are created, written if they are to have 10 KB, and closed; then they
 * are deleted.  One of both is timed, at most so many files at once.
 */
static void
file_lat(struct bench *b)
{
	enum { MOST_FILES = 1000 };
	int phase, fd = own_folder(b);
	size_t size = b->arg & TEN_KB ? 10 << 10 : 0;
	long k, left;
	double t;

	while (sample(b))
		for (left = b->n; left; left -= k) {
			k = left < MOST_FILES ? left : MOST_FILES;
			for (phase = CREATE; phase <= DELETE; phase++) {
				t = seconds();
				(phase == CREATE ? create_files :
					delete_files)(b, k, size);
				if (phase != (b->arg & DELETE))
					leave_out(b, t);
			}
		}
	leave_folder(fd);
}

/* A page is written to a file of a directory and brought to its disk. */
static void
fsync_lat(struct bench *b)
{
	static char page[4096];
	int end = own_folder(b);
	int fd = open("sync", O_WRONLY | O_CREAT | O_EXCL, 0600);
	long n;

	if (fd < 0)
		fail(b, "create:");
	while (sample(b))
		for (n = b->n; n--; )
			if (pwrite(fd, page, sizeof page, 0) != sizeof page ||
			    fsync(fd))
				fail(b, "fsync:");
	unlink("sync");         /* who may not read folders cannot find it */
	leave_folder(end);
}

/* fcntl() that locks a byte of a file, when it can be had, or unlocks it. */
static void
lock_byte(struct bench *b, int fd, short type, int at)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET,
		.l_start = at, .l_len = 1 };

	if (fcntl(fd, F_SETLKW, &lock))
		fail(b, "lock:");
}

/*
 * Of three bytes in a ring each of two processes holds one.  It locks the
 * next, as soon as the other has left that, and then leaves its own.
 */
static int
pass_lock(struct bench *b, int fd, int mine)
{
	int next = (mine + 1) % 3;

	lock_byte(b, fd, F_WRLCK, next);
	lock_byte(b, fd, F_UNLCK, mine);
	return next;
}

/* A lock that is waited for goes from one process to another, and back. */
static void
lock_lat(struct bench *b)
{
	int mine = 0, held[2], fd = memfd_create("bench", MFD_CLOEXEC);
	char c;
	long n;

	if (fd < 0)
		fail(b, "memfd_create:");
	if (pipe(held))
		fail(b, "pipe:");
	if (!peer(b)) {
		lock_byte(b, fd, F_WRLCK, mine = 1);
		if (write(held[1], "", 1) != 1)
			fail(b, "peer: write:");
		for (;;)
			mine = pass_lock(b, fd, mine);
	}
	lock_byte(b, fd, F_WRLCK, mine);
	if (read(held[0], &c, 1) != 1)
		fail(b, "read:");
	b->work = 2;
	while (sample(b))
		for (n = b->n; n--; )
			mine = pass_lock(b, fd, mine);
}

/* --- virtual memory ------------------------------------------------------ */

enum { FAULTS = 64 << 10 };     /* bytes before what the handler counts in */

/* Before the last fault that is asked for, the page becomes writable. */
static void
count_fault(int sig, siginfo_t *info, void *context)
{
	char *page = (char *)((uintptr_t)info->si_addr & -(uintptr_t)FAULTS);

	(void)sig, (void)context;
	if (!--*(long *)(page + FAULTS))
		mprotect(page, FAULTS, PROT_READ | PROT_WRITE);
}

/* A write to a page that may not be written, and the handler of its signal. */
static void
prot_fault(struct bench *b)
{
	struct sigaction act = { .sa_sigaction = count_fault,
		.sa_flags = SA_SIGINFO };
	char *p = anonymous(b, 3 * FAULTS);

	p = (char *)(((uintptr_t)p + FAULTS - 1) & -(uintptr_t)FAULTS);
	sigaction(SIGSEGV, &act, NULL);
	while (sample(b)) {
		*(long *)(p + FAULTS) = b->n;
		if (mprotect(p, FAULTS, PROT_READ))
			fail(b, "mprotect:");
		*(volatile char *)p = 1;
	}
}

/*
 * Pages of a mapping are touched, each at its first byte, and dropped: those
 * of a file are read, new ones are written, or all would be one of zeros.
 */
static void
fault_all(struct bench *b, volatile char *p, size_t size, size_t step)
{
	size_t at;
	long n;

	b->work = (double)(size / step);
	while (sample(b))
		for (n = b->n; n--; ) {
			for (at = 0; at < size; at += step)
				if (b->arg)
					(void)p[at];
				else
					p[at] = 1;
			if (madvise((void *)p, size, MADV_DONTNEED))
				fail(b, "madvise:");
		}
}

static void *
map(struct bench *b, int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, fd < 0 ?
		MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		fail(b, "mmap:");
	return p;
}

/*
 * A page of a cached file, one in each 64 KB: the kernel maps those around,
 * which it does where a page is read and not where it is written.
 */
static void
file_fault(struct bench *b)
{
	int fd = memfd_create("bench", MFD_CLOEXEC);
	char *p;

	if (fd < 0 || ftruncate(fd, FILESIZE))
		fail(b, "memfd_create:");
	p = map(b, fd, FILESIZE);
	memset(p, 1, FILESIZE);
	fault_all(b, p, FILESIZE, 64 << 10);
}

/* A new page, which the kernel clears. */
static void
anon_fault(struct bench *b)
{
	enum { SIZE = 4 << 20 };
	char *p = map(b, -1, SIZE);

	madvise(p, SIZE, MADV_NOHUGEPAGE);      /* fails where there are none */
	fault_all(b, p, SIZE, getauxval(AT_PAGESZ));
}

static long
faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt;
}

/* The same of 2 MB.  It is tried whether one fault brings all of them. */
static void
huge_fault(struct bench *b)
{
	enum { HUGE = 2 << 20, SIZE = 8 << 20 };
	char *p = map(b, -1, SIZE + HUGE);
	size_t at;
	long n;

	p = (char *)(((uintptr_t)p + HUGE - 1) & -(uintptr_t)HUGE);
	if (madvise(p, SIZE, MADV_HUGEPAGE))
		skip(b, "huge pages: madvise:");
	for (n = faults(), at = 0; at < SIZE; at += HUGE / 4)
		*(volatile char *)(p + at) = 1;
	if (faults() - n > SIZE / HUGE)
		skip(b, "no huge pages");
	madvise(p, SIZE, MADV_DONTNEED);
	fault_all(b, p, SIZE, HUGE);
}

/* --- the table ----------------------------------------------------------- */

const struct test sys_tests[] = {
	/* key, table, title, unit, function, argument, better, rare */
	{ "stat", "calls", "Stat", "us", stat_lat, 0, LESS, 0 },
	{ "open_close", "calls", "Open close", "us", open_close, 0, LESS, 0 },
	{ "select_100", "calls", "Select 100", "us", select_lat, 0, LESS, 0 },
	{ "epoll_100", "calls", "Epoll 100", "us", epoll_lat, 0, LESS, 0 },
	{ "sig_install", "calls", "Signal install", "us", sig_install,
	  0, LESS, 0 },
	{ "sig_handle", "calls", "Signal handle", "us", sig_handle,
	  0, LESS, 0 },

#define FILES(key, table, title, arg) \
	{ key, table, title, "us", file_lat, arg, LESS, 0 },
	FILES("create_0k", "file", "Create 0K", CREATE)
	FILES("delete_0k", "file", "Delete 0K", DELETE)
	FILES("create_10k", "file", "Create 10K", CREATE | TEN_KB)
	FILES("delete_10k", "file", "Delete 10K", DELETE | TEN_KB)
	FILES("dir_create_0k", "dir", "Create 0K", CREATE | ON_DIR)
	FILES("dir_delete_0k", "dir", "Delete 0K", DELETE | ON_DIR)
	FILES("dir_create_10k", "dir", "Create 10K", CREATE | TEN_KB | ON_DIR)
	FILES("dir_delete_10k", "dir", "Delete 10K", DELETE | TEN_KB | ON_DIR)
	{ "fsync", "dir", "Fsync", "us", fsync_lat, ON_DIR, LESS, 0 },
	{ "fcntl_lock", "file", "Lock", "us", lock_lat, 0, LESS, 0 },

	{ "prot_fault", "vm", "Protection fault", "us", prot_fault,
	  0, LESS, 0 },
	{ "page_fault_file", "vm", "File fault", "us", file_fault,
	  1, LESS, 0 },
	{ "page_fault_anon", "vm", "Anon fault", "us", anon_fault,
	  0, LESS, 0 },
	{ "page_fault_huge", "vm", "Huge fault", "us", huge_fault,
	  0, LESS, 0 },
	{ 0 }
};
