// The highest rank within a vector, by the widest instructions there are: the hardware's own minimum and maximum for
// narrow integers and floats, two f16 or bf16 at a time, and one rank at the end; else a rank an element.
#pragma once
#include "num/order.cuh"

// minimum and maximum of floats: NaN propagates, or gives way to a number. Both zeros are told apart (-0 < +0).
template <Side SIDE, Nan NAN> __device__ __forceinline__ f32 extreme(f32 a, f32 b) {
    f32 c;
    if constexpr (NAN == Nan::Ignore) {
        if constexpr (SIDE == Side::Min) asm("min.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
        else asm("max.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    } else {
        if constexpr (SIDE == Side::Min) asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
        else asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    }
    return c;
}
#define PACKED_EXTREME(type) \
    if constexpr (NAN == Nan::Ignore) { \
        if constexpr (SIDE == Side::Min) asm("min." type " %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b)); \
        else asm("max." type " %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b)); \
    } else { \
        if constexpr (SIDE == Side::Min) asm("min.NaN." type " %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b)); \
        else asm("max.NaN." type " %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b)); \
    }
template <class E, Side SIDE, Nan NAN> struct Packed;
template <Side SIDE, Nan NAN> struct Packed<f16, SIDE, NAN> {
    static __device__ __forceinline__ u32 extreme(u32 a, u32 b) {
        u32 c;
        PACKED_EXTREME("f16x2")
        return c;
    }
};
template <Side SIDE, Nan NAN> struct Packed<bf16, SIDE, NAN> {
    static __device__ __forceinline__ u32 extreme(u32 a, u32 b) {
        u32 c;
        PACKED_EXTREME("bf16x2")
        return c;
    }
};
#undef PACKED_EXTREME

// Integers of 16 bits, two at a time.
template <Side SIDE, bool SIGNED> __device__ __forceinline__ u32 extreme_halves(u32 a, u32 b) {
    u32 c;
    if constexpr (SIDE == Side::Min && SIGNED) asm("min.s16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    else if constexpr (SIDE == Side::Min) asm("min.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    else if constexpr (SIGNED) asm("max.s16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    else asm("max.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

// How a type's vectors are searched.
enum class Search { Elements, Native, Pairs, Halves };
template <class E> constexpr Search SEARCH = Traits<E>::integer ? Search::Native : Search::Elements;
#if __CUDA_ARCH__ >= 800
template <> constexpr Search SEARCH<f32> = Search::Native;
template <> constexpr Search SEARCH<f16> = Search::Pairs;
template <> constexpr Search SEARCH<bf16> = Search::Pairs;
#endif

#if __CUDA_ARCH__ >= 900
template <> constexpr Search SEARCH<boolean> = Search::Halves;
template <> constexpr Search SEARCH<i8> = Search::Halves;
template <> constexpr Search SEARCH<u8> = Search::Halves;
template <> constexpr Search SEARCH<i16> = Search::Halves;
template <> constexpr Search SEARCH<u16> = Search::Halves;
#endif

template <Side SIDE, Nan NAN, class W> __device__ __forceinline__ W extreme(W a, W b) {
    if constexpr (SIDE == Side::Min) return a < b ? a : b;
    else return a > b ? a : b;
}

// The rank of a widened integer or float.
template <class E, Side SIDE, Nan NAN, class W> __device__ __forceinline__ Rank<E> rank_wide(W w) {
    if constexpr (!Traits<E>::integer) return rank<E, SIDE, NAN>(w);
    else if constexpr (SIDE == Side::Min) return ~signed_order(w);
    else return signed_order(w);
}

template <class E, Side SIDE> __device__ __forceinline__ auto widen_for(E x) {
    if constexpr (SIDE != Side::Magnitude) return widen(x);
    else if constexpr (Traits<E>::integer) return magnitude(widen(x));
    else return fabsf(widen(x));
}

// The extremes of what stood in either half of words. It begins with a NaN where those are ignored, else with what is
// beyond everything but a NaN; of no elements at all its rank is not to be asked.
template <class E, Side SIDE, Nan NAN> struct BestPair {
    static constexpr u32 INFINITE = NAN_BITS<E> & NAN_BITS<E> << 1, BEGIN = NAN == Nan::Ignore  ? 0x7fff
                                                                            : SIDE == Side::Min ? INFINITE
                                                                                                : INFINITE | 0x8000;
    u32 best = BEGIN << 16 | BEGIN;

    __device__ __forceinline__ void add(const Vector& p) {
#pragma unroll
        for (int k = 0; k < 4; k++) best = Packed<E, SIDE, NAN>::extreme(best, p.word[k]);
    }
    __device__ __forceinline__ Rank<E> highest_rank() const {
        return larger(rank<E, SIDE, NAN>(E{u16(best)}), rank<E, SIDE, NAN>(E{u16(best >> 16)}));
    }
};

template <class E, Side SIDE, Nan NAN>
__device__ __forceinline__ Rank<E> highest_rank(const Vector& p) {
    Elements<E> e(p);
    if constexpr (SEARCH<E> == Search::Halves) {
        // Bytes stand at the top of a half, odd ones as they are, even ones moved up; what is below them decides
        // between equals only.
        constexpr bool SIGNED = Traits<E>::is_signed;
        constexpr int TOP = sizeof(E) == 1 ? 8 : 0;
        u32 best = p.word[0];
#pragma unroll
        for (int k = 1; k < 4; k++) best = extreme_halves<SIDE, SIGNED>(best, p.word[k]);
        if constexpr (sizeof(E) == 1) {
#pragma unroll
            for (int k = 0; k < 4; k++) best = extreme_halves<SIDE, SIGNED>(best, p.word[k] << 8);
        }
        if constexpr (SIGNED) {
            return rank_wide<E, SIDE, NAN>(extreme<SIDE, NAN>(i32(best) >> (16 + TOP), i32(i16(best)) >> TOP));
        } else {
            return rank_wide<E, SIDE, NAN>(extreme<SIDE, NAN>(best >> (16 + TOP), (best & 0xffffu) >> TOP));
        }
    } else if constexpr (SEARCH<E> == Search::Native) {
        auto best = widen_for<E, SIDE>(e.element[0]);
#pragma unroll
        for (int k = 1; k < PER_VECTOR<E>; k++) { best = extreme<SIDE, NAN>(best, widen_for<E, SIDE>(e.element[k])); }
        return rank_wide<E, SIDE, NAN>(best);
    } else if constexpr (SEARCH<E> == Search::Pairs) {
        const u32 mask = SIDE == Side::Magnitude ? 0x7fff7fffu : 0xffffffffu;
        u32 best = p.word[0] & mask;
#pragma unroll
        for (int k = 1; k < 4; k++) { best = Packed<E, SIDE, NAN>::extreme(best, p.word[k] & mask); }
        return larger(rank<E, SIDE, NAN>(E{u16(best)}), rank<E, SIDE, NAN>(E{u16(best >> 16)}));
    } else {
        Rank<E> best = rank<E, SIDE, NAN>(e.element[0]);
#pragma unroll
        for (int k = 1; k < PER_VECTOR<E>; k++) { best = larger(best, rank<E, SIDE, NAN>(e.element[k])); }
        return best;
    }
}
