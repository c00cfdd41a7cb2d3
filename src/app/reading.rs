//! Runs read from folders and files of draws.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::entry::ReadRun;
use ergodic_analysis::Recipe;
use ergodic_base::draws::{ChainDraws, DrawList};
use ergodic_base::{Control, Severity, Warning};
use ergodic_core::engine::{
    ChainState, ChainView, Report, RunState, RunView, StopReason, found, nest,
};
use ergodic_core::samplers::weight_column;
use ergodic_diagnostics::running::Running;
use ergodic_diagnostics::{Limits, VerdictInputs, judge, weights};
use ergodic_export::{ExportError, Results, RunFolder, draws_csv};

/// What the share of a reading is told in.
pub(super) const STEPS: u64 = 10_000;
/// Longest that the history of a run is worked on before its progress is told.
const STEP: Duration = Duration::from_millis(50);

/// The recipe, if there is one, and the results of a run folder or file of draws. `told` takes the share that is done and says
/// whether to go on with the history of the diagnostics, which takes nearly all the time.
///
/// # Errors
/// Something is missing or damaged.
pub(super) fn read_place(
    path: &Path,
    told: &dyn Fn(f64) -> bool,
) -> Result<(Option<Recipe>, ReadRun), ExportError> {
    if path.is_dir() {
        let folder = RunFolder::open(path)?;
        let recipe = folder.recipe()?;
        let read = read_run(folder.results()?, recipe.run.superchains, told);
        return Ok((Some(recipe), read));
    }
    let file = std::fs::File::open(path)
        .map_err(|error| ExportError::at("The draws cannot be read", error, path))?;
    draws_csv::read(std::io::BufReader::new(file))
        .map(|read| (None, read_run(Results::of_draws(read), None, told)))
        .map_err(|error| ExportError::Draws(error, path.to_owned()))
}

/// Tells a control the share that is done, in these steps; whether somebody still waits for the rest.
pub(super) fn tell(control: &Control, share: f64) -> bool {
    control.reach((share * STEPS as f64) as u64);
    !control.is_cancelled()
}

/// Results from files as a finished run, whose chains began in groups if it says how many.
fn read_run(
    mut results: Results,
    superchains: Option<usize>,
    told: &dyn Fn(f64) -> bool,
) -> ReadRun {
    let manifest = results.manifest;
    let chains: Vec<ChainView> = results
        .draws
        .iter()
        .zip(&results.info)
        .enumerate()
        .map(|(index, (draws, info))| {
            let start = results.starts.get(index).filter(|it| !it.is_empty());
            let about = manifest
                .as_ref()
                .and_then(|manifest| manifest.chains.get(index));
            let failure = about.and_then(|chain| chain.failure.clone());
            ChainView {
                numbers: Vec::new(),
                draws: ChainDraws {
                    draws: draws.clone(),
                    info: info.clone(),
                    unkept: results.moments.get(index).cloned().unwrap_or_default(),
                    ..ChainDraws::new(draws.width(), info.width())
                },
                state: failure.map_or(ChainState::Finished, ChainState::Failed),
                iterations: draws.len() as u64 + about.map_or(0, |chain| chain.warmup as u64),
                warmup_end: about.map(|chain| chain.warmup as u64),
                datum_grads: 0,
                warmup_datum_grads: 0,
                unmoved: None,
                rate: 0.0,
                draw_secs: about.map_or(0.0, |chain| chain.draw_secs),
                warmup_secs: about.map_or(0.0, |chain| chain.warmup_secs),
                mark: None,
                started_at: start
                    .map(|start| (0..start.width()).map(|j| start.value(0, j)).collect()),
            }
        })
        .collect();
    let reason = manifest
        .as_ref()
        .and_then(|manifest| manifest.stop_reason)
        .unwrap_or(StopReason::Draws);
    let view = RunView {
        chains,
        state: RunState::Finished(reason),
        frozen: false,
        elapsed_secs: manifest
            .as_ref()
            .map_or(0.0, |manifest| manifest.elapsed_secs),
        log: Vec::new(),
        version: 0,
    };
    let mut running = Running::new(results.variables.len()).with_superchains(superchains);
    let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    let weights = view.weights(weight_column(&results.info_names));
    loop {
        running.update(&lists, &weights, STEP);
        if !told(running.share_done()) || running.is_up_to_date() {
            break;
        }
    }
    // Draws of unknown origin are judged as if their sampler were exact.
    let (verdict, sentence, mut warnings) = manifest.as_ref().map_or_else(
        || {
            let (draws, chains) = (view.draws_per_chain(), view.chains.len());
            let judgement = judge(&VerdictInputs::of(&results.summary, draws, chains));
            (judgement.verdict, judgement.sentence, judgement.findings)
        },
        |manifest| {
            let sentence = manifest.verdict_sentence.clone();
            (manifest.verdict, sentence, manifest.warnings.clone())
        },
    );
    let remarks = results.remarks.iter();
    warnings.extend(remarks.map(|it| Warning::new(Severity::Bad, "damaged-files", it.clone())));
    let superchains = nest(&mut results.summary, &view, &weights, superchains);
    let limits = Limits {
        chains: view.usable().count(),
        superchains,
        decides: found::criterion(results.found.kinds()),
    };
    // Of the parameters as they are named here.
    let bias = (manifest.as_ref().and_then(|manifest| manifest.bias.clone()))
        .filter(|bias| bias.rows.len() == results.variables.len());
    let report = Report {
        summary: results.summary,
        estimates: results.estimates,
        running: Arc::new(running),
        verdict,
        sentence,
        weighted: weights::matter(&weights),
        draws_per_chain: view.draws_per_chain(),
        divergences: manifest.as_ref().map_or(0, |manifest| manifest.divergences),
        eta_secs: None,
        limits,
        warnings,
        bias: bias.map(Arc::new),
        found: results.found,
        corrected: results.corrected,
    };
    ReadRun {
        variables: results.variables,
        info_names: results.info_names,
        view: Arc::new(view),
        report: Arc::new(report),
        manifest,
    }
}
