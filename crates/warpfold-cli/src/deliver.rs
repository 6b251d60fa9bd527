//! What becomes of results: they are written to a file, drawn, printed.

use std::path::Path;

use crate::args::Reduction;
use crate::format::{FileFormat, Format};
use crate::report::Report;
use crate::table::{self, Table};
#[cfg(feature = "parquet")]
use crate::table::{Printed, columns};
use crate::{Failure, outfile, plot, streams};

/// Writes a report to the result file, if there is to be one, and prints it.
pub(crate) fn one(args: &Reduction, report: &Report) -> Result<(), Failure> {
    if let Some((path, format)) = &args.out {
        replace_file(path, *format, report)?;
    }
    streams::print(&args.format.unwrap_or(Format::Text).bytes(report)?)
}

/// Writes a table to the result file, if there is to be one, and prints it, or a line on the file in its place.
pub(crate) fn many(args: &Reduction, results: &Table) -> Result<(), Failure> {
    if let Some((path, format)) = &args.out {
        table::replace_file(path, *format, results)?;
    }
    if let Some(plot) = &args.plot
        && plot::show(plot, results)?
    {
        return Ok(());
    }
    match (&args.out, args.format) {
        (Some((path, _)), None) if !args.full => table::print_summary(results, path),
        (_, format) => table::print(format.unwrap_or(Format::Text), results, args.full),
    }
}

/// Writes a report to a file, which is replaced as a whole or not at all.
pub(crate) fn replace_file(
    path: &Path,
    format: FileFormat,
    report: &Report,
) -> Result<(), Failure> {
    let bytes = match format {
        FileFormat::Npy => report.npy()?,
        FileFormat::Npz => return format.check_one(),
        FileFormat::Printed(format) => format.bytes(report)?,
        #[cfg(feature = "parquet")]
        FileFormat::Columns(written) => {
            let fields = report.fields();
            let name = |name| if fields.len() == 1 { report.op.name() } else { name };
            let row =
                fields.iter().map(|(field, value)| (name(&**field), value.map(Printed::from)));
            columns::bytes(columns::of_row(row)?, written)?
        }
    };
    Ok(outfile::replace(path, &bytes)?)
}
