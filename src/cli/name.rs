//! `name`: what a run is called, and what somebody notes about it.

use std::path::PathBuf;

use clap::Parser;

use super::{Failure, output};
use ergodic_export::RunFolder;
use ergodic_export::label::{LONGEST_NAME, Label};

/// `name`.
#[derive(Debug, Parser)]
pub struct NameArgs {
    /// Run folder
    pub run: PathBuf,
    /// Name in comparisons, scores and reports, of at most 40 characters; the one that it has stays if absent, and an empty one is none
    pub name: Option<String>,
    /// Note of the run; the one that it has stays if absent, and an empty one is none
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

/// Names a run, and prints its name and its note.
pub fn name(args: &NameArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
    let mut label = Label::read(folder.path()).unwrap_or_default();
    if args.name.is_some() || args.note.is_some() {
        let name = args.name.as_ref().or(label.name.as_ref());
        let note = args.note.as_ref().or(label.note.as_ref());
        let text = |it: Option<&String>| it.cloned().unwrap_or_default();
        label = Label::new(&text(name), &text(note));
        label.write(folder.path()).map_err(Failure::run)?;
        let letters = |name: &String| name.trim().chars().count();
        if args.name.as_ref().map_or(0, letters) > LONGEST_NAME {
            output::note(&format!(
                "Names have at most {LONGEST_NAME} characters; the rest of this one is left out, and fits in a note (--note)"
            ));
        }
    }
    let shown = args.run.display();
    match &label.name {
        Some(name) => output::result(&format!("{shown}: {name}\n")),
        None => output::result(&format!("{shown} has no name\n")),
    }
    if let Some(note) = &label.note {
        output::result(&format!("{note}\n"));
    }
    Ok(())
}
