//! The span of a block in registers of AVX-512.
//!
//! The portable kernel says the same, but whether the compiler keeps its lanes in registers hangs on how the functions around it
//! are cut up: of some types they lived on the stack, at less than half the speed.

use std::arch::x86_64::__m512i;

use super::Span;
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
