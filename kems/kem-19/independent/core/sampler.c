/*
 * The secret sampler: k*HW places of the whole vector, drawn without repetition.
 *
 * A list of all k*n places shrinks by one per draw; the words of one PRF output pick
 * the index by multiplication, and a word that would bias the pick is skipped.  The
 * places spread over the polynomials as chance has it, so the weight is exact for the
 * vector and not for its members.
 *
 * The description gives the PRF a fixed length with 64 words to spare and leaves open
 * what happens when they run out (for L4 about once in 3*10^8 draws).  Here the same
 * PRF stream is read on: both families' streams have the property that a longer output
 * starts with the shorter one.
 *
 * Not constant-time: the number of words taken and the places written depend on the
 * seed.
 */
#include "secret.h"

#include <string.h>

#include "symmetric.h"
#include "transform.h"

/* The one PRF call every draw makes, and how far a second one reaches if it must. */
#define LORE_DRAW_BYTES (2 * LORE_NONZEROS + 128)
#define LORE_DRAW_BYTES_MAX (LORE_DRAW_BYTES + 1024)

/* Words of PRF(seed, nonce), read in order. */
typedef struct {
    const uint8_t *seed;
    uint8_t nonce;
    unsigned length;
    unsigned next;
    uint8_t bytes[LORE_DRAW_BYTES_MAX];
} word_stream;

static int word_stream_next(word_stream *w, uint32_t *word)
{
    if (w->next == w->length) {
        int status;

        if (w->length == LORE_DRAW_BYTES_MAX)
            return LORE_NO_HASH;
        w->length = w->length == 0 ? LORE_DRAW_BYTES : LORE_DRAW_BYTES_MAX;
        status = lore_PRF(w->bytes, w->length, w->seed, w->nonce);
        if (status != LORE_OK)
            return status;
    }
    *word = (uint32_t)w->bytes[w->next] | (uint32_t)w->bytes[w->next + 1] << 8;
    w->next += 2;
    return LORE_OK;
}

/* A uniform index below c, c <= 2304. */
static int draw_index(word_stream *w, uint32_t c, uint32_t *index)
{
    uint32_t m;

    do {
        int status = word_stream_next(w, &m);

        if (status != LORE_OK)
            return status;
        m *= c;
    } while (m % 65536 < c);
    *index = m / 65536;
    return LORE_OK;
}

/* s_q: the transform of each polynomial, its values taken modulo 257. */
static void transform_secret(secret_vector *s)
{
    for (unsigned j = 0; j < LORE_K; j++) {
        memset(&s->q[j], 0, sizeof s->q[j]);
        for (unsigned e = 0; e < s->count[j]; e++)
            s->q[j].c[s->position[j][e]] = (uint16_t)((s->value[j][e] + LORE_Q) % LORE_Q);
        lore_transform(&s->q[j]);
    }
}

int lore_sample_secret(secret_vector *s, const uint8_t seed[LORE_SEED_BYTES], uint8_t nonce)
{
    static const struct {
        int8_t value;
        uint16_t times;
    } plan[4] = {
        { +1, LORE_K * LORE_W1 },
        { -1, LORE_K * LORE_W2 },
        { +2, LORE_K * LORE_W3 },
        { -2, LORE_K * LORE_W4 }
    };
    uint16_t list[LORE_K * LORE_N];
    uint32_t c = LORE_K * LORE_N;
    word_stream w;

    memset(s, 0, sizeof *s);
    w.seed = seed;
    w.nonce = nonce;
    w.length = 0;
    w.next = 0;
    for (unsigned x = 0; x < LORE_K * LORE_N; x++)
        list[x] = (uint16_t)x;

    for (unsigned v = 0; v < 4; v++) {
        for (unsigned draw = 0; draw < plan[v].times; draw++) {
            uint32_t index;
            int status = draw_index(&w, c, &index);
            unsigned j, e;

            if (status != LORE_OK)
                return status;
            j = list[index] / LORE_N;
            e = s->count[j]++;
            s->position[j][e] = list[index] % LORE_N;
            s->value[j][e] = plan[v].value;
            list[index] = list[--c];
        }
    }
    transform_secret(s);
    return LORE_OK;
}
