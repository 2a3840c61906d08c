/*
 * faults.c - does page_fault_file read?  Where a page of a file is read the
 * kernel maps those around it too, where one is written it does not.  Counts
 * what is mapped, before it is dropped.  Silent when all is well.
 */
#include <sys/mman.h>

static int count_pages(void *p, size_t size, int advice);
#define madvise count_pages
#include "../sys_tests.c"
#undef madvise
#include "row.h"

const struct test x_tests[] = { { 0 } };
const struct test os_tests[] = { { 0 } };

/* Fails where not most of the pages are mapped; drops them. */
static int
count_pages(void *p, size_t size, int advice)
{
	size_t i, n = 0, page = getauxval(AT_PAGESZ);
	uint64_t entry;
	int fd = open("/proc/self/pagemap", O_RDONLY);

	for (i = 0; i < size / page; i++)
		if (pread(fd, &entry, sizeof entry, (off_t)(((uintptr_t)p /
		    page + i) * sizeof entry)) == sizeof entry)
			n += entry >> 63;
	close(fd);
	if (n < size / page / 2) {
		errno = ERANGE;
		return -1;
	}
	return madvise(p, size, advice);
}

int
main(void)
{
	struct result *r = results(1);
	const struct test *t = NULL;
	const char *why = "no such row";

	while (r && (t = next_test(t)))
		if (!strcmp(t->key, "page_fault_file"))
			why = run_row(t, r, 0.05);
	if (why)
		printf("page_fault_file: %s\n", why);
	return why != NULL;
}
