//! Numbers of a text beyond their type, which round to infinities, or too small for it, which round to zeros: the result is what rounding gives, and it is
//! told once, by line and column.

use crate::program::{Folder, run, run_with_stdin};

#[test]
fn a_number_beyond_its_type_is_told_once() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "a,b\n1,1e400\n2,3\n1e400,-1e400\ninf,2\n");
    let note = |args: &[&str]| {
        let found = run(args);
        assert_eq!(found.code, Some(0), "{found:?}");
        (found.out.trim_end().to_string(), found.err)
    };
    let reported = |line: u64, column: u64, more: &str| {
        format!(
            "note: {path}: line {line}, column {column}: the number is beyond the element type, and an infinity stands for it{more}\n"
        )
    };
    let b = ["sum", &path, "--column", "b"];
    assert_eq!(note(&b), ("NaN".into(), reported(2, 2, " (2 such cells in all)")));
    assert_eq!(note(&["max", &path, "--column", "b"]).0, "inf");
    assert_eq!(note(&["sum", &path, "--column", "a"]), ("inf".into(), reported(4, 1, "")));
    // By keys, of several columns, of all, of expressions and of the whole: once each.
    for args in [
        &["sum", &path, "--column", "b", "--by", "a"][..],
        &["sum", &path, "--column", "a", "--column", "b"],
        &[&path],
        &["sum", &path, "--map", "a * b"],
        &["dot", &path, &path, "--column", "b"],
        &["sum", &path, "--column", "b", "--every", "2"],
        &["sum", &path, &path, "--column", "b"],
    ] {
        let found = run(args);
        let notes = found.err.lines().filter(|line| line.starts_with("note: ")).count();
        assert_eq!((found.code, notes), (Some(0), 1), "{args:?}: {found:?}");
    }
    let json = note(&[&b[..], &["--format", "json"]].concat()).0;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["text"][0]["cells_as_infinity"], 2);
    // What the text itself calls infinite is said by nobody.
    let words = folder.file("w.txt", "inf\n-1e-300\nInfinity\n1e308\n");
    assert_eq!(run(["sum", &words]).value(), "inf");
    let narrow = folder.file("n.txt", "1\n65520\n");
    assert_eq!(run(["max", &narrow]).value(), "65520.0");
    let half = run(["max", &narrow, "--dtype", "f16"]);
    assert!(half.out == "inf\n" && half.err.contains("line 2, column 1"), "{half:?}");
    let complex = folder.file("z.txt", "1+2i\n1e400-3i\n");
    assert!(run(["sum", &complex, "--dtype", "complex128"]).err.contains("line 2, column 1"));
}

#[test]
fn a_number_too_small_for_its_type_is_told_once() {
    let folder = Folder::new();
    let path =
        folder.file("t.csv", "a,b,k\n0,1e-400,1\n0e-999,3,1\n-1e-330,-1e-400,2\n1e400,2,2\n");
    let note = |line: u64, column: u64, more: &str| {
        format!(
            "note: {path}: line {line}, column {column}: the number is too small for the element type, and a zero stands for it{more}\n"
        )
    };
    let b = run(["sum", &path, "--column", "b"]);
    assert_eq!((b.out.as_str(), b.err), ("5.0\n", note(2, 2, " (2 such cells in all)")));
    // An infinity and a zero are told apart.
    let a = run(["max", &path, "--column", "a"]);
    assert_eq!((a.out.as_str(), a.err.lines().count()), ("inf\n", 2), "{}", a.err);
    assert!(a.err.contains("line 5, column 1") && a.err.ends_with(&note(4, 1, "")), "{}", a.err);
    for args in [
        &["sum", &path, "--column", "b", "--by", "k"][..],
        &["count", &path, "--map", "b"],
        &["dot", &path, &path, "--column", "b"],
    ] {
        let found = run(args);
        let notes = found.err.lines().filter(|line| line.contains("too small")).count();
        assert_eq!(notes, 1, "{args:?}: {found:?}");
    }
    let json = run(["sum", &path, "--column", "b", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["text"][0]["cells_as_zero"], 2);
    assert_eq!(json["text"][0]["cells_as_infinity"], 0);
    // What the type holds, be it with few bits, and what is a zero as written, is told by nobody.
    let fine = folder.file("f.txt", "5e-324\n0.0e-500\n-0\n");
    assert_eq!(run(["sum", &fine]).value(), "5e-324");
    let single = run(["sum", &fine, "--dtype", "f32"]);
    assert!(single.out == "0.0\n" && single.err.contains("line 1, column 1"), "{single:?}");
}

/// What is left out has no part in the result, and nothing is told of what it would be.
#[test]
fn what_is_left_out_is_not_told() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "a,b,c,k\n1,1e400,1e-400,7\n2,word,3,7\n1e400,5,NA,NA\n");
    let notes = |args: &[&str]| {
        let found = run(args);
        assert_eq!(found.code, Some(0), "{found:?}");
        let lines = found
            .err
            .lines()
            .filter(|line| line.starts_with("note: ") && !line.contains("left out"));
        lines.map(|line| line.split(": ").nth(2).expect("a place").to_string()).collect::<Vec<_>>()
    };
    // Column b holds a word.
    assert_eq!(notes(&[&path]), ["line 4, column 1", "line 2, column 3"]);
    // The last row has no key.
    let skip = ["sum", &path, "--missing", "skip", "--column"];
    assert_eq!(notes(&[&skip[..], &["a", "--by", "k"]].concat()), Vec::<String>::new());
    assert_eq!(notes(&[&skip[..], &["a"]].concat()), ["line 4, column 1"]);
}

#[test]
fn it_is_found_wherever_it_stands() {
    let folder = Folder::new();
    // Behind rows that are read many at a time, in quotes, with a decimal comma, on standard input.
    let mut text: String = (0..5000).map(|k| format!("{k},{k}.25\n")).collect();
    text += "7,1e999\n";
    text += &"1,2\n".repeat(100);
    let path = folder.file("t.csv", &text);
    let found = run(["max", &path, "--column", "2"]);
    assert!(found.out == "inf\n" && found.err.contains("line 5001, column 2"), "{found:?}");
    let quoted = folder.file("q.csv", "1,\"2\"\n\"1e999\",3\n");
    assert!(run(["max", &quoted]).err.contains("line 2, column 1"));
    let comma = ["max", "-", "--input", "text", "--delimiter", ";", "--decimal", ","];
    let found = run_with_stdin(&comma, b"1,5;2\n3;1,5e999\n");
    assert!(found.err.contains("note: standard input: line 2, column 2"), "{found:?}");
}

/// Of ranks that each read some lines, the first says it, by the line of the whole; of results by keys as well.
#[test]
fn ranks_tell_it_once() {
    use crate::world::world;

    let folder = Folder::new();
    let row = |k: u32| match k {
        1700 | 3400 => format!("{k},1e999\n"),
        900 | 3900 => format!("{k},1e-999\n"),
        _ => format!("{k},1\n"),
    };
    let rows = (1..=4000).map(row);
    let path = folder.file("t.csv", format!("k,x\n{}", rows.collect::<String>()));
    for args in [
        &["sum", &path, "--column", "x"][..],
        &["sum", &path, "--column", "x", "--by", "k"],
        &["sum", &path, "--map", "k * x"],
    ] {
        let alone = run(args);
        assert!(alone.err.contains("line 1701, column 2") && alone.err.contains("2 such cells"));
        assert!(alone.err.contains("line 901, column 2"), "{}", alone.err);
        for size in [1, 3] {
            let found = world(args, size);
            let err = |rank: usize| String::from_utf8_lossy(&found[rank].stderr).into_owned();
            let out = String::from_utf8_lossy(&found[0].stdout).into_owned();
            assert_eq!((err(0), out), (alone.err.clone(), alone.out.clone()), "{args:?} by {size}");
            assert!(
                (1..size).all(|rank| err(rank).is_empty()),
                "{args:?} by {size}: {}",
                err(size - 1)
            );
        }
    }
}
