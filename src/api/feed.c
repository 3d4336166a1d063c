/* sebays_feed - the part of include/sebays.h about the prediction of files. */
#include <string.h>

#include "api/callbacks.h"
#include "api/model.h"
#include "api/need.h"
#include "base/mem.h"
#include "base/path.h"
#include "predict/feed.h"

_Static_assert(SEBAYS_FEED_BATCH == SB_FEED_BATCH, "the header says how many");

struct sebays_feed {
    struct sb_feed feed;
    struct sb_callbacks calls;
    char path[SB_PATH_BYTES], name[SB_FEED_NAME], note[SB_FEED_NOTE];
    char *keep; /* owned; may be NULL */
};

static sb_status find(const char *name_or_path, const char *data_dir,
                      char out[SB_PATH_BYTES])
{
    const char *dirs[] = {"data", data_dir};
    if (strcmp(name_or_path, "-") != 0)
        return sb_data_find(name_or_path, dirs, data_dir ? 2 : 1, out, SB_PATH_BYTES);
    memcpy(out, "-", sizeof "-");
    return SB_OK;
}

static sb_status copy_keep(struct sebays_feed *f, const char *keep)
{
    size_t size = keep ? strlen(keep) + 1 : 0;
    if (size <= 1)
        return SB_OK;
    f->keep = sb_malloc(size, 1);
    if (!f->keep)
        return sb_fail(SB_ENOMEM, "no memory for a feed");
    memcpy(f->keep, keep, size);
    return SB_OK;
}

sebays_status sebays_feed_open(const struct sebays_model *model, const char *name_or_path,
                               const struct sebays_feed_options *options,
                               struct sebays_feed **out)
{
    struct sebays_feed_options o = {0};
    if (options)
        o = *options;
    SB_NEED(out);
    *out = NULL;
    SB_NEED(model);
    SB_NEED(name_or_path);
    struct sebays_feed *made = sb_calloc(1, sizeof *made);
    if (!made)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory for a feed");
    made->calls = (struct sb_callbacks){.progress = o.progress,
                                        .progress_context = o.progress_context};
    sb_callbacks_begin(&made->calls, o.progress_seconds);
    sb_status st = copy_keep(made, o.keep);
    struct sb_feed_options f = {.model = &model->model,
                                .path = made->path,
                                .keep = made->keep,
                                .share = sebays_ranks_rank(o.ranks),
                                .shares = sebays_ranks_size(o.ranks),
                                .split = o.train ? SB_SPLIT_TRAIN : SB_SPLIT_TEST,
                                .progress = sb_callbacks_progress(&made->calls)};
    if (st == SB_OK)
        st = find(name_or_path, o.data_dir, made->path);
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
    sb_free(feed->keep);
    sb_free(feed);
}

uint64_t sebays_feed_count(const struct sebays_feed *feed)
{
    return feed ? sb_feed_count(&feed->feed) : 0;
}

uint64_t sebays_feed_first(const struct sebays_feed *feed)
{
    return feed ? sb_feed_first(&feed->feed) : 0;
}

/* The next examples, once it is known what is wanted of them. */
static sb_status next(struct sebays_feed *feed, struct sebays_predictor *predictor,
                      size_t most, const struct sb_predictions *predictions, size_t *got)
{
    if (predictor->predictor.model != feed->feed.o.model)
        return sb_fail(SB_EARG, "feed: the predictor is of another model");
    return sb_feed_next(&feed->feed, &predictor->predictor, most, predictions, got);
}

sebays_status sebays_feed_predict(struct sebays_feed *feed,
                                  struct sebays_predictor *predictor, size_t most,
                                  const struct sebays_prediction *out, size_t *got)
{
    struct sb_predictions predictions;
    SB_NEED(got);
    *got = 0;
    SB_NEED(feed);
    SB_NEED(predictor);
    SB_NEED(out);
    sb_status st = sb_predictions_of(feed->feed.o.model, out, &predictions);
    return (sebays_status)(st == SB_OK ? next(feed, predictor, most, &predictions, got)
                                       : st);
}

sebays_status sebays_feed_outcomes(struct sebays_feed *feed,
                                   struct sebays_predictor *predictor, size_t most,
                                   const struct sebays_outcomes *out, size_t *got)
{
    struct sb_predictions predictions;
    SB_NEED(got);
    *got = 0;
    SB_NEED(feed);
    SB_NEED(predictor);
    SB_NEED(out);
    sb_status st = sb_predictions_of_outcomes(feed->feed.o.model, out, &predictions);
    return (sebays_status)(st == SB_OK ? next(feed, predictor, most, &predictions, got)
                                       : st);
}

const char *sebays_feed_name(struct sebays_feed *feed, size_t i)
{
    return feed && sb_feed_name(&feed->feed, i, feed->name) ? feed->name : NULL;
}

uint32_t sebays_feed_keeps(const struct sebays_feed *feed)
{
    return feed ? sb_feed_keeps(&feed->feed) : 0;
}

const char *sebays_feed_keep_name(const struct sebays_feed *feed, uint32_t k)
{
    return feed ? sb_feed_keep_name(&feed->feed, k) : NULL;
}

const char *sebays_feed_keep_text(const struct sebays_feed *feed, size_t i, uint32_t k)
{
    return feed ? sb_feed_keep_text(&feed->feed, i, k) : NULL;
}

const char *sebays_feed_note(struct sebays_feed *feed)
{
    return feed && sb_feed_note(&feed->feed, feed->note) ? feed->note : NULL;
}
