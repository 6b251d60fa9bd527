//! Maps of rows: the processor's columns, and exact integers.

use warpfold::map::{HostArray, Map, Operand, Reduction};
use warpfold::partial::Finish;
use warpfold::{
    Column, Element, Error, Op, Policy, Result, Segments, Value, bf16, f16, reduce_segments,
};

use super::exact_sum;
use crate::compare::bits;
use crate::data::{Contents, Random, array};
use crate::machine;

/// Rows of x and y, with w one value a column and m one a row.
struct Data<T> {
    x: Vec<T>,
    y: Vec<T>,
    w: Vec<T>,
    m: Vec<T>,
    length: usize,
}

impl<T: Element> Data<T> {
    fn new(kind: Contents, rows: usize, length: usize, random: &mut Random) -> Self {
        let mut of = |n| array(kind, n, random);
        Data { x: of(rows * length), y: of(rows * length), w: of(length), m: of(rows), length }
    }

    fn on_processor(
        &self,
        text: &str,
        keep: Option<&str>,
        op: Op,
    ) -> Result<Vec<(&'static str, Column)>> {
        let reduction: Reduction = format!("{op}({text})").parse()?;
        let names = ["x", "y", "w", "m"].map(|name| (name, T::DTYPE));
        let map = Map::all(&[reduction], keep, &names, Policy::default())?;
        let inputs = [
            HostArray::of(&self.x).into(),
            HostArray::of(&self.y).into(),
            Operand::of_columns(&self.w),
            Operand::of_rows(&self.m),
        ];
        let rows = reduce_segments(&self.x, Segments::every(self.length as u64))?;
        let found = rows.mapped(&map, &inputs, Finish::default())?;
        Ok(found.into_iter().next().unwrap().1)
    }

    /// Compares reductions, and says how many of them took a kernel of rows.
    fn compare(&self, text: &str, keep: Option<&str>, ops: &[Op]) -> usize {
        let Some(machine) = machine(2, 3) else { return ops.len() };
        let [x, y, w, m] = [&self.x, &self.y, &self.w, &self.m].map(|x| machine.upload(x).unwrap());
        let mut by_kernel = 0;
        for &op in ops {
            let here = self.on_processor(text, keep, op);
            let mut map = machine.map(text, [("x", &x), ("y", &y), ("w", &w), ("m", &m)]);
            if let Some(keep) = keep {
                map = map.where_(keep);
            }
            let there = map.rows(self.length as u64).per_column("w").per_row("m");
            by_kernel += usize::from(matches!(there.launch(op, 0), Ok(Some(_))));
            let there = there.columns(op, Finish::default());
            assert!(
                same(&there, &here),
                "{op} of `{text}` where {keep:?}, rows of {} {}: {there:?}, and here {here:?}",
                self.length,
                T::DTYPE
            );
        }
        by_kernel
    }
}

pub(super) type Columns = Vec<(&'static str, Column)>;

pub(super) fn same(a: &Result<Columns>, b: &Result<Columns>) -> bool {
    let values = |columns: &Columns| -> Vec<(&'static str, Vec<Vec<u64>>)> {
        let column = |column: &Column| (0..column.len()).map(|k| bits(&column.get(k))).collect();
        columns.iter().map(|(name, values)| (*name, column(values))).collect()
    };
    match (a, b) {
        (Ok(a), Ok(b)) => values(a) == values(b),
        (Err(a), Err(b)) => a == b,
        _ => false,
    }
}

const SUMS: &[Op] = &[Op::Sum, Op::Mean];
pub(super) const KERNELS: &[Op] =
    &[Op::Sum, Op::Mean, Op::Var, Op::Std, Op::L1, Op::L2, Op::Sumsq, Op::Min, Op::Max, Op::Linf];

fn floats<T: Element>() {
    let mut random = Random(41);
    for (rows, length) in [(3, 1), (5, 7), (3, 8), (2, 33), (9, 64), (3, 100), (2, 1024), (2, 1003)]
    {
        let data = Data::<T>::new(Contents::Plain, rows, length, &mut random);
        assert_eq!(data.compare("x - y", None, KERNELS), KERNELS.len());
        data.compare("x * x", None, SUMS);
        data.compare("x * w", None, SUMS);
        data.compare("(x * w)**2", None, SUMS);
        data.compare("exp(x - m)", None, &[Op::Sum, Op::Max]);
        data.compare("x + w", Some("x > m"), &[Op::Sum, Op::L2, Op::Mean]);
    }
    for kind in
        [Contents::Specials, Contents::Ties, Contents::Zeros, Contents::Wide, Contents::Lowest]
    {
        for (rows, length) in [(4, 12), (3, 130)] {
            let data = Data::<T>::new(kind, rows, length, &mut random);
            data.compare("x + w - m", None, KERNELS);
            data.compare("x * w", None, SUMS);
            data.compare("x", Some("y > 0"), &[Op::Sum, Op::Max, Op::Count]);
        }
    }
}

#[test]
fn rows_of_floats_have_the_bits_of_the_processor() {
    floats::<f32>();
    floats::<f64>();
    // Long enough for several warps a row.
    let data = Data::<f32>::new(Contents::Plain, 2, 4099, &mut Random(47));
    assert_eq!(data.compare("x - y", None, KERNELS), KERNELS.len());
    data.compare("x * w", None, SUMS);
}

#[test]
fn rows_of_narrow_floats_have_the_bits_of_the_processor() {
    floats::<bf16>();
    floats::<f16>();
}

#[test]
fn rows_that_have_no_kernel_are_reduced_one_by_one() {
    let mut random = Random(43);
    if machine(2, 1).is_none() {
        return;
    }
    let data = Data::<f32>::new(Contents::Plain, 3, 40, &mut random);
    let ops = [Op::ArgMin, Op::ArgMax, Op::Count, Op::MinMax, Op::Prod];
    assert_eq!(data.compare("x - y", None, &ops), 0);
    let data = Data::<i32>::new(Contents::Ties, 3, 40, &mut random);
    assert_eq!(data.compare("x + w", None, &[Op::Sum, Op::Max, Op::Var, Op::L1]), 0);
    // More inputs than registers are loaded ahead for.
    let data = Data::<f64>::new(Contents::Plain, 3, 300, &mut random);
    data.compare("x + y + w + m", None, &[Op::Sum, Op::Var, Op::Max]);
    // Nothing, and rows of nothing.
    for (rows, length) in [(0, 4), (0, 1)] {
        let data = Data::<f32>::new(Contents::Plain, rows, length, &mut random);
        data.compare("x + w", None, &[Op::Sum, Op::Mean, Op::ArgMax]);
    }
}

/// Sums of squares of bf16, whose exact sum an f64 holds, so that it is rounded once.
#[test]
fn sums_of_rows_are_those_of_exact_integers() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(47);
    for (rows, length) in [(4, 64), (3, 1024), (2, 1030)] {
        let x = array::<bf16>(Contents::Plain, rows * length, &mut random);
        let w = array::<bf16>(Contents::Plain, length, &mut random);
        let (on, weights) = (machine.upload(&x).unwrap(), machine.upload(&w).unwrap());
        let map = machine.map("x * w", [("x", &on), ("w", &weights)]);
        let found = map.rows(length as u64).per_column("w").sum().unwrap();
        for (row, x) in x.chunks(length).enumerate() {
            let products = x.iter().zip(&w).map(|(x, w)| x.to_f64() * w.to_f64());
            let sum: f64 = exact_sum(products);
            assert_eq!(found.get(row), Value::F32(sum as f32), "row {row} of {length}");
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[1i64, 2, 3, i64::MAX, 5, 6]).unwrap();
    let w = machine.upload(&[1i64, 2, 3]).unwrap();
    let map = || machine.map("x + w", [("x", &x), ("w", &w)]);
    let error = |result: Result<Column>| result.unwrap_err().to_string();
    assert!(error(map().rows(3).sum()).contains("x has 6 elements and w has 3"));
    assert!(error(map().rows(4).per_column("w").sum()).contains("does not divide"));
    assert!(error(map().rows(2).per_column("w").sum()).contains("there are 2 columns"));
    assert!(error(map().rows(3).per_row("w").sum()).contains("there are 2 rows"));
    let overflow = map().rows(3).per_column("w").sum();
    assert!(matches!(&overflow, Err(Error::Output { .. })), "{overflow:?}");
    assert!(error(overflow).contains("index 0"));
    let all = machine.map("x", [("x", &x)]).rows(3).per_row("x").sum();
    assert!(error(all).contains("no input has a value for each element"));
    // An integer operation without a value, in a kernel of rows.
    let found = machine.map("f32(x + w)", [("x", &x), ("w", &w)]).rows(3).per_column("w").sum();
    assert!(error(found).contains("`x + w` at index 0"));
}
