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
    .chooses = SB_CLASSES_ACC,
};

static const struct sb_figure_list of_outcomes = {
    .kind = {[SB_OUTCOMES_NLL] = {"nll", "nll", false},
             [SB_OUTCOMES_RMSE] = {"rmse", "rmse", false},
             [SB_OUTCOMES_MAE] = {"mae", "mae", false},
             [SB_OUTCOMES_CRPS] = {"crps", "crps", false}},
    .count = 4,
    .chooses = SB_OUTCOMES_NLL,
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

double sb_figures_chosen(const struct sb_figures *f)
{
    return f->list ? f->value[f->list->chooses] : NAN;
}

const char *sb_figures_chooser(const struct sb_figures *f)
{
    return f->list->kind[f->list->chooses].key;
}

bool sb_figures_beats(const struct sb_figures *a, const struct sb_figures *b)
{
    double x = sb_figures_chosen(a), y = sb_figures_chosen(b);
    return a->list->kind[a->list->chooses].rises ? !(x <= y) : !(x >= y);
}
