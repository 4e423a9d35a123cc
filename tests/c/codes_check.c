/*
 * codes_check.c - asks the code that HARE and TriQ-KEM share, one question a run.
 *
 *   bits               reading and adding bits, comparing and choosing bytes
 *   field              products and inverses against tables made by repeated doubling
 *   inner MULT         RM(1,7): all symbols, with as many flipped bits as the distance allows
 *   outer N1 K         Reed-Solomon: every split of the radius into errors and erasures
 *   parity N1 K M      the parity symbols of a message, in decimal; M is "one" (1, 0, 0, ...) or
 *                      "count" (0, 1, 2, ...)
 *   code N1 K MULT     SM3 of Code(0, 1, 2, ...), in hexadecimal
 *   ring N             products modulo X^N - 1 against the definition
 *   supports           both samplers of supports, where equal candidates abound
 *
 * It judges what follows from the definitions and prints what the Rust side compares with published
 * values. Random choices come from one seed, so that a failure comes back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxfunc.h"
#include "bits.h"
#include "concatenated.h"
#include "fixed_weight.h"
#include "gf256.h"
#include "gf2x.h"
#include "reed_muller.h"
#include "reed_solomon.h"

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "codes_check: %s\n", what);
        exit(1);
    }
}

/* A number below `bound` from a xorshift generator. */
static uint32_t below(uint32_t bound)
{
    static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % bound);
}

static void random_bytes(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)below(256);
    }
}

/* The entries 0 .. count - 1 in random order. */
static void shuffle(size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t j = below((uint32_t)i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}

static void field(void)
{
    unsigned power[255];
    unsigned exponent_of[256] = {0};
    unsigned value = 1;

    for (unsigned i = 0; i < 255; i++) {
        power[i] = value;
        exponent_of[value] = i;
        check(gf256_alpha(i) == value && gf256_alpha(i + 255) == value, "a power of a");
        value = value & 128 ? (value << 1) ^ 0x11D : value << 1;
    }
    check(value == 1, "a is primitive");
    for (unsigned x = 0; x < 256; x++) {
        for (unsigned y = 0; y < 256; y++) {
            unsigned product = x && y ? power[(exponent_of[x] + exponent_of[y]) % 255] : 0;

            check(gf256_mul((uint8_t)x, (uint8_t)y) == product, "a product");
        }
        check(gf256_mul((uint8_t)x, gf256_inverse((uint8_t)x)) == (x != 0), "an inverse");
    }
}

static void inner(size_t mult)
{
    uint8_t block[16 * REED_MULLER_BYTES];
    size_t order[16 * REED_MULLER_BITS];
    size_t bits = mult * REED_MULLER_BITS;
    int margin;

    check(mult <= 16, "at most 16 copies");
    for (unsigned symbol = 0; symbol < 256; symbol++) {
        reed_muller_encode(block, (uint8_t)symbol, mult);
        for (size_t at = 0; at < bits; at++) {
            unsigned p = (unsigned)(at % REED_MULLER_BITS);
            unsigned bit = symbol >> 7;

            for (unsigned t = 0; t < 7; t++) {
                bit ^= (symbol >> t) & (p >> t) & 1;
            }
            check(bits_get(block, at, 1) == bit, "a bit of an inner code word");
        }
        check(reed_muller_decode(block, mult, &margin) == symbol && margin == (int)(64 * mult),
              "a clean block");

        shuffle(order, bits);
        for (size_t i = 0; i + 1 < 32 * mult; i++) {
            bits_add(block, order[i], 1, 1);
        }
        check(reed_muller_decode(block, mult, &margin) == symbol && margin > 0,
              "a block with the most errors that are always corrected");
    }
    /* Half of the ones of symbol 1 (bits 1, 3, 5, ...): as near to 0 as to 1, and the smaller one wins. */
    memset(block, 0, sizeof block);
    for (size_t at = 1; at < bits; at += 4) {
        bits_add(block, at, 1, 1);
    }
    check(reed_muller_decode(block, mult, &margin) == 0 && margin == 0, "a tie");
}

static void outer(size_t n1, size_t k)
{
    uint8_t message[REED_SOLOMON_MAX], word[REED_SOLOMON_MAX], sent[REED_SOLOMON_MAX];
    uint8_t erased[REED_SOLOMON_MAX];
    size_t order[REED_SOLOMON_MAX];
    size_t d = n1 - k;

    for (size_t erasures = 0; erasures <= d + 1; erasures++) {
        size_t errors = erasures <= d ? (d - erasures) / 2 : 0;

        random_bytes(message, k);
        reed_solomon_encode(sent, message, n1, k);
        check(memcmp(sent + d, message, k) == 0, "the message stands behind the parity");
        for (unsigned i = 1; i <= d; i++) {
            uint8_t root = gf256_alpha(i);
            uint8_t value = 0;

            for (size_t j = n1; j-- > 0;) {
                value = (uint8_t)(gf256_mul(value, root) ^ sent[j]);
            }
            check(value == 0, "a root of a code word");
        }

        memcpy(word, sent, n1);
        memset(erased, 0, sizeof erased);
        shuffle(order, n1);
        for (size_t i = 0; i < erasures; i++) {
            erased[order[i]] = 1;
            word[order[i]] = (uint8_t)below(256); /* now and then right by chance */
        }
        for (size_t i = erasures; i < erasures + errors; i++) {
            word[order[i]] = (uint8_t)(word[order[i]] ^ (1 + below(255)));
        }
        if (erasures <= d) {
            check(reed_solomon_decode(word, erased, n1, k) == 0, "a word within the radius");
            check(memcmp(word, sent, n1) == 0, "the word that was sent");
        } else {
            memcpy(sent, word, n1);
            check(reed_solomon_decode(word, erased, n1, k) == -1, "too many erasures");
            check(memcmp(word, sent, n1) == 0, "a word that is left as it came");
        }
    }
}

/* A word beyond the radius either stays as it is or becomes another code word. */
static void outer_beyond(size_t n1, size_t k)
{
    uint8_t word[REED_SOLOMON_MAX], received[REED_SOLOMON_MAX], again[REED_SOLOMON_MAX];
    uint8_t erased[REED_SOLOMON_MAX] = {0};

    for (int i = 0; i < 20; i++) {
        random_bytes(received, n1);
        memcpy(word, received, n1);
        if (reed_solomon_decode(word, erased, n1, k) == 0) {
            reed_solomon_encode(again, word + (n1 - k), n1, k);
            check(memcmp(word, again, n1) == 0, "a decoded word is a code word");
        } else {
            check(memcmp(word, received, n1) == 0, "a word that is left as it came");
        }
    }
}

static void parity(size_t n1, size_t k, const char *which)
{
    uint8_t message[REED_SOLOMON_MAX], word[REED_SOLOMON_MAX];

    for (size_t i = 0; i < k; i++) {
        message[i] = (uint8_t)(strcmp(which, "one") == 0 ? i == 0 : i);
    }
    reed_solomon_encode(word, message, n1, k);
    for (size_t i = 0; i < n1 - k; i++) {
        printf("%s%d", i == 0 ? "" : " ", word[i]);
    }
    printf("\n");
}

static void code(size_t n1, size_t k, size_t mult)
{
    const struct concatenated_code parameters = {n1, k, mult, CONCATENATED_NO_ERASURES};
    size_t count = CONCATENATED_BYTES(n1, mult);
    uint8_t message[REED_SOLOMON_MAX], opened[REED_SOLOMON_MAX], digest[32];
    uint8_t *word = malloc(count);

    check(word != NULL, "memory");
    for (size_t i = 0; i < k; i++) {
        message[i] = (uint8_t)i;
    }
    concatenated_encode(word, message, &parameters);
    check(sm3hash(256, word, 8 * count, digest) == 0, "the hash");
    for (size_t i = 0; i < sizeof digest; i++) {
        printf("%02x", digest[i]);
    }
    printf("\n");
    concatenated_decode(opened, word, &parameters);
    check(memcmp(opened, message, k) == 0, "a message that went through both codes");
    free(word);
}

static void ring(uint32_t n)
{
    size_t count = BITS_BYTES(n);
    uint8_t *dense = malloc(count), *product = malloc(count), *expected = malloc(count);
    uint64_t *work = malloc(GF2X_WORK_WORDS((size_t)n) * sizeof *work);

    check(dense && product && expected && work, "memory");
    for (int round = 0; round < 30; round++) {
        uint32_t support[9];
        size_t weight = (size_t)(round % 10);

        random_bytes(dense, count); /* also beyond coefficient n - 1, where nothing may count */
        random_bytes((uint8_t *)work, GF2X_WORK_WORDS((size_t)n) * sizeof *work);
        memset(expected, 0, count);
        for (size_t i = 0; i < weight; i++) {
            support[i] = round < 2 ? n - 1 : below(n + n / 4 + 1);
            for (uint32_t j = 0; support[i] < n && j < n; j++) {
                bits_add(expected, (j + support[i]) % n, 1, bits_get(dense, j, 1));
            }
        }
        gf2x_mul_sparse(product, dense, support, weight, n, work);
        check(bytes_differ(product, expected, count) == 0, "a product");

        gf2x_add_support(product, support, weight, n);
        for (size_t i = 0; i < weight; i++) {
            if (support[i] < n) {
                bits_add(product, support[i], 1, 1);
            }
        }
        check(bytes_differ(product, expected, count) == 0, "a sum");
    }
    free(dense);
    free(product);
    free(expected);
    free(work);
}

static uint32_t reduce_by_40(uint32_t candidate)
{
    return candidate % 40;
}

static void check_distinct(const uint32_t *support, size_t weight, uint32_t n)
{
    for (size_t i = 0; i < weight; i++) {
        check(support[i] < n, "an exponent below n");
        for (size_t j = 0; j < i; j++) {
            check(support[i] != support[j], "distinct exponents");
        }
    }
}

static void supports(void)
{
    uint8_t bytes[160], last[3] = {0xff, 0xff, 0xff};
    uint32_t support[40];

    for (int round = 0; round < 2000; round++) {
        size_t found = 0;

        random_bytes(bytes, sizeof bytes);
        fixed_weight_distinct(support, 40, bytes, 40 + below(10));
        check_distinct(support, 40, 50);

        while (found < 30) {
            random_bytes(bytes, 90);
            found = fixed_weight_collect(support, found, 30, bytes, 90, 0x800000, reduce_by_40);
        }
        check(found == 30, "as many as asked for");
        check_distinct(support, 30, 40);
        check(fixed_weight_collect(support, 30, 31, last, 3, 0xffffff, reduce_by_40) == 30,
              "a candidate at the bound is dropped");
    }
    /* Words of zeros choose i itself; words of ones the last exponent, which only one of them keeps. */
    memset(bytes, 0, sizeof bytes);
    fixed_weight_distinct(support, 40, bytes, 1000);
    check(support[0] == 0 && support[39] == 39, "the smallest words");
    memset(bytes, 0xff, sizeof bytes);
    fixed_weight_distinct(support, 40, bytes, 1000);
    check(support[0] == 0 && support[38] == 38 && support[39] == 999, "the largest words");
}

static void bits(void)
{
    uint8_t bytes[24];

    for (int round = 0; round < 20000; round++) {
        unsigned count = below(65);
        size_t first = below(24 * 8 - count + 1);
        uint64_t before, value = 0;

        random_bytes(bytes, sizeof bytes);
        before = bits_get(bytes, first, count);
        for (unsigned i = 0; i < count; i++) {
            check(((before >> i) & 1) == ((bytes[(first + i) / 8] >> ((first + i) % 8)) & 1u), "a bit");
            value |= (uint64_t)below(2) << i;
        }
        bits_add(bytes, first, count, value);
        check(bits_get(bytes, first, count) == (before ^ value), "added bits");
    }
    memset(bytes, 0xff, sizeof bytes);
    bits_clear_tail(bytes, 19);
    check(bytes[2] == 7 && bytes[1] == 0xff && bytes[3] == 0xff, "a cleared tail");
    for (unsigned choose = 0; choose < 2; choose++) {
        uint8_t to = 0x5a;

        bytes_choose(&to, bytes, 1, choose);
        check(to == (choose ? 0xff : 0x5a), "a choice");
    }
    check(bytes_differ((const uint8_t *)"ab", (const uint8_t *)"ab", 2) == 0, "equal bytes");
    check(bytes_differ((const uint8_t *)"ab", (const uint8_t *)"aB", 2) == 1, "different bytes");
}

static size_t number(const char *text)
{
    return (size_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
    const char *question = argc > 1 ? argv[1] : "";

    if (strcmp(question, "field") == 0) {
        field();
    } else if (strcmp(question, "bits") == 0) {
        bits();
    } else if (strcmp(question, "inner") == 0 && argc == 3) {
        inner(number(argv[2]));
    } else if (strcmp(question, "outer") == 0 && argc == 4) {
        outer(number(argv[2]), number(argv[3]));
        outer_beyond(number(argv[2]), number(argv[3]));
    } else if (strcmp(question, "parity") == 0 && argc == 5) {
        parity(number(argv[2]), number(argv[3]), argv[4]);
    } else if (strcmp(question, "code") == 0 && argc == 5) {
        code(number(argv[2]), number(argv[3]), number(argv[4]));
    } else if (strcmp(question, "ring") == 0 && argc == 3) {
        ring((uint32_t)number(argv[2]));
    } else if (strcmp(question, "supports") == 0) {
        supports();
    } else {
        check(0, "unknown question");
    }
    return 0;
}
