/* attack - images made to be misunderstood, by their gradients (method.md 6).
 *
 * In pixels, which lie in [0, 1], with epsilon = 8/255 and g the gradient of one member's
 * own cross-entropy with respect to the pixels:
 *
 *     fgsm   x' = clamp(x + epsilon sign(g), 0, 1)
 *     pgd    x_0 uniform in [x - epsilon, x + epsilon]; `steps` times
 *            x' = clamp(x_k + epsilon/4 sign(g_k)), to that range, then to [0, 1]
 *
 * The member's weights are the draw that is kept with it (the means, if means predict).
 * Normalisation divides by a positive deviation, so it does not change the sign.
 */
#ifndef SB_EVAL_ATTACK_H
#define SB_EVAL_ATTACK_H

#include "eval/ensemble.h"

enum sb_attack_kind { SB_ATTACK_FGSM, SB_ATTACK_PGD };

struct sb_attack {
    enum sb_attack_kind kind;
    uint32_t steps;  /* of pgd */
    double epsilon;  /* of pixels in [0, 1] */
    uint64_t seed;   /* of where pgd starts ... */
    uint32_t member; /* ... with the member */

    const struct sb_ensemble *ensemble; /* borrowed */
    struct sb_net net;                  /* the member, with gradients */
    float *x;                           /* [batch] images, normalised; owned */
    float *gradient;                    /* likewise */
};

enum { SB_ATTACK_STEPS = 10 };

/* "fgsm", "pgd", "pgd-20": sets kind and steps. */
sb_status sb_attack_parse(struct sb_attack *a, const char *text);

/* Plans the attack on one member; kind, steps, epsilon and seed are set. The caller calls
 * sb_attack_fini, also after a failure. */
sb_status sb_attack_init(struct sb_attack *a, const struct sb_ensemble *e,
                         uint32_t member, uint32_t batch);
void sb_attack_fini(struct sb_attack *a);

/* pixel: [n] images in [0, 1], numbers first, first + 1, ... of their set; label: [n]; out:
 * [n] attacked ones. */
sb_status sb_attack_run(struct sb_attack *a, const float *pixel, const uint32_t *label,
                        uint32_t first, uint32_t n, float *out);

#endif
