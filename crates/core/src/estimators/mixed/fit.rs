//! What a likelihood fit found, for tables, plots and files.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::Serialize;
use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;

use super::covariance::{Variation, product_with_transpose};
use super::data::MixedData;
use super::mcem::MonteCarlo;
use super::remark::{Edge, Remark};
use crate::families::{Auxiliary, Family, Outcome, ordered};
use ergodic_base::Warning;

/// How a mixed model is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Quasi-Newton on the profiled deviance.
    Profile,
    /// Expectation maximisation.
    Em,
    /// EM, accelerated.
    Squarem,
    /// Laplace's approximation.
    Laplace,
    /// Adaptive Gauss-Hermite quadrature.
    Aghq,
    /// Gauss-Hermite quadrature around 0.
    Ghq,
    /// Averages over random draws.
    MonteCarlo,
    /// EM, its expectations by adaptive quadrature.
    EmAghq,
    /// EM, its expectations by Laplace's approximation.
    EmLaplace,
    /// Monte Carlo EM.
    Mcem,
}

/// What a method is, for lists and forms.
#[derive(Clone, Copy, Debug)]
pub struct MethodSpec {
    /// The method.
    pub method: Method,
    /// Identifier on the command line.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Where the method comes from.
    pub cite: &'static str,
}

/// All methods; the first that suits a family is its default.
pub static METHODS: &[MethodSpec] = &[
    MethodSpec {
        method: Method::Profile,
        id: "profile",
        title: "Profiled likelihood",
        about: "Quasi-Newton on the profiled ML or REML deviance with its exact gradient, least squares without group terms; for Gaussian \
                outcomes",
        cite: "Bates, Mächler, Bolker and Walker (2015), Journal of Statistical Software 67",
    },
    MethodSpec {
        method: Method::Em,
        id: "em",
        title: "EM",
        about: "Expectation maximisation of the likelihood, many cheap steps; for Gaussian outcomes, ML only",
        cite: "Dempster, Laird and Rubin (1977), Journal of the Royal Statistical Society B 39",
    },
    MethodSpec {
        method: Method::Squarem,
        id: "squarem",
        title: "SQUAREM",
        about: "EM with squared extrapolation: the same answer in far fewer steps; for Gaussian outcomes, ML only",
        cite: "Varadhan and Roland (2008), Scandinavian Journal of Statistics 35",
    },
    MethodSpec {
        method: Method::Laplace,
        id: "laplace",
        title: "Laplace",
        about: "Quasi-Newton on Laplace's approximation of the likelihood, exact without group terms; for yes-no outcomes, counts, positive \
                numbers and ordered levels",
        cite: "Breslow and Clayton (1993), Journal of the American Statistical Association 88",
    },
    MethodSpec {
        method: Method::Aghq,
        id: "aghq",
        title: "Adaptive Gauss-Hermite quadrature",
        about: "The likelihood by quadrature around each group's mode, in as many directions as effects vary; for yes-no outcomes, \
                counts, positive numbers and ordered levels, one grouping factor",
        cite: "Pinheiro and Bates (1995), Journal of Computational and Graphical Statistics 4",
    },
    MethodSpec {
        method: Method::Ghq,
        id: "ghq",
        title: "Gauss-Hermite quadrature",
        about: "The likelihood by quadrature around 0, whose nodes stay where they are: to see what adapting them brings; reaches as far \
                as `aghq`, but needs more nodes where groups have many rows",
        cite: "El Hanchi, report, 2018, section 3.3; Tuerlinckx, Rijmen, Verbeke and De Boeck (2006), British Journal of Mathematical and \
               Statistical Psychology 59",
    },
    MethodSpec {
        method: Method::MonteCarlo,
        id: "monte-carlo",
        title: "Monte Carlo likelihood",
        about: "The likelihood as averages over draws of each group's effects, from the normal approximation around their mode and from \
                their own distribution, with the Monte Carlo error of the log likelihood; for many effects per group, one grouping factor",
        cite: "El Hanchi, report, 2018, section 3.3; Hesterberg (1995), Technometrics 37",
    },
    MethodSpec {
        method: Method::EmAghq,
        id: "em-aghq",
        title: "EM by quadrature",
        about: "EM whose expectations are sums over the nodes of adaptive quadrature, with squared extrapolation: where `aghq` arrives, \
                without derivatives; one grouping factor",
        cite: "El Hanchi, report, 2018, section 3.3; Varadhan and Roland (2008), Scandinavian Journal of Statistics 35",
    },
    MethodSpec {
        method: Method::EmLaplace,
        id: "em-laplace",
        title: "EM by Laplace",
        about: "EM whose expectations are taken by Laplace's approximation, with squared extrapolation: where `laplace` arrives; for \
                any group terms",
        cite: "El Hanchi, report, 2018, section 3.3; Steele (1996), Biometrics 52",
    },
    MethodSpec {
        method: Method::Mcem,
        id: "mcem",
        title: "Monte Carlo EM",
        about: "EM whose expectations are averages of effects drawn by stochastic gradient Fisher scoring, with \
                their Monte Carlo errors; for yes-no outcomes, counts and positive numbers in groups of many rows",
        cite: "Booth and Hobert (1999), JRSS B 61; El Hanchi, report, 2018, section 3.3",
    },
];

impl Method {
    /// Description of the method.
    pub fn spec(self) -> &'static MethodSpec {
        METHODS
            .iter()
            .find(|spec| spec.method == self)
            .unwrap_or(&METHODS[0])
    }

    /// The method called `id`.
    pub fn find(id: &str) -> Option<Self> {
        METHODS
            .iter()
            .find(|spec| spec.id == id)
            .map(|spec| spec.method)
    }
}

/// A fixed effect.
#[derive(Clone, Debug, Serialize)]
pub struct FixedEffect {
    /// Column.
    pub name: String,
    /// Estimate on the scale of the column as it is.
    pub estimate: f64,
    /// Standard error.
    pub se: f64,
    /// Degrees of freedom of its t ratio by Satterthwaite's method, for Gaussian responses; `None` for others, and where the
    /// likelihood is too flat to tell.
    pub df: Option<f64>,
}

impl FixedEffect {
    /// Chance of a ratio as large in size where the coefficient is 0: of a t distribution where its degrees of freedom are known,
    /// of a normal one elsewhere. NaN where there is no ratio.
    pub fn p_value(&self) -> f64 {
        let z = self.z().abs();
        if z.is_nan() {
            return f64::NAN;
        }
        match self.df {
            Some(df) => beta_reg(0.5 * df, 0.5, df / (df + z * z)),
            None => erfc(z * FRAC_1_SQRT_2),
        }
    }

    /// Estimate in standard errors.
    pub fn z(&self) -> f64 {
        self.estimate / self.se
    }
}

/// The variation of the effects of one group term.
#[derive(Clone, Debug, Serialize)]
pub struct VarianceComponent {
    /// Grouping factor.
    pub group: String,
    /// Number of groups.
    pub num_groups: usize,
    /// q names.
    pub names: Vec<String>,
    /// q standard deviations.
    pub sd: Vec<f64>,
    /// q×q correlations, row-major; NaN where there is none.
    pub correlation: Vec<f64>,
    /// Whether correlations were estimated.
    pub correlated: bool,
    /// Share of the variance around the fixed effects that this term explains, averaged over rows; absent where the
    /// residual variance has no scale in common with the effects.
    pub icc: Option<f64>,
}

/// Effects of the groups of one term.
#[derive(Clone, Debug, Serialize)]
pub struct GroupEffects {
    /// Grouping factor.
    pub group: String,
    /// q names.
    pub names: Vec<String>,
    /// Groups.
    pub levels: Vec<String>,
    /// Conditional modes, groups × q, row-major.
    pub mode: Vec<f64>,
    /// Conditional standard deviations given the estimates, groups × q.
    pub sd: Vec<f64>,
}

/// What bends a smooth curve.
#[derive(Clone, Debug, Serialize)]
pub struct FittedCurve {
    /// The curve: `s(age)`. Its straight line is the fixed effect of this name.
    pub name: String,
    /// The variable that the curve goes along: `age`.
    pub along: String,
    /// Standard deviation of the curve around its straight line.
    pub sd: f64,
    /// Coefficients of the functions that bend it.
    pub bends: Vec<f64>,
    /// Conditional standard deviations of these given the estimates.
    pub bend_sds: Vec<f64>,
}

/// A fitted mixed model.
#[derive(Clone, Debug, Serialize)]
pub struct MixedFit {
    /// Method.
    pub method: Method,
    /// Family of the response.
    pub family: Family,
    /// What was optimised: `ML`, `REML`, `Laplace`, `AGHQ with 9 nodes`.
    pub criterion: String,
    /// n.
    pub num_obs: usize,
    /// Fixed effects in the order of the columns; see [`Self::coefficients`] for one per column.
    pub fixed: Vec<FixedEffect>,
    /// Cut points between neighbours of ordered levels, named `low|mid`; of other responses none. The log odds of `low` or lower are
    /// the cut point less the linear predictor, and there is no intercept among the fixed effects.
    pub cuts: Vec<FixedEffect>,
    /// Covariance of the fixed effects and then the cut points, square, row-major.
    pub covariance: Vec<f64>,
    /// One per group term.
    pub components: Vec<VarianceComponent>,
    /// One per smooth curve.
    pub curves: Vec<FittedCurve>,
    /// Residual standard deviation of a Gaussian response.
    pub sigma: Option<f64>,
    /// The parameters that a response of another family has besides its linear predictor; [`Self::parameters`] names them.
    pub auxiliaries: Vec<f64>,
    /// One per group term.
    pub effects: Vec<GroupEffects>,
    /// Log likelihood, restricted for REML.
    pub log_lik: f64,
    /// Monte Carlo standard error of the log likelihood, where it is an average over draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_lik_error: Option<f64>,
    /// Number of parameters, variances and correlations included.
    pub num_params: usize,
    /// −2 log_lik + 2 num_params.
    pub aic: f64,
    /// −2 log_lik + num_params log n.
    pub bic: f64,
    /// Free entries of the relative covariance factors.
    pub theta: Vec<f64>,
    /// Iterations of the optimiser.
    pub iterations: u64,
    /// Evaluations of the likelihood.
    pub evaluations: u64,
    /// Deviance after each iteration of EM; empty for others.
    pub course: Vec<f64>,
    /// Monte Carlo errors of estimates, where there are random numbers in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monte_carlo: Option<MonteCarlo>,
    /// Linear predictor of each row with and without group effects, offsets included.
    #[serde(skip)]
    pub predictors: Predictors,
    /// What to know about the result.
    pub warnings: Vec<Warning>,
}

/// Linear predictors (n each), in the order of the data's rows.
#[derive(Clone, Debug, Default)]
pub struct Predictors {
    /// From fixed effects, smooth curves and offset alone.
    pub fixed: Vec<f64>,
    /// With group effects.
    pub with_groups: Vec<f64>,
}

impl MixedFit {
    /// −2 log likelihood.
    pub fn deviance(&self) -> f64 {
        -2.0 * self.log_lik
    }

    /// A number for each column, by which the linear predictor of a row is their sum: the intercept of ordered levels is their first
    /// cut point, the other way round.
    pub fn coefficients(&self) -> Vec<f64> {
        let intercept = self.cuts.first().map(|cut| -cut.estimate);
        let fixed = self.fixed.iter().map(|effect| effect.estimate);
        let bends = self.curves.iter().flat_map(|curve| &curve.bends);
        let all = intercept.into_iter().chain(fixed);
        all.chain(bends.copied()).collect()
    }

    /// The response at the estimates.
    pub fn outcome(&self) -> Outcome {
        if !self.cuts.is_empty() {
            let gaps = self.cuts.windows(2);
            let gaps = gaps.map(|pair| pair[1].estimate - pair[0].estimate);
            return Outcome::Ordered(ordered::Outcome::with_gaps(gaps));
        }
        let start = self.family.outcome();
        if let Some(sigma) = self.sigma {
            return start.scaled(sigma);
        }
        let mut at = start.coordinates();
        let auxiliaries = self.family.definition().auxiliaries.iter();
        for (at, (one, value)) in at.iter_mut().zip(auxiliaries.zip(&self.auxiliaries)) {
            *at = one.support.coordinate(*value);
        }
        start.with_coordinates(&at)
    }

    /// The parameters of the response besides its linear predictor.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static Auxiliary, f64)> {
        let values = self.sigma.iter().chain(&self.auxiliaries);
        let auxiliaries = self.family.definition().auxiliaries.iter();
        auxiliaries.zip(values.copied())
    }

    /// Monte Carlo errors in words, where there are some.
    pub fn monte_carlo_sentence(&self) -> Option<String> {
        let errors = self.monte_carlo.as_ref()?;
        let mut parts: Vec<String> = self
            .fixed
            .iter()
            .zip(&errors.fixed)
            .map(|(effect, error)| format!("{} {error:.2e}", effect.name))
            .collect();
        for (component, sds) in self.components.iter().zip(&errors.sd) {
            for (name, error) in component.names.iter().zip(sds) {
                parts.push(format!("sd of {name} by {} {error:.2e}", component.group));
            }
        }
        let parameters = self.parameters().zip(&errors.auxiliaries);
        parts.extend(parameters.map(|((one, _), error)| format!("{} {error:.2e}", one.name)));
        Some(format!(
            "Monte Carlo standard errors of the mean of the last {} iterations: {}",
            errors.averaged,
            parts.join(", ")
        ))
    }

    /// Whether a variance is 0 or a correlation ±1.
    pub fn is_singular(&self) -> bool {
        let mut remarks = self.warnings.iter().map(Warning::remark);
        remarks.any(|remark| matches!(remark, Some(Remark::Singular { .. })))
    }
}

/// Diagonal of Λ, relative to the root of its row, below which a covariance counts as singular; lme4 uses 1e-4.
pub(super) const SINGULAR_DIAGONAL: f64 = 1e-4;

/// Fixed effects and their covariance for columns as they are, from those of scaled columns; of what is in `covariance` beside
/// coefficients, covariances alone change.
pub(super) fn unscale(
    data: &MixedData,
    beta: &[f64],
    covariance: &[f64],
    shift: f64,
) -> (Vec<FixedEffect>, Vec<f64>) {
    let p = beta.len();
    let mut raw = vec![0.0; p];
    data.scaling.to_raw(beta, &mut raw);
    if data.scaling.has_intercept {
        raw[0] += shift;
    }
    let width = covariance.len().isqrt();
    // The map is linear: T Σ T', with T applied to the columns of Σ, then to those of the transpose.
    let apply = |matrix: &[f64]| {
        let mut out = vec![0.0; width * width];
        let (mut column, mut mapped) = (vec![0.0; width], vec![0.0; width]);
        for j in 0..width {
            for i in 0..width {
                column[i] = matrix[i * width + j];
            }
            data.scaling.to_raw(&column[..p], &mut mapped[..p]);
            mapped[p..].copy_from_slice(&column[p..]);
            // Transposed on the way.
            out[j * width..(j + 1) * width].copy_from_slice(&mapped);
        }
        out
    };
    let covariance = apply(&apply(covariance));
    let fixed = (0..p)
        .map(|j| FixedEffect {
            name: data.columns[j].clone(),
            estimate: raw[j],
            se: covariance[j * width + j].sqrt(),
            df: None,
        })
        .collect();
    (fixed, covariance)
}

/// Cut points of ordered levels, `cuts` those from the first, which is the intercept: takes the intercept out of `fixed`, and turns
/// the covariance of coefficients and logarithms of gaps into that of coefficients and cut points.
pub(super) fn cut_points(
    data: &MixedData,
    cuts: &[f64],
    fixed: &mut Vec<FixedEffect>,
    covariance: &mut [f64],
) -> Vec<FixedEffect> {
    let (p, width) = (fixed.len(), covariance.len().isqrt());
    let first = -fixed.remove(0).estimate;
    // Of coefficients after the intercept, then of cut points, in the coordinates that `covariance` has.
    let mut slopes = vec![0.0; width * width];
    for j in 1..p {
        slopes[(j - 1) * width + j] = 1.0;
    }
    for k in 0..cuts.len() {
        let line = &mut slopes[(p - 1 + k) * width..][..width];
        line[0] = -1.0;
        for (out, pair) in line[p..p + k].iter_mut().zip(cuts.windows(2)) {
            *out = pair[1] - pair[0];
        }
    }
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let lines = || slopes.chunks_exact(width);
    let half: Vec<f64> = lines()
        .flat_map(|slopes| {
            covariance
                .chunks_exact(width)
                .map(|line| product(slopes, line))
        })
        .collect();
    let whole = half
        .chunks_exact(width)
        .flat_map(|half| lines().map(|slopes| product(half, slopes)));
    covariance.copy_from_slice(&whole.collect::<Vec<f64>>());
    let pairs = data.levels.windows(2).zip(cuts).enumerate();
    pairs
        .map(|(k, (pair, cut))| FixedEffect {
            name: format!("{}|{}", pair[0], pair[1]),
            estimate: first + cut,
            se: covariance[(p - 1 + k) * (width + 1)].sqrt(),
            df: None,
        })
        .collect()
}

/// The variation of each term; `level_variance` is the residual variance on the scale of the linear predictor.
pub(super) fn components(
    data: &MixedData,
    lambda: &[Vec<f64>],
    sigma: f64,
    level_variance: Option<f64>,
) -> Vec<VarianceComponent> {
    let n = data.total_weight();
    // Mean over rows of z'Σz per term (Johnson 2014).
    let explained: Vec<f64> = data
        .groups()
        .zip(lambda)
        .map(|(term, lambda)| {
            let q = term.width();
            let covariance = product_with_transpose(lambda, q);
            let sum: f64 = term
                .z
                .chunks_exact(q)
                .enumerate()
                .map(|(row, z)| {
                    data.weight(row) * ergodic_base::linalg::quadratic_form(&covariance, z)
                })
                .sum();
            sigma * sigma * sum / n
        })
        .collect();
    let total = level_variance.map(|residual| residual + explained.iter().sum::<f64>());
    data.groups()
        .zip(lambda)
        .zip(&explained)
        .map(|((term, lambda), explained)| {
            let variation = Variation::new(lambda, sigma, &term.scale);
            VarianceComponent {
                group: term.group.clone(),
                num_groups: term.levels.len(),
                names: term.names.clone(),
                sd: variation.sd,
                correlation: variation.correlation,
                correlated: term.correlated,
                icc: total.map(|total| explained / total),
            }
        })
        .collect()
}

/// The remark on variances at the edge, if there are any.
pub(super) fn singular(data: &MixedData, lambda: &[Vec<f64>]) -> Option<Warning> {
    let mut edges = Vec::new();
    for (term, lambda) in data.groups().zip(lambda) {
        let q = term.width();
        for i in 0..q {
            let row = &lambda[i * q..(i + 1) * q];
            let root = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            let mut edge = |constant| {
                edges.push(Edge {
                    effect: term.names[i].clone(),
                    group: term.group.clone(),
                    constant,
                });
            };
            if root < SINGULAR_DIAGONAL {
                edge(true);
            } else if row[i].abs() < SINGULAR_DIAGONAL * root.max(1.0) {
                edge(false);
            }
        }
    }
    (!edges.is_empty()).then(|| Remark::Singular { edges }.into())
}

/// Modes and conditional standard deviations of all groups for columns as they are, and what bends curves. `modes` are Λu,
/// `inverse` holds M⁻¹ on the pattern of the blocks.
pub(super) fn effects(
    data: &MixedData,
    blocks: &super::blocks::Blocks,
    lambda: &[Vec<f64>],
    modes: &[f64],
    inverse: &[f64],
    sigma: f64,
) -> (Vec<GroupEffects>, Vec<FittedCurve>) {
    let mut effects: Vec<GroupEffects> = data
        .terms
        .iter()
        .enumerate()
        .map(|(t, term)| {
            let (q, own, lambda) = (term.width(), blocks.own(t), &lambda[t]);
            let from = blocks.start[t];
            let mut mode = modes[from..from + term.num_effects()].to_vec();
            let mut sd = vec![0.0; term.num_effects()];
            for group in 0..term.levels.len() {
                let block = &inverse[own.offset + group * q * q..][..q * q];
                for i in 0..q {
                    let variance =
                        ergodic_base::linalg::quadratic_form(block, &lambda[i * q..(i + 1) * q]);
                    sd[group * q + i] = sigma * variance.sqrt() / term.scale[i];
                    mode[group * q + i] /= term.scale[i];
                }
            }
            GroupEffects {
                group: term.group.clone(),
                names: term.names.clone(),
                levels: term.levels.clone(),
                mode,
                sd,
            }
        })
        .collect();
    let bends = effects.split_off(data.groups().count());
    let terms = data.terms.iter().zip(lambda).skip(effects.len());
    let curves = terms.zip(bends).map(|((term, lambda), bends)| FittedCurve {
        along: term.along.clone().unwrap_or_default(),
        sd: sigma * lambda[0],
        name: bends.group,
        bends: bends.mode,
        bend_sds: bends.sd,
    });
    (effects, curves.collect())
}

/// Linear predictors of all rows from scaled coefficients and effects.
pub(super) fn predictors(
    data: &MixedData,
    blocks: &super::blocks::Blocks,
    beta: &[f64],
    shift: f64,
    modes: &[f64],
) -> Predictors {
    let mut fixed = vec![shift; data.num_obs()];
    for (row, out) in fixed.iter_mut().enumerate() {
        *out += data
            .row(row)
            .iter()
            .zip(beta)
            .map(|(x, b)| x * b)
            .sum::<f64>();
        if let Some(offset) = &data.offset {
            *out += offset[row];
        }
    }
    let mut with_groups = fixed.clone();
    blocks.add_predictor(&data.terms, modes, &mut with_groups);
    for (t, term) in data
        .terms
        .iter()
        .enumerate()
        .filter(|(_, term)| term.is_curve())
    {
        let bends = &modes[blocks.start[t]..][..term.width()];
        for (row, out) in fixed.iter_mut().enumerate() {
            let z = term.row(row).iter().zip(bends);
            *out += z.map(|(z, b)| z * b).sum::<f64>();
        }
    }
    Predictors { fixed, with_groups }
}
