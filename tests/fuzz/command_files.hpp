// SPDX-License-Identifier: Apache-2.0
//
// The files of one run of the command: made from a fuzzer's input, and what became of them.
#pragma once

#include "bytes.hpp"
#include "scratch.hpp"

#include <map>

namespace fuzz {

/// x.npy, w.npy, b.npy, r.npy, x.npz and x.safetensors: arrays that go together, or bytes as they come.
void write_files(const Scratch &scratch, Bytes &in);

/// The contents of the current folder's files.
class Folder {
public:
    Folder();
    bool operator==(const Folder &) const = default;
    bool has_temporary() const;

private:
    std::map<std::string, std::string> files_;
};

} // namespace fuzz
