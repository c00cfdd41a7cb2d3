//! Exact refits as the yardstick, threads, what is compared and what is not, and the words.

use std::path::{Path, PathBuf};

use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::{Recipe, Run};
use ergodic_base::{Purpose, stream};

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn opened(path: &Path, template: &str, formula: &str) -> Fitted {
    let recipe = Recipe::new(path.to_str().unwrap(), template, formula);
    Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap()
}

/// Twenty rows: x, x twice, a number y, a count k, yes or no, text that is missing in two rows.
fn table() -> (tempfile::TempDir, PathBuf) {
    let rows: String = (0..20)
        .map(|i| {
            let (x, y) = (0.1 * f64::from(i), 1.0 + 0.3 * f64::from(i * 7 % 11));
            let f = ["a", "b", ""][if i < 2 { 2 } else { i as usize % 2 }];
            let answer = ["no", "yes"][i as usize * 5 % 3 % 2];
            format!("{x},{y},{},{answer},{f}\n", i % 4)
        })
        .collect();
    file(&format!("x,y,k,answer,f\n{rows}"))
}

/// 400 draws of as many variables as the model has, around 0.3.
fn draws(width: usize, seed: u64) -> [DrawList; 2] {
    let mut rng = stream(seed, 0, Purpose::Noise);
    std::array::from_fn(|_| {
        let mut list = DrawList::new(width);
        for _ in 0..200 {
            let row: Vec<f64> = (0..width)
                .map(|j| {
                    let z: f64 = StandardNormal.sample(&mut rng);
                    if j < 2 {
                        0.3 + 0.1 * z
                    } else {
                        (0.1 * z).exp()
                    }
                })
                .collect();
            list.push(&row);
        }
        list
    })
}

fn scored(fitted: &Fitted, width: usize) -> CrossValidation {
    let lists = draws(width, 3);
    let lists = [&lists[0], &lists[1]];
    cross_validate(fitted, (&lists, &[]), usize::MAX, None, &Control::default()).unwrap()
}

#[test]
fn threads_change_no_bit_and_thinning_is_said() {
    let (_folder, path) = table();
    let fitted = opened(&path, "linear", "y ~ x");
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| scored(&fitted, 3).loo)
    };
    let one = run(1);
    assert_eq!(one, run(3));
    assert_eq!((one.rows.len(), one.draws), (20, 400));
    let lists = draws(3, 3);
    let lists = [&lists[0], &lists[1]];
    let thinned = cross_validate(&fitted, (&lists, &[]), 50, None, &Control::default()).unwrap();
    assert_eq!((thinned.loo.draws, thinned.draws_total), (50, 400));
    assert_eq!(thinned.remarks(), ["From 50 of 400 draws, evenly spaced"]);
    let control = Control::default();
    control.cancel();
    let cancelled = cross_validate(&fitted, (&lists, &[]), 50, None, &control);
    assert!(matches!(cancelled, Err(LooError::Cancelled)));
}

#[test]
fn scores_of_a_run_that_is_not_usable_are_not_trusted() {
    let (_folder, path) = table();
    let good = scored(&opened(&path, "linear", "y ~ x"), 3);
    let said = good.reliability();
    let judged = |verdict, sentence| good.clone().of_run(verdict, sentence);
    assert_eq!(
        judged(Verdict::Watch, "Use with care: …").reliability(),
        said
    );
    let mut tiny = good.clone();
    for row in &mut tiny.loo.rows {
        (row.k, row.lpd) = (0.1, row.elpd + 0.5);
    }
    let said = tiny.reliability();
    assert!(
        said.contains("but p_loo is 10.0 with 20 rows") && !said.contains("trusted"),
        "{said}"
    );
    let bad = judged(
        Verdict::Bad,
        "Not usable: chains disagree (R-hat 3.282); add draws",
    );
    assert_eq!(
        bad.reliability(),
        "The draws of this run are not usable, so neither are these scores, whatever their Pareto k: chains disagree (R-hat 3.282); \
         add draws"
    );
    let runs = [("A".to_owned(), &good), ("B".to_owned(), &bad)];
    let remarks = compare(&runs).unwrap().remarks;
    assert!(
        (remarks.iter()).any(|it| it.starts_with("The draws of B are not usable")),
        "{remarks:?}"
    );
}

#[test]
fn weights_of_draws_count_unless_they_are_negative() {
    let (_folder, path) = table();
    let fitted = opened(&path, "linear", "y ~ x");
    let lists = draws(3, 3);
    let lists = [&lists[0], &lists[1]];
    let with = |weight: &dyn Fn(usize) -> f64| {
        let weights: Vec<Vec<f64>> = vec![(0..200).map(weight).collect(); 2];
        let why = Some("its steps are too large".to_owned());
        cross_validate(&fitted, (&lists, &weights), 400, why, &Control::default())
    };
    let even = with(&|_| 2.0).unwrap();
    assert_eq!(even.loo, scored(&fitted, 3).loo);
    assert!(!even.weighted && even.remarks()[0].ends_with("its steps are too large"));
    let uneven = with(&|s| 1.0 + (s % 2) as f64).unwrap();
    assert!(uneven.weighted && uneven.remarks()[0].contains("weights of their own"));
    assert_ne!(uneven.loo, even.loo);
    let signed = with(&|s| if s % 10 == 0 { -1.0 } else { 1.0 });
    assert!(matches!(signed, Err(LooError::SignedWeights)));
}

#[test]
fn runs_of_other_rows_or_outcomes_are_not_compared() {
    let (_folder, path) = table();
    let run = |template: &str, formula: &str, width: usize| {
        scored(&opened(&path, template, formula), width)
    };
    let line = run("linear", "y ~ x", 3);
    let refusal = |other: &CrossValidation| {
        let runs = [("A".to_owned(), &line), ("B".to_owned(), other)];
        compare(&runs).unwrap_err().to_string()
    };
    let fewer = run("linear", "y ~ f", 3);
    assert!(
        refusal(&fewer).contains("(20 and 18, 18 of them in both)"),
        "{}",
        refusal(&fewer)
    );
    let count = run("poisson", "k ~ x", 2);
    assert!(refusal(&count).contains("different outcomes (`y` and `k`)"));
    let weighted = run("linear", "y | weights(x) ~ x", 3);
    assert!(weighted.observed.weights.is_some());
    // A row of weight 0 may be left out.
    let said = refusal(&weighted);
    assert!(
        said.contains("weights of rows") || said.contains("different rows"),
        "{said}"
    );
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("1.9,", "1.8,");
    let (_other, path) = file(&text);
    let changed = scored(&opened(&path, "linear", "y ~ x"), 3);
    if changed.observed.values != line.observed.values {
        assert!(refusal(&changed).contains("different values of `y` in the same rows"));
    }
}

/// A model of log(y) is compared on the scale of y, and which answer counts as success changes nothing.
#[test]
fn models_of_the_same_outcome_are_compared_on_one_scale() {
    let (_folder, path) = table();
    let (line, log) = (
        scored(&opened(&path, "linear", "y ~ x"), 3),
        scored(&opened(&path, "linear", "log(y) ~ x"), 3),
    );
    let runs = [("A".to_owned(), &line), ("B".to_owned(), &log)];
    let compared = compare(&runs).unwrap();
    let best = &compared.models[0];
    assert_eq!(best.difference, Total::default());
    let other = &compared.models[1];
    let difference = runs[other.index].1.loo.difference(&runs[best.index].1.loo);
    assert_eq!(other.difference, difference);
    assert!(difference.estimate < 0.0);
    assert!((compared.models.iter().map(|m| m.weight).sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(compared.sentences.len(), 1);
    assert!(compared.remarks[0].contains("fewer than 100 rows"));
    assert!(log.remarks()[0].starts_with("The model explains log(y)"));
    let answer = |success: &str, sign: f64| {
        let recipe = Recipe::new(path.to_str().unwrap(), "logistic", "answer ~ x");
        let recipe = recipe
            .changed(&[format!("model.success={success}")])
            .unwrap();
        let fitted = Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap();
        let mut list = DrawList::new(2);
        for s in 0..100 {
            list.push(&[
                sign * (0.1 + 0.01 * f64::from(s % 10)),
                sign * 0.02 * f64::from(s % 7),
            ]);
        }
        cross_validate(&fitted, (&[&list], &[]), 100, None, &Control::default()).unwrap()
    };
    let (yes, no) = (answer("yes", 1.0), answer("no", -1.0));
    assert_eq!(yes.observed, no.observed);
    let apart = (yes.loo.elpd().estimate - no.loo.elpd().estimate).abs();
    assert!(apart < 1e-9, "{apart}");
    // Probabilities of counts beside densities.
    let counts = scored(&opened(&path, "poisson", "k ~ x"), 2);
    let numbers = scored(&opened(&path, "linear", "k ~ x"), 3);
    let runs = [("A".to_owned(), &counts), ("B".to_owned(), &numbers)];
    let remarks = compare(&runs).unwrap().remarks;
    assert!(
        remarks.last().unwrap().contains("interval of width 1"),
        "{remarks:?}"
    );
}

#[test]
fn a_difference_is_told_with_its_uncertainty() {
    let words = |estimate: f64, se: f64| difference_in_words(["A", "B"], Total { estimate, se });
    assert_eq!(
        words(4.1, 1.9),
        "A predicts better than B by 4.1 ± 1.9; that is about two standard errors, so A probably predicts new rows better"
    );
    // A small difference is small whatever its standard error.
    for se in [0.3, 2.0] {
        assert_eq!(
            words(2.0, se),
            format!(
                "A predicts better than B by 2.0 ± {se:.1}; a difference below 4 is small, so both predict new rows about equally well"
            )
        );
    }
    assert_eq!(
        words(6.0, 8.0),
        "A predicts better than B by 6.0 ± 8.0; the difference is smaller than its uncertainty, so neither can be said to predict \
         better"
    );
    assert!(
        words(6.0, 4.0).ends_with("that is less than two standard errors, so it may be chance")
    );
    assert!(words(30.0, 9.0).contains("about three"));
    assert!(words(35.0, 9.0).contains("about four"));
    assert!(
        words(90.0, 9.0)
            .ends_with("about 10 standard errors, so A clearly predicts new rows better")
    );
    assert_eq!(words(0.0, 0.0), "A and B predict equally well");
    assert_eq!(
        words(0.04, 0.3),
        "A and B predict about equally well: they differ by 0.0 ± 0.3"
    );
    assert!(words(0.06, 0.3).starts_with("A predicts better than B by 0.1 ± 0.3"));
}

/// A sample of all rows is all rows; of some the sum is that of all within its error by their choice.
#[test]
fn a_sample_of_rows_tells_the_sum_over_all() {
    let (_folder, path) = table();
    let fitted = opened(&path, "linear", "y ~ x");
    let whole = scored(&fitted, 3).loo.elpd();
    let lists = draws(3, 3);
    let lists = [&lists[0], &lists[1]];
    let of = |size: usize, seed: u64| {
        let sampled = subsample::subsample(&fitted, (&lists, &[]), size, seed, &Control::default());
        sampled.unwrap()
    };
    let all = of(100, 1);
    let judged = |verdict| all.clone().of_run(verdict, "Too early: 20 draws per chain");
    assert!(
        judged(Verdict::TooEarly)
            .sentence()
            .ends_with("so neither are these scores, whatever their errors: 20 draws per chain")
    );
    assert_eq!(judged(Verdict::Watch).sentence(), all.sentence());
    assert_eq!((all.rows.len(), all.rows_total), (20, 20));
    assert!((all.elpd.estimate - whole.estimate).abs() < 1e-9);
    assert!((all.elpd.se / whole.se - 1.0).abs() < 0.05 && all.elpd.se_of_sample < 1e-9);
    // Over many samples the estimate is right on average, and as uncertain as it says.
    let samples: Vec<subsample::SampledTotal> = (0..200).map(|seed| of(8, seed).elpd).collect();
    let count = samples.len() as f64;
    let mean = samples.iter().map(|it| it.estimate).sum::<f64>() / count;
    let square = samples
        .iter()
        .map(|it| (it.estimate - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    assert!(
        (mean - whole.estimate).abs() < 4.0 * (square / count).sqrt(),
        "{mean}"
    );
    let said = samples
        .iter()
        .map(|it| it.se_of_sample.powi(2))
        .sum::<f64>()
        / count;
    assert!((said / square - 1.0).abs() < 0.5, "{said} for {square}");
    assert!(of(8, 1).sentence().starts_with("8 of 20 rows left out"));
}

/// A straight line with flat priors, also on sigma, whose last row is this far off. The prediction of a row by the others is Student t
/// with n − p − 1 degrees of freedom and squared scale SSE/(n − p − 1) (1 + h). The scores with row 15 scored by a fit without it, those
/// of the other rows before, and the closed form.
fn scored_without_the_last(outlier: f64) -> (CrossValidation, Vec<RowScore>, f64) {
    let (_folder, run, mut scored, expected) = scored_line(outlier);
    let row = LINE as u32 - 1;
    let others = scored.loo.rows[..LINE - 1].to_vec();
    let control = Control::default();
    let without = job_without(&run.job().recipe, Path::new(""), None, row, &control).unwrap();
    let exact = crate::bias_check::finished(without, &control).unwrap();
    scored
        .take_exact(row, (exact.job(), &exact.view()), &control)
        .unwrap();
    (scored, others, expected)
}

/// Rows of the straight line.
const LINE: usize = 15;

/// The folder with the data of that line, its run, its scores by weights, and what its last row's is exactly.
fn scored_line(outlier: f64) -> (tempfile::TempDir, Run, CrossValidation, f64) {
    const N: usize = LINE;
    let mut rng = stream(4, 0, Purpose::Data);
    let rows: Vec<(f64, f64)> = (0..N)
        .map(|i| {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let x = i as f64;
            let outlier = if i == N - 1 { outlier } else { 0.0 };
            (x, 1.0 + 0.5 * x + 0.5 * noise + outlier)
        })
        .collect();
    let text: String = rows.iter().map(|(x, y)| format!("{x},{y}\n")).collect();
    let (folder, path) = file(&format!("x,y\n{text}"));
    let mut recipe = Recipe::new(path.to_str().unwrap(), "linear", "y ~ x");
    for key in ["intercept", "b", "sigma"] {
        recipe.priors.insert(key.to_owned(), "flat".to_owned());
    }
    recipe.sampler.id = "nuts".to_owned();
    (recipe.run.draws, recipe.run.until_precise) = (2000, false);
    let control = Control::default();
    let job = crate::Job::prepare(&recipe, Path::new(""), None, &control).unwrap();
    let run = crate::bias_check::finished(job, &control).unwrap();
    let fitted = Fitted::of(run.job()).unwrap();
    let view = run.view();
    let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    let scored = cross_validate(&fitted, (&lists, &[]), usize::MAX, None, &control);
    let scored = scored.unwrap();

    let (train, (x, y)) = (&rows[..N - 1], rows[N - 1]);
    let n = train.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| train.iter().map(f).sum::<f64>() / n;
    let (mx, my) = (mean(&|it| it.0), mean(&|it| it.1));
    let sxx = n * mean(&|it| (it.0 - mx).powi(2));
    let slope = n * mean(&|it| (it.0 - mx) * (it.1 - my)) / sxx;
    let sse = n * mean(&|it| (it.1 - my - slope * (it.0 - mx)).powi(2));
    let df = n - 3.0;
    let square = sse / df * (1.0 + 1.0 / n + (x - mx).powi(2) / sxx);
    let t = (y - my - slope * (x - mx)).powi(2) / square;
    let ln_gamma = statrs::function::gamma::ln_gamma;
    let expected = ln_gamma(0.5 * (df + 1.0))
        - ln_gamma(0.5 * df)
        - 0.5 * (df * std::f64::consts::PI * square).ln()
        - 0.5 * (df + 1.0) * (t / df).ln_1p();
    (folder, run, scored, expected)
}

/// Draws moved by moment matching have better weights, and say what the closed form says within their error, where weights were too
/// optimistic.
#[test]
fn draws_are_moved_for_a_row_that_weights_cannot_score() {
    for outlier in [3.0, 4.5] {
        let (_folder, run, mut scored, expected) = scored_line(outlier);
        let mut before = scored.clone();
        assert!(scored.can_match_moments());
        let fitted = Fitted::of(run.job()).unwrap();
        let view = run.view();
        let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
        let control = Control::default();
        scored.match_moments(&fitted, &lists, &control).unwrap();
        let (was, is) = (before.loo.rows[14], scored.loo.rows[14]);
        let (error, gap) = (is.mc_variance.sqrt(), (is.elpd - expected).abs());
        assert!(was.k > before.loo.threshold() && is.k < scored.loo.threshold());
        assert!(gap < 4.0 * error && error < 0.1);
        assert!(gap < 0.5 * (was.elpd - expected).abs());
        assert!(scored.matched.contains(&14) && !scored.can_match_moments());
        let rows = before.loo.rows.iter().zip(&scored.loo.rows).enumerate();
        for (i, (was, is)) in rows.filter(|(i, _)| !scored.matched.contains(&(*i as u32))) {
            assert_eq!(was, is, "{i}");
        }
        assert!(
            scored.remarks()[0]
                .contains("scored by draws moved to the moments of the posterior without")
        );
        // Threads change nothing.
        let mut again = before.clone();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        pool.install(|| again.match_moments(&fitted, &lists, &control))
            .unwrap();
        assert_eq!(again.loo, scored.loo);
        let few = [lists[0]];
        let refused = before.match_moments(&fitted, &few, &control).unwrap_err();
        assert!(matches!(refused, LooError::Thinned));
    }
}

#[test]
fn a_row_is_scored_by_a_fit_without_it() {
    let (scored, others, expected) = scored_without_the_last(0.5);
    let (found, before) = scored.loo.rows.split_last().unwrap();
    let error = found.mc_variance.sqrt();
    assert!(
        (found.elpd - expected).abs() < 4.0 * error,
        "{} ± {error} for {expected}",
        found.elpd
    );
    assert!(error < 0.2, "{error}");
    assert_eq!(before, others);
    assert_eq!(scored.refitted, [14]);
    assert!(scored.doubtful().iter().all(|(it, _)| *it != 14));
    assert!(scored.remarks()[0].starts_with("Row 15 scored by a fit without it"));
}

/// The density of an outlier is carried by a few draws of sigma far out in their tail: the mean over draws and its error are too low.
#[test]
fn an_outlier_that_no_draw_expects_stays_doubtful() {
    let (scored, _, expected) = scored_without_the_last(9.0);
    let found = scored.loo.rows[14];
    assert!(found.elpd < expected - 2.0, "{} {expected}", found.elpd);
    assert!(
        scored.doubtful().iter().any(|(it, _)| *it == 14),
        "{found:?}"
    );
    let remarks = scored.remarks();
    assert_eq!(
        remarks[1],
        "Hardly a draw of these fits expects anything like row 15, so its score is too uncertain to use"
    );
    let others = scored.doubtful().into_iter().filter(|(it, _)| *it != 14);
    assert_eq!(others.count(), 0);
    let said = scored.reliability();
    assert!(
        said.starts_with("1 of 15 rows has a Pareto k above ")
            && said.ends_with(
                "even by fits without it: hardly a draw expects anything like it, so elpd_loo is too uncertain to use"
            ),
        "{said}"
    );
}

#[test]
fn runs_whose_draws_are_not_usable_are_listed_in_one_sentence() {
    assert_eq!(unusable_runs(&[]), None);
    let of = |names: &[&str]| unusable_runs(names).unwrap();
    assert_eq!(
        of(&["A"]),
        "The draws of A are not usable, so neither are differences from its scores"
    );
    assert_eq!(
        of(&["A", "B", "C"]),
        "The draws of A, B and C are not usable, so neither are differences from their scores"
    );
}
