/* Byte forms of polynomials; see pack.c. */
#ifndef LORE_PACK_H
#define LORE_PACK_H

#include <stddef.h>

#include "ring.h"

/* pack(list of k q parts): returns the bytes written, at most LORE_PACKED_MAX.  The bytes
 * are whole when out was zero before. */
size_t lore_pack(uint8_t *out, const poly_q v[LORE_K]);

/* The reverse: returns the bytes read, at most LORE_PACKED_MAX whatever they hold. */
size_t lore_unpack(poly_q v[LORE_K], const uint8_t *in);

/* n entries of 1 or 2 bits, low bit first; out must be zero before.  Both return the bytes. */
size_t lore_pack_bits(uint8_t *out, const uint8_t entry[LORE_N], unsigned bits);
size_t lore_unpack_bits(uint8_t entry[LORE_N], const uint8_t *in, unsigned bits);

#endif
