/* corrupt_noise - gaussian, shot, impulse and speckle noise.
 *
 * All four replace a byte by a random one whose distribution depends on the byte and the
 * severity alone. So 256 distributions over 256 bytes say everything about a noise, clipping
 * and rounding included. As formulas, for x and out in [0, 1], n standard normal:
 *
 *     gaussian x + c n   shot Poisson(c x) / c   speckle x + c x n   impulse 0, 1: c / 2 each
 *
 * They are kept as alias tables (Walker): 256 columns of equal width, each shared by two
 * bytes. The high 8 bits of a random word choose the column, which itself stands for a byte;
 * if the other 24 are not below its threshold, it is the other byte.
 *
 *     noise[x][column] = threshold << 8 | other
 */
#include "corrupt/corrupt_parts.h"

#include <math.h>

static const double gaussian_sd[SB_SEVERITIES] = {.04, .06, .08, .09, .10};
static const double shot_photons[SB_SEVERITIES] = {500, 250, 100, 75, 50}; /* at white */
static const double impulse_share[SB_SEVERITIES] = {.01, .02, .03, .05, .07};
static const double speckle_sd[SB_SEVERITIES] = {.06, .1, .12, .16, .2};

/* below[k] = P(out <= k): x + sd n falls below k + 1. */
static void normal_row(double x, double sd, double *below)
{
    for (int k = 0; k < SB_SHADES; k++) {
        double above = (double)(k + 1) - x;
        below[k] = sd > 0.0      ? 0.5 * erfc(-above / (sd * sqrt(2.0)))
                   : above > 0.0 ? 1.0
                                 : 0.0;
    }
}

/* The count falls below (k + 1) / 255 of the photons at white. */
static void poisson_row(double x, double photons, double *below)
{
    double mean = x / 255.0 * photons, term = exp(-mean), sum = 0.0, count = 0.0;
    for (int k = 0; k < SB_SHADES; k++) {
        double limit = (double)(k + 1) * photons / 255.0;
        while (count < limit - 1e-9) {
            sum += term;
            count += 1.0;
            term *= mean / count;
        }
        below[k] = sum;
    }
}

static void impulse_row(double x, double share, double *below)
{
    for (int k = 0; k < SB_SHADES; k++)
        below[k] = 0.5 * share + (k >= x ? 1.0 - share : 0.0);
}

/* Each column below its share of 1 / 256 is filled up from one above, which then may be below
 * itself (Vose). What rounding leaves over fills its own column. */
static void alias_row(const double *below, uint32_t *row)
{
    double share[SB_SHADES];
    int little[SB_SHADES], much[SB_SHADES], littles = 0, muches = 0;
    for (int k = 0; k < SB_SHADES; k++) {
        double upto = k < SB_SHADES - 1 ? below[k] : 1.0; /* the rest is white */
        share[k] = SB_SHADES * (upto - (k > 0 ? below[k - 1] : 0.0));
        row[k] = 0xffffff00u | (uint32_t)k;
        if (share[k] < 1.0)
            little[littles++] = k;
        else
            much[muches++] = k;
    }
    while (littles > 0 && muches > 0) {
        int from = much[muches - 1], to = little[--littles];
        double part = share[to] > 0.0 ? share[to] : 0.0;
        row[to] = (uint32_t)(part * 0x1p24) << 8 | (uint32_t)from;
        share[from] -= 1.0 - part;
        if (share[from] < 1.0)
            little[littles++] = much[--muches];
    }
}

void sb_noise_prepare(struct sb_corrupt_plan *p)
{
    uint32_t s = p->severity;
    for (int x = 0; x < SB_SHADES; x++) {
        double below[SB_SHADES];
        switch (p->kind) {
        case SB_GAUSSIAN_NOISE:
            normal_row(x, 255.0 * gaussian_sd[s], below);
            break;
        case SB_SHOT_NOISE:
            poisson_row(x, shot_photons[s], below);
            break;
        case SB_IMPULSE_NOISE:
            impulse_row(x, impulse_share[s], below);
            break;
        default:
            normal_row(x, x * speckle_sd[s], below);
        }
        alias_row(below, p->noise + (size_t)x * SB_SHADES);
    }
}

static uint8_t draw(const uint32_t *row, uint32_t word)
{
    uint32_t entry = row[word >> 24];
    return (uint8_t)((word & 0xffffffu) < entry >> 8 ? word >> 24 : entry);
}

void sb_noise_recode(struct sb_canvas *v, const uint8_t *in, uint8_t *out)
{
    const struct sb_corrupt_plan *p = v->plan;
    struct sb_stream s = sb_canvas_stream(v, 0);
    size_t n = p->channels * p->plane;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t word[4];
        sb_rng_bits(&s, i / 4, word);
        for (size_t j = 0; j < 4 && i + j < n; j++)
            out[i + j] = draw(p->noise + (size_t)in[i + j] * SB_SHADES, word[j]);
    }
}
