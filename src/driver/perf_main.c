/*
 * The timing driver: one process measures one operation of one KEM instance.
 *
 *   perf LIB OP TRIALS ITERS WARMUPS [--samples FILE] [--counter auto|hw|tsc|none]
 *
 * What: prepares, warms up, runs TRIALS blocks of ITERS calls and prints, tab separated, META lines; for
 * each trial `TRIAL k measurements seconds cycles`, `TICKS k ticks` when the counter is a tick counter,
 * and `USAGE k cpu_seconds involuntary_switches minor_faults`; more META lines; `STATUS complete|partial`.
 * With --samples every call is bracketed by clock readings, kept, and written to FILE after the trials as
 * lines `trial index ns`, both numbered from 1.
 * Does not know: iteration planning, pinning, statistics, or when a trial counts as disturbed.
 * Why: cycles are 0 unless they are hardware cycles; ticks have a line of their own so that nobody can
 * take one for the other. Without --samples the loop does what the published figures were made with.
 *
 * Memory: the sample buffer (8 bytes a call, whole pages, sample_buffer_bytes) is touched before the
 * baseline is read, so it is in baseline and peak alike: their difference is not inflated, and
 * subtracting it from either gives the figure of a driver without samples.
 *
 * Exit: 0 complete; 2 usage, library, or a counter asked for by name is not there; 3 the operation
 * failed; 4 partial (a count that cannot be trusted, samples or stdout that cannot be written).
 */
#define _GNU_SOURCE 1
#include "counter.h"
#include "memory.h"
#include "prepare.h"
#include "report.h"
#include "ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { COMPLETE = 0, USAGE = 2, FAILED = 3, PARTIAL = 4 };
enum { MAX_TRIALS = 100000, MAX_ITERS = 1000000000, MAX_SAMPLES = 1 << 27 };

struct run {
    const char *path, *operation;
    unsigned long long trials, iters, warmups;
    const char *samples_path;
    int samples_fd;
    enum counter_wish wish;
    FILE *out;
    struct subject subject;
    struct counter counter;
    uint64_t *samples; /* NULL without --samples */
    size_t samples_bytes;
    unsigned long long calls; /* timed calls made so far */
};

static void usage(const char *problem)
{
    fprintf(stderr,
            "perf: %s\nusage: perf LIB OP TRIALS ITERS WARMUPS [--samples FILE] [--counter auto|hw|tsc|none]\n",
            problem);
    report_exit(USAGE);
}

static void stop(struct run *run, int code, const char *key, const char *why)
{
    fprintf(stderr, "perf: %s\n", why);
    if (code != USAGE) {
        report_meta(run->out, key, why);
        fputs("STATUS\tpartial\n", run->out);
        fflush(run->out);
    }
    report_exit(code);
}

static void parse(struct run *run, int argc, char **argv)
{
    int i;
    run->samples_fd = -1;
    if (argc < 6)
        usage("too few arguments");
    run->path = argv[1];
    run->operation = argv[2];
    if (report_number(argv[3], MAX_TRIALS, &run->trials) != 0 || run->trials == 0)
        usage("TRIALS is a number from 1 to 100000");
    if (report_number(argv[4], MAX_ITERS, &run->iters) != 0 || run->iters == 0)
        usage("ITERS is a number from 1 to 1000000000");
    if (report_number(argv[5], MAX_ITERS, &run->warmups) != 0)
        usage("WARMUPS is a number up to 1000000000");
    for (i = 6; i < argc; i += 2) {
        if (i + 1 == argc)
            usage("an option lacks its value");
        if (strcmp(argv[i], "--samples") == 0)
            run->samples_path = argv[i + 1];
        else if (strcmp(argv[i], "--counter") != 0)
            usage("unknown option");
        else if (!counter_wish(argv[i + 1], &run->wish))
            usage("--counter is auto, hw, tsc or none");
    }
    if (run->samples_path == NULL)
        return;
    if (run->trials * run->iters > MAX_SAMPLES)
        usage("too many samples: TRIALS times ITERS is limited to 134217728");
    run->samples_fd = open(run->samples_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (run->samples_fd < 0) {
        fprintf(stderr, "perf: cannot create %s: %s\n", run->samples_path, strerror(errno));
        report_exit(USAGE);
    }
}

static void print_head(struct run *run)
{
    const struct kem *kem = &run->subject.kem;
    FILE *out = run->out;
    report_meta(out, "id", kem->meta->id);
    report_meta(out, "instance", kem->meta->instance);
    report_meta(out, "variant", kem->meta->variant);
    report_meta(out, "operation", run->subject.op->name);
    report_meta_number(out, "input_bytes", 0);
    report_meta(out, "build_flags", kem->build_flags);
    report_meta_number(out, "baseline_rss_bytes", memory_resident());
    report_meta_number(out, "pk_bytes", kem->pk.capacity);
    report_meta_number(out, "sk_bytes", kem->sk.capacity);
    report_meta_number(out, "ct_bytes", kem->ct.capacity);
    report_meta_number(out, "ss_bytes", kem->ss.capacity);
    report_meta_number(out, "signature_bytes", 0);
    report_meta_number(out, "digest_bytes", 0);
}

static void print_counter(struct run *run)
{
    char why[COUNTER_TEXT];
    uint64_t empty;
    if (counter_empty(&run->counter, &empty, why) != 0)
        stop(run, PARTIAL, "cycle_failure", why);
    report_meta(run->out, "mode", "fixed_iterations");
    report_meta(run->out, "cpu_cycles_available", run->counter.kind == COUNTER_HW ? "yes" : "no");
    report_meta(run->out, "timing_scope", "loop");
    report_meta_number(run->out, "warmups", run->warmups);
    report_meta(run->out, "cycle_source", run->counter.source);
    report_meta(run->out, "cycle_note", run->counter.note);
    report_meta_number(run->out, "tick_hz", run->counter.tick_hz);
    report_meta_number(run->out, "empty_op_ticks", empty);
    report_meta_number(run->out, "sample_buffer_bytes", run->samples_bytes);
    fflush(run->out);
}

/* Both loops return the number of good calls; fewer than asked means that the next one failed. */
static unsigned long long loop(struct run *run)
{
    enum kem_outcome (*const op)(struct kem *) = run->subject.op->run;
    struct kem *kem = &run->subject.kem;
    unsigned long long i = 0;
    if (run->subject.first_ns == 0) { /* no warm-up and nothing prepared: this is the first call */
        uint64_t start = nanoseconds();
        if (op(kem) != KEM_OK)
            return 0;
        run->subject.first_ns = nanoseconds() - start;
        i = 1;
    }
    for (; i < run->iters; i++)
        if (op(kem) != KEM_OK)
            break;
    return i;
}

static unsigned long long sampling_loop(struct run *run)
{
    enum kem_outcome (*const op)(struct kem *) = run->subject.op->run;
    struct kem *kem = &run->subject.kem;
    uint64_t *samples = run->samples + run->calls;
    unsigned long long i;
    for (i = 0; i < run->iters; i++) {
        uint64_t start = nanoseconds();
        enum kem_outcome outcome = op(kem);
        samples[i] = nanoseconds() - start;
        if (outcome != KEM_OK)
            break;
    }
    if (run->subject.first_ns == 0)
        run->subject.first_ns = samples[0];
    return i;
}

static void trial(struct run *run, unsigned long long number)
{
    struct subject *subject = &run->subject;
    struct rusage before, after;
    unsigned long long done;
    uint64_t start, end, count;
    double cpu;
    char why[KEM_TEXT], detail[KEM_TEXT + 64];

    getrusage(RUSAGE_THREAD, &before);
    cpu = thread_seconds();
    start = nanoseconds();
    if (counter_start(&run->counter, why) != 0)
        stop(run, PARTIAL, "cycle_failure", why);
    done = run->samples != NULL ? sampling_loop(run) : loop(run);
    end = nanoseconds();
    if (counter_stop(&run->counter, &count, why) != 0)
        stop(run, PARTIAL, "cycle_failure", why);
    cpu = thread_seconds() - cpu;
    getrusage(RUSAGE_THREAD, &after);

    if (done < run->iters) {
        enum kem_outcome outcome = subject->kem.result != 0 ? KEM_ERROR : KEM_TOO_LONG;
        kem_explain(&subject->kem, subject->op, outcome, why);
        snprintf(detail, sizeof detail, "%s in trial %llu at call %llu", why, number, done + 1);
        stop(run, FAILED, "failure", detail);
    }
    if (subject->op == &kem_ops[KEM_DEC] && kem_check_secret(&subject->kem) != KEM_OK) {
        kem_explain(&subject->kem, subject->op, KEM_WRONG_SECRET, why);
        snprintf(detail, sizeof detail, "%s at the end of trial %llu", why, number);
        stop(run, FAILED, "failure", detail);
    }
    run->calls += done;
    fprintf(run->out, "TRIAL\t%llu\t%llu\t%.9f\t%llu\n", number, done, (double)(end - start) / 1e9,
            run->counter.kind == COUNTER_HW ? (unsigned long long)count : 0ull);
    if (run->counter.kind == COUNTER_TICKS)
        fprintf(run->out, "TICKS\t%llu\t%llu\n", number, (unsigned long long)count);
    fprintf(run->out, "USAGE\t%llu\t%.9f\t%ld\t%ld\n", number, cpu, after.ru_nivcsw - before.ru_nivcsw,
            after.ru_minflt - before.ru_minflt);
    fflush(run->out);
}

/* The least reading of an empty bracket: what every sample contains besides the call. */
static uint64_t empty_sample(void)
{
    enum { READINGS = 1001 };
    uint64_t least = UINT64_MAX;
    int i;
    for (i = 0; i < READINGS; i++) {
        uint64_t start = nanoseconds(), taken = nanoseconds() - start;
        if (taken < least)
            least = taken;
    }
    return least;
}

static void print_tail(struct run *run)
{
    char why[KEM_TEXT];
    unsigned long long peak = memory_peak();
    enum kem_outcome guards = kem_check_guards(&run->subject.kem, why);
    report_meta_number(run->out, "peak_rss_bytes", peak);
    report_meta_number(run->out, "measurement_count", run->calls);
    report_meta(run->out, "guide_100_measurements", run->calls >= 100 ? "met" : "not_met");
    report_meta_number(run->out, "first_call_ns", run->subject.first_ns);
    report_meta_number(run->out, "sample_overhead_ns", run->samples != NULL ? empty_sample() : 0);
    report_meta(run->out, "inputs_changed", subject_inputs_changed(&run->subject) ? "yes" : "no");
    report_meta(run->out, "guard_damage", guards == KEM_OK ? "no" : why);
}

static void write_samples(struct run *run)
{
    unsigned long long i;
    FILE *file = fdopen(run->samples_fd, "w");
    if (file == NULL)
        stop(run, PARTIAL, "failure", "the samples cannot be written");
    for (i = 0; i < run->calls; i++)
        fprintf(file, "%llu %llu %llu\n", i / run->iters + 1, i % run->iters + 1,
                (unsigned long long)run->samples[i]);
    if (fclose(file) != 0)
        stop(run, PARTIAL, "failure", "the samples cannot be written");
}

int main(int argc, char **argv)
{
    static struct run run;
    char why[KEM_TEXT];
    unsigned long long i;
    int prepared;

    parse(&run, argc, argv);
    signal(SIGPIPE, SIG_IGN);
    run.out = report_open();
    if (run.out == NULL)
        usage("stdout is closed");
    report_guard_exit(FAILED, NULL);
    prepared = prepare(&run.subject, run.path, run.operation, why);
    if (prepared != PREPARED)
        stop(&run, prepared, "failure", why);
    if (run.samples_path != NULL) {
        run.samples = memory_pages((size_t)(run.trials * run.iters) * sizeof run.samples[0], &run.samples_bytes);
        if (run.samples == NULL)
            stop(&run, PARTIAL, "failure", "out of memory for the samples");
    }
    print_head(&run);
    if (counter_open(&run.counter, run.wish) != 0)
        stop(&run, USAGE, "failure", run.counter.note);
    print_counter(&run);
    for (i = 0; i < run.warmups; i++)
        if (subject_call(&run.subject, why) != 0)
            stop(&run, FAILED, "failure", why);
    for (i = 1; i <= run.trials; i++)
        trial(&run, i);
    print_tail(&run);
    if (run.samples != NULL)
        write_samples(&run);
    fputs("STATUS\tcomplete\n", run.out);
    report_exit(fflush(run.out) != 0 || ferror(run.out) ? PARTIAL : COMPLETE);
}
