/* normalise - see normalise.h. */
#include "data/normalise.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"

enum {
    CHUNKS = 64,     /* whatever the thread count */
    RUN_BYTES = 4096 /* whose squares still fit 32 bits: 4096 * 255^2 < 2^32 */
};

struct sums {
    uint64_t sum, squares;
};

struct work {
    const struct sb_dataset *d;
    const uint32_t *index; /* [n] */
    uint32_t n;
    struct sums part[CHUNKS][SB_CHANNELS_MOST];
};

sb_status sb_normalise_given(struct sb_normalise *m, uint32_t channels, const float *mean,
                             const float *sd)
{
    *m = (struct sb_normalise){.channels = channels};
    if (channels == 0 || channels > SB_CHANNELS_MOST)
        return sb_fail(SB_EARG, "images of %u channels; from 1 to %d work", channels,
                       SB_CHANNELS_MOST);
    for (uint32_t c = 0; c < channels; c++) {
        if (!isfinite(mean[c]) || !isfinite(sd[c]) || sd[c] <= 0.0f)
            return sb_fail(
                SB_EARG, "channel %u has mean %g and sd %g; want finite ones, sd above 0",
                c, (double)mean[c], (double)sd[c]);
        m->mean[c] = mean[c];
        m->sd[c] = sd[c];
        for (int v = 0; v < SB_BYTE_VALUES; v++)
            m->table[c][v] = ((float)v / 255.0f - mean[c]) / sd[c];
    }
    return SB_OK;
}

static void add_plane(struct sums *s, const uint8_t *plane, size_t pixels)
{
    while (pixels > 0) {
        size_t run = pixels < RUN_BYTES ? pixels : RUN_BYTES;
        uint32_t sum = 0, squares = 0;
        for (size_t i = 0; i < run; i++) {
            uint32_t v = plane[i];
            sum += v;
            squares += v * v;
        }
        s->sum += sum;
        s->squares += squares;
        plane += run;
        pixels -= run;
    }
}

static void add_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct work *w = context;
    const struct sb_dataset *d = w->d;
    size_t pixels = (size_t)d->height * d->width;
    size_t first = (size_t)w->n * chunk / CHUNKS;
    size_t end = (size_t)w->n * (chunk + 1) / CHUNKS;
    for (size_t i = first; i < end; i++) {
        const uint8_t *image = d->images + w->index[i] * sb_dataset_image_bytes(d);
        for (uint32_t c = 0; c < d->channels; c++)
            add_plane(&w->part[chunk][c], image + c * pixels, pixels);
    }
}

sb_status sb_normalise_computed(struct sb_normalise *m, const struct sb_env *env,
                                const struct sb_dataset *d, const uint32_t *index,
                                uint32_t n)
{
    if (n == 0 || d->channels > SB_CHANNELS_MOST)
        return sb_fail(SB_EARG,
                       "cannot normalise by %u images of %u channels; want 1 or more "
                       "images of at most %d channels",
                       n, d->channels, SB_CHANNELS_MOST);
    struct work w = {.d = d, .index = index, .n = n};
    sb_threads_run(env->threads, CHUNKS, add_chunk, &w);
    float mean[SB_CHANNELS_MOST], sd[SB_CHANNELS_MOST];
    double pixels = (double)n * d->height * d->width;
    for (uint32_t c = 0; c < d->channels; c++) {
        struct sums all = {0};
        for (size_t k = 0; k < CHUNKS; k++) {
            all.sum += w.part[k][c].sum;
            all.squares += w.part[k][c].squares;
        }
        double mu = (double)all.sum / pixels;
        double variance = (double)all.squares / pixels - mu * mu;
        mean[c] = (float)(mu / 255.0);
        sd[c] = variance > 0x1p-20 ? (float)(sqrt(variance) / 255.0) : 1.0f;
    }
    return sb_normalise_given(m, d->channels, mean, sd);
}
