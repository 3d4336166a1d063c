/* options_check - what must fit together in a recipe; see options.h.
 *
 * Each check names the option to change, what it is and why that cannot be. */
#include <math.h>

#include "files/image.h"
#include "options.h"
#include "train/source.h"

static sb_status check_data(const struct sb_config_data *d)
{
    uint32_t height, width;
    if (!sb_source_size(d->size, &height, &width))
        return sb_fail(SB_EARG,
                       "data.size = %s: want auto or HEIGHTxWIDTH with sides from 1 to "
                       "%d, such as 32x32",
                       d->size, SB_IMAGE_SIDE_MOST);
    if (d->validation >= 1 && d->validation != floor(d->validation))
        return sb_fail(SB_EARG,
                       "data.validation = %g: want a share below 1 or a whole number",
                       d->validation);
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

static sb_status check_method(const struct sb_method *row,
                              const struct sb_config_method *m)
{
    if (row->schedule == SB_SCHEDULE_ONE && m->members != 1)
        return sb_fail(SB_EARG,
                       "method.members = %u: %s trains one network; leave it out, or "
                       "choose an ensemble as method.name",
                       m->members, row->name);
    if (row->support == SB_SUPPORT_DENSE && m->sparsity > 0)
        return sb_fail(SB_EARG,
                       "method.sparsity = %g: the networks of %s are dense; leave it "
                       "out, or choose a sparse method as method.name",
                       m->sparsity, row->name);
    if (row->support == SB_SUPPORT_PRUNE_GROW && m->grow_batches > m->delta_t)
        return sb_fail(SB_EARG,
                       "method.grow_batches = %u: there are only method.delta_t = %u "
                       "batches between two updates",
                       m->grow_batches, m->delta_t);
    return SB_OK;
}

static sb_status check_train(const struct sb_method *row, const struct sb_config *c)
{
    const struct sb_config_train *t = &c->train;
    const struct sb_config_list *at = &t->milestones;
    if (t->nesterov && t->momentum == 0)
        return sb_fail(SB_EARG, "train.nesterov = yes: needs train.momentum above 0");
    if (at->count > 0 && row->schedule == SB_SCHEDULE_SEQUENTIAL)
        return sb_fail(SB_EARG,
                       "train.milestones: the phases of %s have their own rates, "
                       "train.lr_first and train.lr_second; leave it out",
                       row->name);
    uint32_t epochs = c->method.explore_epochs + c->method.exploit_epochs;
    for (uint32_t i = 0; i < at->count; i++) {
        double e = at->value[i];
        if (e != floor(e) || e >= epochs || (i > 0 && e <= at->value[i - 1]))
            return sb_fail(SB_EARG,
                           "train.milestones: %g: want rising whole numbers below the "
                           "%u epochs of a run",
                           e, epochs);
    }
    return SB_OK;
}

sb_status sb_recipe_check(const struct sb_recipe *r)
{
    sb_status st = check_data(&r->config.data);
    if (st == SB_OK)
        st = check_method(r->method, &r->config.method);
    if (st == SB_OK)
        st = check_train(r->method, &r->config);
    return st;
}
