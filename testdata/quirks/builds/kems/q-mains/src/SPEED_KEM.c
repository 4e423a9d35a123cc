/* A program of the package; it must not be compiled. */
#include <stdio.h>

int main(void)
{
    puts("not part of the library");
    return 0;
}
