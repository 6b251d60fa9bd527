//! Columns whose rows several processes have: each saves what it has taken in as bytes, and their sum is that of one.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array,
    TimestampMicrosecondArray,
};
use warpfold_arrow::{ColumnReducer, Dot, Error, Fields};
use warpfold_exact::partial::Finish;
use warpfold_num::{Error as Reduced, Op, Policy};

const N: i64 = 300;

/// Columns of every form, with nulls.
fn columns() -> Vec<ArrayRef> {
    let value = |k: i64| (k % 7 != 3).then_some((k * 7919 % 1009 - 500) * 3);
    let all = || (0..N).map(value);
    vec![
        Arc::new(all().map(|x| x.map(|x| x as f64 / 7.0)).collect::<Float64Array>()),
        Arc::new(all().map(|x| x.map(|x| 1.0 + x as f64 / 7e3)).collect::<Float64Array>()),
        Arc::new(all().map(|x| x.map(|x| x as i32)).collect::<Int32Array>()),
        Arc::new(all().map(|x| x.map(|x| x > 0)).collect::<BooleanArray>()),
        Arc::new(all().map(|x| x.map(|x| x as i32)).collect::<Date32Array>()),
        Arc::new(all().collect::<TimestampMicrosecondArray>()),
        Arc::new(
            all()
                .map(|x| x.map(|x| i128::from(x) << 70))
                .collect::<Decimal128Array>()
                .with_precision_and_scale(38, 4)
                .expect("they have fewer digits"),
        ),
    ]
}

fn of(op: Op, column: &ArrayRef, rows: std::ops::Range<usize>) -> ColumnReducer {
    let reducer = ColumnReducer::new(op, column.data_type(), Policy::default());
    let mut reducer = reducer.expect("it is there").starting_at(rows.start as u64);
    reducer.push(&column.slice(rows.start, rows.len())).expect("one type");
    reducer
}

fn finish(reducer: ColumnReducer) -> Result<Fields, Error> {
    reducer.finish(Finish::default())
}

#[test]
fn bytes_of_shares_make_the_whole() {
    let mut compared = 0;
    for column in columns() {
        for &op in Op::ALL {
            if warpfold_arrow::check(op, column.data_type()).is_err() {
                continue;
            }
            let whole = of(op, &column, 0..N as usize);
            // Shares of every length, one of them empty, in another order than that of their rows.
            let shares = [200..300, 0..0, 1..200, 0..1].map(|rows| of(op, &column, rows));
            let mut merged = of(op, &column, 0..0);
            for share in &shares {
                merged.merge_bytes(&share.to_bytes()).expect("they are a share's");
            }
            assert_eq!((merged.rows(), merged.values()), (whole.rows(), whole.values()));
            assert_eq!(finish(merged), finish(whole), "{op} of {}", column.data_type());
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn bytes_of_products_make_the_whole() {
    let [x, y] = [&columns()[0], &columns()[2]];
    let of = |rows: std::ops::Range<usize>| {
        let dot = Dot::new(x.data_type(), y.data_type(), Policy::default());
        let mut dot = dot.expect("both are numbers").starting_at(rows.start as u64);
        let slice = |column: &ArrayRef| column.slice(rows.start, rows.len());
        dot.push(&slice(x), &slice(y)).expect("they fit");
        dot
    };
    let whole = of(0..N as usize);
    let mut merged = of(100..N as usize);
    for rows in [0..0, 0..100] {
        merged.merge_bytes(&of(rows).to_bytes()).expect("they are a share's");
    }
    assert_eq!((merged.rows(), merged.values()), (whole.rows(), whole.values()));
    assert_eq!(merged.finish(Finish::default()), whole.finish(Finish::default()));
}

/// What came over a wire may be anything: it is refused, and changes nothing.
#[test]
fn bytes_that_are_none_are_refused() {
    for (op, column) in [(Op::Stats, &columns()[0]), (Op::Sum, &columns()[6])] {
        let share = of(op, column, 0..N as usize);
        let bytes = share.to_bytes();
        let is_refused = |bytes: &[u8]| {
            let mut reducer = of(op, column, 0..5);
            match reducer.merge_bytes(bytes) {
                Ok(()) => {
                    drop(finish(reducer));
                    false
                }
                Err(Error::Reduction(Reduced::BadPartial { .. })) => {
                    assert_eq!(finish(reducer), finish(of(op, column, 0..5)));
                    true
                }
                Err(other) => panic!("{other}"),
            }
        };
        assert!((0..bytes.len()).all(|end| is_refused(&bytes[..end])), "{op}");
        assert!(is_refused(&[&bytes[..], &[0]].concat()), "{op}");
        let of_another = if op == Op::Sum { Op::Sum } else { Op::Var };
        assert!(is_refused(&of(of_another, &columns()[2], 0..9).to_bytes()), "{op}");
        for at in 0..bytes.len() {
            for bit in [0, 3, 7] {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                is_refused(&other);
            }
        }
    }
}
