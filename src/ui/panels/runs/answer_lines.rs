//! What stands below the sentences of answers: probabilities, ratios and diagnostics, in a line each.

use crate::ui::widgets::number;
use ergodic_analysis::effects::{Contrast, Derived, ExpressionValue, Ratio};
use ergodic_base::shown::capitalised;

/// Decimals of a probability.
const PROBABILITY: i32 = 3;

/// A probability behind its name; one that no draw, or every draw, shows is not known to be 0 or 1.
fn equals(share: f64) -> String {
    let least = 10.0_f64.powi(-PROBABILITY);
    if share < 0.5 * least {
        format!("< {}", number::fixed(least, PROBABILITY))
    } else if share > 1.0 - 0.5 * least {
        format!("> {}", number::fixed(1.0 - least, PROBABILITY))
    } else {
        format!("= {}", number::fixed(share, PROBABILITY))
    }
}

/// How probable it is that a difference is above 0, and that it is none, where `rope` says what counts as none.
pub(super) fn probability_line(value: &Derived, rope: Option<[f64; 2]>) -> String {
    let within = rope.zip(value.in_rope).map(|(rope, share)| {
        let [from, to] = rope.map(number::brief);
        format!(", P({from} to {to}) {}", equals(share))
    });
    format!(
        "P(> 0) {}{}",
        equals(value.above),
        within.unwrap_or_default()
    )
}

/// A ratio: its median, since its draws may have no mean, its interval of this probability, and how probable it is that it is above 1.
pub(super) fn ratio_line(kind: &str, ratio: &Ratio, interval: f64) -> String {
    let value = &ratio.value;
    let change = match ratio.contrast {
        Contrast::Sd(sd) => format!(", one standard deviation ({}) higher", number::brief(sd)),
        _ => String::new(),
    };
    let median = value.summary.q50.unwrap_or(f64::NAN);
    let [median, low, high] =
        [median, value.interval[0], value.interval[1]].map(|x| number::significant(x, 3));
    format!(
        "{} of `{}`{change}: {median} ({} interval {low} to {high}), P(> 1) {}",
        capitalised(kind),
        ratio.term,
        percent(interval),
        equals(value.above)
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

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_diagnostics::SummaryRow;

    fn derived(in_rope: Option<f64>) -> Derived {
        let summary = SummaryRow {
            variable: "a".into(),
            mean: Some(1.5),
            mcse_mean: Some(0.01),
            sd: Some(0.2),
            mad: Some(0.2),
            q5: Some(1.2),
            q50: Some(1.4),
            q95: Some(1.9),
            ess_bulk: Some(812.9),
            ess_tail: Some(790.2),
            ess_bulk_per_s: None,
            rhat: Some(1.001),
            rhat_nested: None,
            missing: None,
        };
        Derived {
            summary,
            interval: [1.2, 1.9],
            interval_mcse: [Some(0.02); 2],
            above: 0.9,
            in_rope,
        }
    }

    #[test]
    fn lines_say_what_is_what() {
        assert_eq!(probability_line(&derived(None), None), "P(> 0) = 0.900");
        assert_eq!(
            [0.0, 0.0004, 0.001, 0.9994, 1.0].map(equals),
            ["< 0.001", "< 0.001", "= 0.001", "= 0.999", "> 0.999"]
        );
        let rope = Some([-0.5, 1.25]);
        assert_eq!(
            probability_line(&derived(Some(0.25)), rope),
            "P(> 0) = 0.900, P(\u{2212}0.5 to 1.25) = 0.250"
        );
        let ratio = |contrast: Contrast| Ratio {
            term: "age".to_owned(),
            predictors: vec!["age".to_owned()],
            contrast,
            value: derived(None),
        };
        assert_eq!(
            ratio_line("odds ratio", &ratio(Contrast::Unit), 0.9),
            "Odds ratio of `age`: 1.40 (90% interval 1.20 to 1.90), P(> 1) = 0.900"
        );
        let by_sd = ratio_line("odds ratio", &ratio(Contrast::Sd(12.5)), 0.9);
        let begins = "Odds ratio of `age`, one standard deviation (12.5) higher: 1.40 ";
        assert!(by_sd.starts_with(begins), "{by_sd}");
        let expression = ExpressionValue {
            text: "2*a".to_owned(),
            value: derived(None),
        };
        assert_eq!(
            expression_line(&expression, 0.9),
            "`2*a`: mean 1.50, median 1.40, 90% interval 1.20 to 1.90"
        );
        let diagnostics = diagnostics_line(&expression.value, None);
        let begins = "P(> 0) = 0.900; MCSE of the mean 0.010, R-hat 1.0";
        assert!(diagnostics.starts_with(begins), "{diagnostics}");
        assert!(
            diagnostics.ends_with(", bulk ESS 812, tail ESS 790"),
            "{diagnostics}"
        );
    }
}
