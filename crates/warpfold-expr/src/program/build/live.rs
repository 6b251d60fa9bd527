//! Values that no expression is made of, taken out of a program.

use super::super::{Id, Program, Root};

/// A program without the values that no expression is made of, such as the other branch of a choice that is known: nothing computes them, or fails for them.
pub(super) fn live(program: Program) -> Program {
    let ids = program.roots.iter().flat_map(|root| {
        let (a, b) = root.factors.unwrap_or((root.value, root.value));
        [root.value, a, b]
    });
    let mut is_live = vec![false; program.nodes.len()];
    ids.chain(program.present).for_each(|id| is_live[usize::from(id)] = true);
    for id in (0..program.nodes.len()).rev() {
        if is_live[id] {
            program.nodes[id].operands().for_each(|operand| is_live[usize::from(operand)] = true);
        }
    }
    if is_live.iter().all(|&is_live| is_live) {
        return program;
    }
    let mut next = 0;
    let numbered = is_live.iter().map(|&is_live| {
        next += Id::from(is_live);
        next.saturating_sub(1)
    });
    let new: Vec<Id> = numbered.collect();
    let at = |id: Id| new[usize::from(id)];
    let kept = |id: &usize| is_live[*id];
    let all = || (0..program.nodes.len()).filter(kept);
    let root = |root: &Root| Root {
        value: at(root.value),
        factors: root.factors.map(|(a, b)| (at(a), at(b))),
    };
    Program {
        nodes: all().map(|id| program.nodes[id].renumbered(at)).collect(),
        types: all().map(|id| program.types[id]).collect(),
        texts: all().map(|id| program.texts[id].clone()).collect(),
        roots: program.roots.iter().map(root).collect(),
        present: program.present.map(at),
        inputs: program.inputs,
        natives: program.natives,
    }
}
