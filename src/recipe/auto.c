/* auto - see auto.h. */
#include "recipe/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- tables ---------------------------------------------------------------- */

enum {
    FEW = 2000,         /* rows below which all of them are trained on */
    MANY = 20000,       /* rows with which members hardly differ, and each is slow */
    VERY_MANY = 200000, /* ... with which an epoch is long */
    VALIDATE_MOST = 5000,
    HOLD_LEAST = 20, /* rows of which two can be spared */
    FIT_LEAST = 40,  /* ... and of which a few tell how wide intervals are */
    PIECES = 16,
    EPOCHS_MOST = 1000, /* of exploration */
    CLIP = 5,           /* of targets */
    WIDE = 1000, /* features from which a step moves the first layer's sums too far */
    BROAD = 256, /* features or columns from which work is bounded ... */
    STEPS_LEAST = 150, /* ... but so many steps are taken */
    UPDATES = 8,       /* of the support, in exploration ... */
    DELTA_T_LEAST =
        10 /* ... but steps between two: each costs one, and moves weights that
            * then have to learn */
};

/* What suits so many rows of a task. Steps: of exploration, of a member after it (a method
 * that does not explore has all of it at once), and in which the KL term comes in. */
struct suit {
    uint32_t rows; /* below; 0: any number */
    const char *arch;
    enum sb_config_numeric numeric;
    uint32_t batch_least, batch_most;
    uint32_t explore, exploit, anneal; /* anneal 0: as long as exploration */
    uint32_t members, patience;
    double lr, rho; /* rho: of a weight's first deviation */
};

/* Classes: few rows are soon learned by heart, by many steps that is. */
static const struct suit of_classes[] = {
    {FEW, "mlp-128-64", SB_CONFIG_STANDARD, 16, 256, 64, 32, 0, 8, 5, 0.05, -3},
    {MANY, "mlp-128-64", SB_CONFIG_PIECES, 16, 256, 960, 480, 0, 8, 5, 0.05, -3},
    {0, "mlp-256-128", SB_CONFIG_PIECES, 16, 256, 960, 480, 0, 3, 5, 0.05, -3},
};

/* Continuous targets: narrow networks and many small steps, since a target may be known to a
 * thousandth; few rows need the prior from the start, and many leave weights less spread than
 * the steps could bring about from -3. */
static const struct suit of_targets[] = {
    {FEW, "mlp-50-50", SB_CONFIG_STANDARD, 32, 32, 5000, 1000, 3000, 16, 30, 0.01, -3},
    {MANY, "mlp-64-64", SB_CONFIG_STANDARD, 64, 64, 15000, 3000, 50000, 8, 30, 0.02, -3},
    {0, "mlp-64-64", SB_CONFIG_STANDARD, 64, 256, 15000, 3000, 50000, 3, 10, 0.02, -4},
};

static bool regresses(const struct sb_facts *f)
{
    return f->classes == 0;
}

static uint32_t at_least(uint32_t n, uint32_t least)
{
    return n > least ? n : least;
}

static const struct suit *suit_of(const struct sb_facts *f)
{
    const struct suit *s = regresses(f) ? of_targets : of_classes;
    while (s->rows > 0 && f->rows >= s->rows)
        s++;
    return s;
}

/* Rows of very many columns: pieces of each would be sixteen times as many features, and a
 * run costs features times steps, of which wide rows need fewer to be known by heart. */
static struct suit bounded(struct suit s, const struct sb_facts *f)
{
    uint32_t share = f->features / BROAD, all = s.explore;
    if (f->columns >= BROAD)
        s.numeric = SB_CONFIG_STANDARD;
    if (share > 1 && all > STEPS_LEAST) {
        s.explore = at_least(all / share, STEPS_LEAST);
        s.exploit = (uint32_t)((uint64_t)s.exploit * s.explore / all);
        s.anneal = (uint32_t)((uint64_t)s.anneal * s.explore / all);
    }
    return s;
}

/* The power of two that is nearest to an eighth of the rows, by ratio. */
static uint32_t batch_of(const struct suit *s, uint64_t rows)
{
    uint64_t b = s->batch_least;
    while (b < s->batch_most && rows * rows > 128 * b * b)
        b *= 2;
    return (uint32_t)b;
}

static bool implies(const struct sb_method *m, const char *key)
{
    for (size_t i = 0; i < m->implied_count; i++)
        if (strcmp(m->implied[i].key, key) == 0)
            return true;
    return false;
}

/* Whether rows are held out to choose by. Weights without a prior learn how little targets
 * scatter where they know them by heart. */
static bool holds_out(const struct sb_recipe *r, const struct sb_facts *f)
{
    bool point = r->method->posterior != SB_POSTERIOR_GAUSS;
    return f->rows >= FEW || (regresses(f) && point && f->rows >= HOLD_LEAST);
}

static void fit_data(struct sb_recipe *r, const struct sb_facts *f, const struct suit *s)
{
    struct sb_config_data *d = &r->config.data;
    uint32_t tenth = f->rows / 10;
    if (sb_recipe_close(r, &d->validation))
        d->validation = !holds_out(r, f)        ? 0
                        : tenth < VALIDATE_MOST ? tenth
                                                : VALIDATE_MOST;
    if (sb_recipe_close(r, &d->numeric))
        d->numeric = s->numeric;
    if (sb_recipe_close(r, &d->pieces))
        d->pieces = PIECES;
}

/* Steps of an epoch. */
static uint32_t steps_of(const struct sb_config *c, uint32_t rows)
{
    double v = c->data.validation;
    double left = v < 1 ? rows * (1 - v) : rows - v;
    uint32_t n = left < 1 ? 1 : (uint32_t)left;
    return n / c->train.batch + (n % c->train.batch != 0);
}

static uint32_t epochs_of(uint32_t steps, uint32_t epoch_steps, uint32_t least)
{
    return at_least(steps / epoch_steps + (steps % epoch_steps != 0), least);
}

/* Each row is seen often, however few there are steps, but not without end. */
static void fit_epochs(struct sb_recipe *r, const struct sb_facts *f,
                       const struct suit *s, uint32_t steps)
{
    struct sb_config_method *m = &r->config.method;
    bool many = f->rows >= VERY_MANY;
    uint32_t explore = epochs_of(s->explore, steps, many ? 4 : 8);
    uint32_t exploit = epochs_of(s->exploit, steps, many ? 2 : 4);
    bool explores = m->explore_epochs > 0 || !implies(r->method, "method.explore_epochs");
    if (explore > EPOCHS_MOST) {
        exploit = exploit * EPOCHS_MOST / explore;
        explore = EPOCHS_MOST;
    }
    if (sb_recipe_close(r, &m->explore_epochs))
        m->explore_epochs = explores ? explore : 0;
    if (sb_recipe_close(r, &m->exploit_epochs))
        m->exploit_epochs = explores || r->method->schedule == SB_SCHEDULE_SEQUENTIAL
                                ? exploit
                                : explore + exploit;
    if (sb_recipe_close(r, &m->tune_epochs))
        m->tune_epochs = m->explore_epochs + m->exploit_epochs;
}

static void fit_method(struct sb_recipe *r, const struct suit *s, uint32_t steps)
{
    struct sb_config_method *m = &r->config.method;
    uint32_t delta_t = at_least((uint32_t)((uint64_t)m->explore_epochs * steps / UPDATES),
                                DELTA_T_LEAST);
    bool sparse = r->method->support != SB_SUPPORT_DENSE;
    if (sb_recipe_close(r, &m->members) && !implies(r->method, "method.members"))
        m->members = s->members;
    if (sb_recipe_close(r, &m->sparsity) && sparse)
        m->sparsity = 0.5;
    if (sb_recipe_close(r, &m->prior_variance))
        m->prior_variance = 0.5;
    if (sb_recipe_close(r, &m->rho_init))
        m->rho_init = s->rho;
    if (sb_recipe_close(r, &m->kl_anneal_epochs) &&
        !implies(r->method, "method.kl_anneal_epochs"))
        m->kl_anneal_epochs =
            s->anneal ? epochs_of(s->anneal, steps, 1) : m->explore_epochs;
    if (sb_recipe_close(r, &m->delta_t))
        m->delta_t = at_least(delta_t, m->grow_batches);
    if (sb_recipe_close(r, &m->rate_decay))
        m->rate_decay = SB_CONFIG_DECAY_COSINE;
}

/* A step moves the sums of the first layer by so much a feature: classes of very wide rows
 * diverged, or were learned by heart in a few steps. Halves are short to write. Targets,
 * whose gradients are clipped, need one only. */
static double rate_of(const struct suit *s, const struct sb_facts *f)
{
    double lr = s->lr;
    for (uint32_t n = f->features; n >= WIDE; n = regresses(f) ? 0 : n / 2)
        lr /= 2;
    return lr;
}

/* A variance that is learned divides the gradient of its mean: where a target has no noise
 * a single step could throw a member far off. */
static void fit_train(struct sb_recipe *r, const struct sb_facts *f, const struct suit *s)
{
    struct sb_config_train *t = &r->config.train;
    if (sb_recipe_close(r, &t->lr))
        t->lr = rate_of(s, f);
    if (sb_recipe_close(r, &t->lr_first))
        t->lr_first = t->lr / 5;
    if (sb_recipe_close(r, &t->lr_second))
        t->lr_second = t->lr / 50;
    if (sb_recipe_close(r, &t->clip) && regresses(f))
        t->clip = CLIP;
    if (sb_recipe_close(r, &t->choose))
        t->choose = SB_CONFIG_BY_NLL;
    if (sb_recipe_close(r, &t->patience))
        t->patience = r->config.data.validation > 0 && !t->trajectory &&
                              sb_recipe_has_phases(r->method, t)
                          ? s->patience
                          : 0;
}

static void fit_rows(struct sb_recipe *r, const struct sb_facts *f)
{
    struct sb_config *c = &r->config;
    const struct suit suit = bounded(*suit_of(f), f), *s = &suit;
    fit_data(r, f, s);
    if (sb_recipe_close(r, &c->model.arch))
        snprintf(c->model.arch, sizeof c->model.arch, "%s", s->arch);
    if (sb_recipe_close(r, &c->model.noise) && regresses(f))
        c->model.noise = SB_CONFIG_NOISE_PER_EXAMPLE;
    if (sb_recipe_close(r, &c->model.width) && regresses(f) && f->rows >= FIT_LEAST &&
        r->method->schedule != SB_SCHEDULE_PARALLEL)
        c->model.width = SB_CONFIG_WIDTH_FITTED;
    if (sb_recipe_close(r, &c->train.batch))
        c->train.batch = batch_of(s, f->rows);
    uint32_t steps = steps_of(c, f->rows);
    fit_epochs(r, f, s, steps);
    fit_method(r, s, steps);
    fit_train(r, f, s);
}

/* ---- all kinds -------------------------------------------------------------------------- */

/* The option table's words are what images get; this one needs a word. */
static void fit_images(struct sb_recipe *r)
{
    if (sb_recipe_close(r, &r->config.train.choose))
        r->config.train.choose = SB_CONFIG_BY_ACCURACY;
}

sb_status sb_recipe_fit(struct sb_recipe *r, const struct sb_facts *f)
{
    static const enum sb_config_split split[] = {
        [SB_HOLDOUT_TAIL] = SB_CONFIG_TAIL,
        [SB_HOLDOUT_STRATIFIED] = SB_CONFIG_STRATIFIED,
        [SB_HOLDOUT_RANDOM] = SB_CONFIG_RANDOM,
    };
    if (f->table)
        fit_rows(r, f);
    else
        fit_images(r);
    if (sb_recipe_close(r, &r->config.data.split))
        r->config.data.split = split[f->usual];
    memset(r->open, 0, sizeof r->open);
    return sb_recipe_check(r);
}

sb_status sb_recipe_chosen(const struct sb_recipe *before, const struct sb_recipe *fitted,
                           char **out)
{
    char value[SB_OPTION_VALUE], *text = NULL;
    size_t size = 0, count = 0;
    *out = NULL;
    FILE *f = open_memstream(&text, &size);
    for (size_t i = 0; f && sb_option_at(i); i++)
        if (before->open[i] &&
            sb_recipe_get(fitted, sb_option_at(i)->name, value) == SB_OK)
            fprintf(f, "%s%s = %s", count++ ? ", " : "", sb_option_at(i)->name, value);
    if (f && fclose(f) == 0)
        *out = sb_malloc(size + 1, 1);
    if (*out)
        memcpy(*out, text, size + 1);
    free(text);
    return *out ? SB_OK : sb_fail(SB_ENOMEM, "no memory for what was chosen");
}
