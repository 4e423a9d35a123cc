/*
 * One entry of the public matrix, expanded from seedA when it is needed.
 *
 * The q part is sampled in transform order directly.  The t part reuses bytes the q
 * part was read from, as the description wants it: the buffer of 840 bytes after the
 * last refill, so that the first 168 come from the last extra block of the stream.
 *
 * Which family's stream it is, symmetric.h hides; the matrix is public, so the number
 * of refills may show.
 */
#include "matrix.h"

#include "symmetric.h"

/* Fills q, of which `accepted` coefficients are there, with the words of buf; returns how many
 * are there now. */
static unsigned accept_words(poly_q *q, unsigned accepted, const uint8_t *buf, unsigned length)
{
    for (unsigned at = 0; at < length && accepted < LORE_N; at += 2) {
        const unsigned v = buf[at] | (unsigned)buf[at + 1] << 8;

        if (v == 65535)
            continue;
        /* The word is a signed one: v - 65536, and 65536 is 1 modulo 257. */
        q->c[accepted++] = (uint16_t)((v >= 32768 ? v - 1 : v) % LORE_Q);
    }
    return accepted;
}

int lore_matrix_entry(poly_q *q, poly_t *t, const uint8_t seed_a[LORE_SEED_BYTES], uint8_t i,
                      uint8_t j)
{
    uint8_t buf[LORE_STREAM_FIRST];
    matrix_stream stream;
    unsigned accepted;
    int status = lore_stream_first(&stream, buf, seed_a, i, j);

    if (status != LORE_OK)
        return status;
    accepted = accept_words(q, 0, buf, LORE_STREAM_FIRST);
    while (accepted < LORE_N) {
        status = lore_stream_next(&stream, buf);
        if (status != LORE_OK)
            return status;
        accepted = accept_words(q, accepted, buf, LORE_STREAM_NEXT);
    }
    for (unsigned x = 0; x < LORE_N; x++)
        t->c[x] = buf[x] % LORE_T;
    return LORE_OK;
}
