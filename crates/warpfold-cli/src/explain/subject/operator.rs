//! The kernel with the code of an operator of one's own in it.

use std::path::Path;

use warpfold::DType;
use warpfold::kernel::operator::OperatorLaunches;
use warpfold::kernel::{AnyBuffer, Code};
use warpfold::simt::Device;

use super::map::{named, of_template, random_arrays};
use super::{Subject, failed};
use crate::Failure;
use crate::explain::args::Explain;
use crate::operator::OperatorFile;

/// What it is asked for by.
pub(super) const NAME: &str = "operator";

/// The fold of random arrays by the operator of a file, to states of spans.
pub(super) fn subject(path: &str, args: &Explain) -> Result<Subject, Failure> {
    let refused = |what: &str| {
        Failure::Usage(format!(
            "{what}: the operator says what is folded, and its kernel by how many threads; leave it out"
        ))
    };
    if args.op.is_some() {
        return Err(refused("--op"));
    }
    if args.block.is_some() || args.grid.is_some() {
        return Err(refused("--block and --grid"));
    }
    if args.n == 0 {
        return Err(Failure::Usage(
            "--n 0: there is nothing to launch for; take 1 at least".into(),
        ));
    }
    let dtype = args.dtype.unwrap_or(DType::F32);
    let file = OperatorFile::read(Path::new(path))?;
    let operator = file.operator()?;
    let names: Vec<(&str, DType)> =
        operator.names().into_iter().map(|name| (name, dtype)).collect();
    let typed = operator.typed(&names).map_err(|error| file.failure(&error))?;
    let device = Device::new();
    let buffers = random_arrays(&device, dtype, args.n, names.len())?;
    let views: Vec<_> = buffers.iter().map(AnyBuffer::view).collect();
    let launches = OperatorLaunches::new(&device, &typed, &views, None);
    let launches = launches.map_err(|error| file.failure(&error))?;
    let launch = launches.launches().first().map(|launch| (launch, &launch.code));
    let Some((launch, Code::Spliced(spliced))) = launch else {
        return Err(failed("launching an operator".into(), "there is no launch".into()));
    };
    let note = format!("{path}, whose code stands where the template's pseudo-instructions do.");
    of_template(args, dtype, (launch, spliced), note, (&device, named(&names, &buffers)))
}
