/* form_models - models of every form with every number random. */
#ifndef SB_TESTS_FORM_MODELS_H
#define SB_TESTS_FORM_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#include "forms.h"
#include "model/model.h"

/* A model of so many random networks of a case, the first of which has sample seed 300. */
static inline sb_status form_models_make(const struct sb_env *env, struct sb_model *m,
                                         const struct forms_case *c, double density,
                                         bool gauss, uint32_t networks)
{
    static const float mean[] = {0, 0, 0}, sd[] = {1, 1, 1};
    struct sb_arch_shape shape = forms_shape(c->arch);
    struct sb_model_info info = {.arch = c->arch,
                                 .method = "test",
                                 .recipe = "",
                                 .channels = shape.channels,
                                 .height = shape.height,
                                 .width = shape.width,
                                 .classes = shape.classes,
                                 .mean = mean,
                                 .sd = sd,
                                 .gauss = gauss,
                                 .form = forms_spec(c)};
    struct sb_net net;
    sb_status st = forms_net(&net, c, density, gauss, 16 * FORMS_MEMBERS);
    if (st == SB_OK)
        st = sb_model_init(m, &info);
    else
        *m = (struct sb_model){0};
    for (uint32_t i = 0; i < networks && st == SB_OK; i++) {
        struct sb_trained t = {0};
        st = forms_fill(env, &net, 20 + i);
        if (st == SB_OK)
            st = sb_trained_init(&t, &net);
        if (st == SB_OK)
            st = sb_trained_save(&t, &net);
        t.sample_seed = 300 + i;
        if (st == SB_OK)
            st = sb_model_add(m, &t);
        sb_trained_fini(&t);
    }
    sb_net_fini(&net);
    return st;
}

#endif
