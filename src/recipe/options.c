/* options - see options.h. The table, and setting values by name. */
#include "recipe/options.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/rng.h"
#include "figures/metrics.h"

/* ---- the table ---- */

static const char *const split_words[] = {"auto", "tail", "stratified", "random", NULL};
static const char *const task_words[] = {"auto", "classification", "regression", NULL};
static const char *const noise_words[] = {"shared", "per-example", NULL};
static const char *const width_words[] = {"none", "fitted", NULL};
static const char *const header_words[] = {"auto", "yes", "no", NULL};
static const char *const missing_words[] = {"impute", "error", NULL};
static const char *const numeric_words[] = {"auto", "standard", "quantile", "pieces",
                                            NULL};
static const char *const augment_words[] = {"none", "crop-flip", NULL};
static const char *const normalise_words[] = {"auto", "computed", "values", NULL};
static const char *const allocation_words[] = {"erk", "uniform", NULL};
static const char *const decay_words[] = {"none", "cosine", NULL};
static const char *const anneal_words[] = {"epoch", "step", NULL};
static const char *const shape_words[] = {"steps", "cosine", NULL};
static const char *const criterion_words[] = {"snr", "magnitude", NULL};
static const char *const posterior_words[] = {"default", "point", "gauss", NULL};
static const char *const support_words[] = {"default", "dense", "static", "prune-grow",
                                            NULL};
static const char *const mask_words[] = {"elements", "channels", NULL};
static const char *const start_words[] = {"normal", "signs", NULL};
static const char *const rho_words[] = {"as-mu", "constant", NULL};
static const char *const estimator_words[] = {"local", "weights", NULL};
static const char *const divergence_words[] = {"stop", "halve", NULL};
static const char *const choose_words[] = {"auto", "accuracy", "nll", NULL};
static const char *const class_weight_words[] = {"none", "balanced", NULL};
static const char *const corruption_words[] = {"pooled", "mean", NULL};

#define FIELD(f) offsetof(struct sb_config, f), sizeof(((struct sb_config *)NULL)->f)
#define CHOICE(f, words, initial, help)                                                  \
    {                                                                                    \
#f, SB_OPTION_CHOICE, 0, 0, 0, words, initial, help, FIELD(f)                    \
    }
#define AUTO_CHOICE(f, words, initial, help)                                             \
    {                                                                                    \
#f, SB_OPTION_CHOICE, SB_OPTION_AUTO, 0, 0, words, initial, help, FIELD(f)       \
    }
#define SWITCH(f, initial, help)                                                         \
    {                                                                                    \
#f, SB_OPTION_SWITCH, 0, 0, 0, NULL, initial, help, FIELD(f)                     \
    }
#define COUNT(f, flags, min, max, initial, help)                                         \
    {                                                                                    \
#f, SB_OPTION_COUNT, flags, min, max, NULL, initial, help, FIELD(f)              \
    }
#define REAL(f, flags, min, max, initial, help)                                          \
    {                                                                                    \
#f, SB_OPTION_REAL, flags, min, max, NULL, initial, help, FIELD(f)               \
    }
#define LIST(f, flags, min, max, initial, help)                                          \
    {                                                                                    \
#f, SB_OPTION_LIST, flags, min, max, NULL, initial, help, FIELD(f)               \
    }
#define TEXT(f, flags, initial, help)                                                    \
    {                                                                                    \
#f, SB_OPTION_TEXT, flags, 0, 0, NULL, initial, help, FIELD(f)                   \
    }

enum {
    EPOCHS = 100000,
    ABOVE = SB_OPTION_ABOVE_MIN,
    BELOW = SB_OPTION_BELOW_MAX,
    AUTO = SB_OPTION_AUTO
};

/* clang-format off */
static const struct sb_option table[] = {
    TEXT(data.set, SB_OPTION_PLACE, "fashion-mnist", "data set: a known name, or a path"),
    TEXT(data.dir, SB_OPTION_FREE, "data",
         "where to look for known sets before the system's place, ':' between"),
    TEXT(data.size, 0, "auto",
         "image files become HEIGHTxWIDTH, such as 32x32; auto: as the first one is"),
    TEXT(data.test, SB_OPTION_EMPTY | SB_OPTION_PLACE, "",
         "another data set or file to test on; empty: the set's own test part"),
    REAL(data.test_share, BELOW, 0, 1, "0.2",
         "share of each class kept for the test where a set has no part for it; 0: none"),
    CHOICE(data.task, task_words, "auto",
           "classes, or continuous outcomes; auto: numbers with fractions are outcomes"),
    TEXT(data.label, SB_OPTION_EMPTY, "",
         "label column of a table: name, or number from 1; empty: the last; targets: a,b"),
    TEXT(data.ignore, SB_OPTION_EMPTY, "",
         "columns of a table not to use: names, numbers from 1 or 3-7, commas between"),
    TEXT(data.group, SB_OPTION_EMPTY, "",
         "column of a table whose rows of one value stay on one side of every split"),
    TEXT(data.weight, SB_OPTION_EMPTY, "",
         "column of a table that says how much a row counts in training, from 0"),
    CHOICE(data.header, header_words, "auto",
           "whether the first row of a table is names; auto: found out"),
    CHOICE(data.missing, missing_words, "impute",
           "missing values of a table: mean and an indicator, a text of its own; or refused"),
    AUTO_CHOICE(data.numeric, numeric_words, "auto",
           "numbers of a table: standardised, by quantile, or in pieces between quantiles"),
    COUNT(data.pieces, AUTO, 2, 256, "8", "pieces of a number, where numeric = pieces"),
    REAL(data.validation, AUTO, 0, 1e9, "0.1",
         "validation part: below 1 a share of the training set, else a count; 0: none"),
    REAL(data.calibration, 0, 0, 1e9, "0",
         "part that conformal prediction is calibrated on: share or count; 0: none"),
    AUTO_CHOICE(data.split, split_words, "auto",
           "validation: last in file order, a share of each class, any; auto: by format"),
    CHOICE(data.augment, augment_words, "none", "what training images go through"),
    SWITCH(data.augment_validation, "no",
           "augment validation images too, as the authors' code does"),
    COUNT(data.pad, 0, 0, 64, "4", "zeros around an image before it is cropped"),
    CHOICE(data.normalise, normalise_words, "auto",
           "mean and sd: the set's published ones, of the training part, or given"),
    LIST(data.mean, 0, -1e6, 1e6, "", "given mean of each channel, pixels in 0 .. 1"),
    LIST(data.sd, ABOVE, 0, 1e6, "", "given standard deviation of each channel"),

    TEXT(model.arch, SB_OPTION_AUTO, "lenet", "network: mlp-H1-H2..., lenet, resnet-D, wrn-D-K"),
    AUTO_CHOICE(model.noise, noise_words, "shared",
           "regression: one variance a target, or the network gives each example's"),
    AUTO_CHOICE(model.width, width_words, "none",
           "regression: intervals as the members say, or times a factor of rows held out"),

    TEXT(method.name, 0, "sebays", "row of the method table"),
    CHOICE(method.posterior, posterior_words, "default",
           "weights of mc-dropout, mimo, treenet: the row's, points, or Gaussian"),
    CHOICE(method.support, support_words, "default",
           "their support: the row's, dense, random and fixed, or moving"),
    COUNT(method.members, AUTO, 1, SB_RNG_MEMBERS, "3", "networks in the ensemble"),
    REAL(method.sparsity, AUTO | BELOW, 0, 1, "0.8", "share of weights that do not exist"),
    CHOICE(method.allocation, allocation_words, "erk",
           "how the weights are shared out between layers"),
    REAL(method.prior_variance, AUTO | ABOVE, 0, 1e6, "0.04", "variance of the Gaussian prior"),
    REAL(method.rho_init, AUTO, -50, 20, "-6", "first rho; sigma = log(1 + e^rho)"),
    REAL(method.kl_anneal_epochs, AUTO, 0, EPOCHS, "0",
          "epochs in which the weight of the KL term rises to 1; 0: it is 1"),
    CHOICE(method.kl_anneal_by, anneal_words, "epoch",
           "whether it rises once an epoch or with every step"),
    COUNT(method.explore_epochs, AUTO, 0, EPOCHS, "150", "epochs of exploration, each run"),
    COUNT(method.exploit_epochs, AUTO, 1, EPOCHS, "100",
          "epochs of exploitation; sequential methods have as many for each member"),
    COUNT(method.tune_epochs, AUTO, 1, EPOCHS, "250",
          "pf: epochs that a pruned network is tuned for"),
    COUNT(method.rewind_epoch, 0, 0, EPOCHS, "0",
          "ltr: epoch of the dense run to go back to; 0: 2 % of it, at least 1"),
    REAL(method.prune_rate, 0, 0, 1, "0.5", "share of weights an update moves"),
    REAL(method.prune_rate_large, 0, 0, 1, "0.8",
         "share of weights moved between two members of a sequential method"),
    COUNT(method.delta_t, AUTO, 1, 1e9, "1000", "steps between two updates of the support"),
    AUTO_CHOICE(method.rate_decay, decay_words, "none",
           "both prune rates: constant, or falling to 0 over the run"),
    CHOICE(method.criterion, criterion_words, "snr", "weights that go first: least of"),
    COUNT(method.grow_batches, 0, 1, 1e6, "1",
          "growth follows the mean gradient over so many last batches"),
    SWITCH(method.step_on_update, "no", "the batch of an update also takes a step"),
    REAL(method.dropout_rate, BELOW, 0, 1, "0.1", "mc-dropout: share that is dropped"),
    CHOICE(method.dropout_mask, mask_words, "elements",
           "mc-dropout: single elements are dropped, or whole channels"),
    COUNT(method.passes, 0, 1, SB_RNG_MEMBERS, "10",
          "mc-dropout: passes at test, each a member"),
    COUNT(method.repetitions, 0, 1, 64, "4", "mimo: rows of a batch an image is in"),
    REAL(method.same_share, 0, 0, 1, "0",
         "mimo: share of rows in which all members see the same image"),
    CHOICE(method.scale_start, start_words, "normal",
           "batch-ensemble, rank1-bnn: scales start as N(1, spread^2), or random signs"),
    REAL(method.scale_spread, ABOVE, 0, 10, "0.5", "spread of scales that start normal"),
    REAL(method.scale_rate, ABOVE, 0, 100, "1",
         "learning rate of scales and their biases, as a multiple of train.lr"),
    REAL(method.scale_sd, ABOVE, 0, 10, "0.0316",
         "rank1-bnn: first standard deviation of scales"),
    REAL(method.scale_prior_sd, ABOVE, 0, 100, "0.1",
         "rank1-bnn: prior of scales is N(1, this^2)"),
    TEXT(method.branch_at, SB_OPTION_EMPTY, "",
         "treenet: first block or layer of a branch; empty: the last quarter"),

    COUNT(train.batch, AUTO, 1, 65536, "128", "images a step"),
    COUNT(train.shards, 0, 1, 4096, "1",
          "parts of a batch, summed apart: the most processes that can share a step"),
    CHOICE(train.estimator, estimator_words, "local",
           "Gaussian weights: noise of every output, or convolutions drawn once a group"),
    COUNT(train.group, 0, 16, 65536, "16",
          "rows a draw of train.estimator = weights is for; a multiple of 16"),
    COUNT(train.seed, 0, 0, UINT32_MAX, "1", "all randomness follows from it"),
    COUNT(train.limit, 0, 0, 1e9, "0", "use only the first so many examples; 0: all"),
    COUNT(train.threads, SB_OPTION_FREE, 0, 4096, "0",
          "threads; 0: one a processor. Results are the same for any number"),
    REAL(train.lr, AUTO | ABOVE, 0, 1e3, "0.1",
         "learning rate in exploration; snapshot: at the top of each cycle"),
    REAL(train.lr_first, AUTO | ABOVE, 0, 1e3, "0.01",
         "learning rate in the first half of exploitation"),
    REAL(train.lr_second, AUTO, 0, 1e3, "0.001", "learning rate in its second half"),
    CHOICE(train.lr_shape, shape_words, "steps",
           "exploitation: these two halves, or a cosine from the first to the second"),
    REAL(train.lr_tune, ABOVE, 0, 1e3, "0.001",
         "pf: learning rate of a network that was pruned"),
    REAL(train.lr_rho, 0, 0, 1e3, "0.01", "learning rate of rho in exploration"),
    CHOICE(train.rho_rate, rho_words, "as-mu",
           "learning rate of rho after it: as mu's, or as before (authors' code)"),
    LIST(train.milestones, ABOVE, 0, EPOCHS, "",
         "epochs, or shares of a run, where the learning rate is multiplied; no halves"),
    REAL(train.milestone_factor, ABOVE, 0, 1, "0.1", "what it is multiplied with"),
    COUNT(train.warmup_epochs, 0, 0, EPOCHS, "0",
          "epochs at the start of a run in which its learning rates rise from 0"),
    REAL(train.momentum, BELOW, 0, 1, "0.9", "momentum of gradient descent"),
    SWITCH(train.nesterov, "no", "Nesterov's momentum"),
    REAL(train.weight_decay, 0, 0, 1, "0.0005", "weight decay of everything but rho"),
    REAL(train.clip, AUTO, 0, 1e9, "0",
         "norm that a step's gradients are shortened to where it is larger; 0: never"),
    CHOICE(train.on_divergence, divergence_words, "stop",
           "a loss that is not finite ends the run, or the epoch again at half the rates"),
    CHOICE(train.class_weights, class_weight_words, "none",
           "how much a row counts: as it is, or so that all classes count the same"),
    AUTO_CHOICE(train.choose, choose_words, "auto",
                "epoch of a member: the best on the validation part by accuracy, or by nll"),
    COUNT(train.patience, AUTO, 0, EPOCHS, "0",
          "validations without a better one that end a phase; 0: never"),
    COUNT(train.validate_every, 0, 1, EPOCHS, "1", "epochs between two validations"),
    REAL(train.checkpoint_seconds, SB_OPTION_FREE, 0, 1e9, "300",
         "seconds between two checkpoints; 0: not by time"),
    COUNT(train.checkpoint_epochs, SB_OPTION_FREE, 0, EPOCHS, "0",
          "epochs between two checkpoints; 0: not by epochs"),
    SWITCH(train.trajectory, "no",
           "record predictions on 1000 test images after each epoch, for eval's t-SNE"),

    COUNT(eval.bins, 0, 1, SB_METRICS_BINS, "15", "bins of the calibration error"),
    CHOICE(eval.corruption, corruption_words, "pooled",
           "corrupted images: all predictions pooled, or the mean of each set's figures"),
    CHOICE(eval.sampling, sb_sampling_words, "draw",
           "posterior at test: one draw kept with the member, several, mean, or noise"),
    COUNT(eval.draws, 0, 1, 1e6, "10", "draws a member, where sampling = draws"),
    SWITCH(eval.temperature, "no",
           "fit a temperature on the validation part and say what it would change"),
};
/* clang-format on */

#define OPTIONS (sizeof table / sizeof *table)
_Static_assert(OPTIONS <= (size_t)SB_OPTION_MAX, "sb_recipe.given is too short");

/* ---- names ---- */

const struct sb_option *sb_option_at(size_t i)
{
    return i < OPTIONS ? &table[i] : NULL;
}

static const char *key_of(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

/* A key under the wrong section, or under none, is nearer than any misspelling. */
sb_status sb_option_find(const char *name, const struct sb_option **out)
{
    struct sb_nearest nearest = sb_nearest_begin(name);
    const char *elsewhere = NULL;
    *out = NULL;
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strcmp(table[i].name, name) == 0) {
            *out = &table[i];
            return SB_OK;
        }
        if (!elsewhere && strcmp(key_of(table[i].name), key_of(name)) == 0)
            elsewhere = table[i].name;
        sb_nearest_offer(&nearest, table[i].name);
    }
    return sb_fail(SB_EARG, "there is no option '%s'; the nearest is '%s'", name,
                   elsewhere ? elsewhere : nearest.best);
}

/* ---- values ---- */

static void *field_of(struct sb_config *c, const struct sb_option *o)
{
    return (char *)c + o->offset;
}

static void put_default(struct sb_config *c, const struct sb_option *o)
{
    sb_status st = sb_option_parse(o, o->initial, field_of(c, o));
    assert(st == SB_OK); /* the table is ours; a test reads every default */
    (void)st;
}

void sb_recipe_init(struct sb_recipe *r)
{
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < OPTIONS; i++)
        put_default(&r->config, &table[i]);
}

sb_status sb_recipe_set(struct sb_recipe *r, const char *name, const char *value)
{
    const struct sb_option *o;
    const struct sb_method *method;
    sb_status st = sb_option_find(name, &o);
    if (st == SB_OK && o->flags & SB_OPTION_AUTO && strcmp(value, "auto") == 0) {
        r->given[o - table] = false;
        put_default(&r->config, o);
        return SB_OK;
    }
    if (st == SB_OK)
        st = sb_option_parse(o, value, field_of(&r->config, o));
    if (st != SB_OK)
        return st;
    r->given[o - table] = true;
    if (strcmp(name, "method.name") == 0 && sb_method_find(value, &method) != SB_OK)
        return sb_fail(SB_EARG, "method.name = %s: %s", value, sb_message());
    return SB_OK;
}

sb_status sb_recipe_assign(struct sb_recipe *r, const char *assignment)
{
    char name[SB_OPTION_VALUE];
    const char *equals = strchr(assignment, '=');
    size_t n = equals ? (size_t)(equals - assignment) : 0;
    if (n == 0 || n >= sizeof name)
        return sb_fail(SB_EARG, "'%s': want section.key=value", assignment);
    memcpy(name, assignment, n);
    name[n] = '\0';
    return sb_recipe_set(r, name, equals + 1);
}

sb_status sb_recipe_get(const struct sb_recipe *r, const char *name,
                        char out[SB_OPTION_VALUE])
{
    const struct sb_option *o;
    sb_status st = sb_option_find(name, &o);
    if (st == SB_OK && r->open[o - table])
        memcpy(out, "auto", sizeof "auto");
    else if (st == SB_OK)
        sb_option_format(o, (const char *)&r->config + o->offset, out);
    return st;
}

/* ---- the whole ---- */

sb_status sb_recipe_resolve(struct sb_recipe *r)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        r->open[i] = table[i].flags & SB_OPTION_AUTO && !r->given[i];
        if (!r->given[i])
            put_default(&r->config, &table[i]);
    }
    const struct sb_config_method *m = &r->config.method;
    sb_status st = sb_method_find(m->name, &r->method);
    if (st == SB_OK)
        st = sb_method_relative(
            r->method,
            m->posterior ? (enum sb_posterior)(m->posterior - 1) : r->method->posterior,
            m->support ? (enum sb_support)(m->support - 1) : r->method->support,
            &r->method);
    if (st != SB_OK)
        return st;
    for (size_t k = 0; k < r->method->implied_count; k++) {
        const struct sb_implied *implied = &r->method->implied[k];
        const struct sb_option *o;
        st = sb_option_find(implied->key, &o);
        assert(st == SB_OK);
        if (st == SB_OK && !r->given[o - table])
            st = sb_option_parse(o, implied->value, field_of(&r->config, o));
        if (st != SB_OK)
            return st;
    }
    st = sb_recipe_check(r);
    if (st == SB_OK)
        sb_recipe_limit(r);
    return st;
}

bool sb_recipe_close(struct sb_recipe *r, const void *field)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (field_of(&r->config, &table[i]) == field) {
            bool was = r->open[i];
            r->open[i] = false;
            return was;
        }
    assert(false); /* our own mistake: not an option's field */
    return false;
}

/* The last part of a path: what a set is called, wherever it is. */
static void cut_place(const struct sb_option *o, char value[SB_OPTION_VALUE])
{
    size_t n = strlen(value);
    while (o->flags & SB_OPTION_PLACE && n > 1 && value[n - 1] == '/')
        value[--n] = '\0';
    const char *slash = o->flags & SB_OPTION_PLACE ? strrchr(value, '/') : NULL;
    if (slash && slash[1])
        memmove(value, slash + 1, strlen(slash));
}

sb_status sb_recipe_same(const struct sb_recipe *a, const struct sb_recipe *b)
{
    char x[SB_OPTION_VALUE], y[SB_OPTION_VALUE];
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct sb_option *o = &table[i];
        if (o->flags & SB_OPTION_FREE || a->open[i] || b->open[i])
            continue;
        sb_option_format(o, (const char *)&a->config + o->offset, x);
        sb_option_format(o, (const char *)&b->config + o->offset, y);
        cut_place(o, x);
        cut_place(o, y);
        if (strcmp(x, y) != 0)
            return sb_fail(SB_EARG, "%s was '%s' and is now '%s'", o->name, x, y);
    }
    return SB_OK;
}

sb_status sb_recipe_canonical(const struct sb_recipe *r, char **out)
{
    struct sb_recipe plain = *r;
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct sb_option *o = &table[i];
        if (o->flags & SB_OPTION_FREE)
            put_default(&plain.config, o);
        if (o->flags & SB_OPTION_PLACE) {
            char value[SB_OPTION_VALUE];
            sb_option_format(o, field_of(&plain.config, o), value);
            cut_place(o, value);
            memcpy(field_of(&plain.config, o), value, strlen(value) + 1);
        }
    }
    return sb_recipe_write(&plain, false, out);
}
