//! The Kaplan-Meier curve of censored numbers over that of replicated ones.

use super::{Compares, FigureEntry, Takes, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "survival",
    title: "Check: Kaplan-Meier curve",
    about: "The share of censored numbers above each value in the band of those that the model makes",
    takes: Takes::NONE,
    needs: Needs::Check,
    compares: Compares::Nothing,
    make,
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let drawing = predictive::check(chains)?.survival_drawn();
    let why = "no outcome is censored; `ecdf` shows numbers that were all seen";
    let drawing = drawing.ok_or(Trouble::Nothing(why))?;
    Ok(predictive::figure(ENTRY.id, &drawing))
}
