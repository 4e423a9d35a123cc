#include "KEM_AlgorithmInstance.h"

static volatile int forever = 1;

/* Slow, or without an end. */
static int wait_for_it(void)
{
    volatile unsigned long i;
    for (i = 0; i < 10000000ul || (TINY_ENDLESS && forever); i++) {
    }
    return 0;
}

#define TINY_KEYGEN wait_for_it()
#include "tiny.inc"
