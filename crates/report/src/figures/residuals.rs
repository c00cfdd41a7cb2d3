//! Mean residuals along predictors and in groups.

use super::{FigureEntry, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};
use ergodic_analysis::check::residuals::Residuals;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "residuals",
    title: "Check: residuals",
    about: "Mean residuals along each predictor and in each group, with the 90 % range of replicated data",
    needs: Needs::Check,
    make,
    ..FigureEntry::ORDINARY
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let check = predictive::check(chains)?;
    if check.residuals.is_empty() {
        return Err(predictive::missing(check));
    }
    let title = format!("Mean residuals of {}", check.response.name);
    let drawn = |residuals: &Residuals| Some(check.residuals_drawn(residuals));
    let mut figure = predictive::by_column((ENTRY.id, title), check, drawn);
    figure.note(
        "Dots are means of outcomes less what is expected, over rows that are alike in one column; lines are the central 90 % of such \
         means in replicated data",
    );
    Ok(figure)
}
