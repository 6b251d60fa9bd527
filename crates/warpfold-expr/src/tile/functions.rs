//! Loops of functions that are no loop over one element: sines, of which large numbers are rare, and powers, which loop over an exponent's bits.

/// A function with a loop for the operands that are near zero, and another for all; it has a value for each.
#[inline(always)]
pub(super) fn circular<T: Copy>(
    out: &mut [T],
    x: &[T],
    is_near: impl Fn(T) -> bool,
    near: impl Fn(T) -> T,
    any: impl Fn(T) -> T,
) -> bool {
    let mut are_near = true;
    for (out, &x) in out.iter_mut().zip(x) {
        *out = near(x);
        are_near &= is_near(x);
    }
    if !are_near {
        for (out, &x) in out.iter_mut().zip(x).filter(|&(_, &x)| !is_near(x)) {
            *out = any(x);
        }
    }
    false
}

/// Numbers that are raised to a power side by side.
const POWERS: usize = 16;

#[inline(always)]
pub(super) fn power<T: Copy + Default>(
    out: &mut [T],
    x: &[T],
    f: impl Fn(&[T; POWERS]) -> [T; POWERS],
) {
    for (out, x) in out.chunks_mut(POWERS).zip(x.chunks(POWERS)) {
        let mut block = [T::default(); POWERS];
        block[..out.len()].copy_from_slice(&x[..out.len()]);
        out.copy_from_slice(&f(&block)[..out.len()]);
    }
}
