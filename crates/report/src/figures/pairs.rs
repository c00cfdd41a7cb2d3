//! Draws of two parameters against each other.

use super::{Compares, FigureEntry, Takes, Trouble, chain_keys, chain_name, roomy, trouble};
use crate::Chains;
use crate::figure::{Axis, Figure, Ink, Key, Line, POINTS_PER_MM, Panel, Points, Sign, Swatch};
use ergodic_base::numerals::ordinal;
use ergodic_diagnostics::contours::{MASSES, regions};
use ergodic_diagnostics::{Missing, weights};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "pairs",
    title: "Pairs",
    about: "Draws of two parameters against each other, with contours of their joint density that hold 50 % and 90 % of the draws; crosses end \
            divergent transitions, and where there are some the two parameters that go most along with them are drawn if none is named",
    takes: Takes::of(2, 2, 2),
    compares: Compares::Pair,
    make,
    ..FigureEntry::ORDINARY
};

/// Points of all chains; more would lie over each other.
const MOST: usize = 3000;
/// Width in millimetres: a column of a page.
const WIDTH_MM: f64 = 85.0;
/// Height of the frame over the width of the figure.
const HEIGHT: f64 = 0.72;
/// Thickness of the contours that hold 50 % and 90 % of the draws, in points.
const CONTOURS: [f64; 2] = [1.6, 0.9];

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let names = [parameters[0], parameters[1]].map(|parameter| chains.names()[parameter].as_str());
    let mut figure = Figure::new(
        ENTRY.id,
        format!("Draws of `{}` against `{}`", names[1], names[0]),
    );
    figure.width_mm = WIDTH_MM;
    figure.panel_height = HEIGHT * WIDTH_MM * POINTS_PER_MM;
    figure.legend = chain_keys(chains, Swatch::Point(Sign::Dot));
    let [x, y] = [parameters[0], parameters[1]].map(|parameter| chains.columns(parameter));
    let total: usize = x.iter().map(Vec::len).sum();
    let step = total.div_ceil(MOST).max(1);
    let relative = match weights::relative(chains.weights(), chains.shortest()) {
        Some(Err(missing)) => {
            return Err(trouble(parameters[0])(missing));
        }
        Some(Ok(relative)) => Some(relative),
        None => None,
    };
    let divergent = chains.divergent();
    let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::hidden((0.0, 1.0)));
    let mut crosses = Vec::new();
    let mut negative = Vec::new();
    for (index, &number) in chains.numbers().iter().enumerate() {
        // Weights are known for as many draws as the shortest chain has.
        let length = relative
            .as_ref()
            .map_or(x[index].len(), |_| chains.shortest());
        let weight = |draw: usize| {
            relative
                .as_ref()
                .map(|v| v[index * chains.shortest() + draw])
        };
        let (mut at, mut sizes) = (Vec::new(), Vec::new());
        for draw in 0..length {
            let point = [x[index][draw], y[index][draw]];
            if divergent
                .as_ref()
                .is_some_and(|chains| chains[index].get(draw) == Some(&true))
            {
                crosses.push(point);
            }
            if !draw.is_multiple_of(step) {
                continue;
            }
            match weight(draw) {
                Some(weight) if weight < 0.0 => negative.push((point, -weight)),
                weight => {
                    at.push(point);
                    sizes.extend(weight);
                }
            }
        }
        let dots = Points {
            at,
            sizes,
            sign: Sign::Dot,
        };
        panel.add(chain_name(number), Ink::Chain(number), dots);
    }
    for (words, points) in [
        ("negative weight", {
            let (at, sizes) = negative.into_iter().unzip();
            Points {
                at,
                sizes,
                sign: Sign::Dot,
            }
        }),
        ("divergent", Points::alike(crosses, Sign::Cross)),
    ] {
        if !points.at.is_empty() {
            figure
                .legend
                .push(Key::new(words, Ink::Bad, Swatch::Point(points.sign)));
            panel.add(words, Ink::Bad, points);
        }
    }
    // Weights are known for as many draws as the shortest chain has.
    let most = relative.as_ref().map_or(usize::MAX, |_| chains.shortest());
    let [all_x, all_y] = [&x, &y].map(|columns| -> Vec<f64> {
        let kept = columns.iter().map(|draws| &draws[..draws.len().min(most)]);
        kept.flatten().copied().collect()
    });
    // Few draws, and those of parameters that follow from each other, have no joint density.
    if let Ok(found) = regions([&all_x, &all_y], relative.as_deref(), MASSES) {
        for (region, thickness) in found.into_iter().zip(CONTOURS) {
            for line in region.contours {
                let words = format!("{:.0} % of draws", 100.0 * region.mass);
                panel.add(words, Ink::Posterior, Line::curve(line, thickness));
            }
        }
        figure.legend.push(Key::new(
            "50 % and 90 % of draws",
            Ink::Posterior,
            Swatch::Curve,
        ));
        figure.note(
            "Lines are contours of the joint density of all chains: the thick one holds 50 % of the draws, the thin one 90 %",
        );
    }
    let extent = panel.extent();
    for (range, &parameter) in [extent.x, extent.y].iter().zip(parameters) {
        if !range.0.is_finite() {
            return Err(Trouble::Draws {
                parameter,
                missing: Missing::NotFinite,
            });
        }
    }
    panel.x = Axis::numbers(names[0], roomy(extent.x));
    panel.y = Axis::numbers(names[1], roomy(extent.y));
    figure.panels.push(Some(panel));
    if let Some(worst) = chains.worst_pair()
        && parameters.iter().all(|it| worst.parameters.contains(it))
    {
        let [first, second] = worst.parameters.map(|it| &chains.names()[it]);
        let [far, near] = worst.distances;
        figure.note(format!(
            "Of all pairs this one goes most along with divergent transitions: divergent draws and others differ by a Kolmogorov-Smirnov \
             distance of {far:.2} in `{first}` and of {near:.2} in `{second}`"
        ));
    }
    if step > 1 {
        figure.note(format!(
            "Every {} draw is drawn, and every one that ended a divergent transition",
            ordinal(step)
        ));
    }
    if relative.is_some() {
        figure.note("The area of a dot is the weight of its draw");
    }
    Ok(figure)
}
