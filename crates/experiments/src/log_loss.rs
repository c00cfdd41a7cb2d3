//! Log loss of rows held out, draw by draw, of samplers with stochastic gradients on a tall logistic regression.
//!
//! Sources: Baker (2018), section 3.5.1 with figure 3.5.1 (SGLD, SGLD-CV and SAGA at 1 %, 10 % and all of the rows of covertype), and
//! sections 4.5 and 4.6.2 with figures 4.5.1 and 4.6.2 (six samplers): 581,012 rows with 54 predictors, Laplace(0, 1) priors, minibatches of 500, log loss of
//! 10,000 rows held out every 10 of 10,000 iterations. With `--data` the rows are those of that file, whose last column is the outcome;
//! without it ten correlated numbers and 44 flags are simulated.
//!
//! Steps are tuned on a grid as in section 3.5, by the squared distance of the log loss from that at the mode in the second half of the
//! run. The source's own steps are for predictors scaled to [0, 1]; here these have standard deviation 1. Samplers without control
//! variates and SAGA start at draws of the prior, those with control variates at their centre, whose search is counted in passes and
//! seconds. SGLD also runs with the decreasing steps h (1 + k/1000)^(−0.33) of appendix A.3 (figure A.3.1), and the log predictive
//! density of SGLD-CV is corrected by zero-variance control variates (figure 3.5.2, [`super::corrected`]).

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::corrected::{self, Corrected};
use super::problem::{Problem, lines_of, passes, row};
use super::tall::{Shape, Tall};
use super::{BenchOptions, BenchTable, Cell, Finding, FurtherTable, Plot};
use crate::error::BenchError;
use ergodic_analysis::predict::Fitted;
use ergodic_analysis::zero_variance::{Gradients, points_of};
use ergodic_analysis::{JobError, Run};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::thousands;
use ergodic_core::design::Columns as _;
use ergodic_core::engine::Start;
use ergodic_core::estimators::find_mode;
use ergodic_diagnostics::zero_variance::Points;

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
/// Share of the iterations that the source's example drops: 1,000 of 11,000.
const BURN_IN: f64 = 1.0 / 11.0;
/// Distances of log losses up to this factor are alike: each is mostly that of the posterior itself.
const LIKE: f64 = 1.5;
/// How many times as far a log loss must be from that at the mode to be worse by more than chance, which is a few per cent.
const BETTER: f64 = 1.1;
/// A chain has arrived where its log loss is within this share of the way from its start to the mode.
const ARRIVED: f64 = 0.01;

/// Langevin dynamics in the model's own coordinates, as in the source.
const PLAIN: &str = ":precondition=none";
/// The same with the source's decreasing steps.
const DECREASING: &str =
    ":precondition=none:schedule=decreasing:decay_offset=1000:decay_exponent=0.33";
/// Lines of the course of a sampler, evenly spaced in the logarithm of the draw.
const LINES: i32 = 12;
/// Chains of a run.
const CHAINS: usize = 4;

/// Control variates at three sizes of the data.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn sizes(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let all = Tall::of(options, SHAPES[usize::from(options.quick)])?;
    let count = all.table.num_rows();
    let shares: &[usize] = options.sized(&[10, 1][..], &[100, 10, 1][..]);
    let mut rows = Vec::new();
    let mut course = Vec::new();
    let mut gains = Vec::new();
    let mut last = Vec::new();
    let mut corrections = Vec::new();
    for share in shares {
        let part = all.thinned(count / share)?;
        let trial = Trial::new(part, options)?;
        let stage = format!("runs of {} rows", thousands(trial.rows() as u64));
        options.control.enter(stage);
        options.control.expect(4 * FACTORS.len() as u64);
        let found = [
            ("sgld", "sgld", PLAIN),
            ("sgld-cv", "sgld-cv", PLAIN),
            ("saga-ld", "saga-ld", PLAIN),
            ("sgld decreasing", "sgld", DECREASING),
        ]
        .map(|(name, id, more)| trial.tuned(name, id, more));
        let found: Vec<Tuned> = found.into_iter().collect::<Result<_, _>>()?;
        for tuned in &found {
            rows.push(tuned.row(trial.rows()));
            course.extend(tuned.course(trial.rows()));
        }
        gains.push(found[0].distance / found[1].distance);
        corrections.push((trial.rows(), trial.corrected(&found[1])?));
        last = found;
    }
    let grows = gains.windows(2).all(|pair| pair[1] > pair[0]);
    let (centred, saga) = (&last[1], &last[2]);
    let mut notes = Tuned::notes(options, &all.source);
    notes.push(
        "sgld decreasing: steps h (1 + k/1000)^(-0.33), of which the column step has h".to_owned(),
    );
    notes.push(corrected::note());
    Ok(BenchTable {
        columns: Tuned::COLUMNS.to_vec(),
        plots: course_plots(),
        rows,
        notes,
        further: vec![
            course_table(course),
            corrected::table("rows", corrections.iter().map(|(rows, it)| (*rows, it))),
        ],
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
            corrections[corrections.len() - 1].1.finding(),
        ],
    })
}

/// Six samplers.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn six(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let all = Tall::of(options, SHAPES[usize::from(options.quick)])?;
    let source = all.source.clone();
    let trial = Trial::new(all, options)?;
    let mut found = Vec::new();
    options.expect_runs(6 * FACTORS.len());
    for plain in ["sgld", "sghmc", "sgnht"] {
        let more = if plain == "sgld" { PLAIN } else { "" };
        found.push(trial.tuned(plain, plain, more)?);
        let centred = format!("{plain}-cv");
        found.push(trial.tuned(&centred, &centred, more)?);
    }
    let gains = [0, 2, 4].map(|k: usize| found[k].distance / found[k + 1].distance);
    let sd = |k: usize| found[k].sd;
    Ok(BenchTable {
        columns: Tuned::COLUMNS.to_vec(),
        plots: course_plots(),
        rows: found.iter().map(|it| it.row(trial.rows())).collect(),
        notes: Tuned::notes(options, &source),
        further: vec![course_table(
            (found.iter().flat_map(|it| it.course(trial.rows()))).collect(),
        )],
        findings: vec![
            Finding {
                claim: "samplers with control variates predict significantly better and vary less than those without",
                reproduced: gains.iter().all(|gain| *gain > BETTER),
                because: format!(
                    "without control variates log losses are {} times as far from that at the mode (SGLD, SGHMC, SGNHT)",
                    listed(&gains)
                ),
            },
            found[0].stationary(
                "the log loss of SGLD reaches a stationary level after a short burn-in (section 4.5, figure 4.5.1)",
            ),
            found[1].stationary("the log loss of SGLD-CV does, too"),
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
    /// Seconds that the search for the mode takes.
    search_secs: f64,
    control: Arc<Control>,
}

/// A sampler with the step that suits it best.
struct Tuned {
    sampler: String,
    /// As `ergodic compare` takes it.
    variant: String,
    step: f64,
    passes: f64,
    seconds: f64,
    /// Passes, seconds and mean log loss of chains at some draws.
    course: Vec<[f64; 3]>,
    passes_to_arrive: f64,
    /// Share of the iterations until then.
    burn_in: f64,
    /// Mean log losses of the third and of the last quarter.
    quarters: [f64; 2],
    /// Mean and standard deviation over draws of the log loss, and root mean square of its distance from that at the mode, of the second
    /// half.
    mean: f64,
    sd: f64,
    distance: f64,
}

impl Tuned {
    const COLUMNS: [&'static str; 9] = [
        "rows",
        "sampler",
        "step",
        "passes",
        "seconds",
        "passes_to_arrive",
        "log_loss",
        "log_loss_sd",
        "distance_from_mode",
    ];

    /// Whether the log loss arrives in as small a part of the run as the source drops, and stays where it is.
    fn stationary(&self, claim: &'static str) -> Finding {
        let drift = (self.quarters[1] - self.quarters[0]).abs() / self.sd;
        Finding {
            claim,
            reproduced: self.burn_in <= BURN_IN && drift < 1.0,
            because: format!(
                "it arrives in the first {:.1} % of the iterations at the step that predicts best; means of the third and of the last \
                 quarter differ by {drift:.1} standard deviations between draws",
                100.0 * self.burn_in
            ),
        }
    }

    fn row(&self, rows: usize) -> Vec<Cell> {
        let numbers = [
            self.step,
            self.passes,
            self.seconds,
            self.passes_to_arrive,
            self.mean,
            self.sd,
            self.distance,
        ];
        let mut cells = vec![Cell::from(rows), Cell::from(self.sampler.as_str())];
        cells.extend(row(&[], &numbers));
        cells
    }

    fn course(&self, rows: usize) -> impl Iterator<Item = Vec<Cell>> {
        self.course.iter().map(move |numbers| {
            let cells = [Cell::from(rows), Cell::from(self.sampler.as_str())];
            cells.into_iter().chain(row(&[], numbers)).collect()
        })
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
            format!(
                "seconds: of a chain beside {} others on the cores of this computer, the search for a centre included and scores left out; the \
                 further table course: mean log loss of the chains against passes and seconds",
                CHAINS - 1
            ),
        ]
    }
}

impl Trial {
    fn new(tall: Tall, options: &BenchOptions) -> Result<Self, BenchError> {
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
        let centre = job.centre.as_ref().ok_or(BenchError::NoMode)?;
        job.model.constrain(&centre.u, &mut theta);
        let mut mode = DrawList::new(theta.len());
        // Scores want two draws.
        mode.push(&theta);
        mode.push(&theta);
        let fitted = fitted(&problem)?;
        let at_mode = losses(&fitted, &[&mode])?[0][0];
        let begun = Instant::now();
        find_mode(problem.job().model.as_ref(), &Control::default())
            .map_err(BenchError::unknown)?;
        Ok(Self {
            search_secs: begun.elapsed().as_secs_f64(),
            problem,
            quick,
            at_mode,
            control: Arc::clone(&options.control),
        })
    }

    fn rows(&self) -> usize {
        self.problem.job().model.num_obs()
    }

    /// The run with the best step, of those with which chains do not explode.
    fn tuned(&self, name: &str, id: &str, more: &str) -> Result<Tuned, BenchError> {
        let base = format!("{id}{more}:batch={}:steps_per_draw={EVERY}", self.batch());
        let default = self
            .problem
            .setting(&base, "step_size")?
            .unwrap_or(f64::NAN);
        let fitted = fitted(&self.problem)?;
        let mut best: Option<Tuned> = None;
        for factor in FACTORS {
            self.control.advance(1);
            let step = factor * default;
            let variant = format!("{base}:step_size={step}");
            let run = match self.run(&variant, CHAINS) {
                // With longer steps the chain would explode.
                Err(BenchError::Job(JobError::Sampler(_))) => continue,
                run => run?,
            };
            let view = run.view();
            let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
            if lists.len() < view.chains.len() {
                continue;
            }
            let tuned = self.measured((name, variant), step, &run, &losses(&fitted, &lists)?);
            if best
                .as_ref()
                .is_none_or(|best| tuned.distance < best.distance)
            {
                best = Some(tuned);
            }
        }
        best.ok_or_else(|| BenchError::Explodes("step", name.to_owned(), "its chains"))
    }

    fn batch(&self) -> usize {
        BATCH[self.quick].min(self.rows())
    }

    fn run(&self, variant: &str, chains: usize) -> Result<Run, BenchError> {
        self.problem.run(variant, |run| {
            run.chains = chains;
            run.warmup = Some(0);
            run.draws = ITERATIONS[self.quick] / EVERY;
            if is_centred(variant) {
                // At the centre, but for rounding.
                run.start_spread = 1e-6;
            } else {
                run.start = Start::Prior;
            }
        })
    }

    /// What zero-variance control variates make of a run of chains of their own with the step that suits best.
    fn corrected(&self, tuned: &Tuned) -> Result<Corrected, BenchError> {
        let run = self.run(&tuned.variant, corrected::CHAINS)?;
        let view = run.view();
        let mut late = Vec::new();
        for chain in view.usable() {
            let draws = &chain.draws.draws;
            let mut half = DrawList::new(draws.width());
            let mut theta = vec![0.0; draws.width()];
            for i in draws.len() / 2..draws.len() {
                for (j, theta) in theta.iter_mut().enumerate() {
                    *theta = draws.value(i, j);
                }
                half.push(&theta);
            }
            late.push(half);
        }
        let mut densities = losses(&fitted(&self.problem)?, &late.iter().collect::<Vec<_>>())?;
        for loss in densities.iter_mut().flatten() {
            *loss = -*loss;
        }
        let points = |gradients: Gradients| -> Result<Vec<Points>, BenchError> {
            let chains = late.iter().enumerate();
            let points = chains.map(|(k, list)| {
                points_of(
                    run.job(),
                    (k, list),
                    list.len(),
                    gradients,
                    &Control::default(),
                )
                .map_err(BenchError::unknown)
            });
            points.collect()
        };
        let minibatches = points(Gradients::Estimated { rows: self.batch() })?;
        let all_rows = points(Gradients::Exact)?;
        Corrected::of(
            &densities,
            &[
                ("minibatches", &minibatches[..]),
                ("all rows", &all_rows[..]),
            ],
        )
    }

    fn measured(
        &self,
        (name, variant): (&str, String),
        step: f64,
        run: &Run,
        losses: &[Vec<f64>],
    ) -> Tuned {
        let length = losses.iter().map(Vec::len).min().unwrap_or(0);
        let late: Vec<f64> = losses
            .iter()
            .flat_map(|chain| chain[length / 2..].to_vec())
            .collect();
        let [mean, sd] = super::problem::mean_and_sd(&late);
        let squares = late.iter().map(|it| (it - self.at_mode).powi(2));
        let distance = (squares.sum::<f64>() / late.len() as f64).sqrt();
        let (setup, setup_secs) = match (is_centred(&variant), &self.problem.job().mode) {
            (true, Some(search)) => (search.passes, self.search_secs),
            _ => (0.0, 0.0),
        };
        let chains = losses.len() as f64;
        let sampling = passes(run) / chains;
        let view = run.view();
        // A table of gradients is made before the first step.
        let secs = view.chains.iter().map(|it| it.warmup_secs + it.draw_secs);
        let secs = secs.sum::<f64>() / chains;
        let loss = |k: usize| losses.iter().map(|chain| chain[k]).sum::<f64>() / chains;
        let course = (0..length).map(loss);
        // A prior draw predicts about as well as a coin, or worse.
        let limit = self.at_mode + ARRIVED * (std::f64::consts::LN_2 - self.at_mode);
        let arrived = course.enumerate().find(|(_, loss)| *loss <= limit);
        let share = arrived.map_or(f64::NAN, |(k, _)| (k + 1) as f64 / length as f64);
        let line = |k: usize| {
            let share = (k + 1) as f64 / length as f64;
            [setup + share * sampling, setup_secs + share * secs, loss(k)]
        };
        Tuned {
            sampler: name.to_owned(),
            variant,
            step,
            passes: setup + sampling,
            seconds: setup_secs + secs,
            course: lines_of(length, LINES).into_iter().map(line).collect(),
            passes_to_arrive: setup + share * sampling,
            burn_in: share,
            quarters: [2, 3].map(|k| {
                let quarter = k * length / 4..(k + 1) * length / 4;
                quarter.clone().map(loss).sum::<f64>() / quarter.len() as f64
            }),
            mean,
            sd,
            distance,
        }
    }
}

/// Whether chains start at a centre of their gradients.
fn is_centred(variant: &str) -> bool {
    variant
        .split(':')
        .next()
        .is_some_and(|id| id.ends_with("-cv"))
}

/// Log losses by passes and by seconds.
fn course_plots() -> Vec<Plot> {
    let course = |x| {
        Plot::lines(x, &["log_loss"])
            .of("course")
            .by(&["rows", "sampler"])
            .log_x()
    };
    ["passes", "seconds"].map(course).to_vec()
}

fn course_table(rows: Vec<Vec<Cell>>) -> FurtherTable {
    FurtherTable {
        name: "course",
        columns: vec!["rows", "sampler", "passes", "seconds", "log_loss"],
        rows,
    }
}

fn fitted(problem: &Problem) -> Result<Fitted, BenchError> {
    Fitted::of(problem.job()).map_err(BenchError::unknown)
}

/// The log loss of the rows held out, of every draw of every chain.
fn losses(fitted: &Fitted, lists: &[&DrawList]) -> Result<Vec<Vec<f64>>, BenchError> {
    /// Rows that are summed by one thread, in a fixed order.
    const STRETCH: usize = 256;
    let log_lik = fitted
        .log_lik_of_held_out((lists, &[]), &Control::default())
        .map_err(BenchError::unknown)?;
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
    #[ignore = "long: run by .ci/long"]
    fn control_variates_gain_with_the_rows() {
        let table = quick(sizes);
        assert!(table.findings[0].reproduced);
        let numbers = |name: &str| -> Vec<Vec<f64>> {
            let found = table.further.iter().find(|it| it.name == name).unwrap();
            let width = found.columns.len();
            let numbers = |row: &Vec<Cell>| -> Vec<f64> {
                let numbers = row.iter().filter_map(|cell| match cell {
                    Cell::Number(number) => Some(*number),
                    _ => None,
                });
                numbers.collect()
            };
            assert!(found.rows.iter().all(|row| row.len() == width));
            found.rows.iter().map(numbers).collect()
        };
        // Each sampler's course goes on, and ends where its row says.
        let course = numbers("course");
        assert!(
            course
                .iter()
                .flatten()
                .all(|it| it.is_finite() && *it >= 0.0)
        );
        let names = ["sgld", "sgld-cv", "saga-ld", "sgld decreasing"];
        let all = &table.further[0].rows;
        for (k, name) in names.iter().enumerate() {
            let own: Vec<&Vec<f64>> = (all.iter().zip(&course))
                .filter(|(row, _)| row[0] == table.rows[k][0] && row[1].plain() == *name)
                .map(|(_, numbers)| numbers)
                .collect();
            assert!(own.len() > 5, "{name}");
            assert!(
                own.windows(2)
                    .all(|pair| pair[0][0] < pair[1][0] && pair[0][1] < pair[1][1])
            );
            let end = own[own.len() - 1];
            assert_eq!(
                [&table.rows[k][3], &table.rows[k][4]],
                [&Cell::from(end[0]), &Cell::from(end[1])]
            );
        }
        // Control variates from all rows reduce the variance most.
        assert!(table.findings[2].claim.contains("zero-variance") && table.findings[2].reproduced);
        for size in numbers("corrected").chunks(3) {
            let gains = [0, 1, 2].map(|k| size[k][3]);
            assert!(
                gains[0] == 1.0 && gains[1] > 1.0 && gains[2] > 1.0,
                "{gains:?}"
            );
            // Of the same draws: means agree to within errors of the plain one.
            assert!((size[0][0] - size[2][0]).abs() < 4.0 * size[0][1]);
        }
    }

    #[test]
    fn control_variates_predict_better() {
        let table = quick(six);
        assert!(table.findings[0].reproduced);
        let [_, plain, centred, _] = table.findings.as_slice() else {
            panic!("{:?}", table.findings);
        };
        assert!(
            plain.because.contains("it arrives in the first "),
            "{plain}"
        );
        assert!(centred.reproduced, "{centred}");
    }
}
