/* fmath - elementary functions in float, the same bits everywhere.
 *
 * libm may round differently from one version to the next and has no vector form we could
 * rely on. These are short polynomials (Cephes' coefficients) evaluated with explicit fused
 * multiply-adds; kernels/lanes.h has them again, eight lanes at a time, operation for
 * operation. Errors are below 3e-7 relative (log near 1 and sine: absolute).
 */
#ifndef SB_BASE_FMATH_H
#define SB_BASE_FMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t sb_float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float sb_bits_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Natural logarithm of a positive normal number. x = 2^e * (1 + f), 1 + f in
 * [sqrt(1/2), sqrt(2)). */
static inline float sb_log(float x)
{
    uint32_t u = sb_float_bits(x) - 0x3f3504f3u; /* bits of sqrt(1/2) */
    int32_t e = (int32_t)u >> 23;
    float f = sb_bits_float((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float n = (float)e, z = f * f, p = 7.0376836292e-2f;
    p = fmaf(p, f, -1.1514610310e-1f);
    p = fmaf(p, f, 1.1676998740e-1f);
    p = fmaf(p, f, -1.2420140846e-1f);
    p = fmaf(p, f, 1.4249322787e-1f);
    p = fmaf(p, f, -1.6668057665e-1f);
    p = fmaf(p, f, 2.0000714765e-1f);
    p = fmaf(p, f, -2.4999993993e-1f);
    p = fmaf(p, f, 3.3333331174e-1f);
    float r = fmaf(p * f, z, n * -2.12194440e-4f); /* ln 2 = 0.693359375 - 2.1219e-4 */
    r = fmaf(-0.5f, z, r);
    return fmaf(n, 0.693359375f, f + r);
}

/* e^x; x is clamped to [-87, 88], a NaN stays one. */
static inline float sb_exp(float x)
{
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float n = rintf(x * 1.44269504088896341f);
    float r = fmaf(n, -0.693359375f, x), p = 1.9875691500e-4f;
    r = fmaf(n, 2.12194440e-4f, r);
    p = fmaf(p, r, 1.3981999507e-3f);
    p = fmaf(p, r, 8.3334519073e-3f);
    p = fmaf(p, r, 4.1665795894e-2f);
    p = fmaf(p, r, 1.6666665459e-1f);
    p = fmaf(p, r, 5.0000001201e-1f);
    p = fmaf(p, r * r, r) + 1.0f;
    int32_t e = n == n ? (int32_t)n : 0;
    return p * sb_bits_float((uint32_t)(e + 127) << 23);
}

/* log(1 + e^x), the posterior's sigma = softplus(rho), exact to rounding for very negative
 * x too: log(u) * e / (u - 1) undoes the rounding of u = 1 + e. */
static inline float sb_softplus(float x)
{
    float e = sb_exp(x), u = 1.0f + e, d = u - 1.0f;
    float small = d > 0.0f ? sb_log(u) * (e / d) : e;
    return x > 20.0f ? x : small;
}

/* sin and cos of turn * 2^-32 full turns. The top three bits choose the octant pair; what
 * is left is an angle in [-pi/4, pi/4). */
static inline void sb_sincos_turn(uint32_t turn, float *sine, float *cosine)
{
    uint32_t shifted = turn + 0x20000000u;
    uint32_t quadrant = shifted >> 30;
    int32_t rest = (int32_t)((shifted & 0x3fffffffu) - 0x20000000u);
    float a = (float)rest * 1.46291807926715968e-9f; /* 2 pi / 2^32 */
    float z = a * a, s = -1.9515295891e-4f, c = 2.443315711809948e-5f;
    s = fmaf(s, z, 8.3321608736e-3f);
    s = fmaf(s, z, -1.6666654611e-1f);
    s = fmaf(s * z, a, a);
    c = fmaf(c, z, -1.388731625493765e-3f);
    c = fmaf(c, z, 4.166664568298827e-2f);
    c = fmaf(c * z, z, fmaf(-0.5f, z, 1.0f));
    float swapped_s = quadrant & 1u ? c : s, swapped_c = quadrant & 1u ? s : c;
    *sine = quadrant & 2u ? -swapped_s : swapped_s;
    *cosine = (quadrant + 1u) & 2u ? -swapped_c : swapped_c;
}

/* Two standard normals from two words (Box-Muller). The first word becomes a number in
 * (0, 1], so the logarithm is finite. */
static inline void sb_box_muller(uint32_t a, uint32_t b, float *z0, float *z1)
{
    float u = fmaf((float)(int32_t)(a >> 8), 0x1p-24f, 0x1p-25f), s, c;
    float r = sqrtf(-2.0f * sb_log(u));
    sb_sincos_turn(b, &s, &c);
    *z0 = r * c;
    *z1 = r * s;
}

#endif
