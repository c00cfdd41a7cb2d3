//! From a design to documents.

use super::{Corpus, Priors, TEMPLATE, TopicSettings};
use crate::design::{Design, Predictor};
use crate::dp_mixture::counts::{Block, Counts};
use crate::units::{Units, rows_held_out};
use crate::{ModelError, ModelOptions};
use ergodic_base::settings::Declared as _;

/// What a design says of documents.
pub(super) struct Documents {
    pub corpus: Corpus,
    /// Document of each row of the design.
    pub of_row: Vec<u32>,
    /// Name of the column of words.
    pub word: String,
    /// The column of counts, where there is one.
    pub counts: Option<CountsOfWords>,
}

impl Documents {
    /// Rows of documents that take no part.
    pub fn rows_held_out(&self) -> usize {
        rows_held_out(&self.of_row, self.corpus.num_documents())
    }
}

/// The column that says how often words stand in documents.
pub(super) struct CountsOfWords {
    pub name: String,
    /// Count of each row.
    pub of_row: Vec<u32>,
    /// Position of the count of each row among all counts.
    pub levels: Vec<u32>,
}

fn unfit(why: impl Into<String>) -> ModelError {
    ModelError::unfit(TEMPLATE, why)
}

/// The documents of a design, as the options say.
pub(super) fn documents(
    design: &Design,
    options: &ModelOptions,
    priors: &Priors,
) -> Result<Documents, ModelError> {
    if design.group_terms.is_empty() {
        return Err(unfit(
            "needs documents; write `~ word + (1 | document)`, or `~ word + count + (1 | document)` where a column counts words",
        ));
    }
    if design.offset.is_some() {
        return Err(unfit(
            "has no linear predictor that an offset could be added to; leave `offset(…)` out",
        ));
    }
    let (words, counts) = columns(design)?;
    let settings = TopicSettings::read(&options.settings)?;
    let mut units = Units::of(design, TEMPLATE)?;
    // Documents come in the order of their rows, the long ones first.
    if settings.held_out > 0.0 {
        units.shuffle();
    }
    let total = units.names.len();
    let held_out = (settings.held_out * total as f64).floor() as usize;
    let mut tokens: Vec<Vec<u32>> = vec![Vec::new(); total];
    for (row, (&code, &unit)) in words.codes.iter().zip(&units.of_row).enumerate() {
        let count = counts.as_ref().map_or(1, |counts| counts.of_row[row]);
        tokens[unit as usize].extend(std::iter::repeat_n(code, count as usize));
    }
    if total - held_out < 2 {
        return Err(ModelError::Data(format!(
            "Topics need at least two documents and there {} {} of {total} after `model.held_out`; use more documents",
            if total - held_out == 1 { "is" } else { "are" },
            total - held_out,
        )));
    }
    if tokens[..total - held_out].iter().all(Vec::is_empty) {
        return Err(ModelError::Data(
            "All counts of words are 0, so that there is nothing to read; use another column of counts".to_owned(),
        ));
    }
    let vocabulary = Block {
        name: words.name.to_owned(),
        items: 0..words.levels.len(),
        levels: words.levels.to_vec(),
        concentration: priors.beta,
    };
    let corpus = Corpus::new(
        total,
        Counts::new(vec![vocabulary], &tokens),
        settings.topics,
        priors.alpha,
        held_out,
    );
    Ok(Documents {
        corpus,
        of_row: units.of_row,
        word: words.name.to_owned(),
        counts,
    })
}

/// The columns of words and of counts; in long data every column is one of categories.
fn columns(design: &Design) -> Result<(Words<'_>, Option<CountsOfWords>), ModelError> {
    let mut all = design.columns.iter().map(|(name, column)| match column {
        Predictor::Categorical { levels, codes, .. } => Ok((name, levels, codes)),
        _ => Err(unfit(format!(
            "takes columns as they are; write the column itself instead of `{name}`"
        ))),
    });
    let Some(words) = all.next().transpose()? else {
        return Err(unfit(
            "needs a column of words; write `~ word + (1 | document)`",
        ));
    };
    let (name, levels, codes) = words;
    if let [only] = levels.as_slice() {
        return Err(ModelError::Data(format!(
            "Column `{name}` has the single word `{only}`, so it cannot tell topics apart; use another column"
        )));
    }
    let words = Words {
        name,
        levels,
        codes,
    };
    let counts = all.next().transpose()?;
    if let Some(third) = all.next().transpose()? {
        return Err(unfit(format!(
            "takes a column of words and one of counts, but the formula also has `{}`; leave it out",
            third.0
        )));
    }
    let counts = counts.map(|(name, levels, codes)| CountsOfWords::read(name, levels, codes));
    Ok((words, counts.transpose()?))
}

/// The column of words.
struct Words<'a> {
    name: &'a str,
    levels: &'a [String],
    /// Word of each row.
    codes: &'a [u32],
}

impl CountsOfWords {
    fn read(name: &str, levels: &[String], codes: &[u32]) -> Result<Self, ModelError> {
        let number = |level: &String| {
            level.parse::<u32>().map_err(|_wrong| {
                ModelError::Data(format!(
                    "Column `{name}` counts the words of the column before it, but has the value `{level}`; use whole numbers that are \
                     not negative, or leave it out"
                ))
            })
        };
        let numbers: Vec<u32> = levels.iter().map(number).collect::<Result<_, _>>()?;
        Ok(Self {
            name: name.to_owned(),
            of_row: codes.iter().map(|&code| numbers[code as usize]).collect(),
            levels: codes.to_vec(),
        })
    }
}
