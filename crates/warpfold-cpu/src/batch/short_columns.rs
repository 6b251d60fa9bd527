//! The short-input path of columns: lanes stay in registers from the first row to the last.
//!
//! The first columns choose an exponent range; columns outside it choose one of their own.

use std::ops::Range;

use super::band::{ABREAST, Band, MISSED};
use super::lanes::{LaneOperation, N};
use crate::isa::{Job, Target, with_lanes_apart};
use warpfold_plan::plan::Isa;

/// Some groups of a band's columns, from the first row to the last, in a call: among other code the compiler leaves lanes that begin with elements in no whole
/// vectors.
struct Begun<'b, 'x, K: LaneOperation> {
    band: &'b Band<'x, K>,
    exponents: K::ExponentRange,
    groups: Range<usize>,
    lanes: &'b mut [K::Lanes],
    smalls: &'b mut Vec<K::Small>,
}

impl<K: LaneOperation> Job for Begun<'_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Begun { band, exponents, groups, lanes, smalls } = self;
        let lanes = &mut lanes[..groups.len()];
        for (lanes, group) in lanes.iter_mut().zip(groups) {
            *lanes = band.begun(group * N, exponents);
        }
        band.kind.append(lanes, smalls);
    }
}

/// Groups of lanes that are kept until what they hold is appended. Of those that begin with an element so many stay in the nearest cache; what others hold is
/// appended by many together.
const fn kept<K: LaneOperation>() -> usize {
    if K::BEGINS { 32 } else { 256 }
}

/// Appends what lanes make of a band that has all rows of its columns, and of a few beside that fill the last lanes; `false` where no exponent range covers some
/// columns.
#[inline(always)]
pub(super) fn append<K: LaneOperation>(
    isa: Isa,
    band: &Band<'_, K>,
    guess: &mut Option<(K::ExponentRange, u64)>,
    lanes: &mut Vec<K::Lanes>,
    smalls: &mut Vec<K::Small>,
) -> bool {
    let (kind, width, rows) = (band.kind, band.width, band.rows as u64);
    let chosen = match *guess {
        Some((exponents, capacity)) if capacity >= rows => Some(exponents),
        _ => band.exponents(0),
    };
    let Some(mut exponents) = chosen else { return false };
    let (mut empty, mut missed) = (kind.lanes(exponents), 0);
    let groups = width.div_ceil(N);
    let most = groups.min(kept::<K>());
    if lanes.len() < most {
        lanes.resize(most, empty);
    }
    for first in (0..groups).step_by(kept::<K>()) {
        let kept = first..groups.min(first + most);
        if K::BEGINS {
            with_lanes_apart(isa, Begun { band, exponents, groups: kept, lanes, smalls });
            continue;
        }
        for first in kept.clone().step_by(ABREAST) {
            let lanes = &mut lanes[first - kept.start..kept.end.min(first + ABREAST) - kept.start];
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
        kind.append(&lanes[..kept.len()], smalls);
    }
    *guess = Some((exponents, rows));
    true
}
