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
    json_t *target_names;     /* owned, like the rest: of outcomes */
    const char **target_name;
    float *target_mean; /* and sd */
    float *target_width;
    float *score;
};

static void description_fini(struct description *d)
{
    json_decref(d->names);
    json_decref(d->networks);
    sb_free(d->class_name);
    sb_free(d->mean);
    json_decref(d->target_names);
    sb_free(d->target_name);
    sb_free(d->target_mean);
    sb_free(d->target_width);
    sb_free(d->score);
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

/* out[n] = the texts of an array, which must stay. The caller owns it. */
static sb_status read_texts(const struct sb_st *st, const char *key, const json_t *array,
                            const char ***out)
{
    size_t n = json_array_size(array);
    const char **text = *out = sb_malloc(n, sizeof *text);
    if (!text)
        return sb_fail(SB_ENOMEM, "%s: no memory for %zu names", st->path, n);
    for (size_t i = 0; i < n; i++) {
        text[i] = json_string_value(json_array_get(array, i));
        if (!text[i])
            return sb_fail(SB_EFORMAT, "%s: metadata \"%s\": name %zu is not a string",
                           st->path, key, i);
    }
    return SB_OK;
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
    s = read_texts(st, "class_names", d->names, &d->class_name);
    d->info.class_name = d->class_name;
    return s;
}

static sb_status read_numbers(const struct sb_st *st, const json_t *object,
                              const char *what, const char *key, float *out, uint32_t n)
{
    const json_t *array = json_object_get(object, key);
    for (uint32_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(array, i);
        if (!json_is_number(x))
            return sb_fail(SB_EFORMAT, "%s: metadata \"%s\": %s of %s %u is not a number",
                           st->path, what, key,
                           strcmp(what, "targets") == 0 ? "target" : "channel", i);
        out[i] = (float)json_number_value(x);
    }
    return SB_OK;
}

/* Mean and sd of n channels or targets, in one block that the caller owns. */
static sb_status read_scale(const struct sb_st *st, const json_t *object,
                            const char *what, uint32_t n, float **out)
{
    /* as many numbers as that are in the file before memory is asked for them */
    if (json_array_size(json_object_get(object, "mean")) != n ||
        json_array_size(json_object_get(object, "sd")) != n)
        return sb_fail(SB_EFORMAT, "%s: metadata \"%s\": want mean and sd of %u %s",
                       st->path, what, n,
                       strcmp(what, "targets") == 0 ? what : "channels");
    *out = sb_malloc(n, 2 * sizeof **out);
    if (!*out)
        return sb_fail(SB_ENOMEM, "%s: no memory for the %s of %u", st->path, what, n);
    sb_status s = read_numbers(st, object, what, "mean", *out, n);
    return s == SB_OK ? read_numbers(st, object, what, "sd", *out + n, n) : s;
}

static sb_status read_normalisation(const struct sb_st *st, struct description *d)
{
    json_t *object;
    uint32_t n = d->info.channels;
    sb_status s = sb_fields_json(st, "normalisation", &object);
    if (s == SB_OK)
        s = read_scale(st, object, "normalisation", n, &d->mean);
    json_decref(object);
    d->info.mean = d->mean;
    d->info.sd = s == SB_OK ? d->mean + n : NULL;
    return s;
}

static sb_status read_likelihood(const struct sb_st *st, const char *name,
                                 enum sb_likelihood_kind *out)
{
    for (int k = SB_LIKELIHOOD_GAUSS_SHARED; k < SB_LIKELIHOODS; k++)
        if (strcmp(name, sb_likelihood_row((enum sb_likelihood_kind)k)->name) == 0) {
            *out = (enum sb_likelihood_kind)k;
            return SB_OK;
        }
    return sb_fail(SB_EFORMAT,
                   "%s: metadata \"likelihood\": \"%s\", want gauss-shared or "
                   "gauss-per-example",
                   st->path, name);
}

/* Of n targets, if the ensemble has one. */
static sb_status read_width(const struct sb_st *st, const json_t *object, uint32_t n,
                            struct description *d)
{
    const json_t *array = json_object_get(object, "width");
    if (!array)
        return SB_OK;
    if (json_array_size(array) != n)
        return sb_fail(SB_EFORMAT,
                       "%s: metadata \"targets\": want the width of %u targets", st->path,
                       n);
    d->target_width = sb_malloc(n, sizeof *d->target_width);
    if (!d->target_width)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u widths", st->path, n);
    d->info.target_width = d->target_width;
    return read_numbers(st, object, "targets", "width", d->target_width, n);
}

/* Of a model of outcomes; one of classes has no likelihood. */
static sb_status read_targets(const struct sb_st *st, struct description *d)
{
    const char *name = sb_st_meta(st, "likelihood");
    json_t *object;
    if (!name)
        return SB_OK;
    sb_status s = read_likelihood(st, name, &d->info.likelihood);
    if (s == SB_OK)
        s = sb_fields_json(st, "targets", &object);
    if (s != SB_OK)
        return s;
    d->target_names = json_incref(json_object_get(object, "names"));
    size_t n = json_array_size(d->target_names);
    if (n == 0 || n > SB_MODEL_TARGETS || d->info.classes != 0)
        s = sb_fail(SB_EFORMAT,
                    "%s: metadata \"targets\": %zu names beside %u classes; want 1 to %d "
                    "names and no class",
                    st->path, n, d->info.classes, SB_MODEL_TARGETS);
    if (s == SB_OK)
        s = read_texts(st, "targets", d->target_names, &d->target_name);
    if (s == SB_OK)
        s = read_scale(st, object, "targets", (uint32_t)n, &d->target_mean);
    if (s == SB_OK)
        s = read_width(st, object, (uint32_t)n, d);
    json_decref(object);
    d->info.targets = (uint32_t)n;
    d->info.target_name = d->target_name;
    d->info.target_mean = d->target_mean;
    d->info.target_sd = s == SB_OK ? d->target_mean + n : NULL;
    return s;
}

/* Scores of the calibration part, if the file has them. */
static sb_status read_scores(struct sb_fields *f, struct description *d)
{
    const struct sb_st_tensor *t = sb_fields_lookup(f, SB_MODEL_SCORES);
    uint32_t rows = sb_model_score_rows(&d->info);
    f->next = 0;
    if (!t)
        return SB_OK;
    if (t->ndim != 2 || t->shape[0] != rows || t->shape[1] == 0 ||
        t->shape[1] > INT32_MAX)
        return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": want %u rows of scores",
                       f->st->path, SB_MODEL_SCORES, rows);
    struct sb_shape s = {2, {rows, t->shape[1]}};
    d->score = sb_malloc(t->count, sizeof *d->score);
    if (!d->score)
        return sb_fail(SB_ENOMEM, "%s: no memory for %zu scores", f->st->path, t->count);
    sb_status st = sb_fields_f32(f, SB_MODEL_SCORES, &s, d->score);
    f->next = 0;
    for (size_t i = 0; i < t->count && st == SB_OK; i++)
        if (d->score[i] < 0 || (i % s.dim[1] > 0 && d->score[i] < d->score[i - 1]))
            st = sb_fail(SB_EFORMAT,
                         "%s: tensor \"%s\": number %zu is negative or below the one "
                         "before",
                         f->st->path, SB_MODEL_SCORES, i);
    d->info.score = d->score;
    d->info.scores = (uint32_t)s.dim[1];
    return st;
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
        s = read_targets(st, d);
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
    if (s == SB_OK)
        s = sb_fields_init(&f, st);
    if (s == SB_OK)
        s = read_scores(&f, &d);
    if (s != SB_OK)
        goto done;
    s = sb_model_init(m, &d.info);
    if (s != SB_OK) {
        s = sb_fail(s == SB_EARG ? SB_EFORMAT : s, "%s: %s", st->path, sb_message());
        goto done;
    }
    s = check_networks(st, m, d.networks);
    f.in_place = in_place;
    for (size_t i = 0; s == SB_OK && i < json_array_size(d.networks); i++)
        s = read_network(&f, m, (uint32_t)i, json_array_get(d.networks, i));
    if (s == SB_OK)
        s = sb_far_get(&f, &m->arch, m->members, &m->far, &m->far_number);
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
