/*
 * encode.c - pack_d, Comp_d, Decomp_d and the secret's encoding.
 *
 * It does not know which parts a key or a ciphertext has; pke.c does.
 *
 * Why so: nothing is checked on the way in. Every string of bits is a public key or a ciphertext, and
 * a secret's digit beyond 2 * eta gives a coefficient beyond eta, which ring.c has room for.
 */
#include "encode.h"

void pack(unsigned char *out, const coeff *values, size_t count, unsigned d)
{
    uint32_t pending = 0; /* bits not written yet, the next one lowest */
    unsigned bits = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        pending |= ((uint32_t)values[i] & ((1U << d) - 1U)) << bits;
        for (bits += d; bits >= 8; bits -= 8) {
            *out++ = (unsigned char)(pending & 0xffU);
            pending >>= 8;
        }
    }
}

void unpack(coeff *values, const unsigned char *in, size_t count, unsigned d)
{
    uint32_t pending = 0;
    unsigned bits = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        for (; bits < d; bits += 8) {
            pending |= (uint32_t)*in++ << bits;
        }
        values[i] = (coeff)(pending & ((1U << d) - 1U));
        pending >>= d;
        bits -= d;
    }
}

void Comp(coeff *values, size_t count, unsigned d)
{
    size_t i;

    for (i = 0; i < count; i++) {
        values[i] = (coeff)(values[i] >> (13U - d)); /* truncated, not rounded */
    }
}

void Decomp(coeff *values, size_t count, unsigned d)
{
    size_t i;

    for (i = 0; i < count; i++) {
        const int x = values[i] * (1 << (13U - d)) + (1 << (12U - d));

        values[i] = (coeff)(x < q - 1 ? x : q - 1);
    }
}

void pack_secret(unsigned char *out, const coeff *s, size_t count)
{
    size_t i;

    for (i = 0; i < count / 2; i++) {
        out[i] = (unsigned char)((s[2 * i] + eta) | ((s[2 * i + 1] + eta) << 4));
    }
}

void unpack_secret(coeff *s, const unsigned char *in, size_t count)
{
    size_t i;

    unpack(s, in, count, 4);
    for (i = 0; i < count; i++) {
        s[i] = (coeff)(s[i] - eta);
    }
}
