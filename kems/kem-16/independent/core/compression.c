/*
 * The [51,41] covering code. A block is 10 parity bits, then 41 message bits; the coset leaders are
 * worked out at each call from the parity rows, since a search over 51 columns is nothing beside the
 * thousands of blocks, and a table of 1024 leaders would be one more thing to trust.
 */
#include "compression.h"

#include <string.h>

#define SYNDROMES (1u << SYNDROME_BITS)

/* M_r: bit j says that parity bit r counts message bit j. */
static const uint64_t PARITY_ROW[SYNDROME_BITS] = {
    UINT64_C(0x0A8FE70FC2A), UINT64_C(0x052C05A8E7B), UINT64_C(0x17DDD5D677D), UINT64_C(0x01D2E904544),
    UINT64_C(0x1A4D94F4333), UINT64_C(0x0CFA303A571), UINT64_C(0x1F3506F20F4), UINT64_C(0x14BD402923F),
    UINT64_C(0x0B17A40F8DF), UINT64_C(0x0D75EC73E00),
};

static unsigned parity_of(uint64_t bits)
{
    bits ^= bits >> 32;
    bits ^= bits >> 16;
    bits ^= bits >> 8;
    bits ^= bits >> 4;
    return (unsigned)(UINT64_C(0x6996) >> (bits & 15)) & 1u;
}

/* The ten parity bits of a message of 41 bits. */
static unsigned parity_bits(uint64_t message)
{
    unsigned bits = 0;

    for (unsigned r = 0; r < SYNDROME_BITS; r++) {
        bits |= parity_of(message & PARITY_ROW[r]) << r;
    }
    return bits;
}

/* The syndrome of a block; that of a single bit is its column of the parity check matrix. */
static unsigned syndrome_of(uint64_t block)
{
    return (unsigned)(block & (SYNDROMES - 1)) ^ parity_bits(block >> SYNDROME_BITS);
}

/*
 * leader[s] = the pattern of fewest bits with syndrome s; of several patterns of two bits the one whose
 * lower bit is lowest, then whose upper bit is lowest.
 */
static void find_leaders(uint64_t leader[SYNDROMES])
{
    unsigned column[BLOCK_BITS];

    memset(leader, 0, SYNDROMES * sizeof leader[0]);
    for (unsigned i = 0; i < BLOCK_BITS; i++) {
        column[i] = syndrome_of(UINT64_C(1) << i);
        leader[column[i]] = UINT64_C(1) << i;
    }
    for (unsigned i = 0; i < BLOCK_BITS; i++) {
        for (unsigned j = i + 1; j < BLOCK_BITS; j++) {
            unsigned syndrome = column[i] ^ column[j];

            if (leader[syndrome] == 0) {
                leader[syndrome] = (UINT64_C(1) << i) | (UINT64_C(1) << j);
            }
        }
    }
}

void compress(uint8_t payload[PAYLOAD_BYTES], const uint8_t v[L1_BYTES])
{
    uint64_t leader[SYNDROMES];

    find_leaders(leader);
    memset(payload, 0, PAYLOAD_BYTES);
    for (size_t i = 0; i < BLOCKS; i++) {
        uint64_t block = bits_get(v, BLOCK_BITS * i, BLOCK_BITS);

        block ^= leader[syndrome_of(block)];
        bits_add(payload, GROUP_BITS * i, GROUP_BITS, block >> SYNDROME_BITS);
    }
    bits_add(payload, GROUP_BITS * BLOCKS, LEFTOVER_BITS, bits_get(v, BLOCK_BITS * BLOCKS, LEFTOVER_BITS));
}

void decompress(uint8_t v[L1_BYTES], const uint8_t payload[PAYLOAD_BYTES])
{
    memset(v, 0, L1_BYTES);
    for (size_t i = 0; i < BLOCKS; i++) {
        uint64_t message = bits_get(payload, GROUP_BITS * i, GROUP_BITS);

        bits_add(v, BLOCK_BITS * i, BLOCK_BITS, (message << SYNDROME_BITS) | parity_bits(message));
    }
    bits_add(v, BLOCK_BITS * BLOCKS, LEFTOVER_BITS, bits_get(payload, GROUP_BITS * BLOCKS, LEFTOVER_BITS));
}
