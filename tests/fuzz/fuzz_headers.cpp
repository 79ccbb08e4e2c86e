// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: the headers of .npy, .npz and .safetensors files, through the code that the command opens them
// with. Whatever the bytes, they are refused with a message or described; and a description holds together, is
// read back from the header that the command would write, and has its data.
#include "array_input.hpp"
#include "bytes.hpp"
#include "failure.hpp"
#include "scratch.hpp"

#include <algorithm>
#include <array>
#include <optional>

using namespace command;

namespace {

[[noreturn]] void finding(const char *what) {
    std::fprintf(stderr, "FINDING: %s\n", what);
    std::abort();
}

void require(bool holds, const char *what) {
    if (!holds)
        finding(what);
}

/// A file in memory.
class reader {
public:
    explicit reader(std::span<const std::byte> bytes) : left_(bytes) {}

    std::size_t operator()(std::span<std::byte> into) {
        const std::size_t count = std::min(into.size(), left_.size());
        std::copy_n(left_.begin(), count, into.begin());
        left_ = left_.subspan(count);
        return count;
    }

private:
    std::span<const std::byte> left_;
};

void check_info(const array_info &info) {
    std::int64_t elements = 1;
    bool overflow = false;
    for (const std::int64_t extent : info.shape) {
        require(extent >= 0, "a negative extent");
        overflow = __builtin_mul_overflow(elements, extent, &elements) || overflow;
    }
    const bool empty = std::find(info.shape.begin(), info.shape.end(), 0) != info.shape.end();
    require(empty ? info.elements == 0 : !overflow && elements == info.elements, "elements are not the product");
    require(info.elements >= 0 && info.bytes == info.elements * std::int64_t(type_bytes(info.of.type)), "bytes");
    require(info.shape.size() <= most_axes && info.data_begin >= 0, "axes or data_begin");
}

bool same(const array_info &a, const array_info &b) {
    return a.shape == b.shape && a.fortran == b.fortran && a.of.type == b.of.type && a.of.descr == b.of.descr &&
           a.of.big_endian == b.of.big_endian && a.elements == b.elements && a.bytes == b.bytes;
}

/// The header that the command would write for such an array is read as the same array.
void check_written_header(const array_info &info) {
    const std::string header = write_npy_header(info);
    require(header.size() % 64 == 0, "a header's length is no multiple of 64");
    reader from(std::as_bytes(std::span(header)));
    const array_info back = read_npy_header([&](std::span<std::byte> into) { return from(into); }, info.of.type);
    require(same(info, back) && back.data_begin == std::int64_t(header.size()), "another array is written");
}

void fuzz_npy(std::span<const std::byte> bytes, std::optional<rownorm_type> named) {
    reader from(bytes);
    try {
        const array_info info = read_npy_header([&](std::span<std::byte> into) { return from(into); }, named);
        check_info(info);
        require(info.data_begin <= std::int64_t(bytes.size()), "data begins after the end");
        check_written_header(info);
    } catch (const format_error &error) {
        require(*error.what() != '\0', "no message");
    }
}

/// Through a file; also reads its data, up to a limit.
void fuzz_file(const std::string &path, std::optional<rownorm_type> named) {
    try {
        const array_input in = open_array(path, named);
        check_info(in.info);
        std::array<std::byte, 4096> part;
        std::int64_t read = 0;
        while (read < std::min<std::int64_t>(in.info.bytes, 1 << 20)) {
            const auto want = std::size_t(std::min<std::int64_t>(in.info.bytes - read, part.size()));
            const std::size_t got = in.from->read(std::span(part).first(want));
            read += std::int64_t(got);
            if (got < want)
                require_data(in, in.info.bytes, read);
        }
        if (read == in.info.bytes)
            finish_reading(in);
    } catch (const failure &error) {
        require(*error.what() != '\0', "no message");
    }
}

} // namespace

/// The first byte: what is read and what opaque bytes are taken for; the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static const fuzz::Scratch scratch;
    fuzz::Bytes in(data, size);
    const unsigned kind = in.below(4), type = in.left() > 0 ? data[0] / 4 % 5 : 0;
    const auto named = type == 0 ? std::nullopt : std::optional<rownorm_type>(type);
    const std::vector<std::byte> bytes = in.bytes(in.left());
    constexpr const char *files[] = {"", "f.npy", "f.npz", "f.safetensors"};
    if (kind == 0) {
        fuzz_npy(bytes, named);
        return 0;
    }
    const std::string path = scratch.write(files[kind], bytes);
    fuzz_file(path, named);
    if (kind >= 2)
        fuzz_file(path + ":a", named);
    return 0;
}
