/* cli: the command line taken apart, the progress line, signals. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../cli/cells.h"
#include "../../cli/cli.h"
#include "../../cli/progress.h"
#include "../../cli/signals.h"

/* ---- arguments ---- */

enum { WORDS = 80 };

static bool parse(const struct cli_command *c, struct cli_args *args, char *message,
                  const char *const *words)
{
    char *argv[WORDS];
    int argc = 0;
    while (words[argc]) {
        argv[argc] = (char *)(uintptr_t)words[argc];
        argc++;
    }
    return cli_args_parse(c, argc, argv, args, message);
}

#define WORDS_OF(...) ((const char *const[]){__VA_ARGS__, NULL})

static void assert_refused(const struct cli_command *c, const char *const *words,
                           const char *sentence)
{
    struct cli_args args;
    char message[CLI_MESSAGE];
    assert_false(parse(c, &args, message, words));
    assert_string_equal(message, sentence);
}

static void train_takes_everything(void **state)
{
    (void)state;
    struct cli_args a;
    char message[CLI_MESSAGE];
    assert_true(parse(&cli_cmd_train, &a, message,
                      WORDS_OF("--set", "train.seed=2", "r.ini", "--out=runs/x",
                               "--threads", "3", "--isa", "scalar", "--set=train.lr=1",
                               "--resume", "--dry-run", "--quiet")));
    assert_string_equal(a.operand, "r.ini");
    assert_string_equal(a.out, "runs/x");
    assert_string_equal(a.isa, "scalar");
    assert_int_equal(a.threads, 3);
    assert_int_equal(a.sets.count, 2);
    assert_string_equal(a.sets.item[0], "train.seed=2");
    assert_string_equal(a.sets.item[1], "train.lr=1");
    assert_true(a.resume && a.dry_run && a.quiet && !a.help);
}

static void nothing_given_is_nothing_set(void **state)
{
    (void)state;
    struct cli_args a;
    char message[CLI_MESSAGE];
    assert_true(parse(&cli_cmd_train, &a, message, WORDS_OF("--", "--odd.ini")));
    assert_string_equal(a.operand, "--odd.ini");
    assert_null(a.out);
    assert_null(a.isa);
    assert_int_equal(a.threads, 0);
    assert_int_equal(a.sets.count, 0);
    assert_false(a.resume || a.dry_run || a.quiet || a.help);
}

static void help_wins(void **state)
{
    (void)state;
    struct cli_args a;
    char message[CLI_MESSAGE];
    assert_true(parse(&cli_cmd_train, &a, message, WORDS_OF("--nonsense", "--help")));
    assert_true(a.help);
    assert_true(parse(&cli_cmd_inspect, &a, message, WORDS_OF("-h")));
    assert_true(a.help);
    assert_true(parse(&cli_cmd_inspect, &a, message, WORDS_OF("--", "-h")));
    assert_false(a.help);
}

static void wrong_command_lines_are_refused(void **state)
{
    (void)state;
    const struct cli_command *train = &cli_cmd_train;
    assert_refused(train, WORDS_OF("--quiet"),
                   "want a RECIPE.ini or DATA; see 'sebays train --help'");
    assert_refused(train, WORDS_OF("a.ini", "b.ini"),
                   "'b.ini': want one RECIPE.ini or DATA, have 'a.ini' already");
    assert_refused(train, WORDS_OF("a.ini", "--treads", "2"),
                   "there is no option '--treads'; see 'sebays train --help'");
    assert_refused(&cli_cmd_inspect, WORDS_OF("m", "--resume"),
                   "there is no option '--resume'; see 'sebays inspect --help'");
    assert_refused(&cli_cmd_options, WORDS_OF("m"), "'m': options takes no argument");
    assert_refused(train, WORDS_OF("a.ini", "--out"), "--out: want DIR, have nothing");
    assert_refused(train, WORDS_OF("a.ini", "--out="), "--out: want DIR, have nothing");
    assert_refused(train, WORDS_OF("a.ini", "--set"),
                   "--set: want section.key=value, have nothing");
    assert_refused(train, WORDS_OF("a.ini", "--resume=yes"), "--resume takes no value");
    assert_refused(train, WORDS_OF("a.ini", "--threads", "0"),
                   "--threads 0: want a whole number in 1 .. 4096");
    assert_refused(train, WORDS_OF("a.ini", "--threads", "-2"),
                   "--threads -2: want a whole number in 1 .. 4096");
    assert_refused(train, WORDS_OF("a.ini", "--threads", "99999999999"),
                   "--threads 99999999999: want a whole number in 1 .. 4096");
    const char *many[WORDS] = {"a.ini"};
    for (size_t i = 1; i <= CLI_LIST + 1; i++)
        many[i] = "--set=train.seed=1";
    assert_refused(train, many, "--set: at most 64 of them");
}

static void run_directories(void **state)
{
    (void)state;
    char out[32];
    struct cli_args a = {.operand = "some/where/quick.ini"};
    assert_true(cli_run_directory(&a, out, sizeof out));
    assert_string_equal(out, "runs/quick");
    a.operand = "recipe";
    assert_true(cli_run_directory(&a, out, sizeof out));
    assert_string_equal(out, "runs/recipe");
    assert_false(cli_run_directory(&a, out, 8));
    a.out = "/elsewhere";
    assert_true(cli_run_directory(&a, out, sizeof out));
    assert_string_equal(out, "/elsewhere");
}

/* ---- progress ---- */

static const struct sebays_progress full = {
    .phase = "exploit",
    .done = 27000,
    .total = 54000,
    .member = 1,
    .members = 3,
    .epoch = 0,
    .epochs = 2,
    .rate = 8123.4,
    .seconds = 3,
    .seconds_left = 132.6,
    .loss = 0.31234,
    .accuracy = 0.9071,
};

static void assert_line(const struct sebays_progress *r, int width, const char *want)
{
    char line[CLI_LINE];
    cli_progress_line(r, width, line);
    assert_string_equal(line, want);
}

static void the_line_fits(void **state)
{
    (void)state;
    char line[CLI_LINE];
    assert_line(&full, 200,
                "exploit  member 2/3  epoch 1/2  50 %  8123 examples/s  loss 0.3123  "
                "val 90.71 %  2:13 left");
    assert_line(&full, 80,
                "exploit  member 2/3  epoch 1/2  50 %  loss 0.3123  val 90.71 %  "
                "2:13 left");
    assert_line(&full, 45, "exploit  epoch 1/2  val 90.71 %  2:13 left");
    assert_line(&full, 20, "exploit  epoch 1/2");
    assert_line(&full, 4, "expl");
    assert_line(&full, 0, "");
    for (int width = 0; width < 2 * CLI_LINE; width++) {
        cli_progress_line(&full, width, line);
        assert_true((int)strlen(line) <= width);
    }
}

static void what_is_unknown_is_left_out(void **state)
{
    (void)state;
    struct sebays_progress r = {
        .phase = "read", .seconds_left = -1, .loss = NAN, .accuracy = NAN};
    assert_line(&r, 80, "read");
    r.seconds_left = 3725;
    assert_line(&r, 80, "read  1:02:05 left");
    r.seconds_left = INFINITY;
    assert_line(&r, 80, "read  100000:00:00 left");
    r.ended = true;
    assert_line(&r, 80, "read");
    r.loss = INFINITY;
    assert_line(&r, 80, "read  loss inf");
}

static void bytes_have_a_bar(void **state)
{
    (void)state;
    struct sebays_progress r = {.phase = "fetch",
                                .done = 85000000,
                                .total = 170000000,
                                .rate = 2.5e7,
                                .seconds_left = 3.4,
                                .loss = NAN,
                                .accuracy = NAN,
                                .bytes = true};
    assert_line(&r, 120,
                "fetch  [############            ]  50 %  85.0 of 170.0 MB  25.0 MB/s  "
                "0:03 left");
    assert_line(&r, 60, "fetch  50 %  85.0 of 170.0 MB  25.0 MB/s  0:03 left");
    assert_line(&r, CLI_LINE, "fetch  50 %  85.0 of 170.0 MB  25.0 MB/s  0:03 left");
    r.done = 2 * r.total; /* a bar cannot be more than full */
    r.rate = 0;
    assert_line(&r, 80,
                "fetch  [########################]  200 %  340.0 of 170.0 MB  0:03 left");
    r.total = 0;
    assert_line(&r, 60, "fetch  0:03 left");
}

/* What a sequence of reports and log lines writes. */
static void show(struct cli_progress *p, char *out, size_t size)
{
    struct sebays_progress r = {
        .phase = "explore", .seconds_left = -1, .loss = NAN, .accuracy = NAN};
    p->to = tmpfile();
    assert_non_null(p->to);
    cli_progress_at(p, &r, 100);
    cli_progress_at(p, &r, 101);
    cli_progress_log(p, SEBAYS_DEBUG, "hidden");
    cli_progress_log(p, SEBAYS_INFO, "said");
    cli_progress_log(p, SEBAYS_WARN, "look");
    cli_progress_at(p, &r, 111);
    r.ended = true;
    cli_progress_at(p, &r, 112);
    r.ended = false;
    cli_progress_at(p, &r, 113);
    cli_progress_end(p);
    rewind(p->to);
    out[fread(out, 1, size - 1, p->to)] = '\0';
    fclose(p->to);
}

static void plain_lines_are_few(void **state)
{
    (void)state;
    char out[512];
    struct cli_progress p = {.said = -1};
    show(&p, out, sizeof out);
    assert_string_equal(out, "explore\nsaid\nwarning: look\nexplore\nexplore\n");
}

static void a_terminal_has_one_live_line(void **state)
{
    (void)state;
    char out[512];
    struct cli_progress p = {.terminal = true, .width = 80, .said = -1};
    show(&p, out, sizeof out);
    assert_string_equal(out, "explore\r\033[Kexplore\r\033[Ksaid\nwarning: look\n"
                             "explore\r\033[Kexplore\nexplore\n");
}

static void quiet_lets_warnings_through(void **state)
{
    (void)state;
    char out[512];
    struct cli_progress p = {.quiet = true, .terminal = true, .width = 80, .said = -1};
    show(&p, out, sizeof out);
    assert_string_equal(out, "warning: look\n");
}

/* ---- signals ---- */

static time_t later; /* seconds that seem to have passed */

/* The program's calls come here. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    int code = (int)syscall(SYS_clock_gettime, id, t);
    t->tv_sec += later;
    return code;
}

/* The exit code, or minus the signal, of a child that raises two signals, the second one
 * after so many seconds. */
static int after(int first, int second, time_t wait)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct cli_progress p = {.quiet = true};
        if (!cli_signals_catch() || !cli_progress_show(&p, &full))
            _exit(99);
        raise(first);
        bool stops = !cli_progress_show(&p, &full);
        later = wait;
        if (second)
            raise(second);
        _exit(stops ? cli_signals_caught() : 98);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Whatever comes while a checkpoint is being written, and who insists afterwards. */
static void the_first_signal_asks_insisting_ends(void **state)
{
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(after(numbers[i], 0, 0), numbers[i]);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(after(numbers[i], numbers[k], 0), numbers[i]);
            assert_int_equal(after(numbers[i], numbers[k], CLI_SIGNALS_GRACE),
                             numbers[i]);
            assert_int_equal(after(numbers[i], numbers[k], CLI_SIGNALS_GRACE + 2),
                             -numbers[k]);
        }
    }
}

static void nohup_is_respected(void **state)
{
    (void)state;
    struct sigaction now, before;
    assert_int_equal(sigaction(SIGHUP, NULL, &before), 0);
    signal(SIGHUP, SIG_IGN);
    assert_true(cli_signals_catch());
    assert_int_equal(sigaction(SIGHUP, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_IGN);
    assert_int_equal(sigaction(SIGHUP, &before, NULL), 0);
}

/* On a screen, the texts of a model or a table do not steer it; in a file they are as they are. */
static void cells_of_a_screen_are_plain(void **state)
{
    (void)state;
    for (int screen = 0; screen < 2; screen++) {
        char *text = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&text, &size);
        assert_non_null(to);
        cli_put_cell((struct cli_csv){.to = to, .plain = screen}, "", "a\x1b[31m\x7f");
        assert_int_equal(fclose(to), 0);
        assert_string_equal(text, screen ? "a?[31m?" : "a\x1b[31m\x7f");
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_a_screen_are_plain),
        cmocka_unit_test(train_takes_everything),
        cmocka_unit_test(nothing_given_is_nothing_set),
        cmocka_unit_test(help_wins),
        cmocka_unit_test(wrong_command_lines_are_refused),
        cmocka_unit_test(run_directories),
        cmocka_unit_test(the_line_fits),
        cmocka_unit_test(what_is_unknown_is_left_out),
        cmocka_unit_test(bytes_have_a_bar),
        cmocka_unit_test(plain_lines_are_few),
        cmocka_unit_test(a_terminal_has_one_live_line),
        cmocka_unit_test(quiet_lets_warnings_through),
        cmocka_unit_test(the_first_signal_asks_insisting_ends),
        cmocka_unit_test(nohup_is_respected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
