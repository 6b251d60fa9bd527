// The last step of exact records, and of integers' ones: mean, var, std, l2, sumsq of integers of many words, rounded
// once.
// One warp.
#pragma once
#include "acc/round_ratio.cuh"
#include "num/to_16.cuh"

// As kernel/finish.rs of the library numbers them: integers of many words first.
enum class Step {
    Mean,
    Var,
    Std,
    L2,
    L1,
    LargestComplex,
    Sumsq,
    Sum,
    FastMean,
    FastL1,
    FastL2,
    FastSumsq,
    FastVar,
    FastStd,
    Any,
    All,
    Product,
    ComplexProduct,
    IntegerProduct,
    LargestInteger,
    LargestHalf,
    LargestBrain,
    LargestFloat,
    IntegerSumsq
};

struct Finish {
    Step step;
    u32 sum_limbs, square_limbs, parts;  // of 64 bits a part
    Format to;                           // what is written
    bool exact, is_signed, skips;        // a float's exact record or others; signed integers; NaNs were skipped
    i32 unit;                            // of sums; that of squares is twice it

    __device__ __forceinline__ explicit Finish(u64 options)
        : step(Step(options & 0xff)), sum_limbs(options >> 8 & 0xff), square_limbs(options >> 16 & 0xff),
          parts(options >> 24 & 3), to(Format((options >> 26 & 1) | (options >> 30 & 3) << 1)),
          exact(options >> 27 & 1), is_signed(options >> 28 & 1), skips(options >> 29 & 1),
          unit(i32(i64(options) >> 32)) {}
};

struct Scratch {
    u64 column[WIDE], carried[WIDE];
    u32 first[WIDE], second[WIDE];
};

constexpr u64 QUIET_NAN = 0x7ff8000000000000, INFINITE = 0x7ff0000000000000, SIGN = 0x8000000000000000;

// Writes a float in its format: `bits` are its magnitude in that format.
__device__ __forceinline__ void write(void* value, int part, Format to, u64 bits, bool negative) {
    if (to == Format::F64) static_cast<u64*>(value)[part] = bits | (negative ? SIGN : 0);
    else if (to == Format::F32) static_cast<u32*>(value)[part] = u32(bits) | (negative ? 0x80000000u : 0);
    else static_cast<u16*>(value)[part] = u16(bits | (negative ? 0x8000u : 0));
}
// A special value, given by its bits as f64.
__device__ __forceinline__ void write_special(void* value, int part, Format to, u64 bits, bool negative) {
    const bool nan = bits == QUIET_NAN;
    const u64 of_brain = nan ? 0x7fc0 : 0x7f80, of_half = nan ? 0x7e00 : 0x7c00;
    const u64 narrow = to == Format::F32 ? of_brain << 16 : to == Format::BF16 ? of_brain : of_half;
    write(value, part, to, to == Format::F64 ? bits : narrow, negative);
}
// The float nearest to one of 64 bits; there is one NaN, and one zero for what is exactly zero.
__device__ __forceinline__ void write_nearest(void* value, int part, Format to, f64 x) {
    x = x == 0 ? 0.0 : canonical(x);
    if (to == Format::F64) static_cast<f64*>(value)[part] = x;
    else if (to == Format::F32) static_cast<f32*>(value)[part] = canonical(__double2float_rn(x));
    else static_cast<u16*>(value)[part] = nearest_of_16(x, to == Format::BF16);
}
// Limbs as columns, extended by their sign or by zeros.
__device__ __forceinline__ void load(const u64* limb, u32 limbs, bool is_signed, Scratch& s) {
    const bool negative = is_signed && limbs > 0 && limb[limbs - 1] >> 63;
    __syncwarp();
    for (u32 k = threadIdx.x; k < WIDE; k += 32) {
        s.column[k] = k < 2 * limbs ? u32(limb[k / 2] >> k % 2 * 32) : negative ? 0xffffffffu : 0;
    }
    __syncwarp();
}

// The product of two numbers, by words: column k has the low halves of what belongs there, `carried` the high halves,
// which belong to the next.
__device__ __forceinline__ void multiply(const u32* a, u32 words_of_a, const u32* b, u32 words_of_b, Scratch& s) {
#pragma unroll 1
    for (u32 k = threadIdx.x; k < WIDE; k += 32) {
        u64 low = 0, high = 0;
        const u32 first = k < words_of_b ? 0 : k - words_of_b + 1, end = k < words_of_a ? k + 1 : words_of_a;
#pragma unroll 1
        for (u32 i = first; i < end; i++) {
            const u64 product = u64(a[i]) * b[k - i];
            low += u32(product);
            high += product >> 32;
        }
        s.column[k] = low;
        s.carried[k] = high;
    }
    __syncwarp();
}

// n * squares - sum * sum for every part, as columns: the variance times n * (n - ddof), never negative.
__device__ __forceinline__ void deviations(const Finish& q, const u64* integers, u64 n, Scratch& s) {
    // The columns of `load` are the next part's again, so that what was summed up waits in registers.
    u64 sum[WideInteger::CHUNK] = {};
#pragma unroll 1
    for (u32 part = 0; part <= q.parts; part++) {
        const bool squares = part == q.parts;
        const u32 limbs = squares ? q.square_limbs : q.sum_limbs;
        load(integers + part * q.sum_limbs, limbs, !squares && (q.exact || q.is_signed), s);
        WideInteger number(s.column);
        if (number.negative()) number.negate();
        number.store(s.first);
        if (threadIdx.x < 2) s.second[threadIdx.x] = u32(n >> 32 * threadIdx.x);
        __syncwarp();
        multiply(s.first, 2 * limbs, squares ? s.second : s.first, squares ? 2 : 2 * limbs, s);
#pragma unroll
        for (int c = 0; c < WideInteger::CHUNK; c++) {
            const u32 k = threadIdx.x + 32 * c;
            const u64 product = k < WIDE ? s.column[k] + (k > 0 ? s.carried[k - 1] : 0) : 0;
            sum[c] += squares ? product : 0 - product;
        }
        __syncwarp();
    }
#pragma unroll
    for (int c = 0; c < WideInteger::CHUNK; c++) {
        const u32 k = threadIdx.x + 32 * c;
        if (k < WIDE) s.column[k] = sum[c];
    }
    __syncwarp();
}

// The square of a float's magnitude, given by its bits, into the columns, in units of the square of the type's lowest
// bit. One thread.
__device__ __forceinline__ void add_square(u64 bits, bool wide, Scratch& s) {
    const u32 mantissa_bits = wide ? 52 : 23, field = bits >> mantissa_bits;
    const u64 mantissa = (bits & ((1ull << mantissa_bits) - 1)) | u64(field > 0) << mantissa_bits;
    const U128 square = product_of(mantissa, mantissa);
    const u32 at = 2 * (field > 0 ? field - 1 : 0);
#pragma unroll 1
    for (u32 k = 0; k < 4; k++) {
        const u64 word = u32((k < 2 ? square.low : square.high) >> k % 2 * 32);
        const u64 placed = word << at % 32;
        s.column[at / 32 + k] += u32(placed);
        s.column[at / 32 + k + 1] += placed >> 32;
    }
}

// The value of a record of `n` elements, as kernel/finish.rs says what that is.
__device__ __forceinline__ void finish_integers(const Finish& q, const u64* record, u64 n, u64 ddof, void* value,
                                                Scratch& s) {
    const u64* integers = record + (q.exact ? 2 : 0);
    // A sum is the mean of one.
    const bool sum = q.step == Step::Sum;
    const u64 count = sum ? 1 : n - (q.exact && q.skips ? record[1] : 0);
    const bool mean = q.step == Step::Mean || sum, var = q.step == Step::Var || q.step == Step::Std,
               largest = q.step == Step::LargestComplex;
    const bool length = q.step == Step::L2 || largest, squares = length || q.step == Step::Sumsq;
    const bool none = mean ? count == 0 : var && (count == 0 || ddof >= count);
    const Root root = q.step == Step::Std || length ? Root::Yes : Root::No;
    const U128 denominator = mean ? U128{0, count} : var ? product_of(count, count - ddof) : U128{0, 1};

    for (u32 part = 0; part < (mean ? q.parts : 1); part++) {
        // Of a variance anything special leaves nothing.
        const u64 specials = largest   ? record[0] & 1 ? FLAG_NAN : record[0]
                             : q.exact ? var ? record[0] : record[0] >> 8 * (mean ? part : q.parts) & 7
                                       : 0;
        if (none || specials != 0) {
            const bool infinite = !none && !var && (specials == FLAG_PLUS || specials == FLAG_MINUS);
            if (threadIdx.x == 0)
                write_special(value, part, q.to, infinite ? INFINITE : QUIET_NAN, infinite && specials == FLAG_MINUS);
            continue;
        }
        if (var) {
            deviations(q, integers, count, s);
        } else if (largest) {
            load(record, 0, false, s);
            if (threadIdx.x == 0) {
                add_square(record[1], q.to == Format::F64, s);
                add_square(record[2], q.to == Format::F64, s);
            }
            __syncwarp();
        } else {
            const u32 first = squares ? q.parts * q.sum_limbs : part * q.sum_limbs;
            load(integers + first, squares ? q.square_limbs : q.sum_limbs, mean && (q.exact || q.is_signed), s);
        }
        WideInteger numerator(s.column);
        const bool negative = numerator.negative();
        if (negative) numerator.negate();
        const Cut cut = divide(numerator, denominator, squares || var ? 2 * q.unit : q.unit, root, s.first);
        if (threadIdx.x == 0) write(value, part, q.to, round_bits(cut.number, cut.inexact, cut.unit, q.to), negative);
        __syncwarp();
    }
}
