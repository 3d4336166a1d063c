/* augment - zero-pad, random crop, horizontal flip; by counter.
 *
 * As torchvision's RandomCrop(size, padding=p) and then RandomHorizontalFlip: the image is
 * surrounded by p pixels of value 0 (black, before normalisation), a window of the image's
 * own size is cut out anywhere, and mirrored every other time:
 *
 *     out[y][x] = in[y + dy][(flip ? width - 1 - x : x) + dx],   0 outside,   |dx|, |dy| <= p
 *
 * What happens to an example is a function of (seed, member, step, example) alone, where
 * step is the epoch if an epoch shows every example once.
 */
#ifndef SB_DATA_AUGMENT_H
#define SB_DATA_AUGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

struct sb_augment {
    uint32_t pad; /* 0: no crop */
    bool flip;
};

struct sb_crop {
    int32_t dy, dx;
    bool flip;
};

/* s is a stream of SB_RNG_AUGMENT. */
struct sb_crop sb_augment_draw(const struct sb_augment *a, const struct sb_stream *s,
                               uint64_t example);

/* Where a row of the output goes, and the shape of the plane it comes from. */
struct sb_row {
    uint32_t height, width; /* of the plane */
    uint32_t y;             /* which row */
    float *to;              /* [x * stride], x < width */
    size_t stride;
};

/* One row of the output, normalised. table[256] is the channel's, plane[height][width] its
 * bytes. */
void sb_augment_bytes(const struct sb_crop *crop, const struct sb_row *row,
                      const uint8_t *plane, const float *table);

/* The same for floats: (value - mean) / sd. */
void sb_augment_floats(const struct sb_crop *crop, const struct sb_row *row,
                       const float *plane, float mean, float sd);

#endif
