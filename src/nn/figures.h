/* figures - how good a network is, as a list of named figures, each with a direction.
 *
 * What a run validates, chooses its epochs by and writes down depends on its task; whoever
 * handles all of them (the trainer, model files, results.json) walks the task's list.
 *
 *     classes     acc, nll, ece, brier   (figures/metrics.h)
 *     outcomes    nll, rmse, mae, crps   (figures/regression.h; of several targets nll is the
 *                                         joint one, the others are means over targets)
 */
#ifndef SB_NN_FIGURES_H
#define SB_NN_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "nn/likelihood.h"

struct sb_figure_kind {
    const char *name; /* in results and records */
    const char *key;  /* in model files and checkpoints */
    bool rises;       /* more is better */
};

enum { SB_FIGURES_MOST = 4 };

struct sb_figure_list {
    struct sb_figure_kind kind[SB_FIGURES_MOST];
    uint32_t count;
};

/* Values of a list, NAN: not measured. A zeroed one has no list. */
struct sb_figures {
    const struct sb_figure_list *list;
    double value[SB_FIGURES_MOST];
};

enum {
    SB_CLASSES_ACC,
    SB_CLASSES_NLL,
    SB_CLASSES_ECE,
    SB_CLASSES_BRIER
}; /* of classes */
enum { SB_OUTCOMES_NLL, SB_OUTCOMES_RMSE, SB_OUTCOMES_MAE, SB_OUTCOMES_CRPS };

/* The list of a likelihood's task, nothing measured yet. */
struct sb_figures sb_figures_none(enum sb_likelihood_kind kind);

/* Those of classes. */
struct sb_figures sb_figures_of_classes(double accuracy, double nll, double ece,
                                        double brier);

/* Figure number `by`, with the sign that makes more better. */
double sb_figures_good(const struct sb_figures *f, uint32_t by);

/* Whether a replaces b by figure number `by`: unless it is as good or worse. What was not
 * measured always does. */
bool sb_figures_beats(const struct sb_figures *a, const struct sb_figures *b,
                      uint32_t by);

#endif
