/* loss - see loss.h. One thread: a batch of logits is small. */
#include "kernels/loss.h"

#include <string.h>

#include "kernels/kernels.h"
#include "kernels/spread.h"

static sb_status check(const struct sb_act *p, const uint32_t *label,
                       const struct sb_act *d)
{
    if (p->height != 1 || p->width != 1)
        return sb_fail(SB_EARG, "softmax: logits are planes of %u x %u; want 1 x 1",
                       p->height, p->width);
    if (d && (d->batch != p->batch || d->channels != p->channels || d->height != 1 ||
              d->width != 1))
        return sb_fail(SB_EARG, "softmax: the gradient is %u x %u; want %u x %u",
                       d->batch, d->channels, p->batch, p->channels);
    for (uint32_t i = 0; i < p->batch; i++)
        if (label[i] >= p->channels)
            return sb_fail(SB_EARG, "softmax: image %u has label %u of %u classes", i,
                           label[i], p->channels);
    return SB_OK;
}

/* rows: of the whole batch; weight: of the block's lanes, NULL: 1. */
static void gradient(const struct sb_act *p, uint32_t block, const uint32_t *label,
                     const float *weight, uint32_t rows, struct sb_act *d)
{
    uint32_t lanes = sb_act_lanes(p, block);
    float scale = 1.0f / (float)rows;
    for (uint32_t c = 0; c < p->channels; c++) {
        const float *from = sb_act_plane(p, block, c);
        float *to = sb_act_plane(d, block, c);
        for (uint32_t l = 0; l < d->lanes; l++)
            to[l] = l < lanes ? (from[l] - (label[l] == c ? 1.0f : 0.0f)) *
                                    (weight ? scale * weight[l] : scale)
                              : 0.0f;
    }
}

/* Image blocks [begin, end); returns the sum of their losses. */
static double softmax_blocks(const struct sb_env *env, struct sb_act *logits,
                             const uint32_t *label, const float *weight, uint32_t begin,
                             uint32_t end, uint32_t rows, struct sb_act *d)
{
    double part[SB_PARTIALS] = {0};
    for (uint32_t b = begin; b < end; b++) {
        uint32_t lanes = sb_act_lanes(logits, b), block_label[SB_MAX_LANES] = {0};
        float block_loss[SB_MAX_LANES];
        for (uint32_t l = 0; l < lanes; l++)
            block_label[l] = label[b * logits->lanes + l];
        env->kernels->softmax(sb_act_plane(logits, b, 0), logits->channels, logits->plane,
                              block_label, block_loss);
        const float *block_weight = weight ? weight + (size_t)b * logits->lanes : NULL;
        for (uint32_t l = 0; block_weight && l < lanes; l++)
            block_loss[l] *= block_weight[l];
        sb_partials_add(part, b, logits->lanes, lanes, block_loss);
        if (d)
            gradient(logits, b, block_label, block_weight, rows, d);
    }
    return sb_partials_fold(part);
}

sb_status sb_loss_softmax(const struct sb_env *env, const struct sb_shards *shards,
                          struct sb_act *logits, const uint32_t *label,
                          const float *weight, double *loss, struct sb_act *d)
{
    sb_status st = check(logits, label, d);
    if (st != SB_OK)
        return st;
    uint32_t rows = sb_shards_rows(shards, logits->batch);
    uint32_t n = sb_shards_of(shards, logits->batch), begin, end;
    struct sb_spread *spread = shards ? shards->spread : NULL;
    struct sb_tree_sums sums = {.tree.parts = 0};
    for (uint32_t i = 0; i < n; i++) {
        sb_shards_blocks(shards, logits, i, &begin, &end);
        sb_tree_sums_push(&sums, (struct sb_subtree){0, (shards ? shards->first : 0) + i},
                          softmax_blocks(env, logits, label, weight, begin, end, rows, d),
                          0.0);
    }
    if (spread) {
        memcpy(sb_spread_begin(spread, 1), sums.sum,
               sums.tree.parts * sizeof sums.sum[0]);
        st = sb_spread_gather(spread, "losses");
        if (st != SB_OK)
            return st;
        sb_spread_sum(spread, 0, &sums);
    }
    sb_tree_sums_end(&sums);
    *loss = sums.sum[0][0] / rows;
    return SB_OK;
}

void sb_softmax(const struct sb_env *env, struct sb_act *logits)
{
    const uint32_t label[SB_MAX_LANES] = {0};
    float loss[SB_MAX_LANES];
    for (uint32_t b = 0; b < logits->blocks; b++)
        env->kernels->softmax(sb_act_plane(logits, b, 0), logits->channels, logits->plane,
                              label, loss);
}
