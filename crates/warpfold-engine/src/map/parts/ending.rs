//! [`Ending`]: how the outputs of a map are read, and what stands for those that have no result.

use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Empty, Op};

use crate::Columns;
use crate::map::wanted::Wanted;
use crate::map::{Map, Measure};

/// The results of all outputs by one reduction of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnsOf {
    /// What the reduction is called.
    pub name: String,
    /// One column or two, as [`crate::columns`] has them.
    pub columns: Columns,
    /// The outputs that have no value, ascending, where [`Empty::None`] asks for them. What the columns hold there means nothing.
    pub gaps: Vec<u64>,
}

/// How outputs are read.
pub(super) struct Ending {
    pub(super) finish: Finish,
    empty: Empty,
    /// For each that is wanted, what is written where there is no result, if that is no error.
    stand_ins: Vec<Option<Output>>,
}

impl Ending {
    pub(super) fn of(map: &Map, finish: Finish, empty: Empty) -> Self {
        let stand_in = |wanted: &Wanted| {
            let op = match wanted.measure {
                Measure::Op(op) => op,
                // They have the types of a mean.
                _ => Op::Mean,
            };
            crate::stand_in(op, wanted.dtype, finish, empty)
        };
        Ending { finish, empty, stand_ins: map.wanted.iter().map(stand_in).collect() }
    }

    /// Whether the `k`th that is wanted may have no result.
    pub(super) fn allows(&self, k: usize) -> bool {
        self.stand_ins[k].is_some()
    }

    /// The `k`th one's results with something in place of those that are not there, and which those are if they are to be told.
    pub(super) fn filled(&self, k: usize, outputs: Vec<Option<Output>>) -> (Vec<Output>, Vec<u64>) {
        let is_gap = |output: &Option<Output>| output.is_none() && self.empty == Empty::None;
        let gaps = (0..).zip(&outputs).filter(|(_, output)| is_gap(output)).map(|(at, _)| at);
        let gaps = gaps.collect();
        let filled = |output: Option<Output>| {
            let stand_in = || self.stand_ins[k].clone();
            output.or_else(stand_in).unwrap_or_else(|| unreachable!("it was an error"))
        };
        (outputs.into_iter().map(filled).collect(), gaps)
    }
}
