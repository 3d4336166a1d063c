/* mpi - the plugin: plugin.h in terms of MPI 3.
 *
 * Every exchange is a non-blocking one that is tested, never waited for, so that the library
 * can stop waiting after its limit. Bytes only: MPI converts nothing and adds nothing.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "dist/plugin.h"

_Static_assert(sizeof(MPI_Request) <= sizeof(void *), "a request does not fit its place");
_Static_assert(sizeof(MPI_Comm) <= sizeof(void *), "a group does not fit its place");

static MPI_Request *request_of(struct sb_plugin_slot *s)
{
    return (MPI_Request *)(void *)&s->request;
}

static MPI_Comm *group_of(union sb_plugin_handle *h)
{
    return (MPI_Comm *)(void *)h;
}

/* Its place and size; and its failures are returned. */
static int describe_group(MPI_Comm group, uint32_t *rank, uint32_t *size)
{
    int r = 0, n = 1;
    int code = MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(group, &r);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(group, &n);
    *rank = (uint32_t)r;
    *size = (uint32_t)n;
    return code;
}

static int begin(union sb_plugin_handle *all, uint32_t *rank, uint32_t *size)
{
    int provided, initialised = 0;
    int code = MPI_Initialized(&initialised);
    if (code == MPI_SUCCESS && !initialised)
        code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (code != MPI_SUCCESS)
        return code;
    *group_of(all) = MPI_COMM_WORLD;
    return describe_group(MPI_COMM_WORLD, rank, size);
}

static int split(union sb_plugin_handle *group, int colour, union sb_plugin_handle *out,
                 uint32_t *rank, uint32_t *size)
{
    int code = MPI_Comm_split(*group_of(group), colour, 0, group_of(out));
    return code == MPI_SUCCESS ? describe_group(*group_of(out), rank, size) : code;
}

static void release(union sb_plugin_handle *group)
{
    (void)MPI_Comm_free(group_of(group));
}

static int broadcast(struct sb_plugin_slot *s, void *data, int bytes, int root)
{
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): test() ends it */
    return MPI_Ibcast(data, bytes, MPI_BYTE, root, *group_of(s->group), request_of(s));
}

static int all_gather(struct sb_plugin_slot *s, const void *mine, int bytes, void *all)
{
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): test() ends it */
    return MPI_Iallgatherv(mine ? mine : MPI_IN_PLACE, bytes, MPI_BYTE, all, s->in_bytes,
                           s->in_at, MPI_BYTE, *group_of(s->group), request_of(s));
}

static int exchange(struct sb_plugin_slot *s, const void *out, void *in)
{
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): test() ends it */
    return MPI_Ialltoallv(out, s->out_bytes, s->out_at, MPI_BYTE, in, s->in_bytes,
                          s->in_at, MPI_BYTE, *group_of(s->group), request_of(s));
}

static int barrier(struct sb_plugin_slot *s)
{
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): test() ends it */
    return MPI_Ibarrier(*group_of(s->group), request_of(s));
}

static int test(struct sb_plugin_slot *s, int *done)
{
    return MPI_Test(request_of(s), done, MPI_STATUS_IGNORE);
}

static void explain(int code, char *out, size_t size)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", code);
    snprintf(out, size, "%s", text);
}

static void describe(char *out, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "an MPI without a name");
    text[strcspn(text, "\n")] = '\0';
    snprintf(out, size, "%s", text);
}

static int end(void)
{
    return MPI_Finalize();
}

static void stop(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

static const struct sb_plugin table = {
    .version = SB_PLUGIN_VERSION,
    .begin = begin,
    .split = split,
    .release = release,
    .broadcast = broadcast,
    .all_gather = all_gather,
    .exchange = exchange,
    .barrier = barrier,
    .test = test,
    .explain = explain,
    .describe = describe,
    .end = end,
    .abort = stop,
};

/* The one name that is found from outside. */
__attribute__((visibility("default"))) const struct sb_plugin *sebays_mpi_plugin(void);

const struct sb_plugin *sebays_mpi_plugin(void)
{
    return &table;
}
