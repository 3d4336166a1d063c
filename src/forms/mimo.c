/* mimo - several images side by side in one network, a head for each (Havasi et al. 2021).
 *
 * Input channel m * C + c is channel c of image m, output m * K + k class k of head m. At
 * test all images are the same one, so the first layer is the sum of its input slices and one
 * pass answers for all heads: a member is that network with head m.
 *
 * A batch of B examples becomes B * R rows; each head sees them in an order of its own, but
 * for a share `same` of the rows, which hold one image only.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "forms/form.h"

/* ---- architectures ------------------------------------------------------------------- */

static sb_status build(const struct sb_form_spec *s, const struct sb_arch_shape *shape,
                       enum sb_form_role role, struct sb_arch *out)
{
    struct sb_arch_shape wide = *shape;
    if (role == SB_FORM_TRAINED &&
        (__builtin_mul_overflow(shape->channels, s->members, &wide.channels) ||
         __builtin_mul_overflow(shape->classes, s->members, &wide.classes)))
        return sb_fail(SB_EARG,
                       "mimo: %u members of %u channels and %u classes are too many",
                       s->members, shape->channels, shape->classes);
    sb_status st = sb_form_plain.build(s, &wide, role, out);
    if (st != SB_OK)
        return st;
    if (out->weights == 1)
        return sb_fail(SB_EARG, "mimo needs a network with a hidden layer; %s has none",
                       shape->name);
    uint32_t end = out->nodes - 1;
    if (role == SB_FORM_MEMBER) {
        out->shared = end;
        return SB_OK;
    }
    struct sb_arch_head *head = sb_calloc(s->members, sizeof *head);
    if (!head)
        return sb_fail(SB_ENOMEM, "no memory for %u heads", s->members);
    for (uint32_t m = 0; m < s->members; m++)
        head[m] = (struct sb_arch_head){end, m * shape->classes};
    out->classes = shape->classes;
    st = sb_arch_set_heads(out, head, s->members);
    sb_free(head);
    return st;
}

/* ---- a batch ------------------------------------------------------------------------- */

static uint32_t rows(const struct sb_form_spec *s, uint32_t batch)
{
    return batch * s->repetitions;
}

/* order[row] = which of the rows' examples head m sees there: the first ones as they are,
 * the rest shuffled among themselves. */
static void shuffle(const struct sb_form_spec *s, const struct sb_form_batch *b,
                    uint32_t m, uint32_t n)
{
    uint32_t same = (uint32_t)lroundf(s->same * (float)n);
    struct sb_stream stream = sb_rng_stream(b->seed, SB_RNG_MIX, b->run, b->step, m);
    for (uint32_t i = 0; i < same; i++)
        b->order[i] = i;
    sb_rng_permutation(&stream, n - same, b->order + same);
    for (uint32_t i = same; i < n; i++)
        b->order[i] += same;
}

/* Lane `row` of channels [first, ...) becomes example i. */
static void copy_example(const struct sb_act *x, uint32_t i, struct sb_act *to,
                         uint32_t row, uint32_t first)
{
    size_t pixels = (size_t)x->height * x->width;
    for (uint32_t c = 0; c < x->channels; c++) {
        const float *from = sb_act_image(x, i, c);
        float *out = sb_act_image(to, row, first + c);
        for (size_t p = 0; p < pixels; p++)
            out[p * to->lanes] = from[p * x->lanes];
    }
}

static void feed(const struct sb_form_spec *s, const struct sb_form_batch *b)
{
    uint32_t n = rows(s, b->x->batch);
    sb_act_set_batch(b->rows, n);
    for (uint32_t m = 0; m < s->members; m++) {
        shuffle(s, b, m, n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t example = b->order[i] % b->x->batch;
            copy_example(b->x, example, b->rows, i, m * b->x->channels);
            b->example[(size_t)m * n + i] = example;
        }
    }
}

/* ---- a member ------------------------------------------------------------------------ */

/* A weight layer of the trained network, its weights by position. */
struct layer {
    const struct sb_trained *from;
    const struct sb_param *mu, *rho; /* rho NULL: points */
    const int32_t *position;         /* NULL: all exist */
    uint32_t cols;                   /* of a row */
};

static struct layer layer_of(const struct sb_trained *from, uint32_t weight)
{
    struct layer l = {.from = from, .mu = &from->params.param[from->mu[weight]]};
    l.rho = from->gauss ? &from->params.param[l.mu->rho] : NULL;
    l.position = from->position[weight];
    l.cols = sb_param_all(l.mu) / l.mu->dim[0];
    return l;
}

static uint32_t position_of(const struct layer *l, uint32_t k)
{
    return l->position ? (uint32_t)l->position[k] : k;
}

/* Sums over slices, [out][cols of a slice]: how many there are, means and variances. */
struct slices {
    uint32_t n, cols, members;
    uint8_t *there;
    float *mu;
    double *variance;
};

static void add_slices(const struct layer *l, struct slices *s)
{
    for (uint32_t k = 0; k < l->mu->count; k++) {
        uint32_t at = position_of(l, k), row = at / l->cols, col = at % l->cols;
        uint32_t to = row * s->cols + col % s->cols;
        s->there[to] = 1;
        s->mu[to] += l->mu->value[k];
        if (l->rho) {
            double sd = sb_sigma_of_rho((double)l->rho->value[k]);
            s->variance[to] += sd * sd;
        }
    }
}

/* Entries of the head's rows: [*begin, *end). */
static void head_range(const struct layer *l, uint32_t m, uint32_t classes,
                       uint32_t *begin, uint32_t *end)
{
    uint32_t first = m * classes * l->cols, last = (m + 1) * classes * l->cols;
    *begin = *end = 0;
    for (uint32_t k = 0; k < l->mu->count; k++) {
        *begin += position_of(l, k) < first;
        *end += position_of(l, k) < last;
    }
}

static sb_status slices_init(struct slices *s, const struct layer *first,
                             uint32_t members)
{
    uint32_t rows_of = first->mu->dim[0];
    *s = (struct slices){.cols = first->cols / members, .members = members};
    s->n = rows_of * s->cols;
    s->there = sb_calloc(s->n, 1);
    s->mu = sb_calloc(s->n, sizeof *s->mu);
    s->variance = sb_calloc(s->n, sizeof *s->variance);
    if (!s->there || !s->mu || !s->variance)
        return sb_fail(SB_ENOMEM, "no memory for a first layer of %u weights", s->n);
    add_slices(first, s);
    return SB_OK;
}

static void slices_fini(struct slices *s)
{
    sb_free(s->there);
    sb_free(s->mu);
    sb_free(s->variance);
}

/* Fills the plain first layer; at: memory for twice or three times its weights. */
static float *set_first(const struct slices *s, struct sb_trained *out, float *at)
{
    struct sb_param *mu = &out->params.param[out->mu[0]];
    bool sparse = mu->count < sb_param_all(mu);
    int32_t *position = sparse ? (int32_t *)(void *)at : NULL;
    float *value = at + (sparse ? mu->count : 0), *rho = value + mu->count;
    uint32_t k = 0;
    assert(at);
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->there[i])
            continue;
        if (position)
            position[k] = (int32_t)i;
        value[k] = s->mu[i];
        if (out->gauss)
            rho[k] = (float)sb_rho_of_sigma(sqrt(s->variance[i]));
        k++;
    }
    mu->value = value;
    out->position[0] = position;
    if (out->gauss)
        out->params.param[mu->rho].value = rho;
    return rho + (out->gauss ? mu->count : 0);
}

/* The head's rows are where they were trained; only positions begin anew. A head whose
 * weights all are elsewhere keeps one that is 0. */
static void set_head(const struct layer *l, uint32_t m, struct sb_trained *out, float *at)
{
    uint32_t begin, end, last = out->weights - 1, node;
    struct sb_param *mu = &out->params.param[out->mu[last]];
    head_range(l, m, mu->dim[0], &begin, &end);
    int32_t *position = (int32_t *)(void *)at;
    float *zero = at + mu->count;
    for (uint32_t k = begin; k < end; k++)
        position[k - begin] = (int32_t)(position_of(l, k) - m * mu->dim[0] * l->cols);
    out->position[last] = mu->count < sb_param_all(mu) ? position : NULL;
    mu->value = begin < end ? l->mu->value + begin : zero;
    if (l->rho)
        out->params.param[mu->rho].value = begin < end ? l->rho->value + begin : zero;
    node = mu->node;
    sb_trained_find(out, node, SB_PARAM_BIAS)->value =
        sb_trained_find(l->from, node, SB_PARAM_BIAS)->value + (size_t)m * mu->dim[0];
}

static sb_status member(const struct sb_form_spec *s, const struct sb_arch *trained,
                        const struct sb_arch *plain, const struct sb_trained *from,
                        uint32_t m, uint32_t draw, struct sb_trained *out)
{
    struct layer first = layer_of(from, 0), head = layer_of(from, from->weights - 1);
    struct slices sums = {0};
    uint32_t *active = sb_malloc(plain->weights, sizeof *active), begin, end;
    (void)trained;
    (void)draw;
    sb_status st = active ? slices_init(&sums, &first, s->members)
                          : sb_fail(SB_ENOMEM, "no memory for %u layers", plain->weights);
    if (st != SB_OK)
        goto done;
    sb_trained_active(from, active);
    active[0] = 0;
    for (uint32_t i = 0; i < sums.n; i++)
        active[0] += sums.there[i];
    head_range(&head, m, plain->classes, &begin, &end);
    active[plain->weights - 1] = begin < end ? end - begin : 1;
    size_t extra = 3 * (size_t)active[0] + 2 * (size_t)active[plain->weights - 1];
    st = sb_form_shell(plain, from, active, extra, out);
    if (st == SB_OK)
        set_head(&head, m, out, set_first(&sums, out, out->memory));
done:
    slices_fini(&sums);
    sb_free(active);
    return st;
}

const struct sb_form sb_form_mimo = {
    .name = "mimo", .build = build, .rows = rows, .feed = feed, .member = member};
