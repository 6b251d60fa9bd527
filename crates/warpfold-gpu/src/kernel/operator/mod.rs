//! Operators of one's own, as text, on a machine: whole arrays, and rows, along the canonical tree, by kernels that have the operator's code in them.
//!
//! A state lies in registers, whatever its fields are; the templates (`walk/operator.cuh`) say what is folded when. What results are made of it is the engine's.

mod host;
mod launches;
mod module;
mod rows;
mod splice;

pub use launches::OperatorLaunches;
pub use rows::columns;

use warpfold_engine::operator::TypedOperator;

use super::array::AnyView;
use super::executor::Executor;
use crate::{Error, Result, Value};

/// Folds arrays in a machine's memory by an operator, with the bits of [`warpfold_engine::operator::fold`]. The operator's laws are tried on the first elements,
/// where it is new to the process.
///
/// ```
/// use warpfold::kernel::{Executor, operator};
/// use warpfold::simt::Device;
/// use warpfold_engine::operator::{Operator, Written};
/// use warpfold_num::DType;
///
/// let most = Written { finish: Some("at"), ..Written::new("most: f64, at: u64", "x, index", "max(a.most, b.most), select(b.most > a.most, b.at, a.at)") };
/// let most = Operator::parse(&most)?.typed(&[("x", DType::F64)])?;
/// let device = Device::new();
/// let x = device.upload(&[1.5, 7.0, 2.0])?;
/// assert_eq!(operator::fold(&device, &most, &[x.view().untyped()])?, [1u64.into()]);
/// # Ok::<(), warpfold_num::Error>(())
/// ```
///
/// # Errors
/// [`Error::Map`]: the arrays are not the operator's or more than kernels take, a law does not hold, an operation of integers has no value, as the
/// processor says, or there are no elements and no identity; [`Error::Device`].
pub fn fold(
    machine: &dyn Executor,
    operator: &TypedOperator,
    inputs: &[AnyView<'_>],
) -> Result<Vec<Value>> {
    OperatorLaunches::new(machine, operator, inputs, None)?.run(machine)
}

/// How an array is shared among warps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorGrid {
    /// Blocks of 1024 elements whose runs wait in shared memory together: a power of two up to 32.
    pub tile: u32,
    /// Tiles of a warp, one after another: a power of two.
    pub span: u64,
}

impl OperatorGrid {
    /// Fails for shapes along which the tree would be another.
    fn checked(self) -> Result<Self> {
        let OperatorGrid { tile, span } = self;
        match tile.is_power_of_two() && tile <= 32 && span.is_power_of_two() {
            true => Ok(self),
            false => Err(Error::Map {
                requested: "operator".into(),
                obstacle: format!("a warp is to take {span} tiles of {tile} blocks"),
                remedy: "give powers of two, and 32 blocks at most".into(),
            }),
        }
    }

    /// Tiles as large as leave every multiprocessor eight warps and a warp some 8 KiB of shared memory, and as many of them a warp as leave 4096 spans
    /// and 32 warps a multiprocessor. States of two or three fields gain by tiles twice as large, and others lose.
    fn of(n: u64, fields: usize, multiprocessors: u32) -> Self {
        let multiprocessors = u64::from(multiprocessors);
        let blocks = n.div_ceil(warpfold_exact::tree::BLOCK);
        let is_shared = |tile: u32| blocks / u64::from(tile) >= 8 * multiprocessors;
        let most = match fields {
            2 | 3 => 16,
            0..=4 => 8,
            _ => 4,
        };
        let tiles = [16, 8, 4, 2].into_iter().filter(|&tile| tile <= most);
        let tile = tiles.into_iter().find(|&tile| is_shared(tile)).unwrap_or(1);
        let spans = blocks.div_ceil(tile.into()).div_ceil((32 * multiprocessors).clamp(1, 4096));
        OperatorGrid { tile, span: spans.next_power_of_two() }
    }
}
