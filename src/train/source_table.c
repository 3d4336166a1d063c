/* source_table - what a run learns about the columns of its table, and what is said of it. */
#include <math.h>

#include "base/log.h"
#include "data/encode.h"
#include "train/source.h"

struct sb_open_options sb_source_options(const struct sb_config *c, enum sb_split split)
{
    static const enum sb_header header[] = {
        [SB_CONFIG_HEADER_AUTO] = SB_HEADER_AUTO,
        [SB_CONFIG_HEADER_YES] = SB_HEADER_YES,
        [SB_CONFIG_HEADER_NO] = SB_HEADER_NO,
    };
    return (struct sb_open_options){
        .split = split,
        .task = c->data.task == SB_CONFIG_REGRESSION       ? SB_TASK_OUTCOMES
                : c->data.task == SB_CONFIG_CLASSIFICATION ? SB_TASK_CLASSES
                                                           : SB_TASK_AUTO,
        .label = c->data.label,
        .ignore = c->data.ignore,
        .group = c->data.group,
        .weight = split == SB_SPLIT_TRAIN ? c->data.weight : NULL,
        .header = header[c->data.header],
        .impute = c->data.missing == SB_CONFIG_IMPUTE,
    };
}

/* How many values of rows index[n] are missing where that is a number or a known text. */
static uint64_t count_missing(const struct sb_source *s, uint32_t *columns)
{
    const struct sb_dataset *d = &s->train;
    uint64_t all = 0;
    *columns = 0;
    for (uint32_t k = 0; k < d->columns->count; k++) {
        const struct sb_column *c = &d->columns->column[k];
        uint64_t here = 0;
        uint32_t empty = 0;
        bool category =
            c->kind == SB_COLUMN_CATEGORY && sb_words_find(&c->words, "", 0, &empty);
        if (!category && !c->indicator)
            continue;
        for (uint32_t i = 0; i < s->part.train_count; i++) {
            float x = d->values[(size_t)s->part.train[i] * d->channels + c->input];
            here += category ? x == (float)empty : isnan(x);
        }
        all += here;
        *columns += here > 0;
    }
    return all;
}

static void tell_unknown(const struct sb_source *s, const struct sb_env *env,
                         const struct sb_dataset *d, const uint32_t *index, uint32_t n,
                         const char *part)
{
    uint32_t column;
    char title[SB_COLUMN_TITLE];
    uint32_t rows = sb_encode_unknown(d, s->train.columns, index, n, &column);
    if (rows > 0)
        sb_log_write(env->log, SB_LOG_WARN,
                     "%s: %u of %u rows of the %s part have a text that the training "
                     "part does not have, first in %s; they count as none of its texts",
                     d->path, rows, n, part,
                     sb_columns_title(s->train.columns, column, title));
}

static void tell(const struct sb_source *s, const struct sb_env *env)
{
    bool apart = s->test.path != NULL;
    uint32_t columns;
    uint64_t missing = count_missing(s, &columns);
    if (missing > 0)
        sb_log_write(env->log, SB_LOG_INFO,
                     "%s: %llu values in %u columns of the training part are missing; "
                     "the mean, and an indicator, or a text of its own stands for them",
                     s->train.path, (unsigned long long)missing, columns);
    tell_unknown(s, env, &s->train, s->part.valid, s->part.validation_count,
                 "validation");
    tell_unknown(s, env, apart ? &s->test : &s->train, s->test_index, s->tests, "test");
}

sb_status sb_source_encode(struct sb_source *s, const struct sb_env *env,
                           const struct sb_config *c)
{
    struct sb_encode_options o = {
        .scale = c->data.numeric == SB_CONFIG_PIECES     ? SB_SCALE_PIECES
                 : c->data.numeric == SB_CONFIG_QUANTILE ? SB_SCALE_QUANTILE
                                                         : SB_SCALE_PLAIN,
        .pieces = c->data.pieces,
        .impute = c->data.missing == SB_CONFIG_IMPUTE,
    };
    if (!sb_dataset_tabular(&s->train))
        return SB_OK;
    sb_status st = sb_encode_fit(&s->train, s->test.path ? &s->test : NULL, s->part.train,
                                 s->part.train_count, &o);
    if (st == SB_OK && s->train.columns)
        tell(s, env);
    return st;
}
