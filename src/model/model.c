/* model - a model in memory, and writing it; model.h has the format. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/fields.h"
#include "model/trained_file.h"

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

/* Means and deviations of channels or targets. */
static sb_status check_scale(const char *what, const float *mean, const float *sd,
                             uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(mean[i]) || !isfinite(sd[i]) || sd[i] <= 0)
            return sb_fail(SB_EARG,
                           "model: normalisation of %s %u: mean %g and sd %g; want "
                           "finite ones and sd above 0",
                           what, i, (double)mean[i], (double)sd[i]);
    return SB_OK;
}

static sb_status check_width(const struct sb_model_info *o)
{
    for (uint32_t t = 0; o->target_width && t < o->targets; t++)
        if (!isfinite(o->target_width[t]) || o->target_width[t] <= 0)
            return sb_fail(SB_EARG,
                           "model: target %u has the width %g; want a finite one above 0",
                           t, (double)o->target_width[t]);
    return SB_OK;
}

/* Texts are looked at now, not when days of training are to be written. */
static sb_status check_info(const struct sb_model_info *o)
{
    sb_status st = check_utf8(o->method, "method");
    if (st == SB_OK)
        st = check_utf8(o->recipe, "recipe");
    if (st == SB_OK && o->columns)
        st = check_utf8(o->columns, "list of columns");
    if (st == SB_OK && o->data)
        st = check_utf8(o->data, "description of the data");
    for (uint32_t i = 0; st == SB_OK && o->class_name && i < o->classes; i++)
        st = check_utf8(o->class_name[i], "class name");
    for (uint32_t i = 0; st == SB_OK && i < o->targets; i++)
        st = check_utf8(o->target_name[i], "target name");
    if (st == SB_OK)
        st = check_scale("channel", o->mean, o->sd, o->channels);
    if (st == SB_OK)
        st = check_scale("target", o->target_mean, o->target_sd, o->targets);
    return st == SB_OK ? check_width(o) : st;
}

/* Appends text to the block at *at. */
static const char *keep_text(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *kept = memcpy(*at, text, size);
    *at += size;
    return kept;
}

static const float *keep_floats(char **at, const float *x, size_t n)
{
    void *kept = *at;
    if (n > 0)
        memcpy(kept, x, n * sizeof *x);
    *at += n * sizeof *x;
    return kept;
}

/* Names: pointers at *pointer, texts at *at. NULL: there are none. */
static const char *const *keep_names(const char ***pointer, char **at,
                                     const char *const *name, uint32_t n)
{
    const char **first = *pointer;
    for (uint32_t i = 0; i < n; i++)
        *(*pointer)++ = keep_text(at, name[i]);
    return n > 0 ? first : NULL;
}

static size_t text_bytes(const struct sb_model_info *o)
{
    size_t bytes = strlen(o->arch) + strlen(o->method) + strlen(o->recipe) +
                   (o->columns ? strlen(o->columns) : 0) +
                   (o->data ? strlen(o->data) : 0) + 5;
    for (uint32_t i = 0; o->class_name && i < o->classes; i++)
        bytes += strlen(o->class_name[i]) + 1;
    for (uint32_t i = 0; i < o->targets; i++)
        bytes += strlen(o->target_name[i]) + 1;
    return bytes;
}

/* Pointers and floats first, then the texts. */
static sb_status keep_info(struct sb_model *m, const struct sb_model_info *o)
{
    uint32_t names = o->class_name ? o->classes : 0;
    size_t pointers = (names + o->targets) * sizeof(char *);
    size_t scores = (size_t)o->scores * sb_model_score_rows(o);
    uint32_t widths = o->target_width ? o->targets : 0;
    size_t floats = 2 * (size_t)(o->channels + o->targets) + widths + scores;
    m->memory = sb_malloc(pointers + floats * sizeof(float) + text_bytes(o), 1);
    if (!m->memory)
        return sb_fail(SB_ENOMEM, "model: no memory for its description");
    const char **pointer = m->memory;
    char *number = (char *)m->memory + pointers, *at = number + floats * sizeof(float);
    m->info = *o;
    m->info.mean = keep_floats(&number, o->mean, o->channels);
    m->info.sd = keep_floats(&number, o->sd, o->channels);
    m->info.target_mean = keep_floats(&number, o->target_mean, o->targets);
    m->info.target_sd = keep_floats(&number, o->target_sd, o->targets);
    const float *width = keep_floats(&number, o->target_width, widths);
    m->info.target_width = widths > 0 ? width : NULL;
    m->info.score = keep_floats(&number, o->score, scores);
    m->info.arch = keep_text(&at, o->arch);
    m->info.method = keep_text(&at, o->method);
    m->info.recipe = keep_text(&at, o->recipe);
    m->info.columns = o->columns ? keep_text(&at, o->columns) : NULL;
    m->info.data = o->data ? keep_text(&at, o->data) : NULL;
    m->info.class_name = keep_names(&pointer, &at, o->class_name, names);
    m->info.target_name = keep_names(&pointer, &at, o->target_name, o->targets);
    return SB_OK;
}

static uint32_t outputs_of(const struct sb_model_info *i)
{
    return (i->targets > 0 ? i->targets : i->classes) *
           sb_likelihood_row(i->likelihood)->outputs;
}

uint32_t sb_model_prediction_size(const struct sb_model_info *i)
{
    return sb_likelihood_predictions(i->likelihood, outputs_of(i));
}

static sb_status build_arch(const struct sb_model_info *i, enum sb_form_role role,
                            struct sb_arch *out)
{
    struct sb_arch_shape shape = {i->arch,  i->channels,   i->height,
                                  i->width, outputs_of(i), i->likelihood};
    return sb_form_build(&i->form, &shape, role, out);
}

sb_status sb_model_init(struct sb_model *m, const struct sb_model_info *info)
{
    *m = (struct sb_model){0};
    sb_status st = build_arch(info, SB_FORM_MEMBER, &m->arch);
    if (st == SB_OK)
        st = build_arch(info, SB_FORM_TRAINED, &m->trained);
    if (st == SB_OK)
        st = check_info(info);
    return st == SB_OK ? keep_info(m, info) : st;
}

void sb_model_fini(struct sb_model *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->members; i++)
        sb_trained_fini(&m->member[i]);
    for (uint32_t i = 0; i < m->networks; i++)
        sb_trained_fini(&m->network[i]);
    sb_free(m->member);
    sb_free(m->network);
    sb_arch_fini(&m->arch);
    sb_arch_fini(&m->trained);
    sb_free(m->far_number);
    sb_free(m->memory);
    sb_st_close(&m->file);
    *m = (struct sb_model){0};
}

/* Whether a network has the records of the architecture. */
static sb_status check_fits(const struct sb_model *m, const struct sb_trained *x)
{
    struct sb_param_list want;
    uint32_t *active = sb_malloc(m->trained.weights, sizeof *active);
    if (!active)
        return sb_fail(SB_ENOMEM, "model: no memory for %u layers", m->trained.weights);
    bool fits = x->weights == m->trained.weights && x->gauss == m->info.gauss;
    if (fits)
        sb_trained_active(x, active);
    sb_status st =
        sb_param_list_init(&want, &m->trained, fits ? active : NULL, m->info.gauss);
    fits = fits && st == SB_OK && want.n == x->params.n;
    for (uint32_t i = 0; fits && i < want.n; i++) {
        const struct sb_param *p = &x->params.param[i];
        fits = sb_param_alike(&want.param[i], p);
        if (fits && p->role == SB_PARAM_MU)
            fits = (p->count < sb_param_all(p)) == (x->position[p->weight] != NULL);
    }
    sb_param_list_fini(&want);
    sb_free(active);
    if (st == SB_ENOMEM || fits)
        return st;
    return sb_fail(SB_EARG, "model: the network is no %s of this %s model",
                   m->info.gauss ? "Gaussian posterior" : "point network", m->info.arch);
}

/* Memory for one network more, and its members. */
static sb_status grow(struct sb_model *m)
{
    uint32_t capacity = m->capacity ? 2 * m->capacity : 4;
    uint32_t each = sb_form_members(&m->info.form);
    if (m->networks < m->capacity)
        return SB_OK;
    struct sb_trained *more = sb_malloc(capacity, sizeof *more);
    struct sb_trained *members = sb_malloc((size_t)capacity * each, sizeof *members);
    if (!more || !members) {
        sb_free(more);
        sb_free(members);
        return sb_fail(SB_ENOMEM, "model: no memory for %u networks", capacity);
    }
    if (m->networks > 0) {
        memcpy(more, m->network, m->networks * sizeof *more);
        memcpy(members, m->member, m->members * sizeof *members);
    }
    sb_free(m->network);
    sb_free(m->member);
    m->network = more;
    m->member = members;
    m->capacity = capacity;
    return SB_OK;
}

sb_status sb_model_add(struct sb_model *m, struct sb_trained *network)
{
    uint32_t each = sb_form_members(&m->info.form), made = 0;
    sb_status st = check_fits(m, network);
    if (st == SB_OK)
        st = grow(m);
    while (st == SB_OK && made < each) {
        st = sb_form_member(&m->info.form, &m->trained, &m->arch, network, made, 0,
                            &m->member[m->members + made]);
        made++;
    }
    if (st != SB_OK) {
        while (made > 0)
            sb_trained_fini(&m->member[m->members + --made]);
        return st;
    }
    m->members += each;
    m->network[m->networks++] = *network;
    *network = (struct sb_trained){0};
    return SB_OK;
}

sb_status sb_model_arch(const struct sb_model *m, struct sb_arch *out)
{
    return build_arch(&m->info, SB_FORM_MEMBER, out);
}

sb_status sb_model_net(const struct sb_model *m, uint32_t i,
                       const struct sb_model_plan *p, struct sb_net *net)
{
    *net = (struct sb_net){0};
    if (i >= m->members)
        return sb_fail(SB_EARG, "model: member %u of %u, counted from 0", i, m->members);
    uint32_t *active = sb_malloc(m->arch.weights, sizeof *active);
    struct sb_arch arch = {0};
    sb_status st =
        active ? sb_model_arch(m, &arch)
               : sb_fail(SB_ENOMEM, "model: no memory for %u layers", m->arch.weights);
    if (st != SB_OK)
        goto done;
    sb_trained_active(&m->member[i], active);
    struct sb_net_options o = {
        .made = &arch,
        .lanes = p->lanes,
        .max_batch = p->max_batch,
        .threads = p->threads,
        .gauss = p->gauss,
        .inference = p->inference,
        .parameters = p->parameters,
        .single = p->single,
        .input_gradient = p->input_gradient,
        .active = active,
        .prefix = p->prefix,
    };
    st = sb_net_init(net, &o);
done:
    sb_arch_fini(&arch);
    sb_free(active);
    return st;
}

/* ---- draws --------------------------------------------------------------------------- */

static const struct sb_trained *network_of(const struct sb_model *m, uint32_t i)
{
    return &m->network[i / sb_form_members(&m->info.form)];
}

sb_status sb_model_load(const struct sb_model *m, uint32_t i, bool mean,
                        const struct sb_env *env, struct sb_net *net)
{
    struct sb_trained made;
    if (!mean)
        return sb_trained_draw(&m->member[i], env, net, 0);
    if (!sb_form_draws(&m->info.form))
        return sb_trained_load(&m->member[i], env, net);
    sb_status st = sb_form_member(&m->info.form, &m->trained, &m->arch, network_of(m, i),
                                  m->member[i].branch, SB_FORM_MEAN, &made);
    if (st == SB_OK)
        st = sb_trained_load(&made, env, net);
    sb_trained_fini(&made);
    return st;
}

size_t sb_model_draw_scratch(const struct sb_model *m)
{
    size_t most = 1;
    for (uint32_t i = 0; i < m->trained.nodes; i++)
        if (m->trained.node[i].channels > most)
            most = m->trained.node[i].channels;
    return 2 * most;
}

void sb_model_draw_layer(const struct sb_model *m, const struct sb_env *env, uint32_t i,
                         uint32_t layer, uint32_t draw, float *out, float *scratch)
{
    if (sb_form_draws(&m->info.form))
        sb_form_draw_layer(&m->trained, network_of(m, i), m->member[i].branch, layer,
                           draw, out, scratch);
    else
        sb_trained_draw_layer(&m->member[i], env, layer, draw, out);
}

/* ---- writing ----------------------------------------------------------------------- */

/* What only models of outcomes have. */
static sb_status put_targets(struct sb_st_writer *w, const struct sb_model_info *o)
{
    if (o->targets == 0)
        return SB_OK;
    sb_status st =
        sb_st_writer_meta(w, "likelihood", sb_likelihood_row(o->likelihood)->name);
    if (st != SB_OK)
        return st;
    json_t *j =
        json_pack("{s:o, s:o, s:o}", "names", sb_json_texts(o->target_name, o->targets),
                  "mean", sb_json_floats(o->target_mean, o->targets), "sd",
                  sb_json_floats(o->target_sd, o->targets));
    if (j && o->target_width &&
        json_object_set_new(j, "width", sb_json_floats(o->target_width, o->targets)) !=
            0) {
        json_decref(j);
        j = NULL;
    }
    return sb_fields_put_json(w, "targets", j);
}

json_t *sb_model_figures(const struct sb_trained *network, uint32_t networks)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < networks; i++)
        if (json_array_append_new(array, sb_trained_to_json(&network[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* What members are made with; NULL: no memory. */
static json_t *form_json(const struct sb_form_spec *f)
{
    json_t *j = json_pack("{s:s}", "name", sb_form_of(f->kind)->name);
    int bad = !j;
    if (j && f->kind != SB_FORM_PLAIN)
        bad |= json_object_set_new(j, "members", json_integer(f->members));
    if (j && *f->branch_at)
        bad |= json_object_set_new(j, "branch_at", json_string(f->branch_at));
    if (j && f->kind == SB_FORM_DROPOUT) {
        bad |= json_object_set_new(j, "rate", json_real((double)f->rate));
        bad |= json_object_set_new(j, "channels", json_boolean(f->channels));
    }
    if (bad)
        json_decref(j);
    return bad ? NULL : j;
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
        st = sb_fields_put_json(w, "class_names",
                                sb_json_texts(o->class_name, o->classes));
    if (st == SB_OK)
        st = put_targets(w, o);
    if (st == SB_OK)
        st = sb_fields_put_json(w, "normalisation",
                                json_pack("{s:o, s:o}", "mean",
                                          sb_json_floats(o->mean, o->channels), "sd",
                                          sb_json_floats(o->sd, o->channels)));
    if (st == SB_OK && o->columns)
        st = sb_st_writer_meta(w, "columns", o->columns);
    return st == SB_OK ? sb_fields_put_json(w, "form", form_json(&o->form)) : st;
}

static sb_status put_description(struct sb_st_writer *w, const struct sb_model *m)
{
    sb_status st = sb_st_writer_meta(w, "format", SB_MODEL_FORMAT);
    if (st == SB_OK)
        st = sb_fields_put_integer(w, "version", SB_MODEL_VERSION);
    if (st == SB_OK)
        st = sb_model_put_info(w, &m->info);
    if (st == SB_OK)
        st = sb_fields_put_json(w, "networks", sb_model_figures(m->network, m->networks));
    if (st == SB_OK && m->info.data)
        st = sb_st_writer_meta(w, "data", m->info.data);
    return st == SB_OK ? sb_st_writer_meta(w, "recipe", m->info.recipe) : st;
}

sb_status sb_model_write(const struct sb_model *m, const char *path)
{
    struct sb_st_writer w;
    if (m->networks == 0)
        return sb_fail(SB_EARG, "cannot write %s: a model without members", path);
    sb_status st = sb_st_writer_init(&w);
    if (st == SB_OK)
        st = put_description(&w, m);
    for (uint32_t i = 0; st == SB_OK && i < m->networks; i++) {
        char prefix[SB_TRAINED_PREFIX];
        snprintf(prefix, sizeof prefix, "net%u", i);
        st = sb_trained_put(&w, prefix, &m->network[i]);
    }
    if (st == SB_OK && m->info.scores > 0) {
        const size_t shape[] = {sb_model_score_rows(&m->info), m->info.scores};
        st = sb_st_writer_add(&w, SB_MODEL_SCORES, SB_F32, 2, shape, m->info.score);
    }
    if (st == SB_OK)
        st = sb_far_put(&w, &m->far);
    if (st == SB_OK)
        st = sb_st_writer_write(&w, path);
    sb_st_writer_fini(&w);
    return st;
}
