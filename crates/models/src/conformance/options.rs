//! Options that templates are tried with.

use crate::{DefaultPriors, ModelEntry, ModelOptions};
use ergodic_base::settings::{Kind, Settings, Value};

/// Options of every kind: prior families, scale of priors, scale of reports.
pub fn all_options() -> Vec<ModelOptions> {
    let priors = |texts: &[(&str, &str)]| {
        texts
            .iter()
            .map(|&(class, text)| (class.to_owned(), text.to_owned()))
            .collect::<Vec<_>>()
    };
    let mut options = Vec::new();
    for (standardize, report_standardized) in
        [(true, false), (false, false), (true, true), (false, true)]
    {
        for priors in [
            priors(&[]),
            priors(&[
                ("b", "student_t(3, 0.1, 2.5)"),
                ("intercept", "normal(1, 2)"),
            ]),
            priors(&[("b", "laplace(0, 0.7)"), ("intercept", "cauchy(0, 3)")]),
            priors(&[("b", "flat"), ("intercept", "student_t(4, -1, 1)")]),
        ] {
            options.push(ModelOptions {
                priors,
                standardize,
                report_standardized,
                ..ModelOptions::default()
            });
        }
        options.push(ModelOptions {
            defaults: DefaultPriors::WeaklyInformative,
            standardize,
            report_standardized,
            ..ModelOptions::default()
        });
    }
    options
}

/// Settings other than the default.
fn other_settings(entry: &ModelEntry) -> Settings {
    let mut other = Settings::default();
    for field in entry.spec.fields {
        let value = match field.kind {
            Kind::Choice(words) => Value::Text(words[words.len() - 1].to_owned()),
            Kind::Int { .. } => Value::Int(3),
            Kind::Text { example, .. } => Value::Text(example.to_owned()),
            _ => Value::Real(0.7),
        };
        other.set(field.key, value);
    }
    other
}

/// Default settings and other ones.
pub(super) fn example_options(entry: &ModelEntry) -> Vec<ModelOptions> {
    [Settings::default(), other_settings(entry)]
        .map(|settings| ModelOptions {
            settings: entry.resolve(&settings).unwrap(),
            ..ModelOptions::default()
        })
        .into()
}

/// All options, with priors of the template's positive parameters and its settings.
pub(super) fn options_of(entry: &ModelEntry) -> Vec<ModelOptions> {
    let positive = [
        "exponential(0.7)",
        "lognormal(0.3, 1.5)",
        "gamma(2, 0.1)",
        "half_normal(3)",
    ];
    let mut options = all_options();
    let takes = |key: &str| (entry.spec.priors.classes.iter()).any(|(class, _)| *class == key);
    if !takes("b") {
        // The others differ in priors of coefficients alone.
        options.retain(|it| it.priors.is_empty() && it.defaults == DefaultPriors::default());
        for field in entry.spec.fields {
            if let Kind::Int { .. } = field.kind {
                // Few units: checks grow with the third power of their number.
                let each = options.iter_mut();
                each.for_each(|it| it.settings.set(field.key, Value::Int(2)));
            }
        }
        let first = options.first().cloned().unwrap_or_default();
        options.extend(positive.iter().map(|text| {
            ModelOptions {
                priors: (entry.spec.priors.classes.iter())
                    .map(|(class, _words)| ((*class).to_owned(), (*text).to_owned()))
                    .collect(),
                settings: other_settings(entry),
                ..first.clone()
            }
        }));
        return options;
    }
    for (k, options) in options.iter_mut().enumerate() {
        // Every fourth has the defaults.
        for (class, _words) in entry
            .spec
            .priors
            .classes
            .iter()
            .skip(2)
            .filter(|_| k % 4 > 0)
        {
            let text = positive[k % positive.len()].to_owned();
            options.priors.push(((*class).to_owned(), text));
        }
    }
    if entry.spec.id == "ordered" {
        for options in &mut options {
            for (key, _) in options
                .priors
                .iter_mut()
                .filter(|(key, _)| key == "intercept")
            {
                key.replace_range(.., "cut");
            }
        }
    }
    if entry.spec.id == "student" {
        let mut fixed = options[1].clone();
        fixed.settings.set("nu", Value::Real(4.5));
        fixed.priors.retain(|(key, _)| key != "nu");
        options.push(fixed);
    }
    options
}
