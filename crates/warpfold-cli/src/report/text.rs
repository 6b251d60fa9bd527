//! Text: the value and nothing else, as other programs expect it.

use warpfold::Value;

use super::number::{Shown, show};
use super::{Render, Report, Shape};
use crate::Failure;
use crate::format::WIDEST;

/// Plain numbers.
pub(super) struct Text;

impl Render for Text {
    fn render(report: &Report, out: &mut Vec<u8>) -> Result<(), Failure> {
        let fields = report.fields();
        let shown = |value: &Option<_>| {
            value.map_or_else(|| "-".to_string(), |value| decimal(&show(value)))
        };
        let line = match report.shape() {
            Shape::One | Shape::Pair => {
                fields.iter().map(|(_, value)| shown(value)).collect::<Vec<_>>().join(" ")
            }
            Shape::Named => {
                let width = fields.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                let width = width.min(WIDEST);
                let rows =
                    fields.iter().map(|(name, value)| format!("{name:<width$} {}", shown(value)));
                rows.collect::<Vec<_>>().join("\n")
            }
        };
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
        Ok(())
    }
}

/// A number as plain text.
pub(crate) fn plain(value: Value) -> String {
    decimal(&show(value))
}

/// A complex number as `1.0-2.0i`, which the text reader understands.
fn decimal(shown: &Shown) -> String {
    match shown {
        Shown::Real(number) => number.decimal.clone(),
        Shown::Complex(re, im) => {
            let sign = if im.decimal.starts_with('-') { "" } else { "+" };
            format!("{}{sign}{}i", re.decimal, im.decimal)
        }
    }
}
