//! A name on the command line is a column of the text or a file; what could be either is refused, whichever option names it.

use crate::program::{Folder, Run, command, finish};

fn within(folder: &Folder, args: &[&str]) -> Run {
    finish(command().current_dir(folder.path()).args(args))
}

#[test]
fn weights_are_a_column_or_a_file_and_never_either() {
    let folder = Folder::new();
    folder.file("t.csv", "price,qty\n1,2\n3,4\n");
    let sum = |weights: &str| {
        within(
            &folder,
            &["sum", "t.csv", "--column", "price", "--dtype", "f64", "--weights", weights],
        )
    };
    assert_eq!(sum("qty").value(), "14.0");
    folder.file("qty", [10f64, 20.0].map(f64::to_le_bytes).concat());
    sum("qty").fails(2, &["--weights qty is a file", "a column of t.csv", "./qty", "'(\"qty\")'"]);
    assert_eq!(sum("./qty").value(), "70.0");
    assert_eq!(sum("(\"qty\")").value(), "14.0");
    assert_eq!(sum("(qty)").value(), "14.0");
    // An expression of known names, and a name that only a file has.
    folder.file("qty + 1", [1f64, 1.0].map(f64::to_le_bytes).concat());
    sum("qty + 1").fails(2, &["is a file", "'(qty + 1)'"]);
    folder.file("other", [1f64, 1.0].map(f64::to_le_bytes).concat());
    assert_eq!(sum("other").value(), "4.0");
    let with =
        ["sum", "t.csv", "--column", "price", "--with", "w=qty", "--dtype", "f64", "--weights"];
    folder.file("w", [1f64, 1.0].map(f64::to_le_bytes).concat());
    within(&folder, &[&with[..], &["w"]].concat()).fails(2, &["what --with calls so"]);
    assert_eq!(within(&folder, &[&with[..], &["(w)"]].concat()).value(), "70.0");
}

#[test]
fn columns_may_be_called_as_files_are() {
    let folder = Folder::new();
    folder.file("t.csv", "price,w.csv,k.csv\n1,2,7\n3,4,8\n");
    let weights = |weights: &str| {
        within(&folder, &["sum", "t.csv", "--column", "price", "--weights", weights])
    };
    assert_eq!(weights("\"w.csv\"").value(), "14.0");
    folder.file("w.csv", "5\n6\n");
    weights("w.csv").fails(2, &["is a file", "'(\"w.csv\")'"]);
    assert_eq!(weights("./w.csv").value(), "23.0");
    let by = |by: &str| within(&folder, &["sum", "t.csv", "--column", "price", "--by", by]);
    assert_eq!(by("k.csv").value(), "7 1.0\n8 3.0");
    folder.file("k.csv", "1\n1\n");
    by("k.csv").fails(2, &["--by k.csv is a file", "a column of t.csv", "./k.csv", "number"]);
    assert_eq!(by("./k.csv").value(), "1 4.0");
    assert_eq!(by("3").value(), "7 1.0\n8 3.0");
    let both = ["sum", "t.csv", "--column", "price", "--column", "2", "--by"];
    within(&folder, &[&both[..], &["k.csv"]].concat()).fails(2, &["--by k.csv is a file"]);
}

#[test]
fn the_inputs_themselves_are_x_and_no_file() {
    let folder = Folder::new();
    folder.file("a.f64", [1f64, 2.0].map(f64::to_le_bytes).concat());
    let sum =
        |weights: &str| within(&folder, &["sum", "a.f64", "--dtype", "f64", "--weights", weights]);
    assert_eq!(sum("x").value(), "5.0");
    folder.file("x", [10f64, 10.0].map(f64::to_le_bytes).concat());
    sum("x").fails(2, &["--weights x is a file", "the inputs themselves"]);
    assert_eq!(sum("./x").value(), "30.0");
    assert_eq!(sum("(x)").value(), "5.0");
}

/// What weights in a file are called within is no name that anything else may have.
#[test]
fn a_column_called_weights_is_no_file_of_weights() {
    let folder = Folder::new();
    folder.file("t.csv", "price,weights\n1,2\n3,4\n");
    folder.file("w.txt", "10\n100\n");
    let of = |args: &[&str]| {
        within(&folder, &[&["sum", "t.csv", "--weights", "w.txt"], args].concat())
            .value()
            .to_string()
    };
    assert_eq!(of(&["--map", "price"]), "310.0");
    assert_eq!(of(&["--map", "rounded(price * weights)"]), "1220.0");
}
