//! Values of the library's enums as clap sees them: names, aliases, one-line helps, and so suggestions and completions.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use warpfold::{Accuracy, DType, Nan, Op, Overflow};

/// A reduction, by name.
pub(super) fn op() -> impl TypedValueParser<Value = Op> {
    let names = Op::ALL.iter().map(|op| PossibleValue::new(op.name()).help(op.about()));
    PossibleValuesParser::new(names).map(|name| name.parse().expect("the names are the table's"))
}

/// An element type, by name or alias.
pub(super) fn dtype() -> impl TypedValueParser<Value = DType> {
    dtypes(|_| true)
}

/// A float type to round to.
pub(super) fn float() -> impl TypedValueParser<Value = DType> {
    dtypes(|dtype| dtype.is_float() && !dtype.is_complex())
}

fn dtypes(is_one: fn(DType) -> bool) -> impl TypedValueParser<Value = DType> {
    let types = DType::ALL.iter().filter(|&&dtype| is_one(dtype));
    let names = types.map(|dtype| PossibleValue::new(dtype.name()).aliases(dtype.aliases()));
    PossibleValuesParser::new(names).map(|name| name.parse().expect("the names are the table's"))
}

pub(super) fn accuracy() -> impl TypedValueParser<Value = Accuracy> {
    one_of(&[
        (
            "exact",
            "the mathematical value, rounded once: the same bits on every machine",
            Accuracy::Exact,
        ),
        ("fast", "a tree sum in the accumulator type", Accuracy::Fast),
    ])
}

pub(super) fn nan() -> impl TypedValueParser<Value = Nan> {
    one_of(&[
        ("propagate", "the result is NaN", Nan::Propagate),
        ("ignore", "the element is skipped, as if it were not there", Nan::Ignore),
    ])
}

pub(super) fn overflow() -> impl TypedValueParser<Value = Overflow> {
    one_of(&[
        ("error", "it is an error", Overflow::Error),
        ("wrap", "it wraps modulo 2^64", Overflow::Wrap),
    ])
}

fn one_of<T: Copy + Send + Sync + 'static>(
    table: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = table.iter().map(|&(name, help, _)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).map(|name| {
        let row = table.iter().find(|row| row.0 == name);
        row.expect("the names are the table's").2
    })
}
