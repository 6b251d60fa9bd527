//! Compresses every file of `ptx/` and lists them by name; lists the sources.

#[path = "src/names.rs"]
mod names;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs};

use lzma_rust2::{LzmaOptions, LzmaWriter};

fn main() {
    println!("cargo::rerun-if-changed=ptx");
    println!("cargo::rerun-if-changed=src/names.rs");
    let out = env::var("OUT_DIR").expect("cargo names the output folder");
    let mut names: Vec<String> = fs::read_dir("ptx")
        .expect("the crate holds its PTX")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".ptx").map(str::to_owned))
        .collect();
    names.sort();
    let options = options(None);
    let mut list = format!(
        "const PROPERTIES: u8 = {};\nconst WINDOW: u32 = {};\nstatic MODULES: &[Module] = &[\n",
        options.get_props(),
        options.dict_size
    );
    for name in &names {
        let follows = follows(name, &names);
        write!(list, "    Module {{ name: {name:?}, follows: {follows:?}, ")
            .expect("strings take text");
        for kind in ["ptx", "lines"] {
            let read = |name: &str| {
                let file = Path::new("ptx").join(format!("{name}.{kind}"));
                // A module without its table still builds, so that the task that makes tables does; a test asks for each.
                match fs::read(&file) {
                    Err(_) if kind == "lines" => Vec::new(),
                    text => {
                        let text = text.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
                        if kind == "ptx" { with_short_names(text) } else { text }
                    }
                }
            };
            let before = follows.map(|at| read(&names[at]));
            let text = read(name);
            let compressed = Path::new(&out).join(format!("{name}.{kind}.lzma"));
            fs::write(compressed, compress(&text, before)).expect("OUT_DIR is writable");
            write!(
                list,
                "{kind}: Text {{ bytes: {}, compressed: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.{kind}.lzma\")) }}, ",
                text.len()
            )
            .expect("strings take text");
        }
        list.push_str("},\n");
    }
    list.push_str("];\n");
    fs::write(Path::new(&out).join("modules.rs"), list).expect("OUT_DIR is writable");
    fs::write(Path::new(&out).join("sources.rs"), sources()).expect("OUT_DIR is writable");
}

fn with_short_names(ptx: Vec<u8>) -> Vec<u8> {
    let ptx = String::from_utf8(ptx).expect("PTX is ASCII text");
    let short = names::shorten(&ptx);
    assert!(names::restore(&short) == ptx, "short names lead back");
    short
}

/// The module whose text another one's is compressed as the continuation of, as they differ little: its own for the oldest devices, then the first of its fold, then one
/// that has something of all. So no module is more than three others away from its text.
fn follows(name: &str, names: &[String]) -> Option<usize> {
    const SOMETHING_OF_ALL: &str = "segment_totals_f32.sm70";
    if name == SOMETHING_OF_ALL {
        return None;
    }
    let entry = name.split('.').next().unwrap_or(name);
    let place = |is: &dyn Fn(&str) -> bool| names.iter().position(|other| is(other));
    let oldest = place(&|other| other.strip_suffix(".sm70") == Some(entry));
    let first = place(&|other| family(other) == family(name));
    let root = place(&|other| other == SOMETHING_OF_ALL);
    let itself = place(&|other| other == name);
    [oldest, first, root].into_iter().find(|at| at.is_some() && *at != itself).flatten()
}

/// A module's name without its element type and target.
fn family(module: &str) -> &str {
    let entry = module.split('.').next().unwrap_or(module);
    entry.rsplit_once('_').map_or(entry, |(fold, _)| fold)
}

fn options(before: Option<Vec<u8>>) -> LzmaOptions {
    const PRESET: u32 = 6;
    let mut options = LzmaOptions::with_preset(PRESET);
    // Text has no words of four bytes, and of one like another long stretches are the same.
    options.pb = 0;
    options.nice_len = 273;
    // Empty is as good as none, and the encoder wants none then.
    options.preset_dict = before.filter(|text| !text.is_empty());
    options
}

/// A raw stream of LZMA, of text that is taken to follow another one.
fn compress(text: &[u8], before: Option<Vec<u8>>) -> Vec<u8> {
    let mut writer = LzmaWriter::new_no_header(Vec::new(), &options(before), false)
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
