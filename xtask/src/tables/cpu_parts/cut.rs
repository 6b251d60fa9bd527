//! The names of ways of cutting an array, whatever its length: `[2097152, 4] axis 1` is `[n/4, 4] axis 1 (rows of 4)`.

/// The name of a case of the benchmark as the tables have it.
pub(super) fn name(case: &str) -> String {
    let shape = case.strip_prefix('[').and_then(|rest| rest.split_once("] axis "));
    let Some((shape, axis)) = shape else { return case.replace(" any keys", " keys") };
    let lengths: Vec<u64> = shape.split(", ").filter_map(|length| length.parse().ok()).collect();
    match (&lengths[..], axis) {
        (&[rows, columns], "0" | "1") if is_square(rows, columns) => {
            format!("[√n, √n] axis {axis} ({})", if axis == "0" { "columns" } else { "rows" })
        }
        (&[rows, columns], "0" | "1") => {
            format!("{} axis {axis} ({})", symbolic(&lengths), folded(rows, columns, axis == "0"))
        }
        _ => format!("{} axis {axis}", symbolic(&lengths)),
    }
}

fn is_square(rows: u64, columns: u64) -> bool {
    rows.abs_diff(columns) <= 1
}

/// A shape whose longest axis is what the others leave of `n`.
fn symbolic(lengths: &[u64]) -> String {
    let longest = (0..lengths.len()).max_by_key(|at| lengths[*at]);
    let of_others = |at| (0..lengths.len()).filter(|k| *k != at).map(|k| lengths[k]).product();
    let length = |at: usize| match of_others(at) {
        1u64 if Some(at) == longest => "n".into(),
        others if Some(at) == longest => format!("n/{others}"),
        _ => lengths[at].to_string(),
    };
    format!("[{}]", (0..lengths.len()).map(length).collect::<Vec<_>>().join(", "))
}

/// What is folded to a result each: short runs by their length, long ones by how many they are.
fn folded(rows: u64, columns: u64, down: bool) -> String {
    let (runs, length, word) =
        if down { (columns, rows, "columns") } else { (rows, columns, "rows") };
    match length < runs {
        true => format!("{word} of {length}"),
        false => format!("{runs} long {word}"),
    }
}
