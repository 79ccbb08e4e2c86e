// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rownorm/rownorm.h>

namespace rownorm {

// Keeps the message for rownorm_last_error() on this thread and returns `status`.
[[gnu::format(printf, 2, 3), gnu::cold]] rownorm_status fail(rownorm_status status, const char *format, ...) noexcept;

} // namespace rownorm
