//! Negative binomial counts with more zeros, see [`zero_inflated`](super::zero_inflated): those that are not extra zeros have a mean μ
//! with the logarithm z and the variance μ + μ²/shape.
//!
//! Default priors: that of the shape is as without extra zeros; that of their chance is beta(1, 1), as in brms. Few data tell a small
//! shape from many extra zeros.

use super::negative_binomial::{self, NegativeBinomialCounts, SHAPE};
use super::notation::Notation;
use super::rows::FamilyRows;
use super::zero_inflated::{Inflated, InflatedRows, ZI, inflated, stan_function};
use super::{Definition, FamilyError};
use crate::design::Design;

pub(super) const DEFINITION: Definition = Definition {
    id: "zero_inflated_negative_binomial",
    title: "Zero-inflated negative binomial",
    kind: "Zero-inflated negative binomial",
    about: "counts that vary more, with more zeros",
    quantity: "log of the expected, extra zeros left out,",
    auxiliaries: &[SHAPE, ZI],
    ..negative_binomial::DEFINITION
};

/// Negative binomial counts with more zeros.
pub type Outcome = Inflated<negative_binomial::Outcome>;

pub(super) fn rows(
    design: &Design,
) -> Result<FamilyRows<InflatedRows<NegativeBinomialCounts>>, FamilyError> {
    negative_binomial::rows(design).map(inflated)
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        predicted: format!("The logarithm of the expected `{name}` where it is no extra zero"),
        given: format!(
            "With chance `zi` `{name}` is 0, otherwise it is a negative binomial count, whose variance is mean + mean²/`shape`."
        ),
        response: vec![
            format!(
                "{name}[i] = 0 with chance zi, else {name}[i] ~ neg_binomial_2(mu[i], shape), with variance \
                 mu[i] + mu[i]²/shape"
            ),
            "log(mu[i]) = eta[i]".to_owned(),
        ],
        stan_functions: stan_function(
            "zero_inflated_neg_binomial_2_log",
            "neg_binomial_2_log",
            &["shape"],
        ),
        stan_density: "zero_inflated_neg_binomial_2_log",
        stan_arguments: vec!["eta[]".to_owned(), "shape".to_owned(), "zi".to_owned()],
        brms_family: "zero_inflated_negbinomial()",
        ..negative_binomial::notation(design)
    }
}
