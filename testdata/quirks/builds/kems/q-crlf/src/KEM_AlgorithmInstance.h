/* The official header, by its official name. */
#include "tiny.h"
