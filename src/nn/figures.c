/* figures - see figures.h. */
#include "nn/figures.h"

#include <math.h>
#include <stddef.h>

static const struct sb_figure_list of_classes = {
    .kind = {[SB_CLASSES_ACC] = {"acc", "accuracy", true},
             [SB_CLASSES_NLL] = {"nll", "nll", false},
             [SB_CLASSES_ECE] = {"ece", "ece", false},
             [SB_CLASSES_BRIER] = {"brier", "brier", false}},
    .count = 4,
};

static const struct sb_figure_list of_outcomes = {
    .kind = {[SB_OUTCOMES_NLL] = {"nll", "nll", false},
             [SB_OUTCOMES_RMSE] = {"rmse", "rmse", false},
             [SB_OUTCOMES_MAE] = {"mae", "mae", false},
             [SB_OUTCOMES_CRPS] = {"crps", "crps", false}},
    .count = 4,
};

struct sb_figures sb_figures_none(enum sb_likelihood_kind kind)
{
    return (struct sb_figures){.list = kind == SB_LIKELIHOOD_CATEGORICAL ? &of_classes
                                                                         : &of_outcomes,
                               .value = {NAN, NAN, NAN, NAN}};
}

struct sb_figures sb_figures_of_classes(double accuracy, double nll, double ece,
                                        double brier)
{
    return (struct sb_figures){&of_classes, {accuracy, nll, ece, brier}};
}

double sb_figures_good(const struct sb_figures *f, uint32_t by)
{
    return f->list->kind[by].rises ? f->value[by] : -f->value[by];
}

bool sb_figures_beats(const struct sb_figures *a, const struct sb_figures *b, uint32_t by)
{
    return !(sb_figures_good(a, by) <= sb_figures_good(b, by));
}
