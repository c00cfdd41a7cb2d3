//! The first minutes with a table of one's own: from opening the file to the first live trace, by mouse and by keyboard, with
//! every click counted and nothing typed.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::testing::Session;
use crate::app::{AppState, DataCommand, DraftChange, Page, Pick, Picked, RunCommand};
use crate::ui::outbox::Outbox;
use crate::ui::panels::Views;
use crate::ui::testing::Shown;
use crate::ui::{shell, shortcuts};
use ergodic_data::Role as ColumnRole;

/// Most clicks, or keys, that the way may take.
const MOST: usize = 5;

/// The whole window, keyboard included.
fn whole_ui(ui: &mut eframe::egui::Ui, state: &AppState, views: &mut Views, out: &mut Outbox) {
    shortcuts::read(ui.ctx(), state, views, out);
    shell::window_ui(ui, state, views, out);
}

/// A user who counts what is clicked or pressed.
struct User<'a> {
    harness: Harness<'a, Shown<Views>>,
    by_keyboard: bool,
    acts: usize,
}

impl User<'_> {
    /// A window with nothing open.
    fn new(by_keyboard: bool) -> Self {
        Self {
            harness: crate::ui::testing::page_harness(Session::default(), whole_ui),
            by_keyboard,
            acts: 0,
        }
    }

    /// Clicks the only thing whose name begins with `name`, or goes to it and presses Enter.
    fn act(&mut self, name: &str) {
        self.acts += 1;
        self.harness.run_steps(2);
        let nodes = self.harness.query_all_by_label_contains(name);
        let found: Vec<_> = nodes
            .filter(|node| {
                let node = node.accesskit_node();
                matches!(node.role(), Role::Button | Role::Link)
                    && node.label().is_some_and(|label| label.starts_with(name))
            })
            .collect();
        let is_all = |label: Option<String>| label.is_some_and(|label| label == name);
        let node = (found.iter())
            .find(|node| is_all(node.accesskit_node().label()))
            .or(found.first())
            .unwrap_or_else(|| panic!("there is no {name}"));
        if self.by_keyboard {
            node.focus();
        } else {
            node.click();
        }
        drop(found);
        self.harness.run_steps(2);
        if self.by_keyboard {
            self.harness.key_press(Key::Enter);
            self.harness.run_steps(2);
        }
    }

    /// Presses a shortcut.
    fn press(&mut self, key: Key) {
        self.acts += 1;
        self.harness.key_press_modifiers(Modifiers::COMMAND, key);
        self.harness.run_steps(2);
    }

    /// Opens `text` as a file: asks for it, and the system's dialog answers.
    fn open(&mut self, folder: &tempfile::TempDir, text: &str) {
        if self.by_keyboard {
            self.press(Key::O);
        } else {
            self.act("Open data");
        }
        let session = &mut self.harness.state_mut().session;
        assert_eq!(session.fx.picks.pop(), Some(Pick::Open));
        let path = folder.path().join("table.csv");
        std::fs::write(&path, text).unwrap();
        let picked = Picked {
            purpose: Pick::Open,
            path: Some(path),
            unavailable: false,
        };
        session.end(picked.into());
        session.tick();
        self.act("Import ");
        assert_eq!(self.session().state.page, Page::Model);
    }

    /// Runs the model and waits for the first draws on screen.
    fn run(mut self, template: &str, formula: &str) {
        let document = self.session().state.document.clone().unwrap();
        let model = &document.recipe.model;
        assert_eq!(
            (model.template.as_str(), model.formula.as_str()),
            (template, formula)
        );
        let error = &self.session().state.check.as_ref().unwrap().error;
        assert_eq!(*error, None);
        if self.by_keyboard {
            self.press(Key::Enter);
        } else {
            self.act("Run");
        }
        let begun = std::time::Instant::now();
        loop {
            self.harness.state_mut().session.tick();
            self.harness.run_steps(1);
            let state = &self.session().state;
            let entry = state.selected().unwrap();
            let draws = entry.view().map_or(0, |view| {
                let of = |chain: &ergodic_core::engine::ChainView| chain.iterations;
                view.chains.iter().map(of).max().unwrap_or(0)
            });
            if state.page == Page::Runs && draws > 0 {
                break;
            }
            assert!(begun.elapsed().as_secs() < 120, "no draws");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        self.harness.run_steps(2);
        assert!(
            self.harness
                .query_all_by_label_contains("Trace")
                .next()
                .is_some(),
            "no trace"
        );
        assert!(self.acts <= MOST, "{} acts", self.acts);
        let id = self.session().state.selected_run.unwrap();
        let session = &mut self.harness.state_mut().session;
        session.send(RunCommand::Stop(id));
        session.wait_for_runs();
    }

    fn session(&self) -> &Session {
        &self.harness.state().session
    }
}

/// Numbers without pattern, from 0 to below `most`: the mixing function of SplitMix64.
fn mixed(i: usize, salt: usize, most: usize) -> usize {
    let mut z = ((i + 1000 * salt) as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) % most as u64) as usize
}

fn both(way: impl Fn(User<'_>, &tempfile::TempDir)) {
    for by_keyboard in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        way(User::new(by_keyboard), &folder);
    }
}

#[test]
fn two_columns_of_numbers_lead_to_a_line() {
    let mut text = String::from("year,temperature\n");
    for i in 0..60 {
        let noise = mixed(i, 1, 100) as f64 / 50.0;
        text.push_str(&format!(
            "{},{:.2}\n",
            1950 + i,
            7.0 + 0.02 * i as f64 + noise
        ));
    }
    both(|mut user, folder| {
        user.open(folder, &text);
        user.harness.get_by_label("What do you want to explain?");
        user.act("temperature: number");
        user.harness.run_steps(2);
        user.harness
            .get_by_label_contains("Chosen because temperature holds");
        user.run("linear", "temperature ~ year");
    });
}

#[test]
fn counts_lead_to_a_regression_of_counts() {
    let mut text = String::from("dose,age,visits\n");
    for i in 0..80 {
        let visits = mixed(i, 3, 3) + mixed(i, 4, 3);
        text.push_str(&format!(
            "{},{},{visits}\n",
            mixed(i, 1, 50) + 3,
            20 + mixed(i, 2, 60)
        ));
    }
    both(|mut user, folder| {
        user.open(folder, &text);
        user.act("visits: count");
        user.run("poisson", "visits ~ dose + age");
    });
}

#[test]
fn words_with_an_order_lead_to_an_ordinal_regression() {
    let mut text = String::from("dose,age,pain\n");
    for i in 0..80 {
        let words = ["none", "mild", "moderate", "severe"];
        text.push_str(&format!(
            "{},{},{}\n",
            mixed(i, 1, 50) + 3,
            20 + mixed(i, 2, 60),
            words[mixed(i, 3, 4)]
        ));
    }
    both(|mut user, folder| {
        user.open(folder, &text);
        user.act("pain: 4 ordered levels");
        user.harness.run_steps(2);
        user.harness
            .get_by_label_contains("4 levels in order: none < mild < moderate < severe");
        user.run("ordered", "pain ~ dose + age");
    });
}

#[test]
fn words_without_an_order_lead_to_a_multinomial_regression() {
    let mut text = String::from("dose,age,party\n");
    for i in 0..90 {
        let words = ["red", "green", "blue"];
        text.push_str(&format!(
            "{},{},{}\n",
            mixed(i, 1, 50) + 3,
            20 + mixed(i, 2, 60),
            words[mixed(i, 3, 3)]
        ));
    }
    both(|mut user, folder| {
        user.open(folder, &text);
        user.act("party: 3 categories");
        user.harness.run_steps(2);
        user.harness
            .get_by_label_contains("green, red, each against blue");
        user.run("multinomial", "party ~ dose + age");
    });
}

#[test]
fn groups_are_offered_and_lead_to_a_mixed_model() {
    let mut text = String::from("log_radon,floor,county\n");
    for i in 0..120 {
        let county = i % 12;
        let floor = mixed(i, 5, 2);
        let radon =
            1.0 + county as f64 / 10.0 - 0.6 * floor as f64 + mixed(i, 2, 100) as f64 / 90.0;
        text.push_str(&format!("{radon:.3},{floor},County {county}\n"));
    }
    both(|mut user, folder| {
        user.open(folder, &text);
        user.act("log_radon: number");
        user.harness.run_steps(2);
        user.harness.get_by_label("Let counties differ?");
        user.act("Yes: Let counties differ?");
        user.run("mixed", "log_radon ~ floor + (1 | county)");
    });
}

#[test]
fn a_wide_poll_takes_its_columns_with_one_click() {
    let names: Vec<String> = (1..=10).map(|j| format!("answer{j}")).collect();
    let mut text = format!("y,{}\n", names.join(","));
    for i in 0..200 {
        let cells: Vec<String> = (0..11).map(|j| mixed(i, j + 1, 2).to_string()).collect();
        text.push_str(&format!("{}\n", cells.join(",")));
    }
    both(|mut user, folder| {
        user.open(folder, &text);
        user.harness.run_steps(2);
        user.harness.get_by_label_contains("Guessed from its name");
        user.act("Add all 10 columns");
        user.run("logistic", &format!("y ~ {}", names.join(" + ")));
    });
}

#[test]
fn nothing_to_explain_leads_to_groups_of_rows() {
    let mut text = String::from("eruption,waiting\n");
    for i in 0..120 {
        let long = mixed(i, 6, 3) > 0;
        let (eruption, waiting) = if long { (4.3, 80.0) } else { (2.0, 54.0) };
        let noise = |salt| mixed(i, salt, 100) as f64 / 100.0 - 0.5;
        text.push_str(&format!(
            "{:.2},{:.1}\n",
            eruption + noise(1),
            waiting + 10.0 * noise(2)
        ));
    }
    both(|mut user, folder| {
        user.open(folder, &text);
        user.act("Nothing: find groups of rows");
        user.run("dp-mixture", "~ eruption + waiting");
    });
}

#[test]
fn columns_are_dragged_to_their_roles() {
    let session = Session::with_draft("churn");
    let mut harness = crate::ui::testing::page_harness(session, whole_ui);
    harness.run_steps(3);
    let place = |harness: &Harness<'_, Shown<Views>>, name: &str| {
        let found = harness.query_all_by_label(name);
        let nodes: Vec<_> = found.map(|node| node.rect()).collect();
        // The panel with the roles is the leftmost.
        let left = nodes
            .into_iter()
            .min_by(|a, b| a.left().total_cmp(&b.left()));
        left.unwrap_or_else(|| panic!("there is no {name}"))
            .center()
    };
    let from = place(&harness, "age");
    let to = place(&harness, "Groups");
    harness.hover_at(from);
    harness.run_steps(2);
    harness.drag_at(from);
    harness.run_steps(2);
    harness.hover_at(to);
    harness.run_steps(2);
    harness.get_by_label("becomes group");
    let weights = place(&harness, "Weights");
    harness.hover_at(weights);
    harness.run_steps(2);
    harness.get_by_label("becomes weight");
    let plot = pos2(1000.0, 400.0);
    harness.hover_at(plot);
    harness.run_steps(2);
    harness.get_by_label("drop it on a role");
    harness.hover_at(to);
    harness.run_steps(2);
    harness.event(eframe::egui::Event::PointerButton {
        pos: to,
        button: eframe::egui::PointerButton::Primary,
        pressed: false,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(3);
    let dragged = DraftChange::Assign("age".to_owned(), ColumnRole::Group);
    assert!(
        harness.state().has_sent(dragged),
        "{:?}",
        harness.state().sent
    );
    let document = harness.state().session.state.document.clone().unwrap();
    assert_eq!(document.recipe.model.template, "mixed");
    assert!(document.recipe.model.formula.ends_with("(1 | age)"));
}

#[test]
fn the_outcome_is_refused_by_no_template_chosen_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("log_radon,floor,county\n");
    for i in 0..120 {
        text.push_str(&format!(
            "{}.5,{},c{}\n",
            mixed(i, 1, 30),
            mixed(i, 2, 2),
            i % 12
        ));
    }
    for template in ["logistic", "mixed", "dp-mixture", "poisson", "categorical"] {
        let mut session = Session::with_file(&folder, "radon.csv", &text);
        session.send(DataCommand::AcceptImport);
        session.send(DraftChange::Assign(
            "floor".to_owned(),
            ColumnRole::Response,
        ));
        session.send(DraftChange::Template(template.to_owned()));
        let mut harness = crate::ui::testing::page_harness(session, whole_ui);
        harness.run_steps(2);
        harness.get_by_label("Add to Outcome").click();
        harness.run_steps(3);
        harness
            .query_all_by_label("log_radon")
            .find(|node| node.accesskit_node().role() == Role::MenuItem)
            .unwrap()
            .click();
        harness.run_steps(3);
        let state = &harness.state().session.state;
        let document = state.document.as_ref().unwrap();
        assert_eq!(
            document.roles.response.as_deref(),
            Some("log_radon"),
            "{template}"
        );
        assert_eq!(state.check.as_ref().unwrap().error, None, "{template}");
    }
}

#[test]
fn slopes_and_interactions_are_clicked() {
    let mut session = Session::with_draft("reaction");
    session.send(DraftChange::Formula(
        "reaction ~ day + (1 | driver)".to_owned(),
    ));
    let mut harness = crate::ui::testing::page_harness(session, whole_ui);
    harness.run_steps(3);
    harness
        .get_by_label_contains("What differs by driver")
        .click();
    harness.run_steps(3);
    harness.get_by_label("effect of day").click();
    harness.run_steps(3);
    let formula = |harness: &Harness<'_, Shown<Views>>| {
        let document = harness.state().session.state.document.clone().unwrap();
        document.recipe.model.formula
    };
    assert_eq!(formula(&harness), "reaction ~ day + (1 + day | driver)");
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Formula("churned ~ age + plan".to_owned()));
    let mut harness = crate::ui::testing::page_harness(session, whole_ui);
    harness.run_steps(3);
    harness.get_by_label("Add an interaction").click();
    harness.run_steps(3);
    harness.get_by_label("age × plan").click();
    harness.run_steps(3);
    assert_eq!(formula(&harness), "churned ~ age + plan + age:plan");
}
