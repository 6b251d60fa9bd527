//! What small inputs cost: single elements, slices of a few, iterators, and the reductions of short arrays, as one document of JSON.
//!
//! `cargo run --release -p warpfold --example small -- [rounds]`. All rows take turns, and each one's figure is the
//! median of its rounds; where other programs run, the least tells more.

use std::hint::black_box;
use std::time::{Duration, Instant};

use warpfold::random::Words;
use warpfold::{Dot, Element, Exact, Moments, bf16, f16};

/// How long a row works in one round.
const TURN: Duration = Duration::from_millis(4);

/// A row: what is done, over elements of which type and how many, and the nanoseconds that it may take; none where nothing was asked.
struct Row {
    what: &'static str,
    dtype: String,
    n: usize,
    target: Option<f64>,
    /// Seconds of so many calls.
    work: Box<dyn Fn(u64) -> f64>,
    /// Calls of a turn, found in the first one.
    calls: u64,
    times: Vec<f64>,
}

impl Row {
    fn new<T: Element>(
        what: &'static str,
        n: usize,
        target: Option<f64>,
        mut call: impl FnMut() + Clone + 'static,
    ) -> Row {
        call();
        let work = move |calls| {
            let mut call = call.clone();
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            start.elapsed().as_secs_f64()
        };
        Row {
            what,
            dtype: T::DTYPE.to_string(),
            n,
            target,
            work: Box::new(work),
            calls: 1,
            times: Vec::new(),
        }
    }

    /// Finds how many calls fill a turn.
    fn calibrate(&mut self) {
        while (self.work)(self.calls) < TURN.as_secs_f64() {
            self.calls *= 2;
        }
    }

    fn turn(&mut self) {
        self.times.push((self.work)(self.calls) / self.calls as f64 * 1e9);
    }

    fn print(&mut self) -> String {
        self.times.sort_by(f64::total_cmp);
        let (median, least) = (self.times[self.times.len() / 2], self.times[0]);
        let target = self.target.map_or("null".into(), |target| target.to_string());
        format!(
            r#"    {{ "what": "{}", "dtype": "{}", "n": {}, "ns": {median:.2}, "least_ns": {least:.2}, "asked_ns": {target} }}"#,
            self.what, self.dtype, self.n,
        )
    }
}

/// Elements of like size, some below zero where the type has such.
fn elements<T: Element>(n: usize, of: impl Fn(f64) -> T) -> Vec<T> {
    let mut words = Words(1);
    (0..n).map(|_| of(40.0 * words.fraction() - 20.0)).collect()
}

/// The rows of an element type.
fn rows<T: Element>(of: impl Fn(f64) -> T) -> Vec<Row> {
    let x = elements(1 << 16, of);
    let (one, pair, mut all) = (x[0], x[1], Vec::new());
    let mut sum = Exact::<T>::new();
    all.push(Row::new::<T>("Exact::add", 1, Some(20.0), move || sum.add(black_box(one))));
    let mut sum = Exact::<T>::new();
    all.push(Row::new::<T>("Exact::extend", 1, Some(20.0), move || {
        sum.extend(black_box(&[one]));
    }));
    let mut moments = Moments::<T>::new();
    all.push(Row::new::<T>("Moments::extend", 1, None, move || {
        moments.extend(black_box(&[one]));
    }));
    let mut dot = Dot::<T>::new();
    all.push(Row::new::<T>("Dot::extend", 1, None, move || {
        dot.extend(black_box(&[one]), black_box(&[pair])).expect("slices of one length");
    }));
    for n in [4, 8, 9, 16, 64, 1000] {
        let (mut sum, x) = (Exact::<T>::new(), x[..n].to_vec());
        all.push(Row::new::<T>("Exact::extend", n, None, move || sum.extend(black_box(&x))));
    }
    for n in [1, 2, 4, 8, 16, 32, 64] {
        let x = x[..n].to_vec();
        all.push(Row::new::<T>("var", n, Some(300.0), move || {
            black_box(warpfold::var(black_box(&x), 0).is_ok());
        }));
    }
    for n in [1, 8, 64, 1000] {
        let (y, x) = (x[..n].to_vec(), x[n..][..n].to_vec());
        let target = (n == 1000 && T::DTYPE == f32::DTYPE).then_some(1000.0);
        let z = x.clone();
        all.push(Row::new::<T>("sum", n, target, move || {
            black_box(warpfold::sum(black_box(&z)));
        }));
        all.push(Row::new::<T>("dot", n, None, move || {
            black_box(warpfold::dot(black_box(&x), black_box(&y)).is_ok());
        }));
    }
    // 3 ns an element.
    let n = x.len();
    all.push(Row::new::<T>("Exact from an iterator", n, Some(3.0 * n as f64), move || {
        black_box(black_box(&x).iter().copied().collect::<Exact<T>>());
    }));
    all
}

/// Elements so far apart that only wide accumulators hold their moments.
fn far_apart() -> Vec<Row> {
    let x: Vec<f64> = (0..64).map(|k| (1.0 + f64::from(k)) * 2f64.powi(9 * (k % 16))).collect();
    [2, 16, 64]
        .map(|n| {
            let x = x[..n].to_vec();
            Row::new::<f64>("var of elements far apart", n, Some(300.0), move || {
                black_box(warpfold::var(black_box(&x), 0).is_ok());
            })
        })
        .into()
}

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(15, |text| text.parse().expect("rounds"));
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(self::rows::<f32>(|x| x as f32));
    rows.extend(self::rows::<f64>(|x| x));
    rows.extend(self::rows::<f16>(f16::from_f64));
    rows.extend(self::rows::<bf16>(bf16::from_f64));
    rows.extend(self::rows::<i32>(|x| (x * 1000.0) as i32));
    rows.extend(self::rows::<i64>(|x| (x * 1e6) as i64));
    rows.extend(far_apart());
    rows.iter_mut().for_each(Row::calibrate);
    for _ in 0..rounds {
        rows.iter_mut().for_each(Row::turn);
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    println!("{{");
    println!(r#"  "command": "cargo run --release -p warpfold --example small -- {rounds}","#);
    println!(r#"  "isa": "{:?}","#, warpfold::reduce(&[0f32]).plan(warpfold::Op::Sum).isa);
    println!(r#"  "load": "{}","#, load.join(" "));
    println!(r#"  "rows": ["#);
    let lines: Vec<String> = rows.iter_mut().map(Row::print).collect();
    println!("{}", lines.join(",\n"));
    println!("  ]\n}}");
}
