use proptest::prelude::*;

use super::*;
use crate::bias::{BiasRow, Interval};

fn row(variable: &str, rhat: f64, ess: f64) -> SummaryRow {
    SummaryRow {
        variable: variable.into(),
        mean: Some(0.0),
        mcse_mean: Some(0.01),
        sd: Some(1.0),
        mad: Some(1.0),
        q5: Some(-1.6),
        q50: Some(0.0),
        q95: Some(1.6),
        ess_bulk: Some(ess),
        ess_tail: Some(ess + 10.0),
        ess_bulk_per_s: None,
        rhat: Some(rhat),
        rhat_nested: None,
        missing: None,
    }
}

fn inputs(rows: &[SummaryRow]) -> VerdictInputs<'_> {
    VerdictInputs::of(rows, 1000, 4)
}

/// Word and sentence.
fn said(inputs: &VerdictInputs<'_>) -> (Verdict, String) {
    let judgement = judge(inputs);
    (judgement.verdict, judgement.sentence)
}

fn codes(inputs: &VerdictInputs<'_>) -> Vec<String> {
    let findings = judge(inputs).findings;
    findings.into_iter().map(|finding| finding.code).collect()
}

fn bias(value: f64, half: f64, verdict: Verdict) -> BiasReport {
    let shift = Some(Interval {
        value,
        low: value - half,
        high: value + half,
    });
    let sd_ratio = Some(Interval {
        value: 1.0,
        low: 0.98,
        high: 1.02,
    });
    let row = BiasRow {
        variable: "b[age]".into(),
        shift,
        sd_ratio,
        tails: None,
        reference_rhat: Some(1.0),
        verdict,
    };
    BiasReport {
        rows: vec![row],
        verdict,
        worst: Some(0),
        doubt: None,
        evidence: Evidence::default(),
    }
}

#[test]
fn good_only_when_all_criteria_hold() {
    let rows = [row("b[x]", 1.002, 1812.0), row("b[y]", 1.01, 400.0)];
    let (verdict, text) = said(&inputs(&rows));
    assert_eq!(verdict, Verdict::Good);
    assert_eq!(
        text,
        "Good: the chains agree on both parameters; bulk and tail ESS at least 400"
    );
    let mut rows = rows;
    rows[0].ess_tail = Some(401.0);
    rows[1].ess_bulk = Some(900.0);
    rows[1].ess_tail = Some(900.0);
    assert_eq!(
        said(&inputs(&rows)).1,
        "Good: the chains agree on both parameters; bulk and tail ESS at least 401"
    );
}

#[test]
fn a_running_run_says_how_long() {
    let rows = [
        row("sd[school,Intercept]", 1.017, 140.0),
        row("b[y]", 1.001, 900.0),
    ];
    let mut inputs = inputs(&rows);
    inputs.running = true;
    inputs.secs_to_target = Some(48.0);
    let (verdict, text) = said(&inputs);
    assert_eq!(verdict, Verdict::Watch);
    assert_eq!(
        text,
        "Not usable yet: ESS of `sd[sch…,Int…]` is 140 of 400, chains disagree; about 50\u{202f}s more"
    );
    inputs.running = false;
    let (verdict, text) = said(&inputs);
    assert_eq!(verdict, Verdict::Watch);
    assert_eq!(
        text,
        "Use with care: ESS of `sd[school,Intercept]` is 140 of 400, chains disagree; add draws"
    );
    assert_eq!(codes(&inputs), ["few-effective-draws", "chains-disagree"]);
}

/// Between the limit of a good run and that of a useless one a run is usable with care, and only if its effective draws are.
#[test]
fn there_is_a_middle_between_good_and_useless() {
    use Verdict::{Bad, Good, Watch};
    for (rhat, ess, verdict) in [
        (1.01, 400.0, Good),
        (1.0101, 400.0, Watch),
        (1.05, 80.0, Watch),
        (1.0501, 400.0, Bad),
        (1.02, 79.9, Bad),
        (1.0, 79.9, Bad),
        (1.0, 399.9, Watch),
        (3.3, 5.0, Bad),
    ] {
        let rows = [row("b[x]", 1.001, 900.0), row("b[y]", rhat, ess)];
        assert_eq!(said(&inputs(&rows)).0, verdict, "R-hat {rhat}, ESS {ess}");
        let limits = inputs(&rows).limits();
        assert_eq!(limits.verdict(&rows[1]), verdict);
        assert_eq!(limits.distance(&rows[1]) > 1.0, verdict != Good);
    }
}

/// Divergences are named first, every cause is named, and each has its own next step.
/// Many short chains that begin in groups: nested R-hat is what they are judged by, and a group counts as one chain does.
#[test]
fn groups_of_chains_are_judged_by_nested_rhat() {
    let nested = |rhat: f64, ess: f64| {
        [SummaryRow {
            rhat_nested: Some(rhat),
            ..row("b[x]", 1.013, ess)
        }]
    };
    let of = |rows: &[SummaryRow], draws: usize, superchains: Option<usize>| {
        said(&VerdictInputs {
            superchains,
            ..VerdictInputs::of(rows, draws, 32)
        })
    };
    let rows = nested(1.005, 2000.0);
    assert_eq!(of(&rows, 50, Some(8)).0, Verdict::Good);
    assert_eq!(of(&rows, 50, None).0, Verdict::TooEarly);
    // A group of four chains has 100 draws with 25 of each.
    let (verdict, text) = of(&rows, 24, Some(8));
    assert_eq!(
        (verdict, text.as_str()),
        (
            Verdict::TooEarly,
            "Too early: 24 of 25 draws per chain needed to judge; add draws"
        )
    );
    assert_eq!(of(&nested(1.005, 799.0), 50, Some(8)).0, Verdict::Watch);
    let (verdict, text) = of(&nested(1.2, 2000.0), 50, Some(8));
    assert_eq!(verdict, Verdict::Bad);
    assert!(text.contains("(nested R-hat 1.2"), "{text}");
    let warning = &judge(&VerdictInputs {
        superchains: Some(8),
        ..VerdictInputs::of(&nested(1.2, 2000.0), 50, 32)
    })
    .findings[0];
    assert!(warning.message.contains("nested R-hat"), "{warning:?}");
}

#[test]
fn every_cause_is_named_with_its_next_step() {
    let rows = [
        row("b[x]", 1.32, 900.0),
        row("b[y]", 1.2, 900.0),
        row("b[z]", 1.0, 90.0),
    ];
    let all = VerdictInputs {
        divergences: 765,
        failed: &[2],
        ..inputs(&rows)
    };
    let judgement = judge(&all);
    assert_eq!(judgement.verdict, Verdict::Bad);
    assert_eq!(
        judgement.sentence,
        "Not usable: 765 divergences, chains disagree (+3 findings); raise the target acceptance"
    );
    let found: Vec<&str> = judgement
        .findings
        .iter()
        .map(|it| it.code.as_str())
        .collect();
    assert_eq!(
        found,
        [
            "divergences",
            "chains-disagree",
            "few-effective-draws",
            "failed-chains",
            "few-chains"
        ]
    );
    for finding in &judgement.findings {
        let advice = finding.advice.as_ref().unwrap();
        let is_sentence = advice.starts_with(char::is_uppercase) && !advice.ends_with('.');
        assert!(is_sentence, "{finding:?}");
    }
    let steps: std::collections::BTreeSet<_> =
        judgement.findings.iter().map(|it| &it.advice).collect();
    assert!(steps.len() >= 4, "{steps:?}");
    assert!(
        judgement.findings[1]
            .message
            .contains("and one more parameter"),
        "{}",
        judgement.findings[1].message
    );
}

/// What has its own cause is not mended by more draws.
#[test]
fn an_exact_fit_is_told_instead_of_adding_draws() {
    let rows = [row("sigma", 3.3, 5.0)];
    let fit = Finding::new(
        Verdict::Watch,
        "the predictors fit `y` exactly",
        Some("leave out what gives it away"),
        None,
    );
    let judgement = judge(&VerdictInputs {
        others: &[fit],
        ..inputs(&rows)
    });
    assert_eq!(judgement.verdict, Verdict::Bad);
    let text = judgement.sentence;
    assert!(
        text.starts_with("Not usable: the predictors fit `y` exactly") && !text.contains("add"),
        "{text}"
    );
    assert!(judgement.findings.iter().all(|it| it.advice.is_none()));
}

/// Half a million further draws are no advice for chains that sit where others do not come.
#[test]
fn draws_that_nobody_makes_are_not_advised() {
    let of = |rhat: f64| {
        let judgement = judge(&inputs(&[row("b[x]", rhat, 500.0)]));
        let advice = judgement.findings[0].advice.clone().unwrap();
        (judgement.sentence, advice)
    };
    let (sentence, advice) = of(3.3);
    assert!(
        sentence.ends_with("; try other starts or samplers"),
        "{sentence}"
    );
    assert!(
        advice.starts_with("About 500\u{202f}000 more draws per chain would be needed"),
        "{advice}"
    );
    let (sentence, advice) = of(1.3);
    assert!(sentence.ends_with("; add draws"), "{sentence}");
    assert!(
        advice.starts_with("Add about 34\u{202f}000 draws"),
        "{advice}"
    );
}

#[test]
fn variables_that_do_not_count_do_not_decide() {
    let rows = [row("b[x]", 1.001, 900.0), row("weight[3]", 1.3, 9.0)];
    let run = VerdictInputs {
        decides: |row| row.variable != "weight[3]",
        ..inputs(&rows)
    };
    assert_eq!(said(&run).0, Verdict::Good);
    let more = [rows[0].clone(), row("b[y]", 1.001, 900.0), rows[1].clone()];
    let more = VerdictInputs {
        decides: run.decides,
        ..inputs(&more)
    };
    let text = said(&more).1;
    assert!(text.contains("on both judged parameters;"), "{text}");
    assert_eq!(run.limits().distance(&rows[1]), 0.0);
    assert_eq!(said(&inputs(&rows)).0, Verdict::Bad);
}

#[test]
fn few_effective_draws_in_bulk_or_tail() {
    let mut rows = [row("b[x]", 1.002, 900.0), row("b[y]", 1.0, 900.0)];
    rows[1].ess_tail = Some(399.9);
    let (verdict, text) = said(&inputs(&rows));
    assert_eq!(verdict, Verdict::Watch);
    assert_eq!(
        text,
        "Use with care: tail ESS of `b[y]` is 399 of 400; add draws"
    );
}

#[test]
fn nothing_is_said_before_a_hundred_draws() {
    let rows = [row("b[x]", 3.0, 4.0)];
    let mut inputs = inputs(&rows);
    inputs.draws_per_chain = 99;
    inputs.running = true;
    inputs.secs_to_target = Some(1000.0);
    let (verdict, text) = said(&inputs);
    assert_eq!(verdict, Verdict::TooEarly);
    assert_eq!(
        text,
        "Too early: 99 of 100 draws per chain needed to judge; about 17\u{202f}min more"
    );
    inputs.failed = &[1, 2, 3, 4];
    assert_eq!(
        said(&inputs),
        (
            Verdict::Bad,
            "Not usable: all 4 chains failed; the log says why".to_owned()
        )
    );
}

#[test]
fn an_approximate_sampler_is_not_certified_however_well_it_mixes() {
    let rows = [row("b[age]", 1.0, 4000.0)];
    let mut inputs = inputs(&rows);
    inputs.biased = Some("SGLD-CV");
    let (verdict, text) = said(&inputs);
    assert_eq!(verdict, Verdict::NotCertified);
    assert_eq!(
        text,
        "Not certified: mixing is fine, the bias of SGLD-CV is not checked; run the bias check"
    );

    let outside = bias(-0.41, 0.05, Verdict::NotCertified);
    inputs.bias = Some(&outside);
    // What helps is what the sampler says, and nothing where it says nothing.
    for (remedy, helps) in [
        (None, ""),
        (Some(Remedy::SmallerStep), "; take a smaller step"),
        (
            Some(Remedy::SmallerStepInBlocks),
            "; take a smaller step in its blocks",
        ),
        (Some(Remedy::MoreRows), "; take more rows"),
        (
            Some(Remedy::FewerShards),
            "; take fewer shards or another combination",
        ),
    ] {
        inputs.remedy = remedy;
        let (verdict, text) = said(&inputs);
        assert_eq!(verdict, Verdict::NotCertified);
        assert_eq!(
            text,
            format!("Not certified: `b[age]` is off by 0.41 ± 0.05 sd{helps}")
        );
        let judgement = judge(&inputs);
        let advice = judgement.findings[0].advice.as_deref().unwrap();
        let has_step = matches!(
            remedy,
            Some(Remedy::SmallerStep | Remedy::SmallerStepInBlocks)
        );
        assert_eq!(advice.contains("step"), has_step, "{advice}");
        assert!(advice.ends_with("an exact sampler"), "{advice}");
    }

    // What the check could not tell is no proof either.
    let crossing = bias(0.08, 0.06, Verdict::Watch);
    inputs.bias = Some(&crossing);
    let (verdict, text) = said(&inputs);
    assert_eq!(verdict, Verdict::NotCertified);
    assert_eq!(
        text,
        "Not certified: `b[age]` may be off by up to 0.14 sd; repeat with a longer control run"
    );

    let inside = bias(0.01, 0.02, Verdict::Good);
    inputs.bias = Some(&inside);
    let (verdict, text) = said(&inputs);
    assert_eq!(verdict, Verdict::Good);
    assert_eq!(
        text,
        "Good: means and sds agree with an exact control; bulk and tail ESS at least 4\u{202f}000"
    );
    let doubted = inside
        .clone()
        .doubted(Some("200 transitions diverged".to_owned()));
    inputs.bias = Some(&doubted);
    assert_eq!(said(&inputs).0, Verdict::NotCertified);
    assert_eq!(codes(&inputs), ["bias-unclear"]);
    inputs.bias = Some(&inside);

    // A passed bias check does not excuse chains that disagree.
    let rows = [row("b[age]", 1.2, 40.0)];
    inputs.rows = &rows;
    assert_eq!(said(&inputs).0, Verdict::Bad);
    inputs.bias = None;
    assert_eq!(said(&inputs).0, Verdict::NotCertified);
}

#[test]
fn failures_and_cautions_each_have_their_sentence() {
    let rows = [row("b[x]", 1.0, 900.0)];
    let good = inputs(&rows);
    for (inputs, word, words) in [
        (
            VerdictInputs {
                divergences: 12,
                ..good
            },
            Verdict::Watch,
            "12 divergences; raise the target acceptance",
        ),
        (
            VerdictInputs {
                ebfmi: &[(1, 0.9), (2, 0.299), (4, 0.2)],
                ..good
            },
            Verdict::Watch,
            "E-BFMI 0.20; try another parametrisation",
        ),
        (
            VerdictInputs {
                failed: &[3],
                ..good
            },
            Verdict::Watch,
            "1 of 4 chains failed, only 3 chains, 4 are advised",
        ),
        (
            VerdictInputs {
                stuck: &[2],
                ..good
            },
            Verdict::Bad,
            "chain 2 stands still",
        ),
        (
            VerdictInputs { chains: 2, ..good },
            Verdict::Watch,
            "only 2 chains agree, 4 are advised",
        ),
        (
            VerdictInputs { chains: 1, ..good },
            Verdict::Watch,
            "1 chain only",
        ),
    ] {
        let (found, text) = said(&inputs);
        assert_eq!(found, word);
        assert!(text.contains(words), "{text}");
    }
    let mut rows = [row("b[x]", 1.0, 900.0), row("b[y]", f64::INFINITY, 5.0)];
    assert_eq!(
        said(&VerdictInputs {
            running: true,
            ..inputs(&rows)
        })
        .0,
        Verdict::Bad
    );
    rows[1] = SummaryRow {
        rhat: None,
        missing: Some(Missing::NotFinite),
        ..row("b[y]", 0.0, 0.0)
    };
    let (verdict, text) = said(&inputs(&rows));
    assert_eq!(verdict, Verdict::Bad);
    assert_eq!(
        text,
        "Not usable: `b[y]` is not finite in some draws; check the priors"
    );
    rows[1] = SummaryRow {
        rhat: None,
        ess_bulk: None,
        ess_tail: None,
        missing: Some(Missing::Constant),
        ..row("k", 0.0, 0.0)
    };
    assert_eq!(said(&inputs(&rows)).0, Verdict::Good);
    assert_eq!(said(&inputs(&rows[1..])).0, Verdict::Bad);
}

#[test]
fn draws_still_needed_follow_the_worst_variable() {
    let wanted = Precision {
        ess: Some(400.0),
        rhat: 1.01,
    };
    let mut rows = [row("b[x]", 1.005, 800.0), row("b[y]", 1.001, 100.0)];
    assert_eq!(wanted.draws_needed(&rows, 1000), Some(3000));
    rows[0].rhat = Some(1.1);
    let growth = (1.1_f64.powi(2) - 1.0) / (1.01_f64.powi(2) - 1.0) - 1.0;
    assert_eq!(
        wanted.draws_needed(&rows, 1000),
        Some((1000.0 * growth).ceil() as usize)
    );
    assert_eq!(
        wanted.draws_needed(&[row("b[x]", 1.0, 401.0)], 1000),
        Some(0)
    );
    rows[0].rhat = Some(f64::INFINITY);
    assert_eq!(wanted.draws_needed(&rows, 1000), None);
    assert_eq!(wanted.draws_needed::<SummaryRow>(&[], 1000), None);
}

#[test]
fn a_target_that_was_missed_is_told_with_numbers() {
    let rows = [row("b[x]", 1.002, 1250.0), row("b[y]", 1.004, 4000.0)];
    let verdict = |ess: f64, rhat: f64, rows: &[SummaryRow]| {
        let target = Some(Precision {
            ess: Some(ess),
            rhat,
        });
        said(&VerdictInputs {
            target,
            ..inputs(rows)
        })
    };
    assert_eq!(verdict(1000.0, 1.01, &rows).0, Verdict::Good);
    let (word, text) = verdict(5000.0, 1.01, &rows);
    assert_eq!(word, Verdict::Watch);
    let narrow = '\u{202f}';
    assert_eq!(
        text,
        format!(
            "Target missed: ESS of `b[x]` is 1{narrow}250 of 5{narrow}000; add 3{narrow}000 per chain"
        )
    );
    let (_, text) = verdict(1000.0, 1.003, &rows);
    assert!(
        text.starts_with("Target missed: R-hat of `b[y]` is 1.004, not 1.003; add "),
        "{text}"
    );
    let mut tails = rows.clone();
    tails[1].ess_tail = Some(600.0);
    let (_, text) = verdict(1000.0, 1.01, &tails);
    assert!(
        text.starts_with("Target missed: tail ESS of `b[y]` is 600 of 1\u{202f}000"),
        "{text}"
    );
    // What makes a run doubtful comes first.
    let target = Some(Precision {
        ess: Some(5000.0),
        rhat: 1.01,
    });
    let (_, text) = said(&VerdictInputs {
        target,
        divergences: 3,
        ..inputs(&rows)
    });
    assert!(text.contains("3 divergences"), "{text}");
}

#[test]
fn a_constant_variable_has_no_precision_to_reach() {
    let wanted = Precision {
        ess: Some(400.0),
        rhat: 1.01,
    };
    let constant = SummaryRow {
        rhat: None,
        ess_bulk: None,
        ess_tail: None,
        missing: Some(Missing::Constant),
        ..row("k", 0.0, 0.0)
    };
    let mut rows = [row("b[x]", 1.0, 900.0), constant];
    assert!(wanted.is_met(&rows));
    assert!(!wanted.is_met(&rows[1..]) && !wanted.is_met::<SummaryRow>(&[]));
    rows[1].missing = Some(Missing::NotFinite);
    assert!(!wanted.is_met(&rows));
}

proptest! {
    #[test]
    fn sentences_keep_to_their_limit(
        name in "[a-zé]{1,60}(\\[[a-z,=]{1,80}\\])?",
        rhat in 0.99_f64..1.2,
        ess in 10.0_f64..1e6,
        running: bool,
        biased: bool,
        chains in 1_usize..2000,
        secs in prop::option::of(0.0_f64..1e7),
        divergences in 0_u64..1_000_000,
    ) {
        let rows = [row(&name, rhat, ess)];
        let (verdict, text) = said(&VerdictInputs {
            running,
            chains,
            divergences,
            secs_to_target: secs,
            biased: biased.then_some("SGHMC-CV with blocks"),
            ..inputs(&rows)
        });
        prop_assert!(text.chars().count() <= SENTENCE_LIMIT, "{}", text);
        prop_assert!(!text.ends_with('.'));
        prop_assert_eq!(text.starts_with("Good: "), verdict == Verdict::Good);
    }
}

/// The sentence says how many quantities it does not speak of where there is room, a remark always does.
#[test]
fn quantities_whose_draws_are_not_kept_are_counted() {
    let rows = [row("b[x]", 1.0, 900.0)];
    let some = VerdictInputs {
        unkept: 1200,
        ..inputs(&rows)
    };
    let judgement = judge(&some);
    assert_eq!(judgement.verdict, Verdict::Good);
    assert!(
        judgement.sentence.ends_with("; 1\u{202f}200 not kept"),
        "{}",
        judgement.sentence
    );
    let not_kept =
        |judgement: &Judgement| judgement.findings.iter().any(|it| it.code == "not-kept");
    assert!(not_kept(&judgement));
    assert!(!not_kept(&judge(&inputs(&rows))));
}
