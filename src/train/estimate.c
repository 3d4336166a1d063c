/* estimate - what a run will take, before it starts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "train/state.h"

enum { WARM_STEPS = 1, TIMED_STEPS = 3 };

/* Seconds a training image takes, from a few real steps of the real network. */
static sb_status time_steps(struct sb_trainer *t, double *seconds)
{
    struct sb_batch b;
    double images = 0.0, start = 0.0;
    sb_status st = sb_net_start(&t->net, t->config->train.seed, 0,
                                (float)t->config->method.rho_init);
    sb_net_refresh(t->env, &t->net);
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
        st = sb_train_step(t->env, &t->net, b.x, b.labels, &o, &t->growth, &loss);
        images += i >= WARM_STEPS ? b.count : 0.0;
    }
    *seconds = images > 0.0 ? (sb_trainer_clock() - start) / images : NAN;
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

static void print_plan(FILE *f, const struct sb_trainer *t, double per_image)
{
    const struct sb_net *n = &t->net;
    const struct sb_schedule *s = &t->schedule;
    double images = (double)s->total_epochs * t->source.part.trains;
    double macs = sb_net_macs(n, false), dense = sb_net_macs(n, true);
    fprintf(f, "method %s, architecture %s, %u members\n", t->method->name,
            t->config->model.arch, t->config->method.members);
    fprintf(f,
            "data: %u training, %u validation, %u test examples of %u x %u x %u, %u "
            "classes\n\n",
            t->source.part.trains, t->source.part.valids, t->source.tests,
            t->source.train.channels, t->source.train.height, t->source.train.width,
            t->source.train.classes);
    print_layers(f, n);
    fprintf(f, "\nweights that exist   %llu of %llu (density %.4f)\n",
            (unsigned long long)sb_net_active(n), (unsigned long long)sb_net_weights(n),
            (double)sb_net_active(n) / (double)sb_net_weights(n));
    fprintf(f, "forward, one image   %.1f MFLOP (%.3f of dense)\n", 2e-6 * macs,
            macs / dense);
    fprintf(f, "training             %.3g FLOP over %llu epochs, %llu steps\n",
            2.0 * macs * 3.0 * images, (unsigned long long)s->total_epochs,
            (unsigned long long)s->total_steps);
    fprintf(f, "memory               %.1f MB (activations %.1f, gradients %.1f)\n",
            (double)sb_net_bytes(n) / 1e6, 4e-6 * (double)n->value_floats,
            4e-6 * (double)n->gradient_floats);
    fprintf(f, "time on %d threads    about ", t->env->threads);
    print_time(f, per_image * images);
}

sb_status sb_run_plan(const struct sb_env *env, const struct sb_config *c,
                      const struct sb_method *m, char **out)
{
    struct sb_run_options o = {0};
    struct sb_trainer t;
    double per_image = NAN;
    char *text = NULL;
    size_t size = 0;
    *out = NULL;
    sb_status st = sb_trainer_open(&t, env, c, m, &o);
    if (st == SB_OK)
        st = time_steps(&t, &per_image);
    FILE *f = st == SB_OK ? open_memstream(&text, &size) : NULL;
    if (st == SB_OK && f) {
        print_plan(f, &t, per_image);
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
