/* kill_in RECIPE DIR STAGE - trains RECIPE in run directory DIR and kills itself (SIGKILL)
 * in the middle of a stage, counted from 1. Exits with 0 when the run ended before that:
 * there are not so many stages. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sebays.h"

enum { BATCHES = 9 }; /* of a stage, before it is killed */

struct place {
    char phase[64]; /* of the stage at hand */
    uint32_t member;
    long stage, last, batches;
};

static bool look(void *context, const struct sebays_progress *p)
{
    struct place *at = context;
    if (at->stage == 0 || at->member != p->member || strcmp(at->phase, p->phase) != 0) {
        snprintf(at->phase, sizeof at->phase, "%s", p->phase);
        at->member = p->member;
        at->batches = 0;
        at->stage++;
    }
    if (at->stage == at->last && ++at->batches == BATCHES)
        (void)raise(SIGKILL);
    return true;
}

int main(int argc, char **argv)
{
    struct sebays_recipe *recipe = NULL;
    struct sebays_result *result = NULL;
    struct place at = {.last = argc == 4 ? strtol(argv[3], NULL, 10) : 0};
    struct sebays_run_options o = {.progress = look, .progress_context = &at};
    if (argc != 4)
        return 2;
    o.out = argv[2];
    sebays_status st = sebays_recipe_load(argv[1], &recipe);
    if (st == SEBAYS_OK)
        st = sebays_recipe_check(recipe);
    if (st == SEBAYS_OK)
        st = sebays_train(recipe, &o, &result);
    if (st != SEBAYS_OK)
        fprintf(stderr, "%s\n", sebays_message());
    sebays_result_free(result);
    sebays_recipe_free(recipe);
    return st == SEBAYS_OK ? 0 : 1;
}
