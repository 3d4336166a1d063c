/* sebays_model - the part of include/sebays.h about model files. */
#include "sebays_model.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "model/inspect.h"

sb_status sb_model_find(const char *path, char out[SB_MODEL_PATH])
{
    struct stat s;
    int n = snprintf(out, SB_MODEL_PATH, "%s", path);
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        n = snprintf(out, SB_MODEL_PATH, "%s/model.safetensors", path);
    return n >= 0 && n < SB_MODEL_PATH
               ? SB_OK
               : sb_fail(SB_EARG, "a path of more than %d bytes", SB_MODEL_PATH);
}

/* Lines in one text: counted first, then copied. */
struct text {
    char *to; /* NULL: count only */
    size_t used;
};

static void add_line(void *context, const char *line)
{
    struct text *t = context;
    size_t n = strlen(line);
    if (t->to) {
        memcpy(t->to + t->used, line, n);
        t->to[t->used + n] = '\n';
    }
    t->used += n + 1;
}

sebays_status sebays_inspect(const char *path, char **out)
{
    char file[SB_MODEL_PATH];
    struct sb_model m = {0};
    struct text t = {0};
    struct stat s;
    *out = NULL;
    sb_status st = sb_model_find(path, file);
    uint64_t bytes = st == SB_OK && stat(file, &s) == 0 ? (uint64_t)s.st_size : 0;
    if (st == SB_OK)
        st = sb_model_map(&m, file);
    if (st == SB_OK)
        st = sb_inspect_model(&m, bytes, add_line, &t);
    if (st != SB_OK)
        goto done;
    t.to = sb_malloc(t.used + 1, 1);
    if (!t.to) {
        st = sb_fail(SB_ENOMEM, "no memory for %zu bytes of text", t.used);
        goto done;
    }
    t.used = 0;
    st = sb_inspect_model(&m, bytes, add_line, &t);
    t.to[t.used] = '\0';
    *out = t.to;
done:
    sb_model_fini(&m);
    return (sebays_status)st;
}

/* ---- a model that is open ------------------------------------------------------------ */

struct sb_share {
    pthread_mutex_t lock; /* of which ones there are; made, they are only read */
    struct sb_loaded loaded[SB_LOAD_COUNT][SB_PLAN_COUNT];
    bool made[SB_LOAD_COUNT][SB_PLAN_COUNT];
};

static sb_status share_new(struct sb_share **out)
{
    *out = sb_calloc(1, sizeof **out);
    if (!*out)
        return sb_fail(SB_ENOMEM, "no memory for a model");
    if (pthread_mutex_init(&(*out)->lock, NULL) == 0)
        return SB_OK;
    sb_free(*out);
    *out = NULL;
    return sb_fail(SB_ENOMEM, "no lock for a model");
}

static void share_free(struct sb_share *s)
{
    if (!s)
        return;
    for (int i = 0; i < SB_LOAD_COUNT * SB_PLAN_COUNT; i++)
        sb_loaded_fini(&s->loaded[i / SB_PLAN_COUNT][i % SB_PLAN_COUNT]);
    pthread_mutex_destroy(&s->lock);
    sb_free(s);
}

sb_status sb_share_get(const struct sebays_model *model, const struct sb_env *env,
                       enum sb_load load, enum sb_plan plan, const struct sb_loaded **out)
{
    struct sb_share *s = model->share;
    struct sb_loaded *l = &s->loaded[load][plan];
    sb_status st = SB_OK;
    pthread_mutex_lock(&s->lock);
    if (!s->made[load][plan]) {
        st = sb_loaded_init(l, env, &model->model, load, plan);
        if (st != SB_OK)
            sb_loaded_fini(l);
        s->made[load][plan] = st == SB_OK;
    }
    pthread_mutex_unlock(&s->lock);
    *out = l;
    return st;
}

sebays_status sebays_model_open(const char *path, struct sebays_model **out)
{
    char file[SB_MODEL_PATH];
    *out = NULL;
    sb_status st = sb_model_find(path, file);
    struct sebays_model *m = NULL;
    if (st == SB_OK) {
        m = sb_calloc(1, sizeof *m);
        st = m ? share_new(&m->share) : sb_fail(SB_ENOMEM, "no memory for a model");
    }
    if (st == SB_OK)
        st = sb_model_map(&m->model, file);
    if (st == SB_OK)
        *out = m;
    else
        sebays_model_free(m);
    return (sebays_status)st;
}

void sebays_model_free(struct sebays_model *model)
{
    if (!model)
        return;
    share_free(model->share);
    sb_model_fini(&model->model);
    sb_free(model);
}

uint32_t sebays_model_members(const struct sebays_model *model)
{
    return model->model.members;
}

uint32_t sebays_model_classes(const struct sebays_model *model)
{
    return model->model.info.classes;
}

const char *sebays_model_class_name(const struct sebays_model *model, uint32_t i)
{
    const struct sb_model_info *info = &model->model.info;
    return info->class_name && i < info->classes ? info->class_name[i] : NULL;
}

uint32_t sebays_model_channels(const struct sebays_model *model)
{
    return model->model.info.channels;
}

uint32_t sebays_model_height(const struct sebays_model *model)
{
    return model->model.info.height;
}

uint32_t sebays_model_width(const struct sebays_model *model)
{
    return model->model.info.width;
}

const char *sebays_model_arch(const struct sebays_model *model)
{
    return model->model.info.arch;
}

const char *sebays_model_method(const struct sebays_model *model)
{
    return model->model.info.method;
}

double sebays_model_density(const struct sebays_model *model)
{
    const struct sb_model *m = &model->model;
    double all = 0, active = 0;
    for (uint32_t k = 0; k < m->arch.nodes; k++)
        if (m->arch.node[k].kind == SB_NODE_WEIGHT)
            all += sb_conv_weights(&m->arch.node[k].conv);
    for (uint32_t i = 0; i < m->members; i++)
        for (uint32_t k = 0; k < m->member[i].weights; k++)
            active += m->member[i].weight[k].nnz;
    return active / (all * m->members);
}

bool sebays_model_bayesian(const struct sebays_model *model)
{
    return model->model.info.gauss;
}

const char *sebays_model_recipe(const struct sebays_model *model)
{
    return model->model.info.recipe;
}
