//! `fit` and `demo`: prepare a job, run it, save its folder, print its summary.

use ergodic_analysis::templates;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::args::{DemoArgs, ExtraArgs, FitArgs};
use super::progress::{Progress, SavingProgress};
use super::source::{Source, check_alone};
use super::{Failure, output, results};
use ergodic_analysis::choice::choose;
use ergodic_analysis::{Job, JobError, Recipe, SAMPLE_PREFIX, bias_check, job, lesson};
use ergodic_base::Control;
use ergodic_base::numerals::duration;
use ergodic_base::settings::Value;
use ergodic_base::shown::visible_line;
use ergodic_core::design::ResponseUse;
use ergodic_core::engine::{Continuation, Remark, RunState, StopReason, mode_drift};
use ergodic_core::formula::{Formula, quote_name};
use ergodic_core::models::names;
use ergodic_data::suggest::Suggestions;
use ergodic_data::{Loaded, Roles, nothing, samples};
use ergodic_diagnostics::zero_variance::Order;
use ergodic_export::{Claim, Journal, Results, RunFolder, Saved, read_start};
use ergodic_language::{Own, Program};

/// How often the terminal looks at the run.
pub(super) const LOOK_TIME: Duration = Duration::from_millis(50);
/// Bundled data set of `demo`.
const DEMO_SAMPLE: &str = "churn";
/// Template where none is named and none fits.
const FIRST_TEMPLATE: &str = names::LOGISTIC;
/// Parent of run folders where none is named.
const RUNS_FOLDER: &str = "runs";

/// Fits a model.
pub fn fit(args: &FitArgs) -> Result<(), Failure> {
    let claimed = claim_out(args.out.as_deref())?;
    let Request {
        mut recipe,
        folder,
        loaded,
    } = recipe_of(args)?;
    if let Some(earlier) = &args.centre_from {
        let results = results::read(earlier)?;
        results
            .check_all_kept("A centre needs")
            .map_err(Failure::request)?;
        let (draws, _weights) = results.usable();
        recipe.mode.start = mode_drift::start(&draws);
    }
    let replayed = args.source.as_ref().and_then(Source::recipe);
    let name = replayed
        .and_then(Path::file_stem)
        .map(|stem| stem.to_string_lossy().into_owned());
    let mut job = prepare(&recipe, &folder, loaded)?;
    let replayed = replayed.and_then(|_path| RunFolder::open(&folder).ok());
    let replayed = replayed.filter(|run| run.recipe().is_ok_and(|it| it == recipe));
    if let Some(remark) = replayed.and_then(|run| run.replay_remark(&job)) {
        output::note(&format!("note: {remark}"));
    }
    if args.check_bias {
        job.recipe.run.draws = bias_check::checked_draws(&job);
    }
    let out = match claimed {
        Some(claimed) => claimed,
        None => RunFolder::create_numbered(
            Path::new(RUNS_FOLDER),
            &name.unwrap_or_else(|| RunFolder::stem_of(&job)),
        )
        .map_err(Failure::request)?,
    };
    let check = args.check_bias.then_some(Check {
        draws: args.control_draws,
    });
    run(&Arc::new(job), None, out, args.json, check)
}

/// What is asked of a bias check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    /// Draws per chain of the control run, if they are not to be as many as is usual.
    pub draws: Option<u64>,
}

/// Takes the place named for a run before any work is done for it; without a name, refuses early where none could be made.
fn claim_out(out: Option<&Path>) -> Result<Option<(RunFolder, Claim)>, Failure> {
    match out {
        Some(path) => RunFolder::create(path).map(Some).map_err(Failure::request),
        None => RunFolder::check_numbered(Path::new(RUNS_FOLDER))
            .map(|()| None)
            .map_err(Failure::request),
    }
}

/// Fits the bundled data set of the tour.
pub fn demo(args: &DemoArgs) -> Result<(), Failure> {
    #[cfg(feature = "gui")]
    if !args.terminal && !args.bad && args.out.is_none() && has_display() {
        match crate::ui::run(None, true) {
            Ok(()) => return Ok(()),
            Err(error) => output::note(&format!("{error}; continuing in the terminal")),
        }
    }
    if args.bad {
        return bad_run(args.out.as_deref());
    }
    let claimed = claim_out(args.out.as_deref())?;
    let sample = ergodic_data::samples::find(DEMO_SAMPLE).ok_or_else(|| {
        Failure::run(format!("The data set `{DEMO_SAMPLE}` is not in this build"))
    })?;
    let recipe = Recipe::new(
        &format!("{SAMPLE_PREFIX}{DEMO_SAMPLE}"),
        sample.template,
        sample.formula,
    );
    output::note(&format!(
        "Fitting {} to the bundled data set `{DEMO_SAMPLE}`",
        recipe.model.formula
    ));
    let job = prepare(&recipe, Path::new("."), None)?;
    let out = match claimed {
        Some(claimed) => claimed,
        None => {
            RunFolder::create_numbered(Path::new(RUNS_FOLDER), "demo").map_err(Failure::request)?
        }
    };
    run(&Arc::new(job), None, out, false, None)
}

/// Runs the recipe that ends badly, and says what to look at.
fn bad_run(out: Option<&Path>) -> Result<(), Failure> {
    let claimed = claim_out(out)?;
    let recipe = lesson::recipe().map_err(Failure::run)?;
    let job = prepare(&recipe, Path::new("."), None)?;
    let out = match claimed {
        Some(claimed) => claimed,
        None => {
            RunFolder::create_numbered(Path::new(RUNS_FOLDER), "bad").map_err(Failure::request)?
        }
    };
    let ended = run(&Arc::new(job), None, out, false, None);
    output::note("This run was bad on purpose. What to look at:");
    for point in lesson::POINTS {
        output::note(&format!("  {point}"));
    }
    output::note(lesson::CAUSE);
    ended
}

impl FitArgs {
    /// Refuses what only a fit does, for a command that makes trial runs.
    pub(super) fn keeps_nothing(&self, command: &str) -> Result<(), Failure> {
        let asked = [
            ("--out", self.out.is_some()),
            ("--check-bias", self.check_bias),
            ("--zero-variance", self.zero_variance.is_some()),
        ];
        match asked.iter().find(|(_, is)| *is) {
            None => Ok(()),
            Some((flag, _)) => Err(Failure::request(format!(
                "`ergodic {command}` keeps no run, so {flag} does nothing here; leave it out"
            ))),
        }
    }
}

/// What the flags ask for.
pub(super) struct Request {
    /// Data, model, sampler and run.
    pub recipe: Recipe,
    /// The folder that its paths are relative to.
    pub folder: PathBuf,
    /// Data of the recipe, where they were read to choose the template.
    pub loaded: Option<Arc<Loaded>>,
}

impl Request {
    /// Data of the recipe, read unless they were before.
    pub fn load(&self) -> Result<Arc<Loaded>, Failure> {
        match &self.loaded {
            Some(loaded) => Ok(Arc::clone(loaded)),
            None => job::load_data(&self.recipe, &self.folder, &Control::default())
                .map(Arc::new)
                .map_err(Failure::request),
        }
    }
}

/// The change of a recipe that a flag asks for.
fn change(key: &str, value: &Option<impl Display>) -> Option<String> {
    value.as_ref().map(|value| format!("{key}={value}"))
}

/// The recipe of the flags.
pub(super) fn recipe_of(args: &FitArgs) -> Result<Request, Failure> {
    let zero_variance = args.zero_variance.map(|degree| Order::from(degree).word());
    let of_flags = [
        change("model.template", &args.template),
        change("model.hold_out", &args.hold_out),
        change("sampler.id", &args.sampler),
        change("mode.method", &args.mode),
        change("run.start", &args.start),
        change("run.chains", &args.chains),
        change("run.superchains", &args.superchains),
        change("run.warmup", &args.warmup),
        change("run.draws", &args.draws),
        change("run.keep", &args.keep),
        change("run.zero_variance", &zero_variance),
        change("run.seed", &args.seed),
        change("run.max_seconds", &args.max_seconds),
    ];
    let set = args.set.iter().cloned();
    let changes: Vec<String> = of_flags.into_iter().flatten().chain(set).collect();
    if let Some(Source::Recipe(path)) = &args.source {
        let flags = [
            ("--formula", args.formula.is_some()),
            ("--response", args.response.is_some()),
            ("--model", args.model.is_some()),
        ];
        check_alone(path, &flags)?;
        let (mut recipe, folder) = read_recipe(path, &changes)?;
        // A model as text says its columns itself.
        if recipe.model.template != Own::ID {
            check_formula(&recipe.model.formula)?;
        }
        // A flag's path is one of where the command is given, a recipe's one of where the recipe is.
        let of_flag = args.start.is_some() || args.set.iter().any(|it| it.contains("run.start"));
        let from = if of_flag { Path::new("") } else { &folder };
        read_start(&mut recipe, from).map_err(Failure::request)?;
        return Ok(Request {
            recipe,
            folder,
            loaded: None,
        });
    }
    let given_data = Source::data_or(args.source.as_ref(), args.data.as_deref());
    if let Some(path) = &args.model {
        let recipe = own_recipe(path, given_data)?;
        return Ok(Request {
            recipe: recipe.changed(&changes).map_err(Failure::request)?,
            folder: PathBuf::from("."),
            loaded: None,
        });
    }
    let data = given_data.ok_or_else(|| {
        Failure::request("Nothing to fit: name a data file with --formula 'y ~ x', or a recipe")
    })?;
    let named = args.template.as_deref();
    if named == Some(Own::ID) {
        let recipe = Recipe::new(data, Own::ID, "").changed(&changes);
        let mut recipe = recipe.map_err(Failure::request)?;
        if recipe.model.settings.text(Own::PROGRAM).is_none() {
            return Err(Failure::request(
                "Template `own` is a model as text: name its file with --model FILE",
            ));
        }
        read_start(&mut recipe, Path::new("")).map_err(Failure::request)?;
        return Ok(Request {
            recipe,
            folder: PathBuf::from("."),
            loaded: None,
        });
    }
    let formula = match (&args.formula, &args.response) {
        (Some(formula), _) => formula.clone(),
        (None, Some(response)) => formula_of(
            named.unwrap_or(FIRST_TEMPLATE),
            response,
            &args.predictors,
            args.group.as_deref(),
        ),
        // Bundled data sets come with a formula of a first model.
        (None, None) => data
            .strip_prefix(SAMPLE_PREFIX)
            .and_then(samples::formula)
            .unwrap_or_default(),
    };
    let mut recipe = Recipe::new(data, named.unwrap_or(FIRST_TEMPLATE), &formula);
    let mut loaded = None;
    let formula_is_set = |change: &String| change.starts_with("model.formula=");
    if formula.is_empty() && !changes.iter().any(formula_is_set) {
        loaded = Some(guess_formula(&mut recipe, &changes)?);
    }
    let template_is_set = |change: &String| change.starts_with("model.template=");
    if named.is_none() && !changes.iter().any(template_is_set) {
        loaded = choose_template(&mut recipe, &changes, loaded)?;
    }
    let mut recipe = recipe.changed(&changes).map_err(Failure::request)?;
    check_formula(&recipe.model.formula)?;
    read_start(&mut recipe, Path::new("")).map_err(Failure::request)?;
    Ok(Request {
        recipe,
        folder: PathBuf::from("."),
        loaded,
    })
}

/// The recipe of the model that is written in the file `path`.
fn own_recipe(path: &Path, data: Option<&str>) -> Result<Recipe, Failure> {
    let text = ergodic_data::read_text(path).map_err(|error| {
        let path = visible_line(&path.to_string_lossy()).into_owned();
        Failure::request(format!("The model cannot be read ({error}): {path}"))
    })?;
    let program = Program::parse(&text).map_err(JobError::from)?;
    let none = format!("{SAMPLE_PREFIX}{}", nothing::ID);
    let source = match data {
        Some(data) => data,
        None if program.needs_no_data() => &none,
        None => {
            let columns = program.columns().iter().map(|it| format!("`{}`", it.name));
            let columns: Vec<String> = columns.collect();
            return Err(Failure::request(match columns.is_empty() {
                true => "The model has rows but there are no data: add --data FILE".to_owned(),
                false => format!(
                    "The model names columns ({}) but there are no data: add --data FILE, or declare what is a parameter",
                    columns.join(", ")
                ),
            }));
        }
    };
    let mut recipe = Recipe::new(source, Own::ID, "");
    recipe.model.settings.set(Own::PROGRAM, Value::Text(text));
    Ok(recipe)
}

/// The recipe at `path`, or that of the run folder `path`, with `changes`, and the folder that its own paths start from.
pub(super) fn read_recipe(path: &Path, changes: &[String]) -> Result<(Recipe, PathBuf), Failure> {
    let of_run = path.join("recipe.toml");
    let path = if of_run.is_file() { &of_run } else { path };
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new(".")).to_owned();
    let recipe = Recipe::read(path, changes).map_err(Failure::request)?;
    Ok((recipe, folder))
}

/// Gives the recipe the template that its data set suggests or its response needs, and says so. Returns the data if they
/// were read.
fn choose_template(
    recipe: &mut Recipe,
    changes: &[String],
    loaded: Option<Arc<Loaded>>,
) -> Result<Option<Arc<Loaded>>, Failure> {
    let say = |template: &str, why: &str| {
        output::note(&format!(
            "template: {template}, because {why}; --template chooses another"
        ));
    };
    // Changes of the formula count too; those of the template's settings wait until there is one.
    let early = |change: &&String| {
        let key = change.split('=').next().unwrap_or_default().trim();
        key.starts_with("data.") || matches!(key, "model.formula" | "model.categorical")
    };
    let early: Vec<String> = changes.iter().filter(early).cloned().collect();
    let known = recipe.changed(&early).map_err(Failure::request)?;
    check_formula(&known.model.formula)?;
    let Ok(formula) = known.model.formula.parse::<Formula>() else {
        return Ok(loaded);
    };
    let column = |formula: &Formula| formula.response.as_ref().map(|it| it.column.clone());
    if let Some(sample) = recipe.sample().and_then(samples::find)
        && let Ok(suggested) = sample.formula.parse::<Formula>()
        && column(&suggested) == column(&formula)
        && formula.groups == suggested.groups
    {
        sample.template.clone_into(&mut recipe.model.template);
        say(sample.template, "the data set suggests it");
        return Ok(loaded);
    }
    let loaded = match loaded {
        Some(loaded) => loaded,
        None => load(&known)?,
    };
    let choice = choose(&loaded.table, &formula, &known.model.categorical);
    let choice = choice.map_err(Failure::request)?;
    choice.template.clone_into(&mut recipe.model.template);
    let mut with = String::new();
    let is_set = |key: &str| {
        let key = format!("model.{key}=");
        changes.iter().any(|it| it.trim_start().starts_with(&key))
    };
    for (key, value) in choice.settings.into_iter().filter(|(key, _)| !is_set(key)) {
        with.push_str(&format!(" with {key} {value}"));
        recipe
            .model
            .settings
            .set(key, Value::Text(value.to_owned()));
    }
    say(&format!("{}{with}", choice.template), &choice.reason);
    Ok(Some(loaded))
}

fn load(recipe: &Recipe) -> Result<Arc<Loaded>, Failure> {
    job::load_data(recipe, Path::new("."), &Control::default())
        .map(Arc::new)
        .map_err(Failure::request)
}

/// Gives the recipe the formula of a first model, guessed from the columns as the window guesses it, and says so. Returns the
/// data.
fn guess_formula(recipe: &mut Recipe, changes: &[String]) -> Result<Arc<Loaded>, Failure> {
    let of_data = |change: &&String| change.trim_start().starts_with("data.");
    let early: Vec<String> = changes.iter().filter(of_data).cloned().collect();
    let known = recipe.changed(&early).map_err(Failure::request)?;
    let loaded = load(&known)?;
    let suggestions = Suggestions::of(&loaded.table);
    let planned = recipe.changed(changes).map_err(Failure::request)?.model;
    let entry = templates::find(&planned.template).map_err(Failure::request)?;
    if entry.response_use(&planned.settings) == ResponseUse::Absent {
        recipe.model.formula = formula_without_outcome(entry.spec.id, &suggestions)?;
        let formula = &recipe.model.formula;
        output::note(&format!(
            "formula: {formula}, guessed from the columns; --formula says another"
        ));
        return Ok(loaded);
    }
    let model = suggestions.guess.as_ref().and_then(|guess| {
        let roles = suggestions.roles(Some(&guess.column));
        Some((guess, roles.to_formula()?))
    });
    let Some((guess, formula)) = model else {
        return Err(Failure::request(
            "There is no model, and no column can be explained: add --formula 'y ~ x' or --response y --predictors x",
        ));
    };
    recipe.model.formula = formula.to_string();
    output::note(&format!(
        "formula: {formula}, with `{}` guessed {}; --formula says another",
        guess.column, guess.from
    ));
    for (group, levels) in suggestions.groups() {
        if group != guess.column {
            output::note(&format!(
                "note: `{group}` has {levels} groups and was left out; add (1 | {}) to let them differ",
                quote_name(group)
            ));
        }
    }
    let others = suggestions.explaining(Some(&guess.column)).len();
    if formula.terms.is_empty() && others > 0 {
        output::note(&format!(
            "note: {others} columns could be predictors; --formula '{} ~ .' takes them all",
            quote_name(&guess.column)
        ));
    }
    Ok(loaded)
}

/// The formula of a first model of a template that explains no outcome.
fn formula_without_outcome(template: &str, suggestions: &Suggestions) -> Result<String, Failure> {
    if template == names::TOPICS {
        return suggestions.documents().ok_or_else(|| {
            Failure::request(
                "Template `topics` needs to know which columns are words and documents: add --formula '~ word + (1 | document)', or \
                 '~ word + count + (1 | document)' where a column counts words",
            )
        });
    }
    let roles = Roles {
        response_use: ResponseUse::Absent,
        ..suggestions.roles(None)
    };
    let formula = roles.to_formula();
    formula.map(|formula| formula.to_string()).ok_or_else(|| {
        Failure::request(format!(
            "Template `{template}` explains no outcome, and which columns take part is not clear: add --formula '~ a + b'"
        ))
    })
}

/// Refuses a formula that cannot be read, with the formula below the sentence and a mark where reading ended.
pub(super) fn check_formula(text: &str) -> Result<(), Failure> {
    match text.parse::<Formula>() {
        Ok(_) => Ok(()),
        Err(error) => {
            let detail = excerpt(text, error.position);
            Err(Failure::request(error).with_detail(detail))
        }
    }
}

/// The part of a formula around the 1-based character `position`, and below it a mark.
fn excerpt(text: &str, position: usize) -> String {
    /// Characters that are shown of a formula, and of those before the mark.
    const WINDOW: usize = 72;
    const BEFORE: usize = 48;
    let first = (position - 1).saturating_sub(BEFORE);
    let window = |len: usize| -> String { text.chars().skip(first).take(len).collect() };
    let before = window(position - 1 - first);
    let ellipsis = if first > 0 { "…" } else { "" };
    let more = if text.chars().nth(first + WINDOW).is_some() {
        "…"
    } else {
        ""
    };
    let line = window(WINDOW);
    let indent = ellipsis.chars().count() + visible_line(&before).chars().count();
    format!(
        "  {ellipsis}{}{more}\n  {}^",
        visible_line(&line),
        " ".repeat(indent)
    )
}

/// The formula of columns by their roles; all terms vary by the group where the template is one for which they do.
fn formula_of(
    template: &str,
    response: &str,
    predictors: &[String],
    group: Option<&str>,
) -> String {
    let quoted = quote_name;
    let mut terms: Vec<String> = predictors.iter().map(|name| quoted(name)).collect();
    terms.extend(group.map(|group| format!("(1 | {})", quoted(group))));
    let text = format!("{} ~ {}", quoted(response), terms.join(" + "));
    match (templates::find(template), text.parse::<Formula>()) {
        (Ok(entry), Ok(mut formula)) if entry.all_vary => {
            formula.vary_all();
            formula.to_string()
        }
        _ => text,
    }
}

fn prepare(recipe: &Recipe, folder: &Path, loaded: Option<Arc<Loaded>>) -> Result<Job, Failure> {
    let job = prepare_quietly(recipe, folder, loaded)?;
    job.check_starts().map_err(Failure::request)?;
    announce(&job);
    Ok(job)
}

pub(super) fn prepare_quietly(
    recipe: &Recipe,
    folder: &Path,
    loaded: Option<Arc<Loaded>>,
) -> Result<Job, Failure> {
    Job::prepare(recipe, folder, loaded, &Control::default()).map_err(Failure::from)
}

/// Says what was remarked, how the mode was found, and which sampler runs and why.
pub(super) fn announce(job: &Job) {
    for warning in &job.warnings {
        output::note(&format!("note: {warning}"));
    }
    if let Some(mode) = &job.mode {
        output::note(&format!("mode: {}", mode.sentence()));
    }
    let title = job.sampler.spec.title;
    // The adviser's reasons begin with the name.
    let reason = job.sampler_reason.strip_prefix(title).map_or_else(
        || format!(", {}", job.sampler_reason),
        |reason| reason.to_owned(),
    );
    output::note(&format!("sampler: {title}{reason}"));
}

/// Runs `job`, saves it in its folder and prints its summary.
pub(super) fn run(
    job: &Arc<Job>,
    continuation: Option<Continuation>,
    (folder, claim): (RunFolder, Claim),
    json: bool,
    check: Option<Check>,
) -> Result<(), Failure> {
    let interrupted = interrupt_flag();
    // Before the run, whose draws would otherwise wait for results that never come.
    let control = check
        .filter(|_| job.sampler.spec.bias.is_some())
        .map(|check| bias_check::control_job(job, check.draws))
        .transpose()
        .map_err(Failure::request)?;
    folder.begin(&claim, job).map_err(Failure::run)?;
    let (mut run, journal) = watch(job, continuation, Some(claim), &interrupted)?;
    let view = run.view();
    let mut report = (*run.report()).clone();
    if let Some(control) = control
        && !interrupted.load(Ordering::Relaxed)
    {
        let control = Arc::new(control);
        let cost = bias_check::cost(job, Some(view.as_ref()));
        let cost = match cost.is_empty() {
            true => cost,
            false => format!(": {cost}"),
        };
        output::note(&format!(
            "Running {} as a control, to check the bias{cost}",
            control.sampler.spec.title
        ));
        let run = |job: &Arc<Job>| -> Result<_, Failure> {
            let (mut run, _) = watch(job, None, None, &interrupted)?;
            run.join();
            Ok(run.view())
        };
        let reference = run(&control)?;
        let half = bias_check::half_step_job(job, &view).map(Arc::new);
        let half = match half.filter(|_| !interrupted.load(Ordering::Relaxed)) {
            Some(half) => {
                output::note("Running at half the step, to check the bias");
                let view = run(&half)?;
                Some((half, view)).filter(|_| !interrupted.load(Ordering::Relaxed))
            }
            None => None,
        };
        let made = bias_check::Made {
            control: (&control, &reference),
            half_step: half
                .as_ref()
                .map(|(job, view)| (job.as_ref(), view.as_ref())),
        };
        report = bias_check::certify(job, &view, &report, &made);
    }
    let mut results = Results::of(job, &view, &report);
    let saved = journal.map_or(Ok(Saved::Whole), |mut journal| {
        let step = SavingProgress::new();
        folder.save_or_rescue(&mut journal, (job, &results, run.join()), &mut |file| {
            step.show(file);
        })
    });
    let groups = job.recipe.run.superchains.map(|groups| groups as u64);
    results::add_extras_of_run(&mut results, &ExtraArgs::default(), groups)?;
    results::print(&results, json)?;
    if let Some(corrected) = &results.corrected {
        output::note(&corrected.sentence());
    } else if let Some(order) = job.recipe.run.zero_variance {
        output::note(&format!(
            "Estimates are not corrected by control variates; `ergodic summarise {} --zero-variance {}` says why",
            folder.path().display(),
            order.word()
        ));
    }
    for entry in &view.log {
        if entry.warning.severity == ergodic_base::Severity::Bad {
            output::note(&format!("warning: {}", entry.warning.message));
        } else if matches!(entry.warning.remark(), Some(Remark::GoingOn { .. })) {
            output::note(&format!("note: {}", entry.warning.message));
        }
    }
    for warning in &report.warnings {
        let word = match warning.severity {
            ergodic_base::Severity::Info => "note",
            _ => "warning",
        };
        output::note(&format!("{word}: {warning}"));
    }
    if let Some(bias) = &report.bias {
        output::note(&format!("bias check: {}", bias_check::sentence(bias)));
        for sentence in bias_check::further_sentences(bias) {
            output::note(&format!("bias check: {sentence}"));
        }
    }
    output::note(&report.sentence);
    output::note(&format!(
        "{} draws in {}",
        results.total_draws(),
        duration(view.elapsed_secs)
    ));
    if let Some(remark) = saved.map_err(Failure::run)?.remark(&folder) {
        output::note(&remark.to_string());
    }
    output::note(&format!("Run folder: {}", folder.path().display()));
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failure::interrupted(format!(
            "Interrupted; everything drawn so far is saved and `ergodic resume` continues it: {}",
            folder.path().display()
        )));
    }
    match view.state {
        RunState::Finished(StopReason::Failed) => Err(Failure::run(
            "Every chain failed; the messages above say why",
        )),
        RunState::Finished(StopReason::Time) if results.total_draws() == 0 => {
            Err(Failure::run(format!(
                "The time was over before the first draw; `ergodic resume {}` goes on from there, or allow more seconds",
                folder.path().display()
            )))
        }
        _ => Ok(()),
    }
}

/// The flag of the process that an interrupt raises; a second interrupt ends the program at once.
pub(super) fn interrupt_flag() -> Arc<AtomicBool> {
    static RAISED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let raised = RAISED.get_or_init(|| {
        let raised = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&raised);
        // Without a handler Ctrl-C would lose the draws; if none can be installed the run still works.
        drop(ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        }));
        raised
    });
    Arc::clone(raised)
}

/// Runs `job` to its end, showing progress; an interrupt stops it. With the right to a folder, draws are kept there while the run goes
/// on: the second value is the journal, which should live until they are saved.
pub(super) fn watch(
    job: &Arc<Job>,
    continuation: Option<Continuation>,
    claim: Option<Claim>,
    interrupted: &AtomicBool,
) -> Result<(ergodic_analysis::Run, Option<Journal>), Failure> {
    let run = ergodic_analysis::Run::start(Arc::clone(job), continuation, None)
        .map_err(|error| Failure::run(format!("The chains could not be started ({error})")))?;
    let mut journal = claim.map(|claim| Journal::start(claim, &run));
    let mut trouble = None;
    let mut progress = Progress::new(job);
    while !run.is_finished() {
        std::thread::sleep(LOOK_TIME);
        if interrupted.load(Ordering::Relaxed) {
            run.stop();
        }
        progress.show(&run.view(), &run.report());
        let now = journal.as_ref().and_then(Journal::trouble);
        if now.is_some() && trouble.is_none() {
            output::note(&format!("note: {}", now.as_deref().unwrap_or_default()));
        }
        trouble = now;
    }
    progress.finish();
    if let Some(journal) = &mut journal {
        journal.finish();
    }
    Ok((run, journal))
}

#[cfg(feature = "gui")]
fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(not(target_os = "linux")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
