//! The short-input path of columns: lanes stay in registers from the first row to the last.
//!
//! The first columns choose an exponent range; columns outside it choose one of their own.

use super::band::{ABREAST, Band, MISSED};
use super::lanes::{LaneOperation, N};

/// Adds a band that has all rows to lanes, as many as its columns take; `false` where no exponent range covers some columns.
#[inline(always)]
pub(super) fn add<K: LaneOperation>(
    band: &Band<'_, K>,
    guess: &mut Option<(K::ExponentRange, u64)>,
    lanes: &mut Vec<K::Lanes>,
) -> bool {
    let (kind, width, rows) = (band.kind, band.width, band.rows as u64);
    let chosen = match *guess {
        Some((exponents, capacity)) if capacity >= rows => Some(exponents),
        _ => band.exponents(0),
    };
    let Some(mut exponents) = chosen else { return false };
    let (mut empty, mut missed) = (kind.lanes(exponents), 0);
    let groups = width.div_ceil(N);
    if lanes.len() < groups {
        lanes.resize(groups, empty);
    }
    for first in (0..groups).step_by(ABREAST) {
        let lanes = &mut lanes[first..groups.min(first + ABREAST)];
        if !K::IS_LARGE
            && (first + ABREAST) * N <= width
            && let Some(block) = lanes.first_chunk_mut()
        {
            let monitors = band.add(first * N, [empty; ABREAST], block);
            let mut all = true;
            for monitor in &monitors {
                all &= kind.keeps(exponents, monitor);
            }
            if all {
                continue;
            }
        }
        for (lanes, group) in lanes.iter_mut().zip(first..) {
            let monitor = K::add_rows(band, group * N, empty, lanes);
            if !K::MAY_MISS || kind.keeps(exponents, &monitor) {
                continue;
            }
            let Some(made) = band.exponents(group) else { return false };
            let own = kind.lanes(made);
            K::add_rows(band, group * N, own, lanes);
            missed += 1;
            if missed * MISSED > group {
                (exponents, empty) = (made, own);
            }
        }
    }
    *guess = Some((exponents, rows));
    true
}
