/* SPDX-License-Identifier: Apache-2.0
 *
 * A C99 program against the installed copy: calls everything that the header declares, so that a missing
 * symbol or a construct that is not C99 shows. */
#include <rownorm/rownorm.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults = 0;

static void expect(int holds, const char *what) {
    if (!holds) {
        printf("wrong: %s (%s)\n", what, rownorm_last_error());
        faults++;
    }
}

static int run_in_order(void *context, size_t tasks, rownorm_task_fn task, void *task_context) {
    size_t i;
    (void)context;
    for (i = 0; i < tasks; i++)
        task(task_context, i);
    return 0;
}

static void use_plans(void) {
    float x[8] = {1, -1, 1, -1, 2, -2, 2, -2}, y[8] = {0};
    rownorm_descriptor d = {0};
    rownorm_plan *plan = NULL, *own = NULL;
    void *memory = malloc(rownorm_plan_size());
    rownorm_io io;
    d.struct_size = sizeof d;
    d.op = ROWNORM_L2_NORM;
    d.x_type = ROWNORM_F32;
    d.n = 4;
    d.l2_eps = ROWNORM_L2_EPS_INSIDE;
    expect(rownorm_plan_create(&plan, &d) == ROWNORM_OK, "rownorm_plan_create");
    expect(rownorm_plan_init(&own, memory, rownorm_plan_size(), &d) == ROWNORM_OK, "rownorm_plan_init");
    io = rownorm_dense_io(&d, 2);
    io.x.data = x;
    io.y.data = y;
    expect(rownorm_execute(plan, &io) == ROWNORM_OK && y[7] == -0.5f, "rownorm_execute");
    memset(y, 0, sizeof y);
    expect(rownorm_execute_part(own, &io, 1, 2) == ROWNORM_OK && y[4] == 0.5f && y[0] == 0, "rownorm_execute_part");
    expect(rownorm_execute_on(plan, &io, run_in_order, NULL) == ROWNORM_OK && y[0] == 0.5f, "rownorm_execute_on");
    expect(!strcmp(rownorm_plan_isa(plan), rownorm_isa()), "rownorm_plan_isa");
    d.eps = -1;
    expect(rownorm_plan_create(&own, &d) == ROWNORM_INVALID_ARGUMENT && !own, "an eps of -1 is refused");
    expect(strstr(rownorm_last_error(), "eps") != NULL, "rownorm_last_error");
    rownorm_plan_destroy(plan);
    free(memory);
}

static void use_one_line_calls(void) {
    const float x[4] = {3, -3, 3, -3}, one[4] = {1, 1, 1, 1};
    const uint16_t f16[4] = {0x4200, 0xc200, 0x4200, 0xc200}, bf16[4] = {0x4040, 0xc040, 0x4040, 0xc040};
    float y[4], r[4] = {0};
    uint16_t h[4], s[4] = {0};
    expect(!rownorm_rms_norm_f32(y, x, NULL, 1, 4, 0) && y[1] == -1, "rownorm_rms_norm_f32");
    expect(!rownorm_rms_norm_f16(h, f16, NULL, 1, 4, 0) && h[1] == 0xbc00, "rownorm_rms_norm_f16");
    expect(!rownorm_rms_norm_bf16(h, bf16, NULL, 1, 4, 0) && h[1] == 0xbf80, "rownorm_rms_norm_bf16");
    expect(!rownorm_layer_norm_f32(y, x, one, one, 1, 4, 0) && y[0] == 2, "rownorm_layer_norm_f32");
    expect(!rownorm_layer_norm_f16(h, f16, NULL, NULL, 1, 4, 0) && h[0] == 0x3c00, "rownorm_layer_norm_f16");
    expect(!rownorm_layer_norm_bf16(h, bf16, NULL, NULL, 1, 4, 0) && h[0] == 0x3f80, "rownorm_layer_norm_bf16");
    expect(!rownorm_add_rms_norm_f32(y, r, x, NULL, 1, 4, 0) && r[3] == -3, "rownorm_add_rms_norm_f32");
    expect(!rownorm_add_rms_norm_f16(h, s, f16, NULL, 1, 4, 0) && s[0] == 0x4200, "rownorm_add_rms_norm_f16");
    memset(s, 0, sizeof s);
    expect(!rownorm_add_rms_norm_bf16(h, s, bf16, NULL, 1, 4, 0) && s[0] == 0x4040, "rownorm_add_rms_norm_bf16");
}

int main(void) {
    use_plans();
    use_one_line_calls();
    expect(rownorm_version() == ROWNORM_VERSION, "the header and the library are of one version");
    expect(rownorm_isa_count() >= 1 && !strcmp(rownorm_isa_name(0), rownorm_isa()), "rownorm_isa");
    expect(rownorm_isa_built_name(0) != NULL, "rownorm_isa_built_name");
    expect(rownorm_isa_obstacle(rownorm_isa()) == NULL, "rownorm_isa_obstacle");
    rownorm_set_num_threads(1);
    expect(rownorm_num_threads() == 1, "rownorm_num_threads");
    expect(!strcmp(rownorm_status_name(ROWNORM_OK), "ROWNORM_OK"), "rownorm_status_name");
    if (!faults)
        printf("all right\n");
    return faults;
}
