//! For tests: designs of ratings.

use ndarray::Array2;
use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::plain_design;
use crate::design::{Design, GroupDesign, GroupFactor, ResponseKind};
use crate::models::ModelOptions;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Purpose, stream};

/// A design of these ratings, each of a user and an item.
pub fn rated(ratings: &[(u32, u32, f64)], [users, items]: [u32; 2]) -> Design {
    let n = ratings.len();
    let y: Vec<f64> = ratings.iter().map(|rating| rating.2).collect();
    let kind = ResponseKind::Number {
        mean: y.iter().sum::<f64>() / n as f64,
        sd: 1.0,
        range: [0.0, 5.0],
        function: None,
    };
    let mut design = plain_design(Array2::ones((n, 1)), y, kind);
    let users_of: Vec<u32> = ratings.iter().map(|rating| rating.0).collect();
    let items_of: Vec<u32> = ratings.iter().map(|rating| rating.1).collect();
    let groupings = [("user", users, users_of), ("film", items, items_of)];
    for (factor, (name, levels, index)) in groupings.into_iter().enumerate() {
        design.groups.push(GroupFactor {
            name: name.to_owned(),
            levels: (0..levels).map(|level| format!("{name}{level}")).collect(),
            index,
        });
        design.group_terms.push(GroupDesign {
            factor,
            names: vec!["Intercept".to_owned()],
            z: Array2::ones((n, 1)),
            scale: vec![1.0],
            correlated: true,
        });
    }
    design
}

/// `n` ratings of five films by six users, one of whom rates nothing.
pub fn some_ratings(n: u32, weighted: bool) -> Design {
    let mut rng = stream(91, 0, Purpose::Data);
    let ratings: Vec<(u32, u32, f64)> = (0..n)
        .map(|i| {
            let (user, film) = (i * 7 % 5, i / 5 % 5);
            let noise: f64 = rng.sample(StandardNormal);
            let taste = f64::from(user) - 2.0;
            (
                user,
                film,
                3.0 + 0.3 * taste * (f64::from(film) - 2.0) + 0.6 * noise,
            )
        })
        .collect();
    let mut design = rated(&ratings, [6, 5]);
    if weighted {
        design.weights = Some((0..n).map(|i| 0.5 * f64::from(i % 4)).collect());
    }
    design
}

/// Designs and options of conformance tests: with and without weights, all priors and scales.
pub fn cases(n: u32) -> (Vec<(String, Design)>, Vec<ModelOptions>) {
    let designs = [false, true].map(|weighted| {
        let words = format!("ratings, weighted: {weighted}");
        (words, some_ratings(n, weighted))
    });
    let own = [
        ("user", "constant(2)"),
        ("item", "gamma(2, 0.5)"),
        ("item_factor", "constant(0.7)"),
    ];
    let all = [options(2, 3.0, &[]), options(1, 0.6, &own)];
    (designs.into(), all.into())
}

/// Options with K and τ, and these priors.
pub fn options(factors: i64, precision: f64, priors: &[(&str, &str)]) -> ModelOptions {
    let mut settings = Settings::default();
    settings.set("factors", Value::Int(factors));
    settings.set("precision", Value::Real(precision));
    ModelOptions {
        settings,
        priors: (priors.iter())
            .map(|&(key, text)| (key.to_owned(), text.to_owned()))
            .collect(),
        ..ModelOptions::default()
    }
}
