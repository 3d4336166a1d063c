/* normalise - see normalise.h. */
#include "data/normalise.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/failure.h"
#include "base/mem.h"
#include "base/threads.h"
#include "data/encode.h"

enum {
    CHUNKS_MOST = 64,       /* whatever the thread count */
    PARTIAL_SUMS = 1 << 20, /* of all chunks, or so: wide tables have fewer chunks */
    RUN_BYTES = 4096,       /* whose squares still fit 32 bits: 4096 * 255^2 < 2^32 */
    STREAM_SAMPLE = 1 << 16,
    CHECKED = 256 /* examples between two looks at a mapped file */
};

/* ---- given ---- */

static sb_status check(uint32_t channels, const float *mean, const float *sd)
{
    if (channels == 0)
        return sb_fail(SB_EARG, "there are no channels to normalise");
    for (uint32_t c = 0; c < channels; c++)
        if (!isfinite(mean[c]) || !isfinite(sd[c]) || sd[c] <= 0.0f)
            return sb_fail(
                SB_EARG, "channel %u has mean %g and sd %g; want finite ones, sd above 0",
                c, (double)mean[c], (double)sd[c]);
    return SB_OK;
}

sb_status sb_normalise_given(struct sb_normalise *m, enum sb_element element,
                             uint32_t channels, const float *mean, const float *sd)
{
    size_t a_channel = 2 + (element == SB_BYTES ? (size_t)SB_BYTE_VALUES : 0);
    *m = (struct sb_normalise){0};
    sb_status st = check(channels, mean, sd);
    if (st != SB_OK)
        return st;
    float *block = sb_malloc(channels, a_channel * sizeof *block);
    if (!block)
        return sb_fail(SB_ENOMEM, "no memory to normalise %u channels", channels);
    *m = (struct sb_normalise){
        .channels = channels, .element = element, .mean = block, .sd = block + channels};
    memcpy(m->mean, mean, channels * sizeof *mean);
    memcpy(m->sd, sd, channels * sizeof *sd);
    if (element == SB_FLOATS)
        return SB_OK;
    m->table = m->sd + channels;
    for (uint32_t c = 0; c < channels; c++)
        for (int v = 0; v < SB_BYTE_VALUES; v++)
            m->table[(size_t)c * SB_BYTE_VALUES + (size_t)v] =
                ((float)v / 255.0f - mean[c]) / sd[c];
    return SB_OK;
}

void sb_normalise_fini(struct sb_normalise *m)
{
    if (!m)
        return;
    sb_free(m->mean);
    *m = (struct sb_normalise){0};
}

/* ---- computed ---- */

struct sums {
    uint64_t sum, squares;
};

struct work {
    const struct sb_dataset *d;
    const uint32_t *index; /* [n] */
    uint32_t n, used;      /* used of them, at even distances */
    size_t chunks;
    double *mean, *sd;  /* [channels] owned */
    struct sums *bytes; /* [chunks][channels] owned; of a SB_BYTES set ... */
    double *floats;     /* [chunks][channels] owned; ... and of a SB_FLOATS set */
    bool squares;       /* floats are added up twice: as they are, then around mean */
    uint32_t channels;  /* d's, or its columns' features */
    struct sb_failure failure;
};

static uint32_t example(const struct work *w, size_t i)
{
    return w->index[i * w->n / w->used];
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

/* Whether it is time to see that the file is still what was mapped. */
static bool is_due(size_t first, size_t i)
{
    return (i - first) % CHECKED == 0;
}

static void add_bytes(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct work *w = context;
    const struct sb_dataset *d = w->d;
    size_t pixels = (size_t)d->height * d->width;
    size_t first = w->used * chunk / w->chunks, end = w->used * (chunk + 1) / w->chunks;
    struct sums *part = w->bytes + chunk * d->channels;
    sb_status st = SB_OK;
    uint8_t *buffer = d->fetch ? sb_malloc(sb_dataset_elements(d), 1) : NULL;
    if (d->fetch && !buffer)
        st = sb_fail(SB_ENOMEM, "%s: no memory for an image", d->path);
    for (size_t i = first; i < end && st == SB_OK; i++) {
        const uint8_t *image;
        if (is_due(first, i) && (st = sb_bytes_check(&d->file)) != SB_OK)
            break;
        st = sb_dataset_image(d, example(w, i), buffer, &image);
        for (uint32_t c = 0; c < d->channels && st == SB_OK; c++)
            add_plane(&part[c], image + c * pixels, pixels);
    }
    sb_failure_note(&w->failure, chunk, st);
    sb_free(buffer);
}

/* Values [channels][pixels] of one example. */
static void add_values(const struct work *w, const float *v, size_t pixels, double *part)
{
    for (uint32_t c = 0; c < w->channels; c++)
        for (size_t p = 0; p < pixels; p++, v++) {
            double x = w->squares ? *v - w->mean[c] : *v;
            part[c] += w->squares ? x * x : x;
        }
}

static void add_floats(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct work *w = context;
    const struct sb_dataset *d = w->d;
    size_t pixels = (size_t)d->height * d->width;
    size_t first = w->used * chunk / w->chunks, end = w->used * (chunk + 1) / w->chunks;
    double *part = w->floats + chunk * w->channels;
    float *features = d->columns ? sb_malloc(w->channels, sizeof *features) : NULL;
    sb_status st = SB_OK;
    if (d->columns && !features)
        st = sb_fail(SB_ENOMEM, "%s: no memory for a row", d->path);
    memset(part, 0, w->channels * sizeof *part);
    for (size_t i = first; i < end && st == SB_OK; i++) {
        const float *v = d->values + example(w, i) * sb_dataset_elements(d);
        if (is_due(first, i) && (st = sb_bytes_check(&d->file)) != SB_OK)
            break;
        if (features)
            (void)sb_encode_row(d->columns, v, sizeof *v, NULL, NULL, features, 1);
        add_values(w, features ? features : v, pixels, part);
    }
    sb_failure_note(&w->failure, chunk, st);
    sb_free(features);
}

/* The variance of bytes is taken as it always was; models depend on its bits. */
static void fold_bytes(struct work *w, double count)
{
    uint32_t channels = w->d->channels;
    for (uint32_t c = 0; c < channels; c++) {
        struct sums all = {0};
        for (size_t k = 0; k < w->chunks; k++) {
            all.sum += w->bytes[k * channels + c].sum;
            all.squares += w->bytes[k * channels + c].squares;
        }
        double mu = (double)all.sum / count;
        double variance = (double)all.squares / count - mu * mu;
        w->mean[c] = mu / 255.0;
        w->sd[c] = variance > 0x1p-20 ? sqrt(variance) / 255.0 : 1.0;
    }
}

static void fold_floats(const struct work *w, double count, double *out)
{
    for (uint32_t c = 0; c < w->channels; c++) {
        double sum = 0.0;
        for (size_t k = 0; k < w->chunks; k++)
            sum += w->floats[k * w->channels + c];
        out[c] = sum / count;
    }
}

/* A deviation below what a float near the mean can show is that of a constant channel. Its
 * weights were never taught, so that it counts as nothing, whatever it is one day. */
static void compute_floats(struct work *w, int threads, double count)
{
    sb_threads_run(threads, w->chunks, add_floats, w);
    fold_floats(w, count, w->mean);
    w->squares = true;
    sb_threads_run(threads, w->chunks, add_floats, w);
    fold_floats(w, count, w->sd);
    for (uint32_t c = 0; c < w->channels; c++) {
        double sd = sqrt(w->sd[c]);
        bool constant = sd <= 1e-7 * fabs(w->mean[c]) || sd < FLT_MIN;
        w->sd[c] = constant ? (double)SB_SD_CONSTANT : sd;
    }
}

/* Features that were made are not blown up because they are rare. */
static void bound_made(struct work *w)
{
    const struct sb_columns *all = w->d->columns;
    for (uint32_t i = 0; all && i < all->count; i++) {
        const struct sb_column *c = &all->column[i];
        bool made = c->kind == SB_COLUMN_CATEGORY || c->scale == SB_SCALE_PIECES;
        for (uint32_t k = 0; k < c->width; k++)
            if (made || (c->indicator && k + 1 == c->width))
                w->sd[c->feature + k] = fmax(w->sd[c->feature + k], (double)SB_SD_LEAST);
    }
}

static sb_status work_init(struct work *w)
{
    uint32_t channels = w->channels;
    size_t fit = PARTIAL_SUMS / channels;
    w->chunks = fit > CHUNKS_MOST ? CHUNKS_MOST : fit > 1 ? fit : 1;
    w->used = w->d->fetch && w->n > STREAM_SAMPLE ? STREAM_SAMPLE : w->n;
    w->mean = sb_malloc(channels, sizeof *w->mean);
    w->sd = sb_malloc(channels, sizeof *w->sd);
    if (w->d->element == SB_BYTES)
        w->bytes = sb_calloc(w->chunks * channels, sizeof *w->bytes);
    else
        w->floats = sb_malloc(w->chunks * channels, sizeof *w->floats);
    if (!w->mean || !w->sd || (!w->bytes && !w->floats))
        return sb_fail(SB_ENOMEM, "no memory to normalise %u channels", channels);
    return SB_OK;
}

static void work_fini(struct work *w)
{
    sb_free(w->mean);
    sb_free(w->sd);
    sb_free(w->bytes);
    sb_free(w->floats);
}

/* To float, in place. */
static float *narrow(double *x, uint32_t n)
{
    float *out = (float *)(void *)x;
    for (uint32_t i = 0; i < n; i++) {
        float f = (float)x[i];
        memcpy(&out[i], &f, sizeof f);
    }
    return out;
}

sb_status sb_normalise_computed(struct sb_normalise *m, const struct sb_env *env,
                                const struct sb_dataset *d, const uint32_t *index,
                                uint32_t n)
{
    struct work w = {.d = d, .index = index, .n = n, .failure = SB_FAILURE_NONE};
    *m = (struct sb_normalise){0};
    w.channels = d->columns ? d->columns->features : d->channels;
    if (n == 0 || w.channels == 0)
        return sb_fail(SB_EARG, "cannot normalise by %u examples of %u channels", n,
                       w.channels);
    sb_status st = work_init(&w);
    double count = (double)w.used * d->height * d->width;
    if (st == SB_OK && d->element == SB_BYTES) {
        sb_threads_run(env->threads, w.chunks, add_bytes, &w);
        st = sb_failure_raise(&w.failure);
        fold_bytes(&w, count);
    } else if (st == SB_OK) {
        compute_floats(&w, env->threads, count);
        bound_made(&w);
        st = sb_failure_raise(&w.failure);
    }
    if (st == SB_OK)
        st = sb_normalise_given(m, d->element, w.channels, narrow(w.mean, w.channels),
                                narrow(w.sd, w.channels));
    if (st == SB_OK)
        m->columns = d->columns;
    work_fini(&w);
    return st;
}
