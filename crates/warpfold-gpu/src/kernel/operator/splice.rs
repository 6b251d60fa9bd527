//! [`splice`]: the code of an operator instead of a template's pseudo-instructions (`walk/operator.cuh` says what they are).
//!
//! A thread's own state is in `wfo_`, another one's in `wft_`; elements that were loaded are in `wfr_`, those that are folded in `wfc_`. Only parsed programs are
//! printed, and numbers of registers: nothing that a user wrote is in the text.

use std::fmt::Write as _;

use warpfold_engine::operator::TypedOperator;
use warpfold_expr::Type;
use warpfold_expr::ptx::Raw;

use crate::Result;
use crate::kernel::map::loads::{element, vectors};
use crate::kernel::map::shape::Reads;
use crate::kernel::template;

/// The registers of states.
const OWN: &str = "wfo_";
const OTHER: &str = "wft_";
/// What an operation does that has no value.
const FAULT: &str = "red.global.or.b64 [wfx_f], 1;";

/// An input that an operator reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Input {
    /// Which of the operator's.
    pub(super) index: usize,
    pub(super) reads: Reads,
    /// Bytes of an element.
    pub(super) size: usize,
}

impl Input {
    /// Words of so many elements.
    fn words(self, elements: usize) -> usize {
        match self.reads {
            Reads::Vectors => (elements * self.size).div_ceil(4),
            Reads::Elements => elements * self.size.div_ceil(4),
        }
    }

    /// The first word of an element, and its first bit there.
    fn place(self, e: usize) -> (usize, u32) {
        match self.reads {
            Reads::Vectors => (e * self.size / 4, (e * self.size % 4 * 8) as u32),
            Reads::Elements => (e * self.size.div_ceil(4), 0),
        }
    }
}

/// The code that replaces pseudo-instructions.
struct Splice<'s> {
    operator: &'s TypedOperator,
    inputs: &'s [Input],
}

/// The PTX of a template for an operator, and which of the template's lines, counted from one, each line of it stands for. Inputs are the first of so many
/// parameters, and the last one is where faults go.
///
/// # Panics
/// If the template has other pseudo-instructions than these.
pub(super) fn splice(
    template: &str,
    (entry, parameters): (&str, usize),
    operator: &TypedOperator,
    inputs: &[Input],
) -> Result<(String, Vec<u32>)> {
    let splice = Splice { operator, inputs };
    let replaced = template::replace(template, |marker| Ok(splice.code(marker)))?;
    Ok(replaced.declaring(&splice.declared(entry, parameters)))
}

impl Splice<'_> {
    /// Elements that are loaded at once: of all inputs 32 bytes, which is what memory gives, more or less.
    fn group(&self) -> usize {
        let bytes: usize = self.inputs.iter().map(|input| input.size).sum();
        (32 / bytes.max(1)).clamp(4, 16).next_power_of_two()
    }

    fn words(&self, elements: usize) -> usize {
        self.inputs.iter().map(|input| input.words(elements)).sum()
    }

    /// Registers, and the addresses of inputs and of the word for faults.
    fn declared(&self, entry: &str, parameters: usize) -> String {
        let words = self.words(self.group()).max(self.words(1)).max(1);
        let states = 2 * self.operator.fields().count();
        let mut text = format!(
            ".reg .b32 wfr_<{words}>, wfc_<{words}>, {OWN}<{states}>, {OTHER}<{states}>;\n"
        );
        let inputs = (0..self.inputs.len()).map(|k| (k.to_string(), k));
        for (name, parameter) in inputs.chain([("f".into(), parameters - 1)]) {
            let _ = writeln!(
                text,
                ".reg .b64 wfx_{name};\nld.param.u64 wfx_{name}, [{entry}_param_{parameter}];\ncvta.to.global.u64 wfx_{name}, wfx_{name};"
            );
        }
        text
    }

    fn code(&self, marker: &str) -> String {
        let (name, operands) = marker.split_once(' ').unwrap_or((marker, ""));
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        let code = match (name, &operands[..]) {
            ("group", [group]) => format!("mov.u32 {group}, {};\n", self.group()),
            ("load_run", [from]) => self.load(from),
            ("fold", [first, from, next]) => self.fold(first, from, next),
            ("leaf", [first, index, at]) => self.leaf(first, index, at),
            ("put_shared", [at, field]) => self.in_shared("st", OWN, at, field),
            ("get_shared", [at, field]) => self.in_shared("ld", OWN, at, field),
            ("left_shared", [at, field]) => {
                self.in_shared("ld", OTHER, at, field) + &self.merge(OTHER, OWN)
            }
            ("right_shared", [at, field]) => {
                self.in_shared("ld", OTHER, at, field) + &self.merge(OWN, OTHER)
            }
            ("put", [at]) => self.in_global("st", OWN, at),
            ("get", [at]) => self.in_global("ld", OWN, at),
            ("right", [at]) => self.in_global("ld", OTHER, at) + &self.merge(OWN, OTHER),
            _ => unreachable!("`{marker}` is no pseudo-instruction"),
        };
        format!("{{\n{code}}}\n")
    }

    /// Starts to load a group of elements.
    fn load(&self, from: &str) -> String {
        let (mut text, mut register, group) = (String::new(), 0, self.group());
        text.push_str(".reg .b64 wfs_p;\n");
        for (k, input) in self.inputs.iter().enumerate() {
            let _ = writeln!(text, "mad.lo.u64 wfs_p, {from}, {}, wfx_{k};", input.size);
            match input.reads {
                Reads::Vectors => vectors(&mut text, "", "", group * input.size, register),
                Reads::Elements => (0..group).for_each(|e| {
                    let register = register + e * input.size.div_ceil(4);
                    element(&mut text, "", input.size, e, register, "wfr_");
                }),
            }
            register += input.words(group);
        }
        text
    }

    /// Takes in the elements that were loaded, while the next ones are.
    fn fold(&self, first: &str, from: &str, next: &str) -> String {
        let group = self.group();
        let mut text = String::new();
        for word in 0..self.words(group) {
            let _ = writeln!(text, "mov.b32 wfc_{word}, wfr_{word};");
        }
        let _ = writeln!(text, "{{\n{}}}", self.load(next));
        for e in 0..group {
            let state = self.lift(group, e, from);
            text.push_str(&match e {
                0 => self.begin_or_merge(first, &state),
                _ => state + &self.merge(OWN, OTHER),
            });
        }
        text
    }

    /// One element that is not loaded.
    fn leaf(&self, first: &str, index: &str, at: &str) -> String {
        let (mut text, mut register) = (String::from(".reg .b64 wfs_p;\n"), 0);
        for (k, input) in self.inputs.iter().enumerate() {
            let _ = writeln!(text, "mad.lo.u64 wfs_p, {at}, {}, wfx_{k};", input.size);
            element(&mut text, "", input.size, 0, register, "wfc_");
            register += input.size.div_ceil(4);
        }
        text + &self.begin_or_merge(first, &self.lift(1, 0, index))
    }

    /// The state of an element of a group, as another one.
    fn lift(&self, group: usize, e: usize, from: &str) -> String {
        let alone = |input: &Input| match group {
            1 => Input { reads: Reads::Elements, ..*input },
            _ => *input,
        };
        let index = self.operator.inputs().len();
        let raw = |input: usize| {
            if input == index {
                return Raw { words: ["wfi_0", "wfi_1"].map(str::to_owned), bit: 0 };
            }
            let before = self.inputs.iter().take_while(|known| known.index != input);
            let first: usize = before.map(|known| alone(known).words(group)).sum();
            let known = self.inputs.iter().find(|known| known.index == input);
            let known = known.unwrap_or_else(|| unreachable!("what is read is loaded"));
            let (word, bit) = alone(known).place(e);
            Raw { words: [word, word + 1].map(|word| format!("wfc_{}", first + word)), bit }
        };
        let state = self.operator.print_lift(raw, OTHER, FAULT);
        match self.operator.reads().contains(&index) {
            true => format!(
                "{{\n.reg .b32 wfi_<2>;\n.reg .b64 wfi;\nadd.u64 wfi, {from}, {e};\nmov.b64 {{wfi_0, wfi_1}}, wfi;\n{state}}}\n"
            ),
            false => state,
        }
    }

    /// What another state comes to: a new one of the thread's, or more of it.
    fn begin_or_merge(&self, first: &str, lifted: &str) -> String {
        let mut text = format!(
            "{lifted}{{\n.reg .pred wfs_q;\nsetp.ne.u32 wfs_q, {first}, 0;\n@wfs_q bra wfs_begin;\n{}bra wfs_end;\nwfs_begin:\n",
            self.merge(OWN, OTHER)
        );
        for word in self.words_of_states() {
            let _ = writeln!(text, "mov.b32 {OWN}{word}, {OTHER}{word};");
        }
        text + "wfs_end:\n}\n"
    }

    fn merge(&self, left: &str, right: &str) -> String {
        self.operator.print_merge(left, right, OWN, FAULT)
    }

    /// The words that fields have.
    fn words_of_states(&self) -> impl Iterator<Item = usize> + '_ {
        let fields = self.operator.fields().enumerate();
        fields.flat_map(|(k, ty)| if ty == Type::F32 { 2 * k..2 * k + 1 } else { 2 * k..2 * k + 2 })
    }

    /// Takes a state from shared memory, or leaves it there: a field every so many bytes.
    fn in_shared(&self, how: &str, state: &str, at: &str, field: &str) -> String {
        let mut text = format!(".reg .b32 wfs_a;\nmov.b32 wfs_a, {at};\n");
        for (k, ty) in self.operator.fields().enumerate() {
            if k > 0 {
                let _ = writeln!(text, "add.u32 wfs_a, wfs_a, {field};");
            }
            text.push_str(&moved(how, "shared", (state, k, ty), "wfs_a"));
        }
        text
    }

    /// The same in global memory, a field every 8 bytes.
    fn in_global(&self, how: &str, state: &str, at: &str) -> String {
        let mut text = format!(".reg .b64 wfs_a;\ncvta.to.global.u64 wfs_a, {at};\n");
        for (k, ty) in self.operator.fields().enumerate() {
            text.push_str(&moved(how, "global", (state, k, ty), &format!("wfs_a+{}", 8 * k)));
        }
        text
    }
}

/// A field of a state, from memory or to it.
fn moved(how: &str, space: &str, (state, k, ty): (&str, usize, Type), address: &str) -> String {
    let (low, high) = (format!("{state}{}", 2 * k), format!("{state}{}", 2 * k + 1));
    match (how, ty) {
        ("ld", Type::F32) => format!("ld.{space}.u32 {low}, [{address}];\n"),
        ("ld", _) => format!("ld.{space}.v2.u32 {{{low}, {high}}}, [{address}];\n"),
        (_, Type::F32) => format!("st.{space}.u32 [{address}], {low};\n"),
        _ => format!("st.{space}.v2.u32 [{address}], {{{low}, {high}}};\n"),
    }
}
