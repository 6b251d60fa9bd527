//! `--out`: which files are replaced, which are not, and what is left of them.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::program::{Folder, Run, run, shell};

fn sum_to(out: &str) -> Run {
    run(["sum", "--random", "5", "--dtype", "i8", "--out", out])
}

#[test]
fn links_are_followed_and_stay() {
    let folder = Folder::new();
    fs::create_dir(folder.at("there")).unwrap();
    let target = folder.file("there/r.csv", "old");
    fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
    symlink("there/r.csv", folder.at("relative.json")).unwrap();
    symlink(folder.at("relative.json"), folder.at("absolute.json")).unwrap();
    symlink("there/new.json", folder.at("dangling.json")).unwrap();
    for (link, target) in [("relative", "r.csv"), ("absolute", "r.csv"), ("dangling", "new.json")] {
        let link = folder.at(&format!("{link}.json"));
        sum_to(link.to_str().unwrap()).value();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let found = fs::read_to_string(folder.at("there").join(target)).unwrap();
        assert!(found.starts_with("{\"reduction\":\"sum\""), "{found}");
        fs::write(target_of(&folder), "old").unwrap();
    }
    assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o640);
    symlink("b.npy", folder.at("a.npy")).unwrap();
    symlink("a.npy", folder.at("b.npy")).unwrap();
    sum_to(folder.at("a.npy").to_str().unwrap()).fails(1, &["cannot write", "symbolic links"]);
}

fn target_of(folder: &Folder) -> std::path::PathBuf {
    folder.at("there/r.csv")
}

#[test]
fn what_is_read_only_or_no_file_is_not_replaced() {
    let folder = Folder::new();
    let kept = folder.file("r.json", "kept");
    fs::set_permissions(&kept, Permissions::from_mode(0o444)).unwrap();
    symlink("r.json", folder.at("link.json")).unwrap();
    for name in ["r.json", "link.json"] {
        sum_to(folder.at(name).to_str().unwrap()).fails(1, &["cannot write", name, "read-only"]);
    }
    assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
    let fifo = folder.at("fifo.json");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    sum_to(fifo.to_str().unwrap()).fails(1, &["fifo.json", "no regular file"]);
    symlink("/dev/null", folder.at("null.json")).unwrap();
    sum_to(folder.at("null.json").to_str().unwrap()).fails(1, &["no regular file"]);
    assert_eq!(folder.names(), ["fifo.json", "link.json", "null.json", "r.json"]);
}

#[test]
fn an_input_is_not_replaced_by_any_name() {
    let folder = Folder::new();
    let x = folder.file("x.csv", "a,b\n1,2\n3,4\n");
    let at = folder.path().display();
    fs::hard_link(&x, folder.at("hard.csv")).unwrap();
    symlink("x.csv", folder.at("soft.csv")).unwrap();
    let offsets = folder.file("offsets.csv", "0 1 2");
    for out in ["x.csv", "hard.csv", "soft.csv"] {
        for script in [
            format!("warpfold sum '{x}' --column a --out '{at}/{out}'"),
            format!("warpfold sum '{at}/soft.csv' --column a --by b --out '{at}/{out}'"),
            format!("warpfold sum - --input text --column a --out '{at}/{out}' <'{x}'"),
            format!("warpfold sum - --input text --column 1 --segments '{x}' --out '{at}/{out}'"),
            format!("cd '{at}' && warpfold dot '{offsets}' x.csv --out ./{out}"),
        ] {
            shell(&script).fails(2, &[out, "is an input", "name another file"]);
        }
    }
    assert_eq!(fs::read_to_string(&x).unwrap(), "a,b\n1,2\n3,4\n");
    // A file beside it is no input.
    shell(&format!("warpfold sum '{x}' --column a --out '{at}/new.csv'")).value();
}

#[test]
fn folders_that_take_no_files_are_named_before_any_work() {
    let folder = Folder::new();
    let endless = ["sum", "/dev/zero", "--dtype", "u8", "--out"];
    let missing = folder.at("no/such/r.json");
    run(endless.iter().copied().chain([missing.to_str().unwrap()]))
        .fails(1, &["no folder", "make it"]);
    let file = folder.file("file", "");
    run(endless.iter().copied().chain([format!("{file}/r.json").as_str()]))
        .fails(1, &["cannot write"]);
    fs::create_dir(folder.at("closed")).unwrap();
    fs::set_permissions(folder.at("closed"), Permissions::from_mode(0o555)).unwrap();
    // The superuser may write everywhere.
    if fs::write(folder.at("closed/trial"), "").is_err() {
        let closed = folder.at("closed/r.json");
        run(endless.iter().copied().chain([closed.to_str().unwrap()])).fails(1, &["ermission"]);
    }
    fs::set_permissions(folder.at("closed"), Permissions::from_mode(0o755)).unwrap();
}
