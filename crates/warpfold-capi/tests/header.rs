//! The committed header is what the sources make. `WARPFOLD_BLESS=1 cargo test -p warpfold-capi --test header` writes it.

use std::path::Path;

#[test]
fn the_header_is_fresh() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml")).expect("it is TOML");
    let mut builder = cbindgen::Builder::new().with_config(config);
    // In the order in which a reader needs them.
    for module in [
        "status", "types", "version", "failure", "short", "run", "request", "parts", "result",
        "partial", "cuda",
    ] {
        builder = builder.with_src(crate_dir.join(format!("src/{module}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().expect("the sources parse").write(&mut made);
    let made = String::from_utf8(made).expect("the sources are UTF-8");
    let path = crate_dir.join("include/warpfold.h");
    if std::env::var_os("WARPFOLD_BLESS").is_some() {
        std::fs::write(&path, &made).expect("the tree can be written to");
    }
    let committed = std::fs::read_to_string(&path).expect("the header is committed");
    assert!(made == committed, "include/warpfold.h is stale: WARPFOLD_BLESS=1 writes it anew");
}

#[test]
fn the_version_of_the_header_is_the_crates() {
    let header = include_str!("../include/warpfold.h");
    let part = |name: &str| {
        let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        line.expect("it is defined").to_owned()
    };
    let version = ["WF_VERSION_MAJOR", "WF_VERSION_MINOR", "WF_VERSION_PATCH"].map(part);
    assert_eq!(version.join("."), env!("CARGO_PKG_VERSION"));
}
