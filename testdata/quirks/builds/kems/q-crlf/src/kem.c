#include "KEM_AlgorithmInstance.h"

/* A macro over two lines, which a carriage return must not break. */
#define TINY_KEYGEN \
    0

#include "tiny.inc"
