// SPDX-License-Identifier: Apache-2.0
#include "command_files.hpp"

#include <fstream>
#include <iterator>

namespace fuzz {

namespace {

constexpr const char *arrays[] = {"x.npy", "w.npy", "b.npy", "r.npy"};

void append(std::vector<std::byte> &to, const std::string &text) {
    const auto *const begin = reinterpret_cast<const std::byte *>(text.data());
    to.insert(to.end(), begin, begin + text.size());
}

/// What the arrays of one run share.
struct Shapes {
    explicit Shapes(Bytes &in) : rows(in.below(6)), between(1 + in.below(3)), n(1 + in.below(in.chance(8) ? 255 : 20)) {
        for (unsigned &t : type)
            t = in.chance(2) ? first_type : in.below(5);
        fortran = in.chance(4);
    }
    unsigned rows, between, n;
    unsigned first_type = 0, type[4] = {};
    bool fortran = false;
};

struct Type {
    const char *descr;
    unsigned bytes;
};
constexpr Type types[] = {{"<f4", 4}, {"<f2", 2}, {"|V2", 2}, {"<f8", 8}, {">f4", 4}};

std::vector<std::byte> npy(const std::string &shape, const Type &type, bool fortran, std::size_t elements, Bytes &in) {
    std::string header = std::string("{'descr': '") + type.descr +
                         "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
    header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    std::vector<std::byte> file;
    append(file, "\x93NUMPY\x01");
    file.insert(file.end(), {std::byte{0}, std::byte(header.size()), std::byte(header.size() >> 8)});
    append(file, header);
    const std::vector<std::byte> given = in.bytes(std::min<std::size_t>(elements * type.bytes, 64));
    for (std::size_t i = 0; i < elements * type.bytes; ++i)
        file.push_back(given.empty() ? std::byte{0x3f} : given[i % given.size()] ^ std::byte(i / given.size()));
    return file;
}

std::vector<std::byte> array(std::size_t which, const Shapes &s, Bytes &in) {
    const Type &type = types[s.type[which] % std::size(types)];
    if (which == 1 || which == 2)
        return npy("(" + std::to_string(s.n) + ",)", type, false, s.n, in);
    const std::string shape =
        "(" + std::to_string(s.rows) + ", " + std::to_string(s.between) + ", " + std::to_string(s.n) + ")";
    return npy(shape, type, s.fortran, std::size_t(s.rows) * s.between * s.n, in);
}

} // namespace

void write_files(const Scratch &scratch, Bytes &in) {
    for (const auto &entry : std::filesystem::directory_iterator(scratch.path()))
        std::filesystem::remove_all(entry.path());
    const Shapes shapes(in);
    const unsigned raw = in.chance(3) ? in.below(7) : 7; // this one is bytes as they come
    for (unsigned i = 0; i < std::size(arrays); ++i)
        if (i != raw)
            scratch.write(arrays[i], array(i, shapes, in));
    if (in.chance(8)) // already there
        scratch.write("out.npy", array(0, shapes, in));
    constexpr const char *containers[] = {"x.npz", "x.safetensors"};
    if (raw < 6)
        scratch.write(raw < 4 ? arrays[raw] : containers[raw - 4], in.bytes(in.left()));
}

Folder::Folder() {
    for (const auto &entry : std::filesystem::directory_iterator(".")) {
        std::ifstream file(entry.path(), std::ios::binary);
        files_[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(file), {});
    }
}

bool Folder::has_temporary() const {
    for (const auto &[name, bytes] : files_)
        if (name.ends_with(".tmp"))
            return true;
    return false;
}

} // namespace fuzz
