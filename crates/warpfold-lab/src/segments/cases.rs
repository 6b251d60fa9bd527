//! What is measured: lengths of segments, shapes, keys.

use std::collections::HashSet;

use warpfold::random::word;
use warpfold::{Layout, Op};

use super::cut::{Cut, Keys};
use super::numbers::fraction;

/// How the elements of an output lie, on which its aim depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// So many of them side by side.
    Run(u64),
    /// As many as the outputs apart.
    Columns,
    /// Otherwise: nothing is aimed at.
    Otherwise,
}

/// A cut by its name; made when its turn comes, as keys are as many as elements.
pub struct Case {
    /// Such as `every 16`.
    pub name: String,
    reads: Reads,
    make: Box<dyn Fn() -> Cut>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("reads", &self.reads).finish()
    }
}

impl Case {
    fn new(name: impl Into<String>, reads: Reads, make: impl Fn() -> Cut + 'static) -> Case {
        Case { name: name.into(), reads, make: Box::new(make) }
    }

    /// The fraction of the flat reduction's rate that the project wants of a reduction of these parts.
    pub fn target(&self, op: Op) -> Option<f64> {
        let is_light = !matches!(op, Op::Var | Op::Std | Op::L2 | Op::Sumsq | Op::Prod | Op::Stats);
        match self.reads {
            Reads::Run(64..) => Some(0.8),
            Reads::Run(4..) => Some(if is_light { 0.4 } else { 0.25 }),
            Reads::Columns => Some(0.6),
            Reads::Run(_) | Reads::Otherwise => None,
        }
    }

    /// The cut itself.
    pub fn cut(&self) -> Cut {
        (self.make)()
    }
}

/// Seeds of lengths and of keys.
const LENGTHS: u64 = 7;
const KEYS: u64 = 11;

/// Elements of an array that is cut in every way: offsets have 32 bits, and the shortest axis of the shape with four is n / 6144 long.
pub const ELEMENTS: std::ops::Range<u64> = 6144..1 << 32;

/// All cases of about `n` elements, which are in [`ELEMENTS`], each once: where two shapes are the same, the first stands.
pub fn cases(n: u64) -> Vec<Case> {
    let mut all = Vec::new();
    for length in [1, 3, 16, 31, 64, 256, 4096, 65536, 1 << 24] {
        if length <= n {
            let reads = Reads::Run(length);
            all.push(Case::new(format!("every {length}"), reads, move || Cut::Every(length)));
        }
    }
    all.push(Case::new("random 0-64", Reads::Otherwise, move || Cut::Offsets(random(n))));
    all.push(Case::new("Zipf", Reads::Otherwise, move || Cut::Offsets(zipf(n))));
    let other = Reads::Otherwise;
    all.push(Case::new("one giant among tiny ones", other, move || Cut::Offsets(giant(n))));
    all.extend(axes(n));
    for (known_as, word) in [(Keys::Dense, "dense keys"), (Keys::Any, "any keys")] {
        // At most four keys for each element.
        for bits in [8, 16, 20, 24].into_iter().filter(|bits| 1 << bits <= 4 * n) {
            let groups = 1 << bits;
            let uniform = move |at| word_below(groups, at);
            let skewed = move |at| zipf_below(groups, at);
            let cut = move |draw: &dyn Fn(u64) -> u32| Cut::Groups {
                keys: (0..n).map(draw).collect(),
                groups,
                known_as,
            };
            all.push(Case::new(format!("2^{bits} {word}, uniform"), other, move || cut(&uniform)));
            all.push(Case::new(format!("2^{bits} {word}, Zipf"), other, move || cut(&skewed)));
        }
    }
    let mut names = HashSet::new();
    all.retain(|case| names.insert(case.name.clone()));
    all
}

/// Shapes of about `n` elements, each axis of them that is worth a row.
fn axes(n: u64) -> impl Iterator<Item = Case> {
    let side = n.isqrt();
    let middle = [64, 3, 32, n / (64 * 3 * 32)];
    let c = |shape: &[u64]| Layout::c(shape).expect("as many elements as the array");
    let square = c(&[side, side]);
    let mut all = vec![(square.transposed(), 0, "transposed ")];
    for (shape, axes) in [
        (&[side, side][..], &[0, 1][..]),
        (&[n / 4, 4], &[0, 1]),
        (&[4, n / 4], &[0, 1]),
        (&[n / 64, 64], &[0, 1]),
        (&[2048, n / 2048], &[0]),
        (&[3, n / 3], &[0]),
        (&middle, &[0, 1, 2, 3]),
    ] {
        all.extend(axes.iter().map(|axis| (c(shape), *axis, "")));
    }
    all.into_iter().map(|(layout, axis, order)| {
        let name = format!("{order}{:?} axis {axis}", layout.shape());
        let folded = &layout.axes()[axis];
        let reads = if folded.stride == 1 { Reads::Run(folded.length) } else { Reads::Columns };
        Case::new(name, reads, move || Cut::Axis { layout: layout.clone(), axis })
    })
}

fn ends(lengths: impl IntoIterator<Item = u64>) -> Vec<u32> {
    let mut end = 0;
    let next = lengths.into_iter().map(|length| {
        end += length;
        end as u32
    });
    std::iter::once(0).chain(next).collect()
}

/// Lengths from 0 to 64, uniformly.
fn random(n: u64) -> Vec<u32> {
    let mut left = n;
    let lengths = (0..).map_while(|k| {
        let length = (word(LENGTHS, k) % 65).min(left);
        (left > 0).then(|| left -= length).map(|()| length)
    });
    ends(lengths)
}

/// Lengths by rank: the k-th longest has n / (k H) elements, in shuffled order.
fn zipf(n: u64) -> Vec<u32> {
    let count = (n / 4096).clamp(1, 1 << 16);
    let harmonic: f64 = (1..=count).map(|k| 1.0 / k as f64).sum();
    let length = |k| (n as f64 / (k as f64 * harmonic)) as u64;
    let mut lengths: Vec<u64> = (1..=count).map(length).collect();
    for k in (1..lengths.len()).rev() {
        lengths.swap(k, (word(LENGTHS, k as u64) % (k as u64 + 1)) as usize);
    }
    ends(lengths)
}

/// One segment that has nearly all elements among up to a million of four.
fn giant(n: u64) -> Vec<u32> {
    let tiny = (n / 256).min(1 << 20);
    ends((0..=tiny).map(|k| if k == tiny / 2 { n - 4 * tiny } else { 4 }))
}

/// The key of an element of the dense cases, which are these of a GPU too.
#[cfg(feature = "cuda")]
pub(crate) fn dense_key(groups: u64, is_zipf: bool, at: u64) -> u32 {
    if is_zipf { zipf_below(groups, at) } else { word_below(groups, at) }
}

fn word_below(groups: u64, at: u64) -> u32 {
    (word(KEYS, at) % groups) as u32
}

/// A key whose rank k is as frequent as 1/k; ranks are spread over all keys, so that no cache line holds the frequent ones alone.
fn zipf_below(groups: u64, at: u64) -> u32 {
    let rank = ((groups as f64 + 1.0).powf(fraction(KEYS, at)) as u64 - 1).min(groups - 1);
    // An odd factor permutes the numbers below a power of two.
    (rank.wrapping_mul(0x9E37_79B9_7F4A_7C15) % groups) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_as_many_elements_as_said() {
        let n = 1 << 16;
        assert_eq!(random(n).last(), Some(&(n as u32)));
        assert!(random(n).windows(2).all(|pair| pair[1] - pair[0] <= 64));
        assert!(*zipf(n).last().unwrap() <= n as u32);
        let offsets = giant(n);
        assert_eq!((offsets.len(), offsets.last()), (258, Some(&(n as u32))));
    }

    #[test]
    fn ranks_are_as_frequent_as_zipf_says() {
        let mut counts = vec![0u32; 256];
        (0..1 << 16).for_each(|at| counts[zipf_below(256, at) as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let ratio = f64::from(counts[0]) / f64::from(counts[9]);
        assert!((6.0..14.0).contains(&ratio), "{ratio}");
        assert!(counts[255] > 0);
    }

    #[test]
    fn aims_are_those_of_how_elements_lie() {
        let all = cases(1 << 20);
        let aim = |name: &str, op| {
            let case = all.iter().find(|case| case.name == name);
            case.unwrap_or_else(|| panic!("{name}")).target(op)
        };
        assert_eq!(aim("[262144, 4] axis 1", Op::Max), Some(0.4));
        assert_eq!(aim("[262144, 4] axis 1", Op::Var), Some(0.25));
        assert_eq!(aim("[262144, 4] axis 0", Op::Var), Some(0.6));
        assert_eq!(aim("[16384, 64] axis 1", Op::Stats), Some(0.8));
        assert_eq!(aim("transposed [1024, 1024] axis 0", Op::Sum), Some(0.8));
        assert_eq!((aim("every 3", Op::Sum), aim("Zipf", Op::Sum)), (None, None));
    }

    #[test]
    fn names_are_all_different() {
        // The square of 2^22 elements is as long as the columns of 2048.
        for n in [1 << 22, 1 << 25] {
            let mut names: Vec<_> = cases(n).into_iter().map(|case| case.name).collect();
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all, "{n} elements");
        }
    }
}
