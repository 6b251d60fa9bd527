//! [`Values`]: what has been computed already where an instruction stands.
//!
//! A compiler computes nothing twice on one way through a kernel; but what one arm of a branch has computed is not there in the other, nor where both meet: only what
//! every way here has passed (the instructions that dominate this one, J. Cocke, *Global Common Subexpression Elimination*, 1970). Ways are followed downwards, from the
//! beginning of the innermost loop.

use std::collections::HashMap;
use std::ops::Range;

/// Values that have been computed: an assembler computes none twice in a stretch without a loop's beginning, if every way to the second has gone through the first.
#[derive(Default)]
pub(super) struct Values {
    /// The value that a register has, and the instruction that gave it.
    of: HashMap<String, (u32, usize)>,
    /// The value of an expression, and the instruction that computed it.
    known: HashMap<String, (u32, usize)>,
    count: u32,
    /// The instruction that is looked at.
    at: usize,
    /// The instructions that every way from the last loop's beginning to here goes through.
    passed: Vec<Range<usize>>,
    /// Those that every branch to an instruction further down has passed.
    joins: HashMap<usize, Vec<Range<usize>>>,
    /// Whether nothing comes here from the instruction before.
    cut: bool,
}

impl Values {
    /// Comes to the next instruction.
    pub(super) fn come(&mut self, at: usize, header: bool) {
        let joined = self.joins.remove(&at);
        self.passed = match (joined, self.cut) {
            _ if header => Vec::new(),
            (None, false) => std::mem::take(&mut self.passed),
            (None, true) => Vec::new(),
            (Some(joined), true) => joined,
            (Some(joined), false) => common(&joined, &self.passed),
        };
        self.at = at;
        match self.passed.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => self.passed.push(at..at + 1),
        }
    }

    /// LeftOnDevice an instruction: for one further down, too, if it branches, and for nothing else if it ends the way.
    pub(super) fn go(&mut self, to: Option<usize>, ends: bool) {
        if let Some(to) = to {
            let passed = match self.joins.get(&to) {
                Some(joined) => common(joined, &self.passed),
                None => self.passed.clone(),
            };
            self.joins.insert(to, passed);
        }
        self.cut = ends;
    }

    /// Whether every way here has gone through an instruction.
    fn has_passed(&self, at: usize) -> bool {
        let next = self.passed.partition_point(|range| range.end <= at);
        self.passed.get(next).is_some_and(|range| range.start <= at)
    }

    /// Whether the value of an instruction is there already: of its name, the operands that it reads, and the register that it writes.
    pub(super) fn has(&mut self, opcode: &str, from: &str, to: &str) -> bool {
        let mut key = opcode.to_owned();
        for part in from.split([',', ' ']).filter(|part| !part.is_empty()) {
            // What different ways have given different values has a new one where they meet.
            if self.of.get(part).is_some_and(|(_, at)| !self.has_passed(*at)) {
                self.fresh(part);
            }
            let value = self.of.get(part).map(|(value, _)| value.to_string());
            key = key + "," + value.as_deref().unwrap_or(part);
        }
        if let Some(&(value, at)) = self.known.get(&key)
            && self.has_passed(at)
        {
            self.of.insert(to.to_owned(), (value, self.at));
            return true;
        }
        self.fresh(to);
        self.known.insert(key, self.of[to]);
        false
    }

    /// Gives a register a value that no other has.
    pub(super) fn fresh(&mut self, name: &str) {
        self.count += 1;
        self.of.insert(name.to_owned(), (self.count, self.at));
    }
}

/// What two sets of instructions have in common.
fn common(a: &[Range<usize>], b: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut found, mut i, mut k) = (Vec::new(), 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(k)) {
        let (start, end) = (x.start.max(y.start), x.end.min(y.end));
        if start < end {
            found.push(start..end);
        }
        if x.end <= y.end {
            i += 1;
        } else {
            k += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_arm_computed_is_not_there_in_the_other_nor_behind_both() {
        // 0: a = x + y; 1: branch to 4; 2: b = x * y; 3: on to 6; 4: c = x * y; 5: d = x + y; 6: e = x * y; 7: f = x + y.
        let mut values = Values::default();
        let mut seen = Vec::new();
        let code = [
            ("add", "a", None, false),
            ("bra", "", Some(4), false),
            ("mul", "b", None, false),
            ("bra", "", Some(6), true),
            ("mul", "c", None, false),
            ("add", "d", None, false),
            ("mul", "e", None, false),
            ("add", "f", None, false),
        ];
        for (at, (opcode, to, target, ends)) in code.into_iter().enumerate() {
            values.come(at, false);
            if target.is_none() {
                seen.push((to, values.has(opcode, " x, y", to)));
            }
            values.go(target, ends);
        }
        let there: Vec<&str> = seen.iter().filter(|(_, there)| *there).map(|(to, _)| *to).collect();
        assert_eq!(there, ["d", "f"]);
    }

    #[test]
    fn a_register_that_two_arms_write_has_a_new_value_where_they_meet() {
        // 0: p = x + 1; 1: branch to 3; 2: p = x + 2; 3: q = p * p; 4: r = p * p.
        let mut values = Values::default();
        values.come(0, false);
        assert!(!values.has("add", " x, 1", "p"));
        values.come(1, false);
        assert!(!values.has("mul", " p, p", "before"));
        values.go(Some(3), false);
        values.come(2, false);
        assert!(!values.has("add", " x, 2", "p"));
        values.come(3, false);
        assert!(!values.has("mul", " p, p", "q"), "it is neither arm's");
        values.come(4, false);
        assert!(values.has("mul", " p, p", "r"));
        // A loop begins: what was before it may have changed.
        values.come(5, true);
        assert!(!values.has("mul", " p, p", "s"));
    }

    #[test]
    fn common_instructions_are_those_of_both() {
        assert_eq!(common(&[0..4, 6..9], &[2..7, 8..12]), [2..4, 6..7, 8..9]);
        assert_eq!(common(&[0..4, 6..7], &[4..5, 7..9]), []);
    }
}
