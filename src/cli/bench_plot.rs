//! Pictures of the tables of experiments.

use std::path::Path;

use super::bench::significant;
use ergodic_base::ticks::padded;
use ergodic_experiments::{Bench, BenchTable, Cell, Plot, PlotMark};
use ergodic_report::figure::{Axis, Extent, Ink, Key, Line, Panel, Points, Sign, Spans, Swatch};
use ergodic_report::{Figure, ReportError, save_figure};

/// Curves that can be told apart by colour and dash; where there are more, each value of the first column that tells them apart has a panel.
const CURVES: usize = 8;
/// Least height of a panel, and height of a row of one with rows, in points.
const HEIGHT: f64 = 130.0;
const ROW: f64 = 14.0;
/// Share of a row over which the points of several curves are spread.
const SPREAD: f64 = 0.6;
/// Room at the ends of axes.
const ROOM: f64 = 0.04;
/// Thickness of curves in points.
const THICKNESS: f64 = 1.2;

/// Draws the pictures of a table to `path`, whose ending says how, and gives the caption; `None` where there is no number to draw.
///
/// # Errors
/// The file cannot be written.
pub fn save(entry: &Bench, table: &BenchTable, path: &Path) -> Result<Option<String>, ReportError> {
    let figure = figure(entry.id, entry.title, table);
    figure.map(|it| save_figure(&it, path)).transpose()
}

/// A figure of all plots of a table; `None` where there is no number to draw.
fn figure(id: &'static str, title: &str, table: &BenchTable) -> Option<Figure> {
    let mut figure = Figure::new(id, title.to_owned());
    figure.panel_height = HEIGHT;
    for plot in &table.plots {
        if let Some(drawn) = Picture::of(plot, table) {
            let rows = ROW * drawn.names.len() as f64;
            figure.panel_height = figure.panel_height.max(rows);
            drawn.add_to(&mut figure);
        }
    }
    figure.columns = figure.panels.len().clamp(1, 2);
    if table.plots.iter().any(|plot| plot.ends.is_some()) {
        let note = "Thin lines reach from the least to the greatest number";
        figure.note(note);
    }
    (!figure.panels.is_empty()).then_some(figure)
}

/// A row of a table under one of the columns that are drawn.
struct Point {
    /// From left to right, or the row of the picture.
    x: f64,
    y: f64,
    ends: Option<[f64; 2]>,
}

/// The points of a curve.
struct Curve {
    /// What the panel is of, where there are several.
    panel: String,
    /// What the legend says; empty of one that is alone.
    words: String,
    points: Vec<Point>,
}

/// What a plot draws.
struct Picture<'a> {
    plot: &'a Plot,
    curves: Vec<Curve>,
    /// Names of rows; empty where numbers go from left to right.
    names: Vec<String>,
}

impl<'a> Picture<'a> {
    /// `None` where a column or all numbers are missing.
    fn of(plot: &'a Plot, table: &BenchTable) -> Option<Self> {
        let (columns, rows) = table.drawn_by(plot)?;
        let place = |name: &&str| columns.iter().position(|it| it == name);
        let places = |names: &[&str]| names.iter().map(place).collect::<Option<Vec<usize>>>();
        let (x, y) = (place(&plot.x)?, places(&plot.y)?);
        let ends = places(plot.ends.as_ref().map_or(&[], |ends| ends))?;
        // A column that is the same everywhere tells nothing apart.
        let varies = |it: &usize| rows.iter().any(|row| row[*it] != rows[0][*it]);
        let groups: Vec<usize> = places(&plot.curves)?.into_iter().filter(varies).collect();
        let parts = |row: &[Cell], column: usize, groups: &[usize]| -> String {
            let several = plot.y.len() > 1;
            let last = several.then(|| words(columns[column]));
            let parts = groups.iter().map(|it| titled(columns[*it], &row[*it]));
            let parts: Vec<String> = parts.chain(last).filter(|it| !it.is_empty()).collect();
            parts.join(", ")
        };
        let mut all: Vec<String> = Vec::new();
        for row in rows {
            for column in &y {
                remember(&mut all, parts(row, *column, &groups));
            }
        }
        let is_split = all.len() > CURVES && groups.len() + usize::from(y.len() > 1) > 1;
        let split = groups.first().copied().filter(|_| is_split);
        let within = &groups[usize::from(split.is_some())..];
        let mut picture = Self {
            plot,
            curves: Vec::new(),
            names: Vec::new(),
        };
        for row in rows {
            for (k, column) in y.iter().enumerate() {
                let ends = ends.iter().map(|it| row[*it].number());
                let ends: Option<Vec<f64>> = ends.filter(|_| k == 0).collect();
                let ends = ends.and_then(|ends| Some([*ends.first()?, *ends.get(1)?]));
                let point = picture.point(&row[x], row[*column].number(), ends);
                let panel = split.map_or_else(String::new, |it| titled(columns[it], &row[it]));
                if let Some(point) = point {
                    let words = parts(row, *column, within);
                    picture.curve(panel, words).points.push(point);
                }
            }
        }
        (!picture.curves.is_empty()).then_some(picture)
    }

    /// The point of a row; `None` where it has no place in the picture.
    fn point(&mut self, x: &Cell, y: Option<f64>, ends: Option<[f64; 2]>) -> Option<Point> {
        let [log_x, log_y] = self.plot.logarithmic;
        let has_place = |value: &f64, is_logarithmic: bool| !is_logarithmic || *value > 0.0;
        let y = y.filter(|it| has_place(it, log_y))?;
        let x = match x {
            Cell::Text(name) => remember(&mut self.names, name.clone()) as f64,
            number => number.number().filter(|it| has_place(it, log_x))?,
        };
        let ends = ends.filter(|ends| ends.iter().all(|it| has_place(it, log_y)));
        Some(Point { x, y, ends })
    }

    /// The curve of these words, which is added if there is none.
    fn curve(&mut self, panel: String, words: String) -> &mut Curve {
        let mut all = self.curves.iter();
        let place = all.position(|it| it.panel == panel && it.words == words);
        let place = place.unwrap_or(self.curves.len());
        if place == self.curves.len() {
            self.curves.push(Curve {
                panel,
                words,
                points: Vec::new(),
            });
        }
        &mut self.curves[place]
    }

    /// Adds its panels, and to the legend what is not there yet.
    fn add_to(&self, figure: &mut Figure) {
        let (mut panels, mut series) = (Vec::new(), Vec::new());
        for curve in &self.curves {
            remember(&mut panels, curve.panel.clone());
            remember(&mut series, curve.words.clone());
        }
        let mark = |curve: &Curve| match self.plot.mark {
            PlotMark::Lines if self.names.is_empty() && curve.points.len() > 1 => PlotMark::Lines,
            _ => PlotMark::Points,
        };
        let mut drawn: Vec<Panel> = Vec::new();
        for title in &panels {
            let axis = Axis::hidden((0.0, 1.0));
            let mut panel = Panel::new(title.as_str(), axis.clone(), axis);
            for curve in self.curves.iter().filter(|it| it.panel == *title) {
                let ink = ink_of(figure, curve, mark(curve));
                let name = match curve.words.is_empty() {
                    true => words(self.plot.y.first().copied().unwrap_or_default()),
                    false => curve.words.clone(),
                };
                let (at, ends) = self.placed(curve, &series);
                if !ends.is_empty() {
                    panel.add(name.as_str(), ink, Spans { ends });
                }
                match mark(curve) {
                    PlotMark::Lines => panel.add(name, ink, Line::curve(at, THICKNESS)),
                    PlotMark::Points => {
                        let (sizes, sign) = (Vec::new(), Sign::Disc);
                        panel.add(name, ink, Points { at, sizes, sign });
                    }
                }
            }
            drawn.push(panel);
        }
        // One range for all panels, so that they can be compared.
        let extents = drawn.iter().map(Panel::extent);
        let extent = extents.fold(Extent::NONE, Extent::and);
        for mut panel in drawn {
            (panel.x, panel.y) = self.axes(extent);
            figure.panels.push(Some(panel));
        }
    }

    /// Where points and their ends are; points of several curves in a row of the picture stand under each other.
    fn placed(&self, curve: &Curve, series: &[String]) -> (Vec<[f64; 2]>, Vec<[[f64; 2]; 2]>) {
        let place = series.iter().position(|it| *it == curve.words);
        let from_middle = place.unwrap_or(0) as f64 + 0.5 - series.len() as f64 / 2.0;
        let shift = 0.5 + from_middle * SPREAD / series.len().max(1) as f64;
        let at = |x: f64, y: f64| match self.names.is_empty() {
            true => [x, y],
            false => [y, x + shift],
        };
        let points = curve.points.iter();
        let ends = points.clone().filter_map(|it| Some((it.x, it.ends?)));
        (
            points.map(|it| at(it.x, it.y)).collect(),
            ends.map(|(x, ends)| ends.map(|y| at(x, y))).collect(),
        )
    }

    fn axes(&self, extent: Extent) -> (Axis, Axis) {
        let plot = self.plot;
        let y_title = plot.y_title.map(str::to_owned);
        let first = plot.y.first().copied().unwrap_or_default();
        let y_title = y_title.unwrap_or_else(|| words(first));
        let [log_x, log_y] = plot.logarithmic;
        match self.names.is_empty() {
            true => (
                axis(words(plot.x), extent.x, log_x),
                axis(y_title, extent.y, log_y),
            ),
            false => (
                axis(y_title, extent.x, log_y),
                Axis::rows(self.names.clone()),
            ),
        }
    }
}

/// An axis with some room at both ends.
fn axis(title: String, (low, high): (f64, f64), is_logarithmic: bool) -> Axis {
    if !is_logarithmic {
        return Axis::numbers(title, padded((low, high), ROOM));
    }
    let room = (high / low).powf(ROOM);
    Axis::logarithmic(title, (low / room, high * room))
}

/// The colour of a curve, which its key in the legend has, too; curves that are alone have none.
fn ink_of(figure: &mut Figure, curve: &Curve, mark: PlotMark) -> Ink {
    if curve.words.is_empty() {
        return Ink::Posterior;
    }
    let known = figure.legend.iter().find(|key| key.words == curve.words);
    if let Some(key) = known {
        return key.ink;
    }
    let ink = Ink::Chain(figure.legend.len());
    figure.legend.push(Key {
        words: curve.words.clone(),
        ink,
        swatch: match mark {
            PlotMark::Lines => Swatch::Curve,
            PlotMark::Points => Swatch::Point(Sign::Disc),
        },
    });
    ink
}

/// The place of a word in a list, which gets it if it has not got it.
fn remember(list: &mut Vec<String>, word: String) -> usize {
    let place = list.iter().position(|it| *it == word);
    place.unwrap_or_else(|| {
        list.push(word);
        list.len() - 1
    })
}

/// A cell with what it is; empty where there is no number. Words speak for themselves.
fn titled(column: &str, cell: &Cell) -> String {
    let number = match cell {
        Cell::Text(text) => return text.clone(),
        Cell::Number(value) if value.is_nan() => return String::new(),
        Cell::Count(count) => count.to_string(),
        Cell::Number(value) => significant(*value),
    };
    format!("{} {number}", words(column))
}

/// A column in plain words.
fn words(column: &str) -> String {
    let plain = match column {
        "kl" => "Kullback-Leibler divergence (nats)",
        "ks" | "d_ks_mean" => "Kolmogorov-Smirnov distance",
        "ks_theta1" => "theta1",
        "ks_theta2" => "theta2",
        "share" => "share of rows per minibatch",
        "perplexity_mean" => "perplexity",
        "rmse_mean" => "root mean squared error",
        "log_predictive" => "log predictive density",
        "log_loss" => "log loss",
        "rct_median" => "relative computational time",
        "rows_per_ess" => "rows touched per effective draw",
        "mean_shift_sd" | "worst_shift_sd" => "largest shift of a mean (standard deviations)",
        "sd_ratio" => "ratio of standard deviations",
        "sd_ratio_least" => "least ratio of standard deviations",
        "sd_ratio_most" => "largest ratio of standard deviations",
        "ms_per_draw" => "milliseconds per draw",
        "ms_per_effective_median" => "milliseconds per effective draw",
        "k_mean" => "clusters",
        "passes_per_ess_metropolis" => "Metropolis",
        "passes_per_ess_osgfs" => "OSGFS",
        "wrong" => "share that is wrong",
        "certified" => "share of runs certified",
        "passes" => "passes over the rows",
        "gradients" => "gradients of rows",
        "variance" => "variance of the estimated log likelihood",
        "distance" => "distance of successive draws",
        "distance_per_evaluation" => "distance of successive draws per evaluation",
        "false_positives" => "share of no called yes",
        "ratio_largest" => "largest component",
        "ratio_smallest" => "smallest component",
        "sweeps_from_one" | "clusters_from_one" => "from one cluster",
        "sweeps_from_many" | "clusters_from_many" => "from many clusters",
        "good" => "called Good",
        "mean_held" => "intervals that hold the mean",
        "good_but_off" => "called Good though off",
        other => return other.replace('_', " "),
    };
    plain.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_experiments::FurtherTable;
    use ergodic_report::figure::AxisKind;

    /// What is drawn: panel, series, mark, and how many things.
    fn drawn(figure: &Figure) -> Vec<(String, String, &'static str, usize)> {
        let panels = figure.panels.iter().flatten();
        let marks = panels.flat_map(|panel| panel.marks.iter().map(move |it| (&panel.title, it)));
        let counted = marks.map(|(title, mark)| {
            let mut count = 0;
            mark.shape.drawn(&mut |_| count += 1);
            (title.clone(), mark.series.clone(), mark.shape.kind(), count)
        });
        counted.collect()
    }

    fn names(figure: &Figure) -> Vec<&str> {
        let keys = figure.legend.iter();
        keys.map(|key| key.words.as_str()).collect()
    }

    fn of(table: &BenchTable) -> Figure {
        figure("x", "Title", table).expect("a picture")
    }

    #[test]
    fn curves_are_told_apart_and_rows_without_a_number_left_out() {
        let row = |sampler: &str, x: f64, y: f64| {
            let ends = [y / 2.0, 2.0 * y];
            let numbers = [x, y, ends[0], ends[1]].map(Cell::from);
            let words = [Cell::from(sampler), Cell::from("same")];
            words.into_iter().chain(numbers).collect::<Vec<Cell>>()
        };
        let plot = Plot::lines("rows", &["kl"]).between("least", "most");
        let table = BenchTable {
            columns: vec!["sampler", "data", "rows", "kl", "least", "most"],
            rows: vec![
                row("a", 1.0, 2.0),
                row("a", 10.0, 4.0),
                row("a", 100.0, f64::NAN),
                // No logarithm is known of it.
                row("a", 0.0, 4.0),
                row("b", 1.0, 1.0),
                row("b", 10.0, 1.0),
                row("c", 10.0, 1.0),
            ],
            plots: vec![plot.by(&["data", "sampler"]).log_x()],
            ..BenchTable::default()
        };
        let figure = of(&table);
        // The column that is the same everywhere says nothing.
        assert_eq!(names(&figure), ["a", "b", "c"]);
        let series = |series: &str, mark, count| (String::new(), series.to_owned(), mark, count);
        let expected = [
            series("a", "span", 2),
            series("a", "line", 2),
            series("b", "span", 2),
            series("b", "line", 2),
            // A line through one point could not be seen.
            series("c", "span", 1),
            series("c", "point", 1),
        ];
        assert_eq!(drawn(&figure), expected);
        let panel = figure.panels[0].as_ref().unwrap();
        assert_eq!(panel.x.kind, AxisKind::Logarithmic);
        assert_eq!(panel.x.title, "rows");
        assert_eq!(panel.y.title, "Kullback-Leibler divergence (nats)");
        assert!(panel.x.range.0 < 1.0 && panel.x.range.1 > 10.0 && panel.x.range.1 < 20.0);
        assert!(figure.caption().contains("least"), "{}", figure.caption());
    }

    #[test]
    fn many_curves_have_a_panel_for_each_value_of_the_first_column() {
        let plot = Plot::lines("passes", &["log_loss"]).of("course");
        let mut rows = Vec::new();
        for size in [100_usize, 200, 300] {
            for sampler in ["a", "b", "c"] {
                for x in [1.0, 2.0] {
                    let cells = [Cell::from(size), Cell::from(sampler), Cell::from(x)];
                    rows.push([&cells[..], &[Cell::from(x)]].concat());
                }
            }
        }
        let table = BenchTable {
            further: vec![FurtherTable {
                name: "course",
                columns: vec!["rows", "sampler", "passes", "log_loss"],
                rows,
            }],
            plots: vec![plot.by(&["rows", "sampler"])],
            ..BenchTable::default()
        };
        let figure = of(&table);
        let titles = figure.panels.iter().flatten().map(|panel| &panel.title);
        let titles: Vec<&String> = titles.collect();
        assert_eq!(titles, ["rows 100", "rows 200", "rows 300"]);
        assert_eq!(names(&figure), ["a", "b", "c"]);
        let drawn = drawn(&figure);
        assert_eq!(drawn.len(), 9);
        assert!(drawn.iter().all(|it| (it.2, it.3) == ("line", 2)));
    }

    #[test]
    fn words_are_rows_with_numbers_from_left_to_right() {
        let row = |name: &str, a: f64, b: f64| vec![Cell::from(name), a.into(), b.into()];
        let table = BenchTable {
            columns: vec!["method", "first_share", "second_share"],
            rows: vec![row("x", 1.0, 2.0), row("y", 3.0, f64::NAN)],
            plots: vec![
                Plot::points("method", &["first_share", "second_share"]).named("share"),
                Plot::points("method", &["first_share"]),
            ],
            ..BenchTable::default()
        };
        let figure = of(&table);
        assert_eq!(names(&figure), ["first share", "second share"]);
        let panels: Vec<&Panel> = figure.panels.iter().flatten().collect();
        for panel in &panels {
            let rows = ["x", "y"].map(str::to_owned).to_vec();
            assert_eq!(panel.y.kind, AxisKind::Rows(rows));
        }
        assert_eq!(panels[0].x.title, "share");
        assert_eq!(panels[1].x.title, "first share");
        let extent = panels[0].extent();
        assert_eq!(extent.x, (1.0, 3.0));
        assert!(0.0 < extent.y.0 && extent.y.1 < 2.0, "{extent:?}");
        // A curve that is alone stands in the middle of its rows, and needs no key.
        assert_eq!(panels[1].extent().y, (0.5, 1.5));
        let counts = drawn(&figure).into_iter().map(|it| it.3);
        assert_eq!(counts.collect::<Vec<usize>>(), [2, 1, 2]);
    }

    #[test]
    fn numbers_that_tell_curves_apart_say_of_what() {
        let row = |a: f64, x: f64| [a, x, x].map(Cell::from).to_vec();
        let table = BenchTable {
            columns: vec!["split_merge", "x", "y"],
            rows: vec![row(0.5, 1.0), row(2.0, 1.0), row(f64::NAN, 1.0)],
            plots: vec![Plot::points("x", &["y"]).by(&["split_merge"])],
            ..BenchTable::default()
        };
        let figure = of(&table);
        assert_eq!(names(&figure), ["split merge 0.5", "split merge 2"]);
        assert_eq!(drawn(&figure).len(), 3);
    }

    #[test]
    fn tables_without_numbers_have_no_picture() {
        let table = BenchTable {
            columns: vec!["method", "kl"],
            rows: vec![vec![Cell::from("x"), Cell::from(f64::NAN)]],
            plots: vec![Plot::points("method", &["kl"])],
            ..BenchTable::default()
        };
        assert!(figure("x", "Title", &table).is_none());
        assert!(figure("x", "Title", &BenchTable::default()).is_none());
    }
}
