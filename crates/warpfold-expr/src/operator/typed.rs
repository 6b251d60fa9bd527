//! An operator whose inputs have types, of one state.

use warpfold_num::{DType, Error, Result, Value};

use super::text::of;
use super::{MOST_FIELDS, Operator, Piece};
use crate::function::Unary;
use crate::program::{Node, Program};
use crate::scalar;
use crate::slice::Slice;
use crate::text::Expr;
use crate::types::{Const, Type};

/// The name of an element's index.
pub(super) const INDEX: &str = "index";

/// The fields' bits; those that are not there are 0.
pub type State = [u64; MOST_FIELDS];

/// An operator ready for arrays of some types.
#[derive(Debug)]
pub struct TypedOperator {
    pub(super) fields: Vec<(String, Type)>,
    pub(super) lift: Values,
    pub(super) merge: Values,
    finish: Option<Program>,
    pub(super) identity: Option<State>,
    pub(super) commutative: bool,
    pub(super) tolerance: f64,
}

/// A program with a value for each field.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) program: Program,
    /// Constants that took the type of their field.
    pub(super) constants: Vec<Option<Const>>,
}

impl Values {
    fn new(
        part: &str,
        expressions: &[Expr],
        inputs: &[(&str, DType)],
        fields: &[(String, Type)],
    ) -> Result<Self> {
        let all: Vec<&Expr> = expressions.iter().collect();
        let program = Program::new(&all, inputs).map_err(|error| of(part, error))?;
        let mut constants = Vec::new();
        for ((name, ty), (root, expr)) in fields.iter().zip(program.roots().iter().zip(expressions))
        {
            let found = program.ty(root.value);
            let constant = match program.nodes()[usize::from(root.value)] {
                Node::Const(constant) => converted(constant, *ty),
                _ => None,
            };
            if constant.is_none() && found != *ty {
                let column = expr.text().len() - expr.text().trim_start().len() + 1;
                return Err(Error::Map {
                    requested: format!("{part}, column {column}"),
                    obstacle: format!("the field `{name}` is of {ty}, and this of {found}"),
                    remedy: format!("say {ty}(…), or give the field the type {found}"),
                });
            }
            constants.push(constant);
        }
        Ok(Values { program, constants })
    }

    fn of(&self, inputs: &[Const]) -> Result<State> {
        let values = self.program.evaluate(inputs)?;
        let mut state = [0; MOST_FIELDS];
        for (field, (root, constant)) in
            self.program.roots().iter().zip(&self.constants).enumerate()
        {
            state[field] = bits(constant.unwrap_or(values[usize::from(root.value)]));
        }
        Ok(state)
    }
}

/// A constant as a field's type has it, if it is one of numbers.
fn converted(constant: Const, ty: Type) -> Option<Const> {
    if constant.ty() == ty {
        return Some(constant);
    }
    match (constant, ty) {
        (Const::Bool(_), _) | (Const::F64(_) | Const::F32(_), Type::I64 | Type::U64) => None,
        (_, Type::F64) => scalar::unary(Unary::F64, constant),
        (_, Type::F32) => scalar::unary(Unary::F32, constant),
        (_, Type::I64) => scalar::unary(Unary::I64, constant),
        (_, Type::U64) => scalar::unary(Unary::U64, constant),
        (_, Type::Bool) => None,
    }
}

pub(super) fn bits(constant: Const) -> u64 {
    match constant {
        Const::Bool(value) => u64::from(value),
        Const::I64(value) => value as u64,
        Const::U64(value) | Const::F64(value) => value,
        Const::F32(value) => u64::from(value),
    }
}

pub(super) fn constant(bits: u64, ty: Type) -> Const {
    match ty {
        Type::Bool => Const::Bool(bits != 0),
        Type::I64 => Const::I64(bits as i64),
        Type::U64 => Const::U64(bits),
        Type::F32 => Const::F32(bits as u32),
        Type::F64 => Const::F64(bits),
    }
}

pub(super) fn value(constant: Const) -> Value {
    match constant {
        Const::Bool(value) => Value::Bool(value),
        Const::I64(value) => Value::I64(value),
        Const::U64(value) => Value::U64(value),
        // Every NaN that is a result is the same one, whatever made it.
        Const::F32(bits) if f32::from_bits(bits).is_nan() => Value::F32(f32::NAN),
        Const::F64(bits) if f64::from_bits(bits).is_nan() => Value::F64(f64::NAN),
        Const::F32(bits) => Value::F32(f32::from_bits(bits)),
        Const::F64(bits) => Value::F64(f64::from_bits(bits)),
    }
}

/// An element in the type that it computes in.
fn element(input: &Slice<'_>, index: usize) -> Const {
    match *input {
        Slice::Bool(x) => Const::Bool(x[index]),
        Slice::I8(x) => Const::I64(x[index].into()),
        Slice::I16(x) => Const::I64(x[index].into()),
        Slice::I32(x) => Const::I64(x[index].into()),
        Slice::I64(x) => Const::I64(x[index]),
        Slice::U8(x) => Const::U64(x[index].into()),
        Slice::U16(x) => Const::U64(x[index].into()),
        Slice::U32(x) => Const::U64(x[index].into()),
        Slice::U64(x) => Const::U64(x[index]),
        Slice::F16(x) => Const::F32(x[index].to_f32().to_bits()),
        Slice::BF16(x) => Const::F32(x[index].to_f32().to_bits()),
        Slice::F32(x) => Const::F32(x[index].to_bits()),
        Slice::F64(x) => Const::F64(x[index].to_bits()),
    }
}

impl Operator {
    /// The operator of inputs of these names and types, which must be all that it names.
    ///
    /// # Errors
    /// [`Error::Map`], with the text and the column of what does not suit the types.
    pub fn typed(&self, inputs: &[(&str, DType)]) -> Result<TypedOperator> {
        let Operator { fields, lift, merge, finish, identity, commutative, tolerance } = self;
        if inputs.iter().any(|(name, _)| *name == INDEX) {
            return Err(Error::Map {
                requested: "lift".into(),
                obstacle: "`index` is the index of an element, and an input has that name".into(),
                remedy: "give the input another name".into(),
            });
        }
        let inputs: Vec<(&str, DType)> =
            inputs.iter().copied().chain([(INDEX, DType::U64)]).collect();
        let sides: Vec<(String, DType)> = ["a", "b"]
            .iter()
            .flat_map(|side| {
                fields.iter().map(move |(name, ty)| (format!("{side}.{name}"), ty.dtype()))
            })
            .collect();
        let sides: Vec<(&str, DType)> =
            sides.iter().map(|(name, dtype)| (name.as_str(), *dtype)).collect();
        let own: Vec<(&str, DType)> =
            fields.iter().map(|(name, ty)| (name.as_str(), ty.dtype())).collect();
        let identity = identity
            .as_ref()
            .map(|all| Values::new("identity", all, &[], fields)?.of(&[]))
            .transpose()?;
        let finish = finish.as_ref().map(|all| {
            Program::new(&all.iter().collect::<Vec<_>>(), &own).map_err(|error| of("finish", error))
        });
        Ok(TypedOperator {
            fields: fields.clone(),
            lift: Values::new("lift", lift, &inputs, fields)?,
            merge: Values::new("merge", merge, &sides, fields)?,
            finish: finish.transpose()?,
            identity,
            commutative: *commutative,
            tolerance: *tolerance,
        })
    }
}

impl TypedOperator {
    /// The element types of the inputs.
    pub fn inputs(&self) -> &[DType] {
        let inputs = self.lift.program.inputs();
        &inputs[..inputs.len() - 1]
    }

    /// The types of the results.
    pub fn results(&self) -> Vec<DType> {
        match &self.finish {
            None => self.fields.iter().map(|(_, ty)| ty.dtype()).collect(),
            Some(finish) => {
                finish.roots().iter().map(|root| finish.ty(root.value).dtype()).collect()
            }
        }
    }

    /// The state of the element at a position.
    ///
    /// # Errors
    /// [`Error::Map`]: an operation of integers that has no value, with the index.
    pub fn lift(&self, piece: Piece<'_>, position: usize) -> Result<State> {
        let mut values: Vec<Const> =
            piece.inputs.iter().map(|input| element(input, position)).collect();
        let index = piece.index(position);
        values.push(Const::U64(index));
        self.lift.of(&values).map_err(|error| of(&format!("lift at index {index}"), error))
    }

    /// The state of neighbours, the left one first.
    ///
    /// # Errors
    /// [`Error::Map`]: an operation of integers that has no value.
    pub fn merge(&self, left: &State, right: &State) -> Result<State> {
        let both: Vec<Const> = self.constants(left).chain(self.constants(right)).collect();
        self.merge.of(&both).map_err(|error| of("merge", error))
    }

    /// The results.
    ///
    /// # Errors
    /// [`Error::Map`]: an operation of integers that has no value.
    pub fn finish(&self, state: &State) -> Result<Vec<Value>> {
        let fields: Vec<Const> = self.constants(state).collect();
        let Some(finish) = &self.finish else {
            return Ok(fields.into_iter().map(value).collect());
        };
        let values = finish.evaluate(&fields).map_err(|error| of("finish", error))?;
        Ok(finish.roots().iter().map(|root| value(values[usize::from(root.value)])).collect())
    }

    /// The state of nothing, if there is one.
    pub fn identity(&self) -> Option<State> {
        self.identity
    }

    pub(super) fn constants<'s>(&'s self, state: &'s State) -> impl Iterator<Item = Const> + 's {
        self.fields.iter().zip(state).map(|((_, ty), bits)| constant(*bits, *ty))
    }
}
