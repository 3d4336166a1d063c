/* model - an ensemble in one file: members, and what is needed to use them.
 *
 * The file is safetensors. Metadata, all texts:
 *
 *     format          "sebays-model"
 *     version         "2"
 *     arch, method    names
 *     posterior       "gauss" or "point"
 *     shape           [channels,height,width]
 *     classes         "10"; of outcomes "0"
 *     class_names     ["T-shirt/top", ...] or []
 *     likelihood      of outcomes alone: "gauss-shared" or "gauss-per-example"
 *     targets         of outcomes alone: {"names":["y"],"mean":[...],"sd":[...]}; networks
 *                     predict (y - mean) / sd. "width":[...] where the ensemble has one
 *                     (figures/width.h)
 *     normalisation   {"mean":[...],"sd":[...]}, of bytes as [0, 1] or of floats as they
 *                     are, one a channel
 *     columns         of a model of tables: what its columns mean (data/columns_text.c)
 *     form            how a network stands for members: {"name":"plain"}, or
 *                     {"name":"tree","members":3,"branch_at":"group3.0"}, ... (forms/form.h)
 *     data            what it was trained on: data/identity.h, without class_names and columns
 *     networks        [{"sample_seed":"17","accuracy":0.9,"nll":...,"ece":...,"epoch":4},
 *                      ...]; inf, -inf and nan are strings
 *     recipe          the recipe's text
 *
 * Tensors, for each trained network k from 0 and each layer of its architecture in order:
 *
 *     net<k>.<weight>.positions   I32 [nnz], row * columns + column, strictly
 *                                    increasing; absent when every weight exists
 *     net<k>.<weight>.mu          F32 [nnz], or [out, in] / [out, in, kh, kw] when
 *                                    every weight exists
 *     net<k>.<weight>.rho         like mu; sigma = softplus(rho); not in point models
 *     net<k>.<weight>.bias        F32 [out], linear layers only
 *     net<k>.<norm>.weight, .bias, .running_mean, .running_var   F32 [channels]
 *     net<k>.<weight>.r, .s, .bias   F32 [members, channels]: scales (batch-ensemble); of
 *                                    rank-1 .r.mu, .r.rho, .s.mu, .s.rho
 *
 *     net<k>.noise.log_variance   F32 [targets], of gauss-shared
 *     conformal.scores            F32 [targets, n], of classes [1, n]: scores of the
 *                                    calibration part (figures/conformal.h), rising; absent
 *                                    where there was none
 *     far.input.mean, .factor     F32 [k], [k (k + 1) / 2]: where training rows were, and ...
 *     far.features.mean, .factor  F32 [members, j], [members, j (j + 1) / 2] (model/far.h)
 *     far.quantiles               F32 [1 to 256], rising; all five or none of them
 *
 * The branches of a tree have layers branch<m>.<layer>; mimo's first layer has the inputs of
 * all members, its last the outputs.
 *
 * Equal contents give equal bytes. A file that opened is complete: nothing missing,
 * nothing unknown, every number finite. The reader asks for no more memory than the
 * tensors that are there justify.
 */
#ifndef SB_MODEL_MODEL_H
#define SB_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "forms/form.h"
#include "model/far.h"
#include "model/safetensors.h"
#include "nn/arch.h"
#include "nn/net.h"

/* What a model is besides its members. Given to sb_model_init it is borrowed; in a model
 * it points into the model's own memory. */
struct sb_model_info {
    const char *arch;   /* as sb_arch_init takes it */
    const char *method; /* of training, a name */
    const char *recipe; /* the text of it; only what changes results belongs there */
    uint32_t channels, height, width;
    uint32_t classes;              /* 0: of outcomes */
    const char *const *class_name; /* [classes], UTF-8; NULL: unknown */
    enum sb_likelihood_kind likelihood;
    uint32_t targets;                     /* 0: of classes */
    const char *const *target_name;       /* [targets], UTF-8 */
    const float *target_mean, *target_sd; /* [targets] */
    const float *target_width; /* [targets] of the mixture; NULL: 1 (figures/mixture.h) */
    /* [targets, or 1][scores] rising: how wrong the ensemble was on its calibration
     * part */
    const float *score;
    uint32_t scores;        /* 0: there was none */
    const float *mean, *sd; /* [channels] */
    const char *columns;    /* of tables, as sb_columns_write gives them; NULL: none */
    const char *data;       /* what it was trained on, an object; NULL: nobody knows */
    bool gauss;
    struct sb_form_spec form;
};

/* How many numbers a member's prediction of an example has: probabilities of classes, or
 * the means and then the variances of targets. */
uint32_t sb_model_prediction_size(const struct sb_model_info *i);

/* Rows of scores: a target each, or one for all classes. */
static inline uint32_t sb_model_score_rows(const struct sb_model_info *i)
{
    return i->targets > 0 ? i->targets : 1;
}

struct sb_model {
    struct sb_model_info info;
    struct sb_arch arch;        /* owned: of a member, a plain network */
    struct sb_arch trained;     /* owned: what was trained */
    struct sb_trained *network; /* [networks] owned: what the file has */
    uint32_t networks, capacity;
    struct sb_trained *member; /* [members] owned: what predicts; see forms/form.h */
    uint32_t members;
    struct sb_far far; /* where training rows were; none of it: far.members is 0 */
    float *far_number; /* owned: far's numbers; NULL: they are somebody else's */
    void *memory;      /* owned: what info points to */
    struct sb_st file; /* of a model that was mapped: its members' arrays are there */
};

/* A model without members; info is copied. SB_EARG for an unknown architecture, texts
 * that are not UTF-8, or a normalisation that is not finite with positive sd. The caller
 * calls sb_model_fini, also after a failure. */
sb_status sb_model_init(struct sb_model *m, const struct sb_model_info *info);
void sb_model_fini(struct sb_model *m);

/* Moves a trained network in: *network is zeroed, unless it fails. It must be of the model's
 * form, architecture and posterior, else SB_EARG. Its members are made of it. */
sb_status sb_model_add(struct sb_model *m, struct sb_trained *network);

/* Writes path in one step (base/file.h). */
sb_status sb_model_write(const struct sb_model *m, const char *path);

/* m needs no fini after a failure, but may have it. */
sb_status sb_model_read(struct sb_model *m, const char *path);

/* The same, but numbers stay in the mapped file, where they were checked: opening copies
 * nothing, and processes that use one model share its memory. Whoever changes the file in
 * place changes what its reader computes, and whoever truncates it kills the reader; files
 * are to be replaced by renaming, as sb_model_write does. */
sb_status sb_model_map(struct sb_model *m, const char *path);

/* Both for bytes in memory, which the second borrows until fini; path is for sentences
 * only. */
sb_status sb_model_read_bytes(struct sb_model *m, const char *path, const void *bytes,
                              size_t size);
sb_status sb_model_map_bytes(struct sb_model *m, const char *path, const void *bytes,
                             size_t size);

struct sb_model_plan {
    uint32_t lanes; /* of the kernels */
    uint32_t max_batch;
    int threads;
    bool inference;      /* no gradients */
    bool parameters;     /* nor values: others borrow its parameters */
    bool single;         /* for one image at a time, see nn/net.h */
    bool input_gradient; /* keep the gradient of the images */
    bool gauss;          /* for activation noise; else a point net, for means and draws */
    const struct sb_net *prefix; /* see nn/net.h; NULL: none */
};

/* The architecture of a member, anew. The caller calls sb_arch_fini, also after a failure. */
sb_status sb_model_arch(const struct sb_model *m, struct sb_arch *out);

/* Members one after the other that come of one network and compute the first m->arch.shared
 * nodes alike; 1: none do. */
static inline uint32_t sb_model_group(const struct sb_model *m)
{
    return m->arch.shared > 0 ? sb_form_members(&m->info.form) : 1;
}

/* Whether a member can be drawn more than once: of Gaussian weights or scales. */
static inline bool sb_model_draws(const struct sb_model *m)
{
    return m->info.gauss || sb_form_draws(&m->info.form);
}

/* Loads member i into a network made for it: the draw that is kept with it, or the posterior
 * mean. */
sb_status sb_model_load(const struct sb_model *m, uint32_t i, bool mean,
                        const struct sb_env *env, struct sb_net *net);

/* Draw number `draw` of the weights of one layer of member i: out [nnz]. scratch:
 * sb_model_draw_scratch floats. */
void sb_model_draw_layer(const struct sb_model *m, const struct sb_env *env, uint32_t i,
                         uint32_t layer, uint32_t draw, float *out, float *scratch);
size_t sb_model_draw_scratch(const struct sb_model *m);

/* A network that members like member `i` fit into; nothing is loaded yet. The caller
 * calls sb_net_fini, also after a failure. */
sb_status sb_model_net(const struct sb_model *m, uint32_t i,
                       const struct sb_model_plan *p, struct sb_net *net);

#endif
