/*
 * What hashprof.c, linked into a profiled instance library, exports to the profiling driver.
 *
 * Private to the two: no other program resolves these names. See hashprof.c for the reasons.
 */
#ifndef NGCC_DRIVER_HASHPROF_H
#define NGCC_DRIVER_HASHPROF_H

#include <stdint.h>

struct ngcc_prof_line {
    const char *function; /* "pseudohash", "pseudoXOF", "sm3hash" or "drng" */
    uint64_t in_bits, out_bits, calls, ticks;
};

void ngcc_prof_reset(void);
void ngcc_prof_on(int on);
unsigned ngcc_prof_row_count(void);
int ngcc_prof_row(unsigned index, struct ngcc_prof_line *line); /* 0, or -1 beyond the last */
uint64_t ngcc_prof_overflow_count(void);

/* The functions wrapped in this build, joined by commas. Empty: nothing can be seen. */
const char *ngcc_prof_wrapped(void);

/* Ticks that a wrapped call adds: `booked` to its own row, `total` to the caller. Resets the table. */
void ngcc_prof_cost(double *booked, double *total);

#endif
