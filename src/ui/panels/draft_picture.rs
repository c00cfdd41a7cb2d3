//! The button that saves a picture of what is found before a run.

use eframe::egui::Ui;

use crate::app::draft_pictures::DraftPicture;
use crate::app::{PathCommand, Product};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::widgets::Button;

/// Shows the button.
pub fn save_ui(ui: &mut Ui, picture: DraftPicture, out: &mut Outbox) {
    let save = Button::new("Save as a picture…")
        .small()
        .icon(icons::CHART_LINE);
    let save = ui.add(save);
    if save
        .on_hover_text("SVG, PNG, or a table of what is drawn")
        .clicked()
    {
        out.send(PathCommand::Pick(Product::DraftPicture(picture)));
    }
}
