//! The pseudo-instructions of rows (`walk/map_rows.cuh`): what is loaded where.

use std::fmt::Write as _;

use warpfold_engine::map::Each;

use super::loads::element;
use super::splice::{Input, Splice, There};

/// Where a step of a row begins, by registers.
#[derive(Clone, Copy)]
pub(super) struct Step<'s> {
    pub(super) begin: &'s str,
    pub(super) column: &'s str,
    pub(super) row: &'s str,
}

/// Words of steps that are loaded ahead at most: more of them would be spilled. Where all steps of all inputs are more than so many, what other rows read
/// too, and the caches hold, is loaded when it is mapped.
const AHEAD: usize = 64;
const ALL_AHEAD: usize = 48;
/// Steps of a row that a template asks for (`FLIGHT` of `walk/map_rows.cuh`).
const FLIGHT: usize = 4;

impl Step<'_> {
    /// Puts the index of its first element into a register.
    pub(super) fn index(self, to: &str) -> String {
        format!("add.s64 {to}, {}, {};", self.begin, self.column)
    }
}

impl Splice<'_> {
    /// Steps of a row that are loaded before the first of them is mapped.
    pub(super) fn ahead(&self, elements: usize) -> usize {
        let early = self.inputs.iter().filter(|&&input| !self.is_deferred(input, elements));
        let words: usize = early.map(|&input| self.words_of(input, elements, There::All)).sum();
        (AHEAD / words.max(1)).max(1)
    }

    /// Whether an input is loaded when it is mapped.
    pub(super) fn is_deferred(&self, input: Input, elements: usize) -> bool {
        input.each == Each::Column && FLIGHT * self.words(elements) > ALL_AHEAD
    }

    /// The address of an input at a step of a row, or of its value for the row.
    pub(super) fn address_of(
        &self,
        text: &mut String,
        slot: usize,
        each: Each,
        step: Step<'_>,
        size: usize,
    ) {
        let index = match each {
            Each::Element => step.index("wfs_o"),
            Each::Column => format!("mov.b64 wfs_o, {};", step.column),
            Each::Row => format!("mov.b64 wfs_o, {};", step.row),
        };
        let _ = writeln!(
            text,
            "ld.param.u64 wfs_p, [{}_param_{slot}];\ncvta.to.global.u64 wfs_p, wfs_p;\n{index}\nmul.lo.u64 wfs_o, wfs_o, {size};\nadd.s64 wfs_p, wfs_p, wfs_o;",
            self.entry
        );
    }

    /// Steps of a row of all inputs, as far as they end before its end, into registers that stay.
    pub(super) fn load_row(
        &mut self,
        text: &mut String,
        steps: usize,
        elements: usize,
        step: Step<'_>,
        apart: &str,
        end: &str,
    ) {
        let (words, ahead) = (self.words(elements), self.ahead(elements).min(steps));
        self.registers = self.registers.max(steps * words);
        let column = step.column;
        let _ = writeln!(
            text,
            ".reg .b64 wfs_p, wfs_o, wfs_a;\n.reg .pred wfs_f, wfs_g<{steps}>;\nadd.s64 wfs_o, {column}, {elements};"
        );
        for k in 0..ahead {
            let _ = writeln!(
                text,
                "setp.le.u64 wfs_g{k}, wfs_o, {end};\nadd.s64 wfs_o, wfs_o, {apart};"
            );
        }
        let (mut first, mut fixed) = (0, 0);
        for (slot, &input) in self.inputs.iter().enumerate() {
            let size = self.dtype(input).size();
            self.address_of(text, slot, input.each, step, size);
            if input.each == Each::Row {
                // A row's lanes all want it, whether they have a step of it or not.
                let _ = writeln!(text, "setp.ne.u64 wfs_f, {end}, 0;");
                element(text, "@wfs_f ", size, 0, fixed, "wfn_");
                fixed += size.div_ceil(4);
                continue;
            }
            let _ = writeln!(text, "mul.lo.u64 wfs_a, {apart}, {size};");
            for k in (0..ahead).take_while(|_| !self.is_deferred(input, elements)) {
                if k > 0 {
                    text.push_str("add.s64 wfs_p, wfs_p, wfs_a;\n");
                }
                let guard = format!("@wfs_g{k} ");
                self.load_step(text, &guard, input, elements, k * words + first);
            }
            first += self.words_of(input, elements, There::All);
        }
    }

    /// The values of a row, which were loaded before it began, and those of the next one.
    pub(super) fn begin_row(&self, text: &mut String, row: &str, end: &str) {
        let step = Step { begin: "0", column: "0", row };
        let _ = writeln!(
            text,
            ".reg .b64 wfs_p, wfs_o;\n.reg .pred wfs_f;\nsetp.ne.u64 wfs_f, {end}, 0;"
        );
        for register in 0..self.fixed() {
            let _ = writeln!(text, "mov.b32 wff_{register}, wfn_{register};");
        }
        let mut fixed = 0;
        for (slot, &input) in self.inputs.iter().enumerate() {
            if input.each == Each::Row {
                let size = self.dtype(input).size();
                self.address_of(text, slot, input.each, step, size);
                element(text, "@wfs_f ", size, 0, fixed, "wfn_");
                fixed += size.div_ceil(4);
            }
        }
    }

    /// One step, if it ends before the end, in the place of one that was mapped.
    pub(super) fn next_row(
        &self,
        text: &mut String,
        elements: usize,
        step: Step<'_>,
        end: &str,
        mut first: usize,
    ) {
        let column = step.column;
        let _ = writeln!(
            text,
            ".reg .b64 wfs_p, wfs_o;\n.reg .pred wfs_g;\nadd.s64 wfs_o, {column}, {elements};\nsetp.le.u64 wfs_g, wfs_o, {end};"
        );
        for (slot, &input) in self.inputs.iter().enumerate() {
            if input.each == Each::Row {
                continue;
            }
            if !self.is_deferred(input, elements) {
                self.address_of(text, slot, input.each, step, self.dtype(input).size());
                self.load_step(text, "@wfs_g ", input, elements, first);
            }
            first += self.words_of(input, elements, There::All);
        }
    }

    /// What of a step of a row, which is there, was not loaded before.
    pub(super) fn load_deferred(
        &self,
        text: &mut String,
        k: usize,
        elements: usize,
        step: Step<'_>,
        mut first: usize,
    ) {
        let is_all = k >= self.ahead(elements);
        text.push_str(".reg .b64 wfs_p, wfs_o;\n");
        for (slot, &input) in self.inputs.iter().enumerate() {
            if input.each == Each::Row {
                continue;
            }
            if is_all || self.is_deferred(input, elements) {
                self.address_of(text, slot, input.each, step, self.dtype(input).size());
                self.load_step(text, "", input, elements, first);
            }
            first += self.words_of(input, elements, There::All);
        }
    }
}
