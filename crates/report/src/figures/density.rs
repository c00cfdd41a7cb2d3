//! Where the draws lie: each chain, and all together.

use super::{
    Compares, FigureEntry, Takes, Trouble, chain_keys, chain_name, columns_for, title, trouble,
};
use crate::figure::{Axis, Band, Figure, Ink, Key, Line, Panel, Swatch};
use crate::{Chains, Needs};
use ergodic_diagnostics::density::density;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "density",
    title: "Density",
    about: "Where the draws lie, each chain and all together, with the central 90 % interval",
    takes: Takes {
        least: 1,
        most: 24,
        unasked: 6,
    },
    needs: Needs::Draws,
    compares: Compares::Nothing,
    make,
};

/// Probability below zero cut off from a curve that is worth a note.
const CLIPPED: f64 = 0.005;
/// What the density of a posterior that is known in closed form is called.
const EXACT: &str = "exact";

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
    figure.legend = chain_keys(chains, Swatch::Curve);
    figure.legend.insert(
        0,
        Key {
            words: "all chains".to_owned(),
            ink: Ink::Posterior,
            swatch: Swatch::Curve,
        },
    );
    let weights: Vec<&[f64]> = chains.weights().iter().map(Vec::as_slice).collect();
    let (mut clipped, mut is_exact) = (0.0_f64, false);
    for &parameter in parameters {
        let columns = chains.columns(parameter);
        let parts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        // First the range of the draws, then a wider one, so that the curve comes down to the axis at both ends.
        let first = density(&parts, &weights, None).map_err(trouble(parameter))?;
        let pad = 3.0 * first.bandwidth;
        let ends = [first.x.first(), first.x.last()].map(|end| end.copied().unwrap_or_default());
        let range = (ends[0] - pad, ends[1] + pad);
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
        for (index, (part, &number)) in parts.iter().zip(chains.numbers()).enumerate() {
            let weights = weights.get(index).map_or(&[][..], std::slice::from_ref);
            // A chain that stands still has no density of its own.
            if let Ok(curve) = density(&[part], weights, Some(range)) {
                let line = Line::curve(points(&curve.x, &curve.y), 0.8);
                panel.add(chain_name(number), Ink::Chain(number), line);
            }
        }
        let line = Line::curve(points(&all.x, &all.y), 1.5);
        panel.add("all chains", Ink::Posterior, line);
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
        figure.legend.push(Key {
            words: EXACT.to_owned(),
            ink: Ink::Threshold,
            swatch: Swatch::Curve,
        });
    }
    figure
        .notes
        .push("The area is the central 90 % interval".to_owned());
    if !weights.is_empty() {
        figure
            .notes
            .push("Each draw counts as much as its weight".to_owned());
    }
    if clipped > CLIPPED {
        figure.notes.push(format!(
            "Of a curve, {:.0} % that negative weights put below zero are cut off",
            100.0 * clipped
        ));
    }
    Ok(figure)
}
