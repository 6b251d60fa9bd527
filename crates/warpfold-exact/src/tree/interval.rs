//! Consecutive leaves, and the results of the aligned spans that they cover.

use super::Operator;
use super::spans::{BLOCK, BLOCK_LEVEL, RUN, RUN_LEVEL, largest, size};

/// A part of an interval.
#[derive(Debug, Clone)]
pub enum Item<O: Operator> {
    /// A leaf of a run that is not complete.
    Leaf(O::Leaf),
    /// The result of an aligned span of a level from 1, that of runs, on.
    Node(u32, O::Node),
}

impl<O: Operator> PartialEq for Item<O> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Item::Leaf(a), Item::Leaf(b)) => O::is_same(a, b),
            (Item::Node(a, one), Item::Node(b, other)) => a == b && one == other,
            _ => false,
        }
    }
}

impl<O: Operator> Item<O> {
    /// The level of the span: 0 for a leaf.
    pub fn level(&self) -> u32 {
        match self {
            Item::Leaf(_) => 0,
            Item::Node(level, _) => *level,
        }
    }
}

/// The leaves from a start to an end.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval<O: Operator> {
    start: u64,
    end: u64,
    /// The largest aligned spans of these leaves, in order.
    items: Vec<Item<O>>,
}

impl<O: Operator> Interval<O> {
    /// No leaf yet; the first will be this one.
    pub fn new(start: u64) -> Self {
        Interval { start, end: start, items: Vec::new() }
    }

    /// The first leaf.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The end of the leaves.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The parts, in order.
    pub fn items(&self) -> &[Item<O>] {
        &self.items
    }

    /// The levels of the parts that leaves from `start` to `end` have.
    pub fn levels(start: u64, end: u64) -> impl Iterator<Item = u32> {
        let mut next = start;
        std::iter::from_fn(move || {
            let level = (next < end).then(|| largest(next, end))?;
            next += size(level);
            Some(level)
        })
    }

    /// Adds the next leaf.
    pub fn leaf(&mut self, operator: O, leaf: O::Leaf) {
        self.push(operator, Item::Leaf(leaf));
    }

    /// Adds the result of the next leaves: an aligned span of a level.
    pub fn node(&mut self, operator: O, level: u32, node: O::Node) {
        debug_assert!(level > 0 && self.end.is_multiple_of(size(level)), "a span is aligned");
        self.push(operator, Item::Node(level, node));
    }

    /// Adds all leaves of the interval that begins where this one ends.
    pub(super) fn append(&mut self, operator: O, other: Self) {
        debug_assert_eq!(self.end, other.start, "neighbours touch");
        other.items.into_iter().for_each(|item| self.push(operator, item));
    }

    /// Adds a part as it was saved.
    pub(crate) fn push(&mut self, operator: O, item: Item<O>) {
        let is_leaf = item.level() == 0;
        self.end += size(item.level());
        self.items.push(item);
        if is_leaf && self.completes(RUN) {
            let leaves = self.take(RUN as usize, |item| match item {
                Item::Leaf(leaf) => leaf,
                Item::Node(..) => unreachable!("what is no complete run is leaves"),
            });
            self.items.push(Item::Node(RUN_LEVEL, operator.run(&leaves)));
        }
        if self.level() == RUN_LEVEL && self.completes(BLOCK) {
            let runs = self.take((BLOCK / RUN) as usize, node);
            self.items.push(Item::Node(BLOCK_LEVEL, operator.block(&runs)));
        }
        while let [.., Item::Node(left, a), Item::Node(level, b)] = &self.items[..]
            && left == level
            && *level >= BLOCK_LEVEL
            && self.completes(size(level + 1))
        {
            let both = Item::Node(level + 1, operator.join(a, b));
            self.items.truncate(self.items.len() - 2);
            self.items.push(both);
        }
    }

    /// Whether an aligned span of so many leaves ends here and is within.
    fn completes(&self, leaves: u64) -> bool {
        self.end.is_multiple_of(leaves) && self.end - self.start >= leaves
    }

    /// The level of the last part.
    fn level(&self) -> u32 {
        self.items.last().map_or(0, Item::level)
    }

    /// Takes the last parts away.
    fn take<T>(&mut self, count: usize, part: impl Fn(Item<O>) -> T) -> Vec<T> {
        self.items.drain(self.items.len() - count..).map(part).collect()
    }

    /// The result of these leaves alone, along the tree: what is not there is not joined.
    pub fn value(&self, operator: O) -> O::Node {
        // Runs that are not complete, then blocks, then larger and larger spans, until one has all.
        let mut spans: Vec<(u64, u32, O::Node)> = Vec::new();
        let (mut leaves, mut runs) = (Vec::new(), Vec::new());
        let mut at = self.start;
        for item in &self.items {
            match item {
                Item::Leaf(leaf) => leaves.push(*leaf),
                Item::Node(RUN_LEVEL, run) => runs.push(run.clone()),
                Item::Node(level, span) => spans.push((at / size(*level), *level, span.clone())),
            }
            at += size(item.level());
            if !leaves.is_empty() && (at.is_multiple_of(RUN) || at == self.end) {
                runs.push(operator.run(&leaves));
                leaves.clear();
            }
            if !runs.is_empty() && (at.is_multiple_of(BLOCK) || at == self.end) {
                spans.push(((at - 1) / BLOCK, BLOCK_LEVEL, operator.block(&runs)));
                runs.clear();
            }
        }
        let mut level = BLOCK_LEVEL;
        while spans.len() > 1 {
            let mut next: Vec<(u64, u32, O::Node)> = Vec::with_capacity(spans.len());
            for (number, of, span) in spans {
                match next.last_mut() {
                    _ if of > level => next.push((number, of, span)),
                    Some((last, above, left)) if (*last, *above) == (number / 2, level + 1) => {
                        *left = operator.join(left, &span);
                    }
                    _ => next.push((number / 2, level + 1, span)),
                }
            }
            (spans, level) = (next, level + 1);
        }
        spans.pop().map(|(_, _, span)| span).expect("an interval has leaves")
    }
}

fn node<O: Operator>(item: Item<O>) -> O::Node {
    match item {
        Item::Node(_, node) => node,
        Item::Leaf(_) => unreachable!("what is no complete block is runs"),
    }
}
