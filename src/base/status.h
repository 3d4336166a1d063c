/* status - how every fallible function of the library answers.
 *
 * A function that can fail returns an sb_status. Where it fails it says why, once, in one
 * sentence that names what was found, what was expected and what to do:
 *
 *     return sb_fail(SB_EFORMAT, "cifar: %s: want %zu bytes, have %zu", path, want, have);
 *
 * The sentence belongs to the calling thread and stays until that thread's next failure.
 * The library never prints it; the caller decides who reads it.
 */
#ifndef SB_BASE_STATUS_H
#define SB_BASE_STATUS_H

#include <stddef.h>

typedef enum sb_status {
    SB_OK = 0,
    SB_ENOMEM,    /* an allocation failed */
    SB_EARG,      /* the caller's argument is out of range or does not fit another one */
    SB_EIO,       /* the operating system refused: open, read, write, rename, ... */
    SB_EFORMAT,   /* a file's bytes are not what its format promises */
    SB_ENUMERIC,  /* a number that must be finite is not */
    SB_ECANCELED, /* a callback asked to stop */
    SB_EMISSING,  /* this build or machine lacks an optional part */
    SB_STATUS_COUNT
} sb_status;

enum { SB_MESSAGE_BYTES = 1024 }; /* of a sentence and its end */

/* Records the sentence for this thread and returns st. A sentence longer than the buffer
 * is cut, and control characters (of what a file held, say) become '?'. Arguments may point
 * into the sentence recorded before. */
sb_status sb_fail(sb_status st, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The sentence of this thread's last failure; "" if there was none. */
const char *sb_message(void);

/* text for a screen: control characters, C1 of UTF-8 too, become '?'. */
void sb_plain(char *text);

/* A word for the code itself: "ok", "out of memory", ... Never NULL. */
const char *sb_status_name(sb_status st);

#endif
