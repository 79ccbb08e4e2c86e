// SPDX-License-Identifier: Apache-2.0
#include "apply_mixed.hpp"

extern const rownorm::ApplyKernels ROWNORM_SYMBOL(apply_bf16);
constexpr rownorm::ApplyKernels ROWNORM_SYMBOL(apply_bf16) = apply_kernels<Bf16>();
