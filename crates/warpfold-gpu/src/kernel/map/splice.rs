//! [`splice`]: the code of a map instead of a template's pseudo-instructions (`walk/map_array.cuh` says what they are).
//!
//! Only parsed programs are printed, by [`Code`](warpfold_expr::ptx::Code), and numbers of registers: nothing that a user wrote is in the text.

use std::fmt::Write as _;

use warpfold_engine::map::Each;
use warpfold_expr::ptx::{self, Raw};
use warpfold_expr::{Id, Program};

use super::kernel::LIE;
use super::rows_splice::{CURRENT, Step};
use super::scatter_splice::{From, To, always};
use super::shape::{Reads, Shape};
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
    let mut text = String::with_capacity(2 * template.len());
    let (mut lines, mut body) = (Vec::new(), None);
    for (number, line) in (1..).zip(template.lines()) {
        let line = line.trim_end();
        let replaced = match line.trim().strip_prefix("warpfold.") {
            Some(marker) => splice.code(marker.trim_end_matches(';'))?,
            None => format!("{line}\n"),
        };
        lines.extend(std::iter::repeat_n(number, replaced.lines().count()));
        text.push_str(&replaced);
        if line == "{" {
            body = body.or(Some((text.len(), lines.len(), number)));
        }
    }
    let declared = format!(
        ".reg .b32 wfr_<{}>;\n.reg .b32 wff_<{fixed}>;\n.reg .b32 wfn_<{fixed}>;\n.reg .b64 wfb_<4>;\n",
        splice.registers.max(1),
        fixed = splice.fixed().max(1)
    );
    let (at, line, number) = body.unwrap_or_else(|| unreachable!("a template has a body"));
    text.insert_str(at, &declared);
    lines.splice(line..line, [number; 3]);
    Ok((text, lines))
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
                let index = format!("mul.lo.u64 wfs_i, {step}, {elements};");
                self.map(&mut text, elements, outputs, kept, &index, There::All, first, "wfr_")?;
            }
            ("end", [_, outputs @ .., kept, step, n]) => {
                let elements = number(0);
                let index = format!("mul.lo.u64 wfs_i, {step}, {elements};");
                let from = format!("mul.lo.u64 wfs_o, {step}, {elements};");
                let whole = |splice: &Self, text: &mut String, slot, each, size| {
                    let size = if each == Each::Row { 0 } else { size };
                    splice.address(text, slot, step, elements * size);
                };
                self.load_end(&mut text, elements, &from, n, From::Whole("wfs_o"), whole);
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
                let index = step.index("wfs_i");
                self.map(&mut text, elements, outputs, kept, &index, There::All, first, "wfr_")?;
            }
            ("end_row", [_, outputs @ .., kept, begin, column, row, end]) => {
                let (elements, step) = (number(0), Step { begin, column, row });
                let from = format!("mov.b64 wfs_o, {column};");
                let row = |splice: &Self, text: &mut String, slot, each, size| {
                    splice.address_of(text, slot, each, step, size);
                };
                let at = From::Row { step, first: CURRENT };
                self.load_end(&mut text, elements, &from, end, at, row);
                let index = step.index("wfs_i");
                self.map(&mut text, elements, outputs, kept, &index, There::Some, 0, "wfe_")?;
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
        match (input.reads, there) {
            _ if input.each == Each::Row => 0,
            (Reads::Vectors, There::All) => (elements * size).div_ceil(4),
            _ => elements * size.div_ceil(4),
        }
    }

    pub(super) fn words(&self, elements: usize) -> usize {
        self.inputs.iter().map(|&input| self.words_of(input, elements, There::All)).sum()
    }

    /// Words of inputs that have one value for a row, which stay in registers of their own.
    pub(super) fn fixed(&self) -> usize {
        let fixed = self.inputs.iter().filter(|input| input.each == Each::Row);
        fixed.map(|&input| self.dtype(input).size().div_ceil(4)).sum()
    }

    /// An address in a register: a parameter's, so many bytes further on for each of some steps.
    fn address(&self, text: &mut String, slot: usize, step: &str, bytes: usize) {
        let entry = self.entry;
        let code = format!(
            "ld.param.u64 wfs_p, [{entry}_param_{slot}];\ncvta.to.global.u64 wfs_p, wfs_p;\nmul.lo.u64 wfs_o, {step}, {bytes};\nadd.s64 wfs_p, wfs_p, wfs_o;\n"
        );
        text.push_str(&code);
    }

    /// Steps of all inputs, into registers that stay.
    fn load(&mut self, text: &mut String, steps: usize, elements: usize, step: &str, stride: &str) {
        text.push_str(".reg .b64 wfs_p, wfs_o;\n");
        let words = self.words(elements);
        self.registers = self.registers.max(steps * words);
        let (mut first, mut fixed) = (0, 0);
        for (slot, &input) in self.inputs.iter().enumerate() {
            let size = self.dtype(input).size();
            if input.each == Each::Row {
                self.address(text, slot, step, 0);
                element(text, "", size, 0, fixed, "wff_");
                fixed += size.div_ceil(4);
                continue;
            }
            if input.lies != Lies::Behind {
                let _ = writeln!(
                    text,
                    "{{\n.reg .b64 wfs_a;\nmul.lo.u64 wfs_a, {stride}, {elements};\nmul.lo.u64 wfs_o, {step}, {elements};"
                );
                for k in 0..steps {
                    let at = From::Whole("wfs_o");
                    let to = To("wfr_", k * words + first);
                    self.load_scattered(text, slot, elements, at, &always, to);
                    text.push_str("add.s64 wfs_o, wfs_o, wfs_a;\n");
                }
                text.push_str("}\n");
                first += self.words_of(input, elements, There::All);
                continue;
            }
            self.address(text, slot, step, elements * size);
            let _ = writeln!(text, "mul.lo.u64 wfs_o, {stride}, {};", elements * size);
            for k in 0..steps {
                if k > 0 {
                    text.push_str("add.s64 wfs_p, wfs_p, wfs_o;\n");
                }
                self.load_step(text, "", input, elements, k * words + first);
            }
            first += self.words_of(input, elements, There::All);
        }
    }

    /// A step of one input, from an address on.
    pub(super) fn load_step(
        &self,
        text: &mut String,
        guard: &str,
        input: Input,
        elements: usize,
        register: usize,
    ) {
        let size = self.dtype(input).size();
        match (input.reads, input.each) {
            // What other rows read too stays in the caches.
            (Reads::Vectors, Each::Column) => {
                vectors(text, guard, "", elements * size, register);
            }
            (Reads::Vectors, _) => vectors(text, guard, ".cs", elements * size, register),
            (Reads::Elements, _) => (0..elements).for_each(|e| {
                let register = register + e * size.div_ceil(4);
                element(text, guard, size, e, register, "wfr_");
            }),
        }
    }

    /// One step of all inputs, of which only elements before the end are read; which these are. `from` puts the index of the first into `wfs_o`.
    fn load_end(
        &self,
        text: &mut String,
        elements: usize,
        from: &str,
        n: &str,
        at: From<'_>,
        address: impl Fn(&Self, &mut String, usize, Each, usize),
    ) {
        let words: usize =
            self.inputs.iter().map(|&input| self.words_of(input, elements, There::Some)).sum();
        let _ = writeln!(
            text,
            ".reg .b64 wfs_p, wfs_o;\n.reg .pred wfs_in<{elements}>;\n.reg .b32 wfe_<{}>;\n{from}",
            words.max(1)
        );
        for e in 0..elements {
            let _ = writeln!(text, "setp.lt.u64 wfs_in{e}, wfs_o, {n};\nadd.s64 wfs_o, wfs_o, 1;");
        }
        for register in 0..words {
            let _ = writeln!(text, "mov.u32 wfe_{register}, 0;");
        }
        let (mut first, mut fixed) = (0, 0);
        for (slot, &input) in self.inputs.iter().enumerate() {
            let size = self.dtype(input).size();
            if input.each == Each::Row {
                // A row's are there since it began.
                if !self.shape.template.is_of_rows() {
                    address(self, text, slot, input.each, size);
                    element(text, "", size, 0, fixed, "wff_");
                }
                fixed += size.div_ceil(4);
                continue;
            }
            let guard = |e: usize| format!("@wfs_in{e} ");
            if input.lies != Lies::Behind {
                let _ = writeln!(text, "{from}");
                self.load_scattered(text, slot, elements, at, &guard, To("wfe_", first));
                first += self.words_of(input, elements, There::Some);
                continue;
            }
            address(self, text, slot, input.each, size);
            for e in 0..elements {
                let guard = guard(e);
                element(text, &guard, size, e, first + e * size.div_ceil(4), "wfe_");
            }
            first += self.words_of(input, elements, There::Some);
        }
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
        if input.each == Each::Row {
            let before = self.inputs.iter().take_while(|input| input.index != index);
            let fixed = before.filter(|input| input.each == Each::Row);
            let word: usize = fixed.map(|&input| self.dtype(input).size().div_ceil(4)).sum();
            let words = [word, word + 1].map(|word| format!("wff_{word}"));
            return Raw { words, bit: 0 };
        }
        let (word, bit) = match (input.reads, there) {
            (Reads::Vectors, There::All) => (e * size / 4, e * size % 4 * 8),
            _ => (e * size.div_ceil(4), 0),
        };
        let register = |k: usize| format!("{of}{}", first + words + word + k);
        Raw { words: [register(0), register(1)], bit: bit as u32 }
    }
}

/// So many bytes from an aligned address.
fn vectors(text: &mut String, guard: &str, cache: &str, bytes: usize, mut register: usize) {
    let mut at = 0;
    while at < bytes {
        let wide = [16, 8, 4, 2].into_iter().find(|&wide| wide <= bytes - at).unwrap_or(2);
        let registers: Vec<String> =
            (0..wide.div_ceil(4)).map(|k| format!("wfr_{}", register + k)).collect();
        let _ = match wide {
            16 => writeln!(
                text,
                "{guard}ld.global{cache}.v4.u32 {{{}}}, [wfs_p+{at}];",
                registers.join(", ")
            ),
            8 => writeln!(
                text,
                "{guard}ld.global{cache}.v2.u32 {{{}}}, [wfs_p+{at}];",
                registers.join(", ")
            ),
            4 => writeln!(text, "{guard}ld.global{cache}.u32 {}, [wfs_p+{at}];", registers[0]),
            _ => writeln!(text, "{guard}ld.global{cache}.u16 {}, [wfs_p+{at}];", registers[0]),
        };
        register += wide.div_ceil(4);
        at += wide;
    }
}

/// One element of those from `wfs_p` on, in one register or two.
pub(super) fn element(
    text: &mut String,
    guard: &str,
    size: usize,
    e: usize,
    register: usize,
    of: &str,
) {
    element_at(text, guard, size, &format!("wfs_p+{}", e * size), register, of);
}

/// One element at an address, in one register or two.
pub(super) fn element_at(
    text: &mut String,
    guard: &str,
    size: usize,
    address: &str,
    register: usize,
    of: &str,
) {
    let _ = match size {
        8 => writeln!(
            text,
            "{guard}ld.global.v2.u32 {{{of}{register}, {of}{}}}, [{address}];",
            register + 1
        ),
        size => writeln!(text, "{guard}ld.global.u{} {of}{register}, [{address}];", 8 * size),
    };
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
