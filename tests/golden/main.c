/* golden - compares the library with golden cases, one line each.
 *
 *     golden FILE|DIR... [--isa NAME] [--threads N]
 *
 * A directory stands for its *.safetensors in the order of their names. The last line is
 * "N passed, M failed"; the exit status is 0 when all passed, 1 when not, 2 when the
 * command line makes no sense.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/threads.h"
#include "case.h"
#include "kernels/kernels.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, MOST_THREADS = 1024 };

struct tally {
    size_t passed, failed;
};

static const struct golden_op *find_op(const char *name)
{
    const struct golden_op *const tables[] = {golden_tensor_ops, golden_eval_ops,
                                              golden_regression_ops, golden_layer_ops,
                                              golden_net_ops};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct golden_op *op = tables[i]; op->name; op++)
            if (strcmp(op->name, name) == 0)
                return op;
    return NULL;
}

static void run_op(struct golden_case *c, const char *name)
{
    const struct golden_op *op = find_op(name);
    if (!op) {
        golden_fail(c, "unknown op");
        return;
    }
    op->run(c);
    if (!c->failed)
        golden_check_complete(c);
}

static void report(struct tally *tally, const char *path, const char *op,
                   const struct golden_case *c)
{
    const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
    char error[16] = "-"; /* nothing was compared */
    if (c->worst >= 0)
        snprintf(error, sizeof error, "%.2e", c->worst);
    printf("%-26s %-14s %8s  %s%s\n", name, op, error, c->failed ? "FAILED " : "ok",
           c->reason);
    tally->passed += !c->failed;
    tally->failed += c->failed;
}

static void run_file(struct tally *tally, const struct sb_env *env, const char *path)
{
    struct golden_case c;
    const char *op = NULL;
    if (golden_open(&c, env, path))
        op = golden_text(&c, "op");
    if (op)
        run_op(&c, op);
    report(tally, path, op ? op : "-", &c);
    golden_close(&c);
}

/* ---- directories ---- */

static int is_case(const struct dirent *entry)
{
    static const char suffix[] = ".safetensors";
    size_t length = strlen(entry->d_name), tail = sizeof suffix - 1;
    return length > tail && strcmp(entry->d_name + length - tail, suffix) == 0;
}

/* Not alphasort(): that would depend on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void fail_path(struct tally *tally, const struct sb_env *env, const char *path,
                      const char *why)
{
    struct golden_case c = {.env = env, .worst = -1};
    golden_fail(&c, "%s: %s", path, why);
    report(tally, path, "-", &c);
}

static void run_entry(struct tally *tally, const struct sb_env *env,
                      const char *directory, const char *name)
{
    size_t capacity = strlen(directory) + strlen(name) + 2;
    char *path = sb_malloc(capacity, 1);
    if (!path) {
        fail_path(tally, env, name, "no memory for its name");
        return;
    }
    snprintf(path, capacity, "%s/%s", directory, name);
    run_file(tally, env, path);
    sb_free(path);
}

static void run_directory(struct tally *tally, const struct sb_env *env, const char *path)
{
    struct dirent **entry = NULL;
    int n = scandir(path, &entry, is_case, by_name);
    if (n <= 0)
        fail_path(tally, env, path,
                  n < 0 ? "cannot read the directory" : "no *.safetensors in here");
    for (int i = 0; i < n; i++) {
        run_entry(tally, env, path, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

static void run_path(struct tally *tally, const struct sb_env *env, const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        run_directory(tally, env, path);
    else
        run_file(tally, env, path);
}

/* ---- the command line ---- */

static int usage(const char *why)
{
    fprintf(stderr, "golden: %s\nusage: golden FILE|DIR... [--isa NAME] [--threads N]\n",
            why);
    return EXIT_USAGE;
}

/* 0, or the exit status for an option that makes no sense. */
static int parse_option(struct sb_env *env, const char *option, const char *value)
{
    if (strcmp(option, "--isa") != 0 && strcmp(option, "--threads") != 0)
        return usage("unknown option");
    if (!value)
        return usage("an option lacks its value");
    if (strcmp(option, "--isa") == 0)
        return sb_kernels_choose(value, &env->kernels) == SB_OK ? 0 : usage(sb_message());
    char *end;
    long threads = strtol(value, &end, 10);
    if (end == value || *end != '\0' || threads < 1 || threads > MOST_THREADS)
        return usage("--threads wants a number from 1");
    env->threads = (int)threads;
    return 0;
}

int main(int argc, char **argv)
{
    struct sb_env env = {.threads = sb_threads_available()};
    struct tally tally = {0};
    int paths = 0;
    if (sb_kernels_choose(NULL, &env.kernels) != SB_OK)
        return usage(sb_message());
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            argv[paths++] = argv[i]; /* moved to the front: argv[0] is not needed */
            continue;
        }
        int wrong = parse_option(&env, argv[i], argv[i + 1]);
        if (wrong)
            return wrong;
        i++;
    }
    if (paths == 0)
        return usage("no case given");
    for (int i = 0; i < paths; i++)
        run_path(&tally, &env, argv[i]);
    printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
    return tally.failed > 0 ? EXIT_FAILED : EXIT_SUCCESS;
}
