#include "KEM_Tiny.h"

#include "tiny.inc"
