// Many reductions at once: of segments of one length that follow each other, rows of a matrix, enough of them that none
// has to be divided among blocks.
//
// A row's place is its number times its length. Two kernels, each of which has all registers: rows of up to 128 bytes
// are a lane's, several to a lane. A warp copies 4 KiB of them to shared memory, half of them while it folds the tile
// before, from where each lane reads its own; vectors are placed so that the lanes of an access meet different banks.
// Other rows are shared by up to 256 neighbouring threads, which read neighbouring elements and join what they have by
// shuffles. Neighbouring warps take neighbouring rows, so that the memory sees one wide front. Vectors that a row has
// in part are put together from its elements, so that all rows, the first and the last as well, go in whole steps.
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
//
// Measured on an H100, the same, sums and variances of rows of 1024 to 16384 bf16: a question an element 39 to 52 and
// 20 to 27; windows (op/part_window.cuh) 68 and 50; results finished by 32 lanes at a time 62 for variances; the
// array's first and last row not element by element, which one lane after another waited for, 82 and 71; eight vectors
// at once by three blocks in place of four, 86. Tried there: the next step's vectors loaded before one is added, 65,
// for registers; four vectors asked at once, 58; two sums a lane, no change.
#pragma once
#include "walk/whole_vectors.cuh"
#include "walk/row_results.cuh"

// Folds of 16 bits with little state: the questions of a vector are few, so that more of them are loaded at once, by
// fewer warps with more registers each.
template <class Fold>
constexpr bool IS_LIGHT =
    sizeof(typename Fold::Element) == 2 && sizeof(typename Fold::State) % 16 == 0 && sizeof(typename Fold::State) <= 32;
template <class Fold> constexpr int ROW_BLOCKS = IS_LIGHT<Fold> ? 3 : Fold::BLOCKS;

template <class Fold> struct RowWarp {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    // Vectors that a lane copies at once; bytes of the rows that are a lane's own, which is what it copies.
    static constexpr u32 PER = PER_VECTOR<E>, VECTORS = 8, BYTES = 16 * VECTORS, FLIGHT = IS_LIGHT<Fold> ? 8 : 4;

    const SegmentArguments& a;
    const FoldOptions desc;
    const typename Fold::Setup setup;
    const u32 lane, length;
    const u64 warp, warps;

    __device__ __forceinline__ explicit RowWarp(const SegmentArguments& a)
        : a(a), desc{u32(a.options)}, setup(desc), lane(threadIdx.x % 32), length(u32(a.length)),
          warp((u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32), warps(u64(gridDim.x) * blockDim.x / 32) {}

    __device__ __forceinline__ void finish(u64 row, const State& state) const {
        Fold::finish(a, desc, row, state, row * length, (row + 1) * length);
    }

    // Rows that are a lane's own, which takes their vectors by a Taker.
    template <class Taker> __device__ __forceinline__ void own(Vector* tile) const {
        const u32 bytes = length * u32(sizeof(E)), each = BYTES / bytes, vectors_per_row = bytes / 16;
        const bool whole = bytes % 16 == 0;
        Taker taker(setup);
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
                    const auto vector = [&](u32 q) {
                        const u32 number = row * vectors_per_row + q;
                        return tile[number ^ (number >> 3 & mask)];
                    };
                    u32 q = 0;
                    if constexpr (Taker::TAKES_PAIRS) {
#pragma unroll 1
                        for (; q + 2 <= vectors_per_row; q += 2) {
                            const Vector pair[2] = {vector(q), vector(q + 1)};
                            taker.take_pair(state, pair, first + begin + q * PER, setup);
                        }
                    }
#pragma unroll 1
                    for (; q < vectors_per_row; q++) taker.take(state, vector(q), first + begin + q * PER, setup);
                    taker.flush(state);
                } else if (bytes % 8 == 0 && sizeof(E) == 2) {
                    halves(state, staged + begin, first + begin);
                } else {
#pragma unroll 4
                    for (u32 i = 0; i < length; i++) Fold::add(state, staged[begin + i], first + begin + i, setup);
                }
                finish(at * rows + row, state);
            }
            __syncwarp();
        }
    }

    // A row of 16 bits in shared memory by halves of vectors.
    __device__ __forceinline__ void halves(State& state, const E* row, u64 index) const {
        if constexpr (sizeof(E) == 2) {
#pragma unroll 1
            for (u32 i = 0; i < length; i += 4) {
                const uint2 words = *reinterpret_cast<const uint2*>(row + i);
                const Elements<E> of(Vector{words.x, words.y, 0, 0});
                const E e[4] = {of.element[0], of.element[1], of.element[2], of.element[3]};
                add_all<Fold>(state, e, index + i, setup);
            }
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

    // What of a vector belongs to a row, element by element, as its rest may lie beyond the array; zeros beside it.
    // `at` is where it begins in the row, perhaps before that.
    __device__ __forceinline__ Vector part_of(u64 begin, u32 at) const {
        Elements<E> e(Vector{});
#pragma unroll
        for (u32 i = 0; i < PER; i++) {
            if (at + i < length) e.element[i] = static_cast<const E*>(a.x)[begin + (at + i)];
        }
        return e.vector;
    }

    // Rows that `lanes` share, a power of two: vector by vector, wherever rows begin. Where a row is several warps',
    // they leave their states in `joined`. Results wait in `states` until every lane has one to finish.
    __device__ __forceinline__ void shared(u32 lanes, State* joined, State* states) const {
        RowResults<State> results(a.segments, lanes, joined, states);
        const u32 at_once = results.at_once, sub = threadIdx.x % lanes,
                  shift = u32(reinterpret_cast<u64>(a.x) % 16 / sizeof(E));
        // As many steps for all rows, wherever they begin in a vector.
        const u32 before = length % PER == 0 ? shift : PER - 1, each = FLIGHT * lanes * PER,
                  steps = (before + length + each - 1) / each;
        const Vector* vectors = reinterpret_cast<const Vector*>(reinterpret_cast<u64>(a.x) & ~15ull) + sub;
        WholeVectors<Fold> whole(setup);
#pragma unroll 1
        for (u64 base = results.waiting_from; base < a.segments; base += u64(gridDim.x) * at_once) {
            const u64 row = base + threadIdx.x / lanes, begin = row * length;
            const u32 skew = u32((begin + shift) % PER), count = row < a.segments ? length : 0,
                      end = count > 0 ? skew + count : 0;
            const Vector* from = vectors + (begin + shift) / PER;
            State state = Fold::identity();
            u32 first = 0;
#pragma unroll 1
            for (u32 step = 0; step < steps; step++, first += each) {
                Vector p[FLIGHT];
                const u32 at = first + sub * PER;
                const u64 index = begin + at - skew;
                const bool all = __all_sync(0xffffffffu, first >= skew && first + each <= end);
                if (all) {
#pragma unroll
                    for (u32 k = 0; k < FLIGHT; k++, from += lanes) p[k] = load(from);
                } else {
#pragma unroll
                    for (u32 k = 0; k < FLIGHT; k++, from += lanes) {
                        const u32 vector = at + k * lanes * PER;
                        p[k] = Vector{};
                        if (vector >= skew && vector + PER <= end) p[k] = load(from);
                        else if (vector < end) p[k] = part_of(begin, vector - skew);
                    }
                }
                whole.begin(p[0]);
                whole.settle(state, FLIGHT);
                if (all || WholeVectors<Fold>::TAKES_ZEROS) {
                    whole.template take_all<FLIGHT>(state, p, index, lanes * PER, setup);
                } else {
#pragma unroll 1
                    for (u32 k = 0; k < FLIGHT; k++) {
                        const u32 of_row = at + k * lanes * PER - skew;
#pragma unroll 1
                        for (u32 i = 0; i < PER; i++) {
                            const E x = take_first<E>(p[0]);
                            if (of_row + i < count) Fold::add(state, x, begin + (of_row + i), setup);
                        }
                        move_down(p);
                    }
                }
            }
            __syncwarp();
            if (whole.flush(state, results.near)) join_neighbours<Fold>(state, results.near);
            results.add(
                state, base, [](State& s, u32 lanes) { join_neighbours<Fold>(s, lanes); },
                [&](u64 row, const State& s) { finish(row, s); });
        }
    }
};

// Rows of up to 128 bytes, which begin at a vector, and of one element, which begin anywhere: each is a lane's own.
template <class Fold> __device__ __forceinline__ void fold_own_rows(const SegmentArguments& a) {
    typedef typename Fold::Element E;
    __shared__ Vector tile[SEGMENT_WARPS][32 * RowWarp<Fold>::VECTORS];
    const RowWarp<Fold> rows(a);
    if (a.length == 1) {
        rows.single();
        return;
    }
    if constexpr (LANES_HAVE_WINDOWS<Fold>) {
        typedef LaneVectorsBy<Fold, true> ByWindow;
        if (a.length % PER_VECTOR<E> == 0 && a.length >= ByWindow::LEAST * PER_VECTOR<E>) {
            rows.template own<ByWindow>(tile[threadIdx.x / 32]);
            return;
        }
    }
    rows.template own<LaneVectorsBy<Fold, false>>(tile[threadIdx.x / 32]);
}

// All others. `bounds` is how many lanes share a row: 1 to 256.
template <class Fold> __device__ __forceinline__ void fold_shared_rows(const SegmentArguments& a) {
    typedef typename Fold::State State;
    __shared__ State joined[SEGMENT_WARPS], states[SEGMENT_WARPS][32];
    RowWarp<Fold>(a).shared(u32(a.bounds), joined, states[threadIdx.x / 32]);
}
