//! How many rows an estimate needs, and of which order its expansions are best: measured at the mode before a chain starts, so that
//! nothing is left to the user.

use rand_distr::{Distribution as _, StandardNormal};
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::SubsampleConfig;
use super::estimate::{Estimator, Expansion, Subsample, evaluations};
use crate::models::{RowLikelihood, Scratch};
use crate::oracle::{Centre, passes_of_chances};
use ergodic_base::linalg::axpy;
use ergodic_base::{Purpose, stream};

/// Points of N(û, H⁻¹) at which differences are measured; differences grow as the third power of the distance, so that a
/// few points give their mean square to a factor of two at worst.
const POINTS: usize = 32;
/// Rows measured at each.
const ROWS: usize = 1000;
/// Least rows of a difference estimate: its variance is estimated from them, and it should be nearly normal.
const LEAST_ROWS: usize = 100;
/// Variance of an estimate that nobody could see in a posterior, whatever the estimate's distribution and however rough the estimate of its
/// variance: in the tail it is some thirty times as large as on average, and shifts a log density by half of that.
const INVISIBLE: f64 = 1e-3;
/// Least rows where even so few leave an invisible variance: as many as are computed at once.
const FEWEST_ROWS: usize = 8;
/// The highest order of expansions.
const HIGHEST_ORDER: usize = 2;
/// Share of the variance aimed at that estimates from rows without a linear predictor have with expansions below [`HIGHEST_ORDER`]. Their
/// third cumulant falls with m alone, not with N: with ten coefficients and log σ of a linear model, 100 rows and the whole variance
/// of 1, standard deviations came out 3 to 5 % large from 600 rows and from 6,000.
const SHARE_OF_LOWER_ORDERS: f64 = 0.1;
/// Rows per minibatch of the block-Poisson estimator (Dang et al. 2019, section 6.3).
const POISSON_BATCH: usize = 30;
/// Least λ: below it a few rows already change the sign.
const LEAST_FACTORS: f64 = 10.0;
/// Largest loss 1 − (2τ − 1) by negative signs, of which the costs (18) grow with the square of 1/(2τ − 1).
const SIGN_LOSS: f64 = 0.01;
/// Variance of the log of the ratio (5): blocks are accepted with probability 2Φ(−½ sqrt(0.1)) = 0.87.
const BLOCK_VARIANCE: f64 = 0.1;
/// Most blocks by default: those of Dang et al., a correlation of 0.99.
const MOST_BLOCKS: usize = 100;
/// Blocks where the variance is [`INVISIBLE`]: a subsample that lasts for four draws is not seen either, and drawing all its rows anew
/// for each would cost a third of a short trajectory.
const INVISIBLE_BLOCKS: usize = 4;

/// An expansion with the spread of its differences.
pub struct Calibrated {
    /// The expansion.
    pub expansion: Expansion,
    /// What it leaves.
    pub spread: Spread,
    /// Variance of the estimates that is aimed at.
    pub variance: f64,
    /// Gradients of rows that it took to find out.
    pub cost: u64,
}

/// The expansion of `order` with its spread; where the order is open, of the one whose estimates cost least.
///
/// That is 2 where rows have a linear predictor, for an evaluation then costs the same under all orders. For others it is the order whose
/// rows, as many as keep the variance of `subsample` or a tenth of it below order 2, make the fewest gradients; a lower one is not taken
/// where the number of rows given, or that of all rows, is too small for it.
pub fn calibrate(
    order: Option<usize>,
    subsample: &SubsampleConfig,
    model: &dyn RowLikelihood,
    centre: &Centre,
    scratch: &mut Scratch,
) -> Calibrated {
    let num_obs = model.num_obs();
    let mut cost = 0;
    let mut measure = |order| {
        let expansion = Expansion::new(order, subsample.weighted, model, centre);
        let spread = Spread::measure(&expansion, centre, model, scratch);
        cost += Spread::cost(num_obs, evaluations(model, order));
        if subsample.weighted {
            cost += passes_of_chances(model, order) * num_obs as u64;
        }
        (expansion, spread)
    };
    let has_predictor = model.linear_rows().is_some();
    let aim = |order| {
        let share = if has_predictor || order == HIGHEST_ORDER {
            1.0
        } else {
            SHARE_OF_LOWER_ORDERS
        };
        share * subsample.variance
    };
    let open = order.is_none() && !has_predictor;
    let mut best = measure(order.unwrap_or(HIGHEST_ORDER));
    if open {
        let work = |spread: &Spread, order| {
            let rows = spread.one_row() / aim(order);
            let gradients = spread.rows(aim(order)) * evaluations(model, order) as f64;
            let most = subsample.batch.unwrap_or(num_obs);
            if rows.is_nan() || rows > most as f64 {
                f64::INFINITY
            } else {
                gradients
            }
        };
        let mut least = work(&best.1, HIGHEST_ORDER);
        for order in (0..HIGHEST_ORDER).rev() {
            let found = measure(order);
            let its_work = work(&found.1, order);
            if its_work < least {
                (best, least) = (found, its_work);
            }
        }
    }
    let (expansion, spread) = best;
    Calibrated {
        variance: aim(expansion.order()),
        expansion,
        spread,
        cost,
    }
}

/// How far the differences of rows spread over the posterior.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Points at which they were measured.
    points: Vec<Differences>,
}

/// What differences do at one point.
#[derive(Clone, Copy, Debug)]
struct Differences {
    /// Variance of the estimate of their sum from one row.
    one_row: f64,
    /// Sum of the differences.
    total: f64,
}

impl Spread {
    /// Measured over N(û, H⁻¹) with a fixed stream: the same for every chain of a job.
    pub fn measure(
        expansion: &Expansion,
        centre: &Centre,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
    ) -> Self {
        let dim = model.dim();
        // Streams 0 and 1 belong to the centre.
        let mut rng = stream(0, 2, Purpose::Data);
        let estimator = Estimator::Difference {
            rows: ROWS.min(model.num_obs()),
        };
        let mut point = vec![0.0; dim];
        let mut measure = |_| {
            for u in &mut point {
                *u = StandardNormal.sample(&mut rng);
            }
            centre.factor.solve_lower_transpose(&mut point);
            axpy(1.0, &centre.u, &mut point);
            let rows = Subsample::draw(estimator, 1, expansion, model, scratch, &mut rng);
            let mut rows = rows.of_values();
            let range = rows.current();
            let count = range.len() as f64;
            rows.evaluate(range.clone(), &point, expansion, model, scratch);
            let estimate = rows.estimate(range, model.num_obs());
            Differences {
                one_row: estimate.variance * count,
                total: estimate.log + 0.5 * estimate.variance,
            }
        };
        Self {
            points: (0..POINTS).map(&mut measure).collect(),
        }
    }

    fn mean(&self, f: impl Fn(&Differences) -> f64) -> f64 {
        self.points.iter().map(f).sum::<f64>() / self.points.len() as f64
    }

    /// Variance of the estimate from one row, averaged over the posterior.
    pub fn one_row(&self) -> f64 {
        self.mean(|at| at.one_row)
    }

    /// Rows of which estimates have this variance on average over the posterior (Dang et al. 2019, section 3.1), but [`LEAST_ROWS`] at
    /// least, or as few as leave it [`INVISIBLE`].
    fn rows(&self, variance: f64) -> f64 {
        let one_row = self.one_row();
        let least = (one_row / INVISIBLE).clamp(FEWEST_ROWS as f64, LEAST_ROWS as f64);
        (one_row / variance).max(least)
    }

    /// Gradients of rows that [`Self::measure`] costs, with `evaluations` at a point and one at the mode.
    fn cost(num_obs: usize, evaluations: u64) -> u64 {
        (POINTS * ROWS.min(num_obs)) as u64 * (evaluations + 1)
    }

    /// m and G of the difference estimator, where not given: [`Self::rows`], but N at most.
    pub fn difference(
        &self,
        variance: f64,
        rows: Option<usize>,
        blocks: Option<usize>,
        num_obs: usize,
    ) -> (Estimator, usize) {
        let rows = rows.unwrap_or_else(|| {
            // A number too large for the type is cut to its largest value.
            (self.rows(variance).ceil() as usize).min(num_obs.max(1))
        });
        let blocks = blocks.unwrap_or_else(|| blocks_for(self.one_row() / rows as f64));
        let blocks = blocks.clamp(1, rows);
        let rows = rows.next_multiple_of(blocks);
        (Estimator::Difference { rows }, blocks)
    }

    /// v + (d − E d)² of [`Self::block_poisson`], averaged over the posterior.
    fn noise(&self, batch: usize) -> f64 {
        let mean = self.mean(|at| at.total);
        self.mean(|at| at.one_row / batch as f64 + (at.total - mean).powi(2))
    }

    /// λ of [`Self::block_poisson`], where not given.
    fn factors(&self, variance: f64, batch: usize) -> f64 {
        let mean = self.mean(|at| at.total);
        let sign_loss = |factors: f64| {
            self.mean(|at| {
                let away = (factors + at.total - mean) / (at.one_row / batch as f64).sqrt();
                1.0 - (-2.0 * factors * Normal::standard().cdf(-away)).exp()
            })
        };
        let mut factors = (self.noise(batch) / variance).max(LEAST_FACTORS);
        while factors.is_finite() && sign_loss(factors) > SIGN_LOSS {
            factors *= 1.1;
        }
        factors.ceil()
    }

    /// Rows of a block-Poisson estimate, where λ is not given and the estimate takes as many as there are or more, so that all of them
    /// would cost less. The least λ is none too many: then there are but a few hundred rows.
    pub fn too_many_rows(
        &self,
        variance: f64,
        batch: Option<usize>,
        num_obs: usize,
    ) -> Option<f64> {
        let batch = poisson_batch(batch, num_obs);
        let factors = self.factors(variance, batch);
        let rows = factors * batch as f64;
        (factors > LEAST_FACTORS && rows >= num_obs as f64).then_some(rows)
    }

    /// λ, a and G of the block-Poisson estimator with `batch` rows per minibatch.
    ///
    /// At a point with the sum d, d̂ ~ N(d, v) in a minibatch; with a = E d − λ, the mean over the posterior, the factors
    /// Y = (d̂ − a)/λ are normal around 1 + (d − E d)/λ with variance v/λ². Then Var log|L̂| = λ E log²|Y| ≈ (v + (d − E d)²)/λ,
    /// and a Poisson number of them with mean λ P(Y < 0) is negative, so that the sign is exp(−2 λ P(Y < 0)) on average. λ is
    /// the smallest with the first at most `variance` and the second at least 0.99, both averaged over the posterior: a few
    /// points far out, where v is large, decide about signs.
    pub fn block_poisson(
        &self,
        variance: f64,
        batch: Option<usize>,
        factors: Option<usize>,
        blocks: Option<usize>,
        num_obs: usize,
    ) -> (Estimator, usize) {
        let batch = poisson_batch(batch, num_obs);
        let mean = self.mean(|at| at.total);
        // A number too large for the type is cut to its largest value.
        let factors = factors.unwrap_or_else(|| self.factors(variance, batch) as usize);
        let blocks = blocks.unwrap_or_else(|| blocks_for(self.noise(batch) / factors as f64));
        let blocks = blocks.clamp(1, factors);
        let factors = factors.next_multiple_of(blocks) as f64;
        let estimator = Estimator::BlockPoisson {
            batch,
            factors,
            shift: mean - factors,
        };
        (estimator, blocks)
    }
}

/// m of a block-Poisson estimate.
fn poisson_batch(batch: Option<usize>, num_obs: usize) -> usize {
    batch.unwrap_or(POISSON_BATCH.min(num_obs)).max(1)
}

/// G such that replacing one of G blocks changes the log likelihood with variance [`BLOCK_VARIANCE`] at most, and
/// [`INVISIBLE_BLOCKS`] where nobody sees whether they are replaced.
fn blocks_for(variance: f64) -> usize {
    if variance <= INVISIBLE {
        return INVISIBLE_BLOCKS;
    }
    ((2.0 * variance / BLOCK_VARIANCE).ceil() as usize).clamp(1, MOST_BLOCKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_blocks_and_factors_follow_the_rules() {
        let everywhere = |one_row| Spread {
            points: vec![
                Differences {
                    one_row,
                    total: 2.0
                };
                POINTS
            ],
        };
        let spread = everywhere(3000.0);
        let (estimator, blocks) = spread.difference(1.0, None, None, 1_000_000);
        assert_eq!(
            (estimator, blocks),
            (Estimator::Difference { rows: 3000 }, 20)
        );
        // Never more than all rows, and never too few to estimate a variance from.
        let (estimator, _) = spread.difference(1.0, None, None, 500);
        assert_eq!(estimator, Estimator::Difference { rows: 500 });
        let (estimator, _) = spread.difference(1000.0, None, None, 500);
        assert_eq!(estimator, Estimator::Difference { rows: 100 });
        // So few only where their variance cannot be seen.
        let invisible = INVISIBLE_BLOCKS;
        for (one_row, rows, blocks) in [
            (1e-4, 8, invisible),
            (0.0625, 64, invisible),
            (0.25, 100, 1),
            (50.0, 100, 10),
        ] {
            let found = everywhere(one_row).difference(1.0, None, None, 500);
            let expected = (Estimator::Difference { rows }, blocks);
            assert_eq!(found, expected, "{one_row}");
        }
        // v = 100 per minibatch: λ = 100 for Var log|L̂| = 1; factors are then 10 standard deviations above 0.
        let (estimator, blocks) = spread.block_poisson(1.0, None, None, None, 1_000_000);
        let expected = Estimator::BlockPoisson {
            batch: 30,
            factors: 100.0,
            shift: -98.0,
        };
        assert_eq!((estimator, blocks), (expected, 20));
        // A larger variance is refused where it would cost signs: 2 λ Φ(−λ/10) = 0.01 near λ = 37.
        let (estimator, _) = spread.block_poisson(50.0, None, None, None, 1_000_000);
        assert!(
            matches!(estimator, Estimator::BlockPoisson { factors, .. } if factors > 34.0 && factors < 42.0)
        );
        // One point of 32 where minibatches vary 25 times as much: the signs there may not be lost either.
        let mut uneven = everywhere(3000.0);
        uneven.points[0].one_row = 75_000.0;
        let (estimator, _) = uneven.block_poisson(50.0, None, None, None, 1_000_000);
        assert!(
            matches!(estimator, Estimator::BlockPoisson { factors, .. } if factors > 100.0 && factors < 200.0),
            "{estimator:?}"
        );
        // λ = 100 minibatches of 30 rows: too many for a table of 2,000 and few for one of a million. The least λ is never too many.
        let too_many = |variance, num_obs| spread.too_many_rows(variance, None, num_obs);
        assert_eq!(too_many(1.0, 2_000), Some(3000.0));
        assert_eq!(too_many(1.0, 1_000_000), None);
        assert_eq!(everywhere(1e-3).too_many_rows(1.0, None, 200), None);
        // What grows beyond all bounds ends too.
        assert_eq!(
            everywhere(f64::INFINITY).too_many_rows(1.0, None, 200),
            Some(f64::INFINITY)
        );
    }
}
