//! Draws of a fit as predictions need them: what rows follow from each.

use ndarray::ArrayView1;
use rand_distr::{Distribution as _, StandardNormal};

use super::{RowPrediction, most_probable};
use ergodic_base::{ChainRng, Purpose, stream};
use ergodic_core::design::NewRows;
use ergodic_core::families::Outcome;
use ergodic_core::families::unordered::{MAX_PREDICTORS, Unordered};
use ergodic_core::formula::Elementwise;
use ergodic_core::models::predicts::{HiddenLayer, Law, Point};
use ergodic_diagnostics::{quantiles, weights};

/// Draws, and what rows follow from them.
#[derive(Debug)]
pub(crate) struct Posterior {
    pub(super) rule: Rule,
    /// Whether outcomes are whole numbers.
    pub(crate) is_whole: bool,
    /// S.
    pub(super) len: usize,
    /// Draws of each chain; they stand one chain after the other.
    pub(super) chains: Vec<usize>,
    /// The function of the outcome that the model explains.
    pub(crate) function: Option<Elementwise>,
    /// Relative weights (S), where they matter.
    pub(crate) weights: Option<Vec<f64>>,
}

/// How rows follow from draws. Either way a row is some numbers per draw, its distribution, and outcomes are expected and drawn from
/// these.
#[derive(Debug)]
pub(super) enum Rule {
    /// By linear predictors, which are the numbers.
    Linear(Linear),
    /// By the model, which reads the rows itself ([`NewRows::read`]), from these draws.
    Read(Vec<Vec<f64>>),
}

/// What follows from linear predictors in each draw.
#[derive(Debug)]
pub(crate) enum Around {
    /// An outcome around one, with parameters of each draw (S).
    One(Vec<Outcome>),
    /// A level, with a linear predictor for each but the first.
    Levels(Unordered),
}

/// Draws by parameter, so that a row's predictors under all of them are sums of whole vectors.
#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) around: Around,
    /// (L × P) × S; of a network those of the sums of its hidden units, (H × P) × S.
    pub(crate) coefficients: Vec<Vec<f64>>,
    /// What makes linear predictors of these sums, of a network (S).
    layers: Vec<HiddenLayer>,
    pub(crate) terms: Vec<PosteriorTerm>,
}

#[derive(Debug)]
pub(crate) struct PosteriorTerm {
    /// q.
    width: usize,
    /// (groups × q) × S.
    pub(crate) effects: Vec<Vec<f64>>,
    /// (q × q) × S.
    factor: Vec<Vec<f64>>,
}

impl PosteriorTerm {
    /// Adds z'r of a `group` under the draws from `first` on.
    fn add(&self, z: &ArrayView1<'_, f64>, group: usize, first: usize, eta: &mut [f64]) {
        for (z, effects) in z.iter().zip(&self.effects[group * self.width..]) {
            add(*z, &effects[first..], eta);
        }
    }
}

/// Adds a multiple of the first of `values` to as many of `eta`.
fn add(factor: f64, values: &[f64], eta: &mut [f64]) {
    if factor != 0.0 {
        ergodic_base::linalg::axpy(factor, &values[..eta.len()], eta);
    }
}

/// Calls `visit` with each draw and its linear predictors, of which those of all draws stand one after the other in `eta`.
fn each_draw(levels: Unordered, eta: &[f64], mut visit: impl FnMut(usize, &mut [f64])) {
    let draws = eta.len() / levels.num_predictors();
    let mut z = [0.0; MAX_PREDICTORS];
    let z = &mut z[..levels.num_predictors()];
    for s in 0..draws {
        for (z, of_level) in z.iter_mut().zip(eta.chunks_exact(draws)) {
            *z = of_level[s];
        }
        visit(s, z);
    }
}

/// The probability of the level at `place`, from 1, where linear predictors become probabilities.
pub(crate) fn chance_of(levels: Unordered, z: &mut [f64], place: usize) -> f64 {
    let log_total = levels.chances(z);
    match place.checked_sub(2) {
        Some(place) => z[place],
        None => (-log_total).exp(),
    }
}

/// Working memory of one thread.
pub(crate) struct Work {
    /// Distributions of a row (W × S).
    distribution: Vec<f64>,
    /// The most probable level of the row that was expected last, where levels have no order.
    called: Option<f64>,
    expected: Vec<f64>,
    outcome: Vec<f64>,
    noise: Vec<f64>,
    order: Vec<u32>,
    cdf: Vec<f64>,
}

impl Work {
    pub(crate) fn new(draws: usize) -> Self {
        Self {
            distribution: Vec::new(),
            called: None,
            expected: vec![0.0; draws],
            outcome: vec![0.0; draws],
            noise: Vec::new(),
            order: Vec::new(),
            cdf: Vec::new(),
        }
    }

    /// The most probable level of the row that was expected last, from 1, whose chance is what is expected; of outcomes other than
    /// levels without an order none.
    pub(crate) fn called(&self) -> Option<f64> {
        self.called
    }
}

impl Linear {
    pub(super) fn of(points: &[Point]) -> Self {
        let first = &points[0];
        let by_draw = |len: usize, pick: &dyn Fn(&Point, usize) -> f64| -> Vec<Vec<f64>> {
            (0..len)
                .map(|j| points.iter().map(|point| pick(point, j)).collect())
                .collect()
        };
        let terms = first
            .terms
            .iter()
            .enumerate()
            .map(|(t, term)| PosteriorTerm {
                width: term.factor.len().isqrt(),
                effects: by_draw(term.effects.len(), &|point, j| point.terms[t].effects[j]),
                factor: by_draw(term.factor.len(), &|point, j| point.terms[t].factor[j]),
            });
        let outcome = |point: &Point| match point.law {
            Law::One(outcome) => Some(outcome),
            Law::Levels(_) => None,
        };
        Self {
            around: match first.law {
                Law::One(_) => Around::One(points.iter().filter_map(outcome).collect()),
                Law::Levels(levels) => Around::Levels(levels),
            },
            coefficients: by_draw(first.coefficients.len(), &|p, j| p.coefficients[j]),
            layers: (points.iter().filter_map(|point| point.layer.clone())).collect(),
            terms: terms.collect(),
        }
    }

    /// Linear predictors of a row, L.
    pub(crate) fn num_predictors(&self) -> usize {
        match &self.around {
            Around::One(_) => 1,
            Around::Levels(levels) => levels.num_predictors(),
        }
    }

    /// Whether outcomes are whole numbers.
    pub(super) fn is_whole(&self) -> bool {
        match &self.around {
            Around::One(outcomes) => outcomes[0].is_whole(),
            Around::Levels(_) => true,
        }
    }

    /// Writes the linear predictors of row `i` under `len` draws from `first` on, of several one after the other (L × len); effects of a
    /// group that the fit did not have are drawn by `seed`, with `noise` as working memory.
    fn predictors(
        &self,
        rows: &NewRows,
        i: usize,
        (first, len): (usize, usize),
        (seed, noise): (u64, &mut Vec<f64>),
        out: &mut Vec<f64>,
    ) {
        out.clear();
        let offset = rows.offset.as_ref().map_or(0.0, |offset| offset[i]);
        let units = self.layers.first().map(HiddenLayer::num_units);
        let sums = units.unwrap_or(self.num_predictors());
        out.resize(sums * len, offset);
        let columns = self.coefficients.len() / sums;
        for (l, eta) in out.chunks_exact_mut(len.max(1)).enumerate() {
            let own = &self.coefficients[l * columns..][..columns];
            for (x, b) in rows.x.row(i).iter().zip(own) {
                add(*x, &b[first..], eta);
            }
            self.add_groups(rows, i, first, (seed, &mut *noise), eta);
        }
        if units.is_some() {
            self.pass_layers(sums, (first, len), out);
        }
    }

    /// Turns sums of hidden units under `len` draws from `first` on, of one after the other (H × len), into linear predictors (L × len).
    fn pass_layers(&self, units: usize, (first, len): (usize, usize), out: &mut Vec<f64>) {
        let predictors = self.num_predictors();
        let sums = std::mem::replace(out, vec![0.0; predictors * len]);
        let (mut own, mut z) = (vec![0.0; units], vec![0.0; predictors]);
        for (s, layer) in self.layers[first..first + len].iter().enumerate() {
            for (own, sums) in own.iter_mut().zip(sums.chunks_exact(len)) {
                *own = sums[s];
            }
            layer.predictors(&mut own, &mut z);
            for (out, z) in out.chunks_exact_mut(len).zip(&z) {
                out[s] = *z;
            }
        }
    }

    /// Adds the effects of the groups of row `i` under the draws from `first` on; those of a group that the fit did not have are
    /// drawn by `seed`, with `noise` as working memory.
    fn add_groups(
        &self,
        rows: &NewRows,
        i: usize,
        first: usize,
        (seed, noise): (u64, &mut Vec<f64>),
        eta: &mut [f64],
    ) {
        for (t, (term, (factor, z))) in self.terms.iter().zip(&rows.terms).enumerate() {
            let groups = &rows.groups[*factor];
            let group = groups.index[i] as usize;
            let q = term.width;
            if group < groups.num_known {
                term.add(&z.row(i), group, first, eta);
                continue;
            }
            let place = (t << 32) + (group - groups.num_known);
            let mut rng = stream(seed, place, Purpose::NewGroups);
            let draws = term.factor[0].len();
            noise.resize(q * draws, 0.0);
            let all = noise.iter_mut();
            all.for_each(|noise| *noise = StandardNormal.sample(&mut rng));
            for j in 0..q {
                for k in 0..=j {
                    let (factor, z) = (&term.factor[j * q + k][first..], z[[i, j]]);
                    let noise = &noise[k * draws + first..][..eta.len()];
                    for ((eta, factor), noise) in eta.iter_mut().zip(factor).zip(noise) {
                        *eta += z * factor * noise;
                    }
                }
            }
        }
    }
}

impl Linear {
    /// Writes log densities of `y` where row `i` has these linear predictors under the draws from `first` on.
    fn weigh(
        &self,
        rows: &NewRows,
        (i, y): (usize, f64),
        first: usize,
        eta: &[f64],
        out: &mut [f64],
    ) {
        match &self.around {
            Around::One(outcomes) => {
                let known = rows.known(i);
                for ((out, eta), outcome) in out.iter_mut().zip(eta).zip(&outcomes[first..]) {
                    *out = outcome.at(*eta, y, known).log_p + outcome.constant(y, known);
                }
            }
            Around::Levels(levels) => {
                each_draw(*levels, eta, |s, z| out[s] = levels.log_p(z, y));
            }
        }
    }
}

impl Posterior {
    /// S.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The draws of linear predictors, where rows follow from these.
    pub(crate) fn linear(&self) -> Option<&Linear> {
        match &self.rule {
            Rule::Linear(linear) => Some(linear),
            Rule::Read(_) => None,
        }
    }

    /// The distributions of row `i` under `len` draws from `first` on (W × len): its linear predictors, where it has these.
    pub(super) fn predictors<'a>(
        &self,
        rows: &NewRows,
        i: usize,
        draws: (usize, usize),
        seed: u64,
        work: &'a mut Work,
    ) -> &'a [f64] {
        let noise = (seed, &mut work.noise);
        self.distribution(rows, i, draws, noise, &mut work.distribution);
        &work.distribution
    }

    /// Writes the distributions of row `i` under `len` draws from `first` on (W × len); effects of a group that the fit did not have
    /// are drawn by `seed`, with `noise` as working memory.
    fn distribution(
        &self,
        rows: &NewRows,
        i: usize,
        (first, len): (usize, usize),
        (seed, noise): (u64, &mut Vec<f64>),
        out: &mut Vec<f64>,
    ) {
        match &self.rule {
            Rule::Linear(linear) => linear.predictors(rows, i, (first, len), (seed, noise), out),
            Rule::Read(draws) => {
                if let Some(read) = &rows.read {
                    out.resize(read.width() * len, 0.0);
                    read.distribution(i, draws, first, out);
                }
            }
        }
    }

    /// Writes what is expected where a row has these distributions under the draws from `first` on; of levels without an order it is the
    /// chance of the most probable one, which is returned.
    fn expect(&self, distribution: &[f64], first: usize, out: &mut [f64]) -> Option<f64> {
        match &self.rule {
            Rule::Linear(linear) => match &linear.around {
                Around::One(outcomes) => {
                    let draws = out.iter_mut().zip(distribution);
                    for ((out, eta), outcome) in draws.zip(&outcomes[first..]) {
                        *out = outcome.mean(*eta);
                    }
                    None
                }
                Around::Levels(levels) => {
                    let called = most_probable(&self.mean_chances(*levels, distribution, first));
                    each_draw(*levels, distribution, |s, z| {
                        out[s] = chance_of(*levels, z, called as usize);
                    });
                    Some(called)
                }
            },
            Rule::Read(_) => {
                out.copy_from_slice(&distribution[..out.len()]);
                None
            }
        }
    }

    /// Posterior means of the probabilities of levels without an order at these linear predictors under the draws from `first` on.
    fn mean_chances(&self, levels: Unordered, eta: &[f64], first: usize) -> Vec<f64> {
        let mut means = vec![0.0; levels.num_levels()];
        let share = levels.num_predictors() as f64 / eta.len() as f64;
        each_draw(levels, eta, |s, z| {
            let weight = self.weight(first + s) * share;
            means[0] += weight * chance_of(levels, z, 1);
            for (mean, chance) in means[1..].iter_mut().zip(&*z) {
                *mean += weight * chance;
            }
        });
        means
    }

    /// The relative weight of a draw.
    fn weight(&self, s: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[s])
    }

    /// Draws outcomes of row `i`, which has these distributions.
    fn draw(
        &self,
        rows: &NewRows,
        i: usize,
        distribution: &[f64],
        rng: &mut ChainRng,
        out: &mut [f64],
    ) {
        match &self.rule {
            Rule::Linear(linear) => match &linear.around {
                Around::One(outcomes) => {
                    let draws = out.iter_mut().zip(distribution);
                    for ((out, eta), outcome) in draws.zip(outcomes) {
                        *out = outcome.draw(*eta, rows.known(i), rng);
                    }
                }
                Around::Levels(levels) => each_draw(*levels, distribution, |s, z| {
                    levels.chances(z);
                    out[s] = levels.draw(z, rng);
                }),
            },
            Rule::Read(_) => {
                if let Some(read) = &rows.read {
                    read.draw(distribution, rng, out);
                }
            }
        }
    }

    /// Writes what is expected of row `i` under the draws from `first` on, as many as there is place for: on the scale of the model.
    pub(crate) fn expected(
        &self,
        rows: &NewRows,
        i: usize,
        first: usize,
        seed: u64,
        work: &mut Work,
        out: &mut [f64],
    ) {
        let draws = (first, out.len());
        let noise = (seed, &mut work.noise);
        self.distribution(rows, i, draws, noise, &mut work.distribution);
        work.called = self.expect(&work.distribution, first, out);
    }

    /// Writes what is expected of row `i`, and an outcome of it, under each draw: on the scale of the model.
    pub(crate) fn replicate(
        &self,
        rows: &NewRows,
        i: usize,
        seed: u64,
        work: &mut Work,
        (expected, outcome): (&mut [f64], &mut [f64]),
    ) {
        let noise = (seed, &mut work.noise);
        let draws = (0, self.len());
        self.distribution(rows, i, draws, noise, &mut work.distribution);
        let mut rng: ChainRng = stream(seed, rows.row[i] as usize, Purpose::Predictive);
        self.draw(rows, i, &work.distribution, &mut rng, outcome);
        work.called = self.expect(&work.distribution, 0, expected);
    }

    /// Writes the log density of row `i`, whose outcome is `y` on the scale of the model, under the draws from `first` on, as many as
    /// there is place for.
    pub(super) fn log_density(
        &self,
        rows: &NewRows,
        (i, y): (usize, f64),
        first: usize,
        seed: u64,
        out: &mut [f64],
    ) {
        match &self.rule {
            Rule::Linear(linear) => {
                let (mut noise, mut eta) = (Vec::new(), Vec::new());
                linear.predictors(rows, i, (first, out.len()), (seed, &mut noise), &mut eta);
                linear.weigh(rows, (i, y), first, &eta, out);
            }
            Rule::Read(draws) => {
                if let Some(read) = &rows.read {
                    read.log_density(i, draws, first, out);
                }
            }
        }
    }

    /// The log density under all draws for a row whose distributions were the last that `work` was used for.
    pub(super) fn log_density_again(
        &self,
        rows: &NewRows,
        (i, y): (usize, f64),
        work: &Work,
        out: &mut [f64],
    ) {
        match &self.rule {
            Rule::Linear(linear) => {
                linear.weigh(rows, (i, y), 0, &work.distribution, out);
            }
            Rule::Read(draws) => {
                if let Some(read) = &rows.read {
                    read.log_density(i, draws, 0, out);
                }
            }
        }
    }

    /// Posterior means of the probabilities of `count` levels in row `i`.
    pub(super) fn chances(
        &self,
        rows: &NewRows,
        i: usize,
        seed: u64,
        count: usize,
        work: &mut Work,
    ) -> Vec<f64> {
        let draws = (0, self.len());
        let noise = (seed, &mut work.noise);
        self.distribution(rows, i, draws, noise, &mut work.distribution);
        let (distribution, chances) = (&work.distribution, &mut work.outcome);
        if let Some(Around::Levels(levels)) = self.linear().map(|linear| &linear.around) {
            return self.mean_chances(*levels, distribution, 0);
        }
        let mut level = |level: usize| {
            match &self.rule {
                Rule::Linear(linear) => {
                    let y = level as f64;
                    linear.weigh(rows, (i, y), 0, distribution, chances);
                    chances.iter_mut().for_each(|chance| *chance = chance.exp());
                }
                Rule::Read(_) => {
                    if let Some(read) = &rows.read {
                        read.chance(distribution, level, chances);
                    }
                }
            }
            let weighted = chances
                .iter()
                .enumerate()
                .map(|(s, chance)| self.weight(s) * chance);
            weighted.sum::<f64>() / self.len() as f64
        };
        (1..=count).map(&mut level).collect()
    }

    pub(super) fn predict(
        &self,
        rows: &NewRows,
        i: usize,
        seed: u64,
        interval: f64,
        work: &mut Work,
    ) -> RowPrediction {
        let mut expected = std::mem::take(&mut work.expected);
        let mut outcome = std::mem::take(&mut work.outcome);
        let both = (expected.as_mut_slice(), outcome.as_mut_slice());
        self.replicate(rows, i, seed, work, both);
        if let Some(function) = self.function {
            let values = expected.iter_mut().chain(&mut outcome);
            values.for_each(|value| *value = function.inverse(*value));
        }
        let (mean, sd) = self.moments(&expected);
        let (order, cdf) = (&mut work.order, &mut work.cdf);
        let expected_interval = self.interval(&mut expected, order, cdf, interval);
        let outcome_interval = match work.called {
            Some(_) => [f64::NAN; 2],
            None => self.outcome_interval(&mut outcome, order, cdf, interval),
        };
        let predicted = RowPrediction {
            row: rows.row[i],
            mean,
            sd,
            expected: expected_interval,
            outcome: outcome_interval,
            observed: rows.seen(i),
            trials: rows.trials.as_ref().map_or(1.0, |trials| trials[i]),
            new_group: rows.is_in_new_group(i),
        };
        (work.expected, work.outcome) = (expected, outcome);
        predicted
    }

    /// [`Self::interval`] of outcomes.
    pub(super) fn outcome_interval(
        &self,
        values: &mut [f64],
        order: &mut Vec<u32>,
        cdf: &mut Vec<f64>,
        interval: f64,
    ) -> [f64; 2] {
        let [low, high] = self.interval(values, order, cdf, interval);
        // Between two whole numbers the interval takes both.
        match self.is_whole {
            true => [low.floor(), high.ceil()],
            false => [low, high],
        }
    }

    /// Mean and standard deviation (divisor S − 1) over draws.
    pub(super) fn moments(&self, values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
            values
                .iter()
                .enumerate()
                .map(|(s, &v)| self.weight(s) * f(v))
                .sum()
        };
        let mean = sum(&|v| v) / n;
        let squares = sum(&|v| (v - mean) * (v - mean));
        // Signed weights can make it negative.
        (mean, (squares / (n - 1.0)).max(0.0).sqrt())
    }

    /// Quantiles that leave the same probability on both sides; the order of `values` is lost.
    fn interval(
        &self,
        values: &mut [f64],
        order: &mut Vec<u32>,
        cdf: &mut Vec<f64>,
        interval: f64,
    ) -> [f64; 2] {
        let probs = [0.5 - 0.5 * interval, 0.5 + 0.5 * interval];
        let Some(weights) = &self.weights else {
            return probs.map(|prob| quantiles::of_unsorted(values, prob));
        };
        order.clear();
        order.extend(0..values.len() as u32);
        order.sort_unstable_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]));
        weights::cdf(weights, order, cdf);
        values.sort_unstable_by(f64::total_cmp);
        probs.map(|prob| weights::quantile(values, cdf, prob))
    }
}
