//! Every committed PTX file parses, prints, and parses to the same tree.

use warpfold_simt::{Program, ptx::Module};

fn files() -> Vec<(String, String)> {
    let folder = format!("{}/tests/kernels", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("readable")))
        .collect();
    files.sort();
    assert!(files.len() >= 3);
    files
}

#[test]
fn print_then_parse() {
    for (name, text) in files() {
        let module = Module::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let printed = module.to_string();
        let again =
            Module::parse(&printed).unwrap_or_else(|error| panic!("{name}, printed: {error}"));
        assert_eq!(module, again, "{name}");
        assert_eq!(printed, again.to_string(), "{name}");
    }
}

#[test]
fn every_kernel_decodes() {
    for (name, text) in files() {
        let program = Program::load(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!program.kernels().is_empty(), "{name}");
    }
}
