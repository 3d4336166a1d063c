/* options: the table, values by name, recipes read and written, exact sentences. */
#include "recipe/options.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static sb_status parse(struct sb_recipe *r, const char *text)
{
    sb_recipe_init(r);
    return sb_recipe_parse(r, "r.ini", text, strlen(text));
}

static void assert_refused(const char *text, sb_status want, const char *sentence)
{
    struct sb_recipe r;
    assert_int_equal(parse(&r, text), want);
    assert_string_equal(sb_message(), sentence);
}

static void assert_unset(const char *name, const char *value, const char *sentence)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_set(&r, name, value), SB_EARG);
    assert_string_equal(sb_message(), sentence);
}

static void assert_unresolved(const char *text, const char *sentence)
{
    struct sb_recipe r;
    assert_int_equal(parse(&r, text), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_EARG);
    assert_string_equal(sb_message(), sentence);
}

/* ---- defaults ---- */

static void every_default_is_valid_and_reads_back(void **state)
{
    (void)state;
    struct sb_recipe r;
    char value[SB_OPTION_VALUE];
    sb_recipe_init(&r);
    for (size_t i = 0; sb_option_at(i); i++) {
        const struct sb_option *o = sb_option_at(i);
        assert_int_equal(sb_recipe_get(&r, o->name, value), SB_OK);
        assert_string_equal(value, o->initial);
        assert_int_equal(sb_recipe_set(&r, o->name, o->initial), SB_OK);
        assert_true(o->help[strlen(o->help) - 1] != '.');
        assert_true(strlen(o->name) < 49); /* inih cuts longer names */
    }
}

static void every_implied_default_is_valid(void **state)
{
    (void)state;
    for (size_t i = 0; sb_method_at(i); i++) {
        const struct sb_method *m = sb_method_at(i);
        struct sb_recipe r;
        sb_recipe_init(&r);
        for (size_t k = 0; k < m->implied_count; k++)
            assert_int_equal(sb_recipe_set(&r, m->implied[k].key, m->implied[k].value),
                             SB_OK);
        sb_recipe_init(&r);
        assert_int_equal(sb_recipe_set(&r, "method.name", m->name), SB_OK);
        assert_int_equal(sb_recipe_resolve(&r), SB_OK);
        assert_ptr_equal(r.method, m);
    }
}

static void a_method_implies_what_the_recipe_leaves_out(void **state)
{
    (void)state;
    struct sb_recipe r;
    assert_int_equal(parse(&r, "[method]\nname = edst\nexploit_epochs = 7\n"), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    assert_int_equal(r.config.method.criterion, SB_PRUNE_MAGNITUDE);
    assert_true(r.config.method.step_on_update);
    assert_int_equal(r.config.method.exploit_epochs, 7);
    assert_int_equal(r.config.method.explore_epochs, 150);
    /* resolving again after a change forgets what the other method implied */
    assert_int_equal(sb_recipe_assign(&r, "method.name=bays"), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    assert_int_equal(r.config.method.criterion, SB_PRUNE_SNR);
    assert_false(r.config.method.step_on_update);
    assert_int_equal(r.config.method.exploit_epochs, 7);
    assert_int_equal(r.config.method.explore_epochs, 125);
}

/* ---- values ---- */

static void values_of_every_type(void **state)
{
    (void)state;
    struct sb_recipe r;
    const char *text = "\xef\xbb\xbf# a comment\n"
                       "[data]\r\n"
                       "  set = /some where/x ; behind\n"
                       "mean = 0.4914, 0.4822 0.4465\n"
                       "split=stratified\n"
                       "[train]\n"
                       "nesterov : true\n"
                       "lr = 1e-2\n"
                       "seed = 4294967295";
    assert_int_equal(parse(&r, text), SB_OK);
    assert_string_equal(r.config.data.set, "/some where/x");
    assert_int_equal(r.config.data.mean.count, 3);
    assert_true(r.config.data.mean.value[2] == 0.4465);
    assert_int_equal(r.config.data.split, SB_CONFIG_STRATIFIED);
    assert_true(r.config.train.nesterov);
    assert_true(r.config.train.lr == 0.01);
    assert_int_equal(r.config.train.seed, UINT32_MAX);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    assert_unset("method.sparsity", "1", "method.sparsity = 1: want a number in [0, 1)");
    assert_unset("method.sparsity", "80%",
                 "method.sparsity = 80%: want a number in [0, 1)");
    assert_unset("method.prior_variance", "0",
                 "method.prior_variance = 0: want a number in (0, 1e+06]");
    assert_unset("train.lr", "nan", "train.lr = nan: want a number in (0, 1000]");
    assert_unset("train.lr", "1e999", "train.lr = 1e999: want a number in (0, 1000]");
    assert_unset("train.lr", "0x1p-3", "train.lr = 0x1p-3: want a number in (0, 1000]");
    assert_unset("train.lr", "", "train.lr = : want a number in (0, 1000]");
    assert_unset("train.batch", "0",
                 "train.batch = 0: want a whole number in [1, 65536]");
    assert_unset("train.batch", "-1",
                 "train.batch = -1: want a whole number in [1, 65536]");
    assert_unset("train.seed", "4294967296",
                 "train.seed = 4294967296: want a whole number in [0, 4294967295]");
    assert_unset("train.seed", "99999999999999999999999",
                 "train.seed = 99999999999999999999999: want a whole number in [0, "
                 "4294967295]");
    assert_unset("train.nesterov", "maybe", "train.nesterov = maybe: want yes or no");
    assert_unset("method.allocation", "erc",
                 "method.allocation = erc: want one of erk, uniform; the nearest is erk");
    assert_unset("data.mean", "1 2 3 4 5 6 7",
                 "data.mean = 1 2 3 4 5 6 7: want up to 6 numbers in [-1e+06, "
                 "1e+06]");
    assert_unset("data.sd", "0.2 0",
                 "data.sd = 0.2 0: want up to 6 numbers in (0, "
                 "1e+06]");
    assert_unset("model.arch", "a;b",
                 "model.arch = a;b: want 1 to 63 bytes, no ';', no control characters, "
                 "no blank at either end");
    assert_unset("method.name", "sebay",
                 "method.name = sebay: there is no method 'sebay'; the nearest is "
                 "'sebays'");
}

static void unknown_names_get_the_nearest(void **state)
{
    (void)state;
    assert_unset("train.bacth", "1",
                 "there is no option 'train.bacth'; the nearest is 'train.batch'");
    assert_unset("train.sparsity", "1",
                 "there is no option 'train.sparsity'; the nearest is "
                 "'method.sparsity'");
    assert_unset("seed", "1", "there is no option 'seed'; the nearest is 'train.seed'");
    struct sb_recipe r;
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_assign(&r, "train.batch"), SB_EARG);
    assert_string_equal(sb_message(), "'train.batch': want section.key=value");
    assert_int_equal(sb_recipe_assign(&r, "train.batch=64"), SB_OK);
    assert_int_equal(r.config.train.batch, 64);
}

/* It would be found out at the first checkpoint, after the work. */
static void texts_are_utf8(void **state)
{
    (void)state;
    assert_unset(
        "data.set", "caf\xe9",
        "data.set: its text is not UTF-8; rename what it names, or lead there by a "
        "link (ln -s)");
    struct sb_recipe r;
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_set(&r, "data.set", "caf\xc3\xa9"), SB_OK);
}

static void a_decimal_comma_does_not_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) /* made by tests/CMakeLists.txt */
        print_message("NOT TESTED: a decimal comma (needs localedef; Debian: locales)\n");
    struct sb_recipe r;
    char value[SB_OPTION_VALUE];
    sb_recipe_init(&r);
    sb_status set = sb_recipe_set(&r, "train.lr", "0.25");
    sb_recipe_get(&r, "train.lr", value);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(set, SB_OK);
    assert_string_equal(value, "0.25");
    assert_true(r.config.train.lr == 0.25);
}

/* ---- recipes ---- */

static void bad_recipes_are_refused(void **state)
{
    (void)state;
    assert_refused("[train]\nbatch = 64\nbacth = 64\n", SB_EARG,
                   "r.ini:3: there is no option 'train.bacth'; the nearest is "
                   "'train.batch'");
    assert_refused("[trian]\nbatch = 64\n", SB_EARG,
                   "r.ini:1: there is no section [trian]; the nearest is [train]");
    assert_refused("\n\n[method]\nsparsity = 1.5\n", SB_EARG,
                   "r.ini:4: method.sparsity = 1.5: want a number in [0, 1)");
    assert_refused("[train]\nbatch = 64\n[model]\n[train]\nbatch = 32\n", SB_EARG,
                   "r.ini:5: train.batch was given in line 2 already");
    assert_refused("batch = 64\n", SB_EFORMAT,
                   "r.ini:1: 'batch' comes before any [section]");
    assert_refused("[train]\n\nbatch 64\r\n", SB_EFORMAT,
                   "r.ini:3: want '[section]' or 'key = value', have 'batch 64'");
    assert_refused("[train\n", SB_EFORMAT,
                   "r.ini:1: want '[section]' or 'key = value', have '[train'");
    /* the first of several */
    assert_refused("[train]\nbatch = x\nseed = y\nfoo\n", SB_EARG,
                   "r.ini:2: train.batch = x: want a whole number in [1, 65536]");
    struct sb_recipe r;
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_parse(&r, "r.ini", "[a]\0\n", 5), SB_EFORMAT);
    assert_string_equal(sb_message(), "r.ini:1: a line of 4 bytes has a zero byte");
    assert_int_equal(sb_recipe_read(&r, "no/such.ini"), SB_EIO);
    assert_string_equal(sb_message(),
                        "cannot read no/such.ini: No such file or directory");
}

static void indented_keys_do_not_continue_values(void **state)
{
    (void)state;
    struct sb_recipe r;
    assert_int_equal(parse(&r, "[train]\n  batch = 3\n\tseed = 4\n"), SB_OK);
    assert_int_equal(r.config.train.batch, 3);
    assert_int_equal(r.config.train.seed, 4);
}

static void cross_checks(void **state)
{
    (void)state;
    assert_unresolved("[method]\nname = dnn\nmembers = 3\n",
                      "method.members = 3: dnn trains one network; leave it out, or "
                      "choose an ensemble as method.name");
    assert_unresolved("[method]\nname = bnn-ensemble\nsparsity = 0.8\n",
                      "method.sparsity = 0.8: the networks of bnn-ensemble are dense; "
                      "leave it out, or choose a sparse method as method.name");
    assert_unresolved("[method]\ndelta_t = 3\ngrow_batches = 4\n",
                      "method.grow_batches = 4: there are only method.delta_t = 3 "
                      "batches between two updates");
    assert_unresolved("[train]\nestimator = weights\ngroup = 24\n",
                      "train.group = 24: want a multiple of 16");
    assert_unresolved(
        "[method]\nname = edst\n[train]\nestimator = weights\n",
        "train.estimator = weights: those of edst are numbers, there is "
        "nothing to draw; leave it out, or choose a Bayesian method as method.name");
    static const char *const sizes[] = {
        "32",   "x32",   "32x",     "0x1",           "1x0",
        "-1x1", "1x1x1", "16385x1", "1x99999999999", "32 x 32"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[64], sentence[256];
        snprintf(text, sizeof text, "[data]\nsize = %s\n", sizes[i]);
        snprintf(sentence, sizeof sentence,
                 "data.size = %s: want auto or HEIGHTxWIDTH with sides from 1 to 16384, "
                 "such as 32x32",
                 sizes[i]);
        assert_unresolved(text, sentence);
    }
    assert_unresolved("[data]\nvalidation = 2.5\n",
                      "data.validation = 2.5: want a share below 1 or a whole number");
    assert_unresolved("[data]\nnormalise = values\nmean = 1 2 3\nsd = 1\n",
                      "data.normalise = values: data.mean has 3 numbers and data.sd 1; "
                      "want one of each a channel");
    assert_unresolved("[data]\nmean = 1\n",
                      "data.mean and data.sd are used with data.normalise = values "
                      "only; say that, or leave them out");
    assert_unresolved("[train]\nnesterov = yes\nmomentum = 0\n",
                      "train.nesterov = yes: needs train.momentum above 0");
    assert_unresolved("[train]\nlr_second = 0\n",
                      "train.lr_second = 0: half of the exploitation would learn "
                      "nothing; want more, or train.lr_shape = cosine");
    assert_unresolved("[train]\nwarmup_epochs = 251\n",
                      "train.warmup_epochs = 251: a run has only 250 epochs; want fewer");
}

static void cross_checks_of_milestones(void **state)
{
    (void)state;
    struct sb_recipe r;
    assert_unresolved("[train]\nmilestones = 10 20\n",
                      "train.milestones: the members of sebays have rates of their own; "
                      "leave it out");
    assert_unresolved("[method]\nname = pf\n[train]\nmilestones = 3\nlr_shape = cosine\n",
                      "train.milestones: they take the place of train.lr_shape = cosine; "
                      "leave one of the two out");
    static const char *const bad[][2] = {
        {"200 100", "100"}, {"100 250", "250"}, {"1.5", "1.5"}, {"0.5 100", "100"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128], want[256];
        snprintf(text, sizeof text, "[method]\nname = dnn\n[train]\nmilestones = %s\n",
                 bad[i][0]);
        snprintf(want, sizeof want,
                 "train.milestones: %s: want rising whole numbers below the 250 epochs "
                 "of a run, or shares of it below 1",
                 bad[i][1]);
        assert_unresolved(text, want);
    }
    assert_int_equal(
        parse(&r, "[method]\nname = dnn\n[train]\nmilestones = 0.4 0.8 225\n"), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
}

static void cross_checks_of_methods(void **state)
{
    (void)state;
    assert_unresolved("[method]\nname = ltr\nrewind_epoch = 251\n",
                      "method.rewind_epoch = 251: the dense run ends after 250 epochs; "
                      "want one of them, or 0");
    assert_unresolved("[method]\nname = ltr\nmembers = 4096\n",
                      "method.members = 4096: ltr has one run more than members; want at "
                      "most 4095");
    static const char *const ensembles[] = {"dnn-ensemble", "bnn-ensemble", "snapshot"};
    for (size_t i = 0; i < 3; i++) {
        char text[64], want[256];
        snprintf(text, sizeof text, "[method]\nname = %s\nmembers = 1\n", ensembles[i]);
        snprintf(want, sizeof want,
                 "method.members = 1: %s is an ensemble of at least 2; want more, or a "
                 "method of one network as method.name",
                 ensembles[i]);
        assert_unresolved(text, want);
    }
    assert_unresolved("[method]\nname = snapshot\nexplore_epochs = 3\n",
                      "method.explore_epochs = 3: snapshot has cycles of "
                      "method.exploit_epochs and no exploration; leave it out");
    assert_unresolved("[method]\nname = snapshot\nsparsity = 0.5\n",
                      "method.sparsity = 0.5: the networks of snapshot are dense; leave "
                      "it out, or choose a sparse method as method.name");
}

/* ---- writing ---- */

static void a_written_recipe_reads_back(void **state)
{
    (void)state;
    struct sb_recipe a, b;
    char *text, *again;
    assert_int_equal(parse(&a, "[method]\nname = dst\n[train]\nlr = 0.1\n"
                               "weight_decay = 0.00030000000000000003\n"
                               "milestones = 3 90.0\n[data]\nset = a b\n"),
                     SB_OK);
    assert_int_equal(sb_recipe_resolve(&a), SB_OK);
    for (int comments = 0; comments < 2; comments++) {
        assert_int_equal(sb_recipe_write(&a, comments, &text), SB_OK);
        assert_int_equal(parse(&b, text), SB_OK);
        assert_int_equal(sb_recipe_resolve(&b), SB_OK);
        assert_memory_equal(&a.config.train, &b.config.train, sizeof a.config.train);
        assert_int_equal(sb_recipe_write(&b, comments, &again), SB_OK);
        assert_string_equal(text, again);
        sb_free(text);
        sb_free(again);
    }
    assert_int_equal(sb_recipe_write(&a, false, &text), SB_OK);
    assert_memory_equal(text, "[data]\nset = a b\ndir = data\n", 27);
    assert_non_null(strstr(text, "\n\n[train]\nbatch = auto\n"));
    assert_non_null(strstr(text, "\nweight_decay = 0.00030000000000000003\n"));
    assert_non_null(strstr(text, "\nmilestones = 3 90\n"));
    assert_non_null(strstr(text, "\nmean =\n"));
    sb_free(text);
}

/* Whatever a value is, its line is read again. */
static void the_longest_values_read_back(void **state)
{
    (void)state;
    struct sb_recipe a, b;
    char path[SB_CONFIG_PATH], *text;
    sb_recipe_init(&a);
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_int_equal(sb_recipe_set(&a, "data.set", path), SB_OK);
    const char *const longest = "-1.2345678901234567e-100,-1.2345678901234567e-101";
    char list[3 * 64];
    snprintf(list, sizeof list, "%s,%s,%s", longest, longest, longest);
    assert_int_equal(sb_recipe_set(&a, "data.mean", list), SB_OK);
    assert_int_equal(sb_recipe_write(&a, true, &text), SB_OK);
    sb_status st = parse(&b, text);
    sb_free(text);
    assert_int_equal(st, SB_OK);
    assert_string_equal(b.config.data.set, path);
}

/* What a checkpoint is compared by. */
static void only_what_changes_results_is_canonical(void **state)
{
    (void)state;
    struct sb_recipe a, b;
    char *one, *other;
    sb_recipe_init(&a);
    b = a;
    assert_int_equal(sb_recipe_assign(&b, "train.threads=7"), SB_OK);
    assert_int_equal(sb_recipe_canonical(&a, &one), SB_OK);
    assert_int_equal(sb_recipe_canonical(&b, &other), SB_OK);
    assert_string_equal(one, other);
    sb_free(other);
    assert_int_equal(sb_recipe_assign(&b, "train.lr=0.2"), SB_OK);
    assert_int_equal(sb_recipe_canonical(&b, &other), SB_OK);
    assert_string_not_equal(one, other);
    sb_free(one);
    sb_free(other);
}

static void the_list_has_every_option(void **state)
{
    (void)state;
    char *text;
    assert_int_equal(sb_options_list(&text), SB_OK);
    for (size_t i = 0; sb_option_at(i); i++)
        assert_non_null(strstr(text, sb_option_at(i)->help));
    for (size_t i = 0; sb_method_at(i); i++)
        assert_non_null(strstr(text, sb_method_at(i)->summary));
    sb_free(text);
}

static void writing_without_memory_fails(void **state)
{
    (void)state;
    struct sb_recipe r;
    char *text;
    sb_recipe_init(&r);
    size_t live = sb_mem_live();
    sb_mem_fail_after(0);
    sb_status write = sb_recipe_write(&r, true, &text), list = sb_options_list(&text);
    sb_mem_fail_after(-1);
    assert_int_equal(write, SB_ENOMEM);
    assert_int_equal(list, SB_ENOMEM);
    assert_null(text);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_valid_and_reads_back),
        cmocka_unit_test(every_implied_default_is_valid),
        cmocka_unit_test(a_method_implies_what_the_recipe_leaves_out),
        cmocka_unit_test(values_of_every_type),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(unknown_names_get_the_nearest),
        cmocka_unit_test(texts_are_utf8),
        cmocka_unit_test(a_decimal_comma_does_not_matter),
        cmocka_unit_test(bad_recipes_are_refused),
        cmocka_unit_test(indented_keys_do_not_continue_values),
        cmocka_unit_test(cross_checks),
        cmocka_unit_test(cross_checks_of_milestones),
        cmocka_unit_test(cross_checks_of_methods),
        cmocka_unit_test(a_written_recipe_reads_back),
        cmocka_unit_test(the_longest_values_read_back),
        cmocka_unit_test(only_what_changes_results_is_canonical),
        cmocka_unit_test(the_list_has_every_option),
        cmocka_unit_test(writing_without_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
