/*
 * The KAT driver: writes the known-answer text of one KEM instance to stdout.
 *
 *   kat LIB [--count N] [--layout iccs|nist] [--timings FILE] [--log FILE]
 *
 * What: replays the official driver for N records (10; in the layout nist 1), as a stream; the log (stderr
 * without --log) gets the metadata and, for a failure, one RESULT line; the timings file gets wall times as
 * JSON, written only after a complete run. N = 0 reads the metadata and generates nothing.
 * The layout nist is that of PQClean's nistkat and liboqs's kat_kem: NIST's response file without its
 * heading, and with an empty line between records only. Its seeds are drawn, 48 bytes each, from the
 * library's own generator after the seed 00 01 .. 2f; a wrong generator shows in the first line.
 * Does not know: the expected text, manifests, verdicts or time limits. Those belong to the caller.
 * Why: some texts have 80 MB per record, so nothing longer than a buffer is kept here. Lengths are reset to
 * the claimed maximum before every record, and each value is printed right after the call that made it,
 * because a submission may change its inputs later.
 *
 * Exit: 0 complete, 3 CRYPTOFAIL, 4 OVERFLOW, 5 LOADFAIL or usage, 7 CRASH, 8 an output file or stdout
 * cannot be written.
 */
#define _GNU_SOURCE 1
#include "crash.h"
#include "drng.h"
#include "kem.h"
#include "report.h"
#include "ticks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPLETE = 0, CRYPTOFAIL = 3, OVERFLOW = 4, LOADFAIL = 5, OUTPUT = 8 };
enum { SEED_BYTES = 64, NIST_SEED_BYTES = 48, DEFAULT_RECORDS = 10, MAX_RECORDS = 1000000 };

struct run {
    const char *path;
    unsigned long long records;
    int nist; /* the layout */
    FILE *text, *log, *timings;
    double *times; /* KEM_OPS per record, in ms */
    struct kem kem;
};

static void leave(struct run *run, int code)
{
    if (fflush(run->log) != 0 && code == COMPLETE)
        code = OUTPUT;
    report_exit(code);
}

static void fail(struct run *run, int code, const char *detail)
{
    const struct ngcc_meta_block *meta = run->kem.meta;
    const char *status = code == CRYPTOFAIL ? "CRYPTOFAIL" : code == OVERFLOW ? "OVERFLOW" : "LOADFAIL";
    fflush(run->text);
    fputs("RESULT ", run->log);
    report_text(run->log, meta != NULL ? meta->id : "-");
    fputc(' ', run->log);
    report_text(run->log, meta != NULL ? meta->instance : "-");
    fprintf(run->log, " %s ", status);
    report_text(run->log, detail);
    fputc('\n', run->log);
    leave(run, code);
}

static void fail_output(struct run *run, const char *what)
{
    fprintf(stderr, "kat: cannot write %s: %s\n", what, strerror(errno));
    leave(run, OUTPUT);
}

static void usage(const char *problem)
{
    fprintf(stderr, "kat: %s\nusage: kat LIB [--count N] [--layout iccs|nist] [--timings FILE] [--log FILE]\n",
            problem);
    report_exit(LOADFAIL);
}

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        fprintf(stderr, "kat: cannot create %s: %s\n", path, strerror(errno));
        report_exit(OUTPUT);
    }
    return file;
}

static void parse(struct run *run, int argc, char **argv)
{
    const char *log = NULL, *timings = NULL;
    int i, counted = 0;
    run->records = DEFAULT_RECORDS;
    for (i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            if (run->path != NULL)
                usage("more than one library");
            run->path = argv[i];
            continue;
        }
        if (i + 1 == argc)
            usage("an option lacks its value");
        if (strcmp(argv[i], "--count") == 0) {
            if (report_number(argv[++i], MAX_RECORDS, &run->records) != 0)
                usage("--count takes a number up to 1000000");
            counted = 1;
        } else if (strcmp(argv[i], "--layout") == 0) {
            run->nist = strcmp(argv[++i], "nist") == 0;
            if (!run->nist && strcmp(argv[i], "iccs") != 0)
                usage("--layout is iccs or nist");
        } else if (strcmp(argv[i], "--timings") == 0) {
            timings = argv[++i];
        } else if (strcmp(argv[i], "--log") == 0) {
            log = argv[++i];
        } else {
            usage("unknown option");
        }
    }
    if (run->path == NULL)
        usage("no library");
    if (run->nist && !counted)
        run->records = 1;
    run->log = log != NULL ? create(log) : stderr;
    run->timings = timings != NULL ? create(timings) : NULL;
}

static void log_text(struct run *run, const char *key, const char *text)
{
    fprintf(run->log, "%-12s= ", key);
    report_text(run->log, text);
    fputc('\n', run->log);
}

static void log_number(struct run *run, const char *key, uint64_t number)
{
    fprintf(run->log, "%-12s= %llu\n", key, (unsigned long long)number);
}

static void log_meta(struct run *run)
{
    const struct ngcc_meta_block *meta = run->kem.meta;
    log_text(run, "library", run->path);
    log_text(run, "id", meta->id);
    log_text(run, "type", "kem");
    log_text(run, "algorithm", meta->algorithm);
    log_text(run, "instance", meta->instance);
    log_text(run, "variant", meta->variant);
    log_text(run, "source_dir", meta->source_dir);
    log_text(run, "compiler", meta->compiler);
    log_text(run, "build_flags", meta->build_flags);
    log_number(run, "pk_len", meta->lengths[NGCC_KEM_PK]);
    log_number(run, "sk_len", meta->lengths[NGCC_KEM_SK]);
    log_number(run, "ct_len", meta->lengths[NGCC_KEM_CT]);
    log_number(run, "ss_len", meta->lengths[NGCC_KEM_SS]);
    if (fflush(run->log) != 0)
        fail_output(run, "the log");
}

static void put_hex(FILE *out, const unsigned char *bytes, unsigned long long length)
{
    static const char digits[] = "0123456789ABCDEF";
    char chunk[4096];
    size_t used = 0;
    unsigned long long i;
    for (i = 0; i < length; i++) {
        chunk[used++] = digits[bytes[i] >> 4];
        chunk[used++] = digits[bytes[i] & 15];
        if (used == sizeof chunk) {
            fwrite(chunk, 1, used, out);
            used = 0;
        }
    }
    fwrite(chunk, 1, used, out);
}

static void put_value(struct run *run, const char *key, const unsigned char *bytes, unsigned long long length)
{
    FILE *out = run->text;
    if (run->nist) {
        for (; *key != '\0'; key++)
            fputc(*key | 0x20, out); /* lower case: keys are ASCII letters */
        fputs(" = ", out);
        if (length == 0)
            fputs("00", out); /* as NIST's own program prints it */
    } else {
        fprintf(out, "%s_Len = %llu\n%s = ", key, length, key);
    }
    put_hex(out, bytes, length);
    fputc('\n', out);
}

static void check_text(struct run *run)
{
    if (fflush(run->text) != 0 || ferror(run->text))
        fail_output(run, "the text to stdout");
}

/* One API call with all its checks. Damage counts before anything the call says about itself. */
static void call(struct run *run, int op, unsigned long long record)
{
    char why[KEM_TEXT], detail[KEM_TEXT + 32];
    enum kem_outcome outcome, guards;
    uint64_t start;

    crash_doing(kem_ops[op].symbol, (long)record);
    start = nanoseconds();
    outcome = kem_ops[op].run(&run->kem);
    run->times[record * KEM_OPS + (unsigned)op] = (double)(nanoseconds() - start) / 1e6;
    crash_doing("the driver", (long)record);

    guards = kem_check_guards(&run->kem, why);
    if (guards != KEM_OK)
        outcome = guards;
    else if (outcome == KEM_OK && op == KEM_DEC)
        outcome = kem_check_secret(&run->kem);
    if (outcome == KEM_OK)
        return;
    kem_explain(&run->kem, &kem_ops[op], outcome, why);
    snprintf(detail, sizeof detail, "%s at count %llu", why, record);
    fail(run, outcome == KEM_DAMAGE || outcome == KEM_TOO_LONG ? OVERFLOW : CRYPTOFAIL, detail);
}

static void set_seed(struct run *run, const unsigned char *seed, unsigned long long bytes,
                     unsigned long long record)
{
    char detail[KEM_TEXT];
    int result;
    crash_doing("ngcc_seed", (long)record);
    result = run->kem.seed(seed, bytes);
    if (result == 0)
        return;
    snprintf(detail, sizeof detail, "ngcc_seed returned %d at count %llu", result, record);
    fail(run, CRYPTOFAIL, detail);
}

/* From here on the two layouts have the same values, in the same order. */
static void record_of(struct run *run, const unsigned char *seed, unsigned long long bytes,
                      unsigned long long record)
{
    const struct kem *kem = &run->kem;
    fprintf(run->text, "%s = %llu\n", run->nist ? "count" : "Count", record);
    put_value(run, "Seed", seed, bytes);
    set_seed(run, seed, bytes, record);
    call(run, KEM_KEYGEN, record);
    put_value(run, "PK", kem->pk.bytes, kem->pk.length);
    put_value(run, "SK", kem->sk.bytes, kem->sk.length);
    call(run, KEM_ENC, record);
    put_value(run, "CT", kem->ct.bytes, kem->ct.length);
    put_value(run, "SS", kem->ss.bytes, kem->ss.length);
    call(run, KEM_DEC, record);
    if (!run->nist || record + 1 < run->records)
        fputc('\n', run->text);
    check_text(run);
}

static void generate_iccs(struct run *run)
{
    DRNG_ctx seeds;
    unsigned char seed[SEED_BYTES];
    unsigned long long record;
    int i;

    for (i = 0; i < SEED_BYTES; i++)
        seed[i] = (unsigned char)"seed"[i % 4];
    memset(&seeds, 0, sizeof seeds);
    init_random_number(&seeds, seed, SEED_BYTES);
    for (record = 0; record < run->records; record++) {
        get_random_number(&seeds, seed, 8 * SEED_BYTES);
        record_of(run, seed, SEED_BYTES, record);
    }
}

/* All seeds are drawn first, as NIST's program does: making a record seeds the same generator. */
static void generate_nist(struct run *run)
{
    unsigned char entropy[NIST_SEED_BYTES];
    unsigned char *seeds = malloc((size_t)run->records * NIST_SEED_BYTES + 1);
    unsigned long long record;
    int i;

    if (seeds == NULL)
        fail(run, LOADFAIL, "out of memory for the seeds");
    if (run->kem.random == NULL)
        fail(run, LOADFAIL, "the library does not export ngcc_random");
    for (i = 0; i < NIST_SEED_BYTES; i++)
        entropy[i] = (unsigned char)i;
    set_seed(run, entropy, NIST_SEED_BYTES, 0);
    crash_doing("ngcc_random", -1);
    for (record = 0; record < run->records; record++)
        run->kem.random(seeds + record * NIST_SEED_BYTES, 8 * NIST_SEED_BYTES);
    for (record = 0; record < run->records; record++)
        record_of(run, seeds + record * NIST_SEED_BYTES, NIST_SEED_BYTES, record);
    free(seeds);
}

static void write_timings(struct run *run)
{
    unsigned long long record;
    int op;
    fprintf(run->timings, "{\n \"unit\": \"ms\",\n \"records\": %llu,\n \"average\": {", run->records);
    for (op = 0; op < KEM_OPS; op++) {
        double sum = 0.0;
        for (record = 0; record < run->records; record++)
            sum += run->times[record * KEM_OPS + (unsigned)op];
        fprintf(run->timings, "%s\"%s\": %.6f", op > 0 ? ", " : "", kem_ops[op].name,
                run->records > 0 ? sum / (double)run->records : 0.0);
    }
    fputs("}", run->timings);
    for (op = 0; op < KEM_OPS; op++) {
        fprintf(run->timings, ",\n \"%s\": [", kem_ops[op].name);
        for (record = 0; record < run->records; record++)
            fprintf(run->timings, "%s%.6f", record > 0 ? ", " : "",
                    run->times[record * KEM_OPS + (unsigned)op]);
        fputc(']', run->timings);
    }
    fputs("\n}\n", run->timings);
    if (fflush(run->timings) != 0 || ferror(run->timings))
        fail_output(run, "the timings");
}

int main(int argc, char **argv)
{
    static struct run run;
    char why[KEM_TEXT];

    parse(&run, argc, argv);
    signal(SIGPIPE, SIG_IGN);
    run.text = report_open();
    if (run.text == NULL)
        fail_output(&run, "to stdout");
    run.times = calloc((size_t)run.records * KEM_OPS + 1, sizeof run.times[0]);
    if (run.times == NULL || crash_watch(fileno(run.log)) != 0)
        fail(&run, LOADFAIL, "the driver cannot set itself up");
    crash_doing("loading the library", -1);
    if (kem_load(&run.kem, run.path, why) != 0)
        fail(&run, LOADFAIL, why);
    crash_name(run.kem.meta->id, run.kem.meta->instance);
    log_meta(&run);
    if (kem_allocate(&run.kem, why) != 0)
        fail(&run, LOADFAIL, why);
    if (run.nist)
        generate_nist(&run);
    else
        generate_iccs(&run);
    check_text(&run);
    if (run.timings != NULL)
        write_timings(&run);
    leave(&run, COMPLETE);
    return COMPLETE;
}
