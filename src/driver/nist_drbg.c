/*
 * The generator of NIST's test driver: CTR_DRBG on AES-256.
 *
 * What: SP 800-90A, section 10.2.1, without derivation function, prediction resistance and additional input:
 * the first 48 bytes of a seed are the entropy input, what follows (48 more at most) the
 * personalisation string, and either is filled up with zero bytes. So NIST's seeds of 48 bytes are taken as
 * NIST takes them, and the 64 bytes of an ICCS seed count in full.
 * Does not know: who draws, or how often. As in NIST's own program nothing is ever reseeded, and a request may
 * be longer than the standard's 2^16 bytes.
 * Why: own AES, so that a library needs none. It is one table of 1 KiB, made from the S-box when a seed is
 * set. Table look-ups take time that depends on the key: good for known answers, bad for secrets. Every
 * request makes a new key, so a scheme that draws four bytes at a time pays for four AES blocks and
 * a key schedule each time; that is in the definition and cannot be left out.
 */
#include "nist_random.h"

#include <stdint.h>
#include <string.h>

enum { KEY = 32, BLOCK = 16, ROUNDS = 14, WORDS = 4 * (ROUNDS + 1) };

/* FIPS 197, figure 7. */
static const unsigned char sbox[256] = {
    0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76,
    0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0,
    0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15,
    0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75,
    0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84,
    0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf,
    0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8,
    0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2,
    0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73,
    0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb,
    0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79,
    0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08,
    0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a,
    0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e,
    0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
    0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16,
};

static uint32_t table[256];        /* SubBytes and MixColumns of a byte in the first row */
static uint32_t round_keys[WORDS]; /* of the key in force */
static uint32_t counter[4];        /* V, most significant word first */

static uint32_t rotated(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static void make_table(void)
{
    int i;
    for (i = 0; i < 256; i++) {
        uint32_t s = sbox[i];
        uint32_t twice = (s << 1 ^ (s >> 7) * 0x1bu) & 0xffu;
        table[i] = twice << 24 | s << 16 | s << 8 | (twice ^ s);
    }
}

static uint32_t load(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store(unsigned char *bytes, uint32_t word)
{
    bytes[0] = (unsigned char)(word >> 24);
    bytes[1] = (unsigned char)(word >> 16);
    bytes[2] = (unsigned char)(word >> 8);
    bytes[3] = (unsigned char)word;
}

static uint32_t substituted(uint32_t word)
{
    return (uint32_t)sbox[word >> 24] << 24 | (uint32_t)sbox[word >> 16 & 0xff] << 16 |
           (uint32_t)sbox[word >> 8 & 0xff] << 8 | sbox[word & 0xff];
}

/* FIPS 197, section 5.2, for eight words of key. */
static void expand(const unsigned char *key)
{
    uint32_t constant = 1;
    int i;
    for (i = 0; i < 8; i++)
        round_keys[i] = load(key + 4 * i);
    for (i = 8; i < WORDS; i++) {
        uint32_t word = round_keys[i - 1];
        if (i % 8 == 0) {
            word = substituted(rotated(word, 24)) ^ constant << 24;
            constant <<= 1; /* seven of them: never past 0x40 */
        } else if (i % 8 == 4) {
            word = substituted(word);
        }
        round_keys[i] = round_keys[i - 8] ^ word;
    }
}

static uint32_t column(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return table[a >> 24] ^ rotated(table[b >> 16 & 0xff], 8) ^ rotated(table[c >> 8 & 0xff], 16) ^
           rotated(table[d & 0xff], 24);
}

static uint32_t last_column(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return substituted((a & 0xff000000u) | (b & 0xff0000u) | (c & 0xff00u) | (d & 0xffu));
}

/* V = V + 1, then the block cipher of it. */
static void next_block(unsigned char *out)
{
    const uint32_t *key = round_keys;
    uint32_t a, b, c, d, e, f, g, h;
    int i;

    for (i = 3; i >= 0 && ++counter[i] == 0; i--) {
    }
    a = counter[0] ^ key[0];
    b = counter[1] ^ key[1];
    c = counter[2] ^ key[2];
    d = counter[3] ^ key[3];
    for (i = 1; i < ROUNDS; i++) {
        key += 4;
        e = column(a, b, c, d) ^ key[0];
        f = column(b, c, d, a) ^ key[1];
        g = column(c, d, a, b) ^ key[2];
        h = column(d, a, b, c) ^ key[3];
        a = e;
        b = f;
        c = g;
        d = h;
    }
    key += 4;
    store(out, last_column(a, b, c, d) ^ key[0]);
    store(out + 4, last_column(b, c, d, a) ^ key[1]);
    store(out + 8, last_column(c, d, a, b) ^ key[2]);
    store(out + 12, last_column(d, a, b, c) ^ key[3]);
}

/* CTR_DRBG_Update, section 10.2.1.2; NULL stands for zeros. */
static void update(const unsigned char *provided)
{
    unsigned char fresh[KEY + BLOCK];
    int i;
    for (i = 0; i < KEY + BLOCK; i += BLOCK)
        next_block(fresh + i);
    for (i = 0; provided != NULL && i < KEY + BLOCK; i++)
        fresh[i] = (unsigned char)(fresh[i] ^ provided[i]);
    expand(fresh);
    for (i = 0; i < 4; i++)
        counter[i] = load(fresh + KEY + 4 * i);
}

int ngcc_nist_seed(const unsigned char *seed, unsigned long long bytes)
{
    static const unsigned char zero[KEY];
    unsigned char material[NIST_SEED_BYTES];
    unsigned long long i;

    if (bytes > 2 * NIST_SEED_BYTES)
        return -2;
    memset(material, 0, sizeof material);
    for (i = 0; i < bytes; i++)
        material[i % NIST_SEED_BYTES] = (unsigned char)(material[i % NIST_SEED_BYTES] ^ seed[i]);
    make_table();
    expand(zero);
    memset(counter, 0, sizeof counter);
    update(material);
    return 0;
}

/* CTR_DRBG_Generate, section 10.2.1.5. */
void ngcc_nist_bytes(unsigned char *out, size_t bytes)
{
    unsigned char last[BLOCK];
    for (; bytes >= BLOCK; bytes -= BLOCK, out += BLOCK)
        next_block(out);
    if (bytes > 0) {
        next_block(last);
        memcpy(out, last, bytes);
    }
    update(NULL);
}
