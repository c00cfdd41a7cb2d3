//! Effects in plain words, in the unit of the outcome, with as many digits as the draws tell: up to the first one that the Monte Carlo
//! error of the number moves, and no more than two of the standard deviation.

use ergodic_base::numerals::{brief, fixed, significant};
use ergodic_core::design::{ResponseInfo, ResponseKind};

use super::{Conditional, Contrast, Curve, Effect, Effects};
use crate::predict;

/// Standard deviations of a predictor for which an effect of one unit is a number that people read: a unit is neither more than
/// the rows differ by, nor so little that nobody counts in it.
const READABLE: std::ops::RangeInclusive<f64> = 0.5..=100.0;

/// Whether the effect of one unit is told of a number with standard deviation `sd`, which may not vary; that of one standard deviation
/// otherwise.
pub(super) fn is_readable(sd: f64) -> bool {
    sd == 0.0 || READABLE.contains(&sd)
}

/// A contrast, as what "cannot be told" can follow.
pub(super) fn noun(contrast: &Contrast) -> String {
    match contrast {
        Contrast::Slope => "the slope".to_owned(),
        Contrast::Unit => "the effect of one unit more".to_owned(),
        Contrast::Sd(_) => "the effect of one standard deviation more".to_owned(),
        Contrast::Levels { level, reference } => format!("{level} against {reference}"),
    }
}

/// A number in a sentence, of which `mcse` is the Monte Carlo standard error and `sd` the standard deviation of the draws that it is
/// of, all in the same unit. The last digit is the first one that the Monte Carlo error moves, but no further than the second
/// significant digit of the standard deviation: what lies beyond is far below what the data know. Without either, three decimals.
fn to_error(value: f64, mcse: Option<f64>, sd: Option<f64>) -> String {
    let place = |x: Option<f64>| {
        let x = x?;
        (x > 0.0 && x.is_finite()).then(|| -x.log10().floor())
    };
    let by_spread = place(sd).map(|first| first + 1.0);
    let decimals = match (place(mcse), by_spread) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b).unwrap_or(3.0),
    };
    fixed(value, decimals.clamp(0.0, 12.0) as usize)
}

/// An end of an interval, as [`to_error`]. One that is not 0 within its Monte Carlo error does not stand as 0, on whichever side of
/// it it lies, but with its first significant digit.
fn end(value: f64, mcse: Option<f64>, sd: Option<f64>) -> String {
    let text = to_error(value, mcse, sd);
    match is_zero(&text) && value.abs() > mcse.unwrap_or(0.0) {
        true => significant(value, 1),
        false => text,
    }
}

/// Whether a number in a text is 0, to its digits.
fn is_zero(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '0' | '.'))
}

/// Whether outcomes are shares of successes, or what is expected of them is a probability.
pub(super) fn is_share(response: &ResponseInfo) -> bool {
    matches!(
        response.kind,
        ResponseKind::Binary { .. } | ResponseKind::Successes | ResponseKind::Unordered { .. }
    )
}

/// What effects are differences of, in words.
pub(super) fn quantity(response: &ResponseInfo) -> String {
    match response.kind {
        ResponseKind::Unordered { .. } => format!("probability of each {}", response.name),
        _ => predict::quantity(response),
    }
}

/// What is expected of a level without an order, or all that there is.
fn quantity_of(response: &ResponseInfo, quantity: &str, level: Option<&String>) -> String {
    match level {
        Some(level) => format!("probability that {} is {level}", response.name),
        None => quantity.to_owned(),
    }
}

impl Conditional {
    /// What is expected along a curve, in words.
    pub fn quantity_of(&self, curve: &Curve) -> String {
        quantity_of(&self.response, &self.quantity, curve.level.as_ref())
    }
}

impl Effects {
    /// Whether outcomes are shares, whose differences are percentage points.
    pub fn is_share(&self) -> bool {
        is_share(&self.response)
    }

    /// The predictors that there are effects of, each once, in the order of the formula.
    pub fn predictors(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for effect in &self.effects {
            if names.last() != Some(&effect.predictor.as_str()) {
                names.push(&effect.predictor);
            }
        }
        names
    }

    /// Whether an effect is the one of its predictor that a sentence tells: that of one unit, of one standard deviation where a
    /// unit is much less or much more, of each level.
    pub fn is_told(&self, effect: &Effect) -> bool {
        let spread = self.spreads.get(&effect.predictor);
        let unit = spread.is_none_or(|sd| is_readable(*sd));
        match effect.contrast {
            Contrast::Slope => false,
            Contrast::Unit => unit,
            Contrast::Sd(_) => !unit,
            Contrast::Levels { .. } => true,
        }
    }

    /// An effect in one sentence.
    pub fn sentence(&self, effect: &Effect) -> String {
        let name = &effect.predictor;
        let change = match &effect.contrast {
            Contrast::Slope => format!("Per unit of {name} at the margin"),
            Contrast::Unit => format!("With {name} one unit higher"),
            Contrast::Sd(sd) => {
                format!("With {name} one standard deviation ({}) higher", brief(*sd))
            }
            Contrast::Levels { level, reference } => {
                format!("With {name} {level} instead of {reference}")
            }
        };
        let set = match &effect.by {
            Some((column, value)) => format!(" where {column} is {value}"),
            None => String::new(),
        };
        let quantity = quantity_of(&self.response, &self.quantity, effect.level.as_ref());
        let value = &effect.value;
        let mean = value.mean();
        if !mean.is_finite() {
            return format!(
                "{change}{set}, the {quantity} cannot be told: a draw gives no finite number"
            );
        }
        let factor = if self.is_share() { 100.0 } else { 1.0 };
        let scaled = |x: Option<f64>| x.map(|x| factor * x);
        let (mcse, sd) = (scaled(value.summary.mcse_mean), scaled(value.summary.sd));
        let amount = to_error(factor * mean.abs(), mcse, sd);
        let way = if mean < 0.0 { "lower" } else { "higher" };
        let far = match (self.is_share(), amount.as_str()) {
            (_, amount) if is_zero(amount) => "about the same".to_owned(),
            (true, "1") => format!("1 percentage point {way}"),
            (true, amount) => format!("{amount} percentage points {way}"),
            (false, amount) => format!("{amount} {way}"),
        };
        let [low, high] = [0, 1].map(|side| {
            let of_end = scaled(value.interval_mcse[side]).or(mcse);
            end(factor * value.interval[side], of_end, sd)
        });
        let percent = brief(100.0 * self.options.interval);
        let settled = if value.interval[0] <= 0.0 && value.interval[1] >= 0.0 {
            ", so the direction is open"
        } else {
            ""
        };
        format!(
            "{change}{set}, the {quantity} is on average {far} ({percent} % interval {low} to {high}){settled}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, Monte Carlo errors, standard deviations, and how far they are told.
    #[test]
    fn digits_follow_the_monte_carlo_error() {
        for (value, mcse, sd, text) in [
            // 25 effective draws: the error is the coarser of both.
            (0.213_7, Some(0.04), Some(0.2), "0.21"),
            (0.213_7, Some(0.12), Some(0.2), "0.2"),
            (31.4, Some(12.0), Some(40.0), "31"),
            // Many draws: two digits of the standard deviation.
            (0.213_7, Some(0.000_4), Some(0.03), "0.214"),
            (0.213_7, Some(0.000_4), Some(0.3), "0.21"),
            (-0.213_7, Some(0.004), None, "-0.214"),
            (0.213_7, None, Some(0.03), "0.214"),
            (0.213_7, None, None, "0.214"),
        ] {
            assert_eq!(to_error(value, mcse, sd), text, "{value} {mcse:?} {sd:?}");
        }
    }

    #[test]
    fn the_end_of_an_interval_is_0_only_within_its_error() {
        for (value, mcse, sd, text) in [
            (0.042_7, Some(0.004), Some(0.4), "0.04"),
            // Known to be on one side of 0, though far below the standard deviation.
            (0.004_2, Some(0.004), Some(0.4), "0.004"),
            (-0.004_2, Some(0.004), Some(0.4), "-0.004"),
            (-0.003_8, Some(0.004), Some(0.4), "0.00"),
            (0.0, Some(0.0), Some(0.4), "0.00"),
        ] {
            assert_eq!(end(value, mcse, sd), text, "{value}");
        }
    }
}
