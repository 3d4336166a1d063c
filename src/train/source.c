/* source - see source.h. */
#include "train/source.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/columns.h"
#include "files/image.h"
#include "readers/readers.h"

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
    sb_status st = sb_data_find(name, dirs, n, path, size);
    const char *slash = strrchr(name, '/');
    if (st == SB_OK || !slash || !slash[1])
        return st;
    /* A run remembers where its data was. Elsewhere it is still called the same. */
    if (sb_data_find(slash + 1, dirs, n, path, size) == SB_OK)
        return SB_OK;
    return sb_data_find(name, dirs, n, path, size);
}

/* What arrays of labels are called: who names one gets what he asks for. */
static bool is_array(const char *label)
{
    static const char *const names[] = {"y", "labels", "y_train", "train_labels"};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && strcmp(names[i], label) != 0)
        i++;
    return i < sizeof names / sizeof *names;
}

/* Of a set without columns by name: something else than the one named would be used. */
static sb_status refuse_names(const struct sb_config *c, const char *path)
{
    const struct {
        const char *option, *value;
    } named[] = {{"label", is_array(c->data.label) ? "" : c->data.label},
                 {"ignore", c->data.ignore},
                 {"group", c->data.group}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].value[0])
            return sb_fail(
                SB_EARG,
                "data.%s = %s: %s is no table as text; only those have columns "
                "by name; leave it out",
                named[i].option, named[i].value, path);
    return SB_OK;
}

static sb_status open_train(struct sb_source *s, const struct sb_config *c,
                            const char *path)
{
    struct sb_open_options o = sb_source_options(c, SB_SPLIT_TRAIN);
    (void)sb_image_size(c->data.size, &o.height, &o.width); /* checked with the recipe */
    sb_status st = sb_dataset_open_with(&s->train, path, &o);
    if (st == SB_OK && !sb_dataset_labelled(&s->train))
        st = sb_fail(SB_EARG, "%s has no labels to train on", path);
    if (st == SB_OK && c->data.task == SB_CONFIG_REGRESSION && !s->train.targets)
        st = sb_fail(
            SB_EARG,
            "data.task = regression: %s has classes; continuous targets come from "
            "tables and .npy or .npz arrays",
            path);
    if (st == SB_OK && !s->train.columns)
        st = refuse_names(c, path);
    if (st == SB_OK && c->data.weight[0] && !s->train.weights)
        st = sb_fail(SB_EARG,
                     "data.weight = %s: %s is neither a table as text nor a set of NumPy "
                     "arrays by name",
                     c->data.weight, path);
    return st == SB_OK ? sb_dataset_drop(&s->train) : st;
}

/* The test part is read like the training part: the same classes, columns and size of
 * images. A set that is all in one has none, unless the recipe names another one. */
static sb_status open_test(struct sb_source *s, const struct sb_config *c,
                           const char *train)
{
    char path[SB_PATH_BYTES];
    struct sb_open_options o = sb_source_options(c, SB_SPLIT_TEST);
    o.like = &s->train;
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
    if (st == SB_OK && !sb_dataset_labelled(&s->test))
        st = sb_fail(SB_EARG, "%s has no labels to be tested with", s->test.path);
    if (st == SB_OK)
        st = sb_dataset_match(&s->train, &s->test);
    s->tests = s->test.n;
    return st;
}

static sb_status open_sets(struct sb_source *s, const struct sb_env *env,
                           const struct sb_config *c)
{
    char found[SB_PATH_BYTES];
    const char *path = c->data.set_path ? c->data.set_path : found;
    sb_status st =
        c->data.set_path ? SB_OK : sb_source_find(c, c->data.set, found, sizeof found);
    if (st == SB_OK && !c->data.set_path && strchr(c->data.set, '/') &&
        strcmp(path, c->data.set) != 0)
        sb_log_write(env->log, SB_LOG_WARN,
                     "there is no data set at %s; the one of that name at %s is used",
                     c->data.set, path);
    if (st == SB_OK)
        st = open_train(s, c, path);
    return st == SB_OK ? open_test(s, c, path) : st;
}

static void tell_task(const struct sb_dataset *d, const struct sb_env *env,
                      const struct sb_config *c)
{
    if (c->data.task != SB_CONFIG_TASK_AUTO)
        return;
    sb_source_tell_whole(d, env);
    if (d->targets)
        sb_log_write(env->log, SB_LOG_INFO,
                     "%s: %s%s %s continuous, so this is regression; if the numbers are "
                     "classes, say data.task = classification",
                     d->path, d->target_names[0],
                     d->target_count > 1 ? " and other targets" : "",
                     d->target_count > 1 ? "are" : "is");
}

/* ---- what is held out ------------------------------------------------------------------ */

/* The same examples are kept for the test whatever the run's seed: runs can be compared. */
static sb_status keep_aside(struct sb_source *s, const struct sb_config *c)
{
    struct sb_indices aside;
    struct sb_holdout_options o = {.kind = s->train.labels ? SB_HOLDOUT_STRATIFIED
                                                           : SB_HOLDOUT_RANDOM,
                                   .fraction = c->data.test_share};
    if (s->train.n * o.fraction + 0.5 >= s->train.n)
        return sb_fail(SB_EARG,
                       "%s has %u examples, of which data.test_share = %g leaves none to "
                       "train on; say a smaller one",
                       s->train.path, s->train.n, c->data.test_share);
    sb_status st = sb_indices_init(&aside, &s->train, &o);
    if (st != SB_OK)
        return st;
    if (aside.validation_count == 0 && c->data.test_share > 0)
        st = sb_fail(SB_EARG,
                     "%s has %u examples, of which data.test_share = %g leaves none for "
                     "the test; say 0 if there is to be none",
                     s->train.path, s->train.n, c->data.test_share);
    s->rest = aside.train;
    s->rests = aside.train_count;
    s->test_index = aside.valid;
    s->tests = aside.validation_count;
    aside.train = aside.valid = NULL;
    sb_indices_fini(&aside);
    return st;
}

/* ---- values ---------------------------------------------------------------------------- */

static sb_status given_values(struct sb_source *s, const struct sb_config *c)
{
    float mean[SB_CONFIG_LIST], sd[SB_CONFIG_LIST];
    uint32_t n = c->data.mean.count;
    if (s->train.columns && s->train.columns->features != s->train.channels)
        return sb_fail(SB_EARG,
                       "data.normalise = values: the features of %s are made of "
                       "its columns; say computed",
                       s->train.path);
    if (n != s->train.channels || c->data.sd.count != n)
        return sb_fail(SB_EARG,
                       "data.mean and data.sd have %u and %u values; the images have %u "
                       "channels",
                       n, c->data.sd.count, s->train.channels);
    for (uint32_t i = 0; i < n; i++) {
        mean[i] = (float)c->data.mean.value[i];
        sd[i] = (float)c->data.sd.value[i];
    }
    sb_status st = sb_normalise_given(&s->normal, s->train.element, n, mean, sd);
    s->normal.columns = s->train.columns;
    return st;
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
                                 s->part.train_count);
}

sb_status sb_source_begin(struct sb_source *s, const struct sb_env *env,
                          const struct sb_config *c, struct sb_facts *facts)
{
    *s = (struct sb_source){0};
    sb_status st = open_sets(s, env, c);
    if (st == SB_OK)
        st = sb_source_check_classes(&s->train, env);
    if (st == SB_OK) {
        sb_source_warn(&s->train, env, c->data.header == SB_CONFIG_HEADER_AUTO);
        tell_task(&s->train, env, c);
    }
    s->whole = s->test.path == NULL;
    if (st == SB_OK && s->whole)
        st = keep_aside(s, c);
    if (st != SB_OK)
        return st;
    uint32_t rows = s->whole ? s->rests : s->train.n, limit = c->train.limit;
    *facts = (struct sb_facts){
        .table = sb_dataset_tabular(&s->train),
        .rows = limit > 0 && limit < rows ? limit : rows,
        .classes = s->train.classes,
        .columns = s->train.columns ? s->train.columns->inputs : s->train.channels,
        .features = s->train.columns ? s->train.columns->features : s->train.channels,
        .usual = sb_indices_usual(&s->train),
    };
    return SB_OK;
}

sb_status sb_source_prepare(struct sb_source *s, const struct sb_env *env,
                            const struct sb_config *c)
{
    sb_status st = s->whole ? sb_source_split(s, c, s->rest, s->rests)
                            : sb_source_split(s, c, NULL, s->train.n);
    if (st == SB_OK)
        st = sb_source_encode(s, env, c);
    if (st == SB_OK)
        st = normalise(s, env, c);
    if (st == SB_OK)
        sb_source_warn_constant(s, env);
    if (st == SB_OK && s->train.targets)
        st = sb_target_scale_init(&s->scale, &s->train, s->part.train,
                                  s->part.train_count);
    if (st == SB_OK && s->train.targets)
        sb_source_warn_rounded(s, env);
    if (st == SB_OK)
        st = sb_source_weigh(s, c->train.class_weights == SB_CONFIG_BALANCED);
    if (st != SB_OK)
        return st;
    if (c->data.augment == SB_CONFIG_CROP_FLIP)
        s->augment = (struct sb_augment){.pad = c->data.pad, .flip = true};
    s->train_clean = (struct sb_batch_source){.data = &s->train, .normal = &s->normal};
    s->test_clean = (struct sb_batch_source){.data = s->whole ? &s->train : &s->test,
                                             .normal = &s->normal};
    s->validation = s->train_clean;
    s->validation.seed = c->train.seed;
    sb_source_warn_overlap(s, env, s->test_clean.data, s->test_index, s->tests);
    if (c->data.augment_validation)
        s->validation.augment = s->augment;
    return SB_OK;
}

enum sb_likelihood_kind sb_source_likelihood(const struct sb_source *s,
                                             const struct sb_config *c)
{
    return !s->train.targets                          ? SB_LIKELIHOOD_CATEGORICAL
           : c->model.noise == SB_CONFIG_NOISE_SHARED ? SB_LIKELIHOOD_GAUSS_SHARED
                                                      : SB_LIKELIHOOD_GAUSS_PER_EXAMPLE;
}

struct sb_arch_shape sb_source_shape(const struct sb_source *s, const struct sb_config *c)
{
    const struct sb_dataset *d = &s->train;
    enum sb_likelihood_kind likelihood = sb_source_likelihood(s, c);
    uint32_t predicted = d->targets ? d->target_count : d->classes;
    return (struct sb_arch_shape){.name = c->model.arch,
                                  .channels = s->normal.channels,
                                  .height = d->height,
                                  .width = d->width,
                                  .classes =
                                      predicted * sb_likelihood_row(likelihood)->outputs,
                                  .likelihood = likelihood};
}

sb_status sb_source_open(struct sb_source *s, const struct sb_env *env,
                         const struct sb_config *c)
{
    struct sb_facts facts;
    sb_status st = sb_source_begin(s, env, c, &facts);
    return st == SB_OK ? sb_source_prepare(s, env, c) : st;
}

void sb_source_fini(struct sb_source *s)
{
    if (!s)
        return;
    sb_dataset_fini(&s->train);
    sb_dataset_fini(&s->test);
    sb_indices_fini(&s->part);
    sb_free(s->test_index);
    sb_free(s->calibration);
    sb_target_scale_fini(&s->scale);
    sb_free(s->rest);
    sb_free(s->weight);
    sb_normalise_fini(&s->normal);
    *s = (struct sb_source){0};
}
