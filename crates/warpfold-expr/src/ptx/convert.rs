//! Elements of inputs as the types that operations compute in, and conversions between these.

use warpfold_num::DType;

use super::{Code, Raw, RegisterClass};
use crate::function::Unary;
use crate::program::{Id, Type};

impl Code<'_> {
    /// An input's element, widened.
    pub(super) fn load(&mut self, d: &str, dtype: DType, raw: &Raw) {
        let Raw { words: [word, upper], bit } = raw;
        match dtype {
            DType::F32 => self.line(format_args!("mov.b32 {d}, {word};")),
            DType::F64 | DType::I64 | DType::U64 => {
                self.line(format_args!("mov.b64 {d}, {{{word}, {upper}}};"));
            }
            DType::I32 => self.line(format_args!("cvt.s64.s32 {d}, {word};")),
            DType::U32 => self.line(format_args!("cvt.u64.u32 {d}, {word};")),
            DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::Bool => {
                let (t, bits) = (self.temporary(RegisterClass::Word), 8 * dtype.size());
                let sign = if matches!(dtype, DType::I8 | DType::I16) { 's' } else { 'u' };
                self.line(format_args!("bfe.{sign}32 {t}, {word}, {bit}, {bits};"));
                match dtype {
                    DType::Bool => self.line(format_args!("setp.ne.u32 {d}, {t}, 0;")),
                    _ => self.line(format_args!("cvt.{sign}64.{sign}32 {d}, {t};")),
                }
            }
            DType::F16 => {
                let t = self.temporary(RegisterClass::Word);
                self.line(format_args!("shr.u32 {t}, {word}, {bit};"));
                self.line(format_args!("{{ .reg .b16 wf_half; cvt.u16.u32 wf_half, {t};"));
                self.line(format_args!("cvt.f32.f16 {d}, wf_half; }}"));
            }
            DType::BF16 if *bit == 0 => self.line(format_args!("shl.b32 {d}, {word}, 16;")),
            DType::BF16 => self.line(format_args!("and.b32 {d}, {word}, 0xFFFF0000;")),
            DType::Complex64 | DType::Complex128 => unreachable!("no program takes {dtype}"),
        }
    }

    pub(super) fn convert(&mut self, id: Id, op: Unary, from: Type, a: &str) {
        let d = self.value(id);
        match (op, from) {
            (Unary::F32, Type::Bool) => {
                self.line(format_args!("selp.f32 {d}, 0f3F800000, 0f00000000, {a};"));
            }
            (Unary::F64, Type::Bool) => {
                self.line(format_args!(
                    "selp.f64 {d}, 0d3FF0000000000000, 0d0000000000000000, {a};"
                ));
            }
            (Unary::I64 | Unary::U64, Type::Bool) => {
                self.line(format_args!("selp.b64 {d}, 1, 0, {a};"));
            }
            (Unary::Bool, Type::F32) => {
                self.line(format_args!("setp.neu.f32 {d}, {a}, 0f00000000;"));
            }
            (Unary::Bool, Type::F64) => {
                self.line(format_args!("setp.neu.f64 {d}, {a}, 0d0000000000000000;"));
            }
            (Unary::Bool, _) => self.line(format_args!("setp.ne.s64 {d}, {a}, 0;")),
            (Unary::F64, Type::F32) => self.line(format_args!("cvt.f64.f32 {d}, {a};")),
            (Unary::F32, Type::F64) => self.line(format_args!("cvt.rn.f32.f64 {d}, {a};")),
            (Unary::F32 | Unary::F64, _) => {
                let to = if op == Unary::F32 { Type::F32 } else { Type::F64 };
                let sign = if from == Type::U64 { 'u' } else { 's' };
                self.line(format_args!("cvt.rn.{to}.{sign}64 {d}, {a};"));
            }
            // Towards zero, saturated; the hardware's choice for NaN is another than 0.
            (_, Type::F32 | Type::F64) => {
                let sign = if op == Unary::U64 { 'u' } else { 's' };
                let p = self.temporary(RegisterClass::Predicate);
                self.line(format_args!("cvt.rzi.{sign}64.{from} {d}, {a};"));
                self.line(format_args!("setp.nan.{from} {p}, {a}, {a};"));
                self.line(format_args!("selp.b64 {d}, 0, {d}, {p};"));
            }
            // Between integers: what has the sign bit is no number of the other type.
            (_, Type::I64 | Type::U64) => {
                let p = self.temporary(RegisterClass::Predicate);
                self.line(format_args!("mov.b64 {d}, {a};"));
                self.line(format_args!("setp.lt.s64 {p}, {a}, 0;"));
                self.faulty(id, &p);
            }
            (op, from) => unreachable!("{op} of {from}"),
        }
    }
}
