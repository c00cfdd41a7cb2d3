//! Against R, and what is read as an outcome of levels.

use super::*;
use crate::DefaultPriors;
use crate::design::ModelFrame;
use crate::testing::log_lik;
use crate::testing::tables::{read_csv, reference};
use ergodic_base::linalg::Cholesky;
use ergodic_base::{Purpose, stream};

fn options(priors: &[(&str, &str)]) -> ModelOptions {
    ModelOptions {
        priors: (priors.iter())
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect(),
        standardize: true,
        defaults: DefaultPriors::WeaklyInformative,
        ..ModelOptions::default()
    }
}

fn read(data: &str, formula: &str, levels: &[&str]) -> Result<Design, String> {
    let frame = ModelFrame {
        response_use: ResponseUse::Unordered,
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
        ..ModelFrame::new(formula.parse().map_err(|error| format!("{error}"))?)
    };
    let built = Design::build(&read_csv(data), &frame);
    built
        .map(|(design, _)| design)
        .map_err(|error| error.to_string())
}

fn model(design: Design, priors: &[(&str, &str)]) -> Arc<dyn Model> {
    Multinomial::build(Arc::new(design), &options(priors)).unwrap()
}

/// `multinom` of nnet, from `multinomial.R`: its estimates are where the gradient of the likelihood is 0, and its standard errors come
/// from the curvature there.
#[test]
fn the_maximum_of_the_likelihood_is_that_of_multinom() {
    let text = |name: &str| std::fs::read_to_string(reference(name)).unwrap();
    let (data, expected) = (text("multinomial_data.csv"), text("multinomial_r.csv"));
    for (case, formula) in [
        ("plain", "party ~ age + income + region"),
        ("weighted", "party | weights(n) ~ age + income + region"),
    ] {
        let value = |name: &str| -> f64 {
            let wanted = format!("{case}:{name},");
            let line = expected.lines().find_map(|line| line.strip_prefix(&wanted));
            line.unwrap_or_else(|| panic!("{wanted}")).parse().unwrap()
        };
        let model = model(
            read(&data, formula, &[]).unwrap(),
            &[("b", "flat"), ("intercept", "flat")],
        );
        let names: Vec<&str> = model.params().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), 15);
        assert_eq!(
            names[..6],
            [
                "logit[green,Intercept]",
                "logit[green,age]",
                "logit[green,income]",
                "logit[green,region=north]",
                "logit[green,region=west]",
                "logit[none,Intercept]",
            ]
        );
        let theta: Vec<f64> = names.iter().map(|name| value(name)).collect();
        let dim = theta.len();
        let (mut u, mut back) = (vec![0.0; dim], vec![0.0; dim]);
        model.unconstrain(&theta, &mut u);
        model.constrain(&u, &mut back);
        for (a, b) in theta.iter().zip(&back) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
        let mut grad = vec![0.0; dim];
        let log_p = log_lik(model.as_ref(), &u, &mut grad);
        let theirs = value("log_lik");
        assert!(
            (log_p - theirs).abs() < 1e-9 * theirs.abs(),
            "{log_p} {theirs}"
        );
        assert!(grad.iter().all(|slope| slope.abs() < 1e-4), "{grad:?}");

        // Standard errors of what is reported: its slopes in the coordinates around their covariance.
        let rows = model.rows().unwrap();
        let mut hessian = vec![0.0; dim * dim];
        rows.add_neg_hessian_log_lik(&u, Rows::All, &mut rows.scratch(), &mut hessian);
        let factor = Cholesky::of(&hessian, dim).unwrap();
        let at = |j: usize| {
            let mut moved = u.clone();
            moved[j] += 1.0;
            let mut there = vec![0.0; dim];
            model.constrain(&moved, &mut there);
            there
        };
        let slopes: Vec<Vec<f64>> = (0..dim).map(at).collect();
        for (k, name) in names.iter().enumerate() {
            // The map is linear, so that differences are slopes.
            let mut slope: Vec<f64> = slopes.iter().map(|there| there[k] - back[k]).collect();
            factor.solve_lower(&mut slope);
            let se = dot(&slope, &slope).sqrt();
            let theirs = value(&format!("se:{name}"));
            assert!(
                (se - theirs).abs() < 1e-6 * theirs,
                "{case} {name}: {se} {theirs}"
            );
        }
    }
}

#[test]
fn with_two_chances_the_density_is_that_of_logs_of_shares() {
    // Intercepts alone: the likelihood is that of shares, Σ n_k log p_k.
    let design = read("y,x\na,1\nb,2\nc,4\nc,3\nb,0\nc,9\n", "y ~ 1", &[]).unwrap();
    let model = model(design, &[("intercept", "flat")]);
    let u = [0.4, -0.7];
    let total = 1.0 + f64::exp(0.4) + f64::exp(-0.7);
    let p = [1.0 / total, f64::exp(0.4) / total, f64::exp(-0.7) / total];
    let mut grad = [0.0; 2];
    let value = log_lik(model.as_ref(), &u, &mut grad);
    let expected = p[0].ln() + 2.0 * p[1].ln() + 3.0 * p[2].ln();
    assert!((value - expected).abs() < 1e-13, "{value} {expected}");
    for (k, count) in [2.0, 3.0].into_iter().enumerate() {
        assert!((grad[k] - (count - 6.0 * p[k + 1])).abs() < 1e-13);
    }
}

#[test]
fn levels_need_no_order_and_the_first_is_the_reference() {
    let levels = |data: &str, named: &[&str]| {
        read(data, "y ~ x", named).map(|design| design.response.levels().join(" "))
    };
    let colours = "y,x\nred,1\nblue,2\ngreen,4\nred,3\n";
    assert_eq!(levels(colours, &[]).unwrap(), "blue green red");
    assert_eq!(
        levels(colours, &["red", "green", "blue", "grey"]).unwrap(),
        "red green blue grey"
    );
    // Numbers are read as levels.
    assert_eq!(levels("y,x\n10,1\n2,2\n0,4\n2,3\n", &[]).unwrap(), "0 2 10");
    let many: String = (0..40).map(|k| format!("{},{k}\n", k % 21)).collect();
    for (data, formula, named, part) in [
        (
            colours,
            "y ~ x",
            &["red", "blue"][..],
            "name all levels, the reference first",
        ),
        (
            "y,x\n1,1\n2,2\n1,4\n",
            "y ~ x",
            &[],
            "has 2 levels, and a model of levels without an order takes 3 to 20",
        ),
        (&format!("y,x\n{many}"), "y ~ x", &[], "has 21 levels, and"),
        (
            colours,
            "y | trials(3) ~ x",
            &[],
            "which has no number of trials",
        ),
        (colours, "log(y) ~ x", &[], "this model explains levels"),
        (
            colours,
            "ordered(y) ~ x",
            &[],
            "has levels with an order, which this model does not explain",
        ),
    ] {
        let said = read(data, formula, named).unwrap_err();
        assert!(said.contains(part), "{said}");
    }
    let with_group = "y,x,g\nred,1,a\nblue,2,b\ngreen,4,a\nred,3,b\n";
    for (formula, part) in [
        ("y ~ x + offset(x)", "takes no offset"),
        ("y ~ x + (1 | g)", "has no effects that vary by group"),
    ] {
        let design = read(with_group, formula, &[]).unwrap();
        let refused = Multinomial::build(Arc::new(design), &options(&[]));
        let said = refused.err().unwrap().to_string();
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn each_coefficient_can_have_a_prior_of_its_own() {
    let data = "y,x\nred,1\nblue,2\ngreen,4\nred,3\n";
    let design = || read(data, "y ~ x", &[]).unwrap();
    let own = model(
        design(),
        &[("b", "normal(0, 1)"), ("logit[red,x]", "laplace(0, 0.3)")],
    );
    let told: Vec<(String, &str)> = (own.params().iter())
        .map(|param| (param.name.to_string(), param.prior.as_str()))
        .collect();
    let expected = [
        ("logit[green,Intercept]", "normal(0, 2.5)"),
        ("logit[green,x]", "normal(0, 1)"),
        ("logit[red,Intercept]", "normal(0, 2.5)"),
        ("logit[red,x]", "laplace(0, 0.3)"),
    ];
    for ((name, prior), expected) in told.iter().zip(expected) {
        assert_eq!((name.as_str(), *prior), expected);
    }
    assert_eq!(
        own.params()[1].meaning,
        "change in log odds of y green against blue per unit of x"
    );
    let refused = Multinomial::build(Arc::new(design()), &options(&[("b[x]", "normal(0, 1)")]));
    let said = refused.err().unwrap().to_string();
    assert!(
        said.contains("there are intercept, b, logit[green,Intercept]"),
        "{said}"
    );
}

#[test]
fn a_level_without_rows_needs_a_proper_prior() {
    let data = "y,x\nred,1\nblue,2\ngreen,4\nred,3\n";
    let with = |prior: &str| {
        let design = read(data, "y ~ x", &["red", "green", "blue", "grey"]).unwrap();
        Multinomial::build(Arc::new(design), &options(&[("b", prior)]))
    };
    assert!(with("normal(0, 1)").is_ok());
    let said = with("flat").err().unwrap().to_string();
    assert!(
        said.starts_with("The level `grey` of the outcome `y` has no rows"),
        "{said}"
    );
}

/// Simulated outcomes have the chances that a draw says.
#[test]
fn outcomes_are_simulated_with_their_chances() {
    let data = "y,x\nred,0\nblue,1\ngreen,1\nred,0\n";
    let model = model(read(data, "y ~ x", &[]).unwrap(), &[]);
    let theta = [0.5, -1.0, -0.3, 1.2];
    let mut u = [0.0; 4];
    model.unconstrain(&theta, &mut u);
    let point = model.predicts().unwrap().point(&theta).unwrap();
    for (a, b) in point.coefficients.iter().zip(theta) {
        assert!((a - b).abs() < 1e-12);
    }
    let (mut rng, mut counts, draws) = (stream(3, 0, Purpose::Data), [[0.0; 3]; 2], 20_000);
    let mut design_y = [0.0; 4];
    let design = read(data, "y ~ x", &[]).unwrap();
    let is_one: Vec<usize> = design
        .row
        .iter()
        .map(|&row| [0, 1, 1, 0][row as usize])
        .collect();
    let draws_of = model.prior_draws().unwrap();
    for _ in 0..draws {
        draws_of.simulate(&u, Rows::All, &mut rng, &mut design_y);
        for (x, y) in is_one.iter().zip(&design_y) {
            counts[*x][*y as usize - 1] += 1.0;
        }
    }
    for (x, counts) in counts.iter().enumerate() {
        let z = [0.0, 0.5 - x as f64, -0.3 + 1.2 * x as f64].map(f64::exp);
        for (count, z_own) in counts.iter().zip(z) {
            let p = z_own / z.iter().sum::<f64>();
            let n = 2.0 * f64::from(draws);
            let error = (p * (1.0 - p) / n).sqrt();
            assert!((count / n - p).abs() < 4.0 * error, "{counts:?}");
        }
    }
}
