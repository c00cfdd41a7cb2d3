//! All templates: those of the core, and the one whose models are written as text.

use ergodic_base::settings::Settings;
use ergodic_core::design::ResponseUse;
use ergodic_core::families::Family;
use ergodic_core::formula::Formula;
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

/// How formulas of a template begin: with the outcome, or with `~` where models explain none; `None` of models that are written as text.
pub fn formula_beginning(entry: &ModelEntry) -> Option<&'static str> {
    if is_text(entry.spec.id) {
        return None;
    }
    Some(match (entry.spec.response)(&Settings::default()) {
        ResponseUse::Absent => "~ …",
        _ => "y ~ …",
    })
}

/// The response family that `settings` of the template called `id` choose; `None` where it leaves no choice, so that its title says all.
pub fn chosen_family(id: &str, settings: &Settings) -> Option<Family> {
    let entry = find(id).ok()?;
    let is_open = entry.spec.fields.iter().any(|field| field.key == "family");
    is_open.then(|| (entry.family)(settings)).flatten()
}

/// A model in words: the title of the template called `id` or, where that leaves the response family open, what a model of `family` is,
/// which is mixed if effects vary by a group of `formula`.
pub fn model_in_words(id: &str, family: Option<Family>, formula: &str) -> String {
    match (family, formula.parse::<Formula>()) {
        (Some(family), Ok(formula)) => family.definition().model(!formula.groups.is_empty()),
        _ => find(id).map_or(id, |entry| entry.spec.title).to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_begin_with_an_outcome_where_there_is_one() {
        let of = |id: &str| formula_beginning(find(id).unwrap());
        for (id, beginning) in [
            ("mixed", Some("y ~ …")),
            ("normal-mean", Some("y ~ …")),
            ("gaussian-mixture", Some("~ …")),
            ("own", None),
        ] {
            assert_eq!(of(id), beginning, "{id}");
        }
    }

    #[test]
    fn a_family_is_chosen_where_a_template_has_several() {
        let none = Settings::default();
        assert_eq!(chosen_family("mixed", &none), Some(Family::Gaussian));
        assert_eq!(chosen_family("poisson", &none), None);
        assert_eq!(chosen_family("nonsense", &none), None);
    }
}
