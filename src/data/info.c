/* info - see info.h. */
#include "data/info.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/columns.h"
#include "data/info_columns.h"
#include "data/reader.h"

/* ---- counting ---- */

/* Sums over pixels are kept about a value near their mean (the first one), so that the
 * variance does not drown in the square of a large mean. */
struct sums {
    double about, sum, squares;
};

static void add_bytes(struct sums *s, const uint8_t *x, size_t n)
{
    uint64_t sum = 0, squares = 0; /* exact; 2^45 pixels would fit */
    for (size_t k = 0; k < n; k++) {
        sum += x[k];
        squares += (uint64_t)x[k] * x[k];
    }
    s->sum += (double)sum;
    s->squares += (double)squares;
}

static void add_floats(struct sums *s, const float *x, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double v = (double)x[k] - s->about;
        s->sum += v;
        s->squares += v * v;
    }
}

static sb_status add_example(const struct sb_dataset *d, uint32_t i, struct sums *sums,
                             uint8_t *buffer)
{
    size_t plane = (size_t)d->height * d->width;
    const float *values = d->values + i * sb_dataset_elements(d);
    if (d->element == SB_FLOATS) {
        for (uint32_t c = 0; c < d->channels; c++) {
            if (i == 0)
                sums[c].about = (double)values[c * plane];
            add_floats(&sums[c], values + c * plane, plane);
        }
        return SB_OK;
    }
    const uint8_t *image;
    sb_status st = sb_dataset_image(d, i, buffer, &image);
    for (uint32_t c = 0; c < d->channels && st == SB_OK; c++)
        add_bytes(&sums[c], image + c * plane, plane);
    return st;
}

static void conclude(struct sb_data_info *i, const struct sums *sums)
{
    const struct sb_dataset *d = i->data;
    double pixels = (double)d->n * d->height * d->width;
    double unit = d->element == SB_BYTES ? 255.0 : 1.0;
    for (uint32_t c = 0; c < d->channels; c++) {
        double mean = sums[c].sum / pixels;
        double variance = sums[c].squares / pixels - mean * mean;
        i->mean[c] = (sums[c].about + mean) / unit;
        i->sd[c] = variance > 0.0 ? sqrt(variance) / unit : 0.0;
    }
}

static sb_status measure(struct sb_data_info *i)
{
    const struct sb_dataset *d = i->data;
    struct sums *sums = sb_calloc(d->channels, sizeof *sums);
    uint8_t *buffer = sb_malloc(d->fetch ? sb_dataset_elements(d) : 1, 1);
    sb_status st = sums && buffer ? SB_OK : sb_fail(SB_ENOMEM, "no memory for an image");
    for (uint32_t k = 0; k < d->n && st == SB_OK; k++)
        st = add_example(d, k, sums, buffer);
    if (st == SB_OK)
        conclude(i, sums);
    sb_free(sums);
    sb_free(buffer);
    return st;
}

sb_status sb_data_info_init(struct sb_data_info *i, const struct sb_dataset *d,
                            enum sb_split split)
{
    *i = (struct sb_data_info){.data = d, .split = split};
    i->counts = sb_calloc(d->classes, sizeof *i->counts);
    i->mean = sb_calloc(d->channels, sizeof *i->mean);
    i->sd = sb_calloc(d->channels, sizeof *i->sd);
    sb_status st = SB_OK;
    if (!i->counts || !i->mean || !i->sd)
        st = sb_fail(SB_ENOMEM, "no memory for the counts of %u classes", d->classes);
    for (uint32_t k = 0; k < d->n && d->labels && st == SB_OK; k++)
        i->counts[d->labels[k]]++;
    if (st == SB_OK)
        st = measure(i);
    if (st != SB_OK)
        sb_data_info_fini(i);
    return st;
}

void sb_data_info_fini(struct sb_data_info *i)
{
    if (!i)
        return;
    sb_free(i->counts);
    sb_free(i->mean);
    sb_free(i->sd);
    *i = (struct sb_data_info){0};
}

static size_t bytes_of(const struct sb_dataset *d)
{
    size_t one = d->element == SB_BYTES ? sizeof *d->images : sizeof *d->values;
    return d->n * sb_dataset_elements(d) * one;
}

static const char *element_name(const struct sb_dataset *d)
{
    return d->element == SB_BYTES ? "uint8" : "float32";
}

static const char *split_name(const struct sb_data_info *i)
{
    return i->data->whole ? "all" : sb_split_name(i->split);
}

/* ---- for people ---- */

enum { NUMBERS_MOST = 8 };

/* All of a few numbers; of many, between what they lie. */
static void add_numbers(struct sb_text *t, const char *name, const double *x, uint32_t n)
{
    double least = x[0], most = x[0];
    sb_text_add(t, "%-10s", name);
    for (uint32_t i = 0; i < n; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
        if (n <= NUMBERS_MOST)
            sb_text_add(t, " %.4g", x[i]);
    }
    if (n > NUMBERS_MOST)
        sb_text_add(t, " %.4g .. %.4g over %u of them", least, most, n);
    sb_text_add(t, "\n");
}

static void add_shape(struct sb_text *t, const struct sb_dataset *d)
{
    uint32_t features = d->columns ? d->columns->features : d->channels;
    if (sb_dataset_tabular(d))
        sb_text_add(t, "%-10s %u feature%s\n", "shape", features,
                    features == 1 ? "" : "s");
    else
        sb_text_add(t, "%-10s %u x %u pixels, %u channel%s\n", "shape", d->height,
                    d->width, d->channels, d->channels == 1 ? "" : "s");
}

/* Columns a terminal needs for a name in UTF-8, one a character. */
static int columns_of(const char *name)
{
    int n = 0;
    for (; *name; name++)
        n += ((unsigned char)*name & 0xc0) != 0x80;
    return n;
}

static void add_classes(struct sb_text *t, const struct sb_data_info *i)
{
    const struct sb_dataset *d = i->data;
    int widest = 0;
    for (uint32_t c = 0; d->class_names && c < d->classes; c++) {
        int n = columns_of(d->class_names[c]);
        widest = n > widest ? n : widest;
    }
    sb_text_add(t, "%-10s %u\n", "classes", d->classes);
    for (uint32_t c = 0; c < d->classes; c++) {
        const char *name = d->class_names ? d->class_names[c] : "";
        sb_text_add(t, "  %6u  %s%*s  %8u  %6.2f %%\n", c, name,
                    widest - columns_of(name), "", i->counts[c],
                    100.0 * i->counts[c] / d->n);
    }
}

sb_status sb_data_info_text(const struct sb_data_info *i, char **out)
{
    const struct sb_dataset *d = i->data;
    struct sb_text t = {0};
    sb_text_add(&t, "%-10s %s\n", "path", d->path);
    sb_text_add(&t, "%-10s %s\n", "split", split_name(i));
    sb_text_add(&t, "%-10s %s\n", "format", d->format);
    sb_text_add(&t, "%-10s %u\n", "examples", d->n);
    add_shape(&t, d);
    sb_text_add(&t, "%-10s %s\n", "elements", element_name(d));
    sb_text_add(&t, "%-10s %zu (%.1f MB)\n", "bytes", bytes_of(d),
                (double)bytes_of(d) / 1e6);
    if (sb_dataset_tabular(d)) {
        sb_column_info_text(d, &t);
    } else {
        add_numbers(&t, "mean", i->mean, d->channels);
        add_numbers(&t, "sd", i->sd, d->channels);
    }
    add_classes(&t, i);
    for (uint32_t k = 0; d->columns && k < d->columns->count; k++) {
        char odd[SB_COLUMN_ODD];
        if (sb_columns_odd(d->columns, k, odd))
            sb_text_add(&t, "%-10s %s\n", "warning", odd);
    }
    return sb_text_take(&t, out);
}

/* ---- for programs ---- */

static json_t *classes(const struct sb_data_info *i)
{
    const struct sb_dataset *d = i->data;
    json_t *array = json_array();
    for (uint32_t c = 0; array && c < d->classes; c++) {
        json_t *name = d->class_names ? json_string(d->class_names[c]) : json_null();
        json_t *one =
            json_pack("{s:o, s:I}", "name", name, "count", (json_int_t)i->counts[c]);
        if (json_array_append_new(array, one) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* What data_info_text warns of. */
static json_t *warnings(const struct sb_dataset *d)
{
    json_t *array = json_array();
    for (uint32_t k = 0; array && d->columns && k < d->columns->count; k++) {
        char odd[SB_COLUMN_ODD];
        if (sb_columns_odd(d->columns, k, odd) &&
            json_array_append_new(array, json_string(odd)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

sb_status sb_data_info_json(const struct sb_data_info *i, char **out)
{
    const struct sb_dataset *d = i->data;
    *out = NULL;
    /* A path need not be UTF-8: json_pack refuses it then, and null says so. */
    json_t *path = json_string(d->path);
    json_t *all = json_pack(
        "{s:o, s:s, s:s, s:I, s:[I,I,I], s:s, s:I, s:o, s:o, s:o, s:o}", "path",
        path ? path : json_null(), "split", split_name(i), "format", d->format,
        "examples", (json_int_t)d->n, "shape", (json_int_t)d->height,
        (json_int_t)d->width, (json_int_t)d->channels, "elements", element_name(d),
        "bytes", (json_int_t)bytes_of(d), "mean", sb_json_doubles(i->mean, d->channels),
        "sd", sb_json_doubles(i->sd, d->channels), "classes", classes(i), "warnings",
        warnings(d));
    if (all && sb_dataset_tabular(d) &&
        json_object_set_new(all, "columns", sb_column_info_json(d)) != 0) {
        json_decref(all);
        all = NULL;
    }
    sb_status st = all ? sb_json_write(all, true, out)
                       : sb_fail(SB_ENOMEM, "no memory for the JSON of %s", d->path);
    json_decref(all);
    return st;
}
