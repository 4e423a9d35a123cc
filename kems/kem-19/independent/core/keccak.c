/*
 * SHA3-256, SHAKE128 and SHAKE256 as FIPS 202 defines them.
 *
 * Messages are absorbed whole, because the scheme has all of them at hand; only the
 * output is a stream.  The permutation works on 64-bit lanes and reaches bytes by
 * shifting, so the code does not depend on the byte order of the machine.
 */
#include "keccak.h"

#include <string.h>

static const uint64_t round_constant[24] = {
    0x0000000000000001u, 0x0000000000008082u, 0x800000000000808au, 0x8000000080008000u,
    0x000000000000808bu, 0x0000000080000001u, 0x8000000080008081u, 0x8000000000008009u,
    0x000000000000008au, 0x0000000000000088u, 0x0000000080008009u, 0x000000008000000au,
    0x000000008000808bu, 0x800000000000008bu, 0x8000000000008089u, 0x8000000000008003u,
    0x8000000000008002u, 0x8000000000000080u, 0x000000000000800au, 0x800000008000000au,
    0x8000000080008081u, 0x8000000000008080u, 0x0000000080000001u, 0x8000000080008008u
};

static inline uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* chi on one row of b, written to a. */
static inline void chi_row(uint64_t *a, const uint64_t *b)
{
    a[0] = b[0] ^ (~b[1] & b[2]);
    a[1] = b[1] ^ (~b[2] & b[3]);
    a[2] = b[2] ^ (~b[3] & b[4]);
    a[3] = b[3] ^ (~b[4] & b[0]);
    a[4] = b[4] ^ (~b[0] & b[1]);
}

/* Keccak-f[1600]; lane (x, y) is a[x + 5y].  theta, then rho and pi into b, then chi. */
static void permute(uint64_t a[25])
{
    for (unsigned round = 0; round < 24; round++) {
        const uint64_t c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
        const uint64_t c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
        const uint64_t c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
        const uint64_t c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
        const uint64_t c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
        const uint64_t d0 = c4 ^ rotate(c1, 1);
        const uint64_t d1 = c0 ^ rotate(c2, 1);
        const uint64_t d2 = c1 ^ rotate(c3, 1);
        const uint64_t d3 = c2 ^ rotate(c4, 1);
        const uint64_t d4 = c3 ^ rotate(c0, 1);
        uint64_t b[25];

        b[0] = a[0] ^ d0;
        b[10] = rotate(a[1] ^ d1, 1);
        b[20] = rotate(a[2] ^ d2, 62);
        b[5] = rotate(a[3] ^ d3, 28);
        b[15] = rotate(a[4] ^ d4, 27);

        b[16] = rotate(a[5] ^ d0, 36);
        b[1] = rotate(a[6] ^ d1, 44);
        b[11] = rotate(a[7] ^ d2, 6);
        b[21] = rotate(a[8] ^ d3, 55);
        b[6] = rotate(a[9] ^ d4, 20);

        b[7] = rotate(a[10] ^ d0, 3);
        b[17] = rotate(a[11] ^ d1, 10);
        b[2] = rotate(a[12] ^ d2, 43);
        b[12] = rotate(a[13] ^ d3, 25);
        b[22] = rotate(a[14] ^ d4, 39);

        b[23] = rotate(a[15] ^ d0, 41);
        b[8] = rotate(a[16] ^ d1, 45);
        b[18] = rotate(a[17] ^ d2, 15);
        b[3] = rotate(a[18] ^ d3, 21);
        b[13] = rotate(a[19] ^ d4, 8);

        b[14] = rotate(a[20] ^ d0, 18);
        b[24] = rotate(a[21] ^ d1, 2);
        b[9] = rotate(a[22] ^ d2, 61);
        b[19] = rotate(a[23] ^ d3, 56);
        b[4] = rotate(a[24] ^ d4, 14);

        for (unsigned row = 0; row < 25; row += 5)
            chi_row(a + row, b + row);
        a[0] ^= round_constant[round];
    }
}

static void add_byte(shake_state *s, unsigned at, uint8_t byte)
{
    s->lane[at / 8] ^= (uint64_t)byte << 8 * (at % 8);
}

static void absorb(shake_state *s, unsigned rate, uint8_t suffix, const uint8_t *in, size_t length)
{
    unsigned at = 0;

    memset(s, 0, sizeof *s);
    s->rate = rate;
    for (size_t i = 0; i < length; i++) {
        add_byte(s, at++, in[i]);
        if (at == rate) {
            permute(s->lane);
            at = 0;
        }
    }
    add_byte(s, at, suffix);
    add_byte(s, rate - 1, 0x80);
    permute(s->lane);
}

void shake_squeeze(shake_state *s, uint8_t *out, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (s->used == s->rate) {
            permute(s->lane);
            s->used = 0;
        }
        out[i] = (uint8_t)(s->lane[s->used / 8] >> 8 * (s->used % 8));
        s->used++;
    }
}

/* Rates in bytes: 1600 bits less twice the security level.  The suffix carries the
 * domain bits of SHA-3 (01) or SHAKE (1111) and the first padding bit. */

void sha3_256(uint8_t out[32], const uint8_t *in, size_t length)
{
    shake_state s;

    absorb(&s, 136, 0x06, in, length);
    shake_squeeze(&s, out, 32);
}

void shake256(uint8_t *out, size_t out_length, const uint8_t *in, size_t length)
{
    shake_state s;

    absorb(&s, 136, 0x1f, in, length);
    shake_squeeze(&s, out, out_length);
}

void shake128_absorb(shake_state *s, const uint8_t *in, size_t length)
{
    absorb(s, 168, 0x1f, in, length);
}
