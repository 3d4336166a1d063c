/* batch - see batch.h. */
#include "data/batch.h"

#include <assert.h>

#include "base/failure.h"
#include "base/mem.h"
#include "base/threads.h"
#include "data/encode.h"

struct job {
    const struct sb_batch_source *s;
    const uint32_t *index; /* [x->batch] */
    struct sb_act *x;
    bool augment;
    struct sb_stream stream;
    struct sb_failure failure;
};

/* The examples of a block, whichever their form. */
struct lanes {
    uint32_t count;
    const uint8_t *image[SB_MAX_LANES]; /* of bytes */
    const float *values[SB_MAX_LANES];  /* of floats */
    uint8_t *buffer; /* [count] images; owned; NULL: they are in memory */
    struct sb_crop crop[SB_MAX_LANES];
};

static void clear_lane(float *to, uint32_t width, uint32_t lanes)
{
    for (uint32_t i = 0; i < width; i++)
        to[(size_t)i * lanes] = 0.0f;
}

static sb_status find_lanes(const struct job *j, const uint32_t *index, struct lanes *l)
{
    const struct sb_dataset *d = j->s->data;
    size_t size = sb_dataset_elements(d);
    if (d->fetch) {
        l->buffer = sb_malloc(l->count, size);
        if (!l->buffer)
            return sb_fail(SB_ENOMEM, "%s: no memory for %u images", d->path, l->count);
    }
    for (uint32_t i = 0; i < l->count; i++) {
        sb_status st = SB_OK;
        if (d->element == SB_FLOATS)
            l->values[i] = d->values + index[i] * size;
        else
            st = sb_dataset_image(d, index[i], l->buffer ? l->buffer + i * size : NULL,
                                  &l->image[i]);
        if (st != SB_OK)
            return st;
        if (j->augment)
            l->crop[i] = sb_augment_draw(&j->s->augment, &j->stream, index[i]);
    }
    return SB_OK;
}

/* One row of one channel, all lanes: it stays in the first-level cache meanwhile. */
static void fill_row(const struct job *j, const struct lanes *l, uint32_t channel,
                     struct sb_row row)
{
    const struct sb_normalise *m = j->s->normal;
    size_t plane = (size_t)channel * row.height * row.width;
    float *to = row.to;
    for (uint32_t i = 0; i < l->count; i++) {
        row.to = to + i;
        if (m->element == SB_FLOATS)
            sb_augment_floats(&l->crop[i], &row, l->values[i] + plane, m->mean[channel],
                              m->sd[channel]);
        else
            sb_augment_bytes(&l->crop[i], &row, l->image[i] + plane,
                             m->table + (size_t)channel * SB_BYTE_VALUES);
    }
    for (uint32_t i = l->count; i < j->x->lanes; i++)
        clear_lane(to + i, row.width, j->x->lanes);
}

/* Rows of a table with columns become features. */
static void encode_block(const struct job *j, const struct lanes *l, uint32_t block)
{
    const struct sb_normalise *m = j->s->normal;
    float *to = sb_act_plane(j->x, block, 0);
    for (uint32_t i = 0; i < l->count; i++)
        (void)sb_encode_row(m->columns, l->values[i], sizeof(float), m->mean, m->sd,
                            to + i, j->x->plane);
    for (uint32_t c = 0; c < j->x->channels; c++)
        for (uint32_t i = l->count; i < j->x->lanes; i++)
            to[c * j->x->plane + i] = 0.0f;
}

static void fill_block(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct job *j = context;
    const struct sb_dataset *d = j->s->data;
    uint32_t block = (uint32_t)chunk;
    struct lanes l = {.count = sb_act_lanes(j->x, block)};
    sb_status st = find_lanes(j, j->index + chunk * j->x->lanes, &l);
    bool encode = j->s->normal->columns != NULL;
    if (encode && st == SB_OK)
        encode_block(j, &l, block);
    for (uint32_t c = 0; c < d->channels && st == SB_OK && !encode; c++) {
        struct sb_row row = {.height = d->height,
                             .width = d->width,
                             .to = sb_act_plane(j->x, block, c),
                             .stride = j->x->lanes};
        for (; row.y < d->height; row.y++, row.to += (size_t)d->width * j->x->lanes)
            fill_row(j, &l, c, row);
    }
    sb_failure_note(&j->failure, chunk, st);
    sb_free(l.buffer);
}

sb_status sb_batch_fill(const struct sb_batch_source *s, int threads,
                        const uint32_t *index, uint32_t count, struct sb_act *x,
                        uint32_t *labels)
{
    const struct sb_dataset *d = s->data;
    assert(sb_normalise_inputs(s->normal) == d->channels && x->height == d->height &&
           x->width == d->width);
    assert(s->normal->channels == x->channels && s->normal->element == d->element);
    sb_status st = sb_bytes_check(&d->file);
    if (st != SB_OK)
        return st;
    sb_act_set_batch(x, count);
    struct job j = {
        .s = s,
        .index = index,
        .x = x,
        .augment = s->augment.pad > 0 || s->augment.flip,
        .stream = sb_rng_stream(s->seed, SB_RNG_AUGMENT, s->member, s->step, 0),
        .failure = SB_FAILURE_NONE,
    };
    sb_threads_run(threads, x->blocks, fill_block, &j);
    for (uint32_t i = 0; labels && i < count; i++)
        labels[i] = d->labels ? d->labels[index[i]] : 0;
    return sb_failure_raise(&j.failure);
}
