//! Reductions of expressions: columns by name, files by name, conditions, weights, and what is refused.

use crate::batched::npy;
use crate::program::{Folder, Run, run, run_with_stdin};

const SALES: &str = "price,qty,shop\n0.1,3,1\n19.99,4,1\n5,1,2\n1e17,0,2\n2.5,10,1\n";

fn sales(args: &[&str]) -> Run {
    let folder = Folder::new();
    let path = folder.file("sales.csv", SALES);
    run([args[0], &path].iter().chain(&args[1..]))
}

fn raw<const N: usize>(folder: &Folder, name: &str, values: [f64; N]) -> String {
    folder.file(name, values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

/// A name may be a column's, or that of another file, and not both.
#[test]
fn names_of_columns_are_not_given_to_files() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "price,qty\n1,2\n3,4\n");
    let other = folder.file("qty.txt", "10\n20\n");
    let with = |name: &str| {
        let (with, map) = (format!("{name}={other}"), format!("price * {name}"));
        run(["sum", &path, "--with", &with, "--map", &map])
    };
    with("qty").fails(2, &["qty is a column of", "t.csv", "--with qty2="]);
    assert_eq!(with("qty2").value(), "70.0");
}

#[test]
fn columns_of_text_by_their_names() {
    // By exact fractions of the doubles; no double is 19.99.
    assert_eq!(sales(&["sum", "--map", "price * qty"]).value(), "110.25999999999999");
    assert_eq!(sales(&["sum", "--map", "price * qty", "--where", "qty > 3"]).value(), "104.96");
    assert_eq!(
        sales(&["mean", "--column", "price", "--where", "shop == 1 and qty >= 4"]).value(),
        "11.245"
    );
    assert_eq!(sales(&["count", "--map", "price > 2"]).value(), "4");
    assert_eq!(sales(&["argmax", "--map", "qty", "--where", "price < 3"]).value(), "4");
    assert_eq!(
        sales(&["mean", "--map", "price", "--weights", "qty", "--where", "qty < 4"]).value(),
        "1.325"
    );
    // Weights that are zero leave nothing to the large price.
    assert_eq!(sales(&["sum", "--map", "price", "--weights", "qty"]).value(), "110.25999999999999");
    let folder = Folder::new();
    let path = folder.file("xy.csv", "x,y\n1,5\n2,7\n");
    assert_eq!(run(["sum", &path, "--map", "x"]).value(), "3.0");
    assert_eq!(run(["sum", &path, "--map", "y - x"]).value(), "9.0");
    let words = folder.file("words.txt", "1 2 3\n");
    assert_eq!(run(["sum", &words, "--map", "x * x"]).value(), "14.0");
    assert_eq!(
        run_with_stdin(&["sum", "-", "--input", "text", "--map", "x + 1"], b"1\n2\n").value(),
        "5.0"
    );
}

#[test]
fn files_by_their_names() {
    let folder = Folder::new();
    let x = raw(&folder, "x.f64", [1.0, 2.0, 4.0]);
    let y = raw(&folder, "y.f64", [0.5, 8.0, 4.0]);
    let with = format!("y={y}");
    let of = |op: &str, map: &str| run([op, &x, "--dtype", "f64", "--with", &with, "--map", map]);
    assert_eq!(of("max", "abs(x - y)").value(), "6.0");
    assert_eq!(of("l2", "x - y").value(), "6.020797289396148");
    assert_eq!(of("count", "x == y").value(), "1");
    assert_eq!(run(["mean", &x, "--dtype", "f64", "--weights", &y]).value(), "2.6");
    assert_eq!(run(["var", &x, "--dtype", "f64", "--weights", &y]).value(), "0.96");
    assert_eq!(run(["sum", &x, &y, "--dtype", "f64", "--map", "x / 2"]).value(), "9.75");
    let found = run(["sum", &x, "--dtype", "f64", "--where", "x > 1", "--format", "json"]);
    let json = found.value();
    assert!(json.contains("\"n\":3") || json.contains("\"n\": 3"), "{json}");
}

#[test]
fn several_results_share_a_reading() {
    let args =
        ["stats", "--of", "sum(qty)", "--of", "far = count(price > 2)", "--of", "minmax(qty)"];
    assert_eq!(
        sales(&args).value(),
        "sum(qty)        18.0\nfar             4\nminmax(qty) min 0.0\nminmax(qty) max 10.0"
    );
    let none =
        sales(&["stats", "--of", "max(qty)", "--of", "n = count(qty)", "--where", "qty > 99"]);
    assert_eq!(none.value(), "max(qty) -\nn        0");
    let json = sales(&["stats", "--of", "e = rmse(qty, shop)", "--format", "json"]);
    // The root of (4 + 9 + 1 + 4 + 81) / 5.
    assert!(json.value().contains("\"value\":{\"e\":4.449719092257398}"), "{json:?}");
    let weighted = sales(&["var", "--map", "qty", "--weights", "shop"]);
    // Of 3, 4, 1, 1, 0, 0 and 10: 127 / 7 - (19 / 7)^2.
    assert_eq!(weighted.value(), "10.775510204081632");
    let sigmoid = sales(&["max", "--map", "sigmoid(log1p(qty)) * 2**3"]);
    assert_eq!(sigmoid.value(), "7.333333333333333");
}

#[test]
fn parts_of_expressions() {
    assert_eq!(sales(&["sum", "--map", "qty * 2", "--by", "shop"]).value(), "1 34.0\n2 2.0");
    let folder = Folder::new();
    let x = raw(&folder, "x.f64", [1.0, 2.0, 4.0, 8.0]);
    let y = raw(&folder, "y.f64", [0.5, 8.0, 4.0, 1.0]);
    let with = format!("y={y}");
    let of = |op: &str, more: &[&str]| {
        let args = [op, &x, "--dtype", "f64", "--with", &with, "--every", "2"];
        run(args.iter().chain(more))
    };
    assert_eq!(of("max", &["--map", "abs(x - y)"]).value(), "0 6.0\n1 7.0");
    assert_eq!(of("argmin", &["--map", "x - y", "--flat"]).value(), "0 1\n1 2");
    of("min", &["--map", "x", "--where", "y > 7"]).fails(1, &["segment 1", "min"]);
    assert_eq!(of("sum", &["--map", "x * y"]).value(), "0 16.5\n1 24.0");
    assert_eq!(
        of("mean", &["--map", "x", "--weights", "y", "--where", "x > 1"]).value(),
        "0 2.0\n1 4.8"
    );
}

#[test]
fn inputs_of_other_sizes_of_elements_stay_side_by_side() {
    let folder = Folder::new();
    // More than a piece of either, whose sizes in elements differ.
    let n = 5_000_000u32;
    let narrow: Vec<u8> = (0..n).flat_map(|k| ((k % 1000) as f32).to_le_bytes()).collect();
    let x = folder.file("x.f32", narrow);
    let text: String = (0..1000).map(|k| format!("{k}\n")).collect();
    let y = folder.file("y.csv", text.repeat(5000));
    let found =
        run(["max", &x, "--dtype", "f32", "--with", &format!("y={y}"), "--map", "abs(x - y)"]);
    assert_eq!(found.value(), "0.0");
    let longer = folder.file("z.csv", text.repeat(5001));
    let found =
        run(["max", &x, "--dtype", "f32", "--with", &format!("y={longer}"), "--map", "abs(x - y)"]);
    found.fails(2, &["5000000 elements and y has more"]);
}

#[test]
fn several_results_of_parts() {
    let of = ["--of", "sum(price * qty)", "--of", "far = count(price > 2)", "--of", "minmax(qty)"];
    let with = |more: &[&str]| sales(&[&["stats"][..], &of, more, &["--format", "csv"]].concat());
    let lines = "1,105.25999999999999,2,3.0,10.0\n2,5.0,2,0.0,1.0";
    let names = "sum(price * qty),far,minmax(qty) min,minmax(qty) max";
    assert_eq!(with(&["--by", "shop"]).value(), format!("key,{names}\n{lines}"));
    let found = with(&["--every", "5"]);
    assert_eq!(found.value(), format!("segment,{names}\n0,110.25999999999999,4,0.0,10.0"));
    // Each is what it is alone.
    let alone = sales(&["argmax", "--map", "price", "--by", "shop", "--flat", "--format", "csv"]);
    let both = sales(&[
        "stats",
        "--of",
        "at = argmax(price)",
        "--by",
        "shop",
        "--flat",
        "--format",
        "csv",
    ]);
    assert_eq!(both.value(), alone.value().replace("argmax", "at"));
    let none = [
        "stats",
        "--of",
        "max(qty)",
        "--of",
        "n = count(qty)",
        "--where",
        "qty > 5",
        "--by",
        "shop",
    ];
    sales(&none).fails(1, &["group 2", "--empty"]);
    let none = sales(&[&none[..], &["--empty", "none", "--format", "csv"]].concat());
    assert_eq!(none.value(), "key,max(qty),n\n1,10.0,1\n2,,0");
    with(&["--by", "shop", "--device", "simt"]).fails(2, &["--of of parts runs on the processor"]);
}

#[test]
fn a_simulated_gpu_prints_what_the_processor_prints() {
    for args in [
        &["sum", "--map", "price * qty"][..],
        &["sum", "--map", "price * qty", "--where", "qty > 3"][..],
        &["mean", "--map", "price", "--weights", "qty"][..],
        &["argmax", "--map", "abs(price - 5)", "--where", "shop == 1"][..],
        &[
            "stats",
            "--of",
            "sum(price * qty)",
            "--of",
            "dear = count(price > 3)",
            "--of",
            "rmse(price, qty)",
        ][..],
        &["count", "--map", "price > 3"][..],
    ] {
        let there = sales(&[args, &["--device", "simt"]].concat());
        assert_eq!((there.code, &there.out), (Some(0), &sales(args).out), "{args:?}: {there:?}");
    }
}

/// The same arguments on the processor and in the simulator, which is to find what is expected.
fn on_both(args: &[&str], expected: &str) {
    for device in ["cpu", "simt"] {
        let found = run(args.iter().copied().chain(["--device", device]));
        let words: Vec<&str> = found.value().split_whitespace().collect();
        assert_eq!(words.join(" "), expected, "{args:?} on {device}");
    }
}

#[test]
fn parts_on_the_simulator_are_those_of_the_processor() {
    let folder = Folder::new();
    let f32s = |shape: &str, x: &[f32]| {
        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
        npy("<f4", false, shape, &bytes)
    };
    // 1 2 3 / 4 5 6.
    let x = folder.file("x.npy", f32s("(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let y = folder.file("y.npy", f32s("(2, 3)", &[0.5, 0.5, 2.0, 2.0, -1.0, 4.0]));
    let y = format!("y={y}");
    on_both(&["sum", &x, "--map", "x * x", "--axis", "1"], "14.0 77.0");
    on_both(&["sum", &x, "--map", "x * y", "--with", &y, "--axis", "-1"], "7.5 27.0");
    on_both(&["mean", &x, "--map", "x * y", "--with", &y, "--axis", "0"], "4.25 -2.0 15.0");
    on_both(&["max", &x, "--map", "x - y", "--with", &y, "--axis", "0", "--axis", "1"], "6.0");
    on_both(&["argmax", &x, "--map", "abs(x - 4)", "--axis", "0", "--flat"], "0 1 5");
    on_both(&["sum", &x, "--map", "x", "--where", "x > 2", "--every", "2"], "0 0.0 1 7.0 2 11.0");
    on_both(
        &[
            "var",
            &x,
            "--map",
            "x",
            "--weights",
            "y",
            "--with",
            &y,
            "--where",
            "y > 0",
            "--every",
            "3",
        ],
        "0 0.5833333 1 0.8888889",
    );
    let offsets = folder.file("o.txt", "0 1 1 6\n");
    on_both(&["l2", &x, "--map", "x - 1", "--segments", &offsets], "0 0.0 1 0.0 2 7.4161983");
    let lengths = folder.file("l.txt", "4 2\n");
    on_both(&["std", &x, "--map", "x + x", "--lengths", &lengths], "0 2.236068 1 1.0");
    let keys = folder.file("k.txt", "7 3 7 3 3 7\n");
    on_both(&["sum", &x, "--map", "x * y", "--with", &y, "--by", &keys], "3 4.0 7 30.5");
    on_both(&["minmax", &x, "--map", "-x", "--by", &keys], "3 -5.0 -2.0 7 -6.0 -1.0");
    on_both(
        &["count", &x, "--map", "x > 2", "--by", &keys, "--groups", "8"],
        "0 0 1 0 2 0 3 2 4 0 5 0 6 0 7 2",
    );
    let runs = folder.file("r.txt", "5 5 2 2 2 5\n");
    on_both(&["sum", &x, "--map", "x + 1", "--by", &runs, "--sorted"], "5 5.0 2 15.0 5 7.0");
    // Columns of a text, by a key of it.
    let expected = sales(&["sum", "--map", "price * qty", "--by", "shop"]);
    let found = sales(&["sum", "--map", "price * qty", "--by", "shop", "--device", "simt"]);
    assert_eq!((found.code, &found.out), (Some(0), &expected.out), "{found:?}");
}

/// Inputs of length 1 along the axes that are kept, or along those that are folded.
#[test]
fn inputs_of_axes_broadcast() {
    let folder = Folder::new();
    let f64s = |shape: &str, x: &[f64]| {
        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
        npy("<f8", false, shape, &bytes)
    };
    let x = folder.file("x.npy", f64s("(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let w = format!("w={}", folder.file("w.npy", f64s("(3,)", &[1.0, 0.5, 2.0])));
    let m = format!("m={}", folder.file("m.npy", f64s("(2, 1)", &[3.0, 6.0])));
    on_both(&["sum", &x, "--map", "x * w", "--with", &w, "--axis", "1"], "8.0 18.5");
    on_both(&["sum", &x, "--map", "(x - m)**2", "--with", &m, "--axis", "1"], "5.0 5.0");
    let both = ["--with", &*w, "--with", &*m, "--axis", "-1"];
    on_both(&[&["max", &*x, "--map", "w * (x - m)"][..], &both].concat(), "0.0 0.0");
    let wrong = format!("v={}", folder.file("v.npy", f64s("(2,)", &[1.0, 2.0])));
    let args = ["sum", &x, "--map", "x * v", "--with", &wrong, "--axis", "1"];
    run(args).fails(2, &["shapes [2, 3] and [2]", "length 1 along all axes"]);
    // Parts that are no axes have no shape.
    let args = ["sum", &x, "--map", "x * w", "--with", &w, "--every", "3"];
    run(args).fails(2, &["give inputs of one shape"]);
}

#[test]
fn what_kernels_of_parts_do_not_do_is_refused() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..12).flat_map(|x| (x as f32).to_le_bytes()).collect();
    let x = folder.file("x.npy", npy("<f4", false, "(2, 3, 2)", &bytes));
    let args = ["sum", &x, "--map", "x + 1", "--axis", "0", "--axis", "2"];
    // 0 1 6 7, 2 3 8 9, 4 5 10 11, and four ones each.
    assert_eq!(run(args).value(), "18.0\n26.0\n34.0");
    run(args.iter().copied().chain(["--device", "simt"])).fails(2, &["others between them"]);
    let args = ["max", &x, "--map", "x", "--where", "x > 5", "--every", "4"];
    for (device, remedy) in
        [("cpu", "or say by --empty"), ("simt", "leave out --device and say by --empty")]
    {
        let failed = run(args.iter().copied().chain(["--device", device]));
        failed.fails(1, &["segment 0", "the condition of --where kept none", remedy]);
    }
}

/// Stats of an expression's parts are those of its values.
#[test]
fn stats_of_parts_are_those_of_a_column_that_holds_the_values() {
    for parts in [["--by", "shop"], ["--every", "5"]] {
        let mapped = sales(&[&["stats", "--map", "price"][..], &parts].concat());
        let column = sales(&[&["stats", "--column", "price"][..], &parts].concat());
        assert!(mapped.code == Some(0) && mapped.out.contains("argmax"), "{mapped:?}");
        assert_eq!(mapped.out, column.out);
    }
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    for (args, part) in [
        (&["sum", "--map", "price * "][..], "map, column 9"),
        (&["mean", "--where", "qty > 3"][..], "choose its column by --column"),
        (&["sum", "--map", "pric * 2"][..], "no column is called \"pric\""),
        (
            &["sum", "--map", "price", "--where", "qty"][..],
            "--where: `qty` is f64, and wants to be a condition",
        ),
        (
            &["sum", "--map", "price", "--where", "qty and shop"][..],
            "--where, column 1: `and` takes no f64",
        ),
        (
            &["mean", "--map", "price", "--weights", "not qty"][..],
            "--weights, column 1: `not` takes no f64",
        ),
        (&["sum", "--map", "not price", "--where", "qty > 1"][..], "map, column 1: `not`"),
        (
            &["mean", "--map", "price", "--where", "qty > 99"][..],
            "the condition of --where kept none of 5 elements, and mean of nothing",
        ),
        (
            &["max", "--map", "price", "--where", "qty > 2", "--by", "shop"][..],
            "group 2: the condition of --where kept none",
        ),
        (&["sum", "--map", "sinh(price)"][..], "`sinh` is no function"),
        (&["var", "--map", "price * qty"][..], "say `rounded(price * qty)`"),
        (&["argmax", "--map", "price", "--weights", "qty"][..], "take sum, mean, var or std"),
        (&["sum", "--map", "price", "--with", "w=nowhere.npy"][..], "no expression uses"),
        (
            &["var", "--map", "i64(price)", "--weights", "i64(qty)", "--device", "simt"][..],
            "no kernel folds weighted squares of integers",
        ),
        (&["sum", "--of", "sum(price)"][..], "say warpfold stats --of"),
        (&["stats", "--of", "sum(price)", "--of", "sum(price)"][..], "twice"),
        (&["stats", "--of", "summ(price)"][..], "`summ` is no reduction"),
        (&["stats", "--of", "var(price, weights=qty > 1)"][..], "weights: `qty > 1` is bool"),
        (&["sum", "--map", "x * qty", "--missing", "skip"][..], "choose its column by --column"),
        (&["sum", "--map", "price", "--weights", "none.npy"][..], "is no file that exists"),
    ] {
        let found = sales(args);
        assert!([Some(1), Some(2)].contains(&found.code), "{args:?}: {found:?}");
        assert!(
            found.err.contains(part) && found.err.trim_end().lines().count() == 1,
            "{args:?}: {found:?}"
        );
    }
}

/// Rows with a missing cell in any of the columns are left out of all.
#[test]
fn missing_cells_leave_out_whole_rows() {
    let folder = Folder::new();
    let path = folder.file("x.csv", "a,b,c\n1,2,\n,3,5\n4,NA,6\n7,8,9\n");
    // How many rows are left out, and the result.
    let with = |op: &str, args: &[&str]| {
        let found = run([op, &path, "--missing", "skip"].iter().chain(args));
        assert_eq!(found.code, Some(0), "{args:?}: {found:?}");
        let gone = found.err.strip_prefix(&format!("note: {path}: ")).expect("a note");
        let gone = gone.strip_suffix(
            " of 4 rows left out, as a cell is missing in one of the columns that are used\n",
        );
        (gone.expect("one line").to_string(), found.out.trim_end().to_string())
    };
    let of = |args: &[&str]| with("sum", args);
    let is = |gone: &str, out: &str| (gone.to_string(), out.to_string());
    assert_eq!(of(&["--map", "a * b"]), is("2", "58.0"));
    assert_eq!(of(&["--map", "a", "--where", "b > 0"]), is("2", "8.0"));
    assert_eq!(of(&["--map", "a", "--where", "c > 0"]), is("2", "11.0"));
    assert_eq!(of(&["--map", "a + b + c"]), is("3", "24.0"));
    assert_eq!(of(&["--column", "a", "--weights", "c"]), is("2", "87.0"));
    assert_eq!(of(&["--column", "a", "--map", "x * b"]), is("2", "58.0"));
    assert_eq!(of(&["--column", "a", "--where", "x > 1"]), is("1", "11.0"));
    // Indices count the rows of data.
    assert_eq!(with("argmax", &["--map", "abs(b)", "--where", "b < 8"]), is("1", "1"));
    assert_eq!(with("argmax", &["--map", "a", "--where", "b > 0"]), is("2", "3"));
    let several = with("stats", &["--of", "argmin(a)", "--of", "m = argmax(a)", "--of", "max(a)"]);
    assert_eq!(several, is("1", "argmin(a) 0\nm         3\nmax(a)    7.0"));
    let other = folder.file("y.csv", "1\n2\n3\n4\n");
    run(["sum", &path, "--missing", "skip", "--map", "a * y", "--with", &format!("y={other}")])
        .fails(2, &["take columns of one text"]);
}

/// Of results by keys and segments too, and of keys in a file of their own; each as one process says of the rows that are whole.
#[test]
fn missing_cells_leave_out_rows_of_results_in_parts() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "k,a,b\nu,1,2\nv,,3\nu,4,\n,5,5\nv,7,8\nu,9,1\nw,NA,6\n");
    let keys = folder.file("k.txt", "1\n2\n1\n2\n2\nNA\n1\n");
    let offsets = folder.file("o.txt", "0\n3\n7\n");
    let of = |op: &str, gone: u64, args: &[&str]| {
        let found = run([op, &path, "--missing", "skip"].iter().chain(args));
        assert_eq!(found.code, Some(0), "{args:?}: {found:?}");
        let note = format!("note: {path}: {gone} of 7 rows left out");
        // Of keys in a file of their own the same is told.
        let notes = 1 + usize::from(args.contains(&keys.as_str()));
        assert!(found.err.starts_with(&note) && found.err.lines().count() == notes, "{found:?}");
        found.out.trim_end().to_string()
    };
    // Rows 0, 4 and 5 have all of k, a and b.
    assert_eq!(of("sum", 4, &["--map", "a * b", "--by", "k"]), "u 11.0\nv 56.0");
    assert_eq!(of("sum", 4, &["--column", "a", "--where", "b > 1", "--by", "k"]), "u 1.0\nv 7.0");
    // Rows 0, 2, 4 and 5 have k and a.
    assert_eq!(of("sum", 3, &["--column", "a", "--where", "x > 1", "--by", "k"]), "u 13.0\nv 7.0");
    let flat = ["--map", "a - b", "--by", "k", "--flat"];
    assert_eq!(of("argmax", 4, &flat), "u 5\nv 4");
    // Rows 0, 3, 4 and 5 have a and b; keys of their own lack row 5.
    assert_eq!(of("sum", 3, &["--map", "a * b", "--by", &keys]), "1 2.0\n2 81.0");
    assert_eq!(of("argmax", 3, &["--map", "rounded(a * b)", "--by", &keys, "--flat"]), "1 0\n2 4");
    // Segments are of rows of data: 0 to 2 and 3 to 6.
    assert_eq!(of("sum", 3, &["--map", "a * b", "--segments", &offsets]), "0 2.0\n1 90.0");
    assert_eq!(of("argmin", 3, &["--map", "rounded(a * b)", "--segments", &offsets]), "0 0\n1 2");
    let flat = ["--map", "rounded(a * b)", "--segments", &offsets, "--flat"];
    assert_eq!(of("argmin", 3, &flat), "0 0\n1 5");
    // Within a group nothing could count them.
    run(["argmax", &path, "--missing", "skip", "--map", "a", "--by", "k"]).fails(2, &["--flat"]);
}

/// A group that a condition empties is one result that does not exist, and not the end of all others.
#[test]
fn groups_without_elements_may_be_nan_or_empty() {
    let with = |op: &str, more: &[&str]| {
        sales(&[&[op, "--map", "price", "--where", "qty > 2", "--by", "shop"], more].concat())
    };
    with("max", &[]).fails(1, &["group 2: the condition of --where kept none", "--empty"]);
    assert_eq!(with("max", &["--empty", "none"]).value(), "1 19.99\n2 -");
    assert_eq!(with("mean", &["--empty", "nan"]).value(), "1 7.529999999999999\n2 NaN");
    assert_eq!(with("minmax", &["--empty", "none"]).value(), "1 0.1 19.99\n2 - -");
    assert_eq!(with("sum", &["--empty", "none"]).value(), "1 22.59\n2 0.0");
    assert_eq!(with("argmax", &["--empty", "none"]).value(), "1 1\n2 -");
    assert_eq!(with("argmax", &["--empty", "none", "--flat"]).value(), "1 1\n2 -");
    // No integer is a NaN.
    with("argmax", &["--empty", "nan"]).fails(2, &["argmax are indices"]);
    let json = with("var", &["--ddof", "2", "--empty", "none", "--format", "json"]);
    assert!(json.value().contains("null"), "{json:?}");
    let whole = sales(&["max", "--map", "i64(price)", "--where", "qty > 2", "--every", "5"]);
    assert_eq!(whole.value(), "0 19");
    let integers = sales(&[
        "max",
        "--map",
        "i64(price)",
        "--where",
        "qty > 9",
        "--every",
        "1",
        "--empty",
        "none",
    ]);
    assert_eq!(integers.value(), "0 -\n1 -\n2 -\n3 -\n4 2");
}

#[test]
fn a_column_x_is_not_taken_for_another() {
    let folder = Folder::new();
    let text = folder.file("xy.csv", "x,y\n1,2\n3,4\n");
    for args in [
        &["sum", &*text, "--column", "y", "--where", "x > 1"][..],
        &["sum", &text, "--column", "y", "--weights", "x"],
        &["sum", &text, "--column", "y", "--map", "x"],
        &["stats", &text, "--column", "y", "--of", "sum(x)"],
    ] {
        run(args).fails(2, &["--column", "there is a column x"]);
    }
    assert_eq!(run(["sum", &text, "--column", "y", "--where", "y > 2"]).value(), "4.0");
    assert_eq!(run(["sum", &text, "--map", "y", "--where", "x > 1"]).value(), "4.0");
}
