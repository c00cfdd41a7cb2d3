//! Beta responses, numbers between 0 and 1 such as shares: the log odds of the mean μ are z, and the variance is μ(1 − μ)/(1 + φ)
//! (Ferrari and Cribari-Neto 2004).
//!
//! log p = log Γ(φ) − log Γ(a) − log Γ(b) + (a − 1) log y + (b − 1) log(1 − y) with a = μφ and b = (1 − μ)φ. With m = μ(1 − μ),
//! D = log y − log(1 − y) − ψ(a) + ψ(b), T = ψ'(a) + ψ'(b) and G = ψ''(a) − ψ''(b):
//! ∂/∂z = φ m D, −∂²/∂z² = w = φ² m² T − φ m (1 − 2μ) D, ∂w/∂z = φ² m² (3 (1 − 2μ) T + φ m G) − φ m (1 − 6m) D. In c = log φ:
//! ∂/∂c = φ l with l = ψ(φ) − μ ψ(a) − (1 − μ) ψ(b) + μ log y + (1 − μ) log(1 − y), D' = ∂D/∂c = −a ψ'(a) + b ψ'(b),
//! −∂²/∂z∂c = −φ m (D + D'), −∂²/∂c² = −φ l − φ² ψ'(φ) + a² ψ'(a) + b² ψ'(b). A row of weight w counts as w rows.
//!
//! Default prior of φ: lognormal(2, 2), as that of other shapes; for a mean of ½ 95 % of standard deviations are between 0.026
//! and 0.47.

use rand_distr::{Beta, Distribution as _};
use statrs::function::gamma::{digamma, ln_gamma};

use super::notation::{Notation, comment};
use super::rows::{
    Curvature, FamilyRows, FewAux, LANES, Lane, MAX_AUX, ResponseScale, RowFamily, Terms,
    rows_with, value_or,
};
use super::{
    Auxiliary, Coordinates, Definition, Derivatives, Distribution, FamilyError, Link, Support,
    row_of_file,
};
use crate::design::{Design, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use ergodic_base::ChainRng;
use ergodic_base::special::{logistic, tetragamma, trigamma};

/// Log odds farther out count as these: polygamma functions of a smaller share would not be finite.
const FARTHEST: f64 = 200.0;

pub(super) const DEFINITION: Definition = Definition {
    id: "beta",
    title: "Beta",
    kind: "Beta",
    about: "numbers between 0 and 1, such as shares",
    quantity: "log odds of the expected",
    response: ResponseUse::Number,
    check,
    link: Link::Logit,
    is_whole: false,
    latent_variance: None,
    auxiliaries: &[Auxiliary {
        name: "phi",
        what: "precision of the beta distribution",
        meaning: |design| {
            let name = &design.response.name;
            format!(
                "precision of the beta distribution of {name}: its variance is mean (1 − mean)/(1 + phi)"
            )
        },
        support: Support::Above(0.0),
        has_unit: false,
        prior: "lognormal(2, 2)",
    }],
};

/// Refuses responses that are not between 0 and 1.
fn check(design: &Design) -> Result<(), FamilyError> {
    let Some(i) = design.y.iter().position(|y| !(*y > 0.0 && *y < 1.0)) else {
        return Ok(());
    };
    Err(FamilyError::NotShare {
        response: design.response.name.clone(),
        value: design.y[i],
        row: row_of_file(design, i),
        family: DEFINITION.id,
    })
}

/// Numbers between 0 and 1 whose mean has the log odds z, with variance mean (1 − mean)/(1 + φ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    phi: f64,
    log_phi: f64,
}

/// A row at φ and its mean, and what all derivatives need.
#[derive(Clone, Copy)]
struct Row {
    /// μ and 1 − μ.
    share: [f64; 2],
    /// a and b.
    of: [f64; 2],
    /// φ μ (1 − μ).
    step: f64,
    /// D.
    pull: f64,
    /// ψ'(a), ψ'(b).
    trigamma: [f64; 2],
}

impl Row {
    #[inline(always)]
    fn new(z: f64, log_odds: f64, phi: f64) -> Self {
        let z = z.clamp(-FARTHEST, FARTHEST);
        let share = [logistic(z), logistic(-z)];
        let of = share.map(|share| share * phi);
        Self {
            share,
            of,
            step: phi * share[0] * share[1],
            pull: log_odds - digamma(of[0]) + digamma(of[1]),
            trigamma: of.map(trigamma),
        }
    }

    /// 1 − 2μ.
    fn tilt(&self) -> f64 {
        self.share[1] - self.share[0]
    }

    /// −∂² log p/∂z².
    #[inline(always)]
    fn weight(&self) -> f64 {
        let [left, right] = self.trigamma;
        self.step * (self.step * (left + right) - self.tilt() * self.pull)
    }

    /// D'.
    #[inline(always)]
    fn pull_slope(&self) -> f64 {
        self.of[1] * self.trigamma[1] - self.of[0] * self.trigamma[0]
    }
}

/// (a − 1) log y + (b − 1) log(1 − y) − log Γ(a) − log Γ(b).
#[inline(always)]
fn shape_of(z: f64, phi: f64, [log_y, log_rest]: [f64; 2]) -> f64 {
    let z = z.clamp(-FARTHEST, FARTHEST);
    let (a, b) = (logistic(z) * phi, logistic(-z) * phi);
    (a - 1.0) * log_y + (b - 1.0) * log_rest - ln_gamma(a) - ln_gamma(b)
}

/// l, with ψ(φ).
#[inline(always)]
fn slope_in_phi(z: f64, phi: f64, [log_y, log_rest]: [f64; 2], digamma_phi: f64) -> f64 {
    let z = z.clamp(-FARTHEST, FARTHEST);
    let (p, q) = (logistic(z), logistic(-z));
    digamma_phi + p * (log_y - digamma(p * phi)) + q * (log_rest - digamma(q * phi))
}

fn logs(y: f64) -> [f64; 2] {
    [y.ln(), (-y).ln_1p()]
}

impl Distribution for Outcome {
    const COORDINATES: usize = 1;
    const START: Self = Self {
        phi: 1.0,
        log_phi: 0.0,
    };

    fn draw(self, z: f64, _trials: f64, rng: &mut ChainRng) -> f64 {
        let mean = logistic(z);
        let z = z.clamp(-FARTHEST, FARTHEST);
        let drawn = Beta::new(logistic(z) * self.phi, logistic(-z) * self.phi)
            .map_or(mean, |beta| beta.sample(rng));
        let drawn = if drawn.is_nan() { mean } else { drawn };
        // Neither 0 nor 1 has a density.
        drawn.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON)
    }

    fn at(self, z: f64, y: f64, _trials: f64) -> Derivatives {
        let logs = logs(y);
        let row = Row::new(z, logs[0] - logs[1], self.phi);
        let [left, right] = row.trigamma;
        let bend = tetragamma(row.of[0]) - tetragamma(row.of[1]);
        let (step, tilt) = (row.step, row.tilt());
        let product = row.share[0] * row.share[1];
        Derivatives {
            log_p: shape_of(z, self.phi, logs),
            score: step * row.pull,
            weight: row.weight(),
            slope: step * step * (3.0 * tilt * (left + right) + step * bend)
                - step * (1.0 - 6.0 * product) * row.pull,
        }
    }

    fn variance(self, z: f64, _trials: f64) -> f64 {
        logistic(z) * logistic(-z) / (1.0 + self.phi)
    }

    fn constant(self, _y: f64, _trials: f64) -> f64 {
        ln_gamma(self.phi)
    }

    fn coordinates(self) -> Coordinates {
        [self.log_phi, 0.0]
    }

    fn with_coordinates(self, [log_phi, _]: Coordinates) -> Self {
        Self {
            phi: log_phi.exp(),
            log_phi,
        }
    }

    fn in_coordinates(self, z: f64, y: f64, _known: f64) -> [[f64; 3]; MAX_AUX] {
        let (logs, phi) = (logs(y), self.phi);
        let row = Row::new(z, logs[0] - logs[1], phi);
        let [left, right] = row.trigamma;
        let [a, b] = row.of;
        let both = row.pull + row.pull_slope();
        let sum_slope = a * tetragamma(a) + b * tetragamma(b);
        let of_one = [
            phi * slope_in_phi(z, phi, logs, digamma(phi)),
            row.step * both,
            row.step * (row.step * (2.0 * (left + right) + sum_slope) - row.tilt() * both),
        ];
        [of_one, [0.0; 3]]
    }
}

/// Rows with offset, log y, log(1 − y) and weight after the covariates.
#[derive(Clone, Copy, Debug)]
pub struct Shares;

/// φ and functions of it that all rows need.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    phi: f64,
    ln_gamma: f64,
    digamma: f64,
    trigamma: f64,
}

impl RowFamily for Shares {
    type Aux = FewAux;
    const EXTRA: usize = 4;
    const AUX: usize = 1;
    type Shared = Precision;

    fn shared(&self, aux: &[f64]) -> Precision {
        let phi = aux[0].exp();
        Precision {
            phi,
            ln_gamma: ln_gamma(phi),
            digamma: digamma(phi),
            trigamma: trigamma(phi),
        }
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [_offset, log_y, log_rest, weight]: [&Lane; 4],
        of: &Precision,
    ) -> Terms {
        let (mut residual, mut aux, mut sum) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            let logs = [log_y[k], log_rest[k]];
            let row = Row::new(z[k], logs[0] - logs[1], of.phi);
            residual[k] = weight[k] * row.step * row.pull;
            aux[k] = weight[k] * of.phi * slope_in_phi(z[k], of.phi, logs, of.digamma);
            if VALUE {
                sum[k] = weight[k] * (of.ln_gamma + shape_of(z[k], of.phi, logs));
            }
        }
        Terms::of_one(residual, aux, sum)
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [_offset, log_y, log_rest, weight]: [&Lane; 4],
        of: &Precision,
    ) -> Curvature {
        let mut out = Curvature::default();
        for k in 0..LANES {
            let logs = [log_y[k], log_rest[k]];
            let row = Row::new(z[k], logs[0] - logs[1], of.phi);
            out.zz[k] = weight[k] * row.weight();
            out.za[0][k] = -weight[k] * row.step * (row.pull + row.pull_slope());
            let slope = of.phi * slope_in_phi(z[k], of.phi, logs, of.digamma);
            let bend = of.phi * of.phi * of.trigamma
                - row.of[0] * row.of[0] * row.trigamma[0]
                - row.of[1] * row.of[1] * row.trigamma[1];
            out.aa[0][k] = -weight[k] * (slope + bend);
        }
        out
    }

    fn outcome(&self, of: &Precision) -> super::Outcome {
        super::Outcome::Beta(Outcome {
            phi: of.phi,
            log_phi: of.phi.ln(),
        })
    }
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<Shares>, FamilyError> {
    Ok(FamilyRows {
        family: Shares,
        data: rows_with(design, |i| {
            let [log_y, log_rest] = logs(design.y[i]);
            let (offset, weight) = (&design.offset, &design.weights);
            [
                value_or(offset, i, 0.0),
                log_y,
                log_rest,
                value_or(weight, i, 1.0),
            ]
        }),
        response: ResponseScale::LINK,
    })
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        predicted: format!("The log odds of the expected `{name}`"),
        given: format!(
            "`{name}` has a beta distribution, whose variance is mean × (1 − mean)/(1 + `phi`)."
        ),
        response: vec![
            format!("{name}[i] ~ beta(mu[i] phi, (1 - mu[i]) phi)"),
            "logit(mu[i]) = eta[i]".to_owned(),
        ],
        stan_data: vec![format!(
            "vector<lower=0, upper=1>[N] y;  // {}",
            comment(name)
        )],
        stan_functions: Vec::new(),
        stan_density: "beta_proportion",
        stan_arguments: vec!["inv_logit(eta[])".to_owned(), "phi".to_owned()],
        r_response: Vec::new(),
        brms_family: "Beta()",
    }
}
