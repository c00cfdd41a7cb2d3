//! Draws projected on the largest and the smallest principal component.

use super::{
    Compares, FigureEntry, OtherShown, Takes, Trouble, chain_keys, chain_name, other, roomy,
    trouble,
};
use crate::Chains;
use crate::figure::{Axis, Figure, Ink, Key, Line, POINTS_PER_MM, Panel, Points, Sign, Swatch};
use ergodic_base::numerals::{fixed, ordinal};
use ergodic_diagnostics::joint::{Components, Projected, Trouble as Unfit};
use ergodic_diagnostics::weights;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "components",
    title: "Principal components",
    about: "Draws projected on the largest and the smallest principal component, with ellipses at 3 standard deviations; --with draws \
            the ellipse of another run",
    takes: Takes::of(2, 200, 100),
    other: OtherShown::WhereNamed,
    compares: Compares::Draws,
    make,
    ..FigureEntry::ORDINARY
};

/// Points of all chains; more would lie over each other.
const MOST: usize = 3000;
/// Width in millimetres: a column of a page.
const WIDTH_MM: f64 = 100.0;
/// Height of the frame over the width of the figure.
const HEIGHT: f64 = 0.72;

/// The draws of `of` on the components of `chains`, or those of their own.
fn projected(
    components: Option<&Components>,
    of: &Chains<'_>,
    parameters: &[usize],
) -> Result<(Components, Projected), Trouble> {
    let relative = weights::relative(of.weights(), of.shortest()).transpose();
    let relative = relative.map_err(trouble(parameters[0]))?;
    let unfit = |it: Unfit| Trouble::Draws {
        parameter: parameters[it.place],
        missing: it.missing,
    };
    let components = match components {
        Some(components) => components.clone(),
        None => Components::of(of.lists(), parameters, relative.as_deref()).map_err(unfit)?,
    };
    let projected = components.project(of.lists(), parameters, relative.as_deref());
    Ok((components, projected.map_err(unfit)?))
}

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let (components, own) = projected(None, chains, parameters)?;
    let title = format!(
        "Draws of {} parameters on two principal components",
        parameters.len()
    );
    let mut figure = Figure::new(ENTRY.id, title);
    figure.width_mm = WIDTH_MM;
    figure.panel_height = HEIGHT * WIDTH_MM * POINTS_PER_MM;
    figure.legend = chain_keys(chains, Swatch::Point(Sign::Dot));
    let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::hidden((0.0, 1.0)));
    let step = own.points.len().div_ceil(MOST).max(1);
    let mut points = own.points.iter();
    for (list, &number) in chains.lists().iter().zip(chains.numbers()) {
        let length = match chains.weights().is_empty() {
            true => list.len(),
            false => chains.shortest(),
        };
        let at = points
            .by_ref()
            .take(length)
            .step_by(step)
            .copied()
            .collect();
        let dots = Points::alike(at, Sign::Dot);
        panel.add(chain_name(number), Ink::Chain(number), dots);
    }
    let other = other(chains, parameters)?;
    let name = (other.as_ref()).map_or("this run", |(of, ..)| of.names[0].as_str());
    panel.add(name, Ink::Posterior, Line::curve(own.ellipse, 1.5));
    figure
        .legend
        .push(Key::new(name, Ink::Posterior, Swatch::Curve));
    if let Some((of, other, theirs)) = other {
        let (_, found) = projected(Some(&components), &other, &theirs).map_err(|_trouble| {
            Trouble::Nothing("the draws of the other run are too few or not finite")
        })?;
        let name = of.names[1].as_str();
        panel.add(name, Ink::Bad, Line::curve(found.ellipse, 1.5));
        figure.legend.push(Key::new(name, Ink::Bad, Swatch::Curve));
    }
    let extent = panel.extent();
    let all = parameters.len() as f64;
    let share = |variance: f64| fixed(100.0 * variance / all, 1);
    let [largest, smallest] = components.variances.map(share);
    let axis = |name: &str, share: &str, range| {
        Axis::numbers(format!("{name} component, {share} %"), roomy(range))
    };
    panel.x = axis("largest", &largest, extent.x);
    panel.y = axis("smallest", &smallest, extent.y);
    figure.panels.push(Some(panel));
    figure.note(
        "Components are those of the parameters in units of their posterior standard deviations, with their share of the variance; \
         ellipses are 3 standard deviations from the mean",
    );
    if step > 1 {
        figure.note(format!("Every {} draw of a chain is drawn", ordinal(step)));
    }
    Ok(figure)
}
