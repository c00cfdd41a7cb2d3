//! Exact Gibbs sampling of normal mixed models (`gibbs-mixed`).
//!
//! References: Gelfand, Hills, Racine-Poon and Smith (1990), Illustration of Bayesian inference in normal data models
//! using Gibbs sampling; Neal (2003) for slices; Yu and Meng (2011), To center or not to center, for interweaving.
//!
//! **One step.** The likelihood depends on sums of products over rows alone ([`crate::samplers::groups::mixed::statistics`]), made once.
//!
//! 1. Student-t and Laplace priors of coefficients as mixtures of normals: their precisions given β.
//! 2. Scales (sds, correlations, σ), each along its slice with β and the effects r integrated out, then (β, r) from their
//!    joint normal: all terms at once where that is cheap, otherwise term by term ([`crate::samplers::groups::mixed::marginal`]).
//! 3. For terms too large for that: (β, r_t) given all else, β with r_t integrated out and then r_t group by group.
//! 4. Between nested groups of different blocks, what all inner groups share ([`crate::samplers::groups::mixed::nesting`]).
//! 5. For terms of step 3 sds and correlations along slices: given the effects r (good where groups have many rows), then
//!    given r in units of its scale (good where they have few), r moving along.
//! 6. σ along its slice.
//!
//! Every draw is from a full conditional of the model's own posterior, some parts integrated out, whatever its priors are.
//!
//! No settings. **Cost.** One pass over all rows at the start; then, for an evaluation of step 2, G_t q_t (q_t + S)² + S³/3
//! operations with S coefficients and effects of smaller terms, at most 200,000, and some seven evaluations a scale; in
//! step 3 as many operations as one evaluation; and as many as there are pairs of crossed groups with a row in common.
//! **Bias.** None.

use rand_distr::{Distribution as _, StandardNormal};

use crate::models::mixed::{GroupTerm, MAX_EFFECTS, MixedEffects};
use crate::models::{Model, PriorRows};
use crate::oracle::{Oracle, StepError};
use crate::samplers::groups::mixed::marginal::{self, Block, CoefficientPrior};
use crate::samplers::groups::mixed::nesting::{self, Nested};
use crate::samplers::groups::mixed::statistics::Statistics;
use crate::samplers::groups::mixed::{self, Spread, draw_scales, normal_given, slice_each};
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::{
    InfoColumn, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick, Unsuitable,
};
use ergodic_base::linalg::{Cholesky, axpy, dot};
use ergodic_base::settings::SettingError;
use ergodic_base::{ChainRng, Streams};

/// The sampler `gibbs-mixed`.
pub struct GibbsMixed;

/// State of [`GibbsMixed`].
pub struct State {
    /// Position (D) in plain coordinates, and in the model's.
    u: Vec<f64>,
    position: Vec<f64>,
    /// Effects of all terms.
    effects: Vec<f64>,
    statistics: Statistics,
    prior: PriorRows,
    nested: Vec<Nested>,
    /// Terms drawn with everything else integrated out, and each that is too large for that.
    blocks: Vec<Block>,
    single: Vec<Block>,
    work: Work,
}

/// Working memory.
struct Work {
    /// Precision of β in a model without terms (P×P).
    precision: Vec<f64>,
    factor: Cholesky,
    /// Precision and linear part of the prior of β (P×P, P).
    prior_precision: Vec<f64>,
    prior_linear: Vec<f64>,
    /// By effect of the largest term: Σ w z ỹ.
    response: Vec<f64>,
    /// Products of entries of M, at most 36, for scales in units of which effects stand still.
    linear_in_scale: Vec<f64>,
    square_in_scale: Vec<f64>,
    spreads: Vec<Spread>,
    grad: Vec<f64>,
}

impl Sampler for GibbsMixed {
    type Settings = ();
    type Config = ();
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY.by_effects().standing(Standing::Auto);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "gibbs-mixed",
        family: SamplerFamily::Groups,
        title: "Gibbs, normal mixed models",
        about: "Draws standard deviations and correlations with all else integrated out, then coefficients and effects of \
                groups together: exact, at a cost that does not grow with the rows",
        cite: "Gelfand, Hills, Racine-Poon and Smith 1990, JASA 85; Liu 1994, JASA 89; Yu and Meng 2011, JCGS 20",
        formula: "σ, sds and correlations along slices with β and r integrated out; (β, r) ~ normal given these",
        fields: &[],
        info: &[InfoColumn::LOG_DENSITY],
        bias: None,
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        let normal = mixed::suits(model)?.normal_row(0);
        normal.map(|_row| ()).ok_or(Unsuitable::NotNormal)
    }

    fn configure((): &mut (), _target: &Target) -> Result<(), SettingError> {
        Ok(())
    }

    fn init(
        (): &(),
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        let view = mixed::view(oracle)?;
        // Refused before by `suits` where it is not normal.
        let statistics =
            Statistics::of(view, oracle.num_obs()).ok_or(StepError::Lacks("normal likelihood"))?;
        let mut effects = vec![0.0; view.num_effects()];
        let mut u = u0.to_vec();
        view.to_plain(&mut u);
        for term in view.terms() {
            term.write_effects(&u, &mut effects);
        }
        let division = marginal::divide(view);
        let blocks = division.blocks.iter();
        let of_one_block = |nested: &Nested| {
            let mut blocks = division.blocks.iter();
            blocks.any(|block| nested.is_within(block))
        };
        let mut nested = nesting::find(view);
        nested.retain(|nested| !of_one_block(nested));
        let state = State {
            u,
            position: u0.to_vec(),
            effects,
            prior: view.coefficient_prior(),
            nested,
            blocks: blocks
                .filter_map(|block| Block::new(view, &statistics, block))
                .collect(),
            single: division
                .single
                .iter()
                .filter_map(|&t| Block::new(view, &statistics, &[t]))
                .collect(),
            work: Work::new(view, u0.len()),
            statistics,
        };
        oracle.datum_grads += oracle.num_obs() as u64;
        Ok(state)
    }

    fn step(
        (): &(),
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let rng = &mut streams.noise;
        let view = mixed::view(oracle)?;
        let terms = view.terms();
        state.mix_priors(view, rng);
        if terms.is_empty() {
            state.draw_coefficients(view, at.iter, rng)?;
        }
        let mut rows = 0;
        for b in 0..state.blocks.len() {
            rows += state.draw_block(view, b, oracle.num_obs(), at.iter, rng)?;
        }
        state.draw_effects_of_single(view, at.iter, rng)?;
        state.work.spreads.clear();
        for term in terms {
            let spread = Spread::at(term, &state.u[term.scales.clone()]);
            state.work.spreads.push(spread);
        }
        for nested in &mut state.nested {
            nested.draw(terms, &state.work.spreads, &mut state.effects, rng);
        }
        for k in 0..state.single.len() {
            let t = state.single[k].lead();
            let scales = &mut state.u[terms[t].scales.clone()];
            draw_scales(&terms[t], &state.effects, scales, rng)?;
            state.draw_scales_with_effects(view, t, rng)?;
        }
        let (more_rows, log_lik) = state.draw_sigma(view, oracle.num_obs(), rng)?;
        for term in terms {
            term.read_effects(&state.effects, &mut state.u);
        }
        if state.u.iter().any(|u| !u.is_finite()) {
            return Err(StepError::not_finite("the position", at.iter));
        }
        state.position.copy_from_slice(&state.u);
        view.to_own(&mut state.position);
        info[0] = log_lik
            + oracle
                .rows()?
                .log_prior(&state.position, &mut state.work.grad);
        oracle.datum_grads += rows + more_rows;
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.position
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("plain", &mut state.u);
        visitor.slice("position", &mut state.position);
        visitor.slice("effects", &mut state.effects);
    }
}

impl Work {
    fn new(view: &dyn MixedEffects, dim: usize) -> Self {
        let p = view.num_coefficients();
        let largest =
            |size: fn(&GroupTerm) -> usize| view.terms().iter().map(size).max().unwrap_or(0);
        let effects = largest(|term| term.effects.len());
        // Entries of the largest lower triangle.
        let entries = MAX_EFFECTS * (MAX_EFFECTS + 1) / 2;
        Self {
            precision: vec![0.0; p * p],
            prior_precision: vec![0.0; p * p],
            prior_linear: vec![0.0; p],
            factor: Cholesky::empty(p),
            response: vec![0.0; effects],
            linear_in_scale: vec![0.0; entries],
            square_in_scale: vec![0.0; entries * entries],
            spreads: Vec::with_capacity(view.terms().len()),
            grad: vec![0.0; dim],
        }
    }
}

impl Work {
    fn coefficient_prior(&self) -> CoefficientPrior<'_> {
        CoefficientPrior {
            precision: &self.prior_precision,
            linear: &self.prior_linear,
        }
    }
}

impl State {
    /// 1/σ².
    fn precision_of_rows(&self, p: usize) -> f64 {
        (-2.0 * self.u[p]).exp()
    }

    /// Precision and linear part of the normal prior of β that its prior is a mixture of.
    fn mix_priors(&mut self, view: &dyn MixedEffects, rng: &mut ChainRng) {
        let p = view.num_coefficients();
        self.work.prior_precision.fill(0.0);
        self.work.prior_linear.fill(0.0);
        for k in 0..self.prior.count() {
            let row = self.prior.row(k);
            let [precision, location] =
                normal_given(self.prior.prior(k), dot(row, &self.u[..p]), rng);
            axpy(precision * location, row, &mut self.work.prior_linear);
            for i in 0..p {
                let line = &mut self.work.prior_precision[i * p..(i + 1) * p];
                axpy(precision * row[i], row, line);
            }
        }
    }

    /// Weighted sum of squared residuals; the rows that had to be asked.
    fn squares(&self, view: &dyn MixedEffects, num_obs: usize) -> (f64, u64) {
        let beta = &self.u[..view.num_coefficients()];
        match self.statistics.residual_sum(beta, &self.effects) {
            Some(squares) => (squares, 0),
            None => (
                residual_sum(view, num_obs, beta, &self.effects),
                num_obs as u64,
            ),
        }
    }

    /// Draws β and the effects of each term that is too large for a block.
    fn draw_effects_of_single(
        &mut self,
        view: &dyn MixedEffects,
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let Self {
            u,
            effects,
            statistics,
            single,
            work,
            ..
        } = self;
        let prior = work.coefficient_prior();
        for block in single {
            block.draw_effects(view, statistics, prior, u, effects, iter, rng)?;
        }
        Ok(())
    }

    /// Draws scales, σ, β and effects of block `b`; the rows that had to be asked.
    fn draw_block(
        &mut self,
        view: &dyn MixedEffects,
        b: usize,
        num_obs: usize,
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<u64, StepError> {
        let (squares, rows) = self.squares(view, num_obs);
        let Self {
            u,
            effects,
            statistics,
            blocks,
            work,
            ..
        } = self;
        let prior = work.coefficient_prior();
        blocks[b].draw(view, statistics, prior, squares, u, effects, iter, rng)?;
        Ok(rows)
    }

    /// Draws the coefficients of a model without terms.
    fn draw_coefficients(
        &mut self,
        view: &dyn MixedEffects,
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let p = view.num_coefficients();
        if p == 0 {
            return Ok(());
        }
        let precision = self.precision_of_rows(p);
        let Self {
            u,
            statistics,
            work,
            ..
        } = self;
        for (out, (prior, xx)) in work
            .precision
            .iter_mut()
            .zip(work.prior_precision.iter().zip(&statistics.xx))
        {
            *out = prior + precision * xx;
        }
        let beta = &mut u[..p];
        for (out, (prior, xy)) in beta
            .iter_mut()
            .zip(work.prior_linear.iter().zip(&statistics.xy))
        {
            *out = prior + precision * xy;
        }
        let factor = &mut work.factor;
        factor
            .factor(&work.precision)
            .map_err(|_refused| marginal::not_positive(iter))?;
        factor.solve_lower(beta);
        for value in beta.iter_mut() {
            let normal: f64 = StandardNormal.sample(rng);
            *value += normal;
        }
        factor.solve_lower_transpose(beta);
        Ok(())
    }

    /// Draws the scales of term `t` while z with r = M z stands still, and r with them.
    fn draw_scales_with_effects(
        &mut self,
        view: &dyn MixedEffects,
        t: usize,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let p = view.num_coefficients();
        let precision = self.precision_of_rows(p);
        let Self {
            u,
            effects,
            statistics,
            work,
            ..
        } = self;
        let term = &view.terms()[t];
        let q = term.width();
        let response = &mut work.response[..term.effects.len()];
        statistics.response_without(t, effects, response);
        let spread = Spread::at(term, &u[term.scales.clone()]);
        let entries = q * (q + 1) / 2;
        let linear = &mut work.linear_in_scale[..entries];
        let square = &mut work.square_in_scale[..entries * entries];
        linear.fill(0.0);
        square.fill(0.0);
        let sums = &statistics.terms[t];
        let own = &mut effects[term.start..][..term.effects.len()];
        for (g, r) in own.chunks_exact_mut(q).enumerate() {
            // z replaces r.
            for i in (0..q).rev() {
                r[i] = (0..=i).map(|k| spread.inverse[i][k] * r[k]).sum();
            }
            let mut place = 0;
            for j in 0..q {
                let row = g * q + j;
                let rest = response[row] - dot(&sums.zx[row * p..][..p], &u[..p]);
                for k in 0..=j {
                    linear[place] += rest * r[k];
                    let line = &mut square[place * entries..][..entries];
                    let mut other = 0;
                    for l in 0..q {
                        let scaled = sums.zz[row * q + l] * r[k];
                        for m in 0..=l {
                            line[other] += scaled * r[m];
                            other += 1;
                        }
                    }
                    place += 1;
                }
            }
        }
        let scales = &mut u[term.scales.clone()];
        slice_each(scales, rng, |scales| {
            let lower = Spread::at(term, scales).lower;
            let mut gain = 0.0;
            let mut place = 0;
            for j in 0..q {
                for k in 0..=j {
                    let line = &square[place * entries..][..entries];
                    let mut sum = 0.0;
                    let mut other = 0;
                    for l in 0..q {
                        for m in 0..=l {
                            sum += line[other] * lower[l][m];
                            other += 1;
                        }
                    }
                    gain += lower[j][k] * (linear[place] - 0.5 * sum);
                    place += 1;
                }
            }
            term.log_prior_of_scales(scales) + precision * gain
        })?;
        let lower = Spread::at(term, scales).lower;
        for r in own.chunks_exact_mut(q) {
            for i in (0..q).rev() {
                r[i] = (0..=i).map(|k| lower[i][k] * r[k]).sum();
            }
        }
        Ok(())
    }

    /// Draws σ; the rows that had to be asked, and the log likelihood up to a constant.
    fn draw_sigma(
        &mut self,
        view: &dyn MixedEffects,
        num_obs: usize,
        rng: &mut ChainRng,
    ) -> Result<(u64, f64), StepError> {
        let (squares, rows) = self.squares(view, num_obs);
        let rest = &mut self.u[view.num_coefficients()..];
        let weight = self.statistics.weight;
        let log_lik = |a: f64| -weight * a - 0.5 * squares * (-2.0 * a).exp();
        slice_each(&mut rest[..1], rng, |a| {
            view.auxiliary_prior(0, a[0])[0] + log_lik(a[0])
        })?;
        Ok((rows, log_lik(rest[0])))
    }
}

/// Σ w (y − x'β − z'r)² over all rows.
fn residual_sum(view: &dyn MixedEffects, num_obs: usize, beta: &[f64], effects: &[f64]) -> f64 {
    (0..num_obs)
        .filter_map(|row| {
            let [y, weight] = view.normal_row(row)?;
            let mut rest = y - dot(view.covariates(row), beta);
            for term in view.terms() {
                let (z, at) = term.row(row);
                rest -= dot(z, &effects[at..at + z.len()]);
            }
            Some(weight * rest * rest)
        })
        .sum()
}
