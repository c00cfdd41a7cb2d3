//! Observed shares along predicted probabilities.

use super::{Compares, FigureEntry, Takes, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "calibration",
    title: "Check: calibration",
    about: "Observed shares along predicted probabilities, in the band of calibrated predictions",
    takes: Takes::NONE,
    needs: Needs::Check,
    compares: Compares::Nothing,
    make,
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let drawing = predictive::check(chains)?.calibration_drawn();
    let why = "the outcomes are not yes or no; `ecdf` is for numbers, `rootogram` for counts";
    let drawing = drawing.ok_or(Trouble::Nothing(why))?;
    Ok(predictive::figure(ENTRY.id, &drawing))
}
