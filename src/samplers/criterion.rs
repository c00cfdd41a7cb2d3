//! The convergence criterion (17) of OSGFS inside a sampler: the mean of the last n stochastic gradients must be within
//! b of its standard deviations of zero, component by component.
//!
//! Errata: the second C is missing in print; the variance is (1/n) diag(H + Σ), with Σ = (N²/|S|) C the covariance of
//! gradient noise. It treats consecutive gradients as independent, which they nearly are at n = 1/k: there a component
//! passes with probability about 0.73 at stationarity, and longer windows pass more often. All components together
//! pass rarely, therefore it is checked at every step and passing once ends the burn-in, as in the report's algorithm 1.

use super::{CRITERION, InfoColumn, StateVisitor};
use crate::base::grad_window::GradWindow;
use crate::base::settings::{Default, Field, Kind, Settings};

/// Length of the window.
pub const WINDOW: Field = Field {
    key: "window",
    label: "Criterion window",
    help: "Stochastic gradients n whose mean the burn-in criterion looks at",
    kind: Kind::Int {
        min: 1,
        max: 1_000_000,
    },
    default: None,
    why: "1/k, the report's choice, at which the criterion is about calibrated",
};

/// Width of the limit.
pub const WIDTH: Field = Field {
    key: "b",
    label: "Criterion width",
    help: "Standard deviations b that the mean gradient may be away from zero, per component, when burn-in ends",
    kind: Kind::Real {
        min: 0.01,
        max: 2.0,
    },
    default: Some(Default::Real(1.0)),
    why: "the report's choice; a component then passes with probability 0.73 once converged",
};

/// The information column of the criterion.
pub const COLUMNS: [InfoColumn; 2] = [
    InfoColumn {
        name: CRITERION,
        help: "burn-in criterion: largest ratio over components of the mean gradient to its limit; 1 or less passes",
    },
    InfoColumn {
        name: "criterion_within",
        help: "share of components within the limit of the burn-in criterion, 0 to 1",
    },
];

/// The width in force.
pub fn width(settings: &Settings) -> f64 {
    settings.real("b").unwrap_or(1.0)
}

/// The window in force: the user's, or 1/k.
pub fn window(settings: &Settings, k: f64) -> usize {
    settings
        .int("window")
        .map_or_else(|| (1.0 / k).round().max(1.0) as usize, |n| n as usize)
}

/// The window of gradients, the latest ratios, and whether the criterion ever held.
#[derive(Debug)]
pub struct Criterion {
    window: GradWindow,
    variance: Vec<f64>,
    ratios: Vec<f64>,
    passed: u64,
    width: f64,
}

impl Criterion {
    /// A criterion of `len` gradients of length `dim` with limit `width`.
    pub fn new(dim: usize, len: usize, width: f64) -> Self {
        Self {
            window: GradWindow::new(dim, len),
            variance: vec![0.0; dim],
            ratios: vec![f64::NAN; dim],
            passed: 0,
            width,
        }
    }

    /// Adds a gradient and checks, given the curvature H and the noise covariance Σ of one gradient (both D×D).
    pub fn observe(&mut self, grad: &[f64], hessian: &[f64], sigma: &[f64]) {
        let dim = grad.len();
        let len = self.window.len() as f64;
        self.window.push(grad);
        for (j, variance) in self.variance.iter_mut().enumerate() {
            *variance = (hessian[j * dim + j] + sigma[j * dim + j]) / len;
        }
        if self
            .window
            .ratios(&self.variance, self.width, &mut self.ratios)
        {
            self.passed = 1;
        }
    }

    /// Whether it held at some step with a full window.
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
        info[0] = self.ratios.iter().copied().fold(0.0, f64::max);
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
