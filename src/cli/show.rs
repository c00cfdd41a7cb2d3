//! `show`: a model written down in other notations.

use super::args::{Notation, ShowArgs};
use super::{Failure, fit, output};
use ergodic_analysis::{Description, job, templates};
use ergodic_core::design::Design;

/// Prints the model of a recipe or of flags.
pub fn show(args: &ShowArgs) -> Result<(), Failure> {
    args.model.keeps_nothing("show")?;
    if args.model.json {
        return Err(Failure::request(
            "`ergodic show` prints text as it is, so --json does nothing here; leave it out",
        ));
    }
    let request = fit::recipe_of(&args.model)?;
    let recipe = &request.recipe;
    templates::find(&recipe.model.template).map_err(Failure::request)?;
    let loaded = request.load()?;
    if args.notation == Notation::Formula {
        let frame = job::model_frame(recipe, &loaded.table)?;
        Design::build(&loaded.table, &frame).map_err(Failure::request)?;
        output::result(&format!("{}\n", frame.formula));
        return Ok(());
    }
    let described = Description::of(recipe, &loaded.table)?;
    let all = described.translation.map_err(Failure::request)?;
    let text = match args.notation {
        Notation::Words | Notation::Formula => all.words,
        Notation::Equation => all.equation,
        Notation::Stan => all.stan.map_err(Failure::request)?,
        Notation::Brms => all.brms.map_err(Failure::request)?,
    };
    output::result(&format!("{}\n", text.trim_end()));
    Ok(())
}
