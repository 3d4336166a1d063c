/* estimate - what a run will take, before it starts.
 *
 * Each kind of support that the stages have is planned and timed by a few real steps
 * (measure.h).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numeric.h"
#include "kernels/speed.h"
#include "nn/traffic.h"
#include "train/measure.h"

/* A network of one kind of support. */
struct kind {
    bool used;
    struct sb_measured time;
    double flops; /* of training, an image */
    uint64_t active;
    size_t bytes;
};

static sb_status measure(struct sb_trainer *t, struct kind kind[SB_STAGE_SUPPORTS])
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < t->schedule.stages; i++)
        kind[t->schedule.stage[i].support].used = true;
    for (int k = 0; st == SB_OK && k < SB_STAGE_SUPPORTS; k++) {
        uint64_t done = 0;
        if (!kind[k].used)
            continue;
        st = sb_measure_network(t, (enum sb_stage_support)k);
        if (st != SB_OK)
            return st;
        sb_progress_begin(t->options->progress, "measure", 0,
                          (uint64_t)SB_MEASURE_STEPS * sb_measure_batch(t));
        st = sb_measure_steps(t, &done, &kind[k].time);
        if (st == SB_OK)
            st = sb_progress_end(t->options->progress);
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

/* The run that finds a width, if this one needs it. */
struct first_run {
    uint64_t epochs, steps; /* 0: there is none */
    double flops, seconds;
};

/* It has the same kinds of networks. */
static sb_status plan_first_run(const struct sb_trainer *t,
                                const struct kind kind[SB_STAGE_SUPPORTS],
                                struct first_run *out)
{
    struct sb_schedule s;
    uint32_t rows;
    *out = (struct first_run){0};
    sb_status st = sb_trainer_width_schedule(t, &s, &rows);
    for (uint32_t i = 0; st == SB_OK && i < s.stages; i++) {
        const struct kind *k = &kind[s.stage[i].support];
        out->flops += k->flops * rows * s.stage[i].epochs;
        out->seconds += k->time.image * rows * s.stage[i].epochs;
    }
    out->epochs = s.total_epochs;
    out->steps = s.total_steps;
    sb_schedule_fini(&s);
    return st;
}

/* Returns the seconds; *flops: of all. */
static double print_rows(FILE *f, const struct sb_trainer *t,
                         const struct kind kind[SB_STAGE_SUPPORTS],
                         const struct first_run *first, double *flops)
{
    const struct sb_schedule *s = &t->schedule;
    double images = t->source.part.train_count, seconds = first->seconds;
    *flops = first->flops;
    fprintf(f, "\n%-12s %7s %7s %12s %10s  %s\n", "stage", "times", "epochs", "weights",
            "FLOP", "time");
    if (first->epochs > 0) {
        fprintf(f, "%-12s %7d %7llu %12s %10.3g  ", "width", 1,
                (unsigned long long)first->epochs, "", first->flops);
        sb_measure_print_time(f, first->seconds);
    }
    for (uint32_t i = 0; i < s->stages; i++) {
        const struct sb_stage *g = &s->stage[i];
        const struct kind *k = &kind[g->support];
        double rows = images * g->epochs;
        *flops += k->flops * rows;
        seconds += k->time.image * rows;
        if (named_before(s, i))
            continue;
        double all = rows * count_alike(s, g);
        fprintf(f, "%-12s %7u %7u %12llu %10.3g  ", g->name, count_alike(s, g), g->epochs,
                (unsigned long long)k->active, k->flops * all);
        sb_measure_print_time(f, k->time.image * all);
    }
    return seconds;
}

static void print_stages(FILE *f, const struct sb_trainer *t, double dense,
                         const struct kind kind[SB_STAGE_SUPPORTS],
                         const struct first_run *first)
{
    const struct sb_schedule *s = &t->schedule;
    uint32_t trainings = s->trainings + (first->epochs > 0);
    double flops, seconds = print_rows(f, t, kind, first, &flops);
    fprintf(f, "%-12s %7s %7llu %12s %10.3g  ", "all", "",
            (unsigned long long)(s->total_epochs + first->epochs), "", flops);
    sb_measure_print_time(f, seconds);
    fprintf(f,
            "\ncost                 %.2f of one dense run (%u epochs), %u training "
            "run%s, %llu steps\n",
            flops / dense, s->dense_epochs, trainings, trainings == 1 ? "" : "s",
            (unsigned long long)(s->total_steps + first->steps));
    fprintf(f, "time on %d thread%s    about ", t->env->threads,
            t->env->threads == 1 ? " " : "s");
    sb_measure_print_time(f, seconds);
    double busy = 0.0;
    for (int k = 0; k < SB_STAGE_SUPPORTS; k++)
        busy = fmax(busy, kind[k].time.busy);
    sb_measure_print_busy(f, busy);
}

/* What a step moves and computes, and how long the machine would need for either alone. */
static sb_status print_limits(FILE *f, const struct sb_trainer *t)
{
    uint32_t rows = sb_form_rows(&t->form, t->config->train.batch);
    struct sb_traffic traffic = sb_net_traffic(&t->net, rows);
    double bytes = sb_traffic_bytes(&traffic), flops = sb_net_step_flops(&t->net, rows);
    double arithmetic = sb_speed_arithmetic(t->env), memory;
    sb_status st = sb_speed_memory(t->env, &memory);
    if (st == SB_OK)
        fprintf(f,
                "a step moves         %.1f MB, in %.2f ms at the %.1f GB/s this machine "
                "copies\n"
                "a step computes      %.2f GFLOP, in %.2f ms at the %.0f GFLOP/s of its "
                "peak\n",
                1e-6 * bytes, 1e3 * bytes / memory, 1e-9 * memory, 1e-9 * flops,
                1e3 * flops / arithmetic, 1e-9 * arithmetic);
    return st;
}

static void print_data(FILE *f, const struct sb_trainer *t)
{
    const struct sb_dataset *d = &t->source.train;
    uint32_t channels = t->source.normal.channels;
    fprintf(f, "data: %u training, %u validation, %u test examples of %u",
            t->source.part.train_count, t->source.part.validation_count, t->source.tests,
            channels);
    if (sb_dataset_tabular(d))
        fprintf(f, " feature%s", channels == 1 ? "" : "s");
    else
        fprintf(f, " x %u x %u", d->height, d->width);
    fprintf(f, ", %u %s\n\n", d->targets ? d->target_count : d->classes,
            d->targets ? d->target_count == 1 ? "target" : "targets" : "classes");
}

/* What a reader would not expect: examples that cost several rows, and what is not used. */
static void print_oddities(FILE *f, const struct sb_trainer *t)
{
    char names[SB_RECIPE_UNUSED];
    uint32_t batch = t->config->train.batch, rows = sb_form_rows(&t->form, batch);
    if (rows > batch)
        fprintf(f, "rows of a step       %u: each of %u examples is in %u\n", rows, batch,
                rows / batch);
    sb_recipe_unused(&t->recipe, sb_dataset_tabular(&t->source.train), names);
    if (names[0])
        fprintf(f, "changes nothing      %s: %s does not use it here\n", names,
                t->method->name);
}

/* The network is the last kind that was measured: the members'. */
static sb_status print_plan(FILE *f, const struct sb_trainer *t, double dense_run,
                            const struct kind kind[SB_STAGE_SUPPORTS])
{
    const struct sb_net *n = &t->net;
    double macs = sb_net_macs(n, false), dense = sb_net_macs(n, true);
    size_t bytes = 0;
    for (int k = 0; k < SB_STAGE_SUPPORTS; k++)
        bytes = kind[k].bytes > bytes ? kind[k].bytes : bytes;
    fprintf(f, "method %s, architecture %s, %u members\n", t->method->name,
            t->config->model.arch, t->config->method.members);
    print_data(f, t);
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
    fprintf(f, "computed, one row    %.1f MFLOP forward%s\n", 2e-6 * sb_net_work(n),
            t->method->posterior != SB_POSTERIOR_GAUSS      ? ""
            : t->config->train.estimator == SB_CONFIG_LOCAL ? ": mean and variance"
                                                            : ": weights drawn, but for "
                                                              "linear layers");
    print_oddities(f, t);
    fprintf(f, "memory               %.1f MB (activations %.1f, gradients %.1f)\n",
            (double)bytes / 1e6, 4e-6 * (double)n->value_floats,
            4e-6 * (double)n->gradient_floats);
    struct first_run first;
    sb_status st = plan_first_run(t, kind, &first);
    if (st == SB_OK)
        st = print_limits(f, t);
    print_stages(f, t, dense_run, kind, &first);
    return st;
}

sb_status sb_run_plan(const struct sb_env *env, const struct sb_recipe *recipe,
                      struct sb_progress *progress, char **out)
{
    struct sb_run_options o = {.progress = progress};
    struct sb_env alone = *env; /* steps are counted by the clock: each on its own */
    struct sb_trainer t;
    struct kind kind[SB_STAGE_SUPPORTS] = {{0}};
    char *text = NULL;
    size_t size = 0;
    double dense_run = 0.0;
    *out = NULL;
    alone.comm = NULL;
    sb_status st = sb_trainer_open(&t, &alone, recipe, &o);
    if (st == SB_OK)
        st = measure(&t, kind);
    if (st == SB_OK)
        st = sb_trainer_dense_run(&t, &dense_run);
    FILE *f = st == SB_OK ? open_memstream(&text, &size) : NULL;
    if (st == SB_OK && f) {
        locale_t before = sb_numeric_begin();
        st = print_plan(f, &t, dense_run, kind);
        sb_numeric_end(before);
        fclose(f);
        *out = st == SB_OK ? sb_malloc(size + 1, 1) : NULL;
        if (*out)
            memcpy(*out, text, size + 1);
    }
    if (st == SB_OK && !*out)
        st = sb_fail(SB_ENOMEM, "no memory for the plan's text");
    free(text);
    sb_trainer_close(&t);
    return st;
}
