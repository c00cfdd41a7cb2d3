//! What samplers do on models that go wrong: densities that are no finite numbers, and interruptions.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use super::*;
use crate::models::{
    CentreRows, LogDensity, ParamInfo, Posterior, RowLikelihood, Rows, Scratch, sum_of_rows,
};
use crate::oracle::StepError;
use crate::samplers::momentum::sgnht::SgnhtCv;
use crate::samplers::{LOG_DENSITY, N_LEAPFROG, Sampler as _, SghmcCv, SgldCv, find};

/// What goes wrong in a [`Faulty`] model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The likelihood and its gradient are NaN where u₁ exceeds the bound.
    NanAbove(f64),
    /// The gradient is NaN there, the likelihood is not.
    NanGradientAbove(f64),
    /// The likelihood is +∞ there.
    InfiniteAbove(f64),
    /// Nothing is wrong; counts passes.
    None,
}

/// A Gaussian model with a fault; raises the flag when the countdown of likelihood passes reaches zero.
struct Faulty {
    inner: GaussianRows,
    fault: Fault,
    countdown: Arc<AtomicI64>,
    flag: Arc<AtomicBool>,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        Self {
            inner: GaussianRows::simulated(NUM_OBS, DIM, 1),
            fault,
            countdown: Arc::new(AtomicI64::new(i64::MAX)),
            flag: Arc::default(),
        }
    }

    fn poison(&self, u: &[f64], grad: &mut [f64]) {
        if let Fault::NanAbove(bound) | Fault::NanGradientAbove(bound) = self.fault
            && u[0] > bound
        {
            grad.fill(f64::NAN);
        }
    }
}

impl Model for Faulty {
    fn params(&self) -> &[ParamInfo] {
        self.inner.params()
    }
    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }
}

impl LogDensity for Faulty {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }
    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        self.inner.init(rng, u);
    }
    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl RowLikelihood for Faulty {
    fn num_obs(&self) -> usize {
        self.inner.num_obs()
    }
    fn scratch(&self) -> Scratch {
        self.inner.scratch()
    }
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.inner.log_prior(u, grad)
    }
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, s: &mut Scratch, grad: &mut [f64]) -> f64 {
        if self.countdown.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.flag.store(true, Ordering::Relaxed);
        }
        let value = self.inner.log_lik(u, rows, s, grad);
        self.poison(u, grad);
        match self.fault {
            Fault::NanAbove(bound) if u[0] > bound => f64::NAN,
            Fault::InfiniteAbove(bound) if u[0] > bound => f64::INFINITY,
            _ => value,
        }
    }
    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, s: &mut Scratch, grad: &mut [f64]) {
        self.inner.grad_log_lik(u, rows, s, grad);
        self.poison(u, grad);
    }
    fn pointwise(&self, u: &[f64], rows: Rows<'_>, s: &mut Scratch, out: &mut [f64]) {
        self.inner.pointwise(u, rows, s, out);
    }
    fn scores(&self, u: &[f64], rows: Rows<'_>, s: &mut Scratch, out: &mut [f64]) {
        self.inner.scores(u, rows, s, out);
        self.poison(u, out);
    }
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        s: &mut Scratch,
        grad: &mut [f64],
    ) {
        self.inner.grad_difference(u, rows, centre, s, grad);
        self.poison(u, grad);
    }
    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        s: &mut Scratch,
        out: &mut [f64],
    ) {
        self.inner.score_differences(u, rows, centre, s, out);
        self.poison(u, out);
    }
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        s: &mut Scratch,
        hessian: &mut [f64],
    ) {
        self.inner.add_neg_hessian_log_lik(u, rows, s, hessian);
    }
    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        self.inner.add_neg_hessian_log_prior(u, hessian);
    }
}

/// Samplers that can be tried on a faulty model; those that need a structure it has not are tried in their own files.
fn faulty_entries() -> impl Iterator<Item = &'static SamplerEntry> {
    REGISTRY
        .iter()
        .filter(|entry| (entry.suits)(&Faulty::new(Fault::None)).is_ok())
}

/// An oracle of a faulty model, centred where nothing is wrong yet.
fn faulty_oracle(fault: Fault) -> Oracle {
    let healthy = GaussianRows::simulated(NUM_OBS, DIM, 1);
    let centre = Arc::new(Centre::at(&healthy, &healthy.posterior_mean()).unwrap());
    centre.noise(Some(&healthy));
    exact_oracle(Arc::new(Faulty::new(fault)), Some(centre))
}

/// Chains that meet each fault.
const ENOUGH_STARTS: usize = 3;

#[test]
fn a_position_that_is_not_finite_is_never_reported() {
    // The fault begins half a posterior standard deviation above the mean: every chain meets it soon.
    let healthy = GaussianRows::simulated(NUM_OBS, DIM, 1);
    let bound = healthy.posterior_mean()[0] + 0.5 * healthy.posterior_variance()[0].sqrt();
    let faults = [
        Fault::NanAbove(bound),
        Fault::NanGradientAbove(bound),
        Fault::InfiniteAbove(bound),
    ];
    for entry in faulty_entries() {
        let log_density = entry
            .spec
            .info
            .iter()
            .position(|column| column.name == LOG_DENSITY);
        // Half of all trajectories meet the fault, however small their steps: these are not to shrink until a thousand make one.
        let run = match has_field(entry, "target_accept") {
            true => base_run(entry).set("target_accept", Value::Real(0.3)),
            false => base_run(entry),
        };
        for fault in faults {
            let mut started = 0;
            for seed in 1..=10 {
                if started == ENOUGH_STARTS {
                    break;
                }
                // A start inside the fault is refused.
                let Ok(mut session) = run.clone().seed(seed).try_start(faulty_oracle(fault)) else {
                    continue;
                };
                started += 1;
                while session.iter < 300 {
                    let outcome = session.advance(100);
                    let finite = session.kernel.position().iter().all(|u| u.is_finite());
                    match outcome {
                        Ok(()) => {
                            assert!(finite, "{} {fault:?}", entry.spec.id);
                            let defined = log_density.is_none_or(|k| session.info[k].is_finite());
                            assert!(defined, "{} {fault:?}", entry.spec.id);
                        }
                        Err(StepError::Interrupted) => panic!("nobody interrupted"),
                        Err(
                            error @ (StepError::BoundExceeded { .. }
                            | StepError::Lacks(_)
                            | StepError::Setting(_)),
                        ) => {
                            panic!("{error}")
                        }
                        Err(
                            StepError::NonFinite { .. }
                            | StepError::NoStart { .. }
                            | StepError::NotPositiveDefinite { .. },
                        ) => {
                            break;
                        }
                    }
                }
            }
            assert!(started > 0, "{} {fault:?}", entry.spec.id);
        }
    }
}

/// Where gradients around the mode are undefined, their noise is, and who needs it says so.
#[test]
fn noise_that_is_not_a_number_is_refused() {
    let healthy = GaussianRows::simulated(NUM_OBS, DIM, 1);
    let mean = healthy.posterior_mean();
    for id in [SghmcCv::SPEC.id, SgnhtCv::SPEC.id, SgldCv::SPEC.id] {
        let faulty = Faulty::new(Fault::NanGradientAbove(mean[0] + 1e-9));
        let centre = Arc::new(Centre::at(&healthy, &mean).unwrap());
        let oracle = exact_oracle(Arc::new(faulty), Some(centre));
        let refused = base_run(find(id).unwrap()).try_start(oracle).err();
        let said = refused.unwrap().to_string();
        assert!(said.contains("gradient is not a number"), "{said}");
    }
}

#[test]
fn trajectories_of_fixed_length_end_where_the_density_is_undefined() {
    let healthy = GaussianRows::simulated(NUM_OBS, DIM, 1);
    let bound = healthy.posterior_mean()[0] + healthy.posterior_variance()[0].sqrt();
    let fixed = faulty_entries().filter(|entry| has_field(entry, "trajectory"));
    let mut tried = 0;
    for entry in fixed {
        tried += 1;
        let run = base_run(entry)
            .set("trajectory", Value::Real(1.0))
            .set("step_size", Value::Real(0.01));
        let mut session = run.start(faulty_oracle(Fault::NanAbove(bound)));
        let mut steps = entry.spec.info.iter();
        let steps = steps.position(|column| column.name == N_LEAPFROG).unwrap();
        let mut lengths = Vec::new();
        while session.iter < 50 {
            session.advance(0).unwrap();
            lengths.push(session.info[steps]);
        }
        let [shortest, longest] = [f64::min, f64::max].map(|of| lengths.iter().copied().reduce(of));
        assert!(shortest < Some(100.0), "{}", entry.spec.id);
        assert_eq!(longest, Some(100.0), "{}", entry.spec.id);
    }
    assert!(tried > 1);
}

#[test]
fn a_target_that_is_nowhere_finite_ends_in_an_error() {
    for entry in faulty_entries() {
        let oracle = faulty_oracle(Fault::NanAbove(f64::NEG_INFINITY));
        if let Ok(mut session) = base_run(entry).try_start(oracle) {
            let failed = (0..10).any(|_| session.advance(10).is_err());
            assert!(failed, "{} went on", entry.spec.id);
        }
    }
}

#[test]
fn an_interrupted_step_can_be_forgotten() {
    for entry in faulty_entries() {
        let run = base_run(entry);
        let oracle = |model: Faulty| {
            let flag = Arc::clone(&model.flag);
            let centre = Arc::new(Centre::at(&model, &model.inner.posterior_mean()).unwrap());
            Oracle::new(Arc::new(model), Some(centre), false, flag)
        };
        let whole = trace(&run, oracle(Faulty::new(Fault::None)));
        let model = Faulty::new(Fault::None);
        let (countdown, flag) = (Arc::clone(&model.countdown), Arc::clone(&model.flag));
        let mut session = run.start(oracle(model));
        let mut interrupted = 0;
        while session.iter < LENGTH {
            let before = Checkpoint::of(&mut session);
            // Anywhere in the step: at its first pass, its second, …
            countdown.store(1 + (before.iter % 7) as i64, Ordering::Relaxed);
            match session.advance(WARMUP) {
                Ok(()) => {}
                Err(StepError::Interrupted) => {
                    interrupted += 1;
                    flag.store(false, Ordering::Relaxed);
                    countdown.store(i64::MAX, Ordering::Relaxed);
                    before.restore(&mut session);
                    session.advance(WARMUP).unwrap();
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(
                session.bits(),
                whole[before.iter as usize],
                "{}",
                entry.spec.id
            );
        }
        assert!(entry.spec.minibatch || interrupted > 5, "{}", entry.spec.id);
    }
}
