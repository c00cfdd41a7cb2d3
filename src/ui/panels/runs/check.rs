//! Whether data that a finished run's model makes look like the data that it was fitted to.

use eframe::egui::{Frame, Margin, ScrollArea, Shape, Stroke, Ui, pos2};

use super::asked::Asked;
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::Command;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::legend::{DOT, Sign, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Segments, number, verdict_icon};
use ergodic_analysis::check::pit::Pit;
use ergodic_analysis::check::statistic::TestStatistic;
use ergodic_analysis::check::{Band, Check, Picture};
use ergodic_diagnostics::Verdict;
use ergodic_diagnostics::quantiles::NORMAL_90;

/// Height of a picture with its axes.
const PICTURE: f32 = 240.0;
/// Places that the distribution of transforms is shown at.
const PLACES: usize = 100;

/// Predictive checks.
#[derive(Default)]
pub(super) struct CheckPane {
    density: bool,
}

impl Pane for CheckPane {
    const ID: &'static str = "check";
    const TITLE: &'static str = "Check";
    const ICON: char = icons::SEAL_CHECK;
    const ABOUT: &'static str = "Whether data that the model makes look like those observed";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.entry.can_predict() {
            Ok(())
        } else {
            Err(
                "Nothing can be checked by these draws: they are of no model that says how rows follow from parameters, or their \
                 model is not known",
            )
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        check_pane(ui, of, self, out);
    }

    fn unseen(&mut self, of: &Variable<'_>, out: &mut Outbox) {
        if of.entry.replicated.working().is_some() {
            out.send(Command::CancelReplicate(of.entry.id));
        }
    }
}

/// Shows the pane; what it shows is made in the background as long as it is in front.
fn check_pane(ui: &mut Ui, of: &Variable<'_>, view: &mut CheckPane, out: &mut Outbox) {
    let entry = of.entry;
    let asked = Asked {
        entry,
        task: &entry.replicated,
        done: entry.replicates(),
        later: "Predictive checks appear here when the run has ended",
        icon: CheckPane::ICON,
        ask: Command::Replicate(entry.id),
    };
    asked.show(ui, out, |ui, done| {
        ScrollArea::vertical()
            .id_salt(("check", entry.id))
            .auto_shrink([false, false])
            .show(ui, |ui| done_ui(ui, of, &done.check, view));
    });
}

fn done_ui(ui: &mut Ui, of: &Variable<'_>, check: &Check, view: &mut CheckPane) {
    let t = tokens();
    let inset = Margin::symmetric(t.space.x4 as i8, t.space.x3 as i8);
    Frame::NONE.inner_margin(inset).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = t.space.x1;
        if of.report.verdict == Verdict::Bad {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x1;
                verdict_icon(ui, VerdictKind::Bad);
                let text = "The draws of this run are not usable, so neither are these checks";
                widgets::sentence(ui, text, Text::Number);
            });
        }
        for finding in check.findings() {
            widgets::sentence(ui, &finding, Text::Body);
        }
        for remark in check.remarks() {
            widgets::hint(ui, &remark);
        }
        ui.add_space(t.space.x2);
        statistics_ui(ui, &check.statistics);
        ui.add_space(t.space.x2);
        if matches!(check.picture, Picture::Overlay(_)) {
            Segments::new("What of the outcomes", &mut view.density)
                .option(false, "Distribution function")
                .option(true, "Density")
                .show(ui);
        }
        widgets::sentence(ui, &check.picture_in_words(), Text::Number);
    });
    drawing(check, view.density).show(ui);
    if let Some(pit) = &check.pit {
        transforms(pit).show(ui);
    }
}

fn statistics_ui(ui: &mut Ui, statistics: &[TestStatistic]) {
    let value = |value: f64| Cell::number(number::brief(value), Tone::Primary);
    let end = |value: f64| Cell::number(number::brief(value), Tone::Secondary);
    Table::new(
        "check statistics",
        "Statistics of observed and replicated data",
        statistics.len(),
    )
    .whole()
    .column(Column::names(ui, "statistic", statistics.len(), |k| {
        statistics[k].statistic.name()
    }))
    .column(Column::number("observed", 84.0, |k| {
        value(statistics[k].observed)
    }))
    .column(Column::number("median", 84.0, |k| {
        value(statistics[k].replicated.median)
    }))
    .column(Column::number("5%", 84.0, |k| {
        end(statistics[k].replicated.lower)
    }))
    .column(Column::number("95%", 84.0, |k| {
        end(statistics[k].replicated.upper)
    }))
    .gap(tokens().space.x3)
    .column(
        Column::new("p", 96.0, |k| {
            let tone = if statistics[k].is_surprising() {
                Tone::Past(VerdictKind::Watch)
            } else {
                Tone::Primary
            };
            Cell::text(statistics[k].p_in_words(), tone)
        })
        .help("Share of replicated data sets at least as far out on the same side"),
    )
    .show(ui);
}

/// How observed numbers are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// A line over a band.
    Curve,
    /// Dots over intervals.
    Dots,
}

/// Observed numbers at places, over what the model says of them.
struct Drawing {
    name: String,
    x_title: String,
    y_title: &'static str,
    middle: &'static str,
    look: Look,
    /// Place, observed, middle, lower, upper.
    places: Vec<[f64; 5]>,
}

fn place(x: f64, observed: f64, middle: f64, band: Band) -> [f64; 5] {
    [x, observed, middle, band.lower, band.upper]
}

/// The picture that suits the outcome.
fn drawing(check: &Check, density: bool) -> Drawing {
    let column = check.response.column();
    match &check.picture {
        Picture::Overlay(overlay) if density => Drawing {
            name: format!("Density of {column}, observed and replicated"),
            x_title: column.to_owned(),
            y_title: "density",
            middle: "replicated",
            look: Look::Curve,
            places: (overlay.density.iter())
                .map(|it| {
                    let middle = 0.5 * (it.ends[0] + it.ends[1]);
                    place(middle, it.observed, it.replicated.median, it.replicated)
                })
                .collect(),
        },
        Picture::Overlay(overlay) => Drawing {
            name: format!("Distribution function of {column}, observed and replicated"),
            x_title: column.to_owned(),
            y_title: "share below",
            middle: "replicated",
            look: Look::Curve,
            places: (overlay.ecdf.iter())
                .map(|it| place(it.at, it.observed, it.replicated.median, it.replicated))
                .collect(),
        },
        Picture::Rootogram(rootogram) => {
            let root = |band: Band| Band {
                lower: band.lower.sqrt(),
                median: band.median.sqrt(),
                upper: band.upper.sqrt(),
            };
            Drawing {
                name: format!("Square roots of how often each {column} occurs"),
                x_title: column.to_owned(),
                y_title: "root of rows",
                middle: "expected",
                look: Look::Dots,
                places: (rootogram.bars.iter())
                    .map(|it| {
                        let (observed, expected) = (it.observed.sqrt(), it.expected.sqrt());
                        place(it.from, observed, expected, root(it.replicated))
                    })
                    .collect(),
            }
        }
        Picture::Calibration(calibration) => Drawing {
            name: "Observed shares along predicted probabilities".to_owned(),
            x_title: "predicted probability".to_owned(),
            y_title: "observed share",
            middle: "if calibrated",
            look: Look::Curve,
            places: (calibration.points.iter())
                .map(|it| place(it.predicted, it.observed, it.predicted, it.consistent))
                .collect(),
        },
    }
}

/// The distribution function of transforms less that of uniform values.
fn transforms(pit: &Pit) -> Drawing {
    let n = pit.values.len() as f64;
    let at = |k: usize| {
        let x = k as f64 / PLACES as f64;
        let below = pit.values.partition_point(|&value| value <= x) as f64 / n;
        let half = NORMAL_90 * (x * (1.0 - x) / n).sqrt();
        let band = Band {
            lower: -half,
            median: 0.0,
            upper: half,
        };
        place(x, below - x, 0.0, band)
    };
    Drawing {
        name: "LOO-PIT: distribution function less that of uniform values".to_owned(),
        x_title: "place of an outcome in its predictive distribution".to_owned(),
        y_title: "difference",
        middle: "if uniform",
        look: Look::Curve,
        places: (0..=PLACES).map(at).collect(),
    }
}

impl Drawing {
    fn show(self, ui: &mut Ui) {
        let t = tokens();
        let p = Palette::of(ui);
        let Self { places, look, .. } = self;
        let numbers = places.iter().flat_map(|it| it[1..].iter().copied());
        let x = axes::range(places.iter().map(|it| it[0]), 0.02);
        let y = axes::range(numbers, 0.05);
        let mut axes = Axes {
            x_title: &self.x_title,
            y_title: self.y_title,
            ..Axes::new(ui.make_persistent_id(&self.name), &self.name, x, y)
        };
        axes.title_line = true;
        let faded = axes::faded(p.accent, if look == Look::Dots { 0.4 } else { 0.25 });
        let bar = Stroke::new(t.stroke.interval_50, faded);
        let middle = Stroke::new(t.stroke.curve_pooled, p.accent);
        let observed = Stroke::new(t.stroke.curve_pooled, p.posterior);
        legend_line(
            ui,
            &[
                match look {
                    Look::Curve => (Sign::Line(observed, &[]), "observed"),
                    Look::Dots => (Sign::Dot(p.posterior), "observed"),
                },
                (Sign::Line(middle, &[]), self.middle),
                match look {
                    Look::Curve => (Sign::Area(faded), "90% band"),
                    Look::Dots => (Sign::Line(bar, &[]), "90% interval"),
                },
            ],
        );
        let drawn = places.clone();
        let shown = axes::show(ui, p, &axes, PICTURE, move |plot| {
            plot.add(Marks::new(move |_ui, transform, shapes| {
                let at = |x: f64, y: f64| {
                    pos2(
                        transform.position_from_point_x(x),
                        transform.position_from_point_y(y),
                    )
                };
                let ends = (drawn.iter()).map(|&[x, _, _, low, high]| [at(x, low), at(x, high)]);
                let line = |which: usize, stroke: Stroke, shapes: &mut Vec<Shape>| {
                    let points: Vec<[f64; 2]> = drawn.iter().map(|it| [it[0], it[which]]).collect();
                    marks::curve(&points, stroke, &[], f64::INFINITY, transform, shapes);
                };
                match look {
                    Look::Curve => {
                        shapes.push(marks::band(ends, faded));
                        line(2, middle, shapes);
                        line(1, observed, shapes);
                    }
                    Look::Dots => {
                        shapes.extend(ends.map(|ends| Shape::line_segment(ends, bar)));
                        line(2, middle, shapes);
                        shapes.extend(
                            drawn.iter().map(|it| {
                                Shape::circle_filled(at(it[0], it[1]), DOT, observed.color)
                            }),
                        );
                    }
                }
            }));
        });
        data_table_ui(ui, &shown.response, &self.name, || {
            let heads = [self.x_title.as_str(), "observed", self.middle, "5%", "95%"];
            PlotData::new(heads, places.len(), |row, column| places[row][column])
        });
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use eframe::egui::vec2;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use crate::app::Command;
    use crate::app::testing::Session;
    use crate::ui::panels::runs::{RunsView, runs_ui};
    use crate::ui::testing::{Shown, page_harness, press_t_over};
    use ergodic_core::engine::run_section::RunSection;

    /// The page with the pane in front, high enough for its pictures, after a run.
    fn page(template: &str, formula: &str) -> Harness<'static, Shown<RunsView>> {
        let mut session = Session::with_draft("churn");
        session.send(Command::SetFormula(formula.to_owned()));
        session.send(Command::SetTemplate(template.to_owned()));
        session.send(Command::SetRun(RunSection {
            chains: 2,
            warmup: Some(100),
            draws: 100,
            ..RunSection::default()
        }));
        session.send(Command::StartRun);
        session.wait_for_runs();
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(vec2(1280.0, 1800.0));
        harness.run_steps(3);
        harness.get_by_role_and_label(Role::Tab, "Check").click();
        harness.run_steps(4);
        harness
    }

    fn says(harness: &Harness<'_, Shown<RunsView>>, text: &str) -> bool {
        harness.query_all_by_label_contains(text).next().is_some()
    }

    fn asked(harness: &Harness<'_, Shown<RunsView>>) -> usize {
        let sent = harness.state().sent.iter();
        sent.filter(|command| matches!(command, Command::Replicate(_)))
            .count()
    }

    #[test]
    fn yes_or_no_shows_its_calibration() {
        let mut harness = page("logistic", "churned ~ age + plan");
        assert_eq!(asked(&harness), 1);
        harness.get_by_role_and_label(Role::Cell, "share of successes");
        // 0.293 is not 0.
        assert!(harness.query_by_role_and_label(Role::Cell, "0").is_none());
        assert!(says(&harness, "band of calibrated predictions: "));
        assert!(!says(&harness, "LOO-PIT"));
        press_t_over(
            &mut harness,
            "Observed shares along predicted probabilities",
        );
        harness.get_by_role_and_label(Role::ColumnHeader, "if calibrated");
    }

    #[test]
    fn numbers_show_their_distribution_and_where_outcomes_lie() {
        let mut harness = page("linear", "age ~ plan");
        for name in ["mean", "sd", "min", "max"] {
            assert!(
                harness.query_all_by_role(Role::Cell).count() > 0 && says(&harness, name),
                "{name}"
            );
        }
        assert!(says(&harness, "LOO-PIT: distribution function"));
        press_t_over(
            &mut harness,
            "Distribution function of age, observed and replicated",
        );
        harness.get_by_role_and_label(Role::ColumnHeader, "replicated");
        harness
            .get_by_role_and_label(Role::RadioButton, "Density")
            .click();
        harness.run_steps(3);
        assert!(says(&harness, "Density of age, observed and replicated"));
        assert_eq!(asked(&harness), 1);
    }

    #[test]
    fn counts_show_a_rootogram() {
        let harness = page("poisson", "support_calls ~ plan");
        assert!(says(
            &harness,
            "Square roots of how often each support_calls occurs"
        ));
        assert!(says(&harness, "frequencies of counts lie outside"));
        harness.get_by_role_and_label(Role::Cell, "share of zeros");
    }
}
