//! Loads of elements that do not lie one behind the other: one by one, each from its own address.

use std::fmt::Write as _;

use super::kernel::LIE;
use super::rows_splice::Step;
use super::splice::{Lies, Splice, element_at};

/// Which element of an input a step begins with.
#[derive(Clone, Copy)]
pub(super) enum From<'s> {
    /// One of all, whose index is in a register.
    Whole(&'s str),
    /// One of a row; in a register is the index of the row's first, where elements are apart.
    Row { step: Step<'s>, first: &'s str },
}

/// Registers that elements are loaded to: what their names begin with, and the number of the first.
#[derive(Clone, Copy)]
pub(super) struct To(pub(super) &'static str, pub(super) usize);

/// The guard of what is always there.
pub(super) fn always(_: usize) -> String {
    String::new()
}

/// Registers of rows, by the parameters of their kernels (`walk/map_rows.cuh`).
const LENGTH: usize = 9;

impl Splice<'_> {
    /// Whether elements of some input are apart.
    pub(super) fn is_apart(&self) -> bool {
        self.inputs.iter().any(|input| input.lies == Lies::Apart)
    }

    /// Where a row begins, in `wfb_2` and `wfb_3`: rows whose elements are so many apart stand side by side, as many as that.
    pub(super) fn scatter_row(&self, text: &mut String, row: &str) {
        if !self.is_apart() {
            return;
        }
        let entry = self.entry;
        let _ = writeln!(
            text,
            "{{\n.reg .b64 wfs_t, wfs_l, wfs_q, wfs_m;\nld.param.u64 wfs_t, [{entry}_param_{LIE}];\nld.param.u64 wfs_l, [{entry}_param_{LENGTH}];\n\
             mul.lo.u64 wfb_2, {row}, wfs_l;\ndiv.u64 wfs_q, {row}, wfs_t;\nmul.lo.u64 wfs_m, wfs_q, wfs_t;\nsub.s64 wfs_m, {row}, wfs_m;\n\
             mul.lo.u64 wfs_q, wfs_q, wfs_t;\nmul.lo.u64 wfs_q, wfs_q, wfs_l;\nadd.s64 wfb_3, wfs_q, wfs_m;\n}}"
        );
    }

    /// The elements of a step of the input in a slot, each under its guard.
    pub(super) fn load_scattered(
        &self,
        text: &mut String,
        slot: usize,
        elements: usize,
        from: From<'_>,
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
            let _ = match from {
                From::Whole(index) => writeln!(text, "mul.lo.u64 wfs_x, {index}, wfs_t;"),
                From::Row { step, first } => {
                    writeln!(
                        text,
                        "mul.lo.u64 wfs_x, {}, wfs_t;\nadd.s64 wfs_x, wfs_x, {first};",
                        step.column
                    )
                }
            };
            let _ = writeln!(
                text,
                "mul.lo.u64 wfs_x, wfs_x, {size};\nadd.s64 wfs_b, wfs_b, wfs_x;\nmul.lo.u64 wfs_t, wfs_t, {size};"
            );
            for e in 0..elements {
                element_at(text, &guard(e), size, "wfs_b", each(e), of);
                text.push_str("add.s64 wfs_b, wfs_b, wfs_t;\n");
            }
        } else {
            let _ = match from {
                From::Whole(index) => writeln!(text, "mov.b64 wfs_x, {index};"),
                From::Row { step, .. } => writeln!(text, "{}", step.index("wfs_x")),
            };
            let wide = if input.lies == Lies::Listed64 { 8 } else { 4 };
            let _ = writeln!(
                text,
                "cvta.to.global.u64 wfs_t, wfs_t;\nmul.lo.u64 wfs_x, wfs_x, {wide};\nadd.s64 wfs_t, wfs_t, wfs_x;"
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
