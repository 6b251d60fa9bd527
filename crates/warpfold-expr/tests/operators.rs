//! Operators as text beside the same arithmetic in Rust: bits of runs and merged states, and what is refused.

use warpfold_expr::{Expr, MOST_RUNS, Operator, Piece, Slice, State, TypedOperator, Written};
use warpfold_num::DType;
use warpfold_num::random::Words;

const WELFORD: Written<'static> = Written {
    state: "n: f64, mean: f64, m2: f64",
    lift: "1, x, 0",
    merge: "a.n + b.n,
            a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
            a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))",
    finish: Some("mean, m2 / n"),
    identity: None,
    commutative: false,
    tolerance: 1e-9,
};

fn welford([n, mean, m2]: [f64; 3], [m, other, others]: [f64; 3]) -> [f64; 3] {
    let (all, apart) = (n + m, other - mean);
    [all, mean + apart * (m / all), m2 + others + apart * apart * (n * m / all)]
}

fn typed(written: &Written<'_>, inputs: &[(&str, DType)]) -> TypedOperator {
    let operator = Operator::parse(written).unwrap_or_else(|error| panic!("{error}"));
    operator.typed(inputs).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(written: &Written<'_>) -> String {
    let typed = Operator::parse(written).and_then(|operator| operator.typed(&[("x", DType::F64)]));
    typed.expect_err("it is refused").to_string()
}

fn floats(state: &State) -> [f64; 3] {
    [0, 1, 2].map(|field| f64::from_bits(state[field]))
}

#[test]
fn runs_have_the_bits_of_the_same_arithmetic_in_rust() {
    let mut words = Words(3);
    let x: Vec<f64> = (0..32 * MOST_RUNS + 5).map(|_| words.fraction() * 1e3 - 200.0).collect();
    let operator = typed(&WELFORD, &[("x", DType::F64)]);
    let inputs = [Slice::F64(&x)];
    for (first, runs) in [(0, MOST_RUNS), (3, 7), (5, MOST_RUNS), (1, 1)] {
        let states =
            operator.runs(Piece::of(&inputs), first, 32, runs).expect("floats have values");
        assert_eq!(states.len(), runs);
        for (run, state) in states.iter().enumerate() {
            let x = &x[first + 32 * run..][..32];
            let wanted =
                x[1..].iter().fold([1.0, x[0], 0.0], |all, &x| welford(all, [1.0, x, 0.0]));
            assert_eq!(floats(state), wanted, "{first} {run}");
            assert_eq!(operator.run(Piece::of(&inputs), first + 32 * run, 32).as_ref(), Ok(state));
        }
    }
    operator.check(&inputs).expect("it is associative up to rounding");
}

#[test]
fn fields_of_all_types_and_narrow_inputs_go_side_by_side() {
    let mut words = Words(4);
    let n = 32 * 40;
    let x: Vec<f32> = (0..n).map(|_| words.below(9) as f32).collect();
    let y: Vec<i8> = (0..n).map(|_| words.below(200) as i8).collect();
    let written = Written {
        finish: Some("most, at, of, n, n > 3"),
        ..Written::new(
            "most: f32, of: i64, at: u64, n: f64, c: f32",
            "x, y, index, 1, 0.5",
            "max(a.most, b.most), select(b.most > a.most, b.of, a.of), select(b.most > a.most, b.at, a.at), a.n + b.n, a.c",
        )
    };
    let operator = typed(&written, &[("x", DType::F32), ("y", DType::I8)]);
    let inputs = [Slice::F32(&x), Slice::I8(&y)];
    for (run, state) in
        operator.runs(Piece::of(&inputs), 0, 32, 40).expect("values").iter().enumerate()
    {
        let range = 32 * run..32 * run + 32;
        let most = range.clone().map(|k| x[k]).fold(0.0, f32::max);
        let at = range.clone().find(|&k| x[k] == most).expect("it is there");
        let wanted =
            [most.into(), (at as u64).into(), i64::from(y[at]).into(), 32.0f64.into(), true.into()];
        assert_eq!(operator.finish(state).expect("values"), wanted);
    }
    operator.check(&inputs).expect("it keeps its laws");
}

#[test]
fn laws_that_are_broken_are_told_with_the_states() {
    let x: Vec<f64> = (0..100).map(f64::from).collect();
    let check = |written: &Written<'_>| {
        let found = typed(written, &[("x", DType::F64)]).check(&[Slice::F64(&x)]);
        found.map_err(|error| error.to_string())
    };
    let mean = Written::new("m: f64", "x", "(a.m + b.m) / 2");
    assert!(
        check(&mean)
            .expect_err("means of means")
            .contains("said to be associative, and is not: (a·b)·c is")
    );
    let last = Written::new("m: f64", "x", "b.m");
    assert_eq!(check(&last), Ok(()));
    assert!(
        check(&Written { commutative: true, ..last })
            .expect_err("the last")
            .contains("commutative")
    );
    let sum = Written {
        identity: Some("0"),
        commutative: true,
        ..Written::new("s: f64", "x", "a.s + b.s")
    };
    assert_eq!(check(&sum), Ok(()));
    assert!(
        check(&Written { identity: Some("1"), ..sum }).expect_err("one more").contains("identity")
    );
    let rounds = Written { lift: "x / 7", tolerance: 0.0, ..sum };
    assert!(check(&rounds).is_err());
    assert_eq!(check(&Written { tolerance: 1e-12, ..rounds }), Ok(()));
}

#[test]
fn overflows_are_told_where_they_are() {
    let x = [1i64, i64::MAX, 3];
    let operator = typed(&Written::new("s: i64", "x + 1", "a.s + b.s"), &[("x", DType::I64)]);
    let error =
        operator.runs(Piece::of(&[Slice::I64(&x)]), 0, 3, 1).expect_err("it overflows").to_string();
    assert!(error.starts_with("lift at index 1, `x + 1`"), "{error}");
    let operator = typed(&Written::new("s: i64", "x", "a.s + b.s"), &[("x", DType::I64)]);
    let error =
        operator.runs(Piece::of(&[Slice::I64(&x)]), 0, 3, 1).expect_err("it overflows").to_string();
    assert!(error.starts_with("merge, `a.s + b.s`"), "{error}");
}

#[test]
fn what_is_no_operator_is_refused_with_the_column() {
    let sum = Written::new("s: f64", "x", "a.s + b.s");
    let many = "a".repeat(1_000_000);
    let deep = "(".repeat(5_000);
    let cases = [
        (Written { state: "s", ..sum }, "state, column 1: a field has a name and a type"),
        (Written { state: "s: f64, s: f64", ..sum }, "state, column 9: `s` is there already"),
        (Written { state: "s: string", ..sum }, "state, column 4: `string` is no type of a field"),
        (Written { state: "é-: f64", ..sum }, "state, column 1: a field's name"),
        (
            Written { state: "a:f64,b:f64,c:f64,d:f64,e:f64,f:f64,g:f64,h:f64,i:f64", ..sum },
            "state, column 49: a state has 8 fields",
        ),
        (Written { lift: "x, 0", ..sum }, "lift: it has 2 values, and the state 1 fields"),
        (Written { lift: "y", ..sum }, "lift, column 1"),
        (Written { lift: "", ..sum }, "lift, column 1"),
        (
            Written { lift: "x > 0", ..sum },
            "lift, column 1: the field `s` is of f64, and this of bool",
        ),
        (Written { merge: "a.s + s", ..sum }, "merge, column 7"),
        (Written { merge: "a.s + b.t", ..sum }, "merge, column 7"),
        (Written { finish: Some("s, sinh(s)"), ..sum }, "finish, column 4: `sinh` is no function"),
        (Written { identity: Some("x"), ..sum }, "identity, column 1"),
        (Written { merge: &many, ..sum }, "merge, column 10001: the text has 1000000 characters"),
        (Written { merge: &deep, ..sum }, "merge, column"),
        (Written { tolerance: f64::NAN, ..sum }, "tolerance: NaN"),
        (Written { tolerance: -1.0, ..sum }, "tolerance: -1"),
    ];
    for (written, begins) in cases {
        let error = refused(&written);
        assert!(
            error.starts_with(begins),
            "{begins}\n{}",
            error.chars().take(300).collect::<String>()
        );
        assert!(error.len() < 400 && !error.contains('\n'), "{}", error.len());
    }
    // A file's name is no expression.
    assert!(Expr::parse("w.npy").is_err());
    let operator = Operator::parse(&sum).expect("a sum");
    assert_eq!((operator.names(), operator.titles().len()), (vec!["x"], 1));
    let error =
        operator.typed(&[("x", DType::F64), ("index", DType::F64)]).expect_err("two meanings");
    assert!(error.to_string().contains("index"));
}
