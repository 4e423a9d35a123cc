/* params.h - the numbers of Loong384, under the names of the description. q is the same in all sets. */
#ifndef LOONG_PARAMS_H
#define LOONG_PARAMS_H

enum {
    N = 20,    /* degree of the ring Z_q[X]/(X^N + 1) */
    k1 = 72,   /* polynomials in the long half of a secret */
    k2 = 8,    /* polynomials in the half that becomes matrices */
    eta = 3,   /* secret coefficients lie in [-eta, eta] */
    d_b = 11,  /* bits kept of a coefficient of the public key, */
    d_u = 11,  /* of u and U, */
    d_v = 6,   /* and of V */
    S = 64,    /* bytes of a seed */
    L = 48     /* bytes of the shared secret */
};

#endif
