/* fit - a recipe meets its data: what follows from it is chosen, and paths are settled.
 *
 * recipe.ini is read again from wherever somebody stands: relative paths become absolute
 * there, if they fit. Links are not followed: what a set is called is
 * part of the recipe (SB_OPTION_PLACE), and stays.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/state.h"

/* ---- paths ---------------------------------------------------------------------------- */

/* out = path from the root; false if that does not fit or no recipe could say it. */
static bool absolute(const char *path, size_t n, char out[SB_CONFIG_PATH])
{
    char here[SB_CONFIG_PATH];
    int used;
    while (n > 2 && path[0] == '.' && path[1] == '/') {
        path += 2;
        n -= 2;
    }
    if (n > 0 && path[0] == '/')
        used = snprintf(out, SB_CONFIG_PATH, "%.*s", (int)n, path);
    else if (getcwd(here, sizeof here))
        used = snprintf(out, SB_CONFIG_PATH, "%s/%.*s", strcmp(here, "/") ? here : "",
                        (int)n, path);
    else
        return false;
    return used > 0 && used < SB_CONFIG_PATH && !strpbrk(out, ";\n");
}

/* A set that is found by its name alone keeps that. */
static bool settle_set(char field[SB_CONFIG_PATH])
{
    char path[SB_CONFIG_PATH];
    if (field[0] == '\0' || (!strchr(field, '/') && !sb_file_exists(field)))
        return true;
    if (!absolute(field, strlen(field), path))
        return false;
    memset(field, 0, SB_CONFIG_PATH);
    memcpy(field, path, strlen(path));
    return true;
}

/* Each of "a:b:c". */
static bool settle_dirs(char field[SB_CONFIG_PATH])
{
    char all[SB_CONFIG_PATH] = "", one[SB_CONFIG_PATH];
    size_t used = 0;
    for (const char *at = field; *at;) {
        size_t n = strcspn(at, ":");
        if (n > 0) {
            if (!absolute(at, n, one) || used + strlen(one) + 2 > sizeof all)
                return false;
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                                     used ? ":" : "", one);
        }
        at += n + (at[n] == ':');
    }
    if (used > 0)
        memcpy(field, all, sizeof all);
    return true;
}

static void settle(struct sb_recipe *r, const struct sb_env *env)
{
    struct sb_config_data *d = &r->config.data;
    bool ok = d->set_path || settle_set(d->set);
    ok = settle_set(d->test) && ok;
    ok = settle_dirs(d->dir) && ok;
    if (!ok)
        sb_log_write(
            env->log, SB_LOG_WARN,
            "the path of the data is too long for recipe.ini, which says it as it "
            "was given: evaluate the run from this directory");
}

/* ---- the recipe ----------------------------------------------------------------------- */

sb_status sb_trainer_fit(struct sb_recipe *r, const struct sb_env *env,
                         const struct sb_facts *facts, char **chosen)
{
    struct sb_recipe before = *r;
    char arch[SB_OPTION_VALUE];
    sb_status st = sb_recipe_get(&before, "model.arch", arch);
    if (st == SB_OK)
        st = sb_recipe_fit(r, facts);
    if (st == SB_OK)
        st = sb_recipe_chosen(&before, r, chosen);
    /* Who names a network for images has a recipe, and it says the rest of the defaults. */
    if (st == SB_OK && !facts->table && strcmp(arch, "auto") != 0)
        (*chosen)[0] = '\0';
    if (st == SB_OK)
        settle(r, env);
    return st;
}

sb_status sb_run_fit(const struct sb_env *env, struct sb_recipe *recipe)
{
    struct sb_source source;
    struct sb_facts facts;
    char *chosen = NULL;
    sb_status st = sb_source_begin(&source, env, &recipe->config, &facts);
    if (st == SB_OK)
        st = sb_trainer_fit(recipe, env, &facts, &chosen);
    sb_free(chosen);
    sb_source_fini(&source);
    return st;
}

/* ---- what changes nothing -------------------------------------------------------------- */

/* The estimator is the convolutions'. */
static void say_estimator(const struct sb_trainer *t)
{
    const struct sb_net *n = &t->net;
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < n->arch.weights; i++)
        drawn += n->weight[i].group > 0;
    if (sb_trainer_group(t->config) > 0 && drawn == 0)
        sb_log_write(t->env->log, SB_LOG_WARN,
                     "train.estimator = weights changes nothing: it is for convolutions, "
                     "and %s has none",
                     t->config->model.arch);
}

/* Who resumes was told. */
static void say_unused(const struct sb_trainer *t)
{
    char names[SB_RECIPE_UNUSED];
    bool table = sb_dataset_tabular(&t->source.train);
    if (!t->options->resume && sb_recipe_unused(&t->recipe, table, names)[0])
        sb_log_write(t->env->log, SB_LOG_WARN,
                     "what the recipe says of these changes nothing, as %s does not use "
                     "them here: %s",
                     t->method->name, names);
}

/* Somebody said so: left to the data it may be anything. */
static bool is_given(const struct sb_recipe *r, const char *name)
{
    const struct sb_option *o;
    return sb_option_find(name, &o) == SB_OK && r->given[o - sb_option_at(0)];
}

static void say_for_classes(const struct sb_trainer *t)
{
    bool choose = t->config->train.choose == SB_CONFIG_BY_ACCURACY &&
                  is_given(&t->recipe, "train.choose");
    bool temperature = t->config->eval.temperature;
    if (!t->options->resume && t->source.train.targets && (choose || temperature))
        sb_log_write(t->env->log, SB_LOG_WARN,
                     "%s%s%s: only of classes; %s has continuous targets, where %s "
                     "nothing (the epoch is chosen by nll)",
                     choose ? "train.choose = accuracy" : "",
                     choose && temperature ? " and " : "",
                     temperature ? "eval.temperature = yes" : "", t->source.train.path,
                     choose && temperature ? "they change" : "it changes");
}

/* With n rows the largest coverage that rules anything out is n / (n + 1). */
static void say_calibration(const struct sb_trainer *t)
{
    const uint32_t least = 9; /* of the usual 0.9 */
    uint32_t n = t->source.calibrations;
    if (n > 0 && n < least)
        sb_log_write(
            t->env->log, SB_LOG_WARN,
            "data.calibration keeps %u row%s, which are too few for conformal %s "
            "of 90 %% coverage: those need %u; keep more, or ask for a coverage of "
            "at most %.3g",
            n, n == 1 ? "" : "s", t->source.train.targets ? "intervals" : "sets", least,
            floor(1000.0 * n / (n + 1.0)) / 1000);
}

void sb_trainer_warn(const struct sb_trainer *t)
{
    say_calibration(t);
    say_estimator(t);
    say_unused(t);
    say_for_classes(t);
}
