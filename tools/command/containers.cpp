// SPDX-License-Identifier: Apache-2.0
#include "containers.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <sys/stat.h>

namespace command {

namespace {

std::optional<container_name> split_name(const std::string &path, const std::string &extension) {
    if (path.ends_with(extension))
        return container_name{path, ""};
    const std::size_t at = path.find(extension + ":");
    struct stat st {};
    // A plain file may have any name.
    if (at == std::string::npos || ::stat(path.c_str(), &st) == 0)
        return std::nullopt;
    const std::size_t end = at + extension.size();
    return container_name{path.substr(0, end), path.substr(end + 1)};
}

} // namespace

std::optional<container_name> npz_name(const std::string &path) { return split_name(path, ".npz"); }

std::optional<container_name> safetensors_name(const std::string &path) { return split_name(path, ".safetensors"); }

std::string listed(const std::vector<std::string> &names) {
    constexpr std::size_t most = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", in_quotes(names[i]));
    return names.size() <= most ? text : fmt::format("{} and {} more", text, names.size() - most);
}

} // namespace command
