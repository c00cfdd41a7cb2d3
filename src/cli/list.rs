//! `list`: what templates, samplers, settings, formats and data sets there are, from their registries.

use ergodic_analysis::templates;
use serde_json::{Value as Json, json};

use super::args::{FitArgs, ListArgs, Listing};
use super::{Failure, fit, output};
use ergodic_analysis::{Job, recipe_keys};
use ergodic_base::Control;
use ergodic_base::numerals::{duration, thousands};
use ergodic_base::settings::Field;
use ergodic_core::{estimators, samplers};
use ergodic_data::{PUBLIC_SETS, samples};

/// Prints a list.
pub fn list(args: &ListArgs) -> Result<(), Failure> {
    if args.id.is_some() && !matches!(args.what, Listing::Settings) {
        return Err(Failure::request(
            "Only `list settings` takes the name of a template, sampler or optimiser",
        ));
    }
    if args.data.is_some() || args.model.is_some() {
        if !matches!(args.what, Listing::Samplers) {
            return Err(Failure::request(
                "Only `list samplers` takes data or a model",
            ));
        }
        return rank(args);
    }
    let entries = match args.what {
        Listing::Templates => templates::all()
            .map(|entry| {
                let mut json = named(entry.spec.id, entry.spec.title, entry.spec.about);
                json["group"] = json!(entry.group);
                json["formula"] = json!(templates::formula_beginning(entry));
                json
            })
            .collect(),
        Listing::Samplers => samplers::REGISTRY
            .iter()
            .map(|entry| {
                let spec = &entry.spec;
                let mut json = named(spec.id, spec.title, spec.about);
                json["source"] = json!(spec.cite);
                json["formula"] = json!(spec.formula);
                json["approximation"] = json!(spec.bias);
                json["family"] = json!(spec.family.title());
                json["negative_control"] = json!(spec.negative_control);
                json
            })
            .collect(),
        Listing::Optimisers => estimators::REGISTRY
            .iter()
            .map(|entry| {
                let spec = &entry.spec;
                let mut json = named(spec.id, spec.title, spec.about);
                json["source"] = json!(spec.cite);
                json["formula"] = json!(spec.formula);
                json
            })
            .collect(),
        Listing::Estimators => estimators::mixed::METHODS
            .iter()
            .map(|spec| {
                let mut json = named(spec.id, spec.title, spec.about);
                json["source"] = json!(spec.cite);
                json
            })
            .collect(),
        Listing::Formats => ergodic_export::FORMATS
            .iter()
            .map(|format| named(format.id, format.title, format.about))
            .collect(),
        Listing::Figures => ergodic_report::FIGURES
            .iter()
            .map(|entry| {
                let mut json = named(entry.id, entry.title, entry.about);
                json["takes"] = json!(entry.takes.words());
                json
            })
            .collect(),
        Listing::Datasets => datasets(),
        Listing::Benches => ergodic_experiments::REGISTRY
            .iter()
            .map(|bench| {
                let mut json = named(bench.id, bench.title, bench.about);
                json["source"] = json!(bench.source);
                json["seconds"] = json!(bench.seconds);
                json["time"] = json!(bench.seconds.map(time_of));
                json
            })
            .collect(),
        Listing::Settings => settings(args.id.as_deref())?,
    };
    if args.json {
        output::json(&entries)?;
    } else {
        output::result(&plain(&entries));
    }
    Ok(())
}

/// How long the whole version of an experiment takes, in words.
fn time_of(seconds: u32) -> String {
    format!("about {} on two cores", duration(f64::from(seconds)))
}

/// Data sets that come with the program, and public ones with the places where they can be had.
fn datasets() -> Vec<Json> {
    let size = |json: &mut Json, rows: usize, columns: usize| {
        json["rows"] = json!(rows);
        json["columns"] = json!(columns);
        json["size"] = json!(format!(
            "{} rows, {columns} columns",
            thousands(rows as u64)
        ));
    };
    let bundled = samples::all().iter().map(|sample| {
        let mut json = named(sample.id, sample.title, sample.formula);
        json["group"] = json!("Bundled with the program");
        json["template"] = json!(sample.template);
        size(&mut json, sample.info.rows, sample.info.columns.len());
        json["command"] = json!(format!("ergodic fit {}{}", samples::PREFIX, sample.id));
        json
    });
    let public = PUBLIC_SETS.iter().map(|set| {
        let about = format!("{}. {}", set.subject, set.about);
        let mut json = named(set.id, set.title, &about);
        json["group"] =
            json!("Public, to be fetched by you: the program makes no requests to the network");
        size(&mut json, set.rows, set.columns);
        json["address"] = json!(set.address);
        json["file"] = json!(set.file);
        json["command"] = json!(set.command);
        json
    });
    bundled.chain(public).collect()
}

/// Prints how samplers rank for data and a formula, or for a model as text.
fn rank(args: &ListArgs) -> Result<(), Failure> {
    let request = fit::recipe_of(&FitArgs {
        data: args.data.clone(),
        model: args.model.clone(),
        formula: args.formula.clone(),
        template: args.template.clone(),
        max_seconds: args.max_seconds,
        set: args.set.clone(),
        ..FitArgs::default()
    })?;
    let control = Control::default();
    let job = Job::prepare(&request.recipe, &request.folder, request.loaded, &control)
        .map_err(Failure::request)?;
    let entries: Vec<Json> = job
        .measured_advice()
        .ranking()
        .enumerate()
        .map(|(place, candidate)| {
            let spec = samplers::find(candidate.sampler).map(|entry| &entry.spec);
            json!({
                "id": candidate.sampler,
                "rank": place + 1,
                "title": spec.map(|spec| spec.title),
                "fits": candidate.fits,
                "reason": candidate.reason,
                "approximation": spec.and_then(|spec| spec.bias),
            })
        })
        .collect();
    if args.json {
        return output::json(&entries);
    }
    let lengths = entries
        .iter()
        .map(|entry| entry["id"].as_str().map_or(0, str::len));
    let width = lengths.max().unwrap_or(0);
    let mut out = String::new();
    for entry in &entries {
        let text = |key: &str| entry[key].as_str().unwrap_or_default();
        let rank = match entry["fits"].as_bool() {
            Some(true) => entry["rank"].to_string(),
            _ => "-".to_owned(),
        };
        out.push_str(&format!(
            "{rank:>2}  {:width$}  {}\n",
            text("id"),
            text("reason")
        ));
    }
    output::result(&out);
    Ok(())
}

fn named(id: &str, title: &str, about: &str) -> Json {
    json!({ "id": id, "title": title, "about": about })
}

fn settings(id: Option<&str>) -> Result<Vec<Json>, Failure> {
    let id = id.ok_or_else(|| {
        Failure::request(
            "Name a template, sampler, optimiser or section of recipes (data, model, priors, mode, sampler, run, report): \
             `ergodic list settings nuts`, `ergodic list settings run`",
        )
    })?;
    let entries: Vec<Json> = recipe_keys()
        .iter()
        .filter(|entry| entry.key.split('.').next() == Some(id))
        .map(|entry| {
            json!({
                "id": entry.key,
                "title": entry.about,
                "about": "",
                "takes": entry.takes,
                "default": entry.default,
            })
        })
        .collect();
    if !entries.is_empty() {
        return Ok(entries);
    }
    let (prefix, fields) = if let Some(entry) = samplers::find(id) {
        ("sampler", entry.spec.fields)
    } else if let Some(entry) = estimators::find(id) {
        ("mode", entry.spec.fields)
    } else if let Ok(entry) = templates::find(id) {
        ("model", entry.spec.fields)
    } else {
        let ids = samplers::REGISTRY.iter().map(|entry| entry.spec.id);
        let ids: Vec<&str> = ids
            .chain(estimators::REGISTRY.iter().map(|entry| entry.spec.id))
            .chain(templates::all().map(|entry| entry.spec.id))
            .collect();
        return Err(Failure::request(format!(
            "There is no template, sampler or optimiser `{id}`; there are {}",
            ids.join(", ")
        )));
    };
    if fields.is_empty() {
        output::note(&format!("`{id}` has no settings"));
    }
    Ok(fields.iter().map(|field| describe(prefix, field)).collect())
}

fn describe(prefix: &str, field: &Field) -> Json {
    json!({
        "id": format!("{prefix}.{}", field.key),
        "title": field.label,
        "about": field.help,
        "takes": field.kind.to_string(),
        "default": field.default_text(),
        "why": field.why,
    })
}

fn plain(entries: &[Json]) -> String {
    let text = |entry: &Json, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let width = entries
        .iter()
        .map(|entry| text(entry, "id").chars().count())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    let mut group = String::new();
    for entry in entries {
        let id = text(entry, "id");
        let own = text(entry, "group");
        if own != group {
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}{own}\n"));
            group = own;
        }
        let pad = " ".repeat(width - id.chars().count());
        let about = match text(entry, "about") {
            about if about.is_empty() => String::new(),
            about => format!(": {about}"),
        };
        out.push_str(&format!("{id}{pad}  {}{about}\n", text(entry, "title")));
        for key in [
            "takes",
            "default",
            "why",
            "source",
            "time",
            "formula",
            "approximation",
            "size",
            "address",
            "file",
            "command",
        ] {
            if let Some(value) = entry[key].as_str()
                && !value.is_empty()
            {
                out.push_str(&format!("{}  {key}: {value}\n", " ".repeat(width)));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Args;

    #[test]
    fn commands_of_data_sets_are_understood() {
        for entry in datasets() {
            let command = entry["command"].as_str().unwrap();
            // Every other part stands between quotes.
            let mut words: Vec<&str> = Vec::new();
            for (k, part) in command.split('\'').enumerate() {
                match k % 2 {
                    1 => words.push(part),
                    _ => words.extend(part.split_whitespace()),
                }
            }
            let read = Args::program().try_get_matches_from(words);
            assert!(read.is_ok(), "{command}: {:?}", read.err());
        }
    }
}
