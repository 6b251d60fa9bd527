//! What NVRTC seldom emits, written by hand: each test is a body of a few lines.

mod bench;

use bench::Bench;
use half::{bf16, f16};
use warpfold_simt::{Argument, Dimensions, Fault, Launch, Memory, Program, Settings};

/// A kernel around `body`. It finds its thread in `%r0`, two 64-bit inputs in `%rd1` and `%rd2` (their
/// low words in `%r1`, `%r2`), and leaves 64 bits in `%rd0`.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<19>; .reg .b64 %rd<29>; .reg .f32 %f<9>; .reg .f64 %d<9>;
.shared .align 16 .b8 sh[1024];
mov.u32 %r0, %tid.x;
ld.param.u64 %rd20, [in];
mul.wide.u32 %rd21, %r0, 16;
add.s64 %rd22, %rd20, %rd21;
ld.global.v2.u64 {{%rd1, %rd2}}, [%rd22];
cvt.u32.u64 %r1, %rd1;
cvt.u32.u64 %r2, %rd2;
mov.u64 %rd0, 0;
{body}
ld.param.u64 %rd23, [out];
mul.wide.u32 %rd24, %r0, 8;
add.s64 %rd25, %rd23, %rd24;
st.global.u64 [%rd25], %rd0;
ret;
}}
"
    )
}

fn outcome(body: &str, inputs: &[[u64; 2]], seed: u64) -> Result<Vec<u64>, Box<Fault>> {
    let program =
        Program::load(&kernel(body)).unwrap_or_else(|error| panic!("{error}\n{}", kernel(body)));
    let mut memory = Memory::new();
    let input = memory.upload(inputs.as_flattened());
    let out = memory.allocate(8 * inputs.len() as u64);
    let launch = Launch {
        kernel: "k".to_owned(),
        grid: Dimensions::from(1),
        block: Dimensions::from(inputs.len() as u32),
        shared_bytes: 0,
        arguments: vec![Argument::from(input), out.into()],
    };
    let settings = Settings { seed, budget: 1 << 20, ..Settings::default() };
    launch.run(&program, &mut memory, &settings)?;
    Ok(memory.read(out).expect("every thread writes"))
}

/// What stops it.
fn fault(body: &str, inputs: &[[u64; 2]]) -> Fault {
    *outcome(body, inputs, 0).expect_err("it is wrong")
}

/// One thread's result.
fn one(body: &str, a: u64, b: u64) -> u64 {
    outcome(body, &[[a, b]], 0).unwrap_or_else(|fault| panic!("{fault}"))[0]
}

/// One thread's 32-bit result in `%r9`.
fn word(body: &str, a: u32, b: u32) -> u32 {
    one(&format!("{body}\ncvt.u64.u32 %rd0, %r9;"), u64::from(a), u64::from(b)) as u32
}

#[test]
fn tables_of_branches() {
    let body = "
and.b32 %r3, %r1, 3;
brx.idx %r3, table;
table: .branchtargets A, B, C, A;
A: mov.u64 %rd0, 10; bra.uni END;
B: mov.u64 %rd0, 20;
C: add.s64 %rd0, %rd0, 5;
END:";
    let inputs: Vec<[u64; 2]> = (0..32).map(|i| [i * 7, 0]).collect();
    for seed in 0..4 {
        let got = outcome(body, &inputs, seed).expect("a right kernel");
        for (input, got) in inputs.iter().zip(got) {
            assert_eq!(got, [10, 25, 5, 10][(input[0] & 3) as usize]);
        }
    }
    let past = body.replace(", C, A;", ", C;");
    assert!(matches!(fault(&past, &[[3, 0]]), Fault::Jump { index: 3, targets: 3, .. }));
}

#[test]
fn seldom_integer_instructions() {
    let (a, b) = (0x89ab_cdefu32, 0x0123_4567u32);
    assert_eq!(
        word("mul24.lo.u32 %r9, %r1, %r2;", a, b),
        (u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) as u32
    );
    assert_eq!(
        word("mul24.hi.u32 %r9, %r1, %r2;", a, b),
        ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32
    );
    assert_eq!(word("mad24.lo.s32 %r9, %r1, %r2, 7;", 0xffff_ffff, 5), 2);
    assert_eq!(word("cnot.b32 %r9, %r1;", 0, 0), 1);
    assert_eq!(word("bfind.shiftamt.u32 %r9, %r1;", 0x0001_0000, 0), 15);
    assert_eq!(word("mad.wide.s32 %rd0, %r1, %r2, %rd1; mov.u32 %r9, 4;", 0, 0), 4);
    assert_eq!(
        word("mad.hi.u32 %r9, %r1, %r2, 1;", a, b),
        ((u64::from(a) * u64::from(b)) >> 32) as u32 + 1
    );
    assert_eq!(word("slct.u32.s32 %r9, 1, 2, %r1;", a, 0), 2);
    assert_eq!(word("set.lt.u32.u32 %r9, %r2, %r1;", a, b), u32::MAX);
    assert_eq!(word("set.gt.f32.u32 %r9, %r2, %r1;", b, a), 1f32.to_bits());
    assert_eq!(
        word("dp2a.lo.s32.u32 %r9, %r1, %r2, 3;", 0xffff_0002, 0x0000_0405),
        (2 * 5 - 4 + 3) as u32
    );
    for mode in ["f4e", "b4e", "rc8", "rc16", "ecl", "ecr"] {
        let got = word(&format!("prmt.b32.{mode} %r9, %r1, %r2, 1;"), a, b);
        // Worked out from the table of the PTX ISA for a selector of 1.
        let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
        let picks: [usize; 4] = match mode {
            "f4e" => [1, 2, 3, 4],
            "b4e" => [1, 0, 7, 6],
            "rc8" => [1; 4],
            "rc16" => [2, 3, 2, 3],
            "ecl" => [1, 1, 2, 3],
            _ => [0, 1, 1, 1],
        };
        assert_eq!(got, u32::from_le_bytes(picks.map(|i| bytes[i])), "{mode}");
    }
}

#[test]
fn half_conversions() {
    let pack = |x: f32, y: f32, ty: &str| {
        word(
            &format!("mov.b32 %f1, %r1; mov.b32 %f2, %r2; cvt.rn.{ty}.f32 %r9, %f1, %f2;"),
            x.to_bits(),
            y.to_bits(),
        )
    };
    for (x, y) in [(1.5f32, -2.25f32), (65519.0, 65520.0), (1e-7, 3.3e38), (0.1, -0.0)] {
        let halves =
            u32::from(f16::from_f32(x).to_bits()) << 16 | u32::from(f16::from_f32(y).to_bits());
        assert_eq!(pack(x, y, "f16x2"), halves);
        let brains =
            u32::from(bf16::from_f32(x).to_bits()) << 16 | u32::from(bf16::from_f32(y).to_bits());
        assert_eq!(pack(x, y, "bf16x2"), brains);
        let one = word(
            "mov.b32 %f1, %r1; cvt.rn.bf16.f32 %h1, %f1; cvt.f32.bf16 %f2, %h1; mov.b32 %r9, %f2;",
            x.to_bits(),
            0,
        );
        assert_eq!(one, bf16::from_f32(x).to_f32().to_bits());
    }
    let relu = word("mov.b32 %f1, %r1; cvt.rn.relu.f16x2.f32 %r9, %f1, %f1;", (-3f32).to_bits(), 0);
    assert_eq!(relu, 0);
    let sum = word("fma.rn.bf16x2 %r9, %r1, %r2, %r1;", 0x3f80_4000, 0x4000_3f80);
    assert_eq!(sum, 0x4040_4080);
}

#[test]
fn near_reciprocals_of_f64() {
    let apply = |instruction: &str, x: f64| {
        let body =
            format!("mov.b64 %d1, %rd1; {instruction}.approx.ftz.f64 %d2, %d1; mov.b64 %rd0, %d2;");
        f64::from_bits(one(&body, x.to_bits(), 0))
    };
    let near = |x: f64| apply("rcp", x);
    for x in [3.0, -0.1, 1.0 + f64::EPSILON, 1.9999999999999998, 1e-300, -6e300] {
        let (y, of_root) = (near(x), apply("rsqrt", x.abs()));
        assert_eq!((y.to_bits() as u32, of_root.to_bits() as u32), (0, 0), "{x}");
        assert!((y * x - 1.0).abs() < 2f64.powi(-19), "{x} gives {y}");
        assert!((of_root * x.abs().sqrt() - 1.0).abs() < 2f64.powi(-19), "{x} gives {of_root}");
        // Numbers of one upper word have one reciprocal.
        assert_eq!(near(f64::from_bits(x.to_bits() ^ 0xffff_ffff)), y, "{x}");
    }
    assert!(apply("rsqrt", -2.0).is_nan());
    assert_eq!(apply("rsqrt", -1e-310), f64::NEG_INFINITY);
    // The values of the table of the PTX ISA.
    for (x, y) in [
        (f64::NEG_INFINITY, -0.0),
        (-1e-310, f64::NEG_INFINITY),
        (-0.0, f64::NEG_INFINITY),
        (0.0, f64::INFINITY),
        (1e-310, f64::INFINITY),
        (f64::INFINITY, 0.0),
        (f64::MAX, 0.0),
        (f64::MIN, -0.0),
    ] {
        assert_eq!(near(x).to_bits(), y.to_bits(), "{x}");
    }
    assert!(near(f64::NAN).is_nan());
}

#[test]
fn packed_halves() {
    let (a, b) = (0x7fff_8000, 0x8000_0001);
    assert_eq!(word("min.s16x2 %r9, %r1, %r2;", a, b), 0x8000_8000);
    assert_eq!(word("max.s16x2 %r9, %r1, %r2;", a, b), 0x7fff_0001);
    assert_eq!(word("min.u16x2 %r9, %r1, %r2;", a, b), 0x7fff_0001);
    assert_eq!(word("max.u16x2 %r9, %r1, %r2;", a, b), 0x8000_8000);
    assert_eq!(word("add.u16x2 %r9, %r1, %r2;", 0x0001_ffff, 0x0001_0001), 0x0002_0000);
}

#[test]
fn predicates_and_properties() {
    let body = "
setp.lt.u32 %p1|%p2, %r1, %r2;
setp.eq.and.u32 %p3, %r1, 5, !%p1;
xor.pred %p4, %p1, %p3;
mov.pred %p5, 1;
not.pred %p6, %p5;
selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; selp.u32 %r5, 4, 0, %p3;
selp.u32 %r6, 8, 0, %p4; selp.u32 %r7, 16, 0, !%p6;
or.b32 %r9, %r3, %r4; or.b32 %r9, %r9, %r5; or.b32 %r9, %r9, %r6; or.b32 %r9, %r9, %r7;";
    assert_eq!(word(body, 3, 9), 1 + 8 + 16);
    assert_eq!(word(body, 5, 2), 2 + 4 + 8 + 16);
    assert_eq!(word(body, 9, 9), 2 + 16);
    for (property, bits, holds) in [
        ("finite", 1f32.to_bits(), 1),
        ("infinite", f32::INFINITY.to_bits(), 1),
        ("notanumber", f32::NAN.to_bits(), 1),
        ("number", f32::NAN.to_bits(), 0),
        ("subnormal", 1, 1),
        ("normal", 1, 0),
    ] {
        let body =
            format!("mov.b32 %f1, %r1; testp.{property}.f32 %p1, %f1; selp.u32 %r9, 1, 0, %p1;");
        assert_eq!(word(&body, bits, 0), holds, "{property}");
    }
}

#[test]
fn named_barriers_between_producers_and_consumers() {
    // Warp 0 writes and arrives; warp 1 waits and reads; they swap back through a second barrier.
    let body = "
shl.b32 %r3, %r0, 2; and.b32 %r4, %r3, 127;
mov.u32 %r5, sh; add.u32 %r5, %r5, %r4;
setp.ge.u32 %p1, %r0, 32;
@%p1 bra CONSUME;
st.shared.u32 [%r5], %r1;
bar.arrive 1, 64;
bar.sync 2, 64;
ld.shared.u32 %r9, [%r5];
bra END;
CONSUME:
bar.sync 1, 64;
ld.shared.u32 %r9, [%r5];
add.u32 %r9, %r9, 1000;
st.shared.u32 [%r5], %r9;
bar.sync 2, 64;
END: cvt.u64.u32 %rd0, %r9;";
    let inputs: Vec<[u64; 2]> = (0..64).map(|i| [i * 3, 0]).collect();
    for seed in 0..8 {
        let got = outcome(body, &inputs, seed).expect("ordered");
        for (t, value) in got.into_iter().enumerate() {
            assert_eq!(value, 1000 + 3 * (t as u64 % 32));
        }
        // The consumers' barrier left out: what they read races with what the producers write.
        let early = body.replace("CONSUME:\nbar.sync 1, 64;", "CONSUME:\nbar.arrive 1, 64;");
        let fault = outcome(&early, &inputs, seed).expect_err("nothing orders the read");
        assert!(matches!(*fault, Fault::Race { .. } | Fault::Uninitialised { .. }), "{fault}");
    }
    let misuse = outcome("bar.sync 16;", &[[0, 0]], 0).expect_err("there is no barrier 16");
    assert!(matches!(*misuse, Fault::BarrierMisuse { .. }), "{misuse}");
}

#[test]
fn masks() {
    let wrong = outcome("bar.warp.sync 2;", &[[0, 0]], 0).expect_err("lane 0 is not in the mask");
    assert!(matches!(*wrong, Fault::LaneNotInMask { mask: 2, .. }), "{wrong}");
    // Guarded: half the lanes exchange under their own mask, the others go on.
    let body = "
and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 1; mov.u32 %r9, 7;
@%p1 shfl.sync.idx.b32 %r9, %r1, 3, 31, 0xaaaaaaaa;
cvt.u64.u32 %rd0, %r9;";
    let inputs: Vec<[u64; 2]> = (0..32).map(|i| [i + 100, 0]).collect();
    let got = outcome(body, &inputs, 0).expect("a right kernel");
    assert!((0..32).all(|t| got[t] == if t % 2 == 1 { 103 } else { 7 }));
    let elected = outcome("elect.sync %r9|%p1, 0xffffffff; selp.u64 %rd0, 1, 0, %p1;", &inputs, 0)
        .expect("one leads");
    assert_eq!(elected.iter().sum::<u64>(), 1);
    let all =
        outcome("vote.sync.all.pred %p1, 1, 0xffffffff; selp.u64 %rd0, 1, 0, %p1;", &inputs, 0)
            .expect("they vote");
    assert_eq!(all, vec![1; 32]);
}

#[test]
fn mbarriers_by_state_and_count() {
    let body = "
mov.u32 %r5, sh;
setp.ne.u32 %p1, %r0, 0;
@!%p1 mbarrier.init.shared::cta.b64 [%r5], 64;
bar.sync 0;
shl.b32 %r3, %r0, 2; add.u32 %r6, %r5, %r3;
st.shared.u32 [%r6+64], %r1;
mbarrier.arrive.shared::cta.b64 %rd3, [%r5];
WAIT: mbarrier.test_wait.shared::cta.b64 %p2, [%r5], %rd3;
@!%p2 bra WAIT;
xor.b32 %r3, %r3, 128; add.u32 %r6, %r5, %r3;
ld.shared.u32 %r9, [%r6+64];
cvt.u64.u32 %rd0, %r9;";
    let inputs: Vec<[u64; 2]> = (0..64).map(|i| [i * i, 0]).collect();
    for seed in 0..6 {
        let got = outcome(body, &inputs, seed).expect("the mbarrier orders");
        assert!((0..64).all(|t| got[t] == inputs[t ^ 32][0]));
        let unheeded = body.replace("@!%p2 bra WAIT;", "");
        let fault = outcome(&unheeded, &inputs, seed).expect_err("the wait is not waited for");
        assert!(matches!(*fault, Fault::Race { .. } | Fault::Uninitialised { .. }), "{fault}");
    }
    let unmade = fault("mov.u32 %r5, sh; mbarrier.arrive.shared.b64 %rd3, [%r5];", &[[0, 0]]);
    assert!(matches!(unmade, Fault::Mbarrier { .. }));
}

#[test]
fn traps_and_read_only_memory() {
    assert!(matches!(fault("setp.eq.u32 %p1, %r1, 9; @%p1 trap;", &[[9, 0]]), Fault::Trap { .. }));
    assert_eq!(one("setp.eq.u32 %p1, %r1, 9; @%p1 trap;", 8, 0), 0);
    // A generic address that points into constant memory.
    let text = kernel("mov.u64 %rd3, table; cvta.const.u64 %rd4, %rd3; st.u32 [%rd4], %r1;")
        .replace(
            ".visible .entry",
            ".const .align 4 .b8 table[4] = {1, 2, 3, 4};\n.visible .entry",
        );
    let program = Program::load(&text).expect("it decodes");
    let mut memory = Memory::new();
    let buffer = memory.upload(&[0u64; 2]);
    let bench = Bench::new("k", 1, 1).arguments([buffer.into(), buffer.into()]);
    let fault = bench.fault(&program, &mut memory, &Settings::default());
    assert!(matches!(fault, Fault::ReadOnly { .. }), "{fault}");
}

#[test]
fn packed_atomics() {
    let body = "
ld.param.u64 %rd5, [in];
setp.eq.u32 %p1, %r0, 0; mov.u32 %r5, sh;
@%p1 st.shared.v2.u32 [%r5], {%r2, %r2};
bar.sync 0;
atom.shared.add.noftz.f16x2 %r6, [%r5], 0x3c003c00;
red.shared.add.noftz.bf16x2 [%r5+4], 0x3f803f80;
bar.sync 0;
ld.shared.v2.u32 {%r7, %r8}, [%r5];
mov.b64 %rd0, {%r7, %r8};";
    let got = outcome(body, &[[0, 0]; 32], 3).expect("atomic");
    let (halves, brains) = (f16::from_f32(32.0).to_bits(), bf16::from_f32(32.0).to_bits());
    let twice = |bits: u16| u64::from(bits) << 16 | u64::from(bits);
    assert_eq!(got[0], twice(brains) << 32 | twice(halves));
}
