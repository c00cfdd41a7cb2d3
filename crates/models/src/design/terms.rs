//! From formula terms to columns of numbers: treatment coding and interactions.
//!
//! A categorical column of K levels becomes K - 1 columns of 0 and 1, all but its reference level, if the term
//! without it is in the model too (for a main effect: the intercept); otherwise all K, because no other term
//! spans them. That is the rule of Wilkinson and Rogers as R applies it.

use std::borrow::Cow;

use super::columns::Labels;
use super::design_term::{DesignTerm, TermPart};
use crate::design::error::{BadLevel, DesignError, LevelCount, TooLarge};
use crate::formula::term_set::TermSet;
use crate::formula::{Factor, Term};

/// Most levels that a categorical predictor may have; beyond it the design would be mostly zeros.
pub const MAX_LEVELS: usize = 1000;

/// Most categories of a column in a model without an outcome, such as items of long data or groups of a model as text: their codes are kept,
/// not columns of zeros, and each is a number or more to draw.
pub(crate) const MAX_ITEMS: usize = 20_000;

/// Most columns that a term may give.
pub(super) const MOST_COLUMNS: usize = 5000;

/// A predictor column restricted to the rows used, n long.
#[derive(Clone, Debug, PartialEq)]
pub enum Predictor {
    /// Numbers.
    Numeric(Vec<f64>),
    /// The columns of a function of a column.
    Function(Vec<Vec<f64>>),
    /// Categories.
    Categorical {
        /// Levels that occur.
        levels: Vec<String>,
        /// Position in `levels` per row.
        codes: Vec<u32>,
        /// Position of the reference level.
        reference: usize,
    },
}

impl Predictor {
    /// The predictor with its rows in another order.
    pub(crate) fn in_order(self, order: &[u32]) -> Self {
        match self {
            Self::Numeric(values) => {
                Self::Numeric(order.iter().map(|&i| values[i as usize]).collect())
            }
            Self::Function(columns) => Self::Function(
                columns
                    .iter()
                    .map(|values| order.iter().map(|&i| values[i as usize]).collect())
                    .collect(),
            ),
            Self::Categorical {
                levels,
                codes,
                reference,
            } => Self::Categorical {
                codes: order.iter().map(|&i| codes[i as usize]).collect(),
                levels,
                reference,
            },
        }
    }
}

/// A column of the design before scaling.
#[derive(Clone, Debug)]
pub(crate) struct RawColumn<'a> {
    /// Name between the brackets of `b[…]`.
    pub term: DesignTerm,
    /// n values.
    pub values: Cow<'a, [f64]>,
}

/// A categorical predictor from labels, with only the levels that occur in `rows`. `name` is for errors.
pub(crate) fn categorical(
    name: &str,
    labels: &Labels,
    rows: &[u32],
    reference: Option<&str>,
    most: usize,
) -> Result<Predictor, DesignError> {
    let mut seen = vec![false; labels.levels.len()];
    for &row in rows {
        seen[labels.codes[row as usize] as usize] = true;
    }
    let kept: Vec<usize> = (0..seen.len()).filter(|&level| seen[level]).collect();
    if kept.len() > most {
        return Err(LevelCount::Predictor {
            name: name.to_owned(),
            found: kept.len(),
            most,
        }
        .into());
    }
    let levels: Vec<String> = kept
        .iter()
        .map(|&level| labels.levels[level].clone())
        .collect();
    let reference = match reference {
        None => 0,
        Some(wanted) => (levels.iter().position(|level| level == wanted)).ok_or_else(|| {
            BadLevel::Reference(name.to_owned(), wanted.to_owned(), levels.clone())
        })?,
    };
    let mut new_code = vec![0_u32; labels.levels.len()];
    for (new, &old) in kept.iter().enumerate() {
        new_code[old] = new as u32;
    }
    let codes = rows
        .iter()
        .map(|&row| new_code[labels.codes[row as usize] as usize])
        .collect();
    Ok(Predictor::Categorical {
        levels,
        codes,
        reference,
    })
}

/// For each factor of each term, whether its levels are coded as contrasts to the reference (`true`) or all.
pub(crate) fn contrasts(
    terms: &[Term],
    intercept: bool,
    is_categorical: impl Fn(&Factor) -> bool,
) -> Vec<Vec<bool>> {
    // The first categorical main effect takes the place of a missing intercept and spans the constant.
    let mut constant_spanned = intercept;
    let all = TermSet::from_iter(terms.iter().cloned());
    terms
        .iter()
        .map(|term| {
            let coded: Vec<bool> = term
                .iter()
                .map(|factor| {
                    let rest: Term = term
                        .iter()
                        .filter(|other| *other != factor)
                        .cloned()
                        .collect();
                    if rest.is_empty() {
                        constant_spanned
                    } else {
                        all.contains(&rest)
                    }
                })
                .collect();
            if term.len() == 1 && is_categorical(&term[0]) {
                constant_spanned = true;
            }
            coded
        })
        .collect()
}

/// The columns of one term: products of its factors, the first factor varying fastest.
pub(crate) fn columns_of<'a>(
    term: &Term,
    predictors: &[&'a Predictor],
    contrasts: &[bool],
) -> Vec<RawColumn<'a>> {
    let mut columns: Vec<RawColumn<'_>> = Vec::new();
    for ((factor, predictor), &contrast) in term.iter().zip(predictors).zip(contrasts) {
        let factor = factor_columns(factor, predictor, contrast);
        columns = if columns.is_empty() {
            factor
        } else {
            let mut products = Vec::with_capacity(columns.len() * factor.len());
            for right in &factor {
                for left in &columns {
                    let values = left
                        .values
                        .iter()
                        .zip(&*right.values)
                        .map(|(a, b)| a * b)
                        .collect();
                    products.push(RawColumn {
                        term: left.term.times(&right.term),
                        values,
                    });
                }
            }
            products
        };
    }
    columns
}

fn factor_columns<'a>(
    factor: &Factor,
    predictor: &'a Predictor,
    contrast: bool,
) -> Vec<RawColumn<'a>> {
    let term = |level: Option<&String>, number| {
        DesignTerm::of(vec![TermPart {
            factor: factor.clone(),
            level: level.cloned(),
            number,
        }])
    };
    match predictor {
        Predictor::Numeric(values) => vec![RawColumn {
            term: term(None, None),
            values: Cow::Borrowed(values),
        }],
        Predictor::Function(columns) => columns
            .iter()
            .enumerate()
            .map(|(j, values)| RawColumn {
                term: term(
                    None,
                    match factor.is_smooth() {
                        // The straight line has the name of the curve, what bends it is numbered.
                        true => (j > 0).then_some(j),
                        // R numbers the columns of a function that gives several.
                        false => (columns.len() > 1).then_some(j + 1),
                    },
                ),
                values: Cow::Borrowed(values),
            })
            .collect(),
        Predictor::Categorical {
            levels,
            codes,
            reference,
        } => (0..levels.len())
            .filter(|level| !(contrast && level == reference))
            .map(|level| RawColumn {
                term: term(Some(&levels[level]), None),
                values: codes
                    .iter()
                    .map(|&code| f64::from(u8::from(code as usize == level)))
                    .collect(),
            })
            .collect(),
    }
}

/// How many columns a term gives.
pub(crate) fn num_columns(predictors: &[&Predictor], contrasts: &[bool]) -> usize {
    predictors
        .iter()
        .zip(contrasts)
        .map(|(predictor, &contrast)| match predictor {
            Predictor::Numeric(_) => 1,
            Predictor::Function(columns) => columns.len(),
            Predictor::Categorical { levels, .. } => levels.len() - usize::from(contrast),
        })
        .product()
}

/// Refuses a term that would give more than a few thousand columns.
pub(crate) fn check_width(term: &Term, num_columns: usize) -> Result<(), TooLarge> {
    match num_columns > MOST_COLUMNS {
        true => Err(TooLarge::Columns(term.clone(), num_columns)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<Term> {
        text.split(' ')
            .map(|term| {
                let names = term.split(':').map(str::to_owned);
                names.map(Factor::Column).collect()
            })
            .collect()
    }

    #[test]
    fn coding_follows_the_margins() {
        let is_factor = |factor: &Factor| factor.column() != "x";
        // With an intercept all factors are contrasts, also in an interaction with its margins.
        assert_eq!(
            contrasts(&terms("f x f:x"), true, is_factor),
            [vec![true], vec![true], vec![true, true]]
        );
        // Without one the first factor has all levels, the second does not.
        assert_eq!(
            contrasts(&terms("f g"), false, is_factor),
            [[false], [true]]
        );
        // x:f without the main effect of x: a slope for every level.
        assert_eq!(
            contrasts(&terms("f f:x"), true, is_factor)[1],
            [false, true]
        );
    }

    #[test]
    fn interactions_multiply_columns_and_names() {
        let f = Predictor::Categorical {
            levels: vec!["a".into(), "b".into(), "c".into()],
            codes: vec![0, 1, 2, 1],
            reference: 1,
        };
        let x = Predictor::Numeric(vec![2.0, 3.0, 5.0, 7.0]);
        let term = terms("f:x").remove(0);
        let columns = columns_of(&term, &[&f, &x], &[true, true]);
        let named: Vec<(&str, &[f64])> = columns
            .iter()
            .map(|c| (c.term.as_str(), &*c.values))
            .collect();
        assert_eq!(
            named,
            [
                ("f=a:x", &[2.0, 0.0, 0.0, 0.0][..]),
                ("f=c:x", &[0.0, 0.0, 5.0, 0.0][..])
            ]
        );
        assert_eq!(num_columns(&[&f, &x], &[true, true]), 2);
    }
}
