//! The bodies of the fuzz targets `npy` and `text`, here so that an ordinary test replays their corpus.

use std::io::Cursor;

use warpfold::DType;

use super::endian::Endian;
use super::npy::{Descr, Header};
use super::raw::{Extent, RawReader};
use super::text::{Column, Layout, TextReader};
use super::{Name, Produce};

/// Reads a `.npy` file from bytes: no panic, and as many elements as the header promises or an error.
pub fn npy(bytes: &[u8]) {
    let mut source = Cursor::new(bytes.to_vec());
    let Ok(header) = Header::read(&mut source) else { return };
    assert_eq!(header.data_start, source.position());
    let (dtype, endian) = match header.descr {
        Descr::Known(dtype, endian) => (dtype, endian),
        Descr::TwoBytes => (DType::BF16, Endian::Little),
    };
    let promised = header.len * dtype.size() as u64;
    let mut reader =
        RawReader::new(Name::Stdin, Box::new(source), dtype, endian, Extent::Exactly(promised));
    let found = (bytes.len() as u64) - header.data_start;
    match drain(&mut reader) {
        Some(read) => assert_eq!((read, found), (promised, promised)),
        None => assert_ne!(found, promised),
    }
}

/// Reads numbers from text; the first byte chooses element type, layout and column.
pub fn text(bytes: &[u8]) {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let choice = usize::from(choice);
    let dtype = DType::ALL[choice % DType::ALL.len()];
    let choice = choice / DType::ALL.len();
    let layouts = [Layout::Sniff, Layout::Words, Layout::Delimited(b','), Layout::Delimited(b'\t')];
    let columns = [None, Some(Column::Index(2)), Some(Column::Name("x".into()))];
    let (layout, column) = (layouts[choice % 4], columns[choice / 4 % 3].clone());
    let source = Box::new(Cursor::new(text.to_vec()));
    let mut reader = TextReader::new(Name::Stdin, source, layout, column, dtype);
    if let Some(read) = drain(&mut reader) {
        // A number takes a byte, and a separator but after the last.
        let most = text.len().div_ceil(2) * dtype.size();
        assert!(read <= most as u64, "{read} bytes of elements from {} of text", text.len());
    }
}

/// Reads to the end; `None` where the input is wrong.
fn drain(producer: &mut impl Produce) -> Option<u64> {
    let mut piece = [0; 4096];
    let mut read = 0;
    loop {
        let filled = producer.fill(&mut piece).ok()?;
        read += filled as u64;
        if filled < piece.len() {
            return Some(read);
        }
    }
}
