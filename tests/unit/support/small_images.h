/* small_images - an IDX data set of a few small images in the working directory. */
#ifndef SB_TESTS_SMALL_IMAGES_H
#define SB_TESTS_SMALL_IMAGES_H

#include "data_fixture.h"

enum { SMALL_SIDE = 8, SMALL_PIXELS = SMALL_SIDE * SMALL_SIDE, SMALL_CLASSES = 4 };
enum { SMALL_MOST = 100 };

/* Images whose class is where they are bright, with noise; n at most SMALL_MOST. */
static inline void write_small_part(const char *images, const char *labels, uint32_t n)
{
    unsigned char file[16 + SMALL_MOST * SMALL_PIXELS], label[8 + SMALL_MOST];
    const unsigned char image_head[16] = {0, 0, 8, 3,          0, 0, 0, (unsigned char)n,
                                          0, 0, 0, SMALL_SIDE, 0, 0, 0, SMALL_SIDE};
    const unsigned char label_head[8] = {0, 0, 8, 1, 0, 0, 0, (unsigned char)n};
    struct sb_stream s = sb_rng_stream(n, SB_RNG_TEST, 0, 0, 0);
    memcpy(file, image_head, 16);
    memcpy(label, label_head, 8);
    for (uint32_t i = 0; i < n; i++) {
        label[8 + i] = (unsigned char)(i % SMALL_CLASSES);
        for (uint32_t k = 0; k < SMALL_PIXELS; k++) {
            bool bright = k / SMALL_SIDE / 2 == i % SMALL_CLASSES;
            float noise = 128.0f * sb_rng_uniform(&s, i * SMALL_PIXELS + k);
            file[16 + i * SMALL_PIXELS + k] = (unsigned char)(noise + (bright ? 60 : 0));
        }
    }
    put(images, file, 16 + (size_t)n * SMALL_PIXELS);
    put(labels, label, 8 + (size_t)n);
}

static inline void write_small_images(uint32_t trains, uint32_t tests)
{
    write_small_part("train-images-idx3-ubyte", "train-labels-idx1-ubyte", trains);
    write_small_part("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", tests);
}

#endif
