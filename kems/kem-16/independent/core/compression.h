/*
 * HARE's compression of v: each block of 51 bits goes to a near code word of a [51,41] covering code, of
 * which only the 41 message bits travel.
 *
 * The code has covering radius two, so that a block loses at most two bits; to the decoder of v they are
 * noise like any other. Knows nothing of what v is made of.
 */
#ifndef HARE_COMPRESSION_H
#define HARE_COMPRESSION_H

#include <stdint.h>

#include "sizes.h"

void compress(uint8_t payload[PAYLOAD_BYTES], const uint8_t v[L1_BYTES]);

/* Bits of the payload beyond its last one are ignored. */
void decompress(uint8_t v[L1_BYTES], const uint8_t payload[PAYLOAD_BYTES]);

#endif
