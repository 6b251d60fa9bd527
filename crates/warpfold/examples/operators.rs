//! How fast operators of one's own are folded, as one JSON document:
//! `RAYON_NUM_THREADS=1 cargo run --release -p warpfold --example operators -- [BYTES] [RUNS]`, on as many threads as the variable says.
//!
//! Gigabytes of elements a second, the fastest of some runs: of whole arrays, of segments of 4096 elements, and by a thousand keys in random order.

use std::fmt::Debug;
use std::hint::black_box;
use std::time::Instant;

use warpfold::Segments;
use warpfold::custom::{Operator, fold, fold_by_key, fold_segments};

/// An operator from a lift and a merge of states that are results.
macro_rules! operator {
    ($(#[$doc:meta])+ $name:ident, $element:ty, $state:ty, |$x:ident, $index:ident| $lift:expr, |$a:ident, $b:ident| $merge:expr) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq)]
        struct $name;

        impl Operator for $name {
            type Element = $element;
            type State = $state;
            type Output = $state;

            fn lift(&self, $x: $element, $index: u64) -> $state {
                $lift
            }
            fn merge(&self, $a: $state, $b: $state) -> $state {
                $merge
            }
            fn finish(&self, state: $state) -> $state {
                state
            }
            // What rounds is not associative to the bit.
            fn is_same(&self, _: &$state, _: &$state) -> bool {
                true
            }
        }
    };
}

operator!(
    /// Count, mean and squares of deviations (Chan, Golub and LeVeque 1979).
    Welford, f64, [f64; 3],
    |x, _index| [1.0, x, 0.0],
    |a, b| {
        let (n, delta) = (a[0] + b[0], b[1] - a[1]);
        [n, a[1] + delta * (b[0] / n), a[2] + b[2] + delta * delta * (a[0] * b[0] / n)]
    }
);
operator!(
    /// The largest sum of consecutive elements: all, from the left, from the right, anywhere.
    BestSpan, i64, [i64; 4],
    |x, _index| [x; 4],
    |a, b| [a[0] + b[0], a[1].max(a[0] + b[1]), b[2].max(b[0] + a[2]), a[3].max(b[3]).max(a[2] + b[1])]
);
operator!(
    /// Products of 2×2 matrices.
    Matrices, [f64; 4], [f64; 4],
    |x, _index| x,
    |a, b| [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
    ]
);
operator!(
    /// The largest element and where it stands first.
    Largest, f64, (f64, u64),
    |x, index| (x, index),
    |a, b| if b.0 > a.0 { b } else { a }
);

fn main() {
    let mut words = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let (bytes, runs) = (words.next().unwrap_or(64 << 20), words.next().unwrap_or(9));
    let numbers: Vec<f64> = (0..bytes / 8).map(|k| (k as f64 * 0.377).sin()).collect();
    let whole: Vec<i64> = numbers.iter().map(|x| (x * 100.0) as i64).collect();
    // Rotations, so that products stay near 1.
    let turn = |&x: &f64| [x.cos(), x.sin(), -x.sin(), x.cos()];
    let matrices: Vec<[f64; 4]> = numbers.iter().step_by(4).map(turn).collect();
    let mut rows = Vec::new();
    rows.extend(cells(Welford, &numbers, runs));
    rows.extend(cells(BestSpan, &whole, runs));
    rows.extend(cells(Matrices, &matrices, runs));
    rows.extend(cells(Largest, &numbers, runs));
    println!("{{");
    println!(
        "  \"command\": \"cargo run --release -p warpfold --example operators -- {bytes} {runs}\","
    );
    println!("  \"rows\": [\n{}\n  ]\n}}", rows.join(",\n"));
}

/// The cells of one operator.
fn cells<O>(operator: O, x: &[O::Element], runs: usize) -> Vec<String>
where
    O: Operator,
    O::Output: Debug + Send,
{
    let keys: Vec<u32> = (0..x.len() as u32).map(|k| k.wrapping_mul(2_654_435_761) >> 22).collect();
    let row = |cell: &str, run: &dyn Fn()| {
        let seconds = (0..runs).map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        });
        let fastest = seconds.fold(f64::INFINITY, f64::min);
        let rate = size_of_val(x) as f64 / fastest / 1e9;
        format!(
            "    {{ \"operator\": \"{operator:?}\", \"cell\": \"{cell}\", \"gb_s\": {rate:.2} }}"
        )
    };
    vec![
        row("whole", &|| {
            black_box(fold(x, operator));
        }),
        row("segments of 4096", &|| {
            black_box(fold_segments(x, Segments::every(4096), operator).expect("they are"));
        }),
        row("1024 keys", &|| {
            black_box(fold_by_key(&keys, x, operator).expect("there are as many"));
        }),
    ]
}
