// SPDX-License-Identifier: Apache-2.0
//
// rownorm_hashes: one line per formula, mix of types and parity of n, with a hash of the outputs' bits
// (NaN canonicalised) over lengths, data and optional arguments. Inputs come from integers, so that the
// lines of two machines can be compared.
//
//   rownorm_hashes               every ISA of this machine up to ROWNORM_MAX_ISA; exits 1 if two differ
//   rownorm_hashes --isa NAME    that ISA only
//   rownorm_hashes --check FILE  the same, and exits 1 unless FILE holds the very same lines
#include "arguments.hpp"
#include "formats.hpp"
#include "run.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

using namespace rownorm_test;

namespace {

class Hash {
public:
    void add(rownorm_type type, const std::vector<std::byte> &bytes) {
        for (std::size_t at = 0; at < bytes.size(); at += size_of(type))
            value_ = (value_ ^ canonical_bits(type, &bytes[at])) * 0x100000001b3ULL; // FNV-1a over words
        value_ ^= value_ >> 29;
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

/// All that varies within a line follows from a running number.
Case vary(const Mix &mix, int formula, std::int64_t n, unsigned number) {
    Case c;
    c.mix = mix;
    c.n = n;
    c.rows = n > 1000 ? 1 : 3;
    set_formula(c, formula);
    c.gain = number % 2 == 0;
    c.bias = number % 3 == 0;
    c.weight_offset = number % 5 == 0 ? 1 : 0;
    c.round = mix.x == ROWNORM_F64 || number % 7 > 2 ? 0 : number % 7;
    c.eps = number % 4 == 0 ? 0 : 1e-5;
    c.data = every_data[number % std::size(every_data)];
    c.residual = number % 2 == 1;
    c.seed = number;
    return c;
}

bool add_case(Hash &hash, const Case &c, const char *isa) {
    const Inputs in = make_inputs(c);
    const Setup setup;
    Arguments arguments(c, in, setup);
    rownorm_descriptor d = descriptor_of(c);
    d.isa = isa;
    const rownorm_io io = arguments.io();
    const Plan plan(d);
    if (plan.status() != ROWNORM_OK || rownorm_execute_part(plan, &io, 0, 1) != ROWNORM_OK) {
        std::fprintf(stderr, "rownorm_hashes: %s: %s\n", describe(c).c_str(), rownorm_last_error());
        return false;
    }
    const Outputs out = arguments.outputs();
    hash.add(c.mix.y, out.y);
    hash.add(c.mix.residual, out.residual_out);
    hash.add(statistic_type(c), out.mean);
    hash.add(statistic_type(c), out.rstd);
    return true;
}

/// The lengths of one parity: around the tile of 64 lanes and the chunk of 1,024.
std::vector<std::int64_t> lengths(bool odd) {
    if (odd)
        return {1, 3, 7, 15, 31, 33, 63, 65, 77, 127, 129, 255, 257, 1023, 1025, 2049};
    return {2, 4, 8, 16, 30, 32, 62, 64, 66, 100, 128, 130, 256, 1022, 1024, 1026};
}

using Lines = std::map<std::string, std::uint64_t>;

/// The residual's type, which the lines leave open, is each of those that go with x.
bool add_residual_types(Hash &hash, Mix mix, int formula, bool odd, const char *isa) {
    unsigned number = 0;
    for (const std::int64_t n : lengths(odd))
        for (rownorm_type residual = ROWNORM_F32; residual <= ROWNORM_F64; ++residual) {
            if ((residual == ROWNORM_F64) != (mix.x == ROWNORM_F64))
                continue;
            mix.residual = residual;
            if (!add_case(hash, vary(mix, formula, n, ++number), isa))
                return false;
        }
    return true;
}

bool hash_isa(const char *isa, Lines &lines) {
    for (int formula = 0; formula < formulas; ++formula)
        for (const Mix &mix : every_mix(false))
            for (const bool odd : {true, false}) {
                Hash hash;
                if (!add_residual_types(hash, mix, formula, odd, isa))
                    return false;
                Case c;
                c.n = 3;
                set_formula(c, formula);
                const std::string name = std::string(name_of_formula(c)) + " x=" + name_of(mix.x) +
                                         " y=" + name_of(mix.y) + " weight=" + name_of(mix.weight) +
                                         (odd ? " odd" : " even");
                lines[name] = hash.value();
            }
    return true;
}

/// How many lines of `found` are not those of `expected`; each is printed.
int count_differences(const char *isa, const Lines &expected, const Lines &found) {
    int differences = 0;
    for (const auto &[name, hash] : found) {
        const auto line = expected.find(name);
        if (line != expected.end() && line->second == hash)
            continue;
        std::fprintf(stderr, "%s: %s has another hash\n", isa, name.c_str());
        ++differences;
    }
    return differences + (expected.size() > found.size() ? 1 : 0);
}

/// Lines of "name hash"; empty if there is no such file.
Lines read(const char *path) {
    Lines lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t space = line.rfind(' ');
        if (line.empty() || line[0] == '#' || space == std::string::npos)
            continue;
        lines[line.substr(0, space)] = std::stoull(line.substr(space + 1), nullptr, 16);
    }
    return lines;
}

int run_all(const char *only, const char *golden) {
    Lines expected;
    if (golden != nullptr && (expected = read(golden)).empty()) {
        std::fprintf(stderr, "rownorm_hashes: %s has no hashes\n", golden);
        return 1;
    }
    int differences = 0, ran = 0;
    for (const std::string &isa : isas()) {
        Lines lines;
        if (only != nullptr && isa != only)
            continue;
        if (!hash_isa(isa.c_str(), lines))
            return 1;
        if (expected.empty()) {
            expected = lines;
            for (const auto &[name, hash] : lines)
                std::printf("%s %016llx\n", name.c_str(), static_cast<unsigned long long>(hash));
        }
        std::fprintf(stderr, "rownorm_hashes: %s: %zu lines\n", isa.c_str(), lines.size());
        differences += count_differences(isa.c_str(), expected, lines);
        ++ran;
    }
    if (ran == 0)
        std::fprintf(stderr, "rownorm_hashes: %s does not run here\n", only == nullptr ? "no ISA" : only);
    return ran == 0 || differences != 0 ? 1 : 0;
}

} // namespace

int main(int count, char **arguments) {
    const char *isa = nullptr, *golden = nullptr;
    for (int i = 1; i < count; ++i) {
        const bool has_value = i + 1 < count;
        if (has_value && std::strcmp(arguments[i], "--isa") == 0)
            isa = arguments[++i];
        else if (has_value && std::strcmp(arguments[i], "--check") == 0)
            golden = arguments[++i];
        else {
            std::fprintf(stderr, "usage: rownorm_hashes [--isa NAME] [--check FILE]\n");
            return 2;
        }
    }
    return run_all(isa, golden);
}
