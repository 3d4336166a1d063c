/* export_npz - an export as numpy.savez would write it; see export.h.
 *
 * A member of the archive is a NumPy array: head, then elements. Texts are arrays too, of
 * 4 bytes a character, which numpy.load gives back as str without unpickling anything.
 */
#include <stdio.h>

#include "base/mem.h"
#include "files/npy_write.h"
#include "files/zip_write.h"
#include "model/export_parts.h"

/* ---- texts ----------------------------------------------------------------------------- */

/* The next character of UTF-8 that was checked when the model was made; 0 at the end. */
static uint32_t next_character(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t x = *s;
    if (x == 0)
        return 0;
    if (x >= 0x80)
        x &= x >= 0xf0 ? 0x07 : x >= 0xe0 ? 0x0f : 0x1f;
    for (s++; (*s & 0xc0) == 0x80; s++)
        x = x << 6 | (*s & 0x3f);
    *text = (const char *)s;
    return x;
}

static uint32_t count_characters(const char *text)
{
    uint32_t n = 0;
    while (next_character(&text))
        n++;
    return n;
}

static sb_status add(struct sb_zip_writer *z, const char *name, const unsigned char *head,
                     size_t head_bytes, const void *data, size_t bytes)
{
    char file[SB_EXPORT_NAME + sizeof ".npy"];
    snprintf(file, sizeof file, "%s.npy", name);
    return sb_zip_add(z, file, head, head_bytes, data, bytes);
}

/* dims 0: one text; 1: n of them. */
static sb_status add_texts(struct sb_zip_writer *z, const char *name,
                           const char *const *text, uint32_t n, uint32_t dims)
{
    unsigned char head[SB_NPY_HEAD];
    const uint64_t shape[] = {n};
    size_t head_bytes;
    uint32_t longest = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t length = count_characters(text[i]);
        longest = length > longest ? length : longest;
    }
    size_t width = longest * sizeof(uint32_t);
    uint32_t *out = sb_calloc(n, width);
    if (!out)
        return sb_fail(SB_ENOMEM, "no memory for %u texts of %u characters", n, longest);
    for (uint32_t i = 0; i < n; i++) {
        const char *from = text[i];
        uint32_t *to = out + (size_t)i * longest;
        while (*from)
            *to++ = next_character(&from);
    }
    sb_npy_head_text(head, longest, shape, dims, &head_bytes);
    sb_status st = add(z, name, head, head_bytes, out, n * width);
    sb_free(out);
    return st;
}

static sb_status add_description(struct sb_zip_writer *z, const struct sb_export *e)
{
    const struct sb_model_info *info = &e->model->info;
    const char *posterior = info->gauss ? "gauss" : "point";
    const char *likelihood =
        info->targets > 0 ? sb_likelihood_row(info->likelihood)->name : NULL;
    const struct {
        const char *name, *text;
    } texts[] = {{"arch", info->arch},       {"method", info->method},
                 {"posterior", posterior},   {"sampling", sb_export_sampling(e)},
                 {"columns", info->columns}, {"recipe", info->recipe},
                 {"likelihood", likelihood}};
    sb_status st = SB_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && st == SB_OK; i++)
        if (texts[i].text)
            st = add_texts(z, texts[i].name, &texts[i].text, 1, 0);
    uint32_t names = info->class_name ? info->classes : 0;
    if (st == SB_OK && info->targets > 0)
        st = add_texts(z, "target_names", info->target_name, info->targets, 1);
    return st == SB_OK ? add_texts(z, "class_names", info->class_name, names, 1) : st;
}

/* ---- numbers --------------------------------------------------------------------------- */

static sb_status add_numbers(struct sb_zip_writer *z, const char *name,
                             const struct sb_shape *s, const float *x)
{
    unsigned char head[SB_NPY_HEAD];
    uint64_t shape[4];
    size_t head_bytes;
    for (size_t i = 0; i < s->ndim; i++)
        shape[i] = s->dim[i];
    sb_npy_head(head, SB_NPY_F32, shape, (uint32_t)s->ndim, &head_bytes);
    return add(z, name, head, head_bytes, x, sb_shape_count(s) * sizeof *x);
}

static sb_status add_integers(struct sb_zip_writer *z, const char *name, const int64_t *x,
                              uint32_t n)
{
    unsigned char head[SB_NPY_HEAD];
    size_t head_bytes;
    sb_npy_head(head, SB_NPY_I64, (const uint64_t[]){n}, 1, &head_bytes);
    return add(z, name, head, head_bytes, x, n * sizeof *x);
}

static sb_status add_sizes(struct sb_zip_writer *z, const struct sb_export *e)
{
    const struct sb_model_info *info = &e->model->info;
    const int64_t shape[] = {info->channels, info->height, info->width};
    const struct sb_shape channels = {.ndim = 1, .dim = {info->channels}};
    const struct sb_shape targets = {.ndim = 1, .dim = {info->targets}};
    int64_t *member = sb_malloc(e->members, sizeof *member);
    if (!member)
        return sb_fail(SB_ENOMEM, "no memory for a list of %u members", e->members);
    for (uint32_t i = 0; i < e->members; i++)
        member[i] = (int64_t)e->first + i;
    sb_status st = add_integers(z, "members", member, e->members);
    if (st == SB_OK)
        st = add_integers(z, "shape", shape, 3);
    if (st == SB_OK)
        st = add_numbers(z, "mean", &channels, info->mean);
    if (st == SB_OK)
        st = add_numbers(z, "sd", &channels, info->sd);
    if (st == SB_OK && info->targets > 0)
        st = add_numbers(z, "target_mean", &targets, info->target_mean);
    if (st == SB_OK && info->targets > 0)
        st = add_numbers(z, "target_sd", &targets, info->target_sd);
    if (st == SB_OK && info->target_width)
        st = add_numbers(z, "target_width", &targets, info->target_width);
    sb_free(member);
    return st;
}

static sb_status add_array(void *context, const struct sb_export_array *a,
                           const float *values)
{
    return add_numbers(context, a->name, &a->shape, values);
}

static sb_status count(void *context, const struct sb_export_array *a,
                       const float *values)
{
    uint64_t *bytes = context;
    *bytes += sb_shape_count(&a->shape) * sizeof *values;
    return SB_OK;
}

sb_status sb_export_npz(const struct sb_export *e, const char *path)
{
    struct sb_zip_writer z = {0};
    uint64_t bytes = 0;
    sb_status st = sb_export_each(e, count, &bytes);
    if (st == SB_OK && bytes > UINT32_MAX)
        return sb_fail(SB_EARG,
                       "%s: %zu MB of arrays, and 4095 fit an npz file; export fewer "
                       "members, or as safetensors-dense",
                       path, (size_t)(bytes >> 20));
    if (st == SB_OK)
        st = sb_zip_create(&z, path);
    if (st == SB_OK)
        st = add_sizes(&z, e);
    if (st == SB_OK)
        st = add_description(&z, e);
    if (st == SB_OK)
        st = sb_export_each_value(e, add_array, &z);
    if (st == SB_OK)
        st = sb_zip_finish(&z);
    sb_zip_abort(&z);
    return st;
}
