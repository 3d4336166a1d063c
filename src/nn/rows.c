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
    size_t n = (size_t)d->scale.members * d->channels, kinds = 1, at = 0;
    float **array[] = {&s->mu,   &s->dmu,   &s->mu_momentum,
                       &s->rho,  &s->drho,  &s->rho_momentum,
                       &s->bias, &s->dbias, &s->bias_momentum};
    kinds += d->scale.gauss ? 1 : 0;
    kinds += d->bias ? 1 : 0;
    s->memory = sb_calloc(3 * kinds * n, sizeof(float));
    if (!s->memory)
        return sb_fail(SB_ENOMEM, "no memory for the scales of %s", d->name);
    for (size_t i = 0; i < 9; i++)
        if (i < 3 || (i < 6 ? d->scale.gauss : d->bias))
            *array[i] = s->memory + n * at++;
    return SB_OK;
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

static void spread_factors(const struct sb_net_scale *s, const struct sb_act *eps,
                           uint32_t each)
{
    uint32_t channels = s->factor.channels;
    for (uint32_t i = 0; i < s->factor.batch; i++) {
        size_t at = (size_t)(i / each) * channels;
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
    if (x->batch % members)
        return sb_fail(SB_EARG, "%u rows are not those of %u members", x->batch, members);
    if (d->scale.gauss && p->sample) {
        if (p->scale_eps)
            memcpy(s->eps.data, p->scale_eps[index]->data,
                   sb_act_size(&s->eps) * sizeof(float));
        else
            draw_noise(s, p, index);
        eps = &s->eps;
    }
    spread_factors(s, eps, x->batch / members);
    sb_rows_scale(env, x, &s->factor, s->bias ? &s->shift : NULL, &n->node[i].y);
    return SB_OK;
}

/* Gradients of the factors, from those of the rows; the deviation's is left as that of the
 * variance, as sb_params_gradient takes it. */
static void sum_rows(struct sb_net_scale *s, uint32_t each, uint32_t channels,
                     uint32_t members, bool noisy)
{
    for (uint32_t m = 0; m < members; m++)
        for (uint32_t c = 0; c < channels; c++) {
            double mu = 0.0, sd = 0.0, bias = 0.0;
            size_t at = (size_t)m * channels + c;
            for (uint32_t i = m * each; i < (m + 1) * each; i++) {
                double g = (double)*element(&s->dfactor, i, c);
                mu += g;
                sd += noisy ? g * (double)*element(&s->eps, i, c) : 0.0;
                bias += s->bias ? (double)*element(&s->dshift, i, c) : 0.0;
            }
            s->dmu[at] = (float)mu;
            if (s->rho)
                s->drho[at] = (float)(sd / (2.0 * (double)sb_softplus(s->rho[at])));
            if (s->bias)
                s->dbias[at] = (float)bias;
        }
}

void sb_scale_backward(const struct sb_env *env, struct sb_net *n, uint32_t i)
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
    sum_rows(s, in->y.batch / d->scale.members, d->channels, d->scale.members,
             d->scale.gauss && n->sampled);
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
