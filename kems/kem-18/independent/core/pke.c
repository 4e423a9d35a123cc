/*
 * pke.c - key generation, encryption and decryption, in the description's steps and names.
 *
 * It does not know the KEM around it: whose coins it is given, or what becomes of the message.
 *
 * Why so: vectors of polynomials are lower-case, matrices over Z_q upper-case, as in the description.
 * neg() turns the k2 polynomials of a secret into the matrices S2 and R2; where neg() is applied to a
 * public sum, the sum goes into the matrix unreduced. All arrays are automatic. Nothing is wiped, as
 * the scheme says nothing about it and wiping would enter the figures.
 */
#include "pke.h"

#include <string.h>

#include "encode.h"
#include "helpers.h"
#include "ring.h"
#include "sample.h"

int pke_keygen(unsigned char pk[PK_BYTES], unsigned char sk[PKE_SK_BYTES])
{
    unsigned char buf[3 * S];
    const unsigned char *const rho = buf, *const sigma = buf + S, *const gamma = buf + 2 * S;
    struct matrices A;
    coeff s[(k1 + k2) * N], *const s1 = s, *const s2 = s + k1 * N;
    coeff e[k1 * N + k2 * N * N], *const e1 = e, *const E2 = e + k1 * N;
    coeff S2[k2 * N * N], b1[k1 * N], B2[k2 * N * N];
    wide sum1[k1 * N] = {0}, sum2[k2 * N * N] = {0};
    int rc, i;

    rc = DRNG_get(buf, sizeof buf);
    if (rc == 0) {
        rc = sample_matrices(&A, rho);
    }
    if (rc == 0) {
        rc = noise(s, (k1 + k2) * N, sigma);
    }
    if (rc == 0) {
        rc = noise(e, k1 * N + k2 * N * N, gamma);
    }
    if (rc != 0) {
        return rc;
    }

    for (i = 0; i < k2; i++) { /* S2: neg(s2[i]) one over the other */
        neg(S2 + i * N * N, N, s2 + i * N);
    }

    for (i = 0; i < k1; i++) { /* b1 = A1*s1 + A2*s2 + e1 */
        dot(sum1 + i * N, A.A1 + i * k1 * N, 1, s1, k1);
        dot(sum1 + i * N, A.A2 + i * k2 * N, 1, s2, k2);
    }
    add_reduce(b1, sum1, e1, k1 * N);

    for (i = 0; i < k2; i++) { /* B2 = stack of neg((A3*s1)[i]) + A4*S2 + E2 */
        wide t[N] = {0};

        dot(t, A.A3 + i * k1 * N, 1, s1, k1);
        add_neg(sum2 + i * N * N, N, t);
    }
    add_product(sum2, A.A4, S2, k2 * N, k2 * N, N);
    add_reduce(B2, sum2, E2, k2 * N * N);

    memcpy(pk, rho, S);
    Comp(b1, k1 * N, d_b);
    pack(pk + S, b1, k1 * N, d_b);
    Comp(B2, k2 * N * N, d_b);
    pack(pk + S + PK_B1_BYTES, B2, k2 * N * N, d_b);
    pack_secret(sk, s, (k1 + k2) * N);
    return 0;
}

int pke_encrypt(unsigned char ct[CT_BYTES], const unsigned char pk[PK_BYTES],
                const unsigned char m[M_BYTES], const unsigned char coins[COINS_BYTES])
{
    const unsigned char *const c1 = coins, *const c2 = coins + S, *const c3 = coins + 2 * S;
    struct matrices A;
    coeff b1[k1 * N], B2[k2 * N * N];
    coeff r[(k1 + k2) * N], *const r1 = r, *const r2 = r + k1 * N;
    coeff e[k1 * N + k2 * N * N], *const e3 = e, *const E4 = e + k1 * N;
    coeff R2[N * k2 * N], E5[N * N];
    coeff u[k1 * N], U[N * k2 * N], V[N * N];
    wide sum_u[k1 * N] = {0}, sum_U[N * k2 * N] = {0}, sum_V[N * N] = {0}, t[N] = {0};
    int rc, i;

    rc = sample_matrices(&A, pk); /* rho is the beginning of pk */
    if (rc == 0) {
        rc = noise(r, (k1 + k2) * N, c1);
    }
    if (rc == 0) {
        rc = noise(e, k1 * N + k2 * N * N, c2);
    }
    if (rc == 0) {
        rc = noise(E5, N * N, c3);
    }
    if (rc != 0) {
        return rc;
    }

    unpack(b1, pk + S, k1 * N, d_b);
    Decomp(b1, k1 * N, d_b);
    unpack(B2, pk + S + PK_B1_BYTES, k2 * N * N, d_b);
    Decomp(B2, k2 * N * N, d_b);

    for (i = 0; i < k2; i++) { /* R2: neg(r2[i]) side by side */
        neg(R2 + i * N, k2 * N, r2 + i * N);
    }

    for (i = 0; i < k1; i++) { /* u = r1^T*A1 + r2^T*A3 + e3 */
        dot(sum_u + i * N, A.A1 + i * N, k1, r1, k1);
        dot(sum_u + i * N, A.A3 + i * N, k1, r2, k2);
    }
    add_reduce(u, sum_u, e3, k1 * N);

    for (i = 0; i < k2; i++) { /* U = [neg(t_0) | neg(t_1) | ...] + R2*A4 + E4, t = r1^T*A2 */
        wide t_i[N] = {0};

        dot(t_i, A.A2 + i * N, k2, r1, k1);
        add_neg(sum_U + i * N, k2 * N, t_i);
    }
    add_product(sum_U, R2, A.A4, N, k2 * N, k2 * N);
    add_reduce(U, sum_U, E4, N * k2 * N);

    dot(t, b1, 1, r1, k1); /* V = neg(r1^T*b1) + R2*B2 + E5 + 4096*Mbits */
    add_neg(sum_V, N, t);
    add_product(sum_V, R2, B2, N, k2 * N, N);
    for (i = 0; i < N * N; i++) {
        sum_V[i] += 4096 * ((m[i / 8] >> (i % 8)) & 1);
    }
    add_reduce(V, sum_V, E5, N * N);

    Comp(u, k1 * N, d_u);
    pack(ct, u, k1 * N, d_u);
    Comp(U, N * k2 * N, d_u);
    pack(ct + CT_u_BYTES, U, N * k2 * N, d_u);
    Comp(V, N * N, d_v);
    pack(ct + CT_u_BYTES + CT_U_BYTES, V, N * N, d_v);
    return 0;
}

void pke_decrypt(unsigned char m[M_BYTES], const unsigned char sk[PKE_SK_BYTES],
                 const unsigned char ct[CT_BYTES])
{
    coeff s[(k1 + k2) * N], *const s1 = s, *const s2 = s + k1 * N;
    coeff u[k1 * N], U[N * k2 * N], V[N * N], S2[k2 * N * N], x[N * N];
    wide t[N] = {0}, W[N * N] = {0};
    int i;

    unpack(u, ct, k1 * N, d_u);
    Decomp(u, k1 * N, d_u);
    unpack(U, ct + CT_u_BYTES, N * k2 * N, d_u);
    Decomp(U, N * k2 * N, d_u);
    unpack(V, ct + CT_u_BYTES + CT_U_BYTES, N * N, d_v);
    Decomp(V, N * N, d_v);
    unpack_secret(s, sk, (k1 + k2) * N);

    for (i = 0; i < k2; i++) {
        neg(S2 + i * N * N, N, s2 + i * N);
    }
    dot(t, u, 1, s1, k1); /* W = neg(u^T*s1) + U*S2 */
    add_neg(W, N, t);
    add_product(W, U, S2, N, k2 * N, N);

    for (i = 0; i < N * N; i++) { /* -2W; add_reduce adds V twice: x = 2*(V - W) mod q */
        W[i] = -2 * W[i] + V[i];
    }
    add_reduce(x, W, V, N * N);

    memset(m, 0, M_BYTES);
    for (i = 0; i < N * N; i++) { /* centring subtracts q, which is odd, from values above 4095 */
        const int bit = (x[i] ^ (x[i] > 4095)) & 1;

        m[i / 8] = (unsigned char)(m[i / 8] | (bit << (i % 8)));
    }
}
