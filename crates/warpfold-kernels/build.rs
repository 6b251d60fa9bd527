//! Compresses every file of `ptx/` and lists them by name; lists the sources.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs};

use lzma_rust2::{LzmaOptions, LzmaWriter};

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
            fs::write(Path::new(&out).join(format!("{name}.{kind}.lzma")), compress(&text))
                .expect("OUT_DIR is writable");
        }
        writeln!(
            list,
            "    Module {{ name: {name:?}, compressed: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.ptx.lzma\")), \
             lines_compressed: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.lines.lzma\")) }},"
        )
        .expect("strings take text");
    }
    list.push_str("];\n");
    fs::write(Path::new(&out).join("modules.rs"), list).expect("OUT_DIR is writable");
    fs::write(Path::new(&out).join("sources.rs"), sources()).expect("OUT_DIR is writable");
}

/// A stream of LZMA with its header.
fn compress(text: &[u8]) -> Vec<u8> {
    const PRESET: u32 = 6;
    let (options, size) = (LzmaOptions::with_preset(PRESET), Some(text.len() as u64));
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, size)
        .expect("a preset's options are sound");
    writer.write_all(text).and_then(|()| writer.finish()).expect("memory takes all")
}

/// The list of the CUDA C++ files.
fn sources() -> String {
    println!("cargo::rerun-if-changed=cuda");
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate")).join("cuda");
    let mut list = String::from("static SOURCES: &[Source] = &[\n");
    for below in ["", "ladder/"] {
        let mut files: Vec<_> = fs::read_dir(folder.join(below))
            .expect("the crate holds its sources")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "cu" || e == "cuh"))
            .collect();
        files.sort();
        for path in files {
            let name = path.file_name().expect("a file").to_string_lossy();
            writeln!(
                list,
                "    Source {{ folder: {below:?}, name: {name:?}, text: include_str!({path:?}) }},"
            )
            .expect("strings take text");
        }
    }
    list + "];\n"
}
