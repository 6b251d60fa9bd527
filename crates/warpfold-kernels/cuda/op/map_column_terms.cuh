// Sums of terms (map_terms.cuh) of columns: a lane has one window and, in registers, that window's sums of each of its
// columns. Their states are touched when a tile ends, when the sums are full, and for terms that the window does not
// hold.
#pragma once
#include "op/map_terms.cuh"
#include "walk/map_columns.cuh"

struct TermColumns : TermSums {
    static constexpr u32 COLUMNS = 4, ROWS = ELEMENTS / COLUMNS, MOST = 1000;
    typedef TermWindow<COLUMNS> Window;
    typedef LaneStates<BlockStates<TermColumns>> Kept;

    Window window;
    Kept states;
    u32 taken = 0;  // rows in the window, which has room for four times as many
    bool begun = false, kept = false;

    __device__ __forceinline__ TermColumns(FoldOptions c, Kept states) : window(c), states(states) {}
    static __device__ __forceinline__ void cut(TwoSteps& s, u32) { s.x.p[1] = s.y.p[1] = Vector{}; }
    __device__ __forceinline__ void keep() {
        if (kept) return;
#pragma unroll 1
        for (u32 c = 0; c < COLUMNS; c++) states[c] = identity();
        kept = true;
    }
    __device__ __forceinline__ void settle() {
        keep();
#pragma unroll 1
        for (u32 c = 0; c < COLUMNS; c++) take_in(states[c], window.take_out());
        taken = 0;
    }
    __device__ __forceinline__ void take(const TwoSteps& s) {
        Window::Step term;
        Window::terms(term, s);
        if (!begun) {
            const u32 field = Window::field(term);
            if (field > 0) window.place(field);
            begun = true;
        }
        if (taken > MOST - ROWS) settle();
        taken += ROWS;
        if (!window.add(term)) outside(term);
    }
    __device__ __forceinline__ void outside(Window::Step& term) {
        const u32 field = Window::field(term);
        if (!window.covers(field) && field > 0) {
            settle();
            window.place(field);
            if (window.add(term)) return;
        }
        keep();
        // One copy of the code: terms move down to where it looks for them.
#pragma unroll 1
        for (u32 k = 0; k < ELEMENTS; k++) {
            WideInteger::add_f64(states[k % COLUMNS], term[0]);
#pragma unroll
            for (u32 j = 1; j < ELEMENTS; j++) term[j - 1] = term[j];
        }
    }
    __device__ __forceinline__ void end() {
        settle();
        begun = kept = false;
    }
};
