//! `--by`: groups of equal keys, from files and columns, to archives, CSV and JSON.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};

use super::{TRUE, floats, i32s, integers, npy, parted, sample, truth};
use crate::program::{Folder, run};

/// Keys of seven values, without order.
fn keys(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| (i * i + 5 * i) % 11 * 1000 - 3000).collect()
}

fn grouped(keys: &[i32], x: &[i32]) -> BTreeMap<i32, Vec<i32>> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for (key, x) in keys.iter().zip(x) {
        groups.entry(*key).or_default().push(*x);
    }
    groups
}

/// The arrays of an archive by name.
fn archive(bytes: Vec<u8>) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    let mut arrays = BTreeMap::new();
    for k in 0..archive.len() {
        let mut file = archive.by_index(k).expect("a file in it");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("stored");
        arrays.insert(file.name().expect("a plain name").to_string(), bytes);
    }
    arrays
}

#[test]
fn every_reduction_of_each_group() {
    let folder = Folder::new();
    let (k, x) = (keys(300), sample(300));
    let by = folder.file("k.npy", integers(&k));
    let path = folder.file("x.npy", integers(&x));
    for op in TRUE {
        let expected: Vec<_> = grouped(&k, &x)
            .iter()
            .map(|(key, input)| format!("{key} {}", truth(op, input)))
            .collect();
        let found = run([op, &path, "--by", &by]);
        assert_eq!(found.value().lines().collect::<Vec<_>>(), expected, "{op}");
    }
}

#[test]
fn keys_of_every_integer_type_and_as_text() {
    let folder = Folder::new();
    let x = folder.file("x.npy", integers(&[10, 20, 30, 40]));
    let keys = [2u8, 0, 2, 1];
    let wide = |size: usize| {
        let widened = |key: &u8| (0..size).map(|at| if at == 0 { *key } else { 0 }).collect();
        keys.iter().flat_map(|key| -> Vec<u8> { widened(key) }).collect::<Vec<_>>()
    };
    let types = [
        ("|i1", 1),
        ("|u1", 1),
        ("<i2", 2),
        ("<u2", 2),
        ("<i4", 4),
        ("<u4", 4),
        ("<i8", 8),
        ("<u8", 8),
    ];
    let mut files = vec![folder.file("k.txt", "2\n0\n2\n1\n")];
    for (descr, size) in types {
        let name = format!("k{}.npy", files.len());
        files.push(folder.file(&name, npy(descr, false, "(4,)", &wide(size))));
    }
    for file in &files {
        assert_eq!(run(["sum", &x, "--by", file]).value(), "0 20\n1 40\n2 40", "{file}");
        let dense = run(["sum", &x, "--by", file, "--groups", "5"]);
        assert_eq!(dense.value(), "0 20\n1 40\n2 40\n3 0\n4 0", "{file}");
        let runs = run(["sum", &x, "--by", file, "--sorted"]);
        assert_eq!(runs.value(), "2 10\n0 20\n2 30\n1 40", "{file}");
    }
    let bools = folder.file("b.npy", npy("|b1", false, "(4,)", &[1, 0, 1, 1]));
    assert_eq!(run(["sum", &x, "--by", &bools]).value(), "false 20\ntrue 80");
}

#[test]
fn archives_csv_and_json_say_the_same() {
    let folder = Folder::new();
    let (k, x) = (keys(300), sample(300));
    let by = folder.file("k.npy", integers(&k));
    let path = folder.file("x.npy", integers(&x));
    let write = |name: &str| {
        let out = folder.at(name);
        run(["minmax", &path, "--by", &by, "--out", out.to_str().expect("UTF-8")]).value();
        fs::read(out).expect("written")
    };
    let groups = grouped(&k, &x);
    let bounds: Vec<_> = groups
        .iter()
        .map(|(key, x)| (*key, *x.iter().min().unwrap(), *x.iter().max().unwrap()))
        .collect();

    let arrays = archive(write("g.npz"));
    let column = |name: &str, expected: Vec<i32>| {
        let (header, elements) = parted(&arrays[name]);
        assert!(header.contains("'<i4'") && header.contains(&format!("({},)", groups.len())));
        assert_eq!(elements, i32s(expected), "{name}");
    };
    assert_eq!(arrays.len(), 3);
    column("key.npy", bounds.iter().map(|row| row.0).collect());
    column("min.npy", bounds.iter().map(|row| row.1).collect());
    column("max.npy", bounds.iter().map(|row| row.2).collect());

    let rows: Vec<_> = bounds.iter().map(|(k, min, max)| format!("{k},{min},{max}\n")).collect();
    assert_eq!(
        String::from_utf8(write("g.csv")).unwrap(),
        format!("key,min,max\n{}", rows.concat())
    );

    let json: serde_json::Value = serde_json::from_slice(&write("g.json")).expect("JSON");
    assert_eq!(json["shape"], serde_json::json!([groups.len()]));
    assert_eq!(json["n"], 300);
    let (keys, most): (Vec<_>, Vec<_>) = bounds.iter().map(|row| (row.0, row.2)).unzip();
    assert_eq!((&json["key"], &json["max"]), (&keys.into(), &most.into()));
    assert_eq!(json["result_dtype"]["min"], "i32");
}

/// Sums that lose everything where they are rounded on the way are the same bytes in any order of the elements.
#[test]
fn order_does_not_matter() {
    let folder = Folder::new();
    let hard = [1e30f32, 3.0, -1e30, 1e-20, 7e18, -7e18, 0.1, 1e38, -1e38, 2.0];
    let x: Vec<f32> = (0..500).map(|i| hard[i % 10] * if i < 10 { 1.0 } else { 0.5 }).collect();
    let k = keys(500);
    let sum = |name: &str, order: &[usize]| {
        let by = folder.file("k.npy", integers(&order.iter().map(|at| k[*at]).collect::<Vec<_>>()));
        let path = folder.file("x.npy", floats(&order.iter().map(|at| x[*at]).collect::<Vec<_>>()));
        let out = folder.at(name);
        run(["sum", &path, "--by", &by, "--out", out.to_str().expect("UTF-8")]).value();
        fs::read(out).expect("written")
    };
    let forwards: Vec<usize> = (0..500).collect();
    let strided: Vec<usize> = (0..500).map(|at| at * 77 % 500).collect();
    assert_eq!(sum("a.npz", &forwards), sum("b.npz", &strided));
}

/// Elements are counted as NumPy counts them, whatever their order in the file.
#[test]
fn fortran_order_of_either_file() {
    let folder = Folder::new();
    // [[1, 2, 3], [4, 5, 6]] and keys [[0, 0, 1], [1, 0, 1]].
    let c = folder.file("c.npy", npy("<i4", false, "(2, 3)", &i32s([1, 2, 3, 4, 5, 6])));
    let f = folder.file("f.npy", npy("<i4", true, "(2, 3)", &i32s([1, 4, 2, 5, 3, 6])));
    let by = folder.file("k.npy", npy("<i4", false, "(2, 3)", &i32s([0, 0, 1, 1, 0, 1])));
    let by_columns = folder.file("j.npy", npy("<i4", true, "(2, 3)", &i32s([0, 1, 0, 0, 1, 1])));
    for x in [&c, &f] {
        for keys in [&by, &by_columns] {
            assert_eq!(run(["sum", x, "--by", keys]).value(), "0 8\n1 13", "{x} {keys}");
        }
        assert_eq!(run(["sum", x, "--every", "3"]).value(), "0 6\n1 15", "{x}");
    }
}

#[test]
fn columns_of_text() {
    let folder = Folder::new();
    let csv = "shop,price,city\n3,1.5,10\n-1,2,20\n3,0.25,10\n";
    let path = folder.file("t.csv", csv);
    let price = |options: &[&str]| {
        let args = ["sum", &path, "--column", "price"];
        run(args.iter().chain(options)).value().to_string()
    };
    assert_eq!(price(&["--by", "shop"]), "-1 2.0\n3 1.75");
    assert_eq!(price(&["--by", "3"]), "10 1.75\n20 2.0");
    let out = folder.at("g.csv");
    price(&["--by", "shop", "--out", out.to_str().expect("UTF-8")]);
    assert_eq!(fs::read_to_string(out).expect("written"), "key,sum\n-1,2.0\n3,1.75\n");
    run(["sum", &path, "--column", "price", "--by", "shpo"]).fails(1, &["\"shpo\"", "shop, price"]);
    run(["sum", &path, "--column", "shop", "--by", "price"]).fails(1, &["t.csv", "1.5"]);
}

/// Several keys: of files, of columns, of both; against a map.
#[test]
fn several_keys() {
    let folder = Folder::new();
    let n = 300;
    let (a, b) = (keys(n), (0..n).map(|i| (i * 7 % 5) as u8).collect::<Vec<_>>());
    let x = sample(n);
    let path = folder.file("x.npy", integers(&x));
    let by_a = folder.file("shop.npy", integers(&a));
    let by_b = folder.file("day-1.npy", npy("|u1", false, &format!("({n},)"), &b));
    let mut sums: BTreeMap<(i32, u8), i64> = BTreeMap::new();
    let mut least: BTreeMap<(i32, u8), (i32, usize)> = BTreeMap::new();
    for i in 0..n {
        *sums.entry((a[i], b[i])).or_default() += i64::from(x[i]);
        let seen = least.entry((a[i], b[i])).or_insert((x[i], i));
        *seen = (*seen).min((x[i], i));
    }
    let lines = |between: &str| -> Vec<String> {
        sums.iter().map(|((a, b), sum)| format!("{a}{between}{b}{between}{sum}")).collect()
    };
    let both = ["--by", &by_a, "--by", &by_b];
    let of = |args: &[&str]| run(args.iter().chain(&both));
    assert_eq!(of(&["sum", &path]).value().lines().collect::<Vec<_>>(), lines(" "));
    let places: Vec<String> =
        least.iter().map(|((a, b), (_, at))| format!("{a} {b} {at}")).collect();
    assert_eq!(of(&["argmin", &path, "--flat"]).value().lines().collect::<Vec<_>>(), places);
    // The names of the files are those of the columns.
    let csv = of(&["sum", &path, "--format", "csv"]);
    let found: Vec<&str> = csv.value().lines().collect();
    assert_eq!(found[0], "shop,day-1,sum");
    assert_eq!(found[1..], lines(","));
    let json = of(&["sum", &path, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(json.value()).expect("JSON");
    let firsts: Vec<i32> = sums.keys().map(|key| key.0).collect();
    assert_eq!(json["keys"]["shop"], serde_json::json!(firsts));
    // Each key keeps its type.
    let out = folder.at("g.npz");
    of(&["sum", &path, "--out", out.to_str().expect("UTF-8")]).value();
    let arrays = archive(fs::read(&out).expect("written"));
    assert_eq!(arrays.keys().collect::<Vec<_>>(), ["day-1.npy", "shop.npy", "sum.npy"]);
    let seconds: Vec<u8> = sums.keys().map(|key| key.1).collect();
    assert_eq!(parted(&arrays["shop.npy"]).1, i32s(firsts.iter().copied()));
    assert!(
        parted(&arrays["day-1.npy"]).0.contains("|u1") && parted(&arrays["day-1.npy"]).1 == seconds
    );
    // Runs of equal combinations: those of the first key, cut by the second.
    let (y, k, l) = ([1, 2, 4, 8, 16], [5, 5, 5, 3, 5], [0, 0, 1, 1, 0]);
    let [y, k, l] = [("y", y), ("k", k), ("l", l)]
        .map(|(name, x)| folder.file(&format!("{name}.npy"), integers(&x)));
    let runs = run(["sum", &y, "--by", &k, "--by", &l, "--sorted"]);
    assert_eq!(runs.value(), "5 0 3\n5 1 4\n3 1 8\n5 0 16");
    // Columns of a text, and one beside a file.
    let text: String = (0..n).map(|i| format!("{},{},{}\n", x[i], a[i], b[i])).collect();
    let csv = folder.file("t.csv", format!("x,shop,day\n{text}"));
    for by in [["shop", "day"], ["shop", "3"], ["2", "day"], [&by_a, "day"], ["shop", &by_b]] {
        let found =
            run(["sum", &csv, "--column", "x", "--dtype", "i64", "--by", by[0], "--by", by[1]]);
        assert_eq!(found.value().lines().collect::<Vec<_>>(), lines(" "), "{by:?}");
    }
    let map =
        run(["sum", &csv, "--map", "2 * x", "--by", "day", "--by", "shop", "--format", "csv"]);
    let doubled = |((a, b), sum): (&(i32, u8), &i64)| ((*b, *a), 2 * sum);
    let doubled: BTreeMap<(u8, i32), i64> = sums.iter().map(doubled).collect();
    let expected: Vec<String> =
        doubled.iter().map(|((b, a), sum)| format!("{b},{a},{sum}.0")).collect();
    assert_eq!(map.value().lines().skip(1).collect::<Vec<_>>(), expected);
    // A missing cell of any of the columns leaves out the row.
    let gaps = folder.file("gaps.csv", "x,k,l\n1,1,1\n2,,1\n4,1,\n,1,1\n16,1,1\n32,2,1\n");
    let skipped =
        run(["sum", &gaps, "--column", "x", "--by", "k", "--by", "l", "--missing", "skip"]);
    assert_eq!(skipped.kept(), "1 1 17.0\n2 1 32.0");
    let at = run([
        "argmax",
        &gaps,
        "--column",
        "x",
        "--by",
        "k",
        "--by",
        "l",
        "--missing",
        "skip",
        "--flat",
    ]);
    assert_eq!(at.kept(), "1 1 4\n2 1 5");
    // Files of keys with gaps of their own.
    let (p, q) = (folder.file("p.txt", "1\nNA\n1\n2\n"), folder.file("q.txt", "7\n7\nNA\n8\n"));
    let v = folder.file("v.txt", "1\n2\n4\n8\n");
    let skipped = run(["sum", &v, "--by", &p, "--by", &q, "--missing", "skip"]);
    assert_eq!(skipped.kept(), "1 7 1.0\n2 8 8.0");
    // What cannot be is said, by the keys.
    let big =
        folder.file("big.npy", npy("<i8", false, "(2,)", &[i64::MAX.to_le_bytes(); 2].concat()));
    let ones = folder.file("ones.npy", integers(&[4, 4]));
    run(["sum", &big, "--by", &ones, "--by", &ones]).fails(1, &["group 4, 4"]);
    run(["sum", &path, "--by", &by_a, "--by", &ones])
        .fails(1, &["300", "2", "cut the longer ones"]);
    of(&["sum", &path, "--groups", "3"]).fails(2, &["--groups", "combinations"]);
    run(["sum", &gaps, "--column", "x", "--by", "k", "--by", &ones, "--missing", "skip"])
        .fails(2, &["--missing skip", "into one text"]);
    let empty = folder.file("e.npy", integers(&[]));
    assert_eq!(
        run(["sum", &empty, "--by", &empty, "--by", &empty, "--format", "csv"]).value(),
        "e,e_key,sum"
    );
}

#[test]
fn stats_of_each_group() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1.0, 5.0, 3.0, 7.0]));
    let by = folder.file("k.npy", integers(&[9, 4, 9, 4]));
    let found = run(["stats", &x, "--by", &by, "--format", "csv"]);
    let lines: Vec<_> = found.value().lines().collect();
    assert_eq!(lines[0], "key,count,nan_count,sum,mean,var,std,min,max,argmin,argmax,l1,l2");
    assert!(
        lines[1].starts_with("4,2,0,12.0,6.0,1.0,1.0,5.0,7.0,0,1,12.0,8.602325"),
        "{}",
        lines[1]
    );
    let flat = run(["stats", &x, "--by", &by, "--format", "csv", "--flat"]);
    assert!(flat.value().contains("\n9,2,0,4.0,2.0,1.0,1.0,1.0,3.0,0,2,"), "{}", flat.out);
}

#[test]
fn nothing_has_no_groups() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[]));
    let by = folder.file("k.npy", integers(&[]));
    let out = folder.at("g.npz");
    let found = run(["sum", &x, "--by", &by, "--out", out.to_str().expect("UTF-8")]);
    assert_eq!(found.value(), format!("sum of f32: 0 results in {}", out.display()));
    let arrays = archive(fs::read(out).expect("written"));
    assert!(arrays.values().all(|bytes| parted(bytes).1.is_empty()));
    assert_eq!(run(["sum", &x, "--by", &by, "--groups", "2"]).value(), "0 0.0\n1 0.0");
}

/// One group without a result does not void the others, where that is asked for.
#[test]
fn results_that_do_not_exist_leave_their_cells_empty() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[2.0, 4.0, 5.0]));
    let by = folder.file("k.npy", integers(&[1, 1, 3]));
    let var = ["var", &x, "--by", &by, "--ddof", "1"];
    let with = |more: &[&str]| run([&var[..], more].concat());
    let refused = with(&[]);
    assert!(refused.err.contains("group 3: var with ddof = 1"), "{}", refused.err);
    assert_eq!(with(&["--empty", "none"]).value(), "1 2.0\n3 -");
    assert_eq!(with(&["--empty", "none", "--format", "csv"]).value(), "key,var\n1,2.0\n3,");
    let json = with(&["--empty", "none", "--format", "json"]);
    assert!(json.value().contains("2.0") && json.value().contains("null"), "{}", json.out);
    assert_eq!(with(&["--empty", "nan"]).value(), "1 2.0\n3 NaN");
    let groups = ["--groups", "4", "--empty", "none"];
    let least = run([&["argmin", &x, "--by", &by][..], &groups].concat());
    assert_eq!(least.value(), "0 -\n1 0\n2 -\n3 0");
    // An index is no NaN.
    let least =
        run([&["argmin", &x, "--by", &by, "--groups", "4"][..], &["--empty", "nan"]].concat());
    least.fails(2, &["--empty nan", "argmin are indices"]);
    let device = with(&["--empty", "none", "--device", "simt"]);
    assert!(device.err.contains("--empty is for reductions on the processor"), "{}", device.err);
}

#[test]
fn blanks_within_quotes_belong_to_a_key() {
    let folder = Folder::new();
    let text = "k,d,v\n\" a \",1,1\na,1,2\n a ,2,4\n\"a\" ,1,8\n\"a\"\"\nb\",1,16\n";
    let path = folder.file("t.csv", text);
    let of = |by: &[&str]| {
        let args = ["sum", &path, "--column", "v", "--format", "json"];
        let found = run([&args[..], by].concat());
        serde_json::from_str::<serde_json::Value>(found.value()).expect("JSON")
    };
    let one = of(&["--by", "k"]);
    assert_eq!(one["key"], serde_json::json!([" a ", "a", "a\"\nb"]));
    assert_eq!(one["sum"], serde_json::json!([1.0, 14.0, 16.0]));
    let two = of(&["--by", "k", "--by", "d"]);
    assert_eq!(two["keys"]["k"], serde_json::json!([" a ", "a", "a", "a\"\nb"]));
    assert_eq!(two["sum"], serde_json::json!([1.0, 10.0, 4.0, 16.0]));
    // Numbers, and what stands for none, are the same with blanks around them.
    let numbers = folder.file("n.csv", "k,v\n\" 7 \",\" 1 \"\n7,2\n");
    assert_eq!(run(["sum", &numbers, "--column", "v", "--by", "k"]).value(), "7 3.0");
    let missing = folder.file("m.csv", "k,v\n\" \",1\nx,2\n");
    let skipped = run(["sum", &missing, "--column", "v", "--by", "k", "--missing", "skip"]);
    assert_eq!(skipped.kept(), "x 2.0");
}
