//! What a terminal is shown of many results: the first and the last of them, and how many there are.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::Read;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::program::{Folder, command, run};

/// What the program shows on a terminal.
fn shown(arguments: &[&str]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("it opens");
    let name = ptsname(&terminal, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let screen = File::options().read(true).write(true).open(name).expect("it opens");
    let mut child = command().args(arguments).stdout(screen).spawn().expect("the program starts");
    let mut terminal = File::from(terminal);
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    // Reading fails once the program was the last to have the terminal open.
    while let Ok(n @ 1..) = terminal.read(&mut piece) {
        bytes.extend_from_slice(&piece[..n]);
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    String::from_utf8(bytes).expect("UTF-8").replace("\r\n", "\n")
}

#[test]
fn long_text_is_cut_on_a_terminal_unless_it_is_wanted_in_full() {
    let folder = Folder::new();
    let x = folder.file("x", (0..=255).collect::<Vec<u8>>().repeat(2));
    let segments = ["max", &x, "--dtype", "u8", "--every", "2"];
    let cut = shown(&segments);
    let lines: Vec<_> = cut.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[9]), (21, "0 1", "9 19"));
    assert_eq!(lines[10], "… 256 results; --full prints all of them, --out keeps them");
    assert_eq!((lines[11], lines[20]), ("246 237", "255 255"));
    let whole = run(segments);
    assert_eq!(shown(&[&segments[..], &["--full"]].concat()), whole.out);
    for format in ["csv", "json"] {
        let shown = shown(&[&segments[..], &["--format", format]].concat());
        assert!(!shown.contains('…') && shown.len() > 1000, "{shown}");
    }
    // What is short is not cut.
    let few = ["max", &x, "--dtype", "u8", "--every", "16"];
    assert_eq!(shown(&few), run(few).out);
    let out = folder.at("r.csv");
    let kept = shown(&[&segments[..], &["--out", out.to_str().expect("UTF-8")]].concat());
    assert_eq!(kept, format!("max of u8: 256 results in {}\n", out.display()));
}

#[test]
fn long_rows_are_cut_on_a_terminal() {
    let folder = Folder::new();
    let path = folder.at("x.npy");
    let header =
        crate::arrays::npy_header(1, &crate::arrays::dictionary("|u1", false, "(2, 300, 1)"), 64);
    let values = (0..600).map(|k| (k % 7) as u8);
    std::fs::write(&path, header.into_iter().chain(values).collect::<Vec<_>>()).expect("writable");
    let cut = shown(&["max", path.to_str().expect("UTF-8"), "--axis", "2"]);
    let lines: Vec<_> = cut.lines().collect();
    assert_eq!(lines[0], "0 1 2 3 4 … 1 2 3 4 5");
    assert_eq!(lines[1], "6 0 1 2 3 … 0 1 2 3 4");
    assert!(lines[2].starts_with("… 600 results") && lines.len() == 3, "{cut}");
}
