//! Langevin dynamics with a diffusion matrix D and a curl matrix Q of the user's own (`complete-recipe`).
//!
//! Sources: Ma, Chen and Fox (2015), theorem 1 and the update (9); Chen (2016), slide "A complete recipe"; El Hanchi (2018), (1), (2) and (5).
//! Every diffusion dθ = F dt + sqrt(2D) dW that leaves π stationary has F = (D + Q) ∇log π + Γ, Γ_i = Σ_j ∂(D + Q)_ij/∂θ_j, with D symmetric and
//! positive semi-definite and Q skew-symmetric. Here both are constant, so that Γ = 0, and hold for the model's own unconstrained coordinates:
//!
//! | | update |
//! |---|---|
//! | ours | θ' = θ + h (D + Q) ĝ + N(0, 2hD − h²B̂) |
//! | Ma, Chen and Fox (9) | z' = z − ε [(D + Q) ∇Ũ + Γ] + N(0, ε(2D − εB̂)) |
//! | El Hanchi (5) | h = 1, B = (N²/\|S\|) (D + Q) C (D + Q)', whose last transpose is missing in print |
//!
//! `sgld` without a preconditioner is D = I, Q = 0. Which Q makes means of draws most precise is not known in general; near a mode with
//! curvature H any Q other than 0 makes (D + Q)H turn, and the Euler steps above are the shorter the more it turns.
//!
//! | setting | meaning |
//! |---|---|
//! | `diffusion` | D: `identity`, `diag(2)` for 2I, `diag(1, 2)`, or rows between semicolons, `1 0; 0 2` |
//! | `curl` | Q: `zero`, or rows, `0 -1; 1 0` |
//! | `noise_correction` | B̂: `none` for 0; `estimated` for v N (D + Q) C (D + Q)', C the covariance of row gradients over the minibatches of warm-up ([`ScoreCovariance`]), v = N/\|S\| |
//!
//! **Noise.** D = K K'. With K⁺B̂K⁺' = V diag(b) V' the noise is sqrt(2hT − h² b_i) along column i of KV; where b_i is above 2T/h nothing is
//! left to inject, and the share of gradient noise in the information columns is 1. What of B̂ is outside the range of a singular D cannot be
//! made up for and stays.
//!
//! **Step.** On N(û, H⁻¹) with gradient noise of covariance at most VH the stationary covariance is at most (1 + ε) H⁻¹ where
//! 2εD ⪰ h (1 + ε + V)(D + Q) H (D + Q)': insert (1 + ε) H⁻¹ into S = (I − h(D + Q)H) S (I − h(D + Q)H)' + 2hD + h² (D + Q)Σ(D + Q)'. With
//! ν the largest eigenvalue of K⁻¹(D + Q)(D + Q)'K⁻ᵀ this holds for h = 2ε/((1 + ε + V) ν λ), λ the largest curvature at the mode, and with
//! V = 0 where noise is corrected for. That is the default step; it is exact for Q = 0 and D a multiple of I, and otherwise on the safe side. Where D
//! is singular, ν is infinite and the step is the user's.
//!
//! **Bias.** Of first order in h. **Cost** of a step: |S| row
//! gradients and 2 D² operations; with `estimated` in warm-up |S| D²/2 and some 10 D³ more. A density without rows has its exact gradient for
//! ĝ. **Not for** more than comparison and trying out dynamics: `sgld-cv` has less noise, `nuts` is exact.

use std::sync::Arc;

use crate::oracle::{Estimator, Oracle, Scheme, StepError};
use crate::samplers::fisher_scoring::{ScoreCovariance, check_gradient};
use crate::samplers::langevin::{
    Config, EXCESS_CENTRED, EXCESS_PLAIN, INFO, Langevin, LangevinSettings, Noise, Rates, Rule,
    TIME_CENTRED, TIME_PLAIN,
};
use crate::samplers::minibatch_settings::{MinibatchSettings, PlainRows, Rows as _};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::{
    InfoColumn, NOISE_SHARE, Phase, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::linalg::{NotFinite, SymmetricEigen, axpy, dot, matvec, symmetric_eigen};
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_diagnostics::Remedy;

/// Key of D.
const DIFFUSION: &str = "diffusion";
/// Key of Q.
const CURL: &str = "curl";
/// D = I.
const IDENTITY: &str = "identity";
/// Q = 0.
const ZERO: &str = "zero";
/// Most parameters for dense matrices of all of them.
const MOST_PARAMETERS: usize = 1000;
/// Eigenvalues so small, relative to the largest, are 0 but for rounding.
const ROUNDING: f64 = 1e-12;

const DIFFUSION_FIELD: Field =
    Field::text("Diffusion matrix D", &[IDENTITY], "1 0; 0 2", IDENTITY)
        .help(
            "D, symmetric and positive semi-definite, for the model's unconstrained parameters in their order: rows between semicolons, \
             numbers between blanks or commas; diag(1, 2) for a diagonal, diag(2) for 2 times the identity",
        )
        .why("one step size for all parameters, as SGLD without a preconditioner");

const CURL_FIELD: Field = Field::text("Curl matrix Q", &[ZERO], "0 -1; 1 0", ZERO)
    .help(
        "Q, skew-symmetric (Q' = -Q), for the model's unconstrained parameters in their order: rows between semicolons, numbers between \
         blanks or commas",
    )
    .why("reversible dynamics, whose steps may be longest");

ergodic_base::choice! {
    /// What is known of the noise of gradients.
    pub enum Correction {
        /// B̂ = 0.
        None = "none",
        /// From minibatches of warm-up.
        Estimated = "estimated",
    }
}

ergodic_base::settings! {
    /// What `complete-recipe` has beside the settings of all Langevin samplers.
    pub struct Own {
        diffusion: String = DIFFUSION_FIELD;
        curl: String = CURL_FIELD;
        noise_correction: Correction = Correction::field("Correction for gradient noise", Some(Correction::None))
            .help(
                "B of the injected noise 2hD - h^2 B: none for 0; estimated from the spread of row gradients in the minibatches of warm-up, for \
                 independent rows, 2 at least",
            )
            .why("as SGLD, whose steps are short enough for gradient noise to be small");
    }
}

/// The sampler `complete-recipe`.
pub struct CompleteRecipe;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct RecipeConfig {
    core: Config,
    matrices: Arc<Matrices>,
    corrects: bool,
}

/// D, Q and what follows from them, row-major D×D each.
#[derive(Debug)]
struct Matrices {
    /// D + Q.
    drift: Vec<f64>,
    /// K': row i is an eigenvector of D times the root of its eigenvalue.
    roots: Vec<f64>,
    /// K⁺(D + Q).
    whitened_drift: Vec<f64>,
    /// Smallest eigenvalue of D.
    slowest: f64,
    /// ν; infinite where D is singular.
    stiffest: f64,
}

impl Matrices {
    /// Reads D and Q for `dim` parameters.
    ///
    /// # Errors
    /// Text that is no matrix, a wrong shape, a D that is not symmetric and positive semi-definite, a Q that is not skew-symmetric, and
    /// both without effect along some direction.
    fn read(diffusion: &str, curl: &str, dim: usize) -> Result<Self, SettingError> {
        let d = match diffusion.trim() {
            IDENTITY => diagonal(&vec![1.0; dim]),
            text => read_matrix((DIFFUSION, &DIFFUSION_FIELD), text, dim)?,
        };
        let q = match curl.trim() {
            ZERO => vec![0.0; dim * dim],
            text => read_matrix((CURL, &CURL_FIELD), text, dim)?,
        };
        check_mirrored(DIFFUSION, &d, dim, 1.0)?;
        check_mirrored(CURL, &q, dim, -1.0)?;
        let has_curl = q.iter().any(|&value| value != 0.0);
        let (values, vectors) = decomposition(&d, dim).ok_or_else(|| {
            SettingError::unfit(DIFFUSION, "has eigenvalues that cannot be computed")
        })?;
        let largest = values.iter().copied().fold(0.0, f64::max);
        let scale = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
        if let Some(negative) = values.iter().find(|&&value| value < -ROUNDING * scale) {
            return Err(SettingError::unfit(
                DIFFUSION,
                format!("must be positive semi-definite, but has the eigenvalue {negative:.4}"),
            ));
        }
        if largest == 0.0 {
            return Err(SettingError::unfit(
                DIFFUSION,
                "must not be zero, or no noise would be injected",
            ));
        }
        let is_null = |value: f64| value <= ROUNDING * largest;
        let is_singular = values.iter().any(|&value| is_null(value));
        if is_singular && !(has_curl && reaches_all(&d, largest, &q, dim)) {
            return Err(SettingError::unfit(
                DIFFUSION,
                "must not be singular along a direction that `curl` leaves out too, or chains would never move along it",
            ));
        }
        let mut drift = d;
        axpy(1.0, &q, &mut drift);
        let (mut roots, mut whitened_drift) = (vec![0.0; dim * dim], vec![0.0; dim * dim]);
        for (i, &value) in values.iter().enumerate() {
            if is_null(value) {
                continue;
            }
            let vector = &vectors[i * dim..(i + 1) * dim];
            axpy(value.sqrt(), vector, &mut roots[i * dim..(i + 1) * dim]);
            let row = &mut whitened_drift[i * dim..(i + 1) * dim];
            for (line, &share) in drift.chunks_exact(dim).zip(vector) {
                axpy(share / value.sqrt(), line, row);
            }
        }
        let stiffest = if is_singular {
            f64::INFINITY
        } else if has_curl {
            largest_of_square(&whitened_drift, dim)
        } else {
            largest
        };
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(Self {
            slowest: if is_singular { 0.0 } else { smallest },
            drift,
            roots,
            whitened_drift,
            stiffest,
        })
    }
}

/// The matrix with these numbers on its diagonal.
fn diagonal(values: &[f64]) -> Vec<f64> {
    let dim = values.len();
    let mut matrix = vec![0.0; dim * dim];
    for (entry, &value) in matrix.iter_mut().step_by(dim + 1).zip(values) {
        *entry = value;
    }
    matrix
}

/// Numbers between blanks or commas; `None` where something else stands there.
fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(|c: char| c == ',' || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().ok().filter(|number: &f64| number.is_finite()))
        .collect()
}

/// The D×D matrix of the setting `key` in the notation of its field.
fn read_matrix(
    (key, field): (&'static str, &Field),
    text: &str,
    dim: usize,
) -> Result<Vec<f64>, SettingError> {
    let no_matrix = || SettingError::Value {
        key: key.to_owned(),
        takes: field.kind.to_string(),
        value: text.to_owned(),
    };
    let entries = text
        .strip_prefix("diag(")
        .and_then(|rest| rest.strip_suffix(')'));
    if let Some(entries) = entries {
        let values = numbers(entries).ok_or_else(no_matrix)?;
        return match values.as_slice() {
            [value] => Ok(diagonal(&vec![*value; dim])),
            values if values.len() == dim => Ok(diagonal(values)),
            values => Err(SettingError::unfit(
                key,
                format!(
                    "must have one number in diag(…) or one for each of {dim} unconstrained parameters, and has {}",
                    values.len()
                ),
            )),
        };
    }
    let rows: Option<Vec<Vec<f64>>> = text.split(';').map(numbers).collect();
    let rows = rows.ok_or_else(no_matrix)?;
    if rows.iter().all(Vec::is_empty) {
        return Err(no_matrix());
    }
    let shape = |found: String| {
        SettingError::unfit(
            key,
            format!(
                "must have {dim} rows of {dim} numbers, one for each unconstrained parameter, and has {found}"
            ),
        )
    };
    if rows.len() != dim {
        return Err(shape(format!("{} rows", rows.len())));
    }
    if let Some(row) = rows.iter().position(|row| row.len() != dim) {
        return Err(shape(format!("{} in row {}", rows[row].len(), row + 1)));
    }
    Ok(rows.concat())
}

/// Refuses a matrix that is not `sign` times its transpose.
fn check_mirrored(
    key: &'static str,
    matrix: &[f64],
    dim: usize,
    sign: f64,
) -> Result<(), SettingError> {
    let what = if sign > 0.0 {
        "symmetric"
    } else {
        "skew-symmetric"
    };
    for i in 0..dim {
        for j in 0..=i {
            let (below, above) = (matrix[i * dim + j], matrix[j * dim + i]);
            if below == sign * above {
                continue;
            }
            let (row, column) = (i + 1, j + 1);
            let found = if i == j {
                format!("has {below} on its diagonal in row {row}")
            } else {
                format!(
                    "has {below} in row {row}, column {column} and {above} in row {column}, column {row}"
                )
            };
            return Err(SettingError::unfit(
                key,
                format!("must be {what}, but {found}"),
            ));
        }
    }
    Ok(())
}

/// Eigenvalues and, as rows, eigenvectors of a symmetric matrix; those of a diagonal one are at hand.
fn decomposition(matrix: &[f64], dim: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let entries = || matrix.iter().enumerate();
    if entries().all(|(at, &value)| at % (dim + 1) == 0 || value == 0.0) {
        let values = matrix.iter().step_by(dim + 1).copied().collect();
        return Some((values, diagonal(&vec![1.0; dim])));
    }
    symmetric_eigen(matrix, dim)
}

/// Whether D, with the eigenvalue `largest`, and Q leave no direction out together: D/|D| + Q'Q/|Q|² is positive definite.
fn reaches_all(d: &[f64], largest: f64, q: &[f64], dim: usize) -> bool {
    let size = dot(q, q);
    let mut both = vec![0.0; dim * dim];
    axpy(1.0 / largest, d, &mut both);
    for row in q.chunks_exact(dim) {
        for (line, &value) in both.chunks_exact_mut(dim).zip(row) {
            axpy(value / size, row, line);
        }
    }
    symmetric_eigen(&both, dim).is_some_and(|(values, _vectors)| values[0] > ROUNDING)
}

/// The largest eigenvalue of A A' for a D×D matrix; infinite where it cannot be computed.
fn largest_of_square(a: &[f64], dim: usize) -> f64 {
    let mut square = vec![0.0; dim * dim];
    for (i, row) in a.chunks_exact(dim).enumerate() {
        matvec(a, row, &mut square[i * dim..(i + 1) * dim]);
    }
    symmetric_eigen(&square, dim).map_or(f64::INFINITY, |(values, _vectors)| values[dim - 1])
}

/// The noise of gradients, and the directions of injected noise in which it can be made up for.
#[derive(Debug)]
struct GradientNoise {
    covariance: ScoreCovariance,
    /// (KV)', row-major D×D.
    directions: Vec<f64>,
    /// b (D).
    variances: Vec<f64>,
    eigen: SymmetricEigen,
    whitened: Vec<f64>,
    product: Vec<f64>,
}

impl GradientNoise {
    fn unknown(dim: usize) -> Self {
        Self {
            covariance: ScoreCovariance::new(dim),
            directions: vec![0.0; dim * dim],
            variances: vec![0.0; dim],
            eigen: SymmetricEigen::empty(dim),
            whitened: vec![0.0; dim * dim],
            product: vec![0.0; dim],
        }
    }

    /// b and KV where the noise of a gradient is `scale` times the covariance of row gradients.
    fn set(&mut self, matrices: &Matrices, scale: f64) -> Result<(), NotFinite> {
        let dim = self.product.len();
        for (i, row) in matrices.whitened_drift.chunks_exact(dim).enumerate() {
            matvec(&self.covariance.matrix, row, &mut self.product);
            // The lower triangle is all that is read.
            let others = matrices.whitened_drift.chunks_exact(dim);
            for (entry, other) in self.whitened[i * dim..=i * dim + i].iter_mut().zip(others) {
                *entry = scale * dot(&self.product, other);
            }
        }
        self.eigen.decompose(&self.whitened)?;
        for (i, direction) in self.directions.chunks_exact_mut(dim).enumerate() {
            direction.fill(0.0);
            let roots = matrices.roots.chunks_exact(dim);
            for (root, &share) in roots.zip(self.eigen.vector(i)) {
                axpy(share, root, direction);
            }
            self.variances[i] = self.eigen.values()[i].max(0.0);
        }
        Ok(())
    }
}

/// Position, gradient noise where it is corrected for, and working memory.
#[derive(Debug)]
pub struct RecipeState {
    core: Langevin,
    noise: Option<GradientNoise>,
    moved: Vec<f64>,
}

impl Sampler for CompleteRecipe {
    type Settings = LangevinSettings<PlainRows, Own>;
    type Config = RecipeConfig;
    type State = RecipeState;
    const ADVICE: Traits = Traits::ORDINARY
        .row_passes(40.0, 0.0)
        .standing(Standing::Comparison);
    const NEEDS_ROWS: bool = false;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "complete-recipe",
        family: SamplerFamily::Langevin,
        title: "Complete recipe",
        about: "Langevin dynamics with diffusion and curl matrices of your own, and minibatch gradients: for trying out dynamics",
        cite: "Ma, Chen, Fox, \"A complete recipe for stochastic gradient MCMC\", NIPS 2015",
        formula: "θ' = θ + h (D + Q) ĝ(θ) + N(0, 2hD − h²B̂), B̂ = 0 or (D + Q) (N²/|S|) C (D + Q)', D = D', Q = −Q'",
        fields: Self::Settings::FIELDS,
        info: &[
            INFO[0],
            InfoColumn::new(
                NOISE_SHARE,
                "share of gradient noise in all noise of a step, predicted, or with `noise_correction` the largest that was estimated: \
                 it is corrected for where it is below 1",
            ),
            INFO[2],
        ],
        needs_mode: true,
        own_steps: true,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out too large, by at most about 5 % at the default step (2 % where gradient noise is corrected for), more with \
             larger steps; at a temperature other than 1 the target is not the posterior",
        ),
        bias_order: Some(1),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };

    fn configure(
        settings: &mut Self::Settings,
        target: &Target,
    ) -> Result<RecipeConfig, SettingError> {
        let dim = target.dim;
        if dim > MOST_PARAMETERS {
            return Err(SettingError::unfit(
                DIFFUSION,
                format!(
                    "is a matrix of all parameters, of at most {MOST_PARAMETERS}, and this model has {dim}; use `sgld`"
                ),
            ));
        }
        let own = &settings.own;
        let matrices = Matrices::read(&own.diffusion, &own.curl, dim)?;
        let has_rows = target.model.as_ref().is_none_or(|it| it.rows().is_some());
        let corrects = own.noise_correction == Correction::Estimated && has_rows;
        let minibatch = settings.rows.settle(target)?;
        if corrects {
            check_rows(&minibatch)?;
        }
        if settings.step_size.is_none() && matrices.stiffest.is_infinite() {
            return Err(SettingError::unfit(
                "step_size",
                "must be given where `diffusion` is singular, because nothing bounds the steps that are short enough",
            ));
        }
        let is_exact = minibatch.noise_factor(target.num_obs) == 0.0;
        let (noise, excess, time) = match corrects {
            true => (Noise::Corrected, EXCESS_CENTRED, TIME_CENTRED),
            false if is_exact => (Noise::Plain, EXCESS_CENTRED, TIME_CENTRED),
            false => (Noise::Plain, EXCESS_PLAIN, TIME_PLAIN),
        };
        let rule = Rule {
            id: Self::SPEC.id,
            needs_mode: false,
            rates: Rates::Within {
                slowest: matrices.slowest,
                stiffest: matrices.stiffest,
            },
            excess,
            time,
        };
        Ok(RecipeConfig {
            core: Config::settle(&rule, noise, minibatch, settings, target)?,
            matrices: Arc::new(matrices),
            corrects,
        })
    }

    fn steps_per_draw(config: &RecipeConfig) -> u64 {
        config.core.steps_per_draw
    }

    fn init(
        config: &RecipeConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<RecipeState, StepError> {
        config.core.minibatch.install(Estimator::Plain, oracle);
        Ok(RecipeState {
            core: Langevin::at(u0),
            noise: config.corrects.then(|| GradientNoise::unknown(u0.len())),
            moved: vec![0.0; u0.len()],
        })
    }

    fn step(
        config: &RecipeConfig,
        at: Tick,
        RecipeState { core, noise, moved }: &mut RecipeState,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let (matrices, dim) = (&config.matrices, core.u.len());
        let learns = |noise: &&mut GradientNoise| {
            at.phase != Phase::Draw || noise.covariance.minibatches == 0
        };
        match noise.as_mut().filter(learns) {
            Some(noise) => {
                let rng = &mut streams.batch;
                (noise.covariance).learn_at(oracle, &core.u, rng, &mut core.grad);
                check_gradient(&core.grad, at.iter)?;
                let num_obs = oracle.num_obs();
                let scale = config.core.minibatch.noise_factor(num_obs) * num_obs as f64;
                noise.set(matrices, scale).map_err(|_not_finite| {
                    StepError::not_finite("the covariance of row gradients", at.iter)
                })?;
            }
            None => oracle.grad(&core.u, &mut streams.batch, &mut core.grad),
        }
        let h = core.draw_noise(&config.core, streams);
        matvec(&matrices.drift, &core.grad, moved);
        for moved in moved.iter_mut() {
            *moved *= h;
        }
        let mut largest = 0.0_f64;
        match &*noise {
            Some(noise) => {
                let directions = noise.directions.chunks_exact(dim);
                for ((direction, b), normal) in directions.zip(&noise.variances).zip(&core.jump) {
                    let share = 0.5 * h * b / config.core.temperature;
                    largest = largest.max(share);
                    axpy(normal * (1.0 - share).max(0.0).sqrt(), direction, moved);
                }
            }
            None => {
                for (root, normal) in matrices.roots.chunks_exact(dim).zip(&core.jump) {
                    axpy(*normal, root, moved);
                }
            }
        }
        core.jump.copy_from_slice(moved);
        core.finish(&config.core, at, info)?;
        if noise.is_some() {
            info[1] = largest.min(1.0);
        }
        Ok(())
    }

    fn position(state: &RecipeState) -> &[f64] {
        &state.core.u
    }

    fn visit(state: &mut RecipeState, visitor: &mut dyn StateVisitor) {
        state.core.visit(visitor);
        if let Some(noise) = &mut state.noise {
            noise.covariance.visit(visitor);
            visitor.slice("noise_directions", &mut noise.directions);
            visitor.slice("gradient_noise", &mut noise.variances);
        }
    }
}

/// Refuses minibatches that tell no covariance of row gradients, or whose noise does not follow from it.
fn check_rows(minibatch: &MinibatchSettings) -> Result<(), SettingError> {
    let fault = match minibatch.scheme {
        Scheme::Iid | Scheme::Blocks if minibatch.batch > 1 => return Ok(()),
        Scheme::Iid | Scheme::Blocks => "minibatches of at least 2 rows; set `batch` to 2 or more",
        Scheme::Spans | Scheme::Epoch | Scheme::Lipschitz => {
            "independent rows; set `scheme` to iid or blocks"
        }
    };
    Err(SettingError::unfit(
        "noise_correction",
        format!("= estimated needs {fault}, or set it to none"),
    ))
}

#[cfg(test)]
mod tests;
