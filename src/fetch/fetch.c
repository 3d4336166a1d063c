/* fetch - see fetch.h. */
#include "fetch/fetch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "fetch/download.h"
#include "fetch/extract.h"

/* The lock goes with the descriptor, however the process ends. */
static sb_status lock(const struct sb_fetch_options *o, const char *staging, int *fd)
{
    *fd = open(staging, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return sb_file_failed("open", staging);
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return SB_OK;
    return sb_fail(SB_EIO, "%s is being fetched into %s by another process; wait for it",
                   o->row->name, o->directory);
}

/* ---- is there room ---- */

static uint64_t bytes_of(const char *staging, const char *name, const char *suffix)
{
    char path[SB_PATH_BYTES];
    struct stat info;
    int n = snprintf(path, sizeof path, "%s/%s%s", staging, name, suffix);
    return n > 0 && n < SB_PATH_BYTES && stat(path, &info) == 0 ? (uint64_t)info.st_size
                                                                : 0;
}

static sb_status check_room(const struct sb_fetch_options *o, const char *staging)
{
    const struct sb_catalogue_row *row = o->row;
    uint64_t need = row->pack == SB_PACK_NONE ? 0 : row->unpacked;
    struct statvfs disk;
    for (size_t i = 0; i < SB_CATALOGUE_FILES && row->file[i].name; i++) {
        uint64_t have = bytes_of(staging, row->file[i].name, ".part") +
                        bytes_of(staging, row->file[i].name, "");
        need += have < row->file[i].size ? row->file[i].size - have : 0;
    }
    if (statvfs(staging, &disk) != 0)
        return SB_OK; /* then a write will tell */
    uint64_t space = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (need <= space)
        return SB_OK;
    return sb_fail(SB_EIO,
                   "%s needs %.0f MB more in %s, where %.0f MB are free; make room or "
                   "choose another place with --data-dir",
                   row->name, 1e-6 * (double)need, o->directory, 1e-6 * (double)space);
}

/* ---- the files ---- */

static sb_status get_file(const struct sb_fetch_options *o, const char *staging,
                          const struct sb_catalogue_file *file)
{
    char path[SB_PATH_BYTES], url[SB_PATH_BYTES];
    const char *base = o->base ? o->base : o->row->base;
    const char *slash = base[0] && base[strlen(base) - 1] == '/' ? "" : "/";
    sb_status st = sb_path_join(path, staging, file->name);
    if (st != SB_OK || sb_file_exists(path))
        return st;
    int n = snprintf(url, sizeof url, "%s%s%s", base, slash, file->name);
    if (n < 0 || n >= SB_PATH_BYTES)
        return sb_fail(SB_EARG, "the URL %.200s... is too long", base);
    sb_log_write(o->log, SB_LOG_INFO, "%s (%.1f MB)", url, 1e-6 * (double)file->size);
    struct sb_download d = {.url = url,
                            .path = path,
                            .size = file->size,
                            .sha256 = file->sha256,
                            .pause = o->pause,
                            .progress = o->progress,
                            .log = o->log};
    return sb_download_file(&d);
}

static sb_status get_files(const struct sb_fetch_options *o, const char *staging)
{
    sb_status st = SB_OK;
    for (size_t i = 0; i < SB_CATALOGUE_FILES && o->row->file[i].name && st == SB_OK; i++)
        st = get_file(o, staging, &o->row->file[i]);
    return st;
}

/* ---- the last step ---- */

static sb_status unpack(const struct sb_fetch_options *o, const char *staging,
                        const char *final)
{
    char archive[SB_PATH_BYTES], directory[SB_PATH_BYTES];
    sb_status st = sb_path_join(archive, staging, o->row->file[0].name);
    if (st == SB_OK)
        st = sb_path_join(directory, staging, "unpacked");
    if (st != SB_OK)
        return st;
    (void)sb_file_remove_tree(directory); /* of a run that was killed */
    st = sb_extract_tar(archive, directory, o->row->unpacked, o->progress);
    if (st == SB_OK && rename(directory, final) != 0)
        st = sb_file_failed("make", final);
    (void)sb_file_remove_tree(st == SB_OK ? staging : directory);
    return st;
}

/* Everything between the lock and its end. */
static sb_status fetch_locked(const struct sb_fetch_options *o, const char *staging,
                              const char *final, bool *there)
{
    *there = sb_file_exists(final); /* another process may have been faster */
    if (*there)
        return SB_OK;
    sb_status st = check_room(o, staging);
    if (st == SB_OK)
        st = get_files(o, staging);
    if (st == SB_OK && o->row->pack == SB_PACK_TAR)
        st = unpack(o, staging, final);
    else if (st == SB_OK && rename(staging, final) != 0)
        st = sb_file_failed("make", final);
    return st;
}

sb_status sb_fetch(const struct sb_fetch_options *o, char out[SB_PATH_BYTES], bool *there)
{
    char staging[SB_PATH_BYTES], name[64];
    int fd = -1;
    *there = false;
    snprintf(name, sizeof name, "%s.part", o->row->name);
    sb_status st = sb_path_join(out, o->directory, o->row->name);
    if (st == SB_OK)
        st = sb_path_join(staging, o->directory, name);
    *there = st == SB_OK && sb_file_exists(out);
    if (st != SB_OK || *there)
        return st;
    st = sb_file_make_directory(staging);
    if (st == SB_OK)
        st = lock(o, staging, &fd);
    if (st == SB_OK)
        st = fetch_locked(o, staging, out, there);
    if (fd >= 0)
        close(fd);
    return st;
}
