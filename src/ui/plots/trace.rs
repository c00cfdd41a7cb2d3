//! The trace of one parameter: every chain against its iterations.

use eframe::egui::{Align2, Color32, Id, Pos2, Rangef, Shape, Stroke, Ui, pos2};
use egui_plot::{Line, PlotItem as _, PlotPoints};

use super::axes::{Axes, Shown, faded, padded, show};
use super::data_table::{PlotData, chain_heads, data_table_ui};
use super::decimate::{Pieces, decimate};
use super::legend::ChainFilter;
use super::marks::Marks;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::paint;
use ergodic_base::draws::{ChainDraws, DrawList};

/// Iterations that Follow shows.
pub const FOLLOW_ITERATIONS: u64 = 500;

/// How much of a run the trace shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceSpan {
    /// The last [`FOLLOW_ITERATIONS`].
    #[default]
    Follow,
    /// The whole run, warm-up included.
    Whole,
}

/// What a trace shows of one chain: columns of its draws, or of what its sampler reported with them.
#[derive(Clone, Copy, Debug)]
pub struct TraceChain<'a> {
    /// Values of the warm-up.
    pub warmup: &'a DrawList,
    /// Values of the kept draws.
    pub draws: &'a DrawList,
    /// Information columns of the kept draws.
    pub info: &'a DrawList,
    /// The values before the first iteration, where they are known.
    pub start: Option<&'a [f64]>,
    /// Iteration at which its warm-up ends: where it ended once the chain draws, where it is to end before.
    pub warmup_end: u64,
}

impl<'a> TraceChain<'a> {
    /// The reported quantities of a chain whose warm-up ends at iteration `warmup_end`.
    pub fn of_draws(chain: &'a ChainDraws, warmup_end: u64) -> Self {
        Self {
            warmup: &chain.warmup,
            draws: &chain.draws,
            info: &chain.info,
            start: None,
            warmup_end,
        }
    }

    /// The chain with the values that it started at.
    #[must_use]
    pub fn started_at(self, start: Option<&'a [f64]>) -> Self {
        Self { start, ..self }
    }

    /// The sampler's information columns.
    pub fn of_info(chain: &'a ChainDraws, warmup_end: u64) -> Self {
        Self {
            warmup: &chain.warmup_info,
            draws: &chain.info,
            info: &chain.info,
            start: None,
            warmup_end,
        }
    }
}

/// What a trace shows.
#[derive(Clone, Debug)]
pub struct TraceData<'a> {
    /// Tells runs apart.
    pub run: u64,
    /// Version of the published view; a new one means new draws.
    pub version: u64,
    /// The draws of each chain.
    pub chains: &'a [TraceChain<'a>],
    /// Column of the parameter.
    pub column: usize,
    /// Information column that is not 0 where a transition diverged.
    pub divergent: Option<usize>,
    /// Iterations per draw.
    pub thin: u64,
    /// One sentence for screen readers: parameter, chains, draws.
    pub summary: &'a str,
}

/// The lines of the last frame. One per pane that shows a trace; it is rebuilt when what it shows changes.
#[derive(Clone, Debug, Default)]
pub struct TraceCache {
    key: Option<TraceKey>,
    chains: Vec<ChainLine>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct TraceKey {
    run: u64,
    version: u64,
    column: usize,
    divergent: Option<usize>,
    pixels: usize,
    x: (f64, f64),
}

#[derive(Clone, Debug, Default)]
struct ChainLine {
    warmup: Pieces,
    draws: Pieces,
    /// Iterations of divergent transitions, one per pixel column at most.
    divergent: Vec<f64>,
}

impl TraceData<'_> {
    fn step(&self) -> f64 {
        self.thin.max(1) as f64
    }

    /// Iterations of the longest chain.
    pub fn longest(&self) -> f64 {
        let ends = self
            .chains
            .iter()
            .map(|chain| chain.warmup.len() + chain.draws.len());
        ends.max().unwrap_or(0) as f64 * self.step()
    }

    /// Where the warm-up of each chain that `filter` shows ends, with the chain; earliest first. Nothing for a run that
    /// has no warm-up.
    fn warmup_ends(&self, filter: &ChainFilter) -> Vec<(f64, usize)> {
        let mut ends: Vec<(f64, usize)> = self
            .chains
            .iter()
            .enumerate()
            .filter(|(chain, _)| filter.shows(*chain))
            .map(|(index, chain)| (chain.warmup_end as f64, index))
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        if ends.iter().all(|(end, _)| *end <= 0.0) {
            ends.clear();
        }
        ends
    }

    /// Where the slowest chain with draws is: Follow ends there, so that no chain runs out of the picture.
    fn slowest_end(&self) -> f64 {
        let ends = self
            .chains
            .iter()
            .map(|chain| chain.warmup.len() + chain.draws.len());
        ends.filter(|&end| end > 0).min().unwrap_or(0) as f64 * self.step()
    }

    /// Where each chain started, as far as that is known: chain and value.
    pub fn starts(&self) -> Vec<(usize, f64)> {
        let chains = self.chains.iter().enumerate();
        let value = |(i, chain): (usize, &TraceChain<'_>)| {
            let value = *chain.start?.get(self.column)?;
            value.is_finite().then_some((i, value))
        };
        chains.filter_map(value).collect()
    }

    /// The value of each chain at `iteration`, for the read-out above the plot; chains that are not so far are left out.
    pub fn values_at(&self, iteration: f64) -> Vec<(usize, f64)> {
        let draw = (iteration / self.step()).round();
        if !(draw >= 0.0 && draw < usize::MAX as f64) {
            return Vec::new();
        }
        let draw = draw as usize;
        let value = |chain: &TraceChain<'_>| match draw.checked_sub(chain.warmup.len()) {
            None => Some(chain.warmup.value(draw, self.column)),
            Some(i) if i < chain.draws.len() => Some(chain.draws.value(i, self.column)),
            Some(_) => None,
        };
        self.chains
            .iter()
            .enumerate()
            .filter_map(|(i, chain)| Some((i, value(chain)?)))
            .collect()
    }
}

impl TraceCache {
    /// Rebuilds the lines if run, view, parameter, width or range changed. Returns whether it did.
    fn update(&mut self, data: &TraceData<'_>, pixels: usize, x: (f64, f64)) -> bool {
        let key = TraceKey {
            run: data.run,
            version: data.version,
            column: data.column,
            divergent: data.divergent,
            pixels,
            x,
        };
        if self.key == Some(key) {
            return false;
        }
        self.key = Some(key);
        self.chains
            .resize_with(data.chains.len(), ChainLine::default);
        let step = data.step();
        let per_iteration = pixels as f64 / (x.1 - x.0).max(f64::MIN_POSITIVE);
        for (line, chain) in self.chains.iter_mut().zip(data.chains) {
            let start = chain.warmup.len() as f64 * step;
            for (list, origin, out) in [
                (chain.warmup, 0.0, &mut line.warmup),
                (chain.draws, start, &mut line.draws),
            ] {
                // One draw more at both ends, so that the line reaches the edge of the picture.
                let from = (((x.0 - origin) / step).floor() - 1.0).max(0.0) as usize;
                let to = (((x.1 - origin) / step).ceil() + 2.0).max(0.0) as usize;
                let to = to.min(list.len());
                let columns =
                    (to.saturating_sub(from) as f64 * step * per_iteration).ceil() as usize;
                decimate(
                    list,
                    data.column,
                    from..to,
                    columns.max(1),
                    (origin, step),
                    out,
                );
            }
            line.divergent.clear();
            if let Some(column) = data.divergent {
                find_divergent(
                    chain,
                    column,
                    step,
                    1.0 / per_iteration,
                    x,
                    &mut line.divergent,
                );
            }
        }
        true
    }

    /// Range of y: the kept draws, and the warm-up as far as it does not squeeze them.
    fn y_range(&self, filter: &ChainFilter) -> (f64, f64) {
        let shown = || {
            self.chains
                .iter()
                .enumerate()
                .filter(|(i, _)| filter.shows(*i))
                .map(|(_, line)| line)
        };
        let join = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| match (a, b) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        let draws = shown().map(|line| line.draws.extremes()).fold(None, join);
        let warmup = shown().map(|line| line.warmup.extremes()).fold(None, join);
        let enough = shown()
            .map(|line| line.draws.points().len())
            .max()
            .unwrap_or(0)
            >= 20;
        let range = match (draws, warmup) {
            // A constant has no width that a warm-up could be measured by.
            (Some(draws), Some(warmup)) if enough && draws.1 > draws.0 => {
                let span = draws.1 - draws.0;
                (
                    warmup.0.clamp(draws.0 - span, draws.0),
                    warmup.1.clamp(draws.1, draws.1 + span),
                )
            }
            (draws, warmup) => join(draws, warmup).unwrap_or((0.0, 1.0)),
        };
        padded(range, 0.04)
    }
}

fn find_divergent(
    chain: &TraceChain<'_>,
    column: usize,
    step: f64,
    width: f64,
    x: (f64, f64),
    out: &mut Vec<f64>,
) {
    if column >= chain.info.width() {
        return;
    }
    let start = chain.warmup.len();
    let mut at = start;
    for chunk in chain.info.chunks() {
        let (low, high) = chunk.extremes(column);
        // A chunk without a divergence is passed over unread.
        if low < 0.0 || high > 0.0 {
            for (i, &value) in chunk.column(column).iter().enumerate() {
                let iteration = (at + i) as f64 * step;
                let near = out.last().is_some_and(|last| iteration - last < width);
                if value != 0.0 && !near && iteration >= x.0 && iteration <= x.1 {
                    out.push(iteration);
                }
            }
        }
        at += chunk.len();
    }
}

/// Shows the trace over the available width, `height` points high.
pub fn trace_ui(
    ui: &mut Ui,
    p: &Palette,
    data: &TraceData<'_>,
    span: TraceSpan,
    filter: &ChainFilter,
    cache: &mut TraceCache,
    (link, height): (Option<Id>, f32),
) -> Shown {
    let t = tokens();
    let end = match span {
        TraceSpan::Follow => data.slowest_end(),
        TraceSpan::Whole => data.longest(),
    };
    let from = match span {
        TraceSpan::Follow => (end - FOLLOW_ITERATIONS as f64).max(0.0),
        TraceSpan::Whole => 0.0,
    };
    let to = end.max(
        from + if span == TraceSpan::Follow {
            FOLLOW_ITERATIONS as f64
        } else {
            1.0
        },
    );
    let mut axes = Axes::new(
        ui.make_persistent_id("trace"),
        data.summary,
        (from, to),
        (0.0, 1.0),
    );
    axes.x_title = "iteration";
    axes.step = data.thin.max(1) as f64;
    axes.link = link;
    // Only what no chain uses counts as warm-up of the picture: chains may end theirs at different iterations.
    let ends = data.warmup_ends(filter);
    let edges = ends
        .first()
        .map(|(end, _)| *end)
        .zip(ends.last().map(|(end, _)| *end));
    if let Some((first, last)) = edges
        && last > from
    {
        axes.warmup = Some((0.0, first));
    }
    let pixels = (axes.plot_width(ui) * ui.ctx().pixels_per_point())
        .round()
        .max(1.0) as usize;
    let visible = axes.visible_x(ui);
    cache.update(data, pixels, visible);
    axes.y = cache.y_range(filter);

    let lines = &cache.chains;
    let alpha = if data.chains.len() > 4 {
        1.0
    } else {
        t.alpha.trace
    };
    let (words_color, bad) = (p.text_secondary, p.bad);
    let warm = axes.warmup;
    let colors: Vec<_> = (0..lines.len()).map(|chain| p.chain(chain)).collect();
    let mut starts = data.starts();
    starts.retain(|(chain, _)| filter.shows(*chain));
    let shown = show(ui, p, &axes, height, |plot_ui| {
        plot_ui.add(Marks::new(
            move |ui: &Ui, transform, shapes: &mut Vec<Shape>| {
                let frame = *transform.frame();
                for (chain, line) in lines
                    .iter()
                    .enumerate()
                    .filter(|(chain, _)| filter.shows(*chain))
                {
                    for (pieces, alpha, width) in [
                        (&line.warmup, t.alpha.trace_warmup, t.stroke.trace_warmup),
                        (&line.draws, alpha, t.stroke.trace),
                    ] {
                        let stroke = Stroke::new(width, faded(colors[chain], alpha));
                        for piece in pieces.iter() {
                            let line = Line::new("", PlotPoints::Borrowed(piece))
                                .stroke(stroke)
                                .allow_band(false);
                            line.shapes(ui, transform, shapes);
                        }
                    }
                    for &iteration in &line.divergent {
                        let x = transform.position_from_point_x(iteration);
                        shapes.push(Shape::vline(
                            x,
                            frame.bottom() - 6.0..=frame.bottom(),
                            Stroke::new(1.0, bad),
                        ));
                    }
                }
                // Chains start before their first iteration, where the picture begins.
                let begin = transform.position_from_point_x(0.0);
                if frame.x_range().expand(1.0).contains(begin) {
                    for &(chain, value) in &starts {
                        let y = transform.position_from_point_y(value);
                        shapes.push(start_mark(pos2(begin, y), frame.y_range(), colors[chain]));
                    }
                }
                if let Some((first, last)) = edges.filter(|_| warm.is_some()) {
                    // Each chain has its own edge where they differ.
                    for &(end, chain) in ends.iter().filter(|_| last > first) {
                        let x = transform.position_from_point_x(end);
                        if frame.x_range().contains(x) {
                            let stroke = Stroke::new(t.stroke.threshold, colors[chain]);
                            let line = vec![pos2(x, frame.top()), pos2(x, frame.bottom())];
                            paint::dashed(line, stroke, &t.dash.warmup_edge, shapes);
                        }
                    }
                    let edge = transform.position_from_point_x(first).min(frame.right());
                    let begin = transform.position_from_point_x(last);
                    let word = |text: &str, align: Align2, x: f32, shapes: &mut Vec<Shape>| {
                        let galley =
                            paint::line(ui, text, Text::Caption, words_color, f32::INFINITY);
                        let rect = align.anchor_size(pos2(x, frame.top() + 3.0), galley.size());
                        if rect.left() >= frame.left() && rect.right() <= frame.right() {
                            shapes.push(Shape::galley(rect.min, galley, words_color));
                        }
                    };
                    let left = transform.position_from_point_x(0.0).max(frame.left());
                    if edge - left > 110.0 {
                        word("Warm-up, not used", Align2::LEFT_TOP, left + 8.0, shapes);
                    }
                    if frame.right() - begin > 60.0 {
                        word(
                            "Draws",
                            Align2::LEFT_TOP,
                            begin.max(frame.left()) + 8.0,
                            shapes,
                        );
                    }
                }
            },
        ));
    });
    let draws = data.chains.iter().map(|chain| chain.draws.len()).max();
    data_table_ui(ui, &shown.response, data.summary, || {
        let heads = chain_heads("draw", data.chains.len());
        PlotData::new(heads, draws.unwrap_or(0), |draw, column| {
            match column.checked_sub(1) {
                None => (draw + 1) as f64,
                Some(chain) => {
                    let draws = data.chains[chain].draws;
                    if draw < draws.len() {
                        draws.value(draw, data.column)
                    } else {
                        f64::NAN
                    }
                }
            }
        })
    });
    shown
}

/// Half the height of the mark of a start.
const START_MARK: f32 = 4.0;

/// A triangle that points at a start from the left edge; up or down where the start is above or below the picture.
fn start_mark(at: Pos2, inside: Rangef, color: Color32) -> Shape {
    let r = START_MARK;
    let points = if at.y < inside.min {
        let top = inside.min;
        vec![
            pos2(at.x, top + 2.0 * r),
            pos2(at.x + r, top),
            pos2(at.x + 2.0 * r, top + 2.0 * r),
        ]
    } else if at.y > inside.max {
        let bottom = inside.max;
        vec![
            pos2(at.x, bottom - 2.0 * r),
            pos2(at.x + 2.0 * r, bottom - 2.0 * r),
            pos2(at.x + r, bottom),
        ]
    } else {
        vec![
            pos2(at.x, at.y - r),
            pos2(at.x + 2.0 * r, at.y),
            pos2(at.x, at.y + r),
        ]
    };
    Shape::convex_polygon(points, color, Stroke::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    fn chain(num_warmup: usize, num_draws: usize, shift: f64) -> ChainDraws {
        let mut chain = ChainDraws::new(1, 1);
        for i in 0..num_warmup {
            chain.warmup.push(&[shift + 50.0 / (1.0 + i as f64)]);
        }
        for i in 0..num_draws {
            chain.draws.push(&[shift + (i as f64 * 0.7).sin()]);
            chain
                .info
                .push(&[f64::from(u8::from(i == 30 || i == 2000))]);
        }
        chain
    }

    /// A chain whose warm-up ended where its draws begin.
    fn whole(chain: &ChainDraws) -> TraceChain<'_> {
        TraceChain::of_draws(chain, chain.warmup.len() as u64)
    }

    fn data<'a>(chains: &'a [TraceChain<'a>], version: u64) -> TraceData<'a> {
        TraceData {
            run: 1,
            version,
            chains,
            column: 0,
            divergent: Some(0),
            thin: 1,
            summary: "Trace of b[age]",
        }
    }

    #[test]
    fn lines_are_rebuilt_only_when_something_changed() {
        let a = chain(100, 3000, 0.0);
        let chains = [whole(&a)];
        let mut cache = TraceCache::default();
        assert!(cache.update(&data(&chains, 1), 600, (0.0, 3100.0)));
        assert!(!cache.update(&data(&chains, 1), 600, (0.0, 3100.0)));
        assert!(cache.update(&data(&chains, 2), 600, (0.0, 3100.0)));
        assert!(cache.update(&data(&chains, 2), 601, (0.0, 3100.0)));
        assert!(cache.update(&data(&chains, 2), 601, (10.0, 3100.0)));
    }

    #[test]
    fn divergences_stand_at_their_iterations() {
        let a = chain(100, 3000, 0.0);
        let chains = [whole(&a)];
        let mut cache = TraceCache::default();
        cache.update(&data(&chains, 1), 600, (0.0, 3100.0));
        assert_eq!(cache.chains[0].divergent, [130.0, 2100.0]);
    }

    #[test]
    fn starts_are_known_by_chain() {
        let (a, b) = (chain(0, 50, 0.0), chain(0, 50, 1.0));
        let chains = [
            whole(&a).started_at(Some(&[7.5])),
            whole(&b),
            whole(&b).started_at(Some(&[f64::NAN])),
        ];
        assert_eq!(data(&chains, 1).starts(), [(0, 7.5)]);
        let inside = Rangef::new(10.0, 100.0);
        // What is out of the picture is marked at its edge, and never outside.
        for y in [-500.0, 10.0, 50.0, 100.0, 1e9] {
            let mark = start_mark(pos2(0.0, y), inside, Color32::BLACK);
            let seen = mark.visual_bounding_rect();
            assert!(seen.bottom() > 10.0 && seen.top() < 100.0, "{y}: {seen}");
        }
    }

    #[test]
    fn a_wild_start_does_not_squeeze_the_draws() {
        let a = chain(100, 3000, 0.0);
        let chains = [whole(&a)];
        let mut cache = TraceCache::default();
        cache.update(&data(&chains, 1), 600, (0.0, 3100.0));
        let (low, high) = cache.y_range(&ChainFilter::default());
        assert!(low < -0.99 && high > 2.9 && high < 3.6, "{low} to {high}");
    }

    #[test]
    fn a_constant_is_shown_with_its_warm_up() {
        let mut a = ChainDraws::new(1, 0);
        for i in 0..100 {
            a.warmup.push(&[0.1 + 0.001 * f64::from(i)]);
        }
        for _ in 0..3000 {
            a.draws.push(&[0.349]);
        }
        let chains = [whole(&a)];
        let shown = |from: f64| {
            let mut cache = TraceCache::default();
            cache.update(&data(&chains, 1), 600, (from, 3100.0));
            cache.y_range(&ChainFilter::default())
        };
        let (low, high) = shown(0.0);
        assert!(low < 0.1 && high > 0.349 && high < 0.4, "{low} to {high}");
        let (low, high) = shown(2000.0);
        assert!(low < 0.349 && high > 0.349, "{low} to {high}");
    }

    #[test]
    fn the_read_out_knows_warm_up_and_short_chains() {
        let (a, b) = (chain(10, 100, 0.0), chain(10, 5, 10.0));
        let chains = [&a, &b].map(whole);
        let data = data(&chains, 1);
        assert_eq!(data.values_at(0.4), [(0, 50.0), (1, 60.0)]);
        assert_eq!(data.values_at(10.0), [(0, 0.0), (1, 10.0)]);
        assert_eq!(data.values_at(50.0).len(), 1);
        assert!(data.values_at(-3.0).is_empty() && data.values_at(f64::NAN).is_empty());
    }

    #[test]
    fn a_settled_trace_is_named_and_asks_for_no_repaint() {
        let (a, b) = (chain(100, 3000, 0.0), chain(100, 2500, 0.5));
        let mut harness = harness([700.0, 300.0], TraceCache::default(), move |ui, cache| {
            let chains = [&a, &b].map(whole);
            let p = Palette::of(ui);
            trace_ui(
                ui,
                p,
                &data(&chains, 1),
                TraceSpan::Whole,
                &ChainFilter::default(),
                cache,
                (None, 280.0),
            );
        });
        harness.run();
        harness.get_by_label("Trace of b[age]");
        assert!(harness.state().chains[0].draws.points().len() > 500);
    }

    #[test]
    fn warm_up_ends_where_it_ends_for_each_chain_and_not_at_the_newest_draw() {
        // At iteration 93 of a warm-up of 1,000 nothing is used yet.
        let (a, b) = (chain(93, 0, 0.0), chain(90, 0, 0.0));
        let chains = [&a, &b].map(|chain| TraceChain::of_draws(chain, 1000));
        let all = ChainFilter::default();
        assert_eq!(
            data(&chains, 1).warmup_ends(&all),
            [(1000.0, 0), (1000.0, 1)]
        );
        assert_eq!(data(&chains, 1).longest(), 93.0);
        // Ended by hand, chains draw from different iterations: what is shaded ends with the first of them.
        let (a, b) = (chain(300, 500, 0.0), chain(260, 500, 0.0));
        let chains = [&a, &b].map(whole);
        assert_eq!(data(&chains, 1).warmup_ends(&all), [(260.0, 1), (300.0, 0)]);
        let mut one = ChainFilter::default();
        one.click(0);
        assert_eq!(data(&chains, 1).warmup_ends(&one), [(300.0, 0)]);
        let none = [TraceChain::of_draws(&a, 0)];
        assert!(data(&none, 1).warmup_ends(&all).is_empty());
    }

    #[test]
    fn an_empty_run_draws_axes_and_nothing_else() {
        let a = ChainDraws::new(1, 0);
        let mut harness = harness([700.0, 300.0], TraceCache::default(), move |ui, cache| {
            let chains = [whole(&a)];
            let p = Palette::of(ui);
            trace_ui(
                ui,
                p,
                &data(&chains, 1),
                TraceSpan::Follow,
                &ChainFilter::default(),
                cache,
                (None, 280.0),
            );
        });
        harness.run();
        harness.get_by_label("Trace of b[age]");
    }
}
