//! [`MissingRuns`]: which elements of a text are left out, in a few bytes for each run of them.

use std::mem;
use std::ops::Range;

/// What is kept of the rows that are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeftOut {
    /// Their number.
    #[default]
    Counted,
    /// Where they were, too, as indices count them.
    Listed,
    /// The same, and elements of zero bits in their place, so that elements stay side by side with those of another input.
    Kept,
}

/// Runs of elements, in ascending order, by their indices in the data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingRuns {
    /// Of each run but the last: elements since the run before it, and its own, as LEB128.
    packed: Vec<u8>,
    /// Where the packed runs begin to count, and where they end.
    bounds: Range<u64>,
    /// The last run, which may still grow.
    last: Range<u64>,
    elements: u64,
}

impl MissingRuns {
    /// Adds a run that begins where the last one ends, or later.
    pub fn push(&mut self, run: Range<u64>) {
        if run.is_empty() {
            return;
        }
        self.elements += run.end - run.start;
        if self.last.end == run.start && !self.last.is_empty() {
            self.last.end = run.end;
        } else {
            self.pack();
            self.last = run;
        }
    }

    /// Elements in all.
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// The runs.
    pub fn runs(&self) -> impl Iterator<Item = Range<u64>> {
        let (mut rest, mut end) = (self.packed.as_slice(), self.bounds.start);
        let packed = std::iter::from_fn(move || {
            let (between, length) = (unpack(&mut rest)?, unpack(&mut rest)?);
            let start = end + between;
            end = start + length;
            Some(start..end)
        });
        packed.chain((!self.last.is_empty()).then(|| self.last.clone()))
    }

    /// Takes all runs out; those that follow are added as before.
    pub fn take(&mut self) -> MissingRuns {
        self.pack();
        let rest = self.bounds.end..self.bounds.end;
        mem::replace(self, MissingRuns { bounds: rest, ..MissingRuns::default() })
    }

    /// Adds what was taken out of others that began as these did.
    pub(super) fn append(&mut self, mut other: MissingRuns) {
        self.pack();
        other.pack();
        debug_assert!(other.packed.is_empty() || other.bounds.start == self.bounds.end);
        self.packed.append(&mut other.packed);
        self.bounds.end = self.bounds.end.max(other.bounds.end);
        self.elements += other.elements;
    }

    /// The elements that are in either.
    pub fn union(&self, other: &MissingRuns) -> MissingRuns {
        let (mut a, mut b) = (self.runs().peekable(), other.runs().peekable());
        let mut all = MissingRuns::default();
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.start <= y.start => a.next(),
                (Some(_), None) => a.next(),
                _ => b.next(),
            };
            let Some(run) = next else { return all };
            let start = run.start.max(all.last.end);
            all.push(start..run.end.max(start));
        }
    }

    fn pack(&mut self) {
        if !self.last.is_empty() {
            pack(&mut self.packed, self.last.start - self.bounds.end);
            pack(&mut self.packed, self.last.end - self.last.start);
            self.bounds.end = self.last.end;
            self.last = 0..0;
        }
    }
}

fn pack(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn unpack(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Some(number)
}

/// Indices in the data and indices among what is kept of them.
#[derive(Debug)]
pub struct Indices {
    /// Runs, and how many elements were left out before each.
    runs: Vec<(Range<u64>, u64)>,
}

impl Indices {
    /// Of the rows that were left out.
    pub fn new(gaps: &MissingRuns) -> Indices {
        let mut before = 0;
        let counted = gaps.runs().map(|run| {
            let left_out = before;
            before += run.end - run.start;
            (run, left_out)
        });
        Indices { runs: counted.collect() }
    }

    /// Where in the data the element is that is kept as that of an index.
    pub fn in_data(&self, kept: u64) -> u64 {
        let runs = self.runs.partition_point(|(run, before)| run.start - before <= kept);
        kept + self.left_out(runs)
    }

    /// How many elements are kept before an index in the data.
    pub fn kept_before(&self, index: u64) -> u64 {
        let runs = self.runs.partition_point(|(run, _)| run.end <= index);
        let inside = self.runs.get(runs).map_or(0, |(run, _)| index.saturating_sub(run.start));
        index - self.left_out(runs) - inside
    }

    /// Elements of the first so many runs.
    fn left_out(&self, runs: usize) -> u64 {
        let last = runs.checked_sub(1).map(|last| &self.runs[last]);
        last.map_or(0, |(run, before)| before + run.end - run.start)
    }

    /// The gaps of other data of the same rows, as indices among what is kept here.
    pub fn among_kept(&self, other: &MissingRuns) -> MissingRuns {
        let mut gaps = MissingRuns::default();
        for run in other.runs() {
            gaps.push(self.kept_before(run.start)..self.kept_before(run.end));
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MissingRuns where the pattern, over and over, has a zero.
    fn sample(pattern: &[u64], length: u64) -> (MissingRuns, Vec<bool>) {
        let mut gaps = MissingRuns::default();
        let mut kept = Vec::new();
        for (at, &bit) in (0..length).zip(pattern.iter().cycle()) {
            kept.push(bit == 1);
            if bit == 0 {
                gaps.push(at..at + 1);
            }
        }
        (gaps, kept)
    }

    #[test]
    fn indices_lead_there_and_back() {
        for pattern in [&[1u64][..], &[0], &[0, 1], &[1, 1, 0, 0, 0, 1], &[0, 0, 1, 1, 1, 1, 1]] {
            let (gaps, kept) = sample(pattern, 1000);
            assert_eq!(gaps.elements(), kept.iter().filter(|&&kept| !kept).count() as u64);
            let listed: Vec<u64> = gaps.runs().flatten().collect();
            let expected: Vec<u64> = (0..1000).filter(|&at| !kept[at as usize]).collect();
            assert_eq!(listed, expected);
            let indices = Indices::new(&gaps);
            let mut so_far = 0;
            for (at, &is_kept) in (0..).zip(&kept) {
                assert_eq!(indices.kept_before(at), so_far);
                if is_kept {
                    assert_eq!(indices.in_data(so_far), at);
                    so_far += 1;
                }
            }
            assert_eq!(indices.kept_before(1000), so_far);
        }
    }

    #[test]
    fn runs_are_taken_out_and_added_anew() {
        let mut all = MissingRuns::default();
        let mut parts = MissingRuns::default();
        for (start, end) in [(0, 1), (1, 5), (7, 300), (100_000, 100_001), (1 << 40, 1 << 41)] {
            parts.push(start..end);
            if start % 2 == 1 {
                all.append(parts.take());
            }
        }
        all.append(parts.take());
        let runs: Vec<_> = all.runs().collect();
        assert_eq!(runs.iter().map(|run| run.end - run.start).sum::<u64>(), all.elements());
        let joined: Vec<_> = runs.iter().map(|run| (run.start, run.end)).collect();
        assert_eq!(joined.last(), Some(&(1 << 40, 1 << 41)));
        assert!(joined.contains(&(7, 300)) && joined.contains(&(100_000, 100_001)));
    }

    #[test]
    fn unions_and_what_is_left_of_others() {
        let (a, kept_a) = sample(&[1, 0, 1, 1, 0], 500);
        let (b, kept_b) = sample(&[0, 1, 1, 1], 500);
        let union: Vec<u64> = a.union(&b).runs().flatten().collect();
        let expected: Vec<u64> =
            (0..500).filter(|&at| !kept_a[at as usize] || !kept_b[at as usize]).collect();
        assert_eq!(union, expected);
        let mut at_kept = 0;
        let mut left = Vec::new();
        for at in 0..500 {
            if kept_a[at] {
                if !kept_b[at] {
                    left.push(at_kept);
                }
                at_kept += 1;
            }
        }
        assert_eq!(Indices::new(&a).among_kept(&b).runs().flatten().collect::<Vec<u64>>(), left);
    }
}
