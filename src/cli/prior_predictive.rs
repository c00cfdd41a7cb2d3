//! `prior-predictive`: every parameter with its prior, and what the priors expect in outcome units.

use ergodic_analysis::templates;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::args::PriorPredictiveArgs;
use super::source::Source;
use super::{Failure, fit, output};
use ergodic_analysis::job;
use ergodic_analysis::prior_predictive::{Cells, Expected, Outcomes, PreviewRows, PriorPredictive};
use ergodic_base::varying_words;
use ergodic_core::design::Design;
use ergodic_core::models::ParamInfo;
use ergodic_export::check_place;
use ergodic_report::{PictureFormat, outcomes_of_priors, save_figure};

/// Prints the priors of a recipe or of flags, and what they expect.
pub fn prior_predictive(args: &PriorPredictiveArgs) -> Result<(), Failure> {
    if let Some(path) = &args.plot {
        PictureFormat::of(path).map_err(Failure::request)?;
        let model = &args.model;
        let read = (model.data.iter().map(Path::new))
            .chain(model.source.as_ref().map(Source::path))
            .chain(model.model.as_deref());
        check_place(path, read).map_err(Failure::request)?;
    }
    let request = fit::recipe_of(&args.model)?;
    let recipe = &request.recipe;
    let entry = templates::find(&recipe.model.template).map_err(Failure::request)?;
    let loaded = request.load()?;
    let frame = job::model_frame(recipe, &loaded.table).map_err(Failure::request)?;
    let (design, _) = Design::build(&loaded.table, &frame).map_err(Failure::request)?;
    let design = Arc::new(design);
    let options = job::model_options(recipe).map_err(Failure::request)?;
    let model = (entry.build)(Arc::clone(&design), &options).map_err(Failure::request)?;
    let found = PreviewRows::new(&design, model.observation())
        .expect(recipe, &ergodic_base::Control::default())
        .map_err(Failure::request)?;
    if let Some(path) = &args.plot {
        output::note(&save_figure(&outcomes_of_priors(&found), path).map_err(Failure::run)?);
    }
    if args.model.json {
        let priors: Vec<_> = model.params().iter().map(prior_json).collect();
        let value = json!({
            "template": recipe.model.template,
            "formula": recipe.model.formula,
            "priors": priors,
            "draws": found.draws,
            "rows": found.rows,
            "outcomes": found.outcomes,
        });
        return output::json(&value);
    }
    output::result(&priors_table(model.params()));
    output::result(&text(&found));
    Ok(())
}

fn prior_json(param: &ParamInfo) -> serde_json::Value {
    json!({
        "variable": param.name,
        "prior": param.prior,
        "source": param.prior_source,
        "meaning": param.meaning,
    })
}

/// Effects of groups, of which there may be thousands, have their prior in common.
fn priors_table(params: &[ParamInfo]) -> String {
    let is_effect = |param: &&ParamInfo| param.name.is_varying();
    let rows: Vec<Vec<String>> = params
        .iter()
        .filter(|param| !is_effect(param))
        .map(|param| {
            let source = param.prior_source.to_string();
            vec![param.name.to_string(), param.prior.to_string(), source]
        })
        .collect();
    let mut out = output::table(&["variable", "prior", "because"], &rows);
    if let Some(effect) = params.iter().find(is_effect) {
        let count = params.iter().filter(is_effect).count();
        let what = varying_words(params.iter().map(|param| &param.name));
        out.push_str(&format!(
            "{count} {what}, such as {}: {}\n",
            effect.name, effect.prior
        ));
    }
    out
}

fn text(found: &PriorPredictive) -> String {
    let which = if found.one_by_one {
        ", each with average predictors but one,"
    } else {
        ""
    };
    let mut out = format!(
        "\nOutcomes of {} rows{which} from {} draws of the prior\n",
        found.rows, found.draws
    );
    for expected in &found.outcomes {
        out.push_str(&picture(expected));
        out.push_str(&format!(
            "{}: {}\n",
            expected.plausibility.word(),
            expected.sentence
        ));
        if let Some(together) = (expected.together.as_ref()).filter(|it| !it.sentence.is_empty()) {
            out.push_str(&format!("{}\n", together.sentence));
        }
    }
    out
}

fn picture(expected: &Expected) -> String {
    let name = &expected.name;
    match &expected.outcomes {
        Outcomes::Success {
            shares,
            chances,
            trials,
            ..
        } => {
            let what = if *trials { "trials" } else { "rows  " };
            format!(
                "share of {what}  0 {} 1\nsingle rows      0 {} 1\n",
                shares.line(),
                chances.line()
            )
        }
        Outcomes::Numbers { cells, .. } => format!("{name}\n{}", lines(cells)),
        Outcomes::Categories { levels } => {
            let rows: Vec<Vec<String>> = levels
                .iter()
                .map(|level| {
                    let [low, middle, high] = level.interval.map(|share| format!("{share:.3}"));
                    vec![
                        level.name.clone(),
                        low,
                        middle,
                        high,
                        format!("{:.3}", level.data),
                    ]
                })
                .collect();
            output::table(&[name.as_str(), "q5", "q50", "q95", "data"], &rows)
        }
    }
}

fn lines(cells: &Cells) -> String {
    let end = |at: f64| {
        if cells.logarithmic {
            format!("{:.3e}", 10_f64.powf(at) - 1.0)
        } else {
            format!("{at:.4}")
        }
    };
    let scale = if cells.logarithmic {
        ", on a logarithmic scale"
    } else {
        ""
    };
    let data = Cells {
        prior: cells.data.clone(),
        ..cells.clone()
    };
    format!(
        "prior  {}\ndata   {}\nfrom {} to {}{scale}\n",
        cells.line(),
        data.line(),
        end(cells.from),
        end(cells.to)
    )
}
