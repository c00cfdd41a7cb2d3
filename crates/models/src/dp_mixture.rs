//! Dirichlet-process mixture: units fall into clusters, whose number is not known beforehand.
//!
//! G ~ DP(α, G₀), θ_i | G ~ G, x_i | θ_i ~ F(θ_i): with α ~ Gamma(b₁, b₂) the clusters are those units that share θ. Numeric
//! columns are normal within a cluster ([`numeric`]), categories multinomial ([`counts`]); both are independent of each other
//! there. Rows are units (`~ x + y + colour`), or items of units in long data (`~ page + (1 | user)`).
//!
//! | reported | meaning | prior |
//! |---|---|---|
//! | `k_active` | number of clusters | by α |
//! | `alpha` | concentration, if it has a prior | gamma(2, 4) |
//! | `entropy` | −Σ p ln p over the shares p of clusters | by α |
//! | `log_density` | log density of α and the partition, components integrated out, numeric columns in standard deviations | |
//! | `weight[1]`, … `weight[5]` | shares of units, largest cluster first, 0 beyond the last | by α |
//! | `held_out` | mean log predictive density of a unit held out, if some are, of columns as they are | |
//!
//! | prior | of | default, in units of each column's standard deviation |
//! |---|---|---|
//! | `numeric` | mean and covariance of a normal component: niw(κ₀, d, s) | niw(0.1, 3, 0.5) |
//! | `probabilities` | a of a multinomial component: dirichlet(a) | dirichlet(0.5), that of the paper |
//! | `alpha` | gamma(shape, rate) or constant(value) | gamma(2, 4), of Escobar and West (1995) |
//!
//! Sources: Escobar and West (1995); Baker, Fearnhead, Fox and Nemeth (2018), section 5.2 and appendix D. Identifiability:
//! labels of clusters mean nothing, so only what does not depend on them is reported, and there is no density on these
//! summaries: samplers of partitions work on [`Mixture`] instead ([`Posterior::Partition`]).

use std::sync::Arc;

use statrs::function::gamma::ln_gamma;

use super::prior_text::{PriorError, PriorProblem, PriorText};
use super::translation::{Context, Translation};
use super::units::rows_held_out;
use super::{
    ChosenBy, Model, ModelError, ModelOptions, ModelSpec, NoPriorDraws, ParamInfo, Posterior,
    Prior, PriorSource, PriorSpec, Simulation, Template,
};
use crate::design::{Design, Predictor, Remark, ResponseUse};
use ergodic_base::settings::{Declared as _, Field};
use ergodic_base::{ChainRng, Reporter};

pub mod concentration;
pub mod counts;
mod described;
pub mod mixture;
pub mod numeric;
mod reading;
mod simulate;

pub use concentration::AlphaPrior;
pub use mixture::Mixture;
pub(crate) use mixture::NUM_WEIGHTS;
use numeric::{NormalPrior, Numeric};

/// α, where the user sets none: that of Escobar and West's examples.
const DEFAULT_ALPHA: AlphaPrior = AlphaPrior::Gamma {
    shape: 2.0,
    rate: 4.0,
};
/// a, where the user sets none: that of the paper's section 5.2.
const DEFAULT_CONCENTRATION: f64 = 0.5;
/// Means spread over three within-cluster deviations, deviations around half a column's.
const DEFAULT_NORMAL: NormalPrior = NormalPrior {
    kappa: 0.1,
    df: 3.0,
    scale: 0.5,
};
/// The forms of the priors, for people.
const FORMS: &str = "niw(kappa, df, scale) for `numeric`, dirichlet(a) for `probabilities`, gamma(shape, rate) or \
                     constant(value) for `alpha`";
/// Columns up to which covariances are full by default: their number grows with the square.
const MOST_FULL: usize = 10;

ergodic_base::choice! {
    /// Which covariances clusters have.
    enum Covariances {
        /// Full up to ten columns.
        Auto = "auto",
        /// Columns are correlated.
        Full = "full",
        /// Columns are independent.
        Diagonal = "diagonal",
    }
}

ergodic_base::settings! {
    /// Settings of [`DpMixture`].
    struct DpMixtureSettings {
        covariance: Covariances = Covariances::field("Covariance", Some(Covariances::Auto))
            .help(
                "Whether numeric columns are correlated within a cluster (full) or independent there (diagonal); auto: full up \
                 to 10 columns",
            )
            .why("with many columns a cluster has too few units for all correlations");
        held_out: f64 = Field::real("Share held out", 0.0, 0.9, Some(0.0))
            .help("Share of units that take no part in the clustering; how well they are predicted is reported as held_out")
            .why("all units take part");
    }
}

/// The template `dp-mixture`.
pub(crate) struct DpMixture;

impl Template for DpMixture {
    const SPEC: ModelSpec = ModelSpec {
        id: "dp-mixture",
        title: "Dirichlet-process mixture",
        about: "Which units are alike: clusters of rows or of users, and how many there are",
        fields: DpMixtureSettings::FIELDS,
        response: |_settings| ResponseUse::Absent,
        priors: PriorSpec {
            classes: &[
                ("alpha", "Concentration of the Dirichlet process"),
                ("numeric", "Means and covariances of numeric columns"),
                ("probabilities", "Probabilities of categories"),
            ],
            check: |text| {
                let known = AlphaPrior::parse(text).is_ok()
                    || concentration_of(text).is_ok()
                    || normal_of(text).is_ok();
                let refuse = || {
                    let why = format!("is not understood; write {FORMS}, all above 0");
                    ModelError::prior(text, why)
                };
                known.then_some(()).ok_or_else(refuse)
            },
            forms: FORMS,
            example: "gamma(2, 4)",
        },
    };

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(DpMixtureModel::new(&design, options)?))
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let priors = Priors::read(&context.options.priors)?;
        let (mixture, unit_of_row) = reading::mixture(context.design, context.options, &priors)?;
        let held_out = rows_held_out(&unit_of_row, mixture.num_units());
        Ok(described::describe(context, &mixture, held_out))
    }
}

/// The prior of the text `niw(kappa, df, scale)`.
fn normal_of(text: &str) -> Result<NormalPrior, PriorError> {
    let written = PriorText::read(text, "niw(kappa, df, scale), all above 0")?;
    match written.positive("niw")? {
        Some([kappa, df, scale]) => Ok(NormalPrior { kappa, df, scale }),
        None => Err(written.refuse(PriorProblem::Unknown)),
    }
}

/// a of the text `dirichlet(a)`.
fn concentration_of(text: &str) -> Result<f64, PriorError> {
    super::categorical::concentration_of(text, "dirichlet(a) with a above 0")
}

/// Priors in force, each with where it comes from.
struct Priors {
    alpha: (AlphaPrior, PriorSource),
    concentration: f64,
    normal: NormalPrior,
}

impl Priors {
    fn read(given: &[(String, String)]) -> Result<Self, ModelError> {
        let mut priors = Self {
            alpha: (DEFAULT_ALPHA, PriorSource::DEFAULT),
            concentration: DEFAULT_CONCENTRATION,
            normal: DEFAULT_NORMAL,
        };
        for (key, text) in given {
            match key.as_str() {
                "alpha" => priors.alpha = (AlphaPrior::parse(text)?, PriorSource::USER),
                "numeric" => priors.normal = normal_of(text)?,
                "probabilities" => priors.concentration = concentration_of(text)?,
                _ => {
                    let known = "alpha, numeric, probabilities";
                    return Err(ModelError::unknown_parameter(key, known));
                }
            }
        }
        Ok(priors)
    }
}

/// A mixture and its reported summaries.
struct DpMixtureModel {
    params: Vec<ParamInfo>,
    mixture: Mixture,
    /// Unit of each row of the design.
    unit_of_row: Vec<u32>,
    /// Whether a unit has several rows, whose columns all are categories.
    is_long: bool,
}

impl DpMixtureModel {
    fn new(design: &Design, options: &ModelOptions) -> Result<Self, ModelError> {
        let priors = Priors::read(&options.priors)?;
        let (mixture, unit_of_row) = reading::mixture(design, options, &priors)?;
        Ok(Self {
            params: params(&mixture, &priors.alpha.1),
            mixture,
            unit_of_row,
            is_long: !design.group_terms.is_empty(),
        })
    }
}

/// The reported quantities, in the order in which samplers write them.
impl Mixture {
    /// The model of units that are not rows of a table.
    pub fn into_model(self) -> Arc<dyn Model> {
        Arc::new(DpMixtureModel {
            params: params(&self, &PriorSource::new(ChosenBy::Model, "fixed")),
            mixture: self,
            unit_of_row: Vec::new(),
            is_long: false,
        })
    }
}

fn params(mixture: &Mixture, alpha_source: &PriorSource) -> Vec<ParamInfo> {
    let info = |name: &str, meaning: &str, prior: &str, source: &PriorSource| ParamInfo {
        name: name.into(),
        meaning: meaning.to_owned(),
        prior: prior.into(),
        prior_source: source.clone(),
    };
    let process = "the Dirichlet process gives it a prior through alpha";
    let (by, process) = ("by alpha", &PriorSource::new(ChosenBy::Model, process));
    let density = &PriorSource::new(ChosenBy::Model, "a density").at("not a parameter");
    let mut params = vec![info("k_active", "number of clusters", by, process)];
    if let AlphaPrior::Gamma { .. } = mixture.alpha {
        params.push(info(
            "alpha",
            "concentration: the larger, the more clusters",
            &mixture.alpha.text(),
            alpha_source,
        ));
    }
    params.push(info(
        "entropy",
        "entropy of the shares of clusters, 0 for one cluster",
        by,
        process,
    ));
    let unit = match mixture.numeric {
        Some(_) => ", numeric columns in units of their standard deviation",
        None => "",
    };
    params.push(info(
        "log_density",
        &format!("log density of alpha and the partition, components integrated out{unit}"),
        "",
        density,
    ));
    for k in 1..=NUM_WEIGHTS {
        params.push(info(
            &format!("weight[{k}]"),
            &format!("share of units in the cluster that is number {k} in size"),
            by,
            process,
        ));
    }
    if mixture.num_held_out() > 0 {
        params.push(info(
            "held_out",
            "mean log predictive density of a unit that was held out",
            "",
            density,
        ));
    }
    params
}

impl Model for DpMixtureModel {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Partition(&self.mixture)
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        let AlphaPrior::Gamma { shape, rate } = self.mixture.alpha else {
            return None;
        };
        if self.params[index].name != "alpha" {
            return None;
        }
        if value <= 0.0 {
            return Some(0.0);
        }
        let log = shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * value.ln() - rate * value;
        Some(log.exp())
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        let AlphaPrior::Gamma { shape, rate } = self.mixture.alpha else {
            return None;
        };
        let is_alpha = self.params[index].name == "alpha";
        is_alpha.then(|| Prior::Gamma { shape, rate }.positive_range(0.0))?
    }

    fn remark_on_data(&self, reporter: &mut Reporter) {
        let blocks = self.mixture.counts.as_ref().map(|counts| &counts.blocks);
        let blocks = blocks.filter(|_| self.is_long).into_iter().flatten();
        // Whole numbers that stand alone may well be names of items.
        let alone = blocks.clone().count() == 1;
        for block in blocks {
            let numbers = block.levels.iter().map(|level| level.parse::<f64>());
            let Ok(numbers) = numbers.collect::<Result<Vec<f64>, _>>() else {
                continue;
            };
            if !alone || numbers.iter().any(|number| number.fract() != 0.0) {
                reporter.report(Remark::NumbersAsCategories {
                    column: block.name.clone(),
                    levels: block.levels.len(),
                });
            }
        }
    }

    fn rows_held_out(&self) -> usize {
        rows_held_out(&self.unit_of_row, self.mixture.num_units())
    }

    fn simulation(&self) -> Option<&dyn Simulation> {
        Some(self)
    }
}

impl Simulation for DpMixtureModel {
    fn values_per_row(&self) -> usize {
        let numbers = self.mixture.numeric.as_ref().map_or(0, Numeric::dim);
        let counts = self.mixture.counts.as_ref();
        numbers + counts.map_or(0, |counts| counts.blocks.len())
    }

    fn draw_all(
        &self,
        rng: &mut ChainRng,
        u: &mut [f64],
        values: &mut [f64],
    ) -> Result<(), NoPriorDraws> {
        if self.mixture.num_held_out() > 0 {
            return Err(NoPriorDraws::UnitsHeldOut);
        }
        simulate::draw(&self.mixture, &self.unit_of_row, rng, u, values)
            .ok_or(NoPriorDraws::Mixture)
    }
}

#[cfg(test)]
mod tests;
