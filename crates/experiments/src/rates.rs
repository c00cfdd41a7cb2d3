//! How fast averages over chains with stochastic gradients converge as the number L of steps grows.
//!
//! Source: Chen (2016), slides "Convergence bounds of bias and MSE" and "Synthetic experiments", from Chen, Ding and Carin (2015):
//! x_i ~ N(θ, 1), θ ~ N(0, 1), 1000 rows, φ(θ) = θ². With an integrator of order K and fixed steps h ∝ L^(−α) the mean squared error
//! of the average of φ is C (1/(Lh) + h^(2K)), so that it falls as L^(−r) with r = min(1 − α, 2Kα), fastest with α = 1/(2K + 1); with
//! decreasing steps h_l ∝ l^(−α) the same rates hold. The bias is at most C (1/S_L + Σ h_l^(K+1) / S_L), S_L = Σ h_l, so that it falls as
//! L^(−r) with r = min(1 − α, Kα), fastest with α = 1/(K + 1), where Σ h_l^(K+1) is a logarithm of L that r leaves out. Constants are not
//! printed. The data are centred here, so that φ depends on the variance of the draws, in which integrators err.
//!
//! Errors are those of chains from the posterior. 1/S_L of the bias is what chains remember of their start: there they start at the mode,
//! where φ is 0, so that this and the integrator, whose draws vary too little, err in the same direction and do not cancel.
//!
//! The source says that the noise of minibatches does not change the rates. For the second-order integrator it does: a minibatch adds
//! ε²v to the variance of a momentum in every step, which heats it by a share of order ε, not ε². So the order of the bias is measured
//! by itself, with all rows and with minibatches.
//!
//! Steps are in units in which the posterior has curvature 1.

use rand_distr::{Distribution as _, StandardNormal};

use super::problem::{Problem, at, draws, info, log_slope, mean_and_sd, row, table};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::Run;
use ergodic_base::settings::Value;
use ergodic_base::{Purpose, stream};
use ergodic_core::samplers::WEIGHT;
use ergodic_data::Table;

/// Rows, as in the source, and in the quick version.
const ROWS: [usize; 2] = [1000, 100];
/// Chains of a run: independent repetitions.
const CHAINS: usize = 200;
/// Runs from other seeds, and in the quick version.
const RUNS: [u64; 2] = [5, 1];
/// Numbers of steps, of which the quick version leaves out the last.
const LENGTHS: [usize; 4] = [50, 200, 800, 3200];
/// Exponents α of steps of the second-order integrator, of which 0.2 is the best by theory.
const SECOND_ORDER: [f64; 3] = [0.05, 0.2, 0.6];
/// Exponents α of decreasing steps of Langevin dynamics, of which 1/3 is the best.
const FIRST_ORDER: [f64; 3] = [0.1, 1.0 / 3.0, 0.7];
/// Exponents α of decreasing steps of the second-order integrator with which a bias is measured, of which 1/3 is the best.
const OF_BIAS: [f64; 3] = [0.1, 1.0 / 3.0, 0.7];
/// Numbers of steps in which it is measured, of which the quick version leaves out the last: in longer chains chance hides it.
const BIAS_LENGTHS: [usize; 4] = [16, 64, 256, 1024];
/// Runs from other seeds by which it is measured, and in the quick version, whose 4000 chains know its slope to 0.03.
const BIAS_RUNS: [u64; 2] = [40, 20];
/// The largest steps, of Langevin dynamics and of the second-order integrator: so long that the bias is seen beside chance.
const LARGEST: [f64; 2] = [0.8, 1.4];
/// Draws by which a bias is measured, and in the quick version: these know a variance to half a hundredth. The biases that minibatches
/// make are larger and take a quarter of them.
const LONG: [u64; 2] = [400_000, 160_000];
/// Steps at which it is measured.
const STEPS: [f64; 4] = [0.4, 0.57, 0.8, 1.13];
/// Steps at which the bias is measured with minibatches, whose noise is larger.
const NOISY_STEPS: [f64; 4] = [0.1, 0.15, 0.2, 0.3];
/// Rows of a table for each row of a minibatch.
const SHARE: usize = 10;

/// How steps go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    /// The same in a chain, shorter in longer ones; second-order SGHMC.
    Fixed,
    /// Shorter and shorter in a chain; SGLD.
    DecreasingFirst,
    /// Shorter and shorter in a chain; second-order SGHMC.
    DecreasingSecond,
}

impl Steps {
    /// Order K of the integrator.
    fn order(self) -> f64 {
        match self {
            Self::DecreasingFirst => 1.0,
            Self::Fixed | Self::DecreasingSecond => 2.0,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Fixed => "fixed, second-order SGHMC",
            Self::DecreasingFirst => "decreasing, SGLD",
            Self::DecreasingSecond => "decreasing, second-order SGHMC",
        }
    }

    /// The sampler with exponent `alpha` in a chain of `steps` steps, with all `count` rows: what minibatches do to the second order is
    /// measured by itself.
    fn variant(self, alpha: f64, steps: usize, count: usize) -> String {
        let rows = format!("steps_per_draw=1:batch={count}:scheme=epoch");
        let second = "sghmc:friction=2:friction_correction=off:integrator=aboba";
        let decreasing = format!("schedule=decreasing:decay_offset=1:decay_exponent={alpha}");
        match self {
            Self::Fixed => {
                let share = (steps as f64 / LENGTHS[0] as f64).powf(-alpha);
                format!("{second}:{rows}:step_size={}", LARGEST[1] * share)
            }
            Self::DecreasingFirst => format!("sgld:{rows}:{decreasing}:step_size={}", LARGEST[0]),
            Self::DecreasingSecond => {
                format!("{second}:{rows}:{decreasing}:step_size={}", LARGEST[1])
            }
        }
    }
}

/// Runs the experiment.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let quick = usize::from(options.quick);
    let count = ROWS[quick];
    let data = data(count, options.seed)?;
    let problem = Problem::new(("normal-mean", "x ~ 1"), data, options.seed, |recipe| {
        let variance = Value::Real(1.0);
        recipe.model.settings.set("prior_variance", variance);
    })?;
    let truth = truth(count);
    let mut rows = Vec::new();
    let (second, first, decreasing) = (
        rates(&problem, options, (&SECOND_ORDER, Steps::Fixed), &mut rows)?,
        rates(
            &problem,
            options,
            (&FIRST_ORDER, Steps::DecreasingFirst),
            &mut rows,
        )?,
        rates(
            &problem,
            options,
            (&SECOND_ORDER, Steps::DecreasingSecond),
            &mut rows,
        )?,
    );
    let biases = biases(&problem, options, &mut rows)?;
    let mut orders = Vec::new();
    for (name, batch, steps) in [
        ("all rows", None, STEPS),
        ("minibatches", Some(count / SHARE), NOISY_STEPS),
    ] {
        let mut points = Vec::new();
        for step in steps {
            let gradients = match batch {
                // Blocks of all rows have no noise.
                None => format!("batch={count}:scheme=epoch"),
                Some(batch) => format!("batch={batch}"),
            };
            let apart = (2.0 / step).ceil() as u64;
            let variant = format!(
                "sghmc:friction=2:friction_correction=off:integrator=aboba:step_size={step}:steps_per_draw={apart}:{gradients}"
            );
            let run = problem.run(&variant, |run| {
                run.draws = LONG[quick] / if batch.is_some() { 16 } else { 4 };
            })?;
            points.push((step, (mean_phi(&run) / truth - 1.0).abs()));
        }
        let order = log_slope(&points);
        rows.push(row(
            &["bias of the second-order integrator", name],
            &[f64::NAN, -order, if batch.is_some() { -1.0 } else { -2.0 }],
        ));
        orders.push(order);
    }
    Ok(BenchTable {
        columns: vec!["error", "steps", "alpha", "rate", "theory"],
        rows,
        notes: vec![
            format!(
                "rate: slope of the logarithm of the mean squared error of the average of φ over {} chains on that of the number of steps, \
                 {} to {}; theory: −min(1 − α, 2Kα)",
                CHAINS as u64 * RUNS[quick],
                LENGTHS[0],
                lengths(options)[lengths(options).len() - 1]
            ),
            format!(
                "bias: the same of the distance of the mean of these averages from E φ, over {} chains that start at the mode, {} to {} steps; \
                 theory: −min(1 − α, Kα), without a logarithm of the number of steps at α = 1/(K + 1)",
                CHAINS as u64 * BIAS_RUNS[quick],
                BIAS_LENGTHS[0],
                bias_lengths(options)[bias_lengths(options).len() - 1]
            ),
            "bias of the second-order integrator: minus the slope of the logarithm of the relative bias of φ on that of the step; theory: −K, but −1 with minibatches, \
             because the noise of gradients heats by a share of order ε"
                .to_owned(),
        ],
        findings: vec![
            Finding {
                claim: "with fixed steps h ∝ L^(−α) and a second-order integrator the mean squared error falls fastest with α = 0.2",
                reproduced: is_best(&second, 1),
                because: words(&second),
            },
            Finding {
                claim: "decreasing steps behave as fixed ones, with the best exponent α = 1/(2K + 1) for the mean squared error: 1/3 for \
                        Langevin dynamics",
                reproduced: is_best(&first, 1),
                because: words(&first),
            },
            Finding {
                claim: "decreasing steps of a second-order integrator have the best exponent 1/5",
                reproduced: is_best(&decreasing, 1),
                because: words(&decreasing),
            },
            Finding {
                claim: "the bias of decreasing steps of a second-order integrator falls fastest with α = 1/(K + 1) = 1/3",
                reproduced: is_best(&biases, 1),
                because: words(&biases),
            },
            Finding {
                claim: "the bias of the second-order integrator is of order h², and noise of minibatches does not change that",
                reproduced: (orders[0] - 2.0).abs() < 0.4 && (orders[1] - 2.0).abs() < 0.4,
                because: format!(
                    "the order is {:.2} with all rows and {:.2} with minibatches: their noise adds h²v to the variance of a momentum per \
                     step, a heating of order h that the bound leaves out and that a correction of friction takes away",
                    orders[0], orders[1]
                ),
            },
        ],
        plots: vec![
            Plot::lines("alpha", &["rate", "theory"])
                .by(&["error", "steps"])
                .named("rate"),
        ],
        ..BenchTable::default()
    })
}

/// Exponents with the slopes that were found.
fn rates(
    problem: &Problem,
    options: &BenchOptions,
    (exponents, how): (&[f64], Steps),
    rows: &mut Vec<Vec<super::Cell>>,
) -> Result<Vec<(f64, f64)>, BenchError> {
    let quick = usize::from(options.quick);
    let count = ROWS[quick];
    let truth = truth(count);
    let mut found = Vec::new();
    for &alpha in exponents {
        let mut points = Vec::new();
        for &steps in lengths(options) {
            let variant = how.variant(alpha, steps, count);
            let mut errors = Vec::new();
            for seed in 0..RUNS[quick] {
                let run = problem.run(&variant, |run| {
                    run.chains = CHAINS;
                    run.warmup = Some(0);
                    run.draws = steps as u64;
                    // From the posterior: what is left of a start is not what the bounds are about.
                    run.start_spread = 1.0;
                    run.seed = options.seed * RUNS[quick] + seed;
                })?;
                errors.extend(averages(&run).map(|average| (average / truth - 1.0).powi(2)));
            }
            points.push((
                steps as f64,
                errors.iter().sum::<f64>() / errors.len() as f64,
            ));
        }
        let rate = log_slope(&points);
        let theory = -(1.0 - alpha).min(2.0 * how.order() * alpha);
        let words = ["mean squared error", how.title()];
        rows.push(row(&words, &[alpha, rate, theory]));
        found.push((alpha, rate));
    }
    Ok(found)
}

/// Exponents of decreasing steps of the second-order integrator with the slopes of the bias that were found.
fn biases(
    problem: &Problem,
    options: &BenchOptions,
    rows: &mut Vec<Vec<super::Cell>>,
) -> Result<Vec<(f64, f64)>, BenchError> {
    let how = Steps::DecreasingSecond;
    let (runs, count) = (
        options.sized(BIAS_RUNS[1], BIAS_RUNS[0]),
        options.sized(ROWS[1], ROWS[0]),
    );
    let truth = truth(count);
    let mut found = Vec::new();
    for alpha in OF_BIAS {
        let mut points = Vec::new();
        for &steps in bias_lengths(options) {
            let mut all = Vec::new();
            for seed in 0..runs {
                let run = problem.run(&how.variant(alpha, steps, count), |run| {
                    run.chains = CHAINS;
                    run.warmup = Some(0);
                    run.draws = steps as u64;
                    run.start = at(&[("theta", 0.0)]);
                    run.seed = options.seed * runs + seed;
                })?;
                all.extend(averages(&run));
            }
            points.push((steps as f64, (mean_and_sd(&all)[0] / truth - 1.0).abs()));
        }
        let rate = log_slope(&points);
        let theory = -(1.0 - alpha).min(how.order() * alpha);
        rows.push(row(&["bias", how.title()], &[alpha, rate, theory]));
        found.push((alpha, rate));
    }
    Ok(found)
}

fn bias_lengths(options: &BenchOptions) -> &'static [usize] {
    options.sized(&BIAS_LENGTHS[..3], &BIAS_LENGTHS)
}

fn lengths(options: &BenchOptions) -> &'static [usize] {
    match options.quick {
        true => &LENGTHS[..3],
        false => &LENGTHS,
    }
}

/// Whether the exponent at `place` has the steepest slope.
fn is_best(found: &[(f64, f64)], place: usize) -> bool {
    let slopes = found.iter().enumerate();
    slopes.min_by(|a, b| a.1.1.total_cmp(&b.1.1)).map(|it| it.0) == Some(place)
}

fn words(found: &[(f64, f64)]) -> String {
    let parts = found
        .iter()
        .map(|(alpha, rate)| format!("{rate:.2} with α = {alpha:.2}"));
    format!("the slopes are {}", parts.collect::<Vec<_>>().join(", "))
}

/// The average of φ over each chain, weighted by steps where these decrease.
fn averages(run: &Run) -> impl Iterator<Item = f64> {
    let weights = info(run, WEIGHT);
    let chains = phi(run).into_iter().enumerate();
    chains.map(move |(k, phi)| match weights.get(k) {
        Some(weights) => {
            let sum: f64 = phi.iter().zip(weights).map(|(phi, w)| w * phi).sum();
            sum / weights.iter().sum::<f64>()
        }
        None => phi.iter().sum::<f64>() / phi.len() as f64,
    })
}

/// φ(θ) = θ² of the draws, chain by chain.
fn phi(run: &Run) -> Vec<Vec<f64>> {
    let mut chains = draws(run, "theta");
    let all = chains.iter_mut().flatten();
    all.for_each(|theta| *theta *= *theta);
    chains
}

fn mean_phi(run: &Run) -> f64 {
    mean_and_sd(&phi(run).concat())[0]
}

/// E θ² of the posterior N(0, 1/(N + 1)) of centred rows.
fn truth(count: usize) -> f64 {
    1.0 / (count as f64 + 1.0)
}

/// Normal rows, centred and scaled to variance 1, so that the curvature of rows is their noise.
fn data(count: usize, seed: u64) -> Result<Table, BenchError> {
    let mut rng = stream(seed, 0, Purpose::Data);
    let x: Vec<f64> = (0..count)
        .map(|_| StandardNormal.sample(&mut rng))
        .collect();
    let [mean, sd] = mean_and_sd(&x);
    let x = x.iter().map(|x| (x - mean) / sd).collect();
    table("normal", vec![("x".to_owned(), x)])
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    /// A mean squared error over 200 chains is known to a tenth, a slope over a factor of 16 to 0.05.
    #[test]
    #[ignore = "long: run by .ci/long"]
    fn errors_fall_at_the_rates_of_theory() {
        let table = quick(run);
        for place in 0..4 {
            assert!(
                table.findings[place].reproduced,
                "{}",
                table.findings[place]
            );
        }
        let of = |gradients| {
            number(
                &table,
                &["bias of the second-order integrator", gradients],
                "rate",
            )
        };
        assert!((of("all rows") + 2.0).abs() < 0.4);
        assert!((of("minibatches") + 1.0).abs() < 0.4);
        // Slopes of the bias are known, and found to 0.03.
        let how = Steps::DecreasingSecond;
        for alpha in OF_BIAS {
            let exact: Vec<(f64, f64)> = (BIAS_LENGTHS[..3].iter())
                .map(|&steps| (steps as f64, exact_bias(alpha, steps).abs()))
                .collect();
            let found = number(&table, &["bias", how.title(), &alpha.to_string()], "rate");
            let exact = log_slope(&exact);
            assert!(
                (found - exact).abs() < 4.0 * 0.03,
                "{alpha}: {found} {exact}"
            );
        }
    }

    /// The bias of the average of θ² over a chain of second-order SGHMC from the mode, curvature and variance 1: its steps are linear, so
    /// that the covariance of position and momentum follows a recursion.
    fn exact_bias(alpha: f64, steps: usize) -> f64 {
        // Variance of positions, covariance, variance of momenta.
        let [mut zz, mut zr, mut rr] = [0.0, 0.0, 1.0];
        let (mut sum, mut weights) = (0.0, 0.0);
        for l in 1..=steps {
            let step = LARGEST[1] * (l as f64).powf(-alpha);
            // Friction 2 for half a step.
            let kept = (-step).exp();
            let half = 0.5 * step;
            (zz, zr) = (zz + 2.0 * half * zr + half * half * rr, zr + half * rr);
            (zr, rr) = (kept * zr, kept * kept * rr);
            (zr, rr) = (
                zr - step * zz,
                rr - 2.0 * step * zr + step * step * zz + 4.0 * step,
            );
            (zr, rr) = (kept * zr, kept * kept * rr);
            (zz, zr) = (zz + 2.0 * half * zr + half * half * rr, zr + half * rr);
            sum += step * (zz - 1.0);
            weights += step;
        }
        sum / weights
    }
}
