//! The pane of what the sampler reports: a row for each of its columns, and the trace of the selected one with its warm-up,
//! in which step sizes, acceptance and the like can be watched while they are tuned.

use eframe::egui::{
    Rect, Response, Role, ScrollArea, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::curves::{self, InfoLine, Key, Memo};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use super::words;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::{ChainFilter, TraceCache, TraceChain, TraceData, TraceSpan, trace_ui};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, number, paint};
use ergodic_base::numerals::plural;
use ergodic_core::engine::ChainView;
use ergodic_core::engine::gradients::is_gradient;
use ergodic_core::oracle::GradientNoise;
use ergodic_core::samplers::{CRITERION_OF_COMPONENTS, DIVERGENT};

/// Height of a row.
const ROW: f32 = 40.0;
/// Least height of a trace that can be read.
const TRACE_LEAST: f32 = 96.0;
/// Share of the pane that the trace takes.
const TRACE_SHARE: f32 = 0.45;
/// Differences of this size relative to the value are rounding: thousands of units in the last place.
const ROUNDING: f64 = 1e-12;

/// What the sampler reports.
#[derive(Default)]
pub(super) struct Info {
    lines: Memo<Vec<InfoLine>>,
    noise: Memo<Option<GradientNoise>>,
    trace: TraceCache,
    selected: usize,
}

impl Pane for Info {
    const ID: &'static str = "sampler";
    const TITLE: &'static str = "Sampler";
    const ICON: char = icons::GAUGE;
    const ABOUT: &'static str = "What the sampler reports with its draws";
    const HOME: Home = Home::Right;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, _out: &mut Outbox) {
        info_ui(ui, of, views.span, &views.filter, self);
    }
}

fn info_ui(ui: &mut Ui, of: &Variable<'_>, span: TraceSpan, filter: &ChainFilter, view: &mut Info) {
    let mut names = of.entry.info_names();
    // Components of gradients are no doings of the sampler; they stand last.
    names.retain(|name| !is_gradient(name));
    if names.is_empty() {
        let text = "This sampler reports nothing besides its draws";
        widgets::empty_state(ui, icons::GAUGE, text, None);
        return;
    }
    if of.key.version == 0 {
        let text = "What the sampler reports appears here with the first iteration";
        widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, text, None);
        return;
    }
    view.selected = view.selected.min(names.len() - 1);
    // The same for all variables.
    let key = Key {
        variable: 0,
        ..of.key
    };
    let height = (TRACE_SHARE * ui.available_height()).floor();
    if height >= TRACE_LEAST {
        let name = &names[view.selected];
        let ends = words::warmup_ends(of.entry, of.run);
        let chains: Vec<TraceChain<'_>> = (of.run.chains.iter().zip(ends))
            .map(|(chain, end)| TraceChain::of_info(&chain.draws, end))
            .collect();
        let summary = format!("Trace of what the sampler reports as {name}");
        let data = TraceData {
            run: of.entry.id,
            version: key.version,
            chains: &chains,
            column: view.selected,
            divergent: None,
            thin: 1,
            summary: &summary,
        };
        let colors = Palette::of(ui);
        ui.push_id("info-trace", |ui| {
            trace_ui(
                ui,
                colors,
                &data,
                span,
                filter,
                &mut view.trace,
                (None, height),
            );
        });
    }
    let lines = (view.lines).get(ui, key, || curves::info_lines(of.run, names.len()));
    let help = of.entry.sampler().map_or(&[][..], |spec| spec.info);
    let mut selected = view.selected;
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            for (k, (name, line)) in names.iter().zip(lines).enumerate() {
                let about = help.iter().find(|column| column.name == name);
                let about = about.map_or("", |column| column.help);
                if row_ui(ui, name, about, line, selected == k).clicked() {
                    selected = k;
                }
            }
            // Draws do not change it.
            let key = Key { version: 1, ..key };
            let noise = (view.noise).get(ui, key, || of.entry.gradient_noise());
            if let Some(noise) = noise {
                noise_ui(ui, noise);
            }
            criterion_ui(ui, of);
        });
    view.selected = selected;
}

/// The noise of gradients from minibatches, plain and with control variates.
fn noise_ui(ui: &mut Ui, noise: &GradientNoise) {
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x2], |ui| {
        widgets::heading(ui, &noise.title());
        let text = format!(
            "Summed over {} and in the noisiest one, in {}",
            plural(noise.dim, "direction"),
            GradientNoise::UNITS
        );
        widgets::hint(ui, &text);
        for (name, size) in noise.sizes() {
            let numbers = [size.trace, size.largest].map(|value| number::significant(value, 2));
            widgets::value_row(ui, name, &numbers.join("   "));
        }
        let share = format!("{}%", number::significant(100.0 * noise.share(), 2));
        widgets::value_row(ui, "what control variates leave of the sum", &share);
    });
}

/// The criterion of each component in each chain, with what is to be expected of it.
fn criterion_ui(ui: &mut Ui, of: &Variable<'_>) {
    fn ratios(chain: &ChainView) -> &[f64] {
        chain.numbers_called(CRITERION_OF_COMPONENTS)
    }
    if of.run.chains.iter().all(|chain| ratios(chain).is_empty()) {
        return;
    }
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x2], |ui| {
        widgets::heading(ui, "OSGFS criterion by component");
        let text = "Recent mean gradient over its expected size, chain by chain; at convergence a component is at most 1 \
                    about 73 times in 100, so single values above 1 are no alarm";
        widgets::hint(ui, text);
        for (component, name) in of.entry.variables().iter().enumerate() {
            let ratio = |chain: &ChainView| {
                let ratio = chain
                    .numbers_called(CRITERION_OF_COMPONENTS)
                    .get(component)
                    .copied();
                ratio.map_or_else(
                    || number::NOT_AVAILABLE.to_owned(),
                    |ratio| number::significant(ratio, 2),
                )
            };
            let ratios: Vec<String> = of.run.chains.iter().map(ratio).collect();
            widgets::value_row(ui, name, &ratios.join("   "));
        }
    });
}

/// Name and meaning, a small trace, mean and range of one information column.
fn row_ui(ui: &mut Ui, name: &str, help: &str, line: &InfoLine, selected: bool) -> Response {
    let t = tokens();
    let colors = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    if selected {
        ui.painter().rect_filled(rect, 0.0, colors.accent_soft);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 0.0, colors.bg_hover);
    }
    paint::focus_ring_inside(ui, &response, rect);
    let value = match (line.mean, line.range) {
        _ if name == DIVERGENT => format!("{} of the kept draws", number::integer(line.sum as u64)),
        (Some(mean), Some((low, high))) if is_constant(low, high) => number::significant(mean, 3),
        (Some(mean), Some((low, high))) => format!(
            "{}, {} to {}",
            number::significant(mean, 3),
            number::significant(low, 3),
            number::significant(high, 3)
        ),
        _ => number::NOT_AVAILABLE.to_owned(),
    };
    response.widget_info(|| {
        WidgetInfo::selected(
            Role::RadioButton,
            true,
            selected,
            format!("{name}: {value}"),
        )
    });
    let inner = rect.shrink2(vec2(t.space.x3, 0.0));
    let top = inner.top() + 12.0;
    let galley = paint::line(
        ui,
        &value,
        Text::Number,
        colors.text_primary,
        inner.width() / 2.0,
    );
    let right = paint::right_center(ui.painter(), inner.right(), top, galley).left();
    let spark = Rect::from_min_max(
        pos2(inner.right() - 120.0, inner.top() + 22.0),
        pos2(inner.right(), inner.bottom() - 2.0),
    );
    let galley = paint::line(
        ui,
        name,
        Text::Code,
        colors.text_primary,
        right - inner.left(),
    );
    paint::left_center(ui.painter(), inner.left(), top, galley);
    let room = (spark.left() - t.space.x3 - inner.left()).max(0.0);
    let galley = paint::line(ui, help, Text::Caption, colors.text_secondary, room);
    paint::left_center(ui.painter(), inner.left(), inner.top() + 29.0, galley);
    if let Some((low, high)) = line
        .trace
        .iter()
        .map(|point| (point[1], point[1]))
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    {
        let last = line.trace.last().map_or(1.0, |point| point[0]).max(1.0);
        let points = line
            .trace
            .iter()
            .map(|&[x, y]| {
                let level = if is_constant(low, high) {
                    0.5
                } else {
                    (y - low) / (high - low)
                };
                pos2(
                    spark.left() + (x / last) as f32 * spark.width(),
                    spark.bottom() - level as f32 * spark.height(),
                )
            })
            .collect();
        let stroke = Stroke::new(t.stroke.trace, colors.accent);
        ui.painter().add(Shape::line(points, stroke));
    }
    paint::hair_below(ui, rect);
    if help.is_empty() {
        return response;
    }
    response.on_hover_text(format!(
        "{help}. Mean, then smallest and largest over the kept draws of all chains; the line shows means along the run"
    ))
}

/// Whether a column varies by no more than rounding does.
fn is_constant(low: f64, high: f64) -> bool {
    high - low <= ROUNDING * low.abs().max(high.abs())
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DataCommand, DraftChange};
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::page_harness;

    #[test]
    fn noise_of_minibatch_gradients_stands_beside_what_control_variates_leave_of_it() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Sampler("sgld-cv".to_owned()));
        session.run(1, 20, 60);
        let place = session.state.runs[0].place().unwrap().to_owned();
        let live = session.state.runs[0].gradient_noise().unwrap();
        assert!(live.control_variates.trace < live.plain.trace);
        // What the folder holds is the same, to the last digit.
        session.send(DataCommand::Open(place));
        assert_eq!(
            session.state.selected().unwrap().gradient_noise(),
            Some(live)
        );
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(vec2(1280.0, 1800.0));
        harness.run_steps(3);
        harness
            .get_by_role_and_label(Role::Tab, "Sampler")
            .click_accesskit();
        harness.run_steps(3);
        harness.get_by_label(&live.title());
        let left = number::significant(100.0 * live.share(), 2);
        harness.get_by_label(&format!("what control variates leave of the sum: {left}%"));
    }

    #[test]
    fn rounding_is_not_variation() {
        assert!(is_constant(0.3, 0.3) && is_constant(0.1 + 0.2, 0.3) && is_constant(0.0, 0.0));
        assert!(!is_constant(0.3, 0.3001) && !is_constant(-1e-9, 1e-9));
    }
}
