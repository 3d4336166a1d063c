/* batch - see batch.h. */
#include "data/batch.h"

#include <assert.h>

#include "base/threads.h"

struct job {
    const struct sb_batch_source *s;
    const uint32_t *index; /* [x->batch] */
    struct sb_act *x;
    bool augment;
    struct sb_stream stream;
};

static void clear_lane(float *to, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        to[(size_t)i * SB_LANES] = 0.0f;
}

static void fill_block(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct job *j = context;
    const struct sb_dataset *d = j->s->data;
    uint32_t block = (uint32_t)chunk, lanes = sb_act_lanes(j->x, block);
    const uint32_t *index = j->index + chunk * SB_LANES;
    const uint8_t *image[SB_LANES];
    struct sb_crop crop[SB_LANES] = {0};
    for (uint32_t l = 0; l < lanes; l++) {
        image[l] = d->images + index[l] * sb_dataset_image_bytes(d);
        if (j->augment)
            crop[l] = sb_augment_draw(&j->s->augment, &j->stream, index[l]);
    }
    for (uint32_t c = 0; c < d->channels; c++) {
        const float *table = j->s->normal->table[c];
        size_t plane = (size_t)c * d->height * d->width;
        float *to = sb_act_plane(j->x, block, c);
        for (uint32_t y = 0; y < d->height; y++, to += (size_t)d->width * SB_LANES) {
            for (uint32_t l = 0; l < lanes; l++)
                sb_augment_row(&crop[l], image[l] + plane, d->height, d->width, y, table,
                               to + l, SB_LANES);
            for (uint32_t l = lanes; l < SB_LANES; l++)
                clear_lane(to + l, d->width);
        }
    }
}

void sb_batch_fill(const struct sb_batch_source *s, int threads, const uint32_t *index,
                   uint32_t count, struct sb_act *x, uint32_t *labels)
{
    assert(x->channels == s->data->channels && x->height == s->data->height &&
           x->width == s->data->width && s->normal->channels == x->channels);
    sb_act_set_batch(x, count);
    struct job j = {
        .s = s,
        .index = index,
        .x = x,
        .augment = s->augment.pad > 0 || s->augment.flip,
        .stream = sb_rng_stream(s->seed, SB_RNG_AUGMENT, s->member, s->step, 0),
    };
    sb_threads_run(threads, x->blocks, fill_block, &j);
    for (uint32_t i = 0; labels && i < count; i++)
        labels[i] = s->data->labels[index[i]];
}
