//! Networks by searches and samplers, among them one as large as that of Baker (2018), section 4.6.3.

use std::sync::Arc;

use rand_distr::{Distribution as _, StandardNormal};

use crate::design::Design;
use crate::engine::dispersed_start;
use crate::estimators::{Plan, ascend, find_mode};
use crate::models::{Model, ModelOptions, Rows, find};
use crate::oracle::Oracle;
use crate::testing::networks::{design, options};
use crate::{samplers, synthetic};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, Streams, stream};

fn neural_net(design: Arc<Design>, options: &ModelOptions) -> Arc<dyn Model> {
    (find("neural-net").unwrap().build)(design, options).unwrap()
}

/// Rings around the origin, which no sum of terms tells apart: by chance a third is right.
fn rings(rows: usize) -> Design {
    let mut text = "y,x,z\n".to_owned();
    let mut rng = stream(9, 0, Purpose::Data);
    for i in 0..rows {
        let [noise, turn]: [f64; 2] = [(); 2].map(|()| StandardNormal.sample(&mut rng));
        let radius = (i % 3) as f64 + 0.5 + 0.1 * noise;
        text.push_str(&format!(
            "{},{},{}\n",
            ["in", "mid", "out"][i % 3],
            radius * (4.0 * turn).cos(),
            radius * (4.0 * turn).sin()
        ));
    }
    design(&text, "y ~ x + z")
}

#[test]
fn a_climb_learns_what_no_sum_of_terms_tells() {
    let design = Arc::new(rings(600));
    for activation in ["softmax", "tanh"] {
        let model = neural_net(Arc::clone(&design), &options(12, activation, true));
        assert!(find_mode(model.as_ref(), &Control::default()).is_err());
        let mut u = dispersed_start(model.as_ref(), None, 2.0, (1, 0));
        ascend(model.as_ref(), &Plan::auto(), &mut u, &Control::default()).unwrap();
        let rows = model.rows().unwrap();
        let mut found = vec![0.0; 600];
        rows.pointwise(&u, Rows::All, &mut rows.scratch(), &mut found);
        let loss = -found.iter().sum::<f64>() / 600.0;
        // ln 3 is 1.10.
        assert!(loss < 0.2, "{activation}: {loss}");
    }
}

/// As many weights as the source has for images of digits: nothing that grows with their square fits into memory.
#[test]
fn a_network_of_eighty_thousand_weights_is_sampled() {
    let made = synthetic::logistic(130, 785, 4, 0.2);
    let mut design = rings(130);
    design.x = ndarray::Array2::from_shape_vec((130, 785), made.x).unwrap();
    design.x.column_mut(0).fill(1.0);
    design.raw_center = vec![0.0; 785];
    design.raw_scale = vec![1.0; 785];
    design.terms = (0..785).map(|j| format!("x{j}").as_str().into()).collect();
    let model = neural_net(Arc::new(design), &options(100, "softmax", true));
    assert_eq!(model.dim(), 785 * 100 + 101 * 3 + 4);
    for id in [
        "sgld", "sghmc", "sgnht", "psgld", "svrg-ld", "sgld-cv", "sghmc-cv", "sgnht-cv",
    ] {
        let entry = samplers::find(id).unwrap();
        let mut given = Settings::default();
        given.set("step_size", Value::Real(1e-6));
        given.set("batch", Value::Int(32));
        let u = dispersed_start(model.as_ref(), None, 2.0, (1, 0));
        let target = samplers::Target::new(&model, None);
        let settled = entry.settle(&given, model.as_ref(), &target, None);
        let settled = settled.unwrap_or_else(|error| panic!("{id}: {error}"));
        let mut oracle = Oracle::new(Arc::clone(&model), None, false, Control::default().flag());
        let mut streams = Streams::new(1, 0);
        let mut kernel = (entry.build)(&settled, &target, &u, &mut oracle, &mut streams).unwrap();
        let mut info = vec![0.0; entry.spec.info.len()];
        for iter in 0..2 {
            let tick = samplers::Tick {
                iter,
                phase: samplers::Phase::Draw,
            };
            kernel
                .step(tick, &mut oracle, &mut streams, &mut info)
                .unwrap();
        }
        assert!(kernel.position().iter().all(|u| u.is_finite()), "{id}");
        assert!(kernel.position() != u.as_slice(), "{id}");
    }
}
