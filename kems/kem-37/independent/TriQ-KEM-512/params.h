/* The parameters of TriQ-KEM-512; everything else follows from them (core/sizes.h). */
#ifndef TRIQ_PARAMS_H
#define TRIQ_PARAMS_H

/* Degree of the ring F2[X]/(X^n - 1), a prime. */
#define PARAM_N 157627

/* Reed-Solomon length and dimension in bytes, copies of each Reed-Muller word. */
#define PARAM_N1 136
#define PARAM_K 64
#define PARAM_MULT 9

/* Weight of x, y, r1 and r2; weight of e. */
#define PARAM_W 260
#define PARAM_WE 475

/* r1 and r2: at most CAP exponents in any WINDOW, or else drawn again, TRIES times in all. */
#define PARAM_WINDOW 1152
#define PARAM_CAP 9
#define PARAM_TRIES 256

/* The constant of the reduction modulo n, as submitted; floor(2^32/n) is 27247. */
#define PARAM_MU 27246u

#endif
