/* step - whole training steps of a network: forward with noise, loss, backward, the
 * prior's gradient, optimiser and refresh; one random batch again and again.
 *
 * Rates count 2 floating-point operations a multiply-add of a weight that exists, for each
 * of mean and variance (a point network has the mean alone) and each of the three products
 * (the first layer's input gradient too, though nobody needs it). What a step moves through
 * memory is told by a model (nn/traffic.h), with the time that copying so much takes here.
 *
 * The step is timed as a whole; the best counts. Shares of it:
 *
 *     products       each layer's three products alone, on its own buffers (step_parts.c)
 *     noise          forward, minus a forward that neither draws nor mixes noise
 *     of rows        scales and masks, forward and backward, drawn and applied
 *     update         the prior's gradient, optimiser and refresh, timed inside the step
 *     element-wise   the rest: norms, activations, pooling, additions, loss
 *
 * The rest inherits the errors of the others. Steps and parts take turns, so that a slow
 * moment of a shared machine does not fall on one of them alone.
 */
#include "step.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/comm.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bench.h"
#include "dist/ranks.h"
#include "kernels/kernels.h"
#include "kernels/speed.h"
#include "nn/traffic.h"

enum { CLASSES = 10, TRAIN_IMAGES = 45000 };
static const float prior_sd = 0.2f, rho_init = -6.0f;
static const double least_seconds = 1.0; /* small networks are repeated for so long */

struct bench_step {
    const struct bench_options *o;
    const char *arch;
    double density;
    bool gauss;
    uint32_t group; /* of the estimator weights; 0: local */
    struct sb_net net;
    uint32_t rows;   /* of a step */
    uint32_t *label; /* [heads][rows] */
    uint32_t steps;  /* done so far; the noise of each is its own */
    double best[STEP_TIMES];
    double peak;   /* GFLOP/s */
    double memory; /* bytes a second */
    size_t peak_bytes;
    struct step_update update;
    size_t update_bytes;
};

static size_t resident_peak(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (size_t)u.ru_maxrss * 1024;
}

/* ---- building ------------------------------------------------------------------------ */

static sb_status build(struct bench_step *b, const struct sb_env *env)
{
    struct sb_form_spec form = bench_form(b->o);
    struct sb_arch_shape shape = bench_shape(b->o);
    struct sb_arch arch;
    uint32_t *active = NULL;
    b->rows = sb_form_rows(&form, b->o->batch);
    struct sb_net_options o = {
        .made = &arch,
        .lanes = env->kernels->lanes,
        .max_batch = b->rows,
        .shard = sb_shards_width(b->rows, b->o->shards, SB_PARTIALS),
        .comm = env->comm,
        .threads = env->threads,
        .gauss = b->gauss,
        .group = b->group,
    };
    sb_status st = sb_form_build(&form, &shape, SB_FORM_TRAINED, &arch);
    if (st == SB_OK && b->density < 1.0)
        st = bench_active(&arch, b->density, &active);
    o.active = active;
    if (st == SB_OK)
        st = sb_net_init(&b->net, &o);
    if (st == SB_OK)
        st = sb_net_start(&b->net, 1, 0, rho_init);
    if (st == SB_OK)
        sb_net_refresh(env, &b->net);
    sb_arch_fini(&arch);
    sb_free(active);
    return st;
}

/* Uniform images with variance 1 and random labels. */
static sb_status fill(struct bench_step *b)
{
    struct sb_act *x = &b->net.input;
    struct sb_stream s = sb_rng_stream(1, SB_RNG_TEST, 0, 0, 0);
    struct sb_stream l = sb_rng_stream(1, SB_RNG_TEST, 0, 0, 1);
    for (size_t i = 0; i < sb_act_size(x); i++)
        x->data[i] = 3.46f * (sb_rng_uniform(&s, i) - 0.5f);
    uint32_t labels = x->batch * b->net.arch.heads;
    b->label = sb_malloc(labels, sizeof *b->label);
    if (!b->label)
        return sb_fail(SB_ENOMEM, "no memory for %u labels", labels);
    for (uint32_t i = 0; i < labels; i++)
        b->label[i] = (uint32_t)(sb_rng_uniform(&l, i) * CLASSES) % CLASSES;
    return SB_OK;
}

/* ---- running ------------------------------------------------------------------------- */

static sb_status forward(struct bench_step *b, const struct sb_env *env)
{
    struct sb_pass pass = {.training = true,
                           .sample = b->gauss || b->net.arch.scales > 0,
                           .seed = 1,
                           .step = b->steps++};
    return sb_net_forward(env, &b->net, &pass);
}

static sb_status one_step(struct bench_step *b, const struct sb_env *env)
{
    const struct sb_sgd sgd = {.rate = 0.01f, .momentum = 0.9f, .decay = 5e-4f};
    double loss, at[STEP_WHOLE + 1];
    sb_status st = sb_comm_barrier(env->comm, "a step");
    at[0] = bench_now();
    if (st == SB_OK)
        st = forward(b, env);
    at[1] = bench_now();
    if (st == SB_OK)
        st = sb_net_loss(env, &b->net, &(struct sb_truth){.label = b->label}, &loss);
    at[2] = bench_now();
    if (st == SB_OK)
        st = sb_net_backward(env, &b->net, NULL, NULL);
    if (st != SB_OK)
        return st;
    at[3] = bench_now();
    sb_net_add_kl(env, &b->net, 1.0f / TRAIN_IMAGES, prior_sd);
    at[4] = bench_now();
    sb_net_step(env, &b->net, &(struct sb_step_rates){sgd, 0.001f, 0.0f, 0.0f});
    at[5] = bench_now();
    for (int i = 0; i <= STEP_WHOLE; i++) {
        double t = i == STEP_WHOLE ? at[STEP_WHOLE] - at[0] : at[i + 1] - at[i];
        b->best[i] = t < b->best[i] ? t : b->best[i];
    }
    return SB_OK;
}

static sb_status run(struct bench_step *b, const struct sb_env *env)
{
    sb_status st = one_step(b, env); /* touches the memory; not counted */
    for (int i = 0; i < STEP_TIMES; i++)
        b->best[i] = 1e30;
    double start = bench_now();
    for (int r = 0; st == SB_OK &&
                    (r < b->o->repeat ||
                     (!env->comm && bench_now() - start < least_seconds)); /* all alike */
         r++) {
        st = one_step(b, env);
        if (st == SB_OK && !b->o->plain)
            st = step_parts(env, &b->net, b->best);
    }
    b->peak_bytes = resident_peak();
    const char *bad = st == SB_OK ? sb_net_not_finite(&b->net) : NULL;
    return bad ? sb_fail(SB_ENUMERIC, "layer %s is no longer finite", bad) : st;
}

static sb_status run_update(struct bench_step *b, const struct sb_env *env)
{
    double loss;
    sb_status st = forward(b, env);
    if (st == SB_OK)
        st = sb_net_loss(env, &b->net, &(struct sb_truth){.label = b->label}, &loss);
    if (st == SB_OK)
        st = step_update(env, &b->net, &b->update);
    b->update_bytes = resident_peak();
    return st;
}

/* ---- printing ------------------------------------------------------------------------ */

static const char *form_name(const struct bench_step *b)
{
    return b->group ? "gauss weights" : b->o->form ? b->o->form : "gauss";
}

struct shares {
    double forward, input, weight; /* products */
    double products, element_wise, noise, rows, update;
};

static struct shares shares_of(const struct bench_step *b)
{
    const double *t = b->best, whole = t[STEP_WHOLE];
    struct shares s = {
        .forward = t[STEP_PRODUCT_FORWARD] / whole,
        .input = t[STEP_PRODUCT_INPUT] / whole,
        .weight = t[STEP_PRODUCT_WEIGHT] / whole,
        .update = (t[STEP_KL] + t[STEP_OPTIMISER]) / whole,
    };
    s.products = s.forward + s.input + s.weight;
    if (b->gauss && t[STEP_FORWARD] > t[STEP_SILENT])
        s.noise = (t[STEP_FORWARD] - t[STEP_SILENT]) / whole;
    s.rows = t[STEP_ROWS] / whole;
    s.element_wise = 1.0 - s.products - s.noise - s.rows - s.update;
    s.element_wise = s.element_wise > 0.0 ? s.element_wise : 0.0;
    return s;
}

static double gflops(const struct bench_step *b)
{
    return sb_net_step_flops(&b->net, b->rows) / b->best[STEP_WHOLE] / 1e9;
}

/* What arithmetic alone, and memory alone, would take. */
struct limits {
    double bytes, memory_ms, arithmetic_ms;
};

static struct limits limits_of(const struct bench_step *b)
{
    struct sb_traffic t = sb_net_traffic(&b->net, b->rows);
    double bytes = sb_traffic_bytes(&t), flops = sb_net_step_flops(&b->net, b->rows);
    return (struct limits){bytes, 1e3 * bytes / b->memory, 1e-6 * flops / b->peak};
}

static void print_json(const struct bench_step *b, const struct sb_env *env)
{
    const double *t = b->best;
    double rate = gflops(b);
    printf("{\"arch\": \"%s\", \"form\": \"%s\", \"density\": %g, \"batch\": %u, "
           "\"threads\": %d, \"isa\": \"%s\", \"ms_per_image\": %.4f, \"gflops\": %.2f, "
           "\"peak_gflops\": %.2f, \"peak_share\": %.4f, \"peak_bytes\": %zu, "
           "\"net_bytes\": %zu, \"ms\": {\"forward\": %.3f, \"loss\": %.3f, "
           "\"backward\": %.3f, \"kl\": %.3f, \"optimiser\": %.3f, \"step\": %.3f}",
           b->arch, form_name(b), b->density, b->o->batch, env->threads,
           env->kernels->name, 1e3 * t[STEP_WHOLE] / b->o->batch, rate, b->peak,
           rate / b->peak, b->peak_bytes, sb_net_bytes(&b->net), 1e3 * t[STEP_FORWARD],
           1e3 * t[STEP_LOSS], 1e3 * t[STEP_BACKWARD], 1e3 * t[STEP_KL],
           1e3 * t[STEP_OPTIMISER], 1e3 * t[STEP_WHOLE]);
    struct limits l = limits_of(b);
    printf(", \"moved_bytes\": %.0f, \"memory_gbs\": %.2f, \"memory_ms\": %.3f, "
           "\"arithmetic_ms\": %.3f",
           l.bytes, 1e-9 * b->memory, l.memory_ms, l.arithmetic_ms);
    if (!b->o->plain) {
        struct shares s = shares_of(b);
        printf(", \"shares\": {\"products\": %.4f, \"element_wise\": %.4f, \"noise\": "
               "%.4f, \"scales_and_masks\": %.4f, \"update\": %.4f, \"forward\": %.4f, "
               "\"input_gradient\": %.4f, "
               "\"weight_gradient\": %.4f}",
               s.products, s.element_wise, s.noise, s.rows, s.update, s.forward, s.input,
               s.weight);
    }
    if (b->o->update)
        printf(", \"update_ms\": {\"dense_gradients\": %.3f, \"prune_grow\": %.3f}, "
               "\"update_peak_bytes\": %zu",
               1e3 * b->update.gradients, 1e3 * b->update.moves, b->update_bytes);
    puts("}");
}

static void print_shares(const struct bench_step *b)
{
    struct shares s = shares_of(b);
    printf(
        "  products      %5.1f %%   forward %.1f, input gradient %.1f, weight gradient "
        "%.1f: each layer's\n"
        "                          products alone, on its own buffers\n"
        "  element-wise  %5.1f %%   the rest of the step\n"
        "  noise         %5.1f %%   forward, minus one that neither draws nor mixes it\n"
        "  update        %5.1f %%   prior's gradient, optimiser, refresh; timed inside "
        "the step\n",
        100 * s.products, 100 * s.forward, 100 * s.input, 100 * s.weight,
        100 * s.element_wise, 100 * s.noise, 100 * s.update);
    if (b->net.arch.scales + b->net.arch.masks > 0)
        printf("  of rows       %5.1f %%   scales and masks, forward and backward, drawn "
               "and applied\n",
               100 * s.rows);
}

static void print_text(const struct bench_step *b, const struct sb_env *env)
{
    const double *t = b->best, mb = 1e-6;
    double rate = gflops(b);
    printf(
        "%s, %s, density %g (%llu of %llu weights), batch %u, %d threads, kernels %s\n",
        b->arch, form_name(b), b->density, (unsigned long long)sb_net_active(&b->net),
        (unsigned long long)sb_net_weights(&b->net), b->o->batch, env->threads,
        env->kernels->name);
    printf("  %.3f ms an image, %.2f ms a step: forward %.2f, loss %.2f, backward %.2f, "
           "prior %.2f,\n  optimiser %.2f (best of each)\n",
           1e3 * t[STEP_WHOLE] / b->o->batch, 1e3 * t[STEP_WHOLE], 1e3 * t[STEP_FORWARD],
           1e3 * t[STEP_LOSS], 1e3 * t[STEP_BACKWARD], 1e3 * t[STEP_KL],
           1e3 * t[STEP_OPTIMISER]);
    printf(
        "  %.1f GFLOP/s on existing weights, %.1f %% of the multiply-add peak (%.1f)\n",
        rate, 100 * rate / b->peak, b->peak);
    struct limits l = limits_of(b);
    printf(
        "  moves %.1f MB: %.2f ms at %.1f GB/s; arithmetic alone: %.2f ms at its peak\n",
        mb * l.bytes, l.memory_ms, 1e-9 * b->memory, l.arithmetic_ms);
    printf("  peak memory %.1f MB, of which the network %.1f\n",
           mb * (double)b->peak_bytes, mb * (double)sb_net_bytes(&b->net));
    if (!b->o->plain)
        print_shares(b);
    if (b->o->update)
        printf("  one prune-grow update: dense gradients %.2f ms, prune, grow and new "
               "order %.2f ms;\n  peak memory %.1f MB\n",
               1e3 * b->update.gradients, 1e3 * b->update.moves,
               mb * (double)b->update_bytes);
}

static int measure(const struct sb_env *env, const struct bench_options *o)
{
    struct bench_step b = {
        .o = o,
        .arch = o->arch ? o->arch : "wrn-28-10",
        .density = o->density > 0.0 ? o->density : 0.1,
        .gauss = bench_gauss(o),
        .group = o->estimator && strcmp(o->estimator, "weights") == 0 ? 16 : 0,
    };
    b.peak = 1e-9 * sb_speed_arithmetic(env);
    sb_status st = sb_speed_memory(env, &b.memory);
    if (st == SB_OK)
        st = build(&b, env);
    if (st == SB_OK)
        st = fill(&b);
    if (st == SB_OK)
        st = run(&b, env);
    if (st == SB_OK && o->update)
        st = run_update(&b, env);
    if (st == SB_OK) { /* a peak taken while the machine was busy would flatter */
        double again = 1e-9 * sb_speed_arithmetic(env);
        b.peak = again > b.peak ? again : b.peak;
        if (sb_comm_rank(env->comm) == 0)
            (o->json ? print_json : print_text)(&b, env);
    } else
        fprintf(stderr, "bench: %s\n", sb_message());
    sb_free(b.label);
    sb_net_fini(&b.net);
    return st == SB_OK ? 0 : 1;
}

/* Of a job the ranks share each batch; then only whole steps are timed. */
int bench_step(const struct sb_env *env, const struct bench_options *o)
{
    struct sb_env together = *env;
    struct bench_options plain = *o;
    struct sb_ranks *ranks;
    if (!o->mpi)
        return measure(env, o);
    if (sb_ranks_join(o->mpi, 60.0, &ranks) != SB_OK) {
        fprintf(stderr, "bench: %s\n", sb_message());
        return 1;
    }
    together.comm = sb_ranks_comm(ranks);
    plain.plain = 1;
    int code = measure(&together, &plain);
    if (code != 0)
        sb_comm_abort(together.comm);
    sb_ranks_leave(ranks);
    return code;
}
