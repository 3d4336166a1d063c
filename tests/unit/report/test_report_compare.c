/* report/compare: rows, figures and marks; the exact text of every format. */
#include "report/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "refused.h"
#include "report_runs.h"

/* Two seeds of one recipe, another recipe, one of the paper's rows on another data set. */
enum { RUNS = 5 };

static void make_runs(struct sb_report_run run[RUNS])
{
    run[0] =
        runs_make("a1", "cifar10", "wrn-28-10", "sebays", 3, 0.8,
                  RUNS_RESULTS(0.962, 0.13, 0.01, 50, RUNS_CORRUPTED(0.77, 0.8, 0.09)));
    run[1] =
        runs_make("b", "cifar10", "wrn-28-10", "dnn", 1, 0,
                  RUNS_RESULTS(0.961, 0.15, 0.02, 100, RUNS_CORRUPTED(0.76, 1, 0.15)));
    run[2] =
        runs_make("a2", "cifar10", "wrn-28-10", "sebays", 3, 0.8,
                  RUNS_RESULTS(0.964, 0.12, 0.01, 50, RUNS_CORRUPTED(0.79, 0.8, 0.07)));
    run[3] = runs_make("c", "my_data|\x1b", "mlp-10", "bays", 2, 0.5,
                       RUNS_RESULTS(0.5, 0.693147, null, 20, ""));
    run[4] = runs_make("d", "cifar10", "lenet", "edst", 3, 0.8,
                       RUNS_RESULTS(0.963, 0.2, 0.03, 12.5, ""));
}

static void free_runs(struct sb_report_run run[RUNS])
{
    for (int i = 0; i < RUNS; i++)
        sb_report_run_fini(&run[i]);
}

static void assert_format(enum sb_compare_format format, const char *want)
{
    struct sb_report_run run[RUNS];
    struct sb_compare c;
    char *text;
    make_runs(run);
    assert_int_equal(sb_compare_init(&c, run, RUNS), SB_OK);
    assert_int_equal(sb_compare_write(&c, format, &text), SB_OK);
    assert_string_equal(text, want);
    sb_free(text);
    sb_compare_fini(&c);
    free_runs(run);
}

static void as_text(void **state)
{
    (void)state;
    assert_format(
        SB_COMPARE_TEXT,
        "cifar10\n"
        "\n"
        "method  arch       M    S  seeds            acc               nll             "
        "  ece           cacc              cnll              cece         cost  time   "
        "                             paper\n"
        "dnn     wrn-28-10  1    0      1          96.10            0.1500            0"
        ".0200          76.00            1.0000            0.1500         1.00  90 s  9"
        "6.0 0.159 0.023 / 76.1 1.050 0.153\n"
        "sebays  wrn-28-10  3  0.8      2  *96.30 ± 0.14  *0.1250 ± 0.0071  *0.0100 ± 0"
        ".0000  *78.00 ± 1.41  *0.8000 ± 0.0000  *0.0800 ± 0.0141  0.50 ± 0.00  90 s  9"
        "6.2 0.129 0.009 / 77.7 0.842 0.092\n"
        "edst    lenet      3  0.8      1         *96.30            0.2000            0"
        ".0300              -                 -                 -         0.12  90 s   "
        "                                 -\n"
        "\n"
        "my_data|?\n"
        "\n"
        "method  arch    M    S    acc     nll  cost  time\n"
        "bays    mlp-10  2  0.5  50.00  0.6931  0.20  90 s\n"
        "\n"
        "* best of its column; acc and cacc in %; S is the share of absent weights\n"
        "mean ± standard deviation over seeds\n"
        "cacc, cnll, cece: all corrupted test images pooled\n"
        "cost: FLOPs of training, in dense networks explored and exploited once\n"
        "paper: acc nll ece / cacc cnll cece / cost, as reported\n");
}

static void as_markdown(void **state)
{
    (void)state;
    struct sb_report_run run[2];
    struct sb_compare c;
    char *text;
    run[0] = runs_make("a", "my_data|<b>", "lenet", "dnn", 1, 0,
                       RUNS_RESULTS(0.9, 0.4, 0.1, 100, ""));
    run[1] = runs_make("b", "my_data|<b>", "lenet", "dst", 2, 0.9,
                       RUNS_RESULTS(0.8, 0.3, 0.1, 10, ""));
    assert_int_equal(sb_compare_init(&c, run, 2), SB_OK);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_MARKDOWN, &text), SB_OK);
    assert_string_equal(
        text, "### my\\_data\\|&lt;b>\n"
              "\n"
              "| method | arch  | M |   S |       acc |        nll |        ece | cost | "
              "time |\n"
              "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
              "| dnn    | lenet | 1 |   0 | **90.00** |     0.4000 | **0.1000** | 1.00 | "
              "90 s |\n"
              "| dst    | lenet | 2 | 0.9 |     80.00 | **0.3000** | **0.1000** | 0.10 | "
              "90 s |\n"
              "\n"
              "acc in %; S is the share of absent weights\n"
              "cost: FLOPs of training, in dense networks explored and exploited once\n");
    sb_free(text);
    sb_compare_fini(&c);
    sb_report_run_fini(&run[0]);
    sb_report_run_fini(&run[1]);
}

/* Rows of the paper that take several runs: the paper's figures, and ours. */
static void training_runs_have_a_column(void **state)
{
    (void)state;
    struct sb_report_run run[3];
    struct sb_compare c;
    char *text;
    run[0] = runs_make("a", "cifar100", "wrn-28-10", "ltr", 3, 0.8,
                       RUNS_RESULTS(0.82, 0.7, 0.04, 175, ", \"training_runs\": 4"));
    run[1] = runs_make("b", "cifar100", "wrn-28-10", "ltr", 3, 0.8,
                       RUNS_RESULTS(0.82, 0.7, 0.04, 175, ", \"training_runs\": 4"));
    run[2] = runs_make("c", "cifar100", "wrn-28-10", "pf", 3, 0.8,
                       RUNS_RESULTS(0.83, 0.6, 0.02, 375, ", \"training_runs\": 6"));
    assert_int_equal(sb_compare_init(&c, run, 3), SB_OK);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_TEXT, &text), SB_OK);
    assert_non_null(strstr(text, "cost  runs  time"));
    assert_non_null(strstr(text, "1.75 ± 0.00     4  90 s  82.2 0.703 0.045 / 53.2"));
    assert_non_null(strstr(text, "3.75     6  90 s  83.2 0.639 0.020 / 54.2"));
    assert_non_null(
        strstr(text, "\nruns: how often a curve of the learning rate was begun anew\n"));
    sb_free(text);
    sb_compare_fini(&c);
    for (int i = 0; i < 3; i++)
        sb_report_run_fini(&run[i]);
}

/* Runs that a table would not tell apart have their paths before them. */
static void rows_that_look_alike_are_named(void **state)
{
    (void)state;
    struct sb_report_run run[2];
    struct sb_compare c;
    char *text;
    run[0] = runs_make("sweep/lr=0.1", "d", "lenet", "dnn", 1, 0,
                       RUNS_RESULTS(0.9, 0.4, 0.1, 100, ""));
    run[1] = runs_make("sweep/lr=0.02", "d", "lenet", "dnn", 1, 0,
                       RUNS_RESULTS(0.8, 0.5, 0.2, 100, ""));
    run[1].recipe.group[0] = 'o'; /* another recipe, in what no column shows */
    assert_int_equal(sb_compare_init(&c, run, 2), SB_OK);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_TEXT, &text), SB_OK);
    assert_non_null(strstr(text, "\nrun            method  arch   M  S     acc  "));
    assert_non_null(strstr(text, "\nsweep/lr=0.1   dnn     lenet  1  0  *90.00  "));
    assert_non_null(strstr(text, "\nsweep/lr=0.02  dnn     lenet  1  0   80.00  "));
    sb_free(text);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_MARKDOWN, &text), SB_OK);
    assert_non_null(strstr(text, "\n| --- | --- | --- | ---: | ---: | ---: |"));
    sb_free(text);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_LATEX, &text), SB_OK);
    assert_non_null(strstr(text, "{tabular}{lllrrr"));
    sb_free(text);
    sb_compare_fini(&c);
    for (int i = 0; i < 2; i++)
        sb_report_run_fini(&run[i]);
}

static void as_latex(void **state)
{
    (void)state;
    assert_format(
        SB_COMPARE_LATEX,
        "% cifar10\n"
        "\\begin{tabular}{llrrrrrrrrrrrr}\n"
        "\\hline\n"
        "method & arch      & M &   S & seeds &                       acc &            "
        "              nll &                          ece &                      cacc &"
        "                         cnll &                         cece &            cost"
        " & time &                               paper \\\\\n"
        "\\hline\n"
        "dnn    & wrn-28-10 & 1 &   0 &     1 &                     96.10 &            "
        "           0.1500 &                       0.0200 &                     76.00 &"
        "                       1.0000 &                       0.1500 &            1.00"
        " & 90 s & 96.0 0.159 0.023 / 76.1 1.050 0.153 \\\\\n"
        "sebays & wrn-28-10 & 3 & 0.8 &     2 & \\textbf{96.30 $\\pm$ 0.14} & \\textbf{"
        "0.1250 $\\pm$ 0.0071} & \\textbf{0.0100 $\\pm$ 0.0000} & \\textbf{78.00 $\\pm$"
        " 1.41} & \\textbf{0.8000 $\\pm$ 0.0000} & \\textbf{0.0800 $\\pm$ 0.0141} & 0.5"
        "0 $\\pm$ 0.00 & 90 s & 96.2 0.129 0.009 / 77.7 0.842 0.092 \\\\\n"
        "edst   & lenet     & 3 & 0.8 &     1 &            \\textbf{96.30} &           "
        "            0.2000 &                       0.0300 &                         - "
        "&                            - &                            - &            0.1"
        "2 & 90 s &                                   - \\\\\n"
        "\\hline\n"
        "\\end{tabular}\n"
        "\n"
        "% my\\_data|?\n"
        "\\begin{tabular}{llrrrrrr}\n"
        "\\hline\n"
        "method & arch   & M &   S &   acc &    nll & cost & time \\\\\n"
        "\\hline\n"
        "bays   & mlp-10 & 2 & 0.5 & 50.00 & 0.6931 & 0.20 & 90 s \\\\\n"
        "\\hline\n"
        "\\end{tabular}\n"
        "\n"
        "% acc and cacc in %; S is the share of absent weights\n"
        "% mean ± standard deviation over seeds\n"
        "% cacc, cnll, cece: all corrupted test images pooled\n"
        "% cost: FLOPs of training, in dense networks explored and exploited once\n"
        "% paper: acc nll ece / cacc cnll cece / cost, as reported\n");
}

static void as_csv(void **state)
{
    (void)state;
    assert_format(
        SB_COMPARE_CSV,
        "data,arch,method,members,sparsity,runs,acc,acc_sd,nll,nll_sd,ece,ece_sd,cacc,"
        "cacc_sd,cnll,cnll_sd,cece,cece_sd,cost,cost_sd,dense_run_epochs,"
        "dense_run_epochs_sd,training_runs,training_runs_sd,"
        "seconds,seconds_sd,rmse,rmse_sd,mae,mae_sd,crps,crps_sd,paper_acc,paper_nll,"
        "paper_ece,paper_cacc,paper_cnll,paper_"
        "cece,paper_cost,run\r\n"
        "\"cifar10\",\"wrn-28-10\",dnn,1,0,1,0.961,,0.15,,0.02,,0.76,,1,,0.15,,1,,,,,,90,"
        ",,"
        ",,,,,"
        "0.96,0.159,0.023,0.761,1.05,0.153,,\"b\"\r\n"
        "\"cifar10\",\"wrn-28-10\",sebays,3,0.8,2,0.963,0.001414213562,0.125,"
        "0.007071067812,0.01,0,0.78,0.01414213562,0.8,0,0.08,0.01414213562,0.5,0,,,,,90,"
        "0,,,,,,,"
        "0.962,0.129,0.009,0.777,0.842,0.092,,\"a1\"\r\n"
        "\"my_data|\x1b\",\"mlp-10\",bays,2,0.5,1,0.5,,0.693147,,,,,,,,,,0.2,,,,,,90,,,,,"
        ",,"
        ",,,,,,,"
        ",\"c\"\r\n"
        "\"cifar10\",\"lenet\",edst,3,0.8,1,0.963,,0.2,,0.03,,,,,,,,0.125,,,,,,90,,,,,,,,"
        ",,,,,,,\"d\"\r\n");
}

static void as_json(void **state)
{
    (void)state;
    struct sb_report_run run = runs_make("c", "caf\xe9 \"x\"", "mlp-10", "bays", 2, 0.5,
                                         RUNS_RESULTS(0.5, 0.75, null, 25, ""));
    struct sb_compare c;
    char *text;
    assert_int_equal(sb_compare_init(&c, &run, 1), SB_OK);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_JSON, &text), SB_OK);
#define NOTHING                                                                          \
    "{\n        \"best\": false,\n        \"mean\": null,\n        \"sd\": null\n      " \
    "}"
#define MEAN(x)                                                                          \
    "{\n        \"best\": false,\n        \"mean\": " #x                                 \
    ",\n        \"sd\": null\n      }"
    assert_string_equal(
        text,
        "[\n  {\n    \"arch\": \"mlp-10\",\n    \"data\": \"caf? "
        "\\\"x\\\"\",\n    \"figures\": {\n"
        "      \"acc\": " MEAN(
            0.5) ",\n"
                 "      \"cacc\": " NOTHING ",\n"
                 "      \"cece\": " NOTHING ",\n"
                 "      \"cnll\": " NOTHING ",\n"
                 "      \"cost\": " MEAN(
                     0.25) ",\n"
                           "      \"crps\": " NOTHING ",\n"
                           "      \"dense_run_epochs\": " NOTHING ",\n"
                           "      \"ece\": " NOTHING ",\n"
                           "      \"mae\": " NOTHING ",\n"
                           "      \"nll\": " MEAN(
                               0.75) ",\n"
                                     "      \"rmse\": " NOTHING ",\n"
                                     "      \"seconds\": " MEAN(
                                         90.0) ",\n"
                                               "      \"training_runs\": " NOTHING "\n"
                                               "    },\n    \"members\": 2,\n    "
                                               "\"method\": \"bays\",\n"
                                               "    \"paper\": null,\n    \"run\": "
                                               "\"c\",\n"
                                               "    \"runs\": 1,\n "
                                               "   \"sparsity\": 0.5\n"
                                               "  }\n]\n");
    sb_free(text);
    sb_compare_fini(&c);
    sb_report_run_fini(&run);
}

/* Rows of the paper in its order, single members among them, before all others. */
static void rows_are_in_the_papers_order(void **state)
{
    (void)state;
#define MEMBER(acc, nll) "{\"acc\": " #acc ", \"nll\": " #nll ", \"ece\": 0.02}"
#define ENSEMBLE(acc, members)                                                           \
    "{\"method\": \"m\", \"arch\": \"a\", \"density\": 0.2, \"members\": [" members      \
    "], \"ensemble\": {\"acc\": " #acc ", \"nll\": 0.1, \"ece\": 0.01}, "                \
    "\"train_seconds\": 90, \"images_per_second\": 10, \"training_flops\": 60, "         \
    "\"dense_run_flops\": 100, \"seed\": 1, \"epochs\": 3, \"ece_bins\": 15}"
    static const char *const want[] = {"sebays single", "mimo", "edst",
                                       "sebays",        "pf",   "dnn"};
    static const double cost[] = {NAN, 1.0, 0.61, NAN, 3.75, NAN};
    const char *three = ENSEMBLE(0.96, MEMBER(0.95, 0.2) ", " MEMBER(
                                           0.955, 0.3) ", " MEMBER(0.955, 0.25)),
               *none = ENSEMBLE(0.95, "");
    struct sb_report_run run[] = {
        runs_make("f", "cifar10", "lenet", "dnn", 1, 0, none),
        runs_make("e", "cifar10", "wrn-28-10", "pf", 3, 0.8, three),
        runs_make("a", "cifar10", "wrn-28-10", "sebays", 3, 0.8, three),
        runs_make("b", "cifar10", "wrn-28-10", "edst", 3, 0.8, none),
        runs_make("c", "cifar10", "wrn-28-10", "mimo", 3, 0, none),
    };
    struct sb_compare c;
    char method[SB_CONFIG_NAME + 8], *text;
    assert_int_equal(sb_compare_init(&c, run, 5), SB_OK);
    assert_int_equal(c.rows, 6);
    for (size_t i = 0; i < c.rows; i++) {
        assert_string_equal(sb_compare_method(&c.row[i], method), want[i]);
        double paper = c.row[i].paper ? sb_paper_cost(c.row[i].paper) : NAN;
        assert_true(paper == cost[i] || (isnan(paper) && isnan(cost[i])));
    }
    const struct sb_compare_row *single = &c.row[0];
    assert_int_equal(sb_compare_members(single), 1);
    assert_int_equal(sb_compare_members(&c.row[3]), 3);
    assert_true(single->mean[SB_FIGURE_ACC] == 0.955);
    assert_true(single->mean[SB_FIGURE_NLL] == 0.25);
    assert_true(isnan(single->mean[SB_FIGURE_CACC]) &&
                isnan(single->mean[SB_FIGURE_COST]));
    assert_true(single->paper->members == 1 && single->paper->acc == 0.958);
    assert_true(c.row[3].mean[SB_FIGURE_COST] == 0.6);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_JSON, &text), SB_OK);
    assert_non_null(
        strstr(text, "\"cnll\": 0.80100000000000005,\n      \"cost\": 3.75,"));
    sb_free(text);
    sb_compare_fini(&c);
    for (int i = 0; i < 5; i++)
        sb_report_run_fini(&run[i]);
}

/* Two tables with two rows each: the best of each, and nothing of a table of one row. */
static void every_table_has_its_best(void **state)
{
    (void)state;
    struct sb_report_run run[] = {
        runs_make("a", "cifar10", "lenet", "dnn", 1, 0,
                  RUNS_RESULTS(0.9, 0.2, 0.02, 100, "")),
        runs_make("b", "cifar10", "lenet", "bays", 3, 0.8,
                  RUNS_RESULTS(0.8, 0.1, 0.02, 50, "")),
        runs_make("c", "cifar100", "lenet", "dnn", 1, 0,
                  RUNS_RESULTS(0.6, 2, 0.02, 100, "")),
        runs_make("d", "cifar100", "lenet", "bays", 3, 0.8,
                  RUNS_RESULTS(0.7, 3, 0.02, 50, "")),
        runs_make("e", "svhn", "lenet", "dnn", 1, 0,
                  RUNS_RESULTS(0.99, 0.01, 0.001, 100, "")),
    };
    static const bool acc[] = {true, false, false, true, false},
                      nll[] = {false, true, true, false, false};
    struct sb_compare c;
    assert_int_equal(sb_compare_init(&c, run, 5), SB_OK);
    assert_int_equal(c.rows, 5);
    for (size_t i = 0; i < c.rows; i++) {
        assert_int_equal(c.row[i].best[SB_FIGURE_ACC], acc[i]);
        assert_int_equal(c.row[i].best[SB_FIGURE_NLL], nll[i]);
    }
    sb_compare_fini(&c);
    for (int i = 0; i < 5; i++)
        sb_report_run_fini(&run[i]);
}

/* Whatever comes first on the command line. */
static void tables_are_in_the_papers_order(void **state)
{
    (void)state;
    static const char *const want[] = {"cifar10", "cifar100", "svhn"};
    const char *results = RUNS_RESULTS(0.9, 0.2, 0.02, 100, "");
    struct sb_report_run run[] = {
        runs_make("a", "svhn", "lenet", "dnn", 1, 0, results),
        runs_make("b", "cifar100", "wrn-28-10", "dnn", 1, 0, results),
        runs_make("c", "cifar10", "lenet", "dnn", 1, 0, results),
        runs_make("d", "cifar10", "wrn-28-10", "dnn", 1, 0, results),
    };
    struct sb_compare c;
    assert_int_equal(sb_compare_init(&c, run, 4), SB_OK);
    assert_int_equal(c.tables, 3);
    for (size_t i = 0; i < c.rows; i++)
        assert_string_equal(c.row[i].first->recipe.config.data.set, want[c.row[i].table]);
    sb_compare_fini(&c);
    for (int i = 0; i < 4; i++)
        sb_report_run_fini(&run[i]);
}

static void formats_have_names(void **state)
{
    (void)state;
    enum sb_compare_format f;
    assert_int_equal(sb_compare_format_find("latex", &f), SB_OK);
    assert_int_equal(f, SB_COMPARE_LATEX);
    refused(
        sb_compare_format_find("latx", &f), SB_EARG,
        "there is no format 'latx'; the nearest is 'latex', of text, markdown, latex, "
        "csv and json");
}

static void what_eval_found_last_counts(void **state)
{
    (void)state;
    struct sb_report_run run = runs_make(
        "a", "x", "lenet", "dnn", 1, 0,
        RUNS_RESULTS(0.9, 0.4, 0.1, 100,
                     ", \"evaluation\": {\"test\": {\"n\": 10, \"ensemble\": {\"acc\": "
                     "0.7, \"nll\": 0.5, \"ece\": 0.2}}}"));
    struct sb_compare c;
    assert_int_equal(sb_compare_init(&c, &run, 1), SB_OK);
    assert_true(c.row[0].mean[SB_FIGURE_ACC] == 0.7);
    assert_true(c.row[0].mean[SB_FIGURE_NLL] == 0.5);
    assert_true(isnan(c.row[0].mean[SB_FIGURE_CACC]));
    assert_false(c.row[0].best[SB_FIGURE_ACC]);
    sb_compare_fini(&c);
    sb_report_run_fini(&run);
}

static void a_run_that_has_not_ended_is_refused(void **state)
{
    (void)state;
    struct sb_report_run run = runs_make("runs/x", "x", "lenet", "dnn", 1, 0, NULL);
    struct sb_compare c;
    refused(sb_compare_init(&c, &run, 1), SB_EIO,
            "runs/x has no results.json: its training has not ended; go on with: sebays "
            "train runs/x/recipe.ini --out runs/x --resume");
    sb_compare_fini(&c);
    sb_report_run_fini(&run);
}

static void the_paper_has_42_rows(void **state)
{
    (void)state;
    struct sb_config c;
    size_t n = 0;
    for (; sb_paper_at(n); n++) {
        const struct sb_paper_row *p = sb_paper_at(n);
        assert_true(p->acc > 0.7 && p->acc < 1 && p->cacc < p->acc && p->cnll > p->nll);
        c = runs_config(p->data, "wrn-28-10", p->method, p->members, p->sparsity);
        c.method.passes = 1;
        assert_ptr_equal(sb_paper_find(&c), p); /* no key twice */
    }
    assert_int_equal(n, 42);
    snprintf(c.model.arch, sizeof c.model.arch, "wrn-16-2");
    assert_null(sb_paper_find(&c));
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct sb_report_run run[RUNS];
    make_runs(run);
    for (int format = SB_COMPARE_TEXT; format <= SB_COMPARE_JSON; format++) {
        sb_status st = SB_ENOMEM;
        size_t live = sb_mem_live();
        for (long n = 0; st != SB_OK; n++) {
            struct sb_compare c;
            char *text = NULL;
            assert_true(n < 100);
            sb_mem_fail_after(n);
            st = sb_compare_init(&c, run, RUNS);
            if (st == SB_OK)
                st = sb_compare_write(&c, (enum sb_compare_format)format, &text);
            sb_mem_fail_after(-1);
            assert_true(st == SB_OK || (st == SB_ENOMEM && !text));
            sb_free(text);
            sb_compare_fini(&c);
            assert_int_equal(sb_mem_live(), live);
        }
    }
    free_runs(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_text),
        cmocka_unit_test(as_markdown),
        cmocka_unit_test(training_runs_have_a_column),
        cmocka_unit_test(as_latex),
        cmocka_unit_test(rows_that_look_alike_are_named),
        cmocka_unit_test(as_csv),
        cmocka_unit_test(as_json),
        cmocka_unit_test(rows_are_in_the_papers_order),
        cmocka_unit_test(every_table_has_its_best),
        cmocka_unit_test(tables_are_in_the_papers_order),
        cmocka_unit_test(formats_have_names),
        cmocka_unit_test(what_eval_found_last_counts),
        cmocka_unit_test(a_run_that_has_not_ended_is_refused),
        cmocka_unit_test(the_paper_has_42_rows),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
