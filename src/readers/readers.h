/* readers - the formats that data sets are opened from. */
#ifndef SB_READERS_READERS_H
#define SB_READERS_READERS_H

#include "data/reader.h"

extern const struct sb_reader sb_reader_idx; /* MNIST, Fashion-MNIST, KMNIST */
extern const struct sb_reader
    sb_reader_cifar; /* CIFAR-10 and CIFAR-100, binary version */
extern const struct sb_reader sb_reader_arrays; /* NumPy: .npy and .npz */
extern const struct sb_reader sb_reader_mat;    /* MATLAB 5: SVHN and others */
extern const struct sb_reader
    sb_reader_folder;                        /* a folder of PNG, JPEG files per class */
extern const struct sb_reader sb_reader_csv; /* any text: asked last */

/* All of them, in the order they are asked. */
extern const struct sb_reader_list sb_readers;

/* sb_reader_open with all of them. */
sb_status sb_dataset_open(struct sb_dataset *d, const char *path, enum sb_split split);
sb_status sb_dataset_open_with(struct sb_dataset *d, const char *path,
                               const struct sb_open_options *o);

#endif
