//! One transition: a trajectory doubled until it turns back, and a multinomial choice among its points.

use rand::RngExt as _;

use crate::oracle::StepError;
use crate::samplers::full_data::hamiltonian::{LogDensity, MAX_ENERGY_ERROR, Metric, Place, Point};
use ergodic_base::ChainRng;
use ergodic_base::linalg::{axpy, dot};
use ergodic_base::special::log_sum_exp;

/// A stretch of trajectory. `first` and `last` are in the order in which it was travelled.
struct Branch {
    first_p: Vec<f64>,
    first_v: Vec<f64>,
    last_p: Vec<f64>,
    last_v: Vec<f64>,
    /// Sum of the momenta of all points.
    sum_p: Vec<f64>,
    /// Log of the summed weights exp(H₀ − H).
    log_weight: f64,
    /// The point chosen among all, and its energy.
    choice: Place,
    energy: f64,
}

impl Branch {
    fn empty(dim: usize) -> Self {
        let zeros = || vec![0.0; dim];
        Self {
            first_p: zeros(),
            first_v: zeros(),
            last_p: zeros(),
            last_v: zeros(),
            sum_p: zeros(),
            log_weight: 0.0,
            choice: Place::empty(dim),
            energy: 0.0,
        }
    }

    /// Becomes the single point `point` of energy `energy`.
    fn become_point(&mut self, point: &Point, energy: f64, log_weight: f64) {
        self.first_p.copy_from_slice(&point.p);
        self.first_v.copy_from_slice(&point.v);
        self.last_p.copy_from_slice(&point.p);
        self.last_v.copy_from_slice(&point.v);
        self.sum_p.copy_from_slice(&point.p);
        self.choice.copy_from(&point.at);
        self.energy = energy;
        self.log_weight = log_weight;
    }

    /// Reads the same stretch from its other end.
    fn reverse(&mut self) {
        std::mem::swap(&mut self.first_p, &mut self.last_p);
        std::mem::swap(&mut self.first_v, &mut self.last_v);
    }

    fn take_choice(&mut self, from: &mut Self) {
        std::mem::swap(&mut self.choice, &mut from.choice);
        self.energy = from.energy;
    }

    /// Appends `next`, which was travelled right after this one; false if the whole turns back on itself, or one part
    /// does together with the nearest point of the other. Leaves weights and choice alone and `next` unusable.
    fn append(&mut self, next: &mut Self) -> bool {
        let between = onward(&self.first_v, &next.first_v, &self.sum_p, &next.first_p)
            && onward(&self.last_v, &next.last_v, &next.sum_p, &self.last_p);
        axpy(1.0, &next.sum_p, &mut self.sum_p);
        std::mem::swap(&mut self.last_p, &mut next.last_p);
        std::mem::swap(&mut self.last_v, &mut next.last_v);
        between && dot(&self.first_v, &self.sum_p) > 0.0 && dot(&self.last_v, &self.sum_p) > 0.0
    }
}

/// Whether both end velocities of a stretch point along its summed momentum `sum_p` + `extra_p`.
fn onward(first_v: &[f64], last_v: &[f64], sum_p: &[f64], extra_p: &[f64]) -> bool {
    dot(first_v, sum_p) + dot(first_v, extra_p) > 0.0
        && dot(last_v, sum_p) + dot(last_v, extra_p) > 0.0
}

/// Whether to take the later of two stretches, with probability min(1, exp(`log_odds`)). Draws no random number where
/// the answer is certain, as Stan.
fn accepts(log_odds: f64, rng: &mut ChainRng) -> bool {
    log_odds > 0.0 || rng.random::<f64>() < log_odds.exp()
}

/// What a transition did.
#[derive(Clone, Copy, Debug)]
pub(in crate::samplers) struct Summary {
    /// Mean acceptance probability min(1, exp(H₀ − H)) over all points visited, rejected branches included.
    pub accept: f64,
    /// Completed doublings.
    pub depth: usize,
    /// Leapfrog steps.
    pub num_leapfrog: u64,
    /// Whether a divergence ended it.
    pub divergent: bool,
    /// Energy of the point chosen.
    pub energy: f64,
}

/// What all levels of the recursion share.
struct Flight<'a, T> {
    metric: &'a Metric,
    /// Signed: negative goes back in time.
    step_size: f64,
    start_energy: f64,
    target: &'a mut T,
    rng: &'a mut ChainRng,
    num_leapfrog: u64,
    sum_accept: f64,
    divergent: bool,
}

impl<T: LogDensity> Flight<'_, T> {
    /// Travels 2^k points from `end`, which moves along, with k + 1 = `levels.len()`; the last level holds the result.
    /// `Ok(false)`: the stretch diverged or turned back and must be thrown away.
    fn build(&mut self, levels: &mut [Branch], end: &mut Point) -> Result<bool, StepError> {
        let Some((whole, lower)) = levels.split_last_mut() else {
            return Ok(false);
        };
        if lower.is_empty() {
            return self.leaf(whole, end);
        }
        if !self.build(lower, end)? {
            return Ok(false);
        }
        std::mem::swap(whole, &mut lower[lower.len() - 1]);
        if !self.build(lower, end)? {
            return Ok(false);
        }
        let half = &mut lower[lower.len() - 1];
        let log_weight = log_sum_exp(whole.log_weight, half.log_weight);
        if accepts(half.log_weight - log_weight, self.rng) {
            whole.take_choice(half);
        }
        whole.log_weight = log_weight;
        Ok(whole.append(half))
    }

    fn leaf(&mut self, branch: &mut Branch, end: &mut Point) -> Result<bool, StepError> {
        end.leapfrog(self.metric, self.step_size, self.target)?;
        let energy = end.energy();
        let log_weight = self.start_energy - energy;
        self.num_leapfrog += 1;
        self.sum_accept += log_weight.exp().min(1.0);
        if -log_weight > MAX_ENERGY_ERROR {
            self.divergent = true;
            return Ok(false);
        }
        branch.become_point(end, energy, log_weight);
        Ok(true)
    }
}

/// Working memory of transitions, all of it allocated at once.
pub(in crate::samplers) struct Tree {
    /// The trajectory so far.
    whole: Branch,
    /// One branch per depth of recursion.
    levels: Vec<Branch>,
    /// The trajectory's ends: back in time, forward in time.
    ends: [Point; 2],
}

impl Tree {
    pub fn new(dim: usize, max_depth: usize) -> Self {
        Self {
            whole: Branch::empty(dim),
            levels: (0..max_depth).map(|_| Branch::empty(dim)).collect(),
            ends: [Point::empty(dim), Point::empty(dim)],
        }
    }

    /// A point to work with between transitions.
    pub fn spare(&mut self) -> &mut Point {
        &mut self.ends[0]
    }

    /// Moves `place` by one transition. After an error `place` is as before.
    pub fn transition(
        &mut self,
        place: &mut Place,
        metric: &Metric,
        step_size: f64,
        target: &mut impl LogDensity,
        rng: &mut ChainRng,
    ) -> Result<Summary, StepError> {
        let whole = &mut self.whole;
        let [back, ahead] = &mut self.ends;
        back.launch(place, metric, rng);
        ahead.copy_from(back);
        let start_energy = back.energy();
        whole.become_point(back, start_energy, 0.0);
        let mut flight = Flight {
            metric,
            step_size,
            start_energy,
            target,
            rng,
            num_leapfrog: 0,
            sum_accept: 0.0,
            divergent: false,
        };
        let mut depth = 0;
        let mut reads_ahead = true;
        while depth < self.levels.len() {
            let goes_ahead = flight.rng.random::<f64>() > 0.5;
            if goes_ahead != reads_ahead {
                whole.reverse();
                reads_ahead = goes_ahead;
            }
            flight.step_size = if goes_ahead { step_size } else { -step_size };
            let end = if goes_ahead { &mut *ahead } else { &mut *back };
            let levels = &mut self.levels[..=depth];
            if !flight.build(levels, end)? {
                break;
            }
            let branch = &mut levels[depth];
            depth += 1;
            // Biased towards the newer half, which is farther from the start.
            if accepts(branch.log_weight - whole.log_weight, flight.rng) {
                whole.take_choice(branch);
            }
            whole.log_weight = log_sum_exp(whole.log_weight, branch.log_weight);
            if !whole.append(branch) {
                break;
            }
        }
        std::mem::swap(place, &mut whole.choice);
        Ok(Summary {
            accept: flight.sum_accept / flight.num_leapfrog as f64,
            depth,
            num_leapfrog: flight.num_leapfrog,
            divergent: flight.divergent,
            energy: whole.energy,
        })
    }
}
