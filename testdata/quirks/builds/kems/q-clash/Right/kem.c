/* tiny_secret() of the one is not that of the other. */
#include "KEM_AlgorithmInstance.h"

#define TINY_TAIL 2

#include "tiny.inc"
