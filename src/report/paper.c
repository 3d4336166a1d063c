/* paper - see paper.h. */
#include "report/paper.h"

#include <math.h>
#include <string.h>

#include "recipe/options.h"

/* clang-format off */
static const struct sb_paper_row table[] = {
    {"cifar10", "dnn", 1, 0, 0.960, 0.159, 0.023, 0.761, 1.050, 0.153},
    {"cifar10", "bnn", 1, 0, 0.958, 0.170, 0.024, 0.758, 1.146, 0.161},
    {"cifar10", "sebays", 1, 0.8, 0.958, 0.162, 0.022, 0.766, 0.999, 0.141},
    {"cifar10", "sebays", 1, 0.9, 0.954, 0.158, 0.023, 0.768, 0.953, 0.137},
    {"cifar10", "bays", 1, 0.8, 0.956, 0.170, 0.025, 0.762, 1.123, 0.157},
    {"cifar10", "mc-dropout", 0, 0, 0.959, 0.160, 0.024, 0.688, 1.270, 0.166},
    {"cifar10", "mimo", 3, 0, 0.964, 0.123, 0.010, 0.766, 0.927, 0.112},
    {"cifar10", "edst", 3, 0.8, 0.963, 0.127, 0.012, 0.779, 0.814, 0.093},
    {"cifar10", "edst", 7, 0.9, 0.961, 0.122, 0.008, 0.772, 0.803, 0.081},
    {"cifar10", "sebays", 3, 0.8, 0.962, 0.129, 0.009, 0.777, 0.842, 0.092},
    {"cifar10", "sebays", 7, 0.9, 0.962, 0.118, 0.006, 0.780, 0.776, 0.080},
    {"cifar10", "treenet", 3, 0, 0.959, 0.158, 0.018, 0.756, 0.969, 0.137},
    {"cifar10", "batch-ensemble", 4, 0, 0.962, 0.143, 0.021, 0.775, 1.020, 0.129},
    {"cifar10", "rank1-bnn", 4, 0, 0.963, 0.128, 0.008, 0.767, 0.840, 0.080},
    {"cifar10", "ltr", 3, 0.8, 0.962, 0.133, 0.015, 0.767, 0.950, 0.118},
    {"cifar10", "static", 3, 0.8, 0.960, 0.133, 0.014, 0.762, 0.920, 0.098},
    {"cifar10", "pf", 3, 0.8, 0.964, 0.129, 0.011, 0.782, 0.801, 0.082},
    {"cifar10", "dst", 3, 0.8, 0.963, 0.122, 0.010, 0.788, 0.766, 0.075},
    {"cifar10", "bays", 3, 0.8, 0.965, 0.127, 0.010, 0.782, 0.852, 0.095},
    {"cifar10", "dnn-ensemble", 4, 0, 0.966, 0.114, 0.010, 0.779, 0.810, 0.087},
    {"cifar10", "bnn-ensemble", 3, 0, 0.965, 0.125, 0.010, 0.781, 0.872, 0.095},
    {"cifar100", "dnn", 1, 0, 0.798, 0.875, 0.086, 0.514, 2.700, 0.239},
    {"cifar100", "bnn", 1, 0, 0.803, 0.825, 0.066, 0.520, 2.451, 0.204},
    {"cifar100", "sebays", 1, 0.8, 0.801, 0.805, 0.060, 0.517, 2.355, 0.174},
    {"cifar100", "sebays", 1, 0.9, 0.798, 0.836, 0.058, 0.505, 2.473, 0.180},
    {"cifar100", "bays", 1, 0.8, 0.797, 0.814, 0.058, 0.516, 2.443, 0.181},
    {"cifar100", "mc-dropout", 0, 0, 0.796, 0.830, 0.050, 0.426, 2.900, 0.202},
    {"cifar100", "mimo", 3, 0, 0.820, 0.690, 0.022, 0.537, 2.284, 0.129},
    {"cifar100", "edst", 3, 0.8, 0.822, 0.672, 0.034, 0.540, 2.156, 0.137},
    {"cifar100", "edst", 7, 0.9, 0.826, 0.653, 0.036, 0.527, 2.410, 0.170},
    {"cifar100", "sebays", 3, 0.8, 0.815, 0.701, 0.024, 0.535, 2.148, 0.119},
    {"cifar100", "sebays", 7, 0.9, 0.818, 0.676, 0.019, 0.531, 2.205, 0.112},
    {"cifar100", "treenet", 3, 0, 0.808, 0.777, 0.047, 0.535, 2.295, 0.176},
    {"cifar100", "batch-ensemble", 4, 0, 0.815, 0.740, 0.056, 0.541, 2.490, 0.191},
    {"cifar100", "rank1-bnn", 4, 0, 0.813, 0.692, 0.018, 0.538, 2.240, 0.117},
    {"cifar100", "ltr", 3, 0.8, 0.822, 0.703, 0.045, 0.532, 2.345, 0.180},
    {"cifar100", "static", 3, 0.8, 0.824, 0.691, 0.035, 0.525, 2.468, 0.167},
    {"cifar100", "pf", 3, 0.8, 0.832, 0.639, 0.020, 0.542, 2.182, 0.115},
    {"cifar100", "dst", 3, 0.8, 0.833, 0.623, 0.018, 0.550, 2.109, 0.104},
    {"cifar100", "bays", 3, 0.8, 0.820, 0.664, 0.016, 0.548, 2.101, 0.096},
    {"cifar100", "dnn-ensemble", 4, 0, 0.827, 0.666, 0.021, 0.541, 2.270, 0.138},
    {"cifar100", "bnn-ensemble", 3, 0, 0.825, 0.670, 0.021, 0.547, 2.151, 0.125},
};
/* clang-format on */

enum { ROWS = sizeof table / sizeof *table };

const struct sb_paper_row *sb_paper_at(size_t i)
{
    return i < ROWS ? &table[i] : NULL;
}

size_t sb_paper_index(const struct sb_paper_row *r)
{
    return (size_t)(r - table);
}

double sb_paper_cost(const struct sb_paper_row *r)
{
    static const struct {
        const char *method;
        uint32_t members;
        double cost;
    } costs[] = {
        {"mc-dropout", 0, 1.00},     {"mimo", 3, 1.00},         {"treenet", 3, 1.52},
        {"batch-ensemble", 4, 1.10}, {"ltr", 3, 1.75},          {"pf", 3, 3.75},
        {"static", 3, 1.01},         {"dst", 3, 1.01},          {"edst", 3, 0.61},
        {"edst", 7, 0.57},           {"dnn-ensemble", 4, 4.00},
    };
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (strcmp(costs[i].method, r->method) == 0 && costs[i].members == r->members)
            return costs[i].cost;
    return NAN;
}

const struct sb_paper_row *sb_paper_single(const struct sb_config *c)
{
    struct sb_config one = *c;
    one.method.members = 1;
    return c->method.members > 1 ? sb_paper_find(&one) : NULL;
}

/* What makes a form's networks, where the paper has one of them; without a value it is what
 * the row of the method table implies. */
static const struct {
    enum sb_form_kind form;
    const char *option, *papers;
} of_form[] = {
    {SB_FORM_DROPOUT, "method.dropout_rate", NULL},
    {SB_FORM_DROPOUT, "method.dropout_mask", NULL},
    {SB_FORM_DROPOUT, "method.passes", "1"},
    {SB_FORM_MIMO, "method.repetitions", NULL},
    {SB_FORM_MIMO, "method.same_share", NULL},
    {SB_FORM_BATCH_ENSEMBLE, "method.scale_start", NULL},
    {SB_FORM_BATCH_ENSEMBLE, "method.scale_spread", NULL},
    {SB_FORM_BATCH_ENSEMBLE, "method.scale_rate", NULL},
    {SB_FORM_RANK_1, "method.scale_start", NULL},
    {SB_FORM_RANK_1, "method.scale_rate", NULL},
    {SB_FORM_RANK_1, "method.scale_sd", NULL},
    {SB_FORM_RANK_1, "method.scale_prior_sd", NULL},
};

/* The last quarter of the blocks of a wrn-28-10 in words. */
static bool branches_as_usual(const struct sb_config_method *m)
{
    return !m->branch_at[0] || strcmp(m->branch_at, "group3.1") == 0;
}

static bool is_the_papers_form(const struct sb_config *c)
{
    struct sb_recipe usual;
    const struct sb_option *o = NULL;
    sb_recipe_init(&usual);
    if (sb_recipe_set(&usual, "method.name", c->method.name) != SB_OK ||
        sb_recipe_resolve(&usual) != SB_OK)
        return false;
    for (size_t i = 0; i < sizeof of_form / sizeof *of_form; i++) {
        char want[SB_OPTION_VALUE], have[SB_OPTION_VALUE];
        if (of_form[i].form != usual.method->form ||
            sb_option_find(of_form[i].option, &o) != SB_OK)
            continue;
        sb_option_format(o, (const char *)c + o->offset, have);
        sb_option_format(o, (const char *)&usual.config + o->offset, want);
        if (strcmp(have, of_form[i].papers ? of_form[i].papers : want) != 0)
            return false;
    }
    return usual.method->form != SB_FORM_TREE || branches_as_usual(&c->method);
}

/* The rows whose weights can be other ones have dense points in the paper. */
static bool is_the_papers(const struct sb_config *c)
{
    const struct sb_config_method *m = &c->method;
    return m->posterior != SB_CONFIG_GAUSS &&
           (m->support == SB_CONFIG_SUPPORT_ROW || m->support == SB_CONFIG_DENSE) &&
           is_the_papers_form(c);
}

const struct sb_paper_row *sb_paper_find(const struct sb_config *c)
{
    if (strcmp(c->model.arch, "wrn-28-10") != 0 || !is_the_papers(c))
        return NULL;
    for (size_t i = 0; i < ROWS; i++) {
        const struct sb_paper_row *r = &table[i];
        if (strcmp(r->data, c->data.set) == 0 && strcmp(r->method, c->method.name) == 0 &&
            (r->members == 0 || r->members == c->method.members) &&
            fabs(r->sparsity - c->method.sparsity) < 1e-9)
            return r;
    }
    return NULL;
}
