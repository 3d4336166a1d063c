/* cifar_c - one corruption at one severity of CIFAR-10-C (or CIFAR-100-C).
 *
 * The directory has labels.npy and one file a kind (gaussian_noise.npy, ...), each u1
 * [50000][32][32][3]: the test images five times, severity 1 first. Any number of images
 * that is a multiple of five will do, and any size of them.
 */
#ifndef SB_CORRUPT_CIFAR_C_H
#define SB_CORRUPT_CIFAR_C_H

#include "corrupt/corrupt.h"
#include "data/dataset.h"

/* kind: the name of one of the nineteen (corrupt.h); severity from 1 to 5. d needs no
 * fini after a failure, but may have it. */
sb_status sb_cifar_c_open(struct sb_dataset *d, const char *directory, const char *kind,
                          uint32_t severity);

#endif
