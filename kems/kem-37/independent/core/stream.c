/*
 * TriQ-KEM's streams. A read past the cache makes two pseudoXOF calls, one for its own bytes and one to
 * fill the cache, each from the start of the stream: as in the submission, since the helper cannot go on
 * from where it was, and the call counts and much of the time are made of that.
 */
#include "stream.h"

#include <string.h>

#include "auxfunc.h"
#include "drng.h"

/* The last byte of the hashed input. */
enum domain { DOMAIN_PRNG = 0x00, DOMAIN_XOF = 0x01 };

/* The driver defines and seeds it. */
extern DRNG_ctx drng_algorithm;

static void start(struct stream *stream, size_t input_bytes)
{
    stream->input_bytes = input_bytes;
    stream->position = 0;
    stream->credit = 0;
}

int stream_start_prng(struct stream *stream)
{
    uint8_t *e = stream->input;
    uint8_t *z = e + 48;

    start(stream, STREAM_INPUT);
    stream->input[STREAM_INPUT - 1] = DOMAIN_PRNG;
    if (get_random_number(&drng_algorithm, e, 384) != 0 || get_random_number(&drng_algorithm, z, 384) != 0) {
        return -1;
    }
    return 0;
}

void stream_start_xof(struct stream *stream, const uint8_t seed[K_BYTES])
{
    start(stream, K_BYTES + 1);
    memcpy(stream->input, seed, K_BYTES);
    stream->input[K_BYTES] = DOMAIN_XOF;
}

/* Bytes first .. first + count - 1 of the endless string. */
static int squeeze(const struct stream *stream, uint8_t *bytes, size_t first, size_t count)
{
    uint8_t string[STREAM_LIMIT];
    size_t end = first + count;

    if (end > sizeof string ||
        pseudoXOF(8ull * end, stream->input, 8ull * stream->input_bytes, string) != 0) {
        return -1;
    }
    memcpy(bytes, string + first, count);
    return 0;
}

/* What the cache has ahead. */
static const uint8_t *ahead(const struct stream *stream)
{
    return stream->cache + (STREAM_CACHE - stream->credit);
}

int stream_read(struct stream *stream, uint8_t *bytes, size_t count)
{
    size_t cached = count <= stream->credit ? count : stream->credit;
    size_t rest = count - cached;

    memcpy(bytes, ahead(stream), cached);
    stream->position += cached;
    stream->credit -= cached;
    if (rest == 0) {
        return 0;
    }

    if (squeeze(stream, bytes + cached, stream->position, rest) != 0) {
        return -1;
    }
    stream->position += (rest + 7) / 8 * 8;
    if (squeeze(stream, stream->cache, stream->position, STREAM_CACHE) != 0) {
        return -1;
    }
    stream->credit = STREAM_CACHE;
    return 0;
}
