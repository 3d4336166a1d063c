/* divergence - what a run does when its numbers leave the finite.
 *
 * With train.on_divergence = stop it ends with a sentence. With halve it goes back to the
 * beginning of the epoch and tries again with half the learning rates, which stay so for the
 * rest of the run. What it goes back to is a file, epoch.safetensors, written before the
 * first batch of every epoch: a run that was killed in the middle of an epoch and taken up
 * again goes back to the same place, so the model does not depend on when checkpoints were
 * made. metrics.jsonl has how often the rates were halved, and the rates.
 *
 * After going back a checkpoint is written: what comes next must not find one of the attempt
 * that failed. If that is damaged and the one before is taken, the attempt fails again, and
 * epoch.safetensors is ahead of it: the larger number of halvings counts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "train/state.h"
#include "train/together.h"

enum { HALVINGS_MOST = 20 }; /* a millionth of the rate has not helped */

static bool halves(const struct sb_trainer *t)
{
    return t->config->train.on_divergence == SB_CONFIG_HALVE;
}

double sb_divergence_factor(const struct sb_trainer *t)
{
    return ldexp(1.0, -(int)t->at.halvings);
}

sb_status sb_divergence_begin_epoch(struct sb_trainer *t)
{
    char path[SB_PATH_BYTES];
    if (!halves(t) || t->at.batch > 0)
        return SB_OK;
    sb_status st = sb_run_path(t->options->out, SB_RUN_EPOCH, path);
    return st == SB_OK ? sb_trainer_write_epoch(t, path) : st;
}

sb_status sb_divergence_look(const struct sb_trainer *t)
{
    const char *layer = sb_net_not_finite(&t->net);
    return layer ? sb_fail(SB_ENUMERIC, "weights are not finite in layer %s", layer)
                 : SB_OK;
}

void sb_divergence_end(const struct sb_trainer *t)
{
    char path[SB_PATH_BYTES];
    if (halves(t) && sb_together_writes(t) &&
        sb_run_path(t->options->out, SB_RUN_EPOCH, path) == SB_OK)
        (void)unlink(path);
}

/* ---- when it happens ----------------------------------------------------------------- */

/* Says where, and what works. */
static sb_status explain(const struct sb_trainer *t, const char *why)
{
    const struct sb_stage *g = sb_trainer_stage(t);
    const char *layer = sb_net_not_finite(&t->net);
    return sb_fail(
        SB_ENUMERIC,
        "training diverged at step %llu of run %u (%s, epoch %llu): %s%s%s; start "
        "anew in another --out with a smaller train.lr or train.lr_rho, a longer "
        "method.kl_anneal_epochs%s",
        (unsigned long long)t->at.step + 1, g->run + 1, g->name,
        (unsigned long long)t->at.epoch + 1,
        layer ? "weights are not finite in layer " : "the loss is not finite",
        layer ? layer : "", why, halves(t) ? "" : ", or train.on_divergence = halve");
}

/* To the beginning of the epoch. What was spent on the attempt stays spent. */
static sb_status go_back(struct sb_trainer *t)
{
    char path[SB_PATH_BYTES];
    struct sb_position then = t->at;
    double now = sb_trainer_clock();
    sb_status st = sb_run_path(t->options->out, SB_RUN_EPOCH, path);
    if (st == SB_OK)
        st = sb_trainer_go_back(t, path);
    if (st != SB_OK)
        return st;
    if (t->at.stage != then.stage || t->at.epoch != then.epoch)
        return sb_fail(
            SB_EFORMAT,
            "%s is not of the epoch that diverged; start anew in another --out", path);
    t->at.saves = then.saves;
    t->at.seconds = then.seconds + now - t->began;
    t->began = now;
    if (t->at.halvings <= then.halvings)
        t->at.halvings = then.halvings + 1;
    return SB_OK;
}

sb_status sb_divergence_met(struct sb_trainer *t)
{
    if (!halves(t))
        return explain(t, "");
    if (t->at.halvings >= HALVINGS_MOST)
        return explain(t, ", even with a millionth of the learning rate");
    unsigned long long step = t->at.step + 1;
    sb_status st = go_back(t);
    if (st != SB_OK)
        return st;
    sb_log_write(t->env->log, SB_LOG_WARN,
                 "training diverged at step %llu; epoch %llu of its stage again, with "
                 "learning rates halved %llu time%s",
                 step, (unsigned long long)t->at.epoch + 1,
                 (unsigned long long)t->at.halvings, t->at.halvings == 1 ? "" : "s");
    return sb_trainer_save(t);
}
