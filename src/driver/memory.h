/*
 * The memory of this process as the kernel counts it.
 *
 * Does not know: what uses it. See memory.c for the reasons.
 */
#ifndef NGCC_DRIVER_MEMORY_H
#define NGCC_DRIVER_MEMORY_H

#include <stddef.h>

/* Resident bytes now (/proc/self/statm), and at their highest (VmHWM). 0 when unknown. */
unsigned long long memory_resident(void);
unsigned long long memory_peak(void);

/* Whole pages, all of them resident from the start, none of them huge. NULL on failure. */
void *memory_pages(size_t bytes, size_t *allocated);

#endif
