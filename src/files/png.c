/* png - libpng, kept on a leash: from memory to memory, errors as statuses.
 *
 * libpng leaves a failing call by longjmp. Whatever must survive that lives in struct job,
 * and the function that calls setjmp has no other variables. Every chunk's checksum
 * counts; what libpng only warns about (odd ancillary chunks) does not touch pixels.
 */
#include "files/image.h"

#ifdef SB_HAVE_PNG
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    REASON_BYTES = 128,
    CHUNK_BYTES_MOST = 8 << 20,
    LIBPNG_BYTES_MOST = CHUNK_BYTES_MOST + 4096, /* a chunk, and what goes with it */
    CHUNKS_MOST = 1000,
    DEFLATE_MOST = 1032
};

struct job {
    const struct sb_image_file *file;
    size_t at; /* bytes of it consumed */
    struct sb_image_shape *shape;
    struct sb_pixels *pixels; /* NULL: only the shape */
    png_structp png;
    png_infop info;
    uint8_t *blend;            /* [height][width][channels + 1] with alpha; owned */
    sb_status said;            /* our own failure, its sentence recorded already */
    bool no_memory;            /* an allocation of libpng's failed */
    char reason[REASON_BYTES]; /* libpng's */
    jmp_buf escape;
};

static _Noreturn void on_error(png_structp png, png_const_charp reason)
{
    struct job *j = png_get_error_ptr(png);
    snprintf(j->reason, sizeof j->reason, "%s", reason);
    longjmp(j->escape, 1);
}

static void on_warning(png_structp png, png_const_charp reason)
{
    (void)png;
    (void)reason;
}

/* libpng's own limit only makes it warn, and then ask for what the chunk's length says. */
static png_voidp on_malloc(png_structp png, png_alloc_size_t size)
{
    struct job *j = png_get_mem_ptr(png);
    if (size > LIBPNG_BYTES_MOST)
        png_error(png, "a chunk of more than 8 MiB");
    void *block = sb_malloc(size, 1);
    if (!block)
        j->no_memory = true;
    return block;
}

static void on_free(png_structp png, png_voidp block)
{
    (void)png;
    sb_free(block);
}

static void on_read(png_structp png, png_bytep out, size_t size)
{
    struct job *j = png_get_io_ptr(png);
    if (size > j->file->size - j->at)
        png_error(png, "it ends too early");
    memcpy(out, j->file->data + j->at, size);
    j->at += size;
}

/* Ours, in the midst of libpng's. */
static void stop_unless_ok(struct job *j, sb_status st)
{
    if (st == SB_OK)
        return;
    j->said = st;
    longjmp(j->escape, 1);
}

/* After this rows are 8 bits of grey, grey and alpha, RGB, or RGB and alpha. */
static void read_header(struct job *j)
{
    png_read_info(j->png, j->info);
    uint32_t height = png_get_image_height(j->png, j->info);
    uint32_t width = png_get_image_width(j->png, j->info);
    int type = png_get_color_type(j->png, j->info);
    stop_unless_ok(j, sb_image_check(j->file->name, height, width));
    *j->shape = (struct sb_image_shape){.channels = type & PNG_COLOR_MASK_COLOR ? 3 : 1,
                                        .height = height,
                                        .width = width};
    png_set_expand(j->png); /* palettes, 1 to 4 bits, transparent colours */
    png_set_scale_16(j->png);
}

/* Colours on black. */
static void blend_row(uint8_t *to, const uint8_t *from, size_t width, uint32_t channels)
{
    for (size_t x = 0; x < width; x++, from += channels + 1, to += channels)
        for (uint32_t c = 0; c < channels; c++)
            to[c] = (uint8_t)((from[c] * from[channels] + 127) / 255);
}

static void blend_rows(struct job *j, const uint8_t *from)
{
    uint32_t channels = j->shape->channels;
    size_t width = j->shape->width;
    uint8_t *to = j->pixels->data;
    for (uint32_t y = 0; y < j->shape->height; y++) {
        blend_row(to, from, width, channels);
        from += width * (channels + 1);
        to += width * channels;
    }
}

static void read_rows(struct job *j, uint8_t *to, size_t row_bytes, int passes)
{
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < j->shape->height; y++)
            png_read_row(j->png, to + y * row_bytes, NULL);
    png_read_end(j->png, NULL);
}

/* Before memory is asked for: deflate makes at most 1032 bytes of one. */
static void check_bytes(struct job *j)
{
    size_t need = png_get_rowbytes(j->png, j->info) * j->shape->height / DEFLATE_MOST;
    if (need > j->file->size)
        png_error(j->png, "too few bytes for so many pixels");
}

static void read_pixels(struct job *j)
{
    check_bytes(j);
    int passes = png_set_interlace_handling(j->png);
    png_read_update_info(j->png, j->info);
    uint32_t channels = j->shape->channels, have = png_get_channels(j->png, j->info);
    size_t row_bytes = (size_t)j->shape->width * have;
    if ((have != channels && have != channels + 1) ||
        png_get_rowbytes(j->png, j->info) != row_bytes)
        png_error(j->png, "rows of a strange size");
    j->pixels->shape = *j->shape;
    stop_unless_ok(j, sb_pixels_init(j->pixels, j->file->name));
    if (have == channels) {
        read_rows(j, j->pixels->data, row_bytes, passes);
        return;
    }
    j->blend = sb_malloc(j->shape->height, row_bytes);
    if (!j->blend)
        stop_unless_ok(j,
                       sb_fail(SB_ENOMEM, "%s: no memory for its rows", j->file->name));
    read_rows(j, j->blend, row_bytes, passes);
    blend_rows(j, j->blend);
}

static sb_status failed(const struct job *j)
{
    if (j->said != SB_OK)
        return j->said;
    if (j->no_memory)
        return sb_fail(SB_ENOMEM, "%s: no memory to decode it", j->file->name);
    return sb_fail(SB_EFORMAT, "%s: not a sound PNG file: %s", j->file->name, j->reason);
}

static sb_status run(struct job *j)
{
    if (setjmp(j->escape))
        return failed(j);
    j->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, j, on_error, on_warning, j,
                                      on_malloc, on_free);
    j->info = j->png ? png_create_info_struct(j->png) : NULL;
    if (!j->info)
        return failed(j);
    png_set_read_fn(j->png, j, on_read);
    png_set_user_limits(j->png, SB_IMAGE_SIDE_MOST, SB_IMAGE_SIDE_MOST);
    png_set_chunk_malloc_max(j->png, CHUNK_BYTES_MOST);
    png_set_chunk_cache_max(j->png, CHUNKS_MOST);
    png_set_crc_action(j->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    read_header(j);
    if (j->pixels)
        read_pixels(j);
    return SB_OK;
}

sb_status sb_png_decode(const struct sb_image_file *f, struct sb_image_shape *shape,
                        const struct sb_image_shape *want, struct sb_pixels *p)
{
    (void)want;
    struct job j = {.file = f, .shape = shape, .pixels = p};
    sb_status st = run(&j);
    png_destroy_read_struct(&j.png, &j.info, NULL);
    sb_free(j.blend);
    return st;
}
#else
sb_status sb_png_decode(const struct sb_image_file *f, struct sb_image_shape *shape,
                        const struct sb_image_shape *want, struct sb_pixels *p)
{
    (void)shape;
    (void)want;
    (void)p;
    return sb_fail(SB_EMISSING,
                   "%s: this sebays was built without libpng; install libpng-dev and "
                   "build it again to read PNG files",
                   f->name);
}
#endif
