//! What samplers cost beside each other: relative computational time (Dang et al. 2019, section 5.2 and Table 1).
//!
//! The cost of a parameter is the number of log densities and gradients of single rows per effective draw of it; relative to another
//! sampler's of the same parameter it is a number per parameter, of which the least, the median and the largest are shown.

use ergodic_diagnostics::quantiles::median;

use super::{Measured, Row, Variant};

/// The sampler that costs are related to where it is among those compared.
const UNIT: &str = ergodic_core::samplers::names::HMC_ECS;

/// The least, the median and the largest over parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

/// Costs as multiples of another sampler's, over parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relative {
    /// Of whole runs, warm-up included.
    pub whole: Spread,
    /// Of the draws after the warm-up.
    pub after_warmup: Spread,
}

/// The run whose cost is the unit of the others: the first of HMC-ECS, as in Table 1 of Dang et al. (2019), where it was run, else the
/// cheapest. `None` where nothing was measured.
pub fn unit_of_cost(rows: &[Row]) -> Option<(&Variant, &Measured)> {
    let costs = rows.iter().filter_map(|row| {
        let measured = row.outcome.as_ref().ok()?;
        (measured.rows_per_ess > 0.0).then_some((&row.variant, measured))
    });
    let of_paper = (costs.clone()).find(|(variant, _)| variant.entry.spec.id == UNIT);
    of_paper.or_else(|| costs.min_by(|a, b| a.1.rows_per_ess.total_cmp(&b.1.rows_per_ess)))
}

impl Measured {
    /// The costs beside those of `unit`; `None` where no parameter has effective draws in both.
    pub fn relative_to(&self, unit: &Self) -> Option<Relative> {
        let pairs = || {
            let pairs = self.costs.iter().zip(&unit.costs);
            pairs.filter_map(|(own, unit)| Some(((*own)?, (*unit)?)))
        };
        let spread = |which: usize| {
            let ratios: Vec<f64> = pairs()
                .map(|(own, unit)| own[which] / unit[which])
                .collect();
            Some(Spread {
                min: ratios.iter().copied().reduce(f64::min)?,
                median: median(&[&ratios]).ok()?,
                max: ratios.iter().copied().reduce(f64::max)?,
            })
        };
        Some(Relative {
            whole: spread(0)?,
            after_warmup: spread(1)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(variant: &str, costs: &[f64]) -> Row {
        let worst = costs.iter().copied().fold(f64::NAN, f64::max);
        Row {
            variant: variant.parse().unwrap(),
            outcome: Ok(Measured {
                seconds: 1.0,
                mean_shift: 0.0,
                sd_ratio: (1.0, 1.0),
                rhat: 1.0,
                ess: 100.0,
                inefficiency: 1.0,
                rows_per_ess: worst,
                rows_share: 1.0,
                costs: (costs.iter())
                    .map(|&cost| Some([cost, 0.5 * cost * cost]))
                    .collect(),
                accept: None,
                accept_rows: None,
                positive: None,
                curves: [].into(),
            }),
        }
    }

    fn failed(variant: &str) -> Row {
        Row {
            variant: variant.parse().unwrap(),
            outcome: Err("every chain failed".to_owned()),
        }
    }

    #[test]
    fn costs_are_relative_to_hmc_ecs_or_the_cheapest() {
        let unit = |rows: &[Row]| {
            let (variant, measured) = unit_of_cost(rows)?;
            Some((variant.to_string(), measured.rows_per_ess))
        };
        let rows = [
            row("nuts", &[90.0]),
            row("hmc-ecs:order=1", &[9.0]),
            row("hmc-ecs", &[2.0]),
        ];
        assert_eq!(unit(&rows), Some(("hmc-ecs:order=1".to_owned(), 9.0)));
        let rows = [
            row("nuts", &[f64::NAN]),
            failed("hmc-ecs"),
            row("mala", &[5.0]),
            row("zig-zag", &[3.0]),
        ];
        assert_eq!(unit(&rows), Some(("zig-zag".to_owned(), 3.0)));
        assert_eq!(unit(&[failed("nuts")]), None);
    }

    #[test]
    fn relative_costs_are_taken_parameter_by_parameter() {
        let mut other = row("nuts", &[2.0, 9.0, 8.0, 5.0]).outcome.unwrap();
        let mut unit = row("mala", &[1.0, 3.0, 1.0, 7.0]).outcome.unwrap();
        // A constant has no cost.
        other.costs[3] = None;
        let relative = other.relative_to(&unit).unwrap();
        let spread = |min, median, max| Spread { min, median, max };
        assert_eq!(relative.whole, spread(2.0, 3.0, 8.0));
        assert_eq!(relative.after_warmup, spread(4.0, 9.0, 64.0));
        unit.costs.clear();
        assert_eq!(other.relative_to(&unit), None);
    }
}
