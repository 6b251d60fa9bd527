//! What Rust knows of the parameters of kernels and of the numbers that they take for a choice, read from the device code: `arguments.rs` of `warpfold-kernels`.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::Outcome;

/// Kernels, and macros that declare them: the file, the kernel's name there, and the name of its parameters in Rust. Parameters without a name are arrays.
const KERNELS: &[(&str, &str, &str)] = &[
    ("walk/array.cuh", "name", "Arguments"),
    ("walk/parts.cuh", "name", "SegmentArguments"),
    ("entry/strided.cu", "NAME(ENTRY, _loops)", "StridedArguments"),
    ("entry/segment_moments.cu", "ENTRY", "MomentArguments"),
    ("entry/segment_products.cu", "ENTRY", "TreeArguments"),
    ("entry/segment_products.cu", "NAME(ENTRY, COLUMNS)", "TreeColumnArguments"),
    ("entry/segment_products.cu", "NAME(ENTRY, ROWS)", "TreeRowArguments"),
    ("entry/segment_products.cu", "NAME(ENTRY, _offsets)", "TreeSegmentArguments"),
    ("entry/segment_products.cu", "NAME(ENTRY, _join)", "TreeJoinArguments"),
    ("entry/segment_fallback.cu", "NAME(ENTRY, _columns)", "FallbackColumnArguments"),
    ("entry/lengths.cu", "segment_lengths", "LengthArguments"),
    ("entry/rank_sums.cu", "rank_sums_##E", "RankSumArguments"),
    ("entry/groups.cu", "groups_digits", "DigitArguments"),
    ("entry/groups.cu", "groups_scan", "ScanArguments"),
    ("entry/groups.cu", "NAME", "RunArguments"),
    ("entry/groups.cu", "groups_bounds", "BoundArguments"),
    ("sort/scatter.cuh", "NAME", "ScatterArguments"),
    ("entry/tables.cu", "NAME", "TableArguments"),
    ("walk/map_array.cuh", "name", "MapArguments"),
    ("walk/map_rows.cuh", "name", "MapRowArguments"),
    ("walk/map_segments.cuh", "name", "MapSegmentArguments"),
    ("walk/map_columns.cuh", "name", "MapColumnArguments"),
    ("entry/operator_fold.cu", "operator_fold", "OperatorArguments"),
    ("entry/operator_join.cu", "operator_join", "OperatorJoinArguments"),
    ("entry/operator_rows.cu", "operator_rows", "OperatorRowArguments"),
    ("entry/operator_short_rows.cu", "operator_short_rows", "OperatorShortRowArguments"),
];

/// Lists of parameters that several kernels begin with.
const LISTS: &[(&str, &str, &str)] =
    &[("walk/columns.cuh", "COLUMN_PARAMETERS", "ColumnArguments")];

/// Enumerations whose numbers the host passes: the file, how they begin there, and their name in Rust.
const CODES: &[(&str, &str, &str)] = &[
    ("acc/finish_integers.cuh", "enum class Step", "Step"),
    ("entry/segment_moments.cu", "enum class Moment", "Moment"),
    ("walk/tables.cuh", "enum Kind : u32", "TableKind"),
];

/// Constants that plans and launches go by: the file, the name there, and the name in Rust.
const CONSTANTS: &[(&str, &str, &str)] = &[
    ("walk/tree_block.cuh", "RUN", "TREE_RUN"),
    ("walk/tree_block.cuh", "BLOCK_LEAVES", "TREE_BLOCK"),
    ("walk/tree_parts.cuh", "PART_WARPS", "TREE_WARPS"),
    ("walk/tree_columns.cuh", "PIECE_LEVELS", "TREE_PIECE_LEVELS"),
    ("walk/tree_rows.cuh", "SHORT_ROW_BYTES", "TREE_SHORT_ROW_BYTES"),
    ("walk/tree_rows.cuh", "LONGEST_ROW_BYTES", "TREE_LONGEST_ROW_BYTES"),
];

/// Kernels that take the parameters of another: the file, the kernel's name there, and what they are in Rust.
const SAME: &[(&str, &str, &str)] = &[("entry/segment_fallback.cu", "ENTRY", "SegmentArguments")];

/// The file that the device code gives; `read` gives a file of its folder.
pub(super) fn text(read: impl Fn(&str) -> Outcome<String>) -> Outcome<String> {
    let mut text = String::from(
        "//! Parameters of kernels, 64 bits each, numbers that they take for a choice, and constants, as the device code has them. Made by `cargo xtask kernels`.\n\nuse crate::manifest::{arguments, codes, constant};\n",
    );
    let mut records = BTreeMap::new();
    for &(file, kernel, name) in KERNELS {
        records.insert(name, (file, of_kernel(&read(file)?, file, kernel)?));
    }
    for &(file, list, name) in LISTS {
        let source = read(file)?;
        let list = between(&source, &format!("#define {list} "), "\n#");
        let list = list.ok_or_else(|| format!("{file} has no list of parameters for {name}"))?;
        records.insert(name, (file, declared(list)?));
    }
    for &(file, kernel, name) in SAME {
        let found = of_kernel(&read(file)?, file, kernel)?;
        let expected = &records[name].1;
        if found != *expected {
            return Err(format!("{file}: {kernel} takes {found:?}, and {name} are {expected:?}"));
        }
    }
    for (name, (file, fields)) in records {
        let fields = fields.join(", ");
        write!(text, "\narguments! {{ \"{file}\": {name} {{ {fields} }} }}\n")
            .expect("a string grows");
    }
    for &(file, start, name) in CODES {
        let source = read(file)?;
        let list = between(&source, &format!("{start} {{"), "}")
            .ok_or_else(|| format!("{file} has no {start}"))?;
        let names: Vec<&str> = list.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
        if let Some(given) = names.iter().find(|name| name.contains('=')) {
            return Err(format!("{file}: {start} gives a number, `{given}`; let them count"));
        }
        let names = names.join(", ");
        write!(text, "\ncodes! {{ \"{file}\": {name} {{ {names} }} }}\n").expect("a string grows");
    }
    for &(file, constant, name) in CONSTANTS {
        let value = value_of(&read(file)?, constant)
            .ok_or_else(|| format!("{file} gives {constant} no number"))?;
        write!(text, "\nconstant! {{ \"{file}\": {name} = {value} }}\n").expect("a string grows");
    }
    Ok(text)
}

/// The number that a `constexpr u32` outside of any struct is given, alone or among others.
fn value_of(source: &str, constant: &str) -> Option<u64> {
    let lists = source.lines().filter_map(|line| line.strip_prefix("constexpr u32 "));
    let mut given =
        lists.flat_map(|list| list.split_once(';').map_or(list, |(list, _)| list).split(','));
    given.find_map(|one| {
        let (name, value) = one.split_once('=')?;
        (name.trim() == constant).then(|| value.trim().parse().ok())?
    })
}

fn of_kernel(source: &str, file: &str, kernel: &str) -> Outcome<Vec<String>> {
    let mut entries = source.split("extern \"C\" __global__").skip(1);
    let list = entries.find_map(|entry| between(entry, &format!(" {kernel}("), ") {"));
    declared(list.ok_or_else(|| format!("{file} declares no kernel {kernel}"))?)
        .map_err(|why| format!("{file}: {why}"))
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(body, _)| body)
}

/// The names of parameters that have one; all are pointers or `u64`, as a launch passes 64 bits of each.
fn declared(parameters: &str) -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for one in parameters.replace('\\', " ").split(',').map(str::trim) {
        let (ty, name) = one.split_at(one.rfind([' ', '*']).map_or(0, |at| at + 1));
        if !ty.contains('*') && ty.trim() != "u64" {
            return Err(format!("`{one}` is neither a pointer nor u64"));
        }
        names.extend((!name.is_empty()).then(|| name.to_string()));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_names_in_their_order() {
        let list =
            "const void*, const void*, u64 n, const Spans<E>::Node* states, \\\n    u64 *faults";
        assert_eq!(declared(list).unwrap(), ["n", "states", "faults"]);
        assert!(declared("u64 n, u32 few").unwrap_err().contains("u32 few"));
    }

    #[test]
    fn constants_are_numbers_alone_or_among_others() {
        let source = "constexpr u32 ONE = 1, TWO = 2;  // of a block\n    constexpr u32 INNER = 3;\nconstexpr u32 SUM = ONE + TWO;\n";
        let value = |name| value_of(source, name);
        assert_eq!([value("ONE"), value("TWO")], [Some(1), Some(2)]);
        assert_eq!([value("INNER"), value("SUM"), value("W")], [None; 3]);
    }

    /// No compiler of CUDA is needed to see that.
    #[test]
    fn what_rust_knows_of_parameters_is_what_the_device_code_says() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/warpfold-kernels");
        let read =
            |path: std::path::PathBuf| std::fs::read_to_string(path).map_err(|e| e.to_string());
        let made =
            text(|file| read(folder.join("cuda").join(file))).expect("the device code has them");
        let there = read(folder.join("src/arguments.rs")).expect("it is committed");
        assert_eq!(made, there, "run cargo xtask kernels");
    }
}
