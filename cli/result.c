/* result - a finished run's figures, for people. */
#include "cli.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN = 3 }; /* of the figures: the first, which chose, is compared, too */

static void print_row(const struct sebays_result *r, uint32_t member, const char *name)
{
    printf("%-10s", name);
    for (uint32_t i = 0; i < SHOWN; i++)
        printf(" %8.4f", sebays_result_figure(r, member, i));
    printf("\n");
}

/* Whether member a is better than b by the first figure. */
static bool better(const struct sebays_result *r, uint32_t a, uint32_t b)
{
    double x = sebays_result_figure(r, a, 0), y = sebays_result_figure(r, b, 0);
    return sebays_result_figure_rises(r, 0) ? x > y : x < y;
}

/* The ensemble beside its best member. */
static void print_gain(const struct sebays_result *r, uint32_t best)
{
    uint32_t all = sebays_result_members(r);
    double gain[2];
    for (uint32_t i = 0; i < 2; i++)
        gain[i] = sebays_result_figure(r, all, i) - sebays_result_figure(r, best, i);
    printf("the ensemble is %s its best member (member %u): ",
           better(r, all, best) ? "better than" : "not better than", best + 1);
    if (sebays_result_figure_rises(r, 0)) /* of classes: accuracy, nll */
        printf("%+.2f points of accuracy, %+.4f nll\n", 100.0 * gain[0], gain[1]);
    else
        printf("%+.4f %s, %+.4f %s\n", gain[0], sebays_result_figure_name(r, 0), gain[1],
               sebays_result_figure_name(r, 1));
}

/* Members, numbered from first, and the ensemble. */
static void print_figures(const struct sebays_result *r, uint32_t first)
{
    uint32_t members = sebays_result_members(r), best = 0;
    printf("%-10s", "test");
    for (uint32_t i = 0; i < SHOWN; i++)
        printf(" %8s", sebays_result_figure_name(r, i));
    printf("\n");
    for (uint32_t i = 0; i < members; i++) {
        char name[32];
        snprintf(name, sizeof name, "member %u", first + i + 1);
        print_row(r, i, name);
        best = better(r, i, best) ? i : best;
    }
    if (members > 1) {
        print_row(r, members, "ensemble");
        print_gain(r, best);
    }
}

void cli_result_print(const struct sebays_result *r, uint32_t first, const char *out)
{
    uint32_t members = sebays_result_members(r);
    if (isnan(sebays_result_figure(r, members, 0)))
        printf("there is no test part: nothing was kept to judge the model by\n");
    else
        print_figures(r, first);
    printf("density %.4f, %.1f s of training, %.0f examples/s\n",
           sebays_result_density(r), sebays_result_seconds(r),
           sebays_result_images_per_second(r));
    printf("files in %s\n", out);
}
