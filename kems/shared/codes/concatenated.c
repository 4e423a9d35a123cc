/* Reed-Solomon outside, repeated RM(1,7) inside; concatenated.h says how they meet. */
#include "concatenated.h"

#include <string.h>

#include "reed_muller.h"
#include "reed_solomon.h"

/* What stands for an erased symbol until the outer code replaces it. */
#define ERASED_SYMBOL 255

void concatenated_encode(uint8_t *code_word, const uint8_t *message, const struct concatenated_code *code)
{
    uint8_t symbols[REED_SOLOMON_MAX];

    reed_solomon_encode(symbols, message, code->n1, code->k);
    for (size_t i = 0; i < code->n1; i++) {
        reed_muller_encode(code_word + i * code->mult * REED_MULLER_BYTES, symbols[i], code->mult);
    }
}

void concatenated_decode(uint8_t *message, const uint8_t *received, const struct concatenated_code *code)
{
    uint8_t symbols[REED_SOLOMON_MAX];
    uint8_t erased[REED_SOLOMON_MAX];

    for (size_t i = 0; i < code->n1; i++) {
        int margin;

        symbols[i] = reed_muller_decode(received + i * code->mult * REED_MULLER_BYTES, code->mult, &margin);
        erased[i] = margin <= code->alpha;
        if (erased[i]) {
            symbols[i] = ERASED_SYMBOL;
        }
    }
    /* A failure needs no answer here: re-encryption of whatever stands in `symbols` will not match. */
    (void)reed_solomon_decode(symbols, erased, code->n1, code->k);
    memcpy(message, symbols + (code->n1 - code->k), code->k);
}
