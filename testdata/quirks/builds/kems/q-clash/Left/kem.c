/* tiny_secret() of the one is not that of the other. */
#include "KEM_AlgorithmInstance.h"

#define TINY_TAIL 1

#include "tiny.inc"
