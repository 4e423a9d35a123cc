/*
 * The transform of the q part: seven layers of butterflies modulo 257, which turn a
 * product modulo X^n + 1 into 128 small products modulo X^d -+ zeta.
 *
 * This file knows nothing of the t part, of signs or of rounding.  257 allows seven
 * layers and no more (its multiplicative group has order 256), hence the blocks of
 * d = n/128 coefficients that are left over.
 *
 * Sums are reduced late: a forward layer adds at most 257 to a coefficient and an
 * inverse layer doubles the bound, so 16 bits hold all seven layers either way.
 */
#include "transform.h"

/* zeta_i = 3^(i with its seven bits reversed) mod 257. */
static const uint16_t zeta[LORE_BLOCKS] = {
      1, 241,  64,   4, 249, 128,   2, 225, 136, 137, 223,  30, 197, 189,  15,  17,
     81, 246,  44,  67, 123,  88, 162, 235, 222,  46,  73, 117,  23, 146, 187,  92,
      9, 113,  62,  36, 185, 124,  18, 226, 196, 205, 208,  13, 231, 159, 135, 153,
    215, 158, 139,  89,  79,  21, 173,  59, 199, 157, 143,  25, 207,  29, 141,  57,
      3, 209, 192,  12, 233, 127,   6, 161, 151, 154, 155,  90,  77,  53,  45,  51,
    243, 224, 132, 201, 112,   7, 229, 191, 152, 138, 219,  94,  69, 181,  47,  19,
     27,  82, 186, 108,  41, 115,  54, 164,  74, 101, 110,  39, 179, 220, 148, 202,
    131, 217, 160,  10, 237,  63,   5, 177,  83, 214, 172,  75, 107,  87, 166, 171
};

/* 1/128 mod 257, which the inverse still owes after its seven layers. */
#define LORE_SCALE 255u

void lore_transform(poly_q *p)
{
    unsigned i = 1;

    for (unsigned len = LORE_N / 2; len >= LORE_D; len /= 2) {
        for (unsigned start = 0; start < LORE_N; start += 2 * len) {
            const uint32_t z = zeta[i++];

            for (unsigned x = start; x < start + len; x++) {
                const uint32_t a = p->c[x];
                const uint32_t b = z * p->c[x + len] % LORE_Q;

                p->c[x] = (uint16_t)(a + b);
                p->c[x + len] = (uint16_t)(a + LORE_Q - b);
            }
        }
    }
    for (unsigned x = 0; x < LORE_N; x++)
        p->c[x] = p->c[x] % LORE_Q;
}

void lore_inverse_transform(poly_q *p)
{
    /* A multiple of 257 that exceeds every coefficient before the last layer. */
    const uint32_t above = 64 * LORE_Q;
    unsigned i = LORE_BLOCKS - 1;

    for (unsigned len = LORE_D; len <= LORE_N / 2; len *= 2) {
        for (unsigned start = 0; start < LORE_N; start += 2 * len) {
            const uint32_t z = zeta[i--];

            for (unsigned x = start; x < start + len; x++) {
                const uint32_t a = p->c[x];
                const uint32_t b = p->c[x + len];

                p->c[x] = (uint16_t)(a + b);
                p->c[x + len] = (uint16_t)(z * (b + above - a) % LORE_Q);
            }
        }
    }
    for (unsigned x = 0; x < LORE_N; x++)
        p->c[x] = (uint16_t)(LORE_SCALE * p->c[x] % LORE_Q);
}

/* r += a * b modulo X^d - z, for one block. */
static void multiply_add_block(uint16_t *r, const uint16_t *a, const uint16_t *b, uint32_t z)
{
    for (unsigned i = 0; i < LORE_D; i++) {
        uint32_t low = 0;
        uint32_t high = 0;

        for (unsigned j = 0; j <= i; j++)
            low += (uint32_t)a[j] * b[i - j];
        for (unsigned j = i + 1; j < LORE_D; j++)
            high += (uint32_t)a[j] * b[LORE_D + i - j];
        r[i] = (uint16_t)((r[i] + low + z * (high % LORE_Q)) % LORE_Q);
    }
}

void lore_multiply_add(poly_q *r, const poly_q *a, const poly_q *b)
{
    for (unsigned j = 0; j < LORE_BLOCKS / 2; j++) {
        const uint32_t z = zeta[LORE_BLOCKS / 2 + j];
        const unsigned even = 2 * j * LORE_D;
        const unsigned odd = even + LORE_D;

        multiply_add_block(r->c + even, a->c + even, b->c + even, z);
        multiply_add_block(r->c + odd, a->c + odd, b->c + odd, LORE_Q - z);
    }
}
