/*
 * deny.c - runs a command in which a system call fails.
 *
 *	deny ERROR NUMBER COMMAND...            that one
 *	deny ERROR - NUMBER... -- COMMAND...    all but these
 *
 * ERROR is a number as well.  The command itself can always be started:
 * its execve is known by where its path stands in memory.  What it starts
 * of other bits (/bin/sh) has other numbers, and is let alone.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* of linux/filter.h and linux/seccomp.h, which musl does not bring */
struct line {
	uint16_t code;
	uint8_t yes, no;
	uint32_t k;
};
#ifdef __i386__
#define OURS 0x40000003
#else
#define OURS 0xc000003e
#endif
enum {
	LOAD = 0x20, EQUAL = 0x15, RETURN = 0x06,
	NR = 0, MACHINE = 4, PATH = 16, /* in struct seccomp_data */
	FILTER = 2, ALLOW = 0x7fff0000, ERROR = 0x00050000,
	MOST = 1024
};

int
main(int argc, char *argv[])
{
	struct line f[MOST];
	struct { unsigned short n; struct line *f; } program = { 0, f };
	uint32_t error;
	int i, but;

	if (argc < 4)
		return 2;
	error = ERROR | (uint32_t)atoi(argv[1]);
	but = !strcmp(argv[2], "-");
	i = 2 + but;
#define ADD(...) f[program.n++] = (struct line){ __VA_ARGS__ }
	ADD(LOAD, 0, 0, NR);
	ADD(EQUAL, 0, 2, SYS_execve);
	ADD(LOAD, 0, 0, PATH);
	ADD(EQUAL, 2, 0, 0);            /* set below */
	ADD(LOAD, 0, 0, MACHINE);
	ADD(EQUAL, 1, 0, OURS);
	ADD(RETURN, 0, 0, ALLOW);
	ADD(LOAD, 0, 0, NR);
	do {
		ADD(EQUAL, 0, 1, (uint32_t)atoi(argv[i]));
		ADD(RETURN, 0, 0, but ? ALLOW : error);
		i++;
	} while (but && i < argc - 1 && strcmp(argv[i], "--") &&
	    program.n < MOST - 3);
	ADD(RETURN, 0, 0, but ? error : ALLOW);
	argv += i + but;
	f[3].k = (uint32_t)(uintptr_t)*argv;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, FILTER, &program)) {
		perror("deny: seccomp");
		return 77;
	}
	execve(*argv, argv, environ);
	perror(*argv);
	return 2;
}
