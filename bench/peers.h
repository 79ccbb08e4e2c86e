/* SPDX-License-Identifier: Apache-2.0
 *
 * Other ways to normalise f32 rows, timed beside the library: plain C loops, and libraries that were found at
 * configure time. This file is C, for the loops.
 */
#ifndef ROWNORM_BENCH_PEERS_H
#define ROWNORM_BENCH_PEERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rownorm_peer_op { ROWNORM_PEER_RMS, ROWNORM_PEER_ADD_RMS, ROWNORM_PEER_LAYER, ROWNORM_PEER_L2 };

struct rownorm_peer_arguments {
    float *y, *residual; /* residual += x, and it is normalised: ADD_RMS only */
    const float *x, *w, *b;
    int64_t rows, n;
    float eps;
};

/* The same source (peer_loop.c) compiled with -O3 and with -O3 -ffast-math. */
void rownorm_peer_loop(enum rownorm_peer_op op, const struct rownorm_peer_arguments *arguments);
void rownorm_peer_loop_fast_math(enum rownorm_peer_op op, const struct rownorm_peer_arguments *arguments);

#ifdef __cplusplus
}
#endif

#endif
