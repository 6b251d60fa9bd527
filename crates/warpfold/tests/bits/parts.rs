//! Axes, segments and keys: columns of results and partials.

use warpfold::partial::Finish;
use warpfold::{
    Columns, Element, Op, OutputShape, Partial, Policy, ReduceBatched, Result, Segments,
    UnderPolicy, View, reduce_axes,
};

use crate::data::{Make, array, of_every_type};
use crate::flat::{finishes, policies};
use crate::ledger::{Ledger, bits, hex};

pub(crate) fn record(ledger: &mut Ledger) {
    of_every_type!(of_type(ledger));
}

/// Columns in bits, or what the error says.
pub(crate) fn text(columns: Result<Columns>) -> String {
    let one = |(name, column): &(&str, warpfold::Column)| {
        let values: Vec<_> = (0..column.len()).map(|k| bits(&column.get(k))).collect();
        format!("{name} {}", values.join(" "))
    };
    match columns {
        Ok(columns) => columns.iter().map(one).collect::<Vec<_>>().join("; "),
        Err(error) => format!("error: {error}"),
    }
}

fn of_type<T: Make>(ledger: &mut Ledger) {
    for kind in [0, 3, 8] {
        // Short rows and long ones; a length that nothing divides.
        for n in [0, 1, 101, 384] {
            let x = array::<T>(kind, n, 3);
            for policy in policies() {
                of_array(ledger, policy, &x, &format!("kind {kind}, {n}, {policy:?}"));
            }
        }
    }
}

fn of_array<T: Make>(ledger: &mut Ledger, policy: Policy, x: &[T], what: &str) {
    let n = x.len() as u64;
    let mut shapes = vec![vec![n, 1], vec![1, n]];
    for width in [3, 32] {
        if n > 0 && n.is_multiple_of(width) {
            shapes.push(vec![n / width, width]);
            shapes.push(vec![width, n / width]);
        }
    }
    for shape in shapes {
        let view = View::new(x, &shape).expect("the shape has as many elements");
        for (view, axis) in [(&view, 0), (&view, 1), (&view.transposed(), 1)] {
            let rows = reduce_axes(view, &[axis]).expect("there is such an axis").policy(policy);
            of_parts(ledger, &rows, &format!("{what}, {:?} over {axis}", view.layout()), |array| {
                array.values
            });
        }
    }
    for every in [1, 3, 16] {
        if n.is_multiple_of(every) {
            let batched = policy.reduce_segments(x, Segments::every(every)).expect("it divides");
            of_parts(ledger, &batched, &format!("{what}, every {every}"), |values| values);
        }
    }
    let mut offsets = vec![0u32];
    while u64::from(offsets[offsets.len() - 1]) < n {
        let length = offsets.len() as u32 * 7919 % 29;
        offsets.push((offsets[offsets.len() - 1] + length).min(n as u32));
    }
    let batched = policy.reduce_segments(x, Segments::offsets(&offsets)).expect("they ascend");
    of_parts(ledger, &batched, &format!("{what}, offsets"), |values| values);
    let near: Vec<i16> = (0..x.len()).map(|k| (k * 7919 % 53) as i16 - 20).collect();
    let batched = policy.group_by(&near, x).expect("a key for each");
    of_parts(ledger, &batched, &format!("{what}, near keys"), |groups| groups.values);
    let far: Vec<u64> = (0..n).map(|k| (k % 13).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let batched = policy.group_by(&far, x).expect("a key for each");
    of_parts(ledger, &batched, &format!("{what}, far keys"), |groups| groups.values);
    let dense: Vec<u32> = (0..x.len()).map(|k| (k * 7919 % 53) as u32).collect();
    let batched = policy.group_dense(&dense, 55, x).expect("a number for each");
    of_parts(ledger, &batched, &format!("{what}, dense keys"), |values| values);
    let sorted: Vec<u8> = (0..x.len()).map(|k| (k / 41) as u8).collect();
    let batched = policy.reduce_by_key(&sorted, x).expect("a key for each");
    of_parts(ledger, &batched, &format!("{what}, sorted keys"), |groups| groups.values);
}

fn of_parts<T: Element, A: OutputShape + Clone>(
    ledger: &mut Ledger,
    batched: &ReduceBatched<'_, T, A>,
    what: &str,
    in_order: impl Fn(A::Of<Partial<T>>) -> Vec<Partial<T>>,
) {
    for &op in Op::ALL {
        if op == Op::Dot {
            continue;
        }
        let group = format!("{op} {}", T::DTYPE);
        for finish in finishes(op).step_by(3) {
            let line = text(batched.columns(op, finish));
            ledger.enter(&group, &format!("{what}, {finish:?}: {line}"));
        }
        if matches!(op, Op::ArgMin | Op::ArgMax) {
            let flat = text(batched.clone().flat_indices().columns(op, Finish::default()));
            ledger.enter(&group, &format!("{what}, flat: {flat}"));
        }
        // Float sums have partials of kilobytes: those of all would take most of the time.
        if what.contains("offsets") {
            let line = match batched.partials(op) {
                Ok(partials) => {
                    let partials = in_order(partials);
                    partials.iter().map(|p| hex(&p.to_bytes())).collect::<Vec<_>>().join(" ")
                }
                Err(error) => format!("error: {error}"),
            };
            ledger.enter(&format!("partials {group}"), &format!("{what}: {line}"));
        }
    }
}
