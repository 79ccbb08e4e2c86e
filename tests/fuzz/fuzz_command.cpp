// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: the whole rownorm command, in process, on random files and options. It ends with one of its three
// exit codes; a refusal leaves the folder as it was; what is written is an array of the input's shape; nothing
// temporary is left; and --verify finds no result beyond the bound.
#define main rownorm_command_main
#include "../../tools/command/main.cpp"
#undef main

#include "command_files.hpp"

#include "array_input.hpp"

#include <fcntl.h>
#include <sys/mman.h>

namespace {

constexpr const char *words[] = {"normalize",
                                 "info",
                                 "diff",
                                 "isa",
                                 "-o",
                                 "out.npy",
                                 "x.npy",
                                 "w.npy",
                                 "b.npy",
                                 "r.npy",
                                 "x.npz",
                                 "x.npz:a",
                                 "x.safetensors",
                                 "x.safetensors:a",
                                 "-",
                                 "--op",
                                 "rms",
                                 "layer",
                                 "l2",
                                 "--eps",
                                 "0",
                                 "1e-5",
                                 "1",
                                 "1e30",
                                 "--axis",
                                 "-1",
                                 "0..",
                                 "1..",
                                 "-2",
                                 "--partial",
                                 "0.5",
                                 "--partial-count",
                                 "2",
                                 "--l2-eps",
                                 "max",
                                 "add",
                                 "inside",
                                 "clamp",
                                 "--weight-offset",
                                 "--weight",
                                 "--bias",
                                 "--residual",
                                 "--residual-out",
                                 "sum.npy",
                                 "--type",
                                 "f16",
                                 "bf16",
                                 "f32",
                                 "f64",
                                 "--out-type",
                                 "--isa",
                                 "sse2",
                                 "avx2",
                                 "avx512",
                                 "avx512bf16",
                                 "--threads",
                                 "--memory",
                                 "1K",
                                 "2M",
                                 "1024G",
                                 "--force",
                                 "--fsync",
                                 "--verify",
                                 "--json",
                                 "-q",
                                 "--plot",
                                 "--ulp",
                                 "3",
                                 "--",
                                 "--help",
                                 "--version",
                                 "--round",
                                 "before-weight",
                                 "once",
                                 "--output",
                                 "/dev/null",
                                 ".",
                                 "missing.npy"};

struct Line {
    std::vector<std::string> arguments{"rownorm"};

    bool has(const char *word) const { return std::find(arguments.begin(), arguments.end(), word) != arguments.end(); }
};

/// Whole commands, which would rarely come up by chance; then words at will, and now and then one of any bytes.
Line draw_line(fuzz::Bytes &in) {
    Line line;
    const auto add = [&](std::initializer_list<const char *> more) {
        line.arguments.insert(line.arguments.end(), more.begin(), more.end());
    };
    switch (in.below(4)) {
    case 0:
        add({"normalize", "x.npy", "-o", "out.npy", "--verify"});
        break;
    case 1:
        add({"normalize", "x.npy", "-o", "out.npy", "--residual", "r.npy", "--residual-out", "sum.npy"});
        break;
    case 2:
        add({in.chance(2) ? "info" : "diff", "x.npy"});
        break;
    default:
        break;
    }
    for (unsigned left = in.below(12); left > 0; --left) {
        const unsigned word = in.take<std::uint8_t>();
        if (word < std::size(words)) {
            line.arguments.emplace_back(words[word]);
        } else if (word >= 250) {
            std::string text;
            for (unsigned i = in.below(16); i > 0; --i)
                text += static_cast<char>(1 + in.below(255));
            line.arguments.push_back(text.find('/') == std::string::npos ? text : "-o");
        }
    }
    return line;
}

/// Runs with its output in a file in memory; what it said on stderr.
int run_command(Line &line, std::string &said) {
    const int out = memfd_create("out", MFD_CLOEXEC), kept_out = dup(STDOUT_FILENO), kept_err = dup(STDERR_FILENO);
    const int in = open("x.npy", O_RDONLY);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    std::vector<char *> arguments;
    for (std::string &argument : line.arguments)
        arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    const int code = rownorm_command_main(int(line.arguments.size()), arguments.data());
    std::cout.flush();
    dup2(kept_out, STDOUT_FILENO);
    dup2(kept_err, STDERR_FILENO);
    said.resize(std::size_t(lseek(out, 0, SEEK_END)));
    if (pread(out, said.data(), said.size(), 0) != ssize_t(said.size()))
        std::abort();
    for (const int fd : {out, in, kept_out, kept_err})
        close(fd);
    return code;
}

[[noreturn]] void finding(const char *what, const Line &line, const std::string &said) {
    std::fprintf(stderr, "FINDING: %s\n ", what);
    for (const std::string &argument : line.arguments)
        std::fprintf(stderr, " '%s'", argument.c_str());
    std::fprintf(stderr, "\n%s\n", said.substr(0, 2000).c_str());
    std::abort();
}

/// What an array file says of itself; nothing if it is none.
std::optional<array_info> info_of(const char *path) {
    try {
        return open_array(path, ROWNORM_BF16).info;
    } catch (const failure &) {
        return std::nullopt;
    }
}

void check_outcome(const Line &line, int code, const std::string &said, const fuzz::Folder &before) {
    const fuzz::Folder after;
    if (code < exit_done || code > exit_usage)
        finding("an exit code that is not documented", line, said);
    if (said.find("beyond the error bound") != std::string::npos)
        finding("a result beyond the error bound", line, said);
    if (after.has_temporary())
        finding("a temporary file is left", line, said);
    if (code != exit_done && !(after == before))
        finding("a refusal changed files", line, said);
    if (code != exit_done && said.empty() && !line.has("-q"))
        finding("a failure without a word", line, said);
    const auto x = info_of("x.npy"), y = info_of("out.npy");
    if (code == exit_done && line.arguments.size() > 5 && line.arguments[4] == "out.npy" && !line.has("--help") &&
        !line.has("--version") && (!y || (x && x->shape != y->shape)))
        finding("the output is no array of the input's shape", line, said);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static const fuzz::Scratch scratch;
    if (chdir(scratch.path().c_str()) != 0)
        std::abort();
    fuzz::Bytes in(data, size);
    Line line = draw_line(in);
    fuzz::write_files(scratch, in);
    const fuzz::Folder before;
    std::string said;
    const int code = run_command(line, said);
    check_outcome(line, code, said, before);
    return 0;
}
