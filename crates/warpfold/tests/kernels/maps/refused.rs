//! Maps that have no value, or that no kernel folds; and what of a text reaches a kernel.

use warpfold::kernel::{AnyView, MapGrid};
use warpfold::{Accuracy, Error, Op, Policy, Result, Value};

use crate::machine;

#[test]
fn an_integer_without_a_value_is_told_with_its_first_index() {
    let Some(machine) = machine(2, 3) else { return };
    let mut x = vec![1i64; 4000];
    (x[3999], x[1234], x[77]) = (i64::MAX, i64::MAX, i64::MIN);
    let on = machine.upload(&x).unwrap();
    let grid = MapGrid { blocks: 2, threads: 64 };
    let map = |text| machine.map(text, [("x", &on)]).grid(grid);
    let error = map("x + 1").sum().unwrap_err().to_string();
    assert!(
        error.starts_with("`x + 1` at index 1234: i64 does not hold 9223372036854775808; "),
        "{error}"
    );
    assert!(
        map("x + 1")
            .where_("x > 1")
            .starting_at(100)
            .max()
            .unwrap_err()
            .to_string()
            .contains("at index 1334")
    );
    assert_eq!(map("x + 1").where_("x == 1").sum(), Ok((2 * 3997i64).into()));
    let error = map("f64(x)").weights("f64(x)").mean().unwrap_err().to_string();
    assert!(error.starts_with("the weight at index 77: it is -9223372036854776000; "), "{error}");
    // The condition itself has no condition.
    assert!(
        map("x")
            .where_("x + 1 > 0")
            .sum()
            .unwrap_err()
            .to_string()
            .contains("`x + 1` at index 1234")
    );
}

#[test]
fn what_no_kernel_folds_is_refused_by_name() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[1.0f32, 2.0]).unwrap();
    let longer = machine.upload(&[1.0f32, 2.0, 3.0]).unwrap();
    let map = |text| machine.map(text, [("x", &x)]);
    let refused = |result: Result<Value>| match result {
        Err(Error::Map { requested, obstacle, .. }) => format!("{requested}: {obstacle}"),
        other => panic!("{other:?}"),
    };
    let whole = map("i64(x)").weights("i64(x)").var(0);
    assert!(refused(whole).contains("no kernel folds weighted squares of integers"));
    assert!(refused(map("x > 1").max()).contains("it is a condition"));
    let fast = Policy { accuracy: Accuracy::Fast, ..Policy::default() };
    assert!(refused(map("x + 1").policy(fast).sum()).contains("its kernels are exact"));
    assert!(
        refused(machine.map("x + y", [("x", &x), ("y", &longer)]).sum())
            .contains("x has 2 elements and y has 3")
    );
    let nine = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|name| (name, &x));
    let batched = machine.map("a + b + c + d + e + f + g + h", nine).where_("i > 0");
    assert_eq!(
        refused(batched.sum()),
        "a map on a device: it reads 9 inputs, and a kernel reads 8"
    );
    // Of nothing too.
    let nothing = machine.upload::<f32>(&[]).unwrap();
    let of_nothing = machine.map("x + 1", [("x", &nothing)]).policy(fast).sum();
    assert!(refused(of_nothing).contains("its kernels are exact"));
    let elsewhere = crate::machine(2, 4).unwrap();
    let far = elsewhere.upload(&[1.0f32, 2.0]).unwrap();
    let found = machine.map("x + y", [("x", AnyView::from(&x)), ("y", AnyView::from(&far))]).sum();
    // Simulators are machines of their own; a GPU is the same one each time.
    let is_right = matches!(found, Err(Error::Device { .. }) | Ok(Value::F32(6.0)));
    assert!(is_right, "{found:?}");
}

#[test]
fn hostile_texts_are_refused_before_anything_is_spliced() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[1.0f32, 2.0]).unwrap();
    let long = "x + ".repeat(300_000) + "x";
    let deep = "(".repeat(100_000) + "x";
    let texts = [
        "x; ret;",
        "} .visible .entry f() {",
        "x // begin inline asm",
        "\u{0}",
        "x\n",
        "wf_1",
        "%r1",
        "{x}",
        "st.global",
        &long,
        &deep,
        "",
    ];
    for text in texts {
        let result = machine.map(text, [("x", &x)]).sum();
        let shown: String = text.chars().take(40).collect();
        match result {
            Err(Error::Map { .. }) => {}
            Ok(value) if text == "x\n" => assert_eq!(value, 3.0f32.into()),
            other => panic!("{shown}: {other:?}"),
        }
    }
    // A name is never in the text.
    let name = "x\"; trap; //";
    let modules = machine.map("\"x; trap\" + 1", [("x; trap", &x)]).modules(Op::Sum);
    match modules {
        Ok(modules) => {
            assert!(modules.iter().all(|module| !module.ptx().contains("trap;")), "{name}")
        }
        Err(error) => assert!(matches!(error, Error::Map { .. }), "{error}"),
    }
}

#[test]
fn the_same_map_is_spliced_once() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let module = |text: &str| machine.map(text, [("x", &x)]).modules(Op::Sum).unwrap().remove(0);
    assert_eq!(module("abs(x - 1.5)"), module("abs(x - 1.5)"));
    assert!(module("abs(x - 1.5)").ptx() != module("abs(x - 2.5)").ptx());
    let ptx = module("abs(x - 1.5)").ptx().to_owned();
    assert!(!ptx.contains("warpfold."), "every pseudo-instruction is replaced");
    assert!(ptx.contains("sub.rn.f32"));
    let other =
        machine.map("abs(x - 1.5)", [("x", x.slice(1..))]).modules(Op::Sum).unwrap().remove(0);
    assert!(other.ptx() != ptx, "elements that lie elsewhere are read otherwise");
}
