// finish: the last step of a reduction whose fold leaves a record, done on the device, so that the value need not go
// through the host.
//
// One warp, launched after the fold's kernel on the same stream: x is the fold's record, n the number of elements,
// `stamp` the ddof, `options` what Finish takes apart. value: f32 or f64, of f16 and bf16 that if asked for, complex as
// a pair; any, all: one byte; linf of integers: u64, sumsq of them 192 bits; prod of integers: the low 64 bits, then 1
// if those are not all. NaN where the host would give an error: without elements, or ddof of them.
#include "op/complex_product.cuh"
#include "op/finish_product.cuh"
#include "op/real_product.cuh"
#include "walk/tree_array.cuh"

// Steps of one thread: what is not an integer of many words.
__device__ __forceinline__ void finish_small(const Finish& q, const u64* record, u64 n, u64 ddof, void* value) {
    const auto number = [&](int k) { return __longlong_as_double(record[k]); };
    const auto largest = [&] { return record[0] == 0 ? 0 : record[1]; };  // of nothing: zero
    switch (q.step) {
        case Step::Any:
            *static_cast<u8*>(value) = record[0] != 0;
            break;
        case Step::All:
            *static_cast<u8*>(value) = record[0] == n - record[1];
            break;
        case Step::LargestInteger:
            *static_cast<u64*>(value) = largest();
            break;
        case Step::LargestHalf:
            write_nearest(value, 0, q.to, widen(f16{u16(largest())}));
            break;
        case Step::LargestBrain:
            write_nearest(value, 0, q.to, widen(bf16{u16(largest())}));
            break;
        case Step::LargestFloat:
            write(value, 0, q.to, largest(), false);
            break;
        case Step::IntegerProduct: {
            // Flags: 1 a zero, 2 beyond 2^64, 8 negative.
            const bool zero = record[1] & 1, negative = record[1] & 8;
            const u64 most = q.is_signed ? (1ull << 63) - !negative : ~0ull;
            static_cast<u64*>(value)[0] = zero ? 0 : negative ? 0 - record[0] : record[0];
            static_cast<u64*>(value)[1] = !zero && ((record[1] & 2) || record[0] > most);
            break;
        }
        case Step::Product: {
            write_real(q.to, value, root_of_array<RealSpans>(record, n));
            break;
        }
        case Step::ComplexProduct: {
            write_complex(q.to, value, root_of_array<ComplexSpans>(record, n));
            break;
        }
        case Step::FastMean:
            for (u32 part = 0; part < q.parts; part++) {
                write_nearest(value, part, q.to, __ddiv_rn(number(part), __ull2double_rn(n - record[2])));
            }
            break;
        case Step::IntegerSumsq:
            for (u32 k = 0; k < q.square_limbs; k++) static_cast<u64*>(value)[k] = record[q.sum_limbs + k];
            break;
        case Step::FastL1:
        case Step::FastSumsq:
            write_nearest(value, 0, q.to, number(0));
            break;
        case Step::FastL2:
            write_nearest(value, 0, q.to, __dsqrt_rn(number(0)));
            break;
        default: {
            // The squares about the mean, from those about a point near it; the operations of the host.
            const u64 count = n - record[5];
            if (ddof >= count) {
                write_special(value, 0, q.to, QUIET_NAN, false);
                break;
            }
            const f64 divisor = __ull2double_rn(count);
            f64 sum = 0;
            for (u32 part = 0; part < q.parts; part++)
                sum = __dadd_rn(sum, __dmul_rn(number(part), __ddiv_rn(number(part), divisor)));
            const f64 squares = __dsub_rn(number(2), sum),
                      var = __ddiv_rn(squares < 0 ? 0.0 : squares, __ull2double_rn(count - ddof));
            write_nearest(value, 0, q.to, q.step == Step::FastVar ? var : __dsqrt_rn(var));
        }
    }
}

extern "C" __global__ void __launch_bounds__(32)
    finish(const u64* record, const void*, u64 n, void*, u64*, void* value, u64*, u64 ddof, u64 options) {
    __shared__ Scratch s;
    const Finish q(options);
    if (q.step > Step::Sum) {
        if (threadIdx.x == 0) finish_small(q, record, n, ddof, value);
        return;
    }
    finish_integers(q, record, n, ddof, value, s);
}
