// SPDX-License-Identifier: Apache-2.0
#include "apply_mixed.hpp"

extern const rownorm::ApplyKernels ROWNORM_SYMBOL(apply_f32);
constexpr rownorm::ApplyKernels ROWNORM_SYMBOL(apply_f32) = apply_kernels<F32>();
