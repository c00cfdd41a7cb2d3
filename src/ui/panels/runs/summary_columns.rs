//! Columns of the summary table: what each shows, and which there is room for.

use std::borrow::Cow;

use crate::app::Depth;
use crate::ui::widgets::number;
use ergodic_diagnostics::SummaryRow;
use ergodic_diagnostics::extra::{Extra, ExtraColumn, Extras, Measure};
use ergodic_diagnostics::zero_variance::ZeroVarianceRow;

/// A column after icon and variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Mean.
    Mean,
    /// Monte Carlo error of the mean.
    Mcse,
    /// Corrected mean.
    CorrectedMean,
    /// Monte Carlo error of the corrected mean.
    CorrectedMcse,
    /// Variance reduction of the correction.
    Gain,
    /// Standard deviation.
    Sd,
    /// Corrected standard deviation.
    CorrectedSd,
    /// Median absolute deviation.
    Mad,
    /// Picture of the 90% interval.
    Interval,
    /// 5% quantile.
    Q5,
    /// Median.
    Q50,
    /// 95% quantile.
    Q95,
    /// R-hat.
    Rhat,
    /// Effective sample size in the bulk.
    EssBulk,
    /// Effective sample size in the tails.
    EssTail,
    /// Bulk effective sample size per second.
    EssPerSecond,
    /// One of those that are off unless somebody wants more columns.
    Extra(ExtraColumn),
}

/// A variable's row of the summary, with what was asked for beside it.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// The row.
    pub row: &'a SummaryRow,
    /// Corrected estimates of the variable.
    pub corrected: Option<&'a ZeroVarianceRow>,
    /// Further columns, and which of their rows is the variable's.
    pub extras: Option<(&'a Extras, usize)>,
}

impl<'a> Line<'a> {
    /// Of a row with nothing beside it.
    #[cfg(test)]
    pub fn of(row: &'a SummaryRow) -> Self {
        Self {
            row,
            corrected: None,
            extras: None,
        }
    }

    fn extra(self, column: ExtraColumn) -> Option<f64> {
        let (extras, row) = self.extras?;
        let at = extras.columns.iter().position(|it| *it == column)?;
        *extras.rows.get(row)?.get(at)?
    }
}

/// Relative error below which digits of a corrected mean are not shown.
const CORRECTED_DIGITS: f64 = 1e-5;

/// Gain beyond which nothing but rounding is left.
const GAIN_LIMIT: f64 = 1e6;

impl Column {
    /// Head of the column, where further intervals have the probability `interval`.
    pub fn head(self, interval: f64) -> Cow<'static, str> {
        let words = match self {
            Self::Extra(column) => return extra_head(column, interval),
            Self::Mean => "mean",
            Self::Mcse => "MCSE",
            Self::CorrectedMean => "mean, zv",
            Self::CorrectedMcse => "MCSE, zv",
            Self::Gain => "gain",
            Self::Sd => "sd",
            Self::CorrectedSd => "sd, zv",
            Self::Mad => "MAD",
            Self::Interval => "90% interval",
            Self::Q5 => "5%",
            Self::Q50 => "median",
            Self::Q95 => "95%",
            Self::Rhat => "R-hat",
            Self::EssBulk => "bulk ESS",
            Self::EssTail => "tail ESS",
            Self::EssPerSecond => "ESS/s",
        };
        words.into()
    }

    /// What the column says.
    pub fn help(self) -> &'static str {
        match self {
            Self::Mean => "Posterior mean, to the first digit that its Monte Carlo error moves",
            Self::Mcse => "Monte Carlo standard error of the mean",
            Self::CorrectedMean => "Posterior mean corrected by zero-variance control variates",
            Self::CorrectedMcse => "Monte Carlo standard error of the corrected mean",
            Self::Gain => {
                "Variance reduction: how many times as many draws the corrected mean is worth"
            }
            Self::Sd => "Posterior standard deviation",
            Self::CorrectedSd => {
                "Posterior standard deviation corrected by zero-variance control variates"
            }
            Self::Mad => {
                "Median absolute deviation × 1.4826: the sd of a normal distribution, safe from outliers"
            }
            Self::Interval => {
                "90% interval and median against a tick at zero, scaled for each row: sign and width, not comparison across rows"
            }
            Self::Q5 => "5% quantile: lower end of the 90% interval",
            Self::Q50 => "Posterior median",
            Self::Q95 => "95% quantile: upper end of the 90% interval",
            Self::Rhat => "How much chains disagree; want at most 1.01 (Vehtari et al. 2021)",
            Self::EssBulk => {
                "Independent draws that would tell as much about the bulk; want 100 per chain"
            }
            Self::EssTail => "The same for the 5% and 95% quantiles; want 100 per chain",
            Self::EssPerSecond => "Bulk effective draws per second of sampling",
            Self::Extra(column) => column.extra.about(),
        }
    }

    /// Least width that holds the column's numbers.
    pub fn width(self) -> f32 {
        match self {
            Self::Mean | Self::EssBulk | Self::EssTail | Self::Q5 | Self::Q50 | Self::Q95 => 64.0,
            Self::CorrectedMean => 92.0,
            Self::Gain => 64.0,
            Self::Interval => 84.0,
            Self::CorrectedMcse | Self::Mcse => 64.0,
            Self::Sd | Self::Mad | Self::CorrectedSd => 56.0,
            Self::Rhat => 52.0,
            // Room for `99 999`, bold when past its limit, and a gap to its neighbour.
            Self::EssPerSecond => 54.0,
            Self::Extra(_) => 92.0,
        }
    }

    /// Whether the column stays in sight where a table with the columns `shown` must be scrolled sideways.
    pub fn stays(self, shown: &[Self]) -> bool {
        match self {
            Self::Rhat | Self::CorrectedMean => true,
            Self::Mean => !shown.contains(&Self::CorrectedMean),
            _ => false,
        }
    }

    /// Whether the row of a group shows the value of its worst member.
    pub fn is_of_groups(self) -> bool {
        matches!(
            self,
            Self::Rhat | Self::EssBulk | Self::EssTail | Self::EssPerSecond
        )
    }

    /// The number of a row, if there is one.
    pub fn value(self, line: Line<'_>) -> Option<f64> {
        let Line { row, corrected, .. } = line;
        match self {
            Self::Extra(column) => line.extra(column),
            Self::Mean => row.mean,
            Self::Mcse => row.mcse_mean,
            Self::CorrectedMean => corrected?.mean,
            Self::CorrectedMcse => corrected?.mcse_mean,
            Self::Gain => corrected?.gain,
            Self::CorrectedSd => corrected?.sd,
            Self::Sd => row.sd,
            Self::Mad => row.mad,
            Self::Q5 => row.q5,
            Self::Q50 | Self::Interval => row.q50,
            Self::Q95 => row.q95,
            Self::Rhat => row.rhat,
            Self::EssBulk => row.ess_bulk,
            Self::EssTail => row.ess_tail,
            Self::EssPerSecond => row.ess_bulk_per_s,
        }
    }

    /// The line's number as it is shown, or why there is none.
    pub fn text(self, line: Line<'_>) -> String {
        let Some(value) = self.value(line) else {
            return line
                .row
                .missing
                .map_or(number::NOT_AVAILABLE.to_owned(), |why| why.to_string());
        };
        let Line { row, corrected, .. } = line;
        match self {
            Self::Extra(column) => extra_text(column.extra, value, row),
            Self::Mean | Self::Interval | Self::Q5 | Self::Q50 | Self::Q95 => {
                number::estimate(value, row.mcse_mean.unwrap_or(f64::NAN))
            }
            Self::CorrectedMean => {
                let error = corrected.and_then(|row| row.mcse_mean).unwrap_or(f64::NAN);
                // More digits than the column holds would push its sign out of sight; files have them all.
                number::estimate(value, error.max(CORRECTED_DIGITS * value.abs()))
            }
            Self::Gain if value > GAIN_LIMIT => "> 10⁶".to_owned(),
            Self::Gain => format!("× {}", number::significant(value, 2)),
            Self::Mcse | Self::Sd | Self::Mad | Self::CorrectedMcse | Self::CorrectedSd => {
                number::sd(value)
            }
            Self::Rhat => number::rhat(value),
            Self::EssBulk | Self::EssTail => number::short(value.floor()),
            Self::EssPerSecond => number::short(value),
        }
    }
}

/// Head of a further column.
fn extra_head(column: ExtraColumn, interval: f64) -> Cow<'static, str> {
    let percent = number::brief(100.0 * interval);
    let words = match column.extra {
        Extra::McseSd => "MCSE, sd",
        Extra::McseQ5 => "MCSE, 5%",
        Extra::McseQ50 => "MCSE, median",
        Extra::McseQ95 => "MCSE, 95%",
        Extra::EssMean => "ESS, mean",
        Extra::EssSd => "ESS, sd",
        Extra::EssQ5 => "ESS, 5%",
        Extra::EssQ50 => "ESS, median",
        Extra::EssQ95 => "ESS, 95%",
        Extra::EssLocal => "least local",
        Extra::Inefficiency => "inefficiency",
        Extra::ComputationalTime => "s per ESS",
        Extra::RhatNested => "nested R-hat",
        Extra::Low => return format!("{percent}% low").into(),
        Extra::High => return format!("{percent}% high").into(),
        Extra::HdiLow => return format!("{percent}% HDI from").into(),
        Extra::HdiHigh => "to",
        Extra::PPositive => "P(> 0)",
        Extra::InRope => "in ROPE",
        Extra::ChainMean => "mean",
        Extra::ChainSd => "sd",
        Extra::ChainEssBulk => "bulk ESS",
    };
    column
        .chain
        .map_or(words.into(), |chain| format!("{words}, {chain}").into())
}

fn extra_text(extra: Extra, value: f64, row: &SummaryRow) -> String {
    match extra.measure() {
        Measure::Size => number::short(value.floor()),
        Measure::Error => number::sd(value),
        Measure::Quantile => number::estimate(value, row.mcse_mean.unwrap_or(f64::NAN)),
        Measure::Probability => number::fixed(value, 3),
        Measure::Factor | Measure::Time => number::significant(value, 3),
        Measure::Rhat => number::rhat(value),
        Measure::Estimate if extra == Extra::ChainSd => number::sd(value),
        Measure::Estimate => number::estimate(value, row.mcse_mean.unwrap_or(f64::NAN)),
    }
}

/// Columns for a depth and width, in the order of the table; what is dropped first stands last in `wishes`. Names want
/// `names` points: the first wishes come before whole names, the others after. With a `short_tail` some variable has too few
/// effective draws in its tails, and fewer than in its bulk.
pub fn columns(
    depth: Depth,
    width: f32,
    (corrected, short_tail): (bool, bool),
    names: f32,
) -> Vec<Column> {
    use Column::{
        CorrectedMcse, CorrectedMean, CorrectedSd, EssBulk, EssPerSecond, EssTail, Gain, Interval,
        Mad, Mcse, Mean, Q5, Q50, Q95, Rhat, Sd,
    };
    const ORDER: [Column; 16] = [
        Mean,
        Mcse,
        CorrectedMean,
        CorrectedMcse,
        Gain,
        Sd,
        CorrectedSd,
        Mad,
        Interval,
        Q5,
        Q50,
        Q95,
        Rhat,
        EssBulk,
        EssTail,
        EssPerSecond,
    ];
    let (kept, wishes): (&[Column], &[Column]) = match depth {
        Depth::Standard if corrected => (&[CorrectedMean, Gain, Rhat], &[CorrectedMcse, Sd, Mean]),
        Depth::Verdict => (&[Mean, Q5, Q95], &[]),
        Depth::Standard if short_tail => (
            &[Mean, Rhat],
            &[EssTail, EssBulk, Sd, Mcse, Interval, Q5, Q95],
        ),
        Depth::Standard => (&[Mean, Rhat], &[EssBulk, Sd, Mcse, Interval, Q5, Q95]),
        Depth::Everything => (&ORDER, &[]),
    };
    let mut room = width - ICON - NAME_MIN - EDGE - kept.iter().map(|c| c.width()).sum::<f32>();
    let mut chosen = kept.to_vec();
    let names = (names.min(NAME_MOST) - NAME_MIN).max(0.0);
    for (index, wish) in wishes.iter().enumerate() {
        room -= wish.width();
        if room < if index < WISHES_FIRST { 0.0 } else { names } {
            break;
        }
        chosen.push(*wish);
    }
    // One end of an interval alone says nothing.
    if chosen.contains(&Q5) != chosen.contains(&Q95) {
        chosen.retain(|column| !matches!(column, Q5 | Q95));
    }
    ORDER
        .into_iter()
        .filter(|column| chosen.contains(column))
        .filter(|column| {
            corrected || !matches!(column, CorrectedMean | CorrectedMcse | Gain | CorrectedSd)
        })
        .collect()
}

/// Width of the verdict's icon.
pub const ICON: f32 = 24.0;
/// Least width of names.
pub const NAME_MIN: f32 = 96.0;
/// Longer names are cut: a column that says something new is worth more than their middle.
pub const NAME_MOST: f32 = 192.0;
/// Optional columns that come before whole names.
const WISHES_FIRST: usize = 2;
/// Room at the right end.
pub const EDGE: f32 = 8.0;
