//! Deflates every file of `ptx/` and lists them by name.

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
        let ptx =
            fs::read(Path::new("ptx").join(format!("{name}.ptx"))).expect("a file just listed");
        let deflated = miniz_oxide::deflate::compress_to_vec(&ptx, 9);
        fs::write(Path::new(&out).join(format!("{name}.z")), deflated)
            .expect("OUT_DIR is writable");
        writeln!(
            list,
            "    Module {{ name: {name:?}, deflated: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.z\")) }},"
        )
        .expect("strings take text");
    }
    list.push_str("];\n");
    fs::write(Path::new(&out).join("modules.rs"), list).expect("OUT_DIR is writable");
}
