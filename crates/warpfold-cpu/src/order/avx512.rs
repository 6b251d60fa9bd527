//! The span of a block in registers of AVX-512.
//!
//! The portable kernel says the same, but whether the compiler keeps its lanes in registers hangs on how the functions around it
//! are cut up: of some types they lived on the stack, at less than half the speed.

use std::arch::x86_64::__m512i;

use super::{Bits, Span};
use crate::avx512::{WIDTH, absolute, keys, max, min, splat};
use crate::memory::{prefetch, streamed};
use warpfold_num::element::Ordered;

/// Registers at once: their minima and maxima hide each other's latency.
const REGISTERS: usize = 4;

/// The least and greatest key of all groups of 256 bytes, of elements or of their magnitudes, and the elements left over.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn span<R: Ordered, const MAGNITUDES: bool>(x: &[R]) -> (Span<R::Key>, &[R]) {
    let groups = bytemuck::cast_slice::<R, u8>(x).as_chunks::<{ REGISTERS * WIDTH }>().0;
    let mut low = [splat(R::KEY_MAX); REGISTERS];
    let mut high = [splat(R::KEY_MIN); REGISTERS];
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        let registers: [__m512i; REGISTERS] = bytemuck::cast(*group);
        for r in 0..REGISTERS {
            let keys = match MAGNITUDES {
                true => absolute::<R>(registers[r]),
                false => keys::<R>(registers[r]),
            };
            low[r] = min(R::KEY_MIN, low[r], keys);
            high[r] = max(R::KEY_MIN, high[r], keys);
        }
    }
    let lanes = bytemuck::cast_slice::<__m512i, R::Key>;
    let span = Span {
        low: lanes(&low).iter().copied().fold(R::KEY_MAX, Ord::min),
        high: lanes(&high).iter().copied().fold(R::KEY_MIN, Ord::max),
    };
    (span, &x[size_of_val(groups) / size_of::<R>()..])
}

/// The span of all groups of floats of 16 and 32 bits by the greatest of their bits, as signed and as unsigned numbers, and the least; and the elements left over. A key takes two instructions more than these.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn span_of_bits<R: Ordered>(x: &[R]) -> (Span<R::Key>, &[R]) {
    let groups = bytemuck::cast_slice::<R, u8>(x).as_chunks::<{ REGISTERS * WIDTH }>().0;
    let none = R::Magnitude::default();
    let mut signed = [splat(R::KEY_MIN); REGISTERS];
    let mut unsigned = [splat(none); REGISTERS];
    let mut least = [splat(u64::MAX); REGISTERS];
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        let registers: [__m512i; REGISTERS] = bytemuck::cast(*group);
        for r in 0..REGISTERS {
            signed[r] = max(R::KEY_MIN, signed[r], registers[r]);
            unsigned[r] = max(none, unsigned[r], registers[r]);
            least[r] = min(none, least[r], registers[r]);
        }
    }
    let bits = Bits::of::<R>(
        bytemuck::cast_slice(&signed),
        bytemuck::cast_slice(&unsigned),
        bytemuck::cast_slice(&least),
    );
    let span = match groups.is_empty() {
        true => Span { low: R::KEY_MAX, high: R::KEY_MIN },
        false => bits.span::<R>(),
    };
    (span, &x[size_of_val(groups) / size_of::<R>()..])
}
