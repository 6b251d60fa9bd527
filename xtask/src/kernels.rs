//! `cargo xtask kernels`: every build of the catalogue, and the kernels that the simulator's tests run, from CUDA C++ to PTX.

mod listing;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use clap::Args;
use warpfold_kernels::catalog::{self, Build};
use warpfold_kernels::ladder;

use crate::Outcome;
use crate::nvrtc::Nvrtc;

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

#[derive(Args)]
pub(crate) struct Kernels {
    /// Compares with the files there are instead of writing, and fails if any differs
    #[arg(long)]
    check: bool,
    /// Compiles only modules whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

impl Kernels {
    pub(crate) fn run(&self) -> Outcome {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let crate_folder = root.join("crates/warpfold-kernels");
        let (sources, ptx) = (crate_folder.join("cuda"), crate_folder.join("ptx"));
        let nvrtc = Nvrtc::open(&root.join(".tools"))?;

        let mut made = BTreeMap::new();
        for build in catalog::builds().filter(|build| self.wants(&build.module())) {
            let module = build.module();
            let source = join_includes(&sources, build.fold.source)?;
            let text = nvrtc.compile(build.fold.source, &source, &options(&build))?;
            add(&mut made, module, &text);
        }
        for build in catalog::many_builds().filter(|build| self.wants(&build.module())) {
            let source = join_includes(&sources, build.source())?;
            let mut options = target(catalog::BASE);
            options.extend([
                format!("--define-macro=FOLD={}", build.template),
                format!("--define-macro=ELEMENT={}", build.cpp),
                format!("--define-macro=ENTRY={}", build.entry()),
            ]);
            let text = nvrtc.compile(build.source(), &source, &options)?;
            add(&mut made, build.module(), &text);
        }
        for plain in catalog::PLAIN.iter().filter(|plain| self.wants(&plain.module())) {
            let source = join_includes(&sources, plain.source)?;
            let text = nvrtc.compile(plain.source, &source, &target(catalog::BASE))?;
            add(&mut made, plain.module(), &text);
        }
        for rung in ladder::rungs().iter().filter(|rung| self.wants(&rung.module())) {
            let file = format!("{}{}", rung.source.folder, rung.source.name);
            let source = join_includes(&sources, &file)?;
            let text = nvrtc.compile(rung.source.name, &source, &target(rung.target))?;
            add(&mut made, rung.module(), &text);
        }
        self.settle(&ptx, &made)?;

        let tests = root.join("crates/warpfold-simt/tests/kernels");
        let mut made = BTreeMap::new();
        for (name, target) in TESTS.iter().filter(|(name, _)| self.wants(name)) {
            let file = format!("{name}.cu");
            let source = join_includes(&tests, &file)?;
            let options = [
                format!("--gpu-architecture=compute_{target}"),
                "--std=c++17".into(),
                "--device-int128".into(),
                "-lineinfo".into(),
            ];
            let text = nvrtc.compile(&file, &source, &options)?;
            made.insert(format!("{name}.ptx"), listing::without_paths(&tidy(&text)));
        }
        self.settle(&tests, &made)
    }

    fn wants(&self, module: &str) -> bool {
        self.only.as_ref().is_none_or(|text| module.contains(text.as_str()))
    }

    /// Writes what was made, or compares with it.
    fn settle(&self, folder: &Path, made: &BTreeMap<String, String>) -> Outcome {
        match self.check {
            true => self.compare(folder, made)?,
            false => self.write(folder, made)?,
        }
        let bytes: usize = made.values().map(String::len).sum();
        println!("{} files, {bytes} bytes in {}", made.len(), folder.display());
        Ok(())
    }

    fn write(&self, ptx: &Path, made: &BTreeMap<String, String>) -> Outcome {
        fs::create_dir_all(ptx).map_err(|e| format!("{}: {e}", ptx.display()))?;
        for (name, text) in made {
            let path = ptx.join(name);
            fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        if self.only.is_none() {
            for stale in present(ptx)?.difference(&made.keys().cloned().collect()) {
                fs::remove_file(ptx.join(stale)).map_err(|e| format!("{stale}: {e}"))?;
            }
        }
        Ok(())
    }

    fn compare(&self, ptx: &Path, made: &BTreeMap<String, String>) -> Outcome {
        let mut wrong: Vec<String> = made
            .iter()
            .filter(|(name, text)| fs::read_to_string(ptx.join(name)).ok().as_ref() != Some(text))
            .map(|(name, _)| name.clone())
            .collect();
        if self.only.is_none() {
            wrong.extend(present(ptx)?.difference(&made.keys().cloned().collect()).cloned());
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} files of {} are not what the sources give: {}; run `cargo xtask kernels` and commit them",
            wrong.len(),
            ptx.display(),
            wrong.join(", ")
        ))
    }
}

/// A module's two files.
fn add(made: &mut BTreeMap<String, String>, module: String, text: &str) {
    let (text, lines) = listing::part(&listing::without_unread_constants(&tidy(text)));
    made.insert(format!("{module}.ptx"), text);
    made.insert(format!("{module}.lines"), lines);
}

fn options(build: &Build) -> Vec<String> {
    let mut options = target(build.target);
    options.extend([
        format!("--define-macro=FOLD={}", build.fold.template),
        format!("--define-macro=ELEMENT={}", build.element.cpp),
        format!("--define-macro=ENTRY={}", build.entry()),
    ]);
    if let Some(entry) = build.entry_skip_nan() {
        options.push(format!("--define-macro=ENTRY_SKIP_NAN={entry}"));
    }
    options
}

fn target(compute: u32) -> Vec<String> {
    vec![
        format!("--gpu-architecture=compute_{compute}"),
        "--std=c++17".into(),
        "--device-as-default-execution-space".into(),
        "-lineinfo".into(),
    ]
}

/// The source with every `#include "…"` replaced by the file, each once; NVRTC is given one text.
fn join_includes(folder: &Path, file: &str) -> Outcome<String> {
    fn join(folder: &Path, file: &str, seen: &mut BTreeSet<String>, out: &mut String) -> Outcome {
        if !seen.insert(file.to_owned()) {
            return Ok(());
        }
        let path = folder.join(file);
        let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        out.push_str(&format!("#line 1 \"{name}\"\n"));
        for (number, line) in text.lines().enumerate() {
            match line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
                Some(include) => {
                    join(folder, &beside(file, include), seen, out)?;
                    out.push_str(&format!("#line {} \"{name}\"\n", number + 2));
                }
                None if line == "#pragma once" => out.push('\n'),
                None => {
                    out.push_str(line);
                    out.push('\n');
                }
            }
        }
        Ok(())
    }
    let mut out = String::new();
    join(folder, file, &mut BTreeSet::new(), &mut out)?;
    Ok(out)
}

/// The file that another one includes: in its own folder, or in the one above.
fn beside(file: &str, include: &str) -> String {
    let below = file.rsplit_once('/').map_or("", |(below, _)| below);
    match include.strip_prefix("../") {
        Some(above) => above.to_owned(),
        None if below.is_empty() => include.to_owned(),
        None => format!("{below}/{include}"),
    }
}

/// Without the compiler's banner and blank lines, which say nothing.
fn tidy(ptx: &str) -> String {
    ptx.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("//"))
        .fold(String::with_capacity(ptx.len()), |text, line| text + line.trim_end() + "\n")
}

fn present(ptx: &Path) -> Outcome<BTreeSet<String>> {
    Ok(fs::read_dir(ptx)
        .map_err(|e| format!("{}: {e}", ptx.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".ptx") || name.ends_with(".lines"))
        .collect())
}
