/* auto - see auto.h. */
#include "recipe/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- tables ---------------------------------------------------------------- */

enum {
    VALIDATE_FROM = 2000, /* rows; with fewer all of them are trained on */
    VALIDATE_MOST = 5000,
    PIECES_FROM = 2000, /* rows that pieces of numbers do not overfit */
    PIECES = 16,
    MANY = 20000,       /* rows with which members hardly differ, and each is slow */
    VERY_MANY = 200000, /* ... with which an epoch is long */
    BATCH_LEAST = 16,
    BATCH_MOST = 256,
    UPDATES = 8, /* of the support, in exploration ... */
    DELTA_T_LEAST =
        10 /* ... but steps between two: each costs one, and moves weights that
                          then have to learn */
};

static const char *arch_of(uint32_t rows)
{
    return rows < MANY ? "mlp-128-64" : "mlp-256-128";
}

/* The power of two that is nearest to an eighth of the rows, by ratio. */
static uint32_t batch_of(uint64_t rows)
{
    uint64_t b = BATCH_LEAST;
    while (b < BATCH_MOST && rows * rows > 128 * b * b)
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

static void fit_data(struct sb_recipe *r, const struct sb_facts *f)
{
    struct sb_config_data *d = &r->config.data;
    uint32_t tenth = f->rows / 10;
    if (sb_recipe_close(r, &d->validation))
        d->validation = f->rows < VALIDATE_FROM ? 0
                        : tenth < VALIDATE_MOST ? tenth
                                                : VALIDATE_MOST;
    if (sb_recipe_close(r, &d->numeric))
        d->numeric = f->rows < PIECES_FROM ? SB_CONFIG_STANDARD : SB_CONFIG_PIECES;
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

static uint32_t at_least(uint32_t n, uint32_t least)
{
    return n > least ? n : least;
}

static uint32_t epochs_of(uint32_t steps, uint32_t epoch_steps, uint32_t least)
{
    return at_least(steps / epoch_steps + (steps % epoch_steps != 0), least);
}

/* Few rows are soon learned by heart, by many steps that is; each is seen often all the same.
 * A member has half of what exploration has. A method that does not explore has all of it
 * at once. */
static void fit_epochs(struct sb_recipe *r, const struct sb_facts *f, uint32_t steps)
{
    struct sb_config_method *m = &r->config.method;
    bool few = f->rows < PIECES_FROM, many = f->rows >= VERY_MANY;
    uint32_t explore = epochs_of(few ? 64 : 960, steps, many ? 4 : 8);
    uint32_t exploit = epochs_of(few ? 32 : 480, steps, many ? 2 : 4);
    bool explores = m->explore_epochs > 0 || !implies(r->method, "method.explore_epochs");
    if (sb_recipe_close(r, &m->explore_epochs))
        m->explore_epochs = explores ? explore : 0;
    if (sb_recipe_close(r, &m->exploit_epochs))
        m->exploit_epochs = explores || r->method->schedule == SB_SCHEDULE_SEQUENTIAL
                                ? exploit
                                : explore + exploit;
    if (sb_recipe_close(r, &m->tune_epochs))
        m->tune_epochs = m->explore_epochs + m->exploit_epochs;
}

static void fit_method(struct sb_recipe *r, const struct sb_facts *f, uint32_t steps)
{
    struct sb_config_method *m = &r->config.method;
    uint32_t delta_t = at_least((uint32_t)((uint64_t)m->explore_epochs * steps / UPDATES),
                                DELTA_T_LEAST);
    bool sparse = r->method->support != SB_SUPPORT_DENSE;
    if (sb_recipe_close(r, &m->members) && !implies(r->method, "method.members"))
        m->members = f->rows < MANY ? 8 : 3;
    if (sb_recipe_close(r, &m->sparsity) && sparse)
        m->sparsity = 0.5;
    if (sb_recipe_close(r, &m->prior_variance))
        m->prior_variance = 0.5;
    if (sb_recipe_close(r, &m->rho_init))
        m->rho_init = -3;
    if (sb_recipe_close(r, &m->kl_anneal_epochs) &&
        !implies(r->method, "method.kl_anneal_epochs"))
        m->kl_anneal_epochs = m->explore_epochs;
    if (sb_recipe_close(r, &m->delta_t))
        m->delta_t = at_least(delta_t, m->grow_batches);
    if (sb_recipe_close(r, &m->rate_decay))
        m->rate_decay = SB_CONFIG_DECAY_COSINE;
}

/* Patience ends a phase of one rate: there must be some, and a validation part. */
static bool may_be_patient(const struct sb_recipe *r)
{
    const struct sb_config_train *t = &r->config.train;
    return r->config.data.validation > 0 && t->milestones.count == 0 &&
           t->lr_shape == SB_CONFIG_STEPS && !t->trajectory &&
           (r->method->schedule != SB_SCHEDULE_SEQUENTIAL ||
            r->method->support != SB_SUPPORT_DENSE);
}

static void fit_train(struct sb_recipe *r)
{
    struct sb_config_train *t = &r->config.train;
    if (sb_recipe_close(r, &t->lr))
        t->lr = 0.05;
    if (sb_recipe_close(r, &t->lr_first))
        t->lr_first = t->lr / 5;
    if (sb_recipe_close(r, &t->lr_second))
        t->lr_second = t->lr / 50;
    if (sb_recipe_close(r, &t->choose))
        t->choose = SB_CONFIG_BY_NLL;
    if (sb_recipe_close(r, &t->patience))
        t->patience = may_be_patient(r) ? 5 : 0;
}

static void fit_rows(struct sb_recipe *r, const struct sb_facts *f)
{
    struct sb_config *c = &r->config;
    fit_data(r, f);
    if (sb_recipe_close(r, &c->model.arch))
        snprintf(c->model.arch, sizeof c->model.arch, "%s", arch_of(f->rows));
    if (sb_recipe_close(r, &c->train.batch))
        c->train.batch = batch_of(f->rows);
    uint32_t steps = steps_of(c, f->rows);
    fit_epochs(r, f, steps);
    fit_method(r, f, steps);
    fit_train(r);
}

/* ---- all kinds -------------------------------------------------------------------------- */

/* The option table's words are what images get; these need one. */
static void fit_images(struct sb_recipe *r, const struct sb_facts *f)
{
    (void)f;
    r->config.train.choose = sb_recipe_close(r, &r->config.train.choose)
                                 ? SB_CONFIG_BY_ACCURACY
                                 : r->config.train.choose;
}

static const struct kind {
    bool table;
    void (*fit)(struct sb_recipe *r, const struct sb_facts *f);
} kinds[] = {
    {true, fit_rows},
    {false, fit_images},
};

sb_status sb_recipe_fit(struct sb_recipe *r, const struct sb_facts *f)
{
    static const enum sb_config_split split[] = {
        [SB_HOLDOUT_TAIL] = SB_CONFIG_TAIL,
        [SB_HOLDOUT_STRATIFIED] = SB_CONFIG_STRATIFIED,
        [SB_HOLDOUT_RANDOM] = SB_CONFIG_RANDOM,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].table == f->table)
            kinds[i].fit(r, f);
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
