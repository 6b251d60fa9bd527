//! [`evaluate`]: the values of an expression themselves.

use warpfold_expr::{Expr, Program, TILE, Tiles};
use warpfold_num::{Column, DType, Result, with_element};

use super::{HostArray, Map, Measure, Reduction, arrays, wanted};

/// The values of an expression of some arrays, such as keys to group by.
///
/// ```
/// use warpfold_engine::map::evaluate;
/// use warpfold_engine::{HostArray, Request, columns, group_dense};
/// use warpfold_exact::partial::Finish;
/// use warpfold_num::{Column, DType, Op, Policy};
///
/// // A histogram: how many values lie in each of four bins.
/// let x = [0.1, 0.9, 0.3, 0.99, 0.5, 0.05];
/// let keys = evaluate("u64(x * 4)", &[("x", DType::F64)], &[HostArray::of(&x)])?;
/// let Column::U64(keys) = keys else { panic!("u64(…) gives u64") };
/// let bins = group_dense(&keys, 4, x.len(), Policy::default())?;
/// let counts = columns(&Request::new(Op::Count, HostArray::of(&x)).parts(bins.into()), Finish::default())?;
/// assert_eq!(counts, [("count", Column::U64(vec![2, 1, 1, 2]))]);
/// # Ok::<(), warpfold_num::Error>(())
/// ```
///
/// # Errors
/// As [`Map::new`] and [`Map::fold`].
pub fn evaluate(text: &str, inputs: &[(&str, DType)], arrays: &[HostArray<'_>]) -> Result<Column> {
    let expr = Expr::parse(text)?;
    let program = Program::new(&[&expr], inputs)?;
    let root = program.roots()[0].value;
    // The checks of a reduction are those of an evaluation.
    let any = Reduction::of(Measure::Op(warpfold_num::Op::Min), expr);
    let map: Map = wanted::map(&[any], None, inputs, Default::default())?;
    let n = arrays::length(&map, &arrays::given(arrays))?;
    let slices: Vec<_> = arrays.iter().map(arrays::slice).collect();
    let mut tiles = Tiles::new(&program, false);
    with_element!(program.ty(root).dtype(), T => {
        let mut all: Vec<T> = Vec::with_capacity(n);
        for first in (0..n).step_by(TILE) {
            let count = TILE.min(n - first);
            tiles.run(&slices, first, count).map_err(|fault| fault.error(first as u64))?;
            let bytes = tiles.bytes(root, &slices, first, count);
            let tile = arrays::buffered(program.ty(root), bytes, count);
            all.extend_from_slice(tile.slice::<T>().unwrap_or_default());
        }
        Ok(Column::of(all))
    })
}
