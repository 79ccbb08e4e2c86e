// SPDX-License-Identifier: Apache-2.0
//
// A C++ program against the installed copy.
#include <rownorm/rownorm.h>

#include <cstdio>
#include <vector>

int main() {
    std::vector<float> x(2 * 768, 3.0F), y(x.size());
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = ROWNORM_LAYER_NORM;
    d.x_type = ROWNORM_F32;
    d.n = 768;
    d.eps = 1e-12;
    rownorm_plan *plan = nullptr;
    if (rownorm_plan_create(&plan, &d) != ROWNORM_OK) {
        std::printf("%s\n", rownorm_last_error());
        return 1;
    }
    x[0] = 4;
    rownorm_io io = rownorm_dense_io(&d, 2);
    io.x.data = x.data();
    io.y.data = y.data();
    const rownorm_status status = rownorm_execute(plan, &io);
    rownorm_plan_destroy(plan);
    // The first row has one element above 767 equal ones: sqrt(767) deviations. The second is constant.
    const bool right = y[0] > 27.69F && y[0] < 27.7F && y[768] == 0;
    std::printf(status == ROWNORM_OK && right ? "all right\n" : "wrong: %g\n", static_cast<double>(y[0]));
    return right ? 0 : 1;
}
