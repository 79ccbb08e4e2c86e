// SPDX-License-Identifier: Apache-2.0
#include "apply.hpp"

namespace {

using namespace rownorm;

template <bool centred, Affine affine>
constexpr ApplyKernel apply_one = apply<F64, F64, F64, centred, affine>;

} // namespace

extern const rownorm::F64ApplyKernels ROWNORM_SYMBOL(apply_f64);
constexpr rownorm::F64ApplyKernels ROWNORM_SYMBOL(apply_f64) = {{
    {apply_one<false, kNone>, apply_one<false, kGain>, apply_one<false, kOffsetGain>, apply_one<false, kGainBias>,
     apply_one<false, kGeneral>},
    {apply_one<true, kNone>, apply_one<true, kGain>, apply_one<true, kGeneral>, apply_one<true, kGainBias>,
     apply_one<true, kGeneral>},
}};
