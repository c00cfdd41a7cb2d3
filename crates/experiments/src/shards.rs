//! Divide and conquer beside stochastic gradients: four posteriors on which they differ.
//!
//! Source: Baker (2018), section 2.4.2: 20 subposteriors, minibatches of 50 rows, and the Kullback-Leibler divergence from a run of
//! NUTS by nearest neighbours. It runs every method for as many iterations, which do not cost the same; here the stochastic-gradient
//! samplers get as many gradients of rows as the divide-and-conquer runs took, warm-up included. As in the source every method that
//! has a setting to be tuned is tuned by the divergence itself, on a run of its own. What the source does not print stands in
//! [`Target`].

use std::path::Path;
use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};

use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::bias_check::{Made, certify, finished};
use ergodic_analysis::comparison::measure;
use ergodic_analysis::{Job, JobError, Recipe, Run};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{ChainRng, Control, Purpose, Reporter, stream};
use ergodic_core::design::Values;
use ergodic_core::engine::{ChainState, RunView};
use ergodic_core::samplers::divide::combine::Combine;
use ergodic_data::{Guesses, Loaded, Table};
use ergodic_diagnostics::Verdict;
use ergodic_diagnostics::distance::{Cloud, compare};

/// The sampler of subposteriors.
const DIVIDE: &str = "divide-and-conquer";
/// Samplers with stochastic gradients, as in the source.
const GRADIENTS: [&str; 2] = ["sgld", "sghmc"];
/// Rows of a minibatch, as in the source.
const BATCH: i64 = 50;
/// Subposteriors, as in the source, and in the quick version.
const SHARDS: [i64; 2] = [20, 4];
/// Draws per chain of a divide-and-conquer run: two batches.
const DRAWS: [u64; 2] = [1000, 300];
/// Warm-up of such a run.
const WARMUP: [Option<u64>; 2] = [None, Some(500)];
/// Draws per chain of the run that others are measured by.
const TRUE_DRAWS: [u64; 2] = [4000, 1000];
/// Least and most draws per chain of a sampler with stochastic gradients: fewer tell no divergence, and more say nothing more.
const GRADIENT_DRAWS: [u64; 2] = [250, 20_000];
/// Draws per chain by which the cost of a draw is measured.
const PILOT_DRAWS: u64 = 20;
/// Numbers of parameters of the normal posterior; the source does not print its own.
const DIMENSIONS: [usize; 4] = [2, 5, 10, 20];

/// A divergence in nats that pictures would not show: that of a mean 0.45 standard deviations off.
const SMALL: f64 = 0.1;

/// A posterior.
struct Target {
    template: &'static str,
    formula: String,
    settings: Vec<(&'static str, Value)>,
    /// Rows, as in the source and in the quick version.
    rows: [usize; 2],
    /// Columns of a row.
    columns: usize,
    /// Draws a row of n columns.
    draw: fn(&mut ChainRng, usize, &mut [f64]),
    /// Repetitions with other seeds.
    runs: u64,
}

/// A heavy-tailed likelihood.
///
/// # Errors
/// A run cannot be prepared.
pub fn heavy_tails(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    const DEGREES: f64 = 5.0;
    let target = Target {
        settings: vec![("df", Value::Real(DEGREES))],
        draw: |rng, _rows, row| {
            let chi2 = ChiSquared::new(DEGREES).map_or(f64::NAN, |chi2| chi2.sample(rng));
            fill(rng, row, (DEGREES / chi2).sqrt());
        },
        ..normal(2)
    };
    bench(&[target], options, |found| {
        let of = &found[0];
        vec![
            of.judged(
                "all methods explore the posterior",
                |_any| true,
                of.methods.iter().all(|it| it.kl < SMALL),
                format!("the greatest divergence is {:.3}", of.greatest()),
            ),
            of.order(
                "KDEMC (nonparametric) and SGLD are farthest from it, SGHMC is nearest, closely followed by consensus and Weierstrass \
                 (figure 2.4.1)",
                &[
                    ("sghmc", "nonparametric"),
                    ("sghmc", "sgld"),
                    ("consensus", "sgld"),
                ],
            ),
        ]
    })
}

/// Two clusters so near to each other that their centres have a posterior with two modes that touch.
///
/// # Errors
/// A run cannot be prepared.
pub fn two_modes(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    // Centres that are |δ| apart add |δ|²/4 to a variance. Here that is 2.2 standard errors of the variance, so that both modes are
    // seen and touch.
    const DISTANCE: f64 = 2.5;
    let target = Target {
        template: "gaussian-mixture",
        settings: Vec::new(),
        rows: [10_000, 500],
        draw: |rng, rows, row| {
            let distance = DISTANCE * (rows as f64).powf(-0.25);
            let centre = if rng.random::<bool>() { distance } else { 0.0 };
            fill(rng, row, 1.0);
            row.iter_mut().for_each(|x| *x += centre);
        },
        runs: 3,
        ..normal(2)
    };
    bench(&[target], options, |found| {
        let of = &found[0];
        vec![of.order(
            "consensus is poor, with one mode between the two; KDEMC (nonparametric) and Weierstrass are little better; SGLD is nearest \
             (figure 2.4.2)",
            &[
                ("sgld", "weierstrass"),
                ("sgld", "nonparametric"),
                ("sgld", "consensus"),
            ],
        )]
    })
}

/// A posterior bent like a banana.
///
/// # Errors
/// A run cannot be prepared.
pub fn curved(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let target = Target {
        template: "warped-gaussian",
        formula: "x1 ~ 1".to_owned(),
        settings: Vec::new(),
        columns: 1,
        draw: |rng, _rows, row| fill(rng, row, 2.0),
        ..normal(1)
    };
    bench(&[target], options, |found| {
        let of = &found[0];
        vec![
            of.order(
                "consensus fails, with its mass in the centre; KDEMC (nonparametric) is reasonable (figure 2.4.3)",
                &[("nonparametric", "consensus")],
            ),
            of.order(
                "Weierstrass is a little better than KDEMC (nonparametric), and SGLD and SGHMC are nearest (figure 2.4.3)",
                &[
                    ("weierstrass", "nonparametric"),
                    ("sgld", "weierstrass"),
                    ("sghmc", "weierstrass"),
                ],
            ),
        ]
    })
}

/// Normal posteriors of more and more parameters.
///
/// # Errors
/// A run cannot be prepared.
pub fn dimensions(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let count = options.sized(2, DIMENSIONS.len());
    let targets: Vec<Target> = DIMENSIONS[..count].iter().map(|&dim| normal(dim)).collect();
    bench(&targets, options, |found| {
        let (first, last) = (&found[0], &found[found.len() - 1]);
        let grows = |method: &str| last.kl(method) - first.kl(method);
        let orders = || {
            found
                .iter()
                .map(Found::in_order)
                .collect::<Vec<_>>()
                .join("; ")
        };
        vec![
            last.judged(
                "KDEMC (nonparametric) gets much worse with the dimension",
                |method| method == "nonparametric",
                grows("nonparametric") > SMALL,
                format!(
                    "its divergence grows from {:.3} to {:.3}",
                    first.kl("nonparametric"),
                    last.kl("nonparametric")
                ),
            ),
            last.judged(
                "consensus, which is exact here, is nearest, Weierstrass errs in proportion to the dimension, and SGLD and SGHMC are good \
                 (figure 2.4.4)",
                |method| {
                    let named = ["consensus", "nonparametric", "weierstrass"];
                    named.contains(&method) || GRADIENTS.contains(&method)
                },
                last.kl("consensus") < SMALL
                    && last.nearer("consensus", "nonparametric")
                    && GRADIENTS.iter().all(|it| last.nearer(it, "nonparametric"))
                    && grows("weierstrass") > grows("consensus") + SMALL,
                orders(),
            ),
        ]
    })
}

/// The centre of normal rows of `columns` columns under a flat prior: a t distribution of many degrees of freedom is normal to
/// within a millionth.
fn normal(columns: usize) -> Target {
    let names: Vec<String> = (1..=columns).map(|j| format!("x{j}")).collect();
    Target {
        template: "multivariate-t",
        formula: format!("~ {}", names.join(" + ")),
        settings: vec![("df", Value::Real(1e9))],
        rows: [800, 200],
        columns,
        draw: |rng, _rows, row| fill(rng, row, 1.0),
        runs: 5,
    }
}

fn fill(rng: &mut ChainRng, row: &mut [f64], scale: f64) {
    for x in row {
        let z: f64 = StandardNormal.sample(rng);
        *x = scale * z;
    }
}

impl Target {
    fn data(&self, quick: usize) -> Result<Arc<Loaded>, BenchError> {
        let mut rng = stream(1, 0, Purpose::Data);
        let mut columns = vec![Vec::new(); self.columns];
        let mut row = vec![0.0; self.columns];
        for _ in 0..self.rows[quick] {
            (self.draw)(&mut rng, self.rows[quick], &mut row);
            for (column, x) in columns.iter_mut().zip(&row) {
                column.push(*x);
            }
        }
        let columns = columns.into_iter().enumerate();
        let columns = columns.map(|(j, x)| (format!("x{}", j + 1), Values::Numbers(x)));
        Ok(Arc::new(Loaded {
            table: Table::from_columns(self.template, columns.collect())?,
            guesses: Guesses::typed_file("the experiment"),
            reporter: Reporter::default(),
        }))
    }

    /// A run of `length` iterations of warm-up and draws per chain, to its end.
    fn run(
        &self,
        data: &Arc<Loaded>,
        seed: u64,
        sampler: (&str, &Settings),
        length: (Option<u64>, u64),
    ) -> Result<Run, BenchError> {
        let job = self.job(data, seed, sampler, length)?;
        Ok(finished(job, &Control::default())?)
    }

    fn job(
        &self,
        data: &Arc<Loaded>,
        seed: u64,
        (sampler, settings): (&str, &Settings),
        (warmup, draws): (Option<u64>, u64),
    ) -> Result<Job, BenchError> {
        let mut recipe = Recipe::new(data.table.source(), self.template, &self.formula);
        for (key, value) in &self.settings {
            recipe.model.settings.set(key, value.clone());
        }
        sampler.clone_into(&mut recipe.sampler.id);
        recipe.sampler.settings = settings.clone();
        recipe.run.seed = seed;
        recipe.run.warmup = warmup;
        recipe.run.draws = draws;
        recipe.run.until_precise = false;
        let loaded = Some(Arc::clone(data));
        let prepared = Job::prepare(&recipe, Path::new(""), loaded, &Control::default());
        Ok(prepared?)
    }
}

/// A method in the table.
#[derive(Clone)]
struct Entrant {
    name: &'static str,
    sampler: &'static str,
    settings: Settings,
    /// A setting that is tuned, with factors on its default.
    tuned: Option<(&'static str, &'static [f64])>,
}

/// What the settings of these methods are tried at, relative to their defaults.
fn tuned(name: &str) -> Option<(&'static str, &'static [f64])> {
    match name {
        "nonparametric" | "semiparametric" => Some(("bandwidth", &[1.0, 0.5, 2.0])),
        "weierstrass" => Some(("accept", &[1.0, 0.2, 5.0])),
        _ if GRADIENTS.contains(&name) => Some(("step_size", &[0.25, 0.0625, 1.0, 0.015_625])),
        _ => None,
    }
}

fn set(pairs: &[(&str, Value)]) -> Settings {
    let mut settings = Settings::default();
    for (key, value) in pairs {
        settings.set(key, value.clone());
    }
    settings
}

/// All ways to combine draws, then samplers with stochastic gradients.
fn entrants(quick: usize) -> Vec<Entrant> {
    let divided = Combine::WORDS.iter().map(|&name| Entrant {
        name,
        sampler: DIVIDE,
        settings: set(&[
            ("combine", Value::Text(name.to_owned())),
            ("shards", Value::Int(SHARDS[quick])),
        ]),
        tuned: tuned(name),
    });
    let gradients = GRADIENTS.iter().map(|&name| Entrant {
        name,
        sampler: name,
        settings: set(&[("batch", Value::Int(BATCH))]),
        tuned: tuned(name),
    });
    divided.chain(gradients).collect()
}

/// What one run of a method says.
struct Outcome {
    /// Divergence of the truth from the run, and the same by chance between halves of one run.
    divergence: f64,
    by_chance: f64,
    wasserstein: f64,
    mean_shift: f64,
    sd_ratio: (f64, f64),
    /// Gradients of rows.
    rows: u64,
    /// Passes over the rows: all of the run, and for an effective draw of the worst parameter.
    passes: f64,
    passes_per_ess: f64,
    /// Verdict of the bias check, or why there is no run.
    verdict: Result<Verdict, String>,
}

impl Outcome {
    /// Of a sampler that refuses the posterior, or whose chains failed: `why` is a sentence.
    fn none(why: String) -> Self {
        Self {
            divergence: f64::NAN,
            by_chance: f64::NAN,
            wasserstein: f64::NAN,
            mean_shift: f64::NAN,
            sd_ratio: (f64::NAN, f64::NAN),
            rows: 0,
            passes: f64::NAN,
            passes_per_ess: f64::NAN,
            verdict: Err(why),
        }
    }
}

/// Divergences of all methods that take a posterior, the least first.
struct Found {
    parameters: usize,
    methods: Vec<Divergence>,
    /// Methods without a run, and why, in a sentence.
    absent: Vec<(&'static str, String)>,
}

/// Divergences of a method's runs: the median, the least and the greatest.
struct Divergence {
    method: &'static str,
    kl: f64,
    range: [f64; 2],
}

impl Found {
    /// Divergence of `method`; infinite where it refused the posterior.
    fn kl(&self, method: &str) -> f64 {
        let found = self.methods.iter().find(|it| it.method == method);
        found.map_or(f64::INFINITY, |it| it.kl)
    }

    /// Whether `method` is nearer to the posterior than `other`: in the median by as much as pictures show, and each of its runs than each
    /// of the other's, as chance would not make it.
    fn nearer(&self, method: &str, other: &str) -> bool {
        let of = |name: &str| self.methods.iter().find(move |it| it.method == name);
        let both = of(method).zip(of(other));
        both.is_some_and(|(near, far)| far.kl - near.kl > SMALL && near.range[1] < far.range[0])
    }

    /// The verdict on a claim; not reproduced where a method that it needs has no run.
    fn judged(
        &self,
        claim: &'static str,
        needs: impl Fn(&str) -> bool,
        reproduced: bool,
        because: String,
    ) -> Finding {
        match self.absent.iter().find(|(method, _why)| needs(method)) {
            None => Finding {
                claim,
                reproduced,
                because,
            },
            Some((method, why)) => Finding {
                claim,
                reproduced: false,
                because: format!("{method} has no run: {why}"),
            },
        }
    }

    /// The verdict on a claim that of each pair the first is nearer to the posterior than the second.
    fn order(&self, claim: &'static str, pairs: &[(&str, &str)]) -> Finding {
        let fails: Vec<String> = pairs
            .iter()
            .filter(|(near, far)| !self.nearer(near, far))
            .map(|(near, far)| {
                format!("{near} is not nearer than {far} by more than {SMALL} and with every seed")
            })
            .collect();
        let mut because = self.in_order();
        if !fails.is_empty() {
            because = format!("{}; {because}", fails.join(", "));
        }
        let needs = |method: &str| {
            pairs
                .iter()
                .any(|(near, far)| [*near, *far].contains(&method))
        };
        self.judged(claim, needs, fails.is_empty(), because)
    }

    fn greatest(&self) -> f64 {
        self.methods.last().map_or(f64::NAN, |it| it.kl)
    }

    fn in_order(&self) -> String {
        let named = |it: &Divergence| format!("{} {:.3}", it.method, it.kl);
        let methods: Vec<String> = self.methods.iter().map(named).collect();
        format!(
            "divergences with {} parameters are {}",
            self.parameters,
            methods.join(", ")
        )
    }
}

fn bench(
    targets: &[Target],
    options: &BenchOptions,
    judge: fn(&[Found]) -> Vec<Finding>,
) -> Result<BenchTable, BenchError> {
    let quick = usize::from(options.quick);
    let mut rows = Vec::new();
    let mut found = Vec::new();
    let runs_of = |target: &Target| {
        let all = entrants(quick).into_iter();
        all.map(|it| it.tries(quick) + options.sized(1, target.runs) as usize)
            .sum::<usize>()
    };
    options.expect_runs(targets.iter().map(runs_of).sum());
    for target in targets {
        let data = target.data(quick)?;
        // Small steps, for posteriors that are thin and curved.
        let careful = set(&[("target_accept", Value::Real(0.95))]);
        let truth = target.run(
            &data,
            options.seed,
            ("nuts", &careful),
            (None, TRUE_DRAWS[quick]),
        )?;
        let runs = options.sized(1, target.runs);
        let mut methods = Vec::new();
        let mut absent = Vec::new();
        // Gradients of rows that a divide-and-conquer run takes.
        let mut budget = 0;
        for entrant in entrants(quick) {
            let trial = Trial {
                target,
                data: &data,
                truth: &truth,
                quick,
                budget,
                control: &options.control,
            };
            let (entrant, chosen) = entrant.tune(&trial, options.seed)?;
            let outcomes: Vec<Outcome> = (1..=runs)
                .map(|k| trial.outcome(&entrant, options.seed + k))
                .collect::<Result<_, _>>()?;
            if entrant.sampler == DIVIDE {
                budget = outcomes.iter().map(|it| it.rows).max().unwrap_or(budget);
            }
            let kl = median(&outcomes, |it| it.divergence);
            if kl.is_nan() {
                let why = outcomes
                    .iter()
                    .find_map(|it| it.verdict.as_ref().err().cloned());
                let why = why.unwrap_or_else(|| "its draws tell no divergence".to_owned());
                absent.push((entrant.name, why));
            } else {
                methods.push(Divergence {
                    method: entrant.name,
                    kl,
                    range: range(&outcomes),
                });
            }
            let parameters = truth.job().model.params().len();
            rows.push(row(parameters, entrant.name, chosen, &outcomes));
        }
        methods.sort_by(|a, b| a.kl.total_cmp(&b.kl));
        found.push(Found {
            parameters: truth.job().model.params().len(),
            methods,
            absent,
        });
    }
    let mut notes = Vec::new();
    notes.push(format!(
        "{} rows, {} shards, minibatches of {BATCH} rows, four chains; kl: Kullback-Leibler divergence of a run of NUTS from each \
         run, in nats by nearest neighbours, median, least and greatest over runs from other seeds; kl_chance: the largest between \
         halves of one run",
        targets.first().map_or(0, |target| target.rows[quick]),
        SHARDS[quick]
    ));
    notes.push(
        "tuned: value of bandwidth (nonparametric, semiparametric), accept (weierstrass) or step_size (sgld, sghmc) with the least kl of \
         some, in a run of its own"
            .to_owned(),
    );
    notes.push(
        "passes: gradients of rows over rows, warm-up included, which the samplers with stochastic gradients were given as many of as \
         divide and conquer took; passes_per_ess: for an effective draw of the worst parameter; verdict: that of the bias check of the \
         first run"
            .to_owned(),
    );
    for of in &found {
        let said = of.absent.iter().map(|(method, why)| {
            let parameters = of.parameters;
            format!("{method} has no run with {parameters} parameters: {why}")
        });
        notes.extend(said);
    }
    Ok(BenchTable {
        columns: vec![
            "parameters",
            "method",
            "tuned",
            "kl",
            "kl_least",
            "kl_most",
            "kl_chance",
            "wasserstein_sd",
            "mean_shift_sd",
            "sd_ratio_least",
            "sd_ratio_most",
            "passes",
            "passes_per_ess",
            "verdict",
        ],
        rows,
        notes,
        findings: judge(&found),
        plots: vec![
            match targets {
                [_] => Plot::points("method", &["kl"]),
                _ => Plot::lines("parameters", &["kl"]).by(&["method"]),
            }
            .between("kl_least", "kl_most"),
        ],
        ..BenchTable::default()
    })
}

/// What a method is tried on.
struct Trial<'a> {
    target: &'a Target,
    data: &'a Arc<Loaded>,
    truth: &'a Run,
    quick: usize,
    /// Gradients of rows that samplers with minibatches may take.
    budget: u64,
    control: &'a Control,
}

impl Entrant {
    /// Values of the tuned setting that are tried.
    fn tries(&self, quick: usize) -> usize {
        let factors = self.tuned.map_or(0, |(_, factors)| factors.len());
        // The quick version has time for two.
        if quick == 0 { factors } else { factors.min(2) }
    }

    /// With the tuned setting at the value of the least divergence, which is told; of values without one it is the first.
    fn tune(mut self, trial: &Trial<'_>, seed: u64) -> Result<(Self, f64), BenchError> {
        let Some((key, factors)) = self.tuned else {
            return Ok((self, f64::NAN));
        };
        let sampler = (self.sampler, &self.settings);
        let job = match trial.target.job(trial.data, seed, sampler, (None, 1)) {
            Err(BenchError::Job(JobError::Sampler(_))) => return Ok((self, f64::NAN)),
            job => job?,
        };
        let default = job.recipe.sampler.settings.real(key).unwrap_or(1.0);
        let mut best = (f64::INFINITY, default * factors[0]);
        for factor in &factors[..self.tries(trial.quick)] {
            let value = default * factor;
            self.settings.set(key, Value::Real(value));
            let divergence = trial.outcome(&self, seed)?.divergence;
            if divergence < best.0 {
                best = (divergence, value);
            }
        }
        self.settings.set(key, Value::Real(best.1));
        Ok((self, best.1))
    }
}

impl Trial<'_> {
    /// A run of `entrant`, of as many draws as the budget allows where minibatches are used.
    fn outcome(&self, entrant: &Entrant, seed: u64) -> Result<Outcome, BenchError> {
        let sampler = (entrant.sampler, &entrant.settings);
        let length = if entrant.sampler == DIVIDE {
            (WARMUP[self.quick], DRAWS[self.quick])
        } else {
            let pilot = match self
                .target
                .run(self.data, seed, sampler, (None, PILOT_DRAWS))
            {
                // No mode was found, for example.
                Err(error @ BenchError::Job(JobError::Sampler(_))) => {
                    return Ok(Outcome::none(error.to_string()));
                }
                pilot => pilot?,
            };
            let view = pilot.view();
            let iterations: u64 = view.chains.iter().map(|it| it.iterations).sum();
            let chains = view.chains.len() as f64;
            let warmup = iterations as f64 / chains - PILOT_DRAWS as f64;
            let per_draw = rows_of(&pilot) as f64 / iterations.max(1) as f64;
            let affordable = self.budget as f64 / (per_draw * chains) - warmup;
            let [least, most] = GRADIENT_DRAWS;
            (None, (affordable as u64).clamp(least, most))
        };
        let run = self.target.run(self.data, seed, sampler, length)?;
        let outcome = outcome(&run, self.truth);
        self.control.advance(1);
        Ok(outcome)
    }
}

fn rows_of(run: &Run) -> u64 {
    run.view()
        .chains
        .iter()
        .map(|chain| chain.datum_grads)
        .sum()
}

/// What `run` says beside the truth; no numbers where its chains failed.
fn outcome(run: &Run, truth: &Run) -> Outcome {
    let (view, control, job) = (run.view(), truth.view(), run.job());
    let rows = rows_of(run);
    let passes = rows as f64 / job.model.num_obs() as f64;
    let columns: Vec<usize> = (0..job.model.params().len()).collect();
    let cloud = |view: &RunView| {
        let lists: Vec<_> = view.usable().map(|chain| &chain.draws.draws).collect();
        Cloud::of(&lists, &[], &columns)
    };
    let apart = cloud(&control).and_then(|truth| compare(&truth, &cloud(&view)?));
    let measured = measure(run, &truth.report().summary);
    let (Ok(apart), Some(measured)) = (apart, measured) else {
        let failed = view.chains.iter().find_map(|chain| match &chain.state {
            ChainState::Failed(why) => Some(why.clone()),
            _ => None,
        });
        return Outcome::none(failed.unwrap_or_else(|| "its draws cannot be compared".to_owned()));
    };
    let made = Made {
        control: (truth.job(), &control),
        half_step: None,
    };
    let report = certify(job, &view, &run.report(), &made);
    let of_truth = |divergence: Option<[f64; 2]>| divergence.map_or(f64::NAN, |it| it[0]);
    Outcome {
        divergence: of_truth(apart.distances.divergence),
        by_chance: apart.halves.map_or(f64::NAN, |it| of_truth(it.divergence)),
        wasserstein: apart.distances.wasserstein,
        mean_shift: measured.mean_shift,
        sd_ratio: measured.sd_ratio,
        rows,
        passes,
        passes_per_ess: measured.rows_per_ess / job.model.num_obs() as f64,
        verdict: Ok(report.verdict),
    }
}

/// The upper median over runs.
fn median(outcomes: &[Outcome], value: impl Fn(&Outcome) -> f64) -> f64 {
    let mut values: Vec<f64> = outcomes.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The least and the greatest divergence.
fn range(outcomes: &[Outcome]) -> [f64; 2] {
    let divergences = || outcomes.iter().map(|it| it.divergence);
    [
        divergences().fold(f64::NAN, f64::min),
        divergences().fold(f64::NAN, f64::max),
    ]
}

fn row(parameters: usize, name: &str, chosen: f64, outcomes: &[Outcome]) -> Vec<Cell> {
    let [least, most] = range(outcomes);
    let of = |value: fn(&Outcome) -> f64| Cell::Number(median(outcomes, value));
    let verdict = outcomes.first().and_then(|it| it.verdict.as_ref().ok());
    let verdict = verdict.map_or("no run", |verdict| verdict.word());
    vec![
        Cell::Count(parameters as u64),
        Cell::Text(name.to_owned()),
        Cell::Number(chosen),
        of(|it| it.divergence),
        Cell::Number(least),
        Cell::Number(most),
        of(|it| it.by_chance),
        of(|it| it.wasserstein),
        of(|it| it.mean_shift),
        of(|it| it.sd_ratio.0),
        of(|it| it.sd_ratio.1),
        of(|it| it.passes),
        of(|it| it.passes_per_ess),
        Cell::Text(verdict.to_owned()),
    ]
}

#[cfg(test)]
mod tests;
