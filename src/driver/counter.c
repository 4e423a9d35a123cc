/*
 * The best cycle or tick counter this process can have.
 *
 * What: opens the user-mode hardware cycle counter through perf_event_open, else falls back to the
 * constant-rate tick counter, else to none, and keeps the reason in words.
 * Does not know: what is counted, or how often.
 * Why: ticks are not cycles, so the source travels with every count. The enabled and running times are
 * read with each count: a counter that had to share the hardware is scaled guesswork, and one that never
 * ran (an event of the other core type of a hybrid CPU) reads 0; both are failures here, not numbers.
 */
#define _GNU_SOURCE 1
#include "counter.h"

#include "ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

int counter_wish(const char *word, enum counter_wish *wish)
{
    static const char *const words[] = {"auto", "hw", "tsc", "none"};
    int i;
    for (i = 0; i < 4; i++) {
        if (strcmp(word, words[i]) == 0) {
            *wish = (enum counter_wish)i;
            return 1;
        }
    }
    return 0;
}

static void explain_errno(int error, char *note)
{
    static const struct {
        int error;
        const char *text;
    } reasons[] = {
        {EACCES, "EACCES: not permitted (kernel.perf_event_paranoid must be 2 or lower)"},
        {EPERM, "EPERM: not permitted (perf_event_paranoid, or a container that forbids perf_event_open)"},
        {ENOENT, "ENOENT: no hardware counter (virtual machine without PMU)"},
        {ENODEV, "ENODEV: no hardware counter on this CPU"},
        {EOPNOTSUPP, "EOPNOTSUPP: the PMU does not support this event with the kernel excluded"},
        {EMFILE, "EMFILE: too many open files"},
        {ENOSYS, "ENOSYS: the kernel has no perf events"},
        {EINVAL, "EINVAL: the kernel refuses these event attributes"},
        {EBUSY, "EBUSY: another event holds the PMU"},
    };
    size_t i;
    for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].error == error) {
            snprintf(note, COUNTER_TEXT, "%s", reasons[i].text);
            return;
        }
    }
    snprintf(note, COUNTER_TEXT, "errno %d: %s", error, strerror(error));
}

/* Without stdio, whose buffers would show in the memory being measured. */
static int read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? 0 : -1;
}

/* Is `cpu` in a list such as "0-7,16"? */
static int in_list(const char *list, long cpu)
{
    for (;;) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (end == list)
            return 0;
        if (*end == '-') {
            const char *rest = end + 1;
            last = strtol(rest, &end, 10);
            if (end == rest)
                return 0;
        }
        if (first <= cpu && cpu <= last)
            return 1;
        if (*end != ',')
            return 0;
        list = end + 1;
    }
}

/* On a hybrid Intel CPU each core type has its own PMU: its number goes into the upper half of config. */
static uint64_t hybrid_pmu(void)
{
    static const char *const pmus[] = {"cpu_core", "cpu_atom"};
    int i, cpu = sched_getcpu();
    for (i = 0; i < 2; i++) {
        char path[64], text[256];
        snprintf(path, sizeof path, "/sys/devices/%s/cpus", pmus[i]);
        if (read_text(path, text, sizeof text) != 0 || !in_list(text, cpu))
            continue;
        snprintf(path, sizeof path, "/sys/devices/%s/type", pmus[i]);
        if (read_text(path, text, sizeof text) == 0)
            return (uint64_t)strtoul(text, NULL, 10) << 32;
    }
    return 0;
}

static int open_hw(struct counter *counter)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = PERF_COUNT_HW_CPU_CYCLES | hybrid_pmu();
    attr.disabled = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    counter->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0ul);
    if (counter->fd < 0) {
        explain_errno(errno, counter->note);
        return -1;
    }
    counter->kind = COUNTER_HW;
    counter->source = "hw-cycles";
    snprintf(counter->note, sizeof counter->note, "-");
    return 0;
}

static int constant_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
#elif defined(__aarch64__)
    return 1;
#else
    return 0; /* ticks.h has no more than the clock here */
#endif
}

static int open_ticks(struct counter *counter)
{
    if (!constant_ticks()) {
        size_t used = strlen(counter->note);
        snprintf(counter->note + used, sizeof counter->note - used, "; no constant-rate tick counter");
        return -1;
    }
    counter->kind = COUNTER_TICKS;
    counter->source = TICK_SOURCE;
    counter->tick_hz = tick_rate(50);
    return 0;
}

int counter_open(struct counter *counter, enum counter_wish wish)
{
    memset(counter, 0, sizeof *counter);
    counter->kind = COUNTER_NONE;
    counter->source = "none";
    counter->fd = -1;
    switch (wish) {
    case COUNTER_AUTO:
        if (open_hw(counter) != 0)
            open_ticks(counter);
        return 0;
    case COUNTER_WANT_HW:
        return open_hw(counter);
    case COUNTER_WANT_TICKS:
        snprintf(counter->note, sizeof counter->note, "hardware cycles were not asked for");
        return open_ticks(counter);
    case COUNTER_WANT_NONE:
        snprintf(counter->note, sizeof counter->note, "no counter was asked for");
        return 0;
    }
    return -1;
}

int counter_start(struct counter *counter, char *why)
{
    if (counter->kind == COUNTER_TICKS) {
        counter->start = ticks_fenced();
    } else if (counter->kind == COUNTER_HW && (ioctl(counter->fd, PERF_EVENT_IOC_RESET, 0) != 0 ||
                                               ioctl(counter->fd, PERF_EVENT_IOC_ENABLE, 0) != 0)) {
        snprintf(why, COUNTER_TEXT, "the cycle counter cannot be started: %s", strerror(errno));
        return -1;
    }
    return 0;
}

int counter_stop(struct counter *counter, uint64_t *count, char *why)
{
    uint64_t now, values[3], enabled, running; /* count, time enabled, time running */
    *count = 0;
    if (counter->kind == COUNTER_TICKS) {
        now = ticks_fenced();
        *count = now - counter->start;
        return 0;
    }
    if (counter->kind == COUNTER_NONE)
        return 0;
    if (ioctl(counter->fd, PERF_EVENT_IOC_DISABLE, 0) != 0 ||
        read(counter->fd, values, sizeof values) != (ssize_t)sizeof values) {
        snprintf(why, COUNTER_TEXT, "the cycle counter cannot be read: %s", strerror(errno));
        return -1;
    }
    enabled = values[1] - counter->enabled;
    running = values[2] - counter->running;
    counter->enabled = values[1];
    counter->running = values[2];
    if (running == 0 || values[0] == 0) {
        snprintf(why, COUNTER_TEXT, "the cycle counter never ran (no free counter, or another core type)");
        return -1;
    }
    if (running < enabled - enabled / 1000) {
        snprintf(why, COUNTER_TEXT, "the cycle counter was multiplexed: it ran for %llu of %llu ns",
                 (unsigned long long)running, (unsigned long long)enabled);
        return -1;
    }
    *count = values[0];
    return 0;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int counter_empty(struct counter *counter, uint64_t *count, char *why)
{
    enum { READINGS = 101 };
    uint64_t readings[READINGS];
    int i;
    for (i = 0; i < READINGS; i++)
        if (counter_start(counter, why) != 0 || counter_stop(counter, &readings[i], why) != 0)
            return -1;
    qsort(readings, READINGS, sizeof readings[0], ascending);
    *count = readings[READINGS / 2];
    return 0;
}

#ifndef __aarch64__
/* A clock reading and a tick reading as close together as 32 tries get them. */
static void pair(uint64_t *ns, uint64_t *tick)
{
    uint64_t best = UINT64_MAX;
    int i;
    for (i = 0; i < 32; i++) {
        uint64_t before = ticks_fenced(), now = nanoseconds(), after = ticks_fenced();
        if (after - before < best) {
            best = after - before;
            *ns = now;
            *tick = before + best / 2;
        }
    }
}
#endif

uint64_t tick_rate(unsigned milliseconds)
{
#ifdef __aarch64__
    uint64_t hz;
    (void)milliseconds;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
#else
    uint64_t ns0 = 0, tick0 = 0, ns1 = 0, tick1 = 0;
    pair(&ns0, &tick0);
    while (nanoseconds() - ns0 < (uint64_t)milliseconds * 1000000u) {
    }
    pair(&ns1, &tick1);
    return (uint64_t)((double)(tick1 - tick0) * 1e9 / (double)(ns1 - ns0) + 0.5);
#endif
}
