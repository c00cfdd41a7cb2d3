//! What the template takes: designs, priors, and the names of what it reports.

use crate::coefficients::{meaning, prior_place};
use crate::design::{Design, ResponseKind, Scaling};
use crate::numerics::wishart::NormalInverseWishart;
use crate::prior_text::{Argument, PriorError, PriorProblem, PriorText};
use crate::{
    ChosenBy, ModelError, ModelOptions, ParamInfo, PriorOf, PriorSource, PriorSpec, names,
};

use super::coordinates::MAX_TERMS;
use ergodic_base::{Class, INTERCEPT, ParamId};

const FORMS: &str = "normal(mean, Sigma/lambda) for mu, normal(mean) for the mu of one term, \
                     inv_wishart(nu, scale) for Sigma with one scale or one per term";
/// ν − P: the least whole number with which Σ has a mean.
const DOF_BEYOND: f64 = 2.0;
/// Φ = I.
const SCALE: f64 = 1.0;

pub(super) const PRIORS: PriorSpec = PriorSpec {
    classes: &[
        ("mu", "Means over groups"),
        ("Sigma", "Covariance between groups"),
    ],
    check: |text| Ok(Given::parse(text).map(|_given| ())?),
    forms: FORMS,
    example: "normal(0, Sigma/0.16)",
};

/// A prior as it is written.
#[derive(Clone, Debug, PartialEq)]
enum Given {
    /// m and λ of all terms.
    Means { mean: f64, strength: f64 },
    /// m of one term.
    Mean(f64),
    /// ν, and the diagonal of Φ: one number for all, or one each.
    Covariance { dof: f64, scale: Vec<f64> },
}

impl Given {
    fn parse(text: &str) -> Result<Self, PriorError> {
        use Argument::{Number, ShareOfSigma};
        let written = PriorText::read(text, FORMS)?;
        match (written.name, written.arguments.as_slice()) {
            ("normal", &[Number(mean)]) => Ok(Self::Mean(mean)),
            ("normal", &[Number(mean), ShareOfSigma(strength)]) if strength > 0.0 => {
                Ok(Self::Means { mean, strength })
            }
            ("normal", [_, ShareOfSigma(_)]) => Err(written.refuse(PriorProblem::Lambda)),
            ("normal", [_, Number(_)]) => Err(written.refuse(PriorProblem::Spread)),
            ("inv_wishart", [Number(dof), scales @ ..]) if !scales.is_empty() => {
                let positive = |argument: &Argument| match argument {
                    Number(scale) if *scale > 0.0 => Some(*scale),
                    _ => None,
                };
                let scale: Option<Vec<f64>> = scales.iter().map(positive).collect();
                match scale.filter(|_| *dof > 0.0) {
                    Some(scale) => Ok(Self::Covariance { dof: *dof, scale }),
                    None => Err(written.refuse(PriorProblem::Arguments)),
                }
            }
            _ => Err(written.refuse(PriorProblem::Unknown)),
        }
    }
}

/// The prior in force on the scale on which it is set, and where its parts come from.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub niw: NormalInverseWishart,
    mean_sources: Vec<PriorSource>,
    covariance_source: PriorSource,
}

/// The prior of `design` from what the recipe says.
pub(super) fn choose(design: &Design, options: &ModelOptions) -> Result<Chosen, ModelError> {
    let p = design.terms.len();
    let given = &options.priors;
    let mut chosen = Chosen {
        niw: NormalInverseWishart {
            mean: vec![0.0; p],
            // λ: what the prior of μ counts for, in groups; the sd of a coefficient where Σ = I.
            strength: 1.0 / options.defaults.sd().powi(2),
            dof: p as f64 + DOF_BEYOND,
            scale: diagonal(&vec![SCALE; p]),
        },
        mean_sources: vec![options.defaults.source(); p],
        covariance_source: PriorSource::DEFAULT,
    };
    // Means of single terms come after that of all.
    let means: Vec<ParamId> = (design.terms.iter())
        .map(|term| ParamId::of(Class::Mean, [term]))
        .collect();
    let single = |key: &String| means.iter().position(|mean| mean == key);
    let ordered = given
        .iter()
        .filter(|(key, _)| single(key).is_none())
        .chain(given.iter().filter(|(key, _)| single(key).is_some()));
    for (key, text) in ordered {
        let term = single(key);
        match (key.as_str(), term, Given::parse(text)?) {
            ("mu", None, Given::Means { mean, strength }) => {
                chosen.niw.mean.fill(mean);
                chosen.niw.strength = strength;
                chosen.mean_sources.fill(PriorSource::USER);
            }
            (_, Some(j), Given::Mean(mean)) => {
                chosen.niw.mean[j] = mean;
                chosen.mean_sources[j] = PriorSource::USER;
            }
            // As it is shown: lambda is that of all terms.
            (_, Some(j), Given::Means { mean, strength }) if strength == chosen.niw.strength => {
                chosen.niw.mean[j] = mean;
                chosen.mean_sources[j] = PriorSource::USER;
            }
            (_, Some(_), Given::Means { .. }) => {
                let share = chosen.niw.strength;
                return Err(ModelError::prior(
                    text,
                    format!(
                        "of `{key}` has a lambda of its own, but all means share one, {share}; set it by `mu`"
                    ),
                ));
            }
            ("Sigma", None, Given::Covariance { dof, scale }) => {
                let entries = match scale.len() {
                    1 => vec![scale[0]; p],
                    len if len == p => scale,
                    len => {
                        let terms = design.terms.join(", ");
                        return Err(ModelError::prior(
                            text,
                            format!(
                                "has {len} scales for {p} terms; give one, or one for each of {terms}"
                            ),
                        ));
                    }
                };
                if dof <= p as f64 - 1.0 {
                    let (least, default) = (p - 1, p as f64 + DOF_BEYOND);
                    return Err(ModelError::prior(
                        text,
                        format!(
                            "of `Sigma` needs more than {least} degrees of freedom with {p} terms; {default} is the default"
                        ),
                    ));
                }
                chosen.niw.dof = dof;
                chosen.niw.scale = diagonal(&entries);
                chosen.covariance_source = PriorSource::USER;
            }
            ("mu" | "Sigma", None, _) | (_, Some(_), _) => {
                let why = format!("is not one for `{key}`; write {FORMS}");
                return Err(ModelError::prior(text, why));
            }
            _ => {
                let known = format!("mu, {}, Sigma", means.join(", "));
                return Err(ModelError::unknown_parameter(key, known));
            }
        }
    }
    Ok(chosen)
}

fn diagonal(entries: &[f64]) -> Vec<f64> {
    let p = entries.len();
    let mut out = vec![0.0; p * p];
    for (i, entry) in entries.iter().enumerate() {
        out[i * p + i] = *entry;
    }
    out
}

/// A ← T A T' for the linear `map` T of vectors.
pub(super) fn map_both_sides(a: &mut [f64], dim: usize, map: impl Fn(&[f64]) -> Vec<f64>) {
    for _ in 0..2 {
        for row in a.chunks_exact_mut(dim) {
            let mapped = map(row);
            row.copy_from_slice(&mapped);
        }
        for i in 0..dim {
            for j in 0..i {
                a.swap(i * dim + j, j * dim + i);
            }
        }
    }
}

/// The prior on the scale on which sampling happens, and on that of reports.
pub(super) fn on_both_scales(
    chosen: &Chosen,
    scaling: &Scaling,
    options: &ModelOptions,
) -> (NormalInverseWishart, NormalInverseWishart) {
    let mapped = |map: &dyn Fn(&[f64], &mut [f64])| {
        let apply = |from: &[f64]| {
            let mut to = from.to_vec();
            map(from, &mut to);
            to
        };
        let mut niw = chosen.niw.clone();
        niw.mean = apply(&niw.mean);
        map_both_sides(&mut niw.scale, chosen.niw.dim(), apply);
        niw
    };
    let unchanged = || chosen.niw.clone();
    let (standardised, raw) = if options.standardize {
        (unchanged(), mapped(&|u, raw| scaling.to_raw(u, raw)))
    } else {
        (mapped(&|raw, u| scaling.to_scaled(raw, u)), unchanged())
    };
    let reported = if options.report_standardized {
        standardised.clone()
    } else {
        raw
    };
    (standardised, reported)
}

/// Places (i, j), i ≤ j, of the upper triangle by rows.
pub(super) fn upper_triangle(dim: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dim).flat_map(move |i| (i..dim).map(move |j| (i, j)))
}

/// μ, the upper triangle of Σ, θ by groups.
pub(super) fn params(design: &Design, chosen: &Chosen, options: &ModelOptions) -> Vec<ParamInfo> {
    let (terms, niw) = (&design.terms, &chosen.niw);
    let factor = &design.groups[design.group_terms[0].factor];
    let p = terms.len();
    let quantity = format!("log odds of {}", design.response.name);
    let what = |j: usize| meaning(design, j, &quantity, options.report_standardized);
    let scale = |j: usize| prior_place(design.has_intercept && j == 0, !options.standardize);
    let means = (0..p).map(|j| ParamInfo {
        name: ParamId::of(Class::Mean, [&terms[j]]),
        meaning: format!("mean over groups by {}: {}", factor.name, what(j)),
        prior: format!("normal({}, Sigma/{})", niw.mean[j], niw.strength).into(),
        prior_source: chosen.mean_sources[j].clone().at(scale(j)),
    });
    let scales: Vec<f64> = (0..p).map(|i| niw.scale[i * p + i]).collect();
    let same = scales.iter().all(|&s| s == scales[0]);
    let shown = if same { &scales[..1] } else { &scales[..] };
    let shown: Vec<String> = shown.iter().map(f64::to_string).collect();
    let covariance_prior = PriorOf::from(format!("inv_wishart({}, {})", niw.dof, shown.join(", ")));
    let covariances = upper_triangle(p).map(|(i, j)| ParamInfo {
        name: ParamId::of(Class::Covariance, [&terms[i], &terms[j]]),
        meaning: if i == j {
            format!("variance between groups by {}: {}", factor.name, what(i))
        } else {
            format!(
                "covariance between groups by {} of {} and {}",
                factor.name, terms[i], terms[j]
            )
        },
        prior: covariance_prior.clone(),
        prior_source: chosen.covariance_source.clone().at(scale(i)),
    });
    let effects = factor.levels.iter().flat_map(|level| {
        (0..p).map(move |j| ParamInfo {
            name: ParamId::of(Class::GroupCoefficient, [level.as_str(), terms[j].as_str()]),
            meaning: format!("in {} {level}: {}", factor.name, what(j)),
            prior: "normal(mu, Sigma)".into(),
            prior_source: PriorSource::new(ChosenBy::Model, "estimated from all groups"),
        })
    });
    means.chain(covariances).chain(effects).collect()
}

/// Refuses what the template cannot express.
pub(super) fn check_design(design: &Design) -> Result<(), ModelError> {
    let refuse = |why: String| Err(ModelError::unfit(names::HIERARCHICAL, why));
    if !matches!(
        design.response.kind,
        ResponseKind::Binary { .. } | ResponseKind::Successes
    ) {
        return refuse("needs an outcome of two values or a count of successes".to_owned());
    }
    let [group] = design.group_terms.as_slice() else {
        return match design.group_terms.len() {
            0 => refuse(
                "needs a group: give a column that role, or write `(1 + x | g)` with the same terms as the fixed part"
                    .to_owned(),
            ),
            count => refuse(format!(
                "takes one group term, and the formula has {count}; choose template `mixed` for several"
            )),
        };
    };
    let factor = &design.groups[group.factor].name;
    if !group.correlated {
        return refuse(format!(
            "has correlated effects; write `|` instead of `||` before `{factor}`, or choose template `mixed`"
        ));
    }
    let lacking = |these: &[String], those: &[String]| -> Option<String> {
        let lacking: Vec<String> = these
            .iter()
            .filter(|name| !those.contains(name))
            .map(|name| match name.as_str() {
                INTERCEPT => "the intercept".to_owned(),
                name => format!("`{name}`"),
            })
            .collect();
        (!lacking.is_empty()).then(|| lacking.join(", "))
    };
    let terms: Vec<String> = design.terms.iter().map(String::from).collect();
    if let Some(names) = lacking(&terms, &group.names) {
        return refuse(format!(
            "lets all coefficients vary by group, but {names} not by `{factor}`; name the terms of the fixed part in the \
             group term too, or choose template `mixed`"
        ));
    }
    if let Some(names) = lacking(&group.names, &terms) {
        return refuse(format!(
            "has a mean over groups for every coefficient, but {names} varies by `{factor}` without one; name the same \
             terms in the fixed part"
        ));
    }
    if design.terms.len() > MAX_TERMS {
        return refuse(format!(
            "takes up to {MAX_TERMS} terms, and the formula has {}; leave some out",
            design.terms.len()
        ));
    }
    Ok(())
}
