/*
 * sm3.h - SM3 over bit strings, for the helpers of this directory.
 *
 * Internal: a submission sees auxfunc.h and drng.h only. All symbols begin with ngcc_sm3_, so they
 * cannot meet the SM3 a submission may bring along.
 */
#ifndef NGCC_SM3_H
#define NGCC_SM3_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NGCC_SM3_BYTES (32)

typedef struct {
    uint32_t state[8];
    unsigned char block[64]; /* the bits that do not fill a block yet; bits behind the last are 0 */
    uint64_t bits;           /* length of the message so far */
} ngcc_sm3_ctx;

void ngcc_sm3_init(ngcc_sm3_ctx *ctx);

/* Appends the first `bits` bits of `data`, the most significant bit of a byte first, directly behind
 * the last bit appended before. Lower bits of a last partial byte are ignored. */
void ngcc_sm3_append(ngcc_sm3_ctx *ctx, const unsigned char *data, uint64_t bits);

/* Ends the message. `digest` may lie inside an appended buffer: it is written last. */
void ngcc_sm3_finish(ngcc_sm3_ctx *ctx, unsigned char digest[NGCC_SM3_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
