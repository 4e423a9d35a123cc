#include "KEM_AlgorithmInstance.h"

#include "共用.h"

#define TINY_KEYGEN shared()

#include "tiny.inc"
