//! [`splice`]: the code of a map instead of a template's pseudo-instructions (`walk/map_array.cuh` says what they are).
//!
//! Only parsed programs are printed, by [`Code`](warpfold_expr::ptx::Code), and numbers of registers: nothing that a user wrote is in the text.

use std::fmt::Write as _;

use warpfold_engine::map::Each;
use warpfold_expr::ptx::{self, Raw};
use warpfold_expr::{Id, Program};

use super::columns_splice::{At, OF_COLUMNS};
use super::kernel::LIE;
use super::rows_splice::Step;
use super::segments_splice::Within;
use super::shape::{Reads, Shape, Walk};
use crate::kernel::template;
use crate::{DType, Error, Result};

/// An input of a kernel: which of the program's, and how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Input {
    pub(super) index: usize,
    pub(super) reads: Reads,
    /// Of whole arrays one value for each row is one for all elements.
    pub(super) each: Each,
    pub(super) lies: Lies,
}

/// Where the elements of an input lie: what is not one behind the other is read element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Lies {
    Behind,
    /// At a distance from one to the next, which a word of the launch says.
    Apart,
    /// At the indices of a list of `u32`, whose address a word of the launch is.
    Listed32,
    /// The same of `u64`.
    Listed64,
}

/// Elements of a step of segments (`walk/map_segments.cuh`).
const OF_STEP: usize = 8;

/// The code that replaces pseudo-instructions.
pub(super) struct Splice<'s> {
    pub(super) program: &'s Program,
    pub(super) shape: &'s Shape,
    pub(super) inputs: &'s [Input],
    pub(super) entry: &'s str,
    /// Registers of what is loaded ahead.
    pub(super) registers: usize,
}

/// Which elements of a step are there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum There {
    All,
    /// Those before the end of the inputs.
    Some,
}

/// The PTX of a template for a map, and which of the template's lines, counted from one, each line of it stands for.
///
/// # Errors
/// [`Error::Map`] for a function that no device has.
///
/// # Panics
/// If the template has other pseudo-instructions than these.
pub(super) fn splice(
    template: &str,
    entry: &str,
    program: &Program,
    shape: &Shape,
    inputs: &[Input],
) -> Result<(String, Vec<u32>)> {
    let mut splice = Splice { program, shape, inputs, entry, registers: 0 };
    let replaced = template::replace(template, |marker| splice.code(marker))?;
    let declared = format!(
        ".reg .b32 wfr_<{}>;\n.reg .b32 wff_<{fixed}>;\n.reg .b32 wfn_<{fixed}>;\n.reg .b64 wfb_<{OF_COLUMNS}>;\n",
        splice.registers.max(1),
        fixed = splice.fixed().max(1)
    );
    Ok(replaced.declaring(&declared))
}

impl Splice<'_> {
    fn code(&mut self, marker: &str) -> Result<String> {
        let (name, operands) = marker.split_once(' ').unwrap_or((marker, ""));
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        let number = |at: usize| -> usize {
            operands[at].parse().unwrap_or_else(|_| unreachable!("`{marker}` has no number"))
        };
        let mut text = String::from("{\n");
        match (name, &operands[..]) {
            ("load", [_, _, step, stride]) => {
                self.load(&mut text, number(0), number(1), step, stride)
            }
            ("map", [_, _, outputs @ .., kept, step]) => {
                let (k, elements) = (number(0), number(1));
                let first = k * self.words(elements);
                let index = consecutive(format!("mul.lo.u64 wfs_i, {step}, {elements};"));
                self.map(&mut text, elements, outputs, kept, &index, There::All, first, "wfr_")?;
            }
            ("end", [_, outputs @ .., kept, step, n]) => {
                let elements = number(0);
                let index = consecutive(format!("mul.lo.u64 wfs_i, {step}, {elements};"));
                let from = format!("mul.lo.u64 wfs_o, {step}, {elements};");
                let whole = |splice: &Self, text: &mut String, slot, each, size| {
                    let size = if each == Each::Row { 0 } else { size };
                    splice.address(text, slot, step, elements * size);
                };
                self.load_end(&mut text, elements, &from, n, whole);
                self.map(&mut text, elements, outputs, kept, &index, There::Some, 0, "wfe_")?;
            }
            ("load_row", [_, _, begin, column, row, apart, end]) => {
                let step = Step { begin, column, row };
                self.load_row(&mut text, number(0), number(1), step, apart, end);
            }
            ("begin_row", [row, end]) => self.begin_row(&mut text, row, end),
            ("next_row", [_, _, begin, column, end]) => {
                let (k, elements) = (number(0), number(1));
                if k < self.ahead(elements) {
                    // Values of rows are not these steps'.
                    let step = Step { begin, column, row: "0" };
                    self.next_row(&mut text, elements, step, end, k * self.words(elements));
                }
            }
            ("map_row", [_, _, outputs @ .., kept, begin, column, row]) => {
                let (k, elements) = (number(0), number(1));
                let first = k * self.words(elements);
                let step = Step { begin, column, row };
                self.load_deferred(&mut text, k, elements, step, first);
                let index = consecutive(step.index("wfs_i"));
                self.map(&mut text, elements, outputs, kept, &index, There::All, first, "wfr_")?;
            }
            ("end_row", [_, outputs @ .., kept, begin, column, row, end]) => {
                let (elements, step) = (number(0), Step { begin, column, row });
                let from = format!("mov.b64 wfs_o, {column};");
                let row = |splice: &Self, text: &mut String, slot, each, size| {
                    splice.address_of(text, slot, each, step, size);
                };
                self.load_end(&mut text, elements, &from, end, row);
                let index = consecutive(step.index("wfs_i"));
                self.map(&mut text, elements, outputs, kept, &index, There::Some, 0, "wfe_")?;
            }
            ("begin_columns", [_, output, apart, count]) => {
                self.begin_columns(&mut text, number(0), output, apart, count);
            }
            ("load_columns", [_, _, _, element, row, rows_apart, apart]) => {
                let at = At { element, row };
                self.load_columns(&mut text, [0, 1, 2].map(number), at, [rows_apart, apart]);
            }
            ("map_columns", [_, _, _, outputs @ .., kept, element, row]) => {
                let (k, elements, columns) = (number(0), number(1), number(2));
                self.load_late_columns(&mut text, k, [elements, columns], At { element, row });
                let index = |e| Self::index_in_columns(e, columns);
                let first = k * self.words(elements);
                self.map(&mut text, elements, outputs, kept, &index, There::All, first, "wfr_")?;
            }
            ("load_tile", [_, _, at, to]) => {
                let (steps, elements) = (number(0), number(1));
                self.registers = self.registers.max(steps * self.words(elements));
                for k in 0..steps {
                    let _ = writeln!(
                        text,
                        "{{\n.reg .b64 wfs_s;\nadd.s64 wfs_s, {at}, {};",
                        k * elements
                    );
                    self.load_tile(&mut text, k, elements, "wfs_s", to);
                    text.push_str("}\n");
                }
            }
            ("next_tile", [_, _, at, to]) => {
                self.load_tile(&mut text, number(0), number(1), at, to);
            }
            ("map_tile", [_, _, outputs @ .., kept, at, from, to, first, last]) => {
                let (k, elements) = (number(0), number(1));
                let within = Within { at, elements: [from, to], segments: [first, last] };
                self.load_of_segments(&mut text, elements, within);
                let (index, first) = (|e| Self::index_within(within, e), k * self.words(elements));
                self.map(&mut text, elements, outputs, kept, &index, There::All, first, "wfr_")?;
            }
            _ => unreachable!("`{marker}` is no pseudo-instruction"),
        }
        Ok(text + "}\n")
    }

    pub(super) fn dtype(&self, input: Input) -> DType {
        self.program.inputs()[input.index]
    }

    /// Words of 32 bits that an input's elements of one step are loaded to.
    pub(super) fn words_of(&self, input: Input, elements: usize, there: There) -> usize {
        let size = self.dtype(input).size();
        if let Some(columns) = self.columns() {
            return self.words_of_columns(input, elements, columns);
        }
        match (input.reads, there) {
            _ if input.each == Each::Row => 0,
            (Reads::Vectors, There::All) => (elements * size).div_ceil(4),
            _ => elements * size.div_ceil(4),
        }
    }

    pub(super) fn words(&self, elements: usize) -> usize {
        self.inputs.iter().map(|&input| self.words_of(input, elements, There::All)).sum()
    }

    /// Words of inputs that have one value for a row, which stay in registers of their own: of columns one for each column of a lane, of segments one for
    /// each element of a step.
    pub(super) fn fixed(&self) -> usize {
        let times = match self.shape.template.walk() {
            Some(Walk::Columns) => self.columns().unwrap_or(1),
            Some(Walk::Segments) => OF_STEP,
            _ => 1,
        };
        self.fixed_of_element() * times
    }

    /// The same of one row, column or element.
    pub(super) fn fixed_of_element(&self) -> usize {
        self.fixed_before(None)
    }

    /// The same of the inputs before one.
    fn fixed_before(&self, index: Option<usize>) -> usize {
        let before = self.inputs.iter().take_while(|input| Some(input.index) != index);
        let fixed = before.filter(|input| input.each == Each::Row);
        fixed.map(|&input| self.dtype(input).size().div_ceil(4)).sum()
    }

    /// Where the bits of an element of an input lie, whose words begin at a register.
    pub(super) fn raw(
        &self,
        index: usize,
        e: usize,
        elements: usize,
        there: There,
        first: usize,
        of: &str,
    ) -> Raw {
        let before = self.inputs.iter().take_while(|input| input.index != index);
        let words: usize = before.map(|&input| self.words_of(input, elements, there)).sum();
        let input = self.inputs.iter().find(|input| input.index == index);
        let input = *input.unwrap_or_else(|| unreachable!("every input that is read is loaded"));
        let size = self.dtype(input).size();
        let of_columns = self.columns().map(|columns| self.place_in_columns(input, e, columns));
        if input.each == Each::Row {
            let part = match self.shape.template.walk() {
                Some(Walk::Columns) => e % self.columns().unwrap_or(1),
                Some(Walk::Segments) => e,
                _ => 0,
            };
            let word = part * self.fixed_of_element() + self.fixed_before(Some(index));
            let words = [word, word + 1].map(|word| format!("wff_{word}"));
            return Raw { words, bit: 0 };
        }
        let (word, bit) = match (input.reads, there) {
            _ if of_columns.is_some() => of_columns.unwrap_or_default(),
            (Reads::Vectors, There::All) => (e * size / 4, e * size % 4 * 8),
            _ => (e * size.div_ceil(4), 0),
        };
        let register = |k: usize| format!("{of}{}", first + words + word + k);
        Raw { words: [register(0), register(1)], bit: bit as u32 }
    }
}

/// Indices of elements one behind the other, the first of which code puts into `wfs_i`.
fn consecutive(first: String) -> impl Fn(usize) -> String {
    move |e| if e == 0 { first.clone() } else { "add.s64 wfs_i, wfs_i, 1;".into() }
}

/// The inputs that a kernel reads.
///
/// # Errors
/// [`Error::Map`] if they are more than a kernel takes.
pub(super) fn inputs(program: &Program, shape: &Shape) -> Result<Vec<usize>> {
    let ids: Vec<Id> = shape.ids().into_iter().chain(shape.keep).collect();
    let inputs = ptx::inputs(program, &ids);
    let most = warpfold_kernels::catalog::MAP_INPUTS;
    if inputs.len() > most {
        return Err(Error::Map {
            requested: "a map on a device".into(),
            obstacle: format!("it reads {} inputs, and a kernel reads {most}", inputs.len()),
            remedy: "map in steps, or reduce on the processor".into(),
        });
    }
    Ok(inputs)
}

/// Refuses more inputs than fit beside the word that says where elements lie.
///
/// # Errors
/// [`Error::Map`].
pub(super) fn check_lies(inputs: &[Input]) -> Result<()> {
    let is_scattered = inputs.iter().any(|input| input.lies != Lies::Behind);
    if !is_scattered || inputs.len() <= LIE {
        return Ok(());
    }
    Err(Error::Map {
        requested: "a map of columns or of keys on a device".into(),
        obstacle: format!("it reads {} inputs, and a kernel of those reads {LIE}", inputs.len()),
        remedy: "map in steps, or reduce on the processor".into(),
    })
}
