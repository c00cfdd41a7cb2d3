//! What all regressions share: a family of row likelihoods, coefficients, auxiliary parameters, and the [`Model`] of them.
//!
//! u = (β, a): P coefficients of standardised predictors, then one coordinate per auxiliary parameter ([`super::auxiliary`]).

use std::sync::{Arc, OnceLock};

use super::auxiliary::ParameterSpec;
use super::chance;
use super::coefficients::{Coefficients, INTERCEPT, SLOPES};
use super::cut_points::CutPoints;
use super::glm::{GlmRows, MOST_IN_LANES, NormalSums};
use super::head::{Head, Rest, names_of};
use super::predicts::{Law, Point, Predicts};
use super::prior::{self, Prior, PriorRows};
use super::{
    Block, CentreRows, Form, KnownConditional, LinearRows, LogDensity, Model, ModelError,
    ModelOptions, NoPriorDraws, ParamInfo, Posterior, PriorDraws, PriorSpec, RowLikelihood, Rows,
    Scratch, Storage, blocks_by_name, moments_of_scores, sum_of_rows,
};
use crate::design::{Design, ResponseKind};
use crate::families::rows::{FamilyRows, Fit, ResponseScale, RowFamily, RowUse, value_or};
use crate::families::{Family, FamilyError};
use crate::numerics::pages::Pages;
use ergodic_base::{ChainRng, Reporter};

/// Priors of a template whose only parameters are coefficients.
pub(super) const COEFFICIENT_PRIORS: PriorSpec = PriorSpec {
    classes: &[INTERCEPT, SLOPES],
    check: |text| Ok(Prior::parse(text).map(|_prior| ())?),
    forms: prior::FORMS,
    example: "normal(0, 2.5)",
};

/// Priors of a template with coefficients and parameters of its family.
pub(super) const fn priors_with(classes: &'static [(&'static str, &'static str)]) -> PriorSpec {
    PriorSpec {
        classes,
        check: |text| {
            let known = Prior::parse_positive(text).is_ok() || chance::parse(text).is_ok();
            if known {
                Ok(())
            } else {
                Ok(Prior::parse(text).map(|_prior| ())?)
            }
        },
        forms: prior::FORMS,
        example: "normal(0, 2.5)",
    }
}

/// What a template gives to make a regression.
pub(super) struct Parts<F> {
    pub design: Arc<Design>,
    pub family: F,
    /// Rows in the family's layout.
    pub data: Pages<f64>,
    pub response: ResponseScale,
    /// What the linear predictor is, in words: "log odds of y".
    pub quantity: String,
    /// One per auxiliary coordinate.
    pub auxiliaries: Vec<ParameterSpec>,
}

/// What is made of the parts of a family that is chosen at run time.
pub(super) trait PartsUse {
    /// Makes a model.
    fn model<F: RowFamily>(self, parts: Parts<F>) -> Result<Arc<dyn Model>, ModelError>;
}

/// A model of `family`, made by `with`.
///
/// # Errors
/// The rows cannot be of the family, or a prior is refused.
pub(super) fn model_of(
    family: Family,
    design: Arc<Design>,
    with: impl PartsUse,
) -> Result<Arc<dyn Model>, ModelError> {
    struct WithRows<U>(Family, Arc<Design>, U);
    impl<U: PartsUse> RowUse for WithRows<U> {
        type Made = Result<Arc<dyn Model>, ModelError>;
        fn of<F: RowFamily>(self, rows: FamilyRows<F>) -> Self::Made {
            let Self(family, design, with) = self;
            with.model(Parts::with_rows(family, design, rows)?)
        }
    }
    let rows_of = Arc::clone(&design);
    family.rows(&rows_of, WithRows(family, design, with))?
}

/// The regression of `family` for a template with `priors`.
///
/// # Errors
/// The rows cannot be of the family, or a prior is refused.
pub(super) fn regression(
    family: Family,
    design: Arc<Design>,
    priors: &PriorSpec,
    options: &ModelOptions,
) -> Result<Arc<dyn Model>, ModelError> {
    struct WithPriors<'a>(&'a PriorSpec, &'a ModelOptions);
    impl PartsUse for WithPriors<'_> {
        fn model<F: RowFamily>(self, parts: Parts<F>) -> Result<Arc<dyn Model>, ModelError> {
            Regression::model(parts, self.0, self.1)
        }
    }
    model_of(family, design, WithPriors(priors, options))
}

impl<F: RowFamily> Parts<F> {
    /// What `family` says about a regression with these rows.
    ///
    /// # Errors
    /// The rows cannot be of the family.
    pub fn of(
        family: Family,
        design: Arc<Design>,
        rows: impl FnOnce(&Design) -> Result<FamilyRows<F>, FamilyError>,
    ) -> Result<Self, ModelError> {
        let rows = rows(&design)?;
        Self::with_rows(family, design, rows)
    }

    fn with_rows(
        family: Family,
        design: Arc<Design>,
        rows: FamilyRows<F>,
    ) -> Result<Self, ModelError> {
        let definition = family.definition();
        // A parameter that a setting fixes is no coordinate.
        let auxiliaries = definition.auxiliaries.iter().take(rows.family.num_aux());
        let auxiliaries = auxiliaries.map(|one| ParameterSpec::of(one, &design, rows.response));
        Ok(Self {
            auxiliaries: auxiliaries.collect::<Result<_, _>>()?,
            quantity: definition.quantity_of(&design.response.name),
            family: rows.family,
            data: rows.data,
            response: rows.response,
            design,
        })
    }

    /// The coordinates that the linear predictor and the family have, in order.
    ///
    /// # Errors
    /// A prior that does not fit its parameter.
    pub fn coordinates(
        &self,
        options: &ModelOptions,
    ) -> Result<(Head, Vec<ParamInfo>), ModelError> {
        let design = Arc::clone(&self.design);
        let (mut coefficients, mut params) =
            Coefficients::new(design, self.response, &self.quantity, options)?;
        if let ResponseKind::Ordered { .. } = self.design.response.kind {
            let (cuts, of_cuts) = CutPoints::new(&self.design, &coefficients, options)?;
            coefficients.leave_intercept();
            params.remove(0);
            params.extend(of_cuts);
            return Ok((Head::new(coefficients, Rest::Cuts(cuts)), params));
        }
        let mut parameters = Vec::new();
        for spec in &self.auxiliaries {
            let (parameter, info) = spec.with(options)?;
            parameters.push(parameter);
            params.push(info);
        }
        let rest = Rest::Parameters(parameters);
        Ok((Head::new(coefficients, rest), params))
    }
}

/// Refuses columns with numbers that are infinite in single precision.
fn check_single(design: &Design) -> Result<(), ModelError> {
    let mut numbers = design.x.indexed_iter();
    match numbers.find(|(_, x)| x.abs() > f64::from(f32::MAX)) {
        Some(((_, j), _)) => Err(ModelError::Data(format!(
            "Column `{}` has numbers that single precision cannot hold; leave `data.storage` out",
            design.terms[j]
        ))),
        None => Ok(()),
    }
}

/// The posterior of a regression.
pub(super) struct Regression<F> {
    design: Arc<Design>,
    response: ResponseScale,
    rows: GlmRows<F>,
    /// Made when they are first needed; none where columns depend on each other.
    sums: OnceLock<Option<NormalSums>>,
    params: Vec<ParamInfo>,
    head: Head,
    /// Without auxiliary parameters.
    prior_rows: Option<PriorRows>,
}

impl<F: RowFamily> Regression<F> {
    /// The model of `parts` for a template with `priors`.
    ///
    /// # Errors
    /// A prior that does not fit its parameter, or one of a parameter that there is not.
    pub fn model(
        parts: Parts<F>,
        priors: &PriorSpec,
        options: &ModelOptions,
    ) -> Result<Arc<dyn Model>, ModelError> {
        let (head, params) = parts.coordinates(options)?;
        let Parts {
            design, response, ..
        } = parts;
        options.check_priors(priors.classes, &names_of(&params))?;
        if options.storage == Storage::F32 {
            check_single(&design)?;
        }
        let rows = GlmRows::new(parts.family, design.terms.len(), parts.data);
        Ok(Arc::new(Self {
            rows: rows.stored_as(options.storage),
            sums: OnceLock::new(),
            response,
            design,
            params,
            prior_rows: (head.num_auxiliaries() == 0).then(|| head.coefficients.prior_rows()),
            head,
        }))
    }

    /// Sums over all rows that say their likelihood at less cost than a pass over `rows`, where there are such.
    fn sums(&self, rows: Rows<'_>) -> Option<&NormalSums> {
        let columns = self.rows.num_columns();
        let is_short = columns > 0 && 2 * columns <= self.rows.num_obs();
        let may_have = F::NORMAL && is_short && self.has_dense_curvature();
        if !may_have || !matches!(rows, Rows::All) {
            return None;
        }
        self.sums
            .get_or_init(|| NormalSums::of(&self.rows))
            .as_ref()
    }

    /// Row `i`'s linear predictor in internal units, with its offset where the link is not the identity.
    fn predictor(&self, i: usize, u: &[f64]) -> f64 {
        let design = &self.design;
        let offset = match &design.offset {
            Some(offset) if !self.response.identity => offset[i],
            _ => 0.0,
        };
        offset
            + design
                .x
                .row(i)
                .iter()
                .zip(u)
                .map(|(x, u)| x * u)
                .sum::<f64>()
    }
}

impl<F: RowFamily> Predicts for Regression<F> {
    fn point(&self, theta: &[f64]) -> Option<Point> {
        if theta.len() != self.params.len() {
            return None;
        }
        let mut u = vec![0.0; self.dim()];
        self.unconstrain(theta, &mut u);
        let outcome = self.rows.family().outcome(&self.rows.shared(&u));
        Some(Point {
            coefficients: self.head.coefficients.raw(&u),
            law: Law::One(outcome.scaled(self.response.scale)),
            terms: Vec::new(),
            layer: None,
        })
    }
}

impl<F: RowFamily> Model for Regression<F> {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn predicts(&self) -> Option<&dyn Predicts> {
        Some(self)
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        self.head.report(u, theta);
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        self.head.position(theta, u);
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        self.head.prior_range(index)
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        self.head.prior_density(index, value)
    }

    fn blocks(&self) -> Vec<Block> {
        let by_name = || blocks_by_name(&self.params, self.dim());
        self.head.blocks().unwrap_or_else(by_name)
    }

    fn known_conditionals(&self) -> Vec<KnownConditional> {
        let coefficients = &self.head.coefficients;
        if F::QUADRATIC && coefficients.have_normal_priors() {
            vec![KnownConditional {
                coordinates: 0..coefficients.len(),
                form: Form::Normal,
                // Columns and the intercept are rarely orthogonal.
                independent: self.dim() == 1,
            }]
        } else {
            Vec::new()
        }
    }

    fn remark(&self, u: &[f64], reporter: &mut Reporter) {
        let fit = Fit {
            design: &self.design,
            response: self.response,
            predictors: (0..self.num_obs()).map(|i| self.predictor(i, u)).collect(),
        };
        F::remark(&fit, reporter);
    }

    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        Some(self)
    }
}

impl<F: RowFamily> LogDensity for Regression<F> {
    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl<F: RowFamily> RowLikelihood for Regression<F> {
    fn linear_rows(&self) -> Option<&dyn LinearRows> {
        (self.rows.num_aux() == 0).then_some(&self.rows as &dyn LinearRows)
    }

    fn prior_rows(&self) -> Option<&PriorRows> {
        self.prior_rows.as_ref()
    }

    fn num_obs(&self) -> usize {
        self.rows.num_obs()
    }

    fn scratch(&self) -> Scratch {
        self.rows.scratch()
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.head.log_prior(u, grad)
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        Some(self.log_prior(u, &mut vec![0.0; u.len()]) - self.head.log_jacobian(u))
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        match self.sums(rows) {
            Some(sums) => sums.value_gradient(u, scratch, grad),
            None => self.rows.value_gradient(u, rows, scratch, grad),
        }
    }

    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        match self.sums(rows) {
            Some(sums) => _ = sums.value_gradient(u, scratch, grad),
            None => self.rows.gradient(u, rows, scratch, grad),
        }
    }

    fn cost_of_all(&self) -> usize {
        // A product with a P×P matrix is worth a pass over P rows.
        match self.sums(Rows::All) {
            Some(_) => self.rows.num_columns(),
            None => self.num_obs(),
        }
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.rows.pointwise(u, rows, scratch, out);
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.rows.scores(u, rows, None, scratch, out);
    }

    fn score_moments(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        scores: &mut Vec<f64>,
        sum: &mut [f64],
        products: &mut [f64],
    ) {
        if self.rows.dim() <= MOST_IN_LANES {
            return self.rows.score_moments(u, rows, scratch, sum, products);
        }
        moments_of_scores(self, u, rows, scratch, scores, sum, products);
    }

    fn centre_rows(&self, u: &[f64]) -> CentreRows {
        let mut per_row = vec![0.0; self.num_obs() * self.rows.width()];
        self.rows
            .residuals(u, Rows::All, &mut self.scratch(), &mut per_row);
        CentreRows {
            u: u.to_vec(),
            per_row,
        }
    }

    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        s: &mut Scratch,
        grad: &mut [f64],
    ) {
        self.rows
            .gradient_difference(u, rows, &centre.per_row, s, grad);
    }

    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        s: &mut Scratch,
        out: &mut [f64],
    ) {
        self.rows.scores(u, rows, Some(&centre.per_row), s, out);
    }

    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        match self.sums(rows) {
            Some(sums) => sums.add_neg_hessian(u, scratch, hessian),
            None => self.rows.add_neg_hessian(u, rows, scratch, hessian),
        }
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        self.head.add_neg_hessian(u, self.dim(), hessian);
    }
}

impl<F: RowFamily> PriorDraws for Regression<F> {
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        self.head.draw_prior(rng, u)
    }

    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        let outcome = self.rows.family().outcome(&self.rows.shared(u));
        for (k, y) in y.iter_mut().enumerate() {
            let i = rows.get(k);
            *y = outcome.draw(self.predictor(i, u), self.design.known(i), rng);
            if self.response.identity {
                *y = self.response.centre
                    + self.response.scale * *y
                    + value_or(&self.design.offset, i, 0.0);
            }
        }
    }
}
