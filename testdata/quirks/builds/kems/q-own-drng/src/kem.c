#include "KEM_AlgorithmInstance.h"

#include "drng.h"

/* The driver of the call defines it, too. */
DRNG_ctx drng_algorithm;

#include "tiny.inc"
