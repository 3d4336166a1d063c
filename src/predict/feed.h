/* feed - examples for a model, in order, from any file that data sets are read from.
 *
 *     a table as text, by path or from standard input   row by row (readers/rows.h)
 *     everything else                                   a data set (data/dataset.h), whose
 *                                                       images are made to fit (adapt.h)
 *
 * What is in memory or mapped is used where it lies; what has to be read, decoded or
 * resized goes through room for one batch. Labels are not needed and not looked at.
 */
#ifndef SB_PREDICT_FEED_H
#define SB_PREDICT_FEED_H

#include "base/progress.h"
#include "data/dataset.h"
#include "predict/predictor.h"
#include "readers/rows.h"

enum { SB_FEED_BATCH = 1024, SB_FEED_NAME = 4096, SB_FEED_NOTE = SB_MISSING_NOTE };

struct sb_feed_options {
    const struct sb_model *model; /* borrowed, as all pointers here */
    const char *path;             /* "-": standard input */
    enum sb_split split;          /* of a set that has parts */
    const char *keep; /* columns of a table as text to keep, see rows.h; NULL: none */
    struct sb_progress *progress; /* NULL: nobody listens */
    uint32_t share, shares;       /* of batches, those of number share modulo shares;
                                   * 0, 0: all */
};

struct sb_feed {
    struct sb_feed_options o;
    struct sb_columns *columns; /* owned: of a table as text, else NULL */
    struct sb_columns *known;   /* owned: the model's, if rows are no text; or NULL */
    struct sb_rows rows;        /* of a table as text */
    struct sb_dataset set;      /* everything else ... */
    struct sb_dataset view;     /* ... as the model takes it; borrows from set */
    unsigned char *buffer;      /* [batch] examples; owned; NULL: used in place */
    size_t batch;               /* of a call at most: large images are fewer */
    uint64_t done;              /* examples answered ... */
    size_t last;                /* ... by the call before */
    bool begun, ended;
};

/* The caller calls sb_feed_fini, also after a failure; f must not move. */
sb_status sb_feed_init(struct sb_feed *f, const struct sb_feed_options *o);
void sb_feed_fini(struct sb_feed *f);

/* How many there are; 0: it is not known before the end. */
uint64_t sb_feed_count(const struct sb_feed *f);

/* Predictions of the next *got examples: at most `most` and a batch, 0 at the end. The
 * shapes of out go by *got. The predictor is of the feed's model. */
sb_status sb_feed_next(struct sb_feed *f, struct sb_predictor *p, size_t most,
                       const struct sb_predictions *out, size_t *got);

/* The number of the last call's first example. */
uint64_t sb_feed_first(const struct sb_feed *f);

/* The file of example i of the last call, "cat/1.png". False: examples are no files. */
bool sb_feed_name(const struct sb_feed *f, size_t i, char out[SB_FEED_NAME]);

/* Columns of the input that are kept: how many, the name of the k-th, and its text for
 * example i of the last call; NULL: there is none. */
uint32_t sb_feed_keeps(const struct sb_feed *f);
const char *sb_feed_keep_name(const struct sb_feed *f, uint32_t k);
const char *sb_feed_keep_text(const struct sb_feed *f, size_t i, uint32_t k);

/* What of the rows so far training did not know, in a sentence; false: nothing. */
bool sb_feed_note(const struct sb_feed *f, char out[SB_FEED_NOTE]);

#endif
