//! Whether data that a finished run's model makes look like the data that it was fitted to.

use eframe::egui::{Frame, Margin, ScrollArea, Shape, Stroke, Ui, vec2};

use super::asked::Asked;
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::{Analysis, Question};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::interval::{IntervalRow, interval_ui};
use crate::ui::plots::legend::{DOT, Sign, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Button, Chip, NumberField, Segments, number, verdict_icon};
use ergodic_analysis::check::drawing::{Drawing, Look, Place};
use ergodic_analysis::check::residuals::Residuals;
use ergodic_analysis::check::statistic::TestStatistic;
use ergodic_analysis::check::{Check, MOST_BINS};
use ergodic_diagnostics::Verdict;

/// Height of a picture with its axes.
const PICTURE: f32 = 240.0;

/// Predictive checks.
#[derive(Default)]
pub(super) struct CheckPane {
    density: bool,
    rows: RowsView,
    /// Bins that numbers are divided in, where somebody chose their number.
    bins: Option<usize>,
}

/// How rows that are alike in one column are shown.
#[derive(Default)]
struct RowsView {
    /// Which column.
    along: usize,
    /// Realised shares instead of mean residuals, where outcomes have them.
    shares: bool,
    /// Bins typed and not used yet.
    typed: Option<usize>,
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
            out.send(Question::Cancel(of.entry.id, Analysis::Replicates));
        }
    }
}

/// Shows the pane; what it shows is made in the background as long as it is in front.
fn check_pane(ui: &mut Ui, of: &Variable<'_>, view: &mut CheckPane, out: &mut Outbox) {
    let entry = of.entry;
    let asked = Asked {
        entry,
        task: &entry.replicated,
        done: entry.replicates().filter(|done| done.bins == view.bins),
        later: "Predictive checks appear here when the run has ended",
        icon: CheckPane::ICON,
        ask: Question::Replicate(entry.id, view.bins),
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
    widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
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
        if !check.statistics.is_empty() {
            statistics_ui(ui, &check.statistics);
            ui.add_space(t.space.x2);
        }
        if check.density_drawn().is_some() {
            Segments::new("What of the outcomes", &mut view.density)
                .option(false, "Distribution function")
                .option(true, "Density")
                .show(ui);
        }
        widgets::sentence(ui, &check.picture_in_words(), Text::Number);
    });
    let density = check.density_drawn().filter(|_| view.density);
    let picture = density
        .or_else(|| check.ecdf_drawn())
        .or_else(|| check.rootogram_drawn())
        .or_else(|| check.survival_drawn())
        .or_else(|| check.calibration_drawn());
    if let Some(picture) = picture {
        drawing_ui(ui, &picture);
    }
    if let Some(pit) = &check.pit {
        let inset = Margin {
            top: t.space.x2 as i8,
            bottom: t.space.x1 as i8,
            ..Margin::symmetric(t.space.x4 as i8, 0)
        };
        Frame::NONE.inner_margin(inset).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x1;
            widgets::heading(ui, "LOO-PIT");
            let text = "Where outcomes lie in what the model predicts for their rows without having seen them; outside the band, \
                        predictions are off, too narrow or too wide";
            widgets::hint(ui, text);
        });
        drawing_ui(ui, &pit.drawn());
    }
    if !check.residuals.is_empty() {
        residuals_ui(ui, check, view);
    }
}

/// Mean residuals, or shares, along the column that is chosen.
fn residuals_ui(ui: &mut Ui, check: &Check, view: &mut CheckPane) {
    let t = tokens();
    let all = &check.residuals;
    let rows = &mut view.rows;
    rows.along = rows.along.min(all.len().saturating_sub(1));
    let shares = rows.shares && check.is_of_shares();
    widgets::inset(ui, [t.space.x4, t.space.x2], |ui| {
        ui.spacing_mut().item_spacing.y = t.space.x1;
        widgets::heading(ui, if shares { "Shares" } else { "Residuals" });
        if check.is_of_shares() {
            Segments::new("What of rows that are alike", &mut rows.shares)
                .option(false, "Mean residuals")
                .option(true, "Realised shares")
                .show(ui);
        }
        let about = if shares {
            "How often outcomes came true among rows that are alike in one column, beside their mean predicted probability"
        } else {
            "Outcomes less what the model expects, averaged over rows that are alike in one column"
        };
        widgets::hint(ui, about);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(t.space.x1, t.space.x1);
            for (index, residuals) in all.iter().enumerate() {
                let chip = Chip::toggle(residuals.along.name(), rows.along == index);
                if ui.add(chip).clicked() {
                    rows.along = index;
                }
            }
        });
        if let Some(residuals) = all.get(rows.along) {
            widgets::sentence(ui, &residuals.summary(), Text::Number);
        }
        bins_ui(ui, all, &mut rows.typed, &mut view.bins);
    });
    let Some(residuals) = all.get(rows.along) else {
        return;
    };
    let drawing = match check.shares_drawn(residuals).filter(|_| shares) {
        Some(drawing) => drawing,
        None => check.residuals_drawn(residuals),
    };
    match &drawing.levels {
        Some(levels) => levels_ui(ui, &drawing, levels),
        None => drawing_ui(ui, &drawing),
    }
}

/// Lets the number of bins be typed; the model is checked again once it is to be used.
fn bins_ui(ui: &mut Ui, all: &[Residuals], typed: &mut Option<usize>, bins: &mut Option<usize>) {
    let t = tokens();
    let of_numbers = all.iter().map(|it| &it.means);
    let of_numbers = of_numbers.filter(|means| means.iter().all(|mean| mean.level.is_none()));
    let most = of_numbers.map(Vec::len).max().unwrap_or(2);
    let used = bins.unwrap_or(most);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        let mut value = typed.unwrap_or(used) as f64;
        widgets::hint(ui, "Bins of numbers");
        let field = NumberField::new("Bins of numbers", &mut value, 2.0..=MOST_BINS as f64)
            .integer()
            .without_slider()
            .label_hidden();
        if field.show(ui) {
            *typed = Some(value as usize);
        }
        let wanted = typed.filter(|&typed| typed != used);
        let check = Button::new("Check with these bins").small();
        let check = ui.add_enabled(wanted.is_some(), check);
        let check =
            check.on_disabled_hover_text("Type another number of bins of about equally many rows");
        if check.clicked() {
            *bins = wanted;
            *typed = None;
        }
    });
}

/// Means of levels under each other.
fn levels_ui(ui: &mut Ui, drawing: &Drawing, levels: &[String]) {
    let rows: Vec<IntervalRow> = (drawing.places.iter().zip(levels))
        .map(|(it, level)| {
            let [lower, upper] = it.ends;
            let is_outside = !(lower..=upper).contains(&it.observed);
            IntervalRow {
                name: level.as_str().into(),
                center: it.observed,
                inner: None,
                outer: (lower, upper),
                verdict: is_outside.then_some(VerdictKind::Watch),
                value: number::brief(it.observed),
            }
        })
        .collect();
    let words = format!(
        "{}: dots are observed, lines the 90% range of replicated data",
        drawing.name
    );
    interval_ui(ui, Palette::of(ui), &rows, None, &words);
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
            // The head says what the number is.
            let words = statistics[k].p_in_words();
            let words = words.trim_start_matches("p = ").trim_start_matches("p ");
            Cell::text(words.to_owned(), tone)
        })
        .help("Share of replicated data sets at least as far out on the same side"),
    )
    .show(ui);
}

/// Observed numbers at places, over what the model says of them.
fn drawing_ui(ui: &mut Ui, drawing: &Drawing) {
    let t = tokens();
    let p = Palette::of(ui);
    let look = drawing.look;
    let places: Vec<[f64; 5]> = drawing.places.iter().map(Place::numbers).collect();
    let numbers = places.iter().flat_map(|it| it[1..].iter().copied());
    let x = axes::range(places.iter().map(|it| it[0]), 0.02);
    let [x, y] = drawing.axes([x, axes::range(numbers, 0.05)]);
    let mut axes = Axes {
        x_title: &drawing.x_title,
        y_title: drawing.y_title,
        ..Axes::new(ui.make_persistent_id(&drawing.name), &drawing.name, x, y)
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
            (Sign::Line(middle, &[]), drawing.middle),
            match look {
                Look::Curve => (Sign::Area(faded), "90% band"),
                Look::Dots => (Sign::Line(bar, &[]), "90% interval"),
            },
        ],
    );
    let drawn = places.clone();
    let shown = axes::show(ui, p, &axes, PICTURE, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let at = |x: f64, y: f64| marks::at(transform, x, y);
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
                        drawn
                            .iter()
                            .map(|it| Shape::circle_filled(at(it[0], it[1]), DOT, observed.color)),
                    );
                }
            }
        }));
    });
    data_table_ui(ui, &shown.response, &drawing.name, || {
        let heads = [
            drawing.x_title.as_str(),
            "observed",
            drawing.middle,
            "5%",
            "95%",
        ];
        PlotData::new(heads, places.len(), |row, column| places[row][column])
    });
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use eframe::egui::{Key, Modifiers, vec2};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use crate::app::testing::Session;
    use crate::app::{Command, DataCommand, DraftChange, Question, RunCommand};
    use crate::ui::panels::runs::{RunsView, runs_ui};
    use crate::ui::testing::{Shown, page_harness, press_t_over};
    use ergodic_core::engine::RunSection;

    /// The page with the pane in front, high enough for its pictures, after a run.
    fn page(template: &str, formula: &str) -> Harness<'static, Shown<RunsView>> {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula(formula.to_owned()));
        session.send(DraftChange::Template(template.to_owned()));
        checked(session)
    }

    /// The page with the pane in front after a run of the draft of `session`.
    fn checked(mut session: Session) -> Harness<'static, Shown<RunsView>> {
        session.send(DraftChange::Run(RunSection {
            chains: 2,
            warmup: Some(100),
            draws: 100,
            ..RunSection::default()
        }));
        session.send(RunCommand::Start);
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
        sent.filter(|command| matches!(command, Command::Ask(Question::Replicate(..))))
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
        assert!(says(&harness, "LOO-PIT: distribution function"));
        press_t_over(
            &mut harness,
            "Observed shares along predicted probabilities",
        );
        harness.get_by_role_and_label(Role::ColumnHeader, "if calibrated");
    }

    #[test]
    fn yes_or_no_shows_realised_shares_in_as_many_bins_as_are_typed() {
        let mut harness = page("logistic", "churned ~ age + plan");
        harness
            .get_by_role_and_label(Role::RadioButton, "Realised shares")
            .click_accesskit();
        harness.run_steps(2);
        harness
            .get_by_role_and_label(Role::Button, "age")
            .click_accesskit();
        harness.run_steps(2);
        harness.get_by_label("Realised shares of churned along `age`");
        let field = (Role::TextInput, "Bins of numbers");
        harness.get_by_role_and_label(field.0, field.1).focus();
        harness.run_steps(2);
        harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        harness.run_steps(2);
        harness
            .get_by_role_and_label(field.0, field.1)
            .type_text("6");
        harness.run_steps(2);
        harness
            .get_by_label("Check with these bins")
            .click_accesskit();
        harness.run_steps(4);
        assert_eq!(asked(&harness), 2);
        let state = &harness.state().session.state;
        let done = state.selected().unwrap().replicates().unwrap().clone();
        assert_eq!(done.bins, Some(6));
        let means = |name: &str| {
            let mut all = done.check.residuals.iter();
            all.find(|it| it.along.name() == name).unwrap().means.len()
        };
        assert_eq!((means("expected"), means("age")), (6, 6));
        assert!(says(&harness, "6 mean residuals"));
        // The level of a category has its share, too.
        harness
            .get_by_role_and_label(Role::Button, "plan")
            .click_accesskit();
        harness.run_steps(2);
        assert!(says(
            &harness,
            "Realised shares of churned along `plan`: dots are observed"
        ));
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
        assert!(says(&harness, "Along the expected outcome: "));
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
    fn censored_outcomes_show_the_curve_of_their_estimator() {
        for (statuses, words, curve) in [
            (
                ["none", "right", "none"],
                "20 of 60 outcomes are right-censored",
                "Kaplan-Meier curve",
            ),
            (
                ["none", "left", "none"],
                "20 of 60 outcomes are left-censored",
                "Reverse Kaplan-Meier curve",
            ),
            (
                ["none", "right", "left"],
                "20 of 60 outcomes are right-censored and 20 left-censored",
                "Turnbull curve",
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let rows = (0..60).map(|i| format!("{},{}\n", 1 + i * 7 % 23, statuses[i * 5 % 3]));
            let text = rows.fold("weeks,status\n".to_owned(), |text, row| text + &row);
            let mut session = Session::with_file(&folder, "weeks.csv", &text);
            session.send(DataCommand::AcceptImport);
            session.send(DraftChange::Template("mixed".to_owned()));
            session.send(DraftChange::ModelSetting(
                "family".to_owned(),
                Some("weibull".into()),
            ));
            session.send(DraftChange::Formula("weeks | cens(status) ~ 1".to_owned()));
            let mut harness = checked(session);
            assert!(says(&harness, words));
            assert!(!says(&harness, "LOO-PIT: distribution function"));
            let picture = format!("{curve} of weeks, observed and replicated");
            press_t_over(&mut harness, &picture);
            harness.get_by_role_and_label(Role::ColumnHeader, "replicated");
        }
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
