//! The course of the search for the posterior's mode.

use eframe::egui::Ui;

use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::reporting::Picture;
use crate::app::{PathCommand, Product, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::convergence::Wants;
use crate::ui::plots::{ConvergenceRow, ConvergenceSpan, convergence_ui};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{self, Button, number};
use ergodic_core::estimators::{GOOD_ENOUGH, Search};

/// Smallest value on the logarithmic axes: below it is rounding. The number beside the curve is the value itself.
const FLOOR: f64 = 1e-8;

/// How the mode was found.
#[derive(Default)]
pub(super) struct Mode;

impl Pane for Mode {
    const ID: &'static str = "peak";
    const TITLE: &'static str = "Mode";
    const ICON: char = icons::CHART_LINE_UP;
    const ABOUT: &'static str = "How the maximum of the posterior was found";
    const HOME: Home = Home::Right;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        mode_pane(ui, of.entry, out);
    }
}

fn mode_pane(ui: &mut Ui, entry: &RunEntry, out: &mut Outbox) {
    let Some(search) = entry.mode() else {
        let text = "The posterior's mode was not found, or nothing was recorded about it";
        widgets::empty_state(ui, icons::CHART_LINE_UP, text, None);
        return;
    };
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        widgets::sentence_line(ui, &search.sentence(), Text::Caption, true);
        let save = Button::new("Save as a picture…")
            .small()
            .icon(icons::CHART_LINE);
        if ui.add(save).clicked() {
            let picture = Picture {
                figure: "mode",
                variable: 0,
            };
            out.send(PathCommand::Pick(Product::Picture(entry.id, picture)));
        }
    });
    let [gradient, gap] = search.courses(FLOOR);
    let last = search.trace.last();
    let row = |title, want: String, limit, selected, exact| ConvergenceRow {
        title,
        want,
        limit,
        wants: Wants::AtMost,
        floor: 0.0,
        log: true,
        selected,
        others: &[],
        format: |value| number::significant(value, 2),
        past: VerdictKind::Watch,
        exact,
    };
    let want = |limit| format!("want at most {}", number::significant(limit, 1));
    let rows = [
        row(
            "Gradient, in sd",
            want(GOOD_ENOUGH),
            GOOD_ENOUGH,
            &gradient[..],
            last.map(|point| point.gradient_norm),
        ),
        row(
            "Below the mode, in nats",
            want(Search::GAP),
            Search::GAP,
            &gap[..],
            gap.last().map(|_| 0.0),
        ),
    ];
    let span = ConvergenceSpan {
        warmup: 0.0,
        end: search.passes,
        x_title: "passes over the data",
    };
    let height = ui.available_height();
    convergence_ui(ui, Palette::of(ui), &rows, span, None, height);
}
