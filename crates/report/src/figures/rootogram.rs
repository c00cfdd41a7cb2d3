//! How often every count occurs, and how often the model expects it.

use super::{Compares, FigureEntry, Takes, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "rootogram",
    title: "Check: rootogram",
    about: "How often every count occurs beside how often the model expects it, as square roots",
    takes: Takes::NONE,
    needs: Needs::Check,
    compares: Compares::Nothing,
    make,
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let drawing = predictive::check(chains)?.rootogram_drawn();
    let why = "the outcomes are no counts; `ecdf` is for numbers, `calibration` for yes or no";
    let drawing = drawing.ok_or(Trouble::Nothing(why))?;
    Ok(predictive::figure(ENTRY.id, &drawing))
}
