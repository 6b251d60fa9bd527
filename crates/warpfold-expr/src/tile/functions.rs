//! Loops of functions. Macros, not closures: a closure with much code in it is compiled by itself, without the instructions that the loop around it has.

/// A loop of a function of one number.
macro_rules! each {
    ($out:expr, $x:expr, $f:path) => {{
        for (out, &x) in $out.iter_mut().zip($x) {
            *out = $f(x);
        }
        false
    }};
}

/// The same of a function with many hard inputs: those that may be hard, which are rare, take a second loop.
macro_rules! each_but_hard {
    ($out:expr, $x:expr, $wide:path, $f:path) => {{
        let (out, x) = ($out, $x);
        let mut doubt = 0u64;
        for (out, &x) in out.iter_mut().zip(x) {
            let value = $wide(x);
            *out = single::unless_hard(x, value);
            doubt |= u64::from(single::is_doubtful(value));
        }
        if doubt != 0 {
            for (out, &x) in out.iter_mut().zip(x) {
                *out = $f(x);
            }
        }
        false
    }};
}

/// A function with a loop for the operands that are near zero, and another for all, of which large ones are rare: a branch in the first would keep it from
/// being vectorised.
macro_rules! circular {
    ($out:expr, $x:expr, $is_near:path, $near:path, $any:path) => {{
        let (out, x) = ($out, $x);
        let mut are_far = 0u32;
        for (out, &x) in out.iter_mut().zip(x) {
            *out = $near(x);
            are_far |= u32::from(!$is_near(x));
        }
        if are_far != 0 {
            for (out, &x) in out.iter_mut().zip(x).filter(|&(_, &x)| !$is_near(x)) {
                *out = $any(x);
            }
        }
        false
    }};
}

/// Numbers that are raised to a power side by side: too many for their loops to be unrolled, which would keep them from being vectorised.
pub(super) const POWERS: usize = 128;

/// Powers, which loop over an exponent's bits.
macro_rules! power {
    ($out:expr, $x:expr, $n:expr, $ty:ty, $powers:path) => {{
        let (out, n) = ($out, $n);
        let (whole, rest) = $x[..out.len()].as_chunks::<POWERS>();
        let (outs, out_rest) = out.as_chunks_mut::<POWERS>();
        for (out, x) in outs.iter_mut().zip(whole) {
            *out = $powers(x, n);
        }
        if !rest.is_empty() {
            let mut block = [<$ty>::default(); POWERS];
            block[..rest.len()].copy_from_slice(rest);
            out_rest.copy_from_slice(&$powers(&block, n)[..rest.len()]);
        }
        false
    }};
}

/// A selection of words by a condition's byte, 0 or 1, in arithmetic: of an `if` the compiler makes addresses that are gathered.
macro_rules! select {
    ($word:ty, $x:expr, $c:expr, $a:expr, $b:expr, $out:expr) => {{
        let (c, a, b) = ($x.get::<u8>($c), $x.get::<$word>($a), $x.get::<$word>($b));
        let words = cut::<$word>($out, $x.n).iter_mut().zip(c).zip(a).zip(b);
        for (((out, &c), &a), &b) in words {
            *out = b ^ ((a ^ b) & <$word>::from(c).wrapping_neg());
        }
    }};
}

pub(super) use {circular, each, each_but_hard, power, select};
