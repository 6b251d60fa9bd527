// Sums of natural data in parts: f64 accumulators that no addition rounds, for whole vectors of a window of exponents.
//
// A window holds zeros and numbers of SPAN binades below 2^end. An f64 has room for these and for 2^12 additions: 128
// of each lane of a warp, so that lanes are joined by plain additions, or a thousand of a lane by itself. Squares, of
// twice as many bits, go to an accumulator that starts at 1.5 * 2^M and so lies on the grid 2^(M-52) throughout, M = 2
// end + 13, and what each leaves below that grid, exact as well, to a plain sum (S. Rump, T. Ogita, S. Oishi, Accurate
// floating-point summation, 2008).
//
// Instructions an element of bf16: 3 to ask whether the window holds it, for two at a time; one to take it apart from
// its neighbour, a conversion and an addition; of squares 4 operations of f64 more. With a question and a choice of
// formats an element it was some 35, and rows of 1024 to 16384 ran at a third of the read ceiling.
#pragma once
#include "op/part_floats.cuh"

// Which vectors a window holds, and their elements as f64 takes them.
template <class E> struct Binades;

// Two elements a word. Taken to bit 15, what is held of bf16 leaves the three bits below clear, as 32 binades are 2^12
// of its numbers. The numbers of f16 lie in one window all together, so that nothing has to be asked: an infinity or a
// NaN leaves no finite sum, which is missed. Where NaNs are skipped none of them must reach bit 15.
template <> struct Binades<half> {
    static constexpr u32 SPAN = 32, FIELDS = 255;
    u32 kept, is_bfloat;
    bool asks;
    u32 up, same, mask;  // what is added, the bits that are expected then, and which of them are looked at
    i32 end;

    __device__ __forceinline__ explicit Binades(const Floats<half>& f)
        : kept((f.wide.kept >> 16) * 0x10001u), is_bfloat(f.is_bfloat), asks((f.is_bfloat | f.wide.skipped) != 0),
          same(is_bfloat & 0x80008000u), mask(is_bfloat ? 0xf000f000u : 0x80008000u) {
        // Taken for data, so that an operation takes the difference from it and gathers it.
        asm volatile("" : "+r"(same));
        place(127);
    }
    // Where it holds an exponent field with two binades to spare.
    __device__ __forceinline__ void place(u32 field) {
        const u32 after = field + 3 < FIELDS ? field + 3 : FIELDS, first = after > SPAN ? after - SPAN : 0;
        // Numbers below the least normal one have its unit.
        const u32 least = first > 0 ? first << 7 : 1;
        up = (is_bfloat ? 0x8000 - least : 0x400) * 0x10001u;
        end = is_bfloat ? i32(first + SPAN + (first == 0)) - 127 : 16;
    }
    __device__ __forceinline__ u32 beyond(u32 word) const { return ((word & 0x7fff7fffu) + up) ^ same; }
    template <int N> __device__ __forceinline__ bool holds(const Vector (&p)[N]) const {
        if (!asks) return true;
        u32 all = 0;
#pragma unroll
        for (int k = 0; k < 4 * N; k++) all |= beyond(p[k / 4].word[k % 4]);
        if ((all & mask) == 0) return true;
        // Once more, without zeros.
        all = 0;
#pragma unroll
        for (int k = 0; k < 4 * N; k++) {
            const u32 word = p[k / 4].word[k % 4], nonzero = ((word & 0x7fff7fffu) + 0x7fff7fffu) & 0x80008000u;
            all |= beyond(word) & (nonzero | (nonzero - (nonzero >> 15)));
        }
        return (all & mask) == 0;
    }
    // The largest exponent field of finite numbers, if a window may be moved for it; else 0.
    __device__ __forceinline__ u32 field(const Vector& p) const {
        u32 largest = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const u32 field = p.word[k / 2] >> (k % 2 * 16 + 7) & 255;
            if (field != FIELDS && field > largest) largest = field;
        }
        return is_bfloat ? largest : 0;
    }
    template <int N, class Add> __device__ __forceinline__ void each(const Vector (&p)[N], const Add& add) const {
        if (is_bfloat) {
#pragma unroll
            for (int k = 0; k < 4 * N; k++) {
                const u32 word = p[k / 4].word[k % 4] & kept;
                add(f64(__uint_as_float(word << 16)));
                add(f64(__uint_as_float(word & 0xffff0000u)));
            }
        } else {
#pragma unroll
            for (int k = 0; k < 4 * N; k++) {
                const u32 word = p[k / 4].word[k % 4] & kept;
                add(f64(widen(f16{u16(word)})));
                add(f64(widen(f16{u16(word >> 16)})));
            }
        }
    }
};

template <> struct Binades<f32> {
    static constexpr u32 SPAN = 17, FIELDS = 255;
    u32 kept, low;
    i32 end;

    __device__ __forceinline__ explicit Binades(const Floats<f32>& f) : kept(f.kept) { place(127); }
    __device__ __forceinline__ void place(u32 field) {
        const u32 after = field + 3 < FIELDS ? field + 3 : FIELDS;
        // Numbers below the least normal one have its unit.
        low = after > SPAN + 1 ? (after - SPAN) << 23 : 1;
        end = i32(after) - 127;
    }
    template <int N> __device__ __forceinline__ bool holds(const Vector (&p)[N]) const {
        const u32 reach = (u32(end + 127) << 23) - low;
        bool in_range = true;
#pragma unroll
        for (int k = 0; k < 4 * N; k++) {
            const u32 size = p[k / 4].word[k % 4] & 0x7fffffffu;
            in_range = in_range && (size - low < reach || size == 0);
        }
        return in_range;
    }
    __device__ __forceinline__ u32 field(const Vector& p) const {
        u32 largest = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const u32 field = p.word[k] >> 23 & 255;
            if (field != FIELDS && field > largest) largest = field;
        }
        return largest;
    }
    template <int N, class Add> __device__ __forceinline__ void each(const Vector (&p)[N], const Add& add) const {
#pragma unroll
        for (int k = 0; k < 4 * N; k++) add(f64(__uint_as_float(p[k / 4].word[k % 4] & kept)));
    }
};

// What a window's lane has: sums, or sums of squares in two parts, or both.
enum class Powers { One, Two, Both };

// Of one column, or of several beside each other, whose elements stand in a vector in turn.
template <class E, Powers POWERS, int COLUMNS = 1> struct PartWindow {
    static constexpr bool SUM = POWERS != Powers::Two, SQUARES = POWERS != Powers::One;
    static constexpr int COUNT = SUM + 2 * SQUARES;
    static constexpr u32 MOST = 128;  // elements of a lane, so that those of a warp may be joined
    struct Sums {
        f64 number[COUNT];  // the sum, then the two of the squares
    };
    Binades<E> binades;
    f64 sum[COLUMNS], level[COLUMNS], rest[COLUMNS];

    __device__ __forceinline__ explicit PartWindow(const Floats<E>& f) : binades(f) { clear(); }
    __device__ __forceinline__ f64 start() const {
        return __longlong_as_double(i64(1023 + 2 * binades.end + 13) << 52 | 1ll << 51);
    }
    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) sum[c] = rest[c] = 0, level[c] = start();
    }
    // Where it holds an exponent field; it is empty.
    __device__ __forceinline__ void place(u32 field) {
        binades.place(field);
        clear();
    }
    // Whether it is where numbers of an exponent field are held.
    __device__ __forceinline__ bool covers(u32 field) const {
        const i32 exponent = i32(field) - 127;
        return exponent < binades.end && exponent + i32(Binades<E>::SPAN) >= binades.end;
    }
    template <int N> __device__ __forceinline__ bool add(const Vector (&p)[N]) {
        return add(p, [](f64) {});
    }
    // `also` is given each element that is held.
    template <int N, class Also> __device__ __forceinline__ bool add(const Vector (&p)[N], const Also& also) {
        if (!binades.holds(p)) return false;
        int c = 0;
        binades.each(p, [&](f64 x) {
            also(x);
            if constexpr (SUM) sum[c] = __dadd_rn(sum[c], x);
            if constexpr (SQUARES) {
                const f64 next = __fma_rn(x, x, level[c]);
                rest[c] = __dadd_rn(rest[c], __fma_rn(x, x, -__dsub_rn(next, level[c])));
                level[c] = next;
            }
            c = (c + 1) % COLUMNS;
        });
        return true;
    }
    // What a column has.
    __device__ __forceinline__ Sums sums(int c = 0) const {
        Sums all;
        if constexpr (SUM) all.number[0] = sum[c];
        if constexpr (SQUARES) {
            all.number[SUM] = __dsub_rn(level[c], start());
            all.number[SUM + 1] = rest[c];
        }
        return all;
    }
    // What the first column has. The others move down, and the last one is empty then.
    __device__ __forceinline__ Sums take_out() {
        const Sums all = sums();
#pragma unroll
        for (int c = 1; c < COLUMNS; c++) sum[c - 1] = sum[c], level[c - 1] = level[c], rest[c - 1] = rest[c];
        sum[COLUMNS - 1] = rest[COLUMNS - 1] = 0;
        level[COLUMNS - 1] = start();
        return all;
    }
};
