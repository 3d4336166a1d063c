/* bench - `bench COMMAND [options]`; see usage below. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "base/threads.h"
#include "kernels/kernels.h"

static const char usage[] =
    "usage: bench COMMAND [options]\n"
    "\n"
    "  kernels    forward, input gradient and weight gradient of single sparse layers\n"
    "  step       whole training steps of a network\n"
    "  predict    opening a model of random members, and predicting with it\n"
    "  batch      opening a data set and preparing augmented batches of it\n"
    "  corrupt    all corruptions of a test set: time, and statistics beside published "
    "ones\n"
    "\n"
    "  --density D   share of weights that exist (default: 0.05, 0.1, 0.2 and 0.4 for\n"
    "                kernels, 0.1 for step and predict; 1 is dense)\n"
    "  --batch N     images (default 32)\n"
    "  --shards N    step: what a batch is cut into (default 1)\n"
    "  --members N   predict, and forms: of the ensemble (default 3)\n"
    "  --threads N   (default: all processors)\n"
    "  --isa NAME    scalar, scalar16, avx2, avx512, neon or auto (default)\n"
    "  --repeat N    measurements of which the best counts (default 15; step: and for "
    "at\n"
    "                least a second)\n"
    "  --json        one JSON object a line\n"
    "  --arch NAME   step, predict: mlp-H1-H2..., lenet, resnet-D or wrn-D-K (default "
    "wrn-28-10)\n"
    "  --form FORM   step, predict: gauss (default), point for weights without "
    "variance, or\n"
    "                a form of points: dropout, mimo, batch-ensemble, rank-1, tree\n"
    "  --channels    dropout: of whole channels\n"
    "  --estimator E step: local (default), or weights, drawn for each 16 images\n"
    "  --update      step: a prune-grow update, too\n"
    "  --plain       step: whole steps only, without shares of time; for a profiler\n"
    "  --mpi NAME    step: as a rank of a job of that MPI; each batch is shared\n"
    "  --keep FILE   predict: the model stays there, for exports\n"
    "  --data DIR    batch, corrupt: the images\n"
    "  --stats FILE  corrupt: published statistics (JSON)\n"
    "\n"
    "  bench kernels --density 0.1 --threads 2\n"
    "  bench step --arch wrn-16-2 --density 0.1 --update\n";

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct command {
    const char *name;
    int (*run)(const struct sb_env *env, const struct bench_options *o);
};

static const struct command commands[] = {{"kernels", bench_kernels},
                                          {"step", bench_step},
                                          {"predict", bench_predict},
                                          {"batch", bench_batch},
                                          {"corrupt", bench_corrupt}};

static int wrong(const char *what, const char *found)
{
    fprintf(stderr, "bench: %s '%s'\n%s", what, found, usage);
    return 2;
}

/* A number in [low, high] or -1. */
static double number(const char *text, double low, double high)
{
    char *end = NULL;
    double x = text ? strtod(text, &end) : -1.0;
    return text && end != text && *end == '\0' && x >= low && x <= high ? x : -1.0;
}

/* 0, or the exit code, of an option whose value is a word; -1 if it is none. */
static int take_word(const char *name, const char *value, struct bench_options *o,
                     struct sb_env *env)
{
    if (strcmp(name, "--isa") == 0) {
        if (value && sb_kernels_choose(value, &env->kernels) == SB_OK)
            return 0;
        fprintf(stderr, "bench: %s\n", value ? sb_message() : "--isa wants a name");
        return 2;
    }
    if (strcmp(name, "--arch") == 0 || strcmp(name, "--keep") == 0) {
        *(strcmp(name, "--arch") == 0 ? &o->arch : &o->keep) = value;
        return value ? 0 : wrong("missing value for", name);
    }
    if (strcmp(name, "--data") == 0 || strcmp(name, "--stats") == 0) {
        *(strcmp(name, "--data") == 0 ? &o->data : &o->stats) = value;
        return value ? 0 : wrong("missing value for", name);
    }
    if (strcmp(name, "--mpi") == 0) {
        o->mpi = value;
        return value ? 0 : wrong("missing value for", name);
    }
    if (strcmp(name, "--form") == 0) {
        o->form = value;
        return value && bench_form_known(value)
                   ? 0
                   : wrong("gauss, point or a form wanted for", name);
    }
    if (strcmp(name, "--estimator") == 0) {
        o->estimator = value;
        return value && (strcmp(value, "local") == 0 || strcmp(value, "weights") == 0)
                   ? 0
                   : wrong("local or weights wanted for", name);
    }
    return -1;
}

static int *find_flag(struct bench_options *o, const char *name)
{
    return strcmp(name, "--json") == 0       ? &o->json
           : strcmp(name, "--update") == 0   ? &o->update
           : strcmp(name, "--plain") == 0    ? &o->plain
           : strcmp(name, "--channels") == 0 ? &o->channels
                                             : NULL;
}

/* 0, or the exit code. Takes one option and its value from args[*i]. */
static int take_option(char **args, int n, int *i, struct bench_options *o,
                       struct sb_env *env)
{
    const char *name = args[*i], *value = *i + 1 < n ? args[*i + 1] : NULL;
    double x = -1.0;
    int *flag = find_flag(o, name);
    if (flag) {
        *flag = 1;
        return 0;
    }
    ++*i;
    int code = take_word(name, value, o, env);
    if (code >= 0)
        return code;
    if (strcmp(name, "--density") == 0)
        o->density = x = number(value, 1e-4, 1.0);
    else if (strcmp(name, "--batch") == 0)
        o->batch = (uint32_t)(x = number(value, 1, 65536));
    else if (strcmp(name, "--shards") == 0)
        o->shards = (uint32_t)(x = number(value, 1, 4096));
    else if (strcmp(name, "--members") == 0)
        o->members = (uint32_t)(x = number(value, 1, 1000));
    else if (strcmp(name, "--threads") == 0)
        env->threads = (int)(x = number(value, 1, 1024));
    else if (strcmp(name, "--repeat") == 0)
        o->repeat = (int)(x = number(value, 1, 10000));
    else
        return wrong("unknown option", name);
    return x < 0 ? wrong("missing or wrong value for", name) : 0;
}

int main(int argc, char **argv)
{
    struct bench_options o = {.batch = 32, .shards = 1, .members = 3, .repeat = 15};
    struct sb_env env = {.threads = sb_threads_available()};
    sb_kernels_choose("auto", &env.kernels);
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    for (int i = 2; i < argc; i++) {
        int code = take_option(argv, argc, &i, &o, &env);
        if (code)
            return code;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(&env, &o);
    return wrong("unknown command", argv[1]);
}
