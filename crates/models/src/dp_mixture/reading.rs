//! From a design to units with numeric columns and categories.

use super::counts::{Block, Counts};
use super::mixture::Mixture;
use super::numeric::Numeric;
use super::{
    Covariances, Design, DpMixture, DpMixtureSettings, MOST_FULL, ModelError, ModelOptions,
    Predictor, Priors, Template as _,
};
use crate::units::Units;
use ergodic_base::settings::Declared as _;

/// Id of the template.
const TEMPLATE: &str = DpMixture::SPEC.id;

/// The mixture of a design, as the options say, and the unit of each row.
pub(super) fn mixture(
    design: &Design,
    options: &ModelOptions,
    priors: &Priors,
) -> Result<(Mixture, Vec<u32>), ModelError> {
    if design.columns.is_empty() {
        return Err(unfit(
            "needs columns to cluster by; write `~ x1 + x2`, or `~ item + (1 | user)` for long data",
        ));
    }
    if design.offset.is_some() {
        return Err(unfit(
            "has no linear predictor that an offset could be added to; leave `offset(…)` out",
        ));
    }
    let mut units = Units::of(design, TEMPLATE)?;
    let total = units.names.len();
    let share = DpMixtureSettings::read(&options.settings)?.held_out;
    // Rows were shuffled at import, so that the last ones are as good as random; users are not: the busy ones come first.
    if share > 0.0 && !design.group_terms.is_empty() {
        units.shuffle();
    }
    let held_out = (share * total as f64).floor() as usize;
    if total - held_out < 2 {
        return Err(ModelError::Data(format!(
            "Clustering needs at least two units and there {} {} of {total} after `model.held_out`; use more rows{}",
            if total - held_out == 1 { "is" } else { "are" },
            total - held_out,
            if design.group_terms.is_empty() {
                ""
            } else {
                " or another group"
            }
        )));
    }
    let numeric = numeric(design, options, priors, total - held_out)?;
    let counts = counts(design, priors, &units)?;
    let mixture = Mixture::new(units.names, held_out, numeric, counts, priors.alpha.0);
    Ok((mixture, units.of_row))
}

fn unfit(why: impl Into<String>) -> ModelError {
    ModelError::unfit(TEMPLATE, why)
}

/// Refuses a column that cannot tell units apart.
fn refuse_constant(name: &str, value: &str) -> ModelError {
    ModelError::Data(format!(
        "Column `{name}` has the single value `{value}`, so it cannot tell clusters apart; leave it out"
    ))
}

fn numeric(
    design: &Design,
    options: &ModelOptions,
    priors: &Priors,
    num_units: usize,
) -> Result<Option<Numeric>, ModelError> {
    let columns: Vec<(&String, &Vec<f64>)> = design
        .columns
        .iter()
        .filter_map(|(name, column)| match column {
            Predictor::Numeric(values) => Some((name, values)),
            _ => None,
        })
        .collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let (mut center, mut scale) = (Vec::new(), Vec::new());
    for (name, values) in &columns {
        // Those held out take no part.
        let values = &values[..num_units];
        if let Some(units) = &design.fixed_units {
            let [mean, sd] = units[center.len()];
            center.push(mean);
            scale.push(sd);
            continue;
        }
        let n = num_units as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let sd = (squares / n).sqrt();
        // As good as constant: the rest is rounding.
        if sd <= 1e-14 * mean.abs() || sd == 0.0 {
            return Err(refuse_constant(name, &values[0].to_string()));
        }
        center.push(mean);
        scale.push(sd);
    }
    let p = columns.len();
    let mut x = vec![0.0; p * columns[0].1.len()];
    for (j, (_, values)) in columns.iter().enumerate() {
        for (i, value) in values.iter().enumerate() {
            x[i * p + j] = (value - center[j]) / scale[j];
        }
    }
    // With `standardize = false` the prior's scale is that of the columns as they are.
    let unit: Vec<f64> = scale
        .iter()
        .map(|sd| if options.standardize { 1.0 } else { 1.0 / sd })
        .collect();
    let diagonal = match DpMixtureSettings::read(&options.settings)?.covariance {
        Covariances::Diagonal => true,
        Covariances::Full => false,
        Covariances::Auto => p > MOST_FULL,
    };
    let names = columns.iter().map(|(name, _)| (*name).clone()).collect();
    Ok(Some(Numeric::new(
        (names, center, scale),
        x,
        diagonal,
        priors.normal,
        &unit,
        num_units,
    )))
}

fn counts(design: &Design, priors: &Priors, units: &Units) -> Result<Option<Counts>, ModelError> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut items: Vec<Vec<u32>> = vec![Vec::new(); units.names.len()];
    for (name, column) in &design.columns {
        let Predictor::Categorical { levels, codes, .. } = column else {
            continue;
        };
        if let [only] = levels.as_slice() {
            return Err(refuse_constant(name, only));
        }
        let first = blocks.last().map_or(0, |block| block.items.end);
        for (code, &unit) in codes.iter().zip(&units.of_row) {
            items[unit as usize].push(first as u32 + code);
        }
        blocks.push(Block {
            name: name.clone(),
            levels: levels.clone(),
            items: first..first + levels.len(),
            concentration: priors.concentration,
        });
    }
    Ok((!blocks.is_empty()).then(|| Counts::new(blocks, &items)))
}
