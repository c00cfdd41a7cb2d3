//! The experiment of Baker (2018), section 3.5.3: documents held out are predicted from topics as the number of documents grows, by SGLD
//! of the logarithms of weights of words, plain, with control variates, and with those of SAGA.
//!
//! The source's documents are 81,538 articles of Wikipedia of which the 1,000 most common words count, with 20 topics, α = β = 1, minibatches
//! of 50 documents and 200 Gibbs sweeps over each; `--data` names a CSV file with the columns `document`, `word` and, where rows are no
//! single words, `count`. Without one, documents are drawn ([`SHAPE`]), a sixteenth as many. As in the source steps are chosen for each method and size
//! from a grid, here by the perplexity at the end of a chain of another seed.
//!
//! Centres of control variates are where a warm-up of plain SGLD ended that takes a quarter of the documents looked at; the pass that
//! counts words there, and the one that SAGA begins with, are among these.

use std::sync::Arc;

use rayon::prelude::*;

use super::chain::Chain;
use super::problem::{is_above, mean_with_error};
use super::topics::{corpus, model, subset, tabulated};
use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::models::Model;
use ergodic_core::models::topics::{Synthetic, SyntheticShape};
use ergodic_core::samplers::{self, Output, TOPICS, Target, excess_of_minibatches};
use ergodic_data::{ImportOptions, load};

/// Seeds per line, those of the source.
const SEEDS: usize = 5;
/// α and β of the source.
const PRIOR: [f64; 2] = [1.0, 1.0];
/// Documents that are drawn where no file is named.
const SHAPE: SyntheticShape = SyntheticShape {
    topics: 20,
    vocabulary: 500,
    documents: 5000,
    length: 80.0,
    alpha: 0.1,
    beta: 0.05,
};
/// The shape for a glance.
const SMALL: SyntheticShape = SyntheticShape {
    topics: 4,
    vocabulary: 60,
    documents: 400,
    length: 40.0,
    ..SHAPE
};
/// Shares of documents: about the columns of the source's table of steps.
const SHARES: [f64; 3] = [0.1, 0.6, 1.0];
/// Documents of a minibatch.
const BATCH: i64 = 50;
/// Sweeps over each: the source's are 200, which take longer and change little.
const SWEEPS: i64 = 30;
/// Looks at each document in a chain.
const PASSES: f64 = 40.0;
/// Lines of a chain.
const LINES: usize = 8;
/// Steps that are tried, in units of the default for as many documents.
const STEPS: [f64; 3] = [1.0, 4.0, 16.0];
/// Methods: words of the setting `control`, and what the source calls them.
const METHODS: [(&str, &str); 3] = [("none", "SGLD"), ("centre", "SGLD-CV"), ("table", "SAGA")];

/// Passes, and after them the perplexity: mean of the draws since the line before.
type Line = [f64; 2];

/// Chains of one method on n documents.
struct End {
    documents: usize,
    method: &'static str,
    found: Vec<Vec<Line>>,
}

/// Runs the experiment.
///
/// # Errors
/// The data cannot be read or lack a column.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let shape = options.sized(SMALL, SHAPE);
    let table = match &options.data {
        Some(path) => load(path, &ImportOptions::default(), &Control::default())?.table,
        None => tabulated(&Synthetic::draw(
            shape,
            &mut stream(options.seed, 0, Purpose::Data),
        ))?,
    };
    let (seeds, shares, steps) = match options.quick {
        true => (2, &SHARES[2..], &STEPS[1..]),
        false => (SEEDS, &SHARES[..], &STEPS[..]),
    };
    let (mut rows, mut ends, mut words) = (Vec::new(), Vec::new(), String::new());
    let mut noise = [f64::NAN; 2];
    options.expect_runs(shares.len() * METHODS.len() * (steps.len() + seeds));
    for &share in shares {
        let model = model(&subset(&table, share)?, shape.topics, PRIOR)?;
        let documents = model.num_obs();
        let own = corpus(model.as_ref())?;
        words = format!(
            "{} words in all, {} different ones, {} documents held out",
            own.num_words(),
            own.vocabulary(),
            own.num_held_out()
        );
        for (control, method) in METHODS {
            let key = (options.seed, SEEDS);
            let chain = |step, key| follow(&model, control, step, key, &options.control);
            let step = best_step(&model, control, steps, |step| chain(step, key))?;
            if control == "none" {
                noise = excess(&model, step, key)?;
            }
            let found: Vec<Vec<Line>> = (0..seeds)
                .into_par_iter()
                .map(|k| chain(step, (options.seed, k)))
                .collect::<Result<_, _>>()?;
            rows.extend(lines(documents, method, step, &found));
            ends.push(End {
                documents,
                method,
                found,
            });
        }
    }
    Ok(BenchTable {
        columns: vec![
            "documents",
            "method",
            "step",
            "passes",
            "perplexity_mean",
            "perplexity_min",
            "perplexity_max",
        ],
        rows,
        notes: vec![
            format!(
                "perplexity of half of the words of each document held out, the other half shown; {seeds} seeds from {}; lower is better; passes \
                 over the documents, those of warm-up and of counts at the centre among them",
                options.seed
            ),
            format!(
                "at the largest size {words}, {} topics, α = β = 1, {SWEEPS} sweeps; the source: 81,538 documents, 1,000 words, 20 topics, 200 sweeps",
                shape.topics
            ),
            match &options.data {
                Some(path) => format!("data: {}", path.display()),
                None => "data: drawn from sparse topics; name others with --data".to_owned(),
            },
        ],
        findings: findings(&ends, noise),
        plots: vec![
            Plot::lines("passes", &["perplexity_mean"])
                .between("perplexity_min", "perplexity_max")
                .by(&["documents", "method"]),
        ],
        ..BenchTable::default()
    })
}

/// The start of a chain.
fn start(
    model: &Arc<dyn Model>,
    control: &str,
    step: f64,
    key: (u64, usize),
) -> Result<Chain, BenchError> {
    let mut settings = Settings::default();
    settings.set("control", Value::Text(control.to_owned()));
    settings.set("step_size", Value::Real(step));
    settings.set("batch", Value::Int(BATCH));
    settings.set("sweeps", Value::Int(SWEEPS));
    let documents = model.num_obs() as f64;
    // Twenty draws for a line.
    let per_draw = PASSES / (20 * LINES) as f64 * documents / BATCH as f64;
    settings.set(
        "steps_per_draw",
        Value::Int((per_draw.round() as i64).max(1)),
    );
    Chain::start("topics-sgld", &settings, model, key)
}

/// One chain.
fn follow(
    model: &Arc<dyn Model>,
    control: &str,
    step: f64,
    key: (u64, usize),
    watch: &Control,
) -> Result<Vec<Line>, BenchError> {
    let mut chain = start(model, control, step, key)?;
    let documents = model.num_obs() as f64;
    let passes = |chain: &Chain| chain.datum_grads() as f64 / documents;
    let mut lines = Vec::new();
    for line in 1..=LINES {
        let until = PASSES * line as f64 / LINES as f64;
        let (mut sum, mut count) = (0.0, 0.0);
        while passes(&chain) < until {
            match passes(&chain) < PASSES / 4.0 {
                true => chain.warm_up()?,
                false => chain.draw()?,
            }
            sum += chain.kernel.position()[0];
            count += 1.0;
        }
        lines.push([passes(&chain), sum / count]);
    }
    watch.advance(1);
    Ok(lines)
}

/// The perplexity at the end of a chain.
fn end(lines: &[Line]) -> f64 {
    lines.last().map_or(f64::INFINITY, |line| line[1])
}

/// The step with the least perplexity at the end of a chain of another seed; one with which a chain explodes has none.
fn best_step(
    model: &Arc<dyn Model>,
    control: &'static str,
    steps: &[f64],
    chain: impl Fn(f64) -> Result<Vec<Line>, BenchError> + Sync,
) -> Result<f64, BenchError> {
    const ID: &str = "topics-sgld";
    let entry = samplers::find(ID).ok_or_else(|| BenchError::NoSampler(ID.to_owned()))?;
    let mut given = Settings::default();
    given.set("batch", Value::Int(BATCH));
    let settled = (entry.resolve)(&given, &Target::new(model, None))?;
    let unit = settled
        .iter()
        .find(|(key, _)| *key == "step_size")
        .and_then(|(_, value)| match value {
            Value::Real(size) => Some(*size),
            _ => None,
        })
        .unwrap_or(f64::NAN);
    let tried: Vec<(f64, f64)> = steps
        .par_iter()
        .map(|times| {
            let found = chain(times * unit);
            let perplexity = found.map_or(f64::INFINITY, |lines| end(&lines));
            (times * unit, perplexity)
        })
        .collect();
    let finite = tried.iter().filter(|tried| tried.1.is_finite());
    finite
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|best| best.0)
        .ok_or(BenchError::ControlLeadsNowhere(control))
}

/// The lines of one method.
fn lines(documents: usize, method: &str, step: f64, found: &[Vec<Line>]) -> Vec<Vec<Cell>> {
    let line = |line: usize| {
        let column = |k: usize| found.iter().map(move |lines| lines[line][k]);
        let mean = |k: usize| column(k).sum::<f64>() / found.len() as f64;
        vec![
            Cell::from(documents),
            Cell::from(method),
            Cell::from(step),
            Cell::from(mean(0)),
            Cell::from(mean(1)),
            Cell::from(column(1).fold(f64::INFINITY, f64::min)),
            Cell::from(column(1).fold(f64::NEG_INFINITY, f64::max)),
        ]
    };
    (0..LINES).map(line).collect()
}

/// By what share of the posterior's variance minibatches of plain SGLD at this step widen the weights of words, and by what share with
/// control variates, at the topics in the middle of a chain.
fn excess(model: &Arc<dyn Model>, step: f64, key: (u64, usize)) -> Result<[f64; 2], BenchError> {
    let mut chain = start(model, "none", step, key)?;
    while chain.datum_grads() < (PASSES / 2.0 * model.num_obs() as f64) as u64 {
        chain.warm_up()?;
    }
    let Some(Output::Numbers(phi)) = chain.kernel.output_called(TOPICS) else {
        return Ok([f64::NAN; 2]);
    };
    let mut rng = stream(key.0, key.1, Purpose::Diagnostics);
    let how = (SWEEPS as u64, BATCH as usize);
    let of_unit = excess_of_minibatches(corpus(model.as_ref())?, phi, how, &mut rng);
    Ok(of_unit.map(|excess| step * excess))
}

/// What the runs say of the claims; `noise` is the [`excess`] with all documents.
fn findings(ends: &[End], noise: [f64; 2]) -> Vec<Finding> {
    let Some(most) = ends.iter().map(|end| end.documents).max() else {
        return Vec::new();
    };
    let last = |method: &str| {
        let found = (ends.iter()).find(|it| it.documents == most && it.method == method);
        found.map_or_else(Vec::new, |it| {
            it.found.iter().map(|lines| end(lines)).collect()
        })
    };
    let [plain, centred, table]: [Vec<f64>; 3] = METHODS.map(|(_, method)| last(method));
    let said = |of: &[f64]| mean_with_error(of, 2);
    vec![
        Finding {
            claim: "With all documents SGLD-CV reaches a lower perplexity than SGLD at equal passes",
            reproduced: is_above(&plain, &centred),
            because: format!(
                "at the end {} against {}; at the step that suits it minibatches widen the weights of words under SGLD by {:.1} % of \
                 their variance on average, which control variates make {:.1} %",
                said(&centred),
                said(&plain),
                100.0 * noise[0],
                100.0 * noise[1]
            ),
        },
        Finding {
            claim: "SAGA is the slowest of the three",
            reproduced: is_above(&table, &plain) && is_above(&table, &centred),
            because: format!(
                "at the end {}, SGLD {}, SGLD-CV {}",
                said(&table),
                said(&plain),
                said(&centred)
            ),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::quick;
    use super::*;

    /// Perplexities come down from the number of words, 60, for all methods.
    #[test]
    fn all_control_variates_find_topics() {
        let table = quick(run);
        for (_, method) in METHODS {
            let last = (table.rows.iter()).rfind(|row| row[1].plain() == method);
            let Cell::Number(perplexity) = last.unwrap()[4] else {
                panic!("a number");
            };
            assert!(perplexity < 40.0, "{method}: {perplexity}");
        }
        assert_eq!(table.rows.len(), METHODS.len() * LINES);
        assert!(
            !table.findings[0].because.contains("NaN"),
            "{}",
            table.findings[0]
        );
    }
}
