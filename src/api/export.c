/* sebays_export - the part of include/sebays.h that writes models for other programs. */
#include <string.h>
#include <sys/stat.h>

#include "api/callbacks.h"
#include "api/model.h"
#include "api/need.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "model/export.h"
#include "predict/sampling.h"

static sb_status check(const struct sebays_export_options *o)
{
    if (!o->format)
        return sb_fail(SB_EARG, "export: no format; want safetensors-dense, npz or onnx");
    if (!o->out)
        return sb_fail(SB_EARG, "export: no file to write");
    return SB_OK;
}

/* Arrays of numbers can be the draw or the means. */
static sb_status read_samples(const char *samples, bool *mean)
{
    struct sb_sampling s = {SB_SAMPLE_DRAW, 1};
    sb_status st = samples ? sb_sampling_parse(samples, &s) : SB_OK;
    *mean = s.kind == SB_SAMPLE_MEAN;
    return st == SB_OK && (*mean || s.kind == SB_SAMPLE_DRAW)
               ? SB_OK
               : sb_fail(SB_EARG, "samples %s: want draw or mean", samples);
}

/* A model is not to be lost by a slip: what is exported cannot be read as one. */
static sb_status check_other(const char *model, const char *out)
{
    struct stat a, b;
    if (stat(model, &a) == 0 && stat(out, &b) == 0 && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino)
        return sb_fail(SB_EARG, "%s is the model itself; give the export another name",
                       out);
    return SB_OK;
}

sebays_status sebays_export(const char *path, const struct sebays_export_options *options)
{
    const struct sebays_export_options none = {0}, *o = options ? options : &none;
    SB_NEED(path);
    struct sb_callbacks callbacks = {.progress = o->progress,
                                     .progress_context = o->progress_context};
    struct sb_env env = {.threads = sb_threads_available()};
    struct sb_model m = {0};
    char file[SB_PATH_BYTES];
    sb_callbacks_begin(&callbacks, o->progress_seconds);
    struct sb_export e = {.env = &env,
                          .model = &m,
                          .first = o->first_member,
                          .members = o->members,
                          .sigma = o->sigma,
                          .progress = sb_callbacks_progress(&callbacks)};
    sb_status st = check(o);
    if (st == SB_OK)
        st = read_samples(o->samples, &e.mean);
    if (st == SB_OK)
        st = sb_model_find(path, file);
    if (st == SB_OK)
        st = check_other(file, o->out);
    if (st == SB_OK)
        st = sb_kernels_choose(NULL, &env.kernels);
    if (st == SB_OK)
        st = sb_model_map(&m, file);
    if (st == SB_OK)
        st = sb_export_write(&e, o->format, o->out);
    sb_model_fini(&m);
    return (sebays_status)st;
}
