/* train - trains a recipe and tells how good the ensemble is on the test set.
 *
 *     cc train.c $(pkg-config --cflags --libs sebays) -o train
 *     ./train recipe.ini runs/mine train.seed=2
 */
#include <sebays.h>
#include <stdio.h>

static int fail(const char *what)
{
    fprintf(stderr, "train: %s: %s\n", what, sebays_message());
    return 1;
}

/* Called about once a second; returning false would stop the run, which saves itself. */
static bool tell(void *context, const struct sebays_progress *p)
{
    (void)context;
    fprintf(stderr, "%s, epoch %u of %u: %.0f examples a second\n", p->phase,
            p->epoch + 1, p->epochs, p->rate);
    return true;
}

int main(int argc, char **argv)
{
    struct sebays_recipe *recipe;
    struct sebays_result *result;
    if (argc < 3)
        return fprintf(stderr, "usage: train RECIPE OUT [section.key=value]...\n"), 2;
    if (sebays_recipe_load(argv[1], &recipe) != SEBAYS_OK)
        return fail(argv[1]);
    for (int i = 3; i < argc; i++)
        if (sebays_recipe_assign(recipe, argv[i]) != SEBAYS_OK)
            return fail(argv[i]);
    if (sebays_recipe_check(recipe) != SEBAYS_OK) /* fills in what the method implies */
        return fail(argv[1]);

    struct sebays_run_options options = {
        .out = argv[2], /* the model, checkpoints and results.json go there ... */
        .resume = true, /* ... and a run that was stopped goes on */
        .progress = tell,
        .progress_seconds = 1,
    };
    if (sebays_train(recipe, &options, &result) != SEBAYS_OK)
        return fail(argv[2]);
    struct sebays_scores s = sebays_result_ensemble(result);
    printf("%u members, %.1f %% of the weights: accuracy %.4f, nll %.4f, ece %.4f\n",
           sebays_result_members(result), 100 * sebays_result_density(result), s.accuracy,
           s.nll, s.ece);
    sebays_result_free(result);
    sebays_recipe_free(recipe);
    return 0;
}
