// Products of complex floats along the canonical tree, as real_product.cuh: two double-doubles and one exponent apart.
//
// One part may be far smaller than the other, so that scaling shows in the bits and is done where the tree says: of
// complex64, whose factors are products of two elements, after each two factors; of complex128 each element. A run with
// an element that is zero, not finite or at an end of the range is multiplied again, leaf by leaf.
#pragma once
#include "num/double_double.cuh"
#include "walk/tree_block.cuh"

// The exponent field of the larger of two, in integers; of a NaN, the largest.
__device__ __forceinline__ u32 larger_field(f64 a, f64 b) {
    return max(u32(__double2hiint(a)) & 0x7fffffff, u32(__double2hiint(b)) & 0x7fffffff) >> 20;
}

struct ComplexNode {
    DoubleDouble re, im;
    i64 exponent;

    static __device__ __forceinline__ ComplexNode one() { return {{1, 0}, {0, 0}, 0}; }
    __device__ __forceinline__ f64 larger() const { return fmax(fabs(re.high), fabs(im.high)); }
    __device__ __forceinline__ bool is_finite() const {
        return fabs(re.high) <= 1.7976931348623157e308 && fabs(im.high) <= 1.7976931348623157e308;
    }
    __device__ __forceinline__ bool is_plain() const { return is_finite() && (re.high != 0 || im.high != 0); }
    __device__ __forceinline__ bool is_one() const {
        return re.high == 1 && re.low == 0 && im.high == 0 && im.low == 0 && exponent == 0;
    }
    // Brings the larger part to 1 <= |high| < 2.
    __device__ __forceinline__ void normalise() {
        const f64 most = larger();
        if (!is_finite() || most == 0) {
            exponent = 0;
            const DoubleDouble nan = {__longlong_as_double(0x7ff8000000000000ll), 0};
            if (re.high != re.high) re = nan;
            if (im.high != im.high) im = nan;
            return;
        }
        const i32 shift = exponent_of(most);
        if (shift > -1022 && shift < 1022) {
            scale(power_of_two(-shift));
        } else {
            // The power that scales the very largest numbers is itself subnormal: two steps.
            const i32 half = -shift / 2;
            scale(power_of_two(half));
            scale(power_of_two(-shift - half));
        }
        exponent += shift;
    }
    __device__ __forceinline__ void scale(f64 by) {
        re = {__dmul_rn(re.high, by), __dmul_rn(re.low, by)};
        im = {__dmul_rn(im.high, by), __dmul_rn(im.low, by)};
    }
    __device__ __forceinline__ ComplexNode without_signs_of_zeros() const {
        return {{__dadd_rn(re.high, 0.0), __dadd_rn(re.low, 0.0)},
                {__dadd_rn(im.high, 0.0), __dadd_rn(im.low, 0.0)},
                exponent};
    }
};

// The product of any two; a number that is not finite follows the rules of IEEE 754 for its parts, but one changes
// nothing. Once in a kernel.
template <class N> __device__ __noinline__ N product_of(N a, N b) {
    if (a.is_finite() && b.is_finite()) {
        const DoubleDouble cross = multiply(a.im, b.im);
        N n = {add(multiply(a.re, b.re), {-cross.high, -cross.low}), add(multiply(a.re, b.im), multiply(a.im, b.re)),
               a.exponent + b.exponent};
        n.normalise();
        return n;
    }
    if (a.is_one()) a = b;
    else if (!b.is_one()) {
        const f64 re = __dsub_rn(__dmul_rn(a.re.high, b.re.high), __dmul_rn(a.im.high, b.im.high));
        const f64 im = __dadd_rn(__dmul_rn(a.re.high, b.im.high), __dmul_rn(a.im.high, b.re.high));
        a.re = {re, 0};
        a.im = {im, 0};
    }
    a.normalise();
    return a;
}

// Parts of sums of two f64 that are not in order, times a power of two.
struct ComplexChain {
    DoubleDouble re, im;
    i64 exponent;

    // What both low parts make is left out, and that of the second number if it is one f64.
    template <bool NO_LOW> static __device__ __forceinline__ DoubleDouble times(DoubleDouble a, DoubleDouble b) {
        const DoubleDouble product = two_product(a.high, b.high);
        const f64 error = __fma_rn(a.low, b.high, product.low);
        return {product.high, NO_LOW ? error : __fma_rn(a.high, b.low, error)};
    }
    static __device__ __forceinline__ DoubleDouble sum(DoubleDouble a, DoubleDouble b) {
        const DoubleDouble sum = two_sum(a.high, b.high);
        return {sum.high, __dadd_rn(sum.low, __dadd_rn(a.low, b.low))};
    }
    template <bool NO_LOW> __device__ __forceinline__ void multiply(DoubleDouble c, DoubleDouble d) {
        const DoubleDouble a = re, b = im;
        re = sum(times<NO_LOW>(a, c), times<NO_LOW>(b, {-d.high, -d.low}));
        im = sum(times<NO_LOW>(a, d), times<NO_LOW>(b, c));
    }
    // Brings the larger part to 1 <= |high| < 2.
    __device__ __forceinline__ void rescale() {
        const i32 shift = i32(larger_field(re.high, im.high)) - 1023;
        const f64 by = power_of_two(-shift);
        re = {__dmul_rn(re.high, by), __dmul_rn(re.low, by)};
        im = {__dmul_rn(im.high, by), __dmul_rn(im.low, by)};
        exponent += shift;
    }
    __device__ __forceinline__ ComplexNode node() const {
        ComplexNode n = {two_sum(re.high, re.low), two_sum(im.high, im.low), exponent};
        n.normalise();
        return n.without_signs_of_zeros();
    }
};

struct Pair {
    f64 re, im;
};

// The product of two elements whose products of parts f64 holds, as a factor.
__device__ __forceinline__ void multiply_pair(ComplexChain& chain, Pair x, Pair y) {
    chain.multiply<false>(two_sum(__dmul_rn(x.re, y.re), -__dmul_rn(x.im, y.im)),
                          two_sum(__dmul_rn(x.re, y.im), __dmul_rn(x.im, y.re)));
}

struct ComplexSpans {
    typedef ComplexNode Node;
    typedef Node State;
    static constexpr u32 NODE_WORDS = 5, PACKED_WORDS = 5, LANES = 2;

    static __device__ __forceinline__ Node one() { return Node::one(); }
    // Runs of a block, in order, if all are plain.
    struct Block {
        ComplexChain chain;
        bool plain;
        __device__ __forceinline__ explicit Block(const Node& first)
            : chain{first.re, first.im, first.exponent}, plain(first.is_plain()) {}
        __device__ __forceinline__ void multiply(const Node& n) {
            plain &= n.is_plain();
            chain.multiply<false>(n.re, n.im);
            chain.exponent += n.exponent;
        }
        __device__ __forceinline__ bool is_plain() const { return plain; }
        __device__ __forceinline__ Node node() const { return chain.node(); }
    };
    // A whole block by its runs and two lanes, of which the second has the imaginary part: the pipeline of f64 takes as
    // long for one lane of a warp as for 32. Sums of two parts are the same in either order.
    template <class Run> static __device__ __forceinline__ Node block(bool is_some, const Run& run) {
        const bool is_second = threadIdx.x % 2 == 1;
        Node n = is_some ? run(0) : one();
        u32 worst = larger_field(n.re.high, n.im.high) - 1;
        DoubleDouble mine = is_second ? n.im : n.re, other = is_second ? n.re : n.im;
        i64 exponent = n.exponent;
#pragma unroll 2
        for (u32 k = 1; k < RUN; k++) {
            if (is_some) n = run(k);
            worst = max(worst, larger_field(n.re.high, n.im.high) - 1);
            exponent += n.exponent;
            const DoubleDouble im = is_second ? n.im : DoubleDouble{-n.im.high, -n.im.low};
            mine = ComplexChain::sum(ComplexChain::times<false>(mine, n.re), ComplexChain::times<false>(other, im));
            other = shuffle_words(mine, threadIdx.x % 32 ^ 1);
        }
        const ComplexChain chain = {is_second ? other : mine, is_second ? mine : other, exponent};
        if (!is_some || worst < 0x7fe) return chain.node();
        return join_runs<ComplexSpans>(RUN, run);
    }
    // The left neighbour first.
    static __device__ __forceinline__ Node join(const Node& a, const Node& b) {
        return product_of(a, b).without_signs_of_zeros();
    }
    static __device__ __forceinline__ void pack(const Node& n, u64 (&word)[PACKED_WORDS]) {
        word[0] = __double_as_longlong(n.re.high);
        word[1] = __double_as_longlong(n.re.low);
        word[2] = __double_as_longlong(n.im.high);
        word[3] = __double_as_longlong(n.im.low);
        word[4] = n.exponent;
    }
    static __device__ __forceinline__ Node unpack(const u64 (&word)[PACKED_WORDS]) {
        return {{__longlong_as_double(word[0]), __longlong_as_double(word[1])},
                {__longlong_as_double(word[2]), __longlong_as_double(word[3])},
                i64(word[4])};
    }
    // A single number of any kind.
    static __device__ __forceinline__ Node of(Pair z) {
        const bool tiny = fmax(fabs(z.re), fabs(z.im)) < power_of_two(-1022);
        const f64 scale = tiny ? power_of_two(64) : 1;
        Node n = {{__dmul_rn(z.re, scale), 0}, {__dmul_rn(z.im, scale), 0}, tiny ? -64 : 0};
        n.normalise();
        return n;
    }
    static __device__ __forceinline__ bool is_plain(Pair z) {
        return fabs(z.re) <= 1.7976931348623157e308 && fabs(z.im) <= 1.7976931348623157e308 && (z.re != 0 || z.im != 0);
    }
    // Multiplies by an element whose larger part is brought to [1, 2); numbers at the ends of the range come nearer to
    // 1 first, so that the power that scales them is a normal number.
    static __device__ __forceinline__ void multiply_scaled(ComplexChain& chain, Pair z) {
        f64 most = fmax(fabs(z.re), fabs(z.im));
        const i32 near = most < power_of_two(-1022) ? 64 : most >= power_of_two(1023) ? -64 : 0;
        if (near != 0) {
            z = {__dmul_rn(z.re, power_of_two(near)), __dmul_rn(z.im, power_of_two(near))};
            most = fmax(fabs(z.re), fabs(z.im));
        }
        const i32 shift = exponent_of(most);
        const f64 by = power_of_two(-shift);
        chain.multiply<true>({__dmul_rn(z.re, by), 0}, {__dmul_rn(z.im, by), 0});
        chain.exponent += shift - near;
    }
    // Up to 32 leaves, one by one.
    template <u32 FACTOR, class Leaf>
    static __device__ __forceinline__ Node run_of_leaves(u32 count, const Leaf& leaf) {
        bool plain = true;
#pragma unroll 1
        for (u32 k = 0; k < count; k++) plain &= is_plain(leaf(k));
        if (!plain) {
            Node all = Node::one();
#pragma unroll 1
            for (u32 k = 0; k < count; k++) all = product_of(all, of(leaf(k)));
            return all.without_signs_of_zeros();
        }
        ComplexChain chain = {{1, 0}, {0, 0}, 0};
#pragma unroll 1
        for (u32 k = 0; k < count; k += FACTOR) {
            if constexpr (FACTOR == 1) {
                multiply_scaled(chain, leaf(k));
            } else {
                multiply_pair(chain, leaf(k), k + 1 < count ? leaf(k + 1) : Pair{1, 0});
                if (k % 4 == 2 || k + 2 >= count) chain.rescale();
            }
        }
        return chain.node();
    }
    static __device__ __forceinline__ void write_leaf(u64* word, Pair z) {
        word[0] = __double_as_longlong(z.re);
        word[1] = __double_as_longlong(z.im);
    }
};

// A leaf: one for an element with a NaN that is skipped.
__device__ __forceinline__ Pair leaf_of(Pair z, bool skip) {
    const bool nan = z.re != z.re || z.im != z.im;
    if (nan && skip) return {1, 0};
    return {canonical(z.re), canonical(z.im)};
}

template <class E, Nan NAN> struct ComplexProduct : ComplexSpans {
    typedef E Element;
    static constexpr u32 FACTOR = sizeof(E) == 8 ? 2 : 1, WARPS = 4, THREADS = 32 * WARPS, TILE_LEVEL = 2;
    static constexpr int BLOCKS = 4;

    // What an element's size has to do with doubles is looked at in integers: the pipeline of f64 is what limits.
    struct Chain {
        ComplexChain chain = {{1, 0}, {0, 0}, 0};
        i32 fields = 0;
        u32 worst = 0;  // at least MOST if an element was zero, no number or at an end of the range
        static constexpr u32 MOST = FACTOR == 2 ? 0x7f7fffff : 0x7fd;

        __device__ __forceinline__ void vector(const Vector& p, int k) {
            Elements<E> e(p);
            if constexpr (FACTOR == 2) {
                pair(e.element[0], e.element[1]);
                if (k % 2 == 1) chain.rescale();
            } else {
                factor(e.element);
            }
        }
        // Four elements of a run, the first of which is one of those that four divides.
        __device__ __forceinline__ void four(const E (&e)[4]) {
            if constexpr (FACTOR == 2) {
                pair(e[0], e[1]);
                pair(e[2], e[3]);
                chain.rescale();
            } else {
#pragma unroll
                for (u32 k = 0; k < 4; k++) factor(&e[k]);
            }
        }
        __device__ __forceinline__ void pair(E first, E second) {
            const Pair x = kept(first), y = kept(second);
            worst = max(worst, max(size_of(x), size_of(y)));
            multiply_pair(chain, x, y);
        }
        __device__ __forceinline__ void factor(const E* e) {
            const Pair z = kept(e[0]);
            const u32 field = larger_field(z.re, z.im);
            worst = max(worst, field - 1);
            const f64 by = __hiloint2double((2046 - field) << 20, 0);
            chain.template multiply<true>({__dmul_rn(z.re, by), 0}, {__dmul_rn(z.im, by), 0});
            fields += i32(field) - 1023;
        }
        // Of a zero the largest number there is, of what is not finite more than MOST; so of the very largest numbers.
        static __device__ __forceinline__ u32 size_of(Pair z) {
            return __float_as_uint(__fadd_rn(fabsf(f32(z.re)), fabsf(f32(z.im)))) - 1;
        }
        static __device__ __forceinline__ Pair kept(E z) {
            if (NAN == Nan::Ignore && is_nan(z)) return {1, 0};
            return {f64(z.re), f64(z.im)};
        }
        __device__ __forceinline__ bool is_plain() const { return worst < MOST; }
        __device__ __forceinline__ Node node() const {
            ComplexChain c = chain;
            c.exponent += fields;
            return c.node();
        }
    };
    static __device__ __forceinline__ E unit() { return {1, 0}; }
    static __device__ __forceinline__ Pair leaf(E z) { return leaf_of(Pair{f64(z.re), f64(z.im)}, NAN == Nan::Ignore); }
    template <class Leaf> static __device__ __forceinline__ Node run(u32 count, const Leaf& leaf) {
        return run_of_leaves<FACTOR>(count, leaf);
    }
};
