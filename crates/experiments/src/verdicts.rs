//! Whether the word Good keeps its promise: many runs of posteriors that are known, and how often their numbers hold.
//!
//! A run is called Good from its draws alone. Here the posterior is known by other means, so that it can be counted how often 90 %
//! intervals of the Monte Carlo error of a mean hold the mean, how much of the posterior lies between the 5 % and the 95 % quantile
//! of the draws, and how often a run was called Good though a mean is off by more than a fifth of a standard deviation.

use rand::RngExt as _;
use rand_distr::{Distribution, StandardNormal, StudentT};

use super::problem::mean_and_error;
use super::{BenchOptions, BenchTable, Cell, Plot};
use crate::error::BenchError;
use ergodic_base::{ChainRng, Purpose, stream};
use ergodic_core::design::{MemoryColumns, Values};
use ergodic_core::engine::Sampling as _;
use ergodic_core::models::LogDensity;
use ergodic_core::{Fit, FitError};
use ergodic_diagnostics::{SummaryRow, Verdict};

/// Runs of each posterior; a share of 1 % is known to within 0.7 %.
const RUNS: u64 = 200;
/// Runs of each posterior in the quick version.
const QUICK_RUNS: u64 = 10;
/// Independent draws by which a posterior is known: means to within 0.003 standard deviations, a tenth of what runs reach.
const KNOWN_DRAWS: usize = 100_000;
/// Largest shift of a mean, in standard deviations, with which a run may be called Good.
const SHIFT: f64 = 0.2;
/// Quantile of the normal distribution that leaves 5 % on either side.
const NORMAL_95: f64 = 1.644_853_626_951_472_7;

/// A posterior whose numbers are known by other means than the runs.
struct Posterior {
    name: &'static str,
    fit: fn() -> Result<Fit, FitError>,
    /// What is known of the quantity of each name.
    known: Vec<(String, Known)>,
}

/// What is known of one quantity.
struct Known {
    mean: f64,
    sd: f64,
    /// Values in order, with the share of the posterior up to each.
    shares: Vec<(f64, f64)>,
}

/// What one run said, and how far it was off.
struct Outcome {
    is_good: bool,
    /// By quantity.
    quantities: Vec<Quantity>,
}

struct Quantity {
    /// Mean less the true one, in posterior standard deviations.
    shift: f64,
    /// Whether the 90 % interval of the Monte Carlo error holds the mean.
    is_held: bool,
    /// Posterior probability between the 5 % and 95 % quantiles of the draws.
    between: f64,
}

/// Runs the experiment; the quick version has ten runs of each posterior.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let runs = options.sized(QUICK_RUNS, RUNS);
    let table = posteriors().and_then(|posteriors| {
        let rows = posteriors.iter().map(|it| row(it, options.seed, runs));
        rows.collect::<Result<Vec<_>, _>>()
    });
    Ok(BenchTable {
        columns: vec![
            "posterior", "runs", "good", "mean_held", "mean_held_se", "posterior_between", "largest_shift_sd", "good_but_off",
        ],
        rows: table.map_err(BenchError::unknown)?,
        notes: vec![
            "NUTS with default settings, four chains of 1000 draws, from another seed each; good: share of runs called Good, \
             which the columns to its right are of"
                .to_owned(),
            "mean_held: share of 90 % intervals of the Monte Carlo error that hold the mean, and its standard error, which counts runs, \
             for quantities of one run go together; posterior_between: probability between the 5 % and 95 % quantiles of the draws, 0.9 \
             where they are right"
                .to_owned(),
            format!("good_but_off: share of all runs that are called Good though a mean is off by more than {SHIFT} standard deviations"),
        ],
        plots: vec![Plot::points("posterior", &["good", "mean_held", "good_but_off"]).named("share")],
        ..BenchTable::default()
    })
}

fn row(posterior: &Posterior, seed: u64, runs: u64) -> Result<Vec<Cell>, FitError> {
    let outcomes = (1..=runs).map(|k| posterior.outcome(seed * runs + k));
    let outcomes: Vec<Outcome> = outcomes.collect::<Result<_, _>>()?;
    let good: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.is_good).collect();
    let quantities = || good.iter().flat_map(|outcome| &outcome.quantities);
    let mean = |value: fn(&Quantity) -> f64| {
        quantities().map(value).sum::<f64>() / quantities().count() as f64
    };
    let is_off = |outcome: &&&Outcome| outcome.quantities.iter().any(|it| it.shift.abs() > SHIFT);
    let off = good.iter().filter(is_off).count();
    let held = good.iter().map(|outcome| outcome.share_held());
    let [_, held_error] = mean_and_error(&held.collect::<Vec<f64>>());
    Ok(vec![
        Cell::Text(posterior.name.to_owned()),
        Cell::Count(runs),
        Cell::Number(good.len() as f64 / runs as f64),
        Cell::Number(mean(|it| f64::from(u8::from(it.is_held)))),
        Cell::Number(held_error),
        Cell::Number(mean(|it| it.between)),
        Cell::Number(
            quantities()
                .map(|it| it.shift.abs())
                .fold(f64::NAN, f64::max),
        ),
        Cell::Number(off as f64 / runs as f64),
    ])
}

impl Outcome {
    /// Share of the quantities whose mean the interval holds.
    fn share_held(&self) -> f64 {
        let held = self.quantities.iter().filter(|it| it.is_held).count();
        held as f64 / self.quantities.len() as f64
    }
}

impl Posterior {
    fn outcome(&self, seed: u64) -> Result<Outcome, FitError> {
        let fitted = (self.fit)()?.seed(seed).run()?;
        let summary = fitted.summary();
        let quantities = self.known.iter().filter_map(|(name, known)| {
            let row = summary.rows().iter().find(|row| row.variable == **name)?;
            known.compare(row)
        });
        Ok(Outcome {
            is_good: fitted.verdict() == Verdict::Good,
            quantities: quantities.collect(),
        })
    }
}

impl Known {
    /// A quantity of which there are weighted draws.
    fn of(mut weighted: Vec<(f64, f64)>) -> Self {
        weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let moment = |f: &dyn Fn(f64) -> f64| {
            weighted
                .iter()
                .map(|(x, weight)| weight * f(*x))
                .sum::<f64>()
                / total
        };
        let mean = moment(&|x| x);
        let sd = moment(&|x| (x - mean) * (x - mean)).sqrt();
        let mut sum = 0.0;
        let shares = weighted.iter().map(|(x, weight)| {
            sum += weight / total;
            (*x, sum)
        });
        Self {
            mean,
            sd,
            shares: shares.collect(),
        }
    }

    /// A quantity that can be drawn from a stream of its own, with the mean and the standard deviation that it has.
    fn drawn(mut rng: ChainRng, mean: f64, sd: f64, draw: impl Fn(&mut ChainRng) -> f64) -> Self {
        let draws = (0..KNOWN_DRAWS).map(|_| (draw(&mut rng), 1.0)).collect();
        Self {
            mean,
            sd,
            ..Self::of(draws)
        }
    }

    fn share_up_to(&self, x: f64) -> f64 {
        let k = self.shares.partition_point(|(value, _)| *value <= x);
        k.checked_sub(1).map_or(0.0, |k| self.shares[k].1)
    }

    fn compare(&self, row: &SummaryRow) -> Option<Quantity> {
        let (mean, mcse) = (row.mean?, row.mcse_mean?);
        Some(Quantity {
            shift: (mean - self.mean) / self.sd,
            is_held: (mean - self.mean).abs() <= NORMAL_95 * mcse,
            between: self.share_up_to(row.q95?) - self.share_up_to(row.q5?),
        })
    }
}

fn posteriors() -> Result<Vec<Posterior>, FitError> {
    let mut quantities = 0;
    let mut rng = move || {
        quantities += 1;
        stream(0, quantities, Purpose::Diagnostics)
    };
    let every = |density: &dyn LogDensity,
                 rng: &mut dyn FnMut() -> ChainRng,
                 known: fn(ChainRng) -> Known| {
        let names = density.names().into_iter();
        names.map(|name| (name, known(rng()))).collect()
    };
    let normal = |rng: &mut ChainRng| -> f64 { StandardNormal.sample(rng) };
    Ok(vec![
        Posterior {
            name: "normal",
            fit: || Ok(Fit::new(Correlated)),
            known: every(&Correlated, &mut rng, |rng| {
                Known::drawn(rng, 0.0, 1.0, |rng| StandardNormal.sample(rng))
            }),
        },
        Posterior {
            name: "heavy-tailed",
            fit: || Ok(Fit::new(HeavyTailed)),
            known: every(&HeavyTailed, &mut rng, |rng| {
                let t = StudentT::new(DEGREES).expect("positive");
                let sd = (DEGREES / (DEGREES - 2.0)).sqrt();
                Known::drawn(rng, 0.0, sd, |rng| t.sample(rng))
            }),
        },
        Posterior {
            name: "funnel",
            fit: || Ok(Fit::new(Funnel)),
            known: vec![(
                "v".to_owned(),
                Known::drawn(rng(), 0.0, Funnel::SD, |rng| Funnel::SD * normal(rng)),
            )],
        },
        two_modes(
            rng(),
            "two modes, near",
            || Ok(Fit::new(TwoModes(2.0))),
            2.0,
        ),
        two_modes(rng(), "two modes, far", || Ok(Fit::new(TwoModes(5.0))), 5.0),
        nearly_separated()?,
        few_groups("few groups", groups)?,
        few_groups("few groups, small steps", || {
            Ok(groups()?.set("target_accept", SMALL_STEPS))
        })?,
    ])
}

/// Three coordinates of variance 1 with correlations 0.9.
struct Correlated;

impl LogDensity for Correlated {
    fn dim(&self) -> usize {
        3
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        const R: f64 = 0.9;
        let dim = u.len() as f64;
        // The inverse of (1 − r) I + r 11'.
        let shared = R / (1.0 + (dim - 1.0) * R) * u.iter().sum::<f64>();
        let mut value = 0.0;
        for (grad, u) in grad.iter_mut().zip(u) {
            *grad = -(u - shared) / (1.0 - R);
            value += 0.5 * u * *grad;
        }
        value
    }
}

/// Degrees of freedom of [`HeavyTailed`]: few, but with a variance.
const DEGREES: f64 = 3.0;

/// Two independent Student-t coordinates.
struct HeavyTailed;

impl LogDensity for HeavyTailed {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for (grad, u) in grad.iter_mut().zip(u) {
            *grad = -(DEGREES + 1.0) * u / (DEGREES + u * u);
            value -= 0.5 * (DEGREES + 1.0) * (u * u / DEGREES).ln_1p();
        }
        value
    }
}

/// Neal's funnel: v ~ N(0, 3²), and nine x ~ N(0, e^v).
struct Funnel;

impl Funnel {
    const SD: f64 = 3.0;
}

impl LogDensity for Funnel {
    fn dim(&self) -> usize {
        10
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let (v, x) = (u[0], &u[1..]);
        let (count, precision) = (x.len() as f64, (-v).exp());
        let squares = precision * x.iter().map(|x| x * x).sum::<f64>();
        let variance = Self::SD * Self::SD;
        grad[0] = -v / variance + 0.5 * (squares - count);
        for (grad, x) in grad[1..].iter_mut().zip(x) {
            *grad = -precision * x;
        }
        -0.5 * (v * v / variance + count * v + squares)
    }

    fn names(&self) -> Vec<String> {
        let x = (1..self.dim()).map(|j| format!("x[{j}]"));
        std::iter::once("v".to_owned()).chain(x).collect()
    }
}

/// Half N(−a, 1) and half N(a, 1) in the first coordinate, N(0, 1) in the second.
struct TwoModes(f64);

impl LogDensity for TwoModes {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let (a, x, y) = (self.0, u[0], u[1]);
        grad[0] = a * (a * x).tanh() - x;
        grad[1] = -y;
        // log cosh(ax) without overflow.
        let log_cosh = (a * x).abs() + (-2.0 * (a * x).abs()).exp().ln_1p();
        log_cosh - 0.5 * (x * x + y * y)
    }
}

fn two_modes(
    rng: ChainRng,
    name: &'static str,
    fit: fn() -> Result<Fit, FitError>,
    a: f64,
) -> Posterior {
    let known = Known::drawn(rng, 0.0, a.hypot(1.0), |rng| {
        let centre = if rng.random::<bool>() { a } else { -a };
        let noise: f64 = StandardNormal.sample(rng);
        centre + noise
    });
    Posterior {
        name,
        fit,
        known: vec![("u[1]".to_owned(), known)],
    }
}

/// Rows of [`separated`].
const SEPARATED_ROWS: usize = 16;

/// A logistic regression whose outcome a threshold tells but for the two rows beside it.
fn separated() -> Result<Fit, FitError> {
    let x: Vec<f64> = (0..SEPARATED_ROWS).map(|i| i as f64).collect();
    let middle = SEPARATED_ROWS / 2;
    let mut y: Vec<f64> = (0..SEPARATED_ROWS)
        .map(|i| f64::from(u8::from(i >= middle)))
        .collect();
    y.swap(middle - 1, middle);
    let columns = vec![
        ("x".to_owned(), Values::Numbers(x)),
        ("y".to_owned(), Values::Numbers(y)),
    ];
    Fit::of_columns(
        "logistic",
        "y ~ x",
        &MemoryColumns::new("separated", columns)?,
    )
}

/// Known by its density on a grid around the mode.
fn nearly_separated() -> Result<Posterior, FitError> {
    /// Places per coordinate, and standard deviations at the mode on either side: the posterior is skewed.
    const PLACES: usize = 801;
    const REACH: f64 = 16.0;
    let plan = separated()?.plan()?;
    let (model, centre) = (
        plan.model(),
        plan.centre().expect("a logistic regression has a mode"),
    );
    let density = model.density().expect("a regression has a density");
    let (mut grad, mut theta) = ([0.0; 2], [0.0; 2]);
    let mut draws = [const { Vec::new() }; 2];
    let peak = density.log_density(&centre.u, &mut grad);
    let place = |k: usize| REACH * (2.0 * k as f64 / (PLACES - 1) as f64 - 1.0);
    for i in 0..PLACES {
        for j in 0..PLACES {
            let mut z = [place(i), place(j)];
            centre.factor.solve_lower_transpose(&mut z);
            let u: [f64; 2] = std::array::from_fn(|k| centre.u[k] + z[k]);
            let weight = (density.log_density(&u, &mut grad) - peak).exp();
            model.constrain(&u, &mut theta);
            for (draws, theta) in draws.iter_mut().zip(theta) {
                draws.push((theta, weight));
            }
        }
    }
    let names = plan.variables().into_iter().map(|name| name.to_string());
    Ok(Posterior {
        name: "nearly separated",
        fit: separated,
        known: names.zip(draws.map(Known::of)).collect(),
    })
}

/// Target acceptance that the quick fix of divergences leads to.
const SMALL_STEPS: f64 = 0.99;

/// A mixed model with four groups of five rows.
fn groups() -> Result<Fit, FitError> {
    const GROUPS: usize = 4;
    const SIZE: usize = 5;
    let mut rng = stream(0, 1, Purpose::Data);
    let mut noise = || -> f64 { StandardNormal.sample(&mut rng) };
    let effects: Vec<f64> = (0..GROUPS).map(|_| noise()).collect();
    let rows = (0..GROUPS).flat_map(|group| std::iter::repeat_n(group, SIZE));
    let (names, y): (Vec<Option<String>>, Vec<f64>) = rows
        .map(|group| (Some(format!("g{}", group + 1)), effects[group] + noise()))
        .unzip();
    let columns = vec![
        ("g".to_owned(), Values::Texts(names)),
        ("y".to_owned(), Values::Numbers(y)),
    ];
    Fit::of_columns(
        "mixed",
        "y ~ 1 + (1 | g)",
        &MemoryColumns::new("groups", columns)?,
    )
}

/// Known by a long run of a Gibbs sampler.
fn few_groups(
    name: &'static str,
    fit: fn() -> Result<Fit, FitError>,
) -> Result<Posterior, FitError> {
    let known = groups()?
        .sampler_called("gibbs-mixed")?
        .draws(KNOWN_DRAWS as u64)
        .run()?;
    let names = known.variables().into_iter().map(|name| name.to_string());
    let known = names.filter_map(|name| {
        let draws = known.draws(&name)?;
        Some((
            name,
            Known::of(draws.iter().map(|draw| (*draw, 1.0)).collect()),
        ))
    });
    Ok(Posterior {
        name,
        fit,
        known: known.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(cell: &Cell) -> f64 {
        match cell {
            Cell::Number(value) => *value,
            _ => panic!("{cell:?}"),
        }
    }

    #[test]
    fn a_share_has_the_standard_error_of_its_runs() {
        // Three runs of four hold: variance 1/4, over four.
        assert_eq!(mean_and_error(&[1.0, 0.0, 1.0, 1.0]), [0.75, 0.25]);
        assert!(mean_and_error(&[1.0])[1].is_nan());
        let quantity = |is_held| Quantity {
            shift: 0.0,
            is_held,
            between: 0.9,
        };
        let outcome = Outcome {
            is_good: true,
            quantities: vec![
                quantity(true),
                quantity(false),
                quantity(true),
                quantity(true),
            ],
        };
        assert_eq!(outcome.share_held(), 0.75);
    }

    /// Known numbers are those that theory gives, and runs of easy posteriors are Good and right.
    #[test]
    #[ignore = "long: run by .ci/long"]
    fn good_is_said_of_easy_posteriors_and_of_no_wrong_one() {
        for posterior in posteriors().unwrap() {
            for (name, known) in &posterior.known {
                let (last, share) = *known.shares.last().unwrap();
                assert!((share - 1.0).abs() < 1e-9 && last.is_finite(), "{name}");
                assert_eq!(known.share_up_to(f64::NEG_INFINITY), 0.0);
                // Chebyshev's inequality.
                let between = known.share_up_to(known.mean + 4.0 * known.sd)
                    - known.share_up_to(known.mean - 4.0 * known.sd);
                assert!(between > 1.0 - 1.0 / 16.0, "{name}: {between}");
            }
            // Also two of one distribution are known from other draws each.
            for (k, (name, known)) in posterior.known.iter().enumerate() {
                let twin = |(_, other): &(String, Known)| other.shares == known.shares;
                assert!(!posterior.known[..k].iter().any(twin), "{name}");
            }
            let cells = row(&posterior, 1, 2).unwrap();
            let [good, off] = [2, 7].map(|k| number(&cells[k]));
            assert_eq!(off, 0.0, "{}", posterior.name);
            match posterior.name {
                "normal" | "heavy-tailed" | "nearly separated" => {
                    assert_eq!(good, 1.0, "{}", posterior.name);
                }
                "funnel" | "two modes, far" => assert_eq!(good, 0.0, "{}", posterior.name),
                _ => {}
            }
        }
    }
}
