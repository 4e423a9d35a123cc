#include "KEM_AlgorithmInstance.h"

#ifdef TINY_GNU
/* `asm` is a keyword in the GNU dialect only. */
static int fence(void)
{
    asm("");
    return 0;
}

#define TINY_KEYGEN fence()
#endif

#include "tiny.inc"
