//! The topic model in other notations. Stan has no discrete unknowns, so that its program sums over the topic of each word.

use super::reading::Documents;
use crate::translation::{Context, NoTranslation, Program, Translation, comment, number};

pub(super) fn describe(context: &Context<'_>, documents: &Documents) -> Translation {
    Translation {
        words: words(context, documents),
        equation: equation(documents),
        stan: Ok(stan(context, documents)),
        brms: Err(NoTranslation::Absent(
            "brms has mixtures of regressions, but no topic models, in which each word of a document has a topic of its own",
        )),
    }
}

fn words(context: &Context<'_>, documents: &Documents) -> String {
    let corpus = &documents.corpus;
    let mut text = format!(
        "Each of {} documents mixes {} topics in shares of its own, with a Dirichlet prior of parameter {} for each topic; every topic \
         has probabilities of its own for the {} words of `{}`, with a Dirichlet prior of parameter {} for each word.",
        corpus.num_documents(),
        corpus.num_topics(),
        number(corpus.alpha()),
        corpus.vocabulary(),
        documents.word,
        number(corpus.beta()),
    );
    if let Some(counts) = &documents.counts {
        text.push_str(&format!(
            " Column `{}` says how often a word stands in a document.",
            counts.name
        ));
    }
    if corpus.num_held_out() > 0 {
        text.push_str(&format!(
            " {} more documents are held out: half of the words of each are shown, and the others are predicted.",
            corpus.num_held_out()
        ));
    }
    format!("{text} {}", context.rows_but(documents.rows_held_out()))
}

fn equation(documents: &Documents) -> String {
    let corpus = &documents.corpus;
    let (topics, word) = (corpus.num_topics(), &documents.word);
    [
        format!("{word}[i] ~ categorical(phi[z[i]])"),
        "z[i] ~ categorical(theta[d[i]]), d[i] the document of row i".to_owned(),
        format!(
            "theta[d] ~ dirichlet({}) for {topics} topics",
            number(corpus.alpha())
        ),
        format!(
            "phi[k] ~ dirichlet({}) for {} words, k = 1 … {topics}",
            number(corpus.beta()),
            corpus.vocabulary()
        ),
        format!("i = 1 … {}", documents.of_row.len()),
    ]
    .join("\n")
}

fn stan(context: &Context<'_>, documents: &Documents) -> String {
    let corpus = &documents.corpus;
    let (topics, vocabulary) = (corpus.num_topics(), corpus.vocabulary());
    let group = context.design.groups.first();
    let times = if documents.counts.is_some() {
        "n[i] * "
    } else {
        ""
    };
    let mut program = Program {
        notes: vec![
            "Topics have no order, so chains disagree about their numbers: compare only what does not depend on these."
                .to_owned(),
        ],
        data: vec![
            "int<lower=1> N;  // rows".to_owned(),
            format!(
                "int<lower=1> M;  // levels of {}",
                comment(group.map_or("document", |group| &group.name))
            ),
            "array[N] int<lower=1, upper=M> doc;".to_owned(),
            format!(
                "array[N] int<lower=1, upper={vocabulary}> word;  // {}",
                comment(&documents.word)
            ),
        ],
        parameters: vec![
            format!("array[M] simplex[{topics}] theta;  // shares of topics"),
            format!("array[{topics}] simplex[{vocabulary}] phi;  // probabilities of words"),
        ],
        model: vec![
            "for (d in 1:M) {".to_owned(),
            format!(
                "  theta[d] ~ dirichlet(rep_vector({}, {topics}));",
                number(corpus.alpha())
            ),
            "}".to_owned(),
            format!("for (k in 1:{topics}) {{"),
            format!(
                "  phi[k] ~ dirichlet(rep_vector({}, {vocabulary}));",
                number(corpus.beta())
            ),
            "}".to_owned(),
            "for (i in 1:N) {".to_owned(),
            format!("  vector[{topics}] lp = log(theta[doc[i]]);"),
            format!("  for (k in 1:{topics}) {{"),
            "    lp[k] += log(phi[k][word[i]]);".to_owned(),
            "  }".to_owned(),
            format!("  target += {times}log_sum_exp(lp);"),
            "}".to_owned(),
        ],
        ..Program::default()
    };
    if let Some(counts) = &documents.counts {
        program.data.push(format!(
            "array[N] int<lower=0> n;  // {}",
            comment(&counts.name)
        ));
    }
    program.text()
}
