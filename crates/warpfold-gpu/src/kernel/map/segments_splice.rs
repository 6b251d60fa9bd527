//! The pseudo-instructions of segments (`walk/map_segments.cuh`): what is loaded where.

use std::fmt::Write as _;

use warpfold_engine::map::Each;

use super::kernel::LIE;
use super::loads::element_at;
use super::shape::Reads;
use super::splice::{Input, Lies, Splice, There};

/// Parameters of the kernels.
const N: usize = 9;
const OFFSETS: usize = 15;
const OFFSET_BYTES: usize = 16;

/// What a step that is mapped belongs to, by registers: elements, and segments.
#[derive(Clone, Copy)]
pub(super) struct Within<'s> {
    pub(super) at: &'s str,
    pub(super) elements: [&'s str; 2],
    pub(super) segments: [&'s str; 2],
}

impl Splice<'_> {
    /// A step of all inputs, if it begins before an element. Of one that reaches beyond all elements, the last stands in their place.
    pub(super) fn load_tile(
        &self,
        text: &mut String,
        k: usize,
        elements: usize,
        at: &str,
        to: &str,
    ) {
        let _ = writeln!(
            text,
            ".reg .b64 wfs_p, wfs_o, wfs_n, wfs_l, wfs_x;\n.reg .b32 wfs_h, wfs_j;\n.reg .pred wfs_g, wfs_w;\n\
             setp.ge.u64 wfs_g, {at}, {to};\n@wfs_g bra wfs_done;\nld.param.u64 wfs_n, [{entry}_param_{N}];\n\
             add.s64 wfs_o, {at}, {elements};\nsetp.gt.u64 wfs_w, wfs_o, wfs_n;\n@wfs_w bra wfs_tail;",
            entry = self.entry
        );
        self.each_input(text, k, elements, |splice, text, slot, input, first| {
            splice.load_of_tile(text, slot, input, elements, at, first);
        });
        text.push_str("bra.uni wfs_done;\nwfs_tail:\n");
        self.each_input(text, k, elements, |splice, text, slot, input, first| {
            for e in 0..elements {
                let _ = writeln!(
                    text,
                    "add.s64 wfs_o, {at}, {e};\nsub.s64 wfs_l, wfs_n, 1;\nmin.u64 wfs_o, wfs_o, wfs_l;"
                );
                splice.load_one(text, slot, input, e, first);
            }
        });
        text.push_str("wfs_done:\n");
    }

    /// All inputs that have a value for each element, with the first of their registers of step k.
    fn each_input(
        &self,
        text: &mut String,
        k: usize,
        elements: usize,
        of: impl Fn(&Self, &mut String, usize, Input, usize),
    ) {
        let mut first = k * self.words(elements);
        for (slot, &input) in self.inputs.iter().enumerate() {
            if input.each == Each::Element {
                of(self, text, slot, input, first);
                first += self.words_of(input, elements, There::All);
            }
        }
    }

    /// A step of an input, all of which is there.
    fn load_of_tile(
        &self,
        text: &mut String,
        slot: usize,
        input: Input,
        elements: usize,
        at: &str,
        first: usize,
    ) {
        if input.lies == Lies::Behind {
            let (entry, size) = (self.entry, self.dtype(input).size());
            let _ = writeln!(
                text,
                "ld.param.u64 wfs_p, [{entry}_param_{slot}];\ncvta.to.global.u64 wfs_p, wfs_p;\nmad.lo.s64 wfs_p, {at}, {size}, wfs_p;"
            );
            return self.load_step(text, "", input, elements, first);
        }
        for e in 0..elements {
            let _ = writeln!(text, "add.s64 wfs_o, {at}, {e};");
            self.load_one(text, slot, input, e, first);
        }
    }

    /// An element of an input, whose index is in `wfs_o`, to its place in a step's registers.
    fn load_one(&self, text: &mut String, slot: usize, input: Input, e: usize, first: usize) {
        let (entry, size) = (self.entry, self.dtype(input).size());
        let wide = match input.lies {
            Lies::Listed32 => Some(4),
            Lies::Listed64 => Some(8),
            _ => None,
        };
        if let Some(wide) = wide {
            let _ = writeln!(
                text,
                "ld.param.u64 wfs_x, [{entry}_param_{LIE}];\ncvta.to.global.u64 wfs_x, wfs_x;\nmad.lo.s64 wfs_x, wfs_o, {wide}, wfs_x;"
            );
            text.push_str(match wide {
                4 => "ld.global.u32 wfs_h, [wfs_x];\ncvt.u64.u32 wfs_o, wfs_h;\n",
                _ => "ld.global.u64 wfs_o, [wfs_x];\n",
            });
        }
        let _ = writeln!(
            text,
            "ld.param.u64 wfs_p, [{entry}_param_{slot}];\ncvta.to.global.u64 wfs_p, wfs_p;\nmad.lo.s64 wfs_p, wfs_o, {size}, wfs_p;"
        );
        if input.reads == Reads::Elements || size >= 4 {
            return element_at(text, "", size, "wfs_p", first + e * size.div_ceil(4), "wfr_");
        }
        // Several elements a word.
        let (word, bit) = (first + e * size / 4, e * size % 4 * 8);
        let _ = writeln!(text, "ld.global.u{} wfs_h, [wfs_p];", 8 * size);
        let _ = match bit {
            0 => writeln!(text, "mov.b32 wfr_{word}, wfs_h;"),
            _ => writeln!(
                text,
                "shl.b32 wfs_j, wfs_h, {bit};\nor.b32 wfr_{word}, wfr_{word}, wfs_j;"
            ),
        };
    }

    /// The index of an element, so that nothing is reported of those that are not the warp's.
    pub(super) fn index_within(within: Within<'_>, e: usize) -> String {
        let (Within { at, elements: [from, to], .. }, p) = (within, "wfs_r");
        format!(
            "{{\n.reg .pred {p};\nadd.s64 wfs_i, {at}, {e};\nsetp.ge.u64 {p}, wfs_i, {from};\n\
             setp.lt.and.u64 {p}, wfs_i, {to}, {p};\nselp.b64 wfs_i, wfs_i, -1, {p};\n}}"
        )
    }

    /// The values that segments have, for each element of a step that of its own; what is not the warp's has that of the nearest element.
    pub(super) fn load_of_segments(&self, text: &mut String, elements: usize, within: Within<'_>) {
        if self.fixed() == 0 {
            return;
        }
        let Within { at, elements: [from, to], segments: [first, last] } = within;
        let entry = self.entry;
        // The last segment that begins at the element or before it, by halves; from there on one by one.
        let bound = |k: &str, to: &str| {
            format!(
                "mad.lo.s64 wfs_x, {k}, wfs_y, wfs_a;\n@wfs_g ld.global.u32 wfs_h, [wfs_x];\n@wfs_g cvt.u64.u32 {to}, wfs_h;\n@!wfs_g ld.global.u64 {to}, [wfs_x];\n"
            )
        };
        let _ = write!(
            text,
            ".reg .b64 wfs_p, wfs_k, wfs_m, wfs_t, wfs_u, wfs_v, wfs_x, wfs_y, wfs_a, wfs_z;\n.reg .b32 wfs_h;\n.reg .pred wfs_g, wfs_d;\n\
             ld.param.u64 wfs_a, [{entry}_param_{OFFSETS}];\ncvta.to.global.u64 wfs_a, wfs_a;\nld.param.u64 wfs_y, [{entry}_param_{OFFSET_BYTES}];\n\
             setp.eq.u64 wfs_g, wfs_y, 4;\nld.param.u64 wfs_z, [{entry}_param_8];\nsub.s64 wfs_z, wfs_z, 1;\nmin.u64 wfs_m, {last}, wfs_z;\n\
             mov.b64 wfs_z, wfs_m;\nmov.b64 wfs_k, {first};\nsub.s64 wfs_v, {to}, 1;\nmax.u64 wfs_u, {at}, {from};\nmin.u64 wfs_u, wfs_u, wfs_v;\n\
             wfs_half:\nsetp.ge.u64 wfs_d, wfs_k, wfs_m;\n@wfs_d bra wfs_found;\nadd.s64 wfs_t, wfs_k, wfs_m;\nadd.s64 wfs_t, wfs_t, 1;\nshr.u64 wfs_t, wfs_t, 1;\n\
             {}setp.le.u64 wfs_d, wfs_p, wfs_u;\n@wfs_d mov.b64 wfs_k, wfs_t;\n@!wfs_d sub.s64 wfs_m, wfs_t, 1;\nbra wfs_half;\nwfs_found:\n",
            bound("wfs_t", "wfs_p")
        );
        for e in 0..elements {
            let _ = write!(
                text,
                "{{\nadd.s64 wfs_u, {at}, {e};\nmax.u64 wfs_u, wfs_u, {from};\nmin.u64 wfs_u, wfs_u, wfs_v;\n\
                 wfs_on:\nsetp.ge.u64 wfs_d, wfs_k, wfs_z;\n@wfs_d bra wfs_there;\nadd.s64 wfs_t, wfs_k, 1;\n{}setp.gt.u64 wfs_d, wfs_p, wfs_u;\n\
                 @wfs_d bra wfs_there;\nmov.b64 wfs_k, wfs_t;\nbra wfs_on;\nwfs_there:\n}}\n",
                bound("wfs_t", "wfs_p")
            );
            let mut fixed = e * self.fixed_of_element();
            for (slot, &input) in self.inputs.iter().enumerate() {
                if input.each == Each::Row {
                    let size = self.dtype(input).size();
                    let _ = writeln!(
                        text,
                        "ld.param.u64 wfs_p, [{entry}_param_{slot}];\ncvta.to.global.u64 wfs_p, wfs_p;\nmad.lo.s64 wfs_p, wfs_k, {size}, wfs_p;"
                    );
                    element_at(text, "", size, "wfs_p", fixed, "wff_");
                    fixed += size.div_ceil(4);
                }
            }
        }
    }
}
