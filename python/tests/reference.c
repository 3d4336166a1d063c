/* reference - what a C program sees of include/sebays.h, for the Python tests to compare with.
 *
 *     reference abi                                     "struct.field offset size" lines
 *     reference predict MODEL FLOATS SAMPLING DRAWS OUT
 *
 * FLOATS is a file of raw float examples, channels first; OUT receives, raw and in the order
 * of struct sebays_prediction, all that sebays_predict answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sebays.h"

#define FIELD(type, field)                                                               \
    printf(#type "." #field " %zu %zu\n", offsetof(struct sebays_##type, field),         \
           sizeof(((struct sebays_##type *)NULL)->field))
#define SIZE(type) printf(#type " 0 %zu\n", sizeof(struct sebays_##type))

static void abi_calls(void)
{
    SIZE(progress);
    FIELD(progress, phase), FIELD(progress, done), FIELD(progress, total);
    FIELD(progress, member), FIELD(progress, members), FIELD(progress, epoch);
    FIELD(progress, epochs), FIELD(progress, rate), FIELD(progress, seconds);
    FIELD(progress, seconds_left), FIELD(progress, loss), FIELD(progress, accuracy);
    FIELD(progress, bytes), FIELD(progress, ended);
    SIZE(run_options);
    FIELD(run_options, out), FIELD(run_options, isa), FIELD(run_options, resume);
    FIELD(run_options, data_dir), FIELD(run_options, progress);
    FIELD(run_options, progress_context), FIELD(run_options, progress_seconds);
    FIELD(run_options, log), FIELD(run_options, log_context);
    FIELD(run_options, data_path), FIELD(run_options, force);
    FIELD(run_options, ranks), FIELD(run_options, one_member);
    FIELD(run_options, member), FIELD(run_options, dense_from);
    SIZE(scores);
    FIELD(scores, accuracy), FIELD(scores, nll), FIELD(scores, ece), FIELD(scores, brier);
}

static void abi_prediction(void)
{
    SIZE(export_options);
    FIELD(export_options, format), FIELD(export_options, out);
    FIELD(export_options, samples), FIELD(export_options, first_member);
    FIELD(export_options, members), FIELD(export_options, sigma);
    FIELD(export_options, progress), FIELD(export_options, progress_context);
    FIELD(export_options, progress_seconds);
    SIZE(predictor_options);
    FIELD(predictor_options, max_batch), FIELD(predictor_options, threads);
    FIELD(predictor_options, isa), FIELD(predictor_options, sampling);
    FIELD(predictor_options, draws);
    SIZE(examples);
    FIELD(examples, data), FIELD(examples, count), FIELD(examples, type);
    FIELD(examples, layout), FIELD(examples, stride), FIELD(examples, first);
    SIZE(prediction);
    FIELD(prediction, probabilities), FIELD(prediction, members);
    FIELD(prediction, total), FIELD(prediction, aleatoric);
    FIELD(prediction, epistemic), FIELD(prediction, votes), FIELD(prediction, far);
    SIZE(outcomes);
    FIELD(outcomes, mean), FIELD(outcomes, sd), FIELD(outcomes, aleatoric);
    FIELD(outcomes, epistemic), FIELD(outcomes, levels), FIELD(outcomes, level_count);
    FIELD(outcomes, quantiles), FIELD(outcomes, member_means);
    FIELD(outcomes, member_variances), FIELD(outcomes, far);
    SIZE(data_options);
    FIELD(data_options, split), FIELD(data_options, data_dir), FIELD(data_options, label);
    FIELD(data_options, ignore), FIELD(data_options, look), FIELD(data_options, like);
}

/* A test that fails says where; nothing is worth giving back before the end. */
static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "reference: %s: %s\n", what, sebays_message());
    exit(1);
}

static float *read_floats(const char *path, size_t *floats)
{
    FILE *f = fopen(path, "rb");
    must(f && fseek(f, 0, SEEK_END) == 0, path);
    long bytes = ftell(f);
    must(bytes > 0 && fseek(f, 0, SEEK_SET) == 0, path);
    *floats = (size_t)bytes / sizeof(float);
    float *x = malloc((size_t)bytes);
    must(x && fread(x, sizeof *x, *floats, f) == *floats, path);
    fclose(f);
    return x;
}

static void write_words(FILE *f, void *words, size_t count)
{
    must(fwrite(words, 4, count, f) == count, "write");
    free(words);
}

static int predict(char **word)
{
    struct sebays_model *model;
    struct sebays_predictor *predictor;
    struct sebays_predictor_options o = {.sampling = (enum sebays_sampling)atoi(word[2]),
                                         .draws = (uint32_t)atoi(word[3])};
    must(sebays_model_open(word[0], &model) == SEBAYS_OK, "open");
    must(sebays_predictor_new(model, &o, &predictor) == SEBAYS_OK, "predictor");
    size_t n, k = sebays_model_classes(model), members = sebays_model_members(model);
    float *x = read_floats(word[1], &n);
    n /= (size_t)sebays_model_channels(model) * sebays_model_height(model) *
         sebays_model_width(model);
    struct sebays_examples e = {.data = x, .count = n};
    struct sebays_prediction p = {
        malloc(4 * n * k), malloc(4 * members * n * k), malloc(4 * n), malloc(4 * n),
        malloc(4 * n),     malloc(4 * n * k),           NULL};
    must(sebays_predict(predictor, &e, &p) == SEBAYS_OK, "predict");
    FILE *f = fopen(word[4], "wb");
    must(f != NULL, word[4]);
    write_words(f, p.probabilities, n * k);
    write_words(f, p.members, members * n * k);
    write_words(f, p.total, n);
    write_words(f, p.aleatoric, n);
    write_words(f, p.epistemic, n);
    write_words(f, p.votes, n * k);
    must(fclose(f) == 0, word[4]);
    free(x);
    sebays_predictor_free(predictor);
    sebays_model_free(model);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "predict") == 0)
        return predict(argv + 2);
    abi_calls();
    abi_prediction();
    return 0;
}
