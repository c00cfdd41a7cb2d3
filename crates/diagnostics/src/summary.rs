//! The summary table: one row per reported quantity.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Missing;
use super::ess::pooled_ess_tail;
use super::mcse::pooled_mcse_mean;
use super::pooled::{Pooled, Tables, View};
use super::rhat::pooled_rhat;
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;

/// One row of the summary; the fields are the columns of `summary.csv` and `summary.json`, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// Name of the reported quantity.
    pub variable: ParamId,
    /// Mean over all draws.
    pub mean: Option<f64>,
    /// Monte Carlo standard error of the mean.
    pub mcse_mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Median absolute deviation × 1.4826.
    pub mad: Option<f64>,
    /// 5 % quantile.
    pub q5: Option<f64>,
    /// Median.
    pub q50: Option<f64>,
    /// 95 % quantile.
    pub q95: Option<f64>,
    /// Effective sample size in the bulk.
    pub ess_bulk: Option<f64>,
    /// Effective sample size in the tails.
    pub ess_tail: Option<f64>,
    /// `ess_bulk` per second of sampling.
    pub ess_bulk_per_s: Option<f64>,
    /// Rank-normalised split R-hat; infinite when chains stand still at different values.
    pub rhat: Option<f64>,
    /// Nested R-hat, where chains begin in groups at one point each; not part of the files.
    #[serde(skip)]
    pub rhat_nested: Option<f64>,
    /// Why the convergence columns are empty, for the word in place of a number; not part of the files.
    #[serde(skip)]
    pub missing: Option<Missing>,
}

impl SummaryRow {
    /// What convergence is judged by: nested R-hat where chains begin in groups, which may be too short for R-hat, and R-hat
    /// otherwise.
    pub fn convergence(&self) -> Option<f64> {
        self.rhat_nested.or(self.rhat)
    }

    /// Computes the row of the loaded parameter.
    pub(super) fn of(variable: ParamId, pooled: &mut Pooled, seconds: f64) -> Self {
        let rhat = pooled_rhat(pooled);
        let ess_bulk = pooled.ess(View::Bulk).ok();
        Self {
            variable,
            mean: pooled.mean().ok(),
            mcse_mean: pooled_mcse_mean(pooled).ok(),
            sd: pooled.sd().ok(),
            mad: pooled.mad().ok(),
            q5: pooled.quantile(0.05).ok(),
            q50: pooled.median().ok(),
            q95: pooled.quantile(0.95).ok(),
            ess_bulk,
            ess_tail: pooled_ess_tail(pooled).ok(),
            ess_bulk_per_s: ess_bulk
                .map(|ess| ess / seconds)
                .filter(|ess| seconds > 0.0 && ess.is_finite()),
            rhat: rhat.ok(),
            rhat_nested: None,
            missing: pooled.defect().or(rhat.err()),
        }
    }
}

/// Summarises every column of `chains` (kept draws, one list per chain, equal width), in parallel over columns.
///
/// `names` are the variables, one per column; `weights` are those of the draws, one vector per chain, or empty for plain
/// draws; `seconds` is the sampling time behind `ess_bulk_per_s`, 0 if unknown. Chains of unequal length are cut to the
/// shortest; without draws all values are missing.
pub fn summarise(
    names: &[ParamId],
    chains: &[&DrawList],
    weights: &[Vec<f64>],
    seconds: f64,
) -> Vec<SummaryRow> {
    let draws = shortest(chains);
    let tables = Tables::new(chains.len(), draws, weights);
    (names, 0..names.len())
        .into_par_iter()
        .map_init(
            || Pooled::new(Arc::clone(&tables)),
            |pooled, (name, column)| {
                pooled.load(|values| append_column(values, chains, column, draws));
                SummaryRow::of(name.clone(), pooled, seconds)
            },
        )
        .collect()
}

/// Draws in the shortest chain.
pub(super) fn shortest(chains: &[&DrawList]) -> usize {
    chains.iter().map(|chain| chain.len()).min().unwrap_or(0)
}

/// Appends the first `draws` values of a column of every chain.
pub(super) fn append_column(
    values: &mut Vec<f64>,
    chains: &[&DrawList],
    column: usize,
    draws: usize,
) {
    for chain in chains {
        let mut left = draws;
        for chunk in chain.chunks().take(draws.div_ceil(chain.chunk_draws())) {
            let part = chunk.column(column);
            let take = left.min(part.len());
            values.extend_from_slice(&part[..take]);
            left -= take;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    fn lists(draws: &[usize], width: usize) -> Vec<DrawList> {
        let list = |(chain, &draws): (usize, &usize)| {
            let mut rng = stream(5, chain, Purpose::Diagnostics);
            let mut list = DrawList::new(width);
            for _ in 0..draws {
                let row: Vec<f64> = (0..width).map(|_| rng.sample(StandardNormal)).collect();
                list.push(&row);
            }
            list
        };
        draws.iter().enumerate().map(list).collect()
    }

    fn summary(lists: &[DrawList]) -> Vec<SummaryRow> {
        let names: Vec<ParamId> = (0..lists[0].width())
            .map(|j| format!("b[{j}]").into())
            .collect();
        summarise(&names, &lists.iter().collect::<Vec<_>>(), &[], 0.0)
    }

    #[test]
    fn independent_draws_have_their_own_number_as_effective_size() {
        for row in summary(&lists(&[2500; 4], 20)) {
            // The relative error of an effective sample size of 10,000 independent draws is about 3 %.
            assert!((row.ess_bulk.unwrap() / 1e4 - 1.0).abs() < 0.12, "{row:?}");
            assert!((row.rhat.unwrap() - 1.0).abs() < 0.003);
            assert!(row.mean.unwrap().abs() < 4.0 * row.mcse_mean.unwrap());
            assert!((row.mcse_mean.unwrap() - 0.01).abs() < 0.001);
            assert!((row.mad.unwrap() - 1.0).abs() < 0.06);
            assert_eq!((row.missing, row.ess_bulk_per_s), (None, None));
        }
    }

    #[test]
    fn rows_do_not_depend_on_the_number_of_threads() {
        let lists = lists(&[1300, 1500, 1200], 9);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| summary(&lists))
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn short_constant_and_broken_columns_say_why() {
        let mut list = DrawList::new(3);
        for i in 0..20 {
            list.push(&[
                1.0,
                f64::from(i),
                if i == 7 {
                    f64::INFINITY
                } else {
                    0.5 * f64::from(i)
                },
            ]);
        }
        let rows = summary(&[list]);
        let missing: Vec<_> = rows.iter().map(|row| row.missing).collect();
        assert_eq!(
            missing,
            [Some(Missing::Constant), None, Some(Missing::NotFinite)]
        );
        assert_eq!(
            (rows[0].mean, rows[0].sd, rows[0].rhat),
            (Some(1.0), Some(0.0), None)
        );
        assert_eq!((rows[2].mean, rows[2].q50), (None, None));
        assert_eq!(
            summary(&lists(&[3, 3], 1))[0].missing,
            Some(Missing::TooFew)
        );
        let empty = summary(&lists(&[0, 9], 1));
        assert_eq!(
            (empty[0].mean, empty[0].missing),
            (None, Some(Missing::TooFew))
        );
    }

    #[test]
    fn missing_values_are_null_in_json() {
        let rows = summary(&lists(&[0], 1));
        let text = serde_json::to_string(&rows[0]).unwrap();
        assert_eq!(
            text,
            r#"{"variable":"b[0]","mean":null,"mcse_mean":null,"sd":null,"mad":null,"q5":null,"q50":null,"q95":null,"#
                .to_owned()
                + r#""ess_bulk":null,"ess_tail":null,"ess_bulk_per_s":null,"rhat":null}"#
        );
    }
}
