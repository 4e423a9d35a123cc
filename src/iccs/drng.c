/*
 * drng.c - Hash_DRBG of SP 800-90A on SM3 with a state of 440 bits, as drng.h declares it.
 *
 * Without personalisation, additional input, reseeding or a limit on draws. It does not know the
 * helpers in auxfunc.c: a submission may bring its own copy of either file, and this one must link
 * without the other. It does not know who owns a context either; drng_algorithm is defined elsewhere.
 *
 * Why so: the three parts of a context are 440-bit big-endian integers kept as bytes, because
 * submissions copy contexts and the layout is part of the interface.
 */
#include "drng.h"

#include <stdint.h>
#include <string.h>

#include "sm3.h"

#define DIGEST NGCC_SM3_BYTES

/* x = (x + y) mod 2^440, where y has `bytes` bytes and both are big-endian. */
static void add(unsigned char x[SEEDLEN], const unsigned char *y, int bytes)
{
    unsigned carry = 0;
    int i;

    for (i = 1; i <= SEEDLEN; i++) {
        carry += (unsigned)x[SEEDLEN - i] + (i <= bytes ? y[bytes - i] : 0U);
        x[SEEDLEN - i] = (unsigned char)(carry & 0xffU);
        carry >>= 8;
    }
}

/* SM3(prefix || x): one byte in front of the bytes of x. */
static void sm3_prefixed(unsigned char digest[DIGEST], unsigned char prefix,
                         const unsigned char x[SEEDLEN])
{
    ngcc_sm3_ctx ctx;

    ngcc_sm3_init(&ctx);
    ngcc_sm3_append(&ctx, &prefix, 8);
    ngcc_sm3_append(&ctx, x, 8U * SEEDLEN);
    ngcc_sm3_finish(&ctx, digest);
}

/* out = first 55 bytes of SM3(01 || 440 || lead || x) || SM3(02 || 440 || lead || x), 440 in 32 bits;
 * `lead` is `lead_bytes` (0 or 1) bytes 00. */
static void df(unsigned char out[SEEDLEN], uint64_t lead_bytes, const unsigned char *x,
               uint64_t x_bytes)
{
    static const unsigned char zero = 0;
    unsigned char head[5] = {0, 0, 0, 0x01, 0xb8};
    unsigned char digests[2 * DIGEST];
    ngcc_sm3_ctx ctx;
    int i;

    for (i = 0; i < 2; i++) {
        head[0] = (unsigned char)(i + 1);
        ngcc_sm3_init(&ctx);
        ngcc_sm3_append(&ctx, head, 8U * sizeof head);
        ngcc_sm3_append(&ctx, &zero, 8U * lead_bytes);
        ngcc_sm3_append(&ctx, x, 8U * x_bytes);
        ngcc_sm3_finish(&ctx, digests + i * DIGEST);
    }
    memcpy(out, digests, SEEDLEN);
}

int init_random_number(DRNG_ctx *drng, const unsigned char *seed,
                       unsigned long long seed_len_bytes)
{
    df(drng->V, 0, seed, seed_len_bytes);
    df(drng->C, 1, drng->V, SEEDLEN);
    memset(drng->reseed_counter, 0, SEEDLEN);
    drng->reseed_counter[SEEDLEN - 1] = 1;
    return 0;
}

int get_random_number(DRNG_ctx *drng, unsigned char *random_number,
                      unsigned long long random_number_len_bits)
{
    static const unsigned char one = 1;
    const unsigned rest = (unsigned)(random_number_len_bits % 8U);
    unsigned long long bytes = random_number_len_bits / 8U + (rest != 0);
    unsigned char data[SEEDLEN];
    unsigned char digest[DIGEST];
    ngcc_sm3_ctx ctx;

    memcpy(data, drng->V, SEEDLEN);
    while (bytes > 0) {
        const size_t now = bytes < DIGEST ? (size_t)bytes : DIGEST;

        ngcc_sm3_init(&ctx);
        ngcc_sm3_append(&ctx, data, 8U * SEEDLEN);
        ngcc_sm3_finish(&ctx, digest);
        add(data, &one, 1);
        bytes -= now;
        if (bytes == 0 && rest != 0) {
            digest[now - 1] &= (unsigned char)(0xff00U >> rest);
        }
        memcpy(random_number, digest, now);
        random_number += now;
    }

    sm3_prefixed(digest, 3, drng->V);
    add(drng->V, digest, DIGEST);
    add(drng->V, drng->C, SEEDLEN);
    add(drng->V, drng->reseed_counter, SEEDLEN);
    add(drng->reseed_counter, &one, 1);
    return 0;
}
