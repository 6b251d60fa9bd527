//! The pseudo-instructions of whole arrays (`walk/map_array.cuh`): what is loaded where.

use std::fmt::Write as _;

use warpfold_engine::map::Each;

use super::loads::element;
use super::scatter_splice::{To, always};
use super::splice::{Lies, Splice, There};

impl Splice<'_> {
    /// An address in a register: a parameter's, so many bytes further on for each of some steps.
    pub(super) fn address(&self, text: &mut String, slot: usize, step: &str, bytes: usize) {
        let entry = self.entry;
        let code = format!(
            "ld.param.u64 wfs_p, [{entry}_param_{slot}];\ncvta.to.global.u64 wfs_p, wfs_p;\nmul.lo.u64 wfs_o, {step}, {bytes};\nadd.s64 wfs_p, wfs_p, wfs_o;\n"
        );
        text.push_str(&code);
    }

    /// Steps of all inputs, into registers that stay.
    pub(super) fn load(
        &mut self,
        text: &mut String,
        steps: usize,
        elements: usize,
        step: &str,
        stride: &str,
    ) {
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
                    let to = To("wfr_", k * words + first);
                    self.load_scattered(text, slot, elements, "wfs_o", &always, to);
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

    /// One step of all inputs, of which only elements before the end are read; which these are. `from` puts the index of the first into `wfs_o`.
    pub(super) fn load_end(
        &self,
        text: &mut String,
        elements: usize,
        from: &str,
        n: &str,
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
                if self.shape.template.walk().is_none() {
                    address(self, text, slot, input.each, size);
                    element(text, "", size, 0, fixed, "wff_");
                }
                fixed += size.div_ceil(4);
                continue;
            }
            let guard = |e: usize| format!("@wfs_in{e} ");
            if input.lies != Lies::Behind {
                let _ = writeln!(text, "{from}");
                self.load_scattered(text, slot, elements, "wfs_o", &guard, To("wfe_", first));
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
}
