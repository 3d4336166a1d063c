/* input - see input.h. */
#include "predict/input.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"

struct job {
    const struct sb_input *in;
    const struct sb_normalise *normal;
    size_t at;
    struct sb_act *x;
    unsigned char *bad;
};

static void fill_bytes(const unsigned char *from, ptrdiff_t step, const float *table,
                       uint32_t width, float *to, size_t lanes)
{
    for (uint32_t i = 0; i < width; i++, from += step)
        to[i * lanes] = table[*from];
}

/* Returns whether one is not finite. The caller's floats need not be aligned. */
static bool fill_floats(const unsigned char *from, ptrdiff_t step, float mean, float sd,
                        uint32_t width, float *to, size_t lanes)
{
    bool bad = false;
    for (uint32_t i = 0; i < width; i++, from += step) {
        float x;
        memcpy(&x, from, sizeof x);
        bad |= !isfinite(x);
        to[i * lanes] = (x - mean) / sd;
    }
    return bad;
}

/* A row that lacks a number: that counts as the mean. */
static enum sb_row_state fill_missing(const struct job *j, const unsigned char *from,
                                      float *to)
{
    enum sb_row_state state = SB_ROW_NEW;
    for (uint32_t c = 0; c < j->x->channels; c++, from += j->in->stride[1]) {
        float x;
        memcpy(&x, from, sizeof x);
        if (isinf(x))
            state = SB_ROW_BAD;
        if (isnan(x))
            to[c * j->x->plane] = 0.0f;
    }
    return state;
}

static enum sb_row_state fill_example(const struct job *j, const unsigned char *from,
                                      float *to)
{
    const struct sb_act *x = j->x;
    const ptrdiff_t *stride = j->in->stride;
    const struct sb_normalise *m = j->normal;
    bool bad = false;
    if (m->columns) {
        enum sb_row_state state =
            sb_encode_row(m->columns, from, stride[1], m->mean, m->sd, to, x->plane);
        return state == SB_ROW_NEW && !j->in->missing ? SB_ROW_BAD : state;
    }
    const unsigned char *row_at = from;
    float *row_to = to;
    for (uint32_t c = 0; c < x->channels; c++, from += stride[1], to += x->plane)
        for (uint32_t y = 0; y < x->height; y++) {
            const unsigned char *row = from + (ptrdiff_t)y * stride[2];
            float *out = to + (size_t)y * x->width * x->lanes;
            if (j->in->type == SB_INPUT_U8)
                fill_bytes(row, stride[3], j->normal->table + (size_t)c * SB_BYTE_VALUES,
                           x->width, out, x->lanes);
            else
                bad |= fill_floats(row, stride[3], j->normal->mean[c], j->normal->sd[c],
                                   x->width, out, x->lanes);
        }
    if (bad && j->in->missing)
        return fill_missing(j, row_at, row_to);
    return bad ? SB_ROW_BAD : SB_ROW_GOOD;
}

static void copy_example(const struct job *j, size_t i, float *to)
{
    const struct sb_act *from = j->in->data, *x = j->x;
    for (uint32_t c = 0; c < x->channels; c++, to += x->plane) {
        const float *image = sb_act_image(from, (uint32_t)(j->at + i), c);
        for (size_t p = 0; p < (size_t)x->height * x->width; p++)
            to[p * x->lanes] = image[p * from->lanes];
    }
}

static void clear_lane(const struct sb_act *x, float *to)
{
    for (uint32_t c = 0; c < x->channels; c++, to += x->plane)
        for (size_t i = 0; i < (size_t)x->height * x->width; i++)
            to[i * x->lanes] = 0.0f;
}

static void fill_block(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct job *j = context;
    uint32_t lanes = sb_act_lanes(j->x, (uint32_t)chunk);
    float *to = sb_act_plane(j->x, (uint32_t)chunk, 0);
    for (uint32_t l = 0; l < j->x->lanes; l++) {
        size_t i = chunk * j->x->lanes + l;
        if (l < lanes && j->in->type == SB_INPUT_ACT) {
            j->bad[i] = SB_ROW_GOOD;
            copy_example(j, i, to + l);
        } else if (l < lanes)
            j->bad[i] =
                (unsigned char)fill_example(j,
                                            (const unsigned char *)j->in->data +
                                                (ptrdiff_t)(j->at + i) * j->in->stride[0],
                                            to + l);
        else
            clear_lane(j->x, to + l);
    }
}

void sb_input_fill(const struct sb_input *in, size_t at, const struct sb_normalise *s,
                   int threads, struct sb_act *x, unsigned char *bad)
{
    struct job j = {in, s, at, x, bad};
    sb_threads_run(threads, x->blocks, fill_block, &j);
}
