//! The tours of the program in README.md and its manual: every command is run, and prints what they show.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// A command and what it prints, to standard output and standard error together.
struct Shown {
    command: String,
    output: String,
}

/// The commands of all ```` ```console ```` blocks, and of tables whose last two columns are a command and what it prints, in order.
fn tour(document: &str) -> Vec<Shown> {
    let mut tour: Vec<Shown> = Vec::new();
    let (mut inside, mut is_table) = (false, false);
    for line in document.lines() {
        is_table = line.starts_with('|') && (is_table || line.ends_with("| it prints |"));
        match (inside, line.strip_prefix("$ ")) {
            _ if line.starts_with("```") => inside = line == "```console",
            (true, Some(command)) => {
                tour.push(Shown { command: command.into(), output: String::new() })
            }
            (true, None) => {
                let shown = tour.last_mut().expect("a block begins with a command");
                shown.output += line;
                shown.output.push('\n');
            }
            (false, _) if is_table => tour.extend(row(line)),
            (false, _) => {}
        }
    }
    tour
}

/// The command of a table's row, and what it prints.
fn row(line: &str) -> Option<Shown> {
    // A bar within a cell is escaped.
    let line = line.replace("\\|", "\0");
    let mut cells = line.trim_matches('|').rsplit('|').map(str::trim);
    let code = |cell: &str| Some(cell.strip_prefix('`')?.strip_suffix('`')?.replace('\0', "|"));
    let (output, command) = (code(cells.next()?)?, code(cells.next()?)?);
    Some(Shown { command, output: output.replace("\\n", "\n") + "\n" })
}

/// Runs a document's tour in a folder of its own.
fn run(document: &str, least: usize) {
    run_with(document, least, |_| ());
}

/// The same, in a folder that is prepared.
fn run_with(document: &str, least: usize, prepare: impl Fn(&Path)) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let tour = tour(&fs::read_to_string(file).expect("the document is there"));
    assert!(tour.len() >= least, "{document} has a tour of {least} commands or more");

    let program = Path::new(env!("CARGO_BIN_EXE_warpfold")).parent().expect("it lies in a folder");
    let path = env::var("PATH").map_or_else(|_| String::new(), |path| format!(":{path}"));
    let name = format!("warpfold-{}-{}", document.replace('/', "-"), std::process::id());
    let folder = env::temp_dir().join(name);
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    prepare(&folder);
    for Shown { command, output } in tour {
        let ran = Command::new("sh")
            .args(["-c", &format!("({command}) 2>&1")])
            .current_dir(&folder)
            .env("PATH", format!("{}{path}", program.display()))
            .output()
            .expect("a shell is there");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), output, "{document}: $ {command}");
    }
    fs::remove_dir_all(folder).expect("it can be removed");
}

#[test]
fn the_page_of_text_prints_what_it_shows() {
    run("docs/text.md", 6);
}

/// Copies a folder with all that is in it.
#[cfg(feature = "parquet")]
fn copy_all(from: &Path, to: &Path) {
    fs::create_dir(to).expect("writable");
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable").path();
        let to = to.join(entry.file_name().expect("an entry has a name"));
        match entry.is_dir() {
            true => copy_all(&entry, &to),
            false => drop(fs::copy(&entry, to).expect("writable")),
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn the_page_of_data_prints_what_it_shows() {
    run_with("docs/data.md", 10, |folder| {
        let fixtures =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../warpfold-arrow/tests/fixtures");
        fs::create_dir(folder.join("sales")).expect("writable");
        for part in 0..4 {
            let name = format!("part-{part}.parquet");
            fs::copy(fixtures.join("parts").join(&name), folder.join("sales").join(name))
                .expect("writable");
        }
        fs::copy(fixtures.join("pyarrow-snappy.parquet"), folder.join("orders.parquet"))
            .expect("writable");
        copy_all(&fixtures.join("hive"), &folder.join("hive"));
    });
}

#[cfg(feature = "parquet")]
#[test]
fn the_page_of_outputs_prints_what_it_shows() {
    run("docs/outputs.md", 40);
}

/// The rows of its table run in the folder that its first commands have made.
#[test]
fn the_page_beside_others_prints_what_it_shows() {
    run("docs/from-numpy-and-pandas.md", 12);
}

#[test]
fn the_page_of_maps_prints_what_it_shows() {
    run("docs/maps.md", 6);
}

#[test]
fn the_readme_prints_what_it_shows() {
    run("README.md", 6);
}

#[test]
fn the_manual_prints_what_it_shows() {
    run("docs/program.md", 12);
}
