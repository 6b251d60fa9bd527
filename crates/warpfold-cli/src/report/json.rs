//! JSON: one object on one line.
//!
//! Numbers are written digit by digit, as the shortest decimals that read back in their own type. What JSON has no number for is
//! a string: integers of more than 53 bits, NaN, infinities.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use warpfold::Value;
use warpfold::partial::Output;

use super::number::{Number, NumberClass, Shown, show, type_name};
use super::{Answer, Render, Report};
use crate::Failure;
use crate::left_out::as_json;

/// One JSON object.
pub(super) struct Json;

#[derive(Serialize)]
struct Object {
    reduction: &'static str,
    dtype: &'static str,
    n: Box<RawValue>,
    bytes: Box<RawValue>,
    value: Fields,
    bits: Fields,
    result_dtype: Fields,
    accuracy: &'static str,
    device: String,
    seconds: f64,
    fold_seconds: f64,
    bytes_per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<serde_json::Value>,
}

impl Render for Json {
    fn render(report: &Report, out: &mut Vec<u8>) -> Result<(), Failure> {
        let object = Object {
            reduction: report.op.name(),
            dtype: report.dtype.name(),
            n: integer(report.n),
            bytes: integer(report.bytes()),
            value: Fields::of(report, |value| shown(value, |number| raw(&digits(number)))),
            bits: Fields::of(report, |value| shown(value, |number| raw(&quoted(&number.bits)))),
            result_dtype: Fields::of(report, |value| raw(&quoted(type_name(value)))),
            accuracy: report.accuracy(),
            device: report.device.to_string(),
            seconds: report.seconds,
            fold_seconds: report.fold_seconds,
            bytes_per_second: report.bytes_per_second(),
            text: (!report.texts.is_empty()).then(|| as_json(&report.texts)),
        };
        serde_json::to_writer(&mut *out, &object).expect("strings and finite numbers are JSON");
        out.push(b'\n');
        Ok(())
    }
}

/// Something for each number of a result, in the result's shape: one, a list of two, an object.
enum Fields {
    One(Box<RawValue>),
    Pair(Vec<Box<RawValue>>),
    Named(Vec<(String, Option<Box<RawValue>>)>),
}

impl Fields {
    fn of(report: &Report, each: impl Fn(Value) -> Box<RawValue>) -> Fields {
        match &report.output {
            Answer::One(Output::One(value)) => Fields::One(each(*value)),
            Answer::One(Output::Pair(min, max)) => Fields::Pair(vec![each(*min), each(*max)]),
            Answer::One(Output::Summary(_)) | Answer::Named(_) => {
                let fields = report.fields().into_iter();
                let named = fields.map(|(name, value)| (name.into_owned(), value.map(&each)));
                Fields::Named(named.collect())
            }
        }
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Fields::One(value) => value.serialize(serializer),
            Fields::Pair(values) => values.serialize(serializer),
            Fields::Named(fields) => serializer.collect_map(fields.iter().map(|(k, v)| (k, v))),
        }
    }
}

/// A value as JSON.
pub(crate) fn token(value: Value) -> String {
    shown(value, |number| raw(&digits(number))).get().into()
}

/// A complex number is a list of two.
fn shown(value: Value, each: impl Fn(&Number) -> Box<RawValue>) -> Box<RawValue> {
    match show(value) {
        Shown::Real(number) => each(&number),
        Shown::Complex(re, im) => raw(&format!("[{},{}]", each(&re), each(&im))),
    }
}

fn digits(number: &Number) -> String {
    match number.kind {
        NumberClass::Bool | NumberClass::Integer | NumberClass::Finite => number.decimal.clone(),
        NumberClass::WideInteger | NumberClass::NotFinite => quoted(&number.decimal),
    }
}

fn integer(n: u64) -> Box<RawValue> {
    shown(n.into(), |number| raw(&digits(number)))
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn raw(token: &str) -> Box<RawValue> {
    RawValue::from_string(token.to_string()).expect("numbers and quoted names are JSON")
}
