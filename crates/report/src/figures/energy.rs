//! How far energies spread, and how far one step changes them.

use super::{FigureEntry, Trouble, roomy};
use crate::Chains;
use crate::figure::{Axis, Figure, Ink, Key, Line, Panel, Swatch};
use ergodic_base::numerals::fixed;
use ergodic_diagnostics::energy::{EBFMI_LIMIT, Energies};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "energy",
    title: "Energy",
    about: "Spread of the energy, and of its changes from draw to draw, with E-BFMI of each chain",
    make,
    ..FigureEntry::ORDINARY
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let energies = chains.energies();
    let energies = energies.ok_or(Trouble::Nothing(
        "its sampler reports no energies; NUTS and HMC do",
    ))?;
    let energies = Energies::of(energies).map_err(|_missing| {
        Trouble::Nothing("its energies have no density: they are too few, constant or not finite")
    })?;
    let mut figure = Figure::new(
        ENTRY.id,
        "Energy and its changes from draw to draw".to_owned(),
    );
    figure.panel_height = 130.0;
    let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::hidden((0.0, 1.0)));
    for (words, ink, points) in [
        ("energy less its mean", Ink::Posterior, &energies.marginal),
        (
            "change from draw to draw",
            Ink::Threshold,
            &energies.transitions,
        ),
    ] {
        panel.add(words, ink, Line::curve(points.clone(), 1.5));
        figure.legend.push(Key::new(words, ink, Swatch::Curve));
    }
    let extent = panel.extent();
    panel.x = Axis::numbers("energy", roomy(extent.x));
    panel.y.range = (0.0, 1.05 * extent.y.1);
    figure.panels.push(Some(panel));
    let fractions = energies.ebfmi.iter();
    let fractions: Vec<String> = fractions
        .map(|it| it.map_or_else(|| "not known".to_owned(), |fraction| fixed(fraction, 2)))
        .collect();
    figure.note(format!(
        "E-BFMI of the chains: {}; at least {} is wanted",
        fractions.join(", "),
        fixed(EBFMI_LIMIT, 1)
    ));
    Ok(figure)
}
