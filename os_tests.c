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
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

/* --- reading and writing --------------------------------------------------- */

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

/* A write of one byte to /dev/null, straight to the kernel. */
static void
null_syscall(struct bench *b)
{
	int fd = open("/dev/null", O_WRONLY);
	long n;

	if (fd < 0)
		fail(b, "/dev/null:");
	while (sample(b))
		for (n = b->n; n--; )
			if (syscall(SYS_write, fd, "", 1) != 1)
				fail(b, "write /dev/null:");
	close(fd);
}

/* fork, the child execs (or, without a path, ends at once), waitpid. */
static void
processes(struct bench *b, const char *path, const char *const *argv)
{
	static char *const nothing[] = { NULL };
	pid_t pid;
	long n;
	int status;

	while (sample(b))
		for (n = b->n; n--; ) {
			if ((pid = fork()) < 0)
				fail(b, "fork:");
			if (!pid && !path)
				_exit(0);
			if (!pid) {
				execve(path, (char *const *)argv, nothing);
				fail(b, "%s: exec:", path);
			}
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
	processes(b, NULL, NULL);
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

/* As null_process; the child becomes this program, which prints a line. */
static void
simple_process(struct bench *b)
{
	char room[32];
	const char *path = self(b, room, sizeof room);
	const char *const argv[] = { "bench", "--hello", NULL };

	mute(b);
	processes(b, path, argv);
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
	processes(b, "/bin/sh", argv);
}

/*
 * A token goes round a ring of processes on one CPU; what a write and a
 * read of the same pipes cost without a switch is taken off.  An operation
 * is a round: as many hand-overs as there are processes.
 */
static void
context_switch(struct bench *b)
{
	enum { MOST_PROCS = 8 };
	int fd[MOST_PROCS][2], i, size = (int)b->arg;
	char token = 0;
	long n;

	for (i = 0; i < size; i++)
		make_pipe(b, fd[i]);
	while (preliminary(b, &b->less))
		for (n = b->n; n--; )
			for (i = 0; i < size; i++)
				if (put(fd[i][1], &token, 1) != 1 ||
				    get(fd[i][0], &token, 1) != 1)
					fail(b, "pipe of one's own:");
	b->work = size;
	for (i = 1; i < size; i++) {
		if (peer(b))
			continue;
		while (get(fd[i - 1][0], &token, 1) == 1 &&
		    put(fd[i][1], &token, 1) == 1)
			;
		fail(b, "pipe in the ring:");
	}
	while (sample(b))
		for (n = b->n; n--; )
			if (put(fd[0][1], &token, 1) != 1 ||
			    get(fd[size - 1][0], &token, 1) != 1)
				fail(b, "pipe of the ring:");
}

/* --- a file in the page cache -------------------------------------------- */

/* A file without a name on a disk. */
static int
disk_file(void)
{
	static const char *const names[] = {
		"/dev/shm/bench.XXXXXX", "/tmp/bench.XXXXXX", "./bench.XXXXXX",
	};
	char name[32];
	size_t i;
	int fd;

	for (i = 0; i < LEN(names); i++) {
		strcpy(name, names[i]);
		if ((fd = mkostemp(name, O_CLOEXEC)) >= 0) {
			unlink(name);
			return fd;
		}
	}
	return -1;
}

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
	int fd = memfd_create("bench", MFD_CLOEXEC);

	if (fd < 0)
		fd = disk_file();
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

enum kind { PIPE, UDP, TCP };

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
		fd[1] = i;
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

	if (kind == PIPE)
		link_pipes(b, end);
	else
		link_sockets(b, kind, end);
	if (!peer(b)) {
		hang_up(end[0]);
		serve(b, end[1]);
		_exit(0);
	}
	hang_up(end[1]);
	return end[0];
}

/* --- latencies: there and back ------------------------------------------- */

/* Bytes sent each way. */
static size_t
length(enum kind kind)
{
	return kind == UDP ? 4 : 1;
}

static void
echo(struct bench *b, struct link l)
{
	size_t len = length(l.kind);
	char m[4];
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
	struct link l = call_up(b, (enum kind)b->arg, echo);
	size_t len = length(l.kind);
	char m[4] = { 0 };
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
	struct link l = call_up(b, (enum kind)b->arg, rpc_answer);
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
	struct link l = call_up(b, (enum kind)b->arg, swallow);
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

/* --- the table ----------------------------------------------------------- */

const struct test os_tests[] = {
	/* key, table, title, unit, better, function, argument, rare */
	{ "mhz", "proc", "Mhz", "MHz", MORE, mhz, 0, 0 },
	{ "null_syscall", "proc", "Null Syscall", "us", LESS,
	  null_syscall, 0, 0 },
	{ "null_process", "proc", "Null Process", "us", LESS,
	  null_process, 0, 0 },
	{ "simple_process", "proc", "Simple Process", "us", LESS,
	  simple_process, 0, 0 },
	{ "sh_process", "proc", "/bin/sh Process", "us", LESS,
	  sh_process, 0, 0 },
	{ "mmap_lat", "proc", "Mmap lat", "us", LESS, mmap_lat, 0, 0 },
	{ "ctx_2p_0k", "proc", "2-proc ctxsw", "us", LESS,
	  context_switch, 2, 0 },
	{ "ctx_8p_0k", "proc", "8-proc ctxsw", "us", LESS,
	  context_switch, 8, 0 },

	{ "pipe_lat", "comm", "Pipe", "us", LESS, latency, PIPE, 0 },
	{ "udp_lat", "comm", "UDP", "us", LESS, latency, UDP, 0 },
	{ "rpc_udp_lat", "comm", "RPC/UDP", "us", LESS, rpc_latency, UDP, 0 },
	{ "tcp_lat", "comm", "TCP", "us", LESS, latency, TCP, 0 },
	{ "rpc_tcp_lat", "comm", "RPC/TCP", "us", LESS, rpc_latency, TCP, 0 },

	{ "pipe_bw", "bw", "Pipe", "MB/s", MORE, stream, PIPE, 0 },
	{ "tcp_bw", "bw", "TCP", "MB/s", MORE, stream, TCP, 0 },
	{ "file_reread_bw", "bw", "File reread", "MB/s", MORE,
	  file_reread, 0, 0 },
	{ "mmap_reread_bw", "bw", "Mmap reread", "MB/s", MORE,
	  mmap_reread, 0, 0 },

	{ "mem_mhz", "mem", "Mhz", "MHz", MORE, mhz, 0, 0 },
	{ 0 }
};
