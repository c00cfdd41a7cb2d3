//! All templates: those of the core, and the one whose models are written as text.

use ergodic_core::models::{self, ModelEntry, ModelError};
use ergodic_language::Own;

/// Heading of the template for models of one's own.
pub(crate) const AS_TEXT: &str = "As text";

static OWN: ModelEntry = ModelEntry::of::<Own>().in_group(AS_TEXT);

/// All templates, in the order in which lists show them; those of a group stand together.
pub fn all() -> impl Iterator<Item = &'static ModelEntry> {
    models::REGISTRY.iter().chain([&OWN])
}

/// Whether models of the template called `id` are written as text: their priors hold as they are written, and their names are what
/// their author made them.
pub fn is_text(id: &str) -> bool {
    id == Own::ID
}

/// The template called `id`.
///
/// # Errors
/// There is none; the known ones are listed.
pub fn find(id: &str) -> Result<&'static ModelEntry, ModelError> {
    all().find(|entry| entry.spec.id == id).ok_or_else(|| {
        let known: Vec<&str> = all().map(|entry| entry.spec.id).collect();
        ModelError::UnknownTemplate {
            id: id.to_owned(),
            known: known.join(", "),
        }
    })
}
