//! Blocks whose distribution given all other coordinates has a known form, from which Gibbs sampling draws exactly.

use std::ops::Range;

/// The form of a conditional distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// The log density is quadratic in the block: normal.
    Normal,
    /// Each coordinate u, given all others, those of the block included, has log density a u − b e^{cu} with c = `power`: e^{cu} is a
    /// gamma variable with shape a/c and rate b. A precision sampled as its logarithm has c = 1, a standard deviation −2.
    LogGamma {
        /// c.
        power: f64,
    },
}

/// Coordinates whose conditional distribution has a known form.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownConditional {
    /// The block.
    pub coordinates: Range<usize>,
    /// Form of the conditional, and that of every part of it.
    pub form: Form,
    /// Whether each of its coordinates is independent of all others a posteriori, and every row's log likelihood a sum of functions of
    /// one coordinate each of that form.
    pub independent: bool,
}

/// The form of the conditional of `block` among those that are `known`, where it is part of one.
pub fn form_of(block: &[usize], known: &[KnownConditional]) -> Option<Form> {
    let around = |one: &&KnownConditional| block.iter().all(|j| one.coordinates.contains(j));
    known.iter().find(around).map(|one| one.form)
}

/// The form of the posterior of each of `dim` coordinates among those that are `known`, where all are independent.
pub fn independent_forms(dim: usize, known: &[KnownConditional]) -> Option<Vec<Form>> {
    let form = |j| {
        let mut independent = known.iter().filter(|one| one.independent);
        let found = independent.find(|one| one.coordinates.contains(&j));
        found.map(|one| one.form)
    };
    (0..dim).map(form).collect()
}
