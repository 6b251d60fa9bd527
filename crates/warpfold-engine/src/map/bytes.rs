//! Partials of maps as bytes, for processes that merge them.
//!
//! # Layout, version 1
//! The byte 1; then each task's part in turn, as blocks: a length in 4 bytes, little-endian, and as many bytes.
//!
//! | part | blocks |
//! |---|---|
//! | a partial | the partial, saved |
//! | pairs | the partials of the left squares, the products and the right squares; a byte of what was no finite number among the differences |
//! | weighted squares | the partial of halves; all others as an integer, two's complement, lowest byte first |
//! | powers of e | two bits: NaN, infinity; for each sum, the larger first, s as an `f64`, and the sum, saved |
//!
//! Ranks that read it have made the same map: which parts there are is not said.

use num_bigint::BigInt;
use warpfold_exact::AnyPartial;
use warpfold_num::limbs::Special;
use warpfold_num::{DType, Error, Op, Result};

use super::task::{Pairs, Squares, Task, TaskPartial};
use super::{Exponents, Folded, Map};

const VERSION: u8 = 1;

/// Adds a block.
pub(super) fn put(bytes: &mut Vec<u8>, block: &[u8]) {
    bytes.extend_from_slice(&(block.len() as u32).to_le_bytes());
    bytes.extend_from_slice(block);
}

/// The next block.
pub(super) fn take<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let taken = rest
        .split_first_chunk()
        .and_then(|(length, after)| after.split_at_checked(u32::from_le_bytes(*length) as usize));
    let (block, after) = taken.ok_or_else(|| bad("it ends too early"))?;
    *rest = after;
    Ok(block)
}

pub(super) fn bad(why: &str) -> Error {
    Error::BadPartial { expected: "an expression", why: why.into() }
}

impl Folded {
    /// All of it as bytes, for [`Map::read`] of the same map.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        for part in &self.parts {
            match part {
                TaskPartial::Partial(partial) => put(&mut bytes, &partial.to_bytes()),
                TaskPartial::Pairs(pairs) => {
                    for partial in [&pairs.left, &pairs.both, &pairs.right] {
                        put(&mut bytes, &partial.to_bytes());
                    }
                    put(&mut bytes, &[pairs.differences.bits()]);
                }
                TaskPartial::Squares(squares) => {
                    put(&mut bytes, &squares.products.to_bytes());
                    put(&mut bytes, &squares.others.to_signed_bytes_le());
                }
                TaskPartial::Exponents(exponents) => put(&mut bytes, &exponents.to_bytes()),
            }
        }
        bytes
    }

    /// The same of elements whose indices are so much greater, where indices count them. Products of floats are folded with their indices.
    #[must_use]
    pub fn behind(self, before: u64) -> Self {
        let behind = |part| match part {
            // Kernels of extremes alone leave an index beyond all others.
            TaskPartial::Partial(partial) => {
                TaskPartial::Partial(partial.reindexed(&|index| index.saturating_add(before)))
            }
            other => other,
        };
        Folded { parts: self.parts.into_iter().map(behind).collect() }
    }
}

impl Map {
    /// Reads the partial of another process, from bytes of any origin.
    ///
    /// # Errors
    /// [`Error::BadPartial`] for what this map does not leave.
    pub fn read(&self, bytes: &[u8]) -> Result<Folded> {
        let (version, mut rest) = bytes.split_first().ok_or_else(|| bad("there is nothing"))?;
        if *version != VERSION {
            return Err(bad(&format!("it is of version {version}, and {VERSION} is read")));
        }
        let mut parts = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            parts.push(self.read_part(task, &mut rest)?);
        }
        match rest {
            [] => Ok(Folded { parts }),
            _ => Err(bad("it is longer than its parts")),
        }
    }

    fn read_part(&self, task: &Task, rest: &mut &[u8]) -> Result<TaskPartial> {
        let products = |dtype: DType, rest: &mut &[u8]| partial(Op::Dot, dtype, take(rest)?);
        Ok(match (task.empty(&self.program), *task) {
            (TaskPartial::Partial(empty), task) => {
                let op = match task {
                    Task::Values(op, _) => op,
                    Task::Conditions(_) => Op::Count,
                    Task::Products(..) => Op::Dot,
                    _ => Op::Sum,
                };
                TaskPartial::Partial(partial(op, empty.dtype(), take(rest)?)?)
            }
            (TaskPartial::Pairs(empty), _) => {
                let dtype = empty.left.dtype();
                let [left, both, right] =
                    [products(dtype, rest)?, products(dtype, rest)?, products(dtype, rest)?];
                let differences = match take(rest)? {
                    [bits] => Special::from_bits(*bits),
                    _ => None,
                };
                let differences = differences.ok_or_else(|| bad("its differences are none"))?;
                TaskPartial::Pairs(Box::new(Pairs { left, both, right, differences }))
            }
            (TaskPartial::Squares(empty), _) => {
                let products = products(empty.products.dtype(), rest)?;
                let others = BigInt::from_signed_bytes_le(take(rest)?);
                TaskPartial::Squares(Box::new(Squares { products, others }))
            }
            (TaskPartial::Exponents(_), _) => {
                TaskPartial::Exponents(Box::new(Exponents::from_bytes(take(rest)?)?))
            }
        })
    }
}

/// A partial of a reduction from its bytes.
fn partial(op: Op, dtype: DType, bytes: &[u8]) -> Result<AnyPartial> {
    let partial = AnyPartial::from_bytes_of(dtype, bytes)?;
    match partial.serves(op) {
        true => Ok(partial),
        false => Err(bad(&format!("a partial in it is not one of {op}"))),
    }
}

#[cfg(test)]
mod tests {
    use warpfold_num::random::Words;
    use warpfold_num::{Nan, Op, Policy};

    use warpfold_exact::partial::Finish;

    use super::super::{Map, Reduction, Task};
    use crate::HostArray;

    const WANTED: [&str; 14] = [
        "sum(x * y)",
        "mean(x)",
        "var(x)",
        "prod(y)",
        "argmin(x + y)",
        "minmax(y)",
        "count(x > y)",
        "l1(x)",
        "linf(y)",
        "mean(x, weights=w)",
        "var(x, weights=w)",
        "rmse(x, y)",
        "cosine(x, y)",
        "logsumexp(x)",
    ];

    fn arrays() -> [Vec<f64>; 3] {
        let mut words = Words(11);
        let mut of = |scale: f64, least: f64| -> Vec<f64> {
            (0..5000).map(|_| (words.fraction() - least) * scale).collect()
        };
        [of(900.0, 0.5), of(2.0, 0.1), of(4.0, 0.0)]
    }

    fn map(keep: Option<&str>, nan: Nan) -> Map {
        let wanted = WANTED.map(|text| text.parse::<Reduction>().expect("a reduction"));
        let wanted = if nan == Nan::Ignore { &wanted[..9] } else { &wanted[..] };
        let inputs = ["x", "y", "w"].map(|name| (name, warpfold_num::DType::F64));
        Map::all(wanted, keep, &inputs, Policy { nan, ..Policy::default() }).expect("a map")
    }

    /// Shares of any length, empty ones too, in any order: the merged partial is that of the whole.
    #[test]
    fn shares_that_were_sent_are_the_whole() {
        let [x, y, w] = arrays();
        for (keep, nan) in
            [(None, Nan::Propagate), (Some("x > y"), Nan::Propagate), (None, Nan::Ignore)]
        {
            let map = map(keep, nan);
            let of = |from: usize, to: usize| {
                let arrays = [&x, &y, &w].map(|array| HostArray::of(&array[from..to]));
                map.fold(&arrays, from as u64).expect("numbers")
            };
            let whole = of(0, x.len());
            for cuts in
                [&[0, 5000][..], &[0, 0, 1, 1, 3000, 5000], &[0, 1700, 2500, 2501, 4999, 5000]]
            {
                let shares = cuts.windows(2).map(|cut| of(cut[0], cut[1]).to_bytes());
                let mut shares: Vec<Vec<u8>> = shares.collect();
                for _ in 0..2 {
                    let mut all = map.empty();
                    shares.iter().for_each(|bytes| all.merge(&map.read(bytes).expect("its own")));
                    for (k, (left, right)) in all.parts.iter().zip(&whole.parts).enumerate() {
                        // Extremes keep indices that nobody asks for, and sums of powers count zeros that stand for those of another scale: neither shows
                        // in a result.
                        let is_sum = match map.tasks()[k] {
                            Task::Values(op, _) => matches!(op, Op::Sum | Op::Var | Op::L1),
                            Task::Exponents { .. } => false,
                            _ => true,
                        };
                        assert!(
                            !is_sum || left == right,
                            "{:?} of {cuts:?} {keep:?}",
                            map.tasks()[k]
                        );
                    }
                    let results = |folded| map.results(folded, Finish::default());
                    assert_eq!(results(&all), results(&whole));
                    shares.reverse();
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_none_are_refused() {
        let [x, y, w] = arrays();
        let map = map(None, Nan::Propagate);
        let arrays = [&x, &y, &w].map(|array| HostArray::of(&array[..100]));
        let bytes = map.fold(&arrays, 0).expect("numbers").to_bytes();
        for end in 0..bytes.len() {
            assert!(map.read(&bytes[..end]).is_err(), "{end}");
        }
        assert!(map.read(&[&bytes[..], &[0]].concat()).is_err());
        let of_another = self::map(Some("x > y"), Nan::Ignore);
        assert!(of_another.read(&bytes).is_err());
        // Whatever they say, they are read or refused.
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x81;
            let _ = map.read(&damaged);
        }
    }
}
