//! Lists the CUDA C++ files, so that a new one needs no line elsewhere. The PTX is embedded as it lies in the tree (`src/pack.rs`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=cuda");
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate"));
    let mut files = Vec::new();
    collect(&root.join("cuda"), "", &mut files);
    files.sort();
    let mut list = String::from("static SOURCES: &[Source] = &[\n");
    for (folder, name, path) in files {
        writeln!(
            list,
            "    Source {{ folder: {folder:?}, name: {name:?}, text: include_str!({path:?}) }},"
        )
        .expect("strings take text");
    }
    list += "];\n";
    let out = env::var("OUT_DIR").expect("cargo names the output folder");
    fs::write(Path::new(&out).join("sources.rs"), list).expect("OUT_DIR is writable");
}

/// The files of a folder and of those below it: folder below `cuda/` (with a slash at its end), name, path.
fn collect(folder: &Path, below: &str, files: &mut Vec<(String, String, PathBuf)>) {
    for entry in fs::read_dir(folder).expect("the crate holds its sources") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().expect("entries have names").to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, &format!("{below}{name}/"), files);
        } else if path.extension().is_some_and(|e| e == "cu" || e == "cuh") {
            files.push((below.to_owned(), name, path));
        }
    }
}
