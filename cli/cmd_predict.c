/* sebays predict - what a trained ensemble says about examples. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect.h"
#include "data.h"
#include "output.h"
#include "predict_options.h"
#include "predictions.h"
#include "progress.h"
#include "ranks.h"
#include "signals.h"

static const char name[] = "predict";
static const double patience = 2.0; /* seconds before progress is shown */

/* All that a prediction needs. */
struct work {
    const struct cli_args *args;
    struct sebays_model *model;
    struct sebays_predictor *predictor;
    struct sebays_feed *feed;
    struct sebays_ranks *ranks; /* NULL: this process alone */
    struct cli_collect collect; /* of several */
    struct cli_predictions predictions;
    struct cli_output output;
    struct cli_progress screen;
    bool shown; /* progress was */
};

static bool together(const struct work *w)
{
    return sebays_ranks_size(w->ranks) > 1;
}

/* Whether this process is the one that writes. */
static bool first(const struct work *w)
{
    return sebays_ranks_rank(w->ranks) == 0;
}

/* Nobody wants a bar for what is there at once. */
static bool show(void *context, const struct sebays_progress *report)
{
    struct work *w = context;
    if (report->seconds < patience && !w->shown)
        return cli_signals_caught() == 0;
    w->shown = true;
    return cli_progress_show(&w->screen, report);
}

static int cannot_write(const struct work *w, int why)
{
    if (why != EPIPE) /* who reads no more wants no sentence */
        fprintf(stderr, "sebays %s: cannot write %s: %s\n", name,
                w->args->out ? w->args->out : "to standard output", strerror(why));
    return CLI_FAILED;
}

/* What is predicted from, and what predicts, are not to be lost by a slip. */
static bool spares(const struct cli_args *args)
{
    char path[CLI_PATH];
    const char *which, *named[] = {args->input, args->operand};
    bool spared = !cli_output_is(args->out, named, 2, &which);
    for (size_t i = 0; spared && sebays_run_file(i); i++) {
        const char *file = path;
        int n = snprintf(path, CLI_PATH, "%s/%s", args->operand, sebays_run_file(i));
        spared = n <= 0 || n >= CLI_PATH || !cli_output_is(args->out, &file, 1, &which);
    }
    if (spared)
        return true;
    fprintf(stderr,
            "sebays %s: --out %s would replace %s; give the predictions another name\n",
            name, args->out,
            which == args->input ? "what is predicted from"
                                 : "a file of the model's run");
    return false;
}

static int no_memory(void)
{
    fprintf(stderr, "sebays %s: no memory for predictions\n", name);
    return CLI_FAILED;
}

/* Where predictions go. */
static int open_output(struct work *w)
{
    if (w->predictions.format == CLI_PREDICTIONS_NPY && !w->args->out &&
        sebays_feed_count(w->feed) == 0) {
        fprintf(stderr,
                "sebays %s: an array begins with its size, and that of a table is known "
                "at its end; name a file with --out\n",
                name);
        return CLI_USAGE;
    }
    if (!cli_predictions_init(&w->predictions))
        return no_memory();
    if (first(w) && !cli_output_open(&w->output, w->args->out))
        return cannot_write(w, errno);
    w->predictions.to = w->output.to;
    if (together(w) && !cli_collect_init(&w->collect, w->ranks, w->output.to))
        return no_memory();
    w->predictions.screen = first(w) && isatty(fileno(w->output.to));
    return CLI_OK;
}

static int open_all(struct work *w, struct sebays_predictor_options *o)
{
    char place[CLI_PATH];
    struct sebays_feed_options f = {
        .data_dir = cli_data_directory(w->args->data_dir, place) ? place : NULL,
        .keep = w->args->keep,
        .progress = show,
        .progress_context = w,
        .progress_seconds = 0.25,
        .ranks = w->ranks,
    };
    sebays_status st = sebays_model_open(w->args->operand, &w->model);
    w->predictions.model = w->model;
    if (st == SEBAYS_OK && !cli_predict_fit(w->args, &w->predictions))
        return CLI_USAGE;
    if (st == SEBAYS_OK)
        st = cli_predict_calibrate(&w->predictions);
    if (sebays_model_height(w->model) * sebays_model_width(w->model) == 1)
        o->max_batch = SEBAYS_FEED_BATCH; /* rows are small, and the more the faster */
    if (st == SEBAYS_OK)
        st = sebays_feed_open(w->model, w->args->input, &f, &w->feed);
    if (st == SEBAYS_OK)
        st = sebays_predictor_new(w->model, o, &w->predictor);
    return st == SEBAYS_OK ? open_output(w) : cli_ranks_fail(name, w->ranks, st);
}

static sebays_status predict_batch(struct work *w, size_t *got)
{
    struct cli_predictions *a = &w->predictions;
    return sebays_model_targets(w->model) > 0
               ? sebays_feed_outcomes(w->feed, w->predictor, SEBAYS_FEED_BATCH,
                                      &a->outcome, got)
               : sebays_feed_predict(w->feed, w->predictor, SEBAYS_FEED_BATCH, &a->out,
                                     got);
}

/* Of several processes, rank 0 writes what all have predicted. */
static int write_round(struct work *w, size_t got, bool *more)
{
    struct cli_predictions *a = &w->predictions;
    bool apart = false;
    *more = got > 0;
    if (!together(w)) {
        cli_predictions_write(a, w->feed, got);
        return CLI_OK;
    }
    sebays_status st = cli_collect_round(&w->collect, a, w->feed, got, more, &apart);
    if (!apart)
        return st == SEBAYS_OK ? CLI_OK : cli_ranks_fail(name, w->ranks, st);
    fprintf(stderr,
            "sebays %s: the processes read different rows: %s must be the same file for "
            "all\n",
            name, w->args->input);
    return CLI_FAILED;
}

/* One batch after the other, each out before the next. */
static int predict_all(struct work *w)
{
    struct cli_predictions *a = &w->predictions;
    uint64_t count = sebays_feed_count(w->feed);
    bool more = true;
    for (bool begun = false; more; begun = true) {
        size_t got = 0;
        sebays_status st = predict_batch(w, &got);
        if (st == SEBAYS_ECANCELED && cli_signals_caught())
            return 128 + cli_signals_caught();
        if (st != SEBAYS_OK) {
            cli_progress_end(&w->screen);
            return cli_ranks_fail(name, w->ranks, st);
        }
        a->files = begun ? a->files : sebays_feed_name(w->feed, 0) != NULL;
        if (!begun && first(w))
            cli_predictions_begin(a, w->feed, count);
        int code = write_round(w, got, &more);
        if (code != CLI_OK)
            return code;
        if (first(w) && (fflush(a->to) != 0 || ferror(a->to)))
            return cannot_write(w, errno);
    }
    if (!first(w))
        return CLI_OK;
    cli_predictions_end(a, count);
    return cli_output_commit(&w->output) ? CLI_OK : cannot_write(w, errno);
}

static void close_all(struct work *w)
{
    cli_output_abort(&w->output);
    cli_collect_fini(&w->collect);
    cli_predictions_fini(&w->predictions);
    sebays_feed_free(w->feed);
    sebays_predictor_free(w->predictor);
    sebays_model_free(w->model);
}

static int run_with(const struct cli_args *args, struct sebays_ranks *ranks)
{
    struct work w = {.args = args, .ranks = ranks};
    struct sebays_predictor_options o = {.threads = args->threads, .isa = args->isa};
    if (!cli_predict_read(args, &w.predictions, &o) || !spares(args))
        return CLI_USAGE;
    /* Rows and a bar on one screen would spoil each other. */
    bool quiet = args->quiet || !first(&w);
    cli_progress_init(&w.screen, quiet || (!args->out && isatty(STDOUT_FILENO)));
    (void)cli_signals_catch(); /* if that fails, Ctrl-C ends us without a word */
    int code = open_all(&w, &o);
    if (code == CLI_OK)
        code = predict_all(&w);
    cli_progress_end(&w.screen);
    if (code == CLI_OK && w.predictions.rejects && !quiet)
        fprintf(stderr, "%llu of %llu rejected: total entropy above %g nats\n",
                (unsigned long long)w.predictions.rejected,
                (unsigned long long)w.predictions.count, w.predictions.reject_above);
    const char *note = w.feed && !quiet ? sebays_feed_note(w.feed) : NULL;
    if (code == CLI_OK && args->samples && !quiet && !sebays_model_bayesian(w.model))
        fprintf(stderr,
                "sebays %s: warning: --samples %s changes nothing: the weights of this "
                "model are points\n",
                name, args->samples);
    if (code == CLI_OK && !quiet)
        cli_predict_warn(&w.predictions);
    if (code == CLI_OK && note)
        fprintf(stderr, "sebays %s: warning: %s\n", name, note);
    if (code > 128 && first(&w))
        fprintf(stderr, "sebays %s: stopped%s\n", name,
                args->out ? "; nothing was written" : "");
    close_all(&w);
    if (code > 128) /* the others may be waiting for rows */
        sebays_ranks_abort(ranks);
    return code;
}

static int run(const struct cli_args *args)
{
    struct sebays_ranks *ranks;
    int code = cli_ranks_join(name, args, &ranks);
    return code == CLI_OK ? cli_ranks_leave(name, args, ranks, run_with(args, ranks))
                          : code;
}

const struct cli_command cli_cmd_predict = {
    .name = "predict",
    .operand = "RUN|MODEL",
    .summary = "classes or outcomes of new examples, and how sure they are",
    .help =
        "usage: sebays predict RUN|MODEL --input FILE|DIR|- [--out FILE]\n"
        "                      [--format csv|json|npy] [--top K] [--probabilities]\n"
        "                      [--members] [--reject-above ENTROPY]\n"
        "                      [--samples N|draw|mean|noise] [--coverage SHARE]\n"
        "                      [--quantiles LEVEL,...] [--conformal] [--far]\n"
        "                      [--keep COLUMN,...] [--csv-safe] [--threads N]\n"
        "                      [--isa NAME] [--data-dir DIR] [--quiet]\n"
        "                      [--mpi[=NAME] [--mpi-limit SECONDS]]\n"
        "\n"
        "A row an example, in the order of the input: its class, the class's\n"
        "probability, total, aleatoric and epistemic uncertainty in nats, and how many\n"
        "members vote for the class. Of continuous targets: mean, standard deviation,\n"
        "its aleatoric and epistemic part, and the ends of an interval, in the target's\n"
        "units.\n"
        "\n"
        "Input is anything that data sets are read from, labelled or not, one PNG or\n"
        "JPEG file, or a table as text on standard input. Tables are read and answered\n"
        "up to 1024 rows at a time, those of a pipe as they arrive; their columns are\n"
        "found by name, or by place if there are no names.\n"
        "\n"
        "  --input FILE|DIR|-        what to predict; -: standard input\n"
        "  --out FILE                where rows go, all of them or none; default: "
        "standard\n"
        "                            output\n"
        "  --format csv              index,class,probability,total,aleatoric,epistemic,"
        "votes\n"
        "  --format json             one object a line (JSON Lines)\n"
        "  --format npy              the probabilities, a float32 array "
        "[examples][classes]\n"
        "  --top K                   the K most probable classes\n"
        "  --probabilities           those of all classes, too\n"
        "  --members                 and what each member says\n"
        "  --reject-above ENTROPY    no class where the total uncertainty is larger\n"
        "  --csv-safe                an apostrophe before names and kept texts that "
        "begin\n"
        "                            with = + - or @, which spreadsheets compute\n"
        "  --coverage SHARE          of the interval low .. high of a continuous "
        "target;\n"
        "                            default: 0.9\n"
        "  --quantiles LEVEL,...     those of a continuous target, too, such as "
        "0.05,0.5\n"
        "  --conformal               intervals mean +- factor x sd, or sets of classes, "
        "that\n"
        "                            hold their coverage whatever the model; it must "
        "have\n"
        "                            been trained with data.calibration\n"
        "  --far                     the share of training rows that are less unlike the "
        "rest\n"
        "                            than the example is; near 1: nothing like it was "
        "trained\n"
        "                            on, however sure the members are\n"
        "  --keep COLUMN,...         columns of the input table, by name or number, that "
        "are\n"
        "                            written beside the index: an id, say\n"
        "  --samples N|draw|mean|noise\n"
        "                            draws of the weights a member (draw: one), means "
        "of\n"
        "                            the posterior, or activation noise; default:\n"
        "                            the draw kept with each\n"
        "  --threads N               default: one a processor; any number gives the\n"
        "                            same bits\n"
        "  --isa NAME                instruction set of the kernels; default: the best\n"
        "  --data-dir DIR            where data sets are looked for by name\n"
        "  --quiet                   no progress, only errors\n"
        "  --mpi[=NAME]              answer with the other processes that mpirun or "
        "srun\n"
        "                            started, the same rows in the same order; "
        "docs/cluster.md\n"
        "  --mpi-limit SECONDS       end the job when processes wait longer for each\n"
        "                            other; default 600\n"
        "\n"
        "examples:\n"
        "  sebays predict runs/quickstart --input fashion-mnist --out "
        "predictions.csv\n"
        "  sebays predict runs/pets --input photos/ --top 3 --reject-above 0.5\n"
        "  zcat huge.csv.gz | sebays predict runs/iris --input - --format json\n",
    .flags = CLI_PREDICT | CLI_FILE | CLI_FORMAT | CLI_SAMPLES | CLI_DATA | CLI_THREAD |
             CLI_ISA | CLI_QUIET | CLI_MPI,
    .run = run,
};
