//! Floating point against the host where it rounds to nearest, and against brackets elsewhere.

mod bench;

use bench::{Bench, load};
use half::f16;
use warpfold_simt::{Memory, Settings};

fn hard() -> Vec<f64> {
    let mut all = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        2.5,
        -2.5,
        0.1,
        1e-40,
        -1e-40,
        1e-310,
        3e38,
        -3e38,
        1e300,
        1e-300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        65504.0,
        65520.0,
        6e-8,
        2147483647.5,
        -2147483649.0,
        4294967296.0,
        9.3e18,
        -9.3e18,
        1.8446744073709552e19,
        16777217.0,
        0.5,
        1.0000001,
        1e-45,
        255.5,
    ];
    let mut words = warpfold_num::random::Words(0x0123_4567_89ab_cdef);
    while all.len() < 192 {
        let state = words.next();
        let scale = 2f64.powi((state % 80) as i32 - 40);
        all.push(((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * scale);
    }
    // Neighbours in a triple come from everywhere.
    (0..192).map(|i| all[i * 53 % 192]).collect()
}

fn run(
    kernel: &str,
    bytes_in: impl FnOnce(&mut Memory) -> warpfold_simt::Buffer,
    bytes_out: u64,
) -> (Memory, warpfold_simt::Buffer) {
    let program = load("floats");
    let mut memory = Memory::new();
    let input = bytes_in(&mut memory);
    let out = memory.allocate(bytes_out);
    let bench = Bench::new(kernel, 1, 64).arguments([input.into(), out.into()]);
    bench.run(&program, &mut memory, &Settings::default());
    (memory, out)
}

fn bits32(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

/// Whether `got` is `exact` rounded down (−1), up (1) or to zero (0), where `nearest` is to nearest.
fn directed32(got: u32, nearest: f32, low_error: f64, direction: i32) -> bool {
    let got = f32::from_bits(got);
    if nearest.is_nan() {
        return got.is_nan();
    }
    if nearest.is_infinite() || low_error == 0.0 {
        return got == nearest || nearest.is_infinite();
    }
    // low_error = exact − nearest: its sign says on which side of `nearest` the exact value lies.
    let want = match (direction, low_error > 0.0) {
        (1, true) => nearest.next_up(),
        (-1, false) => nearest.next_down(),
        (0, true) if nearest < 0.0 => nearest.next_up(),
        (0, false) if nearest > 0.0 => nearest.next_down(),
        _ => nearest,
    };
    got == want
}

#[test]
fn float32() {
    let data: Vec<f32> = hard().into_iter().map(|v| v as f32).collect();
    let (memory, out) = run("float32", |m| m.upload(&data), 64 * 24 * 4);
    let got: Vec<u32> = memory.read(out).expect("written");
    for (t, abc) in data.chunks_exact(3).enumerate() {
        let [a, b, c] = [abc[0], abc[1], abc[2]];
        let got = &got[24 * t..24 * t + 24];
        let flush = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
        let (fa, fb, fc) = (flush(a), flush(b), flush(c));
        let saturate = |x: f32| if x.is_nan() || x <= 0.0 { 0.0 } else { x.min(1.0) };
        let min = if a.is_nan() {
            b
        } else if b.is_nan() {
            a
        } else if a == b {
            if a.is_sign_negative() { a } else { b }
        } else {
            a.min(b)
        };
        let max = if a.is_nan() {
            b
        } else if b.is_nan() {
            a
        } else if a == b {
            if a.is_sign_negative() { b } else { a }
        } else {
            a.max(b)
        };
        let exact = [
            (0, bits32(a + b)),
            (4, bits32(a * b)),
            (6, bits32(a.mul_add(b, c))),
            (8, bits32(a / b)),
            (10, bits32(a.abs().sqrt())),
            (12, bits32(min)),
            (13, bits32(max)),
            (15, bits32(saturate(a))),
            (16, bits32(a.round_ties_even())),
            (17, bits32(a.floor())),
            (18, bits32(a.ceil())),
            (19, bits32(a.trunc())),
            (21, bits32(flush(fa + fb))),
            (22, bits32(flush(fa * fb))),
            (23, bits32(saturate(flush(fa.mul_add(fb, fc))))),
        ];
        for (i, want) in exact {
            assert_eq!(got[i], want, "[{i}] of {a:e}, {b:e}, {c:e}: {:e}", f32::from_bits(got[i]));
        }
        assert_eq!(got[14], a.to_bits() ^ 1 << 31);
        let order = u32::from(a < b)
            | u32::from(a <= b) << 1
            | u32::from(a == b) << 2
            | u32::from(a != b) << 3
            | u32::from(a.partial_cmp(&b).is_none_or(std::cmp::Ordering::is_ge)) << 4
            | u32::from(a.partial_cmp(&b).is_none_or(std::cmp::Ordering::is_lt)) << 5
            | u32::from(a.is_nan()) << 6;
        assert_eq!(got[20], order, "{a:e}, {b:e}");
        // f32 sums and products, and their distances from the rounded ones, fit f64 where the
        // exponents are close; elsewhere the sign of the small term decides.
        if a.is_finite() && b.is_finite() {
            let sum = a + b;
            let error = {
                let (big, small) = if a.abs() > b.abs() { (a, b) } else { (b, a) };
                f64::from(small) - (f64::from(sum) - f64::from(big))
            };
            for (i, direction) in [(1, 0), (2, 1), (3, -1)] {
                assert!(
                    directed32(got[i], sum, error, direction),
                    "[{i}] {a:e} + {b:e}: {:e}",
                    f32::from_bits(got[i])
                );
            }
            let product = a * b;
            let error = f64::from(a) * f64::from(b) - f64::from(product);
            assert!(directed32(got[5], product, error, 0), "{a:e} · {b:e}");
        }
    }
}

#[test]
fn float64() {
    let data = hard();
    let (memory, out) = run("float64", |m| m.upload(&data), 64 * 24 * 8);
    let got: Vec<u64> = memory.read(out).expect("written");
    for (t, abc) in data.chunks_exact(3).enumerate() {
        let [a, b, c] = [abc[0], abc[1], abc[2]];
        let got = &got[24 * t..24 * t + 24];
        let exact = [
            (0, a + b),
            (4, a * b),
            (6, a.mul_add(b, c)),
            (8, a / b),
            (10, a.abs().sqrt()),
            (14, -a),
            (15, a.abs()),
            (16, a.round_ties_even()),
            (17, a.floor()),
            (18, a.ceil()),
            (19, a.trunc()),
            (21, a - b),
            (22, a.copysign(b)),
            (23, 1.0 / a),
        ];
        for (i, want) in exact {
            let have = f64::from_bits(got[i]);
            assert!(
                have.to_bits() == want.to_bits() || have.is_nan() && want.is_nan(),
                "[{i}] of {a:e}, {b:e}, {c:e}: {have:e}, not {want:e}"
            );
        }
        let [rz, up, down] = [1, 2, 3].map(|i| f64::from_bits(got[i]));
        let near = a + b;
        if near.is_finite() {
            assert!(
                down <= near && near <= up && (down == up || down.next_up() == up),
                "{a:e} + {b:e}"
            );
            assert!(rz == if near > 0.0 { down } else { up } || near == 0.0, "{a:e} + {b:e}");
        }
        let order = u64::from(a < b)
            | u64::from(a <= b) << 1
            | u64::from(a == b) << 2
            | u64::from(a != b) << 3
            | u64::from(a.is_nan()) << 6;
        assert_eq!(got[20], order);
    }
}

#[test]
fn conversions() {
    let data = hard();
    let (memory, out) = run("conversions", |m| m.upload(&data), 64 * 24 * 8);
    let got: Vec<u64> = memory.read(out).expect("written");
    for (t, abc) in data.chunks_exact(3).enumerate() {
        let a = abc[0];
        let f = a as f32;
        let got = &got[24 * t..24 * t + 24];
        // Rust's casts clamp as the hardware does; NaN differs, by width.
        let nan = |wide: u64, value: u64| if a.is_nan() { wide } else { value };
        let g = f64::from(f);
        let expected = [
            (0, nan(1 << 31, a as i32 as u32 as u64)),
            (1, nan(1 << 31, a.round_ties_even() as u32 as u64)),
            (2, nan(1 << 63, a.ceil() as i64 as u64)),
            (3, nan(1 << 63, a.floor() as u64)),
            (4, nan(0, g.round_ties_even() as i32 as u32 as u64)),
            (5, nan(0, g as u32 as u64)),
            (6, nan(1 << 63, g.floor() as i64 as u64)),
            (7, nan(1 << 63, g.ceil() as u64)),
            (8, u64::from(bits32(f))),
            (
                19,
                u64::from(if a.is_nan() {
                    0x7fff_ffff
                } else {
                    f16::from_f32(f).to_f32().to_bits()
                }),
            ),
            (18, u64::from(if a.is_nan() { 0x7fff } else { f16::from_f32(f).to_bits() })),
            (21, u64::from(if a.is_nan() { 0x7fff } else { f16::from_f64(a).to_bits() })),
        ];
        for (i, want) in expected {
            assert_eq!(got[i], want, "[{i}] of {a:e}");
        }
        let bits = got[2];
        assert_eq!(got[12], u64::from((bits as f32).to_bits()));
        assert_eq!(got[16], u64::from((bits as i32 as f32).to_bits()));
        assert_eq!(got[17], f64::from(bits as u32).to_bits());
        // Directed: never on the wrong side, never more than a step away.
        let up = f64::from_bits(got[14]);
        assert!(
            up as u128 >= u128::from(bits) && (up.next_down() as u128) < u128::from(bits)
                || bits == 0
        );
        let down = f64::from_bits(got[15]);
        assert!(
            down as i128 <= i128::from(bits as i64)
                && (down.next_up() as i128) > i128::from(bits as i64)
                || bits as i64 == down as i64
        );
        if a.is_finite() {
            let (toward, above) = (f32::from_bits(got[9] as u32), f32::from_bits(got[10] as u32));
            assert!(f64::from(toward).abs() <= a.abs() && f64::from(above) >= a);
        }
    }
}

#[test]
fn halves() {
    let patterns = [
        0x0000u16, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x3555,
        0x0400, 0x5640, 0xc123,
    ];
    let data: Vec<u32> = (0..192usize)
        .map(|i| u32::from(patterns[i * 5 % 14]) | u32::from(patterns[(i * 3 + i / 14) % 14]) << 16)
        .collect();
    let (memory, out) = run("halves", |m| m.upload(&data), 64 * 6 * 4);
    let got: Vec<u32> = memory.read(out).expect("written");
    let pair = |f: &dyn Fn(f64, f64, f64) -> f64, flush: bool, abc: [u32; 3]| {
        let value = |v: u32, h: u32| {
            let x = f16::from_bits((v >> (16 * h)) as u16);
            let tiny = x.to_bits() & 0x7c00 == 0;
            if flush && tiny { 0f64.copysign(x.to_f64()) } else { x.to_f64() }
        };
        (0..2).fold(0, |out, h| {
            let x = f(value(abc[0], h), value(abc[1], h), value(abc[2], h));
            let r = f16::from_f64(x);
            let r = if flush && r.to_bits() & 0x7c00 == 0 {
                f16::from_bits(r.to_bits() & 0x8000)
            } else {
                r
            };
            out | u32::from(if x.is_nan() { 0x7fff } else { r.to_bits() }) << (16 * h)
        })
    };
    for (t, abc) in data.chunks_exact(3).enumerate() {
        let abc = [abc[0], abc[1], abc[2]];
        let got = &got[6 * t..6 * t + 6];
        assert_eq!(got[0], pair(&|a, b, _| a + b, false, abc), "{abc:x?}");
        assert_eq!(got[1], pair(&|a, b, _| a * b, false, abc), "{abc:x?}");
        // The product of two halves and a half: 53 bits hold it all for these patterns.
        assert_eq!(got[2], pair(&|a, b, c| a.mul_add(b, c), false, abc), "{abc:x?}");
        assert_eq!(got[3], pair(&|a, b, _| a - b, true, abc), "{abc:x?}");
        assert_eq!(got[4], pair(&|a, b, _| a + b, false, abc) & 0xffff);
        let (x, y) = (f16::from_bits(abc[0] as u16), f16::from_bits(abc[1] as u16));
        assert_eq!(got[5], u32::from(x < y));
    }
}

#[test]
fn approximate() {
    let data: Vec<f32> = (0..64).map(|i| 0.37 + i as f32 * 0.61).collect();
    let (memory, out) = run("approximate", |m| m.upload(&data), 64 * 8 * 4);
    let got: Vec<f32> = memory.read(out).expect("written");
    for (t, &a) in data.iter().enumerate() {
        let x = f64::from(a);
        let want =
            [x.exp2(), x.log2(), x.sin(), x.cos(), 1.0 / x.sqrt(), 1.0 / x, 1.0 / x, x.sqrt()];
        for (i, want) in want.into_iter().enumerate() {
            let have = f64::from(got[8 * t + i]);
            assert!(
                (have - want).abs() <= want.abs() * 2f64.powi(-21) + 1e-6,
                "[{i}] of {a}: {have}, not {want}"
            );
        }
    }
}

#[test]
fn extremes_that_propagate_nan() {
    let program = load("redux");
    let mut memory = Memory::new();
    let data: Vec<f32> = hard().into_iter().take(128).map(|v| v as f32).collect();
    let halves: Vec<u32> = (0..128)
        .map(|i| [0x7e00_3c00u32, 0xbc00_0000, 0x0000_8000, 0x7c00_fc00, 0x3c00_7fff][i * 7 % 5])
        .collect();
    let input = memory.upload(&data);
    let out = memory.allocate(4 * 128);
    let pairs = memory.upload(&halves);
    let packed = memory.allocate(4 * 192);
    let bench = Bench::new("extremes", 1, 64).arguments([
        input.into(),
        out.into(),
        pairs.into(),
        packed.into(),
    ]);
    bench.run(&program, &mut memory, &Settings::default());
    let got: Vec<u32> = memory.read(out).expect("written");
    for (t, ab) in data.chunks_exact(2).enumerate() {
        let (a, b) = (ab[0], ab[1]);
        let nan = a.is_nan() || b.is_nan();
        let order = |x: f32| (x, !x.is_sign_negative());
        let (min, max) = if order(a) < order(b) { (a, b) } else { (b, a) };
        assert_eq!(got[2 * t], if nan { 0x7fff_ffff } else { min.to_bits() }, "{a:e}, {b:e}");
        assert_eq!(got[2 * t + 1], if nan { 0x7fff_ffff } else { max.to_bits() }, "{a:e}, {b:e}");
    }
    let got: Vec<u32> = memory.read(packed).expect("written");
    for (t, ab) in halves.chunks_exact(2).enumerate() {
        for h in 0..2 {
            let (a, b) = ((ab[0] >> (16 * h)) as u16, (ab[1] >> (16 * h)) as u16);
            let (x, y) = (f16::from_bits(a), f16::from_bits(b));
            let below = |x: f16, y: f16| {
                (x.to_f32(), !x.is_sign_negative()) < (y.to_f32(), !y.is_sign_negative())
            };
            let min = match (x.is_nan(), y.is_nan()) {
                (true, true) => 0x7fff,
                (true, false) => b,
                (false, true) => a,
                (false, false) => [b, a][usize::from(below(x, y))],
            };
            let max = if x.is_nan() || y.is_nan() {
                0x7fff
            } else if below(x, y) {
                b
            } else {
                a
            };
            assert_eq!((got[3 * t] >> (16 * h)) as u16, min, "{a:x}, {b:x}");
            assert_eq!((got[3 * t + 1] >> (16 * h)) as u16, max, "{a:x}, {b:x}");
        }
    }
}
