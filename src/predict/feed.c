/* feed - see feed.h. */
#include "predict/feed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "data/adapt.h"
#include "data/columns.h"
#include "data/reader.h"
#include "predict/gather.h"
#include "predict/kept.h"
#include "readers/readers.h"
#include "readers/table.h"

enum { ROOM_BYTES = 1 << 25 }; /* for a batch of examples, unless one needs more */

/* Where a model's columns come from, for messages. */
static const char like[] = "the training data";

static bool takes_rows(const struct sb_model_info *i)
{
    return i->height == 1 && i->width == 1;
}

/* ---- tables as text ------------------------------------------------------------------ */

/* A model of arrays knows no columns: they are its features and then perhaps a label or
 * targets. */
static sb_status plain_columns(struct sb_columns **out, uint32_t features,
                               uint32_t targets)
{
    sb_status st = sb_columns_new(out, features + (targets > 0 ? targets : 1));
    if (st != SB_OK)
        return st;
    for (uint32_t i = 0; i < targets; i++) {
        (*out)->column[features + i].kind = SB_COLUMN_TARGET;
        (*out)->column[features + i].input = i;
    }
    (*out)->targets = targets;
    if (targets == 0) {
        (*out)->column[features].kind = SB_COLUMN_LABEL;
        (*out)->label = features;
    }
    return sb_columns_number(*out, like);
}

static sb_status find_columns(struct sb_feed *f)
{
    const struct sb_model_info *i = &f->o.model->info;
    if (i->columns)
        return sb_predict_columns(i, &f->columns);
    sb_status st = plain_columns(&f->columns, i->channels, i->targets);
    if (st == SB_OK)
        f->columns->impute = sb_missing_taken(i, NULL);
    return st;
}

static sb_status idle(void *context)
{
    const struct sb_feed *f = context;
    return sb_progress_update(f->o.progress, f->done);
}

static sb_status open_rows(struct sb_feed *f, const char *path, int fd)
{
    const struct sb_model_info *i = &f->o.model->info;
    if (!takes_rows(i))
        return sb_fail(SB_EARG,
                       "%s is a table, but the model takes images of %u x %u x %u", path,
                       i->channels, i->height, i->width);
    sb_status st = find_columns(f);
    struct sb_rows_options o = {.path = path,
                                .fd = fd,
                                .columns = f->columns,
                                .like = like,
                                .keep = f->o.keep,
                                .idle = idle,
                                .context = f};
    if (st == SB_OK)
        st = sb_rows_init(&f->rows, &o);
    if (st != SB_OK)
        return st;
    uint64_t done, total;
    sb_rows_place(&f->rows, &done, &total);
    if (total > 0)
        sb_progress_begin_bytes(f->o.progress, "predict", 0, total);
    else
        sb_progress_begin(f->o.progress, "predict", 0, 0);
    return SB_OK;
}

/* ---- data sets ----------------------------------------------------------------------- */

/* What the set has and what the model takes are both images, or both rows. */
static sb_status check_kind(const struct sb_dataset *d, const struct sb_model_info *i,
                            uint32_t inputs)
{
    bool rows = takes_rows(i), has_rows = d->height == 1 && d->width == 1;
    if (rows && !has_rows)
        return sb_fail(SB_EARG,
                       "%s has images of %u x %u x %u, but the model takes rows of %u "
                       "features",
                       d->path, d->channels, d->height, d->width, inputs);
    if (has_rows && !rows)
        return sb_fail(SB_EARG,
                       "%s has rows of %u features, but the model takes images of %u x "
                       "%u x %u",
                       d->path, d->channels, i->channels, i->height, i->width);
    if (rows && d->channels != inputs)
        return sb_fail(SB_EARG, "%s has rows of %u features, but the model takes %u",
                       d->path, d->channels, inputs);
    return SB_OK;
}

static sb_status open_set(struct sb_feed *f)
{
    const struct sb_model_info *i = &f->o.model->info;
    if (f->o.keep && *f->o.keep)
        return sb_fail(SB_EARG,
                       "%s is no table as text; only of those can columns be kept",
                       f->o.path);
    sb_status st = sb_predict_columns(i, &f->known);
    if (st != SB_OK)
        return st;
    uint32_t inputs = f->known ? f->known->inputs : i->channels;
    const struct sb_image_shape shape = {inputs, i->height, i->width};
    /* Image files become the model's shape at once, as in training. */
    const struct sb_dataset same = {.element = SB_BYTES,
                                    .channels = i->channels,
                                    .height = i->height,
                                    .width = i->width,
                                    .path = (char *)(uintptr_t)like};
    struct sb_open_options o = {.split = f->o.split,
                                .like = takes_rows(i) ? NULL : &same,
                                .unlabelled = true,
                                .any_name = true,
                                .impute = sb_missing_taken(i, f->known)};
    st = sb_dataset_open_with(&f->set, f->o.path, &o);
    if (st == SB_OK)
        st = check_kind(&f->set, i, inputs);
    if (st == SB_OK)
        st = sb_adapt(&f->view, &f->set, &shape);
    if (st != SB_OK)
        return st;
    sb_progress_begin(f->o.progress, "predict", 0, f->set.n);
    return SB_OK;
}

/* ---- life ---------------------------------------------------------------------------- */

static sb_status open_path(struct sb_feed *f)
{
    const char *path = f->o.path;
    char part[SB_PATH_BYTES];
    const struct sb_reader *reader;
    struct sb_probe probe;
    if (strcmp(path, "-") == 0)
        return open_rows(f, "standard input", STDIN_FILENO);
    sb_status st = sb_reader_find(&sb_readers, path, &probe, &reader);
    if (st != SB_OK)
        return st;
    if (!reader->lines)
        return open_set(f);
    st = sb_table_find(&probe, f->o.split, part);
    return st == SB_OK ? open_rows(f, part, -1) : st;
}

sb_status sb_feed_init(struct sb_feed *f, const struct sb_feed_options *o)
{
    *f = (struct sb_feed){.o = *o};
    if (o->shares > 1 && strcmp(o->path, "-") == 0)
        return sb_fail(SB_EARG,
                       "standard input comes to one process only; name a file "
                       "that all %u processes can read",
                       o->shares);
    sb_status st = open_path(f);
    if (st != SB_OK)
        return st;
    size_t size =
        f->columns ? f->columns->inputs * sizeof(float) : sb_gather_bytes(&f->view);
    f->batch = SB_FEED_BATCH;
    if (!f->columns && !f->view.fetch)
        return SB_OK;
    if (size > ROOM_BYTES / SB_FEED_BATCH)
        f->batch = size < ROOM_BYTES ? ROOM_BYTES / size : 1;
    f->buffer = sb_malloc(f->batch, size);
    return f->buffer ? SB_OK
                     : sb_fail(SB_ENOMEM, "no memory for %zu examples of %zu bytes",
                               f->batch, size);
}

void sb_feed_fini(struct sb_feed *f)
{
    if (!f)
        return;
    sb_rows_fini(&f->rows);
    sb_columns_free(f->columns);
    sb_columns_free(f->known);
    sb_dataset_fini(&f->set);
    sb_free(f->buffer);
    *f = (struct sb_feed){0};
}

uint64_t sb_feed_count(const struct sb_feed *f)
{
    return f->columns ? 0 : f->set.n;
}

/* ---- use ----------------------------------------------------------------------------- */

static sb_status read_rows(struct sb_feed *f, size_t most, struct sb_input *in,
                           size_t *got)
{
    ptrdiff_t one = sizeof(float), row = one * (ptrdiff_t)f->columns->inputs;
    *in = (struct sb_input){
        .data = f->buffer, .type = SB_INPUT_F32, .stride = {row, one, one, one}};
    return sb_rows_next(&f->rows, (float *)f->buffer, most, got);
}

static sb_status read_examples(struct sb_feed *f, int threads, size_t most,
                               struct sb_input *in, size_t *got)
{
    const struct sb_dataset *d = &f->view;
    uint64_t left = d->n - f->done, at = f->done;
    *got = left < most ? (size_t)left : most;
    const void *first = d->element == SB_FLOATS
                            ? (const void *)(d->values + at * sb_dataset_elements(d))
                            : d->images + at * sb_dataset_elements(d);
    *in = sb_gather_input(d, d->fetch ? f->buffer : first);
    return d->fetch
               ? sb_gather_run(d, NULL, (uint32_t)at, (uint32_t)*got, threads, f->buffer)
               : SB_OK;
}

static sb_status tell(struct sb_feed *f)
{
    uint64_t done, total;
    if (!f->columns)
        return sb_progress_update(f->o.progress, f->done);
    sb_rows_place(&f->rows, &done, &total);
    return sb_progress_update(f->o.progress, total > 0 ? done : f->done);
}

/* Goes past the batches that other processes answer. Rows of text have to be read to know
 * where they end. */
static sb_status skip(struct sb_feed *f, size_t most)
{
    uint32_t batches = f->begun ? f->o.shares - 1 : f->o.share;
    sb_status st = SB_OK;
    f->begun = true;
    for (uint32_t i = 0; st == SB_OK && f->o.shares > 1 && i < batches; i++) {
        uint64_t left = f->view.n - f->done;
        size_t n = left < most ? (size_t)left : most;
        if (f->columns)
            st = sb_rows_next(&f->rows, (float *)f->buffer, most, &n);
        f->done += st == SB_OK ? n : 0;
    }
    return st;
}

uint64_t sb_feed_first(const struct sb_feed *f)
{
    return f->done - f->last;
}

sb_status sb_feed_next(struct sb_feed *f, struct sb_predictor *p, size_t most,
                       const struct sb_predictions *out, size_t *got)
{
    struct sb_input in;
    size_t n = 0;
    most = most < f->batch ? most : f->batch;
    *got = f->last = 0;
    sb_status st = skip(f, most);
    if (st == SB_OK)
        st = f->columns ? read_rows(f, most, &in, &n)
                        : read_examples(f, p->env.threads, most, &in, &n);
    if (st == SB_OK && n > 0)
        st = sb_predictor_run(p, &in, n, f->done, out);
    if (st != SB_OK)
        return st;
    f->done += n;
    *got = f->last = n;
    if (n > 0 || most == 0 || f->ended)
        return tell(f);
    f->ended = true;
    return sb_progress_end(f->o.progress);
}

bool sb_feed_name(const struct sb_feed *f, size_t i, char out[SB_FEED_NAME])
{
    if (f->columns || !f->set.name_of || i >= f->last)
        return false;
    f->set.name_of(&f->set, (uint32_t)(f->done - f->last + i), out, SB_FEED_NAME);
    return true;
}

/* ---- what else rows have ------------------------------------------------------------- */

uint32_t sb_feed_keeps(const struct sb_feed *f)
{
    return f->columns ? sb_rows_keeps(&f->rows) : 0;
}

const char *sb_feed_keep_name(const struct sb_feed *f, uint32_t k)
{
    return k < sb_feed_keeps(f) ? sb_rows_keep_name(&f->rows, k) : NULL;
}

const char *sb_feed_keep_text(const struct sb_feed *f, size_t i, uint32_t k)
{
    return k < sb_feed_keeps(f) && i < f->last ? sb_rows_keep_text(&f->rows, i, k) : NULL;
}

/* Of rows in memory: those before the next, also those of other processes. */
static bool note_set(const struct sb_feed *f, char out[SB_FEED_NOTE])
{
    const struct sb_dataset *d = &f->view;
    struct sb_missing missing = {0};
    if (d->element != SB_FLOATS || !takes_rows(&f->o.model->info))
        return false;
    const struct sb_input in = sb_gather_input(d, d->values);
    sb_missing_count(&missing, &in, (size_t)f->done, 0, true, f->known, d->channels);
    return sb_missing_note(&missing, f->known, out);
}

bool sb_feed_note(const struct sb_feed *f, char out[SB_FEED_NOTE])
{
    const struct sb_table_odd *odd = &f->rows.odd;
    char title[SB_COLUMN_TITLE];
    if (!f->columns)
        return note_set(f, out);
    if (odd->line == 0)
        return false;
    snprintf(out, SB_FEED_NOTE,
             "%llu value%s that training never saw (texts of no category: %llu, missing "
             "where none was: %llu); the first is in line %llu, %s",
             (unsigned long long)(odd->unknown + odd->missing),
             odd->unknown + odd->missing == 1 ? "" : "s",
             (unsigned long long)odd->unknown, (unsigned long long)odd->missing,
             (unsigned long long)odd->line,
             sb_columns_title_at(f->columns, odd->column, odd->place, title));
    return true;
}
