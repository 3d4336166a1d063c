/* corrupt - nineteen ways in which pictures go wrong, each at five severities.
 *
 * The corruptions of CIFAR-10-C (Hendrycks and Dietterich, 2019), with its constants, for
 * images of any size: docs/corruptions.md. What is random about an image depends on
 * (seed, kind, severity, index of the image) alone, so a part of a data set, another thread
 * count or another order give the same bytes.
 *
 *     sb_corrupt_new(&c, env, channels, height, width);
 *     sb_corrupt_choose(c, SB_FOG, 3, seed);         tables and kernels, made once
 *     sb_corrupt_images(c, first, n, in, out);       any number of times
 *     sb_corrupt_free(c);
 *
 * Images are bytes [channels][height][width], grey or red, green, blue. A grey image is
 * treated as a colour one whose channels are equal: saturation leaves it as it is, colours
 * become their luminance.
 *
 * All memory is there after new (after the first choice of SB_JPEG_COMPRESSION for that
 * one); libjpeg keeps its own.
 */
#ifndef SB_CORRUPT_CORRUPT_H
#define SB_CORRUPT_CORRUPT_H

#include <stdint.h>

#include "base/env.h"
#include "base/status.h"

/* In the benchmark's order: the fifteen that its mean error counts, then the four extra ones.
 * Never renumber: it would change every corrupted set. */
enum sb_corruption {
    SB_GAUSSIAN_NOISE,
    SB_SHOT_NOISE,
    SB_IMPULSE_NOISE,
    SB_DEFOCUS_BLUR,
    SB_GLASS_BLUR,
    SB_MOTION_BLUR,
    SB_ZOOM_BLUR,
    SB_SNOW,
    SB_FROST,
    SB_FOG,
    SB_BRIGHTNESS,
    SB_CONTRAST,
    SB_ELASTIC_TRANSFORM,
    SB_PIXELATE,
    SB_JPEG_COMPRESSION,
    SB_SPECKLE_NOISE,
    SB_GAUSSIAN_BLUR,
    SB_SPATTER,
    SB_SATURATE,
    SB_CORRUPTIONS
};

enum { SB_SEVERITIES = 5, SB_CORRUPT_SIDE_MOST = 4096 };

/* "gaussian_noise", ...: the file names of CIFAR-10-C. */
const char *sb_corruption_name(enum sb_corruption kind);

/* The kind of that name; '-' counts as '_'. SB_EARG names the nearest one. */
sb_status sb_corruption_find(const char *name, enum sb_corruption *kind);

struct sb_corrupt; /* used by one thread at a time; runs on env's threads */

/* env is borrowed. SB_EARG unless there are 1 or 3 channels and both sides are 1 to
 * SB_CORRUPT_SIDE_MOST. *out is NULL after a failure. */
sb_status sb_corrupt_new(struct sb_corrupt **out, const struct sb_env *env,
                         uint32_t channels, uint32_t height, uint32_t width);

/* Accepts NULL. */
void sb_corrupt_free(struct sb_corrupt *c);

/* What the next images get. severity is 1 to SB_SEVERITIES, else SB_EARG; SB_EMISSING for
 * SB_JPEG_COMPRESSION in a build without libjpeg. */
sb_status sb_corrupt_choose(struct sb_corrupt *c, enum sb_corruption kind,
                            uint32_t severity, uint64_t seed);

/* out[n] = in[n] corrupted as chosen; in[i] is image first + i of its data set. in and out
 * must not overlap. Fails only if libjpeg does, for want of memory. */
sb_status sb_corrupt_images(struct sb_corrupt *c, uint32_t first, uint32_t n,
                            const uint8_t *in, uint8_t *out);

#endif
