//! The convergence criterion (17) of OSGFS inside a sampler: the mean of the last n stochastic gradients must be within
//! b of its standard deviations of zero, component by component.
//!
//! Errata: the second C is missing in print; the variance is (1/n) diag(H + Σ), with Σ = (N²/|S|) C the covariance of
//! gradient noise. It treats consecutive gradients as independent, which they nearly are at n = 1/k: there a component
//! passes with probability about 0.73 at stationarity, and longer windows pass more often. All components together
//! pass rarely, therefore it is checked at every step and passing once ends the burn-in, as in the report's algorithm 1.
//!
//! Two settings do better. With `criterion = corrected` the variance is that of dependent gradients: in direction i of the
//! generalised eigenbasis of the step, where H is 1, that of independent ones times the ratio of
//! [`crate::numerics::grad_window::variance_ratio`], so that a component passes as often as a normal variable stays within b,
//! whatever the window. With `criterion = joint` all directions are tested together: the sum of squares of the mean
//! gradient's D independent directions, in their standard deviations, is χ² with D degrees of freedom at stationarity, and
//! passes below the quantile of that same probability, erf(b/√2): in many dimensions too.

use statrs::distribution::{ChiSquared, ContinuousCDF as _};
use statrs::function::erf::erf;

use crate::numerics::fisher_step::FisherStep;
use crate::numerics::grad_window::GradWindow;
use crate::samplers::{CRITERION, CRITERION_OF_COMPONENTS, InfoColumn, OutputSpec, StateVisitor};
use ergodic_base::linalg::dot;
use ergodic_base::settings::Field;

ergodic_base::choice! {
    /// Which test ends burn-in.
    pub enum Test {
        /// The report's criterion (17).
        Paper = "paper",
        /// With the variance of dependent gradients.
        Corrected = "corrected",
        /// All components at once.
        Joint = "joint",
    }
}

ergodic_base::settings! {
    /// Settings of the criterion that ends burn-in.
    pub struct BurnIn {
        window: Option<usize> = Field::int("Criterion window", 1, 1_000_000, None)
            .help("Stochastic gradients n whose mean the burn-in criterion looks at")
            .why("1/k, the report's choice, at which the criterion is about calibrated");
        b: f64 = Field::real("Criterion width", 0.01, 2.0, Some(1.0))
            .help("Standard deviations b that the mean gradient may be away from zero, per component, when burn-in ends")
            .why("the report's choice; a component then passes with probability 0.73 once converged");
        criterion: Test = Test::field("Burn-in criterion", Some(Test::Paper))
            .help(
                "paper: every component, consecutive gradients taken as independent; corrected: every component, with the \
                 variance of dependent gradients; joint: all components by one test, which passes as often in many dimensions",
            )
            .why("the report's criterion (17)");
    }
}

/// The information columns of the criterion.
pub const COLUMNS: [InfoColumn; 2] = [
    InfoColumn::new(
        CRITERION,
        "burn-in criterion: largest ratio over components of the mean gradient to its limit (of its length, if the \
         test is joint); 1 or less passes",
    ),
    InfoColumn::new(
        "criterion_within",
        "share of components within the limit of the burn-in criterion, 0 to 1",
    ),
];

/// What samplers with the criterion make beside its columns.
pub const OUTPUTS: &[OutputSpec] = &[OutputSpec {
    name: CRITERION_OF_COMPONENTS,
    help: "Recent mean gradient over its expected size for each component; at convergence at most 1 about 73 times in 100",
}];

/// The criterion in force.
#[derive(Clone, Copy, Debug)]
pub struct CriterionSettings {
    test: Test,
    /// b.
    width: f64,
    /// n.
    pub window: usize,
}

impl BurnIn {
    /// The user's, or the report's, with 1/k for the window.
    pub fn settle(&mut self, k: f64) -> CriterionSettings {
        CriterionSettings {
            test: self.criterion,
            width: self.b,
            window: *self
                .window
                .get_or_insert((1.0 / k).round().max(1.0) as usize),
        }
    }
}

/// The window of gradients, the latest ratios, and whether the criterion ever held.
#[derive(Debug)]
pub struct Criterion {
    settings: CriterionSettings,
    window: GradWindow,
    ratios: Vec<f64>,
    passed: u64,
    /// The limit of the joint test.
    limit: f64,
    /// Working memory, and what the joint test said last.
    variance: Vec<f64>,
    mean: Vec<f64>,
    joint: f64,
}

impl Criterion {
    /// A criterion for gradients of length `dim`.
    pub fn new(dim: usize, settings: CriterionSettings) -> Self {
        let probability = erf(settings.width * std::f64::consts::FRAC_1_SQRT_2);
        let limit = ChiSquared::new(dim.max(1) as f64)
            .map_or(f64::NAN, |chi_squared| chi_squared.inverse_cdf(probability));
        Self {
            window: GradWindow::new(dim, settings.window),
            ratios: vec![f64::NAN; dim],
            passed: 0,
            limit,
            variance: vec![0.0; dim],
            mean: vec![0.0; dim],
            joint: f64::NAN,
            settings,
        }
    }

    /// Adds a gradient and checks, given the curvature H and the noise covariance Σ of one gradient (both D×D) and the step
    /// that is made of them.
    pub fn observe(&mut self, grad: &[f64], hessian: &[f64], sigma: &[f64], step: &FisherStep) {
        let dim = grad.len();
        let len = self.window.len() as f64;
        self.window.push(grad);
        if self.settings.test == Test::Paper {
            for (j, variance) in self.variance.iter_mut().enumerate() {
                *variance = (hessian[j * dim + j] + sigma[j * dim + j]) / len;
            }
        } else {
            self.correct(hessian, step);
        }
        let width = self.settings.width;
        let within = self.window.ratios(&self.variance, width, &mut self.ratios);
        let passed = match self.settings.test {
            Test::Paper | Test::Corrected => within,
            Test::Joint => self.window.is_full() && self.joint <= 1.0,
        };
        if passed {
            self.passed = 1;
        }
    }

    /// The variance of the mean of dependent gradients per component, and the joint test. With V'HV = I the mean has the
    /// covariance HV diag(c_i) V'H, so that V' mean has diag(c_i).
    fn correct(&mut self, hessian: &[f64], step: &FisherStep) {
        self.window.mean(&mut self.mean);
        self.variance.fill(0.0);
        let mut sum = 0.0;
        for i in 0..self.mean.len() {
            let (direction, c) = (step.direction(i), step.mean_variance(i, self.window.len()));
            for (line, variance) in hessian
                .chunks_exact(direction.len())
                .zip(&mut self.variance)
            {
                *variance += c * dot(line, direction).powi(2);
            }
            sum += dot(direction, &self.mean).powi(2) / c;
        }
        self.joint = (sum / self.limit).sqrt();
    }

    /// Whether the criterion held at some step with a full window.
    pub fn passed(&self) -> bool {
        self.passed == 1
    }

    /// Ratio per component, limit 1 (D).
    pub fn ratios(&self) -> &[f64] {
        &self.ratios
    }

    /// Writes [`COLUMNS`]; NaN while the window fills.
    pub fn report(&self, info: &mut [f64]) {
        if !self.window.is_full() {
            info.fill(f64::NAN);
            return;
        }
        info[0] = match self.settings.test {
            Test::Paper | Test::Corrected => self.ratios.iter().copied().fold(0.0, f64::max),
            Test::Joint => self.joint,
        };
        let within = self.ratios.iter().filter(|&&ratio| ratio <= 1.0).count();
        info[1] = within as f64 / self.ratios.len() as f64;
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        let (ring, sum, seen) = self.window.parts_mut();
        visitor.slice("window", ring);
        visitor.slice("window_sum", sum);
        visitor.counter("window_seen", seen);
        visitor.slice("ratios", &mut self.ratios);
        visitor.counter("passed", &mut self.passed);
    }
}
