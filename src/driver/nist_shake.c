/*
 * The generator that HQC's known answers are made with: SHAKE256 over the seed.
 *
 * What: one stream, SHAKE256 (FIPS 202) of the seed followed by the byte 1; every request takes the next bytes
 * of it. The byte is the domain of HQC's generator (`shake_prng` of its submission of April 2023).
 * Does not know: who draws. A seed may have any length.
 * Why: HQC's authors made their vectors with this in place of NIST's generator, and so do PQClean and
 * liboqs when they check it. Written for size: HQC draws a few seeds per operation and expands them itself.
 */
#include "nist_random.h"

#include <stdint.h>
#include <string.h>

enum { LANES = 25, RATE = 136, ROUNDS = 24, DOMAIN_BYTE = 1 };

static uint64_t state[LANES];
static unsigned position; /* of the next byte in the rate; RATE when it is used up */

static const uint64_t round_constants[ROUNDS] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

/* Along the path of pi, starting from lane 1: where a lane goes, and by how many bits it turns (rho). */
static const unsigned char target[LANES - 1] = {10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                                                15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1};
static const unsigned char turn[LANES - 1] = {1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                                              27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44};

static uint64_t rotated(uint64_t lane, int bits)
{
    return lane << bits | lane >> (64 - bits);
}

static void permute(void)
{
    uint64_t row[5], moved, next;
    int round, i, j;
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < 5; i++)
            row[i] = state[i] ^ state[i + 5] ^ state[i + 10] ^ state[i + 15] ^ state[i + 20];
        for (i = 0; i < LANES; i++)
            state[i] ^= row[(i + 4) % 5] ^ rotated(row[(i + 1) % 5], 1);
        moved = state[1];
        for (i = 0; i < LANES - 1; i++) {
            next = state[target[i]];
            state[target[i]] = rotated(moved, turn[i]);
            moved = next;
        }
        for (j = 0; j < LANES; j += 5) {
            memcpy(row, state + j, sizeof row);
            for (i = 0; i < 5; i++)
                state[j + i] = row[i] ^ (~row[(i + 1) % 5] & row[(i + 2) % 5]);
        }
        state[0] ^= round_constants[round];
    }
}

static void add(unsigned place, unsigned char byte)
{
    state[place / 8] ^= (uint64_t)byte << 8 * (place % 8);
}

static void absorb(unsigned char byte)
{
    if (position == RATE) {
        permute();
        position = 0;
    }
    add(position++, byte);
}

int ngcc_nist_seed(const unsigned char *seed, unsigned long long bytes)
{
    unsigned long long i;
    memset(state, 0, sizeof state);
    position = 0;
    for (i = 0; i < bytes; i++)
        absorb(seed[i]);
    absorb(DOMAIN_BYTE);
    absorb(0x1f); /* the suffix 1111 of an XOF and the first bit of padding */
    add(RATE - 1, 0x80);
    position = RATE;
    return 0;
}

void ngcc_nist_bytes(unsigned char *out, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++) {
        if (position == RATE) {
            permute();
            position = 0;
        }
        out[i] = (unsigned char)(state[position / 8] >> 8 * (position % 8));
        position++;
    }
}
