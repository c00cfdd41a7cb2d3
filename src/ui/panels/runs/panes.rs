//! The panes of the selected variable, and what all panes know of it.

use eframe::egui::{Align, Layout, Rect, ScrollArea, Sense, Stroke, Ui, vec2};

use super::curves::{self, Convergence as Course, Densities, Key, Memo};
use super::pane::{Home, Pane};
use super::summary::SummaryView;
use super::words;
use crate::app::{AppState, RunCommand, RunEntry, resuming};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::interval::shift_text;
use crate::ui::plots::legend::{Sign, entry as legend_entry};
use crate::ui::plots::{
    AutocorrelationData, ChainFilter, ConvergenceRow, ConvergenceSpan, DensityData, IntervalRow,
    RankData, TraceCache, TraceChain, TraceData, TraceSpan, autocorrelation_ui, chain_legend,
    convergence_ui, density_ui, interval_ui, rank_ui, trace_ui,
};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, Segments, number, paint};
use ergodic_analysis::bias_check;
use ergodic_base::ParamId;
use ergodic_base::shown::capitalised;
use ergodic_core::engine::found::Summary;
use ergodic_core::engine::{Report, RunView};
use ergodic_core::samplers::{CRITERION, DIVERGENT};
use ergodic_diagnostics::bias::BiasRow;
use ergodic_diagnostics::{Missing, RHAT_LIMIT};

/// Height of the line with the variable's name.
const NAME_LINE: f32 = 30.0;
/// Monte Carlo error of a mean that is worth watching, in posterior sd: that of 400 independent draws.
const MCSE_LIMIT: f64 = 0.05;

type Ranks = Option<Result<Vec<Vec<u32>>, Missing>>;
type Correlations = Option<Result<(Vec<Vec<f64>>, f64), Missing>>;

/// What panes share with each other.
#[derive(Default)]
pub struct PaneViews {
    /// How much of the run the trace shows.
    pub span: TraceSpan,
    /// Which chains are shown.
    pub filter: ChainFilter,
    /// The table, which the panel at the right shows where there is room for it.
    pub summary: SummaryView,
}

/// Grows with every draw, also when a finished run is continued.
fn version(run: &RunView) -> u64 {
    run.chains
        .iter()
        .map(|chain| (chain.draws.warmup.len() + chain.draws.draws.len()) as u64)
        .sum()
}

/// The variable that panes show, and the run it belongs to.
#[derive(Clone, Copy)]
pub struct Variable<'a> {
    /// What the window knows.
    pub state: &'a AppState,
    /// The run.
    pub entry: &'a RunEntry,
    /// Newest draws of the run.
    pub run: &'a RunView,
    /// Newest diagnostics of the run.
    pub report: &'a Report,
    /// The names of all variables of the run.
    pub names: &'a [ParamId],
    /// Index of the selected variable.
    pub index: usize,
    /// Name of the variable.
    pub name: &'a ParamId,
    /// Tells draws of this variable from others and older ones.
    pub key: Key,
}

impl<'a> Variable<'a> {
    /// Whether the run has a summary of type `S`, or will have one.
    pub fn finds<S: Summary>(&self) -> bool {
        let job = self.entry.job();
        self.report.found.get::<S>().is_some()
            || job.is_some_and(|job| job.sampler.makes(S::OUTPUT))
    }

    /// The selected one of those called `names`; `None` if there are none.
    pub fn new(
        state: &'a AppState,
        entry: &'a RunEntry,
        (run, report): (&'a RunView, &'a Report),
        names: &'a [ParamId],
    ) -> Option<Self> {
        let index = state.selected_variable.min(names.len().saturating_sub(1));
        Some(Self {
            state,
            entry,
            run,
            report,
            names,
            index,
            name: names.get(index)?,
            key: Key {
                run: entry.id,
                variable: index,
                version: version(run),
            },
        })
    }
}

impl<'a> Variable<'a> {
    /// The same run with another variable of it.
    #[must_use]
    pub fn at(&self, index: usize) -> Self {
        let names: &'a [ParamId] = self.names;
        Self {
            index,
            name: &names[index],
            key: Key {
                variable: index,
                ..self.key
            },
            ..*self
        }
    }
}

impl Variable<'_> {
    /// Whether effects vary by group.
    pub fn has_groups(&self) -> bool {
        let rows = &self.report.summary;
        rows.iter().any(|row| row.variable.group_effect().is_some())
    }

    /// Whether draws are there; otherwise says that they will come.
    pub fn has_draws(&self, ui: &mut Ui, least: usize) -> bool {
        let enough = self.run.draws_per_chain() >= least;
        if !enough {
            let text = if self.run.is_finished() {
                "There are too few draws for this plot"
            } else {
                "The plot appears after the warm-up"
            };
            widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, text, None);
        }
        enough
    }

    fn meaning(&self) -> String {
        self.entry
            .reported(self.index)
            .map(|(model, place)| model.params()[place].meaning.clone())
            .filter(|meaning| !meaning.is_empty() && *self.name != *meaning)
            .unwrap_or_default()
    }
}

/// Keeps the line of the variable's name free; [`paint_name`] fills it once the hover read-out is known.
pub(super) fn name_line(ui: &mut Ui) -> Rect {
    ui.allocate_exact_size(vec2(ui.available_width(), NAME_LINE), Sense::hover())
        .0
}

pub(super) fn paint_name(ui: &Ui, rect: Rect, of: &Variable<'_>, read_out: Option<&str>) {
    paint_words(ui, rect, of.name, &of.meaning(), read_out);
}

pub(super) fn paint_words(ui: &Ui, rect: Rect, name: &str, meaning: &str, read_out: Option<&str>) {
    let t = tokens();
    let colors = Palette::of(ui);
    let y = rect.center().y;
    let room = rect.width() - 2.0 * t.space.x3;
    let name = paint::line(ui, name, Text::Code, colors.text_primary, room);
    let right = paint::left_center(ui.painter(), rect.left() + t.space.x3, y, name).right();
    let rest = (rect.right() - t.space.x3 - right - t.space.x2).max(0.0);
    match read_out {
        Some(words) => {
            let galley = paint::line(ui, words, Text::Number, colors.text_primary, rest);
            paint::right_center(ui.painter(), rect.right() - t.space.x3, y, galley);
        }
        None => {
            let galley = paint::line(ui, meaning, Text::Caption, colors.text_secondary, rest);
            if galley.elided {
                let id = ui.make_persistent_id("meaning");
                ui.interact(rect, id, Sense::hover()).on_hover_text(meaning);
            }
            paint::left_center(ui.painter(), right + t.space.x2, y, galley);
        }
    }
}

/// The legend of chains from left to right, whatever the direction around it; left out where the tabs need the room, as the
/// list of chains shows the same signs.
pub(super) fn legend_ui(ui: &mut Ui, of: &Variable<'_>, tabs: f32, views: &mut PaneViews) {
    let chains = of.run.chains.len();
    let width = 36.0 + 40.0 * chains as f32;
    if ui.available_width() < width + tabs {
        return;
    }
    ui.allocate_ui_with_layout(
        vec2(width, tokens().size.tab_strip),
        Layout::left_to_right(Align::Center),
        |ui| chain_legend(ui, chains, &mut views.filter),
    );
}

/// Draws against iterations.
#[derive(Default)]
pub(super) struct Trace {
    cache: TraceCache,
}

impl Pane for Trace {
    const ID: &'static str = "trace";
    const TITLE: &'static str = "Trace";
    const ICON: char = icons::WAVEFORM;
    const ABOUT: &'static str = "Draws of the selected parameter against iterations";
    const HOME: Home = Home::Above;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, _out: &mut Outbox) {
        trace_pane(ui, of, &mut self.cache, views);
    }

    fn strip_ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, tabs: f32) {
        Segments::new("Span of the trace", &mut views.span)
            .option(TraceSpan::Follow, "Follow")
            .option(TraceSpan::Whole, "Whole run")
            .show(ui);
        ui.add_space(tokens().space.x2);
        legend_ui(ui, of, tabs, views);
    }
}

fn trace_pane(ui: &mut Ui, of: &Variable<'_>, cache: &mut TraceCache, views: &mut PaneViews) {
    let line = name_line(ui);
    let ends = words::warmup_ends(of.entry, of.run);
    let chains: Vec<TraceChain<'_>> = (of.run.chains.iter().zip(ends))
        .map(|(chain, end)| {
            TraceChain::of_draws(&chain.draws, end).started_at(chain.started_at.as_deref())
        })
        .collect();
    if of.key.version == 0 {
        widgets::empty_state(
            ui,
            icons::WAVEFORM,
            "The trace begins with the first iteration",
            None,
        );
        return;
    }
    let info = of.entry.info_names();
    let remark = words::warmup_remark(of.run);
    let mut summary = format!(
        "Trace of {}, {} chains, at least {} draws each{}",
        of.name,
        chains.len(),
        of.run.draws_per_chain(),
        (remark.iter())
            .map(|it| format!("; {it}"))
            .collect::<String>()
    );
    let started = started_words(&chains, of.index);
    if let Some(started) = &started {
        summary.push_str(&format!("; {started}"));
    }
    let data = TraceData {
        run: of.entry.id,
        version: of.key.version,
        chains: &chains,
        column: of.index,
        divergent: info.iter().position(|name| name == DIVERGENT),
        thin: 1,
        summary: &summary,
    };
    let height = ui.available_height();
    let shown = trace_ui(
        ui,
        Palette::of(ui),
        &data,
        views.span,
        &views.filter,
        cache,
        (None, height),
    );
    let read_out = shown.hover.map(|point| {
        let values: Vec<String> = data
            .values_at(point.x)
            .into_iter()
            .filter(|(chain, _)| views.filter.shows(*chain))
            .take(8)
            .map(|(chain, value)| format!("{}: {}", chain + 1, number::significant(value, 3)))
            .collect();
        let iteration = number::integer(point.x.max(0.0).round() as u64);
        if let Some(started) = started
            .as_ref()
            .filter(|_| point.x < START_SHARE * data.longest())
        {
            return format!("{started}   iteration {iteration}   {}", values.join("   "));
        }
        format!("iteration {iteration}   {}", values.join("   "))
    });
    let mut words = vec![of.meaning()];
    words.extend(remark);
    words.retain(|words| !words.is_empty());
    let meaning = words.join(" · ");
    paint_words(ui, line, of.name, &meaning, read_out.as_deref());
}

/// Share of the picture at its left end over which the read-out tells where chains started.
const START_SHARE: f64 = 0.02;
/// Chains whose start is told in words.
const TOLD_STARTS: usize = 8;

/// "started at 1: 0.31   2: −0.2", as far as starts are known.
fn started_words(chains: &[TraceChain<'_>], column: usize) -> Option<String> {
    let start = |(k, chain): (usize, &TraceChain<'_>)| {
        let value = *chain.start?.get(column)?;
        Some(format!("{}: {}", k + 1, number::significant(value, 3)))
    };
    let starts = chains.iter().enumerate().filter_map(start);
    let starts: Vec<String> = starts.take(TOLD_STARTS).collect();
    (!starts.is_empty()).then(|| format!("started at {}", starts.join("   ")))
}

/// Rank histograms.
#[derive(Default)]
pub(super) struct Rank {
    ranks: Memo<Ranks>,
}

impl Pane for Rank {
    const ID: &'static str = "rank";
    const TITLE: &'static str = "Rank";
    const ICON: char = icons::CHART_BAR;
    const ABOUT: &'static str = "Ranks of each chain's draws among those of all chains";
    const HOME: Home = Home::Above;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, _out: &mut Outbox) {
        rank_pane(ui, of, &mut self.ranks, views);
    }

    fn strip_ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, tabs: f32) {
        legend_ui(ui, of, tabs, views);
    }
}

fn rank_pane(ui: &mut Ui, of: &Variable<'_>, memo: &mut Memo<Ranks>, views: &mut PaneViews) {
    let line = name_line(ui);
    paint_name(ui, line, of, None);
    if !of.has_draws(ui, 20) {
        return;
    }
    let ranks = memo.get(ui, of.key, || {
        Some(curves::ranks(of.entry, of.run, of.index))
    });
    match ranks {
        Some(Ok(counts)) => {
            let data = RankData {
                counts,
                name: of.name,
            };
            let height = ui.available_height();
            rank_ui(ui, Palette::of(ui), data, &views.filter, height);
        }
        Some(Err(why)) => no_curve_ui(ui, of.name, *why),
        None => {}
    }
}

pub(super) fn no_curve_ui(ui: &mut Ui, name: &str, why: Missing) {
    let text = format!("There is no plot of `{name}`: {why}");
    widgets::empty_state(ui, icons::CHART_LINE, &text, None);
}

/// Correlations of draws with those before them.
#[derive(Default)]
pub(super) struct Autocorrelation {
    correlations: Memo<Correlations>,
}

impl Pane for Autocorrelation {
    const ID: &'static str = "autocorrelation";
    const TITLE: &'static str = "Autocorrelation";
    const ICON: char = icons::CHART_LINE;
    const ABOUT: &'static str =
        "Correlation of draws with earlier ones, by how many iterations lie between";
    const HOME: Home = Home::Above;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, _out: &mut Outbox) {
        autocorrelation_pane(ui, of, &mut self.correlations, views);
    }

    fn strip_ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, tabs: f32) {
        legend_ui(ui, of, tabs, views);
    }
}

fn autocorrelation_pane(
    ui: &mut Ui,
    of: &Variable<'_>,
    memo: &mut Memo<Correlations>,
    views: &mut PaneViews,
) {
    let line = name_line(ui);
    if !of.has_draws(ui, 20) {
        paint_name(ui, line, of, None);
        return;
    }
    let found = memo.get(ui, of.key, || {
        Some(curves::autocorrelations(of.entry, of.run, of.index))
    });
    match found {
        Some(Ok((chains, band))) => {
            let first: Vec<String> = chains
                .iter()
                .filter_map(|chain| chain.get(1))
                .map(|value| number::fixed(*value, 2))
                .collect();
            let summary = format!(
                "Autocorrelation of {}; at lag 1: {}",
                of.name,
                first.join(", ")
            );
            let data = AutocorrelationData {
                chains,
                band: Some(*band),
                summary: &summary,
            };
            let height = ui.available_height();
            let shown = autocorrelation_ui(ui, Palette::of(ui), data, &views.filter, height);
            let read_out = shown.hover.map(|point| {
                let lag = point.x.round().max(0.0) as usize;
                let values: Vec<String> = chains
                    .iter()
                    .enumerate()
                    .filter(|(chain, _)| views.filter.shows(*chain))
                    .filter_map(|(chain, values)| Some((chain, values.get(lag)?)))
                    .take(8)
                    .map(|(chain, value)| format!("{}: {}", chain + 1, number::fixed(*value, 2)))
                    .collect();
                format!("lag {lag}   {}", values.join("   "))
            });
            paint_name(ui, line, of, read_out.as_deref());
        }
        Some(Err(why)) => {
            paint_name(ui, line, of, None);
            no_curve_ui(ui, of.name, *why);
        }
        None => {}
    }
}

/// Posterior density.
#[derive(Default)]
pub(super) struct Density {
    densities: Memo<Densities>,
}

impl Pane for Density {
    const ID: &'static str = "density";
    const TITLE: &'static str = "Density";
    const ICON: char = icons::CHART_LINE;
    const ABOUT: &'static str = "Posterior density of the selected parameter, with its prior and, where known, the exact one";
    const HOME: Home = Home::Left;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, _out: &mut Outbox) {
        density_pane(ui, of, &mut self.densities, views);
    }
}

fn density_pane(ui: &mut Ui, of: &Variable<'_>, memo: &mut Memo<Densities>, views: &mut PaneViews) {
    let line = name_line(ui);
    if !of.has_draws(ui, 20) {
        paint_name(ui, line, of, None);
        return;
    }
    // The prior of a reopened run is known some time after its draws.
    let key = Key {
        version: 2 * of.key.version + u64::from(of.entry.model().is_some()),
        ..of.key
    };
    let made = memo.get(ui, key, || curves::densities(of.entry, of.run, of.index));
    if let Some(why) = made.missing {
        paint_name(ui, line, of, None);
        no_curve_ui(ui, of.name, why);
        return;
    }
    let row = of.report.summary.get(of.index);
    let summary = format!(
        "Density of {}{}",
        of.name,
        row.and_then(|row| row.q50)
            .map_or_else(String::new, |median| format!(
                ", median {}",
                number::significant(median, 3)
            ))
    );
    let data = DensityData {
        pooled: &made.pooled,
        chains: &made.chains,
        prior: made.prior.as_deref(),
        exact: made.exact.as_deref(),
        interval: row.and_then(|row| row.q5.zip(row.q95)),
        are_bars: made.are_bars,
        median: row.and_then(|row| row.q50),
        summary: &summary,
    };
    let height = ui.available_height();
    let shown = density_ui(ui, Palette::of(ui), data, &views.filter, height);
    let read_out = shown
        .hover
        .map(|point| format!("value {}", number::significant(point.x, 3)))
        .or_else(|| made.remark.clone());
    paint_name(ui, line, of, read_out.as_deref());
}

/// Measures of convergence.
#[derive(Default)]
pub(super) struct Convergence {
    course: Memo<Course>,
}

impl Pane for Convergence {
    const ID: &'static str = "convergence";
    const TITLE: &'static str = "Convergence";
    const ICON: char = icons::CHART_LINE_UP;
    const ABOUT: &'static str = "How R-hat, effective sample size and Monte Carlo error developed";
    const HOME: Home = Home::Right;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        convergence_pane(ui, of, &mut self.course);
    }

    fn strip_ui(&mut self, ui: &mut Ui, _of: &Variable<'_>, _views: &mut PaneViews, _tabs: f32) {
        if ui.available_width() <= 420.0 {
            return;
        }
        let t = tokens();
        let colors = Palette::of(ui);
        ui.spacing_mut().item_spacing.x = t.space.x3;
        let others = Stroke::new(1.0, colors.text_disabled);
        legend_entry(ui, Sign::Line(others, &[]), "others");
        let selected = Stroke::new(t.stroke.curve_selected, colors.accent);
        legend_entry(ui, Sign::Line(selected, &[]), "selected");
    }
}

fn convergence_pane(ui: &mut Ui, of: &Variable<'_>, memo: &mut Memo<Course>) {
    if of.report.summary.is_empty() {
        of.has_draws(ui, usize::MAX);
        return;
    }
    let criterion = of
        .entry
        .info_names()
        .iter()
        .position(|name| name == CRITERION);
    let warmup = words::warmup_iterations(of.entry, of.run) as f64;
    let key = Key {
        version: of.report.draws_per_chain as u64
            + of.report.running.points(of.index).len() as u64
            + of.key.version * u64::from(criterion.is_some()),
        ..of.key
    };
    let made = memo.get(ui, key, || {
        curves::convergence(of.run, of.report, of.index, warmup, criterion)
    });
    let ess = of.report.limits.ess();
    let rhat = match made.is_nested {
        true => ConvergenceRow::rhat_nested,
        false => ConvergenceRow::rhat,
    };
    let mut rows = vec![
        rhat(&made.rhat.selected, &made.rhat.others, RHAT_LIMIT),
        ConvergenceRow::ess("ESS, bulk", &made.ess.selected, &made.ess.others, ess),
    ];
    // A pane has room for three rows; for samplers with a criterion of their own it is the third.
    if made.criterion.is_empty() {
        rows.push(ConvergenceRow::mcse(
            &made.mcse.selected,
            &made.mcse.others,
            MCSE_LIMIT,
        ));
    } else {
        rows.push(ConvergenceRow::osgfs_criterion(&made.criterion, &[]));
    }
    let span = ConvergenceSpan {
        warmup,
        end: warmup + of.report.draws_per_chain as f64,
        x_title: "iteration",
    };
    ui.add_space(4.0);
    let height = ui.available_height();
    convergence_ui(ui, Palette::of(ui), &rows, span, None, height);
}

/// Comparison with a control run.
#[derive(Default)]
pub(super) struct Bias;

impl Pane for Bias {
    const ID: &'static str = "bias";
    const TITLE: &'static str = "Bias";
    const ICON: char = icons::SEAL_QUESTION;
    const ABOUT: &'static str = "Comparison of an approximate sampler with an exact one";
    const HOME: Home = Home::Right;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        bias_pane(ui, of, out);
    }
}

/// What the bias check of a run said that was read from a folder without numbers per parameter, as earlier versions made it.
fn saved_bias_ui(ui: &mut Ui, said: &str) {
    let t = tokens();
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
                ui.spacing_mut().item_spacing.y = t.space.x2;
                widgets::heading(ui, "What the bias check said");
                widgets::sentence(ui, said, Text::Number);
                widgets::hint(
                    ui,
                    "The folder keeps these sentences; check the bias again to see each parameter",
                );
            });
        });
}

fn bias_pane(ui: &mut Ui, of: &Variable<'_>, out: &mut Outbox) {
    let Some(spec) = of.entry.sampler() else {
        let text =
            "The sampler of these draws is not known, so there is nothing to compare them with";
        widgets::empty_state(ui, icons::SEAL_QUESTION, text, None);
        return;
    };
    let Some(reason) = spec.bias else {
        let text = format!(
            "This sampler, {}, is exact: its draws follow the posterior, so there is no bias to check",
            spec.title
        );
        widgets::empty_state(ui, icons::SEAL_CHECK, &text, None);
        return;
    };
    if let Some(done) = words::control_progress(of.entry) {
        let text = format!(
            "The control, {}, is {:.0}% done; the comparison appears here when it ends",
            words::control(of.entry),
            100.0 * f64::from(done)
        );
        widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, &text, None);
        return;
    }
    if of.entry.check_when_drawn {
        let text = match of.entry.resuming {
            Some(_) => {
                "The data of the run are being read again; the bias check begins when its model is ready"
            }
            None => {
                "The bias check needs more draws, which are being made; it begins when they are there"
            }
        };
        widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, text, None);
        return;
    }
    if let (None, Some(said)) = (&of.report.bias, of.entry.saved_bias_check()) {
        saved_bias_ui(ui, said);
        return;
    }
    let Some(bias) = &of.report.bias else {
        let text = format!(
            "{} is approximate. {reason}. Its bias was not checked. The check runs {} on the same model and compares both{}",
            spec.title,
            words::control(of.entry),
            words::check_cost_in_brackets(of.entry)
        );
        let act = (resuming::check_refusal(of.entry).is_none()).then_some("Check bias");
        if widgets::empty_state(ui, icons::SEAL_QUESTION, &text, act) {
            out.send(RunCommand::CheckBias(of.entry.id));
        }
        return;
    };
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            let t = tokens();
            ui.add_space(t.space.x3);
            ui.horizontal(|ui| {
                ui.add_space(t.space.x4);
                ui.vertical(|ui| {
                    ui.set_width((ui.available_width() - t.space.x4).max(40.0));
                    widgets::heading(ui, "How far each estimate is from an exact sampler");
                    let text = "Worst first; good when the whole bar (95%) lies inside the tolerance, watch when it crosses the edge";
                    widgets::sentence_line(ui, text, Text::Caption, true);
                });
            });
            ui.add_space(t.space.x2);
            shifts_ui(ui, &bias.rows, "shift from the control run");
            if let Some(by_step) = &bias.evidence.by_step {
                ui.add_space(t.space.x3);
                ui.push_id("half step", |ui| {
                    shifts_ui(ui, &by_step.rows, "shift extrapolated from half the step");
                });
            }
            widgets::inset(ui, [t.space.x4, t.space.x2], |ui| {
                ui.spacing_mut().item_spacing.y = t.space.x1;
                for sentence in bias_check::further_sentences(bias) {
                    widgets::hint(ui, &capitalised(&sentence));
                }
            });
        });
}

/// Shifts `what` of all quantities beside the tolerance, the largest first.
fn shifts_ui(ui: &mut Ui, rows: &[BiasRow], what: &str) {
    // Where there is no room for both, the shift stands alone.
    let roomy = ui.available_width() > 600.0;
    let shifts = rows.iter().filter_map(|row| {
        let shift = row.shift?;
        Some(IntervalRow {
            name: row.variable.clone(),
            center: shift.value,
            inner: None,
            outer: (shift.low, shift.high),
            verdict: Some(words::kind_of(row.verdict)),
            value: bias_text(row, shift.value, roomy),
        })
    });
    let mut rows: Vec<IntervalRow> = shifts.collect();
    rows.sort_by(|a, b| b.center.abs().total_cmp(&a.center.abs()));
    let tolerance = ergodic_diagnostics::bias::TOLERANCE;
    let title = format!(
        "{what}, in posterior sd; band: tolerance ±{}",
        number::fixed(tolerance, 1)
    );
    let band = Some((-tolerance, tolerance));
    interval_ui(ui, Palette::of(ui), &rows, band, &title);
}

/// The numbers of a row of the bias check; where there is room, also how wide it is and which quantiles are off.
fn bias_text(row: &BiasRow, shift: f64, roomy: bool) -> String {
    let mut text = shift_text(shift);
    if !roomy {
        return text;
    }
    if let Some(ratio) = row.sd_ratio {
        text.push_str(&format!(", width × {}", number::fixed(ratio.value, 2)));
    }
    for (prob, tail, _) in row.tails_off() {
        let at = shift_text(tail.value);
        text.push_str(&format!(", {:.0}% quantile {at}", 100.0 * prob));
    }
    text
}
