//! Robust regression: y_i = x_i'β + o_i + σ t_i with t_i Student-t of ν degrees of freedom, so that outliers count less.
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(0, 2.5) | at centred predictors, in sd(y) from the mean of y |
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor, in sd(y) |
//! | `sigma` | positive | half_student_t(3, 0, 2.5) | in sd(y) |
//! | `nu` (ν) | above 1 | gamma(2, 0.1), cut off at 1 (Juárez and Steel 2010) | none |
//!
//! `model.nu` fixes ν instead. The response is standardised internally as in `linear.rs`. σ is the scale of the t distribution,
//! not its standard deviation, which is σ sqrt(ν/(ν − 2)) for ν > 2.

use std::sync::Arc;

use super::coefficients::{INTERCEPT, SLOPES};
use super::regression::{Parts, Regression, priors_with};
use super::translation::{self, Context, Glm, Translation};
use super::{Model, ModelError, ModelOptions, ModelSpec, Storage, Template};
use crate::design::{Design, ResponseUse};
use crate::families::rows::{FamilyRows, RowFamily};
use crate::families::{Family, FamilyError, student};
use ergodic_base::settings::{Declared as _, Field, Settings};

/// The template `student`.
pub struct Student;

ergodic_base::settings! {
    /// Settings of [`Student`].
    struct StudentSettings {
        nu: Option<f64> = Field::real("Degrees of freedom", 0.5, 1e6, None)
            .help(
                "ν of the noise: small values allow more and farther outliers, 30 and more are hardly different from \
                 normal noise; auto estimates it as parameter `nu`",
            )
            .why("the data tell how heavy the tails are");
    }
}

impl Template for Student {
    const SPEC: ModelSpec = ModelSpec {
        id: "student",
        title: "Robust regression",
        about: "How the middle of a number depends on predictors, with Student-t noise in which outliers count less",
        fields: StudentSettings::FIELDS,
        response: |_settings| ResponseUse::Number,
        priors: priors_with(&[
            INTERCEPT,
            SLOPES,
            ("sigma", "Scale of the noise"),
            (student::NU, "Degrees of freedom"),
        ]),
    };
    const STORAGE: &'static [Storage] = Storage::ALL;

    fn family(_settings: &Settings) -> Option<Family> {
        Some(Family::Student)
    }

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        super::check_response(&design, ResponseUse::Number, Self::SPEC.id)?;
        let nu = StudentSettings::read(&options.settings)?.nu;
        if design.weights.is_some() {
            return of_rows(design, options, |it| student::with_nu::<false>(nu, it));
        }
        of_rows(design, options, |it| student::with_nu::<true>(nu, it))
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        let mut regression = Glm::of(context, Family::Student)?;
        if let Some(nu) = StudentSettings::read(&context.options.settings)?.nu {
            let nu = translation::number(nu);
            regression.brms_priors.push(format!(
                "set_prior(\"constant({nu})\", class = \"{}\")",
                student::NU
            ));
            regression.notation = student::notation_with(context.design, &nu);
            regression.auxiliaries.retain(|one| one.name != student::NU);
        }
        Ok(regression.describe())
    }
}

fn of_rows<F: RowFamily>(
    design: Arc<Design>,
    options: &ModelOptions,
    rows: impl FnOnce(&Design) -> Result<FamilyRows<F>, FamilyError>,
) -> Result<Arc<dyn Model>, ModelError> {
    let parts = Parts::of(Family::Student, design, rows)?;
    Regression::model(parts, &Student::SPEC.priors, options)
}

#[cfg(test)]
mod tests;
