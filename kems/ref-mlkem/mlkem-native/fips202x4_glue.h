/*
 * Four SHAKEs at a time as mlkem-native asks for them, one after the other.
 *
 * Does not know: vector instructions. Stands in for liboqs's file of the same name; see fips202_glue.h.
 */
#ifndef NGCC_FIPS202X4_GLUE_H
#define NGCC_FIPS202X4_GLUE_H

#include "fips202_glue.h"

typedef struct {
    mlk_shake128ctx each[4];
} mlk_shake128x4ctx;

static inline void mlk_shake128x4_init(mlk_shake128x4ctx *state)
{
    (void)state;
}

static inline void mlk_shake128x4_release(mlk_shake128x4ctx *state)
{
    (void)state;
}

static inline void mlk_shake128x4_absorb_once(mlk_shake128x4ctx *state, const uint8_t *in0, const uint8_t *in1,
                                              const uint8_t *in2, const uint8_t *in3, size_t bytes)
{
    mlk_shake128_absorb_once(&state->each[0], in0, bytes);
    mlk_shake128_absorb_once(&state->each[1], in1, bytes);
    mlk_shake128_absorb_once(&state->each[2], in2, bytes);
    mlk_shake128_absorb_once(&state->each[3], in3, bytes);
}

static inline void mlk_shake128x4_squeezeblocks(uint8_t *out0, uint8_t *out1, uint8_t *out2, uint8_t *out3,
                                                size_t blocks, mlk_shake128x4ctx *state)
{
    mlk_shake128_squeezeblocks(out0, blocks, &state->each[0]);
    mlk_shake128_squeezeblocks(out1, blocks, &state->each[1]);
    mlk_shake128_squeezeblocks(out2, blocks, &state->each[2]);
    mlk_shake128_squeezeblocks(out3, blocks, &state->each[3]);
}

static inline void mlk_shake256x4(uint8_t *out0, uint8_t *out1, uint8_t *out2, uint8_t *out3, size_t out_bytes,
                                  const uint8_t *in0, const uint8_t *in1, const uint8_t *in2, const uint8_t *in3,
                                  size_t bytes)
{
    mlk_shake256(out0, out_bytes, in0, bytes);
    mlk_shake256(out1, out_bytes, in1, bytes);
    mlk_shake256(out2, out_bytes, in2, bytes);
    mlk_shake256(out3, out_bytes, in3, bytes);
}

#endif
