/* sebays_feed - the part of include/sebays.h about the prediction of files. */
#include <string.h>

#include "base/mem.h"
#include "predict/feed.h"
#include "sebays_callbacks.h"
#include "sebays_model.h"

_Static_assert(SEBAYS_FEED_BATCH == SB_FEED_BATCH, "the header says how many");

enum { PATH_BYTES = 4096 };

struct sebays_feed {
    struct sb_feed feed;
    struct sb_callbacks calls;
    char path[PATH_BYTES], name[SB_FEED_NAME];
};

static sb_status find(const char *name_or_path, const char *data_dir,
                      char out[PATH_BYTES])
{
    const char *dirs[] = {"data", data_dir};
    if (strcmp(name_or_path, "-") != 0)
        return sb_data_find(name_or_path, dirs, data_dir ? 2 : 1, out, PATH_BYTES);
    memcpy(out, "-", sizeof "-");
    return SB_OK;
}

sebays_status sebays_feed_open(const struct sebays_model *model, const char *name_or_path,
                               const struct sebays_feed_options *options,
                               struct sebays_feed **out)
{
    struct sebays_feed_options o = {0};
    if (options)
        o = *options;
    *out = NULL;
    struct sebays_feed *made = sb_calloc(1, sizeof *made);
    if (!made)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory for a feed");
    made->calls = (struct sb_callbacks){.progress = o.progress,
                                        .progress_context = o.progress_context};
    sb_callbacks_begin(&made->calls, o.progress_seconds);
    struct sb_feed_options f = {.model = &model->model,
                                .path = made->path,
                                .split = o.train ? SB_SPLIT_TRAIN : SB_SPLIT_TEST,
                                .progress = sb_callbacks_progress(&made->calls)};
    sb_status st = find(name_or_path, o.data_dir, made->path);
    if (st == SB_OK)
        st = sb_feed_init(&made->feed, &f);
    if (st == SB_OK)
        *out = made;
    else
        sebays_feed_free(made);
    return (sebays_status)st;
}

void sebays_feed_free(struct sebays_feed *feed)
{
    if (!feed)
        return;
    sb_feed_fini(&feed->feed);
    sb_free(feed);
}

uint64_t sebays_feed_count(const struct sebays_feed *feed)
{
    return sb_feed_count(&feed->feed);
}

sebays_status sebays_feed_predict(struct sebays_feed *feed,
                                  struct sebays_predictor *predictor, size_t most,
                                  const struct sebays_prediction *out, size_t *got)
{
    struct sb_answers answers = sb_answers_of(out);
    *got = 0;
    if (predictor->predictor.model != feed->feed.o.model)
        return (sebays_status)sb_fail(SB_EARG, "feed: the predictor is of another model");
    return (sebays_status)sb_feed_next(&feed->feed, &predictor->predictor, most, &answers,
                                       got);
}

const char *sebays_feed_name(struct sebays_feed *feed, size_t i)
{
    return sb_feed_name(&feed->feed, i, feed->name) ? feed->name : NULL;
}
