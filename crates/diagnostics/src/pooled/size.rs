//! Effective sample sizes of what a view holds.

use std::sync::Arc;

use realfft::num_complex::Complex;

use super::{Pooled, View};
use crate::fourier::{Buffers, Plan};
use crate::indicator::{self, Indicators};
use crate::moments::{Moments, mean_of};
use crate::{Estimate, Missing, geyer};

/// Which autocovariances of half chains a transform gives. Padded to twice the length it gives all of them, with less padding only the
/// first ones, in little more than half of the time; those of chains that mix are zero after a few dozen lags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    Near,
    Full,
}

/// Share of the lags of half a chain that are near: more would be hardly quicker than all, and chains whose draws are correlated
/// longer have some ten effective draws.
pub(super) const NEAR_SHARE: usize = 8;
/// Least number of near lags.
pub(super) const LEAST_NEAR: usize = 64;

/// Blocks of lags of an indicator after which a Fourier transform, which finds all lags, is faster.
const MOST_BLOCKS: usize = 8;

impl Pooled {
    /// Effective sample size of the mean of a view, from split chains.
    pub fn ess(&mut self, view: View) -> Estimate {
        if matches!(view, View::Below(_) | View::Between(..))
            && !self.is_weighted()
            && let Some(size) = self.ess_of_marked(view)?
        {
            return Ok(size);
        }
        self.fill(view)?;
        if self.is_weighted() {
            self.weighted_ess()
        } else {
            self.ess_of_view()
        }
    }

    /// Effective sample size of the plain mean of what the view holds.
    pub(super) fn ess_of_view(&mut self) -> Estimate {
        let half = self.tables.half();
        if half < 3 {
            return Err(Missing::TooFew);
        }
        let mut ess = self.ess_within(Reach::Near);
        if ess.is_none() {
            ess = self.ess_within(Reach::Full);
        }
        ess.filter(|ess| !ess.is_nan()).ok_or(Missing::NotFinite)
    }

    /// Effective sample size from the lags at this reach; `None` if more are needed.
    pub(super) fn ess_within(&mut self, reach: Reach) -> Option<f64> {
        let half = self.tables.half();
        let kept = self.buffers(reach).take();
        let plan = Arc::clone(&self.tables);
        let plan = plan.plan(reach);
        let mut buffers = kept.unwrap_or_else(|| plan.buffers());
        let means = self.average_autocovariance(plan, &mut buffers);
        let n = half as f64;
        // A transform is that of sequences in a ring: beyond the padding, lags meet from the other side.
        let acov = &buffers.real[..half.min(plan.len() - half + 1)];
        let within = acov[0] * n / (n - 1.0);
        let total = acov[0] + means.variance();
        let ess = geyer::effective_size(acov, half, within, total, means.count * n, &mut self.rho);
        *self.buffers(reach) = Some(buffers);
        ess
    }

    fn buffers(&mut self, reach: Reach) -> &mut Option<Buffers> {
        match reach {
            Reach::Near => &mut self.near_buffers,
            Reach::Full => &mut self.full_buffers,
        }
    }

    /// Effective sample size of an indicator for plain draws without a Fourier transform; `None` where chains are so slow that one pays.
    fn ess_of_marked(&mut self, view: View) -> Result<Option<f64>, Missing> {
        self.check(1)?;
        let (half, n) = (self.tables.half(), self.tables.draws_per_chain);
        if half < 2 {
            return Err(Missing::TooFew);
        }
        if self.is_constant() {
            return Err(Missing::Constant);
        }
        let marked = match view {
            View::Below(prob) => self.below(prob),
            View::Between(low, high) => self.between(low, high),
            _ => return Ok(None),
        };
        let mut indicators = std::mem::take(&mut self.indicators);
        indicators.clear(2 * self.tables.num_chains, half);
        for &position in &self.order[marked.places] {
            let (chain, place) = (position as usize / n, position as usize % n);
            if place < half {
                indicators.set(2 * chain, place);
            } else if place >= n - half {
                indicators.set(2 * chain + 1, place - (n - half));
            }
        }
        let size = self.ess_of_indicators(&mut indicators);
        self.indicators = indicators;
        size
    }

    fn ess_of_indicators(&mut self, indicators: &mut Indicators) -> Result<Option<f64>, Missing> {
        if indicators.is_constant() {
            return Err(Missing::Constant);
        }
        let half = self.tables.half();
        if half < 3 {
            return Err(Missing::TooFew);
        }
        let mut means = Moments::default();
        indicators.means().for_each(|mean| means.add(mean));
        let n = half as f64;
        while indicators.autocovariance().len() < MOST_BLOCKS * indicator::BLOCK {
            indicators.find_more();
            let acov = indicators.autocovariance();
            let (within, total) = (acov[0] * n / (n - 1.0), acov[0] + means.variance());
            let draws = means.count * n;
            let size = geyer::effective_size(acov, half, within, total, draws, &mut self.rho);
            if let Some(size) = size {
                return Ok(Some(size));
            }
        }
        Ok(None)
    }

    /// Leaves the autocovariances of the current view, averaged over half chains, in `buffers.real`, and gives
    /// the moments of the half-chain means.
    ///
    /// The average is taken over the power spectra, so that one inverse transform serves all chains.
    pub(super) fn average_autocovariance(&mut self, plan: &Plan, buffers: &mut Buffers) -> Moments {
        let half = self.tables.half();
        let len = plan.len();
        let mut power = std::mem::take(&mut self.power);
        power.clear();
        power.resize(len, 0.0);
        let mut means = Moments::default();
        let mut of_chains = self.halves();
        // The two halves of a chain are transformed together.
        while let (Some(a), Some(b)) = (of_chains.next(), of_chains.next()) {
            let [a_mean, b_mean] = [a, b].map(|chain| {
                let mean = mean_of(chain);
                means.add(mean);
                mean
            });
            // A chain that stands still has no covariance, not the square of a rounding error.
            let [a_moves, b_moves] = [a, b].map(|chain| chain.iter().any(|&x| x != chain[0]));
            for (z, (&a, &b)) in buffers.pair.iter_mut().zip(a.iter().zip(b)) {
                *z = Complex::new(
                    if a_moves { a - a_mean } else { 0.0 },
                    if b_moves { b - b_mean } else { 0.0 },
                );
            }
            buffers.pair[half..].fill(Complex::default());
            plan.add_power(buffers, &mut power);
        }
        drop(of_chains);
        let scale = 0.5 / (len as f64 * half as f64 * means.count);
        for (k, z) in buffers.spectrum.iter_mut().enumerate() {
            *z = Complex::new((power[k] + power[(len - k) % len]) * scale, 0.0);
        }
        plan.inverse(buffers);
        self.power = power;
        means
    }
}
