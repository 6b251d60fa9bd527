//! `ptxas`, NVIDIA's assembler: what a kernel takes of each architecture. Fetched from PyPI at one version; it needs no GPU.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::wheel::Wheel;

/// The version that the figures of the lock are of.
pub(super) const VERSION: &str = "12.9.86";

const WHEEL: Wheel = Wheel {
    requirement: "nvidia-cuda-nvcc-cu12==12.9.86 \
        --hash=sha256:5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0\n",
    platform: "manylinux2010_x86_64",
    folder: "ptxas-12.9.86",
    file: "nvidia/cuda_nvcc/bin/ptxas",
};

/// The architectures that the lock has figures for.
pub(super) const ARCHITECTURES: [u32; 3] = [80, 90, 120];

/// What a kernel takes of an architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// Machine instructions, without those that only fill up.
    pub(super) instructions: u32,
    pub(super) registers: u32,
    /// Bytes of registers that are kept in memory, stores and loads together.
    pub(super) spills: u32,
    /// Calls of subroutines: of divisions, and of what an architecture has no instruction for.
    pub(super) calls: u32,
}

/// The assembler.
pub(super) struct Ptxas {
    program: PathBuf,
}

impl Ptxas {
    /// The assembler, fetched first where `tools` does not hold it.
    pub(super) fn open(tools: &Path) -> Outcome<Ptxas> {
        let program = WHEEL.file(tools)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // Wheels are unpacked without the right to be run.
            let permissions = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&program, permissions).map_err(|e| e.to_string())?;
        }
        Ok(Ptxas { program })
    }

    /// What the kernels of a module take; nothing of an architecture older than the module's target.
    pub(super) fn costs(&self, module: &str, ptx: &str, architecture: u32) -> Outcome<Costs> {
        let target = ptx.lines().find_map(|line| line.strip_prefix(".target sm_"));
        let target = target.and_then(|target| target.parse::<u32>().ok());
        if target.is_none_or(|target| target > architecture) {
            return Ok(Costs::new());
        }
        let file = |kind: &str| {
            let name = format!("warpfold-{}-{module}-{architecture}.{kind}", std::process::id());
            std::env::temp_dir().join(name)
        };
        let (source, cubin) = (file("ptx"), file("cubin"));
        std::fs::write(&source, ptx).map_err(|e| format!("{}: {e}", source.display()))?;
        let output = Command::new(&self.program)
            .arg(format!("-arch=sm_{architecture}"))
            .args(["-v", "-o"])
            .args([&cubin, &source])
            .output()
            .map_err(|e| format!("{}: {e}", self.program.display()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("ptxas takes no {module} for sm_{architecture}:\n{said}"));
        }
        let code = std::fs::read(&cubin).map_err(|e| format!("{}: {e}", cubin.display()))?;
        for file in [source, cubin] {
            std::fs::remove_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        let mut costs = said_costs(&said);
        for (name, cost) in &mut costs {
            let text = section(&code, &format!(".text.{name}"))
                .ok_or_else(|| format!("ptxas left no code of {name}"))?;
            (cost.instructions, cost.calls) = counted(text);
        }
        Ok(costs)
    }
}

/// What kernels take, by name.
pub(super) type Costs = BTreeMap<String, Cost>;

/// Registers and spills, as `ptxas -v` says them.
fn said_costs(said: &str) -> Costs {
    let mut costs = Costs::new();
    let (mut name, mut spills) = (String::new(), 0);
    for line in said.lines() {
        let before = |what: &str| {
            let number = line.split_once(what)?.0.rsplit([' ', ',']).find(|word| !word.is_empty());
            number?.parse::<u32>().ok()
        };
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            name = rest.split('\'').next().unwrap_or_default().to_owned();
        }
        if let (Some(stores), Some(loads)) =
            (before(" bytes spill stores"), before(" bytes spill loads"))
        {
            spills = stores + loads;
        }
        if let Some(registers) = before(" registers") {
            let cost = Cost { instructions: 0, registers, spills, calls: 0 };
            costs.insert(std::mem::take(&mut name), cost);
        }
    }
    costs
}

/// Instructions of 128 bits that do something, and the calls among them.
fn counted(text: &[u8]) -> (u32, u32) {
    // The low twelve bits say which instruction it is.
    const NOP: u16 = 0x918;
    const CALLS: [u16; 2] = [0x943, 0x944];
    let codes = text.chunks_exact(16).map(|code| u16::from_le_bytes([code[0], code[1]]) & 0xfff);
    codes.fold((0, 0), |(all, calls), code| {
        (all + u32::from(code != NOP), calls + u32::from(CALLS.contains(&code)))
    })
}

/// A section of an ELF file of 64 bits, little-endian.
fn section<'a>(elf: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    let number = |at: usize, bytes: usize| {
        let bytes = elf.get(at..at + bytes)?;
        Some(bytes.iter().rev().fold(0usize, |number, &byte| number << 8 | usize::from(byte)))
    };
    let (headers, size, count, names) =
        (number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?, number(0x3e, 2)?);
    let place = |index: usize| {
        let header = headers + index * size;
        Some((number(header + 0x18, 8)?, number(header + 0x20, 8)?))
    };
    let (names, _) = place(names)?;
    (0..count).find_map(|index| {
        let name = elf.get(names + number(headers + index * size, 4)?..)?;
        let (begin, length) = place(index)?;
        let is = name.strip_prefix(wanted.as_bytes())?.first() == Some(&0);
        is.then(|| elf.get(begin..begin + length)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_spills_are_read_as_they_are_said() {
        let said = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'f' for 'sm_80'
ptxas info    : Function properties for f
    72 bytes stack frame, 208 bytes spill stores, 260 bytes spill loads
ptxas info    : Used 80 registers, used 1 barriers, 28161 bytes smem, 432 bytes cmem[0]
ptxas info    : Compiling entry function 'g' for 'sm_80'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
";
        let costs = said_costs(said);
        assert_eq!((costs["f"].registers, costs["f"].spills), (80, 468));
        assert_eq!((costs["g"].registers, costs["g"].spills), (8, 0));
    }

    #[test]
    fn what_fills_up_is_not_counted() {
        let code = |low: u16| [&low.to_le_bytes()[..], &[0; 14]].concat();
        let text = [code(0x7918), code(0x7944), code(0x1234), code(0x7918)].concat();
        assert_eq!(counted(&text), (2, 1));
    }
}
