/* net_params - a network's parameters as a list, and what is done to all of them; see net.h
 * and param.h. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/params.h"
#include "nn/net.h"
#include "nn/plan.h"

/* ---- the list ------------------------------------------------------------------------ */

static void set(struct sb_param *p, float *value, float *gradient, float *momentum)
{
    p->value = value;
    p->gradient = gradient;
    p->momentum = momentum;
}

/* Where the numbers of a record are. */
static void attach(const struct sb_net *n, struct sb_param *p)
{
    if (p->role == SB_PARAM_NOISE) {
        set(p, n->noise.value, n->noise.gradient, n->noise.momentum);
        return;
    }
    uint32_t k = n->node[p->node].param;
    struct sb_weight *w = &n->weight[k];
    struct sb_net_norm *m = &n->norm[k];
    struct sb_net_scale *s = &n->scale[k];
    switch (p->role) {
    case SB_PARAM_MU:
        set(p, w->mu, w->dmu, w->mu_momentum);
        break;
    case SB_PARAM_RHO:
        set(p, w->rho, w->drho, w->rho_momentum);
        break;
    case SB_PARAM_BIAS:
        set(p, w->bias, w->dbias, w->bias_momentum);
        break;
    case SB_PARAM_GAMMA:
        set(p, m->norm.gamma, m->dgamma, m->gamma_momentum);
        break;
    case SB_PARAM_BETA:
        set(p, m->norm.beta, m->dbeta, m->beta_momentum);
        break;
    case SB_PARAM_RUNNING_MEAN:
        set(p, m->norm.running_mean, NULL, NULL);
        break;
    case SB_PARAM_RUNNING_VAR:
        set(p, m->norm.running_var, NULL, NULL);
        break;
    case SB_PARAM_SCALE:
        set(p, s->mu, s->dmu, s->mu_momentum);
        p->prior_mean = 1.0f;
        p->prior_sd = n->arch.node[p->node].scale.prior_sd;
        break;
    case SB_PARAM_SCALE_RHO:
        set(p, s->rho, s->drho, s->rho_momentum);
        break;
    case SB_PARAM_SCALE_BIAS:
        set(p, s->bias, s->dbias, s->bias_momentum);
        break;
    case SB_PARAM_KEEP:
        set(p, n->mask[k].keep, NULL, NULL);
        break;
    case SB_PARAM_NOISE:
    case SB_PARAM_ROLES:
        break;
    }
}

sb_status sb_net_list_params(struct sb_net *n, const struct sb_net_options *o)
{
    sb_status st = sb_param_list_init(&n->params, &n->arch, o->active, o->gauss);
    for (uint32_t i = 0; i < n->params.n && st == SB_OK; i++)
        attach(n, &n->params.param[i]);
    return st;
}

/* ---- the KL term --------------------------------------------------------------------- */

static struct sb_prior prior_of(const struct sb_param *p, float weights_sd)
{
    return p->role == SB_PARAM_MU ? (struct sb_prior){0.0f, weights_sd}
                                  : (struct sb_prior){p->prior_mean, p->prior_sd};
}

double sb_net_kl(const struct sb_env *env, const struct sb_net *n, float prior_sd)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n->params.n; i++) {
        const struct sb_param *p = &n->params.param[i];
        if (p->rho != SB_NODE_NONE)
            sum += sb_params_kl(env, p->value, n->params.param[p->rho].value,
                                prior_of(p, prior_sd), p->count);
    }
    return sum;
}

static void add_kl(const struct sb_env *env, const struct sb_net *n,
                   const struct sb_param *p, float factor, float prior_sd)
{
    if (p->rho == SB_NODE_NONE)
        return;
    const struct sb_param *rho = &n->params.param[p->rho];
    bool grouped = p->role == SB_PARAM_MU && n->weight[n->node[p->node].param].group;
    (grouped ? sb_params_deviation_gradient : sb_params_gradient)(
        env, p->value, rho->value, rho->gradient, factor, prior_of(p, prior_sd),
        p->gradient, rho->gradient, p->count);
}

void sb_net_add_kl(const struct sb_env *env, struct sb_net *n, float factor,
                   float prior_sd)
{
    for (uint32_t i = 0; i < n->params.n; i++)
        add_kl(env, n, &n->params.param[i], factor, prior_sd);
}

/* ---- steps --------------------------------------------------------------------------- */

static void step(const struct sb_env *env, const struct sb_param *p,
                 const struct sb_step_rates *r)
{
    const float rate[SB_RATE_GROUPS] = {
        [SB_RATE_MU] = r->sgd.rate, [SB_RATE_RHO] = r->rho, [SB_RATE_SCALE] = r->scale};
    struct sb_sgd o = r->sgd;
    o.rate = rate[p->rate];
    o.decay = p->decays ? o.decay : 0.0f;
    if (p->gradient)
        sb_params_sgd(env, &o, p->value, p->gradient, p->momentum, p->count);
}

/* Some of the records. */
struct part {
    enum { ALL, OF_NODE, OF_NO_WEIGHT } which;
    uint32_t node;
};

/* A record of a weight layer, its bias included, has the layer's node. */
static bool belongs(const struct sb_net *n, const struct part *of,
                    const struct sb_param *p)
{
    bool weight = p->node != SB_NODE_NONE && n->arch.node[p->node].kind == SB_NODE_WEIGHT;
    return of->which == ALL || (of->which == OF_NODE ? p->node == of->node : !weight);
}

static double square_sum(const float *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; x && i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

static void scale(float *x, size_t n, float factor)
{
    for (size_t i = 0; x && i < n; i++)
        x[i] *= factor;
}

/* Gradients that are longer together become `most` long. One thread adds up, in the order of
 * the list, so that the bits depend on nothing else. What is not finite stays, to be found. */
static void clip(const struct sb_net *n, const struct part *of, float most)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n->params.n; i++)
        if (belongs(n, of, &n->params.param[i]))
            sum += square_sum(n->params.param[i].gradient, n->params.param[i].count);
    double norm = sqrt(sum);
    if (!(norm > (double)most) || !isfinite(norm))
        return;
    for (uint32_t i = 0; i < n->params.n; i++)
        if (belongs(n, of, &n->params.param[i]))
            scale(n->params.param[i].gradient, n->params.param[i].count,
                  (float)((double)most / norm));
}

static void add_kl_of(const struct sb_env *env, const struct sb_net *n,
                      const struct part *of, float factor, float prior_sd)
{
    for (uint32_t i = 0; i < n->params.n; i++)
        if (belongs(n, of, &n->params.param[i]))
            add_kl(env, n, &n->params.param[i], factor, prior_sd);
}

static void step_part(const struct sb_env *env, const struct sb_net *n,
                      const struct part *of, const struct sb_step_rates *r)
{
    if (r->clip > 0.0f)
        clip(n, of, r->clip);
    for (uint32_t i = 0; i < n->params.n; i++)
        if (belongs(n, of, &n->params.param[i]))
            step(env, &n->params.param[i], r);
}

void sb_net_step(const struct sb_env *env, struct sb_net *n,
                 const struct sb_step_rates *r)
{
    step_part(env, n, &(struct part){.which = ALL}, r);
    sb_net_refresh(env, n);
}

void sb_net_step_weight(const struct sb_env *env, struct sb_net *n, uint32_t weight,
                        const struct sb_step_rates *r, float kl_factor, float prior_sd)
{
    const struct part layer = {OF_NODE, n->weight_node[weight]};
    add_kl_of(env, n, &layer, kl_factor, prior_sd);
    step_part(env, n, &layer, r);
}

void sb_net_step_others(const struct sb_env *env, struct sb_net *n,
                        const struct sb_step_rates *r, float kl_factor)
{
    const struct part others = {.which = OF_NO_WEIGHT};
    add_kl_of(env, n, &others, kl_factor, 0.0f);
    step_part(env, n, &others, r);
}

/* ---- figures ------------------------------------------------------------------------- */

uint64_t sb_net_active(const struct sb_net *n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n->arch.weights; i++)
        sum += n->weight[i].nnz;
    return sum;
}

uint64_t sb_net_weights(const struct sb_net *n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n->arch.weights; i++)
        sum += sb_conv_weights(&n->weight[i].conv);
    return sum;
}

double sb_net_macs(const struct sb_net *n, bool dense)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        const struct sb_weight *w = &n->weight[i];
        double weights = dense ? sb_conv_weights(&w->conv) : w->nnz;
        sum += weights * w->conv.out_height * w->conv.out_width;
    }
    return sum;
}

double sb_net_work(const struct sb_net *n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        const struct sb_weight *w = &n->weight[i];
        double products = w->gauss && !w->group ? 2.0 : 1.0;
        sum += products * w->nnz * w->conv.out_height * w->conv.out_width;
    }
    return sum;
}

size_t sb_net_bytes(const struct sb_net *n)
{
    size_t bytes =
        (n->value_floats + n->gradient_floats) * sizeof(float) + n->scratch_bytes;
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        const struct sb_weight *w = &n->weight[i];
        bool forward = !w->dmu;
        size_t arrays = forward ? (w->gauss ? 3 : 1) : w->gauss ? 9 : 4;
        size_t order = forward    ? sizeof(uint16_t) + sizeof(uint32_t)
                       : w->dense ? 0
                                  : 2 * sizeof(uint16_t) + 2 * sizeof(uint32_t);
        bytes += sb_weight_placed(w) * (arrays * sizeof(float) + order);
    }
    return bytes;
}

static bool finite_array(const float *x, size_t n)
{
    for (size_t i = 0; x && i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

const char *sb_net_not_finite(const struct sb_net *n)
{
    for (uint32_t i = 0; i < n->params.n; i++)
        if (!finite_array(n->params.param[i].value, n->params.param[i].count))
            return n->params.param[i].layer;
    return NULL;
}
