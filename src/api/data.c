/* sebays_data - the part of include/sebays.h about data sets. */
#include <string.h>

#include "api/callbacks.h"
#include "api/need.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/text.h"
#include "base/threads.h"
#include "corrupt/corrupt_set.h"
#include "data/catalogue.h"
#include "data/convert.h"
#include "data/dataset.h"
#include "data/info.h"
#include "data/sheet.h"
#include "fetch/fetch.h"
#include "kernels/kernels.h"
#include "readers/readers.h"
#include "sebays.h"

/* Seconds before a download is tried for the second time. */
static const double fetch_pause = 1.0;

struct sebays_data {
    struct sb_dataset set;
    enum sb_split split;
};

/* Where names are looked for; dirs[2], returns how many. */
static size_t places(const char *data_dir, const char *dirs[2])
{
    dirs[0] = "data";
    dirs[1] = data_dir;
    return data_dir ? 2 : 1;
}

sebays_status sebays_data_open(const char *name_or_path,
                               const struct sebays_data_options *options,
                               struct sebays_data **out)
{
    char path[SB_PATH_BYTES];
    const char *dirs[2];
    const struct sebays_data_options none = {0};
    SB_NEED(out);
    *out = NULL;
    SB_NEED(name_or_path);
    options = options ? options : &none;
    size_t n = places(options->data_dir, dirs);
    sb_status st = sb_data_find(name_or_path, dirs, n, path, sizeof path);
    if (st != SB_OK)
        return (sebays_status)st;
    struct sebays_data *d = sb_calloc(1, sizeof *d);
    if (!d)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory for a data set");
    d->split = options->split == SEBAYS_TRAIN ? SB_SPLIT_TRAIN : SB_SPLIT_TEST;
    struct sb_open_options o = {.split = d->split,
                                .label = options->label,
                                .like = options->like ? &options->like->set : NULL,
                                .ignore = options->ignore,
                                .look = options->look,
                                .impute = true};
    st = sb_dataset_open_with(&d->set, path, &o);
    if (st == SB_OK)
        *out = d;
    else
        sebays_data_free(d);
    return (sebays_status)st;
}

void sebays_data_free(struct sebays_data *data)
{
    if (!data)
        return;
    sb_dataset_fini(&data->set);
    sb_free(data);
}

sebays_status sebays_data_info(const struct sebays_data *data, bool json, char **out)
{
    struct sb_data_info i;
    SB_NEED(out);
    *out = NULL;
    SB_NEED(data);
    sb_status st = sb_data_info_init(&i, &data->set, data->split);
    if (st == SB_OK)
        st = json ? sb_data_info_json(&i, out) : sb_data_info_text(&i, out);
    sb_data_info_fini(&i);
    return (sebays_status)st;
}

sebays_status sebays_data_sheet(const struct sebays_data *data, const char *png)
{
    SB_NEED(data);
    SB_NEED(png);
    return (sebays_status)sb_sheet_of_classes(&data->set, png);
}

sebays_status sebays_data_convert(const struct sebays_data *data, const char *dir)
{
    SB_NEED(data);
    SB_NEED(dir);
    return (sebays_status)sb_convert_npy(&data->set, data->split, dir);
}

enum sebays_split sebays_data_split(const struct sebays_data *data)
{
    return !data || data->split == SB_SPLIT_TRAIN ? SEBAYS_TRAIN : SEBAYS_TEST;
}

bool sebays_data_whole(const struct sebays_data *data)
{
    return data && data->set.whole;
}

/* ---- by name ---- */

sebays_status sebays_data_list(const char *data_dir, char **out)
{
    struct sb_text t = {0};
    char path[SB_PATH_BYTES];
    const char *dirs[2];
    size_t n = places(data_dir, dirs);
    SB_NEED(out);
    sb_text_add(&t, "%-14s %-43s %10s  %s\n", "name", "what", "download", "where");
    for (size_t i = 0; i < sb_catalogue_rows(); i++) {
        const struct sb_catalogue_row *row = sb_catalogue_row(i);
        bool found = sb_data_find(row->name, dirs, n, path, sizeof path) == SB_OK;
        sb_text_add(&t, "%-14s %-43s %7.1f MB  %s%s\n", row->name, row->what,
                    1e-6 * (double)sb_catalogue_size(row),
                    found ? path : "not here: sebays data fetch ",
                    found ? "" : row->name);
    }
    return (sebays_status)sb_text_take(&t, out);
}

static sb_status unknown(const char *name)
{
    struct sb_nearest near = sb_nearest_begin(name);
    for (size_t i = 0; i < sb_catalogue_rows(); i++)
        sb_nearest_offer(&near, sb_catalogue_row(i)->name);
    return sb_fail(SB_EARG,
                   "there is no data set '%s' to fetch; the nearest is '%s', and 'sebays "
                   "data list' shows all",
                   name, near.best);
}

sebays_status sebays_data_fetch(const char *name,
                                const struct sebays_fetch_options *options, char **out,
                                bool *there)
{
    const struct sebays_fetch_options none = {0};
    SB_NEED(out);
    SB_NEED(there);
    *out = NULL;
    *there = false;
    SB_NEED(name);
    options = options ? options : &none;
    struct sb_callbacks c = {.progress = options->progress,
                             .progress_context = options->progress_context,
                             .log = options->log,
                             .log_context = options->log_context};
    char path[SB_PATH_BYTES];
    struct sb_text t = {0};
    sb_callbacks_begin(&c, options->progress_seconds);
    struct sb_fetch_options o = {.row = sb_catalogue_find(name),
                                 .directory = options->data_dir,
                                 .base = options->url,
                                 .pause = fetch_pause,
                                 .progress = sb_callbacks_progress(&c),
                                 .log = sb_callbacks_log(&c)};
    if (!o.row)
        return (sebays_status)unknown(name);
    if (!o.directory)
        return (sebays_status)sb_fail(SB_EARG, "fetching needs a data directory");
    sb_status st = sb_fetch(&o, path, there);
    if (st != SB_OK)
        return (sebays_status)st;
    sb_text_add(&t, "%s", path);
    return (sebays_status)sb_text_take(&t, out);
}

/* ---- corruptions ---- */

sebays_status sebays_data_corrupt(const struct sebays_data *data,
                                  const struct sebays_corrupt_options *options)
{
    const struct sebays_corrupt_options none = {0}, *o = options ? options : &none;
    SB_NEED(data);
    if (o->threads > SB_API_THREADS)
        return (sebays_status)sb_fail(SB_EARG, "corrupt: %u threads; at most %d work",
                                      o->threads, SB_API_THREADS);
    struct sb_callbacks c = {.progress = o->progress,
                             .progress_context = o->progress_context};
    struct sb_env env = {.threads =
                             o->threads ? (int)o->threads : sb_threads_available()};
    sb_callbacks_begin(&c, o->progress_seconds);
    struct sb_corrupt_set set = {.data = &data->set,
                                 .first = o->first_severity ? o->first_severity : 1,
                                 .last =
                                     o->last_severity ? o->last_severity : SB_SEVERITIES,
                                 .seed = o->seed,
                                 .progress = sb_callbacks_progress(&c)};
    sb_status st = sb_corrupt_set_kinds(o->kinds ? o->kinds : "all", set.kinds);
    if (st == SB_OK)
        st = sb_kernels_choose(NULL, &env.kernels);
    if (st == SB_OK && o->sheet)
        st = sb_corrupt_set_sheet(&set, &env, 0, o->sheet);
    if (st == SB_OK && o->out)
        st = sb_corrupt_set_write(&set, &env, o->out);
    return (sebays_status)st;
}
