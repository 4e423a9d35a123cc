/*
 * auxfunc.h - the helper functions every public-key submission may call.
 *
 * Names, types and return codes are those of the official interface; a submission's sources include
 * this file as "auxfunc.h". All lengths are in bits, the first bit of a string is the most
 * significant one of byte 0, and surplus low bits of a last byte are ignored on input and 0 on output.
 *
 * Returned: 0 success, -2 no memory, -3 an inner HMAC failed, -4 digest length not allowed.
 * Results are written at the very end, so an output may overlap the message.
 */
#ifndef AUXFUNC_H
#define AUXFUNC_H

#ifdef __cplusplus
extern "C" {
#endif

/* SM3 of the message; digest_len_bits must be 256. */
int sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
            unsigned char *digest);

/* A stand-in for a hash with a longer digest; digest_len_bits is 512, 768 or 1024. */
int pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long msg_len_bits,
               unsigned char *digest);

/* A stand-in for an extendable-output function; any output_len_bits, also 0. */
int pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg,
              unsigned long long msg_len_bits, unsigned char *output);

#ifdef __cplusplus
}
#endif

#endif
