//! [`exchange`]: everyone's bytes to everyone, once all ranks have said that they do the same.

use warpfold_num::{DType, Op, Policy};

use crate::frame;
use crate::{Comm, Error, Result};

/// What ranks have to agree on before they merge: the library's version, the reduction, the element type, and choices that matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    op: Op,
    dtype: DType,
    text: String,
    hash: [u8; 16],
}

impl Agreement {
    /// A reduction under the contract's policy.
    pub fn new(op: Op, dtype: DType) -> Self {
        let text = format!("{op} of {dtype} by warpfold {}", env!("CARGO_PKG_VERSION"));
        Agreement { op, dtype, hash: frame::hash(&text), text }
    }

    /// Under another policy; the number of threads is each rank's own affair.
    #[must_use]
    pub fn policy(self, policy: &Policy) -> Self {
        self.and(&policy.to_string().trim_start_matches(", ").replace(", ", " "))
    }

    /// With something else that has to be the same on all ranks, in words.
    #[must_use]
    pub fn and(mut self, more: &str) -> Self {
        if !more.is_empty() {
            self.text.push_str(", ");
            self.text.push_str(more);
            self.hash = frame::hash(&self.text);
        }
        self
    }

    /// The reduction.
    pub fn op(&self) -> Op {
        self.op
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub(crate) fn hash(&self) -> [u8; 16] {
        self.hash
    }

    /// The words that are compared.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Gathers what every rank contributes, of any length, in rank order; `Err` is the message of a rank that has nothing to contribute.
///
/// All ranks get the same answer: everyone's contribution, or the same error about the same rank.
///
/// # Errors
/// [`Error::Differs`] if `text` is another one on some rank, [`Error::Failed`] if a rank said so, [`Error::Lost`] and
/// [`Error::Contribution`] for what is no exchange.
pub fn exchange<C: Comm + ?Sized>(
    comm: &C,
    text: &str,
    outcome: Result<&[u8], &str>,
) -> Result<Vec<Vec<u8>>> {
    exchange_hashed(comm, text, frame::hash(text), outcome)
}

/// [`exchange`] of what an agreement is about, whose hash is at hand.
///
/// # Errors
/// As [`exchange`].
pub fn exchange_agreed<C: Comm + ?Sized>(
    comm: &C,
    agreement: &Agreement,
    outcome: Result<&[u8], &str>,
) -> Result<Vec<Vec<u8>>> {
    exchange_hashed(comm, &agreement.text, agreement.hash, outcome)
}

fn exchange_hashed<C: Comm + ?Sized>(
    comm: &C,
    text: &str,
    hash: [u8; 16],
    outcome: Result<&[u8], &str>,
) -> Result<Vec<Vec<u8>>> {
    let size = comm.size();
    let mine = frame::write(hash, outcome);
    let mut all = vec![0; frame::BYTES * size];
    comm.all_gather(&mine, &mut all)?;
    let mut frames = Vec::with_capacity(size);
    for (rank, bytes) in all.chunks_exact(frame::BYTES).enumerate() {
        frames.push(frame::read(bytes).map_err(|why| Error::Contribution { rank, why })?);
    }
    if let Some(rank) = frames.iter().position(|frame| frame.failed) {
        let messages = contributions(comm, &frames, frame::payload(&outcome))?;
        let why = String::from_utf8_lossy(&messages[rank]);
        let others = frames.iter().filter(|frame| frame.failed).count() - 1;
        let others = match others {
            0 => String::new(),
            1 => " (and another rank failed)".into(),
            n => format!(" (and {n} other ranks failed)"),
        };
        return Err(Error::Failed { rank, why: format!("{why}{others}") });
    }
    if let Some(rank) = frames.iter().position(|frame| frame.hash != frames[0].hash) {
        let mut texts = vec![0; frame::TEXT * size];
        comm.all_gather(&frame::write_text(text), &mut texts)?;
        let text = |rank: usize| frame::read_text(&texts[rank * frame::TEXT..][..frame::TEXT]);
        return Err(Error::Differs { rank, theirs: text(rank), expected: text(0) });
    }
    contributions(comm, &frames, frame::payload(&outcome))
}

/// What all ranks announced in their frames: from there, or by a second gather if one of them has no room for it.
fn contributions<C: Comm + ?Sized>(
    comm: &C,
    frames: &[frame::Frame<'_>],
    mine: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let longest = frames.iter().map(|frame| frame.length).max().unwrap_or(0);
    if longest <= frame::INLINE as u64 {
        return Ok(frames.iter().map(|frame| frame.inline.unwrap_or_default().to_vec()).collect());
    }
    let lengths: Vec<u64> = frames.iter().map(|frame| frame.length).collect();
    let (longest, all) = gather_padded(comm, mine, &lengths)?;
    let payloads = all.chunks_exact(longest).zip(frames);
    Ok(payloads.map(|(bytes, frame)| bytes[..frame.length as usize].to_vec()).collect())
}

/// The most bytes that a rank contributes at once: more is no contribution, whatever it says.
const LONGEST: u64 = 1 << 34;

/// Gathers what ranks have of so many bytes, padded to the longest, whose length comes with it.
pub(crate) fn gather_padded<C: Comm + ?Sized>(
    comm: &C,
    mine: &[u8],
    lengths: &[u64],
) -> Result<(usize, Vec<u8>)> {
    let size = lengths.len();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let mut gathered = Vec::new();
    let bytes = (longest <= LONGEST).then_some(longest as usize);
    let bytes = bytes.and_then(|longest| longest.checked_mul(size));
    let bytes = bytes.filter(|&bytes| gathered.try_reserve_exact(bytes).is_ok());
    let bytes = bytes.ok_or_else(|| {
        let rank = lengths.iter().position(|&length| length == longest).unwrap_or(0);
        let why = format!("{longest} bytes of {size} ranks have no room");
        Error::Contribution { rank, why }
    })?;
    gathered.resize(bytes, 0);
    let longest = longest as usize;
    let mut padded = mine.to_vec();
    padded.resize(longest, 0);
    comm.all_gather(&padded, &mut gathered)?;
    Ok((longest, gathered))
}
