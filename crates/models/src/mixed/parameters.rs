//! What the template reports of a group term, and the priors of it.

use super::MANY_ROWS;
use super::options::{CLASSES, DEFAULT_ETA, Parametrisation, eta_of};
use super::terms::{GroupTerm, MAX_EFFECTS};
use crate::coefficients::{INTERCEPT, SLOPES};
use crate::cut_points::CUTS;
use crate::design::{Design, GroupDesign};
use crate::families::rows::ResponseScale;
use crate::positive::{Positive, PositiveSpec};
use crate::prior::Prior;
use crate::{ModelError, ModelOptions, ParamInfo, PriorSource, names};
use ergodic_base::{Class, ParamId};

/// Group term number `place` with its priors, and its scales as they are reported; places in u follow.
pub(super) fn make_term(
    design: &Design,
    group: &GroupDesign,
    place: usize,
    response: ResponseScale,
    quantity: &str,
    options: &ModelOptions,
    parametrisation: Parametrisation,
) -> Result<(GroupTerm, Vec<ParamInfo>), ModelError> {
    let factor = &design.groups[group.factor];
    let name = &factor.name;
    if group.names.len() > MAX_EFFECTS {
        return Err(ModelError::unfit(
            names::MIXED,
            format!(
                "takes at most {MAX_EFFECTS} effects in a group term, and that of `{name}` has {}; leave some out",
                group.names.len()
            ),
        ));
    }
    let mut infos = Vec::new();
    let mut sds = Vec::new();
    let units: Vec<f64> = group
        .scale
        .iter()
        .map(|scale| response.scale / scale)
        .collect();
    for (effect, &unit) in group.names.iter().zip(&units) {
        let (of, per) = match effect.as_str() {
            ergodic_base::INTERCEPT => (quantity.to_owned(), ""),
            effect => (
                format!("the effect of {effect} on {quantity}"),
                "per standard deviation",
            ),
        };
        let mut unit_words = per.to_owned();
        if response.identity {
            let comma = if per.is_empty() { "" } else { ", in " };
            unit_words.push_str(&format!("{comma}sd of `{}`", design.response.name));
        }
        let spec = PositiveSpec {
            name: ParamId::of(Class::Sd, [name, effect]),
            class: "sd",
            meaning: format!("standard deviation of {of} between groups of {name}"),
            lower: 0.0,
            unit,
            unit_words,
            default: Prior::StudentT {
                df: 3.0,
                location: 0.0,
                scale: options.defaults.group_scale(),
            },
        };
        let (sd, info) = Positive::new(spec, options)?;
        sds.push(sd);
        infos.push(info);
    }
    let given = options
        .prior(&ParamId::of(Class::Correlation, [name]))
        .or_else(|| options.prior("cor"));
    let (eta, source) = match given {
        Some(text) => (eta_of(text)?, PriorSource::USER),
        None => (DEFAULT_ETA, PriorSource::DEFAULT),
    };
    let known = options.well_known.get(place).cloned();
    let (q, num_levels) = (group.names.len(), factor.levels.len());
    let rows_per_effect = design.num_obs() / (num_levels * q).max(1);
    let term = GroupTerm {
        group: name.clone(),
        names: group.names.clone(),
        levels: factor.levels.clone(),
        index: factor.index.clone(),
        z: group.z.iter().copied().collect(),
        units: if options.report_standardized {
            vec![1.0; q]
        } else {
            units
        },
        correlated: group.correlated,
        centred: match parametrisation {
            Parametrisation::Centred => vec![true; num_levels],
            Parametrisation::NonCentred => vec![false; num_levels],
            Parametrisation::Auto if options.working.is_some() => vec![true; num_levels],
            Parametrisation::Auto => {
                known.unwrap_or_else(|| vec![rows_per_effect >= MANY_ROWS; num_levels])
            }
        },
        eta,
        sds,
        scales: 0..0,
        effects: 0..num_levels * q,
        start: 0,
    };
    infos.extend(term.pairs().map(|(j, k)| {
        let (a, b) = (&term.names[k], &term.names[j]);
        ParamInfo {
            name: ParamId::of(Class::Correlation, [name, a, b]),
            meaning: format!("correlation of the effects {a} and {b} between groups of {name}"),
            prior: format!("lkj({eta})").into(),
            prior_source: source.clone(),
        }
    }));
    Ok((term, infos))
}

/// The effects of all groups as they are reported.
pub(super) fn effect_params<'a>(
    term: &'a GroupTerm,
    quantity: &'a str,
) -> impl Iterator<Item = ParamInfo> + 'a {
    let group = &term.group;
    term.levels.iter().flat_map(move |level| {
        term.names.iter().map(move |effect| ParamInfo {
            name: ParamId::of(Class::Effect, [group, level, effect]),
            meaning: if effect == ergodic_base::INTERCEPT {
                format!("how {group} {level} differs from the average group in {quantity}")
            } else {
                format!("how {group} {level} differs from the average group in the effect of {effect} on {quantity}")
            },
            prior: format!("normal(0, {})", ParamId::of(Class::Sd, [group, effect])).into(),
            prior_source: PriorSource::MODEL,
        })
    })
}

/// Refuses priors of parameters that the model does not have.
pub(super) fn check_keys(
    params: &[ParamInfo],
    terms: &[GroupTerm],
    options: &ModelOptions,
) -> Result<(), ModelError> {
    let correlations: Vec<ParamId> = terms
        .iter()
        .filter(|term| term.num_correlations() > 0)
        .map(|term| ParamId::of(Class::Correlation, [&term.group]))
        .collect();
    let has_sds = params.iter().any(|param| param.name.class() == Class::Sd);
    let names: Vec<&str> = params
        .iter()
        .map(|param| &param.name)
        .filter(|name| {
            let class = name.class();
            !matches!(
                class,
                Class::Bend
                    | Class::Effect
                    | Class::VarianceShare
                    | Class::Correlation
                    | Class::CutPoint
            )
        })
        .chain(&correlations)
        .map(ParamId::as_str)
        .collect();
    let has_cuts = (params.iter()).any(|param| param.name.class() == Class::CutPoint);
    // Keys of parameters that this family or formula has.
    let classes: Vec<(&str, &str)> = CLASSES
        .into_iter()
        .filter(|(class, _)| match *class {
            "sd" => has_sds,
            "cor" => !correlations.is_empty(),
            class if class == INTERCEPT.0 => !has_cuts,
            class if class == CUTS.0 => has_cuts,
            class if class == SLOPES.0 => true,
            of_family => names.contains(&of_family),
        })
        .collect();
    options.check_priors(&classes, &names)
}
