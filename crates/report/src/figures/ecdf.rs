//! The distribution function of observed numbers over that of replicated ones.

use super::{Compares, FigureEntry, Takes, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "ecdf",
    title: "Check: distribution function",
    about: "The distribution function of observed numbers in the band of those that the model makes",
    takes: Takes::NONE,
    needs: Needs::Check,
    compares: Compares::Nothing,
    make,
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let drawing = predictive::check(chains)?.ecdf_drawn();
    let why = "the outcomes are no numbers; `rootogram` is for counts, `calibration` for yes or no";
    let drawing = drawing.ok_or(Trouble::Nothing(why))?;
    Ok(predictive::figure(ENTRY.id, &drawing))
}
