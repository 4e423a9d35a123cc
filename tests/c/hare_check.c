/*
 * hare_check.c - the covering code of HARE, seen through compress and decompress.
 *
 *   code               the code words of the messages 1, 2, 3 and 2^40, as hexadecimal numbers
 *   leaders            for six syndromes the bits of the leader; how many leaders have 0, 1, 2 bits
 *   radius             random strings lose at most two bits a block and nothing behind the blocks
 *
 * The leader of a syndrome s is read off the block whose ten parity bits are s and whose message is 0:
 * the message it is compressed to is that of the leader, and the leader's parity bits make up the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compression.h"
#include "drng.h"

/* The rest of the instance is linked too, and asks for it. */
DRNG_ctx drng_algorithm;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "hare_check: %s\n", what);
        exit(1);
    }
}

/* The code word of a message, from the first block of what a payload stands for. */
static uint64_t code_word(uint64_t message)
{
    uint8_t v[L1_BYTES], payload[PAYLOAD_BYTES] = {0};

    bits_add(payload, 0, GROUP_BITS, message);
    decompress(v, payload);
    return bits_get(v, 0, BLOCK_BITS);
}

static uint64_t leader(unsigned syndrome)
{
    uint8_t v[L1_BYTES] = {0}, payload[PAYLOAD_BYTES];

    bits_add(v, 0, SYNDROME_BITS, syndrome);
    compress(payload, v);
    return code_word(bits_get(payload, 0, GROUP_BITS)) ^ syndrome;
}

static unsigned weight(uint64_t bits)
{
    unsigned count = 0;

    for (; bits != 0; bits &= bits - 1) {
        count++;
    }
    return count;
}

static void print_code(void)
{
    printf("%llX %llX %llX %llX\n", (unsigned long long)code_word(1), (unsigned long long)code_word(2),
           (unsigned long long)code_word(3), (unsigned long long)code_word(UINT64_C(1) << 40));
}

static void print_leaders(void)
{
    static const unsigned EXAMPLES[] = {3, 7, 341, 682, 1000, 1023};
    unsigned of_weight[BLOCK_BITS + 1] = {0};

    for (size_t i = 0; i < sizeof EXAMPLES / sizeof EXAMPLES[0]; i++) {
        uint64_t bits = leader(EXAMPLES[i]);

        printf("%u:", EXAMPLES[i]);
        for (unsigned b = 0; b < BLOCK_BITS; b++) {
            if ((bits >> b) & 1) {
                printf(" %u", b);
            }
        }
        printf("\n");
    }
    for (unsigned s = 0; s < 1u << SYNDROME_BITS; s++) {
        of_weight[weight(leader(s))]++;
    }
    printf("%u %u %u\n", of_weight[0], of_weight[1], of_weight[2]);
}

static void radius(void)
{
    uint8_t v[L1_BYTES], back[L1_BYTES], payload[PAYLOAD_BYTES], again[PAYLOAD_BYTES];
    uint32_t state = 1;

    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < L1_BYTES; i++) {
            state = state * 1664525u + 1013904223u;
            v[i] = (uint8_t)(state >> 24);
        }
        compress(payload, v);
        decompress(back, payload);
        for (size_t i = 0; i < BLOCKS; i++) {
            uint64_t lost = bits_get(v, BLOCK_BITS * i, BLOCK_BITS) ^ bits_get(back, BLOCK_BITS * i, BLOCK_BITS);

            check(weight(lost) <= 2, "at most two bits lost");
        }
        check(bits_get(v, BLOCK_BITS * BLOCKS, LEFTOVER_BITS) ==
                  bits_get(back, BLOCK_BITS * BLOCKS, LEFTOVER_BITS),
              "nothing lost behind the blocks");
        compress(again, back);
        check(memcmp(payload, again, PAYLOAD_BYTES) == 0, "code words stay as they are");
    }
}

int main(int argc, char **argv)
{
    const char *question = argc > 1 ? argv[1] : "";

    if (strcmp(question, "code") == 0) {
        print_code();
    } else if (strcmp(question, "leaders") == 0) {
        print_leaders();
    } else if (strcmp(question, "radius") == 0) {
        radius();
    } else {
        check(0, "unknown question");
    }
    return 0;
}
