/* checkpoint_file - writes and reads one checkpoint; checkpoint.h has the format. */
#include "model/checkpoint_file.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/checksum.h"
#include "model/fields.h"
#include "model/member_file.h"
#include "model/model_format.h"
#include "model/recipe_diff.h"

#define CHECKPOINT_FORMAT "sebays-checkpoint"
enum { CHECKPOINT_VERSION = 1, KEY_BYTES = 96 };

/* ---- the network's arrays ---------------------------------------------------------- */

enum { MOST_PARTS = 6 };

struct part {
    const char *name;
    float *data;
    struct sb_shape shape;
};

/* All float arrays of a layer that training changes. */
static size_t weight_parts(const struct sb_weight *w, const struct sb_arch_node *n,
                           struct part *out)
{
    struct sb_shape all = w->dense ? sb_member_shape(n) : (struct sb_shape){1, {w->nnz}};
    struct sb_shape outs = {1, {w->conv.out}};
    const struct part part[MOST_PARTS] = {
        {"mu", w->mu, all},      {"mu_momentum", w->mu_momentum, all},
        {"rho", w->rho, all},    {"rho_momentum", w->rho_momentum, all},
        {"bias", w->bias, outs}, {"bias_momentum", w->bias_momentum, outs}};
    size_t parts = 0;
    for (size_t i = 0; i < MOST_PARTS; i++)
        if (part[i].data)
            out[parts++] = part[i];
    return parts;
}

static size_t norm_parts(const struct sb_net_norm *m, struct part *out)
{
    struct sb_shape s = {1, {m->norm.channels}};
    const struct part part[MOST_PARTS] = {{"weight", m->norm.gamma, s},
                                          {"bias", m->norm.beta, s},
                                          {"weight_momentum", m->gamma_momentum, s},
                                          {"bias_momentum", m->beta_momentum, s},
                                          {"running_mean", m->norm.running_mean, s},
                                          {"running_var", m->norm.running_var, s}};
    memcpy(out, part, sizeof part);
    return MOST_PARTS;
}

/* Parts of node k; none unless it has parameters. */
static size_t node_parts(const struct sb_net *net, uint32_t k, struct part *out)
{
    const struct sb_arch_node *n = &net->arch.node[k];
    uint32_t param = net->node[k].param;
    if (n->kind == SB_NODE_WEIGHT)
        return weight_parts(&net->weight[param], n, out);
    return n->kind == SB_NODE_NORM ? norm_parts(&net->norm[param], out) : 0;
}

/* The sparse layer of node k, or NULL. */
static struct sb_weight *sparse_layer(const struct sb_net *net, uint32_t k)
{
    if (net->arch.node[k].kind != SB_NODE_WEIGHT)
        return NULL;
    struct sb_weight *w = &net->weight[net->node[k].param];
    return w->dense ? NULL : w;
}

/* ---- writing ----------------------------------------------------------------------- */

/* position: what is left of the room for all layers' positions. */
static sb_status put_node(struct sb_st_writer *w, const struct sb_net *net, uint32_t k,
                          int32_t **position)
{
    struct sb_field f;
    struct part part[MOST_PARTS];
    size_t parts = node_parts(net, k, part);
    const struct sb_weight *sparse = sparse_layer(net, k);
    sb_status st = SB_OK;
    sb_field_begin(&f, "net", net->arch.node[k].name);
    for (size_t i = 0; st == SB_OK && i < parts; i++)
        st = sb_st_writer_add(w, sb_field_part(&f, part[i].name), SB_F32,
                              part[i].shape.ndim, part[i].shape.dim, part[i].data);
    if (st == SB_OK && sparse) {
        size_t nnz = sparse->nnz;
        st = sb_pattern_positions(&sparse->pattern, *position);
        if (st == SB_OK)
            st = sb_st_writer_add(w, sb_field_part(&f, "positions"), SB_I32, 1, &nnz,
                                  *position);
        *position += nnz;
    }
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

static sb_status put_metadata(struct sb_st_writer *w, const struct sb_checkpoint *c)
{
    sb_status st = sb_st_writer_meta(w, "format", CHECKPOINT_FORMAT);
    if (st == SB_OK)
        st = sb_fields_put_integer(w, "version", CHECKPOINT_VERSION);
    if (st == SB_OK)
        st = sb_st_writer_meta(w, "recipe", c->recipe);
    if (st == SB_OK)
        st = put_state(w, c);
    if (st == SB_OK)
        st = sb_fields_put_json(w, "members", sb_model_figures(c->member, c->members));
    if (st == SB_OK)
        st = sb_fields_put_json(
            w, "best", sb_model_figures(c->best, c->best && c->has_best ? 1 : 0));
    return st;
}

static sb_status put_tensors(struct sb_st_writer *w, const struct sb_checkpoint *c,
                             int32_t *position)
{
    const struct sb_arch *a = &c->net->arch;
    char name[KEY_BYTES];
    sb_status st = SB_OK;
    for (uint32_t k = 0; st == SB_OK && k < a->nodes; k++)
        st = put_node(w, c->net, k, &position);
    for (size_t i = 0; st == SB_OK && i < c->arrays; i++) {
        snprintf(name, sizeof name, "array.%s", c->array[i].name);
        st = sb_st_writer_add(w, name, SB_F32, 1, &c->array[i].count, c->array[i].data);
    }
    for (uint32_t i = 0; st == SB_OK && i < c->members; i++) {
        snprintf(name, sizeof name, "member%u", i);
        st = sb_member_put(w, name, a, &c->member[i]);
    }
    if (st == SB_OK && c->best && c->has_best)
        st = sb_member_put(w, "best", a, c->best);
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
    for (uint32_t k = 0; k < c->net->arch.nodes; k++) {
        const struct sb_weight *sparse = sparse_layer(c->net, k);
        count += sparse ? sparse->nnz : 0;
    }
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

static sb_status get_net(struct sb_fields *f, struct sb_net *net)
{
    sb_status st = SB_OK;
    for (uint32_t k = 0; st == SB_OK && k < net->arch.nodes; k++) {
        struct sb_field name;
        struct part part[MOST_PARTS];
        struct sb_weight *sparse = sparse_layer(net, k);
        size_t parts = node_parts(net, k, part);
        sb_field_begin(&name, "net", net->arch.node[k].name);
        for (size_t i = 0; st == SB_OK && i < parts; i++)
            st = sb_fields_f32(f, sb_field_part(&name, part[i].name), &part[i].shape,
                               part[i].data);
        if (st == SB_OK && sparse)
            st = get_pattern(f, sb_field_part(&name, "positions"), sparse);
    }
    return st;
}

/* Reads a member and its figures over *m, which is freed first. */
static sb_status get_member(struct sb_fields *f, const char *prefix,
                            const struct sb_net *net, const json_t *figures,
                            struct sb_member *m)
{
    struct sb_member read;
    bool gauss = net->arch.weights > 0 && net->weight[0].gauss;
    sb_status st = sb_member_get(f, prefix, &net->arch, gauss, &read);
    if (st == SB_OK) {
        st = sb_member_from_json(figures, prefix, &read);
        if (st != SB_OK)
            st = sb_fail(st, "%s: metadata: %s", f->st->path, sb_message());
    }
    if (st != SB_OK) {
        sb_member_fini(&read);
        return st;
    }
    sb_member_fini(m);
    *m = read;
    return SB_OK;
}

static sb_status get_members(struct sb_fields *f, struct sb_checkpoint *c)
{
    json_t *members;
    char prefix[SB_MEMBER_PREFIX];
    sb_status st = sb_fields_json(f->st, "members", &members);
    if (st == SB_OK && json_array_size(members) > c->room)
        st = sb_fail(SB_EFORMAT, "%s: has %zu finished members, at most %u are expected",
                     f->st->path, json_array_size(members), c->room);
    for (uint32_t i = 0; st == SB_OK && i < json_array_size(members); i++) {
        snprintf(prefix, sizeof prefix, "member%u", i);
        st = get_member(f, prefix, c->net, json_array_get(members, i), &c->member[i]);
    }
    if (st == SB_OK)
        c->members = (uint32_t)json_array_size(members);
    json_decref(members);
    return st;
}

static sb_status get_best(struct sb_fields *f, struct sb_checkpoint *c)
{
    json_t *best;
    sb_status st = sb_fields_json(f->st, "best", &best);
    if (st == SB_OK)
        c->has_best = c->best && json_array_size(best) > 0;
    if (st == SB_OK && c->has_best)
        st = get_member(f, "best", c->net, json_array_get(best, 0), c->best);
    json_decref(best);
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
        struct sb_shape shape = {1, {c->array[i].count}};
        snprintf(name, sizeof name, "array.%s", c->array[i].name);
        s = sb_fields_f32(&f, name, &shape, c->array[i].data);
    }
    if (s == SB_OK)
        s = get_members(&f, c);
    if (s == SB_OK)
        s = get_best(&f, c);
    if (s == SB_OK)
        s = sb_fields_finish(&f, "checkpoint");
    sb_fields_fini(&f);
    return s;
}

sb_status sb_checkpoint_read(struct sb_checkpoint *c, const char *path)
{
    struct sb_st st;
    const char *recipe;
    sb_status s = sb_st_open(&st, path);
    if (s == SB_OK)
        s = sb_fields_check_format(&st, CHECKPOINT_FORMAT, CHECKPOINT_VERSION);
    if (s == SB_OK)
        s = check_sum(&st);
    if (s == SB_OK)
        s = sb_st_find_meta(&st, "recipe", &recipe);
    if (s == SB_OK)
        s = sb_recipe_diff(path, recipe, c->recipe);
    if (s == SB_OK)
        s = get_state(&st, c);
    if (s == SB_OK)
        s = get_tensors(c, &st);
    sb_st_close(&st);
    return s;
}
