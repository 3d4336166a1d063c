/* patience - a phase that no longer improves ends.
 *
 * A phase is a part of a stage with one learning rate: exploration, or either half of an
 * exploitation. After train.patience validations in it without a better figure (the one
 * that train.choose says) the run goes on at the next phase, as if the epochs between had
 * been: steps are counted, so rates, data order, noise and updates of the support are
 * those of the epoch that comes. All there is to know is in the checkpoint.
 */
#include <math.h>

#include "train/state.h"

/* The first epoch after the phase that this epoch of a stage is in. Where the two halves
 * meet within an epoch, that is the first of the second one. */
static uint32_t phase_end(const struct sb_stage *g, uint64_t epoch)
{
    uint32_t hold = g->rates.hold, half = hold + (g->epochs - hold) / 2;
    return epoch < hold ? hold : epoch < half ? half : g->epochs;
}

uint32_t sb_trainer_chooser(const struct sb_trainer *t)
{
    bool classes = t->net.arch.likelihood == SB_LIKELIHOOD_CATEGORICAL;
    return !classes                                      ? SB_OUTCOMES_NLL
           : t->config->train.choose == SB_CONFIG_BY_NLL ? SB_CLASSES_NLL
                                                         : SB_CLASSES_ACC;
}

static void forget(struct sb_position *at)
{
    at->waited = 0;
    at->waited_for = NAN;
}

void sb_patience_look(struct sb_trainer *t, const struct sb_figures *v)
{
    const struct sb_stage *g = sb_trainer_stage(t);
    struct sb_position *at = &t->at;
    uint32_t end = phase_end(g, at->epoch), most = t->config->train.patience;
    double figure = sb_figures_good(v, sb_trainer_chooser(t));
    if (most == 0)
        return;
    if (!(figure <= at->waited_for)) {
        at->waited = 0;
        at->waited_for = figure;
    } else {
        at->waited++;
    }
    if (at->waited >= most && at->epoch + 1 < end &&
        (g->leaves != SB_STAGE_KEPT || at->epoch + 1 >= g->keep_epoch)) {
        uint64_t left_out = end - (at->epoch + 1);
        at->skipped += left_out;
        at->epoch += left_out;
        at->step += left_out * t->schedule.epoch_steps;
    }
    if (at->epoch + 1 >= end)
        forget(at);
}
