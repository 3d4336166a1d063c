/* png_write - see image.h.
 *
 * libpng reports an error by a function that must not return: ours jumps back into
 * encode(), as libpng's default does, but prints nothing. A failed write has said its
 * sentence already, which is kept.
 */
#include "files/image.h"

#include "base/file.h"
#include "base/mem.h"

#ifdef SB_HAVE_PNG

#include <png.h>

struct sink {
    struct sb_file file;
    const char *path;
    sb_status st;
};

static void on_error(png_structp png, png_const_charp reason)
{
    struct sink *s = png_get_error_ptr(png);
    if (s->st == SB_OK)
        s->st = sb_fail(SB_EARG, "cannot write %s: libpng says: %s", s->path, reason);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp reason)
{
    (void)png;
    (void)reason;
}

static void on_write(png_structp png, png_bytep data, size_t size)
{
    struct sink *s = png_get_io_ptr(png);
    s->st = sb_file_write(&s->file, data, size);
    if (s->st != SB_OK)
        png_error(png, "write");
}

static void on_flush(png_structp png)
{
    (void)png;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    (void)png;
    return sb_malloc(size, 1);
}

static void release(png_structp png, png_voidp block)
{
    (void)png;
    sb_free(block);
}

/* No locals of its own after setjmp: nothing for a jump to clobber. */
static void encode(png_structp png, png_infop info, const struct sb_image *image)
{
    if (setjmp(png_jmpbuf(png)))
        return;
    png_set_IHDR(png, info, image->width, image->height, 8,
                 image->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (uint32_t y = 0; y < image->height; y++)
        png_write_row(png, image->pixels + (size_t)y * image->width * image->channels);
    png_write_end(png, info);
}

static sb_status write_open(struct sink *s, const struct sb_image *image)
{
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, s, on_error,
                                                on_warning, NULL, allocate, release);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info) {
        png_set_write_fn(png, s, on_write, on_flush);
        encode(png, info, image);
    } else {
        s->st = sb_fail(SB_ENOMEM, "cannot write %s: no memory for libpng", s->path);
    }
    png_destroy_write_struct(&png, &info);
    return s->st == SB_OK ? sb_file_commit(&s->file) : s->st;
}

sb_status sb_png_write(const char *path, const struct sb_image *image)
{
    if ((image->channels != 1 && image->channels != 3) || image->height == 0 ||
        image->width == 0)
        return sb_fail(SB_EARG,
                       "cannot write %s: a PNG of %u x %u with %u channels; want 1 or 3 "
                       "channels and at least a pixel",
                       path, image->height, image->width, image->channels);
    struct sink s = {.path = path, .st = SB_OK};
    sb_status st = sb_file_create(&s.file, path);
    if (st == SB_OK)
        st = write_open(&s, image);
    sb_file_abort(&s.file);
    return st;
}

#else

sb_status sb_png_write(const char *path, const struct sb_image *image)
{
    (void)image;
    return sb_fail(SB_EMISSING,
                   "cannot write %s: this build has no libpng; install libpng-dev, "
                   "configure and build again",
                   path);
}

#endif
