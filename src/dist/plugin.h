/* plugin - what the library knows of an MPI: one table, found by name in a shared object.
 *
 * The interfaces of two MPIs differ in binary form, so src/dist/plugin/mpi.c is compiled once
 * with each and opened at run time; program and library link none. A plugin includes this
 * header and <mpi.h>, and calls nothing of the library: failures are MPI's own codes, and
 * all memory is the caller's.
 */
#ifndef SB_DIST_PLUGIN_H
#define SB_DIST_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

enum { SB_PLUGIN_VERSION = 2 };
#define SB_PLUGIN_SYMBOL "sebays_mpi_plugin"

/* Open MPI's communicators and requests are pointers, MPICH's numbers. */
union sb_plugin_handle {
    void *pointer;
    int number;
};

/* A request under way and the lists that MPI reads until it is done. */
struct sb_plugin_slot {
    union sb_plugin_handle *group; /* whose request it is */
    union sb_plugin_handle request;
    int *out_bytes, *out_at; /* [size] */
    int *in_bytes, *in_at;   /* [size] */
};

struct sb_plugin {
    uint32_t version;
    /* Joins the job; all: the group of all its processes. 0, or a code for explain(), as all
     * of these. */
    int (*begin)(union sb_plugin_handle *all, uint32_t *rank, uint32_t *size);
    /* The processes of a group that give the same colour, in their old order. Waits. */
    int (*split)(union sb_plugin_handle *group, int colour, union sb_plugin_handle *out,
                 uint32_t *rank, uint32_t *size);
    void (*release)(union sb_plugin_handle *group);
    int (*broadcast)(struct sb_plugin_slot *s, void *data, int bytes, int root);
    /* mine NULL: in place. The slot's in lists say what comes from whom and goes where. */
    int (*all_gather)(struct sb_plugin_slot *s, const void *mine, int bytes, void *all);
    int (*exchange)(struct sb_plugin_slot *s, const void *out, void *in);
    int (*barrier)(struct sb_plugin_slot *s);
    int (*test)(struct sb_plugin_slot *s, int *done);
    void (*explain)(int code, char *out, size_t size);
    void (*describe)(char *out, size_t size); /* the MPI's own name and version */
    int (*end)(void);                         /* leaves the job; all ranks together */
    void (*abort)(int code);                  /* ends all processes of the job */
};

#endif
