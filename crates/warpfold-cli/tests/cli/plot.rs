//! `--plot`: what is drawn, and what is not.

use crate::program::{Folder, run};

fn sales(folder: &Folder) -> String {
    let rows: String = (0..200).map(|k| format!("{},{}\n", k % 4, (k % 4) * 10)).collect();
    folder.file("sales.csv", format!("shop,price\n{rows}"))
}

#[test]
fn groups_are_bars_in_the_terminal() {
    let folder = Folder::new();
    let sales = sales(&folder);
    let drawn = run(["mean", &sales, "--column", "price", "--by", "shop", "--plot"]);
    let lines: Vec<&str> = drawn.kept().lines().collect();
    assert_eq!(lines[0], "mean of f64 by key");
    assert_eq!(lines.len(), 5);
    let blocks: Vec<usize> = lines[1..].iter().map(|line| line.matches('█').count()).collect();
    assert!(blocks[0] == 0 && (3 * blocks[1]..3 * blocks[1] + 3).contains(&blocks[3]), "{lines:?}");
    assert!(lines[4].starts_with("3 █") && lines[4].ends_with("█ 30"), "{lines:?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:?}");
}

#[test]
fn many_results_along_an_axis_are_a_line() {
    let folder = Folder::new();
    let numbers: String = (0..20_000).map(|k| format!("{}\n", k / 100)).collect();
    let path = folder.file("x.txt", numbers);
    let drawn = run(["max", &path, "--every", "100", "--plot"]);
    let lines: Vec<&str> = drawn.kept().lines().collect();
    assert_eq!(lines[0], "max of f64 by segment");
    assert!(
        lines[1].trim_start().starts_with("199 ┤") && lines[14].trim_start().starts_with("0 ┤"),
        "{lines:?}"
    );
    assert!(lines[16].contains("segment") && lines[16].ends_with("199"), "{lines:?}");
}

#[test]
fn pictures_stand_alone_on_light_and_dark_paper_beside_the_results() {
    let folder = Folder::new();
    let sales = sales(&folder);
    let svg = folder.at("m.svg");
    let option = format!("--plot={}", svg.display());
    let drawn = run(["mean", &sales, "--column", "price", "--by", "shop", &option]);
    assert_eq!(drawn.value(), "0 0.0\n1 10.0\n2 20.0\n3 30.0");
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("prefers-color-scheme: dark"));
    assert!(picture.contains("mean of f64 by key") && picture.matches("<rect").count() >= 5);
    let json =
        run(["mean", &sales, "--column", "price", "--by", "shop", "--format", "json", &option]);
    assert!(json.value().starts_with('{'));
}

/// Where the bars of a picture end on the right, in the order of its rows.
fn ends(picture: &str) -> Vec<f64> {
    let number = |bar: &str, name: &str| -> Option<f64> {
        bar.split_once(&format!(" {name}=\""))?.1.split('"').next()?.parse().ok()
    };
    let bars = picture.split("<rect").skip(2);
    bars.filter_map(|bar| Some(number(bar, "x")? + number(bar, "width")?)).collect()
}

#[test]
fn the_greatest_numbers_are_drawn_and_those_without_length_named() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "k,x\na,1e308\nb,5e307\nc,nan\nd,inf\n");
    let svg = folder.at("m.svg");
    let option = format!("--plot={}", svg.display());
    run(["sum", &path, "--column", "x", "--by", "k", &option]).value();
    let picture = std::fs::read_to_string(&svg).unwrap();
    let ends = ends(&picture);
    assert!(ends.len() == 2 && ends[0] > ends[1] + 100.0, "{ends:?} {picture}");
    for word in ["NaN", "inf"] {
        assert!(picture.lines().any(|line| line.trim() == word), "{word} {picture}");
    }
}

#[test]
fn several_columns_are_drawn_one_by_one() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "shop,price,qty\nn,4,1\ns,2,8\nn,4,\n");
    let args = ["sum", &path, "--column", "price", "--column", "qty", "--missing", "skip"];
    let with = |more: &[&str]| run(args.iter().chain(more));
    let drawn = with(&["--by", "shop", "--plot"]);
    let lines: Vec<&str> = drawn.kept().lines().collect();
    assert_eq!((lines[0], lines[3], lines[4]), ("sum of price by shop", "", "sum of qty by shop"));
    assert!(lines[1].starts_with("n █") && lines[1].ends_with(" 8"), "{lines:?}");
    assert!(lines[6].starts_with("s █") && lines[6].ends_with(" 8"), "{lines:?}");
    // Without keys each column is a bar.
    let drawn = with(&["--plot"]);
    let lines: Vec<&str> = drawn.kept().lines().collect();
    assert_eq!((lines[0], lines.len()), ("sum of f64 by column", 3));
    assert!(lines[1].starts_with("price █") && lines[1].ends_with(" 10"), "{lines:?}");
    let svg = folder.at("m.svg");
    let option = format!("--plot={}", svg.display());
    let both = with(&["--by", "shop", &option]);
    assert_eq!(both.kept(), "shop  price  qty\nn       8.0  1.0\ns       2.0  8.0");
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.contains("sum of price by shop") && picture.contains("sum of qty by shop"));
    let pair =
        run(["minmax", &path, "--column", "*", "--by", "shop", "--missing", "skip", "--plot"]);
    assert_eq!(pair.out.lines().filter(|line| line.starts_with("minmax of ")).count(), 4);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = Folder::new();
    let sales = sales(&folder);
    let refused = |options: &[&str], words: &[&str]| {
        let args = [&["mean", &sales, "--column", "price"], options].concat();
        run(args).fails(2, words);
    };
    refused(&["--plot"], &["--plot draws many results", "--by"]);
    refused(&["--by", "shop", "--plot=m.png"], &["must end in .svg"]);
    refused(&["--by", "shop", "--plot", "--format", "json"], &["--plot draws in the terminal"]);
    run(["stats", &sales, "--column", "price", "--by", "shop", "--plot"])
        .fails(2, &["one column of results"]);
    let option = format!("--plot={}", folder.at("no/such/m.svg").display());
    run(["mean", &sales, "--column", "price", "--by", "shop", &option]).fails(1, &["cannot write"]);
}
