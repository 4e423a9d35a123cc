/*
 * FIPS 202 as mlkem-native asks for it, over the plain 64-bit Keccak of the same release (XKCP).
 *
 * Does not know: ML-KEM. Inputs are absorbed at once, outputs are whole blocks or short values.
 * Why: stands in for the file of the same name in liboqs's copy, whose SHA-3 layer includes headers that exist
 * only once liboqs is built. The permutation, where the time goes, is liboqs's own.
 */
#ifndef NGCC_FIPS202_GLUE_H
#define NGCC_FIPS202_GLUE_H

#include "KeccakP-1600-SnP.h"

#include <stddef.h>
#include <stdint.h>

#define SHAKE128_RATE 168
#define SHAKE256_RATE 136
#define SHA3_256_RATE 136
#define SHA3_512_RATE 72

/* Domain bits and the first bit of padding, FIPS 202 section B.2. */
#define NGCC_SHAKE_SUFFIX 0x1F
#define NGCC_SHA3_SUFFIX 0x06

typedef struct {
    uint64_t lanes[25];
} mlk_shake128ctx;

/* Absorbs a whole message and pads it; every block of output then begins with a permutation. */
static inline void ngcc_absorb_once(void *state, unsigned rate, unsigned char suffix, const uint8_t *in,
                                    size_t bytes)
{
    KeccakP1600_Initialize(state);
    for (; bytes >= rate; bytes -= rate, in += rate) {
        KeccakP1600_AddBytes(state, in, 0, rate);
        KeccakP1600_Permute_24rounds(state);
    }
    KeccakP1600_AddBytes(state, in, 0, (unsigned)bytes);
    KeccakP1600_AddByte(state, suffix, (unsigned)bytes);
    KeccakP1600_AddByte(state, 0x80, rate - 1);
}

static inline void ngcc_squeeze(void *state, unsigned rate, uint8_t *out, size_t bytes)
{
    while (bytes > 0) {
        unsigned some = bytes < rate ? (unsigned)bytes : rate;
        KeccakP1600_Permute_24rounds(state);
        KeccakP1600_ExtractBytes(state, out, 0, some);
        out += some;
        bytes -= some;
    }
}

static inline void ngcc_keccak(unsigned rate, unsigned char suffix, uint8_t *out, size_t out_bytes,
                               const uint8_t *in, size_t bytes)
{
    uint64_t lanes[25];
    ngcc_absorb_once(lanes, rate, suffix, in, bytes);
    ngcc_squeeze(lanes, rate, out, out_bytes);
}

static inline void mlk_shake128_init(mlk_shake128ctx *state)
{
    (void)state;
}

static inline void mlk_shake128_release(mlk_shake128ctx *state)
{
    (void)state;
}

static inline void mlk_shake128_absorb_once(mlk_shake128ctx *state, const uint8_t *in, size_t bytes)
{
    ngcc_absorb_once(state->lanes, SHAKE128_RATE, NGCC_SHAKE_SUFFIX, in, bytes);
}

static inline void mlk_shake128_squeezeblocks(uint8_t *out, size_t blocks, mlk_shake128ctx *state)
{
    ngcc_squeeze(state->lanes, SHAKE128_RATE, out, blocks * SHAKE128_RATE);
}

static inline void mlk_shake256(uint8_t *out, size_t out_bytes, const uint8_t *in, size_t bytes)
{
    ngcc_keccak(SHAKE256_RATE, NGCC_SHAKE_SUFFIX, out, out_bytes, in, bytes);
}

static inline void mlk_sha3_256(uint8_t *out, const uint8_t *in, size_t bytes)
{
    ngcc_keccak(SHA3_256_RATE, NGCC_SHA3_SUFFIX, out, 32, in, bytes);
}

static inline void mlk_sha3_512(uint8_t *out, const uint8_t *in, size_t bytes)
{
    ngcc_keccak(SHA3_512_RATE, NGCC_SHA3_SUFFIX, out, 64, in, bytes);
}

#endif
