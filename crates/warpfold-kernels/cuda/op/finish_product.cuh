// The last step of products of floats: a mantissa of two f64 and an exponent apart, rounded once. One thread.
#pragma once
#include "acc/finish_integers.cuh"
#include "op/complex_product.cuh"
#include "op/real_product.cuh"

// Fraction bits of a product's mantissa in fixed point.
constexpr int FRACTION = 116;

// A number below 4 as a multiple of 2^-FRACTION, cut towards zero; with its sign.
__device__ __forceinline__ U128 fixed(f64 x) {
    const u64 bits = __double_as_longlong(x);
    const i32 field = i32(bits >> 52 & 0x7ff), shift = (field > 0 ? field : 1) - 1075 + FRACTION;
    const u64 mantissa = (bits & 0xfffffffffffffull) | u64(field > 0) << 52;
    U128 m = {0, 0};
    if (shift >= 64) m.high = mantissa << (shift - 64);
    else if (shift >= 0) m = {shift ? mantissa >> (64 - shift) : 0, mantissa << shift};
    else if (shift > -64) m.low = mantissa >> -shift;
    return bits >> 63 ? U128{0, 0} - m : m;
}
__device__ __forceinline__ void write_product(Format to, void* value, int part, f64 high, f64 low, i64 exponent,
                                              bool negated) {
    if (high != high || fabs(high) > 1.7976931348623157e308) {
        write_special(value, part, to, high != high ? QUIET_NAN : INFINITE, high == high && (high < 0) != negated);
        return;
    }
    const U128 a = fixed(high), b = fixed(low);
    U128 sum = {a.high + b.high + (a.low + b.low < a.low), a.low + b.low};
    const bool negative = sum.high >> 63;
    if (negative) sum = U128{0, 0} - sum;
    const i64 most = 1 << 30, unit = exponent - FRACTION;
    const i32 clamped = unit > most ? most : unit < -most ? -most : unit;
    write(value, part, to, round_bits(sum, false, clamped, to), !sum.is_zero() && negative != negated);
}
__device__ __noinline__ void write_real(Format to, void* value, const RealNode& n) {
    const bool negative = n.flags & NEGATIVE;
    if ((n.flags & NOT_A_NUMBER) || (n.flags & (ZERO | BEYOND)) == (ZERO | BEYOND))
        write_special(value, 0, to, QUIET_NAN, false);
    else if (n.flags & BEYOND) write_special(value, 0, to, INFINITE, negative);
    else if (n.flags & ZERO) write(value, 0, to, 0, false);
    else write_product(to, value, 0, n.high, n.low, n.exponent, negative);
}
__device__ __noinline__ void write_complex(Format to, void* value, const ComplexNode& n) {
    write_product(to, value, 0, n.re.high, n.re.low, n.exponent, false);
    write_product(to, value, 1, n.im.high, n.im.low, n.exponent, false);
}

// The same at once, where the number beside it, which is less than half of its last bit, does not matter, and the
// result is a normal f32 or f64 or beyond the range; tells whether it was written. Left are numbers in the middle
// between two of f32, and parts so small beside the other that their last bits are cut.
__device__ __forceinline__ bool write_plain(Format to, void* value, int part, f64 high, f64 low, i64 exponent,
                                            bool negated) {
    if (to != Format::F32 && to != Format::F64) return false;
    const bool is_wide = to == Format::F64, negative = (__double2hiint(high) < 0) != negated;
    const i32 most = is_wide ? 1023 : 127, lowest = is_wide ? -1077 : -152;
    const i64 unit = exponent + exponent_of(high);
    if (exponent_of(high) < -40 || exponent_of(high) > 0) return false;
    if (unit >= most + 2 || unit <= lowest) {
        if (unit > 0) write_special(value, part, to, INFINITE, negative);
        else write(value, part, to, 0, negative);
        return true;
    }
    if (unit < 1 - most || unit >= most) return false;
    const u64 bits = __double_as_longlong(high) & ~SIGN;
    if (is_wide) {
        write(value, part, to, bits + (u64(exponent) << 52), negative);
        return true;
    }
    if ((bits & 0x1fffffff) == 0x10000000 && low != 0) return false;
    const f32 nearest = __double2float_rn(fabs(high));
    write(value, part, to, __float_as_uint(nearest) + (u32(exponent) << 23), negative);
    return true;
}
// The same of a chain of real factors that is a whole output, before it is a node: most of what short outputs cost.
template <Format TO, class Chain> __device__ __forceinline__ bool write_plain_chain(void* value, const Chain& chain) {
    static_assert(TO == Format::F32 || TO == Format::F64, "what a node is rounded to at once");
    constexpr bool IS_WIDE = TO == Format::F64;
    constexpr i32 LEAST = IS_WIDE ? -1022 : -126;
    // The nearest f64, whose exponent may be out of range where that of the factors was taken out.
    const f64 nearest = __dadd_rn(chain.high, chain.low);
    const i32 unit = chain.fields + exponent_of(nearest);
    if (!chain.is_plain() || unit < LEAST || unit >= -LEAST) return false;
    const f64 mantissa = mantissa_of(nearest);
    if constexpr (IS_WIDE) {
        *static_cast<u64*>(value) = __double_as_longlong(mantissa) + (u64(i64(unit)) << 52);
    } else {
        // In the middle between two of f32 what is left decides, which products of few elements have not.
        if ((__double2loint(nearest) & 0x1fffffff) == 0x10000000 &&
            __dsub_rn(chain.low, __dsub_rn(nearest, chain.high)) != 0)
            return false;
        *static_cast<u32*>(value) = __float_as_uint(__double2float_rn(mantissa)) + (u32(unit) << 23);
    }
    return true;
}
// The same of a product's node.
__device__ __forceinline__ bool write_plain(Format to, void* value, const RealNode& n) {
    return (n.flags & ~NEGATIVE) == 0 && write_plain(to, value, 0, n.high, n.low, n.exponent, n.flags & NEGATIVE);
}
__device__ __forceinline__ bool write_plain(Format to, void* value, const ComplexNode& n) {
    return n.is_finite() && write_plain(to, value, 0, n.re.high, n.re.low, n.exponent, false) &&
           write_plain(to, value, 1, n.im.high, n.im.low, n.exponent, false);
}
