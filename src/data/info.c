/* info - see info.h. */
#include "data/info.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/reader.h"

/* ---- counting ---- */

static void add_channel(const struct sb_dataset *d, uint32_t c, double *mean, double *sd)
{
    size_t plane = (size_t)d->height * d->width;
    uint64_t sum = 0, squares = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        const uint8_t *p = d->images + i * sb_dataset_elements(d) + c * plane;
        for (size_t k = 0; k < plane; k++) {
            sum += p[k];
            squares += (uint64_t)p[k] * p[k];
        }
    }
    double pixels = (double)d->n * (double)plane, mu = (double)sum / pixels;
    double variance = (double)squares / pixels - mu * mu;
    *mean = mu / 255.0;
    *sd = variance > 0.0 ? sqrt(variance) / 255.0 : 0.0;
}

sb_status sb_data_info_init(struct sb_data_info *i, const struct sb_dataset *d,
                            enum sb_split split)
{
    *i = (struct sb_data_info){.data = d, .split = split};
    i->counts = sb_calloc(d->classes, sizeof *i->counts);
    i->mean = sb_calloc(d->channels, sizeof *i->mean);
    i->sd = sb_calloc(d->channels, sizeof *i->sd);
    if (!i->counts || !i->mean || !i->sd) {
        sb_data_info_fini(i);
        return sb_fail(SB_ENOMEM, "no memory for the counts of %u classes", d->classes);
    }
    for (uint32_t k = 0; k < d->n; k++)
        i->counts[d->labels[k]]++;
    for (uint32_t c = 0; c < d->channels; c++)
        add_channel(d, c, &i->mean[c], &i->sd[c]);
    return SB_OK;
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
    return d->n * sb_dataset_elements(d);
}

/* ---- for people ---- */

static void add_numbers(struct sb_text *t, const char *name, const double *x, uint32_t n)
{
    sb_text_add(t, "%-10s", name);
    for (uint32_t i = 0; i < n; i++)
        sb_text_add(t, " %.4f", x[i]);
    sb_text_add(t, "\n");
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
    sb_text_add(&t, "%-10s %s\n", "split", sb_split_name(i->split));
    sb_text_add(&t, "%-10s %s\n", "format", d->format);
    sb_text_add(&t, "%-10s %u\n", "examples", d->n);
    sb_text_add(&t, "%-10s %u x %u pixels, %u channel%s\n", "shape", d->height, d->width,
                d->channels, d->channels == 1 ? "" : "s");
    sb_text_add(&t, "%-10s %s\n", "elements", "uint8");
    sb_text_add(&t, "%-10s %zu (%.1f MB)\n", "bytes", bytes_of(d),
                (double)bytes_of(d) / 1e6);
    add_numbers(&t, "mean", i->mean, d->channels);
    add_numbers(&t, "sd", i->sd, d->channels);
    add_classes(&t, i);
    return sb_text_take(&t, out);
}

/* ---- for programs ---- */

static json_t *numbers(const double *x, uint32_t n)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < n; i++)
        if (json_array_append_new(array, sb_json_real(x[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

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

sb_status sb_data_info_json(const struct sb_data_info *i, char **out)
{
    const struct sb_dataset *d = i->data;
    *out = NULL;
    /* A path need not be UTF-8: json_pack refuses it then, and null says so. */
    json_t *path = json_string(d->path);
    json_t *all =
        json_pack("{s:o, s:s, s:s, s:I, s:[I,I,I], s:s, s:I, s:o, s:o, s:o}", "path",
                  path ? path : json_null(), "split", sb_split_name(i->split), "format",
                  d->format, "examples", (json_int_t)d->n, "shape", (json_int_t)d->height,
                  (json_int_t)d->width, (json_int_t)d->channels, "elements", "uint8",
                  "bytes", (json_int_t)bytes_of(d), "mean", numbers(i->mean, d->channels),
                  "sd", numbers(i->sd, d->channels), "classes", classes(i));
    sb_status st = all ? sb_json_write(all, true, out)
                       : sb_fail(SB_ENOMEM, "no memory for the JSON of %s", d->path);
    json_decref(all);
    return st;
}
