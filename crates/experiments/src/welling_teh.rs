//! SGLD on the mixture of Welling and Teh (2011): 100 rows of ½ N(θ_1, 2) + ½ N(θ_1 + θ_2, 2), θ_1 ~ N(0, 10), θ_2 ~ N(0, 1).
//!
//! Source: Chen (2016), slide "Example" of SGLD, a picture of Welling and Teh (2011), section 5.1: true parameters (0, 1), minibatches
//! of one row, 10,000 sweeps through the data, steps that fall from 0.01 to 0.0001 as ε_t = a (b + t)^(−0.55); our step h is ε/2. Every
//! draw is used there, weighted by its step. The posterior is known on a grid.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::problem::{Problem, at, draws, info, passes, row, table};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::settings::Value;
use ergodic_base::{Purpose, stream};
use ergodic_core::models::Model;
use ergodic_core::samplers::WEIGHT;
use ergodic_data::Table;
use ergodic_diagnostics::kolmogorov::distance_between;

/// Rows, as in the source.
const ROWS: usize = 100;
/// Sweeps through the rows, as in the source, and in the quick version.
const SWEEPS: [u64; 2] = [10_000, 1_000];
/// First and last step ε, and exponent, of the source.
const STEPS: [f64; 2] = [0.01, 0.0001];
const EXPONENT: f64 = 0.55;
/// Steps per recorded draw.
const EVERY: u64 = 10;
/// Places of the grid in each direction, and where it ends.
const PLACES: usize = 401;
const REACH: f64 = 4.0;
/// Kolmogorov-Smirnov distance up to which two densities look alike: a tenth of the draws would have to be moved.
const ALIKE: f64 = 0.1;

/// Runs the experiment.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let settings = [
        ("parameters", Value::from("shift")),
        ("variance", Value::Real(2.0)),
        ("prior_variance", Value::Real(10.0)),
        ("second_prior_variance", Value::Real(1.0)),
    ];
    let problem = Problem::new(
        ("gaussian-mixture", "~ x"),
        data(options.seed)?,
        options.seed,
        |recipe| {
            for (key, value) in settings {
                recipe.model.settings.set(key, value);
            }
        },
    )?;
    let grid = Grid::of(problem.job().model.as_ref());
    let sweeps = SWEEPS[usize::from(options.quick)];
    let steps = sweeps * ROWS as u64;
    // (1 + steps/b)^(−γ) is the last step over the first.
    let offset = steps as f64 / ((STEPS[0] / STEPS[1]).powf(1.0 / EXPONENT) - 1.0);
    let langevin = |schedule: &str, batch: usize, step: f64| {
        format!(
            "sgld:precondition=none:batch={batch}:steps_per_draw={EVERY}:step_size={step}:schedule={schedule}:decay_offset={offset}:\
             decay_exponent={EXPONENT}"
        )
    };
    let h = 0.5 * STEPS[0];
    let entrants = [
        ("sgld, as the source", langevin("decreasing", 1, h)),
        ("sgld, minibatches of 10", langevin("decreasing", 10, h)),
        ("sgld, fixed at the first step", langevin("fixed", 1, h)),
        ("nuts", "nuts".to_owned()),
    ];
    let mut rows = Vec::new();
    for (name, variant) in entrants {
        let run = problem.run(&variant, |run| {
            if name != "nuts" {
                run.warmup = Some(0);
                run.draws = steps / EVERY;
                // Between the modes.
                run.start = at(&[("theta1[x]", 0.0), ("theta2[x]", 0.0)]);
            }
        })?;
        let weights = info(&run, WEIGHT).concat();
        let mut numbers = Vec::new();
        for (j, parameter) in ["theta1[x]", "theta2[x]"].into_iter().enumerate() {
            let found = draws(&run, parameter).concat();
            let (places, shares) = grid.marginal(j);
            let distance = distance_between((&found, &weights), (&places, &shares));
            numbers.push(distance.unwrap_or(f64::NAN));
        }
        let second = draws(&run, "theta2[x]").concat();
        numbers.push(share_below(&second, &weights));
        numbers.push(passes(&run) / run.view().chains.len() as f64);
        rows.push((name, numbers));
    }
    let source = &rows[0].1;
    let exact = grid.share_below();
    Ok(BenchTable {
        columns: vec![
            "sampler",
            "ks_theta1",
            "ks_theta2",
            "share_mode_2",
            "passes",
        ],
        rows: rows
            .iter()
            .map(|(name, numbers)| row(&[*name], numbers))
            .collect(),
        notes: vec![format!(
            "ks: Kolmogorov-Smirnov distance of weighted draws of four chains from the posterior on a grid of {PLACES} × {PLACES} places; \
             share_mode_2: share of draws with negative theta2, {exact:.3} in the posterior; passes: over the rows, of a chain"
        )],
        findings: vec![Finding {
            claim: "the sample-based density of SGLD resembles the true posterior",
            reproduced: source[0].max(source[1]) < ALIKE,
            because: format!(
                "Kolmogorov-Smirnov distances of {:.3} and {:.3} from the posterior where {ALIKE} is what looks alike; {:.0} % of the draws \
                 are in the second mode, which has {:.0} %",
                source[0],
                source[1],
                100.0 * source[2],
                100.0 * exact
            ),
        }],
        plots: vec![
            Plot::points("sampler", &["ks_theta1", "ks_theta2"])
                .named("Kolmogorov-Smirnov distance"),
        ],
        ..BenchTable::default()
    })
}

fn data(seed: u64) -> Result<Table, BenchError> {
    let mut rng = stream(seed, 0, Purpose::Data);
    let mut x = Vec::with_capacity(ROWS);
    for _ in 0..ROWS {
        let centre = f64::from(u8::from(rng.random::<bool>()));
        let noise: f64 = StandardNormal.sample(&mut rng);
        x.push(centre + 2.0_f64.sqrt() * noise);
    }
    table("mixture", vec![("x".to_owned(), x)])
}

fn share_below(values: &[f64], weights: &[f64]) -> f64 {
    let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
    let all: f64 = (0..values.len()).map(weight).sum();
    let below: f64 = (0..values.len())
        .filter(|&i| values[i] < 0.0)
        .map(weight)
        .sum();
    below / all
}

/// The posterior on a grid.
struct Grid {
    /// One share per place, the second coordinate running first.
    shares: Vec<f64>,
}

impl Grid {
    fn of(model: &dyn Model) -> Self {
        let mut grad = vec![0.0; 2];
        let mut shares = Vec::with_capacity(PLACES * PLACES);
        if let Some(density) = model.density() {
            for i in 0..PLACES {
                for j in 0..PLACES {
                    shares.push(density.log_density(&[place(i), place(j)], &mut grad));
                }
            }
        }
        let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        shares.iter_mut().for_each(|it| *it = (*it - most).exp());
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|it| *it /= total);
        Self { shares }
    }

    /// Places of coordinate `which` with their shares.
    fn marginal(&self, which: usize) -> (Vec<f64>, Vec<f64>) {
        let mut shares = vec![0.0; PLACES];
        for (k, share) in self.shares.iter().enumerate() {
            shares[if which == 0 { k / PLACES } else { k % PLACES }] += share;
        }
        ((0..PLACES).map(place).collect(), shares)
    }

    fn share_below(&self) -> f64 {
        let (places, shares) = self.marginal(1);
        share_below(&places, &shares)
    }
}

fn place(k: usize) -> f64 {
    REACH * (2.0 * k as f64 / (PLACES - 1) as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    #[test]
    fn the_density_of_sgld_resembles_the_posterior() {
        let table = quick(run);
        let of = |sampler, column| number(&table, &[sampler], column);
        for column in ["ks_theta1", "ks_theta2"] {
            // NUTS has some hundred effective draws where chains change modes.
            assert!(of("nuts", column) < 0.08, "{column}");
        }
        // A tenth of the source's sweeps: chains have changed modes fewer times.
        assert!(of("sgld, as the source", "ks_theta1") < 0.2);
    }
}
