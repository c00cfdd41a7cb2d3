//! Two likelihood fits of the same rows, one inside the other, compared by their likelihood ratio: what `anova` of lme4 does.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF as _};

use super::likelihood::LikelihoodFit;
use ergodic_core::estimators::mixed::Criterion;
use ergodic_core::formula::{Factor, Formula};

/// What the likelihood of the larger model may be below that of the smaller one, by the tolerance of the search.
const ROUNDING: f64 = 1e-4;

/// Why two fits cannot be compared: one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatioError {
    /// Models of different rows.
    #[error(
        "The models use {0} and {1} rows, so their likelihoods are of different data; leave out rows with missing values first"
    )]
    Rows(usize, usize),
    /// Models of different outcomes or families.
    #[error("The models have different outcomes or families, whose likelihoods cannot be compared")]
    Outcomes,
    /// REML, which depends on the predictors.
    #[error(
        "Restricted likelihoods of models with different predictors cannot be compared; both must be fitted by maximum likelihood"
    )]
    Restricted,
    /// Neither is part of the other.
    #[error(
        "Neither model is part of the other: `{term}` is only in one and the other has terms of its own; a likelihood ratio compares \
         a model with one that has some of its terms"
    )]
    NotNested {
        /// A term that only the smaller model has.
        term: String,
    },
    /// An offset that one model adds, and to which the other gives no coefficient.
    #[error(
        "`offset({offset})` is only in one of the models, so neither is part of the other; fit each by itself and compare their AIC"
    )]
    Offset {
        /// What is added.
        offset: String,
    },
    /// Models with equally many parameters.
    #[error("The models have the same terms, so there is nothing to compare")]
    Same,
}

/// One of the models.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Formula of the model.
    pub formula: String,
    /// Parameters of the model, variances and correlations included.
    pub parameters: usize,
    /// Maximum of the model's log likelihood.
    pub log_lik: f64,
    /// Akaike's criterion.
    pub aic: f64,
    /// Schwarz's criterion.
    pub bic: f64,
}

/// A likelihood-ratio test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LikelihoodRatio {
    /// The model with fewer parameters.
    pub smaller: Side,
    /// The one with more.
    pub larger: Side,
    /// Twice the difference of the log likelihoods.
    pub statistic: f64,
    /// Difference of the numbers of parameters.
    pub df: usize,
    /// Chance of so large a statistic if the smaller model is true: of χ² with `df` degrees of freedom.
    pub p_value: f64,
    /// Whether the models differ in variances, which the smaller one sets to 0: at that edge of what they can be the chance is too
    /// large, twice as large for a single variance (Self and Liang 1987, Journal of the American Statistical Association 82).
    pub at_edge: bool,
}

impl LikelihoodRatio {
    /// The result of the test in one sentence.
    pub fn sentence(&self) -> String {
        let edge = match (self.at_edge, self.df) {
            (false, _) => "",
            (true, 1) => ", and half of that where a variance is tested, which cannot be negative",
            (true, _) => {
                ", and less than that where variances are tested, which cannot be negative"
            }
        };
        format!(
            "If `{}` is true, twice the logarithm of the likelihood ratio is {} or more on {} {} with probability {}{edge}",
            self.smaller.formula,
            ergodic_base::numerals::significant(self.statistic, 4),
            self.df,
            if self.df == 1 {
                "degree of freedom"
            } else {
                "degrees of freedom"
            },
            ergodic_base::numerals::significant(self.p_value, 3),
        )
    }
}

/// Compares two fits of the same data by maximum likelihood, in either order.
///
/// # Errors
/// They are of different rows, outcomes or families, by REML, or neither is part of the other.
pub fn likelihood_ratio(
    a: &LikelihoodFit,
    b: &LikelihoodFit,
) -> Result<LikelihoodRatio, RatioError> {
    let (smaller, larger) = match a.fit.num_params <= b.fit.num_params {
        true => (a, b),
        false => (b, a),
    };
    if a.fit.num_obs != b.fit.num_obs {
        return Err(RatioError::Rows(a.fit.num_obs, b.fit.num_obs));
    }
    if a.response.name != b.response.name || a.fit.family != b.fit.family {
        return Err(RatioError::Outcomes);
    }
    if [a, b]
        .iter()
        .any(|it| it.fit.criterion == Criterion::Reml.name())
    {
        return Err(RatioError::Restricted);
    }
    let [few, many] = [smaller, larger].map(terms);
    if let Some(term) = few.iter().find(|term| !many.contains(term)) {
        return Err(RatioError::NotNested { term: term.clone() });
    }
    // A coefficient contains the offset, which is a coefficient of 1.
    let [one, other] = [smaller, larger].map(offsets);
    let only_in = |a: &[String], b: &[String]| {
        let mut alone = a.iter().filter(|it| !b.contains(it) && !many.contains(it));
        alone.next().cloned()
    };
    if let Some(offset) = only_in(&one, &other).or_else(|| only_in(&other, &one)) {
        return Err(RatioError::Offset { offset });
    }
    let df = larger.fit.num_params - smaller.fit.num_params;
    if df == 0 {
        return Err(RatioError::Same);
    }
    let statistic = 2.0 * (larger.fit.log_lik - smaller.fit.log_lik);
    let statistic = match statistic < 0.0 && statistic > -ROUNDING {
        true => 0.0,
        false => statistic,
    };
    let side = |fit: &LikelihoodFit| Side {
        formula: fit.recipe.model.formula.clone(),
        parameters: fit.fit.num_params,
        log_lik: fit.fit.log_lik,
        aic: fit.fit.aic,
        bic: fit.fit.bic,
    };
    let variances = |fit: &LikelihoodFit| {
        fit.fit
            .components
            .iter()
            .map(|it| it.names.len())
            .sum::<usize>()
            + fit.fit.curves.len()
    };
    let p_value = ChiSquared::new(df as f64).map_or(f64::NAN, |chi| chi.sf(statistic));
    Ok(LikelihoodRatio {
        at_edge: variances(larger) > variances(smaller),
        smaller: side(smaller),
        larger: side(larger),
        statistic,
        df,
        p_value,
    })
}

/// What the formula of a fit adds to the linear predictor, without coefficients.
fn offsets(fit: &LikelihoodFit) -> Vec<String> {
    let formula = fit.recipe.model.formula.parse::<Formula>();
    let offsets = formula.map(|formula| formula.offsets).unwrap_or_default();
    offsets.iter().map(Factor::to_string).collect()
}

/// Names of all that a fit estimates besides a scale: coefficients, varying effects, and their correlations.
fn terms(fit: &LikelihoodFit) -> Vec<String> {
    let fixed = fit.fit.fixed.iter().map(|effect| effect.name.clone());
    let components = fit.fit.components.iter().flat_map(|component| {
        let names = component.names.iter();
        let varying = names.map(|name| format!("{name} | {}", component.group));
        let pairs = component.names.iter().enumerate().flat_map(move |(k, a)| {
            let others = component.names[..k].iter().filter(|_| component.correlated);
            others.map(move |b| format!("{b}, {a} | {}", component.group))
        });
        varying.chain(pairs)
    });
    // The straight line of a curve is the column that it goes along.
    let curves = fit.fit.curves.iter();
    let curves = curves.flat_map(|curve| [curve.along.clone(), format!("{} bends", curve.name)]);
    fixed.chain(components).chain(curves).collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::Recipe;
    use crate::likelihood::{LikelihoodOptions, fit};
    use ergodic_base::Control;

    fn lme4(file: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/reference/lme4")
            .join(file)
    }

    fn fitted(set: &str, formula: &str, reml: bool) -> LikelihoodFit {
        let path = lme4(&format!("{set}.csv"));
        let recipe = Recipe::new(path.to_str().unwrap(), "linear", formula);
        let options = LikelihoodOptions {
            reml,
            ..LikelihoodOptions::of(&recipe)
        };
        fit(&recipe, Path::new(""), None, &options, &Control::default()).unwrap()
    }

    /// Numbers of `anova` of two ML fits, from `tests/reference/satterthwaite.R`.
    fn reference(id: &str, quantity: &str) -> f64 {
        let text = std::fs::read_to_string(lme4("tests.csv")).unwrap();
        let key = format!("{id},{quantity},,");
        let line = text.lines().find_map(|line| line.strip_prefix(&key));
        line.unwrap().parse().unwrap()
    }

    #[test]
    fn statistics_and_p_values_are_those_of_lme4() {
        let sets = [
            (
                "balanced",
                "balanced",
                "y ~ x + (1 | g)",
                "y ~ 1 + (1 | g)",
                false,
            ),
            (
                "unbalanced",
                "unbalanced",
                "y ~ x + f + (1 | g)",
                "y ~ x + (1 | g)",
                false,
            ),
            (
                "crossed",
                "crossed",
                "y ~ x + (1 | subject) + (1 | item)",
                "y ~ x + (1 | subject)",
                true,
            ),
            (
                "crossed-slope",
                "crossed",
                "y ~ x + (1 + x | subject) + (1 | item)",
                "y ~ x + (1 | subject) + (1 | item)",
                true,
            ),
            (
                "nested",
                "nested",
                "y ~ x + (1 | school) + (1 | school:class)",
                "y ~ x + (1 | school)",
                true,
            ),
            (
                "slopes",
                "slopes",
                "y ~ day + (day | subject)",
                "y ~ day + (1 | subject)",
                true,
            ),
            (
                "independent",
                "slopes",
                "y ~ day + (day || subject)",
                "y ~ 1 + (day || subject)",
                false,
            ),
        ];
        for (id, set, larger, smaller, at_edge) in sets {
            let [larger, smaller] = [larger, smaller].map(|formula| fitted(set, formula, false));
            let found = likelihood_ratio(&smaller, &larger).unwrap();
            assert_eq!(found, likelihood_ratio(&larger, &smaller).unwrap(), "{id}");
            let there = reference(id, "chisq");
            assert!(
                (found.statistic / there - 1.0).abs() < 1e-8,
                "{id}: {found:?}, not {there}"
            );
            assert_eq!(found.df as f64, reference(id, "chisq_df"), "{id}");
            let p = reference(id, "chisq_p");
            assert!(
                (found.p_value.ln() - p.ln()).abs() < 1e-8,
                "{id}: {found:?}, not {p}"
            );
            assert_eq!(found.at_edge, at_edge, "{id}");
        }
    }

    /// An offset is a coefficient of 1, which a model that estimates the coefficient contains, and one without it does not.
    #[test]
    fn offsets_of_one_model_are_coefficients_of_the_other_or_are_refused() {
        let plain = fitted("counts", "y ~ x", false);
        let offset = fitted("counts", "y ~ x + offset(log(e))", false);
        let refused = Err(RatioError::Offset {
            offset: "log(e)".to_owned(),
        });
        assert_eq!(likelihood_ratio(&plain, &offset), refused);
        assert_eq!(likelihood_ratio(&offset, &plain), refused);
        let more = fitted("counts", "y ~ x + g", false);
        assert_eq!(likelihood_ratio(&more, &offset), refused);
        let estimated = fitted("counts", "y ~ x + log(e)", false);
        let found = likelihood_ratio(&offset, &estimated).unwrap();
        assert_eq!(found.df, 1);
        assert!(found.statistic >= 0.0, "{found:?}");
        let same = fitted("counts", "y ~ x + offset(x)", false);
        assert_eq!(likelihood_ratio(&plain, &same), Err(RatioError::Same));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let one = fitted("unbalanced", "y ~ x + (1 | g)", false);
        let other = fitted("unbalanced", "y ~ f + (1 | g)", false);
        let refused = likelihood_ratio(&one, &other);
        assert_eq!(
            refused,
            Err(RatioError::NotNested {
                term: "x".to_owned()
            })
        );
        assert_eq!(likelihood_ratio(&one, &one), Err(RatioError::Same));
        let restricted = fitted("unbalanced", "y ~ x + f + (1 | g)", true);
        assert_eq!(
            likelihood_ratio(&one, &restricted),
            Err(RatioError::Restricted)
        );
        let else_where = fitted("balanced", "y ~ x + (1 | g)", false);
        assert!(matches!(
            likelihood_ratio(&one, &else_where),
            Err(RatioError::Rows(..))
        ));
    }
}
