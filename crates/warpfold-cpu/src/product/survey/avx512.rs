//! The survey of a block in registers of AVX-512.

use std::arch::x86_64::*;

use super::Survey;
use crate::avx512::{WIDTH, absolute, max, min, splat};
use crate::memory::{prefetch, streamed};
use warpfold_num::element::Ordered;

/// Registers at once.
const REGISTERS: usize = 4;

/// The survey of all groups of 256 bytes, and the elements left over.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn of<R: Ordered>(x: &[R]) -> (Survey<R>, &[R]) {
    let groups = bytemuck::cast_slice::<R, u8>(x).as_chunks::<{ REGISTERS * WIDTH }>().0;
    let zero = R::Magnitude::default();
    let mut least = [splat(R::MAGNITUDE_MAX); REGISTERS];
    let mut most = [splat(zero); REGISTERS];
    let mut bits = [splat(zero); REGISTERS];
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        let registers: [__m512i; REGISTERS] = bytemuck::cast(*group);
        for r in 0..REGISTERS {
            let absolute = absolute::<R>(registers[r]);
            least[r] = min(zero, least[r], absolute);
            most[r] = max(zero, most[r], absolute);
            bits[r] = _mm512_xor_si512(bits[r], registers[r]);
        }
    }
    let lanes = bytemuck::cast_slice::<__m512i, R::Magnitude>;
    // The sign bit of an exclusive or is the parity of the signs.
    let odd = bytemuck::cast_slice::<__m512i, R::Key>(&bits)
        .iter()
        .filter(|&&key| key < R::Key::default());
    let survey = Survey {
        least: lanes(&least).iter().copied().fold(R::MAGNITUDE_MAX, Ord::min),
        most: lanes(&most).iter().copied().fold(zero, Ord::max),
        odd: odd.count() % 2 == 1,
    };
    (survey, &x[size_of_val(groups) / size_of::<R>()..])
}
