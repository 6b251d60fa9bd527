//! The book: every rung has its chapter, every file that is shown exists, links lead somewhere, and commands run as they stand.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src")
}

/// The chapters, by file name.
fn chapters() -> Vec<(String, String)> {
    let files = fs::read_dir(folder()).expect("the book is there");
    let mut chapters: Vec<(String, String)> = files
        .map(|file| file.expect("a file").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
            (name, fs::read_to_string(&path).expect("text"))
        })
        .collect();
    chapters.sort();
    chapters
}

/// The files that Markdown links name: `[text](file.md)`.
fn links(text: &str) -> Vec<&str> {
    let after = text.split("](").skip(1);
    after
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| target.ends_with(".md"))
        .collect()
}

#[test]
fn the_summary_lists_every_chapter_and_the_rungs_in_order() {
    let summary = fs::read_to_string(folder().join("SUMMARY.md")).expect("a summary");
    let listed = links(&summary);
    let there: BTreeSet<String> =
        chapters().into_iter().map(|(name, _)| name).filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(listed.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(), there);
    assert_eq!(listed.len(), there.len(), "no chapter is listed twice");
    let rungs: Vec<String> =
        warpfold_kernels::ladder::rungs().iter().map(|rung| format!("{}.md", rung.name)).collect();
    let numbered: Vec<&str> =
        listed.into_iter().filter(|name| name.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert_eq!(numbered, rungs);
}

#[test]
fn links_lead_somewhere() {
    for (name, text) in chapters() {
        for link in links(&text) {
            assert!(folder().join(link).is_file(), "{name}: {link}");
        }
    }
}

/// Each rung's chapter shows the kernel's file whole; what is shown in part is a whole function, so that lines that have moved are noticed.
#[test]
fn what_is_shown_exists_and_is_whole() {
    for (name, text) in chapters() {
        let mut shown = Vec::new();
        for include in text.split("{{#include ").skip(1) {
            let target = include.split("}}").next().expect("an include ends");
            let mut parts = target.split(':');
            let file = parts.next().expect("a path");
            shown.push(file.to_owned());
            let source = fs::read_to_string(folder().join(file))
                .unwrap_or_else(|e| panic!("{name}: {file}: {e}"));
            let part: Vec<&str> = parts.collect();
            let lines: Vec<&str> = match part[..] {
                [] => continue,
                [anchor] => {
                    let [start, end] =
                        ["ANCHOR", "ANCHOR_END"].map(|mark| format!("// {mark}: {anchor}"));
                    let inner = source.lines().skip_while(|line| line.trim() != start).skip(1);
                    let lines: Vec<&str> = inner.take_while(|line| line.trim() != end).collect();
                    assert!(source.contains(&end) && !lines.is_empty(), "{name}: {target}");
                    lines
                }
                [first, last] => {
                    let [first, last]: [usize; 2] =
                        [first, last].map(|n| n.parse().expect("a line"));
                    source.lines().skip(first - 1).take(last + 1 - first).collect()
                }
                _ => panic!("{name}: {target} is no include"),
            };
            let count = |mark: char| {
                lines.iter().flat_map(|line| line.chars()).filter(|c| *c == mark).count()
            };
            assert_eq!(count('{'), count('}'), "{name}: {target} is no whole function any more");
            let starts = ["template", "__device__", "//", "fn "];
            let first = lines[0].trim_start();
            assert!(
                starts.iter().any(|start| first.starts_with(start)),
                "{name}: {target} begins with {first:?}"
            );
            assert!(
                lines.last().is_some_and(|line| line.trim_start().starts_with('}')),
                "{name}: {target}"
            );
        }
        if let Some(rung) =
            name.strip_suffix(".md").filter(|name| name.as_bytes()[0].is_ascii_digit())
        {
            assert!(
                shown.iter().any(|file| file.ends_with(&format!("ladder/{rung}.cu"))),
                "{name}"
            );
        }
    }
}

/// Every command that needs no GPU and no file is run as it stands, those that would take long with fewer elements; the others are at
/// least understood, which `--help` in the same words tells.
#[test]
fn commands_are_understood_and_run() {
    let mut seen = BTreeSet::new();
    for (name, text) in chapters() {
        let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
        for line in lines.filter(|line| line.contains("warpfold") && !line.starts_with("cargo")) {
            if !seen.insert(line.to_owned()) {
                continue;
            }
            let words = line
                .split("warpfold ")
                .nth(1)
                .expect("arguments")
                .split(['|', '>'])
                .next()
                .expect("a command");
            let runs = words.starts_with("explain") || line.starts_with("printf");
            let tail = if runs { "" } else { " --help" };
            let line = line.replace("warpfold ", &format!("{} ", env!("CARGO_BIN_EXE_warpfold")));
            let line = if runs {
                line
            } else {
                line.split(['|', '>']).next().expect("a command").to_owned()
            };
            let output = Command::new("sh")
                .args(["-c", &format!("{line}{tail}")])
                .stdin(Stdio::null())
                .output()
                .expect("a shell");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {line}: {said}");
        }
    }
    assert!(seen.len() > 50, "the book is full of commands: {}", seen.len());
}
