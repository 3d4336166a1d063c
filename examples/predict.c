/* predict - the answers of a trained ensemble to examples given as numbers.
 *
 *     cc predict.c $(pkg-config --cflags --libs sebays) -o predict
 *     ./predict runs/quickstart < numbers.txt
 *
 * An example is as many numbers as the model takes: features as in the training table, or
 * pixels from 0 to 1, channel after channel, row after row. */
#include <sebays.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what)
{
    fprintf(stderr, "predict: %s: %s\n", what, sebays_message());
    return 1;
}

/* Fills x[n] from standard input; whether there were that many numbers. */
static int read_example(float *x, size_t n)
{
    size_t have = 0;
    while (have < n && scanf("%f", &x[have]) == 1)
        have++;
    if (have < n && (have > 0 || !feof(stdin)))
        fprintf(stderr, "predict: the last example has %zu numbers; want %zu\n", have, n);
    return have == n;
}

int main(int argc, char **argv)
{
    struct sebays_model *model;
    struct sebays_predictor *predictor;
    /* one example at a time, so plan for that; all else is left at its default */
    struct sebays_predictor_options options = {.max_batch = 1};
    if (argc != 2)
        return fprintf(stderr, "usage: predict MODEL < NUMBERS\n"), 2;
    if (sebays_model_open(argv[1], &model) != SEBAYS_OK)
        return fail(argv[1]);
    if (sebays_predictor_new(model, &options, &predictor) != SEBAYS_OK)
        return fail("predictor");
    uint32_t classes = sebays_model_classes(model);
    size_t n = (size_t)sebays_model_channels(model) * sebays_model_height(model) *
               sebays_model_width(model);
    float *x = malloc(n * sizeof *x), *p = malloc(classes * sizeof *p), h, apart;
    struct sebays_examples one = {.data = x, .count = 1, .type = SEBAYS_F32};
    struct sebays_prediction out = {.probabilities = p, .total = &h, .epistemic = &apart};
    while (x && p && read_example(x, n)) {
        uint32_t top = 0;
        if (sebays_predict(predictor, &one, &out) != SEBAYS_OK)
            return fail(argv[1]);
        for (uint32_t c = 1; c < classes; c++)
            top = p[c] > p[top] ? c : top;
        const char *name = sebays_model_class_name(model, top);
        printf("%u %s %.4f, entropy %.4f, of which %.4f by disagreement\n", top,
               name ? name : "-", (double)p[top], (double)h, (double)apart);
    }
    free(x);
    free(p);
    sebays_predictor_free(predictor);
    sebays_model_free(model);
    return 0;
}
