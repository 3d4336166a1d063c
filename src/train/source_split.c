/* source_split - what a run trains on, validates with and calibrates by.
 *
 *     | test, kept aside | validation | calibration | training |
 *
 * Each part is taken of what is left, whole groups where the set has groups. The calibration
 * part chooses nothing: conformal prediction rests on that.
 */
#include "base/mem.h"
#include "train/source.h"

static enum sb_holdout kind_of(const struct sb_dataset *d, enum sb_config_split split)
{
    return split == SB_CONFIG_SPLIT_AUTO   ? sb_indices_usual(d)
           : split == SB_CONFIG_TAIL       ? SB_HOLDOUT_TAIL
           : split == SB_CONFIG_STRATIFIED ? SB_HOLDOUT_STRATIFIED
                                           : SB_HOLDOUT_RANDOM;
}

/* The tail is checked: a file that is sorted by class has one that is of no use. */
static sb_status hold_out(struct sb_indices *part, const struct sb_dataset *d,
                          const struct sb_config *c)
{
    double v = c->data.validation;
    struct sb_holdout_options o = {
        .kind = kind_of(d, c->data.split),
        .limit = c->train.limit,
        .count = v >= 1.0 ? (uint32_t)v : 0,
        .fraction = v < 1.0 ? v : 0.0,
        .seed = c->train.seed,
    };
    sb_status st = sb_indices_init(part, d, &o);
    if (st == SB_OK && o.kind == SB_HOLDOUT_TAIL && !d->groups)
        st = sb_indices_check_order(part, d);
    return st;
}

/* The examples rest[n] of a set (NULL: the first n), as far as splitting needs them. */
static sb_status view_init(struct sb_dataset *view, const struct sb_dataset *d,
                           const uint32_t *rest, uint32_t n)
{
    *view = (struct sb_dataset){
        .n = n, .classes = d->classes, .path = d->path, .format = d->format};
    view->labels = d->labels ? sb_malloc(n, sizeof *view->labels) : NULL;
    view->groups = d->groups ? sb_malloc(n, sizeof *view->groups) : NULL;
    if ((d->labels && !view->labels) || (d->groups && !view->groups))
        return sb_fail(SB_ENOMEM, "no memory to split %u examples", n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = rest ? rest[i] : i;
        if (view->labels)
            view->labels[i] = d->labels[at];
        if (view->groups)
            view->groups[i] = d->groups[at];
    }
    return SB_OK;
}

static void view_fini(struct sb_dataset *view)
{
    sb_free(view->labels);
    sb_free(view->groups);
}

/* Numbers within rest become those of the set. */
static void map(struct sb_indices *part, const uint32_t *rest)
{
    for (uint32_t i = 0; rest && i < part->train_count; i++)
        part->train[i] = rest[part->train[i]];
    for (uint32_t i = 0; rest && i < part->validation_count; i++)
        part->valid[i] = rest[part->valid[i]];
}

/* The calibration part, from what is trained on. used: examples before anything was held
 * out, which a share is of. */
static sb_status calibrate(struct sb_source *s, const struct sb_config *c, uint32_t used)
{
    const uint64_t other_than_validation = (uint64_t)1 << 32;
    double want = c->data.calibration;
    struct sb_indices part = {0};
    struct sb_dataset view;
    struct sb_holdout_options o = {
        .kind = s->train.labels ? SB_HOLDOUT_STRATIFIED : SB_HOLDOUT_RANDOM,
        .count = want >= 1.0 ? (uint32_t)want : (uint32_t)(want * used + 0.5),
        .seed = c->train.seed + other_than_validation,
    };
    if (o.count == 0 || o.count >= s->part.train_count)
        return sb_fail(SB_EARG,
                       "data.calibration = %g: that is %u of the %u examples that are "
                       "left for training; want at least 1, and fewer",
                       want, o.count, s->part.train_count);
    sb_status st = view_init(&view, &s->train, s->part.train, s->part.train_count);
    if (st == SB_OK)
        st = sb_indices_init(&part, &view, &o);
    view_fini(&view);
    if (st != SB_OK)
        return st;
    map(&part, s->part.train);
    sb_free(s->part.train);
    s->part.train = part.train;
    s->part.train_count = part.train_count;
    s->calibration = part.valid;
    s->calibrations = part.validation_count;
    return SB_OK;
}

sb_status sb_source_split(struct sb_source *s, const struct sb_config *c,
                          const uint32_t *rest, uint32_t n)
{
    struct sb_dataset view;
    sb_status st = view_init(&view, &s->train, rest, n);
    if (st == SB_OK)
        st = hold_out(&s->part, &view, c);
    view_fini(&view);
    if (st != SB_OK)
        return st;
    map(&s->part, rest);
    uint32_t used = s->part.train_count + s->part.validation_count;
    return c->data.calibration > 0 ? calibrate(s, c, used) : SB_OK;
}
