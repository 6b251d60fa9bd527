//! The pseudo-instructions of templates: a compiler that copied one, or left one out, would make kernels that fold something else.

use std::collections::BTreeMap;

use warpfold_kernels::catalog;

use crate::Outcome;

/// Fails unless each pseudo-instruction of a template stands where it is to: loads before the loop or in it, one map for each step
/// of a tile and one for the end of all.
pub(super) fn check(module: &str, ptx: &str) -> Outcome {
    if let Some((_, wanted)) = OPERATORS.iter().find(|(name, _)| module.starts_with(name)) {
        return check_operator(module, ptx, wanted);
    }
    let (mut loads, mut ends) = (Vec::new(), 0);
    let (mut maps, mut nexts) = (BTreeMap::<u32, usize>::new(), BTreeMap::<u32, usize>::new());
    let mut begins = 0;
    for line in ptx.lines() {
        let Some(marker) = line.trim().strip_prefix("warpfold.") else { continue };
        let (name, operands) = marker.split_once(' ').unwrap_or((marker, ""));
        let first = operands.split(',').next().and_then(|number| number.trim().parse().ok());
        match (name, first) {
            ("load" | "load_row" | "load_columns" | "load_tile", Some(steps)) => loads.push(steps),
            ("map" | "map_row" | "map_columns" | "map_tile", Some(step)) => {
                *maps.entry(step).or_default() += 1
            }
            ("next_row" | "next_tile", Some(step)) => *nexts.entry(step).or_default() += 1,
            ("begin_row" | "begin_columns", _) => begins += 1,
            ("end" | "end_row", Some(_)) => ends += 1,
            _ => return Err(format!("{module}: `{line}` is no pseudo-instruction")),
        }
    }
    let steps = loads.first().copied().unwrap_or(0);
    let are_alike = loads.iter().all(|&other| other == steps);
    let is_each_once =
        maps.len() as u32 == steps && maps.iter().all(|(&k, &count)| k < steps && count == 1);
    // Of rows and segments each step is loaded anew where it was mapped; of columns and segments a step that is there in part is one as all others.
    let is_of = |walk: &str| module.starts_with(walk);
    let is_walked = match () {
        () if is_of("map_row_") => nexts == maps && begins == 1 && loads.len() == 1 && ends == 1,
        () if is_of("map_column_") => {
            nexts.is_empty() && begins == 1 && loads.len() == 1 && ends == 0
        }
        () if is_of("map_segment_") => {
            nexts == maps && begins == 0 && loads.len() == 1 && ends == 0
        }
        () => nexts.is_empty() && begins == 0 && (ends == 1 || !catalog::is_template(module)),
    };
    let is_right = match catalog::is_template(module) {
        true => {
            let is_loaded = matches!(loads.len(), 1 | 2) && are_alike && steps > 0;
            is_loaded && is_each_once && is_walked
        }
        false => loads.is_empty() && maps.is_empty() && ends == 0 && is_walked,
    };
    match is_right {
        true => Ok(()),
        false => Err(format!(
            "{module}: {} loads, maps by step {maps:?} and {ends} ends; each map is to stand once, and nowhere but in templates",
            loads.len()
        )),
    }
}

/// How often each pseudo-instruction of an operator's templates stands: as often as the device code calls for it.
const OPERATORS: [(&str, &[(&str, usize)]); 4] = [
    ("operator_fold", OF_TILES),
    ("operator_rows", OF_TILES),
    (
        "operator_short_rows",
        &[
            ("fold", 1),
            ("group", 1),
            ("leaf", 1),
            ("left_shared", 1),
            ("load_run", 1),
            ("put", 1),
            ("put_shared", 1),
        ],
    ),
    ("operator_join", &[("get", 1), ("put", 2), ("right", 1)]),
];
const OF_TILES: &[(&str, usize)] = &[
    ("fold", 1),
    ("get_shared", 2),
    ("group", 1),
    ("leaf", 1),
    ("left_shared", 2),
    ("load_run", 1),
    ("put", 1),
    ("put_shared", 3),
    ("right_shared", 2),
];

fn check_operator(module: &str, ptx: &str, wanted: &[(&str, usize)]) -> Outcome {
    let mut found = BTreeMap::<&str, usize>::new();
    for marker in ptx.lines().filter_map(|line| line.trim().strip_prefix("warpfold.")) {
        let name = marker.split([' ', ';']).next().unwrap_or(marker);
        *found.entry(name).or_default() += 1;
    }
    match found.iter().map(|(name, count)| (*name, *count)).eq(wanted.iter().copied()) {
        true => Ok(()),
        false => Err(format!("{module}: {found:?} stand there, and are to be {wanted:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn each_pseudo_instruction_of_operators_stands_as_often_as_it_is_called() {
        const JOIN: &str = "\twarpfold.get %rd1;\n\twarpfold.right %rd2;\n\twarpfold.put %rd1;\n\twarpfold.put %rd3;\n";
        assert_eq!(check("operator_join.sm70", JOIN), Ok(()));
        assert!(check("operator_fold.sm70", JOIN).is_err());
        assert!(check("sum_f32.sm70", JOIN).is_err());
        for line in JOIN.lines() {
            let less = JOIN.replacen(&format!("{line}\n"), "", 1);
            assert!(check("operator_join.sm70", &less).is_err(), "without {line}");
            assert!(
                check("operator_join.sm70", &format!("{JOIN}{line}\n")).is_err(),
                "more of {line}"
            );
        }
    }

    const WHOLE: &str = "\twarpfold.load 2, 4, %rd1, %rd2;\n\
        \twarpfold.map 0, 4, %r1, %r2, %rd1;\n\twarpfold.map 1, 4, %r1, %r2, %rd1;\n\twarpfold.end 4, %r1, %r2, %rd1, %rd3;\n";

    #[test]
    fn each_pseudo_instruction_stands_once() {
        assert_eq!(check("map_count_bool.sm70", WHOLE), Ok(()));
        assert!(check("count_bool.sm70", WHOLE).is_err());
        for line in WHOLE.lines() {
            let less = WHOLE.replacen(&format!("{line}\n"), "", 1);
            assert!(check("map_count_bool.sm70", &less).is_err(), "without {line}");
            let more = format!("{WHOLE}{line}\n{line}\n");
            assert!(check("map_count_bool.sm70", &more).is_err(), "more of {line}");
        }
        assert!(check("map_count_bool.sm70", &WHOLE.replace(".map 1", ".map 2")).is_err());
    }

    const COLUMNS: &str = "\twarpfold.begin_columns 4, %rd1, %rd2, %rd3;\n\
        \twarpfold.load_columns 1, 8, 4, %rd1, %rd2, %rd3, %rd4;\n\twarpfold.map_columns 0, 8, 4, %r1, %r2, %rd1, %rd2;\n";

    #[test]
    fn each_pseudo_instruction_of_columns_stands_once() {
        assert_eq!(check("map_column_total_f64.sm70", COLUMNS), Ok(()));
        assert!(check("map_row_total_f64.sm70", COLUMNS).is_err());
        for line in COLUMNS.lines() {
            let less = COLUMNS.replacen(&format!("{line}\n"), "", 1);
            assert!(check("map_column_total_f64.sm70", &less).is_err(), "without {line}");
            let more = format!("{COLUMNS}{line}\n");
            assert!(check("map_column_total_f64.sm70", &more).is_err(), "more of {line}");
        }
    }

    const SEGMENTS: &str = "\twarpfold.load_tile 1, 8, %rd1, %rd2;\n\
        \twarpfold.map_tile 0, 8, %r1, %r2, %rd1, %rd2, %rd3, %rd4, %rd5;\n\twarpfold.next_tile 0, 8, %rd1, %rd2;\n";

    #[test]
    fn each_pseudo_instruction_of_segments_stands_once() {
        assert_eq!(check("map_segment_total_f64.sm70", SEGMENTS), Ok(()));
        assert!(check("map_row_total_f64.sm70", SEGMENTS).is_err());
        for line in SEGMENTS.lines() {
            let less = SEGMENTS.replacen(&format!("{line}\n"), "", 1);
            assert!(check("map_segment_total_f64.sm70", &less).is_err(), "without {line}");
            let more = format!("{SEGMENTS}{line}\n");
            assert!(check("map_segment_total_f64.sm70", &more).is_err(), "more of {line}");
        }
    }

    const ROWS: &str = "\twarpfold.load_row 1, 8, %rd1, %rd2, %rd3, %rd4, %rd5;\n\
        \twarpfold.begin_row %rd1, %rd2;\n\twarpfold.map_row 0, 8, %r1, %r2, %rd1, %rd2, %rd3;\n\
        \twarpfold.next_row 0, 8, %rd1, %rd2, %rd3;\n\twarpfold.end_row 8, %r1, %r2, %rd1, %rd2, %rd3, %rd4;\n";

    #[test]
    fn each_pseudo_instruction_of_rows_stands_once() {
        assert_eq!(check("map_row_total_f64.sm70", ROWS), Ok(()));
        assert!(check("map_sum_f64.sm70", ROWS).is_err());
        assert!(check("map_row_total_f64.sm70", WHOLE).is_err());
        for line in ROWS.lines() {
            let less = ROWS.replacen(&format!("{line}\n"), "", 1);
            assert!(check("map_row_total_f64.sm70", &less).is_err(), "without {line}");
            let more = format!("{ROWS}{line}\n");
            assert!(check("map_row_total_f64.sm70", &more).is_err(), "more of {line}");
        }
    }
}
