//! What only partials tell.

use warpfold_exact::partial::Output;
use warpfold_num::Value;

use crate::batch::{Lone, Read};

/// Results of a type that is known at run time.
pub(crate) struct Values;

impl<S> Read<S> for Values {
    type Result = Value;

    fn small(&self, _: &S, _: u64) -> Option<Value> {
        None
    }

    fn finished(&self, output: Output) -> Value {
        match output {
            Output::One(value) => value,
            other => unreachable!("the reduction has one number, not {other:?}"),
        }
    }

    fn lone(&self, inputs: Lone<'_, Value>) {
        inputs.defer();
    }
}
