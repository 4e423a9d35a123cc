/*
 * lore_check.c - what only an implementation of Lore can be asked, one question a run.
 *
 *   keccak      digests of the bytes 0, 1, 2, ... in lengths around the rates (SHAKE family only)
 *   transform   the transform against the definition and against plain products
 *   code        the code words of two messages, as hexadecimal
 *   bch         the decoder against 0 to T + 6 injected errors (L2 to L4 only)
 *   runout      a sampler whose words run out reads on, and stops at the end of its buffer
 *   reject      the secret of KAT record 0 after one flipped bit, as hexadecimal
 *   tamper      flipped bits, foreign ciphertexts and keys, wrong lengths, malformed secret keys
 *
 * It judges what follows from the description, and prints what the Rust side compares with published
 * values. What any KEM can be asked is in kem_check.c. `runout` needs the linker's --wrap=lore_PRF.
 */
#include "lore_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "KEM_AlgorithmInstance.h"
#include "drng.h"

extern DRNG_ctx drng_algorithm; /* kem_drive.h */

void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s: %s\n", ALGORITHM_INSTANCE, what);
        exit(1);
    }
}

void print_hex(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf("%02x", p[i]);
    }
    printf("\n");
}

void random_bytes(uint8_t *out, size_t n)
{
    check(get_random_number(&drng_algorithm, out, 8ULL * n) == 0, "no random bytes");
}

uint32_t random_below(uint32_t bound)
{
    uint8_t b[4];

    random_bytes(b, sizeof b);
    return (b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24) % bound;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*answer)(void);
    } questions[] = {
        {"keccak", keccak}, {"transform", transform}, {"code", code},     {"bch", bch},
        {"runout", runout}, {"reject", reject},       {"tamper", tamper},
    };

    init_random_number(&drng_algorithm, (const unsigned char *)"lore", 4);
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        if (argc == 2 && strcmp(argv[1], questions[i].name) == 0) {
            questions[i].answer();
            return 0;
        }
    }
    check(0, "usage: lore_check keccak | transform | code | bch | runout | reject | tamper");
    return 1;
}
