//! The typed skin: arrays, reductions and machines with their element types outside. What is here converts, and runs nothing itself.

/// The methods of a typed builder that choose the policy of the builder in a field of it.
macro_rules! policy_methods {
    ($field:ident) => {
        /// Exact (the default) or fast float sums.
        pub fn accuracy(mut self, accuracy: $crate::Accuracy) -> Self {
            self.$field.policy_mut().accuracy = accuracy;
            self
        }

        /// NaN propagates (the default) or is ignored.
        pub fn nan(mut self, nan: $crate::Nan) -> Self {
            self.$field.policy_mut().nan = nan;
            self
        }

        /// Integer overflow is an error (the default) or wraps.
        pub fn overflow(mut self, overflow: $crate::Overflow) -> Self {
            self.$field.policy_mut().overflow = overflow;
            self
        }

        /// All choices at once.
        pub fn policy(mut self, policy: $crate::Policy) -> Self {
            *self.$field.policy_mut() = policy;
            self
        }
    };
}
use policy_methods;

mod batched;
mod buffer;
mod dense;
mod devices;
mod groups;
mod machine;
mod or_none;
mod reduce;
mod stream;

pub use batched::{DeviceSegments, ReduceBatched};
pub use buffer::{Buffer, View};
pub use dense::{DenseSort, DenseTables, ReduceDense};
pub use devices::{Devices, Shards};
pub use groups::Groups;
pub use machine::Machine;
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) use machine::machine_methods;
pub use or_none::OrNone;
pub use reduce::Reduce;
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) use stream::typed_stream;
