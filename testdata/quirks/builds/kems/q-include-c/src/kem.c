#include "KEM_AlgorithmInstance.h"

#include "tables.c"

#define TINY_KEYGEN tiny_table[0]

#include "tiny.inc"
