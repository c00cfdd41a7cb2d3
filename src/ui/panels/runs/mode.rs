//! The course of the search for the posterior's mode.

use eframe::egui::{Frame, Margin, Ui};

use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::RunEntry;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::convergence::Wants;
use crate::ui::plots::{ConvergenceRow, ConvergenceSpan, convergence_ui};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{self, number};
use ergodic_core::estimators::mode::GOOD_ENOUGH;
use ergodic_core::estimators::{Search, TracePoint};

/// Smallest value on the logarithmic axes: below it is rounding. The number beside the curve is the value itself.
const FLOOR: f64 = 1e-8;
/// Log density below the mode, in nats, that no longer matters: that of a tenth of a standard deviation.
const GAP: f64 = 0.5 * GOOD_ENOUGH * GOOD_ENOUGH;

/// How the mode was found.
#[derive(Default)]
pub(super) struct Mode;

impl Pane for Mode {
    const ID: &'static str = "peak";
    const TITLE: &'static str = "Mode";
    const ICON: char = icons::CHART_LINE_UP;
    const ABOUT: &'static str = "How the maximum of the posterior was found";
    const HOME: Home = Home::Right;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        mode_pane(ui, of.entry);
    }
}

fn mode_pane(ui: &mut Ui, entry: &RunEntry) {
    let Some(search) = entry.mode() else {
        let text = "The posterior's mode was not found, or nothing was recorded about it";
        widgets::empty_state(ui, icons::CHART_LINE_UP, text, None);
        return;
    };
    let t = tokens();
    let inset = Margin::symmetric(t.space.x3 as i8, t.space.x1 as i8);
    Frame::NONE.inner_margin(inset).show(ui, |ui| {
        widgets::sentence_line(ui, &search.sentence(), Text::Caption, true);
    });
    let (gradient, gap) = courses(search);
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
            want(GAP),
            GAP,
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

/// Norm of the gradient and distance of the log density from its end, against passes over the data. The start from a
/// subset climbs another density, whose height says nothing.
fn courses(search: &Search) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let top = search.trace.last().map_or(0.0, |point| point.log_density);
    let gap = |point: &TracePoint| [point.passes, (top - point.log_density).max(FLOOR)];
    let gradient = |point: &TracePoint| [point.passes, point.gradient_norm.max(FLOOR)];
    let whole = search
        .trace
        .iter()
        .filter(|point| point.method != "newton-subset");
    (
        search.trace.iter().map(gradient).collect(),
        whole.map(gap).collect(),
    )
}
