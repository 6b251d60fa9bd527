//! The lines of cases, hashed by group, and what was recorded of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use warpfold::partial::Output;
use warpfold::{Result, Value};

/// Hashes and numbers of cases by group.
pub(crate) struct Ledger {
    name: &'static str,
    groups: BTreeMap<String, (u128, u64)>,
    dump: Option<String>,
}

impl Ledger {
    pub(crate) fn new(name: &'static str) -> Self {
        let dump = std::env::var_os("WARPFOLD_BITS_DUMP").map(|_| String::new());
        Ledger { name, groups: BTreeMap::new(), dump }
    }

    /// Enters a case.
    pub(crate) fn enter(&mut self, group: &str, line: &str) {
        // FNV-1a of 128 bits (G. Fowler, L. C. Noll, P. Vo).
        const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let (hash, cases) = self.groups.entry(group.to_owned()).or_insert((BASIS, 0));
        for byte in line.bytes().chain([b'\n']) {
            *hash = (*hash ^ u128::from(byte)).wrapping_mul(PRIME);
        }
        *cases += 1;
        if let Some(dump) = &mut self.dump {
            writeln!(dump, "{group}: {line}").expect("a string takes all");
        }
    }

    /// Compares every group with what was recorded.
    pub(crate) fn check(self) {
        if let (Some(dump), Some(file)) = (&self.dump, std::env::var_os("WARPFOLD_BITS_DUMP")) {
            let mut file = file;
            file.push(format!(".{}", self.name));
            fs::write(&file, dump).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("tests/bits")
            .join(format!("{}.txt", self.name));
        let mut table = String::new();
        for (group, (hash, cases)) in &self.groups {
            writeln!(table, "{group}\t{hash:032x}\t{cases}").expect("a string takes all");
        }
        if std::env::var_os("WARPFOLD_BITS_RECORD").is_some() {
            fs::write(&path, &table).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
        let recorded =
            fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let rows =
            |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let (recorded, found) = (rows(&recorded), rows(&table));
        let differ: Vec<_> = found.symmetric_difference(&recorded).cloned().collect();
        assert!(
            differ.is_empty(),
            "groups that differ, as recorded and as found:\n{}",
            differ.join("\n")
        );
    }
}

/// A result in bits.
pub(crate) fn bits(value: &Value) -> String {
    match value {
        Value::F16(x) => format!("f16:{:04x}", x.to_bits()),
        Value::BF16(x) => format!("bf16:{:04x}", x.to_bits()),
        Value::F32(x) => format!("f32:{:08x}", x.to_bits()),
        Value::F64(x) => format!("f64:{:016x}", x.to_bits()),
        Value::ComplexF16(x) => format!("c32:{:04x},{:04x}", x.re.to_bits(), x.im.to_bits()),
        Value::ComplexBF16(x) => format!("c32b:{:04x},{:04x}", x.re.to_bits(), x.im.to_bits()),
        Value::Complex64(x) => format!("c64:{:08x},{:08x}", x.re.to_bits(), x.im.to_bits()),
        Value::Complex128(x) => format!("c128:{:016x},{:016x}", x.re.to_bits(), x.im.to_bits()),
        whole => format!("{whole:?}"),
    }
}

/// An output in bits, or what the error says.
pub(crate) fn outcome(output: Result<Output>) -> String {
    match output {
        Ok(Output::One(value)) => bits(&value),
        Ok(Output::Pair(least, greatest)) => format!("{} {}", bits(&least), bits(&greatest)),
        Ok(Output::Summary(summary)) => format!("{summary:?}"),
        Err(error) => format!("error: {error}"),
    }
}

/// Bytes as hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}
