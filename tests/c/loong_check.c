/*
 * loong_check.c - what only an instance of LoongKEM can be asked: how it treats wrong input.
 *
 * Changed, random and wrong-length inputs must not give the honest secret; what became of the secret in
 * the two documented rejections is printed for the Rust side. Where the salt lies is taken from the
 * parameters. What any KEM can be asked is in kem_check.c.
 */
#include "auxfunc.h"
#include "kem_drive.h"
#include "params.h"

static void wrong_lengths(void)
{
    unsigned long long a = 0, b = 0;

    if (kem_enc(pk, pk_len - 1, ss2, &a, ct, &b) != -2 ||
        kem_dec(sk, sk_len - 1, ct, ct_len, ss2, &a) != -2 ||
        kem_dec(sk, sk_len, ct, ct_len - 1, ss2, &a) != -2 ||
        kem_dec(sk, sk_len, ct, ct_len + 1, ss2, &a) != -2) {
        fail("a wrong length was not refused with -2");
    }
}

/* Flips one bit and says what the secret became: the honest one, Kbar, its top bits, or another. */
static const char *flipped(unsigned long long byte, unsigned bit)
{
    unsigned char *changed = bytes(ct_len), *salt_c = bytes(S + ct_len), *Kbar = bytes(ss_len);
    int is_Kbar = 1, is_top = 1;
    unsigned long long i;

    /* As long as the message stays right, the re-encryption is the honest ciphertext. */
    memcpy(salt_c, sk + sk_len - S, S);
    memcpy(salt_c + S, ct, ct_len);
    pseudoXOF(8 * ss_len, salt_c, 8 * (S + ct_len), Kbar);

    memcpy(changed, ct, ct_len);
    changed[byte] = (unsigned char)(changed[byte] ^ (1U << bit));
    dec(changed);
    for (i = 0; i < ss_len; i++) {
        is_Kbar &= ss2[i] == Kbar[i];
        is_top &= ss2[i] == ((ss[i] & 0x7f) | (Kbar[i] & 0x80));
    }
    free(changed);
    free(salt_c);
    free(Kbar);
    return agree() ? "honest" : is_Kbar ? "Kbar" : is_top ? "top bits of Kbar" : "other";
}

static void tamper(void)
{
    unsigned char *changed = bytes(ct_len);
    unsigned long long at;
    int i;

    seed_counting();
    keygen();
    enc();
    dec(ct);
    if (!agree()) {
        fail("the honest decapsulation gave another secret");
    }
    wrong_lengths();
    printf("byte 5 bit 0: %s\n", flipped(5, 0));
    printf("byte 5 bit 7: %s\n", flipped(5, 7));

    for (i = 0; i < 40; i++) { /* all parts of the ciphertext, all bits of a byte */
        at = (unsigned long long)i * (ct_len - 1) / 39;
        if (strcmp(flipped(at, (unsigned)i % 8), "honest") == 0) {
            fail("a flipped bit gave the honest secret");
        }
    }
    for (i = 0; i < 4; i++) { /* all 0, all 1, random; then a random secret key */
        if (i < 2) {
            memset(changed, i == 0 ? 0 : 0xff, ct_len);
        } else {
            get_random_number(&drng_algorithm, changed, 8 * ct_len);
        }
        if (i == 3) {
            get_random_number(&drng_algorithm, sk, 8 * sk_len);
        }
        dec(changed);
        if (agree()) {
            fail("a foreign ciphertext gave the honest secret");
        }
    }
    memset(sk, 0xff, sk_len); /* the largest coefficients a key can hold */
    memset(changed, 0xff, ct_len);
    dec(changed);
    memset(pk, 0xff, pk_len);
    enc();
    free(changed);
}

int main(void)
{
    setup();
    tamper();
    teardown();
    return 0;
}
