/* source - see source.h. */
#include "train/source.h"

#include <string.h>

#include "data/image.h"

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

/* The test part is read like the training part: the same classes and size of images. */
static sb_status open_parts(struct sb_source *s, const struct sb_config *c,
                            const char *path)
{
    struct sb_open_options o = {.split = SB_SPLIT_TRAIN};
    (void)sb_source_size(c->data.size, &o.height, &o.width); /* checked with the recipe */
    sb_status st = sb_dataset_open_with(&s->train, path, &o);
    if (st != SB_OK)
        return st;
    if (s->train.whole)
        return sb_fail(SB_EARG,
                       "%s is all in one, without a part for the test; put that apart, "
                       "in a folder or file named test beside one named train",
                       path);
    o = (struct sb_open_options){.split = SB_SPLIT_TEST, .like = &s->train};
    return sb_dataset_open_with(&s->test, path, &o);
}

static sb_status open_sets(struct sb_source *s, const struct sb_config *c)
{
    char list[SB_CONFIG_PATH], path[4096];
    const char *dirs[MAX_DIRS];
    memcpy(list, c->data.dir, sizeof list);
    size_t n = cut_dirs(list, dirs);
    if (c->data.last_dir && n < MAX_DIRS)
        dirs[n++] = c->data.last_dir;
    sb_status st = sb_data_find(c->data.set, dirs, n, path, sizeof path);
    if (st == SB_OK)
        st = open_parts(s, c, path);
    if (st == SB_OK)
        st = sb_dataset_match(&s->train, &s->test);
    return st;
}

static sb_status hold_out(struct sb_source *s, const struct sb_config *c)
{
    double v = c->data.validation;
    struct sb_holdout_options o = {
        .kind = c->data.split == SB_CONFIG_TAIL ? SB_HOLDOUT_TAIL : SB_HOLDOUT_STRATIFIED,
        .limit = c->train.limit,
        .count = v >= 1.0 ? (uint32_t)v : 0,
        .fraction = v < 1.0 ? v : 0.0,
        .seed = c->train.seed,
    };
    return sb_indices_init(&s->part, &s->train, &o);
}

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
    if (st == SB_OK)
        st = hold_out(s, c);
    if (st == SB_OK)
        st = normalise(s, env, c);
    if (st != SB_OK)
        return st;
    if (c->data.augment == SB_CONFIG_CROP_FLIP)
        s->augment = (struct sb_augment){.pad = c->data.pad, .flip = true};
    s->train_clean = (struct sb_batch_source){.data = &s->train, .normal = &s->normal};
    s->test_clean = (struct sb_batch_source){.data = &s->test, .normal = &s->normal};
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
    sb_normalise_fini(&s->normal);
    *s = (struct sb_source){0};
}
