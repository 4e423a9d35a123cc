/*
 * The profiling driver: how much of an operation is spent in the ICCS helpers.
 *
 *   profile LIB OP ITERS WARMUPS
 *
 * What: prepares like the timing driver, runs OP with accounting on inside each call only, and prints, tab
 * separated, META lines, `TOTAL ops ticks`, one `CALL fn in_bits out_bits calls ticks` for each shape of
 * call, and `STATUS complete`.
 * Does not know: shares. Dividing is the caller's, and so is correcting for the wrapper: wrapper_ticks is
 * what one wrapped call adds to TOTAL, wrapper_ticks_booked the part of it that lands in its CALL line.
 * Why: `wrapped` names the functions that were wrapped, because no CALL line means "never called" for those
 * and "not measurable" for the others. LIB must be relinked with hashprof.c and exports_profile.map.
 *
 * Exit: 0 complete; 2 usage or library; 3 the operation failed; 4 stdout cannot be written.
 */
#define _GNU_SOURCE 1
#include "counter.h"
#include "hashprof.h"
#include "prepare.h"
#include "report.h"
#include "ticks.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { COMPLETE = 0, USAGE = 2, FAILED = 3, PARTIAL = 4 };
enum { MAX_ITERS = 1000000000 };

struct accounting {
    void (*reset)(void);
    void (*on)(int);
    unsigned (*row_count)(void);
    int (*row)(unsigned, struct ngcc_prof_line *);
    uint64_t (*overflow_count)(void);
    const char *(*wrapped)(void);
    void (*cost)(double *, double *);
};

static void stop(FILE *out, int code, const char *why)
{
    fprintf(stderr, "profile: %s\n", why);
    if (code != USAGE) {
        report_meta(out, "failure", why);
        fputs("STATUS\tpartial\n", out);
        fflush(out);
    }
    report_exit(code);
}

static void resolve(FILE *out, const struct kem *kem, const char *name, void *function)
{
    void *symbol = dlsym(kem->library, name);
    if (symbol == NULL) {
        char why[KEM_TEXT];
        snprintf(why, sizeof why, "the library does not export %s: it was not linked for profiling", name);
        stop(out, USAGE, why);
    }
    memcpy(function, &symbol, sizeof symbol);
}

static void print_calls(FILE *out, const struct accounting *accounting)
{
    struct ngcc_prof_line line;
    unsigned i;
    for (i = 0; i < accounting->row_count() && accounting->row(i, &line) == 0; i++)
        fprintf(out, "CALL\t%s\t%llu\t%llu\t%llu\t%llu\n", line.function, (unsigned long long)line.in_bits,
                (unsigned long long)line.out_bits, (unsigned long long)line.calls,
                (unsigned long long)line.ticks);
}

int main(int argc, char **argv)
{
    static struct subject subject;
    struct accounting accounting;
    unsigned long long iters, warmups, i;
    uint64_t total = 0;
    double booked, cost;
    char why[KEM_TEXT], text[64];
    int prepared;
    FILE *out;

    if (argc != 5 || report_number(argv[3], MAX_ITERS, &iters) != 0 || iters == 0 ||
        report_number(argv[4], MAX_ITERS, &warmups) != 0) {
        fprintf(stderr, "usage: profile LIB OP ITERS WARMUPS\n");
        return USAGE;
    }
    signal(SIGPIPE, SIG_IGN);
    out = report_open();
    if (out == NULL)
        return USAGE;
    report_guard_exit(FAILED, NULL);
    prepared = prepare(&subject, argv[1], argv[2], why);
    if (prepared != PREPARED)
        stop(out, prepared, why);
    resolve(out, &subject.kem, "ngcc_prof_reset", &accounting.reset);
    resolve(out, &subject.kem, "ngcc_prof_on", &accounting.on);
    resolve(out, &subject.kem, "ngcc_prof_row_count", &accounting.row_count);
    resolve(out, &subject.kem, "ngcc_prof_row", &accounting.row);
    resolve(out, &subject.kem, "ngcc_prof_overflow_count", &accounting.overflow_count);
    resolve(out, &subject.kem, "ngcc_prof_wrapped", &accounting.wrapped);
    resolve(out, &subject.kem, "ngcc_prof_cost", &accounting.cost);

    for (i = 0; i < warmups; i++)
        if (subject_call(&subject, why) != 0)
            stop(out, FAILED, why);
    accounting.cost(&booked, &cost);
    accounting.reset();
    for (i = 0; i < iters; i++) {
        enum kem_outcome outcome;
        uint64_t start;
        accounting.on(1);
        start = ticks();
        outcome = subject.op->run(&subject.kem);
        total += ticks() - start;
        accounting.on(0);
        if (outcome == KEM_OK && subject.op == &kem_ops[KEM_DEC])
            outcome = kem_check_secret(&subject.kem);
        if (outcome != KEM_OK) {
            kem_explain(&subject.kem, subject.op, outcome, why);
            stop(out, FAILED, why);
        }
    }

    report_meta(out, "id", subject.kem.meta->id);
    report_meta(out, "instance", subject.kem.meta->instance);
    report_meta(out, "operation", subject.op->name);
    report_meta(out, "tick_source", TICK_SOURCE);
    report_meta_number(out, "tick_hz", tick_rate(100));
    report_meta_number(out, "warmups", warmups);
    report_meta_number(out, "overflow_calls", accounting.overflow_count());
    snprintf(text, sizeof text, "%.2f", cost);
    report_meta(out, "wrapper_ticks", text);
    snprintf(text, sizeof text, "%.2f", booked);
    report_meta(out, "wrapper_ticks_booked", text);
    report_meta(out, "wrapped", accounting.wrapped());
    fprintf(out, "TOTAL\t%llu\t%llu\n", iters, (unsigned long long)total);
    print_calls(out, &accounting);
    fputs("STATUS\tcomplete\n", out);
    report_exit(fflush(out) != 0 || ferror(out) ? PARTIAL : COMPLETE);
    return PARTIAL;
}
