/* quota - how much processor time a container grants.
 *
 * A container on a machine of 64 processors may have the time of two. Sixty-four threads
 * would use that up within a few milliseconds and then stand still, all of them, until the
 * next period. Linux tells the limit in the control group of the process and in those
 * above it; the least counts.
 */
#ifndef SB_BASE_QUOTA_H
#define SB_BASE_QUOTA_H

/* Processors' worth of time this process may use, rounded up; 0: no limit is known. Every
 * path that is read begins with root: "" outside tests. */
int sb_quota_processors(const char *root);

#endif
