/*
 * lore_check.h - what the two halves of the Lore check program share; see lore_check.c.
 */
#ifndef LORE_CHECK_H
#define LORE_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* Ends the program with a message unless the condition holds. */
void check(int holds, const char *what);

void print_hex(const uint8_t *p, size_t n);
void random_bytes(uint8_t *out, size_t n);
uint32_t random_below(uint32_t bound);

/* lore_parts.c */
void keccak(void);
void transform(void);
void code(void);
void bch(void);
void runout(void);

/* lore_rejection.c */
void reject(void);
void tamper(void);

#endif
