// SPDX-License-Identifier: Apache-2.0
// Every ISA's primitives against plain scalar code: the exact multiply-add (on SSE2 an emulation), the sum over
// the lanes, and the conversions of 16-bit floats, over all their values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "simd_probe.hpp"

#include "kernels/half.hpp"

#include <rownorm/rownorm.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#if defined(__x86_64__)
extern const SimdProbe rownorm_simd_probe_sse2, rownorm_simd_probe_avx2, rownorm_simd_probe_avx512,
    rownorm_simd_probe_avx512bf16;
static const SimdProbe *const built[] = {&rownorm_simd_probe_sse2, &rownorm_simd_probe_avx2, &rownorm_simd_probe_avx512,
                                         &rownorm_simd_probe_avx512bf16};
#else
extern const SimdProbe rownorm_simd_probe_neon;
static const SimdProbe *const built[] = {&rownorm_simd_probe_neon};
#endif

namespace {

// Those that this machine can run.
std::vector<const SimdProbe *> probes() {
    std::vector<const SimdProbe *> probes;
    for (const SimdProbe *probe : built)
        if (!rownorm_isa_obstacle(probe->isa))
            probes.push_back(probe);
    return probes;
}

uint32_t canonical(float v) { return std::isnan(v) ? 0x7fc00000 : std::bit_cast<uint32_t>(v); }

// Fails with the first case that differs.
template <class Show>
void check_same_bits(const std::vector<float> &got, const std::vector<float> &want, Show show) {
    for (size_t i = 0; i < want.size(); i++)
        if (canonical(got[i]) != canonical(want[i])) {
            INFO(show(i), " gives ", got[i], ", not ", want[i]);
            CHECK(canonical(got[i]) == canonical(want[i]));
            return;
        }
    CHECK(got.size() == want.size());
}

struct Triples {
    std::vector<float> a, b, c;
    void add(float x, float y, float z) {
        a.push_back(x);
        b.push_back(y);
        c.push_back(z);
    }
    void pad() {
        while (a.size() % 32)
            add(1, 1, 1);
    }
};

void check_fused(const Triples &t) {
    std::vector<float> want(t.a.size()), got(t.a.size());
    for (size_t i = 0; i < want.size(); i++)
        want[i] = std::fma(t.a[i], t.b[i], t.c[i]);
    for (const SimdProbe *probe : probes()) {
        CAPTURE(probe->isa);
        probe->fused(t.a.data(), t.b.data(), t.c.data(), got.data(), got.size());
        check_same_bits(got, want, [&](size_t i) {
            return doctest::String("fma of bits ") + doctest::toString(std::bit_cast<uint32_t>(t.a[i])) + ", " +
                   doctest::toString(std::bit_cast<uint32_t>(t.b[i])) + ", " +
                   doctest::toString(std::bit_cast<uint32_t>(t.c[i]));
        });
    }
}

std::vector<float> edge_values() {
    using limits = std::numeric_limits<float>;
    std::vector<float> v;
    for (float x : {0.f,
                    limits::denorm_min(),
                    3 * limits::denorm_min(),
                    0x1p-140f,
                    0x1.fffffcp-127f,
                    limits::min(),
                    0x1.000002p-126f,
                    0x1.8p-75f,
                    0x1.fffffep-64f,
                    0x1p-63f,
                    0x1.000002p-63f,
                    0x1p-24f,
                    0x1.000002p-12f,
                    0x1.fffffep-1f,
                    1.f,
                    0x1.000002p0f,
                    1.5f,
                    0x1.000006p0f,
                    3.f,
                    0x1p12f,
                    0x1.001p12f,
                    0x1.fffffep63f,
                    0x1p64f,
                    0x1p104f,
                    limits::max(),
                    limits::infinity(),
                    limits::quiet_NaN()}) {
        v.push_back(x);
        v.push_back(-x);
    }
    return v;
}

} // namespace

TEST_CASE("fused multiply-add: every triple of edge values") {
    const std::vector<float> edges = edge_values();
    Triples t;
    for (float a : edges)
        for (float b : edges)
            for (float c : edges)
                t.add(a, b, c);
    t.pad();
    check_fused(t);
}

TEST_CASE("fused multiply-add: sums that end just beside the middle between two floats") {
    std::mt19937 random(1);
    Triples t;
    // c is a float with an exponent e; a*b has its last bits far below c's last one, near half of it.
    for (int i = 0; i < 1 << 18; i++) {
        const float c = std::ldexp(1 + float(random() >> 9) * 0x1p-23f, int(random() % 8));
        const float half_step = std::ldexp(1.f, std::ilogb(c) - 24);
        const int nudge = int(random() % 5) - 2;
        const float a = (1 + float(nudge) * 0x1p-23f), b = half_step * (1 + float(random() % 3) * 0x1p-23f);
        t.add(a, random() & 1 ? b : -b, random() & 1 ? c : -c);
    }
    t.pad();
    check_fused(t);
}

TEST_CASE("fused multiply-add: subnormal sums that end just beside the middle between two floats") {
    std::mt19937 random(6);
    Triples t;
    // a*b is 2^-150 (half the step), or less or more by 2^-196, which an f64 sum as large as c's loses.
    for (int i = 0; i < 1 << 16; i++) {
        const float c = std::ldexp(float(random() >> (9 + random() % 8)), -149);
        const float a = 0x1.000002p-75f, b = random() & 1 ? 0x1.fffffcp-76f : 0x1p-75f;
        t.add(random() & 1 ? a : 0x1p-75f, random() & 1 ? b : -b, random() & 1 ? c : -c);
    }
    t.pad();
    check_fused(t);
}

TEST_CASE("fused multiply-add: random bits, and random numbers near the smallest normal one") {
    std::mt19937 random(2);
    Triples any, tiny;
    const auto small = [&] { return std::ldexp(1 + float(random() >> 9) * 0x1p-23f, -int(random() % 90)); };
    for (int i = 0; i < 1 << 20; i++)
        any.add(std::bit_cast<float>(uint32_t(random())), std::bit_cast<float>(uint32_t(random())),
                std::bit_cast<float>(uint32_t(random())));
    for (int i = 0; i < 1 << 20; i++)
        tiny.add(small(), std::ldexp(small(), -40), std::ldexp(small() * (random() & 1 ? 1.f : -1.f), -70));
    check_fused(any);
    check_fused(tiny);
}

TEST_CASE("squares of 16-bit floats are added as by fma") {
    std::mt19937 random(3);
    for (const SimdProbe *probe : probes()) {
        CAPTURE(probe->isa);
        std::vector<float> f16(1 << 16), bf16(1 << 16), c(1 << 16), got(1 << 16), want(1 << 16);
        for (size_t i = 0; i < c.size(); i++) {
            f16[i] = f16_to_f32(uint16_t(i));
            bf16[i] = bf16_to_f32(uint16_t(i));
        }
        for (int round = 0; round < 16; round++) {
            for (size_t i = 0; i < c.size(); i++)
                c[i] = round == 0 ? 0 : std::ldexp(float(random() >> 8), int(random() % 200) - 149);
            const auto show = [&](size_t i) { return doctest::toString(i); };
            for (size_t i = 0; i < c.size(); i++)
                want[i] = std::fma(f16[i], f16[i], c[i]);
            probe->add_f16_square(f16.data(), c.data(), got.data(), got.size());
            check_same_bits(got, want, show);
            for (size_t i = 0; i < c.size(); i++)
                want[i] = std::fma(bf16[i], bf16[i], c[i]);
            probe->add_bf16_square(bf16.data(), c.data(), got.data(), got.size());
            check_same_bits(got, want, show);
        }
    }
}

TEST_CASE("fold adds lane j + S/2, then + S/4, ... + 1") {
    std::mt19937 random(4);
    for (const SimdProbe *probe : probes()) {
        CAPTURE(probe->isa);
        for (int round = 0; round < 1000; round++) {
            std::vector<float> v(probe->lanes), sum;
            for (float &x : v)
                x = std::ldexp(float(random() >> 8), int(random() % 40));
            sum = v;
            for (size_t half = v.size() / 2; half >= 1; half /= 2)
                for (size_t j = 0; j < half; j++)
                    sum[j] += sum[j + half];
            CHECK(probe->fold(v.data()) == sum[0]);
        }
    }
}

namespace {

float widened(const SimdProbe::HalfType &type, uint16_t h) {
    return type.name[0] == 'f' ? f16_to_f32(h) : bf16_to_f32(h);
}
uint16_t narrowed(const SimdProbe::HalfType &type, float f) {
    return type.name[0] == 'f' ? f32_to_f16(f) : f32_to_bf16(f);
}

} // namespace

TEST_CASE("16-bit floats: all of them are widened as by the portable conversion") {
    std::vector<uint16_t> h(1 << 16);
    std::vector<float> got(h.size()), want(h.size());
    for (size_t i = 0; i < h.size(); i++)
        h[i] = uint16_t(i);
    for (const SimdProbe *probe : probes())
        for (const auto &type : probe->half) {
            CAPTURE(probe->isa);
            CAPTURE(type.name);
            for (size_t i = 0; i < h.size(); i++)
                want[i] = widened(type, h[i]);
            type.load(h.data(), got.data(), h.size());
            check_same_bits(got, want, [](size_t i) { return doctest::toString(i); });
        }
}

TEST_CASE("16-bit floats: f32 around every one of them, and random bits, are narrowed as by the portable conversion") {
    std::mt19937 random(5);
    for (const SimdProbe *probe : probes())
        for (const auto &type : probe->half) {
            CAPTURE(probe->isa);
            CAPTURE(type.name);
            std::vector<float> f;
            for (uint32_t h = 0; h < 1 << 16; h++) {
                // the number, the middle to the next one, and the neighbours of both
                const auto low = std::bit_cast<uint32_t>(widened(type, uint16_t(h)));
                const auto high = std::bit_cast<uint32_t>(widened(type, uint16_t(h + 1)));
                for (uint32_t at : {low, low + (high - low) / 2})
                    for (uint32_t d = 0; d < 3; d++)
                        f.push_back(std::bit_cast<float>(at + d - 1));
            }
            for (int i = 0; i < 1 << 20; i++)
                f.push_back(std::bit_cast<float>(uint32_t(random())));
            while (f.size() % 32)
                f.push_back(0);
            for (float &x : f)
                x = type.keeps_nan || !std::isnan(x) ? x : std::numeric_limits<float>::quiet_NaN();
            std::vector<uint16_t> got(f.size());
            type.store(f.data(), got.data(), f.size());
            size_t wrong = 0;
            for (size_t i = 0; i < f.size(); i++) {
                const bool nan = std::isnan(f[i]), stays = std::isnan(widened(type, got[i]));
                wrong += nan ? !stays : got[i] != narrowed(type, f[i]);
            }
            CHECK(wrong == 0);
        }
}

TEST_CASE("16-bit floats: partial loads and stores touch the first elements and no other") {
    for (const SimdProbe *probe : probes())
        for (const auto &type : probe->half)
            for (int count = 1; count < int(2 * probe->lanes); count++) {
                CAPTURE(probe->isa);
                CAPTURE(type.name);
                CAPTURE(count);
                std::vector<uint16_t> h(2 * probe->lanes);
                std::vector<float> f(2 * probe->lanes);
                for (size_t i = 0; i < h.size(); i++)
                    h[i] = narrowed(type, float(i + 1));
                type.load_first(h.data(), f.data(), count);
                for (size_t i = 0; i < f.size(); i++)
                    CHECK(f[i] == (i < size_t(count) ? float(i + 1) : 0));
                for (size_t i = 0; i < f.size(); i++)
                    f[i] = 100 + float(i);
                const std::vector<uint16_t> before = h;
                type.store_first(f.data(), h.data(), count);
                for (size_t i = 0; i < h.size(); i++)
                    CHECK(h[i] == (i < size_t(count) ? narrowed(type, 100 + float(i)) : before[i]));
            }
}
