/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops that an engineer would write first. ROWNORM_PEER_NAME is the function that this object defines.
 */
#include "peers.h"

#include <math.h>

static void apply(float *y, const float *x, const float *w, int64_t n, float factor) {
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * factor * w[i];
}

static float sum_of_squares(const float *x, int64_t n) {
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static void rms_row(const struct rownorm_peer_arguments *a, const float *x, float *y) {
    apply(y, x, a->w, a->n, 1 / sqrtf(sum_of_squares(x, a->n) / (float)a->n + a->eps));
}

static void add_rms_row(const struct rownorm_peer_arguments *a, const float *x, float *residual, float *y) {
    for (int64_t i = 0; i < a->n; i++)
        residual[i] += x[i];
    rms_row(a, residual, y);
}

static void l2_row(const struct rownorm_peer_arguments *a, const float *x, float *y) {
    apply(y, x, a->w, a->n, 1 / fmaxf(sqrtf(sum_of_squares(x, a->n)), a->eps));
}

static void layer_row(const struct rownorm_peer_arguments *a, const float *x, float *y) {
    float sum = 0, squares = 0;
    for (int64_t i = 0; i < a->n; i++)
        sum += x[i];
    const float mean = sum / (float)a->n;
    for (int64_t i = 0; i < a->n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    const float factor = 1 / sqrtf(squares / (float)a->n + a->eps);
    for (int64_t i = 0; i < a->n; i++)
        y[i] = (x[i] - mean) * factor * a->w[i] + a->b[i];
}

void ROWNORM_PEER_NAME(enum rownorm_peer_op op, const struct rownorm_peer_arguments *a) {
    for (int64_t row = 0; row < a->rows; row++) {
        const float *x = a->x + row * a->n;
        float *y = a->y + row * a->n;
        switch (op) {
        case ROWNORM_PEER_RMS:
            rms_row(a, x, y);
            break;
        case ROWNORM_PEER_ADD_RMS:
            add_rms_row(a, x, a->residual + row * a->n, y);
            break;
        case ROWNORM_PEER_L2:
            l2_row(a, x, y);
            break;
        case ROWNORM_PEER_LAYER:
            layer_row(a, x, y);
            break;
        }
    }
}
