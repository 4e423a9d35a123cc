/*
 * sm3.c - the SM3 hash (GB/T 32905) over bit strings of any length.
 *
 * A message is appended in pieces of any number of bits, so that the callers can join message and
 * tag or counter without a copy. It knows nothing of the helpers built on it.
 *
 * Why so: the helpers hash the same message again and again, and most of the time of many
 * submissions is spent in `compress`. It is therefore unrolled, but plain C: the figures should show
 * what the submission asks for, not what a vector unit can do. The one deviation from the standard is
 * the length field, see ngcc_sm3_finish.
 */
#include "sm3.h"

#include <string.h>

static uint32_t rol(uint32_t x, unsigned n)
{
    return (x << n) | (x >> (32U - n)); /* 0 < n < 32 at every call */
}

static uint32_t load_be(const unsigned char *p)
{
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static void store_be(unsigned char *p, uint32_t x)
{
    p[0] = (unsigned char)(x >> 24);
    p[1] = (unsigned char)(x >> 16);
    p[2] = (unsigned char)(x >> 8);
    p[3] = (unsigned char)x;
}

static uint32_t p0(uint32_t x)
{
    return x ^ rol(x, 9) ^ rol(x, 17);
}

static uint32_t p1(uint32_t x)
{
    return x ^ rol(x, 15) ^ rol(x, 23);
}

/* T_j <<< (j mod 32): 79CC4519 for j < 16, 7A879D8A afterwards. */
static const uint32_t T[64] = {
    0x79cc4519U, 0xf3988a32U, 0xe7311465U, 0xce6228cbU, 0x9cc45197U, 0x3988a32fU, 0x7311465eU,
    0xe6228cbcU, 0xcc451979U, 0x988a32f3U, 0x311465e7U, 0x6228cbceU, 0xc451979cU, 0x88a32f39U,
    0x11465e73U, 0x228cbce6U, 0x9d8a7a87U, 0x3b14f50fU, 0x7629ea1eU, 0xec53d43cU, 0xd8a7a879U,
    0xb14f50f3U, 0x629ea1e7U, 0xc53d43ceU, 0x8a7a879dU, 0x14f50f3bU, 0x29ea1e76U, 0x53d43cecU,
    0xa7a879d8U, 0x4f50f3b1U, 0x9ea1e762U, 0x3d43cec5U, 0x7a879d8aU, 0xf50f3b14U, 0xea1e7629U,
    0xd43cec53U, 0xa879d8a7U, 0x50f3b14fU, 0xa1e7629eU, 0x43cec53dU, 0x879d8a7aU, 0x0f3b14f5U,
    0x1e7629eaU, 0x3cec53d4U, 0x79d8a7a8U, 0xf3b14f50U, 0xe7629ea1U, 0xcec53d43U, 0x9d8a7a87U,
    0x3b14f50fU, 0x7629ea1eU, 0xec53d43cU, 0xd8a7a879U, 0xb14f50f3U, 0x629ea1e7U, 0xc53d43ceU,
    0x8a7a879dU, 0x14f50f3bU, 0x29ea1e76U, 0x53d43cecU, 0xa7a879d8U, 0x4f50f3b1U, 0x9ea1e762U,
    0x3d43cec5U};

#define FF_LOW(x, y, z) ((x) ^ (y) ^ (z))
#define GG_LOW(x, y, z) ((x) ^ (y) ^ (z))
#define FF_HIGH(x, y, z) (((x) & (y)) | (((x) | (y)) & (z)))
#define GG_HIGH(x, y, z) ((((y) ^ (z)) & (x)) ^ (z))

/* One round without the moves: D takes TT1 and H takes P0(TT2); the caller rotates the names. */
#define ROUND(FF, GG, A, B, C, D, E, F, G, H, j)              \
    do {                                                      \
        const uint32_t a12 = rol(A, 12);                      \
        const uint32_t ss1 = rol(a12 + (E) + T[j], 7);        \
        (D) += FF(A, B, C) + (ss1 ^ a12) + (w[j] ^ w[(j) + 4]); \
        (H) = p0((H) + GG(E, F, G) + ss1 + w[j]);             \
        (B) = rol(B, 9);                                      \
        (F) = rol(F, 19);                                     \
    } while (0)

#define EXPAND(j)                                                                  \
    (w[j] = p1(w[(j) - 16] ^ w[(j) - 9] ^ rol(w[(j) - 3], 15)) ^ rol(w[(j) - 13], 7) ^ \
            w[(j) - 6])

/* Round j needs w up to j + 4. Expanding just ahead of the rounds, rather than in a loop of its own,
 * keeps gcc from vectorizing a recurrence of distance 3, which halves the speed. */
#define EXPAND_FOUR(j)   \
    do {                 \
        EXPAND((j));     \
        EXPAND((j) + 1); \
        EXPAND((j) + 2); \
        EXPAND((j) + 3); \
    } while (0)

#define FOUR_ROUNDS(FF, GG, j)                          \
    do {                                                \
        ROUND(FF, GG, a, b, c, d, e, f, g, h, (j));     \
        ROUND(FF, GG, d, a, b, c, h, e, f, g, (j) + 1); \
        ROUND(FF, GG, c, d, a, b, g, h, e, f, (j) + 2); \
        ROUND(FF, GG, b, c, d, a, f, g, h, e, (j) + 3); \
    } while (0)

static void compress(uint32_t v[8], const unsigned char *block)
{
    uint32_t w[68];
    uint32_t a = v[0], b = v[1], c = v[2], d = v[3];
    uint32_t e = v[4], f = v[5], g = v[6], h = v[7];
    int j;

    for (j = 0; j < 16; j++) {
        w[j] = load_be(block + 4 * j);
    }
    for (j = 0; j < 12; j += 4) {
        FOUR_ROUNDS(FF_LOW, GG_LOW, j);
    }
    EXPAND_FOUR(16);
    FOUR_ROUNDS(FF_LOW, GG_LOW, 12);
    for (j = 16; j < 64; j += 4) {
        EXPAND_FOUR(j + 4);
        FOUR_ROUNDS(FF_HIGH, GG_HIGH, j);
    }
    v[0] ^= a;
    v[1] ^= b;
    v[2] ^= c;
    v[3] ^= d;
    v[4] ^= e;
    v[5] ^= f;
    v[6] ^= g;
    v[7] ^= h;
}

void ngcc_sm3_init(ngcc_sm3_ctx *ctx)
{
    static const uint32_t iv[8] = {0x7380166fU, 0x4914b2b9U, 0x172442d7U, 0xda8a0600U,
                                   0xa96f30bcU, 0x163138aaU, 0xe38dee4dU, 0xb0fb0e4eU};

    memcpy(ctx->state, iv, sizeof iv);
    ctx->bits = 0;
}

/* Appends the top `count` bits (1..8) of `byte`, whose other bits are 0, at any bit position. */
static void append_bits(ngcc_sm3_ctx *ctx, unsigned byte, unsigned count)
{
    const unsigned offset = (unsigned)(ctx->bits & 7U);
    const unsigned at = (unsigned)(ctx->bits >> 3) & 63U;

    ctx->block[at] = (unsigned char)(offset == 0 ? byte : ctx->block[at] | (byte >> offset));
    ctx->bits += count;
    if (offset + count >= 8) {
        if (at == 63) {
            compress(ctx->state, ctx->block);
        }
        if (offset + count > 8) {
            ctx->block[(at + 1U) & 63U] = (unsigned char)((byte << (8U - offset)) & 0xffU);
        }
    }
}

/* Appends whole bytes at a byte boundary, full blocks straight from the caller's buffer. */
static void append_bytes(ngcc_sm3_ctx *ctx, const unsigned char *data, uint64_t bytes)
{
    const size_t at = (size_t)(ctx->bits >> 3) & 63U;

    ctx->bits += 8U * bytes;
    if (at != 0) {
        const size_t room = 64U - at;

        if (bytes < room) {
            memcpy(ctx->block + at, data, (size_t)bytes);
            return;
        }
        memcpy(ctx->block + at, data, room);
        compress(ctx->state, ctx->block);
        data += room;
        bytes -= room;
    }
    for (; bytes >= 64; bytes -= 64) {
        compress(ctx->state, data);
        data += 64;
    }
    if (bytes > 0) {
        memcpy(ctx->block, data, (size_t)bytes);
    }
}

void ngcc_sm3_append(ngcc_sm3_ctx *ctx, const unsigned char *data, uint64_t bits)
{
    const uint64_t whole = bits >> 3;
    const unsigned rest = (unsigned)(bits & 7U);
    uint64_t i;

    if (whole > 0) { /* an empty message may come with a null pointer */
        if ((ctx->bits & 7U) == 0) {
            append_bytes(ctx, data, whole);
        } else {
            for (i = 0; i < whole; i++) {
                append_bits(ctx, data[i], 8);
            }
        }
    }
    if (rest > 0) {
        append_bits(ctx, data[whole] & (0xff00U >> rest) & 0xffU, rest);
    }
}

/*
 * The upper half of the length field is that of the official helpers, ((n / 512) >> 32) << 9, which
 * loses bits 32..40 of the length n. Below 2^32 bits both halves are those of the standard; from
 * there on the digest is not standard SM3, and published vectors of such inputs rely on it.
 */
void ngcc_sm3_finish(ngcc_sm3_ctx *ctx, unsigned char digest[NGCC_SM3_BYTES])
{
    const uint64_t n = ctx->bits;
    size_t used;
    int i;

    append_bits(ctx, 0x80U, 1);
    used = ((size_t)(ctx->bits & 511U) + 7U) >> 3;
    if (used > 56) {
        memset(ctx->block + used, 0, 64U - used);
        compress(ctx->state, ctx->block);
        used = 0;
    }
    memset(ctx->block + used, 0, 56U - used);
    store_be(ctx->block + 56, (uint32_t)(((n / 512U) >> 32) << 9));
    store_be(ctx->block + 60, (uint32_t)(n & 0xffffffffU));
    compress(ctx->state, ctx->block);
    for (i = 0; i < 8; i++) {
        store_be(digest + 4 * i, ctx->state[i]);
    }
}
