//! [`Code`]: values of a program as instructions of PTX, for one element, over registers.
//!
//! The instructions give the bits that [`Tiles`](crate::Tiles) do: each operation of floats says `.rn`, so that no compiler contracts it; minima and maxima are
//! selections; an integer operation without a value sets a predicate, by which the caller tells of the element.

mod convert;
mod float;
mod functions;
mod integer;
mod symbol;

use std::fmt::{self, Write as _};

use warpfold_num::DType;

use crate::function::{Binary, Unary};
use crate::program::{Const, Id, Node, Program, Type};

/// Where the bits of an input's element lie: in 32-bit registers, from a bit of the first on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// The register, and the next one for 64 bits.
    pub words: [String; 2],
    /// The first bit, of elements of up to 16.
    pub bit: u32,
}

/// Instructions for one element, for a scope of their own: declarations, then what computes the values.
#[derive(Debug)]
pub struct Code<'p> {
    program: &'p Program,
    keep: Option<Id>,
    text: String,
    /// How many registers there are beside those of values: predicates, of 32 bits, of 64 bits.
    temporaries: [usize; 3],
    labels: usize,
    declared: String,
    faults: [bool; 2],
}

/// What a register beside those of values holds.
#[derive(Debug, Clone, Copy)]
enum RegisterClass {
    Predicate,
    Word,
    Long,
}

/// What faults are gathered in: of what the condition itself is made of, and of what it guards.
const FAULTS: [&str; 2] = ["wf_fault", "wf_kept_fault"];

/// Values that some values are made of, and they themselves, each after its operands.
fn needed(program: &Program, ids: &[Id]) -> Vec<Id> {
    let mut is_needed = vec![false; program.nodes().len()];
    for &id in ids {
        is_needed[usize::from(id)] = true;
    }
    for (id, node) in program.nodes().iter().enumerate().rev() {
        if is_needed[id] {
            for operand in node.operands() {
                is_needed[usize::from(operand)] = true;
            }
        }
    }
    (0..).zip(is_needed).filter(|(_, is_needed)| *is_needed).map(|(id, _)| id).collect()
}

/// The inputs that some values are made of, in ascending order.
pub fn inputs(program: &Program, ids: &[Id]) -> Vec<usize> {
    let of = |id: Id| match program.nodes()[usize::from(id)] {
        Node::Input(input) => Some(usize::from(input)),
        _ => None,
    };
    let mut found: Vec<usize> = needed(program, ids).into_iter().filter_map(of).collect();
    found.sort_unstable();
    found
}

impl<'p> Code<'p> {
    /// The instructions for some values and, if there is one, the condition on which elements count.
    pub fn new(
        program: &'p Program,
        ids: &[Id],
        keep: Option<Id>,
        raw: impl Fn(usize) -> Raw,
    ) -> Self {
        let all: Vec<Id> = ids.iter().copied().chain(keep).collect();
        let (text, declared) = (String::new(), String::new());
        let mut code = Code {
            program,
            keep,
            text,
            temporaries: [0; 3],
            labels: 0,
            declared,
            faults: [false; 2],
        };
        for id in needed(program, &all) {
            let class = match program.ty(id) {
                Type::Bool => "pred",
                Type::I64 | Type::U64 => "b64",
                Type::F32 => "f32",
                Type::F64 => "f64",
            };
            writeln!(code.declared, ".reg .{class} {};", code.value(id)).unwrap_or_default();
            code.node(id, &raw);
        }
        code
    }

    /// The register of a value: a predicate, or one of 32 or 64 bits.
    pub fn value(&self, id: Id) -> String {
        format!("wf_{id}")
    }

    /// The predicate that says whether an operation had no value, of an element that counts; instructions for it come last in the text. `None`
    /// if every operation has one.
    pub fn fault(&mut self) -> Option<&'static str> {
        let [fault, kept] = FAULTS;
        if self.faults[1] {
            if let Some(keep) = self.keep {
                let keep = self.value(keep);
                self.line(format_args!("and.pred {kept}, {kept}, {keep};"));
            }
            match self.faults[0] {
                true => self.line(format_args!("or.pred {fault}, {fault}, {kept};")),
                false => return Some(kept),
            }
        }
        self.faults[0].then_some(fault)
    }

    /// The whole text: declarations first.
    pub fn text(&self) -> String {
        let mut text = self.declared.clone();
        for (kind, count) in [RegisterClass::Predicate, RegisterClass::Word, RegisterClass::Long]
            .into_iter()
            .zip(self.temporaries)
        {
            if count > 0 {
                let (class, letter) = (kind.class(), kind.letter());
                writeln!(text, ".reg .{class} wf_{letter}<{count}>;").unwrap_or_default();
            }
        }
        for (name, is_set) in FAULTS.iter().zip(self.faults) {
            if is_set {
                writeln!(text, ".reg .pred {name};\nmov.pred {name}, 0;").unwrap_or_default();
            }
        }
        text + &self.text
    }

    fn line(&mut self, instruction: fmt::Arguments<'_>) {
        writeln!(self.text, "{instruction}").unwrap_or_default();
    }

    fn temporary(&mut self, kind: RegisterClass) -> String {
        kind.register(self.number(kind))
    }

    /// The number of a new register.
    fn number(&mut self, kind: RegisterClass) -> usize {
        let count = &mut self.temporaries[kind as usize];
        *count += 1;
        *count - 1
    }

    /// What the names of new labels begin with.
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("wf_at{}", self.labels)
    }

    /// An element for which a predicate holds has no value.
    fn faulty(&mut self, id: Id, predicate: &str) {
        let which = usize::from(self.keep.is_some_and(|keep| id > keep));
        self.faults[which] = true;
        let fault = FAULTS[which];
        self.line(format_args!("or.pred {fault}, {fault}, {predicate};"));
    }

    fn node(&mut self, id: Id, raw: &impl Fn(usize) -> Raw) {
        let (d, ty) = (self.value(id), self.program.ty(id));
        match self.program.nodes()[usize::from(id)] {
            Node::Input(input) => {
                let input = usize::from(input);
                let dtype: DType = self.program.inputs()[input];
                self.load(&d, dtype, &raw(input));
            }
            Node::Const(constant) => self.constant(&d, constant),
            Node::Unary(op, a) => {
                let (from, a) = (self.program.ty(a), self.value(a));
                match op {
                    Unary::F32 | Unary::F64 | Unary::I64 | Unary::U64 | Unary::Bool => {
                        self.convert(id, op, from, &a);
                    }
                    _ if functions::is_function(op) => self.function(op, from, &d, &a),
                    _ if from.is_float() => self.unary_float(op, from, &d, &a),
                    _ => self.unary_integer(id, op, from, &a),
                }
            }
            Node::Binary(op, a, b) => {
                let (of, a, b) = (self.program.ty(a), self.value(a), self.value(b));
                match of {
                    Type::Bool => self.binary_condition(op, &d, &a, &b),
                    Type::F32 | Type::F64 => self.binary_float(op, of, &d, &a, &b),
                    Type::I64 | Type::U64 => self.binary_integer(id, op, of, &a, &b),
                }
            }
            Node::Select(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|id| self.value(id));
                match ty {
                    Type::Bool => {
                        let t = self.temporary(RegisterClass::Predicate);
                        self.line(format_args!("not.pred {t}, {c};"));
                        self.line(format_args!("and.pred {t}, {t}, {b};"));
                        self.line(format_args!("and.pred {d}, {c}, {a};"));
                        self.line(format_args!("or.pred {d}, {d}, {t};"));
                    }
                    Type::I64 | Type::U64 => {
                        self.line(format_args!("selp.b64 {d}, {a}, {b}, {c};"));
                    }
                    Type::F32 | Type::F64 => {
                        self.line(format_args!("selp.{ty} {d}, {a}, {b}, {c};"))
                    }
                }
            }
            Node::Fma(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|id| self.value(id));
                self.line(format_args!("fma.rn.{ty} {d}, {a}, {b}, {c};"));
            }
        }
    }

    fn constant(&mut self, d: &str, constant: Const) {
        match constant {
            Const::Bool(value) => {
                self.line(format_args!("mov.pred {d}, {};", if value { -1 } else { 0 }));
            }
            Const::I64(value) => self.line(format_args!("mov.b64 {d}, 0x{value:016X};")),
            Const::U64(value) => self.line(format_args!("mov.b64 {d}, 0x{value:016X};")),
            Const::F32(bits) => self.line(format_args!("mov.f32 {d}, 0f{bits:08X};")),
            Const::F64(bits) => self.line(format_args!("mov.f64 {d}, 0d{bits:016X};")),
        }
    }

    fn binary_condition(&mut self, op: Binary, d: &str, a: &str, b: &str) {
        let logic = match op {
            Binary::And => "and",
            Binary::Or | Binary::Le => "or",
            Binary::Xor | Binary::Eq | Binary::Ne => "xor",
            Binary::Lt => "and",
            other => unreachable!("conditions have no {}", other.name()),
        };
        // Less is `not a and b`, equal the contrary of different.
        let a = match op {
            Binary::Lt | Binary::Le => {
                let t = self.temporary(RegisterClass::Predicate);
                self.line(format_args!("not.pred {t}, {a};"));
                t
            }
            _ => a.to_owned(),
        };
        self.line(format_args!("{logic}.pred {d}, {a}, {b};"));
        if op == Binary::Eq {
            self.line(format_args!("not.pred {d}, {d};"));
        }
    }
}

impl RegisterClass {
    fn class(self) -> &'static str {
        match self {
            RegisterClass::Predicate => "pred",
            RegisterClass::Word => "b32",
            RegisterClass::Long => "b64",
        }
    }

    fn register(self, number: usize) -> String {
        format!("wf_{}{number}", self.letter())
    }

    fn letter(self) -> &'static str {
        match self {
            RegisterClass::Predicate => "p",
            RegisterClass::Word => "w",
            RegisterClass::Long => "l",
        }
    }
}
