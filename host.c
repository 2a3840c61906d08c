/*
 * host.c - facts about the machine, its kernel and this run.
 *
 * Nearly all of them are a line of a small file in /proc or /sys.  Each of
 * these files may be missing, forbidden, empty or odd; what cannot be had
 * is then left out of the record, silently.  The table of facts stands at
 * the foot, under the functions that get them.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

#include "bench.h"

#if defined __clang__
#define COMPILER __VERSION__    /* which names it */
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifndef BUILD
#define BUILD "unknown"
#endif
#ifndef VERSION
#define VERSION "unknown"
#endif

#define NONE UINT64_MAX         /* no such number, no limit */
#define CPU "/sys/devices/system/cpu"

/* bytes of a text and its end: what is looked at of any file */
enum { TEXT = 8192 };

/* --- files --------------------------------------------------------------- */

/*
 * Reads dir/file into s, TEXT bytes, without the white space at its end.
 * Returns whether there is anything.
 */
static int
slurp(char *s, const char *dir, const char *file)
{
	char path[TEXT];
	size_t n = 0;
	ssize_t got;
	int fd;

	if (snprintf(path, sizeof path, "%s/%s", dir, file) >= TEXT)
		return 0;
	/* what should be a file may be a fifo: do not wait for it */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	while (n < TEXT - 1 && (got = read(fd, s + n, TEXT - 1 - n)) > 0)
		n += got;
	close(fd);
	while (n > 0 && isspace((unsigned char)s[n - 1]))
		n--;
	s[n] = '\0';
	return *s != '\0';
}

/* Cuts the line at *rest off, and moves *rest to the next, or NULL. */
static char *
cut_line(char **rest)
{
	char *line = *rest, *end = strchr(line, '\n');

	if (end)
		*end++ = '\0';
	*rest = end;
	return line;
}

/*
 * Reads the value of the first line `key: value' or `key number' into s.
 * Returns whether there is one.
 */
static int
lookup(char *s, const char *dir, const char *file, const char *key)
{
	size_t n = strlen(key);
	char *line, *rest = s, *value;

	if (!slurp(s, dir, file))
		return 0;
	while (rest) {
		line = cut_line(&rest);
		if (strncmp(line, key, n) != 0)
			continue;
		value = line + n + strspn(line + n, " \t");
		if (*value == ':')
			value += 1 + strspn(value + 1, " \t");
		else if (value == line + n || !isdigit((unsigned char)*value))
			continue;
		memmove(s, value, strlen(value) + 1);
		return *s != '\0';
	}
	return 0;
}

/* The number at the start of s, or NONE. */
static uint64_t
number(const char *s)
{
	return isdigit((unsigned char)*s) ? strtoull(s, NULL, 10) : NONE;
}

static uint64_t
number_in(const char *dir, const char *file)
{
	char s[TEXT];

	return slurp(s, dir, file) ? number(s) : NONE;
}

/* --- CPUs ---------------------------------------------------------------- */

/* room for 65,536 CPUs; a kernel can be built for 8,192 */
enum { SETS = 64 };

/*
 * The CPUs we may run on, all of them online.  Returns how many, or 0 with
 * CPU 0 in the set where that is not known.
 */
static int
allowed(cpu_set_t *set)
{
	size_t size = SETS * sizeof *set;

	CPU_ZERO_S(size, set);
	if (sched_getaffinity(0, size, set) == 0)
		return CPU_COUNT_S(size, set);
	CPU_SET_S(0, size, set);
	return 0;
}

/* The first of them from cpu on, or -1. */
static int
next_cpu(const cpu_set_t *set, int cpu)
{
	for (; cpu < SETS * CPU_SETSIZE; cpu++)
		if (CPU_ISSET_S(cpu, SETS * sizeof *set, set))
			return cpu;
	return -1;
}

/* How many CPUs a list such as 0-3,5 names; 0: it is none. */
static long
count_list(const char *s)
{
	long from, to, n = 0;
	char *end;

	do {
		from = to = strtol(s, &end, 10);
		if (end == s)
			return 0;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (from < 0 || to < from || to >= SETS * CPU_SETSIZE)
			return 0;
		n += to - from + 1;
		s = end + 1;
	} while (*end == ',');
	return n;
}

static int
cpus(char *s, const char *file)
{
	cpu_set_t set[SETS];
	int n = allowed(set);
	long online = slurp(s, CPU, file) ? count_list(s) : 0;

	*s = '\0';
	join(s, TEXT, n ? "%d/" : "unknown/", n);
	join(s, TEXT, online ? "%ld" : "unknown", online);
	return n || online;
}

/* The least of a class: some turn a little faster than others like them. */
static uint64_t
fastest(uint64_t high)
{
	return high - high / 16;
}

/* A file of the first CPU that has it. */
static int
cpu_file(char *s, const char *file)
{
	char dir[64];
	cpu_set_t set[SETS];
	int cpu;

	allowed(set);
	for (cpu = 0; (cpu = next_cpu(set, cpu)) >= 0; cpu++) {
		snprintf(dir, sizeof dir, CPU "/cpu%d", cpu);
		if (slurp(s, dir, file))
			return 1;
	}
	return 0;
}

/* How CPUs that are not alike differ: the first of these that tells. */
static const struct {
	const char *file, *name, *unit;
	unsigned scale;
} classes[] = {
	{ "cpu_capacity",             "capacity ", "",     1 },
	{ "cpufreq/cpuinfo_max_freq", "",          " MHz", 1000 },
};

/* By which of classes[] all CPUs of a set can be told apart, or -1. */
static int
class_file(const cpu_set_t *set, uint64_t *low, uint64_t *high)
{
	char dir[64];
	uint64_t v;
	size_t i;
	int cpu;

	for (i = 0; i < LEN(classes); i++) {
		*low = NONE, *high = 0;
		for (cpu = 0; (cpu = next_cpu(set, cpu)) >= 0; cpu++) {
			snprintf(dir, sizeof dir, CPU "/cpu%d", cpu);
			if ((v = number_in(dir, classes[i].file)) == NONE)
				break;
			*low = v < *low ? v : *low;
			*high = v > *high ? v : *high;
		}
		if (cpu < 0 && *low < fastest(*high))
			return (int)i;
	}
	return -1;
}

void
fast_cpus(unsigned long cpus[CPUWORDS])
{
	cpu_set_t set[SETS];
	uint64_t low, high;
	char dir[64];
	int cpu, class;

	allowed(set);
	class = class_file(set, &low, &high);
	for (cpu = 0; class >= 0 && (cpu = next_cpu(set, cpu)) >= 0; cpu++) {
		snprintf(dir, sizeof dir, CPU "/cpu%d", cpu);
		if (number_in(dir, classes[class].file) < fastest(high))
			CPU_CLR_S(cpu, sizeof set, set);
	}
	memcpy(cpus, set, sizeof set);
}

/* The class that is measured on, where there are several. */
static int
core(char *s, const char *unused)
{
	cpu_set_t set[SETS], fast[SETS];
	uint64_t low, high;
	int i;

	(void)unused;
	allowed(set);
	if ((i = class_file(set, &low, &high)) < 0)
		return 0;
	fast_cpus((unsigned long *)fast);
	snprintf(s, TEXT, "on the %d fastest (%s%llu%s, others from %llu)",
	    CPU_COUNT_S(sizeof fast, fast), classes[i].name,
	    (unsigned long long)high / classes[i].scale, classes[i].unit,
	    (unsigned long long)low / classes[i].scale);
	return 1;
}

/*
 * MHz of the fastest CPU; without cpufreq, which virtual machines lack,
 * what /proc/cpuinfo names, which is then the clock of the time stamps.
 */
static int
mhz_max(char *s, const char *file)
{
	char dir[64];
	cpu_set_t set[SETS];
	uint64_t khz, most = 0;
	int cpu;

	allowed(set);
	for (cpu = 0; (cpu = next_cpu(set, cpu)) >= 0; cpu++) {
		snprintf(dir, sizeof dir, CPU "/cpu%d", cpu);
		khz = number_in(dir, file);
		if (khz != NONE && khz > most)
			most = khz;
	}
	if (most > 0) {
		snprintf(s, TEXT, "%llu", (unsigned long long)most / 1000);
		return 1;
	}
	if (!lookup(s, "/proc", "cpuinfo", "cpu MHz"))
		return 0;
	s[strcspn(s, ".")] = '\0';
	return *s != '\0';
}

#if defined __x86_64__ || defined __i386__
/* The name that the CPU gives itself; 0 where it is too old for one. */
static int
cpuid_model(char *s)
{
	unsigned r[12] = { 0 };
	unsigned i;

	for (i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002 + i, &r[4 * i], &r[4 * i + 1],
		    &r[4 * i + 2], &r[4 * i + 3]))
			return 0;
	memcpy(s, r, sizeof r);
	s[sizeof r] = '\0';
	return *s != '\0';
}

/*
 * Leaf 1: does a hypervisor run this CPU?  Leaf 0x40000000, which exists
 * only then: its name.  Returns -1 where the CPU cannot tell.
 */
static int
cpuid_virt(char *s)
{
	unsigned a, b, c, d, name[3];

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return -1;
	if (!(c & 1u << 31))
		return 0;
	__cpuid(0x40000000, a, name[0], name[1], name[2]);
	memcpy(s, name, sizeof name);
	s[sizeof name] = '\0';
	if (*s == '\0')
		strcpy(s, "unnamed");
	return 1;
}

/*
 * Bytes of the largest cache of data: leaf 4 (Intel) and 0x8000001D (AMD)
 * list the caches in one form; 0x80000006 is what came before.
 */
static size_t
cpuid_cache(void)
{
	static const unsigned leaves[] = { 4, 0x8000001d };
	unsigned a, b, c, d, i, j;
	size_t size, most = 0;

	for (i = 0; i < LEN(leaves); i++)
		for (j = 0; j < 16; j++) {
			if (!__get_cpuid_count(leaves[i], j, &a, &b, &c, &d)
			    || (a & 31) == 0)
				break;
			if ((a & 31) == 2)      /* instructions */
				continue;
			size = (size_t)(b >> 22) + 1;   /* ways */
			size *= (b >> 12 & 0x3ff) + 1;  /* partitions */
			size *= (b & 0xfff) + 1;        /* line */
			size *= (size_t)c + 1;          /* sets */
			if (size > most)
				most = size;
		}
	if (most == 0 && __get_cpuid(0x80000006, &a, &b, &c, &d)) {
		most = (size_t)(d >> 18) << 19;         /* L3 */
		if (most == 0)
			most = (size_t)(c >> 16) << 10; /* L2 */
	}
	return most;
}
#else
static int
cpuid_model(char *s)
{
	(void)s;
	return 0;
}

static int
cpuid_virt(char *s)
{
	(void)s;
	return -1;
}

static size_t
cpuid_cache(void)
{
	return 0;
}
#endif

/* Names are padded: leaves one blank between words, none at the ends. */
static void
squeeze(char *s)
{
	char *to = s;

	s += strspn(s, " ");
	for (; *s; s++)
		if (*s != ' ' || (s[1] != ' ' && s[1] != '\0'))
			*to++ = *s;
	*to = '\0';
}

/*
 * The model: as the CPU says, as the kernel says (x86 and MIPS, POWER), or
 * the board's name with ARM's numbers for the core.
 */
static int
cpu_model(char *s, const char *file)
{
	static const char *const keys[] = { "model name", "cpu model", "cpu" };
	char t[TEXT];
	size_t i;

	if (cpuid_model(s)) {
		squeeze(s);
		return 1;
	}
	for (i = 0; i < LEN(keys); i++)
		if (lookup(s, "/proc", file, keys[i]))
			return 1;
	if (!slurp(s, "/proc/device-tree", "model")
	    && !lookup(s, "/proc", file, "Model")
	    && !lookup(s, "/proc", file, "Hardware"))
		*s = '\0';
	if (lookup(t, "/proc", file, "CPU implementer"))
		join(s, TEXT, "%simplementer %s", *s ? ", " : "", t);
	if (lookup(t, "/proc", file, "CPU part"))
		join(s, TEXT, "%spart %s", *s ? " " : "", t);
	return *s != '\0';
}

size_t
cache_size(void)
{
	char s[TEXT], dir[80];
	cpu_set_t set[SETS];
	uint64_t size, most = 0;
	int cpu, i;

	allowed(set);
	for (cpu = 0; !most && (cpu = next_cpu(set, cpu)) >= 0; cpu++)
		for (i = 0; i < 16; i++) {
			snprintf(dir, sizeof dir, CPU "/cpu%d/cache/index%d",
			    cpu, i);
			if (!slurp(s, dir, "type"))
				break;
			size = number_in(dir, "size");          /* 32K */
			if (*s != 'I' && size != NONE && size > most)
				most = size;
		}
	if (most == 0)
		return cpuid_cache();
	return most < SIZE_MAX >> 10 ? most << 10 : SIZE_MAX;
}

size_t
sysfs_cache(unsigned level, const char *what)
{
	char s[TEXT], dir[80];
	cpu_set_t set[SETS];
	uint64_t v;
	int i;

	allowed(set);
	for (i = 0; i < 16; i++) {
		snprintf(dir, sizeof dir, CPU "/cpu%d/cache/index%d",
		    next_cpu(set, 0), i);
		if (!slurp(s, dir, "type"))
			break;
		if (*s != 'I' && number_in(dir, "level") == level) {
			v = number_in(dir, what);
			return v == NONE ? 0 : (size_t)v;
		}
	}
	return 0;
}

/* --- kernel -------------------------------------------------------------- */

static int
uname_part(char *s, const char *part)
{
	struct utsname u;

	if (uname(&u) != 0)
		return 0;
	if (*part == 'h')
		snprintf(s, TEXT, "%s", u.nodename);
	else if (*part == 'k')
		snprintf(s, TEXT, "%s %s", u.sysname, u.release);
	else
		snprintf(s, TEXT, "%s", u.machine);
	return *s != '\0';
}

static int
date(char *s, const char *unused)
{
	time_t t = time(NULL);
	struct tm tm;

	(void)unused;
	if (!gmtime_r(&t, &tm))
		return 0;
	snprintf(s, TEXT, "%d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	return 1;
}

static int
literal(char *s, const char *text)
{
	snprintf(s, TEXT, "%s", text);
	return 1;
}

static int
page(char *s, const char *unused)
{
	(void)unused;
	snprintf(s, TEXT, "%lu", getauxval(AT_PAGESZ));
	return 1;
}

static int
sys_file(char *s, const char *file)
{
	return slurp(s, "/sys", file);
}

/* The chosen one of `always [madvise] never'. */
static int
chosen(char *s, const char *file)
{
	char t[TEXT], *from, *to;

	if (!slurp(t, "/sys", file) || !(from = strchr(t, '[')))
		return 0;
	if ((to = strchr(++from, ']')))
		*to = '\0';
	snprintf(s, TEXT, "%s", from);
	return *s != '\0';
}

/* The vulnerabilities whose files begin with a word. */
static void
append_group(char *s, const char *title, const char *word, const char *dir)
{
	struct dirent **e;
	int i, n, found = 0;
	char t[TEXT];
	const char *p;

	n = scandir(dir, &e, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (e[i]->d_name[0] != '.' && slurp(t, dir, e[i]->d_name)) {
			p = strncmp(t, "KVM: ", 5) ? t : t + 5;
			if (strncmp(p, word, strlen(word)) == 0)
				join(s, TEXT, "%s %s", found++ ? "" : title,
				    e[i]->d_name);
		}
		free(e[i]);
	}
	if (n >= 0)
		free(e);
	if (found)
		join(s, TEXT, "; ");
}

/*
 * By name which weaknesses of the CPU are open and which cost time; those
 * it does not have are not named.  Then what the command line asked for.
 */
static int
mitigations(char *s, const char *dir)
{
	static const char option[] = "mitigations=";
	char t[TEXT], *p;
	int n;

	*s = '\0';
	append_group(s, "vulnerable:", "Vulnerable", dir);
	append_group(s, "unknown:", "Unknown", dir);
	append_group(s, "mitigated:", "Mitigation", dir);
	if (*s == '\0' && slurp(t, dir, "meltdown"))
		join(s, TEXT, "none needed; ");
	p = slurp(t, "/proc", "cmdline") ? t : NULL;
	for (; p && (p = strstr(p, option)); p += n) {
		n = strcspn(p, " ");
		if (p == t || p[-1] == ' ')
			join(s, TEXT, "%.*s; ", n, p);
	}
	if (*s == '\0')
		return 0;
	s[strlen(s) - 2] = '\0';
	return 1;
}

/* Filters cost time at every system call: says how many there are. */
static int
seccomp(char *s, const char *file)
{
	static const char *const modes[] = { "off", "strict", "filter" };
	char t[TEXT];
	uint64_t mode;

	if (lookup(t, "/proc", file, "Seccomp"))
		mode = number(t);
	else
		mode = prctl(PR_GET_SECCOMP);           /* -1: not known */
	if (mode >= LEN(modes))
		return 0;
	snprintf(s, TEXT, "%s", modes[mode]);
	if (mode == 2 && lookup(t, "/proc", file, "Seccomp_filters"))
		join(s, TEXT, " %s", t);
	return 1;
}

/*
 * The hypervisor: as the CPU says, else Xen's files, the device tree, the
 * firmware's names.  `none' only where something was there to ask.
 */
static int
virt(char *s, const char *dmi)
{
	static const char *const names[] = { "QEMU", "KVM", "VMware",
		"VirtualBox", "HVM domU", "Virtual Machine", "BHYVE" };
	static const char *const files[] = { "product_name", "sys_vendor" };
	size_t i, j;
	int known = cpuid_virt(s) + 1;

	if (known == 2 || slurp(s, "/sys/hypervisor", "type")
	    || slurp(s, "/proc/device-tree/hypervisor", "compatible"))
		return 1;
	if (access("/proc/xen", F_OK) == 0)
		return literal(s, "xen");
	for (i = 0; i < LEN(files); i++) {
		if (!slurp(s, dmi, files[i]))
			continue;
		for (j = 0; j < LEN(names); j++)
			if (strstr(s, names[j]))
				return 1;
		known = 1;
	}
	if (!known && !slurp(s, "/proc/device-tree", "model"))
		return 0;
	return literal(s, "none");
}

/* --- memory -------------------------------------------------------------- */

/*
 * A line of /proc/meminfo in kB, or NONE.  Kernels before 3.14 do not name
 * what is available: free memory and buffers are the part of it that is
 * sure (the page cache may be the very file system we run from).
 */
static uint64_t
meminfo(const char *key)
{
	char s[TEXT];
	struct sysinfo info;
	uint64_t units;

	if (lookup(s, "/proc", "meminfo", key))
		return number(s);
	if (sysinfo(&info) != 0)
		return NONE;
	if (strcmp(key, "MemTotal") == 0)
		units = info.totalram;
	else
		units = (uint64_t)info.freeram + info.bufferram;
	return units * info.mem_unit / 1024;
}

static int
memory(char *s, const char *key)
{
	uint64_t kb = meminfo(key);

	snprintf(s, TEXT, "%llu kB", (unsigned long long)kb);
	return kb != NONE;
}

/* --- control groups ------------------------------------------------------ */

/*
 * The files of a limit in a group's directory.  Version 2 has no
 * controller's name in /proc/self/cgroup.
 */
struct limit {
	const char *controller;
	const char *max;
	const char *used;       /* bytes used; microseconds of a period */
	const char *cache;      /* the part of it that is given up on demand */
};

static const struct limit memory_limits[] = {
	{ "", "memory.max", "memory.current", "inactive_file" },
	{ "", "memory.high", "memory.current", "inactive_file" },
	{ "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	  "total_inactive_file" },
};

static const struct limit cpu_limits[] = {
	{ "", "cpu.max", NULL, NULL },
	{ "cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", NULL },
};

/* Is the name one of a list such as cpu,cpuacct? */
static int
listed(const char *list, const char *name)
{
	size_t n;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (n == strlen(name) && strncmp(list, name, n) == 0)
			return 1;
		if (list[n] == '\0')
			return 0;
	}
}

/*
 * The directory of our own group, TEXT bytes, where they are usually
 * mounted.  Returns the length of its part that is the root of them all.
 */
static size_t
own_group(char *dir, const char *controller)
{
	char s[TEXT], *names, *path, *rest = s;
	size_t top;

	*dir = '\0';
	join(dir, TEXT, "/sys/fs/cgroup%s%s", *controller ? "/" : "",
		controller);
	top = strlen(dir);
	if (!slurp(s, "/proc/self", "cgroup"))
		return top;
	while (rest) {                  /* number:controller,...:/path */
		names = strchr(cut_line(&rest), ':');
		if (!names || !(path = strchr(++names, ':')))
			continue;
		*path++ = '\0';
		if (*path == '/' && listed(names, controller)) {
			join(dir, TEXT, "%s", path);
			break;
		}
	}
	return top;
}

static uint64_t
memory_max(const char *dir, const struct limit *l)
{
	return number_in(dir, l->max);
}

/* Bytes of the limit that are not used or would be given up. */
static uint64_t
memory_left(const char *dir, const struct limit *l)
{
	char s[TEXT];
	uint64_t max = number_in(dir, l->max), used, cache;

	if (max == NONE || (used = number_in(dir, l->used)) == NONE)
		return max;
	cache = lookup(s, dir, "memory.stat", l->cache) ? number(s) : 0;
	used -= cache < used ? cache : used;
	return used < max ? max - used : 0;
}

/* Hundredths of a CPU.  Version 2: `quota period' in one file. */
static uint64_t
cpu_max(const char *dir, const struct limit *l)
{
	char s[TEXT], *end;
	uint64_t quota, period;

	if (!slurp(s, dir, l->max) || (quota = number(s)) == NONE)
		return NONE;
	end = s + strspn(s, "0123456789");
	period = l->used ? number_in(dir, l->used)
	    : number(end + strspn(end, " "));
	if (period == 0 || period == NONE)
		return NONE;
	return quota * 100 / period;
}

/* The least that our group and its parents allow, or NONE. */
static uint64_t
least(const struct limit *l, size_t n,
    uint64_t (*level)(const char *, const struct limit *))
{
	char dir[TEXT], *up;
	uint64_t v, low = NONE;
	size_t top;

	for (; n-- > 0; l++) {
		top = own_group(dir, l->controller);
		for (;;) {
			v = level(dir, l);
			if (v < low)
				low = v;
			up = strrchr(dir, '/');
			if (!up || (size_t)(up - dir) < top)
				break;
			*up = '\0';
		}
	}
	return low;
}

/* Version 1 says a huge number for none: at least the machine's memory. */
static int
cgroup_memory(char *s, const char *total)
{
	uint64_t max = least(memory_limits, LEN(memory_limits), memory_max);

	snprintf(s, TEXT, "%llu kB", (unsigned long long)max / 1024);
	return max != NONE && max / 1024 < meminfo(total);
}

static int
cgroup_cpus(char *s, const char *unused)
{
	uint64_t n = least(cpu_limits, LEN(cpu_limits), cpu_max);

	(void)unused;
	snprintf(s, TEXT, "%.2f", n / 100.0);
	return n != NONE;
}

size_t
memory_limit(void)
{
	static const int limits[] = { RLIMIT_AS, RLIMIT_DATA };
	uint64_t kb = meminfo("MemAvailable"), low, v;
	struct rlimit r;
	size_t i;

	/* nothing known: what even a small machine can give */
	low = kb == NONE ? 16 << 20 : kb * 1024;
	v = least(memory_limits, LEN(memory_limits), memory_left);
	if (v < low)
		low = v;
	for (i = 0; i < LEN(limits); i++)
		if (getrlimit(limits[i], &r) == 0
		    && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < low)
			low = r.rlim_cur;
	low /= 4;
	if (low > SIZE_MAX / 4)
		return SIZE_MAX / 4;
	return low > 1 << 20 ? low : 1 << 20;
}

/* --- table --------------------------------------------------------------- */

/* get() leaves the fact in TEXT bytes and returns whether there is one. */
static const struct {
	const char *name;
	int (*get)(char *, const char *);
	const char *arg;
} facts[] = {
	{ "host",          uname_part,    "host" },
	{ "kernel",        uname_part,    "kernel" },
	{ "machine",       uname_part,    "machine" },
	{ "date",          date,          NULL },
	{ "cpu",           cpu_model,     "cpuinfo" },
	{ "cpus",          cpus,          "online" },
	{ "core",          core,          NULL },
	{ "cpus_isolated", sys_file,      "devices/system/cpu/isolated" },
	{ "cpus_offline",  sys_file,      "devices/system/cpu/offline" },
	{ "mhz_max",       mhz_max,       "cpufreq/cpuinfo_max_freq" },
	{ "governor",      cpu_file,      "cpufreq/scaling_governor" },
	{ "clocksource",   sys_file,
	  "devices/system/clocksource/clocksource0/current_clocksource" },
	{ "page",          page,          NULL },
	{ "mem_total",     memory,        "MemTotal" },
	{ "mem_available", memory,        "MemAvailable" },
	{ "cgroup_memory", cgroup_memory, "MemTotal" },
	{ "cgroup_cpus",   cgroup_cpus,   NULL },
	{ "thp",           chosen,  "kernel/mm/transparent_hugepage/enabled" },
	{ "mitigations",   mitigations,   CPU "/vulnerabilities" },
	{ "spectre_v2",    sys_file,
	  "devices/system/cpu/vulnerabilities/spectre_v2" },
	{ "seccomp",       seccomp,       "self/status" },
	{ "virt",          virt,          "/sys/class/dmi/id" },
	{ "version",       literal,       VERSION },
	{ "build",         literal,       COMPILER " " BUILD },
};

void
host_facts(struct record *r, double cost)
{
	char s[TEXT];
	size_t i;

	for (i = 0; i < LEN(facts); i++)
		if (facts[i].get(s, facts[i].arg))
			record_fact(r, facts[i].name, "%s", s);
	if (cost >= 0)
		record_fact(r, "clock_ns", "%.1f", cost * 1e9);
}
