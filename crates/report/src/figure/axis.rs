//! An axis: its range, its ticks and its title.

use ergodic_base::numerals::{NARROW, group};
use ergodic_base::ticks::{Ticks, padded};

/// How an axis is labelled.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisKind {
    /// Numbers at round places.
    Numbers,
    /// Positive numbers, of which equal ratios are equally far apart.
    Logarithmic,
    /// Row k, from the top, stands at k + 1/2 and has this name.
    Rows(Vec<String>),
    /// No labels: heights of a density mean nothing by themselves.
    Hidden,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is measured, and in what.
    pub title: String,
    /// From the lower or left end to the upper or right one.
    pub range: (f64, f64),
    /// Labels of the axis.
    pub kind: AxisKind,
}

impl Axis {
    /// Numbers over `range`, which gets some width if it has none.
    pub fn numbers(title: impl Into<String>, range: (f64, f64)) -> Self {
        Self {
            title: title.into(),
            range: proper(range),
            kind: AxisKind::Numbers,
        }
    }

    /// Numbers over `range` on a logarithmic scale, which gets some width if it has none, and begins above 0.
    pub fn logarithmic(title: impl Into<String>, (low, high): (f64, f64)) -> Self {
        let range = match low > 0.0 && high.is_finite() {
            true if high > low => (low, high),
            true => (low / 2.0, low * 2.0),
            false => (0.1, 10.0),
        };
        Self {
            title: title.into(),
            range,
            kind: AxisKind::Logarithmic,
        }
    }

    /// Without labels.
    pub fn hidden(range: (f64, f64)) -> Self {
        Self {
            title: String::new(),
            range: proper(range),
            kind: AxisKind::Hidden,
        }
    }

    /// A row for each name, the first at the top.
    pub fn rows(names: Vec<String>) -> Self {
        Self {
            title: String::new(),
            range: (names.len().max(1) as f64, 0.0),
            kind: AxisKind::Rows(names),
        }
    }

    /// At most about `most` labels with their places; all rows have one.
    pub fn labels(&self, most: usize) -> Vec<(f64, String)> {
        match &self.kind {
            AxisKind::Numbers => {
                let Ticks { step, at } = Ticks::between(self.range.0, self.range.1, most);
                at.into_iter()
                    .map(|value| (value, label(value, step)))
                    .collect()
            }
            AxisKind::Logarithmic => {
                let ticks = powers(self.range, most.max(2)).into_iter();
                ticks.map(|value| (value, label(value, value))).collect()
            }
            AxisKind::Rows(names) => {
                let rows = names.iter().enumerate();
                rows.map(|(k, name)| (k as f64 + 0.5, name.clone()))
                    .collect()
            }
            AxisKind::Hidden => Vec::new(),
        }
    }
}

/// At most about `most` round numbers within a range above 0: powers of ten, with 2 and 5 times them where there is room; others, evenly
/// spaced, where these are fewer than two.
fn powers((low, high): (f64, f64), most: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let within = |factors: &[f64], every: usize| -> Vec<f64> {
        let exponents = (first..=last).filter(|it| it.rem_euclid(every as i32) == 0);
        let all =
            exponents.flat_map(|it| factors.iter().map(move |factor| factor * 10_f64.powi(it)));
        let (low, high) = (low * (1.0 - 1e-9), high * (1.0 + 1e-9));
        all.filter(|it| (low..=high).contains(it)).collect()
    };
    let decades = within(&[1.0], 1);
    if decades.len() > most {
        return within(&[1.0], decades.len().div_ceil(most));
    }
    let finer = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(|factors| within(factors, 1));
    let found = finer.into_iter().find(|ticks| ticks.len() <= most);
    found
        .filter(|ticks| ticks.len() > 1)
        .unwrap_or_else(|| Ticks::between(low, high, most).at)
}

/// A range that has some width, whatever comes in.
fn proper((low, high): (f64, f64)) -> (f64, f64) {
    match low.is_finite() && high.is_finite() {
        true if high > low => (low, high),
        true => padded((low, low), 0.0),
        false => (0.0, 1.0),
    }
}

/// Numbers from here on are written with an exponent, and steps below the other.
const PLAIN: (f64, f64) = (1e-4, 1e7);

/// A tick as people read it: as many decimals as its step has, a true minus sign.
fn label(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = if value.abs() >= PLAIN.1 || step < PLAIN.0 {
        let digits = value.abs().log10().floor() - (step.log10() + 1e-9).floor();
        format!("{value:.*e}", digits.clamp(0.0, 9.0) as usize)
    } else {
        let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
        let text = format!("{value:.decimals$}");
        match text.trim_start_matches('-') {
            // A space that all fonts have.
            whole if decimals == 0 && whole.len() > 4 => {
                let sign = &text[..text.len() - whole.len()];
                format!("{sign}{}", group(whole).replace(NARROW, "\u{a0}"))
            }
            _ => text,
        }
    };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(range: (f64, f64), most: usize) -> Vec<String> {
        let labels = Axis::numbers("", range).labels(most);
        labels.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn labels_are_round_and_short() {
        assert_eq!(texts((-0.46, 0.2), 4), ["−0.4", "−0.2", "0", "0.2"]);
        assert_eq!(texts((1.0, 1.1), 3), ["1.00", "1.05", "1.10"]);
        assert_eq!(
            texts((0.0, 25_000.0), 3),
            ["0", "10\u{a0}000", "20\u{a0}000"]
        );
        assert_eq!(texts((0.0, 4000.0), 3), ["0", "2000", "4000"]);
        assert_eq!(texts((0.0, 3e-6), 4), ["0", "1e−6", "2e−6", "3e−6"]);
        assert_eq!(texts((0.0, 4e9), 3), ["0", "2e9", "4e9"]);
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten_and_what_fits_between() {
        let texts = |range: (f64, f64), most: usize| -> Vec<String> {
            let labels = Axis::logarithmic("", range).labels(most);
            labels.into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts((0.005, 20.0), 4), ["0.01", "0.1", "1", "10"]);
        assert_eq!(texts((1.0, 10.0), 5), ["1", "2", "5", "10"]);
        assert_eq!(texts((1e-6, 1e6), 4).len(), 3);
        for odd in [
            (0.0, 1.0),
            (3.0, 3.0),
            (f64::NAN, 1.0),
            (2.0, f64::INFINITY),
        ] {
            let axis = Axis::logarithmic("", odd);
            assert!(
                0.0 < axis.range.0 && axis.range.0 < axis.range.1,
                "{axis:?}"
            );
            assert!(axis.labels(4).len() >= 2, "{axis:?}");
        }
    }

    #[test]
    fn a_range_without_width_gets_some() {
        for odd in [
            (2.0, 2.0),
            (0.0, 0.0),
            (f64::NAN, 1.0),
            (1.0, f64::INFINITY),
        ] {
            let axis = Axis::numbers("", odd);
            assert!(axis.range.1 > axis.range.0, "{axis:?}");
        }
    }

    #[test]
    fn every_row_has_its_name() {
        let axis = Axis::rows(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(axis.range, (2.0, 0.0));
        assert_eq!(
            axis.labels(1),
            [(0.5, "a".to_owned()), (1.5, "b".to_owned())]
        );
    }
}
