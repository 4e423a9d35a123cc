#include "KEM_AlgorithmInstance.h"

#include "state.h"

#define TINY_KEYGEN tiny_state

#include "tiny.inc"
