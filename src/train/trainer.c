/* trainer - see trainer.h. sb_trainer_run walks the stages; which ones make the paper's
 * Algorithm 1 says sequential() in stage.c. */
#include "train/trainer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/state.h"
#include "train/together.h"

double sb_trainer_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- opening ------------------------------------------------------------------------- */

uint32_t sb_trainer_networks(const struct sb_trainer *t)
{
    return t->method->form == SB_FORM_PLAIN ? t->config->method.members : 1;
}

static sb_status open_loader(struct sb_trainer *t)
{
    uint32_t first, batch = t->config->train.batch;
    struct sb_loader_options o = {
        .data = &t->source.train,
        .normal = &t->source.normal,
        .scale = t->source.train.targets ? &t->source.scale : NULL,
        .index = t->source.part.train,
        .n = t->source.part.train_count,
        .batch = batch,
        .augment = t->source.augment,
        .shuffle = true,
        .background = t->env->threads > 1,
        .seed = t->config->train.seed,
        .env = t->env,
    };
    if (t->net.spread && sb_feeder_plain(&t->feeder)) {
        o.shares = sb_net_share_of(&t->net, batch, &first);
        o.share = first;
    }
    return sb_loader_new(&t->loader, &o);
}

sb_status sb_trainer_open_data(struct sb_trainer *t, const struct sb_env *env,
                               const struct sb_recipe *recipe,
                               const struct sb_run_options *o)
{
    struct sb_facts facts;
    *t = (struct sb_trainer){
        .env = env, .recipe = *recipe, .method = recipe->method, .options = o};
    t->config = &t->recipe.config;
    t->began = t->saved = sb_trainer_clock();
    t->at.waited_for = NAN;
    sb_status st = sb_source_begin(&t->source, t->env, t->config, &facts);
    if (st == SB_OK)
        st = sb_trainer_fit(&t->recipe, t->env, &facts, &t->chosen);
    if (st == SB_OK)
        st = sb_recipe_canonical(&t->recipe, &t->canonical);
    if (st == SB_OK)
        st = sb_source_prepare(&t->source, t->env, t->config);
    return st == SB_OK ? sb_trainer_identify(t) : st;
}

sb_status sb_trainer_open(struct sb_trainer *t, const struct sb_env *env,
                          const struct sb_recipe *recipe, const struct sb_run_options *o)
{
    sb_status st = sb_trainer_open_data(t, env, recipe, o);
    if (st == SB_OK && t->source.train.targets && t->config->train.trajectory)
        st = sb_fail(SB_EARG, "train.trajectory records probabilities of classes, and "
                              "regression has none; leave it out");
    if (st == SB_OK)
        t->form = sb_trainer_form(t->config, t->method);
    if (st == SB_OK)
        st = sb_together_check(t);
    if (st == SB_OK)
        st = sb_schedule_init(&t->schedule, t->config, t->method,
                              t->source.part.train_count);
    if (st == SB_OK)
        st = sb_trainer_check_width(t);
    if (st == SB_OK)
        st = sb_trainer_only(t);
    if (st == SB_OK)
        st = sb_trainer_plan_fresh(t, t->schedule.stage[0].support);
    if (st == SB_OK)
        st = open_loader(t);
    if (st != SB_OK)
        return st;
    sb_trainer_warn(t);
    t->trained = sb_calloc(sb_trainer_networks(t), sizeof *t->trained);
    if (t->source.weight)
        t->row_weight = sb_calloc(t->config->train.batch, sizeof *t->row_weight);
    if (!t->trained || (t->source.weight && !t->row_weight))
        return sb_fail(SB_ENOMEM, "no memory for %u networks", sb_trainer_networks(t));
    return SB_OK;
}

void sb_trainer_close(struct sb_trainer *t)
{
    sb_loader_free(t->loader);
    sb_growth_fini(&t->growth);
    sb_feeder_fini(&t->feeder);
    for (uint32_t i = 0; t->trained && i < sb_trainer_networks(t); i++)
        sb_trained_fini(&t->trained[i]);
    sb_free(t->trained);
    sb_trained_fini(&t->best);
    sb_trained_fini(&t->kept);
    sb_trained_fini(&t->now);
    sb_net_fini(&t->net);
    sb_schedule_fini(&t->schedule);
    sb_source_fini(&t->source);
    json_decref(t->identity);
    sb_free(t->data);
    sb_free(t->score);
    sb_free(t->width);
    sb_free(t->far_number);
    sb_free(t->chosen);
    sb_free(t->row_weight);
    sb_free(t->canonical);
    sb_lock_release(&t->lock);
    *t = (struct sb_trainer){0};
}

/* ---- one epoch ----------------------------------------------------------------------- */

static bool moves(const struct sb_trainer *t)
{
    return t->method->support == SB_SUPPORT_PRUNE_GROW;
}

/* The rate of the update that this batch makes, negative: none. */
static double update_rate(const struct sb_trainer *t, uint64_t step)
{
    const struct sb_schedule *s = &t->schedule;
    bool large = t->at.epoch == 0 && t->at.batch == 0 &&
                 sb_trainer_stage(t)->begin == SB_STAGE_LARGE_UPDATE;
    if (!moves(t))
        return -1.0;
    if (large)
        return sb_rates_prune_large(s, step);
    return sb_rates_is_update(s, step) ? sb_rates_prune(s, step) : -1.0;
}

/* Whether this batch's dense gradients count for an update to come. */
static bool collects(const struct sb_trainer *t, uint64_t step)
{
    uint32_t k = t->config->method.grow_batches;
    for (uint64_t ahead = 1; moves(t) && ahead < k; ahead++)
        if (sb_rates_is_update(&t->schedule, step + ahead))
            return true;
    return false;
}

static struct sb_step_options step_options(const struct sb_trainer *t)
{
    const struct sb_config *c = t->config;
    const struct sb_schedule *s = &t->schedule;
    struct sb_place at = {sb_trainer_stage(t), (uint32_t)t->at.epoch, t->at.batch};
    uint64_t step = t->at.step + 1;
    double factor = sb_divergence_factor(t);
    return (struct sb_step_options){
        .seed = c->train.seed,
        .run = at.stage->run,
        .number = (uint32_t)step,
        .sgd = {(float)(factor * sb_rates_lr(s, &at)), (float)c->train.momentum,
                (float)c->train.weight_decay, c->train.nesterov},
        .lr_rho = (float)(factor * sb_rates_lr_rho(s, &at)),
        .lr_scale = (float)(factor * c->method.scale_rate * sb_rates_lr(s, &at)),
        .clip = (float)c->train.clip,
        .kl_factor = (float)(sb_rates_beta(s, &at) / t->source.part.train_count),
        .prior_sd = (float)sqrt(c->method.prior_variance),
        .rate = update_rate(t, step),
        .criterion = c->method.criterion,
        .step_on_update = c->method.step_on_update,
        .collect = collects(t, step),
        .batches = c->method.grow_batches,
    };
}

/* Of the stage so far, in percent of classes; NAN: there is none. */
static double best_accuracy(const struct sb_trainer *t)
{
    bool classes = t->net.arch.likelihood == SB_LIKELIHOOD_CATEGORICAL;
    return t->has_best && classes ? t->best.figures.of.value[SB_CLASSES_ACC] : NAN;
}

/* After every batch: report, save when it is time, stop when asked. */
static sb_status between_batches(struct sb_trainer *t, double loss)
{
    double every = t->config->train.checkpoint_seconds;
    struct sb_progress *p = t->options->progress;
    sb_progress_measure(p, loss, best_accuracy(t));
    uint64_t skipped = t->at.skipped * t->source.part.train_count;
    sb_status st = sb_progress_update(p, t->at.images + skipped);
    bool due = every > 0.0 && sb_trainer_clock() - t->saved >= every;
    st = sb_together_decide(t, st, &due);
    if (st == SB_OK && due)
        return sb_trainer_save(t);
    if (st != SB_ECANCELED)
        return st;
    st = sb_trainer_save(t);
    if (st == SB_OK) /* nobody leaves before it is written */
        st = sb_comm_barrier(t->env->comm, "the end");
    return st == SB_OK
               ? sb_fail(SB_ECANCELED, "stopped after step %llu of run %u",
                         (unsigned long long)t->at.step, sb_trainer_stage(t)->run + 1)
               : st;
}

/* The weights of a batch's rows, as far as they are here. */
static const float *weigh(struct sb_trainer *t, const struct sb_batch *b)
{
    for (uint32_t i = 0; t->row_weight && i < b->x->batch; i++)
        t->row_weight[i] = t->source.weight[b->index[i]];
    return t->row_weight;
}

/* One batch; *rows: what the network took for it, over all processes. */
static sb_status train_batch(struct sb_trainer *t, const struct sb_batch *b,
                             struct sb_step_options *o, uint32_t *rows, double *loss)
{
    uint32_t first, n;
    struct sb_truth truth = {.label = b->labels, .target = b->targets};
    const float *weight = weigh(t, b);
    struct sb_fed fed =
        sb_feeder_run(&t->feeder, t->env, o->seed, o->run, o->number, b->x, &truth);
    *rows = sb_form_rows(&t->form, b->count);
    n = sb_net_share_of(&t->net, *rows, &first);
    if (t->net.spread)
        fed = sb_feeder_share(&t->feeder, fed, first, n);
    fed.truth.weight = weight; /* where forms leave rows as they are */
    o->rows = *rows;
    return sb_train_step(t->env, &t->net, fed.rows, &fed.truth, o, &t->growth, loss);
}

static sb_status train_epoch(struct sb_trainer *t)
{
    struct sb_batch b;
    const struct sb_stage *g = sb_trainer_stage(t);
    sb_status st = sb_divergence_begin_epoch(t);
    if (st != SB_OK)
        return st;
    sb_loader_start(t->loader, g->run, g->first_epoch + (uint32_t)t->at.epoch,
                    (uint32_t)t->at.batch);
    while ((st = sb_loader_next(t->loader, &b)) == SB_OK && b.count > 0) {
        struct sb_step_options o = step_options(t);
        double loss;
        uint32_t rows;
        st = train_batch(t, &b, &o, &rows, &loss);
        if (st != SB_OK)
            return st;
        t->at.batch++;
        t->at.step++;
        t->at.images += b.count;
        t->at.flops += sb_trainer_flops(&t->net, rows);
        t->at.loss_sum += loss;
        if (o.rate >= 0.0)
            st = sb_trainer_log_update(t, o.rate);
        if (st == SB_OK)
            st = between_batches(t, loss);
        if (st != SB_OK)
            return st;
    }
    return st == SB_OK ? sb_divergence_look(t) : st;
}

/* Keeps the network if it is the best so far of those that may become the member. */
static sb_status choose(struct sb_trainer *t, const struct sb_figures *v)
{
    const struct sb_stage *g = sb_trainer_stage(t);
    if (g->leaves != SB_STAGE_MEMBER || t->at.epoch < g->choose_from)
        return SB_OK;
    bool last = t->at.epoch + 1 == g->epochs,
         validated = t->source.part.validation_count > 0;
    if (validated ? t->has_best &&
                        !sb_figures_beats(v, &t->best.figures.of, sb_trainer_chooser(t))
                  : !last)
        return SB_OK;
    sb_status st = sb_trained_save(&t->best, &t->net);
    if (st != SB_OK)
        return st;
    t->best.figures = (struct sb_trained_figures){*v, t->at.epoch + 1};
    t->has_best = true;
    return SB_OK;
}

/* Validates and records; keeps what the stage is to leave. */
static sb_status end_epoch(struct sb_trainer *t)
{
    const struct sb_stage *g = sb_trainer_stage(t);
    uint64_t done = t->at.epoch + 1;
    uint32_t save_every = t->config->train.checkpoint_epochs;
    struct sb_figures v;
    bool validated = false;
    sb_status st = SB_OK;
    if (done % t->config->train.validate_every == 0 || done == g->epochs) {
        st = sb_trainer_validate(t, &v);
        if (st == SB_OK)
            st = sb_trainer_log_validation(t, &v, t->at.loss_sum / (double)t->at.batch);
        if (st == SB_OK)
            st = choose(t, &v);
        validated = st == SB_OK;
    }
    if (st == SB_OK && g->leaves == SB_STAGE_KEPT && done == g->keep_epoch)
        st = sb_trainer_keep(t);
    if (st == SB_OK && t->config->train.trajectory)
        st = sb_trainer_log_trajectory(t);
    if (st != SB_OK)
        return st;
    if (validated)
        sb_patience_look(t, &v);
    t->at.epoch++;
    t->at.batch = 0;
    t->at.loss_sum = 0.0;
    return save_every && t->at.epoch % save_every == 0 ? sb_trainer_save(t) : SB_OK;
}

/* ---- stages -------------------------------------------------------------------------- */

bool sb_trainer_done(const struct sb_trainer *t)
{
    return t->at.stage >= t->schedule.stages;
}

const struct sb_stage *sb_trainer_stage(const struct sb_trainer *t)
{
    assert(!sb_trainer_done(t));
    return &t->schedule.stage[t->at.stage];
}

static sb_status begin_stage(struct sb_trainer *t, const struct sb_stage *g)
{
    bool first = t->at.epoch == 0 && t->at.batch == 0;
    sb_status st = first ? sb_trainer_enter(t, g) : SB_OK;
    if (st == SB_OK)
        sb_progress_begin(t->options->progress,
                          t->options->preliminary ? "width" : g->name,
                          t->at.images + t->at.skipped * t->source.part.train_count,
                          t->schedule.total_epochs * t->source.part.train_count);
    return st;
}

/* Figures of a network that stands for several members are those of their ensemble. */
static void tell_member(const struct sb_trainer *t, uint32_t m)
{
    const struct sb_figures *f = &t->best.figures.of;
    unsigned long long epoch = t->best.figures.epoch;
    char name[48] = "network";
    if (t->method->form == SB_FORM_PLAIN)
        snprintf(name, sizeof name, "member %u of %u", m + 1, t->config->method.members);
    if (t->source.part.validation_count == 0)
        sb_log_write(t->env->log, SB_LOG_INFO, "%s: epoch %llu, the last one", name,
                     epoch);
    else
        sb_log_write(
            t->env->log, SB_LOG_INFO, "%s: epoch %llu, validation %s %.4f, %s %.4f", name,
            epoch, f->list->kind[0].key, f->value[0], f->list->kind[1].key, f->value[1]);
}

/* The stage's best network becomes a member. */
static sb_status add_member(struct sb_trainer *t, uint32_t m)
{
    uint32_t place = t->at.task ? 0 : m;
    t->best.sample_seed = (uint64_t)t->config->train.seed << 16 | m;
    sb_status st = sb_trained_copy(&t->best, &t->trained[place]);
    if (st != SB_OK)
        return st;
    t->trained_count = place + 1;
    t->has_best = false;
    tell_member(t, m);
    return SB_OK;
}

/* Leaves what it is to leave. A checkpoint follows: what is finished is never trained
 * again. */
static sb_status end_stage(struct sb_trainer *t, const struct sb_stage *g)
{
    sb_status st = SB_OK;
    if (g->leaves == SB_STAGE_MEMBER)
        st = add_member(t, g->member);
    else if (g->leaves == SB_STAGE_KEPT)
        st = sb_trainer_mask_kept(t);
    if (st != SB_OK)
        return st;
    t->at.stage++;
    t->at.epoch = 0;
    if (sb_trainer_done(t) || sb_trainer_stage(t)->run != g->run) {
        sb_growth_fini(&t->growth); /* gradients of a network that is no more */
        t->at.halvings = 0;
    }
    return sb_trainer_save(t);
}

sb_status sb_trainer_run(struct sb_trainer *t)
{
    struct sb_progress *p = t->options->progress;
    bool plain = t->method->form == SB_FORM_PLAIN; /* others train all members at once */
    uint32_t members = plain ? t->config->method.members : 0;
    while (!sb_trainer_done(t)) {
        const struct sb_stage *g = sb_trainer_stage(t);
        sb_status st = begin_stage(t, g);
        while (st == SB_OK && t->at.epoch < g->epochs) {
            sb_progress_place(p, g->member, members, (uint32_t)t->at.epoch, g->epochs);
            st = train_epoch(t);
            if (st == SB_OK)
                st = end_epoch(t);
            if (st == SB_ENUMERIC)
                st = sb_divergence_met(t);
        }
        if (st == SB_OK)
            st = end_stage(t, g);
        if (st != SB_OK)
            return st;
    }
    sb_divergence_end(t);
    (void)sb_progress_end(p); /* nothing is left to stop */
    return SB_OK;
}

/* What follows the last stage, of members that were trained here or gathered. */
sb_status sb_trainer_conclude(struct sb_trainer *t, struct sb_run_result *out)
{
    sb_status st = sb_trainer_fit_width(t);
    if (st == SB_OK)
        st = sb_trainer_calibrate(t);
    if (st == SB_OK)
        st = sb_trainer_locate(t);
    if (st == SB_OK)
        st = sb_trainer_write_model(t);
    if (st == SB_OK)
        st = sb_trainer_test(t, out);
    if (st == SB_OK)
        st = sb_trainer_write_results(t, out);
    if (st == SB_OK) {
        out->target_width = t->width;
        t->width = NULL;
    }
    return st;
}

sb_status sb_trainer_train_open(struct sb_trainer *t, struct sb_run_result *out)
{
    sb_status st = sb_trainer_begin_files(t);
    if (st == SB_OK && t->chosen[0] && !t->options->resume)
        sb_log_write(t->env->log, SB_LOG_INFO, "chosen for %u rows: %s",
                     t->source.part.train_count + t->source.part.validation_count,
                     t->chosen);
    if (st == SB_OK)
        st = sb_trainer_find_width(t);
    if (st == SB_OK)
        st = sb_trainer_run(t);
    t->at.seconds += sb_trainer_clock() - t->began;
    sb_trainer_add_width_cost(t);
    return st == SB_OK ? sb_trainer_conclude(t, out) : st;
}

sb_status sb_trainer_train(const struct sb_env *env, const struct sb_recipe *recipe,
                           const struct sb_run_options *o, struct sb_run_result *out)
{
    struct sb_trainer t;
    *out = (struct sb_run_result){0};
    sb_status st = sb_trainer_open(&t, env, recipe, o);
    if (st == SB_OK)
        st = sb_trainer_train_open(&t, out);
    sb_trainer_close(&t);
    return st;
}

void sb_run_result_fini(struct sb_run_result *r)
{
    sb_free(r->member);
    sb_free(r->target_width);
    *r = (struct sb_run_result){0};
}
