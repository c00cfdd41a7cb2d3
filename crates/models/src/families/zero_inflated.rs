//! Counts with more zeros than their distribution has: with chance π a zero whatever the distribution says, otherwise one of its
//! counts (Lambert 1992, Technometrics 34). Shared by the families of such counts.
//!
//! With a the log odds of π, l the log probability that the distribution has for 0 and r = 1/(1 + e^(a − l)), the chance that a zero
//! is one of its own,
//!
//! ```text
//! log p = log(e^a + e^l) − log(1 + e^a) for y = 0,   the distribution's − log(1 + e^a) for others
//! ```
//!
//! In anything θ that l depends on, of the derivatives for y = 0 the first is r l', the second r l'' + r (1 − r) l' l'; in a the first
//! is 1 − r − π, and r changes by −r (1 − r). Not log-concave. A row of weight w counts as w rows.

use rand::RngExt as _;

use super::rows::{Curvature, FamilyRows, FewAux, LANES, Lane, MAX_AUX, RowFamily, Terms};
use super::{Auxiliary, Coordinates, Derivatives, Distribution, Link, Support};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::{exp, ln_1p};
use ergodic_base::ChainRng;
use ergodic_base::special::{logistic, softplus};

/// π.
pub(super) const ZI: Auxiliary = Auxiliary {
    name: "zi",
    what: "chance of an extra zero",
    meaning: |design| {
        let name = &design.response.name;
        format!("chance that {name} is 0 whatever its distribution says")
    },
    support: Support::Chance,
    has_unit: false,
    prior: "beta(1, 1)",
};

/// Counts of `D`, a distribution whose zeros are 0 without a constant, with more zeros.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflated<D> {
    /// The counts that are not extra zeros.
    counts: D,
    /// a.
    log_odds: f64,
}

impl<D> Inflated<D> {
    /// Counts with extra zeros of these log odds.
    pub(super) fn new(counts: D, log_odds: f64) -> Self {
        Self { counts, log_odds }
    }

    /// The chance of an extra zero.
    pub fn chance(&self) -> f64 {
        logistic(self.log_odds)
    }
}

impl<D: Distribution> Distribution for Inflated<D> {
    const START: Self = Self {
        counts: D::START,
        // A chance of 0.1: few zeros are more than there should be.
        log_odds: -2.197_224_577_336_219_4,
    };
    const COORDINATES: usize = D::COORDINATES + 1;

    fn draw(self, z: f64, trials: f64, rng: &mut ChainRng) -> f64 {
        if rng.random::<f64>() < self.chance() {
            return 0.0;
        }
        self.counts.draw(z, trials, rng)
    }

    #[inline]
    fn at(self, z: f64, y: f64, trials: f64) -> Derivatives {
        let own = self.counts.at(z, y, trials);
        if y > 0.0 {
            return own;
        }
        let share = logistic(own.log_p - self.log_odds);
        let spread = share * (1.0 - share);
        let Derivatives {
            log_p,
            score,
            weight,
            slope,
        } = own;
        Derivatives {
            log_p: log_of_sum(log_p, self.log_odds),
            score: share * score,
            weight: share * weight - spread * score * score,
            slope: share * slope + 3.0 * spread * score * weight
                - spread * (1.0 - 2.0 * share) * score.powi(3),
        }
    }

    fn variance(self, z: f64, trials: f64) -> f64 {
        let (share, mean) = (logistic(-self.log_odds), self.counts.mean(z, Link::Log));
        share * self.counts.variance(z, trials) + share * self.chance() * mean * mean
    }

    fn constant(self, y: f64, trials: f64) -> f64 {
        self.counts.constant(y, trials) - softplus(self.log_odds)
    }

    fn mean_factor(self) -> f64 {
        logistic(-self.log_odds) * self.counts.mean_factor()
    }

    fn coordinates(self) -> Coordinates {
        let mut at = self.counts.coordinates();
        at[D::COORDINATES] = self.log_odds;
        at
    }

    fn with_coordinates(self, at: Coordinates) -> Self {
        Self {
            counts: self.counts.with_coordinates(at),
            log_odds: at[D::COORDINATES],
        }
    }

    fn in_coordinates(self, z: f64, y: f64, trials: f64) -> [[f64; 3]; MAX_AUX] {
        let mut out = self.counts.in_coordinates(z, y, trials);
        if y > 0.0 {
            out[D::COORDINATES] = [-self.chance(), 0.0, 0.0];
            return out;
        }
        let own = self.counts.at(z, y, trials);
        let share = logistic(own.log_p - self.log_odds);
        let spread = share * (1.0 - share);
        let tilt = 1.0 - 2.0 * share;
        for [log_p, score, weight] in &mut out[..D::COORDINATES] {
            let [of_log_p, of_score, of_weight] = [*log_p, *score, *weight];
            *log_p = share * of_log_p;
            *score = share * of_score + spread * of_log_p * own.score;
            *weight = share * of_weight + spread * of_log_p * own.weight
                - spread * own.score * (tilt * of_log_p * own.score + 2.0 * of_score);
        }
        out[D::COORDINATES] = [
            1.0 - share - self.chance(),
            -spread * own.score,
            spread * (tilt * own.score * own.score - own.weight),
        ];
        out
    }
}

/// log(e^a + e^b).
fn log_of_sum(a: f64, b: f64) -> f64 {
    a.max(b) + (-(a - b).abs()).exp().ln_1p()
}

/// Rows of `F` with a as its last auxiliary coordinate. After the covariates the rows of `F` have offset, count, weight and the
/// weight times a constant that is 0 for 0.
#[derive(Clone, Copy, Debug)]
pub struct InflatedRows<F>(F);

/// What all rows share: that of their counts, and functions of a.
#[derive(Clone, Copy, Debug)]
pub struct Shared<S> {
    counts: S,
    log_odds: f64,
    /// log(1 + e^a).
    normaliser: f64,
    /// π.
    chance: f64,
}

/// Of eight rows: what their counts say of a row of weight 1, log p of it included.
struct Zeros {
    own: Terms,
    /// r.
    share: Lane,
    /// log(e^a + e^l).
    log_p: Lane,
}

impl<F: RowFamily<Aux = FewAux>> InflatedRows<F> {
    const PLACE: usize = F::AUX;

    /// `VALUE` for log p in [`Zeros::log_p`].
    #[inline(always)]
    fn zeros<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [offset, y, _weight, _constant]: [&Lane; 4],
        of: &Shared<F::Shared>,
    ) -> Zeros {
        let one = [offset, y, &[1.0; LANES], &[0.0; LANES]];
        let own = F::terms::<A, true>(z, one, &of.counts);
        let (mut share, mut away) = ([0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            away[k] = -(own.sum[k] - of.log_odds).abs();
        }
        let less = exp::<A>(&away);
        for k in 0..LANES {
            let above = own.sum[k] >= of.log_odds;
            share[k] = if above { 1.0 } else { less[k] } / (1.0 + less[k]);
        }
        let mut log_p = [0.0; LANES];
        if VALUE {
            let rest = ln_1p::<A>(&less);
            for k in 0..LANES {
                log_p[k] = own.sum[k].max(of.log_odds) + rest[k];
            }
        }
        Zeros { own, share, log_p }
    }
}

impl<F: RowFamily<Aux = FewAux>> RowFamily for InflatedRows<F> {
    type Aux = FewAux;
    const EXTRA: usize = F::EXTRA;
    const AUX: usize = F::AUX + 1;
    type Shared = Shared<F::Shared>;

    fn shared(&self, aux: &[f64]) -> Self::Shared {
        let log_odds = aux[Self::PLACE];
        Shared {
            counts: self.0.shared(aux),
            log_odds,
            normaliser: softplus(log_odds),
            chance: logistic(log_odds),
        }
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        extra: [&Lane; 4],
        of: &Self::Shared,
    ) -> Terms {
        let [_offset, y, weight, constant] = extra;
        let Zeros { own, share, log_p } = Self::zeros::<A, VALUE>(z, extra, of);
        let mut out = Terms {
            factor: [1.0; LANES],
            ..Terms::default()
        };
        for k in 0..LANES {
            let zero = y[k] == 0.0;
            let weight = weight[k];
            // A count that is not 0 is one of the distribution's.
            let share = if zero { share[k] } else { 1.0 };
            out.residual[k] = weight * share * own.residual[k];
            for m in 0..F::AUX {
                out.aux[m][k] = weight * share * own.aux[m][k];
            }
            out.aux[Self::PLACE][k] = weight * (1.0 - share - of.chance);
            if VALUE {
                let log_p = if zero { log_p[k] } else { own.sum[k] };
                out.sum[k] = A::mul_add(weight, log_p - of.normaliser, constant[k]);
            }
        }
        out
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(z: &Lane, extra: [&Lane; 4], of: &Self::Shared) -> Curvature {
        let [offset, y, weight, _constant] = extra;
        let Zeros { own, share, .. } = Self::zeros::<A, false>(z, extra, of);
        let one = [offset, y, &[1.0; LANES], &[0.0; LANES]];
        let bent = F::curvature::<A>(z, one, &of.counts);
        let mut out = Curvature::default();
        let of_chance = of.chance * (1.0 - of.chance);
        for k in 0..LANES {
            let (weight, share) = (weight[k], if y[k] == 0.0 { share[k] } else { 1.0 });
            let spread = share * (1.0 - share);
            let score = own.residual[k];
            out.zz[k] = weight * (share * bent.zz[k] - spread * score * score);
            for m in 0..F::AUX {
                let slope = own.aux[m][k];
                out.za[m][k] = weight * (share * bent.za[m][k] - spread * score * slope);
                out.aa[m][k] = weight * (share * bent.aa[m][k] - spread * slope * slope);
                // Of both: the place after that of the first alone.
                out.aa[m + Self::PLACE][k] = weight * spread * slope;
            }
            out.za[Self::PLACE][k] = weight * spread * score;
            out.aa[2 * Self::PLACE][k] = weight * (of_chance - spread);
        }
        out
    }

    fn outcome(&self, of: &Self::Shared) -> super::Outcome {
        use super::Outcome::{
            NegativeBinomial, Poisson, ZeroInflatedNegativeBinomial, ZeroInflatedPoisson,
        };
        match self.0.outcome(&of.counts) {
            Poisson(counts) => ZeroInflatedPoisson(Inflated::new(counts, of.log_odds)),
            NegativeBinomial(counts) => {
                ZeroInflatedNegativeBinomial(Inflated::new(counts, of.log_odds))
            }
            other => other,
        }
    }
}

/// Rows of counts, with more zeros.
pub(super) fn inflated<F: RowFamily<Aux = FewAux>>(
    rows: FamilyRows<F>,
) -> FamilyRows<InflatedRows<F>> {
    FamilyRows {
        family: InflatedRows(rows.family),
        data: rows.data,
        response: rows.response,
    }
}

/// A function of Stan for a row of counts whose density there is `density` with `arguments` after `eta`, each with its type.
pub(super) fn stan_function(name: &str, density: &str, arguments: &[&str]) -> Vec<String> {
    let typed: String = arguments
        .iter()
        .map(|one| format!("real {one}, "))
        .collect();
    let plain: String = arguments.iter().map(|one| format!(", {one}")).collect();
    vec![
        format!("real {name}_lpmf(int y, real eta, {typed}real zi) {{"),
        "  if (y > 0) {".to_owned(),
        format!("    return log1m(zi) + {density}_lpmf(y | eta{plain});"),
        "  }".to_owned(),
        format!("  return log_mix(zi, 0, {density}_lpmf(0 | eta{plain}));"),
        "}".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_starts_at_the_chance_that_is_said() {
        let start = Inflated::<super::super::poisson::Outcome>::START;
        assert!((start.chance() - 0.1).abs() < 1e-15);
    }
}
