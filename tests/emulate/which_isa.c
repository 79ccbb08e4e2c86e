/* SPDX-License-Identifier: Apache-2.0
 *
 * Says which kernels run on this CPU: prints the default ISA and then those that can run, and executes
 * a norm on each of them, so that a wrong answer dies of SIGILL.
 */
#include <rownorm/rownorm.h>
#include <stdio.h>
#include <string.h>

enum { n = 100 };

static rownorm_status norm_on(const char *isa) {
    float x[n], y[n];
    for (int i = 0; i < n; i++)
        x[i] = (float)(i - 37);
    rownorm_descriptor d = {0};
    d.struct_size = sizeof d;
    d.op = ROWNORM_LAYER_NORM;
    d.x_type = ROWNORM_F32;
    d.n = n;
    d.isa = isa;
    rownorm_io io = rownorm_dense_io(&d, 1);
    io.x.data = x;
    io.y.data = y;
    rownorm_plan *plan = NULL;
    rownorm_status status = rownorm_plan_create(&plan, &d);
    if (status == ROWNORM_OK && isa && strcmp(rownorm_plan_isa(plan), isa) != 0)
        status = ROWNORM_UNSUPPORTED;
    if (status == ROWNORM_OK)
        status = rownorm_execute_part(plan, &io, 0, 1);
    rownorm_plan_destroy(plan);
    return status;
}

int main(void) {
    int failures = norm_on(NULL) != ROWNORM_OK;
    printf("%s", rownorm_isa());
    for (size_t i = 0; i < rownorm_isa_count(); i++) {
        printf(" %s", rownorm_isa_name(i));
        failures += norm_on(rownorm_isa_name(i)) != ROWNORM_OK;
    }
    printf("\n");
    return failures != 0;
}
