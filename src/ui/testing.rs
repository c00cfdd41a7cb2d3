//! What tests of the window share.

use eframe::egui::{Key, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::outbox::Outbox;
use super::theme;
use crate::app::testing::Session;
use crate::app::{AppState, Command};

/// A headless window of `size` points with our fonts and styles, showing `ui_fn` over `state`.
pub fn harness<'a, S>(
    size: impl Into<Vec2>,
    state: S,
    ui_fn: impl FnMut(&mut Ui, &mut S) + 'a,
) -> Harness<'a, S> {
    Harness::builder()
        .with_size(size)
        .with_context_setup(theme::install)
        .build_ui_state(ui_fn, state)
}

/// A page over a session: what it sent is noted, and applied as the window would.
pub(crate) struct Shown<V> {
    pub session: Session,
    pub view: V,
    pub sent: Vec<Command>,
}

impl<V> Shown<V> {
    /// Whether the page sent this.
    pub fn has_sent(&self, command: impl Into<Command>) -> bool {
        self.sent.contains(&command.into())
    }
}

/// A headless window of 1280 × 760 points that shows one page over `session`.
pub(crate) fn page_harness<'a, V: Default + 'a>(
    session: Session,
    page: impl Fn(&mut Ui, &AppState, &mut V, &mut Outbox) + 'a,
) -> Harness<'a, Shown<V>> {
    let shown = Shown {
        session,
        view: V::default(),
        sent: Vec::new(),
    };
    harness([1280.0, 760.0], shown, move |ui, shown| {
        let mut out = Outbox::default();
        page(ui, &shown.session.state, &mut shown.view, &mut out);
        for command in out.take() {
            shown.sent.push(command.clone());
            shown.session.send(command);
        }
    })
}

/// Presses T with the pointer on the picture called `name`, which shows its data as a table or takes it away.
pub(crate) fn press_t_over<S>(harness: &mut Harness<'_, S>, name: &str) {
    let picture = harness.get_by_label(name).rect();
    harness.hover_at(picture.center());
    harness.run_steps(2);
    harness.key_press(Key::T);
    harness.run_steps(3);
}
