/* adapt - a data set's images in the shape that a network takes.
 *
 * Grey becomes three equal channels, colour becomes grey by ITU-R BT.601's weights, and
 * sizes change as image.h says (areas are averaged, small images are interpolated). An
 * image is adapted when it is asked for, so nothing is kept twice.
 */
#ifndef SB_DATA_ADAPT_H
#define SB_DATA_ADAPT_H

#include "data/dataset.h"
#include "files/image.h"

/* *out = a view of from whose images have that shape; it borrows from and all it has, and
 * needs no fini. SB_EARG if from is not of bytes, or has other numbers of channels than 1
 * and 3, unless its shape is already right. */
sb_status sb_adapt(struct sb_dataset *out, const struct sb_dataset *from,
                   const struct sb_image_shape *shape);

#endif
