/* readers - see readers.h. */
#include "readers/readers.h"

static const struct sb_reader *const all[] = {&sb_reader_idx,    &sb_reader_cifar,
                                              &sb_reader_arrays, &sb_reader_mat,
                                              &sb_reader_folder, &sb_reader_csv};

const struct sb_reader_list sb_readers = {all, sizeof all / sizeof *all};

sb_status sb_dataset_open(struct sb_dataset *d, const char *path, enum sb_split split)
{
    return sb_dataset_open_with(d, path, &(struct sb_open_options){.split = split});
}

sb_status sb_dataset_open_with(struct sb_dataset *d, const char *path,
                               const struct sb_open_options *o)
{
    return sb_reader_open(&sb_readers, d, path, o);
}
