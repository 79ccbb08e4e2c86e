// SPDX-License-Identifier: Apache-2.0
#include "containers.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <zip.h>

#include <array>
#include <memory>

namespace command {

namespace {

using archive = std::unique_ptr<zip_t, void (*)(zip_t *)>;
using member_file = std::unique_ptr<zip_file_t, int (*)(zip_file_t *)>;

archive open_archive(const std::string &path) {
    int code = 0;
    zip_t *const opened = zip_open(path.c_str(), ZIP_RDONLY, &code);
    if (opened == nullptr) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const std::string what = zip_error_strerror(&error);
        zip_error_fini(&error);
        fail("{}: cannot be opened as a zip archive: {}", printable(path), what);
    }
    return {opened, zip_discard};
}

std::vector<std::string> member_names(zip_t *from) {
    std::vector<std::string> names;
    const zip_int64_t count = zip_get_num_entries(from, 0);
    for (zip_int64_t i = 0; i < count; ++i)
        if (const char *name = zip_get_name(from, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW))
            names.emplace_back(name);
    return names;
}

/// numpy's name of an array is that of its file without ".npy".
zip_uint64_t find_member(zip_t *from, const container_name &name) {
    const std::vector<std::string> names = member_names(from);
    if (name.member.empty() && names.size() == 1)
        return 0;
    for (const std::string &wanted : {name.member + ".npy", name.member})
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] == wanted && !name.member.empty())
                return i;
    fail("{}: {} found; expected one of {}", printable(name.file),
         name.member.empty() ? "no member's name (FILE.npz:NAME)" : "no member " + in_quotes(name.member),
         listed(names));
}

class member_source final : public source {
public:
    member_source(std::string name, archive from, zip_uint64_t index)
        : source(std::move(name)), from_(std::move(from)), file_(zip_fopen_index(from_.get(), index, 0), zip_fclose) {
        zip_stat_t st{};
        if (file_ == nullptr || zip_stat_index(from_.get(), index, 0, &st) != 0)
            fail("{}: cannot be opened: {}", this->name(), zip_strerror(from_.get()));
        constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD;
        if ((st.valid & needed) != needed || st.size > zip_uint64_t(INT64_MAX))
            fail("{}: a member of unknown size found", this->name());
        size_ = std::int64_t(st.size);
        stored_ = st.comp_method == ZIP_CM_STORE;
    }

    std::size_t read(std::span<std::byte> into) override {
        std::size_t done = 0;
        while (done < into.size()) {
            const zip_int64_t got = zip_fread(file_.get(), into.data() + done, into.size() - done);
            if (got < 0) // also a checksum that does not match, at the end
                fail("{}: cannot be read: {}", name(), zip_file_strerror(file_.get()));
            if (got == 0)
                break;
            done += std::size_t(got);
        }
        return done;
    }

    std::size_t read_at(std::int64_t offset, std::span<std::byte> into) override {
        skipped_ = true;
        if (zip_fseek(file_.get(), offset, SEEK_SET) != 0)
            fail("{}: cannot be read: {}", name(), zip_file_strerror(file_.get()));
        return read(into);
    }

    /// The checksum is compared at the end of the member, if nothing was skipped.
    void finish() override {
        std::array<std::byte, 4096> rest;
        while (!skipped_ && read(rest) > 0) {
        }
    }

    bool random_access() const override { return stored_; }
    std::optional<std::int64_t> size() const override { return size_; }

private:
    archive from_;
    member_file file_; ///< closed before the archive
    std::int64_t size_ = 0;
    bool stored_ = false;
    bool skipped_ = false;
};

} // namespace

array_input open_npz_member(const container_name &name, std::optional<rownorm_type> named) {
    archive from = open_archive(name.file);
    const zip_uint64_t index = find_member(from.get(), name);
    const std::string shown = name.member.empty() ? name.file : name.file + ":" + name.member;
    return open_npy(std::make_unique<member_source>(printable(shown), std::move(from), index), named);
}

} // namespace command
