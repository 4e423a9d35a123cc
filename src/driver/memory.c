/*
 * The memory of this process as the kernel counts it.
 *
 * What: resident size now and at its peak, and pages whose cost is known exactly.
 * Does not know: what uses the memory.
 * Why: read from /proc and not from getrusage, whose maximum survives exec and so may be the parent's.
 * Files are read without stdio because a buffer would be part of what is measured. The sample buffer is
 * made of touched small pages so that it counts the same in baseline and peak and can be subtracted.
 */
#define _GNU_SOURCE 1
#include "memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int read_text(const char *path, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while (used + 1 < size && (n = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)n;
    close(fd);
    text[used] = '\0';
    return n < 0 ? -1 : 0;
}

unsigned long long memory_resident(void)
{
    char text[256];
    unsigned long long total, resident;
    if (read_text("/proc/self/statm", text, sizeof text) != 0 ||
        sscanf(text, "%llu %llu", &total, &resident) != 2)
        return 0;
    return resident * (unsigned long long)sysconf(_SC_PAGESIZE);
}

unsigned long long memory_peak(void)
{
    char text[8192];
    const char *line;
    unsigned long long kib;
    if (read_text("/proc/self/status", text, sizeof text) != 0)
        return 0;
    line = strstr(text, "\nVmHWM:");
    if (line == NULL || sscanf(line, "\nVmHWM: %llu kB", &kib) != 1)
        return 0;
    return kib * 1024;
}

void *memory_pages(size_t bytes, size_t *allocated)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (bytes + page - 1) / page * page;
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise(pages, size, MADV_NOHUGEPAGE);
    memset(pages, 1, size); /* zeroes might be served by the shared zero page */
    *allocated = size;
    return pages;
}
