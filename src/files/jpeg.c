/* jpeg - libjpeg(-turbo), kept on a leash: from memory to memory, errors as statuses.
 *
 * As in png.c, what must survive a longjmp lives in struct job. libjpeg goes on with grey
 * pixels where data is missing and only warns; such warnings are failures here. Others
 * (bytes between markers, versions it does not know) are nobody's loss.
 *
 * CMYK is turned into RGB as R = C K / 255 of Adobe's inverted values, which is what
 * files with Adobe's marker have; those without it are inverted first.
 */
#include "files/image.h"

#ifdef SB_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h> /* needs FILE */

#include <jerror.h> /* its numbers depend on jpeglib.h */

#include "base/mem.h"

enum { SCANS_MOST = 100, MEMORY_MOST = 640 << 20, CMYK = 4 };

struct job {
    const struct sb_image_file *file;
    struct sb_image_shape *shape;
    const struct sb_image_shape *want;
    struct sb_pixels *pixels; /* NULL: only the shape */
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    uint8_t *row;   /* [width][4] of CMYK; owned */
    sb_status said; /* our own failure, its sentence recorded already */
    char reason[JMSG_LENGTH_MAX];
    jmp_buf escape;
};

static _Noreturn void stop(j_common_ptr c)
{
    struct job *j = c->client_data;
    c->err->format_message(c, j->reason);
    longjmp(j->escape, 1);
}

static bool loses_data(int code)
{
    return code != JWRN_ADOBE_XFORM && code != JWRN_EXTRANEOUS_DATA &&
           code != JWRN_JFIF_MAJOR && code != JWRN_BOGUS_ICC;
}

static void on_message(j_common_ptr c, int level)
{
    if (level < 0 && loses_data(c->err->msg_code))
        stop(c);
}

static void on_output(j_common_ptr c)
{
    (void)c;
}

static void stop_unless_ok(struct job *j, sb_status st)
{
    if (st == SB_OK)
        return;
    j->said = st;
    longjmp(j->escape, 1);
}

/* A progressive file may repeat scans without end, each of which costs a whole pass. */
static void on_progress(j_common_ptr c)
{
    struct job *j = c->client_data;
    if (j->jpeg.input_scan_number > SCANS_MOST)
        stop_unless_ok(j, sb_fail(SB_EFORMAT, "%s: it has more than %d scans",
                                  j->file->name, SCANS_MOST));
}

static bool is_cmyk(const struct job *j)
{
    return j->jpeg.jpeg_color_space == JCS_CMYK || j->jpeg.jpeg_color_space == JCS_YCCK;
}

static void read_header(struct job *j)
{
    struct jpeg_decompress_struct *c = &j->jpeg;
    jpeg_mem_src(c, j->file->data, j->file->size);
    (void)jpeg_read_header(c, TRUE);
    stop_unless_ok(j, sb_image_check(j->file->name, c->image_height, c->image_width));
    if (c->jpeg_color_space == JCS_UNKNOWN)
        stop_unless_ok(j, sb_fail(SB_EFORMAT,
                                  "%s: %d colour components; want a grey, RGB or CMYK "
                                  "file, save it as one",
                                  j->file->name, c->num_components));
    *j->shape =
        (struct sb_image_shape){.channels = c->jpeg_color_space == JCS_GRAYSCALE ? 1 : 3,
                                .height = c->image_height,
                                .width = c->image_width};
}

/* The largest of 1, 2, 4, 8 that leaves both sides as large as wanted. */
static uint32_t shrink_by(const struct job *j)
{
    uint32_t by = 8;
    while (by > 1 && (j->shape->height < j->want->height * by ||
                      j->shape->width < j->want->width * by))
        by /= 2;
    return by;
}

static void set_up(struct job *j)
{
    struct jpeg_decompress_struct *c = &j->jpeg;
    c->scale_num = 1;
    c->scale_denom = shrink_by(j);
    c->dct_method = JDCT_ISLOW; /* the same bits with and without SIMD */
    if (is_cmyk(j))
        c->out_color_space = JCS_CMYK;
    else if (j->shape->channels == 1 || j->want->channels == 1)
        c->out_color_space = JCS_GRAYSCALE;
    else
        c->out_color_space = JCS_RGB;
    (void)jpeg_start_decompress(c);
}

static void from_cmyk(uint8_t *to, const uint8_t *from, size_t width, bool inverted)
{
    unsigned flip = inverted ? 0 : 255;
    for (size_t x = 0; x < width; x++, from += CMYK, to += 3)
        for (size_t i = 0; i < 3; i++)
            to[i] = (uint8_t)(((from[i] ^ flip) * (from[3] ^ flip) + 127) / 255);
}

static void read_rows(struct job *j)
{
    struct jpeg_decompress_struct *c = &j->jpeg;
    size_t width = c->output_width, bytes = width * j->pixels->shape.channels;
    while (c->output_scanline < c->output_height) {
        uint8_t *to = j->pixels->data + c->output_scanline * bytes;
        JSAMPROW row = j->row ? j->row : to;
        (void)jpeg_read_scanlines(c, &row, 1);
        if (j->row)
            from_cmyk(to, j->row, width, c->saw_Adobe_marker);
    }
}

static void read_pixels(struct job *j)
{
    struct jpeg_decompress_struct *c = &j->jpeg;
    set_up(j);
    j->pixels->shape =
        (struct sb_image_shape){.channels = c->out_color_space == JCS_GRAYSCALE ? 1 : 3,
                                .height = c->output_height,
                                .width = c->output_width};
    stop_unless_ok(j, sb_pixels_init(j->pixels, j->file->name));
    if (is_cmyk(j)) {
        j->row = sb_malloc(c->output_width, CMYK);
        if (!j->row)
            stop_unless_ok(j,
                           sb_fail(SB_ENOMEM, "%s: no memory for a row", j->file->name));
    }
    read_rows(j);
    (void)jpeg_finish_decompress(c);
}

static sb_status failed(const struct job *j)
{
    if (j->said != SB_OK)
        return j->said;
    if (j->errors.msg_code == JERR_OUT_OF_MEMORY)
        return sb_fail(SB_ENOMEM, "%s: no memory to decode it", j->file->name);
    return sb_fail(SB_EFORMAT, "%s: not a sound JPEG file: %s", j->file->name, j->reason);
}

static sb_status run(struct job *j)
{
    j->jpeg.err = jpeg_std_error(&j->errors);
    j->jpeg.client_data = j;
    j->errors.error_exit = stop;
    j->errors.emit_message = on_message;
    j->errors.output_message = on_output;
    j->progress.progress_monitor = on_progress;
    if (setjmp(j->escape))
        return failed(j);
    jpeg_create_decompress(&j->jpeg);
    j->jpeg.progress = &j->progress;
    j->jpeg.mem->max_memory_to_use = MEMORY_MOST;
    read_header(j);
    if (j->pixels)
        read_pixels(j);
    return SB_OK;
}

sb_status sb_jpeg_decode(const struct sb_image_file *f, struct sb_image_shape *shape,
                         const struct sb_image_shape *want, struct sb_pixels *p)
{
    struct job j = {.file = f, .shape = shape, .want = want, .pixels = p};
    sb_status st = run(&j);
    jpeg_destroy_decompress(&j.jpeg);
    sb_free(j.row);
    return st;
}
#else
sb_status sb_jpeg_decode(const struct sb_image_file *f, struct sb_image_shape *shape,
                         const struct sb_image_shape *want, struct sb_pixels *p)
{
    (void)shape;
    (void)want;
    (void)p;
    return sb_fail(SB_EMISSING,
                   "%s: this sebays was built without libjpeg; install "
                   "libjpeg62-turbo-dev and build it again to read JPEG files",
                   f->name);
}
#endif
