/*
 * drng.h - the deterministic generator a public-key submission draws all its randomness from.
 *
 * Names and types are those of the official interface; a submission's sources include this file as
 * "drng.h". The seed length is in bytes, the length of a draw in bits. Both functions return 0.
 *
 * A context that is all zero and was never seeded works too. Contexts do not influence each other.
 */
#ifndef DRNG_H
#define DRNG_H

#ifdef __cplusplus
extern "C" {
#endif

#define SEEDLEN (55)

typedef struct {
    unsigned char V[SEEDLEN];
    unsigned char C[SEEDLEN];
    unsigned char reseed_counter[SEEDLEN];
} DRNG_ctx;

int init_random_number(DRNG_ctx *drng, const unsigned char *seed,
                       unsigned long long seed_len_bytes);

/* Writes ceil(bits / 8) bytes. A draw of 0 bits writes nothing but still moves the state on. */
int get_random_number(DRNG_ctx *drng, unsigned char *random_number,
                      unsigned long long random_number_len_bits);

#ifdef __cplusplus
}
#endif

#endif
