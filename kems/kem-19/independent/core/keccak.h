/* SHA3-256, SHAKE128 and SHAKE256 (FIPS 202); see keccak.c. */
#ifndef LORE_KECCAK_H
#define LORE_KECCAK_H

#include <stddef.h>
#include <stdint.h>

/* A sponge that has absorbed its message and hands out its stream. */
typedef struct {
    uint64_t lane[25];
    unsigned rate; /* bytes */
    unsigned used; /* bytes of the current block already handed out */
} shake_state;

void sha3_256(uint8_t out[32], const uint8_t *in, size_t length);
void shake256(uint8_t *out, size_t out_length, const uint8_t *in, size_t length);

void shake128_absorb(shake_state *s, const uint8_t *in, size_t length);
void shake_squeeze(shake_state *s, uint8_t *out, size_t length);

#endif
