/*
 * rpc.c - are the bytes of RPC messages those of RFC 5531?  Silent when they
 * are, and a message with any other word is refused.
 */
#include "../os_tests.c"
#include "row.h"

const struct test x_tests[] = { { 0 } };

static int faults;

static void
expect(int ok, const char *what, const char *of)
{
	if (!ok) {
		printf("%s: %s\n", of, what);
		faults++;
	}
}

/* RFC 5531, sections 9 and 11: a call of ours and its reply, by hand. */
static const unsigned char call[] = {
	0x80, 0, 0, 44,                 /* last fragment, 44 bytes */
	0x12, 0x34, 0x56, 0x78,         /* xid */
	0, 0, 0, 0,                     /* CALL */
	0, 0, 0, 2,                     /* RPC version */
	0x20, 0x00, 0x0b, 0x45,         /* program */
	0, 0, 0, 1,                     /* version */
	0, 0, 0, 1,                     /* procedure */
	0, 0, 0, 0, 0, 0, 0, 0,         /* cred: AUTH_NONE, no bytes */
	0, 0, 0, 0, 0, 0, 0, 0,         /* verf: the same */
	0xde, 0xad, 0xbe, 0xef,         /* argument, an unsigned int */
};
static const unsigned char reply[] = {
	0x80, 0, 0, 28,
	0x12, 0x34, 0x56, 0x78,
	0, 0, 0, 1,                     /* REPLY */
	0, 0, 0, 0,                     /* MSG_ACCEPTED */
	0, 0, 0, 0, 0, 0, 0, 0,         /* verf */
	0, 0, 0, 0,                     /* SUCCESS */
	0xde, 0xad, 0xbe, 0xef,         /* result */
};

/* What goes over a link, and what comes from it, is the message. */
static void
same(enum kind kind, const uint32_t *word, int n, const unsigned char *due,
	size_t len, const char *name)
{
	unsigned char m[64] = { 0 };
	uint32_t back[MOST_WORDS];
	size_t skipped = kind == TCP ? 0 : 4;
	struct link l;
	int fd[2];

	if (socketpair(AF_UNIX, kind == TCP ? SOCK_STREAM : SOCK_DGRAM, 0, fd))
		exit(1);
	l = (struct link){ kind, fd[0], fd[0] };
	expect(rpc_send(l, word, n) == 1, "not sent", name);
	expect(read(fd[1], m, sizeof m) == (ssize_t)(len - skipped), "length",
		name);
	expect(!memcmp(m, due + skipped, len - skipped), "bytes", name);
	expect(write(fd[1], due + skipped, len - skipped) > 0, "write", name);
	expect(rpc_receive(l, back, n) == 1, "not received", name);
	expect(!memcmp(back, word, (size_t)n * 4), "words", name);
	close(fd[0]);
	close(fd[1]);
}

static void
wrong_reply(struct bench *b)
{
	uint32_t due[MOST_WORDS], came[MOST_WORDS];
	int n = rpc_reply(due, 1, 2);

	rpc_reply(came, 1, 2);
	came[b->arg]++;
	rpc_check(b, came, due, n);
}

static void
rpc(struct result *r)
{
	struct test wrong = { "wrong", "", "", "text", wrong_reply, 0,
		LESS, 0 };
	uint32_t word[MOST_WORDS];
	int n;

	for (int k = 0; k < 2; k++) {
		n = rpc_call(word, 0x12345678, 0xdeadbeef);
		same(k ? TCP : UDP, word, n, call, sizeof call, "call");
		n = rpc_reply(word, 0x12345678, 0xdeadbeef);
		same(k ? TCP : UDP, word, n, reply, sizeof reply, "reply");
	}
	for (wrong.arg = 0; wrong.arg < n; wrong.arg++) {
		run_row(&wrong, r, 0.01);
		expect(r->state == FAILED, "taken for right", "wrong word");
	}
}

int
main(void)
{
	struct result *r = results(1);

	if (!r)
		return 1;
	rpc(r);
	return faults != 0;
}
