// Sum and sum of squares of integers in one pass, exactly, in 128 and 192 bits.
//
// record: [sum, 2 limbs; sum of squares, 3 limbs].
#pragma once
#include "walk/array.cuh"
#include "num/packed_dot.cuh"
#include "num/wide_integers.cuh"

// A thread's squares: of narrow types in 64 bits (2^31 elements), of 32 bits in halves, of 64 bits by halves of the
// magnitude, (a + b 2^32)^2 = a^2 + a b 2^33 + b^2 2^64, each product in halves. No carry is on the way.
template <class E> struct IntegerMoments {
    typedef E Element;
    struct State {
        WideInteger<2> sum;
        WideInteger<3> squares;
    };
    typedef decltype(widen(E())) Wide;
    static constexpr int VECTORS = sizeof(E) == 8 ? 2 : 4, BLOCKS = 3;
    i64 sum = 0, squares = 0;  // of 64-bit types the sum of upper halves
    u64 sum_low = 0;
    Halves low, cross, high;

    __device__ __forceinline__ IntegerMoments(const E*, u64) {}
    __device__ __forceinline__ void vector(const Vector& p, u64) {
        if constexpr (sizeof(E) == 1) {
            Wide s = 0, q = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                s = dp4a(Wide(p.word[k]), Wide(0x01010101), s);
                q = dp4a(Wide(p.word[k]), Wide(p.word[k]), q);
            }
            sum += s;
            squares += q;
        } else if constexpr (sizeof(E) == 2) {
            Elements<E> e(p);
            Wide s = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) s = dp2a(Wide(p.word[k]), Wide(0x0101), s);
            sum += s;
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) squares += widen(e.element[k]) * widen(e.element[k]);
        } else if constexpr (sizeof(E) == 4 && Traits<E>::is_signed) {
            // Two squares of at most 2^62 each at once.
            Elements<E> e(p);
#pragma unroll
            for (int k = 0; k < 4; k += 2) {
                const i64 x = e.element[k], y = e.element[k + 1];
                sum += x + y;
                low.add(u64(x * x) + u64(y * y));
            }
        } else {
            Elements<E> e(p);
#pragma unroll
            for (int k = 0; k < PER_VECTOR<E>; k++) one(e.element[k], 0);
        }
    }
    __device__ __forceinline__ void one(E x, u64) {
        if constexpr (sizeof(E) == 8) {
            sum_low += u32(x);
            sum += Traits<E>::is_signed ? i64(x) >> 32 : i64(u64(x) >> 32);
            const u64 magnitude = x < E(0) ? 0ull - u64(x) : u64(x);
            const u64 a = u32(magnitude), b = magnitude >> 32;
            low.add(a * a);
            cross.add(a * b);
            high.add(b * b);
        } else if constexpr (sizeof(E) == 4) {
            sum += x;
            const u64 magnitude = x < E(0) ? 0ull - u64(i64(x)) : u64(x);
            low.add(magnitude * magnitude);
        } else {
            sum += widen(x);
            squares += widen(x) * widen(x);
        }
    }
    __device__ __forceinline__ State state() {
        State s = identity();
        s.squares.add(squares);
        low.template add_to<0>(s.squares);
        cross.template add_to<33>(s.squares);
        high.template add_to<64>(s.squares);
        if constexpr (sizeof(E) == 8) {
            s.sum.add(u64(sum) << 32, u64(sum >> 32), 0);
            s.sum.add(sum_low);
        } else {
            s.sum.add(sum);
        }
        return s;
    }
    static __device__ __forceinline__ State identity() { return {WideInteger<2>::zero(), WideInteger<3>::zero()}; }
    static __device__ __forceinline__ void merge(State& a, const State& b) {
        a.sum.add(b.sum);
        a.squares.add(b.squares);
    }
    static __device__ __forceinline__ void finish(const State& s, const Arguments& a) {
        if (!a.record) return;
        a.record[0] = s.sum.limb[0];
        a.record[1] = s.sum.limb[1];
        a.record[2] = s.squares.limb[0];
        a.record[3] = s.squares.limb[1];
        a.record[4] = s.squares.limb[2];
    }
};
