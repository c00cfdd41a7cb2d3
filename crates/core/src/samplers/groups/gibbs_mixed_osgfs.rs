//! Gibbs sampling of mixed models with stochastic gradient Fisher scoring for everything that depends on the rows
//! (`gibbs-mixed-osgfs`).
//!
//! Reference: El Hanchi (2018), section 3.2, from one grouping with a normal-inverse-Wishart prior to template `mixed`: any
//! family, several groupings, coefficients that do not vary, priors of standard deviations and correlations.
//!
//! **One step.**
//!
//! 1. For each term and group: r_t[g] by a step of OSGFS on its conditional, whose prior N(0, Σ_t) is the
//!    report's "strong prior": r' = r + D ĝ + N(0, 2D − (n²/|S|) D C D − D H D) with ĝ from |S| of the group's n rows,
//!    H = n C + Σ_t⁻¹, and C the covariance of row gradients, averaged over warm-up. Groups of at most |S| rows use all
//!    of them, with n C the curvature of the rows. The first half of warm-up, which is forgotten, uses a C under which no
//!    predictor moves by much more than 1 a step: far from the mode C itself of counts would stop chains or let them run away.
//! 2. β and the family's auxiliary coordinates by the same step on all rows, |S| times the number of groups of them.
//! 3. Along directions that leave every predictor as it is, between coefficients and effects ([`crate::samplers::groups::mixed::shifts`])
//!    and between nested groups ([`crate::samplers::groups::mixed::nesting`]): exactly, without rows.
//! 4. Standard deviations and correlations given the effects along slices: exactly, without rows.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `batch` | rows of a group per step, \|S\| | one in 25 of an average group, at least 50 and 5 per effect |
//! | `k_bound` | bound on k, as for `osgfs` | directions: N(0, Σ) is a strong prior, under which k may be larger |
//! | `steps` | steps per group and draw | 1, as in the source |
//!
//! **Cost.** \|S\| rows per group and draw, twice. **Bias.** That of OSGFS: conditionals are taken to be normal, and
//! the spread of row gradients to equal their curvature. **Not for** groups of few rows, where `nuts` is exact at the
//! same cost.

use rand::RngExt as _;

use crate::models::mixed::{GroupTerm, MixedEffects};
use crate::models::{Model, PriorRows, Rows, Scratch};
use crate::numerics::fisher_step::FisherStep;
use crate::oracle::minibatch::below;
use crate::oracle::{Oracle, StepError};
use crate::samplers::fisher_scoring::osgfs::{ROWS_PER_PARAMETER, choose_k};
use crate::samplers::fisher_scoring::{ScoreCovariance, check_gradient};
use crate::samplers::groups::gibbs_osgfs::{BIAS, Config, GroupScoringSettings, INFO};
use crate::samplers::groups::mixed::nesting::{self, Nested};
use crate::samplers::groups::mixed::shifts::{self, Shift};
use crate::samplers::groups::mixed::{self, Spread, draw_scales};
use crate::samplers::recommend::Traits;
use crate::samplers::{
    Phase, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick, Unsuitable,
};
use ergodic_base::linalg::{axpy, dot};
use ergodic_base::settings::{Declared as _, SettingError};
use ergodic_base::{ChainRng, Streams, substream};

/// The sampler `gibbs-mixed-osgfs`.
pub struct GibbsMixedOsgfs;

/// Coordinates that move together, with the rows they depend on: the effects of one group, or β and the auxiliary
/// coordinate.
struct Unit {
    at: Vec<f64>,
    /// The rows; all where it is empty and `num_rows` is not.
    rows: Vec<u32>,
    num_rows: usize,
    /// Rows per step.
    batch: usize,
    /// C, or in its `matrix` the curvature of the rows over n, where all are used.
    covariance: ScoreCovariance,
    step: FisherStep,
    picks: Vec<u32>,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
    scores: Vec<f64>,
    grad: Vec<f64>,
    /// Gradient and curvature of the log prior.
    prior_grad: Vec<f64>,
    prior_curvature: Vec<f64>,
    hessian: Vec<f64>,
    sigma: Vec<f64>,
    scratch: Scratch,
    report: [f64; 3],
}

/// State of [`GibbsMixedOsgfs`].
pub struct State {
    /// Position (D) in plain coordinates, and in the model's.
    u: Vec<f64>,
    position: Vec<f64>,
    /// Effects of all terms.
    effects: Vec<f64>,
    /// By term.
    groups: Vec<Vec<Unit>>,
    head: Unit,
    prior: PriorRows,
    shifts: Vec<Shift>,
    nested: Vec<Nested>,
    spreads: Vec<Spread>,
}

impl Sampler for GibbsMixedOsgfs {
    type Settings = GroupScoringSettings;
    type Config = Config;
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY.row_passes(3.0, 0.0).normal();
    const SPEC: SamplerSpec = SamplerSpec {
        id: "gibbs-mixed-osgfs",
        family: SamplerFamily::Groups,
        title: "Gibbs, OSGFS effects",
        about: "Mixed models of all families: effects and coefficients by Fisher scoring with minibatches, spread of \
                groups exactly; for groups of thousands of rows",
        cite: "El Hanchi, \"Stochastic gradient MCMC algorithms and their applications\", report, 2018, section 3.2",
        formula: "r_g' = r_g + D ĝ(r_g) + N(0, 2D − (n²/|S|) D C D − D H D), H = n C + Σ⁻¹, for each group g; β likewise; \
                  sds and correlations along slices given r",
        fields: GroupScoringSettings::FIELDS,
        info: INFO,
        minibatch: true,
        bias: Some(BIAS),
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        let term = mixed::suits(model)?.terms().first();
        term.map(|_term| ()).ok_or(Unsuitable::NoGroupTerm)
    }

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        let terms = target.mixed_effects().map_or(&[][..], |view| view.terms());
        let groups = terms.iter().map(|term| term.levels.len()).max();
        let effects = terms.iter().map(GroupTerm::width).max();
        Ok(settings.settle(target, groups.unwrap_or(1), effects.unwrap_or(target.dim)))
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        let (view, num_obs) = (mixed::view(oracle)?, oracle.num_obs());
        let mut effects = vec![0.0; view.num_effects()];
        let mut groups = Vec::new();
        let mut u = u0.to_vec();
        view.to_plain(&mut u);
        for term in view.terms() {
            term.write_effects(&u, &mut effects);
            let mut rows = vec![Vec::new(); term.levels.len()];
            for (row, &level) in term.index.iter().enumerate() {
                rows[level as usize].push(row as u32);
            }
            let q = term.width();
            groups.push(
                rows.into_iter()
                    .map(|rows| {
                        let (n, batch) = (rows.len(), config.batch.min(rows.len()));
                        Unit::new(rows, n, batch, q, view)
                    })
                    .collect(),
            );
        }
        let largest = view.terms().iter().map(|term| term.levels.len()).max();
        let head_batch = (config.batch * largest.unwrap_or(1)).min(num_obs);
        let head = view.num_coefficients() + view.num_auxiliaries();
        Ok(State {
            u,
            position: u0.to_vec(),
            effects,
            groups,
            head: Unit::new(Vec::new(), num_obs, head_batch, head, view),
            prior: view.coefficient_prior(),
            shifts: shifts::find(view),
            nested: nesting::find(view),
            spreads: Vec::with_capacity(view.terms().len()),
        })
    }

    fn step(
        config: &Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let num_terms = state.groups.len();
        for t in 0..num_terms {
            for _ in 0..config.steps {
                state.move_groups(t, config, at, oracle, streams)?;
            }
        }
        let model = oracle.model();
        let view = mixed::view(oracle)?;
        let p = view.num_coefficients();
        let head = state.head.at.len();
        if head > 0 {
            let Unit {
                at: place,
                prior_grad,
                prior_curvature,
                ..
            } = &mut state.head;
            place.copy_from_slice(&state.u[..head]);
            prior_of_head(view, &state.prior, place, prior_grad, prior_curvature);
            let (u, effects) = (&state.u[..head], &state.effects);
            state
                .head
                .advance(config, at, view, None, u, effects, streams)?;
            state.u[..head].copy_from_slice(&state.head.at);
        }
        let terms = view.terms();
        let rng = &mut streams.noise;
        state.spreads.clear();
        for term in terms {
            let spread = Spread::at(term, &state.u[term.scales.clone()]);
            state.spreads.push(spread);
        }
        let State {
            u,
            effects,
            shifts,
            nested,
            spreads,
            prior,
            ..
        } = state;
        for shift in shifts {
            shift.draw(terms, spreads, prior, &mut u[..p], effects, rng)?;
        }
        for nested in nested {
            nested.draw(terms, spreads, effects, rng);
        }
        for term in terms {
            draw_scales(term, effects, &mut u[term.scales.clone()], rng)?;
            term.read_effects(effects, u);
        }
        debug_assert_eq!(model.dim(), u.len());
        if u.iter().any(|u| !u.is_finite()) {
            return Err(StepError::not_finite("the position", at.iter));
        }
        state.position.copy_from_slice(&state.u);
        view.to_own(&mut state.position);
        oracle.datum_grads += state.head.batch as u64;
        state.report(info);
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.position
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("plain", &mut state.u);
        visitor.slice("position", &mut state.position);
        visitor.slice("effects", &mut state.effects);
        for unit in state.groups.iter_mut().flatten() {
            unit.covariance.visit(visitor);
        }
        state.head.covariance.visit(visitor);
    }
}

impl State {
    /// One step of every group of term `t`.
    fn move_groups(
        &mut self,
        t: usize,
        config: &Config,
        at: Tick,
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<(), StepError> {
        let keys: [u64; 2] = [streams.batch.random(), streams.noise.random()];
        let term = &mixed::view(oracle)?.terms()[t];
        let (q, first) = (term.width(), term.start);
        let spread = Spread::at(term, &self.u[term.scales.clone()]);
        let (u, effects) = (&self.u, &self.effects);
        oracle.for_each_group(&mut self.groups[t], |model, g, unit| {
            let view = model.mixed_effects().ok_or(mixed::NO_EFFECTS)?;
            let [batch, noise]: [ChainRng; 2] = keys.map(|key| substream(key, g as u64));
            let mut streams = Streams { batch, noise };
            unit.at
                .copy_from_slice(&effects[first + g * q..first + (g + 1) * q]);
            for i in 0..q {
                let row = &spread.precision[i][..q];
                unit.prior_grad[i] = -dot(row, &unit.at);
                unit.prior_curvature[i * q..(i + 1) * q].copy_from_slice(row);
            }
            let term = Some(&view.terms()[t]);
            unit.advance(config, at, view, term, u, effects, &mut streams)?;
            Ok(unit.batch as u64)
        })?;
        for (g, unit) in self.groups[t].iter().enumerate() {
            self.effects[first + g * q..first + (g + 1) * q].copy_from_slice(&unit.at);
        }
        Ok(())
    }

    /// Means over groups.
    fn report(&self, info: &mut [f64]) {
        info.fill(0.0);
        let units = || self.groups.iter().flatten();
        let share = 1.0 / units().count().max(1) as f64;
        for unit in units() {
            axpy(share, &unit.report, info);
        }
    }
}

/// Gradient and curvature of the log prior of β and the auxiliary coordinates at `at`.
fn prior_of_head(
    view: &dyn MixedEffects,
    prior: &PriorRows,
    at: &[f64],
    grad: &mut [f64],
    curvature: &mut [f64],
) {
    let (dim, p) = (at.len(), view.num_coefficients());
    grad.fill(0.0);
    curvature.fill(0.0);
    for k in 0..prior.count() {
        let row = prior.row(k);
        let z = dot(row, &at[..p]);
        axpy(prior.prior(k).log_density(z).1, row, &mut grad[..p]);
        let second = prior.prior(k).curvature(z);
        for i in 0..p {
            axpy(second * row[i], row, &mut curvature[i * dim..i * dim + p]);
        }
    }
    for j in p..dim {
        let [_value, slope, second] = view.auxiliary_prior(j - p, at[j]);
        grad[j] = slope;
        // Where it is not concave the rows' curvature stands alone.
        curvature[j * dim + j] = (-second).max(0.0);
    }
}

impl Unit {
    fn new(
        rows: Vec<u32>,
        num_rows: usize,
        batch: usize,
        dim: usize,
        view: &dyn MixedEffects,
    ) -> Self {
        Self {
            at: vec![0.0; dim],
            rows,
            num_rows,
            batch,
            covariance: ScoreCovariance::new(dim),
            step: FisherStep::empty(dim),
            picks: Vec::with_capacity(batch),
            slopes: vec![0.0; batch * (1 + view.num_auxiliaries())],
            curvatures: vec![0.0; batch],
            scores: vec![0.0; batch * dim],
            grad: vec![0.0; dim],
            prior_grad: vec![0.0; dim],
            prior_curvature: vec![0.0; dim * dim],
            hessian: vec![0.0; dim * dim],
            sigma: vec![0.0; dim * dim],
            scratch: view.row_scratch(),
            report: [0.0; 3],
        }
    }

    /// Moves `at`, whose prior is in place; `term` is that of a group, `None` for β and the auxiliary coordinates, which
    /// stand at the beginning of `head`.
    fn advance(
        &mut self,
        config: &Config,
        at: Tick,
        view: &dyn MixedEffects,
        term: Option<&GroupTerm>,
        head: &[f64],
        effects: &[f64],
        streams: &mut Streams,
    ) -> Result<(), StepError> {
        let (n, dim) = (self.num_rows, self.at.len());
        let all = self.batch == n;
        let learns = at.phase != Phase::Draw;
        // Where rows are fitted badly neither their curvature nor the spread of their gradients says how far to go: the one
        // may vanish, so that steps run away, and the other of counts grows with the square of what is expected, so that
        // chains stand still for ever. The first half of warm-up makes small steps instead, and is forgotten.
        let early = match at.phase {
            Phase::Warmup {
                length: Some(length),
            } => {
                if at.iter == length / 2 {
                    self.covariance.minibatches = 0;
                }
                at.iter < length / 2
            }
            _ => false,
        };
        self.choose_rows(all, streams);
        let rows = Rows::Pick(&self.picks);
        view.slopes(head, effects, rows, &mut self.scratch, &mut self.slopes);
        self.write_scores(view, term);
        let factor = n as f64 / self.batch.max(1) as f64;
        self.grad.copy_from_slice(&self.prior_grad);
        for score in self.scores.chunks_exact(dim) {
            axpy(factor, score, &mut self.grad);
        }
        check_gradient(&self.grad, at.iter)?;
        let exact = all && term.is_some();
        if early {
            let rows = Rows::Pick(&self.picks);
            view.curvatures(head, effects, rows, &mut self.scratch, &mut self.curvatures);
            self.bound_curvature(view, term);
        } else if let (true, Some(term)) = (exact, term) {
            if learns || self.covariance.minibatches == 0 {
                let rows = Rows::Pick(&self.picks);
                view.curvatures(head, effects, rows, &mut self.scratch, &mut self.curvatures);
                self.learn_curvature(term);
            }
        } else if learns || !self.knows_covariance() {
            self.covariance.learn(&mut self.scores);
        }
        let share = self.batch as f64 / n.max(1) as f64;
        self.report = [f64::NAN, f64::NAN, share];
        if !early && !exact && !self.knows_covariance() {
            return Ok(());
        }
        let noise = if all { 0.0 } else { factor };
        self.hessian.copy_from_slice(&self.prior_curvature);
        axpy(n as f64, &self.covariance.matrix, &mut self.hessian);
        self.sigma.fill(0.0);
        axpy(noise * n as f64, &self.covariance.matrix, &mut self.sigma);
        let Self {
            step,
            hessian,
            sigma,
            ..
        } = self;
        choose_k(step, hessian, sigma, (config.bound, 0.0), noise).map_err(|_not_positive| {
            StepError::not_positive(
                "the curvature of a group or of the coefficients, or its noise,",
                at.iter,
            )
        })?;
        step.advance(&self.grad, &mut streams.noise, &mut self.at);
        self.report = [self.step.slowest_k(), self.step.noise_share(), share];
        Ok(())
    }

    fn choose_rows(&mut self, all: bool, streams: &mut Streams) {
        self.picks.clear();
        for k in 0..self.batch as u32 {
            let k = if all {
                k
            } else {
                below(&mut streams.batch, self.num_rows as u32)
            };
            self.picks
                .push(self.rows.get(k as usize).copied().unwrap_or(k));
        }
    }

    /// Row gradients from the slopes of the picked rows.
    fn write_scores(&mut self, view: &dyn MixedEffects, term: Option<&GroupTerm>) {
        let (dim, width) = (self.at.len(), 1 + view.num_auxiliaries());
        let rows = self.picks.iter().zip(self.slopes.chunks_exact(width));
        for (score, (&row, slopes)) in self.scores.chunks_exact_mut(dim).zip(rows) {
            let row = row as usize;
            let columns = term.map_or_else(|| view.covariates(row), |term| term.row(row).0);
            for (out, column) in score.iter_mut().zip(columns) {
                *out = slopes[0] * column;
            }
            if term.is_none() {
                score[dim + 1 - width..].copy_from_slice(&slopes[1..]);
            }
        }
    }

    /// Whether enough rows were seen for a covariance away from singular.
    fn knows_covariance(&self) -> bool {
        self.covariance.minibatches as usize * self.batch >= ROWS_PER_PARAMETER * self.at.len()
    }

    /// The running average of the curvature of all rows over n.
    fn learn_curvature(&mut self, term: &GroupTerm) {
        let dim = self.at.len();
        self.hessian.fill(0.0);
        for (k, &row) in self.picks.iter().enumerate() {
            let z = term.row(row as usize).0;
            for i in 0..dim {
                let line = &mut self.hessian[i * dim..(i + 1) * dim];
                axpy(self.curvatures[k] * z[i], z, line);
            }
        }
        self.covariance.minibatches += 1;
        let share = 1.0 / self.covariance.minibatches as f64;
        for (old, new) in self.covariance.matrix.iter_mut().zip(&self.hessian) {
            *old += share * (new / self.num_rows.max(1) as f64 - *old);
        }
    }

    /// What stands for C while rows may be fitted badly: (c_i + |s_i|) z_i z_i' averaged over the picked rows, with c_i the
    /// curvature and s_i the slope of row i in its predictor, so that no step moves the predictors by much more than 1.
    /// Half of it is new in each step, since it changes by orders of magnitude as the rows come to be fitted.
    fn bound_curvature(&mut self, view: &dyn MixedEffects, term: Option<&GroupTerm>) {
        let (dim, width) = (self.at.len(), 1 + view.num_auxiliaries());
        self.hessian.fill(0.0);
        let slopes = self.slopes.chunks_exact(width);
        for ((&row, slopes), curvature) in self.picks.iter().zip(slopes).zip(&self.curvatures) {
            let row = row as usize;
            let z = term.map_or_else(|| view.covariates(row), |term| term.row(row).0);
            let bound = curvature.abs() + slopes[0].abs();
            for (i, z_i) in z.iter().enumerate() {
                axpy(bound * z_i, z, &mut self.hessian[i * dim..][..z.len()]);
            }
            if term.is_none() {
                for (j, slope) in (dim + 1 - width..).zip(&slopes[1..]) {
                    self.hessian[j * dim + j] += slope.abs();
                }
            }
        }
        self.covariance.minibatches += 1;
        let share = if self.covariance.minibatches == 1 {
            1.0
        } else {
            0.5
        };
        let rows = self.batch.max(1) as f64;
        for (old, new) in self.covariance.matrix.iter_mut().zip(&self.hessian) {
            *old += share * (new / rows - *old);
        }
    }
}
