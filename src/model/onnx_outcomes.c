/* onnx_outcomes - the end of an ONNX graph of continuous targets: the mixture of what the
 * members say; see onnx.h.
 *
 * Everything is computed in the units that networks were trained in, where numbers are about
 * 1, so that 32-bit floats lose nothing to targets that are large or far from 0.
 */
#include "model/onnx.h"

#include <stdio.h>

#include "model/trained_file.h"

static const uint32_t members_axis[] = {0};

static bool shared_noise(const struct sb_export *e)
{
    return e->model->info.likelihood == SB_LIKELIHOOD_GAUSS_SHARED;
}

/* ---- nodes --------------------------------------------------------------------------- */

static void put_mean(struct sb_pb *p, const char *in, const char *out)
{
    size_t node = sb_onnx_begin(p, "ReduceMean", &in, 1, out);
    sb_onnx_put_integers(p, "axes", members_axis, 1);
    sb_onnx_put_integer(p, "keepdims", 0);
    sb_pb_end(p, node);
}

static void put_slice(struct sb_pb *p, const char *from, const char *to, const char *out)
{
    const char *const in[] = {"outputs", from, to, "last_axis"};
    sb_pb_end(p, sb_onnx_begin(p, "Slice", in, 4, out));
}

/* Each member's noise, [targets], becomes [M][n][targets]. */
static void put_shared(struct sb_pb *p, const struct sb_export *e)
{
    for (uint32_t i = 0; i < e->members; i++) {
        char noise[SB_EXPORT_NAME], row[SB_EXPORT_NAME];
        snprintf(noise, sizeof noise, "member.%u.noise.log_variance", e->first + i);
        snprintf(row, sizeof row, "member.%u.noise_row", e->first + i);
        sb_onnx_put(p, "Unsqueeze", noise, "first_axes", row);
    }
    sb_onnx_put_stack(p, e, "noise_row", "noise");
    sb_onnx_put(p, "Shape", "standard.means", NULL, "shape");
    sb_onnx_put(p, "Expand", "noise", "shape", "log_variances");
}

void sb_onnx_outcome_nodes(struct sb_pb *p, const struct sb_export *e)
{
    const char *const clip[] = {"log_variances", "log_variance_least",
                                "log_variance_most"};
    bool shared = shared_noise(e);
    sb_onnx_put_stack(p, e, "row", shared ? "standard.means" : "outputs");
    if (shared)
        put_shared(p, e);
    else {
        put_slice(p, "zero", "targets", "standard.means");
        put_slice(p, "targets", "outputs_end", "log_variances");
    }
    sb_pb_end(p, sb_onnx_begin(p, "Clip", clip, 3, "log_variances.clipped"));
    sb_onnx_put(p, "Exp", "log_variances.clipped", NULL, "standard.variances");
    put_mean(p, "standard.means", "standard.mean");
    sb_onnx_put(p, "Sub", "standard.means", "standard.mean", "apart");
    sb_onnx_put(p, "Mul", "apart", "apart", "squares");
    sb_onnx_put(p, "Add", "squares", "standard.variances", "standard.all");
    put_mean(p, "standard.all", "standard.variance");
    sb_onnx_put(p, "Sqrt", "standard.variance", NULL, "standard.sd");
    sb_onnx_put(p, "Mul", "standard.sd", "target_spread", "sd");
    sb_onnx_put(p, "Mul", "standard.mean", "target_sd", "mean.from_0");
    sb_onnx_put(p, "Add", "mean.from_0", "target_mean", "mean");
    sb_onnx_put(p, "Mul", "standard.means", "target_sd", "member_means.from_0");
    sb_onnx_put(p, "Add", "member_means.from_0", "target_mean", "member_means");
    sb_onnx_put(p, "Mul", "standard.variances", "target_sd", "member_variances.half");
    sb_onnx_put(p, "Mul", "member_variances.half", "target_sd", "member_variances");
}

/* ---- constants ----------------------------------------------------------------------- */

static void put_floats(struct sb_pb *p, const char *name, const float *x, uint32_t n)
{
    sb_onnx_put_tensor(p, name, &n, 1, ELEMENT_FLOAT, x, n * sizeof *x);
}

static void put_scalar(struct sb_pb *p, const char *name, float x)
{
    sb_onnx_put_tensor(p, name, NULL, 0, ELEMENT_FLOAT, &x, sizeof x);
}

static void put_numbers(struct sb_pb *p, const char *name, const int64_t *x, uint32_t n)
{
    sb_onnx_put_tensor(p, name, &n, 1, ELEMENT_INT64, x, n * sizeof *x);
}

void sb_onnx_outcome_tensors(struct sb_pb *p, const struct sb_export *e)
{
    const struct sb_model_info *info = &e->model->info;
    const int64_t zero = 0, targets = info->targets, end = 2 * targets, last = 2;
    const int64_t axes[] = {0, 1};
    const float *width = e->members == e->model->members ? info->target_width : NULL;
    float
        spread[SB_MODEL_TARGETS]; /* what a deviation of the mixture is multiplied with */
    for (uint32_t k = 0; k < info->targets; k++)
        spread[k] = info->target_sd[k] * (width ? width[k] : 1);
    put_floats(p, "target_mean", info->target_mean, info->targets);
    put_floats(p, "target_sd", info->target_sd, info->targets);
    put_floats(p, "target_spread", spread, info->targets);
    put_scalar(p, "log_variance_least", -SB_LOG_VARIANCE_MOST);
    put_scalar(p, "log_variance_most", SB_LOG_VARIANCE_MOST);
    if (shared_noise(e)) {
        put_numbers(p, "first_axes", axes, 2);
        return;
    }
    put_numbers(p, "zero", &zero, 1);
    put_numbers(p, "targets", &targets, 1);
    put_numbers(p, "outputs_end", &end, 1);
    put_numbers(p, "last_axis", &last, 1);
}
