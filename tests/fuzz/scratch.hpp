// SPDX-License-Identifier: Apache-2.0
//
// A folder of this process's own for the files of a target, removed at exit.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

#include <unistd.h>

namespace fuzz {

class Scratch {
public:
    Scratch() {
        const char *const memory = "/dev/shm";
        std::string name = std::string(access(memory, W_OK) == 0 ? memory : "/tmp") + "/rownorm_fuzz_XXXXXX";
        if (mkdtemp(name.data()) == nullptr)
            std::abort();
        path_ = name;
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    const std::filesystem::path &path() const { return path_; }

    /// The path of a file with these bytes.
    std::string write(const std::string &name, std::span<const std::byte> bytes) const {
        const std::string path = path_ / name;
        std::FILE *const file = std::fopen(path.c_str(), "wb");
        if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
            std::abort();
        std::fclose(file);
        return path;
    }

private:
    std::filesystem::path path_;
};

} // namespace fuzz
