// SPDX-License-Identifier: Apache-2.0
#include "apply.hpp"

extern const rownorm::F64ApplyKernels ROWNORM_SYMBOL(apply_f64);
constexpr rownorm::F64ApplyKernels ROWNORM_SYMBOL(apply_f64) = {{
    {apply<F64, F64, F64, false, rownorm::kNone>, apply<F64, F64, F64, false, rownorm::kGain>,
     apply<F64, F64, F64, false, rownorm::kGainBias>, apply<F64, F64, F64, false, rownorm::kGeneral>},
    {apply<F64, F64, F64, true, rownorm::kNone>, apply<F64, F64, F64, true, rownorm::kGain>,
     apply<F64, F64, F64, true, rownorm::kGainBias>, apply<F64, F64, F64, true, rownorm::kGeneral>},
}};
