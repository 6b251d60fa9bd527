//! The tree over words: an operator that says how it was joined, beside a recursion that follows the definition.

use proptest::prelude::*;

use super::*;

/// Writes down who was joined with whom; `>` stands for order and brackets for pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Words;

impl Operator for Words {
    type Leaf = u64;
    type Node = String;

    fn run(&self, leaves: &[u64]) -> String {
        leaves.iter().map(u64::to_string).collect::<Vec<_>>().join(">")
    }

    fn block(&self, runs: &[String]) -> String {
        runs.join(" ")
    }

    fn join(&self, left: &String, right: &String) -> String {
        format!("[{left}|{right}]")
    }
}

/// The result of the leaves of `within` that are in `start..end`, from the definition.
fn defined(within: (u64, u64), start: u64, end: u64) -> Option<String> {
    let (from, to) = (within.0.max(start), within.1.min(end));
    if from >= to {
        return None;
    }
    let size = within.1 - within.0;
    if size == BLOCK {
        let runs = (0..32).map(|k| (within.0 + k * RUN, within.0 + (k + 1) * RUN));
        let runs = runs.filter_map(|(a, b)| {
            let leaves: Vec<u64> = (a.max(start)..b.min(end)).collect();
            (!leaves.is_empty()).then(|| Words.run(&leaves))
        });
        return Some(Words.block(&runs.collect::<Vec<_>>()));
    }
    let middle = within.0 + size / 2;
    match (defined((within.0, middle), start, end), defined((middle, within.1), start, end)) {
        (Some(left), Some(right)) => Some(Words.join(&left, &right)),
        (left, right) => left.or(right),
    }
}

fn leaves(start: u64, end: u64) -> Interval<Words> {
    let mut interval = Interval::new(start);
    (start..end).for_each(|leaf| interval.leaf(Words, leaf));
    interval
}

/// The same leaves from the results of the spans they cover, as kernels have them.
fn spans(start: u64, end: u64) -> Interval<Words> {
    let mut interval = Interval::new(start);
    let mut at = start;
    for level in Interval::<Words>::levels(start, end) {
        match level {
            0 => interval.leaf(Words, at),
            _ => {
                let value = leaves(at, at + size(level)).value(Words);
                interval.node(Words, level, value);
            }
        }
        at += size(level);
    }
    interval
}

const ALL: u64 = 1 << 14;

fn tree(start: u64, cuts: &[u64], order: &[usize]) -> Tree<Words> {
    let mut tree = Tree::new(Words);
    let pieces: Vec<_> = cuts.windows(2).map(|cut| (cut[0], cut[1])).collect();
    assert_eq!(cuts[0], start);
    for &k in order {
        let (from, to) = pieces[k];
        let mut one = Tree::new(Words);
        one.insert(if k % 2 == 0 { leaves(from, to) } else { spans(from, to) });
        tree.merge(&one);
    }
    tree
}

#[test]
fn every_short_length_is_the_defined_tree() {
    let mut interval = Interval::new(0);
    for n in 1..2050 {
        interval.leaf(Words, n - 1);
        assert_eq!(Some(interval.value(Words)), defined((0, ALL), 0, n), "{n}");
        let levels: Vec<u32> = interval.items().iter().map(Item::level).collect();
        assert_eq!(levels, Interval::<Words>::levels(0, n).collect::<Vec<_>>(), "{n}");
    }
}

#[test]
fn gaps_and_overlaps_are_named() {
    let mut tree = Tree::new(Words);
    assert_eq!(tree.root(), Ok(None));
    tree.insert(leaves(5, 9));
    assert_eq!(tree.root(), Err(Incomplete::Missing { first: 0, end: 5 }));
    tree.insert(leaves(0, 2));
    assert_eq!(tree.root(), Err(Incomplete::Missing { first: 2, end: 5 }));
    tree.insert(leaves(2, 5));
    assert_eq!(tree.root(), Ok(Some("0>1>2>3>4>5>6>7>8".into())));
    tree.insert(leaves(7, 12));
    assert_eq!(tree.root(), Err(Incomplete::Twice { first: 7, end: 9 }));
    let mut other = Tree::new(Words);
    other.insert(leaves(20, 30));
    other.insert(leaves(10, 25));
    assert_eq!(other.root(), Err(Incomplete::Twice { first: 20, end: 25 }));
    other.merge(&tree);
    assert_eq!(other.root(), Err(Incomplete::Twice { first: 7, end: 9 }));
}

#[test]
fn the_last_indices_there_are_have_spans_too() {
    let start = u64::MAX - 5000;
    let interval = leaves(start, u64::MAX);
    assert_eq!(interval.end(), u64::MAX);
    assert!(interval.items().len() < 130);
    assert!(interval.value(Words).contains(&format!("{start}>")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cuts_and_order_do_not_show(
        start in prop_oneof![Just(0u64), 0u64..5000],
        mut cuts in prop::collection::vec(0u64..9000, 0..9),
        seed in any::<u64>(),
    ) {
        let end = start + 9000.min(ALL - start);
        cuts.iter_mut().for_each(|cut| *cut = (*cut + start).min(end));
        cuts.extend([start, end]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut order: Vec<usize> = (0..cuts.len() - 1).collect();
        order.sort_by_key(|k| (*k as u64 + 1).wrapping_mul(seed | 1).rotate_left(23));
        let found = tree(start, &cuts, &order);
        prop_assert_eq!(found.intervals().len(), 1);
        let whole = &found.intervals()[0];
        prop_assert_eq!(whole, &leaves(start, end));
        prop_assert_eq!(Some(whole.value(Words)), defined((0, ALL), start, end));
    }
}
