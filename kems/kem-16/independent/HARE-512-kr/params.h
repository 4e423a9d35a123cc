/* The parameters of HARE-512-kr; everything else follows from them (core/sizes.h). */
#ifndef HARE_PARAMS_H
#define HARE_PARAMS_H

/* Degree of the ring F2[X]/(X^n - 1), a prime. */
#define PARAM_N 173981

/* Reed-Solomon length and dimension in bytes, copies of each Reed-Muller word. */
#define PARAM_N1 151
#define PARAM_K 64
#define PARAM_MULT 9

/* Weight of x, y, r1 and r2; weight of e. */
#define PARAM_W 259
#define PARAM_WE 449

/* A symbol whose correlation is at most this much above the next best one is an erasure. */
#define PARAM_ALPHA 13

#endif
