//! Where reductions run. Every test body is generic over this, so that each backend answers to the same tests.

use warpfold::partial::{Finish, Output};
use warpfold::{Element, Op, Policy, Result, Stream};

/// Something that reduces arrays by the contract.
pub trait Backend: Sync {
    /// Reduces one array, or two for dot.
    fn reduce<T: Element>(&self, ask: Ask, x: &[T], y: &[T]) -> Result<Output>;
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

/// The CPU executor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn reduce<T: Element>(&self, ask: Ask, x: &[T], y: &[T]) -> Result<Output> {
        let mut stream = Stream::new(ask.op, ask.policy)?;
        match ask.op {
            Op::Dot => stream.push_pair(x, y)?,
            _ => stream.push(x)?,
        }
        stream.finish(ask.finish)
    }
}

/// Makes a test of each generic body for each backend.
macro_rules! on_every_backend {
    ($($body:ident),+ $(,)?) => {
        mod cpu {
            $(#[test]
            fn $body() {
                super::$body(&$crate::backend::Cpu);
            })+
        }
    };
}
