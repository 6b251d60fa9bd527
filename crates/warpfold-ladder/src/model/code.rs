//! [`Code`]: what an assembler makes of each PTX instruction of a kernel: issue slots, the pipe that executes them, the registers that carry results.
//!
//! The simulator executes PTX, a GPU machine code. The difference follows rules of the instruction set, not of any kernel: addresses of 64 bits are computed by pairs of
//! instructions and in one step with a shift; a short `if` becomes predicated instructions, which every warp issues whether it takes part or not; at a longer one that
//! threads of a warp part at, two more say where they meet and wait there; the larger of two integers of 64 bits is two comparisons and two selections; a remainder is some twenty
//! instructions around a reciprocal. `tests/model.rs` and `tests/machine_code.rs` compare the totals with the instructions that an H200 counted.

use std::collections::{HashMap, HashSet};

use warpfold_simt::{Counters, Kernel};

use super::values::Values;

/// Where an instruction is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipe {
    /// Logic, shifts, comparisons, extremes.
    Alu,
    /// Integer additions: assemblers give them to the pipe for integers or, as products with one, to that for products, whichever has less to do.
    Add,
    /// f32 arithmetic.
    Fma,
    /// Products of integers.
    Imad,
    /// f64 arithmetic.
    F64,
    /// Reciprocals and conversions.
    Xu,
    /// Memory instructions and shuffles.
    Lsu,
    /// Branches, barriers, and what the uniform datapath does.
    Control,
}

/// How long the result takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// That of arithmetic, so many times.
    Arithmetic(u8),
    /// That of the pipe for f64.
    F64,
    /// A conversion or reciprocal.
    Xu,
    /// A remainder: conversions, a reciprocal, and ten dependent instructions.
    Remainder,
    /// Shared memory.
    Shared,
    /// A shuffle.
    Shuffle,
    /// Global memory.
    Global,
    /// An atomic operation whose old value is wanted.
    Atomic,
    /// A barrier of the block.
    Barrier,
    /// A fence of global memory.
    Fence,
    /// None: a name for what is there already.
    Nothing,
}

/// What one PTX instruction becomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Issue slots of a warp, by pipe.
    pub slots: Vec<(Pipe, f64)>,
    /// How long its result takes.
    pub wait: Wait,
    /// Registers it writes.
    pub to: Vec<u32>,
    /// Registers it reads.
    pub from: Vec<u32>,
    /// The branch by whose number of warps it is issued, where that was turned into predicates.
    pub predicated_by: Option<usize>,
    /// Whether nothing after it begins before its operands are there: a branch that is one.
    pub decides: bool,
}

impl Machine {
    /// Issue slots in all.
    pub fn issues(&self) -> f64 {
        self.slots.iter().map(|(_, slots)| slots).sum()
    }
}

/// A kernel's instructions, in the order of its code.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// Each.
    pub machine: Vec<Machine>,
    /// Registers by number, as many as there are.
    pub registers: usize,
}

/// The longest body of an `if` that assemblers turn into predicated instructions.
const PREDICATED: f64 = 9.0;

/// A PTX instruction in parts.
struct Line<'a> {
    opcode: &'a str,
    operands: &'a str,
    guard: &'a str,
    line: u32,
}

fn split(text: &str, line: u32) -> Line<'_> {
    let text = text.trim().trim_end_matches(';');
    let (guard, rest) = match text.starts_with('@') {
        true => text.split_once(char::is_whitespace).unwrap_or((text, "")),
        false => ("", text),
    };
    let rest = rest.trim();
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Line { opcode, operands: operands.trim(), guard, line }
}

impl Code {
    /// What becomes of a kernel of a module whose PTX is given.
    pub fn new(kernel: &Kernel, ptx: &str) -> Code {
        let sites: Vec<_> = kernel.sites().collect();
        let lines: Vec<Line<'_>> = sites.iter().map(|s| split(&s.text, s.line.0)).collect();
        let labels = labels(ptx, kernel.name());
        let at_label = |name: &str| {
            let line = labels.get(name)?;
            Some(lines.iter().position(|l| l.line > *line).unwrap_or(lines.len()))
        };
        let targets: Vec<Option<usize>> = lines
            .iter()
            .map(|line| line.opcode.starts_with("bra").then(|| at_label(line.operands.trim()))?)
            .collect();
        // Which branches become predicates says what is computed on every way, and that, how long the bodies of branches are.
        let first = assemble(&lines, &targets, &vec![false; lines.len()]);
        let gone: Vec<bool> = first.machine.iter().map(|m| m.slots.is_empty()).collect();
        assemble(&lines, &targets, &gone)
    }

    /// How often each instruction is issued, by the counts of a run: what predicates replaced goes with its branch.
    pub fn issued<'a>(
        &'a self,
        counters: &'a Counters,
    ) -> impl Iterator<Item = (&'a Machine, f64)> {
        let count = |at: usize| counters.lines[at].counts.warp_instructions as f64;
        self.machine.iter().enumerate().map(move |(at, machine)| {
            (
                machine,
                machine.predicated_by.map_or_else(|| count(at), |by| count(by).max(count(at))),
            )
        })
    }
}

/// Instructions one by one; `targets` are those of branches, and `gone` are branches that become predicates.
fn assemble(lines: &[Line<'_>], targets: &[Option<usize>], gone: &[bool]) -> Code {
    let mut registers: HashMap<String, u32> = HashMap::new();
    // Addresses within shared memory have 32 bits, whatever PTX computes them in.
    let mut narrow: HashMap<&str, bool> = HashMap::new();
    // Products and shifts that the addition after them takes in.
    let mut scaled: HashMap<&str, bool> = HashMap::new();
    // Registers that something else than an addition of 64 bits reads.
    let adds =
        |line: &Line<'_>| line.opcode.starts_with("add.s64") || line.opcode.starts_with("add.u64");
    let others: HashSet<&str> = lines
        .iter()
        .filter(|line| !adds(line))
        .flat_map(|line| ends(line, &names(line.operands)).1)
        .collect();
    let mut machine = Vec::with_capacity(lines.len());
    let mut values = Values::default();
    let back = |(at, to): (usize, &Option<usize>)| to.filter(|to| *to <= at);
    let headers: HashSet<usize> = targets.iter().enumerate().filter_map(back).collect();
    for (at, line) in lines.iter().enumerate() {
        values.come(at, headers.contains(&at));
        let names = names(line.operands);
        let (to, from) = ends(line, &names);
        let is_narrow = from.iter().any(|name| narrow.get(*name) == Some(&true))
            || line.opcode.starts_with("mov.u64") && is_symbol(line.operands);
        let is_scaled = from.iter().any(|name| scaled.get(*name) == Some(&true));
        for name in &to {
            narrow.insert(name, is_narrow);
            let scales = line.opcode.starts_with("mul.wide") || line.opcode.starts_with("shl.b64");
            scaled.insert(name, scales);
        }
        let address = to.iter().all(|name| !others.contains(name));
        let (mut slots, wait) = recipe(line, is_narrow, is_scaled, address);
        let from_here = line.operands.split_once(',').map_or("", |(_, from)| from);
        let pure = matches!(
            wait,
            Wait::Arithmetic(_) | Wait::F64 | Wait::Xu | Wait::Nothing | Wait::Remainder
        );
        match to[..] {
            [to] if pure && line.guard.is_empty() => {
                if values.has(line.opcode, from_here, to) {
                    slots.clear();
                }
            }
            _ => to.iter().for_each(|name| values.fresh(name)),
        }
        if targets[at].is_none() || !gone[at] {
            let ends = ["bra", "brx", "ret", "exit"].iter().any(|end| line.opcode.starts_with(end));
            values.go(targets[at].filter(|to| *to > at), ends && line.guard.is_empty());
        }
        let mut number = |name: &&str| {
            let next = registers.len() as u32;
            *registers.entry((*name).to_owned()).or_insert(next)
        };
        let to = to.iter().map(&mut number).collect();
        let mut from: Vec<u32> = from.iter().map(&mut number).collect();
        if let Some(guard) = line.guard.strip_prefix('@') {
            from.push(number(&guard.trim_start_matches('!')));
        }
        machine.push(Machine { slots, wait, to, from, predicated_by: None, decides: false });
    }
    predicate(lines, &mut machine, targets);
    converge(lines, &mut machine, targets);
    Code { machine, registers: registers.len() }
}

/// Where the labels of an entry stand.
fn labels<'a>(ptx: &'a str, entry: &str) -> HashMap<&'a str, u32> {
    let mut found = HashMap::new();
    let mut inside = false;
    for (at, line) in ptx.lines().enumerate() {
        if line.contains(".entry") {
            inside = line.contains(&format!(".entry {entry}("));
        }
        if let Some(label) = line.trim().strip_suffix(':').filter(|_| inside) {
            found.insert(label, at as u32 + 1);
        }
    }
    found
}

fn is_symbol(operands: &str) -> bool {
    let from = operands.split_once(',').map_or("", |(_, from)| from.trim());
    !from.starts_with('%') && from.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Registers named in the operands.
fn names(operands: &str) -> Vec<&str> {
    let part = |c: char| c.is_alphanumeric() || c == '%' || c == '_' || c == '$' || c == '.';
    operands.split(|c| !part(c)).filter(|name| name.starts_with('%')).collect()
}

/// Those that are written, and those that are read.
fn ends<'a>(line: &Line<'_>, names: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let op = line.opcode;
    let none =
        ["st.", "bra", "bar", "red.", "ret", "membar", "fence", "mbarrier.init", "cp.", "exit"];
    if none.iter().any(|start| op.starts_with(start)) {
        return (Vec::new(), names.to_vec());
    }
    let written = match line.operands.split_once('}') {
        Some((list, _)) if line.operands.starts_with('{') => list.matches('%').count(),
        _ => 1 + usize::from(line.operands.split(',').next().is_some_and(|to| to.contains('|'))),
    };
    let (to, from) = names.split_at(written.min(names.len()));
    (to.to_vec(), from.to_vec())
}

/// Slots by pipe, and the wait for the result.
fn recipe(line: &Line<'_>, narrow: bool, scaled: bool, address: bool) -> (Vec<(Pipe, f64)>, Wait) {
    use Pipe::{Add, Alu, Control, F64, Fma, Imad, Lsu, Xu};
    let op = line.opcode;
    let parts: Vec<&str> = op.split('.').collect();
    let kind = parts.last().copied().unwrap_or("");
    let wide = kind.ends_with("64") && !narrow;
    let is = |name: &str| parts[0] == name;
    let has = |part: &str| parts.contains(&part);
    let nothing = (Vec::new(), Wait::Nothing);
    let plain = |pipe, slots: f64| (vec![(pipe, slots)], Wait::Arithmetic(1));
    let twice = |pipe| (vec![(pipe, 2.0)], Wait::Arithmetic(2));
    match parts[0] {
        // From the bank of constants, into a register.
        "ld" | "ldu" if has("param") || has("const") => (vec![(Control, 1.0)], Wait::Nothing),
        "mov" if line.operands.contains("%ntid") || line.operands.contains("%nctaid") => {
            (vec![(Control, 1.0)], Wait::Nothing)
        }
        "ld" if has("shared") => (vec![(Lsu, 1.0)], Wait::Shared),
        "ld" if has("local") => (vec![(Lsu, 1.0)], Wait::Shared),
        "ld" => (vec![(Lsu, 1.0)], Wait::Global),
        "st" => (vec![(Lsu, 1.0)], Wait::Nothing),
        "red" | "atom" => {
            let unread = is("red") || line.operands.starts_with('_');
            (vec![(Lsu, 1.0)], if unread { Wait::Nothing } else { Wait::Atomic })
        }
        "cvta" | "isspacep" => nothing,
        "mov"
            if line.operands.contains("%tid")
                || line.operands.contains("%ctaid")
                || line.operands.contains("%laneid") =>
        {
            (vec![(Control, 1.0)], Wait::Xu)
        }
        "mov" if kind == "b64" && line.operands.contains('{') => nothing,
        "mov"
            if line.operands.contains("%r")
                || line.operands.contains("%f") && line.operands.matches('%').count() == 2 =>
        {
            nothing
        }
        "mov" => (vec![(Add, 0.5)], Wait::Nothing),
        "cvt" => {
            let float = |t: &str| t.starts_with('f') || t.starts_with("bf");
            let floats = parts.iter().filter(|p| float(p)).count();
            match floats {
                0 if has("s64") => plain(Alu, 1.0),
                0 => nothing,
                2 if has("f16") || has("bf16") => plain(Alu, 1.0),
                _ => (vec![(Xu, 1.0)], Wait::Xu),
            }
        }
        "rem" | "div" if kind == "u32" || kind == "s32" => {
            (vec![(Alu, 5.0), (Add, 4.0), (Imad, 7.0), (Xu, 3.0), (Control, 1.0)], Wait::Remainder)
        }
        "rem" | "div" if wide => (vec![(Alu, 40.0), (Imad, 40.0), (Xu, 6.0)], Wait::Remainder),
        "shl" if wide && address => (vec![], Wait::Arithmetic(1)),
        "shl" if wide => twice(Alu),
        // By a constant it is a product with a power of two, which either pipe takes.
        "shl" if line.operands.rsplit(',').next().is_some_and(|by| !by.contains('%')) => {
            plain(Add, 1.0)
        }
        // Signs are modifiers of whoever reads the number.
        "abs" | "neg" if kind.starts_with('f') => nothing,
        "mul" if has("wide") && narrow => nothing,
        "mul" if has("wide") => plain(Imad, 1.0),
        "mad" if has("wide") => plain(Imad, 1.0),
        "add" | "sub" if narrow => plain(Add, 1.0),
        "add" | "sub" if wide && kind != "f64" => match scaled {
            // LEA and LEA.HI of a shift, or IMAD.WIDE of a product that has been counted.
            true => plain(Alu, 1.5),
            false => twice(Add),
        },
        "mul" | "mad" if wide && kind != "f64" => (vec![(Imad, 4.0)], Wait::Arithmetic(3)),
        "setp" if kind == "f64" => (vec![(F64, 1.0)], Wait::F64),
        "setp" if wide => twice(Alu),
        "setp" => plain(Alu, 1.0),
        "and" | "or" | "xor" | "not" if kind == "pred" => nothing,
        "and" | "or" | "xor" | "not" | "shr" if wide => twice(Alu),
        // Two comparisons and two selections; a sign adds the difference from zero.
        "min" | "max" if wide && kind != "f64" => (vec![(Alu, 4.0)], Wait::Arithmetic(3)),
        "abs" if wide => (vec![(Alu, 3.0), (Add, 2.0)], Wait::Arithmetic(3)),
        "neg" if wide => twice(Add),
        "min" | "max" if kind == "f64" => (vec![(F64, 1.0), (Alu, 2.0)], Wait::F64),
        "selp" if wide => twice(Alu),
        "add" | "sub" | "mul" | "fma" if kind == "f64" => (vec![(F64, 1.0)], Wait::F64),
        "add" | "sub" | "mul" | "fma" if kind == "f32" => plain(Fma, 1.0),
        "mul" | "mad" => plain(Imad, 1.0),
        "add" | "sub" | "addc" | "subc" => plain(Add, 1.0),
        "rcp" | "sqrt" | "ex2" | "lg2" | "rsqrt" => (vec![(Xu, 1.0)], Wait::Xu),
        "bar" | "barrier" if has("warp") => plain(Control, 1.0),
        "bar" | "barrier" => (vec![(Control, 1.0)], Wait::Barrier),
        "shfl" => (vec![(Lsu, 1.0)], Wait::Shuffle),
        "vote" | "activemask" | "match" => plain(Alu, 1.0),
        "redux" => (vec![(Xu, 1.0)], Wait::Shuffle),
        "membar" | "fence" => (vec![(Lsu, 1.0)], Wait::Fence),
        "mbarrier" if has("try_wait") || has("test_wait") => (vec![(Lsu, 1.0)], Wait::Shared),
        "mbarrier" | "cp" => (vec![(Lsu, 1.0)], Wait::Nothing),
        "bra" | "ret" | "exit" | "call" => (vec![(Control, 1.0)], Wait::Nothing),
        _ => plain(Alu, 1.0),
    }
}

/// Turns short bodies of branches into predicated instructions.
fn predicate(lines: &[Line<'_>], machine: &mut [Machine], targets: &[Option<usize>]) {
    for k in 0..lines.len() {
        let is_branch = lines[k].opcode.starts_with("bra") && !lines[k].guard.is_empty();
        if !is_branch {
            continue;
        }
        machine[k].decides = true;
        let Some(mut end) = targets[k].filter(|end| *end > k) else { continue };
        let mut first = k + 1;
        // `@p bra A; bra B; A: …; B:`
        if end == k + 2 && lines[k + 1].opcode == "bra.uni" {
            let Some(over) = targets[k + 1].filter(|over| *over > end) else { continue };
            (first, end) = (end, over);
        }
        let leads_out = lines.get(end).is_none_or(|line| line.opcode.starts_with("ret"));
        let stays = [
            "bra", "bar", "ret", "shfl", "call", "vote", "atom", "membar", "fence", "cp",
            "mbarrier",
        ];
        let body = first..end;
        let blocked = |i: usize| stays.iter().any(|start| lines[i].opcode.starts_with(start));
        let issues: f64 = body.clone().map(|i| machine[i].issues()).sum();
        if leads_out || issues > PREDICATED || body.clone().any(blocked) {
            continue;
        }
        for i in body {
            machine[i].predicated_by = Some(k);
        }
        machine[k].slots.clear();
        machine[k].decides = false;
        if first == k + 2 {
            machine[k + 1].slots.clear();
        }
    }
}

/// Counts what warps that part need to meet again, since compute capability 7.0: one instruction says where (BSSY), and one waits there (BSYNC), once for all
/// branches to one place. Threads part only by what differs between them.
fn converge(lines: &[Line<'_>], machine: &mut [Machine], targets: &[Option<usize>]) {
    let mut differ: HashSet<u32> = HashSet::new();
    // Twice, for what a loop brings back.
    for _ in 0..2 {
        for (line, machine) in lines.iter().zip(&*machine) {
            let op = |start: &str| line.opcode.starts_with(start);
            let own = ["%tid", "%laneid"].iter().any(|name| line.operands.contains(name));
            let reads = op("ld") && !op("ld.param") && !op("ld.const") || op("atom") || op("shfl");
            let same = op("vote") || op("bar") || op("match");
            if !same && (own || reads || machine.from.iter().any(|name| differ.contains(name))) {
                differ.extend(&machine.to);
            }
        }
    }
    let mut reached: HashSet<usize> = HashSet::new();
    for k in 0..lines.len() {
        let Some(to) = targets[k].filter(|to| *to > k) else { continue };
        let parts = machine[k].decides && machine[k].from.iter().any(|name| differ.contains(name));
        let leaves = lines.get(to).is_none_or(|line| line.opcode.starts_with("ret"));
        if parts && !leaves && reached.insert(to) {
            machine[k].slots.push((Pipe::Control, 2.0));
        }
    }
}
