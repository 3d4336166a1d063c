/* checkpoint_file - writes and reads one checkpoint; checkpoint.h has the format. */
#include "model/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/identity.h"
#include "model/fields.h"
#include "model/trained_file.h"

#define CHECKPOINT_FORMAT "sebays-checkpoint"
enum { CHECKPOINT_VERSION = 2, KEY_BYTES = 96 };

/* ---- writing ----------------------------------------------------------------------- */

/* A record of the network, its momentum and, of a sparse layer's mu, positions; position:
 * what is left of the memory for all layers' positions. */
static sb_status put_param(struct sb_st_writer *w, const struct sb_net *net,
                           const struct sb_param *p, int32_t **position)
{
    struct sb_field f;
    char name[KEY_BYTES];
    struct sb_shape s = sb_param_shape(p);
    sb_field_begin(&f, "net", p->layer);
    snprintf(name, sizeof name, "%s_momentum", p->part);
    sb_status st =
        sb_st_writer_add(w, sb_field_part(&f, p->part), SB_F32, s.ndim, s.dim, p->value);
    if (st == SB_OK && p->momentum)
        st = sb_st_writer_add(w, sb_field_part(&f, name), SB_F32, s.ndim, s.dim,
                              p->momentum);
    if (st != SB_OK || p->role != SB_PARAM_MU || net->weight[p->weight].dense)
        return st;
    st = sb_pattern_positions(&net->weight[p->weight].pattern, *position);
    if (st == SB_OK)
        st = sb_st_writer_add(w, sb_field_part(&f, "positions"), SB_I32, s.ndim, s.dim,
                              *position);
    *position += p->count;
    return st;
}

static sb_status put_state(struct sb_st_writer *w, const struct sb_checkpoint *c)
{
    sb_status st = SB_OK;
    for (size_t i = 0; st == SB_OK && i < c->values; i++) {
        const struct sb_checkpoint_value *v = &c->value[i];
        char key[KEY_BYTES], text[24];
        uint64_t bits;
        snprintf(key, sizeof key, "state.%s", v->name);
        if (v->integer) {
            snprintf(text, sizeof text, "%llu", (unsigned long long)*v->integer);
        } else {
            memcpy(&bits, v->real, sizeof bits);
            snprintf(text, sizeof text, "%016llx", (unsigned long long)bits);
        }
        st = sb_st_writer_meta(w, key, text);
    }
    return st;
}

/* How many weights of each layer exist; NULL: no memory. */
static json_t *list_active(const struct sb_net *net)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < net->arch.weights; i++)
        if (json_array_append_new(list, json_integer(net->weight[i].nnz)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static sb_status put_metadata(struct sb_st_writer *w, const struct sb_checkpoint *c)
{
    sb_status st = sb_st_writer_meta(w, "format", CHECKPOINT_FORMAT);
    if (st == SB_OK)
        st = sb_fields_put_integer(w, "version", CHECKPOINT_VERSION);
    if (st == SB_OK)
        st = sb_st_writer_meta(w, "recipe", c->recipe);
    if (st == SB_OK && c->data)
        st = sb_st_writer_meta(w, "data", c->data);
    if (st == SB_OK)
        st = sb_fields_put_json(w, "active", list_active(c->net));
    if (st == SB_OK)
        st = put_state(w, c);
    if (st == SB_OK)
        st = sb_fields_put_json(w, "trained",
                                sb_model_figures(c->trained, c->trained_count));
    if (st == SB_OK)
        st = sb_fields_put_json(
            w, "best", sb_model_figures(c->best, c->best && c->has_best ? 1 : 0));
    if (st == SB_OK)
        st = sb_fields_put_json(
            w, "kept", sb_model_figures(c->kept, c->kept && c->has_kept ? 1 : 0));
    return st;
}

static sb_status put_tensors(struct sb_st_writer *w, const struct sb_checkpoint *c,
                             int32_t *position)
{
    char name[KEY_BYTES];
    sb_status st = SB_OK;
    for (uint32_t i = 0; st == SB_OK && i < c->net->params.n; i++)
        st = put_param(w, c->net, &c->net->params.param[i], &position);
    size_t arrays = !c->has_arrays || *c->has_arrays ? c->arrays : 0;
    for (size_t i = 0; st == SB_OK && i < arrays; i++) {
        snprintf(name, sizeof name, "array.%s", c->array[i].name);
        st = sb_st_writer_add(w, name, SB_F32, 1, &c->array[i].count, c->array[i].data);
    }
    for (uint32_t i = 0; st == SB_OK && i < c->trained_count; i++) {
        snprintf(name, sizeof name, "trained%u", i);
        st = sb_trained_put(w, name, &c->trained[i]);
    }
    if (st == SB_OK && c->best && c->has_best)
        st = sb_trained_put(w, "best", c->best);
    if (st == SB_OK && c->kept && c->has_kept)
        st = sb_trained_put(w, "kept", c->kept);
    return st;
}

static sb_status put_checksum(struct sb_st_writer *w)
{
    char text[24];
    uint64_t sum;
    sb_status st = sb_checksum_header(w->header, &sum);
    if (st != SB_OK)
        return st;
    for (size_t i = 0; i < w->pieces; i++)
        sum = sb_checksum(sum, w->piece[i].data, w->piece[i].bytes);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
    return sb_st_writer_meta(w, "checksum", text);
}

sb_status sb_checkpoint_write(const struct sb_checkpoint *c, const char *path)
{
    size_t count = 0;
    for (uint32_t i = 0; i < c->net->arch.weights; i++)
        count += c->net->weight[i].dense ? 0 : c->net->weight[i].nnz;
    struct sb_st_writer w = {0};
    int32_t *position = sb_malloc(count, sizeof *position); /* of all sparse layers */
    sb_status st;
    if (!position) {
        st = sb_fail(SB_ENOMEM, "%s: no memory for %zu positions", path, count);
        goto done;
    }
    st = sb_st_writer_init(&w);
    if (st == SB_OK)
        st = put_metadata(&w, c);
    if (st == SB_OK)
        st = put_tensors(&w, c, position);
    if (st == SB_OK)
        st = put_checksum(&w);
    if (st == SB_OK)
        st = sb_st_writer_write(&w, path);
done:
    sb_st_writer_fini(&w);
    sb_free(position);
    return st;
}

/* ---- reading ----------------------------------------------------------------------- */

/* 16 hexadecimal digits. */
static sb_status get_bits(const struct sb_st *st, const char *key, uint64_t *out)
{
    const char *text;
    sb_status s = sb_st_find_meta(st, key, &text);
    if (s != SB_OK)
        return s;
    *out = 0;
    for (size_t i = 0; i < 16; i++) {
        const char *digits = "0123456789abcdef",
                   *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return sb_fail(SB_EFORMAT, "%s: metadata \"%s\": want 16 hexadecimal digits",
                           st->path, key);
        *out = *out << 4 | (uint64_t)(digit - digits);
    }
    return text[16] == '\0'
               ? SB_OK
               : sb_fail(SB_EFORMAT, "%s: metadata \"%s\": want 16 hexadecimal digits",
                         st->path, key);
}

static sb_status check_sum(struct sb_st *st)
{
    uint64_t want, have, header;
    sb_status s = get_bits(st, "checksum", &want);
    if (s != SB_OK)
        return s;
    json_object_del(json_object_get(st->header, "__metadata__"), "checksum");
    s = sb_checksum_header(st->header, &have);
    if (s != SB_OK)
        return s;
    memcpy(&header, st->map.data, sizeof header);
    size_t data = sizeof header + (size_t)header;
    have = sb_checksum(have, st->map.data + data, st->map.size - data);
    return have == want
               ? SB_OK
               : sb_fail(SB_EFORMAT,
                         "%s: damaged: its checksum does not fit its contents", st->path);
}

static sb_status get_state(const struct sb_st *st, const struct sb_checkpoint *c)
{
    sb_status s = SB_OK;
    for (size_t i = 0; s == SB_OK && i < c->values; i++) {
        const struct sb_checkpoint_value *v = &c->value[i];
        char key[KEY_BYTES];
        uint64_t bits = 0;
        snprintf(key, sizeof key, "state.%s", v->name);
        s = v->integer ? sb_fields_integer(st, key, UINT64_MAX, &bits)
                       : get_bits(st, key, &bits);
        if (s == SB_OK && v->integer)
            *v->integer = bits;
        else if (s == SB_OK)
            memcpy(v->real, &bits, sizeof bits);
    }
    return s;
}

static sb_status get_pattern(struct sb_fields *f, const char *name, struct sb_weight *w)
{
    struct sb_shape s = {1, {w->nnz}};
    struct sb_pattern p = {0};
    int32_t *position = sb_malloc(w->nnz, sizeof *position);
    if (!position)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u positions", f->st->path, w->nnz);
    sb_status st = sb_fields_i32(f, name, &s, position);
    if (st != SB_OK)
        goto done;
    st = sb_pattern_from_positions(&p, w->conv.out, sb_conv_cols(&w->conv), position,
                                   w->nnz);
    if (st == SB_OK)
        st = sb_weight_set_pattern(w, &p);
    if (st == SB_EARG)
        st =
            sb_fail(SB_EFORMAT, "%s: tensor \"%s\": %s", f->st->path, name, sb_message());
done:
    sb_pattern_fini(&p);
    sb_free(position);
    return st;
}

static sb_status get_param(struct sb_fields *f, struct sb_net *net,
                           const struct sb_param *p)
{
    struct sb_field name;
    char momentum[KEY_BYTES];
    struct sb_shape s = sb_param_shape(p);
    sb_field_begin(&name, "net", p->layer);
    snprintf(momentum, sizeof momentum, "%s_momentum", p->part);
    sb_status st = sb_fields_f32(f, sb_field_part(&name, p->part), &s, p->value);
    if (st == SB_OK && p->momentum)
        st = sb_fields_f32(f, sb_field_part(&name, momentum), &s, p->momentum);
    if (st == SB_OK && p->role == SB_PARAM_MU && !net->weight[p->weight].dense)
        st = get_pattern(f, sb_field_part(&name, "positions"), &net->weight[p->weight]);
    return st;
}

static sb_status get_net(struct sb_fields *f, struct sb_net *net)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; st == SB_OK && i < net->params.n; i++)
        st = get_param(f, net, &net->params.param[i]);
    return st;
}

/* Reads a trained network and its figures over *m, which is freed first. */
static sb_status get_trained(struct sb_fields *f, const char *prefix,
                             const struct sb_net *net, const json_t *figures,
                             struct sb_trained *m)
{
    struct sb_trained read;
    bool gauss = net->arch.weights > 0 && net->weight[0].gauss;
    sb_status st = sb_trained_get(f, prefix, &net->arch, gauss, &read);
    if (st == SB_OK) {
        st = sb_trained_from_json(figures, prefix, &read);
        if (st != SB_OK)
            st = sb_fail(st, "%s: metadata: %s", f->st->path, sb_message());
    }
    if (st != SB_OK) {
        sb_trained_fini(&read);
        return st;
    }
    sb_trained_fini(m);
    *m = read;
    return SB_OK;
}

static sb_status get_all_trained(struct sb_fields *f, struct sb_checkpoint *c)
{
    json_t *trained;
    char prefix[SB_TRAINED_PREFIX];
    sb_status st = sb_fields_json(f->st, "trained", &trained);
    if (st == SB_OK && json_array_size(trained) > c->capacity)
        st = sb_fail(SB_EFORMAT, "%s: has %zu finished networks, at most %u are expected",
                     f->st->path, json_array_size(trained), c->capacity);
    for (uint32_t i = 0; st == SB_OK && i < json_array_size(trained); i++) {
        snprintf(prefix, sizeof prefix, "trained%u", i);
        st = get_trained(f, prefix, c->net, json_array_get(trained, i), &c->trained[i]);
    }
    if (st == SB_OK)
        c->trained_count = (uint32_t)json_array_size(trained);
    json_decref(trained);
    return st;
}

/* One that may be there, "best" or "kept"; NULL: nobody asks. */
static sb_status get_optional(struct sb_fields *f, const char *name,
                              const struct sb_net *net, struct sb_trained *m, bool *has)
{
    json_t *figures;
    sb_status st = sb_fields_json(f->st, name, &figures);
    if (st == SB_OK)
        *has = m && json_array_size(figures) > 0;
    if (st == SB_OK && *has)
        st = get_trained(f, name, net, json_array_get(figures, 0), m);
    json_decref(figures);
    return st;
}

static sb_status get_tensors(struct sb_checkpoint *c, const struct sb_st *st)
{
    struct sb_fields f;
    sb_status s = sb_fields_init(&f, st);
    if (s == SB_OK)
        s = get_net(&f, c->net);
    for (size_t i = 0; s == SB_OK && i < c->arrays; i++) {
        char name[KEY_BYTES];
        snprintf(name, sizeof name, "array.%s", c->array[i].name);
        if (c->has_arrays && i == 0 && !(*c->has_arrays = sb_fields_lookup(&f, name)))
            break;
        struct sb_shape shape = {1, {c->array[i].count}};
        s = sb_fields_f32(&f, name, &shape, c->array[i].data);
    }
    if (s == SB_OK)
        s = get_all_trained(&f, c);
    if (s == SB_OK)
        s = get_optional(&f, "best", c->net, c->best, &c->has_best);
    if (s == SB_OK)
        s = get_optional(&f, "kept", c->net, c->kept, &c->has_kept);
    if (s == SB_OK)
        s = sb_fields_finish(&f, "checkpoint");
    sb_fields_fini(&f);
    return s;
}

/* active: [net->arch.weights] */
static sb_status get_active(const struct sb_st *st, const struct sb_net *net,
                            uint32_t *active)
{
    json_t *list;
    uint32_t layers = net->arch.weights;
    sb_status s = sb_fields_json(st, "active", &list);
    if (s == SB_OK && json_array_size(list) != layers)
        s = sb_fail(SB_EFORMAT, "%s: metadata \"active\": has %zu layers, want %u",
                    st->path, json_array_size(list), layers);
    for (uint32_t i = 0; s == SB_OK && i < layers; i++) {
        uint32_t all = sb_conv_weights(&net->weight[i].conv);
        json_int_t n = json_integer_value(json_array_get(list, i));
        if (n < 1 || n > (json_int_t)all)
            s = sb_fail(SB_EFORMAT,
                        "%s: metadata \"active\": %lld weights in a layer of %u",
                        st->path, (long long)n, all);
        active[i] = (uint32_t)n;
    }
    json_decref(list);
    return s;
}

/* The network gets as many weights as the file has. */
static sb_status plan_net(const struct sb_checkpoint *c, const struct sb_st *st)
{
    uint32_t layers = c->net->arch.weights;
    uint32_t *active = sb_malloc(layers, sizeof *active);
    if (!active)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u layers", st->path, layers);
    sb_status s = get_active(st, c->net, active);
    bool same = true;
    for (uint32_t i = 0; s == SB_OK && i < layers; i++)
        same = same && active[i] == c->net->weight[i].nnz;
    if (s == SB_OK && !same && c->plan)
        s = c->plan(c->context, active);
    sb_free(active);
    return s;
}

static sb_status check_data(const struct sb_st *st, const struct sb_checkpoint *c,
                            enum sb_identity_use use)
{
    const char *then = sb_st_meta(st, "data");
    return then && c->data
               ? sb_identity_compare_text(st->path, then, c->data, use, c->force)
               : SB_OK;
}

/* What a recipe leaves open follows from the data: if that is not what it was, it is the
 * reason why the recipe is another one, unless it says itself how data is to be read. */
static sb_status check_recipe(const struct sb_st *st, const struct sb_checkpoint *c)
{
    const char *then;
    sb_status s = sb_st_find_meta(st, "recipe", &then);
    if (s == SB_OK && strcmp(then, c->recipe) != 0 &&
        !sb_recipe_reads_otherwise(then, c->recipe))
        s = check_data(st, c, SB_IDENTITY_FILES);
    return s == SB_OK ? sb_recipe_diff(st->path, then, c->recipe) : s;
}

sb_status sb_checkpoint_read(struct sb_checkpoint *c, const char *path)
{
    struct sb_st st;
    sb_status s = sb_st_open(&st, path);
    if (s == SB_OK)
        s = sb_fields_check_format(&st, CHECKPOINT_FORMAT, CHECKPOINT_VERSION);
    if (s == SB_OK)
        s = check_sum(&st);
    if (s == SB_OK)
        s = check_recipe(&st, c);
    if (s == SB_OK)
        s = check_data(&st, c, SB_IDENTITY_RESUME);
    if (s == SB_OK)
        s = get_state(&st, c);
    if (s == SB_OK)
        s = plan_net(c, &st);
    if (s == SB_OK)
        s = get_tensors(c, &st);
    sb_st_close(&st);
    return s;
}
