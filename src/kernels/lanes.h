/* lanes - eight floats as one value, for the files that are built once per instruction set.
 *
 * v8 is a compiler vector: one register on AVX2, two on NEON, whatever the target has
 * elsewhere. Only what the compiler would not do well by itself is spelled out per
 * instruction set, and all of it is exactly rounded IEEE arithmetic, so the bits are the
 * same everywhere. The elementary functions repeat base/fmath.h operation for operation.
 */
#ifndef SB_KERNELS_LANES_H
#define SB_KERNELS_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define SB_INLINE static inline __attribute__((always_inline))

typedef float v8 __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint32_t v8u __attribute__((vector_size(32)));
typedef uint64_t v4ul __attribute__((vector_size(32)));

/* p is 32-byte aligned. */
SB_INLINE v8 v8_load(const float *p)
{
    return *(const v8 *)__builtin_assume_aligned(p, 32);
}

SB_INLINE void v8_store(float *p, v8 x)
{
    *(v8 *)__builtin_assume_aligned(p, 32) = x;
}

/* p has any alignment: parameter arrays. */
SB_INLINE v8 v8_loadu(const float *p)
{
    v8 x;
    memcpy(&x, p, sizeof x);
    return x;
}

SB_INLINE void v8_storeu(float *p, v8 x)
{
    memcpy(p, &x, sizeof x);
}

SB_INLINE v8 v8_set(float x)
{
    return (v8){x, x, x, x, x, x, x, x};
}

/* p[0] to p[3], twice; p has any alignment. */
SB_INLINE v8 v8_quad(const float *p)
{
#if defined(__AVX2__)
    return (v8)_mm256_broadcast_ps((const __m128 *)p);
#else
    return (v8){p[0], p[1], p[2], p[3], p[0], p[1], p[2], p[3]};
#endif
}

/* All of p[i] of such a quad: a shuffle instead of another load. */
SB_INLINE v8 v8_of_quad(v8 q, const int i)
{
#if defined(__AVX2__)
    switch (i) {
    case 0:
        return (v8)_mm256_permute_ps((__m256)q, 0x00);
    case 1:
        return (v8)_mm256_permute_ps((__m256)q, 0x55);
    case 2:
        return (v8)_mm256_permute_ps((__m256)q, 0xaa);
    default:
        return (v8)_mm256_permute_ps((__m256)q, 0xff);
    }
#else
    return v8_set(q[i]);
#endif
}

SB_INLINE v8i v8i_set(int32_t x)
{
    return (v8i){x, x, x, x, x, x, x, x};
}

SB_INLINE v8u v8u_set(uint32_t x)
{
    return (v8u){x, x, x, x, x, x, x, x};
}

/* a * b + c, rounded once */
SB_INLINE v8 v8_fma(v8 a, v8 b, v8 c)
{
#if defined(__AVX2__)
    return (v8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
    union {
        v8 v;
        float32x4_t q[2];
    } x = {a}, y = {b}, z = {c};
    z.q[0] = vfmaq_f32(z.q[0], x.q[0], y.q[0]);
    z.q[1] = vfmaq_f32(z.q[1], x.q[1], y.q[1]);
    return z.v;
#else
    for (int i = 0; i < 8; i++)
        c[i] = fmaf(a[i], b[i], c[i]);
    return c;
#endif
}

/* out[l] = a[l + by] where l + by is in [0, n), else 0 */
SB_INLINE v8 v8_lanes_from(v8 a, int32_t by, int32_t n)
{
    v8i from = (v8i){0, 1, 2, 3, 4, 5, 6, 7} + v8i_set(by);
    v8i inside = (from >= v8i_set(0)) & (from < v8i_set(n));
#if defined(__AVX2__)
    return (v8)((v8i)_mm256_permutevar8x32_ps((__m256)a, (__m256i)from) & inside);
#else
    v8 out = {0};
    for (int l = 0; l < 8; l++)
        out[l] = inside[l] ? a[from[l] & 7] : 0.0f;
    return out;
#endif
}

SB_INLINE v8 v8_sqrt(v8 a)
{
#if defined(__AVX2__)
    return (v8)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < 8; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}

/* to the nearest whole number, halves to even */
SB_INLINE v8 v8_round(v8 a)
{
#if defined(__AVX2__)
    return (v8)_mm256_round_ps((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    for (int i = 0; i < 8; i++)
        a[i] = rintf(a[i]);
    return a;
#endif
}

/* mask lanes are all ones or all zeros */
SB_INLINE v8 v8_pick(v8i mask, v8 yes, v8 no)
{
    return (v8)(((v8i)yes & mask) | ((v8i)no & ~mask));
}

/* 0 where x < 0, else x: a NaN stays one */
SB_INLINE v8 v8_relu(v8 x)
{
#if defined(__AVX2__) /* the second of two operands that do not compare */
    return (v8)_mm256_max_ps((__m256)v8_set(0.0f), (__m256)x);
#else
    return (v8)((v8i)x & ~(x < v8_set(0.0f)));
#endif
}

/* ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)) */
SB_INLINE float v8_sum(v8 x)
{
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

/* v8_sum of eight vectors at once */
SB_INLINE v8 v8_sums(v8 a, v8 b, v8 c, v8 d, v8 e, v8 f, v8 g, v8 h)
{
#if defined(__AVX2__)
    __m256 ab = _mm256_hadd_ps((__m256)a, (__m256)b),
           cd = _mm256_hadd_ps((__m256)c, (__m256)d);
    __m256 ef = _mm256_hadd_ps((__m256)e, (__m256)f),
           gh = _mm256_hadd_ps((__m256)g, (__m256)h);
    __m256 ad = _mm256_hadd_ps(ab, cd), eh = _mm256_hadd_ps(ef, gh);
    return (v8)_mm256_add_ps(_mm256_permute2f128_ps(ad, eh, 0x20),
                             _mm256_permute2f128_ps(ad, eh, 0x31));
#else
    return (v8){v8_sum(a), v8_sum(b), v8_sum(c), v8_sum(d),
                v8_sum(e), v8_sum(f), v8_sum(g), v8_sum(h)};
#endif
}

/* ---- elementary functions: base/fmath.h in lanes ------------------------------------- */

SB_INLINE v8 v8_log(v8 x)
{
    v8i u = (v8i)x - v8i_set(0x3f3504f3);
    v8i e = u >> 23;
    v8 f = (v8)((u & v8i_set(0x007fffff)) + v8i_set(0x3f3504f3)) - v8_set(1.0f);
    v8 n = __builtin_convertvector(e, v8), z = f * f, p = v8_set(7.0376836292e-2f);
    p = v8_fma(p, f, v8_set(-1.1514610310e-1f));
    p = v8_fma(p, f, v8_set(1.1676998740e-1f));
    p = v8_fma(p, f, v8_set(-1.2420140846e-1f));
    p = v8_fma(p, f, v8_set(1.4249322787e-1f));
    p = v8_fma(p, f, v8_set(-1.6668057665e-1f));
    p = v8_fma(p, f, v8_set(2.0000714765e-1f));
    p = v8_fma(p, f, v8_set(-2.4999993993e-1f));
    p = v8_fma(p, f, v8_set(3.3333331174e-1f));
    v8 r = v8_fma(p * f, z, n * v8_set(-2.12194440e-4f));
    r = v8_fma(v8_set(-0.5f), z, r);
    return v8_fma(n, v8_set(0.693359375f), f + r);
}

SB_INLINE v8 v8_exp(v8 x)
{
    v8 low = v8_set(-87.0f), high = v8_set(88.0f);
    x = v8_pick(x < low, low, x);
    x = v8_pick(x > high, high, x);
    v8 n = v8_round(x * v8_set(1.44269504088896341f));
    v8 r = v8_fma(n, v8_set(-0.693359375f), x), p = v8_set(1.9875691500e-4f);
    r = v8_fma(n, v8_set(2.12194440e-4f), r);
    p = v8_fma(p, r, v8_set(1.3981999507e-3f));
    p = v8_fma(p, r, v8_set(8.3334519073e-3f));
    p = v8_fma(p, r, v8_set(4.1665795894e-2f));
    p = v8_fma(p, r, v8_set(1.6666665459e-1f));
    p = v8_fma(p, r, v8_set(5.0000001201e-1f));
    p = v8_fma(p, r * r, r) + v8_set(1.0f);
    n = v8_pick(n == n, n, v8_set(0.0f));
    v8i scale = (__builtin_convertvector(n, v8i) + v8i_set(127)) << 23;
    return p * (v8)scale;
}

SB_INLINE v8 v8_softplus(v8 x)
{
    v8 e = v8_exp(x), u = v8_set(1.0f) + e, d = u - v8_set(1.0f);
    v8i inexact = d > v8_set(0.0f);
    v8 small = v8_pick(inexact, v8_log(u) * (e / v8_pick(inexact, d, v8_set(1.0f))), e);
    return v8_pick(x > v8_set(20.0f), x, small);
}

SB_INLINE v8 v8_sigmoid(v8 x)
{
    return v8_set(1.0f) / (v8_set(1.0f) + v8_exp(-x));
}

SB_INLINE void v8_sincos_turn(v8u turn, v8 *sine, v8 *cosine)
{
    v8u shifted = turn + v8u_set(0x20000000u), quadrant = shifted >> 30;
    v8i rest = (v8i)((shifted & v8u_set(0x3fffffffu)) - v8u_set(0x20000000u));
    v8 a = __builtin_convertvector(rest, v8) * v8_set(1.46291807926715968e-9f);
    v8 z = a * a, s = v8_set(-1.9515295891e-4f), c = v8_set(2.443315711809948e-5f);
    s = v8_fma(s, z, v8_set(8.3321608736e-3f));
    s = v8_fma(s, z, v8_set(-1.6666654611e-1f));
    s = v8_fma(s * z, a, a);
    c = v8_fma(c, z, v8_set(-1.388731625493765e-3f));
    c = v8_fma(c, z, v8_set(4.166664568298827e-2f));
    c = v8_fma(c * z, z, v8_fma(v8_set(-0.5f), z, v8_set(1.0f)));
    v8i odd = -(v8i)(quadrant & v8u_set(1));
    v8 swapped_s = v8_pick(odd, c, s), swapped_c = v8_pick(odd, s, c);
    v8u negate_s = (quadrant & v8u_set(2)) << 30;
    v8u negate_c = ((quadrant + v8u_set(1)) & v8u_set(2)) << 30;
    *sine = (v8)((v8u)swapped_s ^ negate_s);
    *cosine = (v8)((v8u)swapped_c ^ negate_c);
}

SB_INLINE void v8_box_muller(v8u a, v8u b, v8 *z0, v8 *z1)
{
    v8 u = __builtin_convertvector((v8i)(a >> 8), v8), s, c;
    v8 r = v8_sqrt(v8_set(-2.0f) * v8_log(v8_fma(u, v8_set(0x1p-24f), v8_set(0x1p-25f))));
    v8_sincos_turn(b, &s, &c);
    *z0 = r * c;
    *z1 = r * s;
}

/* ---- Philox4x32-10, eight counters at once ------------------------------------------- */

enum { PHILOX_ROUNDS = 10 };

/* The two key words of every round, in each lane. */
struct philox_keys {
    v8u k0[PHILOX_ROUNDS], k1[PHILOX_ROUNDS];
};

SB_INLINE void philox_keys(struct philox_keys *k, uint32_t k0, uint32_t k1)
{
    for (uint32_t round = 0; round < PHILOX_ROUNDS; round++) {
        k->k0[round] = v8u_set(k0 + round * 0x9E3779B9u);
        k->k1[round] = v8u_set(k1 + round * 0xBB67AE85u);
    }
}

#if defined(__AVX2__)
/* Four of the counters, each word in the low half of a 64-bit lane: the multiplication
 * wants it there, and what is above is never looked at. */
SB_INLINE void philox_half(__m256i c[4], const struct philox_keys *k)
{
    const __m256i m0 = _mm256_set1_epi64x(0xD2511F53),
                  m1 = _mm256_set1_epi64x(0xCD9E8D57);
#pragma GCC unroll 10
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        __m256i p0 = _mm256_mul_epu32(c[0], m0), p1 = _mm256_mul_epu32(c[2], m1);
        __m256i x0 = _mm256_xor_si256(c[1], (__m256i)k->k0[round]);
        __m256i x1 = _mm256_xor_si256(c[3], (__m256i)k->k1[round]);
        c[0] = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), x0);
        c[1] = p1;
        c[2] = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), x1);
        c[3] = p0;
    }
}

SB_INLINE void v8_philox(v8u c[4], const struct philox_keys *k)
{
    __m256i even[4], odd[4];
    for (int i = 0; i < 4; i++) {
        even[i] = (__m256i)c[i];
        odd[i] = _mm256_srli_epi64((__m256i)c[i], 32);
    }
    philox_half(even, k);
    philox_half(odd, k);
    for (int i = 0; i < 4; i++)
        c[i] = (v8u)_mm256_blend_epi32(even[i], _mm256_slli_epi64(odd[i], 32), 0xaa);
}
#else
SB_INLINE void v8_philox(v8u c[4], const struct philox_keys *k)
{
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        v8u low0, high0, low1, high1;
        for (int i = 0; i < 8; i++) {
            uint64_t p0 = (uint64_t)c[0][i] * 0xD2511F53u,
                     p1 = (uint64_t)c[2][i] * 0xCD9E8D57u;
            low0[i] = (uint32_t)p0;
            high0[i] = (uint32_t)(p0 >> 32);
            low1[i] = (uint32_t)p1;
            high1[i] = (uint32_t)(p1 >> 32);
        }
        c[0] = high1 ^ c[1] ^ k->k0[round];
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ k->k1[round];
        c[3] = low0;
    }
}
#endif

#endif
