// SPDX-License-Identifier: Apache-2.0
#include "status.hpp"

#include <cstdarg>
#include <cstdio>

namespace rownorm {
namespace {

// A plain array: nothing to construct or destroy when threads come and go, or at dlclose.
thread_local char last_error[512];

} // namespace

rownorm_status fail(rownorm_status status, const char *format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return status;
}

} // namespace rownorm

const char *rownorm_last_error(void) { return rownorm::last_error; }

const char *rownorm_status_name(rownorm_status status) {
    switch (status) {
    case ROWNORM_OK:
        return "ROWNORM_OK";
    case ROWNORM_INVALID_ARGUMENT:
        return "ROWNORM_INVALID_ARGUMENT";
    case ROWNORM_UNSUPPORTED:
        return "ROWNORM_UNSUPPORTED";
    case ROWNORM_OUT_OF_MEMORY:
        return "ROWNORM_OUT_OF_MEMORY";
    case ROWNORM_EXECUTOR_FAILED:
        return "ROWNORM_EXECUTOR_FAILED";
    default:
        return "unknown status";
    }
}

uint32_t rownorm_version(void) { return ROWNORM_VERSION; }
