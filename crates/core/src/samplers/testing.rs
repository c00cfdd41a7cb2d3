//! Targets, a plain chain runner and batch means for the tests of samplers.

use std::sync::{Arc, OnceLock};

use ndarray::Array2;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::conformance::Checkpoint;
use super::{Kernel, KernelError, Phase, SamplerEntry, SamplerFamily, Target, Tick, WEIGHT, find};
use crate::allocations::count_during;
use crate::design::{Design, GroupDesign, GroupFactor, ResponseInfo, ResponseKind};
use crate::estimators::find_mode;
use crate::models::{DefaultPriors, DensityModel, LogDensity, Model, ModelOptions};
use crate::oracle::{Centre, Oracle, RowNoise, StepError};
use crate::testing::{GaussianRows, binary, plain_design};
use ergodic_base::linalg::{Cholesky, matvec};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{ChainRng, Control, Purpose, Streams, stream};

/// Batches per chain for standard errors: few and long, so that slow mixing is seen.
const BATCHES: usize = 25;

/// A target given by its log density and gradient.
pub struct Density<F> {
    dim: usize,
    log_density: F,
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'static> Density<F> {
    /// `log_density(u, grad)` returns log π and overwrites its gradient.
    pub fn model(dim: usize, log_density: F) -> Arc<dyn Model> {
        Arc::new(DensityModel::new(Self { dim, log_density }))
    }
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync> LogDensity for Density<F> {
    fn dim(&self) -> usize {
        self.dim
    }
    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        (self.log_density)(u, grad)
    }
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        for u in u {
            let z: f64 = StandardNormal.sample(rng);
            *u = 0.5 * z;
        }
    }
}

/// N(0, covariance).
pub fn correlated(covariance: &[f64], dim: usize) -> Arc<dyn Model> {
    let precision = Cholesky::of(covariance, dim).unwrap().inverse();
    Density::model(dim, move |u, grad| {
        matvec(&precision, u, grad);
        for grad in grad.iter_mut() {
            *grad = -*grad;
        }
        0.5 * u.iter().zip(&*grad).map(|(u, g)| u * g).sum::<f64>()
    })
}

/// Posterior means, variances and the covariance of a 2-D density by the trapezoidal rule.
pub fn grid_moments(model: &dyn Model, centre: [f64; 2], half_width: [f64; 2]) -> [f64; 5] {
    let density = model.density().unwrap();
    let mut grad = [0.0; 2];
    let mut sums = [0.0; 6];
    let points = 401;
    let at = |k: usize, j: usize| {
        centre[j] + half_width[j] * (2.0 * k as f64 / (points - 1) as f64 - 1.0)
    };
    let mut value = |u: [f64; 2]| density.log_density(&u, &mut grad);
    let peak = value(centre);
    for a in 0..points {
        for b in 0..points {
            let u = [at(a, 0), at(b, 1)];
            let weight = (value(u) - peak).exp();
            let terms = [1.0, u[0], u[1], u[0] * u[0], u[1] * u[1], u[0] * u[1]];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += weight * term;
            }
        }
    }
    let [_, x, y, xx, yy, xy] = sums.map(|sum| sum / sums[0]);
    [x, y, xx - x * x, yy - y * y, xy - x * y]
}

/// The closed-form Gaussian posterior with its centre at the mean.
pub fn gaussian_with_centre(
    num_obs: usize,
    dim: usize,
    seed: u64,
) -> (Arc<dyn Model>, Arc<Centre>) {
    let model = GaussianRows::simulated(num_obs, dim, seed);
    let centre = Arc::new(Centre::at(&model, &model.posterior_mean()).unwrap());
    (Arc::new(model), centre)
}

/// A logistic regression with intercept and one centred predictor, priors normal(0, `prior_sd`).
pub fn small_logistic(x: &[f64], y: &[f64], prior_sd: f64) -> Arc<dyn Model> {
    let flat = x.iter().flat_map(|&x| [1.0, x]).collect();
    let columns = Array2::from_shape_vec((x.len(), 2), flat).unwrap();
    let design = plain_design(columns, y.to_vec(), binary());
    let prior = format!("normal(0, {prior_sd})");
    let options = ModelOptions {
        priors: vec![("intercept".into(), prior.clone()), ("b".into(), prior)],
        standardize: true,
        ..ModelOptions::default()
    };
    (crate::models::find("logistic").unwrap().build)(Arc::new(design), &options).unwrap()
}

/// A logistic posterior of 40 rows and two parameters, with its mode.
pub fn logistic_with_centre() -> (Arc<dyn Model>, Arc<Centre>) {
    let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 20.0 - 0.975).collect();
    let y: Vec<f64> = (0..40)
        .map(|i| f64::from(u8::from(i * 7 % 40 < i)))
        .collect();
    let model = small_logistic(&x, &y, 2.5);
    let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
    (model, Arc::new(mode.centre))
}

/// The small targets of tests: the closed-form Gaussian of 200 rows and three parameters, a logistic posterior, one of
/// probabilities, one of groups, a mixed model without a mode, and mixtures, which have none.
fn small_targets() -> impl Iterator<Item = (Arc<dyn Model>, Option<Arc<Centre>>)> {
    let makers: [fn() -> Centreed; 4] = [
        || gaussian_with_centre(200, 3, 1),
        logistic_with_centre,
        || categorical_with_centre(&[120, 40, 30, 9, 1, 0]),
        groups_with_centre,
    ];
    let mixed = std::iter::once_with(|| {
        let model = super::groups::mixed::testing::nested_mixed("gaussian", &[], true);
        (model, None)
    });
    let mixtures = crate::testing::mixtures_of_forty().map(|model| (model, None));
    let topics = std::iter::once_with(|| (crate::testing::thirty_documents(), None));
    makers
        .into_iter()
        .map(|make| make())
        .map(|(model, centre)| (model, Some(centre)))
        .chain(mixed)
        .chain(mixtures)
        .chain(topics)
}

/// A target without a model. At its mode rows are as of a well-specified model, control variates need `difference_rows` rows, and
/// coordinates are independent.
pub fn known_target(
    num_obs: usize,
    dim: usize,
    difference_rows: f64,
    curvature_range: (f64, f64),
) -> Target {
    let (model, centre) = logistic_with_centre();
    let noise = RowNoise {
        difference_rows,
        ..RowNoise::of_one_row(&centre.hessian)
    };
    let mut centre = Centre::clone(&centre).with_noise(noise);
    (centre.curvature_range, centre.scaled_condition) = (curvature_range, 1.0);
    Target {
        num_obs,
        dim,
        mode: Some((model, Arc::new(centre))),
        model: None,
    }
}

/// A model with its mode.
type Centreed = (Arc<dyn Model>, Arc<Centre>);

/// What a test of hierarchical models varies.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// Rows of each group.
    pub sizes: &'a [usize],
    /// Weight of every row; 0 leaves the prior alone.
    pub weight: f64,
    /// Setting `parametrisation` of the template.
    pub parametrisation: &'static str,
    /// Prior of Σ.
    pub sigma: &'static str,
    /// Prior of μ.
    pub mu: &'static str,
}

impl<'a> Groups<'a> {
    /// Groups of these sizes under a prior of Σ with finite fourth moments.
    pub fn of(sizes: &'a [usize]) -> Self {
        Self {
            sizes,
            weight: 1.0,
            parametrisation: "non-centred",
            sigma: "inv_wishart(12, 4)",
            mu: "normal(0, Sigma/0.5)",
        }
    }

    /// A hierarchical logistic model of an intercept and a slope, reported on the standardised scale; the last group has
    /// failures only.
    pub fn model(&self) -> Arc<dyn Model> {
        let mut rng = stream(77, 0, Purpose::Data);
        let (mut x, mut y, mut index) = (Vec::new(), Vec::new(), Vec::new());
        for (g, &size) in self.sizes.iter().enumerate() {
            let [a, b]: [f64; 2] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
            for _ in 0..size {
                let [x_i, logistic]: [f64; 2] = [StandardNormal.sample(&mut rng), rng.random()];
                let p = 1.0 / (1.0 + (-0.3 - 0.7 * a - (0.8 + 0.5 * b) * x_i).exp());
                let fails = g + 1 == self.sizes.len();
                x.extend([1.0, x_i]);
                y.push(f64::from(u8::from(logistic < p && !fails)));
                index.push(g as u32);
            }
        }
        let n = y.len();
        let x = Array2::from_shape_vec((n, 2), x).unwrap();
        let design = Design {
            weights: (self.weight != 1.0).then(|| vec![self.weight; n]),
            groups: vec![GroupFactor {
                name: "g".to_owned(),
                levels: (1..=self.sizes.len()).map(|g| g.to_string()).collect(),
                index,
            }],
            group_terms: vec![GroupDesign {
                factor: 0,
                names: vec!["Intercept".to_owned(), "x".to_owned()],
                z: x.clone(),
                scale: vec![1.0; 2],
                correlated: true,
            }],
            ..plain_design(x, y, binary())
        };
        let mut settings = Settings::default();
        let word = Value::Text(self.parametrisation.to_owned());
        settings.set("parametrisation", word);
        let options = ModelOptions {
            defaults: DefaultPriors::default(),
            settings,
            priors: vec![
                ("mu".into(), self.mu.into()),
                ("Sigma".into(), self.sigma.into()),
            ],
            standardize: true,
            report_standardized: true,
            ..ModelOptions::default()
        };
        (crate::models::find("hierarchical").unwrap().build)(Arc::new(design), &options).unwrap()
    }

    /// The model with its mode.
    pub fn centred(&self) -> (Arc<dyn Model>, Arc<Centre>) {
        let model = self.model();
        let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
        (model, Arc::new(mode.centre))
    }
}

/// A hierarchical posterior of four groups and 13 parameters, with its mode.
pub fn groups_with_centre() -> (Arc<dyn Model>, Arc<Centre>) {
    static ONCE: OnceLock<Centreed> = OnceLock::new();
    ONCE.get_or_init(|| Groups::of(&[30, 12, 1, 10]).centred())
        .clone()
}

/// The posterior of the probabilities of categories with these counts under dirichlet(0.1), with its mode.
pub fn categorical_with_centre(counts: &[usize]) -> (Arc<dyn Model>, Arc<Centre>) {
    let codes = counts.iter().enumerate();
    let y: Vec<f64> = codes
        .flat_map(|(code, &count)| vec![code as f64; count])
        .collect();
    let levels: Vec<String> = (1..=counts.len()).map(|level| level.to_string()).collect();
    let n = y.len();
    let design = Design {
        response: ResponseInfo {
            name: "y".into(),
            counts: levels.iter().cloned().zip(counts.iter().copied()).collect(),
            kind: ResponseKind::Categories { levels },
        },
        ..plain_design(Array2::ones((n, 1)), y, ResponseKind::Successes)
    };
    let template = crate::models::find("categorical").unwrap();
    let model = (template.build)(Arc::new(design), &ModelOptions::default()).unwrap();
    let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
    (model, Arc::new(mode.centre))
}

/// Whether the sampler is tried on this model: it suits, and there is something to estimate. Log likelihoods of Gaussian rows are
/// their own expansions, which leaves nothing to samplers that compare the two.
fn is_tried_on(entry: &SamplerEntry, model: &dyn Model) -> bool {
    let compares = entry.spec.family == SamplerFamily::SubsamplingHmc;
    (entry.suits)(model).is_ok() && (!compares || model.linear_rows().is_some())
}

/// A small target that suits the sampler: the closed-form Gaussian of 200 rows and three parameters, or a logistic
/// posterior, one of probabilities or a mixture for samplers that need their structure.
pub fn suitable_target(entry: &SamplerEntry) -> (Arc<dyn Model>, Option<Arc<Centre>>) {
    small_targets()
        .find(|(model, _centre)| is_tried_on(entry, model.as_ref()))
        .unwrap_or_else(|| panic!("{} suits no model of the tests", entry.spec.id))
}

/// A serial oracle.
pub fn exact_oracle(model: Arc<dyn Model>, centre: Option<Arc<Centre>>) -> Oracle {
    Oracle::new(model, centre, false, Arc::default())
}

/// What a sampler is told about the oracle's target.
pub fn target_of(oracle: &Oracle) -> Target {
    Target::of(oracle)
}

/// A random start: from the quadratic approximation at the centre, or as the model says.
pub fn random_start(oracle: &Oracle, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, 0, Purpose::Init);
    let mut u = vec![0.0; oracle.dim()];
    match oracle.centre() {
        Some(centre) => {
            for u in &mut u {
                *u = StandardNormal.sample(&mut rng);
            }
            centre.factor.solve_lower_transpose(&mut u);
            for (u, centre) in u.iter_mut().zip(&centre.u) {
                *u += centre;
            }
        }
        None => {
            if let Some(density) = oracle.model().density() {
                density.init(&mut rng, &mut u);
            }
        }
    }
    u
}

/// How to run a sampler.
#[derive(Clone)]
pub struct Run {
    id: &'static str,
    settings: Settings,
    seed: u64,
}

impl Run {
    /// The sampler `id` with default settings and seed 1.
    pub fn new(id: &'static str) -> Self {
        Self {
            id,
            settings: Settings::default(),
            seed: 1,
        }
    }

    /// With another setting.
    pub fn set(mut self, key: &str, value: Value) -> Self {
        self.settings.set(key, value);
        self
    }

    /// The sampler.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// The settings so far.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// An oracle of a small target that suits the sampler and accepts these settings.
    pub fn suitable_oracle(&self) -> Oracle {
        let entry = find(self.id).unwrap();
        let (model, centre) = small_targets()
            .find(|(model, centre)| {
                let target = Target::new(model, centre.as_ref());
                is_tried_on(entry, model.as_ref())
                    && (entry.resolve)(&self.settings, &target).is_ok()
            })
            .unwrap_or_else(|| panic!("{} with {:?} suits no test", self.id, self.settings));
        exact_oracle(model, centre)
    }

    /// With another seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The kernel at a random start.
    ///
    /// # Errors
    /// What the sampler says.
    pub fn try_start(&self, mut oracle: Oracle) -> Result<Session, KernelError> {
        let entry = find(self.id).unwrap();
        let mut streams = Streams::new(self.seed, 0);
        let (target, u0) = (target_of(&oracle), random_start(&oracle, self.seed));
        let kernel = (entry.build)(&self.settings, &target, &u0, &mut oracle, &mut streams)?;
        Ok(Session {
            kernel,
            streams,
            oracle,
            info: vec![0.0; entry.spec.info.len()],
            iter: 0,
            steps: 0,
            decides_warmup: entry.spec.decides_warmup,
            weight_column: entry.spec.info.iter().position(|c| c.name == WEIGHT),
        })
    }

    /// The kernel at a random start.
    pub fn start(&self, oracle: Oracle) -> Session {
        self.try_start(oracle).unwrap()
    }

    /// Runs `warmup` iterations (fewer if the sampler decides so) and `draws` more.
    pub fn go(&self, oracle: Oracle, warmup: u64, draws: usize) -> Chain {
        let mut session = self.start(oracle);
        let mut chain = Chain {
            dim: session.oracle.dim(),
            num_info: session.info.len(),
            weight_column: session.weight_column,
            draws: Vec::new(),
            info: Vec::new(),
            warmup_info: Vec::new(),
        };
        while session.iter < warmup && !(session.decides_warmup && session.kernel.ready()) {
            session.warm_up(warmup).unwrap();
            chain.warmup_info.extend_from_slice(&session.info);
        }
        for _ in 0..draws {
            session.draw().unwrap();
            chain.draws.extend_from_slice(session.kernel.position());
            chain.info.extend_from_slice(&session.info);
        }
        chain
    }
}

/// A kernel with all that it steps with.
pub struct Session {
    pub kernel: Box<dyn Kernel>,
    pub streams: Streams,
    pub oracle: Oracle,
    /// Information of the last step.
    pub info: Vec<f64>,
    /// Iterations done.
    pub iter: u64,
    /// Steps done of the present iteration.
    pub steps: u64,
    decides_warmup: bool,
    weight_column: Option<usize>,
}

impl Session {
    /// One iteration of a warm-up of `length` iterations (unplanned for samplers that decide its end).
    ///
    /// # Errors
    /// What the sampler says.
    pub fn warm_up(&mut self, length: u64) -> Result<(), StepError> {
        let length = (!self.decides_warmup).then_some(length);
        self.iterate(Phase::Warmup { length })
    }

    /// One iteration after warm-up.
    ///
    /// # Errors
    /// What the sampler says.
    pub fn draw(&mut self) -> Result<(), StepError> {
        self.iterate(Phase::Draw)
    }

    /// The next iteration of a run with `warmup` iterations of warm-up.
    ///
    /// # Errors
    /// What the sampler says.
    pub fn advance(&mut self, warmup: u64) -> Result<(), StepError> {
        if self.iter < warmup {
            self.warm_up(warmup)
        } else {
            self.draw()
        }
    }

    /// One step of the next iteration, which may be a part of it.
    ///
    /// # Errors
    /// What the sampler says; the step does not count then.
    pub fn step(&mut self, phase: Phase) -> Result<(), StepError> {
        let at = Tick {
            iter: self.iter,
            phase,
        };
        self.kernel
            .step(at, &mut self.oracle, &mut self.streams, &mut self.info)?;
        self.steps += 1;
        if self.steps == self.kernel.steps_per_draw() {
            self.steps = 0;
            self.iter += 1;
        }
        Ok(())
    }

    fn iterate(&mut self, phase: Phase) -> Result<(), StepError> {
        let iter = self.iter;
        while self.iter == iter {
            self.step(phase)?;
        }
        Ok(())
    }

    /// Bits of position and information.
    pub fn bits(&self) -> Vec<u64> {
        let position = self.kernel.position().iter();
        position.chain(&self.info).map(|v| v.to_bits()).collect()
    }
}

/// What a run left.
pub struct Chain {
    /// D.
    pub dim: usize,
    num_info: usize,
    weight_column: Option<usize>,
    /// Row-major, draws × D.
    pub draws: Vec<f64>,
    info: Vec<f64>,
    warmup_info: Vec<f64>,
}

impl Chain {
    /// Coordinate `j` of all draws.
    pub fn coordinate(&self, j: usize) -> Vec<f64> {
        column(&self.draws, self.dim, j)
    }

    /// Weights of all draws, 1 for samplers without weights.
    pub fn weights(&self) -> Vec<f64> {
        match self.weight_column {
            Some(k) => self.info(k),
            None => vec![1.0; self.draws.len() / self.dim],
        }
    }

    /// Information column `k` of all draws.
    pub fn info(&self, k: usize) -> Vec<f64> {
        column(&self.info, self.num_info, k)
    }

    /// Information column `k` over warm-up.
    pub fn warmup_info(&self, k: usize) -> Vec<f64> {
        column(&self.warmup_info, self.num_info, k)
    }

    /// Monte Carlo standard error of the mean of coordinate `j`.
    pub fn mcse(&self, j: usize) -> f64 {
        estimate(&[self.coordinate(j)]).1
    }
}

fn column(values: &[f64], width: usize, k: usize) -> Vec<f64> {
    values.iter().skip(k).step_by(width).copied().collect()
}

/// Arithmetic mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation.
pub fn sd(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// Mean over chains of equal length and its standard error from the means of long batches.
pub fn estimate(chains: &[Vec<f64>]) -> (f64, f64) {
    let ones: Vec<Vec<f64>> = chains.iter().map(|chain| vec![1.0; chain.len()]).collect();
    weighted_estimate(chains, &ones)
}

/// Mean and standard error of weighted draws: the ratio estimate Σwx/Σw and, to first order, its standard error.
pub fn weighted_estimate(chains: &[Vec<f64>], weights: &[Vec<f64>]) -> (f64, f64) {
    let pairs = || chains.iter().flatten().zip(weights.iter().flatten());
    let total: f64 = pairs().map(|(_x, w)| w).sum();
    let centre = pairs().map(|(x, w)| w * x).sum::<f64>() / total;
    let mean_weight = total / pairs().count() as f64;
    let batches: Vec<f64> = chains
        .iter()
        .zip(weights)
        .flat_map(|(chain, weights)| {
            let influence: Vec<f64> = chain
                .iter()
                .zip(weights)
                .map(|(x, w)| w * (x - centre) / mean_weight)
                .collect();
            let means: Vec<f64> = influence
                .chunks_exact(chain.len() / BATCHES)
                .map(mean)
                .collect();
            means
        })
        .collect();
    (centre, sd(&batches) / (batches.len() as f64).sqrt())
}

/// What four standard errors of a variance may be at most, as a share of it: a larger one would hide what is looked for.
pub const KNOWN_TO: f64 = 0.1;

/// Fails unless mean and variance of `chains` agree with the given ones within four standard errors, which are small.
pub fn assert_moments(what: &str, chains: &[Vec<f64>], true_mean: f64, true_variance: f64) {
    assert_moments_known_to(KNOWN_TO, what, chains, true_mean, true_variance);
}

/// Checks moments as [`assert_moments`] does, where squares have heavy tails, or follow each other slowly, so that a variance is only known
/// to a `share` of it.
pub fn assert_moments_known_to(
    share: f64,
    what: &str,
    chains: &[Vec<f64>],
    true_mean: f64,
    true_variance: f64,
) {
    let ones: Vec<Vec<f64>> = chains.iter().map(|chain| vec![1.0; chain.len()]).collect();
    assert_weighted_moments(share, what, (chains, &ones), true_mean, true_variance);
}

/// Checks moments as [`assert_moments_known_to`] does, of weighted draws.
pub fn assert_weighted_moments(
    share: f64,
    what: &str,
    (chains, weights): (&[Vec<f64>], &[Vec<f64>]),
    true_mean: f64,
    true_variance: f64,
) {
    let (found, mcse) = weighted_estimate(chains, weights);
    assert!(
        (found - true_mean).abs() < 4.0 * mcse,
        "{what}: mean {found} against {true_mean}, mcse {mcse}"
    );
    let squares: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| chain.iter().map(|v| (v - true_mean).powi(2)).collect())
        .collect();
    let (found, mcse) = weighted_estimate(&squares, weights);
    assert!(
        (found - true_variance).abs() < 4.0 * mcse,
        "{what}: variance {found} against {true_variance}, mcse {mcse}"
    );
    // A standard error so large that it hides everything would make the above worthless.
    let known = 4.0 * mcse / true_variance;
    assert!(known < share, "{what}: known to {known:.3}, not {share}");
}

/// Fails unless mean and standard deviation of `chains` agree with those of another program within four standard errors of
/// both; its mean has the standard error `mcse`.
pub fn assert_moments_near(what: &str, chains: &[Vec<f64>], mean: f64, mcse: f64, sd: f64) {
    let (found, error) = estimate(chains);
    let allowed = 4.0 * error.hypot(mcse);
    assert!(
        (found - mean).abs() < allowed && allowed < 0.15 * sd,
        "{what}: mean {found} against {mean}, allowed {allowed}"
    );
    let squares: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| chain.iter().map(|v| (v - mean).powi(2)).collect())
        .collect();
    let (found, error) = estimate(&squares);
    // The other program's variance is about as well known as its mean, in relative terms.
    let allowed = 4.0 * error.hypot(2.0 * mcse * sd);
    assert!(
        (found - sd * sd).abs() < allowed && allowed < 0.3 * sd * sd,
        "{what}: variance {found} against {}, allowed {allowed}",
        sd * sd
    );
}

/// Checks that `run` does not allocate after its first iteration and goes on bit for bit from its state at the iterations `marks`, up to
/// shortly after `warmup`.
#[track_caller]
pub fn assert_restored(run: &Run, oracle: impl Fn() -> Oracle, warmup: u64, marks: &[u64]) {
    let steady = |session: &Session, count: u64| {
        let first = session.iter == 1;
        assert!(
            first || count == 0,
            "{}, iteration {}",
            run.id,
            session.iter
        );
    };
    goes_on(run, oracle, warmup, marks, steady);
}

/// Checks that `run` goes on bit for bit from its state at the iterations `marks`, up to shortly after `warmup`.
#[track_caller]
pub fn assert_goes_on(run: &Run, oracle: impl Fn() -> Oracle, warmup: u64, marks: &[u64]) {
    goes_on(run, oracle, warmup, marks, |_session, _count| {});
}

/// Calls `check` after each iteration of the whole run, with the allocations that it made.
#[track_caller]
fn goes_on(
    run: &Run,
    oracle: impl Fn() -> Oracle,
    warmup: u64,
    marks: &[u64],
    check: impl Fn(&Session, u64),
) {
    let end = warmup + 5;
    let mut session = run.start(oracle());
    let (mut whole, mut checkpoints) = (Vec::new(), Vec::new());
    while session.iter < end {
        if marks.contains(&session.iter) {
            checkpoints.push(Checkpoint::of(&mut session));
        }
        let mut outcome = Ok(());
        let count = count_during(|| outcome = session.advance(warmup));
        outcome.unwrap();
        check(&session, count);
        whole.push(session.bits());
    }
    assert_eq!(checkpoints.len(), marks.len());
    for checkpoint in checkpoints {
        let mut other = run.clone().seed(99).start(oracle());
        other.advance(warmup).unwrap();
        checkpoint.restore(&mut other);
        while other.iter < end {
            let iter = other.iter as usize;
            other.advance(warmup).unwrap();
            assert_eq!(other.bits(), whole[iter], "{}, iteration {iter}", run.id);
        }
    }
}
