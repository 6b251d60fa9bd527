//! exp, log, sin and their like against arithmetic of several hundred bits, and their loops against one element at a time.

#[allow(dead_code, reason = "the standard library's functions are for the examples")]
mod oracle;

use oracle::inputs::{bits, hard_and_random, has_value};
use oracle::{Function, ROWS, Row, wide};
use warpfold_expr::math::{LARGEST, SMALLEST, double, single};
use warpfold_expr::{Expr, Program, Slice, TILE, Tiles};
use warpfold_num::DType;

/// The whole is compared by `examples/all_f32.rs`; this is a part of it.
#[test]
fn functions_of_f32_are_correctly_rounded() {
    for Row { name, function, single: ours, .. } in ROWS {
        let step = if cfg!(debug_assertions) { 2_000_003 } else { 200_003 };
        for bits in (0..1u64 << 32).step_by(step) {
            let x = f32::from_bits(bits as u32);
            if has_value(function, f64::from(x)) && (function != Function::Exp || x.abs() < 120.0) {
                let expected = wide(function, f64::from(x)).single();
                assert_eq!(ours(x).to_bits(), expected.to_bits(), "{name} of {x:e}");
            }
        }
    }
    for n in SMALLEST..=LARGEST {
        for bits in (0..1u64 << 32).step_by(40_000_003) {
            let x = f32::from_bits(bits as u32);
            if x.is_finite() && x != 0.0 {
                let expected = wide(Function::Power(n), f64::from(x)).single();
                assert_eq!(single::power(x, n).to_bits(), expected.to_bits(), "{x:e} ** {n}");
            }
        }
    }
}

#[test]
fn functions_of_f64_are_within_an_ulp() {
    let n = if cfg!(debug_assertions) { 3_000 } else { 200_000 };
    for Row { name, function, double: ours, .. } in ROWS {
        let mut worst = (0.0, 0.0);
        for x in hard_and_random(n, 11).filter(|&x| has_value(function, x)) {
            let ulps = wide(function, x).ulps(ours(x));
            if ulps > worst.0 {
                worst = (ulps, x);
            }
        }
        println!("{name}: {:.4} ulp at {:e}", worst.0, worst.1);
        assert!(worst.0 > 0.4 && worst.0 <= 1.0, "{name}: {:?}", worst);
    }
    for n in SMALLEST..=LARGEST {
        for x in
            hard_and_random(200, u64::from(n.unsigned_abs())).filter(|x| x.is_finite() && *x != 0.0)
        {
            let expected = wide(Function::Power(n), x);
            let ours = double::power(x, n);
            assert!(expected.ulps(ours) <= 0.75, "{x:e} ** {n}: {ours:e}");
        }
    }
    // The double that lies nearest to a multiple of π/2 (Kahan).
    let x = 6_381_956_970_095_103.0 * 2f64.powi(797);
    assert!(wide(Function::Cos, x).ulps(double::cos(x)) <= 1.0);
}

#[test]
fn zeros_infinities_and_nans_have_their_values() {
    const INF: f64 = f64::INFINITY;
    let cases: [(&str, [f64; 5]); 10] = [
        // Of -inf, -0, +0, inf and -2; NaN is checked of all.
        ("exp", [0.0, 1.0, 1.0, INF, 0.135_335_283_236_612_7]),
        ("exp2", [0.0, 1.0, 1.0, INF, 0.25]),
        ("expm1", [-1.0, -0.0, 0.0, INF, -0.864_664_716_763_387_3]),
        ("log", [f64::NAN, -INF, -INF, INF, f64::NAN]),
        ("log2", [f64::NAN, -INF, -INF, INF, f64::NAN]),
        ("log1p", [f64::NAN, -0.0, 0.0, INF, f64::NAN]),
        ("tanh", [-1.0, -0.0, 0.0, 1.0, -0.964_027_580_075_816_9]),
        ("sigmoid", [0.0, 0.5, 0.5, 1.0, 0.119_202_922_022_117_56]),
        ("sin", [f64::NAN, -0.0, 0.0, f64::NAN, -0.909_297_426_825_681_7]),
        ("cos", [f64::NAN, 1.0, 1.0, f64::NAN, -0.416_146_836_547_142_4]),
    ];
    let quiet = f64::NAN.to_bits();
    for ((name, expected), row) in cases.into_iter().zip(ROWS) {
        let Row { name: known, single: of_single, double: of_double, .. } = row;
        assert_eq!(name, known);
        for (x, expected) in [-INF, -0.0, 0.0, INF, -2.0].into_iter().zip(expected) {
            assert_eq!(of_double(x).to_bits(), expected.to_bits(), "{name} of {x}");
            let narrow = of_single(x as f32);
            assert_eq!(narrow.to_bits(), (expected as f32).to_bits(), "{name} of f32 {x}");
        }
        for nan in [f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001)] {
            assert_eq!(of_double(nan).to_bits(), quiet, "{name} of NaN");
        }
        assert_eq!(of_single(f32::from_bits(0xff80_0001)).to_bits(), f32::NAN.to_bits());
    }
    assert_eq!(double::log1p(-1.0), -INF);
    // Subnormal numbers are their own sines.
    let least = f64::from_bits(1);
    for of in [double::sin, double::tanh, double::expm1, double::log1p] {
        assert_eq!((of(least), of(-least)), (least, -least));
    }
    let powers = [
        (-0.0, 3, -0.0),
        (-0.0, 4, 0.0),
        (-0.0, -3, -INF),
        (0.0, -4, INF),
        (-INF, 3, -INF),
        (-INF, -3, -0.0),
        (-INF, 64, INF),
        (f64::NAN, 0, 1.0),
        (-3.0, 3, -27.0),
        (2.0, -8, 0.003_906_25),
        (1e6, 64, INF),
        (-1e-6, 63, -0.0),
    ];
    for (x, n, expected) in powers {
        assert_eq!(double::power(x, n).to_bits(), expected.to_bits(), "{x} ** {n}");
        let narrow = single::power(x as f32, n);
        assert_eq!(narrow.to_bits(), (expected as f32).to_bits(), "f32 {x} ** {n}");
    }
}

/// Loops compiled for each instruction set, beside one element at a time.
#[test]
fn tiles_have_the_bits_of_single_elements() {
    let x: Vec<f32> = bits(3 * TILE / 2, 5).map(|bits| f32::from_bits(bits as u32)).collect();
    let y: Vec<f64> = hard_and_random(3 * TILE / 2, 6).collect();
    let inputs = [Slice::F32(&x), Slice::F64(&y)];
    let check = |text: &str, of_single: &dyn Fn(f32) -> f32, of_double: &dyn Fn(f64) -> f64| {
        let texts = ["x", "y"].map(|name| Expr::parse(&text.replace('#', name)).expect(text));
        let types = [("x", DType::F32), ("y", DType::F64)];
        let program = Program::new(&[&texts[0], &texts[1]], &types).expect(text);
        let mut tiles = Tiles::new(&program, false);
        for (first, n) in [(0, TILE), (TILE, TILE / 2), (7, 1), (9, 39)] {
            tiles.run(&inputs, first, n).expect("every element has a value");
            let found: &[f32] = tiles.values(program.roots()[0].value, &inputs, first, n);
            for (&x, found) in x[first..first + n].iter().zip(found) {
                assert_eq!(found.to_bits(), of_single(x).to_bits(), "{text} of f32 {x:e}");
            }
            let found: &[f64] = tiles.values(program.roots()[1].value, &inputs, first, n);
            for (&y, found) in y[first..first + n].iter().zip(found) {
                assert_eq!(found.to_bits(), of_double(y).to_bits(), "{text} of {y:e}");
            }
        }
    };
    for Row { name, single: of_single, double: of_double, .. } in ROWS {
        check(&format!("{name}(#)"), &of_single, &of_double);
    }
    for n in [-8, -1, 0, 3, 7, 64] {
        let (of_single, of_double) = (|x| single::power(x, n), |x| double::power(x, n));
        check(&format!("#**{n}"), &of_single, &of_double);
        check(&format!("pow(#, {n})"), &of_single, &of_double);
    }
}

#[test]
fn constants_are_folded_by_the_same_functions() {
    let folded = |text: &str| {
        let expr = Expr::parse(text).expect(text);
        Program::new(&[&expr], &[("x", DType::F32)]).map(|program| program.to_string())
    };
    let found = folded("x + exp(1)").expect("it is an expression");
    assert!(found.contains(" = f32 2.7182817\n"), "{found}");
    let found = folded("log2(8) * 2.0**-3").expect("it is an expression");
    assert!(found.ends_with("= f64 0.375\n"), "{found}");
    let error = |text: &str| folded(text).expect_err("it is refused").to_string();
    assert_eq!(error("exp(i64(x))"), "map, column 1: `exp` takes no i64; say f64(…) first");
    assert!(error("x**65").contains("65 is no exponent of a float here; take one from -8 to 64"));
    assert!(error("x**0.5").contains("an exponent is a whole constant"));
}

/// Inputs whose results lie nearest to the middle of two numbers, and their neighbours: those that are listed, and sigmoids near 1/2.
#[test]
fn hard_inputs_of_f32_are_correctly_rounded() {
    let near_half = (1..200u32).flat_map(|k| [k as f32, -(k as f32)]).map(|k| k * 2f32.powi(-24));
    let sigmoid: Vec<u32> = near_half.map(f32::to_bits).collect();
    let hard: [(&str, &[u32]); 6] = [
        ("exp2", &[0x3b42_9d37, 0xbcf3_a937]),
        ("log", &[0x3c41_3d3a, 0x4117_8feb, 0x4c5d_65a5, 0x65d8_90d3, 0x6f31_a8ec]),
        ("log1p", &[0x3540_0003, 0x3710_001b, 0x3efd_81ad, 0xb53f_fffd, 0xb70f_ffe5, 0xbb0e_c8c4]),
        ("sigmoid", &sigmoid),
        ("sin", &[0x4619_9998, 0xc619_9998]),
        ("cos", &[0x5f18_b878, 0x6115_cb11]),
    ];
    for (name, inputs) in hard {
        let row = ROWS.iter().find(|row| row.name == name).expect("it is a function");
        for &input in inputs {
            for x in [input - 1, input, input + 1].map(f32::from_bits) {
                let expected = wide(row.function, f64::from(x)).single();
                assert_eq!((row.single)(x).to_bits(), expected.to_bits(), "{name} of {x:e}");
            }
        }
    }
}
