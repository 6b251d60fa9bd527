//! Loads and stores of every shape, and messages between blocks.

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Argument, Dimensions, Fault, Memory, Settings};

#[test]
fn vectors() {
    let program = load("memory");
    let mut memory = Memory::new();
    let singles: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let doubles: Vec<f64> = (0..64).map(f64::from).collect();
    let shorts: Vec<i16> = (0..128).map(|i: i16| i.wrapping_mul(700)).collect();
    let (a, b, c) = (memory.upload(&singles), memory.upload(&doubles), memory.upload(&shorts));
    let outs = [memory.allocate(512), memory.allocate(512), memory.allocate(512)];
    let bench = Bench::new("vectors", 1, 32)
        .arguments([a, b, c, outs[0], outs[1], outs[2]].map(Argument::from));
    let counters = bench.run(&program, &mut memory, &Settings::default());
    let singles_out: Vec<f32> = memory.read(outs[0]).expect("written");
    let doubles_out: Vec<f64> = memory.read(outs[1]).expect("written");
    let ints_out: Vec<i32> = memory.read(outs[2]).expect("written");
    for i in 0..128 {
        assert_eq!(singles_out[i], if i % 4 == 3 { i as f32 } else { 2.0 * i as f32 });
        assert_eq!(ints_out[i], i32::from(shorts[i]));
    }
    for (i, value) in doubles_out.into_iter().enumerate() {
        assert_eq!(value, if i % 2 == 0 { 2.0 * i as f64 } else { 0.0 });
    }
    // Four loads of float4, two of double2, one of short4: sectors of 32 bytes, all used.
    assert_eq!(counters.total.global_load_requests, 7);
    assert_eq!(counters.total.global_load_sectors, 4 * 16 + 2 * 16 + 8);
    assert_eq!(counters.total.global_store_sectors, 3 * 16);
}

#[test]
fn hints() {
    let program = load("memory");
    let mut memory = Memory::new();
    let input = memory.upload(&(0..32u32).collect::<Vec<_>>());
    let out = memory.allocate(256);
    Bench::new("hints", 1, 32).arguments([input.into(), out.into()]).run(
        &program,
        &mut memory,
        &Settings::default(),
    );
    let got: Vec<u32> = memory.read(out).expect("written");
    for t in 0..32 {
        assert_eq!(got[2 * t..2 * t + 2], [4 * t as u32, t as u32]);
    }
}

#[test]
fn release_and_acquire_carry_a_message() {
    let program = load("memory");
    for seed in 0..10 {
        let run = |kernel: &str| {
            let mut memory = Memory::new();
            let flag = memory.upload(&[0u32]);
            let data = memory.allocate(4);
            let out = memory.allocate(4);
            let bench = Bench::new(kernel, 2, 32).arguments([flag, data, out].map(Argument::from));
            let settings = Settings { seed, budget: 1_000_000, ..Settings::default() };
            bench.0.run(&program, &mut memory, &settings).map(|_| memory.read::<u32>(out))
        };
        assert_eq!(run("message").expect("ordered"), Ok(vec![123]), "seed {seed}");
        let fault = run("message_unordered").expect_err("nothing is released");
        assert!(matches!(*fault, Fault::Race { .. }), "{fault}");
    }
}

#[test]
fn neighbouring_bytes_do_not_race() {
    let program = load("memory");
    let mut memory = Memory::new();
    let bytes = memory.upload(&[1u8; 256]);
    let halves = memory.upload(&(0..256u16).collect::<Vec<_>>());
    let bench = Bench::new("neighbours", 4, 64).arguments([bytes.into(), halves.into()]);
    bench.run(&program, &mut memory, &Settings { seed: 1, ..Settings::default() });
    let bytes: Vec<u8> = memory.read(bytes).expect("written");
    let halves: Vec<u16> = memory.read(halves).expect("written");
    for t in 0..256usize {
        assert_eq!(bytes[t], 2u8.wrapping_add((t ^ 1) as u8));
        assert_eq!(halves[t], 2 * t as u16);
    }
}

#[test]
fn structures_and_three_dimensions() {
    let program = load("memory");
    let mut memory = Memory::new();
    let (grid, block) = (Dimensions::from((2, 3, 2)), Dimensions::from((5, 3, 2)));
    let out = memory.allocate(4 * grid.count() * block.count());
    let mut shape = vec![0u8; 32];
    shape[..2].copy_from_slice(&7u16.to_le_bytes());
    shape[8..16].copy_from_slice(&1000u64.to_le_bytes());
    for (i, value) in [10f32, 20.0, 30.0].into_iter().enumerate() {
        shape[16 + 4 * i..20 + 4 * i].copy_from_slice(&value.to_le_bytes());
    }
    let mut bench = Bench::new("by_value", 1, 1).arguments([Argument::bytes(shape), out.into()]);
    bench.0.grid = grid;
    bench.0.block = block;
    bench.run(&program, &mut memory, &Settings { seed: 8, ..Settings::default() });
    let got: Vec<u32> = memory.read(out).expect("every thread of every block writes");
    for (i, value) in got.into_iter().enumerate() {
        let t = i as u32 % 30;
        let [x, y, z] = block.coordinates(u64::from(t));
        assert_eq!(value, 1007 + 10 * (t % 3 + 1) + x + 10 * y + 100 * z);
    }
}
