/* rows - see rows.h. */
#include "nn/rows.h"

#include <math.h>
#include <string.h>

#include "base/fmath.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/threads.h"
#include "kernels/rows.h"
#include "tensor/topology.h"

/* ---- life ---------------------------------------------------------------------------- */

sb_status sb_scale_init(struct sb_net_scale *s, const struct sb_arch_node *d)
{
    size_t n = (size_t)d->scale.members * d->channels, at = 0;
    float **array[] = {&s->mu,          &s->rho,          &s->bias,
                       &s->dmu,         &s->drho,         &s->dbias,
                       &s->mu_momentum, &s->rho_momentum, &s->bias_momentum};
    const bool there[] = {true, d->scale.gauss, d->bias};
    s->memory = sb_calloc(3 * sb_scale_gradient_floats(d), sizeof(float));
    if (!s->memory)
        return sb_fail(SB_ENOMEM, "no memory for the scales of %s", d->name);
    for (size_t i = 0; i < 9; i++)
        if (there[i % 3])
            *array[i] = s->memory + n * at++;
    return SB_OK;
}

size_t sb_scale_gradient_floats(const struct sb_arch_node *d)
{
    size_t kinds = 1;
    kinds += d->scale.gauss ? 1 : 0;
    kinds += d->bias ? 1 : 0;
    return kinds * d->scale.members * d->channels;
}

void sb_scale_fini(struct sb_net_scale *s)
{
    sb_free(s->memory);
    *s = (struct sb_net_scale){0};
}

sb_status sb_mask_init(struct sb_net_mask *m, const struct sb_arch_node *d,
                       uint32_t bands)
{
    if (!d->mask.given)
        return SB_OK;
    size_t plane = (size_t)d->height * d->width * (bands ? bands : 1);
    m->keep = sb_calloc(d->channels * plane, sizeof *m->keep);
    return m->keep ? SB_OK : sb_fail(SB_ENOMEM, "no memory for the mask %s", d->name);
}

static float normal(const struct sb_stream *s, size_t i)
{
    float z[4];
    sb_rng_normal4(s, i / 4, z);
    return z[i % 4];
}

void sb_scale_start(struct sb_net_scale *s, const struct sb_arch_node *d, uint64_t seed,
                    uint32_t member, uint32_t index)
{
    size_t n = (size_t)d->scale.members * d->channels;
    struct sb_stream first = sb_rng_stream(seed, SB_RNG_INIT, member, 2, index);
    struct sb_stream bias = sb_rng_stream(seed, SB_RNG_INIT, member, 3, index);
    float bound = 1.0f / sqrtf((float)d->scale.fan_in);
    for (size_t i = 0; i < n; i++)
        s->mu[i] = d->scale.spread > 0 ? 1.0f + d->scale.spread * normal(&first, i)
                   : sb_rng_uniform(&first, i) < 0.5f ? -1.0f
                                                      : 1.0f;
    for (size_t i = 0; s->rho && i < n; i++)
        s->rho[i] = (float)sb_rho_of_sigma((double)d->scale.sd);
    for (size_t i = 0; s->bias && i < n; i++)
        s->bias[i] = bound * (2.0f * sb_rng_uniform(&bias, i) - 1.0f);
    float *momenta[] = {s->mu_momentum, s->rho_momentum, s->bias_momentum};
    for (size_t k = 0; k < 3; k++)
        if (momenta[k])
            memset(momenta[k], 0, n * sizeof(float));
}

/* ---- scales -------------------------------------------------------------------------- */

/* Element (row, channel) of an act of 1 x 1 planes. */
static float *element(const struct sb_act *a, uint32_t row, uint32_t channel)
{
    return sb_act_image(a, row, channel);
}

static void draw_noise(struct sb_net_scale *s, const struct sb_pass *p, uint32_t index)
{
    struct sb_stream stream =
        sb_rng_stream(p->seed, SB_RNG_SCALE, p->member, p->step, index);
    for (uint32_t i = 0; i < s->eps.batch; i++)
        for (uint32_t c = 0; c < s->eps.channels; c += 4) {
            float z[4];
            sb_rng_normal4(&stream, (uint64_t)(p->image + i) << 32 | c / 4, z);
            for (uint32_t k = 0; k < 4 && c + k < s->eps.channels; k++)
                *element(&s->eps, i, c + k) = z[k];
        }
}

/* first: the number of the first row here; each: rows of a member. */
static void spread_factors(const struct sb_net_scale *s, const struct sb_act *eps,
                           uint32_t first, uint32_t each)
{
    uint32_t channels = s->factor.channels;
    for (uint32_t i = 0; i < s->factor.batch; i++) {
        size_t at = (size_t)((first + i) / each) * channels;
        for (uint32_t c = 0; c < channels; c++, at++) {
            float f = s->mu[at];
            if (eps)
                f += sb_softplus(s->rho[at]) * *element(eps, i, c);
            *element(&s->factor, i, c) = f;
            if (s->bias)
                *element(&s->shift, i, c) = s->bias[at];
        }
    }
}

sb_status sb_scale_forward(const struct sb_env *env, struct sb_net *n, uint32_t i,
                           const struct sb_pass *p)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    uint32_t index = n->node[i].param, members = d->scale.members;
    struct sb_net_scale *s = &n->scale[index];
    const struct sb_act *x = &n->node[d->in].y, *eps = NULL;
    uint32_t rows = sb_shards_rows(&n->shards, x->batch);
    if (rows % members)
        return sb_fail(SB_EARG, "%u rows are not those of %u members", rows, members);
    if (d->scale.gauss && p->sample) {
        if (p->scale_eps)
            memcpy(s->eps.data, p->scale_eps[index]->data,
                   sb_act_size(&s->eps) * sizeof(float));
        else
            draw_noise(s, p, index);
        eps = &s->eps;
    }
    spread_factors(s, eps, sb_shards_row(&n->shards), rows / members);
    sb_rows_scale(env, x, &s->factor, s->bias ? &s->shift : NULL, &n->node[i].y);
    return SB_OK;
}

/* Rows [begin, end) of those here. */
struct row_range {
    uint32_t begin, end;
};

/* Gradients of one factor, from those of rows; the deviation's is left as that of the
 * variance, as sb_params_gradient takes it. to: where dmu begins, the others as in s. */
static void sum_factor(const struct sb_net_scale *s, size_t at, uint32_t c,
                       struct row_range r, bool noisy, float *to)
{
    double mu = 0.0, sd = 0.0, bias = 0.0;
    for (uint32_t i = r.begin; i < r.end; i++) {
        double g = (double)*element(&s->dfactor, i, c);
        mu += g;
        sd += noisy ? g * (double)*element(&s->eps, i, c) : 0.0;
        bias += s->bias ? (double)*element(&s->dshift, i, c) : 0.0;
    }
    to[at] = (float)mu;
    if (s->rho)
        to[s->drho - s->dmu + (ptrdiff_t)at] =
            (float)(sd / (2.0 * (double)sb_softplus(s->rho[at])));
    if (s->bias)
        to[s->dbias - s->dmu + (ptrdiff_t)at] = (float)bias;
}

static uint32_t within(uint32_t x, uint32_t low, uint32_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* All factors' gradients of rows r; of members that have none of these, 0. */
static void sum_rows(const struct sb_net *n, uint32_t node, struct row_range r, float *to)
{
    const struct sb_arch_node *d = &n->arch.node[node];
    const struct sb_net_scale *s = &n->scale[n->node[node].param];
    uint32_t first = sb_shards_row(&n->shards), low = first + r.begin,
             high = first + r.end;
    uint32_t each = sb_shards_rows(&n->shards, s->factor.batch) / d->scale.members;
    bool noisy = d->scale.gauss && n->sampled;
    for (uint32_t m = 0; m < d->scale.members; m++) {
        struct row_range own = {within(m * each, low, high) - first,
                                within((m + 1) * each, low, high) - first};
        for (uint32_t c = 0; c < d->channels; c++)
            sum_factor(s, (size_t)m * d->channels + c, c, own, noisy, to);
    }
}

/* Their sum over shards. */
static sb_status fold_rows(const struct sb_env *env, struct sb_net *n, uint32_t node)
{
    const struct sb_net_scale *s = &n->scale[n->node[node].param];
    struct sb_fold f = {.n = sb_scale_gradient_floats(&n->arch.node[node]),
                        .first = s->dmu,
                        .more = n->sums,
                        .stride = n->sum_floats};
    uint32_t rows = s->factor.batch, shards = sb_shards_of(&n->shards, rows);
    uint32_t width = n->shards.width;
    for (uint32_t i = 0; i < shards; i++) {
        struct row_range r = {i * width, i + 1 < shards ? (i + 1) * width : rows};
        sum_rows(n, node, r, sb_fold_next(&f));
        sb_fold_push(env, &f, (struct sb_subtree){0, n->shards.first + i});
    }
    return sb_fold_start(env, &n->shards, &f, "gradients of scales");
}

sb_status sb_scale_backward(const struct sb_env *env, struct sb_net *n, uint32_t i)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_net_node *node = &n->node[i], *in = &n->node[d->in];
    struct sb_net_scale *s = &n->scale[node->param];
    struct sb_rows_backward b = {.dy = &node->dy,
                                 .x = &in->y,
                                 .factor = &s->factor,
                                 .dx = node->in_wanted ? &in->dy : NULL,
                                 .add = node->add_in,
                                 .dfactor = &s->dfactor,
                                 .dshift = s->bias ? &s->dshift : NULL};
    sb_rows_scale_backward(env, &b);
    return fold_rows(env, n, i);
}

/* ---- masks --------------------------------------------------------------------------- */

struct drop_job {
    struct sb_act *drop;
    struct sb_stream stream;
    uint32_t image, least; /* words below it drop */
    bool channels;
    float keep;
};

/* Rows of one block. Four elements, or channels, share a draw. */
static void drop_row(const struct drop_job *j, uint32_t row)
{
    struct sb_act *a = j->drop;
    size_t pixels = (size_t)a->height * a->width, decided = j->channels ? pixels : 1;
    size_t n = a->channels * pixels / decided;
    uint64_t image = (uint64_t)(j->image + row) << 32;
    uint32_t word[4] = {0};
    for (size_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            sb_rng_bits(&j->stream, image | i / 4, word);
        float value = word[i % 4] < j->least ? 0.0f : j->keep;
        for (size_t k = 0; k < decided; k++) {
            size_t e = i * decided + k;
            float *plane = sb_act_image(a, row, (uint32_t)(e / pixels));
            plane[e % pixels * a->lanes] = value;
        }
    }
}

static void drop_block(void *context, size_t block, int worker)
{
    (void)worker;
    const struct drop_job *j = context;
    uint32_t lanes = sb_act_lanes(j->drop, (uint32_t)block);
    for (uint32_t l = 0; l < lanes; l++)
        drop_row(j, (uint32_t)block * j->drop->lanes + l);
}

sb_status sb_mask_forward(const struct sb_env *env, struct sb_net *n, uint32_t i,
                          const struct sb_pass *p)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_net_mask *m = &n->mask[n->node[i].param];
    const struct sb_act *x = &n->node[d->in].y;
    struct sb_act *y = &n->node[i].y;
    if (m->keep) {
        sb_rows_mask(env, x, m->keep, n->arch.bands, y, false);
        return SB_OK;
    }
    struct drop_job j = {
        .drop = &m->drop,
        .stream =
            sb_rng_stream(p->seed, SB_RNG_DROPOUT, p->member, p->step, n->node[i].param),
        .image = p->image,
        .least = (uint32_t)((double)d->mask.rate * 4294967296.0),
        .channels = d->mask.channels,
        .keep = 1.0f / (1.0f - d->mask.rate),
    };
    if (p->drop)
        memcpy(m->drop.data, p->drop[n->node[i].param]->data,
               sb_act_size(&m->drop) * sizeof(float));
    else
        sb_threads_run(env->threads, m->drop.blocks, drop_block, &j);
    sb_rows_multiply(env, x, &m->drop, y, false);
    return SB_OK;
}

void sb_mask_backward(const struct sb_env *env, struct sb_net *n, uint32_t i)
{
    struct sb_net_node *node = &n->node[i], *in = &n->node[n->arch.node[i].in];
    const struct sb_net_mask *m = &n->mask[node->param];
    if (!node->in_wanted)
        return;
    if (m->keep)
        sb_rows_mask(env, &node->dy, m->keep, n->arch.bands, &in->dy, node->add_in);
    else
        sb_rows_multiply(env, &node->dy, &m->drop, &in->dy, node->add_in);
}
