//! The pane of energies: how far they spread, and how far one step changes them.

use eframe::egui::Ui;

use super::curves::{self, Key, Memo};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable, name_line, no_curve_ui, paint_words};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::YAxis;
use crate::ui::plots::lines::{LinesData, NamedLine, lines_ui};
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::number;
use ergodic_core::samplers::energy_column;
use ergodic_diagnostics::Missing;
use ergodic_diagnostics::energy::{EBFMI_LIMIT, Energies};
use ergodic_diagnostics::sentence::rounded_down;

/// Draws per chain from which a density says something.
const LEAST_DRAWS: usize = 20;

/// Energies of Hamiltonian trajectories.
#[derive(Default)]
pub(super) struct Energy {
    energies: Memo<Option<Result<Energies, Missing>>>,
}

impl Pane for Energy {
    const ID: &'static str = "energy";
    const TITLE: &'static str = "Energy";
    const ICON: char = icons::CHART_LINE_UP;
    const ABOUT: &'static str = "Spread of the energy, and of its changes from draw to draw";
    const HOME: Home = Home::Right;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        match energy_column(&of.entry.info_names()) {
            Some(_) => Ok(()),
            None => Err("This sampler reports no energies; NUTS and HMC do"),
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        let line = name_line(ui);
        let Some(column) = energy_column(&of.entry.info_names()) else {
            return;
        };
        if !of.has_draws(ui, LEAST_DRAWS) {
            return;
        }
        // The same for all variables.
        let key = Key {
            variable: 0,
            ..of.key
        };
        let found = (self.energies).get(ui, key, || Some(curves::energies(of.run, column)));
        match found {
            Some(Ok(energies)) => {
                let words = words(energies);
                paint_words(ui, line, "energy", &words, None);
                energies_ui(ui, energies, &words);
            }
            Some(Err(why)) => no_curve_ui(ui, "energy", *why),
            None => {}
        }
    }
}

/// The fractions of all chains, and what is wanted.
fn words(energies: &Energies) -> String {
    let fractions = energies
        .ebfmi
        .iter()
        .map(|fraction| fraction.map_or_else(|| number::NOT_AVAILABLE.to_owned(), rounded_down));
    let fractions: Vec<String> = fractions.collect();
    format!(
        "E-BFMI {}; want at least {}",
        fractions.join("  "),
        number::fixed(EBFMI_LIMIT, 1)
    )
}

fn energies_ui(ui: &mut Ui, energies: &Energies, words: &str) {
    let p = Palette::of(ui);
    let lines = [
        NamedLine {
            name: "energy less its mean",
            points: &energies.marginal,
            color: p.posterior,
            dash: &[],
        },
        NamedLine {
            name: "change from draw to draw",
            points: &energies.transitions,
            color: p.accent,
            dash: &tokens().dash.prior,
        },
    ];
    let data = LinesData {
        id: "energy",
        lines: &lines,
        x: None,
        x_title: "energy",
        y_axis: YAxis::None,
        limit: None,
        summary: &format!("Densities of the energy and of its changes; {words}"),
    };
    let height = ui.available_height();
    lines_ui(ui, p, data, height);
}
