/* model_read - the reader of model files; model.h has the format.
 *
 * Every byte is somebody else's. The order is: the texts, which decide the architecture;
 * the number of networks against the number of tensors; then each network, sized by the
 * tensors that are there.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/fields.h"
#include "model/model.h"
#include "model/trained_file.h"

/* What the texts say; info points into the rest. */
struct description {
    struct sb_model_info info;
    json_t *names, *networks; /* owned */
    const char **class_name;  /* owned */
    float *mean;              /* owned; mean and sd */
};

static void description_fini(struct description *d)
{
    json_decref(d->names);
    json_decref(d->networks);
    sb_free(d->class_name);
    sb_free(d->mean);
}

static sb_status read_shape(const struct sb_st *st, struct sb_model_info *o)
{
    json_t *shape;
    uint32_t *out[] = {&o->channels, &o->height, &o->width};
    sb_status s = sb_fields_json(st, "shape", &shape);
    if (s != SB_OK)
        return s;
    bool good = json_is_array(shape) && json_array_size(shape) == 3;
    for (size_t i = 0; good && i < 3; i++) {
        const json_t *x = json_array_get(shape, i);
        json_int_t n = json_integer_value(x);
        good = json_is_integer(x) && n >= 1 && n <= INT32_MAX;
        *out[i] = (uint32_t)n;
    }
    json_decref(shape);
    return good ? SB_OK
                : sb_fail(SB_EFORMAT,
                          "%s: metadata \"shape\": want [channels, height, width]",
                          st->path);
}

static sb_status read_names(const struct sb_st *st, struct description *d)
{
    sb_status s = sb_fields_json(st, "class_names", &d->names);
    if (s != SB_OK)
        return s;
    size_t n = json_array_size(d->names);
    if (!json_is_array(d->names) || (n > 0 && n != d->info.classes))
        return sb_fail(SB_EFORMAT,
                       "%s: metadata \"class_names\": want an array of %u names or none",
                       st->path, d->info.classes);
    if (n == 0)
        return SB_OK;
    d->class_name = sb_malloc(n, sizeof *d->class_name);
    if (!d->class_name)
        return sb_fail(SB_ENOMEM, "%s: no memory for %zu class names", st->path, n);
    for (size_t i = 0; i < n; i++) {
        d->class_name[i] = json_string_value(json_array_get(d->names, i));
        if (!d->class_name[i])
            return sb_fail(SB_EFORMAT,
                           "%s: metadata \"class_names\": name %zu is not a string",
                           st->path, i);
    }
    d->info.class_name = d->class_name;
    return SB_OK;
}

static sb_status read_numbers(const struct sb_st *st, const json_t *object,
                              const char *key, float *out, uint32_t n)
{
    const json_t *array = json_object_get(object, key);
    for (uint32_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(array, i);
        if (!json_is_number(x))
            return sb_fail(SB_EFORMAT,
                           "%s: metadata \"normalisation\": %s of channel %u is not a "
                           "number",
                           st->path, key, i);
        out[i] = (float)json_number_value(x);
    }
    return SB_OK;
}

static sb_status read_normalisation(const struct sb_st *st, struct description *d)
{
    json_t *object;
    uint32_t n = d->info.channels;
    sb_status s = sb_fields_json(st, "normalisation", &object);
    if (s != SB_OK)
        return s;
    /* as many numbers as that are in the file before memory is asked for them */
    if (json_array_size(json_object_get(object, "mean")) != n ||
        json_array_size(json_object_get(object, "sd")) != n) {
        s = sb_fail(SB_EFORMAT,
                    "%s: metadata \"normalisation\": want mean and sd of %u channels",
                    st->path, n);
        goto done;
    }
    d->mean = sb_malloc(n, 2 * sizeof *d->mean);
    if (!d->mean) {
        s = sb_fail(SB_ENOMEM, "%s: no memory for %u channels", st->path, n);
        goto done;
    }
    d->info.mean = d->mean;
    d->info.sd = d->mean + n;
    s = read_numbers(st, object, "mean", d->mean, n);
    if (s == SB_OK)
        s = read_numbers(st, object, "sd", d->mean + n, n);
done:
    json_decref(object);
    return s;
}

static sb_status read_posterior(const struct sb_st *st, bool *gauss)
{
    const char *text;
    sb_status s = sb_st_find_meta(st, "posterior", &text);
    if (s != SB_OK)
        return s;
    *gauss = strcmp(text, "gauss") == 0;
    if (!*gauss && strcmp(text, "point") != 0)
        return sb_fail(SB_EFORMAT,
                       "%s: metadata \"posterior\": \"%s\", want gauss or point",
                       st->path, text);
    return SB_OK;
}

static sb_status read_branch(const json_t *j, const char *source, struct sb_form_spec *f)
{
    const json_t *value = json_object_get(j, "branch_at");
    const char *at = json_string_value(value);
    if (!value)
        return SB_OK;
    if (!at || strlen(at) >= sizeof f->branch_at)
        return sb_fail(
            SB_EFORMAT,
            "%s: key \"branch_at\": want the name of a block or layer, shorter "
            "than %zu bytes",
            source, sizeof f->branch_at);
    memcpy(f->branch_at, at, strlen(at) + 1);
    return SB_OK;
}

static sb_status read_rate(const json_t *j, const char *source, struct sb_form_spec *f)
{
    double rate;
    sb_status s = sb_json_number(j, source, "rate", &rate);
    if (s == SB_OK && !(rate >= 0 && (float)rate < 1))
        return sb_fail(
            SB_EFORMAT,
            "%s: key \"rate\": want a share of at least 0 and below 1, have %g", source,
            rate);
    f->rate = s == SB_OK ? (float)rate : 0.0f;
    f->channels = json_is_true(json_object_get(j, "channels"));
    return s;
}

static sb_status read_form_values(const json_t *j, const char *source,
                                  struct sb_form_spec *f)
{
    const char *name;
    int64_t members = 1;
    sb_status s = sb_json_string(j, source, "name", &name);
    if (s == SB_OK)
        s = sb_form_find(name, &f->kind);
    if (s == SB_OK && f->kind != SB_FORM_PLAIN)
        s = sb_json_integer(j, source, "members", 1, SB_RNG_MEMBERS, &members);
    f->members = (uint32_t)members;
    if (s == SB_OK && f->kind == SB_FORM_DROPOUT)
        s = read_rate(j, source, f);
    return s == SB_OK ? read_branch(j, source, f) : s;
}

static sb_status read_form(const struct sb_st *st, struct sb_form_spec *f)
{
    json_t *j;
    sb_status s = sb_fields_json(st, "form", &j);
    if (s == SB_OK)
        s = read_form_values(j, "metadata \"form\"", f);
    json_decref(j);
    return s == SB_OK
               ? SB_OK
               : sb_fail(s == SB_EARG ? SB_EFORMAT : s, "%s: %s", st->path, sb_message());
}

static sb_status read_description(const struct sb_st *st, struct description *d)
{
    uint64_t classes = 0;
    sb_status s = sb_fields_check_format(st, SB_MODEL_FORMAT, SB_MODEL_VERSION);
    if (s == SB_OK)
        s = sb_st_find_meta(st, "arch", &d->info.arch);
    if (s == SB_OK)
        s = sb_st_find_meta(st, "method", &d->info.method);
    if (s == SB_OK)
        s = sb_st_find_meta(st, "recipe", &d->info.recipe);
    d->info.columns = sb_st_meta(st, "columns"); /* checked by who uses it, as ... */
    d->info.data = sb_st_meta(st, "data");
    if (s == SB_OK)
        s = read_posterior(st, &d->info.gauss);
    if (s == SB_OK)
        s = read_shape(st, &d->info);
    if (s == SB_OK)
        s = sb_fields_integer(st, "classes", INT32_MAX, &classes);
    d->info.classes = (uint32_t)classes;
    if (s == SB_OK)
        s = read_names(st, d);
    if (s == SB_OK)
        s = read_normalisation(st, d);
    if (s == SB_OK)
        s = read_form(st, &d->info.form);
    return s == SB_OK ? sb_fields_json(st, "networks", &d->networks) : s;
}

/* ---- networks ---------------------------------------------------------------------- */

static sb_status check_networks(const struct sb_st *st, const struct sb_model *m,
                                const json_t *networks)
{
    size_t n = json_array_size(networks);
    size_t least = (size_t)m->trained.weights + 4 * (size_t)m->trained.norms;
    if (!json_is_array(networks) || n == 0)
        return sb_fail(SB_EFORMAT,
                       "%s: metadata \"networks\": want an array of at least one network",
                       st->path);
    if (n * sb_form_members(&m->info.form) > SB_RNG_MEMBERS)
        return sb_fail(SB_EFORMAT, "%s: %zu networks; at most %d members work", st->path,
                       n, SB_RNG_MEMBERS);
    if (n > st->tensors / least)
        return sb_fail(SB_EFORMAT,
                       "%s: %zu networks of %s have at least %zu tensors each, the file "
                       "has %zu",
                       st->path, n, m->info.arch, least, st->tensors);
    return SB_OK;
}

static sb_status read_network(struct sb_fields *f, struct sb_model *m, uint32_t i,
                              const json_t *figures)
{
    char prefix[SB_TRAINED_PREFIX], source[64];
    struct sb_trained network;
    snprintf(prefix, sizeof prefix, "net%u", i);
    snprintf(source, sizeof source, "metadata \"networks\", network %u", i);
    sb_status s = sb_trained_get(f, prefix, &m->trained, m->info.gauss, &network);
    if (s == SB_OK) {
        s = sb_trained_from_json(figures, source, &network);
        if (s != SB_OK)
            s = sb_fail(s, "%s: %s", f->st->path, sb_message());
    }
    if (s == SB_OK)
        s = sb_model_add(m, &network);
    sb_trained_fini(&network);
    return s;
}

static sb_status read_model(struct sb_model *m, const struct sb_st *st, bool in_place)
{
    struct description d = {0};
    struct sb_fields f = {0};
    sb_status s = read_description(st, &d);
    if (s != SB_OK)
        goto done;
    s = sb_model_init(m, &d.info);
    if (s != SB_OK) {
        s = sb_fail(s == SB_EARG ? SB_EFORMAT : s, "%s: %s", st->path, sb_message());
        goto done;
    }
    s = check_networks(st, m, d.networks);
    if (s == SB_OK)
        s = sb_fields_init(&f, st);
    f.in_place = in_place;
    for (size_t i = 0; s == SB_OK && i < json_array_size(d.networks); i++)
        s = read_network(&f, m, (uint32_t)i, json_array_get(d.networks, i));
    if (s == SB_OK)
        s = sb_fields_finish(&f, "model");
done:
    sb_fields_fini(&f);
    description_fini(&d);
    if (s != SB_OK)
        sb_model_fini(m);
    return s;
}

sb_status sb_model_read(struct sb_model *m, const char *path)
{
    struct sb_st st;
    *m = (struct sb_model){0};
    sb_status s = sb_st_open(&st, path);
    if (s == SB_OK)
        s = read_model(m, &st, false);
    sb_st_close(&st);
    return s;
}

/* Takes st over. */
static sb_status keep_in_place(struct sb_model *m, struct sb_st *st)
{
    bool in_place = sb_fields_aligned(st);
    sb_status s = read_model(m, st, in_place);
    if (s == SB_OK && in_place)
        m->file = *st;
    else
        sb_st_close(st);
    return s;
}

sb_status sb_model_map(struct sb_model *m, const char *path)
{
    struct sb_st st;
    *m = (struct sb_model){0};
    sb_status s = sb_st_open(&st, path);
    return s == SB_OK ? keep_in_place(m, &st) : s;
}

sb_status sb_model_map_bytes(struct sb_model *m, const char *path, const void *bytes,
                             size_t size)
{
    struct sb_st st;
    *m = (struct sb_model){0};
    sb_status s = sb_st_open_bytes(&st, path, bytes, size);
    return s == SB_OK ? keep_in_place(m, &st) : s;
}

sb_status sb_model_read_bytes(struct sb_model *m, const char *path, const void *bytes,
                              size_t size)
{
    struct sb_st st;
    *m = (struct sb_model){0};
    sb_status s = sb_st_open_bytes(&st, path, bytes, size);
    if (s == SB_OK)
        s = read_model(m, &st, false);
    sb_st_close(&st);
    return s;
}
