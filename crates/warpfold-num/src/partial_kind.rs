//! The partials, listed once: what elements are folded to before a result is read.

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal, $name:literal;)+) => {
        /// What a partial is made of. The numbers stand in saved bytes and are for ever.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum PartialKind {
            $($(#[doc = $doc])+ $variant = $code,)+
        }

        impl PartialKind {
            /// Every kind.
            pub const ALL: &[PartialKind] = &[$(PartialKind::$variant,)+];

            /// The name used in messages.
            pub const fn name(self) -> &'static str {
                match self { $(PartialKind::$variant => $name,)+ }
            }
        }
    };
}

kinds! {
    /// The exact sum, and the number of elements.
    Sum = 1, "sum";
    /// The exact sum and sum of squares, and the number of elements.
    Moments = 2, "moments";
    /// The exact sum of products.
    Dot = 3, "dot";
    /// Both extremes with their first indices.
    Extremes = 4, "extremes";
    /// The number of nonzero elements, and of all.
    Count = 5, "count";
    /// The product.
    Product = 6, "product";
    /// The sum of magnitudes.
    Norm1 = 7, "l1";
    /// The largest magnitude.
    Magnitude = 8, "linf";
    /// Moments, extremes and magnitudes at once.
    Stats = 9, "stats";
}
