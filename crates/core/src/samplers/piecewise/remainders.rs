//! What the rows of a posterior add to its gradient beyond a linear part, bounded row by row: the ground of the
//! piecewise-deterministic samplers ([`crate::samplers::piecewise`]).
//!
//! Coordinates are whitened at the mode: u = û + L⁻ᵀ v with H = L L'. The potential ψ = −log π is a sum over rows i, those of
//! the likelihood and those of the prior, of −ℓ_i(z_i) with z_i = ẑ_i + b_i'v and b_i = L⁻¹ a_i. With control variates at the
//! mode each row's gradient is its expansion there and a remainder:
//!
//! ∇ψ(v) = g + A v + Σ r_i(v) b_i,   g = −Σ ℓ_i'(ẑ_i) b_i,   A = −Σ ℓ_i''(ẑ_i) b_i b_i',
//! r_i(v) = −(ℓ_i'(z_i) − ℓ_i'(ẑ_i) − ℓ_i''(ẑ_i) (z_i − ẑ_i)).
//!
//! This is exact whether or not û is the mode. With control variates of gradients alone (those of ZZ-CV) the terms with
//! ℓ_i'' are left out and stay in r_i.
//!
//! **Bounds.** Let R be at least |v|, so that |z_i − ẑ_i| ≤ |b_i| R by Cauchy and Schwarz. With curvature −ℓ_i'' between
//! c₋ and c₊ everywhere and ŵ_i = −ℓ_i''(ẑ_i), and with |ℓ_i'''| ≤ γ_i, |ℓ_i'| ≤ σ_i,
//!
//! | power of R | |r_i| ≤ | for rows |
//! |---|---|---|
//! | 0 | 2 σ_i | without a bound on the curvature, as Laplace priors; no second-order term is taken from them |
//! | 1 | max(c₊ − ŵ_i, ŵ_i − c₋) |b_i| R | all others (mean value theorem) |
//! | 2 | ½ γ_i |b_i|² R² | the same, where γ_i is known and control variates are of second order (Taylor) |
//!
//! Either of the last two holds everywhere; [`Remainders::next`] takes the one whose sum is smaller at hand. Along a
//! trajectory of speed |w| from a point at distance R₀, R = R₀ + s |w|, so that the total rate of proposals is
//! T (R₀ + s |w|)^p, whose integral is inverted in closed form. In tall data the sum of the power 2 falls as N^{-1/2}.
//!
//! **Cost of a proposal.** r_i needs z_i − ẑ_i = a_i'(u − û) alone, D operations. Since no factor asks for more than
//! |r_i| times the largest rate per |r_i|, a proposal that fails on |r_i| against its bound fails whatever b_i is; b_i, D²
//! operations, is solved for where it does not.
//!
//! **Memory.** Four numbers and two alias tables per row (56 bytes).

use crate::samplers::Unsuitable;
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution as _, Exp1};

use crate::models::{Covariates, LinearRows, Model, PriorRows};
use crate::oracle::{Centre, StepError};
use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, axpy, dot};

/// Rounding allowed in a rate before it counts as above its bound, relative to the numbers it is the difference of.
const ROUNDING: f64 = 1e-10;

/// All rows of a posterior: the likelihood's, then the prior's.
pub struct AllRows<'a> {
    likelihood: &'a dyn LinearRows,
    prior: &'a PriorRows,
    num_obs: usize,
    /// L.
    pub factor: &'a Cholesky,
}

impl<'a> AllRows<'a> {
    /// The rows of `model`, whitened at `centre`; `None` where [`suits`] refuses.
    pub fn of(model: &'a dyn Model, centre: &'a Centre) -> Option<Self> {
        Some(Self {
            likelihood: model.linear_rows()?,
            prior: model.prior_rows()?,
            num_obs: model.num_obs(),
            factor: &centre.factor,
        })
    }

    fn count(&self) -> usize {
        self.num_obs + self.prior.count()
    }

    /// The row with the number it has among its kind.
    fn at(&self, row: usize) -> (&dyn LinearRows, usize) {
        if row < self.num_obs {
            (self.likelihood, row)
        } else {
            (self.prior, row - self.num_obs)
        }
    }

    /// b ← L⁻¹ a_i.
    fn whitened(&self, row: usize, b: &mut [f64]) {
        let (rows, index) = self.at(row);
        rows.covariates(index).write_to(b);
        self.factor.solve_lower(b);
    }
}

/// Whether every row has a bound; the error can follow "Sampler `id` ".
pub fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
    let bounded = |rows: &dyn LinearRows, count: usize| {
        (0..count)
            .all(|row| rows.curvature_bound(row).is_finite() || rows.slope_bound(row).is_finite())
    };
    let likelihood = model.linear_rows().ok_or(Unsuitable::NoLinearPredictor)?;
    if !bounded(likelihood, model.num_obs()) {
        return Err(Unsuitable::UnboundedRows);
    }
    if !(model.density()).is_some_and(|density| density.has_dense_curvature()) {
        return Err(Unsuitable::NoCurvature { dim: model.dim() });
    }
    match model.prior_rows() {
        Some(prior) if bounded(prior, prior.count()) => Ok(()),
        _ => Err(Unsuitable::UnboundedPriors),
    }
}

/// A row's expansion at the mode.
#[derive(Clone, Copy, Debug)]
struct Expansion {
    z: f64,
    slope: f64,
    second: f64,
    /// |b_i|.
    length: f64,
}

/// Rows to be drawn in proportion to their bounds, which have the same power of R.
#[derive(Debug)]
struct Table {
    power: i32,
    total: f64,
    rows: Option<WeightedAliasIndex<f64>>,
}

impl Table {
    fn new(power: i32, bounds: Vec<f64>) -> Self {
        let total = bounds.iter().sum();
        Self {
            power,
            total,
            // No table where no row needs one, or where one has no bound of this power.
            rows: WeightedAliasIndex::new(bounds).ok(),
        }
    }

    /// Time of the first arrival at rate `scale` × total × (R₀ + s `speed`)^power.
    fn arrival(&self, radius: f64, speed: f64, scale: f64, rng: &mut ChainRng) -> f64 {
        if self.rows.is_none() {
            return f64::INFINITY;
        }
        let exponential: f64 = Exp1.sample(rng);
        let wait = exponential / (scale * self.total);
        if self.power == 0 {
            return wait;
        }
        let next = self.power + 1;
        let reached = radius.powi(next) + f64::from(next) * speed * wait;
        (reached.powf(1.0 / f64::from(next)) - radius) / speed
    }
}

/// A proposal of an event by some row.
#[derive(Clone, Copy, Debug)]
pub struct Proposal {
    /// Time from now.
    pub time: f64,
    /// Bound on the distance from the mode then.
    radius: f64,
    table: usize,
}

/// The row of a proposal and its part r_i b_i in the gradient of ψ.
#[derive(Clone, Copy, Debug)]
pub struct Pull {
    row: usize,
    /// r_i.
    pub strength: f64,
    /// Bound on |r_i| with which the row was proposed.
    pub bound: f64,
}

/// See the module's header.
#[derive(Debug)]
pub struct Remainders {
    /// g, length D.
    pub gradient: Vec<f64>,
    /// A, row-major D×D.
    pub matrix: Vec<f64>,
    expansions: Vec<Expansion>,
    tables: [Table; 3],
}

impl Remainders {
    /// Expands all rows at the centre, to second order if `curvature`. `reach(b)` is the largest switching rate per
    /// |r_i|, by which rows are weighted. Costs one pass over the rows with D² operations each.
    ///
    /// # Errors
    /// [`StepError::NonFinite`] where a row is not finite at the centre, [`StepError::BoundExceeded`] where its curvature
    /// is outside of its range already there.
    pub fn new(
        rows: &AllRows<'_>,
        centre: &Centre,
        curvature: bool,
        reach: fn(&[f64]) -> f64,
    ) -> Result<Self, StepError> {
        let dim = centre.u.len();
        let count = rows.count();
        let mut gradient = vec![0.0; dim];
        let mut matrix = vec![0.0; dim * dim];
        let mut expansions = Vec::with_capacity(count);
        let mut bounds = [vec![0.0; count], vec![0.0; count], vec![0.0; count]];
        let mut b = vec![0.0; dim];
        for row in 0..count {
            rows.whitened(row, &mut b);
            let (kind, index) = rows.at(row);
            let z = kind.predictor(index, &centre.u);
            let [_, slope, second] = kind.derivatives(index, z);
            let smooth = kind.curvature_bound(index).is_finite();
            let [least, most] = kind.curvature_range(index);
            let tolerance = ROUNDING * second.abs();
            if smooth && (-second > most + tolerance || -second < least - tolerance) {
                return Err(StepError::BoundExceeded {
                    what: "the curvature of a row",
                    iter: 0,
                });
            }
            let second = if smooth && curvature { second } else { 0.0 };
            axpy(-slope, &b, &mut gradient);
            for (line, &b_j) in matrix.chunks_exact_mut(dim).zip(&b) {
                axpy(-second * b_j, &b, line);
            }
            let (length, reach) = (dot(&b, &b).sqrt(), reach(&b));
            expansions.push(Expansion {
                z,
                slope,
                second,
                length,
            });
            for (power, bounds) in bounds.iter_mut().enumerate() {
                // A row belongs to the constant bound or to the two others.
                if (power == 0) != smooth {
                    let bound = bound(kind, index, second, power as i32, length, 1.0);
                    bounds[row] = if reach == 0.0 { 0.0 } else { bound * reach };
                }
            }
        }
        let mut power = -1;
        let mut tables = bounds.map(|bounds| {
            power += 1;
            Table::new(power, bounds)
        });
        if !curvature {
            tables[2].total = f64::INFINITY;
        }
        let known = gradient.iter().chain(&matrix);
        let totals = [&tables[0].total, &tables[1].total];
        if known.chain(totals).any(|value| !value.is_finite()) {
            return Err(StepError::not_finite(
                "the gradient, the curvature or the bound of a row at the mode",
                0,
            ));
        }
        Ok(Self {
            gradient,
            matrix,
            expansions,
            tables,
        })
    }

    /// The next proposal on the way from distance `radius` at `speed`, with all bounds multiplied by `scale`.
    pub fn next(&self, radius: f64, speed: f64, scale: f64, rng: &mut ChainRng) -> Proposal {
        let [constant, linear, square] = &self.tables;
        let table = if square.total * radius <= linear.total {
            2
        } else {
            1
        };
        let constant = constant.arrival(radius, speed, scale, rng);
        let smooth = self.tables[table].arrival(radius, speed, scale, rng);
        let (time, table) = if constant < smooth {
            (constant, 0)
        } else {
            (smooth, table)
        };
        Proposal {
            time,
            radius: radius + time * speed,
            table,
        }
    }

    /// Draws the row of a proposal and looks at it where `heading` leads.
    ///
    /// # Errors
    /// r_i is above its bound, or not a number: the model says wrong things about its rows.
    pub fn look(
        &self,
        rows: &AllRows<'_>,
        proposal: Proposal,
        heading: &Heading,
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<Pull, StepError> {
        let table = &self.tables[proposal.table];
        // A proposal of a table without rows is never the next.
        let row = table.rows.as_ref().map_or(0, |rows| rows.sample(rng));
        let (kind, index) = rows.at(row);
        let Expansion {
            z,
            slope,
            second,
            length,
        } = self.expansions[row];
        let step = heading.change(kind.covariates(index));
        let [_, here, _] = kind.derivatives(index, z + step);
        let strength = -(here - slope - second * step);
        let bound = bound(kind, index, second, table.power, length, proposal.radius);
        if !strength.is_finite() {
            return Err(StepError::not_finite("the gradient of a row", iter));
        }
        let rounding = ROUNDING * (here.abs() + slope.abs() + (second * step).abs());
        if strength.abs() > bound * (1.0 + ROUNDING) + rounding {
            return Err(StepError::BoundExceeded {
                what: "the gradient of a row",
                iter,
            });
        }
        Ok(Pull {
            row,
            strength,
            bound,
        })
    }

    /// b ← b_i of the row that was looked at.
    pub fn direction(&self, rows: &AllRows<'_>, pull: Pull, b: &mut [f64]) {
        rows.whitened(pull.row, b);
    }
}

/// A trajectory in the model's own coordinates, from which linear predictors follow.
#[derive(Debug)]
pub struct Heading {
    /// u − û when the trajectory began, length D.
    pub offset: Vec<f64>,
    /// Change of the offset with time, length D.
    pub velocity: Vec<f64>,
    /// Time since.
    pub time: f64,
}

impl Heading {
    /// a'(u − û) now.
    fn change(&self, a: Covariates<'_>) -> f64 {
        a.dot(&self.offset) + self.time * a.dot(&self.velocity)
    }
}

/// The bound on |r_i| of the header's table at distance `radius`.
fn bound(
    rows: &dyn LinearRows,
    row: usize,
    second: f64,
    power: i32,
    length: f64,
    radius: f64,
) -> f64 {
    match power {
        0 => 2.0 * rows.slope_bound(row),
        1 => {
            let [least, most] = rows.curvature_range(row);
            (most + second).max(-second - least) * length * radius
        }
        _ => 0.5 * rows.third_bound(row) * (length * radius).powi(2),
    }
}
