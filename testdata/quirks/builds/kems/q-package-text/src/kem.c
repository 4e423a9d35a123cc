#include "KEM_AlgorithmInstance.h"

#include "tiny.inc"
