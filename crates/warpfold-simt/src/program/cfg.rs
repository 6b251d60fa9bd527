//! The control-flow graph: immediate post-dominators, where split warps meet again, and loops.

use super::Loop;
use super::op::{EXIT, Instruction, Op, Pc};

/// Basic blocks of a kernel and their edges. Block `blocks.len()` is the exit.
struct Graph {
    /// First instruction of each block, then the code's length.
    starts: Vec<Pc>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
}

fn targets(instruction: &Instruction, pc: Pc) -> Vec<Pc> {
    let mut all = match &instruction.op {
        Op::Branch { target, .. } => vec![*target],
        Op::Table { targets, .. } => targets.clone(),
        Op::Exit | Op::Trap => vec![EXIT],
        _ => return vec![pc + 1],
    };
    if instruction.guard.is_some() {
        all.push(pc + 1);
    }
    all
}

fn ends_block(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Branch { .. } | Op::Table { .. } | Op::Exit | Op::Trap)
}

impl Graph {
    fn new(code: &[Instruction]) -> Graph {
        let mut leads = vec![false; code.len() + 1];
        leads[0] = true;
        for (pc, instruction) in code.iter().enumerate().filter(|(_, i)| ends_block(i)) {
            leads[pc + 1] = true;
            for target in targets(instruction, pc as Pc) {
                if target != EXIT {
                    leads[target as usize] = true;
                }
            }
        }
        leads[code.len()] = false;
        let mut starts: Vec<Pc> =
            (0..code.len()).filter(|&pc| leads[pc]).map(|pc| pc as Pc).collect();
        let count = starts.len();
        starts.push(code.len() as Pc);
        let mut graph = Graph {
            starts,
            successors: vec![Vec::new(); count + 1],
            predecessors: vec![Vec::new(); count + 1],
        };
        for block in 0..count {
            let last = graph.starts[block + 1] - 1;
            for target in targets(&code[last as usize], last) {
                let to = graph.block_at(target);
                if !graph.successors[block].contains(&to) {
                    graph.successors[block].push(to);
                    graph.predecessors[to].push(block);
                }
            }
        }
        graph
    }

    fn exit(&self) -> usize {
        self.starts.len() - 1
    }

    /// The block that begins at `pc`; anything past the code is the exit.
    fn block_at(&self, pc: Pc) -> usize {
        if pc as usize >= self.starts[self.exit()] as usize {
            return self.exit();
        }
        self.starts.partition_point(|&start| start <= pc) - 1
    }

    fn start_of(&self, block: usize) -> Pc {
        if block == self.exit() { EXIT } else { self.starts[block] }
    }
}

/// Immediate dominators from `root` along `forward`, by Cooper, Harvey and Kennedy's iteration.
/// `None` where the root does not reach.
fn dominators(root: usize, forward: &[Vec<usize>], backward: &[Vec<usize>]) -> Vec<Option<usize>> {
    let count = forward.len();
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = stack.pop() {
        if let Some(&to) = forward[node].get(next) {
            stack.push((node, next + 1));
            if !seen[to] {
                seen[to] = true;
                stack.push((to, 0));
            }
        } else {
            order.push(node);
        }
    }
    let mut rank = vec![0; count];
    for (i, &node) in order.iter().enumerate() {
        rank[node] = i;
    }
    let mut parent = vec![None; count];
    parent[root] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != root) {
            let mut best: Option<usize> = None;
            for &before in backward[node].iter().filter(|&&b| parent[b].is_some()) {
                best = Some(match best {
                    None => before,
                    Some(mut other) => {
                        let mut mine = before;
                        while mine != other {
                            while rank[mine] < rank[other] {
                                mine = parent[mine].unwrap_or(root);
                            }
                            while rank[other] < rank[mine] {
                                other = parent[other].unwrap_or(root);
                            }
                        }
                        mine
                    }
                });
            }
            if parent[node] != best {
                parent[node] = best;
                changed = true;
            }
        }
    }
    parent
}

/// Gives every branch the place where its paths meet again, and finds the loops.
pub(super) fn analyse(code: &mut [Instruction]) -> Vec<Loop> {
    if code.is_empty() {
        return Vec::new();
    }
    let graph = Graph::new(code);
    let exit = graph.exit();
    let mut post = dominators(exit, &graph.predecessors, &graph.successors);
    // A block that never reaches the exit (an endless loop) has no meeting place but the end.
    post.iter_mut().for_each(|p| *p = p.or(Some(exit)));
    for (block, meet) in post.iter().enumerate().take(exit) {
        let last = graph.starts[block + 1] - 1;
        let meet = graph.start_of(meet.unwrap_or(exit));
        if let Op::Branch { reconverge, .. } | Op::Table { reconverge, .. } =
            &mut code[last as usize].op
        {
            *reconverge = meet;
        }
    }
    loops(&graph, code)
}

fn loops(graph: &Graph, code: &mut [Instruction]) -> Vec<Loop> {
    let dominator = dominators(0, &graph.successors, &graph.predecessors);
    let dominates = |header: usize, mut node: usize| loop {
        if node == header {
            return true;
        }
        match dominator[node] {
            Some(up) if up != node => node = up,
            _ => return false,
        }
    };
    let mut bodies: Vec<(usize, Vec<usize>, Vec<bool>)> = Vec::new();
    for (tail, successors) in graph.successors.iter().enumerate().take(graph.exit()) {
        if dominator[tail].is_none() {
            continue;
        }
        for &header in successors {
            if !dominates(header, tail) {
                continue;
            }
            let known = bodies.iter().position(|(h, ..)| *h == header).unwrap_or_else(|| {
                let mut members = vec![false; graph.starts.len()];
                members[header] = true;
                bodies.push((header, vec![header], members));
                bodies.len() - 1
            });
            let (_, body, members) = &mut bodies[known];
            let mut work = vec![tail];
            while let Some(node) = work.pop() {
                if !std::mem::replace(&mut members[node], true) {
                    body.push(node);
                    work.extend(&graph.predecessors[node]);
                }
            }
        }
    }
    // Larger loops first, so that the innermost is written last.
    bodies.sort_by_key(|(_, body, _)| std::cmp::Reverse(body.len()));
    let mut all = Vec::new();
    for (index, (header, body, _)) in bodies.into_iter().enumerate() {
        let mut blocks: Vec<(Pc, Pc)> =
            body.iter().map(|&b| (graph.starts[b], graph.starts[b + 1] - 1)).collect();
        blocks.sort_unstable();
        for &(first, last) in &blocks {
            for instruction in &mut code[first as usize..=last as usize] {
                instruction.innermost = Some(index as u32);
            }
        }
        all.push(Loop { header: graph.starts[header], blocks });
    }
    all
}
