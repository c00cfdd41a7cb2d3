//! Where outcomes lie in their predictive distributions.

use super::{Compares, FigureEntry, OtherShown, Takes, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "loo-pit",
    title: "Check: LOO-PIT",
    about: "Whether the places of outcomes in their predictive distributions, each without its row, are uniform",
    takes: Takes::NONE,
    needs: Needs::Check,
    other: OtherShown::Never,
    compares: Compares::Nothing,
    make,
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let check = predictive::check(chains)?;
    let pit = check
        .pit
        .as_ref()
        .ok_or_else(|| predictive::missing(check))?;
    Ok(predictive::figure(ENTRY.id, &pit.drawn()))
}
