/* eval - see eval.h. */
#include "eval/eval.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "eval/parts.h"
#include "predict/gather.h"
#include "predict/missing.h"
#include "readers/readers.h"

/* ---- what sections share ------------------------------------------------------------- */

void sb_eval_put(struct sb_eval *a, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        a->failed = true;
}

void sb_eval_push(struct sb_eval *a, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        a->failed = true;
}

json_t *sb_eval_scores(const struct sb_scores *s, bool brier)
{
    json_t *j = json_pack("{s:o, s:o, s:o}", "acc", sb_json_real(s->accuracy), "nll",
                          sb_json_real(s->nll), "ece", sb_json_real(s->ece));
    if (j && brier && json_object_set_new(j, "brier", sb_json_real(s->brier)) != 0) {
        json_decref(j);
        return NULL;
    }
    return j;
}

json_t *sb_eval_numbers(struct sb_eval *a, const double *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        sb_eval_push(a, list, sb_json_real(x[i]));
    return list;
}

sb_status sb_eval_want_images(const struct sb_eval *a, const char *what)
{
    const struct sb_dataset *d = a->test.data;
    if (d->element == SB_BYTES && (d->channels == 1 || d->channels == 3))
        return SB_OK;
    if (sb_dataset_tabular(d))
        return sb_fail(SB_EARG, "%s: %s need images; it is a table of %u features",
                       d->path, what, d->channels);
    return sb_fail(
        SB_EARG,
        "%s: %s need images with 1 or 3 channels of bytes; these are %u x %u x "
        "%u %s",
        d->path, what, d->channels, d->height, d->width,
        d->element == SB_BYTES ? "pixels" : "numbers");
}

void sb_eval_sampling(const struct sb_eval *a, char out[32])
{
    if (sb_model_draws(a->ensemble.model))
        sb_sampling_name(&a->ensemble.sampling, out);
    else
        snprintf(out, 32, "point"); /* there is one way only */
}

/* ---- opening ------------------------------------------------------------------------- */

static sb_status open_model(struct sb_eval *a)
{
    char path[SB_PATH_BYTES];
    sb_status st = sb_run_find(a->o->run, SB_RUN_MODEL, path);
    if (st == SB_OK)
        st = sb_model_read(&a->model, path);
    if (st == SB_OK && a->model.members == 0)
        st = sb_fail(SB_EARG, "%s has no members", path);
    return st == SB_OK ? sb_ensemble_init(&a->ensemble, a->env, &a->model,
                                          &a->o->config->eval, a->o->config->train.batch)
                       : st;
}

/* The recipe's test examples, or another set that is read like its training set. */
static sb_status open_test(struct sb_eval *a)
{
    char path[SB_PATH_BYTES];
    struct sb_open_options o = sb_source_options(a->o->config, SB_SPLIT_TEST);
    o.like = &a->source.train;
    sb_status st = sb_source_open(&a->source, a->env, a->o->config);
    a->test = (struct sb_chosen){.data = a->source.test_clean.data,
                                 .index = a->source.test_index,
                                 .n = a->source.tests};
    if (st == SB_OK)
        st = sb_source_check(&a->source, a->o->run, &a->model.info,
                             a->o->test ? SB_IDENTITY_OTHER : SB_IDENTITY_EVAL,
                             a->o->force);
    if (st == SB_OK && !a->o->test && a->source.tests == 0)
        st = sb_fail(SB_EARG,
                     "%s has no test part (data.test_share = 0); name a set with --test",
                     a->o->run);
    if (st == SB_OK && a->o->test) {
        st = sb_source_find(a->o->config, a->o->test, path, sizeof path);
        if (st == SB_OK)
            st = sb_dataset_open_with(&a->other, path, &o);
        a->test = (struct sb_chosen){.data = &a->other, .n = a->other.n};
    }
    if (st == SB_OK)
        st = sb_ensemble_check(&a->ensemble, a->test.data);
    const struct sb_dataset *d = a->test.data;
    if (st == SB_OK && (a->model.info.targets > 0 ? !d->targets : !d->labels))
        st = sb_fail(SB_EARG, "%s: its examples have no %s to compare with", d->path,
                     a->model.info.targets > 0 ? "targets" : "labels");
    if (st == SB_OK && a->model.info.targets != d->target_count)
        st = sb_fail(SB_EARG, "%s: it has %u targets, the model knows %u", d->path,
                     d->target_count, a->model.info.targets);
    if (st == SB_OK && d->classes > a->model.info.classes)
        st = sb_fail(SB_EARG, "%s: labels of %u classes, the model knows %u", d->path,
                     d->classes, a->model.info.classes);
    if (st == SB_OK && a->o->test)
        sb_source_warn_overlap(&a->source, a->env, d, NULL, d->n);
    return st;
}

/* Training and prediction tell of the same. */
static void warn_unseen(const struct sb_eval *a)
{
    const struct sb_columns *columns = a->source.train.columns;
    struct sb_missing missing = {0};
    char note[SB_MISSING_NOTE];
    if (!a->o->test || !columns || a->other.element != SB_FLOATS)
        return;
    const struct sb_input in = sb_gather_input(&a->other, a->other.values);
    sb_missing_count(&missing, &in, a->other.n, 0, true, columns, a->other.channels);
    if (sb_missing_note(&missing, columns, note))
        sb_log_write(a->env->log, SB_LOG_WARN, "%s: %s", a->other.path, note);
}

/* What is right for the test examples. */
static void copy_truth(struct sb_eval *a)
{
    const struct sb_dataset *d = a->test.data;
    size_t targets = a->model.info.targets;
    for (uint32_t i = 0; i < a->test.n; i++) {
        size_t at = a->test.index ? a->test.index[i] : i;
        if (targets > 0)
            memcpy(a->target + i * targets, d->targets + at * targets,
                   targets * sizeof *a->target);
        else
            a->label[i] = (int32_t)d->labels[at];
    }
}

static sb_status predict_test(struct sb_eval *a)
{
    const struct sb_model_info *info = &a->model.info;
    size_t members = a->model.members, size = sb_model_prediction_size(info),
           n = a->test.n;
    size_t targets = info->targets;
    a->label = targets ? NULL : sb_malloc(n, sizeof *a->label);
    a->target = targets ? sb_malloc(n, targets * sizeof *a->target) : NULL;
    a->prob = sb_malloc(n * size, members * sizeof *a->prob);
    a->member = sb_malloc(members, 2 * sizeof *a->member);
    a->sections = json_object();
    if ((!a->label && !a->target) || !a->prob || !a->member || !a->sections)
        return sb_fail(SB_ENOMEM, "no memory for predictions of %zu examples", n);
    for (size_t m = 0; m < members; m++) {
        a->member[m] = a->prob + m * n * size;
        a->member[members + m] = a->member[m] + n * targets;
    }
    a->probs = (struct sb_probs){a->member, members, n, info->classes};
    a->mixture = (struct sb_mixture){.mean = a->member,
                                     .var = a->member + members,
                                     .members = members,
                                     .n = n,
                                     .targets = targets,
                                     .width = info->target_width};
    copy_truth(a);
    return sb_ensemble_predict(&a->ensemble, &a->test, a->prob);
}

static void fini(struct sb_eval *a)
{
    sb_ensemble_fini(&a->ensemble);
    sb_model_fini(&a->model);
    sb_dataset_fini(&a->other);
    sb_source_fini(&a->source);
    sb_free(a->label);
    sb_free(a->target);
    sb_free(a->prob);
    sb_free(a->member);
    json_decref(a->sections);
    sb_text_fini(&a->table);
}

/* ---- the whole ----------------------------------------------------------------------- */

/* Of a model of continuous targets: what needs classes is refused, not left out. */
static sb_status sections_of_outcomes(struct sb_eval *a)
{
    const struct sb_eval_options *o = a->o;
    const char *asked = o->oods > 0  ? "out-of-distribution sets"
                        : o->corrupt ? "corruptions"
                        : o->attack  ? "attacks"
                                     : NULL;
    if (asked)
        return sb_fail(SB_EARG, "%s: %s are for models of classes; this one predicts %s",
                       o->run, asked, a->model.info.target_name[0]);
    if (o->config->eval.temperature)
        sb_log_write(a->env->log, SB_LOG_WARN,
                     "eval.temperature = yes changes nothing: it is of probabilities of "
                     "classes, and this model predicts %s",
                     a->model.info.target_name[0]);
    sb_status st = sb_eval_outcomes(a);
    return st == SB_OK ? sb_eval_support(a) : st;
}

static sb_status sections(struct sb_eval *a)
{
    const struct sb_eval_options *o = a->o;
    if (a->model.info.targets > 0)
        return sections_of_outcomes(a);
    bool images = sb_eval_want_images(a, "") == SB_OK; /* what "all" can mean */
    const char *corrupt = o->corrupt ? o->corrupt : o->all && images ? "generate" : NULL;
    const char *attack = o->attack ? o->attack : o->all && images ? "fgsm" : NULL;
    sb_status st = sb_eval_test(a);
    if (st == SB_OK)
        st = sb_eval_examples(a);
    if (st == SB_OK)
        st = sb_eval_support(a);
    if (st == SB_OK && (o->oods > 0 || o->all))
        st = sb_eval_ood(a);
    if (st == SB_OK && attack)
        st = sb_eval_attack(a, attack);
    if (st == SB_OK && corrupt)
        st = sb_eval_corruption(a, corrupt);
    if (st == SB_OK)
        st = sb_eval_trajectory(a);
    return st;
}

static void tell_sampling(struct sb_eval *a)
{
    char sampling[32];
    bool drawn = sb_model_draws(a->ensemble.model);
    enum sb_sample_kind asked = a->o->config->eval.sampling;
    sb_eval_sampling(a, sampling);
    sb_text_add(&a->table, "%s: %u examples of %s, %s%s\n\n", a->o->run, a->test.n,
                a->test.data->path, drawn ? "sampling " : "weights are points",
                drawn ? sampling : "");
    if (!drawn && asked != SB_SAMPLE_DRAW)
        sb_log_write(
            a->env->log, SB_LOG_WARN,
            "eval.sampling (--samples) changes nothing: the weights of this model "
            "are points");
    else if (drawn && asked != a->ensemble.sampling.kind)
        sb_log_write(a->env->log, SB_LOG_WARN,
                     "this model has drawn scales and no noise of activations: "
                     "eval.sampling (--samples) is draw");
}

sb_status sb_eval_run(const struct sb_env *env, const struct sb_eval_options *o,
                      char **table)
{
    struct sb_eval a = {.env = env, .o = o};
    *table = NULL;
    sb_status st = open_model(&a);
    if (st == SB_OK)
        st = open_test(&a);
    if (st == SB_OK)
        warn_unseen(&a);
    if (st == SB_OK)
        st = predict_test(&a);
    if (st == SB_OK) {
        tell_sampling(&a);
        st = sections(&a);
    }
    if (st == SB_OK)
        st = sb_eval_write(&a);
    if (st == SB_OK) {
        sb_eval_tell_definitions(&a);
        st = sb_text_take(&a.table, table);
    }
    fini(&a);
    return st;
}
