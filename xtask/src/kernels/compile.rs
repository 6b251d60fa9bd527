//! From CUDA C++ to PTX: every build of the catalogue, each one text that NVRTC is given.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use warpfold_kernels::catalog::{self, Build};
use warpfold_kernels::ladder;

use super::{facts, listing, markers};
use crate::Outcome;
use crate::nvrtc::Nvrtc;

/// What is made of one module's source.
pub(super) struct Made {
    pub(super) ptx: String,
    /// The table of source lines.
    pub(super) lines: String,
    pub(super) kernels: Vec<facts::Facts>,
}

/// One module to be compiled.
struct Job {
    module: String,
    /// The file below `cuda/`.
    source: String,
    options: Vec<String>,
}

/// Every module whose name is wanted.
pub(super) fn modules(
    nvrtc: &Nvrtc,
    sources: &Path,
    wants: impl Fn(&str) -> bool,
) -> Outcome<BTreeMap<String, Made>> {
    let mut jobs = jobs();
    jobs.retain(|job| wants(&job.module));
    let made = parallel(&jobs, |job| {
        let source = join_includes(sources, &job.source)?;
        let name = job.source.rsplit_once('/').map_or(&*job.source, |(_, name)| name);
        let text = nvrtc.compile(name, &source, &job.options)?;
        let (text, constants) = facts::take_constants(&tidy(&text));
        let (ptx, lines) = listing::part(&listing::without_unread_constants(&text));
        let kernels = facts::of_module(&ptx, &constants);
        markers::check(&job.module, &ptx)?;
        Ok((job.module.clone(), Made { ptx, lines, kernels }))
    });
    made.into_iter().collect()
}

fn jobs() -> Vec<Job> {
    let folds = catalog::builds().map(|build| Job {
        module: build.module(),
        source: build.fold.source.into(),
        options: options(&build),
    });
    let many = catalog::batched_builds().map(|build| {
        let mut options = target(catalog::BASE);
        options.extend([
            format!("--define-macro=FOLD={}", build.template),
            format!("--define-macro=ELEMENT={}", build.cpp),
            format!("--define-macro=ENTRY={}", build.entry()),
        ]);
        Job { module: build.module(), source: build.source().into(), options }
    });
    let maps = catalog::MAPS.iter().flat_map(|map| {
        map.types.iter().map(|ty| {
            let element = catalog::ELEMENTS.iter().find(|element| element.name == *ty);
            let mut options = target(catalog::BASE);
            options.extend([
                format!("--define-macro=FOLD={}", map.template),
                format!("--define-macro=ELEMENT={}", element.map_or(*ty, |element| element.cpp)),
                format!("--define-macro=ENTRY={}", map.entry(ty)),
            ]);
            Job { module: map.module(ty), source: map.source.into(), options }
        })
    });
    let plain = catalog::PLAIN.iter().map(|plain| Job {
        module: plain.module(),
        source: plain.source.into(),
        options: target(catalog::BASE),
    });
    let rungs = ladder::rungs().iter().map(|rung| Job {
        module: rung.module(),
        source: format!("{}{}", rung.source.folder, rung.source.name),
        options: target(rung.target),
    });
    folds.chain(many).chain(maps).chain(plain).chain(rungs).collect()
}

/// The same done with each, by all processors, in their order.
pub(super) fn parallel<T: Sync, R: Send>(all: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(one) = {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    all.get(k).map(|one| (k, one))
                } {
                    let result = (one.0, of(one.1));
                    done.lock().expect("no thread panics with it").push(result);
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panicked with it");
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
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
pub(super) fn join_includes(folder: &Path, file: &str) -> Outcome<String> {
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
                    join(folder, include, seen, out)?;
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

/// Without the compiler's banner and blank lines, which say nothing, and the numbers of calls, which count what this process compiled before.
pub(super) fn tidy(ptx: &str) -> String {
    ptx.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("//"))
        .map(|line| line.split_once(" // callseq ").map_or(line, |(line, _)| line))
        .fold(String::with_capacity(ptx.len()), |text, line| text + line.trim_end() + "\n")
}
