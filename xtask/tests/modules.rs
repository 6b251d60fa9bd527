//! The modules of each crate name each other one way: whoever reads one from the bottom meets nothing that is explained above.

mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use sources::sources;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Code alone: no comments, and nothing from the first tests on.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source is text");
    let tests = text
        .match_indices("\n#[cfg(test)]\nmod ")
        .find(|(at, _)| text[at + 1..].lines().nth(1).is_some_and(|line| line.ends_with('{')));
    let text = &text[..tests.map_or(text.len(), |(at, _)| at)];
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What stands in the outermost braces of a list of names.
fn items(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                all.push(list[start..at].trim());
                return all;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    all
}

/// The first names of paths that begin with a word such as `crate`.
fn names(text: &str, root: &str) -> Vec<String> {
    let first = |path: &str| path.split(|c: char| !is_word(c)).next().unwrap_or("").to_string();
    let mut all = Vec::new();
    for (at, _) in text.match_indices(root) {
        if text[..at].ends_with(is_word) {
            continue;
        }
        let rest = &text[at + root.len()..];
        match rest.strip_prefix('{') {
            Some(list) => all.extend(items(list).into_iter().map(first)),
            None => all.push(first(rest)),
        }
    }
    all
}

/// What the root of a crate hands on of its modules, by name.
fn handed_on(root: &str, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for statement in root.split(';') {
        let Some((_, path)) = statement.split_once("use ") else { continue };
        let Some((module, rest)) = path.split_once("::") else { continue };
        if !modules.contains(module) {
            continue;
        }
        let name = |item: &str| {
            let last = item.rsplit(" as ").next().unwrap_or(item);
            last.rsplit("::").next().unwrap_or(last).trim().to_string()
        };
        let list = rest.strip_prefix('{');
        let items = list.map_or_else(|| vec![rest], items);
        all.extend(items.into_iter().map(|item| (name(item), module.to_string())));
    }
    all
}

/// Which module of a crate names which.
fn graph(source: &Path) -> Graph {
    let module = |path: &Path| {
        let below = path.strip_prefix(source).expect("it is below");
        let first = below.components().next().expect("it has a name").as_os_str();
        first.to_string_lossy().trim_end_matches(".rs").to_string()
    };
    let mut files = Vec::new();
    sources(source, &mut files);
    files.retain(|path| !path.to_string_lossy().contains("tests"));
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let root = root.iter().find(|path| path.is_file()).expect("a crate has a root");
    let modules: BTreeSet<String> = files.iter().map(|path| module(path)).collect();
    let handed_on = handed_on(&code(root), &modules);
    let mut graph = Graph::new();
    for path in files.iter().filter(|path| !["lib", "main"].contains(&&*module(path))) {
        let (own, text) = (module(path), code(path));
        let mut found = names(&text, "crate::");
        if path.parent() == Some(source) {
            found.extend(names(&text, "super::"));
        }
        let others = found.into_iter().filter_map(|name| match modules.contains(&name) {
            true => Some(name),
            false => handed_on.get(&name).cloned(),
        });
        let others: Vec<String> = others.filter(|other| *other != own).collect();
        graph.entry(own).or_default().extend(others);
    }
    graph
}

fn reached(graph: &Graph, from: &str) -> BTreeSet<String> {
    let (mut all, mut next) = (BTreeSet::new(), vec![from.to_string()]);
    while let Some(module) = next.pop() {
        for other in graph.get(&module).into_iter().flatten() {
            if all.insert(other.clone()) {
                next.push(other.clone());
            }
        }
    }
    all
}

/// The modules that lead back to themselves, together with those that they share a circle with.
fn circles(graph: &Graph) -> BTreeSet<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<String>> =
        graph.keys().map(|module| (module, reached(graph, module))).collect();
    let on_one = graph.keys().filter(|module| reach[module].contains(*module));
    let with = |module: &String| {
        let both =
            |other: &&String| reach[module].contains(*other) && reach[*other].contains(module);
        graph.keys().filter(both).cloned().collect::<Vec<_>>()
    };
    on_one.map(with).collect()
}

#[test]
fn modules_name_each_other_one_way() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = BTreeSet::new();
    let mut edges = 0;
    for entry in fs::read_dir(crates).expect("there are crates") {
        let folder = entry.expect("a folder").path();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let graph = graph(&folder.join("src"));
        edges += graph.values().map(BTreeSet::len).sum::<usize>();
        found.extend(circles(&graph).into_iter().map(|modules| (name.clone(), modules)));
    }
    assert!(edges > 500, "sources are read: {edges}");
    assert!(found.is_empty(), "modules that lead back to themselves: {found:?}");
}

#[test]
fn a_circle_is_found() {
    let graph = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")];
    let graph: Graph =
        graph.map(|(from, to)| (from.to_string(), BTreeSet::from([to.to_string()]))).into();
    assert_eq!(circles(&graph), BTreeSet::from([vec!["b".to_string(), "c".to_string()]]));
}
