//! `resume`: continues a run where it ended, wherever that was.

use std::sync::Arc;

use super::args::ResumeArgs;
use super::fit::{announce, run};
use super::{Failure, output};
use ergodic_base::control::Control;
use ergodic_export::resume;

/// Continues a run where it ended.
pub fn resume(args: &ResumeArgs) -> Result<(), Failure> {
    let control = Control::default();
    let resumed =
        resume::resume(&args.folder, args.draws, None, &control).map_err(Failure::request)?;
    for remark in &resumed.remarks {
        output::note(&format!("note: {remark}"));
    }
    announce(&resumed.job);
    run(
        &Arc::new(resumed.job),
        resumed.continuation,
        (resumed.folder, resumed.claim),
        args.json,
        None,
    )
}
