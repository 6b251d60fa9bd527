//! [`Cell`]: one result of a column, in the type that its meaning has.

use std::fmt;

use arrow_schema::{DataType, TimeUnit};
use warpfold_num::Value;

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number, a boolean or an index.
    Value(Value),
    /// A decimal: an integer, and how many of its digits are behind the point.
    Decimal(i128, i8),
    /// A date, time, timestamp or duration: ticks of its type's unit.
    Time(i64, DataType),
}

/// Results by name; `None` where one has no value.
#[derive(Debug, Clone, PartialEq)]
pub struct Fields(pub Vec<(&'static str, Option<Cell>)>);

impl Fields {
    /// The result of a reduction that has one.
    pub fn one(&self) -> Option<&Cell> {
        match &self.0[..] {
            [("value", cell)] => cell.as_ref(),
            _ => None,
        }
    }

    /// The result of a name.
    pub fn get(&self, name: &str) -> Option<&Cell> {
        self.0.iter().find(|(field, _)| *field == name)?.1.as_ref()
    }
}

impl fmt::Display for Cell {
    /// Decimals with all their digits, instants as ISO 8601 has them, durations as ticks and unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Value(value) => value.fmt(f),
            Cell::Decimal(value, scale) => decimal(*value, *scale, f),
            Cell::Time(ticks, dtype) => time(*ticks, dtype, f),
        }
    }
}

fn decimal(value: i128, scale: i8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let sign = if value < 0 { "-" } else { "" };
    let digits = value.unsigned_abs().to_string();
    let Ok(scale) = usize::try_from(scale) else {
        let zeros = if value == 0 { 0 } else { scale.unsigned_abs().into() };
        return write!(f, "{sign}{digits}{}", "0".repeat(zeros));
    };
    if scale == 0 {
        return write!(f, "{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    write!(f, "{sign}{whole}.{fraction}")
}

/// Ticks a second, and digits of a fraction of one.
fn resolution(unit: TimeUnit) -> (i64, usize) {
    match unit {
        TimeUnit::Second => (1, 0),
        TimeUnit::Millisecond => (1_000, 3),
        TimeUnit::Microsecond => (1_000_000, 6),
        TimeUnit::Nanosecond => (1_000_000_000, 9),
    }
}

fn time(ticks: i64, dtype: &DataType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match dtype {
        DataType::Date32 => date(ticks, f),
        DataType::Date64 => {
            date(ticks.div_euclid(86_400_000), f)?;
            match ticks.rem_euclid(86_400_000) {
                0 => Ok(()),
                rest => f.write_str("T").and_then(|()| clock(rest, TimeUnit::Millisecond, f)),
            }
        }
        DataType::Time32(unit) | DataType::Time64(unit) => clock(ticks, *unit, f),
        DataType::Timestamp(unit, zone) => {
            let day = resolution(*unit).0 * 86_400;
            date(ticks.div_euclid(day), f)?;
            f.write_str("T")?;
            clock(ticks.rem_euclid(day), *unit, f)?;
            // With a zone, ticks count from the epoch of UTC, whatever the zone is.
            if zone.is_some() { f.write_str("Z") } else { Ok(()) }
        }
        DataType::Duration(unit) => {
            let unit = match unit {
                TimeUnit::Second => "s",
                TimeUnit::Millisecond => "ms",
                TimeUnit::Microsecond => "us",
                TimeUnit::Nanosecond => "ns",
            };
            write!(f, "{ticks}{unit}")
        }
        _ => write!(f, "{ticks}"),
    }
}

fn clock(ticks: i64, unit: TimeUnit, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (second, digits) = resolution(unit);
    let (seconds, fraction) = (ticks.div_euclid(second), ticks.rem_euclid(second));
    write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    if fraction == 0 { Ok(()) } else { write!(f, ".{fraction:0digits$}") }
}

/// A day of the proleptic Gregorian calendar, counted from 1970-01-01: eras of 400 years, years that begin in March.
fn date(days: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + i64::from(month <= 2);
    write!(f, "{year:04}-{month:02}-{day:02}")
}
