//! What is remembered about a user: theme, depth, size, recent files.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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
        std::fs::read_to_string(path)
            .ok()
            .and_then(|text| toml::from_str(&text).ok())
            .unwrap_or_default()
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

    /// Puts `path` first among the recent files.
    pub fn remember(&mut self, path: &Path) {
        self.recent.retain(|known| known != path);
        self.recent.insert(0, path.to_owned());
        self.recent.truncate(MAX_RECENT);
    }

    /// Takes `path` out of the recent files.
    pub fn forget(&mut self, path: &Path) {
        self.recent.retain(|known| known != path);
    }
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
        preferences.remember(Path::new("a.csv"));
        preferences.remember(Path::new("b.csv"));
        preferences.remember(Path::new("a.csv"));
        assert_eq!(
            preferences.recent,
            [PathBuf::from("a.csv"), PathBuf::from("b.csv")]
        );
        preferences.write(&path).unwrap();
        assert_eq!(Preferences::read(&path), preferences);
        std::fs::write(&path, "theme = 7").unwrap();
        assert_eq!(Preferences::read(&path), Preferences::default());
    }
}
