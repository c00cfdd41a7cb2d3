//! The summary table: one row per variable, worst first unless sorted otherwise.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use eframe::egui::{Frame, Margin, Rect, ScrollArea, Ui, vec2};
use egui_extras::Column as Col;

use super::folding::{Item, MANY, items};
use super::table_keys::{Moved, group_cell, keys_id, keys_ui};
use super::words;
use crate::app::correcting;
use crate::app::entry::Correction;
use crate::app::{AppState, Command, Depth, RunEntry};
use crate::diagnostics::SummaryRow;
use crate::diagnostics::zero_variance::{Order, ZeroVarianceRow};
use crate::engine::Report;
use crate::models::effect_of;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{
    Side, Tone, head_cell, name_cell, name_chars, name_width, number_cell, table, verdict_cell,
};
use crate::ui::widgets::{self, Chip, Field, Segments, Tab, name, number, paint};

/// The order changes at most this often while draws come.
const SETTLE: Duration = Duration::from_secs(2);

/// A column after icon and variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Mean,
    Mcse,
    CorrectedMean,
    CorrectedMcse,
    Gain,
    Sd,
    CorrectedSd,
    Mad,
    Interval,
    Q5,
    Q50,
    Q95,
    Rhat,
    EssBulk,
    EssTail,
    EssPerSecond,
}

/// A variable's row of the summary and its corrected estimates, if they were asked for.
type Line<'a> = (&'a SummaryRow, Option<&'a ZeroVarianceRow>);

/// Relative error below which digits of a corrected mean are not shown.
const CORRECTED_DIGITS: f64 = 1e-5;

/// Gain beyond which nothing but rounding is left.
const GAIN_LIMIT: f64 = 1e6;

impl Column {
    fn head(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Mcse => "MCSE",
            Self::CorrectedMean => "mean, zv",
            Self::CorrectedMcse => "MCSE, zv",
            Self::Gain => "gain",
            Self::Sd => "sd",
            Self::CorrectedSd => "sd, zv",
            Self::Mad => "MAD",
            Self::Interval => "90%, 0",
            Self::Q5 => "5%",
            Self::Q50 => "median",
            Self::Q95 => "95%",
            Self::Rhat => "R-hat",
            Self::EssBulk => "ESS",
            Self::EssTail => "ESS tail",
            Self::EssPerSecond => "ESS/s",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Mean => "Posterior mean, to the first digit that its Monte Carlo error moves",
            Self::Mcse => "Monte Carlo standard error of the mean",
            Self::CorrectedMean => "Posterior mean corrected by zero-variance control variates",
            Self::CorrectedMcse => "Monte Carlo standard error of the corrected mean",
            Self::Gain => {
                "Variance reduction: how many times as many draws the corrected mean is worth"
            }
            Self::Sd => "Posterior standard deviation",
            Self::CorrectedSd => {
                "Posterior standard deviation corrected by zero-variance control variates"
            }
            Self::Mad => {
                "Median absolute deviation × 1.4826: the sd of a normal distribution, safe from outliers"
            }
            Self::Interval => {
                "90% interval and median against a tick at zero, scaled for each row: sign and width, not comparison across rows"
            }
            Self::Q5 => "5% quantile: lower end of the 90% interval",
            Self::Q50 => "Posterior median",
            Self::Q95 => "95% quantile: upper end of the 90% interval",
            Self::Rhat => "How much chains disagree; want at most 1.01 (Vehtari et al. 2021)",
            Self::EssBulk => {
                "Independent draws that would tell as much about the bulk; want 100 per chain"
            }
            Self::EssTail => "The same for the 5% and 95% quantiles; want 100 per chain",
            Self::EssPerSecond => "Bulk effective draws per second of sampling",
        }
    }

    fn width(self) -> f32 {
        match self {
            Self::Mean | Self::EssTail | Self::Q5 | Self::Q50 | Self::Q95 => 64.0,
            Self::CorrectedMean => 92.0,
            Self::Gain => 76.0,
            Self::Interval => 66.0,
            Self::CorrectedMcse | Self::Mcse => 64.0,
            Self::Sd | Self::Mad | Self::CorrectedSd => 56.0,
            Self::Rhat => 52.0,
            // Room for `99 999`, bold when past its limit, and a gap to its neighbour.
            Self::EssBulk | Self::EssPerSecond => 54.0,
        }
    }

    fn value(self, (row, corrected): Line<'_>) -> Option<f64> {
        match self {
            Self::Mean => row.mean,
            Self::Mcse => row.mcse_mean,
            Self::CorrectedMean => corrected?.mean,
            Self::CorrectedMcse => corrected?.mcse_mean,
            Self::Gain => corrected?.gain,
            Self::CorrectedSd => corrected?.sd,
            Self::Sd => row.sd,
            Self::Mad => row.mad,
            Self::Q5 => row.q5,
            Self::Q50 | Self::Interval => row.q50,
            Self::Q95 => row.q95,
            Self::Rhat => row.rhat,
            Self::EssBulk => row.ess_bulk,
            Self::EssTail => row.ess_tail,
            Self::EssPerSecond => row.ess_bulk_per_s,
        }
    }

    fn text(self, line: Line<'_>) -> String {
        let Some(value) = self.value(line) else {
            return line
                .0
                .missing
                .map_or(number::NOT_AVAILABLE.to_owned(), |why| why.to_string());
        };
        let (row, corrected) = line;
        match self {
            Self::Mean | Self::Interval | Self::Q5 | Self::Q50 | Self::Q95 => {
                number::estimate(value, row.mcse_mean.unwrap_or(f64::NAN))
            }
            Self::CorrectedMean => {
                let error = corrected.and_then(|row| row.mcse_mean).unwrap_or(f64::NAN);
                // More digits than the column holds would push its sign out of sight; files have them all.
                number::estimate(value, error.max(CORRECTED_DIGITS * value.abs()))
            }
            Self::Gain if value > GAIN_LIMIT => "> 10⁶".to_owned(),
            Self::Gain => format!("× {}", number::significant(value, 2)),
            Self::Mcse | Self::Sd | Self::Mad | Self::CorrectedMcse | Self::CorrectedSd => {
                number::sd(value)
            }
            Self::Rhat => number::rhat(value),
            Self::EssBulk | Self::EssTail | Self::EssPerSecond => number::short(value),
        }
    }
}

/// Columns for a depth and width, in the order of the table; what is dropped first stands last in `wishes`. Names want
/// `names` points: the first wishes come before whole names, the others after.
fn columns(depth: Depth, width: f32, corrected: bool, names: f32) -> Vec<Column> {
    use Column::{
        CorrectedMcse, CorrectedMean, CorrectedSd, EssBulk, EssPerSecond, EssTail, Gain, Interval,
        Mad, Mcse, Mean, Q5, Q50, Q95, Rhat, Sd,
    };
    const ORDER: [Column; 16] = [
        Mean,
        Mcse,
        CorrectedMean,
        CorrectedMcse,
        Gain,
        Sd,
        CorrectedSd,
        Mad,
        Interval,
        Q5,
        Q50,
        Q95,
        Rhat,
        EssBulk,
        EssTail,
        EssPerSecond,
    ];
    let (kept, wishes): (&[Column], &[Column]) = match depth {
        Depth::Standard if corrected => (&[CorrectedMean, CorrectedMcse, Gain], &[Rhat, Sd, Mean]),
        Depth::Verdict => (&[Mean, Q5, Q95], &[]),
        Depth::Standard => (&[Mean, Rhat], &[EssBulk, Sd, Mcse, Interval, Q5, Q95]),
        Depth::Everything => (&ORDER, &[]),
    };
    let mut room = width - ICON - NAME_MIN - EDGE - kept.iter().map(|c| c.width()).sum::<f32>();
    let mut chosen = kept.to_vec();
    let names = (names.min(NAME_MOST) - NAME_MIN).max(0.0);
    for (index, wish) in wishes.iter().enumerate() {
        room -= wish.width();
        if room < if index < WISHES_FIRST { 0.0 } else { names } {
            break;
        }
        chosen.push(*wish);
    }
    // One end of an interval alone says nothing.
    if chosen.contains(&Q5) != chosen.contains(&Q95) {
        chosen.retain(|column| !matches!(column, Q5 | Q95));
    }
    ORDER
        .into_iter()
        .filter(|column| chosen.contains(column))
        .filter(|column| {
            corrected || !matches!(column, CorrectedMean | CorrectedMcse | Gain | CorrectedSd)
        })
        .collect()
}

const ICON: f32 = 30.0;
const NAME_MIN: f32 = 96.0;
/// Longer names are cut: a column that says something new is worth more than their middle.
const NAME_MOST: f32 = 200.0;
/// Optional columns that come before whole names.
const WISHES_FIRST: usize = 2;
const EDGE: f32 = 8.0;

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
    open: BTreeSet<String>,
    made: Option<Made>,
    /// A row that keys have moved to and that must come into sight.
    scroll_to: Option<usize>,
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

/// How far past its limits a row is; larger is worse.
fn badness(row: &SummaryRow) -> f64 {
    if row.missing.is_some() && row.rhat.is_none() {
        // Nothing is known: after what is known to be bad, before what is fine.
        return 1.0;
    }
    let rhat = row.rhat.map_or(0.0, |rhat| {
        (rhat - 1.0) / (crate::diagnostics::verdict::RHAT_LIMIT - 1.0)
    });
    let least = row
        .ess_bulk
        .into_iter()
        .chain(row.ess_tail)
        .reduce(f64::min);
    let ess = least.map_or(0.0, |ess| 400.0 / ess.max(1.0));
    rhat.max(ess)
}

fn compare(a: Line<'_>, b: Line<'_>, sort: Sort) -> Ordering {
    let numbers = |a: Option<f64>, b: Option<f64>, up: bool| match (a, b) {
        (Some(a), Some(b)) if up => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        // What is missing stands last either way.
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    match sort {
        Sort::Worst => badness(b.0).total_cmp(&badness(a.0)),
        Sort::Model => Ordering::Equal,
        Sort::Name(true) => a.0.variable.cmp(&b.0.variable),
        Sort::Name(false) => b.0.variable.cmp(&a.0.variable),
        Sort::By(column, up) => numbers(column.value(a), column.value(b), up),
    }
}

impl SummaryView {
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
        // What groups have in common comes before what each has of its own.
        let sort = self.sort;
        order.sort_by(|&a, &b| {
            let own = |index: usize| effect_of(&rows[index].variable).is_some();
            let by_sort = || compare(line(entry, report, a), line(entry, report, b), sort);
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

/// Chooses plain or corrected estimates; while gradients are being computed, says how far they are.
fn correction_ui(ui: &mut Ui, entry: &RunEntry, out: &mut Outbox) {
    let refusal = correcting::refusal(entry);
    let mut order = entry.correction.order();
    let before = order;
    let shown = Segments::new("Control variates", &mut order)
        .option(None, "Plain")
        .option_unless(Some(Order::Linear), "Linear", refusal)
        .option_unless(Some(Order::Quadratic), "Quadratic", refusal)
        .show(ui);
    match &entry.correction {
        Correction::Working(_, control) => {
            let done = format!("{:.0}%", 100.0 * control.progress());
            ui.label(Text::Caption.rich(done, Palette::of(ui).text_secondary));
        }
        Correction::Done(corrected) => {
            shown.on_hover_text(corrected.sentence());
        }
        _ => {
            shown.on_hover_text(
                "Zero-variance control variates: smaller Monte Carlo errors from the same draws and the gradients at them",
            );
        }
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

/// Shows filter, table and count.
pub fn summary_body_ui(
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
        let text = "The table appears with the first draws after the warm-up";
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
                    Field::new("Filter variables", &mut view.filter)
                        .label_hidden()
                        .icon(icons::FUNNEL)
                        .hint("Filter variables")
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
    let mut count = format!(
        "{} of {} variables",
        number::integer(view.count as u64),
        number::integer(report.summary.len() as u64)
    );
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
    let names = name_width(ui, longest.max().unwrap_or(0));
    let shown = columns(state.preferences.depth, width, corrected, names);
    let numbers = ICON + EDGE + shown.iter().map(|column| column.width()).sum::<f32>();
    // A table that must be scrolled sideways need not cut names.
    let needed = match numbers + NAME_MIN {
        least if least > width => numbers + names.clamp(NAME_MIN, NAME_MOST),
        _ => width,
    };
    let foot = 32.0;
    let height = (ui.available_height() - foot).max(60.0);
    ui.allocate_ui(vec2(width, height), |ui| {
        ui.set_min_size(vec2(width, height));
        ScrollArea::horizontal()
            .id_salt("summary-wide")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                ui.set_width(needed);
                rows_ui(ui, state, (entry, report), &shown, view, out, height);
            });
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

fn rows_ui(
    ui: &mut Ui,
    state: &AppState,
    (entry, report): (&RunEntry, &Report),
    shown: &[Column],
    view: &mut SummaryView,
    out: &mut Outbox,
    height: f32,
) {
    let t = tokens();
    let ess = entry
        .view()
        .map_or(crate::diagnostics::verdict::ESS_PER_CHAIN, |run| {
            words::ess_wanted(&run)
        });
    let name_width =
        ui.available_width() - ICON - EDGE - shown.iter().map(|column| column.width()).sum::<f32>();
    let full: Vec<&str> = report
        .summary
        .iter()
        .map(|row| row.variable.as_str())
        .collect();
    let short = name::short_names(&full, name_chars(ui, name_width));
    let order = view.order.clone();
    let view_sort = view.sort;
    let selected = state.selected_variable;
    let at = order
        .iter()
        .position(|item| item.holds(selected, |index| full[index]));
    let keys = keys_ui(ui, &order, at);
    let mut builder = table(ui)
        .max_scroll_height(height - t.size.row_table)
        .min_scrolled_height(0.0)
        .auto_shrink([false, false])
        .column(Col::exact(ICON))
        .column(Col::exact(name_width.max(NAME_MIN)));
    for column in shown {
        builder = builder.column(Col::exact(column.width()));
    }
    if let Some(row) = view.scroll_to.take() {
        builder = builder.scroll_to_row(row, None);
    }
    let mut clicked = None;
    let mut toggled = None;
    builder
        .column(Col::exact(EDGE))
        .header(t.size.row_table, |mut head| {
            head.col(|ui| {
                head_cell(ui, "", Side::Left, None);
            });
            head.col(|ui| {
                let sorted = match view.sort {
                    Sort::Name(up) => Some(up),
                    _ => None,
                };
                if head_cell(ui, "variable", Side::Left, sorted).clicked() {
                    view.sort = match view.sort {
                        Sort::Name(true) => Sort::Name(false),
                        Sort::Name(false) => Sort::Worst,
                        _ => Sort::Name(true),
                    };
                }
            });
            for &column in shown {
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
            head.col(|ui| {
                head_cell(ui, "", Side::Left, None);
            });
        })
        .body(|body| {
            body.rows(t.size.row_table, order.len(), |mut line| {
                let item = &order[line.index()];
                let index = item.variable();
                let Some(row) = report.summary.get(index) else {
                    return;
                };
                line.set_selected(at == Some(line.index()));
                let kind = words::row_kind(entry, report, row, index, ess);
                line.col(|ui| {
                    verdict_cell(ui, kind);
                });
                line.col(|ui| match item {
                    Item::Variable { inside, .. } => {
                        if *inside {
                            ui.add_space(t.space.x4);
                        }
                        name_cell(ui, &short[index], &row.variable);
                    }
                    Item::Group {
                        name, count, open, ..
                    } => {
                        group_cell(ui, name, *count, *open, view_sort == Sort::Worst);
                    }
                });
                let values = self::line(entry, report, index);
                for &column in shown {
                    line.col(|ui| value_ui(ui, values, column, kind, ess));
                }
                line.col(|_ui| {});
                if line.response().clicked() {
                    match item {
                        Item::Variable { .. } => clicked = Some(index),
                        Item::Group { name, .. } => toggled = Some(name.clone()),
                    }
                }
            });
        });
    match keys {
        Some(Moved::To(row)) => {
            view.scroll_to = Some(row);
            clicked = Some(order[row].variable());
        }
        Some(Moved::Fold(name)) => toggled = Some(name),
        None => {}
    }
    if let Some(name) = toggled {
        if !view.open.remove(&name) {
            view.open.insert(name);
        }
        view.made = None;
        ui.ctx().request_repaint();
    }
    if let Some(index) = clicked {
        ui.memory_mut(|memory| memory.request_focus(keys_id()));
        out.send(Command::SelectVariable(index));
    }
}

fn value_ui(ui: &mut Ui, line: Line<'_>, column: Column, kind: VerdictKind, ess: f64) {
    let row = line.0;
    let past = match column {
        Column::Rhat => words::rhat_is_past(row),
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
    let tone = if past {
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
#[path = "summary_tests.rs"]
mod tests;
