//! The hierarchical model in other notations.
//!
//! Parameters of the Stan program stand in the order of u, and Stan takes a covariance apart as [`super::coordinates`] does:
//! the lower factor by rows, with logarithms on the diagonal.

use super::options;
use crate::ModelError;
use crate::logistic::of_trials;
use crate::numerics::wishart::NormalInverseWishart;
use crate::translation::{
    Context, Glm, NoTranslation, Program, Translation, comment, each_of, index_letter, number,
    numbers,
};
use ergodic_base::{Class, INTERCEPT};

pub(super) fn describe(context: &Context<'_>) -> Result<Translation, ModelError> {
    let design = context.design;
    options::check_design(design)?;
    let chosen = options::choose(design, context.options)?;
    let factor = &design.groups[design.group_terms[0].factor];
    let regression = Glm::of(context, of_trials(design))?;
    Ok(Translation {
        words: words(context, &regression, &factor.name, factor.levels.len()),
        equation: equation(context, &regression, &chosen.niw, &factor.name),
        stan: Ok(stan(context, &regression, &chosen.niw, &factor.name)),
        brms: Err(NoTranslation::Absent(
            "brms gives groups standard deviations and LKJ correlations, not a covariance with an inverse-Wishart prior; \
             template `mixed` with model.family = \"bernoulli\" is the model that brms has",
        )),
    })
}

/// The priors of μ and Σ as they are reported.
fn priors<'a>(context: &Context<'a>) -> (Vec<(&'a str, &'a str)>, &'a str) {
    let means = (context.params.iter())
        .filter(|param| param.name.class() == Class::Mean)
        .map(|param| (param.name.as_str(), param.prior.as_str()))
        .collect();
    let covariance = (context.params.iter()).find(|param| param.name.class() == Class::Covariance);
    (means, covariance.map_or("", |param| param.prior.as_str()))
}

fn words(context: &Context<'_>, regression: &Glm<'_>, group: &str, groups: usize) -> String {
    let design = context.design;
    let slopes = &design.terms[usize::from(design.has_intercept)..];
    let terms = match (design.has_intercept, slopes.is_empty()) {
        (true, true) => "an intercept".to_owned(),
        (true, false) => format!("an intercept, and a coefficient times {}", each_of(slopes)),
        (false, _) => format!("a coefficient times {}", each_of(slopes)),
    };
    let offset = if design.offset.is_some() {
        " An offset with the coefficient 1 is added."
    } else {
        ""
    };
    let scale = if context.options.standardize {
        "per standard deviation of a predictor, with the intercept at average predictors"
    } else {
        "per unit of a predictor, with the intercept where all predictors are 0"
    };
    let (means, covariance) = priors(context);
    let same = means.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let shown = if same { &means[..1] } else { &means[..] };
    let shown: Vec<&str> = shown.iter().map(|(_, prior)| *prior).collect();
    format!(
        "{} is a sum: {terms}, all with their own value in each of the {groups} groups of `{group}`.{offset}{} These values \
         are multivariate normal over groups, with mean `mu` and covariance `Sigma`. Priors, for coefficients {scale}, are \
         {} for `mu` given `Sigma` and {covariance} for `Sigma`. {}",
        regression.notation.predicted,
        context.weights(),
        shown.join(", "),
        context.rows(),
    )
}

fn equation(
    context: &Context<'_>,
    regression: &Glm<'_>,
    prior: &NormalInverseWishart,
    group: &str,
) -> String {
    let design = context.design;
    let mut lines = regression.notation.response.clone();
    let mut sum: Vec<String> = (design.terms.iter())
        .map(|term| match term.as_str() {
            INTERCEPT => format!("theta[{group}[i],Intercept]"),
            term => format!("theta[{group}[i],{term}] × {term}[i]"),
        })
        .collect();
    if design.offset.is_some() {
        sum.push("offset[i]".to_owned());
    }
    lines.push(format!("eta[i] = {}", sum.join(" + ")));
    if design.weights.is_some() {
        lines.push("row i counts weight[i] times".to_owned());
    }
    let g = index_letter(group);
    lines.push(format!(
        "theta[{g}] ~ multi_normal(mu, Sigma) for all groups {g} of {group}"
    ));
    let (means, covariance) = priors(context);
    let names: Vec<&str> = means.iter().map(|(name, _)| *name).collect();
    let centre = match prior.mean.iter().all(|mean| *mean == 0.0) {
        true => "0".to_owned(),
        false => format!("({})", numbers(&prior.mean)),
    };
    lines.push(format!(
        "mu ~ multi_normal({centre}, Sigma/{}), mu = ({})",
        number(prior.strength),
        names.join(", ")
    ));
    lines.push(format!("Sigma ~ {covariance}"));
    if context.options.standardize {
        lines.push(
            "with predictors centred and scaled to standard deviation 1 in the last relations"
                .to_owned(),
        );
    }
    lines.push(format!("i = 1 … {}", design.rows_used));
    lines.join("\n")
}

/// A diagonal matrix in Stan of a row-major matrix that is one.
fn diagonal(matrix: &[f64], p: usize) -> String {
    let entries: Vec<f64> = (0..p).map(|i| matrix[i * p + i]).collect();
    format!("diag_matrix([{}]')", numbers(&entries))
}

fn stan(
    context: &Context<'_>,
    regression: &Glm<'_>,
    prior: &NormalInverseWishart,
    group: &str,
) -> String {
    let design = context.design;
    let (p, first) = (design.terms.len(), usize::from(design.has_intercept));
    let (slopes, k) = (&design.terms[first..], p - first);
    let standardize = context.options.standardize;
    let mut program = Program::begin(design);
    program.data.extend([
        format!("int<lower=1> G;  // groups of {}", comment(group)),
        "array[N] int<lower=1, upper=G> g;  // that of each row".to_owned(),
    ]);
    program.columns(slopes);
    program
        .data
        .extend_from_slice(&regression.notation.stan_data);
    program.offset_and_weights(design);
    let mut columns = if standardize && k > 0 {
        program.scales(design, first..p);
        "(x - rep_matrix(centre, N)) ./ rep_matrix(scale, N)".to_owned()
    } else {
        "x".to_owned()
    };
    let ones = "rep_matrix(1, N, 1)";
    columns = match (design.has_intercept, k) {
        (true, 0) => ones.to_owned(),
        (true, _) => format!("append_col({ones}, {columns})"),
        (false, _) => columns,
    };
    program
        .transformed_data
        .push(format!("matrix[N, {p}] z = {columns};"));
    program.parameters.extend([
        format!("vector[{p}] mu;  // means over groups"),
        format!("cov_matrix[{p}] Sigma;  // covariance between groups"),
        format!(
            "matrix[{p}, G] v;  // deviations of groups from mu, uncorrelated with unit variance"
        ),
    ]);
    program.transformed_parameters.push(format!(
        "matrix[{p}, G] theta = rep_matrix(mu, G) + cholesky_decompose(Sigma) * v;"
    ));
    let offset = if design.offset.is_some() {
        " + offset_"
    } else {
        ""
    };
    program.model.extend([
        format!("vector[N] eta = rows_dot_product(z, theta[ : , g]'){offset};"),
        format!(
            "mu ~ multi_normal([{}]', Sigma / {});",
            numbers(&prior.mean),
            number(prior.strength)
        ),
        format!(
            "Sigma ~ inv_wishart({}, {});",
            number(prior.dof),
            diagonal(&prior.scale, p)
        ),
        "to_vector(v) ~ std_normal();".to_owned(),
    ]);
    program.model.extend(regression.stan_likelihood());
    if standardize && k > 0 {
        let to_raw = if design.has_intercept {
            "append_col(append_row([1]', rep_vector(0, K)), append_row(-centre ./ scale, diag_matrix((1 ./ scale)')))"
                .replace('K', &k.to_string())
        } else {
            "diag_matrix((1 ./ scale)')".to_owned()
        };
        program.generated.extend([
            "// on the scale of the columns of x".to_owned(),
            format!("matrix[{p}, {p}] T = {to_raw};"),
            format!("vector[{p}] mu_x = T * mu;"),
            format!("matrix[{p}, {p}] Sigma_x = T * Sigma * T';"),
            format!("matrix[{p}, G] theta_x = T * theta;"),
        ]);
    }
    program.text()
}
