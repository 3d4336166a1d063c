/* corrupt_jpeg - through libjpeg and back, in memory.
 *
 * As Pillow saves: quality alone is chosen, so colours have half the resolution (4:2:0).
 * libjpeg calls error_exit when it cannot go on and must not return from there: ours jumps
 * back, keeps libjpeg's sentence, and never exits or prints. Memory inside libjpeg is its
 * own, from malloc; the compressed bytes go to a buffer that always suffices.
 */
#include "corrupt/corrupt_parts.h"

#ifdef SB_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs FILE */
#include <string.h>

#include <jpeglib.h>

static const int quality[SB_SEVERITIES] = {80, 65, 58, 50, 40};

struct sb_recoder {
    struct jpeg_compress_struct coder;
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr target;
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
    uint32_t channels, height, width;
    uint8_t *row;    /* [width][channels] owned */
    uint8_t *packed; /* [capacity] owned */
    size_t capacity;
};

static void jump_back(j_common_ptr info)
{
    struct sb_recoder *j = info->client_data;
    info->err->format_message(info, j->message);
    longjmp(j->back, 1);
}

static void keep_quiet(j_common_ptr info)
{
    (void)info;
}

static void nothing(j_compress_ptr info)
{
    (void)info;
}

static boolean too_small(j_compress_ptr info)
{
    struct sb_recoder *j = info->client_data;
    snprintf(j->message, sizeof j->message, "more than %zu bytes", j->capacity);
    longjmp(j->back, 1);
}

static void begin_packed(j_compress_ptr info)
{
    struct sb_recoder *j = info->client_data;
    j->target.next_output_byte = j->packed;
    j->target.free_in_buffer = j->capacity;
}

static sb_status create(struct sb_recoder *j)
{
    if (setjmp(j->back))
        return sb_recoder_status(j);
    jpeg_create_compress(&j->coder);
    jpeg_create_decompress(&j->decoder);
    j->coder.dest = &j->target;
    return SB_OK;
}

void sb_recoder_free(struct sb_recoder *j)
{
    if (!j)
        return;
    if (j->coder.err) {
        jpeg_destroy_compress(&j->coder);
        jpeg_destroy_decompress(&j->decoder);
    }
    sb_free(j->packed);
    sb_free(j->row);
    sb_free(j);
}

static sb_status init(struct sb_recoder *j, uint32_t channels, uint32_t height,
                      uint32_t width)
{
    /* Coefficients of a block at these qualities take less than two bytes each; blocks are
     * whole, 16 x 16 in colour. */
    size_t blocks = (((size_t)height + 15) / 16) * (((size_t)width + 15) / 16);
    j->channels = channels;
    j->height = height;
    j->width = width;
    j->capacity = 4096 + blocks * 256 * 3 * 2;
    j->row = sb_malloc(width, channels);
    j->packed = sb_malloc(j->capacity, 1);
    if (!j->row || !j->packed)
        return sb_fail(SB_ENOMEM, "no memory for JPEG compression");
    j->coder.err = j->decoder.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = jump_back;
    j->errors.output_message = keep_quiet;
    j->coder.client_data = j->decoder.client_data = j;
    j->target.init_destination = begin_packed;
    j->target.empty_output_buffer = too_small;
    j->target.term_destination = nothing;
    return create(j);
}

sb_status sb_recoder_new(struct sb_recoder **out, uint32_t channels, uint32_t height,
                         uint32_t width)
{
    *out = NULL;
    struct sb_recoder *j = sb_calloc(1, sizeof *j);
    if (!j)
        return sb_fail(SB_ENOMEM, "no memory for JPEG compression");
    sb_status st = init(j, channels, height, width);
    if (st != SB_OK) {
        sb_recoder_free(j);
        return st;
    }
    *out = j;
    return SB_OK;
}

static void encode(struct sb_recoder *j, int q, const uint8_t *in)
{
    size_t plane = (size_t)j->height * j->width;
    struct jpeg_compress_struct *coder = &j->coder;
    coder->image_width = j->width;
    coder->image_height = j->height;
    coder->input_components = (int)j->channels;
    coder->in_color_space = j->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(coder);
    jpeg_set_quality(coder, q, TRUE);
    jpeg_start_compress(coder, TRUE);
    for (uint32_t y = 0; y < j->height; y++) {
        for (uint32_t c = 0; c < j->channels; c++)
            for (uint32_t x = 0; x < j->width; x++)
                j->row[x * j->channels + c] = in[c * plane + (size_t)y * j->width + x];
        jpeg_write_scanlines(coder, &j->row, 1);
    }
    jpeg_finish_compress(coder);
}

static void decode(struct sb_recoder *j, uint8_t *out)
{
    size_t plane = (size_t)j->height * j->width;
    struct jpeg_decompress_struct *decoder = &j->decoder;
    jpeg_mem_src(decoder, j->packed, j->capacity - j->target.free_in_buffer);
    jpeg_read_header(decoder, TRUE);
    jpeg_start_decompress(decoder);
    for (uint32_t y = 0; y < j->height; y++) {
        jpeg_read_scanlines(decoder, &j->row, 1);
        for (uint32_t c = 0; c < j->channels; c++)
            for (uint32_t x = 0; x < j->width; x++)
                out[c * plane + (size_t)y * j->width + x] = j->row[x * j->channels + c];
    }
    jpeg_finish_decompress(decoder);
}

void sb_recoder_recode(struct sb_canvas *v, const uint8_t *in, uint8_t *out)
{
    struct sb_recoder *j = v->jpeg;
    if (setjmp(j->back)) {
        jpeg_abort_compress(&j->coder);
        jpeg_abort_decompress(&j->decoder);
        v->failed = true;
        return;
    }
    encode(j, quality[v->plan->severity], in);
    decode(j, out);
}

sb_status sb_recoder_status(const struct sb_recoder *j)
{
    return sb_fail(SB_ENOMEM, "libjpeg cannot compress an image: %s", j->message);
}

#else

sb_status sb_recoder_new(struct sb_recoder **out, uint32_t channels, uint32_t height,
                         uint32_t width)
{
    (void)channels, (void)height, (void)width;
    *out = NULL;
    return sb_fail(SB_EMISSING, "jpeg_compression needs libjpeg, which this build "
                                "lacks; install libjpeg62-turbo-dev and build again");
}

void sb_recoder_free(struct sb_recoder *j)
{
    (void)j;
}

/* Never called: there is no such canvas. */
void sb_recoder_recode(struct sb_canvas *v, const uint8_t *in, uint8_t *out)
{
    (void)in, (void)out;
    v->failed = true;
}

sb_status sb_recoder_status(const struct sb_recoder *j)
{
    struct sb_recoder *none;
    (void)j;
    return sb_recoder_new(&none, 0, 0, 0);
}

#endif
