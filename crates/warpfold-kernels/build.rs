//! Deflates every file of `ptx/` and lists them by name; lists the sources.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=ptx");
    let out = env::var("OUT_DIR").expect("cargo names the output folder");
    let mut names: Vec<String> = fs::read_dir("ptx")
        .expect("the crate holds its PTX")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".ptx").map(str::to_owned))
        .collect();
    names.sort();
    let mut list = String::from("static MODULES: &[Module] = &[\n");
    for name in names {
        for kind in ["ptx", "lines"] {
            let file = Path::new("ptx").join(format!("{name}.{kind}"));
            // A module without its table still builds, so that the task that makes tables does; a test asks for each.
            let text = match fs::read(&file) {
                Err(_) if kind == "lines" => Vec::new(),
                text => text.unwrap_or_else(|e| panic!("{}: {e}", file.display())),
            };
            let deflated = miniz_oxide::deflate::compress_to_vec(&text, 9);
            fs::write(Path::new(&out).join(format!("{name}.{kind}.z")), deflated)
                .expect("OUT_DIR is writable");
        }
        writeln!(
            list,
            "    Module {{ name: {name:?}, deflated: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.ptx.z\")), \
             lines_deflated: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.lines.z\")) }},"
        )
        .expect("strings take text");
    }
    list.push_str("];\n");
    fs::write(Path::new(&out).join("modules.rs"), list).expect("OUT_DIR is writable");
    fs::write(Path::new(&out).join("sources.rs"), sources()).expect("OUT_DIR is writable");
}

/// The list of the CUDA C++ files.
fn sources() -> String {
    println!("cargo::rerun-if-changed=cuda");
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate")).join("cuda");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the crate holds its sources")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "cu" || e == "cuh"))
        .collect();
    files.sort();
    let mut list = String::from("static SOURCES: &[Source] = &[\n");
    for path in files {
        let name = path.file_name().expect("a file").to_string_lossy();
        writeln!(list, "    Source {{ name: {name:?}, text: include_str!({path:?}) }},")
            .expect("strings take text");
    }
    list + "];\n"
}
