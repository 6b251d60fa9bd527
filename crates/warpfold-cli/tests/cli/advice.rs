//! What a stranger gets wrong first, and the word that helps: delimiters, suffixes, standard input, environments, expressions.

use crate::arrays::{dictionary, npy_header};
use crate::program::{Folder, command, finish, run, run_with_stdin};

fn npy(descr: &str, elements: &[[u8; 8]]) -> Vec<u8> {
    let shape = format!("({},)", elements.len());
    let mut bytes = npy_header(1, &dictionary(descr, false, &shape), 64);
    bytes.extend(elements.concat());
    bytes
}

#[test]
fn text_with_another_delimiter_is_told_by_it() {
    let folder = Folder::new();
    let semicolons = folder.file("semi.csv", "a;b\n1;2\n3;4\n");
    let said = "if ';' separates the fields, say --delimiter ';'";
    for more in
        [&[][..], &["--column", "a"], &["--column", "2"], &["--column", "*"], &["--by", "a"]]
    {
        run([&["sum", &semicolons][..], more].concat()).fails(1, &[said]);
    }
    let overview = run([&semicolons]);
    assert!(overview.err.contains(said), "{overview:?}");
    run(["sum", &semicolons, "--column", "a", "--delimiter", ";"]).value();
    // Fractions with commas make rows of several lengths of it.
    let fractions = folder.file("fractions.csv", "a;b\n1,5;2\n3;4,5\n");
    run(["sum", &fractions]).fails(1, &["line 2 has 2 columns", said]);
    run(["sum", &fractions, "--delimiter", ";", "--column", "b"])
        .fails(1, &["\"4,5\" is no f64", "--decimal ,"]);
    let options = ["--delimiter", ";", "--decimal", ",", "--column", "b"];
    assert_eq!(run([&["sum", &fractions][..], &options].concat()).value(), "6.5");
    let bars = folder.file("bars.csv", "a|b\n1|2\n");
    run(["sum", &bars]).fails(1, &["--delimiter '|'"]);
}

#[test]
fn suffixes_that_nothing_reads_are_named() {
    let folder = Folder::new();
    for (name, word) in [
        ("x.xlsx", ".xlsx is not read; save the sheet as .csv"),
        ("x.JSON", ".json is not read"),
        ("x.h5", "write its array as .npy"),
        ("x.pkl.gz", ".pkl is not read"),
        ("x.dat", "say --input text or --input npy"),
        ("x", "none of .npy, .npz, .csv, .tsv and .txt"),
    ] {
        let path = folder.file(name, "1\n2\n");
        run(["sum", &path]).fails(2, &[word]);
    }
    let path = folder.file("x.dat", "1\n2\n");
    assert_eq!(run(["sum", &path, "--input", "text"]).value(), "3.0");
}

#[test]
fn standard_input_parts_an_array_as_text_or_as_an_array() {
    let folder = Folder::new();
    let x = folder.file("x.npy", npy("<f8", &[1.0, 2.0, 4.0].map(f64::to_le_bytes)));
    let of = |option: &str, stdin: &[u8]| run_with_stdin(&["sum", &x, option, "-"], stdin);
    let numbers = |all: &[i64]| {
        let bytes: Vec<[u8; 8]> = all.iter().map(|n| n.to_le_bytes()).collect();
        npy("<i8", &bytes)
    };
    assert_eq!(of("--segments", b"0 1 3").value(), "0 1.0\n1 6.0");
    assert_eq!(of("--segments", &numbers(&[0, 1, 3])).value(), "0 1.0\n1 6.0");
    assert_eq!(of("--lengths", b"2\n1\n").value(), "0 3.0\n1 4.0");
    assert_eq!(of("--by", b"7\n5\n7\n").value(), "5 2.0\n7 5.0");
    assert_eq!(of("--by", b"b\na\nb\n").value(), "a 2.0\nb 5.0");
    assert_eq!(of("--by", &numbers(&[7, 5, 7])).value(), "5 2.0\n7 5.0");
    of("--segments", b"").fails(1, &["offsets"]);
    run_with_stdin(&["sum", "-", "--input", "text", "--segments", "-"], b"1")
        .fails(2, &["standard input (-)", "save one of them"]);
}

#[test]
fn a_world_says_which_variable_is_wrong() {
    let world = |variables: &[(&str, &str)], more: &[&str]| {
        let mut command = command();
        for name in ["RANK", "WORLD_SIZE", "ADDRESS", "TOKEN", "TIMEOUT"] {
            command.env_remove(format!("WARPFOLD_{name}"));
        }
        for (name, value) in variables {
            command.env(format!("WARPFOLD_{name}"), value);
        }
        finish(command.args(["sum", "--random", "5"]).args(more))
    };
    let all = |rank, size, timeout| {
        let address = ("ADDRESS", "127.0.0.1:9");
        [("RANK", rank), ("WORLD_SIZE", size), ("TOKEN", "t"), ("TIMEOUT", timeout), address]
    };
    let tcp = ["--world=tcp"];
    world(&[("RANK", "")], &tcp).fails(1, &["WARPFOLD_RANK is not set", "number, from 0"]);
    world(&all("2", "2", "9"), &tcp).fails(1, &["rank 2 of 2", "numbers from 0 to 1"]);
    world(&all("0", "1", "0"), &tcp).fails(1, &["WARPFOLD_TIMEOUT is \"0\"", "seconds, from 1"]);
    world(&all("0", "1", "soon"), &tcp).fails(1, &["WARPFOLD_TIMEOUT is \"soon\""]);
    run(["sum", "x.npy", "--world", "tcp"]).fails(2, &["no file tcp", "--world=tcp"]);
}

#[test]
fn expressions_say_what_to_write() {
    let folder = Folder::new();
    let x = folder.file("x.npy", npy("<f8", &[1.0, 2.0, 4.0].map(f64::to_le_bytes)));
    let w = folder.file("w.npy", npy("<i8", &[1i64, 2, 3].map(i64::to_le_bytes)));
    let map = |text: &str| run(["sum", &x, "--map", text]);
    map("x%2").fails(2, &["`%` takes no f64", "a - b * floor(a / b)"]);
    assert_eq!(map("x - 2 * floor(x / 2)").value(), "1.0");
    map("1e400*x").fails(2, &["column 1", "beyond f64", "say inf"]);
    map("x + -1e400").fails(2, &["beyond f64"]);
    map("1e-400*x").fails(2, &["too small for f64"]);
    assert_eq!(map("inf*x").value(), "inf");
    assert_eq!(map("0e-999*x + 0.0").value(), "0.0");
    run(["mean", &x, "--weights", &w])
        .fails(2, &["is i64 and `x` is f64", "--with weights=", "--weights 'f64(weights)'"]);
    let with = format!("w={w}");
    let weighed = run(["mean", &x, "--with", &with, "--weights", "f64(w)"]);
    // (1 + 4 + 12) / 6.
    assert_eq!(weighed.value(), "2.8333333333333335");
}

#[test]
fn lengths_of_zero_are_bad_usage() {
    run(["sum", "--random", "6", "--every", "0"]).fails(2, &["--every", "one element at least"]);
    run(["sum", "--random", "6", "--every", "-1"]).fails(2, &["--every"]);
}

#[test]
fn names_of_other_libraries_are_answered_by_those_here() {
    for (name, said) in [
        ("median", "median is none, as it takes elements in their order"),
        ("percentile", "nothing like it here"),
        ("p99", "p99 is none, as it takes elements in their order"),
        ("first", "first is none, as it takes elements in their order"),
        ("nunique", "stats --by KEY has a row for each value of a column"),
        ("avg", "call avg is mean."),
        ("average", "call average is mean."),
        ("len", "stats, whose count is that of all elements"),
        ("nansum", "sum with --nan ignore"),
        ("nanmax", "max with --nan ignore"),
        ("amax", "call amax is max."),
        ("ptp", "minmax, which has both ends"),
        ("stddev", "call stddev is std, of a sample with --ddof 1."),
        ("var_samp", "var, of a sample with --ddof 1"),
        ("Total", "call total is sum."),
    ] {
        run([name, "x.npy"]).fails(2, &[said, "There are sum, mean"]);
    }
    run(["maxx", "x.npy"]).fails(2, &["did you mean \"max\"?"]);
    run(["prodd", "x.npy"]).fails(2, &["did you mean \"prod\"?"]);
}

#[test]
fn options_of_other_programs_are_answered_by_those_here() {
    for (option, said) in [
        ("--group", "there is no --group here; give --by"),
        ("--group-by", "there is no --group-by here; give --by"),
        ("--sep", "there is no --sep here; give --delimiter"),
        ("--filter", "there is no --filter here; give --where"),
        ("--cols", "there is no --cols here; give --column"),
    ] {
        run(["sum", "x.csv", option, "1"]).fails(2, &[said, "see warpfold --help"]);
    }
    // Elsewhere they are other things.
    run(["devices", "--group", "1"]).fails(2, &["unexpected argument '--group'"]);
}

#[test]
fn signs_and_functions_of_other_languages_are_answered_by_those_here() {
    for (map, said) in [
        ("ln(x)", "write `log`"),
        ("ABS(x)", "write `abs`"),
        ("log10(x)", "write `log(x) / 2.302585092994046`, which is rounded twice, or `log2`"),
        ("square(x)", "write `x ** 2`"),
        ("ceiling(x)", "write `ceil`"),
        ("coalesce(x, 0)", "select(isnan(x), 0, x)"),
        ("x <> 0", "say != for what is unequal"),
    ] {
        run(["sum", "x.npy", "--map", map]).fails(2, &[said]);
    }
}

#[test]
fn columns_are_counted_from_1_and_it_is_said() {
    let folder = Folder::new();
    let text = folder.file("t.csv", "a,b\n1,2\n");
    let said = &["\"0\"", "columns are counted from 1", "a, b"];
    run(["sum", &text, "--column", "0"]).fails(1, said);
    run(["sum", &text, "--column", "a", "--by", "0"]).fails(1, said);
    let zero = folder.file("zero.csv", "0,b\n1,2\n");
    assert_eq!(run(["sum", &zero, "--column", "0"]).value(), "1.0");
}

#[test]
fn powers_and_weights_are_told_by_what_was_meant() {
    let folder = Folder::new();
    let text = folder.file("t.csv", "shop,price\na,1\nb,2\n");
    run(["sum", &text, "--map", "price^2"]).fails(2, &["`^` takes no f64", "x ** 2"]);
    run(["sum", &text, "--map", "price & 2.5"]).fails(2, &["`and` takes no f64", "compare first"]);
    run(["mean", &text, "--column", "price", "--weights", "shop"])
        .fails(1, &["\"a\" is no f64", "--weights takes a file, a column of numbers"]);
    let x = folder.file("x.npy", npy("<f8", &[1.0, 2.0].map(f64::to_le_bytes)));
    run(["mean", &x, "--weights", "shop"]).fails(
        2,
        &["`shop` is no file and no input", "name a file of weights", "--with shop=FILE"],
    );
}

#[test]
fn packings_that_are_not_read_are_to_be_unpacked() {
    let folder = Folder::new();
    for name in ["t.csv.bz2", "x.npy.xz", "t.zip"] {
        let file = folder.file(name, "1\n");
        run(["sum", &file]).fails(2, &["is not read", "unpack it first", ".gz and .zst"]);
    }
    let orc = folder.file("t.orc", "1\n");
    run(["sum", &orc]).fails(2, &[".orc is not read", "as .csv"]);
}

#[test]
fn blanks_before_a_quote_are_none_of_a_cell() {
    let folder = Folder::new();
    let keys = folder.file("k.csv", "k,v\n \"x\",1\n\"x\",2\nx,4\n\t\" x\" , \"8\"\n");
    let sums = run(["sum", &keys, "--column", "v", "--by", "k", "--format", "csv"]);
    assert_eq!(sums.value(), "key,sum\n x,8.0\nx,7.0");
    let names = folder.file("n.csv", "\"a\", \"b, c\"\n1, \"2\"\n3,4\n");
    assert_eq!(run(["sum", &names, "--column", "b, c"]).value(), "6.0");
    let lines = folder.file("l.csv", "k,v\n \"two\nlines\",1\n\"two\nlines\",2\n");
    assert_eq!(
        run(["max", &lines, "--column", "v", "--by", "k", "--format", "csv"]).out.lines().count(),
        3
    );
    let after = folder.file("after.csv", "k,v\n \"a\" b,1\n");
    run(["sum", &after, "--column", "v", "--by", "k"])
        .fails(1, &["line 2: text follows a closing quote"]);
    // A tab before a quote is a cell where tabs separate.
    let tabs = folder.file("t.tsv", "a\tb\tc\n1\t\"2\"\t \"3\"\n");
    assert_eq!(run(["sum", &tabs, "--column", "c"]).value(), "3.0");
}

#[test]
fn columns_by_number_have_one_name_in_all_texts() {
    let folder = Folder::new();
    let a = folder.file("a.csv", "a,b\n1,2\n");
    let b = folder.file("b.csv", "b,a\n10,20\n");
    let bare = folder.file("bare.csv", "5,6\n");
    let said = ["b.csv", "column 1 is \"b\", and \"a\" in ", "a.csv", "by its name"];
    run(["sum", &a, &b, "--column", "1"]).fails(1, &said);
    run(["sum", &a, &b, "--column", "a", "--by", "1"]).fails(1, &said);
    run(["sum", &a, &bare, &b, "--column", "1"]).fails(1, &said);
    assert_eq!(run(["sum", &a, &b, "--column", "a"]).value(), "21.0");
    assert_eq!(run(["sum", &a, &a, "--column", "2"]).value(), "4.0");
    assert_eq!(run(["sum", &a, &bare, "--column", "2"]).value(), "8.0");
    // The arrays of a product are two columns.
    assert_eq!(run(["dot", &a, &b, "--column", "1"]).value(), "10.0");
}

#[test]
fn all_columns_where_some_have_no_numbers() {
    let folder = Folder::new();
    let gaps = folder.file("gaps.csv", "a,b\n1,\n2,NA\n");
    let whole = folder.file("whole.csv", "a,b\n1,5\n");
    let words = folder.file("words.csv", "a,b\n4,x\n");
    let of = |files: &[&str], more: &[&str]| {
        run([&["sum"], files, &["--column", "*", "--missing", "skip"], more].concat())
    };
    for by in [&[][..], &["--by", "a"]] {
        for files in [[&*whole, &words], [&words, &whole]] {
            of(&files, by).fails(1, &["column b holds numbers in one input and none in another"]);
        }
    }
    assert_eq!(of(&[&gaps, &whole], &[]).out, "a 4.0\nb 5.0\n");
    assert_eq!(of(&[&gaps, &whole], &["--by", "a"]).out, "a    b\n1  5.0\n");
    // Gaps beside words are no numbers either.
    for files in [[&*gaps, &words], [&words, &gaps]] {
        let found = of(&files, &[]);
        assert_eq!((found.code, &*found.out), (Some(0), "a 7.0\n"), "{found:?}");
        assert!(found.err.contains("left out: column b"), "{found:?}");
    }
    let none = ["no column of the text but keys holds numbers"];
    of(&[&whole], &["--by", "a", "--by", "b"]).fails(1, &none);
}

#[test]
fn the_cause_is_said_before_what_follows_from_it() {
    let folder = Folder::new();
    let a = folder.file("a.csv", "a,b\n1,2\n");
    let zip = folder.file("x.zip", "PK");
    let none = folder.at("none.csv").display().to_string();
    let gone = folder.at("gone.f64").display().to_string();
    let inner = folder.at("inner").display().to_string();
    std::fs::create_dir(&inner).unwrap();
    for inputs in [&[&*a, &zip][..], &[&zip], &[&zip, &a]] {
        run([&["sum"], inputs, &["--column", "a"]].concat())
            .fails(2, &["x.zip: .zip is not read; unpack it"]);
    }
    for (path, said) in
        [(&none, "no such file"), (&gone, "no such file"), (&inner, "is a directory")]
    {
        for inputs in [&[&*a, path][..], &[path]] {
            run([&["sum"], inputs, &["--column", "a"]].concat()).fails(1, &[path, said]);
        }
    }
    let raw = folder.file("x.f64", [0; 8]);
    run(["sum", &a, &raw, "--column", "a", "--dtype", "f64"])
        .fails(2, &["x.f64", "reduce them apart"]);
}

#[test]
fn several_columns_and_names_in_brackets() {
    let folder = Folder::new();
    let a = folder.file("a.csv", "a,w.csv,\"a,b\"\n1,2,3\n5,2,7\n");
    run(["sum", &a, "--column", "a,w.csv"])
        .fails(1, &["say --column a --column w.csv", "the first line has"]);
    assert_eq!(run(["sum", &a, "--column", "a,b"]).value(), "10.0");
    assert_eq!(run(["sum", &a, "--column", "(\"a,b\")"]).value(), "10.0");
    let by = run([
        "sum",
        &a,
        "--column",
        "a",
        "--column",
        "a,b",
        "--by",
        "(\"w.csv\")",
        "--format",
        "csv",
    ]);
    assert_eq!(by.value(), "w.csv,a,\"a,b\"\n2,6.0,10.0");
    run(["argmax", &a, "--column", "a", "--by", "w.csv", "--empty", "nan"])
        .fails(2, &["are indices", "--empty none"]);
}
