//! What a launch must know of each kernel, read from the PTX, and the hash that says whether a kernel changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The number of a kernel's property, as columns of the pack's directory and of the lock: known, or none.
pub(super) type Known = Option<u32>;

/// One kernel of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) max_threads: Known,
    pub(super) min_blocks: Known,
    pub(super) shared_bytes: u32,
    pub(super) parameters: u32,
    pub(super) parameter_bytes: u32,
    pub(super) state_bytes: Known,
    pub(super) record_words: Known,
    /// SHA-256 of the module's text outside of all kernels, and then the kernel's.
    pub(super) sha256: String,
}

/// Constants that the device code defines for the manifest, by name.
pub(super) type Constants = BTreeMap<String, u32>;

/// Parts `extern "C" __device__ const u32 manifest_…` from the PTX, which nothing of it reads.
pub(super) fn take_constants(ptx: &str) -> (String, Constants) {
    const PREFIX: &str = "manifest_";
    let constant = |line: &str| {
        let (declared, value) = line.trim_end_matches(';').split_once(" = ")?;
        let name = declared.rsplit(' ').next()?.strip_prefix(PREFIX)?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    let mut constants = Constants::new();
    let mut kept = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        // A comment names what is visible elsewhere, in a line before its own.
        let named = line.trim_start().strip_prefix("// .globl").map(str::trim);
        if named.is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        match constant(line).filter(|_| line.contains(".global ")) {
            Some((name, value)) => _ = constants.insert(name, value),
            None => kept += &(line.to_owned() + "\n"),
        }
    }
    (kept, constants)
}

/// The kernels of a module, in the order of its text.
pub(super) fn of_module(ptx: &str, constants: &Constants) -> Vec<Facts> {
    let (outside, kernels) = part(ptx);
    let declared = shared(&outside);
    let facts = |(name, text): (String, String)| {
        let directive = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split(',').map(|number| number.trim().parse::<u32>().ok()).product()
        };
        // Calls have parameters too, within the braces.
        let declared_before = text.split("\n{").next().unwrap_or_default();
        let sizes: Vec<(u32, u32)> = declared_before.lines().filter_map(parameter).collect();
        let mut own = shared(&text);
        // What several kernels of a module use stands before them.
        let used = declared.iter().filter(|variable| text.contains(&variable.name));
        own.extend(used.cloned());
        // Nothing is said as nought.
        let said = |what: &str| {
            constants.get(&format!("{what}_{name}")).copied().filter(|&number| number > 0)
        };
        let mut hash = Sha256::new();
        hash.update(&outside);
        hash.update(&text);
        let sha256 = hash.finalize().iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("strings take text");
            text
        });
        Facts {
            max_threads: directive(".maxntid"),
            min_blocks: directive(".minnctapersm"),
            shared_bytes: laid_out(own.iter().map(|variable| (variable.align, variable.bytes))),
            parameters: sizes.len() as u32,
            parameter_bytes: laid_out(sizes.into_iter()),
            state_bytes: said("state"),
            record_words: said("record"),
            sha256,
            name,
        }
    };
    kernels.into_iter().map(facts).collect()
}

/// The text outside of all kernels, and each kernel's name and text.
fn part(ptx: &str) -> (String, Vec<(String, String)>) {
    let (mut outside, mut kernels) = (String::new(), Vec::<(String, String)>::new());
    let mut inside = false;
    for line in ptx.lines() {
        if let Some(name) = line.strip_prefix(".visible .entry ") {
            inside = true;
            kernels.push((name.trim_end_matches(['(', ')']).to_owned(), String::new()));
        }
        let text = match kernels.last_mut().filter(|_| inside) {
            Some((_, text)) => text,
            None => &mut outside,
        };
        *text += line;
        text.push('\n');
        inside &= line != "}";
    }
    (outside, kernels)
}

/// Alignment and size of a parameter: `.param .u64 name`, `.param .align 8 .b8 name[72]`.
fn parameter(line: &str) -> Option<(u32, u32)> {
    let declared = line.trim().strip_prefix(".param ")?.trim_end_matches(',');
    variable(declared).map(|variable| (variable.align, variable.bytes))
}

#[derive(Clone)]
struct Variable {
    name: String,
    align: u32,
    bytes: u32,
}

fn shared(text: &str) -> Vec<Variable> {
    let declared = text.lines().filter_map(|line| line.trim().strip_prefix(".shared "));
    declared.filter_map(|line| variable(line.trim_end_matches(';'))).collect()
}

/// A declaration without its space: `.align 8 .b8 name[128]`, `.u64 name`.
fn variable(declared: &str) -> Option<Variable> {
    let mut words = declared.split_whitespace();
    let mut word = words.next()?;
    let mut align = None;
    if word == ".align" {
        align = words.next()?.parse().ok();
        word = words.next()?;
    }
    let bits: u32 = match word {
        ".pred" => 8,
        _ => word.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?,
    };
    let name = words.next()?;
    let (name, count) = match name.split_once('[') {
        Some((name, count)) => (name, count.trim_end_matches(']').parse().ok()?),
        None => (name, 1),
    };
    let bytes = bits / 8;
    Some(Variable { name: name.to_owned(), align: align.unwrap_or(bytes), bytes: bytes * count })
}

/// Bytes of variables one after another, each at a multiple of its alignment.
fn laid_out(variables: impl Iterator<Item = (u32, u32)>) -> u32 {
    variables.fold(0, |end: u32, (align, bytes)| end.next_multiple_of(align) + bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.version 8.0
\t// .globl\tmanifest_state_f
.visible .global .align 4 .u32 manifest_state_f = 48;
.global .align 4 .u32 COUNT = 4;
\t// .globl\tf
.visible .entry f(
\t.param .u32 f_param_0,
\t.param .u64 f_param_1,
\t.param .align 4 .b8 f_param_2[12]
)
.maxntid 256, 2, 1
.minnctapersm 3
{
\t// demoted variable
\t.shared .align 1 .u8 last;
\t.shared .align 8 .b8 word[96];
\t{
\t.param .b64 param0;
\t}
\tret;
}
.visible .entry g()
{
\tret;
}
";

    #[test]
    fn facts_are_those_of_the_text() {
        let (ptx, constants) = take_constants(PTX);
        assert!(!ptx.contains("manifest_"), "{ptx}");
        let kernels = of_module(&ptx, &constants);
        let [f, g] = &kernels[..] else { panic!("{kernels:?}") };
        assert_eq!((f.name.as_str(), g.name.as_str()), ("f", "g"));
        assert_eq!((f.max_threads, f.min_blocks, f.shared_bytes), (Some(512), Some(3), 104));
        assert_eq!((f.parameters, f.parameter_bytes, f.state_bytes), (3, 28, Some(48)));
        assert_eq!((g.max_threads, g.min_blocks, g.shared_bytes), (None, None, 0));
        assert_eq!((g.parameters, g.parameter_bytes, g.state_bytes), (0, 0, None));
    }

    #[test]
    fn a_change_of_one_kernel_changes_its_hash_alone() {
        let hashes = |ptx: &str| {
            let kernels = of_module(ptx, &Constants::new()).into_iter();
            kernels.map(|facts| facts.sha256).collect::<Vec<_>>()
        };
        let before = hashes(PTX);
        let after = hashes(&PTX.replace("word[96]", "word[104]"));
        assert_eq!((before[0] == after[0], before[1] == after[1]), (false, true));
        let elsewhere = hashes(&PTX.replace("COUNT = 4", "COUNT = 5"));
        assert!(before.iter().zip(&elsewhere).all(|(before, after)| before != after));
    }
}
