//! [`Damaged`]: what is wrong with compressed data.

/// Compressed data that are not whole.
#[derive(Debug, thiserror::Error)]
#[error("its {format} data are damaged or end too early ({why}); fetch or write the file again")]
pub(crate) struct Damaged {
    pub(crate) format: &'static str,
    pub(crate) why: String,
}
