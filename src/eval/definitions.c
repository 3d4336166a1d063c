/* definitions - the sentences beside the figures: where several are in use, which one. */
#include "eval/parts.h"

struct definition {
    const char *name, *sentence;
};

static const struct definition of_outcomes[] = {
    {"ensemble", "predicts the equal-weight mixture of its members' Gaussians"},
    {"nll", "- mean log density of the mixture, in nats, in the units of the targets; of "
            "several targets the joint one"},
    {"nll_gauss", "the same of the Gaussian with the mixture's mean and variance"},
    {"rmse", "root of the mean squared difference from the mixture's mean; of several "
             "targets the mean of theirs, as of mae and crps"},
    {"mae", "mean absolute difference from the mixture's mean"},
    {"crps", "continuous ranked probability score E|X - y| - E|X - X'| / 2"},
    {"intervals", "central ones, between quantiles of the mixture: share of outcomes "
                  "within, and mean width"},
    {"calibration", "share of outcomes at or below the mixture's quantile of a level"},
    {"conformal", "mean +- factor x sd, whose factor is the quantile of |y - mean| / sd "
                  "on the calibration part"},
    {"aleatoric", "root of the mean of the members' variances: what the data leave open"},
    {"epistemic", "root of the variance of the members' means: where they disagree"},
    {"sd", "root of the sum of both squares"},
};

static const struct definition of_classes[] = {
    {"ensemble", "predicts the mean of its members' probabilities"},
    {"acc", "share of examples whose label has the largest probability"},
    {"nll", "- mean log p(label), in nats"},
    {"ece", "top probability in K equal bins over (0, 1], right-closed: sum over bins of "
            "|sum(correct - confidence)| / n; K is eval.bins of the recipe"},
    {"brier", "mean of the sum over classes of (p - [class is label])^2"},
    {"adaptive_ece", "the same sum over K bins of as many examples each, by rising top "
                     "probability"},
    {"balanced_acc", "mean over classes of the share of their examples that are found"},
    {"f1", "mean over classes of the harmonic mean of that share and the precision"},
    {"auc", "mean over classes of the area under the ROC curve, one against the rest"},
    {"confusion", "examples of a class (rows) by the class they are given (columns)"},
    {"temperature", "probabilities to the power 1 / t, t of least nll on the validation "
                    "part; with eval.temperature = yes"},
    {"conformal", "classes with 1 - p at most the factor, which is the quantile of 1 - "
                  "p(label) on the calibration part"},
    {"total", "mean entropy of the mean probability, in nats"},
    {"aleatoric", "mean over members of the entropy of their probabilities"},
    {"epistemic", "total - aleatoric"},
    {"disagreement", "mean over pairs of members of the share of test examples on which "
                     "their most probable classes differ"},
    {"kl", "mean over ordered pairs of members of E[KL(P_a || P_b)], in nats"},
    {"size", "mean and deviation of the figures of ensembles of k members: all subsets, "
             "or 100 random ones"},
    {"pooled", "figures of all corrupted images together"},
    {"mean", "mean of the figures of each corruption at each severity"},
    {"auroc",
     "area under the ROC curve, out-of-distribution examples positive, ties half"},
    {"aupr", "average precision, out-of-distribution examples positive"},
    {"fpr95", "share of test examples that are taken for out-of-distribution where 95 % "
              "of those are "
              "found"},
    {"max_probability", "score 1 - max of the mean probability"},
    {"member_mean", "score mean over members of 1 - max of its probability"},
    {"far", "score far: the share of training rows that are less unlike the rest"},
    {"fgsm", "clamp(x + 8/255 sign(g), 0, 1) of pixels in [0, 1], g from one member's "
             "cross-entropy; accuracy of the whole ensemble on each member's set"},
    {"pgd", "random start within 8/255, steps of 2/255 along sign(g), kept within 8/255"},
    {"trajectory", "exact t-SNE of log-probabilities on the first 1000 test images after "
                   "each epoch, posterior means"},
};

static const struct definition *list_of(const struct sb_eval *a, size_t *count)
{
    bool outcomes = a->model.info.targets > 0;
    *count = outcomes ? sizeof of_outcomes / sizeof *of_outcomes
                      : sizeof of_classes / sizeof *of_classes;
    return outcomes ? of_outcomes : of_classes;
}

json_t *sb_eval_definitions(const struct sb_eval *a)
{
    size_t count;
    const struct definition *d = list_of(a, &count);
    json_t *j = json_object();
    for (size_t i = 0; j && i < count; i++)
        if (json_object_set_new(j, d[i].name, json_string(d[i].sentence)) != 0) {
            json_decref(j);
            return NULL;
        }
    return j;
}

void sb_eval_tell_definitions(struct sb_eval *a)
{
    size_t count;
    const struct definition *d = list_of(a, &count);
    sb_text_add(&a->table, "\ndefinitions\n");
    for (size_t i = 0; i < count; i++)
        sb_text_add(&a->table, "  %-16s %s\n", d[i].name, d[i].sentence);
}
