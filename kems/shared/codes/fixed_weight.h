/*
 * Supports of fixed weight from random bytes: two ways to choose `weight` distinct exponents below n.
 *
 * Knows nothing of where the bytes come from. Neither way takes constant time; the schemes that use the
 * first one for secret keys prescribe its rejections.
 */
#ifndef CODES_FIXED_WEIGHT_H
#define CODES_FIXED_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

/*
 * By rejection, with as many chunks of bytes as it takes. Reads 24-bit big-endian numbers from `chunk`,
 * drops those not below `bound`, reduces the others and appends those that are not yet in `support`,
 * until that holds `weight` entries or the chunk is used up. `found` entries are there already; returns
 * how many are there now.
 */
size_t fixed_weight_collect(uint32_t *support, size_t found, size_t weight, const uint8_t *chunk,
                            size_t chunk_bytes, uint32_t bound, uint32_t (*reduce)(uint32_t));

/*
 * Without rejection, from exactly 4*weight bytes: entry i falls on i..n-1, and an entry equal to a later
 * one becomes i itself.
 */
void fixed_weight_distinct(uint32_t *support, size_t weight, const uint8_t *bytes, uint32_t n);

#endif
