//! `dot` of two columns of the files.

use std::time::Instant;

use warpfold::partial::{Finish, Output};
use warpfold_arrow::Cell;
use warpfold_arrow::files::Files;

use super::{Shown, tell};
use crate::Failure;
use crate::args::Reduction;
use crate::device::Device;
use crate::report::Report;

/// Multiplies the columns row by row, where both have a value.
pub(super) fn fold(
    args: &Reduction,
    files: &Files,
    names: &[String],
    finish: Finish,
    begun: Instant,
    notes: &mut Vec<String>,
) -> Result<Shown, Failure> {
    let columns: &[String; 2] = names.try_into().expect("two are asked for");
    let folding = Instant::now();
    let (dot, read) = files.dot(columns, args.policy())?;
    let (n, rows, dtype) = (dot.values(), dot.rows(), dot.dtype());
    let both = columns.join(" and ");
    tell(args, rows, [(&both, rows - n)].into_iter(), read, notes);
    let fields = dot.finish(finish)?;
    let Some(Cell::Value(value)) = fields.one() else {
        unreachable!("a dot product is one number")
    };
    Ok(Shown::One(Report {
        op: args.op(),
        dtype,
        n,
        output: Output::One(*value).into(),
        accuracy: warpfold::Accuracy::Exact,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: Vec::new(),
    }))
}
