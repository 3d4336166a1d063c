/* model - a model in memory, and writing it; model.h has the format. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/fields.h"
#include "model/member_file.h"
#include "model/model_format.h"

/* ---- life -------------------------------------------------------------------------- */

static sb_status check_utf8(const char *text, const char *what)
{
    json_t *checked = json_string(text), *unchecked = json_string_nocheck(text);
    sb_status st = SB_OK;
    if (!unchecked)
        st = sb_fail(SB_ENOMEM, "model: no memory for its %s", what);
    else if (!checked)
        st = sb_fail(SB_EARG, "model: its %s is not UTF-8", what);
    json_decref(checked);
    json_decref(unchecked);
    return st;
}

/* Texts are looked at now, not when days of training are to be written. */
static sb_status check_info(const struct sb_model_info *o)
{
    sb_status st = check_utf8(o->method, "method");
    if (st == SB_OK)
        st = check_utf8(o->recipe, "recipe");
    if (st == SB_OK && o->columns)
        st = check_utf8(o->columns, "list of columns");
    for (uint32_t i = 0; st == SB_OK && o->class_name && i < o->classes; i++)
        st = check_utf8(o->class_name[i], "class name");
    for (uint32_t i = 0; st == SB_OK && i < o->channels; i++)
        if (!isfinite(o->mean[i]) || !isfinite(o->sd[i]) || o->sd[i] <= 0)
            st = sb_fail(SB_EARG,
                         "model: normalisation of channel %u: mean %g and sd %g; want "
                         "finite ones and sd above 0",
                         i, (double)o->mean[i], (double)o->sd[i]);
    return st;
}

/* Appends text to the block at *at. */
static const char *keep_text(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *kept = memcpy(*at, text, size);
    *at += size;
    return kept;
}

/* Pointers and floats first, then the texts. */
static sb_status keep_info(struct sb_model *m, const struct sb_model_info *o)
{
    uint32_t names = o->class_name ? o->classes : 0;
    size_t pointers = names * sizeof(char *), floats = o->channels * sizeof(float);
    size_t bytes = pointers + 2 * floats + strlen(o->arch) + strlen(o->method) +
                   strlen(o->recipe) + (o->columns ? strlen(o->columns) : 0) + 4;
    for (uint32_t i = 0; i < names; i++)
        bytes += strlen(o->class_name[i]) + 1;
    m->memory = sb_malloc(bytes, 1);
    if (!m->memory)
        return sb_fail(SB_ENOMEM, "model: no memory for its description");
    const char **name = m->memory;
    float *mean = (float *)(void *)((char *)m->memory + pointers),
          *sd = mean + o->channels;
    char *at = (char *)(sd + o->channels);
    m->info = *o;
    m->info.mean = memcpy(mean, o->mean, floats);
    m->info.sd = memcpy(sd, o->sd, floats);
    m->info.arch = keep_text(&at, o->arch);
    m->info.method = keep_text(&at, o->method);
    m->info.recipe = keep_text(&at, o->recipe);
    m->info.columns = o->columns ? keep_text(&at, o->columns) : NULL;
    for (uint32_t i = 0; i < names; i++)
        name[i] = keep_text(&at, o->class_name[i]);
    m->info.class_name = names ? name : NULL;
    return SB_OK;
}

sb_status sb_model_init(struct sb_model *m, const struct sb_model_info *info)
{
    *m = (struct sb_model){0};
    sb_status st = sb_arch_init(&m->arch, info->arch, info->channels, info->height,
                                info->width, info->classes);
    if (st == SB_OK)
        st = check_info(info);
    return st == SB_OK ? keep_info(m, info) : st;
}

void sb_model_fini(struct sb_model *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->members; i++)
        sb_member_fini(&m->member[i]);
    sb_free(m->member);
    sb_arch_fini(&m->arch);
    sb_free(m->memory);
    sb_st_close(&m->file);
    *m = (struct sb_model){0};
}

/* Whether a member has the layers of the architecture. */
static bool fits(const struct sb_model *m, const struct sb_member *x)
{
    uint32_t i = 0, j = 0;
    if (x->weights != m->arch.weights || x->norms != m->arch.norms ||
        x->gauss != m->info.gauss)
        return false;
    for (uint32_t k = 0; k < m->arch.nodes; k++) {
        const struct sb_arch_node *n = &m->arch.node[k];
        if (n->kind == SB_NODE_WEIGHT) {
            const struct sb_member_weight *w = &x->weight[i++];
            uint32_t all = sb_conv_weights(&n->conv);
            if (w->nnz > all || (w->nnz == all) == (w->position != NULL) ||
                w->out != (n->bias ? n->conv.out : 0))
                return false;
        } else if (n->kind == SB_NODE_NORM && x->norm[j++].channels != n->channels) {
            return false;
        }
    }
    return true;
}

sb_status sb_model_add(struct sb_model *m, struct sb_member *member)
{
    if (!fits(m, member))
        return sb_fail(SB_EARG, "model: the member is no %s of this %s model",
                       m->info.gauss ? "Gaussian posterior" : "point network",
                       m->info.arch);
    if (m->members == m->room) {
        uint32_t room = m->room ? 2 * m->room : 4;
        struct sb_member *more = sb_malloc(room, sizeof *more);
        if (!more)
            return sb_fail(SB_ENOMEM, "model: no memory for %u members", room);
        if (m->members > 0)
            memcpy(more, m->member, m->members * sizeof *more);
        sb_free(m->member);
        m->member = more;
        m->room = room;
    }
    m->member[m->members++] = *member;
    *member = (struct sb_member){0};
    return SB_OK;
}

sb_status sb_model_net(const struct sb_model *m, uint32_t i,
                       const struct sb_model_plan *p, struct sb_net *net)
{
    *net = (struct sb_net){0};
    if (i >= m->members)
        return sb_fail(SB_EARG, "model: member %u of %u, counted from 0", i, m->members);
    uint32_t *active = sb_malloc(m->arch.weights, sizeof *active);
    if (!active)
        return sb_fail(SB_ENOMEM, "model: no memory for %u layers", m->arch.weights);
    sb_member_active(&m->member[i], active);
    struct sb_net_options o = {
        .arch = m->info.arch,
        .channels = m->info.channels,
        .height = m->info.height,
        .width = m->info.width,
        .classes = m->info.classes,
        .max_batch = p->max_batch,
        .threads = p->threads,
        .gauss = p->gauss,
        .inference = p->inference,
        .parameters = p->parameters,
        .single = p->single,
        .input_gradient = p->input_gradient,
        .active = active,
    };
    sb_status st = sb_net_init(net, &o);
    sb_free(active);
    return st;
}

/* ---- writing ----------------------------------------------------------------------- */

/* An array of n floats; NULL: no memory. */
static json_t *numbers(const float *x, uint32_t n)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < n; i++)
        if (json_array_append_new(array, json_real((double)x[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *class_names(const struct sb_model_info *o)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array && o->class_name && i < o->classes; i++)
        if (json_array_append_new(array, json_string(o->class_name[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

json_t *sb_model_figures(const struct sb_member *member, uint32_t members)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < members; i++)
        if (json_array_append_new(array, sb_member_to_json(&member[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

sb_status sb_model_put_info(struct sb_st_writer *w, const struct sb_model_info *o)
{
    sb_status st = sb_st_writer_meta(w, "arch", o->arch);
    if (st == SB_OK)
        st = sb_st_writer_meta(w, "method", o->method);
    if (st == SB_OK)
        st = sb_st_writer_meta(w, "posterior", o->gauss ? "gauss" : "point");
    if (st == SB_OK)
        st = sb_fields_put_json(w, "shape",
                                json_pack("[I, I, I]", (json_int_t)o->channels,
                                          (json_int_t)o->height, (json_int_t)o->width));
    if (st == SB_OK)
        st = sb_fields_put_integer(w, "classes", o->classes);
    if (st == SB_OK)
        st = sb_fields_put_json(w, "class_names", class_names(o));
    if (st == SB_OK)
        st = sb_fields_put_json(w, "normalisation",
                                json_pack("{s:o, s:o}", "mean",
                                          numbers(o->mean, o->channels), "sd",
                                          numbers(o->sd, o->channels)));
    if (st == SB_OK && o->columns)
        st = sb_st_writer_meta(w, "columns", o->columns);
    return st;
}

static sb_status put_description(struct sb_st_writer *w, const struct sb_model *m)
{
    sb_status st = sb_st_writer_meta(w, "format", SB_MODEL_FORMAT);
    if (st == SB_OK)
        st = sb_fields_put_integer(w, "version", SB_MODEL_VERSION);
    if (st == SB_OK)
        st = sb_model_put_info(w, &m->info);
    if (st == SB_OK)
        st = sb_fields_put_json(w, "members", sb_model_figures(m->member, m->members));
    return st == SB_OK ? sb_st_writer_meta(w, "recipe", m->info.recipe) : st;
}

sb_status sb_model_write(const struct sb_model *m, const char *path)
{
    struct sb_st_writer w;
    if (m->members == 0)
        return sb_fail(SB_EARG, "cannot write %s: a model without members", path);
    sb_status st = sb_st_writer_init(&w);
    if (st == SB_OK)
        st = put_description(&w, m);
    for (uint32_t i = 0; st == SB_OK && i < m->members; i++) {
        char prefix[SB_MEMBER_PREFIX];
        snprintf(prefix, sizeof prefix, "member%u", i);
        st = sb_member_put(&w, prefix, &m->arch, &m->member[i]);
    }
    if (st == SB_OK)
        st = sb_st_writer_write(&w, path);
    sb_st_writer_fini(&w);
    return st;
}
