//! Where the draws lie: each chain, and all together.

use super::{
    FigureEntry, OtherShown, Takes, Trouble, WEIGHTED, chain_keys, chain_name, columns_for, other,
    title, trouble,
};
use crate::Chains;
use crate::figure::{Axis, Band, Figure, Ink, Key, Line, Panel, Swatch};
use ergodic_diagnostics::{Missing, density};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "density",
    title: "Density",
    about: "Where the draws lie, each chain and all together, with the central 90 % interval; --with draws the density of another run over it",
    takes: Takes::of(1, 24, 6),
    other: OtherShown::WhereNamed,
    make,
    ..FigureEntry::ORDINARY
};

/// Probability below zero cut off from a curve that is worth a note.
const CLIPPED: f64 = 0.005;
/// What the density of a posterior that is known in closed form is called.
const EXACT: &str = "exact";

/// Why there is no density of the other run.
const OTHER_UNFIT: &str = "the draws of the other run are too few, all the same or not finite";

/// The range of draws, and further on so that their density comes down to the axis at both ends.
fn reach(parts: &[&[f64]], weights: &[&[f64]]) -> Result<(f64, f64), Missing> {
    let first = density(parts, weights, None)?;
    let pad = 3.0 * first.bandwidth;
    let ends = [first.x.first(), first.x.last()].map(|end| end.copied().unwrap_or_default());
    Ok((ends[0] - pad, ends[1] + pad))
}

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let mut figure = Figure::new(
        ENTRY.id,
        format!(
            "Posterior {}",
            title("density", "densities", chains, parameters)
        ),
    );
    figure.columns = columns_for(parameters.len());
    figure.panel_height = 80.0;
    let other = other(chains, parameters)?;
    let all_chains = match &other {
        None => "all chains",
        Some((of, ..)) => of.names[0].as_str(),
    };
    figure.legend = vec![Key::new(all_chains, Ink::Posterior, Swatch::Curve)];
    match &other {
        None => figure.legend.extend(chain_keys(chains, Swatch::Curve)),
        Some((of, ..)) => figure
            .legend
            .push(Key::new(&of.names[1], Ink::Bad, Swatch::Curve)),
    }
    let weights: Vec<&[f64]> = chains.weights().iter().map(Vec::as_slice).collect();
    let (mut clipped, mut is_exact) = (0.0_f64, false);
    for (place, &parameter) in parameters.iter().enumerate() {
        let columns = chains.columns(parameter);
        let parts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let mut range = reach(&parts, &weights).map_err(trouble(parameter))?;
        let theirs = other.as_ref().map(|(_, chains, places)| {
            let columns = chains.columns(places[place]);
            let weights: Vec<&[f64]> = chains.weights().iter().map(Vec::as_slice).collect();
            let parts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let (low, high) = reach(&parts, &weights).map_err(|_missing| OTHER_UNFIT)?;
            range = (range.0.min(low), range.1.max(high));
            density(&parts, &weights, Some(range)).map_err(|_missing| OTHER_UNFIT)
        });
        let theirs = theirs.transpose().map_err(Trouble::Nothing)?;
        let all = density(&parts, &weights, Some(range)).map_err(trouble(parameter))?;
        clipped = clipped.max(all.clipped);
        let points = |x: &[f64], y: &[f64]| -> Vec<[f64; 2]> {
            x.iter().zip(y).map(|(&x, &y)| [x, y]).collect()
        };
        let name = chains.names()[parameter].as_str();
        let mut panel = Panel::new(name, Axis::numbers("", range), Axis::hidden((0.0, 1.0)));
        if let Some(row) = chains.summary(parameter)
            && let (Some(low), Some(high)) = (row.q5, row.q95)
        {
            let inside = |point: &[f64; 2]| (low..=high).contains(&point[0]);
            let area = points(&all.x, &all.y).into_iter().filter(inside);
            let area = area.map(|[x, y]| [x, 0.0, y]).collect();
            panel.add("90 % interval", Ink::Band, Band { points: area });
        }
        // Two runs are told apart more easily without their chains.
        let numbered = parts.iter().zip(chains.numbers()).enumerate();
        for (index, (part, &number)) in numbered.filter(|_chain| other.is_none()) {
            let weights = weights.get(index).map_or(&[][..], std::slice::from_ref);
            // A chain that stands still has no density of its own.
            if let Ok(curve) = density(&[part], weights, Some(range)) {
                let line = Line::curve(points(&curve.x, &curve.y), 0.8);
                panel.add(chain_name(number), Ink::Chain(number), line);
            }
        }
        let line = Line::curve(points(&all.x, &all.y), 1.5);
        panel.add(all_chains, Ink::Posterior, line);
        if let (Some(curve), Some((of, ..))) = (&theirs, &other) {
            clipped = clipped.max(curve.clipped);
            let line = Line::curve(points(&curve.x, &curve.y), 1.5);
            panel.add(of.names[1].as_str(), Ink::Bad, line);
        }
        if let Some(marginal) = chains.marginal(parameter) {
            let exact = all.x.iter().map(|&x| [x, marginal.density(x)]);
            let exact = exact.filter(|point| point[1].is_finite()).collect();
            panel.add(EXACT, Ink::Threshold, Line::curve(exact, 1.2));
            is_exact = true;
        }
        panel.y.range = (0.0, 1.05 * panel.extent().y.1);
        figure.panels.push(Some(panel));
    }
    if is_exact {
        figure
            .legend
            .push(Key::new(EXACT, Ink::Threshold, Swatch::Curve));
    }
    figure.note(format!(
        "The area is the central 90 % interval{}",
        match &other {
            None => String::new(),
            Some((of, ..)) => format!(" of {}", of.names[0]),
        }
    ));
    if !weights.is_empty() {
        figure.note(WEIGHTED);
    }
    if clipped > CLIPPED {
        figure.note(format!(
            "Of a curve, {:.0} % that negative weights put below zero are cut off",
            100.0 * clipped
        ));
    }
    Ok(figure)
}
