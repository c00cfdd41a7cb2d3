//! Realised shares of yes along predictors and in groups, over predicted probabilities.

use super::{FigureEntry, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "shares",
    title: "Check: shares by predictor",
    about: "Realised shares of yes along each predictor and in each group, over predicted probabilities with the 90 % range of \
            replicated data; --bins says how many bins numbers have",
    needs: Needs::Check,
    make,
    ..FigureEntry::ORDINARY
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let check = predictive::check(chains)?;
    if !check.is_of_shares() {
        return Err(Trouble::Nothing(
            "the outcomes are not yes or no; `residuals` is for others",
        ));
    }
    let title = format!(
        "Realised shares of {} over predicted probabilities",
        check.response.name
    );
    let mut figure = predictive::by_column((ENTRY.id, title), check, |residuals| {
        check.shares_drawn(residuals)
    });
    figure.note(
        "Dots are realised shares of rows that are alike in one column, the line their mean predicted probability; thick lines are \
         the central 90 % of such shares in replicated data",
    );
    Ok(figure)
}
