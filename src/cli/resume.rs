//! `resume`: continues a run where it ended, wherever that was.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser;

use super::fit::{Check, announce, run};
use super::{Failure, output};
use ergodic_base::Control;
use ergodic_export::resume::{self, Further};

/// `resume`.
#[derive(Debug, Parser)]
pub struct ResumeArgs {
    /// Run folder
    pub folder: PathBuf,
    /// Further draws per chain; by default those that a run was to make that was stopped or cut short, as many again as it was to
    /// make for one that was complete, and either way no more than it takes to the precision that it was asked for and has not
    /// reached; none with --check-bias
    #[arg(long)]
    pub draws: Option<u64>,
    /// Check how far an approximate sampler is off, as `ergodic fit --check-bias` does; without --draws from the draws that there are
    #[arg(long)]
    pub check_bias: bool,
    /// Draws per chain of the control run of that check, at least 100: more of them where the check could not tell
    #[arg(long, value_name = "N", requires = "check_bias", value_parser = clap::value_parser!(u64).range(100..))]
    pub control_draws: Option<u64>,
    /// Print summary.json instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Continues a run where it ended, or checks the bias of its draws.
pub fn resume(args: &ResumeArgs) -> Result<(), Failure> {
    let control = Control::default();
    let further = match args.draws {
        Some(draws) => Further::Draws(draws),
        None if args.check_bias => Further::Nothing,
        None => Further::Usual,
    };
    let resumed =
        resume::resume(&args.folder, further, None, &control).map_err(Failure::request)?;
    for remark in &resumed.remarks {
        output::note(&format!("note: {remark}"));
    }
    let sampler = &resumed.job.sampler.spec;
    if args.check_bias && sampler.bias.is_none() {
        return Err(Failure::request(format!(
            "{} is exact, so there is no bias to check; leave out --check-bias",
            sampler.title
        )));
    }
    announce(&resumed.job);
    let check = args.check_bias.then_some(Check {
        draws: args.control_draws,
    });
    run(
        &Arc::new(resumed.job),
        resumed.continuation,
        (resumed.folder, resumed.claim),
        args.json,
        check,
    )
}
