/* result - see result.h. */
#include "result.h"

#include <stdio.h>

static void print_row(const char *name, struct sebays_scores s)
{
    printf("%-10s %8.4f %8.4f %8.4f\n", name, s.accuracy, s.nll, s.ece);
}

void cli_result_print(const struct sebays_result *r, uint32_t first, const char *out)
{
    uint32_t members = sebays_result_members(r), best = 0;
    struct sebays_scores all = sebays_result_ensemble(r);
    printf("%-10s %8s %8s %8s\n", "test", "acc", "nll", "ece");
    for (uint32_t i = 0; i < members; i++) {
        char name[32];
        snprintf(name, sizeof name, "member %u", first + i + 1);
        print_row(name, sebays_result_member(r, i));
        if (sebays_result_member(r, i).accuracy > sebays_result_member(r, best).accuracy)
            best = i;
    }
    if (members > 1) {
        struct sebays_scores top = sebays_result_member(r, best);
        print_row("ensemble", all);
        printf(
            "the ensemble is %s its best member (member %u): %+.2f points of accuracy, "
            "%+.4f nll\n",
            all.accuracy > top.accuracy ? "better than" : "not better than", best + 1,
            100.0 * (all.accuracy - top.accuracy), all.nll - top.nll);
    }
    printf("density %.4f, %.1f s of training, %.0f images/s\n", sebays_result_density(r),
           sebays_result_seconds(r), sebays_result_images_per_second(r));
    printf("files in %s\n", out);
}
