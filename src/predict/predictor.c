/* predictor - see predictor.h. */
#include "predict/predictor.h"

#include <assert.h>
#include <string.h>

#include "base/failure.h"
#include "base/mem.h"
#include "base/threads.h"
#include "figures/far.h"
#include "kernels/kernels.h"
#include "predict/forward.h"
#include "predict/kept.h"
#include "predict/worker.h"

/* Bytes of a thread's widest activations, at most; a few of them are in use at a time. They
 * need not fit the second-level cache to be worth keeping small. */
enum { WIDEST_BYTES = 1 << 20 };

/* ---- life ---------------------------------------------------------------------------- */

/* Pieces of work that the members are: groups of those that share layers. */
static uint32_t groups_of(const struct sb_predictor *p)
{
    return p->loaded->members / p->loaded->group;
}

/* How many examples of max_batch a thread takes at once, and how many threads do. If there
 * is less than a group of a chunk for every other thread, all of them work together. */
static void cut(struct sb_predictor *p, uint32_t max_batch)
{
    const struct sb_arch *a = &p->loaded->member[0].arch;
    uint32_t threads = (uint32_t)p->env.threads, lanes = p->env.kernels->lanes;
    uint32_t most = sb_plan_share(max_batch, threads, lanes);
    size_t widest = 1;
    for (uint32_t i = 0; i < a->nodes; i++) {
        const struct sb_arch_node *d = &a->node[i];
        size_t bytes = sizeof(float) * d->channels * d->height * d->width;
        widest = bytes > widest ? bytes : widest;
    }
    size_t fit = WIDEST_BYTES / widest / lanes * lanes;
    fit = fit > lanes ? fit : lanes;
    p->at_once = fit < most ? (uint32_t)fit : most;
    uint64_t chunks = (max_batch + p->at_once - 1) / p->at_once;
    uint64_t pieces = chunks * groups_of(p);
    p->workers = 2 * pieces <= threads ? 1
                 : pieces < threads    ? (uint32_t)pieces
                                       : threads;
    if (p->at_once > max_batch)
        p->at_once = max_batch;
}

/* The first worker's net can also be run by all threads. */
static sb_status init_workers(struct sb_predictor *p, bool single)
{
    sb_status st = SB_OK;
    p->worker = sb_calloc(p->workers, sizeof *p->worker);
    p->shared_prob = sb_malloc(sb_worker_floats(p), p->workers * sizeof(float));
    if (!p->worker || !p->shared_prob)
        return sb_fail(SB_ENOMEM, "no memory for %u workers", p->workers);
    for (uint32_t i = 0; i < p->workers && st == SB_OK; i++)
        st = sb_worker_init(&p->worker[i], p, i == 0 ? p->env.threads : 1, single);
    return st;
}

static sb_status init_few(struct sb_predictor *p, const struct sb_predictor_options *o)
{
    struct sb_env env = *o->env;
    struct sb_predictor_options few = {.env = &env,
                                       .model = o->model,
                                       .loaded = o->few,
                                       .sampling = o->sampling,
                                       .max_batch = SB_FEW_IMAGES};
    env.kernels = env.kernels->narrow;
    p->few = sb_malloc(1, sizeof *p->few);
    return p->few ? sb_predictor_init(p->few, &few)
                  : sb_fail(SB_ENOMEM, "no memory for a predictor");
}

sb_status sb_predictor_init(struct sb_predictor *p, const struct sb_predictor_options *o)
{
    const struct sb_model_info *info = &o->model->info;
    *p = (struct sb_predictor){
        .env = *o->env, .model = o->model, .loaded = o->loaded, .sampling = o->sampling};
    if (!sb_model_draws(o->model) || p->sampling.kind == SB_SAMPLE_MEAN)
        p->sampling = (struct sb_sampling){SB_SAMPLE_MEAN, 1};
    else if (
        !info->gauss) /* activations of points have no noise: their scales are drawn */
        p->sampling.kind = SB_SAMPLE_DRAWS;
    enum sb_load load = sb_load_for(o->model, &p->sampling);
    bool single = sb_plan_for(&p->env, load, o->max_batch) == SB_PLAN_SINGLE;
    cut(p, o->max_batch);
    sb_status st =
        sb_normalise_given(&p->normal, SB_BYTES, info->channels, info->mean, info->sd);
    if (st == SB_OK)
        st = sb_predict_columns(info, &p->columns);
    p->normal.columns = p->columns;
    if (st == SB_OK)
        st = init_workers(p, single);
    if (st == SB_OK)
        st = sb_far_places_init(&p->places, &p->loaded->member[0].arch);
    return st == SB_OK && o->few ? init_few(p, o) : st;
}

void sb_predictor_fini(struct sb_predictor *p)
{
    if (!p)
        return;
    sb_predictor_fini(p->few);
    sb_free(p->few);
    for (uint32_t i = 0; p->worker && i < p->workers; i++)
        sb_worker_fini(&p->worker[i]);
    sb_free(p->worker);
    sb_free(p->shared_prob);
    sb_normalise_fini(&p->normal);
    sb_columns_free(p->columns);
    sb_far_places_fini(&p->places);
    *p = (struct sb_predictor){0};
}

/* ---- some examples at once ----------------------------------------------------------- */

struct batch {
    const struct sb_predictor *p;
    const struct sb_input *in;
    size_t n;      /* examples of the call */
    uint32_t each; /* examples of a chunk */
    size_t whole;  /* chunks that one thread runs; of the others, groups are shared out */
    uint64_t first; /* number of the call's first */
    const struct sb_predictions *out;
    struct sb_env env; /* that a chunk runs in */
    struct sb_failure failure;
};

/* Puts draw d of member m, from node `first` on, in the place of its means. */
static void draw_weights(const struct batch *b, struct sb_predict_worker *w, uint32_t m,
                         uint32_t d, uint32_t first)
{
    float *at = w->theta;
    for (uint32_t i = 0; i < w->net.arch.weights; i++) {
        struct sb_weight *to = &w->net.weight[i];
        if (w->net.weight_node[i] < first)
            continue;
        sb_model_draw_layer(b->p->model, &b->env, m, i, d, w->layer, w->scratch);
        to->mu = at; /* the net's own copy of where they are */
        sb_weight_set(to, w->layer, NULL);
        at += sb_weight_placed(to);
    }
}

/* Draw d of member m on the examples in the net, added to out [examples][size]; nodes
 * before `first` are as another member of the group left them. */
static sb_status run_draw(const struct batch *b, struct sb_predict_worker *w, uint32_t m,
                          uint32_t d, uint32_t first, uint32_t image, float *out)
{
    const struct sb_predictor *p = b->p;
    struct sb_pass pass = {.sample = p->sampling.kind == SB_SAMPLE_NOISE,
                           .seed = p->model->member[m].sample_seed,
                           .member = m,
                           .step = d,
                           .image = image};
    sb_net_share(&w->net, &p->loaded->member[m]);
    if (sb_worker_draws(p))
        draw_weights(b, w, m, d, first);
    sb_status st = sb_predict_forward(&b->env, &w->net, &pass, first, w->draw);
    if (st == SB_OK)
        sb_predict_add(&w->net, out, w->draw, sb_predict_images(&w->net), d,
                       p->sampling.draws);
    return st;
}

/* Where the net takes one image as bands of its rows, a lane each, the bands are what is
 * read as examples. */
static void fill_net(const struct batch *b, struct sb_predict_worker *w, size_t at,
                     uint32_t count)
{
    const struct sb_input *in = b->in;
    uint32_t bands = w->net.arch.bands;
    struct sb_input rows = *in;
    assert(bands == 0 || in->type != SB_INPUT_ACT);
    if (bands == 0) {
        sb_net_set_batch(&w->net, count);
        sb_input_fill(in, at, &b->p->normal, b->env.threads, &w->net.input, w->bad);
        return;
    }
    rows.data = (const unsigned char *)in->data + (ptrdiff_t)at * in->stride[0];
    rows.stride[0] = (ptrdiff_t)w->net.input.height * in->stride[2];
    sb_input_fill(&rows, 0, &b->p->normal, b->env.threads, &w->net.input, w->bad);
    for (uint32_t i = 1; i < bands; i++)
        w->bad[0] = w->bad[i] > w->bad[0] ? w->bad[i] : w->bad[0];
}

static sb_status not_finite(const struct batch *b, size_t i)
{
    const struct sb_model_info *m = &b->p->model->info;
    const uint32_t size[] = {sb_normalise_inputs(&b->p->normal), m->height, m->width};
    char bad[SB_MISSING_PLACE];
    return sb_fail(SB_ENUMERIC,
                   "example %zu has a number that is not finite: %s; remove it, or "
                   "replace what is missing as it was for training",
                   i, sb_missing_bad(b->in, i, b->p->columns, size, bad));
}

static sb_status check_finite(const struct batch *b, struct sb_predict_worker *w,
                              uint32_t count, size_t at)
{
    for (uint32_t i = 0; i < count; i++) {
        if (w->bad[i] == SB_ROW_BAD)
            return not_finite(b, at + i);
        w->lacks |= w->bad[i] == SB_ROW_NEW;
    }
    return SB_OK;
}

/* ---- a call --------------------------------------------------------------------------- */

/* Some examples of a call. */
struct part {
    size_t chunk, at; /* at: the first example */
    uint32_t count;
};

static struct part part_of(const struct batch *b, size_t chunk)
{
    size_t at = chunk * b->each;
    return (struct part){chunk, at,
                         b->n - at < b->each ? (uint32_t)(b->n - at) : b->each};
}

/* Where a member's predictions of a part are, in all members' of it. */
static float *predictions_of(const struct batch *b, const struct part *e, float *all,
                             uint32_t m)
{
    return all + (size_t)m * e->count * sb_model_prediction_size(&b->p->model->info);
}

/* Member m's predictions of a part become what is wanted of them. */
static void hand_out(const struct batch *b, struct sb_predict_worker *w,
                     const struct part *e, uint32_t m, float *mine)
{
    const struct sb_model_info *info = &b->p->model->info;
    const struct sb_outcomes *o = &b->out->outcome;
    size_t numbers = sb_model_prediction_size(info), targets = info->targets;
    size_t first = m * b->n + e->at;
    if (targets > 0)
        sb_outcomes_units(info, mine, e->count, w->draw);
    if (targets == 0 && b->out->members)
        memcpy(b->out->members + first * numbers, mine,
               e->count * numbers * sizeof *mine);
    if (targets > 0 && o->member_mean)
        memcpy(o->member_mean + first * targets, mine, e->count * targets * sizeof *mine);
    if (targets > 0 && o->member_var)
        memcpy(o->member_var + first * targets, mine + e->count * targets,
               e->count * targets * sizeof *mine);
}

/* How far the examples of a part are from training rows, in a place. */
static float *away_of(const struct batch *b, float *all, uint32_t place)
{
    return all + sb_worker_predictions(b->p) + (size_t)place * b->p->at_once;
}

/* Looks at the examples in the net in a place, for those who want it. */
static void look(const struct batch *b, const struct sb_predict_worker *w,
                 const struct part *e, uint32_t place, float *all)
{
    float z[SB_FAR_WIDTH];
    for (uint32_t i = 0; (b->out->far || b->out->places) && i < e->count; i++) {
        sb_far_look(&b->p->places, &w->net, place > 0 ? SB_FAR_FEATURES : SB_FAR_INPUT, i,
                    z);
        if (b->out->places)
            memcpy(b->out->places + (place * b->n + e->at + i) * SB_FAR_WIDTH, z,
                   sizeof z);
        if (b->out->far)
            away_of(b, all, place)[i] = (float)sb_far_away(&b->p->model->far, place, z);
    }
}

/* The members of a group on the examples in the net. What they share is computed with the
 * first of them, whose noise it then has. */
static sb_status run_group(const struct batch *b, struct sb_predict_worker *w,
                           const struct part *e, uint32_t group, float *all)
{
    const struct sb_predictor *p = b->p;
    uint32_t begin = group * p->loaded->group, end = begin + p->loaded->group;
    size_t size = (size_t)e->count * sb_model_prediction_size(&p->model->info);
    sb_status st = SB_OK;
    memset(predictions_of(b, e, all, begin), 0, size * (end - begin) * sizeof *all);
    for (uint32_t d = 0; d < p->sampling.draws && st == SB_OK; d++)
        for (uint32_t m = begin; m < end && st == SB_OK; m++) {
            st = run_draw(b, w, m, d, m == begin ? 0 : w->net.arch.shared,
                          (uint32_t)(b->first + e->at), predictions_of(b, e, all, m));
            if (d == 0 && st == SB_OK)
                look(b, w, e, 1 + m, all);
        }
    if (begin == 0)
        look(b, w, e, 0, all);
    for (uint32_t m = begin; m < end && st == SB_OK; m++)
        hand_out(b, w, e, m, predictions_of(b, e, all, m));
    return st;
}

/* Groups g .. end - 1 on the examples of a part. */
static sb_status run_groups(const struct batch *b, struct sb_predict_worker *w,
                            const struct part *e, uint32_t g, uint32_t end, float *all)
{
    if (w->filled != e->chunk)
        fill_net(b, w, e->at, e->count);
    w->filled = e->chunk;
    sb_status st = check_finite(b, w, e->count, e->at);
    for (; g < end && st == SB_OK; g++)
        st = run_group(b, w, e, g, all);
    return st;
}

static sb_status conclude(const struct batch *b, struct sb_predict_worker *w,
                          const struct part *e, float *all)
{
    const struct sb_model *model = b->p->model;
    uint32_t members = model->members;
    struct sb_mixture mixture;
    if (b->out->far)
        sb_far_conclude(&model->far, away_of(b, all, 0), b->p->at_once, e->count,
                        b->out->far + e->at);
    for (uint32_t m = 0; m < members; m++)
        w->member[m] = predictions_of(b, e, all, m);
    if (model->info.targets > 0) {
        sb_outcomes_mixture(&model->info, w->member, members, e->count,
                            w->member + members, &mixture);
        return sb_outcomes_of(&mixture, e->at, &b->out->outcome);
    }
    struct sb_probs probs = {w->member, members, e->count, model->info.classes};
    return sb_uncertainty_of(&probs, e->at, &b->out->sum);
}

/* All members' predictions of a chunk that is shared. */
static float *shared_prob(const struct batch *b, size_t chunk)
{
    return b->p->shared_prob + (chunk - b->whole) * sb_worker_floats(b->p);
}

static void run_task(void *context, size_t task, int worker)
{
    struct batch *b = context;
    struct sb_predict_worker *w = &b->p->worker[worker];
    uint32_t groups = groups_of(b->p);
    bool whole = task < b->whole;
    size_t piece = whole ? 0 : task - b->whole;
    struct part e = part_of(b, whole ? task : b->whole + piece / groups);
    uint32_t first = (uint32_t)(piece % groups), end = whole ? groups : first + 1;
    float *prob = whole ? w->prob : shared_prob(b, e.chunk);
    sb_status st = run_groups(b, w, &e, first, end, prob);
    if (st == SB_OK && whole)
        st = conclude(b, w, &e, prob);
    sb_failure_note(&b->failure, e.chunk, st);
}

/* A thread takes a chunk through all members, but of the last chunks, one for each
 * thread, a group of members at a time, so that none is left with a whole chunk when the
 * others are done. If most threads would find nothing more to do then, they run what is
 * left together. */
static sb_status run_chunks(struct batch *b, size_t chunks)
{
    const struct sb_predictor *p = b->p;
    size_t shared = chunks < p->workers ? chunks : p->workers;
    size_t pieces = shared * groups_of(p), rest = pieces % p->workers;
    if (2 * rest > p->workers)
        rest = 0;
    b->whole = chunks - shared;
    size_t apart = b->whole + pieces - rest;
    for (uint32_t i = 0; i < p->workers; i++) {
        p->worker[i].filled = SIZE_MAX;
        p->worker[i].lacks = false;
    }
    if (p->workers > 1)
        b->env.threads = 1;
    sb_threads_run((int)p->workers, apart, run_task, b);
    b->env.threads = p->env.threads;
    for (size_t i = 0; i < rest; i++)
        run_task(b, apart + i, 0);
    for (size_t c = b->whole; c < chunks && b->failure.status == SB_OK; c++) {
        struct part e = part_of(b, c);
        sb_failure_note(&b->failure, c, conclude(b, p->worker, &e, shared_prob(b, c)));
    }
    return sb_failure_raise(&b->failure);
}

/* What the rows of a call that was answered lacked, if a worker came upon any. */
static void count_missing(struct sb_predictor *p, const struct sb_input *in, size_t n)
{
    bool lacks = false;
    for (uint32_t i = 0; i < p->workers; i++)
        lacks |= p->worker[i].lacks;
    if (lacks)
        sb_missing_count(&p->missing, in, n, 0, false, p->columns,
                         sb_normalise_inputs(&p->normal));
}

static sb_status run_few(struct sb_predictor *p, const struct sb_input *in, size_t n,
                         uint64_t first, const struct sb_predictions *out)
{
    sb_status st = sb_predictor_run(p->few, in, n, first, out);
    p->missing = p->few->missing;
    return st;
}

sb_status sb_predictor_run(struct sb_predictor *p, const struct sb_input *in, size_t n,
                           uint64_t first, const struct sb_predictions *out)
{
    const uint64_t numbers = (uint64_t)UINT32_MAX + 1;
    struct sb_input taken = *in;
    p->missing = (struct sb_missing){0};
    taken.missing = sb_missing_taken(&p->model->info, p->columns);
    if (p->columns && in->type == SB_INPUT_U8)
        return sb_fail(SB_EARG, "the model takes rows of a table, which are floats; the "
                                "examples are bytes");
    if (out->far && p->model->far.members == 0)
        return sb_fail(SB_EARG, "the model does not know where its training rows were; "
                                "train it again with this version to ask how far "
                                "examples are from them");
    if (p->few && n <= SB_FEW_IMAGES)
        return run_few(p, in, n, first, out);
    if (p->sampling.kind == SB_SAMPLE_NOISE && (first > numbers || n > numbers - first))
        return sb_fail(SB_EARG,
                       "examples %llu to %llu: activation noise has numbers for the "
                       "first 2^32; begin again from 0",
                       (unsigned long long)first, (unsigned long long)(first + n - 1));
    struct batch b = {.p = p,
                      .in = &taken,
                      .n = n,
                      .each = p->at_once,
                      .first = first,
                      .out = out,
                      .env = p->env,
                      .failure = SB_FAILURE_NONE};
    if (p->workers > 1 && n > 0 && n < (size_t)p->at_once * p->workers)
        b.each = sb_plan_share(n, p->workers, p->env.kernels->lanes);
    sb_status st = run_chunks(&b, (n + b.each - 1) / b.each);
    if (st == SB_OK)
        count_missing(p, in, n);
    return st;
}
