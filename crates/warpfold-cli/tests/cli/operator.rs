//! Operators of one's own as TOML files: whole inputs, parts, worlds of one process, and what is refused.

use crate::batched::npy;
use crate::program::{Folder, run};

const MOMENTS: &str = r#"
# Welford's moments, merged.
state = "n: f64, mean: f64, m2: f64"
lift = "1, x, 0"
merge = """
    a.n + b.n,
    a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
    a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))"""
finish = "mean, m2 / n"
"#;

/// What stands beside the largest price, and where.
const MOST: &str = r#"
state = "most: f64, at: u64, beside: f64"
lift = "price, index, qty"
merge = "max(a.most, b.most), select(b.most > a.most, b.at, a.at), select(b.most > a.most, b.beside, a.beside)"
identity = "-inf, 0, 0"
"#;

fn bytes(x: &[f64]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_le_bytes()).collect()
}

const SALES: &str = "price,qty,shop\n0.5,3,1\n20,4,1\n5,1,2\n2.5,10,1\n7,6,2\n";

#[test]
fn whole_inputs() {
    let folder = Folder::new();
    let (moments, most) = (folder.file("moments.toml", MOMENTS), folder.file("most.toml", MOST));
    let x = folder.file("x.txt", "1\n2\n6");
    let found = run(["stats", &x, "--operator", &moments]);
    assert_eq!(found.value(), "mean   3.0\nm2 / n 4.666666666666667");
    let found = run(["stats", &x, "--operator", &moments, "--format", "json"]);
    assert!(found.value().contains("\"m2 / n\":4.666666666666667"), "{}", found.value());
    let sales = folder.file("sales.csv", SALES);
    let found = run(["stats", &sales, "--operator", &most]);
    assert_eq!(found.value(), "most   20.0\nat     1\nbeside 4.0");
    let found = run(["stats", &sales, "--operator", &moments, "--column", "qty"]);
    assert!(found.value().starts_with("mean   4.8\n"), "{}", found.value());
    let qty =
        folder.file("q.npy", npy("<f8", false, "(5,)", &bytes(&[3.0f64, 4.0, 1.0, 10.0, 6.0])));
    let price =
        folder.file("p.npy", npy("<f8", false, "(5,)", &bytes(&[0.5f64, 20.0, 5.0, 2.5, 7.0])));
    let with = format!("qty={qty}");
    let beside = MOST.replace("price", "x");
    let beside = folder.file("beside.toml", beside);
    let found = run(["stats", &price, "--operator", &beside, "--with", &with]);
    assert_eq!(found.value(), "most   20.0\nat     1\nbeside 4.0");
}

#[test]
fn parts() {
    let folder = Folder::new();
    let (moments, most) = (folder.file("moments.toml", MOMENTS), folder.file("most.toml", MOST));
    let sales = folder.file("sales.csv", SALES);
    let found = run(["stats", &sales, "--operator", &most, "--by", "shop", "--format", "csv"]);
    assert_eq!(found.value(), "key,most,at,beside\n1,20.0,1,4.0\n2,7.0,1,6.0");
    let found = run(["stats", &sales, "--operator", &most, "--every", "5", "--format", "csv"]);
    assert_eq!(found.value(), "segment,most,at,beside\n0,20.0,1,4.0");
    let offsets = folder.file("offsets.txt", "0\n2\n2\n5");
    let found =
        run(["stats", &sales, "--operator", &most, "--segments", &offsets, "--format", "csv"]);
    assert_eq!(found.value(), "segment,most,at,beside\n0,20.0,1,4.0\n1,-inf,0,0.0\n2,7.0,2,6.0");
    let x = folder
        .file("x.npy", npy("<f8", false, "(2, 3)", &bytes(&[1.0f64, 2.0, 6.0, 5.0, 5.0, 8.0])));
    let found = run(["stats", &x, "--operator", &moments, "--axis", "1", "--format", "csv"]);
    assert_eq!(found.value(), "index0,mean,m2 / n\n0,3.0,4.666666666666667\n1,6.0,2.0");
    let found = run(["stats", &x, "--operator", &moments, "--axis", "0", "--format", "csv"]);
    assert_eq!(found.value(), "index0,mean,m2 / n\n0,3.0,4.0\n1,3.5,2.25\n2,7.0,1.0");
    run(["stats", &sales, "--column", "price", "--operator", &moments, "--segments", &offsets])
        .fails(1, &["segment 1", "there are no elements, and it has no identity"]);
}

#[test]
fn a_device_folds_whole_inputs_to_the_same_bits() {
    let folder = Folder::new();
    let (moments, most) = (folder.file("m.toml", MOMENTS), folder.file("most.toml", MOST));
    let x: Vec<f64> = (0..3000).map(|k| f64::from(k % 37) * 0.1).collect();
    let x = folder.file("x.npy", npy("<f8", false, "(3000,)", &bytes(&x)));
    let sales = folder.file("sales.csv", SALES);
    for asked in [["stats", &x, "--operator", &moments], ["stats", &sales, "--operator", &most]] {
        let on = |device| run([&asked[..], &["--device", device]].concat()).value().to_owned();
        assert_eq!(on("simt"), on("cpu"));
    }
}

#[test]
fn what_is_refused() {
    let folder = Folder::new();
    let moments = folder.file("moments.toml", MOMENTS);
    let x = folder.file("x.txt", "1\n2\n6\n");
    let with = |more: &[&str]| run([&["stats", &x, "--operator", &moments][..], more].concat());
    run(["sum", &x, "--operator", &moments]).fails(2, &["say warpfold stats --operator"]);
    with(&["--nan", "ignore"]).fails(2, &["an operator's texts say", "leave out --as"]);
    with(&["--ddof", "1"]).fails(2, &["leave out --as, --ddof"]);
    with(&["--device", "simt", "--every", "1"]).fails(2, &["folds parts on the processor alone"]);
    with(&["--every", "1", "--empty", "nan"]).fails(2, &["an operator's identity"]);
    with(&["--map", "x + 1"]).fails(2, &["cannot be used with"]);
    let of = |text: &str| {
        let file = folder.file("other.toml", text);
        run(["stats", &x, "--operator", &file])
    };
    of("state = 3").fails(2, &["other.toml: ", "state, lift and merge are texts"]);
    of("state = \"s: f64\"\nlift = \"x\"\nmerge = \"a.s +\"")
        .fails(2, &["other.toml: ", "merge, column"]);
    of("state = \"s: f64\"\nlift = \"y\"\nmerge = \"a.s + b.s\"").fails(1, &["y"]);
    of("state = \"s: f64\"\nlift = \"x\"\nmerge = \"(a.s + b.s) / 2\"")
        .fails(2, &["said to be associative, and is not"]);
    of("state = \"s: i64\"\nlift = \"x\"\nmerge = \"a.s + b.s\"").fails(2, &["lift", "say i64(…)"]);
    let again = MOMENTS.replace("mean, m2 / n", "mean, mean");
    of(&again).fails(2, &["two results are called `mean`"]);
    run(["stats", &x, "--operator", "/dev/zero"]).fails(2, &["no plain file"]);
    let gaps = folder.file("gaps.csv", "price,qty,shop\n1,2,3\n,4,3\n5,6,3\n");
    let most = folder.file("most.toml", MOST);
    let skip = ["--missing", "skip", "--by", "shop", "--format", "csv"];
    let of = |operator: &str| run([&["stats", &gaps, "--operator", operator][..], &skip].concat());
    of(&most).fails(2, &["an operator's index would not count them"]);
    let sums = "state = \"s: f64\"\nlift = \"price * qty\"\nmerge = \"a.s + b.s\"";
    assert_eq!(of(&folder.file("sums.toml", sums)).kept(), "key,s\n3,32.0");
    run(["stats", &x, "--operator", "nowhere.toml"]).fails(2, &["--operator nowhere.toml: "]);
}
