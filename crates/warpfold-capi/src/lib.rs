//! The C interface of warpfold; `include/warpfold.h` is generated from it, and `docs/c.md` is its manual.
//!
//! Names are those of C, so that whoever looks for a name in the header finds it here. What no Rust type can vouch for is stated once, for
//! every function: each pointer is null or points to as much memory as the function's comment says, which nobody writes to (or, of outputs,
//! reads) during the call, and each object came from this library and has not been freed. Whatever else can be checked is checked.
//!
//! Numbers of enumerations arrive as `i32`, because a Rust `enum` of another value than its own would be undefined behaviour.

#![allow(
    non_camel_case_types,
    clippy::missing_safety_doc,
    reason = "names are those of C; the caller's duties are the crate's, above"
)]

pub mod cuda;
pub mod failure;
mod memory;
pub mod partial;
mod partition;
pub mod parts;
pub mod request;
pub mod result;
pub mod run;
pub mod short;
pub mod status;
pub mod types;
pub mod version;
