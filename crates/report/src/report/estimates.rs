//! Results: the rows of the summary by what they are of, and their numbers as tables of terminals and reports show them.

use std::collections::BTreeMap;

use ergodic_analysis::templates;
use ergodic_base::numerals::{decimals_by_error, fixed, significant};
use ergodic_base::{Class, ParamId};
use ergodic_core::models::ParamInfo;
use ergodic_diagnostics::SummaryRow;
use ergodic_diagnostics::estimates::Estimate;
use ergodic_diagnostics::sentence::rhat_text;
use ergodic_diagnostics::zero_variance::{Corrected, ZeroVarianceRow};
use ergodic_export::summary::unjudged;

/// Effects of groups in a report.
pub(super) const MOST_EFFECTS: usize = 20;
/// Rows of any other section.
const MOST_ROWS: usize = 200;

/// A number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Mean.
    Mean,
    /// Monte Carlo standard error of the mean.
    Mcse,
    /// Standard deviation.
    Sd,
    /// 5 % quantile.
    Q5,
    /// Median.
    Median,
    /// 95 % quantile.
    Q95,
    /// Effective sample size in the bulk.
    Bulk,
    /// Effective sample size in the tails.
    Tail,
    /// R-hat.
    Rhat,
}

impl Column {
    /// All, in the order of tables.
    pub const ALL: [Self; 9] = [
        Self::Mean,
        Self::Mcse,
        Self::Sd,
        Self::Q5,
        Self::Median,
        Self::Q95,
        Self::Bulk,
        Self::Tail,
        Self::Rhat,
    ];

    /// Name of the column in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Mcse => "mcse_mean",
            Self::Sd => "sd",
            Self::Q5 => "q5",
            Self::Median => "q50",
            Self::Q95 => "q95",
            Self::Bulk => "ess_bulk",
            Self::Tail => "ess_tail",
            Self::Rhat => "rhat",
        }
    }

    /// Head of the column in a report.
    pub fn head(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Mcse => "MCSE",
            Self::Sd => "sd",
            Self::Q5 => "5 %",
            Self::Median => "median",
            Self::Q95 => "95 %",
            Self::Bulk => "bulk ESS",
            Self::Tail => "tail ESS",
            Self::Rhat => "R-hat",
        }
    }

    /// The number itself.
    pub fn value(self, row: &SummaryRow) -> Option<f64> {
        match self {
            Self::Mean => row.mean,
            Self::Mcse => row.mcse_mean,
            Self::Sd => row.sd,
            Self::Q5 => row.q5,
            Self::Median => row.q50,
            Self::Q95 => row.q95,
            Self::Bulk => row.ess_bulk,
            Self::Tail => row.ess_tail,
            Self::Rhat => row.rhat,
        }
    }

    /// The number as it is shown: estimates to the digits that their Monte Carlo error lets know, effective sample sizes rounded
    /// down, R-hat up; `NA`, or why there is no R-hat.
    pub fn text(self, row: &SummaryRow) -> String {
        let value = self.value(row);
        let number = value.unwrap_or(f64::NAN);
        match self {
            Self::Mean | Self::Q5 | Self::Median | Self::Q95 => {
                fixed(number, decimals_by_error(row.mcse_mean))
            }
            Self::Mcse => significant(number, 2),
            Self::Sd => significant(number, 3),
            Self::Bulk | Self::Tail => fixed(number.floor(), 0),
            Self::Rhat => match (value, row.missing) {
                (Some(rhat), _) => rhat_text(rhat),
                (None, Some(missing)) => missing.to_string(),
                (None, None) => "NA".to_owned(),
            },
        }
    }
}

/// Rows of one kind.
#[derive(Clone, Debug)]
pub struct Section {
    /// What the rows are.
    pub title: &'static str,
    /// Whether the rows are what the model says of predictors, so that each deserves a sentence.
    pub is_of_coefficients: bool,
    /// The first rows, each with what it says in words where that is known.
    pub rows: Vec<(SummaryRow, Option<String>)>,
    /// Rows left out.
    pub more: usize,
}

/// What rows of a summary are of, in the order of its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heading {
    /// Whatever a model as text names: its names say nothing of what they are.
    Parameters,
    /// Effects of predictors that all rows share.
    Coefficients,
    /// How much groups differ, and how their effects go together.
    Spreads,
    /// Parameters of the response, of clusters and others.
    Further,
    /// Coefficients of the functions that bend smooth curves.
    Bends,
    /// Weights of the units of a network.
    Weights,
    /// How each group differs.
    Effects,
}

impl Heading {
    /// What `variable` of a model of `template` stands under.
    pub fn of(variable: &ParamId, template: &str) -> Self {
        if templates::is_text(template) {
            return Self::Parameters;
        }
        match variable.class() {
            Class::Coefficient | Class::LevelCoefficient | Class::Mean => Self::Coefficients,
            Class::Sd | Class::Correlation | Class::Covariance | Class::VarianceShare => {
                Self::Spreads
            }
            Class::CutPoint | Class::Other | Class::Probability | Class::ClusterShare => {
                Self::Further
            }
            Class::Bend => Self::Bends,
            Class::HiddenWeight | Class::OutputWeight => Self::Weights,
            Class::Effect | Class::GroupCoefficient => Self::Effects,
        }
    }

    /// The words of the heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Parameters => "Parameters",
            Self::Coefficients => "Coefficients",
            Self::Spreads => "Spreads and correlations",
            Self::Further => "Further parameters",
            Self::Bends => "What bends smooth curves",
            Self::Weights => "Weights of hidden units",
            Self::Effects => "Effects of groups",
        }
    }
}

/// The rows of a summary of a model of `template` by what they are of, of effects of groups and of weights of hidden units the first
/// `most_effects`; sections without rows are left out. `params` say what rows mean, where they are known.
pub fn sections(
    summary: &[SummaryRow],
    params: &[ParamInfo],
    template: &str,
    most_effects: usize,
) -> Vec<Section> {
    let meaning = |index: usize, name: &ParamId| {
        // What is reported stands in the order of the model; a name decides where it does not.
        let at = params.get(index).filter(|param| param.name == *name);
        let param = at.or_else(|| params.iter().find(|param| param.name == *name));
        param
            .map(|param| param.meaning.clone())
            .filter(|text| !text.is_empty())
    };
    let mut sections: BTreeMap<Heading, Vec<usize>> = BTreeMap::new();
    for (index, row) in summary.iter().enumerate() {
        let heading = Heading::of(&row.variable, template);
        sections.entry(heading).or_default().push(index);
    }
    let sections = sections.into_iter().map(|(heading, rows)| {
        // What there may be thousands of.
        let most = match heading {
            Heading::Effects | Heading::Weights => most_effects,
            _ => MOST_ROWS,
        };
        let row = |&index: &usize| {
            let row = &summary[index];
            (row.clone(), meaning(index, &row.variable))
        };
        Section {
            title: heading.title(),
            is_of_coefficients: heading == Heading::Coefficients,
            rows: rows.iter().take(most).map(row).collect(),
            more: rows.len().saturating_sub(most),
        }
    });
    sections.collect()
}

/// The first of the quantities whose draws were not kept, of which there are means and standard deviations alone; `None` where all
/// were.
pub(super) fn not_kept(estimates: &[Estimate]) -> Option<Section> {
    let rows = estimates.iter().take(MOST_ROWS);
    let section = Section {
        title: "Draws not kept: means and standard deviations alone",
        is_of_coefficients: false,
        rows: rows
            .map(|row| (unjudged(&row.variable, row.mean, row.sd), None))
            .collect(),
        more: estimates.len().saturating_sub(MOST_ROWS),
    };
    (!estimates.is_empty()).then_some(section)
}

/// Means and standard deviations that control variates corrected.
pub(super) fn corrected(corrected: &Corrected) -> Section {
    let all = &corrected.estimates.rows;
    let row = |row: &ZeroVarianceRow| SummaryRow {
        mcse_mean: row.mcse_mean,
        ..unjudged(&row.variable, row.mean, row.sd)
    };
    Section {
        title: "Corrected by control variates: means and standard deviations alone",
        is_of_coefficients: false,
        rows: (all.iter().take(MOST_ROWS))
            .map(|it| (row(it), None))
            .collect(),
        more: all.len().saturating_sub(MOST_ROWS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> SummaryRow {
        SummaryRow {
            variable: name.into(),
            mean: Some(-0.123_456),
            mcse_mean: Some(0.0023),
            sd: Some(0.045_678),
            mad: None,
            q5: Some(-0.2),
            q50: Some(-0.12),
            q95: None,
            ess_bulk: Some(399.9),
            ess_tail: Some(1234.5),
            ess_bulk_per_s: None,
            rhat: Some(1.0101),
            rhat_nested: None,
            missing: None,
        }
    }

    #[test]
    fn digits_follow_the_monte_carlo_error() {
        let texts = Column::ALL.map(|column| column.text(&row("b[x]")));
        let expected = [
            "-0.1235", "0.0023", "0.0457", "-0.2000", "-0.1200", "NA", "399", "1234", "1.011",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn rows_stand_under_what_they_are_of() {
        let mut rows: Vec<SummaryRow> = ["sigma", "b[x]", "sd[g,Intercept]"].map(row).into();
        rows.extend((0..25).map(|group| row(&format!("r[g,{group},Intercept]"))));
        let of_template = |template| -> Vec<(&str, usize, usize)> {
            let sections = sections(&rows, &[], template, MOST_EFFECTS);
            let told = sections.iter();
            told.map(|it| (it.title, it.rows.len(), it.more)).collect()
        };
        assert_eq!(of_template("own"), [("Parameters", 28, 0)]);
        assert_eq!(
            of_template("mixed"),
            [
                ("Coefficients", 1, 0),
                ("Spreads and correlations", 1, 0),
                ("Further parameters", 1, 0),
                ("Effects of groups", 20, 5)
            ]
        );
        // Nothing is left out without a word.
        let weights = ["hidden_weight[1,x]", "output_weight[1]", "b[x]"].map(row);
        let told = sections(&weights, &[], "neural-net", 1);
        let told: Vec<(&str, usize, usize)> = (told.iter())
            .map(|it| (it.title, it.rows.len(), it.more))
            .collect();
        assert_eq!(
            told,
            [("Coefficients", 1, 0), ("Weights of hidden units", 1, 1)]
        );
    }
}
