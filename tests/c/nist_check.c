/*
 * Asks the generator behind `randombytes` for bytes, by commands on stdin:
 *
 *   seed HEX    ->  the result, a number (`-` is the empty seed)
 *   draw N      ->  N bytes in upper-case hex
 *   bits N      ->  the bytes that ngcc_random makes of N bits
 *
 * Does not know: which generator is linked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int randombytes(unsigned char *out, size_t bytes);
int PQCLEAN_randombytes(unsigned char *out, size_t bytes);
int ngcc_seed(const unsigned char *seed, unsigned long long bytes);
int ngcc_random(unsigned char *out, unsigned long long bits);

static unsigned char buffer[1024];

static size_t from_hex(const char *hex)
{
    size_t bytes = 0;
    unsigned value;
    for (; sscanf(hex, "%2x", &value) == 1; hex += 2)
        buffer[bytes++] = (unsigned char)value;
    return bytes;
}

static void print(size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        printf("%02X", (unsigned)buffer[i]);
    putchar('\n');
}

int main(void)
{
    static char command[8], argument[2048];
    int turn = 0;
    while (scanf("%7s %2047s", command, argument) == 2) {
        size_t n = (size_t)strtoul(argument, NULL, 10);
        if (strcmp(command, "seed") == 0) {
            n = from_hex(argument);
            printf("%d\n", ngcc_seed(buffer, n));
        } else if (strcmp(command, "draw") == 0 && n <= sizeof buffer) {
            /* Both names in turn: it is one generator. */
            if ((turn++ % 2 == 0 ? randombytes : PQCLEAN_randombytes)(buffer, n) != 0)
                return 1;
            print(n);
        } else if (strcmp(command, "bits") == 0 && n <= 8 * sizeof buffer) {
            if (ngcc_random(buffer, n) != 0)
                return 1;
            print(n / 8 + (n % 8 != 0));
        } else {
            return 2;
        }
    }
    return 0;
}
