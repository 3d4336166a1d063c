/* likelihood - see likelihood.h. One thread: a batch of outputs is small. Sums over rows are
 * taken as everywhere (kernels/partials.h), so the bits depend on neither threads nor lanes. */
#include "nn/likelihood.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/fmath.h"
#include "kernels/kernels.h"
#include "kernels/loss.h"
#include "kernels/spread.h"

/* ---- categorical --------------------------------------------------------------------- */

static void copy_outputs(const struct sb_likelihood_head *head)
{
    struct sb_act *to = head->prediction;
    for (uint32_t b = 0; b < to->blocks; b++)
        for (uint32_t c = 0; c < to->channels; c++)
            memcpy(sb_act_plane(to, b, c), sb_act_plane(head->outputs, b, c),
                   to->lanes * sizeof(float));
}

static void predict_classes(const struct sb_env *env,
                            const struct sb_likelihood_head *head)
{
    copy_outputs(head);
    sb_softmax(env, head->prediction);
}

static sb_status loss_of_classes(const struct sb_env *env, const struct sb_shards *shards,
                                 const struct sb_likelihood_head *head,
                                 const struct sb_truth *truth, double *loss,
                                 struct sb_act *d, float *dnoise)
{
    (void)dnoise;
    if (!truth->label)
        return sb_fail(SB_EARG, "loss: classes need labels, and there are none");
    copy_outputs(head);
    return sb_loss_softmax(env, shards, head->prediction, truth->label, truth->weight,
                           loss, d);
}

/* ---- Gaussians ----------------------------------------------------------------------- */

static const float log_2pi = 1.83787706640934548356f;

/* One target of a block of rows. */
struct cell {
    const float *mean, *log_variance; /* [lanes]; the latter NULL: */
    float shared;                     /* ... this one, for all rows */
};

static struct cell cell_of(const struct sb_likelihood_head *head, uint32_t block,
                           uint32_t target, uint32_t targets)
{
    struct cell c = {.mean = sb_act_plane(head->outputs, block, target)};
    if (head->noise)
        c.shared = head->noise[target];
    else
        c.log_variance = sb_act_plane(head->outputs, block, targets + target);
    return c;
}

static float clamp(float x)
{
    return x < -SB_LOG_VARIANCE_MOST  ? -SB_LOG_VARIANCE_MOST
           : x > SB_LOG_VARIANCE_MOST ? SB_LOG_VARIANCE_MOST
                                      : x;
}

static float log_variance_of(const struct cell *c, uint32_t lane)
{
    return clamp(c->log_variance ? c->log_variance[lane] : c->shared);
}

static void predict_outcomes(const struct sb_env *env,
                             const struct sb_likelihood_head *head)
{
    (void)env;
    struct sb_act *to = head->prediction;
    uint32_t targets = to->channels / 2;
    for (uint32_t b = 0; b < to->blocks; b++)
        for (uint32_t t = 0; t < targets; t++) {
            struct cell c = cell_of(head, b, t, targets);
            float *mean = sb_act_plane(to, b, t);
            float *variance = sb_act_plane(to, b, targets + t);
            for (uint32_t l = 0; l < to->lanes; l++) {
                mean[l] = c.mean[l];
                variance[l] = sb_exp(log_variance_of(&c, l));
            }
        }
}

/* What the rows of a shard add up to. */
struct sums {
    double loss[SB_PARTIALS], noise[SB_PARTIALS];
};

/* One target of a batch, and where its gradients go. */
struct target {
    const struct sb_likelihood_head *head;
    const float *y;      /* that of row 0; the next row's is `targets` further */
    const float *weight; /* [rows here]; NULL: 1 */
    uint32_t number, targets;
    uint32_t rows;    /* of the whole batch */
    struct sb_act *d; /* NULL: not wanted */
};

/* The rows of one block. */
static void add_block(const struct target *t, uint32_t block, struct sums *sum)
{
    const struct sb_act *x = t->head->outputs;
    struct cell c = cell_of(t->head, block, t->number, t->targets);
    const float *y = t->y + (size_t)block * x->lanes * t->targets;
    float *dmean = t->d ? sb_act_plane(t->d, block, t->number) : NULL;
    float *dlog =
        t->d && c.log_variance ? sb_act_plane(t->d, block, t->targets + t->number) : NULL;
    uint32_t lanes = sb_act_lanes(x, block);
    float scale = 1.0f / (float)t->rows;
    assert(c.mean);
    float loss[SB_MAX_LANES] = {0}, noise[SB_MAX_LANES] = {0};
    for (uint32_t l = 0; l < lanes; l++) {
        float log_v = log_variance_of(&c, l), v = sb_exp(log_v);
        float miss = y[(size_t)l * t->targets] - c.mean[l], share = miss * miss / v;
        bool inside = !c.log_variance || log_v == c.log_variance[l];
        float weight = t->weight ? t->weight[(size_t)block * x->lanes + l] : 1.0f;
        loss[l] = 0.5f * (log_2pi + log_v + share) * weight;
        noise[l] = 0.5f * (1.0f - share) * weight;
        if (dmean)
            dmean[l] = -(miss / v) * scale * weight;
        if (dlog)
            dlog[l] = inside ? noise[l] * scale : 0.0f;
    }
    for (uint32_t l = lanes; l < x->lanes; l++) {
        if (dmean)
            dmean[l] = 0.0f;
        if (dlog)
            dlog[l] = 0.0f;
    }
    sb_partials_add(sum->loss, block, x->lanes, lanes, loss);
    sb_partials_add(sum->noise, block, x->lanes, lanes, noise);
}

/* Sums of the losses and of the noise's gradients over the batch, wherever its rows are. */
static sb_status add_target(const struct sb_shards *shards, const struct target *t,
                            double *loss, double *noise)
{
    const struct sb_act *x = t->head->outputs;
    uint32_t n = sb_shards_of(shards, x->batch), begin, end;
    struct sb_spread *spread = shards ? shards->spread : NULL;
    struct sb_tree_sums sums = {.tree.parts = 0};
    for (uint32_t i = 0; i < n; i++) {
        struct sums shard = {0};
        sb_shards_blocks(shards, x, i, &begin, &end);
        for (uint32_t b = begin; b < end; b++)
            add_block(t, b, &shard);
        sb_tree_sums_push(&sums, (struct sb_subtree){0, (shards ? shards->first : 0) + i},
                          sb_partials_fold(shard.loss), sb_partials_fold(shard.noise));
    }
    if (spread) {
        memcpy(sb_spread_begin(spread, 1), sums.sum,
               sums.tree.parts * sizeof sums.sum[0]);
        sb_status st = sb_spread_gather(spread, "losses");
        if (st != SB_OK)
            return st;
        sb_spread_sum(spread, 0, &sums);
    }
    sb_tree_sums_end(&sums);
    *loss = sums.sum[0][0];
    *noise = sums.sum[0][1];
    return SB_OK;
}

/* The gradient of a shared log-variance. Beyond its bounds only the way back counts. */
static float noise_gradient(float log_variance, double mean)
{
    bool back = log_variance < -SB_LOG_VARIANCE_MOST  ? mean < 0.0
                : log_variance > SB_LOG_VARIANCE_MOST ? mean > 0.0
                                                      : true;
    return back ? (float)mean : 0.0f;
}

static sb_status check(const struct sb_act *outputs, const struct sb_truth *truth,
                       const struct sb_act *d)
{
    if (outputs->height != 1 || outputs->width != 1)
        return sb_fail(SB_EARG, "loss: outputs are planes of %u x %u; want 1 x 1",
                       outputs->height, outputs->width);
    if (d && (d->batch != outputs->batch || d->channels != outputs->channels))
        return sb_fail(SB_EARG, "loss: the gradient is %u x %u; want %u x %u", d->batch,
                       d->channels, outputs->batch, outputs->channels);
    if (!truth->target)
        return sb_fail(SB_EARG, "loss: outcomes need targets, and there are none");
    return SB_OK;
}

static sb_status loss_of_outcomes(const struct sb_env *env,
                                  const struct sb_shards *shards,
                                  const struct sb_likelihood_head *head,
                                  const struct sb_truth *truth, double *loss,
                                  struct sb_act *d, float *dnoise)
{
    const struct sb_act *x = head->outputs;
    uint32_t targets = head->noise ? x->channels : x->channels / 2;
    uint32_t rows = sb_shards_rows(shards, x->batch);
    sb_status st = check(x, truth, d);
    *loss = 0.0;
    for (uint32_t t = 0; t < targets && st == SB_OK; t++) {
        struct target target = {head, truth->target + t, truth->weight, t, targets, rows,
                                d};
        double one, noise;
        st = add_target(shards, &target, &one, &noise);
        if (st != SB_OK)
            return st;
        *loss += one / rows;
        if (dnoise && head->noise)
            dnoise[t] += noise_gradient(head->noise[t], noise / rows);
    }
    if (st == SB_OK)
        predict_outcomes(env, head);
    return st;
}

/* ---- the table ----------------------------------------------------------------------- */

static const struct sb_likelihood table[SB_LIKELIHOODS] = {
    [SB_LIKELIHOOD_CATEGORICAL] = {"categorical", 1, 1, 0, predict_classes,
                                   loss_of_classes},
    [SB_LIKELIHOOD_GAUSS_SHARED] = {"gauss-shared", 1, 2, 1, predict_outcomes,
                                    loss_of_outcomes},
    [SB_LIKELIHOOD_GAUSS_PER_EXAMPLE] = {"gauss-per-example", 2, 2, 0, predict_outcomes,
                                         loss_of_outcomes},
};

const struct sb_likelihood *sb_likelihood_row(enum sb_likelihood_kind kind)
{
    return &table[kind];
}

uint32_t sb_likelihood_count(enum sb_likelihood_kind kind, uint32_t outputs)
{
    return outputs / table[kind].outputs;
}

uint32_t sb_likelihood_predictions(enum sb_likelihood_kind kind, uint32_t outputs)
{
    return sb_likelihood_count(kind, outputs) * table[kind].predictions;
}

uint32_t sb_likelihood_noise(enum sb_likelihood_kind kind, uint32_t outputs)
{
    return sb_likelihood_count(kind, outputs) * table[kind].noise;
}
