// SPDX-License-Identifier: Apache-2.0
#include "simd_probe.hpp"

#include "kernels/elements.hpp"

namespace {

void fused_arrays(const float *a, const float *b, const float *c, float *out, size_t n) {
    for (size_t i = 0; i < n; i += size_t(S))
        fused(VF::load_unaligned(a + i), VF::load_unaligned(b + i), VF::load_unaligned(c + i)).store_unaligned(out + i);
}

template <class E>
void add_squares(const float *v, const float *c, float *out, size_t n) {
    for (size_t i = 0; i < n; i += size_t(S))
        E::add_square(VF::load_unaligned(v + i), VF::load_unaligned(c + i)).store_unaligned(out + i);
}

float fold_array(const float *v) { return fold(VF::load_unaligned(v)); }

// A Pair to and from 2*S floats in the elements' order.
template <class E>
void put(Pair p, float *to) {
    float a[S], b[S];
    p.a.store_unaligned(a);
    p.b.store_unaligned(b);
    for (int i = 0; i < S; i++) {
        to[E::is_even_odd ? 2 * i : i] = a[i];
        to[E::is_even_odd ? 2 * i + 1 : i + S] = b[i];
    }
}
template <class E>
Pair get(const float *from) {
    float a[S], b[S];
    for (int i = 0; i < S; i++) {
        a[i] = from[E::is_even_odd ? 2 * i : i];
        b[i] = from[E::is_even_odd ? 2 * i + 1 : i + S];
    }
    return {VF::load_unaligned(a), VF::load_unaligned(b)};
}

template <class E>
void load(const uint16_t *from, float *to, size_t n) {
    for (size_t i = 0; i < n; i += size_t(E::width))
        put<E>(E::load(from + i), to + i);
}
template <class E>
void store(const float *from, uint16_t *to, size_t n) {
    for (size_t i = 0; i < n; i += size_t(E::width))
        E::store(to + i, get<E>(from + i));
}
template <class E>
void load_some(const uint16_t *from, float *to, int count) {
    put<E>(E::load_first(from, count), to);
}
template <class E>
void store_some(const float *from, uint16_t *to, int count) {
    E::store_first(to, get<E>(from), count);
}

template <class E>
constexpr SimdProbe::HalfType half_type(const char *name, bool keeps_nan) {
    return {name, load<E>, store<E>, load_some<E>, store_some<E>, keeps_nan};
}

#define ROWNORM_TEXT_(x) #x
#define ROWNORM_TEXT(x) ROWNORM_TEXT_(x)

} // namespace

extern const SimdProbe ROWNORM_SYMBOL(simd_probe);
const SimdProbe ROWNORM_SYMBOL(simd_probe) = {ROWNORM_TEXT(ROWNORM_ISA),
                                              fused_arrays,
                                              add_squares<F16>,
                                              add_squares<Bf16>,
                                              fold_array,
                                              size_t(S),
                                              {half_type<F16>("f16", true), half_type<Bf16>("bf16", true),
                                               half_type<Bf16EvenOdd>("bf16 by even and odd", false)}};
