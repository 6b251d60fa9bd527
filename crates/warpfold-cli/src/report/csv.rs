//! CSV: a header and a row; the columns of complex numbers come in pairs, `_re` and `_im`.

use super::number::{Number, Shown, show};
use super::{Render, Report};
use crate::Failure;

/// A header and a row.
pub(super) struct Csv;

impl Render for Csv {
    fn render(report: &Report, out: &mut Vec<u8>) -> Result<(), Failure> {
        let mut columns: Vec<(String, String)> = vec![
            ("reduction".into(), report.op.to_string()),
            ("dtype".into(), report.dtype.to_string()),
            ("n".into(), report.n.to_string()),
            ("bytes".into(), report.bytes().to_string()),
        ];
        add(&mut columns, report, "", |number| number.decimal.clone());
        add(&mut columns, report, "bits", |number| number.bits.clone());
        columns.extend([
            ("accuracy".into(), report.accuracy().into()),
            ("device".into(), report.device.to_string()),
            ("seconds".into(), report.seconds.to_string()),
            ("bytes_per_second".into(), report.bytes_per_second().to_string()),
        ]);
        let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let mut writer = ::csv::Writer::from_writer(&mut *out);
        let written = writer.write_record(&names).and_then(|()| writer.write_record(&values));
        written.expect("a vector takes every byte, and the rows are of one length");
        Ok(())
    }
}

/// Adds a column (two for a complex number) for each number of the result.
fn add(
    columns: &mut Vec<(String, String)>,
    report: &Report,
    prefix: &str,
    each: fn(&Number) -> String,
) {
    for (name, value) in report.fields() {
        let name = match (prefix, &*name) {
            ("", name) => name.to_string(),
            (prefix, "value") => prefix.to_string(),
            (prefix, name) => format!("{prefix}_{name}"),
        };
        match value.map(show) {
            None => columns.push((name, String::new())),
            Some(Shown::Real(number)) => columns.push((name, each(&number))),
            Some(Shown::Complex(re, im)) => {
                columns.push((format!("{name}_re"), each(&re)));
                columns.push((format!("{name}_im"), each(&im)));
            }
        }
    }
}
