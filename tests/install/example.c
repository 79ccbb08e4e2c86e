/* SPDX-License-Identifier: Apache-2.0
 * Replacing an engine's add + RMSNorm: a plan once, then a call per layer and batch. */
#include <rownorm/rownorm.h>
#include <stdio.h>

enum { tokens = 4, hidden = 4096, threads = 2 };
static float x[tokens * hidden], residual[tokens * hidden], y[tokens * hidden], gain[hidden];

int main(void) {
    rownorm_descriptor d = {0}; /* what to compute; every other field may stay 0 */
    rownorm_plan *plan;
    rownorm_io io;
    int thread, i;
    d.struct_size = sizeof d;
    d.op = ROWNORM_RMS_NORM;
    d.x_type = ROWNORM_F32; /* residual, y and gain have the type of x unless they are given one */
    d.n = hidden;
    d.eps = 1e-6;
    if (rownorm_plan_create(&plan, &d) != ROWNORM_OK) {
        fprintf(stderr, "%s\n", rownorm_last_error());
        return 1;
    }
    for (i = 0; i < tokens * hidden; i++) {
        x[i] = residual[i] = 1.5f;
        gain[i % hidden] = 2;
    }
    io = rownorm_dense_io(&d, tokens); /* where: dense rows; strides may be set to any others */
    io.x.data = x;
    io.residual.data = residual;     /* residual + x is normalised ... */
    io.residual_out.data = residual; /* ... and written back in place */
    io.w.data = gain;
    io.y.data = y;
    for (thread = 0; thread < threads; thread++) /* on threads of your own: each calls with its number */
        if (rownorm_execute_part(plan, &io, thread, threads) != ROWNORM_OK)
            return 1;
    printf("residual %.1f, y %.3f, on %s\n", residual[0], y[0], rownorm_plan_isa(plan));
    if (rownorm_execute(plan, &io) != ROWNORM_OK) /* or on the library's threads: residual += x once more */
        return 1;
    printf("residual %.1f, y %.3f\n", residual[0], y[0]);
    rownorm_plan_destroy(plan);
    return 0;
}
