/* sheet - see sheet.h. */
#include "data/sheet.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "files/font.h"
#include "files/image.h"

enum {
    CELL = 64,   /* pixels a drawn image should be wide, about */
    MARGIN = 4,  /* between images, and around the sheet */
    PAPER = 255, /* white */
    INK = 0,     /* black */
    DOT = 2,     /* pixels of a font's dot */
    LETTER = DOT * (SB_FONT_WIDTH + 1),
    NAME_HEIGHT = DOT * SB_FONT_HEIGHT,
    PIXELS_MOST = 1 << 28,
};

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* How a side of that many pixels comes near CELL. */
static void choose_scale(struct sb_sheet *s)
{
    uint32_t side = larger(s->height, s->width);
    s->enlarge = larger(1, CELL / side);
    s->thin = larger(1, (side + CELL / 2) / (2 * CELL));
    s->cell_height = (s->height + s->thin - 1) / s->thin * s->enlarge;
    s->cell_width = (s->width + s->thin - 1) / s->thin * s->enlarge;
}

static uint32_t row_height(const struct sb_sheet *s)
{
    return larger(s->cell_height, NAME_HEIGHT) + MARGIN;
}

sb_status sb_sheet_init(struct sb_sheet *s, uint32_t rows, uint32_t columns,
                        uint32_t channels, uint32_t height, uint32_t width,
                        uint32_t letters)
{
    *s = (struct sb_sheet){.rows = rows,
                           .columns = columns,
                           .height = height,
                           .width = width,
                           .channels = channels,
                           .out_channels = channels == 3 ? 3 : 1};
    if (rows == 0 || columns == 0 || channels == 0 || height == 0 || width == 0)
        return sb_fail(SB_EARG, "a sheet of no images");
    choose_scale(s);
    uint64_t names = letters ? (uint64_t)letters * LETTER + MARGIN : 0;
    uint64_t out_width = names + MARGIN + (uint64_t)columns * (s->cell_width + MARGIN);
    uint64_t out_height = MARGIN + (uint64_t)rows * row_height(s);
    if (out_width > PIXELS_MOST || out_height > PIXELS_MOST / out_width)
        return sb_fail(SB_EARG, "a sheet of %u x %u images would have %llu x %llu pixels",
                       rows, columns, (unsigned long long)out_height,
                       (unsigned long long)out_width);
    s->name_width = (uint32_t)names;
    s->out_width = (uint32_t)out_width;
    s->out_height = (uint32_t)out_height;
    size_t bytes = (size_t)s->out_height * s->out_width * s->out_channels;
    s->pixels = sb_malloc(bytes, 1);
    if (!s->pixels)
        return sb_fail(SB_ENOMEM, "no memory for a sheet of %u x %u pixels",
                       s->out_height, s->out_width);
    memset(s->pixels, PAPER, bytes);
    return SB_OK;
}

void sb_sheet_fini(struct sb_sheet *s)
{
    if (!s)
        return;
    sb_free(s->pixels);
    *s = (struct sb_sheet){0};
}

static uint8_t *pixel(const struct sb_sheet *s, uint32_t y, uint32_t x)
{
    return s->pixels + ((size_t)y * s->out_width + x) * s->out_channels;
}

void sb_sheet_put(struct sb_sheet *s, uint32_t row, uint32_t column, const uint8_t *image)
{
    uint32_t top = MARGIN + row * row_height(s);
    uint32_t left = s->name_width + MARGIN + column * (s->cell_width + MARGIN);
    size_t plane = (size_t)s->height * s->width;
    for (uint32_t y = 0; y < s->cell_height; y++)
        for (uint32_t x = 0; x < s->cell_width; x++) {
            uint8_t *to = pixel(s, top + y, left + x);
            size_t from = (size_t)(y / s->enlarge * s->thin) * s->width +
                          (size_t)(x / s->enlarge) * s->thin;
            for (uint32_t c = 0; c < s->out_channels; c++)
                to[c] = image[c * plane + from];
        }
}

static void draw_glyph(struct sb_sheet *s, uint32_t top, uint32_t left, uint16_t glyph)
{
    for (uint32_t y = 0; y < NAME_HEIGHT; y++)
        for (uint32_t x = 0; x < DOT * SB_FONT_WIDTH; x++) {
            uint32_t dot = y / DOT * SB_FONT_WIDTH + x / DOT;
            if (glyph >> (SB_FONT_WIDTH * SB_FONT_HEIGHT - 1 - dot) & 1)
                memset(pixel(s, top + y, left + x), INK, s->out_channels);
        }
}

void sb_sheet_name(struct sb_sheet *s, uint32_t row, const char *name)
{
    uint32_t top = MARGIN + row * row_height(s);
    uint32_t left = MARGIN;
    if (s->cell_height > NAME_HEIGHT)
        top += (s->cell_height - NAME_HEIGHT) / 2;
    for (; *name && left + LETTER <= s->name_width; name++) {
        if (((unsigned char)*name & 0xc0) == 0x80)
            continue; /* of a character that was drawn already */
        draw_glyph(s, top, left, sb_font_glyph(*name));
        left += LETTER;
    }
}

sb_status sb_sheet_write(const struct sb_sheet *s, const char *path)
{
    struct sb_image image = {s->pixels, s->out_height, s->out_width, s->out_channels};
    return sb_png_write(path, &image);
}

/* ---- of a data set ---- */

enum { LETTERS_MOST = 24, NAME_BYTES = 16 };

/* The name of class c; number[] is for those without one. */
static const char *class_name(const struct sb_dataset *d, uint32_t c,
                              char number[NAME_BYTES])
{
    if (d->class_names)
        return d->class_names[c];
    snprintf(number, NAME_BYTES, "%u", c);
    return number;
}

static uint32_t longest_name(const struct sb_dataset *d, uint32_t rows)
{
    char number[NAME_BYTES];
    size_t most = 0;
    for (uint32_t c = 0; c < rows; c++) {
        size_t n = strlen(class_name(d, c, number));
        most = n > most ? n : most;
    }
    return most < LETTERS_MOST ? (uint32_t)most : LETTERS_MOST;
}

/* Between what the values of a float set lie. */
static void find_span(const struct sb_dataset *d, float *least, float *most)
{
    size_t n = d->n * sb_dataset_elements(d);
    *least = *most = d->values[0];
    for (size_t i = 0; i < n; i++) {
        *least = d->values[i] < *least ? d->values[i] : *least;
        *most = d->values[i] > *most ? d->values[i] : *most;
    }
}

/* out = example i as bytes; floats from their least, black, to their most, white. */
static sb_status example_bytes(const struct sb_dataset *d, uint32_t i, float least,
                               float most, uint8_t *buffer, const uint8_t **out)
{
    size_t n = sb_dataset_elements(d);
    if (d->element == SB_BYTES)
        return sb_dataset_image(d, i, buffer, out);
    float scale = most > least ? 255.0f / (most - least) : 0.0f;
    for (size_t k = 0; k < n; k++)
        buffer[k] = (uint8_t)((d->values[i * n + k] - least) * scale + 0.5f);
    *out = buffer;
    return SB_OK;
}

static sb_status fill_classes(struct sb_sheet *s, const struct sb_dataset *d,
                              uint8_t *buffer)
{
    uint32_t used[SB_SHEET_ROWS] = {0};
    char number[NAME_BYTES];
    float least = 0.0f, most = 0.0f;
    sb_status st = SB_OK;
    if (d->element == SB_FLOATS)
        find_span(d, &least, &most);
    for (uint32_t c = 0; c < s->rows; c++)
        sb_sheet_name(s, c, class_name(d, c, number));
    for (uint32_t i = 0; i < d->n && st == SB_OK; i++) {
        uint32_t c = d->labels[i];
        const uint8_t *image;
        if (c >= s->rows || used[c] >= s->columns)
            continue;
        st = example_bytes(d, i, least, most, buffer, &image);
        if (st == SB_OK)
            sb_sheet_put(s, c, used[c]++, image);
    }
    return st;
}

sb_status sb_sheet_of_classes(const struct sb_dataset *d, const char *path)
{
    struct sb_sheet s;
    if (sb_dataset_tabular(d) || !d->labels)
        return sb_fail(SB_EARG, "%s: %s cannot be drawn", d->path,
                       d->labels ? "the rows of a table" : "images without labels");
    uint32_t rows = d->classes < SB_SHEET_ROWS ? d->classes : SB_SHEET_ROWS;
    uint8_t *buffer = sb_malloc(sb_dataset_elements(d), 1);
    sb_status st = sb_sheet_init(&s, rows, SB_SHEET_COLUMNS, d->channels, d->height,
                                 d->width, longest_name(d, rows));
    if (st == SB_OK && !buffer)
        st = sb_fail(SB_ENOMEM, "%s: no memory for an image", d->path);
    if (st == SB_OK)
        st = fill_classes(&s, d, buffer);
    if (st == SB_OK)
        st = sb_sheet_write(&s, path);
    sb_sheet_fini(&s);
    sb_free(buffer);
    return st;
}
