/* predictor - see predictor.h. */
#include "predict/predictor.h"

#include <string.h>

#include "base/mem.h"
#include "predict/source.h"

/* ---- life ---------------------------------------------------------------------------- */

static sb_status init_net(struct sb_predictor *p, const struct sb_predictor_options *o)
{
    const struct sb_model_info *info = &o->model->info;
    enum sb_load load = sb_load_for(o->model, &o->sampling);
    struct sb_net_options net = {
        .arch = info->arch,
        .channels = info->channels,
        .height = info->height,
        .width = info->width,
        .classes = info->classes,
        .max_batch = o->max_batch,
        .threads = o->env->threads,
        .gauss = load == SB_LOAD_GAUSS,
        .inference = true,
        .single = sb_plan_for(load, o->max_batch) == SB_PLAN_SINGLE,
        .lender = o->loaded->member,
        .lenders = o->loaded->members,
    };
    return sb_net_init(&p->net, &net);
}

/* Whether this predictor draws weights itself; a single draw comes with what is loaded. */
static bool draws_here(const struct sb_predictor *p)
{
    return p->sampling.kind == SB_SAMPLE_DRAWS && p->sampling.draws > 1;
}

static size_t most_weights(const struct sb_model *m)
{
    size_t most = 0;
    for (uint32_t i = 0; i < m->members; i++) {
        size_t sum = 0;
        for (uint32_t k = 0; k < m->member[i].weights; k++)
            sum += m->member[i].weight[k].nnz;
        most = sum > most ? sum : most;
    }
    return most;
}

static sb_status init_buffers(struct sb_predictor *p, uint32_t max_batch)
{
    const struct sb_model *m = p->model;
    size_t batch = (size_t)max_batch * m->info.classes;
    p->draw = sb_malloc(batch, sizeof *p->draw);
    p->prob = sb_malloc(batch * m->members, sizeof *p->prob);
    p->member = sb_malloc(m->members, sizeof *p->member);
    p->bad = sb_malloc((size_t)max_batch + SB_LANES, 1); /* or the bands of one */
    if (draws_here(p))
        p->theta = sb_malloc(most_weights(m), sizeof *p->theta);
    if (!p->draw || !p->prob || !p->member || !p->bad || (draws_here(p) && !p->theta))
        return sb_fail(SB_ENOMEM, "no memory to predict %u examples at once", max_batch);
    return SB_OK;
}

sb_status sb_predictor_init(struct sb_predictor *p, const struct sb_predictor_options *o)
{
    const struct sb_model_info *info = &o->model->info;
    *p = (struct sb_predictor){.env = *o->env,
                               .model = o->model,
                               .loaded = o->loaded,
                               .sampling = o->sampling,
                               .max_batch = o->max_batch};
    if (!info->gauss || p->sampling.kind == SB_SAMPLE_MEAN)
        p->sampling = (struct sb_sampling){SB_SAMPLE_MEAN, 1};
    sb_status st =
        sb_normalise_given(&p->normal, SB_BYTES, info->channels, info->mean, info->sd);
    if (st == SB_OK)
        st = init_net(p, o);
    return st == SB_OK ? init_buffers(p, o->max_batch) : st;
}

void sb_predictor_fini(struct sb_predictor *p)
{
    if (!p)
        return;
    sb_normalise_fini(&p->normal);
    sb_net_fini(&p->net);
    sb_free(p->theta);
    sb_free(p->draw);
    sb_free(p->prob);
    sb_free(p->member);
    sb_free(p->bad);
    *p = (struct sb_predictor){0};
}

/* ---- one batch ----------------------------------------------------------------------- */

/* Puts draw d of member m in the place of its means. */
static void draw_weights(struct sb_predictor *p, uint32_t m, uint32_t d)
{
    float *at = p->theta;
    for (uint32_t i = 0; i < p->net.arch.weights; i++) {
        sb_member_draw_layer(&p->model->member[m], &p->env, i, d, at);
        p->net.weight[i].mu = at; /* the net's own copy of where they are */
        at += p->net.weight[i].nnz;
    }
}

/* Of the examples in the net: out [batch][classes]. */
static sb_status run_member(struct sb_predictor *p, uint32_t m, uint32_t first,
                            float *out)
{
    size_t n = sb_predict_images(&p->net) * p->net.arch.classes;
    sb_net_borrow(&p->net, &p->loaded->member[m]);
    memset(out, 0, n * sizeof *out);
    for (uint32_t d = 0; d < p->sampling.draws; d++) {
        struct sb_pass pass = {.sample = p->sampling.kind == SB_SAMPLE_NOISE,
                               .seed = p->model->member[m].sample_seed,
                               .member = m,
                               .step = d,
                               .image = first};
        if (draws_here(p))
            draw_weights(p, m, d);
        sb_status st = sb_predict_forward(&p->env, &p->net, &pass, p->draw);
        if (st != SB_OK)
            return st;
        sb_predict_add(out, p->draw, n, p->sampling.draws);
    }
    return SB_OK;
}

/* Where the net takes one image as bands of its rows, a lane each, the bands are what is
 * read as examples. */
static void fill_net(struct sb_predictor *p, const struct sb_input *in, size_t at,
                     uint32_t count)
{
    uint32_t bands = p->net.arch.bands;
    struct sb_input rows = *in;
    if (bands == 0) {
        sb_net_set_batch(&p->net, count);
        sb_input_fill(in, at, &p->normal, p->env.threads, &p->net.input, p->bad);
        return;
    }
    rows.data = (const unsigned char *)in->data + (ptrdiff_t)at * in->stride[0];
    rows.stride[0] = (ptrdiff_t)p->net.input.height * in->stride[2];
    sb_input_fill(&rows, 0, &p->normal, p->env.threads, &p->net.input, p->bad);
    for (uint32_t i = 1; i < bands; i++)
        p->bad[0] |= p->bad[i];
}

static sb_status check_finite(const struct sb_predictor *p, uint32_t count, size_t at)
{
    for (uint32_t i = 0; i < count; i++)
        if (p->bad[i])
            return sb_fail(SB_ENUMERIC,
                           "example %zu has a number that is not finite; remove it, or "
                           "replace what is missing as it was for training",
                           at + i);
    return SB_OK;
}

/* Examples at .. at + count - 1 of n. */
static sb_status run_batch(struct sb_predictor *p, const struct sb_input *in, size_t n,
                           size_t at, uint32_t count, uint64_t first,
                           const struct sb_answers *out)
{
    uint32_t classes = p->model->info.classes;
    size_t size = (size_t)count * classes;
    fill_net(p, in, at, count);
    sb_status st = check_finite(p, count, at);
    for (uint32_t m = 0; m < p->model->members && st == SB_OK; m++) {
        float *mine = p->prob + m * size;
        p->member[m] = mine;
        st = run_member(p, m, (uint32_t)(first + at), mine);
        if (st == SB_OK && out->members)
            memcpy(out->members + (m * n + at) * classes, mine, size * sizeof *mine);
    }
    if (st != SB_OK)
        return st;
    struct sb_probs all = {p->member, p->model->members, count, classes};
    return sb_uncertainty_of(&all, at, &out->sum);
}

sb_status sb_predictor_run(struct sb_predictor *p, const struct sb_input *in, size_t n,
                           uint64_t first, const struct sb_answers *out)
{
    const uint64_t numbers = (uint64_t)UINT32_MAX + 1;
    if (p->sampling.kind == SB_SAMPLE_NOISE && (first > numbers || n > numbers - first))
        return sb_fail(SB_EARG,
                       "examples %llu to %llu: activation noise has numbers for the "
                       "first 2^32; begin again from 0",
                       (unsigned long long)first, (unsigned long long)(first + n - 1));
    for (size_t at = 0; at < n; at += p->max_batch) {
        uint32_t count = n - at < p->max_batch ? (uint32_t)(n - at) : p->max_batch;
        sb_status st = run_batch(p, in, n, at, count, first, out);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}
