//! Times of this program for `benches/beside.sh`, which asks other programs for the same in turn.
//!
//! `cargo bench --bench beside` reads requests from standard input, one a line, and answers each by one line: seconds (the shortest of
//! five), or effective draws per second, or `-` for what it does not know. Tables have 100,000 rows.
//!
//! | request | answer |
//! |---|---|
//! | `hello` | what is measured |
//! | `full FAMILY D` | value and gradient of all rows, one thread |
//! | `SAMPLER D BATCH SCHEME` | one step of `sgld`, `sgld-cv`, `sghmc` or `osgfs` of a logistic regression |
//! | `run SAMPLER CHAINS DRAWS` | smallest bulk effective sample size per second, search for the mode and warm-up included |
//! | `summary` | summary of 4 × 10,000 draws of 100 variables |
//! | `mixed normal intercepts`, `mixed normal slopes`, `mixed binary intercepts` | likelihood fit of 1,000 groups |

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ergodic_analysis::{Job, Recipe, Run};
use ergodic_base::draws::DrawList;
use ergodic_base::settings::Value;
use ergodic_base::{Control, ParamId, Purpose, stream};
use ergodic_core::design::Scaling;
use ergodic_core::estimators::mixed::{
    Criterion, Fineness, Method, MixedData, RandomTerm, fit_gaussian, fit_generalised,
};
use ergodic_core::families::Family;
use ergodic_core::models::DefaultPriors;
use ergodic_core::samplers::{Phase, Tick};
use ergodic_core::synthetic;
use ergodic_data::samples;
use ergodic_diagnostics::summarise;
use rand::RngExt as _;
use rand_distr::StandardNormal;

#[path = "support/case.rs"]
mod case;
mod support;

use case::Case;

/// Shortest stretch that is timed at once.
const STRETCH: Duration = Duration::from_millis(50);
/// Stretches of which the shortest counts.
const STRETCHES: usize = 5;

/// What is asked when the benchmark is only to show that it runs.
const TRIAL: [&str; 9] = [
    "hello",
    "full logistic 4",
    "full student 4",
    "full negative-binomial 4",
    "sgld 4 100 blocks",
    "osgfs 4 100 iid",
    "run hmc-ecs 1 100",
    "summary",
    "mixed binary intercepts",
];

#[expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
fn main() {
    let mut cases = Cases::default();
    if support::is_test() {
        for request in TRIAL {
            let answer = cases.answer(request);
            assert!(answer.is_some(), "{request}");
        }
        return;
    }
    for request in std::io::stdin().lock().lines() {
        let request = request.expect("requests are text");
        println!("{}", cases.answer(&request).unwrap_or("-".to_owned()));
        std::io::stdout()
            .flush()
            .expect("somebody reads the answers");
    }
}

/// Rows of a table.
fn rows() -> usize {
    match support::is_test() {
        true => 2000,
        false => 100_000,
    }
}

/// Models by template and number of columns, made once.
#[derive(Default)]
struct Cases(BTreeMap<(String, usize), Case>);

impl Cases {
    fn get(&mut self, template: &str, columns: usize) -> &Case {
        (self.0)
            .entry((template.to_owned(), columns))
            .or_insert_with(|| Case::new(synthetic::of_shape(rows(), columns), template))
    }

    fn answer(&mut self, request: &str) -> Option<String> {
        let words: Vec<&str> = request.split(' ').collect();
        let number = match words.as_slice() {
            ["hello"] => return Some("ergodic, f64".to_owned()),
            ["full", family, d] => self.full(family, d.parse().ok()?),
            ["run", sampler, chains, draws] => {
                effective_per_second(sampler, chains.parse().ok()?, draws.parse().ok()?)
            }
            ["summary"] => summary(),
            ["mixed", response, effects] => mixed(response, effects)?,
            [sampler, d, batch, scheme] => {
                self.step(sampler, d.parse().ok()?, batch.parse().ok()?, scheme)
            }
            _ => return None,
        };
        Some(format!("{number:e}"))
    }

    fn full(&mut self, family: &str, d: usize) -> f64 {
        let case = self.get(family, d);
        let (mut oracle, dim) = (case.oracle(None), case.model.dim());
        // Away from the mode, where all terms are ordinary numbers.
        let u: Vec<f64> = (0..dim).map(|j| 0.01 * (j % 10) as f64).collect();
        let mut grad = vec![0.0; dim];
        shortest(|| {
            oracle.exact(&u, &mut grad).expect("nobody interrupts");
        })
    }

    fn step(&mut self, sampler: &str, d: usize, batch: i64, scheme: &str) -> f64 {
        let case = self.get("logistic", d);
        let settings = [
            ("batch", Value::Int(batch)),
            ("scheme", Value::Text(scheme.to_owned())),
        ];
        let (mut kernel, mut oracle, mut streams, num_info) = case.kernel(sampler, &settings);
        let mut info = vec![0.0; num_info];
        let mut iter = 0;
        shortest(|| {
            let phase = Phase::Draw;
            kernel
                .step(Tick { iter, phase }, &mut oracle, &mut streams, &mut info)
                .expect("a step from the mode succeeds");
            iter += 1;
        })
    }
}

/// Seconds of one `work`, the shortest of several stretches.
fn shortest(mut work: impl FnMut()) -> f64 {
    let mut time = |count: u32| {
        let start = Instant::now();
        (0..count).for_each(|_| work());
        start.elapsed()
    };
    if support::is_test() {
        return time(1).as_secs_f64();
    }
    let mut count = 1;
    while time(count) < STRETCH {
        count *= 2;
    }
    let stretches = (0..STRETCHES).map(|_| time(count).as_secs_f64() / f64::from(count));
    stretches.fold(f64::INFINITY, f64::min)
}

/// From a table in memory to the last draw, in the second of two runs.
fn effective_per_second(sampler: &str, chains: usize, draws: u64) -> f64 {
    let id = match support::is_test() {
        true => "synthetic-2000x3",
        false => "synthetic-100000x10",
    };
    let source = format!("{}{id}", samples::PREFIX);
    let formula = samples::formula(id).expect("the shape is sound");
    let mut recipe = Recipe::new(&source, "logistic", &formula);
    recipe.set_default_priors(DefaultPriors::Papers);
    sampler.clone_into(&mut recipe.sampler.id);
    recipe.run.chains = chains;
    recipe.run.draws = draws;
    let control = Control::default();
    let loaded = samples::load_source(&source, &recipe.data.import, &control);
    let loaded = Arc::new(loaded.expect("the data set is bundled"));
    let once = || {
        let start = Instant::now();
        let job = Job::prepare(&recipe, Path::new(""), Some(Arc::clone(&loaded)), &control);
        let job = Arc::new(job.expect("the recipe is sound"));
        let mut run = Run::start(job, None, None).expect("threads");
        run.join();
        let seconds = start.elapsed().as_secs_f64();
        let report = run.report();
        let sizes = report.summary.iter().filter_map(|row| row.ess_bulk);
        sizes.fold(f64::INFINITY, f64::min) / seconds
    };
    // As NumPyro, which compiles in its first: what a program does once for all runs is not asked.
    once();
    once()
}

/// Draws of an autoregressive process with coefficient 0.9.
fn summary() -> f64 {
    const COEFFICIENT: f64 = 0.9;
    let (draws, params) = match support::is_test() {
        true => (200, 3),
        false => (10_000, 100),
    };
    let innovation = (1.0 - COEFFICIENT * COEFFICIENT).sqrt();
    let lists: Vec<DrawList> = (0..4)
        .map(|chain| {
            let mut rng = stream(1, chain, Purpose::Diagnostics);
            let mut state: Vec<f64> = vec![0.0; params];
            let mut list = DrawList::new(params);
            for _ in 0..draws {
                for x in &mut state {
                    *x = COEFFICIENT * *x + innovation * rng.sample::<f64, _>(StandardNormal);
                }
                list.push(&state);
            }
            list
        })
        .collect();
    let lists: Vec<&DrawList> = lists.iter().collect();
    let names: Vec<ParamId> = (0..params).map(|j| format!("b[{j}]").into()).collect();
    shortest(|| {
        std::hint::black_box(summarise(&names, &lists, &[], 1.0));
    })
}

/// y ~ x1 + x2 + (1 | g) or (x1 | g).
fn mixed(response: &str, effects: &str) -> Option<f64> {
    let (rows, groups) = (rows(), rows() / 100);
    let binary = response == "binary";
    let slopes = effects == "slopes";
    let mut rng = stream(1, 0, Purpose::Data);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let shifts: Vec<[f64; 2]> = (0..groups).map(|_| [normal(), normal()]).collect();
    let (mut x, mut y, mut z, mut index) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let (g, [x1, x2]) = (row % groups, [normal(), normal()]);
        let shift = 0.75 * shifts[g][0] + if slopes { 0.4 * shifts[g][1] * x1 } else { 0.0 };
        let eta = 0.5 * x1 - 0.25 * x2 + shift;
        let noise = normal();
        y.push(if binary {
            // A logistic variable is close to 1.7 times a normal one.
            f64::from(u8::from(eta + 1.7 * noise > 0.0))
        } else {
            1.0 + eta + noise
        });
        x.extend([1.0, x1, x2]);
        z.push(1.0);
        if slopes {
            z.push(x1);
        }
        index.push(g as u32);
    }
    let width = 1 + usize::from(slopes);
    let names =
        |all: &[&str]| -> Vec<String> { all.iter().map(|name| (*name).to_owned()).collect() };
    let data = MixedData {
        levels: Vec::new(),
        x,
        columns: names(&["Intercept", "x1", "x2"]),
        scaling: Scaling {
            center: vec![0.0; 3],
            scale: vec![1.0; 3],
            has_intercept: true,
        },
        y,
        response: "y".to_owned(),
        weights: None,
        offset: None,
        known: None,
        terms: vec![RandomTerm {
            group: "g".to_owned(),
            levels: (0..groups).map(|g| g.to_string()).collect(),
            index,
            z,
            names: names(&["Intercept", "x1"][..width]),
            scale: vec![1.0; width],
            correlated: true,
            along: None,
        }],
    };
    let control = Control::default();
    Some(match response {
        "normal" => shortest(|| {
            let fit = fit_gaussian(&data, Method::Profile, Criterion::Reml, &control);
            drop(fit.expect("the fit exists"));
        }),
        "binary" => shortest(|| {
            let fit = fit_generalised(
                &data,
                Family::Bernoulli,
                Method::Laplace,
                Fineness::default(),
                &control,
            );
            drop(fit.expect("the fit exists"));
        }),
        _ => return None,
    })
}
