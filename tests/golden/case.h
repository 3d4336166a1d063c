/* case - one golden case: a safetensors file of inputs (in.*) and what must come out
 * (out.*), whose metadata `op` says what to compute.
 *
 * A handler asks for inputs, computes, and gives each output to a check. Whatever goes wrong
 * is noted in the case and makes it fail; a getter that fails gives NULL or false, and the
 * handler just returns. An output of the file that no check has seen fails the case too, so
 * nothing goes unnoticed.
 *
 * The error of an array is max |have - want| / max |want|, or max |have - want| where all
 * that is wanted is 0. Names are given without their "in." and "out.".
 */
#ifndef GOLDEN_CASE_H
#define GOLDEN_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "model/safetensors.h"
#include "tensor/topology.h"

/* Float32 against float64: above these it is not rounding. */
#define GOLDEN_TOL_LAYER   1e-5
#define GOLDEN_TOL_NETWORK 5e-5
#define GOLDEN_TOL_TRACE   2e-4
#define GOLDEN_TOL_METRIC  1e-5

enum { GOLDEN_REASON = 1024 };

struct golden_block; /* memory that lives as long as the case */

struct golden_case {
    const struct sb_env *env;
    struct sb_st file;
    bool *checked; /* [file.tensors] outputs a check has seen */
    struct golden_block *blocks;
    double worst; /* error of all checks so far; -1: none yet */
    bool failed;
    char reason[GOLDEN_REASON]; /* why, in one line */
};

struct golden_op {
    const char *name;
    void (*run)(struct golden_case *c);
};

/* One table a family, ended by a NULL name. */
extern const struct golden_op golden_tensor_ops[];
extern const struct golden_op golden_eval_ops[];
extern const struct golden_op golden_regression_ops[];
extern const struct golden_op golden_layer_ops[];
extern const struct golden_op golden_net_ops[];

/* Reads path; false and a noted failure if that does not work. Close always. */
bool golden_open(struct golden_case *c, const struct sb_env *env, const char *path);
void golden_close(struct golden_case *c);

/* Notes a failure; several are joined by "; ". */
void golden_fail(struct golden_case *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* st == SB_OK; otherwise notes the library's sentence. */
bool golden_ok(struct golden_case *c, sb_status st);

/* Zeroed memory, freed with the case. */
void *golden_alloc(struct golden_case *c, size_t count, size_t size);

/* An input's place and shape; optional ones give NULL without a failure. */
const struct sb_st_tensor *golden_input(struct golden_case *c, const char *name);
const struct sb_st_tensor *golden_input_optional(struct golden_case *c, const char *name);

/* An input's numbers, freed with the case. count is what the handler expects. */
float *golden_f32(struct golden_case *c, const char *name, size_t count);
double *golden_f64(struct golden_case *c, const char *name, size_t count);
int32_t *golden_i32(struct golden_case *c, const char *name, size_t count);

/* A 0/1 input as bytes. */
uint8_t *golden_mask(struct golden_case *c, const char *name, size_t count);

/* Metadata: a text, or a number from min to max; True and False are 1 and 0. */
const char *golden_text(struct golden_case *c, const char *key);
bool golden_number(struct golden_case *c, const char *key, double min, double max,
                   double *out);

/* The same, or another number where the case does not say it. */
bool golden_number_or(struct golden_case *c, const char *key, double min, double max,
                      double otherwise, double *out);

/* Metadata: what weights are ranked by; snr where the case does not say it. */
bool golden_criterion(struct golden_case *c, enum sb_criterion *out);

/* Compare with out.<name>, which must exist and have count elements. */
void golden_check_f32(struct golden_case *c, const char *name, const float *have,
                      size_t count, double tolerance);
void golden_check_f64(struct golden_case *c, const char *name, const double *have,
                      size_t count, double tolerance);
void golden_check_i32(struct golden_case *c, const char *name, const int32_t *have,
                      size_t count);

/* Whether the file has out.<name>, for outputs not every case has. */
bool golden_wants(const struct golden_case *c, const char *name);

/* Notes every out.* that no check has seen; a case without any fails as well. */
void golden_check_complete(struct golden_case *c);

#endif
