//! `cargo xtask kernels`: every build of the catalogue, and the kernels that the simulator's tests run, from CUDA C++ to PTX.
//!
//! The PTX of the catalogue goes into one pack, which `warpfold-kernels` embeds, and a table of its kernels into `kernels.lock`.

mod arguments;
mod compile;
mod facts;
mod listing;
mod lock;
mod markers;
#[cfg(feature = "pack")]
mod pack;
mod ptxas;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use warpfold_kernels::{catalog, modules};

use crate::Outcome;
use crate::nvrtc::Nvrtc;
use compile::{Made, join_includes, tidy};

/// The kernels of the simulator's tests, each a file of its folder, and the compute capability they are compiled for.
const TESTS: &[(&str, u32)] = &[
    ("atomics", 70),
    ("bulk", 90),
    ("floats", 70),
    ("integers", 70),
    ("memory", 80),
    ("redux", 80),
    ("trees", 70),
    ("warps", 70),
    ("wrong", 70),
];

/// Processes at most that compile a module anew which came out in another form.
const PROCESSES: usize = 30;

#[derive(Args)]
pub(crate) struct Kernels {
    /// Compares with the pack and kernels.lock instead of writing them, and fails if any kernel differs; needs no ptxas
    #[arg(long)]
    check: bool,
    /// Compiles only modules whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Writes the PTX of the pack, and each module's table of source lines, into this folder, for people and tools to look at; compiles nothing
    #[arg(long, value_name = "FOLDER", conflicts_with = "check")]
    unpack: Option<PathBuf>,
}

impl Kernels {
    pub(crate) fn run(&self) -> Outcome {
        if let Some(folder) = &self.unpack {
            return self.unpack(folder);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let tools = root.join(".tools");
        let folder = root.join("crates/warpfold-kernels");
        let nvrtc = Nvrtc::open(&tools)?;
        let known = arguments::text(|file| read(&folder.join("cuda").join(file)))?;
        let file = folder.join("src/arguments.rs");
        if !self.check {
            write(&file, known.as_bytes())?;
        } else if read(&file)? != known {
            return Err(format!(
                "{} is not what the device code gives; run `cargo xtask kernels` and commit it",
                file.display()
            ));
        }
        let made = compile::modules(&nvrtc, &folder.join("cuda"), |name| self.wants(name))?;
        let lock = folder.join("kernels.lock");
        match self.check {
            true => self.compare(&made, &lock)?,
            false => self.write(&folder, made, &lock, &tools)?,
        }
        self.tests(&nvrtc, &root.join("crates/warpfold-simt/tests/kernels"))
    }

    fn wants(&self, module: &str) -> bool {
        self.only.as_ref().is_none_or(|text| module.contains(text.as_str()))
    }

    fn unpack(&self, folder: &Path) -> Outcome {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for module in modules().iter().filter(|module| self.wants(module.name)) {
            write(&folder.join(format!("{}.ptx", module.name)), module.ptx().as_bytes())?;
            write(&folder.join(format!("{}.lines", module.name)), module.table().as_bytes())?;
        }
        Ok(())
    }

    /// Which kernels are not what the sources give.
    fn compare(&self, made: &BTreeMap<String, Made>, lock: &Path) -> Outcome {
        let mut wrong = Vec::new();
        let mut rows = lock::Rows::new();
        for (name, made) in made {
            let Some(module) = warpfold_kernels::find(name) else {
                wrong.push(format!("{name}: not in the pack"));
                continue;
            };
            let (ptx, before) = of_pack(&module);
            if ptx != made.ptx && self.only.is_none() && self.gives_another_time(name) {
                rows.extend(rows_of(name, &before));
                continue;
            }
            rows.extend(rows_of(name, &made.kernels));
            if ptx != made.ptx {
                let differ = made.kernels.iter().filter(|facts| {
                    before
                        .iter()
                        .all(|old| (&old.name, &old.sha256) != (&facts.name, &facts.sha256))
                });
                let kernels: Vec<&str> = differ.map(|facts| facts.name.as_str()).collect();
                wrong.push(format!("{name}: other PTX of {}", kernels.join(", ")));
            } else if module.table() != made.lines {
                wrong.push(format!("{name}: other source lines"));
            } else if before != made.kernels {
                wrong.push(format!("{name}: the directory says other bounds or sizes"));
            }
        }
        if self.only.is_none() {
            let stale = modules().iter().filter(|module| !made.contains_key(module.name));
            wrong.extend(stale.map(|module| format!("{}: nothing makes it", module.name)));
        }
        let text = read(lock)?;
        let there: BTreeSet<String> = lock::without_costs(&text).into_iter().collect();
        let wanted = lock::without_costs(&lock::text(&rows));
        let missing = wanted.iter().filter(|row| !there.contains(*row));
        wrong.extend(missing.map(|row| format!("kernels.lock lacks the row {row}")));
        if self.only.is_none() {
            let wanted: BTreeSet<&String> = wanted.iter().collect();
            let stale = there.iter().filter(|row| !wanted.contains(row));
            wrong.extend(stale.map(|row| format!("kernels.lock has a row too many: {row}")));
        }
        if !wrong.is_empty() {
            let wrong = wrong.join("\n  ");
            return Err(format!(
                "the pack and its lock are not what the sources give; run `cargo xtask kernels` and commit them:\n  {wrong}"
            ));
        }
        println!("{} modules are what the sources give", made.len());
        Ok(())
    }

    /// Whether other processes compile a module to what is in the pack.
    ///
    /// NVRTC orders some of its work by addresses, which are drawn anew for each process: a few large modules come out in one of two forms that do the same.
    fn gives_another_time(&self, module: &str) -> bool {
        let Ok(program) = std::env::current_exe() else { return false };
        let compiled = || {
            let mut command = std::process::Command::new(&program);
            command.args(["kernels", "--check", "--only", module]);
            command.output().is_ok_and(|output| output.status.success())
        };
        (0..PROCESSES).any(|_| compiled())
    }

    fn write(
        &self,
        folder: &Path,
        mut made: BTreeMap<String, Made>,
        lock: &Path,
        tools: &Path,
    ) -> Outcome {
        let stays = |module: &&warpfold_kernels::Module| !self.wants(module.name);
        for module in modules().iter().filter(stays) {
            let (ptx, kernels) = of_pack(module);
            made.insert(module.name.into(), Made { ptx, lines: module.table(), kernels });
        }
        let bytes = packed(&made)?;
        let mut rows: lock::Rows =
            made.iter().flat_map(|(name, made)| rows_of(name, &made.kernels)).collect();
        assemble(&mut rows, &made, &fs::read_to_string(lock).unwrap_or_default(), tools)?;
        write(&folder.join("kernels.pack"), &bytes)?;
        write(lock, lock::text(&rows).as_bytes())?;
        println!("{} modules, {} kernels, {} bytes", made.len(), rows.len(), bytes.len());
        Ok(())
    }

    /// The kernels of the simulator's own tests, which are files.
    fn tests(&self, nvrtc: &Nvrtc, folder: &Path) -> Outcome {
        let mut wrong = Vec::new();
        for (name, target) in TESTS.iter().filter(|(name, _)| self.wants(name)) {
            let file = format!("{name}.cu");
            let source = join_includes(folder, &file)?;
            let options = [
                format!("--gpu-architecture=compute_{target}"),
                "--std=c++17".into(),
                "--device-int128".into(),
                "-lineinfo".into(),
            ];
            let text = nvrtc.compile(&file, &source, &options)?;
            let text = listing::without_paths(&tidy(&text));
            let file = folder.join(format!("{name}.ptx"));
            match self.check {
                true if fs::read_to_string(&file).is_ok_and(|there| there == text) => {}
                true => wrong.push(file.display().to_string()),
                false => write(&file, text.as_bytes())?,
            }
        }
        match &wrong[..] {
            [] => Ok(()),
            wrong => Err(format!(
                "{} is not what its source gives; run `cargo xtask kernels` and commit it",
                wrong.join(", ")
            )),
        }
    }
}

#[cfg(feature = "pack")]
fn packed(made: &BTreeMap<String, Made>) -> Outcome<Vec<u8>> {
    pack::bytes(made)
}

#[cfg(not(feature = "pack"))]
fn packed(made: &BTreeMap<String, Made>) -> Outcome<Vec<u8>> {
    Err(format!(
        "{} modules cannot be packed: this build of xtask has no compressor and compares alone; run `cargo xtask kernels`, which has it",
        made.len()
    ))
}

/// A module of the pack: its PTX, and its kernels as the directory and the text say.
fn of_pack(module: &warpfold_kernels::Module) -> (String, Vec<facts::Facts>) {
    let ptx = module.ptx().into_owned();
    let mut kernels = facts::of_module(&ptx, &facts::Constants::new());
    for (facts, entry) in kernels.iter_mut().zip(module.entries()) {
        facts.max_threads = entry.max_threads;
        facts.min_blocks = entry.min_blocks;
        facts.shared_bytes = entry.shared_bytes;
        facts.parameters = entry.parameters;
        facts.parameter_bytes = entry.parameter_bytes;
        facts.state_bytes = entry.state_bytes;
        facts.record_words = entry.record_words;
    }
    (ptx, kernels)
}

/// A module's rows, nothing known of ptxas.
fn rows_of(
    module: &str,
    kernels: &[facts::Facts],
) -> Vec<((String, String), (facts::Facts, lock::Costed))> {
    let row = |facts: &facts::Facts| {
        let costs = lock::Costed::default();
        ((module.to_owned(), facts.name.clone()), (facts.clone(), costs))
    };
    kernels.iter().map(row).collect()
}

/// Fills in what ptxas says: from the lock where the kernel is the same, else by running it, if it can be had.
fn assemble(
    rows: &mut lock::Rows,
    made: &BTreeMap<String, Made>,
    lock: &str,
    tools: &Path,
) -> Outcome {
    let before = lock::costs(lock);
    let mut missing = BTreeSet::new();
    for ((module, name), (facts, costs)) in rows.iter_mut() {
        match before.get(&[module.clone(), name.clone(), facts.sha256.clone()]) {
            Some(known) if known.iter().any(Option::is_some) => *costs = *known,
            // Nothing runs it as it is.
            _ if catalog::is_template(module) => {}
            _ => _ = missing.insert(module.clone()),
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let ptxas = match ptxas::Ptxas::open(tools) {
        Ok(ptxas) => ptxas,
        Err(why) => {
            eprintln!(
                "ptxas is not to be had, so {} modules have no figures of it: {why}",
                missing.len()
            );
            return Ok(());
        }
    };
    let missing: Vec<String> = missing.into_iter().collect();
    let found = compile::parallel(&missing, |module| {
        let ptx = &made[module].ptx;
        let costs = ptxas::ARCHITECTURES.map(|of| ptxas.costs(module, ptx, of));
        costs.into_iter().collect::<Outcome<Vec<_>>>()
    });
    for (module, costs) in missing.iter().zip(found) {
        for (architecture, costs) in costs?.into_iter().enumerate() {
            for (name, cost) in costs {
                if let Some((_, row)) = rows.get_mut(&(module.clone(), name)) {
                    row[architecture] = Some(cost);
                }
            }
        }
    }
    Ok(())
}

fn read(file: &Path) -> Outcome<String> {
    fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))
}

fn write(file: &Path, bytes: &[u8]) -> Outcome {
    fs::write(file, bytes).map_err(|e| format!("{}: {e}", file.display()))
}
