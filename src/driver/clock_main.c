/*
 * The clock probe: how fast the core really runs, and how steadily.
 *
 *   clock [WINDOWS WINDOW_MS]        default 21 windows of 50 ms
 *
 * What: counts user-mode cycles over windows of CLOCK_MONOTONIC_RAW time in which it only adds, after one
 * untimed window, and prints `clock_hz` (median), `clock_min_hz`, `clock_max_hz`, `clock_iqr_hz` and
 * `windows`, tab separated.
 * Does not know: which CPU it is pinned to, or what spread is acceptable.
 * Why: on machines without cpufreq the firmware sets the clock and nothing but counting shows it. Only
 * hardware cycles will do: the tick counter has a constant rate whatever the core does.
 *
 * Exit: 0; 1 output cannot be written; 2 usage, or no counter (then the only line is `clock_note`).
 */
#define _GNU_SOURCE 1
#include "counter.h"
#include "report.h"
#include "ticks.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_WINDOWS = 10000, MAX_WINDOW_MS = 60000, CHUNK = 10000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int window(struct counter *counter, uint64_t length_ns, double *hz, char *why)
{
    volatile unsigned long sum = 0;
    uint64_t cycles, start, elapsed;
    if (counter_start(counter, why) != 0)
        return -1;
    start = nanoseconds();
    do {
        int i;
        for (i = 0; i < CHUNK; i++)
            sum += (unsigned long)i;
        elapsed = nanoseconds() - start;
    } while (elapsed < length_ns);
    if (counter_stop(counter, &cycles, why) != 0)
        return -1;
    *hz = (double)cycles * 1e9 / (double)elapsed;
    return 0;
}

int main(int argc, char **argv)
{
    unsigned long long windows = 21, milliseconds = 50, i;
    struct counter counter;
    char why[COUNTER_TEXT];
    double *hz;

    if ((argc != 1 && argc != 3) ||
        (argc == 3 && (report_number(argv[1], MAX_WINDOWS, &windows) != 0 || windows == 0 ||
                       report_number(argv[2], MAX_WINDOW_MS, &milliseconds) != 0 || milliseconds == 0))) {
        fprintf(stderr, "usage: clock [WINDOWS WINDOW_MS]\n");
        return 2;
    }
    if (counter_open(&counter, COUNTER_WANT_HW) != 0) {
        printf("clock_note\t%s\n", counter.note);
        return 2;
    }
    hz = calloc((size_t)windows, sizeof hz[0]);
    if (hz == NULL || window(&counter, milliseconds * 1000000u, &hz[0], why) != 0)
        goto no_counter;
    for (i = 0; i < windows; i++)
        if (window(&counter, milliseconds * 1000000u, &hz[i], why) != 0)
            goto no_counter;
    qsort(hz, (size_t)windows, sizeof hz[0], ascending);
    printf("clock_hz\t%.0f\n", hz[windows / 2]);
    printf("clock_min_hz\t%.0f\n", hz[0]);
    printf("clock_max_hz\t%.0f\n", hz[windows - 1]);
    printf("clock_iqr_hz\t%.0f\n", hz[3 * windows / 4] - hz[windows / 4]);
    printf("windows\t%llu\n", windows);
    free(hz);
    return fflush(stdout) == 0 ? 0 : 1;

no_counter:
    printf("clock_note\t%s\n", hz == NULL ? "out of memory" : why);
    free(hz);
    return 2;
}
