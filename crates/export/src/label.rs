//! What somebody calls a run and notes about it: `label.toml` in its folder, which says nothing of results.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{ExportError, files};

/// The file, which whoever names a run replaces, whether it has the claim or not.
pub const LABEL: &str = "label.toml";
/// Characters of a name, at most: it stands in lists and sentences.
pub const LONGEST_NAME: usize = 40;

/// Name and note of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Label {
    /// What somebody calls the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What somebody noted about the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Label {
    /// Of texts as they were typed; empty ones are none.
    pub fn new(name: &str, note: &str) -> Self {
        let kept = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        // On one line, whatever was pasted.
        let name: Vec<&str> = name.split_whitespace().collect();
        let name: String = name.join(" ").chars().take(LONGEST_NAME).collect();
        Self {
            name: kept(name.trim_end()),
            note: kept(note.trim()),
        }
    }

    /// The label of the run folder `folder`; `None` where it has none that can be read.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = ergodic_data::read_text(&folder.join(LABEL)).ok()?;
        let Self { name, note } = toml::from_str(&text).ok()?;
        Some(Self::new(
            &name.unwrap_or_default(),
            &note.unwrap_or_default(),
        ))
    }

    /// Puts it into the run folder `folder`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), ExportError> {
        let path = folder.join(LABEL);
        let text = toml::to_string(self).map_err(std::io::Error::other);
        text.and_then(|text| files::replace(&path, |out| out.write_all(text.as_bytes())))
            .map_err(|error| ExportError::at("The name of the run could not be kept", error, &path))
    }
}

/// What runs are called that stand side by side: by their names, by their paths where they have none, and by both where two
/// have the same name.
pub fn names_of(paths: &[&Path]) -> Vec<String> {
    let name = |path: &&Path| Label::read(path).and_then(|label| label.name);
    let names: Vec<Option<String>> = paths.iter().map(name).collect();
    let is_shared = |name: &String| {
        let same = names.iter().flatten().filter(|other| *other == name);
        same.count() > 1
    };
    let both = paths.iter().zip(&names);
    both.map(|(path, name)| match name {
        None => path.display().to_string(),
        Some(name) if is_shared(name) => format!("{name} ({})", path.display()),
        Some(name) => name.clone(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_as_it_was_written_and_a_damaged_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(Label::read(folder), None);
        let label = Label::new(" wide\n \"priors\" ", "as in\nthe paper\n");
        assert_eq!(label.name.as_deref(), Some("wide \"priors\""));
        assert_eq!(label.note.as_deref(), Some("as in\nthe paper"));
        label.write(folder).unwrap();
        assert_eq!(Label::read(folder), Some(label));
        Label::new("", " ").write(folder).unwrap();
        assert_eq!(Label::read(folder), Some(Label::default()));
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
        std::fs::write(folder.join(LABEL), "name = \"half").unwrap();
        assert_eq!(Label::read(folder), None);
        let long = Label::new(&"ü".repeat(60), "").name.unwrap();
        assert_eq!(long.chars().count(), LONGEST_NAME);
    }

    #[test]
    fn runs_of_one_name_are_told_apart_by_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c", "d"].map(|name| folder.path().join(name));
        for (path, name) in paths.iter().zip(["pilot", "pilot", "", "wide"]) {
            std::fs::create_dir(path).unwrap();
            Label::new(name, "").write(path).unwrap();
        }
        let lent: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
        let shown = |k: usize| paths[k].display().to_string();
        assert_eq!(
            names_of(&lent),
            [
                format!("pilot ({})", shown(0)),
                format!("pilot ({})", shown(1)),
                shown(2),
                "wide".to_owned()
            ]
        );
    }
}
