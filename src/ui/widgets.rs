//! Small parts that panels are made of, one noun per file. Each sets its accessible name.

pub mod badge;
pub mod button;
pub mod chip;
pub mod field;
pub mod key_cap;
pub mod message_row;
pub mod name;
pub mod number;
pub mod number_field;
pub mod paint;
pub mod progress;
pub mod section;
pub mod segments;
pub mod slider;
pub mod spark;
pub mod tab;
pub mod table;
pub mod tree_row;

pub use badge::{badge, badge_with, verdict_icon};
pub use button::{Button, link};
pub use chip::Chip;
pub use field::{Field, FieldResponse};
pub use key_cap::key_cap;
pub use message_row::MessageRow;
pub use number_field::NumberField;
pub use progress::{Progress, progress_line};
pub use section::{
    card, column_name, dialog_frame, empty_state, heading, hint, inset, list_card, section_head,
    sentence, sentence_line, surface, value_row,
};
pub use segments::Segments;
pub use slider::Slider;
pub use spark::{interval_bar, mini_histogram, small_curve};
pub use tab::Tab;
pub use tree_row::TreeRow;
