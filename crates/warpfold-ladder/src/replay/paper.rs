//! What a document published: its experiment, its figures as printed, its statements, and what is wrong in it.

use serde::Serialize;
use warpfold::DType;

use crate::sweep::Over;
use warpfold_lab::array::Data;

/// One of the six documents that the ladder was built from.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// The name by which it is replayed.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Who wrote it, where and when, as far as the document says.
    pub by: &'static str,
    /// What it ran.
    pub experiment: Experiment,
    /// The machines it measured; the first is that of its main table.
    pub machines: &'static [&'static Machine],
    /// Its kernels and what it compares them with, in its own order.
    pub lines: &'static [Line],
    /// Figures in its prose.
    pub claims: &'static [Claim],
    /// Code and statements that are wrong.
    pub mistakes: &'static [Mistake],
    /// What it ran besides its lines.
    pub besides: &'static [Act],
}

/// Something that a document ran besides its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// The same rungs, for the maximum of other data: the slides' exercise.
    Maximum,
    /// Its best rung over a sweep of at most so many elements: the thesis's figures.
    Sweep(Over, u64),
    /// The pair that diverges.
    Divergence,
    /// What the simulator counts of its rungs, and their registers: the guide's two tables.
    Counts,
}

impl Paper {
    /// What it ran, in a sentence without its end.
    pub fn ran(&self) -> String {
        let Experiment { n, dtype, fill, block, runs, open } = self.experiment;
        let n = if n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() };
        let runs = if runs == 1 { "one run".to_owned() } else { format!("{runs} runs") };
        let open = if open.is_empty() { String::new() } else { format!("; open: {open}") };
        format!("{n} elements of {dtype}, data: {fill}, blocks of {block}, {runs}{open}")
    }
}

/// An array, a launch, and how often it ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Experiment {
    /// Elements.
    pub n: u64,
    /// Their type.
    pub dtype: DType,
    /// What the array holds.
    pub fill: Data,
    /// Threads of a block.
    pub block: u32,
    /// Runs over which it averages.
    pub runs: u32,
    /// What of the above the document leaves open, and is chosen here.
    pub open: &'static str,
}

/// A machine whose figures a document prints.
#[derive(Debug, PartialEq)]
pub struct Machine {
    /// What it is called.
    pub name: &'static str,
    /// Bytes per second that its memory moves at most, by its data sheet.
    pub peak: f64,
}

/// The machines of the documents.
pub mod machines {
    use super::Machine;

    /// NVIDIA GeForce 8800, 2006: that of Harris, quoted by the thesis.
    pub static G80: Machine = Machine { name: "G80", peak: 86.4e9 };
    /// NVIDIA GeForce RTX 3070, 2020: that of the thesis.
    pub static RTX_3070: Machine = Machine { name: "RTX 3070", peak: 448e9 };
    /// NVIDIA GeForce RTX 3090, 2020: that of the blog.
    pub static RTX_3090: Machine = Machine { name: "RTX 3090", peak: 936e9 };
    /// NVIDIA A100, 2020: the thesis's second.
    pub static A100: Machine = Machine { name: "A100", peak: 1555e9 };
}

/// A kernel of a document, or something it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// What the document calls it.
    pub label: &'static str,
    /// What does the same here.
    pub does: Does,
    /// Its figures, as printed.
    pub figures: &'static [Figure],
}

/// What does here as a line of a document does there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// The rung of that name.
    Rung(&'static str),
    /// The rung of that name over another number of elements than the experiment's.
    RungAt(&'static str, u64),
    /// Another library, by the name it has among the peers' figures.
    Library(&'static str),
}

impl Does {
    /// The rung's name, if it is one.
    pub const fn rung(self) -> Option<&'static str> {
        match self {
            Does::Rung(name) | Does::RungAt(name, _) => Some(name),
            Does::Library(_) => None,
        }
    }
}

/// A figure of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// Where it was measured.
    pub machine: &'static Machine,
    /// What it is.
    pub quantity: Quantity,
    /// The digits.
    pub printed: Printed,
    /// Where in the document.
    pub place: &'static str,
}

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// 10^9 bytes of the array per second.
    Gigabytes,
    /// Milliseconds of one reduction.
    Milliseconds,
    /// The rate in percent of that of the document's reference.
    PercentOfReference,
    /// The statistical error of the rate in percent.
    PercentOfError,
}

/// A number as a document prints it: its digits say how exactly it was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Printed(pub &'static str);

impl Printed {
    /// The number.
    ///
    /// # Panics
    /// If the text is none; a test reads every one.
    pub fn value(self) -> f64 {
        self.0.parse().expect("a figure is a number")
    }

    /// One in its last digit.
    pub fn unit(self) -> f64 {
        let (digits, exponent) = self.0.split_once('e').unwrap_or((self.0, "0"));
        let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
        10f64.powi(exponent.parse::<i32>().expect("an exponent is an integer") - decimals)
    }

    /// Whether a number may be meant by it, rounded or cut off.
    pub fn may_be(self, value: f64) -> bool {
        // The slack is for the arithmetic that led to the value, not for the document.
        (self.value() - value).abs() < self.unit() * (1.0 - 1e-9)
    }
}

/// A figure of the prose that can be computed anew.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Where in the document.
    pub place: &'static str,
    /// What it says, around the figure.
    pub says: &'static str,
    /// The figure.
    pub printed: Printed,
    /// Its unit.
    pub unit: &'static str,
    /// What it should be.
    pub computed: fn() -> f64,
    /// How that is computed.
    pub by: &'static str,
}

/// Code or a statement that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// Where in the document.
    pub place: &'static str,
    /// What stands there.
    pub says: &'static str,
    /// What is so.
    pub truth: &'static str,
}

/// Shorthands for the tables of the documents.
pub(super) mod figure {
    use super::{Figure, Machine, Printed, Quantity};

    const fn of(
        machine: &'static Machine,
        quantity: Quantity,
        printed: &'static str,
        place: &'static str,
    ) -> Figure {
        Figure { machine, quantity, printed: Printed(printed), place }
    }

    /// 10^9 bytes per second.
    pub(in crate::replay) const fn rate(
        machine: &'static Machine,
        printed: &'static str,
        place: &'static str,
    ) -> Figure {
        of(machine, Quantity::Gigabytes, printed, place)
    }

    /// Milliseconds.
    pub(in crate::replay) const fn milliseconds(
        machine: &'static Machine,
        printed: &'static str,
        place: &'static str,
    ) -> Figure {
        of(machine, Quantity::Milliseconds, printed, place)
    }

    /// Percent of the reference's rate.
    pub(in crate::replay) const fn relative(
        machine: &'static Machine,
        printed: &'static str,
        place: &'static str,
    ) -> Figure {
        of(machine, Quantity::PercentOfReference, printed, place)
    }

    /// The statistical error in percent.
    pub(in crate::replay) const fn error(
        machine: &'static Machine,
        printed: &'static str,
        place: &'static str,
    ) -> Figure {
        of(machine, Quantity::PercentOfError, printed, place)
    }
}

#[cfg(test)]
mod tests {
    use super::Printed;

    #[test]
    fn digits_say_how_exactly_a_number_is_meant() {
        assert_eq!(Printed("0.136").unit(), 1e-3);
        assert_eq!(Printed("871").unit(), 1.0);
        assert!((Printed("1.3e8").unit() - 1e7).abs() < 1e-6);
        assert!(Printed("17.3").may_be(17.377), "cut off");
        assert!(Printed("17.4").may_be(17.377), "rounded");
        assert!(!Printed("24.7").may_be(25.6));
        assert!(!Printed("5").may_be(6.0));
    }
}
