#include "KEM_AlgorithmInstance.h"

#include <ngcc-no-such/header.h>

#include "tiny.inc"
