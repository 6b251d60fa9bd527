//! What is printed: text, JSON, CSV, result files, help, completions, the manual page, colours.

use serde_json::Value;

use crate::program::{Folder, command, finish, run};

fn json(args: &[&str]) -> Value {
    let text = run(args.iter().chain(&["--format", "json"])).value().to_string();
    assert!(!text.contains('\n'));
    serde_json::from_str(&text).unwrap()
}

fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn json_has_every_field() {
    let folder = Folder::new();
    let path = folder.file("x", f64s(&[0.1, 0.2]));
    let found = json(&["sum", &path, "--dtype", "f64"]);
    let sum = 0.30000000000000004f64;
    for (field, expected) in [
        ("reduction", Value::from("sum")),
        ("dtype", "f64".into()),
        ("n", 2.into()),
        ("bytes", 16.into()),
        ("value", sum.into()),
        ("bits", format!("{:#018x}", sum.to_bits()).into()),
        ("result_dtype", "f64".into()),
        ("accuracy", "exact".into()),
        ("device", "cpu".into()),
    ] {
        assert_eq!(found[field], expected, "{field}");
    }
    let (seconds, rate) =
        (found["seconds"].as_f64().unwrap(), found["bytes_per_second"].as_f64().unwrap());
    assert!(seconds > 0.0 && (rate * seconds - 16.0).abs() <= 32.0 * f64::EPSILON);
    assert_eq!(json(&["sum", &path, "--dtype", "f64", "--accuracy", "fast"])["accuracy"], "fast");
}

#[test]
fn json_numbers_are_short_and_safe() {
    let folder = Folder::new();
    let raw = |args: &[&str]| run(args.iter().chain(&["--format", "json"])).value().to_string();
    let tenth = folder.file("t", 0.1f32.to_le_bytes());
    assert!(
        raw(&["max", &tenth, "--dtype", "f32"]).contains("\"value\":0.1,\"bits\":\"0x3dcccccd\"")
    );
    let half = folder.file("h", 0x2e66u16.to_le_bytes());
    assert!(raw(&["max", &half, "--dtype", "f16"]).contains("\"value\":0.1,\"bits\":\"0x2e66\""));
    assert_eq!(json(&["max", &half, "--dtype", "f16"])["result_dtype"], "f16");
    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let path = folder.file("s", value.to_le_bytes());
        assert_eq!(json(&["sum", &path, "--dtype", "f64"])["value"], text);
    }
    let negative_zero = folder.file("z", (-0.0f64).to_le_bytes());
    assert!(raw(&["min", &negative_zero, "--dtype", "f64"]).contains("\"value\":-0.0,"));
    let ints = folder.file("i", [(1i64 << 53) - 1, -(1 << 53)].map(i64::to_le_bytes).concat());
    let found = json(&["minmax", &ints, "--dtype", "i64"]);
    assert_eq!(found["value"][0], "-9007199254740992");
    assert_eq!(found["value"][1], 9_007_199_254_740_991i64);
    assert_eq!(found["bits"][0], "0xffe0000000000000");
    let complex = folder.file("c", f64s(&[1.5, -2.0]));
    let found = json(&["sum", &complex, "--dtype", "c128"]);
    assert_eq!(found["value"], serde_json::json!([1.5, -2.0]));
    assert_eq!(found["bits"], serde_json::json!(["0x3ff8000000000000", "0xc000000000000000"]));
    let any = json(&["any", &complex, "--dtype", "f64"]);
    assert_eq!((&any["value"], &any["bits"]), (&Value::Bool(true), &"0x01".into()));
    let dot = json(&["dot", &complex, &complex, "--dtype", "f64"]);
    assert_eq!((&dot["n"], &dot["bytes"]), (&2.into(), &32.into()));
}

#[test]
fn text_is_the_value_alone() {
    let folder = Folder::new();
    let path = folder.file("x", f64s(&[3.0, -1.0, 2.5]));
    assert_eq!(run(["sum", &path, "--dtype", "f64"]).out, "4.5\n");
    assert_eq!(run(["minmax", &path, "--dtype", "f64"]).out, "-1.0 3.0\n");
    assert_eq!(run(["argmin", &path, "--dtype", "f64"]).out, "1\n");
    assert_eq!(run(["all", &path, "--dtype", "f64"]).out, "true\n");
    let pair = folder.file("c", f64s(&[1e300, -0.5]));
    assert_eq!(run(["sum", &pair, "--dtype", "complex128"]).out, "1e300-0.5i\n");
}

#[test]
fn csv_is_a_header_and_a_row() {
    let folder = Folder::new();
    let path = folder.file("x", f64s(&[3.0, -1.0]));
    let table = |op: &str, dtype: &str| {
        let text = run([op, &path, "--dtype", dtype, "--format", "csv"]).value().to_string();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let names: Vec<_> = reader.headers().unwrap().iter().map(str::to_string).collect();
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 1);
        names.into_iter().zip(rows[0].iter().map(str::to_string)).collect::<Vec<_>>()
    };
    let sum = table("sum", "f64");
    assert_eq!(sum[4], ("value".into(), "2.0".into()));
    assert_eq!(sum[5], ("bits".into(), "0x4000000000000000".into()));
    assert_eq!(sum[9].0, "bytes_per_second");
    let minmax = table("minmax", "f64");
    assert_eq!(minmax[4..6], [("min".into(), "-1.0".into()), ("max".into(), "3.0".into())]);
    assert_eq!(table("sum", "c128")[5], ("value_im".into(), "-1.0".into()));
}

#[test]
fn verbose_prints_inputs_plan_and_time_on_standard_error() {
    let found = run(["sum", "--random", "1000", "--verbose"]);
    assert_eq!((found.code, found.out.lines().count()), (Some(0), 1));
    let lines: Vec<_> = found.err.lines().collect();
    assert_eq!(lines[0], "input: random numbers: 1000 f32, generated");
    assert!(lines[1].starts_with("plan: sum of 1000 f32 (4000 bytes) on cpu"), "{}", lines[1]);
    assert!(lines[2].starts_with("device: auto takes cpu: "), "{}", lines[2]);
    assert!(lines[3].starts_with("time: ") && lines.len() == 4);
}

#[test]
fn result_files_are_replaced_as_a_whole() {
    let folder = Folder::new();
    let path = folder.file("x", f64s(&[3.0, -1.0, 7.0]));
    for name in ["r.json", "r.csv", "r.npy"] {
        let out = folder.file(name, "old");
        assert_eq!(run(["max", &path, "--dtype", "f64", "--out", &out]).value(), "7.0");
        assert!(std::fs::read(&out).unwrap() != b"old");
        // A run without a result leaves the file alone.
        std::fs::write(&out, "old").unwrap();
        run(["max", &path, "--dtype", "bool", "--out", &out]).fails(1, &["bool"]);
        assert_eq!(std::fs::read(&out).unwrap(), b"old");
        std::fs::remove_file(out).unwrap();
    }
    assert_eq!(folder.names(), ["x"]);
    let out = folder.at("no/such/folder.json");
    run(["sum", &path, "--dtype", "f64", "--out", out.to_str().unwrap()])
        .fails(1, &["cannot write", "folder.json"]);
    let out = folder.at("dir.npy");
    std::fs::create_dir(&out).unwrap();
    run(["sum", &path, "--dtype", "f64", "--out", out.to_str().unwrap()])
        .fails(1, &["cannot write", "irectory"]);
}

#[test]
fn npy_results_read_back() {
    let folder = Folder::new();
    let path = folder.file("x", f64s(&[3.0, -1.0, 7.5]));
    let out = folder.at("r.npy");
    let out = out.to_str().unwrap();
    run(["minmax", &path, "--dtype", "f64", "--out", out]).value();
    let bytes = std::fs::read(out).unwrap();
    assert_eq!((bytes.len() - 16) % 64, 0);
    assert_eq!(bytes[bytes.len() - 16..], f64s(&[-1.0, 7.5]));
    assert_eq!(run(["sum", out]).value(), "6.5");
    run(["argmax", &path, "--dtype", "f64", "--out", out]).value();
    assert_eq!(run(["max", out]).value(), "2");
    assert_eq!(json(&["max", out])["dtype"], "u64");
    let complex = folder.file("c", f64s(&[1.0, 2.0]));
    run(["sum", &complex, "--dtype", "c128", "--out", out]).value();
    assert_eq!(run(["sum", out]).value(), "1.0+2.0i");
    let brain = folder.file("b", 0x3f81u16.to_le_bytes());
    run(["max", &brain, "--dtype", "bf16", "--out", out]).value();
    assert_eq!(
        run(["max", out, "--dtype", "bf16"]).value(),
        run(["max", &brain, "--dtype", "bf16"]).value()
    );
}

#[cfg(unix)]
#[test]
fn result_files_have_the_permissions_of_any_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let mode = |path: &str| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let usual = mode(&folder.file("usual", ""));
    let out = folder.at("r.json");
    let out = out.to_str().unwrap();
    run(["sum", "--random", "5", "--out", out]).value();
    assert_eq!(mode(out), usual);
    std::fs::set_permissions(out, std::fs::Permissions::from_mode(0o600)).unwrap();
    run(["sum", "--random", "6", "--out", out]).value();
    assert_eq!(mode(out), 0o600);
}

#[test]
fn help_completions_and_manual_come_from_one_declaration() {
    let help = run(["--help"]);
    for word in ["Examples:", "--column", "--dtype", "loguniform", "Exit codes"] {
        assert!(help.value().contains(word), "{word}");
    }
    assert!(run(["--version"]).value().starts_with("warpfold "));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(["completions", shell]);
        assert!(
            script.value().contains("--overflow") || script.value().contains("-l overflow"),
            "{shell}"
        );
        // The other scripts complete options and their values only, and name reductions where a help text does.
        let reductions = ["bash", "zsh"].contains(&shell);
        assert!(!reductions || script.value().contains("argmin"), "{shell}");
    }
    let page = run(["man"]);
    assert!(page.value().contains(".TH warpfold 1") && page.value().contains("\\-\\-column"));
    assert!(!page.value().contains('\u{1b}'));
}

#[test]
fn colours_obey_no_color() {
    let coloured = |variables: &[(&str, &str)]| {
        let mut command = command();
        command.args(["sum", "no-such-file.npy"]).envs(variables.iter().copied());
        finish(&mut command).err.contains('\u{1b}')
    };
    assert!(!coloured(&[]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}
