//! The recipe: the human-readable record of everything that determines a run (TOML).
//!
//! The same recipe gives the same draws in the window and on the command line. A run folder holds a complete one, in
//! which nothing is left to a default that a later version could change.

use crate::templates;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};

use super::hold_out::HoldOut;
use ergodic_base::settings::{Numbers, Section as _, SettingError, Settings, Value, is_default};
use ergodic_core::engine::{RunSection, Start, keep};
use ergodic_core::models::{DefaultPriors, ModelEntry, Storage, default_priors, names};
use ergodic_data::{ImportOptions, nothing};
use ergodic_language::{Own, Program};

/// Version of the recipe's layout.
pub const FORMAT: u32 = 1;
/// Source prefix of bundled data sets.
pub const SAMPLE_PREFIX: &str = "sample:";
/// Id of a sampler, or of a method for the mode, that leaves the choice to the program.
pub const AUTO: &str = ergodic_core::estimators::AUTO;

/// Why a recipe cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecipeError {
    /// The file cannot be read.
    #[error("{what}: {path}")]
    File {
        /// What is in the way.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// The text is not TOML, or has a key or a value that a recipe does not take: one sentence, with the line where it is known.
    #[error("{0}")]
    Text(String),
    /// What is wrong with a file.
    #[error("{error}, in {path}")]
    In {
        /// The error.
        error: Box<Self>,
        /// The file.
        path: PathBuf,
    },
    /// A change that is not understood.
    #[error("`--set {change}` {why}; write key=value, such as sampler.batch=500")]
    Change {
        /// Text of the change.
        change: String,
        /// What is wrong with the change.
        why: &'static str,
    },
    /// A layout of another version.
    #[error(
        "The recipe has format {0}, this version reads format {FORMAT}; use the version that wrote it"
    )]
    Format(u32),
    /// A setting.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A setting of other templates.
    #[error(
        "Template `{template}` has no setting `{key}`, which belongs to `{}`; choose such a template, as by --template {} \
         (`template` in section `[model]`)",
        others.join("`, `"), others.first().copied().unwrap_or_default()
    )]
    OfOtherTemplates {
        /// Id of the recipe's template.
        template: String,
        /// Key that was written.
        key: String,
        /// Ids of the templates that have the setting.
        others: Vec<&'static str>,
    },
    /// No sampler of this name.
    #[error("There is no sampler `{id}`; there are {AUTO}, {known}")]
    UnknownSampler {
        /// Id that was written.
        id: String,
        /// The samplers that there are.
        known: String,
    },
    /// No data source.
    #[error("The recipe has no data source")]
    NoData,
    /// Data that have changed since the recipe was made.
    #[error(
        "The data are not those of the recipe or run (fingerprint {}…, it has {}…); put the old data back, or fit the new ones with \
         --set data.fingerprint={ANY_DATA}: {source_name}",
        short(.found), short(.expected)
    )]
    OtherData {
        /// Where the data come from.
        source_name: String,
        /// Fingerprint of the data.
        found: String,
        /// Fingerprint in the recipe.
        expected: String,
    },
}

/// The first digits of a fingerprint.
fn short(fingerprint: &str) -> &str {
    fingerprint.get(..12).unwrap_or(fingerprint)
}

ergodic_base::section! {
    /// Everything that determines a run.
    #[serde(deny_unknown_fields)]
    pub struct Recipe in "" {
        /// Version of the layout, [`FORMAT`].
        #[serde(default = "format")]
        pub format: u32 = FORMAT;
        /// The data.
        pub data: ..DataSection;
        /// The model.
        pub model: ..ModelSection;
        /// Priors by class or parameter in Stan's notation, and as `default` the name of those of all others
        /// ([`Self::default_priors`]).
        pub priors?: BTreeMap<String, String>;
        /// How the posterior mode is found.
        #[serde(default, skip_serializing_if = "is_default")]
        pub mode: ..ModeSection;
        /// The sampler.
        #[serde(default)]
        pub sampler: ..SamplerSection;
        /// Chains, draws, seed and when to stop.
        #[serde(default)]
        pub run: ..RunSection;
        /// What is reported.
        #[serde(default)]
        pub report: ..ReportSection;
    }
}

fn format() -> u32 {
    FORMAT
}

fn yes() -> bool {
    true
}

/// `data.fingerprint` of a recipe that takes whatever its data are now.
pub const ANY_DATA: &str = "none";

/// Levels of a column, whose numbers need no quotes.
fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let values = Vec::<Value>::deserialize(deserializer)?;
    Ok(values.iter().map(Value::to_string).collect())
}

ergodic_base::section! {
    /// `[data]`.
    #[serde(deny_unknown_fields)]
    pub struct DataSection in "data." {
        /// The table; paths are relative to the recipe
        pub source: String = String::new(), takes "a path, or sample:NAME", default "none", such as "b.csv";
        /// SHA-256 that the table must have, so that no other is taken for it; none takes whatever the table is now
        pub fingerprint?: Option<String>, takes "a fingerprint, or none", default "none; in saved recipes that of the table",
            such as ANY_DATA;
        /// Precision in which the predictors of rows are stored: f32 takes half the memory, and the run says by how much it moves
        /// estimates
        pub storage?: Storage, takes "f64 | f32", default "f64", such as "f32", listed last;
        /// How the text is read; absent entries are guessed
        #[serde(default)]
        pub import: ..ImportOptions;
    }
}

ergodic_base::section! {
    /// `[model]`: these and the template's own settings.
    pub struct ModelSection in "model." {
        /// Model template
        pub template: String = names::LOGISTIC.to_owned(), takes "a template of `ergodic list templates`", default "by the outcome",
            such as names::LINEAR;
        /// Outcome and predictors
        #[serde(default)]
        pub formula: String = String::new(), takes "a formula", default "none", such as "y ~ z";
        /// What counts as success
        pub success?: Option<String>, takes "a value of the outcome", default "1, true, yes or the second", such as "no";
        /// Categories of the outcome that may have no rows; all levels of an ordered outcome from lowest to highest, or of one
        /// without an order the reference first
        #[serde(deserialize_with = "labels")]
        pub levels?: Vec<String>, takes "a list of texts", default "those in the data", such as "[\"a\", \"b\"]";
        /// Whether priors hold per standard deviation of the predictors
        #[serde(default = "yes")]
        pub standardize: bool = true, takes "true | false", such as "false";
        /// Rows kept out of the fit, to score its predictions by: that share of all rows, drawn by model.hold_out_seed; the third
        /// of ten parts drawn so; rows where the column has the value; or rows by number
        pub hold_out?: Option<HoldOut>, takes "a share such as 0.2, a part such as 3/10, COLUMN=VALUE, or rows 3, 17", such as "0.2";
        /// Seed that rows to keep out are drawn by, apart from that of the run, so that runs with other seeds keep out the same
        /// rows
        pub hold_out_seed?: Option<u64>, in Numbers::FromTo(0, i64::MAX), default "1", such as "7";
        /// The template's own settings; absent ones have their defaults
        #[serde(flatten)]
        pub settings: ..Settings;
        /// The level that others of the column are compared with
        pub reference.NAME?: BTreeMap<String, String>, takes "a level", default "the first", such as "a";
        /// Columns of numbers that are categories
        pub categorical?: BTreeSet<String>, takes "a list of columns", such as "[\"x\"]";
        /// Most frequent values of a categorical predictor that are kept; all others are one value `other`
        pub top_levels.NAME?: BTreeMap<String, usize>, takes "whole number from 1", default "all levels", such as "20";
    }
}

ergodic_base::section! {
    /// `[sampler]`: `id` and the sampler's own settings.
    pub struct SamplerSection in "sampler." {
        /// Sampler
        pub id: String = AUTO.to_owned(), takes "auto, or a sampler of `ergodic list samplers`", such as ergodic_core::samplers::names::NUTS;
        /// Settings; absent ones are chosen by the sampler
        #[serde(flatten)]
        pub settings: ..Settings;
    }
}

ergodic_base::section! {
    /// `[mode]`: `method`, `start` and the optimiser's own settings.
    #[serde(default)]
    pub struct ModeSection in "mode." {
        /// How the mode of the posterior is found
        pub method: String = AUTO.to_owned(), takes "auto, or an optimiser of `ergodic list optimisers`", such as "newton";
        /// Where the search starts, one number per reported variable
        pub start?: Option<Vec<f64>>, takes "a list of numbers", default "0 in internal coordinates", such as "[1.5]";
        /// Settings; absent ones are chosen by the optimiser
        #[serde(flatten)]
        pub settings: ..Settings;
    }
}

/// Scale of reported coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Per unit of the columns as they are.
    #[default]
    Original,
    /// Per standard deviation, intercept at average predictors.
    Standardised,
}

ergodic_base::section! {
    /// `[report]`.
    #[serde(deny_unknown_fields, default)]
    pub struct ReportSection in "report." {
        /// Scale of reported coefficients
        pub scale: Scale = Scale::Original, takes "original | standardised", default "original", such as "standardised";
    }
}

impl Recipe {
    /// A recipe for a data source and formula, all else at its default.
    pub fn new(source: &str, template: &str, formula: &str) -> Self {
        Self {
            data: DataSection {
                source: source.to_owned(),
                ..DataSection::default()
            },
            model: ModelSection {
                template: template.to_owned(),
                formula: formula.to_owned(),
                ..ModelSection::default()
            },
            priors: BTreeMap::from([(
                default_priors::KEY.to_owned(),
                DefaultPriors::WeaklyInformative.id().to_owned(),
            )]),
            ..Self::default()
        }
    }

    /// Reads `path` and applies `changes`, each `key=value` with a dotted key.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, or has a key or value that a recipe does not take.
    pub fn read(path: &Path, changes: &[String]) -> Result<Self, RecipeError> {
        let text = ergodic_data::read_text(path).map_err(|error| {
            let what = match error.kind() {
                std::io::ErrorKind::NotFound => "There is no such recipe".to_owned(),
                std::io::ErrorKind::IsADirectory => {
                    "A recipe is a file, this is a folder".to_owned()
                }
                std::io::ErrorKind::InvalidData => "The recipe is not UTF-8 text".to_owned(),
                _ => format!("The recipe cannot be read ({error})"),
            };
            let path = path.to_owned();
            RecipeError::File { what, path }
        })?;
        Self::parse(&text, changes).map_err(|error| RecipeError::In {
            error: Box::new(error),
            path: path.to_owned(),
        })
    }

    /// Reads a recipe's text and applies `changes`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &str, changes: &[String]) -> Result<Self, RecipeError> {
        let mut table: toml::Table = text.parse().map_err(|error| describe(text, &error))?;
        let key_of = |change: &String| Some(split_key(split_at_equals(change)?.0)?.join("."));
        let (sampler, others): (Vec<&String>, Vec<&String>) = changes
            .iter()
            .partition(|change| key_of(change).as_deref() == Some(SAMPLER_ID));
        let named: Vec<String> = changes.iter().filter_map(key_of).collect();
        let says = |key: &str| named.iter().any(|it| it == key);
        // A run whose length somebody has named ends there, as those of earlier versions did.
        let length = ["draws", "draws_of_chains", "target_ess", "target_rhat"];
        let has = |key: &str| table.get("run").is_some_and(|run| run.get(key).is_some());
        let says_length = length.iter().any(|key| says(&format!("run.{key}")));
        let says_rule = says("run.until_precise");
        let has_rule = says_rule || has("until_precise");
        let may_go_on = says_rule || !says_length && (has_rule || !length.into_iter().any(has));
        let before = sampler_id(&table);
        for change in sampler {
            apply(&mut table, change)?;
        }
        if before.is_some_and(|id| id != AUTO && sampler_id(&table) != Some(id)) {
            forget_sampler(&mut table);
        }
        let has_draws = |key: &String| key.starts_with(START_DRAWS);
        if says("run.start")
            && !named.iter().any(has_draws)
            && let Some(toml::Value::Table(run)) = table.get_mut("run")
        {
            // They are those of the run that was named before.
            run.remove("start_draws");
        }
        for change in others {
            apply(&mut table, change)?;
        }
        let needs_none = !table.contains_key("data") && own_needs_no_data(&table);
        if needs_none {
            let source = toml::Value::from(format!("{SAMPLE_PREFIX}{}", nothing::ID));
            let data: toml::Table = [("source".to_owned(), source)].into_iter().collect();
            table.insert("data".to_owned(), data.into());
        }
        // Parsed again from text when nothing was changed, so that errors know their line.
        let draws_are_named = match says("run.target_ess") || says("run.target_rhat") {
            true => says("run.draws") || says("run.draws_of_chains"),
            false => table
                .get("run")
                .is_some_and(|run| run.get("draws").is_some()),
        };
        let mut recipe: Self = if changes.is_empty() && !needs_none {
            toml::from_str(text).map_err(|error| describe(text, &error))?
        } else {
            table
                .try_into()
                // In full, with the key: the text has no line to name.
                .map_err(|error: toml::de::Error| RecipeError::Text(sentence(&error.to_string())))?
        };
        recipe.use_words_of_today();
        if !draws_are_named {
            recipe.run.leave_room();
        }
        let goes_on = &mut recipe.run.until_precise;
        *goes_on = may_go_on && (*goes_on || !has_rule);
        recipe.check()?;
        Ok(recipe)
    }

    /// Replaces words of earlier versions, and names the default priors, so that no later version can take them for others.
    pub fn use_words_of_today(&mut self) {
        for renamed in RENAMED {
            renamed.replace(&mut self.model, renamed.before, renamed.now);
        }
        if !self.priors.contains_key(default_priors::KEY) {
            self.set_default_priors(self.default_priors());
        }
    }

    /// The recipe with `changes` applied.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn changed(&self, changes: &[String]) -> Result<Self, RecipeError> {
        if changes.is_empty() {
            self.check()?;
            return Ok(self.clone());
        }
        Self::parse(&self.to_toml(), changes)
    }

    /// The recipe in the words of the first version: what it is known by does not change when a word does.
    pub(crate) fn in_first_words(mut self) -> Self {
        for renamed in RENAMED {
            renamed.replace(&mut self.model, renamed.now, renamed.before);
        }
        self
    }

    /// The recipe as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self)
            .expect("a recipe holds only strings, numbers, lists and tables of them")
    }

    /// The priors of parameters that have none of their own. A recipe that does not say is of a time when there was no choice, and
    /// keeps the priors that it was run with.
    pub fn default_priors(&self) -> DefaultPriors {
        let named = self.priors.get(default_priors::KEY);
        named
            .and_then(|id| DefaultPriors::find(id).ok())
            .unwrap_or_default()
    }

    /// Names the priors of parameters that have none of their own.
    pub fn set_default_priors(&mut self, defaults: DefaultPriors) {
        self.priors
            .insert(default_priors::KEY.to_owned(), defaults.id().to_owned());
    }

    /// The priors that are set, by class or parameter.
    pub fn own_priors(&self) -> impl Iterator<Item = (&String, &String)> {
        self.priors
            .iter()
            .filter(|(key, _)| *key != default_priors::KEY)
    }

    /// Whether data source and reading, model and priors are those of `other`: a sampler changes no posterior.
    pub fn gives_the_same_results_as(&self, other: &Self) -> bool {
        self.has_the_model_of(other)
            && self.data.source == other.data.source
            && self.data.import == other.data.import
    }

    /// Whether model, priors and storage of rows are those of `other`.
    pub fn has_the_model_of(&self, other: &Self) -> bool {
        self.model == other.model
            && self.data.storage == other.data.storage
            && self.default_priors() == other.default_priors()
            && self.own_priors().eq(other.own_priors())
    }

    /// Where the data are, for a recipe that stands in `folder`; `None` for bundled data.
    pub fn data_path(&self, folder: &Path) -> Option<PathBuf> {
        (!self.data.source.starts_with(SAMPLE_PREFIX)).then(|| folder.join(&self.data.source))
    }

    /// Name of the bundled data set, if it is one.
    pub fn sample(&self) -> Option<&str> {
        self.data.source.strip_prefix(SAMPLE_PREFIX)
    }

    /// Whether the recipe is of a model as text that needs no data: its table is there for the sake of the rest only.
    pub fn is_without_data(&self) -> bool {
        self.sample() == Some(nothing::ID)
    }

    fn check(&self) -> Result<(), RecipeError> {
        let refuse = |key: &str, takes: String, value: usize| {
            let (key, value) = (key.to_owned(), value.to_string());
            Err(SettingError::Value { key, takes, value }.into())
        };
        let run = &self.run;
        if self.format != FORMAT {
            return Err(RecipeError::Format(self.format));
        }
        let model = &self.model;
        // An unknown template is refused where it is looked for.
        if let Ok(entry) = templates::find(&model.template) {
            let has = |entry: &ModelEntry, key: &str| {
                let mut fields = entry.spec.fields.iter();
                fields.any(|field| field.key == key)
            };
            if let Some((key, _)) = model.settings.iter().find(|(key, _)| !has(entry, key)) {
                let others = templates::all().filter(|other| has(other, key));
                let others: Vec<&str> = others.map(|other| other.spec.id).collect();
                if !others.is_empty() {
                    return Err(RecipeError::OfOtherTemplates {
                        template: model.template.clone(),
                        key: key.to_owned(),
                        others,
                    });
                }
                let own: Vec<&str> = entry.spec.fields.iter().map(|field| field.key).collect();
                let shared = ModelSection::entries();
                let known = shared.iter().map(|entry| entry.name).chain(own);
                return Err(RecipeError::Setting(SettingError::Unknown {
                    owner: "Section `[model]`".to_owned(),
                    key: key.to_owned(),
                    known: known.collect::<Vec<_>>().join(", "),
                }));
            }
        }
        if let Some(id) = self.priors.get(default_priors::KEY) {
            DefaultPriors::find(id)?;
        }
        self.check_numbers()?;
        if let Some(groups) = run.superchains
            && !(groups >= 2 && run.chains.is_multiple_of(groups))
        {
            let takes = format!("2 or more groups of equal size of {} chains", run.chains);
            return refuse("run.superchains", takes, groups);
        }
        if let Some((name, _)) = self.model.top_levels.iter().find(|(_, top)| **top == 0) {
            let key = format!("model.top_levels.{name}");
            return refuse(&key, "at least 1".to_owned(), 0);
        }
        keep::check(&run.keep).map_err(RecipeError::Setting)?;
        for (key, numbers) in [
            ("run.draws_of_chains", &run.draws_of_chains),
            ("run.warmup_of_chains", &run.warmup_of_chains),
        ] {
            if numbers.as_ref().is_some_and(|it| it.len() != run.chains) {
                return Err(SettingError::unfit(key, "needs one number per chain").into());
            }
        }
        if matches!(&run.start, Start::Values(sets) if sets.len() > 1 && sets.len() != run.chains) {
            let what =
                "needs one set of values for all chains, or one for each with `;` between them";
            return Err(SettingError::unfit("run.start", what).into());
        }
        Ok(())
    }
}

/// Whether the recipe has a model as text that names no columns and has no rows.
fn own_needs_no_data(table: &toml::Table) -> bool {
    let of_model = |key: &str| {
        table
            .get("model")
            .and_then(|model| model.get(key)?.as_str())
    };
    of_model("template") == Some(Own::ID)
        && of_model(Own::PROGRAM)
            .and_then(|text| Program::parse(text).ok())
            .is_some_and(|program| program.needs_no_data())
}

/// A TOML error as one sentence with its line.
fn describe(text: &str, error: &toml::de::Error) -> RecipeError {
    let place = error.span().map_or(String::new(), |span| {
        let line = 1 + text[..span.start.min(text.len())].matches('\n').count();
        format!(" on line {line}")
    });
    RecipeError::Text(format!("{}{place}", sentence(error.message())))
}

fn sentence(message: &str) -> String {
    let message = message.trim_end().lines().collect::<Vec<_>>().join(", ");
    // What the program calls its types says nothing to people.
    let message = [
        ("expected u64", "expected a whole number from 0"),
        ("expected usize", "expected a whole number from 0"),
        ("expected f64", "expected a number"),
        ("expected a string", "expected a text"),
    ]
    .iter()
    .fold(message, |text, (type_name, words)| {
        text.replace(type_name, words)
    });
    format!(
        "The recipe is not understood: {}",
        message.trim_end_matches('.')
    )
}

/// A value of a template's setting that was called otherwise: recipes may go on using the old word, and are written with the
/// new one.
struct RenamedValue {
    template: &'static str,
    key: &'static str,
    before: &'static str,
    now: &'static str,
}

const RENAMED: &[RenamedValue] = &[RenamedValue {
    template: names::HIERARCHICAL,
    key: "parametrisation",
    before: "noncentred",
    now: "non-centred",
}];

impl RenamedValue {
    fn replace(&self, model: &mut ModelSection, from: &str, to: &str) {
        if model.template == self.template && model.settings.text(self.key) == Some(from) {
            model.settings.set(self.key, to.into());
        }
    }
}

/// The key of the draws that chains start at, before the name of a quantity.
const START_DRAWS: &str = "run.start_draws";
/// The key of the sampler.
const SAMPLER_ID: &str = "sampler.id";

fn sampler_id(table: &toml::Table) -> Option<String> {
    let id = table.get("sampler")?.get("id")?;
    Some(id.as_str().unwrap_or_default().to_owned())
}

/// Leaves out what a recipe says of another sampler than the one that was chosen since: its settings and the lengths of its
/// chains.
fn forget_sampler(table: &mut toml::Table) {
    if let Some(toml::Value::Table(sampler)) = table.get_mut("sampler") {
        sampler.retain(|key, _| key == "id");
    }
    if let Some(toml::Value::Table(run)) = table.get_mut("run") {
        for key in ["warmup", "warmup_of_chains", "draws_of_chains"] {
            run.remove(key);
        }
    }
}

/// Applies one `key=value` to a recipe's table. Keys are dotted; parts with dots or brackets are quoted:
/// `priors."b[age]"=normal(0, 1)`.
fn apply(table: &mut toml::Table, change: &str) -> Result<(), RecipeError> {
    let refuse = |why| RecipeError::Change {
        change: change.to_owned(),
        why,
    };
    let (key, value) = split_at_equals(change).ok_or_else(|| refuse("has no `=`"))?;
    let parts = split_key(key).ok_or_else(|| refuse("has a key that is not understood"))?;
    let (last, path) = parts.split_last().ok_or_else(|| refuse("has no key"))?;
    let mut at = table;
    for part in path {
        at = at
            .entry(part.clone())
            .or_insert_with(|| toml::Value::Table(toml::Table::new()))
            .as_table_mut()
            .ok_or_else(|| refuse("goes into a value that is not a table"))?;
    }
    // Lists and tables in TOML's own notation; everything else as a user types it.
    let value = if value.trim_start().starts_with(['[', '{']) {
        format!("v = {value}")
            .parse::<toml::Table>()
            .ok()
            .and_then(|mut parsed| parsed.remove("v"))
            .ok_or_else(|| refuse("has a list that is not understood"))?
    } else {
        match Value::parse(value) {
            Value::Bool(v) => toml::Value::Boolean(v),
            Value::Int(v) => toml::Value::Integer(v),
            Value::Real(v) => toml::Value::Float(v),
            Value::Text(v) => toml::Value::String(v),
        }
    };
    at.insert(last.clone(), value);
    Ok(())
}

/// Splits at the first `=` outside quotes.
fn split_at_equals(change: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (i, c) in change.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '=' if !quoted => return Some((&change[..i], &change[i + 1..])),
            _ => {}
        }
    }
    None
}

fn split_key(key: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let (mut quoted, mut brackets) = (false, 0_u32);
    for c in key.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            // Dots inside b[...] belong to the name, quoted or not.
            '.' if !quoted && brackets == 0 => parts.push(String::new()),
            _ => {
                match c {
                    '[' => brackets += 1,
                    ']' => brackets = brackets.checked_sub(1)?,
                    _ => {}
                }
                parts.last_mut()?.push(c);
            }
        }
    }
    (!quoted && brackets == 0 && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

#[cfg(test)]
mod tests;
