/*
 * init.c - life as process 1, or in its place (bench -i).
 *
 * Mounts what is missing, finds the consoles, reads the kernel's command
 * line, lets a child measure, keeps its record, shows its tables page by
 * page, and does as told.  All that may hang or crash, the kernel's drivers
 * included, is done by children; process 1 waits for a signal, be it a
 * child's end, a key (SIGIO) or Ctrl-Alt-Del (SIGINT), and never ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "config.h"

enum {
	CONSOLES = 4,
	CMDLINE = 4096,         /* bytes of it that are read */
	WORDS = 64,             /* words of bench.only */
	SAVING = 120,           /* seconds a floppy may take to save */
	PORT = 514,             /* of syslog over UDP */
	PACE = 5,               /* ms between datagrams ... */
	FIRST = 200,            /* ... after the first, which finds the way */
};

/* What may be asked for; those before ONLY are options of the suite. */
enum { T, N, D, S, V, Q, A, ONLY, SAVE, LOG, THEN, PAGES, SETTINGS };
static const char *const names[SETTINGS] = {
	"t", "n", "d", "s", "v", "q", "a", "only", "save", "log", "then", "page"
};

struct console {
	int in, out;            /* -1: none */
	struct termios was;
	int tty;                /* is it one? */
};

struct life {
	int first;              /* is this process 1? */
	struct console con[CONSOLES];
	int ncon;
	sigset_t set, was;      /* signals that are events; mask at start */
	char cmdline[CMDLINE];
	const char *set_to[SETTINGS];
	int unusable;           /* the suite did not take its options */
	int (*suite)(int, char **, int);
	pid_t child;            /* waited for */
	int status;             /* of it */
	int reboot;             /* Ctrl-Alt-Del, or SIGTERM */
};

/* --- consoles ------------------------------------------------------------ */

static void
put_all(int fd, const char *s, size_t n)
{
	ssize_t k;

	for (; n && fd >= 0; s += k, n -= (size_t)k) {
		k = write(fd, s, n);
		if (k < 0 && errno == EAGAIN) {         /* a slow line */
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT },
				1, 1000);
			k = 0;
		}
		if (k < 0)
			return;
	}
}

static void
show(const struct life *l, const char *s, size_t n)
{
	int i;

	for (i = 0; i < l->ncon; i++)
		put_all(l->con[i].out, s, n);
}

/* A line on every console; a colon at its end calls for errno's text. */
__attribute__((format(printf, 2, 3)))
static void
say(const struct life *l, const char *fmt, ...)
{
	char s[512] = "bench: ";
	int err = errno;
	size_t n;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s + 7, sizeof s - 7, fmt, ap);
	va_end(ap);
	n = strlen(s);
	if (s[n - 1] == ':')
		snprintf(s + n, sizeof s - n, " %s", strerror(err));
	n = strlen(s);
	if (n > sizeof s - 2)
		n = sizeof s - 2;
	s[n++] = '\n';
	show(l, s, n);
}

/* Keys are to be signals, as they come: ^C too, which no session gets. */
static void
take_keys(struct console *c)
{
	struct termios t = c->was;
	int flags = fcntl(c->in, F_GETFL);

	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	t.c_iflag &= ~(tcflag_t)(IXON | IXOFF);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (c->tty)
		tcsetattr(c->in, TCSANOW, &t);
	fcntl(c->in, F_SETOWN, getpid());
	if (flags >= 0)
		fcntl(c->in, F_SETFL, flags | O_ASYNC);
}

static void
leave_keys(struct console *c)
{
	int flags = fcntl(c->in, F_GETFL);

	if (c->tty)
		tcsetattr(c->in, TCSADRAIN, &c->was);
	if (flags >= 0)
		fcntl(c->in, F_SETFL, flags & ~(O_ASYNC | O_NONBLOCK));
}

static void
all_keys(struct life *l, void (*change)(struct console *))
{
	int i;

	for (i = 0; i < l->ncon; i++)
		if (l->con[i].in >= 0)
			change(&l->con[i]);
}

static void
add_console(struct life *l, int in, int out)
{
	struct console *c = &l->con[l->ncon++];

	*c = (struct console){ .in = in, .out = out };
	c->tty = !tcgetattr(in, &c->was);
	take_keys(c);
}

/* Opens a console of our own, without waiting for a modem's carrier. */
static int
open_console(struct life *l, const char *path)
{
	enum { FLAGS = O_NOCTTY | O_NONBLOCK | O_CLOEXEC };
	struct termios t;
	int in, out = -1;

	if (l->ncon == CONSOLES)
		return -1;
	if ((in = open(path, O_RDONLY | FLAGS)) < 0 || tcgetattr(in, &t) ||
	    (out = open(path, O_WRONLY | FLAGS)) < 0) {
		if (in >= 0)
			close(in);
		return -1;
	}
	fcntl(out, F_SETFL, O_WRONLY);
	add_console(l, in, out);
	return 0;
}

/* The console of that number, whatever /dev has. */
static void
open_number(struct life *l, dev_t dev)
{
	static const char node[] = "/dev/bench.tty";

	if (mknod(node, S_IFCHR | 0600, dev))
		return;
	open_console(l, node);
	unlink(node);
}

/* `4:64' as the number of a device, or 0. */
static dev_t
number(const char *s)
{
	char *end;
	unsigned long major = strtoul(s, &end, 10);

	return *end == ':' ? makedev(major, strtoul(end + 1, NULL, 10)) : 0;
}

/* Those beside /dev/console: `ttyS0  -W- (E  p a)  4:64', C is that one. */
static void
other_consoles(struct life *l)
{
	FILE *f = fopen("/proc/consoles", "re");
	char line[128], *s;

	while (f && fgets(line, sizeof line, f))
		if ((s = strchr(line, '(')) && s[1] == 'E' && s[2] != 'C' &&
		    (s = strchr(s, ')')) && number(s + 1))
			open_number(l, number(s + 1));
	if (f)
		fclose(f);
}

/*
 * Where we were started with something else than the kernel's console, it
 * is that.  Otherwise all that the kernel prints on; if it has none, all
 * that look like one.  Descriptors 0 to 2 are open afterwards.
 */
static void
consoles(struct life *l)
{
	static const unsigned likely[][2] = {
		{ 4, 1 }, { 4, 64 }, { 204, 64 }, { 229, 0 }
	};
	struct stat st;
	size_t i;
	int fd;

	while ((fd = open("/", O_RDONLY)) >= 0 && fd < 3)
		;
	close(fd);
	if (!fstat(1, &st) && !S_ISDIR(st.st_mode) &&
	    st.st_rdev != makedev(5, 1)) {
		add_console(l, 0, 1);
		return;
	}
	if (!open_console(l, "/dev/console"))
		other_consoles(l);
	for (i = l->ncon ? LEN(likely) : 0; i < LEN(likely); i++)
		open_number(l, makedev(likely[i][0], likely[i][1]));
	for (i = 0; l->ncon && i < 3; i++)
		dup2(i ? l->con[0].out : l->con[0].in, (int)i);
}

/* --- events -------------------------------------------------------------- */

enum event { NONE, CHILD, ENTER, STOP, GONE };

/* What was typed on any console. */
static enum event
keys(struct life *l)
{
	enum event e = NONE;
	struct console *c;
	char key;

	for (c = l->con; c < l->con + l->ncon; c++) {
		while (c->in >= 0 && poll(&(struct pollfd){ .fd = c->in,
		    .events = POLLIN }, 1, 0) > 0) {
			if (read(c->in, &key, 1) != 1)
				c->in = errno == EAGAIN ? c->in : -1;
			else if (key == '\n' || key == '\r')
				e = ENTER;
			else if (key == 'C' - '@')
				return STOP;
		}
	}
	return e;
}

/* Reaps everybody's children; was ours among them? */
static int
reap(struct life *l)
{
	int status, ours = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == l->child) {
			l->child = 0;
			l->status = status;
			ours = 1;
		}
	}
	return ours;
}

/* The next thing to happen; NONE after so many seconds (below 0: never). */
static enum event
await(struct life *l, double time)
{
	double left, until = seconds() + time;
	struct timespec t;
	enum event e;
	int sig;

	for (;;) {
		if (reap(l))
			return CHILD;
		if ((e = keys(l)) != NONE)
			return e;
		if (time < 0 && !l->child && !l->first && l->con[0].in < 0)
			return GONE;
		left = time < 0 ? 3600 : until - seconds();
		if (left <= 0)
			return NONE;
		t.tv_sec = (time_t)left;
		t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
		sig = sigtimedwait(&l->set, NULL, &t);
		if (sig < 0 && errno != EAGAIN && errno != EINTR)
			poll(NULL, 0, 100);
		if (sig == SIGINT || sig == SIGTERM) {
			l->reboot = 1;
			return STOP;
		}
	}
}

/* --- what the kernel lacks ----------------------------------------------- */

/* Is something mounted there? */
static int
mounted(const char *at)
{
	struct stat root, it;

	return !stat("/", &root) && !stat(at, &it) &&
		root.st_dev != it.st_dev;
}

static int
mount_on(const char *type, const char *at)
{
	mkdir(at, 0755);
	return mount(type, at, type, 0, NULL);
}

/* Device nodes, where the kernel does not make them. */
static void
nodes(void)
{
	static const struct {
		const char *name;
		unsigned major, minor;
	} node[] = {
		{ "/dev/null", 1, 3 }, { "/dev/zero", 1, 5 },
		{ "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
		{ "/dev/console", 5, 1 },
	};
	size_t i;

	for (i = 0; i < LEN(node); i++)
		if (!mknod(node[i].name, S_IFCHR | 0600,
		    makedev(node[i].major, node[i].minor)))
			chmod(node[i].name, 0666);
}

static void
mounts(struct life *l)
{
	static const char *const list[][2] = {
		{ "proc", "/proc" }, { "sysfs", "/sys" },
		{ "devtmpfs", "/dev" }, { "tmpfs", "/dev/shm" },
		{ "tmpfs", "/tmp" },
	};
	size_t i;

	/* beside a process 1 that has all this, for ourselves alone */
	if (!l->first && (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)))
		return;
	for (i = 0; i < LEN(list); i++) {
		if (mounted(list[i][1]) ||
		    (!strcmp(list[i][1], "/tmp") && !access("/tmp", W_OK)))
			continue;
		if (mount_on(list[i][0], list[i][1]) && *list[i][0] == 'd')
			mount_on("tmpfs", "/dev");
	}
	nodes();
}

/* Rows that stay empty for want of these should not surprise. */
static void
say_missing(const struct life *l)
{
	if (access("/proc/mounts", F_OK))
		say(l, "/proc: not there (bench.* words: after -- only)");
	if (access("/dev/null", W_OK))
		say(l, "/dev/null:");
}

static void
raise_lo(struct life *l)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &r)) {
		say(l, "lo:");
	} else if (!(r.ifr_flags & IFF_UP)) {
		r.ifr_flags |= IFF_UP;
		if (ioctl(fd, SIOCSIFFLAGS, &r))
			say(l, "lo: not up:");
	}
	if (fd >= 0)
		close(fd);
}

/* --- the command line ---------------------------------------------------- */

/* Cuts off the next word, as the kernel does: "quoted blanks" stay. */
static char *
word(char **rest)
{
	char *s = *rest + strspn(*rest, " \n"), *from, *to;
	int quoted = 0;

	for (from = to = s; *from && (quoted || !strchr(" \n", *from)); from++)
		if (*from == '"')
			quoted = !quoted;
		else
			*to++ = *from;
	*rest = *from ? from + 1 : from;
	*to = '\0';
	return *s ? s : NULL;
}

/* Has it no value? */
static int
flag(int i)
{
	return i == V || i == Q || i == A;
}

/* Takes one `bench.name=value'; words of others are no concern of ours. */
static void
take_word(struct life *l, char *s)
{
	char *value;
	int i;

	if (strncmp(s, "bench.", 6))
		return;
	if ((value = strchr(s, '=')))
		*value++ = '\0';
	for (i = 0; i < SETTINGS && strcmp(s + 6, names[i]); i++)
		;
	if (i == SETTINGS)
		say(l, "%s: no such word (bench.t n d s v q a only save "
			"log then page)", s);
	else if (!value && !flag(i))
		say(l, "%s: says nothing (give %s=...)", s, s);
	else
		l->set_to[i] = value ? value : "";
}

/* The kernel's words, then those given to this program, which win. */
static void
command_line(struct life *l, char **words)
{
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, l->cmdline, CMDLINE - 1);
	char *s, *rest = l->cmdline;

	if (fd >= 0)
		close(fd);
	l->cmdline[n > 0 ? n : 0] = '\0';
	while ((s = word(&rest)))
		take_word(l, s);
	for (; *words; words++)
		take_word(l, *words);
}

/* --- the run ------------------------------------------------------------- */

/* The child of a fork() as any program is: signals, and nothing to read. */
static void
ordinary(const struct life *l)
{
	sigprocmask(SIG_SETMASK, &l->was, NULL);
	dup2(open("/", O_RDONLY | O_CLOEXEC), 0);
}

/* What bench's command line would be. */
static _Noreturn void
measure(const struct life *l, int rec)
{
	char *argv[2 * SETTINGS + WORDS] = { "bench" }, *s, *save;
	char letter[ONLY][3], *only = NULL;
	int i, argc = 1;

	for (i = 0; i < ONLY && !l->unusable; i++) {
		if (!l->set_to[i])
			continue;
		snprintf(letter[i], sizeof letter[i], "-%s", names[i]);
		argv[argc++] = letter[i];
		if (!flag(i))
			argv[argc++] = (char *)l->set_to[i];
	}
	argv[argc++] = "--";
	if (l->set_to[ONLY] && !l->unusable)
		only = strdup(l->set_to[ONLY]);
	for (s = only ? strtok_r(only, ",", &save) : NULL;
	    s && argc < (int)LEN(argv) - 1; s = strtok_r(NULL, ",", &save))
		argv[argc++] = s;
	argv[argc] = NULL;
	exit(l->suite(argc, argv, rec));
}

/*
 * Lets a child measure; its tables go to out, its record to rec.  ^C ends
 * it early, with what it has.
 */
static void
run_suite(struct life *l, int out, int rec)
{
	enum event e;

	if ((l->child = fork()) < 0) {
		say(l, "nothing measured: fork:");
		return;
	}
	if (!l->child) {
		ordinary(l);
		if (out >= 0)
			dup2(out, 1);
		else if (l->ncon)
			dup2(l->con[0].out, 1);
		measure(l, rec);
	}
	while ((e = await(l, -1)) != CHILD)
		if (e == STOP)
			kill(l->child, SIGINT);
	if (WIFSIGNALED(l->status) && WTERMSIG(l->status) == SIGINT)
		say(l, "stopped: this is what there was until then");
	else if (WIFSIGNALED(l->status))
		say(l, "the run was killed by signal %d (%s)",
			WTERMSIG(l->status), strsignal(WTERMSIG(l->status)));
}

/* All of a file, ended by '\0', or NULL: also where it is empty. */
static char *
contents(int fd, size_t *n)
{
	struct stat st;
	char *s;
	ssize_t k;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 ||
	    !(s = malloc((size_t)st.st_size + 1)))
		return NULL;
	for (*n = 0; (off_t)*n < st.st_size; *n += (size_t)k)
		if ((k = pread(fd, s + *n, (size_t)st.st_size - *n,
		    (off_t)*n)) <= 0)
			break;
	s[*n] = '\0';
	return s;
}

/* --- pages --------------------------------------------------------------- */

/* Lines of the screen that a line of n bytes takes. */
static int
height(size_t n)
{
	return n > 1 ? (int)((n - 2) / WIDTH) + 1 : 1;
}

/* Of the piece that begins here: up to the next empty line. */
static int
piece(const char *s)
{
	size_t n;
	int lines = 0;

	for (; *s && *s != '\n'; s += n) {
		n = strcspn(s, "\n");
		n += s[n] == '\n';
		lines += height(n);
	}
	return lines;
}

/* Waits for Enter, so many seconds; returns 0 when ^C wants no more. */
static int
turn(struct life *l, double time)
{
	static const char wipe[] = "\r                    \r";
	static const char ask[] = "-- Enter: more --";
	enum event e;

	show(l, ask, sizeof ask - 1);
	while ((e = await(l, time)) == CHILD)
		;
	show(l, wipe, sizeof wipe - 1);
	return e != STOP && e != GONE;
}

/*
 * A text in pages of at most HEIGHT lines, the last of which asks; no table
 * is torn that fits a page.
 */
static void
pages(struct life *l, const char *s, double time)
{
	int used = 0, fresh = 1, lines;
	size_t n;

	for (; *s; s += n) {
		n = strcspn(s, "\n");
		n += s[n] == '\n';
		lines = fresh ? piece(s) : height(n);
		if (lines > HEIGHT - 1)
			lines = height(n);
		if (used && used + lines > HEIGHT - 1) {
			if (time > 0 && !turn(l, time))
				time = 0;
			used = 0;
		}
		fresh = *s == '\n';
		if (!used && fresh)
			continue;       /* no page begins with a gap */
		show(l, s, n);
		used += height(n);
	}
}

/* --- saving the record --------------------------------------------------- */

/* The number of a block device that /dev does not have: 0 if not found. */
static dev_t
block_number(const char *name)
{
	FILE *f = fopen("/proc/partitions", "re");
	unsigned long major, minor;
	size_t len = strlen(name);
	dev_t dev = 0;
	char line[128], *s;

	while (f && fgets(line, sizeof line, f)) {
		major = strtoul(line, &s, 10);
		minor = strtoul(s, &s, 10);
		strtoul(s, &s, 10);             /* its size */
		s += *s == ' ';
		if (!strncmp(s, name, len) && s[len] == '\n')
			dev = makedev(major, minor);
	}
	if (f)
		fclose(f);
	if (!dev && !strncmp(name, "fd", 2) && len == 3)
		dev = makedev(2, name[2] - '0');        /* never listed */
	return dev;
}

/* Mounts a device of an unknown kind, or by its tag a 9p of the host. */
static int
mount_device(const char *device, const char *at)
{
	static const char *const types[] = {
		"vfat", "msdos", "ext4", "ext3", "ext2"
	};
	int err = 0;
	size_t i;

	if (*device != '/')
		return mount(device, at, "9p", 0,
			"trans=virtio,version=9p2000.L");
	for (i = 0; i < LEN(types); i++) {
		if (!mount(device, at, types[i], 0, NULL))
			return 0;
		if (!err || err == ENODEV || err == EINVAL)
			err = errno;            /* the one that tells most */
	}
	errno = err;
	return -1;
}

/* Appends to a file, whole or not at all; a torn line there is closed. */
static int
append(int dir, const char *name, const char *s, size_t n)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC, 0644), err;
	off_t old = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	ssize_t k = 1;
	char last;

	if (old < 0)
		return -1;
	if (old && pread(fd, &last, 1, old - 1) == 1 && last != '\n')
		k = write(fd, "\n", 1);
	for (; n && k > 0; s += k, n -= (size_t)k)
		if ((k = write(fd, s, n)) < 0)
			break;
	if (!n && !fsync(fd) && !close(fd))
		return 0;
	err = errno ? errno : ENOSPC;
	if (ftruncate(fd, old) || (!old && unlinkat(dir, name, 0)))
		err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* In a child: leaves in why what went wrong, or nothing. */
static void
save(const char *device, const char *s, size_t n, char *why)
{
	static const char *const dirs[] = { "/mnt", "/tmp", "/dev/shm" };
	const char *name = device + (strncmp(device, "/dev/", 5) ? 0 : 5);
	const char *doing = "mount";
	int dir = -1, bad;
	dev_t dev;
	size_t i;

	if (name != device && access(device, F_OK) &&
	    (dev = block_number(name)))
		mknod(device, S_IFBLK | 0600, dev);
	mkdir(dirs[0], 0755);
	for (i = 0; i < LEN(dirs) && access(dirs[i], F_OK); i++)
		;
	errno = ENOENT;
	bad = i == LEN(dirs) || mount_device(device, dirs[i]);
	if (!bad) {
		doing = "write " SAVED;
		bad = (dir = open(dirs[i], O_RDONLY | O_CLOEXEC)) < 0 ||
			append(dir, SAVED, s, n);
	}
	if (bad)
		snprintf(why, REASON, "%s: %s", doing, strerror(errno));
	if (dir < 0)
		return;
	close(dir);
	sync();
	if (umount(dirs[i]) && !bad)
		snprintf(why, REASON, "unmount: %s", strerror(errno));
	else if (!bad)
		*why = '\0';
}

/* So that nothing is lost: the record on the console, between markers. */
static void
print_record(const struct life *l, const char *s, size_t n)
{
	static const char begin[] = "----- BEGIN " SAVED " -----\n";
	static const char end[] = "----- END " SAVED " -----\n";

	show(l, begin, sizeof begin - 1);
	show(l, s, n);
	show(l, end, sizeof end - 1);
}

/* --- sending the record --------------------------------------------------- */

/* `10.0.0.1' or `10.0.0.1:5140'.  Returns whether it is that. */
static int
address(const char *s, struct sockaddr_in *to)
{
	size_t n = strcspn(s, ":");
	char host[INET_ADDRSTRLEN], *end = "";
	long port = s[n] ? strtol(s + n + 1, &end, 10) : PORT;

	snprintf(host, sizeof host, "%.*s", (int)n, s);
	to->sin_family = AF_INET;
	to->sin_port = htons((uint16_t)port);
	return n < sizeof host && inet_pton(AF_INET, host, &to->sin_addr) == 1
		&& port > 0 && port <= UINT16_MAX && !*end;
}

/* A fact of the record, by what stands before it there; - if it has none. */
static const char *
find_fact(const char *record, const char *before)
{
	const char *s = strstr(record, before);

	return s && s[strlen(before)] > ' ' ? s + strlen(before) : "-";
}

/* Length of a field of a header: up to a blank. */
static int
field(const char *s)
{
	return (int)strcspn(s, " \t\n");
}

/*
 * A line of the record as a message of RFC 5424: user.notice, with its key
 * as MSGID.  That wants no tabs: they become #011, as rsyslogd makes them.
 * Returns errno.
 */
static int
send_line(int fd, const char *line, const char *date, const char *host)
{
	const char *key = strchr(line, '\t') + 1;
	char s[8192];
	int n;

	if (*line == 'b' || *line == 'e')       /* begin and end of it */
		key = line;
	n = field(key);
	n = sprintf(s, "<13>1 %.*s %.*s bench - %.*s - ", field(date), date,
		field(host), host, n < 32 ? n : 32, key);
	for (; *line != '\n' && n < (int)sizeof s - 8; line++)
		n += sprintf(s + n, *line == '\t' ? "#%03o" : "%c", *line);
	return send(fd, s, (size_t)n, 0) < 0 ? errno : 0;
}

/* In a child, as save(): a datagram a line, so slowly that none is lost. */
static void
post(const char *where, const char *s, size_t n, char *why)
{
	const char *host = find_fact(s, "\nfact\thost\t");
	const char *date = find_fact(s, "\nfact\tdate\t"), *end;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;
	struct sockaddr_in to;

	if (!address(where, &to)) {
		strcpy(why, "no address (as 10.0.0.1:514)");
		return;
	}
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to))
		err = errno;
	if (strcmp(date, "2020") < 0)
		date = "-";             /* a clock that nobody has set */
	for (n = FIRST; !err && (end = strchr(s, '\n')); s = end + 1) {
		err = send_line(fd, s, date, host);
		poll(NULL, 0, (int)n);
		n = PACE;
	}
	snprintf(why, REASON, "%s%s", err ? strerror(err) : "",
		err == ENETUNREACH ? " (no address? the kernel takes ip=)" :
		"");
}

/* --- either, by a child --------------------------------------------------- */

/* Saves or sends the record; returns what is to be said of it. */
static const char *
keep(struct life *l, void (*how)(const char *, const char *, size_t, char *),
	const char *where, const char *s, size_t n)
{
	char *why = shared(REASON);
	double until = seconds() + SAVING;

	if (!why)
		return "no memory";
	strcpy(why, "the child that did it crashed");
	if ((l->child = fork()) < 0) {
		snprintf(why, REASON, "fork: %s", strerror(errno));
		return why;
	}
	if (!l->child) {
		ordinary(l);
		how(where, s, n, why);
		_exit(0);
	}
	while (await(l, until - seconds()) != CHILD)
		if (seconds() >= until) {
			kill(l->child, SIGKILL);
			return "it takes too long";
		}
	return why;
}

/* --- the end ------------------------------------------------------------- */

/* Halts, reboots, powers off, or becomes another program; or could not. */
static void
finish(struct life *l, const char *then)
{
	char *argv[] = { (char *)then, NULL };
	int how = *then == 'h' ? RB_HALT_SYSTEM :
		*then == 'p' ? RB_POWER_OFF : RB_AUTOBOOT;

	if (*then == '/') {
		all_keys(l, leave_keys);
		sigprocmask(SIG_SETMASK, &l->was, NULL);
		execv(then, argv);
		sigprocmask(SIG_BLOCK, &l->set, NULL);
		say(l, "%s: exec:", then);
		all_keys(l, take_keys);
		return;
	}
	if (l->first) {
		kill(-1, SIGTERM);
		await(l, 0.2);
		kill(-1, SIGKILL);
	}
	sync();
	/* some kernels end the caller, and process 1 must not end */
	if (!(l->child = fork())) {
		reboot(how);
		say(l, "%s:", then);
		_exit(1);
	}
	while (l->child > 0 && await(l, -1) != CHILD)
		;
}

/* Says what became of the record; returns whether it is to be printed. */
static int
tell(const struct life *l, const char *where, const char *why,
	const char *done, const char *is)
{
	if (!why)
		return 0;
	if (*why)
		say(l, "%s: not %s: %s (the record follows)", where, done, why);
	else
		say(l, "%s: the record is %s", where, is);
	return *why;
}

/* Runs, keeps, shows. */
static void
once(struct life *l)
{
	const char *device = l->set_to[SAVE], *then = l->set_to[THEN];
	const char *log = l->set_to[LOG], *saved = NULL, *sent = NULL;
	double time = l->set_to[PAGES] ? decimal(l->set_to[PAGES], NULL) :
		!then || !strcmp(then, "wait") ? PAGE * l->con[0].tty : 0;
	int out = scratch(), rec = device || log ? scratch() : -1;
	int print = device && !strcmp(device, "-");
	size_t n = 0, size;
	char *text, *record;

	if ((device || log) && rec < 0)
		say(l, "no room for the record: here it is as it comes");
	run_suite(l, out, (device || log) && rec < 0 ? 2 : rec);
	record = contents(rec, &n);
	if (record && device && !print)
		saved = keep(l, save, device, record, n);
	if (record && log)
		sent = keep(l, post, log, record, n);
	if ((text = contents(out, &size)))
		pages(l, text, time);
	print |= tell(l, device, saved, "saved", "in " SAVED) |
		tell(l, log, sent, "sent", "sent");
	if (record && print)
		print_record(l, record, n);
	free(text);
	free(record);
	close(out);
	close(rec);
	if (WIFEXITED(l->status) && WEXITSTATUS(l->status) == USAGE &&
	    !l->unusable) {
		say(l, "so all is run, without options");
		l->unusable = 1;
		once(l);
	}
}

int
is_init(char **argv)
{
	static const char machine[] = "pid:[4026531836]";
	const char *name = argv[0] ? strrchr(argv[0], '/') : NULL;
	char ns[32];
	ssize_t n;

	if (getpid() != 1 || (argv[0] && argv[1] && argv[1][0] == '-'))
		return 0;
	name = name ? name + 1 : argv[0];
	n = readlink("/proc/self/ns/pid", ns, sizeof ns);
	return (name && !strcmp(name, "init")) || n < 0 ||
		((size_t)n == sizeof machine - 1 &&
		!memcmp(ns, machine, sizeof machine - 1));
}

int
init(char **words, int (*suite)(int, char **, int))
{
	struct life l = { .first = getpid() == 1, .suite = suite };
	static const int signals[] = {
		SIGCHLD, SIGIO, SIGINT, SIGTERM, SIGHUP, SIGPIPE
	};
	const char *then;
	enum event e;
	size_t i;

	sigemptyset(&l.set);
	for (i = 0; i < LEN(signals); i++)
		sigaddset(&l.set, signals[i]);
	sigprocmask(SIG_BLOCK, &l.set, &l.was);
	if (l.first)
		reboot(RB_DISABLE_CAD);         /* comes as SIGINT */
	mounts(&l);
	consoles(&l);
	say_missing(&l);
	raise_lo(&l);
	command_line(&l, words);
	for (;;) {
		once(&l);
		then = l.reboot ? "reboot" : l.set_to[THEN];
		if (!l.first && l.reboot)
			break;
		if (then && (*then == '/' || !strcmp(then, "halt") ||
		    !strcmp(then, "reboot") || !strcmp(then, "poweroff")))
			finish(&l, then);
		else if (then && strcmp(then, "wait"))
			say(&l, "bench.then=%s: no such end (wait halt reboot "
				"poweroff /program)", then);
		l.reboot = 0;
		say(&l, "Enter runs again");
		while ((e = await(&l, -1)) != ENTER && e != GONE && !l.reboot)
			;
		if (e == GONE || (!l.first && l.reboot))
			break;
		if (l.reboot)
			finish(&l, "reboot");
	}
	all_keys(&l, leave_keys);
	return WIFEXITED(l.status) ? WEXITSTATUS(l.status) : 1;
}
