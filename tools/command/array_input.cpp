// SPDX-License-Identifier: Apache-2.0
#include "array_input.hpp"

#include "containers.hpp"
#include "failure.hpp"
#include "report.hpp"
#include "text.hpp"

namespace command {

array_input open_array(const std::string &path, std::optional<rownorm_type> named) {
    if (const auto name = npz_name(path))
        return open_npz_member(*name, named);
    if (const auto name = safetensors_name(path))
        return open_tensor(*name);
    return open_npy(open_source(path), named);
}

array_input open_npy(std::unique_ptr<source> from, std::optional<rownorm_type> named) {
    array_input in{std::move(from), {}};
    try {
        in.info = read_npy_header([&](std::span<std::byte> into) { return in.from->read(into); }, named);
    } catch (const format_error &error) {
        fail("{}: {}", in.name(), error.what());
    }
    if (const auto size = in.from->size())
        require_data(in, in.info.bytes, *size - in.info.data_begin);
    return in;
}

void require_opaque(const array_input &in, std::optional<rownorm_type> named) {
    if (named && !in.info.of.opaque && *named != in.info.of.type)
        fail_usage("{}: type {} found; --type {} is for opaque bytes", in.name(), in_quotes(in.info.of.descr),
                   type_name(*named));
}

void require_data(const array_input &in, std::int64_t promised, std::int64_t found) {
    if (found < promised)
        fail("{}: {} of data found; expected {} for shape {} of {}", in.name(), bytes_text(std::uint64_t(found)),
             bytes_text(std::uint64_t(promised)), shape_text(in.info.shape), type_name(in.info.of.type));
}

void finish_reading(const array_input &in) {
    std::byte more{};
    std::uint64_t extra = 0;
    if (const auto size = in.from->size())
        extra = std::uint64_t(*size - in.info.data_begin - in.info.bytes);
    else if (in.from->read(std::span(&more, 1)) == 0)
        return;
    else
        return warn("{}: bytes after the array of shape {} found; ignored", in.name(), shape_text(in.info.shape));
    if (extra > 0)
        warn("{}: {} after the array of shape {} found; ignored", in.name(), bytes_text(extra),
             shape_text(in.info.shape));
    in.from->finish();
}

} // namespace command
