//! Poisson counts with more zeros, see [`zero_inflated`](super::zero_inflated): of those that are not extra zeros the logarithm of
//! the mean μ is z.
//!
//! Default prior of the chance of an extra zero: beta(1, 1), as in brms.

use super::notation::Notation;
use super::poisson::{self, PoissonCounts};
use super::rows::FamilyRows;
use super::zero_inflated::{Inflated, InflatedRows, ZI, inflated, stan_function};
use super::{Definition, FamilyError};
use crate::design::Design;

pub(super) const DEFINITION: Definition = Definition {
    id: "zero_inflated_poisson",
    title: "Zero-inflated Poisson",
    kind: "Zero-inflated Poisson",
    about: "counts with more zeros",
    quantity: "log of the expected, extra zeros left out,",
    auxiliaries: &[ZI],
    ..poisson::DEFINITION
};

/// Poisson counts with more zeros.
pub type Outcome = Inflated<poisson::Outcome>;

pub(super) fn rows(
    design: &Design,
) -> Result<FamilyRows<InflatedRows<PoissonCounts>>, FamilyError> {
    poisson::rows(design).map(inflated)
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        predicted: format!("The logarithm of the expected `{name}` where it is no extra zero"),
        given: format!("With chance `zi` `{name}` is 0, otherwise it is a Poisson count."),
        response: vec![
            format!("{name}[i] = 0 with chance zi, else {name}[i] ~ poisson(mu[i])"),
            "log(mu[i]) = eta[i]".to_owned(),
        ],
        stan_functions: stan_function("zero_inflated_poisson_log", "poisson_log", &[]),
        stan_density: "zero_inflated_poisson_log",
        stan_arguments: vec!["eta[]".to_owned(), "zi".to_owned()],
        brms_family: "zero_inflated_poisson()",
        ..poisson::notation(design)
    }
}
