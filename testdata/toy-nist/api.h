/* The API header of the toy KEM, shaped like the one of a NIST package with a prefix. */
#ifndef TOY_API_H
#define TOY_API_H

#define TOY_CRYPTO_PUBLICKEYBYTES 40
#define TOY_CRYPTO_SECRETKEYBYTES 72
#define TOY_CRYPTO_CIPHERTEXTBYTES 48
#define TOY_CRYPTO_BYTES 32
#define TOY_CRYPTO_ALGNAME "Toy"

int TOY_crypto_kem_keypair(unsigned char *pk, unsigned char *sk);
int TOY_crypto_kem_enc(unsigned char *ct, unsigned char *ss, const unsigned char *pk);
int TOY_crypto_kem_dec(unsigned char *ss, const unsigned char *ct, const unsigned char *sk);

#endif
