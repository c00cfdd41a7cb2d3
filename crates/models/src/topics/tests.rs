use std::sync::Arc;

use super::*;
use crate::design::ModelFrame;
use crate::formula::Formula;
use crate::testing::tables::read_csv;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Purpose, stream};

const TEXTS: &str = "doc,word,n,kind\na,oak,2,x\na,elm,1,y\nb,oak,1,x\nb,ash,3,x\nc,elm,0,y\nc,ash,1,x\nd,elm,2,y\nd,oak,1,y\n";

fn options(held_out: f64, priors: &[(&str, &str)]) -> ModelOptions {
    let mut given = Settings::default();
    given.set("held_out", Value::Real(held_out));
    given.set("topics", Value::Int(2));
    let entry = crate::find(TEMPLATE).unwrap();
    ModelOptions {
        settings: entry.resolve(&given).unwrap(),
        priors: (priors.iter())
            .map(|&(key, text)| (key.to_owned(), text.to_owned()))
            .collect(),
        standardize: true,
        ..ModelOptions::default()
    }
}

fn build(formula: &str, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
    let frame = ModelFrame {
        response_use: ResponseUse::Absent,
        ..ModelFrame::new(formula.parse::<Formula>().unwrap())
    };
    let (design, _report) = Design::build(&read_csv(TEXTS), &frame).unwrap();
    TopicModel::build(Arc::new(design), options)
}

#[test]
fn rows_with_counts_are_documents() {
    let model = build("~ word + n + (1 | doc)", &options(0.0, &[])).unwrap();
    let corpus = model.corpus().unwrap();
    assert_eq!((corpus.num_documents(), corpus.num_words()), (4, 11));
    assert_eq!(corpus.vocabulary_words(), ["ash", "elm", "oak"]);
    assert_eq!(
        (corpus.alpha(), corpus.beta()),
        (DEFAULT_ALPHA, DEFAULT_BETA)
    );
    let words = |document: usize| -> Vec<(u32, u32)> {
        let words = corpus.document(document).iter();
        words.map(|entry| (entry.item, entry.count)).collect()
    };
    let mut documents: Vec<_> = (0..4).map(words).collect();
    documents.sort();
    // c, b, a and d.
    let [c, b] = [vec![(0, 1)], vec![(0, 3), (2, 1)]];
    let [a, d] = [vec![(1, 1), (2, 2)], vec![(1, 2), (2, 1)]];
    assert_eq!(documents, [c, b, a, d]);
    // Without counts each row is a word.
    let model = build("~ word + (1 | doc)", &options(0.0, &[])).unwrap();
    assert_eq!(model.corpus().unwrap().num_words(), 8);
    let names: Vec<String> = model
        .params()
        .iter()
        .map(|it| it.name.to_string())
        .collect();
    assert_eq!(names, ["breadth", "divergence"]);
}

#[test]
fn documents_held_out_take_no_part() {
    let priors = [("alpha", "dirichlet(0.3)"), ("beta", "dirichlet(0.02)")];
    let model = build("~ word + n + (1 | doc)", &options(0.5, &priors)).unwrap();
    let corpus = model.corpus().unwrap();
    assert_eq!((corpus.num_documents(), corpus.num_held_out()), (2, 2));
    // Each document has two rows.
    assert_eq!(model.rows_held_out(), 4);
    assert_eq!((corpus.alpha(), corpus.beta()), (0.3, 0.02));
    assert_eq!(model.params()[0].name, "perplexity");
    let mut u = vec![0.0; model.dim()];
    let mut rng = stream(1, 0, Purpose::Data);
    let refused = model
        .simulation()
        .unwrap()
        .draw_all(&mut rng, &mut u, &mut [0.0; 16]);
    assert_eq!(refused, Err(NoPriorDraws::DocumentsHeldOut));
}

#[test]
fn what_cannot_be_read_is_refused_with_a_way_out() {
    for (formula, words) in [
        ("~ word", "needs documents"),
        ("~ log1p(n) + (1 | doc)", "takes columns as they are"),
        ("~ word + kind + (1 | doc)", "`kind` counts the words"),
        ("~ word + n + kind + (1 | doc)", "also has `kind`"),
        ("~ word + (1 | doc) + (1 | kind)", "takes one group"),
    ] {
        let error = build(formula, &options(0.0, &[]))
            .map(|_model| ())
            .unwrap_err();
        assert!(error.to_string().contains(words), "{formula}: {error}");
    }
    let all = build("~ word + (1 | doc)", &options(0.9, &[])).map(|_model| ());
    assert!(
        all.unwrap_err()
            .to_string()
            .contains("at least two documents")
    );
    for wrong in ["normal(0, 1)", "dirichlet(0)"] {
        let given = options(0.0, &[("beta", wrong)]);
        assert!(build("~ word + (1 | doc)", &given).is_err(), "{wrong}");
    }
}

/// Words of rows drawn from the prior are evenly distributed, and two of a document agree as often as its topics and theirs say.
#[test]
fn simulated_words_have_the_moments_of_the_prior() {
    let model = build("~ word + (1 | doc)", &options(0.0, &[])).unwrap();
    let simulation = model.simulation().unwrap();
    assert_eq!(simulation.values_per_row(), 1);
    let mut rng = stream(2, 0, Purpose::Data);
    let (mut u, mut values) = (vec![0.0; 2], vec![0.0; 8]);
    let design = {
        let frame = ModelFrame {
            response_use: ResponseUse::Absent,
            ..ModelFrame::new("~ word + (1 | doc)".parse::<Formula>().unwrap())
        };
        Design::build(&read_csv(TEXTS), &frame).unwrap().0
    };
    let documents = &design.groups[0].index;
    let mates = documents[1..]
        .iter()
        .position(|it| *it == documents[0])
        .unwrap()
        + 1;
    let (mut first, mut same) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        simulation.draw_all(&mut rng, &mut u, &mut values).unwrap();
        assert!(u.iter().all(|u| u.is_finite()));
        first.push(f64::from(u8::from(values[0] == 0.0)));
        same.push(f64::from(u8::from(values[0] == values[mates])));
    }
    // Same topic (α + 1)/(2α + 1), same word then (β + 1)/(3β + 1), otherwise 1/3.
    let topic = (DEFAULT_ALPHA + 1.0) / (2.0 * DEFAULT_ALPHA + 1.0);
    let word = (DEFAULT_BETA + 1.0) / (3.0 * DEFAULT_BETA + 1.0);
    let agree = topic * word + (1.0 - topic) / 3.0;
    for (draws, expected) in [(first, 1.0 / 3.0), (same, agree)] {
        let n = draws.len() as f64;
        let found = draws.iter().sum::<f64>() / n;
        let error = (expected * (1.0 - expected) / n).sqrt();
        assert!((found - expected).abs() < 4.0 * error, "{found} {expected}");
    }
}

/// Sparse topics have few words in effect, and words are as frequent as the topics say.
#[test]
fn synthetic_documents_are_of_their_topics() {
    let shape = SyntheticShape {
        topics: 4,
        vocabulary: 50,
        documents: 3000,
        length: 20.0,
        alpha: 0.2,
        beta: 0.05,
    };
    let drawn = Synthetic::draw(shape, &mut stream(3, 0, Purpose::Data));
    for k in 0..4 {
        let own = drawn.phi.iter().skip(k).step_by(4);
        assert!((own.clone().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(own.filter(|&&p| p > 0.01).count() < 20);
    }
    let words: usize = drawn.documents.iter().map(Vec::len).sum();
    assert!((words as f64 / 3000.0 - 20.0).abs() < 4.0 * (20.0_f64 / 3000.0).sqrt());
    let mut shares = [0.0; 50];
    for &word in drawn.documents.iter().flatten() {
        shares[word as usize] += 1.0 / words as f64;
    }
    // Topics are equally frequent, up to the spread of documents' shares, α-variance 3/16/(4·0.2 + 1) each.
    let error = 4.0 * (3.0 / 16.0 / 1.8 / 3000.0_f64).sqrt() * 2.0;
    for (w, share) in shares.iter().enumerate() {
        let expected: f64 = drawn.phi[w * 4..][..4].iter().sum::<f64>() / 4.0;
        assert!(
            (share - expected).abs() < error + 0.002,
            "{w}: {share} {expected}"
        );
    }
}
