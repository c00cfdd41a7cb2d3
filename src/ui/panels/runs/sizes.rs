//! The pane of effective sample sizes across the distribution of the selected variable.

use eframe::egui::Ui;

use super::curves::{self, Memo};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable, name_line, no_curve_ui, paint_name};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::YAxis;
use crate::ui::plots::lines::{LinesData, NamedLine, lines_ui};
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::number;
use ergodic_diagnostics::{Across, INTERVALS, Missing};

/// Draws per chain from which effective sample sizes of intervals say something.
const LEAST_DRAWS: usize = 20;

/// Effective sample sizes of quantiles and of small intervals.
#[derive(Default)]
pub(super) struct Sizes {
    across: Memo<Option<Result<Across, Missing>>>,
}

impl Pane for Sizes {
    const ID: &'static str = "ess";
    const TITLE: &'static str = "ESS";
    const ICON: char = icons::CHART_LINE;
    const ABOUT: &'static str = "Effective sample sizes of quantiles and of small intervals";
    const HOME: Home = Home::Above;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        let line = name_line(ui);
        if !of.has_draws(ui, LEAST_DRAWS) {
            paint_name(ui, line, of, None);
            return;
        }
        let found = (self.across).get(ui, of.key, || {
            Some(curves::across(of.entry, of.run, of.index))
        });
        match found {
            Some(Ok(across)) => {
                let read_out = across_ui(ui, of, across);
                paint_name(ui, line, of, read_out.as_deref());
            }
            Some(Err(why)) => {
                paint_name(ui, line, of, None);
                no_curve_ui(ui, of.name, *why);
            }
            None => {}
        }
    }
}

/// Shows both curves; gives what the pointer reads.
fn across_ui(ui: &mut Ui, of: &Variable<'_>, across: &Across) -> Option<String> {
    let p = Palette::of(ui);
    let points = |sizes: &[Option<f64>], first: f64| -> Vec<[f64; 2]> {
        let sizes = sizes.iter().enumerate();
        sizes
            .map(|(k, size)| {
                let place = (k as f64 + first) / INTERVALS as f64;
                [place, size.unwrap_or(f64::NAN)]
            })
            .collect()
    };
    // Of intervals the middle.
    let (quantiles, local) = (points(&across.quantiles, 1.0), points(&across.local, 0.5));
    let lines = [
        NamedLine {
            name: "quantiles",
            points: &quantiles,
            color: p.posterior,
            dash: &[],
        },
        NamedLine {
            name: "intervals of 5%",
            points: &local,
            color: p.accent,
            dash: &tokens().dash.prior,
        },
    ];
    let ess = of.report.limits.ess();
    let least = (across.quantiles.iter().chain(&across.local))
        .flatten()
        .copied()
        .reduce(f64::min);
    let wanted = format!("want at least {}", number::ess(ess));
    let least = least.map_or_else(|| number::NOT_AVAILABLE.to_owned(), number::ess);
    let data = LinesData {
        id: "ess",
        lines: &lines,
        x: Some((0.0, 1.0)),
        x_title: "probability below",
        y_axis: YAxis::Linear,
        limit: Some((ess, &wanted)),
        summary: &format!(
            "Effective sample sizes of {} by quantile; the smallest is {least}",
            of.name
        ),
    };
    let height = ui.available_height();
    let at = lines_ui(ui, p, data, height).hover?.x;
    let share = INTERVALS as f64 * at.clamp(0.0, 1.0);
    let size = |sizes: &[Option<f64>], at: f64| {
        let size = sizes.get(at.max(0.0) as usize).copied().flatten();
        size.map_or_else(|| number::NOT_AVAILABLE.to_owned(), number::ess)
    };
    let place = share.round().clamp(1.0, INTERVALS as f64 - 1.0);
    Some(format!(
        "{:.0}% quantile: {}   interval: {}",
        100.0 * place / INTERVALS as f64,
        size(&across.quantiles, place - 1.0),
        size(&across.local, share.min(INTERVALS as f64 - 1.0))
    ))
}
