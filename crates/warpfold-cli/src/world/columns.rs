//! Columns of Parquet and Arrow files: row groups and record batches of all files one after another, so that every rank has about as many rows.

use warpfold::DType;
use warpfold_dist::{Comm, exchange};

use super::{Merged, agreement, settle};
use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::data::{Columns, Folded, Found, Shown};

/// What a rank opened, and what it folded of its share.
struct Own {
    columns: Columns,
    rows: String,
    folded: Folded,
}

pub(super) fn reduction(args: &Reduction, comm: &dyn Comm) -> Result<(), Failure> {
    let own = Found::of(args).and_then(|found| {
        if comm.rank() == 0 {
            found.check_out(args)?;
        }
        found.read(args, || fold(args, comm, &found))
    });
    let (merged, own) = match own {
        Ok(own) => (merge(args, comm, own), Ok(())),
        Err(failure) => (fail(args, comm, &failure), Err(failure)),
    };
    let ((shown, notes), ()) = settle(comm, merged, own)?;
    match comm.rank() {
        0 => shown.print(args, &notes),
        _ => Ok(()),
    }
}

fn fold(args: &Reduction, comm: &dyn Comm, found: &Found) -> Result<Own, Failure> {
    let columns = Columns::open(args, found)?;
    let rows = columns.columns_and_rows()?;
    let columns = columns.share(comm.rank(), comm.size());
    let folded = columns.fold(args)?;
    if args.verbosity() == Verbosity::Verbose {
        let (rank, size, read) = (comm.rank(), comm.size(), folded.read());
        crate::say!(
            "rank {rank} of {size}: {}; {} row groups or batches",
            columns.describe(),
            read.decoded + read.skipped
        );
    }
    Ok(Own { columns, rows, folded })
}

/// What is shown, and what there is to note beside it.
type Merge = Result<(Shown, Vec<String>), Merged>;

/// Tells the others that this rank has nothing.
fn fail(args: &Reduction, comm: &dyn Comm, failure: &Failure) -> Merge {
    let agreement = agreement(args, DType::F64).map_err(Merged::Result)?;
    exchange(comm, agreement.text(), Err(&failure.to_string()))?;
    Err(Merged::Result(Failure::Reported(failure.exit_code())))
}

/// What all ranks have found together.
fn merge(args: &Reduction, comm: &dyn Comm, own: Own) -> Merge {
    let Own { columns, rows, mut folded } = own;
    let finish = args.finish().map_err(Merged::Result)?;
    // Columns have types of their own, of which the text tells.
    let agreement = agreement(args, DType::F64).map_err(Merged::Result)?.and(&rows);
    let all = exchange(comm, agreement.text(), Ok(&folded.to_bytes()))?;
    for (rank, bytes) in all.iter().enumerate().filter(|(rank, _)| *rank != comm.rank()) {
        let why = format!("it is none of {rows}");
        let refused = warpfold_dist::Error::Contribution { rank, why };
        folded.merge_bytes(bytes).ok_or(refused)?;
    }
    let mut notes = Vec::new();
    let shown = columns.shown(args, finish, folded, &mut notes);
    Ok((shown.map_err(Merged::Result)?, notes))
}
