//! How the intervals of a tree of products are saved.

use super::product::{complex, read_real, write_complex, write_real};
use super::words::{Reader, Refused, Writer};
use crate::element::{DType, Element, Nearest};
use crate::partial::product::{Complexes, Reals};
use crate::partial::{ComplexProduct, RealProduct};
use crate::tree::{Interval, Item, Operator, Tree};

/// Leaves and nodes as words.
pub(super) trait SavedOperator: Operator {
    fn write_leaf(out: &mut Writer, leaf: &Self::Leaf);
    fn write_node(out: &mut Writer, node: &Self::Node);
    /// A leaf whose parts have a type.
    fn read_leaf(input: &mut Reader<'_>, part: DType) -> Refused<Self::Leaf>;
    fn read_node(input: &mut Reader<'_>) -> Refused<Self::Node>;
}

impl SavedOperator for Reals {
    fn write_leaf(out: &mut Writer, leaf: &f64) {
        out.word(leaf.to_bits());
    }

    fn write_node(out: &mut Writer, node: &RealProduct) {
        write_real(out, node);
    }

    fn read_leaf(input: &mut Reader<'_>, part: DType) -> Refused<f64> {
        element(input.word()?, part)
    }

    fn read_node(input: &mut Reader<'_>) -> Refused<RealProduct> {
        read_real(input)
    }
}

impl SavedOperator for Complexes {
    fn write_leaf(out: &mut Writer, leaf: &[f64; 2]) {
        leaf.iter().for_each(|part| out.word(part.to_bits()));
    }

    fn write_node(out: &mut Writer, node: &ComplexProduct) {
        write_complex(out, node);
    }

    fn read_leaf(input: &mut Reader<'_>, part: DType) -> Refused<[f64; 2]> {
        Ok([element(input.word()?, part)?, element(input.word()?, part)?])
    }

    fn read_node(input: &mut Reader<'_>) -> Refused<ComplexProduct> {
        complex(input)
    }
}

/// A number of f64 that is one of a narrower type too.
fn element(bits: u64, dtype: DType) -> Refused<f64> {
    let x = f64::from_bits(bits);
    // Digits, the exponent of the smallest subnormal, and that of the largest number.
    let (digits, least, most) = match dtype {
        DType::F16 => (11, -24, 15),
        DType::BF16 => (8, -133, 127),
        DType::F32 => (24, -149, 127),
        _ => (53, -1074, 1023),
    };
    let is_element = if x.is_nan() {
        bits == <f64 as Nearest>::NAN.to_bits()
    } else if x == 0.0 || x.is_infinite() || dtype == DType::F64 {
        true
    } else {
        let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
        let last = exponent - 52 + (bits & ((1 << 52) - 1) | 1 << 52).trailing_zeros() as i32;
        exponent <= most && last >= least.max(exponent - digits + 1)
    };
    match is_element {
        true => Ok(x),
        false => Err(format!("a value is no {dtype}")),
    }
}

pub(super) fn write_tree<O: SavedOperator>(out: &mut Writer, tree: &Tree<O>) {
    let (first, end) = tree.twice().unwrap_or((0, 0));
    for word in [first, end, tree.intervals().len() as u64] {
        out.word(word);
    }
    for interval in tree.intervals() {
        out.word(interval.start());
        out.word(interval.end());
        for item in interval.items() {
            match item {
                Item::Leaf(leaf) => O::write_leaf(out, leaf),
                Item::Node(_, node) => O::write_node(out, node),
            }
        }
    }
}

/// A tree of elements with parts of a type.
pub(super) fn read_tree<P: Element, O: SavedOperator>(
    input: &mut Reader<'_>,
    operator: O,
) -> Refused<Tree<O>> {
    let (first, end, count) = (input.word()?, input.word()?, input.word()?);
    let mut intervals = Vec::new();
    for _ in 0..count {
        let (start, end) = (input.word()?, input.word()?);
        if start >= end {
            return Err("an interval has no elements".into());
        }
        let mut interval = Interval::new(start);
        for level in Interval::<O>::levels(start, end) {
            interval.push(
                operator,
                match level {
                    0 => Item::Leaf(O::read_leaf(input, P::DTYPE)?),
                    _ => Item::Node(level, O::read_node(input)?),
                },
            );
        }
        intervals.push(interval);
    }
    let twice = (first, end) != (0, 0);
    Tree::of_parts(operator, intervals, twice.then_some((first, end)))
        .ok_or_else(|| "intervals are not ascending with gaps between them".into())
}
