// SPDX-License-Identifier: Apache-2.0
// The ISAs of this build, what the machine can run, and which one a plan should run.
#pragma once

#include "kernel_table.hpp"
#include "machine.hpp"

#include <rownorm/rownorm.h>

#include <atomic>

namespace rownorm {

// What decides which kernels serve a row best.
struct RowKind {
    Type x, y, weight; // x: of what is normalised
    int64_t n;
    bool centred, adds;
    bool streamed = false; // y goes around the caches
    bool unpaced = false;  // and the first pass over a row is short or misses L1, too
    bool alone = false;    // a single row, which begins on a cache line more often than the rows of a batch all do
};

// Which rows a plan leaves to the kernels of a lower ISA, which have the same bits.
enum class Narrow {
    never,
    f32_moves, // moves_by_halves()
    mostly,    // has_slow_wide_vectors()
};

struct Isa {
    const char *name;
    const KernelTable *kernels;
    const KernelTable *narrow_kernels; // of the lower ISA
    Narrow narrow;
    const char *(*obstacle)() noexcept;

    const KernelTable &kernels_for(const RowKind &row) const {
        const bool is_narrow = narrow == Narrow::mostly      ? narrow_is_faster(row)
                               : narrow == Narrow::f32_moves ? gains_by_halves(row)
                                                             : false;
        return is_narrow ? *narrow_kernels : *kernels;
    }

private:
    // f64, and f32 but for adds, on the way to memory; and f32 where squares are summed, and so little is done beside
    // loads and stores: rows that leave L1 before they are written, and short ones that, where they are dense, do not
    // all begin on a cache line, of which a vector as wide as the line crosses two at every step.
    static bool gains_by_halves(const RowKind &row) {
        if (row.streamed && (row.x == kF64 || (row.x == kF32 && !row.adds)))
            return true;
        if (row.x != kF32 || row.y != kF32 || row.weight != kF32 || row.centred)
            return false;
        constexpr int64_t in_any_l1 = 1024, short_rows = 512, line = 16, few_lines = 128; // elements
        if (row.n > in_any_l1) // up to which a call need not ask for the size of L1
            return row.n >= machine().l1 / 8;
        return !row.alone && row.n > few_lines && row.n <= short_rows && row.n % line != 0;
    }

    // Where wide vectors are done in halves bf16 gains by them, and so does LayerNorm. Narrower ones serve f16, whose
    // conversions they do faster; f32 and f64 where only squares are summed, which take no more instructions than their
    // loads; rows that do not all begin on a cache line, of which a vector as wide as the line crosses two at every
    // step; and f32 rows that become bf16 from and to memory, which wide ones write so fast that reads and stores
    // hinder each other.
    static constexpr bool narrow_is_faster(const RowKind &row) {
        const auto any = [&](Type type) { return row.x == type || row.y == type || row.weight == type; };
        if (row.unpaced && row.x == kF32 && row.y == kBf16 && !row.centred && !row.adds)
            return true;
        return !any(kBf16) && (any(kF16) || !row.centred || row.n % 16 != 0);
    }
};

// The best ISA that the machine, ROWNORM_MAX_ISA and `max_isa` allow, or exactly `exact`; either may be
// NULL. nullptr and a message if there is none.
const Isa *choose_isa(const char *exact, const char *max_isa, rownorm_status *status) noexcept;

// choose_isa(nullptr, nullptr), remembered.
extern std::atomic<const Isa *> remembered_isa;
const Isa *choose_default_isa() noexcept;
inline const Isa *default_isa() noexcept {
    const Isa *const isa = remembered_isa.load(std::memory_order_relaxed);
    return __builtin_expect(isa != nullptr, 1) ? isa : choose_default_isa();
}

} // namespace rownorm
