//! Where outcomes lie in their predictive distributions.

use super::{FigureEntry, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "loo-pit",
    title: "Check: LOO-PIT",
    about: "Whether the places of outcomes in their predictive distributions, each without its row, are uniform",
    needs: Needs::Check,
    make,
    ..FigureEntry::ORDINARY
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let check = predictive::check(chains)?;
    let pit = check
        .pit
        .as_ref()
        .ok_or_else(|| predictive::missing(check))?;
    Ok(predictive::figure(ENTRY.id, &pit.drawn()))
}
