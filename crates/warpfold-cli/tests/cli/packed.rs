//! Compressed inputs and archives of arrays: what is whole gives what the plain file gives, and what is not gives one line.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use warpfold::DType;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::arrays::{Array, dictionary, npy_header};
use crate::program::{Folder, run};

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn text() -> Vec<u8> {
    let row = |k: u64| format!("{k},{}.25,{}\n", k * k % 977, k % 5);
    ("id,price,shop\n".to_string() + &(0..40_000).map(row).collect::<String>()).into_bytes()
}

fn npy(dtype: DType, n: usize) -> Vec<u8> {
    let array = Array::sample(dtype, n);
    let mut bytes = npy_header(1, &dictionary(&array.descr(false), false, &format!("({n},)")), 64);
    bytes.extend(array.bytes(false));
    bytes
}

#[test]
fn packed_text_raw_and_arrays_are_what_they_unpack_to() {
    let folder = Folder::new();
    let text = text();
    let array = npy(DType::F64, 70_000);
    let raw = &array[array.len() - 8 * 70_000..];
    for (name, bytes, options) in [
        ("t.csv", &text[..], &["--column", "price"][..]),
        ("x.npy", &array, &[]),
        ("x.f64", raw, &["--dtype", "f64"]),
    ] {
        let plain = folder.file(name, bytes);
        for (packed, bytes) in [
            ("gz", gzip(bytes)),
            ("zst", zst(bytes)),
            ("GZ", [gzip(&bytes[..1000]), gzip(&bytes[1000..])].concat()),
        ] {
            let path = folder.file(&format!("{name}.{packed}"), bytes);
            for op in ["sum", "argmax", "stats"] {
                let of = |path: &str| run([&[op, path], options].concat()).value().to_string();
                assert_eq!(of(&path), of(&plain), "{op} of {name}.{packed}");
            }
            let by = |path: &str| {
                let args = match name {
                    "t.csv" => vec!["mean", path, "--column", "price", "--by", "shop"],
                    _ => [&["mean", path, "--every", "1000"], options].concat(),
                };
                run(args).value().to_string()
            };
            assert_eq!(by(&path), by(&plain), "{name}.{packed}");
        }
    }
}

#[test]
fn what_is_cut_or_damaged_gives_no_result() {
    let folder = Folder::new();
    let text = text();
    for (name, whole) in [("t.csv.gz", gzip(&text)), ("t.csv.zst", zst(&text))] {
        for end in [0, 1, 9, whole.len() / 2, whole.len() - 1] {
            let path = folder.file(name, &whole[..end]);
            run(["sum", &path, "--column", "1"]).fails(1, &[name, "damaged or end too early"]);
        }
        let mut changed = whole.clone();
        let at = whole.len() - 3;
        changed[at] ^= 1;
        let path = folder.file(name, &changed);
        run(["sum", &path, "--column", "1"]).fails(1, &[name, "damaged"]);
        let path = folder.file(name, [&whole[..], b"more"].concat());
        run(["sum", &path, "--column", "1"]).fails(1, &[name, "damaged"]);
        // Plain text under a name that says otherwise.
        let path = folder.file(name, &text);
        run(["sum", &path, "--column", "1"]).fails(1, &[name, "damaged"]);
    }
}

fn npz(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// An archive of one member as NumPy's `savez_compressed` writes it; the crate that the program reads with writes none that is deflated.
fn deflated(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).unwrap();
    let packed = packed.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let mut fields = Vec::new();
    for (number, size) in [
        (0u64, 2),
        (8, 2),
        (0, 4),
        (crc.sum().into(), 4),
        (packed.len() as u64, 4),
        (bytes.len() as u64, 4),
        (name.len() as u64, 2),
        (0, 2),
    ] {
        fields.extend_from_slice(&number.to_le_bytes()[..size]);
    }
    let local = [&b"PK\x03\x04\x14\x00"[..], &fields, name.as_bytes(), &packed].concat();
    let central = [&b"PK\x01\x02\x14\x00\x14\x00"[..], &fields, &[0; 14], name.as_bytes()].concat();
    let mut end = b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00".to_vec();
    end.extend_from_slice(&(central.len() as u32).to_le_bytes());
    end.extend_from_slice(&(local.len() as u32).to_le_bytes());
    end.extend_from_slice(&[0, 0]);
    [local, central, end].concat()
}

#[test]
fn an_array_of_an_archive_is_an_input() {
    let folder = Folder::new();
    let (x, y) = (npy(DType::F64, 5000), npy(DType::I32, 300));
    let (plain_x, plain_y) = (folder.file("x.npy", &x), folder.file("y.npy", &y));
    let stored =
        npz(&[("x.npy", &x), ("y.npy", &y), ("notes.txt", b"no array")], CompressionMethod::Stored);
    let both = folder.file("both.npz", &stored);
    let of = |path: &str, options: &[&str]| {
        run([&["stats", path], options].concat()).value().to_string()
    };
    for (name, number, plain) in [("x", "1", &plain_x), ("y", "2", &plain_y)] {
        assert_eq!(of(&both, &["--column", name]), of(plain, &[]));
        assert_eq!(of(&both, &["--column", number]), of(plain, &[]));
    }
    let by_axis = |path: &str, options: &[&str]| {
        run([&["sum", path, "--axis", "0"], options].concat()).value().to_string()
    };
    assert_eq!(by_axis(&both, &["--column", "y"]), by_axis(&plain_y, &[]));
    run(["sum", &both]).fails(2, &["both.npz", "holds 2 arrays: x, y", "--column"]);
    run(["sum", &both, "--column", "z"]).fails(1, &["no array \"z\"", "x, y"]);
    run(["sum", &both, "--column", "3"]).fails(1, &["no array 3"]);
    run(["sum", &both, "--column", "x", "--dtype", "f32"]).fails(1, &["holds f64, not f32"]);
    let one = folder.file("one.npz", deflated("x.npy", &x));
    assert_eq!(of(&one, &[]), of(&plain_x, &[]));
}

#[test]
fn archives_that_are_not_whole_are_refused() {
    let folder = Folder::new();
    let x = npy(DType::F64, 5000);
    for whole in [npz(&[("x.npy", &x)], CompressionMethod::Stored), deflated("x.npy", &x)] {
        for end in [0, 3, whole.len() / 2, whole.len() - 1] {
            let path = folder.file("cut.npz", &whole[..end]);
            run(["sum", &path]).fails(1, &["cut.npz", "archive of arrays"]);
        }
        for at in [whole.len() / 4, whole.len() / 3, whole.len() / 2] {
            let mut changed = whole.clone();
            changed[at] ^= 4;
            let path = folder.file("changed.npz", &changed);
            // What is changed may be the array's own header, which is read before the checksum is known.
            run(["sum", &path]).fails(1, &["changed.npz"]);
        }
    }
    let none = folder.file("none.npz", npz(&[("a.txt", b"1")], CompressionMethod::Stored));
    run(["sum", &none]).fails(1, &["none.npz", "holds no .npy file"]);
    let text = folder.file("text.npz", "1 2 3");
    run(["sum", &text]).fails(1, &["text.npz", "archive of arrays"]);
}
