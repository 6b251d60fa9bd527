//! Short runs turned over: of `N` runs, of one length or of several, the elements of one index lie side by side, so that kinds add them as whole vectors.
//!
//! A kind by itself gathers those of very short runs as it adds them; several would gather them once each. Each kind has calls of its own, as in one function
//! the compiler leaves no group of lanes in whole vectors.

use std::ops::Range;

use super::lanes::{LaneOperation, N, Positions};
use crate::isa::{Job, Target, with_lanes_apart};
use crate::memory::prefetch_at;
use warpfold_plan::plan::Isa;

/// Runs that were turned over, added to lanes of one kind: groups of an element of each, the first of which has an index.
struct Turned<'a, K: LaneOperation> {
    kind: K,
    lanes: &'a mut K::Lanes,
    groups: &'a [[K::Element; N]],
    first: u64,
}

impl<K: LaneOperation> Job for Turned<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let (mut lanes, mut first) = (*self.lanes, self.first);
        for group in self.groups {
            // It is there. But sums of integers of several groups the compiler would add up at once, lane by lane, and a loop that asks for memory it leaves as it is.
            prefetch_at(group, 0);
            self.kind.add(&mut lanes, group, Positions { first, step: 0 });
            first += 1;
        }
        *self.lanes = lanes;
    }
}

/// The same of runs of several lengths.
struct Uneven<'a, K: LaneOperation> {
    kind: K,
    lanes: &'a mut K::Lanes,
    groups: &'a [[K::Element; N]],
    first: u32,
    lengths: &'a [u32; N],
}

impl<K: LaneOperation> Job for Uneven<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let (mut lanes, mut index, lengths) = (*self.lanes, self.first, *self.lengths);
        for group in self.groups {
            prefetch_at(group, 0);
            self.kind.add_there(&mut lanes, *group, &lengths, index);
            index += 1;
        }
        *self.lanes = lanes;
    }
}

/// Adds groups of runs that were turned over to lanes of one kind, in a call.
#[inline(always)]
pub(super) fn add_turned<K: LaneOperation>(
    kind: K,
    isa: Isa,
    lanes: &mut K::Lanes,
    groups: &[[K::Element; N]],
    first: u64,
) {
    with_lanes_apart(isa, Turned { kind, lanes, groups, first });
}

/// The same of runs of these lengths.
#[inline(always)]
pub(super) fn add_uneven<K: LaneOperation>(
    kind: K,
    isa: Isa,
    lanes: &mut K::Lanes,
    groups: &[[K::Element; N]],
    (first, lengths): (u32, &[u32; N]),
) {
    with_lanes_apart(isa, Uneven { kind, lanes, groups, first, lengths });
}

/// Lanes for each that has an element, at most, where runs of several lengths are added side by side.
const UNEVEN: usize = 4;

/// The elements of the longest of `N` runs; `None` where these are more than `most`, or so many more than others have that most lanes would wait.
#[inline(always)]
pub(super) fn most_of_uneven(runs: &[Range<usize>; N], most: usize) -> Option<usize> {
    let (mut longest, mut all) = (0, 0);
    for run in runs {
        longest = longest.max(run.len());
        all += run.len();
    }
    (longest <= most && longest * N <= UNEVEN * all).then_some(longest)
}

/// `N` runs of several lengths, none of them long, added to lanes of several kinds.
#[inline(always)]
pub(super) fn uneven<K: LaneOperation>(
    kind: K,
    isa: Isa,
    mut lanes: K::Lanes,
    x: &[K::Element],
    runs: &[Range<usize>; N],
    longest: usize,
) -> K::Lanes {
    let mut lengths = [0; N];
    for l in 0..N {
        lengths[l] = runs[l].len() as u32;
    }
    let Some(&any) = x.first() else { return lanes };
    let mut turned = [any; N * N];
    for first in (0..longest).step_by(N) {
        let count = N.min(longest - first);
        for l in 0..N {
            // A run that has ended goes on with its first element, which changes neither extremes nor what a kind takes it for.
            let run = &x[runs[l].clone()];
            let filler = run.first().copied().unwrap_or(any);
            let some = run.get(first..).unwrap_or(&[]);
            let some = &some[..some.len().min(count)];
            for (k, &x) in some.iter().enumerate() {
                turned[k * N + l] = x;
            }
            for k in some.len()..count {
                turned[k * N + l] = filler;
            }
        }
        let groups = &turned.as_chunks().0[..count];
        kind.add_uneven(isa, &mut lanes, groups, (first as u32, &lengths));
    }
    lanes
}

/// Adds `N` short runs, which lie one after another where `runs` begins, to lanes of several kinds.
#[inline(always)]
pub(super) fn beside_of_several<K: LaneOperation>(
    kind: K,
    isa: Isa,
    mut lanes: K::Lanes,
    runs: &[K::Element],
    length: usize,
) -> K::Lanes {
    if length == 0 {
        return lanes;
    }
    let (mut turned, mut between) = ([runs[0]; N * N], [runs[0]; N * N]);
    for first in (0..length).step_by(N) {
        let count = N.min(length - first);
        let (x, pitch) = (&runs[first..], length);
        // Narrow elements have shuffles of their own, and as many registers as there are.
        if size_of::<K::Element>() <= 2 {
            turn(x, pitch, count, &mut turned, &mut between);
        } else {
            // With wider instructions than AVX2 the compiler makes them gathers, half as fast.
            with_lanes_apart(isa.min(Isa::Avx2), Turn { x, pitch, count, turned: &mut turned });
        }
        kind.add_turned(isa, &mut lanes, &turned.as_chunks().0[..count], first as u64);
    }
    lanes
}

/// Adds `N` short runs, which lie one after another where `runs` begins, each to a lane.
#[inline(always)]
pub(super) fn beside<K: LaneOperation>(
    kind: K,
    lanes: K::Lanes,
    runs: &[K::Element],
    length: usize,
) -> K::Lanes {
    match length {
        2 => strided::<K, 2>(kind, lanes, runs),
        3 => strided::<K, 3>(kind, lanes, runs),
        4 => strided::<K, 4>(kind, lanes, runs),
        _ => {
            let mut lanes = lanes;
            for k in 0..length {
                let mut group = [runs[k]; N];
                for l in 0..N {
                    group[l] = runs[l * length + k];
                }
                kind.add(&mut lanes, &group, Positions { first: k as u64, step: 0 });
            }
            lanes
        }
    }
}

/// The same for a length known to the compiler.
#[inline(always)]
fn strided<K: LaneOperation, const LENGTH: usize>(
    kind: K,
    mut lanes: K::Lanes,
    runs: &[K::Element],
) -> K::Lanes {
    let (runs, _) = runs.as_chunks::<LENGTH>();
    let runs: &[[K::Element; LENGTH]; N] = runs.first_chunk().expect("as many as lanes");
    for k in 0..LENGTH {
        let mut group = [runs[0][k]; N];
        for l in 0..N {
            group[l] = runs[l][k];
        }
        kind.add(&mut lanes, &group, Positions { first: k as u64, step: 0 });
    }
    lanes
}

/// `N` runs of one length.
struct Beside<'a, K: LaneOperation> {
    kind: K,
    lanes: &'a mut K::Lanes,
    runs: &'a [K::Element],
    length: usize,
}

impl<K: LaneOperation> Job for Beside<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Beside { kind, lanes, runs, length } = self;
        *lanes = beside_of_several(kind, C::ISA, *lanes, runs, length);
    }
}

/// Adds `N` runs of one length, turned over, in a call.
#[inline(always)]
pub(super) fn beside_turned<K: LaneOperation>(
    kind: K,
    isa: Isa,
    mut lanes: K::Lanes,
    runs: &[K::Element],
    length: usize,
) -> K::Lanes {
    with_lanes_apart(isa, Beside { kind, lanes: &mut lanes, runs, length });
    lanes
}

/// The first `count` elements of each of `N` runs that lie so far apart, those of one index side by side.
#[inline(always)]
fn turn<E: Copy>(
    x: &[E],
    pitch: usize,
    count: usize,
    turned: &mut [E; N * N],
    between: &mut [E; N * N],
) {
    // Of narrow elements registers hold so many that four perfect shuffles, which move the upper half of all indices' bits below the lower one, are faster.
    // They read on behind short runs, where memory goes on.
    if x.len() >= (N - 1) * pitch + N {
        for l in 0..N / 2 {
            let (one, other) = (&x[l * pitch..][..N], &x[(l + N / 2) * pitch..][..N]);
            for k in 0..N {
                between[2 * (l * N + k)] = one[k];
                between[2 * (l * N + k) + 1] = other[k];
            }
        }
        shuffled(between, turned);
        shuffled(turned, between);
        shuffled(between, turned);
    } else {
        turn_by_fours(x, pitch, count, turned);
    }
}

/// The same of wider elements, for one instruction set.
struct Turn<'t, E> {
    x: &'t [E],
    pitch: usize,
    count: usize,
    turned: &'t mut [E; N * N],
}

impl<E: Copy> Job for Turn<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Turn { x, pitch, count, turned } = self;
        if count == N {
            turn_by_fours(x, pitch, N, turned);
        } else {
            turn_by_fours(x, pitch, count, turned);
        }
    }
}

/// The same by four runs at a time, whose elements are written together: of 32 and 64 bits faster than one by one, and than shuffles through memory.
#[inline(always)]
fn turn_by_fours<E: Copy>(x: &[E], pitch: usize, count: usize, turned: &mut [E; N * N]) {
    for l in (0..N).step_by(4) {
        let run = |l: usize| &x[l * pitch..][..count];
        let runs = [run(l), run(l + 1), run(l + 2), run(l + 3)];
        for k in 0..count {
            let some = [runs[0][k], runs[1][k], runs[2][k], runs[3][k]];
            turned[k * N + l..][..4].copy_from_slice(&some);
        }
    }
}

/// The two halves with their elements in turn.
#[inline(always)]
fn shuffled<E: Copy>(from: &[E; N * N], to: &mut [E; N * N]) {
    for k in 0..N * N / 2 {
        to[2 * k] = from[k];
        to[2 * k + 1] = from[k + N * N / 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_turned<E: Copy + PartialEq + std::fmt::Debug>(of: fn(usize) -> E) {
        for (pitch, count) in [(5, 5), (15, 15), (16, 16), (23, 16), (23, 7), (100, 16)] {
            for behind in [0, N] {
                let x: Vec<E> = (0..(N - 1) * pitch + count + behind).map(of).collect();
                let (mut turned, mut between) = ([of(0); N * N], [of(0); N * N]);
                match size_of::<E>() {
                    0..=2 => turn(&x, pitch, count, &mut turned, &mut between),
                    _ => turn_by_fours(&x, pitch, count, &mut turned),
                }
                for k in 0..count {
                    for l in 0..N {
                        assert_eq!(turned[k * N + l], x[l * pitch + k], "{pitch} {count} {k} {l}");
                    }
                }
            }
        }
    }

    #[test]
    fn elements_of_one_index_lie_side_by_side() {
        is_turned(|k| (k % 251) as u8);
        is_turned(|k| k as u16);
        is_turned(|k| k as u32);
        is_turned(|k| k as u64);
    }
}
