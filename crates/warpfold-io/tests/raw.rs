//! Raw files that are long enough to be mapped: the same pieces as of a stream, and no result where the file changes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use warpfold_io::{DType, Error, InputFormat, Order, PIECE_BYTES, Pieces, Wanted, open};

const LEN: usize = PIECE_BYTES + 4096 + 8;

fn file(folder: &Path) -> PathBuf {
    let bytes: Vec<u8> = (0..LEN as u64 / 8).flat_map(|k| (k * k).to_le_bytes()).collect();
    let path = folder.join("x.raw");
    fs::write(&path, bytes).expect("there is room");
    path
}

fn pieces(path: &Path, dtype: DType) -> Result<Pieces, Error> {
    let wanted = Wanted { dtype: Some(dtype), kind: Some(InputFormat::Raw), ..Wanted::default() };
    let mut inputs = open(&[path.to_path_buf()], &wanted)?;
    inputs.remove(0).pieces(Order::Memory)
}

fn lengths(mut pieces: Pieces, expected: &[u8]) -> Result<Vec<usize>, Error> {
    let (mut lengths, mut at) = (Vec::new(), 0);
    while let Some(piece) = pieces.next_piece()? {
        assert!(piece == &expected[at..at + piece.len()], "at byte {at}");
        at += piece.len();
        lengths.push(piece.len());
    }
    Ok(lengths)
}

#[test]
fn long_files_are_mapped_and_have_the_pieces_of_streams() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = file(folder.path());
    let bytes = fs::read(&path).expect("it was written");
    for dtype in [DType::U8, DType::I16, DType::F64] {
        let pieces = pieces(&path, dtype).expect("it is there");
        assert_eq!(matches!(pieces, Pieces::Mapped(_)), cfg!(target_endian = "little"), "{dtype}");
        let found = lengths(pieces, &bytes).expect("nothing changed");
        assert_eq!(found, [PIECE_BYTES, LEN - PIECE_BYTES], "{dtype}");
    }
    // A bool must not change once it was checked, and one piece has nothing to be read ahead of.
    let zeros = folder.path().join("zeros");
    fs::write(&zeros, vec![0; LEN]).expect("there is room");
    assert!(matches!(pieces(&zeros, DType::Bool), Ok(Pieces::Produced(_))));
    fs::write(&zeros, vec![0; PIECE_BYTES]).expect("there is room");
    assert!(matches!(pieces(&zeros, DType::U8), Ok(Pieces::Produced(_))));
}

#[test]
fn a_mapped_file_that_changes_has_no_result() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = file(folder.path());
    let bytes = fs::read(&path).expect("it was written");
    let pieces = pieces(&path, DType::U8).expect("it is there");
    File::options().append(true).open(&path).and_then(|file| file.set_len(2 * LEN as u64)).unwrap();
    let error = lengths(pieces, &bytes).expect_err("it has grown");
    assert!(error.to_string().contains("changed while it was read"), "{error}");
}
