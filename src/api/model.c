/* sebays_model - the part of include/sebays.h about model files. */
#include "api/model.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/need.h"
#include "base/file.h"
#include "base/mem.h"
#include "kernels/kernels.h"
#include "model/inspect.h"
#include "model/run_files.h"
#include "predict/kept.h"

sb_status sb_model_find(const char *path, char out[SB_PATH_BYTES])
{
    struct stat s;
    bool directory = stat(path, &s) == 0 && S_ISDIR(s.st_mode);
    if (directory && (sb_run_has(path, SB_RUN_MODEL) || sb_run_has(path, SB_RUN_RECIPE)))
        return sb_run_find(path, SB_RUN_MODEL, out);
    if (directory)
        return sb_fail(SB_EIO,
                       "%s has no model.safetensors; want a model file, or a directory "
                       "that 'sebays train' made",
                       path);
    if (snprintf(out, SB_PATH_BYTES, "%s", path) >= SB_PATH_BYTES)
        return sb_fail(SB_EARG, "a path of more than %d bytes", SB_PATH_BYTES);
    return SB_OK;
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
    char file[SB_PATH_BYTES];
    struct sb_model m = {0};
    struct text t = {0};
    struct stat s;
    SB_NEED(out);
    *out = NULL;
    SB_NEED(path);
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
    struct shared {
        struct sb_loaded loaded;
        bool made;
    } shared[SB_LOAD_COUNT][SB_PLAN_COUNT][2]; /* for kernels with 8 and with 16 lanes */
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
    for (int load = 0; load < SB_LOAD_COUNT; load++)
        for (int plan = 0; plan < SB_PLAN_COUNT; plan++)
            for (int wide = 0; wide < 2; wide++)
                sb_loaded_fini(&s->shared[load][plan][wide].loaded);
    pthread_mutex_destroy(&s->lock);
    sb_free(s);
}

sb_status sb_share_get(const struct sebays_model *model, const struct sb_env *env,
                       enum sb_load load, enum sb_plan plan, const struct sb_loaded **out)
{
    struct sb_share *s = model->share;
    struct shared *l = &s->shared[load][plan][env->kernels->lanes > 8];
    sb_status st = SB_OK;
    pthread_mutex_lock(&s->lock);
    if (!l->made) {
        st = sb_loaded_init(&l->loaded, env, &model->model, load, plan);
        if (st != SB_OK)
            sb_loaded_fini(&l->loaded);
        l->made = st == SB_OK;
    }
    pthread_mutex_unlock(&s->lock);
    *out = &l->loaded;
    return st;
}

/* Columns that are not sound are found now, not by the first predictor. */
static sb_status count_inputs(struct sebays_model *m)
{
    struct sb_columns *columns;
    sb_status st = sb_predict_columns(&m->model.info, &columns);
    m->inputs = columns ? columns->inputs : m->model.info.channels;
    sb_columns_free(columns);
    return st;
}

sebays_status sebays_model_open(const char *path, struct sebays_model **out)
{
    char file[SB_PATH_BYTES];
    SB_NEED(out);
    *out = NULL;
    SB_NEED(path);
    sb_status st = sb_model_find(path, file);
    struct sebays_model *m = NULL;
    if (st == SB_OK) {
        m = sb_calloc(1, sizeof *m);
        st = m ? share_new(&m->share) : sb_fail(SB_ENOMEM, "no memory for a model");
    }
    if (st == SB_OK)
        st = sb_model_map(&m->model, file);
    if (st == SB_OK)
        st = count_inputs(m);
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
    return model ? model->model.members : 0;
}

uint32_t sebays_model_classes(const struct sebays_model *model)
{
    return model ? model->model.info.classes : 0;
}

uint32_t sebays_model_targets(const struct sebays_model *model)
{
    return model ? model->model.info.targets : 0;
}

const char *sebays_model_target_name(const struct sebays_model *model, uint32_t i)
{
    return i < sebays_model_targets(model) ? model->model.info.target_name[i] : NULL;
}

double sebays_model_target_width(const struct sebays_model *model, uint32_t target)
{
    if (target >= sebays_model_targets(model))
        return NAN;
    const float *width = model->model.info.target_width;
    return width ? (double)width[target] : 1;
}

bool sebays_model_has_far(const struct sebays_model *model)
{
    return model && model->model.far.members > 0;
}

uint32_t sebays_model_calibrated(const struct sebays_model *model)
{
    return model ? model->model.info.scores : 0;
}

sebays_status sebays_model_conformal(const struct sebays_model *model, uint32_t target,
                                     double coverage, double *factor)
{
    SB_NEED(factor);
    *factor = NAN;
    SB_NEED(model);
    return (sebays_status)sb_predict_conformal(&model->model.info, target, coverage,
                                               factor);
}

const char *sebays_model_class_name(const struct sebays_model *model, uint32_t i)
{
    const struct sb_model_info *info = model ? &model->model.info : NULL;
    return info && info->class_name && i < info->classes ? info->class_name[i] : NULL;
}

uint32_t sebays_model_channels(const struct sebays_model *model)
{
    return model ? model->inputs : 0;
}

uint32_t sebays_model_height(const struct sebays_model *model)
{
    return model ? model->model.info.height : 0;
}

uint32_t sebays_model_width(const struct sebays_model *model)
{
    return model ? model->model.info.width : 0;
}

const char *sebays_model_arch(const struct sebays_model *model)
{
    return model ? model->model.info.arch : NULL;
}

const char *sebays_model_method(const struct sebays_model *model)
{
    return model ? model->model.info.method : NULL;
}

double sebays_model_density(const struct sebays_model *model)
{
    const struct sb_model *m = model ? &model->model : NULL;
    double all = 0, active = 0;
    if (!m)
        return NAN;
    for (uint32_t i = 0; i < m->networks; i++)
        for (uint32_t k = 0; k < m->network[i].weights; k++) {
            const struct sb_param *mu = &m->network[i].params.param[m->network[i].mu[k]];
            all += sb_param_all(mu);
            active += mu->count;
        }
    return active / all;
}

bool sebays_model_bayesian(const struct sebays_model *model)
{
    return model && sb_model_draws(&model->model);
}

const char *sebays_model_recipe(const struct sebays_model *model)
{
    return model ? model->model.info.recipe : NULL;
}
