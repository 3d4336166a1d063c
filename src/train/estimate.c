/* estimate - what a run will take, before it starts.
 *
 * Each kind of support that the stages have is planned and timed by a few real steps. What a
 * cut by magnitude will leave is not known before: the cut through fresh weights stands for
 * it, which has the right total and about the right share of each layer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numeric.h"
#include "train/state.h"

enum { WARM_STEPS = 1, TIMED_STEPS = 3 };

/* A network of one kind of support. */
struct kind {
    bool used;
    double seconds; /* a training image takes; NAN: unknown */
    double flops;   /* of training, an image */
    uint64_t active;
    size_t bytes;
};

/* Seconds a training image takes, from a few real steps of the real network. */
static sb_status time_steps(struct sb_trainer *t, double *seconds)
{
    struct sb_batch b;
    double images = 0.0, start = 0.0;
    sb_status st = SB_OK;
    sb_loader_start(t->loader, 0, 0, 0);
    for (int i = 0; i < WARM_STEPS + TIMED_STEPS && st == SB_OK; i++) {
        st = sb_loader_next(t->loader, &b);
        if (st != SB_OK || b.count == 0)
            break;
        if (i == WARM_STEPS)
            start = sb_trainer_clock();
        struct sb_step_options o = {.run = 0,
                                    .number = (uint32_t)i + 1,
                                    .sgd = {0.01f, 0.9f, 0.0f, 0},
                                    .lr_rho = 0.01f,
                                    .prior_sd = 1.0f,
                                    .rate = -1.0,
                                    .batches = 1};
        double loss;
        struct sb_fed fed =
            sb_feeder_run(&t->feeder, t->env, o.seed, o.run, o.number, b.x, b.labels);
        st = sb_train_step(t->env, &t->net, fed.rows, fed.label, &o, &t->growth, &loss);
        images += i >= WARM_STEPS ? b.count : 0.0;
    }
    *seconds = images > 0.0 ? (sb_trainer_clock() - start) / images : NAN;
    return st;
}

/* The network becomes one of that support. */
static sb_status make_network(struct sb_trainer *t, enum sb_stage_support support)
{
    bool pruned = support == SB_STAGE_PRUNED;
    const struct sb_stage fresh = {.begin = SB_STAGE_FRESH,
                                   .support = pruned ? SB_STAGE_DENSE : support};
    sb_status st = sb_trainer_enter(t, &fresh);
    return st == SB_OK && pruned ? sb_trainer_prune(t) : st;
}

static sb_status measure(struct sb_trainer *t, struct kind kind[SB_STAGE_SUPPORTS])
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < t->schedule.stages; i++)
        kind[t->schedule.stage[i].support].used = true;
    for (int k = 0; st == SB_OK && k < SB_STAGE_SUPPORTS; k++) {
        if (!kind[k].used)
            continue;
        st = make_network(t, (enum sb_stage_support)k);
        if (st == SB_OK)
            st = time_steps(t, &kind[k].seconds);
        kind[k].flops = sb_trainer_flops(&t->net, sb_form_rows(&t->form, 1));
        kind[k].active = sb_net_active(&t->net);
        kind[k].bytes = sb_net_bytes(&t->net);
    }
    return st;
}

static void print_layers(FILE *f, const struct sb_net *n)
{
    fprintf(f, "%-24s %-20s %12s %12s %8s\n", "layer", "shape", "weights", "exist",
            "density");
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        const struct sb_weight *w = &n->weight[i];
        char shape[64];
        snprintf(shape, sizeof shape, "%ux%ux%ux%u", w->conv.out, w->conv.in, w->conv.kh,
                 w->conv.kw);
        uint32_t all = sb_conv_weights(&w->conv);
        fprintf(f, "%-24s %-20s %12u %12u %8.4f\n", n->arch.node[n->weight_node[i]].name,
                shape, all, w->nnz, (double)w->nnz / all);
    }
}

static void print_time(FILE *f, double seconds)
{
    if (!isfinite(seconds))
        fprintf(f, "unknown\n");
    else if (seconds < 120.0)
        fprintf(f, "%.0f s\n", seconds);
    else if (seconds < 7200.0)
        fprintf(f, "%.0f min\n", seconds / 60.0);
    else
        fprintf(f, "%.1f h\n", seconds / 3600.0);
}

/* Stages that have the same name are alike. */
static uint32_t count_alike(const struct sb_schedule *s, const struct sb_stage *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->stages; i++)
        n += strcmp(s->stage[i].name, g->name) == 0;
    return n;
}

static bool named_before(const struct sb_schedule *s, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(s->stage[k].name, s->stage[i].name) == 0)
            return true;
    return false;
}

static void print_stages(FILE *f, const struct sb_trainer *t, double dense,
                         const struct kind kind[SB_STAGE_SUPPORTS])
{
    const struct sb_schedule *s = &t->schedule;
    double images = t->source.part.train_count, flops = 0.0, seconds = 0.0;
    fprintf(f, "\n%-12s %7s %7s %12s %10s  %s\n", "stage", "times", "epochs", "weights",
            "FLOP", "time");
    for (uint32_t i = 0; i < s->stages; i++) {
        const struct sb_stage *g = &s->stage[i];
        const struct kind *k = &kind[g->support];
        double rows = images * g->epochs;
        flops += k->flops * rows;
        seconds += k->seconds * rows;
        if (named_before(s, i))
            continue;
        double all = rows * count_alike(s, g);
        fprintf(f, "%-12s %7u %7u %12llu %10.3g  ", g->name, count_alike(s, g), g->epochs,
                (unsigned long long)k->active, k->flops * all);
        print_time(f, k->seconds * all);
    }
    fprintf(f, "%-12s %7s %7llu %12s %10.3g  ", "all", "",
            (unsigned long long)s->total_epochs, "", flops);
    print_time(f, seconds);
    fprintf(f,
            "\ncost                 %.2f of one dense run (%u epochs), %u training "
            "run%s, %llu steps\n",
            flops / dense, s->dense_epochs, s->trainings, s->trainings == 1 ? "" : "s",
            (unsigned long long)s->total_steps);
    fprintf(f, "time on %d threads    about ", t->env->threads);
    print_time(f, seconds);
}

/* The network is the last kind that was measured: the members'. */
static void print_plan(FILE *f, const struct sb_trainer *t, double dense_run,
                       const struct kind kind[SB_STAGE_SUPPORTS])
{
    const struct sb_net *n = &t->net;
    double macs = sb_net_macs(n, false), dense = sb_net_macs(n, true);
    size_t bytes = 0;
    for (int k = 0; k < SB_STAGE_SUPPORTS; k++)
        bytes = kind[k].bytes > bytes ? kind[k].bytes : bytes;
    fprintf(f, "method %s, architecture %s, %u members\n", t->method->name,
            t->config->model.arch, t->config->method.members);
    fprintf(f,
            "data: %u training, %u validation, %u test examples of %u x %u x %u, %u "
            "classes\n\n",
            t->source.part.train_count, t->source.part.validation_count, t->source.tests,
            t->source.normal.channels, t->source.train.height, t->source.train.width,
            t->source.train.classes);
    if (t->chosen[0])
        fprintf(f, "chosen for the data: %s\n\n", t->chosen);
    print_layers(f, n);
    if (kind[SB_STAGE_PRUNED].used)
        fprintf(f,
                "how many weights of a layer exist is an estimate: the cut through all "
                "layers is made when they are trained\n");
    fprintf(f, "\nweights that exist   %llu of %llu (density %.4f)\n",
            (unsigned long long)sb_net_active(n), (unsigned long long)sb_net_weights(n),
            (double)sb_net_active(n) / (double)sb_net_weights(n));
    fprintf(f, "forward, one row     %.1f MFLOP (%.3f of dense)\n", 2e-6 * macs,
            macs / dense);
    fprintf(f, "memory               %.1f MB (activations %.1f, gradients %.1f)\n",
            (double)bytes / 1e6, 4e-6 * (double)n->value_floats,
            4e-6 * (double)n->gradient_floats);
    print_stages(f, t, dense_run, kind);
}

sb_status sb_run_plan(const struct sb_env *env, const struct sb_recipe *recipe,
                      char **out)
{
    struct sb_run_options o = {0};
    struct sb_trainer t;
    struct kind kind[SB_STAGE_SUPPORTS] = {{0}};
    char *text = NULL;
    size_t size = 0;
    double dense_run = 0.0;
    *out = NULL;
    sb_status st = sb_trainer_open(&t, env, recipe, &o);
    if (st == SB_OK)
        st = measure(&t, kind);
    if (st == SB_OK)
        st = sb_trainer_dense_run(&t, &dense_run);
    FILE *f = st == SB_OK ? open_memstream(&text, &size) : NULL;
    if (st == SB_OK && f) {
        locale_t before = sb_numeric_begin();
        print_plan(f, &t, dense_run, kind);
        sb_numeric_end(before);
        fclose(f);
        *out = sb_malloc(size + 1, 1);
        if (*out)
            memcpy(*out, text, size + 1);
    }
    if (st == SB_OK && !*out)
        st = sb_fail(SB_ENOMEM, "no memory for the plan's text");
    free(text);
    sb_trainer_close(&t);
    return st;
}
