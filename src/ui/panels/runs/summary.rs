//! The summary table: one row per variable, worst first unless sorted otherwise.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::{Frame, Margin, Rect, Ui, vec2};

use super::super::menu;
use super::folding::{Item, MANY, items, under_headings};
use super::group_head::GroupHead;
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use super::range_field::RangeField;
use super::summary_columns::{Column, EDGE, ICON, Line, NAME_MIN, NAME_MOST, columns};
use super::table_layout::{Wish, widths};
use super::words;
use crate::app::{AppState, Depth, Question, RunEntry, ViewCommand, correcting, extras};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{
    Cell, Column as TableColumn, Shown, Table, Tone, name_chars, name_width,
};
use crate::ui::widgets::{self, Chip, Field, Segments, Tab, name, number, paint};
use ergodic_base::ParamId;
use ergodic_core::engine::Report;
use ergodic_diagnostics::extra::Measure;
use ergodic_diagnostics::zero_variance::{Corrected, Order};
use ergodic_diagnostics::{Inefficiency, Limits, RHAT_LIMIT, SummaryRow};
use ergodic_report::report::Heading;

/// The order changes at most this often while draws come.
const SETTLE: Duration = Duration::from_secs(2);
/// What stands above rows of whatever kind that are past a limit, where the worst come first.
const PAST: &str = "Past the limits";

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
    /// The filter is to have the focus.
    looked_for: bool,
    /// Width of the names, once somebody dragged it.
    names: Option<f32>,
    short: Option<ShortNames>,
    /// The range that counts as 0 in further columns.
    rope: RangeField,
    /// What was fitted, and by which run.
    head: Option<(u64, Vec<String>)>,
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
        Sort::Worst => limits.distance(b.row).total_cmp(&limits.distance(a.row)),
        Sort::Model => Ordering::Equal,
        Sort::Name(true) => a.row.variable.cmp(&b.row.variable),
        Sort::Name(false) => b.row.variable.cmp(&a.row.variable),
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
        let (sort, limits) = (self.sort, &report.limits);
        let of = |index| line(entry, report, index);
        let headings = headings(entry.template(), rows);
        // What is wrong with the run comes first. What groups have in common comes before what each has of its own.
        let is_past = |index: usize| sort == Sort::Worst && limits.distance(&rows[index]) > 1.0;
        let parts: Vec<(Option<Heading>, bool)> = (headings.iter().enumerate())
            .map(|(index, heading)| match is_past(index) {
                true => (None, false),
                false => (Some(*heading), rows[index].variable.is_varying()),
            })
            .collect();
        order.sort_by(|&a, &b| {
            let by_sort = || compare(of(a), of(b), sort, limits);
            parts[a].cmp(&parts[b]).then_with(by_sort)
        });
        self.count = order.len();
        // What was filtered is what was looked for: it is not folded.
        let fold = wanted.is_empty() && order.len() > MANY;
        let name = |index: usize| &rows[index].variable;
        // A run of one kind of parameter needs no heading.
        let are_many = headings.iter().any(|it| *it != headings[0]);
        let title = |index: usize| parts[index].0.map_or(PAST, Heading::title);
        self.order = match are_many {
            true => under_headings(&order, fold, &self.open, name, title),
            false => items(&order, fold, &self.open, name),
        };
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
        let first_up = match column {
            Column::EssBulk | Column::EssTail | Column::EssPerSecond => true,
            Column::Extra(column) => column.extra.measure() == Measure::Size,
            _ => false,
        };
        self.sort = match self.sort {
            Sort::By(old, up) if old == column && up == first_up => Sort::By(column, !up),
            Sort::By(old, _) if old == column => Sort::Worst,
            _ => Sort::By(column, first_up),
        };
    }
}

/// Estimates corrected by control variates: those that were asked for, else those that came with `report`.
fn corrected<'a>(entry: &'a RunEntry, report: &'a Report) -> Option<&'a Corrected> {
    (entry.correction.done().map(Arc::as_ref)).or(report.corrected.as_deref())
}

/// What each row of a summary of a model of `template` stands under.
fn headings(template: &str, rows: &[SummaryRow]) -> Vec<Heading> {
    let rows = rows.iter();
    rows.map(|row| Heading::of(&row.variable, template))
        .collect()
}

/// The row of a variable.
fn line<'a>(entry: &'a RunEntry, report: &'a Report, index: usize) -> Line<'a> {
    let corrected = corrected(entry, report);
    Line {
        row: &report.summary[index],
        corrected: corrected.and_then(|corrected| corrected.estimates.rows.get(index)),
        extras: (entry.extras.done()).map(|further| (&further.extras, index)),
    }
}

/// Room from which the choice of estimates has its name before it.
const ESTIMATES: f32 = 60.0;

/// Chooses plain or corrected estimates; while gradients are being computed, says how far they are.
fn correction_ui(ui: &mut Ui, entry: &RunEntry, out: &mut Outbox) {
    let refusal = correcting::refusal(entry);
    let report = entry.report();
    let corrected = report.as_deref().and_then(|it| corrected(entry, it));
    let is_kept = report.as_deref().and_then(|it| it.corrected.as_ref());
    let is_kept = is_kept.map(|_| "The run corrects its estimates itself (run.zero_variance)");
    let mut order = (entry.corrected_by).or(corrected.map(|it| it.estimates.order));
    let before = order;
    // From right to left.
    let shown = Segments::new("Estimates by control variates", &mut order)
        .option_unless(None, "Plain", is_kept)
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
    } else if let Some(corrected) = corrected {
        shown.on_hover_text(corrected.sentence());
    } else {
        shown.on_hover_text(
            "Zero-variance control variates: smaller Monte Carlo errors from the same draws and the gradients at them",
        );
    }
    if order != before {
        out.send(Question::Correct(entry.id, order));
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

/// Whether what was fitted takes no room from the table, or the table has so much that nobody misses it.
fn has_room_for_head(ui: &Ui, rows: usize, with_further_columns: bool) -> bool {
    /// Lines besides those of the table: the head, the filter, the heads of columns and the count.
    const OTHER_LINES: usize = 6;
    /// With further columns also their choices, and what stands below the table.
    const FURTHER_LINES: usize = 4;
    /// Lines of a table that shows enough of any model.
    const ENOUGH: usize = 16;
    let lines = (ui.available_height() / tokens().size.row_table) as usize;
    let further = if with_further_columns {
        FURTHER_LINES
    } else {
        0
    };
    lines >= rows.min(ENOUGH) + OTHER_LINES + further
}

/// What was fitted, made once for a run: the model in a line, rows, groups and priors in another, whole in their tooltips.
fn head_ui(ui: &mut Ui, entry: &RunEntry, kept: &mut Option<(u64, Vec<String>)>) {
    let (_, lines) = match kept {
        Some(made) if made.0 == entry.id => made,
        _ => kept.insert((entry.id, entry.head())),
    };
    let Some((model, rest)) = lines.split_first() else {
        return;
    };
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        widgets::sentence_line(ui, model, Text::Caption, false);
        widgets::sentence_line(ui, &rest.join(" · "), Text::Caption, true);
        ui.add_space(tokens().space.x2);
    });
}

/// What independent draws cost over all parameters, where columns say it of each.
fn inefficiency_lines(entry: &RunEntry) -> Vec<String> {
    let found = entry.extras.done();
    let found = found.and_then(|further| further.inefficiency.as_ref());
    found.map_or_else(Vec::new, Inefficiency::lines)
}

/// Chooses the interval of the further columns, and the range that counts as 0 there.
fn columns_ui(ui: &mut Ui, entry: &RunEntry, range: &mut RangeField, out: &mut Outbox) {
    let t = tokens();
    let mut asked = entry.columns_asked;
    let percent = |interval: f64| format!("{}% intervals", number::brief(100.0 * interval));
    ui.add_space(t.space.x1);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        let label = percent(asked.interval);
        let chip = ui.add(Chip::choice(&label).named("Intervals of further columns"));
        menu::menu(&chip, menu::NORMAL, |ui| {
            for interval in extras::PROBABILITIES {
                let is_on = interval == asked.interval;
                if menu::item(ui, &percent(interval), "", is_on).clicked() {
                    asked.interval = interval;
                }
            }
        });
        let words = [
            "Values that count as 0",
            "counts as 0: from, to",
            "Adds the column of how probable values between two numbers are, such as -0.05, 0.05, then Enter",
        ];
        range.show(ui, words, entry.id, &mut asked.rope);
    });
    if asked != entry.columns_asked {
        out.send(Question::AskColumns(entry.id, asked));
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
                let more = state.preferences.more_columns;
                if has_room_for_head(ui, report.summary.len(), more) {
                    head_ui(ui, entry, &mut view.head);
                }
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
                if state.preferences.more_columns {
                    columns_ui(ui, entry, &mut view.rope, out);
                }
            });
    }
    view.arrange(ui, entry, report, pointed);
    let all = report.summary.len();
    let noun = if all == 1 { "parameter" } else { "parameters" };
    let mut count = format!("{} {noun}", number::integer(all as u64));
    if view.count < all {
        count = format!("{} of {count}", number::integer(view.count as u64));
    }
    let decides = |row: &&SummaryRow| (report.limits.decides)(row);
    let judged = report.summary.iter().filter(decides).count();
    if judged < all {
        count.push_str(&format!(", {} judged", number::integer(judged as u64)));
    }
    if report.weighted {
        count.push_str(", weighted");
    }
    let filtered = view.count < report.summary.len();
    let width = ui.available_width();
    let corrected = corrected(entry, report).is_some();
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
    let mut shown = shown;
    if state.preferences.more_columns {
        if extras::are_due(entry, report.draws_per_chain) {
            out.send(Question::ComputeColumns(entry.id));
        }
        let more = entry.extras.done().into_iter();
        let more = more.flat_map(|further| &further.extras.columns);
        shown.extend(more.copied().map(Column::Extra));
    }
    let lines = match state.preferences.more_columns {
        true => inefficiency_lines(entry),
        false => Vec::new(),
    };
    let foot = 32.0;
    let below = foot + lines.len() as f32 * (Text::Caption.line() + ui.spacing().item_spacing.y);
    let height = (ui.available_height() - below).max(60.0);
    ui.allocate_ui(vec2(width, height), |ui| {
        ui.set_min_size(vec2(width, height));
        rows_ui(ui, state, (entry, report), (&shown, names), view, out);
    });
    for line in &lines {
        // A row of widgets would be higher than a line.
        widgets::inset(ui, [t.space.x3, 0.0], |ui| {
            widgets::sentence_line(ui, line, Text::Caption, true);
        });
    }
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

/// Shows the rows with the columns `shown`; names want `names` points.
fn rows_ui(
    ui: &mut Ui,
    state: &AppState,
    (entry, report): (&RunEntry, &Report),
    (shown, names): (&[Column], f32),
    view: &mut SummaryView,
    out: &mut Outbox,
) {
    let wishes: Vec<Wish> = shown
        .iter()
        .map(|column| Wish {
            least: column.width(),
            is_interval: *column == Column::Interval,
            stays: column.stays(shown),
        })
        .collect();
    let room = ui.available_width() - ICON - EDGE;
    let widths = widths(&wishes, names, NAME_MIN, room);
    let stays = |column: Column| widths.is_split && column.stays(shown);
    let mut columns: Vec<(Column, f32)> = shown
        .iter()
        .copied()
        .zip(widths.columns.iter().copied())
        .collect();
    columns.sort_by_key(|&(column, _)| widths.is_split && !stays(column));
    let heads: Vec<Cow<'_, str>> = columns
        .iter()
        .map(|(column, _)| column.head(entry.columns_asked.interval))
        .collect();
    let short = view.short_names(entry, report, name_chars(ui, widths.name));
    let items = std::mem::take(&mut view.order);
    let order = &items;
    let full = |index: usize| &report.summary[index].variable;
    let (selected, is_worst) = (state.selected_variable, view.sort == Sort::Worst);
    let is_stale = words::stale_reason(state, entry).is_some();
    let kind = |k: usize| {
        let index = order[k].variable();
        words::row_kind(entry, report, &report.summary[index], index)
    };
    // Words about a group stand where the numbers are that only one variable can have.
    let in_sight = |column: Column| !widths.is_split || stays(column);
    let of_words = columns
        .iter()
        .take_while(|(column, _)| !column.is_of_groups() && in_sight(*column))
        .count()
        .min(2);
    let words_width: f32 = columns[..of_words].iter().map(|(_, width)| width).sum();
    let sorted = match view.sort {
        Sort::Name(up) => Some((1, up)),
        Sort::By(by, up) => {
            let at = columns.iter().position(|(column, _)| *column == by);
            at.map(|at| (at + 2, up))
        }
        Sort::Worst | Sort::Model => None,
    };
    let p = Palette::of(ui);
    let group = |k: usize| GroupHead::of(&order[k], is_worst);
    let mut rows = Table::new("summary", "Summary of the parameters", order.len())
        .chosen(order.iter().position(|item| item.holds(selected)))
        // The head of an open group is its first row's name again: keys pass over it.
        .stops(|k| !order[k].is_open_head())
        .headings(|k| order[k].heading())
        .sorted(sorted)
        .column(TableColumn::new("", ICON, |k| Cell::verdict(p, kind(k))).stays(true));
    let names = TableColumn::new("parameter", widths.name, |k| match (group(k), &order[k]) {
        (Some(group), _) => Cell::drawn(move |ui| group.name_ui(ui, words_width)),
        (
            None,
            Item::Variable {
                index,
                inside: true,
            },
        ) => Cell::short_name(full(*index), &short[*index], tokens().space.x4),
        (None, item) => {
            let index = item.variable();
            Cell::short_name(full(index), &short[index], 0.0)
        }
    });
    rows = rows.column(names.sorted_outside().resizes().names_rows().stays(true));
    for (at, &(column, width)) in columns.iter().enumerate() {
        let cell = move |k: usize| match group(k) {
            Some(group) if at + 1 == of_words => Cell::drawn(move |ui| group.words_ui(ui)),
            Some(_) if !column.is_of_groups() => Cell::empty(),
            _ => {
                let line = line(entry, report, order[k].variable());
                value_cell(line, column, kind(k), &report.limits, is_stale)
            }
        };
        let column = TableColumn::number(&heads[at], width, cell)
            .help(column.help())
            .sorted_outside()
            .stays(stays(column));
        rows = rows.column(column);
    }
    let shown = rows.show(ui);
    if let Some((_, by)) = shown.widened {
        let stay: f32 = wishes.iter().filter(|w| w.stays).map(|w| w.least).sum();
        let most = (room - stay).max(NAME_MIN);
        view.names = Some((widths.name + by).clamp(NAME_MIN, most));
    }
    match shown.sort {
        None => {}
        Some(1) => {
            view.sort = match view.sort {
                Sort::Name(true) => Sort::Name(false),
                Sort::Name(false) => Sort::Worst,
                _ => Sort::Name(true),
            }
        }
        Some(at) => view.click(columns[at - 2].0),
    }
    let chosen = shown.chosen.map(|k| &order[k]);
    let toggled = match chosen {
        Some(Item::Group { name, .. }) if !shown.by_keys => Some(name),
        Some(item) => {
            out.send(ViewCommand::SelectVariable(item.variable()));
            None
        }
        None => toggled_by_keys(order, &shown),
    };
    if let Some(name) = toggled {
        if !view.open.remove(name) {
            view.open.insert(name.clone());
        }
        view.made = None;
        ui.ctx().request_repaint();
    }
    view.order = items;
}

/// The group that Right or Enter unfolds, or Left folds.
fn toggled_by_keys<'o>(order: &'o [Item], shown: &Shown) -> Option<&'o ParamId> {
    if let Some(Item::Group {
        name, open: false, ..
    }) = shown.opened.map(|k| &order[k])
    {
        return Some(name);
    }
    let here = shown
        .closed
        .filter(|&k| matches!(order[k], Item::Variable { inside: true, .. }))?;
    order[..here].iter().rev().find_map(|item| match item {
        Item::Group { name, .. } => Some(name),
        Item::Variable { .. } | Item::Heading { .. } => None,
    })
}

/// The number of a row in a column, or its picture.
fn value_cell<'a>(
    line: Line<'a>,
    column: Column,
    kind: VerdictKind,
    limits: &Limits,
    is_stale: bool,
) -> Cell<'a> {
    let row = line.row;
    let ess = limits.ess();
    let past = match column {
        _ if !(limits.decides)(row) => false,
        // Nested R-hat judges chains that begin in groups.
        Column::Rhat => row.rhat_nested.is_none() && row.rhat.is_some_and(|rhat| rhat > RHAT_LIMIT),
        Column::EssBulk => row.ess_bulk.is_some_and(|value| value < ess),
        Column::EssTail => row.ess_tail.is_some_and(|value| value < ess),
        _ => false,
    };
    if let (Column::Interval, Some(low), Some(median), Some(high)) =
        (column, row.q5, row.q50, row.q95)
    {
        return Cell::drawn(move |ui| {
            let size = ui.max_rect().size();
            widgets::interval_bar(ui, size, low, median, high);
        });
    }
    let text = column.text(line);
    if column.value(line).is_none() {
        return Cell::number(number::NOT_AVAILABLE, Tone::Secondary).hover(text);
    }
    let tone = if is_stale {
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
    Cell::number(text, tone)
}

#[cfg(test)]
mod tests;
