//! Which fold of a task keeps its state from tile to tile, and which reads the inputs itself.

use warpfold_expr::Tiles;
use warpfold_num::{Accuracy, Op, Policy};

use super::Map;
use super::running::Folds;
use super::task::Task;

/// Whether a task asks for the indices of what was kept.
pub(super) fn is_indexed(task: &Task) -> bool {
    matches!(task, Task::Values(Op::ArgMin | Op::ArgMax | Op::Stats, _))
}

/// How a task is folded: what a weighted variance is made of, exactly, as its parts are taken from one another.
pub(super) fn policy_of(map: &Map, task: &Task) -> Policy {
    let has_variance = || map.tasks.iter().any(|task| matches!(task, Task::Squares { .. }));
    match task {
        Task::Products(..) | Task::Weights(_) if has_variance() => {
            Policy { accuracy: Accuracy::Exact, ..map.policy }
        }
        _ => map.policy,
    }
}

/// The folds of a task that keep their state, where it has such: not where elements have other indices than their positions.
pub(super) fn running(map: &Map, task: &Task) -> Option<Folds> {
    let counts = is_indexed(task) || matches!(task, Task::Values(Op::Prod, _));
    match map.is_masked() && counts {
        true => None,
        false => Folds::start(*task, &map.program, policy_of(map, task)),
    }
}

/// Whether every task of a map keeps its state.
pub(super) fn are_running(map: &Map) -> bool {
    let is_running =
        |task: &Task| matches!(task, Task::Conditions(_)) || running(map, task).is_some();
    map.tasks.iter().all(is_running)
}

/// Elements from which on values are made while they are folded: fewer, such as those of a row, are there soon.
const LEAST_MADE: usize = 4 << 10;

/// The folds of all tasks where each reads the inputs itself: of inputs, or of what is made of them while it is folded.
pub(super) fn straight(map: &Map, tiles: &Tiles<'_>, n: usize) -> Option<Vec<Option<Folds>>> {
    let of = |task: &Task| {
        let is_simple = matches!(
            task,
            Task::Values(..) | Task::Products(..) | Task::Pairs(..) | Task::Weights(_)
        );
        match is_simple && task.ids().all(|id| tiles.input(id).is_some()) {
            true => Some(running(map, task)),
            false if n < LEAST_MADE => None,
            false => Folds::straight(*task, &map.program, policy_of(map, task)).map(Some),
        }
    };
    if map.is_masked() { None } else { map.tasks.iter().map(of).collect() }
}
