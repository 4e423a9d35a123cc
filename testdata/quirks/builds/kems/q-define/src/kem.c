/* Two parameter sets: TINY_TAIL comes from the manifest. */
#include "KEM_AlgorithmInstance.h"

#include "tiny.inc"
