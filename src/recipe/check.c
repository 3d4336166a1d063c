/* check - what must fit together in a recipe; see options.h.
 *
 * Each check names the option to change, what it is and why that cannot be. */
#include <float.h>
#include <math.h>

#include "base/rng.h"
#include "files/image.h"
#include "kernels/shards.h"
#include "recipe/options.h"

enum { MIMO_MEMBERS = 64 }; /* heads on one network, and as many images side by side */

static sb_status check_data(const struct sb_config_data *d)
{
    uint32_t height, width;
    if (!sb_image_size(d->size, &height, &width))
        return sb_fail(SB_EARG,
                       "data.size = %s: want auto or HEIGHTxWIDTH with sides from 1 to "
                       "%d, such as 32x32",
                       d->size, SB_IMAGE_SIDE_MOST);
    if (d->validation >= 1 && d->validation != floor(d->validation))
        return sb_fail(SB_EARG,
                       "data.validation = %g: want a share below 1 or a whole number",
                       d->validation);
    if (d->calibration >= 1 && d->calibration != floor(d->calibration))
        return sb_fail(SB_EARG,
                       "data.calibration = %g: want a share below 1 or a whole number",
                       d->calibration);
    if (d->normalise == SB_CONFIG_VALUES) {
        if (d->mean.count == 0 || d->mean.count != d->sd.count)
            return sb_fail(SB_EARG,
                           "data.normalise = values: data.mean has %u numbers and "
                           "data.sd %u; want one of each a channel",
                           d->mean.count, d->sd.count);
    } else if (d->mean.count > 0 || d->sd.count > 0) {
        return sb_fail(SB_EARG, "data.mean and data.sd are used with data.normalise = "
                                "values only; say that, or leave them out");
    }
    return SB_OK;
}

static sb_status check_members(const struct sb_method *row, uint32_t members)
{
    bool one = row->form == SB_FORM_PLAIN || row->form == SB_FORM_DROPOUT;
    if (row->form == SB_FORM_DROPOUT && members != 1)
        return sb_fail(
            SB_EARG,
            "method.members = %u: %s trains one network; leave it out, and say "
            "how many passes predict as method.passes",
            members, row->name);
    if (row->schedule == SB_SCHEDULE_ONE && one && members != 1)
        return sb_fail(SB_EARG,
                       "method.members = %u: %s trains one network; leave it out, or "
                       "choose an ensemble as method.name",
                       members, row->name);
    if (members < row->least_members)
        return sb_fail(
            SB_EARG,
            "method.members = %u: %s is an ensemble of at least %u; want more, "
            "or a method of one network as method.name",
            members, row->name, row->least_members);
    if (row->form == SB_FORM_MIMO && members > MIMO_MEMBERS)
        return sb_fail(
            SB_EARG,
            "method.members = %u: the members of %s share one network, as many "
            "images side by side; want at most %d",
            members, row->name, MIMO_MEMBERS);
    if (row->support == SB_SUPPORT_REWIND && members >= SB_RNG_MEMBERS)
        return sb_fail(SB_EARG,
                       "method.members = %u: %s has one run more than members; want at "
                       "most %d",
                       members, row->name, SB_RNG_MEMBERS - 1);
    return SB_OK;
}

/* Rows of a batch that an example is in. */
static uint32_t rows_each(const struct sb_method *row, const struct sb_config_method *m)
{
    bool copies = row->form == SB_FORM_BATCH_ENSEMBLE || row->form == SB_FORM_RANK_1;
    return row->form == SB_FORM_MIMO ? m->repetitions : copies ? m->members : 1;
}

/* Rows of a batch are counted in 32 bits, and buffers are made for all of them. */
static sb_status check_rows(const struct sb_method *row, const struct sb_config *c)
{
    const uint64_t most = 65536, batch = c->train.batch;
    bool mimo = row->form == SB_FORM_MIMO;
    uint64_t times = rows_each(row, &c->method);
    if (batch * times <= most)
        return SB_OK;
    return sb_fail(
        SB_EARG,
        "%s = %llu: batches of train.batch = %llu would have %llu rows; want at "
        "most %llu",
        mimo ? "method.repetitions" : "method.members", (unsigned long long)times,
        (unsigned long long)batch, (unsigned long long)(batch * times),
        (unsigned long long)most);
}

/* What is reckoned with in single precision must be in its range there, too. */
static sb_status check_floats(const struct sb_config_method *m)
{
    const struct {
        const char *name;
        double value;
    } above[] = {{"method.scale_spread", m->scale_spread},
                 {"method.scale_sd", m->scale_sd},
                 {"method.scale_prior_sd", m->scale_prior_sd}};
    if (!((float)m->dropout_rate < 1.0f))
        return sb_fail(SB_EARG,
                       "method.dropout_rate = %.17g: in single precision that is 1, and "
                       "nothing would be kept; want at most 0.9999999",
                       m->dropout_rate);
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        if (!((float)above[i].value >= FLT_MIN))
            return sb_fail(SB_EARG,
                           "%s = %g: in single precision there is no number so small; "
                           "want at least 1.18e-38",
                           above[i].name, above[i].value);
    return SB_OK;
}

static sb_status check_method(const struct sb_method *row,
                              const struct sb_config_method *m)
{
    uint32_t epochs = m->explore_epochs + m->exploit_epochs;
    sb_status st = check_members(row, m->members);
    if (st == SB_OK)
        st = check_floats(m);
    if (st != SB_OK)
        return st;
    if (row->support == SB_SUPPORT_DENSE && m->sparsity > 0)
        return sb_fail(SB_EARG,
                       "method.sparsity = %g: the networks of %s are dense; leave it "
                       "out, or choose a sparse method as method.name",
                       m->sparsity, row->name);
    if (row->support == SB_SUPPORT_DENSE && row->schedule == SB_SCHEDULE_SEQUENTIAL &&
        m->explore_epochs > 0)
        return sb_fail(SB_EARG,
                       "method.explore_epochs = %u: %s has cycles of "
                       "method.exploit_epochs and no exploration; leave it out",
                       m->explore_epochs, row->name);
    if (row->support == SB_SUPPORT_PRUNE_GROW && m->grow_batches > m->delta_t)
        return sb_fail(SB_EARG,
                       "method.grow_batches = %u: there are only method.delta_t = %u "
                       "batches between two updates",
                       m->grow_batches, m->delta_t);
    if (row->support == SB_SUPPORT_REWIND && m->rewind_epoch > epochs)
        return sb_fail(SB_EARG,
                       "method.rewind_epoch = %u: the dense run ends after %u epochs; "
                       "want one of them, or 0",
                       m->rewind_epoch, epochs);
    return SB_OK;
}

static sb_status check_milestones(const struct sb_method *row,
                                  const struct sb_config_train *t, uint32_t epochs)
{
    const struct sb_config_list *at = &t->milestones;
    double before = 0;
    if (at->count > 0 && row->schedule == SB_SCHEDULE_SEQUENTIAL)
        return sb_fail(SB_EARG,
                       "train.milestones: the members of %s have rates of their own; "
                       "leave it out",
                       row->name);
    if (at->count > 0 && t->lr_shape == SB_CONFIG_COSINE)
        return sb_fail(SB_EARG, "train.milestones: they take the place of "
                                "train.lr_shape = cosine; leave one of the two out");
    for (uint32_t i = 0; i < at->count; i++) {
        double e = at->value[i], place = e < 1 ? e * epochs : e;
        if ((e >= 1 && e != floor(e)) || place >= epochs || place <= before)
            return sb_fail(SB_EARG,
                           "train.milestones: %g: want rising whole numbers below the "
                           "%u epochs of a run, or shares of it below 1",
                           e, epochs);
        before = place;
    }
    return SB_OK;
}

bool sb_recipe_has_phases(const struct sb_method *row, const struct sb_config_train *t)
{
    bool cycles =
        row->schedule == SB_SCHEDULE_SEQUENTIAL && row->support == SB_SUPPORT_DENSE;
    return t->milestones.count == 0 && t->lr_shape == SB_CONFIG_STEPS && !cycles;
}

/* Patience compares figures on the validation part, within phases of one learning rate. */
static sb_status check_patience(const struct sb_method *row, const struct sb_config *c)
{
    const struct sb_config_train *t = &c->train;
    if (t->patience == 0)
        return SB_OK;
    if (c->data.validation == 0)
        return sb_fail(
            SB_EARG,
            "train.patience = %u: without a validation part (data.validation = "
            "0) nothing tells whether a phase improves; give one, or leave it "
            "out",
            t->patience);
    if (!sb_recipe_has_phases(row, t))
        return sb_fail(SB_EARG,
                       "train.patience = %u: it ends phases of one learning rate; with "
                       "milestones or a cosine there are none; leave it out",
                       t->patience);
    if (t->trajectory)
        return sb_fail(SB_EARG,
                       "train.patience = %u: train.trajectory has a row for every epoch, "
                       "and some would be left out; leave one of the two out",
                       t->patience);
    return SB_OK;
}

static sb_status check_train(const struct sb_method *row, const struct sb_config *c)
{
    const struct sb_config_train *t = &c->train;
    uint32_t epochs = c->method.explore_epochs + c->method.exploit_epochs;
    if (t->estimator == SB_CONFIG_WEIGHTS && row->posterior != SB_POSTERIOR_GAUSS)
        return sb_fail(
            SB_EARG,
            "train.estimator = weights: those of %s are numbers, there is "
            "nothing to draw; leave it out, or choose a Bayesian method as method.name",
            row->name);
    if (t->group % 16 != 0)
        return sb_fail(SB_EARG, "train.group = %u: want a multiple of 16", t->group);
    if (t->nesterov && t->momentum == 0)
        return sb_fail(SB_EARG, "train.nesterov = yes: needs train.momentum above 0");
    if (t->lr_second == 0 && t->lr_shape != SB_CONFIG_COSINE)
        return sb_fail(SB_EARG, "train.lr_second = 0: half of the exploitation would "
                                "learn nothing; want more, or train.lr_shape = cosine");
    if (t->warmup_epochs > epochs)
        return sb_fail(SB_EARG,
                       "train.warmup_epochs = %u: a run has only %u epochs; want fewer",
                       t->warmup_epochs, epochs);
    sb_status st = check_patience(row, c);
    return st == SB_OK ? check_milestones(row, t, epochs) : st;
}

/* A row of these forms is put together of several examples, or is an example for each
 * member: it has no weight of its own. */
static sb_status check_weights(const struct sb_method *row, const struct sb_config *c)
{
    bool weighted = c->data.weight[0] || c->train.class_weights == SB_CONFIG_BALANCED;
    bool rows = row->form == SB_FORM_PLAIN || row->form == SB_FORM_DROPOUT ||
                row->form == SB_FORM_TREE;
    if (!weighted || rows)
        return SB_OK;
    return sb_fail(
        SB_EARG,
        "%s: %s lays out its batches in its own way and has no weights; leave it "
        "out, or choose another method.name",
        c->data.weight[0] ? "data.weight" : "train.class_weights", row->name);
}

sb_status sb_recipe_check(const struct sb_recipe *r)
{
    sb_status st = check_data(&r->config.data);
    if (st == SB_OK)
        st = check_method(r->method, &r->config.method);
    if (st == SB_OK)
        st = check_rows(r->method, &r->config);
    if (st == SB_OK)
        st = check_train(r->method, &r->config);
    if (st == SB_OK)
        st = check_weights(r->method, &r->config);
    return st;
}

/* Shards: as many as a full batch has. What was asked for is kept, should the batch change
 * and the recipe be resolved again. */
void sb_recipe_limit(struct sb_recipe *r)
{
    uint32_t *shards = &r->config.train.shards;
    uint32_t rows = r->config.train.batch * rows_each(r->method, &r->config.method);
    if (*shards != r->shards)
        r->shards_asked = *shards;
    struct sb_shards s = {.width =
                              sb_shards_width(rows, r->shards_asked,
                                              sb_config_shard_step(&r->config.train))};
    *shards = r->shards = sb_shards_of(&s, rows);
}
