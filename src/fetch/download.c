/* download - see download.h. */
#include "fetch/download.h"

#ifdef SB_HAVE_FETCH

#include <curl/curl.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/part.h"
#include "fetch/digest.h"

enum {
    CONNECT_SECONDS = 30,
    STALL_SECONDS =
        60, /* that long with less than STALL_RATE bytes a second is too long */
    STALL_RATE = 100,
    REDIRECTS = 10,
    WORTHWHILE = 1 << 20, /* a try that brought so many bytes does not count */
    NAP_NANOSECONDS = 100000000,
};

struct transfer {
    const struct sb_download *d;
    struct sb_part part;
    CURL *curl;
    char error[CURL_ERROR_SIZE];
    /* of one try */
    bool begun;           /* the body's first bytes were seen, and are wanted */
    bool has_range;       /* the answer has a Content-Range ... */
    uint64_t from, total; /* ... that says this */
    sb_status st;         /* why it was given up for good */
};

enum outcome { DONE, AGAIN, NEVER };

/* ---- what arrives ---- */

static sb_status changed(const struct transfer *t, uint64_t size)
{
    return sb_fail(SB_EFORMAT,
                   "%s has %llu bytes there, want %llu: it is not the file it was; give "
                   "another place with --url",
                   t->d->url, (unsigned long long)size, (unsigned long long)t->d->size);
}

/* Takes a number and the sign behind it. */
static bool read_number(const char **text, char sign, uint64_t *out)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end + 1;
    return errno == 0 && *end == sign;
}

/* "bytes FROM-TO/TOTAL" */
static bool parse_range(const char *text, uint64_t *from, uint64_t *total)
{
    static const char unit[] = "bytes ";
    uint64_t to;
    text += strspn(text, " \t");
    if (strncmp(text, unit, strlen(unit)) != 0)
        return false;
    text += strlen(unit);
    return read_number(&text, '-', from) && read_number(&text, '/', &to) &&
           read_number(&text, '\0', total);
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    static const char key[] = "content-range:";
    struct transfer *t = context;
    char text[128];
    size_t n = size * count, k = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, line, k);
    text[k] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    if (strncmp(text, "HTTP/", 5) == 0)
        t->has_range = false; /* another answer: what a redirect said does not count */
    if (strncasecmp(text, key, strlen(key)) == 0)
        t->has_range = parse_range(text + strlen(key), &t->from, &t->total);
    return n;
}

/* Whether the body is the file, from where the part ends (or from its beginning: then the
 * part is emptied). */
static bool begin_body(struct transfer *t)
{
    long code = 0;
    curl_off_t length = -1;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (code == 206 && t->has_range && t->total != t->d->size)
        t->st = changed(t, t->total);
    else if (code == 200 && length >= 0 && (uint64_t)length != t->d->size)
        t->st = changed(t, (uint64_t)length);
    else if (code == 200 || (code == 206 && (!t->has_range || t->from != t->part.size)))
        t->st = sb_part_restart(&t->part);
    /* A piece that is not the one asked for is dropped, and the next try asks for all. */
    t->begun = t->st == SB_OK &&
               (code == 200 || (code == 206 && t->has_range && t->from == t->part.size));
    return t->begun;
}

static size_t on_write(char *data, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    size_t n = size * count;
    if (!t->begun && !begin_body(t))
        return 0;
    if (n > t->d->size - t->part.size)
        t->st = changed(t, t->part.size + n);
    else
        t->st = sb_part_append(&t->part, data, n);
    return t->st == SB_OK ? n : 0;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up,
                       curl_off_t up_now)
{
    struct transfer *t = context;
    (void)total, (void)now, (void)up, (void)up_now;
    if (t->st == SB_OK)
        t->st = sb_progress_update(t->d->progress, t->part.size);
    return t->st != SB_OK;
}

/* ---- one try ---- */

static void set_options(struct transfer *t)
{
    CURL *c = t->curl;
    curl_easy_setopt(c, CURLOPT_URL, t->d->url);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "sebays");
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, (long)REDIRECTS);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS,
                     (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_RATE);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_write);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
}

/* Trying again cannot help. */
static bool is_hopeless(CURLcode rc)
{
    switch (rc) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return true;
    default:
        return false;
    }
}

static sb_status refused(const struct transfer *t, long code)
{
    return sb_fail(SB_EIO,
                   "cannot fetch %s: the server answers %ld%s; give another place with "
                   "--url",
                   t->d->url, code, code == 404 ? " (not found)" : "");
}

/* Records in t->error why it should be tried again. */
static enum outcome judge(struct transfer *t, CURLcode rc)
{
    long code = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    if (t->st != SB_OK)
        return NEVER;
    if (t->part.size == t->d->size)
        return DONE;
    if (code == 416) {
        t->st = sb_part_restart(&t->part);
        snprintf(t->error, sizeof t->error, "the server has no such part of it");
    } else if (code >= 500 || code == 408 || code == 429) {
        snprintf(t->error, sizeof t->error, "the server answers %ld", code);
    } else if (code >= 400) {
        t->st = refused(t, code);
    } else if (is_hopeless(rc)) {
        t->st =
            sb_fail(rc == CURLE_OUT_OF_MEMORY ? SB_ENOMEM : SB_EIO, "cannot fetch %s: %s",
                    t->d->url, t->error[0] ? t->error : curl_easy_strerror(rc));
    } else if (rc == CURLE_OK || t->error[0] == '\0') {
        snprintf(t->error, sizeof t->error, "%s",
                 rc == CURLE_OK ? "the connection ended early" : curl_easy_strerror(rc));
    }
    return t->st == SB_OK ? AGAIN : NEVER;
}

static enum outcome try_once(struct transfer *t)
{
    char range[32];
    t->begun = t->has_range = false;
    t->error[0] = '\0';
    if (t->part.size == t->d->size)
        return DONE;
    snprintf(range, sizeof range, "%llu-", (unsigned long long)t->part.size);
    curl_easy_setopt(t->curl, CURLOPT_RANGE, t->part.size > 0 ? range : NULL);
    return judge(t, curl_easy_perform(t->curl));
}

/* ---- until it is there ---- */

/* A pause that can be canceled. */
static sb_status pause_for(const struct transfer *t, double seconds)
{
    const struct timespec nap = {.tv_nsec = NAP_NANOSECONDS};
    sb_status st = SB_OK;
    for (double slept = 0.0; slept < seconds && st == SB_OK;
         slept += 1e-9 * NAP_NANOSECONDS) {
        nanosleep(&nap, NULL);
        st = sb_progress_update(t->d->progress, t->part.size);
    }
    return st;
}

static sb_status gave_up(const struct transfer *t)
{
    return sb_fail(SB_EIO,
                   "cannot fetch %s: %s; gave up after %d tries with %llu of %llu bytes, "
                   "which are kept: the same command goes on from there",
                   t->d->url, t->error, SB_DOWNLOAD_TRIES,
                   (unsigned long long)t->part.size, (unsigned long long)t->d->size);
}

static sb_status try_until_done(struct transfer *t)
{
    uint64_t most = t->part.size; /* that the part ever had */
    for (int tries = 1;; tries++) {
        enum outcome end = try_once(t);
        if (end != AGAIN)
            return end == DONE ? SB_OK : t->st;
        if (t->part.size >= most + WORTHWHILE)
            tries = 1;
        most = t->part.size > most ? t->part.size : most;
        if (tries >= SB_DOWNLOAD_TRIES)
            return gave_up(t);
        sb_log_write(t->d->log, SB_LOG_WARN,
                     "%s: %s after %.1f of %.1f MB; trying again (%d of %d)", t->d->url,
                     t->error, 1e-6 * (double)t->part.size, 1e-6 * (double)t->d->size,
                     tries + 1, SB_DOWNLOAD_TRIES);
        sb_status st = pause_for(t, ldexp(t->d->pause, tries - 1));
        if (st != SB_OK)
            return st;
    }
}

static sb_status get_all(struct transfer *t)
{
    if (t->part.size > t->d->size) /* of another file */
        t->st = sb_part_restart(&t->part);
    if (t->st != SB_OK)
        return t->st;
    t->curl = curl_easy_init();
    if (!t->curl)
        return sb_fail(SB_ENOMEM, "cannot fetch %s: no memory for libcurl", t->d->url);
    set_options(t);
    sb_progress_begin_bytes(t->d->progress, "fetch", t->part.size, t->d->size);
    sb_status st = try_until_done(t);
    curl_easy_cleanup(t->curl);
    if (st == SB_OK)
        (void)sb_progress_update(t->d->progress, t->part.size);
    return st == SB_OK ? sb_progress_end(t->d->progress) : st;
}

static sb_status check(struct transfer *t)
{
    char sum[SB_DIGEST_HEX];
    sb_status st = sb_digest_file(t->part.path, t->d->progress, sum);
    if (st != SB_OK)
        return st;
    if (strcmp(sum, t->d->sha256) == 0)
        return sb_part_commit(&t->part);
    sb_part_remove(&t->part);
    return sb_fail(SB_EFORMAT,
                   "%s: its SHA-256 is %s, want %s; what was fetched is removed, nothing "
                   "of it is used: try again, or give another place with --url",
                   t->d->url, sum, t->d->sha256);
}

sb_status sb_download_file(const struct sb_download *d)
{
    struct transfer t = {.d = d, .st = SB_OK};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return sb_fail(SB_EMISSING, "cannot fetch %s: libcurl does not start", d->url);
    sb_status st = sb_part_open(&t.part, d->path);
    if (st == SB_OK)
        st = get_all(&t);
    if (st == SB_OK)
        st = check(&t);
    sb_part_close(&t.part);
    curl_global_cleanup();
    return st;
}

#else

sb_status sb_download_file(const struct sb_download *d)
{
    return sb_fail(SB_EMISSING,
                   "cannot fetch %s: this build has no libcurl or no libcrypto; install "
                   "libcurl4-openssl-dev and libssl-dev, configure and build again",
                   d->url);
}

#endif
