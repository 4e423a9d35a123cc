/*
 * iccs_driver.c - calls the official helpers as told on standard input, one command a line.
 *
 *   sm3hash DIGEST_BITS MSG_BITS HEX       answers "RC HEX", HEX being "-" when empty or failed
 *   pseudohash DIGEST_BITS MSG_BITS HEX
 *   pseudoXOF OUTPUT_BITS MSG_BITS HEX
 *   seed HEX | unseeded                    answers "RC V C COUNTER"
 *   draw BITS                              answers "RC HEX V C COUNTER"
 *   zeros LOG2                             SM3 of 2^LOG2 zero bits, appended piece by piece
 *
 * Every message and output lies in a heap block of its exact size, so that the address sanitizer sees
 * one byte too many. The three helpers are called twice, the second time with the output on top of
 * the message, which must make no difference. The driver knows no expected values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxfunc.h"
#include "drng.h"
#include "sm3.h"

static void fail(const char *what)
{
    fprintf(stderr, "iccs_driver: %s\n", what);
    exit(1);
}

static unsigned char *block(size_t n)
{
    unsigned char *p = malloc(n == 0 ? 1 : n);

    if (p == NULL) {
        fail("no memory");
    }
    memset(p, 0xa5, n);
    return p;
}

/* A null pointer for no bytes, as a caller may pass it. */
static unsigned char *from_hex(const char *hex, size_t *n)
{
    unsigned char *p;
    size_t i;

    *n = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
    if (*n == 0) {
        return NULL;
    }
    p = block(*n);
    for (i = 0; i < *n; i++) {
        unsigned value;

        if (sscanf(hex + 2 * i, "%2x", &value) != 1) {
            fail("bad hex");
        }
        p[i] = (unsigned char)value;
    }
    return p;
}

static void print_hex(const unsigned char *p, size_t n)
{
    size_t i;

    printf(n == 0 ? " -" : " ");
    for (i = 0; i < n; i++) {
        printf("%02x", p[i]);
    }
}

static int call(const char *name, unsigned long long wanted, const unsigned char *msg,
                unsigned long long msg_bits, unsigned char *out)
{
    if (strcmp(name, "sm3hash") == 0) {
        return sm3hash((int)wanted, msg, msg_bits, out);
    }
    if (strcmp(name, "pseudohash") == 0) {
        return pseudohash((int)wanted, msg, msg_bits, out);
    }
    return pseudoXOF(wanted, msg, msg_bits, out);
}

static void helper(const char *name, const char *wanted_text, const char *bits_text, const char *hex)
{
    const unsigned long long wanted = strtoull(wanted_text, NULL, 10);
    const unsigned long long bits = strtoull(bits_text, NULL, 10);
    const size_t out_bytes = (size_t)((wanted + 7) / 8);
    size_t msg_bytes;
    unsigned char *msg = from_hex(hex, &msg_bytes);
    unsigned char *out = block(out_bytes);
    unsigned char *both = block(msg_bytes > out_bytes ? msg_bytes : out_bytes);
    const int rc = call(name, wanted, msg, bits, out);

    if (rc == 0) {
        if (msg_bytes > 0) {
            memcpy(both, msg, msg_bytes);
        }
        if (call(name, wanted, both, bits, both) != 0 || memcmp(out, both, out_bytes) != 0) {
            fail("an output on top of the message differs");
        }
    }
    printf("%d", rc);
    print_hex(out, rc == 0 ? out_bytes : 0);
    printf("\n");
    free(msg);
    free(out);
    free(both);
}

static void print_state(const DRNG_ctx *ctx)
{
    print_hex(ctx->V, SEEDLEN);
    print_hex(ctx->C, SEEDLEN);
    print_hex(ctx->reseed_counter, SEEDLEN);
    printf("\n");
}

static void zeros(unsigned log2)
{
    static const unsigned char piece[1 << 16] = {0};
    unsigned char digest[NGCC_SM3_BYTES];
    unsigned long long left = 1ULL << log2;
    ngcc_sm3_ctx ctx;

    ngcc_sm3_init(&ctx);
    while (left > 0) {
        const unsigned long long now = left < 8ULL * sizeof piece ? left : 8ULL * sizeof piece;

        ngcc_sm3_append(&ctx, piece, now);
        left -= now;
    }
    ngcc_sm3_finish(&ctx, digest);
    printf("0");
    print_hex(digest, sizeof digest);
    printf("\n");
}

int main(void)
{
    static char line[1 << 16];
    DRNG_ctx ctx;

    memset(&ctx, 0, sizeof ctx);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *word[4] = {NULL, NULL, NULL, NULL};
        size_t n;
        int i;

        for (i = 0; i < 4; i++) {
            word[i] = strtok(i == 0 ? line : NULL, " \n");
        }
        if (word[0] == NULL) {
            fail("empty command");
        } else if (word[3] != NULL) {
            helper(word[0], word[1], word[2], word[3]);
        } else if (strcmp(word[0], "unseeded") == 0) {
            memset(&ctx, 0, sizeof ctx);
            printf("0");
            print_state(&ctx);
        } else if (word[1] != NULL && strcmp(word[0], "seed") == 0) {
            unsigned char *seed = from_hex(word[1], &n);

            printf("%d", init_random_number(&ctx, seed, n));
            print_state(&ctx);
            free(seed);
        } else if (word[1] != NULL && strcmp(word[0], "draw") == 0) {
            const unsigned long long bits = strtoull(word[1], NULL, 10);
            unsigned char *out;

            n = (size_t)((bits + 7) / 8);
            out = block(n);
            printf("%d", get_random_number(&ctx, n == 0 ? NULL : out, bits));
            print_hex(out, n);
            print_state(&ctx);
            free(out);
        } else if (word[1] != NULL && strcmp(word[0], "zeros") == 0) {
            zeros((unsigned)strtoul(word[1], NULL, 10));
        } else {
            fail("unknown command");
        }
    }
    return 0;
}
