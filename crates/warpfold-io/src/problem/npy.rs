//! [`NpyError`]: what can be wrong with a `.npy` file.

/// What is wrong with a `.npy` file; the message follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The magic bytes are missing.
    #[error(
        "is no .npy file: it does not start with \\x93NUMPY; --input raw or --input text may read it"
    )]
    NotNpy,
    /// The magic bytes are there, where elements alone were to be read.
    #[error(
        "is read as raw elements, and begins as a .npy file does; say --input npy, or --input raw if these bytes are elements"
    )]
    NotRaw,
    /// A version that does not exist yet.
    #[error(
        "is .npy version {major}.{minor}, and versions 1.0, 2.0 and 3.0 are known; save it again with numpy.save"
    )]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// The file ends within the header.
    #[error("ends within its .npy header; the file is truncated")]
    HeaderTruncated,
    /// The header says that it is absurdly long.
    #[error("has a .npy header of {bytes} bytes, and {limit} is the limit; the file is damaged")]
    HeaderTooLong {
        /// Bytes that the header claims.
        bytes: u64,
        /// Bytes that are read at most.
        limit: u64,
    },
    /// The header is no dictionary of the three entries.
    #[error("has a damaged .npy header: {0}")]
    Header(String),
    /// Python objects.
    #[error("holds Python objects, which have no fixed size; save it with a numeric dtype")]
    Objects,
    /// A type that is not reduced.
    #[error(
        "holds elements of {descr}, which warpfold does not reduce; convert it with astype to one of {known}"
    )]
    Type {
        /// NumPy's name for the type.
        descr: String,
        /// The types that are known.
        known: String,
    },
    /// Records, of which no field was chosen.
    #[error("holds records of the fields {fields}; choose one with --column")]
    Records {
        /// Their names.
        fields: String,
    },
    /// Records without the field that was asked for.
    #[error("its records have no field {requested}; {near}there are {fields}")]
    NoField {
        /// What was asked for.
        requested: String,
        /// The field that it was most likely meant for, as a question.
        near: String,
        /// The names of all.
        fields: String,
    },
    /// A column was asked for, and there are no records.
    #[error("is one array, which has no columns; leave --column out")]
    NoRecords,
    /// Two-byte void, which is how bfloat16 is saved.
    #[error("holds two-byte elements without a type (|V2); if they are bfloat16, say --dtype bf16")]
    MaybeBf16,
    /// The shape has too many elements to address.
    #[error("claims the shape {shape}, whose size in bytes overflows 63 bits; the header is wrong")]
    ShapeOverflow {
        /// The shape as written.
        shape: String,
    },
    /// Fewer bytes than the shape needs.
    #[error(
        "is truncated: its header promises {expected} bytes of elements, and {found} are there"
    )]
    Truncated {
        /// Bytes that the header promises.
        expected: u64,
        /// Bytes found after it.
        found: u64,
    },
    /// More bytes than the shape needs.
    #[error(
        "goes on after the {expected} bytes of elements that its header promises; the header is wrong or two files were joined"
    )]
    Trailing {
        /// Bytes that the header promises.
        expected: u64,
    },
}
