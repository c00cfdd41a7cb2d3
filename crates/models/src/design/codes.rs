//! Numbers that look like codes of categories, or like ratings: asked about, because a slope or a count would be wrong for them
//! without any other sign.

use ergodic_base::Reporter;

use super::matrix::Design;
use super::rating::{MOST_RATING, is_rating};
use super::remark::Remark;
use super::response::ResponseKind;

/// How far a number may be from a whole one after it was scaled and scaled back.
const ROUNDING: f64 = 1e-9;

/// The largest of `values` if they are whole numbers 1, 2, … up to a handful, each of which occurs.
fn codes(values: impl Iterator<Item = f64>) -> Option<usize> {
    let mut seen = [false; MOST_RATING + 1];
    for value in values {
        let whole = value.round();
        if (value - whole).abs() > ROUNDING || !(1.0..=MOST_RATING as f64).contains(&whole) {
            return None;
        }
        seen[whole as usize] = true;
    }
    let count = seen.iter().filter(|&&is| is).count();
    let largest = seen.iter().rposition(|&is| is)?;
    is_rating(count, 1.0, largest as f64).then_some(largest)
}

/// Asks about predictors, and about an outcome, that hold whole numbers from 1 to a handful.
pub(super) fn check(design: &Design, reporter: &mut Reporter) {
    let response = &design.response;
    if response.kind == ResponseKind::Absent {
        return;
    }
    for j in usize::from(design.has_intercept)..design.num_columns() {
        // What categories and functions make, and interactions, are no numbers that somebody typed.
        let Some(name) = design.terms[j].plain_column() else {
            continue;
        };
        let (center, scale) = (design.raw_center[j], design.raw_scale[j]);
        let values = design.x.column(j);
        let Some(largest) = codes(values.iter().map(|value| center + scale * value)) else {
            continue;
        };
        reporter.report(Remark::Codes {
            column: name.to_string(),
            largest,
        });
    }
    let count = match response.kind {
        ResponseKind::Number { .. } => false,
        ResponseKind::Count { .. } => true,
        _ => return,
    };
    if let Some(largest) = codes(design.y.iter().copied()) {
        reporter.report(Remark::Rating {
            response: response.name.clone(),
            largest,
            count,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::checks::check;
    use crate::design::columns::{MemoryColumns, Values};
    use crate::design::matrix::ModelFrame;
    use crate::design::response::ResponseUse;
    use ergodic_base::Warning;

    fn found(formula: &str, categorical: &[&str]) -> Vec<(String, String)> {
        let numbers = |of: fn(i32) -> f64| Values::Numbers((0..60).map(of).collect());
        let columns = [
            ("weight", numbers(|i| f64::from(i * 37 % 101) + 0.5)),
            ("Diet", numbers(|i| f64::from((i * 3 + i / 4) % 4 + 1))),
            ("rating", numbers(|i| f64::from((i * 7 + i / 5) % 5 + 1))),
            ("calls", numbers(|i| f64::from(i * 11 % 5))),
            ("cyl", numbers(|i| f64::from(i * 5 % 3 * 2 + 4))),
            (
                "Age (years)",
                numbers(|i| f64::from((i * 7 + i / 3) % 3 + 1)),
            ),
        ];
        let columns = columns.map(|(name, values)| (name.to_owned(), values));
        let table = MemoryColumns::new("t", columns.into()).unwrap();
        let mut frame = ModelFrame::new(formula.parse().unwrap());
        frame.response_use = ResponseUse::Number;
        frame.categorical = categorical.iter().map(|name| (*name).to_owned()).collect();
        let (design, _) = Design::build(&table, &frame).unwrap();
        let warnings = check(&design).warnings.into_iter();
        let about = |it: Warning| (it.code.clone(), it.to_string());
        warnings
            .filter(|it| ["codes", "rating"].contains(&it.code.as_str()))
            .map(about)
            .collect()
    }

    #[test]
    fn whole_numbers_from_1_to_a_handful_are_asked_about() {
        let (code, words) = &found("weight ~ Diet + calls + cyl", &[])[0];
        assert_eq!(code, "codes");
        assert_eq!(
            words,
            "`Diet` has 4 values, 1 to 4, and is taken as a number with one slope; if its values are categories, say so \
             (`model.categorical = [\"Diet\"]`)"
        );
        assert_eq!(found("weight ~ Diet + calls + cyl", &[]).len(), 1);
        assert_eq!(found("weight ~ Diet + calls", &["Diet"]), []);
        assert_eq!(found("weight ~ log(Diet) + calls:Diet", &[]), []);
        // A column with brackets in its name is no function.
        let (code, words) = &found("weight ~ `Age (years)`", &[])[0];
        assert_eq!(code, "codes");
        assert!(words.starts_with("`Age (years)` has 3 values"), "{words}");
        assert_eq!(found("weight ~ `Age (years)`", &["Age (years)"]), []);
        let (code, words) = &found("rating ~ weight", &[])[0];
        assert_eq!(code, "rating");
        assert!(words.contains("as a rating has, and is taken as a number; if it counts"));
        assert_eq!(found("calls ~ weight", &[]), []);
    }
}
