//! The experiment of Baker, Fearnhead, Fox and Nemeth (2018), section 5.1 and appendix E: documents held out are predicted from
//! topics that were found by minibatches of 50 documents.
//!
//! The paper's documents are scraped articles of Wikipedia, about 8,000 words of which count, 1,000 of them held out, with 100
//! topics and 200 Gibbs sweeps over each document of a minibatch; `--data` names a CSV file with the columns `document`, `word`
//! and, where rows are no single words, `count`. Without one, documents of sparse topics are drawn ([`SHAPE`]), a smaller world of
//! the same kind, whose topics are known.
//!
//! The paper chose priors by the score for each sampler, so that these are compared under different ones. Here all three run under
//! both: under α = 0.1, β = 0.5, its choice for SCIR and Gibbs sampling, and under α = 0.01, β = 0.0001, its choice for SGRLD. Steps are
//! the paper's: h = 0.5, τ = 10, κ = 0.33 and, as Langevin time, h = 0.005, τ = 1000, κ = 0.6.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::chain::{self, Chain};
use super::problem::lines_of;
use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::design::{Columns as _, Labels, Values};
use ergodic_core::models::topics::{Synthetic, SyntheticShape};
use ergodic_core::models::{Corpus, Model};
use ergodic_core::samplers::{Output, WORDS_HELD_OUT};
use ergodic_data::{ImportOptions, Table, load};

/// Seeds per line.
const SEEDS: usize = 5;
/// α and β that the paper chose for SCIR and Gibbs sampling, and for SGRLD.
const PRIORS: [[f64; 2]; 2] = [[0.1, 0.5], [0.01, 0.0001]];
/// Documents that are drawn where no file is named: an eighth of the paper's vocabulary, a third of its topics.
const SHAPE: SyntheticShape = SyntheticShape {
    topics: 30,
    vocabulary: 1000,
    documents: 5000,
    length: 100.0,
    alpha: 0.1,
    beta: 0.05,
};
/// The shape for a glance.
const SMALL: SyntheticShape = SyntheticShape {
    topics: 5,
    vocabulary: 100,
    documents: 300,
    length: 40.0,
    ..SHAPE
};
/// K of the paper, for data that are named.
const TOPICS: usize = 100;
/// Most documents held out, those of the paper, and their largest share.
const HELD_OUT: f64 = 1000.0;
const HELD_OUT_SHARE: f64 = 0.1;
/// Sweeps over each document of a minibatch: the paper's are 200, which take longer and change little.
const SWEEPS: i64 = 50;
/// Lines of each chain, evenly spaced in the logarithm of the iteration.
const LINES: i32 = 6;
/// How much of the perplexity of Gibbs sampling another may be above it and still count as competitive.
const COMPETITIVE: f64 = 1.05;

/// A sampler under a prior.
#[derive(Clone, Copy, Debug)]
struct Entrant {
    id: &'static str,
    /// Place among [`PRIORS`].
    prior: usize,
    draws: usize,
}

/// Perplexity after each draw and the seconds until then, and that of the mean predictive probabilities of the second half.
struct Found {
    trace: Vec<[f64; 2]>,
    averaged: f64,
}

/// Runs the experiment.
///
/// # Errors
/// The data cannot be read or lack a column.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let shape = options.sized(SMALL, SHAPE);
    let (table, truth) = match &options.data {
        Some(path) => (
            load(path, &ImportOptions::default(), &Control::default())?.table,
            None,
        ),
        None => {
            let drawn = Synthetic::draw(shape, &mut stream(0, 0, Purpose::Data));
            (tabulated(&drawn)?, Some(drawn))
        }
    };
    let topics = match (&truth, options.quick) {
        (None, false) => TOPICS,
        _ => shape.topics,
    };
    let models: Vec<Arc<dyn Model>> = (PRIORS.iter())
        .map(|&prior| model(&table, topics, prior))
        .collect::<Result<_, _>>()?;
    let (seeds, sweeps, draws) = options.sized((2, 20, 20), (SEEDS, 100, 400));
    let entrants: Vec<Entrant> = (0..PRIORS.len())
        .flat_map(|prior| {
            [
                ("topics-gibbs", sweeps),
                ("topics-scir", draws),
                ("topics-sgrld", draws),
            ]
            .map(|(id, draws)| Entrant { id, prior, draws })
        })
        .collect();
    let (mut rows, mut last) = (Vec::new(), Vec::new());
    options.expect_runs(entrants.len() * seeds);
    for entrant in &entrants {
        let found: Vec<Found> = (0..seeds)
            .into_par_iter()
            .map(|k| {
                let key = (options.seed, k);
                follow(entrant, &models[entrant.prior], key, &options.control)
            })
            .collect::<Result<_, _>>()?;
        rows.extend(lines(entrant, &found));
        last.push(Last::of(&found));
    }
    Ok(BenchTable {
        columns: vec![
            "alpha",
            "beta",
            "sampler",
            "iterations",
            "documents",
            "seconds",
            "perplexity_mean",
            "perplexity_min",
            "perplexity_max",
            "averaged",
        ],
        rows: (rows.into_iter())
            .map(|row| with_documents(row, models[0].as_ref()))
            .collect(),
        notes: notes(options, &models, truth.as_ref(), seeds),
        findings: findings(&last),
        plots: vec![
            Plot::lines("seconds", &["perplexity_mean"])
                .between("perplexity_min", "perplexity_max")
                .by(&["alpha", "beta", "sampler"])
                .log_x(),
        ],
        ..BenchTable::default()
    })
}

/// Words of documents, each different one with its count.
pub(super) fn tabulated(drawn: &Synthetic) -> Result<Table, BenchError> {
    let (mut document, mut word, mut count) = (Vec::new(), Vec::new(), Vec::new());
    for (number, words) in drawn.documents.iter().enumerate() {
        let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
        for &word in words {
            *counts.entry(word).or_default() += 1.0;
        }
        for (own, times) in counts {
            document.push(Some(format!("d{number}")));
            word.push(Some(format!("w{own}")));
            count.push(times);
        }
    }
    let columns = vec![
        ("document".to_owned(), Values::Texts(document)),
        ("word".to_owned(), Values::Texts(word)),
        ("count".to_owned(), Values::Numbers(count)),
    ];
    Ok(Table::from_columns("documents", columns)?)
}

/// The rows of a share of the documents of a table, every n-th of them.
pub(super) fn subset(table: &Table, share: f64) -> Result<Table, BenchError> {
    let names = ["document", "word", "count"];
    let present = names
        .into_iter()
        .filter(|name| table.position(name).is_some());
    let place = |name: &str| table.index_of(name, "The experiment");
    let documents = table.labels(place("document")?);
    // Of each stretch of documents the first ones, so that all of a file are represented.
    let is_in = |code: u32| {
        let code = f64::from(code);
        ((code + 1.0) * share).floor() > (code * share).floor()
    };
    let kept: Vec<usize> = (0..table.num_rows())
        .filter(|&row| documents.codes[row] != Labels::MISSING)
        .filter(|&row| is_in(documents.codes[row]))
        .collect();
    let mut columns = Vec::new();
    for name in present {
        let col = place(name)?;
        let values = match (name, table.numbers(col)) {
            ("count", Some(numbers)) => {
                Values::Numbers(kept.iter().map(|&row| numbers[row]).collect())
            }
            _ => {
                let labels = table.labels(col);
                let text = |&row: &usize| labels.levels.get(labels.codes[row] as usize).cloned();
                Values::Texts(kept.iter().map(text).collect())
            }
        };
        columns.push((name.to_owned(), values));
    }
    Ok(Table::from_columns("documents", columns)?)
}

/// The model of a table under α and β.
pub(super) fn model(
    table: &Table,
    topics: usize,
    [alpha, beta]: [f64; 2],
) -> Result<Arc<dyn Model>, BenchError> {
    let formula = match table.column("count") {
        Some(_) => "~ word + count + (1 | document)",
        None => "~ word + (1 | document)",
    };
    let build = |held_out: f64| {
        let mut given = Settings::default();
        given.set("topics", Value::Int(topics as i64));
        given.set("held_out", Value::Real(held_out));
        let priors = vec![
            ("alpha".to_owned(), format!("dirichlet({alpha})")),
            ("beta".to_owned(), format!("dirichlet({beta})")),
        ];
        chain::model(table, ("topics", &given), formula, priors)
    };
    let model = build(HELD_OUT_SHARE)?;
    // Of a large collection no more than the paper's.
    let held_out = corpus(model.as_ref())?.num_held_out() as f64;
    match held_out > HELD_OUT {
        true => build(HELD_OUT_SHARE * HELD_OUT / held_out),
        false => Ok(model),
    }
}

pub(super) fn corpus(model: &dyn Model) -> Result<&Corpus, BenchError> {
    (model.corpus()).ok_or(BenchError::Lacking("The model has no topics"))
}

/// One chain.
fn follow(
    entrant: &Entrant,
    model: &Arc<dyn Model>,
    key: (u64, usize),
    control: &Control,
) -> Result<Found, BenchError> {
    let mut settings = Settings::default();
    if entrant.id != "topics-gibbs" {
        settings.set("sweeps", Value::Int(SWEEPS));
    }
    let mut chain = Chain::start(entrant.id, &settings, model, key)?;
    let corpus = corpus(model.as_ref())?;
    let begun = Instant::now();
    let (mut trace, mut sums) = (Vec::new(), vec![0.0; corpus.scored().count()]);
    for draw in 0..entrant.draws {
        chain.draw()?;
        trace.push([chain.kernel.position()[0], begun.elapsed().as_secs_f64()]);
        if let Some(Output::Numbers(logs)) = chain.kernel.output_called(WORDS_HELD_OUT)
            && draw >= entrant.draws / 2
        {
            for (sum, log) in sums.iter_mut().zip(logs) {
                *sum += log.exp();
            }
        }
    }
    let kept = (entrant.draws - entrant.draws / 2) as f64;
    let logs: Vec<f64> = sums.iter().map(|sum| (sum / kept).ln()).collect();
    control.advance(1);
    Ok(Found {
        trace,
        averaged: corpus.perplexity(&logs),
    })
}

/// Mean, least and largest.
fn summary(values: impl Iterator<Item = f64> + Clone) -> [f64; 3] {
    let count = values.clone().count() as f64;
    [
        values.clone().sum::<f64>() / count,
        values.clone().fold(f64::INFINITY, f64::min),
        values.fold(f64::NEG_INFINITY, f64::max),
    ]
}

/// Minibatches or sweeps of a draw, and the documents of one; `None` for all of them.
fn of_draw(entrant: &Entrant) -> (u64, Option<u64>) {
    match entrant.id {
        "topics-gibbs" => (1, None),
        _ => (5, Some(50)),
    }
}

/// What a line says; documents are those of all iterations, `None` for all documents in each of them.
struct Line {
    cells: Vec<Cell>,
    iterations: u64,
    documents: Option<u64>,
}

/// The lines of one sampler under one prior.
fn lines(entrant: &Entrant, found: &[Found]) -> Vec<Line> {
    let [alpha, beta] = PRIORS[entrant.prior];
    let (per_draw, documents) = of_draw(entrant);
    let line = |draw: usize| {
        let perplexities = found.iter().map(|found| found.trace[draw][0]);
        let [mean, least, most] = summary(perplexities);
        let [seconds, ..] = summary(found.iter().map(|found| found.trace[draw][1]));
        let is_last = draw + 1 == entrant.draws;
        let [averaged, ..] = summary(found.iter().map(|found| found.averaged));
        let iterations = per_draw * (draw as u64 + 1);
        Line {
            iterations,
            documents: documents.map(|each| each * iterations),
            cells: vec![
                Cell::Number(alpha),
                Cell::Number(beta),
                Cell::Text(entrant.id.to_owned()),
                Cell::Count(iterations),
                Cell::Number(seconds),
                Cell::Number(mean),
                Cell::Number(least),
                Cell::Number(most),
                Cell::Number(if is_last { averaged } else { f64::NAN }),
            ],
        }
    };
    lines_of(entrant.draws, LINES)
        .into_iter()
        .map(line)
        .collect()
}

/// The cells of a line with the documents that were looked at.
fn with_documents(line: Line, model: &dyn Model) -> Vec<Cell> {
    let all = line.iterations * model.num_obs() as u64;
    let mut cells = line.cells;
    cells.insert(4, Cell::Count(line.documents.unwrap_or(all)));
    cells
}

/// Perplexity at the end of each chain of an entrant: mean, least and largest.
#[derive(Clone, Copy, Debug)]
struct Last([f64; 3]);

impl Last {
    fn of(found: &[Found]) -> Self {
        let last = |found: &Found| found.trace.last().map_or(f64::NAN, |last| last[0]);
        Self(summary(found.iter().map(last)))
    }

    /// Whether every chain ended below every one of `other`.
    fn is_below(self, other: Self) -> bool {
        self.0[2] < other.0[1]
    }

    fn is_competitive_with(self, other: Self) -> bool {
        self.0[0] < COMPETITIVE * other.0[0]
    }
}

/// The claim under one choice of priors, judged by where chains end.
fn judged(claim: &'static str, scir: Last, sgrld: Last, gibbs: Last) -> Finding {
    let order = if scir.is_below(sgrld) {
        "every chain of SCIR ends below every one of SGRLD"
    } else if sgrld.is_below(scir) {
        "every chain of SGRLD ends below every one of SCIR"
    } else {
        "chains of SCIR and SGRLD end at the same level"
    };
    let competitive = if scir.is_competitive_with(gibbs) {
        "within 5 % of"
    } else {
        "more than 5 % above"
    };
    Finding {
        claim,
        reproduced: scir.is_below(sgrld) && scir.is_competitive_with(gibbs),
        because: format!("{order}, and SCIR ends {competitive} collapsed Gibbs sampling"),
    }
}

/// What the runs say of the claim. `last` has Gibbs sampling, SCIR and SGRLD by prior.
fn findings(last: &[Last]) -> Vec<Finding> {
    let [gibbs, scir, sgrld, gibbs_sparse, scir_sparse, sgrld_sparse] = *last else {
        return Vec::new();
    };
    vec![
        judged(
            "With the source's prior for each, SCIR keeps descending past where SGRLD levels off, and is competitive with collapsed \
             Gibbs sampling",
            scir,
            sgrld_sparse,
            gibbs,
        ),
        judged(
            "The same with α = 0.1 and β = 0.5 for all",
            scir,
            sgrld,
            gibbs,
        ),
        judged(
            "The same with α = 0.01 and β = 0.0001 for all",
            scir_sparse,
            sgrld_sparse,
            gibbs_sparse,
        ),
    ]
}

/// What to know when reading the table.
fn notes(
    options: &BenchOptions,
    models: &[Arc<dyn Model>],
    truth: Option<&Synthetic>,
    seeds: usize,
) -> Vec<String> {
    let mut notes = vec![format!(
        "perplexity of half of the words of each document held out, the other half shown; {seeds} seeds from {}; lower is better; \
         averaged: of mean predictive probabilities of the second half of the draws",
        options.seed
    )];
    if let Ok(corpus) = corpus(models[0].as_ref()) {
        notes.push(format!(
            "{} documents of {} words in all, {} different ones, {} documents held out, {} topics, {SWEEPS} sweeps over a document; \
             the source: vocabulary of about 8,000, 1,000 documents held out, 100 topics, 200 sweeps",
            corpus.num_documents(),
            corpus.num_words(),
            corpus.vocabulary(),
            corpus.num_held_out(),
            corpus.num_topics(),
        ));
        if let Some(truth) = truth {
            notes.push(format!(
                "perplexity with the topics that documents were drawn from: {:.1}",
                best(corpus, truth)
            ));
        }
    }
    notes.push(match &options.data {
        Some(path) => format!("data: {}", path.display()),
        None => "data: drawn from sparse topics; name others with --data".to_owned(),
    });
    notes
}

/// Perplexity given the topics that the documents were drawn from, words that were never drawn left out.
fn best(corpus: &Corpus, truth: &Synthetic) -> f64 {
    let topics = corpus.num_topics();
    let numbers = corpus.vocabulary_words().iter();
    let phi: Vec<f64> = numbers
        .filter_map(|word| word.strip_prefix('w')?.parse::<usize>().ok())
        .flat_map(|word| truth.phi[word * topics..][..topics].iter().copied())
        .collect();
    let mut logs = vec![0.0; corpus.scored().count()];
    let mut rng = stream(0, 0, Purpose::Predictive);
    corpus.complete(&phi, &mut corpus.document_gibbs(), &mut rng, &mut logs);
    corpus.perplexity(&logs)
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{numbers, quick};
    use super::*;

    /// All three under both priors, each from no knowledge to below it.
    #[test]
    fn all_samplers_are_followed_under_both_priors() {
        let table = quick(run);
        assert_eq!(table.findings.len(), 3);
        for [alpha, beta] in PRIORS {
            let prior = [alpha.to_string(), beta.to_string()];
            for (id, iterations) in [
                ("topics-gibbs", 20.0),
                ("topics-scir", 100.0),
                ("topics-sgrld", 100.0),
            ] {
                let words = [prior[0].as_str(), prior[1].as_str(), id];
                let column = |name: &str| numbers(&table, &words, name);
                let [mean, least, most] =
                    ["perplexity_mean", "perplexity_min", "perplexity_max"].map(column);
                for ((mean, least), most) in mean.iter().zip(&least).zip(&most) {
                    assert!(1.0 < *least && least <= mean && mean <= most, "{id}");
                }
                let (steps, documents) = (column("iterations"), column("documents"));
                assert_eq!(*steps.last().unwrap(), iterations);
                // Gibbs sampling looks at all 270, the others at 50 in each iteration.
                let each = if id == "topics-gibbs" { 270.0 } else { 50.0 };
                assert!(
                    steps
                        .iter()
                        .zip(&documents)
                        .all(|(n, all)| *all == each * n)
                );
                let seconds = column("seconds");
                assert!(seconds.windows(2).all(|pair| pair[0] < pair[1]), "{id}");
                // Averaged probabilities stand in the last line alone.
                let lines = table.rows.iter().filter(|row| {
                    let mut pairs = words.iter().zip(row.iter());
                    pairs.all(|(word, cell)| cell.plain() == **word)
                });
                let averaged: Vec<String> = lines.map(|row| row[row.len() - 1].plain()).collect();
                let (last, others) = averaged.split_last().unwrap();
                assert!(others.iter().all(|it| it == "NA") && last != "NA", "{id}");
                if alpha != PRIORS[0][0] {
                    continue;
                }
                // The number of words is the perplexity of no knowledge; one sweep of Gibbs sampling is nearly enough.
                let (first, last) = (mean[0], mean[mean.len() - 1]);
                let vocabulary = SMALL.vocabulary as f64;
                assert!(last < vocabulary, "{id}: {last}");
                match id {
                    "topics-gibbs" => assert!(last < 0.25 * vocabulary, "{last}"),
                    _ => assert!(last < first, "{id}: {last} {first}"),
                }
            }
        }
    }

    /// Perplexities come down from the number of words, 100, to near that of the topics that documents were drawn from, about 12.
    /// One sweep of Gibbs sampling is nearly enough.
    #[test]
    fn samplers_come_near_the_topics_that_documents_were_drawn_from() {
        let drawn = Synthetic::draw(SMALL, &mut stream(0, 0, Purpose::Data));
        let model = model(&tabulated(&drawn).unwrap(), SMALL.topics, PRIORS[0]).unwrap();
        let corpus = corpus(model.as_ref()).unwrap();
        assert_eq!((corpus.num_documents(), corpus.num_held_out()), (270, 30));
        let best = best(corpus, &drawn);
        for (id, draws) in [("topics-gibbs", 30), ("topics-scir", 40)] {
            let entrant = Entrant {
                id,
                prior: 0,
                draws,
            };
            let found = follow(&entrant, &model, (1, 0), &Control::default()).unwrap();
            let last = found.trace.last().unwrap()[0];
            assert!(last < 1.25 * best, "{id}: {last} {best}");
            // A mean of probabilities is at least that of their logarithms (Jensen).
            let half = &found.trace[draws / 2..];
            let logs: f64 = half.iter().map(|[perplexity, _]| perplexity.ln()).sum();
            let typical = (logs / half.len() as f64).exp();
            assert!(
                found.averaged <= typical,
                "{id}: {} {typical}",
                found.averaged
            );
            assert!(
                found.averaged > 0.95 * best,
                "{id}: {} {best}",
                found.averaged
            );
            let lines = lines(&entrant, &[found]);
            assert!((4..=LINES as usize).contains(&lines.len()));
        }
        // What the verdict rests on.
        let [low, high] = [[1.0, 0.9, 1.1], [2.0, 1.9, 2.1]].map(Last);
        assert!(low.is_below(high) && !high.is_below(low) && !low.is_below(low));
        assert!(judged("", low, high, low).reproduced);
        let not = judged("", high, low, low);
        assert!(!not.reproduced && not.because.contains("more than 5 %"));
        assert_eq!(findings(&[low, low, high, low, low, high]).len(), 3);
    }
}
