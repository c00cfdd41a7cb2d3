//! The experiment of Baker (2018), section 4.6.3: a network with one hidden layer is fitted to images of digits by samplers with
//! control variates and without, and the log loss of images that were kept out is followed.
//!
//! The source takes 55,000 images of MNIST with 10,000 more to predict, 100 hidden units and 10,000 iterations: of those without control
//! variates after as many of burn-in from a draw of the prior, of those with after as many of a stochastic search. Steps are those
//! with the smallest log loss. `--data` names a folder with the four files of MNIST, unpacked, or a table; without it images are drawn, a
//! smaller world of the same kind ([`images::SHAPE`]).
//!
//! Control variates of first order need no curvature, which no network of this size has: gradients are centred where the search ended. SVRG
//! and, where its table of N × D numbers fits into memory, SAGA stand beside those of the source.
//!
//! Friction takes [`MOMENTUM_LOST`] of the momentum per step, as in the R package of the source, whose step is the square of ours. Where it
//! rules, a step ε is worth ε²/α of Langevin time, which is what is tried and told ([`momentum_step`]).

use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use super::chain::Chain;
use super::problem::{lines_of, row};
use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::design::{Columns as _, Design, ModelFrame, ResponseUse};
use ergodic_core::estimators::{Plan, ascend};
use ergodic_core::models::{self, LogDensity, Model, ModelOptions, RowLikelihood, Rows};
use ergodic_core::oracle::RowTable;
use images::{Images, LABEL, SHAPE};

pub mod images;

/// Hidden units of the source, of drawn images, and for a glance.
const UNITS: [i64; 3] = [100, 30, 10];
/// Iterations, of the search too, and for a glance.
const ITERATIONS: [u64; 2] = [10_000, 1500];
/// Rows of a minibatch, those of the source's program, and for a glance.
const BATCH: [usize; 2] = [500, 100];
/// Iterations between two looks at the log loss, those of the source.
const EVERY: u64 = 10;
/// Steps that are tried, in units of one over the number of rows; that of the source for SGLD is 2.75 as Langevin time.
const STEPS: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];
/// How much longer those of samplers with momentum are, so that the longest reaches those of the source: 55 for SGHMC and 27.5 for SGNHT.
const LONGER: f64 = 20.0;
/// Share of the momentum that friction takes at each step by default, α and a of the source.
const MOMENTUM_LOST: f64 = 0.01;
/// Looks of a chain that get a line, evenly spaced in their logarithm.
const LINES: i32 = 5;
/// Most memory for a table of gradients of all rows, in bytes.
const TABLE: f64 = 2e9;
/// A log loss that is by less than this share lower is not better: chains differ by as much.
const ALIKE: f64 = 0.02;

/// A sampler, and where it starts.
#[derive(Clone, Copy)]
struct Entrant {
    id: &'static str,
    /// Whether the sampler has control variates, and starts where the search ended.
    is_centred: bool,
    has_momentum: bool,
}

impl Entrant {
    const fn of(id: &'static str, is_centred: bool, has_momentum: bool) -> Self {
        Self {
            id,
            is_centred,
            has_momentum,
        }
    }
}

/// Samplers of the source without control variates, and with them, and others with such.
const ENTRANTS: [Entrant; 8] = [
    Entrant::of("sgld", false, false),
    Entrant::of("sghmc", false, true),
    Entrant::of("sgnht", false, true),
    Entrant::of("sgld-cv", true, false),
    Entrant::of("sghmc-cv", true, true),
    Entrant::of("sgnht-cv", true, true),
    Entrant::of("svrg-ld", true, false),
    Entrant::of("saga-ld", true, false),
];

/// The step ε of a sampler with momentum that is worth a Langevin step `time`: ε²/α.
fn momentum_step(time: f64) -> f64 {
    (MOMENTUM_LOST * time).sqrt()
}

/// The network and the images to predict.
struct Trial {
    model: Arc<dyn Model>,
    predicted: Arc<dyn Model>,
    /// Where the search ended, and the passes that it took.
    climbed: Vec<f64>,
    search: f64,
    iterations: u64,
    batch: usize,
    seed: u64,
    control: Arc<Control>,
}

/// What the chain with the best step did.
struct Found {
    entrant: Entrant,
    /// Langevin time of a step.
    step: f64,
    /// Passes so far, with those of the search, and the log loss, at every look.
    trace: Vec<[f64; 2]>,
    /// Mean of the log losses of the second half, and the log loss of the mean chances there.
    mean: f64,
    averaged: f64,
}

/// Runs the experiment.
///
/// # Errors
/// The files cannot be read, or no step keeps a chain from exploding.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let quick = usize::from(options.quick);
    let images = Images::of(options.data.as_ref(), SHAPE[quick])?;
    let trial = Trial::new(&images, options)?;
    let fits = RowTable::bytes(trial.model.as_ref()) <= TABLE;
    let entrants = ENTRANTS.into_iter().filter(|it| it.id != "saga-ld" || fits);
    let entrants: Vec<Entrant> = entrants.collect();
    options.expect_runs(entrants.len() * STEPS.len());
    let found: Vec<Found> = entrants
        .into_par_iter()
        .map(|entrant| trial.best(entrant))
        .collect::<Result<_, _>>()?;
    Ok(BenchTable {
        columns: vec![
            "sampler",
            "step",
            "iterations",
            "passes",
            "log_loss",
            "second_half",
            "averaged",
        ],
        rows: found.iter().flat_map(lines).collect(),
        notes: notes(&trial, &images, options.data.as_ref(), fits),
        findings: findings(&found),
        plots: vec![Plot::lines("passes", &["log_loss"]).by(&["sampler"])],
        ..BenchTable::default()
    })
}

impl Trial {
    fn new(images: &Images, options: &BenchOptions) -> Result<Self, BenchError> {
        let quick = usize::from(options.quick);
        let units = match (&options.data, options.quick) {
            (Some(_), false) => UNITS[0],
            _ => UNITS[1 + quick],
        };
        let mut network_settings = Settings::default();
        network_settings.set("hidden_units", Value::Int(units));
        let all = tabulated(images)?;
        let model = network(part(&all, |image| image < images.learnt), &network_settings)?;
        let predicted = network(
            part(&all, |image| image >= images.learnt),
            &network_settings,
        )?;
        let iterations = ITERATIONS[quick];
        let batch = BATCH[quick].min(model.num_obs());
        let mut settings = Settings::default();
        settings.set("steps", Value::Int(iterations as i64));
        settings.set("batch", Value::Int(batch as i64));
        let plan = Plan::new("adam", &settings, model.as_ref())?;
        let mut climbed = at_prior(model.as_ref(), options.seed)?;
        options.control.enter("search for a centre");
        ascend(model.as_ref(), &plan, &mut climbed, &Control::default())
            .map_err(BenchError::unknown)?;
        Ok(Self {
            search: (iterations as usize * batch) as f64 / model.num_obs() as f64,
            model,
            predicted,
            climbed,
            iterations,
            batch,
            seed: options.seed,
            control: Arc::clone(&options.control),
        })
    }

    /// The chain with the step that predicts best.
    fn best(&self, entrant: Entrant) -> Result<Found, BenchError> {
        let tried = STEPS.par_iter().filter_map(|step| {
            // Longer steps make it explode.
            let longer = if entrant.has_momentum { LONGER } else { 1.0 };
            let found = self.follow(entrant, longer * step / self.model.num_obs() as f64);
            self.control.advance(1);
            let found = found.ok()?;
            found.mean.is_finite().then_some(found)
        });
        let best = tried.min_by(|a, b| a.mean.total_cmp(&b.mean));
        best.ok_or_else(|| BenchError::Explodes("step", entrant.id.to_owned(), "its chain"))
    }

    fn follow(&self, entrant: Entrant, step: f64) -> Result<Found, BenchError> {
        let mut settings = Settings::default();
        let length = if entrant.has_momentum {
            momentum_step(step)
        } else {
            step
        };
        settings.set("step_size", Value::Real(length));
        settings.set("batch", Value::Int(self.batch as i64));
        settings.set("steps_per_draw", Value::Int(EVERY as i64));
        let num_obs = self.model.num_obs() as f64;
        let (start, before, burn_in) = match entrant.is_centred {
            true => (self.climbed.clone(), self.search, 0),
            false => (
                at_prior(self.model.as_ref(), self.seed)?,
                0.0,
                self.iterations,
            ),
        };
        let key = (self.seed, 0);
        let mut chain = Chain::start_at(entrant.id, &settings, &self.model, key, &start)?;
        for _ in 0..burn_in / EVERY {
            chain.draw()?;
        }
        let rows = rows_of(self.predicted.as_ref())?;
        let mut scratch = rows.scratch();
        let count = rows.num_obs();
        let (mut log_p, mut chances) = (vec![0.0; count], vec![0.0; count]);
        let looks = self.iterations / EVERY;
        let mut trace = Vec::new();
        for look in 0..looks {
            chain.draw()?;
            let u = chain.kernel.position();
            rows.pointwise(u, Rows::All, &mut scratch, &mut log_p);
            let loss = -log_p.iter().sum::<f64>() / count as f64;
            trace.push([before + chain.datum_grads() as f64 / num_obs, loss]);
            if look >= looks / 2 {
                let all = chances.iter_mut().zip(&log_p);
                all.for_each(|(sum, log_p)| *sum += log_p.exp());
            }
        }
        let late = &trace[trace.len() / 2..];
        let kept = late.len() as f64;
        let mean = late.iter().map(|[_, loss]| loss).sum::<f64>() / kept;
        let averaged = chances.iter().map(|sum| -(sum / kept).ln()).sum::<f64>() / count as f64;
        Ok(Found {
            entrant,
            step,
            trace,
            mean,
            averaged,
        })
    }
}

fn rows_of(model: &dyn Model) -> Result<&dyn RowLikelihood, BenchError> {
    (model.rows()).ok_or(BenchError::Lacking("The model has no rows"))
}

/// A draw of the prior, where chains of the source start.
pub fn at_prior(model: &dyn Model, seed: u64) -> Result<Vec<f64>, BenchError> {
    let density: &dyn LogDensity = model
        .density()
        .ok_or(BenchError::Lacking("The model has no density"))?;
    let mut u = vec![0.0; model.dim()];
    density.init(&mut stream(seed, 0, Purpose::Init), &mut u);
    Ok(u)
}

/// The images as a design. Their brightnesses are inputs as they are, as in the source.
pub fn tabulated(images: &Images) -> Result<Design, BenchError> {
    let pixels: Vec<&str> = images.table.names().filter(|name| *name != LABEL).collect();
    let formula = format!("{LABEL} ~ {}", pixels.join(" + "));
    let formula = formula
        .parse()
        .map_err(ergodic_core::design::DesignError::from)?;
    let frame = ModelFrame {
        response_use: ResponseUse::Unordered,
        ..ModelFrame::new(formula)
    };
    Ok(Design::build(&images.table, &frame)?.0)
}

/// The rows of a design that are of these rows of its table, coded as all are.
pub fn part(all: &Design, is_wanted: impl Fn(usize) -> bool) -> Design {
    let rows = all.row.iter().enumerate();
    let places = rows.filter(|(_, row)| is_wanted(**row as usize));
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    Design {
        x: all.x.select(ndarray::Axis(0), &places),
        y: places.iter().map(|&i| all.y[i]).collect(),
        row: places.iter().map(|&i| all.row[i]).collect(),
        rows_total: places.len(),
        rows_used: places.len(),
        ..all.clone()
    }
}

/// The network on these images, with `settings` of its template.
pub fn network(images: Design, settings: &Settings) -> Result<Arc<dyn Model>, BenchError> {
    let entry = models::find("neural-net")?;
    let options = ModelOptions {
        settings: entry.resolve(settings)?,
        standardize: false,
        ..ModelOptions::default()
    };
    Ok((entry.build)(Arc::new(images), &options)?)
}

/// Some looks of a chain.
fn lines(found: &Found) -> Vec<Vec<Cell>> {
    let looks = found.trace.len();
    let line = |look: usize| {
        let [passes, loss] = found.trace[look];
        let (mean, averaged) = match look + 1 == looks {
            true => (found.mean, found.averaged),
            false => (f64::NAN, f64::NAN),
        };
        let mut cells = vec![
            Cell::from(found.entrant.id),
            Cell::from(found.step),
            Cell::Count((look as u64 + 1) * EVERY),
        ];
        cells.extend(row(&[], &[passes, loss, mean, averaged]));
        cells
    };
    lines_of(looks, LINES).into_iter().map(line).collect()
}

fn notes(trial: &Trial, images: &Images, data: Option<&PathBuf>, fits: bool) -> Vec<String> {
    let mut notes = vec![
        format!(
            "{}; {} weights and precisions, {} images predicted; {} iterations with minibatches of {} rows, one chain each",
            images.source,
            trial.model.dim(),
            trial.predicted.num_obs(),
            trial.iterations,
            trial.batch
        ),
        "log_loss: of single draws; second_half: its mean over the second half; averaged: of the mean chances of these draws; step: Langevin \
         time, that of samplers with momentum ε²/0.01 of their step ε, the best of those tried"
            .to_owned(),
        "passes: of samplers without control variates those of the burn-in, from a draw of the prior, and of those with the search by Adam \
         included, which ends where gradients are centred"
            .to_owned(),
    ];
    if data.is_none() {
        notes.push("--data FOLDER with the four files of MNIST runs the source's own".to_owned());
    }
    if !fits {
        notes.push(format!(
            "SAGA is left out: its table of gradients would take {:.0} GB",
            RowTable::bytes(trial.model.as_ref()) / 1e9
        ));
    }
    notes
}

/// The smallest log loss of those that `wanted` names, with its name.
fn least(found: &[Found], wanted: impl Fn(&Entrant) -> bool) -> (f64, &'static str) {
    let own = found.iter().filter(|it| wanted(&it.entrant));
    let best = own.min_by(|a, b| a.mean.total_cmp(&b.mean));
    best.map_or((f64::NAN, ""), |it| (it.mean, it.entrant.id))
}

fn findings(found: &[Found]) -> Vec<Finding> {
    let with = least(found, |it| it.is_centred);
    let without = least(found, |it| !it.is_centred);
    let sgld = least(found, |it| it.id == "sgld");
    let centred = least(found, |it| it.id == "sgld-cv");
    let momentum = least(found, |it| it.has_momentum && !it.is_centred);
    let centred_momentum = least(found, |it| it.has_momentum && it.is_centred);
    vec![
        Finding {
            claim: "control variates improve the predictive performance",
            reproduced: centred.0 < (1.0 - ALIKE) * sgld.0 && with.0 < (1.0 - ALIKE) * without.0,
            because: format!(
                "the log loss of SGLD is {:.3} with control variates and {:.3} without, and {:.3} and {:.3} with momentum; the best with is {:.3} \
                 ({}), the best without {:.3} ({})",
                centred.0,
                sgld.0,
                centred_momentum.0,
                momentum.0,
                with.0,
                with.1,
                without.0,
                without.1
            ),
        },
        Finding {
            claim: "of those without control variates, SGHMC and SGNHT predict best",
            reproduced: momentum.0 < (1.0 - ALIKE) * sgld.0,
            because: format!(
                "the better of the two has a log loss of {:.3} ({}), SGLD of {:.3}",
                momentum.0, momentum.1, sgld.0
            ),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    /// By chance a label is right once in four times, a log loss of 1.39.
    #[test]
    #[ignore = "long: run by .ci/long"]
    fn networks_learn_to_tell_drawn_images_apart() {
        let table = quick(run);
        for entrant in ENTRANTS {
            let last = (table.rows.iter())
                .rfind(|row| row[0].plain() == entrant.id)
                .unwrap();
            let [Cell::Number(mean), Cell::Number(averaged)] = &last[5..7] else {
                panic!("numbers");
            };
            assert!(*mean < 1.1, "{}: {mean}", entrant.id);
            // The logarithm of a mean is at least the mean of logarithms (Jensen).
            assert!(averaged <= mean, "{}: {averaged} {mean}", entrant.id);
        }
        // The search counts, and the pass at its end.
        for centred in ["sgld-cv", "sghmc-cv", "sgnht-cv"] {
            let search = 1500.0 * 100.0 / 900.0;
            let passes = number(&table, &[centred], "passes");
            assert!(passes > search + 1.0, "{centred}: {passes}");
        }
    }
}
