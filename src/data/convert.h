/* convert - a data set as NumPy files in a directory, which sebays reads as well.
 *
 *     x_train.npy       images [n][height][width][channels], tables [n][features]; uint8 or
 *                       float32, as they are
 *     y_train.npy       int64 [n]
 *     class_names.txt   a line a class, if they have names
 *
 * with "test" for the other split, and x.npy, y.npy for a set that has no splits.
 */
#ifndef SB_DATA_CONVERT_H
#define SB_DATA_CONVERT_H

#include "data/dataset.h"

/* The directory is made if need be. */
sb_status sb_convert_npy(const struct sb_dataset *d, enum sb_split split,
                         const char *directory);

#endif
