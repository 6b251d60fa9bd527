//! Products in progress in the lanes of a vector, one a lane: what the definition in `warpfold_exact::partial::product` does.

use super::lanes::Vector;
use super::runs::NUMBERS;

/// Products in progress, one in each lane.
pub(crate) trait Chain<V: Vector>: Copy {
    /// Numbers of a result, but for the exponent.
    const PARTS: usize;
    /// Ones.
    fn one() -> Self;
    /// Multiplies by the results of runs.
    fn join(&mut self, run: &[V; NUMBERS]);
    /// Results: the mantissas, then the exponents.
    fn finish(self) -> [V; NUMBERS];
}

/// Products of real numbers: `high + low`, and exponents apart.
#[derive(Clone, Copy)]
pub(crate) struct Real<V: Vector> {
    high: V,
    low: V,
    powers: V::Powers,
    /// Sums of the exponents of runs.
    power: V,
}

impl<V: Vector> Real<V> {
    /// Multiplies by factors whose products do not leave f64.
    #[inline(always)]
    pub(super) fn multiply_plain(&mut self, m: V) {
        let p = self.high.mul(m);
        self.low = self.low.fma(m, self.high.fms(m, p));
        self.high = p;
    }

    /// Multiplies by factors, whose exponents are taken apart.
    #[inline(always)]
    pub(super) fn multiply(&mut self, factors: V) {
        let m = factors.split(&mut self.powers);
        self.multiply_plain(m);
    }
}

impl<V: Vector> Chain<V> for Real<V> {
    const PARTS: usize = 2;

    #[inline(always)]
    fn one() -> Self {
        let (one, zero) = (V::splat(1.0), V::splat(0.0));
        Real { high: one, low: zero, powers: V::powers(), power: zero }
    }

    #[inline(always)]
    fn join(&mut self, [m, n, power, ..]: &[V; NUMBERS]) {
        let p = self.high.mul(*m);
        let e = self.high.fms(*m, p);
        self.low = self.low.fma(*m, self.high.fma(*n, e));
        self.high = p;
        self.power = self.power.add(*power);
    }

    #[inline(always)]
    fn finish(mut self) -> [V; NUMBERS] {
        let (high, low) = self.high.fast_two_sum(self.low);
        let exponents = high.exponents(&mut self.powers);
        let power = self.power.add(V::sum(self.powers));
        let zero = V::splat(0.0);
        [high.scaled(exponents), low.scaled(exponents), power, zero, zero]
    }
}

/// A sum of two f64 in each lane.
type Double<V> = (V, V);

/// Products of complex numbers.
#[derive(Clone, Copy)]
pub(crate) struct Complex<V: Vector> {
    re: Double<V>,
    im: Double<V>,
    powers: V::Powers,
    power: V,
}

impl<V: Vector> Complex<V> {
    /// The product of two, without that of both low parts; without that of the second's where it has none.
    #[inline(always)]
    fn times<const LOW: bool>(a: Double<V>, b: Double<V>) -> Double<V> {
        let product = a.0.mul(b.0);
        let error = a.1.fma(b.0, a.0.fms(b.0, product));
        (product, if LOW { a.0.fma(b.1, error) } else { error })
    }

    #[inline(always)]
    fn sum(a: Double<V>, b: Double<V>) -> Double<V> {
        let (high, low) = a.0.two_sum(b.0);
        (high, low.add(a.1.add(b.1)))
    }

    #[inline(always)]
    fn multiply<const LOW: bool>(&mut self, c: Double<V>, d: Double<V>) {
        let (a, b) = (self.re, self.im);
        let minus_d = (d.0.negate(), if LOW { d.1.negate() } else { d.1 });
        self.re = Self::sum(Self::times::<LOW>(a, c), Self::times::<LOW>(b, minus_d));
        self.im = Self::sum(Self::times::<LOW>(a, d), Self::times::<LOW>(b, c));
    }

    /// Multiplies by elements of any exponent.
    #[inline(always)]
    pub(super) fn multiply_scaled(&mut self, c: V, d: V) {
        let exponents = c.larger(d).exponents(&mut self.powers);
        let zero = V::splat(0.0);
        self.multiply::<false>((c.scaled(exponents), zero), (d.scaled(exponents), zero));
    }

    /// Multiplies by the products of two elements, whose parts have products that f64 holds.
    #[inline(always)]
    pub(super) fn multiply_pairs(&mut self, [a, b, c, d]: [V; 4]) {
        let re = a.mul(c).two_sum(b.mul(d).negate());
        let im = a.mul(d).two_sum(b.mul(c));
        self.multiply::<true>(re, im);
    }

    #[inline(always)]
    pub(super) fn rescale(&mut self) {
        let exponents = self.re.0.larger(self.im.0).exponents(&mut self.powers);
        let scaled = |x: Double<V>| (x.0.scaled(exponents), x.1.scaled(exponents));
        (self.re, self.im) = (scaled(self.re), scaled(self.im));
    }
}

impl<V: Vector> Chain<V> for Complex<V> {
    const PARTS: usize = 4;

    #[inline(always)]
    fn one() -> Self {
        let (one, zero) = (V::splat(1.0), V::splat(0.0));
        Complex { re: (one, zero), im: (zero, zero), powers: V::powers(), power: zero }
    }

    #[inline(always)]
    fn join(&mut self, [re, re_low, im, im_low, power]: &[V; NUMBERS]) {
        self.multiply::<true>((*re, *re_low), (*im, *im_low));
        self.power = self.power.add(*power);
    }

    #[inline(always)]
    fn finish(mut self) -> [V; NUMBERS] {
        (self.re, self.im) = (self.re.0.two_sum(self.re.1), self.im.0.two_sum(self.im.1));
        self.rescale();
        // A zero is +0, whatever made it.
        let plus = |x: V| x.add(V::splat(0.0));
        let power = self.power.add(V::sum(self.powers));
        [plus(self.re.0), plus(self.re.1), plus(self.im.0), plus(self.im.1), power]
    }
}
