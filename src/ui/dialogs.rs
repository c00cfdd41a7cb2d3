//! The system's file dialogs, on a thread of their own.

use std::cell::Cell;

use crate::app::{Pick, Picked, Product};

/// Where the library of dialogs says that its last resort failed too.
const LAST_RESORT: &str = "rfd::backend::xdg_desktop_portal";

thread_local! {
    /// Whether no dialog could be shown from this thread.
    static NONE_SHOWN: Cell<bool> = const { Cell::new(false) };
}

/// Hears the library of dialogs say that it could show none: it answers that as it answers a cancelled dialog, and tells
/// the difference in its log alone.
struct Ear;

static EAR: Ear = Ear;

impl log::Log for Ear {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() == log::Level::Error && metadata.target() == LAST_RESORT
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            NONE_SHOWN.set(true);
        }
    }

    fn flush(&self) {}
}

/// Begins to hear. Where another logger is there already, dialogs that cannot be shown look cancelled.
fn listen() {
    if log::set_logger(&EAR).is_ok() {
        log::set_max_level(log::LevelFilter::Error);
    }
}

/// Shows the dialog for `purpose` and waits for it.
pub fn pick(purpose: Pick) -> Picked {
    listen();
    NONE_SHOWN.set(false);
    let path = match &purpose {
        Pick::Open => rfd::FileDialog::new()
            .set_title("Open data, a project, a recipe or draws")
            .add_filter(
                "Data, projects, recipes and draws",
                &[
                    "csv", "tsv", "txt", "gz", "bz2", "zst", "parquet", "toml", "ergodic",
                ],
            )
            .add_filter("All files", &["*"])
            .pick_file(),
        Pick::Save(product, name) => {
            let dialog = rfd::FileDialog::new()
                .set_title(product.title())
                .set_file_name(name);
            match product {
                Product::Project => dialog.add_filter("Projects", &["ergodic"]),
                Product::Picture(..) | Product::DraftPicture(_) => dialog
                    .add_filter("Vector picture", &["svg"])
                    .add_filter("Table of what is drawn", &["csv"]),
                _ => dialog,
            }
            .save_file()
        }
    };
    Picked {
        unavailable: path.is_none() && NONE_SHOWN.get(),
        purpose,
        path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_resort_says_that_no_dialog_was_shown() {
        let hear = |target: &str, level: log::Level| {
            NONE_SHOWN.set(false);
            let record = log::Record::builder().target(target).level(level).build();
            log::Log::log(&EAR, &record);
            NONE_SHOWN.get()
        };
        assert!(hear(LAST_RESORT, log::Level::Error));
        // The portal failed, and zenity is tried next.
        assert!(!hear(
            "rfd::backend::xdg_desktop_portal::portal",
            log::Level::Error
        ));
        assert!(!hear(LAST_RESORT, log::Level::Warn));
        assert!(!hear("egui", log::Level::Error));
    }

    /// The sentences are those of the library in use: another module path would make dialogs look cancelled for ever.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_system_without_dialogs_is_told_from_a_cancelled_one() {
        // Neither a bus nor a program of dialogs can be reached from this process alone, so that the test does not depend
        // on the machine: it asks a child whose environment has neither.
        let program = std::env::current_exe().unwrap();
        let output = std::process::Command::new(program)
            .args([
                "--ignored",
                "--exact",
                "ui::dialogs::tests::without_dialogs",
            ])
            .env("PATH", "/nonexistent")
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
            .env_remove("XDG_RUNTIME_DIR")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("1 passed"), "{said}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[ignore = "run by the test above in an environment without dialogs"]
    fn without_dialogs() {
        for purpose in [
            Pick::Open,
            Pick::Save(Product::Project, "a.ergodic".to_owned()),
        ] {
            let begun = std::time::Instant::now();
            let Picked {
                path, unavailable, ..
            } = pick(purpose);
            assert_eq!((path, unavailable), (None, true), "{:?}", begun.elapsed());
        }
    }
}
