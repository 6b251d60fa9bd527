//! Printed instructions, run by the simulator: the bits of plain Rust and of tiles, and the same elements without a value.

mod trees;

use std::fmt::Write as _;

use proptest::prelude::*;
use warpfold_expr::ptx::{Code, Raw};
use warpfold_expr::{Expr, Program, Slice, Tiles, Type};
use warpfold_num::random::word;
use warpfold_num::{DType, bf16, f16};
use warpfold_simt::{Launch, Memory, Settings};

use trees::{ARITHMETIC, tree};

/// A kernel of one thread an element: `out` takes the value's bits and whether there is none.
fn kernel(program: &Program) -> String {
    let id = program.roots()[0].value;
    let mut ptx = String::from(
        ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry map(.param .u64 p0, .param .u64 p1, .param .u64 out, .param .u64 n)\n{\n\
         .reg .pred %p; .reg .b32 %t, %u; .reg .b64 %i, %n, %a, %o;\n\
         mov.u32 %t, %ctaid.x; mov.u32 %u, %ntid.x; mul.lo.u32 %t, %t, %u; mov.u32 %u, %tid.x; add.u32 %t, %t, %u;\n\
         cvt.u64.u32 %i, %t; ld.param.u64 %n, [n]; setp.ge.u64 %p, %i, %n; @%p ret;\n",
    );
    let raw = |input: usize| {
        let bit = 0;
        Raw { words: [format!("r{input}"), format!("s{input}")], bit }
    };
    for (input, dtype) in program.inputs().iter().enumerate() {
        let size = dtype.size();
        writeln!(ptx, ".reg .b32 r{input}, s{input}; ld.param.u64 %a, [p{input}]; mul.lo.u64 %o, %i, {size}; add.u64 %a, %a, %o;").unwrap();
        match size {
            8 => writeln!(ptx, "ld.global.v2.u32 {{r{input}, s{input}}}, [%a];").unwrap(),
            size => writeln!(ptx, "ld.global.u{} r{input}, [%a];", 8 * size).unwrap(),
        }
    }
    let mut code = Code::new(program, &[id], None, raw);
    let fault = code.fault();
    ptx.push_str(&code.text());
    let value = code.value(id);
    ptx.push_str("ld.param.u64 %a, [out]; mul.lo.u64 %o, %i, 16; add.u64 %a, %a, %o;\n");
    match program.ty(id) {
        Type::Bool => writeln!(ptx, "selp.b64 %o, 1, 0, {value};").unwrap(),
        Type::F32 => writeln!(ptx, "mov.b32 %t, {value}; cvt.u64.u32 %o, %t;").unwrap(),
        _ => writeln!(ptx, "mov.b64 %o, {value};").unwrap(),
    }
    ptx.push_str("st.global.u64 [%a], %o;\n");
    match fault {
        Some(fault) => writeln!(ptx, "selp.b64 %o, 1, 0, {fault};").unwrap(),
        None => ptx.push_str("mov.b64 %o, 0;\n"),
    }
    ptx + "st.global.u64 [%a+8], %o;\nret;\n}\n"
}

/// The values' bits, of each element; `None` where an operation has no value.
fn simulated(program: &Program, inputs: &[Vec<u8>; 2], n: usize) -> Vec<Option<u64>> {
    let ptx = kernel(program);
    let loaded =
        warpfold_simt::Program::load(&ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let mut memory = Memory::new();
    let [x, y] = inputs.each_ref().map(|bytes| memory.upload_bytes(bytes));
    let out = memory.allocate(16 * n as u64);
    let launch = Launch {
        kernel: "map".into(),
        grid: (n.div_ceil(64) as u32).into(),
        block: 64.into(),
        shared_bytes: 0,
        arguments: vec![x.into(), y.into(), out.into(), (n as u64).into()],
    };
    launch
        .run(&loaded, &mut memory, &Settings::default())
        .unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let words: Vec<u64> = memory.read(out).unwrap();
    words.chunks(2).map(|pair| (pair[1] == 0).then_some(pair[0])).collect()
}

/// The same by tiles, one element at a time.
fn tiled(program: &Program, inputs: [Slice<'_>; 2], n: usize) -> Vec<Option<u64>> {
    let id = program.roots()[0].value;
    let of = |k: usize| {
        let mut tiles = Tiles::new(program, false);
        tiles.run(&inputs, k, 1).ok()?;
        let bytes = tiles.bytes(id, &inputs, k, 1);
        let size = program.ty(id).dtype().size();
        let mut word = [0; 8];
        word[..size].copy_from_slice(&bytes[..size]);
        Some(u64::from_le_bytes(word))
    };
    (0..n).map(of).collect()
}

fn one_nan(ty: Type, bits: Option<u64>) -> Option<u64> {
    match ty {
        Type::F32 => bits.map(|bits| match f32::from_bits(bits as u32) {
            x if x.is_nan() => u64::from(f32::NAN.to_bits()),
            _ => bits,
        }),
        Type::F64 => {
            bits.map(|bits| if f64::from_bits(bits).is_nan() { f64::NAN.to_bits() } else { bits })
        }
        _ => bits,
    }
}

fn compare(text: &str, types: [DType; 2], bytes: &[Vec<u8>; 2], slices: [Slice<'_>; 2]) {
    let expr = Expr::parse(text).unwrap();
    let program = match Program::new(&[&expr], &[("x", types[0]), ("y", types[1])]) {
        Ok(program) => program,
        Err(error) => panic!("{text} of {types:?}: {error}"),
    };
    let n = slices[0].len();
    let ty = program.result(0);
    let [found, wanted] = [simulated(&program, bytes, n), tiled(&program, slices, n)];
    for k in 0..n {
        let [found, wanted] = [found[k], wanted[k]].map(|bits| one_nan(ty, bits));
        assert_eq!(found, wanted, "{text} of {types:?}, element {k}");
    }
}

/// Every pair of some numbers.
fn pairs<T: Copy>(numbers: &[T]) -> (Vec<T>, Vec<T>) {
    numbers.iter().flat_map(|&x| numbers.iter().map(move |&y| (x, y))).unzip()
}

macro_rules! of_pairs {
    ($variant:ident, $numbers:expr, $texts:expr) => {
        let (x, y) = pairs($numbers);
        let bytes = [&x, &y].map(|x| bytemuck::cast_slice(x).to_vec());
        for text in $texts {
            let slices = [Slice::$variant(&x), Slice::$variant(&y)];
            compare(text, slices.map(|slice| slice.dtype()), &bytes, slices);
        }
    };
}

const FLOATS: &[&str] = &[
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "min(x, y)",
    "max(x, y)",
    "x < y",
    "x <= y",
    "x == y",
    "x != y",
    "abs(x - y)",
    "-x",
    "sqrt(x)",
    "floor(x)",
    "ceil(x)",
    "trunc(x)",
    "round(x)",
    "isnan(x)",
    "isinf(x)",
    "isfinite(x)",
    "fma(x, y, x)",
    "select(x > y and not isnan(y), x, y)",
    "i64(x)",
    "u64(x)",
    "bool(x)",
    "f32(x)",
    "f64(x)",
    "x > 0.1",
    "x * 0.1",
    "(x < y) == (x > 0)",
    "(x < y) < (x > 0)",
    "(x < y) <= (x > 0)",
    "(x < y) ^ (x > 0)",
    "select(x > 0, x < y, y < 2)",
    "f64(x > y)",
    "x / nan",
    "x + inf",
    "true",
    "select(x > y, 1, x)",
];

#[test]
fn floats_are_those_of_tiles() {
    let wide = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        0.1,
        1e-310,
        -5e-324,
        1e300,
        -1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
        9.3e18,
        -9.3e18,
        1.9e19,
        9_223_372_036_854_775_808.0,
    ];
    of_pairs!(F64, &wide, FLOATS);
    let narrow: Vec<f32> =
        wide.iter().map(|&x| x as f32).chain([1e-40, 3.3e38, f32::MAX]).collect();
    of_pairs!(F32, &narrow, FLOATS);
    let half: Vec<f16> = wide
        .iter()
        .map(|&x| f16::from_f64(x))
        .chain([f16::MAX, f16::MIN_POSITIVE_SUBNORMAL])
        .collect();
    of_pairs!(F16, &half, ["x - y", "min(x, y)", "sqrt(x)", "x * y"]);
    let brain: Vec<bf16> = wide.iter().map(|&x| bf16::from_f64(x)).collect();
    of_pairs!(BF16, &brain, ["x - y", "max(x, y)", "x / y"]);
}

#[test]
fn integers_are_those_of_tiles_and_so_are_elements_without_a_value() {
    let texts = [
        "x + y",
        "x - y",
        "x * y",
        "x // y",
        "x % y",
        "min(x, y)",
        "max(x, y)",
        "x < y",
        "x <= y",
        "x == y",
        "x != y",
        "x & y",
        "x | y",
        "x ^ y",
        "~x",
        "f32(x)",
        "f64(x)",
        "bool(x)",
        "x**3",
        "select(x > y, x, y) + 1",
    ];
    let signed = [
        0i64,
        1,
        -1,
        2,
        -2,
        3,
        7,
        -7,
        1 << 32,
        -(1 << 32),
        (1 << 53) + 1,
        3_037_000_500,
        i64::MAX,
        i64::MIN,
        i64::MIN + 1,
    ];
    of_pairs!(I64, &signed, texts.into_iter().chain(["-x", "abs(x)", "u64(x)", "i64(x)"]));
    let unsigned = signed.map(|x| x as u64);
    of_pairs!(U64, &unsigned, texts.into_iter().chain(["i64(x)", "abs(x)"]));
    let short = ["x - y", "x * y", "x // y", "f32(x)"];
    of_pairs!(I32, &signed.map(|x| x as i32), short);
    of_pairs!(I16, &signed.map(|x| x as i16), short);
    of_pairs!(I8, &signed.map(|x| x as i8), short);
    of_pairs!(U32, &unsigned.map(|x| x as u32), ["x + y", "x * y", "x - y"]);
    of_pairs!(U16, &unsigned.map(|x| x as u16), ["x + y", "x - y"]);
    of_pairs!(U8, &unsigned.map(|x| x as u8), ["x + y", "x - y"]);
    of_pairs!(
        Bool,
        &[false, true],
        [
            "x and y",
            "x or not y",
            "x ^ y",
            "x == y",
            "x != y",
            "x < y",
            "i64(x) - i64(y)",
            "u64(x)",
            "f32(y)"
        ]
    );
}

const FUNCTIONS: [&str; 10] =
    ["exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "sigmoid", "sin", "cos"];

/// Numbers of every exponent and sign, some of them near one, at the ends, and not numbers at all.
fn numbers() -> Vec<f64> {
    let random: Vec<u64> = (0..256).map(|index| word(1, index)).collect();
    let anywhere = random[..96].iter().map(|&bits| f64::from_bits(bits));
    let near = random[96..160].iter().map(|bits| (bits >> 11) as f64 / (1u64 << 50) as f64 - 4.0);
    let singles = random[160..].iter().map(|&bits| f64::from(f32::from_bits(bits as u32)));
    let ends = [0.0, -0.0, 1.0, -1.0, 0.5, 710.0, -746.0, 88.8, 1e-320, -1e-40, 1e22, 6e8];
    let none = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    anywhere.chain(near).chain(singles).chain(ends).chain(none).collect()
}

#[test]
fn functions_have_the_bits_of_tiles() {
    let doubles = numbers();
    // Inputs that an f64 does not tell.
    let hard = [0x3c41_3d3a, 0x4117_8feb, 0xb53f_fffd, 0xba92_8601, 0x4619_9998, 0xc619_9998];
    let more = [0x5f18_b878, 0xdf18_b878, 0x3b42_9d37, 0x6115_cb11];
    let mut singles: Vec<f32> = doubles.iter().map(|&x| x as f32).collect();
    singles.extend(hard.into_iter().chain(more).map(f32::from_bits));
    let powers = [-8, -3, -1, 0, 1, 2, 3, 7, 64].map(|n| format!("x**{n}"));
    let texts = FUNCTIONS.iter().map(|name| format!("{name}(x)")).chain(powers);
    for text in texts {
        let text = &text;
        let wide = Slice::F64(&doubles);
        let bytes = || bytemuck::cast_slice(&doubles).to_vec();
        compare(text, [DType::F64; 2], &[bytes(), bytes()], [wide, wide]);
        let narrow = Slice::F32(&singles);
        let bytes = || bytemuck::cast_slice(&singles).to_vec();
        compare(text, [DType::F32; 2], &[bytes(), bytes()], [narrow, narrow]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_expressions_are_plain_rust(tree in tree(ARITHMETIC.to_vec()), x in proptest::collection::vec(any::<f64>(), 1..20), y in -4.0..4.0f64) {
        let expr = Expr::parse(&tree.text()).unwrap();
        let program = Program::new(&[&expr], &[("x", DType::F64), ("y", DType::F64)]).unwrap();
        let other: Vec<f64> = x.iter().enumerate().map(|(k, x)| if k % 3 == 0 { y } else { y * x }).collect();
        let bytes = [&x, &other].map(|x| bytemuck::cast_slice(x).to_vec());
        let found = simulated(&program, &bytes, x.len());
        let ty = program.result(0);
        for ((x, y), found) in x.iter().zip(&other).zip(found) {
            prop_assert_eq!(one_nan(ty, found), one_nan(ty, Some(tree.value(*x, *y).to_bits())), "{} of {:e}, {:e}", tree.text(), x, y);
        }
    }
}
