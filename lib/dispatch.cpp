// SPDX-License-Identifier: Apache-2.0
#include "dispatch.hpp"

#include "cpu.hpp"
#include "status.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

// The symbols that lib/kernels exports for an ISA, one per family.
#define ROWNORM_DECLARE_ISA(isa)                                                                                       \
    extern const rownorm::StatisticsKernels rownorm_statistics_##isa;                                                  \
    extern const rownorm::ResidualKernels rownorm_residual_##isa;                                                      \
    extern const rownorm::ApplyKernels rownorm_apply_f32_##isa, rownorm_apply_f16_##isa, rownorm_apply_bf16_##isa;     \
    extern const rownorm::F64ApplyKernels rownorm_apply_f64_##isa;                                                     \
    extern const rownorm::OneRowKernels rownorm_one_row_##isa;                                                         \
    extern const rownorm::ShortRowsKernels rownorm_short_rows_##isa;                                                   \
    extern const rownorm::ScaleKernels rownorm_scales_##isa;
// The table of an ISA, which may take the families that do not round to bf16 beside other types from another one.
#define ROWNORM_KERNELS(isa, other)                                                                                    \
    constexpr KernelTable isa##_kernels = {                                                                            \
        &rownorm_statistics_##other,                                                                                   \
        &rownorm_residual_##isa,                                                                                       \
        {&rownorm_apply_f32_##isa, &rownorm_apply_f16_##other, &rownorm_apply_bf16_##isa},                             \
        &rownorm_apply_f64_##other,                                                                                    \
        &rownorm_one_row_##isa,                                                                                        \
        &rownorm_short_rows_##isa,                                                                                     \
        &rownorm_scales_##other};
#define ROWNORM_ISA(isa, lower, narrow, obstacle)                                                                      \
    { #isa, &isa##_kernels, &lower##_kernels, Narrow::narrow, obstacle }

#if defined(__x86_64__)
ROWNORM_DECLARE_ISA(avx512bf16)
ROWNORM_DECLARE_ISA(avx512)
ROWNORM_DECLARE_ISA(avx2)
ROWNORM_DECLARE_ISA(sse2)
#elif defined(__aarch64__)
ROWNORM_DECLARE_ISA(neon)
#endif

namespace rownorm {
namespace {

const char *no_obstacle() noexcept { return nullptr; }

#if defined(__x86_64__)
ROWNORM_KERNELS(avx512bf16, avx512)
ROWNORM_KERNELS(avx512, avx512)
ROWNORM_KERNELS(avx2, avx2)
ROWNORM_KERNELS(sse2, sse2)
#elif defined(__aarch64__)
ROWNORM_KERNELS(neon, neon)
#endif

// Best first; the last one is the baseline, which every machine of the architecture runs.
constexpr Isa isas[] = {
#if defined(__x86_64__)
    ROWNORM_ISA(avx512bf16, avx512, never, avx512bf16_obstacle),
    ROWNORM_ISA(avx512, avx512, never, avx512_obstacle),
    ROWNORM_ISA(avx2, avx2, never, avx2_obstacle),
    ROWNORM_ISA(sse2, sse2, never, no_obstacle),
#elif defined(__aarch64__)
    ROWNORM_ISA(neon, neon, never, no_obstacle),
#endif
};
constexpr int kIsas = int(sizeof isas / sizeof *isas);

// The same ISA with the kernels that are fastest on this CPU, for plans that do not ask for it by name.
const Isa *tuned(const Isa *isa) noexcept {
#if defined(__x86_64__)
    static constexpr Isa mostly_narrow[] = {ROWNORM_ISA(avx512bf16, avx2, mostly, avx512bf16_obstacle),
                                            ROWNORM_ISA(avx512, avx2, mostly, avx512_obstacle)};
    static constexpr Isa narrow_moves[] = {ROWNORM_ISA(avx512bf16, avx2, f32_moves, avx512bf16_obstacle),
                                           ROWNORM_ISA(avx512, avx2, f32_moves, avx512_obstacle)};
    for (int i = 0; i < 2; i++) {
        if (has_slow_wide_vectors() && isa->kernels == mostly_narrow[i].kernels)
            return &mostly_narrow[i];
        if (moves_by_halves() && isa->kernels == narrow_moves[i].kernels)
            return &narrow_moves[i];
    }
#endif
    return isa;
}

// Every name of the project: one that belongs to another architecture is known, and no ISA of ours here.
constexpr const char *known_names[] = {"avx512bf16", "avx512", "avx2", "sse2", "neon"};

int index_of(const char *name) noexcept {
    for (int i = 0; i < kIsas; i++)
        if (!std::strcmp(isas[i].name, name))
            return i;
    return -1;
}

bool is_known(const char *name) noexcept {
    for (const char *known : known_names)
        if (!std::strcmp(known, name))
            return true;
    return false;
}

// ROWNORM_MAX_ISA as it was at the first call; empty is as good as unset.
const char *environment_cap() noexcept {
    static const char *const cap = [] {
        static char copy[32];
        const char *value = std::getenv("ROWNORM_MAX_ISA");
        std::strncpy(copy, value ? value : "", sizeof copy - 1);
        return copy;
    }();
    return *cap ? cap : nullptr;
}

// The index of the best ISA that a cap allows. A cap of another architecture does not bind.
bool apply_cap(const char *source, const char *name, int &from) noexcept {
    if (!name)
        return true;
    if (!is_known(name)) {
        fail(ROWNORM_INVALID_ARGUMENT, "%s is \"%.40s\"; known ISAs are avx512bf16, avx512, avx2, sse2, neon", source,
             name);
        return false;
    }
    const int cap = index_of(name);
    from = cap > from ? cap : from;
    return true;
}

const Isa *exact_isa(const char *name, int from, rownorm_status *status) noexcept {
    const int i = index_of(name);
    if (i < 0 && !is_known(name)) {
        *status = fail(ROWNORM_INVALID_ARGUMENT,
                       "isa is \"%.40s\"; known ISAs are avx512bf16, avx512, avx2, sse2, neon", name);
    } else if (i < 0) {
        *status = fail(ROWNORM_UNSUPPORTED, "isa is \"%s\", which is of another architecture", name);
    } else if (const char *obstacle = isas[i].obstacle()) {
        *status = fail(ROWNORM_UNSUPPORTED, "isa is \"%s\", which cannot run here: %s", name, obstacle);
    } else if (i < from) {
        *status = fail(ROWNORM_UNSUPPORTED, "isa is \"%s\", which is above the cap \"%s\" (max_isa or ROWNORM_MAX_ISA)",
                       name, isas[from].name);
    } else {
        return &isas[i];
    }
    return nullptr;
}

} // namespace

const Isa *choose_isa(const char *exact, const char *max_isa, rownorm_status *status) noexcept {
    int from = 0;
    if (!apply_cap("ROWNORM_MAX_ISA", environment_cap(), from) || !apply_cap("max_isa", max_isa, from)) {
        *status = ROWNORM_INVALID_ARGUMENT;
        return nullptr;
    }
    if (exact)
        return exact_isa(exact, from, status);
    while (isas[from].obstacle())
        from++;
    return tuned(&isas[from]);
}

std::atomic<const Isa *> remembered_isa{nullptr};

const Isa *choose_default_isa() noexcept { // threads that race here choose the same one
    rownorm_status status = ROWNORM_OK;
    const Isa *const isa = choose_isa(nullptr, nullptr, &status);
    remembered_isa.store(isa, std::memory_order_relaxed);
    return isa;
}

} // namespace rownorm

using namespace rownorm;

const char *rownorm_isa(void) {
    const Isa *isa = default_isa();
    return isa ? isa->name : nullptr;
}

const char *rownorm_isa_built_name(size_t index) { return index < size_t(kIsas) ? isas[index].name : nullptr; }

const char *rownorm_isa_obstacle(const char *isa) {
    const int i = isa ? index_of(isa) : -1;
    return i < 0 ? "not an ISA of this library" : isas[i].obstacle();
}

const char *rownorm_isa_name(size_t index) {
    for (const Isa &isa : isas)
        if (!isa.obstacle() && index-- == 0)
            return isa.name;
    return nullptr;
}

size_t rownorm_isa_count(void) {
    size_t count = 0;
    while (rownorm_isa_name(count))
        count++;
    return count;
}
