//! The summary table: one row per variable, worst first unless sorted otherwise.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::scroll_area::ScrollBarVisibility;
use eframe::egui::{Frame, Id, Margin, Rect, ScrollArea, Stroke, Ui, UiBuilder, vec2};
use egui_extras::Column as Col;

use super::folding::{Item, MANY, items};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use super::summary_columns::{Column, EDGE, ICON, Line, NAME_MIN, NAME_MOST, columns};
use super::table_keys::{Group, Moved, keys_id, keys_ui};
use super::table_layout::{Wish, edge_ui, widths};
use super::words;
use crate::app::{AppState, Command, Depth, RunEntry, correcting};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{
    Side, Tone, head_cell, name_cell, name_chars, name_width, number_cell, table, verdict_cell,
};
use crate::ui::widgets::{self, Chip, Field, Segments, Tab, name, number, paint};
use ergodic_base::param::ParamId;
use ergodic_core::engine::Report;
use ergodic_diagnostics::verdict::{Limits, RHAT_LIMIT};
use ergodic_diagnostics::zero_variance::Order;

/// The order changes at most this often while draws come.
const SETTLE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Sort {
    /// By distance from the limits.
    #[default]
    Worst,
    /// As the model has them.
    Model,
    /// By name.
    Name(bool),
    /// By a column; whether upwards.
    By(Column, bool),
}

/// What the table keeps.
#[derive(Default)]
pub struct SummaryView {
    filter: String,
    sort: Sort,
    order: Vec<Item>,
    /// Variables in the order, folded ones included.
    count: usize,
    /// Groups that are unfolded.
    open: BTreeSet<ParamId>,
    made: Option<Made>,
    /// A row that keys have moved to and that must come into sight.
    scroll_to: Option<usize>,
    /// The filter is to have the focus.
    looked_for: bool,
    /// Where the scrolled columns are to be, because those that stay were scrolled.
    forced: Option<f32>,
    /// Width of the names, once somebody dragged it.
    names: Option<f32>,
    short: Option<ShortNames>,
}

/// The names of a run in a form that fits. Each depends on all others, so they are not made in every frame.
struct ShortNames {
    run: u64,
    rows: usize,
    chars: usize,
    names: Arc<Vec<String>>,
}

impl SummaryView {
    /// Gives the focus to the filter.
    pub fn look_for(&mut self) {
        self.looked_for = true;
    }
}

/// What the present order was made from.
struct Made {
    run: u64,
    filter: String,
    sort: Sort,
    rows: usize,
    draws: usize,
    at: Instant,
}

fn compare(a: Line<'_>, b: Line<'_>, sort: Sort, limits: &Limits) -> Ordering {
    let numbers = |a: Option<f64>, b: Option<f64>, up: bool| match (a, b) {
        (Some(a), Some(b)) if up => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        // What is missing stands last either way.
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    match sort {
        Sort::Worst => limits.distance(b.0).total_cmp(&limits.distance(a.0)),
        Sort::Model => Ordering::Equal,
        Sort::Name(true) => a.0.variable.cmp(&b.0.variable),
        Sort::Name(false) => b.0.variable.cmp(&a.0.variable),
        Sort::By(column, up) => numbers(column.value(a), column.value(b), up),
    }
}

impl SummaryView {
    /// The names of the run's variables in at most `chars` characters each.
    fn short_names(&mut self, entry: &RunEntry, report: &Report, chars: usize) -> Arc<Vec<String>> {
        let (run, rows) = (entry.id, report.summary.len());
        let known = self.short.as_ref();
        if let Some(known) = known.filter(|it| (it.run, it.rows, it.chars) == (run, rows, chars)) {
            return Arc::clone(&known.names);
        }
        let full: Vec<&ParamId> = report.summary.iter().map(|row| &row.variable).collect();
        let names = Arc::new(name::short_names(&full, chars));
        self.short = Some(ShortNames {
            run,
            rows,
            chars,
            names: Arc::clone(&names),
        });
        names
    }

    /// Makes the order anew when something was asked for, or when draws came and nobody is pointing at a row.
    fn arrange(&mut self, ui: &Ui, entry: &RunEntry, report: &Report, pointed: bool) {
        let rows = &report.summary;
        if let Some(made) = &self.made {
            let asked = made.run != entry.id
                || made.filter != self.filter
                || made.sort != self.sort
                || made.rows != rows.len();
            if !asked && made.draws == report.draws_per_chain {
                return;
            }
            let passed = made.at.elapsed();
            if !asked && (pointed || passed < SETTLE) {
                if !pointed {
                    ui.ctx().request_repaint_after(SETTLE - passed);
                }
                return;
            }
        }
        let wanted = self.filter.trim().to_lowercase();
        let mut order: Vec<usize> = (0..rows.len())
            .filter(|&index| {
                wanted.is_empty() || rows[index].variable.to_lowercase().contains(&wanted)
            })
            .collect();
        // What groups have in common comes before what each has of its own, unless that is what is wrong with the run.
        let (sort, limits) = (self.sort, &report.limits);
        order.sort_by(|&a, &b| {
            let own = |index: usize| {
                let row = &rows[index];
                let decides = sort == Sort::Worst && limits.distance(row) > 1.0;
                row.variable.group_effect().is_some() && !decides
            };
            let of = |index| line(entry, report, index);
            let by_sort = || compare(of(a), of(b), sort, limits);
            own(a).cmp(&own(b)).then_with(by_sort)
        });
        self.count = order.len();
        // What was filtered is what was looked for: it is not folded.
        let fold = wanted.is_empty() && order.len() > MANY;
        self.order = items(&order, fold, &self.open, |index| &rows[index].variable);
        self.made = Some(Made {
            run: entry.id,
            filter: self.filter.clone(),
            sort,
            rows: rows.len(),
            draws: report.draws_per_chain,
            at: Instant::now(),
        });
    }

    fn click(&mut self, column: Column) {
        // Measures of trouble begin with the worst.
        let first_up = matches!(
            column,
            Column::EssBulk | Column::EssTail | Column::EssPerSecond
        );
        self.sort = match self.sort {
            Sort::By(old, up) if old == column && up == first_up => Sort::By(column, !up),
            Sort::By(old, _) if old == column => Sort::Worst,
            _ => Sort::By(column, first_up),
        };
    }
}

/// The row of a variable.
fn line<'a>(entry: &'a RunEntry, report: &'a Report, index: usize) -> Line<'a> {
    let corrected = entry.correction.done();
    (
        &report.summary[index],
        corrected.and_then(|corrected| corrected.estimates.rows.get(index)),
    )
}

/// Room from which the choice of estimates has its name before it.
const ESTIMATES: f32 = 60.0;

/// Chooses plain or corrected estimates; while gradients are being computed, says how far they are.
fn correction_ui(ui: &mut Ui, entry: &RunEntry, out: &mut Outbox) {
    let refusal = correcting::refusal(entry);
    let mut order = entry.corrected_by;
    let before = order;
    // From right to left.
    let shown = Segments::new("Estimates by control variates", &mut order)
        .option(None, "Plain")
        .option_unless(Some(Order::Linear), "Linear", refusal)
        .option_unless(Some(Order::Quadratic), "Quadratic", refusal)
        .show(ui);
    if ui.available_width() > ESTIMATES {
        ui.label(Text::Caption.rich("Estimates", Palette::of(ui).text_secondary))
            .on_hover_text("Plain, or corrected by linear or quadratic control variates");
    }
    if let Some(going) = entry.correction.working() {
        let done = format!("{:.0}%", 100.0 * going.fraction().unwrap_or(0.0));
        ui.label(Text::Caption.rich(done, Palette::of(ui).text_secondary));
    } else if let Some(corrected) = entry.correction.done() {
        shown.on_hover_text(corrected.sentence());
    } else {
        shown.on_hover_text(
            "Zero-variance control variates: smaller Monte Carlo errors from the same draws and the gradients at them",
        );
    }
    if order != before {
        out.send(Command::Correct(entry.id, order));
    }
}

/// Shows strip, filter, table and count over the rest of the panel.
pub fn summary_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    report: &Report,
    view: &mut SummaryView,
    out: &mut Outbox,
) {
    let t = tokens();
    let colors = Palette::of(ui);
    let area = ui.available_rect_before_wrap();
    let strip = Rect::from_min_size(area.min, vec2(area.width(), t.size.tab_strip));
    ui.painter().rect_filled(strip, 0.0, colors.bg_strip);
    paint::hair_below(ui, strip);
    ui.horizontal(|ui| {
        ui.add(
            Tab::new("Summary", true)
                .icon(icons::TABLE)
                .fill(colors.bg_surface),
        );
    });
    summary_body_ui(ui, state, entry, report, view, out);
}

/// The table as a pane, where there is no room for the panel at the right.
#[derive(Default)]
pub(super) struct Summary;

impl Pane for Summary {
    const ID: &'static str = "summary";
    const TITLE: &'static str = "Summary";
    const ICON: char = icons::TABLE;
    const ABOUT: &'static str = "Means, intervals and diagnostics of all parameters";
    const HOME: Home = Home::Narrow;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, out: &mut Outbox) {
        let view = &mut views.summary;
        summary_body_ui(ui, of.state, of.entry, of.report, view, out);
    }
}

/// Shows filter, table and count.
fn summary_body_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    report: &Report,
    view: &mut SummaryView,
    out: &mut Outbox,
) {
    let t = tokens();
    let colors = Palette::of(ui);
    if report.summary.is_empty() {
        let text = "The table appears after the warm-up";
        widgets::empty_state(ui, icons::TABLE, text, None);
        return;
    }
    let mut pointed = ui.rect_contains_pointer(ui.available_rect_before_wrap());
    if state.preferences.depth != Depth::Verdict {
        Frame::NONE
            .inner_margin(Margin::symmetric(12, 8))
            .show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = t.space.x2;
                    let width = (ui.available_width() - 101.0).max(80.0);
                    let looked_for = std::mem::take(&mut view.looked_for);
                    let field = Field::new("Filter parameters", &mut view.filter);
                    let field = if looked_for { field.focused() } else { field };
                    field
                        .label_hidden()
                        .icon(icons::FUNNEL)
                        .hint("Filter parameters")
                        .width(width)
                        .show(ui);
                    let worst = view.sort == Sort::Worst;
                    if ui
                        .add(Chip::toggle("Worst first", worst).icon(icons::ARROW_DOWN))
                        .clicked()
                    {
                        view.sort = if worst { Sort::Model } else { Sort::Worst };
                        pointed = false;
                    }
                });
            });
    }
    view.arrange(ui, entry, report, pointed);
    let all = report.summary.len();
    let noun = if all == 1 { "parameter" } else { "parameters" };
    let mut count = format!("{} {noun}", number::integer(all as u64));
    if view.count < all {
        count = format!("{} of {count}", number::integer(view.count as u64));
    }
    if report.weighted {
        count.push_str(", weighted");
    }
    let filtered = view.count < report.summary.len();
    let width = ui.available_width();
    let corrected = entry.correction.done().is_some();
    let longest = report
        .summary
        .iter()
        .map(|row| row.variable.chars().count());
    let depth = state.preferences.depth;
    // A tail that decides must be seen.
    let limits = &report.limits;
    let short_tail = report.summary.iter().any(|row| {
        let tail = row.ess_tail.filter(|tail| *tail < limits.ess());
        tail.is_some_and(|tail| row.ess_bulk.is_none_or(|bulk| tail < bulk))
            && (limits.decides)(row)
    });
    let asked = (corrected, short_tail);
    let (shown, names) = match view.names {
        // What somebody widened keeps its width; columns give way to it.
        Some(names) => {
            let room = width - (names - NAME_MIN);
            (columns(depth, room, asked, NAME_MIN), names)
        }
        None => {
            let names = name_width(ui, longest.max().unwrap_or(0));
            let shown = columns(depth, width, asked, names);
            (shown, names.clamp(NAME_MIN, NAME_MOST))
        }
    };
    let foot = 32.0;
    let height = (ui.available_height() - foot).max(60.0);
    ui.allocate_ui(vec2(width, height), |ui| {
        ui.set_min_size(vec2(width, height));
        rows_ui(ui, state, (entry, report), (&shown, names), view, out);
    });
    ui.horizontal(|ui| {
        ui.set_height(foot);
        ui.add_space(t.space.x3);
        ui.label(Text::Caption.rich(count, colors.text_secondary));
        if filtered {
            ui.add_space(t.space.x2);
            if widgets::link(ui, "Show all").clicked() {
                view.filter.clear();
            }
        }
        if state.preferences.depth != Depth::Verdict {
            let layout = eframe::egui::Layout::right_to_left(eframe::egui::Align::Center);
            ui.with_layout(layout, |ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                ui.add_space(t.space.x3);
                correction_ui(ui, entry, out);
            });
        }
    });
}

/// What the rows of the table show.
struct Rows<'a> {
    entry: &'a RunEntry,
    report: &'a Report,
    order: &'a [Item],
    /// The row of the selected variable.
    at: Option<usize>,
    /// Whether the numbers are of something else than the draft.
    is_stale: bool,
}

/// Columns that are shown together; with names where those are among them.
struct Part<'a> {
    salt: &'static str,
    names: Option<f32>,
    columns: &'a [(Column, f32)],
}

/// What was clicked, a variable or a group to fold or unfold, by how much the names were widened, and the name of the chosen row.
#[derive(Default)]
struct Touched {
    at: Option<Id>,
    clicked: Option<usize>,
    toggled: Option<ParamId>,
    widened: Option<f32>,
}

fn rows_ui(
    ui: &mut Ui,
    state: &AppState,
    (entry, report): (&RunEntry, &Report),
    (shown, names): (&[Column], f32),
    view: &mut SummaryView,
    out: &mut Outbox,
) {
    let area = ui.available_rect_before_wrap();
    let wishes: Vec<Wish> = shown
        .iter()
        .map(|column| Wish {
            least: column.width(),
            is_interval: *column == Column::Interval,
            stays: column.stays(shown),
        })
        .collect();
    let room = area.width() - ICON - EDGE;
    let widths = widths(&wishes, names, NAME_MIN, room);
    let both = || shown.iter().copied().zip(widths.columns.iter().copied());
    let full = |index: usize| &report.summary[index].variable;
    let order = view.order.clone();
    let selected = state.selected_variable;
    let at = order.iter().position(|item| item.holds(selected, full));
    let keys = keys_ui(ui, &order, at);
    let rows = Rows {
        entry,
        report,
        order: &order,
        at,
        is_stale: words::stale_reason(state, entry).is_some(),
    };
    let mut touched = Touched::default();
    if widths.is_split {
        let (stay, scrolled): (Vec<_>, Vec<_>) =
            both().partition(|(column, _)| column.stays(shown));
        let fixed = ICON + widths.name + stay.iter().map(|(_, width)| width).sum::<f32>();
        let left = Rect::from_min_size(area.min, vec2(fixed, area.height()));
        let right = Rect::from_min_max(left.right_top(), area.max);
        let total = EDGE + scrolled.iter().map(|(_, width)| width).sum::<f32>();
        let part = Part {
            salt: "scrolled",
            names: None,
            columns: &scrolled,
        };
        let forced = view.forced.take();
        let offset = ui
            .scope_builder(UiBuilder::new().max_rect(right), |ui| {
                ScrollArea::horizontal()
                    .id_salt("summary-wide")
                    .auto_shrink([false, false])
                    .show(ui, |ui| {
                        ui.set_width(total);
                        part_ui(ui, &rows, &part, forced, view, &mut touched)
                    })
                    .inner
            })
            .inner;
        let part = Part {
            salt: "stays",
            names: Some(widths.name),
            columns: &stay,
        };
        let here = ui
            .scope_builder(UiBuilder::new().max_rect(left), |ui| {
                part_ui(ui, &rows, &part, Some(offset), view, &mut touched)
            })
            .inner;
        // Scrolled over the part that stays, the other follows.
        if here != offset {
            view.forced = Some(here);
            ui.ctx().request_repaint();
        }
        let edge = Stroke::new(tokens().stroke.hair, Palette::of(ui).border_subtle);
        ui.painter().vline(left.right(), area.y_range(), edge);
    } else {
        let columns: Vec<(Column, f32)> = both().collect();
        let part = Part {
            salt: "all",
            names: Some(widths.name),
            columns: &columns,
        };
        part_ui(ui, &rows, &part, None, view, &mut touched);
    }
    view.scroll_to = None;
    // Screen readers read the row that keys moved to, although the table as a whole has the focus.
    if let Some(name) = touched.at {
        ui.ctx().accesskit_node_builder(keys_id(), |node| {
            node.set_active_descendant(name.accesskit_id());
        });
    }
    if let Some(by) = touched.widened {
        let stay: f32 = wishes.iter().filter(|w| w.stays).map(|w| w.least).sum();
        let most = (room - stay).max(NAME_MIN);
        view.names = Some((widths.name + by).clamp(NAME_MIN, most));
    }
    match keys {
        Some(Moved::To(row)) => {
            view.scroll_to = Some(row);
            touched.clicked = Some(order[row].variable());
        }
        Some(Moved::Fold(name)) => touched.toggled = Some(name),
        None => {}
    }
    if let Some(name) = touched.toggled {
        if !view.open.remove(&name) {
            view.open.insert(name);
        }
        view.made = None;
        ui.ctx().request_repaint();
    }
    if let Some(index) = touched.clicked {
        ui.memory_mut(|memory| memory.request_focus(keys_id()));
        out.send(Command::SelectVariable(index));
    }
}

/// Shows one part of the table, scrolled to `offset` if there is one. Returns where it is scrolled to.
fn part_ui(
    ui: &mut Ui,
    rows: &Rows<'_>,
    part: &Part<'_>,
    offset: Option<f32>,
    view: &mut SummaryView,
    touched: &mut Touched,
) -> f32 {
    let t = tokens();
    let Rows {
        entry,
        report,
        order,
        ..
    } = rows;
    let short = part.names.map_or_else(Arc::default, |width| {
        view.short_names(entry, report, name_chars(ui, width))
    });
    let view_sort = view.sort;
    let height = ui.available_height() - t.size.row_table;
    let mut builder = table(ui)
        .id_salt(part.salt)
        .max_scroll_height(height)
        .min_scrolled_height(0.0)
        .auto_shrink([false, false]);
    if let Some(width) = part.names {
        builder = builder.column(Col::exact(ICON)).column(Col::exact(width));
    }
    for (_, width) in part.columns {
        builder = builder.column(Col::exact(*width));
    }
    // What stays beside a part that scrolls follows it.
    if part.salt == "stays" {
        builder = builder.scroll_bar_visibility(ScrollBarVisibility::AlwaysHidden);
    } else {
        builder = builder.column(Col::exact(EDGE));
        if let Some(row) = view.scroll_to {
            builder = builder.scroll_to_row(row, None);
        }
    }
    if let Some(offset) = offset {
        builder = builder.vertical_scroll_offset(offset);
    }
    let has_edge = part.salt != "stays";
    let shown = builder
        .header(t.size.row_table, |mut head| {
            if part.names.is_some() {
                head.col(|ui| {
                    head_cell(ui, "", Side::Left, None);
                });
                head.col(|ui| {
                    let sorted = match view.sort {
                        Sort::Name(up) => Some(up),
                        _ => None,
                    };
                    let place = ui.max_rect();
                    if head_cell(ui, "parameter", Side::Left, sorted).clicked() {
                        view.sort = match view.sort {
                            Sort::Name(true) => Sort::Name(false),
                            Sort::Name(false) => Sort::Worst,
                            _ => Sort::Name(true),
                        };
                    }
                    touched.widened = edge_ui(ui, place);
                });
            }
            for &(column, _) in part.columns {
                head.col(|ui| {
                    let sorted = match view.sort {
                        Sort::By(by, up) if by == column => Some(up),
                        _ => None,
                    };
                    let response = head_cell(ui, column.head(), Side::Right, sorted);
                    if response.on_hover_text(column.help()).clicked() {
                        view.click(column);
                    }
                });
            }
            if has_edge {
                head.col(|ui| {
                    head_cell(ui, "", Side::Left, None);
                });
            }
        })
        .body(|body| {
            body.rows(t.size.row_table, order.len(), |mut line| {
                let item = &order[line.index()];
                let index = item.variable();
                let Some(row) = report.summary.get(index) else {
                    return;
                };
                let chosen = rows.at == Some(line.index());
                line.set_selected(chosen);
                let kind = words::row_kind(entry, report, row, index);
                let group = match item {
                    Item::Group {
                        name, count, open, ..
                    } => Some(Group {
                        name,
                        count: *count,
                        open: *open,
                        is_worst: view_sort == Sort::Worst,
                    }),
                    Item::Variable { .. } => None,
                };
                // Words about a group stand where the numbers are that only one variable can have.
                let own = |column: Column| group.is_some() && !column.is_of_groups();
                let of_words = part.columns.iter().take_while(|(column, _)| own(*column));
                let of_words = of_words.count().min(2);
                if part.names.is_some() {
                    line.col(|ui| {
                        verdict_cell(ui, kind);
                    });
                    line.col(|ui| match (&group, item) {
                        (Some(group), _) => {
                            let room = part.columns[..of_words].iter().map(|(_, width)| width);
                            let head = group.name_ui(ui, room.sum());
                            touched.at = touched.at.or(chosen.then_some(head.id));
                        }
                        (None, _) => {
                            if matches!(item, Item::Variable { inside: true, .. }) {
                                ui.add_space(t.space.x4);
                            }
                            let name = name_cell(ui, &short[index], &row.variable);
                            touched.at = touched.at.or(chosen.then_some(name.id));
                        }
                    });
                }
                let values = self::line(entry, report, index);
                for (at, &(column, _)) in part.columns.iter().enumerate() {
                    line.col(|ui| match &group {
                        Some(group) if part.names.is_some() && at + 1 == of_words => {
                            group.words_ui(ui);
                        }
                        _ if own(column) => {}
                        _ => value_ui(ui, values, column, kind, rows),
                    });
                }
                if has_edge {
                    line.col(|_ui| {});
                }
                if line.response().clicked() {
                    match item {
                        Item::Variable { .. } => touched.clicked = Some(index),
                        Item::Group { name, .. } => touched.toggled = Some(name.clone()),
                    }
                }
            });
        });
    shown.state.clamped_offset().y
}

fn value_ui(ui: &mut Ui, line: Line<'_>, column: Column, kind: VerdictKind, rows: &Rows<'_>) {
    let row = line.0;
    let limits = &rows.report.limits;
    let ess = limits.ess();
    let past = match column {
        _ if !(limits.decides)(row) => false,
        Column::Rhat => row.rhat.is_some_and(|rhat| rhat > RHAT_LIMIT),
        Column::EssBulk => row.ess_bulk.is_some_and(|value| value < ess),
        Column::EssTail => row.ess_tail.is_some_and(|value| value < ess),
        _ => false,
    };
    if let (Column::Interval, Some(low), Some(median), Some(high)) =
        (column, row.q5, row.q50, row.q95)
    {
        let size = ui.max_rect().size();
        widgets::interval_bar(ui, size, low, median, high);
        return;
    }
    let text = column.text(line);
    if column.value(line).is_none() {
        let response = number_cell(ui, number::NOT_AVAILABLE, Tone::Secondary);
        response.on_hover_text(text);
        return;
    }
    let tone = if rows.is_stale {
        Tone::Secondary
    } else if past {
        Tone::Past(if kind == VerdictKind::Bad {
            VerdictKind::Bad
        } else {
            VerdictKind::Watch
        })
    } else if matches!(
        column,
        Column::Sd | Column::Mcse | Column::Mad | Column::CorrectedSd | Column::CorrectedMcse
    ) {
        Tone::Secondary
    } else {
        Tone::Primary
    };
    number_cell(ui, &text, tone);
}

#[cfg(test)]
mod tests;
