/* sebays_data - the part of include/sebays.h about data sets. */
#include <string.h>

#include "base/mem.h"
#include "data/dataset.h"
#include "data/info.h"
#include "data/sheet.h"
#include "sebays.h"

enum { PATH_BYTES = 4096 };

struct sebays_data {
    struct sb_dataset set;
    enum sb_split split;
};

static enum sb_split split_of(enum sebays_split split)
{
    return split == SEBAYS_TRAIN ? SB_SPLIT_TRAIN : SB_SPLIT_TEST;
}

static sb_status find(const char *name_or_path, const char *data_dir,
                      char path[PATH_BYTES])
{
    const char *dirs[] = {"data", data_dir};
    return sb_data_find(name_or_path, dirs, data_dir ? 2 : 1, path, PATH_BYTES);
}

sebays_status sebays_data_open(const char *name_or_path, const char *data_dir,
                               enum sebays_split split, struct sebays_data **out)
{
    char path[PATH_BYTES];
    *out = NULL;
    sb_status st = find(name_or_path, data_dir, path);
    if (st != SB_OK)
        return (sebays_status)st;
    struct sebays_data *d = sb_calloc(1, sizeof *d);
    if (!d)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory for a data set");
    d->split = split_of(split);
    st = sb_dataset_open(&d->set, path, d->split);
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
    *out = NULL;
    sb_status st = sb_data_info_init(&i, &data->set, data->split);
    if (st == SB_OK)
        st = json ? sb_data_info_json(&i, out) : sb_data_info_text(&i, out);
    sb_data_info_fini(&i);
    return (sebays_status)st;
}

sebays_status sebays_data_sheet(const struct sebays_data *data, const char *png)
{
    return (sebays_status)sb_sheet_of_classes(&data->set, png);
}
