//! The command palette: type a few letters of what you want.

use eframe::egui::{
    self, Align, Align2, Event, Key, Layout, Modifiers, Response, Role, Sense, Ui, UiBuilder,
    WidgetInfo, vec2,
};

use super::actions::{self, ACTIONS, Action};
use super::model_commands::model_commands;
use super::outbox::Outbox;
use super::panels::Views;
use super::panels::runs::PANES;
use super::theme::{Palette as Colors, Text, tokens};
use super::widgets::{self, Field, key_cap, paint};
use crate::app::reporting::Picture;
use crate::app::{
    AppState, Command, DataCommand, DraftChange, PathCommand, Product, Question, RunCommand,
    comparing,
};
use ergodic_analysis::hold_out::{HoldOut, USUAL_SHARE};
use ergodic_analysis::templates;
use ergodic_core::design::Columns as _;
use ergodic_core::engine::Remark;
use ergodic_data::{Role as ColumnRole, samples};
use ergodic_diagnostics::zero_variance::Order;
use ergodic_export::FORMATS;
use ergodic_report::FIGURES;

/// What a row of the palette does.
#[derive(Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "there are few rows, and only while the palette is open"
)]
enum Deed {
    Act(Action),
    Send(Command),
}

impl Deed {
    /// Whether the row saves what a run shows.
    fn saves(&self) -> bool {
        matches!(
            self,
            Self::Send(Command::Path(
                PathCommand::Pick(Product::Picture(..) | Product::Results(..))
                    | PathCommand::Type(Product::Results(..))
            ))
        )
    }
}

/// The palette's own state.
#[derive(Debug, Default)]
pub struct PaletteView {
    open: bool,
    query: String,
    /// The row that Enter does; none until something is typed or an arrow is pressed.
    chosen: Option<usize>,
    /// Keys that were pressed in the frame that opened it, after the one that did: they are for its field.
    typed: Vec<Event>,
    /// Whether it was open in the frame before: a click outside is then not the one that opened it.
    was_open: bool,
}

impl PaletteView {
    /// Opens or closes the palette.
    pub fn toggle(&mut self) {
        *self = Self {
            open: !self.open,
            ..Self::default()
        };
    }

    /// Opens the palette with what was typed after its key in the same frame.
    pub fn open_with(&mut self, typed: Vec<Event>) {
        *self = Self {
            open: true,
            typed,
            ..Self::default()
        };
    }

    /// Whether the palette is open, so that keys are for it.
    pub fn is_open(&self) -> bool {
        self.open
    }
}

/// A row of the palette.
struct Row {
    words: String,
    /// What the row is found by besides its words.
    also: String,
    deed: Deed,
}

impl Row {
    /// Whether all words of a query are in the row's own words.
    fn is_called(&self, query: &str) -> bool {
        let words = self.words.to_lowercase();
        query.split_whitespace().all(|word| words.contains(word))
    }

    /// Whether all words of a query are words of the row's own, and not parts of longer ones.
    fn has_words(&self, query: &str) -> bool {
        let words = self.words.to_lowercase();
        let is_word = |word: &str| {
            let mut own = words.split_whitespace();
            own.any(|own| own.trim_matches(|c: char| !c.is_alphanumeric()) == word)
        };
        query.split_whitespace().all(is_word)
    }

    /// Whether all words of a query are in the row.
    fn is_meant_by(&self, query: &str) -> bool {
        let text = format!("{} {}", self.words, self.also).to_lowercase();
        query.split_whitespace().all(|word| text.contains(word))
    }
}

/// The rows that a query means: first those that are called so, by whole words before parts of them, then those that are about it.
fn found<'a>(all: &'a [Row], query: &str) -> Vec<&'a Row> {
    let mut found: Vec<&Row> = all.iter().filter(|row| row.is_meant_by(query)).collect();
    found.sort_by_key(|row| (!row.is_called(query), !row.has_words(query)));
    found
}

/// Everything the palette offers now.
fn rows(state: &AppState) -> Vec<Row> {
    let offered = ACTIONS.iter().filter(|entry| entry.is_offered());
    let mut rows: Vec<Row> = offered
        .map(|entry| Row {
            words: entry.text.to_owned(),
            also: format!("{} {}", entry.group.title(), entry.about),
            deed: Deed::Act(entry.action),
        })
        .collect();
    rows.extend(commands(state).into_iter().map(|(words, command)| Row {
        words,
        also: String::new(),
        deed: Deed::Send(command),
    }));
    if let Some(entry) = state.selected().filter(|entry| entry.view().is_some()) {
        let panes = PANES.iter().filter(|pane| pane.is_wide());
        rows.extend(panes.map(|pane| Row {
            words: format!("Show the {} tab", pane.title),
            also: pane.about.to_owned(),
            deed: Deed::Act(Action::Pane(pane)),
        }));
        rows.extend(FIGURES.iter().map(|figure| {
            let picture = Picture {
                figure: figure.id,
                variable: state.selected_variable,
            };
            Row {
                words: format!("Save a picture: {}…", figure.title),
                also: format!("{} SVG PNG", figure.about),
                deed: Deed::Send(PathCommand::Pick(Product::Picture(entry.id, picture)).into()),
            }
        }));
    }
    rows.extend(samples::all().iter().map(|sample| Row {
        words: format!("Open example: {}", sample.title),
        also: format!("{} {}", sample.id, sample.file_name),
        deed: Deed::Send(DataCommand::OpenSample(sample.id.to_owned()).into()),
    }));
    // Who types the name of a tab or a picture rather looks at it than saves it.
    rows.sort_by_key(|row| row.deed.saves());
    rows
}

/// What the palette offers of what is open.
fn commands(state: &AppState) -> Vec<(String, Command)> {
    let mut rows: Vec<(String, Command)> = Vec::new();
    if let Some(data) = &state.data {
        rows.push((
            "Import: use the table".to_owned(),
            DataCommand::AcceptImport.into(),
        ));
        if let Some(document) = &state.document {
            let offered = model_commands(document).into_iter();
            rows.extend(offered.map(|(text, change)| (text, change.into())));
            let templates =
                templates::all().filter(|entry| entry.spec.id != document.recipe.model.template);
            rows.extend(templates.map(|entry| {
                let change = DraftChange::Template(entry.spec.id.to_owned()).into();
                (format!("Use the template {}", entry.spec.title), change)
            }));
            let samplers = comparing::suitable(state).map(|entry| &entry.spec);
            rows.extend(
                samplers
                    .filter(|spec| spec.id != document.recipe.sampler.id)
                    .map(|spec| {
                        let change = DraftChange::Sampler(spec.id.to_owned()).into();
                        (format!("Use the sampler {}", spec.title), change)
                    }),
            );
            rows.push(match document.recipe.model.hold_out {
                None => (
                    "Leave rows out of the fit: a fifth, to score it by".to_owned(),
                    DraftChange::HoldOut(Some(HoldOut::Share(USUAL_SHARE))).into(),
                ),
                Some(_) => (
                    "Leave no rows out of the fit".to_owned(),
                    DraftChange::HoldOut(None).into(),
                ),
            });
            for column in data.loaded.table.names() {
                for role in ColumnRole::ALL {
                    if role == ColumnRole::Ignore {
                        continue;
                    }
                    rows.push((
                        format!("Use {column} as {}", role.label()),
                        DraftChange::Assign(column.to_owned(), role).into(),
                    ));
                }
                rows.push((
                    format!("Leave {column} out of the model"),
                    DraftChange::Remove(column.to_owned()).into(),
                ));
            }
        }
    }
    if let Some(entry) = state.selected() {
        let id = entry.id;
        if entry.report().is_some_and(|report| {
            (report.warnings.iter()).any(|it| matches!(it.remark(), Some(Remark::ModeDrift { .. })))
        }) {
            rows.push((
                "Refresh the control-variate centre from this run's mean".to_owned(),
                RunCommand::RefreshCentre(id).into(),
            ));
        }
        if entry.is_warming_up() {
            rows.push((
                "End the warm-up of all chains now".to_owned(),
                RunCommand::Freeze(id).into(),
            ));
        }
        for draws in [1_000_u64, 10_000, 100_000] {
            let text = format!("Add {},000 draws per chain", draws / 1000);
            rows.push((text, RunCommand::AddDraws(id, draws).into()));
        }
        for (order, words) in [
            (
                Some(Order::Linear),
                "Correct estimates by linear control variates",
            ),
            (
                Some(Order::Quadratic),
                "Correct estimates by quadratic control variates",
            ),
            (None, "Show plain estimates"),
        ] {
            let text = words.to_owned();
            rows.push((text, Question::Correct(id, order).into()));
        }
        for format in FORMATS.iter().filter(|format| entry.has(format)) {
            let (first, rest) = format.title.split_at(1);
            let title = format!("{}{rest}", first.to_lowercase());
            let product = Product::Results(id, format.id);
            rows.push((
                format!("Export {title}…"),
                PathCommand::Pick(product).into(),
            ));
            rows.push((
                format!("Export {title}: type a path…"),
                PathCommand::Type(product).into(),
            ));
        }
    }
    rows
}

/// Whether an event is typing.
pub fn is_typed(event: &Event) -> bool {
    matches!(
        event,
        Event::Text(_) | Event::Key { .. } | Event::Paste(_) | Event::Ime(_)
    )
}

/// Puts what was typed after the palette's key where this frame's keys are; those before it have been read.
fn hand_over(ui: &Ui, view: &mut PaletteView) {
    if view.typed.is_empty() {
        return;
    }
    let typed = std::mem::take(&mut view.typed);
    ui.input_mut(|input| {
        input.events.retain(|event| !is_typed(event));
        input.events.extend(typed);
    });
}

/// Takes Enter and everything typed after it.
fn take_enter(ui: &Ui) -> bool {
    ui.input_mut(|input| {
        let enter = |event: &Event| {
            matches!(
                event,
                Event::Key {
                    key: Key::Enter,
                    pressed: true,
                    ..
                }
            )
        };
        let Some(at) = input.events.iter().position(enter) else {
            return false;
        };
        let later = input.events.split_off(at);
        let kept = later.into_iter().filter(|event| !is_typed(event));
        input.events.extend(kept);
        true
    })
}

/// Draws the palette if it is open.
pub fn palette_ui(ui: &mut Ui, state: &AppState, views: &mut Views, out: &mut Outbox) {
    let view = &mut views.palette;
    if !view.open {
        return;
    }
    hand_over(ui, view);
    if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
        view.toggle();
        return;
    }
    let enter = take_enter(ui);
    let down = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::ArrowDown));
    let up = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::ArrowUp));
    let all = rows(state);
    let mut done = None;
    let window = egui::Window::new("Command palette")
        .title_bar(false)
        .resizable(false)
        .anchor(Align2::CENTER_TOP, vec2(0.0, 48.0))
        .fixed_size(vec2(480.0, 360.0))
        .show(ui.ctx(), |ui| {
            let before = view.query.clone();
            Field::new("Command", &mut view.query)
                .label_hidden()
                .hint("Type a command")
                .width(456.0)
                .focused()
                .show(ui);
            let query = view.query.trim().to_lowercase();
            let shown = found(&all, &query);
            if before != view.query {
                view.chosen = (!query.is_empty()).then_some(0);
            }
            view.chosen = match view.chosen {
                _ if shown.is_empty() => None,
                None if down => Some(0),
                Some(row) if down => Some((row + 1).min(shown.len() - 1)),
                Some(row) if up => Some(row.saturating_sub(1)),
                Some(row) => Some(row.min(shown.len() - 1)),
                None => None,
            };
            if enter {
                done = view.chosen.map(|row| shown[row].deed.clone());
            }
            if shown.is_empty() {
                widgets::hint(ui, &format!("Nothing found for “{}”", view.query.trim()));
            }
            egui::ScrollArea::vertical()
                .max_height(320.0)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 0.0;
                    for (index, row) in shown.iter().enumerate() {
                        let chosen = view.chosen == Some(index);
                        let response = row_ui(ui, row, chosen);
                        if chosen && (up || down) {
                            response.scroll_to_me(None);
                        }
                        if response.clicked() {
                            done = Some(row.deed.clone());
                        }
                    }
                });
        });
    let left = window.is_some_and(|window| window.response.clicked_elsewhere());
    let was_open = std::mem::replace(&mut view.was_open, true);
    if left && was_open && done.is_none() {
        *view = PaletteView::default();
    }
    if let Some(deed) = done {
        views.palette = PaletteView::default();
        match deed {
            Deed::Act(act) => actions::perform(act, state, views, out),
            Deed::Send(command) => out.send(command),
        }
    }
}

/// A row over the whole width: words, and the keys that do the same.
fn row_ui(ui: &mut Ui, row: &Row, chosen: bool) -> Response {
    let t = tokens();
    let p = Colors::of(ui);
    let size = vec2(ui.available_width(), t.size.row_tree);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::MenuItem, true, chosen, &row.words));
    let fill = match (chosen, response.hovered()) {
        (true, _) => Some(p.selection_bg),
        (false, true) => Some(p.bg_hover),
        _ => None,
    };
    if let Some(fill) = fill {
        ui.painter().rect_filled(rect, t.radius.control, fill);
    }
    let inner = rect.shrink2(vec2(t.space.x2, 0.0));
    let mut right = inner.right();
    if let Deed::Act(act) = row.deed
        && let Some(keys) = actions::keys(act)
    {
        let mut child = ui.new_child(
            UiBuilder::new()
                .max_rect(inner)
                .layout(Layout::right_to_left(Align::Center)),
        );
        key_cap(&mut child, &keys);
        right = child.min_rect().left() - t.space.x2;
    }
    let room = (right - inner.left()).max(0.0);
    let galley = paint::line(ui, &row.words, Text::Body, p.text_primary, room);
    paint::left_center(ui.painter(), inner.left(), rect.center().y, galley);
    paint::focus_ring_inside(ui, &response, rect);
    response
}

#[cfg(test)]
mod tests {
    use eframe::egui::{Event, Key, Modifiers};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::testing::Session;
    use crate::app::{Depth, Page, Preference, ViewCommand};
    use crate::ui::shell::window_ui;
    use crate::ui::shortcuts;
    use crate::ui::testing::{Shown, page_harness};
    use ergodic_core::engine::{RunSection, RunState};

    fn key(key: Key, modifiers: Modifiers) -> Event {
        Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        }
    }

    /// All events in one frame, as a slow frame gets them.
    fn one_frame(harness: &mut Harness<'_, Shown<Views>>, events: Vec<Event>) {
        harness.input_mut().events.extend(events);
        harness.step();
    }

    fn typed(text: &str) -> impl Iterator<Item = Event> {
        let text = text.to_owned();
        (0..text.len()).flat_map(move |at| {
            let letter = text[at..=at].to_owned();
            let space = (letter == " ").then(|| key(Key::Space, Modifiers::NONE));
            space.into_iter().chain([Event::Text(letter)])
        })
    }

    fn window(session: Session) -> Harness<'static, Shown<Views>> {
        page_harness(session, |ui, state, views: &mut Views, out| {
            shortcuts::read(ui.ctx(), state, views, out);
            window_ui(ui, state, views, out);
        })
    }

    #[test]
    fn what_is_called_so_comes_before_what_is_about_it() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Run(RunSection {
            chains: 1,
            draws: 50,
            ..RunSection::default()
        }));
        session.send(RunCommand::Start);
        session.wait_for_runs();
        let all = rows(&session.state);
        let place = |query: &str, words: &str| {
            let mut found = found(&all, query).into_iter();
            found.position(|row| row.words.contains(words)).unwrap()
        };
        assert!(place("compare", "Compare tab") < place("compare", "LOO tab"));
        assert!(place("trace", "Show the Trace tab") < place("trace", "Save a picture: Trace"));
        assert!(place("likelihood", "Show the Likelihood tab") < place("likelihood", "Export"));
        // "LOO" is no part of a look.
        assert!(place("loo", "Show the LOO tab") < place("loo", "a bad run looks like"));
        let leave = found(&all, "leave rows out");
        let rows = HoldOut::Share(USUAL_SHARE);
        assert!(
            matches!(&leave[0].deed, Deed::Send(Command::Change(DraftChange::HoldOut(Some(held)))) if *held == rows),
            "{}",
            leave[0].words
        );
    }

    #[test]
    fn a_menu_closes_when_the_palette_opens() {
        let mut harness = window(Session::with_draft("churn"));
        harness.run_steps(2);
        harness.get_by_label("churn.csv").click();
        harness.run_steps(3);
        let is_open = |harness: &Harness<'_, Shown<Views>>| egui::Popup::is_any_open(&harness.ctx);
        assert!(is_open(&harness));
        one_frame(&mut harness, vec![key(Key::P, Modifiers::COMMAND)]);
        harness.run_steps(3);
        assert!(harness.state().view.palette.is_open());
        assert!(!is_open(&harness));
    }

    #[test]
    fn keys_pressed_in_the_frame_that_opens_the_palette_are_for_its_field() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Run(RunSection {
            chains: 1,
            draws: 1_000_000,
            ..RunSection::default()
        }));
        session.send(RunCommand::Start);
        assert_eq!(session.state.page, Page::Runs);
        let mut harness = window(session);
        harness.run_steps(2);
        let open = key(Key::P, Modifiers::COMMAND);
        let mut events = vec![open];
        events.extend(typed("show every"));
        events.push(key(Key::Enter, Modifiers::NONE));
        one_frame(&mut harness, events);
        let shown = harness.state();
        let sent: Vec<&Command> = shown
            .sent
            .iter()
            .filter(|command| {
                let by_panes = matches!(
                    command,
                    Command::View(ViewCommand::KeepPanes(_))
                        | Command::Ask(Question::Predict(..) | Question::FindAnswers(_))
                );
                !by_panes
            })
            .collect();
        assert_eq!(sent, [&Preference::Depth(Depth::Everything).into()]);
        let run = shown.session.state.selected().unwrap();
        assert_eq!(run.view().unwrap().state, RunState::Running);
        assert!(!shown.view.palette.is_open());

        // The same over two frames, and a space in the second.
        let mut events = vec![key(Key::P, Modifiers::COMMAND)];
        events.extend(typed("show"));
        one_frame(&mut harness, events);
        assert_eq!(harness.state().view.palette.query, "show");
        let mut events: Vec<Event> = typed(" verd").collect();
        events.push(key(Key::Enter, Modifiers::NONE));
        one_frame(&mut harness, events);
        let shown = harness.state();
        assert_eq!(
            shown.session.state.preferences.depth,
            Depth::Verdict,
            "{:?}",
            shown.sent
        );
        let run = shown.session.state.selected().unwrap();
        assert_eq!(run.view().unwrap().state, RunState::Running);
        let id = run.id;
        harness.state_mut().session.send(RunCommand::Stop(id));
        harness.state_mut().session.wait_for_runs();
    }

    #[test]
    fn enter_on_an_empty_query_does_nothing_and_arrows_choose() {
        let mut harness = window(Session::default());
        harness.run_steps(2);
        let enter = || key(Key::Enter, Modifiers::NONE);
        one_frame(&mut harness, vec![key(Key::P, Modifiers::COMMAND), enter()]);
        harness.step();
        assert!(
            harness
                .state()
                .sent
                .iter()
                .all(|it| *it == ViewCommand::DrawExamples.into())
        );
        assert!(harness.state().view.palette.is_open());
        one_frame(&mut harness, vec![key(Key::ArrowDown, Modifiers::NONE)]);
        one_frame(&mut harness, vec![enter()]);
        assert!(harness.state().has_sent(PathCommand::PickOpen));
    }

    #[test]
    fn panes_are_found_by_their_tab_and_by_what_they_show() {
        let mut session = Session::with_draft("churn");
        let found = |state: &AppState, query: &str| -> Vec<String> {
            let rows = rows(state).into_iter().filter(|row| row.is_meant_by(query));
            rows.map(|row| row.words).collect()
        };
        assert!(found(&session.state, "show tab").is_empty(), "no run yet");
        session.run(1, 50, 50);
        let wide = PANES.iter().filter(|pane| pane.is_wide()).count();
        assert_eq!(found(&session.state, "show the tab").len(), wide);
        // Pictures of the same come behind.
        let of_divergences = found(&session.state, "divergent transitions");
        assert_eq!(of_divergences[0], "Show the Pairs tab");
        assert_eq!(of_divergences[1], "Save a picture: Pairs…");
        session.send(Preference::Depth(Depth::Verdict));
        session.send(Command::GoTo(Page::Model));
        let mut harness = window(session);
        harness.run_steps(2);
        one_frame(&mut harness, vec![key(Key::P, Modifiers::COMMAND)]);
        let mut events: Vec<Event> = typed("pairs").collect();
        events.push(key(Key::Enter, Modifiers::NONE));
        one_frame(&mut harness, events);
        harness.run_steps(4);
        harness.get_by_label_contains("Draws of ");
        assert_eq!(harness.state().session.state.page, Page::Runs);
        assert_eq!(
            harness.state().session.state.preferences.depth,
            Depth::Standard
        );
    }

    #[test]
    fn a_click_outside_closes_the_palette() {
        let mut harness = window(Session::default());
        harness.run_steps(2);
        let button = |at, pressed| Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        let click = |harness: &mut Harness<'_, Shown<Views>>, at| {
            one_frame(harness, vec![Event::PointerMoved(at), button(at, true)]);
            one_frame(harness, vec![button(at, false)]);
            harness.run_steps(2);
            harness.state().view.palette.is_open()
        };
        let top = harness.ctx.content_rect().center_top();
        one_frame(&mut harness, vec![key(Key::P, Modifiers::COMMAND)]);
        harness.run_steps(2);
        assert!(click(&mut harness, top + vec2(0.0, 60.0)));
        assert!(!click(&mut harness, top + vec2(-400.0, 60.0)));
        // The button that opens it also closes it.
        let search = harness
            .get_by_label_contains("Search or run")
            .rect()
            .center();
        assert!(click(&mut harness, search));
        assert!(!click(&mut harness, search));
    }

    #[test]
    fn nothing_found_is_said_and_examples_are_found_by_file_and_title() {
        let mut harness = window(Session::default());
        harness.run_steps(2);
        one_frame(&mut harness, vec![key(Key::P, Modifiers::COMMAND)]);
        one_frame(&mut harness, typed("xyzzy").collect());
        harness.run_steps(2);
        harness.get_by_label("Nothing found for “xyzzy”");
        let all = rows(&AppState::default());
        let found = |query: &str| all.iter().filter(|row| row.is_meant_by(query)).count();
        assert_eq!(found("churn.csv"), 1);
        assert_eq!(found("example customers leave"), 1);
        assert_eq!(actions::keys(Action::PauseResume).as_deref(), Some("Space"));
    }

    #[test]
    fn the_chosen_row_is_marked_over_the_whole_width() {
        let mut harness = window(Session::default());
        harness.run_steps(2);
        one_frame(&mut harness, vec![key(Key::P, Modifiers::COMMAND)]);
        one_frame(&mut harness, typed("theme").collect());
        harness.run_steps(2);
        let row = harness.get_by_label("Theme: light");
        assert!(row.rect().width() > 440.0, "{:?}", row.rect());
    }
}
