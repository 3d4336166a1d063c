/* hanging - a plugin whose job never comes together: begin(), or end() where HANGS_AT_THE_END is
 * in the environment, does not return. One process is all of it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dist/plugin.h"

static void hang(void)
{
    for (;;)
        (void)pause();
}

static int begin(union sb_plugin_handle *all, uint32_t *rank, uint32_t *size)
{
    all->number = 0;
    *rank = 0;
    *size = 1;
    if (!getenv("HANGS_AT_THE_END"))
        hang();
    return 0;
}

static int end(void)
{
    hang();
    return 0;
}

static int move(struct sb_plugin_slot *s, void *data, int bytes, int root)
{
    (void)s, (void)data, (void)bytes, (void)root;
    return 0;
}

static int test(struct sb_plugin_slot *s, int *done)
{
    (void)s;
    *done = 1;
    return 0;
}

static int barrier(struct sb_plugin_slot *s)
{
    (void)s;
    return 0;
}

static void describe(char *out, size_t size)
{
    snprintf(out, size, "hanging");
}

static const struct sb_plugin table = {
    .version = SB_PLUGIN_VERSION,
    .begin = begin,
    .broadcast = move,
    .barrier = barrier,
    .test = test,
    .describe = describe,
    .end = end,
};

__attribute__((visibility("default"))) const struct sb_plugin *sebays_mpi_plugin(void);

const struct sb_plugin *sebays_mpi_plugin(void)
{
    return &table;
}
