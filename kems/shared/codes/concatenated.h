/*
 * Code(m) of the HQC-like schemes: a Reed-Solomon code word whose symbols are written in repeated RM(1,7).
 *
 * Symbol i fills the bits [i n2, (i+1) n2) with n2 = 128*mult. Knows neither the noise nor the scheme:
 * the lengths and the erasure rule are arguments.
 */
#ifndef CODES_CONCATENATED_H
#define CODES_CONCATENATED_H

#include <stddef.h>
#include <stdint.h>

struct concatenated_code {
    size_t n1;   /* symbols of the outer code word */
    size_t k;    /* message bytes */
    size_t mult; /* copies of each inner word */
    /* A symbol that won by at most this margin is an erasure; -1: there are no erasures. */
    int alpha;
};

/* The value for concatenated_code.alpha that never erases. */
#define CONCATENATED_NO_ERASURES (-1)

/* Bytes of Code(m). */
#define CONCATENATED_BYTES(n1, mult) ((n1) * (mult) * 16)

void concatenated_encode(uint8_t *code_word, const uint8_t *message, const struct concatenated_code *code);

/* Past the radius of the codes the message is arbitrary, and nothing tells. */
void concatenated_decode(uint8_t *message, const uint8_t *received, const struct concatenated_code *code);

#endif
