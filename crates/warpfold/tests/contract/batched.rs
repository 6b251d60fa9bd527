//! Reductions that are one of many, held to the contract as if each were alone: the array under test is a segment, a row, a column or a group
//! among others.

use warpfold::partial::{Finish, Output, Partial};
use warpfold::plan::Isa;
use warpfold::{
    Columns, Element, Error, Nan, Op, Result, Segments, View, f16, group_by, group_dense,
    reduce_axes, reduce_by_key, reduce_segments,
};

use crate::backend::{Ask, Backend};
use crate::oracle::expected;
use crate::sample::{Sample, Words};

/// What the array under test is.
#[derive(Debug, Clone, Copy)]
enum Among {
    /// A segment by offsets.
    Segments,
    /// A segment of as many elements as all.
    Every,
    /// A row of a matrix in C order.
    Rows,
    /// A column of one.
    Columns,
    /// The middle axis of three.
    Middle,
    /// Two axes, with one that is kept between them.
    Outer,
    /// Every other element, backwards.
    Scattered,
    /// A run of equal keys.
    Runs,
    /// Elements of equal keys among others.
    Groups,
    /// The same with keys that are numbers.
    Dense,
}

/// How many others there are: more than lanes, and a few where inputs are long.
fn others(n: usize) -> usize {
    if n < 100 { 36 } else { 4 }
}

/// An element of another input: ones, zeros, and where that may be, NaN, which are none of the tested array's business.
fn other<T: Element>(k: usize, nan: Nan) -> T {
    use warpfold::DType::{BF16, F16, F32, F64};
    let (one, not_a_number) = match T::Component::DTYPE {
        F16 => (0x3c00u64, 0xfe01),
        BF16 => (0x3f80, 0xffc1),
        F32 => (0x3f80_0000, 0xffc0_0001),
        F64 => (0x3ff0_0000_0000_0000, 0xfff8_0000_0000_0001),
        _ => (1, 1),
    };
    let word = match (k % 3, k % 7) {
        (_, 5) if nan == Nan::Propagate => not_a_number,
        (0, _) => 0,
        _ => one,
    };
    let mut bytes = [0; 16];
    bytes[..size_of::<T::Component>()]
        .copy_from_slice(&word.to_le_bytes()[..size_of::<T::Component>()]);
    bytemuck::checked::pod_read_unaligned(&bytes[..size_of::<T>()])
}

impl Among {
    /// What was asked of every input, and which output is that of the tested one.
    fn ask<T: Element>(self, ask: Ask, x: &[T]) -> Result<(Columns, usize)> {
        let (n, nan) = (x.len(), ask.policy.nan);
        let mut policy = ask.policy;
        // Each instruction set in turn.
        policy.isa = Some([Isa::Baseline, Isa::Avx2, Isa::Avx512][n % 3]);
        let count = others(n) + 1;
        let at = (n * 7 + ask.op as usize) % count;
        let element = |input: usize, k: usize| if input == at { x[k] } else { other(k + 1, nan) };
        let columns = match self {
            Among::Segments | Among::Runs => {
                // Others of many lengths: those without a value for an empty input have some elements.
                let length = |input: usize| if input == at { n } else { 4 + input * input % 23 };
                let mut offsets = vec![0u32];
                let (mut all, mut keys) = (Vec::new(), Vec::new());
                for input in 0..count {
                    all.extend((0..length(input)).map(|k| element(input, k)));
                    keys.extend((0..length(input)).map(|_| input as i16 % 2 - 7));
                    offsets.push(all.len() as u32);
                }
                match self {
                    Among::Runs if n > 0 => {
                        let many = reduce_by_key(&keys, &all)?.policy(policy);
                        return Ok((many.columns(ask.op, ask.finish)?, at));
                    }
                    _ => reduce_segments(&all, Segments::offsets(&offsets))?
                        .policy(policy)
                        .columns(ask.op, ask.finish)?,
                }
            }
            Among::Rows => {
                let all: Vec<T> =
                    (0..count).flat_map(|i| (0..n).map(move |k| element(i, k))).collect();
                let view = View::new(&all, &[count as u64, n as u64])?;
                reduce_axes(&view, &[-1])?.policy(policy).columns(ask.op, ask.finish)?
            }
            Among::Every if n == 0 => return Among::Segments.ask(ask, x),
            Among::Every => {
                let all: Vec<T> =
                    (0..count).flat_map(|i| (0..n).map(move |k| element(i, k))).collect();
                reduce_segments(&all, Segments::every(n as u64))?
                    .policy(policy)
                    .columns(ask.op, ask.finish)?
            }
            Among::Columns => {
                let all: Vec<T> =
                    (0..n).flat_map(|k| (0..count).map(move |i| element(i, k))).collect();
                let view = View::new(&all, &[n as u64, count as u64])?;
                reduce_axes(&view, &[0])?.policy(policy).columns(ask.op, ask.finish)?
            }
            Among::Middle => {
                let all: Vec<T> = (0..2)
                    .flat_map(|o| (0..n).map(move |k| (o, k)))
                    .flat_map(|(o, k)| (0..count).map(move |i| (o, k, i)))
                    .map(|(o, k, i)| if o == 1 { element(i, k) } else { other(k + i, nan) })
                    .collect();
                let view = View::new(&all, &[2, n as u64, count as u64])?;
                let columns =
                    reduce_axes(&view, &[1])?.policy(policy).columns(ask.op, ask.finish)?;
                return Ok((columns, count + at));
            }
            Among::Outer => {
                // Rows of five of each input in turn: the first and last of three axes are folded.
                let whole = n / 5 * 5;
                if whole != n || n == 0 {
                    return Among::Rows.ask(ask, x);
                }
                let all: Vec<T> = (0..n / 5)
                    .flat_map(|r| (0..count).map(move |i| (r, i)))
                    .flat_map(|(r, i)| (0..5).map(move |k| element(i, r * 5 + k)))
                    .collect();
                let view = View::new(&all, &[n as u64 / 5, count as u64, 5])?;
                reduce_axes(&view, &[0, 2])?.policy(policy).columns(ask.op, ask.finish)?
            }
            Among::Scattered => {
                let mut all = vec![other::<T>(5, nan); 2 * n * count + 1];
                for i in 0..count {
                    for k in 0..n {
                        all[2 * (count * n - 1 - (i * n + k)) + 1] = element(i, k);
                    }
                }
                let (rows, n) = (count as u64, n as u64);
                let strides = [-2 * n as i64, -2];
                let start = if n == 0 { 0 } else { 2 * (rows * n - 1) + 1 };
                let view = View::strided(&all, &[rows, n], &strides, start)?;
                reduce_axes(&view, &[1])?.policy(policy).columns(ask.op, ask.finish)?
            }
            Among::Groups | Among::Dense => {
                let (mut all, mut keys) = (Vec::new(), Vec::new());
                for k in 0..n.max(4) {
                    for input in (0..count).filter(|&input| input != at || k < n) {
                        all.push(element(input, k));
                        keys.push(input as u16);
                    }
                }
                let dense = matches!(self, Among::Dense);
                if n > 0 && !dense {
                    let keys: Vec<i32> =
                        keys.iter().map(|&key| 1000 * (18 - i32::from(key))).collect();
                    let many = group_by(&keys, &all)?.policy(policy);
                    return Ok((many.columns(ask.op, ask.finish)?, count - 1 - at));
                }
                group_dense(&keys, count as u64, &all)?
                    .policy(policy)
                    .columns(ask.op, ask.finish)?
            }
        };
        Ok((columns, at))
    }
}

impl Backend for Among {
    fn ops(&self) -> &[Op] {
        use Op::*;
        &[
            Sum, Mean, Var, Std, L1, L2, Linf, Prod, Min, Max, MinMax, ArgMin, ArgMax, Any, All,
            Count,
        ]
    }

    fn reduce<T: Element>(&self, ask: Ask, x: &[T], _: &[T]) -> Result<Output> {
        let mut ask = ask;
        ask.policy.overflow = ask.finish.overflow;
        let (columns, at) = self.ask(ask, x).map_err(|error| match error {
            Error::Output { error, .. } => *error,
            other => other,
        })?;
        match &columns[..] {
            [(_, column)] => Ok(Output::One(column.get(at))),
            [(_, least), (_, greatest)] => Ok(Output::Pair(least.get(at), greatest.get(at))),
            other => panic!("{} has {} columns", ask.op, other.len()),
        }
    }

    fn partial<T: Element>(&self, _: Ask, _: &[T], _: &[T]) -> Result<Partial<T>> {
        unreachable!("no test here asks for one")
    }

    fn stream<T: Element>(&self, ask: Ask, x: &[T], y: &[T], _: &[usize]) -> Result<Output> {
        self.reduce(ask, x, y)
    }
}

/// The first of equal elements, and zeros of both signs, at lengths about those of lanes and tiles.
fn ties_and_zeros(among: &Among) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(11);
        for n in [1, 2, 15, 16, 17, 40, 129, 4095, 4097] {
            // Few values, so that each stands often.
            let x: Vec<T> =
                (0..n).map(|_| T::near([-1.0, -0.0, 0.0, 1.0][words.index(4)])).collect();
            for op in [Op::Min, Op::Max, Op::MinMax, Op::ArgMin, Op::ArgMax] {
                let answer = backend.reduce(Ask::new(op), &x, &[]);
                let expected = expected(op, Nan::Propagate, &x, &[], Finish::default());
                expected.check(&answer).unwrap_or_else(|why| panic!("{op} of {n}: {why}"));
            }
        }
    }
    body::<bool, _>(among);
    body::<i8, _>(among);
    body::<u16, _>(among);
    body::<f16, _>(among);
    body::<f32, _>(among);
    body::<f64, _>(among);
    body::<u64, _>(among);
}

macro_rules! on_every_arrangement {
    ($($name:ident $among:ident;)+) => {$(
        mod $name {
            use super::Among::$among;

            #[test]
            fn arbitrary_integers() {
                crate::patterns::booleans(&$among);
                crate::patterns::bytes(&$among);
                crate::patterns::words(&$among);
                crate::patterns::double_words(&$among);
            }

            #[test]
            fn arbitrary_floats() {
                crate::patterns::half_floats(&$among);
                crate::patterns::brain_floats(&$among);
                crate::patterns::floats(&$among);
                crate::patterns::doubles(&$among);
            }

            #[test]
            fn arbitrary_complex_numbers() {
                crate::patterns::complex_floats(&$among);
                crate::patterns::complex_doubles(&$among);
            }

            #[test]
            fn ties_and_zeros() {
                super::ties_and_zeros(&$among);
            }
        }
    )+};
}
on_every_arrangement! {
    segments Segments;
    every Every;
    rows Rows;
    columns Columns;
    middle Middle;
    outer Outer;
    scattered Scattered;
    runs Runs;
    groups Groups;
    dense Dense;
}
