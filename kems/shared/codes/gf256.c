/* GF(256) by shifts and masks; gf256.h says why. */
#include "gf256.h"

#define MODULUS 0x11Du

uint8_t gf256_mul(uint8_t x, uint8_t y)
{
    unsigned product = 0;

    for (unsigned i = 0; i < 8; i++) {
        product ^= (0u - ((y >> i) & 1u)) & ((unsigned)x << i);
    }
    for (unsigned i = 14; i >= 8; i--) {
        product ^= (0u - ((product >> i) & 1u)) & (MODULUS << (i - 8));
    }
    return (uint8_t)product;
}

/* x^254, as x^(2 + 4 + ... + 128). */
uint8_t gf256_inverse(uint8_t x)
{
    uint8_t square = x;
    uint8_t product = 1;

    for (unsigned i = 1; i < 8; i++) {
        square = gf256_mul(square, square);
        product = gf256_mul(product, square);
    }
    return product;
}

uint8_t gf256_alpha(unsigned exponent)
{
    uint8_t square = 2;
    uint8_t product = 1;

    for (exponent %= 255; exponent != 0; exponent >>= 1) {
        if (exponent & 1u) {
            product = gf256_mul(product, square);
        }
        square = gf256_mul(square, square);
    }
    return product;
}
