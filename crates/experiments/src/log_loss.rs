//! Log loss of rows held out, draw by draw, of samplers with stochastic gradients on a tall logistic regression.
//!
//! Sources: Baker (2018), section 3.5.1 with figure 3.5.1 (SGLD, SGLD-CV and SAGA at 1 %, 10 % and all of the rows of covertype), and
//! section 4.6.2 with figure 4.6.2 (six samplers): 581,012 rows with 54 predictors, Laplace(0, 1) priors, minibatches of 500, log loss of
//! 10,000 rows held out every 10 of 10,000 iterations. With `--data` the rows are those of that file, whose last column is the outcome;
//! without it ten correlated numbers and 44 flags are simulated.
//!
//! Steps are tuned on a grid as in section 3.5, by the squared distance of the log loss from that at the mode in the second half of the
//! run. The source's own steps are for predictors scaled to [0, 1]; here these have standard deviation 1. Samplers without control
//! variates and SAGA start at draws of the prior, those with control variates at their centre, whose search is counted in passes.

use rayon::prelude::*;

use super::problem::{Problem, passes, row};
use super::tall::{Shape, Tall};
use super::{BenchOptions, BenchTable, Cell, Finding};
use ergodic_analysis::predict::Fitted;
use ergodic_analysis::{JobError, Run};
use ergodic_base::control::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::design::Columns as _;
use ergodic_core::engine::Start;

/// Rows with their predictors, as in the source, and in the quick version.
const SHAPES: [Shape; 2] = [
    Shape {
        rows: 581_012,
        numbers: 10,
        flags: 44,
        intercept: -0.5,
    },
    Shape {
        rows: 40_000,
        numbers: 6,
        flags: 4,
        intercept: -0.5,
    },
];
/// Rows of a minibatch, and in the quick version.
const BATCH: [usize; 2] = [500, 200];
/// Iterations, and in the quick version, and how many a recorded draw takes.
const ITERATIONS: [u64; 2] = [10_000, 2_000];
const EVERY: u64 = 10;
/// Rows held out.
const HELD_OUT: [usize; 2] = [10_000, 4_000];
/// Steps that are tried, relative to the default.
const FACTORS: [f64; 5] = [0.25, 1.0, 4.0, 16.0, 64.0];
/// Distances of log losses up to this factor are alike: each is mostly that of the posterior itself.
const LIKE: f64 = 1.5;
/// How many times as far a log loss must be from that at the mode to be worse by more than chance, which is a few per cent.
const BETTER: f64 = 1.1;
/// A chain has arrived where its log loss is within this share of the way from its start to the mode.
const ARRIVED: f64 = 0.01;

/// Control variates at three sizes of the data.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn sizes(options: &BenchOptions) -> Result<BenchTable, JobError> {
    let all = Tall::of(options, SHAPES[usize::from(options.quick)])?;
    let count = all.table.num_rows();
    let shares: &[usize] = options.sized(&[10, 1][..], &[100, 10, 1][..]);
    let mut rows = Vec::new();
    let mut gains = Vec::new();
    let mut last = Vec::new();
    for share in shares {
        let part = all.thinned(count / share)?;
        let trial = Trial::new(part, options)?;
        let found = ["sgld", "sgld-cv", "saga-ld"].map(|id| trial.tuned(id, ":precondition=none"));
        let found: Vec<Tuned> = found.into_iter().collect::<Result<_, _>>()?;
        for tuned in &found {
            rows.push(tuned.row(trial.rows()));
        }
        gains.push(found[0].distance / found[1].distance);
        last = found;
    }
    let grows = gains.windows(2).all(|pair| pair[1] > pair[0]);
    let (centred, saga) = (&last[1], &last[2]);
    Ok(BenchTable {
        columns: Tuned::COLUMNS.to_vec(),
        rows,
        notes: Tuned::notes(options, &all.source),
        findings: vec![
            Finding {
                claim: "the gain of SGLD with control variates over SGLD grows with the number of rows",
                reproduced: grows && gains.last().is_some_and(|gain| *gain > 1.0),
                because: format!(
                    "distances of the log loss from that at the mode are {} times as large without control variates, from fewest to most \
                     rows",
                    listed(&gains)
                ),
            },
            Finding {
                claim: "SAGA outperforms SGLD with control variates on this model",
                reproduced: saga.distance < LIKE * centred.distance
                    && saga.passes_to_arrive < centred.passes_to_arrive,
                because: format!(
                    "with all rows SAGA arrives after {:.2} passes and SGLD-CV after {:.2}, the search for its centre included; afterwards log \
                     losses are {:.1e} and {:.1e} from that at the mode",
                    saga.passes_to_arrive,
                    centred.passes_to_arrive,
                    saga.distance,
                    centred.distance
                ),
            },
        ],
        ..BenchTable::default()
    })
}

/// Six samplers.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn six(options: &BenchOptions) -> Result<BenchTable, JobError> {
    let all = Tall::of(options, SHAPES[usize::from(options.quick)])?;
    let source = all.source.clone();
    let trial = Trial::new(all, options)?;
    let mut found = Vec::new();
    for plain in ["sgld", "sghmc", "sgnht"] {
        let more = if plain == "sgld" {
            ":precondition=none"
        } else {
            ""
        };
        found.push(trial.tuned(plain, more)?);
        found.push(trial.tuned(&format!("{plain}-cv"), more)?);
    }
    let gains = [0, 2, 4].map(|k: usize| found[k].distance / found[k + 1].distance);
    let sd = |k: usize| found[k].sd;
    Ok(BenchTable {
        columns: Tuned::COLUMNS.to_vec(),
        rows: found.iter().map(|it| it.row(trial.rows())).collect(),
        notes: Tuned::notes(options, &source),
        findings: vec![
            Finding {
                claim: "samplers with control variates predict significantly better and vary less than those without",
                reproduced: gains.iter().all(|gain| *gain > BETTER),
                because: format!(
                    "without control variates log losses are {} times as far from that at the mode (SGLD, SGHMC, SGNHT)",
                    listed(&gains)
                ),
            },
            Finding {
                claim: "of those without, SGLD varies most by far and SGHMC least",
                reproduced: sd(0) > 2.0 * sd(2).max(sd(4)) && sd(2) < sd(4),
                because: format!(
                    "standard deviations of the log loss between draws are {:.1e} (SGLD), {:.1e} (SGHMC) and {:.1e} (SGNHT); with the \
                     curvature as mass matrix and friction that balances gradient noise, which the source has not, momenta can take the \
                     steps that suit each direction",
                    sd(0),
                    sd(2),
                    sd(4)
                ),
            },
        ],
        ..BenchTable::default()
    })
}

fn listed(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|it| format!("{it:.1}")).collect();
    numbers.join(", ")
}

/// What samplers are tried on.
struct Trial {
    problem: Problem,
    quick: usize,
    /// Log loss at the mode.
    at_mode: f64,
}

/// A sampler with the step that suits it best.
struct Tuned {
    sampler: String,
    step: f64,
    passes: f64,
    passes_to_arrive: f64,
    /// Mean and standard deviation over draws of the log loss, and root mean square of its distance from that at the mode, of the second
    /// half.
    mean: f64,
    sd: f64,
    distance: f64,
}

impl Tuned {
    const COLUMNS: [&'static str; 8] = [
        "rows",
        "sampler",
        "step",
        "passes",
        "passes_to_arrive",
        "log_loss",
        "log_loss_sd",
        "distance_from_mode",
    ];

    fn row(&self, rows: usize) -> Vec<Cell> {
        let numbers = [
            self.step,
            self.passes,
            self.passes_to_arrive,
            self.mean,
            self.sd,
            self.distance,
        ];
        let mut cells = vec![Cell::from(rows), Cell::from(self.sampler.as_str())];
        cells.extend(row(&[], &numbers));
        cells
    }

    fn notes(options: &BenchOptions, source: &str) -> Vec<String> {
        let quick = usize::from(options.quick);
        vec![
            format!(
                "{source}; {} iterations with minibatches of {} rows, four chains; log loss of {} rows held out, of single draws, in the second \
                 half of the run: mean, standard deviation, and root mean square of its distance from that at the mode",
                ITERATIONS[quick], BATCH[quick], HELD_OUT[quick]
            ),
            format!(
                "passes over the rows of one chain, the search for a centre of control variates included; passes_to_arrive: until the mean log \
                 loss of chains is within {} % of the way from a prior draw to the mode; step: the best of {} times the default",
                100.0 * ARRIVED,
                listed(&FACTORS)
            ),
        ]
    }
}

impl Trial {
    fn new(tall: Tall, options: &BenchOptions) -> Result<Self, JobError> {
        let quick = usize::from(options.quick);
        let count = tall.table.num_rows();
        // Of few rows a fifth is kept out.
        let share = HELD_OUT[quick].min(count / 5) as f64 / count as f64;
        let names = ("logistic", tall.formula.as_str());
        let problem = Problem::new(names, tall.table, options.seed, |recipe| {
            recipe.model.hold_out = share.to_string().parse().ok();
            recipe
                .priors
                .insert("b".to_owned(), "laplace(0, 1)".to_owned());
            recipe
                .priors
                .insert("intercept".to_owned(), "laplace(0, 1)".to_owned());
        })?;
        let job = problem.job();
        let mut theta = vec![0.0; job.model.params().len()];
        let centre = job.centre.as_ref();
        let centre = centre
            .ok_or_else(|| JobError::Impossible("The posterior mode was not found".to_owned()))?;
        job.model.constrain(&centre.u, &mut theta);
        let mut mode = DrawList::new(theta.len());
        // Scores want two draws.
        mode.push(&theta);
        mode.push(&theta);
        let fitted = fitted(&problem)?;
        let at_mode = losses(&fitted, &[&mode])?[0][0];
        Ok(Self {
            problem,
            quick,
            at_mode,
        })
    }

    fn rows(&self) -> usize {
        self.problem.job().model.num_obs()
    }

    /// The run with the best step, of those with which chains do not explode.
    fn tuned(&self, sampler: &str, more: &str) -> Result<Tuned, JobError> {
        let base = format!(
            "{sampler}{more}:batch={}:steps_per_draw={EVERY}",
            BATCH[self.quick].min(self.rows())
        );
        let default = self
            .problem
            .setting(&base, "step_size")?
            .unwrap_or(f64::NAN);
        let is_centred = sampler.ends_with("-cv");
        let fitted = fitted(&self.problem)?;
        let mut best: Option<Tuned> = None;
        for factor in FACTORS {
            let step = factor * default;
            let run = self
                .problem
                .run(&format!("{base}:step_size={step}"), |run| {
                    run.warmup = Some(0);
                    run.draws = ITERATIONS[self.quick] / EVERY;
                    if is_centred {
                        // At the centre, but for rounding.
                        run.start_spread = 1e-6;
                    } else {
                        run.start = Start::Prior;
                    }
                });
            let run = match run {
                // With longer steps the chain would explode.
                Err(JobError::Sampler(_)) => continue,
                run => run?,
            };
            let view = run.view();
            let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
            if lists.len() < view.chains.len() {
                continue;
            }
            let tuned = self.measured(sampler, step, &run, &losses(&fitted, &lists)?);
            if best
                .as_ref()
                .is_none_or(|best| tuned.distance < best.distance)
            {
                best = Some(tuned);
            }
        }
        best.ok_or_else(|| {
            JobError::Impossible(format!(
                "No step of {sampler} that was tried keeps its chains from exploding"
            ))
        })
    }

    fn measured(&self, sampler: &str, step: f64, run: &Run, losses: &[Vec<f64>]) -> Tuned {
        let length = losses.iter().map(Vec::len).min().unwrap_or(0);
        let late: Vec<f64> = losses
            .iter()
            .flat_map(|chain| chain[length / 2..].to_vec())
            .collect();
        let [mean, sd] = super::problem::mean_and_sd(&late);
        let squares = late.iter().map(|it| (it - self.at_mode).powi(2));
        let distance = (squares.sum::<f64>() / late.len() as f64).sqrt();
        let setup = match (sampler.ends_with("-cv"), &self.problem.job().mode) {
            (true, Some(search)) => search.passes,
            _ => 0.0,
        };
        let chains = losses.len() as f64;
        let sampling = passes(run) / chains;
        let course = (0..length).map(|k| losses.iter().map(|chain| chain[k]).sum::<f64>() / chains);
        // A prior draw predicts about as well as a coin, or worse.
        let limit = self.at_mode + ARRIVED * (std::f64::consts::LN_2 - self.at_mode);
        let arrived = course.enumerate().find(|(_, loss)| *loss <= limit);
        let share = arrived.map_or(f64::NAN, |(k, _)| (k + 1) as f64 / length as f64);
        Tuned {
            sampler: sampler.to_owned(),
            step,
            passes: setup + sampling,
            passes_to_arrive: setup + share * sampling,
            mean,
            sd,
            distance,
        }
    }
}

fn fitted(problem: &Problem) -> Result<Fitted, JobError> {
    Fitted::of(problem.job()).map_err(|error| JobError::Impossible(error.to_string()))
}

/// The log loss of the rows held out, of every draw of every chain.
fn losses(fitted: &Fitted, lists: &[&DrawList]) -> Result<Vec<Vec<f64>>, JobError> {
    /// Rows that are summed by one thread, in a fixed order.
    const STRETCH: usize = 256;
    let log_lik = fitted
        .log_lik_of_held_out((lists, &[]), &Control::default())
        .map_err(|error| JobError::Impossible(error.to_string()))?;
    let (rows, count) = (log_lik.num_rows(), log_lik.num_draws());
    let stretches: Vec<Vec<f64>> = (0..rows.div_ceil(STRETCH))
        .into_par_iter()
        .map(|stretch| {
            let (mut sum, mut row) = (vec![0.0; count], vec![0.0; count]);
            for i in stretch * STRETCH..((stretch + 1) * STRETCH).min(rows) {
                log_lik.row(i, 0, &mut row);
                sum.iter_mut().zip(&row).for_each(|(sum, it)| *sum -= it);
            }
            sum
        })
        .collect();
    let mut all = vec![0.0; count];
    for sums in &stretches {
        all.iter_mut()
            .zip(sums)
            .for_each(|(all, it)| *all += it / rows as f64);
    }
    let mut rest = all.as_slice();
    let mut chains = Vec::new();
    for &length in log_lik.chains() {
        let (chain, more) = rest.split_at(length);
        chains.push(chain.to_vec());
        rest = more;
    }
    Ok(chains)
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::quick;
    use super::*;

    /// With ten times the rows the noise of gradients without control variates is ten times that with them.
    #[test]
    fn control_variates_gain_with_the_rows() {
        let table = quick(sizes);
        assert!(table.findings[0].reproduced);
    }

    #[test]
    fn control_variates_predict_better() {
        let table = quick(six);
        assert!(table.findings[0].reproduced);
    }
}
