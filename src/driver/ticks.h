/*
 * The clocks: monotonic nanoseconds, CPU time of the thread, and the constant-rate tick counter of the CPU.
 *
 * What: inline readers and the name of the tick source, chosen at compile time.
 * Does not know: rates. They are measured (counter.c) or read from the CPU by whoever needs them.
 * Why inline: a call costs as much as the reading. Ticks are not cycles: both x86 and AArch64 count at a
 * constant rate whatever the core clock does, so nothing here is ever printed under "cycles".
 */
#ifndef NGCC_DRIVER_TICKS_H
#define NGCC_DRIVER_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#if defined(__x86_64__) || defined(__i386__)

#define TICK_SOURCE "tsc"

static inline uint64_t ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* Waits until everything before has finished, and holds back everything after. */
static inline uint64_t ticks_fenced(void)
{
    uint64_t now;
    __asm__ __volatile__("lfence" ::: "memory");
    now = __builtin_ia32_rdtsc();
    __asm__ __volatile__("lfence" ::: "memory");
    return now;
}

#elif defined(__aarch64__)

#define TICK_SOURCE "cntvct"

static inline uint64_t ticks(void)
{
    uint64_t now;
    __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0" : "=r"(now)::"memory");
    return now;
}

static inline uint64_t ticks_fenced(void)
{
    uint64_t now = ticks();
    __asm__ __volatile__("isb" ::: "memory");
    return now;
}

#else

#define TICK_SOURCE "clock_gettime"

static inline uint64_t ticks(void)
{
    return nanoseconds();
}

static inline uint64_t ticks_fenced(void)
{
    return nanoseconds();
}

#endif

#endif
