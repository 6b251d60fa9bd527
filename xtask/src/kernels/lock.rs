//! `kernels.lock`: a row a kernel, for people to read and for CI to compare.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::facts::Facts;
use super::ptxas::{self, Cost};

/// What ptxas says of a kernel, an architecture each.
pub(super) type Costed = [Option<Cost>; ptxas::ARCHITECTURES.len()];

/// Kernels by module and name.
pub(super) type Rows = BTreeMap<(String, String), (Facts, Costed)>;

const HEAD: &str = "\
# Every kernel of kernels.pack; made by `cargo xtask kernels`, compared by `cargo xtask kernels --check`.
#
# threads, blocks: the launch bounds, threads of the largest block and such blocks a multiprocessor
# shared: bytes of static shared memory; parameters: how many, bytes of all
# state: bytes of the state that a block leaves; record: 64-bit words of an exact fold's record up to the end of its integers; of kernels that say so
# sm_…: machine instructions, registers, bytes spilled, calls, by ptxas PTXAS; a dash where a module is for newer devices
# calls: of divisions, roots and functions that were not inlined; on sm_80 also exits of loops and what synchronises warps that have diverged (behind BRA.DIV and
#   BRA.CONV). Whole warps call none of the latter in the kernels that were looked at: all of f32, and sums, dots, products, moments, l1, counts and stats of all types
# sha256: of the module's PTX outside of all kernels, and then the kernel's
";

/// The table.
pub(super) fn text(rows: &Rows) -> String {
    let mut text = HEAD.replace("PTXAS", ptxas::VERSION);
    let row =
        |text: &mut String, name: [&str; 2], facts: [&str; 6], costs: &[String], sha: &str| {
            write!(text, "{:<34} {:<42}", name[0], name[1]).expect("strings take text");
            let widths = [7, 6, 6, 10, 5, 6];
            for (word, width) in facts.into_iter().zip(widths) {
                write!(text, " {word:>width$}").expect("strings take text");
            }
            for cost in costs {
                write!(text, "  {cost:>18}").expect("strings take text");
            }
            writeln!(text, "  {sha}").expect("strings take text");
        };
    let architectures = ptxas::ARCHITECTURES.map(|architecture| format!("sm_{architecture}"));
    let columns = ["threads", "blocks", "shared", "parameters", "state", "record"];
    row(&mut text, ["# module", "kernel"], columns, &architectures, "sha256");
    for ((module, name), (facts, costs)) in rows {
        let facts_of = facts_of(facts);
        let facts_of = std::array::from_fn(|k| facts_of[k].as_str());
        let costs: Vec<String> = costs.iter().map(|cost| written(cost.as_ref())).collect();
        row(&mut text, [module, name], facts_of, &costs, &facts.sha256);
    }
    text
}

fn dash<T: ToString>(known: Option<T>) -> String {
    known.map_or_else(|| "-".to_owned(), |known| known.to_string())
}

fn facts_of(facts: &Facts) -> [String; 6] {
    [
        dash(facts.max_threads),
        dash(facts.min_blocks),
        facts.shared_bytes.to_string(),
        format!("{}:{}", facts.parameters, facts.parameter_bytes),
        dash(facts.state_bytes),
        dash(facts.record_words),
    ]
}

fn written(cost: Option<&Cost>) -> String {
    dash(cost.map(|c| format!("{} {} {} {}", c.instructions, c.registers, c.spills, c.calls)))
}

/// What a lock says of ptxas, by module, kernel and hash, if it is of the same version.
pub(super) fn costs(lock: &str) -> BTreeMap<[String; 3], Costed> {
    let mut costs = BTreeMap::new();
    if !lock.contains(&format!("by ptxas {};", ptxas::VERSION)) {
        return costs;
    }
    for row in lock.lines().filter(|row| !row.starts_with('#')) {
        let mut words = row.split_whitespace().peekable();
        let mut next = || words.next().unwrap_or_default().to_owned();
        let (module, name) = (next(), next());
        (0..6).for_each(|_| _ = next());
        let costed = std::array::from_fn(|_| {
            let instructions = next().parse().ok()?;
            let mut number = || next().parse().unwrap_or(0);
            let (registers, spills, calls) = (number(), number(), number());
            Some(Cost { instructions, registers, spills, calls })
        });
        costs.insert([module, name, next()], costed);
    }
    costs
}

/// The rows of a lock without what ptxas says.
pub(super) fn without_costs(lock: &str) -> Vec<String> {
    let rows = lock.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let facts = &words[..words.len().min(8)];
        [facts, &words[words.len().saturating_sub(1)..]].concat().join(" ")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_kernel_that_did_not_change_are_found_again() {
        let facts = Facts {
            name: "f".into(),
            max_threads: Some(256),
            min_blocks: None,
            shared_bytes: 8,
            parameters: 2,
            parameter_bytes: 16,
            state_bytes: None,
            record_words: Some(4),
            sha256: "ab".into(),
        };
        let cost = Cost { instructions: 900, registers: 40, spills: 0, calls: 3 };
        let rows = Rows::from([(("m".into(), "f".into()), (facts, [None, Some(cost), None]))]);
        let text = text(&rows);
        let found = costs(&text);
        assert_eq!(found[&["m".into(), "f".into(), "ab".into()]], [None, Some(cost), None]);
        assert_eq!(without_costs(&text), ["m f 256 - 8 2:16 - 4 ab"]);
    }
}
