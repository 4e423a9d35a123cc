/*
 * The best cycle or tick counter this process can have.
 *
 * Does not know: what is counted. See counter.c for the reasons.
 */
#ifndef NGCC_DRIVER_COUNTER_H
#define NGCC_DRIVER_COUNTER_H

#include <stdint.h>

#define COUNTER_TEXT 256

enum counter_wish { COUNTER_AUTO, COUNTER_WANT_HW, COUNTER_WANT_TICKS, COUNTER_WANT_NONE };
enum counter_kind { COUNTER_NONE, COUNTER_HW, COUNTER_TICKS };

struct counter {
    enum counter_kind kind;
    const char *source;      /* "hw-cycles", "tsc", "cntvct" or "none" */
    char note[COUNTER_TEXT]; /* why hardware cycles are not counted; "-" when they are */
    uint64_t tick_hz;        /* of ticks; 0 for hardware cycles and none */
    int fd;
    uint64_t start;
    uint64_t enabled, running; /* totals at the last stop: RESET clears the count but not the times */
};

/* 0 for an unknown word. */
int counter_wish(const char *word, enum counter_wish *wish);

/* Opens a counter; -1 when the one asked for by name is not to be had (see note). */
int counter_open(struct counter *counter, enum counter_wish wish);

/* Counts from start to stop. -1 when the count cannot be trusted, with the reason. */
int counter_start(struct counter *counter, char *why);
int counter_stop(struct counter *counter, uint64_t *count, char *why);

/* What an empty operation reads: the median of several. */
int counter_empty(struct counter *counter, uint64_t *count, char *why);

/* Ticks per second, measured against CLOCK_MONOTONIC_RAW for `milliseconds`; the CPU's word on AArch64. */
uint64_t tick_rate(unsigned milliseconds);

#endif
