//! Clusters of a mixture: how often units were together, and where a further unit would lie.

use std::sync::Arc;

use super::{FigureEntry, Trouble, columns_for, roomy};
use crate::Chains;
use crate::figure::{Axis, Band, Cells, Figure, Ink, Key, Line, Panel, Swatch};
use ergodic_base::numerals::plural;
use ergodic_base::numerals::significant;
use ergodic_core::engine::found::clusters::predictive::Predictive;
use ergodic_core::engine::found::clusters::{Clusters, Pairs};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "clusters",
    title: "Clusters",
    about: "How often units of a mixture were in one cluster, in the order of the point partition, and the predictive density of each numeric \
            column with its 90 % band over the histogram of the data",
    make,
    ..FigureEntry::ORDINARY
};

/// Most rows of the matrix: of more units, neighbours are put together.
const MOST_ROWS: usize = 100;
/// Height of a panel: about a square beside another one.
const HEIGHT: f64 = 200.0;
/// Width in millimetres where the matrix stands alone: a column of a page.
const ALONE_MM: f64 = 85.0;

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let clusters: Arc<Clusters> = chains.found().get().ok_or(Trouble::Nothing(
        "only mixtures have clusters, and the run is of none",
    ))?;
    let densities = &clusters.densities;
    let title = match densities.is_empty() {
        true => "How often units were in one cluster",
        false => "How often units were in one cluster, and where a further unit would lie",
    };
    let mut figure = Figure::new(ENTRY.id, title.to_owned());
    figure.panel_height = HEIGHT;
    figure.columns = columns_for(1 + densities.len());
    if densities.is_empty() {
        figure.width_mm = ALONE_MM;
    } else {
        figure.legend = vec![
            Key::new("predictive density", Ink::Posterior, Swatch::Curve),
            Key::new("data", Ink::Muted, Swatch::Curve),
        ];
    }
    let (cells, together) = matrix(&clusters);
    let side = cells.names.len() as f64;
    let axis = |range| Axis {
        range,
        ..Axis::hidden((0.0, 1.0))
    };
    let mut panel = Panel::new("units by cluster", axis((0.0, side)), axis((side, 0.0)));
    panel.add("together", Ink::Posterior, cells);
    figure.panels.push(Some(panel));
    let densities = densities.iter().map(|it| Some(density(it)));
    figure.panels.extend(densities);
    figure.note(format!(
        "The point partition has {}, with a mean variation of information of {} from {}",
        plural(clusters.profiles.len(), "cluster"),
        significant(clusters.distance, 2),
        plural(clusters.draws, "draw")
    ));
    figure.note(
        "A cell is the darker the larger the share of draws in which two units were together; full colour is always",
    );
    if together > 1 {
        figure.note(format!(
            "Each cell is the mean over up to {together} × {together} units"
        ));
    }
    if !clusters.densities.is_empty() {
        figure.note("Areas are the central 90 % of the densities of draws");
    }
    Ok(figure)
}

/// Shares of common clusters, small enough to draw, and how many neighbours stand together in a row.
fn matrix(clusters: &Clusters) -> (Cells, usize) {
    let Pairs { units, shares } = &clusters.pairs;
    let n = units.len();
    let together = n.div_ceil(MOST_ROWS).max(1);
    let blocks: Vec<Vec<usize>> = (0..n)
        .step_by(together)
        .map(|from| (from..n.min(from + together)).collect())
        .collect();
    let unit = |k: usize| {
        let name = clusters.units.get(units[k] as usize);
        name.cloned().unwrap_or_default()
    };
    let name = |block: &Vec<usize>| match block.as_slice() {
        [one] => unit(*one),
        [first, .., last] => format!("{} … {}", unit(*first), unit(*last)),
        [] => String::new(),
    };
    let mean = |rows: &[usize], columns: &[usize]| {
        let pairs = rows
            .iter()
            .flat_map(|i| columns.iter().map(move |j| i * n + j));
        let sum: f64 = pairs
            .filter_map(|k| shares.get(k))
            .map(|&it| f64::from(it))
            .sum();
        sum / (rows.len() * columns.len()) as f64
    };
    let cells = Cells {
        names: blocks.iter().map(name).collect(),
        shares: (blocks.iter())
            .flat_map(|rows| blocks.iter().map(|columns| mean(rows, columns)))
            .collect(),
    };
    (cells, together)
}

/// The predictive density of a column over the histogram of the data.
fn density(of: &Predictive) -> Panel {
    let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::hidden((0.0, 1.0)));
    let ends = of.low.iter().zip(&of.high);
    let points = of.x.iter().zip(ends);
    let points = points.map(|(&x, (&low, &high))| [x, low, high]).collect();
    panel.add("90 % band", Ink::Band, Band { points });
    let bars = of.edges.windows(2).zip(&of.heights);
    let steps = bars.flat_map(|(edges, &height)| [[edges[0], height], [edges[1], height]]);
    panel.add("data", Ink::Muted, Line::curve(steps.collect(), 0.8));
    let curve = of.x.iter().zip(&of.mean).map(|(&x, &y)| [x, y]);
    panel.add(
        "predictive density",
        Ink::Posterior,
        Line::curve(curve.collect(), 1.5),
    );
    let extent = panel.extent();
    panel.x = Axis::numbers(of.column.as_str(), roomy(extent.x));
    let (low, high) = roomy((0.0, extent.y.1));
    panel.y = Axis::hidden((low.max(0.0), high));
    panel
}
