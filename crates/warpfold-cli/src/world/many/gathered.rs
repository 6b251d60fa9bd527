//! Results of outputs that one rank has as a whole, gathered from all.

use warpfold::{Column, Complex, Value, bf16, f16};
use warpfold_dist::{Agreement, Comm, Error, exchange};

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

/// Columns that are filled in any order.
pub(super) struct Filled {
    outputs: usize,
    columns: Vec<(&'static str, Vec<Option<Value>>)>,
}

impl Filled {
    pub(super) fn new(outputs: usize) -> Filled {
        Filled { outputs, columns: Vec::new() }
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    pub(super) fn set(&mut self, name: &'static str, output: usize, value: Value) {
        let at = self.columns.iter().position(|(other, _)| *other == name);
        let at = at.unwrap_or_else(|| {
            self.columns.push((name, vec![None; self.outputs]));
            self.columns.len() - 1
        });
        self.columns[at].1[output] = Some(value);
    }

    /// The columns, all of whose cells are there.
    pub(super) fn columns(self) -> Vec<(&'static str, Column)> {
        let column = |values: Vec<Option<Value>>| {
            Column::of_values(
                values
                    .into_iter()
                    .map(|value| value.expect("each output is some rank's"))
                    .collect(),
            )
        };
        self.columns.into_iter().map(|(name, values)| (name, column(values))).collect()
    }
}

/// Bytes of a value: a code of its type, and sixteen.
const CELL: usize = 17;

macro_rules! cells {
    ($($code:literal $variant:ident $ty:ty;)+) => {
        fn write(value: Value, out: &mut Vec<u8>) {
            let end = out.len() + CELL;
            match value {
                $(Value::$variant(value) => {
                    out.push($code);
                    out.extend_from_slice(bytemuck::bytes_of(&value));
                })+
            }
            out.resize(end, 0);
        }

        fn read(cell: &[u8; CELL]) -> Option<Value> {
            match cell[0] {
                $($code => bytemuck::checked::try_pod_read_unaligned::<$ty>(&cell[1..1 + size_of::<$ty>()]).ok().map(Value::$variant),)+
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

/// Gathers what each rank has: where it belongs, and its columns, one after another.
pub(super) fn gather(
    comm: &dyn Comm,
    agreement: &Agreement,
    outputs: usize,
    slab: &Slab,
    columns: &[(&'static str, Vec<Value>)],
) -> Result<Filled, Error> {
    let head = [slab.from, slab.to, columns.len()].map(|word| (word as u64).to_le_bytes());
    let mut bytes = head.concat();
    for (_, values) in columns {
        values.iter().for_each(|value| write(*value, &mut bytes));
    }
    let all = exchange(comm, agreement.text(), Ok(&bytes))?;
    let mut filled = Filled::new(outputs);
    for (rank, bytes) in all.iter().enumerate() {
        let refused =
            || Error::Contribution { rank, why: "its results are not those of its share".into() };
        let (head, rest) = bytes.split_first_chunk::<24>().ok_or_else(refused)?;
        let word = |at: usize| {
            u64::from_le_bytes(head[8 * at..][..8].try_into().expect("eight bytes")) as usize
        };
        let own = Slab { from: word(0), to: word(1), ..*slab };
        let (cells, more) = rest.as_chunks::<CELL>();
        let fits = own.from <= own.to && own.to <= own.length && more.is_empty();
        if !fits || word(2) != columns.len() || cells.len() != own.outputs() * columns.len() {
            return Err(refused());
        }
        for (k, cell) in cells.iter().enumerate() {
            let (column, at) = (k / own.outputs(), k % own.outputs());
            filled.set(columns[column].0, own.output(at), read(cell).ok_or_else(refused)?);
        }
    }
    Ok(filled)
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
            write(value, &mut bytes);
            assert_eq!(read(bytes[..].try_into().expect("a cell")), Some(value));
        }
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
}
