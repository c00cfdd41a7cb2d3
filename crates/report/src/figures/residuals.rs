//! Mean residuals along predictors and in groups.

use super::{Compares, FigureEntry, Takes, Trouble, columns_for, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "residuals",
    title: "Check: residuals",
    about: "Mean residuals along each predictor and in each group, with the 90 % range of replicated data",
    takes: Takes::NONE,
    needs: Needs::Check,
    compares: Compares::Nothing,
    make,
};

/// Height of a level in points.
const ROW: f64 = 11.0;

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let check = predictive::check(chains)?;
    if check.residuals.is_empty() {
        return Err(Trouble::Nothing(predictive::CENSORED));
    }
    let title = format!("Mean residuals of {}", check.response.name);
    let mut figure = Figure::new(ENTRY.id, title);
    figure.columns = columns_for(check.residuals.len());
    figure.panel_height = 100.0;
    for residuals in &check.residuals {
        let drawing = check.residuals_drawn(residuals);
        if let Some(levels) = &drawing.levels {
            let rows = ROW * levels.len() as f64;
            figure.panel_height = figure.panel_height.max(rows);
        }
        let mut panel = predictive::panel(&drawing);
        panel.title = format!("{}, {}", residuals.along.name(), residuals.p_in_words());
        figure.panels.push(Some(panel));
        figure.legend = predictive::legend(&drawing);
    }
    figure.notes.push(
        "Dots are means of outcomes less what is expected, over rows that are alike in one column; lines are the central 90 % of such \
         means in replicated data"
            .to_owned(),
    );
    Ok(figure)
}
