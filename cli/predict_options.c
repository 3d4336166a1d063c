/* predict_options - see predict_options.h. */
#include "predict_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char name[] = "predict";

/* A whole number of at most 7 digits, not 0. */
static bool read_number(const char *text, uint32_t *out)
{
    size_t n = strlen(text);
    if (n == 0 || n > 7 || strspn(text, "0123456789") != n)
        return false;
    *out = (uint32_t)strtoul(text, NULL, 10);
    return *out > 0;
}

static bool read_format(const char *text, enum cli_predictions_format *out)
{
    static const char *const words[] = {"csv", "json", "npy"};
    for (int i = 0; i < 3; i++)
        if (!text || strcmp(text, words[i]) == 0) {
            *out = (enum cli_predictions_format)i;
            return true;
        }
    return false;
}

static bool read_entropy(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end > text && *end == '\0' && isfinite(*out) && *out >= 0;
}

bool cli_predict_read(const struct cli_args *args, struct cli_predictions *a,
                      struct sebays_predictor_options *o)
{
    a->probabilities = args->probabilities;
    a->csv_safe = args->csv_safe;
    a->members = args->members;
    a->far = args->far;
    a->rejects = args->reject_above != NULL;
    if (!args->input)
        fprintf(stderr,
                "sebays %s: say what to predict with --input FILE, --input DIR, or "
                "--input - for standard input\n",
                name);
    else if (!read_format(args->format, &a->format))
        fprintf(stderr, "sebays %s: --format %s: want csv, json or npy\n", name,
                args->format);
    else if (args->samples && sebays_sampling_read(args->samples, o) != SEBAYS_OK)
        fprintf(stderr, "sebays %s: --%s\n", name, sebays_message());
    else if (a->rejects && !read_entropy(args->reject_above, &a->reject_above))
        fprintf(stderr, "sebays %s: --reject-above %s: want nats, a number from 0\n",
                name, args->reject_above);
    else if (a->format == CLI_PREDICTIONS_NPY &&
             (args->top || a->members || a->rejects || a->probabilities || args->keep ||
              a->far))
        fprintf(stderr,
                "sebays %s: --format npy is the array of probabilities; leave --top, "
                "--members, --probabilities, --reject-above, --far and --keep out\n",
                name);
    else
        return true;
    return false;
}

/* ---- what needs the model ---- */

static bool read_top(const struct cli_args *args, struct cli_predictions *a)
{
    uint32_t classes = sebays_model_classes(a->model);
    a->top = 1;
    if (!args->top || (read_number(args->top, &a->top) && a->top <= classes))
        return true;
    fprintf(stderr,
            "sebays %s: --top %s: want a number from 1 to %u, the classes of the model\n",
            name, args->top, classes);
    return false;
}

/* Shares in (0, 1), commas between. */
static bool read_shares(const char *text, double *out, size_t most, size_t *count)
{
    char *end;
    for (*count = 0; *text && *count < most; text = *end == ',' ? end + 1 : end) {
        double x = strtod(text, &end);
        if (end == text || (*end && *end != ',') || !(x > 0 && x < 1))
            return false;
        out[(*count)++] = x;
    }
    return *text == '\0' && *count > 0;
}

/* What is only for classes, or only for continuous targets. */
static const char *misplaced(const struct cli_args *args, bool targets)
{
    if (targets)
        return args->top             ? "--top"
               : args->probabilities ? "--probabilities"
               : args->reject_above  ? "--reject-above"
                                     : NULL;
    return args->quantiles                      ? "--quantiles"
           : args->coverage && !args->conformal ? "--coverage without --conformal"
                                                : NULL;
}

static bool read_coverage(const struct cli_args *args, struct cli_predictions *a)
{
    bool targets = sebays_model_targets(a->model) > 0;
    const char *wrong = misplaced(args, targets);
    size_t n = 1;
    a->coverage = 0.9;
    a->conformal = args->conformal;
    if (wrong)
        fprintf(stderr, "sebays %s: %s is for models of %s; this one has %s\n", name,
                wrong, targets ? "classes" : "continuous targets",
                targets ? "continuous targets" : "classes");
    else if (args->coverage && !read_shares(args->coverage, &a->coverage, 1, &n))
        fprintf(stderr, "sebays %s: --coverage %s: want a share in (0, 1), such as 0.9\n",
                name, args->coverage);
    else if (args->quantiles && !read_shares(args->quantiles, a->quantiles, CLI_QUANTILES,
                                             &a->quantile_count))
        fprintf(stderr,
                "sebays %s: --quantiles %s: want up to %d levels in (0, 1), commas "
                "between\n",
                name, args->quantiles, CLI_QUANTILES);
    else
        return true;
    return false;
}

bool cli_predict_fit(const struct cli_args *args, struct cli_predictions *a)
{
    return read_coverage(args, a) && read_top(args, a);
}

/* The ceil((n + 1) c)-th smallest of n scores must be one of them. */
void cli_predict_warn(const struct cli_predictions *a)
{
    uint32_t n = sebays_model_calibrated(a->model);
    if (!a->factor || !isinf(a->factor[0]))
        return;
    fprintf(
        stderr,
        "sebays %s: warning: the model was calibrated with %u row%s, and --coverage %g "
        "needs %.0f: every %s; ask for a coverage of at most %.3g, or train with more "
        "data.calibration\n",
        name, n, n == 1 ? "" : "s", a->coverage,
        ceil(a->coverage / (1 - a->coverage) - 1e-9),
        sebays_model_targets(a->model) > 0 ? "interval is infinite"
                                           : "set has all classes",
        floor(1000.0 * n / (n + 1.0)) / 1000);
}

sebays_status cli_predict_calibrate(struct cli_predictions *a)
{
    uint32_t targets = sebays_model_targets(a->model);
    sebays_status st = SEBAYS_OK;
    if (!a->conformal)
        return SEBAYS_OK;
    a->factor = calloc(targets > 0 ? targets : 1, sizeof *a->factor);
    if (!a->factor)
        return SEBAYS_ENOMEM;
    for (uint32_t t = 0; t < (targets > 0 ? targets : 1) && st == SEBAYS_OK; t++)
        st = sebays_model_conformal(a->model, t, a->coverage, &a->factor[t]);
    return st;
}
