//! Results that are no numbers of the library: dates, times and decimals; and keys that are words.

use std::mem::discriminant;

use warpfold::{Column, Op, Value};
use warpfold_arrow::{Cell, Fields, Keys};

use crate::Failure;
use crate::format::{FileFormat, Format};
use crate::report::token;
use crate::table::{Cells, Printed, Typed, columns};

/// Results as a column of a table: as numbers where they are of one type.
pub(super) fn cells(cells: Vec<Option<Cell>>) -> Cells {
    let value = |cell: &Option<Cell>| match cell {
        Some(Cell::Value(value)) => Some(*value),
        _ => None,
    };
    let values: Option<Vec<Value>> = cells.iter().map(value).collect();
    match values {
        Some(values) if is_one_type(&values) => Cells::Numbers(Column::of_values(values)),
        _ => Cells::Printed(cells.iter().map(|cell| cell.as_ref().map(printed)).collect()),
    }
}

fn is_one_type(values: &[Value]) -> bool {
    values.windows(2).all(|pair| discriminant(&pair[0]) == discriminant(&pair[1]))
}

/// Keys as a column; `None` stands for rows without one.
pub(super) fn keys(keys: Keys) -> Cells {
    match keys {
        Keys::Cells(keys) if keys.is_empty() => Cells::Printed(Vec::new()),
        Keys::Cells(keys) => cells(keys),
        Keys::Words(words) => {
            Cells::Printed(words.into_iter().map(|word| word.map(Printed::word)).collect())
        }
    }
}

fn printed(cell: &Cell) -> Printed {
    let text = match cell {
        Cell::Value(value) => return (*value).into(),
        other => other.to_string(),
    };
    let dtype = match cell {
        Cell::Decimal(_, scale) => format!("decimal128(38, {scale})"),
        Cell::Time(_, dtype) => dtype.to_string(),
        Cell::Value(_) => unreachable!("values have returned"),
    };
    Printed { token: quoted(&text), text, dtype, typed: Typed::Cell(cell.clone()) }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// One reduction's results, some of which are no numbers of the library.
pub(crate) struct Printout {
    op: Op,
    dtype: String,
    n: u64,
    fields: Vec<(&'static str, Option<Printed>)>,
    seconds: f64,
}

impl Printout {
    pub(super) fn new(op: Op, dtype: String, n: u64, fields: &Fields, seconds: f64) -> Printout {
        let fields =
            fields.0.iter().map(|(name, cell)| (*name, cell.as_ref().map(printed))).collect();
        Printout { op, dtype, n, fields, seconds }
    }

    /// As a result file has it.
    pub(super) fn file(&self, format: FileFormat) -> Result<Vec<u8>, Failure> {
        match format {
            FileFormat::Printed(format) => Ok(self.bytes(format)),
            FileFormat::Columns(written) => {
                let name = |name| if self.fields.len() == 1 { self.op.name() } else { name };
                let row = self.fields.iter().map(|(field, cell)| (name(*field), cell.clone()));
                columns::bytes(columns::of_row(row)?, written)
            }
            FileFormat::Npy | FileFormat::Npz => Err(Failure::Output {
                what: "the .npy file".into(),
                reason: format!(
                    "{} of {} is no number of NumPy; write .json or .csv",
                    self.op, self.dtype
                ),
            }),
        }
    }

    pub(super) fn bytes(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Text => self.text(),
            Format::Json => self.json(),
            Format::Csv => self.csv(),
        }
        .into_bytes()
    }

    fn text(&self) -> String {
        let text = |cell: &Option<Printed>| {
            cell.as_ref().map_or("-".to_string(), |cell| cell.text.clone())
        };
        if self.op == Op::Stats {
            return self
                .fields
                .iter()
                .map(|(name, cell)| format!("{name:<9} {}\n", text(cell)))
                .collect();
        }
        let values: Vec<_> = self.fields.iter().map(|(_, cell)| text(cell)).collect();
        values.join(" ") + "\n"
    }

    fn json(&self) -> String {
        let null = || "null".to_string();
        let tokens = self.each(|cell| cell.map_or_else(null, |cell| cell.token.clone()));
        let types = self.each(|cell| cell.map_or_else(null, |cell| quoted(&cell.dtype)));
        format!(
            "{{\"reduction\":\"{}\",\"dtype\":{},\"n\":{},\"value\":{tokens},\"result_dtype\":{types},\"accuracy\":\"exact\",\"device\":\"cpu\",\"seconds\":{}}}\n",
            self.op,
            quoted(&self.dtype),
            token(self.n.into()),
            self.seconds
        )
    }

    /// One, a list of two, or an object, as the result has its numbers.
    fn each(&self, one: impl Fn(Option<&Printed>) -> String) -> String {
        let fields: Vec<_> =
            self.fields.iter().map(|(name, cell)| (name, one(cell.as_ref()))).collect();
        match (&fields[..], self.op) {
            ([(_, one)], _) => one.clone(),
            (_, Op::MinMax) => {
                format!(
                    "[{}]",
                    fields.into_iter().map(|(_, one)| one).collect::<Vec<_>>().join(",")
                )
            }
            _ => {
                let named: Vec<_> =
                    fields.into_iter().map(|(name, one)| format!("\"{name}\":{one}")).collect();
                format!("{{{}}}", named.join(","))
            }
        }
    }

    fn csv(&self) -> String {
        let mut names = vec!["reduction", "dtype", "n"];
        let mut values = vec![self.op.to_string(), self.dtype.clone(), self.n.to_string()];
        for (name, cell) in &self.fields {
            names.push(name);
            values.push(cell.as_ref().map_or_else(String::new, |cell| cell.text.clone()));
        }
        names.extend(["accuracy", "device", "seconds"]);
        values.extend(["exact".to_string(), "cpu".into(), self.seconds.to_string()]);
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        let written = writer.write_record(&names).and_then(|()| writer.write_record(&values));
        written.expect("a vector takes every byte, and the rows are of one length");
        String::from_utf8(writer.into_inner().expect("a vector takes every byte"))
            .expect("names and values are UTF-8")
    }
}
