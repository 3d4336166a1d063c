/* bench - what the benchmark commands share. Speed is judged here, never in a test. */
#ifndef SB_BENCH_H
#define SB_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "forms/form.h"

struct bench_options {
    double density; /* of existing weights; 0: the command's own */
    uint32_t batch;
    uint32_t shards;  /* of step */
    uint32_t members; /* of predict, and of forms */
    int json;         /* one object a line instead of a table */
    int repeat;       /* measurements of which the best counts */
    const char *arch; /* of step; NULL: wrn-28-10 */
    /* "gauss", "point", or a form (forms/form.h) of points; NULL: gauss */
    const char *form;
    const char *estimator; /* of step with gauss: "local", "weights" or NULL: local */
    int channels;          /* dropout: whole channels */
    int update;            /* step: a prune-grow update, too */
    int plain;             /* step: whole steps only */
    const char *mpi;       /* step: with the other processes of the job; NULL: alone */
    const char *keep;      /* predict: where the model stays; NULL: nowhere */
    const char *data;      /* batch, corrupt: a data set */
    const char *stats;     /* corrupt: figures to compare with; NULL: none */
};

double bench_now(void); /* seconds, monotonic */

/* What o->form says. */
bool bench_form_known(const char *name);
bool bench_gauss(const struct bench_options *o);
struct sb_form_spec bench_form(const struct bench_options *o);

/* What o->arch takes: images of CIFAR, or of MNIST. */
struct sb_arch_shape bench_shape(const struct bench_options *o);

/* How many weights of each layer exist, by ERK: [weights], the caller's to free. */
sb_status bench_active(const struct sb_arch *arch, double density, uint32_t **out);

/* The commands; an exit code. */
int bench_kernels(const struct sb_env *env, const struct bench_options *o);
int bench_batch(const struct sb_env *env, const struct bench_options *o);
int bench_corrupt(const struct sb_env *env, const struct bench_options *o);
int bench_predict(const struct sb_env *env, const struct bench_options *o);
int bench_step(const struct sb_env *env, const struct bench_options *o);

#endif
