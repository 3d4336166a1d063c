/* sebays - sparse Bayesian neural-network ensembles on CPUs: the whole public API.
 *
 * Functions that can fail return a sebays_status; sebays_message() then has one sentence,
 * kept per thread, that says what was found, what was expected and what to do. The library
 * never prints, exits, hooks signals or reads the environment, and has no global state.
 *
 * A handle that is made (load, new) is given back with the free of its kind; free accepts
 * NULL. A handle is used by one thread at a time. Texts handed out as char ** are the
 * caller's: sebays_text_free. All strings are UTF-8.
 */
#ifndef SEBAYS_H
#define SEBAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
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
 * again after later changes. */
sebays_status sebays_recipe_check(struct sebays_recipe *recipe);

/* An option's value as text; SEBAYS_EARG when it has size bytes or more. */
sebays_status sebays_recipe_get(const struct sebays_recipe *recipe, const char *name,
                                char *out, size_t size);

/* The checked recipe as an INI file that names every option, with or without a line of
 * help above each. */
sebays_status sebays_recipe_text(const struct sebays_recipe *recipe, bool comments,
                                 char **out);

/* Every option: default, meaning, range. */
sebays_status sebays_options_text(char **out);

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
};

/* Figures on the test set: accuracy, negative log-likelihood, expected calibration error,
 * Brier score. */
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
void sebays_result_free(struct sebays_result *result);

uint32_t sebays_result_members(const struct sebays_result *result);
struct sebays_scores sebays_result_member(const struct sebays_result *result, uint32_t i);
struct sebays_scores sebays_result_ensemble(const struct sebays_result *result);
double sebays_result_seconds(const struct sebays_result *result);
double sebays_result_images_per_second(const struct sebays_result *result);
double sebays_result_density(const struct sebays_result *result);

/* What a run would take, for people: weights by layer, arithmetic, memory, time. */
sebays_status sebays_plan(const struct sebays_recipe *recipe,
                          const struct sebays_run_options *options, char **out);

/* ---- data sets ---- */

enum sebays_split { SEBAYS_TRAIN, SEBAYS_TEST };

/* One split of a data set, in memory. */
struct sebays_data;

/* Zeroed is a good start. */
struct sebays_data_options {
    enum sebays_split split;
    const char *data_dir; /* where names are looked for after ./data; may be NULL */
    const char *label;    /* of a table: the label's column, by name or number from 1;
                             NULL: the last */
    const struct sebays_data *like; /* a train split: classes and columns mean what they
                                       mean there; may be NULL */
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

#ifdef __cplusplus
}
#endif

#endif
