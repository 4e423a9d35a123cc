#include "共用.h"

int shared(void)
{
    return 0;
}
