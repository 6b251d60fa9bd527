//! ARCHITECTURE.md against the tree: every dependency has its line there, and every file with `unsafe` is in one of the rooms.

mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use sources::sources;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tasks lie in the repository").into()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cells of the table below a heading, without its head.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let section = text.split(&format!("\n## {heading}\n")).nth(1).expect("the heading is there");
    let rows = section.lines().skip_while(|line| !line.starts_with('|')).skip(2);
    let cells = |row: &str| row.trim_matches('|').split('|').map(|c| c.trim().into()).collect();
    rows.take_while(|line| line.starts_with('|')).map(cells).collect()
}

/// The crates of the workspace, with their folders.
fn crates() -> Vec<(String, PathBuf)> {
    let folders = fs::read_dir(root().join("crates")).expect("there are crates");
    let mut all: Vec<_> = folders
        .map(|entry| entry.expect("a folder").path())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path))
        .collect();
    all.push(("xtask".into(), root().join("xtask")));
    all
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').collect()
}

/// What a manifest names for more than tests.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut is_of_interest = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            is_of_interest =
                section.ends_with("dependencies]") && !section.starts_with("dev-dependencies");
        } else if is_of_interest && line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            found.extend(line.split(['=', '.', ' ']).next());
        }
    }
    found
}

#[test]
fn every_dependency_is_justified_for_every_crate_that_has_it() {
    let rows = table("Dependencies");
    let mut used = BTreeMap::<String, BTreeSet<String>>::new();
    for (name, folder) in crates() {
        let manifest = read(&folder.join("Cargo.toml"));
        for dependency in dependencies(&manifest).iter().filter(|d| !d.starts_with("warpfold")) {
            let short = name.strip_prefix("warpfold-").unwrap_or(&name);
            used.entry((*dependency).into()).or_default().insert(short.into());
        }
    }
    assert!(used.len() > 30 && used["rayon"].contains("cpu"), "the manifests are read: {used:?}");
    for (dependency, users) in used {
        let row = rows.iter().find(|row| words(&row[0]).contains(dependency.as_str()));
        let row = row.unwrap_or_else(|| panic!("ARCHITECTURE.md has no line for {dependency}"));
        let named = words(&row[1]);
        for user in users {
            assert!(
                named.contains(user.as_str()),
                "{user} uses {dependency}, and its line says {}",
                row[1]
            );
        }
    }
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.into()] };
    let (names, after) = rest.split_once('}').expect("a brace is closed");
    names.split(',').map(|name| format!("{before}{name}{after}")).collect()
}

/// The rooms' files and folders, below the repository's root; each is a path, or ends in `*.rs`.
fn rooms() -> Vec<String> {
    let mut rooms = Vec::new();
    for row in table("Unsafe code") {
        let mut source = String::new();
        for pattern in row[0].split('`').skip(1).step_by(2) {
            let is_whole = pattern.starts_with("warpfold") || pattern.starts_with("xtask");
            if is_whole {
                let (name, _) = pattern.split_once("/src/").expect("a room is in a crate's source");
                source =
                    if name == "xtask" { "xtask/src".into() } else { format!("crates/{name}/src") };
            }
            let path = pattern.split_once("/src/").map_or(pattern, |(_, path)| path);
            rooms.extend(expanded(path).into_iter().map(|path| format!("{source}/{path}")));
        }
    }
    rooms
}

fn is_in(file: &str, room: &str) -> bool {
    match room.strip_suffix("*.rs") {
        Some(folder) => file.starts_with(folder),
        None => {
            file == room
                || file.starts_with(&format!("{}/", room.trim_end_matches(".rs")))
                || file == format!("{room}.rs")
        }
    }
}

#[test]
fn every_file_with_unsafe_code_is_in_a_room_and_every_room_has_some() {
    let mut files = Vec::new();
    for (_, folder) in crates() {
        sources(&folder.join("src"), &mut files);
    }
    let is_unsafe = |path: &Path| {
        let code = |line: &str| line.split("//").next().unwrap_or_default().to_string();
        read(path).lines().any(|line| words(&code(line)).contains("unsafe"))
    };
    let of_root = |path: PathBuf| {
        let path = path.strip_prefix(root()).expect("a file of the repository").to_path_buf();
        path.to_string_lossy().replace('\\', "/")
    };
    let unsafe_files: Vec<String> =
        files.into_iter().filter(|path| is_unsafe(path)).map(of_root).collect();
    let rooms = rooms();
    assert!(rooms.len() > 40 && unsafe_files.len() > 40, "both are read");
    let outside: Vec<_> =
        unsafe_files.iter().filter(|file| !rooms.iter().any(|room| is_in(file, room))).collect();
    assert!(outside.is_empty(), "in no room of ARCHITECTURE.md: {outside:?}");
    let empty: Vec<_> =
        rooms.iter().filter(|room| !unsafe_files.iter().any(|file| is_in(file, room))).collect();
    assert!(empty.is_empty(), "rooms without unsafe code: {empty:?}");
}
