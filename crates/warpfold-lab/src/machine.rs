//! The machine a figure was measured on, as far as the figure depends on it.

use std::fs;

use serde::{Deserialize, Serialize};
use warpfold::plan::Isa;
use warpfold::{DType, Op, Policy, Stream};

/// Facts about the machine and the build; no host or user name and no path is among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The CPU's own name.
    pub cpu: String,
    /// Logical cores that this process may use.
    pub cores: usize,
    /// The instruction set of the kernels chosen here.
    pub isa: String,
    /// Bytes of data or unified cache, level 1 first, as one core sees them. A virtual machine may own only a part.
    pub caches: Vec<u64>,
    /// Bytes of memory.
    pub memory: u64,
    /// Operating system and architecture.
    pub os: String,
    /// The compiler.
    pub rustc: String,
    /// The build profile.
    pub profile: String,
}

impl Machine {
    /// The machine this runs on. Facts that it does not tell are empty or 0.
    pub fn here() -> Self {
        Machine {
            cpu: cpu_model().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            isa: isa(),
            caches: caches(),
            memory: memory().unwrap_or(0),
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            rustc: env!("WARPFOLD_LAB_RUSTC").to_owned(),
            profile: env!("WARPFOLD_LAB_PROFILE").to_owned(),
        }
    }

    /// The same machine with kernels of a chosen instruction set.
    #[must_use]
    pub fn with_isa(self, isa: Option<Isa>) -> Self {
        let isa = isa.map_or(self.isa, |isa| isa.to_string());
        Machine { isa, ..self }
    }

    /// A folder's name for results of this machine: the CPU model in lower case, and the cores.
    pub fn slug(&self) -> String {
        let marks = ["(R)", "(TM)", "(r)", "(tm)", " CPU", " @"];
        let bare = marks.iter().fold(self.cpu.clone(), |name, mark| name.replace(mark, ""));
        let words =
            bare.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let name: Vec<_> = words.map(str::to_ascii_lowercase).collect();
        format!("{}-{}c", name.join("-"), self.cores)
    }
}

/// As the library's own plan names it.
fn isa() -> String {
    match Stream::<f32>::new(Op::Sum, Policy::default()) {
        Ok(stream) => stream.plan(1).isa.to_string(),
        Err(error) => unreachable!("sum is defined for {}: {error}", DType::F32),
    }
}

fn cpu_model() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory() -> Option<u64> {
    meminfo("MemTotal:")
}

/// Bytes of memory that this process may still take: what the system has, the control group allows, and the limit on address space leaves; all
/// there could be where none is known.
pub fn available_memory() -> u64 {
    let known = [meminfo("MemAvailable:"), group_memory(), address_space()];
    known.into_iter().flatten().min().unwrap_or(u64::MAX)
}

/// What the limit on address space (`ulimit -v`) leaves; `None` without one.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let taken = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let taken = taken.split_whitespace().next()?.parse::<u64>().ok()? << 10;
    Some(limit.saturating_sub(taken))
}

/// What the control group of this process leaves, by version 2; pages of files that nobody has used lately are as good as free.
fn group_memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let read = |fact: &str| fs::read_to_string(format!("/sys/fs/cgroup{path}/{fact}")).ok();
    let limit: u64 = read("memory.max")?.trim().parse().ok()?;
    let taken: u64 = read("memory.current")?.trim().parse().ok()?;
    let cached = read("memory.stat")?
        .lines()
        .find_map(|line| line.strip_prefix("inactive_file "))
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or(0);
    Some(limit.saturating_sub(taken.saturating_sub(cached)))
}

fn meminfo(fact: &str) -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find(|line| line.starts_with(fact))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

fn caches() -> Vec<u64> {
    let cache = |index: u32| {
        let read = |fact: &str| {
            fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{fact}"))
                .ok()
        };
        let kind = read("type")?;
        let size = read("size")?;
        let kibibytes = size.trim().strip_suffix('K')?.parse::<u64>().ok()?;
        (kind.trim() != "Instruction").then_some(kibibytes << 10)
    };
    (0..8).filter_map(cache).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_lower_case_words_and_cores() {
        let machine = |cpu: &str| Machine { cpu: cpu.into(), cores: 2, ..Machine::here() };
        let slug = |cpu| machine(cpu).slug();
        assert_eq!(slug("Intel(R) Xeon(R) Processor"), "intel-xeon-processor-2c");
        assert_eq!(
            slug("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz"),
            "intel-core-i7-8650u-1-90ghz-2c"
        );
        assert_eq!(slug("AMD EPYC 9B14"), "amd-epyc-9b14-2c");
    }

    #[test]
    fn this_machine_has_a_core_and_a_compiler() {
        let here = Machine::here();
        assert!(here.cores >= 1 && here.rustc.starts_with("rustc 1."), "{here:?}");
    }
}
