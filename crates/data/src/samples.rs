//! Data sets that come with the program, each with a side-car that says what is in it and how to fit it.
//!
//! They can be named wherever a file can: `sample:churn`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use super::error::DataError;
use super::load::{Loaded, load as load_file, load_bytes};
use super::sniff::ImportOptions;
use super::{nothing, synthetic};
use ergodic_base::Control;

/// What a data source begins with if it names a bundled data set.
pub const PREFIX: &str = "sample:";

/// A bundled data set.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Name after `sample:`.
    pub id: &'static str,
    /// One line.
    pub title: &'static str,
    /// Formula of a first model.
    pub formula: &'static str,
    /// Template of a first model.
    pub template: &'static str,
    /// Name of the file in `sample_data/`.
    pub file_name: &'static str,
    /// The file.
    pub bytes: &'static [u8],
    /// Contents of the side-car.
    pub info: SampleInfo,
}

/// A side-car: `sample_data/ID.json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleInfo {
    /// One line.
    pub title: &'static str,
    /// What the table is for, in a few sentences.
    pub description: &'static str,
    /// Name of the data file.
    pub file: &'static str,
    /// Where the table comes from.
    pub source: &'static str,
    /// Licence of the data.
    pub licence: &'static str,
    /// Rows.
    pub rows: usize,
    /// Columns in order.
    pub columns: Vec<SampleColumn>,
    /// How to fit it.
    pub suggestion: Suggestion,
    /// True values of parameters by reported name, if the data were simulated.
    pub truth: BTreeMap<String, f64>,
    /// How the table was made, if it was simulated.
    pub generator: Option<Generator>,
    /// SHA-256 of the file.
    pub sha256: &'static str,
}

/// A column of a bundled data set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleColumn {
    /// Name as loaded.
    pub name: &'static str,
    /// Unit, or "none".
    pub unit: &'static str,
    /// Meaning.
    pub meaning: &'static str,
}

/// A first model for a data set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suggestion {
    /// Formula.
    pub formula: &'static str,
    /// Success level of the response.
    pub success: Option<&'static str>,
    /// Template id.
    pub template: &'static str,
    /// Sampler id.
    pub sampler: &'static str,
    /// About how many seconds a run with it takes.
    pub seconds: u32,
}

/// How simulated data were made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// Source file in the repository.
    pub file: &'static str,
    /// Seed of the stream.
    pub seed: u64,
}

/// A bundled file with what its side-car says.
fn sample(
    id: &'static str,
    file_name: &'static str,
    bytes: &'static [u8],
    side_car: &'static str,
) -> Sample {
    let info: SampleInfo = serde_json::from_str(side_car)
        .expect("the side-cars are part of the program and a test reads them all");
    let Suggestion {
        formula, template, ..
    } = info.suggestion;
    Sample {
        id,
        title: info.title,
        formula,
        template,
        file_name,
        bytes,
        info,
    }
}

macro_rules! sample {
    ($id:literal, $file:literal) => {
        sample(
            $id,
            $file,
            include_bytes!(concat!("../../../sample_data/", $file)),
            include_str!(concat!("../../../sample_data/", $id, ".json")),
        )
    };
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    vec![
        sample!("churn", "churn.csv"),
        sample!("schools", "schools.csv"),
        sample!("reaction", "reaction.csv"),
        sample!("clusters", "clusters.csv"),
        sample!("fish", "fish.csv"),
        sample!("tall_logistic", "tall_logistic.csv.gz"),
        sample!("awkward", "awkward.csv"),
    ]
});

/// All bundled data sets, the one for a first try first.
pub fn all() -> &'static [Sample] {
    &SAMPLES
}

/// The bundled data set of this name, without `sample:`.
pub fn find(id: &str) -> Option<&'static Sample> {
    all().iter().find(|sample| sample.id == id)
}

/// The formula of a first model for the bundled or synthetic data set of this name.
pub fn formula(id: &str) -> Option<String> {
    find(id)
        .map(|sample| sample.formula.to_owned())
        .or_else(|| synthetic::formula(id))
}

/// Reads the bundled data set of this name, without `sample:`; the error for an unknown one lists those there are.
pub fn load(id: &str, options: &ImportOptions, control: &Control) -> Result<Loaded, DataError> {
    if id.starts_with(synthetic::PREFIX) {
        return synthetic::load(id);
    }
    if id == nothing::ID {
        return nothing::load();
    }
    let Some(sample) = find(id) else {
        let known: Vec<&str> = all().iter().map(|sample| sample.id).collect();
        return Err(DataError::UnknownSample {
            id: id.to_owned(),
            known: format!("{}, {}", known.join(", "), synthetic::PATTERN),
        });
    };
    load_bytes(
        sample.file_name,
        &format!("{PREFIX}{id}"),
        sample.bytes.to_vec(),
        options,
        control,
    )
}

/// Reads a data source: `sample:ID` or the path of a file.
pub fn load_source(
    source: &str,
    options: &ImportOptions,
    control: &Control,
) -> Result<Loaded, DataError> {
    match source.strip_prefix(PREFIX) {
        Some(id) => load(id, options, control),
        None => load_file(Path::new(source), options, control),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_found_by_name_and_others_refused_with_the_list() {
        assert_eq!(find("churn").unwrap().id, "churn");
        let error = load_source(
            "sample:nope",
            &ImportOptions::default(),
            &Control::default(),
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "There is no bundled data set `nope`; there are churn, schools, reaction, clusters, fish, tall_logistic, awkward, synthetic-ROWSxCOLUMNS"
        );
    }
}
