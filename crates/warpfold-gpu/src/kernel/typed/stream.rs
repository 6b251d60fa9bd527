//! The typed stream of a machine: that of elements whose type is known at run time, with the type put on.

/// Declares `Stream<T>` over the machine's own `AnyStream`.
macro_rules! typed_stream {
    ($(#[$doc:meta])* of $machine:ty) => {
        $(#[$doc])*
        pub struct Stream<T: Element> {
            stream: AnyStream,
            element: std::marker::PhantomData<T>,
        }

        impl<T: Element> Stream<T> {
            /// An empty stream.
            ///
            /// # Errors
            /// [`Error::Undefined`] and [`Error::Unsupported`] as [`plan::choose_cuda`](crate::plan::choose_cuda).
            pub fn new(machine: &$machine, op: Op, policy: Policy) -> Result<Self> {
                let stream = AnyStream::new(machine, op, T::DTYPE, policy)?;
                Ok(Stream { stream, element: std::marker::PhantomData })
            }

            /// How a piece of `n` elements is folded.
            ///
            /// # Errors
            /// As [`new`](Self::new).
            pub fn plan(&self, n: u64) -> Result<CudaPlan> {
                self.stream.plan(n)
            }

            /// Elements of a piece.
            pub fn piece(&self) -> u64 {
                self.stream.piece()
            }

            /// Takes in the next elements.
            ///
            /// # Errors
            /// [`Error::Undefined`] if the reduction is dot, which takes two arrays; [`Error::Device`].
            pub fn push(&mut self, x: &[T]) -> Result<()> {
                self.stream.push(bytemuck::cast_slice(x))
            }

            /// Takes in the next elements of each of two arrays (dot).
            ///
            /// # Errors
            /// [`Error::LengthMismatch`]; [`Error::Undefined`] if the reduction takes one array; [`Error::Device`].
            pub fn push_pair(&mut self, x: &[T], y: &[T]) -> Result<()> {
                self.stream.push_pair(bytemuck::cast_slice(x), bytemuck::cast_slice(y))
            }

            /// Elements taken in so far (pairs, for dot).
            pub fn seen(&self) -> u64 {
                self.stream.seen()
            }

            /// The result.
            ///
            /// # Errors
            /// As [`Partial::finish`](crate::partial::Partial::finish); [`Error::Device`].
            pub fn finish(self, finish: Finish) -> Result<Output> {
                self.stream.finish(finish)
            }
        }
    };
}
pub(crate) use typed_stream;
