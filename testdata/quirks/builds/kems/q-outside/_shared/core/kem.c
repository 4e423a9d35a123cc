/* Nothing of it stands in the directory of the instance. */
#include "KEM_AlgorithmInstance.h"

#include "tiny.inc"
