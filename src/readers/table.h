/* table - separated text as a data set of float features; see columns.h for what columns
 * mean, csv_text.h for the text, csv.c for the files. */
#ifndef SB_READERS_TABLE_H
#define SB_READERS_TABLE_H

#include "data/dataset.h"
#include "data/reader.h"

/* d from text[size], which name is for messages; the text is not needed afterwards. d->path
 * is set; after a failure the caller calls sb_dataset_fini. */
sb_status sb_table_read(struct sb_dataset *d, const char *name, const char *text,
                        size_t size, const struct sb_open_options *o);

/* The file of a table that sb_reader_csv opens: the path itself, or that of a split. */
sb_status sb_table_find(const struct sb_probe *p, enum sb_split split,
                        char out[SB_PATH_BYTES]);

#endif
