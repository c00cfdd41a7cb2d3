//! Ordered levels 1 … K, cumulative logit: Pr(y ≤ k) = σ(c_k − z) with cut points c_1 < … < c_{K−1} (McCullagh 1980).
//!
//! z has an intercept as that of every family, so c_1 = 0 here; what is reported as a cut point has the intercept taken from it.
//! Auxiliary coordinates are logarithms a_i of the K − 2 gaps g_i = c_{i+1} − c_i. Of level y let u = c_y − z and l = c_{y−1} − z (u = ∞
//! of the highest level, l = −∞ of the lowest) and g = u − l. Since σ(u) − σ(l) = σ(u) σ(−l) (1 − e^−g),
//!
//! ```text
//! log p = log σ(u) + log σ(−l) + log(1 − e^−g)
//! ∂/∂z = σ(l) − σ(−u)          −∂²/∂z² = w = w_u + w_l with w_t = σ(t) σ(−t)
//! of gaps below both, i ≤ y − 2:   ∂/∂a_i = −g_i ∂/∂z      −∂²/∂z∂a_i = −g_i w     −∂²/∂a_i∂a_j = g_i g_j w + [i = j] g_i ∂/∂z
//! of its own, i = y − 1:           ∂/∂a_i = g σ(−u) + r    −∂²/∂z∂a_i = −g w_u     −∂²/∂a_i² = g² w_u − g σ(−u) + r (r + g − 1)
//! of one of each:                                                                   −∂²/∂a_i∂a_j = g_i g w_u
//! ```
//!
//! with r = g/(e^g − 1). Other gaps have no part in the row. A row of weight w counts as w rows.

use std::cmp::Ordering;

use rand::RngExt as _;

use super::binomial::{self, exp_minus_abs};
use super::notation::{Notation, comment, quoted};
use super::rows::{
    AuxLanes as _, CurvatureWith, FamilyRows, GapAux, LANES, Lane, MAX_GAPS, ResponseScale,
    RowFamily, TermsWith, rows_with, value_or,
};
use super::{Definition, Derivatives, Distribution, FamilyError, Link};
use crate::design::{Design, MAX_LEVELS, ResponseKind, ResponseUse};
use crate::formula::quote_name;
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::ln_1p;
use ergodic_base::ChainRng;
use ergodic_base::special::{logistic, softplus};

/// Where the cut point above the highest level and that below the lowest stand: no linear predictor comes near.
const FAR: f64 = 1e9;

pub(super) const DEFINITION: Definition = Definition {
    id: "ordered",
    title: "Ordered levels",
    kind: "Ordinal",
    about: "levels with an order, such as ratings",
    quantity: "log odds of a higher",
    response: ResponseUse::Ordered,
    check,
    link: Link::Logit,
    is_whole: true,
    latent_variance: binomial::DEFINITION.latent_variance,
    auxiliaries: &[],
};

/// Refuses responses that are no levels, and formulas without the intercept that stands for the first cut point.
fn check(design: &Design) -> Result<(), FamilyError> {
    let response = || design.response.name.clone();
    let ResponseKind::Ordered { .. } = &design.response.kind else {
        return Err(FamilyError::NotOrdered {
            response: response(),
        });
    };
    if !design.has_intercept {
        return Err(FamilyError::NoCutPoint {
            response: response(),
        });
    }
    Ok(())
}

/// One of K levels, from 1, with K − 1 cut points of which the first is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    num_levels: usize,
    /// Cut points; those past the last are [`FAR`].
    cuts: [f64; MAX_LEVELS - 1],
}

impl Outcome {
    /// The levels with these gaps between their cut points, at least one.
    pub fn with_gaps(gaps: impl IntoIterator<Item = f64>) -> Self {
        let mut cuts = [FAR; MAX_LEVELS - 1];
        let (mut last, mut sum) = (0, 0.0);
        cuts[0] = 0.0;
        for gap in gaps.into_iter().take(MAX_GAPS) {
            last += 1;
            sum += gap;
            cuts[last] = sum;
        }
        Self {
            num_levels: last + 2,
            cuts,
        }
    }

    /// The levels at whose cut points z = 0 has these chances of each, all positive.
    pub fn with_shares(shares: &[f64]) -> Self {
        let log_odds = |below: &f64| below.ln() - (-below).ln_1p();
        let total: f64 = shares.iter().sum();
        let below = shares.iter().scan(0.0, |sum, share| {
            *sum += share / total;
            Some(*sum)
        });
        let below: Vec<f64> = below.take(shares.len().saturating_sub(1)).collect();
        Self::with_gaps(
            below
                .windows(2)
                .map(|pair| log_odds(&pair[1]) - log_odds(&pair[0])),
        )
    }

    /// K.
    pub fn num_levels(&self) -> usize {
        self.num_levels
    }

    /// Cut points (K − 1), the first of which is 0.
    pub fn cuts(&self) -> &[f64] {
        &self.cuts[..self.num_levels - 1]
    }

    /// The probability of each of the K levels at z.
    pub fn chances(self, z: f64) -> impl Iterator<Item = f64> {
        (1..=self.num_levels).map(move |level| self.at(z, level as f64, 1.0).log_p.exp())
    }

    /// Cut points below and above level `y`, less z.
    fn around(&self, z: f64, level: usize) -> [f64; 2] {
        let cut = |k: usize| self.cuts[k] - z;
        let below = match level > 1 {
            true => cut(level - 2),
            false => f64::NEG_INFINITY,
        };
        let above = match level < self.num_levels {
            true => cut(level - 1),
            false => f64::INFINITY,
        };
        [below, above]
    }
}

impl Distribution for Outcome {
    const START: Self = {
        let mut cuts = [FAR; MAX_LEVELS - 1];
        cuts[0] = 0.0;
        cuts[1] = 1.0;
        Self {
            num_levels: 3,
            cuts,
        }
    };

    fn draw(self, z: f64, _known: f64, rng: &mut ChainRng) -> f64 {
        let share: f64 = rng.random();
        let latent = z + share.ln() - (-share).ln_1p();
        (1 + self.cuts().iter().filter(|&&cut| cut < latent).count()) as f64
    }

    fn at(self, z: f64, y: f64, _known: f64) -> Derivatives {
        let level = y as usize;
        if y.fract() != 0.0 || !(1..=self.num_levels).contains(&level) {
            return Derivatives {
                log_p: f64::NEG_INFINITY,
                score: 0.0,
                weight: 0.0,
                slope: 0.0,
            };
        }
        let [below, above] = self.around(z, level);
        let weight = |t: f64| logistic(t) * logistic(-t);
        let slope = |t: f64| weight(t) * (logistic(-t) - logistic(t));
        Derivatives {
            log_p: -softplus(-above) - softplus(below) + (-(below - above).exp_m1()).ln(),
            score: logistic(below) - logistic(-above),
            weight: weight(above) + weight(below),
            slope: -(slope(above) + slope(below)),
        }
    }

    fn variance(self, z: f64, _known: f64) -> f64 {
        let mean = self.mean(z, Link::Identity);
        let square = |(chance, level): (f64, i32)| chance * (f64::from(level) - mean).powi(2);
        self.chances(z).zip(1..).map(square).sum()
    }

    fn constant(self, _y: f64, _known: f64) -> f64 {
        0.0
    }

    fn num_coordinates(self) -> usize {
        self.num_levels - 2
    }

    fn all_coordinates(self) -> Vec<f64> {
        let gaps = self.cuts().windows(2).map(|pair| (pair[1] - pair[0]).ln());
        gaps.collect()
    }

    fn with_all_coordinates(self, at: &[f64]) -> Self {
        Self::with_gaps(at.iter().map(|log_gap| log_gap.exp()))
    }

    fn in_all_coordinates(self, z: f64, y: f64, _known: f64, out: &mut [[f64; 3]]) {
        let level = y as usize;
        let [below, above] = self.around(z, level);
        let weight = |t: f64| logistic(t) * logistic(-t);
        let slope = |t: f64| weight(t) * (logistic(-t) - logistic(t));
        let both = weight(below) + weight(above);
        let score = logistic(below) - logistic(-above);
        for (i, out) in out.iter_mut().enumerate() {
            let gap = self.cuts[i + 1] - self.cuts[i];
            *out = match (i + 2).cmp(&level) {
                // Both cut points of the row move with the gap, as if z fell.
                Ordering::Less => [
                    -gap * score,
                    gap * both,
                    gap * (slope(below) + slope(above)),
                ],
                Ordering::Equal => {
                    let ratio = if gap > 0.0 { gap / gap.exp_m1() } else { 1.0 };
                    let upper = weight(above);
                    [
                        gap * logistic(-above) + ratio,
                        gap * upper,
                        gap * slope(above),
                    ]
                }
                Ordering::Greater => [0.0; 3],
            };
        }
    }

    /// The expected level: 1 and, for each cut point, the probability of being above it.
    fn mean(self, z: f64, _link: Link) -> f64 {
        1.0 + self.cuts().iter().map(|cut| logistic(z - cut)).sum::<f64>()
    }

    fn mean_slope(self, z: f64, _link: Link) -> f64 {
        let slope = |cut: &f64| logistic(z - cut) * logistic(cut - z);
        self.cuts().iter().map(slope).sum()
    }
}

/// Rows with offset, level and weight after the covariates.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    num_gaps: usize,
}

/// What rows share: by level, from 1, and by gap.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    num_gaps: usize,
    gaps: [f64; MAX_GAPS],
    /// Below and above each level.
    around: [[f64; 2]; MAX_LEVELS + 1],
    /// Of the gap between these: g, log(1 − e^−g) and r; 0 where there is none.
    own: [[f64; 3]; MAX_LEVELS + 1],
}

impl Cuts {
    fn new(log_gaps: &[f64]) -> Self {
        let num_gaps = log_gaps.len();
        let mut gaps = [0.0; MAX_GAPS];
        let mut around = [[-FAR, FAR]; MAX_LEVELS + 1];
        let mut own = [[0.0; 3]; MAX_LEVELS + 1];
        let mut cut = 0.0;
        around[1][1] = cut;
        for (i, log_gap) in log_gaps.iter().enumerate() {
            let gap = log_gap.exp();
            gaps[i] = gap;
            around[i + 2] = [cut, cut + gap];
            let ratio = if gap > 0.0 { gap / gap.exp_m1() } else { 1.0 };
            own[i + 2] = [gap, (-(-gap).exp_m1()).ln(), ratio];
            cut += gap;
        }
        around[num_gaps + 2][0] = cut;
        Self {
            num_gaps,
            gaps,
            around,
            own,
        }
    }
}

/// Eight rows at their linear predictors.
struct Eight {
    /// σ(l), σ(−u).
    tails: [Lane; 2],
    /// w_l, w_u.
    weights: [Lane; 2],
    /// log σ(−l) + log σ(u).
    log_p: Lane,
    /// Of each row's own gap.
    own: [Lane; 3],
}

impl Eight {
    #[inline(always)]
    fn new<A: Arithmetic, const VALUE: bool>(z: &Lane, y: &Lane, of: &Cuts) -> Self {
        let mut sides = [[0.0; LANES]; 2];
        let mut own = [[0.0; LANES]; 3];
        for k in 0..LANES {
            let level = (y[k] as usize).min(MAX_LEVELS);
            let [below, above] = of.around[level];
            // Both so that the row's chance is that of neither: l and −u.
            sides[0][k] = below - z[k];
            sides[1][k] = z[k] - above;
            for m in 0..3 {
                own[m][k] = of.own[level][m];
            }
        }
        let mut out = Self {
            tails: [[0.0; LANES]; 2],
            weights: [[0.0; LANES]; 2],
            log_p: [0.0; LANES],
            own,
        };
        for (s, side) in sides.iter().enumerate() {
            let e = exp_minus_abs::<A>(side);
            for k in 0..LANES {
                let share = 1.0 / (1.0 + e[k]);
                out.tails[s][k] = if side[k] >= 0.0 { share } else { e[k] * share };
                out.weights[s][k] = e[k] * share * share;
            }
            if VALUE {
                let log = ln_1p::<A>(&e);
                for k in 0..LANES {
                    out.log_p[k] -= side[k].max(0.0) + log[k];
                }
            }
        }
        out
    }
}

impl RowFamily for Levels {
    const EXTRA: usize = 3;
    const LOG_CONCAVE: bool = true;
    type Aux = GapAux;
    type Shared = Cuts;

    #[inline(always)]
    fn num_aux(&self) -> usize {
        self.num_gaps
    }

    fn shared(&self, aux: &[f64]) -> Cuts {
        Cuts::new(&aux[..self.num_gaps])
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [_offset, y, weight, _]: [&Lane; 4],
        of: &Cuts,
    ) -> TermsWith<GapAux> {
        let rows = Eight::new::<A, VALUE>(z, y, of);
        let mut out = TermsWith::<GapAux> {
            factor: [1.0; LANES],
            ..TermsWith::default()
        };
        let mut own_slope = [0.0; LANES];
        for k in 0..LANES {
            let [below, above] = [rows.tails[0][k], rows.tails[1][k]];
            out.residual[k] = weight[k] * (below - above);
            own_slope[k] = weight[k] * A::mul_add(rows.own[0][k], above, rows.own[2][k]);
            if VALUE {
                out.sum[k] = weight[k] * (rows.log_p[k] + rows.own[1][k]);
            }
        }
        let aux = out.aux.lanes_mut();
        for i in 0..of.num_gaps {
            // The gap is the own one of this level, and below both cut points of higher ones.
            let level = (i + 2) as f64;
            for k in 0..LANES {
                let below = if y[k] > level {
                    -of.gaps[i] * out.residual[k]
                } else {
                    0.0
                };
                aux[i][k] = if y[k] == level { own_slope[k] } else { below };
            }
        }
        out
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [_offset, y, weight, _]: [&Lane; 4],
        of: &Cuts,
    ) -> CurvatureWith<GapAux> {
        let rows = Eight::new::<A, false>(z, y, of);
        let mut out = CurvatureWith::<GapAux>::default();
        for k in 0..LANES {
            let [below, above] = [rows.tails[0][k], rows.tails[1][k]];
            let upper = rows.weights[1][k];
            let both = rows.weights[0][k] + upper;
            let [own, _, ratio] = [rows.own[0][k], rows.own[1][k], rows.own[2][k]];
            out.zz[k] = weight[k] * both;
            // Gaps with a part in the row: those below, and then its own where it has one.
            let level = (y[k] as usize).min(of.num_gaps + 2);
            let num_below = level.saturating_sub(2);
            for i in 0..num_below {
                out.za[i][k] = -weight[k] * of.gaps[i] * both;
                for j in 0..=i {
                    let mut value = of.gaps[i] * of.gaps[j] * both;
                    if i == j {
                        value += of.gaps[i] * (below - above);
                    }
                    out.aa[i * (i + 1) / 2 + j][k] = weight[k] * value;
                }
            }
            if (2..of.num_gaps + 2).contains(&level) {
                let i = level - 2;
                out.za[i][k] = -weight[k] * own * upper;
                for j in 0..i {
                    out.aa[i * (i + 1) / 2 + j][k] = weight[k] * own * of.gaps[j] * upper;
                }
                let bend = own * (own * upper - above) + ratio * (ratio + own - 1.0);
                out.aa[i * (i + 1) / 2 + i][k] = weight[k] * bend;
            }
        }
        out
    }

    fn bounds(extra: &[f64]) -> [f64; 2] {
        [extra[2], 0.5 * extra[2]]
    }

    fn outcome(&self, of: &Cuts) -> super::Outcome {
        super::Outcome::Ordered(Outcome::with_gaps(of.gaps[..of.num_gaps].iter().copied()))
    }
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<Levels>, FamilyError> {
    Ok(FamilyRows {
        family: Levels {
            num_gaps: design.response.levels().len().saturating_sub(2),
        },
        data: rows_with(design, |i| {
            [
                value_or(&design.offset, i, 0.0),
                design.y[i],
                value_or(&design.weights, i, 1.0),
            ]
        }),
        response: ResponseScale::LINK,
    })
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    let levels = design.response.levels();
    let (k, all) = (levels.len(), levels.join(" < "));
    let quoted_name = quote_name(name);
    let texts: Vec<String> = levels.iter().map(|level| quoted(level)).collect();
    Notation {
        predicted: format!("The place of `{name}` on a scale without unit"),
        given: format!(
            "The {k} levels of `{name}` are in order, {all}, and between each two neighbours there is a cut point: the log odds of \
             a level above it are that place less the cut point."
        ),
        response: vec![
            format!("{name}[i] ~ ordered_logistic(eta[i], cut)"),
            format!(
                "Pr({name}[i] <= k) = logistic(cut[k] - eta[i]), k = 1 … {}",
                k.saturating_sub(1)
            ),
        ],
        stan_data: vec![format!(
            "array[N] int<lower=1, upper={k}> y;  // {}",
            comment(&all)
        )],
        stan_functions: Vec::new(),
        stan_density: "ordered_logistic",
        stan_arguments: vec!["eta[]".to_owned(), "cut".to_owned()],
        r_response: vec![format!(
            "data${quoted_name} <- factor(data${quoted_name}, levels = c({}), ordered = TRUE)",
            texts.join(", ")
        )],
        brms_family: "cumulative(\"logit\")",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_differences_of_logistic_functions_and_their_mean_is_the_expected_level() {
        let outcome = Outcome::with_gaps([0.4, 1e-7, 2.5]);
        assert_eq!(outcome.num_levels(), 5);
        for z in [-40.0, -1.3, 0.2, 2.0, 30.0] {
            let below = |k: usize| match k {
                0 => 0.0,
                5 => 1.0,
                k => logistic(outcome.cuts()[k - 1] - z),
            };
            let chances: Vec<f64> = outcome.chances(z).collect();
            for (k, chance) in chances.iter().enumerate() {
                let plain = below(k + 1) - below(k);
                assert!((chance - plain).abs() < 1e-14, "{z} {k}: {chance} {plain}");
            }
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-13, "{z}");
            let mean: f64 = (chances.iter().zip(1..))
                .map(|(p, k)| p * f64::from(k))
                .sum();
            assert!((mean - outcome.mean(z, Link::Logit)).abs() < 1e-12, "{z}");
            let step = 1e-5;
            let at = |z: f64| outcome.mean(z, Link::Logit);
            let slope = (at(z + step) - at(z - step)) / (2.0 * step);
            assert!(
                (slope - outcome.mean_slope(z, Link::Logit)).abs() < 1e-8,
                "{z}"
            );
        }
        // Far out nothing is lost: log σ(u) of the lowest level.
        assert!((outcome.at(800.0, 1.0, 1.0).log_p + 800.0).abs() < 1e-10);
        for y in [0.0, 6.0, 1.5] {
            assert_eq!(outcome.at(0.3, y, 1.0).log_p, f64::NEG_INFINITY);
        }
    }

    /// More gaps than a vector has lanes: rows against the density, in value, gradient and curvature.
    #[test]
    fn rows_of_the_most_levels_agree_with_differences() {
        use crate::numerics::arithmetic::Separate;
        let family = Levels { num_gaps: MAX_GAPS };
        let log_gaps: Vec<f64> = (0..MAX_GAPS).map(|i| -1.5 + 0.1 * i as f64).collect();
        let weight = [1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0, 1.0];
        let step = 1e-5;
        for first in [1, 7, 13] {
            let mut y = [0.0; LANES];
            let mut z = [0.0; LANES];
            for k in 0..LANES {
                y[k] = (first + k) as f64;
                z[k] = -1.0 + 0.7 * k as f64;
            }
            let extra = [&[0.0; LANES], &y, &weight, &[0.0; LANES]];
            let terms = |z: &Lane, gaps: &[f64]| {
                Levels::terms::<Separate, true>(z, extra, &family.shared(gaps))
            };
            let here = terms(&z, &log_gaps);
            let bend = Levels::curvature::<Separate>(&z, extra, &family.shared(&log_gaps));
            let outcome = Outcome::with_gaps(log_gaps.iter().map(|a| a.exp()));
            for k in 0..LANES {
                let d = outcome.at(z[k], y[k], 1.0);
                assert!((here.sum[k] - weight[k] * d.log_p).abs() < 1e-12);
                assert!((here.residual[k] - weight[k] * d.score).abs() < 1e-14);
                assert!((bend.zz[k] - weight[k] * d.weight).abs() < 1e-14);
            }
            for i in 0..MAX_GAPS {
                let moved = |by: f64| {
                    let mut gaps = log_gaps.clone();
                    gaps[i] += by;
                    terms(&z, &gaps)
                };
                let (up, down) = (moved(step), moved(-step));
                for k in 0..LANES {
                    let slope = |of: &dyn Fn(&TermsWith<GapAux>) -> f64| {
                        (of(&up) - of(&down)) / (2.0 * step)
                    };
                    let near = |a: f64, b: f64| (a - b).abs() < 1e-8;
                    assert!(near(here.aux[i][k], slope(&|it| it.sum[k])), "{i} {k}");
                    assert!(near(bend.za[i][k], -slope(&|it| it.residual[k])), "{i} {k}");
                    for j in 0..=i {
                        let exact = bend.aa[i * (i + 1) / 2 + j][k];
                        assert!(near(exact, -slope(&|it| it.aux[j][k])), "{i} {j} {k}");
                    }
                }
            }
        }
    }
}
