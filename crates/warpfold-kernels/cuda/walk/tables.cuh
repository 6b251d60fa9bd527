// Sums by keys that are numbers of groups, in tables of fixed-point integers in shared memory: correctly rounded.
//
// A table has a row of limbs for each of up to 4096 neighbouring groups: the fixed-point integer of their sum, 24 bits
// to a limb of 32. An element is an addition of integers to two limbs. Integers have no order, so atomic additions of
// shared memory do it, and every schedule gives the same bits. A limb that wraps tells the one thread whose addition it
// was by what was there before; that thread carries. The lower of two pieces is rounded to nearest, so that those of
// numbers of one sign do not drift: carries are rare.
//
// Groups that one table cannot hold are parted into ranges of as many as it can; the radix sort (sort.cuh) has brought
// elements of a range together then, by the upper bits of their keys alone: by none for 2^12 groups, in one pass for
// 2^20, in two for 2^28. Blocks take equal shares of the elements. A range that a block has to itself it rounds at
// once; of one that goes on in other blocks it leaves its table, and a second launch adds these.
//
// Floor: keys and values are read once: 8 bytes of two of 4, for 2^28 of them on an H200 0.49 ms.
//
// Measured there, 2^28 f32 from -1 to 1, keys of 32 bits, in a program of its own, milliseconds of the first launch
// (for 2^8 groups uniform, and for 2^20 Zipf):
//
//   limbs 28 bits apart                          5.3, 5.5   every 64th addition wraps; whoever carries has its warp
//   wait 26 bits, a loop of carries for each          7.5, 9.5   its code is longer than what caches of instructions
//   hold 24 bits                                      0.9, 9.4   hardly any wrap, but in a group that has half of a
//   range's elements the same, all carries in a straight line     0.75, 2.0 words loaded apart from all that is rarer
//   0.70, 2.0  as it is: 52 instructions an element. With those of the next turn loaded ahead 0.72 additions that
//   return nothing                0.5, 2.0   wrong where limbs wrap. Additions to one address are one after another:
//   where one key has all elements 2.2
//
// Joins of two tables of 4096 by blocks of 2 warps; of 132 by blocks of 8: 0.04 ms, where 8 for two took 0.10, and 4
// for 132 0.08.
#pragma once
#include "acc/carry_and_round.cuh"
#include "sort/sort.cuh"

constexpr int TABLE_THREADS = 1024, JOIN_THREADS = 256, LIMB_BITS = 24, AT_ONCE = 4;
// What a wrap of a limb is in units of the next.
constexpr i32 WRAPPED = 1 << (32 - LIMB_BITS);

struct Tables {
    const void* keys;
    u64 key_bytes;
    u64 limit;  // keys from here on are no groups
    const void* values;
    u64 kind;        // of values: Kind
    u64 n, share;    // elements, and those of a block: a multiple of AT_ONCE
    u64 width_bits;  // a range has so many groups, to the power of two: 32 at least
    u64 ranges;
    const u64* starts;  // where each range begins, then where the last one ends; none: there is one range
    u64 groups;
    void* out;    // zeros: those of ranges without elements stay
    u32* slots;   // two tables a block
    u64* faults;  // the first key that is no group, and 0 where limbs cannot hold a sum; all ones where there is
                  // nothing to tell
    u64 options;  // Option
};

// Values as they lie in memory, by their bytes: floats, and integers with a sign and without.
enum Kind : u32 { F32, F16, BF16, U8, U16, U32, I8, I16, I32 };
// MAGNITUDES: of floats alone.
enum Option : u32 { ABSOLUTE = 1, IGNORE_NAN = 2 };

__device__ __forceinline__ u32 bytes_of(u32 kind) {
    return kind == F32 || kind == U32 || kind == I32 ? 4 : kind == U8 || kind == I8 ? 1 : 2;
}

// Elements as they are loaded, a word each.
struct Four {
    u32 of[AT_ONCE];
};

__device__ __forceinline__ u32 narrowed(u64 x) { return x >> 32 ? ~0u : u32(x); }

__device__ __forceinline__ Four load_words(const void* at) {
    const uint4 x = __ldcs(static_cast<const uint4*>(at));
    return {x.x, x.y, x.z, x.w};
}

// Elements of 1, 2, 4 or 8 bytes from a multiple of AT_ONCE on, together or, as far as the array goes, one by one; what
// does not fit into a word is all ones.
__device__ __forceinline__ Four load(const void* array, u64 first, u64 n, u32 bytes, bool together) {
    const u8* at = static_cast<const u8*>(array) + first * bytes;
    Four found = {};
    if (!together) {
        const u32 there = n - first < AT_ONCE ? u32(n - first) : AT_ONCE;
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            if (k >= there) continue;
            u64 x = 0;
            // From the last byte on.
#pragma unroll 1
            for (u32 byte = bytes; byte-- > 0;) x = x << 8 | at[k * bytes + byte];
            found.of[k] = narrowed(x);
        }
    } else if (bytes == 4) {
        found = load_words(at);
    } else if (bytes == 8) {
        const ulonglong2 x = __ldcs(reinterpret_cast<const ulonglong2*>(at)),
                         y = __ldcs(reinterpret_cast<const ulonglong2*>(at) + 1);
        found = {narrowed(x.x), narrowed(x.y), narrowed(y.x), narrowed(y.y)};
    } else if (bytes == 2) {
        const uint2 x = __ldcs(reinterpret_cast<const uint2*>(at));
        found = {x.x & 0xffff, x.x >> 16, x.y & 0xffff, x.y >> 16};
    } else {
        const u32 x = __ldcs(reinterpret_cast<const u32*>(at));
        found = {x & 0xff, x >> 8 & 0xff, x >> 16 & 0xff, x >> 24};
    }
    return found;
}

// What an element adds: to a limb and to the next.
struct LimbParts {
    u32 limb;
    i32 low, high;
};

// Floats of up to 32 bits: in units of the least of f32, 277 bits and what sums need beside.
struct FloatSums {
    static constexpr int LIMBS = 12, SPECIALS = 3;
    typedef f32 Result;

    static __device__ __forceinline__ void widen_all(Four& x, u32 kind, bool absolute) {
        if (kind == F32 && !absolute) return;
        const u32 kept = absolute ? 0x7fffffff : ~0u;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (kind == F16) x.of[k] = __float_as_uint(widen(f16{u16(x.of[k])}));
            if (kind == BF16) x.of[k] <<= 16;
            x.of[k] &= kept;
        }
    }
    // Which special a number is, from 0; -1 for one that is none.
    static __device__ __forceinline__ int special(u32 x) {
        if (~x & 0x7f800000) return -1;
        return x << 9 ? 0 : x >> 31 ? 2 : 1;
    }
    static __device__ __forceinline__ LimbParts limbs(u32 x, u32) {
        const u32 field = x >> 23 & 255, normal = field != 0;
        const u32 significand = field == 255 ? 0 : (x & 0x7fffff) | normal << 23;
        // The quotient by LIMB_BITS, for all exponents.
        const u32 exponent = field - normal, limb = exponent * 2731 >> 16, by = exponent - LIMB_BITS * limb;
        const i32 low = i32(significand << (by + 32 - LIMB_BITS)) >> (32 - LIMB_BITS),
                  high = i32((significand >> (LIMB_BITS - by)) + (u32(low) >> 31));
        const i32 sign = i32(x) >> 31;
        return {limb, (low ^ sign) - sign, (high ^ sign) - sign};
    }
    // The float nearest to the integer of limbs.
    template <class L> static __device__ __forceinline__ f32 result(const L (&limb)[LIMBS], u32 specials) {
        if (specials & 1 || specials == 6) return __uint_as_float(0x7fc00000u);
        if (specials) return __uint_as_float(specials == 2 ? 0x7f800000u : 0xff800000u);
        // Limbs from 0 on; what is above the last one has the sign.
        constexpr u32 LIMB_MASK = (1u << LIMB_BITS) - 1;
        u32 carried[LIMBS];
        i32 above = 0;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) {
            above += i32(u32(limb[k]) & LIMB_MASK);
            carried[k] = u32(above) & LIMB_MASK;
            above = (above >> LIMB_BITS) + i32(limb[k] >> LIMB_BITS);
        }
        const bool negative = above < 0;
        u32 carry = negative;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) {
            carry += negative ? carried[k] ^ LIMB_MASK : carried[k];
            carried[k] = carry & LIMB_MASK;
            carry >>= LIMB_BITS;
        }
        const u32 sign = negative ? 1u << 31 : 0;
        // Numbers as large as that are no floats.
        if ((negative ? ~u32(above) + carry : u32(above)) != 0) return __uint_as_float(sign | 0x7f800000u);
        // From the first limb that is not zero on: three, and whether there is anything below.
        u32 first = 0, second = 0, third = 0, below = 0;
        int top = 0;
#pragma unroll
        for (int k = LIMBS - 1; k >= 0; k--) {
            const bool is_top = first == 0, is_second = k == top - 1, is_third = k == top - 2;
            if (is_top) top = k;
            second = !is_top && is_second ? carried[k] : second;
            third = !is_top && is_third ? carried[k] : third;
            below |= is_top || is_second || is_third ? 0 : carried[k];
            first = is_top ? carried[k] : first;
        }
        if (first == 0) return 0;
        // In 64 bits with the first from bit 40 on: three limbs less what the last lacks.
        const int zeros = __clz(first) - (32 - LIMB_BITS);
        const u64 head = (u64(first) << 40 | u64(second) << 16 | third >> 8) << zeros;
        const bool rest = (third & 0xff) != 0 || below != 0;
        return __uint_as_float(u32(round_head<Binary32>(head | rest, LIMB_BITS * (top + 1) - 150 - zeros)) | sign);
    }
};

// Integers of up to 32 bits.
struct IntegerSums {
    static constexpr int LIMBS = 3, SPECIALS = 0;
    typedef u64 Result;

    static __device__ __forceinline__ void widen_all(Four& x, u32 kind, bool) {
        if (kind < I8 || kind == I32) return;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (kind == I8) x.of[k] = u32(i32(i8(x.of[k])));
            if (kind == I16) x.of[k] = u32(i32(i16(x.of[k])));
        }
    }
    static __device__ __forceinline__ int special(u32) { return -1; }
    static __device__ __forceinline__ LimbParts limbs(u32 x, u32 is_signed) {
        const i32 low = i32(x << (32 - LIMB_BITS)) >> (32 - LIMB_BITS),
                  high = is_signed ? i32(x) >> LIMB_BITS : i32(x >> LIMB_BITS);
        return {0, low, high + i32(u32(low) >> 31)};
    }
    template <class L> static __device__ __forceinline__ u64 result(const L (&limb)[LIMBS], u32) {
        u64 sum = 0;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) sum += u64(i64(limb[k])) << LIMB_BITS * k;
        return sum;
    }
};

// A table in memory: limbs, the first of all groups first; then a bit a group for each special.
template <class S> struct Table {
    static constexpr int LIMBS = S::LIMBS;
    u32* words;
    u32 bits;

    __device__ __forceinline__ u32 width() const { return 1u << bits; }
    __device__ __forceinline__ u32 size() const { return LIMBS * width() + S::SPECIALS * width() / 32; }
    __device__ __forceinline__ u32* limb(u32 limb, u32 group) const { return words + (limb << bits) + group; }
    __device__ __forceinline__ u32* special(u32 which, u32 group) const {
        return words + LIMBS * width() + which * width() / 32 + group / 32;
    }
    __device__ __forceinline__ u32 specials(u32 group) const {
        u32 found = 0;
#pragma unroll
        for (int which = 0; which < S::SPECIALS; which++) found |= (*special(which, group) >> group % 32 & 1) << which;
        return found;
    }

    static __device__ __forceinline__ bool wraps(u32 before, i32 added) {
        const u32 after = before + u32(added);
        return i32((before ^ after) & (u32(added) ^ after)) < 0;
    }
    // What a limb lacks that this addition has wrapped; zero if it has not.
    static __device__ __forceinline__ i32 lacks(u32 before, i32 added) {
        return !wraps(before, added) ? 0 : added > 0 ? WRAPPED : -WRAPPED;
    }
    // The same carried on from limb to limb; false if it went beyond the last.
    __device__ __forceinline__ bool carry(u32 at, u32 group, i32 lacking) const {
#pragma unroll 1
        while (lacking != 0) {
            if (++at == LIMBS) return false;
            lacking = lacks(atomicAdd(limb(at, group), u32(lacking)), lacking);
        }
        return true;
    }
};
