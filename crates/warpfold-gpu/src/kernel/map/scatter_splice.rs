//! Loads of elements that do not lie one behind the other: one by one, each from its own address.

use std::fmt::Write as _;

use super::kernel::LIE;
use super::loads::element_at;
use super::splice::{Lies, Splice};

/// Registers that elements are loaded to: what their names begin with, and the number of the first.
#[derive(Clone, Copy)]
pub(super) struct To(pub(super) &'static str, pub(super) usize);

/// The guard of what is always there.
pub(super) fn always(_: usize) -> String {
    String::new()
}

impl Splice<'_> {
    /// The elements of a step of the input in a slot, from one on whose index is in a register, each under its guard.
    pub(super) fn load_scattered(
        &self,
        text: &mut String,
        slot: usize,
        elements: usize,
        index: &str,
        guard: &dyn Fn(usize) -> String,
        to: To,
    ) {
        let (input, To(of, register)) = (self.inputs[slot], to);
        let (entry, size) = (self.entry, self.dtype(input).size());
        text.push_str("{\n.reg .b64 wfs_b, wfs_t, wfs_x;\n.reg .b32 wfs_n;\n");
        let _ = writeln!(
            text,
            "ld.param.u64 wfs_b, [{entry}_param_{slot}];\ncvta.to.global.u64 wfs_b, wfs_b;\nld.param.u64 wfs_t, [{entry}_param_{LIE}];"
        );
        let each = |e: usize| register + e * size.div_ceil(4);
        if input.lies == Lies::Apart {
            let _ = writeln!(
                text,
                "mul.lo.u64 wfs_x, {index}, wfs_t;\nmul.lo.u64 wfs_x, wfs_x, {size};\nadd.s64 wfs_b, wfs_b, wfs_x;\nmul.lo.u64 wfs_t, wfs_t, {size};"
            );
            for e in 0..elements {
                element_at(text, &guard(e), size, "wfs_b", each(e), of);
                text.push_str("add.s64 wfs_b, wfs_b, wfs_t;\n");
            }
        } else {
            let wide = if input.lies == Lies::Listed64 { 8 } else { 4 };
            let _ = writeln!(
                text,
                "cvta.to.global.u64 wfs_t, wfs_t;\nmul.lo.u64 wfs_x, {index}, {wide};\nadd.s64 wfs_t, wfs_t, wfs_x;"
            );
            for e in 0..elements {
                let (guard, at) = (guard(e), e * wide);
                let _ = match input.lies {
                    Lies::Listed64 => writeln!(
                        text,
                        "mov.u64 wfs_x, 0;\n{guard}ld.global.u64 wfs_x, [wfs_t+{at}];"
                    ),
                    _ => writeln!(
                        text,
                        "mov.u32 wfs_n, 0;\n{guard}ld.global.u32 wfs_n, [wfs_t+{at}];\ncvt.u64.u32 wfs_x, wfs_n;"
                    ),
                };
                let _ = writeln!(
                    text,
                    "mul.lo.u64 wfs_x, wfs_x, {size};\nadd.s64 wfs_x, wfs_x, wfs_b;"
                );
                element_at(text, &guard, size, "wfs_x", each(e), of);
            }
        }
        text.push_str("}\n");
    }
}
