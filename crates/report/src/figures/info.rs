//! What the sampler reports with each draw: its columns in the order of the draws, chain by chain.

use super::trace::{COLUMNS_PER_POINT, in_order};
use super::{FigureEntry, Trouble, chain_keys, columns_for, roomy};
use crate::figure::{Axis, Figure, POINTS_PER_MM, Panel, Swatch};
use crate::{Chains, Needs};
use ergodic_core::samplers;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "info",
    title: "Sampler columns",
    about: "What the sampler reports with each kept draw, such as energy, acceptance and step size, in the order of the draws of each \
            chain; run folders have none of it from the warm-up",
    needs: Needs::Info,
    make,
    ..FigureEntry::ORDINARY
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let wanted = chains.inputs().map_or(&[][..], |inputs| &inputs.info);
    let names = chains.info_names();
    let mut figure = Figure::new(ENTRY.id, String::new());
    let across = columns_for(wanted.len());
    let points = (figure.width_mm * POINTS_PER_MM / across as f64 * COLUMNS_PER_POINT) as usize;
    let mut shown = Vec::new();
    for &column in wanted {
        let name = names[column].as_str();
        let Some(panel) = panel(chains, column, points) else {
            let note = format!("`{name}` is not defined at any draw");
            figure.note(note);
            continue;
        };
        figure.panels.push(Some(panel));
        shown.push(name);
    }
    figure.title = match shown[..] {
        [] => {
            return Err(Trouble::Nothing(
                "its sampler reports nothing with its draws that has a number",
            ));
        }
        [name] => format!("Sampler column `{name}`"),
        _ => format!("{} columns of the sampler", shown.len()),
    };
    if let [name] = shown[..] {
        figure.notes.extend(meaning(chains, name));
    }
    figure.columns = columns_for(shown.len());
    figure.panel_height = 72.0;
    figure.legend = chain_keys(chains, Swatch::Dense);
    figure.note("Kept draws, without the warm-up");
    if chains.longest() > 2 * points {
        figure.note(format!(
            "Of each of {points} stretches of the draws the smallest and the largest value are drawn"
        ));
    }
    Ok(figure)
}

/// What the sampler of the run says of a column.
fn meaning(chains: &Chains<'_>, name: &str) -> Option<String> {
    let entry = samplers::find(chains.sampler()?)?;
    let mut columns = entry.spec.info.iter();
    let found = columns.find(|column| column.name == name)?;
    Some(format!("`{name}`: {}", found.help))
}

/// The values of a column in all chains, at most twice as many as `points`; `None` where none is finite.
fn panel(chains: &Chains<'_>, column: usize, points: usize) -> Option<Panel> {
    let name = chains.info_names()[column].as_str();
    let mut panel = in_order(chains, name, &chains.info(column), points);
    let range = panel.extent().y;
    range.0.is_finite().then(|| {
        panel.y = Axis::numbers("", roomy(range));
        panel
    })
}
