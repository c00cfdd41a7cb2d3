//! What is wrong with a run, or good to know about its verdict.

use super::bias::{BiasRow, Interval, TOLERANCE};
use super::energy::EBFMI_LIMIT;
use super::parted::Parted;
use super::sentence::{count, rhat_text, rounded_down};
use super::verdict::{ADVISED_CHAINS, Measure, Precision, RHAT_LIMIT};
use ergodic_base::ParamId;
use ergodic_base::numerals::significant;

ergodic_base::remarks! {
    /// One cause of a verdict; how much it matters is said by the verdict that it gives, what to do by its finding.
    pub enum Remark {
        /// Draws are infinite or not a number.
        NotFinite {
            /// A variable with such draws.
            variable: ParamId,
            /// How many more have them.
            more: usize,
        }
        Bad "not-finite" ("Some draws of `{variable}`{} are infinite or not a number", others(*more)) about (variable.as_str());

        /// Signed weights of draws cancel.
        WeightsCancel {}
        Bad "weights-cancel" ("The signed weights of the draws cancel, so that no average is known");

        /// Chains stand still.
        Stuck {
            /// Which, from 1.
            stuck: Vec<usize>,
            /// All chains.
            chains: usize,
        }
        Bad "stuck-chains" (
            "{}: no value has changed for 200 draws",
            match stuck.as_slice() {
                [one] => format!("Chain {one} stands still"),
                some => format!("{} of {chains} chains stand still", some.len()),
            }
        );

        /// No parameter has moved.
        NothingMoves {}
        Bad "nothing-moves" ("No parameter has moved from its first value");

        /// Transitions diverged after warm-up.
        Divergences {
            /// How many.
            divergences: u64,
            /// All transitions.
            transitions: u64,
        }
        Watch "divergences" (
            "{} of {} transitions diverged after warm-up: the sampler could not follow the posterior there, so part of it may be \
             missing, however many draws there are",
            count(*divergences as f64),
            count(*transitions as f64)
        );

        /// New momenta change the energy too little.
        LowEnergy {
            /// In which chains, from 1.
            low: Vec<usize>,
            /// All chains.
            chains: usize,
            /// The smallest estimated Bayesian fraction of missing information.
            least: f64,
        }
        Watch "low-e-bfmi" (
            "E-BFMI {}, want at least {EBFMI_LIMIT}{}: new momenta change the energy so little that the tails are explored slowly",
            rounded_down(*least),
            match low.as_slice() {
                _ if *chains == 1 => String::new(),
                [one] => format!(" in chain {one}"),
                some => format!(" in {} of {chains} chains", some.len()),
            }
        );

        /// Chains disagree, or the only one drifts.
        Disagree {
            /// The worst variable.
            variable: ParamId,
            /// How many more are past the limit.
            more: usize,
            /// R-hat of the worst variable.
            rhat: f64,
            /// Whether that is nested R-hat.
            nested: bool,
            /// Chains that work.
            chains: usize,
            /// Draws per chain that would mend it.
            missing: Option<usize>,
        }
        Watch "chains-disagree" (
            "{} `{variable}`{}: {} {}, want at most {RHAT_LIMIT}",
            if *chains == 1 { "The chain still drifts in" } else { "Chains disagree on" },
            others(*more),
            if *nested { "nested R-hat" } else { "R-hat" },
            rhat_text(*rhat)
        ) about (variable.as_str());

        /// Groups of chains have settled in different places.
        Parted {
            /// A variable that tells them apart.
            variable: ParamId,
            /// Numbers of chains from 1 by group.
            groups: Vec<Vec<usize>>,
        }
        Bad "chains-in-different-modes" (
            "Chains {} sit in different modes of `{variable}`: how probable each mode is cannot be told from their draws",
            Parted::words(groups)
        ) about (variable.as_str());

        /// Too few effective draws.
        FewEffective {
            /// The worst variable.
            variable: ParamId,
            /// How many more are past the limit.
            more: usize,
            /// Effective sample size of the worst variable.
            ess: f64,
            /// Effective sample size that is wanted.
            wanted: f64,
            /// Whether that is in the tails.
            tail: bool,
            /// Draws per chain that would mend it.
            missing: Option<usize>,
        }
        Watch "few-effective-draws" (
            "The effective sample size of `{variable}`{} is {}, want at least {}{}",
            if *tail { " in the tails" } else { " in the bulk" },
            count(*ess),
            count(*wanted),
            match more {
                0 => String::new(),
                1 => "; that of one more parameter is too small as well".to_owned(),
                more => format!("; those of {more} more parameters are too small as well"),
            }
        ) about (variable.as_str());

        /// Chains that ended with an error.
        FailedChains {
            /// Which, from 1.
            failed: Vec<usize>,
        }
        Watch "failed-chains" (
            "{} {} failed and took no part in these numbers",
            if failed.len() == 1 { "Chain" } else { "Chains" },
            failed.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
        );

        /// Nobody has looked at the bias of an approximate sampler.
        BiasUnknown {
            /// Name of the sampler.
            sampler: String,
        }
        Watch "bias-unknown" (
            "{sampler} is approximate, and how far its draws are from the posterior is not known"
        );

        /// An approximate sampler is too far off.
        Biased {
            /// The worst variable.
            row: BiasRow,
        }
        Watch "biased" ("`{}`{}, by comparison with the control run", row.variable, off(row)) about (row.variable.as_str());

        /// An approximate sampler is too far off, as a run at half its step tells.
        BiasedByStep {
            /// The worst variable.
            row: BiasRow,
        }
        Watch "biased" ("`{}`{}, by comparison with a run at half the step", row.variable, off(row)) about (row.variable.as_str());

        /// Draws agree with the control in what was compared, and do not look like the posterior.
        BiasInShape {
            /// Points that were tested.
            points: usize,
            /// Chance that as many draws from the posterior look as odd.
            p_value: f64,
        }
        Watch "biased-shape" (
            "Means and sds agree with the control run, but {points} draws do not look like the posterior (kernel Stein discrepancy, \
             p = {})",
            significant(*p_value, 2)
        );

        /// The bias check could not tell, because its control run is too short.
        BiasUnclear {
            /// The worst variable.
            row: BiasRow,
        }
        Watch "bias-unclear" ("`{}`{}: the control run is too short to tell", row.variable, unclear(row)) about (row.variable.as_str());

        /// The bias check could not tell, because its control run has faults of its own.
        BiasDoubtful {
            /// What is wrong with the control run.
            doubt: String,
        }
        Watch "bias-unclear" ("The control run of the bias check proves nothing: {doubt}");

        /// A run ended before it had the precision that was asked for.
        TargetMissed {
            /// The worst variable.
            variable: ParamId,
            /// What the variable lacks.
            lack: Measure,
            /// What was asked for.
            target: Precision,
            /// Draws per chain that would mend it.
            missing: Option<usize>,
        }
        Watch "target-missed" ("The run ended short of its target: {}", target.words(variable, *lack)) about (variable.as_str());

        /// Fewer chains than R-hat needs.
        FewChains {
            /// Chains that work.
            chains: usize,
        }
        Watch "few-chains" (
            "{}",
            match chains {
                1 => "A single chain cannot be compared with others, so R-hat sees only its drift".to_owned(),
                _ => format!("R-hat of {chains} chains says little; {ADVISED_CHAINS} are advised"),
            }
        );

        /// Draws of some quantities are not kept, so that nobody judges these.
        NotKept {
            /// How many.
            unkept: usize,
        }
        Info "not-kept" (
            "Draws of {} were not kept (`run.keep`): of these there are means and standard deviations; the verdict does not speak of them, \
             nor of what takes draws of all quantities (distance from a centre, Stein discrepancy)",
            match unkept {
                1 => "1 quantity".to_owned(),
                more => format!("{} quantities", count(*more as f64)),
            }
        );
    }
}

/// " and 3 more parameters".
fn others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " and one more parameter".to_owned(),
        more => format!(" and {more} more parameters"),
    }
}

/// How a variable is farthest outside of the tolerance, after its name.
pub(super) fn off(row: &BiasRow) -> String {
    let number =
        |interval: &Interval| format!("{:.2} ± {:.2}", interval.value.abs(), interval.half_width());
    let shift = row.shift.iter().filter_map(|it| {
        Some((
            it.beyond(0.0, TOLERANCE)?,
            format!(" is off by {} sd", number(it)),
        ))
    });
    let ratio = row.sd_ratio.iter().filter_map(|it| {
        let words = match it.value > 1.0 {
            true => format!(" is {} times too wide", number(it)),
            false => format!(" has {} of its width", number(it)),
        };
        Some((it.beyond(1.0, TOLERANCE)?, words))
    });
    let tails = row.tails_off().map(|(prob, it, beyond)| {
        let words = format!(
            " has its {:.0} % quantile off by {} sd",
            100.0 * prob,
            number(&it)
        );
        (beyond, words)
    });
    let farthest = shift
        .chain(ratio)
        .chain(tails)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    farthest.map_or_else(
        || " is constant in one of the runs".to_owned(),
        |(_, words)| words,
    )
}

/// How far a variable may be off, after its name.
pub(super) fn unclear(row: &BiasRow) -> String {
    let shift = row.shift.map_or(0.0, |it| it.value.abs() + it.half_width());
    let ratio = row
        .sd_ratio
        .map_or(0.0, |it| (it.value - 1.0).abs() + it.half_width());
    match shift >= ratio {
        true => format!(" may be off by up to {shift:.2} sd"),
        false => format!("'s sd may be off by up to {:.0} %", 100.0 * ratio),
    }
}
