/* find - see find.h. */
#define _GNU_SOURCE /* dladdr */
#include "dist/find.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

/* Where a plugin may be, from the folder of the program or library: a build folder, an
 * installed library's own, and an installed program's. */
static const char *const places[] = {"", "sebays/", "../" SB_LIBDIR "/sebays/"};

/* The folder that this code was loaded from, with its last slash; "" if nobody knows. */
static void own_folder(char out[SB_PATH_BYTES])
{
    Dl_info info;
    ssize_t n = readlink("/proc/self/exe", out, SB_PATH_BYTES - 1);
    out[n > 0 ? n : 0] = '\0';
    /* Of a program, dladdr has the name that it was called by, which may be no path. */
    if (dladdr((const void *)places, &info) && info.dli_fname &&
        strstr(info.dli_fname, ".so"))
        snprintf(out, SB_PATH_BYTES, "%s", info.dli_fname);
    char *slash = strrchr(out, '/');
    out[slash ? slash - out + 1 : 0] = '\0';
}

/* path = the first of the places where the plugin is; false: nowhere. */
static bool look(const char *mpi, const char *folder, char path[SB_PATH_BYTES])
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(path, SB_PATH_BYTES, "%s%ssebays-%s.so", folder, places[i], mpi);
        if (n > 0 && n < SB_PATH_BYTES && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static sb_status open_plugin(const char *path, const struct sb_plugin **out)
{
    /* Global: parts that an MPI opens later look for its names there. */
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
        return sb_fail(SB_EMISSING,
                       "%s cannot be opened (%s); is that MPI installed here?", path,
                       dlerror());
    const struct sb_plugin *(*plugin)(void);
    void *symbol = dlsym(handle, SB_PLUGIN_SYMBOL);
    memcpy(&plugin, &symbol, sizeof plugin); /* ISO C has no cast for it */
    if (!symbol)
        return sb_fail(SB_EMISSING, "%s is not a plugin of sebays: it has no %s", path,
                       SB_PLUGIN_SYMBOL);
    *out = plugin();
    if ((*out)->version != SB_PLUGIN_VERSION)
        return sb_fail(
            SB_EMISSING,
            "%s is of another version of sebays (interface %u, not %u); install "
            "both from one build",
            path, (*out)->version, SB_PLUGIN_VERSION);
    return SB_OK;
}

sb_status sb_find_plugin(const char *mpi, const struct sb_plugin **out)
{
    char folder[SB_PATH_BYTES], path[SB_PATH_BYTES];
    if (strchr(mpi, '/'))
        return open_plugin(mpi, out);
    own_folder(folder);
    if (folder[0] != '/') /* beside us, not in whatever directory this is */
        return sb_fail(
            SB_EMISSING,
            "the plugin for the MPI \"%s\" is looked for beside this program or "
            "library, and the system does not say where that is; give its path",
            mpi);
    if (look(mpi, folder, path))
        return open_plugin(path, out);
    return sb_fail(SB_EMISSING,
                   "no plugin for the MPI \"%s\": sebays-%s.so is neither in %s nor in "
                   "sebays/ or ../%s/sebays/ from there; it is built where that MPI's "
                   "compiler (mpicc.%s) is found, or give its path",
                   mpi, mpi, folder, SB_LIBDIR, mpi);
}
