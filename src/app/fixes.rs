//! Quick fixes of what is wrong with a run: each does what the message beside it advises.

use super::command::Command;
use super::entry::RunEntry;
use super::page::ViewCommand;
use super::quick_fixes::QuickFix;
use super::running::RunCommand;
use ergodic_analysis::Recipe;
use ergodic_base::Warning;
use ergodic_base::numerals::thousands;
use ergodic_core::engine::{self, Sampling as _, mode_drift};
use ergodic_core::estimators::rounding;
use ergodic_core::models::Storage;
use ergodic_diagnostics::{ADVISED_CHAINS, Remark, Remedy};

/// Most draws per chain that a click adds; whoever needs more needs another sampler.
const MOST_ADDED: usize = 100_000;
/// Draws are added in whole hundreds.
const HUNDRED: usize = 100;
/// Target acceptance from which a higher one no longer helps, as steps get too small to be told apart.
const HIGHEST_ACCEPT: f64 = 0.99;

fn one(label: String, command: impl Into<Command>) -> Option<QuickFix> {
    Some(QuickFix {
        label,
        commands: vec![command.into()],
    })
}

/// What a click does about `warning` of a run, if anything.
pub fn quick_fix(entry: &RunEntry, warning: &Warning) -> Option<QuickFix> {
    let id = entry.id;
    let job = entry.job()?;
    let again = |label: String, change: String| one(label, RunCommand::Again(id, vec![change]));
    if let Some(engine::Remark::ModeDrift { .. }) = warning.remark() {
        return one(
            mode_drift::QUICK_FIX.to_owned(),
            RunCommand::RefreshCentre(id),
        );
    }
    // All others concern draws that are complete.
    if entry.is_active() || entry.control.is_some() {
        return None;
    }
    if let Some(rounding::Remark::Moves { .. } | rounding::Remark::Unknown {}) = warning.remark() {
        let change = format!("data.storage={}", Storage::F64.word());
        return again("Run again in double precision".to_owned(), change);
    }
    match warning.remark::<Remark>()? {
        Remark::Disagree { missing, .. }
        | Remark::FewEffective { missing, .. }
        | Remark::TargetMissed { missing, .. } => {
            let draws = (*missing)?.div_ceil(HUNDRED) * HUNDRED;
            (1..=MOST_ADDED).contains(&draws).then_some(())?;
            let draws = draws as u64;
            let label = format!("Add {} draws per chain", thousands(draws));
            one(label, RunCommand::AddDraws(id, draws))
        }
        Remark::BiasUnknown { .. } => {
            one("Run the bias check".to_owned(), RunCommand::CheckBias(id))
        }
        Remark::BiasUnclear { .. } | Remark::BiasDoubtful { .. } => one(
            "Check again with a longer control run".to_owned(),
            RunCommand::CheckBias(id),
        ),
        // A funnel is narrower than any step: other coordinates have none.
        Remark::Divergences { .. } if is_centred(&job.recipe) => again(
            "Run again with effects in units of their spread".to_owned(),
            "model.parametrisation=non-centred".to_owned(),
        ),
        Remark::Divergences { .. } => {
            let accept = job.recipe.sampler.settings.real("target_accept")?;
            // A quarter of the rejections: 0.8 becomes 0.95.
            let higher = (1.0 - 0.25 * (1.0 - accept)).min(HIGHEST_ACCEPT);
            (higher > accept).then_some(())?;
            let higher = (1000.0 * higher).round() / 1000.0;
            again(
                format!("Run again with target acceptance {higher}"),
                format!("sampler.target_accept={higher}"),
            )
        }
        Remark::Biased { .. } | Remark::BiasedByStep { .. } | Remark::BiasInShape { .. } => {
            let settings = &job.recipe.sampler.settings;
            match job.sampler.spec.remedy? {
                Remedy::SmallerStep => again(
                    "Run again with half the step".to_owned(),
                    format!("sampler.step_size={}", 0.5 * settings.real("step_size")?),
                ),
                Remedy::MoreRows => {
                    // Where the number is open, no more rows may be needed for the variance aimed at.
                    let rows = u64::try_from(settings.int("batch")?).ok()?;
                    let more = (2 * rows).min(job.model.num_obs() as u64);
                    (more > rows).then_some(())?;
                    again(
                        format!("Run again with {} rows", thousands(more)),
                        format!("sampler.batch={more}"),
                    )
                }
                Remedy::FewerShards => {
                    let fewer = settings.int("shards")? / 2;
                    (fewer > 1).then_some(())?;
                    again(
                        format!("Run again with {fewer} shards"),
                        format!("sampler.shards={fewer}"),
                    )
                }
                // Steps stand in the text of the blocks.
                Remedy::SmallerStepInBlocks => None,
            }
        }
        Remark::Stuck { .. } => again(
            "Run again with another seed".to_owned(),
            format!("run.seed={}", job.recipe.run.seed.wrapping_add(1)),
        ),
        Remark::FewChains { .. } => again(
            format!("Run again with {ADVISED_CHAINS} chains"),
            format!("run.chains={ADVISED_CHAINS}"),
        ),
        Remark::Parted { variable, .. } => {
            let position = job.variables().iter().position(|name| name == variable)?;
            let label = format!("Select `{variable}`, whose trace shows the modes");
            one(label, ViewCommand::SelectVariable(position))
        }
        Remark::NotFinite { .. }
        | Remark::WeightsCancel {}
        | Remark::NothingMoves {}
        | Remark::LowEnergy { .. }
        | Remark::FailedChains { .. }
        | Remark::NotKept { .. } => None,
    }
}

/// Whether effects of groups are sampled as they are.
fn is_centred(recipe: &Recipe) -> bool {
    recipe.model.settings.text("parametrisation") == Some("centred")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::DraftChange;
    use crate::app::testing::Session;
    use ergodic_base::settings::Value;
    use ergodic_diagnostics::Verdict;

    fn session() -> Session {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula("churned ~ age".to_owned()));
        session
    }

    fn run(session: &mut Session) {
        session.send(RunCommand::Start);
        session.wait_for_runs();
    }

    /// Every warning beside a verdict that is not good, with the click that mends it.
    fn fixes(session: &Session) -> Vec<(String, QuickFix)> {
        let entry = session.state.selected().unwrap();
        let report = entry.report().unwrap();
        assert_ne!(report.verdict, Verdict::Good);
        let fix = |warning: &Warning| {
            let fix = quick_fix(entry, warning)?;
            Some((warning.code.clone(), fix))
        };
        report.warnings.iter().filter_map(fix).collect()
    }

    #[test]
    fn a_short_run_of_two_chains_is_mended_by_clicks() {
        let mut session = session();
        session.send(DraftChange::Sampler("metropolis".to_owned()));
        let mut control = session.state.document.as_ref().unwrap().recipe.run.clone();
        (control.chains, control.draws) = (2, 200);
        session.send(DraftChange::Run(control));
        run(&mut session);
        let found = fixes(&session);
        let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
        assert!(codes.contains(&"few-effective-draws"), "{codes:?}");
        let of = |wanted: &str| {
            let mut found = found.iter();
            found.find(|(code, _)| code == wanted).unwrap().1.clone()
        };
        let chains = of("few-chains");
        assert_eq!(chains.label, "Run again with 4 chains");
        let Command::Run(RunCommand::AddDraws(_, draws)) = of("few-effective-draws").commands[0]
        else {
            panic!("{found:?}");
        };
        assert!(draws >= 100 && draws.is_multiple_of(100));
        session.send(chains.commands[0].clone());
        session.wait_for_runs();
        let job = session.state.selected().unwrap().job().unwrap();
        assert_eq!(job.recipe.run.chains, 4);
        assert_eq!(job.sampler.spec.id, "metropolis");
    }

    /// What is offered against a bias is what the sampler has: a step, rows or shards.
    #[test]
    fn what_is_offered_against_a_bias_suits_the_sampler() {
        let cases = [
            (
                "divide-and-conquer",
                "shards",
                4,
                "Run again with 2 shards",
                "sampler.shards=2",
            ),
            (
                "hmc-ecs",
                "batch",
                100,
                "Run again with 200 rows",
                "sampler.batch=200",
            ),
            (
                "sgld-cv",
                "batch",
                100,
                "Run again with half the step",
                "sampler.step_size=",
            ),
        ];
        for (sampler, key, value, label, change) in cases {
            let mut session = session();
            session.send(DraftChange::Sampler(sampler.to_owned()));
            session.send(DraftChange::Setting(
                key.to_owned(),
                Some(Value::Int(value)),
            ));
            let mut control = session.state.document.as_ref().unwrap().recipe.run.clone();
            (control.chains, control.draws, control.warmup) = (1, 50, Some(200));
            session.send(DraftChange::Run(control));
            run(&mut session);
            let odd = Remark::BiasInShape {
                points: 100,
                p_value: 0.001,
            };
            let fix = quick_fix(session.state.selected().unwrap(), &Warning::from(odd)).unwrap();
            assert_eq!(fix.label, label);
            let Command::Run(RunCommand::Again(_, changes)) = &fix.commands[0] else {
                panic!("{fix:?}");
            };
            assert!(changes[0].starts_with(change), "{changes:?}");
        }
    }

    #[test]
    fn an_approximate_run_offers_its_bias_check() {
        let mut session = session();
        session.send(DraftChange::Sampler("sgld-cv".to_owned()));
        session.send(DraftChange::Setting(
            "batch".to_owned(),
            Some(Value::Int(100)),
        ));
        run(&mut session);
        let id = session.state.selected_run.unwrap();
        let found = fixes(&session);
        let check = (found.iter())
            .find(|(code, _)| code == "bias-unknown")
            .unwrap();
        assert_eq!(check.1.commands, [RunCommand::CheckBias(id).into()]);
    }
}
