//! [`Modules`]: the kernels of an operator, made once in a process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use warpfold_engine::operator::TypedOperator;
use warpfold_kernels::arguments::{OperatorArguments, OperatorJoinArguments};
use warpfold_kernels::catalog::{BASE, MAP_INPUTS, OPERATOR_FOLD, OPERATOR_JOIN, Plain};

use super::splice::{Input, splice};
use crate::kernel::map::Spliced;
use crate::kernel::map::cache::Made;
use crate::{Error, Result};

/// The kernels of an operator, for arrays that lie as those they were made for.
pub(super) struct Modules {
    pub(super) fold: Arc<Spliced>,
    pub(super) join: Arc<Spliced>,
    /// Whether its laws were tried on elements.
    pub(super) is_checked: AtomicBool,
}

impl Modules {
    /// Those of an operator.
    ///
    /// # Errors
    /// [`Error::Map`]: it reads more arrays than kernels take.
    pub(super) fn of(operator: &TypedOperator, inputs: &[Input]) -> Result<Arc<Modules>> {
        static MADE: Made<Modules> = Made::new();
        if inputs.len() > MAP_INPUTS {
            return Err(Error::Map {
                requested: "operator".into(),
                obstacle: format!(
                    "it reads {} arrays, and kernels take {MAP_INPUTS}",
                    inputs.len()
                ),
                remedy: "run it on the CPU, or put some of them into one array before".into(),
            });
        }
        let key = format!("{inputs:?} {:?}\n{}", operator.inputs(), operator.printed_key());
        MADE.of(key, |number| {
            let of = |plain: Plain, parameters: usize, inputs: &[Input]| {
                let template = warpfold_kernels::find(&plain.module());
                let template = template.unwrap_or_else(|| unreachable!("{} ships", plain.name));
                let (entry, number) = (plain.entries[0], number);
                let (ptx, lines) = splice(&template.ptx(), (entry, parameters), operator, inputs)?;
                let name = format!("{entry}, operator {number}");
                Ok::<_, Error>(Arc::new(Spliced { name, entry: entry.into(), ptx, lines }))
            };
            let parameters = MAP_INPUTS + OperatorArguments::default().words().len();
            let of_join = OperatorJoinArguments::default().words().len();
            Ok(Modules {
                fold: of(OPERATOR_FOLD, parameters, inputs)?,
                join: of(OPERATOR_JOIN, of_join, &[])?,
                is_checked: AtomicBool::new(false),
            })
        })
    }

    /// The templates' target, which devices have at least.
    pub(super) const COMPUTE: u32 = BASE;
}
