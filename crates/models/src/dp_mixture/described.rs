//! The mixture in other notations. Stan has no discrete unknowns, so that its program cuts off the stick that the process
//! breaks: an approximation, and it says so.

use super::counts::Counts;
use super::mixture::Mixture;
use super::numeric::Numeric;
use super::{AlphaPrior, Context, Translation};
use crate::translation::{NoTranslation, Program, SCALES, comment, listed, number, numbers};

/// All notations; `rows_held_out` belong to units that take no part.
pub(super) fn describe(
    context: &Context<'_>,
    mixture: &Mixture,
    rows_held_out: usize,
) -> Translation {
    let group = context
        .design
        .groups
        .first()
        .map(|group| group.name.as_str());
    Translation {
        words: words(context, mixture, (group, rows_held_out)),
        equation: equation(mixture),
        stan: Ok(stan(mixture, group)),
        brms: Err(NoTranslation::Absent(
            "brms has mixtures of a given number of regressions, but no Dirichlet process, in which the number of clusters \
             is unknown",
        )),
    }
}

fn words(
    context: &Context<'_>,
    mixture: &Mixture,
    (group, rows_held_out): (Option<&str>, usize),
) -> String {
    let units = match group {
        Some(group) => format!("The {} levels of `{group}`", mixture.num_units()),
        None => format!("The {} rows", mixture.num_units()),
    };
    let mut text = format!(
        "{units} fall into clusters by a Dirichlet process, so that the number of clusters is not fixed beforehand; the \
         larger the concentration `alpha`, the more there are."
    );
    match mixture.alpha {
        AlphaPrior::Constant(value) => text.push_str(&format!(" `alpha` is {value}.")),
        AlphaPrior::Gamma { .. } => {
            text.push_str(&format!(
                " The prior of `alpha` is {}.",
                mixture.alpha.text()
            ));
        }
    }
    if let Some(numeric) = &mixture.numeric {
        let (shape, prior) = match (numeric.is_diagonal(), numeric.dim()) {
            (_, 1) => ("normal", "normal-inverse-chi-squared"),
            (true, _) => ("normal and independent", "normal-inverse-chi-squared"),
            (false, _) => ("multivariate normal", "normal-inverse-Wishart"),
        };
        text.push_str(&format!(
            " Within a cluster {} {} {shape}, with a {prior} prior in units of {}: means count for {} of a row, variances \
             have {} degrees of freedom.",
            listed(&numeric.names),
            if numeric.dim() == 1 { "is" } else { "are" },
            if context.options.standardize {
                "each column's standard deviation"
            } else {
                "the columns"
            },
            number(numeric.kappa()),
            number(numeric.variance_df()),
        ));
    }
    if let Some(counts) = &mixture.counts {
        let names: Vec<&str> = counts
            .blocks
            .iter()
            .map(|block| block.name.as_str())
            .collect();
        let concentration = counts
            .blocks
            .first()
            .map_or(0.0, |block| block.concentration);
        text.push_str(&format!(
            " Categories of {} have probabilities of their own in each cluster, with a Dirichlet prior of concentration {} \
             for each category.",
            listed(&names),
            number(concentration)
        ));
    }
    if mixture.num_held_out() > 0 {
        text.push_str(&format!(
            " {} more are held out to see how well they are predicted.",
            mixture.num_held_out()
        ));
    }
    format!("{text} {}", context.rows_but(rows_held_out))
}

fn equation(mixture: &Mixture) -> String {
    let mut lines = vec!["G ~ DP(alpha, G0)".to_owned()];
    lines.push(match mixture.alpha {
        AlphaPrior::Gamma { .. } => format!("alpha ~ {}", mixture.alpha.text()),
        AlphaPrior::Constant(value) => format!("alpha = {}", number(value)),
    });
    let mut parts = Vec::new();
    if let Some(numeric) = &mixture.numeric {
        let (kappa, names) = (number(numeric.kappa()), numeric.names.join(", "));
        parts.push(match numeric.is_diagonal() {
            true => "(mean, variance)[i]",
            false => "(mean, Sigma)[i]",
        });
        let (likelihood, prior) = if numeric.is_diagonal() {
            (
                format!("z[i] ~ normal(mean[i], sqrt(variance[i])) for each of {names}"),
                format!(
                    "G0: mean ~ normal(0, sqrt(variance/{kappa})), variance ~ inv_gamma({}, {}) for each column",
                    number(0.5 * numeric.nu()),
                    number(0.5 * numeric.psi().first().copied().unwrap_or_default()),
                ),
            )
        } else {
            (
                format!("z[i] ~ multi_normal(mean[i], Sigma[i]), z = {names}"),
                format!(
                    "G0: mean ~ multi_normal(0, Sigma/{kappa}), Sigma ~ inv_wishart({}, diag({}))",
                    number(numeric.nu()),
                    numbers(numeric.psi())
                ),
            )
        };
        lines.extend([likelihood, prior]);
        lines.push("with columns z centred and scaled to standard deviation 1".to_owned());
    }
    if let Some(counts) = &mixture.counts {
        for block in &counts.blocks {
            let name = &block.name;
            lines.push(format!("{name}[i] ~ categorical(p_{name}[i])"));
            lines.push(format!(
                "G0: p_{name} ~ dirichlet({}) for its {} categories",
                number(block.concentration),
                block.levels.len()
            ));
        }
        parts.push("p[i]");
    }
    lines.insert(1, format!("theta[i] = {} ~ G", parts.join(", ")));
    lines.push(format!("i = 1 … {}", mixture.num_units()));
    lines.join("\n")
}

fn stan(mixture: &Mixture, group: Option<&str>) -> String {
    let mut program = Program {
        notes: vec![
            "AN APPROXIMATION: Stan cannot sample partitions, so the Dirichlet process is cut off at K clusters and the"
                .to_owned(),
            "cluster of each unit is summed over. K = 20 or more is close where fewer than 10 clusters have units."
                .to_owned(),
            "Clusters have no order, so chains disagree about their numbers: compare only what does not depend on these."
                .to_owned(),
        ],
        data: vec![
            format!("int<lower=1> N;  // {}", group.map_or("rows".to_owned(), |group| format!("levels of {}", comment(group)))),
            "int<lower=2> K;  // most clusters".to_owned(),
        ],
        ..Program::default()
    };
    let alpha = match mixture.alpha {
        AlphaPrior::Constant(value) => number(value),
        AlphaPrior::Gamma { .. } => {
            program.parameters.push("real<lower=0> alpha;".to_owned());
            "alpha".to_owned()
        }
    };
    program
        .parameters
        .push("vector<lower=0, upper=1>[K - 1] stick;  // shares of what is left".to_owned());
    program.model.extend([
        "vector[K] log_weight;".to_owned(),
        "matrix[N, K] lp;  // of each unit in each cluster".to_owned(),
        "real rest = 0;".to_owned(),
        "for (k in 1:(K - 1)) {".to_owned(),
        "  log_weight[k] = rest + log(stick[k]);".to_owned(),
        "  rest += log1m(stick[k]);".to_owned(),
        "}".to_owned(),
        "log_weight[K] = rest;".to_owned(),
        "lp = rep_matrix(log_weight', N);".to_owned(),
    ]);
    if alpha == "alpha" {
        program
            .model
            .push(format!("alpha ~ {};", mixture.alpha.text()));
    }
    program.model.push(format!("stick ~ beta(1, {alpha});"));
    if let Some(numeric) = &mixture.numeric {
        stan_numeric(numeric, &mut program);
    }
    if let Some(counts) = &mixture.counts {
        stan_counts(counts, group.is_some(), &mut program);
    }
    program.model.extend([
        "for (i in 1:N) {".to_owned(),
        "  target += log_sum_exp(lp[i]);".to_owned(),
        "}".to_owned(),
    ]);
    program.text()
}

fn stan_numeric(numeric: &Numeric, program: &mut Program) {
    let p = numeric.dim();
    let (kappa, nu) = (number(numeric.kappa()), numeric.nu());
    program.data.push(format!(
        "array[N] vector[{p}] x;  // {}",
        comment(&numeric.names.join(", "))
    ));
    program.transformed_data.extend([
        SCALES.to_owned(),
        format!("vector[{p}] centre = [{}]';", numbers(&numeric.center)),
        format!("vector[{p}] scale = [{}]';", numbers(&numeric.scale)),
        format!("array[N] vector[{p}] z;"),
        "for (i in 1:N) {".to_owned(),
        "  z[i] = (x[i] - centre) ./ scale;".to_owned(),
        "}".to_owned(),
    ]);
    program
        .parameters
        .push(format!("array[K] vector[{p}] mean_z;"));
    let (spread, prior, density) = if numeric.is_diagonal() {
        let half: Vec<f64> = numeric.psi().iter().map(|psi| 0.5 * psi).collect();
        (
            format!("array[K] vector<lower=0>[{p}] variance_z;"),
            [
                format!(
                    "  variance_z[k] ~ inv_gamma({}, [{}]');",
                    number(0.5 * nu),
                    numbers(&half)
                ),
                format!("  mean_z[k] ~ normal(0, sqrt(variance_z[k] / {kappa}));"),
            ],
            "normal_lpdf(z[i] | mean_z[k], sqrt(variance_z[k]))",
        )
    } else {
        (
            format!("array[K] cov_matrix[{p}] Sigma_z;"),
            [
                format!(
                    "  Sigma_z[k] ~ inv_wishart({}, diag_matrix([{}]'));",
                    number(nu),
                    numbers(numeric.psi())
                ),
                format!("  mean_z[k] ~ multi_normal(rep_vector(0, {p}), Sigma_z[k] / {kappa});"),
            ],
            "multi_normal_lpdf(z[i] | mean_z[k], Sigma_z[k])",
        )
    };
    program.parameters.push(spread);
    program.model.push("for (k in 1:K) {".to_owned());
    program.model.extend(prior);
    program.model.extend([
        "  for (i in 1:N) {".to_owned(),
        format!("    lp[i, k] += {density};"),
        "  }".to_owned(),
        "}".to_owned(),
    ]);
}

fn stan_counts(counts: &Counts, items_of_units: bool, program: &mut Program) {
    if items_of_units {
        program.data.extend([
            "int<lower=1> M;  // rows".to_owned(),
            "array[M] int<lower=1, upper=N> unit;".to_owned(),
        ]);
    }
    let (rows, unit) = if items_of_units {
        ("M", "unit[i]")
    } else {
        ("N", "i")
    };
    for (b, block) in counts.blocks.iter().enumerate() {
        let (b, levels) = (b + 1, block.levels.len());
        program.data.push(format!(
            "array[{rows}] int<lower=1, upper={levels}> item_{b};  // {}: {}",
            comment(&block.name),
            comment(&listed(&block.levels))
        ));
        program
            .parameters
            .push(format!("array[K] simplex[{levels}] p_{b};"));
        program.model.extend([
            "for (k in 1:K) {".to_owned(),
            format!(
                "  p_{b}[k] ~ dirichlet(rep_vector({}, {levels}));",
                number(block.concentration)
            ),
            format!("  for (i in 1:{rows}) {{"),
            format!("    lp[{unit}, k] += log(p_{b}[k][item_{b}[i]]);"),
            "  }".to_owned(),
            "}".to_owned(),
        ]);
    }
}
