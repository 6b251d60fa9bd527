//! Which outputs a share of the elements has, where those of all outputs lie one behind the other: some as a whole, of others a piece.

use std::ops::Range;

/// The outputs of a share.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    /// Those that it has as a whole.
    pub whole: Range<usize>,
    /// Those that it has a piece of, and the positions in the output of the elements in there.
    pub cut: Vec<(usize, Range<usize>)>,
}

/// The outputs that begin in a share of the elements. One without elements belongs to the share of the element that it stands before, or to the last.
pub fn begun(
    outputs: usize,
    range: impl Fn(usize) -> Range<usize>,
    share: &Range<usize>,
    is_last: bool,
) -> Range<usize> {
    let before = |element: usize| partition_point(outputs, |k| range(k).start < element);
    before(share.start)..if is_last { outputs } else { before(share.end) }
}

/// What a share has if outputs may be cut: of those that [begin](begun) in there no more than its elements, and its elements of one that began before.
pub fn take(
    outputs: usize,
    range: impl Fn(usize) -> Range<usize>,
    share: &Range<usize>,
    is_last: bool,
) -> Taken {
    let mut whole = begun(outputs, &range, share, is_last);
    let mut cut = Vec::new();
    let mut piece = |output: usize| {
        let all = range(output);
        let (start, end) = (share.start.max(all.start), share.end.min(all.end));
        if start < end {
            cut.push((output, start - all.start..end - all.start));
        }
    };
    if whole.start > 0 {
        piece(whole.start - 1);
    }
    if !whole.is_empty() && range(whole.end - 1).end > share.end {
        whole.end -= 1;
        piece(whole.end);
    }
    Taken { whole, cut }
}

/// The first of so many numbers that a property, which holds up to it, does not hold of.
fn partition_point(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every output is some share's as a whole, or all of its elements are in pieces, once each and in order; where none may be cut, each is some share's.
    #[test]
    fn outputs_are_taken_once_whatever_the_shares() {
        const N: usize = 20;
        for offsets in [
            &[0, 3, 3, 9, 20][..],
            &[2, 5, 5, 5, 19],
            &[0, 0, 0, 5, 5],
            &[0],
            &[0, 0, 0],
            &[0, 20],
            &[20, 20],
            &[0, 0, 20, 20],
            &[4, 4, 20, 20],
            &[0, 1, 2, 3, 4, 5],
        ] {
            let outputs = offsets.len() - 1;
            let range = |output: usize| offsets[output]..offsets[output + 1];
            for of in 1..9 {
                let (mut whole, mut first) = (vec![0; outputs], vec![0; outputs]);
                let mut pieces: Vec<Vec<usize>> = vec![Vec::new(); outputs];
                for number in 0..of {
                    let (share, is_last) =
                        (N * number / of..N * (number + 1) / of, number + 1 == of);
                    begun(outputs, range, &share, is_last).for_each(|output| first[output] += 1);
                    let taken = take(outputs, range, &share, is_last);
                    taken.whole.for_each(|output| whole[output] += 1);
                    for (output, positions) in taken.cut {
                        assert!(!positions.is_empty());
                        pieces[output].extend(positions);
                    }
                }
                assert_eq!(first, vec![1; outputs]);
                for output in 0..outputs {
                    let all: Vec<usize> = (0..range(output).len()).collect();
                    let what = format!("{output} of {offsets:?} by {of}");
                    match whole[output] {
                        1 => assert!(pieces[output].is_empty(), "{what}"),
                        0 => assert_eq!(pieces[output], all, "{what}"),
                        _ => panic!("{what} is whole in several"),
                    }
                }
            }
        }
    }
}
