/* forecast - how long a step would take if several processes shared it.
 *
 * A forecast, not a measurement of a cluster. Measured are steps of a rank's share of the batch
 * on this machine, so that what does not shrink with it is in the figure: the optimiser,
 * weights in kernel order, lanes that stay empty. Counted are the bytes that a rank sends
 * and receives each step, R ranks:
 *
 *     gradients   to the owners of slices, then the sums from them: 2 (R-1)/R of all bytes
 *     norms       an all-gather of sums in forward and one in backward for each batch norm:
 *                 [2][channels] doubles a rank
 *     updates     dense gradients, as gradients, every delta_t-th step
 *
 * and messages: a gather takes log2 R times the network's latency, and so does what is sent
 * to owners. Nothing is thought to overlap, so where exchanges hide behind the computation
 * of other layers the truth is better.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numeric.h"
#include "train/measure.h"

/* Of a network, a step. */
struct traffic {
    double gradients, dense; /* bytes */
    double norm_sums;        /* bytes a rank gives, over all norms */
    uint32_t layers, norms;
};

struct row {
    uint32_t ranks, share;                     /* images of a rank, at most */
    double compute, gradients, norms, updates; /* seconds a step */
    double busy;
};

static struct traffic count_traffic(const struct sb_net *n)
{
    struct traffic out = {.layers = n->arch.weights};
    for (uint32_t i = 0; i < n->params.n; i++) {
        const struct sb_param *p = &n->params.param[i];
        out.gradients += p->rate != SB_RATE_NONE ? 4.0 * p->count : 0.0;
        out.dense += p->role == SB_PARAM_MU ? 4.0 * sb_param_all(p) : 0.0;
        if (p->role == SB_PARAM_GAMMA) {
            out.norms++;
            out.norm_sums += 2.0 * 8.0 * p->count;
        }
    }
    return out;
}

/* ---- measuring ------------------------------------------------------------------------ */

/* A step of so many images; *traffic and *steps of the recipe's. */
static sb_status measure_share(const struct sb_env *env, const struct sb_recipe *recipe,
                               const struct sb_run_options *o, struct row *r,
                               uint64_t *done, struct traffic *traffic)
{
    struct sb_recipe part = *recipe;
    struct sb_trainer t;
    struct sb_measured time = {0};
    part.config.train.batch = r->share;
    sb_status st = sb_trainer_open(&t, env, &part, o);
    if (st == SB_OK)
        st = sb_measure_network(&t, t.schedule.stage[t.schedule.stages - 1].support);
    if (st == SB_OK)
        st = sb_measure_steps(&t, done, &time);
    r->compute = time.image * r->share;
    r->busy = time.busy;
    if (st == SB_OK)
        *traffic = count_traffic(&t.net);
    sb_trainer_close(&t);
    return st;
}

static void add_exchanges(struct row *r, const struct traffic *t,
                          const struct sb_network *n, double delta_t)
{
    double ranks = r->ranks, others = (ranks - 1.0) / ranks, rate = n->bits / 8.0;
    double gather = ceil(log2(ranks)) * n->latency;
    r->gradients = 2.0 * others * t->gradients / rate + 2.0 * t->layers * gather;
    r->norms = 2.0 * (t->norms * gather + (ranks - 1.0) * t->norm_sums / rate);
    if (delta_t > 0.0)
        r->updates =
            (2.0 * others * t->dense / rate + 2.0 * t->layers * gather) / delta_t;
}

static sb_status measure(const struct sb_env *env, const struct sb_recipe *recipe,
                         struct sb_progress *progress, struct row *row, size_t rows,
                         const struct sb_network *network, struct traffic *traffic)
{
    const struct sb_run_options o = {.progress = progress};
    bool moves = recipe->method->support == SB_SUPPORT_PRUNE_GROW;
    double delta_t = moves ? recipe->config.method.delta_t : 0.0;
    uint64_t done = 0;
    sb_status st = SB_OK;
    uint64_t images = 0;
    for (size_t i = 0; i < rows; i++)
        images += SB_MEASURE_STEPS * (uint64_t)row[i].share;
    sb_progress_begin(progress, "measure", 0, images);
    for (size_t i = 0; st == SB_OK && i < rows; i++) {
        st = measure_share(env, recipe, &o, &row[i], &done, traffic);
        if (st == SB_OK && row[i].ranks > 1)
            add_exchanges(&row[i], traffic, network, delta_t);
    }
    return st == SB_OK ? sb_progress_end(progress) : st;
}

/* ---- for people ----------------------------------------------------------------------- */

static double step_of(const struct row *r)
{
    return r->compute + r->gradients + r->norms + r->updates;
}

/* What costs most of the time that more ranks should have saved; "" where that is little. */
static void print_weak_point(FILE *f, const struct row *r, double one, uint32_t lanes)
{
    double ideal = one / r->ranks, rest = r->compute - ideal;
    if (ideal / step_of(r) > 0.75)
        return;
    fprintf(f, "%u ranks, %.0f %% of the ideal: ", r->ranks, 100.0 * ideal / step_of(r));
    if (rest >= r->gradients && rest >= r->norms)
        fprintf(f, "a rank's %u images take %.1f ms, not %.1f; %s\n", r->share,
                1e3 * r->compute, 1e3 * ideal,
                r->share < lanes
                    ? "they do not fill the lanes of one block: use fewer ranks or a "
                      "larger batch"
                    : "what every rank does for itself (optimiser, weights) does not "
                      "shrink: use a larger batch, or threads instead of ranks");
    else if (r->gradients >= r->norms)
        fprintf(f,
                "gradients take %.1f ms on this network; use a faster one or a larger "
                "batch\n",
                1e3 * r->gradients);
    else
        fprintf(f,
                "batch norms wait %.1f ms for the network's latency; use one with less, "
                "or a larger batch\n",
                1e3 * r->norms);
}

static void print_rows(FILE *f, const struct row *row, size_t rows, double steps)
{
    double one = step_of(&row[0]);
    fprintf(f, "%6s %7s %11s %11s %9s %9s %9s %8s  %s\n", "ranks", "images", "compute/ms",
            "gradients", "norms", "updates", "step/ms", "speed-up", "run");
    for (size_t i = 0; i < rows; i++) {
        const struct row *r = &row[i];
        fprintf(f, "%6u %7u %11.1f %11.2f %9.2f %9.2f %9.1f %8.2f  ", r->ranks, r->share,
                1e3 * r->compute, 1e3 * r->gradients, 1e3 * r->norms, 1e3 * r->updates,
                1e3 * step_of(r), one / step_of(r));
        sb_measure_print_time(f, steps * step_of(r));
    }
}

struct forecast {
    const struct row *row; /* [rows] the first is one rank */
    size_t rows;
    const struct traffic *traffic;
    const struct sb_network *network;
    double steps;
};

static void print_forecast(FILE *f, const struct sb_env *env,
                           const struct sb_recipe *recipe, const struct forecast *p)
{
    const struct sb_config *c = &recipe->config;
    const struct traffic *t = p->traffic;
    double busy = 0.0;
    fprintf(f,
            "forecast for method %s, architecture %s, batch %u, %d threads a rank, %s "
            "kernels, %.3g Gb/s, latency %.0f us\n",
            recipe->method->name, c->model.arch, c->train.batch, env->threads,
            env->kernels->name, 1e-9 * p->network->bits, 1e6 * p->network->latency);
    fprintf(f,
            "exchanged each step: gradients of %u layers, %.2f MB; sums of %u batch "
            "norms, %.1f kB a rank\n\n",
            t->layers, 1e-6 * t->gradients, t->norms, 2e-3 * t->norm_sums);
    print_rows(f, p->row, p->rows, p->steps);
    fputc('\n', f);
    for (size_t i = 1; i < p->rows; i++)
        print_weak_point(f, &p->row[i], step_of(&p->row[0]), env->kernels->lanes);
    for (size_t i = 0; i < p->rows; i++)
        busy = fmax(busy, p->row[i].busy);
    sb_measure_print_busy(f, busy);
    fputs("computed from steps measured here and bytes; no exchange overlaps, validation "
          "is "
          "not counted\n",
          f);
}

/* ---- all of it ------------------------------------------------------------------------ */

static sb_status list_rows(const struct sb_config *c, const uint32_t *ranks, size_t count,
                           struct row *row)
{
    row[0] = (struct row){.ranks = 1, .share = c->train.batch};
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] < 1 || ranks[i] > c->train.batch)
            return sb_fail(SB_EARG, "%u ranks cannot share a batch of %u images",
                           ranks[i], c->train.batch);
        row[i + 1] = (struct row){.ranks = ranks[i],
                                  .share = (c->train.batch + ranks[i] - 1) / ranks[i]};
    }
    return SB_OK;
}

static sb_status count_steps(const struct sb_env *env, const struct sb_recipe *recipe,
                             double *out)
{
    const struct sb_run_options o = {0};
    struct sb_trainer t;
    sb_status st = sb_trainer_open(&t, env, recipe, &o);
    struct sb_schedule first = {0};
    uint32_t rows;
    if (st == SB_OK)
        st = sb_trainer_width_schedule(&t, &first, &rows);
    *out = st == SB_OK ? (double)(t.schedule.total_steps + first.total_steps) : 0.0;
    sb_schedule_fini(&first);
    sb_trainer_close(&t);
    return st;
}

static sb_status write_text(const struct sb_env *env, const struct sb_recipe *recipe,
                            const struct forecast *p, char **out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f) {
        locale_t before = sb_numeric_begin();
        print_forecast(f, env, recipe, p);
        sb_numeric_end(before);
        fclose(f);
        *out = sb_malloc(size + 1, 1);
        if (*out)
            memcpy(*out, text, size + 1);
    }
    free(text);
    return *out ? SB_OK : sb_fail(SB_ENOMEM, "no memory for the forecast's text");
}

sb_status sb_run_forecast(const struct sb_env *env, const struct sb_recipe *recipe,
                          struct sb_progress *progress, const uint32_t *ranks,
                          size_t count, const struct sb_network *network, char **out)
{
    struct sb_recipe fitted = *recipe;
    struct traffic traffic = {0};
    struct sb_env alone = *env; /* a rank's share is one process' here */
    struct forecast p = {.rows = count + 1, .traffic = &traffic, .network = network};
    *out = NULL;
    if (!(network->bits > 0.0) || !isfinite(network->bits) || !(network->latency >= 0.0))
        return sb_fail(SB_EARG,
                       "a network has a rate above 0 and a latency of at least 0");
    alone.comm = NULL;
    sb_status st = sb_run_fit(&alone, &fitted);
    struct row *row = sb_calloc(p.rows, sizeof *row);
    if (st == SB_OK)
        st = row ? list_rows(&fitted.config, ranks, count, row)
                 : sb_fail(SB_ENOMEM, "no memory for a forecast of %zu rows", count);
    if (st == SB_OK)
        st = count_steps(&alone, &fitted, &p.steps);
    if (st == SB_OK)
        st = measure(&alone, &fitted, progress, row, p.rows, network, &traffic);
    p.row = row;
    if (st == SB_OK)
        st = write_text(env, &fitted, &p, out);
    sb_free(row);
    return st;
}
