//! Values of the library's enums as clap sees them: names, aliases, one-line helps, and so suggestions and completions.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use warpfold::plan::Isa;
use warpfold::{Accuracy, DType, Nan, Op, Overflow};

use super::elsewhere;

/// One value and its names.
#[derive(Clone, Copy)]
struct Choice<T> {
    value: T,
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
}

/// One of several named values; a name that is none of theirs is answered with the nearest.
#[derive(Clone)]
pub(crate) struct OneOf<T> {
    /// What is chosen, for the message.
    what: &'static str,
    choices: Vec<Choice<T>>,
}

/// What [`op`] chooses.
const REDUCTION: &str = "reduction";

/// A reduction, by name.
pub(crate) fn op() -> OneOf<Op> {
    ops(REDUCTION, Op::ALL)
}

fn ops(what: &'static str, ops: &[Op]) -> OneOf<Op> {
    let choice =
        |&value: &Op| Choice { value, name: value.name(), aliases: &[], about: value.about() };
    OneOf { what, choices: ops.iter().map(choice).collect() }
}

/// An element type, by name or alias.
pub(crate) fn dtype() -> OneOf<DType> {
    dtypes("element type", |_| true)
}

/// An element type of the ladder.
pub(crate) fn ladder_dtype() -> OneOf<DType> {
    dtypes("element type of the ladder", |dtype| warpfold_ladder::TYPES.contains(&dtype))
}

/// An operation of the ladder.
pub(crate) fn ladder_op() -> OneOf<Op> {
    ops("operation of the ladder", &warpfold_ladder::OPS)
}

/// A float type to round to.
pub(crate) fn float() -> OneOf<DType> {
    dtypes("float type", |dtype| dtype.is_float() && !dtype.is_complex())
}

fn dtypes(what: &'static str, is_one: fn(DType) -> bool) -> OneOf<DType> {
    let choice =
        |value: DType| Choice { value, name: value.name(), aliases: value.aliases(), about: "" };
    OneOf {
        what,
        choices: DType::ALL.iter().copied().filter(|&dtype| is_one(dtype)).map(choice).collect(),
    }
}

pub(crate) fn accuracy() -> OneOf<Accuracy> {
    named(
        "accuracy",
        &[
            (
                "exact",
                "the mathematical value, rounded once: the same bits on every machine",
                Accuracy::Exact,
            ),
            ("fast", "a tree sum in the accumulator type", Accuracy::Fast),
        ],
    )
}

pub(crate) fn nan() -> OneOf<Nan> {
    named(
        "treatment of NaN",
        &[
            ("propagate", "the result is NaN", Nan::Propagate),
            ("ignore", "the element is skipped, as if it were not there", Nan::Ignore),
        ],
    )
}

pub(crate) fn overflow() -> OneOf<Overflow> {
    named(
        "treatment of overflow",
        &[
            ("error", "it is an error", Overflow::Error),
            ("wrap", "it wraps modulo 2^64", Overflow::Wrap),
        ],
    )
}

/// An instruction set of this machine's architecture.
pub(crate) fn isa() -> OneOf<Isa> {
    named(
        "instruction set",
        &[
            ("baseline", "what every processor of the architecture has", Isa::Baseline),
            ("avx2", "AVX2 with FMA and F16C", Isa::Avx2),
            ("avx512", "AVX-512 F, BW, CD, DQ and VL", Isa::Avx512),
        ],
    )
}

fn named<T: Copy>(what: &'static str, table: &[(&'static str, &'static str, T)]) -> OneOf<T> {
    let choice = |&(name, about, value)| Choice { value, name, aliases: &[], about };
    OneOf { what, choices: table.iter().map(choice).collect() }
}

impl<T> OneOf<T> {
    /// The name (or alias) that takes the fewest edits; the first of several.
    fn nearest(&self, text: &str) -> Option<&'static str> {
        let names = self
            .choices
            .iter()
            .flat_map(|choice| [choice.name].into_iter().chain(choice.aliases.iter().copied()));
        names.min_by_key(|name| strsim::osa_distance(name, text))
    }
}

impl<T: Copy + Send + Sync + 'static> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(&self, cmd: &Command, _: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_string_lossy();
        let is_it = |name: &str| name.eq_ignore_ascii_case(&text);
        let found = self
            .choices
            .iter()
            .find(|choice| is_it(choice.name) || choice.aliases.iter().any(|name| is_it(name)));
        found.map(|choice| choice.value).ok_or_else(|| {
            let names: Vec<_> = self.choices.iter().map(|choice| choice.name).collect();
            let lower = text.to_ascii_lowercase();
            let nearest =
                || format!("did you mean {:?}?", self.nearest(&lower).unwrap_or_default());
            let nearest = || if text.is_empty() { "a name is missing.".into() } else { nearest() };
            let known = if self.what == REDUCTION { elsewhere::reduction(&lower) } else { None };
            let message = format!(
                "no {} is called {text:?}; {} There are {}",
                self.what,
                known.map_or_else(nearest, |known| known + "."),
                names.join(", ")
            );
            cmd.clone().error(ErrorKind::InvalidValue, message)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.choices.iter().map(|choice| {
            let value = PossibleValue::new(choice.name).aliases(choice.aliases);
            if choice.about.is_empty() { value } else { value.help(choice.about) }
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        for (text, name) in
            [("summ", "sum"), ("argmni", "argmin"), ("maxx", "max"), ("var2", "var")]
        {
            assert_eq!(op().nearest(text), Some(name));
        }
        for (text, name) in [("f23", "f32"), ("flaot64", "float64"), ("compelx64", "complex64")] {
            assert_eq!(dtype().nearest(text), Some(name));
        }
    }
}
