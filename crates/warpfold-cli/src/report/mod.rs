//! Results as bytes: one format a file, behind one trait.

mod csv;
mod json;
mod npy;
mod number;
mod text;

pub(crate) use json::token;
pub(crate) use number::type_name;
pub(crate) use text::plain;

use std::borrow::Cow;

use number::{Shown, show};
use warpfold::partial::Output;
use warpfold::{Accuracy, Column, DType, Op, Value};

use crate::Failure;
use crate::device::Device;
use crate::format::Format;
use crate::left_out::TextNotes;

/// What comes of a reduction, or of several in one reading.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    One(Output),
    /// Results by name; `None` where one has no value.
    Named(Vec<(String, Option<Value>)>),
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Answer::One(output)
    }
}

/// How the numbers of a result stand beside each other.
enum Shape {
    One,
    Pair,
    Named,
}

/// The numbers of a result by name, in order; `None` where one has no value.
pub(crate) fn fields(output: &Output) -> Vec<(&'static str, Option<Value>)> {
    match output {
        Output::One(value) => vec![("value", Some(*value))],
        Output::Pair(min, max) => vec![("min", Some(*min)), ("max", Some(*max))],
        Output::Summary(s) => {
            let values = [
                Some(s.count.into()),
                Some(s.nan_count.into()),
                Some(s.sum),
                s.mean,
                s.var,
                s.std,
                s.min,
                s.max,
                s.argmin.map(Value::from),
                s.argmax.map(Value::from),
                Some(s.l1),
                Some(s.l2),
            ];
            STATS.into_iter().zip(values).collect()
        }
    }
}

/// The names of what stats gives.
const STATS: [&str; 12] = [
    "count",
    "nan_count",
    "sum",
    "mean",
    "var",
    "std",
    "min",
    "max",
    "argmin",
    "argmax",
    "l1",
    "l2",
];

/// What a reduction's results are called where there are many.
pub(crate) fn titles(op: Op) -> Vec<&'static str> {
    match op {
        Op::MinMax => vec!["min", "max"],
        Op::Stats => STATS.to_vec(),
        op => vec![op.name()],
    }
}

/// A finished reduction and how it went.
pub(crate) struct Report {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    /// Elements (pairs, for dot).
    pub(crate) n: u64,
    pub(crate) output: Answer,
    pub(crate) accuracy: Accuracy,
    pub(crate) device: Device,
    /// From the first read to the result.
    pub(crate) seconds: f64,
    /// Of these, the time spent folding.
    pub(crate) fold_seconds: f64,
    /// What was found in inputs that are texts.
    pub(crate) texts: Vec<TextNotes>,
}

impl Report {
    /// Bytes of the elements, of both arrays for dot.
    fn bytes(&self) -> u64 {
        let arrays = if self.op == Op::Dot { 2 } else { 1 };
        self.n * self.dtype.size() as u64 * arrays
    }

    fn bytes_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes() as f64 / self.seconds } else { 0.0 }
    }

    /// The times in one line.
    pub(crate) fn timing(&self) -> String {
        let rate = |seconds: f64| self.bytes() as f64 / seconds.max(1e-9) / 1e9;
        format!(
            "{:.3} s in all ({:.2} GB/s), {:.3} s of it folding ({:.2} GB/s)",
            self.seconds,
            rate(self.seconds),
            self.fold_seconds,
            rate(self.fold_seconds)
        )
    }

    pub(crate) fn fields(&self) -> Vec<(Cow<'_, str>, Option<Value>)> {
        match &self.output {
            Answer::One(output) => {
                fields(output).into_iter().map(|(name, value)| (name.into(), value)).collect()
            }
            Answer::Named(all) => {
                all.iter().map(|(name, value)| (name.as_str().into(), *value)).collect()
            }
        }
    }

    fn shape(&self) -> Shape {
        match self.output {
            Answer::One(Output::One(_)) => Shape::One,
            Answer::One(Output::Pair(..)) => Shape::Pair,
            Answer::One(Output::Summary(_)) | Answer::Named(_) => Shape::Named,
        }
    }

    fn accuracy(&self) -> &'static str {
        match self.accuracy {
            Accuracy::Exact => "exact",
            Accuracy::Fast => "fast",
        }
    }
}

/// A way to write a report.
trait Render {
    /// Appends the whole report.
    fn render(report: &Report, out: &mut Vec<u8>) -> Result<(), Failure>;
}

impl Report {
    /// As a `.npy` file.
    pub(crate) fn npy(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        npy::Npy::render(self, &mut bytes)?;
        Ok(bytes)
    }
}

impl Format {
    /// The report in this format.
    pub(crate) fn bytes(self, report: &Report) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        match self {
            Format::Text => text::Text::render(report, &mut out)?,
            Format::Json => json::Json::render(report, &mut out)?,
            Format::Csv => csv::Csv::render(report, &mut out)?,
        }
        Ok(out)
    }
}

/// Whether values are complex numbers.
pub(crate) fn is_complex(column: &Column) -> bool {
    use Column::{Complex64, Complex128, ComplexBF16, ComplexF16};
    matches!(column, Complex64(_) | Complex128(_) | ComplexF16(_) | ComplexBF16(_))
}

/// Real and imaginary part of a complex number.
pub(crate) fn pair(value: Value) -> Option<[String; 2]> {
    match show(value) {
        Shown::Real(_) => None,
        Shown::Complex(re, im) => Some([re.decimal, im.decimal]),
    }
}

/// NumPy's name for the type of values, where it has one.
pub(crate) fn npy_type(column: &Column) -> Option<&'static str> {
    column.dtype().map(npy::type_of)
}

/// What stands before the elements of an array of a shape.
pub(crate) fn npy_header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let lengths: Vec<_> = shape.iter().map(u64::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    npy::header(descr, &format!("({}{comma})", lengths.join(", ")))
}

#[cfg(test)]
mod tests {
    use warpfold::Complex;
    use warpfold::partial::Summary;

    use super::*;

    /// The summary of three complex numbers, which have no order.
    fn report() -> Report {
        let summary = Summary {
            count: 3,
            nan_count: 0,
            sum: Value::Complex64(Complex::new(0.1, f32::INFINITY)),
            mean: None,
            var: Some(Value::F32(0.25)),
            std: Some(Value::F32(0.5)),
            min: None,
            max: None,
            argmin: None,
            argmax: Some(1 << 60),
            l1: Value::F32(7.0),
            l2: Value::F32(f32::NAN),
        };
        Report {
            op: Op::Stats,
            dtype: DType::Complex64,
            n: 3,
            output: Output::Summary(Box::new(summary)).into(),
            accuracy: Accuracy::Exact,
            device: Device::Cpu,
            seconds: 0.5,
            fold_seconds: 0.25,
            texts: Vec::new(),
        }
    }

    #[test]
    fn stats_as_text_is_an_aligned_table() {
        let text = String::from_utf8(Format::Text.bytes(&report()).unwrap()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 12);
        assert_eq!(lines[..4], ["count     3", "nan_count 0", "sum       0.1+infi", "mean      -"]);
    }

    #[test]
    fn stats_as_json_is_an_object() {
        let json: serde_json::Value =
            serde_json::from_slice(&Format::Json.bytes(&report()).unwrap()).unwrap();
        let value = &json["value"];
        assert_eq!(value["sum"], serde_json::json!([0.1, "inf"]));
        assert_eq!((&value["mean"], &value["count"]), (&serde_json::Value::Null, &3.into()));
        assert_eq!(
            (&value["argmax"], &value["l2"]),
            (&"1152921504606846976".into(), &"NaN".into())
        );
        assert_eq!(json["bits"]["sum"], serde_json::json!(["0x3dcccccd", "0x7f800000"]));
        assert_eq!(json["result_dtype"]["sum"], "complex64");
        assert_eq!((&json["bytes"], &json["bytes_per_second"]), (&24.into(), &48.0.into()));
    }

    #[test]
    fn stats_as_csv_has_a_column_for_each_number() {
        let text = String::from_utf8(Format::Csv.bytes(&report()).unwrap()).unwrap();
        let (names, row) = text.trim_end().split_once('\n').unwrap();
        assert!(names.contains(",count,nan_count,sum_re,sum_im,mean,var,"));
        assert!(names.contains(",bits_count,bits_nan_count,bits_sum_re,"));
        assert!(row.contains(",3,0,0.1,inf,,0.25,0.5,,,,1152921504606846976,7.0,NaN,"));
    }

    #[test]
    fn stats_as_npy_is_a_record_of_what_has_a_value() {
        let mut bytes = Vec::new();
        npy::Npy::render(&report(), &mut bytes).unwrap();
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = std::str::from_utf8(&bytes[10..start]).unwrap();
        let fields = "[('count', '<u8'), ('nan_count', '<u8'), ('sum', '<c8'), ('var', '<f4'), ('std', '<f4'), \
                      ('argmax', '<u8'), ('l1', '<f4'), ('l2', '<f4')]";
        assert!(
            header.starts_with(&format!(
                "{{'descr': {fields}, 'fortran_order': False, 'shape': (), }}"
            ))
        );
        assert_eq!((start % 64, bytes.len() - start), (0, 8 + 8 + 8 + 4 + 4 + 8 + 4 + 4));
        assert_eq!(bytes[start..start + 8], 3u64.to_le_bytes());
    }
}
