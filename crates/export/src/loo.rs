//! Cross-validation as JSON.

use serde_json::{Value as Json, json};

use ergodic_analysis::loo::subsample::{SampledTotal, Subsampled};
use ergodic_analysis::loo::{Comparison, CrossValidation};
use ergodic_diagnostics::loo::Total;

/// Runs, each with its name, and how they compare, if there are several; numbers that are not finite are null.
pub fn to_json(runs: &[(String, &CrossValidation)], comparison: Option<&Comparison>) -> Json {
    let all: Vec<Json> = runs.iter().map(|(name, run)| run_json(name, run)).collect();
    json!({
        "runs": all,
        "comparison": comparison.map(|comparison| comparison_json(runs, comparison)),
    })
}

/// Runs of which a sample of rows was left out, each with its name.
pub fn sampled_json(runs: &[(String, Subsampled)]) -> Json {
    let total = |it: SampledTotal| json!({ "estimate": it.estimate, "se": it.se, "se_of_sample": it.se_of_sample });
    let run = |(name, it): &(String, Subsampled)| {
        json!({
            "run": name,
            "rows_used": it.rows_total,
            "rows_left_out": it.rows.iter().map(|row| row + 1).collect::<Vec<u32>>(),
            "elpd_loo": total(it.elpd),
            "p_loo": total(it.p),
            "doubtful_rows": it.loo.doubtful().len(),
            "sentence": it.sentence(),
        })
    };
    json!({ "runs": runs.iter().map(run).collect::<Vec<Json>>() })
}

fn total(total: Total) -> Json {
    json!({ "estimate": total.estimate, "se": total.se })
}

fn run_json(name: &str, run: &CrossValidation) -> Json {
    let loo = &run.loo;
    let counts = loo.reliability();
    let rows = run.observed.rows.iter().zip(&loo.rows);
    let rows: Vec<Json> = rows
        .map(|(row, score)| {
            json!({
                "row": row + 1,
                "elpd_loo": score.elpd,
                "mcse_elpd_loo": score.mc_variance.sqrt(),
                "p_loo": score.p(),
                "elpd_waic": score.elpd_waic(),
                "pareto_k": score.k,
            })
        })
        .collect();
    let doubtful: Vec<Json> = run
        .doubtful()
        .into_iter()
        .map(|(row, k)| json!({ "row": row + 1, "pareto_k": k }))
        .collect();
    json!({
        "run": name,
        "outcome": run.observed.column,
        "rows_used": loo.rows.len(),
        "draws_used": loo.draws,
        "draws": run.draws_total,
        "elpd_loo": total(loo.elpd()),
        "p_loo": total(loo.p()),
        "looic": total(loo.looic()),
        "mcse_elpd_loo": loo.mcse(),
        "elpd_waic": total(loo.elpd_waic()),
        "p_waic": total(loo.p_waic()),
        "waic": total(loo.waic()),
        "pareto_k": {
            "threshold": loo.threshold(),
            "good": counts.good,
            "bad": counts.bad,
            "very_bad": counts.very_bad,
        },
        "doubtful_rows": doubtful,
        "refitted_rows": run.refitted.iter().map(|row| row + 1).collect::<Vec<u32>>(),
        "moment_matched_rows": run.matched.iter().map(|row| row + 1).collect::<Vec<u32>>(),
        "sentence": run.reliability(),
        "remarks": run.remarks(),
        "rows": rows,
    })
}

/// How runs compare; `runs` are those that were.
pub(super) fn comparison_json(
    runs: &[(String, &CrossValidation)],
    comparison: &Comparison,
) -> Json {
    let models: Vec<Json> = comparison
        .models
        .iter()
        .map(|model| {
            json!({
                "run": runs[model.index].0,
                "elpd_loo": total(model.elpd),
                "p_loo": total(model.p),
                "elpd_diff": total(model.difference),
                "stacking_weight": model.weight,
            })
        })
        .collect();
    json!({
        "models": models,
        "sentences": comparison.sentences,
        "remarks": comparison.remarks,
    })
}
