/* A hash of its own; the names of the official ones stand for something else here. */
#include "KEM_AlgorithmInstance.h"

static int own_xof(unsigned long long bits, const unsigned char *in, unsigned long long in_bits, unsigned char *out)
{
    unsigned long long i, state = 1;
    for (i = 0; i < in_bits / 8; i++)
        state = (state ^ in[i]) * 0x100000001b3ull;
    for (i = 0; i < bits / 8; i++) {
        state = (state ^ i) * 0x100000001b3ull;
        out[i] = (unsigned char)(state >> 32);
    }
    return 0;
}

/* Would clash with ours if ours were linked. */
int sm3hash(void);

int sm3hash(void)
{
    return 3;
}

#define TINY_XOF own_xof
#include "tiny.inc"
