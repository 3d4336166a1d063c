/* repair - the records of a run and its checkpoints agree.
 *
 * A checkpoint counts the bytes of each record that belong to it, and they are on the disk
 * before it is. So when a run is taken up again, what is longer was written after the
 * checkpoint and is cut off, to be written again. What is shorter was damaged by somebody
 * else, or by a disk that does not keep its word: lines that are whole are kept, of the
 * trajectory rows that are whole (zeros stand for the others), and a warning says so.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/state.h"

static const enum sb_run_file records[] = {SB_RUN_METRICS, SB_RUN_UPDATES,
                                           SB_RUN_TRAJECTORY};
enum { RECORDS = sizeof records / sizeof *records };

/* The bytes of a record that the checkpoint counts. */
static uint64_t *counted_bytes(struct sb_position *at, enum sb_run_file record)
{
    return record == SB_RUN_METRICS   ? &at->metrics_bytes
           : record == SB_RUN_UPDATES ? &at->updates_bytes
                                      : &at->trajectory_bytes;
}

sb_status sb_trainer_sync_records(const struct sb_trainer *t)
{
    sb_status st = SB_OK;
    for (size_t i = 0; i < RECORDS && st == SB_OK; i++) {
        char path[SB_PATH_BYTES];
        st = sb_run_path(t->options->out, records[i], path);
        if (st == SB_OK)
            st = sb_file_sync(path);
    }
    return st;
}

/* ---- damage -------------------------------------------------------------------------- */

/* How much of a record of lines is whole lines; a crash may leave zeros. */
static size_t whole_lines(const unsigned char *text, size_t size)
{
    const unsigned char *zero = memchr(text, 0, size);
    size_t n = zero ? (size_t)(zero - text) : size;
    while (n > 0 && text[n - 1] != '\n')
        n--;
    return n;
}

static sb_status repair_lines(const struct sb_trainer *t, const char *path,
                              uint64_t *bytes)
{
    struct sb_map m = {0};
    uint64_t counted = *bytes;
    sb_status st = sb_file_exists(path) ? sb_map_open(&m, path) : SB_OK;
    if (st != SB_OK)
        return st;
    size_t size = m.size < counted ? m.size : (size_t)counted;
    size_t whole = size > 0 ? whole_lines(m.data, size) : 0;
    sb_map_close(&m);
    if (whole == counted)
        return sb_file_cut(path, counted);
    sb_log_write(
        t->env->log, SB_LOG_WARN,
        "%s was damaged: of %llu bytes that the checkpoint counts, %zu are whole "
        "lines; the others are lost, the model is not concerned",
        path, (unsigned long long)counted, whole);
    *bytes = whole;
    return sb_file_cut(path, whole);
}

/* Zeros up to where the next row goes. */
static sb_status pad(const char *path, uint64_t size, uint64_t want)
{
    static const unsigned char zeros[4096];
    sb_status st = SB_OK;
    while (size < want && st == SB_OK) {
        size_t n = want - size < sizeof zeros ? (size_t)(want - size) : sizeof zeros;
        st = sb_file_append(path, zeros, n);
        size += n;
    }
    return st;
}

static sb_status repair_trajectory(const struct sb_trainer *t, const char *path,
                                   uint64_t counted)
{
    struct stat info;
    unsigned char head[SB_NPY_HEAD];
    size_t head_size;
    uint32_t images = sb_trainer_trajectory_head(t, head, &head_size);
    uint64_t row = 4 * (uint64_t)images * t->net.arch.classes;
    uint64_t size = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
    if (size >= counted)
        return sb_file_cut(path, counted);
    uint64_t rows = size > head_size ? (size - head_size) / row : 0;
    sb_log_write(t->env->log, SB_LOG_WARN,
                 "%s was damaged: %llu of %llu epochs are left, zeros stand for the "
                 "others; the model is not concerned",
                 path, (unsigned long long)rows,
                 (unsigned long long)((counted - head_size) / row));
    sb_status st = sb_file_cut(path, size < head_size ? 0 : head_size + rows * row);
    if (st == SB_OK && size < head_size)
        st = sb_file_append(path, head, head_size);
    return st == SB_OK ? pad(path, head_size + rows * row, counted) : st;
}

sb_status sb_trainer_cut_records(struct sb_trainer *t)
{
    sb_status st = SB_OK;
    for (size_t i = 0; i < RECORDS && st == SB_OK; i++) {
        char path[SB_PATH_BYTES];
        uint64_t *bytes = counted_bytes(&t->at, records[i]);
        st = sb_run_path(t->options->out, records[i], path);
        if (st == SB_OK)
            st = records[i] == SB_RUN_TRAJECTORY ? repair_trajectory(t, path, *bytes)
                                                 : repair_lines(t, path, bytes);
    }
    return st;
}
