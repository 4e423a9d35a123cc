/* The official header under a name of its own. */
#include "tiny.h"
