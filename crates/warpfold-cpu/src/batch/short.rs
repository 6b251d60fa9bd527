//! One short array as an output of its own: no plan, no threads, no column.

use super::lanes::{LaneOperation, N, Positions};
use super::outputs::Read;
use crate::isa::{Job, Target, has_lanes, with_short_lanes};
use warpfold_plan::plan::Isa;

/// Elements at most, a tile of `rows`. What it takes: `results/amd-epyc-2c/small.json`.
const MOST: usize = 4096;

/// The result of a short array, read of what a kind holds of it; `None` where that takes the partial.
pub(crate) fn short<K: LaneOperation, D: Read<K::Small>>(
    kind: K,
    x: &[K::Element],
    reader: &D,
) -> Option<D::Result> {
    let isa = Isa::widest();
    if x.is_empty() || x.len() > MOST || !has_lanes(isa) {
        return None;
    }
    with_short_lanes(isa, Short { kind, x, reader })
}

/// A fold of an array, read by the same instructions.
struct Short<'a, K: LaneOperation, D> {
    kind: K,
    x: &'a [K::Element],
    reader: &'a D,
}

impl<K: LaneOperation, D: Read<K::Small>> Job for Short<'_, K, D> {
    type Output = Option<D::Result>;

    #[inline(always)]
    fn run<C: Target>(self) -> Option<D::Result> {
        let Short { kind, x, reader } = self;
        let count = x.len() as u64;
        let mut lanes = kind.lanes(kind.exponents(kind.survey(x), count)?);
        for (k, group) in x.chunks(N).enumerate() {
            kind.add(&mut lanes, &kind.group(group), Positions { first: (k * N) as u64, step: 1 });
        }
        reader.small(&kind.total(&lanes), count)
    }
}
