// SPDX-License-Identifier: Apache-2.0
//
// rownorm_openmp_host: calls from inside an OpenMP host's threads, whole ones and one part each.
#include "batch.hpp"

#include <omp.h>

int main() {
    int wrong = 0, threads = 0;
#pragma omp parallel num_threads(6) reduction(+ : wrong)
    {
        attack::Batch mine(400, 1024, ROWNORM_RMS_NORM, nullptr, 1.0F + static_cast<float>(omp_get_thread_num()));
        for (int i = 0; i < 10; ++i)
            wrong += mine.run() && mine.run_part() ? 0 : 1;
#pragma omp single
        threads = omp_get_num_threads();
    }
    constexpr std::int64_t rows = 1000, n = 512;
    const std::vector<float> x(rows * n, 2.0F);
    std::vector<float> y(x.size());
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = ROWNORM_RMS_NORM;
    d.x_type = ROWNORM_F32;
    d.n = n;
    rownorm_plan *plan = nullptr;
    rownorm_io io = rownorm_dense_io(&d, rows);
    io.x.data = x.data();
    io.y.data = y.data();
    if (rownorm_plan_create(&plan, &d) != ROWNORM_OK)
        return 1;
#pragma omp parallel for reduction(+ : wrong)
    for (int part = 0; part < 7; ++part)
        wrong += rownorm_execute_part(plan, &io, part, 7) == ROWNORM_OK ? 0 : 1;
    rownorm_plan_destroy(plan);
    for (const float v : y)
        wrong += v == 1 ? 0 : 1;
    std::printf("%d threads, %d wrong\n", threads, wrong);
    return wrong == 0 && threads > 1 ? 0 : 1;
}
