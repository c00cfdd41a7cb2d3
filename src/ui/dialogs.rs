//! The system's file dialogs, on a thread of their own.

use std::time::{Duration, Instant};

use crate::app::{Outcome, Pick};

/// A dialog that is gone sooner was never shown: no portal, no zenity.
const SHOWN_TIME: Duration = Duration::from_millis(50);

/// Shows the dialog for `purpose` and waits for it.
pub fn pick(purpose: Pick) -> Outcome {
    let begun = Instant::now();
    let path = match &purpose {
        Pick::Open => rfd::FileDialog::new()
            .set_title("Open data, a project, a recipe or draws")
            .add_filter(
                "Data, projects, recipes and draws",
                &["csv", "tsv", "txt", "gz", "parquet", "toml", "ergodic"],
            )
            .add_filter("All files", &["*"])
            .pick_file(),
        Pick::SaveProject(name) => rfd::FileDialog::new()
            .set_title("Save the project")
            .set_file_name(name)
            .add_filter("Projects", &["ergodic"])
            .save_file(),
        Pick::SaveRecipe => rfd::FileDialog::new()
            .set_title("Save the recipe")
            .set_file_name("recipe.toml")
            .save_file(),
        Pick::ExportFit(_) => rfd::FileDialog::new()
            .set_title("Export the likelihood fit into a new folder")
            .set_file_name("likelihood-fit")
            .save_file(),
        Pick::Export(_, _, name) | Pick::ExportPredictions(_, name) => rfd::FileDialog::new()
            .set_title("Export")
            .set_file_name(name)
            .save_file(),
    };
    let unavailable = path.is_none() && begun.elapsed() < SHOWN_TIME;
    Outcome::Picked {
        purpose,
        path,
        unavailable,
    }
}
