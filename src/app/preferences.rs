//! What is remembered about a user: theme, depth, size, recent files.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::command::Act;
use super::state::AppState;
use super::tasks::Effects;

/// Recent files kept.
const MAX_RECENT: usize = 8;

/// Colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// Black and white.
    HighContrast,
}

/// How much is shown; numbers are the same at every depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// One sentence, one table.
    Verdict,
    /// What most analysts want.
    #[default]
    Standard,
    /// Everything there is.
    Everything,
}

/// A choice to remember.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preference {
    /// Choose the theme.
    Theme(Theme),
    /// Show numbers with a decimal comma, or with a point.
    DecimalComma(bool),
    /// Choose how much is shown.
    Depth(Depth),
    /// Show the further columns of the summary table, or only the usual ones.
    MoreColumns(bool),
    /// Choose the size of everything.
    Zoom(f32),
}

impl Act for Preference {
    fn apply(self, state: &mut AppState, _fx: &mut dyn Effects) {
        let preferences = &mut state.preferences;
        match self {
            Self::Theme(theme) => preferences.theme = theme,
            Self::DecimalComma(on) => preferences.decimal_comma = on,
            Self::Depth(depth) => preferences.depth = depth,
            Self::MoreColumns(on) => preferences.more_columns = on,
            Self::Zoom(zoom) => preferences.zoom = zoom,
        }
    }

    fn takes_what_is_typed(&self) -> bool {
        matches!(self, Self::Depth(_) | Self::MoreColumns(_))
    }
}

/// The remembered choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Colours.
    pub theme: Theme,
    /// How much is shown.
    pub depth: Depth,
    /// Size of everything, 1 is normal.
    pub zoom: f32,
    /// Whether numbers on screen have a decimal comma; files always have a point.
    pub decimal_comma: bool,
    /// Whether the summary table has its further columns.
    pub more_columns: bool,
    /// Files opened last, newest first.
    pub recent: Vec<PathBuf>,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            depth: Depth::Standard,
            zoom: 1.0,
            decimal_comma: false,
            more_columns: false,
            recent: Vec::new(),
        }
    }
}

impl Preferences {
    /// Where preferences are kept; `None` where the system names no place.
    pub fn path() -> Option<PathBuf> {
        let variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let folder = variable("XDG_CONFIG_HOME")
            .or_else(|| variable("APPDATA"))
            .or_else(|| std::env::home_dir().map(|home| home.join(".config")))?;
        Some(folder.join("ergodic").join("preferences.toml"))
    }

    /// Reads them; what is missing or damaged falls back to the default, because preferences are never worth an error.
    pub fn read(path: &Path) -> Self {
        let mut read: Self = std::fs::read_to_string(path)
            .ok()
            .and_then(|text| toml::from_str(&text).ok())
            .unwrap_or_default();
        // From where a path without its folder is to be found is not known any more.
        read.recent.retain(|file| file.is_absolute());
        read
    }

    /// Writes them.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        std::fs::write(path, text)
    }

    /// Puts `path` first among the recent files, as it is found from every folder that the program is started in.
    pub fn remember(&mut self, path: &Path) {
        let path = absolute(path);
        self.recent.retain(|known| *known != path);
        self.recent.insert(0, path);
        self.recent.truncate(MAX_RECENT);
    }

    /// Takes `path` out of the recent files.
    pub fn forget(&mut self, path: &Path) {
        let path = absolute(path);
        self.recent.retain(|known| *known != path);
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_no_place| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_survive_a_round_trip_and_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ergodic").join("preferences.toml");
        let mut preferences = Preferences {
            theme: Theme::Dark,
            ..Preferences::default()
        };
        let (a, b) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
        for file in [&a, &b, &a] {
            preferences.remember(file);
        }
        assert_eq!(preferences.recent, [a, b]);
        preferences.write(&path).unwrap();
        assert_eq!(Preferences::read(&path), preferences);
        std::fs::write(&path, "theme = 7").unwrap();
        assert_eq!(Preferences::read(&path), Preferences::default());
    }

    #[test]
    fn recent_files_are_found_from_every_folder() {
        let here = std::env::current_dir().unwrap().join("data/a.csv");
        let mut preferences = Preferences::default();
        preferences.remember(Path::new("data/a.csv"));
        preferences.remember(&here);
        assert_eq!(preferences.recent, [here]);
        preferences.forget(Path::new("data/a.csv"));
        assert!(preferences.recent.is_empty());
        // As earlier versions wrote them.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("preferences.toml");
        std::fs::write(&path, "recent = [\"data/a.csv\"]").unwrap();
        assert_eq!(Preferences::read(&path), Preferences::default());
    }
}
