//! [`splice`]: the code of a map in the place of a template's pseudo-instructions (`walk/map_array.cuh` says what they are).
//!
//! Only parsed programs are printed, by [`Code`](warpfold_expr::ptx::Code), and numbers of registers: nothing that a user wrote is in the text.

use std::fmt::Write as _;

use warpfold_expr::ptx::{self, Raw};
use warpfold_expr::{Id, Program};

use super::shape::{Reads, Shape};
use crate::{DType, Error, Result};

/// An input of a kernel: which of the program's, and how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Input {
    pub(super) place: usize,
    pub(super) reads: Reads,
}

/// What stands in the place of pseudo-instructions.
pub(super) struct Splice<'s> {
    pub(super) program: &'s Program,
    pub(super) shape: &'s Shape,
    inputs: &'s [Input],
    pub(super) entry: &'s str,
    /// Registers of what is loaded ahead.
    registers: usize,
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
    let declared = format!(".reg .b32 wfr_<{}>;\n", splice.registers.max(1));
    let (at, line, number) = body.unwrap_or_else(|| unreachable!("a template has a body"));
    text.insert_str(at, &declared);
    lines.insert(line, number);
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
                self.map(&mut text, elements, outputs, [kept, step], There::All, first, "wfr_")?;
            }
            ("end", [_, outputs @ .., kept, step, n]) => {
                let elements = number(0);
                self.load_end(&mut text, elements, step, n);
                self.map(&mut text, elements, outputs, [kept, step], There::Some, 0, "wfe_")?;
            }
            _ => unreachable!("`{marker}` is no pseudo-instruction"),
        }
        Ok(text + "}\n")
    }

    fn dtype(&self, input: Input) -> DType {
        self.program.inputs()[input.place]
    }

    /// Words of 32 bits that an input's elements of one step are loaded to.
    fn words_of(&self, input: Input, elements: usize, there: There) -> usize {
        let size = self.dtype(input).size();
        match (input.reads, there) {
            (Reads::Vectors, There::All) => (elements * size).div_ceil(4),
            _ => elements * size.div_ceil(4),
        }
    }

    fn words(&self, elements: usize) -> usize {
        self.inputs.iter().map(|&input| self.words_of(input, elements, There::All)).sum()
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
        let mut first = 0;
        for (slot, &input) in self.inputs.iter().enumerate() {
            let size = self.dtype(input).size();
            self.address(text, slot, step, elements * size);
            let _ = writeln!(text, "mul.lo.u64 wfs_o, {stride}, {};", elements * size);
            for k in 0..steps {
                if k > 0 {
                    text.push_str("add.s64 wfs_p, wfs_p, wfs_o;\n");
                }
                let register = k * words + first;
                match input.reads {
                    Reads::Vectors => vectors(text, elements * size, register),
                    Reads::Elements => (0..elements).for_each(|e| {
                        let register = register + e * size.div_ceil(4);
                        element(text, "", size, e, register, "wfr_");
                    }),
                }
            }
            first += self.words_of(input, elements, There::All);
        }
    }

    /// One step of all inputs, of which only elements before the end are read; which these are.
    fn load_end(&self, text: &mut String, elements: usize, step: &str, n: &str) {
        let words: usize =
            self.inputs.iter().map(|&input| self.words_of(input, elements, There::Some)).sum();
        let _ = writeln!(
            text,
            ".reg .b64 wfs_p, wfs_o;\n.reg .pred wfs_in<{elements}>;\n.reg .b32 wfe_<{}>;\nmul.lo.u64 wfs_o, {step}, {elements};",
            words.max(1)
        );
        for e in 0..elements {
            let _ = writeln!(text, "setp.lt.u64 wfs_in{e}, wfs_o, {n};\nadd.s64 wfs_o, wfs_o, 1;");
        }
        for register in 0..words {
            let _ = writeln!(text, "mov.u32 wfe_{register}, 0;");
        }
        let mut first = 0;
        for (slot, &input) in self.inputs.iter().enumerate() {
            let size = self.dtype(input).size();
            self.address(text, slot, step, elements * size);
            for e in 0..elements {
                let guard = format!("@wfs_in{e} ");
                element(text, &guard, size, e, first + e * size.div_ceil(4), "wfe_");
            }
            first += self.words_of(input, elements, There::Some);
        }
    }

    /// Where the bits of an element of an input lie, whose words begin at a register.
    pub(super) fn raw(
        &self,
        place: usize,
        e: usize,
        elements: usize,
        there: There,
        first: usize,
        of: &str,
    ) -> Raw {
        let before = self.inputs.iter().take_while(|input| input.place != place);
        let words: usize = before.map(|&input| self.words_of(input, elements, there)).sum();
        let input = self.inputs.iter().find(|input| input.place == place);
        let input = *input.unwrap_or_else(|| unreachable!("every input that is read is loaded"));
        let size = self.dtype(input).size();
        let (word, bit) = match (input.reads, there) {
            (Reads::Vectors, There::All) => (e * size / 4, e * size % 4 * 8),
            _ => (e * size.div_ceil(4), 0),
        };
        let register = |k: usize| format!("{of}{}", first + words + word + k);
        Raw { words: [register(0), register(1)], bit: bit as u32 }
    }
}

/// So many bytes from an aligned address, read once.
fn vectors(text: &mut String, bytes: usize, mut register: usize) {
    let mut at = 0;
    while at < bytes {
        let wide = [16, 8, 4, 2].into_iter().find(|&wide| wide <= bytes - at).unwrap_or(2);
        let registers: Vec<String> =
            (0..wide.div_ceil(4)).map(|k| format!("wfr_{}", register + k)).collect();
        let _ = match wide {
            16 => writeln!(text, "ld.global.cs.v4.u32 {{{}}}, [wfs_p+{at}];", registers.join(", ")),
            8 => writeln!(text, "ld.global.cs.v2.u32 {{{}}}, [wfs_p+{at}];", registers.join(", ")),
            4 => writeln!(text, "ld.global.cs.u32 {}, [wfs_p+{at}];", registers[0]),
            _ => writeln!(text, "ld.global.cs.u16 {}, [wfs_p+{at}];", registers[0]),
        };
        register += wide.div_ceil(4);
        at += wide;
    }
}

/// One element, in one register or two.
fn element(text: &mut String, guard: &str, size: usize, e: usize, register: usize, of: &str) {
    let at = e * size;
    let _ = match size {
        8 => writeln!(
            text,
            "{guard}ld.global.v2.u32 {{{of}{register}, {of}{}}}, [wfs_p+{at}];",
            register + 1
        ),
        size => writeln!(text, "{guard}ld.global.u{} {of}{register}, [wfs_p+{at}];", 8 * size),
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
