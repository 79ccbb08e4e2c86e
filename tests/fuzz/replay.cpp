// SPDX-License-Identifier: Apache-2.0
//
// Stands in for libFuzzer where there is none.
//
//   replay_TARGET PATH...                    gives the target each file that is named, or is in a folder that is
//   replay_TARGET --mutate SECONDS PATH...   then mutations of them, at random, for so long
//
// Fails if a path holds no input. An input that crashes is left in the file replay-crash.
#include "../random.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr std::size_t most_bytes = 4096;

const Input *running = nullptr;

extern "C" void on_crash(int signal) {
    const int file = open("replay-crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || running == nullptr || write(file, running->data(), running->size()) < 0)
        _exit(3);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

void run(const Input &input) {
    running = &input;
    LLVMFuzzerTestOneInput(input.data(), input.size());
}

Input read(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Input> read_all(const std::filesystem::path &path) {
    std::vector<Input> inputs;
    if (std::filesystem::is_directory(path)) {
        for (const auto &entry : std::filesystem::directory_iterator(path))
            inputs.push_back(read(entry.path()));
    } else if (std::filesystem::exists(path)) {
        inputs.push_back(read(path));
    }
    if (inputs.empty()) {
        std::fprintf(stderr, "%s: no inputs\n", path.c_str());
        std::exit(1);
    }
    return inputs;
}

/// A few bytes changed, the rest of another input behind it, or cut off.
void mutate(Input &input, const Input &other, rownorm_test::Random &random) {
    for (std::uint64_t left = 1 + random.below(8); left > 0 && !input.empty(); --left)
        input[random.below(input.size())] = static_cast<std::uint8_t>(random.next());
    const std::uint64_t splice = random.below(8);
    if (splice < 2)
        input.resize(random.below(input.size() + 1));
    if (splice > 0 && splice < 4)
        input.insert(input.end(), other.begin(), other.end());
    input.resize(std::min(input.size(), most_bytes));
}

long run_mutations(const std::vector<Input> &inputs, double seconds) {
    using clock_type = std::chrono::steady_clock;
    const auto end = clock_type::now() + std::chrono::duration<double>(seconds);
    const auto seed = static_cast<std::uint64_t>(clock_type::now().time_since_epoch().count());
    rownorm_test::Random random(seed);
    long count = 0;
    for (; clock_type::now() < end; ++count) {
        Input input = inputs[random.below(inputs.size())];
        mutate(input, inputs[random.below(inputs.size())], random);
        run(input);
    }
    return count;
}

} // namespace

int main(int count, char **arguments) {
    int first = 1;
    double seconds = 0;
    if (count > 2 && arguments[1] == std::string("--mutate")) {
        seconds = std::atof(arguments[2]);
        first = 3;
    }
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        std::signal(signal, on_crash);
    std::vector<Input> inputs;
    for (int i = first; i < count; ++i)
        for (Input &input : read_all(arguments[i]))
            inputs.push_back(std::move(input));
    for (const Input &input : inputs)
        run(input);
    const long mutations = seconds > 0 && !inputs.empty() ? run_mutations(inputs, seconds) : 0;
    std::printf("%zu inputs and %ld mutations\n", inputs.size(), mutations);
    return inputs.empty() ? 1 : 0;
}
