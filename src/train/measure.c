/* measure - see measure.h. */
#include "train/measure.h"

#include <math.h>
#include <stdlib.h>

#include "nn/traffic.h"

/* FLOP of a step: some seconds of two cores; and a block of images. */
static const double STEP_LIMIT = 5e11;
enum { BLOCK = 16 };

/* Nanoseconds that this thread ran, and that it was ready to run while others did. */
static bool read_schedstat(double *ran, double *waited)
{
    char line[128], *end = line;
    FILE *f = fopen("/proc/thread-self/schedstat", "re");
    bool there = f && fgets(line, sizeof line, f);
    if (f)
        fclose(f);
    *ran = there ? (double)strtoull(line, &end, 10) : 0.0;
    *waited = there ? (double)strtoull(end, NULL, 10) : 0.0;
    return there;
}

sb_status sb_measure_network(struct sb_trainer *t, enum sb_stage_support support)
{
    bool pruned = support == SB_STAGE_PRUNED;
    const struct sb_stage fresh = {.begin = SB_STAGE_FRESH,
                                   .support = pruned ? SB_STAGE_DENSE : support};
    sb_status st = sb_trainer_enter(t, &fresh);
    return st == SB_OK && pruned ? sb_trainer_prune(t) : st;
}

uint32_t sb_measure_examples(double flops, uint32_t batch)
{
    double few = floor(STEP_LIMIT / flops * batch / BLOCK) * BLOCK;
    if (!(flops > STEP_LIMIT) || batch <= BLOCK)
        return batch;
    return few < BLOCK ? BLOCK : (uint32_t)few;
}

uint32_t sb_measure_batch(const struct sb_trainer *t)
{
    uint32_t batch = t->config->train.batch;
    return sb_measure_examples(sb_net_step_flops(&t->net, sb_form_rows(&t->form, batch)),
                               batch);
}

/* One step on some of the loader's next batch; *images is 0 when there is none. */
static sb_status take_step(struct sb_trainer *t, uint32_t number, double *images)
{
    struct sb_batch b;
    double loss;
    sb_status st = sb_loader_next(t->loader, &b);
    *images = 0.0;
    if (st != SB_OK || b.count == 0)
        return st;
    uint32_t most = sb_measure_batch(t);
    struct sb_act x = *b.x; /* a view */
    sb_act_set_batch(&x, x.batch < most ? x.batch : most);
    *images = x.batch;
    struct sb_step_options o = {.run = 0,
                                .number = number,
                                .sgd = {0.01f, 0.9f, 0.0f, 0},
                                .lr_rho = 0.01f,
                                .prior_sd = 1.0f,
                                .rate = -1.0,
                                .batches = 1};
    struct sb_truth truth = {.label = b.labels, .target = b.targets};
    struct sb_fed fed =
        sb_feeder_run(&t->feeder, t->env, o.seed, o.run, o.number, &x, &truth);
    return sb_train_step(t->env, &t->net, fed.rows, &fed.truth, &o, &t->growth, &loss);
}

sb_status sb_measure_steps(struct sb_trainer *t, uint64_t *done, struct sb_measured *out)
{
    double ran[2], waited[2];
    sb_status st = SB_OK;
    *out = (struct sb_measured){.image = NAN};
    sb_loader_start(t->loader, 0, 0, 0);
    bool told = read_schedstat(&ran[0], &waited[0]);
    for (uint32_t i = 0; i < SB_MEASURE_STEPS && st == SB_OK; i++) {
        double images = 0.0, start = sb_trainer_clock();
        st = take_step(t, i + 1, &images);
        if (i > 0 && images > 0.0) /* fmin ignores a NAN */
            out->image = fmin(out->image, (sb_trainer_clock() - start) / images);
        *done += (uint64_t)images;
        if (st == SB_OK)
            st = sb_progress_update(t->options->progress, *done);
    }
    if (told && read_schedstat(&ran[1], &waited[1]) && ran[1] > ran[0])
        out->busy = (waited[1] - waited[0]) / (ran[1] - ran[0] + waited[1] - waited[0]);
    return st;
}

void sb_measure_print_time(FILE *f, double seconds)
{
    if (!isfinite(seconds))
        fprintf(f, "unknown\n");
    else if (seconds < 120.0)
        fprintf(f, "%.0f s\n", seconds);
    else if (seconds < 7200.0)
        fprintf(f, "%.0f min\n", seconds / 60.0);
    else if (seconds < 48.0 * 3600.0)
        fprintf(f, "%.1f h\n", seconds / 3600.0);
    else
        fprintf(f, "%.1f days\n", seconds / 86400.0);
}

void sb_measure_print_busy(FILE *f, double busy)
{
    if (busy > 0.05)
        fprintf(
            f,
            "the machine was busy: a thread waited %.0f %% of the measured time for a "
            "processor that others had; on a quiet one it will be less\n",
            100.0 * busy);
}
