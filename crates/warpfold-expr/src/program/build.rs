//! From trees to a program: types, constants folded, common values once.

use std::collections::HashMap;

use warpfold_num::{DType, Error, Result};

use super::{Const, Id, Node, Program, Root, Type};
use crate::function::{Binary, Unary, distance};
use crate::scalar;
use crate::text::{Expr, Form, at};

mod alike;
mod live;
mod native;
mod power;

pub(super) fn program(expressions: &[&Expr], inputs: &[(&str, DType)]) -> Result<Program> {
    build(None, expressions, inputs)
}

/// The same with an input more, which says of each element whether it is there, and a condition on those that are.
pub(super) fn of_present(
    keep: Option<&Expr>,
    expressions: &[&Expr],
    inputs: &[(&str, DType)],
) -> Result<Program> {
    build(Some(keep), expressions, inputs)
}

fn build(
    of_present: Option<Option<&Expr>>,
    expressions: &[&Expr],
    inputs: &[(&str, DType)],
) -> Result<Program> {
    let dtypes = inputs.iter().map(|&(_, dtype)| dtype).collect();
    let program = Program {
        nodes: Vec::new(),
        types: Vec::new(),
        texts: Vec::new(),
        inputs: dtypes,
        roots: Vec::new(),
        natives: Vec::new(),
        present: None,
    };
    let mut build = Build { program, known: HashMap::new() };
    if let Some(keep) = of_present {
        let typing = |expr| Typing { build: &mut build, expr, inputs, typed: Vec::new() }.root();
        let keep = keep.map(typing).transpose()?;
        build.present(keep, inputs.len());
    }
    for expr in expressions {
        let root = Typing { build: &mut build, expr, inputs, typed: Vec::new() }.root()?;
        build.program.roots.push(root);
        build.program.natives.push(native::indices(expr, inputs)?);
        if build.program.nodes.len() > MOST_NODES {
            return Err(Error::Map {
                requested: "map".into(),
                obstacle: format!(
                    "together the expressions have more than {MOST_NODES} operations"
                ),
                remedy: "ask for fewer results at once".into(),
            });
        }
    }
    Ok(live::live(build.program))
}

/// Operations of all expressions together: what an [`Id`] counts, less what one expression more may add.
const MOST_NODES: usize = 1 << 15;

/// The program so far.
struct Build {
    program: Program,
    known: HashMap<(Node, Type), Id>,
}

impl Build {
    /// Adds an input of conditions, and one that it and `keep` hold, if that is a condition.
    fn present(&mut self, keep: Option<Root>, inputs: usize) {
        self.program.inputs.push(DType::Bool);
        let present = self.value(Node::Input(inputs as u8), Type::Bool, "whether it is there");
        let value = match keep.map(|keep| keep.value) {
            None => present,
            // Whoever asked for it says that it is none.
            Some(keep) if self.program.ty(keep) != Type::Bool => keep,
            Some(keep) => {
                let text = self.program.text(keep).to_owned();
                self.value(Node::Binary(Binary::And, present, keep), Type::Bool, &text)
            }
        };
        self.program.present = Some(present);
        self.program.roots.push(Root { value, factors: None });
        self.program.natives.push(None);
    }

    /// The value of a node, made once.
    fn value(&mut self, node: Node, ty: Type, text: &str) -> Id {
        let program = &mut self.program;
        *self.known.entry((node, ty)).or_insert_with(|| {
            program.nodes.push(node);
            program.types.push(ty);
            program.texts.push(text.into());
            // An expression has 256 operations at most, and there are no more expressions once `MOST_NODES` are there.
            (program.nodes.len() - 1) as Id
        })
    }
}

/// A form with its type.
#[derive(Debug, Clone, Copy)]
enum Typed {
    /// A value of the program.
    Value(Id),
    /// A constant that takes the type of what it meets; an f32 straight from the text, which rounds once.
    Loose(Const, Option<f32>),
}

struct Typing<'b, 'e> {
    build: &'b mut Build,
    expr: &'e Expr,
    inputs: &'e [(&'e str, DType)],
    typed: Vec<Typed>,
}

impl Typing<'_, '_> {
    fn root(mut self) -> Result<Root> {
        let ast = &self.expr.ast;
        for (form_index, form) in ast.forms.iter().enumerate() {
            let typed = self.form(form_index, form)?;
            self.typed.push(typed);
        }
        let top = ast.top();
        let value = self.fixed(self.typed[top], top);
        let is_product = matches!(ast.forms[top], Form::Binary(Binary::Mul, ..));
        let factors = match self.build.program.nodes[usize::from(value)] {
            Node::Binary(Binary::Mul, a, b) if is_product => Some((a, b)),
            _ => None,
        };
        Ok(Root { value, factors })
    }

    fn form(&mut self, form_index: usize, form: &Form) -> Result<Typed> {
        match *form {
            Form::Number(ref written) => self.number(written, form_index),
            Form::Truth(value) => Ok(Typed::Value(self.constant(Const::Bool(value), form_index))),
            Form::Name(name) => self.input(name, form_index),
            Form::Unary(op, a) => self.unary(op, a, form_index),
            Form::Binary(op, a, b) => self.binary(op, a, b, form_index),
            Form::Select(c, a, b) => self.select(c, a, b, form_index),
            Form::Fma(a, b, c) => self.fma(a, b, c, form_index),
            Form::Power(a, n) => self.power(a, n, form_index),
            Form::Rounded(a) => {
                let value = self.fixed(self.typed[a], a);
                Ok(Typed::Value(value))
            }
        }
    }

    fn number(&self, written: &str, form_index: usize) -> Result<Typed> {
        if written.bytes().all(|b| b.is_ascii_digit()) {
            if let Ok(value) = written.parse::<i64>() {
                return Ok(Typed::Loose(Const::I64(value), None));
            }
            return match written.parse::<u64>() {
                Ok(value) => Ok(Typed::Loose(Const::U64(value), None)),
                Err(_) => Err(self.error(
                    form_index,
                    "64 bits do not hold it",
                    "write it as a float, such as 1e30",
                )),
            };
        }
        let is_decimal = written.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let mantissa = written.split(['e', 'E']).next().unwrap_or_default();
        let is_zero = !mantissa.contains(|c: char| ('1'..='9').contains(&c));
        match (written.parse::<f64>(), written.parse::<f32>()) {
            (Ok(wide), _) if is_decimal && wide.is_infinite() => {
                let obstacle = "it is beyond f64, whose numbers end at 1.7976931348623157e308";
                Err(self.error(form_index, obstacle, "say inf where infinity is meant"))
            }
            (Ok(0.0), _) if is_decimal && !is_zero => {
                let obstacle = "it is too small for f64, whose least number above 0 is 5e-324";
                Err(self.error(form_index, obstacle, "say 0 where that will do"))
            }
            (Ok(wide), Ok(narrow)) => Ok(Typed::Loose(Const::F64(wide.to_bits()), Some(narrow))),
            _ => Err(self.error(form_index, "this is no number", "write it as 12, 1.5 or 1e-3")),
        }
    }

    fn input(&mut self, name: usize, form_index: usize) -> Result<Typed> {
        let name = self.expr.names()[name].as_str();
        let Some(input) = self.inputs.iter().position(|(known, _)| *known == name) else {
            let nearest = self.inputs.iter().min_by_key(|(known, _)| distance(known, name));
            let shown: String = name.chars().take(40).collect();
            let remedy = match nearest {
                Some((known, _)) if distance(known, name) * 2 <= known.len() => {
                    format!("nearest: `{known}`")
                }
                Some(_) => {
                    let names: Vec<_> =
                        self.inputs.iter().map(|(name, _)| format!("`{name}`")).take(20).collect();
                    format!("there are {}", names.join(", "))
                }
                None => "name an input".into(),
            };
            return Err(self.error(form_index, format!("`{shown}` is no input"), remedy));
        };
        let dtype = self.inputs[input].1;
        let Some(ty) = Type::of(dtype) else {
            return Err(self.error(
                form_index,
                format!("maps do not take {dtype}"),
                "take the parts as two arrays",
            ));
        };
        let Ok(input) = u8::try_from(input) else {
            let obstacle = format!("`{name}` is the {input}th input, and one reading takes 256");
            return Err(self.error(form_index, obstacle, "ask for fewer results at once"));
        };
        Ok(Typed::Value(self.value(Node::Input(input), ty, form_index)))
    }

    fn unary(&mut self, op: Unary, a: usize, form_index: usize) -> Result<Typed> {
        let operand = match (self.typed[a], op) {
            (Typed::Loose(Const::I64(value), _), Unary::Neg) => {
                let value = value.checked_neg().map(Const::I64);
                let value = value.ok_or_else(|| {
                    self.error(
                        form_index,
                        "64 bits do not hold it",
                        "write it as a float, such as 1e30",
                    )
                })?;
                return Ok(Typed::Loose(value, None));
            }
            // -9223372036854775808.
            (Typed::Loose(Const::U64(value), _), Unary::Neg) if value == 1 << 63 => {
                return Ok(Typed::Loose(Const::I64(i64::MIN), None));
            }
            (Typed::Loose(Const::F64(bits), narrow), Unary::Neg) => {
                return Ok(Typed::Loose(
                    Const::F64((-f64::from_bits(bits)).to_bits()),
                    narrow.map(|x| -x),
                ));
            }
            (Typed::Loose(_, Some(narrow)), Unary::F32) => {
                return Ok(Typed::Value(self.constant(Const::F32(narrow.to_bits()), a)));
            }
            (Typed::Loose(Const::I64(value), _), op) if op.is_of_floats() => {
                self.constant(Const::F64((value as f64).to_bits()), a)
            }
            (typed, _) => self.fixed(typed, a),
        };
        let is_loose = matches!(self.typed[a], Typed::Loose(..));
        let ty = self.build.program.ty(operand);
        let result = self.unary_result(op, ty, form_index)?;
        let is_idle = match op {
            Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round => !ty.is_float(),
            Unary::Abs => ty == Type::U64,
            Unary::F32 | Unary::F64 | Unary::I64 | Unary::U64 | Unary::Bool => result == ty,
            _ => false,
        };
        let value = if is_idle {
            operand
        } else {
            self.folded(Node::Unary(op, operand), result, form_index)?
        };
        let names_type =
            matches!(op, Unary::F32 | Unary::F64 | Unary::I64 | Unary::U64 | Unary::Bool);
        Ok(if is_loose && !names_type { self.loosened(value) } else { Typed::Value(value) })
    }

    /// What an operation of a type gives.
    fn unary_result(&self, op: Unary, ty: Type, form_index: usize) -> Result<Type> {
        let refuse =
            |remedy: &str| Err(self.error(form_index, format!("`{op}` takes no {ty}"), remedy));
        match (op, ty) {
            (Unary::Neg | Unary::Abs, Type::Bool) => {
                refuse("say i64(…) of a condition to count with it")
            }
            (Unary::Neg, Type::U64) => refuse("say i64(…) first"),
            (op, ty) if op.is_of_floats() && !ty.is_float() => refuse("say f64(…) first"),
            (Unary::IsNan | Unary::IsInf | Unary::IsFinite, ty) if !ty.is_float() => {
                refuse("only floats can be NaN or infinite")
            }
            (Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round, Type::Bool) => {
                refuse("leave it out")
            }
            (Unary::Not, Type::F32 | Type::F64) => refuse("compare it: x == 0"),
            (Unary::IsNan | Unary::IsInf | Unary::IsFinite | Unary::Bool, _) => Ok(Type::Bool),
            (Unary::F32, _) => Ok(Type::F32),
            (Unary::F64, _) => Ok(Type::F64),
            (Unary::I64, _) => Ok(Type::I64),
            (Unary::U64, _) => Ok(Type::U64),
            (_, ty) => Ok(ty),
        }
    }

    fn binary(&mut self, op: Binary, a: usize, b: usize, form_index: usize) -> Result<Typed> {
        let is_loose =
            matches!((self.typed[a], self.typed[b]), (Typed::Loose(..), Typed::Loose(..)));
        let (mut left, mut right, mut ty) = self.alike(a, b, form_index)?;
        if is_loose && op == Binary::Div && !ty.is_float() {
            // Constants alone divide as floats do.
            left = self.folded(Node::Unary(Unary::F64, left), Type::F64, a)?;
            right = self.folded(Node::Unary(Unary::F64, right), Type::F64, b)?;
            ty = Type::F64;
        }
        let name = op.name();
        let refuse =
            |remedy: &str| Err(self.error(form_index, format!("`{name}` takes no {ty}"), remedy));
        use Binary::{Add, And, Div, FloorDiv, Max, Min, Mul, Or, Rem, Sub, Xor};
        match (op, ty) {
            (Add | Sub | Mul | Div | FloorDiv | Rem, Type::Bool) => {
                return refuse("say i64(…) of a condition to count with it, or and, or, not");
            }
            (Div, Type::I64 | Type::U64) => {
                return refuse("say f64(a) / f64(b), or a // b for the quotient rounded down");
            }
            (FloorDiv, Type::F32 | Type::F64) => return refuse("say floor(a / b)"),
            (Rem, Type::F32 | Type::F64) => {
                return refuse("say a - b * floor(a / b), each operation of which is rounded");
            }
            (Xor, Type::F32 | Type::F64) => {
                return refuse("it is the exclusive or of bits; a power is `**`, as in x ** 2");
            }
            (And | Or, Type::F32 | Type::F64) => {
                return refuse("compare first, and bracket the comparisons: (x > 1) & (x < 3)");
            }
            (Min | Max, Type::Bool) => return refuse("say or for max, and for min"),
            _ => {}
        }
        let result = if op.compares() { Type::Bool } else { ty };
        let value = self.folded(Node::Binary(op, left, right), result, form_index)?;
        Ok(if is_loose { self.loosened(value) } else { Typed::Value(value) })
    }

    fn select(&mut self, c: usize, a: usize, b: usize, form_index: usize) -> Result<Typed> {
        let condition = self.fixed(self.typed[c], c);
        let ty = self.build.program.ty(condition);
        if ty != Type::Bool {
            return Err(self.error(
                c,
                format!("this is {ty}, and select wants a condition"),
                "compare it: x != 0",
            ));
        }
        let (left, right, ty) = self.alike(a, b, form_index)?;
        Ok(Typed::Value(self.folded(Node::Select(condition, left, right), ty, form_index)?))
    }

    fn fma(&mut self, a: usize, b: usize, c: usize, form_index: usize) -> Result<Typed> {
        let (_, _, left) = self.alike(a, b, form_index)?;
        let (_, _, right) = self.alike(b, c, form_index)?;
        let ty = if matches!(self.typed[b], Typed::Loose(..)) {
            self.alike(a, c, form_index)?.2
        } else {
            left.max_float(right)
        };
        if !ty.is_float() {
            return Err(self.error(
                form_index,
                format!("`fma` takes no {ty}"),
                "say a * b + c: integers are exact",
            ));
        }
        let mut operands = [0; 3];
        for (operand, form) in operands.iter_mut().zip([a, b, c]) {
            *operand = self.of_type(form, ty)?;
        }
        let [a, b, c] = operands;
        Ok(Typed::Value(self.folded(Node::Fma(a, b, c), ty, form_index)?))
    }

    /// A form as a value; a constant on its own is `f64`, a whole one `i64`.
    fn fixed(&mut self, typed: Typed, form: usize) -> Id {
        match typed {
            Typed::Value(id) => id,
            Typed::Loose(constant, _) => self.constant(constant, form),
        }
    }

    /// A constant of constants alone, which still takes the type of what it meets.
    fn loosened(&self, value: Id) -> Typed {
        match self.build.program.nodes[usize::from(value)] {
            Node::Const(constant @ (Const::I64(_) | Const::U64(_) | Const::F64(_))) => {
                Typed::Loose(constant, None)
            }
            _ => Typed::Value(value),
        }
    }

    /// The value of a node, computed now if its operands are constants.
    fn folded(&mut self, node: Node, ty: Type, form_index: usize) -> Result<Id> {
        let nodes = &self.build.program.nodes;
        let constant = |id: Id| match nodes[usize::from(id)] {
            Node::Const(constant) => Some(constant),
            _ => None,
        };
        let computed = match node {
            Node::Unary(op, a) => constant(a).map(|a| scalar::unary(op, a)),
            Node::Binary(op, a, b) => {
                constant(a).zip(constant(b)).map(|(a, b)| scalar::binary(op, a, b))
            }
            Node::Select(c, a, b) => match constant(c) {
                Some(Const::Bool(chosen)) => return Ok(if chosen { a } else { b }),
                _ if a == b => return Ok(a),
                _ => None,
            },
            Node::Fma(a, b, c) => constant(a)
                .zip(constant(b))
                .zip(constant(c))
                .map(|((a, b), c)| scalar::fma(a, b, c)),
            Node::Input(_) | Node::Const(_) => None,
        };
        match computed {
            None => Ok(self.value(node, ty, form_index)),
            Some(Some(constant)) => Ok(self.constant(constant, form_index)),
            Some(None) => Err(self.error(
                form_index,
                format!("this is no {ty}"),
                "write it as a float, such as 1e30",
            )),
        }
    }

    fn constant(&mut self, constant: Const, form_index: usize) -> Id {
        self.value(Node::Const(constant), constant.ty(), form_index)
    }

    fn value(&mut self, node: Node, ty: Type, form_index: usize) -> Id {
        let text = self.shown(form_index);
        self.build.value(node, ty, &text)
    }

    /// The text of a form, shortened.
    fn shown(&self, form: usize) -> String {
        let (start, end) = self.expr.ast.spans[form];
        let text = &self.expr.text()[start..end];
        match text.char_indices().nth(60) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text.into(),
        }
    }

    fn error(
        &self,
        form: usize,
        obstacle: impl Into<String>,
        remedy: impl Into<String>,
    ) -> warpfold_num::Error {
        let start = self.expr.ast.spans[form].0;
        at(self.expr.text()[..start].chars().count() + 1, obstacle, remedy)
    }
}

impl Type {
    /// The float type of two operands, if either is one.
    fn max_float(self, other: Type) -> Type {
        if other.is_float() && !self.is_float() { other } else { self }
    }
}
