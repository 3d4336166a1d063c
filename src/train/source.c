/* source - see source.h. */
#include "train/source.h"

#include <string.h>

#include "base/mem.h"

#include "files/image.h"

/* Published per-channel means and deviations of pixels in [0, 1]. */
struct known {
    const char *format;
    float mean[3], sd[3];
};

static const struct known known[] = {
    {"cifar-10", {0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}},
    {"cifar-100", {0.5071f, 0.4865f, 0.4409f}, {0.2673f, 0.2564f, 0.2762f}},
};

enum { MAX_DIRS = 16 };

/* Cuts "a:b:c" in place. */
static size_t cut_dirs(char *list, const char *dirs[MAX_DIRS])
{
    size_t n = 0;
    char *save = NULL;
    for (char *d = strtok_r(list, ":", &save); d && n < MAX_DIRS;
         d = strtok_r(NULL, ":", &save))
        dirs[n++] = d;
    return n;
}

/* A side in digits up to `end`; 0: it is none. */
static uint32_t read_side(const char *text, const char *end)
{
    uint32_t side = 0;
    for (; text < end && *text >= '0' && *text <= '9' && side <= SB_IMAGE_SIDE_MOST;
         text++)
        side = 10 * side + (uint32_t)(*text - '0');
    return text == end && side <= SB_IMAGE_SIDE_MOST ? side : 0;
}

bool sb_source_size(const char *text, uint32_t *height, uint32_t *width)
{
    const char *cross = strchr(text, 'x');
    *height = *width = 0;
    if (strcmp(text, "auto") == 0)
        return true;
    if (!cross)
        return false;
    *height = read_side(text, cross);
    *width = read_side(cross + 1, text + strlen(text));
    return *height > 0 && *width > 0;
}

/* ---- the sets -------------------------------------------------------------------------- */

sb_status sb_source_find(const struct sb_config *c, const char *name, char *path,
                         size_t size)
{
    char list[SB_CONFIG_PATH];
    const char *dirs[MAX_DIRS];
    memcpy(list, c->data.dir, sizeof list);
    size_t n = cut_dirs(list, dirs);
    if (c->data.last_dir && n < MAX_DIRS)
        dirs[n++] = c->data.last_dir;
    return sb_data_find(name, dirs, n, path, size);
}

static sb_status open_train(struct sb_source *s, const struct sb_config *c,
                            const char *path)
{
    struct sb_open_options o = {.split = SB_SPLIT_TRAIN, .label = c->data.label};
    (void)sb_source_size(c->data.size, &o.height, &o.width); /* checked with the recipe */
    sb_status st = sb_dataset_open_with(&s->train, path, &o);
    if (st == SB_OK && !s->train.labels)
        st = sb_fail(SB_EARG, "%s has no labels to train on", path);
    return st;
}

/* The test part is read like the training part: the same classes, columns and size of
 * images. A set that is all in one has none, unless the recipe names another one. */
static sb_status open_test(struct sb_source *s, const struct sb_config *c,
                           const char *train)
{
    char path[4096];
    struct sb_open_options o = {
        .split = SB_SPLIT_TEST, .label = c->data.label, .like = &s->train};
    bool named = c->data.test[0] != '\0';
    if (!named && s->train.whole)
        return SB_OK;
    sb_status st = named ? sb_source_find(c, c->data.test, path, sizeof path) : SB_OK;
    if (st != SB_OK)
        return st;
    if (named && s->train.whole && strcmp(path, train) == 0)
        return sb_fail(SB_EARG,
                       "data.test = %s: that is what is trained on; leave it "
                       "out, and data.test_share of it is kept for the test",
                       c->data.test);
    st = sb_dataset_open_with(&s->test, named ? path : train, &o);
    if (st == SB_OK && !s->test.labels)
        st = sb_fail(SB_EARG, "%s has no labels to be tested with", path);
    if (st == SB_OK)
        st = sb_dataset_match(&s->train, &s->test);
    s->tests = s->test.n;
    return st;
}

static sb_status open_sets(struct sb_source *s, const struct sb_config *c)
{
    char path[4096];
    sb_status st = sb_source_find(c, c->data.set, path, sizeof path);
    if (st == SB_OK)
        st = open_train(s, c, path);
    return st == SB_OK ? open_test(s, c, path) : st;
}

/* ---- what is held out ------------------------------------------------------------------ */

static sb_status hold_out(struct sb_indices *part, const struct sb_dataset *d,
                          const struct sb_config *c)
{
    double v = c->data.validation;
    struct sb_holdout_options o = {
        .kind = c->data.split == SB_CONFIG_TAIL ? SB_HOLDOUT_TAIL : SB_HOLDOUT_STRATIFIED,
        .limit = c->train.limit,
        .count = v >= 1.0 ? (uint32_t)v : 0,
        .fraction = v < 1.0 ? v : 0.0,
        .seed = c->train.seed,
    };
    return sb_indices_init(part, d, &o);
}

/* The tail of a file that is sorted by class is of one class: nothing is left to learn that
 * class from, or the validation says nothing about the others. */
static sb_status check_tail(const struct sb_indices *part, const struct sb_dataset *d)
{
    enum { TOO_MANY = 8 }; /* fewer of one class may be chance */
    bool sorted = part->valids >= TOO_MANY;
    uint8_t *seen = sb_calloc(d->classes, 1);
    if (!seen)
        return sb_fail(SB_ENOMEM, "no memory for %u classes", d->classes);
    for (uint32_t i = 0; i < part->trains; i++)
        seen[d->labels[part->train[i]]] = 1;
    for (uint32_t i = 1; i < part->valids; i++)
        sorted = sorted && d->labels[part->valid[i]] == d->labels[part->valid[0]];
    for (uint32_t i = 0; i < part->valids; i++)
        sorted = sorted || !seen[d->labels[part->valid[i]]];
    sb_free(seen);
    return sorted
               ? sb_fail(SB_EARG,
                         "%s is sorted by class: its last %u examples, which data.split "
                         "= tail takes for validation, are of one class or all of it; "
                         "say data.split = stratified",
                         d->path, part->valids)
               : SB_OK;
}

/* The examples rest[n] of a set, as far as splitting needs them. */
static sb_status split_rest(struct sb_source *s, const struct sb_config *c,
                            const uint32_t *rest, uint32_t n)
{
    struct sb_dataset view = {.n = n, .classes = s->train.classes, .path = s->train.path};
    view.labels = sb_malloc(n, sizeof *view.labels);
    if (!view.labels)
        return sb_fail(SB_ENOMEM, "no memory to split %u examples", n);
    for (uint32_t i = 0; i < n; i++)
        view.labels[i] = s->train.labels[rest[i]];
    sb_status st = hold_out(&s->part, &view, c);
    if (st == SB_OK && c->data.split == SB_CONFIG_TAIL)
        st = check_tail(&s->part, &view);
    for (uint32_t i = 0; i < s->part.trains && st == SB_OK; i++)
        s->part.train[i] = rest[s->part.train[i]];
    for (uint32_t i = 0; i < s->part.valids && st == SB_OK; i++)
        s->part.valid[i] = rest[s->part.valid[i]];
    sb_free(view.labels);
    return st;
}

/* The same examples are kept for the test whatever the run's seed: runs can be compared. */
static sb_status keep_aside(struct sb_source *s, const struct sb_config *c)
{
    struct sb_indices aside;
    struct sb_holdout_options o = {.kind = SB_HOLDOUT_STRATIFIED,
                                   .fraction = c->data.test_share};
    sb_status st = sb_indices_init(&aside, &s->train, &o);
    if (st != SB_OK)
        return st;
    if (aside.valids == 0)
        st = sb_fail(SB_EARG,
                     "%s has %u examples, of which data.test_share = %g leaves none for "
                     "the test",
                     s->train.path, s->train.n, c->data.test_share);
    if (st == SB_OK)
        st = split_rest(s, c, aside.train, aside.trains);
    s->test_index = aside.valid;
    s->tests = aside.valids;
    aside.valid = NULL;
    sb_indices_fini(&aside);
    return st;
}

/* ---- values ---------------------------------------------------------------------------- */

static sb_status given_values(struct sb_source *s, const struct sb_config *c)
{
    float mean[SB_CONFIG_LIST], sd[SB_CONFIG_LIST];
    uint32_t n = c->data.mean.count;
    if (n != s->train.channels || c->data.sd.count != n)
        return sb_fail(SB_EARG,
                       "data.mean and data.sd have %u and %u values; the images have %u "
                       "channels",
                       n, c->data.sd.count, s->train.channels);
    for (uint32_t i = 0; i < n; i++) {
        mean[i] = (float)c->data.mean.value[i];
        sd[i] = (float)c->data.sd.value[i];
    }
    return sb_normalise_given(&s->normal, s->train.element, n, mean, sd);
}

static sb_status normalise(struct sb_source *s, const struct sb_env *env,
                           const struct sb_config *c)
{
    if (c->data.normalise == SB_CONFIG_VALUES)
        return given_values(s, c);
    for (size_t i = 0; c->data.normalise == SB_CONFIG_NORMALISE_AUTO && i < 2; i++)
        if (strcmp(s->train.format, known[i].format) == 0)
            return sb_normalise_given(&s->normal, SB_BYTES, 3, known[i].mean,
                                      known[i].sd);
    return sb_normalise_computed(&s->normal, env, &s->train, s->part.train,
                                 s->part.trains);
}

sb_status sb_source_open(struct sb_source *s, const struct sb_env *env,
                         const struct sb_config *c)
{
    *s = (struct sb_source){0};
    sb_status st = open_sets(s, c);
    bool apart = s->test.path != NULL;
    if (st == SB_OK)
        st = apart ? hold_out(&s->part, &s->train, c) : keep_aside(s, c);
    if (st == SB_OK)
        st = normalise(s, env, c);
    if (st != SB_OK)
        return st;
    if (c->data.augment == SB_CONFIG_CROP_FLIP)
        s->augment = (struct sb_augment){.pad = c->data.pad, .flip = true};
    s->train_clean = (struct sb_batch_source){.data = &s->train, .normal = &s->normal};
    s->test_clean = (struct sb_batch_source){.data = apart ? &s->test : &s->train,
                                             .normal = &s->normal};
    s->validation = s->train_clean;
    s->validation.seed = c->train.seed;
    if (c->data.augment_validation)
        s->validation.augment = s->augment;
    return SB_OK;
}

void sb_source_fini(struct sb_source *s)
{
    if (!s)
        return;
    sb_dataset_fini(&s->train);
    sb_dataset_fini(&s->test);
    sb_indices_fini(&s->part);
    sb_free(s->test_index);
    sb_normalise_fini(&s->normal);
    *s = (struct sb_source){0};
}
