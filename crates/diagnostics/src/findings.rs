//! Everything that is wrong with a run: one list, from which its word, its sentence and its messages come.
//!
//! Divergences (Betancourt 2017, arXiv 1701.02434) come first wherever there are any: they say that part of the posterior
//! may be missing, which more draws do not mend.

use super::Missing;
use super::bias::{BiasReport, BiasRow, Evidence};
use super::energy::EBFMI_LIMIT;
use super::remark::{self, Remark};
use super::remedy::Remedy;
use super::sentence::{Phrase, about, count, duration, list, rhat_text, rounded_down};
use super::summary::SummaryRow;
use super::verdict::{
    ADVISED_CHAINS, Limits, Measure, Precision, RHAT_LIMIT, SENTENCE_LIMIT, Verdict,
};
use ergodic_base::{Severity, Warning};

/// Further draws per chain beyond which adding them is no advice, and by how many times they are more than there are.
const HOPELESS_DRAWS: usize = 100_000;
const HOPELESS_GROWTH: usize = 50;

/// What a verdict is made of.
#[derive(Clone, Copy, Debug)]
pub struct VerdictInputs<'a> {
    /// Summary of the kept draws of the chains that work.
    pub rows: &'a [SummaryRow],
    /// Kept draws in the shortest working chain.
    pub draws_per_chain: usize,
    /// Whether more draws are coming.
    pub running: bool,
    /// Chains asked for.
    pub chains: usize,
    /// See [`Limits::superchains`].
    pub superchains: Option<usize>,
    /// Chains that ended with an error, 1-based.
    pub failed: &'a [usize],
    /// Chains that do not move, 1-based.
    pub stuck: &'a [usize],
    /// Divergent transitions after warm-up, over all chains.
    pub divergences: u64,
    /// Estimated Bayesian fraction of missing information of working chains, with their numbers from 1, for samplers with energies.
    pub ebfmi: &'a [(usize, f64)],
    /// Name of the sampler if its target is approximate ("SGLD-CV"); `None` for an exact sampler.
    pub biased: Option<&'a str>,
    /// What helps against the bias of the sampler, where that is known.
    pub remedy: Option<Remedy>,
    /// Result of the bias check, if it has run.
    pub bias: Option<&'a BiasReport>,
    /// Estimated seconds until the criteria hold, while running.
    pub secs_to_target: Option<f64>,
    /// The precision that was to end the run, if something else has ended it.
    pub target: Option<Precision>,
    /// Whether a variable counts.
    pub decides: fn(&SummaryRow) -> bool,
    /// Reported quantities whose draws are not kept, which nobody can judge.
    pub unkept: usize,
    /// What others have found.
    pub others: &'a [Finding],
}

impl<'a> VerdictInputs<'a> {
    /// Of `chains` chains that have ended, with nothing known but their summary.
    pub fn of(rows: &'a [SummaryRow], draws_per_chain: usize, chains: usize) -> Self {
        Self {
            rows,
            draws_per_chain,
            running: false,
            chains,
            superchains: None,
            failed: &[],
            stuck: &[],
            divergences: 0,
            ebfmi: &[],
            biased: None,
            remedy: None,
            bias: None,
            secs_to_target: None,
            target: None,
            decides: |_row| true,
            unkept: 0,
            others: &[],
        }
    }

    fn working(&self) -> usize {
        self.chains.saturating_sub(self.failed.len())
    }

    /// What is asked of each variable.
    pub fn limits(&self) -> Limits {
        Limits {
            chains: self.working(),
            superchains: self.superchains,
            decides: self.decides,
        }
    }
}

/// One thing that is wrong with a run, or good to know about its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The word that it alone would give the run; good for what is only to be known.
    pub verdict: Verdict,
    /// A few words for the sentence.
    phrase: Phrase,
    /// What to do, in a few words.
    next: Option<String>,
    /// The whole story; `None` where another list tells it.
    warning: Option<Warning>,
    /// Whether the finding is why chains disagree, so that more draws do not help.
    explains: bool,
}

impl Finding {
    /// Something that others have found, which is why chains disagree if they do: a few words for the sentence, a few on what
    /// to do, and the whole story.
    pub fn new(
        verdict: Verdict,
        words: &str,
        next: Option<&str>,
        warning: Option<Warning>,
    ) -> Self {
        Self {
            verdict,
            phrase: Phrase::plain(words),
            next: next.map(str::to_owned),
            warning,
            explains: true,
        }
    }

    pub(super) fn of(verdict: Verdict, remark: Remark, phrase: Phrase) -> Self {
        let mut warning = Warning::from(remark);
        warning.severity = match verdict {
            Verdict::Good => Severity::Info,
            Verdict::Bad => Severity::Bad,
            _ => Severity::Watch,
        };
        Self {
            verdict,
            phrase,
            next: None,
            warning: Some(warning),
            explains: false,
        }
    }

    /// The finding as the reason why chains disagree, which more draws do not mend.
    pub(super) fn explaining(self) -> Self {
        Self {
            explains: true,
            ..self
        }
    }

    /// What to do: in the sentence, and where there is room.
    pub(super) fn next(mut self, few: impl Into<String>, advice: impl Into<String>) -> Self {
        self.next = Some(few.into());
        self.warning = self.warning.map(|warning| warning.with_advice(advice));
        self
    }

    /// What helps against a bias: in the sentence only where the sampler knows it.
    fn against_bias(mut self, remedy: Option<Remedy>) -> Self {
        let advice = match remedy {
            Some(remedy) => format!("Run again with {}, or with an exact sampler", remedy.with()),
            None => "Run again with an exact sampler".to_owned(),
        };
        self.next = remedy.map(|remedy| remedy.few().to_owned());
        self.warning = self.warning.map(|warning| warning.with_advice(advice));
        self
    }
}

/// What is said about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// One word.
    pub verdict: Verdict,
    /// One sentence of at most [`SENTENCE_LIMIT`](super::verdict::SENTENCE_LIMIT) characters without a final period. Names
    /// of variables stand between backticks.
    pub sentence: String,
    /// Every cause with what to do about it, in the order of the sentence.
    pub findings: Vec<Warning>,
}

impl Judgement {
    fn alone(verdict: Verdict, sentence: String) -> Self {
        Self {
            verdict,
            sentence,
            findings: Vec::new(),
        }
    }
}

/// Judges a run. Without a working chain or with too few draws the causes are not looked for; otherwise everything that is wrong is
/// found, and the worst of it is the word. What only a proof can mend, the bias of an approximate sampler, comes before
/// what more draws mend, and after what nothing mends.
pub fn judge(inputs: &VerdictInputs<'_>) -> Judgement {
    let chains = inputs.chains;
    if inputs.working() == 0 {
        let which = match chains {
            1 => "the chain".to_owned(),
            _ => format!("all {chains} chains"),
        };
        return Judgement::alone(
            Verdict::Bad,
            format!("Not usable: {which} failed; the log says why"),
        );
    }
    let least = inputs.limits().least_draws();
    if inputs.draws_per_chain < least {
        let draws = inputs.draws_per_chain;
        let next = match inputs.running {
            true => time_left(inputs),
            false => Some("add draws".to_owned()),
        };
        let early = format!("{draws} of {least} draws per chain needed to judge");
        return Judgement {
            verdict: Verdict::TooEarly,
            sentence: list("Too early: ", &[&Phrase::plain(early)], next.as_deref()),
            // A precision that was asked for is missed all the same.
            findings: target(inputs)
                .and_then(|finding| finding.warning)
                .into_iter()
                .collect(),
        };
    }
    let failures = failures(inputs);
    let lacking = lacking(inputs);
    let bias = bias(inputs, lacking.is_empty() && inputs.divergences == 0);
    let is_biased = bias.is_some();
    let failed = !failures.is_empty();
    let mut found: Vec<Finding> = Vec::new();
    // A proof that is missing is the word of an approximate run, unless its draws are none.
    let leads = is_biased && !failed;
    let (others, remarks): (Vec<_>, Vec<_>) =
        (inputs.others.iter().cloned()).partition(|other| other.verdict != Verdict::Good);
    let (open, others): (Vec<_>, Vec<_>) =
        (others.into_iter()).partition(|other| other.verdict == Verdict::NotCertified);
    let is_open = is_biased || !open.is_empty();
    found.extend(open);
    found.extend(bias.clone().filter(|_| leads));
    found.extend(divergences(inputs));
    found.extend(low_energy(inputs));
    found.extend(failures);
    // What others found is a cause; that chains disagree is what follows from it, and more draws would not help.
    let explained = others.iter().chain(&found).any(|it| it.explains);
    found.extend(others);
    let lacking = lacking.into_iter();
    found.extend(lacking.map(|worst| shortcoming(inputs, worst, explained)));
    found.extend(failed_chains(inputs));
    found.extend(bias.filter(|_| !leads));
    found.extend(target(inputs));
    found.extend(few_chains(inputs, found.is_empty()));
    let verdict = match (failed, is_open) {
        (true, _) => Verdict::Bad,
        (false, true) => Verdict::NotCertified,
        _ => (found.iter().map(|finding| finding.verdict))
            .max_by_key(|verdict| severity(*verdict))
            .unwrap_or(Verdict::Good),
    };
    let sentence = if found.is_empty() {
        praise(inputs)
    } else {
        let phrases: Vec<&Phrase> = found.iter().map(|finding| &finding.phrase).collect();
        let next = found.iter().find_map(|finding| finding.next.as_deref());
        list(opening(inputs, verdict, &found), &phrases, next)
    };
    found.extend(remarks);
    found.extend(unkept(inputs));
    Judgement {
        verdict,
        sentence: with_unkept(sentence, inputs.unkept),
        findings: found.into_iter().filter_map(|it| it.warning).collect(),
    }
}

/// How bad a word is.
fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Good => 0,
        Verdict::TooEarly => 1,
        Verdict::Watch => 2,
        Verdict::NotCertified => 3,
        Verdict::Bad => 4,
    }
}

/// The first words of the sentence.
fn opening(inputs: &VerdictInputs<'_>, verdict: Verdict, found: &[Finding]) -> &'static str {
    let about = |finding: &Finding| finding.warning.as_ref()?.remark::<Remark>().cloned();
    let more_draws_help = |finding: &Finding| {
        let remark = about(finding);
        matches!(
            remark,
            Some(Remark::Disagree { .. } | Remark::FewEffective { .. })
        )
    };
    match verdict {
        Verdict::NotCertified => "Not certified: ",
        Verdict::Bad => "Not usable: ",
        _ if inputs.running && found.iter().any(more_draws_help) => "Not usable yet: ",
        _ if matches!(about(&found[0]), Some(Remark::TargetMissed { .. })) => "Target missed: ",
        _ => "Use with care: ",
    }
}

/// What makes draws useless.
fn failures(inputs: &VerdictInputs<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let missing = |why: Missing| (inputs.rows.iter()).filter(move |row| row.missing == Some(why));
    if let Some(row) = missing(Missing::NotFinite).next() {
        let remark = Remark::NotFinite {
            variable: row.variable.clone(),
            more: missing(Missing::NotFinite).count() - 1,
        };
        let phrase = Phrase::about("", &row.variable, " is not finite in some draws");
        found.push(Finding::of(Verdict::Bad, remark, phrase).next(
            "check the priors",
            "Check the priors, and the columns for extreme values",
        ));
    }
    if missing(Missing::Weights).next().is_some() {
        let finding = Finding::of(
            Verdict::Bad,
            Remark::WeightsCancel {},
            Phrase::plain("the weights of the draws cancel"),
        );
        found.push(match inputs.running {
            true => finding,
            false => finding.next(
                "add draws or raise the batch size",
                "Add draws, or raise the batch size",
            ),
        });
    }
    if let Some(&chain) = inputs.stuck.first() {
        let what = match inputs.stuck.len() {
            1 => format!("chain {chain} stands still"),
            stuck => format!("{stuck} of {} chains stand still", inputs.chains),
        };
        let remark = Remark::Stuck {
            stuck: inputs.stuck.to_vec(),
            chains: inputs.chains,
        };
        found.push(Finding::of(Verdict::Bad, remark, Phrase::plain(what)).next(
            "run again with another seed or sampler",
            "Run again with another seed or sampler",
        ));
    }
    let none_moves = |row: &SummaryRow| row.missing == Some(Missing::Constant);
    // Quantities whose draws are not kept may move where those that are kept stand still.
    let is_all = inputs.unkept == 0 && !inputs.rows.is_empty();
    if is_all && inputs.rows.iter().all(none_moves) && found.is_empty() {
        found.push(
            Finding::of(
                Verdict::Bad,
                Remark::NothingMoves {},
                Phrase::plain("no parameter has moved"),
            )
            .next(
                "run again with another sampler",
                "Run again with another sampler",
            ),
        );
    }
    found
}

fn divergences(inputs: &VerdictInputs<'_>) -> Option<Finding> {
    let words = match inputs.divergences {
        0 => return None,
        1 => "1 divergence".to_owned(),
        some => format!("{} divergences", count(some as f64)),
    };
    let transitions = inputs.draws_per_chain * inputs.working();
    let remark = Remark::Divergences {
        divergences: inputs.divergences,
        transitions: (transitions as u64).max(inputs.divergences),
    };
    let finding = Finding::of(Verdict::Watch, remark, Phrase::plain(words));
    Some(finding.next(
        "raise the target acceptance",
        "Run again with a higher target acceptance (`sampler.target_accept`)",
    ))
}

/// Chains whose momenta change the energy too little: tails are explored slowly, and more draws mend little.
fn low_energy(inputs: &VerdictInputs<'_>) -> Option<Finding> {
    let low = || (inputs.ebfmi.iter()).filter(|(_, fraction)| *fraction < EBFMI_LIMIT);
    let least = low().map(|(_, fraction)| *fraction).reduce(f64::min)?;
    let remark = Remark::LowEnergy {
        low: low().map(|(chain, _)| *chain).collect(),
        chains: inputs.chains,
        least,
    };
    let words = format!("E-BFMI {}", rounded_down(least));
    let finding = Finding::of(Verdict::Watch, remark, Phrase::plain(words));
    let finding = finding.next(
        "try another parametrisation",
        "Energies have long tails: try another parametrisation (`model.parametrisation`), priors with shorter tails, or a longer \
         warm-up",
    );
    Some(finding.explaining())
}

/// What a variable lacks, and how many others lack the same.
type Worst<'a> = (Measure, &'a SummaryRow, usize);

/// R-hat that is too large and effective draws that are missing: of each the worst variable, the worse of the two first.
fn lacking<'a>(inputs: &VerdictInputs<'a>) -> Vec<Worst<'a>> {
    let limits = inputs.limits();
    let of_kind = |is_rhat: bool| {
        let past = inputs
            .rows
            .iter()
            .filter(|row| row.missing.is_none() && (limits.decides)(row))
            .flat_map(|row| limits.measures(row).map(move |(far, it)| (far, it, row)))
            .filter(move |(far, it, _)| *far > 1.0 && matches!(it, Measure::Rhat(_)) == is_rhat);
        past.collect::<Vec<_>>()
    };
    let mut worst: Vec<_> = [true, false]
        .into_iter()
        .filter_map(|is_rhat| {
            let past = of_kind(is_rhat);
            let mut names: Vec<&str> = past.iter().map(|(.., row)| row.variable.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let (far, measure, row) = past.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((far, measure, row, names.len() - 1))
        })
        .collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    let worst = worst.into_iter();
    worst
        .map(|(_, lack, row, more)| (lack, row, more))
        .collect()
}

/// Whether `more` draws per chain are no advice where there are `draws`: many in themselves, and many times what there is, so that the
/// estimate of their number is itself hardly known.
fn is_hopeless(more: usize, draws: usize) -> bool {
    more > HOPELESS_DRAWS && more >= HOPELESS_GROWTH * draws
}

/// What a variable and others lack. More draws do not help where something else `explained` it.
fn shortcoming(
    inputs: &VerdictInputs<'_>,
    (measure, row, more): Worst<'_>,
    explained: bool,
) -> Finding {
    let (name, limits) = (&row.variable, inputs.limits());
    let precision = Precision {
        ess: Some(limits.ess()),
        rhat: RHAT_LIMIT,
    };
    let missing = match inputs.running || explained {
        true => None,
        false => precision.draws_needed(&deciding(inputs), inputs.draws_per_chain),
    };
    let (remark, phrase) = match measure {
        Measure::Rhat(rhat) => {
            let (words, brief) = match limits.chains {
                1 => ("the chain still drifts in ", "the chain drifts"),
                _ => ("chains disagree on ", "chains disagree"),
            };
            let nested = row.rhat_nested.is_some();
            let detail = match (inputs.running, nested) {
                (true, _) => String::new(),
                (false, true) => format!(" (nested R-hat {})", rhat_text(rhat)),
                (false, false) => format!(" (R-hat {})", rhat_text(rhat)),
            };
            let remark = Remark::Disagree {
                variable: name.clone(),
                more,
                rhat,
                nested,
                chains: limits.chains,
                missing,
            };
            (remark, Phrase::about(words, name, "").or(detail, brief))
        }
        Measure::Bulk(ess) | Measure::Tail(ess) => {
            let tail = matches!(measure, Measure::Tail(_));
            // The table has a column of each.
            let words = if tail { "tail ESS of " } else { "ESS of " };
            let after = format!(" is {} of {}", count(ess), count(limits.ess()));
            let remark = Remark::FewEffective {
                variable: name.clone(),
                more,
                ess,
                wanted: limits.ess(),
                tail,
                missing,
            };
            let phrase = Phrase::about(words, name, after).or("", "ESS is too small");
            (remark, phrase)
        }
    };
    let verdict = match measure {
        _ if !inputs.running => limits.verdict(row),
        // A chain that jumps between values which never meet gets no better by waiting.
        Measure::Rhat(rhat) if rhat.is_infinite() => Verdict::Bad,
        _ => Verdict::Watch,
    };
    let finding = Finding::of(verdict, remark, phrase);
    match (explained, inputs.running) {
        (true, _) => finding,
        (false, true) => match time_left(inputs) {
            Some(left) => finding.next(left.clone(), format!("Wait {left}")),
            None => finding,
        },
        (false, false) => match missing {
            Some(draws) if is_hopeless(draws, inputs.draws_per_chain) => finding.next(
                "try other starts or samplers",
                format!(
                    "About {} more draws per chain would be needed; {}",
                    about(draws),
                    match measure {
                        Measure::Rhat(_) =>
                            "run again from other starting points, which shows whether there are separate modes, or with a sampler that \
                             crosses between them",
                        Measure::Bulk(_) | Measure::Tail(_) =>
                            "run again with another sampler or parametrisation, whose chains move faster",
                    }
                ),
            ),
            Some(draws) => finding.next(
                "add draws",
                format!("Add about {} draws per chain", about(draws)),
            ),
            None => finding.next(
                "add draws",
                "Run again with longer warm-up or another sampler".to_owned(),
            ),
        },
    }
}

fn deciding<'a>(inputs: &VerdictInputs<'a>) -> Vec<&'a SummaryRow> {
    let rows = inputs.rows.iter();
    rows.filter(|row| (inputs.decides)(row)).collect()
}

fn failed_chains(inputs: &VerdictInputs<'_>) -> Option<Finding> {
    let (working, chains, failed) = (inputs.working(), inputs.chains, inputs.failed.len());
    if failed == 0 {
        return None;
    }
    let words = match working {
        1 => format!("{failed} of {chains} chains failed, only 1 is left"),
        _ => format!("{failed} of {chains} chains failed"),
    };
    let remark = Remark::FailedChains {
        failed: inputs.failed.to_vec(),
    };
    let finding = Finding::of(Verdict::Watch, remark, Phrase::plain(words));
    Some(finding.next("the log says why", "The log says why"))
}

/// The finding that an approximate sampler is off, or that nobody knows; `fine` is whether its draws are otherwise.
fn bias(inputs: &VerdictInputs<'_>, fine: bool) -> Option<Finding> {
    let sampler = inputs.biased?;
    let Some(report) = inputs
        .bias
        .filter(|report| report.verdict != Verdict::TooEarly)
    else {
        let words = match fine {
            true => format!("mixing is fine, the bias of {sampler} is not checked"),
            false => format!("the bias of {sampler} is not checked"),
        };
        let remark = Remark::BiasUnknown {
            sampler: sampler.to_owned(),
        };
        let phrase = Phrase::plain(words).or("", "bias not checked");
        let mut finding = Finding::of(Verdict::NotCertified, remark, phrase);
        if !inputs.running {
            finding = finding.next("run the bias check", "Run the bias check (`--check-bias`)");
            // Chains that do not mix cannot pass it.
            finding.next = finding.next.filter(|_| fine);
        }
        return Some(finding);
    };
    let row = report.worst.map(|worst| &report.rows[worst]);
    let compared = row.map(|row| row.verdict);
    let evidence = &report.evidence;
    match report.verdict {
        Verdict::Good => None,
        Verdict::NotCertified if compared == Some(Verdict::NotCertified) => {
            let row = row?;
            Some(off(row, Remark::Biased { row: row.clone() }, inputs.remedy))
        }
        Verdict::NotCertified => {
            let row = evidence.by_step.as_ref()?.off()?;
            Some(off(
                row,
                Remark::BiasedByStep { row: row.clone() },
                inputs.remedy,
            ))
        }
        _ if report.doubt.is_none() && compared == Some(Verdict::Good) => {
            in_shape(evidence, inputs.remedy)
        }
        _ => unclear(report, row),
    }
}

/// The finding that the check has found a variable outside of the tolerance.
fn off(row: &BiasRow, remark: Remark, remedy: Option<Remedy>) -> Finding {
    let phrase = Phrase::about("", &row.variable, remark::off(row));
    Finding::of(Verdict::NotCertified, remark, phrase).against_bias(remedy)
}

/// The finding that draws do not look like the posterior in what means and standard deviations do not tell.
fn in_shape(evidence: &Evidence, remedy: Option<Remedy>) -> Option<Finding> {
    let [run, _control] = evidence.discrepancies.as_ref()?;
    let remark = Remark::BiasInShape {
        points: run.points,
        p_value: run.p_value,
    };
    let phrase = Phrase::plain("the draws do not look like the posterior");
    Some(Finding::of(Verdict::NotCertified, remark, phrase).against_bias(remedy))
}

/// The finding that the check could not tell: the control run has faults of its own, or is too short.
fn unclear(report: &BiasReport, row: Option<&BiasRow>) -> Option<Finding> {
    let (remark, phrase) = if let Some(doubt) = &report.doubt {
        let doubt = doubt.clone();
        let phrase = Phrase::plain("the control run proves nothing");
        (Remark::BiasDoubtful { doubt }, phrase)
    } else {
        let row = row?.clone();
        let phrase = Phrase::about("", &row.variable, remark::unclear(&row));
        (Remark::BiasUnclear { row }, phrase)
    };
    Some(Finding::of(Verdict::NotCertified, remark, phrase).next(
        "repeat with a longer control run",
        "Repeat the check with a longer control run (`--control-draws`)",
    ))
}

fn target(inputs: &VerdictInputs<'_>) -> Option<Finding> {
    let target = inputs.target?;
    let rows = deciding(inputs);
    let (row, lack) = target.worst(&rows)?;
    let of_wanted = |ess| {
        let wanted = count(target.ess.unwrap_or_default());
        format!(" is {} of {wanted}", count(ess))
    };
    let (before, after) = match lack {
        Measure::Bulk(ess) => ("ESS of ", of_wanted(ess)),
        Measure::Tail(ess) => ("tail ESS of ", of_wanted(ess)),
        Measure::Rhat(rhat) => (
            "R-hat of ",
            format!(" is {}, not {}", rhat_text(rhat), target.rhat),
        ),
    };
    let missing = target.draws_needed(&rows, inputs.draws_per_chain);
    let (next, advice) = match missing {
        Some(draws) => (
            format!("add {} per chain", count(draws as f64)),
            format!("Add about {} draws per chain", about(draws)),
        ),
        None => ("add draws".to_owned(), "Add draws".to_owned()),
    };
    let remark = Remark::TargetMissed {
        variable: row.variable.clone(),
        lack,
        target,
        missing,
    };
    let phrase = Phrase::about(before, &row.variable, after);
    Some(Finding::of(Verdict::Watch, remark, phrase).next(next, advice))
}

/// `agree`: whether nothing else is wrong.
fn few_chains(inputs: &VerdictInputs<'_>, agree: bool) -> Option<Finding> {
    let working = inputs.working();
    let words = match working {
        ADVISED_CHAINS.. => return None,
        1 => "1 chain only".to_owned(),
        _ if agree => format!("only {working} chains agree"),
        _ => format!("only {working} chains"),
    };
    let words = format!("{words}, {ADVISED_CHAINS} are advised");
    let finding = Finding::of(
        Verdict::Watch,
        Remark::FewChains { chains: working },
        Phrase::plain(words),
    );
    Some(finding.next(
        "run more chains",
        format!("Run again with {ADVISED_CHAINS} chains"),
    ))
}

fn praise(inputs: &VerdictInputs<'_>) -> String {
    let rows = deciding(inputs);
    let sizes = rows.iter().flat_map(|row| [row.ess_bulk, row.ess_tail]);
    let least = sizes.flatten().fold(f64::INFINITY, f64::min);
    let agree = if inputs.biased.is_some() {
        "means and sds agree with an exact control".to_owned()
    } else {
        let judged = if rows.len() < inputs.rows.len() {
            "judged "
        } else {
            ""
        };
        match rows.len() {
            1 => format!("the chains agree on the {judged}parameter"),
            2 => format!("the chains agree on both {judged}parameters"),
            many => {
                let many = count(many as f64);
                format!("the chains agree on all {many} {judged}parameters")
            }
        }
    };
    let ess = least
        .is_finite()
        .then(|| format!("bulk and tail ESS at least {}", count(least)));
    list("Good: ", &[&Phrase::plain(agree)], ess.as_deref())
}

/// A remark on quantities that are not judged, because their draws are not kept.
fn unkept(inputs: &VerdictInputs<'_>) -> Option<Finding> {
    let remark = Remark::NotKept {
        unkept: inputs.unkept,
    };
    let finding = Finding::of(Verdict::Good, remark, Phrase::plain(""));
    (inputs.unkept > 0).then_some(finding)
}

/// The sentence with the number of quantities that it does not speak of, where there is room; a remark has it in any case.
fn with_unkept(sentence: String, unkept: usize) -> String {
    let longer = format!("{sentence}; {} not kept", count(unkept as f64));
    let fits = longer.chars().count() <= SENTENCE_LIMIT;
    if unkept > 0 && fits { longer } else { sentence }
}

/// "about 50 s more".
fn time_left(inputs: &VerdictInputs<'_>) -> Option<String> {
    inputs
        .secs_to_target
        .filter(|secs| secs.is_finite() && *secs >= 0.0)
        .map(|secs| format!("about {} more", duration(secs)))
}

#[cfg(test)]
mod tests;
