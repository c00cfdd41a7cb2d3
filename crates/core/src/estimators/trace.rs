//! What a search for the mode did: its course and its end.

use serde::{Deserialize, Serialize};

use super::mode::{GOOD_ENOUGH, Objective};
use super::{registry, smoothing};
use crate::oracle::Centre;
use ergodic_base::linalg::dot;

/// Method of [`TracePoint`]s that climb the log posterior with the likelihood of a subset, scaled to all rows.
pub(super) const SUBSET: &str = "newton-subset";

/// One point of a search's course.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Method at work; `newton-subset` climbs the log posterior with the likelihood of a subset scaled to all rows.
    pub method: String,
    /// Passes over the data so far: evaluations of single rows by the number of rows.
    pub passes: f64,
    /// Log posterior, constants dropped.
    pub log_density: f64,
    /// Norm of the gradient in units of the curvature at the mode: near it, the distance in posterior standard deviations.
    pub gradient_norm: f64,
}

/// How a mode was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Method that was chosen, or that `auto` ended with.
    pub method: String,
    /// Iterations of the optimiser.
    pub iterations: u64,
    /// Passes over the data, all methods together.
    pub passes: f64,
    /// Where a stochastic method stopped, in posterior standard deviations from the mode; absent for others, and where the
    /// curvature was not positive definite.
    pub stopped_at: Option<f64>,
    /// Newton (or L-BFGS) iterations that a stochastic method was finished with.
    pub polish: Option<u64>,
    /// Norm of the gradient at the centre in units of the curvature there.
    pub gradient_norm: f64,
    /// Course of the search, oldest first, points with finite numbers only.
    pub trace: Vec<TracePoint>,
}

impl Search {
    /// Log density below the mode, in nats, that no longer matters: that of a tenth of a standard deviation.
    pub const GAP: f64 = 0.5 * GOOD_ENOUGH * GOOD_ENOUGH;

    /// The norm of the gradient in posterior standard deviations, and how far the log density is below its end in nats, each against
    /// passes over the data: points [passes, value], with values of at least `least`, as a logarithmic axis needs them. A start from a
    /// subset climbs another density, whose height says nothing, and is left out of the second.
    pub fn courses(&self, least: f64) -> [Vec<[f64; 2]>; 2] {
        let top = self.trace.last().map_or(0.0, |point| point.log_density);
        let gradient = |point: &TracePoint| [point.passes, point.gradient_norm.max(least)];
        let gap = |point: &TracePoint| [point.passes, (top - point.log_density).max(least)];
        let whole = (self.trace.iter()).filter(|point| point.method != SUBSET);
        [
            self.trace.iter().map(gradient).collect(),
            whole.map(gap).collect(),
        ]
    }

    /// In words, without a final period: "Adam, 3000 iterations, 30 passes over the data; stopped 0.41 posterior sd from the
    /// mode, finished by 2 Newton iterations".
    pub fn sentence(&self) -> String {
        let title = registry::find(&self.method).map_or(self.method.as_str(), |e| e.spec.title);
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let mut text = format!(
            "{title}, {} iteration{}, {:.0} passes over the data",
            self.iterations,
            plural(self.iterations),
            self.passes
        );
        match (self.stopped_at, self.polish) {
            (None, None) => {}
            (stopped, polish) => {
                let place = stopped.map_or_else(
                    || "away from any mode".to_owned(),
                    |distance| format!("{distance:.2} posterior sd from the mode"),
                );
                text.push_str(&format!("; stopped {place}"));
                if let Some(polish) = polish {
                    text.push_str(&format!(
                        ", finished by {polish} Newton iteration{}",
                        plural(polish)
                    ));
                }
            }
        }
        text
    }
}

/// Notes a search's course; gradients are kept until the curvature at the mode is known.
pub(super) struct Recorder {
    method: &'static str,
    num_obs: usize,
    rows: u64,
    points: Vec<(TracePoint, Vec<f64>)>,
}

impl Recorder {
    pub fn new(num_obs: usize) -> Self {
        Self {
            method: "",
            num_obs,
            rows: 0,
            points: Vec::new(),
        }
    }

    /// From now on `method` is at work.
    pub fn enter(&mut self, method: &'static str) {
        self.method = method;
    }

    /// Counts `rows` rows that were evaluated.
    pub fn spend(&mut self, rows: usize) {
        self.rows += rows as u64;
    }

    /// The present value of the objective and its gradient.
    pub fn note(&mut self, log_density: f64, grad: &[f64]) {
        let point = TracePoint {
            method: self.method.to_owned(),
            passes: self.passes(),
            log_density,
            gradient_norm: 0.0,
        };
        self.points.push((point, grad.to_vec()));
    }

    fn passes(&self) -> f64 {
        self.rows as f64 / self.num_obs.max(1) as f64
    }

    /// The report of a search that ended at `centre`.
    pub fn finish(
        mut self,
        objective: Objective<'_>,
        centre: &Centre,
        method: &str,
        iterations: u64,
        stopped_at: Option<f64>,
        polish: Option<u64>,
    ) -> Search {
        let norm = |mut grad: Vec<f64>| {
            centre.factor.solve_lower(&mut grad);
            dot(&grad, &grad).sqrt()
        };
        // Beside a kink the gradient means nothing; the search ended with the last smoothing.
        let objective = Objective {
            smoothing: smoothing::stages(objective.density).pop(),
            ..objective
        };
        let (mut grad, mut work) = (vec![0.0; centre.u.len()], vec![0.0; centre.u.len()]);
        let value = objective.value(&centre.u, &mut grad, &mut work);
        // Gradient, curvature and value at the centre.
        self.spend(3 * self.num_obs);
        self.note(value, &grad);
        let gradient_norm = norm(grad);
        let passes = self.passes();
        let points = self.points.into_iter();
        let trace = points
            .map(|(point, grad)| TracePoint {
                gradient_norm: norm(grad),
                ..point
            })
            .filter(|point| point.log_density.is_finite() && point.gradient_norm.is_finite());
        Search {
            method: method.to_owned(),
            iterations,
            passes,
            stopped_at,
            polish,
            gradient_norm,
            trace: trace.collect(),
        }
    }
}
