// SPDX-License-Identifier: Apache-2.0
// One struct per element type: how a Pair of vectors, 2*S consecutive elements in f32 (f64 for F64), is
// loaded, stored and rounded, and a square added to a sum. A new type is one struct here.
//
// The sequential types hold elements 0..S-1 in `a` and S..2S-1 in `b`. Bf16EvenOdd holds the even ones
// in `a` and the odd ones in `b`, which costs a shift and a mask where the sequential order costs two
// shuffles; it serves where all types of a loop are bf16.
#pragma once

#include "half.hpp"
#include "isa.hpp"

namespace {

template <class V>
struct PairOf {
    V a, b;
};

using Pair = PairOf<VF>;
constexpr int S = int(VF::size);

// Lane numbers, to keep the first `count` lanes of a vector.
template <class T>
struct Numbers {
    T lane[64 / sizeof(T)];
};
template <class T>
constexpr Numbers<T> numbers(int first, int step) {
    Numbers<T> n{};
    for (int i = 0; i < int(64 / sizeof(T)); i++)
        n.lane[i] = T(first + step * i);
    return n;
}

// The vectors of one element type, and the order of its elements in a Pair.
template <class T, class V, bool even_odd>
struct Layout {
    using value = T;
    using vec = V;
    using scalar = typename V::value_type;
    using pair = PairOf<V>;
    static constexpr int lanes = int(V::size);
    static constexpr int width = 2 * lanes; // elements of a Pair
    static constexpr bool is_even_odd = even_odd;

    // The pair with 0 in place of all but the first `count` elements.
    static ROWNORM_INLINE pair keep_first(pair p, int count) {
        static constexpr Numbers<scalar> a = numbers<scalar>(0, even_odd ? 2 : 1);
        static constexpr Numbers<scalar> b = numbers<scalar>(even_odd ? 1 : lanes, even_odd ? 2 : 1);
        const V n = V(scalar(count)), zero = V(scalar(0));
        return {xsimd::select(V::load_unaligned(a.lane) < n, p.a, zero),
                xsimd::select(V::load_unaligned(b.lane) < n, p.b, zero)};
    }
};

// a*b + c: one rounding in f32; in f64 never fused, as SSE2 could not do it.
ROWNORM_INLINE VF multiply_add(VF a, VF b, VF c) { return fused(a, b, c); }
ROWNORM_INLINE VD multiply_add(VD a, VD b, VD c) { return a * b + c; }

// f32 and f64: nothing to convert.
template <class T, class V>
struct Full : Layout<T, V, false> {
    using pair = PairOf<V>;
    static constexpr int lanes = int(V::size);
    static ROWNORM_INLINE pair load(const T *p) { return {V::load_unaligned(p), V::load_unaligned(p + lanes)}; }
    static ROWNORM_INLINE pair load_first(const T *p, int count) {
        if (count < lanes)
            return {::load_first(p, count), V(T(0))};
        const V a = V::load_unaligned(p);
        return {a, count == lanes ? V(T(0)) : ::load_first(p + lanes, count - lanes)};
    }
    static ROWNORM_INLINE void store(T *p, pair v) {
        v.a.store_unaligned(p);
        keep_order_of_stores();
        v.b.store_unaligned(p + lanes);
        keep_order_of_stores();
    }
    static ROWNORM_INLINE void store_first(T *p, pair v, int count) {
        if (count < lanes)
            return ::store_first(p, v.a, count);
        v.a.store_unaligned(p);
        if (count > lanes)
            ::store_first(p + lanes, v.b, count - lanes);
    }
    static ROWNORM_INLINE void stream(T *p, pair v) {
        ::stream(p, v.a);
        ::stream(p + lanes, v.b);
    }
    static ROWNORM_INLINE pair round(pair v) { return v; }
    static ROWNORM_INLINE V add_square(V v, V c) { return multiply_add(v, v, c); }
};
struct F32 : Full<float, VF> {};
struct F64 : Full<double, VD> {};

// The 16-bit types: a Pair is one register in memory. Type says how it is unpacked and packed.
template <class Type, bool even_odd>
struct HalfType : Layout<uint16_t, VF, even_odd> {
    static ROWNORM_INLINE Pair load(const uint16_t *p) { return Type::unpack(load_half(p)); }
    static ROWNORM_INLINE Pair load_first(const uint16_t *p, int count) {
        return Type::unpack(load_half_first(p, count));
    }
    static ROWNORM_INLINE void store(uint16_t *p, Pair v) { store_half(p, Type::pack(v)); }
    static ROWNORM_INLINE void store_first(uint16_t *p, Pair v, int count) {
        uint16_t lanes[2 * S];
        store_half(lanes, Type::pack(v));
        for (int i = 0; i < count; i++)
            p[i] = lanes[i];
    }
    static ROWNORM_INLINE void stream(uint16_t *p, Pair v) { stream_half(p, Type::pack(v)); }
    static ROWNORM_INLINE Pair round(Pair v) { return Type::unpack(Type::pack(v)); }
};

struct F16 : HalfType<F16, false> {
    static ROWNORM_INLINE Pair load(const uint16_t *p) { return {load_f16(p), load_f16(p + S)}; }
    static ROWNORM_INLINE void store(uint16_t *p, Pair v) { store_f16(p, v.a, v.b); }
    static ROWNORM_INLINE Pair unpack(Half v) { return {f16_low(v), f16_high(v)}; }
    static ROWNORM_INLINE Half pack(Pair v) { return f16_pack(v.a, v.b); }
    static ROWNORM_INLINE Pair round(Pair v) { return {f16_round(v.a), f16_round(v.b)}; }
    static ROWNORM_INLINE VF add_square(VF v, VF c) { return add_f16_square(v, c); }
};

// Rounds two vectors to bf16, to nearest even, element by element in turn; not for NaN. The halves are apart, so that
// each step serves both vectors. A tie beside an odd number is made more than a tie.
ROWNORM_INLINE VH round_to_bf16(VF even, VF odd) {
    const VH upper = interleave_upper(bits(even), bits(odd)), lower = interleave_lower(bits(even), bits(odd));
    return increment_above_half(upper, lower | (upper & VH(1)));
}
// A NaN whose payload lies in the lower half would become an infinity, or with the carry -0: it is made quiet, and
// loses that half.
ROWNORM_INLINE VF quiet(VF v) { return xsimd::select(v == v, v, from_bits((bits(v) | VU(0x400000)) & VU(0xffff0000))); }

// Rounds to bf16 by an instruction, where the ISA has one that gives the same bits for these numbers.
#if !defined(ROWNORM_ISA_AVX512BF16)
ROWNORM_INLINE bool convert_in_order(VF, VF, Half &) { return false; }
#endif

struct Bf16 : HalfType<Bf16, false> {
    static ROWNORM_INLINE Pair load(const uint16_t *p) {
        return {from_bits(load_bf16(p)), from_bits(load_bf16(p + S))};
    }
    static ROWNORM_INLINE Pair unpack(Half v) { return {from_bits(bf16_low(v)), from_bits(bf16_high(v))}; }
    static ROWNORM_INLINE Half pack(Pair v) {
        Half packed;
        if (convert_in_order(v.a, v.b, packed))
            return packed;
        if (__builtin_expect(has_nan(v.a, v.b), 0))
            v = {quiet(v.a), quiet(v.b)};
        return in_order(round_to_bf16(v.a, v.b));
    }
    static ROWNORM_INLINE VF add_square(VF v, VF c) { return add_bf16_square(v, c); }
};

// Where every operand is bf16, a NaN's payload lies in the upper half, and the rounding leaves it there.
struct Bf16EvenOdd : HalfType<Bf16EvenOdd, true> {
    static ROWNORM_INLINE Pair unpack(Half v) {
        return {from_bits(as_dwords(v) << 16), from_bits(as_dwords(v) & VU(0xffff0000))};
    }
    static ROWNORM_INLINE Half pack(Pair v) { return round_to_bf16(v.a, v.b); }
    static ROWNORM_INLINE VF add_square(VF v, VF c) { return add_bf16_square(v, c); }
};

template <class E>
constexpr bool is_bf16 = false;
template <>
constexpr bool is_bf16<Bf16> = true;

} // namespace
