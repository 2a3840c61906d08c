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

/* --- memory, reading and writing ----------------------------------------- */

/* Memory of the process, every page of it written. */
static void *
memory(struct bench *b, size_t size)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at;

	if (p == MAP_FAILED)
		fail(b, "memory:");
	for (at = 0; at < size; at += (size_t)page)
		p[at] = 1;
	return p;
}

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
	enum { MOST = 8 };
	int fd[MOST][2], i, size = (int)b->arg;
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
	char *piece = memory(b, PIECE);
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
	char *piece = memory(b, PIECE);
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
	const char *piece = memory(b, PIECE);
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

/* --- bandwidths: memory -------------------------------------------------- */

enum { GRAIN = 256 << 10 };     /* bytes; buffers are multiples of it */

/*
 * Plain loads and stores of words, the same code from every compiler:
 * volatile keeps them from making vectors, or calls of memcpy, of it.  n is
 * a multiple of 16.
 */
static void
read_words(volatile long *to, const volatile long *from, size_t n)
{
	const volatile long *end = from + n;
	unsigned long a = 0, b = 0, c = 0, d = 0;

	(void)to;
	for (; from < end; from += 16) {
		a += (unsigned long)from[0], b += (unsigned long)from[1];
		c += (unsigned long)from[2], d += (unsigned long)from[3];
		a += (unsigned long)from[4], b += (unsigned long)from[5];
		c += (unsigned long)from[6], d += (unsigned long)from[7];
		a += (unsigned long)from[8], b += (unsigned long)from[9];
		c += (unsigned long)from[10], d += (unsigned long)from[11];
		a += (unsigned long)from[12], b += (unsigned long)from[13];
		c += (unsigned long)from[14], d += (unsigned long)from[15];
	}
	a += b + c + d;
	USE(a);
}

static void
write_words(volatile long *to, const volatile long *from, size_t n)
{
	volatile long *end = to + n;
	long v = (long)n;

	(void)from;
	for (; to < end; to += 16) {
		to[0] = v, to[1] = v, to[2] = v, to[3] = v;
		to[4] = v, to[5] = v, to[6] = v, to[7] = v;
		to[8] = v, to[9] = v, to[10] = v, to[11] = v;
		to[12] = v, to[13] = v, to[14] = v, to[15] = v;
	}
}

static void
copy_words(volatile long *to, const volatile long *from, size_t n)
{
	volatile long *end = to + n;

	for (; to < end; to += 8, from += 8) {
		to[0] = from[0], to[1] = from[1];
		to[2] = from[2], to[3] = from[3];
		to[4] = from[4], to[5] = from[5];
		to[6] = from[6], to[7] = from[7];
	}
}

/* The C library's memcpy and not one of the compiler's. */
static void
copy_libc(volatile long *to, const volatile long *from, size_t n)
{
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;

	copy((void *)to, (const void *)from, n * sizeof *to);
}

/*
 * Bytes of a buffer that no cache holds: four times the largest, where the
 * machine has as much to give and MAXBUFFER allows.
 */
static size_t
buffer_size(size_t *want)
{
	size_t cache = cache_size(), size = memory_limit();

	*want = cache ? 4 * cache : 32 << 20;
	if (size > MAXBUFFER)
		size = MAXBUFFER;
	if (size > *want)
		size = *want;
	return size - size % GRAIN;
}

/* That buffer.  Says how large it is, and where it should be larger. */
static char *
buffer(struct bench *b, size_t *size)
{
	size_t want;

	*size = buffer_size(&want);
	if (*size < want / GRAIN * GRAIN)
		note(b, "buffer of %zu KB (should be %zu KB, 4 x the cache)",
			*size >> 10, want >> 10);
	fact(b, "buffer", "%zu KB", *size >> 10);
	return memory(b, *size);
}

/*
 * Reads, writes or copies memory, a grain at a time, round and round.  For
 * a copy the buffer is halved: its two parts together are what no cache
 * holds; bytes copied count once.
 */
static void
memory_bandwidth(struct bench *b)
{
	static const struct {
		void (*pass)(volatile long *, const volatile long *, size_t);
		int parts;
	} how[] = {
		{ read_words, 1 }, { write_words, 1 },
		{ copy_words, 2 }, { copy_libc, 2 },
	};
	size_t at = 0, size, span;
	char *to = buffer(b, &size), *from;
	long n;

	span = size / (size_t)how[b->arg].parts / GRAIN * GRAIN;
	from = to + size - span;
	b->work = GRAIN;
	while (sample(b))
		for (n = b->n; n--; at = (at + GRAIN) % span)
			how[b->arg].pass((long *)(to + at),
				(long *)(from + at), GRAIN / sizeof (long));
}

/* Reads a cached file PIECE by PIECE and sums up every word. */
static void
file_reread(struct bench *b)
{
	long *piece = memory(b, PIECE);
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

/* --- memory latencies ---------------------------------------------------- */

/*
 * A chase: every load gives the address of the next.  It goes through the
 * lines of a block in random order, and through the blocks in random order.
 * A block is 16 pages of 4 KB: of one page that is touched here and there
 * processors fetch the rest before it is asked for (an L2 of 14 cycles then
 * seems to have 8), while 16 fit into any TLB, so that a page costs one miss
 * for all of its lines.  Lines are taken 128 bytes apart, two of 64, since
 * many fetch a neighbour too.
 */
enum { LINE = 128, BLOCK = 64 << 10 };

/* xorshift (Marsaglia 2003), the same order in every run. */
static uint32_t
draw(uint32_t *seed, size_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return (uint32_t)((uint64_t)*seed * below >> 32);
}

static void
shuffle(uint32_t *v, size_t n, uint32_t *seed)
{
	uint32_t t;
	size_t k;

	for (; n > 1; n--) {
		k = draw(seed, n);
		t = v[n - 1];
		v[n - 1] = v[k];
		v[k] = t;
	}
}

static uint32_t *
count_up(struct bench *b, size_t n)
{
	uint32_t *v = malloc(n * sizeof *v);
	size_t i;

	if (!v)
		fail(b, "memory:");
	for (i = 0; i < n; i++)
		v[i] = (uint32_t)i;
	return v;
}

/*
 * Makes a ring of pointers through size bytes: so many lines of each block.
 * It is laid in the order of the chase, so that what caches keep of laying
 * it is what they would keep of a first turn.
 */
static void **
lay(struct bench *b, char *p, size_t size, size_t block, size_t lines)
{
	size_t i, k, blocks = size / block, all = block / LINE;
	uint32_t *order = count_up(b, blocks), *line = count_up(b, all);
	uint32_t seed = 2463534242U;
	void *first = NULL, **last = &first;

	shuffle(order, blocks, &seed);
	for (i = 0; i < blocks; i++) {
		shuffle(line, all, &seed);
		for (k = 0; k < lines; k++) {
			*last = p + order[i] * block + line[k] * LINE;
			last = *last;
		}
	}
	*last = first;
	free(order);
	free(line);
	return first;
}

/* A ring through all lines of size bytes; small ones are of one block. */
static void **
lay_all(struct bench *b, char *p, size_t size)
{
	size_t block = size <= 4 * BLOCK ? size : BLOCK;

	return lay(b, p, size, block, block / LINE);
}

enum { HOPS = 16 };

/* Follows the pointers n * HOPS times. */
static void **
chase(void **p, long n)
{
	while (n--) {
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
		p = *p, p = *p, p = *p, p = *p;
	}
	return p;
}

/* ns a load of a ring. */
static void
chase_ring(struct bench *b, void **p)
{
	b->work = HOPS;
	while (sample(b)) {
		p = chase(p, b->n);
		USE(p);
	}
}

enum { SIZES = 96, LEVELS = 4 };

/*
 * What all rows of a run know of the caches, in b->common.  ns a load at
 * each size from 1 KB, four sizes an octave: the least that was seen, since
 * what disturbs only ever adds.  In the middle of each cache's plateau a
 * size; these stay, so that every round of a row measures the same.
 */
struct curve {
	int n;                  /* sizes measured */
	float ns[SIZES];
	int known, levels;
	size_t middle[LEVELS];
};

/* A plateau of the curve: its first and last size, as indices. */
struct plateau {
	int first, last;
};

static size_t
curve_size(int i)
{
	return (size_t)(4 + i % 4) << (8 + i / 4);
}

/* Measures the curve, or makes it better. */
static void
sweep(struct bench *b)
{
	enum { TRIES = 4, LOADS = 8192 };
	struct curve *c = b->common;
	size_t want, size = buffer_size(&want);
	char *p = memory(b, size);
	double t, least;
	void **at;
	int i, k;

	for (i = 0; i < SIZES && curve_size(i) <= size; i++) {
		at = lay_all(b, p, curve_size(i));
		for (least = 0, k = 0; k < TRIES; k++) {
			t = seconds();
			at = chase(at, LOADS / HOPS);
			USE(at);
			t = (seconds() - t) * 1e9 / LOADS;
			if (k == 0 || t < least)
				least = t;
		}
		if (i >= c->n || least < c->ns[i])
			c->ns[i] = (float)least;
	}
	c->n = i;
	munmap(p, size);
}

/* Octaves, and more, that rise by a fifth at most; the last is memory. */
static int
find_plateaus(const float *v, int n, struct plateau found[SIZES])
{
	enum { OCTAVE = 4 };
	int first, end, k = 0;

	for (first = 0; first < n; first = end) {
		for (end = first; end < n && v[end] <= v[first] * 1.2; end++)
			;
		if (end - first > OCTAVE || end == n)
			found[k++] = (struct plateau){ first, end - 1 };
		else
			end = first + 1;
	}
	return k;
}

/*
 * How far a plateau stands off from its lower and its upper neighbour: the
 * lesser of the two ratios.  A short one has to stand off by twice as much
 * as a long one.
 */
static double
standing(const float *v, const struct plateau *p)
{
	enum { LONG = 6 };
	double low = v[p->first] / v[p[-1].last];
	double high = v[p[1].first] / v[p->last];
	double least = low < high ? low : high;

	return p->last - p->first < LONG ? least / 2 : least / 1.15;
}

/*
 * Finds the plateaus of the caches, and of memory behind them; those that
 * differ by less than 15% are one.  What other users of a shared cache do
 * makes steps in the rise to memory: the least standing of the plateaus in
 * between go, one by one.  Returns how many caches there are.
 */
static int
find_levels(const float *v, int n, struct plateau found[SIZES])
{
	int i, least, k = find_plateaus(v, n, found);

	for (; k > 2; k--) {
		for (least = 1, i = 2; i < k - 1; i++)
			if (standing(v, &found[i]) <
			    standing(v, &found[least]))
				least = i;
		if (standing(v, &found[least]) >= 1 && k - 1 <= LEVELS)
			break;
		memmove(&found[least], &found[least + 1],
			(size_t)(k - least - 1) * sizeof *found);
	}
	if (k == 2 && v[found[1].first] < v[found[0].last] * 1.15)
		k = 1;
	return k - 1;
}

/* The same from what is known by now; v becomes the curve without dips. */
static int
look(const struct curve *c, float v[SIZES], struct plateau found[SIZES])
{
	int i;

	for (i = c->n - 1; i >= 0; i--)
		v[i] = i + 1 < c->n && v[i + 1] < c->ns[i] ?
			v[i + 1] : c->ns[i];
	return find_levels(v, c->n, found);
}

/* The first row that wants to know the levels finds them for all. */
static const struct curve *
levels(struct bench *b)
{
	struct plateau found[SIZES];
	struct curve *c = b->common;
	float v[SIZES];
	int i;

	if (!c->known) {
		sweep(b);
		sweep(b);
		c->levels = look(c, v, found);
		for (i = 0; i < c->levels; i++)
			c->middle[i] = curve_size(
				(found[i].first + found[i].last) / 2);
		c->known = 1;
	}
	return c;
}

/* A cache: level arg, a ring of a size in the middle of its plateau. */
static void
cache_latency(struct bench *b)
{
	static const char *const name[] = { "first", "second", "third" };
	const struct curve *c = levels(b);
	size_t size;

	if (c->levels < b->arg)
		skip(b, "no %s level of cache found up to %zu KB",
			name[b->arg - 1], curve_size(c->n - 1) >> 10);
	size = c->middle[b->arg - 1];
	chase_ring(b, lay_all(b, memory(b, size), size));
}

/* Main memory: a ring through what no cache holds. */
static void
main_latency(struct bench *b)
{
	size_t size;
	char *p = buffer(b, &size);

	chase_ring(b, lay_all(b, p, size));
}

/*
 * One line a page, in random order, of more pages than the TLBs reach (four
 * times the 4096 entries of the largest): a load is a miss of the TLB, the
 * walk through the page tables, and the line itself, which lies anywhere in
 * its page, out of what caches hold of 16384 lines.  Huge pages are refused.
 * The first turns, in which lines and tables come into the caches, are not
 * timed.
 */
static void
tlb_latency(struct bench *b)
{
	enum { TURNS = 8, PAGES = 16384 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = PAGES * page, limit = memory_limit();
	void **ring;
	char *p;

	if (limit > MAXBUFFER)
		limit = MAXBUFFER;
	if (size > limit) {
		size = limit - limit % page;
		note(b, "%zu pages (should be %d)", size / page, PAGES);
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		fail(b, "memory:");
	madvise(p, size, MADV_NOHUGEPAGE);      /* fails where there are none */
	ring = lay(b, p, size, page, 1);
	ring = chase(ring, TURNS * (long)(size / page) / HOPS);
	chase_ring(b, ring);
}

/* KB of a cache: where the curve is half way up to the next plateau. */
static size_t
level_size(const float *v, const struct plateau *p)
{
	float half = (v[p->last] + v[p[1].first]) / 2;
	int i = p->last;

	while (v[i + 1] < half)
		i++;
	return curve_size(i) >> 10;
}

/* The sizes of the levels, once more and better known each round. */
static void
guesses(struct bench *b)
{
	struct plateau found[SIZES];
	float v[SIZES];
	char text[REASON] = "", *end = text;
	size_t kb;
	int i, n;

	sweep(b);
	n = look(b->common, v, found);
	for (i = 0; i < n; i++) {
		kb = level_size(v, &found[i]);
		end += sprintf(end, "L%d %.3g%c ", i + 1,
			kb < 1024 ? (double)kb : (double)kb / 1024,
			kb < 1024 ? 'K' : 'M');
	}
	strcpy(n < 2 ? end : end - 1, n < 2 ? "No L2 cache?" : "");
	fact(b, "guesses", "%s", text);
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
	{ "bcopy_libc_bw", "bw", "Bcopy (libc)", "MB/s", MORE,
	  memory_bandwidth, 3, 0 },
	{ "bcopy_hand_bw", "bw", "Bcopy (hand)", "MB/s", MORE,
	  memory_bandwidth, 2, 0 },
	{ "mem_read_bw", "bw", "Mem read", "MB/s", MORE,
	  memory_bandwidth, 0, 0 },
	{ "mem_write_bw", "bw", "Mem write", "MB/s", MORE,
	  memory_bandwidth, 1, 0 },

	{ "mem_mhz", "mem", "Mhz", "MHz", MORE, mhz, 0, 0 },
	{ "l1_lat", "mem", "L1 $", "ns", LESS, cache_latency, 1, 0 },
	{ "l2_lat", "mem", "L2 $", "ns", LESS, cache_latency, 2, 0 },
	{ "l3_lat", "mem", "L3 $", "ns", LESS, cache_latency, 3, 1 },
	{ "main_lat", "mem", "Main mem", "ns", LESS, main_latency, 0, 0 },
	{ "tlb_lat", "mem", "TLB", "ns", LESS, tlb_latency, 0, 0 },
	{ "guesses", "mem", "Guesses", "text", LESS, guesses, 0, 0 },
	{ 0 }
};
