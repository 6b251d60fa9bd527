//! Where reductions run. Every test body is generic over this, so that each backend answers to the same tests.

use warpfold::partial::{Finish, Output, Partial};
use warpfold::plan::Isa;
use warpfold::{Element, Op, Policy, Result, Stream};

/// Something that reduces arrays by the contract.
pub trait Backend: Sync {
    /// The reductions it has, but stats, whose result is another.
    fn ops(&self) -> &[Op];

    /// Reduces one array, or two for dot.
    fn reduce<T: Element>(&self, ask: Ask, x: &[T], y: &[T]) -> Result<Output>;

    /// The mergeable partial of such a reduction.
    fn partial<T: Element>(&self, ask: Ask, x: &[T], y: &[T]) -> Result<Partial<T>>;

    /// Reduces arrays that arrive in pieces ending at `cuts`, which rise.
    fn stream<T: Element>(&self, ask: Ask, x: &[T], y: &[T], cuts: &[usize]) -> Result<Output>;
}

/// A reduction and every choice that goes with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ask {
    pub op: Op,
    pub policy: Policy,
    pub finish: Finish,
}

impl Ask {
    pub fn new(op: Op) -> Ask {
        Ask { op, policy: Policy::default(), finish: Finish::default() }
    }
}

/// The CPU executor, held to an instruction set.
#[derive(Debug, Clone, Copy)]
pub struct Cpu(pub Isa);

impl Cpu {
    fn fed<T: Element>(self, mut ask: Ask, x: &[T], y: &[T], cuts: &[usize]) -> Result<Stream<T>> {
        ask.policy.isa = Some(self.0);
        let mut stream = Stream::new(ask.op, ask.policy)?;
        let mut start = 0;
        for &cut in cuts.iter().chain(&[x.len()]) {
            match ask.op {
                Op::Dot => stream.push_pair(&x[start..cut], &y[start..cut])?,
                _ => stream.push(&x[start..cut])?,
            }
            start = cut;
        }
        Ok(stream)
    }
}

impl Backend for Cpu {
    fn ops(&self) -> &[Op] {
        use Op::*;
        &[
            Sum, Mean, Var, Std, L1, L2, Linf, Prod, Min, Max, MinMax, ArgMin, ArgMax, Any, All,
            Count, Dot, Prod,
        ]
    }

    fn reduce<T: Element>(&self, ask: Ask, x: &[T], y: &[T]) -> Result<Output> {
        self.stream(ask, x, y, &[])
    }

    fn partial<T: Element>(&self, ask: Ask, x: &[T], y: &[T]) -> Result<Partial<T>> {
        let stream = self.fed(ask, x, y, &[])?;
        Ok(stream.partial().expect("a piece was fed").clone())
    }

    fn stream<T: Element>(&self, ask: Ask, x: &[T], y: &[T], cuts: &[usize]) -> Result<Output> {
        self.fed(ask, x, y, cuts)?.finish(ask.finish)
    }
}

/// Makes a test of each generic body for each backend. An instruction set that the machine lacks falls to the next below.
macro_rules! on_every_backend {
    ($($body:ident),+ $(,)?) => {
        on_every_backend! { @cpu baseline Baseline: $($body),+ }
        on_every_backend! { @cpu avx2 Avx2: $($body),+ }
        on_every_backend! { @cpu avx512 Avx512: $($body),+ }
    };
    (@cpu $name:ident $isa:ident: $($body:ident),+) => {
        mod $name {
            $(#[test]
            fn $body() {
                super::$body(&$crate::backend::Cpu(warpfold::plan::Isa::$isa));
            })+
        }
    };
}
