/* net - see net.h. */
#include "nn/net.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "kernels/loss.h"
#include "kernels/params.h"
#include "kernels/pool.h"
#include "nn/fold.h"
#include "nn/plan.h"

/* ---- life ---------------------------------------------------------------------------- */

enum { NORM_ARRAYS = 10 };

static sb_status norm_init(struct sb_net_norm *m, uint32_t channels)
{
    float **array[NORM_ARRAYS] = {
        &m->norm.gamma,       &m->norm.beta, &m->norm.running_mean,
        &m->norm.running_var, &m->norm.mean, &m->norm.inv_sd,
        &m->dgamma,           &m->dbeta,     &m->gamma_momentum,
        &m->beta_momentum};
    m->memory = sb_calloc((size_t)NORM_ARRAYS * channels, sizeof(float));
    if (!m->memory)
        return sb_fail(SB_ENOMEM, "no memory for batch norm of %u channels", channels);
    for (size_t i = 0; i < NORM_ARRAYS; i++)
        *array[i] = m->memory + i * channels;
    m->norm.channels = channels;
    m->norm.epsilon = 1e-5f;
    m->norm.momentum = 0.1f;
    return SB_OK;
}

static sb_status init_params(struct sb_net *n, const struct sb_net_options *o)
{
    uint32_t w = 0, m = 0;
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        const struct sb_arch_node *d = &n->arch.node[i];
        sb_status st = SB_OK;
        if (d->kind == SB_NODE_WEIGHT) {
            struct sb_weight_options wo = {
                .max_batch = n->max_batch,
                .active = o->active ? o->active[w] : sb_conv_weights(&d->conv),
                .gauss = o->gauss,
                .bias = d->bias,
                .inference = o->inference || o->single || o->parameters,
                .sliced = n->node[d->in].sliced,
            };
            n->node[i].param = w;
            n->weight_node[w] = i;
            if (!o->lender)
                st = sb_weight_init(&n->weight[w], &d->conv, &wo);
            w++;
        } else if (d->kind == SB_NODE_NORM) {
            n->node[i].param = m;
            n->norm_node[m] = i;
            if (!o->lender)
                st = norm_init(&n->norm[m], d->channels);
            m++;
        }
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

sb_status sb_net_init(struct sb_net *n, const struct sb_net_options *o)
{
    *n = (struct sb_net){
        .max_batch = o->max_batch, .threads = o->threads, .borrows = o->lender != NULL};
    if (o->max_batch == 0 || o->threads < 1)
        return sb_fail(SB_EARG,
                       "a network for batches of %u on %d threads: both at least 1",
                       o->max_batch, o->threads);
    sb_status st =
        sb_arch_init(&n->arch, o->arch, o->channels, o->height, o->width, o->classes);
    if (st != SB_OK)
        return st;
    if (o->single)
        n->max_batch = sb_arch_band(&n->arch);
    n->node = sb_calloc(n->arch.nodes, sizeof *n->node);
    n->weight = sb_calloc(n->arch.weights, sizeof *n->weight);
    n->weight_node = sb_calloc(n->arch.weights, sizeof *n->weight_node);
    n->norm = sb_calloc(n->arch.norms, sizeof *n->norm);
    n->norm_node = sb_calloc(n->arch.norms, sizeof *n->norm_node);
    if (!n->node || !n->weight || !n->weight_node || !n->norm || !n->norm_node)
        return sb_fail(SB_ENOMEM, "no memory for a network of %u nodes", n->arch.nodes);
    bool predicts = o->inference || o->single || o->parameters || o->lender;
    if (predicts)
        sb_net_fold(n);
    else
        sb_net_unfold(n);
    if (predicts && !o->single && !o->gauss)
        sb_net_slice(n);
    st = init_params(n, o);
    if (st != SB_OK || o->parameters)
        return st;
    st = sb_net_plan(n, o->gauss, predicts, o->input_gradient);
    if (st == SB_OK)
        st = sb_net_plan_scratch(n, o);
    if (st != SB_OK)
        return st;
    sb_net_set_batch(n, n->max_batch);
    if (o->lender)
        sb_net_borrow(n, &o->lender[0]);
    return SB_OK;
}

void sb_net_borrow(struct sb_net *n, const struct sb_net *from)
{
    memcpy(n->weight, from->weight, n->arch.weights * sizeof *n->weight);
    if (n->arch.norms > 0)
        memcpy(n->norm, from->norm, n->arch.norms * sizeof *n->norm);
}

void sb_net_fini(struct sb_net *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; n->weight && !n->borrows && i < n->arch.weights; i++)
        sb_weight_fini(&n->weight[i]);
    for (uint32_t i = 0; n->norm && !n->borrows && i < n->arch.norms; i++)
        sb_free(n->norm[i].memory);
    sb_free(n->node);
    sb_free(n->weight);
    sb_free(n->weight_node);
    sb_free(n->norm);
    sb_free(n->norm_node);
    sb_free(n->scratch);
    sb_free(n->fold);
    sb_free(n->values);
    sb_free(n->gradients);
    sb_arch_fini(&n->arch);
    *n = (struct sb_net){0};
}

sb_status sb_net_start(struct sb_net *n, uint64_t seed, uint32_t member, float rho_init)
{
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        sb_status st = sb_weight_start(&n->weight[i], seed, member, i, rho_init);
        if (st != SB_OK)
            return st;
    }
    for (uint32_t i = 0; i < n->arch.norms; i++) {
        struct sb_net_norm *m = &n->norm[i];
        memset(m->memory, 0, (size_t)NORM_ARRAYS * m->norm.channels * sizeof(float));
        for (uint32_t c = 0; c < m->norm.channels; c++)
            m->norm.gamma[c] = m->norm.running_var[c] = 1.0f;
    }
    return SB_OK;
}

void sb_net_refresh(const struct sb_env *env, struct sb_net *n)
{
    for (uint32_t i = 0; i < n->arch.weights; i++)
        sb_weight_refresh(env, &n->weight[i]);
}

void sb_net_set_batch(struct sb_net *n, uint32_t batch)
{
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        sb_act_set_batch(&n->node[i].y, batch);
        sb_act_set_batch(&n->node[i].slope, batch);
        sb_act_set_batch(&n->node[i].dy, batch);
    }
    sb_act_set_batch(&n->probabilities, batch);
    n->input = n->node[0].y;
    n->logits = n->node[n->arch.nodes - 1].y;
}

void sb_net_set_input(struct sb_net *n, const struct sb_act *x)
{
    struct sb_act *y = &n->node[0].y;
    sb_net_set_batch(n, x->batch);
    if (y->plane == x->plane) {
        y->data = x->data;
    } else {
        y->data = n->values; /* its own memory: the first of all values */
        for (uint32_t b = 0; b < x->blocks; b++)
            for (uint32_t c = 0; c < x->channels; c++)
                memcpy(sb_act_plane(y, b, c), sb_act_plane(x, b, c),
                       (size_t)x->height * x->width * SB_LANES * sizeof(float));
    }
    for (uint32_t i = 1; i < n->arch.nodes; i++) /* views of the images */
        if (n->arch.node[i].kind == SB_NODE_FLATTEN && n->arch.node[i].in == 0)
            n->node[i].y.data = y->data;
    n->input = *y;
}

/* ---- forward ------------------------------------------------------------------------- */

static sb_status forward_weight(const struct sb_env *env, struct sb_net *n, uint32_t i,
                                const struct sb_pass *p)
{
    struct sb_net_node *node = &n->node[i];
    struct sb_weight *w = &n->weight[node->param];
    struct sb_noise noise = {
        .eps = p->eps ? p->eps[node->param] : NULL,
        .stream = sb_rng_stream(p->seed, SB_RNG_NOISE, p->member, p->step, node->param),
        .image = p->image,
    };
    struct sb_tail tail;
    struct sb_weight_forward f = {
        .x = &n->node[n->arch.node[i].in].y,
        .noise = p->sample ? &noise : NULL,
        .tail = sb_net_tail(n, i, &tail),
        .y = sb_net_end(n, i),
        .slope = &node->slope,
    };
    return sb_weight_forward(env, w, &f, n->scratch);
}

static sb_status forward_norm(const struct sb_env *env, struct sb_net *n, uint32_t i,
                              const struct sb_pass *p)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_norm *m = &n->norm[n->node[i].param].norm;
    const struct sb_act *x = &n->node[d->in].y;
    const struct sb_act *other = d->other == SB_NODE_NONE ? NULL : &n->node[d->other].y;
    int flags = d->relu ? SB_NORM_RELU : 0;
    return p->training ? sb_norm_train(env, m, x, other, &n->node[i].y, flags)
                       : sb_norm_infer(env, m, x, other, &n->node[i].y, flags);
}

static sb_status forward_node(const struct sb_env *env, struct sb_net *n, uint32_t i,
                              const struct sb_pass *p)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_act *y = &n->node[i].y;
    const struct sb_act *x = &n->node[d->in].y;
    switch (d->kind) {
    case SB_NODE_WEIGHT:
        return forward_weight(env, n, i, p);
    case SB_NODE_NORM:
        return forward_norm(env, n, i, p);
    case SB_NODE_RELU:
        sb_act_relu(env, y);
        return SB_OK;
    case SB_NODE_ADD:
        sb_act_add(env, y, &n->node[d->other].y);
        return SB_OK;
    case SB_NODE_MAX_POOL:
        return sb_pool_max(env, x, 2, y);
    case SB_NODE_MEAN_POOL:
        return n->arch.bands ? sb_pool_mean_bands(env, x, n->arch.bands, y)
                             : sb_pool_mean(env, x, y);
    case SB_NODE_INPUT:
    case SB_NODE_FLATTEN:
        break;
    }
    return SB_OK;
}

sb_status sb_net_forward(const struct sb_env *env, struct sb_net *n,
                         const struct sb_pass *p)
{
    if (env->threads > n->threads)
        return sb_fail(SB_EARG, "%d threads; the network was planned for %d",
                       env->threads, n->threads);
    if (n->arch.bands && (p->training || p->sample))
        return sb_fail(SB_EARG, "a network for single images only predicts, without "
                                "activation noise");
    if (n->fold && p->training)
        return sb_fail(SB_EARG, "a network for prediction has no training pass");
    n->trained = p->training;
    for (uint32_t i = 1; i < n->arch.nodes; i++) {
        if (n->node[i].maker != i)
            continue;
        sb_status st = forward_node(env, n, i, p);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

sb_status sb_net_loss(const struct sb_env *env, struct sb_net *n, const uint32_t *label,
                      double *loss)
{
    struct sb_act *d = &n->node[n->arch.nodes - 1].dy;
    memcpy(n->probabilities.data, n->logits.data,
           sb_act_size(&n->logits) * sizeof(float));
    return sb_loss_softmax(env, &n->probabilities, label, loss, n->gradients ? d : NULL);
}

void sb_net_softmax(const struct sb_env *env, struct sb_net *n)
{
    memcpy(n->probabilities.data, n->logits.data,
           sb_act_size(&n->logits) * sizeof(float));
    sb_softmax(env, &n->probabilities);
}

/* ---- backward ------------------------------------------------------------------------ */

struct backward {
    const struct sb_env *env;
    struct sb_net *n;
    sb_net_visit_fn *visit;
    void *context;
};

static sb_status backward_weight(const struct backward *b, uint32_t i)
{
    struct sb_net *n = b->n;
    struct sb_net_node *node = &n->node[i];
    struct sb_net_node *in = &n->node[n->arch.node[i].in];
    struct sb_weight *w = &n->weight[node->param];
    struct sb_weight_backward wb = {
        .x = &in->y,
        .dy = &node->dy,
        .slope = w->gauss ? &node->slope : NULL,
        .dx = node->in_wanted ? &in->dy : NULL,
        .add = node->add_in,
    };
    sb_status st = sb_weight_backward(b->env, w, &wb, n->scratch);
    if (st == SB_OK && b->visit)
        st = b->visit(b->context, node->param, &in->y, &node->dy);
    return st;
}

static sb_status backward_norm(const struct backward *b, uint32_t i)
{
    struct sb_net *n = b->n;
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_net_node *node = &n->node[i], *in = &n->node[d->in];
    struct sb_net_norm *m = &n->norm[node->param];
    struct sb_norm_backward nb = {
        .dy = &node->dy,
        .y = d->relu ? &node->y : NULL,
        .x = &in->y,
        .dx = &in->dy,
        .residual = d->other == SB_NODE_NONE ? NULL : &n->node[d->other].dy,
        .add = node->add_in,
        .inference = !n->trained,
        .dgamma = m->dgamma,
        .dbeta = m->dbeta,
    };
    return sb_norm_backward(b->env, &m->norm, &nb);
}

static sb_status backward_node(const struct backward *b, uint32_t i)
{
    struct sb_net *n = b->n;
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_net_node *node = &n->node[i], *in = &n->node[d->in];
    switch (d->kind) {
    case SB_NODE_WEIGHT:
        return backward_weight(b, i);
    case SB_NODE_NORM:
        return backward_norm(b, i);
    case SB_NODE_RELU:
        sb_act_relu_gradient(b->env, &in->dy, &node->y);
        return SB_OK;
    case SB_NODE_ADD: /* an input's gradient is its own, in the same buffer, or takes it up */
        if (node->add_in)
            sb_act_add(b->env, &in->dy, &node->dy);
        if (node->add_other)
            sb_act_add(b->env, &n->node[d->other].dy, &node->dy);
        return SB_OK;
    case SB_NODE_MAX_POOL:
        return sb_pool_max_backward(b->env, &in->y, &node->y, &node->dy, 2, &in->dy);
    case SB_NODE_MEAN_POOL:
        return sb_pool_mean_backward(b->env, &node->dy, &in->dy);
    case SB_NODE_INPUT:
    case SB_NODE_FLATTEN:
        break;
    }
    return SB_OK;
}

sb_status sb_net_backward(const struct sb_env *env, struct sb_net *n,
                          sb_net_visit_fn *visit, void *context)
{
    struct backward b = {env, n, visit, context};
    for (uint32_t i = n->arch.nodes - 1; i > 0; i--) {
        sb_status st = backward_node(&b, i);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

/* ---- parameters ---------------------------------------------------------------------- */

double sb_net_kl(const struct sb_env *env, const struct sb_net *n, float prior_sd)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n->arch.weights; i++)
        sum += sb_weight_kl(env, &n->weight[i], prior_sd);
    return sum;
}

void sb_net_add_kl(const struct sb_env *env, struct sb_net *n, float factor,
                   float prior_sd)
{
    for (uint32_t i = 0; i < n->arch.weights; i++)
        sb_weight_add_kl(env, &n->weight[i], factor, prior_sd);
}

void sb_net_step_norms(const struct sb_env *env, struct sb_net *n, const struct sb_sgd *o)
{
    for (uint32_t i = 0; i < n->arch.norms; i++) {
        struct sb_net_norm *m = &n->norm[i];
        uint32_t c = m->norm.channels;
        sb_params_sgd(env, o, m->norm.gamma, m->dgamma, m->gamma_momentum, c);
        sb_params_sgd(env, o, m->norm.beta, m->dbeta, m->beta_momentum, c);
    }
}

void sb_net_step(const struct sb_env *env, struct sb_net *n, const struct sb_sgd *o,
                 float rate_rho)
{
    for (uint32_t i = 0; i < n->arch.weights; i++)
        sb_weight_step(env, &n->weight[i], o, rate_rho);
    sb_net_step_norms(env, n, o);
    sb_net_refresh(env, n);
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
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        const struct sb_weight *w = &n->weight[i];
        if (!finite_array(w->mu, w->nnz) || !finite_array(w->rho, w->nnz) ||
            !finite_array(w->bias, w->conv.out))
            return n->arch.node[n->weight_node[i]].name;
    }
    for (uint32_t i = 0; i < n->arch.norms; i++) {
        const struct sb_norm *m = &n->norm[i].norm;
        if (!finite_array(m->gamma, m->channels) || !finite_array(m->beta, m->channels) ||
            !finite_array(m->running_mean, m->channels) ||
            !finite_array(m->running_var, m->channels))
            return n->arch.node[n->norm_node[i]].name;
    }
    return NULL;
}
