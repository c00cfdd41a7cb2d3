//! Pictures of checks, scores, joint draws and exact densities on the command line: the same numbers as in tables and JSON.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value as Json;
use support::{program, text};

mod support;

#[track_caller]
fn ergodic(folder: &Path, line: &str, code: i32) -> Output {
    let done = program(folder, line.split_whitespace()).output().unwrap();
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(code), "{line}: {said}");
    assert!(!said.contains("panicked"), "{line}: {said}");
    done
}

fn fit(folder: &Path, out: &str, more: &str) {
    let line = format!("fit --chains 2 --warmup 80 --draws 60 --sampler nuts {more} --out {out}");
    ergodic(folder, &line, 0);
}

/// What is drawn, as rows of a table: series, kind of mark, x, y, and the ends of those that have ends.
fn table_of(folder: &Path, name: &str) -> Vec<(String, String, [f64; 4])> {
    let table = fs::read_to_string(folder.join(name)).unwrap();
    let rows = table.lines().skip(1).map(|line| {
        // Titles of panels have commas.
        let cells: Vec<&str> = line.rsplitn(9, ',').collect();
        let numbers = [4, 3, 2, 1].map(|k: usize| cells[k].parse().unwrap_or(f64::NAN));
        (cells[7].to_owned(), cells[6].to_owned(), numbers)
    });
    rows.collect()
}

/// What is drawn: series, kind of mark, x and y.
fn drawn(folder: &Path, name: &str) -> Vec<(String, String, f64, f64)> {
    let rows = table_of(folder, name).into_iter();
    rows.map(|(series, mark, [x, y, _, _])| (series, mark, x, y))
        .collect()
}

/// The marks of one series in the order of the table.
fn marks(folder: &Path, name: &str, series: &str) -> Vec<[f64; 4]> {
    let rows = table_of(folder, name).into_iter();
    let of = rows.filter(|(it, _, _)| it == series);
    of.map(|(_, _, numbers)| numbers).collect()
}

#[test]
fn checks_have_residuals_and_all_their_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(
        folder,
        "a",
        "--data sample:churn --formula churned~age+plan --hold-out 0.2",
    );
    let said = ergodic(folder, "check a", 0);
    let notes = text(&said.stderr);
    for along in ["the expected outcome", "`age`", "`plan`"] {
        assert!(notes.contains(&format!("Along {along}: ")), "{notes}");
    }
    let found = ergodic(folder, "check a --json --out checks.csv", 0);
    let json: Json = serde_json::from_slice(&found.stdout).unwrap();
    let r2 = ["lower", "median", "upper"].map(|key| json["r2"][key].as_f64().unwrap());
    assert!(0.0 < r2[0] && r2[0] < r2[1] && r2[1] < r2[2] && r2[2] < 0.5);
    let sentence = json["r2"]["sentence"].as_str().unwrap();
    assert!(text(&said.stdout).contains(&format!("\n{sentence}\n")));
    let of_loo = json["loo_r2"]["median"].as_f64().unwrap();
    assert!(-0.1 < of_loo && of_loo < r2[2], "{of_loo}");
    let sentence = json["loo_r2"]["sentence"].as_str().unwrap();
    assert!(text(&said.stdout).contains(&format!("\n{sentence}\n")));
    let residuals = json["residuals"].as_array().unwrap();
    let kinds: Vec<&str> = residuals
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["expected", "predictor", "predictor"]);
    let rows = |it: &Json| -> u64 {
        let means = it["means"].as_array().unwrap().iter();
        means.map(|mean| mean["rows"].as_u64().unwrap()).sum()
    };
    assert!(residuals.iter().all(|it| rows(it) == 800));
    assert_eq!(json["loo_pit"]["curve"].as_array().unwrap().len(), 101);
    let table = fs::read_to_string(folder.join("checks.csv")).unwrap();
    assert!(
        table
            .lines()
            .any(|line| line.starts_with("residuals,plan: ")),
        "{table}"
    );

    ergodic(folder, "plot a --what residuals --out residuals.csv", 0);
    let discs: Vec<f64> = drawn(folder, "residuals.csv")
        .into_iter()
        .filter(|(series, mark, ..)| series == "observed" && mark == "point")
        .map(|(_, _, _, y)| y)
        .collect();
    let observed = |it: &Json| -> Vec<f64> {
        let means = it["means"].as_array().unwrap().iter();
        means
            .map(|mean| mean["observed"].as_f64().unwrap())
            .collect()
    };
    let first = observed(&residuals[0]);
    assert!(first.len() > 20);
    for (drawn, found) in discs.iter().zip(&first) {
        assert!((drawn - found).abs() < 1e-9, "{drawn} {found}");
    }
    for figure in [
        "statistics",
        "calibration",
        "loo-pit",
        "boxes",
        "energy",
        "pairs",
        "parallel",
        "components",
    ] {
        ergodic(
            folder,
            &format!("plot a --what {figure} --out {figure}.svg"),
            0,
        );
        let svg = fs::read_to_string(folder.join(format!("{figure}.svg"))).unwrap();
        assert!(svg.ends_with("</svg>\n"), "{figure}");
    }
    // Pairs of 120 draws have contours.
    ergodic(folder, "plot a --what pairs --out pairs.csv", 0);
    for series in ["50 % of draws", "90 % of draws"] {
        let rows = drawn(folder, "pairs.csv");
        assert!(
            rows.iter().any(|it| it.0 == series && it.1 == "line"),
            "{series}"
        );
    }
    let refused = ergodic(folder, "plot a --what rootogram --out r.svg", 2);
    assert!(text(&refused.stderr).contains("yes or no, or successes among trials; `calibration`"));
    let none = ergodic(folder, "plot a --what ecdf --parameters age --out r.svg", 2);
    assert!(!text(&none.stderr).is_empty() && !folder.join("r.svg").exists());
}

#[test]
fn the_pair_that_goes_most_along_with_divergent_transitions_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Neal's funnel behind two parameters that have nothing to do with it.
    let program = "parameters
  a ~ normal(0, 1)
  b ~ normal(0, 1)
  v ~ normal(0, 3)
  x: vector(5) ~ normal(0, exp(v / 2))
";
    fs::write(folder.join("funnel.model"), program).unwrap();
    // Some dozens of divergences: of a few any parameter may seem to go along with them.
    let line = "fit --model funnel.model --chains 4 --warmup 300 --draws 1500 --seed 3 --sampler nuts --out a";
    ergodic(folder, line, 0);
    let said = ergodic(folder, "plot a --what pairs --out worst.csv", 0);
    let said = text(&said.stderr);
    assert!(said.contains("goes most along with divergent"), "{said}");
    let pair = said.split(". ").next().unwrap();
    assert!(pair.contains("`v`") && pair.contains("`x["), "{pair}");
    let rows = drawn(folder, "worst.csv");
    assert!(rows.iter().any(|(series, ..)| series == "divergent"));
    let line = "plot a --what pairs --parameters a,b --out chosen.csv";
    let said = text(&ergodic(folder, line, 0).stderr);
    assert!(said.contains("Draws of `b` against `a`"), "{said}");
}

#[test]
fn searches_likelihood_fits_priors_and_ranks_have_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut data = "y,x,g\n".to_owned();
    for row in 0..120 {
        let (x, group) = (f64::from(row * 37 % 101) / 50.0, row % 8);
        let y = 0.5 * x + f64::from(group * 5 % 8) / 3.0 + f64::from(row * 61 % 17) / 10.0;
        data.push_str(&format!("{y},{x},g{group}\n"));
    }
    fs::write(folder.join("d.csv"), data).unwrap();
    let model = "--data d.csv --formula y~x+(1|g)";
    fit(folder, "a", &format!("{model} --template mixed"));
    ergodic(folder, "plot a --what mode --out mode.csv", 0);
    let json: Json = serde_json::from_slice(&fs::read(folder.join("a/run.json")).unwrap()).unwrap();
    let course = marks(folder, "mode.csv", "gradient in posterior sd");
    let trace = json["mode"]["trace"].as_array().unwrap();
    assert_eq!(course.len(), trace.len());
    // The same fit, of the run and by itself, and its numbers.
    ergodic(folder, "plot a --what likelihood --out run.csv", 0);
    let line = format!("estimate {model} --plot alone.csv --out e");
    ergodic(folder, &line, 0);
    let drawn_of = |name: &str| -> Vec<f64> {
        // Of each group the outer and the inner interval, and the mode.
        let rows = marks(folder, name, "groups");
        rows.chunks(3).map(|group| group[2][0]).collect()
    };
    let modes = drawn_of("run.csv");
    assert_eq!(modes.len(), 8);
    assert!(modes.is_sorted_by(|a, b| a >= b));
    for (of_run, alone) in modes.iter().zip(drawn_of("alone.csv")) {
        assert!((of_run - alone).abs() < 1e-6, "{of_run} {alone}");
    }
    // Its columns are group, level, term, mode and sd.
    let table = fs::read_to_string(folder.join("e/effects.csv")).unwrap();
    let mut saved: Vec<f64> = (table.lines().skip(1))
        .map(|line| line.split(',').nth(3).unwrap().parse().unwrap())
        .collect();
    saved.sort_by(|a, b| b.total_cmp(a));
    for (of_run, saved) in modes.iter().zip(saved) {
        assert!((of_run - saved).abs() < 1e-6, "{of_run} {saved}");
    }
    let plain = ergodic(
        folder,
        "estimate --data d.csv --formula y~x --plot no.svg",
        2,
    );
    assert!(text(&plain.stderr).contains("no effects that vary by group"));
    let line = format!("prior-predictive {model} --template mixed --plot priors.svg");
    ergodic(folder, &line, 0);
    let svg = fs::read_to_string(folder.join("priors.svg")).unwrap();
    assert!(svg.ends_with("</svg>\n"));
    let line = "calibrate linear --simulations 5 --draws 9 --plot ranks.csv --json";
    let found = ergodic(folder, line, 0);
    assert!(!found.stdout.is_empty());
    let bars = marks(folder, "ranks.csv", "simulations").into_iter();
    let counted: f64 = bars.map(|[.., height]| height).sum();
    // Each quantity has a rank in each simulation.
    assert!(counted >= 5.0 && counted % 5.0 == 0.0, "{counted}");
}

#[test]
fn shares_of_yes_by_predictor_stand_beside_their_probabilities() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(
        folder,
        "a",
        "--data sample:churn --formula churned~age+plan",
    );
    let found = ergodic(folder, "check a --bins 8 --json", 0);
    let json: Json = serde_json::from_slice(&found.stdout).unwrap();
    let columns = json["residuals"].as_array().unwrap();
    let age = columns.iter().find(|it| it["along"] == "age").unwrap();
    let means = age["means"].as_array().unwrap();
    assert_eq!(means.len(), 8);
    let number = |it: &Json| it.as_f64().unwrap();
    for mean in means {
        let share = &mean["share"];
        let [predicted, realised] = [&share["predicted"], &share["realised"]].map(number);
        assert!((realised - predicted - number(&mean["observed"])).abs() < 1e-12);
        let range = &share["replicated"];
        assert!(number(&range["lower"]) < predicted && predicted < number(&range["upper"]));
        // A share of that number of rows is a whole number of them.
        let yes = realised * number(&mean["rows"]);
        assert!((yes - yes.round()).abs() < 1e-9, "{mean}");
    }
    ergodic(folder, "plot a --what shares --bins 8 --out shares.csv", 0);
    let rows = drawn(folder, "shares.csv");
    let discs: Vec<f64> = (rows.iter())
        .filter(|(series, mark, ..)| series == "observed" && mark == "point")
        .map(|&(.., y)| y)
        .collect();
    // The first column is the probability itself.
    for (drawn, mean) in discs.iter().zip(columns[0]["means"].as_array().unwrap()) {
        assert!((drawn - number(&mean["share"]["realised"])).abs() < 1e-9);
    }
    let told = text(&ergodic(folder, "check a --bins 8 --by age,plan", 0).stdout);
    for words in ["predicted", "realised", "plus"] {
        assert!(told.contains(words), "`{words}` is not in: {told}");
    }
    let unknown = ergodic(folder, "check a --by agee", 2);
    assert!(text(&unknown.stderr).contains("there are those by expected, age, plan"));
    fit(folder, "b", "--data sample:churn --formula age~plan");
    let numbers = ergodic(folder, "check b --by plan", 2);
    assert!(text(&numbers.stderr).contains("--by takes outcomes that are yes or no"));
}

#[test]
fn held_out_scores_have_their_pictures_and_runs_share_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = "--data sample:churn --hold-out 0.2 --formula";
    fit(folder, "a", &format!("{data} churned~age+plan"));
    fit(folder, "b", &format!("{data} churned~age"));
    let found = ergodic(folder, "score a b --json --plot courses.csv", 0);
    let json: Json = serde_json::from_slice(&found.stdout).unwrap();
    let rows = drawn(folder, "courses.csv");
    for (k, name) in ["a", "b"].into_iter().enumerate() {
        let lines = rows.iter().filter(|(series, ..)| series == name);
        let points: Vec<[f64; 2]> = lines.map(|&(_, _, x, y)| [x, y]).collect();
        let loss = json[k]["scores"]["log_loss"]["value"].as_f64().unwrap();
        // By draws, then by seconds; both end with the score.
        let last = points.last().unwrap()[1];
        assert!((last - loss).abs() < 1e-9, "{last} {loss}");
        let by_draws = points.iter().find(|point| point[0] == 60.0).unwrap();
        assert!((by_draws[1] - loss).abs() < 1e-9);
    }
    ergodic(folder, "plot a --what roc --out roc.csv", 0);
    let curve = drawn(folder, "roc.csv");
    let curve: Vec<[f64; 2]> = (curve.iter())
        .filter(|(series, ..)| series == "ROC curve")
        .map(|&(_, _, x, y)| [x, y])
        .collect();
    // The area by trapezoids is the AUC.
    let area: f64 = curve
        .windows(2)
        .map(|pair| 0.5 * (pair[1][0] - pair[0][0]) * (pair[0][1] + pair[1][1]))
        .sum();
    let auc = json[0]["scores"]["auc"]["value"].as_f64().unwrap();
    assert!((area - auc).abs() < 1e-9, "{area} {auc}");
    ergodic(folder, "plot a --what course --out course.png", 0);
    assert!(
        fs::read(folder.join("course.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    ergodic(folder, "name a narrow", 0);
    for figure in ["components", "density"] {
        let line =
            format!("plot b --what {figure} --parameters b[age],b[Intercept] --with a --out c.csv");
        ergodic(folder, &line, 0);
        let rows = drawn(folder, "c.csv");
        for name in ["b", "narrow"] {
            let points = rows.iter().filter(|(series, ..)| series == name);
            assert!(points.count() > 50, "{figure} {name}: {rows:?}");
        }
    }
    // The curve of the other run is what it is alone, but for the grid.
    ergodic(
        folder,
        "plot a --what density --parameters b[age] --out a.csv",
        0,
    );
    ergodic(
        folder,
        "plot b --what density --parameters b[age] --with a --out c.csv",
        0,
    );
    let peak = |name: &str, wanted: &str| {
        let rows = drawn(folder, name);
        let of = rows.iter().filter(|(series, ..)| series == wanted);
        of.map(|row| row.3).fold(0.0, f64::max)
    };
    let (alone, beside) = (peak("a.csv", "all chains"), peak("c.csv", "narrow"));
    assert!((alone / beside - 1.0).abs() < 0.05, "{alone} {beside}");
    assert!(
        !drawn(folder, "c.csv")
            .iter()
            .any(|(series, ..)| series == "chain 1")
    );
    let refused = ergodic(folder, "plot b --what trace --with a --out t.svg", 2);
    assert!(text(&refused.stderr).contains("it shows one run alone"));
    assert!(!folder.join("t.svg").exists());
    let refused = ergodic(
        folder,
        "plot a --what density --parameters b --with b --out t.svg",
        2,
    );
    assert!(text(&refused.stderr).contains("has not all of these parameters"));
}

fn assert_near(drawn: f64, found: &Json) {
    let found = found.as_f64().unwrap();
    assert!(
        (drawn - found).abs() < 1e-9 * found.abs().max(1.0),
        "{drawn} {found}"
    );
}

#[test]
fn effects_pareto_k_sizes_and_priors_are_those_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model = "--data sample:churn --formula churned~age+plan";
    // Curves of sizes begin after 100 draws of each chain.
    fit(folder, "a", &format!("{model} --draws 150"));
    let json =
        |line: &str| -> Json { serde_json::from_slice(&ergodic(folder, line, 0).stdout).unwrap() };

    ergodic(folder, "plot a --what effects --out effects.csv", 0);
    let found = json("effects a --along age,plan --places 41 --json");
    let points = |k: usize| {
        found["along"][k]["curves"][0]["points"]
            .as_array()
            .unwrap()
            .clone()
    };
    let (age, plan) = (points(0), points(1));
    let line = marks(folder, "effects.csv", "expected");
    assert_eq!(line.len(), age.len() + plan.len());
    for (drawn, found) in line.iter().zip(&age) {
        assert_near(drawn[0], &found["at"]);
        assert_near(drawn[1], &found["mean"]);
    }
    for (drawn, found) in line[age.len()..].iter().zip(&plan) {
        assert_near(drawn[0], &found["mean"]);
    }
    let band = marks(folder, "effects.csv", "90 % band");
    assert_eq!(band.len(), age.len());
    assert!(!marks(folder, "effects.csv", "observed").is_empty());

    ergodic(folder, "plot a --what pareto-k --out k.csv", 0);
    let found = json("loo a --json");
    // Draws may be too few for the Pareto k of a row.
    let rows = found["runs"][0]["rows"].as_array().unwrap().iter();
    let rows: Vec<&Json> = rows.filter(|it| it["pareto_k"].is_number()).collect();
    assert!(rows.len() > 500, "{}", rows.len());
    let mut drawn = marks(folder, "k.csv", "good");
    drawn.extend(marks(folder, "k.csv", "not good"));
    drawn.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(drawn.len(), rows.len());
    for (drawn, found) in drawn.iter().zip(rows) {
        assert_near(drawn[0], &found["row"]);
        assert_near(drawn[1], &found["pareto_k"]);
    }

    ergodic(
        folder,
        "plot a --what ess --parameters b[age] --out ess.csv",
        0,
    );
    let found = json("summarise a --json");
    let row = found["variables"].as_array().unwrap().iter();
    let row = row.clone().find(|row| row["variable"] == "b[age]").unwrap();
    for (series, key) in [("bulk", "ess_bulk"), ("tails", "ess_tail")] {
        let last = *marks(folder, "ess.csv", series).last().unwrap();
        assert_eq!(last[0], 150.0);
        assert_near(last[1], &row[key]);
    }
    let quantiles = marks(folder, "ess.csv", "quantiles");
    assert_eq!(quantiles.len(), 19);
    // The tail size is the smaller of those of the 5 % and the 95 % quantile.
    assert_near(quantiles[0][1].min(quantiles[18][1]), &row["ess_tail"]);

    ergodic(folder, "plot a --what prior-predictive --out prior.csv", 0);
    let found = json(&format!("prior-predictive {model} --json"));
    let outcome = &found["outcomes"][0];
    let heights = |key: &str| outcome[key]["prior"].as_array().unwrap().clone();
    let (shares, chances) = (heights("shares"), heights("chances"));
    let bars = marks(folder, "prior.csv", "prior");
    assert_eq!(bars.len(), shares.len() + chances.len());
    for (bar, height) in bars.iter().zip(shares.iter().chain(&chances)) {
        assert_near(bar[3], height);
    }
    let data = marks(folder, "prior.csv", "data");
    assert_near(data[0][0], &outcome["success"]["data"]);
    let refused = ergodic(folder, "plot a --what groups --out g.svg", 2);
    assert!(text(&refused.stderr).contains("no effects that vary by group"));
}

#[test]
fn groups_are_drawn_by_their_medians_from_the_top() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..120)
        .map(|i| {
            let (g, x) = (i % 8, i % 5);
            format!("{},{x},g{g}\n", 3 * g + x + i * 7 % 4)
        })
        .collect();
    fs::write(folder.join("g.csv"), format!("y,x,g\n{rows}")).unwrap();
    fit(
        folder,
        "a",
        "--data g.csv --template mixed --formula y~x+(1+x|g)",
    );
    let found = ergodic(folder, "summarise a --json", 0);
    let found: Json = serde_json::from_slice(&found.stdout).unwrap();
    let summary = found["variables"].as_array().unwrap();
    for (named, term) in [("", "Intercept"), ("--parameters sd[g,x]", "x")] {
        ergodic(
            folder,
            &format!("plot a --what groups {named} --out g.csv.csv"),
            0,
        );
        // Of each group the wide and the narrow interval, and the median.
        let drawn = marks(folder, "g.csv.csv", "groups");
        assert_eq!(drawn.len(), 24);
        let mut medians: Vec<f64> = (0..8)
            .map(|g| {
                let name = format!("r[g,g{g},{term}]");
                let row = summary.iter().find(|row| row["variable"] == name.as_str());
                row.unwrap()["q50"].as_f64().unwrap()
            })
            .collect();
        medians.sort_by(|a, b| b.total_cmp(a));
        for (drawn, median) in drawn.chunks_exact(3).zip(&medians) {
            assert!((drawn[2][0] - median).abs() < 1e-9, "{drawn:?} {median}");
            assert!(drawn[0][0] <= drawn[1][0] && drawn[1][2] <= drawn[0][2]);
        }
    }
}

#[test]
fn moments_of_two_runs_stand_against_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fit(
        folder,
        "a",
        "--data sample:churn --formula churned~age+plan",
    );
    fit(folder, "b", "--data sample:churn --formula churned~age");
    let found = ergodic(folder, "compare-runs a b --no-loo --json", 0);
    let json: Json = serde_json::from_slice(&found.stdout).unwrap();
    let parameters = json["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 2, "intercept and age");
    ergodic(folder, "plot a --what moments --with b --out m.csv", 0);
    let rows = drawn(folder, "m.csv");
    let points: Vec<[f64; 2]> = (rows.iter())
        .filter(|(series, mark, ..)| series == "parameters" && mark == "point")
        .map(|&(_, _, x, y)| [x, y])
        .collect();
    assert_eq!(points.len(), 4);
    // Means, then standard deviations.
    for (points, key) in points.chunks(2).zip(["mean", "sd"]) {
        for row in parameters {
            let [x, y] = [0, 1].map(|run| row[key][run].as_f64().unwrap());
            let there = |point: &[f64; 2]| (point[0] - x).abs() + (point[1] - y).abs() < 1e-9;
            assert!(points.iter().any(there), "{row}: {points:?}");
        }
    }
    let line = rows.iter().filter(|(series, ..)| series == "the same");
    assert!(line.clone().count() == 4 && line.clone().all(|&(_, _, x, y)| x == y));
    for name in ["m.svg", "m.png"] {
        let line = format!("plot a --what moments --with b --parameters b[age] --out {name}");
        ergodic(folder, &line, 0);
    }
    assert!(
        fs::read(folder.join("m.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    let alone = ergodic(folder, "plot a --what moments --out n.svg", 2);
    assert!(text(&alone.stderr).contains("name one by --with"));
}

#[test]
fn densities_known_in_closed_form_stand_beside_those_of_draws() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("x.csv"), "x\n1\n2\n4\n5\n").unwrap();
    fit(
        folder,
        "a",
        "--data x.csv --template normal-mean --formula x~1",
    );
    let manifest = fs::read_to_string(folder.join("a/run.json")).unwrap();
    let manifest: Json = serde_json::from_str(&manifest).unwrap();
    let exact = &manifest["exact_marginals"]["0"];
    // Precision 1/10 + 4, sum 12.
    let (mean, sd) = (12.0 / 4.1, 1.0 / 4.1_f64.sqrt());
    assert_eq!(exact["distribution"], "normal");
    assert!((exact["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!((exact["sd"].as_f64().unwrap() - sd).abs() < 1e-12);
    ergodic(folder, "plot a --what density --out d.csv", 0);
    let rows = drawn(folder, "d.csv");
    let line: Vec<[f64; 2]> = (rows.iter())
        .filter(|(series, ..)| series == "exact")
        .map(|&(_, _, x, y)| [x, y])
        .collect();
    assert!(line.len() > 50);
    for [x, y] in line {
        let z = (x - mean) / sd;
        let density = (-0.5 * z * z).exp() / (sd * std::f64::consts::TAU.sqrt());
        assert!((y - density).abs() < 1e-9, "{x}: {y} {density}");
    }
    // A regression has no closed form, and says nothing of one.
    fit(folder, "b", "--data sample:churn --formula churned~age");
    let manifest = fs::read_to_string(folder.join("b/run.json")).unwrap();
    assert!(!manifest.contains("exact_marginals"));
}

/// Energy errors of each trajectory in a table of what is drawn, one series after the other; they begin at 0.
fn trajectories(rows: &[(String, String, f64, f64)]) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for (_, _, x, y) in rows.iter().filter(|(_, mark, ..)| mark == "line") {
        if *x == 0.0 {
            found.push(Vec::new());
        }
        found.last_mut().unwrap().push(*y);
    }
    found
}

/// The posterior of a normal mean is normal: along a trajectory the energy error is a constant and a wave of twice the turn of a step,
/// whatever the step size and the metric are.
#[test]
fn energies_along_trajectories_of_a_normal_posterior_are_waves() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("x.csv"), "x\n1\n2\n4\n5\n").unwrap();
    fit(
        folder,
        "a",
        "--data x.csv --template normal-mean --formula x~1 --set sampler.step_size=0.8",
    );
    let said = ergodic(folder, "plot a --what trajectory --out t.csv", 0);
    let caption = text(&said.stderr);
    assert!(caption.contains("the largest error is"), "{caption}");
    let found = trajectories(&drawn(folder, "t.csv"));
    assert_eq!(found.len(), 8, "4 momenta of 2 chains");
    for errors in &found {
        assert_eq!((errors.len(), errors[0]), (61, 0.0));
        let changes: Vec<f64> = errors.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let inner = &changes[1..changes.len() - 1];
        let far = (0..inner.len()).max_by(|&a, &b| inner[a].abs().total_cmp(&inner[b].abs()));
        let far = far.unwrap() + 1;
        let around = |k: usize| changes[k - 1] + changes[k + 1];
        let twice_cos = around(far) / changes[far];
        assert!(changes[far].abs() > 1e-6 && twice_cos.abs() <= 2.0 + 1e-9);
        for k in 1..changes.len() - 1 {
            let left = around(k) - twice_cos * changes[k];
            assert!(left.abs() < 1e-9, "{k}: {left}");
        }
    }
    for name in ["t.svg", "t.png"] {
        ergodic(folder, &format!("plot a --what trajectory --out {name}"), 0);
        assert!(folder.join(name).exists());
    }
}

#[test]
fn a_sampler_of_subsamples_shows_its_energy_with_all_rows_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model = "--data sample:churn --formula churned~age+plan --chains 2 --warmup 80 --draws 60";
    ergodic(folder, &format!("fit {model} --sampler hmc-ecs --out a"), 0);
    ergodic(folder, "plot a --what trajectory --out t.csv", 0);
    let found = trajectories(&drawn(folder, "t.csv"));
    assert_eq!(found.len(), 16, "of 2 chains, each twice");
    let (estimated, exact) = found.split_at(8);
    for (one, other) in estimated.iter().zip(exact) {
        assert_eq!((one.len(), other.len()), (61, 61));
        assert_ne!(one, other);
    }
    ergodic(
        folder,
        &format!("fit {model} --sampler metropolis --out b"),
        0,
    );
    let refused = ergodic(folder, "plot b --what trajectory --out t.svg", 2);
    let why = text(&refused.stderr);
    assert!(why.contains("follows no trajectories"), "{why}");
}

/// Each column of `info.csv` can be drawn, chain by chain, with the numbers that the file has.
#[test]
fn columns_of_the_sampler_are_drawn_as_they_stand_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model = "--data sample:churn --formula churned~age --chains 2 --warmup 80 --draws 60 --set run.zero_variance=linear";
    let fitted = format!("fit {model} --sampler hmc-ecs --out a");
    ergodic(folder, &fitted, 0);
    let said = ergodic(
        folder,
        "plot a --what info --columns log_lik_variance,energy --out i.csv",
        0,
    );
    let caption = text(&said.stderr);
    assert!(
        caption.contains("2 columns of the sampler. Kept draws, without the warm-up."),
        "{caption}"
    );
    let mut info = csv::Reader::from_path(folder.join("a/info.csv")).unwrap();
    let heads = info.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = info.records().map(Result::unwrap).collect();
    let place = |name: &str| heads.iter().position(|head| head == name).unwrap();
    for (chain, series) in [("1", "chain 1"), ("2", "chain 2")] {
        let found = marks(folder, "i.csv", series);
        let of_chain = rows.iter().filter(|row| &row[0] == chain);
        let of_chain: Vec<&csv::StringRecord> = of_chain.collect();
        assert_eq!((found.len(), of_chain.len()), (120, 60));
        // One panel after the other, draws counted from 1.
        for (column, points) in ["log_lik_variance", "energy"].iter().zip(found.chunks(60)) {
            for (k, (point, row)) in points.iter().zip(&of_chain).enumerate() {
                let value: f64 = row[place(column)].parse().unwrap();
                assert_eq!(point[0], (k + 1) as f64);
                assert!(
                    (point[1] - value).abs() <= 1e-9 * value.abs(),
                    "{column}: {point:?} {value}"
                );
            }
        }
    }
    // One column says what it means, all are those of the sampler without gradients.
    let said = ergodic(
        folder,
        "plot a --what info --columns rows_share --out one.svg",
        0,
    );
    let caption = text(&said.stderr);
    assert!(
        caption.contains("Sampler column `rows_share`. `rows_share`: "),
        "{caption}"
    );
    ergodic(folder, "plot a --what info --out all.png", 0);
    ergodic(folder, "plot a --what info --out all.csv", 0);
    let table = fs::read_to_string(folder.join("all.csv")).unwrap();
    assert!(table.contains("accept_rows,chain 1") && !table.contains("gradient["));
    assert!(
        fs::read(folder.join("all.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    for (line, words) in [
        (
            "plot a --what info --columns enrgy --out no.svg",
            "is it `energy`?",
        ),
        (
            "plot a --what trace --columns energy --out no.svg",
            "leave --columns out, or draw `info`",
        ),
    ] {
        let refused = text(&ergodic(folder, line, 2).stderr);
        assert!(refused.contains(words), "{refused}");
    }
    assert!(!folder.join("no.svg").exists());
    // Draws of other origin have columns where their file has.
    ergodic(folder, "export a --format draws-csv --out draws.csv", 0);
    let refused = ergodic(folder, "plot draws.csv --what info --out no.svg", 2);
    let refused = text(&refused.stderr);
    assert!(
        refused.contains("reports nothing with its draws"),
        "{refused}"
    );
}
