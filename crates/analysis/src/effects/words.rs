//! Effects in plain words, in the unit of the outcome, with as many digits as the draws tell.

use ergodic_base::numerals::{brief, fixed};
use ergodic_core::design::response::{ResponseInfo, ResponseKind};

use super::{Conditional, Contrast, Curve, Derived, Effect, Effects};
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

/// Decimals up to the first digit that the Monte Carlo error moves or, if that comes earlier, to the first digit of the standard
/// deviation.
fn decimals(value: &Derived, factor: f64) -> usize {
    let place = |x: Option<f64>| {
        let x = factor * x?.abs();
        (x > 0.0 && x.is_finite()).then(|| (-x.log10().floor()).clamp(0.0, 12.0) as usize)
    };
    let by_error = place(value.summary.mcse_mean);
    let by_spread = place(value.summary.sd);
    match (by_error, by_spread) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b).unwrap_or(3),
    }
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
        let digits = decimals(value, factor);
        // Without the sign of a rounded zero.
        let number = |x: f64| {
            let text = fixed(factor * x, digits);
            let is_zero = text
                .trim_start_matches('-')
                .chars()
                .all(|c| matches!(c, '0' | '.'));
            if is_zero {
                text.trim_start_matches('-').to_owned()
            } else {
                text
            }
        };
        let amount = number(mean.abs());
        let way = if mean < 0.0 { "lower" } else { "higher" };
        let far = match (self.is_share(), amount.as_str()) {
            (_, amount) if amount.chars().all(|c| matches!(c, '0' | '.')) => {
                "about the same".to_owned()
            }
            (true, "1") => format!("1 percentage point {way}"),
            (true, amount) => format!("{amount} percentage points {way}"),
            (false, amount) => format!("{amount} {way}"),
        };
        let [low, high] = value.interval.map(number);
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
