/*
 * os_tests.c - figures of the operating system: processor and processes,
 * communication within the machine, its bandwidths, memory latencies.
 *
 * What every figure is stands above its function; the table at the foot
 * names them all.  A function gets its processor from the harness: it is
 * pinned, and so are the processes that it starts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

/* --- reading and writing -------------------------------------------------- */

/* Reads n bytes.  Returns 1, 0 at the end of the stream, -1 with errno. */
static int
get(int fd, void *to, size_t n)
{
	size_t done;
	ssize_t r;

	for (done = 0; done < n; done += (size_t)r) {
		r = read(fd, (char *)to + done, n - done);
		if (r < 0)
			return -1;
		if (r == 0) {
			errno = EPIPE;
			return done ? -1 : 0;
		}
	}
	return 1;
}

/* Writes n bytes.  Returns 1, or -1 with errno. */
static int
put(int fd, const void *from, size_t n)
{
	size_t done;
	ssize_t r;

	for (done = 0; done < n; done += (size_t)r) {
		r = write(fd, (const char *)from + done, n - done);
		if (r < 0)
			return -1;
	}
	return 1;
}

static void
make_pipe(struct bench *b, int fd[2])
{
	if (pipe(fd))
		fail(b, "pipe:");
}

/* --- processor and processes --------------------------------------------- */

/*
 * The clock of the core.  Each addition waits for the one before, takes a
 * cycle, and its result is hidden from the compiler.  What is added comes
 * from a register: recent processors (Intel since Golden Cove) fold chains
 * of additions of constants before they are executed.
 */
static void
mhz(struct bench *b)
{
	unsigned long a = 0, one = 1;
	long n;

#define ADD a += one; __asm__ volatile("" : "+r"(a));
#define ADD8 ADD ADD ADD ADD ADD ADD ADD ADD
	__asm__ volatile("" : "+r"(one));
	b->work = 64;
	while (sample(b))
		for (n = b->n; n--; ) {
			ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8
		}
#undef ADD8
#undef ADD
}

/*
 * A system call, as the kernel returns it.  What a C library does around
 * one takes a twentieth of the shortest.
 */
static inline long
kernel(long nr, long a, long b, long c)
{
	long r;

#if defined __x86_64__
	__asm__ volatile("syscall" : "=a"(r)
		: "0"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#elif defined __aarch64__
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b, x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2)
		: "memory");
	r = x0;
#else
	r = syscall(nr, a, b, c);
#endif
	return r;
}

static int
open_device(struct bench *b, const char *name, int flags)
{
	int fd = open(name, flags | O_CLOEXEC);

	if (fd < 0)
		fail(b, "%s:", name);
	return fd;
}

/* A write of one byte to /dev/null, straight to the kernel. */
static void
null_syscall(struct bench *b)
{
	int fd = open_device(b, "/dev/null", O_WRONLY);
	long n;

	while (sample(b))
		for (n = b->n; n--; )
			if (kernel(SYS_write, fd, (long)"", 1) != 1)
				fail(b, "write /dev/null");
	close(fd);
}

/* getppid(): into the kernel and out again. */
static void
null_call(struct bench *b)
{
	long n;

	while (sample(b))
		for (n = b->n; n--; )
			if (kernel(SYS_getppid, 0, 0, 0) < 0)
				fail(b, "getppid");
}

/* The mean of a read of one byte from /dev/zero and a write to /dev/null. */
static void
null_io(struct bench *b)
{
	int in = open_device(b, "/dev/zero", O_RDONLY);
	int out = open_device(b, "/dev/null", O_WRONLY);
	char c;
	long n;

	b->work = 2;
	while (sample(b))
		for (n = b->n; n--; )
			if (kernel(SYS_read, in, (long)&c, 1) != 1 ||
			    kernel(SYS_write, out, (long)&c, 1) != 1)
				fail(b, "read /dev/zero, write /dev/null");
	close(in);
	close(out);
}

/* clock_gettime(CLOCK_MONOTONIC) as programs call it: mostly no system call. */
static void
clock_lat(struct bench *b)
{
	struct timespec t;
	long n;

	while (sample(b))
		for (n = b->n; n--; )
			if (clock_gettime(CLOCK_MONOTONIC, &t))
				fail(b, "clock_gettime:");
}

enum start { FORK, VFORK, SPAWN };

/*
 * Starts a child that execs or, without a path, ends at once.  Returns its
 * number, or -1 with errno.
 */
static pid_t
start(struct bench *b, enum start how, const char *path, char *const *argv)
{
	static char *const nothing[] = { NULL };
	pid_t pid;

	if (how == SPAWN) {
		errno = posix_spawn(&pid, path, NULL, NULL, argv, nothing);
		return errno ? -1 : pid;
	}
	pid = how == VFORK ? vfork() : fork();
	if (!pid && !path)
		_exit(0);
	if (!pid) {
		execve(path, argv, nothing);
		fail(b, "%s: exec:", path);
	}
	return pid;
}

/* A child is started and waited for. */
static void
processes(struct bench *b, enum start how, const char *path,
	const char *const *argv)
{
	pid_t pid;
	long n;
	int status;

	while (sample(b))
		for (n = b->n; n--; ) {
			pid = start(b, how, path, (char *const *)argv);
			if (pid < 0)
				fail(b, how == SPAWN ? "spawn:" : "fork:");
			if (waitpid(pid, &status, 0) != pid)
				fail(b, "waitpid:");
			if (status)
				fail(b, "child: wait status %#x (should be 0)",
					(unsigned)status);
		}
}

static void
null_process(struct bench *b)
{
	processes(b, FORK, NULL, NULL);
}

/*
 * A path to this very program: the one it was started by if that is still
 * it, else the kernel's own, by number, so that a shell finds us there and
 * not itself.  It is kept in room.
 */
static const char *
self(struct bench *b, char *room, size_t size)
{
	const char *path = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	struct stat us, it;
	int known;

	snprintf(room, size, "/proc/%ld/exe", (long)getpid());
	known = !stat(room, &us);
	if (path && !stat(path, &it) &&
	    (!known || (us.st_dev == it.st_dev && us.st_ino == it.st_ino)))
		return path;
	if (!known)
		skip(b, "no path to this program (mount /proc)");
	return room;
}

/* Standard output to /dev/null; where that is missing, into memory. */
static void
mute(struct bench *b)
{
	int fd = open("/dev/null", O_WRONLY);

	if (fd < 0)
		fd = memfd_create("null", 0);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		fail(b, "/dev/null:");
}

/*
 * As null_process, started as arg has it; the child becomes this program,
 * which prints a line.
 */
static void
simple_process(struct bench *b)
{
	char room[32];
	const char *path = self(b, room, sizeof room);
	const char *const argv[] = { "bench", "--hello", NULL };

	mute(b);
	processes(b, (enum start)b->arg, path, argv);
}

/* The same, started by a shell. */
static void
sh_process(struct bench *b)
{
	char room[32];
	const char *const argv[] = { "sh", "-c", "\"$0\" --hello",
		self(b, room, sizeof room), NULL };

	if (access("/bin/sh", X_OK))
		skip(b, "/bin/sh:");
	mute(b);
	processes(b, FORK, "/bin/sh", argv);
}

enum { WAIT = 0, WAKE = 1 };    /* FUTEX_..., of a header that is not libc's */

static void
futex_pass(_Atomic int *turn, int to)
{
	*turn = to;
	syscall(SYS_futex, turn, WAKE, 1, NULL, NULL, 0);
}

static void
futex_await(struct bench *b, _Atomic int *turn, int mine)
{
	while (*turn != mine)
		if (syscall(SYS_futex, turn, WAIT, !mine, NULL, NULL, 0)
		    && errno != EAGAIN && errno != EINTR)
			fail(b, "futex:");
}

static int
end_thread(void *p)
{
	(void)p;
	return 0;
}

/*
 * A thread that ends at once is made and waited for: the system calls that
 * a C library makes for one, a stack among them, without the library.
 */
static void
thread_lat(struct bench *b)
{
	enum { STACK = 128 << 10, FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES |
		CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		CLONE_CHILD_CLEARTID };
	int alive;
	char *stack;
	long n;

	while (sample(b))
		for (n = b->n; n--; ) {
			stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (stack == MAP_FAILED)
				fail(b, "memory:");
			alive = 1;
			if (clone(end_thread, stack + STACK, FLAGS, NULL, NULL,
			    NULL, &alive) < 0)
				fail(b, "clone:");
			futex_await(b, (_Atomic int *)&alive, 0);
			munmap(stack, STACK);
		}
}

/* --- hand-overs between processes ----------------------------------------- */

/* Rows of two processors; in the arg of their rows. */
enum { FAR = 0x100 };

static void
want_two(struct bench *b)
{
	if (b->arg & FAR && cpu_count(b) < 2)
		skip(b, "no second CPU is allowed");
}

/* The second of two processes of a row goes where it belongs. */
static void
move_away(struct bench *b)
{
	if (b->arg & FAR && pin(b, 1))
		fail(b, "sched_setaffinity:");
}

/* Processes of a ring, KB that each reads in its turn, in arg. */
#define RING(procs, kb) ((procs) | (kb) << 16)

/* What a process of the ring does with the token. */
static void
work_on(const long *data, size_t words)
{
	if (words)
		read_words(NULL, data, words);
}

/*
 * A token goes round a ring of processes, each of which reads memory of its
 * own when it has it; what a write and a read of the same pipes and of such
 * memory cost without a switch is taken off.  An operation is a round: as
 * many hand-overs as there are processes.  On one CPU, or on two in turn.
 */
static void
context_switch(struct bench *b)
{
	enum { MOST_PROCS = 16 };
	int fd[MOST_PROCS][2], i, size = (int)(b->arg & 0xff);
	size_t words = (size_t)(b->arg >> 16 << 10) / sizeof (long);
	long *data = words ? anonymous(b, words * sizeof (long)) : NULL;
	char token = 0;
	long n;

	want_two(b);
	for (i = 0; i < size; i++)
		make_pipe(b, fd[i]);
	while (preliminary(b, &b->less))
		for (n = b->n; n--; )
			for (i = 0; i < size; i++) {
				if (put(fd[i][1], &token, 1) != 1 ||
				    get(fd[i][0], &token, 1) != 1)
					fail(b, "pipe of one's own:");
				work_on(data, words);
			}
	b->work = size;
	for (i = 1; i < size; i++) {
		if (peer(b))
			continue;
		if (i & 1)
			move_away(b);
		data = words ? anonymous(b, words * sizeof (long)) : NULL;
		while (get(fd[i - 1][0], &token, 1) == 1) {
			work_on(data, words);
			if (put(fd[i][1], &token, 1) != 1)
				break;
		}
		fail(b, "pipe in the ring:");
	}
	while (sample(b))
		for (n = b->n; n--; ) {
			if (put(fd[0][1], &token, 1) != 1 ||
			    get(fd[size - 1][0], &token, 1) != 1)
				fail(b, "pipe of the ring:");
			work_on(data, words);
		}
}

/* A word that two processes share: whose turn it is. */
static _Atomic int *
shared_turn(struct bench *b)
{
	_Atomic int *turn = shared(sizeof *turn);

	if (!turn)
		fail(b, "memory:");
	want_two(b);
	return turn;
}

/* There and back: two processes wake each other by a futex. */
static void
futex_lat(struct bench *b)
{
	_Atomic int *turn = shared_turn(b);
	long n;

	if (!peer(b))
		for (move_away(b); ; futex_pass(turn, 0))
			futex_await(b, turn, 1);
	while (sample(b))
		for (n = b->n; n--; ) {
			futex_pass(turn, 1);
			futex_await(b, turn, 0);
		}
}

/* sched_yield() to a process that does the same: there and back. */
static void
yield_lat(struct bench *b)
{
	long n;

	if (!peer(b))
		for (;;)
			sched_yield();
	while (sample(b))
		for (n = b->n; n--; )
			if (sched_yield())
				fail(b, "sched_yield:");
}

/*
 * A line of the caches goes from a processor to another, which waits for it
 * in a loop, and back; an operation is both ways.
 */
static void
line_lat(struct bench *b)
{
	_Atomic int *turn = shared_turn(b);
	long n;

	b->work = 2;
	if (!peer(b))
		for (move_away(b); ; *turn = 0)
			while (*turn != 1)
				;
	while (sample(b))
		for (n = b->n; n--; ) {
			*turn = 1;
			while (*turn != 0)
				;
		}
}

/* --- a file in the page cache -------------------------------------------- */

/*
 * FILESIZE bytes in the page cache.  In memory, where the kernel can: the
 * page cache and the way to it are those of any file, and no disk, nor what
 * writes back to one, gets into the figures.
 */
static int
cached_file(struct bench *b)
{
	char *piece = anonymous(b, PIECE);
	long at;
	int fd = scratch();

	if (memory_limit() < FILESIZE / 4)
		skip(b, "less than %ld KB free", FILESIZE >> 10);
	if (fd < 0)
		fail(b, "temporary file:");
	for (at = 0; at < FILESIZE; at += PIECE)
		if (put(fd, piece, PIECE) != 1)
			fail(b, "temporary file: write:");
	munmap(piece, PIECE);
	return fd;
}

static void *
map_file(struct bench *b, int fd, int prot)
{
	void *p = mmap(NULL, FILESIZE, prot, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		fail(b, "mmap:");
	return p;
}

/* Maps a file, writes a byte in each 16 KB of its first tenth, unmaps it. */
static void
mmap_lat(struct bench *b)
{
	int fd = cached_file(b);
	volatile char *p;
	long n, at;

	while (sample(b))
		for (n = b->n; n--; ) {
			p = map_file(b, fd, PROT_READ | PROT_WRITE);
			for (at = 0; at < FILESIZE / 10; at += 16 << 10)
				p[at] = 1;
			if (munmap((void *)p, FILESIZE))
				fail(b, "munmap:");
		}
	close(fd);
}

/* --- two processes and a link between them ------------------------------- */

enum kind { PIPE, UDP, TCP, UNIX, EVENT };

/* An end of a link: where it reads, where it writes. */
struct link {
	enum kind kind;
	int in, out;
};

static void
link_pipes(struct bench *b, struct link end[2])
{
	int there[2], back[2];

	make_pipe(b, there);
	make_pipe(b, back);
	end[0] = (struct link){ PIPE, back[0], there[1] };
	end[1] = (struct link){ PIPE, there[0], back[1] };
}

static void
link_local(struct bench *b, enum kind kind, struct link end[2])
{
	int i, fd[2];

	if (kind == UNIX && socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		fail(b, "socketpair:");
	for (i = 0; kind == EVENT && i < 2; i++)
		if ((fd[i] = eventfd(0, 0)) < 0)
			fail(b, "eventfd:");
	end[0] = (struct link){ kind, fd[0], fd[kind == EVENT] };
	end[1] = (struct link){ kind, fd[1], fd[kind != EVENT] };
}

static void
set_option(struct bench *b, int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof value))
		fail(b, "setsockopt:");
}

/*
 * TCP without delay, and with buffers of a piece and a half, which gives the
 * same figure each time: as the kernel lets them grow, a writer runs some
 * megabytes ahead of its reader, in and out of caches, as it happens.
 */
static void
tune_tcp(struct bench *b, int fd)
{
	set_option(b, fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(b, fd, SOL_SOCKET, SO_SNDBUF, PIECE * 3 / 2);
	set_option(b, fd, SOL_SOCKET, SO_RCVBUF, PIECE * 3 / 2);
}

/* So that the connection does not linger, in TIME_WAIT, when all is over. */
static void
reset_on_close(struct bench *b, int fd)
{
	static const struct linger now = { 1, 0 };

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now))
		fail(b, "setsockopt:");
}

/* A socket on a port of 127.0.0.1 that the kernel chooses. */
static int
local_socket(struct bench *b, enum kind kind, struct sockaddr_in *name)
{
	socklen_t len = sizeof *name;
	int fd = socket(AF_INET, kind == TCP ? SOCK_STREAM : SOCK_DGRAM, 0);

	*name = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0)
		fail(b, "socket:");
	if (bind(fd, (struct sockaddr *)name, len) ||
	    getsockname(fd, (struct sockaddr *)name, &len))
		fail(b, "127.0.0.1:");
	if (kind == TCP)
		tune_tcp(b, fd);        /* what is accepted inherits it */
	return fd;
}

static void
connect_to(struct bench *b, int fd, const struct sockaddr_in *name)
{
	if (connect(fd, (const struct sockaddr *)name, sizeof *name))
		fail(b, "127.0.0.1: connect:");
}

/*
 * A datagram that is lost is left to the time-out of the harness: one of
 * the socket (SO_RCVTIMEO) makes a timer of each read, 2% of a round trip.
 */
static void
link_sockets(struct bench *b, enum kind kind, struct link end[2])
{
	int i, fd[2];
	struct sockaddr_in name[2];

	for (i = 0; i < 2; i++)
		fd[i] = local_socket(b, kind, &name[i]);
	if (kind == TCP && listen(fd[1], 1))
		fail(b, "listen:");
	connect_to(b, fd[0], &name[1]);
	if (kind == TCP) {
		if ((i = accept(fd[1], NULL, NULL)) < 0)
			fail(b, "accept:");
		close(fd[1]);
		reset_on_close(b, fd[1] = i);
	} else {
		connect_to(b, fd[1], &name[0]);
	}
	for (i = 0; i < 2; i++)
		end[i] = (struct link){ kind, fd[i], fd[i] };
}

static void
hang_up(struct link l)
{
	close(l.in);
	if (l.out != l.in)
		close(l.out);
}

/*
 * Starts a peer that serves the far end of a new link until it closes, and
 * returns the near one.
 */
static struct link
call_up(struct bench *b, enum kind kind,
	void (*serve)(struct bench *, struct link))
{
	struct link end[2];

	want_two(b);
	if (kind == PIPE)
		link_pipes(b, end);
	else if (kind >= UNIX)
		link_local(b, kind, end);
	else
		link_sockets(b, kind, end);
	if (!peer(b)) {
		if (kind != EVENT)
			hang_up(end[0]);
		move_away(b);
		serve(b, end[1]);
		_exit(0);
	}
	if (kind != EVENT)
		hang_up(end[1]);
	return end[0];
}

/* --- latencies: there and back ------------------------------------------- */

enum { MOST_BYTES = 8 };        /* sent each way */

static size_t
length(enum kind kind)
{
	return kind == EVENT ? MOST_BYTES : kind == UDP ? 4 : 1;
}

static void
echo(struct bench *b, struct link l)
{
	size_t len = length(l.kind);
	char m[MOST_BYTES];
	int r;

	while ((r = get(l.in, m, len)) == 1)
		if (put(l.out, m, len) != 1)
			fail(b, "peer: write:");
	if (r)
		fail(b, "peer: read:");
}

static void
latency(struct bench *b)
{
	struct link l = call_up(b, (enum kind)(b->arg & 0xff), echo);
	size_t len = length(l.kind);
	char m[MOST_BYTES] = { 1 };
	long n;

	while (sample(b))
		for (n = b->n; n--; ) {
			if (put(l.out, m, len) != 1)
				fail(b, "write:");
			if (get(l.in, m, len) != 1)
				fail(b, "read:");
		}
	hang_up(l);
}

/* Accepts connections and resets them. */
static void
accept_all(struct bench *b, int fd)
{
	int one;

	for (;;) {
		if ((one = accept(fd, NULL, NULL)) < 0)
			fail(b, "peer: accept:");
		reset_on_close(b, one);
		close(one);
	}
}

/* A socket, a connection to a server that accepts and ends it, the end. */
static void
tcp_connect(struct bench *b)
{
	struct sockaddr_in name;
	int fd, server = local_socket(b, TCP, &name);
	char c;
	long n;

	if (listen(server, 1))
		fail(b, "listen:");
	if (!peer(b))
		accept_all(b, server);
	while (sample(b))
		for (n = b->n; n--; close(fd)) {
			if ((fd = socket(AF_INET, SOCK_STREAM, 0)) < 0)
				fail(b, "socket:");
			connect_to(b, fd, &name);
			if (read(fd, &c, 1) > 0 || errno != ECONNRESET)
				fail(b, "read:");
		}
}

/*
 * ONC RPC version 2 (RFC 5531).  A message is made of words of 32 bits, the
 * first byte the highest (XDR, RFC 4506).  Before it stands the record mark
 * (RFC 5531, section 11), which goes over TCP and not over UDP.
 *
 * The program is ours (numbers 0x20000000 and up are the users' own), its
 * one procedure gives back its one argument.
 */
enum {
	RPCVERS = 2, PROGRAM = 0x20000b45, VERSION1 = 1, RETURN_IT = 1,
	CALL = 0, REPLY = 1, MSG_ACCEPTED = 0, SUCCESS = 0, AUTH_NONE = 0,
	MARK_WORDS = 1, CALL_WORDS = 11, REPLY_WORDS = 7,
	XID = 1, CALL_ARG = 11, REPLY_ARG = 7, MOST_WORDS = 12
};
#define LAST_FRAGMENT 0x80000000U

/* Returns the words of a call, its mark among them. */
static int
rpc_call(uint32_t word[MOST_WORDS], uint32_t xid, uint32_t arg)
{
	const uint32_t call[] = {
		LAST_FRAGMENT | CALL_WORDS * 4,
		xid, CALL, RPCVERS, PROGRAM, VERSION1, RETURN_IT,
		AUTH_NONE, 0,           /* credentials: flavor, length */
		AUTH_NONE, 0,           /* verifier */
		arg
	};

	memcpy(word, call, sizeof call);
	return LEN(call);
}

static int
rpc_reply(uint32_t word[MOST_WORDS], uint32_t xid, uint32_t result)
{
	const uint32_t reply[] = {
		LAST_FRAGMENT | REPLY_WORDS * 4,
		xid, REPLY, MSG_ACCEPTED,
		AUTH_NONE, 0,           /* verifier */
		SUCCESS, result
	};

	memcpy(word, reply, sizeof reply);
	return LEN(reply);
}

static void
xdr_encode(unsigned char *to, const uint32_t *word, int n)
{
	for (; n--; word++) {
		*to++ = (unsigned char)(*word >> 24);
		*to++ = (unsigned char)(*word >> 16);
		*to++ = (unsigned char)(*word >> 8);
		*to++ = (unsigned char)*word;
	}
}

static void
xdr_decode(uint32_t *word, const unsigned char *from, int n)
{
	for (; n--; from += 4)
		*word++ = (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 |
			(uint32_t)from[2] << 8 | from[3];
}

/* Encodes and sends n words of which the first is the mark. */
static int
rpc_send(struct link l, const uint32_t *word, int n)
{
	int skipped = l.kind == TCP ? 0 : MARK_WORDS;
	unsigned char m[MOST_WORDS * 4];

	xdr_encode(m, word + skipped, n - skipped);
	return put(l.out, m, (size_t)(n - skipped) * 4);
}

/*
 * Receives and decodes n words; over UDP the mark, which does not come, is
 * made.  Returns as get().
 */
static int
rpc_receive(struct link l, uint32_t *word, int n)
{
	int r, skipped = l.kind == TCP ? 0 : MARK_WORDS;
	unsigned char m[MOST_WORDS * 4];

	r = get(l.in, m, (size_t)(n - skipped) * 4);
	*word = LAST_FRAGMENT | (uint32_t)(n - MARK_WORDS) * 4;
	xdr_decode(word + skipped, m, n - skipped);
	return r;
}

/* Are all fields of a message that came what they should be? */
static void
rpc_check(struct bench *b, const uint32_t *came, const uint32_t *due, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (came[i] != due[i])
			fail(b, "RPC: word %d is %#lx (should be %#lx)", i,
				(unsigned long)came[i], (unsigned long)due[i]);
}

/* The server: any xid and argument will do. */
static void
rpc_answer(struct bench *b, struct link l)
{
	uint32_t came[MOST_WORDS], due[MOST_WORDS];
	int r, n;

	while ((r = rpc_receive(l, came, MARK_WORDS + CALL_WORDS)) == 1) {
		n = rpc_call(due, came[XID], came[CALL_ARG]);
		rpc_check(b, came, due, n);
		n = rpc_reply(due, came[XID], came[CALL_ARG]);
		if (rpc_send(l, due, n) != 1)
			fail(b, "peer: write:");
	}
	if (r)
		fail(b, "peer: read:");
}

static void
rpc_latency(struct bench *b)
{
	struct link l = call_up(b, (enum kind)(b->arg & 0xff), rpc_answer);
	uint32_t came[MOST_WORDS], due[MOST_WORDS], xid = (uint32_t)getpid();
	int len;
	long n;

	while (sample(b))
		for (n = b->n; n--; xid++) {
			len = rpc_call(due, xid, (uint32_t)n);
			if (rpc_send(l, due, len) != 1)
				fail(b, "write:");
			len = rpc_reply(due, xid, (uint32_t)n);
			if (rpc_receive(l, came, len) != 1)
				fail(b, "read:");
			rpc_check(b, came, due, len);
		}
	hang_up(l);
}

/* --- bandwidths: communication ------------------------------------------- */

/*
 * Takes batches: the number of pieces to come, the pieces, and back goes a
 * byte when the last one is read.
 */
static void
swallow(struct bench *b, struct link l)
{
	char *piece = anonymous(b, PIECE);
	long left;
	ssize_t r;

	while (get(l.in, &left, sizeof left) == 1) {
		for (left *= PIECE; left > 0; left -= r) {
			r = read(l.in, piece, PIECE);
			if (r <= 0)
				fail(b, r ? "peer: read:" : "peer: cut off");
		}
		if (put(l.out, piece, 1) != 1)
			fail(b, "peer: write:");
	}
}

/* Sends a piece n times and waits until all was read. */
static void
pour(struct bench *b, struct link l, const char *piece, long n)
{
	char done;

	if (put(l.out, &n, sizeof n) != 1)
		fail(b, "write:");
	while (n--)
		if (put(l.out, piece, PIECE) != 1)
			fail(b, "write:");
	if (get(l.in, &done, 1) != 1)
		fail(b, "read:");
}

/*
 * A process writes PIECE at a time and another reads them.  What a batch
 * of nothing costs is taken off each batch.
 */
static void
stream(struct bench *b)
{
	struct link l = call_up(b, (enum kind)(b->arg & 0xff), swallow);
	const char *piece = anonymous(b, PIECE);
	double lead;
	long n;

	while (preliminary(b, &lead))
		for (n = b->n; n--; )
			pour(b, l, piece, 0);
	b->lead = lead;
	b->work = PIECE;
	while (sample(b))
		pour(b, l, piece, b->n);
	hang_up(l);
}

/* --- bandwidths: a file in the page cache -------------------------------- */

/* Reads a cached file PIECE by PIECE and sums up every word. */
static void
file_reread(struct bench *b)
{
	long *piece = anonymous(b, PIECE);
	int fd = cached_file(b);
	off_t at = 0;
	ssize_t r;
	long n;

	b->work = PIECE;
	while (sample(b))
		for (n = b->n; n--; at = (at + PIECE) % FILESIZE) {
			r = pread(fd, piece, PIECE, at);
			if (r != PIECE)
				fail(b, r < 0 ? "read:" : "file cut short");
			read_words(NULL, piece, PIECE / sizeof (long));
		}
	close(fd);
}

/* The same file mapped, every word summed, and unmapped. */
static void
mmap_reread(struct bench *b)
{
	int fd = cached_file(b);
	long *p, n;

	b->work = FILESIZE;
	while (sample(b))
		for (n = b->n; n--; ) {
			p = map_file(b, fd, PROT_READ);
			read_words(NULL, p, FILESIZE / sizeof (long));
			if (munmap(p, FILESIZE))
				fail(b, "munmap:");
		}
	close(fd);
}

/* The same file spliced into a pipe, and from there to /dev/null. */
static void
splice_bw(struct bench *b)
{
	int fd[2], file = cached_file(b);
	int null = open_device(b, "/dev/null", O_WRONLY);
	off_t at = 0;
	ssize_t in, out;
	long n;

	make_pipe(b, fd);
	b->work = PIECE;
	while (sample(b))
		for (n = b->n * PIECE; n > 0; at %= FILESIZE) {
			in = splice(file, &at, fd[1], NULL, PIECE, 0);
			if (in <= 0)
				fail(b, "splice:");
			for (n -= in; in; in -= out)
				if ((out = splice(fd[0], NULL, null, NULL,
				    (size_t)in, 0)) <= 0)
					fail(b, "splice:");
		}
}

/* --- the table ----------------------------------------------------------- */

const struct test os_tests[] = {
	/* key, table, title, unit, function, argument, better, rare */
	{ "mhz", "proc", "Mhz", "MHz", mhz, 0, MORE, 0 },
	{ "null_syscall", "proc", "Null Syscall", "us", null_syscall,
	  0, LESS, 0 },
	{ "null_process", "proc", "Null Process", "us", null_process,
	  0, LESS, 0 },
	{ "simple_process", "proc", "Simple Process", "us", simple_process,
	  FORK, LESS, 0 },
	{ "sh_process", "proc", "/bin/sh Process", "us", sh_process,
	  0, LESS, 0 },
	{ "mmap_lat", "proc", "Mmap lat", "us", mmap_lat, 0, LESS, 0 },
	{ "ctx_2p_0k", "proc", "2-proc ctxsw", "us",
	  context_switch, RING(2, 0), LESS, 0 },
	{ "ctx_8p_0k", "proc", "8-proc ctxsw", "us",
	  context_switch, RING(8, 0), LESS, 0 },

	{ "pipe_lat", "comm", "Pipe", "us", latency, PIPE, LESS, 0 },
	{ "udp_lat", "comm", "UDP", "us", latency, UDP, LESS, 0 },
	{ "rpc_udp_lat", "comm", "RPC/UDP", "us", rpc_latency, UDP, LESS, 0 },
	{ "tcp_lat", "comm", "TCP", "us", latency, TCP, LESS, 0 },
	{ "rpc_tcp_lat", "comm", "RPC/TCP", "us", rpc_latency, TCP, LESS, 0 },

	{ "pipe_bw", "bw", "Pipe", "MB/s", stream, PIPE, MORE, 0 },
	{ "tcp_bw", "bw", "TCP", "MB/s", stream, TCP, MORE, 0 },
	{ "file_reread_bw", "bw", "File reread", "MB/s", file_reread,
	  0, MORE, 0 },
	{ "mmap_reread_bw", "bw", "Mmap reread", "MB/s", mmap_reread,
	  0, MORE, 0 },
	{ "unix_bw", "bw2", "Unix", "MB/s", stream, UNIX, MORE, 0 },
	{ "splice_bw", "bw2", "Splice", "MB/s", splice_bw, 0, MORE, 0 },

	{ "mem_mhz", "mem", "Mhz", "MHz", mhz, 0, MORE, 0 },

	{ "null_call", "calls", "Null call", "us", null_call, 0, LESS, 0 },
	{ "null_io", "calls", "Null I/O", "us", null_io, 0, LESS, 0 },
	{ "clock_gettime", "calls", "Clock gettime", "us", clock_lat,
	  0, LESS, 0 },

	{ "fork", "spawn", "Fork", "us", null_process, 0, LESS, 0 },
	{ "vfork_exec", "spawn", "Vfork exec", "us", simple_process,
	  VFORK, LESS, 0 },
	{ "spawn", "spawn", "Spawn", "us", simple_process, SPAWN, LESS, 0 },
	{ "exec", "spawn", "Fork exec", "us", simple_process, FORK, LESS, 0 },
	{ "sh", "spawn", "Fork sh", "us", sh_process, 0, LESS, 0 },
	{ "thread", "spawn", "Thread", "us", thread_lat, 0, LESS, 0 },

#define CTX(procs, kb) \
	{ "ctx_" #procs "p_" #kb "k", "ctx", #procs "p " #kb "K", "us", \
	  context_switch, RING(procs, kb), LESS, 0 },
#define XCTX(procs, kb) \
	{ "ctx_" #procs "p_" #kb "k_x", "xctx", #procs "p " #kb "K", "us", \
	  context_switch, RING(procs, kb) | FAR, LESS, 0 },
	CTX(2, 16) CTX(2, 64) CTX(8, 16) CTX(8, 64)
	CTX(16, 0) CTX(16, 16) CTX(16, 64)
	XCTX(2, 0) XCTX(2, 16) XCTX(2, 64) XCTX(8, 0) XCTX(8, 16) XCTX(8, 64)
	XCTX(16, 0) XCTX(16, 16) XCTX(16, 64)

	{ "futex_lat", "wake", "Futex", "us", futex_lat, 0, LESS, 0 },
	{ "eventfd_lat", "wake", "Eventfd", "us", latency, EVENT, LESS, 0 },
	{ "unix_lat", "wake", "Unix", "us", latency, UNIX, LESS, 0 },
	{ "tcp_conn", "wake", "TCP conn", "us", tcp_connect, 0, LESS, 0 },
	{ "yield_lat", "wake", "Yield", "us", yield_lat, 0, LESS, 0 },
	{ "futex_lat_x", "wake", "x Futex", "us", futex_lat, FAR, LESS, 0 },
	{ "pipe_lat_x", "wake", "x Pipe", "us", latency, PIPE | FAR, LESS, 0 },
	{ "unix_lat_x", "wake", "x Unix", "us", latency, UNIX | FAR, LESS, 0 },
	{ "tcp_lat_x", "wake", "x TCP", "us", latency, TCP | FAR, LESS, 0 },
	{ "line_lat_x", "wake", "x Line", "us", line_lat, FAR, LESS, 0 },
	{ 0 }
};
