//! The elements of a step, mapped one after another: their values into the words that a template takes, and what is reported of them.

use std::fmt::Write as _;

use warpfold_engine::map::HALF;
use warpfold_expr::ptx::Code;
use warpfold_expr::{Id, Type, lanes};

use super::shape::{Reports, Shape, Values, suffix};
use super::splice::{Splice, There};
use crate::Result;

impl Splice<'_> {
    /// One step of what is loaded, mapped; `index` puts that of an element into `wfs_i`, where that of the one before is.
    #[allow(
        clippy::too_many_arguments,
        reason = "what a pseudo-instruction says, and where its words lie"
    )]
    pub(super) fn map(
        &self,
        text: &mut String,
        elements: usize,
        outputs: &[&str],
        kept: &str,
        index: &dyn Fn(usize) -> String,
        there: There,
        first: usize,
        of: &str,
    ) -> Result<()> {
        let Shape { values, keep, .. } = *self.shape;
        let ids = self.shape.ids();
        let _ = writeln!(
            text,
            ".reg .b64 wfs_i, wfs_c;\nld.param.u64 wfs_c, [{}_param_11];\ncvta.to.global.u64 wfs_c, wfs_c;",
            self.entry
        );
        let is_whole = keep.is_none() && self.shape.nans.is_empty() && there == There::All;
        let all = if is_whole { (1 << elements) - 1 } else { 0 };
        let _ = writeln!(text, "mov.u32 {kept}, {all};");
        if let Values::Condition(_) | Values::IsNan(_) = values {
            let _ = writeln!(text, "mov.u32 {}, 0;", outputs[0]);
        }
        for e in 0..elements {
            let raw = |index| self.raw(index, e, elements, there, first, of);
            let mut code = Code::new(self.program, &ids, keep, raw);
            let fault = code.fault();
            if fault.is_some() || self.shape.weight.is_some() {
                let _ = writeln!(text, "{}", index(e));
            }
            let _ = write!(text, "{{\n{}", code.text());
            text.push_str(".reg .pred wfs_ok, wfs_q;\n.reg .b32 wfs_w;\n.reg .b64 wfs_l;\n");
            if let Some(fault) = fault {
                self.tell(text, fault, "min", 0, e, there);
            }
            if !is_whole {
                self.counts(text, &code, there, e);
                let _ = writeln!(
                    text,
                    "selp.u32 wfs_w, {}, 0, wfs_ok;\nor.b32 {kept}, {kept}, wfs_w;",
                    1 << e
                );
            }
            if let Some(weight) = self.shape.weight {
                self.weight(text, &code, weight, e, is_whole);
            }
            match self.shape.reports {
                Reports::Nothing => {}
                Reports::Differences => self.differences(text, &code, is_whole),
                Reports::Exponents(id) => self.exponents(text, &code, id, is_whole),
                Reports::Halves(id) => self.halves(text, &code, id, is_whole),
            }
            let mut words = outputs.chunks(outputs.len() / values.count());
            for (id, outputs) in values.ids().zip(&mut words) {
                self.value(text, &code, id, outputs, e, is_whole);
            }
            // The other factor, where it is no value.
            if let Some(ones) = words.next() {
                let _ = writeln!(text, "mov.b32 {}, 0x3F800000;", ones[e]);
            }
            text.push_str("}\n");
        }
        Ok(())
    }

    /// Which elements count.
    fn counts(&self, text: &mut String, code: &Code<'_>, there: There, e: usize) {
        match (self.shape.keep, there) {
            (Some(keep), There::All) => {
                _ = writeln!(text, "mov.pred wfs_ok, {};", code.value(keep))
            }
            (Some(keep), There::Some) => {
                let _ = writeln!(text, "and.pred wfs_ok, {}, wfs_in{e};", code.value(keep));
            }
            (None, There::All) => text.push_str("mov.pred wfs_ok, -1;\n"),
            (None, There::Some) => _ = writeln!(text, "mov.pred wfs_ok, wfs_in{e};"),
        }
        for &id in &self.shape.nans {
            let (value, of) = (code.value(id), suffix(self.program.ty(id)));
            let _ = writeln!(
                text,
                "setp.num.{of} wfs_q, {value}, {value};\nand.pred wfs_ok, wfs_ok, wfs_q;"
            );
        }
    }

    /// Tells of the element where a predicate holds: the lowest index in a word of what is counted.
    fn tell(
        &self,
        text: &mut String,
        predicate: &str,
        how: &str,
        word: usize,
        e: usize,
        there: There,
    ) {
        let there = match there {
            There::All => String::new(),
            There::Some => format!("and.pred {predicate}, {predicate}, wfs_in{e};\n"),
        };
        let _ =
            writeln!(text, "{there}@{predicate} red.global.{how}.u64 [wfs_c+{}], wfs_i;", 8 * word);
    }

    fn weight(&self, text: &mut String, code: &Code<'_>, weight: Id, e: usize, is_whole: bool) {
        let (value, ty) = (code.value(weight), self.program.ty(weight));
        let tests = match ty {
            Type::F32 => {
                "abs.f32 wfs_w, V;\nsetp.lt.f32 wfs_q, wfs_w, 0f7F800000;\nsetp.ge.and.f32 wfs_q, V, 0f00000000, wfs_q;\n"
            }
            Type::F64 => {
                "abs.f64 wfs_l, V;\nsetp.lt.f64 wfs_q, wfs_l, 0d7FF0000000000000;\nsetp.ge.and.f64 wfs_q, V, 0d0000000000000000, wfs_q;\n"
            }
            Type::I64 => "setp.ge.s64 wfs_q, V, 0;\n",
            Type::U64 | Type::Bool => return,
        };
        text.push_str(&tests.replace('V', &value));
        text.push_str("not.pred wfs_q, wfs_q;\n");
        if !is_whole {
            text.push_str("and.pred wfs_q, wfs_q, wfs_ok;\n");
        }
        self.tell(text, "wfs_q", "min", 1, e, There::All);
    }

    /// Differences of two values that are not both finite: 1 for a NaN, 2 for an infinity.
    fn differences(&self, text: &mut String, code: &Code<'_>, is_whole: bool) {
        let Values::Two(a, b) = self.shape.values else { return };
        let ty = self.program.ty(a);
        let (infinity, register) = match ty {
            Type::F32 => ("0f7F800000", "wfs_w"),
            Type::F64 => ("0d7FF0000000000000", "wfs_l"),
            _ => return,
        };
        let (a, b) = (code.value(a), code.value(b));
        // A difference of finite numbers that overflows is none of these.
        let _ = write!(
            text,
            "{{\n.reg .pred wfs_t;\nabs.{ty} {register}, {a};\nsetp.geu.{ty} wfs_q, {register}, {infinity};\n\
             abs.{ty} {register}, {b};\nsetp.geu.or.{ty} wfs_q, {register}, {infinity}, wfs_q;\n"
        );
        if !is_whole {
            text.push_str("and.pred wfs_q, wfs_q, wfs_ok;\n");
        }
        let _ = write!(
            text,
            "sub.rn.{ty} {register}, {a}, {b};\nsetp.nan.{ty} wfs_t, {register}, {register};\n\
             selp.b64 wfs_l, 1, 2, wfs_t;\n@wfs_q red.global.or.b64 [wfs_c+24], wfs_l;\n}}\n"
        );
    }

    /// Exponents of f64 that are NaN, infinity, or finite and beyond [`HALF`].
    fn exponents(&self, text: &mut String, code: &Code<'_>, id: Id, is_whole: bool) {
        let (x, half) = (code.value(id), HALF.to_bits());
        let _ = write!(
            text,
            "{{\n.reg .pred wfs_t, wfs_u;\n.reg .b64 wfs_m, wfs_n;\nabs.f64 wfs_m, {x};\nsetp.gtu.f64 wfs_q, wfs_m, 0d{half:016X};\n"
        );
        // Powers of what is infinitely negative are zero, as everywhere.
        let _ = writeln!(
            text,
            "setp.neu.f64 wfs_t, {x}, 0dFFF0000000000000;\nand.pred wfs_q, wfs_q, wfs_t;"
        );
        if !is_whole {
            text.push_str("and.pred wfs_q, wfs_q, wfs_ok;\n");
        }
        let _ = write!(
            text,
            "setp.nan.f64 wfs_t, {x}, {x};\nselp.b64 wfs_n, {nan}, {beyond}, wfs_t;\n\
             setp.eq.f64 wfs_u, {x}, 0d7FF0000000000000;\nselp.b64 wfs_n, {infinity}, wfs_n, wfs_u;\n\
             @wfs_q red.global.or.b64 [wfs_c+24], wfs_n;\n}}\n",
            nan = Reports::NAN,
            infinity = Reports::INFINITY,
            beyond = Reports::BEYOND,
        );
    }

    /// Finite numbers of f64 whose squares are no sums of two f64.
    fn halves(&self, text: &mut String, code: &Code<'_>, id: Id, is_whole: bool) {
        let x = code.value(id);
        let [least, end] = lanes::HALVES.map(f64::to_bits);
        let _ = write!(
            text,
            "{{\n.reg .pred wfs_t, wfs_u;\n.reg .b64 wfs_m, wfs_n;\nabs.f64 wfs_m, {x};\n\
             setp.lt.f64 wfs_q, wfs_m, 0d{least:016X};\nsetp.gt.and.f64 wfs_q, wfs_m, 0d0000000000000000, wfs_q;\n\
             setp.ge.f64 wfs_t, wfs_m, 0d{end:016X};\nsetp.lt.and.f64 wfs_t, wfs_m, 0d7FF0000000000000, wfs_t;\n\
             or.pred wfs_q, wfs_q, wfs_t;\n"
        );
        if !is_whole {
            text.push_str("and.pred wfs_q, wfs_q, wfs_ok;\n");
        }
        let beyond = Reports::BEYOND;
        let _ = write!(
            text,
            "mov.b64 wfs_n, {beyond};\n@wfs_q red.global.or.b64 [wfs_c+24], wfs_n;\n}}\n"
        );
    }

    /// A value into its words, zero where the element does not count.
    fn value(
        &self,
        text: &mut String,
        code: &Code<'_>,
        id: Id,
        outputs: &[&str],
        e: usize,
        is_whole: bool,
    ) {
        let (value, ty) = (code.value(id), self.program.ty(id));
        if let Values::Condition(_) | Values::IsNan(_) = self.shape.values {
            let _ = match ty {
                _ if matches!(self.shape.values, Values::IsNan(_)) => {
                    writeln!(text, "setp.nan.{} wfs_q, {value}, {value};", suffix(ty))
                }
                Type::Bool => writeln!(text, "mov.pred wfs_q, {value};"),
                Type::F32 => writeln!(text, "setp.neu.f32 wfs_q, {value}, 0f00000000;"),
                Type::F64 => writeln!(text, "setp.neu.f64 wfs_q, {value}, 0d0000000000000000;"),
                Type::I64 | Type::U64 => writeln!(text, "setp.ne.s64 wfs_q, {value}, 0;"),
            };
            if !is_whole {
                text.push_str("and.pred wfs_q, wfs_q, wfs_ok;\n");
            }
            let word = outputs[0];
            let _ = writeln!(
                text,
                "selp.u32 wfs_w, {}, 0, wfs_q;\nor.b32 {word}, {word}, wfs_w;",
                1 << e
            );
            return;
        }
        if let Values::Magnitude(_) | Values::MagnitudeTimesOne(_) = self.shape.values {
            let _ = match ty {
                Type::F32 | Type::F64 => writeln!(text, "abs.{ty} {value}, {value};"),
                Type::I64 => writeln!(
                    text,
                    "setp.lt.s64 wfs_q, {value}, 0;\n@wfs_q neg.s64 {value}, {value};"
                ),
                Type::U64 | Type::Bool => Ok(()),
            };
        }
        let _ = match (ty.dtype().size(), is_whole) {
            (4, true) => writeln!(text, "mov.b32 {}, {value};", outputs[e]),
            (4, false) => writeln!(
                text,
                "mov.b32 wfs_w, {value};\nselp.b32 {}, wfs_w, 0, wfs_ok;",
                outputs[e]
            ),
            (_, true) => {
                writeln!(text, "mov.b64 {{{}, {}}}, {value};", outputs[2 * e], outputs[2 * e + 1])
            }
            (_, false) => writeln!(
                text,
                "mov.b64 wfs_l, {value};\nselp.b64 wfs_l, wfs_l, 0, wfs_ok;\nmov.b64 {{{}, {}}}, wfs_l;",
                outputs[2 * e],
                outputs[2 * e + 1]
            ),
        };
    }
}
