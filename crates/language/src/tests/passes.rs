//! What samplers ask of a model besides its gradient.

use super::*;

#[test]
fn curvature_is_that_of_the_gradient() {
    for (text, columns) in programs() {
        let model = model(text, &columns);
        let (rows, dim) = (model.rows().unwrap(), model.dim());
        let u = position(dim, 5);
        let mut hessian = vec![0.0; dim * dim];
        rows.add_neg_hessian_log_lik(&u, Rows::All, &mut rows.scratch(), &mut hessian);
        rows.add_neg_hessian_log_prior(&u, &mut hessian);
        for i in 0..dim {
            let line = slopes(&u, |u| density(model.as_ref(), u).1[i]);
            let own: Vec<f64> = (0..dim).map(|j| -hessian[i * dim + j]).collect();
            near(&own, &line, 1e-5, text);
        }
    }
}

#[test]
fn differences_from_a_centre_are_differences() {
    for (text, columns) in programs() {
        let model = model(text, &columns);
        let (rows, dim) = (model.rows().unwrap(), model.dim());
        let (u, there) = (position(dim, 6), position(dim, 7));
        let centre = rows.centre_rows(&there);
        let picks = [7_u32, 1, 202, 7, 90, 91];
        let pick = Rows::Pick(&picks);
        let (mut own, mut at, mut from) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
        let scratch = &mut rows.scratch();
        rows.grad_difference(&u, pick, &centre, scratch, &mut own);
        rows.grad_log_lik(&u, pick, scratch, &mut at);
        rows.grad_log_lik(&there, pick, scratch, &mut from);
        let wanted: Vec<f64> = at.iter().zip(&from).map(|(a, b)| a - b).collect();
        near(&own, &wanted, 1e-12, text);
        let mut scores = vec![1.0; picks.len() * dim];
        rows.score_differences(&u, pick, &centre, scratch, &mut scores);
        let sums: Vec<f64> = (0..dim)
            .map(|j| scores.iter().skip(j).step_by(dim).sum())
            .collect();
        near(&sums, &wanted, 1e-12, text);
    }
}

#[test]
fn transforms_undo_each_other() {
    for (text, columns) in programs() {
        let model = model(text, &columns);
        let u = position(model.dim(), 8);
        let mut theta = vec![0.0; model.params().len()];
        model.constrain(&u, &mut theta);
        let mut back = vec![0.0; u.len()];
        model.unconstrain(&theta, &mut back);
        near(&back, &u, 1e-12, text);
    }
}

#[test]
fn the_jacobian_is_the_determinant_of_the_transform() {
    // A flat prior leaves nothing but the Jacobian.
    for (declared, dim, free) in [
        ("a: positive", 1, 1),
        ("a: real in (-inf, 3)", 1, 1),
        ("a: real in (-1, 4)", 1, 1),
        ("a: simplex(4)", 3, 3),
    ] {
        let model = model(&format!("parameters\n {declared}\n"), &[]);
        assert_eq!(model.dim(), dim, "{declared}");
        for seed in 0..4 {
            let u = position(dim, seed);
            let value = density(model.as_ref(), &u).0;
            // The determinant by the first coordinates of θ.
            let mut matrix = vec![0.0; free * free];
            for i in 0..free {
                let line = slopes(&u, |u| {
                    let mut theta = vec![0.0; model.params().len()];
                    model.constrain(u, &mut theta);
                    theta[i]
                });
                matrix[i * free..(i + 1) * free].copy_from_slice(&line);
            }
            let determinant = determinant(&mut matrix, free);
            near(&[value], &[determinant.abs().ln()], 1e-8, declared);
        }
    }
}

/// By elimination; the matrix is spoilt.
fn determinant(matrix: &mut [f64], n: usize) -> f64 {
    let mut product = 1.0;
    for i in 0..n {
        product *= matrix[i * n + i];
        for k in i + 1..n {
            let factor = matrix[k * n + i] / matrix[i * n + i];
            for j in i..n {
                matrix[k * n + j] -= factor * matrix[i * n + j];
            }
        }
    }
    product
}

#[test]
fn passes_do_not_allocate() {
    let picks: Vec<u32> = (0..50).map(|k| k * 4).collect();
    let pick = Rows::Pick(&picks);
    for (text, columns) in programs() {
        let model = model(text, &columns);
        let (rows, dim) = (model.rows().unwrap(), model.dim());
        let (u, there) = (position(dim, 6), position(dim, 7));
        let centre = rows.centre_rows(&there);
        let (mut grad, mut hessian) = (vec![0.0; dim], vec![0.0; dim * dim]);
        let mut theta = vec![0.0; model.params().len()];
        let mut scores = vec![0.0; picks.len() * dim];
        let mut each = vec![0.0; picks.len()];
        let mut scratch = rows.scratch();
        let mut pass = || {
            let s = &mut scratch;
            rows.log_prior(&u, &mut grad);
            rows.log_lik(&u, Rows::All, s, &mut grad);
            rows.grad_log_lik(&u, pick, s, &mut grad);
            rows.pointwise(&u, pick, s, &mut each);
            rows.grad_difference(&u, pick, &centre, s, &mut grad);
            rows.scores(&u, pick, s, &mut scores);
            rows.score_differences(&u, pick, &centre, s, &mut scores);
            rows.add_neg_hessian_log_lik(&u, pick, s, &mut hessian);
            rows.add_neg_hessian_log_prior(&u, &mut hessian);
            model.constrain(&u, &mut theta);
        };
        // Memory that a model keeps grows in the first pass.
        pass();
        assert_eq!(crate::allocations::count_during(pass), 0, "{text}");
    }
}

#[test]
fn linear_predictors_are_found() {
    let columns = &programs()[0].1;
    let linear = |row: &str| {
        let text = format!(
            "parameters\n a ~ normal(0, 1)\n b[region] ~ normal(0, 2)\n c ~ student_t(4, 0, 1)\n s ~ half_normal(1)\nrows\n {row}\n"
        );
        let model = model(&text, columns);
        let found = model.linear_rows().is_some();
        (model, found)
    };
    for row in [
        "churned ~ bernoulli_logit(a + b[region] * age - (c + 1) * fee + age)",
        "churned ~ binomial_logit(3, a + 2 * c)",
        "count ~ poisson_log(c * age + log(2))",
        "age ~ normal(a + c * fee, 2)",
        "churned * bernoulli_logit_lpmf(churned, a + c * age)",
    ] {
        let (model, found) = linear(row);
        assert!(found, "{row}");
        let (rows, view) = (model.rows().unwrap(), model.linear_rows().unwrap());
        let dim = model.dim();
        for seed in 0..4 {
            let u = position(dim, seed);
            for i in (0..300).step_by(31) {
                let pick = [i as u32];
                let (mut value, mut score) = ([0.0], vec![0.0; dim]);
                let scratch = &mut rows.scratch();
                rows.pointwise(&u, Rows::Pick(&pick), scratch, &mut value);
                rows.scores(&u, Rows::Pick(&pick), scratch, &mut score);
                let z = view.predictor(i, &u);
                let [log_p, slope, second] = view.derivatives(i, z);
                near(&[log_p], &value, 1e-12, row);
                let a = view.covariates(i).to_vec();
                let expected: Vec<f64> = a.iter().map(|a| slope * a).collect();
                near(&expected, &score, 1e-12, row);
                let step = 1e-5;
                let [_, above, _] = view.derivatives(i, z + step);
                let [_, below, _] = view.derivatives(i, z - step);
                near(&[second], &[(above - below) / (2.0 * step)], 1e-6, row);
                let [least, most] = view.curvature_range(i);
                assert!(least <= -second && -second <= most, "{row}");
                assert!(slope.abs() <= view.slope_bound(i), "{row}");
            }
        }
    }
    for row in [
        "churned ~ bernoulli_logit(a + s * age)",
        "churned ~ bernoulli_logit(a * c)",
        "age ~ normal(a, s)",
        "churned ~ bernoulli_logit(a)\n count ~ poisson_log(c)",
        "churned ~ bernoulli(logistic(a))",
    ] {
        assert!(!linear(row).1, "{row}");
    }
}

/// Rows that a template has too go by its row loop: sums, gradients, curvature and single rows are those of their linear structure.
#[test]
fn rows_of_known_families_go_by_the_loops_of_templates() {
    let columns = &programs()[0].1;
    for (row, is_by_template) in [
        ("churned ~ bernoulli_logit(a + b * age + c * fee)", true),
        ("count ~ poisson_log(a + b * age + c * fee + log(2))", true),
        ("3 * poisson_log_lpmf(count, a + b * age + c * fee)", true),
        // Offsets per row and for all.
        (
            "churned ~ bernoulli_logit(a + b * age + c * fee + age)",
            true,
        ),
        ("churned ~ bernoulli_logit(a + b * age - 0.3)", true),
        // Coordinates that columns choose: most of them count for nothing in a row.
        (
            "churned ~ bernoulli_logit(a + e[region] + dot(w[plan], [age, fee]))",
            true,
        ),
        (
            "churned ~ bernoulli_logit(a + d[many] + dot(w[plan], [age, fee]) + 0.1 * age)",
            true,
        ),
        ("count ~ poisson_log(a + d[many] * age)", true),
        // Trials, and a normal outcome.
        ("churned ~ binomial_logit(3, a + b * age + c * fee)", false),
        ("age ~ normal(a + b * fee + c * count, 2)", false),
    ] {
        let text = format!(
            "parameters\n a ~ normal(0, 1)\n b ~ normal(0, 1)\n c ~ normal(0, 1)\n d[many] ~ normal(0, 1)\n e[region] ~ normal(0, 1)\n w: matrix(3, 2) ~ normal(0, 1)\nrows\n {row}\n"
        );
        let model = model(&text, columns);
        let (rows, view) = (model.rows().unwrap(), model.linear_rows().unwrap());
        let picks: Vec<u32> = (0..100).map(|k| k * 3).collect();
        let (dim, scratch) = (model.dim(), &mut rows.scratch());
        let u = position(dim, 3);
        let (mut value, mut grad) = (0.0, vec![0.0; dim]);
        let mut hessian = vec![0.0; dim * dim];
        for &i in &picks {
            let i = i as usize;
            let [log_p, slope, second] = view.derivatives(i, view.predictor(i, &u));
            let a = view.covariates(i).to_vec();
            value += log_p;
            for j in 0..dim {
                grad[j] += slope * a[j];
                for k in 0..dim {
                    hessian[j * dim + k] -= second * a[j] * a[k];
                }
            }
        }
        let pick = Rows::Pick(&picks);
        let (mut of_pass, mut of_gradient) = (vec![0.0; dim], vec![0.0; dim]);
        let found = rows.log_lik(&u, pick, scratch, &mut of_pass);
        rows.grad_log_lik(&u, pick, scratch, &mut of_gradient);
        near(&[found], &[value], 1e-12, row);
        near(&of_pass, &grad, 1e-12, row);
        near(&of_gradient, &grad, 1e-12, row);
        let mut curvature = vec![0.0; dim * dim];
        rows.add_neg_hessian_log_lik(&u, pick, scratch, &mut curvature);
        // Differences of gradients have errors of their own.
        let tolerance = if is_by_template { 1e-12 } else { 1e-6 };
        near(&curvature, &hessian, tolerance, row);
    }
}

#[test]
fn independent_priors_are_rows() {
    let columns = &programs()[0].1;
    let of = |parameters: &str| {
        let row = "rows\n churned ~ bernoulli_logit(a + b[region])\n";
        model(&format!("parameters\n {parameters}\n{row}"), columns)
    };
    let known = of("a ~ normal(0, 2.5)\n b[region] ~ laplace(0, 1)");
    let rows = known.prior_rows().unwrap();
    assert_eq!(rows.count(), 5);
    assert_eq!(rows.prior(4).to_string(), "laplace(0, 1)");
    assert!(
        of("a ~ normal(0, 1)\n b[region] ~ normal(a, 1)")
            .prior_rows()
            .is_none()
    );
}

/// Power scaling raises priors that depend on no other parameter, without the Jacobian of bounds; effects around others are part of the
/// model.
#[test]
fn priors_of_their_own_stand_apart() {
    let columns = &programs()[0].1;
    let model = model(
        "parameters\n m ~ normal(1, 2)\n t ~ exponential(3)\n b[region] ~ normal(m, t)\n w: vector(20) ~ normal(0, 1)\n v: vector(20) ~ normal(m, 1)\nrows\n age ~ normal(b[region] + w[1] + v[2], 1)\n",
        columns,
    );
    let u: Vec<f64> = (0..model.dim()).map(|j| 0.1 * j as f64 - 0.4).collect();
    let mut theta = vec![0.0; model.params().len()];
    model.constrain(&u, &mut theta);
    let normal = |z: f64, sd: f64| -0.5 * z * z - sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
    // Behind m and t stand four of `b`.
    let of_w: f64 = theta[6..26].iter().map(|w| normal(*w, 1.0)).sum();
    let wanted = normal((theta[0] - 1.0) / 2.0, 2.0) + 3.0_f64.ln() - 3.0 * theta[1] + of_w;
    let found = model.rows().unwrap().log_prior_density(&u).unwrap();
    near(&[found], &[wanted], 1e-12, "log prior");
    let text = "parameters\n a ~ normal(0, 1)\nrows\n age ~ normal(a, 1)\ntarget\n -a^2\n";
    let with_target = super::model(text, columns);
    assert_eq!(with_target.rows().unwrap().log_prior_density(&[0.0]), None);
}

/// Models too large for a matrix of curvature are made without a matrix of their priors: of all elements that a model may
/// have it would take 320 gigabytes.
#[test]
fn many_independent_priors_make_no_matrix() {
    let y = [numbers("y", &[0.5, 1.5])];
    for (size, has_rows) in [(1000, true), (1001, false), (20_000, false)] {
        let text =
            format!("parameters\n w: vector({size}) ~ normal(0, 1)\nrows\n y ~ normal(w[1], 1)\n");
        let model = model(&text, &y);
        assert!(model.linear_rows().is_some());
        assert_eq!(model.prior_rows().is_some(), has_rows, "{size}");
    }
}

#[test]
fn priors_have_their_densities_for_pictures() {
    let model = model(
        "parameters\n a ~ normal(1, 2)\n s ~ half_student_t(3, 0, 2.5)\n b ~ normal(a, 1)\n t: real in (0, inf) ~ normal(0, 1)\n",
        &[],
    );
    for (index, name, parameters) in [(0, "normal", "1, 2"), (1, "half_student_t", "3, 0, 2.5")] {
        let text = format!("parameters\n y: real\ntarget\n {name}_lpdf(y, {parameters})\n");
        for y in [0.3, 1.9] {
            let wanted = density(super::model(&text, &[]).as_ref(), &[y]).0.exp();
            near(
                &[model.prior_density(index, y).unwrap()],
                &[wanted],
                1e-12,
                name,
            );
        }
    }
    assert!(
        model
            .prior_range(0)
            .is_some_and(|(low, high)| low < -3.0 && high > 5.0)
    );
    assert_eq!(
        [model.prior_density(2, 0.0), model.prior_density(4, 0.0)],
        [None, None]
    );
}

#[test]
fn results_do_not_depend_on_who_asks_first() {
    let (text, columns) = programs().swap_remove(2);
    let (one, two) = (model(text, &columns), model(text, &columns));
    let u = position(one.dim(), 9);
    // Another position before leaves registers filled.
    density(two.as_ref(), &position(one.dim(), 10));
    assert_eq!(density(one.as_ref(), &u), density(two.as_ref(), &u));
}
