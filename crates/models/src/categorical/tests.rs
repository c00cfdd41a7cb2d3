//! The closed form of the posterior, priors, refusals.

use super::*;
use crate::conformance::categorical_design;
use crate::design::{MemoryColumns, ModelFrame, Values};
use crate::testing::regressions::NUM_OBS;

fn table() -> MemoryColumns {
    let texts = ["b", "a", "b", "c", "b"].map(|cell| Some(cell.to_owned()));
    MemoryColumns::new(
        "t",
        vec![
            ("word".into(), Values::Texts(texts.to_vec())),
            (
                "code".into(),
                Values::Numbers(vec![10.0, 2.0, 2.0, 7.0, 2.0]),
            ),
            ("n".into(), Values::Numbers(vec![3.0, 0.0, 1.0, 2.0, 4.0])),
        ],
    )
    .unwrap()
}

fn built(
    formula: &str,
    levels: &[&str],
    priors: &[(&str, &str)],
) -> Result<Arc<dyn Model>, String> {
    let frame = ModelFrame {
        response_use: ResponseUse::Categories,
        levels: levels.iter().map(|&level| level.to_owned()).collect(),
        ..ModelFrame::new(formula.parse().unwrap())
    };
    let (design, _) = Design::build(&table(), &frame).map_err(|error| error.to_string())?;
    let options = ModelOptions {
        priors: priors
            .iter()
            .map(|&(key, text)| (key.to_owned(), text.to_owned()))
            .collect(),
        ..ModelOptions::default()
    };
    Categorical::build(Arc::new(design), &options).map_err(|error| error.to_string())
}

fn names(model: &dyn Model) -> Vec<&str> {
    model
        .params()
        .iter()
        .map(|param| param.name.as_str())
        .collect()
}

#[test]
fn categories_come_from_text_codes_weights_and_declarations() {
    let model = built("word ~ 1", &[], &[]).unwrap();
    assert_eq!(names(model.as_ref()), ["p[a]", "p[b]", "p[c]"]);
    assert_eq!(model.simplex().unwrap().totals(), [1.0, 3.0, 1.0]);
    let model = built("code ~ 1", &["3", "2"], &[]).unwrap();
    assert_eq!(names(model.as_ref()), ["p[2]", "p[7]", "p[10]", "p[3]"]);
    assert_eq!(model.simplex().unwrap().totals(), [3.0, 1.0, 1.0, 0.0]);
    // A weight of 0 declares a category that was never seen.
    let model = built("word | weights(n) ~ 1", &[], &[]).unwrap();
    let view = model.simplex().unwrap();
    assert_eq!(view.totals(), [0.0, 8.0, 2.0]);
    assert_eq!(view.squares(), [0.0, 26.0, 4.0]);
}

#[test]
fn the_response_is_described() {
    let frame = ModelFrame {
        response_use: ResponseUse::Categories,
        ..ModelFrame::new("word | weights(n) ~ 1".parse().unwrap())
    };
    let (design, _) = Design::build(&table(), &frame).unwrap();
    assert_eq!(
        design.response.sentence(),
        "3 categories in 10 observations, 1 of them never seen"
    );
    assert!(crate::design::checks::check(&design).warnings.is_empty());
}

#[test]
fn what_the_template_cannot_do_is_refused_in_one_sentence() {
    for (formula, levels, priors, words) in [
        (
            "word ~ n",
            vec![],
            vec![],
            "takes no predictors, groups or offsets; write `word ~ 1`",
        ),
        (
            "word ~ 1 + (1 | code)",
            vec![],
            vec![],
            "takes no predictors",
        ),
        (
            "word ~ 0 + n",
            vec![],
            vec![],
            "cannot leave the intercept out",
        ),
        (
            "code | trials(12) ~ 1",
            vec![],
            vec![],
            "has no number of trials",
        ),
        (
            "word ~ 1",
            vec![],
            vec![("b", "dirichlet(1)")],
            "There is no parameter `b`",
        ),
        (
            "word ~ 1",
            vec![],
            vec![("p[a]", "normal(0, 1)")],
            "write dirichlet(a)",
        ),
        (
            "word ~ 1",
            vec![],
            vec![("probabilities", "dirichlet(0)")],
            "write dirichlet(a)",
        ),
        (
            "word ~ 1",
            vec![],
            vec![("probabilities", "dirichlet(1, 2)")],
            "write dirichlet(a)",
        ),
    ] {
        let error = built(formula, &levels, &priors).err().unwrap();
        assert!(error.contains(words), "{formula}: {error}");
    }
    let columns = vec![("y".to_owned(), Values::Numbers(vec![4.0; 3]))];
    let single = MemoryColumns::new("t", columns).unwrap();
    let frame = |levels: Vec<String>| ModelFrame {
        response_use: ResponseUse::Categories,
        levels,
        ..ModelFrame::new("y ~ 1".parse().unwrap())
    };
    let error = Design::build(&single, &frame(vec![]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("is 1 but must be 2 to 1000"), "{error}");
    Design::build(&single, &frame(vec!["5".into()])).unwrap();
}

/// With the Jacobian the log density in u is that of Dirichlet(α + C) in p, up to a constant: differences must agree.
#[test]
fn the_density_is_that_of_the_dirichlet_posterior() {
    let priors = [
        ("probabilities", "dirichlet(0.3)"),
        ("p[c]", "dirichlet(2)"),
    ];
    let model = built("word | weights(n) ~ 1", &["d"], &priors).unwrap();
    let posterior = [0.3, 8.3, 4.0, 0.3];
    let log_density = |u: &[f64]| {
        let mut grad = [0.0; 3];
        model.density().unwrap().log_density(u, &mut grad)
    };
    let dirichlet = |u: &[f64]| {
        let mut p = [0.0; 4];
        model.constrain(u, &mut p);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        // |∂p/∂u| is the product of v_k (1 − v_k) and of what is left of the stick, Π_{j<k} (1 − v_j).
        let (mut left, mut log_jacobian) = (1.0, 0.0);
        for (p, u) in p.iter().zip(u) {
            log_jacobian += f64::ln(left * logistic(*u) * logistic(-u));
            left -= p;
        }
        let terms = posterior.iter().zip(p).map(|(a, p)| (a - 1.0) * p.ln());
        log_jacobian + terms.sum::<f64>()
    };
    let (here, there) = ([0.3, -1.2, 0.8], [-2.0, 0.5, 1.5]);
    let difference = log_density(&here) - log_density(&there);
    assert!((difference - (dirichlet(&here) - dirichlet(&there))).abs() < 1e-10);
}

#[test]
fn curvature_of_the_prior_agrees_with_finite_differences() {
    let model = built("word ~ 1", &["d"], &[("p[b]", "dirichlet(3)")]).unwrap();
    let u = [0.4, -0.7, 2.0];
    let mut hessian = [0.0; 9];
    model
        .rows()
        .unwrap()
        .add_neg_hessian_log_prior(&u, &mut hessian);
    for j in 0..3 {
        let slope = |step: f64| {
            let (mut at, mut grad) = (u, [0.0; 3]);
            at[j] += step;
            model.rows().unwrap().log_prior(&at, &mut grad);
            grad
        };
        let (above, below) = (slope(1e-5), slope(-1e-5));
        for i in 0..3 {
            let numeric = (below[i] - above[i]) / 2e-5;
            assert!((hessian[i * 3 + j] - numeric).abs() < 1e-8);
        }
    }
}

#[test]
fn prior_densities_are_the_marginal_betas() {
    let model = built("word ~ 1", &[], &[("probabilities", "dirichlet(2)")]).unwrap();
    // Beta(2, 4) has density 20 x (1 − x)³.
    for x in [0.1, 0.5, 0.9] {
        let expected = 20.0 * x * (1.0_f64 - x).powi(3);
        assert!((model.prior_density(0, x).unwrap() - expected).abs() < 1e-9);
    }
    assert_eq!(model.prior_density(0, 1.5), Some(0.0));
    assert_eq!(model.prior_range(0), Some((0.0, 1.0)));
    assert_eq!(model.params()[0].prior.as_str(), "dirichlet(2)");
    assert_eq!(
        model.params()[0].prior_source.to_string(),
        "set by you; alone it is beta(2, 4)"
    );
}

#[test]
fn simulated_categories_have_the_probabilities_of_the_position() {
    let design = categorical_design(false, NUM_OBS);
    let model = Categorical::build(Arc::new(design), &ModelOptions::default()).unwrap();
    let u = [-0.5, 0.2, -3.0, 1.0];
    let mut p = [0.0; 5];
    model.constrain(&u, &mut p);
    let mut rng = ergodic_base::stream(9, 0, ergodic_base::Purpose::Predictive);
    let mut y = vec![0.0; 40_000];
    model
        .prior_draws()
        .unwrap()
        .simulate(&u, Rows::All, &mut rng, &mut y);
    for (category, p) in p.iter().enumerate() {
        let share = y.iter().filter(|&&y| y == category as f64).count() as f64 / y.len() as f64;
        let error = (p * (1.0 - p) / y.len() as f64).sqrt();
        assert!((share - p).abs() < 4.0 * error, "{category}: {share} {p}");
    }
}
