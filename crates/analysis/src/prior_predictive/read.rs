//! What a prior expects where a model reads the columns of rows by itself.

use super::rows::{first_code, observed_outcomes};
use super::{
    COORDINATES, DRAWS, Expected, JobError, LEAST_DRAWS, PreviewRows, PriorPredictive, Recipe,
    Simulated, categories,
};
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::design::{Design, ObservationModel, ObservationRows, ReadError, ResponseKind};
use ergodic_core::models::Model;

/// The outcomes of rows that `reader` has read, as designs of regressions have them.
fn explained(reader: &dyn ObservationModel, read: &dyn ObservationRows) -> Vec<f64> {
    let function = reader.response().kind.function();
    let explained = |y: &f64| function.map_or(*y, |function| function.at(*y));
    read.observed().iter().map(explained).collect()
}

/// What was observed of the outcome that `reader` reads in all rows of `design`, or why it has none.
pub(super) fn observed_by(
    reader: &dyn ObservationModel,
    design: &Design,
) -> Result<Vec<Vec<f64>>, ReadError> {
    if let Some(why) = reader.refusal() {
        return Err(why.to_owned().into());
    }
    let read = reader.code(&design.columns, &vec![true; design.num_obs()])?;
    let y = explained(reader, read.as_ref());
    let observed = observed_outcomes(&reader.response().kind, &y, read.trials());
    Ok(observed.into_iter().collect())
}

impl PreviewRows {
    /// Outcomes of the rows of `design`, which `reader` reads for the model, beside those `observed` in all rows.
    pub(super) fn read(
        (design, observed): (&Design, &[Vec<f64>]),
        (model, reader): (&dyn Model, &dyn ObservationModel),
        recipe: &Recipe,
        control: &Control,
    ) -> Result<PriorPredictive, JobError> {
        let rows = design.num_obs();
        let read = reader.code(&design.columns, &vec![true; rows])?;
        let num_quantities = model.params().len();
        let draws = (COORDINATES / num_quantities.max(1)).clamp(LEAST_DRAWS, DRAWS);
        let mut rng = stream(recipe.run.seed, 0, Purpose::Predictive);
        let mut theta = vec![f64::NAN; num_quantities];
        let mut by_quantity = vec![Vec::with_capacity(draws); num_quantities];
        control.enter("drawing from the priors");
        control.expect(draws as u64);
        for _ in 0..draws {
            control.check(JobError::Cancelled)?;
            control.advance(1);
            model
                .draw_parameters(&mut rng, &mut theta)
                .map_err(JobError::NotShown)?;
            for (values, value) in by_quantity.iter_mut().zip(&theta) {
                values.push(*value);
            }
        }
        let prepared = reader.prepare(by_quantity);
        let (mut outcomes, mut means) = (vec![0.0; draws * rows], vec![0.0; draws * rows]);
        let mut distribution = vec![0.0; read.width() * draws];
        let mut drawn = vec![0.0; draws];
        for i in 0..rows {
            control.check(JobError::Cancelled)?;
            read.distribution(i, &prepared, 0, &mut distribution);
            read.draw(&distribution, &mut rng, &mut drawn);
            for d in 0..draws {
                outcomes[d * rows + i] = drawn[d];
                means[d * rows + i] = distribution[d];
            }
        }
        let design = &Design {
            y: explained(reader, read.as_ref()),
            trials: read.trials().map(<[f64]>::to_vec),
            response: reader.response().clone(),
            ..design.clone()
        };
        let simulated = Simulated {
            design,
            observed,
            rows,
            draws,
            outcomes: &outcomes,
            means: &means,
            one_by_one: false,
        };
        Ok(PriorPredictive {
            draws,
            rows,
            one_by_one: false,
            outcomes: simulated.expected((false, false), 1),
        })
    }
}

impl Simulated<'_> {
    /// What is expected of the response, which may be judged `in_proportion` or as shares, or of `width` columns.
    pub(super) fn expected(
        &self,
        (in_proportion, of_shares): (bool, bool),
        width: usize,
    ) -> Vec<Expected> {
        let response = &self.design.response;
        match &response.kind {
            ResponseKind::Binary { success, .. } => vec![self.success(success)],
            ResponseKind::Successes => vec![self.success("success")],
            kind @ (ResponseKind::Categories { levels }
            | ResponseKind::Ordered { levels }
            | ResponseKind::Unordered { levels }) => {
                let first = first_code(kind);
                let codes = |draw: &[f64]| draw.iter().map(|y| y - first).collect();
                vec![categories(
                    &response.name,
                    levels,
                    self.outcomes.chunks_exact(self.rows).map(codes),
                    &self.observed[0],
                )]
            }
            ResponseKind::Number { .. } if in_proportion => vec![self.in_proportion(false)],
            ResponseKind::Number { .. } => vec![self.numbers(of_shares)],
            ResponseKind::Count { .. } => vec![self.in_proportion(true)],
            ResponseKind::Absent => self.columns(width),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::super::Outcomes;
    use super::*;
    use crate::{job, templates};
    use ergodic_base::settings::Value;
    use ergodic_language::Own;

    /// What the prior of a text expects of 300 rows of y, n and k.
    fn expected(text: &str) -> Result<Expected, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let rows: String = (0..300)
            .map(|i| {
                format!(
                    "{},{},{}\n",
                    i % 7,
                    i % 2,
                    if i % 3 == 0 { "u" } else { "v" }
                )
            })
            .collect();
        std::fs::write(&path, format!("y,k,g\n{rows}")).unwrap();
        let mut recipe = Recipe::new(path.to_str().unwrap(), Own::ID, "");
        let text = Value::Text(text.to_owned());
        recipe.model.settings.set(Own::PROGRAM, text);
        let control = Control::default();
        let loaded = job::load_data(&recipe, Path::new(""), &control).unwrap();
        let frame = job::model_frame(&recipe, &loaded.table).unwrap();
        let (design, _) = Design::build(&loaded.table, &frame).unwrap();
        let design = Arc::new(design);
        let entry = templates::find(Own::ID).unwrap();
        let options = job::model_options(&recipe).unwrap();
        let model = (entry.build)(Arc::clone(&design), &options).unwrap();
        let found = PreviewRows::new(&design, model.observation()).expect(&recipe, &control);
        found
            .map(|mut found| found.outcomes.remove(0))
            .map_err(|error| error.to_string())
    }

    /// y is normal around a mean that is: quantiles are those of the sum of both variances.
    #[test]
    fn numbers_have_the_quantiles_of_their_prior() {
        let found = expected(
            "parameters\n b[g] ~ normal(a, 1.5)\n a ~ normal(3, 2)\nrows\n y ~ normal(b[g], 1.2)\n",
        )
        .unwrap();
        let Outcomes::Numbers {
            quantiles, counts, ..
        } = found.outcomes
        else {
            panic!("{:?}", found.outcomes);
        };
        let sd = (4.0 + 2.25 + 1.44_f64).sqrt();
        // 400 draws of the prior: the mean has a standard error of 0.12, an end of the interval twice that.
        for (k, z) in [(0, -1.645), (2, 0.0), (4, 1.645)] {
            let wanted = 3.0 + z * sd;
            assert!(
                (quantiles[k] - wanted).abs() < 1.0,
                "{} {wanted}",
                quantiles[k]
            );
        }
        assert!(!counts);
        assert_eq!(found.name, "y");
    }

    #[test]
    fn chances_have_the_quantiles_of_their_prior() {
        let found =
            expected("parameters\n a ~ normal(0, 1.5)\nrows\n (g == \"u\") ~ bernoulli_logit(a)\n")
                .unwrap();
        let Outcomes::Success { success, .. } = found.outcomes else {
            panic!("{:?}", found.outcomes);
        };
        assert_eq!(success.name, "u");
        // Outcomes of 200 rows are imagined, of which no share is a third; of all 300 rows a third are `u`.
        assert!((success.data - 1.0 / 3.0).abs() < 1e-12, "{success:?}");
        let logistic = |z: f64| 1.0 / (1.0 + (-z).exp());
        for (k, z) in [(0, -1.645), (1, 0.0), (2, 1.645)] {
            let wanted = logistic(1.5 * z);
            assert!((success.interval[k] - wanted).abs() < 0.1, "{success:?}");
        }
    }

    #[test]
    fn a_prior_that_cannot_be_drawn_from_says_why() {
        for (text, why) in [
            (
                "parameters\n a: real\nrows\n y ~ normal(a, 1)\n",
                "because its parameter `a` has no prior",
            ),
            (
                "parameters\n a ~ normal(0, 1)\nrows\n y ~ normal(a, 1)\ntarget\n -a^4\n",
                "because its section `target` has a part in the prior",
            ),
            (
                "parameters\n a ~ normal(b, 1)\n b ~ normal(a, 1)\nrows\n y ~ normal(a, 1)\n",
                "depends on itself",
            ),
            (
                "parameters\n a ~ normal(0, 1)\nrows\n normal_lpdf(y, a, 1)\n",
                "no line `outcome ~ distribution(…)`",
            ),
        ] {
            let found = expected(text).unwrap_err();
            assert!(found.contains(why), "{found}");
        }
    }
}
