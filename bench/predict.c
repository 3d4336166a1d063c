/* predict - what a trained ensemble costs those who use it, through the public API: the
 * time to open its file, to make a first predictor and another one, images a second, and
 * the time that one image takes alone. Weights are random, which changes none of it.
 *
 * Latency is of a predictor that is planned for single images; the median counts, and the
 * 99th percentile is told. Throughput is the best of the repetitions. A form is measured
 * beside one plain network of the same architecture.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bench.h"
#include "model/model.h"
#include "nn/net.h"
#include "sebays.h"

enum { CLASSES = 10, LATENCIES = 1000 };
static const double least_seconds = 1.0; /* throughput and latency are each measured */

struct figures {
    double open, first, next; /* seconds */
    double rate;              /* images a second */
    double median, late;      /* seconds an image */
    double file_bytes;
    /* Of a form, over those of one plain network in the same run: time a batch and an
     * image, multiply-adds, and file. 0: not measured */
    double plain_time, plain_latency, plain_work, plain_file;
    size_t loaded_bytes, predictor_bytes; /* shared by all predictors; of each */
};

/* ---- a model file -------------------------------------------------------------------- */

static sb_status add_networks(struct sb_model *m, struct sb_net *net, uint32_t networks)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < networks && st == SB_OK; i++) {
        struct sb_trained member = {0};
        st = sb_net_start(net, 1, i, -6.0f);
        if (st == SB_OK)
            st = sb_trained_init(&member, net);
        if (st == SB_OK)
            st = sb_trained_save(&member, net);
        if (st == SB_OK)
            st = sb_model_add(m, &member);
        sb_trained_fini(&member);
    }
    return st;
}

static struct sb_model_info info_of(const struct bench_options *o,
                                    const struct sb_arch_shape *shape)
{
    static const float mean[] = {0.5f, 0.5f, 0.5f}, sd[] = {0.25f, 0.25f, 0.25f};
    return (struct sb_model_info){
        .arch = shape->name,
        .method = "sebays",
        .recipe = "",
        .channels = shape->channels,
        .height = shape->height,
        .width = shape->width,
        .classes = shape->classes,
        .mean = mean,
        .sd = sd,
        .gauss = bench_gauss(o),
        .form = bench_form(o),
    };
}

static sb_status write_model(const struct bench_options *o, double density,
                             const char *path)
{
    struct sb_arch_shape shape = bench_shape(o);
    struct sb_model_info info = info_of(o, &shape);
    struct sb_net net = {0};
    struct sb_model m = {0};
    struct sb_arch arch;
    uint32_t *active = NULL;
    struct sb_net_options n = {
        .made = &arch, .lanes = 8, .max_batch = 1, .threads = 1, .gauss = info.gauss};
    n.max_batch = sb_form_members(&info.form); /* rows are the members' in equal parts */
    sb_status st = sb_form_build(&info.form, &shape, SB_FORM_TRAINED, &arch);
    if (st == SB_OK && density < 1.0)
        st = bench_active(&arch, density, &active);
    n.active = active;
    if (st == SB_OK)
        st = sb_net_init(&net, &n);
    if (st == SB_OK)
        st = sb_model_init(&m, &info);
    if (st == SB_OK)
        st = add_networks(&m, &net, o->members / sb_form_members(&info.form));
    if (st == SB_OK)
        st = sb_model_write(&m, path);
    sb_free(active);
    sb_arch_fini(&arch);
    sb_net_fini(&net);
    sb_model_fini(&m);
    return st;
}

/* Multiply-adds of an example's answer if every weight existed, over those of one plain
 * network: what members share counts once. */
static sb_status work_of(const struct bench_options *o, double *out)
{
    struct sb_form_spec form = bench_form(o);
    struct sb_arch_shape shape = bench_shape(o);
    struct sb_arch a;
    double sum = 0.0;
    sb_status st = sb_form_build(&form, &shape, SB_FORM_MEMBER, &a);
    for (uint32_t i = 0; st == SB_OK && i < a.nodes; i++) {
        const struct sb_conv *c = &a.node[i].conv;
        double macs = (double)sb_conv_weights(c) * c->out_height * c->out_width;
        if (a.node[i].kind == SB_NODE_WEIGHT)
            sum += i < a.shared ? macs : o->members * macs;
    }
    if (st == SB_OK)
        *out = sum / sb_arch_macs(&a);
    sb_arch_fini(&a);
    return st;
}

/* ---- measuring ----------------------------------------------------------------------- */

/* Seconds of one call; negative: it failed. */
static double time_call(struct sebays_predictor *p, const uint8_t *pixels, uint32_t n,
                        float *out)
{
    struct sebays_examples e = {.data = pixels, .count = n, .type = SEBAYS_U8};
    struct sebays_prediction predictions = {.probabilities = out};
    double start = bench_now();
    return sebays_predict(p, &e, &predictions) == SEBAYS_OK ? bench_now() - start : -1.0;
}

static double best_rate(struct sebays_predictor *p, const uint8_t *pixels,
                        const struct bench_options *o, float *out)
{
    double best = time_call(p, pixels, o->batch, out), start = bench_now();
    for (int i = 0; best > 0 && (i < o->repeat || bench_now() - start < least_seconds);
         i++) {
        double t = time_call(p, pixels, o->batch, out);
        best = t < best ? t : best;
    }
    return o->batch / best;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void latency(struct sebays_predictor *p, const uint8_t *pixels, float *out,
                    struct figures *f)
{
    static double t[LATENCIES];
    double start = bench_now();
    size_t n = 0;
    (void)time_call(p, pixels, 1, out);
    while (n < LATENCIES && (n < 15 || bench_now() - start < least_seconds))
        t[n++] = time_call(p, pixels, 1, out);
    qsort(t, n, sizeof *t, ascending);
    f->median = t[n / 2];
    f->late = t[n - 1 - n / 100];
}

/* A predictor; *seconds and *bytes are what it took. */
static struct sebays_predictor *timed_new(const struct sebays_model *m,
                                          const struct sebays_predictor_options *o,
                                          double *seconds, size_t *bytes)
{
    struct sebays_predictor *p;
    double start = bench_now();
    size_t live = sb_mem_live();
    if (sebays_predictor_new(m, o, &p) != SEBAYS_OK)
        return NULL;
    *seconds = bench_now() - start;
    *bytes = sb_mem_live() - live;
    return p;
}

static sb_status measure(const struct sb_env *env, const struct bench_options *o,
                         const char *path, struct figures *f)
{
    struct sb_arch_shape shape = bench_shape(o);
    size_t pixels = (size_t)shape.channels * shape.height * shape.width, first = 0;
    uint8_t *x = sb_calloc(pixels, o->batch);
    float *out = sb_malloc(o->batch, CLASSES * sizeof *out);
    struct sebays_model *m = NULL;
    struct sebays_predictor *p[3] = {NULL};
    struct sebays_predictor_options po = {.max_batch = o->batch,
                                          .threads = (uint32_t)env->threads,
                                          .isa = env->kernels->name};
    double start = bench_now();
    sb_status st = x && out ? (sb_status)sebays_model_open(path, &m)
                            : sb_fail(SB_ENOMEM, "no memory for %u images", o->batch);
    f->open = bench_now() - start;
    if (st == SB_OK) {
        p[0] = timed_new(m, &po, &f->first, &first);
        p[1] = p[0] ? timed_new(m, &po, &f->next, &f->predictor_bytes) : NULL;
        po.max_batch = 1;
        double unused;
        size_t none;
        p[2] = p[1] ? timed_new(m, &po, &unused, &none) : NULL;
        st = p[2] ? SB_OK : SB_EARG;
    }
    if (st == SB_OK) {
        f->loaded_bytes = first - f->predictor_bytes;
        f->rate = best_rate(p[0], x, o, out);
        latency(p[2], x, out, f);
        st = f->rate > 0 && f->median > 0 ? SB_OK : SB_EARG;
    }
    for (int i = 0; i < 3; i++)
        sebays_predictor_free(p[i]);
    sebays_model_free(m);
    sb_free(x);
    sb_free(out);
    return st;
}

/* ---- telling ------------------------------------------------------------------------- */

static void print(const struct sb_env *env, const struct bench_options *o, double density,
                  const struct figures *f)
{
    const char *form = o->form ? o->form : "gauss", *arch = bench_shape(o).name;
    if (o->json)
        printf(
            "{\"bench\": \"predict\", \"arch\": \"%s\", \"density\": %g, \"form\": "
            "\"%s\", \"members\": %u, \"batch\": %u, \"threads\": %d, \"isa\": \"%s\", "
            "\"images_per_second\": %.1f, \"latency_ms\": %.4f, \"latency_p99_ms\": "
            "%.4f, \"open_ms\": %.3f, \"first_predictor_ms\": %.3f, "
            "\"next_predictor_ms\": %.3f, \"file_bytes\": %.0f, \"shared_bytes\": %zu, "
            "\"predictor_bytes\": %zu, \"plain\": {\"time\": %.3f, \"latency\": %.3f, "
            "\"work\": %.3f, \"file\": %.3f}}\n",
            arch, density, form, o->members, o->batch, env->threads, env->kernels->name,
            f->rate, 1e3 * f->median, 1e3 * f->late, 1e3 * f->open, 1e3 * f->first,
            1e3 * f->next, f->file_bytes, f->loaded_bytes, f->predictor_bytes,
            f->plain_time, f->plain_latency, f->plain_work, f->plain_file);
    else
        printf("%s, %s, %u members, density %g, %d threads, kernels %s\n"
               "  %.1f images/s in batches of %u; one alone: %.3f ms (99 %%: %.3f ms)\n"
               "  open %.2f ms (%.1f MB), first predictor %.2f ms, another %.2f ms\n"
               "  memory: %.1f MB shared, %.1f MB a predictor\n",
               arch, form, o->members, density, env->threads, env->kernels->name, f->rate,
               o->batch, 1e3 * f->median, 1e3 * f->late, 1e3 * f->open,
               f->file_bytes / 1e6, 1e3 * f->first, 1e3 * f->next,
               (double)f->loaded_bytes / 1e6, (double)f->predictor_bytes / 1e6);
    if (!o->json && f->plain_time > 0)
        printf("  of one plain network: %.2f x the time (%.2f x of one image; "
               "multiply-adds %.2f x), %.2f x the file\n",
               f->plain_time, f->plain_latency, f->plain_work, f->plain_file);
}

static sb_status run_model(const struct sb_env *env, const struct bench_options *o,
                           double density, struct figures *f)
{
    char temporary[] = "/tmp/sebays-bench-XXXXXX";
    const char *path = o->keep ? o->keep : temporary;
    struct stat s;
    int fd = o->keep ? -1 : mkstemp(temporary);
    *f = (struct figures){0};
    if (!o->keep && (fd < 0 || close(fd) != 0))
        return sb_fail(SB_EIO, "cannot make %s", temporary);
    sb_status st = write_model(o, density, path);
    if (st == SB_OK && stat(path, &s) == 0)
        f->file_bytes = (double)s.st_size;
    if (st == SB_OK)
        st = measure(env, o, path, f);
    if (!o->keep)
        (void)unlink(path);
    return st;
}

/* A form beside one plain network of points, each measured twice in turn. */
static sb_status compare(const struct sb_env *env, const struct bench_options *o,
                         double density, struct figures *f)
{
    struct bench_options plain = *o;
    struct figures one, again, best;
    double work = 0.0;
    plain.form = "point";
    plain.members = 1;
    plain.keep = NULL;
    sb_status st = work_of(o, &work);
    if (st == SB_OK)
        st = run_model(env, &plain, density, &best);
    if (st == SB_OK)
        st = run_model(env, o, density, f);
    if (st == SB_OK)
        st = run_model(env, &plain, density, &one);
    if (st == SB_OK)
        st = run_model(env, o, density, &again);
    if (st != SB_OK)
        return st;
    best.rate = one.rate > best.rate ? one.rate : best.rate;
    best.median = one.median < best.median ? one.median : best.median;
    f->rate = again.rate > f->rate ? again.rate : f->rate;
    f->median = again.median < f->median ? again.median : f->median;
    f->plain_time = best.rate / f->rate;
    f->plain_latency = f->median / best.median;
    f->plain_file = f->file_bytes / best.file_bytes;
    f->plain_work = work;
    return SB_OK;
}

int bench_predict(const struct sb_env *env, const struct bench_options *o)
{
    double density = o->density > 0 ? o->density : 0.1;
    bool form = bench_form(o).kind != SB_FORM_PLAIN;
    struct figures f = {0};
    sb_status st = form ? compare(env, o, density, &f) : run_model(env, o, density, &f);
    if (st != SB_OK) {
        fprintf(stderr, "bench: %s\n", sb_message());
        return 1;
    }
    print(env, o, density, &f);
    return 0;
}
