//! `fit`, `demo` and `resume`: prepare a job, run it, save its folder, print its summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::args::{DemoArgs, FitArgs, ResumeArgs};
use super::progress::{self, Progress};
use super::{Failure, output, results};
use crate::base::draws::DrawList;
use crate::base::settings::Value;
use crate::data::formula::quote_name;
use crate::data::load::{LoadControl, Loaded};
use crate::data::{Formula, samples};
use crate::engine::checkpoint::ChainMark;
use crate::engine::recipe::SAMPLE_PREFIX;
use crate::engine::run::Continuation;
use crate::engine::{
    Job, JobError, PrepareControl, Recipe, RunState, StopReason, anchor_check, bias_check, job,
};
use crate::export::journal::{self, Journal};
use crate::export::{ExportError, Results, RunFolder};
use crate::models;
use crate::models::choice::choose;

/// How often the terminal looks at the run.
pub(super) const LOOK_TIME: Duration = Duration::from_millis(50);
/// Bundled data set of `demo`.
const DEMO_SAMPLE: &str = "churn";
/// Template where none is named and none fits.
const FIRST_TEMPLATE: &str = "logistic";
/// Parent of run folders where none is named.
const RUNS_FOLDER: &str = "runs";

/// Fits a model.
pub fn fit(args: &FitArgs) -> Result<(), Failure> {
    check_out(args.out.as_deref())?;
    let Request {
        mut recipe,
        folder,
        loaded,
    } = recipe_of(args)?;
    if let Some(earlier) = &args.anchor_from {
        let results = RunFolder::open(earlier)
            .and_then(|folder| folder.results())
            .map_err(Failure::request)?;
        let draws: Vec<&DrawList> = results.draws.iter().collect();
        recipe.mode.start = anchor_check::start(&draws);
    }
    let name = args
        .recipe
        .as_deref()
        .and_then(Path::file_stem)
        .map(|stem| stem.to_string_lossy().into_owned());
    let job = prepare(&recipe, &folder, loaded)?;
    let out = match &args.out {
        Some(path) => RunFolder::create(path),
        None => RunFolder::create_numbered(
            Path::new(RUNS_FOLDER),
            &name.unwrap_or_else(|| run_name(&job)),
        ),
    }
    .map_err(Failure::request)?;
    run(&Arc::new(job), None, &out, args.json, args.check_bias)
}

/// Refuses a place for the run that cannot be written, before any work is done for it.
pub(super) fn check_out(out: Option<&Path>) -> Result<(), Failure> {
    let one_of_many = Path::new(RUNS_FOLDER).join(".new");
    RunFolder::check(out.unwrap_or(&one_of_many)).map_err(Failure::request)
}

/// Fits the bundled data set of the tour.
pub fn demo(args: &DemoArgs) -> Result<(), Failure> {
    #[cfg(feature = "gui")]
    if !args.terminal && args.out.is_none() && has_display() {
        match crate::ui::run(None, true) {
            Ok(()) => return Ok(()),
            Err(error) => output::note(&format!("{error}; continuing in the terminal")),
        }
    }
    check_out(args.out.as_deref())?;
    let sample = crate::data::samples::find(DEMO_SAMPLE).ok_or_else(|| {
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
    let out = match &args.out {
        Some(path) => RunFolder::create(path),
        None => RunFolder::create_numbered(Path::new(RUNS_FOLDER), "demo"),
    }
    .map_err(Failure::request)?;
    run(&Arc::new(job), None, &out, false, false)
}

/// Continues a run where it ended.
pub fn resume(args: &ResumeArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.folder).map_err(Failure::request)?;
    if folder.is_busy() {
        return Err(Failure::request(format!(
            "This run still goes on in another program; wait for its end or stop it there, then continue it: {}",
            args.folder.display()
        )));
    }
    let mut recipe = folder.recipe().map_err(Failure::request)?;
    let done = folder.results().map_err(Failure::request)?;
    let cut_short = folder.is_unfinished();
    if cut_short {
        output::note(&format!(
            "The run was cut short; {} draws were recovered",
            total_draws(&done)
        ));
        recipe
            .run
            .warmup_of_chains
            .clone_from(&done.warmup_of_chains);
    }
    let add = args.draws.unwrap_or(recipe.run.draws);
    let planned = |chain: usize| {
        let of_chains = recipe.run.draws_of_chains.as_ref();
        of_chains.map_or(recipe.run.draws, |draws| draws[chain])
    };
    let wanted: Vec<u64> = done
        .draws
        .iter()
        .enumerate()
        .map(|(chain, draws)| match args.draws {
            // What was planned is still to be done.
            None if cut_short => planned(chain).max(draws.len() as u64),
            _ => draws.len() as u64 + add,
        })
        .collect();
    recipe.run.draws = wanted.iter().copied().max().unwrap_or(add);
    recipe.run.draws_of_chains = Some(wanted);
    let mut job = prepare_quietly(&recipe, folder.path(), None)?;
    if let Some(manifest) = &done.manifest {
        // Who chose it is not told by the recipe.
        job.sampler_reason.clone_from(&manifest.sampler_reason);
    }
    announce(&job);
    let continuation = folder.continuation(&job).map_err(Failure::request)?;
    run(
        &Arc::new(job),
        Some(continuation),
        &folder,
        args.json,
        false,
    )
}

impl FitArgs {
    /// Refuses what only a fit does, for a command that makes trial runs.
    pub(super) fn keeps_nothing(&self, command: &str) -> Result<(), Failure> {
        let asked = [
            ("--out", self.out.is_some()),
            ("--check-bias", self.check_bias),
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
    /// Its data, where they were read to choose the template.
    pub loaded: Option<Arc<Loaded>>,
}

impl Request {
    /// Its data, read unless they were before.
    pub fn load(&self) -> Result<Arc<Loaded>, Failure> {
        match &self.loaded {
            Some(loaded) => Ok(Arc::clone(loaded)),
            None => job::load_data(&self.recipe, &self.folder, &LoadControl::default())
                .map(Arc::new)
                .map_err(Failure::request),
        }
    }
}

/// The recipe of the flags.
pub(super) fn recipe_of(args: &FitArgs) -> Result<Request, Failure> {
    let mut changes: Vec<String> = Vec::new();
    let mut change = |key: &str, value: Option<String>| {
        changes.extend(value.map(|value| format!("{key}={value}")));
    };
    change("model.template", args.template.clone());
    change("sampler.id", args.sampler.clone());
    change("mode.method", args.mode.clone());
    change("run.chains", args.chains.map(|value| value.to_string()));
    change("run.warmup", args.warmup.map(|value| value.to_string()));
    change("run.draws", args.draws.map(|value| value.to_string()));
    change("run.seed", args.seed.map(|value| value.to_string()));
    change(
        "run.max_seconds",
        args.max_seconds.map(|value| value.to_string()),
    );
    changes.extend(args.set.iter().cloned());
    if let Some(path) = &args.recipe {
        let (recipe, folder) = read_recipe(path, &changes)?;
        check_formula(&recipe.model.formula)?;
        return Ok(Request {
            recipe,
            folder,
            loaded: None,
        });
    }
    let data = args.data.as_deref().ok_or_else(|| {
        Failure::request("Nothing to fit: name a recipe, or --data FILE with --formula 'y ~ x'")
    })?;
    let named = args.template.as_deref();
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
            .ok_or_else(|| {
                Failure::request(
                    "There is no model: add --formula 'y ~ x' or --response y --predictors x",
                )
            })?,
    };
    let mut recipe = Recipe::new(data, named.unwrap_or(FIRST_TEMPLATE), &formula);
    let mut loaded = None;
    let template_is_set = |change: &String| change.starts_with("model.template=");
    if named.is_none() && !changes.iter().any(template_is_set) {
        loaded = choose_template(&mut recipe, &changes)?;
    }
    let recipe = recipe.changed(&changes).map_err(Failure::request)?;
    check_formula(&recipe.model.formula)?;
    Ok(Request {
        recipe,
        folder: PathBuf::from("."),
        loaded,
    })
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
        return Ok(None);
    };
    let column = |formula: &Formula| formula.response.as_ref().map(|it| it.column.clone());
    if let Some(sample) = recipe.sample().and_then(samples::find)
        && let Ok(suggested) = sample.formula.parse::<Formula>()
        && column(&suggested) == column(&formula)
        && formula.groups.is_empty() == suggested.groups.is_empty()
    {
        sample.template.clone_into(&mut recipe.model.template);
        say(sample.template, "the data set suggests it");
        return Ok(None);
    }
    let loaded = job::load_data(&known, Path::new("."), &LoadControl::default())
        .map_err(Failure::request)?;
    // Where nothing fits, the first template says why.
    if let Some(choice) = choose(&loaded.table, &formula, &known.model.categorical) {
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
    }
    Ok(Some(Arc::new(loaded)))
}

/// Refuses a formula that cannot be read, with the formula below the sentence and a mark where reading ended.
pub(super) fn check_formula(text: &str) -> Result<(), Failure> {
    match text.parse::<Formula>() {
        Ok(_) => Ok(()),
        Err(error) => {
            let indent = " ".repeat(error.position - 1);
            Err(Failure::request(format!("{error}\n  {text}\n  {indent}^")))
        }
    }
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
    match (models::find(template), text.parse::<Formula>()) {
        (Ok(entry), Ok(mut formula)) if entry.all_vary => {
            formula.vary_all();
            formula.to_string()
        }
        _ => text,
    }
}

fn prepare(recipe: &Recipe, folder: &Path, loaded: Option<Arc<Loaded>>) -> Result<Job, Failure> {
    let job = prepare_quietly(recipe, folder, loaded)?;
    announce(&job);
    Ok(job)
}

fn prepare_quietly(
    recipe: &Recipe,
    folder: &Path,
    loaded: Option<Arc<Loaded>>,
) -> Result<Job, Failure> {
    Job::prepare(recipe, folder, loaded, &PrepareControl::default())
        .map_err(|error: JobError| Failure::request(error))
}

/// Says what was remarked, how the mode was found, and which sampler runs and why.
fn announce(job: &Job) {
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

fn run_name(job: &Job) -> String {
    let name = job.recipe.sample().map_or_else(
        || {
            Path::new(&job.recipe.data.source)
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        },
        str::to_owned,
    );
    let name = name.split('.').next().unwrap_or("run").to_owned();
    format!("{name}-{}", job.sampler.spec.id)
}

/// Runs `job`, saves it in `folder` and prints its summary.
fn run(
    job: &Arc<Job>,
    continuation: Option<Continuation>,
    folder: &RunFolder,
    json: bool,
    check_bias: bool,
) -> Result<(), Failure> {
    let interrupted = interrupt_flag();
    folder.begin(job).map_err(Failure::run)?;
    let (mut run, journal) = watch(job, continuation, Some(folder), &interrupted)?;
    let kept = journal.as_ref().is_some_and(|it| it.trouble().is_none());
    let view = run.view();
    let mut report = (*run.report()).clone();
    if check_bias && job.sampler.spec.bias.is_some() && !interrupted.load(Ordering::Relaxed) {
        let control = Arc::new(bias_check::control_job(job).map_err(Failure::request)?);
        output::note(&format!(
            "Running {} as a control, to check the bias",
            control.sampler.spec.title
        ));
        let (mut reference, _) = watch(&control, None, None, &interrupted)?;
        reference.join();
        report = bias_check::certify(job, &view, &report, &reference.view());
    }
    let results = Results::of(job, &view, &report);
    let saved = save(folder, job, &results, run.join(), kept);
    drop(journal);
    results::print(&results, json)?;
    for entry in &view.log {
        if entry.warning.severity == crate::base::reporter::Severity::Bad {
            output::note(&format!("warning: {}", entry.warning.message));
        }
    }
    for warning in &report.warnings {
        output::note(&format!("warning: {warning}"));
    }
    if let Some(bias) = &report.bias {
        output::note(&format!("bias check: {}", bias_check::sentence(bias)));
    }
    output::note(&report.sentence);
    output::note(&format!(
        "{} draws in {}",
        total_draws(&results),
        progress::duration(view.elapsed_secs)
    ));
    saved.map_err(Failure::run)?;
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
        RunState::Finished(StopReason::Time) if total_draws(&results) == 0 => {
            Err(Failure::run(format!(
                "The time was over before the first draw; `ergodic resume {}` goes on from there, or allow more seconds",
                folder.path().display()
            )))
        }
        _ => Ok(()),
    }
}

/// A flag that an interrupt raises; a second one ends the program at once.
pub(super) fn interrupt_flag() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // Without a handler Ctrl-C would lose the draws; if none can be installed the run still works.
    drop(ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    }));
    interrupted
}

/// Saves a run where it belongs or, should that fail, among temporary files: hours of draws are not given up. `kept` says
/// that the folder's journal has them all.
fn save(
    folder: &RunFolder,
    job: &Job,
    results: &Results,
    marks: &[Option<ChainMark>],
    kept: bool,
) -> Result<(), ExportError> {
    let save_in = |folder: &RunFolder| folder.save_all(job, results, marks);
    let Err(mut trouble) = save_in(folder) else {
        return Ok(());
    };
    if !kept {
        // Half a journal may take the room that the whole results need.
        drop(journal::remove(folder.path()));
        match save_in(folder) {
            Ok(()) => return Ok(()),
            Err(again) => trouble = again,
        }
    }
    let stem = format!("ergodic-{}", run_name(job));
    let rescue = RunFolder::create_numbered(&std::env::temp_dir(), &stem)
        .and_then(|rescue| save_in(&rescue).map(|()| rescue));
    Err(ExportError(match rescue {
        Ok(rescue) => format!(
            "{trouble}; nothing is lost, the whole run is here instead: {}",
            rescue.path().display()
        ),
        Err(_also_full) if kept && folder.is_unfinished() => format!(
            "{trouble}; its draws are in the folder's journal, and `ergodic resume` goes on from there"
        ),
        Err(_also_full) => format!(
            "{trouble}; its draws could not be kept elsewhere either, but the same recipe gives them again"
        ),
    }))
}

fn total_draws(results: &Results) -> usize {
    results
        .draws
        .iter()
        .map(crate::base::draws::DrawList::len)
        .sum()
}

/// Runs `job` to its end, showing progress; an interrupt stops it. With a folder, draws are kept there while the run goes
/// on: the second value is the journal, which should live until they are saved.
pub(super) fn watch(
    job: &Arc<Job>,
    continuation: Option<Continuation>,
    folder: Option<&RunFolder>,
    interrupted: &AtomicBool,
) -> Result<(crate::engine::Run, Option<Journal>), Failure> {
    let run = crate::engine::Run::start(Arc::clone(job), continuation, Arc::new(|| {}))
        .map_err(|error| Failure::run(format!("The chains could not be started ({error})")))?;
    let mut journal = folder.map(|folder| Journal::start(folder.path(), &run));
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
