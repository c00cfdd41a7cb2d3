//! Latent Dirichlet allocation: documents mix topics, and topics are probabilities of words.
//!
//! θ_d ~ Dir(α), φ_k ~ Dir(β); each word of document d has a topic z ~ θ_d and is a word ~ φ_z. Rows of long data are words of
//! documents (`~ word + (1 | document)`), or different words with their counts (`~ word + count + (1 | document)`); order within
//! a document tells nothing.
//!
//! | reported | meaning | prior |
//! |---|---|---|
//! | `perplexity` | of words of documents held out, if some are ([`corpus`]) | |
//! | `breadth` | mean over topics of exp H(φ_k), the number of words in effect | by β |
//! | `divergence` | Jensen-Shannon divergence of topics, 0 where all are the same, ln K where none share a word | by β |
//!
//! | prior | of | default, that of the paper |
//! |---|---|---|
//! | `alpha` | shares of topics in a document: dirichlet(α) | dirichlet(0.1) |
//! | `beta` | probabilities of words in a topic: dirichlet(β) | dirichlet(0.5) |
//!
//! Sources: Blei, Ng and Jordan (2003); Baker, Fearnhead, Fox and Nemeth (2018), section 5.1 and appendix E.3. Identifiability:
//! numbers of topics mean nothing, so only what does not depend on them is reported, and samplers of topics work on [`Corpus`]
//! ([`Posterior::Topics`]).

use std::sync::Arc;

use super::prior_text::PriorError;
use super::translation::{Context, Translation};
use super::{
    ChosenBy, Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws, ParamInfo, Posterior,
    PriorSource, PriorSpec, Simulation, Template,
};
use crate::design::{Design, ResponseUse};
use ergodic_base::ChainRng;
use ergodic_base::settings::{Declared as _, Field};

pub mod corpus;
mod described;
pub mod document;
mod reading;
mod simulate;
mod synthetic;

pub use corpus::Corpus;
use reading::Documents;
pub use synthetic::{Synthetic, SyntheticShape};

/// Id of the template.
const TEMPLATE: &str = "topics";
/// α and β, where the user sets none: those of the paper for SCIR and for Gibbs sampling.
const DEFAULT_ALPHA: f64 = 0.1;
const DEFAULT_BETA: f64 = 0.5;
/// The form of the priors, for people.
const FORM: &str = "dirichlet(a) with a above 0";

ergodic_base::settings! {
    /// Settings of [`TopicModel`].
    struct TopicSettings {
        topics: usize = Field::int("Topics", 2, 10_000, Some(10))
            .help("K, the number of topics; it is not learnt, so compare the perplexity of several")
            .why("few enough to be read one by one; large collections have a hundred and more");
        held_out: f64 = Field::real("Share held out", 0.0, 0.9, Some(0.0))
            .help(
                "Share of documents that take no part; half of the words of each are shown, and how well the others are predicted is \
                 reported as perplexity",
            )
            .why("all documents take part");
    }
}

/// The template `topics`.
pub(crate) struct TopicModel;

impl Template for TopicModel {
    const SPEC: ModelSpec = ModelSpec {
        id: TEMPLATE,
        title: "Topics of documents",
        about: "What documents are about: topics as probabilities of words, and documents that mix them",
        fields: TopicSettings::FIELDS,
        response: |_settings| ResponseUse::Absent,
        priors: PriorSpec {
            classes: &[
                ("alpha", "Shares of topics in a document"),
                ("beta", "Probabilities of words in a topic"),
            ],
            check: |text| Ok(concentration_of(text).map(|_concentration| ())?),
            forms: FORM,
            example: "dirichlet(0.1)",
        },
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        let documents = reading::documents(&design, options, &Priors::read(options)?)?;
        Ok(Arc::new(TopicsOfDocuments {
            params: params(&documents.corpus),
            documents,
        }))
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let priors = Priors::read(context.options)?;
        let documents = reading::documents(context.design, context.options, &priors)?;
        Ok(described::describe(context, &documents))
    }
}

/// a of the text `dirichlet(a)`.
fn concentration_of(text: &str) -> Result<f64, PriorError> {
    super::categorical::concentration_of(text, FORM)
}

/// Priors in force.
struct Priors {
    alpha: f64,
    beta: f64,
}

impl Priors {
    fn read(options: &ModelOptions) -> Result<Self, ModelError> {
        options.check_priors(TopicModel::SPEC.priors.classes, &[])?;
        let of = |key: &str, default: f64| match options.prior(key) {
            Some(text) => concentration_of(text),
            None => Ok(default),
        };
        Ok(Self {
            alpha: of("alpha", DEFAULT_ALPHA)?,
            beta: of("beta", DEFAULT_BETA)?,
        })
    }
}

/// A corpus and its reported summaries.
struct TopicsOfDocuments {
    params: Vec<ParamInfo>,
    documents: Documents,
}

impl Corpus {
    /// The model of documents that are not rows of a table.
    pub fn into_model(self) -> Arc<dyn Model> {
        Arc::new(TopicsOfDocuments {
            params: params(&self),
            documents: Documents {
                corpus: self,
                of_row: Vec::new(),
                word: "word".to_owned(),
                counts: None,
            },
        })
    }
}

/// The reported quantities, in the order of [`Corpus::report`].
fn params(corpus: &Corpus) -> Vec<ParamInfo> {
    let info = |name: &str, meaning: &str, prior: &str, source: &PriorSource| ParamInfo {
        name: name.into(),
        meaning: meaning.to_owned(),
        prior: prior.into(),
        prior_source: source.clone(),
    };
    let words = "the Dirichlet prior of each topic's words gives it one";
    let (by, source) = ("by beta", &PriorSource::new(ChosenBy::Model, words));
    let score = &PriorSource::new(ChosenBy::Model, "a score").at("not a parameter");
    let perplexity = (corpus.num_held_out() > 0).then(|| {
        info(
            "perplexity",
            "of the words scored of documents held out: as many words that are equally likely would be as hard to guess",
            "",
            score,
        )
    });
    let others = [
        info(
            "breadth",
            "words in effect that a topic has, exp of the entropy of its probabilities, mean of all topics",
            by,
            source,
        ),
        info(
            "divergence",
            "Jensen-Shannon divergence of the topics in nats: 0 where all are the same",
            by,
            source,
        ),
    ];
    perplexity.into_iter().chain(others).collect()
}

impl Model for TopicsOfDocuments {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Topics(&self.documents.corpus)
    }

    fn rows_held_out(&self) -> usize {
        self.documents.rows_held_out()
    }

    fn simulation(&self) -> Option<&dyn Simulation> {
        Some(self)
    }
}

impl Simulation for TopicsOfDocuments {
    fn values_per_row(&self) -> usize {
        1 + usize::from(self.documents.counts.is_some())
    }

    fn draw_all(
        &self,
        rng: &mut ChainRng,
        u: &mut [f64],
        values: &mut [f64],
    ) -> Result<(), NoPriorDraws> {
        let corpus = &self.documents.corpus;
        if corpus.num_held_out() > 0 {
            return Err(NoPriorDraws::DocumentsHeldOut);
        }
        let counts = self.documents.counts.as_ref();
        if counts.is_some_and(|counts| counts.of_row.iter().any(|&count| count > 1)) {
            return Err(NoPriorDraws::CountedWords);
        }
        let width = self.values_per_row();
        let levels = counts.map_or(&[][..], |counts| &counts.levels);
        for (values, level) in values.chunks_exact_mut(width).zip(levels) {
            values[1] = f64::from(*level);
        }
        simulate::draw(corpus, &self.documents.of_row, rng, u, |row, word| {
            values[row * width] = word as f64;
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
