/* attack - see attack.h. */
#include "eval/attack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmath.h"
#include "base/mem.h"
#include "base/rng.h"
#include "kernels/kernels.h"
#include "nn/plan.h"

sb_status sb_attack_parse(struct sb_attack *a, const char *text)
{
    char *end = NULL;
    *a = (struct sb_attack){
        .kind = SB_ATTACK_PGD, .steps = SB_ATTACK_STEPS, .epsilon = 8.0 / 255};
    if (strcmp(text, "fgsm") == 0) {
        a->kind = SB_ATTACK_FGSM;
        a->steps = 1;
        return SB_OK;
    }
    if (strcmp(text, "pgd") == 0)
        return SB_OK;
    if (strncmp(text, "pgd-", 4) == 0 && text[4] >= '1' && text[4] <= '9') {
        unsigned long steps = strtoul(text + 4, &end, 10);
        a->steps = (uint32_t)steps;
        if (*end == '\0' && steps <= 1000)
            return SB_OK;
    }
    return sb_fail(SB_EARG, "there is no attack '%s'; want fgsm, pgd or pgd-STEPS", text);
}

static size_t elements(const struct sb_attack *a)
{
    const struct sb_model_info *i = &a->ensemble->model->info;
    return (size_t)i->channels * i->height * i->width;
}

sb_status sb_attack_init(struct sb_attack *a, const struct sb_ensemble *e,
                         uint32_t member, uint32_t batch)
{
    struct sb_model_plan plan = {.lanes = e->env->kernels->lanes,
                                 .max_batch = batch,
                                 .threads = e->env->threads,
                                 .input_gradient = true};
    a->ensemble = e;
    a->member = member;
    sb_status st = sb_model_net(e->model, member, &plan, &a->net);
    if (st == SB_OK)
        st = sb_model_load(e->model, member, e->sampling.kind == SB_SAMPLE_MEAN, e->env,
                           &a->net);
    a->x = sb_malloc(batch * elements(a), sizeof *a->x);
    a->gradient = sb_malloc(batch * elements(a), sizeof *a->gradient);
    if (st == SB_OK && (!a->x || !a->gradient))
        st = sb_fail(SB_ENOMEM, "no memory to attack %u images at once", batch);
    return st;
}

void sb_attack_fini(struct sb_attack *a)
{
    if (!a)
        return;
    sb_net_fini(&a->net);
    sb_free(a->x);
    sb_free(a->gradient);
    *a = (struct sb_attack){0};
}

/* Makes the gradient of each image's logits as long as its label's part: that is all that
 * signs depend on, and single precision has it however sure the network is, while 1 - p(label)
 * is soon 0. Part k of the others is e^(z_k - z_most) over the sum of all others. */
static void lengthen(struct sb_net *n, const uint32_t *label)
{
    const struct sb_act *z = &n->head[0].logits;
    struct sb_act d = sb_net_head_view(n, &n->node[n->arch.head[0].node].dy, 0);
    for (uint32_t i = 0; i < z->batch; i++) {
        float most = -INFINITY, sum = 0;
        for (uint32_t k = 0; k < z->channels; k++)
            if (k != label[i])
                most = fmaxf(most, *sb_act_image(z, i, k));
        for (uint32_t k = 0; k < z->channels; k++)
            if (k != label[i])
                sum += sb_exp(*sb_act_image(z, i, k) - most);
        for (uint32_t k = 0; k < z->channels; k++)
            *sb_act_image(&d, i, k) =
                k == label[i] ? -1.0f : sb_exp(*sb_act_image(z, i, k) - most) / sum;
    }
}

/* a->gradient of the images pixel[n], but for its length. */
static sb_status differentiate(struct sb_attack *a, const float *pixel,
                               const uint32_t *label, uint32_t n)
{
    const struct sb_model_info *info = &a->ensemble->model->info;
    const struct sb_env *env = a->ensemble->env;
    size_t plane = (size_t)info->height * info->width, all = n * elements(a);
    struct sb_pass pass = {0};
    double loss;
    for (size_t i = 0; i < all; i++) {
        size_t c = i / plane % info->channels;
        a->x[i] = (pixel[i] - info->mean[c]) / info->sd[c];
    }
    sb_net_set_batch(&a->net, n);
    sb_act_load(&a->net.input, a->x);
    sb_status st = sb_net_forward(env, &a->net, &pass);
    if (st == SB_OK)
        st = sb_net_loss(env, &a->net, &(struct sb_truth){.label = label}, &loss);
    if (st == SB_OK) {
        lengthen(&a->net, label);
        st = sb_net_backward(env, &a->net, NULL, NULL);
    }
    if (st == SB_OK)
        sb_act_store(&a->net.node[0].dy, a->gradient);
    return st;
}

static float clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static float sign(float x)
{
    return (float)((x > 0) - (x < 0));
}

/* from + step sign(g), no further than epsilon from pixel. */
static void follow(const struct sb_attack *a, const float *pixel, float step, size_t all,
                   float *at)
{
    float far = (float)a->epsilon;
    for (size_t i = 0; i < all; i++) {
        float to = at[i] + step * sign(a->gradient[i]);
        at[i] = clamp(clamp(to, pixel[i] - far, pixel[i] + far), 0, 1);
    }
}

static sb_status attack_batch(struct sb_attack *a, const float *pixel,
                              const uint32_t *label, uint32_t first, uint32_t n,
                              float *out)
{
    size_t size = elements(a), all = n * size;
    float far = (float)a->epsilon, step = a->kind == SB_ATTACK_FGSM ? far : far / 4;
    struct sb_stream s = sb_rng_stream(a->seed, SB_RNG_ATTACK, a->member, 0, 0);
    memcpy(out, pixel, all * sizeof *out);
    for (size_t i = 0; a->kind == SB_ATTACK_PGD && i < all; i++) {
        float shift = far * (2 * sb_rng_uniform(&s, first * size + i) - 1);
        out[i] = clamp(pixel[i] + shift, 0, 1);
    }
    sb_status st = SB_OK;
    for (uint32_t k = 0; k < a->steps && st == SB_OK; k++) {
        st = differentiate(a, out, label, n);
        if (st == SB_OK)
            follow(a, pixel, step, all, out);
    }
    return st;
}

sb_status sb_attack_run(struct sb_attack *a, const float *pixel, const uint32_t *label,
                        uint32_t first, uint32_t n, float *out)
{
    size_t size = elements(a);
    sb_status st = SB_OK;
    for (uint32_t at = 0; at < n && st == SB_OK; at += a->net.max_batch) {
        uint32_t count = n - at < a->net.max_batch ? n - at : a->net.max_batch;
        st = attack_batch(a, pixel + at * size, label + at, first + at, count,
                          out + at * size);
    }
    return st;
}
