/* params.h - the numbers of Loong256, under the names of the description. q is the same in all sets. */
#ifndef LOONG_PARAMS_H
#define LOONG_PARAMS_H

enum {
    N = 16,    /* degree of the ring Z_q[X]/(X^N + 1) */
    k1 = 64,   /* polynomials in the long half of a secret */
    k2 = 6,    /* polynomials in the half that becomes matrices */
    eta = 4,   /* secret coefficients lie in [-eta, eta] */
    d_b = 10,  /* bits kept of a coefficient of the public key, */
    d_u = 10,  /* of u and U, */
    d_v = 10,  /* and of V */
    S = 48,    /* bytes of a seed */
    L = 32     /* bytes of the shared secret */
};

#endif
