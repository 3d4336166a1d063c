/* lanes - the images of a block as one value, for the files that are built once per
 * instruction set.
 *
 * vf is a compiler vector of VF_LANES floats, 8 unless the file that includes this says 16:
 * one register on AVX2 or AVX-512, two on NEON, whatever the target has elsewhere. Only
 * what the compiler would not do well by itself is spelled out per instruction set, and all
 * of it is exactly rounded IEEE arithmetic, so the bits are the same everywhere. The
 * elementary functions repeat base/fmath.h operation for operation.
 */
#ifndef SB_KERNELS_LANES_H
#define SB_KERNELS_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef VF_LANES
#define VF_LANES 8
#endif

#if VF_LANES == 16 && defined(__AVX512F__)
#define VF_AVX512
#include <immintrin.h>
#elif VF_LANES == 8 && defined(__AVX2__)
#define VF_AVX2
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define SB_INLINE static inline __attribute__((always_inline))

/* Keeps an address or index whole: what lies at fixed distances from it is had by these, where
 * the compiler would make a number of its own for each, run out of registers, and read them
 * back from memory in a loop that loads limit. */
#define SB_ONE_REGISTER(p) __asm__("" : "+r"(p))

typedef float vf __attribute__((vector_size(4 * VF_LANES)));
typedef int32_t vi __attribute__((vector_size(4 * VF_LANES)));
typedef uint32_t vu __attribute__((vector_size(4 * VF_LANES)));
typedef float v8 __attribute__((vector_size(32)));

/* p is aligned to a vector. */
SB_INLINE vf vf_load(const float *p)
{
    return *(const vf *)__builtin_assume_aligned(p, sizeof(vf));
}

SB_INLINE void vf_store(float *p, vf x)
{
    *(vf *)__builtin_assume_aligned(p, sizeof(vf)) = x;
}

/* p has any alignment: parameter arrays. */
SB_INLINE vf vf_loadu(const float *p)
{
    vf x;
    memcpy(&x, p, sizeof x);
    return x;
}

SB_INLINE void vf_storeu(float *p, vf x)
{
    memcpy(p, &x, sizeof x);
}

SB_INLINE void v8_addu(float *p, v8 x)
{
    v8 sum;
    memcpy(&sum, p, sizeof sum);
    sum += x;
    memcpy(p, &sum, sizeof sum);
}

#if VF_LANES == 16
#define VF_ALL(x)                                                                        \
    {                                                                                    \
        x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x                                   \
    }
#define VF_LANE                                                                          \
    {                                                                                    \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15                             \
    }
#else
#define VF_ALL(x)                                                                        \
    {                                                                                    \
        x, x, x, x, x, x, x, x                                                           \
    }
#define VF_LANE                                                                          \
    {                                                                                    \
        0, 1, 2, 3, 4, 5, 6, 7                                                           \
    }
#endif

SB_INLINE vf vf_set(float x)
{
    return (vf)VF_ALL(x);
}

SB_INLINE vi vi_set(int32_t x)
{
    return (vi)VF_ALL(x);
}

SB_INLINE vu vu_set(uint32_t x)
{
    return (vu)VF_ALL(x);
}

/* Four weights, to be had one by one in every lane; p has any alignment. */
struct vf_quad {
#if defined(VF_AVX2)
    vf v; /* all four, twice: a shuffle instead of another load */
#else
    const float *p; /* a load broadcasts */
#endif
};

SB_INLINE struct vf_quad vf_quad(const float *p)
{
#if defined(VF_AVX2)
    return (struct vf_quad){(vf)_mm256_broadcast_ps((const __m128 *)p)};
#else
    return (struct vf_quad){p};
#endif
}

SB_INLINE vf vf_of_quad(struct vf_quad q, const int i)
{
#if defined(VF_AVX2)
    switch (i) {
    case 0:
        return (vf)_mm256_permute_ps((__m256)q.v, 0x00);
    case 1:
        return (vf)_mm256_permute_ps((__m256)q.v, 0x55);
    case 2:
        return (vf)_mm256_permute_ps((__m256)q.v, 0xaa);
    default:
        return (vf)_mm256_permute_ps((__m256)q.v, 0xff);
    }
#else
    return vf_set(q.p[i]);
#endif
}

/* a * b + c, rounded once */
#if defined(VF_AVX512)
SB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
#elif defined(VF_AVX2)
SB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
#elif defined(__aarch64__)
SB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    union {
        vf v;
        float32x4_t q[VF_LANES / 4];
    } x = {a}, y = {b}, z = {c};
    for (int i = 0; i < VF_LANES / 4; i++)
        z.q[i] = vfmaq_f32(z.q[i], x.q[i], y.q[i]);
    return z.v;
}
#else /* a function of its own: there are hundreds of them */
static __attribute__((noinline)) vf vf_fma(vf a, vf b, vf c)
{
    for (int i = 0; i < VF_LANES; i++)
        c[i] = fmaf(a[i], b[i], c[i]);
    return c;
}
#endif

/* out[l] = a[l + by] where l + by is in [0, n), else 0 */
SB_INLINE vf vf_lanes_from(vf a, int32_t by, int32_t n)
{
    vi from = (vi)VF_LANE + vi_set(by);
    vi inside = (from >= vi_set(0)) & (from < vi_set(n));
#if defined(VF_AVX512)
    return (vf)((vi)_mm512_permutexvar_ps((__m512i)from, (__m512)a) & inside);
#elif defined(VF_AVX2)
    return (vf)((vi)_mm256_permutevar8x32_ps((__m256)a, (__m256i)from) & inside);
#else
    vf out = {0};
    for (int l = 0; l < VF_LANES; l++)
        out[l] = inside[l] ? a[from[l] & (VF_LANES - 1)] : 0.0f;
    return out;
#endif
}

SB_INLINE vf vf_sqrt(vf a)
{
#if defined(VF_AVX512)
    return (vf)_mm512_sqrt_ps((__m512)a);
#elif defined(VF_AVX2)
    return (vf)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < VF_LANES; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}

/* to the nearest whole number, halves to even */
SB_INLINE vf vf_round(vf a)
{
#if defined(VF_AVX512)
    return (vf)_mm512_roundscale_ps((__m512)a,
                                    _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(VF_AVX2)
    return (vf)_mm256_round_ps((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    for (int i = 0; i < VF_LANES; i++)
        a[i] = rintf(a[i]);
    return a;
#endif
}

/* mask lanes are all ones or all zeros */
SB_INLINE vf vf_pick(vi mask, vf yes, vf no)
{
    return (vf)(((vi)yes & mask) | ((vi)no & ~mask));
}

/* 0 where x < 0, else x: a NaN stays one */
SB_INLINE vf vf_relu(vf x)
{
#if defined(VF_AVX512) /* the second of two operands that do not compare */
    return (vf)_mm512_max_ps(_mm512_setzero_ps(), (__m512)x);
#elif defined(VF_AVX2)
    return (vf)_mm256_max_ps(_mm256_setzero_ps(), (__m256)x);
#else
    return (vf)((vi)x & ~(x < vf_set(0.0f)));
#endif
}

/* The first of two equals; a NaN wins and stays. */
SB_INLINE vf vf_larger(vf a, vf b)
{
    return vf_pick((b <= a) | (a != a), a, b);
}

/* A pixel, or with affine what a norm and its ReLU make of it. */
SB_INLINE vf vf_seen(const float *x, const float *affine)
{
    return affine ? vf_relu(vf_fma(vf_load(x), vf_set(affine[0]), vf_set(affine[1])))
                  : vf_load(x);
}

/* ---- sums over lanes ----------------------------------------------------------------- */

/* Of eight vectors: [0] the sums of lanes 0 to 7 of each, [1] those of lanes 8 to 15. */
struct vf_sums {
    v8 part[VF_LANES / 8];
};

/* ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)) of eight lanes from `at` */
SB_INLINE float vf_sum8(vf x, const int at)
{
    return ((x[at] + x[at + 1]) + (x[at + 2] + x[at + 3])) +
           ((x[at + 4] + x[at + 5]) + (x[at + 6] + x[at + 7]));
}

#if defined(VF_AVX512)
/* The sums of two neighbours: of a's, then of b's, in each 128 bits. */
SB_INLINE __m512 vf_pairs(__m512 a, __m512 b)
{
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}

SB_INLINE struct vf_sums vf_sums(const vf s[8])
{
    __m512 ad = vf_pairs(vf_pairs((__m512)s[0], (__m512)s[1]),
                         vf_pairs((__m512)s[2], (__m512)s[3]));
    __m512 eh = vf_pairs(vf_pairs((__m512)s[4], (__m512)s[5]),
                         vf_pairs((__m512)s[6], (__m512)s[7]));
    /* 128 bits of ad: lanes 0-3, 4-7, 8-11 and 12-15 of the first four vectors */
    __m512 all = _mm512_add_ps(_mm512_shuffle_f32x4(ad, eh, 0x88),
                               _mm512_shuffle_f32x4(ad, eh, 0xdd));
    all = _mm512_shuffle_f32x4(all, all, 0xd8);
    return (struct vf_sums){
        {(v8)_mm512_castps512_ps256(all), (v8)_mm512_extractf32x8_ps(all, 1)}};
}
#elif defined(VF_AVX2)
SB_INLINE struct vf_sums vf_sums(const vf s[8])
{
    __m256 ab = _mm256_hadd_ps((__m256)s[0], (__m256)s[1]),
           cd = _mm256_hadd_ps((__m256)s[2], (__m256)s[3]);
    __m256 ef = _mm256_hadd_ps((__m256)s[4], (__m256)s[5]),
           gh = _mm256_hadd_ps((__m256)s[6], (__m256)s[7]);
    __m256 ad = _mm256_hadd_ps(ab, cd), eh = _mm256_hadd_ps(ef, gh);
    return (struct vf_sums){{(v8)_mm256_add_ps(_mm256_permute2f128_ps(ad, eh, 0x20),
                                               _mm256_permute2f128_ps(ad, eh, 0x31))}};
}
#else
SB_INLINE struct vf_sums vf_sums(const vf s[8])
{
    struct vf_sums out;
    for (int p = 0; p < VF_LANES / 8; p++)
        for (int i = 0; i < 8; i++)
            out.part[p][i] = vf_sum8(s[i], 8 * p);
    return out;
}
#endif

/* ---- elementary functions: base/fmath.h in lanes ------------------------------------- */

SB_INLINE vf vf_log(vf x)
{
    vi u = (vi)x - vi_set(0x3f3504f3);
    vi e = u >> 23;
    vf f = (vf)((u & vi_set(0x007fffff)) + vi_set(0x3f3504f3)) - vf_set(1.0f);
    vf n = __builtin_convertvector(e, vf), z = f * f, p = vf_set(7.0376836292e-2f);
    p = vf_fma(p, f, vf_set(-1.1514610310e-1f));
    p = vf_fma(p, f, vf_set(1.1676998740e-1f));
    p = vf_fma(p, f, vf_set(-1.2420140846e-1f));
    p = vf_fma(p, f, vf_set(1.4249322787e-1f));
    p = vf_fma(p, f, vf_set(-1.6668057665e-1f));
    p = vf_fma(p, f, vf_set(2.0000714765e-1f));
    p = vf_fma(p, f, vf_set(-2.4999993993e-1f));
    p = vf_fma(p, f, vf_set(3.3333331174e-1f));
    vf r = vf_fma(p * f, z, n * vf_set(-2.12194440e-4f));
    r = vf_fma(vf_set(-0.5f), z, r);
    return vf_fma(n, vf_set(0.693359375f), f + r);
}

SB_INLINE vf vf_exp(vf x)
{
    vf low = vf_set(-87.0f), high = vf_set(88.0f);
    x = vf_pick(x < low, low, x);
    x = vf_pick(x > high, high, x);
    vf n = vf_round(x * vf_set(1.44269504088896341f));
    vf r = vf_fma(n, vf_set(-0.693359375f), x), p = vf_set(1.9875691500e-4f);
    r = vf_fma(n, vf_set(2.12194440e-4f), r);
    p = vf_fma(p, r, vf_set(1.3981999507e-3f));
    p = vf_fma(p, r, vf_set(8.3334519073e-3f));
    p = vf_fma(p, r, vf_set(4.1665795894e-2f));
    p = vf_fma(p, r, vf_set(1.6666665459e-1f));
    p = vf_fma(p, r, vf_set(5.0000001201e-1f));
    p = vf_fma(p, r * r, r) + vf_set(1.0f);
    n = vf_pick(n == n, n, vf_set(0.0f));
    vi scale = (__builtin_convertvector(n, vi) + vi_set(127)) << 23;
    return p * (vf)scale;
}

SB_INLINE vf vf_softplus(vf x)
{
    vf e = vf_exp(x), u = vf_set(1.0f) + e, d = u - vf_set(1.0f);
    vi inexact = d > vf_set(0.0f);
    vf small = vf_pick(inexact, vf_log(u) * (e / vf_pick(inexact, d, vf_set(1.0f))), e);
    return vf_pick(x > vf_set(20.0f), x, small);
}

SB_INLINE vf vf_sigmoid(vf x)
{
    return vf_set(1.0f) / (vf_set(1.0f) + vf_exp(-x));
}

SB_INLINE void vf_sincos_turn(vu turn, vf *sine, vf *cosine)
{
    vu shifted = turn + vu_set(0x20000000u), quadrant = shifted >> 30;
    vi rest = (vi)((shifted & vu_set(0x3fffffffu)) - vu_set(0x20000000u));
    vf a = __builtin_convertvector(rest, vf) * vf_set(1.46291807926715968e-9f);
    vf z = a * a, s = vf_set(-1.9515295891e-4f), c = vf_set(2.443315711809948e-5f);
    s = vf_fma(s, z, vf_set(8.3321608736e-3f));
    s = vf_fma(s, z, vf_set(-1.6666654611e-1f));
    s = vf_fma(s * z, a, a);
    c = vf_fma(c, z, vf_set(-1.388731625493765e-3f));
    c = vf_fma(c, z, vf_set(4.166664568298827e-2f));
    c = vf_fma(c * z, z, vf_fma(vf_set(-0.5f), z, vf_set(1.0f)));
    vi odd = -(vi)(quadrant & vu_set(1));
    vf swapped_s = vf_pick(odd, c, s), swapped_c = vf_pick(odd, s, c);
    vu negate_s = (quadrant & vu_set(2)) << 30;
    vu negate_c = ((quadrant + vu_set(1)) & vu_set(2)) << 30;
    *sine = (vf)((vu)swapped_s ^ negate_s);
    *cosine = (vf)((vu)swapped_c ^ negate_c);
}

SB_INLINE void vf_box_muller(vu a, vu b, vf *z0, vf *z1)
{
    vf u = __builtin_convertvector((vi)(a >> 8), vf), s, c;
    vf r = vf_sqrt(vf_set(-2.0f) * vf_log(vf_fma(u, vf_set(0x1p-24f), vf_set(0x1p-25f))));
    vf_sincos_turn(b, &s, &c);
    *z0 = r * c;
    *z1 = r * s;
}

/* ---- Philox4x32-10, a counter a lane --------------------------------------------------- */

enum { PHILOX_ROUNDS = 10 };

/* The two key words of every round, in each lane. */
struct philox_keys {
    vu k0[PHILOX_ROUNDS], k1[PHILOX_ROUNDS];
};

SB_INLINE void philox_keys(struct philox_keys *k, uint32_t k0, uint32_t k1)
{
    for (uint32_t round = 0; round < PHILOX_ROUNDS; round++) {
        k->k0[round] = vu_set(k0 + round * 0x9E3779B9u);
        k->k1[round] = vu_set(k1 + round * 0xBB67AE85u);
    }
}

#if defined(VF_AVX2) || defined(VF_AVX512)
typedef uint64_t vw __attribute__((vector_size(4 * VF_LANES)));

/* The product of the low halves. */
SB_INLINE vw vw_multiply(vw a, uint64_t b)
{
#if defined(VF_AVX512)
    return (vw)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64((int64_t)b));
#else
    return (vw)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x((int64_t)b));
#endif
}

/* The low halves of one, beside those of the other. */
SB_INLINE vu vw_join(vw low, vw high)
{
#if defined(VF_AVX512)
    return (vu)_mm512_mask_blend_epi32(0xaaaa, (__m512i)low, (__m512i)(high << 32));
#else
    return (vu)_mm256_blend_epi32((__m256i)low, (__m256i)(high << 32), 0xaa);
#endif
}

/* Half of the counters, each word in the low half of a 64-bit lane: the multiplication
 * wants it there, and what is above is never looked at. */
SB_INLINE void philox_half(vw c[4], const struct philox_keys *k)
{
#pragma GCC unroll 10
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        vw p0 = vw_multiply(c[0], 0xD2511F53), p1 = vw_multiply(c[2], 0xCD9E8D57);
        c[0] = (p1 >> 32) ^ c[1] ^ (vw)k->k0[round];
        c[1] = p1;
        c[2] = (p0 >> 32) ^ c[3] ^ (vw)k->k1[round];
        c[3] = p0;
    }
}

SB_INLINE void vf_philox(vu c[4], const struct philox_keys *k)
{
    vw even[4], odd[4];
    for (int i = 0; i < 4; i++) {
        even[i] = (vw)c[i];
        odd[i] = (vw)c[i] >> 32;
    }
    philox_half(even, k);
    philox_half(odd, k);
    for (int i = 0; i < 4; i++)
        c[i] = vw_join(even[i], odd[i]);
}
#else
SB_INLINE void vf_philox(vu c[4], const struct philox_keys *k)
{
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        vu low0, high0, low1, high1;
        for (int i = 0; i < VF_LANES; i++) {
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
