//! Numbers in files: the shortest decimals that read back to the same bits, always with a point.

/// `value` as text; `NaN`, `Inf`, `-Inf` as R writes them.
pub fn shortest(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// `value`, or `NA` where there is none.
pub fn or_na(value: Option<f64>) -> String {
    value.map_or_else(|| "NA".to_owned(), shortest)
}

/// Reads what [`shortest`] wrote and what other programs write for the special values.
pub fn parse(text: &str) -> Option<f64> {
    match text {
        "NaN" | "nan" | "NA" => Some(f64::NAN),
        "Inf" | "inf" | "+Inf" | "Infinity" => Some(f64::INFINITY),
        "-Inf" | "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_reads_back_to_the_same_bits(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let back = parse(&shortest(value)).unwrap();
            prop_assert!(value.is_nan() && back.is_nan() || value.to_bits() == back.to_bits());
        }
    }

    #[test]
    fn common_numbers_are_short() {
        assert_eq!(shortest(1.0), "1");
        assert_eq!(shortest(-0.25), "-0.25");
        assert_eq!(shortest(1e-7), "1e-7");
        assert_eq!(or_na(None), "NA");
    }
}
