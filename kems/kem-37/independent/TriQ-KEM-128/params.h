/* The parameters of TriQ-KEM-128; everything else follows from them (core/sizes.h). */
#ifndef TRIQ_PARAMS_H
#define TRIQ_PARAMS_H

/* Degree of the ring F2[X]/(X^n - 1), a prime. */
#define PARAM_N 16301

/* Reed-Solomon length and dimension in bytes, copies of each Reed-Muller word. */
#define PARAM_N1 42
#define PARAM_K 16
#define PARAM_MULT 3

/* Weight of x, y, r1 and r2; weight of e. */
#define PARAM_W 67
#define PARAM_WE 106

/* r1 and r2: at most CAP exponents in any WINDOW, or else drawn again, TRIES times in all. */
#define PARAM_WINDOW 384
#define PARAM_CAP 7
#define PARAM_TRIES 256

/* The constant of the reduction modulo n, as submitted; exactly floor(2^32/n). */
#define PARAM_MU 263478u

#endif
