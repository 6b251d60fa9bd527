// Many reductions at once: of segments of one length that follow each other, rows of a matrix, too many to be divided
// among warps and too short to fill one.
//
// Nothing is searched: a row's place is its number times its length. Rows of up to 128 bytes are a lane's, several to a
// lane: a warp copies 4 KiB of them, in whole vectors, to shared memory, the first half of them while it folds the tile
// before, from where each lane reads its own; vectors are placed so that the lanes of an access meet different banks.
// Longer rows are shared by 4 to 32 neighbouring lanes, which read neighbouring elements and join what they have by
// shuffles. Neighbouring warps take neighbouring rows, so that the memory sees one wide front.
//
// Floor: input and results once through the memory. Instructions of short rows, f32: 1 to load and store a vector, 2 to
// 5 an element to read and add it, about 25 a result. Counted in the simulator, instructions of PTX an element, sums of
// f32, fast and exact: 21 and 28 for rows of 16, 17 and 30 for rows of 256 (element by element, each under its guard,
// half as many elements a lane: 30 and 56). The merge path (segments.cuh), which knows nothing of the lengths, takes 28
// and 45, 22 and 51.
//
// Measured on an H200, in % of the read ceiling, fast and exact, rows of 1, 3, 16 and 31 f32 (a copy of an array
// reaches 86): all eight vectors loaded before any is stored 70, 81, 86, 86 and 48, 59, 60, 59, as exact folds spilled;
// four at a time 71, 79, 88, 89 and 50, 61, 82, 81; half a tile ahead 83 % for 1, as those have no need of shared
// memory, 82, 88, 88; loads that are not told to leave the caches first, beside which results are written, 83, 89, 91,
// 90 and 74, 61, 82, 82. Rows that lanes share write little, and lose 4 % by that.
#pragma once
#include "walk/parts.cuh"

template <class Fold> struct RowWarp {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    // Vectors that a lane copies at once; bytes of the rows that are a lane's own, which is what it copies.
    static constexpr u32 PER = PER_VECTOR<E>, VECTORS = 8, BYTES = 16 * VECTORS, FLIGHT = 4;

    const SegmentArguments& a;
    const Choice choice;
    const typename Fold::Setup setup;
    const u32 lane, length;
    const u64 warp, warps;

    __device__ __forceinline__ explicit RowWarp(const SegmentArguments& a)
        : a(a), choice{u32(a.options)}, setup(choice), lane(threadIdx.x % 32), length(u32(a.length)),
          warp((u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32), warps(u64(gridDim.x) * blockDim.x / 32) {}

    __device__ __forceinline__ void finish(u64 row, const State& state) const {
        Fold::finish(a, choice, row, state, row * length, (row + 1) * length);
    }

    // Rows that are a lane's own.
    __device__ __forceinline__ void own(Vector* tile) const {
        const u32 bytes = length * u32(sizeof(E)), each = BYTES / bytes, vectors_per_row = bytes / 16;
        const bool whole = bytes % 16 == 0;
        // An even number of vectors from a lane's to the next would meet few banks.
        const u32 mask = whole && vectors_per_row % 2 == 0 ? 7 : 0;
        const u32 rows = 32 * each, elements = rows * length;
        const u64 tiles = (a.segments + rows - 1) / rows, n = a.segments * length;
        const E* x = static_cast<const E*>(a.x);
        const E* staged = reinterpret_cast<const E*>(tile);
        constexpr u32 HALF = VECTORS / 2;
        Vector p[HALF];
        const auto load_half = [&](u64 at, u32 h) {
            const u64 first = at * elements;
            const u32 vectors = at < tiles ? (n - first < elements ? u32(n - first) : elements) / PER : 0;
            const Vector* from = reinterpret_cast<const Vector*>(x + first);
#pragma unroll
            for (u32 k = 0; k < HALF; k++) {
                if ((h + k) * 32 + lane < vectors) p[k] = *(from + (h + k) * 32 + lane);
            }
        };
        load_half(warp, 0);
#pragma unroll 1
        for (u64 at = warp; at < tiles; at += warps) {
            const u64 first = at * elements;
            const u32 count = n - first < elements ? u32(n - first) : elements, vectors = count / PER;
#pragma unroll 1
            for (u32 h = 0; h < VECTORS && h * 32 < vectors; h += HALF) {
                if (h > 0) load_half(at, h);
#pragma unroll
                for (u32 k = 0; k < HALF; k++) {
                    const u32 vector = (h + k) * 32 + lane;
                    if (vector < vectors) tile[vector ^ (vector >> 3 & mask)] = p[k];
                }
            }
            load_half(at + warps, 0);
            // The array's last elements may be no vector; then rows are none either, and vectors stand where they are.
            if (vectors * PER + lane < count)
                reinterpret_cast<E*>(tile)[vectors * PER + lane] = x[first + vectors * PER + lane];
            __syncwarp();
#pragma unroll 1
            for (u32 k = 0; k < each; k++) {
                const u32 row = k * 32 + lane, begin = row * length;
                if (begin >= count) break;
                State state = Fold::identity();
                if (whole) {
#pragma unroll 1
                    for (u32 q = 0; q < vectors_per_row; q++) {
                        const u32 vector = row * vectors_per_row + q;
                        const Elements<E> e(tile[vector ^ (vector >> 3 & mask)]);
#pragma unroll
                        for (u32 i = 0; i < PER; i++)
                            Fold::add(state, e.element[i], first + begin + q * PER + i, setup);
                    }
                } else {
#pragma unroll 4
                    for (u32 i = 0; i < length; i++) Fold::add(state, staged[begin + i], first + begin + i, setup);
                }
                finish(at * rows + row, state);
            }
            __syncwarp();
        }
    }

    // Rows of one element, which are finished as they are read.
    __device__ __forceinline__ void single() const {
        constexpr u32 AT_ONCE = sizeof(State) <= 8 ? 4 : 8;
        const E* x = static_cast<const E*>(a.x);
#pragma unroll 1
        for (u64 at = warp * 32 * AT_ONCE + lane; at < a.segments; at += warps * 32 * AT_ONCE) {
            E e[AT_ONCE];
#pragma unroll
            for (u32 k = 0; k < AT_ONCE; k++) {
                if (at + k * 32 < a.segments) e[k] = x[at + k * 32];
            }
#pragma unroll
            for (u32 k = 0; k < AT_ONCE; k++) {
                if (at + k * 32 >= a.segments) continue;
                State state = Fold::identity();
                Fold::add(state, e[k], at + k * 32, setup);
                finish(at + k * 32, state);
            }
        }
    }

    // Rows that `lanes` share, a power of two: vector by vector, wherever rows begin. The vectors of the array's first
    // and last row may be in part beyond it.
    __device__ __forceinline__ void shared(u32 lanes) const {
        const u32 at_once = 32 / lanes, sub = lane % lanes, shift = u32(reinterpret_cast<u64>(a.x) % 16 / sizeof(E));
        const Vector* vectors = reinterpret_cast<const Vector*>(reinterpret_cast<u64>(a.x) & ~15ull);
#pragma unroll 1
        for (u64 base = warp * at_once; base < a.segments; base += warps * at_once) {
            const u64 row = base + lane / lanes, begin = row * length;
            const u32 count = row < a.segments ? length : 0, skew = u32((begin + shift) % PER);
            State state = Fold::identity();
            if (row > 0 && row + 1 < a.segments) {
                const Vector* from = vectors + (begin + shift) / PER;
#pragma unroll 1
                for (u32 first = sub; first * PER < skew + count; first += FLIGHT * lanes) {
                    Vector p[FLIGHT];
#pragma unroll
                    for (u32 k = 0; k < FLIGHT; k++) {
                        p[k] = Vector{};
                        if ((first + k * lanes) * PER < skew + count) p[k] = load(from + first + k * lanes);
                    }
#pragma unroll
                    for (u32 k = 0; k < FLIGHT; k++) {
                        const Elements<E> e(p[k]);
                        const u32 at = (first + k * lanes) * PER - skew;
#pragma unroll
                        for (u32 i = 0; i < PER; i++) {
                            if (at + i < count) Fold::add(state, e.element[i], begin + at + i, setup);
                        }
                    }
                }
            } else {
                const E* x = static_cast<const E*>(a.x) + begin;
#pragma unroll 1
                for (u32 at = sub; at < count; at += lanes) Fold::add(state, x[at], begin + at, setup);
            }
            __syncwarp();
#pragma unroll(sizeof(State) <= 8 ? 5 : 1)
            for (u32 by = 16; by > 0; by /= 2) {
                if (by >= lanes) continue;
                const State other = shuffle_words(state, (lane + by) % 32);
                Fold::merge(state, other);
            }
            if (sub == 0 && count > 0) finish(row, state);
        }
    }
};

// `bounds` is how many lanes share a row: 1 for those of up to 128 bytes, which begin at a vector.
template <class Fold> __device__ __forceinline__ void fold_rows(const SegmentArguments& a) {
    __shared__ Vector tile[SEGMENT_WARPS][32 * RowWarp<Fold>::VECTORS];
    const RowWarp<Fold> rows(a);
    if (a.length == 1) rows.single();
    else if (a.bounds == 1) rows.own(tile[threadIdx.x / 32]);
    else rows.shared(u32(a.bounds));
}
