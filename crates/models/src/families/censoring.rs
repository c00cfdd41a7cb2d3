//! Outcomes that are known only to be larger or smaller than a value, of families whose log y has a location and a scale.
//!
//! With a the logarithm of the family's parameter there is v(z, a, log y) with a distribution that knows neither z nor a, and v grows
//! with y: of an outcome that was seen log p = g(v) + log|∂v/∂z| − log y with g the log density of v; of one that is censored log p is
//! g(v) with g the log chance of what is above v, or below (Klein and Moeschberger 2003, Survival Analysis, section 3.5).
//! v is linear in z, so that with the derivatives g', g'', g''' of g in v:
//!
//! ```text
//! ∂/∂z = v_z g'        −∂²/∂z² = −v_z² g''               −∂³/∂z³ = −v_z³ g'''
//! ∂/∂a = v_a g'        −∂²/∂z∂a = −(v_za g' + v_z v_a g'')   −∂²/∂a² = −(v_aa g' + v_a² g'')
//! ```
//!
//! and where the outcome was seen v_za/v_z more in ∂/∂a, which is 1 or −1 whatever z and a. A row of weight w counts as w rows.

use std::f64::consts::{SQRT_2, TAU};

use super::notation::Notation;
use super::rows::{
    Curvature, FamilyRows, FewAux, LANES, Lane, ResponseScale, RowFamily, Terms, rows_with,
    value_or,
};
use super::{Derivatives, Outcome};
use crate::design::Design;
use crate::design::censoring::Censoring;
use crate::numerics::arithmetic::Arithmetic;
use ergodic_base::special::scaled_erfc;

/// v of a row and its derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// v.
    pub v: f64,
    /// ∂v/∂z.
    pub z: f64,
    /// ∂v/∂a.
    pub a: f64,
    /// ∂²v/∂z∂a.
    pub za: f64,
    /// ∂²v/∂a².
    pub aa: f64,
}

/// What rows of a family share whose log y has a location and a scale.
pub trait LogScale: Copy + Send + Sync {
    /// Where a row stands with its linear predictor.
    fn place(&self, z: f64, log_y: f64) -> Place;
    /// g and three derivatives of it at v.
    fn tail(v: f64, status: Censoring) -> [f64; 4];
}

/// log p of a row that is censored, and derivatives in z.
pub(super) fn derivatives<S: LogScale>(of: &S, z: f64, y: f64, status: Censoring) -> Derivatives {
    let place = of.place(z, y.ln());
    let [g, first, second, third] = S::tail(place.v, status);
    Derivatives {
        log_p: g,
        score: place.z * first,
        weight: -place.z * place.z * second,
        slope: -place.z.powi(3) * third,
    }
}

/// Derivatives in a of log p, score and weight of a row that is censored.
pub(super) fn in_coordinate<S: LogScale>(of: &S, z: f64, y: f64, status: Censoring) -> [f64; 3] {
    let place = of.place(z, y.ln());
    let [_, first, second, third] = S::tail(place.v, status);
    [
        place.a * first,
        place.za * first + place.z * place.a * second,
        -place.z * (2.0 * place.za * second + place.z * place.a * third),
    ]
}

/// Of a standard normal v: log p with three derivatives.
pub(super) fn normal_tail(v: f64, status: Censoring) -> [f64; 4] {
    let side = match status {
        Censoring::Seen => return [-0.5 * (v * v + TAU.ln()), -v, -1.0, 0.0],
        Censoring::Left => 1.0,
        Censoring::Right => -1.0,
    };
    let NormalTail {
        log_p,
        hazard,
        above,
    } = NormalTail::below(side * v);
    let bend = hazard * above;
    [
        log_p,
        side * hazard,
        -bend,
        side * (bend * above - hazard * (1.0 - bend)),
    ]
}

/// Where the chance below t, or above −t, is computed by a continued fraction, and how many terms of it are enough there for all
/// digits.
const FAR: (f64, u32) = (-5.0, 24);

/// What is below t under a standard normal density φ with distribution function Φ.
struct NormalTail {
    /// log Φ(t).
    log_p: f64,
    /// φ(t)/Φ(t).
    hazard: f64,
    /// t + φ(t)/Φ(t).
    above: f64,
}

impl NormalTail {
    fn below(t: f64) -> Self {
        let log_density = -0.5 * (t * t + TAU.ln());
        if t >= 0.0 {
            let above = match t > -FAR.0 {
                true => log_density.exp() / (t + Self::rest(t)),
                false => 0.5 * (-0.5 * t * t).exp() * scaled_erfc(t / SQRT_2),
            };
            let hazard = log_density.exp() / (1.0 - above);
            return Self {
                log_p: (-above).ln_1p(),
                hazard,
                above: t + hazard,
            };
        }
        if t > FAR.0 {
            let scaled = 0.5 * scaled_erfc(-t / SQRT_2);
            let hazard = 1.0 / (TAU.sqrt() * scaled);
            return Self {
                log_p: scaled.ln() - 0.5 * t * t,
                hazard,
                above: t + hazard,
            };
        }
        // φ/Φ = x + 1/(x + 2/(x + 3/(x + …))) with x = −t (Laplace; Abramowitz and Stegun 26.2.14).
        let above = Self::rest(-t);
        Self {
            log_p: log_density - (above - t).ln(),
            hazard: above - t,
            above,
        }
    }

    /// What φ(x)/Φ(−x) is more than x.
    fn rest(x: f64) -> f64 {
        let terms = (1..=FAR.1).rev();
        terms.fold(0.0, |rest, k| f64::from(k) / (x + rest))
    }
}

/// Rows of `F`, some of them censored: offset, status, weight and log y after the covariates.
#[derive(Clone, Copy, Debug)]
pub struct Censored<F>(F);

impl<F: RowFamily> RowFamily for Censored<F>
where
    F::Shared: LogScale,
{
    type Aux = FewAux;
    const EXTRA: usize = 4;
    const AUX: usize = 1;
    const LOG_CONCAVE: bool = F::LOG_CONCAVE;
    type Shared = F::Shared;

    fn shared(&self, aux: &[f64]) -> Self::Shared {
        self.0.shared(aux)
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [_offset, status, weight, log_y]: [&Lane; 4],
        of: &Self::Shared,
    ) -> Terms {
        let (mut residual, mut aux, mut sum) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            let place = of.place(z[k], log_y[k]);
            let status = Censoring::of(status[k]);
            let [g, first, ..] = F::Shared::tail(place.v, status);
            let (slope, constant) = match status {
                Censoring::Seen => (place.za / place.z, place.z.abs().ln() - log_y[k]),
                Censoring::Right | Censoring::Left => (0.0, 0.0),
            };
            residual[k] = weight[k] * place.z * first;
            aux[k] = weight[k] * (place.a * first + slope);
            if VALUE {
                sum[k] = weight[k] * (g + constant);
            }
        }
        Terms::of_one(residual, aux, sum)
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [_offset, status, weight, log_y]: [&Lane; 4],
        of: &Self::Shared,
    ) -> Curvature {
        let mut out = Curvature::default();
        for k in 0..LANES {
            let place = of.place(z[k], log_y[k]);
            let [_, first, second, _] = F::Shared::tail(place.v, Censoring::of(status[k]));
            let weight = -weight[k];
            out.zz[k] = weight * place.z * place.z * second;
            out.za[0][k] = weight * (place.za * first + place.z * place.a * second);
            out.aa[0][k] = weight * (place.aa * first + place.a * place.a * second);
        }
        out
    }

    fn outcome(&self, of: &Self::Shared) -> Outcome {
        self.0.outcome(of)
    }
}

/// Rows of `family`, some of them censored.
pub(super) fn rows<F>(family: F, design: &Design) -> FamilyRows<Censored<F>> {
    FamilyRows {
        family: Censored(family),
        data: rows_with(design, |i| {
            let weight = value_or(&design.weights, i, 1.0);
            let offset = value_or(&design.offset, i, 0.0);
            [offset, design.known(i), weight, design.y[i].ln()]
        }),
        response: ResponseScale::log_of(design),
    }
}

/// The notation of a family whose density of Stan is `density` with two arguments, of rows that may be censored.
pub(super) fn notation(
    design: &Design,
    density: &str,
    censored: &'static str,
    own: Notation,
) -> Notation {
    if design.censoring.is_none() {
        return own;
    }
    let Notation {
        given,
        mut response,
        mut stan_data,
        mut stan_arguments,
        ..
    } = own;
    response.push(
        "a censored row has the chance of what is above the value, or below it, in place of the density"
            .to_owned(),
    );
    stan_data.push(
        "array[N] int<lower=-1, upper=1> status;  // 0: y was seen; 1: it is larger; -1: it is smaller"
            .to_owned(),
    );
    stan_arguments.push("status[]".to_owned());
    let branch = |status: i32, end: &str| {
        [
            format!("  if (status == {status}) {{"),
            format!("    return {density}_{end}(y | a, b);"),
            "  }".to_owned(),
        ]
    };
    let mut function = vec![format!(
        "real {censored}_lpdf(real y, real a, real b, int status) {{"
    )];
    function.extend(branch(1, "lccdf").into_iter().chain(branch(-1, "lcdf")));
    function.push(format!("  return {density}_lpdf(y | a, b);"));
    function.push("}".to_owned());
    Notation {
        given: format!("{given} A censored row says only that it is larger, or smaller."),
        response,
        stan_data,
        stan_functions: function,
        stan_density: censored,
        stan_arguments,
        ..own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// log Φ and φ/Φ as R 4.2 has them, `pnorm(t, log.p = TRUE)`.
    #[test]
    fn normal_tails_have_all_digits() {
        for (t, log_p, hazard) in [
            (2.5, -0.006_229_025_485_860_002, 0.017_637_825_486_916_725),
            (-2.0, -3.783_184_333_682_031_7, 2.373_215_532_822_84),
            (-7.0, -27.384_307_498_811_076, 7.137_545_613_226_497),
            (-40.0, -804.608_442_013_753_8, 40.024_968_847_206_34),
        ] {
            let tail = NormalTail::below(t);
            assert!(
                (tail.log_p / log_p - 1.0).abs() < 1e-13,
                "{t} {}",
                tail.log_p
            );
            assert!(
                (tail.hazard / hazard - 1.0).abs() < 1e-13,
                "{t} {}",
                tail.hazard
            );
            // R's hazard is the exponential of a difference of logarithms: far out its last digits are not what is above.
            assert!(
                ((tail.above - t) / hazard - 1.0).abs() < 1e-13,
                "{t} {}",
                tail.above
            );
        }
        // Both ways at the place where they meet.
        let [near, far] = [FAR.0 + 1e-12, FAR.0].map(NormalTail::below);
        for (a, b) in [
            (near.log_p, far.log_p),
            (near.hazard, far.hazard),
            (near.above, far.above),
        ] {
            assert!((a / b - 1.0).abs() < 1e-11, "{a} {b}");
        }
        let tail = NormalTail::below(-1e8);
        assert!((tail.above * 1e8 - 1.0).abs() < 1e-15);
    }
}
