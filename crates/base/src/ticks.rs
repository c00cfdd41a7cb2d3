//! Round numbers along an axis, and room around what it shows.

/// Steps of ticks within a power of ten. The larger two are needed where `most` ticks of the smaller ones do not fit.
const STEPS: [f64; 5] = [1.0, 2.0, 5.0, 10.0, 20.0];
/// Ticks closer than this share of the largest number at the axis would be the same number.
const LEAST_STEP: f64 = 1e-14;

/// Numbers at equal steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// The distance between neighbours: 1, 2 or 5 times a power of ten; 0 without ticks.
    pub step: f64,
    /// Places of the ticks, ascending.
    pub at: Vec<f64>,
}

impl Ticks {
    /// At most `most` (at least two) ticks from `low` to `high`; none where these are not finite or not apart.
    pub fn between(low: f64, high: f64, most: usize) -> Self {
        let span = high - low;
        if !(span.is_finite() && span > 0.0) {
            return Self::default();
        }
        let most = most.max(2) as f64;
        let power = 10_f64.powf((span / most).log10().floor());
        let ends = |step: f64| ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let fits = |step: &f64| ends(*step).1 - ends(*step).0 < most;
        let mut steps = STEPS.into_iter().map(|m| m * power);
        let step = steps.find(fits).unwrap_or(STEPS[4] * power);
        if step <= low.abs().max(high.abs()) * LEAST_STEP {
            return Self::default();
        }
        let (first, last) = ends(step);
        let count = (last - first).clamp(-1.0, 100.0) as i64;
        Self {
            step,
            at: (0..=count).map(|i| (first + i as f64) * step).collect(),
        }
    }
}

/// A range with `share` of its width added at both ends; a single value stands in the middle of some room.
pub fn padded((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    let pad = if high - low > size * 1e-12 {
        (high - low) * share
    } else if size == 0.0 {
        1.0
    } else {
        size * 0.05
    };
    (low - pad, high + pad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_numbers_inside_the_range() {
        for ((low, high, most), at) in [
            ((0.0, 0.65, 4), &[0.0, 0.2, 0.4, 0.6][..]),
            ((0.0, 1111.0, 6), &[0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]),
            ((1.0, 1.1, 3), &[1.0, 1.05, 1.1]),
        ] {
            let got = Ticks::between(low, high, most).at;
            assert_eq!(got.len(), at.len());
            assert!(
                got.iter().zip(at).all(|(a, b)| (a - b).abs() < 1e-12),
                "{got:?}"
            );
        }
    }

    #[test]
    fn degenerate_ranges_have_none() {
        for (low, high) in [
            (1.0, 1.0),
            (2.0, 1.0),
            (f64::NAN, 1.0),
            (1.0, 1.0 + 1e-16),
            (0.0, f64::INFINITY),
        ] {
            assert!(
                Ticks::between(low, high, 4).at.is_empty(),
                "{low} to {high}"
            );
        }
    }

    #[test]
    fn a_single_value_gets_room_around_it() {
        assert_eq!(padded((1.0, 3.0), 0.05), (0.9, 3.1));
        let (low, high) = padded((0.349, 0.349), 0.04);
        assert!(
            low < 0.349 && high > 0.349 && high - low < 0.05,
            "{low} to {high}"
        );
        assert_eq!(padded((0.0, 0.0), 0.04), (-1.0, 1.0));
    }

    proptest! {
        #[test]
        fn a_range_has_a_handful_of_ticks(low in -1e9_f64..1e9, log_span in -4.0_f64..9.0, most in 2_usize..7) {
            let high = low + 10_f64.powf(log_span);
            let ticks = Ticks::between(low, high, most).at;
            prop_assert!(!ticks.is_empty() && ticks.len() <= most, "{} ticks for {most}", ticks.len());
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
            let slack = (high - low) * 1e-6;
            prop_assert!(ticks.iter().all(|value| *value >= low - slack && *value <= high + slack));
        }
    }
}
