// Many reductions at once: of columns (columns.cuh) by windows of exponents (op/part_window.cuh).
//
// A lane owns the columns of a vector. Where squares are summed it owns four, whose window fits its registers, and
// takes two rows of 16 bits as one vector. It has one window and, in registers, that window's sums of each column.
// States are in shared memory: they are written when a unit ends, and before that only when the sums are full, or for
// elements that the window does not hold.
//
// Floor: input once through the memory, results once. Instructions an element of bf16, of sums: half a load, 3 to ask
// whether the window holds two of them, one to take it apart from its neighbour, a conversion and an addition.
#pragma once
#include "walk/columns.cuh"
#include "walk/whole_vectors.cuh"

// Whether a fold of columns goes by windows: sums of f32 take as long without one.
template <class Fold, bool HAS = HAS_WINDOW<Fold>> constexpr bool BY_WINDOWS = false;
template <class Fold>
constexpr bool BY_WINDOWS<Fold, true> = sizeof(typename Fold::Element) == 2 || Fold::Window::COUNT > 1;

// Blocks that a multiprocessor holds. By windows of 16 bits fewer, whose sums find registers.
template <class Fold>
constexpr int COLUMN_BLOCKS = HAS_WINDOW<Fold> && sizeof(typename Fold::Element) == 2 ? 3 : Fold::BLOCKS;

// A vector of as many rows of some columns as it has room for.
template <class E, u32 COLUMNS> union Lines {
    struct alignas(COLUMNS * sizeof(E)) Line {
        E element[COLUMNS];
    };
    Vector vector;
    Line line[16 / sizeof(Line)];
    __device__ __forceinline__ Lines() : vector{} {}
    __device__ __forceinline__ void load(u32 row, const E* from) {
        if constexpr (sizeof(Line) == 16) vector = ::load(reinterpret_cast<const Vector*>(from));
        else line[row] = *reinterpret_cast<const Line*>(from);
    }
    // The first elements of a line.
    __device__ __forceinline__ void load(u32 row, const E* from, u32 count) {
#pragma unroll
        for (u32 c = 0; c < COLUMNS; c++) {
            if (c < count) line[row].element[c] = from[c];
        }
    }
};

// Columns of a lane.
template <class Fold>
constexpr u32 WINDOW_COLUMNS = Fold::Window::COUNT > 1 ? 4 : PER_VECTOR<typename Fold::Element>;

// What a lane has of the columns of a unit, whose states stand one after another from the first on.
template <class Fold, class Kept = TileStates<typename Fold::State, 32 * WINDOW_COLUMNS<Fold>>> struct LaneColumns {
    typedef typename Fold::Element E;
    typedef typename Fold::State State;
    typedef Kept States;
    static constexpr u32 PER = PER_VECTOR<E>, COLUMNS = WINDOW_COLUMNS<Fold>, ROWS = PER / COLUMNS, TILE = 32 * COLUMNS,
                         FLIGHT = 4, MOST = 1000;

    const typename Fold::Setup& setup;
    States& states;
    const u32 first;
    typename Fold::template Windows<COLUMNS> window;
    u32 taken = 0;                     // rows in the window, which has room for four times as many as are let in
    bool begun = false, kept = false;  // whether the window was put somewhere, and whether there are states

    __device__ __forceinline__ LaneColumns(const typename Fold::Setup& setup, States& states, u32 first)
        : setup(setup), states(states), first(first), window(setup) {}

    __device__ __forceinline__ void keep() {
        if (kept) return;
#pragma unroll 1
        for (u32 c = 0; c < COLUMNS; c++) states[first + c] = Fold::identity();
        kept = true;
    }
    // What the window has, to the states.
    __device__ __forceinline__ void settle() {
        keep();
#pragma unroll 1
        for (u32 c = 0; c < COLUMNS; c++) Fold::take_in(states[first + c], window.take_out());
        taken = 0;
    }
    __device__ __forceinline__ void take_one(const Vector& p) {
        const Vector one[1] = {p};
        if (window.add(one)) return;
        const u32 field = window.binades.field(p);
        if (!window.covers(field) && field > 0) {
            settle();
            window.place(field);
            if (window.add(one)) return;
        }
        keep();
        // One copy of the code: elements move down to where it looks for them.
        Vector left = p;
#pragma unroll 1
        for (u32 i = 0; i < PER; i++) Fold::add(states[first + i % COLUMNS], take_first<E>(left), 0, setup);
    }
    template <int N> __device__ __forceinline__ void take(Vector (&p)[N]) {
        if (!begun) {
            const u32 field = window.binades.field(p[0]);
            if (field > 0) window.place(field);
            begun = true;
        }
        if (taken > MOST - N * ROWS) settle();
        taken += N * ROWS;
        if (window.add(p)) return;
#pragma unroll 1
        for (u32 k = 0; k < N; k++) {
            take_one(p[0]);
            move_down(p);
        }
    }
    // All of it, to the states.
    __device__ __forceinline__ void end() {
        if (kept) {
            settle();
        } else {
#pragma unroll
            for (u32 c = 0; c < COLUMNS; c++) { states[first + c] = Fold::of(window.sums(c)); }
            window.clear();
        }
        taken = 0;
        begun = kept = false;
    }
};

template <class Fold> __device__ __forceinline__ void fold_window_columns(const ColumnArguments& a) {
    typedef typename Fold::Element E;
    typedef LaneColumns<Fold> Lane;
    constexpr u32 COLUMNS = Lane::COLUMNS, TILE = Lane::TILE, ROWS = Lane::ROWS, FLIGHT = Lane::FLIGHT * ROWS;
    __shared__ typename Lane::States of_warp[SEGMENT_WARPS];
    typename Lane::States& states = of_warp[threadIdx.x / 32];
    const FoldOptions desc{u32(a.options)};
    const typename Fold::Setup setup(desc);
    const u32 warp = blockIdx.x * SEGMENT_WARPS + threadIdx.x / 32, warps = gridDim.x * SEGMENT_WARPS;
    const u32 tiles = u32((a.width + TILE - 1) / TILE), batches = u32(a.batches), runs = u32(a.runs);
    const u64 last_width = a.elements - (a.rows - 1) * a.width;
    const Unit step(warps, tiles, batches);
    Lane mine(setup, states, threadIdx.x % 32 * COLUMNS);
#pragma unroll 1
    for (Unit unit(warp, tiles, batches); unit.run < runs; unit.advance(step, tiles, batches)) {
        const u64 column = u64(unit.tile) * TILE + mine.first;
        const E* x = static_cast<const E*>(a.x) + unit.batch * a.batch_pitch + column;
        const u32 at_last = last_width <= column            ? 0
                            : last_width - column < COLUMNS ? u32(last_width - column)
                                                            : COLUMNS;
#pragma unroll 1
        for (u64 row = u64(unit.run) * FLIGHT; row < a.rows && column < a.width; row += a.runs * FLIGHT) {
            const E* at = x + row * a.row_pitch;
            const u32 rows = a.rows - row < FLIGHT ? u32(a.rows - row) : FLIGHT;
            // Of a last row that is in part there, the elements; zeros in place of what is not.
            const bool part = rows == a.rows - row && at_last < COLUMNS;
            Vector p[Lane::FLIGHT];
            if (rows == FLIGHT && !part) {
#pragma unroll
                for (u32 k = 0; k < Lane::FLIGHT; k++) {
                    Lines<E, COLUMNS> lines;
#pragma unroll
                    for (u32 r = 0; r < ROWS; r++) lines.load(r, at + (k * ROWS + r) * a.row_pitch);
                    p[k] = lines.vector;
                }
            } else {
#pragma unroll
                for (u32 k = 0; k < Lane::FLIGHT; k++) {
                    Lines<E, COLUMNS> lines;
#pragma unroll
                    for (u32 r = 0; r < ROWS; r++) {
                        const u32 number = k * ROWS + r;
                        if (number < rows - part) lines.load(r, at + number * a.row_pitch);
                        else lines.load(r, at + number * a.row_pitch, number < rows ? at_last : 0);
                    }
                    p[k] = lines.vector;
                }
            }
            mine.take(p);
        }
        mine.end();
        store_tile<Fold, COLUMNS>(a, desc, states, unit, tiles);
    }
}
