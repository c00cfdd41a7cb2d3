//! Settings of the template, and which priors its parameters can have.

use crate::PriorSpec;
use crate::chance;
use crate::coefficients::{INTERCEPT, SLOPES};
use crate::cut_points::CUTS;
use crate::families::{FAMILY_CHOICES, Family};
use crate::prior::Prior;
use crate::prior_text::{PriorError, PriorProblem, PriorText};
use ergodic_base::settings::{Field, Kind, Setting, Value};

/// Prior of correlations where the user sets none.
pub(super) const DEFAULT_ETA: f64 = 1.0;
const LKJ_FORM: &str = "lkj(eta) with eta above 0";

/// Keys of priors besides those of the family.
pub(super) const CLASSES: [(&str, &str); 10] = [
    INTERCEPT,
    SLOPES,
    ("sd", "Standard deviations of groups"),
    ("cor", "Correlations of effects"),
    ("sigma", "Residual standard deviation"),
    ("shape", "Shape of the distribution"),
    ("phi", "Precision of the distribution"),
    ("zi", "Chance of an extra zero"),
    ("nu", "Degrees of freedom"),
    CUTS,
];

ergodic_base::choice! {
    /// What is sampled in place of effects of groups.
    pub(super) enum Parametrisation {
        /// Effects in units of their standard deviation.
        NonCentred = "non-centred",
        /// Effects as they are.
        Centred = "centred",
        /// What suits each group.
        Auto = "auto",
    }
}

impl Setting for Family {
    const KIND: Kind = Kind::Choice(Self::IDS);
    const SAID: &'static [(&'static str, &'static str)] = &{
        let mut said = [("", ""); Self::ALL.len()];
        let mut k = 0;
        while k < said.len() {
            let family = Self::ALL[k].definition();
            said[k] = (family.id, family.title);
            k += 1;
        }
        said
    };

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(id) => Self::find(id),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        self.id().into()
    }
}

ergodic_base::settings! {
    /// Settings of [`super::Mixed`].
    pub(super) struct MixedSettings {
        pub family: Family = Field::choice("Family", Family::IDS, Some(Family::Gaussian.id()))
            .help(FAMILY_CHOICES)
            .why("the usual mixed model");
        pub parametrisation: Parametrisation = Parametrisation::field("Parametrisation", Some(Parametrisation::Auto))
            .help(
                "What is sampled: effects in units of their standard deviation (non-centred) or as they are, apart from \
                 what coefficients have in common with them (centred); auto goes between, by what a likelihood fit \
                 says of each group: all the way for samplers that use all rows, unless groups differ from row to \
                 row; else it centres the groups whose effects the data tell much better than the spread of groups \
                 does. The posterior is the same, its geometry is not",
            )
            .why(
                "centred effects of small groups make a funnel that samplers do not reach into, non-centred ones of large \
                 groups a ridge that they follow slowly",
            );
    }
}

pub(super) const PRIORS: PriorSpec = PriorSpec {
    classes: &CLASSES,
    check: |text| {
        let known = Prior::parse_positive(text).is_ok()
            || eta_of(text).is_ok()
            || chance::parse(text).is_ok();
        if known {
            Ok(())
        } else {
            Ok(Prior::parse(text).map(|_prior| ())?)
        }
    },
    forms: "normal(mean, sd), student_t(df, location, scale), laplace(location, scale), cauchy(location, scale) or \
                 flat; for standard deviations half_student_t(df, 0, scale), half_normal(sd), exponential(rate), \
                 gamma(shape, rate); for correlations lkj(eta); for chances beta(a, b)",
    example: "normal(0, 2.5)",
};

/// η of the text `lkj(η)`.
pub(super) fn eta_of(text: &str) -> Result<f64, PriorError> {
    let written = PriorText::read(text, LKJ_FORM)?;
    match written.positive("lkj")? {
        Some([eta]) => Ok(eta),
        None => Err(written.refuse(PriorProblem::OfCorrelations)),
    }
}
