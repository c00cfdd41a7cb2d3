//! What stands below the sentences of answers: probabilities, ratios and diagnostics, in a line each.

use crate::ui::widgets::number;
use ergodic_analysis::effects::{Contrast, Derived, ExpressionValue, Ratio};
use ergodic_base::shown::capitalised;

/// Decimals of a probability.
const PROBABILITY: i32 = 3;

/// How probable it is that a difference is above 0, and that it is none, where `rope` says what counts as none.
pub(super) fn probability_line(value: &Derived, rope: Option<[f64; 2]>) -> String {
    let above = number::fixed(value.above, PROBABILITY);
    let within = rope.zip(value.in_rope).map(|(rope, share)| {
        let [from, to] = rope.map(number::brief);
        let share = number::fixed(share, PROBABILITY);
        format!(", P({from} to {to}) = {share}")
    });
    format!("P(> 0) = {above}{}", within.unwrap_or_default())
}

/// A ratio: its median, since its draws may have no mean, its interval of this probability, and how probable it is that it is above 1.
pub(super) fn ratio_line(kind: &str, ratio: &Ratio, interval: f64) -> String {
    let value = &ratio.value;
    let change = match ratio.contrast {
        Contrast::Sd(sd) => format!(" one standard deviation ({}) higher", number::brief(sd)),
        _ => String::new(),
    };
    let median = value.summary.q50.unwrap_or(f64::NAN);
    let [median, low, high] =
        [median, value.interval[0], value.interval[1]].map(|x| number::significant(x, 3));
    format!(
        "{} of `{}`{change}: {median} ({} interval {low} to {high}), P(> 1) = {}",
        capitalised(kind),
        ratio.term,
        percent(interval),
        number::fixed(value.above, PROBABILITY)
    )
}

/// An expression with its mean, median and interval of this probability, to the digits that the Monte Carlo error leaves.
pub(super) fn expression_line(expression: &ExpressionValue, interval: f64) -> String {
    let value = &expression.value;
    let by_error = |x: f64| number::estimate(x, value.summary.mcse_mean.unwrap_or(f64::NAN));
    let [low, high] = value.interval.map(by_error);
    format!(
        "`{}`: mean {}, median {}, {} interval {low} to {high}",
        expression.text,
        by_error(value.mean()),
        by_error(value.summary.q50.unwrap_or(f64::NAN)),
        percent(interval)
    )
}

/// Probabilities of an expression, and how well its chains know it.
pub(super) fn diagnostics_line(value: &Derived, rope: Option<[f64; 2]>) -> String {
    let summary = &value.summary;
    let error = number::sd(summary.mcse_mean.unwrap_or(f64::NAN));
    let rhat = match (summary.rhat, summary.missing) {
        (None, Some(missing)) => missing.to_string(),
        (rhat, _) => number::rhat(rhat.unwrap_or(f64::NAN)),
    };
    let [bulk, tail] =
        [summary.ess_bulk, summary.ess_tail].map(|size| number::ess(size.unwrap_or(f64::NAN)));
    format!(
        "{}; MCSE of the mean {error}, R-hat {rhat}, bulk ESS {bulk}, tail ESS {tail}",
        probability_line(value, rope)
    )
}

fn percent(interval: f64) -> String {
    format!("{}%", number::brief(100.0 * interval))
}
