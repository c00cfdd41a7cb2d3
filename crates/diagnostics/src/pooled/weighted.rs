//! What the definitions become for weighted draws; see [`super::super::weights`].

use super::{Pooled, finite, halves, normal_score};
use crate::moments::{Moments, sum};
use crate::weights::{self, cdf, mean_with};
use crate::{Estimate, Missing};

/// Weighted moments of a part of the draws, such as a chain or half of one.
pub(super) struct Part {
    pub mean: f64,
    /// Unbiased: the weighted variance over 1 - `share`.
    pub variance: f64,
    /// Σ w² / (Σ w)², which is 1/n for n equal weights.
    pub share: f64,
}

impl Part {
    /// Of draws with weights whose sum must be positive.
    pub fn of(x: &[f64], v: &[f64]) -> Result<Self, Missing> {
        let total = sum(v, |v| v);
        let share = sum(v, |v| v * v) / (total * total);
        // The last is also true of a sum of zero.
        if !(total > 0.0 && share < 1.0) {
            return Err(Missing::Weights);
        }
        let scale = x.len() as f64 / total;
        let mean = scale * mean_with(v, x, |x| x);
        Ok(Self {
            mean,
            variance: scale * mean_with(v, x, |x| (x - mean) * (x - mean)) / (1.0 - share),
            share,
        })
    }
}

impl Pooled {
    /// Relative weights, chain after chain; `None` for plain draws. Broken ones are refused by `check`.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        self.tables
            .weights
            .as_ref()
            .and_then(|weights| weights.as_deref().ok())
    }

    /// Weighted mean, from the plain one of the loaded draws.
    pub(super) fn weighted_mean(&self, plain: f64) -> f64 {
        self.weights()
            .map_or(plain, |v| plain + mean_with(v, &self.values, |x| x - plain))
    }

    /// The cdf of the weights at the sorted draws, made on first use.
    pub(super) fn make_cdf(&mut self) {
        if !self.has_cdf
            && let Some(v) = self
                .tables
                .weights
                .as_ref()
                .and_then(|weights| weights.as_deref().ok())
        {
            cdf(v, &self.order, &mut self.cdf);
            self.has_cdf = true;
        }
    }

    /// 1.4826 × weighted median of the folded draws.
    pub(super) fn weighted_mad(&self, v: &[f64]) -> f64 {
        let mut folded = Vec::new();
        cdf(v, &self.folded_order, &mut folded);
        1.4826 * weights::quantile(&self.folded, &folded, 0.5)
    }

    /// Writes normal scores of the ranks S F + 1/2 from the cdf F, those of plain draws if all weights were equal.
    /// Unlike those, ranks are among all draws, also the middle ones of odd chains.
    pub(super) fn fill_weighted_scores(&mut self, folded: bool) {
        let Some(v) = self
            .tables
            .weights
            .as_ref()
            .and_then(|weights| weights.as_deref().ok())
        else {
            return;
        };
        let mut of_folded = Vec::new();
        let (keys, order, places) = if folded {
            cdf(v, &self.folded_order, &mut of_folded);
            (&self.folded, &self.folded_order, &of_folded)
        } else {
            (&self.sorted, &self.order, &self.cdf)
        };
        let total = keys.len() as f64;
        let mut start = 0;
        while start < keys.len() {
            let mut end = start + 1;
            while end < keys.len() && keys[end] == keys[start] {
                end += 1;
            }
            // Signed weights can push the cdf past its ends.
            let place = 0.5 * (places[start] + places[end - 1]);
            let rank = (place * total + 0.5).clamp(0.5, total + 0.5);
            let score = normal_score(rank, keys.len());
            for &position in &order[start..end] {
                self.view[position as usize] = score;
            }
            start = end;
        }
    }

    /// Split R-hat of the current view from weighted means m_h and variances s_h² of the H half chains:
    /// sqrt(B / W + 1 - K) with the variance B of m_h, the mean W of s_h² / (1 - k_h), and the mean K of
    /// k_h = Σ w² / (Σ w)², which is 1/n for n equal weights.
    ///
    /// With signed weights a half chain may have no positive sum of weights, or W may be negative: R-hat is then missing.
    pub(super) fn weighted_split_rhat(&self, v: &[f64]) -> Estimate {
        let (n, half) = (self.tables.draws_per_chain, self.tables.half());
        let (mut means, mut within, mut concentration) = (Moments::default(), 0.0, 0.0);
        for (x, v) in halves(&self.view, n, half).zip(halves(v, n, half)) {
            let part = Part::of(x, v)?;
            means.add(part.mean);
            within += part.variance;
            concentration += part.share;
        }
        within /= means.count;
        if within < 0.0 {
            return Err(Missing::Weights);
        }
        let rhat = (means.variance() / within + 1.0 - concentration / means.count).sqrt();
        if rhat.is_nan() {
            Err(Missing::NotFinite)
        } else {
            Ok(rhat)
        }
    }

    /// Effective sample size of the current view: its weighted variance over the squared error of its weighted mean.
    /// The view becomes that of the influences.
    pub(super) fn weighted_ess(&mut self) -> Estimate {
        let tables = std::sync::Arc::clone(&self.tables);
        let Some(Ok(v)) = tables.weights.as_ref() else {
            return Err(Missing::Weights);
        };
        self.current = None;
        let mean = mean_with(v, &self.view, |x| x);
        let variance = mean_with(v, &self.view, |x| (x - mean) * (x - mean));
        for (x, v) in self.view.iter_mut().zip(v) {
            *x = v * (*x - mean);
        }
        let squares = sum(&self.view, |z| z * z) / self.view.len() as f64;
        // Signed weights only: no estimate of a variance is negative otherwise.
        if variance < 0.0 {
            return Err(Missing::Weights);
        }
        if variance == 0.0 || squares == 0.0 {
            return Err(Missing::Constant);
        }
        finite(variance / squares * self.ess_of_view()?)
    }
}
