/*
 * auxfunc.c - sm3hash, pseudohash and pseudoXOF, as auxfunc.h declares them.
 *
 * It does not know the generator in drng.c: a submission may bring its own copy of either file, and
 * this one must link without the other.
 *
 * Why so: the three work on the internal SM3 rather than on each other, so that someone who counts
 * the calls of sm3hash sees the submission's calls only. pseudoXOF hashes the whole message again for
 * every block of output and collects the blocks on the heap. Both look wasteful, and both are part of
 * what is measured: published cycle counts and memory peaks come from helpers that do the same.
 */
#include "auxfunc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm3.h"

#define DIGEST NGCC_SM3_BYTES
#define DIGEST_BITS (8U * DIGEST)
#define BLOCK (64)

enum { OK = 0, NO_MEMORY = -2, BAD_DIGEST_LENGTH = -4 };

/* SM3 of two bit strings in a row; the second may be empty. */
static void sm3_of_two(unsigned char *digest, const unsigned char *x, uint64_t x_bits,
                       const unsigned char *y, uint64_t y_bits)
{
    ngcc_sm3_ctx ctx;

    ngcc_sm3_init(&ctx);
    ngcc_sm3_append(&ctx, x, x_bits);
    ngcc_sm3_append(&ctx, y, y_bits);
    ngcc_sm3_finish(&ctx, digest);
}

int sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
            unsigned char *digest)
{
    if (digest_len_bits != 256) {
        fprintf(stderr, "sm3hash: a digest of %d bits is not offered, only 256\n", digest_len_bits);
        return BAD_DIGEST_LENGTH;
    }
    sm3_of_two(digest, msg, msg_len_bits, NULL, 0);
    return OK;
}

/* The fixed HMAC key: SM3("3.14159265358979") followed by SM3("2.71828182845904"). */
static const unsigned char K[BLOCK] = {
    0x53, 0x07, 0xf6, 0xd5, 0xeb, 0x6a, 0x3c, 0xed, 0x3d, 0x24, 0xc5, 0x3c, 0xc9, 0xc8, 0x2c, 0xce,
    0x2f, 0x89, 0x36, 0x39, 0x70, 0x23, 0xf0, 0x69, 0x5c, 0x26, 0xc8, 0x0c, 0x1a, 0xb1, 0x82, 0xa7,
    0x1d, 0xb0, 0x2b, 0xa9, 0x2f, 0x54, 0x40, 0x18, 0x11, 0x5a, 0x96, 0xe7, 0x19, 0x66, 0x2c, 0xa3,
    0x2b, 0x7c, 0x7e, 0xfc, 0x0a, 0x6d, 0x24, 0x82, 0x15, 0x07, 0x66, 0xba, 0x6f, 0x65, 0x5b, 0x8e};

/* HMAC-SM3 under K of two bit strings in a row; the key fills a block exactly. */
static void hmac_of_two(unsigned char *tag, const unsigned char *x, uint64_t x_bits,
                        const unsigned char *y, uint64_t y_bits)
{
    unsigned char pad[BLOCK];
    unsigned char inner[DIGEST];
    ngcc_sm3_ctx ctx;
    int i;

    for (i = 0; i < BLOCK; i++) {
        pad[i] = K[i] ^ 0x36;
    }
    ngcc_sm3_init(&ctx);
    ngcc_sm3_append(&ctx, pad, 8U * BLOCK);
    ngcc_sm3_append(&ctx, x, x_bits);
    ngcc_sm3_append(&ctx, y, y_bits);
    ngcc_sm3_finish(&ctx, inner);

    for (i = 0; i < BLOCK; i++) {
        pad[i] = K[i] ^ 0x5c;
    }
    sm3_of_two(tag, pad, 8U * BLOCK, inner, DIGEST_BITS);
}

/* -3 (inner HMAC failed) and -2 are never returned: nothing here allocates or can fail. */
int pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
               unsigned char *digest)
{
    unsigned char h[4 * DIGEST]; /* h1, h2, h3, h4 in a row: a digest is its beginning */
    unsigned char *const h1 = h, *const h2 = h + DIGEST;
    unsigned char *const h3 = h + 2 * DIGEST, *const h4 = h + 3 * DIGEST;
    unsigned char k[DIGEST];
    unsigned char k3_h3[2 * DIGEST];
    unsigned char tag[2] = {0, 0};

    if (digest_len_bits != 512 && digest_len_bits != 768 && digest_len_bits != 1024) {
        fprintf(stderr, "pseudohash: a digest of %d bits is not offered, only 512, 768 and 1024\n",
                digest_len_bits);
        return BAD_DIGEST_LENGTH;
    }
    tag[0] = (unsigned char)(digest_len_bits / 256); /* 0x0200, 0x0300 or 0x0400 */

    hmac_of_two(k, tag, 16, msg, msg_len_bits);             /* k1 */
    sm3_of_two(h1, msg, msg_len_bits, tag, 16);
    sm3_of_two(h2, k, DIGEST_BITS, h1, DIGEST_BITS);
    if (digest_len_bits >= 768) {
        hmac_of_two(k, h1, DIGEST_BITS, NULL, 0);           /* k2 */
        sm3_of_two(h3, h2, DIGEST_BITS, k, DIGEST_BITS);
    }
    if (digest_len_bits == 1024) {
        hmac_of_two(k3_h3, h2, DIGEST_BITS, NULL, 0);       /* k3 */
        memcpy(k3_h3 + DIGEST, h3, DIGEST);
        hmac_of_two(k, h3, DIGEST_BITS, NULL, 0);           /* k4 */
        sm3_of_two(h4, k3_h3, 2U * DIGEST_BITS, k, DIGEST_BITS);
    }
    memcpy(digest, h, (size_t)digest_len_bits / 8U);
    return OK;
}

int pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg,
              unsigned long long msg_len_bits, unsigned char *output)
{
    const unsigned long long blocks =
        output_len_bits / DIGEST_BITS + (output_len_bits % DIGEST_BITS != 0);
    const unsigned rest = (unsigned)(output_len_bits % 8U);
    const size_t bytes = (size_t)(output_len_bits / 8U) + (rest != 0);
    unsigned char counter[4];
    unsigned char *collected;
    unsigned long long i;

    if (blocks == 0) {
        return OK;
    }
    if (blocks > SIZE_MAX / DIGEST) {
        return NO_MEMORY;
    }
    collected = (unsigned char *)malloc((size_t)blocks * DIGEST);
    if (collected == NULL) {
        return NO_MEMORY;
    }
    for (i = 0; i < blocks; i++) {
        const uint32_t ct = (uint32_t)((i + 1U) & 0xffffffffU);

        counter[0] = (unsigned char)(ct >> 24);
        counter[1] = (unsigned char)(ct >> 16);
        counter[2] = (unsigned char)(ct >> 8);
        counter[3] = (unsigned char)ct;
        sm3_of_two(collected + i * DIGEST, msg, msg_len_bits, counter, 32);
    }
    if (rest != 0) {
        collected[bytes - 1] &= (unsigned char)(0xff00U >> rest);
    }
    memcpy(output, collected, bytes);
    free(collected);
    return OK;
}
