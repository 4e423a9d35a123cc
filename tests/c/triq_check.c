/*
 * triq_check.c - TriQ-KEM's streams and samplers. Compiled instead of core/sampling.c, which it includes
 * for the sake of the reduction.
 *
 *   reduction          of all candidates: how many wrap around, and the first that does
 *   stream SIZES       position and credit after each read of the given number of bytes
 *   windows            supports of the bounded sampler, against every window of the ring
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxfunc.h"
#include "drng.h"
#include "sampling.c"

DRNG_ctx drng_algorithm;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "triq_check: %s\n", what);
        exit(1);
    }
}

static void print_reduction(void)
{
    unsigned wrapped = 0;
    uint32_t first = 0;

    for (uint32_t v = 0; v < T24; v++) {
        uint32_t r = reduce(v);

        if (r >= PARAM_N) {
            check(r > UINT32_MAX - PARAM_N, "just below 2^32");
            first = wrapped++ == 0 ? v : first;
        } else {
            check(r == v % PARAM_N, "the remainder");
        }
    }
    printf("%u %u\n", wrapped, (unsigned)first);
}

static void seed_stream(struct stream *stream, uint8_t value)
{
    uint8_t seed[K_BYTES];

    memset(seed, value, sizeof seed);
    stream_start_xof(stream, seed);
}

/* Reads as told; the bytes must be those of one pseudoXOF call, at the position before the read. */
static void print_stream(int count, char **sizes)
{
    static uint8_t whole[8192], bytes[8192];
    struct stream stream;

    seed_stream(&stream, 7);
    check(pseudoXOF(8 * sizeof whole, stream.input, 8ull * stream.input_bytes, whole) == 0, "pseudoXOF");
    for (int i = 0; i < count; i++) {
        size_t size = (size_t)strtoul(sizes[i], NULL, 10);
        size_t before = stream.position;

        check(before + size <= sizeof whole, "a read within the test's string");
        check(stream_read(&stream, bytes, size) == 0, "a read");
        check(memcmp(bytes, whole + before, size) == 0, "the bytes of the stream");
        printf("%zu %zu\n", stream.position, stream.credit);
    }
    check(stream_read(&stream, bytes, 0) == 0, "a read of nothing");
}

static void windows(void)
{
    static unsigned char at[2 * PARAM_N];
    struct stream stream;

    for (unsigned round = 0; round < 50; round++) {
        uint32_t support[PARAM_W];
        unsigned inside = 0;

        seed_stream(&stream, (uint8_t)round);
        check(sample_bounded(support, &stream) == 0, "the bounded sampler");
        memset(at, 0, sizeof at);
        for (size_t i = 0; i < PARAM_W; i++) {
            check(support[i] < PARAM_N && !at[support[i]], "distinct exponents below n");
            at[support[i]] = at[support[i] + PARAM_N] = 1;
        }
        for (size_t i = 0; i < sizeof at; i++) {
            inside += at[i];
            inside -= i >= PARAM_WINDOW ? at[i - PARAM_WINDOW] : 0u;
            check(inside <= PARAM_CAP, "no crowded window");
        }
    }
}

int main(int argc, char **argv)
{
    const char *question = argc > 1 ? argv[1] : "";

    if (strcmp(question, "reduction") == 0) {
        print_reduction();
    } else if (strcmp(question, "stream") == 0) {
        print_stream(argc - 2, argv + 2);
    } else if (strcmp(question, "windows") == 0) {
        windows();
    } else {
        check(0, "unknown question");
    }
    return 0;
}
