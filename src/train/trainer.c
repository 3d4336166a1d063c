/* trainer - see trainer.h. sb_trainer_run is the paper's Algorithm 1. */
#include "train/trainer.h"

#include <math.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "train/state.h"

double sb_trainer_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- opening ------------------------------------------------------------------------- */

/* How many weights each layer gets. */
static sb_status allocate(const struct sb_trainer *t, const struct sb_arch *a,
                          uint32_t *active)
{
    const struct sb_config_method *m = &t->config->method;
    struct sb_weight_shape *shape = sb_malloc(a->weights, sizeof *shape);
    struct sb_allocation *plan = sb_malloc(a->weights, sizeof *plan);
    sb_status st = SB_OK;
    if (!shape || !plan) {
        st = sb_fail(SB_ENOMEM, "no memory to plan %u layers", a->weights);
        goto done;
    }
    sb_arch_shapes(a, shape);
    double density = t->method->support == SB_SUPPORT_DENSE ? 1.0 : 1.0 - m->sparsity;
    st = m->allocation == SB_CONFIG_ERK
             ? sb_topology_erk(shape, a->weights, density, plan)
             : sb_topology_uniform(shape, a->weights, density, plan);
    for (uint32_t i = 0; st == SB_OK && i < a->weights; i++)
        active[i] = plan[i].active;
done:
    sb_free(shape);
    sb_free(plan);
    return st;
}

static sb_status open_net(struct sb_trainer *t)
{
    const struct sb_dataset *d = &t->source.train;
    struct sb_net_options o = {
        .arch = t->config->model.arch,
        .channels = d->channels,
        .height = d->height,
        .width = d->width,
        .classes = d->classes,
        .max_batch = t->config->train.batch,
        .threads = t->env->threads,
        .gauss = t->method->posterior == SB_POSTERIOR_GAUSS,
    };
    struct sb_arch a;
    uint32_t *active = NULL;
    sb_status st = sb_arch_init(&a, o.arch, o.channels, o.height, o.width, o.classes);
    if (st != SB_OK)
        goto done;
    active = sb_calloc(a.weights, sizeof *active);
    if (!active) {
        st = sb_fail(SB_ENOMEM, "no memory to plan %u layers", a.weights);
        goto done;
    }
    st = allocate(t, &a, active);
    o.active = active;
    if (st == SB_OK)
        st = sb_net_init(&t->net, &o);
done:
    sb_arch_fini(&a);
    sb_free(active);
    return st;
}

static sb_status open_loader(struct sb_trainer *t)
{
    struct sb_loader_options o = {
        .data = &t->source.train,
        .normal = &t->source.normal,
        .index = t->source.part.train,
        .n = t->source.part.trains,
        .batch = t->config->train.batch,
        .augment = t->source.augment,
        .shuffle = true,
        .background = t->env->threads > 1,
        .seed = t->config->train.seed,
        .env = t->env,
    };
    return sb_loader_new(&t->loader, &o);
}

sb_status sb_trainer_open(struct sb_trainer *t, const struct sb_env *env,
                          const struct sb_config *c, const struct sb_method *m,
                          const struct sb_run_options *o)
{
    *t = (struct sb_trainer){.env = env, .config = c, .method = m, .options = o};
    t->began = t->saved = sb_trainer_clock();
    sb_status st = sb_source_open(&t->source, env, c);
    if (st == SB_OK)
        st = open_net(t);
    if (st == SB_OK)
        st = open_loader(t);
    if (st != SB_OK)
        return st;
    t->schedule = sb_schedule_make(c, m, t->source.part.trains);
    t->member = sb_calloc(c->method.members, sizeof *t->member);
    if (!t->member)
        return sb_fail(SB_ENOMEM, "no memory for %u members", c->method.members);
    return sb_member_init(&t->best, &t->net);
}

void sb_trainer_close(struct sb_trainer *t)
{
    sb_loader_free(t->loader);
    sb_growth_fini(&t->growth);
    for (uint32_t i = 0; t->member && i < t->config->method.members; i++)
        sb_member_fini(&t->member[i]);
    sb_free(t->member);
    sb_member_fini(&t->best);
    sb_net_fini(&t->net);
    sb_source_fini(&t->source);
    *t = (struct sb_trainer){0};
}

/* ---- one epoch ----------------------------------------------------------------------- */

static bool moves(const struct sb_trainer *t)
{
    return t->method->support == SB_SUPPORT_PRUNE_GROW;
}

/* The rate of the update that batch t->at.batch makes, negative: none. The first batch of
 * a phase that follows another exploitation phase makes the large one. */
static double update_rate(const struct sb_trainer *t, uint64_t step)
{
    const struct sb_schedule *s = &t->schedule;
    bool large = t->at.epoch == 0 && t->at.batch == 0 && t->at.phase > 0 &&
                 sb_schedule_large_after(s, (uint32_t)t->at.phase - 1);
    if (!moves(t))
        return -1.0;
    if (large)
        return sb_schedule_rate_large(s, step);
    return sb_schedule_is_update(s, step) ? sb_schedule_rate(s, step) : -1.0;
}

/* Whether this batch's dense gradients count for an update to come. */
static bool collects(const struct sb_trainer *t, uint64_t step)
{
    uint32_t k = t->config->method.grow_batches;
    for (uint64_t ahead = 1; moves(t) && ahead < k; ahead++)
        if (sb_schedule_is_update(&t->schedule, step + ahead))
            return true;
    return false;
}

static struct sb_step_options step_options(const struct sb_trainer *t)
{
    const struct sb_config *c = t->config;
    const struct sb_schedule *s = &t->schedule;
    uint32_t phase = (uint32_t)t->at.phase, epoch = (uint32_t)t->at.epoch;
    uint64_t step = t->at.step + 1;
    return (struct sb_step_options){
        .seed = c->train.seed,
        .run = (uint32_t)t->at.run,
        .number = (uint32_t)step,
        .sgd = {(float)sb_schedule_lr(s, phase, epoch, t->at.batch),
                (float)c->train.momentum, (float)c->train.weight_decay,
                c->train.nesterov},
        .lr_rho = (float)sb_schedule_lr_rho(s, phase, epoch, t->at.batch),
        .kl_factor = (float)(sb_schedule_beta(s, phase, epoch) / t->source.part.trains),
        .prior_sd = (float)sqrt(c->method.prior_variance),
        .rate = update_rate(t, step),
        .criterion = c->method.criterion,
        .step_on_update = c->method.step_on_update,
        .collect = collects(t, step),
        .batches = c->method.grow_batches,
    };
}

/* A step whose loss is not finite: says where and what to try. */
static sb_status explain_divergence(struct sb_trainer *t)
{
    const char *layer = sb_net_not_finite(&t->net);
    return sb_fail(
        SB_ENUMERIC,
        "training diverged at step %llu (run %llu, epoch %llu of its phase): %s%s; "
        "the last checkpoint is from before; try a smaller train.lr or "
        "train.lr_rho, or a longer method.kl_anneal_epochs",
        (unsigned long long)t->at.step + 1, (unsigned long long)t->at.run + 1,
        (unsigned long long)t->at.epoch + 1,
        layer ? "weights are not finite in layer " : "the loss is not finite",
        layer ? layer : "");
}

/* After every batch: report, save when it is time, stop when asked. */
static sb_status between_batches(struct sb_trainer *t, double loss)
{
    double every = t->config->train.checkpoint_seconds;
    struct sb_progress *p = t->options->progress;
    sb_progress_measure(p, loss, t->has_best ? t->best.figures.accuracy : NAN);
    if (t->growth.sum)
        return SB_OK; /* gradients are being collected: not a place to stop at */
    sb_status st = sb_progress_update(p, t->at.images);
    if (st == SB_OK && every > 0.0 && sb_trainer_clock() - t->saved >= every)
        return sb_trainer_save(t);
    if (st != SB_ECANCELED)
        return st;
    st = sb_trainer_save(t);
    return st == SB_OK ? sb_fail(SB_ECANCELED, "stopped after step %llu of run %llu",
                                 (unsigned long long)t->at.step,
                                 (unsigned long long)t->at.run + 1)
                       : st;
}

static sb_status train_epoch(struct sb_trainer *t)
{
    struct sb_batch b;
    uint32_t epoch = sb_schedule_first_epoch(&t->schedule, (uint32_t)t->at.phase) +
                     (uint32_t)t->at.epoch;
    sb_loader_start(t->loader, (uint32_t)t->at.run, epoch, (uint32_t)t->at.batch);
    sb_status st;
    while ((st = sb_loader_next(t->loader, &b)) == SB_OK && b.count > 0) {
        struct sb_step_options o = step_options(t);
        double loss;
        st = sb_train_step(t->env, &t->net, b.x, b.labels, &o, &t->growth, &loss);
        if (st == SB_ENUMERIC)
            return explain_divergence(t);
        if (st != SB_OK)
            return st;
        t->at.batch++;
        t->at.step++;
        t->at.images += b.count;
        t->at.loss_sum += loss;
        if (o.rate >= 0.0)
            st = sb_trainer_log_update(t, o.rate);
        if (st == SB_OK)
            st = between_batches(t, loss);
        if (st != SB_OK)
            return st;
    }
    return st;
}

/* Validates, and keeps the network if it is the phase's best so far. */
static sb_status end_epoch(struct sb_trainer *t)
{
    const struct sb_schedule *s = &t->schedule;
    uint32_t phase = (uint32_t)t->at.phase, every = t->config->train.validate_every;
    bool last = t->at.epoch + 1 == sb_schedule_epochs(s, phase);
    struct sb_scores v = {NAN, NAN, NAN, NAN};
    double loss = t->at.loss_sum / (double)t->at.batch;
    if ((t->at.epoch + 1) % every == 0 || last) {
        sb_status st = sb_trainer_validate(t, &v);
        if (st == SB_OK)
            st = sb_trainer_log_validation(t, &v, loss);
        if (st != SB_OK)
            return st;
        bool better = !t->has_best || !(v.accuracy <= t->best.figures.accuracy);
        if (phase > 0 && better) {
            st = sb_member_save(&t->best, &t->net);
            if (st != SB_OK)
                return st;
            t->best.figures =
                (struct sb_member_figures){v.accuracy, v.nll, v.ece, t->at.epoch + 1};
            t->has_best = true;
        }
    }
    if (t->config->train.trajectory) {
        sb_status st = sb_trainer_log_trajectory(t);
        if (st != SB_OK)
            return st;
    }
    t->at.epoch++;
    t->at.batch = 0;
    t->at.loss_sum = 0.0;
    uint32_t save_every = t->config->train.checkpoint_epochs;
    return save_every && t->at.epoch % save_every == 0 ? sb_trainer_save(t) : SB_OK;
}

/* The phase's best network becomes a member. A checkpoint follows: what is finished is never
 * trained again. */
static sb_status end_phase(struct sb_trainer *t)
{
    if (t->at.phase > 0) {
        uint32_t m =
            sb_schedule_member(&t->schedule, (uint32_t)t->at.run, (uint32_t)t->at.phase);
        t->best.sample_seed = (uint64_t)t->config->train.seed << 16 | m;
        sb_status st = sb_member_copy(&t->best, &t->member[m]);
        if (st != SB_OK)
            return st;
        t->members = m + 1;
        sb_log_write(t->env->log, SB_LOG_INFO,
                     "member %u of %u: epoch %llu, validation accuracy %.4f", m + 1,
                     t->config->method.members, (unsigned long long)t->best.figures.epoch,
                     t->best.figures.accuracy);
    }
    t->has_best = false;
    t->at.phase++;
    t->at.epoch = 0;
    return sb_trainer_save(t);
}

/* ---- Algorithm 1 --------------------------------------------------------------------- */

static sb_status begin_phase(struct sb_trainer *t)
{
    struct sb_progress *p = t->options->progress;
    const struct sb_schedule *s = &t->schedule;
    uint32_t phase = (uint32_t)t->at.phase;
    if (t->at.phase == 0 && t->at.step == 0 && t->at.batch == 0) {
        sb_status st = sb_net_start(&t->net, t->config->train.seed, (uint32_t)t->at.run,
                                    (float)t->config->method.rho_init);
        if (st != SB_OK)
            return st;
        sb_net_refresh(t->env, &t->net);
    }
    sb_progress_begin(p, phase == 0 ? "explore" : "exploit", t->at.images,
                      s->total_epochs * t->source.part.trains);
    return SB_OK;
}

/* Exploration, then exploitation phases, each of which leaves a member; between two of
 * them a large prune-grow carries the network elsewhere (it is the first batch of the next
 * phase, see update_rate). Parallel methods do this once a member. */
sb_status sb_trainer_run(struct sb_trainer *t)
{
    const struct sb_schedule *s = &t->schedule;
    struct sb_progress *p = t->options->progress;
    sb_status st = SB_OK;
    for (; t->at.run < s->runs; t->at.run++, t->at.phase = 0, t->at.step = 0) {
        while (t->at.phase < s->phases) {
            uint32_t phase = (uint32_t)t->at.phase;
            st = begin_phase(t);
            while (st == SB_OK && t->at.epoch < sb_schedule_epochs(s, phase)) {
                sb_progress_place(p, sb_schedule_member(s, (uint32_t)t->at.run, phase),
                                  t->config->method.members, (uint32_t)t->at.epoch,
                                  sb_schedule_epochs(s, phase));
                st = train_epoch(t);
                if (st == SB_OK)
                    st = end_epoch(t);
            }
            if (st == SB_OK)
                st = end_phase(t);
            if (st != SB_OK)
                return st;
        }
    }
    (void)sb_progress_end(p); /* nothing is left to stop */
    return SB_OK;
}

sb_status sb_run_train(const struct sb_env *env, const struct sb_config *c,
                       const struct sb_method *m, const struct sb_run_options *o,
                       struct sb_run_result *out)
{
    struct sb_trainer t;
    *out = (struct sb_run_result){0};
    sb_status st = sb_trainer_open(&t, env, c, m, o);
    if (st == SB_OK)
        st = sb_trainer_begin_files(&t);
    if (st == SB_OK)
        st = sb_trainer_run(&t);
    t.at.seconds += sb_trainer_clock() - t.began;
    if (st == SB_OK)
        st = sb_trainer_write_model(&t);
    if (st == SB_OK)
        st = sb_trainer_test(&t, out);
    if (st == SB_OK)
        st = sb_trainer_write_results(&t, out);
    sb_trainer_close(&t);
    return st;
}

void sb_run_result_fini(struct sb_run_result *r)
{
    sb_free(r->member);
    *r = (struct sb_run_result){0};
}
