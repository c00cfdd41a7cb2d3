//! The pane of pairs: draws of the selected parameter against those of another one, and the same in small for those that go
//! with it most. Where there are divergent transitions, the pairs that go most along with them are proposed, and until somebody
//! chooses a parameter the worst is shown.

use eframe::egui::{
    Align, Color32, Layout, Mesh, Pos2, Rect, Role, Sense, Shape, Stroke, StrokeKind, Ui,
    UiBuilder, WidgetInfo, pos2, vec2,
};

use super::curves::{Key, Memo};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable, legend_ui};
use crate::app::ViewCommand;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::menu;
use crate::ui::plots::ChainFilter;
use crate::ui::plots::axes::{self, Axes, faded, padded};
use crate::ui::plots::data_table::{PlotData, data_table_ui, picture_table_ui};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::name::longest_names;
use crate::ui::widgets::{self, Button, number, paint};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::plural;
use ergodic_core::engine::RunView;
use ergodic_core::samplers::weight_column;
use ergodic_diagnostics::contours::{MASSES, Region, regions};
use ergodic_diagnostics::{DivergentPair, weights};
use worst::{divergent_column, divergent_draws, worst, worst_ui};

mod worst;

/// Points of the picture: more lie over each other.
const MOST: usize = 4_000;
/// Draws for each that may be marked as divergent besides.
const PER_DIVERGENT: usize = 8;
/// Points of each small picture.
const SMALL_MOST: usize = 400;
/// Parameters of the matrix.
const SIDE_MOST: usize = 5;
/// Least width and height of a small picture.
const CELL_LEAST: f32 = 40.0;
/// Least width of a pane that has a matrix beside its picture.
const ROOMY: f32 = 460.0;
/// Values that are read to find the parameters which go with the selected one, and a tenth of that of each at most.
const LOOKED_AT: usize = 1_000_000;
/// Partners that the menu lists.
const LISTED: usize = 60;
/// Height of the line with the names, and of that with proposed pairs.
const HEAD: f32 = 30.0;
/// Fewest letters of a name on the diagonal of the matrix.
const SHORTEST: usize = 6;
/// Radius of a point, and half the width of the cross of a divergent transition.
const DOT: f32 = 1.75;
const CROSS: f32 = 3.5;

/// Pairs of parameters.
#[derive(Default)]
pub(super) struct Pairs {
    partner: Option<Partner>,
    worst: Memo<Vec<DivergentPair>>,
    ranking: Memo<Vec<(usize, f64)>>,
    cloud: Memo<Cloud>,
    /// The run and the parameters of the matrix, as many as there was room for.
    set: (u64, usize, Vec<usize>),
    /// Counts changes of `set`.
    sets: usize,
    matrix: Memo<Matrix>,
}

/// The parameter that the selected one stands against.
#[derive(Clone, Copy)]
struct Partner {
    run: u64,
    /// The selected parameter for which it was proposed; `None` if somebody chose it.
    proposed_for: Option<usize>,
    variable: usize,
}

impl Pane for Pairs {
    const ID: &'static str = "pairs";
    const TITLE: &'static str = "Pairs";
    const ICON: char = icons::GRID_FOUR;
    const ABOUT: &'static str = "Draws of two parameters against each other, with contours; crosses mark divergent transitions";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.names.len() > 1 {
            Ok(())
        } else {
            Err("A pair needs two parameters, and this run has one")
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, out: &mut Outbox) {
        if !of.has_draws(ui, 20) {
            return;
        }
        // The pairs of a run, whichever parameter is selected.
        let of_run = of.at(0).key;
        let worst = self.worst.get(ui, of_run, || worst(of));
        let opening = worst.first().filter(|_| !of.state.variable_is_chosen);
        let of = &opening.map_or(*of, |pair| of.at(pair.parameters[0]));
        let ranking = self.ranking.get(ui, of.key, || ranking(of));
        let known = self.partner.filter(|it| it.is_for(of));
        let partner = known.or_else(|| {
            let variable = match opening {
                Some(pair) => pair.parameters[1],
                None => ranking.first()?.0,
            };
            Some(Partner {
                run: of.key.run,
                proposed_for: Some(of.index),
                variable,
            })
        });
        self.partner = partner;
        let Some(Partner { variable: x, .. }) = partner else {
            return;
        };
        let key = Key {
            variable: x * of.names.len() + of.index,
            ..of.key
        };
        let cloud = self.cloud.get(ui, key, || Cloud::new(of, [x, of.index]));
        let line = vec2(ui.available_width(), HEAD);
        let proposed = (!worst.is_empty()).then(|| ui.allocate_exact_size(line, Sense::hover()).0);
        let head = ui.allocate_exact_size(line, Sense::hover());
        let area = ui.available_rect_before_wrap();
        // Two parameters are one picture.
        let room = if area.width() >= ROOMY && of.names.len() > 2 {
            (0.42 * area.width()).min(area.height() - 2.0 * tokens().space.x2)
        } else {
            0.0
        };
        let side = ((room / CELL_LEAST) as usize).clamp(2, SIDE_MOST);
        let (run, made_for, set) = &self.set;
        let holds = |variable: usize| set.contains(&variable);
        if *run != of.key.run || *made_for != side || !(holds(x) && holds(of.index)) {
            let others = ranking.iter().map(|(variable, _)| *variable);
            let mut set = vec![of.index, x];
            set.extend(others.filter(|&other| other != x).take(side - 2));
            set.sort_unstable();
            self.set = (of.key.run, side, set);
            self.sets += 1;
        }
        let set = &self.set.2;
        let key = Key {
            variable: self.sets,
            ..of.key
        };
        let matrix = self.matrix.get(ui, key, || Matrix::new(of, set));
        let place = |variable: usize| set.iter().position(|&other| other == variable);
        let correlation = place(of.index)
            .zip(place(x))
            .and_then(|(i, j)| matrix.correlation(i, j));
        let mut chosen = head_ui(ui, head.0, of, x, (ranking, cloud), correlation);
        if chosen.is_some() && opening.is_some() {
            // Whoever chooses a partner has chosen what stands against it.
            out.send(ViewCommand::SelectVariable(of.index));
        }
        if let Some(pair) = proposed.and_then(|rect| worst_ui(ui, rect, of, x, worst)) {
            let [selected, partner] = pair.parameters;
            out.send(ViewCommand::SelectVariable(selected));
            chosen = Some(partner);
        }
        let has_matrix = room >= 2.0 * CELL_LEAST;
        let left = if has_matrix {
            Rect::from_min_max(area.min, pos2(area.right() - room - 16.0, area.bottom()))
        } else {
            area
        };
        ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
            cloud_ui(ui, of, x, cloud, &views.filter);
        });
        if has_matrix {
            let min = pos2(
                left.right() + tokens().space.x2,
                area.top() + tokens().space.x2,
            );
            let square = Rect::from_min_size(min, vec2(room, room));
            let clicked = matrix_ui(ui, square, of, (set, x), matrix, &views.filter);
            if let Some((row, column)) = clicked {
                out.send(ViewCommand::SelectVariable(row));
                chosen = Some(column);
            }
        }
        if let Some(variable) = chosen {
            self.partner = Some(Partner {
                run: of.key.run,
                proposed_for: None,
                variable,
            });
        }
    }

    fn strip_ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, tabs: f32) {
        legend_ui(ui, of, tabs, views);
    }
}

impl Partner {
    fn is_for(&self, of: &Variable<'_>) -> bool {
        self.run == of.key.run
            && self.variable != of.index
            && self.variable < of.names.len()
            && self.proposed_for.is_none_or(|index| index == of.index)
    }
}

/// Whether draws count differently, and the column that says how much.
fn weighted(of: &Variable<'_>) -> Option<usize> {
    let column = weight_column(&of.entry.info_names())?;
    let chains = of.run.chains.iter();
    let all: Vec<Vec<f64>> = chains
        .map(|chain| chain.draws.info.column(column))
        .collect();
    weights::matter(&all).then_some(column)
}

/// Kept draws of a few parameters or all, chain after chain, and their weights.
struct Series<'a> {
    run: &'a RunView,
    /// From one draw to the next that is looked at.
    step: usize,
    weights: Option<Vec<f64>>,
}

impl<'a> Series<'a> {
    /// As many draws as there may be of n parameters.
    fn new(of: &Variable<'a>, params: usize) -> Self {
        let most = (LOOKED_AT / params.max(1)).clamp(100, LOOKED_AT / 10);
        let total: usize = of.run.chains.iter().map(|it| it.draws.draws.len()).sum();
        let step = total.div_ceil(most).max(1);
        let run = of.run;
        let weights = weighted(of).map(|column| {
            let lists = run.chains.iter().map(|chain| &chain.draws.info);
            lists.flat_map(|list| every(list, column, step)).collect()
        });
        Self { run, step, weights }
    }

    fn of(&self, variable: usize) -> Vec<f64> {
        let lists = self.run.chains.iter().map(|chain| &chain.draws.draws);
        lists
            .flat_map(|list| every(list, variable, self.step))
            .collect()
    }

    fn correlation(&self, x: &[f64], y: &[f64]) -> Option<f64> {
        correlation(x, y, self.weights.as_deref())
    }
}

/// Every `step`-th value of a column.
fn every(list: &DrawList, column: usize, step: usize) -> Vec<f64> {
    if step == 1 {
        return list.column(column);
    }
    let kept = (0..list.len()).step_by(step);
    kept.map(|draw| list.value(draw, column)).collect()
}

/// Correlation of two series, weighted if there are weights; `None` where one is constant or not finite.
fn correlation(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let (mut total, mut mean_x, mut mean_y) = (0.0, 0.0, 0.0);
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        let w = weight(i);
        total += w;
        mean_x += w * x;
        mean_y += w * y;
    }
    mean_x /= total;
    mean_y /= total;
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        let (w, dx, dy) = (weight(i), x - mean_x, y - mean_y);
        xx += w * dx * dx;
        xy += w * dx * dy;
        yy += w * dy * dy;
    }
    // Equal values differ from their mean by rounding.
    let varies = |square: f64, mean: f64| (square / total).sqrt() > 1e-12 * mean.abs();
    let found = xy / (xx.sqrt() * yy.sqrt());
    (varies(xx, mean_x) && varies(yy, mean_y) && found.is_finite())
        .then_some(found.clamp(-1.0, 1.0))
}

/// Parameters with their correlations with the selected one, the strongest first.
fn ranking(of: &Variable<'_>) -> Vec<(usize, f64)> {
    let series = Series::new(of, of.names.len());
    let selected = series.of(of.index);
    let mut found: Vec<(usize, f64)> = (0..of.names.len())
        .filter(|&other| other != of.index)
        .map(|other| {
            let found = series.correlation(&selected, &series.of(other));
            (other, found.unwrap_or_default())
        })
        .collect();
    found.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    found
}

/// A draw: its chain, its place, and whether the transition to it diverged.
#[derive(Clone, Copy)]
struct Mark {
    chain: usize,
    at: [f64; 2],
    divergent: bool,
}

/// Draws by chain and number that are shown, whatever the parameters.
#[derive(Default)]
struct Thinned {
    /// About as many as asked for, evenly over all chains.
    plain: Vec<(usize, usize)>,
    /// Of those after divergent transitions, an eighth of that at most.
    divergent: Vec<(usize, usize)>,
    /// How many there are of both kinds.
    totals: [usize; 2],
}

impl Thinned {
    fn new(of: &Variable<'_>, most: usize) -> Self {
        let column = divergent_column(of);
        let divergent = divergent_draws(of);
        let chains: Vec<_> = of.run.chains.iter().map(|chain| &chain.draws).collect();
        let is_divergent = |chain: usize, draw: usize| {
            column.is_some_and(|column| chains[chain].info.value(draw, column) != 0.0)
        };
        let total: usize = chains.iter().map(|chain| chain.draws.len()).sum();
        let longest = chains.iter().map(|chain| chain.draws.len()).max();
        // Chain by chain within a draw, so that no chain lies over the others.
        let plain = (0..longest.unwrap_or(0))
            .step_by(total.div_ceil(most).max(1))
            .flat_map(|draw| (0..chains.len()).map(move |chain| (chain, draw)))
            .filter(|&(chain, draw)| draw < chains[chain].draws.len() && !is_divergent(chain, draw))
            .collect();
        let totals = [total - divergent.len(), divergent.len()];
        let step = divergent.len().div_ceil(most / PER_DIVERGENT).max(1);
        Self {
            plain,
            divergent: divergent.into_iter().step_by(step).collect(),
            totals,
        }
    }

    /// The places of two parameters, divergent ones last. A draw that is not finite has none.
    fn marks(&self, run: &RunView, [x, y]: [usize; 2]) -> Vec<Mark> {
        let mark = |&(chain, draw): &(usize, usize), divergent: bool| {
            let draws = &run.chains[chain].draws.draws;
            let at = [draws.value(draw, x), draws.value(draw, y)];
            at.iter().all(|value| value.is_finite()).then_some(Mark {
                chain,
                at,
                divergent,
            })
        };
        let plain = self.plain.iter().filter_map(|draw| mark(draw, false));
        let divergent = self.divergent.iter().filter_map(|draw| mark(draw, true));
        plain.chain(divergent).collect()
    }
}

/// Ends of the values in one direction.
fn ends(marks: &[Mark], k: usize) -> (f64, f64) {
    let values = marks.iter().map(|mark| mark.at[k]);
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// What the picture shows.
#[derive(Default)]
struct Cloud {
    marks: Vec<Mark>,
    /// Draws of the run but for those after divergent transitions.
    plain: usize,
    /// Draws of the run after divergent transitions.
    divergent: usize,
    weighted: bool,
    /// Where the joint density of all chains is highest; none of few draws, and of parameters that follow from each other.
    regions: Vec<Region>,
}

impl Cloud {
    fn new(of: &Variable<'_>, pair: [usize; 2]) -> Self {
        let thinned = Thinned::new(of, MOST);
        let [plain, divergent] = thinned.totals;
        Self {
            marks: thinned.marks(of.run, pair),
            plain,
            divergent,
            weighted: weighted(of).is_some(),
            regions: highest(of, pair),
        }
    }

    /// What is to be known about the picture.
    fn caption(&self, correlation: Option<f64>) -> String {
        let count = |count: usize| number::integer(count as u64);
        let mut parts = vec![match correlation {
            Some(found) => format!("correlation {}", number::fixed(found, 2)),
            None => "no correlation: one of the two does not vary".to_owned(),
        }];
        let shown = self.marks.iter().filter(|mark| !mark.divergent).count();
        if shown < self.plain {
            let (shown, all) = (count(shown), count(self.plain));
            parts.push(format!("{shown} of {all} draws"));
        }
        if !self.regions.is_empty() {
            let [inner, outer] = MASSES.map(|mass| number::fixed(100.0 * mass, 0));
            parts.push(format!("contours hold {inner}% and {outer}% of them"));
        }
        if self.weighted {
            parts.push("points do not show weights".to_owned());
        }
        parts.join(" · ")
    }
}

/// The regions of the pair that hold half and most of the draws.
fn highest(of: &Variable<'_>, pair: [usize; 2]) -> Vec<Region> {
    let series = Series::new(of, pair.len());
    let [x, y] = pair.map(|variable| series.of(variable));
    let of_draws = |weights: &Vec<f64>| weights::relative(&[weights], weights.len());
    let relative = series.weights.as_ref().and_then(of_draws).transpose();
    let found = relative.and_then(|relative| regions([&x, &y], relative.as_deref(), MASSES));
    found.map_or_else(|_missing| Vec::new(), Vec::from)
}

/// Small pictures of all pairs of a few parameters.
#[derive(Default)]
struct Matrix {
    side: usize,
    /// Of row and column, `row * side + column`; empty but below the diagonal. Places are shares of the picture.
    marks: Vec<Vec<Mark>>,
    correlations: Vec<Option<f64>>,
}

impl Matrix {
    fn new(of: &Variable<'_>, set: &[usize]) -> Self {
        let side = set.len();
        let series = Series::new(of, side);
        let draws: Vec<Vec<f64>> = set.iter().map(|&it| series.of(it)).collect();
        let thinned = Thinned::new(of, SMALL_MOST);
        let mut made = Self {
            side,
            marks: vec![Vec::new(); side * side],
            correlations: vec![None; side * side],
        };
        for row in 0..side {
            for column in 0..row {
                let mut marks = thinned.marks(of.run, [set[column], set[row]]);
                for k in 0..2 {
                    let (low, high) = padded(ends(&marks, k), 0.06);
                    for mark in &mut marks {
                        mark.at[k] = (mark.at[k] - low) / (high - low);
                    }
                }
                let cell = row * side + column;
                made.marks[cell] = marks;
                made.correlations[cell] = series.correlation(&draws[column], &draws[row]);
            }
        }
        made
    }

    fn correlation(&self, i: usize, j: usize) -> Option<f64> {
        let cell = i.max(j) * self.side + i.min(j);
        self.correlations.get(cell).copied().flatten()
    }
}

/// The line with both names and what is to be known. Returns the partner that somebody chose.
fn head_ui(
    ui: &mut Ui,
    rect: Rect,
    of: &Variable<'_>,
    x: usize,
    (ranking, cloud): (&[(usize, f64)], &Cloud),
    correlation: Option<f64>,
) -> Option<usize> {
    let t = tokens();
    let p = Palette::of(ui);
    let y = rect.center().y;
    let third = rect.width() / 3.0;
    let name = paint::line(ui, of.name, Text::Code, p.text_primary, third);
    let right = paint::left_center(ui.painter(), rect.left() + t.space.x3, y, name).right();
    let word = paint::line(ui, "against", Text::Caption, p.text_secondary, third);
    let right = paint::left_center(ui.painter(), right + t.space.x2, y, word).right();
    let rest = Rect::from_min_max(
        pos2(right + t.space.x2, rect.top()),
        pos2(rect.right() - t.space.x3, rect.bottom()),
    );
    let mut chosen = None;
    let builder = UiBuilder::new()
        .max_rect(rest)
        .layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(builder, |ui| {
        ui.spacing_mut().item_spacing.x = t.space.x3;
        let button = Button::new(&of.names[x]).small().caret().max_width(third);
        let button = ui.add(button);
        menu::menu(&button, menu::NORMAL, |ui| {
            for &(variable, strength) in ranking.iter().take(LISTED) {
                let fact = number::fixed(strength, 2);
                if menu::item(ui, &of.names[variable], &fact, variable == x).clicked() {
                    chosen = Some(variable);
                }
            }
            if ranking.len() > LISTED {
                let text = "The strongest correlations; click another parameter in the table to see it against one of these";
                menu::note(ui, text);
            }
        });
        button.on_hover_text("The parameter that the selected one stands against, with correlations");
        if cloud.divergent > 0 {
            divergent_ui(ui, cloud.divergent);
        }
        let layout = Layout::right_to_left(Align::Center);
        ui.with_layout(layout, |ui| {
            let text = cloud.caption(correlation);
            widgets::sentence_line(ui, &text, Text::Caption, true);
        });
    });
    chosen
}

/// The sign of divergent transitions and how many there are.
fn divergent_ui(ui: &mut Ui, count: usize) {
    let p = Palette::of(ui);
    let words = plural(count, "divergent transition");
    let text = paint::line(ui, &words, Text::Caption, p.text_secondary, f32::INFINITY);
    let size = vec2(2.0 * CROSS + 6.0 + text.size().x, tokens().size.min_target);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(&words)));
    let center = pos2(rect.left() + CROSS, rect.center().y);
    ui.painter().extend(cross(center, p.bad));
    let left = rect.left() + 2.0 * CROSS + 6.0;
    paint::left_center(ui.painter(), left, rect.center().y, text);
    response.on_hover_text(
        "The sampler lost its way there: where crosses crowd, the posterior is too narrow for its steps, and draws may be missing",
    );
}

fn cross(at: Pos2, color: Color32) -> [Shape; 2] {
    let stroke = Stroke::new(1.5, color);
    [vec2(CROSS, CROSS), vec2(CROSS, -CROSS)]
        .map(|arm| Shape::line_segment([at - arm, at + arm], stroke))
}

/// The picture: the selected parameter upwards, its partner to the right.
fn cloud_ui(ui: &mut Ui, of: &Variable<'_>, x: usize, cloud: &Cloud, filter: &ChainFilter) {
    let p = Palette::of(ui);
    if cloud.marks.is_empty() {
        let text = "No draw of this pair is finite, so there is no picture of it";
        widgets::empty_state(ui, icons::GRID_FOUR, text, None);
        return;
    }
    let summary = format!(
        "Draws of {} against {}: {} shown, {}",
        of.name,
        of.names[x],
        cloud.marks.len(),
        plural(cloud.divergent, "divergent transition")
    );
    let axes = Axes {
        x_title: &of.names[x],
        y_title: of.name,
        ..Axes::new(
            ui.make_persistent_id(("pairs", of.key.run, of.index, x)),
            &summary,
            padded(ends(&cloud.marks, 0), 0.04),
            padded(ends(&cloud.marks, 1), 0.04),
        )
    };
    let height = ui.available_height();
    // Where points lie over each other their number shows.
    let alpha = if cloud.marks.len() > 300 { 0.45 } else { 0.8 };
    let colors: Vec<Color32> = (0..of.run.chains.len())
        .map(|chain| faded(p.chain(chain), alpha))
        .collect();
    let bad = p.bad;
    // Thick around half of the draws, as with intervals.
    let stroke = &tokens().stroke;
    let lines =
        [stroke.curve_pooled, stroke.curve_other].map(|width| Stroke::new(width, p.posterior));
    let shown = axes::show(ui, p, &axes, height, |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let frame = *transform.frame();
            for mark in cloud.marks.iter().filter(|mark| filter.shows(mark.chain)) {
                let at = marks::at(transform, mark.at[0], mark.at[1]);
                if !frame.contains(at) {
                    continue;
                }
                if mark.divergent {
                    shapes.extend(cross(at, bad));
                } else {
                    shapes.push(Shape::circle_filled(at, DOT, colors[mark.chain]));
                }
            }
            for (region, line) in cloud.regions.iter().zip(lines) {
                for points in &region.contours {
                    marks::curve(points, line, &[], f64::INFINITY, transform, shapes);
                }
            }
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        let heads = ["chain", &of.names[x], of.name, "divergent"];
        PlotData::new(heads, cloud.marks.len(), |row, column| {
            let mark = &cloud.marks[row];
            let [x, y] = mark.at;
            let chain = (mark.chain + 1) as f64;
            [chain, x, y, f64::from(u8::from(mark.divergent))][column]
        })
    });
}

/// The small pictures: names on the diagonal, pictures below it, correlations above. Returns row and column of a click.
fn matrix_ui(
    ui: &mut Ui,
    square: Rect,
    of: &Variable<'_>,
    (set, x): (&[usize], usize),
    matrix: &Matrix,
    filter: &ChainFilter,
) -> Option<(usize, usize)> {
    let t = tokens();
    let p = Palette::of(ui);
    let step = square.width() / set.len() as f32;
    let place = |row: usize, column: usize| {
        let min = square.min + vec2(column as f32 * step, row as f32 * step);
        Rect::from_min_size(min, vec2(step, step)).shrink(1.5)
    };
    let mut clicked = None;
    let long: Vec<&ParamId> = set.iter().map(|&it| &of.names[it]).collect();
    let id = ui.make_persistent_id("pairs matrix");
    picture_table_ui(ui, (square, id), "Correlations", || {
        let names: Vec<&str> = long.iter().map(|name| name.as_str()).collect();
        PlotData::new(names.clone(), set.len(), |row, column| {
            if row == column {
                1.0
            } else {
                matrix.correlation(row, column).unwrap_or(f64::NAN)
            }
        })
        .named("parameter", names)
    });
    let short = longest_names(&long, SHORTEST, |short| {
        let width = |name: &String| {
            let name = paint::line(ui, name, Text::Caption, p.text_secondary, f32::INFINITY);
            name.size().x
        };
        short.iter().all(|name| width(name) <= place(0, 0).width())
    });
    for (row, &down) in set.iter().enumerate() {
        let rect = place(row, row);
        let color = if down == of.index {
            p.accent
        } else {
            p.text_secondary
        };
        let name = paint::line(ui, &short[row], Text::Caption, color, rect.width());
        let is_cut = name.elided || *long[row] != short[row];
        paint::centered(ui.painter(), rect, name);
        if is_cut {
            let id = ui.make_persistent_id(("pairs name", row));
            ui.interact(rect, id, Sense::hover())
                .on_hover_text(long[row].as_str());
        }
        for (column, &across) in set.iter().enumerate().take(row) {
            let found = matrix.correlation(row, column);
            let words = found.map_or(number::NOT_AVAILABLE.to_owned(), |it| number::fixed(it, 2));
            let above = place(column, row);
            let text = paint::line(ui, &words, Text::Caption, p.text_secondary, above.width());
            paint::centered(ui.painter(), above, text);
            let rect = place(row, column);
            let id = ui.make_persistent_id(("pairs cell", row, column));
            let response = ui.interact(rect, id, Sense::click());
            let shown = [down, across] == [of.index, x] || [across, down] == [of.index, x];
            let label = format!(
                "{} against {}, correlation {words}",
                of.names[down], of.names[across]
            );
            response.widget_info(|| {
                WidgetInfo::selected(Role::Button, true, shown, paint::words(&label))
            });
            let fill = if response.hovered() {
                p.bg_hover
            } else {
                p.plot_bg
            };
            ui.painter().rect_filled(rect, 0.0, fill);
            let marks = &matrix.marks[row * set.len() + column];
            let shape = small(marks, rect, p, filter);
            ui.painter().add(shape);
            let edge = if shown {
                Stroke::new(t.stroke.curve_selected, p.accent)
            } else {
                Stroke::new(t.stroke.hair, p.border_subtle)
            };
            ui.painter()
                .rect_stroke(rect, 0.0, edge, StrokeKind::Inside);
            paint::focus_ring_inside(ui, &response, rect);
            if response.on_hover_text(&label).clicked() {
                clicked = Some((down, across));
            }
        }
    }
    clicked
}

/// The points of a small picture as one shape.
fn small(marks: &[Mark], rect: Rect, p: &Palette, filter: &ChainFilter) -> Shape {
    let mut mesh = Mesh::default();
    for mark in marks.iter().filter(|mark| filter.shows(mark.chain)) {
        let at = pos2(
            rect.left() + mark.at[0] as f32 * rect.width(),
            rect.bottom() - mark.at[1] as f32 * rect.height(),
        );
        let (size, color) = if mark.divergent {
            (2.5, p.bad)
        } else {
            (1.25, faded(p.chain(mark.chain), 0.6))
        };
        mesh.add_colored_rect(Rect::from_center_size(at, vec2(size, size)), color);
    }
    Shape::mesh(mesh)
}

#[cfg(test)]
mod tests;
