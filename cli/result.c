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

/* The ensemble beside its best member, by the first figure; signs would not say what is better:
 * accuracy rises, nll and errors fall. */
static void print_gain(const struct sebays_result *r, uint32_t best)
{
    uint32_t all = sebays_result_members(r);
    double gain[2];
    for (uint32_t i = 0; i < 2; i++)
        gain[i] = sebays_result_figure(r, all, i) - sebays_result_figure(r, best, i);
    const char *lower = gain[1] > 0 ? "higher" : "lower";
    if (!sebays_result_figure_rises(r, 0)) /* of targets: two figures that fall */
        printf("the ensemble's %s is %.4f %s than its best member's (member %u), its %s "
               "%.4f %s\n",
               sebays_result_figure_name(r, 0), fabs(gain[0]),
               gain[0] > 0 ? "higher" : "lower", best + 1,
               sebays_result_figure_name(r, 1), fabs(gain[1]), lower);
    else if (fabs(gain[0]) < 0.00005)
        printf(
            "the ensemble is as accurate as its best member (member %u), and its nll is "
            "%.4f %s\n",
            best + 1, fabs(gain[1]), lower);
    else
        printf(
            "the ensemble is %.2f points %s accurate than its best member (member %u), "
            "%s its nll is %.4f %s\n",
            100.0 * fabs(gain[0]), gain[0] > 0 ? "more" : "less", best + 1,
            (gain[0] > 0) == (gain[1] > 0) ? "but" : "and", fabs(gain[1]), lower);
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
