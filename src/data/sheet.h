/* sheet - a contact sheet: images in rows, each row with a name, as one PNG.
 *
 *     | name of row 0 | image | image | ...
 *     | name of row 1 | image | image | ...
 *
 * Small images are enlarged by a whole factor, large ones thinned out by one, so that
 * each cell is about CELL pixels wide. Names are drawn with a font of 3 x 5 dots that has
 * capital letters only. One channel makes a grey sheet, three a coloured one; of any other
 * number the first channel is shown.
 */
#ifndef SB_DATA_SHEET_H
#define SB_DATA_SHEET_H

#include "data/dataset.h"

struct sb_sheet {
    uint32_t rows, columns;           /* of images */
    uint32_t height, width, channels; /* of an image given */
    uint32_t enlarge, thin;           /* each at least 1 */
    uint32_t cell_height, cell_width; /* of an image drawn, without its margin */
    uint32_t name_width;              /* of the column of names */
    uint32_t out_height, out_width, out_channels;
    uint8_t *pixels; /* [out_height][out_width][out_channels] owned */
};

/* Room for rows x columns images of that shape and names of at most so many characters
 * (longer ones are cut). SB_EARG if the sheet would be too large to be of use. s needs no
 * fini after a failure, but may have it. */
sb_status sb_sheet_init(struct sb_sheet *s, uint32_t rows, uint32_t columns,
                        uint32_t channels, uint32_t height, uint32_t width,
                        uint32_t letters);

/* image[channels][height][width] */
void sb_sheet_put(struct sb_sheet *s, uint32_t row, uint32_t column,
                  const uint8_t *image);

/* name is UTF-8; what the font lacks is drawn as '?'. */
void sb_sheet_name(struct sb_sheet *s, uint32_t row, const char *name);

sb_status sb_sheet_write(const struct sb_sheet *s, const char *path);

/* Accepts NULL, zeroed and half-built ones. */
void sb_sheet_fini(struct sb_sheet *s);

enum { SB_SHEET_ROWS = 100, SB_SHEET_COLUMNS = 10 };

/* A row a class, the first SB_SHEET_COLUMNS images of each; of more than SB_SHEET_ROWS
 * classes, the first ones. Float images are stretched from their least value, black, to
 * their most. SB_EARG for a table. */
sb_status sb_sheet_of_classes(const struct sb_dataset *d, const char *path);

#endif
