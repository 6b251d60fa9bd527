//! Results of outputs that one rank has as a whole, gathered from all.

use warpfold::partial::Output;
use warpfold::{Column, Complex, Op, Value, bf16, f16};
use warpfold_dist::{Agreement, Comm, Error, exchange};

use super::Columns;
use crate::table::{Cells, Printed};

/// An output that has no result, and why, in words. Of several, the least is told: the first in the order in which one process reads them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Missing {
    /// Which of the columns of stats; else 0.
    pub(super) column: u64,
    pub(super) output: u64,
    pub(super) why: String,
}

/// Which outputs of all: those with an index in a range along one axis, of `outer` before it and `inner` behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slab {
    pub(super) outer: usize,
    pub(super) length: usize,
    pub(super) inner: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Slab {
    /// Outputs one after another.
    pub(super) fn run(outputs: usize, from: usize, to: usize) -> Slab {
        Slab { outer: 1, length: outputs, inner: 1, from, to }
    }

    /// The number among all outputs of the slab's own output of a number.
    pub(super) fn output(&self, own: usize) -> usize {
        let depth = (self.to - self.from) * self.inner;
        let (outer, rest) = (own / depth.max(1), own % depth.max(1));
        outer * self.length * self.inner + self.from * self.inner + rest
    }

    fn outputs(&self) -> usize {
        self.outer * (self.to - self.from) * self.inner
    }
}

/// A result; none where there is none, and that is no error.
pub(super) type Cell = Option<Value>;

/// Columns of results that are filled in any order.
pub(super) struct Filled {
    outputs: usize,
    columns: Vec<(&'static str, Vec<Option<Cell>>)>,
}

impl Filled {
    pub(super) fn new(outputs: usize) -> Filled {
        Filled { outputs, columns: Vec::new() }
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Fills in a cell; what was there.
    pub(super) fn set(&mut self, name: &'static str, output: usize, cell: Cell) -> Option<Cell> {
        let at = self.columns.iter().position(|(other, _)| *other == name);
        let at = at.unwrap_or_else(|| {
            self.columns.push((name, vec![None; self.outputs]));
            self.columns.len() - 1
        });
        self.columns[at].1[output].replace(cell)
    }

    /// Fills in the results of an output of a reduction.
    pub(super) fn set_all(&mut self, op: Op, output: usize, found: Option<Output>) {
        match (op, found) {
            (_, Some(Output::One(value))) => drop(self.set(op.name(), output, Some(value))),
            (_, Some(Output::Pair(min, max))) => {
                self.set("min", output, Some(min));
                self.set("max", output, Some(max));
            }
            (Op::MinMax, None) => {
                self.set("min", output, None);
                self.set("max", output, None);
            }
            (_, None) => drop(self.set(op.name(), output, None)),
            (_, Some(Output::Summary(_))) => {
                unreachable!("stats are read by whoever has the whole output")
            }
        }
    }

    /// Has the indices of extremes be others, by their outputs.
    pub(super) fn reindex(&mut self, mut index: impl FnMut(u64, u64) -> u64) {
        let of_indices = |(name, _): &&mut (&str, _)| matches!(*name, "argmin" | "argmax");
        for (_, cells) in self.columns.iter_mut().filter(of_indices) {
            for (output, cell) in (0..).zip(cells) {
                if let Some(Some(Value::U64(at))) = cell {
                    *at = index(output, *at);
                }
            }
        }
    }

    /// The columns, all of whose cells are there or are to be empty.
    ///
    /// # Errors
    /// An output that no rank has handed over.
    pub(super) fn columns(self) -> Result<Columns, Error> {
        let column = |cells: Vec<Option<Cell>>| {
            let gap = cells.iter().position(Option::is_none);
            let cells: Option<Vec<Cell>> = cells.into_iter().collect();
            cells.map(table_cells).ok_or_else(|| Error::Contribution {
                rank: 0,
                why: format!(
                    "its results and those of the other ranks leave out output {}",
                    gap.unwrap_or(0)
                ),
            })
        };
        self.columns.into_iter().map(|(name, cells)| Ok((name, column(cells)?))).collect()
    }
}

/// Results as a column of the table.
fn table_cells(cells: Vec<Cell>) -> Cells {
    match cells.iter().copied().collect::<Option<Vec<Value>>>() {
        Some(values) => Cells::Numbers(Column::of_values(values)),
        None => Cells::Printed(cells.into_iter().map(|cell| cell.map(Printed::from)).collect()),
    }
}

/// Bytes of a result: a code of its type, and sixteen.
const CELL: usize = 17;
/// The code of one that is none.
const NONE: u8 = 255;

macro_rules! cells {
    ($($code:literal $variant:ident $ty:ty;)+) => {
        fn write(cell: Cell, out: &mut Vec<u8>) {
            let end = out.len() + CELL;
            match cell {
                $(Some(Value::$variant(value)) => {
                    out.push($code);
                    out.extend_from_slice(bytemuck::bytes_of(&value));
                })+
                None => out.push(NONE),
            }
            out.resize(end, 0);
        }

        fn read(cell: &[u8; CELL]) -> Option<Cell> {
            match cell[0] {
                $($code => bytemuck::checked::try_pod_read_unaligned::<$ty>(&cell[1..1 + size_of::<$ty>()]).ok().map(|value| Some(Value::$variant(value))),)+
                NONE => Some(None),
                _ => None,
            }
        }
    };
}
cells! {
    0 Bool bool;
    1 I8 i8;
    2 I16 i16;
    3 I32 i32;
    4 I64 i64;
    5 I128 i128;
    6 U8 u8;
    7 U16 u16;
    8 U32 u32;
    9 U64 u64;
    10 U128 u128;
    11 F16 f16;
    12 BF16 bf16;
    13 F32 f32;
    14 F64 f64;
    15 ComplexF16 Complex<f16>;
    16 ComplexBF16 Complex<bf16>;
    17 Complex64 Complex<f32>;
    18 Complex128 Complex<f64>;
}

/// Words before what a rank hands over: where its slab begins and ends, how many columns it has, the column and the output that has no result, both
/// counted from 1, or 0.
const HEAD: usize = 5;

/// Gathers what each rank has: where it belongs, and its columns, one after another; or the first of its outputs that has no result. If any has none,
/// nothing is filled in.
///
/// # Errors
/// As [`exchange`], and [`Error::Contribution`] for what is no slab of the outputs, or overlaps another.
pub(super) fn gather(
    comm: &dyn Comm,
    agreement: &Agreement,
    outputs: usize,
    slab: &Slab,
    mine: Result<&[(&'static str, Vec<Cell>)], &Missing>,
) -> Result<(Filled, Option<Missing>), Error> {
    let columns = mine.unwrap_or_default();
    let missing_at = mine.err().map_or([0; 2], |missing| [missing.column + 1, missing.output + 1]);
    let head =
        [slab.from as u64, slab.to as u64, columns.len() as u64, missing_at[0], missing_at[1]];
    let mut bytes = head.map(u64::to_le_bytes).concat();
    for (_, cells) in columns {
        cells.iter().for_each(|cell| write(*cell, &mut bytes));
    }
    if let Err(missing) = mine {
        bytes.extend_from_slice(missing.why.as_bytes());
    }
    let all = exchange(comm, agreement.text(), Ok(&bytes))?;
    let refused = |rank: usize| {
        let why = "its results are not those of its share".into();
        Error::Contribution { rank, why }
    };
    let mut heads = Vec::with_capacity(all.len());
    let mut first: Option<Missing> = None;
    for (rank, bytes) in all.iter().enumerate() {
        let (head, rest) = bytes.split_first_chunk::<{ 8 * HEAD }>().ok_or(refused(rank))?;
        let word = |at: usize| {
            u64::from_le_bytes(*head[8 * at..].first_chunk().unwrap_or_else(|| unreachable!()))
        };
        let head: [u64; HEAD] = std::array::from_fn(word);
        if let [.., column, output] = head
            && column.min(output) > 0
        {
            let why = std::str::from_utf8(rest).map_err(|_| refused(rank))?.to_string();
            let missing = Missing { column: column - 1, output: output - 1, why };
            if output > outputs as u64 {
                return Err(refused(rank));
            }
            first = first.into_iter().chain([missing]).min();
        }
        heads.push((head, rest));
    }
    let mut filled = Filled::new(outputs);
    if first.is_some() {
        return Ok((filled, first));
    }
    for (rank, ([from, to, count, ..], rest)) in heads.into_iter().enumerate() {
        let (from, to) = (from as usize, to as usize);
        let (cells, more) = rest.as_chunks::<CELL>();
        if from > to || to > slab.length || !more.is_empty() || count != columns.len() as u64 {
            return Err(refused(rank));
        }
        let own = Slab { from, to, ..*slab };
        if cells.len() != own.outputs() * columns.len() {
            return Err(refused(rank));
        }
        for (k, cell) in cells.iter().enumerate() {
            let (column, at) = (k / own.outputs(), k % own.outputs());
            let cell = read(cell).ok_or(refused(rank))?;
            if filled.set(columns[column].0, own.output(at), cell).is_some() {
                return Err(refused(rank));
            }
        }
    }
    Ok((filled, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_written() {
        for value in [
            Value::Bool(true),
            Value::I8(-3),
            Value::U64(u64::MAX),
            Value::F32(-0.0),
            Value::F64(f64::MIN_POSITIVE),
            Value::BF16(bf16::from_f32(1.5)),
            Value::Complex128(Complex::new(1.0, -2.0)),
            Value::ComplexF16(Complex::new(f16::from_f32(0.5), f16::from_f32(-1.0))),
        ] {
            let mut bytes = Vec::new();
            write(Some(value), &mut bytes);
            assert_eq!(read(bytes[..].try_into().expect("a cell")), Some(Some(value)));
        }
        let mut none = Vec::new();
        write(None, &mut none);
        assert_eq!(read(none[..].try_into().expect("a cell")), Some(None));
        assert_eq!(read(&[99; CELL]), None);
        let mut bool_of_two = [0; CELL];
        bool_of_two[1] = 2;
        assert_eq!(read(&bool_of_two), None);
    }

    #[test]
    fn slabs_know_their_outputs() {
        let slab = Slab { outer: 2, length: 5, inner: 3, from: 1, to: 3 };
        let all: Vec<usize> = (0..slab.outputs()).map(|own| slab.output(own)).collect();
        assert_eq!(all, [3, 4, 5, 6, 7, 8, 18, 19, 20, 21, 22, 23]);
        assert_eq!(Slab::run(9, 4, 6).output(1), 5);
    }

    /// What a rank that is no friend hands over is refused, and never fatal.
    #[test]
    fn slabs_that_overlap_leave_gaps_or_lie_are_refused() {
        use warpfold::{DType, Op};
        use warpfold_dist::Threads;

        let agreement = Agreement::new(Op::Sum, DType::F64);
        let cells = |n: usize| {
            let mut bytes = Vec::new();
            (0..n).for_each(|k| write(Some(Value::F64(k as f64)), &mut bytes));
            bytes
        };
        let head = |words: [u64; HEAD]| words.map(u64::to_le_bytes).concat();
        let hostile = [
            ("a gap", [head([3, 4, 1, 0, 0]), cells(1)].concat(), "leave out output 2"),
            ("overlap", [head([1, 4, 1, 0, 0]), cells(3)].concat(), "not those of its share"),
            ("beyond", [head([2, 5, 1, 0, 0]), cells(3)].concat(), "not those of its share"),
            ("backwards", [head([4, 2, 1, 0, 0]), cells(0)].concat(), "not those of its share"),
            ("huge", [head([0, u64::MAX, 1, 0, 0]), cells(2)].concat(), "not those of its share"),
            ("columns", [head([2, 4, 2, 0, 0]), cells(4)].concat(), "not those of its share"),
            ("few cells", [head([2, 4, 1, 0, 0]), cells(1)].concat(), "not those of its share"),
            (
                "half a cell",
                [head([2, 4, 1, 0, 0]), vec![14; 20]].concat(),
                "not those of its share",
            ),
            (
                "no type",
                [head([2, 4, 1, 0, 0]), vec![99; 2 * CELL]].concat(),
                "not those of its share",
            ),
            ("no text", [head([2, 4, 0, 1, 1]), vec![0xff]].concat(), "not those of its share"),
            ("no output", head([2, 4, 0, 1, 9]), "not those of its share"),
            ("half a head", vec![0; 11], "not those of its share"),
        ];
        for (what, bytes, word) in hostile {
            let found = Threads::run(2, |comm| {
                if comm.rank() == 1 {
                    return exchange(&comm, agreement.text(), Ok(&bytes)).map(drop);
                }
                let mine = [("sum", vec![Some(Value::F64(1.0)), Some(Value::F64(2.0))])];
                let slab = Slab::run(4, 0, 2);
                gather(&comm, &agreement, 4, &slab, Ok(&mine))?.0.columns()?;
                Ok(())
            });
            let error = found[0].clone().expect_err(what).to_string();
            assert!(error.contains(word) && error.contains("handed over"), "{what}: {error}");
        }
    }

    /// Of several outputs without a result, all ranks tell the first.
    #[test]
    fn the_first_output_without_a_result_is_told() {
        use warpfold::{DType, Op};
        use warpfold_dist::Threads;

        let agreement = Agreement::new(Op::Mean, DType::F64);
        let found = Threads::run(3, |comm| {
            let rank = comm.rank();
            let why = format!("of rank {rank}");
            let missing = Missing { column: 0, output: [7, 9, 4][rank], why };
            let mine = [("mean", vec![Some(Value::F64(1.0)); 3])];
            let mine = if rank == 1 { Ok(&mine[..]) } else { Err(&missing) };
            let slab = Slab::run(10, 3 * rank, 3 * rank + 3);
            gather(&comm, &agreement, 10, &slab, mine).expect("an exchange").1
        });
        let first = Missing { column: 0, output: 4, why: "of rank 2".into() };
        assert!(found.iter().all(|found| *found == Some(first.clone())), "{found:?}");
    }
}
