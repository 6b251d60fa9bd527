//! Integer and bit instructions against what Rust computes.

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Element, Memory, Settings};

/// Patterns that are hard, then pseudo-random ones; three a thread for 64 threads.
fn inputs() -> Vec<u64> {
    let hard = [
        0,
        1,
        2,
        u64::MAX,
        1 << 31,
        1 << 63,
        (1 << 31) - 1,
        0xffff_ffff,
        0x8000_0000_8000_0000,
        3,
        31,
        32,
        33,
        63,
        64,
        7,
    ];
    let mut words = warpfold_num::random::Words(0x1234_5678_9abc_def1);
    let mut all: Vec<u64> = Vec::new();
    for i in 0..192 {
        let state = words.next();
        all.push(if i < 96 { hard[(i * 7 + i / 16) % 16] } else { state >> (state % 40) });
    }
    all
}

/// Runs `kernel` over the inputs; 16 results for each of 64 threads.
fn results<T: Element>(kernel: &str, narrow: impl Fn(u64) -> T) -> Vec<T> {
    let program = load("integers");
    let mut memory = Memory::new();
    let data: Vec<T> = inputs().into_iter().map(narrow).collect();
    let input = memory.upload(&data);
    let out = memory.allocate(64 * 16 * T::BYTES as u64);
    let bench = Bench::new(kernel, 1, 64).arguments([input.into(), out.into()]);
    bench.run(&program, &mut memory, &Settings { seed: 4, ..Settings::default() });
    memory.read(out).expect("every result is written")
}

fn compare<T: Element + PartialEq + std::fmt::LowerHex, const N: usize>(
    kernel: &str,
    narrow: impl Fn(u64) -> T,
    expected: impl Fn(T, T, T) -> [T; N],
) {
    let got = results(kernel, &narrow);
    for (thread, abc) in inputs().chunks_exact(3).enumerate() {
        let [a, b, c] = [abc[0], abc[1], abc[2]].map(&narrow);
        for (i, want) in expected(a, b, c).into_iter().enumerate() {
            let have = got[16 * thread + i];
            assert!(have == want, "{kernel}[{i}] of {a:x}, {b:x}, {c:x}: {have:x}, not {want:x}");
        }
    }
}

#[test]
fn int32() {
    compare(
        "int32",
        |v| v as u32,
        |a, b, c| {
            let (x, y, z) = (a as i32, b as i32, c as i32);
            [
                a.wrapping_add(b),
                a.wrapping_mul(b),
                a.checked_div(b).unwrap_or(u32::MAX),
                a.checked_rem(b).unwrap_or(a),
                if y == 0 { u32::MAX } else { x.wrapping_div(y) as u32 },
                if y == 0 { x as u32 } else { x.wrapping_rem(y) as u32 },
                x.min(y) as u32,
                a.max(b),
                ((u64::from(a) * u64::from(b)) >> 32) as u32,
                ((i64::from(x) * i64::from(y)) >> 32) as u32,
                (x >> (b & 31)) as u32,
                a >> (b & 31),
                a << (b & 31),
                x.wrapping_abs() as u32,
                x.wrapping_mul(y).wrapping_add(z) as u32,
                a.abs_diff(b).wrapping_add(c),
            ]
        },
    );
}

#[test]
fn int64() {
    compare(
        "int64",
        |v| v,
        |a, b, c| {
            let (x, y) = (a as i64, b as i64);
            [
                a.wrapping_add(b),
                a.wrapping_mul(b),
                a / b.max(1),
                a % b.max(1),
                x.wrapping_div(if y == 0 { 1 } else { y }) as u64,
                x.wrapping_rem(if y == 0 { 1 } else { y }) as u64,
                x.min(y) as u64,
                a.max(b),
                ((u128::from(a) * u128::from(b)) >> 64) as u64,
                ((i128::from(x) * i128::from(y)) >> 64) as u64,
                (x >> (b & 63)) as u64,
                a >> (b & 63),
                a << (b & 63),
                x.wrapping_abs() as u64,
                a.wrapping_mul(b).wrapping_add(c),
                u64::from(a as u32) * u64::from(b as u32),
            ]
        },
    );
}

#[test]
fn int128() {
    compare(
        "int128",
        |v| v,
        |a, b, c| {
            let low = |v: u128| v as u64;
            let high = |v: u128| (v >> 64) as u64;
            let sum = u128::from(a) + u128::from(b);
            let (difference, borrow) = a.overflowing_sub(b);
            let narrow = u128::from(a as u32) * u128::from(b as u32) + u128::from(c as u32);
            let product = (u128::from(a) * u128::from(b)).wrapping_add(u128::from(c));
            let signed = (i128::from(a as i64) * i128::from(b as i64))
                .wrapping_sub(i128::from(c as i64)) as u128;
            let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
            let total = wide(a, b).wrapping_add(wide(b, c));
            let shifted = wide(a, b) >> (c & 127);
            [
                low(sum),
                high(sum).wrapping_add(c),
                difference,
                c.wrapping_sub(u64::from(borrow)),
                u64::from(narrow as u32),
                u64::from((narrow >> 32) as u32),
                u64::from((narrow >> 64) as u32),
                low(product),
                high(product),
                low(signed),
                high(signed),
                low(total),
                high(total),
                low(shifted),
                high(shifted),
                u64::from(wide(a, b) < wide(b, c)),
            ]
        },
    );
}

fn field(a: u64, position: u64, length: u64, bits: u32, signed: bool) -> u64 {
    // PTX ISA, `bfe`: bit by bit, past the top comes the sign or zero.
    let sign = if !signed || length == 0 {
        0
    } else {
        a >> (position + length - 1).min(u64::from(bits) - 1) & 1
    };
    (0..u64::from(bits)).fold(0, |out, i| {
        let bit = if i < length && position + i < u64::from(bits) {
            a >> (position + i) & 1
        } else {
            sign
        };
        out | bit << i
    })
}

fn inserted(a: u64, b: u64, position: u64, length: u64, bits: u64) -> u64 {
    (0..length)
        .filter(|i| position + i < bits)
        .fold(b, |out, i| out & !(1 << (position + i)) | (a >> i & 1) << (position + i))
}

#[test]
fn bits32() {
    compare(
        "bits32",
        |v| v as u32,
        |a, b, c| {
            let wide = u64::from(b) << 32 | u64::from(a);
            let bytes = (0..4).fold(0, |out, i| {
                let pick = c >> (4 * i) & 0xf;
                let byte = (wide >> (8 * (pick & 7)) & 0xff) as u32;
                let byte = if pick & 8 != 0 { (byte >> 7) * 0xff } else { byte };
                out | byte << (8 * i)
            });
            let dot = |signed: bool| {
                (0..4).fold(c, |sum, i| {
                    let (x, y) = (a >> (8 * i) & 0xff, b >> (8 * i) & 0xff);
                    let product = if signed {
                        i32::from(x as i8) * i32::from(y as i8)
                    } else {
                        (x * y) as i32
                    };
                    sum.wrapping_add(product as u32)
                })
            };
            let (f, g) = (u64::from(b & 31), u64::from(c & 31));
            [
                a.count_ones(),
                a.leading_zeros(),
                a.reverse_bits(),
                if a == 0 { 0 } else { a.trailing_zeros() + 1 },
                bytes,
                (wide << (c & 31) >> 32) as u32,
                (wide >> (c & 63).min(32)) as u32,
                (a & b) ^ (!c | a),
                field(u64::from(a), f, g, 32, false) as u32,
                field(u64::from(a), f, g, 32, true) as u32,
                inserted(u64::from(a), u64::from(b), g, u64::from(b & 15), 32) as u32,
                if a == 0 { u32::MAX } else { 31 - a.leading_zeros() },
                match if (a as i32) < 0 { !a } else { a } {
                    0 => u32::MAX,
                    v => 31 - v.leading_zeros(),
                },
                (a & b) | (!a & c),
                dot(true),
                dot(false),
            ]
        },
    );
}

#[test]
fn bits64() {
    compare(
        "bits64",
        |v| v,
        |a, b, c| {
            let (x, y) = (a as i64, b as i64);
            [
                u64::from(a.count_ones()),
                u64::from(a.leading_zeros()),
                a.reverse_bits(),
                if a == 0 { 0 } else { u64::from(a.trailing_zeros()) + 1 },
                field(a, b & 63, c & 63, 64, false),
                field(a, b & 63, c & 63, 64, true),
                inserted(a, b, c & 63, b & 31, 64),
                a & b,
                a | c,
                a ^ b,
                !a,
                u64::from(a == b),
                u64::from(a != 0 && b != 0),
                u64::from((a < b && b < c) || a == c),
                if x < y { c } else { a },
                u64::from(a == 0),
            ]
        },
    );
}

#[test]
fn narrow() {
    let all: Vec<u32> = inputs().into_iter().map(|v| v as u32).collect();
    let mut bytes: Vec<u8> = all.iter().flat_map(|v| v.to_le_bytes()).collect();
    bytes.extend([0; 8]);
    let got = results("narrow", |v| v as u32);
    for (thread, abc) in all.chunks_exact(3).enumerate() {
        let [a, b, c] = [abc[0], abc[1], abc[2]];
        let at = |i: usize| bytes[12 * thread + i];
        let expected = [
            a as i8 as u32,
            a as u8 as u32,
            b as i16 as u32,
            b as u16 as u32,
            u32::from((a as u16).wrapping_mul(3).wrapping_add(1)),
            ((b as i16) >> 3) as u32,
            u32::from(a as u16 / (c as u16 | 1)),
            at(0) as i8 as u32,
            at(5) as i8 as u32,
            i16::from_le_bytes([at(6), at(7)]) as u32,
            u32::from(at(7)),
            (a as i32).clamp(0, 255) as u32,
            (b as i32).clamp(-32768, 32767) as u32,
            (a as i32).saturating_add(b as i32) as u32,
            u32::from(a as u8) | u32::from(b as u8) << 8 | c << 16,
            u32::from((a as u8).max(b as u8)),
        ];
        assert_eq!(got[16 * thread..16 * thread + 16], expected, "{a:x}, {b:x}, {c:x}");
    }
}

#[test]
fn spaces_calls_switches_and_loops() {
    let all: Vec<u32> = inputs().into_iter().map(|v| v as u32).collect();
    let table = [1u32, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
    let got = results("spaces", |v| v as u32);
    for (t, abc) in all.chunks_exact(3).enumerate() {
        let [a, b, c] = [abc[0], abc[1], abc[2]];
        let mut stack = [0u32; 16];
        for i in 0..16u32 {
            stack[(i.wrapping_add(c) & 15) as usize] = a.wrapping_mul(i).wrapping_add(b);
        }
        let looked = |i: u32, p: u32| {
            u64::from(table[(i & 7) as usize].wrapping_mul(stack[(p + (i & 3)) as usize]))
        };
        let (q, shared, local) = if a & 1 == 1 {
            (all[3 * (t ^ 1)], 1, 0)
        } else if b & 1 == 1 {
            (stack[(c & 15) as usize], 0, 1)
        } else if c & 1 == 1 {
            (table[(a & 7) as usize], 0, 0)
        } else {
            ([5, 6, 7, 8][(a & 3) as usize], 0, 0)
        };
        let global = u32::from(a & 1 == 0 && b & 1 == 0 && c & 1 == 0);
        let r = match c % 9 {
            0 => a.wrapping_add(1),
            1 => b.wrapping_mul(3),
            2 => a ^ b,
            3 => a.wrapping_sub(b),
            4 => b.wrapping_mul(a & 7),
            5 => (a / (b | 1)).wrapping_add(9),
            6 => 9,
            _ => 77,
        };
        let (mut steps, mut x) = (0, a | 1);
        while x != 1 && steps <= 200 {
            x = if x & 1 == 1 { x.wrapping_mul(3).wrapping_add(1) } else { x / 2 };
            steps += 1;
        }
        let expected = [
            stack[(a & 15) as usize],
            table[(b & 7) as usize],
            a.wrapping_mul(3),
            (looked(a, b & 7) + looked(a.wrapping_add(1), b & 7)) as u32,
            q,
            r,
            shared,
            global,
            local,
            steps,
            1064,
            0,
            32,
        ];
        assert_eq!(got[16 * t..16 * t + 13], expected, "thread {t}: {a:x}, {b:x}, {c:x}");
    }
}
