//! [`Exact`]: the functions as the engine plans them.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, exec_err, not_impl_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{
    Accumulator, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};
use warpfold_num::Op;

use crate::decimal::DecimalSum;
use crate::distinct::Distinct;
use crate::groups::Groups;
use crate::sliding::Sliding;
use crate::slots::{FloatDot, FloatMoments, FloatSum, IntegerDot, IntegerMoments, IntegerSum};
use crate::task::{Input, Task};
use crate::whole::Whole;

/// An exact aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `exact_sum`.
    Sum,
    /// `exact_avg`.
    Avg,
    /// `exact_var`: of a sample.
    Var,
    /// `exact_var_pop`.
    VarPop,
    /// `exact_stddev`: of a sample.
    Stddev,
    /// `exact_stddev_pop`.
    StddevPop,
    /// `exact_dot`.
    Dot,
}

impl Function {
    /// Every function.
    pub const ALL: &[Function] = {
        use Function::{Avg, Dot, Stddev, StddevPop, Sum, Var, VarPop};
        &[Sum, Avg, Var, VarPop, Stddev, StddevPop, Dot]
    };

    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Function::Sum => "exact_sum",
            Function::Avg => "exact_avg",
            Function::Var => "exact_var",
            Function::VarPop => "exact_var_pop",
            Function::Stddev => "exact_stddev",
            Function::StddevPop => "exact_stddev_pop",
            Function::Dot => "exact_dot",
        }
    }

    pub(crate) fn op(self) -> Op {
        match self {
            Function::Sum => Op::Sum,
            Function::Avg => Op::Mean,
            Function::Var | Function::VarPop => Op::Var,
            Function::Stddev | Function::StddevPop => Op::Std,
            Function::Dot => Op::Dot,
        }
    }

    pub(crate) fn ddof(self) -> u64 {
        u64::from(matches!(self, Function::Var | Function::Stddev))
    }
}

/// An exact aggregate function as DataFusion knows functions.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Exact {
    function: Function,
    signature: Signature,
    aliases: Vec<String>,
}

impl Exact {
    /// The function.
    pub fn new(function: Function) -> Exact {
        let aliases: &[&str] = match function {
            Function::Avg => &["exact_mean"],
            Function::Var => &["exact_var_samp"],
            Function::Stddev => &["exact_stddev_samp"],
            _ => &[],
        };
        let aliases = aliases.iter().map(ToString::to_string).collect();
        Exact { function, signature: Signature::user_defined(Volatility::Immutable), aliases }
    }

    fn task(&self, args: &AccumulatorArgs<'_>) -> Result<Task> {
        let Some(field) = args.expr_fields.first() else {
            return exec_err!("{} takes a column", self.function.name());
        };
        Task::new(self.function, field.data_type())
    }
}

/// Calls a macro with the state of a task's groups.
macro_rules! with_slot {
    ($task:expr, $call:ident) => {
        match ($task.function, $task.input) {
            (Function::Sum | Function::Avg, Input::F32) => $call!(FloatSum<f32>),
            (Function::Sum | Function::Avg, Input::F64) => $call!(FloatSum<f64>),
            (Function::Sum | Function::Avg, Input::I64) => $call!(IntegerSum<i64>),
            (Function::Sum | Function::Avg, Input::U64) => $call!(IntegerSum<u64>),
            (Function::Dot, Input::F32) => $call!(FloatDot<f32>),
            (Function::Dot, Input::F64) => $call!(FloatDot<f64>),
            (Function::Dot, Input::I64) => $call!(IntegerDot<i64>),
            (Function::Dot, Input::U64) => $call!(IntegerDot<u64>),
            (_, Input::F32) => $call!(FloatMoments<f32>),
            (_, Input::F64) => $call!(FloatMoments<f64>),
            (_, Input::I64) => $call!(IntegerMoments<i64>),
            (_, Input::U64) => $call!(IntegerMoments<u64>),
            // Only sums and averages of decimals get here.
            (_, Input::Decimal(..)) => $call!(DecimalSum),
        }
    };
}

impl AggregateUDFImpl for Exact {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let inputs = match (self.function, types) {
            (Function::Dot, [x, y]) => vec![Input::of_pair(x, y)?; 2],
            (Function::Dot, _) => return exec_err!("exact_dot takes two columns"),
            (function, [x]) => vec![Input::of(function, x)?],
            (function, _) => return exec_err!("{} takes one column", function.name()),
        };
        Ok(inputs.into_iter().map(Input::data_type).collect())
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let types = self.coerce_types(types)?;
        Ok(Task::new(self.function, &types[0])?.output())
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let task = self.task(&args)?;
        macro_rules! make {
            ($slot:ty) => {
                match args.is_distinct {
                    true => Ok(Box::new(Distinct::<$slot>::new(task))),
                    false => Ok(Box::new(Whole::<$slot>::new(task))),
                }
            };
        }
        with_slot!(task, make)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        let task = self.task(&args)?;
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT) over a frame that slides", self.function.name());
        }
        macro_rules! make {
            ($slot:ty) => {
                Ok(Box::new(Sliding::<$slot>::new(task)))
            };
        }
        with_slot!(task, make)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let what = if args.is_distinct { "distinct values" } else { "partial" };
        let name = format_state_name(args.name, what);
        Ok(vec![Arc::new(Field::new(name, DataType::LargeBinary, true))])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let task = self.task(&args)?;
        macro_rules! make {
            ($slot:ty) => {
                Ok(Box::new(Groups::<$slot>::new(task)))
            };
        }
        with_slot!(task, make)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}
