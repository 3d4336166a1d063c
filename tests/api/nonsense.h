/* nonsense - what the calls of nonsense.py need: good values, made once, and a process for
 * each call, so that one that dies is named and the others go on. */
#ifndef SB_TESTS_NONSENSE_H
#define SB_TESTS_NONSENSE_H

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sebays.h"

enum nonsense_want { ANY, REFUSED };

struct nonsense {
    const char *title;
    sebays_status (*call)(void);
    enum nonsense_want want;
};

enum { NONSENSE_LONG = 20000, NONSENSE_SECONDS = 60 };

static char long_text[NONSENSE_LONG];

/* The functions of the header have room for what they write here. */
static struct {
    struct sebays_recipe *recipe;
    struct sebays_result *result;
    struct sebays_data *data;
    struct sebays_model *model;
    struct sebays_predictor *predictor;
    struct sebays_feed *feed;
    struct sebays_run_options run_options;
    struct sebays_eval_options eval_options;
    struct sebays_data_options data_options;
    struct sebays_fetch_options fetch_options;
    struct sebays_corrupt_options corrupt_options;
    struct sebays_predictor_options predictor_options;
    struct sebays_feed_options feed_options;
    struct sebays_export_options export_options;
    struct sebays_examples examples;
    struct sebays_prediction prediction;
    struct sebays_model *outcome_model; /* of a continuous target */
    struct sebays_predictor *outcome_predictor;
    struct sebays_feed *outcome_feed;
    struct sebays_outcomes outcomes;
    double number;
    const char *runs[1];
    char buffer[NONSENSE_LONG];
    bool there;
    size_t got;
    void *handle;
    float row[2];
    float predictions[8 * SEBAYS_FEED_BATCH * 3];
} good;

static void need(sebays_status st)
{
    if (st == SEBAYS_OK)
        return;
    fprintf(stderr, "nonsense: the good values cannot be made: %s\n", sebays_message());
    exit(1);
}

static void nonsense_recipe(struct sebays_recipe **out)
{
    static const char *const options[] = {
        "data.set=./train.csv",    "model.arch=mlp-4",        "train.threads=1",
        "method.explore_epochs=1", "method.exploit_epochs=1", "method.members=2"};
    need(sebays_recipe_new(out));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        need(sebays_recipe_assign(*out, options[i]));
    need(sebays_recipe_check(*out));
}

/* A model of a continuous target, of the same columns. */
static void nonsense_outcomes(void)
{
    static const double median = 0.5;
    struct sebays_recipe *recipe;
    struct sebays_result *result;
    struct sebays_run_options options = {.out = "outcomes"};
    nonsense_recipe(&recipe);
    need(sebays_recipe_assign(recipe, "data.label=2"));
    need(sebays_recipe_assign(recipe, "data.task=regression"));
    need(sebays_recipe_assign(recipe, "data.ignore=3"));
    need(sebays_recipe_assign(recipe, "data.calibration=0.2"));
    need(sebays_recipe_check(recipe));
    need(sebays_train(recipe, &options, &result));
    sebays_result_free(result);
    sebays_recipe_free(recipe);
    need(sebays_model_open("outcomes", &good.outcome_model));
    need(sebays_predictor_new(good.outcome_model, &good.predictor_options,
                              &good.outcome_predictor));
    need(sebays_feed_open(good.outcome_model, "./train.csv", NULL, &good.outcome_feed));
    good.outcomes =
        (struct sebays_outcomes){.mean = good.predictions,
                                 .levels = &median,
                                 .level_count = 1,
                                 .quantiles = good.predictions + 4 * SEBAYS_FEED_BATCH};
}

static void nonsense_set_up(void)
{
    char directory[] = "/tmp/sebays-nonsense-XXXXXX";
    FILE *f =
        mkdtemp(directory) && chdir(directory) == 0 ? fopen("train.csv", "w") : NULL;
    if (!f)
        exit(1);
    for (int i = 0; i < 60; i++)
        fprintf(f, "%d,%d,c%d\n", i, i * i % 7, i % 3);
    fclose(f);
    memset(long_text, 'x', sizeof long_text - 1);
    nonsense_recipe(&good.recipe);
    good.run_options.out = "run";
    need(sebays_train(good.recipe, &good.run_options, &good.result));
    good.run_options.out = "another";
    need(sebays_data_open("./train.csv", &good.data_options, &good.data));
    need(sebays_model_open("run", &good.model));
    good.predictor_options.threads = good.eval_options.threads =
        good.corrupt_options.threads = 1;
    need(sebays_predictor_new(good.model, &good.predictor_options, &good.predictor));
    need(sebays_feed_open(good.model, "./train.csv", NULL, &good.feed));
    good.fetch_options.data_dir = "fetched"; /* the good name is of no set: no network */
    good.export_options.format = "npz";
    good.export_options.out = "weights.npz";
    good.runs[0] = "run";
    good.examples = (struct sebays_examples){.data = good.row, .count = 1};
    good.prediction.members = good.predictions;
    nonsense_outcomes();
}

/* What became of a call; NULL: what should. */
static const char *nonsense_fate(const struct nonsense *n)
{
    int code;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(NONSENSE_SECONDS);
        sebays_status st = n->call();
        bool right = n->want == ANY
                         ? (unsigned)st <= SEBAYS_EMISSING &&
                               (st == SEBAYS_OK || sebays_message()[0] != '\0')
                         : st == SEBAYS_EARG && strstr(sebays_message(), "is NULL");
        _exit(right ? 0 : 10 + (int)st);
    }
    if (child < 0 || waitpid(child, &code, 0) != child)
        return "cannot be run";
    if (WIFSIGNALED(code))
        return WTERMSIG(code) == SIGALRM ? "hangs" : "dies";
    return WEXITSTATUS(code) == 0   ? NULL
           : WEXITSTATUS(code) < 10 ? "ends the process"
                                    : "is not refused as it should be";
}

static int nonsense_run(const struct nonsense *cases, size_t count, size_t functions)
{
    size_t failed = 0;
    nonsense_set_up();
    for (size_t i = 0; i < count; i++) {
        const char *fate = nonsense_fate(&cases[i]);
        if (!fate)
            continue;
        printf("FAILED: %s %s\n", cases[i].title, fate);
        failed++;
    }
    printf("nonsense: %zu functions, %zu calls, %zu failed\n", functions, count, failed);
    sebays_feed_free(good.outcome_feed);
    sebays_predictor_free(good.outcome_predictor);
    sebays_model_free(good.outcome_model);
    sebays_feed_free(good.feed);
    sebays_predictor_free(good.predictor);
    sebays_model_free(good.model);
    sebays_data_free(good.data);
    sebays_result_free(good.result);
    sebays_recipe_free(good.recipe);
    char directory[256], command[300];
    if (getcwd(directory, sizeof directory) &&
        strncmp(directory, "/tmp/sebays-", 12) == 0) {
        snprintf(command, sizeof command, "rm -rf '%s'", directory);
        if (system(command) != 0)
            return 1;
    }
    return failed > 0;
}

#endif
