/* sebays - sparse Bayesian neural-network ensembles on CPUs: the whole public API.
 *
 * Functions that can fail return a sebays_status; sebays_message() then has one sentence,
 * kept per thread, that says what was found, what was expected and what to do. The library
 * never prints, exits, hooks signals or reads the environment.
 *
 * A handle that is made (load, open, new) is given back with the free of its kind; free
 * accepts NULL. After a failure the handle is NULL. A handle is used by one thread at a
 * time, but for a model: any number of threads may use one. Texts handed out as char **
 * are the caller's: sebays_text_free. All strings are UTF-8.
 *
 * Where a number of threads is asked for, 0 means one a processor: of those this process
 * may run on, and of those its container has a quota for. Helper threads are shared by
 * everything a process does with the library, sleep when there is nothing to do, and take
 * no signals. After fork() the child may use all handles that no other thread was using;
 * it starts helpers of its own. Where no thread can be started, the caller's does it all.
 *
 * NULL where something is needed is SEBAYS_EARG, or 0, NAN or NULL from a function that has
 * no status; NULL for options means zeroed ones.
 */
#ifndef SEBAYS_H
#define SEBAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What this header belongs to; sebays_version() tells what the program runs with. */
#define SEBAYS_VERSION_MAJOR 0
#define SEBAYS_VERSION_MINOR 1
#define SEBAYS_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* What is declared here is what the shared library exports. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef enum sebays_status {
    SEBAYS_OK = 0,
    SEBAYS_ENOMEM,    /* no memory */
    SEBAYS_EARG,      /* an argument, an option or a recipe says what cannot be */
    SEBAYS_EIO,       /* the operating system refused: open, read, write, ... */
    SEBAYS_EFORMAT,   /* a file is not what its format promises */
    SEBAYS_ENUMERIC,  /* a number that must be finite is not */
    SEBAYS_ECANCELED, /* a callback asked to stop */
    SEBAYS_EMISSING   /* this build or machine lacks an optional part */
} sebays_status;

/* "0.1.0" */
const char *sebays_version(void);

/* The sentence of this thread's last failure, "" if there was none; and a word for a
 * status. Neither is ever NULL. */
const char *sebays_message(void);
const char *sebays_status_name(sebays_status st);

void sebays_text_free(char *text);

/* ---- what a run tells while it works ---- */

struct sebays_progress {
    const char *phase;        /* "explore", "exploit", ...; valid during the call */
    uint64_t done, total;     /* images (or bytes) of the phase; total 0: unknown */
    uint32_t member, members; /* member counts from 0; members 0: does not apply */
    uint32_t epoch, epochs;   /* likewise */
    double rate;              /* of them a second; 0: unknown */
    double seconds;           /* since the phase began */
    double seconds_left;      /* negative: unknown */
    double loss, accuracy;    /* the latest, accuracy on validation; NAN: none yet */
    bool bytes;               /* done, total and rate are bytes */
    bool ended;               /* the last report of the phase */
};

enum sebays_level {
    SEBAYS_DEBUG,
    SEBAYS_INFO,
    SEBAYS_WARN /* it works, but probably not as wanted */
};

/* Returns false to stop the run at its next safe point. */
typedef bool sebays_progress_fn(void *context, const struct sebays_progress *progress);

/* line has no newline and is valid during the call. */
typedef void sebays_log_fn(void *context, enum sebays_level level, const char *line);

/* ---- recipes ---- */

/* What to train, on what, and how: options by name, "section.key". sebays_options_text
 * lists them all. */
struct sebays_recipe;

/* Every option at its default; or as a recipe file (INI) says. */
sebays_status sebays_recipe_new(struct sebays_recipe **out);
sebays_status sebays_recipe_load(const char *path, struct sebays_recipe **out);
void sebays_recipe_free(struct sebays_recipe *recipe);

/* Sets an option by its name; the last word counts. assign takes "section.key=value". */
sebays_status sebays_recipe_set(struct sebays_recipe *recipe, const char *name,
                                const char *value);
sebays_status sebays_recipe_assign(struct sebays_recipe *recipe, const char *assignment);

/* Completes the recipe with what its method implies and checks that all fits together;
 * again after later changes. Options that follow the data stay `auto` until it is opened. */
sebays_status sebays_recipe_check(struct sebays_recipe *recipe);

/* An option's value as text; SEBAYS_EARG when it has size bytes or more. */
sebays_status sebays_recipe_get(const struct sebays_recipe *recipe, const char *name,
                                char *out, size_t size);

/* The checked recipe as an INI file that names every option, with or without a line of
 * help above each. */
sebays_status sebays_recipe_text(const struct sebays_recipe *recipe, bool comments,
                                 char **out);

/* Whether two checked recipes give the same model; SEBAYS_EARG names the first option that
 * differs, with both values. Options that do not change results may differ. */
sebays_status sebays_recipe_same(const struct sebays_recipe *recipe,
                                 const struct sebays_recipe *other);

/* Every option: default, meaning, range. */
sebays_status sebays_options_text(char **out);

/* ---- several processes ---- */

/* The processes of a job that an MPI launcher started (mpirun, srun), as one of them sees it. */
struct sebays_ranks;

enum { SEBAYS_RANKS_SECONDS = 600 }; /* a limit that suits most */

/* Joins the job, once a process. mpi: "openmpi", "mpich", or the path of a plugin: the one
 * that the launcher belongs to, which is opened now; the library itself links no MPI. limit:
 * seconds that the processes may wait for each other at a time; after that a call fails
 * with SEBAYS_EIO instead of waiting for ever. */
sebays_status sebays_ranks_join(const char *mpi, double limit, struct sebays_ranks **out);

/* This process' number, from 0, and how many there are; the MPI's own name and version. */
uint32_t sebays_ranks_rank(const struct sebays_ranks *ranks);
uint32_t sebays_ranks_size(const struct sebays_ranks *ranks);
const char *sebays_ranks_mpi(const struct sebays_ranks *ranks);

/* Every process gives some bytes, all of them make the call; rank 0 has in *all those of
 * everybody, in the order of ranks, until the next call, and the others NULL. sizes: [size],
 * how many each gave, on all of them. */
sebays_status sebays_ranks_collect(struct sebays_ranks *ranks, const void *mine,
                                   size_t bytes, const void **all, uint64_t *sizes);

/* Leaves the job when it went well; all processes together. NULL is fine. */
void sebays_ranks_leave(struct sebays_ranks *ranks);

/* Ends all processes of the job, this one included, unless it is the only one: for one that
 * failed and has said why. The others may be waiting for it. NULL is fine. */
void sebays_ranks_abort(struct sebays_ranks *ranks);

/* ---- training ---- */

/* How a run is carried out; none of it changes results. Zeroed is a good start. */
struct sebays_run_options {
    const char *out;      /* run directory; needed for training */
    const char *isa;      /* kernels: "scalar", "avx2", "neon"; NULL: the best there is */
    bool resume;          /* go on where the run directory stopped */
    const char *data_dir; /* where data sets are looked for last, by name; may be NULL */
    sebays_progress_fn *progress; /* may be NULL, like log */
    void *progress_context;
    double progress_seconds; /* between two reports, at least */
    sebays_log_fn *log;
    void *log_context;
    const char *data_path; /* where the training set is; data.set is then only what it is
                            * called, and nothing is looked for. NULL: find data.set */
    bool force; /* resume although the data changed, if its shape and size did not */
    const struct sebays_ranks *ranks; /* who trains together; NULL: this process alone */
    bool one_member; /* train `member` alone, of a method that trains members apart;
                      * sebays_merge makes the run of all */
    uint32_t member; /* from 0 */
    /* of ltr's: the run that has its dense stage; NULL: train it */
    const char *dense_from;
};

/* Figures on the test set: accuracy, negative log-likelihood, expected calibration error,
 * Brier score. Of continuous targets only nll: sebays_result_figure has the others. */
struct sebays_scores {
    double accuracy, nll, ece, brier;
};

struct sebays_result;

/* Trains a checked recipe and writes recipe.ini, metrics.jsonl, checkpoints,
 * model.safetensors and results.json into the run directory. The thread count is the
 * recipe's train.threads, 0: one a processor. SEBAYS_ECANCELED when progress asked to
 * stop: a checkpoint was written, and resume goes on from there. */
sebays_status sebays_train(const struct sebays_recipe *recipe,
                           const struct sebays_run_options *options,
                           struct sebays_result **out);

/* Names of the files that a finished run directory can have, recipe.ini first; NULL: there are
 * not so many. */
const char *sebays_run_file(size_t i);

/* Makes the run of members that were trained alone (one_member), each into one of these
 * directories, in any order: the same model.safetensors, to the bit, as of a run that trained
 * them one after the other. options as for sebays_train. */
sebays_status sebays_merge(const struct sebays_recipe *recipe,
                           const struct sebays_run_options *options,
                           const char *const *runs, size_t count,
                           struct sebays_result **out);

/* Looks at the data of a checked recipe and fills in what follows from it, as training
 * would: options that were `auto` get values, and paths become absolute. */
sebays_status sebays_recipe_fit(struct sebays_recipe *recipe,
                                const struct sebays_run_options *options);

/* The result of a finished run, from its results.json. */
sebays_status sebays_result_load(const char *run, struct sebays_result **out);
void sebays_result_free(struct sebays_result *result);

uint32_t sebays_result_members(const struct sebays_result *result);
struct sebays_scores sebays_result_member(const struct sebays_result *result, uint32_t i);
struct sebays_scores sebays_result_ensemble(const struct sebays_result *result);
/* The figures of the run's task: acc, nll, ece, brier of classes; nll, rmse, mae, crps of
 * continuous targets. How many; the name of the i-th or NULL; whether more is better; its
 * value of a member, from 0, or of the ensemble, whose number is sebays_result_members. */
uint32_t sebays_result_figures(const struct sebays_result *result);
const char *sebays_result_figure_name(const struct sebays_result *result, uint32_t i);
bool sebays_result_figure_rises(const struct sebays_result *result, uint32_t i);
double sebays_result_figure(const struct sebays_result *result, uint32_t member,
                            uint32_t i);
double sebays_result_seconds(const struct sebays_result *result);
double sebays_result_images_per_second(const struct sebays_result *result);
double sebays_result_density(const struct sebays_result *result);

/* What a run would take, for people: weights by layer, arithmetic, memory, time. */
sebays_status sebays_plan(const struct sebays_recipe *recipe,
                          const struct sebays_run_options *options, char **out);

/* For ensembles of members[i] networks, the sparsity with which training them costs as much as
 * the recipe does, or comes nearest to it; cost[i]: what it costs then, as a multiple of one
 * dense run. All [count]. For methods whose members have a sparsity before they are trained:
 * sebays, bays, edst, dst, static. */
sebays_status sebays_sizes(const struct sebays_recipe *recipe,
                           const struct sebays_run_options *options,
                           const uint32_t *members, size_t count, double *sparsity,
                           double *cost);

/* What a step and the run would take if so many processes shared it: ranks [count], and a
 * network of so many bits a second and seconds of latency between them. A rank's share of the
 * batch is measured here, with the recipe's threads; what they exchange is counted. */
sebays_status sebays_forecast(const struct sebays_recipe *recipe,
                              const struct sebays_run_options *options,
                              const uint32_t *ranks, size_t count, double bits,
                              double latency, char **out);

/* ---- evaluation ---- */

/* What is evaluated besides the test set, and how. Zeroed is a good start. */
struct sebays_eval_options {
    const char *test; /* another test set, by path or name, whose figures stand apart in
                       * results.json (other_tests); NULL: the recipe's */
    const char *const
        *ood; /* [oods] "NAME=PATH", or a known name: sets unlike the test */
    size_t oods;
    const char *corrupt; /* a directory like CIFAR-10-C's, or "generate"; NULL: not */
    const char *attack;  /* "fgsm", "pgd" or "pgd-STEPS"; NULL: not */
    bool all; /* generated corruptions, FGSM, and the known --ood sets that are there */
    const char *samples;    /* "mean", "noise" or a number of draws of the weights a
                               member; NULL: as the recipe says */
    const char *const *set; /* [sets] "eval.key=value" */
    size_t sets;
    uint32_t threads; /* 0: one a processor; any number gives the same figures */
    const char *isa;  /* as in sebays_run_options, like the rest */
    const char *data_dir;
    sebays_progress_fn *progress;
    void *progress_context;
    double progress_seconds;
    sebays_log_fn *log;
    void *log_context;
    bool force; /* although the run's data is not what it was trained on, if classes and
                 * columns are */
};

/* Evaluates a finished run and merges the figures into its results.json, object
 * "evaluation"; *out is a table of them for people, with their definitions. */
sebays_status sebays_eval(const char *run, const struct sebays_eval_options *options,
                          char **out);

/* ---- data sets ---- */

enum sebays_split { SEBAYS_TRAIN, SEBAYS_TEST };

/* One split of a data set, in memory. */
struct sebays_data;

/* Zeroed is a good start. */
struct sebays_data_options {
    enum sebays_split split;
    const char *data_dir; /* where names are looked for after ./data; may be NULL */
    const char *label;    /* of a table: the label's column, by name or number from 1;
                           * NULL: the last */
    /* of a table: columns that are not used, by name or number, commas between; may be
     * NULL */
    const char *ignore;
    bool look; /* for sebays_data_info alone: columns that could not be trained on
                * (dates, texts that are all different) are listed, too */
    const struct sebays_data *like; /* a train split: classes and columns mean what they
                                     * mean there; may be NULL */
};

/* Opens a data set by its path, or by its name, which is looked for in ./data, in data_dir
 * and among Debian's data sets. The format is found out by looking. */
sebays_status sebays_data_open(const char *name_or_path,
                               const struct sebays_data_options *options,
                               struct sebays_data **out);
void sebays_data_free(struct sebays_data *data);

/* Format, shape, mean and deviation of each channel (of bytes as 0 .. 1) or feature,
 * classes and how many examples each has; for people or as a JSON object. */
sebays_status sebays_data_info(const struct sebays_data *data, bool json, char **out);

/* Writes a PNG file with the first images of each class, a row a class. SEBAYS_EARG for a
 * table, SEBAYS_EMISSING in a build without libpng. */
sebays_status sebays_data_sheet(const struct sebays_data *data, const char *png);

/* Writes x_train.npy, y_train.npy (for the test split x_test.npy, y_test.npy; for a set
 * that has no splits x.npy, y.npy) and, if classes have names, class_names.txt into a
 * directory: images [n][height][width][channels], tables [n][features], labels int64. */
sebays_status sebays_data_convert(const struct sebays_data *data, const char *dir);

/* Which split it is, and whether it has none: then it is all of the set. */
enum sebays_split sebays_data_split(const struct sebays_data *data);
bool sebays_data_whole(const struct sebays_data *data);

/* The data sets that are known by name: what they are, where each was found (as in
 * sebays_data_open), or how large it would be to fetch. */
sebays_status sebays_data_list(const char *data_dir, char **out);

struct sebays_fetch_options {
    const char *data_dir; /* where it goes, as data_dir/NAME; made if need be */
    const char *url; /* directory of the files, instead of the published one; or NULL */
    sebays_progress_fn *progress; /* may be NULL, like log */
    void *progress_context;
    double progress_seconds; /* between two reports, at least */
    sebays_log_fn *log;
    void *log_context;
};

/* Downloads a data set by its name, checks its SHA-256, unpacks it. *out is where it is
 * now; *there: it was there before. What was downloaded when this fails or is canceled is
 * kept, and the next call goes on from there. SEBAYS_EMISSING in a build without libcurl
 * or libcrypto. */
sebays_status sebays_data_fetch(const char *name,
                                const struct sebays_fetch_options *options, char **out,
                                bool *there);

/* Zeroed is a good start: all kinds, all severities. */
struct sebays_corrupt_options {
    const char *kinds;                      /* names with commas between; NULL or "all" */
    uint32_t first_severity, last_severity; /* 1 to 5; 0: 1 and 5 */
    uint64_t seed;
    uint32_t threads;  /* 0: one a processor; any number gives the same bytes */
    const char *out;   /* directory for the arrays; NULL: none */
    const char *sheet; /* PNG file for a contact sheet of the first image; NULL: none */
    sebays_progress_fn *progress; /* in images, a phase a kind; may be NULL */
    void *progress_context;
    double progress_seconds; /* between two reports, at least */
};

/* Corrupts the images as CIFAR-10-C does and writes them in its layout: out/KIND.npy is
 * [severities * n][height][width][channels] bytes, out/labels.npy has the labels as many
 * times. SEBAYS_EARG for a table or an unknown kind; SEBAYS_EMISSING for jpeg_compression
 * in a build without libjpeg, or a sheet without libpng. */
sebays_status sebays_data_corrupt(const struct sebays_data *data,
                                  const struct sebays_corrupt_options *options);

/* ---- model files ---- */

/* What a model file holds, for people: members, layers, density, signal-to-noise, sizes.
 * path may be a run directory. */
sebays_status sebays_inspect(const char *path, char **out);

/* A trained ensemble, as training left it in a file. It never changes: any number of
 * threads may use one, each with a predictor of its own. */
struct sebays_model;

/* Opens a model file, or that of a run directory. The file is mapped and checked
 * completely; replace it by renaming, never in place, while it is open. */
sebays_status sebays_model_open(const char *path, struct sebays_model **out);

/* After the last of its predictors. */
void sebays_model_free(struct sebays_model *model);

uint32_t sebays_model_members(const struct sebays_model *model);

/* Classes that it tells apart; 0: it predicts continuous targets, so many, with names. */
uint32_t sebays_model_classes(const struct sebays_model *model);
uint32_t sebays_model_targets(const struct sebays_model *model);
const char *sebays_model_target_name(const struct sebays_model *model, uint32_t i);

/* What the mixture of the members is drawn apart by, about its mean c: a target's Y becomes
 * c + width (Y - c) in all that is predicted of it but what single members say. 1 unless the
 * recipe said model.width = fitted. NAN: there is no such target. */
double sebays_model_target_width(const struct sebays_model *model, uint32_t target);

/* Whether the model can say how unlike its training rows an example is, which members that
 * agree need not show: far is the share of those rows that are less unlike the others than the
 * example is, by its input and by what the last layers of the members see of it. About a
 * twentieth of new rows like them has more than 0.95; what is close to 1 was not trained for.
 * Models that are older than this have nothing of it. */
bool sebays_model_has_far(const struct sebays_model *model);

/* Conformal prediction: the interval mean +- *factor * sd of a target (of classes, target 0:
 * the set of those whose probability is at least 1 - *factor) has the truth with at least
 * probability coverage, in (0, 1), whatever the model, for examples from where the calibration
 * part came from. Infinite where that is too small; SEBAYS_EARG: there was none, its size is 0. */
sebays_status sebays_model_conformal(const struct sebays_model *model, uint32_t target,
                                     double coverage, double *factor);
uint32_t sebays_model_calibrated(const struct sebays_model *model);

/* The name of class i, counted from 0. NULL: the model has no names, or not that many
 * classes. This text and those below belong to the model. */
const char *sebays_model_class_name(const struct sebays_model *model, uint32_t i);

/* The shape of an example: an image, or height and width 1 for a row of a table. That has a
 * number a column that is used, in the order of the training file: of a column of texts
 * which one it is, counted from 0 in sorted order (NAN, or any number that is none: a text
 * that training did not see), of a boolean 1 or 0, of a number that is missing NAN. */
uint32_t sebays_model_channels(const struct sebays_model *model);
uint32_t sebays_model_height(const struct sebays_model *model);
uint32_t sebays_model_width(const struct sebays_model *model);

const char *sebays_model_arch(const struct sebays_model *model);   /* "wrn-16-2" */
const char *sebays_model_method(const struct sebays_model *model); /* "sebays" */

/* Share of the weights that exist, over all members. */
double sebays_model_density(const struct sebays_model *model);

/* Whether weights, or the scales of rank1-bnn, have a posterior, so that the way of sampling
 * matters. */
bool sebays_model_bayesian(const struct sebays_model *model);

/* The recipe it was trained by (INI), as far as it changes results. */
const char *sebays_model_recipe(const struct sebays_model *model);

/* ---- prediction ---- */

/* How the members' posteriors are used. Models of points give the same with each. */
enum sebays_sampling {
    SEBAYS_DRAW,  /* the one draw of the weights that is kept with each member */
    SEBAYS_DRAWS, /* the mean over several draws, the kept one first */
    SEBAYS_MEAN,  /* the posterior mean of the weights */
    SEBAYS_NOISE /* activation noise, new for every example; draws of it if there are any */
};

/* Zeroed is a good start. None of it changes a prediction but sampling and draws. */
struct sebays_predictor_options {
    uint32_t max_batch; /* examples worked on at once, at most, by all threads; memory may
                         * grow with it. 0: 64. 1 is planned for the fastest prediction of a
                         * single one */
    uint32_t threads;   /* that work on one call; 0: one a processor */
    const char *isa;    /* kernels: "scalar", "avx2", "neon"; NULL: the best there is */
    enum sebays_sampling sampling;
    uint32_t draws; /* of SEBAYS_DRAWS and SEBAYS_NOISE; 0: 1 */
};

/* Reads a way of sampling as people write it, "20", "draw", "mean" or "noise", into sampling
 * and draws; SEBAYS_EARG. The command line, sebays_eval and sebays_export take these words,
 * and the names in results.json. */
sebays_status sebays_sampling_read(const char *samples,
                                   struct sebays_predictor_options *options);

/* Predicts with a model, on one thread of the caller's at a time. */
struct sebays_predictor;

/* options NULL: zeroed ones. Takes all the memory it will ever need; weights are kept once
 * a model, however many predictors there are. The model must outlive it. */
sebays_status sebays_predictor_new(const struct sebays_model *model,
                                   const struct sebays_predictor_options *options,
                                   struct sebays_predictor **out);
void sebays_predictor_free(struct sebays_predictor *predictor);

enum sebays_type {
    SEBAYS_F32, /* pixels from 0 to 1, or features as they were trained on */
    SEBAYS_U8   /* pixels from 0 to 255 */
};

enum sebays_layout {
    SEBAYS_NCHW,   /* [example][channel][row][column]; also [example][feature] */
    SEBAYS_NHWC,   /* [example][row][column][channel] */
    SEBAYS_STRIDED /* as stride says */
};

/* Examples in the caller's memory, as they are: the model's normalisation is applied
 * inside. */
struct sebays_examples {
    const void *data;
    size_t count;
    enum sebays_type type;
    enum sebays_layout layout;
    ptrdiff_t stride[4]; /* of SEBAYS_STRIDED: bytes from one example, channel, row and
                          * column to the next; may be negative */
    uint64_t first;      /* the number of the first one, for SEBAYS_NOISE: example
                          * first + i has noise of its own, whatever call it comes in */
};

/* Where predictions go; what is NULL is not wanted. Entropies are in nats. */
struct sebays_prediction {
    float *probabilities; /* [count][classes], the mean over members */
    float *members;       /* [members][count][classes] */
    float *total;         /* [count] entropy of the mean: how unsure, all in all */
    float *aleatoric; /* [count] mean of the members' entropies: what data leave open */
    float *epistemic; /* [count] the difference: how far members disagree */
    uint32_t *votes;  /* [count][classes] members whose most probable class it is */
    float *far;       /* [count] see sebays_model_has_far */
};

/* Any number of examples. Allocates nothing. The bits of an example's prediction do not
 * depend on the others, on max_batch, on threads, or on what other predictors do meanwhile.
 * After a failure the arrays hold nothing of use; SEBAYS_ENUMERIC names the example with a
 * number that is not finite, and which. Of rows of tables NAN is a number that is missing and
 * counts as training's mean (sebays_predictor_note tells of those that training had none of),
 * unless the model was trained with data.missing = error. */
sebays_status sebays_predict(struct sebays_predictor *predictor,
                             const struct sebays_examples *examples,
                             const struct sebays_prediction *out);

/* The same of continuous targets, in their units; sd^2 = aleatoric^2 + epistemic^2. The central
 * interval of coverage c is between the quantiles (1 - c) / 2 and (1 + c) / 2. */
struct sebays_outcomes {
    float *mean;          /* [count][targets], of the mixture of the members' Gaussians */
    float *sd;            /* [count][targets] its standard deviation */
    float *aleatoric;     /* [count][targets] what data leave open */
    float *epistemic;     /* [count][targets] how far members disagree */
    const double *levels; /* [level_count] of the quantiles, each in (0, 1) */
    size_t level_count;
    float *quantiles;        /* [count][targets][level_count] of the mixture */
    float *member_means;     /* [members][count][targets] */
    float *member_variances; /* [members][count][targets] */
    float *far;              /* [count] see sebays_model_has_far */
};

sebays_status sebays_predict_outcomes(struct sebays_predictor *predictor,
                                      const struct sebays_examples *examples,
                                      const struct sebays_outcomes *out);

/* A sentence about numbers that rows of the predictor's last call lacked where no row of
 * training did: how many, and where the first is. NULL: there were none, or the call failed.
 * Valid until the next call. */
const char *sebays_predictor_note(struct sebays_predictor *predictor);

/* ---- prediction of files ---- */

/* Examples for a model to predict, one after the other, from what sebays_data_open reads,
 * without labels or with labels that are not looked at. Images get the model's size and
 * colours. Tables as text are read row by row; named columns are found by their names. */
struct sebays_feed;

/* Zeroed is a good start. */
struct sebays_feed_options {
    const char *data_dir; /* where names are looked for after ./data; may be NULL */
    bool train;           /* of a data set that has both parts: not the test part */
    const char *keep; /* of a table as text: columns whose texts are handed on, by name
                       * or number from 1, commas between; may be NULL */
    sebays_progress_fn *progress; /* may be NULL; false ends with SEBAYS_ECANCELED */
    void *progress_context;
    double progress_seconds; /* between two reports, at least */
    /* who predicts together, each every size-th call's examples, all of the same most;
     * NULL: this process */
    const struct sebays_ranks *ranks;
};

/* name_or_path as in sebays_data_open, one PNG or JPEG file, or "-": a table as text on
 * standard input. options NULL: zeroed ones. The model must outlive the feed. */
sebays_status sebays_feed_open(const struct sebays_model *model, const char *name_or_path,
                               const struct sebays_feed_options *options,
                               struct sebays_feed **out);
void sebays_feed_free(struct sebays_feed *feed);

/* How many examples there are; 0: nobody knows before the end (tables as text). */
uint64_t sebays_feed_count(const struct sebays_feed *feed);

/* Examples that one call predicts at most, of large images fewer; of standard input it
 * predicts those that have arrived. */
#define SEBAYS_FEED_BATCH 1024

/* Predictions of the next *got examples, at most most; 0 at the end. Arrays go by their
 * number: members is [members][*got][classes]. The predictor is of the feed's model. The bits
 * are those of sebays_predict. A row that cannot be read is a failure once those before it
 * are predicted, and its sentence has line and column. */
sebays_status sebays_feed_predict(struct sebays_feed *feed,
                                  struct sebays_predictor *predictor, size_t most,
                                  const struct sebays_prediction *out, size_t *got);
sebays_status sebays_feed_outcomes(struct sebays_feed *feed,
                                   struct sebays_predictor *predictor, size_t most,
                                   const struct sebays_outcomes *out, size_t *got);

/* The number of the last call's first example, from 0; at the end, how many there are. */
uint64_t sebays_feed_first(const struct sebays_feed *feed);

/* The file that example i of the last call is, within a folder of images ("cat/1.png");
 * NULL: examples are no files. Valid until the next call. */
const char *sebays_feed_name(struct sebays_feed *feed, size_t i);

/* Columns that are kept: how many; the name of the k-th as it was asked for; its text of
 * example i of the last call, valid until the next one. NULL: there is none. */
uint32_t sebays_feed_keeps(const struct sebays_feed *feed);
const char *sebays_feed_keep_name(const struct sebays_feed *feed, uint32_t k);
const char *sebays_feed_keep_text(const struct sebays_feed *feed, size_t i, uint32_t k);

/* A sentence about values of rows that training did not know: texts that are none of a
 * category's (they count as none of them), and numbers that are missing where none was (the
 * mean counts). NULL: there were none so far. Valid until the next call. */
const char *sebays_feed_note(struct sebays_feed *feed);

/* ---- models for other programs ---- */

/* Zeroed is a good start, but for format and out. */
struct sebays_export_options {
    const char *format;  /* "safetensors-dense", "npz" or "onnx" */
    const char *out;     /* the file to write */
    const char *samples; /* "draw": the weights SEBAYS_DRAW predicts with, to the bit;
                          * "mean": the posterior means; NULL: "draw" */
    uint32_t first_member, members; /* which; members 0: all from the first on */
    bool sigma;                     /* the posterior's deviations, too */
    sebays_progress_fn *progress;   /* in bytes; may be NULL */
    void *progress_context;
    double progress_seconds; /* between two reports, at least */
};

/* Writes the members of a model file, or of a run directory's, as dense arrays in
 * PyTorch's layouts, 0 where no weight exists, with what is needed to use them; "onnx"
 * has the computation, too. docs/interop.md has names and examples. Memory: the largest
 * layer, twice. The file is there when it is whole. */
sebays_status sebays_export(const char *path,
                            const struct sebays_export_options *options);

/* ---- reports ---- */

/* The paper's table for some run directories: method, members, sparsity, figures, cost,
 * best ones marked, and what the paper reports where a recipe is one of its rows. Runs that
 * differ in their seed only are one row. format: "text", "markdown", "latex", "csv",
 * "json". */
sebays_status sebays_compare(const char *const *runs, size_t count, const char *format,
                             char **out);

/* Writes one HTML file about some run directories that needs no network: figures and what
 * they mean, charts, examples, how to repeat the runs. Runs may still be training. html NULL:
 * writes nothing and only says whether there can be a page. */
sebays_status sebays_report(const char *const *runs, size_t count, const char *html);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
