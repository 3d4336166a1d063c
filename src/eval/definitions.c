/* definitions - the sentences beside the figures: where several are in use, which one. */
#include "eval/parts.h"

static const struct {
    const char *name, *sentence;
} definitions[] = {
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
    {"fgsm", "clamp(x + 8/255 sign(g), 0, 1) of pixels in [0, 1], g from one member's "
             "cross-entropy; accuracy of the whole ensemble on each member's set"},
    {"pgd", "random start within 8/255, steps of 2/255 along sign(g), kept within 8/255"},
    {"trajectory", "exact t-SNE of log-probabilities on the first 1000 test images after "
                   "each epoch, posterior means"},
};

enum { COUNT = sizeof definitions / sizeof *definitions };

json_t *sb_eval_definitions(void)
{
    json_t *j = json_object();
    for (size_t i = 0; j && i < COUNT; i++)
        if (json_object_set_new(j, definitions[i].name,
                                json_string(definitions[i].sentence)) != 0) {
            json_decref(j);
            return NULL;
        }
    return j;
}

void sb_eval_tell_definitions(struct sb_eval *a)
{
    sb_text_add(&a->table, "\ndefinitions\n");
    for (size_t i = 0; i < COUNT; i++)
        sb_text_add(&a->table, "  %-16s %s\n", definitions[i].name,
                    definitions[i].sentence);
}
