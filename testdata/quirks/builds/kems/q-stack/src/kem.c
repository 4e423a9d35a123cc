#include "KEM_AlgorithmInstance.h"

/* An array of 12 MiB on the stack, touched at both ends. */
static int deep(void)
{
    volatile unsigned char rows[12 << 20];
    rows[0] = 0;
    rows[sizeof rows - 1] = 0;
    return rows[0] + rows[sizeof rows - 1];
}

#define TINY_KEYGEN deep()
#include "tiny.inc"
