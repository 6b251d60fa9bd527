//! [`Timed`]: what of a subject can be predicted: a rung, or a kernel that a plan of the library launches by itself.

use warpfold::{Accuracy, DType, Op};
use warpfold_lab::array::Data;
use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::model::{
    Advice, Device, Launching, Prediction, Surface, predict, predict_library, published,
};
use warpfold_ladder::{Case, Rung, natural_data};

use crate::predict::{Predicted, Row, one};

/// Elements of an array whose time is not that of launches.
const WORTH: u64 = 1 << 25;

/// What is predicted of a subject.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Timed {
    /// A rung of the ladder.
    Rung(&'static Rung, Case),
    /// The library's reduction, in the launch that its plan chooses.
    Library(Accuracy, Case),
}

impl Timed {
    /// A rung over an array that is worth a launch.
    pub(super) fn rung(rung: &'static Rung, case: Case) -> Timed {
        Timed::Rung(rung, Case { n: case.n.max(WORTH), ..case })
    }

    /// A reduction of the library, likewise.
    pub(super) fn library(op: Op, accuracy: Accuracy, dtype: DType, n: u64) -> Timed {
        Timed::Library(accuracy, Case { op, dtype, n: n.max(WORTH), block: 0 })
    }

    /// Of what.
    pub(super) fn case(&self) -> Case {
        let (Timed::Rung(_, case) | Timed::Library(_, case)) = *self;
        case
    }

    fn on(&self, device: &'static Device) -> Result<Prediction, String> {
        match *self {
            Timed::Rung(rung, case) => predict(rung, case, device, Temperature::Cold, None),
            Timed::Library(accuracy, case) => {
                let data = if case.dtype.is_float() {
                    natural_data(case.op, case.dtype)
                } else {
                    Data::Natural
                };
                let cold = Temperature::Cold;
                predict_library(case, accuracy, data, device, cold, Launching::Alone)
            }
        }
    }

    /// The prediction on a device, for programs.
    pub(super) fn predicted(&self, name: &str, device: &'static Device) -> Predicted {
        let mut row = Row::new(name, self.case(), self.on(device));
        if let Timed::Rung(rung, case) = *self {
            row.published = published(device, rung, case);
        }
        one(device, row)
    }

    /// In one sentence: the time, what binds, what to change next, and what that would gain.
    pub(super) fn next(&self, device: &'static Device) -> String {
        let of = format!("Over {} elements: ", self.case().n);
        let sentence = match *self {
            Timed::Rung(rung, case) => {
                Advice::new(rung, case, device).map(|advice| advice.sentence())
            }
            Timed::Library(..) => self
                .on(device)
                .map(|found| format!("{}; {}", found.sentence(device.name), found.headroom())),
        };
        match sentence {
            Ok(sentence) => of + &sentence,
            Err(why) => format!("No time is predicted for the {}: {why}.", device.name),
        }
    }

    /// Everything that the page can show.
    pub(super) fn surface(&self) -> Surface {
        match *self {
            Timed::Rung(rung, case) => Surface::new(rung, case),
            Timed::Library(..) => Surface::of_devices(|device| self.on(device)),
        }
    }
}
