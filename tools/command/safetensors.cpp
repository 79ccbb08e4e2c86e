// SPDX-License-Identifier: Apache-2.0
#include "containers.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace command {

namespace {

using nlohmann::json;

/// The format's own limit.
constexpr std::uint64_t most_header_bytes_of_tensors = 100'000'000;

/// Part of a file as a source of its own.
class part_source final : public source {
public:
    part_source(std::string name, std::unique_ptr<source> file, std::int64_t begin, std::int64_t size)
        : source(std::move(name)), file_(std::move(file)), begin_(begin), size_(size) {}

    std::size_t read(std::span<std::byte> into) override {
        const std::size_t got = read_at(at_, into);
        at_ += std::int64_t(got);
        return got;
    }
    std::size_t read_at(std::int64_t offset, std::span<std::byte> into) override {
        const auto left = std::size_t(std::max<std::int64_t>(size_ - offset, 0));
        return file_->read_at(begin_ + offset, into.first(std::min(into.size(), left)));
    }
    bool random_access() const override { return true; }
    std::optional<std::int64_t> size() const override { return size_; }

private:
    std::unique_ptr<source> file_;
    const std::int64_t begin_, size_;
    std::int64_t at_ = 0;
};

std::string read_header(source &file, std::int64_t file_bytes) {
    std::array<std::byte, 8> prefix{};
    if (file.read_at(0, prefix) < prefix.size())
        fail("{}: {} found; expected a .safetensors file", file.name(), bytes_text(std::uint64_t(file_bytes)));
    std::uint64_t length = 0;
    for (std::size_t i = prefix.size(); i-- > 0;)
        length = length << 8 | std::uint64_t(prefix[i]);
    if (length > most_header_bytes_of_tensors)
        fail("{}: a header of {} bytes found; a .safetensors file has at most {}", file.name(), length,
             most_header_bytes_of_tensors);
    if (std::int64_t(length) > file_bytes - 8)
        fail("{}: a header of {} bytes promised; the file has {}", file.name(), length, file_bytes);
    std::string text(length, '\0');
    if (file.read_at(8, std::as_writable_bytes(std::span(text))) < length)
        fail("{}: the file ends within its header", file.name());
    return text;
}

struct header {
    json tensor;                    ///< what it says of the wanted one
    std::vector<std::string> names; ///< of all
    int found = 0;
};

/// Keeps of the header only what is needed, since it may describe a hundred thousand tensors.
header parse_header(const std::string &text, const std::string &wanted, const std::string &file) {
    header result;
    const auto keep = [&](int depth, json::parse_event_t event, json &parsed) {
        if (depth != 1 || event != json::parse_event_t::key)
            return true;
        const auto &key = parsed.get_ref<const std::string &>();
        if (key == "__metadata__") // of no tensor
            return false;
        result.names.push_back(key);
        const bool is_wanted = key == wanted || wanted.empty();
        result.found += is_wanted;
        return is_wanted && result.found == 1;
    };
    const json parsed = json::parse(text, keep, false);
    if (!parsed.is_object())
        fail("{}: a header that is not JSON found; expected a .safetensors file", file);
    const bool one = result.found == 1 && (!wanted.empty() || result.names.size() == 1);
    if (result.found > 1 && !wanted.empty())
        fail("{}: tensor {} found twice", file, in_quotes(wanted));
    if (!one)
        fail("{}: {} found; expected one of {}", file,
             wanted.empty() ? "no tensor's name (FILE.safetensors:NAME)" : "no tensor " + in_quotes(wanted),
             listed(result.names));
    result.tensor = parsed.begin().value();
    return result;
}

rownorm_type tensor_type(const std::string &dtype) {
    for (const auto &[name, type] : {std::pair("F32", ROWNORM_F32), std::pair("F16", ROWNORM_F16),
                                     std::pair("BF16", ROWNORM_BF16), std::pair("F64", ROWNORM_F64)})
        if (dtype == name)
            return type;
    fail_format("type {} found; expected F16, BF16, F32 or F64", in_quotes(dtype));
}

std::vector<std::int64_t> integers(const json &from, const char *what) {
    std::vector<std::int64_t> values;
    if (!from.is_array() || from.size() > most_axes)
        fail_format("a {} that is no list of up to {} integers found", what, most_axes);
    for (const json &value : from) {
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::uint64_t(INT64_MAX))
            fail_format("a {} with {} found; expected integers from 0 that fit 63 bits", what,
                        in_quotes(value.dump(-1, ' ', true, json::error_handler_t::replace)));
        values.push_back(value.get<std::int64_t>());
    }
    return values;
}

const json &field(const json &tensor, const char *name) {
    if (!tensor.is_object() || !tensor.contains(name))
        fail_format("a tensor without {} found", name);
    return tensor[name];
}

/// What the header says, with data_begin counted from the end of the header. `data_bytes` are there.
array_info describe(const json &tensor, std::int64_t data_bytes) {
    array_info info;
    const json &dtype = field(tensor, "dtype");
    info.of = element_for(tensor_type(dtype.is_string() ? dtype.get<std::string>() : dtype.dump()));
    info.shape = integers(field(tensor, "shape"), "shape");
    count_elements(info);
    const std::vector<std::int64_t> range = integers(field(tensor, "data_offsets"), "data_offsets");
    if (range.size() != 2 || range[0] > range[1] || range[1] - range[0] != info.bytes)
        fail_format("data_offsets {} found; expected {} for shape {} of {}", shape_text(range),
                    bytes_text(std::uint64_t(info.bytes)), shape_text(info.shape), type_name(info.of.type));
    if (range[1] > data_bytes)
        fail_format("data_offsets {} found; the file has {} of data", shape_text(range),
                    bytes_text(std::uint64_t(data_bytes)));
    info.data_begin = range[0];
    return info;
}

} // namespace

array_input open_tensor(const container_name &name) {
    std::unique_ptr<source> file = open_source(name.file);
    const std::optional<std::int64_t> size = file->size();
    if (!file->random_access() || !size)
        fail("{}: not a file with data; expected a .safetensors file", file->name());
    const std::string text = read_header(*file, *size);
    const header found = parse_header(text, name.member, file->name());
    const std::string shown = printable(name.member.empty() ? name.file : name.file + ":" + name.member);
    array_info info;
    const std::int64_t header_bytes = 8 + std::int64_t(text.size());
    try {
        info = describe(found.tensor, *size - header_bytes);
    } catch (const format_error &error) {
        fail("{}: {}", shown, error.what());
    }
    const std::int64_t begin = header_bytes + std::exchange(info.data_begin, 0);
    return {std::make_unique<part_source>(shown, std::move(file), begin, info.bytes), info};
}

} // namespace command
