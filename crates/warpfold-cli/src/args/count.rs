//! Counts as people write them: `1000`, `1_000_000`, `1e8`, `2.5e6`, `2^25`.

/// Parses a count, exactly.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let wrong = || "a count is an integer such as 1000, 1_000_000, 1e8, 2.5e6 or 2^25".to_string();
    let too_many = || format!("at most {} elements can be counted", u64::MAX);
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    if let Some(power) = plain.strip_prefix("2^") {
        let digits = !power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit());
        let power = power.parse::<u32>().ok().filter(|_| digits).ok_or_else(wrong)?;
        return 1u64.checked_shl(power).ok_or_else(too_many);
    }
    let (mantissa, exponent) = plain.split_once(['e', 'E']).unwrap_or((&plain, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let exponent: usize =
        exponent.strip_prefix('+').unwrap_or(exponent).parse().map_err(|_| wrong())?;
    if (whole.is_empty() && fraction.is_empty()) || exponent < fraction.len() {
        return Err(wrong());
    }
    let digits = format!("{whole}{fraction}");
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number: u64 = digits.parse().map_err(|_| too_many())?;
    let zeros = u32::try_from(exponent - fraction.len()).map_err(|_| too_many())?;
    match number {
        0 => Ok(0),
        _ => 10u64
            .checked_pow(zeros)
            .and_then(|scale| number.checked_mul(scale))
            .ok_or_else(too_many),
    }
}

/// Parses a length, which is a count from 1.
pub(super) fn length(text: &str) -> Result<u64, String> {
    match parse(text)? {
        0 => Err("a segment has one element at least".into()),
        length => Ok(length),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn counts_are_exact_or_refused() {
        for (text, n) in [
            ("0", 0),
            ("1e8", 100_000_000),
            ("2.5e6", 2_500_000),
            ("1_000", 1000),
            ("1.50E+2", 150),
            (".5e1", 5),
            ("2^0", 1),
            ("2^25", 33_554_432),
        ] {
            assert_eq!(parse(text), Ok(n), "{text}");
        }
        assert_eq!(parse("18446744073709551615"), Ok(u64::MAX));
        for bad in [
            "",
            "e8",
            ".",
            "-1",
            "1.5",
            "1e-2",
            "x",
            "1e",
            "1e30",
            "18446744073709551616",
            "1e99999999999999999999",
            "2^",
            "2^+3",
            "2^64",
            "3^2",
            "2^1e1",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
